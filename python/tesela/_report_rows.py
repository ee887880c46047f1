# SPDX-License-Identifier: Apache-2.0
"""Rows of a report, numbers of bytes as people read them, and tables for notebooks."""

from __future__ import annotations

import ctypes
import html
import importlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ._errors import LayoutError
from ._layout import Layout, layout
from ._library import Error, byref, lib


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


def table(caption: str, head: Sequence[str], rows: Iterable[Iterable[Any]], after: str) -> str:
    def line(tag: str, cells: Iterable[Any]) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    parts = [
        "<table>",
        f"<caption>{html.escape(caption)}</caption>",
        "<thead>",
        line("th", head),
        "</thead>",
        "<tbody>",
    ]
    parts += [line("td", cells) for cells in rows]
    parts += ["</tbody>", "</table>"]
    return "\n".join(parts + ([f"<p>{html.escape(after)}</p>"] if after else []))


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
        """The order of the dims as jax.experimental.layout.Layout, for jax.experimental.layout.Format; of JAX before 0.7 as
        DeviceLocalLayout, for Layout."""
        layouts = importlib.import_module("jax.experimental.layout")
        kind = layouts.Layout if hasattr(layouts, "Format") else layouts.DeviceLocalLayout
        return kind(major_to_minor=tuple(reversed(self.layout.info()["minor_to_major"])))


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
        """ "allocation" (of a memory report), "argument", "constant", "copy" or "result"."""
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


class Remedy(NamedTuple):
    """What to change so that a culprit takes less memory."""

    kind: str
    """What is done; docs/report.md lists them."""
    group: str
    """"a": a layout that the program can set; "b": other dims in the program; "c": a constraint on one result; "d": none of
    these, as the data alone is too much."""
    words: str
    text: str
    """The layout of one array after it."""
    arrays: int
    bytes: int
    """What all of them then take."""
    saved: int
    peak: int | None
    """The peak with it, of a text with a schedule; else None."""
    code: str
    """What to write, in the framework of the program."""


class Culprit:
    """An array with much padding, and what to change. With a schedule, it is an array that lives at the peak.

    >>> row = report("%x = f32[8,3]{1,0:T(8,128)} iota()\\n").culprits[0]
    >>> row.text, row.stored, [(one.kind, one.saved) for one in row.remedies]
    ('f32[8,3]{1,0:T(8,128)}', 4096, [('components', 2560)])
    """

    __slots__ = ("json",)
    json: dict[str, Any]

    def __init__(self, json: dict[str, Any]) -> None:
        self.json = json

    @property
    def text(self) -> str:
        """The shape with its layout."""
        return str(self.json["shape"])

    @property
    def role(self) -> str:
        """ "argument", "output", "donated", "constant", "table" or "temporary"."""
        return str(self.json["role"])

    @property
    def source(self) -> str | None:
        """The line of the user's program, "train.py:12", else the operation with its scopes, else the instruction."""
        found: str | None = self.json["location"] or self.json["op_name"] or self.json["name"]
        return found

    @property
    def count(self) -> int:
        return int(self.json["count"])

    @property
    def stored(self) -> int:
        """Bytes that all of them take."""
        return int(self.json["bytes"])

    @property
    def data(self) -> int:
        """Bytes of their elements."""
        return int(self.json["data_bytes"])

    @property
    def remedies(self) -> tuple[Remedy, ...]:
        """What to change, the one to try first first."""
        names = ("kind", "class", "words", "shape", "arrays", "bytes", "saved_bytes", "peak_bytes", "code")
        return tuple(Remedy(*(one[name] for name in names)) for one in self.json["remedies"])

    def __repr__(self) -> str:
        first = self.remedies[0] if self.json["remedies"] else None
        words = f", {first.words}" if first else ""
        saves = f": saves {bytes_text(first.saved)}" if first and first.saved else ""
        return f"<{self.text}: {bytes_text(self.stored)} stored, {bytes_text(self.data)} data{words}{saves}>"


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
