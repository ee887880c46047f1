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
from ._places import buffer_length, buffer_type, default_layout, is_whole, whole, with_type, words
from ._pointwise import _name, _shape, _shaped, _store, _writable
from ._tiled import TiledTensor, from_places, places

aten = torch.ops.aten

def _clone(func: Any, t: Any, *, memory_format: Any = torch.preserve_format) -> Any:
    at = t.view_of_layout
    preserved = is_dense(t.device_layout, at) and (
        memory_format in (None, torch.preserve_format) or is_whole(t.device_layout, at)
    )
    if memory_format in (torch.channels_last, torch.channels_last_3d):
        return NotImplemented
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
        if buffer_type(made) is torch.uint8 and dtype is not torch.uint8:
            return NotImplemented
    name = _name(func)
    value = values[0] if name == "full_like" else 1 if name == "ones_like" else 0
    if dtype is torch.bool:
        value = bool(value)
    return TiledTensor(torch.full((buffer_length(made),), value, dtype=buffer_type(made)), made, at)


def _equal(func: Any, a: Any, b: Any) -> Any:
    return torch.equal(*(from_places(one) if isinstance(one, TiledTensor) else one for one in (a, b)))


OWN: dict[Any, Callable[..., Any]] = {
    aten.clone.default: _clone, aten._to_copy.default: _to_copy, aten.copy_.default: _copy_, aten.empty_like.default: _like,
    aten.zeros_like.default: _like, aten.ones_like.default: _like, aten.full_like.default: _like, aten.equal.default: _equal,
}  # fmt: skip
