# SPDX-License-Identifier: Apache-2.0
"""What the TPU's compiler wrote of a program's memory: its buffer assignment, live ranges and values, in a folder."""

import pathlib
import re
from dataclasses import dataclass, field
from itertools import combinations

ALLOCATION = re.compile(r"allocation (\d+): size (\d+)(.*)")
VALUE = re.compile(r" value: <\d+ (\S+?)(\{[\d,]*\})?(?: \(phi\))? @\d+> \(size=(\d+),offset=(\d+)\)")


@dataclass
class Assignment:
    """Of the temporaries of a memory space."""

    arena: int = 0  # bytes of the allocation
    values: list = field(default_factory=list)  # (name, offset, bytes, first and last instant)
    peak: int = 0  # most bytes in use at an instant
    at: int = -1  # the first such instant
    largest: int = 0  # of the arrays in use then


def record(folder, ending):
    (path,) = pathlib.Path(folder).glob(f"*after_optimizations-{ending}.txt")
    return path.read_text()


def lives(folder):
    """{"fusion.1" or "fusion.1{0}": (first, last)}."""
    found = {}
    for name, first, last in re.findall(r"^ +(\S+):(\d+)-(\d+)$", record(folder, "live-range"), re.M):
        found[name.removesuffix("{}")] = (int(first), int(last))
    return found


def united(spans):
    """Bytes of (first, end) spans, those in common once."""
    total = last = 0
    for first, end in sorted(spans):
        total, last = total + max(0, end - max(first, last)), max(last, end)
    return total


def assignment(folder, dead):
    """({space: Assignment}, bytes of the largest array alive at the peak of the main memory). dead: {name: instants} of vector memory."""
    life, spaces, always = lives(folder), {0: Assignment(), 1: Assignment()}, 0
    made = None
    for line in record(folder, "buffer-assignment").splitlines():
        if start := ALLOCATION.match(line):
            space = int((re.search(r"color (\d+)", start[3]) or [0, 0])[1])
            made = spaces.setdefault(space, Assignment()) if "preallocated-temp" in start[3] else None
            if made:
                made.arena += int(start[2])
            elif space == 0:
                always = max(always, int(start[2]))
        elif made and (value := VALUE.match(line)):
            name = value[1] + (value[2] or "").removesuffix("{}")
            made.values.append((name, int(value[4]), int(value[3]), *life[name]))
    for space, made in spaces.items():
        gone = dead if space == 1 else {}
        for at in sorted({first for *_, first, _ in made.values}):
            alive = [v for v in made.values if v[3] <= at <= v[4] and at not in gone.get(v[0], ())]
            used = united((offset, offset + size) for _, offset, size, *_ in alive)
            if used > made.peak:
                made.peak, made.at, made.largest = used, at, max(size for _, _, size, *_ in alive)
    return spaces, max(always, spaces[0].largest)


# ---- branches ----


def conditionals(text, instants):
    """{name: (instant, [instants of each branch])} of a scheduled text. The branches run right before the conditional."""
    found, called, last = {}, {}, {}
    for line in text.splitlines():
        if head := re.match(r"(?:ENTRY )?%(\S+) .*\{$", line):
            computation = head[1]
        elif (one := re.match(r"  (?:ROOT )?%(\S+) = ", line)) and one[1] in instants:
            if listed := re.search(r" conditional\(.*branch_computations=\{(.*?)\}", line):
                called[one[1]] = last.get(computation, -1) + 1, re.findall(r"%([^\s,]+)", listed[1])
            last[computation] = instants[one[1]]
    for name, (begin, branches) in called.items():
        spans = []
        for branch in branches:
            spans.append(range(begin, last[branch] + 1))
            begin = last[branch] + 1
        found[name] = instants[name], spans
    return found


def users(folder):
    """(name, instructions that use it, block of the record) of each array of vector memory."""
    for block in re.split(r"\n(?=<\d+ )", record(folder, "buffer-assignment-values")):
        if head := re.match(r"<\d+ (\S+?)(\{[\d,]*\})?(?: \(phi\))? @1>", block):
            yield head[1] + (head[2] or "").removesuffix("{}"), set(re.findall(r"\n  (\S+), operand", block)), block


def dead_in_branches(folder, text):
    """{name: instants} at which an array of vector memory is not used any more although it lives by the live ranges: by those, what a
    conditional gets, with all that shares its memory, lives to its last use in any branch, but memory space assignment gives the memory
    away in a branch that does not use it again."""
    instants = {name: int(at) for at, name in re.findall(r"^ +(\d+):(\S+)$", record(folder, "live-range"), re.M)}
    branches, dead, last_use = conditionals(text, instants), {}, {}
    bodies = dict(re.findall(r"%(\S+) = [^\n]* while\(.*body=%([^\s,]+)", text))
    parameters = dict(re.findall(r"\n%(\S+) \(.*\n(?:  .*\n)*?  %(\S+) = .* parameter\(0\)", text))

    def instant(user, block):
        """A conditional uses its operands as its first branch begins; a loop, those that it changes, as its body does."""
        if user in branches:
            return branches[user][1][0].start
        parameter = parameters.get(bodies.get(user))
        return instants[user if parameter is None or f"\n  {parameter} " in block else parameter]

    for name, names, block in users(folder):
        at_work = {instant(user, block) for user in names & instants.keys()}
        last_use[name] = max(at_work, default=None)
        for at, spans in (branches[user] for user in names & branches.keys()):
            apart = {i for _, rest in branches.values() if any(at in span for span in rest) for span in rest if at not in span for i in span}
            if any(use > at and use not in apart for use in at_work):
                continue
            gone = dead.setdefault(name, {at})
            for span in spans:
                gone |= set(range(max((use for use in at_work if use in span), default=span.start) + 1, span.stop))
    places = {name: place for name, *place in assignment(folder, {})[0][1].values}
    for name, (offset, size, _, last) in places.items():
        shared = [dead[other] for other, place in places.items() if place[:2] == [offset, size] and other in dead]
        if shared and last_use.get(name) is not None:
            dead[name] = dead.get(name, set()) | set(range(last_use[name] + 1, last + 1)) & set.union(*shared)
    return dead


# ---- what memory_analysis() says beyond the bytes in use ----
#
# Its figure of temporaries is the arena and the arena's fragmentation: what of the arena it finds no array in, at the peak. So fragmentation
# counts twice, once in the arena and once in no allocation. It finds fewer arrays than the live ranges have: of loops and branches it leaves
# out some.

SPACING = 16 << 10  # bytes from one small array to the next
ROUNDING = 48 << 10  # bytes: the spacing of what comes after the buffer assignment, twice, and some tables


def footprint(value):
    return value[1], value[1] + max(value[2], SPACING)


def without(parts, span):
    """The parts, (first, end) each, outside of a span."""
    cut = [((first, min(end, span[0])), (max(first, span[1]), end)) for first, end in parts]
    return [part for pair in cut for part in pair if part[0] < part[1]]


def in_holes(made):
    """The arrays whose memory is idle at the peak: dead then, and of two the one that lives with an array of the peak, which so could not have
    its memory. Small arrays are not named. None: there is memory that no array ever has."""
    parts, names = [(0, made.arena)], []
    alive = [v for v in made.values if v[3] <= made.at <= v[4] and v[2]]
    for value in (v for v in made.values if v in alive or v[2] < SPACING):
        parts = without(parts, footprint(value))
    dead = [v for v in made.values if v[2] >= SPACING and v not in alive]
    dead.sort(key=lambda v: not any(v[3] <= a[4] and a[3] <= v[4] for a in alive))
    while united(parts) > ROUNDING:
        best = min(dead, key=lambda v: united(without(parts, footprint(v))), default=None)
        if best is None or united(without(parts, footprint(best))) == united(parts):
            return None
        parts = without(parts, footprint(best))
        names.append(best[0])
    return names


def left_out(made, temporaries, text):
    """The arrays alive at the peak, if possible of other computations than the entry, of whose bytes is what memory_analysis() does not find in
    use. None: there are no such arrays."""
    bytes = temporaries - 2 * made.arena + made.peak
    entry = set(re.findall(r"\n  (?:ROOT )?%(\S+) = ", text[text.index("\nENTRY ") :]))
    alive = [v for v in made.values if v[3] <= made.at <= v[4] and v[2] >= ROUNDING]
    alive.sort(key=lambda v: v[0].split("{")[0] in entry)
    for n in range(len(alive) + 1 if len(alive) < 16 else 3):
        for some in combinations(alive, n):
            if -ROUNDING <= bytes - sum(v[2] for v in some) <= ROUNDING:
                return [v[0] for v in some]
    return None
