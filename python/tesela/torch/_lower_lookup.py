# SPDX-License-Identifier: Apache-2.0
"""Lookups and updates of torch (aten) by indices as `gather` and `scatter` of a tesela graph, which look up one dim.

Several dims that are looked up become one by a reshape, and their indices one number. An index outside its dim becomes a number
outside the joined dim, at which the run stops: the graph leaves out an update at -1, and torch stops there.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import torch

from ._program import NotLowered, Program
from ._rules import aten, operand, rule

INDICES = (torch.int64, torch.int32)


def looked_up(p: Program, table: str, dim: int, index: str) -> str:
    shape = [*p.shape(table)[:dim], *p.shape(index), *p.shape(table)[dim + 1 :]]
    return p.new("gather", (table, index), shape, p.dtype(table), dim=dim)


def updated(p: Program, x: str, dim: int, index: str, y: str, add: bool) -> str:
    """x with the values y at the indices, or added there; y has the shape of a lookup."""
    if len(p.shape(index)) != 1:
        rank, count = len(p.shape(index)), math.prod(p.shape(index))
        y = p.reshape(y, [*p.shape(y)[:dim], count, *p.shape(y)[dim + rank :]])
        index = p.reshape(index, [count])
    return p.new("scatter", (x, index, y), p.shape(x), p.dtype(x), dim=dim, **({"fn": "add"} if add else {}))


def numbered(p: Program, indices: Sequence[str], extents: Sequence[int], wraps: bool) -> str:
    """One number for the indices of several dims, of row-major order; where `wraps`, negative indices count from the end."""
    total, valid, number = math.prod(extents), [], None
    for k, (index, extent) in enumerate(zip(indices, extents, strict=True)):
        if p.dtype(index) not in INDICES:
            raise NotLowered(f"indices of type {p.dtype(index)}")
        dtype, step = p.dtype(index), math.prod(extents[k + 1 :])
        valid.append(p.pointwise("ge", index, p.constant(-extent if wraps else 0, dtype), dtype=torch.bool))
        valid.append(p.pointwise("lt", index, p.constant(extent, dtype), dtype=torch.bool))
        if wraps:
            below = p.pointwise("lt", index, p.constant(0, dtype), dtype=torch.bool)
            index = p.pointwise("select", below, p.pointwise("add", index, p.constant(extent, dtype)), index)
        index = p.cast(index, torch.int64)
        index = index if step == 1 else p.pointwise("mul", index, p.constant(step, torch.int64))
        number = index if number is None else p.pointwise("add", number, index)
    assert number is not None
    every = functools.reduce(lambda a, b: p.pointwise("and", a, b), valid)
    return p.pointwise("select", every, number, p.constant(total, torch.int64))


# ---- whole rows


@rule(aten.embedding.default)
def embedding(p: Program, table: str, index: str, *_: Any) -> str:
    return looked_up(p, table, 0, index)


@rule(aten.index_select.default)
def index_select(p: Program, x: str, dim: int, index: str) -> str:
    table, dim = p.reshape(x, p.shape(x) or (1,)), dim % max(len(p.shape(x)), 1)
    found = looked_up(p, table, dim, p.reshape(index, [math.prod(p.shape(index))]))
    return found if p.shape(x) else p.reshape(found, [])


@rule(aten.embedding_dense_backward.default)
def embedding_backward(p: Program, y: str, index: str, rows: int, padding: int, scale: bool) -> str:
    if scale:
        raise NotLowered("scale_grad_by_freq")
    number = numbered(p, [index], [rows], False)
    if padding >= 0:  # nowhere
        at = p.pointwise("eq", index, p.constant(padding, p.dtype(index)), dtype=torch.bool)
        number = p.pointwise("select", at, p.constant(-1, torch.int64), number)
    return updated(p, p.constant(0, p.dtype(y), [rows, p.shape(y)[-1]]), 0, number, y, True)


def at_rows(p: Program, x: str, dim: int, index: str, y: str, add: bool, wraps: bool = False) -> str:
    """x with the rows of y along a dim, or with these added."""
    whole = p.reshape(x, p.shape(x) or (1,))
    dim, shape = dim % len(p.shape(whole)), [*p.shape(whole)]
    number = p.reshape(numbered(p, [index], [shape[dim]], wraps), [math.prod(p.shape(index))])
    shape[dim] = p.shape(number)[0]
    return p.reshape(updated(p, whole, dim, number, p.expand(y, shape), add), p.shape(x))


@rule(aten.index_copy.default)
def index_copy(p: Program, x: str, dim: int, index: str, y: str) -> str:
    return at_rows(p, x, dim, index, y, False)


@rule(aten.index_add.default)
def index_add(p: Program, x: str, dim: int, index: str, y: str, alpha: Any = 1) -> str:
    return at_rows(p, x, dim, index, y if alpha == 1 else p.pointwise("mul", y, operand(p, alpha, p.dtype(y)), dtype=p.dtype(y)), True)


@rule(aten.index_fill.int_Scalar, aten.index_fill.int_Tensor)
def index_fill(p: Program, x: str, dim: int, index: str, value: Any) -> str:
    y = p.cast(value, p.dtype(x)) if isinstance(value, str) else p.constant(value, p.dtype(x))
    return at_rows(p, x, dim, index, y, False, wraps=True)


# ---- indices of several dims


class Place:
    """Where x[i, :, j, ..] looks up: x with its looked-up dims as one, `dim`, and the number of each lookup."""

    def __init__(self, p: Program, x: str, indices: Sequence[Any]) -> None:
        given = [(d, index) for d, index in enumerate(indices) if index is not None]
        if not given:
            raise NotLowered("no indices")
        self.dims = [d for d, _ in given]
        m, rank = len(given), len(p.shape(x))
        together = self.dims == list(range(self.dims[0], self.dims[0] + m))
        self.dim = self.dims[0] if together else 0  # in the result, too
        rest = [d for d in range(rank) if d not in self.dims]
        self.order = [*rest[: self.dim], *self.dims, *rest[self.dim :]]
        self.extents = [p.shape(x)[d] for d in self.order]
        before, looked, after = self.extents[: self.dim], self.extents[self.dim : self.dim + m], self.extents[self.dim + m :]
        self.x = p.reshape(p.permute(x, self.order), [*before, math.prod(looked), *after])
        self.number = numbered(p, [index for _, index in given], looked, True)
        self.found = [*before, *p.shape(self.number), *after]  # the shape of a lookup


def masks(indices: Sequence[Any], p: Program) -> bool:
    return any(index is not None and p.dtype(index) in (torch.bool, torch.uint8) for index in indices)


@rule(aten.index.Tensor, aten._unsafe_index.Tensor)
def index(p: Program, x: str, indices: Sequence[Any]) -> str:
    if masks(indices, p):
        raise NotLowered("a mask, whose result has a size of its own")
    at = Place(p, x, indices)
    return looked_up(p, at.x, at.dim, at.number)


@rule(aten.index_put.default, aten._unsafe_index_put.default)
def index_put(p: Program, x: str, indices: Sequence[Any], y: str, accumulate: bool = False) -> str:
    if masks(indices, p):
        return masked_put(p, x, indices, y, accumulate)
    at = Place(p, x, indices)
    found = updated(p, at.x, at.dim, at.number, p.expand(y, at.found), accumulate)
    back = [at.order.index(d) for d in range(len(at.order))]
    return p.permute(p.reshape(found, at.extents), back)


def masked_put(p: Program, x: str, indices: Sequence[Any], y: str, accumulate: bool) -> str:
    """x[:, mask] = y if y has the same value in each place of the mask: a selection."""
    given = [(d, one) for d, one in enumerate(indices) if one is not None]
    if len(given) != 1 or p.dtype(given[0][1]) is not torch.bool:
        raise NotLowered("a mask among other indices")
    dim, mask = given[0]
    m, shape = len(p.shape(mask)), p.shape(x)
    before, after = shape[:dim], shape[dim + m :]
    if shape[dim : dim + m] != p.shape(mask) or not m:
        raise NotLowered("a mask of another shape")
    if len(p.shape(y)) > len(after) and p.shape(y)[-1 - len(after)] != 1:
        raise NotLowered("a value for each place of a mask")
    y = p.reshape(p.expand(y, [*before, 1, *after]), [*before, *[1] * m, *after])
    mask = p.reshape(mask, [*[1] * dim, *p.shape(mask), *[1] * len(after)])
    if accumulate:
        return p.pointwise("add", x, p.pointwise("select", mask, y, p.constant(0, p.dtype(x)), dtype=p.dtype(x)))
    return p.pointwise("select", mask, y, x, dtype=p.dtype(x))


# ---- one element for each index


def each_number(p: Program, x: str, dim: int, index: str) -> str:
    """The place in row-major order of x[.., index, ..] for each element of index, whose other dims count."""
    shape, rank = p.shape(x) or (1,), max(len(p.shape(x)), 1)
    index = p.reshape(index, p.shape(index) or (1,))
    indices = [index if d == dim % rank else counting(p, p.shape(index), d) for d in range(rank)]
    return numbered(p, indices, shape, False)


def counting(p: Program, shape: Sequence[int], dim: int) -> str:
    return p.constant(0, torch.int64, [e if d == dim else 1 for d, e in enumerate(shape)], dim=dim)


def flat(p: Program, x: str) -> str:
    return p.reshape(x, [math.prod(p.shape(x))])


@rule(aten.gather.default)
def gather(p: Program, x: str, dim: int, index: str, sparse_grad: bool = False) -> str:
    return p.reshape(looked_up(p, flat(p, x), 0, each_number(p, x, dim, index)), p.shape(index))


def each_updated(p: Program, x: str, dim: int, index: str, y: str, add: bool) -> str:
    for d, extent in enumerate(p.shape(index)):
        y = p.slice(y, d, 0, extent)
    number = each_number(p, x, dim, index)
    return p.reshape(updated(p, flat(p, x), 0, number, p.reshape(y, p.shape(number)), add), p.shape(x))


@rule(aten.scatter.src)
def scatter(p: Program, x: str, dim: int, index: str, y: str) -> str:
    return each_updated(p, x, dim, index, y, False)


@rule(aten.scatter_add.default)
def scatter_add(p: Program, x: str, dim: int, index: str, y: str) -> str:
    return each_updated(p, x, dim, index, y, True)


@rule(aten.scatter.value)
def scatter_value(p: Program, x: str, dim: int, index: str, value: Any) -> str:
    return each_updated(p, x, dim, index, p.expand(p.constant(value, p.dtype(x)), p.shape(index)), False)


@rule(aten.scatter_reduce.two)
def scatter_reduce(p: Program, x: str, dim: int, index: str, y: str, reduce: str, include_self: bool = True) -> str:
    if reduce != "sum" or not include_self:
        raise NotLowered("a scatter that does not add")
    return each_updated(p, x, dim, index, y, True)


@rule(aten.take.default)
def take(p: Program, x: str, index: str) -> str:
    return looked_up(p, flat(p, x), 0, numbered(p, [index], [math.prod(p.shape(x))], True))


@rule(aten.put.default)
def put(p: Program, x: str, index: str, y: str, accumulate: bool = False) -> str:
    number = numbered(p, [index], [math.prod(p.shape(x))], True)
    return p.reshape(updated(p, flat(p, x), 0, number, p.reshape(y, p.shape(index)), accumulate), p.shape(x))
