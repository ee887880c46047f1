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

from . import _channels, _merged, _one_hot, _packed, _patches
from ._interpret import Interpreter, evaluate
from ._packed import pack_rows, row_width, unpack_rows
from ._parts import Form

F = TypeVar("F", bound=Callable[..., Any])
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


def components(limit: int = 4, parts: int = 128, most: float = math.inf) -> Callable[[F], F]:
    """One array for each index of the dims up to `limit`, in every value of the function: [n, 3] is three arrays [n], and a product of
    small matrices a sum of products. UnsupportedError if that makes more than `most` operations."""
    return lambda function: _decorated(function, lambda: Interpreter(Form(limit, 512, parts), most=most))  # type: ignore[return-value]


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


def packed_rows(table: int, shape: tuple[int, ...]) -> Callable[[F], F]:
    """The array number `table` of the arguments, [.., rows, n], comes as pack_rows makes it; rows are taken from there and added there.
    Results that are the table with other rows are packed, too."""

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def wrapped(*arguments: Any) -> Any:
            leaves, tree = jax.tree.flatten(arguments)
            packed, leaves[table] = leaves[table], _packed.unpack_rows(leaves[table], shape)
            closed, result = jax.make_jaxpr(lambda *flat: function(*jax.tree.unflatten(tree, flat)), return_shape=True)(*leaves)
            interpreter = Interpreter(special=_packed.rules(tuple(shape)))
            interpreter.know(leaves[table], _packed.Packed(packed, row_width(shape[-1]), tuple(shape)))
            found = interpreter.closed(closed, leaves)
            facts = [interpreter.known(one) for one in found]
            results = [fact.array if isinstance(fact, _packed.Packed) else one for fact, one in zip(facts, found, strict=True)]
            wrapped.packed = [i for i, fact in enumerate(facts) if isinstance(fact, _packed.Packed)]  # type: ignore[attr-defined]
            return jax.tree.unflatten(jax.tree.structure(result), results)

        return wrapped  # type: ignore[return-value]

    return decorate


# ---- tables below each other


def merged_tables(function: F) -> F:
    """Rows of one of several tables [t, rows, n], as rows of all of them, [t * rows, n]."""
    return _decorated(function, lambda: Interpreter(special=_merged.RULES))  # type: ignore[return-value]


# ---- few channels


def pixels_as_channels(pixels: int = 16) -> Callable[[F], F]:
    """Convolutions of few channels with up to `pixels` pixels of a line as channels: [8, 512, 512, 2] is [8, 512, 32, 32]."""
    rules = {"conv_general_dilated": functools.partial(_channels.convolution, pixels=pixels)}
    return lambda function: _decorated(function, lambda: Interpreter(special=rules))  # type: ignore[return-value]


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
