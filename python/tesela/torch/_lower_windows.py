# SPDX-License-Identifier: Apache-2.0
"""Convolutions and pools of torch (aten) as operators of a tesela graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._lower import aten, operand, rule
from ._lower_memory import result
from ._program import Names, NotLowered, Program


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
    """The transpose of a convolution: x with gaps of the stride, by the reversed window."""
    n = spatial(p, x)[0]
    size = p.shape(w)[2:]
    low = [dilation[k] * (size[k] - 1) - padding[k] for k in range(n)]
    if min(low) < 0:
        raise NotLowered("padding wider than the window")
    for k in range(n):
        w = p.slice(w, 2 + k, size[k] - 1, size[k], -1)
    if groups != 1:
        w = p.clone(w)
    high = [low[k] + rest[k] for k in range(n)]
    return in_groups(p, x, w, shape, groups, 0, x_dilation=stride, dilation=dilation, low=low, high=high)


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


@rule(aten.convolution_backward.default)
def convolution_backward(
    p: Program, dy: str, x: str, w: str, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, _: Any, groups: int,
    mask: Sequence[bool],
) -> Names:  # fmt: skip
    """Of x: the transpose. Of w: x by dy as the window, with batch and channel in turn."""
    n, letters = spatial(p, x)
    if transposed:
        raise NotLowered("a transposed convolution, backward")
    stride, padding, dilation = each(n, stride, padding, dilation)
    extent, size, given = p.shape(x)[2:], p.shape(w)[2:], p.shape(dy)[2:]
    dx = dw = db = None
    # what the strides of the forward window leave at the end of x
    rest = [extent[k] + 2 * padding[k] - dilation[k] * (size[k] - 1) - 1 - stride[k] * (given[k] - 1) for k in range(n)]
    if mask[0]:
        dx = by_gaps(p, dy, w, p.shape(x), stride, padding, dilation, rest, groups)
    if mask[1]:
        conv = {"stride": dilation, "dilation": stride, "low": padding, "high": [padding[k] - rest[k] for k in range(n)]}
        if groups == 1:
            dw = window(p, x, dy, p.shape(w), x="cn" + letters, w="io" + letters, result="cn" + letters, **conv)
        else:
            whole = [groups, p.shape(w)[0] // groups, *p.shape(w)[1:]]
            dw = window(
                p, grouped(p, x, groups), grouped(p, dy, groups), whole, x="cgn" + letters, w="igo" + letters,
                result="gcn" + letters, **conv,
            )  # fmt: skip
            dw = p.reshape(dw, list(p.shape(w)))
    if mask[2]:
        db = p.reduce("sum", dy, [0, *range(2, 2 + n)], False)
    return dx, dw, db


@rule(aten.max_pool2d_with_indices.default)
def greatest(
    p: Program, x: str, size: Any, stride: Any = (), padding: Any = (0,), dilation: Any = (1,), ceil: bool = False
) -> Names:  # fmt: skip
    """The values; on the host if the places are asked for, as a backward pass does."""
    size, stride, padding, dilation = each(2, size, stride or size, padding, dilation)
    node = p.node
    if node is None or ceil or any(user.args[1] != 0 for user in node.users):
        raise NotLowered("places of the greatest")
    lead, ones = [0] * (len(p.shape(x)) - 2), [1] * (len(p.shape(x)) - 2)
    found = p.new(
        "pool", (x,), node.meta["val"][0].shape, p.dtype(x), fn="max", length=[*ones, *size], step=[*ones, *stride],
        low=[*lead, *padding], high=[*lead, *padding], dilation=[*ones, *dilation],
    )  # fmt: skip
    return found, None


@rule(aten.avg_pool2d.default)
def average(
    p: Program, x: str, size: Any, stride: Any = (), padding: Any = (0,), ceil: bool = False, with_padding: bool = True, divisor: Any = None
) -> str:  # fmt: skip
    size, stride, padding = each(2, size, stride or size, padding)
    if ceil or (max(padding) and not with_padding and not divisor):
        raise NotLowered("windows of several sizes")
    lead = [0] * (len(p.shape(x)) - 2)
    ones = [1] * len(lead)
    total = p.new(
        "pool", (x,), result(p).shape, p.dtype(x), fn="sum", length=[*ones, *size], step=[*ones, *stride], low=[*lead, *padding],
        high=[*lead, *padding],
    )  # fmt: skip
    return p.pointwise("div", total, operand(p, divisor or size[0] * size[1], p.dtype(x)), dtype=p.dtype(x))
