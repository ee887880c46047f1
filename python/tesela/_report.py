# SPDX-License-Identifier: Apache-2.0
"""Which arrays are padding: memory reports and HLO text, and what changed between two of them."""

from __future__ import annotations

import ctypes
import html
import importlib
import os
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ._errors import LayoutError, TeselaWarning
from ._layout import Layout, layout
from ._library import Error, byref, lib
from ._ops import op

SOURCES = {"memory_report": "memory reports", "hlo": "HLO text"}
ORDERS = ("waste", "size", "expansion")


# ---- numbers for people


def bytes_text(count: int) -> str:
    """A number of bytes, as the command prints it: 15360000000 is 14.31 GiB."""
    text = ctypes.create_string_buffer(24)
    lib.tesela_units_print(count, 0, text)
    return text.value.decode()


def bytes_of(text: str) -> int:
    """The number of bytes that "15.75G" or "16 GiB" says."""
    count, err, raw = ctypes.c_int64(), Error(), text.encode()
    if lib.tesela_units_parse(raw, len(raw), byref(count), None, byref(err)):
        raise err.exception(text)
    return count.value


def percent(share: float) -> str:
    near_an_end = 0 < share < 0.01 or 0.99 < share < 1
    return f"{100 * share:.{1 if near_an_end else 0}f}%"


def between(least: str, most: str) -> str:
    return least if least == most else f"{least} to {most}"


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
    raise TypeError(f"expected a path, a text with lines, a file or something with as_text(), found {type(source).__name__}")


def _text(text: Any, name: Any) -> dict[str, Any]:
    if not isinstance(text, str):
        text = bytes(text).decode("utf-8", "surrogateescape")
    return {"texts": [{"text": text, "name": str(name)}]}


# ---- rows


class Advice(NamedTuple):
    """A layout that holds the same elements in less memory."""

    kind: str
    """"order": other minor dims; "format": other tiles, too; "merge": neighbouring dims become one."""
    text: str
    bytes: int
    """What the array then takes."""
    saved: int
    words: str

    @property
    def layout(self) -> Layout:
        return layout(self.text)

    @property
    def format(self) -> Any:
        """The order of the dims as jax.experimental.layout.Layout, for jax.experimental.layout.Format."""
        return importlib.import_module("jax.experimental.layout").Layout(major_to_minor=tuple(reversed(self.layout.info()["minor_to_major"])))


class ReportArray:
    """A row of a report: an array, or several that are alike. Bytes are those of one of them; `json` has everything.

    >>> row = report("%x = f32[8,3]{1,0:T(8,128)} iota()\\n").top(1)[0]
    >>> row.shape, row.stored, row.data, row.expansion, row.advice[0].text
    ((8, 3), 4096, 96, 42.666666666666664, 'f32[24]{0:T(128)}')
    """

    __slots__ = ("json",)
    json: dict[str, Any]

    def __init__(self, json: dict[str, Any]) -> None:
        self.json = json

    @property
    def text(self) -> str | None:
        """The shape with its layout; None if it is one of `candidates`."""
        found: str | None = self.json.get("fitted") or self.json["shape"]
        return found

    @property
    def layout(self) -> Layout | None:
        """How the array lies; None if that is not certain or the text is not a shape."""
        if self.text is None or not self.json.get("certain", True):
            return None
        try:
            return layout(self.text)
        except LayoutError:
            return None

    @property
    def shape(self) -> tuple[int, ...] | None:
        """Extents of the dims; None as for `layout`."""
        lies = self.layout
        return lies.shape if lies else None

    @property
    def stored(self) -> int:
        """Bytes that one such array takes."""
        return int(self.json["stored_bytes"])

    @property
    def data(self) -> int | None:
        """Bytes of its elements; None if unknown."""
        found: int | None = self.json["data_bytes"]
        return found

    @property
    def padding(self) -> int | None:
        return None if self.data is None else self.stored - self.data

    @property
    def expansion(self) -> float | None:
        """stored / data; None if unknown, or without data."""
        return self.stored / self.data if self.data else None

    @property
    def count(self) -> int:
        """How many arrays of this shape and role there are."""
        return int(self.json["count"])

    @property
    def role(self) -> str:
        """"allocation" (of a memory report), "argument", "constant", "copy" or "result"."""
        return str(self.json.get("role", ""))

    @property
    def source(self) -> str | None:
        """The line of the user's program that made the first such array, "train.py:12", if the text has it."""
        found: str | None = self.json.get("location")
        return found

    @property
    def op_name(self) -> str | None:
        """The operation that made it, with its scopes."""
        found: str | None = self.json["op_name"]
        return found

    @property
    def opcode(self) -> str | None:
        found: str | None = self.json["opcode"]
        return found

    @property
    def name(self) -> str | None:
        """The instruction."""
        found: str | None = self.json["name"]
        return found

    @property
    def found_at(self) -> str:
        """Where the text says so: "train.log:15"."""
        name = self.json.get("input", "")
        return f"{name}:{self.json['line']}" if name else f"line {self.json['line']}"

    @property
    def space(self) -> int:
        """Its memory space; 0 is the device's main memory."""
        return int(self.json["memory_space"])

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is padded, a sentence for each dim."""
        return tuple(self.json.get("reasons", ()))

    @property
    def candidates(self) -> tuple[str, ...]:
        """The shapes that it can have, the likeliest first; empty if one is certain."""
        return tuple(one["fitted"] or one["shape"] for one in self.json.get("candidates", ()))

    @property
    def advice(self) -> tuple[Advice, ...]:
        """Layouts that would take less memory, the one that saves most first."""
        return tuple(
            Advice(one["kind"], one["shape"], one["bytes"], one["saved_bytes"], one["words"])
            for one in self.json.get("advice", ())
        )

    def __eq__(self, other: object) -> bool:
        return self.json == other.json if isinstance(other, ReportArray) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.text, self.stored, self.json["line"]))

    def __repr__(self) -> str:
        what = self.text or f"one of {', '.join(self.candidates)}"
        many = f"{self.count} x " if self.count > 1 else ""
        words = [f"{many}{what}: {bytes_text(self.stored)} stored", f"{_data(self)} data"]
        if self.source or self.op_name:
            words.append(str(self.source or self.op_name))
        return f"<{', '.join(words)}>"


def _data(row: ReportArray) -> str:
    if row.data is None:
        return "?"
    return bytes_text(row.data) + (f" ({row.expansion:.1f}x)" if row.expansion else "")


class Note(NamedTuple):
    """A doubt or warning; docs/report.md lists the codes. Loud ones are warnings of Python, too."""

    code: str
    text: str
    loud: bool
    count: int  # type: ignore[assignment]  # hides tuple.count
    input: str
    line: int

    def __str__(self) -> str:
        return f"{self.text} ({self.input + ':' if self.input else 'line '}{self.line})"


# ---- a report


class Report:
    """What `report` found. Numbers of bytes are those of memory reports if there are any, else those of the HLO text, in all
    arrays; a number that the texts do not tell is None. `json` is the answer of the operation `report`.
    """

    __slots__ = ("_inputs", "_options", "json")
    json: dict[str, Any]

    def __init__(self, inputs: dict[str, Any], options: dict[str, Any]) -> None:
        self._inputs, self._options = inputs, options
        self.json = op("report", top=0, **inputs, **options)

    @property
    def found_in(self) -> str:
        """"memory_report" or "hlo": what the numbers are about."""
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
    def notes(self) -> tuple[Note, ...]:
        return tuple(Note(*(one[name] for name in Note._fields)) for one in self.json["notes"])

    # ---- limits

    def assert_waste(self, max: float | str = 0.10) -> None:
        """Raise AssertionError if more than a share of the stored bytes is padding: 0.10 or "10%".

        Memory reports and HLO text must each stay within it. Where that cannot be told, LayoutError says why; a limit never
        holds because nothing was measured.
        """
        self._assert("max_waste", max if isinstance(max, str) else repr(float(max)))

    def assert_bytes(self, max: int | str) -> None:
        """Raise AssertionError if more bytes are stored, or in use by the compiler's own total: 17179869184 or "16GiB"."""
        self._assert("max_bytes", max if isinstance(max, str) else str(max.__index__()))

    def _assert(self, limit: str, allowed: str) -> None:
        limits: dict[str, Any] = {limit: allowed}
        answer = op("report", top=1, **self._inputs, **self._options, **limits)
        if answer["totals"] != self.json["totals"]:
            raise LayoutError("the file has changed since it was reported; make a new report", code="CHANGED")
        over = [self._words(one, allowed) for one in answer["limits"] if one["holds"] is False]
        if over:
            rows = [f"  {row!r}" for row in self.top(3)]
            raise AssertionError("\n".join([*over, *rows]))
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
        found = bytes_text(limit["bytes"])
        found = f"the compiler's total is {found}" if why == "compiler" else f"{found} are stored"
        return f"{who}: {found}; {name} allows {allowed}"

    def _doubt(self, limit: dict[str, Any]) -> str:
        if limit["why"] == "uncertain":
            share = between(percent(limit["least"]), percent(limit["most"]))
            return f"{share} of the stored bytes is padding; the program's optimised HLO or buffer assignment can decide"
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
        return f"Report({facts})"

    def _repr_html_(self) -> str:
        shown = self.top(20)
        rows = [
            [row.text or "one of " + ", ".join(row.candidates), row.count, bytes_text(row.stored),
             "?" if row.data is None else bytes_text(row.data),
             "?" if row.expansion is None else f"{row.expansion:.1f}x", row.source or row.op_name or "",
             row.advice[0].text if row.advice else ""]
            for row in shown
        ]  # fmt: skip
        left = len(self.json["arrays"]) - len(shown)
        return _table(
            repr(self), ["array", "count", "stored", "data", "expansion", "made by", "instead"], rows,
            f"and {left} more" if left else "",
        )  # fmt: skip


def _table(caption: str, head: Sequence[str], rows: Iterable[Iterable[Any]], after: str) -> str:
    def line(tag: str, cells: Iterable[Any]) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    parts = ["<table>", f"<caption>{html.escape(caption)}</caption>", "<thead>", line("th", head), "</thead>", "<tbody>"]
    parts += [line("td", cells) for cells in rows]
    parts += ["</tbody>", "</table>"]
    return "\n".join(parts + ([f"<p>{html.escape(after)}</p>"] if after else []))


def report(source: Any, *, by: str = "waste", space: int | None = None) -> Report:
    """Read what a compiler printed - memory reports, HLO text - and measure the padding of every array.

    ``source`` is a path, a text with several lines, an open file, something with ``as_text()`` such as a compiled function of
    JAX, or a list of these, which are read as one. ``by`` orders the rows: "waste", "size" or "expansion"; ``space`` counts one
    memory space alone, 0 the device's main memory. Loud notes become a TeselaWarning.

    >>> report("%x = f32[8,3]{1,0:T(8,128)} iota()\\n")
    Report(stored=4.0 KiB, padding=3.9 KiB (98%), arrays=1)
    """
    if by not in ORDERS:
        raise ValueError(f"unknown order {by!r}; expected one of {', '.join(ORDERS)}")
    options = {"by": by, **({"space": space} if space is not None else {})}
    found = Report(inputs_of(source), options)
    for note in found.notes:
        if note.loud:
            warnings.warn(str(note), TeselaWarning, stacklevel=2)
    return found


# ---- two reports


class Change(NamedTuple):
    """An array, or several that are alike, that differ between two reports."""

    kind: str
    """"layout": other order, tile or memory space; "size": other type or dims; "count"; "gone"; "new"."""
    role: str
    count: int  # type: ignore[assignment]  # hides tuple.count
    bytes: int
    """After minus before."""
    before: ReportArray | None
    after: ReportArray | None

    def __str__(self) -> str:
        sides = " -> ".join(side.text or "?" for side in (self.before, self.after) if side)
        sign = "+" if self.bytes > 0 else "-" if self.bytes < 0 else ""
        named = self.after or self.before
        made = f"  {named.op_name or named.name}" if named and (named.op_name or named.name) else ""
        return f"{sign}{bytes_text(abs(self.bytes))}  {self.kind}  {sides}{f'  x{self.count}' if self.count > 1 else ''}{made}"


class Diff:
    """What changed between two reports; false if nothing did. `json` is the answer of the operation `diff`."""

    __slots__ = ("json",)
    json: dict[str, Any]

    def __init__(self, json: dict[str, Any]) -> None:
        self.json = json

    @property
    def changes(self) -> tuple[Change, ...]:
        """The largest change of bytes first."""
        return tuple(
            Change(one["kind"], one["role"], one["count"], one["bytes"], *(_side(one[when]) for when in ("before", "after")))
            for one in self.json["changes"]
        )

    @property
    def compiler(self) -> dict[str, tuple[Any, Any]]:
        """The compiler's totals that differ, where one report lists no arrays: before and after."""
        return {one["figure"]: (one["before"], one["after"]) for one in self.json["compiler"]}

    @property
    def bytes(self) -> int:
        """Stored bytes after minus before."""
        return sum(self.json["after"][source]["stored_bytes"] - self.json["before"][source]["stored_bytes"] for source in SOURCES)

    def __bool__(self) -> bool:
        return bool(self.json["n_changes"] or self.json["compiler"])

    def __repr__(self) -> str:
        def total(when: str, figure: str) -> str:
            return bytes_text(sum(self.json[when][source][figure] or 0 for source in SOURCES))

        figures = [f"{figure}={total('before', name)} -> {total('after', name)}"
                   for figure, name in (("stored", "stored_bytes"), ("padding", "least_padding_bytes"))]  # fmt: skip
        return f"Diff(changes={self.json['n_changes']}, {', '.join(figures)})"

    def __str__(self) -> str:
        figures = [f"{name} {before} -> {after}" for name, (before, after) in self.compiler.items()]
        return "\n".join([repr(self), *(str(one) for one in self.changes), *figures])

    def _repr_html_(self) -> str:
        rows = [
            [bytes_text(abs(one.bytes)) if one.bytes >= 0 else "-" + bytes_text(-one.bytes), one.kind, one.count,
             (one.before.text or "?") if one.before else "", (one.after.text or "?") if one.after else "",
             next((side.op_name or side.name or "" for side in (one.after, one.before) if side), "")]
            for one in self.changes[:20]
        ]  # fmt: skip
        left = len(self.json["changes"]) - len(rows)
        return _table(
            repr(self), ["bytes", "change", "count", "before", "after", "made by"], rows, f"and {left} more" if left else ""
        )


def _side(json: dict[str, Any] | None) -> ReportArray | None:
    return None if json is None else ReportArray(json)


def diff(before: Any, after: Any, *, space: int | None = None) -> Diff:
    """The arrays that changed between two reports, or two sources of `report`.

    >>> d = diff("%x = f32[8,3]{1,0:T(8,128)} iota()\\n", "%x = f32[8,3]{0,1:T(4,128)} iota()\\n")
    >>> print(d.changes[0])
    -2.0 KiB  layout  f32[8,3]{1,0:T(8,128)} -> f32[8,3]{0,1:T(4,128)}  x
    """
    sides: dict[str, Any] = {"before": inputs_of(before), "after": inputs_of(after)}
    return Diff(op("diff", top=0, space=space, **sides))
