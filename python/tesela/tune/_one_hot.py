# SPDX-License-Identifier: Apache-2.0
"""Products with one-hot arrays, as rows that are taken or added.

    one_hot(ids, n) @ table          rows of the table
    one_hot(ids, n).T @ x            rows of x added up by ids
    einsum("td,tec->ecd", x, mask[:, :, None] * one_hot(place, c)[:, None, :])     rows put at (expert, place)
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import lax


class Iota(NamedTuple):
    dim: int


class OneHot(NamedTuple):
    """`ids`: for each dim in which a value is one-hot, where its one is: an array of the value's rank with 1 for the one-hot dims."""

    ids: dict[int, Any]


def iota(self: Any, eqn: Any, given: list[Any]) -> Any:
    return self.know(self.plain(eqn, given), Iota(eqn.params["dimension"]))


def equal(self: Any, eqn: Any, given: list[Any]) -> Any:
    shape = eqn.outvars[0].aval.shape
    for ids, steps in (given, given[::-1]):
        fact = self.known(steps)
        if isinstance(fact, Iota) and getattr(ids, "ndim", 0) == len(shape) and ids.shape[fact.dim] == 1 and steps.shape[fact.dim] > 1:
            return self.know(self.plain(eqn, given), OneHot({fact.dim: ids}))
    return None


def convert(self: Any, eqn: Any, given: list[Any]) -> Any:
    fact = self.known(given[0])
    return self.know(self.plain(eqn, given), fact) if isinstance(fact, OneHot) else None


def broadcast(self: Any, eqn: Any, given: list[Any]) -> Any:
    fact, shape, dims = self.known(given[0]), eqn.params["shape"], eqn.params["broadcast_dimensions"]
    if not isinstance(fact, OneHot) or any(given[0].shape[dim] != shape[dims[dim]] for dim in fact.ids):
        return None

    def spread(ids: Any) -> Any:
        sizes = [1] * len(shape)
        for i, dim in enumerate(dims):
            sizes[dim] = ids.shape[i]
        return lax.broadcast_in_dim(ids, sizes, dims)

    return self.know(self.plain(eqn, given), OneHot({dims[dim]: spread(ids) for dim, ids in fact.ids.items()}))


def reshape(self: Any, eqn: Any, given: list[Any]) -> Any:
    """Dims of 1 that come or go."""
    fact, before, after = self.known(given[0]), given[0].shape, eqn.outvars[0].aval.shape
    if not isinstance(fact, OneHot):
        return None
    old, new = [i for i, n in enumerate(before) if n > 1], [i for i, n in enumerate(after) if n > 1]
    if [before[i] for i in old] != [after[i] for i in new] or any(dim not in old for dim in fact.ids):
        return None
    place = dict(zip(old, new, strict=True))

    def moved(ids: Any) -> Any:
        sizes = [1] * len(after)
        for i, dim in place.items():
            sizes[dim] = ids.shape[i]
        return ids.reshape(sizes)

    return self.know(self.plain(eqn, given), OneHot({place[dim]: moved(ids) for dim, ids in fact.ids.items()}))


def transpose(self: Any, eqn: Any, given: list[Any]) -> Any:
    fact, order = self.known(given[0]), eqn.params["permutation"]
    if not isinstance(fact, OneHot):
        return None
    return self.know(self.plain(eqn, given), OneHot({order.index(dim): lax.transpose(ids, order) for dim, ids in fact.ids.items()}))


def multiply(self: Any, eqn: Any, given: list[Any]) -> Any:
    """One-hot in other dims: one-hot in both."""
    facts, shape = [self.known(one) for one in given], eqn.outvars[0].aval.shape
    if not all(isinstance(fact, OneHot) for fact in facts) or set(facts[0].ids) & set(facts[1].ids):
        return None
    both = {**facts[0].ids, **facts[1].ids}
    if any(ids.shape[other] != 1 for ids in both.values() for other in both):  # where one is depends on the other's dim
        return None
    if any(getattr(one, "ndim", 0) != len(shape) for one in given) or any(one.shape[dim] != shape[dim] for one, fact in zip(given, facts, strict=True) for dim in fact.ids):
        return None
    return self.know(self.plain(eqn, given), OneHot(both))


def product(self: Any, eqn: Any, given: list[Any]) -> Any:
    contracted, (batch, _) = eqn.params["dimension_numbers"]
    if batch:
        return None
    for side in (0, 1):
        fact = self.known(given[side])
        if not isinstance(fact, OneHot):
            continue
        mine, other, x = contracted[side], contracted[1 - side], given[1 - side]
        shape, hot = given[side].shape, sorted(fact.ids)
        plain = [dim for dim in range(len(shape)) if dim not in hot]
        to_front = dict(zip(mine, other, strict=True))
        rest = [dim for dim in range(x.ndim) if dim not in other]
        extents = [shape[dim] for dim in hot]
        where = _joint(fact, shape, hot, plain)
        dtype = eqn.outvars[0].aval.dtype
        if set(mine) == set(hot):
            rows = lax.transpose(x, [*(to_front[dim] for dim in hot), *rest]).reshape(math.prod(extents), *(x.shape[dim] for dim in rest))
            found = rows.astype(dtype).at[where].get(mode="fill", fill_value=0)
            n_mine = len(plain)
        elif set(mine) == set(plain) and plain:
            rows = lax.transpose(x, [*(to_front[dim] for dim in plain), *rest]).reshape(where.size, *(x.shape[dim] for dim in rest))
            zero = jnp.zeros((math.prod(extents), *rows.shape[1:]), dtype)
            found = zero.at[where.reshape(-1)].add(rows.astype(dtype), mode="drop").reshape(*extents, *rows.shape[1:])
            n_mine = len(hot)
        else:
            continue
        return found if side == 0 else lax.transpose(found, [*range(n_mine, found.ndim), *range(n_mine)])
    return None


def _joint(fact: OneHot, shape: Any, hot: list[int], plain: list[int]) -> Any:
    """One index for all one-hot dims, past the end where a value has no one."""
    total, inside = 0, True
    for dim in hot:
        ids = fact.ids[dim].astype(jnp.int32)
        inside = inside & (ids >= 0) & (ids < shape[dim])
        total = total * shape[dim] + ids
    found = jnp.where(inside, total, math.prod(shape[dim] for dim in hot))
    return jnp.broadcast_to(lax.squeeze(found, hot), [shape[dim] for dim in plain])


RULES = {
    "iota": iota, "eq": equal, "convert_element_type": convert, "broadcast_in_dim": broadcast, "reshape": reshape, "squeeze": reshape,
    "expand_dims": reshape, "transpose": transpose, "mul": multiply, "dot_general": product,
}  # fmt: skip
