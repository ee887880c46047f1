# SPDX-License-Identifier: Apache-2.0
"""Copies of TiledTensors, and new ones like them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .._device import DeviceLayout
from .._errors import UnsupportedError
from ._frames import as_whole, is_dense
from ._host import moved_on_device
from ._places import View, buffer_length, buffer_type, default_layout, is_whole, whole, with_type, words
from ._pointwise import _name, _shape, _shaped, _store, _writable
from ._tiled import TiledTensor, from_places, places

aten = torch.ops.aten

def _clone(func: Any, t: Any, *, memory_format: Any = torch.preserve_format) -> Any:
    at = t.view_of_layout
    preserved = is_dense(t.device_layout, at) and (
        memory_format in (None, torch.preserve_format) or is_whole(t.device_layout, at)
    )
    if memory_format in (torch.channels_last, torch.channels_last_3d):  # the same dims in that order
        channels = t.permute(0, *range(2, t.dim()), 1).clone(memory_format=torch.contiguous_format)
        return channels.permute(0, t.dim() - 1, *range(1, t.dim() - 1))
    if preserved:
        return TiledTensor(t.buffer.clone(), t.device_layout, at)
    layout = default_layout(at.size, t.dtype, words(t.device_layout).target)
    own = as_whole(t)
    if own is not None and _last_in_sticks(own.device_layout):
        return TiledTensor(own.buffer.clone(), own.device_layout)
    moved_on_device(func)
    return TiledTensor(places.move_places(t.buffer, *words(t.device_layout), *at, t.dtype, *words(layout)), layout)


def _last_in_sticks(layout: DeviceLayout) -> bool:
    return {one.dim for one in layout.dims[-layout.stick_dims :]} == {len(layout.shape) - 1}


def _to_copy(func: Any, t: Any, *, dtype: Any = None, **options: Any) -> Any:
    device = options.get("device")
    if device is not None and torch.device(device) != t.device:
        return NotImplemented
    if dtype is None or dtype == t.dtype:
        return _clone(func, t, memory_format=options.get("memory_format"))
    at, layout = t.view_of_layout, t.device_layout
    if 0 in at.size or buffer_type(layout) is torch.uint8 and t.dtype is not torch.uint8:
        return NotImplemented
    made = _store(_shaped(t.buffer, layout).to(t.dtype).to(dtype), layout, at) if is_dense(layout, at) else None
    if made is not None:
        return made
    try:
        to = default_layout(at.size, dtype, words(layout).target)
    except UnsupportedError:
        return NotImplemented  # which says so
    moved_on_device(func)
    return TiledTensor(places.move_places(t.buffer, *words(layout), *at, t.dtype, *words(to)), to)


def _copy_(func: Any, t: Any, source: Any, non_blocking: bool = False) -> Any:
    if not isinstance(t, TiledTensor):
        return t.copy_(from_places(source), non_blocking)
    _writable(t)
    layout, at = t.device_layout, t.view_of_layout
    if isinstance(source, TiledTensor):
        if source.device_layout == layout and source.view_of_layout == at and is_dense(layout, at):
            t.buffer.copy_(source.buffer)
            return t
        if source.buffer is not t.buffer:
            moved_on_device(func)
        source = from_places(source)
    if _shape(source) != at.size:
        source = source.expand(at.size)
    places.write_places(t.buffer, *words(layout), *at, source.to(t.dtype))
    return t


def _like(func: Any, t: Any, *values: Any, dtype: Any = None, memory_format: Any = None, **options: Any) -> Any:
    """empty_like, zeros_like, ones_like, full_like: in the operand's layout."""
    at, dtype = t.view_of_layout, dtype or t.dtype
    layout = t.device_layout if is_dense(t.device_layout, at) else None
    made = with_type(layout, dtype) if layout is not None else None
    if made is None or made.size == 0 or buffer_type(made) is torch.uint8 and dtype is not torch.uint8:
        layout = made = default_layout(at.size, dtype, words(t.device_layout).target)
        at = whole(made)
    name = _name(func)
    return _filled(made, values[0] if name == "full_like" else {"ones_like": 1, "zeros_like": 0}.get(name), dtype, at)


def _equal(func: Any, a: Any, b: Any) -> Any:
    return torch.equal(*(from_places(one) if isinstance(one, TiledTensor) else one for one in (a, b)))


def _filled(layout: DeviceLayout, value: Any, dtype: Any, at: View | None = None) -> Any:
    """A new tensor; of value None not initialised."""
    stored = buffer_type(layout)
    if stored is torch.uint8 and dtype is not torch.uint8:
        return NotImplemented
    value = bool(value) if dtype is torch.bool and value is not None else value
    made = torch.empty(buffer_length(layout), dtype=stored)
    if value is not None:
        if not stored.is_floating_point and stored is not torch.bool:
            value, limits = int(value), torch.iinfo(stored)
            if not limits.min <= value <= limits.max:
                raise OverflowError(f"value {value} does not fit {layout.device_type}, as {layout} stores it")
        made.fill_(value)
    return TiledTensor(made, layout, at)


def _new(func: Any, t: Any, size: Any, *values: Any, dtype: Any = None, **options: Any) -> Any:
    """new_empty, new_zeros, new_ones, new_full: in the layout of the tensor if it has that size, else in the default."""
    if options.get("device") is not None and torch.device(options["device"]) != t.device:
        return NotImplemented
    name, dtype, shape = _name(func), dtype or t.dtype, tuple(int(n) for n in size)
    value = values[0] if name == "new_full" else {"new_zeros": 0, "new_ones": 1}.get(name)
    layout = with_type(t.device_layout, dtype) if shape == t.device_layout.shape and t.device_layout.size else None
    return _filled(default_layout(shape, dtype, words(t.device_layout).target) if layout is None else layout, value, dtype)


def _new_strided(func: Any, t: Any, size: Any, strides: Any, *, dtype: Any = None, **options: Any) -> Any:
    """A view of these strides: over a tensor of the dims in the order of the strides, or over one dim where they leave gaps."""
    at, dtype = View(tuple(map(int, size)), tuple(map(int, strides))), dtype or t.dtype
    target = words(t.device_layout).target
    order = sorted(range(len(at.size)), key=lambda axis: -at.strides[axis])
    base = default_layout(tuple(at.size[axis] for axis in order), dtype, target)
    if not is_dense(base, at):
        reach = 1 + sum((n - 1) * step for n, step in zip(at.size, at.strides)) if 0 not in at.size else 0
        base = default_layout((reach,), dtype, target)
    return _filled(base, None, dtype, at)


def _set(func: Any, t: Any, *source: Any, **options: Any) -> Any:
    raise UnsupportedError(f"{func} gives a tensor other memory, which tiled memory has no storage for; use t.data = other or t.copy_(other)")


OWN: dict[Any, Callable[..., Any]] = {
    aten.clone.default: _clone, aten._to_copy.default: _to_copy, aten.copy_.default: _copy_, aten.empty_like.default: _like,
    aten.zeros_like.default: _like, aten.ones_like.default: _like, aten.full_like.default: _like, aten.equal.default: _equal,
    aten.new_empty.default: _new, aten.new_zeros.default: _new, aten.new_ones.default: _new, aten.new_full.default: _new,
    aten.new_empty_strided.default: _new_strided,
    **{getattr(aten.set_, name): _set for name in aten.set_.overloads()},
}  # fmt: skip
