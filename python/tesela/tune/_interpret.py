# SPDX-License-Identifier: Apache-2.0
"""A function traced again with its values in another form, or some of its operations done in another way.

Every equation of the jaxpr goes to a rule: of `special` by a rewrite, else of RULES, else the operation itself on whole arrays. So the
result is right whatever a rule does not know. Bodies of loops and branches are traced again too, with carries in the form of their dims.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax import lax
from jax.extend import core, source_info_util

from .._errors import UnsupportedError
from ._parts import Form, Parts, array, axes_of, back, empty, first, form, indices
from ._rules import RULES

CONSTANTS = 1024
"""Elements of a constant that is worked out while tracing."""

Rule = Callable[["Interpreter", Any, list[Any]], Any]


class Interpreter:
    """`forms`: which values are apart. `special`: rules by the name of a primitive, asked first; None: not this one.
    `after`: called with each equation and its results, may replace them. `most`: operations on parts that may be made."""

    def __init__(
        self, forms: Form | None = None, special: Mapping[str, Rule] | None = None, after: Callable[[Any, list[Any]], list[Any]] | None = None,
        most: float = math.inf,
    ) -> None:  # fmt: skip
        self.forms, self.special, self.after, self.most = forms or Form(), special or {}, after, most
        self.changed = 0
        """How many operations a special rule did."""
        self.made = 0
        """Operations on parts, about."""
        self.facts: dict[int, Any] = {}
        """What a rewrite knows about a value, by its identity."""
        self._alive: list[Any] = []

    def axes(self, shape: Sequence[int]) -> tuple[int, ...]:
        return self.forms.axes(tuple(shape))

    def know(self, value: Any, fact: Any) -> Any:
        self._alive.append(value)  # so that its identity stays its own
        self.facts[id(value)] = fact
        return value

    def known(self, value: Any) -> Any:
        return self.facts.get(id(value))

    # ---- jaxprs

    def closed(self, jaxpr: Any, arguments: Sequence[Any]) -> list[Any]:
        return self.jaxpr(jaxpr.jaxpr, jaxpr.consts, arguments)

    def jaxpr(self, jaxpr: Any, consts: Sequence[Any], arguments: Sequence[Any]) -> list[Any]:
        values: dict[Any, Any] = dict(zip(jaxpr.constvars, map(small_constant, consts), strict=True))
        values.update(zip(jaxpr.invars, arguments, strict=True))
        for eqn in jaxpr.eqns:
            given = [atom.val if isinstance(atom, core.Literal) else values[atom] for atom in eqn.invars]
            stack = source_info_util.current_name_stack() + eqn.source_info.name_stack
            with source_info_util.user_context(eqn.source_info.traceback, name_stack=stack):
                results = self.equation(eqn, given)
                if self.after:
                    results = self.after(eqn, results)
            values.update(zip(eqn.outvars, results, strict=True))
        return [atom.val if isinstance(atom, core.Literal) else values[atom] for atom in jaxpr.outvars]

    def equation(self, eqn: Any, given: list[Any]) -> list[Any]:
        name = eqn.primitive.name
        if name in self.special:
            found = self.special[name](self, eqn, given)
            if found is not None:
                self.changed += 1
                return self._results(eqn, found)
        if name in BODIES:
            return BODIES[name](self, eqn, given)
        if self.forms.limit and constant(eqn, given):
            return self._results(eqn, self.folded(eqn, given))
        if name in RULES and (any(map(axes_of, given)) or any(self.axes(var.aval.shape) for var in eqn.outvars)):
            found = RULES[name](self, eqn, given)
            if found is not None:
                results = self._results(eqn, found)
                self.count(max((one.parts.size for one in (*given, *results) if isinstance(one, Parts)), default=0))
                return results
        return self._results(eqn, self.plain(eqn, list(map(array, given))))

    def count(self, n: int) -> None:
        """n operations on parts are made of one."""
        self.made += n
        if self.made > self.most:
            raise UnsupportedError(f"it makes more than {self.most:,} operations on parts")

    def plain(self, eqn: Any, given: list[Any]) -> Any:
        """The operation itself."""
        return eqn.primitive.bind(*given, **eqn.primitive.get_bind_params(eqn.params))

    def folded(self, eqn: Any, given: list[Any]) -> Any:
        """The operation done now: rules see the zeros and ones of small matrices."""
        with jax.ensure_compile_time_eval():
            found = self.plain(eqn, [array(one) for one in given])
            return [np.asarray(one) for one in found] if eqn.primitive.multiple_results else np.asarray(found)

    def _results(self, eqn: Any, found: Any) -> list[Any]:
        results = list(found) if eqn.primitive.multiple_results else [found]
        return [self.normal(one) for one in results]

    def normal(self, value: Any) -> Any:
        """In the form of its dims."""
        return form(value, self.axes(value.shape)) if getattr(value, "ndim", len(getattr(value, "shape", ()))) else value

    # ---- flat lists of arrays, for loops

    def apart(self, values: Sequence[Any], skip: int = 0) -> list[list[Any]]:
        """Each value as a list of arrays; `skip`: dims in front that stay, such as a scan's own."""
        found = []
        for value in values:
            axes = tuple(axis + skip for axis in self.axes(value.shape[skip:])) if hasattr(value, "shape") else ()
            value = form(value, axes)
            found.append(list(value.parts.flat) if isinstance(value, Parts) else [value])
        return found

    def together(self, lists: Sequence[Sequence[Any]], avals: Sequence[Any], skip: int = 0) -> list[Any]:
        """The values again, of shapes `avals`."""
        found: list[Any] = []
        for parts, aval in zip(lists, avals, strict=True):
            axes = tuple(axis + skip for axis in self.axes(aval.shape[skip:]))
            if not axes:
                found.append(parts[0])
                continue
            value = empty(aval.shape, axes)
            for at, part in zip(indices(value), parts, strict=True):
                value.parts[at] = part
            found.append(value)
        return found


def small_constant(value: Any) -> Any:
    """A constant's numbers, if they are few."""
    few = isinstance(value, jax.Array) and not isinstance(value, jax.core.Tracer) and value.size <= CONSTANTS
    return np.asarray(value) if few and not jax.dtypes.issubdtype(value.dtype, jax.dtypes.extended) else value


def constant(eqn: Any, given: Sequence[Any]) -> bool:
    """Does an operation have small constants alone?"""
    sizes = [getattr(var.aval, "size", CONSTANTS + 1) for var in (*eqn.invars, *eqn.outvars)]
    known = all(isinstance(one, (np.ndarray, np.generic, int, float, complex, bool)) for one in given)
    return known and max(sizes) <= CONSTANTS and not eqn.effects


def evaluate(interpreter: Interpreter, jaxpr: Any, arguments: Sequence[Any]) -> list[Any]:
    """The results of a closed jaxpr for arrays, as arrays."""
    return list(map(array, interpreter.closed(jaxpr, [interpreter.normal(one) for one in arguments])))


# ---- operations with bodies


def _call(self: Interpreter, eqn: Any, given: list[Any]) -> list[Any]:
    jaxpr = eqn.params.get("jaxpr") or eqn.params.get("call_jaxpr")
    inner = jaxpr if hasattr(jaxpr, "consts") else core.ClosedJaxpr(jaxpr, ())
    return self.closed(inner, given)


def _remat(self: Interpreter, eqn: Any, given: list[Any]) -> list[Any]:
    """What is computed again stays what is computed again."""
    jaxpr, lists = eqn.params["jaxpr"], self.apart(given)

    def body(lists: Any) -> Any:
        return self.apart(self.jaxpr(jaxpr, (), self.together(lists, [var.aval for var in jaxpr.invars])))

    flat, tree = jax.tree.flatten(lists)
    closed, shape = jax.make_jaxpr(lambda *leaves: body(jax.tree.unflatten(tree, leaves)), return_shape=True)(*flat)
    one = closed.jaxpr
    info = one.debug_info.with_unknown_names()
    inner = core.Jaxpr((), [*one.constvars, *one.invars], one.outvars, one.eqns, one.effects, debug_info=info)
    found = eqn.primitive.bind(*closed.consts, *flat, **{**eqn.params, "jaxpr": inner})
    return self.together(jax.tree.unflatten(jax.tree.structure(shape), found), [var.aval for var in jaxpr.outvars])


def _scan(self: Interpreter, eqn: Any, given: list[Any]) -> list[Any]:
    params = eqn.params
    jaxpr, n_consts, n_carry = params["jaxpr"], params["num_consts"], params["num_carry"]
    avals, results = jaxpr.in_avals, jaxpr.out_avals
    consts = given[:n_consts]
    of_results = [self.axes(aval.shape) for aval in results[n_carry:]]
    carry, rows = self.apart(given[n_consts : n_consts + n_carry]), self.apart(given[n_consts + n_carry :], 1)

    def body(carry: Any, rows: Any) -> Any:
        found = self.closed(jaxpr, [*consts, *self.together([*carry, *rows], avals[n_consts:])])
        return self.apart(found[:n_carry]), [first(one, mine) for one, mine in zip(found[n_carry:], of_results, strict=True)]

    last, stacked = lax.scan(body, carry, rows, length=params["length"], reverse=params["reverse"], unroll=params["unroll"])
    return [*self.together(last, results[:n_carry]), *(back(one, mine, 1) for one, mine in zip(stacked, of_results, strict=True))]


def _while(self: Interpreter, eqn: Any, given: list[Any]) -> list[Any]:
    params = eqn.params
    n_cond, n_body = params["cond_nconsts"], params["body_nconsts"]
    of_cond, of_body, carry = given[:n_cond], given[n_cond : n_cond + n_body], given[n_cond + n_body :]
    avals = [var.aval for var in eqn.outvars]

    def condition(lists: Any) -> Any:
        return array(self.closed(params["cond_jaxpr"], [*of_cond, *self.together(lists, avals)])[0])

    def body(lists: Any) -> Any:
        return self.apart(self.closed(params["body_jaxpr"], [*of_body, *self.together(lists, avals)]))

    return self.together(lax.while_loop(condition, body, self.apart(carry)), avals)


def _branches(self: Interpreter, eqn: Any, given: list[Any]) -> list[Any]:
    avals, results = [var.aval for var in eqn.invars[1:]], [var.aval for var in eqn.outvars]

    def branch(jaxpr: Any) -> Any:
        return lambda lists: self.apart(self.closed(jaxpr, self.together(lists, avals)))

    found = lax.switch(array(given[0]), [branch(one) for one in eqn.params["branches"]], self.apart(given[1:]))
    return self.together(found, results)


def _linear_solve(self: Interpreter, eqn: Any, given: list[Any]) -> list[Any]:
    """The solution itself; a derivative goes through it."""
    if not self.forms.limit:
        return self._results(eqn, self.plain(eqn, list(map(array, given))))
    lengths = eqn.params["const_lengths"]
    first_of, total = lengths.matvec + lengths.vecmat, sum(lengths)
    return self.closed(eqn.params["jaxprs"].solve, [*given[first_of : first_of + lengths.solve], *given[total:]])


BODIES: dict[str, Callable[[Interpreter, Any, list[Any]], list[Any]]] = {
    "jit": _call, "pjit": _call, "closed_call": _call, "core_call": _call, "custom_jvp_call": _call, "custom_vjp_call": _call,
    "custom_vjp_call_jaxpr": _call, "remat2": _remat, "checkpoint": _remat, "scan": _scan, "while": _while, "cond": _branches,
    "custom_linear_solve": _linear_solve,
}  # fmt: skip
