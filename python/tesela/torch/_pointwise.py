# SPDX-License-Identifier: Apache-2.0
"""Pointwise operators on the places themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from .._device import DeviceLayout
from .._errors import UnsupportedError
from ._host import moved_on_device
from ._places import View, buffer_type, default_layout, is_whole, stored_in, whole, with_type, words
from ._tiled import TiledTensor, from_places, places

EXCLUDED = {
    "bucketize", "searchsorted", "_to_copy", "copy_", "copy", "clone", "rand_like", "randn_like", "native_dropout", "masked_fill_",
}  # fmt: skip
DIVIDE = {"floor_divide", "remainder", "fmod", "floor_divide_", "remainder_", "fmod_", "gcd", "lcm"}
"""Of integers: they stop at a zero, which padding may hold."""


def _name(func: Any) -> str:
    name: str = func._schema.name
    return name.partition("::")[2]


def _is_pointwise(func: Any) -> bool:
    return torch.Tag.pointwise in func.tags and torch.Tag.nondeterministic_seeded not in func.tags and _name(func) not in EXCLUDED


def _shape(x: torch.Tensor) -> tuple[int, ...]:
    return tuple(int(n) for n in x.shape)


def pointwise(func: Any, args: Any, kwargs: Any) -> Any:
    """A pointwise operator on all places at once; padding gets what it gets. NotImplemented: through the host."""
    flat, spec = tree_flatten((args, kwargs))
    tiled = [one for one in flat if isinstance(one, TiledTensor)]
    plain = [one for one in flat if isinstance(one, torch.Tensor) and not isinstance(one, TiledTensor)]
    whole_numbers = _name(func) in DIVIDE or _name(func) in ("div", "div_") and kwargs.get("rounding_mode") is not None
    if whole_numbers and not any(one.dtype.is_floating_point for one in (*tiled, *plain)):
        return NotImplemented
    written = [one.alias_info is not None and one.alias_info.is_write for one in func._schema.arguments]
    if any(written):
        return _in_place(func, args, kwargs) if written[0] and sum(written) == 1 else NotImplemented
    size = tuple(torch.broadcast_shapes(*(_shape(one) for one in (*tiled, *plain))))
    if not size or 0 in size:
        return NotImplemented
    for layout, at in _frames(tiled, size):
        arrays = _arrays(flat, layout, at, size)
        if arrays is None:
            continue
        new_args, new_kwargs = tree_unflatten(arrays.values, spec)
        out = func(*new_args, **new_kwargs)
        many = isinstance(out, (tuple, list))
        made = [_store(one, layout, at) for one in (out if many else [out])]
        if all(one is not None for one in made):
            moved_on_device(func, arrays.moved)
            return type(out)(made) if many else made[0]
    return NotImplemented


def _dense(layout: DeviceLayout, at: View) -> bool:
    """Does the view have each element of the base once?"""
    step = 1
    for stride, extent in sorted(zip(at.strides, at.size)):
        if extent != 1:
            if stride != step:
                return False
            step *= extent
    return at.offset == 0 and step == layout.size


def _frames(tiled: Sequence[TiledTensor], size: tuple[int, ...]) -> list[tuple[DeviceLayout, View]]:
    """Layouts and views that the result may have, best first: that of all operands, of the widest, the target's default."""
    shaped = [one for one in tiled if one.view_of_layout.size == size]
    full = [(one.device_layout, one.view_of_layout) for one in sorted(shaped, key=lambda one: -one.device_layout.bits)]
    found = [one for one in full if is_whole(*one)]
    alike = {(one.device_layout.dims, one.view_of_layout) for one in tiled if one.dim()}
    if len(alike) == 1 and full and _dense(*full[0]):
        found.insert(0, full[0])
    widest = max(tiled, key=lambda one: one.device_layout.bits)
    usual = default_layout(size, widest.dtype, words(widest.device_layout).target)
    found = [*found[:1], *(one for one in found[1:] if one[0].bits != found[0][0].bits)]
    return found or [(usual, whole(usual))]


class Arrays(NamedTuple):
    """Operands as arrays of places, and how many of them were moved."""

    values: list[Any]
    moved: int


def _arrays(flat: Sequence[Any], layout: DeviceLayout, at: View, size: tuple[int, ...]) -> Arrays | None:
    """The operands as arrays of places, in the host's types; None where one cannot be."""
    found: list[Any] = []
    moved = 0
    for one in flat:
        if not isinstance(one, torch.Tensor) or (not isinstance(one, TiledTensor) and one.dim() == 0):
            found.append(one)
            continue
        if one.dim() == 0:  # a number to torch's rules for types
            found.append(from_places(one))
            continue
        array = _aligned(one, layout, at) if isinstance(one, TiledTensor) else None
        if array is None:
            to = stored_in(layout, one.dtype)
            if to is None or not is_whole(layout, at):
                return None
            wide = one.expand(size)
            if isinstance(one, TiledTensor):
                moved += 1
                array = places.move_places(one.buffer, *words(one.device_layout), *_view(wide), one.dtype, *words(to))
            else:
                array = places.to_places(wide, *words(to))
            if buffer_type(to) is torch.uint8 and one.dtype is not torch.uint8:
                return None
            array = _shaped(array, to)
        found.append(array if array.dtype == one.dtype else array.to(one.dtype))
    return Arrays(found, moved)


def _view(t: Any) -> View:
    at: View = t.view_of_layout
    return at


def _shaped(buffer: torch.Tensor, layout: DeviceLayout) -> torch.Tensor:
    return buffer.view(layout.physical_shape)


def _aligned(one: TiledTensor, layout: DeviceLayout, at: View) -> torch.Tensor | None:
    """The places of an operand as an array that broadcasts over the device dims of `layout`, or None if it lies otherwise."""
    other, mine = one.device_layout, one.view_of_layout
    if buffer_type(other) is torch.uint8 and one.dtype is not torch.uint8 or other.bits % 8:
        return None
    if other.dims == layout.dims and other.shape == layout.shape:
        return _shaped(one.buffer, other) if mine == at else None
    if not (is_whole(layout, at) and is_whole(other, mine)) or layout.physical_shape != layout.device_size:
        return None
    if other.physical_shape != other.device_size:
        return None
    shift = len(layout.shape) - len(other.shape)
    left = [dim for dim in enumerate(other.dims) if dim[1].dim >= 0 and other.shape[dim[1].dim] > 1]
    wanted, used = [], iter(left)
    array = _shaped(one.buffer, other)
    for j, dim in enumerate(other.dims):
        if dim.dim < 0 or other.shape[dim.dim] == 1:
            array = array.narrow(j, 0, 1)
    for dim in layout.dims:
        mapped = dim.dim - shift
        if dim.dim < 0 or mapped < 0 or other.shape[mapped] == 1:
            wanted.append(1)
            continue
        match = next(used, None)
        if match is None or (match[1].dim, match[1].step, match[1].extent) != (mapped, dim.step, dim.extent):
            return None
        wanted.append(dim.extent)
    return None if next(used, None) is not None else array.reshape(wanted)


def _store(out: torch.Tensor, layout: DeviceLayout, at: View) -> TiledTensor | None:
    """An array of places as a tensor; None if the target stores its type in another width."""
    if tuple(out.shape) != layout.physical_shape:
        return None
    try:
        to = with_type(layout, out.dtype)
    except UnsupportedError:
        return None
    if to is None or (dtype := buffer_type(to)) is torch.uint8 and out.dtype is not torch.uint8:
        return None
    if out.dtype is torch.int64 and dtype is not torch.int64:
        return TiledTensor(places.fit_places(out, *words(to)), to, at)
    return TiledTensor(out.reshape(-1).to(dtype), to, at)


def _in_place(func: Any, args: Any, kwargs: Any) -> Any:
    t = args[0]
    if not isinstance(t, TiledTensor):
        return NotImplemented
    _writable(t)
    layout, at = t.device_layout, t.view_of_layout
    flat, spec = tree_flatten((args, kwargs))
    if not at.size or 0 in at.size or not _dense(layout, at) or buffer_type(layout) is torch.uint8:
        return NotImplemented
    size = torch.broadcast_shapes(*(_shape(one) for one in flat if isinstance(one, torch.Tensor)))
    arrays = _arrays(flat, layout, at, at.size) if tuple(size) == at.size else None
    if arrays is None:
        return NotImplemented
    moved_on_device(func, arrays.moved)
    new_args, new_kwargs = tree_unflatten(arrays.values, spec)
    func(*new_args, **new_kwargs)
    if t.dtype is torch.int64 and t.buffer.dtype is not torch.int64:
        t.buffer.copy_(places.fit_places(new_args[0], *words(layout)))
    elif t.dtype != t.buffer.dtype:
        t.buffer.copy_(new_args[0].reshape(-1))
    return t


def _writable(t: TiledTensor) -> None:
    if t._note is not None:
        raise RuntimeError(f"cannot write through this view in place: {t._note}")
