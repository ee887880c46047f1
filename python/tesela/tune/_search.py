# SPDX-License-Identifier: Apache-2.0
"""What is tried, in which order, and what of it is a finding.

First the program as it is and with the layouts that the compiler chooses itself (AUTO), then each rewrite that changes the program and
computes the same on the CPU, then layouts: of intermediates, one after another on top of the best so far, then of arguments and results.
Every try is one compile. A finding saves 5 % of HBM or of the estimate, and loses at most 5 % of the other, against the program as it is
and against AUTO.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.extend import core
from jax.interpreters import partial_eval

from .._errors import UnsupportedError
from . import _packed
from ._compile import Compiler, Measured
from ._packed import pack_rows, row_width
from ._rewrites import (
    components, constrained, merged_tables, one_hot_as_take, packed_rows, patches_as_convolution, pixels_as_channels, products_last,
)  # fmt: skip
from ._subject import INDEXED, Equation, Subject, difference, tolerance

LEAST = 0.05
CHECKED = 4 << 30
"""Bytes of HBM above which a program is not run on the CPU."""
WORST = 1e-2
"""Of the largest value: the most that results may differ where rounding of the arguments alone moves them as far."""
LIMITS = (4, 9, 16)
OPERATIONS = 4096
"""On parts, that a rewrite may make: compilers take minutes for more."""
LANES = 128
PIXELS = (16, 32)


class Try(NamedTuple):
    kind: str
    """"rewrite", "constraint", "argument", "result" or "auto"."""
    words: str
    paste: tuple[str, ...]
    """Lines of code: decorators, or the call of jit."""
    function: Callable[..., Any]
    """Of flat leaves."""
    adapt: Callable[..., Sequence[Any]] | None = None
    """The leaves as the function takes them."""
    restore: Callable[[Sequence[Any]], Sequence[Any]] | None = None
    """The results as the program returns them."""
    orders: tuple[tuple[int, tuple[int, ...]], ...] = ()
    arguments: Any = None
    results: Any = None
    note: str = ""


class Tried(NamedTuple):
    what: Try
    measured: Measured
    apart: float | None
    """How far the results are from the original's on the CPU; None: the values are not touched."""


def better(a: Measured, b: Measured) -> bool:
    """Does a save 5 % of one and lose at most 5 % of the other?"""
    if not a.fits or not b.fits:
        return a.fits and not b.fits
    less, more = 1 - LEAST, 1 + LEAST
    return (a.hbm <= less * b.hbm and a.cycles <= more * b.cycles) or (a.cycles <= less * b.cycles and a.hbm <= more * b.hbm)


def score(one: Measured) -> float:
    """Smaller is better: bytes times cycles."""
    return float(max(one.hbm, 1)) * max(one.cycles, 1.0) if one.fits else float("inf")


def traced(function: Callable[..., Any], specs: Sequence[Any]) -> str:
    """The equations that the results need."""
    jaxpr = jax.make_jaxpr(function)(*specs).jaxpr
    return str(partial_eval.dce_jaxpr(jaxpr, [True] * len(jaxpr.outvars), instantiate=True)[0])


def order_words(order: Sequence[int]) -> str:
    return "(" + ", ".join(map(str, order)) + ("," if len(order) == 1 else "") + ")"


def _also(results: Any) -> str:
    return "".join(f" and result {j}" for j in results or {})


def where(source: str | None) -> str:
    return "an unknown line" if source is None else os.path.relpath(source) if os.path.isabs(source) else source


class Search:
    def __init__(self, subject: Subject, compiler: Compiler, most: int = 24, report: Callable[[str], None] | None = None) -> None:
        self.subject, self.compiler, self.most = subject, compiler, most
        self.say = report or (lambda words: None)
        self.tried: list[Tried] = []
        self.refused: list[str] = []
        """Rewrites that were not compiled or not believed, and why."""
        self._expected: list[Any] | None = None
        self._seen: set[str] = set()

    def measure(self, what: Try) -> Measured:
        specs = self.subject.specs
        if what.adapt:
            specs = list(jax.eval_shape(lambda *leaves: tuple(what.adapt(*leaves)), *specs))
        donate = self.subject.donate
        return self.compiler(what.function, specs, donate=donate, arguments=what.arguments, results=what.results)

    @property
    def _name(self) -> str:
        return str(getattr(self.subject.function, "__name__", "function"))

    @property
    def left(self) -> int:
        return self.most - self.compiler.compiles

    def run(self) -> None:
        base = Try("default", "the program as it is", (), self.subject.base)
        self.default = self.measure(base)
        self._seen.add(traced(base.function, self.subject.specs))
        auto = Try(
            "auto", "layouts of arguments and results that the compiler chooses (AUTO)",
            (f"jax.jit({self._name}, in_shardings=Format(Layout.AUTO), out_shardings=Format(Layout.AUTO))",),
            self.subject.base, arguments="auto", results="auto",
            note="arguments must come as .lower(..).compile().input_formats says: jax.device_put(x, format)",
        )  # fmt: skip
        self.auto = self.measure(auto)
        self.automatic = Tried(auto, self.auto, None)
        for what in self.rewrites():
            if self.left > 0:
                self.attempt(what)
        if self.default.fits:
            self.constraints()
            self.sides()

    def attempt(self, what: Try) -> None:
        """Trace, compare on the CPU, compile, keep."""
        apart = None
        if what.kind == "rewrite":
            try:
                specs = self.subject.specs
                if what.adapt:
                    specs = list(jax.eval_shape(lambda *leaves: tuple(what.adapt(*leaves)), *specs))
                text = traced(what.function, specs)
            except UnsupportedError as err:
                self.refused.append(f"{what.words}: not compiled, {err}")
                return
            except Exception as err:  # a program that the rewrite cannot trace stays as it is
                self.refused.append(f"{what.words}: cannot be traced: {str(err).splitlines()[0][:100]}")
                return
            if text in self._seen:
                return
            self._seen.add(text)
            apart = self.check(what)
            if apart is None:
                return
        self.say(what.words)
        self.tried.append(Tried(what, self.measure(what), apart))

    def check(self, what: Try) -> float | None:
        """How far the results on the CPU are apart; None, with a reason in `refused`, if that is too far or cannot be told."""
        if self.default.hbm > CHECKED:
            self.refused.append(f"{what.words}: not compared on the CPU, the program is too large; give smaller arguments")
            return None
        with jax.default_device(jax.devices("cpu")[0]):
            values = self.subject.values()
            if self._expected is None:
                self._expected = [np.asarray(one) for one in jax.jit(self.subject.base)(*values)]
            given = what.adapt(*values) if what.adapt else values
            results = jax.jit(what.function)(*given)
            found = [np.asarray(one) for one in (what.restore(results) if what.restore else results)]
        apart = difference(self._expected, found)
        if tolerance(found) < apart <= WORST and apart <= 4 * self.rounding(values):
            return apart
        if apart > tolerance(found):
            self.refused.append(f"{what.words}: the results on the CPU differ by {apart:.1e} of the largest value")
            return None
        return apart

    def rounding(self, values: Sequence[Any]) -> float:
        """How far the program's own results move when its arguments change in the last places."""
        moved = [one * (1 + 2.0**-22) if one.dtype == np.float32 else one for one in values]
        with jax.default_device(jax.devices("cpu")[0]):
            return difference(self._expected or [], [np.asarray(one) for one in jax.jit(self.subject.base)(*moved)])

    # ---- rewrites

    def rewrites(self) -> list[Try]:
        flat = self.subject.flat_of
        plain = flat(self.subject.function)
        found = [
            Try("rewrite", "products with one-hot arrays as rows that are taken or added", ("@one_hot_as_take",), one_hot_as_take(plain)),
            Try("rewrite", "patches that are cut and multiplied as one convolution", ("@patches_as_convolution",), patches_as_convolution(plain)),
            Try("rewrite", "batched products of small matrices as sums of products, the batch last", ("@products_last",), products_last(plain),
                note="a product on the matrix unit rounds to bf16 by default, a sum of products does not"),
        ]  # fmt: skip
        found.append(Try("rewrite", "rows of several tables as rows of one table, the tables below each other", ("@merged_tables",), merged_tables(plain)))
        for pixels in PIXELS:
            found.append(
                Try("rewrite", f"convolutions of few channels with {pixels} pixels of a line as channels", (f"@pixels_as_channels({pixels})",),
                    pixels_as_channels(pixels)(plain))
            )  # fmt: skip
        for limit in (*LIMITS, *self._widths()):
            found.append(
                Try("rewrite", f"one array for each index of dims up to {limit}", (f"@components(limit={limit})",), components(limit, most=OPERATIONS)(plain),
                    note="a product of small matrices becomes a sum of products in the type of its result")
            )  # fmt: skip
        for i, spec in enumerate(self.subject.specs):
            if _packed.worth(spec.shape) and _packed.used(self.subject.closed.jaxpr, i):
                found.append(self._packed(i, spec.shape))
        return found

    def _widths(self) -> list[int]:
        """The dims between the last of LIMITS and 64 of the largest arrays of rows that are taken or added to; two at most."""
        rows = sorted((one for one in self.subject.equations() if one.name in INDEXED), key=lambda one: -one.bytes)
        return sorted(list(dict.fromkeys(n for one in rows for n in one.shape if LIMITS[-1] < n <= 64))[:2])

    def _packed(self, i: int, shape: tuple[int, ...]) -> Try:
        function: Any = packed_rows(i, shape)(self.subject.flat_of(self.subject.function))

        def adapt(*leaves: Any) -> list[Any]:
            return [pack_rows(leaf) if j == i else leaf for j, leaf in enumerate(leaves)]

        def restore(results: Sequence[Any]) -> list[Any]:
            return [_packed.unpack_rows(one, shape) if k in function.packed else one for k, one in enumerate(results)]

        per, name = 128 // row_width(shape[-1]), self.subject.names[i]
        return Try(
            "rewrite", f"{per} rows of {name} side by side in 128 lanes", (f"@packed_rows(table={i}, shape={shape})",), function, adapt, restore,
            note=f"store the argument as pack_rows({name}), once; what the function returns of it is packed, too",
        )  # fmt: skip

    # ---- layouts of intermediates

    def culprits(self, measured: Measured) -> list[Equation]:
        """Equations whose source lines cost most, the largest results of each line first."""
        cost = {source: one.total for source, one in measured.lines.items()}
        moving = ("gather", "scatter", "scatter-add", "dot_general", "transpose", "reshape", "broadcast_in_dim", "concatenate", "cumsum")
        found = [one for one in self.subject.equations() if one.bytes >= 65536 and one.name in moving]
        return sorted(found, key=lambda one: (-cost.get(one.source, 0.0), -one.bytes, one.number))

    def constraints(self) -> None:
        """Greedy: each layout on top of those that helped. Only of the program itself: a rewrite has other equations."""
        kept: dict[int, tuple[int, ...]] = {}
        words: tuple[str, ...] = ()
        notes: tuple[str, ...] = ()
        best = self.default
        budget = max(0, self.left - 4)
        for one in self.culprits(self.default):
            for order in self._orders(len(one.shape)):
                if budget <= 0:
                    return
                budget -= 1
                orders = {**kept, one.number: order}
                said = (*words, f"{one.name} {list(one.shape)} at {where(one.source)} in the order {order_words(order)}")
                hand = (*notes, f"with_layout_constraint(.., Layout(major_to_minor={order_words(order)})) around the {one.name} of that line")
                what = Try(
                    "constraint", "; ".join(said), (f"@constrained({orders!r})",),
                    constrained(orders)(self.subject.flat_of(self.subject.function)), orders=tuple(orders.items()),
                    note=f"by hand: {'; '.join(hand)}",
                )  # fmt: skip
                before = len(self.tried)
                self.attempt(what)
                if len(self.tried) > before and better(self.tried[-1].measured, best):
                    best, kept, words, notes = self.tried[-1].measured, orders, said, hand
                    break

    @staticmethod
    def _orders(rank: int) -> list[tuple[int, ...]]:
        """Each dim as the most minor one, the others row-major; that of the last dim first."""
        return [(*(d for d in range(rank) if d != minor), minor) for minor in reversed(range(rank))]

    # ---- arguments and results

    def sides(self) -> None:
        sizes = [(int(np.prod(spec.shape)) * spec.dtype.itemsize, i) for i, spec in enumerate(self.subject.specs) if len(spec.shape) > 1]
        for _, i in sorted(sizes, reverse=True):
            spec = self.subject.specs[i]
            for order in self._orders(len(spec.shape)):
                if self.left <= 0:
                    return
                results = self._returned(i, order)
                self.attempt(Try(
                    "argument", f"argument {self.subject.names[i]} {list(spec.shape)} in the order {order_words(order)}",
                    (f"jax.jit({self._name}, in_shardings=..{', out_shardings=..' if results else ''})  # argument {i}{_also(results)}: "
                     f"Format(Layout(major_to_minor={order_words(order)}), sharding)",),
                    self.subject.base, arguments={i: order}, results=results,
                ))  # fmt: skip

    def _returned(self, i: int, order: tuple[int, ...]) -> Any:
        """A donated argument's result keeps its layout."""
        if i not in self.subject.donate:
            return None
        spec = self.subject.specs[i]
        same = [j for j, aval in enumerate(self.subject.closed.out_avals) if aval.shape == spec.shape and aval.dtype == spec.dtype]
        taken = sum(
            self.subject.specs[k].shape == spec.shape and self.subject.specs[k].dtype == spec.dtype for k in self.subject.donate if k < i
        )
        return {same[taken]: order} if taken < len(same) else None

    # ---- findings

    def findings(self) -> list[Tried]:
        """What helps, AUTO included, by what it saves; ties by the number of layouts. A finding that another one beats in both bytes and
        cycles is left out."""
        good = [one for one in self._helping() if self._explained(one)]
        front = [one for one in good if not any(better(other.measured, one.measured) for other in good if other is not one)]
        kept: list[Tried] = []
        for one in sorted(front, key=lambda tried: (score(tried.measured), len(tried.what.orders), tried.what.words)):
            close = [other for other in kept if abs(other.measured.hbm / max(one.measured.hbm, 1) - 1) < LEAST]
            if not any(abs(other.measured.cycles / max(one.measured.cycles, 1) - 1) < LEAST for other in close):
                kept.append(one)
        return kept

    def _helping(self) -> list[Tried]:
        return [one for one in (*self.tried, self.automatic) if better(one.measured, self.default) and self._not_worse(one.measured)]

    def _explained(self, one: Tried) -> bool:
        """Is there a reason for it besides the estimate? A layout alone that saves no bytes has one where rows are short or taken by
        their numbers. Where all rows fill the lanes the compiler's estimates of one operation in two orders are all that differs."""
        saves_bytes = one.measured.hbm <= (1 - LEAST) * self.default.hbm or not self.default.fits
        return one.what.kind == "rewrite" or saves_bytes or self._short_rows

    @functools.cached_property
    def _short_rows(self) -> bool:
        return self.subject.has_short_rows(LANES)

    def not_recommended(self) -> list[str]:
        """What was refused, and the best of what has the estimate alone on its side."""
        found = sorted((one for one in self._helping() if not self._explained(one)), key=lambda one: score(one.measured))
        return [*self.refused, *(
            f"{one.what.words}: {100 * (1 - one.measured.cycles / self.default.cycles):.0f} % fewer cycles by the estimate alone; "
            "no bytes are saved and all rows fill the lanes" for one in found[:1]
        )]  # fmt: skip

    def _not_worse(self, one: Measured) -> bool:
        """At most 5 % more bytes than the smaller of default and AUTO, and 5 % more cycles than the faster; AUTO that needs more bytes than
        the program as it is counts for its bytes alone."""
        fitting = [way for way in (self.default, self.auto) if way.fits and way is not one]
        if not fitting:
            return one.fits
        if one.hbm > (1 + LEAST) * min(way.hbm for way in fitting):
            return False
        allowed = (1 + LEAST) * max(one.hbm, self.default.hbm if self.default.fits else 0)
        return all(one.cycles <= (1 + LEAST) * way.cycles for way in fitting if way.hbm <= allowed)
