# SPDX-License-Identifier: Apache-2.0
"""A part of an array in a layout: only the places of its elements are read."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import borrow
from ._device import DeviceLayout
from ._layout import Layout
from ._library import Error, byref, lib
from ._tensor import Plan, TiledArray

CHUNK = 1 << 20  # elements whose places are computed at a time


def ranges_of(key: Any, shape: tuple[int, ...]) -> tuple[list[range], tuple[int, ...]]:
    """The indices along each dim that a key of ints, slices and `...` selects, and the shape of the result.

    >>> ranges_of((0, slice(None, None, 2)), (3, 5))
    ([range(0, 1), range(0, 5, 2)], (3,))
    """
    keys = list(key) if isinstance(key, tuple) else [key]
    dots = [i for i, one in enumerate(keys) if one is Ellipsis]
    if len(dots) > 1:
        raise IndexError("expected one ellipsis at most")
    if len(keys) - len(dots) > len(shape):
        raise IndexError(f"{len(keys) - len(dots)} indices for {len(shape)} dims")
    at = dots[0] if dots else len(keys)
    keys[at : at + 1] = [slice(None)] * (len(shape) - len(keys) + len(dots))
    ranges, extents = [], []
    for d, (one, extent) in enumerate(zip(keys, shape)):
        if isinstance(one, slice):
            ranges.append(range(extent)[one])
            extents.append(len(ranges[-1]))
            continue
        try:
            index = operator.index(one)
        except TypeError:
            raise TypeError(f"expected integers, slices and ..., found {type(one).__name__}") from None
        if not -extent <= index < extent:
            raise IndexError(f"index {index} of dim {d}; expected {-extent} to {extent - 1}")
        index %= extent
        ranges.append(range(index, index + 1))
    return ranges, tuple(extents)


def part_of(array: TiledArray, key: Any) -> NDArray[Any]:
    """`np.asarray(array)[key]` as a new array, without reading the rest of the array."""
    ranges, extents = ranges_of(key, array.shape)
    if all(one == range(extent) for one, extent in zip(ranges, array.shape)):
        found: NDArray[Any] = array.unpack()
        return found.reshape(extents)
    if 0 in extents or 0 in array.shape:
        return np.empty(extents, array.dtype)
    if isinstance(array.layout, DeviceLayout) and array.layout.device_type != array.layout.element_type:
        return np.ascontiguousarray(array.unpack()[np.ix_(*ranges)]).reshape(extents)  # the transfer converts
    if all(one.step == 1 for one in ranges) and (part := window(array, ranges)) is not None:
        return part.reshape(extents)
    places = elements(array.physical, array.layout.bits)
    raw = np.empty([len(one) for one in ranges], places.dtype)
    gather(raw, places, array.layout, [np.arange(one.start, one.stop, one.step) for one in ranges])
    return numbers(raw, array.layout).reshape(extents)


def window(array: TiledArray, ranges: list[range]) -> NDArray[Any] | None:
    """A stretch of every dim, copied by the copy engine; None if it cannot start a copy in the middle of this layout.

    The part is a layout itself, that of a slice. It starts at the first tile of each dim that is needed, since a slice that starts inside
    of a tile has no plan. What is copied before the stretch begins is less than a tile.
    """
    lies, whole = array.layout, array.layout._relation
    if whole.n_joins or lies._copies != 1 or lies.bits < 8:
        return None
    digits: list[list[Any]] = [[] for _ in ranges]
    for digit in whole.digit[: whole.n_mapped]:
        digits[digit.source].append(digit)
    if any(chain and chain[-1].step != 1 for chain in digits):
        return None
    first = [chain[0].step if chain else 1 for chain in digits]  # elements of a tile of the most significant level
    begin = [one.start // step * step for one, step in zip(ranges, first)]
    shape = [one.stop - start for one, start in zip(ranges, begin)]
    part, err = type(whole).from_buffer_copy(whole), Error()
    for d, (start, extent) in enumerate(zip(begin, shape)):
        if lib.tesela_layout_slice(byref(part), d, start, extent, 1, byref(part), byref(err)):
            raise err.exception()
    out = np.empty(shape, lies.dtype)
    relation, address = borrow(out).relation()
    plan = Plan(None, None, fill=None, relations=(part, relation), words=f"part of {lies}")
    plan._run(address, array.physical.__array_interface__["data"][0])
    found = out[tuple(slice(one.start - start, None) for one, start in zip(ranges, begin))]
    return np.ascontiguousarray(found).reshape(found.shape)


def elements(physical: NDArray[Any], bits: int) -> Any:
    """The places as an array that can be indexed by them: raw bytes of one element each."""
    data = physical.reshape(-1).view(np.uint8)
    return data.view(f"V{bits // 8}") if bits >= 8 else Narrow(data, bits)


class Narrow:
    """Elements of less than a byte, each read into a byte of its own."""

    dtype = np.dtype(np.uint8)

    def __init__(self, data: NDArray[np.uint8], bits: int) -> None:
        self.data, self.bits = data, bits

    def __getitem__(self, places: NDArray[np.int64]) -> NDArray[Any]:
        at = places * self.bits
        found: NDArray[Any] = (self.data[at >> 3] >> (at & 7).astype(np.uint8)) & np.uint8((1 << self.bits) - 1)
        return found


def gather(out: NDArray[Any], places: Any, layout: Layout, indices: list[NDArray[np.int64]]) -> None:
    """out[i, j, ...] = the element (indices[0][i], indices[1][j], ...)."""
    if out.size > CHUNK:
        d = int(np.argmax(out.shape))
        half = out.shape[d] // 2
        for chosen in (slice(None, half), slice(half, None)):
            gather(
                out[(slice(None),) * d + (chosen,)],
                places,
                layout,
                [*indices[:d], indices[d][chosen], *indices[d + 1 :]],
            )
        return
    out[...] = places[places_of_grid(layout, indices)]


def places_of_grid(layout: Layout, indices: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The place of each element of a grid of indices. Where no two dims act on one digit it is a sum of a term for each dim."""
    relation = layout._relation
    if relation.n_joins or relation.swizzle.n or not indices:
        rows = np.stack(np.meshgrid(*indices, indexing="ij"), axis=-1) if indices else np.zeros((0,), np.int64)
        places: NDArray[np.int64] = np.asarray(layout.where(rows if indices else ()))
        return places
    first = np.array([one[0] for one in indices], np.int64)
    total = np.int64(layout.where(first[None, :])[0])
    terms = []
    for d, one in enumerate(indices):
        rows = np.tile(first, (len(one), 1))
        rows[:, d] = one
        terms.append(layout.where(rows) - total)
    grid = np.ix_(*terms)
    found: NDArray[np.int64] = total + sum(grid[1:], start=grid[0])
    return found


def numbers(raw: NDArray[Any], layout: Layout) -> NDArray[Any]:
    """Raw elements as numbers of the layout's type."""
    dtype, bits = layout.dtype, layout.bits
    assert dtype is not None
    if dtype.itemsize * 8 == bits or bits < 8:
        return raw.view(dtype)
    dense = Layout(f"{layout.element_type}[{raw.size}]{{0:E({bits})}}")
    values: NDArray[Any] = TiledArray(raw.reshape(-1).view(np.uint8), dense).unpack()
    return values.reshape(raw.shape)
