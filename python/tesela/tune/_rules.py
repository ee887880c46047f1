# SPDX-License-Identifier: Apache-2.0
"""Rules of operations on values whose short dims are apart. A rule answers None for what it does not know."""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import numpy as np
from jax import lax
from jax import numpy as jnp

from . import _solvers
from ._parts import Parts, array, axes_of, build, empty, form, indices, without

MOST = 512
"""Operations that one may become; above that it stays whole."""


def _part(value: Any, at: tuple[int, ...]) -> Any:
    return value.parts[at] if isinstance(value, Parts) else value


def elementwise(self: Any, eqn: Any, given: list[Any]) -> Any:
    shape = eqn.outvars[0].aval.shape
    axes = self.axes(shape)
    forms = [form(one, axes) if getattr(one, "shape", ()) else one for one in given]

    def at_index(one: Any, at: tuple[int, ...]) -> Any:
        if not isinstance(one, Parts):
            return one
        return one.parts[tuple(i if one.shape[axis] > 1 else 0 for axis, i in zip(axes, at, strict=True))]

    return build(shape, axes, lambda at: self.plain(eqn, [at_index(one, at) for one in forms]))


def broadcast(self: Any, eqn: Any, given: list[Any]) -> Any:
    if len(given) > 1:
        return None
    shape, dims = eqn.params["shape"], eqn.params["broadcast_dimensions"]
    axes = self.axes(shape)
    x = given[0]
    if not getattr(x, "shape", ()):
        rest = [n for axis, n in enumerate(shape) if axis not in axes]
        whole = lax.broadcast_in_dim(x, rest, ())
        return build(shape, axes, lambda at: whole)
    mine = tuple(j for j, dim in enumerate(dims) if dim in axes)
    x = form(x, mine)
    kept = without(axes, [dim for dim in dims if dim not in axes])
    rest = [n for axis, n in enumerate(shape) if axis not in axes]

    def make(at: tuple[int, ...]) -> Any:
        where = dict(zip(axes, at, strict=True))
        inner = tuple(where[dims[j]] if x.shape[j] > 1 else 0 for j in mine)
        return lax.broadcast_in_dim(_part(x, inner), rest, kept)

    return build(shape, axes, make)


def iota(self: Any, eqn: Any, given: list[Any]) -> Any:
    shape, dim, dtype = eqn.params["shape"], eqn.params["dimension"], eqn.params["dtype"]
    axes = self.axes(shape)
    rest = [n for axis, n in enumerate(shape) if axis not in axes]

    def make(at: tuple[int, ...]) -> Any:
        if dim in axes:
            return jnp.full(rest, at[axes.index(dim)], dtype)
        return lax.broadcasted_iota(dtype, rest, without(axes, [dim])[0])

    return build(shape, axes, make)


def transpose(self: Any, eqn: Any, given: list[Any]) -> Any:
    order, shape = eqn.params["permutation"], eqn.outvars[0].aval.shape
    axes = self.axes(shape)
    mine = tuple(sorted(order[axis] for axis in axes))
    x = form(given[0], mine)
    inner = without(mine, [dim for dim in order if dim not in mine])

    def make(at: tuple[int, ...]) -> Any:
        where = {order[axis]: i for axis, i in zip(axes, at, strict=True)}
        return lax.transpose(_part(x, tuple(where[axis] for axis in mine)), inner)

    return build(shape, axes, make)


def groups(before: tuple[int, ...], after: tuple[int, ...]) -> list[tuple[list[int], list[int]]]:
    """The runs of dims of two shapes that have equal products: [4096,4,4] and [4096,16] are [0]-[0] and [1,2]-[1]."""
    found: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(before) or j < len(after):
        left: list[int] = []
        right: list[int] = []
        a = b = 1
        while True:
            if a == b and left and right:
                break
            if (a <= b and i < len(before)) or j >= len(after):
                if i >= len(before):
                    break
                left.append(i)
                a *= before[i]
                i += 1
            else:
                right.append(j)
                b *= after[j]
                j += 1
        found.append((left, right))
    return found


def reshape(self: Any, eqn: Any, given: list[Any]) -> Any:
    x, shape = given[0], eqn.outvars[0].aval.shape
    axes, had = self.axes(shape), axes_of(x)
    if 0 in shape:
        return None
    if not had:
        return form(self.plain(eqn, [x]), axes)
    for left, right in groups(x.shape, shape):
        inside, outside = [dim for dim in left if dim in had], [dim for dim in right if dim in axes]
        if math.prod(x.shape[dim] for dim in inside) != math.prod(shape[dim] for dim in outside):
            return None
        if any(dim not in had and x.shape[dim] > 1 for dim in left) and inside and any(x.shape[dim] > 1 for dim in inside):
            return None
    rest = [n for axis, n in enumerate(shape) if axis not in axes]
    out = empty(shape, axes) if axes else None
    if out is None:
        return lax.reshape(x.parts.flat[0], rest)
    for at, part in zip(indices(out), x.parts.flat, strict=True):
        out.parts[at] = lax.reshape(part, rest)
    return out


FOLDS = {
    "reduce_sum": lax.add, "reduce_max": lax.max, "reduce_min": lax.min, "reduce_prod": lax.mul, "reduce_and": lax.bitwise_and,
    "reduce_or": lax.bitwise_or,
}  # fmt: skip


def reduce(self: Any, eqn: Any, given: list[Any]) -> Any:
    x, gone = given[0], tuple(eqn.params["axes"])
    axes = axes_of(x)
    if not axes:
        return None
    combine, shape = FOLDS[eqn.primitive.name], x.shape
    inner = tuple(without(axes, [dim for dim in gone if dim not in axes]))
    kept = tuple(axis for axis in axes if axis not in gone)
    params = {**eqn.params, "axes": inner}

    def make(at: tuple[int, ...]) -> Any:
        where = dict(zip(kept, at, strict=True))
        key = tuple(where.get(axis, slice(None)) for axis in axes)
        chosen = x.parts[key]
        folded = functools.reduce(combine, chosen.flat if isinstance(chosen, np.ndarray) else [chosen])
        return eqn.primitive.bind(folded, **params) if inner else folded

    out_shape = tuple(n for axis, n in enumerate(shape) if axis not in gone)
    return build(out_shape, tuple(without(gone, kept)), make)


def arg_reduce(self: Any, eqn: Any, given: list[Any]) -> Any:
    (axis,), x = eqn.params["axes"], given[0]
    if axis not in axes_of(x):
        return None
    x = form(x, (axis,))
    better = lax.gt if eqn.primitive.name == "argmax" else lax.lt
    best, at = x.parts[0], jnp.zeros(x.parts[0].shape, eqn.params["index_dtype"])
    for i in range(1, len(x.parts)):
        wins = better(x.parts[i], best) | ((x.parts[i] != x.parts[i]) & (best == best))
        best, at = jnp.where(wins, x.parts[i], best), jnp.where(wins, jnp.asarray(i, at.dtype), at)
    return at


def concatenate(self: Any, eqn: Any, given: list[Any]) -> Any:
    dim, shape = eqn.params["dimension"], eqn.outvars[0].aval.shape
    axes = self.axes(shape)
    forms = [form(one, axes) for one in given]
    if dim not in axes:
        inner = without(axes, [dim])[0]
        return build(shape, axes, lambda at: lax.concatenate([_part(one, at) for one in forms], inner))
    out = empty(shape, axes)
    out.parts = np.concatenate([one.parts for one in forms], axes.index(dim))
    return out


def stack(self: Any, eqn: Any, given: list[Any]) -> Any:
    dim, shape = eqn.params["axis"], eqn.outvars[0].aval.shape
    axes = self.axes(shape)
    inner = tuple(without((dim,), [axis for axis in axes if axis != dim]))
    forms = [form(one, inner) for one in given]
    if dim not in axes:
        place = without(axes, [dim])[0]
        return build(shape, axes, lambda at: jnp.stack([_part(one, at) for one in forms], place))
    k = axes.index(dim)
    return build(shape, axes, lambda at: _part(forms[at[k]], (*at[:k], *at[k + 1 :])))


def slices(self: Any, eqn: Any, given: list[Any]) -> Any:
    x = given[0]
    axes = axes_of(x)
    if not axes or 0 in eqn.outvars[0].aval.shape:
        return None
    start, limit = eqn.params["start_indices"], eqn.params["limit_indices"]
    strides = eqn.params["strides"] or (1,) * len(start)
    out = empty(eqn.outvars[0].aval.shape, axes)
    kept = [dim for dim in range(len(start)) if dim not in axes]
    chosen = x.parts[tuple(slice(start[axis], limit[axis], strides[axis]) for axis in axes)]
    for at in indices(out):
        out.parts[at] = lax.slice(chosen[at], *([which[dim] for dim in kept] for which in (start, limit, strides)))
    return out


def pad(self: Any, eqn: Any, given: list[Any]) -> Any:
    x, value = given
    axes, config, shape = axes_of(x), eqn.params["padding_config"], eqn.outvars[0].aval.shape
    if not axes or any(config[axis][0] < 0 or config[axis][1] < 0 or config[axis][2] for axis in axes):
        return None
    inner = [one for axis, one in enumerate(config) if axis not in axes]
    rest = [n for axis, n in enumerate(shape) if axis not in axes]

    def make(at: tuple[int, ...]) -> Any:
        where = tuple(i - config[axis][0] for i, axis in zip(at, axes, strict=True))
        if all(0 <= i < x.shape[axis] for i, axis in zip(where, axes, strict=True)):
            return lax.pad(x.parts[where], value, inner)
        return jnp.full(rest, value)

    return build(shape, axes, make)


def along(self: Any, eqn: Any, given: list[Any]) -> Any:
    """Cumulative operations, sorts and reversals along a dim that is not apart; sums along one that is."""
    name = eqn.params.get("axis", eqn.params.get("dimension"))
    shape = eqn.outvars[0].aval.shape
    axes = self.axes(shape)
    if name in axes:
        if eqn.primitive.name != "cumsum" or eqn.params["reverse"]:
            return None
        k, out = axes.index(name), empty(shape, axes)
        x = form(given[0], axes)
        for at in indices(out):
            before = (*at[:k], at[k] - 1, *at[k + 1 :])
            out.parts[at] = x.parts[at] if at[k] == 0 else out.parts[before] + x.parts[at]
        return out
    key = "axis" if "axis" in eqn.params else "dimension"
    params = {**eqn.params, key: without(axes, [name])[0]}
    forms = [form(one, axes) for one in given]
    if not eqn.primitive.multiple_results:
        return build(shape, axes, lambda at: eqn.primitive.bind(_part(forms[0], at), **params))
    outs = [empty(shape, axes) for _ in forms]
    for at in indices(outs[0]):
        for out, found in zip(outs, eqn.primitive.bind(*(_part(one, at) for one in forms), **params), strict=True):
            out.parts[at] = found
    return outs


# ---- products


def _is_constant(value: Any, number: int) -> bool:
    return isinstance(value, (np.ndarray, np.generic)) and bool(np.all(value == number))


def _batch_first(value: Any, batch: tuple[int, ...]) -> Any:
    return value.transpose([*batch, *(dim for dim in range(value.ndim) if dim not in batch)])


def dot(self: Any, eqn: Any, given: list[Any]) -> Any:
    a, b = given
    ((ca, cb), (ba, bb)), shape = eqn.params["dimension_numbers"], eqn.outvars[0].aval.shape
    axes_a, axes_b = set(axes_of(a)), set(axes_of(b))
    for i, j in [*zip(ca, cb, strict=True), *zip(ba, bb, strict=True)]:
        if i in axes_a or j in axes_b:
            axes_a.add(i)
            axes_b.add(j)
    if not axes_a and not axes_b:
        return None
    free_a = [i for i in range(len(a.shape)) if i not in (*ca, *ba)]
    free_b = [j for j in range(len(b.shape)) if j not in (*cb, *bb)]
    out_of_a = dict(zip([*ba, *free_a], range(len(ba) + len(free_a)), strict=True))
    out_of_b = dict(zip(free_b, range(len(ba) + len(free_a), len(shape)), strict=True))
    summed = [(i, j) for i, j in zip(ca, cb, strict=True) if i in axes_a]
    wanted = self.axes(shape)
    if math.prod(shape[axis] for axis in wanted) * math.prod(a.shape[i] for i, _ in summed) <= MOST:
        axes_a |= {i for i, o in out_of_a.items() if o in wanted}
        axes_b |= {j for j, o in out_of_b.items() if o in wanted} | {j for i, j in zip(ba, bb, strict=True) if i in axes_a}
    axes = tuple(sorted([out_of_a[i] for i in axes_a if i in out_of_a] + [out_of_b[j] for j in axes_b if j in out_of_b]))
    n = math.prod(shape[axis] for axis in axes) * math.prod(a.shape[i] for i, _ in summed)
    if n > MOST:
        return None
    self.count(n)
    a, b = form(a, tuple(sorted(axes_a))), form(b, tuple(sorted(axes_b)))
    left_a, left_b = [i for i in ca if i not in axes_a], [j for j in cb if j not in axes_b]
    inner = (
        (tuple(without(axes_of(a), left_a)), tuple(without(axes_of(b), left_b))),
        (tuple(without(axes_of(a), [i for i in ba if i not in axes_a])), tuple(without(axes_of(b), [j for j in bb if j not in axes_b]))),
    )
    dtype = eqn.params["preferred_element_type"] or jnp.result_type(a.dtype, b.dtype)
    params = {**eqn.params, "dimension_numbers": inner, "out_sharding": None}
    n_batch, n_a, n_b = len(inner[1][0]), sum(i not in axes_a for i in free_a), sum(j not in axes_b for j in free_b)

    def product(x: Any, y: Any) -> Any:
        """None: a zero of a constant matrix."""
        if _is_constant(x, 0) or _is_constant(y, 0):
            return None
        if left_a:
            return eqn.primitive.bind(x, y, **params)
        x, y = (_batch_first(one, dims).astype(dtype) for one, dims in zip((x, y), inner[1], strict=True))
        x, y = x.reshape(*x.shape, *(1,) * n_b), y.reshape(*y.shape[:n_batch], *(1,) * n_a, *y.shape[n_batch:])
        return x if y.size == 1 and _is_constant(y, 1) else y if x.size == 1 and _is_constant(x, 1) else x * y

    def make(at: tuple[int, ...]) -> Any:
        where = dict(zip(axes, at, strict=True))
        terms = []
        for k in itertools.product(*(range(a.shape[i]) for i, _ in summed)):
            of_a = {i: v for (i, _), v in zip(summed, k, strict=True)} | {i: where[o] for i, o in out_of_a.items() if i in axes_a}
            of_b = {j: v for (_, j), v in zip(summed, k, strict=True)} | {j: where[o] for j, o in out_of_b.items() if j in axes_b}
            of_b |= {j: of_a[i] for i, j in zip(ba, bb, strict=True) if j in axes_b}
            term = product(_part(a, tuple(of_a[i] for i in axes_of(a))), _part(b, tuple(of_b[j] for j in axes_of(b))))
            terms += [] if term is None else [term]
        rest = [n for axis, n in enumerate(shape) if axis not in axes]
        return jnp.broadcast_to(functools.reduce(jnp.add, terms), rest) if terms else jnp.zeros(rest, dtype)

    return build(shape, axes, make)


def convolution(self: Any, eqn: Any, given: list[Any]) -> Any:
    """Few channels: a sum of shifted arrays times single weights."""
    x, w = given
    params, shape = eqn.params, eqn.outvars[0].aval.shape
    lhs, rhs, out = params["dimension_numbers"].lhs_spec, params["dimension_numbers"].rhs_spec, params["dimension_numbers"].out_spec
    dense = params["lhs_dilation"], params["rhs_dilation"]
    if any(n != 1 for which in dense for n in which) or params["feature_group_count"] != 1 or params["batch_group_count"] != 1:
        return None
    if axes_of(x) != (lhs[1],) or isinstance(w, Parts):
        return None
    channels, results = x.shape[lhs[1]], shape[out[1]]
    kernel = [w.shape[dim] for dim in rhs[2:]]
    n = math.prod(kernel) * channels * results
    if n > MOST:
        return None
    self.count(n)
    spatial = without((lhs[1],), lhs[2:])
    config = [(0, 0, 0)] * (len(lhs) - 1)
    for dim, (low, high) in zip(spatial, params["padding"], strict=True):
        config[dim] = (low, high, 0)
    padded = [lax.pad(part, jnp.zeros((), part.dtype), config) for part in x.parts]
    dtype = params["preferred_element_type"] or x.dtype
    strides, extents = params["window_strides"], [shape[dim] for dim in out[2:]]
    weights = lax.transpose(w, rhs)  # results, channels, kernel
    parts = np.empty(results, object)
    (batch,) = without((lhs[1],), lhs[:1])
    for o in range(results):
        terms = []
        for c in range(channels):
            for at in itertools.product(*map(range, kernel)):
                start, limit, stride = [0] * padded[c].ndim, list(padded[c].shape), [1] * padded[c].ndim
                for k, dim in enumerate(spatial):
                    start[dim], stride[dim] = at[k], strides[k]
                    limit[dim] = at[k] + (extents[k] - 1) * strides[k] + 1
                terms.append(lax.slice(padded[c], start, limit, stride).astype(dtype) * weights[(o, c, *at)].astype(dtype))
        parts[o] = functools.reduce(lax.add, terms)
    order = [batch, *spatial]  # where a part has the batch and the spatial dims
    places = without((out[1],), [out[0], *out[2:]])
    for o in range(results):
        parts[o] = lax.transpose(parts[o], [order[places.index(i)] for i in range(len(order))])
    return Parts(tuple(shape), (out[1],), parts)


# ---- rows


def gather(self: Any, eqn: Any, given: list[Any]) -> Any:
    x, ids = given
    numbers, sizes, shape = eqn.params["dimension_numbers"], eqn.params["slice_sizes"], eqn.outvars[0].aval.shape
    if numbers.operand_batching_dims:
        return _solvers.pick(self, eqn, given)
    kept = [dim for dim in range(len(sizes)) if dim not in numbers.collapsed_slice_dims]
    of_operand = dict(zip(sorted(numbers.offset_dims), kept, strict=True))
    batch = [dim for dim in range(len(shape)) if dim not in numbers.offset_dims]
    wanted = self.axes(shape)
    axes = tuple(
        axis for axis in wanted
        if axis in batch or (sizes[of_operand[axis]] == x.shape[of_operand[axis]] and of_operand[axis] not in numbers.start_index_map)
    )  # fmt: skip
    if not axes:
        return None
    x_axes = tuple(sorted(of_operand[axis] for axis in axes if axis in of_operand))
    id_axes = tuple(batch.index(axis) for axis in axes if axis in batch)
    x, ids = form(x, x_axes), form(ids, id_axes)
    inner = lax.GatherDimensionNumbers(
        offset_dims=tuple(without(axes, sorted(numbers.offset_dims))),
        collapsed_slice_dims=tuple(without(x_axes, numbers.collapsed_slice_dims)),
        start_index_map=tuple(without(x_axes, numbers.start_index_map)),
    )
    params = {**eqn.params, "dimension_numbers": inner, "slice_sizes": tuple(n for dim, n in enumerate(sizes) if dim not in x_axes)}

    def make(at: tuple[int, ...]) -> Any:
        where = dict(zip(axes, at, strict=True))
        of_x = {of_operand[axis]: i for axis, i in where.items() if axis in of_operand}
        one = _part(x, tuple(of_x[axis] for axis in x_axes))
        return eqn.primitive.bind(one, _part(ids, tuple(where[batch[j]] for j in id_axes)), **params)

    return build(shape, axes, make)


def scatter(self: Any, eqn: Any, given: list[Any]) -> Any:
    x, ids, updates = given
    numbers, shape = eqn.params["dimension_numbers"], eqn.outvars[0].aval.shape
    if numbers.operand_batching_dims:
        return None
    kept = [dim for dim in range(len(shape)) if dim not in numbers.inserted_window_dims]
    of_update = dict(zip(kept, sorted(numbers.update_window_dims), strict=True))
    axes = tuple(
        axis for axis in self.axes(shape)
        if axis in of_update and axis not in numbers.scatter_dims_to_operand_dims and updates.shape[of_update[axis]] == shape[axis]
    )  # fmt: skip
    if not axes:
        return None
    update_axes = tuple(sorted(of_update[axis] for axis in axes))
    x, updates, ids = form(x, axes), form(updates, update_axes), array(ids)
    inner = lax.ScatterDimensionNumbers(
        update_window_dims=tuple(without(update_axes, sorted(numbers.update_window_dims))),
        inserted_window_dims=tuple(without(axes, numbers.inserted_window_dims)),
        scatter_dims_to_operand_dims=tuple(without(axes, numbers.scatter_dims_to_operand_dims)),
    )
    params = {**eqn.params, "dimension_numbers": inner}

    def make(at: tuple[int, ...]) -> Any:
        where = {of_update[axis]: i for axis, i in zip(axes, at, strict=True)}
        return eqn.primitive.bind(x.parts[at], ids, updates.parts[tuple(where[axis] for axis in update_axes)], **params)

    return build(shape, axes, make)


def dynamic_slice(self: Any, eqn: Any, given: list[Any]) -> Any:
    x, starts = given[0], given[1:]
    sizes, shape = eqn.params["slice_sizes"], eqn.outvars[0].aval.shape
    axes = tuple(axis for axis in axes_of(x) if sizes[axis] == x.shape[axis])
    if not axes:
        return None
    x = form(x, axes)
    left = [dim for dim in range(len(shape)) if dim not in axes]
    return build(shape, axes, lambda at: lax.dynamic_slice(x.parts[at], [starts[dim] for dim in left], [sizes[dim] for dim in left]))


def dynamic_update(self: Any, eqn: Any, given: list[Any]) -> Any:
    x, y, starts = given[0], given[1], given[2:]
    axes = tuple(axis for axis in axes_of(x) if y.shape[axis] == x.shape[axis])
    if not axes:
        return None
    x, y = form(x, axes), form(y, axes)
    left = [dim for dim in range(len(x.shape)) if dim not in axes]
    return build(x.shape, axes, lambda at: lax.dynamic_update_slice(x.parts[at], y.parts[at], [starts[dim] for dim in left]))


ELEMENTWISE = (
    "add sub mul div rem neg sign floor ceil round max min pow integer_pow exp exp2 log log1p expm1 tanh sin cos tan asin acos atan sinh "
    "cosh asinh acosh atanh logistic sqrt rsqrt cbrt abs square erf erfc erf_inv lgamma digamma and or xor not eq ne lt le gt ge select_n "
    "convert_element_type is_finite clamp atan2 nextafter stop_gradient shift_left shift_right_logical shift_right_arithmetic add_any "
    "real imag complex conj reduce_precision population_count clz copy"
).split()

RULES: dict[str, Any] = {
    **_solvers.RULES,
    **dict.fromkeys(ELEMENTWISE, elementwise), **dict.fromkeys(FOLDS, reduce), "broadcast_in_dim": broadcast, "iota": iota,
    "transpose": transpose, "reshape": reshape, "squeeze": reshape, "expand_dims": reshape, "argmax": arg_reduce, "argmin": arg_reduce,
    "concatenate": concatenate, "stack": stack, "slice": slices, "pad": pad, "cumsum": along, "cumprod": along, "cummax": along, "cummin": along,
    "cumlogsumexp": along, "sort": along, "dot_general": dot, "conv_general_dilated": convolution, "gather": gather,
    "scatter": scatter, "scatter-add": scatter, "scatter_add": scatter, "scatter-mul": scatter, "scatter-min": scatter,
    "scatter-max": scatter, "dynamic_slice": dynamic_slice, "dynamic_update_slice": dynamic_update,
}  # fmt: skip
