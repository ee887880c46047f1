# SPDX-License-Identifier: Apache-2.0
"""Convolutions of few channels, with pixels of a line as channels.

    [8,512,512,2] * [3,3,2,2], 16 pixels:     [8,512,32,32] * [3,3,32,32] -> [8,512,32,32]

The channels are the lanes; 2 of them leave 126 of 128 unused. The weights of a block of pixels and its neighbours are those of the
pixels, with zeros where two pixels are too far apart.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

LANES = 128
WIDE = 33
"""Weights of a line up to which they are spread over blocks: more are those of a derivative."""


def convolution(self: Any, eqn: Any, given: list[Any], pixels: int) -> Any:
    x, w = given
    params = eqn.params
    numbers, strides = params["dimension_numbers"], params["window_strides"]
    dilated = any(n != 1 for n in (*params["lhs_dilation"], *params["rhs_dilation"]))
    if dilated or params["feature_group_count"] != 1 or params["batch_group_count"] != 1 or x.ndim < 3:
        return None
    x, w = lax.transpose(x, _last(numbers.lhs_spec)), lax.transpose(w, [*numbers.rhs_spec[2:], numbers.rhs_spec[1], numbers.rhs_spec[0]])
    step, taps = strides[-1], w.shape[-3]
    block = min(pixels, LANES // max(step * x.shape[-1], w.shape[-1]))
    width = _outputs(x.shape[-2], taps, params["padding"][-1], step)
    if block < 2 or width < 2 * block or taps > WIDE:
        return None
    low, high, wide = _spread(w, block, step, params["padding"][-1][0])
    lines, blocks = -(-x.shape[-2] // (block * step)), -(-width // block)
    x = jnp.pad(x, [(0, 0)] * (x.ndim - 2) + [(0, lines * block * step - x.shape[-2]), (0, 0)])
    x = x.reshape(*x.shape[:-2], lines, -1)
    n = x.ndim
    out = lax.conv_general_dilated(
        x, wide, (*strides[:-1], 1), (*params["padding"][:-1], (-low, blocks - lines + high)),
        dimension_numbers=lax.ConvDimensionNumbers((0, n - 1, *range(1, n - 1)), (n - 1, n - 2, *range(n - 2)), (0, n - 1, *range(1, n - 1))),
        precision=params["precision"], preferred_element_type=params["preferred_element_type"],
    )  # fmt: skip
    out = out.reshape(*out.shape[:-2], blocks * block, -1)[..., :width, :]
    return lax.transpose(out, np.argsort(_last(numbers.out_spec)))


def _last(spec: Any) -> list[int]:
    """The batch, the places, the features."""
    return [spec[0], *spec[2:], spec[1]]


def _outputs(n: int, taps: int, padding: tuple[int, int], step: int) -> int:
    return (n + sum(padding) - taps) // step + 1


def _spread(w: Any, block: int, step: int, before: int) -> tuple[int, int, Any]:
    """Weights [.., blocks, pixels in and channels, pixels out and channels] of the blocks from the first to the last."""
    taps, (c, o) = w.shape[-3], w.shape[-2:]
    size = block * step
    low, high = -before // size, ((block - 1) * step + taps - 1 - before) // size
    d, i, j = np.ogrid[low : high + 1, :size, :block]
    tap = d * size + i - j * step + before
    tap = np.where((tap >= 0) & (tap < taps), tap, taps)  # past the end: a zero
    padded = jnp.pad(w, [(0, 0)] * (w.ndim - 3) + [(0, 1), (0, 0), (0, 0)])
    spread = jnp.moveaxis(jnp.take(padded, tap, axis=w.ndim - 3), -3, -2)  # .., d, i, c, j, o
    return low, high, spread.reshape(*w.shape[:-3], high + 1 - low, size * c, block * o)
