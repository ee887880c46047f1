# SPDX-License-Identifier: Apache-2.0
"""Scheduled HLO text of a TPU's compiler: its estimates of cycles, times the trips of loops, by source line.

    loop body 2429 cycles, 64 trips -> 155456 cycles

An instruction has the compiler's `estimated_cycles` or it has none: gathers, scatters, sorts, many copies, custom calls. Those are
listed with the bytes that they move and counted at BYTES_PER_CYCLE. Asynchronous copies run beside the rest: a computation takes at
least as long as its own copies do at that rate; what is beyond its other cycles is a stall.
"""

from __future__ import annotations

import functools
import re
from typing import Any, NamedTuple

from .._errors import LayoutError
from .._layout import layout

BYTES_PER_CYCLE = 512
"""How fast bytes are assumed to move that the compiler gives no estimate for; a v5e's memory does 546 at 1.5 GHz."""

COMPUTATION = re.compile(r"^(ENTRY )?%?([\w.-]+) \(.*\{\s*$")
INSTRUCTION = re.compile(r"^\s+(ROOT )?%?([\w.-]+) = (.*)$")
ARRAY = re.compile(r"[a-z][a-z0-9]*\[[0-9,<=]*\](?:\{[^}]*\})?")
FREE = {
    "parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all", "opt-barrier", "partition-id", "replica-id",
    "copy-done", "slice-done", "async-done", "async-update", "add-dependency", "iota",
}  # fmt: skip
FREE_CALLS = ("AllocateBuffer", "ConcatBitcast", "SliceBitcast", "AssumeGatherIndicesInBound", "Sharding")
ASYNC = ("copy-start", "slice-start", "async-start", "dynamic-slice-start", "dynamic-update-slice-start")
ROWS = ("gather", "dynamic-slice")
UPDATES = ("scatter", "dynamic-update-slice")


class Instruction(NamedTuple):
    name: str
    opcode: str
    shape: str
    inside: str
    """Between the brackets: operands, or a constant's value."""
    rest: str
    """Everything after the operands: attributes, metadata, the backend's configuration."""
    root: bool

    @property
    def operands(self) -> list[str]:
        return re.findall(r"%([\w.-]+)", self.inside)

    def attribute(self, name: str) -> str | None:
        found = re.search(rf"\b{name}=%?([\w.-]+)", self.rest)
        return found[1] if found else None

    @property
    def constant(self) -> int | None:
        """The value of a constant."""
        return int(self.inside) if re.fullmatch(r"\d+", self.inside) else None

    @property
    def cycles(self) -> int | None:
        found = re.search(r'"estimated_cycles":"(\d+)"', self.rest)
        return int(found[1]) if found else None


class Cost(NamedTuple):
    """What one source line takes in a run of the whole program."""

    cycles: float
    moved: int
    """Bytes of operations without an estimate."""
    stalls: float

    def __add__(self, other: object) -> Cost:
        assert isinstance(other, Cost)
        return Cost(self.cycles + other.cycles, self.moved + other.moved, self.stalls + other.stalls)

    def times(self, n: int) -> Cost:
        return Cost(self.cycles * n, self.moved * n, self.stalls * n)

    @property
    def total(self) -> float:
        return self.cycles + self.moved / BYTES_PER_CYCLE + self.stalls


NOTHING = Cost(0, 0, 0)


class Unestimated(NamedTuple):
    opcode: str
    name: str
    shape: str
    bytes: int
    """Of all trips."""
    trips: int
    source: str | None


@functools.cache
def array_bytes(shape: str) -> int:
    """Allocated bytes of all arrays in a shape's text: "f32[8,3]{1,0:T(8,128)}" is 4096."""
    total = 0
    for one in ARRAY.findall(shape):
        try:
            total += int(layout(one).info()["allocated_bytes"])
        except LayoutError:
            continue
    return total


def split_shape(text: str) -> tuple[str, str]:
    """The shape that a text begins with, and what follows it."""
    if not text.startswith("("):
        shape, _, rest = text.partition(" ")
        return shape, rest
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return text[: at + 1], text[at + 1 :].lstrip()
    return text, ""


def instruction(line: str) -> Instruction | None:
    found = INSTRUCTION.match(line)
    if not found:
        return None
    shape, rest = split_shape(found[3])
    opcode, bracket, rest = rest.partition("(")
    if not bracket or not re.fullmatch(r"[a-z][a-z0-9-]*", opcode):
        return None
    inside, _, after = rest.partition(")")
    return Instruction(found[2], opcode, shape, inside, after, found[1] is not None)


class Module:
    """The computations of one module's text."""

    def __init__(self, text: str) -> None:
        self.computations: dict[str, dict[str, Instruction]] = {}
        self.entry = ""
        self.unknown_trips: list[str] = []
        """Loops whose trips the text does not tell; their bodies count once."""
        self._tables: dict[str, dict[int, Any]] = {}
        now: dict[str, Instruction] | None = None
        table: dict[int, Any] | None = None
        for line in text.splitlines():
            head = COMPUTATION.match(line)
            if head:
                now = self.computations.setdefault(head[2], {})
                table = None
                self.entry = head[2] if head[1] else self.entry
            elif line.startswith("}"):
                now = None
            elif now is not None:
                one = instruction(line)
                if one:
                    now[one.name] = one
            elif line in ("FileNames", "FunctionNames", "FileLocations", "StackFrames"):
                table = self._tables.setdefault(line, {})
            elif table is not None and line[:1].isdigit():
                number, _, rest = line.partition(" ")
                table[int(number)] = rest

    # ---- source lines

    def source(self, rest: str) -> str | None:
        """ "step.py:12" of an instruction's attributes; of a copy of an argument its name, "given[0]"; or None."""
        frame = re.search(r"stack_frame_id=(\d+)", rest)
        if not frame:
            old = re.search(r'source_file="([^"]*)" source_line=(\d+)', rest)
            argument = re.search(r'op_name="(given\[\d+\])"', rest)
            return f"{old[1]}:{old[2]}" if old else argument[1] if argument else None
        entry = self._tables.get("StackFrames", {}).get(int(frame[1]), "")
        place = re.search(r"file_location_id=(\d+)", entry)
        where = self._tables.get("FileLocations", {}).get(int(place[1]), "") if place else ""
        file, line = re.search(r"file_name_id=(\d+)", where), re.search(r"\bline=(\d+)", where)
        if not file or not line:
            return None
        name = str(self._tables["FileNames"].get(int(file[1]), "?"))
        return name.strip('"') + ":" + line[1]

    # ---- trips

    def trips(self, loop: Instruction) -> int | None:
        """How often a while loop's body runs: the compiler's count, or the constant that its condition compares a counter with."""
        known = re.search(r'"known_trip_count":\{"n":"(\d+)"', loop.rest)
        if known:
            return int(known[1])
        condition = self.computations.get(loop.attribute("condition") or "", {}).values()
        limits = [one.constant for one in condition if one.opcode == "constant" and one.shape[:5] in ("s32[]", "u32[]")]
        return limits[0] if len(limits) == 1 else None

    # ---- costs

    def called(self, one: Instruction) -> list[str]:
        names = [one.attribute(name) for name in ("calls", "to_apply")]
        return [name for name in names if name in self.computations]

    def opcodes(self, one: Instruction) -> set[str]:
        """The opcode, and those of what a fusion calls."""
        found = {one.opcode}
        for name in self.called(one):
            found |= {inner.opcode for inner in self.computations[name].values()}
        return found

    def moved(self, one: Instruction, among: dict[str, Instruction]) -> int:
        """Bytes that an operation reads and writes; rows of a gathered operand only as often as they are read."""
        result = array_bytes(one.shape)
        read = [array_bytes(among[name].shape) for name in one.operands if name in among]
        inside = self.opcodes(one)
        if inside & set(UPDATES) and read:
            return 2 * (sum(read) - max(read))
        if inside & set(ROWS):
            return result + sum(min(size, result) for size in read)
        return result + sum(read)

    def costs(self) -> tuple[dict[str | None, Cost], list[Unestimated]]:
        """By source line, and the operations without an estimate, those that move most first."""
        lines: dict[str | None, Cost] = {}
        blind: list[Unestimated] = []
        self._walk(self.entry, 1, lines, blind)
        return lines, sorted(blind, key=lambda one: -one.bytes)

    def _walk(self, name: str, trips: int, lines: dict[str | None, Cost], blind: list[Unestimated]) -> None:
        among = self.computations.get(name, {})
        own, copied, source_of_copy = 0.0, 0, None
        for one in among.values():
            if one.opcode in ("while", "call", "conditional"):
                self._called(one, trips, lines, blind)
                continue
            if one.opcode in FREE or (one.opcode == "custom-call" and any(f'"{free}"' in one.rest for free in FREE_CALLS)):
                continue
            source = self.source(one.rest)
            if one.opcode in ASYNC:
                copied += array_bytes(one.shape) or 0
                source_of_copy = source_of_copy or source
                continue
            cycles, moved = one.cycles, 0
            if cycles is None:
                moved = self.moved(one, among)
                if moved >= 65536:  # below that an operation's own overhead is larger
                    blind.append(Unestimated(self.kind(one), one.name, one.shape, moved * trips, trips, source))
            cost = Cost(cycles or 0, moved, 0)
            own += cost.total
            lines[source] = lines.get(source, NOTHING) + cost.times(trips)
        stall = copied / BYTES_PER_CYCLE - own
        if stall > 0:
            lines[source_of_copy] = lines.get(source_of_copy, NOTHING) + Cost(0, 0, stall * trips)

    def kind(self, one: Instruction) -> str:
        """What people call it: the target of a custom call, the gather in a fusion."""
        target = re.search(r'custom_call_target="([^"]*)"', one.rest)
        inside = sorted(self.opcodes(one) & {*ROWS, *UPDATES, "sort", "convolution"})
        return target[1] if target else " ".join(inside) or one.opcode

    def _called(self, one: Instruction, trips: int, lines: dict[str | None, Cost], blind: list[Unestimated]) -> None:
        if one.opcode == "while":
            n = self.trips(one)
            if n is None:
                self.unknown_trips.append(one.name)
            for part in ("condition", "body"):
                self._walk(one.attribute(part) or "", trips * (1 if n is None else n), lines, blind)
            return
        names = self.called(one)
        branches = re.search(r"branch_computations=\{([^}]*)\}", one.rest)
        if branches:
            names = re.findall(r"[\w.-]+", branches[1])
        elif one.opcode == "conditional":
            names = [name for part in ("true_computation", "false_computation") if (name := one.attribute(part))]
        found: list[tuple[float, dict[str | None, Cost], list[Unestimated]]] = []
        for name in names:
            inner: dict[str | None, Cost] = {}
            seen: list[Unestimated] = []
            self._walk(name, trips, inner, seen)
            found.append((sum(cost.total for cost in inner.values()), inner, seen))
        if not found:
            return
        _, inner, seen = max(found, key=lambda way: way[0])  # of branches the dearest
        blind += seen
        for source, cost in inner.items():
            lines[source] = lines.get(source, NOTHING) + cost
