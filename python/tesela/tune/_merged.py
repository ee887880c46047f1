# SPDX-License-Identifier: Apache-2.0
"""Rows that are taken from one of several tables, as rows of all tables below each other.

    tables [26,16384,32], tables[i][ids]      the rows i * 16384 + ids of [425984,32]

The tables themselves need not be cut out first, which copies each.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import lax

CLIPPED = (lax.GatherScatterMode.PROMISE_IN_BOUNDS, lax.GatherScatterMode.CLIP)


class Rows(NamedTuple):
    """A value that is whole rows of a larger one, from `first` on."""

    source: Any
    first: int


def cut(self: Any, eqn: Any, given: list[Any]) -> Any:
    """A slice that is one run of rows."""
    x, shape, params = given[0], eqn.outvars[0].aval.shape, eqn.params
    if x.ndim < 2 or shape[-1] != x.shape[-1] or (params["strides"] and any(step != 1 for step in params["strides"])):
        return None
    outer = next((dim for dim, n in enumerate(shape) if n != 1), x.ndim - 1)
    if shape[outer + 1 :] != x.shape[outer + 1 :] or shape == x.shape:
        return None
    fact = self.known(x) or Rows(x, 0)
    first = sum(at * math.prod(x.shape[dim + 1 : -1]) for dim, at in enumerate(params["start_indices"][:-1]))
    return self.know(self.plain(eqn, given), Rows(fact.source, fact.first + first))


def reshape(self: Any, eqn: Any, given: list[Any]) -> Any:
    fact, shape = self.known(given[0]), eqn.outvars[0].aval.shape
    if not isinstance(fact, Rows) or not shape or shape[-1] != given[0].shape[-1]:
        return None
    return self.know(self.plain(eqn, given), fact)


def gather(self: Any, eqn: Any, given: list[Any]) -> Any:
    x, ids = given
    numbers, sizes, fact = eqn.params["dimension_numbers"], eqn.params["slice_sizes"], self.known(x)
    if not isinstance(fact, Rows) or x.ndim != 2 or sizes != (1, x.shape[1]):
        return None
    if numbers.collapsed_slice_dims != (0,) or numbers.start_index_map != (0,) or numbers.offset_dims != (ids.ndim - 1,):
        return None
    source, index, mode = fact.source.reshape(-1, x.shape[1]), ids[..., 0], eqn.params["mode"]
    if source.shape[0] > jnp.iinfo(ids.dtype).max:
        return None
    if mode in CLIPPED:
        return source.at[jnp.clip(index, 0, x.shape[0] - 1) + fact.first].get(mode="promise_in_bounds")
    inside = (index >= 0) & (index < x.shape[0])
    return source.at[jnp.where(inside, index + fact.first, source.shape[0])].get(mode="fill", fill_value=eqn.params["fill_value"])


RULES = {"slice": cut, "squeeze": reshape, "reshape": reshape, "gather": gather}
