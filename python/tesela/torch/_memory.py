# SPDX-License-Identifier: Apache-2.0
"""Places of a device layout in a buffer of torch: read, written and moved, as custom operators that torch.compile keeps.

A *view* is a size, strides and an offset over the row-major host tensor of a layout. Its places are read and written alone: by a
copy plan of the library, or one by one where it has none.
"""

from __future__ import annotations

import ctypes
import functools
import warnings
from collections.abc import Sequence
from typing import Any

import torch

from .. import _abi as abi
from .._arrays import borrow
from .._device import DeviceLayout
from .._errors import LayoutError, LimitError, TeselaWarning, UnsupportedError
from .._library import Error, byref, lib
from .._tensor import Plan
from ._places import View, buffer_length, buffer_type, host_type, is_whole, read, whole


def _view_relation(layout: DeviceLayout, view: View) -> Any:
    """The places of a view as a relation, or None where the library has none."""
    rank = len(view.size)
    device, wanted, err = abi.tesela_device_view(), abi.tesela_host_view(rank=rank, offset=view.offset), Error()
    if rank > len(wanted.shape):
        return None
    wanted.shape[:rank], wanted.stride[:rank] = view.size, view.strides
    status = lib.tesela_device_view_of(byref(device), byref(layout._device), None, byref(wanted), byref(err))
    if status:
        return None
    axis = device.layout.axis[0]  # its digits may count padding beyond the buffer, which no element has
    axis.extent = min(axis.extent, layout.places)
    return device.layout


@functools.lru_cache(512)
def _plan(layout: DeviceLayout, view: View, write: bool) -> Plan | None:
    """A copy between the places of a view and a row-major tensor of the device's type."""
    if buffer_type(layout) is torch.uint8 and layout.bits != 8 or layout._copies != 1:
        return None
    found = _view_relation(layout, view)
    if found is None:
        return None
    dense, err = abi.tesela_layout(), Error()
    rank, strides = len(view.size), _row_major(view.size)
    if lib.tesela_layout_strided(
        byref(dense), found.dtype, found.bits, rank, (ctypes.c_int64 * rank)(*view.size),
        (ctypes.c_int64 * rank)(*strides), 0, byref(err),
    ):  # fmt: skip
        return None
    relations = (dense, found) if write else (found, dense)
    try:
        return Plan(None, None, fill=None, relations=relations, words=f"view of {layout}")
    except (LayoutError, UnsupportedError, LimitError):
        return None


def _row_major(size: Sequence[int]) -> list[int]:
    strides, step = [], 1
    for extent in reversed(size):
        strides.append(step)
        step *= max(extent, 1)
    return strides[::-1]


def _to_device(x: torch.Tensor, layout: DeviceLayout, buffer: torch.Tensor, fill: Any = 0) -> None:
    if x.numel() == 0:
        return
    x = x.detach()
    _warn_of_large(x, layout)
    layout._transfer(True, borrow(x), buffer.data_ptr(), fill=fill)


def _warn_of_large(x: torch.Tensor, layout: DeviceLayout) -> None:
    if x.dtype is torch.bfloat16 and layout.device_type == "f16" and x.numel():
        top = x.abs().amax()
        if torch.isfinite(top) and top > 65504:
            warnings.warn(f"{layout}: bf16 is stored as f16; values above 65504 become inf", TeselaWarning, stacklevel=4)


def _to_host(buffer: torch.Tensor, layout: DeviceLayout, dtype: torch.dtype) -> torch.Tensor:
    out = torch.empty(layout.shape, dtype=dtype)
    if out.numel():
        layout._transfer(False, borrow(out), buffer.data_ptr())
    return out


def read_view(buffer: torch.Tensor, layout: DeviceLayout, view: View, dtype: torch.dtype) -> torch.Tensor:
    """The elements of a view as a row-major tensor on the host."""
    if is_whole(layout, view):
        return _to_host(buffer, layout, dtype)
    if 0 in view.size:
        return torch.empty(view.size, dtype=dtype)
    plan = _plan(layout, view, False)
    if plan is None:
        if buffer.dtype is torch.uint8 and dtype is not torch.uint8:
            return _to_host(buffer, layout, dtype).as_strided(*view).contiguous()
        return buffer[_one_by_one(layout, view)].to(dtype)
    out = torch.empty(view.size, dtype=buffer.dtype)
    plan._run(out.data_ptr(), buffer.data_ptr())
    return out.to(dtype)


def _one_by_one(layout: DeviceLayout, view: View) -> torch.Tensor:
    """The place of each element of a view; of a replicated one the first."""
    numbers = torch.full(view.size, view.offset)
    for axis, (n, step) in enumerate(zip(view.size, view.strides)):
        numbers += (torch.arange(n) * step).reshape(-1, *[1] * (len(view.size) - 1 - axis))
    every = whole(layout)
    index = torch.stack([numbers // step % max(n, 1) for n, step in zip(every.size, every.strides)], -1) if every.size else numbers[..., None][..., :0]
    return torch.from_numpy(layout.where(index.reshape(-1, len(every.size)).numpy())).reshape(view.size)


def write_view(buffer: torch.Tensor, layout: DeviceLayout, view: View, values: torch.Tensor) -> None:
    """Write a view, and nothing else: not padding, not the elements outside."""
    if 0 in view.size:
        return
    if any(step == 0 and extent > 1 for extent, step in zip(view.size, view.strides)):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
            "Please clone() the tensor before performing the operation."
        )
    if is_whole(layout, view):
        _to_device(values, layout, buffer, fill=None)
        return
    values = values.detach()
    if layout._copies != 1 or buffer.dtype is torch.uint8 and values.dtype is not torch.uint8:
        host = _to_host(buffer, layout, values.dtype)
        host.as_strided(*view).copy_(values)
        _to_device(host, layout, buffer, fill=None)
        return
    _warn_of_large(values, layout)
    fitted = values.to(buffer.dtype).contiguous()
    if not values.dtype.is_floating_point and not torch.equal(back := fitted.to(values.dtype), values):
        raise OverflowError(f"value {int(values[back != values][0])} does not fit {layout.device_type}, as {layout} stores it")
    plan = _plan(layout, view, True)
    if plan is None:
        buffer[_one_by_one(layout, view)] = fitted
    else:
        plan._run(buffer.data_ptr(), fitted.data_ptr())


@functools.lru_cache(512)
def _move_plan(layout: DeviceLayout, view: View, to: DeviceLayout) -> Plan | None:
    """A copy from the places of a view to those of another layout, and to no padding; None where the places are of other types."""
    alike = [(one.element_type, one.device_type, one.bits) for one in (layout, to)]
    if alike[0] != alike[1] or layout.device_type is None or layout._copies != 1 or to._copies != 1 or view.size != to.shape:
        return None
    found = layout._relation if is_whole(layout, view) else _view_relation(layout, view)
    if found is None:
        return None
    try:
        return Plan(None, None, fill=None, relations=(found, to._relation), words=f"{layout} -> {to}")
    except (LayoutError, UnsupportedError, LimitError):
        return None


# ---- as operators of torch: torch.ops.tesela


OPERATORS = torch.library.Library("tesela", "FRAGMENT")
_VIEW = "Tensor buffer, str layout, str? target, int[] size, int[] strides, int offset"
OPERATORS.define("to_places(Tensor x, str layout, str? target) -> Tensor")
OPERATORS.define(f"from_places({_VIEW}, ScalarType dtype) -> Tensor")
OPERATORS.define(f"move_places({_VIEW}, ScalarType dtype, str to, str? to_target) -> Tensor")
OPERATORS.define("fit_places(Tensor values, str layout, str? target) -> Tensor")
OPERATORS.define(
    _VIEW.join(("write_places(", ", Tensor values) -> ()")).replace("Tensor buffer", "Tensor(a!) buffer")
)


def _new_buffer(layout: DeviceLayout) -> torch.Tensor:
    return torch.zeros(buffer_length(layout), dtype=buffer_type(layout))


@torch.library.impl(OPERATORS, "to_places", "CPU")
def _to_places(x: torch.Tensor, text: str, target: str | None) -> torch.Tensor:
    layout = read(text, target)
    buffer = _new_buffer(layout)
    _to_device(x, layout, buffer)
    return buffer


@torch.library.register_fake("tesela::to_places")
def _(x: torch.Tensor, text: str, target: str | None) -> torch.Tensor:
    layout = read(text, target)
    return x.new_empty(buffer_length(layout), dtype=buffer_type(layout))


@torch.library.impl(OPERATORS, "from_places", "CPU")
def _from_places(
    buffer: torch.Tensor, text: str, target: str | None, size: list[int], strides: list[int], offset: int,
    dtype: torch.dtype,
) -> torch.Tensor:  # fmt: skip
    return read_view(buffer, read(text, target), View(tuple(size), tuple(strides), offset), dtype)


@torch.library.register_fake("tesela::from_places")
def _(buffer: Any, text: str, target: Any, size: Any, strides: Any, offset: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.empty(size, dtype=dtype, device=buffer.device)


@torch.library.impl(OPERATORS, "move_places", "CPU")
def _move_places(
    buffer: torch.Tensor, text: str, target: str | None, size: list[int], strides: list[int], offset: int,
    dtype: torch.dtype, to: str, to_target: str | None,
) -> torch.Tensor:  # fmt: skip
    source, view, destination = read(text, target), View(tuple(size), tuple(strides), offset), read(to, to_target)
    plan = _move_plan(source, view, destination) if 0 not in view.size else None
    if plan is not None:
        moved = _new_buffer(destination)
        plan._run(moved.data_ptr(), buffer.data_ptr())
        return moved
    values = read_view(buffer, source, view, dtype)
    return _to_places(values.to(host_type(destination.element_type or "")), to, to_target)


@torch.library.register_fake("tesela::move_places")
def _(
    buffer: Any, text: str, target: Any, size: Any, strides: Any, offset: int, dtype: Any, to: str, to_target: Any
) -> torch.Tensor:
    return _fake_buffer(buffer, to, to_target)


def _fake_buffer(like: torch.Tensor, text: str, target: str | None) -> torch.Tensor:
    layout = read(text, target)
    return like.new_empty(buffer_length(layout), dtype=buffer_type(layout))


@torch.library.impl(OPERATORS, "write_places", "CPU")
def _write_places(
    buffer: torch.Tensor, text: str, target: str | None, size: list[int], strides: list[int], offset: int,
    values: torch.Tensor,
) -> None:  # fmt: skip
    write_view(buffer, read(text, target), View(tuple(size), tuple(strides), offset), values)


@torch.library.register_fake("tesela::write_places")
def _(buffer: Any, text: str, target: Any, size: Any, strides: Any, offset: int, values: Any) -> None:
    return None


@torch.library.impl(OPERATORS, "fit_places", "CPU")
def _fit_places(values: torch.Tensor, text: str, target: str | None) -> torch.Tensor:
    """All places in the host's type -> the buffer. Integers that do not fit stop it, those in padding do not."""
    layout = read(text, target)
    dtype = buffer_type(layout)
    flat = values.reshape(-1)
    fitted = flat.to(dtype)
    if not torch.equal(fitted.to(values.dtype), flat) and layout.size:
        every = whole(layout)
        at = torch.arange(layout.size).reshape(layout.shape)
        index = torch.stack([at // step % max(n, 1) for n, step in zip(every.size, every.strides)], -1).reshape(-1, len(every.size))
        places = torch.from_numpy(layout.where(index.numpy()))
        real = flat[places]
        wrong = (real.to(dtype).to(values.dtype) != real).nonzero()
        if len(wrong):
            raise OverflowError(
                f"value {int(real[wrong[0]])} of element {index[wrong[0]].tolist()[0]} does not fit {layout.device_type}, as {layout} stores it"
            )
    return fitted if fitted.data_ptr() != values.data_ptr() else fitted.clone()


@torch.library.register_fake("tesela::fit_places")
def _(values: Any, text: str, target: Any) -> torch.Tensor:
    return _fake_buffer(values, text, target)
