# SPDX-License-Identifier: Apache-2.0
"""The places of a tensor as an array over device dims: named by the dims of a view, lined up along some of them, stored again."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from .. import _abi as abi
from .._device import DeviceDim, DeviceLayout
from .._errors import LayoutError, UnsupportedError
from .._types import element_type
from ._places import View, Words, buffer_type, default_layout, is_whole, read, whole, with_type, words
from ._tiled import TiledTensor, from_places, places


def is_dense(layout: DeviceLayout, at: View) -> bool:
    """Does the view have each element of the base once?"""
    step = 1
    for stride, extent in sorted(zip(at.strides, at.size)):
        if extent != 1:
            if stride != step:
                return False
            step *= extent
    return at.offset == 0 and step == layout.size


def as_whole(t: Any) -> TiledTensor | None:
    """The tensor over the same buffer, in the layout that its own dims have there: of a permuted or reshaped view, the same device
    dims under other names. None where the dims of the view cut through a stick, or the view has not each element once.
    """
    layout, at = t.device_layout, t.view_of_layout
    if is_whole(layout, at):
        return t  # type: ignore[no-any-return]
    made = _renamed(words(layout), at) if 0 not in at.size else None
    return None if made is None else TiledTensor(t.buffer, made, note=t._note)


@functools.lru_cache(1024)
def _renamed(words_: Words, at: View) -> DeviceLayout | None:
    """An element's digits are what a greedy division of its number by all steps gives, largest step first, wherever the borders
    of host dims lie; so they stay the same if each dim of the view begins at one of the steps.
    """
    layout = read(*words_)
    if not is_dense(layout, at) or layout._device.format == abi.TESELA_STICKS_PAIR:
        return None
    every = whole(layout)
    axes = [(step, n, axis) for axis, (n, step) in enumerate(zip(at.size, at.strides)) if n > 1]
    begun = set()
    dims: list[DeviceDim] = []
    for j, one in enumerate(layout.dims):
        if one.dim < 0 or layout.shape[one.dim] == 1:
            dims.append(DeviceDim(min(one.dim, -1), 0, one.extent, one.stride))
            continue
        base = every.strides[one.dim]
        if one.step >= layout.shape[one.dim]:  # its digit is always 0
            same = [axis for step, n, axis in axes if (step, n) == (base, layout.shape[one.dim])]
            dims.append(DeviceDim(same[0], one.step, one.extent, one.stride) if same else DeviceDim(-1, 0, one.extent, one.stride))
            continue
        step, extent, stride = one.step * base, one.extent, one.stride
        parts = []
        while True:
            start, n, axis = next(found for found in axes if found[0] <= step < found[0] * found[1])
            if step % start:
                return None
            begun |= {axis} if step == start else set()
            top, left = start * n, one.step * base * one.extent
            if left <= top or top >= base * layout.shape[one.dim]:
                parts.append(DeviceDim(axis, step // start, extent, stride))
                break
            inside = top // step
            if top % step or extent % inside or j >= len(layout.dims) - layout.stick_dims:
                return None
            parts.append(DeviceDim(axis, step // start, inside, stride))
            step, extent, stride = top, extent // inside, stride * inside
        dims += reversed(parts)
    if len(begun) != len(axes):
        return None
    return layout_of(at.size, tuple(dims), layout.element_type or "", layout.device_type or "", layout.bits, words_, True)


@functools.lru_cache(4096)
def layout_of(
    size: tuple[int, ...], dims: tuple[DeviceDim, ...], element: str, device: str, bits: int, like: Words, strides: bool = False
) -> DeviceLayout | None:
    """A layout of these device dims, one after the other unless `strides` says to keep theirs; None where the library refuses it."""
    base = read(*like)
    if not device:
        return None
    facts = f", device_strides=[{','.join(str(one.stride) for one in dims)}]" if strides else ""
    text = (
        f"{element}[{','.join(map(str, size))}] stick(dims=[{','.join(f'({one.dim},{one.step},{one.extent})' for one in dims)}]{facts}, "
        f"stick_dims={base.stick_dims}, stick={base.stick_bytes}, device_bits={bits}, device_dtype={device})"
    )
    try:
        return read(*words(read(text, like.target)))
    except LayoutError:
        return None


def array_of(t: Any) -> torch.Tensor | None:
    """All places over the device dims, in the type of the host; None where torch has no such type."""
    layout = t.device_layout
    if buffer_type(layout) is torch.uint8 and t.dtype is not torch.uint8 or layout.bits % 8 or layout._device.format == abi.TESELA_STICKS_PAIR:
        return None
    array: torch.Tensor = t.buffer.as_strided(layout.device_size, layout.device_strides)
    return array if array.dtype == t.dtype else array.to(t.dtype)


# ---- lined up: the elements along some dims in their order, without padding, last; the other device dims stay before them


def owned(layout: DeviceLayout, axis: int) -> list[int]:
    """The device dims of a dim, by decreasing step."""
    return sorted((j for j, one in enumerate(layout.dims) if one.dim == axis), key=lambda j: -layout.dims[j].step)


def others(layout: DeviceLayout, axes: Sequence[int]) -> list[int]:
    return [j for j, one in enumerate(layout.dims) if one.dim not in axes]


@functools.lru_cache(1024)
def _regular(at: Words, axis: int) -> bool:
    """Is each step the product of the extents inside it? Then the elements are the first ones of all digits, in order."""
    layout, step = read(*at), 1
    for j in reversed(owned(layout, axis)):
        if layout.dims[j].step != step and layout.shape[axis] > 1:
            return False
        step *= layout.dims[j].extent
    return True


@functools.lru_cache(256)
def _places_along(at: Words, axis: int) -> tuple[int, ...]:
    """Where the elements along a dim lie among the digits of its device dims."""
    layout = read(*at)
    n = layout.shape[axis]
    index = np.zeros((n, len(layout.shape)), np.int64)
    index[:, axis] = np.arange(n)
    rest = np.asarray(layout.where(index)).reshape(-1).copy()
    digits = {}
    for j in sorted(owned(layout, axis), key=lambda j: -layout.dims[j].stride):
        digits[j] = rest // layout.dims[j].stride
        rest -= digits[j] * layout.dims[j].stride
    found = np.zeros(n, np.int64)
    for j in owned(layout, axis):
        if (digits[j] >= layout.dims[j].extent).any():
            raise UnsupportedError(f"{layout}: its device strides overlap")
        found = found * layout.dims[j].extent + digits[j]
    if rest.any():
        raise UnsupportedError(f"{layout}: its device strides overlap")
    return tuple(found.tolist())


def lined(array: torch.Tensor, layout: DeviceLayout, axes: Sequence[int]) -> torch.Tensor:
    """An array over the device dims -> the other device dims, then these dims."""
    groups = [owned(layout, axis) for axis in axes]
    rest = others(layout, axes)
    array = array.permute([*rest, *sum(groups, [])])
    every = [int(np.prod([layout.dims[j].extent for j in group])) for group in groups]
    array = array.reshape([*(layout.dims[j].extent for j in rest), *every])
    for number, axis in enumerate(axes, len(rest)):
        if _regular(words(layout), axis):
            array = array.narrow(number, 0, layout.shape[axis])
        else:
            array = array.index_select(number, torch.tensor(_places_along(words(layout), axis)))
    return array


def unlined(array: torch.Tensor, layout: DeviceLayout, axes: Sequence[int]) -> torch.Tensor:
    """The inverse of `lined`; padding receives zeros."""
    groups = [owned(layout, axis) for axis in axes]
    rest = others(layout, axes)
    for number, (axis, group) in enumerate(zip(axes, groups), len(rest)):
        every = int(np.prod([layout.dims[j].extent for j in group]))
        if every == layout.shape[axis] and _regular(words(layout), axis):
            continue
        shape = list(array.shape)
        shape[number] = every
        wider = array.new_zeros(shape)
        if _regular(words(layout), axis):
            wider.narrow(number, 0, layout.shape[axis]).copy_(array)
        else:
            wider = wider.index_copy(number, torch.tensor(_places_along(words(layout), axis)), array)
        array = wider
    order = [*rest, *sum(groups, [])]
    array = array.reshape([layout.dims[j].extent for j in order])
    return array.permute([order.index(j) for j in range(len(order))])


def arranged(t: Any, layout: DeviceLayout) -> torch.Tensor:
    """The elements of a tensor over the device dims of a layout for a type of another width, in the tensor's own type."""
    axes = range(len(layout.shape))
    rest = [layout.dims[j].extent for j in others(layout, axes)]
    return unlined(from_places(t).expand([*rest, *layout.shape]), layout, axes)


def real_places(layout: DeviceLayout) -> torch.Tensor:
    """True at the places that hold elements."""
    axes = range(len(layout.shape))
    rest = others(layout, axes)
    found = unlined(torch.ones([*(layout.dims[j].extent for j in rest), *layout.shape], dtype=torch.bool), layout, axes)
    for j in rest:
        if layout.dims[j].dim == -1 and layout.dims[j].extent > 1:
            found = found.narrow(j, 0, 1).expand_as(found) & (torch.arange(layout.dims[j].extent) == 0).reshape(-1, *[1] * (len(layout.dims) - 1 - j))
    return found


def resized(layout: DeviceLayout, axis: int, n: int) -> DeviceLayout | None:
    """The same kind of layout with another size of one dim, or None where its device dims have no such."""
    if layout.shape[axis] == n:
        return layout
    own, size = owned(layout, axis), list(layout.shape)
    size[axis] = n
    if not own and n:
        dims = [DeviceDim(axis, 1, n, 0), *layout.dims]
        return layout_of(tuple(size), tuple(dims), layout.element_type or "", layout.device_type or "", layout.bits, words(layout))
    if not n or not _regular(words(layout), axis) or layout.shape[axis] == 1 and layout.dims[own[-1]].step != 1:
        return None
    dims = list(layout.dims)
    outer = dims[own[0]]
    blocks = -(-n // outer.step)
    if own[0] >= len(dims) - layout.stick_dims:
        if blocks > outer.extent:
            return None
    else:
        dims[own[0]] = DeviceDim(outer.dim, outer.step, blocks, 0)
    return layout_of(tuple(size), tuple(dims), layout.element_type or "", layout.device_type or "", layout.bits, words(layout))


# ---- arrays become tensors


def put(array: torch.Tensor, layout: DeviceLayout, at: View | None = None) -> TiledTensor | None:
    """An array of all places, in a type of the host and of no other tensor, as a tensor in a layout for that type."""
    if (dtype := buffer_type(layout)) is torch.uint8 and array.dtype is not torch.uint8:
        return None
    if array.dtype is torch.int64 and dtype is not torch.int64:
        return TiledTensor(places.fit_places(array, *words(layout)), layout, at)
    return TiledTensor(array.reshape(-1).to(dtype).contiguous(), layout, at)


def stored(array: torch.Tensor, size: Sequence[int], dims: Sequence[DeviceDim], like: DeviceLayout) -> TiledTensor | None:
    """An array over device dims as a tensor of that size, with sticks and target of another layout, in the array's own type.

    A type of half the width has twice the lanes: then a stick is divided into two. None where the target or the layout refuses.
    """
    size, at, element = tuple(size), words(like), like.element_type or ""
    dims = tuple(DeviceDim(one.dim, one.step, one.extent, 0) for one in dims)
    layout = layout_of(size, dims, element, like.device_type or "", like.bits, at)
    try:
        made = None if layout is None else with_type(layout, array.dtype)
        if made is not None:
            return put(array, made)
        usual = default_layout((1,), array.dtype, at.target)
    except UnsupportedError:
        return None
    lanes, last = usual.lanes, dims[-1]
    if like.stick_dims != 1 or usual.stick_bytes != like.stick_bytes or usual.bits == like.bits:
        return None
    if last.dim < 0 or size[last.dim] == 1:
        array = array.narrow(-1, 0, 1).expand(*array.shape[:-1], lanes)
        dims = tuple(
            one._replace(step=lanes) if one.dim == last.dim and one.step == last.extent and one.extent == 1 else one for one in dims
        )
        dims = (*dims[:-1], last._replace(extent=lanes))
    elif last.extent % lanes == 0 and last.step == 1:
        array = array.reshape(*array.shape[:-1], last.extent // lanes, lanes)
        dims = (*dims[:-1], last._replace(step=lanes, extent=last.extent // lanes), last._replace(extent=lanes))
    else:
        return None
    layout = layout_of(size, dims, element_type(array.dtype), usual.device_type or "", usual.bits, at)
    return None if layout is None else put(array, layout)
