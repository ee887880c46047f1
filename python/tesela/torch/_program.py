# SPDX-License-Identifier: Apache-2.0
"""A program of tesela while it is written: operators in the JSON form of docs/graph.md, with the shapes of what they give.

Shapes and views are computed by torch itself, on tensors of the device `meta`, which have no memory; so no mode of
torch may be active.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import torch

from .._device import device_layout
from .._errors import LayoutError
from .._types import NUMBERS, element_type

Names = str | tuple["str | None", ...]
TORCH = {
    "pred": torch.bool, "u8": torch.uint8, "s8": torch.int8, "s16": torch.int16, "s32": torch.int32, "s64": torch.int64,
    "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64,
}  # fmt: skip
RANK = 8  # dims of a tensor that a program takes here


class NotLowered(Exception):
    """The graph of tesela has no such operator; it runs on the host."""


def type_of(dtype: torch.dtype) -> str:
    name = element_type(dtype)
    if name not in TORCH or name not in NUMBERS:
        raise NotLowered(f"elements of {dtype}")
    return name


@functools.lru_cache(256)
def stored(dtype: torch.dtype, target: str) -> str:
    """tesela's name of a type that the target can store."""
    name = type_of(dtype)
    try:
        device_layout((1,), name, target=target)
    except LayoutError as error:
        raise NotLowered(str(error)) from None
    return name


def view_strides(shape: Sequence[int], strides: Sequence[int], size: Sequence[int]) -> list[int] | None:
    """The strides with which a tensor is a view in another shape; None: its elements are not in that order.

    >>> view_strides((4, 6), (6, 1), (2, 12)), view_strides((4, 6), (1, 4), (24,))
    ([12, 1], None)
    """
    found, at, step = [1] * len(size), len(size) - 1, strides[-1] if strides else 1
    count = covered = 1  # elements of the dims of the tensor, and of the view, from `step` on
    for d in reversed(range(len(shape))):
        count *= shape[d]
        if d > 0 and (shape[d - 1] == 1 or strides[d - 1] == count * step):
            continue  # one run of elements
        while at >= 0 and (covered < count or size[at] == 1):
            found[at] = covered * step
            covered *= size[at]
            at -= 1
        if covered != count:
            return None
        if d > 0:
            step, count, covered = strides[d - 1], 1, 1
    return found


class Program:
    """Inputs and operators, each under a name; `values` has the shape, strides and type of each."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.inputs: dict[str, dict[str, Any]] = {}
        self.ops: list[dict[str, Any]] = []
        self.values: dict[str, torch.Tensor] = {}
        self.origin: dict[str, torch.fx.Node | None] = {}
        self.node: torch.fx.Node | None = None  # the node of torch's graph that is lowered now

    def tree(self, outputs: Sequence[str], hints: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
        """The program as `tesela.graph` takes it."""
        tree = {"target": self.target, "inputs": self.inputs, "ops": self.ops, "outputs": list(outputs)}
        return {**tree, "hints": list(hints)} if hints else tree

    def fresh(self) -> str:
        base = self.node.name if self.node is not None else "v"
        if base not in self.values:
            return base
        k = 1
        while f"{base}.{k}" in self.values:
            k += 1
        return f"{base}.{k}"

    def input(self, name: str, shape: Sequence[int], dtype: torch.dtype, stick: Any) -> str:
        self._keep(name, torch.empty(tuple(shape), dtype=dtype, device="meta"))
        self.inputs[name] = {"size": list(shape), "dtype": type_of(dtype), "stick": stick}
        return name

    def _keep(self, name: str, value: torch.Tensor) -> None:
        if value.dim() > RANK or 0 in value.shape:
            raise NotLowered(f"a tensor of shape {list(value.shape)}")
        stored(value.dtype, self.target)
        self.values[name] = value
        self.origin[name] = self.node

    def emit(self, op: str, ins: Sequence[str], like: torch.Tensor, /, **members: Any) -> str:
        """Add an operator that gives a tensor like `like`."""
        name = self.fresh()
        self._keep(name, like)
        dtype = {} if op in VIEWS else {"dtype": type_of(like.dtype)}
        self.ops.append({"op": op, "out": name, "in": list(ins), **dtype, **members})
        return name

    def new(self, op: str, ins: Sequence[str], shape: Sequence[int], dtype: torch.dtype, /, **members: Any) -> str:
        """Add an operator whose result has memory of its own."""
        value = torch.empty(tuple(shape), dtype=dtype, device="meta")
        return self.emit(op, ins, value, **members)

    def shape(self, x: str) -> tuple[int, ...]:
        return tuple(self.values[x].shape)

    def dtype(self, x: str) -> torch.dtype:
        return self.values[x].dtype

    # ---- values

    def constant(self, value: float, dtype: torch.dtype, shape: Sequence[int] = (), dim: int | None = None) -> str:
        number: Any = bool(value) if dtype is torch.bool else value
        number = float(number) if dtype.is_floating_point else int(number)
        if isinstance(number, float) and not math.isfinite(number):
            number = "nan" if math.isnan(number) else "inf" if number > 0 else "-inf"
        members: dict[str, Any] = {"value": number, "size": list(shape)}
        return self.new("constant", (), shape, dtype, **members, **({} if dim is None else {"dim": dim}))

    def pointwise(self, fn: str, *ins: str, dtype: torch.dtype | None = None) -> str:
        shape = torch.broadcast_shapes(*(self.shape(x) for x in ins))
        return self.new("pointwise", ins, shape, dtype or self.dtype(ins[-1]), fn=fn)

    def cast(self, x: str, dtype: torch.dtype) -> str:
        """The elements in another type. What torch does with numbers that it lacks is not defined; here they saturate."""
        if self.dtype(x) is dtype:
            return x
        if dtype is torch.bool:
            return self.pointwise("ne", x, self.constant(0, self.dtype(x)), dtype=dtype)
        return self.pointwise("copy", x, dtype=dtype)

    def reduce(self, fn: str, x: str, dims: Sequence[int], keepdim: bool, dtype: torch.dtype | None = None) -> str:
        rank = len(self.shape(x))
        dims = sorted({d % rank for d in dims}) if rank else []
        if not dims:
            return self.cast(x, dtype or self.dtype(x))
        shape = [1 if d in dims else e for d, e in enumerate(self.shape(x)) if keepdim or d not in dims]
        return self.new("reduce", (x,), shape, dtype or self.dtype(x), fn=fn, dims=dims, keepdim=keepdim)

    def matmul(self, x: str, y: str) -> str:
        shape = [*torch.broadcast_shapes(self.shape(x)[:-2], self.shape(y)[:-2]), self.shape(x)[-2], self.shape(y)[-1]]
        return self.new("matmul", (x, y), shape, self.dtype(x))

    def clone(self, x: str) -> str:
        return self.new("clone", (x,), self.shape(x), self.dtype(x))

    # ---- views

    def _view(self, op: str, x: str, value: torch.Tensor, **members: Any) -> str:
        return self.emit(op, (x,), value, **members)

    def permute(self, x: str, dims: Sequence[int]) -> str:
        dims = [d % len(dims) for d in dims]
        return x if dims == sorted(dims) else self._view("permute", x, self.values[x].permute(dims), dims=dims)

    def reshape(self, x: str, size: Sequence[int]) -> str:
        """A view, of a copy where the elements are not in that order."""
        if tuple(size) == self.shape(x):
            return x
        strides = view_strides(self.shape(x), self.values[x].stride(), size)
        if strides is None:
            x = self.clone(x)
            strides = view_strides(self.shape(x), self.values[x].stride(), size)
        assert strides is not None
        value = self.values[x].as_strided(tuple(size), strides)
        return self._view("reshape", x, value, size=list(size))

    def unsqueeze(self, x: str, dim: int) -> str:
        value = self.values[x].unsqueeze(dim)
        return self._view("unsqueeze", x, value, dims=[dim % value.dim()])

    def squeeze(self, x: str, dims: Sequence[int]) -> str:
        rank = len(self.shape(x))
        dims = sorted({d % rank for d in dims if self.shape(x)[d] == 1}) if rank else []
        return self._view("squeeze", x, self.values[x].squeeze(tuple(dims)), dims=dims) if dims else x

    def expand(self, x: str, size: Sequence[int]) -> str:
        value = self.values[x].expand(tuple(size))
        if tuple(value.shape) == self.shape(x):
            return x
        while len(self.shape(x)) < value.dim():
            x = self.unsqueeze(x, 0)
        return self._view("expand", x, value, size=list(value.shape))

    def slice(self, x: str, dim: int, start: int, length: int, step: int = 1) -> str:
        dim %= len(self.shape(x))
        if (start, length, step) == (0, self.shape(x)[dim], 1):
            return x
        # its strides count, not where it begins
        index = [slice(None)] * len(self.shape(x))
        index[dim] = slice(0, (length - 1) * abs(step) + 1, abs(step))
        value = self.values[x][tuple(index)]
        if step < 0:  # torch has no negative strides: a view that nothing but a clone may be reshaped from
            value = value.new_empty(value.shape).as_strided(value.shape, [2 * s + 1 for s in value.stride()])
        return self._view("slice", x, value, dim=dim, start=start, length=length, step=step)


VIEWS = frozenset(("permute", "reshape", "squeeze", "unsqueeze", "expand", "slice"))
