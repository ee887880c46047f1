# SPDX-License-Identifier: Apache-2.0
"""Elements of 1, 2 and 4 bits: NumPy and ml_dtypes keep each in a byte of its own, layouts keep several in one, the first lowest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._layout import Layout, layout


def is_narrow(lies: Layout) -> bool:
    """Does an array of NumPy need more bits an element than this layout? (The copy engine widens pred itself.)"""
    return lies.bits < 8 and lies.element_type != "pred"


def row_major(element: str, shape: tuple[int, ...], bits: int | None = None) -> Layout:
    """The row-major layout of an array, of the type's own width or another one.

    >>> row_major("s4", (2, 3), 4)
    layout('s4[2,3]{1,0:E(4)}')
    """
    order = ",".join(map(str, reversed(range(len(shape)))))
    braces = f"{{{order}{f':E({bits})' if bits else ''}}}" if shape or bits else ""
    return layout(f"{element}[{','.join(map(str, shape))}]{braces}")


def dense(lies: Layout) -> Layout:
    """The row-major layout of the same elements, of the same width."""
    assert lies.element_type is not None
    return row_major(lies.element_type, lies.shape, lies.bits)


def narrowed(x: NDArray[Any], bits: int) -> NDArray[np.uint8]:
    """The low bits of each element, row-major, without gaps.

    >>> narrowed(np.array([1, 15, 2], np.uint8), 4).tolist()
    [241, 2]
    """
    each = 8 // bits
    values = np.zeros(-(-x.size // each) * each, np.uint8)
    np.bitwise_and(x.reshape(-1).view(np.uint8), (1 << bits) - 1, out=values[: x.size])
    packed = values[::each].copy()
    for k in range(1, each):
        packed |= values[k::each] << (k * bits)
    return packed


def widened(data: NDArray[np.uint8], count: int, bits: int) -> NDArray[np.uint8]:
    """The reverse, for `count` elements.

    >>> widened(np.array([241, 2], np.uint8), 3, 4).tolist()
    [1, 15, 2]
    """
    each = 8 // bits
    values = np.empty((len(data), each), np.uint8)
    for k in range(each):
        values[:, k] = data >> (k * bits) & ((1 << bits) - 1)
    return values.reshape(-1)[:count]
