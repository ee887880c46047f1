# SPDX-License-Identifier: Apache-2.0
"""Other offsets for a compiler's temporaries, beside those of libtpu: tests/data/peak/dumps has the buffer assignments and live ranges of
programs of this project, as libtpu wrote them. Plan and bound are checked from the texts, place by place and instant by instant."""

import json

import pytest
from buffer_dumps import DUMPS, NAMES, live, values
from command import run


def overlap(a, b):
    return a[0] < b[1] and b[0] < a[1]


def at_once(a, b):
    return a[4] <= b[5] and b[4] <= a[5]


def together(a, b):
    """Must two values keep their distance? They use one place at one time, or are of loops at one offset and size."""
    shared = overlap((a[2], a[2] + a[3]), (b[2], b[2] + b[3])) and at_once(a, b)
    return shared or (a[1] and b[1] and a[2:4] == b[2:4])


def folder_of(name, to):
    for path in DUMPS.glob(f"{name}.after_*"):
        (to / path.name).write_bytes(path.read_bytes())
    return to


@pytest.mark.parametrize("name", NAMES)
def test_plan_holds(name, tmp_path):
    found, needs = values(name)
    done = run("report", "--json", "--top", "0", str(folder_of(name, tmp_path)))
    (program,) = json.loads(done.stdout)["programs"]
    offsets = {(b["space"], b["instruction"] + (b["member"] or "{}")): b["planned_offset"] for b in program["buffers"]}
    for space in program["spaces"]:
        rows = found.get(space["space"], [])
        whole, arena = needs[space["space"]]
        if not rows:
            continue
        assert space["needs_bytes"] == whole and space["peak_bytes"] == whole - arena + live(rows)
        assert space["peak_bytes"] <= space["bound_bytes"] <= space["planned_bytes"] <= whole
        assert sum(space["lost"].values()) == whole - space["peak_bytes"] and min(space["lost"].values()) >= 0
        planned = [offsets[space["space"], row[0]] for row in rows]
        assert max(p + row[3] for p, row in zip(planned, rows, strict=True)) + whole - arena == space["planned_bytes"]
        assert all(p % space["alignment_bytes"] == 0 for p in planned)
        if space["planned_bytes"] == space["bound_bytes"]:  # "the least": nothing with such offsets is below what lives at once
            assert space["planned_bytes"] <= whole - arena + live(rows, space["alignment_bytes"])
        for i, a in enumerate(rows):
            for j, b in enumerate(rows[:i]):
                if together(a, b):
                    assert planned[i] - planned[j] == a[2] - b[2], (a, b)
                elif at_once(a, b):
                    assert not overlap((planned[i], planned[i] + a[3]), (planned[j], planned[j] + b[3])), (a, b)


def test_most_plans_are_the_best():
    """In one call: a folder of all programs. Fragmentation in the main memory of 77 programs, and in vector memory."""
    programs = json.loads(run("report", "--json", str(DUMPS)).stdout)["programs"]
    spaces = [space for program in programs for space in program["spaces"] if space["planned_bytes"] is not None]
    best = [space for space in spaces if space["planned_bytes"] == space["bound_bytes"]]
    assert len(programs) == len(NAMES) >= 40 and len(best) >= 0.8 * len(spaces)
    main = [s for s in spaces if s["space"] == 0]
    assert len(main) >= 40 and sum(s["planned_bytes"] == s["bound_bytes"] for s in main) >= 0.8 * len(main)
    assert sum(s["lost"]["by_offsets"] > 1 << 20 for s in spaces) >= 5


def texts(rows, arena):
    """A buffer assignment and live ranges: rows of (name, offset, bytes, first, last)."""
    assignment = [f"allocation 0: size {arena}, preallocated-temp:"]
    assignment += [f" value: <{i} {name} @0> (size={size},offset={at}): f32[{size // 4}]{{0:T(128)}}"
                   for i, (name, at, size, *_) in enumerate(rows)]  # fmt: skip
    ranges = ["HloLiveRange (max 9):", "  InstructionSequence:", *(f"    {i}:step.{i}" for i in range(9)), "  BufferLiveRange:"]
    ranges += [f"    {name.split(' ')[0]}{{}}:{first}-{last}" for name, _, _, first, last in rows]
    return "BufferAssignment:\n" + "\n".join(assignment) + "\n", "\n".join(ranges) + "\n"


K = 1024


@pytest.mark.parametrize(
    "what, rows, arena, planned, bound",
    [
        # a 0-2, b 2-5 on top, c 5-8 needs both places: the compiler leaves a hole of 1 KiB under b
        ("a hole", [("a", 0, K, 0, 1), ("b", K, 2 * K, 1, 4), ("c", 3 * K, K, 3, 4)], 4 * K, 3 * K, 3 * K),
        ("written in place: one array", [("a", 0, K, 0, 2), ("b", 0, K, 2, 4), ("c", K, K, 4, 5)], 2 * K, 2 * K, 2 * K),
        ("no hole", [("a", 0, K, 0, 2), ("b", K, K, 1, 3)], 2 * K, 2 * K, 2 * K),
        # the loop's value pauses while d uses its place: its two lives stay together, the compiler's plan is kept
        ("a loop's pause", [("a (phi)", 0, K, 0, 1), ("d", 0, K, 3, 4), ("b (phi)", 0, K, 6, 7)], K, K, K),
    ],
)
def test_small_plans(what, rows, arena, planned, bound, tmp_path):
    for ending, text in zip(("buffer-assignment", "live-range"), texts(rows, arena), strict=True):
        (tmp_path / f"m.after_optimizations-{ending}.txt").write_text(text)
    (program,) = json.loads(run("report", "--json", str(tmp_path)).stdout)["programs"]
    (space,) = program["spaces"]
    assert (space["needs_bytes"], space["planned_bytes"], space["bound_bytes"]) == (arena, planned, bound), what
