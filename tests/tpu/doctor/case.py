# SPDX-License-Identifier: Apache-2.0
"""A case for the doctor: a program, its arguments, and a fix written by hand before any advice was seen."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

TYPES = {
    "f32": jnp.float32, "bf16": jnp.bfloat16, "s32": jnp.int32, "s8": jnp.int8, "u8": jnp.uint8, "f8": jnp.float8_e4m3fn, "s4": jnp.int4,
}  # fmt: skip


def spec(text):
    """ "f32[8,3]" -> ShapeDtypeStruct; "s32[8]<5" are integers below 5."""
    kind, _, rest = text.partition("[")
    dims = rest.partition("]")[0]
    return jax.ShapeDtypeStruct(tuple(int(one) for one in dims.split(",") if one), TYPES[kind])


def values(text, random):
    """Values for the CPU; integers below the limit."""
    one = spec(text)
    if jnp.issubdtype(one.dtype, jnp.integer):
        below = int(text.partition("<")[2] or 8)
        return jnp.asarray(random.integers(0, below, one.shape), one.dtype)
    return jnp.asarray(random.standard_normal(one.shape), one.dtype)


def same(*arguments):
    return arguments


@dataclasses.dataclass(frozen=True)
class Case:
    program: Callable[..., Any]
    arguments: tuple[str, ...]
    small: tuple[str, ...]
    """Arguments at a size for the CPU."""
    fixed: Callable[..., Any] | None = None
    """The fix; None for a healthy program."""
    adapt: Callable[..., tuple] = same
    """The program's arguments as the fix keeps them."""
    restore: Callable[[Any], Any] = lambda result: result
    donate: tuple[int, ...] = ()
    large: tuple[str, ...] = ()
    """Arguments that do not fit a v5e."""
    loose: float = 1e-3
    """Of the largest value: how much results may differ."""

    given: Callable[..., tuple] = same
    """Arguments for tune: specs, or arrays where random values make no sense."""

    @property
    def name(self):
        return self.program.__name__

    def specs(self, which="arguments"):
        return [spec(text) for text in getattr(self, which)]

    def fixed_specs(self, which="arguments"):
        return list(jax.eval_shape(self.adapt, *self.specs(which)))

    def small_values(self, seed=1):
        random = np.random.default_rng(seed)
        return [values(text, random) for text in self.small]
