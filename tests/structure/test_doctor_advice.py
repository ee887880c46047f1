# SPDX-License-Identifier: Apache-2.0
"""The table "What the report promises" of docs/doctor.md counts tests/tpu/doctor/advice.tsv: promises of the report, outcomes of the compiler."""

import csv
import math
import re
from pathlib import Path

SOURCE = Path(__file__).parents[2]
DOCTOR = SOURCE / "tests" / "tpu" / "doctor"
APART = {"components", "products", "indices"}
"""One rewrite under three names."""


def rows(name):
    with open(DOCTOR / name) as file:
        return list(csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t"))


ADVICE = rows("advice.tsv")
FIGURES = {row["name"]: row for row in rows("figures.tsv")}
SICK = [name for name, row in FIGURES.items() if row["kind"] == "sick"]
SHOWN = [row for row in ADVICE if row["class"] in ("a", "b", "c") and row["name"] in SICK]
HELD_OUT = [row for row in ADVICE if row["name"] not in SICK]
FIRST = {name: next(row for row in ADVICE if row["name"] == name) for name in SICK}


def counted(words):
    text = (SOURCE / "docs" / "doctor.md").read_text().split("## What the report promises")[1].split("\n## ")[0]
    table = dict(re.findall(r"^\| (.+?) \| (.+?) \|$", text, re.M))
    (cell,) = [cell for name, cell in table.items() if name.startswith(words)]
    return [int(found) for found in re.findall(r"\d+", cell)]


def kept(row):
    """Half of the promised bytes or more."""
    before, promised, outcome = (int(row[column]) for column in ("hbm", "promised", "outcome"))
    return promised < before and 2 * (before - outcome) >= before - promised


def of_vectors(row):
    """An array of VMEM: no bytes of HBM are promised."""
    return "S(1)" in row["array"]


def gain(hbm, cycles, hbm_after, cycles_after):
    """Of bytes times cycles, in powers of two."""
    return math.log2(int(hbm) * int(cycles) / (int(hbm_after) * int(cycles_after)))


def reached(name):
    """The first change's saving as a share of that of the fix by hand; a fix that saves nothing is reached by what saves anything."""
    row, fix = FIRST[name], FIGURES[name]
    by_hand = gain(fix["hbm"], fix["cycles"], fix["fix_hbm"], fix["fix_cycles"])
    first = gain(row["hbm"], row["cycles"], row["outcome"], row["cycles_after"])
    return first / by_hand if by_hand > 0 else math.inf if first > 0 else 0.0


def test_every_program_is_there_and_every_change_that_is_shown_was_compiled():
    written = re.findall(r"^    Case\((\w+),", (DOCTOR / "held_out.py").read_text(), re.M)
    assert {row["name"] for row in ADVICE} == {*SICK, *written} and (len(SICK), len(written)) == (30, 10)
    assert all(row["outcome"].isdigit() and row["promised"].isdigit() for row in (*SHOWN, *HELD_OUT))
    for row in (row for row in ADVICE if row["name"] in SICK):
        assert row["hbm"] == FIGURES[row["name"]]["hbm"] and row["cycles"] == FIGURES[row["name"]]["cycles"], row["name"]


def test_promises_that_are_kept():
    for which in "bc":
        of_class = [row for row in SHOWN if row["class"] == which and not of_vectors(row)]
        assert counted(f"({which}) ") == [sum(map(kept, of_class)), len(of_class)]
        assert 4 * sum(map(kept, of_class)) >= 3 * len(of_class)
    others = [row for row in HELD_OUT if row["class"] != "-"]
    assert counted("the same of ten other programs") == [sum(map(kept, others)), len(others)]


def test_padding_of_the_vector_memory_is_time():
    of_time = list(filter(of_vectors, SHOWN))
    faster = sum(10 * int(row["cycles_after"]) <= 9 * int(row["cycles"]) for row in of_time)
    assert counted("where VMEM alone") == [faster, len(of_time)] and faster == len(of_time)


def test_the_first_change_beside_the_fix_by_hand():
    alike = sum(row["kind"] == row["fix"] or {row["kind"], row["fix"]} <= APART for row in FIRST.values())
    assert counted("the first change shown is") == [alike, len(SICK)]
    half = sum(FIRST[name]["kind"] != "silent" and reached(name) >= 0.5 for name in SICK)
    assert counted("the first change shown reaches") == [half, len(SICK)] and half >= 20
    silent = [name for name in SICK if FIRST[name]["kind"] == "silent"]
    assert counted("nothing is shown") == [len(silent), len(SICK)]
    for name in silent:  # they have no bytes to save
        assert int(FIGURES[name]["fix_hbm"]) > 0.95 * int(FIGURES[name]["hbm"]), name


def test_the_small_dim_first_saves_nothing():
    first = [row for row in ADVICE if row["kind"] == "first"]
    saved = [1 - int(row["outcome"]) / int(row["hbm"]) for row in first]
    assert counted("`first`") == [sum(one >= 0.05 for one in saved), len(first)]
