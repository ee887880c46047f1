# SPDX-License-Identifier: Apache-2.0
"""Operators of torch (aten) as operators of a tesela graph: constants, joined and padded tensors, lookups, windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from . import _moves  # noqa: F401 - the operator restickify
from ._lower import aten, operand, rule, wanted
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


# ---- windows


def window(p: Program, x: str, w: str, shape: Sequence[int], /, **conv: Any) -> str:
    return p.new("conv2d", (x, w), shape, p.dtype(x), conv=conv)


def spatial(p: Program, x: str, transposed: bool, groups: int) -> tuple[int, str]:
    n = len(p.shape(x)) - 2
    if not 1 <= n <= 3 or transposed or groups != 1:
        raise NotLowered("a transposed or grouped convolution")
    return n, "dhw"[3 - n :] if n != 1 else "w"


@rule(aten.convolution.default)
def convolution(
    p: Program, x: str, w: str, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, _: Any, groups: int
) -> str:  # fmt: skip
    n, letters = spatial(p, x, transposed, groups)
    stride, padding, dilation = ([*one] * (n if len(one) == 1 else 1) for one in (stride, padding, dilation))
    found = window(
        p, x, w, result(p).shape, x="nc" + letters, w="oi" + letters, result="nc" + letters, stride=stride, dilation=dilation,
        low=padding, high=padding,
    )  # fmt: skip
    if bias is None:
        return found
    return p.pointwise("add", found, p.reshape(bias, [p.shape(w)[0]] + [1] * n))


@rule(aten.convolution_backward.default)
def convolution_backward(
    p: Program, dy: str, x: str, w: str, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, _: Any, groups: int,
    mask: Sequence[bool],
) -> Names:  # fmt: skip
    """Of x: dy with gaps of the stride, by the reversed window. Of w: x by dy as the window, with batch and channel in turn."""
    n, letters = spatial(p, x, transposed, groups)
    stride, padding, dilation = ([*one] * (n if len(one) == 1 else 1) for one in (stride, padding, dilation))
    extent, size, given = p.shape(x)[2:], p.shape(w)[2:], p.shape(dy)[2:]
    dx = dw = db = None
    # what the strides of the forward window leave at the end of x
    rest = [extent[k] + 2 * padding[k] - dilation[k] * (size[k] - 1) - 1 - stride[k] * (given[k] - 1) for k in range(n)]
    if mask[0]:
        low = [dilation[k] * (size[k] - 1) - padding[k] for k in range(n)]
        if min(low) < 0:
            raise NotLowered("padding wider than the window")
        turned = w
        for k in range(n):
            turned = p.slice(turned, 2 + k, size[k] - 1, size[k], -1)
        dx = window(
            p, dy, turned, p.shape(x), x="nc" + letters, w="io" + letters, result="nc" + letters, x_dilation=stride, dilation=dilation,
            low=low, high=[low[k] + rest[k] for k in range(n)],
        )  # fmt: skip
    if mask[1]:
        dw = window(
            p, x, dy, p.shape(w), x="cn" + letters, w="io" + letters, result="cn" + letters, stride=dilation, dilation=stride,
            low=padding, high=[padding[k] - rest[k] for k in range(n)],
        )  # fmt: skip
    if mask[2]:
        db = p.reduce("sum", dy, [0, *range(2, 2 + n)], False)
    return dx, dw, db


@rule(aten.avg_pool2d.default)
def average(
    p: Program, x: str, size: Any, stride: Any = (), padding: Any = (0,), ceil: bool = False, with_padding: bool = True, divisor: Any = None
) -> str:  # fmt: skip
    size, stride, padding = ([*one] * (2 if len(one) == 1 else 1) for one in (size, stride or size, padding))
    if ceil or (max(padding) and not with_padding and not divisor):
        raise NotLowered("windows of several sizes")
    lead = [0] * (len(p.shape(x)) - 2)
    ones = [1] * len(lead)
    total = p.new(
        "pool", (x,), result(p).shape, p.dtype(x), fn="sum", length=[*ones, *size], step=[*ones, *stride], low=[*lead, *padding],
        high=[*lead, *padding],
    )  # fmt: skip
    return p.pointwise("div", total, operand(p, divisor or size[0] * size[1], p.dtype(x)), dtype=p.dtype(x))
