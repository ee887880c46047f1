# SPDX-License-Identifier: Apache-2.0
"""Operators of torch (aten) as operators of a tesela graph: constants, joined and padded tensors, sorts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from . import _moves  # noqa: F401 - the operator restickify
from ._program import Names, NotLowered, Program
from ._rules import aten, result, rule, wanted

# ---- constants


@rule(aten.full.default)
def full(p: Program, size: Sequence[int], value: Any, **_: Any) -> str:
    return p.constant(value, wanted(p), list(result(p).shape))


@rule(aten.full_like.default, aten.new_full.default)
def full_like(p: Program, x: str, *rest: Any, **_: Any) -> str:
    return p.constant(rest[-1], wanted(p), list(result(p).shape))


@rule(aten.zeros.default, aten.zeros_like.default, aten.new_zeros.default, aten._efficientzerotensor.default)
def zeros(p: Program, *_: Any, **__: Any) -> str:
    return p.constant(0, wanted(p), list(result(p).shape))


@rule(aten.ones.default, aten.ones_like.default, aten.new_ones.default)
def ones(p: Program, *_: Any, **__: Any) -> str:
    return p.constant(1, wanted(p), list(result(p).shape))


@rule(aten.scalar_tensor.default)
def scalar(p: Program, value: Any, **_: Any) -> str:
    return p.constant(value, wanted(p))


@rule(
    aten.empty.memory_format, aten.empty_like.default, aten.new_empty.default, aten.empty_permuted.default,
    aten.empty_strided.default, aten.new_empty_strided.default,
)  # fmt: skip
def empty(p: Program, *_: Any, **__: Any) -> str:
    """What memory holds is not defined; zeros, since a pattern of bits may not fit the type on the device."""
    return p.constant(0, wanted(p), list(result(p).shape))


@rule(aten.arange.default, aten.arange.start, aten.arange.start_step)
def arange(p: Program, *args: Any, **_: Any) -> str:
    start, step, dtype = (0 if len(args) == 1 else args[0]), (1 if len(args) < 3 else args[2]), wanted(p)
    if step != int(step) or start != int(start):
        raise NotLowered("a start or step that is not whole")
    shape = list(result(p).shape)
    if step == 1:
        return p.constant(start, dtype, shape, dim=0)
    steps = p.pointwise("mul", p.constant(0, dtype, shape, dim=0), p.constant(step, dtype))
    return p.pointwise("add", steps, p.constant(start, dtype))


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
    value = int(bool(value)) if p.dtype(x) is torch.bool else value
    return p.new("pad", (x,), result(p).shape, p.dtype(x), low=low, high=high, value=value)


@rule(aten.copy.default)
def copied(p: Program, x: str, y: str, non_blocking: bool = False) -> str:
    return p.expand(p.cast(y, p.dtype(x)), p.shape(x))


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


# ---- along a dim


@rule(aten.cumsum.default)
def cumsum(p: Program, x: str, dim: int, dtype: Any = None) -> str:
    if not p.shape(x):
        return p.cast(x, wanted(p))
    x = p.cast(x, wanted(p))
    return p.new("along", (x,), p.shape(x), p.dtype(x), fn="cumsum", dim=dim % len(p.shape(x)))


def ordered(p: Program, x: str, dim: int, descending: bool, length: int | None = None) -> Names:
    if not p.shape(x):
        return x, p.constant(0, torch.int64)
    dim %= len(p.shape(x))
    shape = [*p.shape(x)]
    shape[dim] = shape[dim] if length is None else length
    more = {"dim": dim, "reverse": descending, **({} if length is None else {"length": length})}
    return p.new("along", (x,), shape, p.dtype(x), fn="sort", **more), p.new("along", (x,), shape, torch.int64, fn="argsort", **more)


@rule(aten.sort.default)
def sort(p: Program, x: str, dim: int = -1, descending: bool = False) -> Names:
    return ordered(p, x, dim, descending)


@rule(aten.sort.stable)
def stable_sort(p: Program, x: str, *, stable: Any = None, dim: int = -1, descending: bool = False) -> Names:
    return ordered(p, x, dim, descending)


@rule(aten.topk.default)
def topk(p: Program, x: str, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Names:
    return ordered(p, x, dim, largest, k)
