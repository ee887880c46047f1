# SPDX-License-Identifier: Apache-2.0
"""Layouts as torch sees them: as text for operators, the types of their places, the same dims for another type, views."""

from __future__ import annotations

import functools
from typing import NamedTuple

import torch

from .._device import DeviceLayout, device_layout
from .._errors import LayoutError, MismatchError, UnsupportedError
from .._layout import layout as read_layout
from .._types import element_type

BUFFERS = {
    "pred": torch.bool, "s8": torch.int8, "s16": torch.int16, "s32": torch.int32, "s64": torch.int64, "u8": torch.uint8,
    "u16": torch.uint16, "u32": torch.uint32, "u64": torch.uint64, "f16": torch.float16, "bf16": torch.bfloat16,
    "f32": torch.float32, "f64": torch.float64, "f8e4m3fn": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2,
    "f8e4m3fnuz": torch.float8_e4m3fnuz, "f8e5m2fnuz": torch.float8_e5m2fnuz, "c64": torch.complex64,
    "c128": torch.complex128,
}  # fmt: skip


class View(NamedTuple):
    """Sizes, strides and offset, in elements of the row-major host tensor of a layout."""

    size: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0


class Words(NamedTuple):
    """A layout as text, for operators, pickles and hashes: `read` makes it again."""

    text: str
    target: str | None


def words(layout: DeviceLayout) -> Words:
    return _words(layout, layout._text, layout._options.get("target"))


@functools.lru_cache(1024)
def _words(layout: DeviceLayout, _: str, target: str | None) -> Words:
    short = Words(layout.text, target)
    try:
        again = read(*short)
        facts = [(one.dims, one.device_type, one.bits, one.stick_bytes, one.stick_dims) for one in (layout, again)]
        if again == layout and facts[0] == facts[1]:
            return short
    except LayoutError:
        pass
    return Words(layout._explicit(layout._device), target)


@functools.lru_cache(1024)
def read(text: str, target: str | None) -> DeviceLayout:
    found = read_layout(text, notation="device", target=target)
    if not isinstance(found, DeviceLayout):
        raise MismatchError(f"expected a device layout, found {text}")
    return found


@functools.lru_cache(1024)
def whole(layout: DeviceLayout) -> View:
    """All of the host tensor, row-major."""
    strides, step = [], 1
    for extent in reversed(layout.shape):
        strides.append(step)
        step *= max(extent, 1)
    return View(layout.shape, tuple(reversed(strides)))


def is_whole(layout: DeviceLayout, view: View) -> bool:
    every = whole(layout)
    return view == every or (
        view.size == every.size
        and view.offset == 0
        and all(n == 1 or a == b for n, a, b in zip(view.size, view.strides, every.strides))
    )


@functools.lru_cache(1024)
def buffer_type(layout: DeviceLayout) -> torch.dtype:
    """torch's type of a place; uint8 (bytes) where torch has none of that width."""
    found = BUFFERS.get(layout.device_type or "")
    return found if found is not None and found.itemsize * 8 == layout.bits else torch.uint8


@functools.lru_cache(1024)
def buffer_length(layout: DeviceLayout) -> int:
    return layout.nbytes // int(buffer_type(layout).itemsize)


@functools.lru_cache(64)
def host_type(name: str) -> torch.dtype:
    if name not in BUFFERS:
        raise UnsupportedError(f"torch has no tensors of {name}")
    return BUFFERS[name]


@functools.lru_cache(4096)
def default_layout(shape: tuple[int, ...], dtype: torch.dtype, target: str | None) -> DeviceLayout:
    return device_layout(shape, element_type(dtype), target=target)


def with_type(layout: DeviceLayout, dtype: torch.dtype) -> DeviceLayout | None:
    """The same device dims for another host type, or None if its places would have another width.

    bool takes the format of the operands that made it.
    """
    if element_type(dtype) == layout.element_type:
        return layout
    return _with_type(words(layout), dtype)


@functools.lru_cache(4096)
def _with_type(at: Words, dtype: torch.dtype) -> DeviceLayout | None:
    layout = read(*at)
    if dtype is torch.bool:
        return _retyped(layout, dtype, BOOLS.get(layout.bits))
    usual = default_layout((1,), dtype, at.target)
    return _retyped(layout, dtype, usual.device_type if usual.bits == layout.bits else None)


BOOLS = {8: "pred", 16: "f16", 32: "f32"}
STORED = {  # host type, device types that hold it and that a transfer converts
    torch.float16: ("f16", "f32"), torch.bfloat16: ("bf16", "f16", "f32"), torch.int8: ("s8", "s32"), torch.uint8: ("u8", "u32"),
    torch.int16: ("s16", "s32"), torch.int64: ("s64", "s32"),
}  # fmt: skip


def stored_in(layout: DeviceLayout, dtype: torch.dtype) -> DeviceLayout | None:
    """The same device dims, for values of another host type in the same width; None where the places cannot hold them."""
    device = layout.device_type or ""
    if dtype is not torch.bool and device in STORED.get(dtype, (element_type(dtype),)):
        return _retyped(layout, dtype, device)
    return with_type(layout, dtype)


def _retyped(layout: DeviceLayout, dtype: torch.dtype, device: str | None) -> DeviceLayout | None:
    if not device or layout.device_type is None:
        return None
    at, text = words(layout), layout._explicit(layout._device)
    text = f"{element_type(dtype)}{text[text.index('[') :]}".replace(f"device_dtype={layout.device_type}", f"device_dtype={device}")
    return read(*words(read(text, at.target)))
