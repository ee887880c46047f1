# SPDX-License-Identifier: Apache-2.0
"""Rules of small systems of equations whose matrices are apart: elimination written out, rows exchanged by selects, the batch in the lanes.

    jnp.linalg.solve(a, b) with a: f32[32768,4,4]: 16 arrays f32[32768], and some 100 operations on them
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jax import lax
from jax import numpy as jnp

from ._parts import Parts, axes_of, build, empty, form, indices

LARGEST = 8
"""Rows of a matrix that is written out."""


def _small(x: Any) -> bool:
    rank = len(x.shape)
    return rank > 2 and max(x.shape[-2:]) <= LARGEST and {rank - 2, rank - 1} <= set(axes_of(x)) and not jnp.issubdtype(x.dtype, jnp.complexfloating)


def _matrices(x: Any) -> Parts:
    """With the last two dims apart and no others."""
    found = form(x, (len(x.shape) - 2, len(x.shape) - 1))
    assert isinstance(found, Parts)
    return found


def _vectors(parts: list[Any], shape: tuple[int, ...]) -> Parts:
    out = empty(shape, (len(shape) - 1,))
    for i, part in enumerate(parts):
        out.parts[i] = part
    return out


def lu(self: Any, eqn: Any, given: list[Any]) -> Any:
    """Rows are exchanged as LAPACK does: the largest of a column comes up, the first of equal ones."""
    if not _small(given[0]):
        return None
    x = _matrices(given[0])
    rows = [list(row) for row in x.parts]
    m, n = x.parts.shape
    order = [jnp.full(rows[0][0].shape, i, jnp.int32) for i in range(m)]
    pivots = []
    for k in range(min(m, n)):
        largest, pivot = jnp.abs(rows[k][k]), jnp.full(rows[k][k].shape, k, jnp.int32)
        for r in range(k + 1, m):
            wins = jnp.abs(rows[r][k]) > largest
            largest, pivot = jnp.where(wins, jnp.abs(rows[r][k]), largest), jnp.where(wins, r, pivot)
        pivots.append(pivot)
        top, first = [*rows[k], order[k]], [*rows[k], order[k]]
        for r in range(k + 1, m):
            here = pivot == r
            row = [*rows[r], order[r]]
            top = [jnp.where(here, a, b) for a, b in zip(row, top, strict=True)]
            *rows[r], order[r] = (jnp.where(here, a, b) for a, b in zip(first, row, strict=True))
        *rows[k], order[k] = top
        divisor = jnp.where(rows[k][k] == 0, 1, rows[k][k])  # then the column is zeros
        for r in range(k + 1, m):
            rows[r][k] = rows[r][k] / divisor
            for c in range(k + 1, n):
                rows[r][c] = rows[r][c] - rows[r][k] * rows[k][c]
    out = empty(x.shape, x.axes)
    for i, j in indices(out):
        out.parts[i, j] = rows[i][j]
    batch = tuple(x.shape[:-2])
    return [out, _vectors(pivots, (*batch, min(m, n))), _vectors(order, (*batch, m))]


def cholesky(self: Any, eqn: Any, given: list[Any]) -> Any:
    if not _small(given[0]):
        return None
    x = _matrices(given[0])
    n = x.parts.shape[0]
    out, definite = empty(x.shape, x.axes), jnp.ones(x.parts[0, 0].shape, bool)
    for j in range(n):
        for i in range(j):
            out.parts[i, j] = jnp.zeros_like(x.parts[0, 0])
        rest = x.parts[j, j] - sum(out.parts[j, k] ** 2 for k in range(j))
        definite = definite & (rest > 0)
        out.parts[j, j] = jnp.sqrt(rest)
        for i in range(j + 1, n):
            out.parts[i, j] = (x.parts[i, j] - sum(out.parts[i, k] * out.parts[j, k] for k in range(j))) / out.parts[j, j]
    for i, j in indices(out):
        if i >= j:
            out.parts[i, j] = jnp.where(definite, out.parts[i, j], jnp.nan)
    return out


def triangular_solve(self: Any, eqn: Any, given: list[Any]) -> Any:
    if not _small(given[0]):
        return None
    params, a, rank = eqn.params, _matrices(given[0]), len(given[1].shape)
    solved, other = (rank - 2, rank - 1) if params["left_side"] else (rank - 1, rank - 2)
    turned = params["transpose_a"] == params["left_side"]  # x a = b is a' x' = b'
    lower = params["lower"] != turned
    apart = other in self.axes(given[1].shape)
    b = form(given[1], tuple(sorted((solved, other))) if apart else (solved,))
    along = b.axes.index(solved)
    n, out = a.parts.shape[0], empty(b.shape, b.axes)

    def entry(i: int, j: int) -> Any:
        part = a.parts[(j, i) if turned else (i, j)]
        return part if apart else part[..., None]

    for at in np.ndindex(*(size for axis, size in enumerate(b.parts.shape) if axis != along)):
        def where(i: int, at: tuple[int, ...] = at) -> tuple[int, ...]:
            return (*at[:along], i, *at[along:])

        done: list[int] = []
        for i in range(n) if lower else reversed(range(n)):
            rest = b.parts[where(i)]
            for k in done:
                rest = rest - entry(i, k) * out.parts[where(k)]
            out.parts[where(i)] = rest if params["unit_diagonal"] else rest / entry(i, i)
            done.append(i)
    return out


def pick(self: Any, eqn: Any, given: list[Any]) -> Any:
    """A gather of single elements of a short dim, a choice for each of the others: selects among its parts."""
    x, ids = given
    numbers, sizes, shape = eqn.params["dimension_numbers"], eqn.params["slice_sizes"], eqn.outvars[0].aval.shape
    if len(numbers.start_index_map) != 1 or numbers.collapsed_slice_dims != numbers.start_index_map or not numbers.operand_batching_dims:
        return None
    (d,) = numbers.start_index_map
    kept = [dim for dim in range(len(sizes)) if dim not in (d, *numbers.operand_batching_dims)]
    if x.shape[d] > 16 or d not in self.axes(x.shape) or any(sizes[dim] != x.shape[dim] for dim in kept):
        return None
    out_of_ids = [dim for dim in range(len(shape)) if dim not in numbers.offset_dims]
    out_of = dict(zip(kept, sorted(numbers.offset_dims), strict=True))
    out_of |= {o: out_of_ids[i] for o, i in zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True)}
    axes = tuple(axis for axis in self.axes(shape) if axis not in (out_of[dim] for dim in numbers.operand_batching_dims))
    x = form(x, tuple(sorted((d, *(dim for dim in kept if out_of[dim] in axes)))))
    ids = form(ids, (*(i for i, dim in enumerate(out_of_ids) if dim in axes), len(ids.shape) - 1))
    rest = [dim for dim in range(len(shape)) if dim not in axes]

    def spread(part: Any, dims: list[int]) -> Any:
        """Dims of the result."""
        left = [rest.index(dim) for dim in dims if dim in rest]
        order = sorted(range(len(left)), key=left.__getitem__)
        return lax.broadcast_in_dim(lax.transpose(part, order), [shape[dim] for dim in rest], sorted(left))

    def make(at: tuple[int, ...]) -> Any:
        where = dict(zip(axes, at, strict=True))
        which = spread(ids.parts[(*(where[dim] for dim in out_of_ids if dim in axes), 0)], out_of_ids)
        found = None
        for i in range(x.shape[d]):
            key = tuple(i if dim == d else where[out_of[dim]] for dim in x.axes)
            one = spread(x.parts[key], [out_of[dim] for dim in range(len(sizes)) if dim != d])
            found = one if found is None else jnp.where(which >= i, one, found)
        if eqn.params["mode"] == lax.GatherScatterMode.FILL_OR_DROP:
            found = jnp.where((which >= 0) & (which < x.shape[d]), found, jnp.asarray(filling(eqn, x.dtype), x.dtype))
        return found

    return build(shape, axes, make)


def filling(eqn: Any, dtype: Any) -> Any:
    """What a gather gives for an index that is out of bounds."""
    given = eqn.params["fill_value"]
    if given is not None:
        return given
    if jnp.issubdtype(dtype, jnp.inexact):
        return jnp.nan
    if dtype == jnp.bool_:
        return True
    limits = jnp.iinfo(dtype)
    return limits.max if jnp.issubdtype(dtype, jnp.unsignedinteger) else limits.min


RULES = {"lu": lu, "cholesky": cholesky, "triangular_solve": triangular_solve}
