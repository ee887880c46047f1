# SPDX-License-Identifier: Apache-2.0
"""The buffer assignments and live ranges of tests/data/peak/dumps, as libtpu wrote them, read from their texts."""

import re
from pathlib import Path

DUMPS = Path(__file__).parent.parent / "data" / "peak" / "dumps"
NAMES = sorted({path.name.split(".after_")[0] for path in DUMPS.iterdir()})
VALUE = re.compile(r" value: <(\d+) (\S+?)(\{[\d,]*\})?( \(phi\))? @\d+> \(size=(\d+),offset=(\d+)\)")


def values(name):
    """{space: [(name, carried, offset, bytes, first, last)]} of temporaries, and {space: (needs, arena)}."""
    ranges = (DUMPS / f"{name}.after_optimizations-live-range.txt").read_text()
    life = {n: (int(a), int(b)) for n, a, b in re.findall(r"^ +(\S+):(\d+)-(\d+)$", ranges, re.M)}
    found, needs, space, temporary = {}, {}, 0, False
    for line in (DUMPS / f"{name}.after_optimizations-buffer-assignment.txt").read_text().splitlines():
        if start := re.match(r"allocation \d+: size (\d+)(?:, color (\d+))?(.*)", line):
            space, temporary = int(start[2] or 0), "preallocated-temp" in start[3]
            whole, arena = needs.get(space, (0, 0))
            needs[space] = (whole + int(start[1]), arena + int(start[1]) * temporary)
        elif temporary and (v := VALUE.match(line)) and int(v[5]) > 0:
            full = v[2] + (v[3] or "{}")
            found.setdefault(space, []).append((full, bool(v[4]), int(v[6]), int(v[5]), *life[full]))
    return found, needs


def united(spans):
    """Blocks [first, end] of spans (first, end): those that overlap are one."""
    blocks = []
    for first, end in sorted(spans):
        if blocks and first < blocks[-1][1]:
            blocks[-1][1] = max(blocks[-1][1], end)
        else:
            blocks.append([first, end])
    return blocks


def at_the_peak(rows, piece=1):
    """(bytes in use at the fullest instant, the first such instant): values that overlap are one block, in whole pieces."""
    most, at = 0, -1
    for instant in sorted({row[4] for row in rows}):
        blocks = united((r[2], r[2] + r[3]) for r in rows if r[4] <= instant <= r[5])
        bytes = sum(-(-(end - first) // piece) * piece for first, end in blocks)
        if bytes > most:
            most, at = bytes, instant
    return most, at


def live(rows, piece=1):
    return at_the_peak(rows, piece)[0]
