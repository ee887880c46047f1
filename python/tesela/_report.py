# SPDX-License-Identifier: Apache-2.0
"""Which arrays are padding: memory reports and HLO text."""

from __future__ import annotations

import os
import warnings
from typing import Any

from ._errors import LayoutError, TeselaWarning
from ._ops import op
from ._report_memory import MemoryRow, memory_of
from ._report_rows import Culprit, Note, ReportArray, between, bytes_of, bytes_text, percent, table

SOURCES = {"memory_report": "memory reports", "hlo": "HLO text"}
ORDERS = ("waste", "size", "expansion")


# ---- what is read


def inputs_of(source: Any) -> dict[str, Any]:
    """The fields text, texts or files of the operation for any source that `report` takes."""
    if isinstance(source, Report):
        return source._inputs
    if isinstance(source, (list, tuple)):
        texts: list[Any] = []
        files: list[Any] = []
        for one in source:
            found = inputs_of(one)
            texts += found.get("texts", [])
            files += found.get("files", [])
        return {name: members for name, members in (("texts", texts), ("files", files)) if members}
    if isinstance(source, (bytes, bytearray)) and b"\n" in source:
        return _text(source, "")
    if isinstance(source, (str, bytes, os.PathLike)):
        if isinstance(source, str) and "\n" in source:
            return _text(source, "")
        os.stat(source)  # FileNotFoundError, with its name
        return {"files": [os.fsdecode(source)]}
    if hasattr(source, "as_text"):
        return _text(source.as_text(), type(source).__name__)
    if hasattr(source, "read"):
        return _text(source.read(), getattr(source, "name", ""))
    raise TypeError(
        f"expected a path, a text with lines, a file or something with as_text(), found {type(source).__name__}"
    )


def _text(text: Any, name: Any) -> dict[str, Any]:
    if not isinstance(text, str):
        text = bytes(text).decode("utf-8", "surrogateescape")
    return {"texts": [{"text": text, "name": str(name)}]}


def grown(baseline: dict[str, Any] | None) -> list[str]:
    """Lines about what takes more than in the baseline of an answer."""
    if baseline is None:
        return []
    peak = baseline["at_peak"]
    rows = [
        (one["bytes"], one["shape"], one["location"], one["op_name"], one["name"])
        for one in (peak["changes"] if peak else ())
    ] or [
        (one["bytes"], one["after"]["shape"], one["after"]["location"], one["after"]["op_name"], one["after"]["name"])
        for one in baseline["changes"]
        if one["after"]
    ]
    lines = [
        f"  +{bytes_text(more)} {shape}  {', '.join(filter(None, source))}" for more, shape, *source in rows if more > 0
    ]
    return ["since the baseline:", *lines] if lines else ["no array takes more than in the baseline"]


# ---- a report


class Report:
    """What `report` found. Numbers of bytes are those of memory reports if there are any, else those of the HLO text, in all
    arrays; a number that the texts do not tell is None. `json` is the answer of the operation `report`.
    """

    __slots__ = ("_inputs", "_options", "json", "memory")
    json: dict[str, Any]
    memory: tuple[MemoryRow, ...]
    """What the compiler says itself, for a single compiled function; else ()."""

    def __init__(self, inputs: dict[str, Any], options: dict[str, Any], source: Any = None) -> None:
        self._inputs, self._options = inputs, options
        self.json = op("report", top=0, **inputs, **options)
        if isinstance(source, Report):
            self.memory = source.memory
        else:
            self.memory = memory_of(source, self.json) if options.get("space", 0) == 0 else ()

    @property
    def found_in(self) -> str:
        """ "memory_report" or "hlo": what the numbers are about."""
        found = [section["source"] for section in self.json["sections"]]
        return "memory_report" if "memory_report" in found else "hlo"

    @property
    def totals(self) -> dict[str, Any]:
        found: dict[str, Any] = self.json["totals"][self.found_in]
        return found

    @property
    def stored(self) -> int:
        """Bytes that all arrays take; of HLO text the sum over arrays, not the peak."""
        return int(self.totals["stored_bytes"])

    @property
    def data(self) -> int | None:
        found: int | None = self.totals["data_bytes"]
        return found

    @property
    def padding(self) -> int | None:
        found: int | None = self.totals["padding_bytes"]
        return found

    @property
    def waste(self) -> float | None:
        """padding / stored."""
        found: float | None = self.totals["waste"]
        return found

    @property
    def capacity(self) -> int | None:
        """Bytes of the memory, as the compiler printed them."""
        for section in self.json["sections"]:
            if "capacity" in section["compiler"]:
                return bytes_of(section["compiler"]["capacity"])
        return None

    @property
    def arrays(self) -> tuple[ReportArray, ...]:
        """All rows in the order of `by`; those of memory reports first."""
        return tuple(map(ReportArray, self.json["arrays"]))

    def top(self, n: int) -> tuple[ReportArray, ...]:
        """The first n rows: by default the arrays with the most padding."""
        return tuple(map(ReportArray, self.json["arrays"][:n]))

    @property
    def culprits(self) -> tuple[Culprit, ...]:
        """What to change: the arrays with most padding, at most five, each with its remedies; if none has one, also those of VMEM that do."""
        return tuple(map(Culprit, self.json["culprits"]))

    @property
    def notes(self) -> tuple[Note, ...]:
        return tuple(Note(*(one[name] for name in Note._fields)) for one in self.json["notes"])

    # ---- limits

    def assert_waste(self, max: float | str = 0.10, *, baseline: Any = None) -> None:
        """Raise AssertionError if more than a share of the stored bytes is padding: 0.10 or "10%".

        Memory reports and HLO text must each stay within it. Where that cannot be told, LayoutError says why; a limit never
        holds because nothing was measured. ``baseline``, an earlier source or Report, is compared: the error names what
        takes more since then.
        """
        self._assert("max_waste", max if isinstance(max, str) else repr(float(max)), baseline)

    def assert_bytes(self, max: int | str, *, baseline: Any = None) -> None:
        """Raise AssertionError if more bytes are stored, or in use by the compiler's own total: 17179869184 or "16GiB"."""
        self._assert("max_bytes", max if isinstance(max, str) else str(max.__index__()), baseline)

    def assert_peak(self, max: int | str, *, baseline: Any = None) -> None:
        """Raise AssertionError if more bytes are needed at one time: 17179869184 or "15.75GiB". A text with a schedule decides."""
        self._assert("max_peak", max if isinstance(max, str) else str(max.__index__()), baseline)

    def _assert(self, limit: str, allowed: str, baseline: Any) -> None:
        limits: dict[str, Any] = {limit: allowed}
        if baseline is not None:
            limits["baseline"] = inputs_of(baseline)
        answer = op("report", top=3, **self._inputs, **self._options, **limits)
        if answer["totals"] != self.json["totals"]:
            raise LayoutError("the file has changed since it was reported; make a new report", code="CHANGED")
        over = [self._words(one, allowed) for one in answer["limits"] if one["holds"] is False]
        if over:
            rows = [f"  {row!r}" for row in self.top(3)]
            raise AssertionError("\n".join([*over, *rows, *grown(answer.get("baseline"))]))
        unknown = [self._words(one, allowed) for one in answer["limits"] if one["holds"] is None]
        if unknown or not answer["limits"]:
            raise LayoutError("\n".join(unknown) or "nothing was measured", code="UNCERTAIN")

    def _words(self, limit: dict[str, Any], allowed: str) -> str:
        who, name, why = SOURCES[limit["source"]], limit["limit"], limit["why"]
        if limit["holds"] is None:
            return f"{who}: cannot tell whether {name}={allowed} holds: {self._doubt(limit)}"
        if name == "max_waste":
            share = between(percent(limit["least"]), percent(limit["most"]))
            of = "the compiler's HLO temp" if why == "compiler" else "the stored bytes"
            return f"{who}: {share} of {of} is padding; {name} allows {allowed}"
        if name == "max_peak":
            return f"{who}: the peak is {self._range(limit)}; {name} allows {allowed}"
        found = bytes_text(limit["bytes"])
        found = f"the compiler's total is {found}" if why == "compiler" else f"{found} are stored"
        return f"{who}: {found}; {name} allows {allowed}"

    @staticmethod
    def _range(limit: dict[str, Any]) -> str:
        most = "unknown" if limit["most"] is None else bytes_text(limit["most"])
        return between(bytes_text(limit["least"]), most)

    def _doubt(self, limit: dict[str, Any]) -> str:
        if limit["why"] == "uncertain" and limit["limit"] == "max_peak":
            return f"the peak is {self._range(limit)}; a module with is_scheduled=true decides"
        if limit["why"] == "uncertain":
            share = between(percent(limit["least"]), percent(limit["most"]))
            return (
                f"{share} of the stored bytes is padding; the program's optimised HLO or buffer assignment can decide"
            )
        if limit["why"] == "missing":
            missing = ("mixed", "broken_line", "cut_module", "no_entry")
            return next((str(note) for note in self.notes if note.code in missing), "arrays are missing")
        return {
            "unreadable": "no array has a readable shape",
            "unlisted": "a memory report gives neither a list nor a total",
        }[limit["why"]]

    # ---- text

    def _facts(self, found_in: str) -> str:
        totals = self.json["totals"][found_in]
        least, most, stored = totals["least_padding_bytes"], totals["most_padding_bytes"], totals["stored_bytes"]
        share = between(*(percent(one / stored if stored else 0) for one in (least, most)))
        padding = between(bytes_text(least), bytes_text(most))
        return f"stored={bytes_text(stored)}, padding={padding} ({share}), arrays={totals['arrays']}"

    def __repr__(self) -> str:
        facts = self._facts(self.found_in)
        if self.capacity is not None:
            facts += f", capacity={bytes_text(self.capacity)}"
        if self.found_in != "hlo" and self.json["totals"]["hlo"]["arrays"]:
            facts += f"; of HLO text {self._facts('hlo')}"
        if self.memory:
            facts += f"; the compiler: {', '.join(map(str, self.memory))}"
        return f"Report({facts})"

    def _repr_html_(self) -> str:
        shown = self.top(20)
        rows = [
            [row.text or "one of " + ", ".join(row.candidates), row.count, bytes_text(row.stored),
             "?" if row.data is None else bytes_text(row.data),
             "?" if row.expansion is None else f"{row.expansion:.1f}x", row.source or row.op_name or ""]
            for row in shown
        ]  # fmt: skip
        left = len(self.json["arrays"]) - len(shown)
        after = [f"and {left} more"] if left else []
        after += [f"{row.name}: {row.words}" for row in self.memory if row.words]
        head = ["array", "count", "stored", "data", "expansion", "made by"]
        return table(repr(self), head, rows, "; ".join(after)) + self._changes()

    def _changes(self) -> str:
        """What to change, as a table; "" if there is nothing."""
        rows = [
            [row.text, row.source or "", one.words, bytes_text(one.saved), one.code]
            for row in self.culprits
            for one in row.remedies
        ]
        return table("what to change", ["array", "made by", "change", "saves", "code"], rows, "") if rows else ""


def report(source: Any, *, by: str = "waste", space: int | None = None) -> Report:
    """Read what a compiler printed - memory reports, HLO text - and measure the padding of every array.

    ``source`` is a path, a text with several lines, an open file, something with ``as_text()`` such as a compiled function of
    JAX, or a list of these, which are read as one. Of one with ``memory_analysis()``, `memory` has what the compiler says beside
    the arrays. ``by`` orders the rows: "waste", "size" or "expansion"; ``space`` counts one
    memory space alone, 0 the device's main memory. Loud notes become a TeselaWarning.

    >>> report("%x = f32[8,3]{1,0:T(8,128)} iota()\\n")
    Report(stored=4.0 KiB, padding=3.9 KiB (98%), arrays=1)
    """
    if by not in ORDERS:
        raise ValueError(f"unknown order {by!r}; expected one of {', '.join(ORDERS)}")
    options = {"by": by, **({"space": space} if space is not None else {})}
    found = Report(inputs_of(source), options, source)
    for note in found.notes:
        if note.loud:
            warnings.warn(str(note), TeselaWarning, stacklevel=2)
    return found
