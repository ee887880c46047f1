# SPDX-License-Identifier: Apache-2.0
"""What changed between two reports."""

from __future__ import annotations

from typing import Any, NamedTuple

from ._ops import op
from ._report import SOURCES, inputs_of
from ._report_rows import ReportArray, bytes_text, table


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
            Change(
                one["kind"],
                one["role"],
                one["count"],
                one["bytes"],
                *(_side(one[when]) for when in ("before", "after")),
            )
            for one in self.json["changes"]
        )

    @property
    def compiler(self) -> dict[str, tuple[Any, Any]]:
        """The compiler's totals that differ, where one report lists no arrays: before and after."""
        return {one["figure"]: (one["before"], one["after"]) for one in self.json["compiler"]}

    @property
    def bytes(self) -> int:
        """Stored bytes after minus before."""
        return sum(
            self.json["after"][source]["stored_bytes"] - self.json["before"][source]["stored_bytes"]
            for source in SOURCES
        )

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
        return table(
            repr(self),
            ["bytes", "change", "count", "before", "after", "made by"],
            rows,
            f"and {left} more" if left else "",
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
