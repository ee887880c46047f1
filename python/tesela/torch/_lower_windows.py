# SPDX-License-Identifier: Apache-2.0
"""Convolutions of torch (aten) as operators of a tesela graph; pools are in _lower_pools.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._program import Names, NotLowered, Program
from ._rules import aten, result, rule


def window(p: Program, x: str, w: str, shape: Sequence[int], /, **conv: Any) -> str:
    return p.new("conv2d", (x, w), shape, p.dtype(x), conv=conv)


def spatial(p: Program, x: str) -> tuple[int, str]:
    """How many spatial dims, and their letters."""
    n = len(p.shape(x)) - 2
    if not 1 <= n <= 3:
        raise NotLowered("other than 1 to 3 spatial dims")
    return n, "w" if n == 1 else "dhw"[3 - n :]


def each(n: int, *lists: Sequence[int]) -> tuple[list[int], ...]:
    return tuple([*one] * (n if len(one) == 1 else 1) for one in lists)


def grouped(p: Program, x: str, groups: int, dim: int = 1) -> str:
    """The channels in groups, as a dim of their own before them."""
    shape = p.shape(x)
    return p.reshape(x, [*shape[:dim], groups, shape[dim] // groups, *shape[dim + 1 :]])


def in_groups(p: Program, x: str, w: str, shape: Sequence[int], groups: int, inner: int, **conv: Any) -> str:
    """A convolution; `inner` is the dim of w that is summed over, after its groups are split off. `shape` is (batch, channel, ...)."""
    letters = spatial(p, x)[1]
    if groups == 1:
        order = "oi" if inner == 1 else "io"
        return window(p, x, w, shape, x="nc" + letters, w=order + letters, result="nc" + letters, **conv)
    outer = shape[1] // groups
    x, w = grouped(p, x, groups), grouped(p, w, groups, 0)
    order = "goi" if inner == 1 else "gio"
    lines = "ngc"
    if p.shape(x)[2] == 1:  # depthwise: nothing but the window is summed
        x, w, lines, order = p.squeeze(x, [2]), p.squeeze(w, [1 + inner]), "ng", "go"
    whole = [shape[0], groups, outer, *shape[2:]]
    found = window(p, x, w, whole, x=lines + letters, w=order + letters, result="ngc" + letters, **conv)
    return p.reshape(found, list(shape))


def by_gaps(
    p: Program, x: str, w: str, shape: Sequence[int], stride: Any, padding: Any, dilation: Any, rest: Sequence[int], groups: int
) -> str:  # fmt: skip
    """The transpose of a convolution: x with gaps of the stride, by the reversed window. Padding wider than the window cuts the result."""
    n = spatial(p, x)[0]
    size = p.shape(w)[2:]
    low = [dilation[k] * (size[k] - 1) - padding[k] for k in range(n)]
    high = [low[k] + rest[k] for k in range(n)]
    before, after = ([max(0, -one) for one in ends] for ends in (low, high))
    for k in range(n):
        w = p.slice(w, 2 + k, size[k] - 1, size[k], -1)
    if groups != 1:
        w = p.clone(w)
    whole = [*shape[:2], *(shape[2 + k] + before[k] + after[k] for k in range(n))]
    border = {"low": [max(0, one) for one in low], "high": [max(0, one) for one in high]}
    found = in_groups(p, x, w, whole, groups, 0, x_dilation=stride, dilation=dilation, **border)
    for k in range(n):
        found = p.slice(found, 2 + k, before[k], shape[2 + k])
    return found


@rule(aten.convolution.default)
def convolution(
    p: Program, x: str, w: str, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, output_padding: Any, groups: int
) -> str:  # fmt: skip
    n = spatial(p, x)[0]
    stride, padding, dilation, rest = each(n, stride, padding, dilation, output_padding)
    shape = tuple(result(p).shape)
    if transposed:
        found = by_gaps(p, x, w, shape, stride, padding, dilation, rest, groups)
    else:
        found = in_groups(p, x, w, shape, groups, 1, stride=stride, dilation=dilation, low=padding, high=padding)
    return found if bias is None else p.pointwise("add", found, p.reshape(bias, [shape[1]] + [1] * n))


def of_window(
    p: Program, x: str, dy: str, shape: Sequence[int], stride: Any, padding: Any, dilation: Any, rest: Sequence[int], groups: int
) -> str:  # fmt: skip
    """The gradient of the window (out, in, ...) of a convolution of x: x by dy as the window, with batch and channel in turn."""
    n, letters = spatial(p, x)
    conv = {"stride": dilation, "dilation": stride, "low": padding, "high": [padding[k] - rest[k] for k in range(n)]}
    if groups == 1:
        return window(p, x, dy, shape, x="cn" + letters, w="io" + letters, result="cn" + letters, **conv)
    whole = [groups, shape[0] // groups, *shape[1:]]
    found = window(
        p, grouped(p, x, groups), grouped(p, dy, groups), whole, x="cgn" + letters, w="igo" + letters, result="gcn" + letters, **conv
    )
    return p.reshape(found, list(shape))


@rule(aten.convolution_backward.default)
def convolution_backward(
    p: Program, dy: str, x: str, w: str, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, rest: Any, groups: int,
    mask: Sequence[bool],
) -> Names:  # fmt: skip
    """A transposed convolution is the gradient of one of dy with the result x, so x and dy change places."""
    n = spatial(p, x)[0]
    stride, padding, dilation, rest = each(n, stride, padding, dilation, rest)
    extent, size, given = p.shape(x)[2:], p.shape(w)[2:], p.shape(dy)[2:]
    dx = dw = db = None
    if not transposed:  # what the strides of the forward window leave at the end of x
        rest = [extent[k] + 2 * padding[k] - dilation[k] * (size[k] - 1) - 1 - stride[k] * (given[k] - 1) for k in range(n)]
    if mask[0] and transposed:
        high = [padding[k] - rest[k] for k in range(n)]
        dx = in_groups(p, dy, w, p.shape(x), groups, 1, stride=stride, dilation=dilation, low=padding, high=high)
    elif mask[0]:
        dx = by_gaps(p, dy, w, p.shape(x), stride, padding, dilation, rest, groups)
    if mask[1]:
        read, result = (dy, x) if transposed else (x, dy)
        dw = of_window(p, read, result, p.shape(w), stride, padding, dilation, rest, groups)
    if mask[2]:
        db = p.reduce("sum", dy, [0, *range(2, 2 + n)], False)
    return dx, dw, db
