# SPDX-License-Identifier: Apache-2.0
"""Pools of torch (aten) as operators of a tesela graph.

The places of the greatest elements, and what goes back to them, are found offset by offset of the window: a slice, with the
strides as its steps, has the element at one offset of every window.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from ._lower_windows import each
from ._program import Names, NotLowered, Program
from ._rules import aten, operand, result, rule

WINDOW = 64  # elements of a window whose places are found


class Windows:
    """The windows of a pool over the last n dims of x, with `count` of them in each dim."""

    def __init__(
        self, p: Program, shape: Sequence[int], n: int, size: Any, stride: Any, padding: Any, dilation: Any, count: Sequence[int]
    ) -> None:  # fmt: skip
        self.p, self.n, self.count, self.extent = p, n, list(count[-n:]), list(shape[-n:])
        self.size, self.stride, self.padding, self.dilation = each(n, size, stride or size, padding, dilation)
        self.lead = [0] * (len(shape) - n)
        # from the first element of padding to the last element of a window, or of the tensor
        self.read = [(self.count[k] - 1) * self.stride[k] + (self.size[k] - 1) * self.dilation[k] + 1 for k in range(n)]
        self.high = [max(self.read[k] - self.padding[k] - self.extent[k], 0) for k in range(n)]
        self.steps = [math.prod(self.extent[k + 1 :]) for k in range(n)]

    def pool(self, x: str, fn: str) -> str:
        p, ones = self.p, [1] * len(self.lead)
        high = [self.read[k] - self.padding[k] - self.extent[k] for k in range(self.n)]
        shape = [*p.shape(x)[: len(self.lead)], *self.count]
        return p.new(
            "pool", (x,), shape, p.dtype(x), fn=fn, length=[*ones, *self.size], step=[*ones, *self.stride],
            low=[*self.lead, *self.padding], high=[*self.lead, *high], dilation=[*ones, *self.dilation],
        )  # fmt: skip

    def offsets(self) -> Iterator[tuple[int, ...]]:
        if math.prod(self.size) > WINDOW:
            raise NotLowered(f"places in a window of more than {WINDOW} elements")
        return itertools.product(*map(range, self.size))

    def counted(self, k: int) -> str:
        """The number of the window along dim k, times its stride."""
        shape = [count if d == k else 1 for d, count in enumerate(self.count)]
        return self.p.pointwise("mul", self.p.constant(0, torch.int64, shape, dim=k), self.p.constant(self.stride[k], torch.int64))

    def start(self) -> str:
        """The place of offset 0 in the plane, in row-major order; negative, or another place, in the padding."""
        p = self.p
        each_dim = [p.pointwise("mul", self.counted(k), p.constant(self.steps[k], torch.int64)) for k in range(self.n)]
        total = functools.reduce(lambda a, b: p.pointwise("add", a, b), each_dim)
        return self.shifted(total, -sum(self.padding[k] * self.steps[k] for k in range(self.n)))

    def shifted(self, index: str, by: int) -> str:
        return index if by == 0 else self.p.pointwise("add", index, self.p.constant(by, torch.int64))

    def place(self, start: str, offset: Sequence[int]) -> str:
        return self.shifted(start, sum(offset[k] * self.dilation[k] * self.steps[k] for k in range(self.n)))

    def in_tensor(self, offset: Sequence[int]) -> str | None:
        """Where an offset is not in the padding before the tensor; None: everywhere."""
        p, found = self.p, None
        for k in range(self.n):
            before = self.padding[k] - offset[k] * self.dilation[k]
            if before > 0:
                inside = p.pointwise("ge", self.counted(k), p.constant(before, torch.int64), dtype=torch.bool)
                found = inside if found is None else p.pointwise("and", found, inside)
        return found


def padded(p: Program, x: str, low: Sequence[int], high: Sequence[int], value: Any, step: Sequence[int] | None = None) -> str:
    gaps = step or [1] * len(low)
    if not any(low) and not any(high) and max(gaps) == 1:
        return x
    shape = [low[d] + (extent - 1) * gaps[d] + 1 + high[d] for d, extent in enumerate(p.shape(x))]
    return p.new("pad", (x,), shape, p.dtype(x), low=list(low), high=list(high), step=list(gaps), value=value)


@rule(aten.max_pool2d_with_indices.default, aten.max_pool3d_with_indices.default)
def greatest(
    p: Program, x: str, size: Any, stride: Any = (), padding: Any = (0,), dilation: Any = (1,), ceil: bool = False
) -> Names:  # fmt: skip
    """The values; their places as well if they are read. The first of equal elements counts, and the last NaN."""
    node = p.node
    if node is None or not p.dtype(x).is_floating_point:
        raise NotLowered("a pool of integers")
    n = 2 if node.target is aten.max_pool2d_with_indices.default else 3
    w = Windows(p, p.shape(x), n, size, stride, padding, dilation, node.meta["val"][0].shape)
    if all(user.args[1] == 0 for user in node.users):
        return w.pool(x, "max"), None
    whole, start = padded(p, x, [*w.lead, *w.padding], [*w.lead, *w.high], "-inf"), w.start()
    best = index = None
    for offset in w.offsets():
        one = whole
        for k in range(n):
            one = p.slice(one, len(w.lead) + k, offset[k] * w.dilation[k], w.count[k], w.stride[k])
        at, inside = w.place(start, offset), w.in_tensor(offset)
        if best is None or index is None:
            best = one
            index = at if inside is None else p.pointwise("select", inside, at, p.constant(-1, torch.int64))
            index = p.expand(index, p.shape(one))
            continue
        greater = p.pointwise("or", p.pointwise("gt", one, best, dtype=torch.bool), p.pointwise("ne", one, one, dtype=torch.bool))
        if max(w.padding):  # the first one in the tensor, though it may be -inf
            first = p.pointwise("lt", index, p.constant(0, torch.int64), dtype=torch.bool)
            greater = p.pointwise("or", greater, first if inside is None else p.pointwise("and", first, inside))
        best = p.pointwise("select", greater, one, best)
        index = p.pointwise("select", greater, at, index)
    return best, index


@rule(aten.max_pool2d_with_indices_backward.default, aten.max_pool3d_with_indices_backward.default)
def greatest_backward(
    p: Program, dy: str, x: str, size: Any, stride: Any, padding: Any, dilation: Any, ceil: bool, index: str
) -> str:  # fmt: skip
    """At each offset, dy where that is the place that was kept, with gaps of the stride; places in the padding are cut off."""
    n = 2 if p.node is not None and p.node.target is aten.max_pool2d_with_indices_backward.default else 3
    w = Windows(p, p.shape(x), n, size, stride, padding, dilation, p.shape(dy))
    start, zero, total, rank = w.start(), p.constant(0, p.dtype(dy)), None, len(p.shape(x))
    whole = [w.padding[k] + w.extent[k] + w.high[k] for k in range(n)]
    for offset in w.offsets():
        kept = p.pointwise("select", p.pointwise("eq", index, w.place(start, offset), dtype=torch.bool), dy, zero, dtype=p.dtype(dy))
        low = [offset[k] * w.dilation[k] for k in range(n)]
        high = [whole[k] - low[k] - (w.count[k] - 1) * w.stride[k] - 1 for k in range(n)]
        one = padded(p, kept, [*w.lead, *low], [*w.lead, *high], 0, [*[1] * len(w.lead), *w.stride])
        total = one if total is None else p.pointwise("add", total, one)
    assert total is not None
    for k in range(n):
        total = p.slice(total, rank - n + k, w.padding[k], w.extent[k])
    return total


def divisor_of(p: Program, w: Windows, with_padding: bool, divisor: Any, dtype: torch.dtype) -> str:
    """The elements of each window: all, or those in the tensor and, `with_padding`, in its padding."""
    over = any(w.read[k] > w.extent[k] + 2 * w.padding[k] for k in range(w.n))
    if divisor or not over and (with_padding or not max(w.padding)):
        return operand(p, divisor or math.prod(w.size), dtype)
    low = [0] * w.n if with_padding else w.padding
    extent = [w.extent[k] + 2 * (w.padding[k] - low[k]) for k in range(w.n)]
    return p.new(
        "pool", (p.constant(1, dtype, extent),), w.count, dtype, fn="sum", length=w.size, step=w.stride, low=low,
        high=[w.read[k] - low[k] - extent[k] for k in range(w.n)],
    )  # fmt: skip


@rule(aten.avg_pool2d.default, aten.avg_pool3d.default)
def average(
    p: Program, x: str, size: Any, stride: Any = (), padding: Any = (0,), ceil: bool = False, with_padding: bool = True, divisor: Any = None
) -> str:  # fmt: skip
    n = 2 if p.node is not None and p.node.target is aten.avg_pool2d.default else 3
    if not p.dtype(x).is_floating_point:
        raise NotLowered("a mean of integers")
    w = Windows(p, p.shape(x), n, size, stride, padding, (1,), result(p).shape)
    return p.pointwise("div", w.pool(x, "sum"), divisor_of(p, w, with_padding, divisor, p.dtype(x)), dtype=p.dtype(x))


@rule(aten.avg_pool2d_backward.default, aten.avg_pool3d_backward.default)
def average_backward(
    p: Program, dy: str, x: str, size: Any, stride: Any, padding: Any, ceil: bool, with_padding: bool, divisor: Any
) -> str:  # fmt: skip
    """The sums of dy, with gaps of the stride, over the windows that have an element."""
    n = 2 if p.node is not None and p.node.target is aten.avg_pool2d_backward.default else 3
    w = Windows(p, p.shape(x), n, size, stride, padding, (1,), p.shape(dy))
    each_one = p.pointwise("div", dy, divisor_of(p, w, with_padding, divisor, p.dtype(dy)), dtype=p.dtype(dy))
    low = [w.size[k] - 1 - w.padding[k] for k in range(n)]
    high = [w.extent[k] + w.size[k] - 1 - low[k] - (w.count[k] - 1) * w.stride[k] - 1 for k in range(n)]
    ones = [1] * len(w.lead)
    return p.new(
        "pool", (each_one,), p.shape(x), p.dtype(dy), fn="sum", length=[*ones, *w.size], step=[*ones, *[1] * n],
        low=[*w.lead, *low], high=[*w.lead, *high], x_dilation=[*ones, *w.stride],
    )  # fmt: skip
