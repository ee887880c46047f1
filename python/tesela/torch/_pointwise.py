# SPDX-License-Identifier: Apache-2.0
"""Pointwise operators on the places themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from .._device import DeviceLayout
from .._errors import UnsupportedError
from ._frames import arranged, array_of, as_whole, is_dense, put, real_places, stored
from ._host import moved_on_device
from ._places import View, buffer_type, default_layout, is_whole, stored_in, whole, with_type, words
from ._tiled import TiledTensor, from_places, places

EXCLUDED = {
    "bucketize", "searchsorted", "_to_copy", "copy_", "copy", "clone", "rand_like", "randn_like", "native_dropout",
}  # fmt: skip
ALSO = {
    "masked_fill_", "zero_", "fill_", "elu_backward", "leaky_relu_backward", "hardsigmoid_backward", "hardswish_backward", "softshrink_backward",
    "hardshrink_backward", "hardtanh_backward", "softplus_backward", "floor_divide",
}  # fmt: skip
"""Pointwise, but torch has not marked them."""
DIVIDE = {"floor_divide", "remainder", "fmod", "floor_divide_", "remainder_", "fmod_", "gcd", "lcm"}
"""Of integers: they stop at a zero, so padding is set to one for them."""


def _name(func: Any) -> str:
    name: str = func._schema.name
    return name.partition("::")[2]


def _is_pointwise(func: Any) -> bool:
    if _name(func) in ALSO:
        return True
    return torch.Tag.pointwise in func.tags and torch.Tag.nondeterministic_seeded not in func.tags and _name(func) not in EXCLUDED


def _shape(x: torch.Tensor) -> tuple[int, ...]:
    return tuple(int(n) for n in x.shape)


def pointwise(func: Any, args: Any, kwargs: Any) -> Any:
    """A pointwise operator on all places at once; padding gets what it gets. NotImplemented: through the host."""
    flat, spec = tree_flatten((args, kwargs))
    tiled = [one for one in flat if isinstance(one, TiledTensor)]
    plain = [one for one in flat if isinstance(one, torch.Tensor) and not isinstance(one, TiledTensor)]
    whole_numbers = _name(func) in DIVIDE or _name(func) in ("div", "div_") and kwargs.get("rounding_mode") is not None
    careful = whole_numbers and not any(one.dtype.is_floating_point for one in (*tiled, *plain))
    written = [one.alias_info is not None and one.alias_info.is_write for one in func._schema.arguments]
    if any(written):
        return _in_place(func, args, kwargs, careful) if written[0] and sum(written) == 1 else NotImplemented
    size = tuple(torch.broadcast_shapes(*(_shape(one) for one in (*tiled, *plain))))
    if 0 in size:
        return NotImplemented
    if not _alike(tiled) or any(one.dim() for one in plain):
        flat = [_by_own_dims(one) for one in flat]
        tiled = [one for one in flat if isinstance(one, TiledTensor)]
    for layout, at in _frames(tiled, size):
        arrays = _arrays(flat, layout, at, size)
        if arrays is None:
            continue
        new_args, new_kwargs = tree_unflatten(_ones_in_padding(arrays.values, layout) if careful else arrays.values, spec)
        out = func(*new_args, **new_kwargs)
        many = isinstance(out, (tuple, list))
        made = [_store(one, layout, at) for one in (out if many else [out])]
        if all(one is not None for one in made):
            moved_on_device(func, arrays.moved)
            return type(out)(made) if many else made[0]
    return NotImplemented


def _frames(tiled: Sequence[TiledTensor], size: tuple[int, ...]) -> list[tuple[DeviceLayout, View]]:
    """Layouts and views that the result may have, best first: that of all operands, of the widest, the target's default."""
    shaped = [one for one in tiled if one.view_of_layout.size == size]
    full = [(one.device_layout, one.view_of_layout) for one in sorted(shaped, key=lambda one: -one.device_layout.bits)]
    found = [one for one in full if is_whole(*one)]
    if _alike(tiled) and full:
        found.insert(0, full[0])
    widest = max(tiled, key=lambda one: one.device_layout.bits)
    usual = default_layout(size, widest.dtype, words(widest.device_layout).target)
    found = [*found[:1], *(one for one in found[1:] if one[0].bits != found[0][0].bits)]
    return found or [(usual, whole(usual))]


def _alike(tiled: Sequence[TiledTensor]) -> bool:
    """Do all lie alike, each element of a base once?"""
    alike = {(one.device_layout.shape, one.device_layout.dims, one.view_of_layout) for one in tiled if one.dim()}
    return len(alike) == 1 and all(is_dense(one.device_layout, one.view_of_layout) for one in tiled if one.dim())


def _by_own_dims(one: Any) -> Any:
    """A view under the names of its own dims, where it has any; dims that it repeats become 1, as broadcasting takes them."""
    if not isinstance(one, TiledTensor) or not one.dim():
        return one
    at = one.view_of_layout
    if any(step == 0 and n > 1 for n, step in zip(at.size, at.strides)):
        at = at._replace(size=tuple(1 if step == 0 else n for n, step in zip(at.size, at.strides)))
    found = as_whole(TiledTensor(one.buffer, one.device_layout, at))
    return one if found is None else found


class Arrays(NamedTuple):
    """Operands as arrays of places, and how many of them were moved."""

    values: list[Any]
    moved: int


def _arrays(flat: Sequence[Any], layout: DeviceLayout, at: View, size: tuple[int, ...]) -> Arrays | None:
    """The operands as arrays of places, in the host's types; None where one cannot be."""
    found: list[Any] = []
    moved = 0
    for one in flat:
        if not isinstance(one, torch.Tensor) or (size and not isinstance(one, TiledTensor) and one.dim() == 0):
            found.append(one)
            continue
        if size and one.dim() == 0:  # a number to torch's rules for types
            found.append(from_places(one))
            continue
        array = _aligned(one, layout, at) if isinstance(one, TiledTensor) else None
        if array is None:
            to = stored_in(layout, one.dtype)
            if not is_whole(layout, at):
                return None
            wide = one.expand(size)
            if to is None and isinstance(one, TiledTensor) and layout.physical_shape == layout.device_size:
                moved += 1
                found.append(arranged(wide, layout))
                continue
            if to is None:
                return None
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
    if other.dims == layout.dims and other.shape == layout.shape and mine == at:
        return None if buffer_type(other) is torch.uint8 and one.dtype is not torch.uint8 or other.bits % 8 else _shaped(one.buffer, other)
    if not (is_whole(layout, at) and is_whole(other, mine)) or layout.physical_shape != layout.device_size:
        return None
    shift = len(layout.shape) - len(other.shape)

    def keys(of: DeviceLayout, shift: int) -> list[Any]:
        """(dim of the operand, step, extent) of each device dim that the operand has, None of the others."""
        axes = [one.dim - shift for one in of.dims]
        real = [one.dim >= 0 and axis >= 0 and other.shape[axis] > 1 and one.extent > 1 for axis, one in zip(axes, of.dims)]
        return [(axis, one.step, one.extent) if wanted else None for axis, one, wanted in zip(axes, of.dims, real)]

    have, wanted = keys(other, 0), keys(layout, shift)
    sticks = [[key for key in found[-of.stick_dims :] if key] for found, of in ((have, other), (wanted, layout))]
    if sticks[0] != sticks[1] or sorted(filter(None, have)) != sorted(filter(None, wanted)):
        return None
    array = array_of(one)
    if array is None:
        return None
    for j, key in enumerate(have):
        if key is None:
            array = array.narrow(j, 0, 1)
    left = [j for j, key in enumerate(have) if key]
    order = []
    for key in filter(None, wanted):
        order.append(next(j for j in left if have[j] == key))
        left.remove(order[-1])
    array = array.permute([*order, *(j for j, key in enumerate(have) if key is None)])
    return array.reshape([1 if key is None else key[2] for key in wanted])


def _store(out: torch.Tensor, layout: DeviceLayout, at: View) -> TiledTensor | None:
    """An array of places as a tensor; None if the target stores its type in another width."""
    if out.dim() != len(layout.physical_shape):
        return None
    out = out.expand(layout.physical_shape)
    try:
        to = with_type(layout, out.dtype)
    except UnsupportedError:
        return None
    if to is not None:
        return put(out, to, at)
    return stored(out, layout.shape, layout.dims, layout) if is_whole(layout, at) and layout.physical_shape == layout.device_size else None


def _ones_in_padding(values: Sequence[Any], layout: DeviceLayout) -> list[Any]:
    real = real_places(layout).reshape(layout.physical_shape) if layout.physical_shape == layout.device_size else None
    if real is None:
        raise UnsupportedError(f"{layout} has gaps in its memory; integers are not divided there; use to_host(...)")
    return [torch.where(real, one, torch.ones((), dtype=one.dtype)) if isinstance(one, torch.Tensor) and one.dim() else one for one in values]


def _in_place(func: Any, args: Any, kwargs: Any, careful: bool) -> Any:
    t = args[0]
    if not isinstance(t, TiledTensor):
        return NotImplemented
    _writable(t)
    if any(step == 0 and n > 1 for n, step in zip(t.size(), t.stride())):
        return NotImplemented  # which refuses it
    flat, spec = tree_flatten((args, kwargs))
    if not _alike([one for one in flat if isinstance(one, TiledTensor)]):
        flat = [_by_own_dims(one) for one in flat]
    layout, at = flat[0].device_layout, flat[0].view_of_layout
    size = torch.broadcast_shapes(*(_shape(one) for one in flat if isinstance(one, torch.Tensor)))
    if 0 in at.size or tuple(size) != at.size or buffer_type(layout) is torch.uint8:
        return NotImplemented
    if not is_dense(layout, at):
        return _in_part(func, t, flat, spec)
    arrays = _arrays(flat, layout, at, at.size)
    if arrays is None or careful:
        return NotImplemented
    moved_on_device(func, arrays.moved)
    new_args, new_kwargs = tree_unflatten(arrays.values, spec)
    func(*new_args, **new_kwargs)
    if t.dtype is torch.int64 and t.buffer.dtype is not torch.int64:
        t.buffer.copy_(places.fit_places(new_args[0], *words(layout)))
    elif t.dtype != t.buffer.dtype:
        t.buffer.copy_(new_args[0].reshape(-1))
    return t


def _in_part(func: Any, t: TiledTensor, flat: Any, spec: Any) -> Any:
    """In place on a part of a tensor: its elements are gathered, and written to their places, and to no other."""
    own = t.device_layout, t.view_of_layout
    arrays = [from_places(one) if isinstance(one, TiledTensor) else one for one in flat]
    new_args, new_kwargs = tree_unflatten(arrays, spec)
    func(*new_args, **new_kwargs)
    places.write_places(t.buffer, *words(own[0]), *own[1], new_args[0])
    moved_on_device(func, sum(isinstance(one, TiledTensor) and one.dim() > 0 and one.device_layout.dims != own[0].dims for one in flat))
    return t


def _writable(t: TiledTensor) -> None:
    if t._note is not None:
        raise RuntimeError(f"cannot write through this view in place: {t._note}")
