# SPDX-License-Identifier: Apache-2.0
"""The function to be tuned, flat: its leaves, what is donated, its equations, and values to try it on."""

from __future__ import annotations

import inspect
import itertools
import os
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import core, source_info_util

from ._interpret import BODIES, Interpreter, evaluate

INDEXED = ("gather", "scatter", "scatter-add", "scatter_add", "dynamic_slice", "dynamic_update_slice")


class Equation(NamedTuple):
    number: int
    """In the order of the trace, as `constrained` counts."""
    name: str
    shape: tuple[int, ...]
    bytes: int
    source: str | None


def source_of(eqn: Any) -> str | None:
    """ "step.py:12" of an equation, the innermost line of the user's."""
    found = re.match(r"(.+?:\d+)(:\d+)? ", source_info_util.summarize(eqn.source_info))
    return found[1] if found else None


def subjaxprs(eqn: Any) -> list[Any]:
    return list(core.jaxprs_in_params(eqn.params))


class Subject:
    """`function(*arguments)` with arrays or ShapeDtypeStructs in any trees."""

    def __init__(self, function: Callable[..., Any], arguments: Sequence[Any], donate: Sequence[int] = ()) -> None:
        self.function, self.arguments = function, tuple(arguments)
        self.leaves, self.tree = jax.tree.flatten(self.arguments)
        self.specs = [jax.ShapeDtypeStruct(jnp.shape(leaf), leaf.dtype) for leaf in self.leaves]
        traced = jax.make_jaxpr(self.flat_of(function))(*self.specs)
        self.closed = traced
        if any(not 0 <= i < len(self.leaves) for i in donate):
            raise ValueError(f"donate is {list(donate)}; expected numbers of the {len(self.leaves)} arrays, from 0")
        self.donate = tuple(donate) or self._donated()
        paths = jax.tree_util.tree_flatten_with_path(self.arguments)[0]
        names = self._parameters()
        self.names = [names[path[0].idx] + jax.tree_util.keystr(path[1:]) for path, _ in paths]

    def flat_of(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function of leaves, whose results are leaves."""
        return lambda *leaves: tuple(jax.tree.leaves(function(*jax.tree.unflatten(self.tree, leaves))))

    @property
    def base(self) -> Callable[..., Any]:
        return lambda *leaves: tuple(evaluate(Interpreter(), self.closed, leaves))

    def _donated(self) -> tuple[int, ...]:
        if not hasattr(self.function, "lower"):
            return ()
        told = jax.tree.leaves(self.function.lower(*self.arguments).args_info, is_leaf=lambda one: hasattr(one, "donated"))
        return tuple(i for i, one in enumerate(told) if one.donated)

    def _parameters(self) -> list[str]:
        try:
            names = [one.name for one in inspect.signature(self.function).parameters.values() if one.kind is not one.VAR_POSITIONAL]
        except (TypeError, ValueError):
            names = []
        return names + [f"argument{i}" for i in range(len(names), len(self.arguments))]

    @property
    def source(self) -> tuple[str, int] | None:
        """The file of the function and the number of its `def` line, from 1."""
        plain = inspect.unwrap(self.function)
        try:
            lines, first = inspect.getsourcelines(plain)
            file = inspect.getsourcefile(plain) or ""
        except (OSError, TypeError):
            return None
        at = next((i for i, line in enumerate(lines) if line.lstrip().startswith("def ")), None)
        return None if at is None else (os.path.relpath(file), first + at)

    # ---- equations

    def equations(self) -> list[Equation]:
        """All that `constrained` counts, in its order."""
        found: list[Equation] = []
        counter = itertools.count()

        def after(eqn: Any, results: list[Any]) -> list[Any]:
            number, aval = next(counter), eqn.outvars[0].aval
            if eqn.primitive.name not in BODIES and getattr(aval, "ndim", 0) >= 2:
                found.append(Equation(number, eqn.primitive.name, aval.shape, aval.size * aval.dtype.itemsize, source_of(eqn)))
            return results

        jax.make_jaxpr(lambda *leaves: tuple(evaluate(Interpreter(after=after), self.closed, leaves)))(*self.specs)
        return found

    def has_short_rows(self, lanes: int) -> bool:
        """Is an array of 64 KiB or more indexed by numbers, or does its last dim, as it is written, fill less than 95 % of its lanes?"""
        arrays = [(spec.shape, spec.size * spec.dtype.itemsize, "argument") for spec in self.specs]
        arrays += [(one.shape, one.bytes, one.name) for one in self.equations()]
        for shape, n_bytes, name in arrays:
            n = shape[-1] if len(shape) > 1 else lanes
            if n_bytes >= 65536 and (name.startswith(("gather", "scatter")) or (n > 1 and n < 0.95 * lanes * -(-n // lanes))):
                return True
        return False

    # ---- values

    def values(self, seed: int = 1) -> list[Any]:
        """The arguments themselves if they are arrays, else random ones; integers are indices of the shortest dim that is indexed."""
        random, below = np.random.default_rng(seed), self._indexed()
        found = []
        for leaf in self.leaves:
            if not isinstance(leaf, jax.ShapeDtypeStruct):
                found.append(jnp.asarray(leaf))
            elif jnp.issubdtype(leaf.dtype, jnp.integer):
                found.append(jnp.asarray(random.integers(0, min(below, int(jnp.iinfo(leaf.dtype).max)), leaf.shape), leaf.dtype))
            elif leaf.dtype == jnp.bool_:
                found.append(jnp.asarray(random.integers(0, 2, leaf.shape), leaf.dtype))
            else:
                found.append(jnp.asarray(random.standard_normal(leaf.shape, np.float32), leaf.dtype))
        return found

    def _indexed(self) -> int:
        found: list[int] = []

        def visit(jaxpr: Any) -> None:
            for eqn in jaxpr.eqns:
                if eqn.primitive.name in INDEXED:
                    numbers = eqn.params.get("dimension_numbers")
                    shape = eqn.invars[0].aval.shape
                    dims = getattr(numbers, "start_index_map", None) or getattr(numbers, "scatter_dims_to_operand_dims", None)
                    found.extend(shape[dim] for dim in (dims or range(len(shape))) if shape[dim] > 1)
                for inner in subjaxprs(eqn):
                    visit(getattr(inner, "jaxpr", inner))

        visit(self.closed.jaxpr)
        return min(found, default=8)


def difference(a: Sequence[Any], b: Sequence[Any]) -> float:
    """The largest difference, as a share of the largest finite value; infinite for other shapes, other NaNs or other infinities."""
    worst = 0.0
    for x, y in zip(a, b, strict=True):
        x, y = np.asarray(x), np.asarray(y)
        x, y = x.astype(np.complex128 if np.iscomplexobj(x) else np.float64), y.astype(np.complex128 if np.iscomplexobj(y) else np.float64)
        if x.shape != y.shape:
            return float("inf")
        finite = np.isfinite(x)
        if not np.array_equal(finite, np.isfinite(y)) or not np.array_equal(x[~finite], y[~finite], equal_nan=True):
            return float("inf")
        x, y = x[finite], y[finite]
        if x.size:
            worst = max(worst, float(np.abs(x - y).max() / max(float(np.abs(x).max()), 1e-30)))
    return worst


TOLERANCE = {"float32": 1e-3, "float64": 1e-6, "bfloat16": 3e-2, "float16": 1e-2}


def tolerance(results: Sequence[Any]) -> float:
    return max((TOLERANCE.get(str(one.dtype), 1e-1 if jnp.issubdtype(one.dtype, jnp.floating) else 0.0) for one in results), default=0.0)
