# SPDX-License-Identifier: Apache-2.0
"""The catalogue of rewrites: decorators that do to a function what a person would write by hand.

    @components(limit=4)
    def step(p, ids): ...           # p[ids] of [n, 3] becomes three gathers of [n]

Each is traced from the function itself, so it works under jit, grad and vmap, and computes the same up to rounding.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
from jax import lax

from . import _one_hot, _patches
from ._interpret import Interpreter, evaluate
from ._parts import Form

F = TypeVar("F", bound=Callable[..., Any])
LANES = 128
LONG = 1024
"""Matrices of a batch from which products are written as sums."""


def _decorated(function: Callable[..., Any], make: Callable[[], Interpreter]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapped(*arguments: Any) -> Any:
        flat, tree = jax.tree.flatten(arguments)
        closed, shape = jax.make_jaxpr(lambda *leaves: function(*jax.tree.unflatten(tree, leaves)), return_shape=True)(*flat)
        return jax.tree.unflatten(jax.tree.structure(shape), evaluate(make(), closed, flat))

    return wrapped


# ---- dims apart


def components(limit: int = 4, parts: int = 128) -> Callable[[F], F]:
    """One array for each index of the dims up to `limit`, in every value of the function: [n, 3] is three arrays [n], and a product of
    small matrices a sum of products."""
    return lambda function: _decorated(function, lambda: Interpreter(Form(limit, 512, parts)))  # type: ignore[return-value]


# ---- products of small matrices


class Stacked(NamedTuple):
    pieces: list[Any]
    axis: int


def stacked(self: Interpreter, eqn: Any, given: list[Any]) -> Any:
    return self.know(self.plain(eqn, given), Stacked(given, eqn.params["axis"]))


def _rows(self: Interpreter, x: Any, contracted: Sequence[int], free: Sequence[int], batch: Sequence[int]) -> Any:
    """Which for k is the row k of the contracted dims: [free, batch], or [batch] of one. Pieces of a stack are not put together first."""
    sizes = [math.prod(x.shape[dim] for dim in dims) for dims in (free, batch)]
    shape = sizes if sizes[0] > 1 else sizes[1:]
    fact = self.known(x)
    if isinstance(fact, Stacked) and tuple(contracted) == (fact.axis,):
        order = [dim - (dim > fact.axis) for dim in (*free, *batch)]
        return lambda k: lax.transpose(fact.pieces[k], order).reshape(shape)
    moved = lax.transpose(x, [*contracted, *free, *batch]).reshape(-1, *shape)
    return lambda k: moved[k]


def last_products(self: Interpreter, eqn: Any, given: list[Any]) -> Any:
    """[b,i,k] x [b,j,k] with a long b: sums over k of products whose last dim is b."""
    a, b = given
    ((ca, cb), (ba, bb)) = eqn.params["dimension_numbers"]
    free_a = [i for i in range(a.ndim) if i not in (*ca, *ba)]
    free_b = [j for j in range(b.ndim) if j not in (*cb, *bb)]
    batch = math.prod(a.shape[i] for i in ba)
    small = [math.prod(x.shape[i] for i in dims) for x, dims in ((a, ca), (a, free_a), (b, free_b))]
    if not ba or batch < LONG or max(small) > 64 or small[0] > 32:
        return None
    left, right = _rows(self, a, ca, free_a, ba), _rows(self, b, cb, free_b, bb)
    dtype = eqn.params["preferred_element_type"] or jnp.result_type(a, b)
    both = small[1] > 1 and small[2] > 1
    total = sum((left(k)[:, None] if both else left(k)).astype(dtype) * right(k).astype(dtype) for k in range(small[0]))
    shape = eqn.outvars[0].aval.shape
    rest = shape[len(ba) :]
    moved = jnp.asarray(total).reshape(*rest, *shape[: len(ba)])
    return jnp.moveaxis(moved, range(len(rest)), range(len(ba), len(shape)))


def products_last(function: F) -> F:
    """Batched products of small matrices as sums of products with the batch in the last dim."""
    return _decorated(function, lambda: Interpreter(special={"dot_general": last_products, "stack": stacked}))  # type: ignore[return-value]


# ---- one-hot arrays


def one_hot_as_take(function: F) -> F:
    """Products with a one-hot array as rows taken from the other operand, or added up by their ids."""
    return _decorated(function, lambda: Interpreter(special=_one_hot.RULES))  # type: ignore[return-value]


# ---- patches


def patches_as_convolution(function: F) -> F:
    """Patches cut by reshape and transpose and multiplied with weights, as a convolution whose step is a patch."""
    return _decorated(function, lambda: Interpreter(special=_patches.RULES))  # type: ignore[return-value]


# ---- rows side by side


class Packed(NamedTuple):
    array: Any
    width: int
    shape: tuple[int, ...]


def row_width(n: int) -> int:
    """Lanes for a row of n numbers: a power of two."""
    return 1 << max(0, (n - 1).bit_length())


def pack_rows(table: Any) -> Any:
    """A table [rows, n] as [.., 128], 128 / n rows side by side: [131072, 64] is [65536, 128]. Dims before the last two stay."""
    width = row_width(table.shape[-1])
    rows = -table.shape[-2] % (LANES // width)
    outer = table.shape[:-2]
    return jnp.pad(table, (*((0, 0) for _ in outer), (0, rows), (0, width - table.shape[-1]))).reshape(*outer, -1, LANES)


def packed_slice(self: Interpreter, eqn: Any, given: list[Any]) -> Any:
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


def packed_squeeze(self: Interpreter, eqn: Any, given: list[Any]) -> Any:
    fact, shape = self.known(given[0]), eqn.outvars[0].aval.shape
    if not isinstance(fact, Packed) or shape[-2:] != tuple(fact.shape[-2:]):
        return None
    return self.know(self.plain(eqn, given), Packed(fact.array.reshape(*shape[:-2], *fact.array.shape[-2:]), fact.width, shape))


def packed_gather(self: Interpreter, eqn: Any, given: list[Any]) -> Any:
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


PACKED = {"gather": packed_gather, "slice": packed_slice, "squeeze": packed_squeeze, "reshape": packed_squeeze}


def packed_rows(table: int, shape: tuple[int, ...]) -> Callable[[F], F]:
    """The argument number `table`, [.., rows, n], comes as pack_rows makes it; rows are taken from there."""

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def wrapped(*arguments: Any) -> Any:
            packed, width = arguments[table], row_width(shape[-1])
            unpacked = packed.reshape(*shape[:-2], -1, width)[..., : shape[-2], : shape[-1]]
            given = (*arguments[:table], unpacked, *arguments[table + 1 :])
            closed, result = jax.make_jaxpr(function, return_shape=True)(*given)
            interpreter = Interpreter(special=PACKED)
            interpreter.know(unpacked, Packed(packed, width, shape))
            found = evaluate(interpreter, closed, jax.tree.leaves(given))
            wrapped.changed = interpreter.changed  # type: ignore[attr-defined]
            return jax.tree.unflatten(jax.tree.structure(result), found)

        return wrapped  # type: ignore[return-value]

    return decorate


# ---- one layout for one value


def constrained(orders: Mapping[int, Sequence[int]]) -> Callable[[F], F]:
    """The results of equations, by their number in the order of the trace, in given orders of their dims, most major first."""

    def make() -> Interpreter:
        from jax.experimental.layout import Layout, with_layout_constraint

        counter = iter(range(1 << 30))

        def after(eqn: Any, results: list[Any]) -> list[Any]:
            order = orders.get(next(counter))
            if order is None:
                return results
            return [with_layout_constraint(results[0], Layout(major_to_minor=tuple(order))), *results[1:]]

        return Interpreter(after=after)

    return lambda function: _decorated(function, make)  # type: ignore[return-value]
