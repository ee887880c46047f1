# SPDX-License-Identifier: Apache-2.0
"""How far two results are apart."""

import jax
import numpy as np


def far(a, b):
    """The largest difference, as a share of the largest value; infinite for other shapes or other NaNs."""
    worst, left, right = 0.0, jax.tree.leaves(a), jax.tree.leaves(b)
    if len(left) != len(right):
        return float("inf")
    for x, y in zip(left, right, strict=True):
        x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
        if x.shape != y.shape or not np.array_equal(np.isnan(x), np.isnan(y)):
            return float("inf")
        if x.size:
            worst = max(worst, float(np.nanmax(np.abs(x - y)) / max(np.nanmax(np.abs(x)), 1e-30)))
    return worst
