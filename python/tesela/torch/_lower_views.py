# SPDX-License-Identifier: Apache-2.0
"""Operators of torch (aten) as operators of a tesela graph: views of other shapes, pieces, diagonals."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import torch

from ._program import Names, NotLowered, Program
from ._rules import aten, rule


def flat_diagonal(p: Program, x: str, offset: int, a: int, b: int) -> tuple[str, list[int], slice]:
    """x with the dims a and b as one at the end, the order of the dims that leads there, and where the diagonal is in it."""
    rank = len(p.shape(x))
    a, b = a % rank, b % rank
    order = [*(d for d in range(rank) if d not in (a, b)), a, b]
    rows, columns = p.shape(x)[a], p.shape(x)[b]
    start = offset if offset >= 0 else -offset * columns
    count = min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns)
    if count <= 0:
        raise NotLowered("an empty diagonal")
    x = p.permute(x, order)
    return p.reshape(x, [*p.shape(x)[:-2], rows * columns]), order, slice(start, count, columns + 1)


@rule(aten.diagonal.default, aten.diagonal_copy.default)
def diagonal(p: Program, x: str, offset: int = 0, dim1: int = 0, dim2: int = 1) -> str:
    x, _, at = flat_diagonal(p, x, offset, dim1, dim2)
    return p.slice(x, -1, at.start, at.stop, at.step)


@rule(aten.diagonal_scatter.default)
def diagonal_scatter(p: Program, x: str, y: str, offset: int = 0, dim1: int = 0, dim2: int = 1) -> str:
    flat, order, at = flat_diagonal(p, x, offset, dim1, dim2)
    lead = len(p.shape(flat)) - 1
    found = p.new("write", (flat, y), p.shape(flat), p.dtype(x), start=[0] * lead + [at.start], step=[1] * lead + [at.step])
    return p.permute(p.reshape(found, [p.shape(x)[d] for d in order]), [order.index(d) for d in range(len(order))])


@rule(aten.t.default)
def transposed(p: Program, x: str) -> str:
    return p.permute(x, list(range(len(p.shape(x))))[::-1])


@rule(aten.transpose.int)
def transpose(p: Program, x: str, a: int, b: int) -> str:
    dims = list(range(len(p.shape(x))))
    if dims:
        dims[a], dims[b] = dims[b], dims[a]
    return p.permute(x, dims)


@rule(aten.permute.default)
def permute(p: Program, x: str, dims: Sequence[int]) -> str:
    return p.permute(x, dims)


@rule(aten.view.default, aten._unsafe_view.default, aten.reshape.default)
def view(p: Program, x: str, size: Sequence[int]) -> str:
    return p.reshape(x, list(p.node.meta["val"].shape) if p.node is not None else size)


@rule(aten.as_strided.default)
def as_strided(p: Program, x: str, size: Sequence[int], stride: Sequence[int], offset: Any = None) -> str:
    """All elements in the order that they have; what another one shows depends on the strides of x in torch."""
    node = p.node.args[0] if p.node is not None else None
    given = node.meta["val"] if isinstance(node, torch.fx.Node) else None
    if given is None or not given.is_contiguous() or offset or math.prod(size) != math.prod(p.shape(x)):
        raise NotLowered("strides that are not row-major")
    if tuple(stride) != torch.empty(tuple(size), device="meta").stride():
        raise NotLowered("strides that are not row-major")
    return p.reshape(x, list(size))


@rule(aten.unsqueeze.default)
def unsqueeze(p: Program, x: str, dim: int) -> str:
    return p.unsqueeze(x, dim)


@rule(aten.squeeze.default, aten.squeeze.dim, aten.squeeze.dims)
def squeeze(p: Program, x: str, dims: Any = None) -> str:
    return p.squeeze(x, range(len(p.shape(x))) if dims is None else [dims] if isinstance(dims, int) else dims)


@rule(aten.expand.default)
def expand(p: Program, x: str, size: Sequence[int], implicit: bool = False) -> str:
    return p.expand(x, size)


def clipped(length: int, start: Any, end: Any) -> tuple[int, int]:
    start, stop, _ = slice(start, end).indices(length)
    return start, max(start, stop)


@rule(aten.slice.Tensor)
def part(p: Program, x: str, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> str:
    first, last = clipped(p.shape(x)[dim], start, end)
    return p.slice(x, dim, first, -((first - last) // step), step)


@rule(aten.select.int)
def select(p: Program, x: str, dim: int, index: int) -> str:
    index %= p.shape(x)[dim]
    return p.squeeze(p.slice(x, dim, index, 1), [dim])


@rule(aten.unbind.int)
def unbind(p: Program, x: str, dim: int = 0) -> Names:
    return tuple(select(p, x, dim, k) for k in range(p.shape(x)[dim]))


@rule(aten.split.Tensor, aten.split_with_sizes.default)
def split(p: Program, x: str, sizes: Any, dim: int = 0) -> Names:
    extent, at, found = p.shape(x)[dim], 0, []
    for size in [sizes] * -(-extent // sizes) if isinstance(sizes, int) else sizes:
        found.append(p.slice(x, dim, at, min(size, extent - at)))
        at += size
    return tuple(found)


@rule(aten.flip.default)
def flip(p: Program, x: str, dims: Sequence[int]) -> str:
    for d in dims:
        x = p.slice(x, d, p.shape(x)[d] - 1, p.shape(x)[d], -1)
    return x


@rule(operator.getitem)
def getitem(p: Program, found: Names, k: int) -> str:
    one = found[k] if isinstance(found, tuple) else None
    if one is None:
        raise NotLowered("a result that is not computed")
    return one
