# SPDX-License-Identifier: Apache-2.0
"""Values of a rewritten function: an array, or one array for each index of its short dims.

    p: f32[65536,3] as parts of axis 1: three arrays f32[65536]

A form is the tuple of axes that are apart, ascending; () is an array. `Form` says which form an array gets, from its dims alone, so that
values that meet again - carries of loops, operands of one operation - are in one form.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np
from jax import lax
from jax import numpy as jnp


class Form(NamedTuple):
    """Dims up to `limit` are apart if at least `rest` elements remain in each part, the last ones first: there they cost most lanes; at most
    `parts` parts. limit 0: none is."""

    limit: int = 0
    rest: int = 512
    parts: int = 128

    def axes(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        found: list[int] = []
        n, size = 1, math.prod(shape)
        for axis in reversed(range(len(shape))):
            extent = shape[axis]
            if 0 < extent <= self.limit and n * extent <= self.parts and size // (n * extent) >= self.rest:
                if len(found) + 1 < len(shape):
                    found.append(axis)
                    n *= extent
        return tuple(sorted(found)) if n > 1 else ()


class Parts:
    """An array of `shape`, one part for each index of `axes`; a part has the other dims."""

    __slots__ = ("axes", "parts", "shape")

    def __init__(self, shape: tuple[int, ...], axes: tuple[int, ...], parts: Any) -> None:
        self.shape, self.axes, self.parts = shape, axes, parts

    @property
    def dtype(self) -> Any:
        return self.parts.flat[0].dtype


def empty(shape: tuple[int, ...], axes: tuple[int, ...]) -> Parts:
    return Parts(shape, axes, np.empty([shape[axis] for axis in axes], object))


def indices(parts: Parts) -> Any:
    return itertools.product(*(range(n) for n in parts.parts.shape))


def build(shape: tuple[int, ...], axes: tuple[int, ...], make: Any) -> Any:
    """A value whose part at each index is make(index)."""
    if not axes:
        return make(())
    out = empty(tuple(shape), axes)
    for at in indices(out):
        out.parts[at] = make(at)
    return out


def axes_of(value: Any) -> tuple[int, ...]:
    return value.axes if isinstance(value, Parts) else ()


def array(value: Any) -> Any:
    """The value as one array."""
    if not isinstance(value, Parts):
        return value

    # Stacked in front, then moved: the compiler keeps the order of the places and makes the move a name only.
    rest = [axis for axis in range(len(value.shape)) if axis not in value.axes]
    stacked = jnp.stack(list(value.parts.flat)).reshape(*value.parts.shape, *(value.shape[axis] for axis in rest))
    order = [*value.axes, *rest]
    return lax.transpose(stacked, [order.index(axis) for axis in range(len(order))])


def first(value: Any, axes: tuple[int, ...], skip: int = 0) -> Any:
    """One array whose short dims come first, after `skip` dims that stay: a loop's rows and results."""
    if not axes:
        return array(value)
    value = array(value)
    short = [axis + skip for axis in axes]
    return lax.transpose(value, [*range(skip), *short, *(dim for dim in range(skip, value.ndim) if dim not in short)])


def back(value: Any, axes: tuple[int, ...], skip: int = 0) -> Any:
    """The array again that `first` moved."""
    short = [axis + skip for axis in axes]
    order = [*range(skip), *short, *(dim for dim in range(skip, value.ndim) if dim not in short)]
    return lax.transpose(value, [order.index(dim) for dim in range(value.ndim)])


def form(value: Any, axes: tuple[int, ...]) -> Any:
    """The value in a form."""
    if axes_of(value) == axes:
        return value
    if isinstance(value, Parts):
        common = tuple(axis for axis in value.axes if axis in axes)
        if common != value.axes:
            value = _joined(value, common)
        return _split(value, axes) if common != axes else value
    return _split(value, axes) if axes else value


def _joined(value: Parts, axes: tuple[int, ...]) -> Any:
    """Fewer axes apart."""
    if not axes:
        return array(value)
    out = empty(value.shape, axes)
    rest = tuple(axis for axis in value.axes if axis not in axes)
    for at in indices(out):
        where = dict(zip(axes, at, strict=True))
        key = tuple(where.get(axis, slice(None)) for axis in value.axes)
        shape = tuple(n for axis, n in enumerate(value.shape) if axis not in axes)
        inner = tuple(axis - sum(other < axis for other in axes) for axis in rest)
        out.parts[at] = array(Parts(shape, inner, value.parts[key]))
    return out


def _split(value: Any, axes: tuple[int, ...]) -> Parts:
    """More axes apart."""
    shape, had = value.shape, axes_of(value)
    out = empty(shape, axes)
    new = [axis for axis in axes if axis not in had]
    left = [axis for axis in range(len(shape)) if axis not in had]
    order = [*map(left.index, new), *(i for i, axis in enumerate(left) if axis not in new)]
    moved: dict[tuple[int, ...], Any] = {}
    for at in indices(out):
        where = dict(zip(axes, at, strict=True))
        key = tuple(where[axis] for axis in had)
        if key not in moved:
            whole = value.parts[key] if isinstance(value, Parts) else value
            moved[key] = whole.transpose(order) if isinstance(whole, np.ndarray) else lax.transpose(whole, order)
        part = moved[key]
        for axis in new:
            part = np.asarray(part)[where[axis]] if isinstance(part, (np.ndarray, np.generic)) else lax.index_in_dim(part, where[axis], 0, keepdims=False)
        out.parts[at] = part
    return out


def without(axes: tuple[int, ...], dims: Any) -> list[int]:
    """Numbers of dims once `axes` are gone; dims among `axes` are left out."""
    return [dim - sum(axis < dim for axis in axes) for dim in dims if dim not in axes]
