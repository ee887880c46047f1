# SPDX-License-Identifier: Apache-2.0
"""Operators on TiledTensors: views, pointwise operators on the places themselves, and all others through the host, counted."""

from __future__ import annotations

import collections
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import return_and_correct_aliasing
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

from .._device import DeviceLayout
from .._errors import LayoutError, UnsupportedError
from ._host import ran_on_host
from ._places import (
    View, buffer_length, buffer_type, default_layout, is_whole, stored_in, whole, with_type, words,
)  # fmt: skip
from ._tiled import TiledTensor, from_places, places
from ._views import is_view, view

aten = torch.ops.aten
_moves: collections.Counter[str] = collections.Counter()


def moves(*, reset: bool = False) -> dict[str, int]:
    """How many operands of each operator were moved to another layout on the device, by name.

    >>> _ = moves(reset=True)
    >>> t = to_with_layout(torch.ones(3, 40))
    >>> _ = t + restickify(t, 0)
    >>> moves()
    {'aten.add.Tensor': 1}
    """
    found = dict(_moves)
    if reset:
        _moves.clear()
    return found


def dispatch(func: Any, args: Any, kwargs: Any) -> Any:
    if is_view(func):
        out = view(func, args, kwargs)
        if out is not NotImplemented:
            return out
    own = OWN.get(func)
    if own is not None:
        out = own(func, *args, **kwargs)
        if out is not NotImplemented:
            return out
    if _is_pointwise(func):
        out = pointwise(func, args, kwargs)
        if out is not NotImplemented:
            return out
    if torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd"):
        out = func.decompose(*args, **kwargs)
        if out is not NotImplemented:
            return out
    return through_host(func, args, kwargs)


# ---- pointwise, on the places


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
            if arrays.moved:
                _moves[str(func)] += arrays.moved
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
    if arrays.moved:
        _moves[str(func)] += arrays.moved
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


# ---- operators of their own


def _clone(func: Any, t: Any, *, memory_format: Any = torch.preserve_format) -> Any:
    at = t.view_of_layout
    preserved = _dense(t.device_layout, at) and (
        memory_format in (None, torch.preserve_format) or is_whole(t.device_layout, at)
    )
    if memory_format in (torch.channels_last, torch.channels_last_3d):
        return NotImplemented
    if preserved:
        return TiledTensor(t.buffer.clone(), t.device_layout, at)
    layout = default_layout(at.size, t.dtype, words(t.device_layout).target)
    return TiledTensor(places.move_places(t.buffer, *words(t.device_layout), *at, t.dtype, *words(layout)), layout)


def _to_copy(func: Any, t: Any, *, dtype: Any = None, **options: Any) -> Any:
    device = options.get("device")
    if device is not None and torch.device(device) != t.device:
        return NotImplemented
    if dtype is None or dtype == t.dtype:
        return _clone(func, t, memory_format=options.get("memory_format"))
    at = t.view_of_layout
    if not _dense(t.device_layout, at) or 0 in at.size or buffer_type(t.device_layout) is torch.uint8 and t.dtype is not torch.uint8:
        return NotImplemented
    stored = _store(_shaped(t.buffer, t.device_layout).to(t.dtype).to(dtype), t.device_layout, at)
    return NotImplemented if stored is None else stored


def _copy_(func: Any, t: Any, source: Any, non_blocking: bool = False) -> Any:
    if not isinstance(t, TiledTensor):
        return t.copy_(from_places(source), non_blocking)
    _writable(t)
    layout, at = t.device_layout, t.view_of_layout
    if isinstance(source, TiledTensor):
        if source.device_layout == layout and source.view_of_layout == at and _dense(layout, at):
            t.buffer.copy_(source.buffer)
            return t
        if source.buffer is not t.buffer:
            _moves[str(func)] += 1
        source = from_places(source)
    if _shape(source) != at.size:
        source = source.expand(at.size)
    places.write_places(t.buffer, *words(layout), *at, source.to(t.dtype))
    return t


def _like(func: Any, t: Any, *values: Any, dtype: Any = None, memory_format: Any = None, **options: Any) -> Any:
    """empty_like, zeros_like, ones_like, full_like: in the operand's layout."""
    at, dtype = t.view_of_layout, dtype or t.dtype
    layout = t.device_layout if _dense(t.device_layout, at) else None
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


# ---- everything else, through the host


def through_host(func: Any, args: Any, kwargs: Any) -> Any:
    """The operator on ordinary tensors: operands to the host, results into layouts of the same target. Counted."""
    hosts: dict[int, torch.Tensor] = {}
    tiled: dict[int, TiledTensor] = {}

    def to_host(one: Any) -> Any:
        if not isinstance(one, TiledTensor):
            return one
        if id(one) not in hosts:
            tiled[id(one)], hosts[id(one)] = one, from_places(one)
        return hosts[id(one)]

    written = []
    for at, schema in enumerate(func._schema.arguments):
        if schema.alias_info is not None and schema.alias_info.is_write:
            given = kwargs.get(schema.name, args[at] if at < len(args) else None)
            written += [one for one in (given if isinstance(given, (list, tuple)) else [given]) if isinstance(one, TiledTensor)]
    for one in written:
        _writable(one)
    host_args, host_kwargs = tree_map(to_host, (args, kwargs))
    ran_on_host(func)
    out = func(*host_args, **host_kwargs)
    for one in written:
        host = hosts[id(one)]
        if _shape(host) != _shape(one):
            raise UnsupportedError(f"{func} changes the size of a tiled tensor; make a new one with to_with_layout")
        places.write_places(one.buffer, *words(one.device_layout), *one.view_of_layout, host)
    like = next(iter(tiled.values()), None)
    if like is None:
        return out
    given = {id(host): tiled[at] for at, host in hosts.items()}
    note = f"{func} made a copy of tiled memory" if is_view(func) else None
    results = tree_map(lambda one: given[id(one)] if id(one) in given else _tile(one, like, func, note), out)
    return return_and_correct_aliasing(func, args, kwargs, results) if written and func._schema.returns else results


def _tile(out: Any, like: TiledTensor, func: Any, note: str | None) -> Any:
    if not isinstance(out, torch.Tensor):
        return out
    shape, target = _shape(out), words(like.device_layout).target
    try:
        layout = with_type(like.device_layout, out.dtype) if shape == like.device_layout.shape else None
        layout = default_layout(shape, out.dtype, target) if layout is None else layout
    except LayoutError as error:
        raise UnsupportedError(f"{func} gives {out.dtype}{list(shape)}, which has no layout: {error}; take to_host(...) first") from None
    return TiledTensor(places.to_places(out, *words(layout)), layout, note=note)
