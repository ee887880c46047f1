# SPDX-License-Identifier: Apache-2.0
"""What `tesela tune` prints: figures of the compiler, costs by source line, findings with code to paste."""

from __future__ import annotations

import difflib
import os
import pathlib
import re
from collections.abc import Sequence
from typing import Any

from .._report_rows import bytes_text
from ._compile import Measured
from ._search import LEAST, Search, Tried, better

ALWAYS = "estimates of the compiler, no run"


def change(before: float, after: float) -> str:
    if not before:
        return "-"
    share = 100 * (after / before - 1)
    return f"{share:+.0f} %" if abs(share) >= 0.5 else "same"


def figures(one: Measured) -> str:
    if not one.fits:
        return f"does not fit{': ' + bytes_text(one.total) if one.total else ''}"
    return f"{bytes_text(one.hbm):>10}  {one.cycles:10,.0f} cycles"


def short(source: str | None, names: Sequence[str] = ()) -> str:
    """A source line; the name of an argument, "given[1]"."""
    if source is None:
        return "(no source line)"
    argument = re.fullmatch(r"given\[(\d+)\]", source)
    if argument:
        i = int(argument[1])
        return f"argument {names[i] if i < len(names) else i}"
    file, _, line = source.rpartition(":")
    return f"{os.path.relpath(file) if os.path.isabs(file) and len(os.path.relpath(file)) < len(file) else file}:{line}"


def lines_of(one: Measured, names: Sequence[str], most: int = 6) -> list[str]:
    rows = sorted(one.lines.items(), key=lambda row: -row[1].total)
    out = []
    for source, cost in rows[:most]:
        moved = f", {bytes_text(cost.moved)} without an estimate" if cost.moved else ""
        stall = f", {cost.stalls:,.0f} of them stalls of copies" if cost.stalls else ""
        copies = "copies of " if source and source.startswith("given[") else ""
        out.append(f"  {cost.total:14,.0f} cycles  {copies}{short(source, names)}{moved}{stall}")
    return out


def padded(one: Measured, names: Sequence[str], most: int = 5) -> list[str]:
    """The arrays that waste most, by the report of the compiler's text: a twentieth of themselves, a thousandth of the program."""
    from .._report import Report

    try:
        rows = Report({"texts": [{"text": one.text, "name": "compiled"}]}, {"by": "waste"}).top(most)
    except ValueError:
        return []
    out = []
    for row in rows:
        if row.padding and row.padding * 20 > row.stored and row.padding * row.count * 1000 > one.hbm:
            argument = row.op_name if row.op_name and row.op_name.startswith("given[") else None
            source = short(row.source or argument, names)
            out.append(f"  {bytes_text(row.padding * row.count):>10} of padding  {row.text}  {row.opcode}  {source}")
    return out


def diff(search: Search, tried: Tried) -> list[str]:
    """The change of the source file, as a diff; code alone if there is no file."""
    source = search.subject.source
    decorators = [line for line in tried.what.paste if line.startswith("@")]
    if source is None or not decorators:
        return [f"    {line}" for line in tried.what.paste]
    file, number = source
    before = pathlib.Path(file).read_text().splitlines()
    indent = re.match(r"\s*", before[number - 1])[0]  # type: ignore[index]
    name = re.match(r"@(\w+)", decorators[0])[1]  # type: ignore[index]
    names = f"{name}, pack_rows" if name == "packed_rows" else name
    after = list(before)
    after[number - 1 : number - 1] = [indent + line for line in decorators]
    first = next((i for i, line in enumerate(before) if re.match(r"(import|from) ", line)), 0)
    after[first:first] = [f"from tesela.tune import {names}"]
    return ["    " + line.rstrip("\n") for line in difflib.unified_diff(before, after, file, file, n=1, lineterm="")]


def text(search: Search, name: str) -> str:
    default, auto, names = search.default, search.auto, search.subject.names
    out = [f"{name} for {search.compiler.target}: {ALWAYS}", f"  as it is  {figures(default)}", f"  AUTO      {figures(auto)}"]
    if default.fits and auto.fits:
        worse = [
            f"{change(a, b)} {what}" for a, b, what in ((default.hbm, auto.hbm, "HBM"), (default.cycles, auto.cycles, "cycles"))
            if b > (1 + LEAST) * a
        ]  # fmt: skip
        if worse:
            out[-1] += f"  warning: AUTO is worse: {', '.join(worse)}"
    if default.fits:
        out += ["", "padded most:", *(padded(default, names) or ["  no array of which more than a twentieth is padding"])]
        out += ["", "cycles by source line, times the trips of loops:", *lines_of(default, names)]
        if default.blind:
            out += ["", "without an estimate of the compiler (counted at 512 bytes a cycle):"]
            for one in default.blind[:6]:
                trips = f" in {one.trips} trips" if one.trips > 1 else ""
                out.append(f"  {bytes_text(one.bytes):>10}  {one.opcode}  {one.shape[:60]}{trips}  {short(one.source, names)}")
        if default.unknown_trips:
            out.append(f"  loops of unknown trips, counted once: {', '.join(default.unknown_trips[:4])}")
    else:
        out += ["", default.message.splitlines()[0][:200]]
    out += ["", *findings(search)]
    refused = search.not_recommended()
    if refused:
        out += ["", "not recommended:", *(f"  {line}" for line in refused)]
    return "\n".join(out) + "\n"


def findings(search: Search) -> list[str]:
    found = search.findings()
    if not found:
        return [f"no slack: {len(search.tried)} changes tried, none saves 5 % of HBM or of the cycles without a loss ({ALWAYS})"]
    out = [f"findings, best first, of {len(search.tried)} changes tried in {search.compiler.compiles} compiles ({ALWAYS}):"]
    for n, one in enumerate(found, 1):
        hbm, cycles = change(search.default.hbm, one.measured.hbm), change(search.default.cycles, one.measured.cycles)
        out += ["", f"{n}. {one.what.words}", f"   {figures(one.measured).strip()}  ({hbm} HBM, {cycles} cycles)"]
        if one.apart is not None:
            apart = f"differ by {one.apart:.1e} of the largest value" if one.apart else "are equal"
            out.append(f"   on the CPU the results {apart}")
        blind, had = (sum(row.bytes for row in way.blind) for way in (one.measured, search.default))
        if blind > had and blind > 0.05 * 512 * one.measured.cycles:
            out.append(f"   less certain: {bytes_text(blind)} are moved without an estimate, {bytes_text(had)} before")
        if one.what.note:
            out.append(f"   {one.what.note}")
        out += diff(search, one)
    return out


def as_json(search: Search, name: str) -> dict[str, Any]:
    def row(one: Measured) -> dict[str, Any]:
        return {"fits": one.fits, "hbm_bytes": one.hbm, "argument_bytes": one.argument, "output_bytes": one.output, "temp_bytes": one.temp,
                "alias_bytes": one.alias, "cycles": one.cycles if one.fits else None}  # fmt: skip

    def tried(one: Tried) -> dict[str, Any]:
        return {"kind": one.what.kind, "words": one.what.words, "paste": list(one.what.paste), "note": one.what.note, "difference": one.apart,
                **row(one.measured)}  # fmt: skip

    return {
        "function": name, "target": search.compiler.target, "basis": ALWAYS, "compiles": search.compiler.compiles,
        "default": row(search.default), "auto": row(search.auto), "auto_is_better": better(search.auto, search.default), "findings": [tried(one) for one in search.findings()],
        "tried": [tried(one) for one in search.tried], "refused": search.not_recommended(),
    }  # fmt: skip
