# SPDX-License-Identifier: Apache-2.0
"""What a compiler says about the memory of its program, beside the arrays of the program's text."""

from __future__ import annotations

from typing import Any, NamedTuple

from ._report_rows import bytes_text

POINTER = 8  # bytes of an entry of a tuple's table
NAMES = ("argument", "output", "temp", "alias", "generated_code")


class MemoryRow(NamedTuple):
    """A number of bytes that the compiler gives, and the sum over the arrays of the text."""

    name: str
    """"argument", "output", "temp" (all other arrays), "alias" (outputs in the memory of arguments) or "generated_code"."""
    compiler: int
    arrays: int | None
    """The sum; None if no array is meant."""
    words: str
    """Why the two differ; empty if they are equal or cannot be compared."""

    @property
    def differs(self) -> bool:
        return self.arrays is not None and self.arrays != self.compiler

    def __str__(self) -> str:
        beside = f" (arrays: {bytes_text(self.arrays)})" if self.differs and self.arrays is not None else ""
        return f"{self.name}={bytes_text(self.compiler)}{beside}"


def memory_of(source: Any, json: dict[str, Any]) -> tuple[MemoryRow, ...]:
    """The rows for something with `memory_analysis()`, such as a compiled function of JAX; () if it says nothing."""
    try:
        stats = source.memory_analysis()
    except (AttributeError, NotImplementedError, RuntimeError):  # RuntimeError: of an XLA backend without these numbers
        return ()
    if stats is None:
        return ()
    arrays, results = _sums(json)
    found = []
    for name in NAMES:
        said = int(getattr(stats, f"{name}_size_in_bytes"))
        summed = arrays.get(name)
        words = "" if summed is None or said == summed else _words(name, said, summed, results)
        found.append(MemoryRow(name, said, summed, words))
    return tuple(found)


def _sums(json: dict[str, Any]) -> tuple[dict[str, int], int]:
    """The bytes of the arrays by row, and how many results there are; no bytes without the modules' own lists of both."""
    sections = [section for section in json["sections"] if section["source"] == "hlo"]
    if not sections or not all("entry_results" in section for section in sections):
        return {}, 0
    argument, output, results = (
        sum(section[name] for section in sections)
        for name in ("entry_argument_bytes", "entry_result_bytes", "entry_results")
    )
    stored, role = json["totals"]["hlo"]["stored_bytes"], json["totals"]["roles"].get("argument", {})
    rest = max(0, stored - role.get("stored_bytes", 0) - output)
    return {"argument": argument, "output": output, "temp": rest}, results


def _words(name: str, said: int, summed: int, results: int) -> str:
    if name == "output" and said - summed == results * POINTER:
        return f"{said - summed} B are the pointers to {results} results"
    more, less = bytes_text(abs(said - summed)), said < summed
    if name == "temp":
        return f"{more} less than the arrays: they share memory" if less else f"{more} more than the arrays"
    return f"{more} {'less' if less else 'more'} than the arrays of the text"
