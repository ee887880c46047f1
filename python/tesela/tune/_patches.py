# SPDX-License-Identifier: Apache-2.0
"""Patches that are cut by reshape and transpose and then multiplied, as one convolution whose step is a patch.

    images [32,224,224,3] -> [32,14,16,14,16,3] -> [32,14,14,16,16,3] -> [32,196,768] @ [768,256]

A value that is cut is known by its digits: of which dim of the source, with which stride and extent. 14 x 16 of 224 are two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from jax import lax


class Digit(NamedTuple):
    dim: int
    stride: int
    extent: int


class Cut(NamedTuple):
    """`dims`: the digits of each dim of a value, the most significant first."""

    source: Any
    dims: tuple[tuple[Digit, ...], ...]


def whole(x: Any) -> Cut:
    return Cut(x, tuple((Digit(dim, 1, n),) for dim, n in enumerate(x.shape)))


def regrouped(cut: Cut, shape: Sequence[int]) -> Cut | None:
    """The digits of a reshape; None if one would be cut unevenly."""
    left = [digit for dim in cut.dims for digit in dim if digit.extent > 1]
    out = []
    for n in shape:
        mine: list[Digit] = []
        while n > 1:
            digit = left.pop(0)
            if digit.extent > n:
                if digit.extent % n:
                    return None
                low = digit.extent // n
                left.insert(0, Digit(digit.dim, digit.stride, low))
                digit = Digit(digit.dim, digit.stride * low, n)
            if n % digit.extent:
                return None
            n //= digit.extent
            mine.append(digit)
        out.append(tuple(mine))
    return Cut(cut.source, tuple(out))


def reshape(self: Any, eqn: Any, given: list[Any]) -> Any:
    x = given[0]
    cut = self.known(x) or whole(x)
    found = regrouped(cut, eqn.outvars[0].aval.shape) if 0 not in x.shape else None
    return self.know(self.plain(eqn, given), found) if found else None


def transpose(self: Any, eqn: Any, given: list[Any]) -> Any:
    cut = self.known(given[0]) or whole(given[0])
    return self.know(self.plain(eqn, given), Cut(cut.source, tuple(cut.dims[dim] for dim in eqn.params["permutation"])))


def product(self: Any, eqn: Any, given: list[Any]) -> Any:
    (contracted, (batch, _)) = eqn.params["dimension_numbers"]
    if batch:
        return None
    for side in (0, 1):
        cut = self.known(given[side])
        if isinstance(cut, Cut):
            found = _convolved(eqn, cut, given[1 - side], contracted[side], contracted[1 - side])
            if found is not None:  # the kept dims of the patches, then those of the weights
                n = len(given[side].shape) - len(contracted[side])
                order = range(found.ndim) if side == 0 else [*range(n, found.ndim), *range(n)]
                return lax.transpose(found, list(order))
    return None


def _convolved(eqn: Any, cut: Cut, weights: Any, mine: Sequence[int], other: Sequence[int]) -> Any:
    summed = [digit for dim in mine for digit in cut.dims[dim]]
    kept_dims = [dim for dim in range(len(cut.dims)) if dim not in mine]
    kept = [digit for dim in kept_dims for digit in cut.dims[dim]]
    source, windows, batches, features = cut.source, [], [], []
    for dim, n in enumerate(source.shape):
        inner, outer = [d for d in summed if d.dim == dim], [d for d in kept if d.dim == dim]
        if not inner:
            batches.append(dim)
        elif not outer and len(inner) == 1:
            features.append(dim)
        elif len(inner) == len(outer) == 1 and inner[0].stride == 1 and inner[0].extent * outer[0].extent == n:
            windows.append(dim)
        else:
            return None
    if not windows or len(batches) > 1 or not features:
        return None
    feature = features.pop()
    places = sorted([*windows, *features])
    size = {digit.dim: digit.extent for digit in summed}
    if not batches:
        source, feature, places = source[None], feature + 1, [dim + 1 for dim in places]
        size = {dim + 1: n for dim, n in size.items()}
        kept, summed = ([Digit(d.dim + 1, d.stride, d.extent) for d in which] for which in (kept, summed))
        windows = [dim + 1 for dim in windows]
    batch = batches[0] if batches else 0

    free = [dim for dim in range(weights.ndim) if dim not in other]
    n_free = math.prod(weights.shape[dim] for dim in free)
    kernel = lax.transpose(weights, [*other, *free]).reshape(*(digit.extent for digit in summed), n_free)
    among = [digit.dim for digit in summed]
    kernel = lax.transpose(kernel, [*(among.index(dim) for dim in (*places, feature)), len(among)])
    k = len(places)
    out = lax.conv_general_dilated(
        source, kernel, [size[dim] if dim in windows else 1 for dim in places], "VALID",
        dimension_numbers=lax.ConvDimensionNumbers((batch, feature, *places), (k + 1, k, *range(k)), (0, k + 1, *range(1, k + 1))),
        precision=eqn.params["precision"], preferred_element_type=eqn.params["preferred_element_type"],
    )  # fmt: skip
    split = sorted((digit for digit in kept if digit.dim == batch), key=lambda digit: -digit.stride)
    now = [*split, *(next(digit for digit in kept if digit.dim == dim) for dim in places if dim in windows)]
    out = out.reshape(*(digit.extent for digit in now), n_free)
    out = lax.transpose(out, [*(now.index(digit) for digit in kept), len(now)])
    # whole dims of the value are runs of kept digits
    return out.reshape(*(math.prod(digit.extent for digit in cut.dims[dim]) for dim in kept_dims), *(weights.shape[dim] for dim in free))


RULES = {"reshape": reshape, "squeeze": reshape, "expand_dims": reshape, "transpose": transpose, "dot_general": product}
