# SPDX-License-Identifier: Apache-2.0
"""Operators of torch (aten) as operators of a tesela graph: constants, joined and padded tensors, lookups, windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from . import _moves  # noqa: F401 - the operator restickify
from ._lower import aten, rule, wanted
from ._program import Names, NotLowered, Program


def result(p: Program) -> torch.Tensor:
    value = p.node.meta["val"] if p.node is not None else None
    if not isinstance(value, torch.Tensor):
        raise NotLowered("several results")
    return value


# ---- constants


@rule(aten.full.default)
def full(p: Program, size: Sequence[int], value: Any, **_: Any) -> str:
    return p.constant(value, wanted(p), list(result(p).shape))


@rule(aten.full_like.default, aten.new_full.default)
def full_like(p: Program, x: str, *rest: Any, **_: Any) -> str:
    return p.constant(rest[-1], wanted(p), list(result(p).shape))


@rule(aten.zeros.default, aten.zeros_like.default, aten.new_zeros.default)
def zeros(p: Program, *_: Any, **__: Any) -> str:
    return p.constant(0, wanted(p), list(result(p).shape))


@rule(aten.ones.default, aten.ones_like.default, aten.new_ones.default)
def ones(p: Program, *_: Any, **__: Any) -> str:
    return p.constant(1, wanted(p), list(result(p).shape))


@rule(aten.scalar_tensor.default)
def scalar(p: Program, value: Any, **_: Any) -> str:
    return p.constant(value, wanted(p))


@rule(aten.arange.default, aten.arange.start, aten.arange.start_step)
def arange(p: Program, *args: Any, **_: Any) -> str:
    start, step = (0 if len(args) == 1 else args[0]), (1 if len(args) < 3 else args[2])
    if step != 1 or start != int(start):
        raise NotLowered("steps other than 1")
    return p.constant(start, wanted(p), list(result(p).shape), dim=0)


@rule(torch.ops.tesela.restickify.default)
def restickify(p: Program, x: str, stick: int) -> str:
    if not -1 <= stick < len(p.shape(x)):
        raise NotLowered("a dim that is not there")
    return p.new("move", (x,), p.shape(x), p.dtype(x), layout={"stick": stick})


# ---- joined, padded, written


@rule(aten.cat.default)
def cat(p: Program, xs: Sequence[str], dim: int = 0) -> str:
    value = result(p)
    return p.new("cat", [p.cast(x, value.dtype) for x in xs], value.shape, value.dtype, dim=dim % value.dim())


@rule(aten.constant_pad_nd.default)
def pad(p: Program, x: str, amounts: Sequence[int], value: Any = 0) -> str:
    rank = len(p.shape(x))
    low, high = [0] * rank, [0] * rank
    for k in range(len(amounts) // 2):
        low[rank - 1 - k], high[rank - 1 - k] = amounts[2 * k], amounts[2 * k + 1]
    if min(low + high) < 0:
        raise NotLowered("negative padding")
    return p.new("pad", (x,), result(p).shape, p.dtype(x), low=low, high=high, value=value)


@rule(aten.slice_scatter.default)
def slice_scatter(p: Program, x: str, y: str, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> str:
    rank = len(p.shape(x))
    starts, steps = [0] * rank, [1] * rank
    starts[dim], steps[dim] = slice(start, end).indices(p.shape(x)[dim])[0], step
    return p.new("write", (x, p.expand(y, written(p, x, dim, start, end, step))), p.shape(x), p.dtype(x), start=starts, step=steps)


def written(p: Program, x: str, dim: int, start: Any, end: Any, step: int) -> list[int]:
    shape = list(p.shape(x))
    shape[dim] = len(range(*slice(start, end, step).indices(shape[dim])))
    return shape


@rule(aten.select_scatter.default)
def select_scatter(p: Program, x: str, y: str, dim: int, index: int) -> str:
    index %= p.shape(x)[dim]
    return slice_scatter(p, x, p.unsqueeze(y, dim), dim, index, index + 1)


@rule(aten.slice_backward.default)
def slice_backward(p: Program, y: str, size: Sequence[int], dim: int, start: int, end: int, step: int) -> str:
    return slice_scatter(p, p.constant(0, p.dtype(y), size), y, dim, start, end, step)


@rule(aten.select_backward.default)
def select_backward(p: Program, y: str, size: Sequence[int], dim: int, index: int) -> str:
    return select_scatter(p, p.constant(0, p.dtype(y), size), y, dim, index)


# ---- lookups


def looked_up(p: Program, table: str, dim: int, index: str) -> str:
    shape = [*p.shape(table)[:dim], *p.shape(index), *p.shape(table)[dim + 1 :]]
    return p.new("gather", (table, index), shape, p.dtype(table), dim=dim)


@rule(aten.embedding.default)
def embedding(p: Program, table: str, index: str, *_: Any) -> str:
    return looked_up(p, table, 0, index)


@rule(aten.index_select.default)
def index_select(p: Program, x: str, dim: int, index: str) -> str:
    return looked_up(p, x, dim % len(p.shape(x)), index)


@rule(aten.embedding_dense_backward.default)
def embedding_backward(p: Program, y: str, index: str, rows: int, padding: int, scale: bool) -> str:
    if scale:
        raise NotLowered("scale_grad_by_freq")
    if padding >= 0:  # nowhere
        index = p.pointwise("select", p.pointwise("eq", index, p.constant(padding, p.dtype(index)), dtype=torch.bool),
                            p.constant(-1, p.dtype(index)), index)  # fmt: skip
    return scattered(p, p.constant(0, p.dtype(y), [rows, p.shape(y)[-1]]), index, y, True)


def scattered(p: Program, x: str, index: str, y: str, add: bool) -> str:
    if len(p.shape(index)) != 1:
        count = 1
        for extent in p.shape(index):
            count *= extent
        y = p.reshape(y, [count, *p.shape(y)[len(p.shape(index)) :]])
        index = p.reshape(index, [count])
    return p.new("scatter", (x, index, y), p.shape(x), p.dtype(x), dim=0, **({"fn": "add"} if add else {}))


def one_index(p: Program, x: str, indices: Sequence[Any]) -> tuple[int, str]:
    """The dim that is looked up, and the indices, from the start where they count from the end."""
    given = [(d, index) for d, index in enumerate(indices) if index is not None]
    if len(given) != 1 or p.dtype(given[0][1]) is torch.bool:
        raise NotLowered("indices of several dims, or a mask")
    dim, index = given[0]
    dtype = p.dtype(index)
    below = p.pointwise("lt", index, p.constant(0, dtype), dtype=torch.bool)
    after = p.pointwise("add", index, p.constant(p.shape(x)[dim], dtype))
    return dim, p.pointwise("select", below, after, index)


@rule(aten.index.Tensor)
def index(p: Program, x: str, indices: Sequence[Any]) -> str:
    return looked_up(p, x, *one_index(p, x, indices))


@rule(aten.index_put.default, aten._unsafe_index_put.default)
def index_put(p: Program, x: str, indices: Sequence[Any], y: str, accumulate: bool = False) -> str:
    dim, index = one_index(p, x, indices)
    if dim != 0:
        raise NotLowered("indices of another dim than the first")
    return scattered(p, x, index, p.expand(y, [*p.shape(index), *p.shape(x)[1:]]), accumulate)


@rule(aten.cumsum.default)
def cumsum(p: Program, x: str, dim: int, dtype: Any = None) -> str:
    if not p.shape(x):
        return p.cast(x, wanted(p))
    x = p.cast(x, wanted(p))
    return p.new("along", (x,), p.shape(x), p.dtype(x), fn="cumsum", dim=dim % len(p.shape(x)))


def ordered(p: Program, x: str, dim: int, descending: bool, length: int | None = None) -> Names:
    if not p.shape(x):
        raise NotLowered("a number")
    dim %= len(p.shape(x))
    shape = [*p.shape(x)]
    shape[dim] = shape[dim] if length is None else length
    more = {"dim": dim, "reverse": descending, **({} if length is None else {"length": length})}
    return p.new("along", (x,), shape, p.dtype(x), fn="sort", **more), p.new("along", (x,), shape, torch.int64, fn="argsort", **more)


@rule(aten.sort.default)
def sort(p: Program, x: str, dim: int = -1, descending: bool = False) -> Names:
    return ordered(p, x, dim, descending)


@rule(aten.topk.default)
def topk(p: Program, x: str, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Names:
    return ordered(p, x, dim, largest, k)
