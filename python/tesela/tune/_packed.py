# SPDX-License-Identifier: Apache-2.0
"""Rows of a table side by side in 128 lanes: taken, added to, changed whole.

    f32[262144,32] is kept as f32[65536,128]: row 5 is lanes 32 to 63 of row 1
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import lax
from jax.extend import core

LANES = 128


class Packed(NamedTuple):
    array: Any
    width: int
    shape: tuple[int, ...]


def row_width(n: int) -> int:
    """Lanes for a row of n numbers: a power of two."""
    return 1 << max(0, (n - 1).bit_length())


def packed_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    per = LANES // row_width(shape[-1])
    return (*shape[:-2], -(-shape[-2] // per), LANES)


def pack_rows(table: Any) -> Any:
    """A table [rows, n] as [.., 128], 128 / n rows side by side: [131072, 64] is [65536, 128]. Dims before the last two stay."""
    width = row_width(table.shape[-1])
    rows = -table.shape[-2] % (LANES // width)
    outer = table.shape[:-2]
    return jnp.pad(table, (*((0, 0) for _ in outer), (0, rows), (0, width - table.shape[-1]))).reshape(*outer, -1, LANES)


def unpack_rows(packed: Any, shape: tuple[int, ...]) -> Any:
    """The table of that shape again."""
    return packed.reshape(*shape[:-2], -1, row_width(shape[-1]))[..., : shape[-2], : shape[-1]]


def slices(self: Any, eqn: Any, given: list[Any]) -> Any:
    """Whole tables of several."""
    fact, params = self.known(given[0]), eqn.params
    if not isinstance(fact, Packed):
        return None
    shape, outer = eqn.outvars[0].aval.shape, len(fact.shape) - 2
    if shape[outer:] != tuple(fact.shape[outer:]):
        return None
    ends = (*params["limit_indices"][:outer], *fact.array.shape[outer:])
    strides = None if params["strides"] is None else (*params["strides"][:outer], 1, 1)
    part = lax.slice(fact.array, (*params["start_indices"][:outer], 0, 0), ends, strides)
    return self.know(self.plain(eqn, given), Packed(part, fact.width, shape))


def squeeze(self: Any, eqn: Any, given: list[Any]) -> Any:
    fact, shape = self.known(given[0]), eqn.outvars[0].aval.shape
    if not isinstance(fact, Packed) or shape[-2:] != tuple(fact.shape[-2:]):
        return None
    return self.know(self.plain(eqn, given), Packed(fact.array.reshape(*shape[:-2], *fact.array.shape[-2:]), fact.width, shape))


def gather(self: Any, eqn: Any, given: list[Any]) -> Any:
    fact, numbers = self.known(given[0]), eqn.params["dimension_numbers"]
    if not isinstance(fact, Packed) or len(fact.shape) != 2:
        return None
    rows, n = fact.shape
    if eqn.params["slice_sizes"] != (1, n) or numbers.collapsed_slice_dims != (0,) or numbers.start_index_map != (0,):
        return None
    mode = eqn.params["mode"]
    if mode not in (lax.GatherScatterMode.PROMISE_IN_BOUNDS, lax.GatherScatterMode.CLIP) or numbers.offset_dims != (given[1].ndim - 1,):
        return None
    ids, per = jnp.clip(given[1][..., 0], 0, rows - 1), LANES // fact.width
    found = fact.array.at[ids // per].get(mode="promise_in_bounds")
    part = (ids % per)[..., None]
    picked = found[..., :n]
    for i in range(1, per):
        picked = jnp.where(part == i, found[..., i * fact.width : i * fact.width + n], picked)
    return picked


def _least(dtype: Any) -> Any:
    return -jnp.inf if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo(dtype).min


def _most(dtype: Any) -> Any:
    return jnp.inf if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo(dtype).max


NEUTRAL: dict[str, Callable[[Any], Any]] = {"scatter-add": lambda dtype: 0, "scatter-mul": lambda dtype: 1, "scatter-max": _least, "scatter-min": _most}
"""What leaves the rows beside the one that changes as they are."""


def scatter(self: Any, eqn: Any, given: list[Any]) -> Any:
    """Rows of updates in the lanes of their rows; what is beside them is neutral."""
    table, ids, updates = given
    fact, numbers, name = self.known(table), eqn.params["dimension_numbers"], eqn.primitive.name.replace("_", "-")
    if not isinstance(fact, Packed) or len(fact.shape) != 2 or not jnp.issubdtype(updates.dtype, jnp.number) or jnp.iscomplexobj(updates):
        return None
    rows, n = fact.shape
    whole = numbers.update_window_dims == (updates.ndim - 1,) and updates.shape[-1] == n
    if not whole or numbers.inserted_window_dims != (0,) or numbers.scatter_dims_to_operand_dims != (0,) or numbers.operand_batching_dims:
        return None
    at, per = ids[..., 0], LANES // fact.width
    if eqn.params["mode"] == lax.GatherScatterMode.CLIP:
        at = jnp.clip(at, 0, rows - 1)
    place = jnp.where((at >= 0) & (at < rows), at // per, fact.array.shape[0])
    neutral = jnp.asarray(NEUTRAL[name](updates.dtype), updates.dtype)
    side = lax.pad(updates, neutral, [(0, 0, 0)] * (updates.ndim - 1) + [(0, fact.width - n, 0)])
    lanes = lax.broadcasted_iota(at.dtype, (LANES,), 0) // fact.width
    wide = jnp.where(lanes == (at % per)[..., None], jnp.tile(side, per), neutral)
    target = fact.array.at[place]
    change = {"scatter-add": target.add, "scatter-mul": target.mul, "scatter-max": target.max, "scatter-min": target.min}[name]
    return self.know(self.plain(eqn, given), fact._replace(array=change(wide, mode="drop")))


def fill(self: Any, eqn: Any, given: list[Any], shape: tuple[int, ...]) -> Any:
    """One number in a whole table."""
    if len(given) > 1 or eqn.params["shape"] != shape or getattr(given[0], "shape", ()):
        return None
    return self.know(self.plain(eqn, given), Packed(jnp.full(packed_shape(shape), given[0], eqn.outvars[0].aval.dtype), row_width(shape[-1]), shape))


def elementwise(self: Any, eqn: Any, given: list[Any]) -> Any:
    """Packed tables of one shape, and single numbers."""
    facts = [self.known(one) if getattr(one, "shape", ()) else None for one in given]
    tables = [fact for fact in facts if isinstance(fact, Packed)]
    alone = all(isinstance(fact, Packed) or not getattr(one, "shape", ()) for fact, one in zip(facts, given, strict=True))
    if not tables or not alone or eqn.primitive.multiple_results or any(fact.shape != tables[0].shape for fact in tables):
        return None
    inner = [fact.array if isinstance(fact, Packed) else one for fact, one in zip(facts, given, strict=True)]
    return self.know(self.plain(eqn, given), tables[0]._replace(array=self.plain(eqn, inner)))


def rules(shape: tuple[int, ...]) -> dict[str, Any]:
    """For a table of that shape."""
    names = "add sub mul div neg sqrt rsqrt square integer_pow max min sign abs convert_element_type add_any copy".split()
    return {
        **dict.fromkeys(names, elementwise), **dict.fromkeys((*NEUTRAL, "scatter_add"), scatter), "gather": gather, "slice": slices,
        "squeeze": squeeze, "reshape": squeeze, "broadcast_in_dim": functools.partial(fill, shape=shape),
    }  # fmt: skip


def used(jaxpr: Any, i: int) -> bool:
    """Is the argument i taken or added to by rows, or are tables in it?"""
    tables = {jaxpr.invars[i]}
    for eqn in jaxpr.eqns:
        if eqn.invars and not isinstance(eqn.invars[0], core.Literal) and eqn.invars[0] in tables:
            if eqn.primitive.name in ("gather", *NEUTRAL, "scatter_add"):
                return True
            if eqn.primitive.name in ("slice", "squeeze", "reshape"):
                tables.add(eqn.outvars[0])
    return False


def worth(shape: tuple[int, ...]) -> bool:
    """Is a table narrow and long?"""
    return len(shape) >= 2 and shape[-1] <= LANES // 2 and math.prod(shape[:-1]) > 1024
