# SPDX-License-Identifier: Apache-2.0
"""The table of docs/doctor.md says what tests/tpu/doctor/figures.tsv and outcomes.tsv have; and what tune recommends keeps its word."""

import csv
import re
from pathlib import Path

SOURCE = Path(__file__).parents[2]
DOCTOR = SOURCE / "tests" / "tpu" / "doctor"


def rows(name):
    lines = [line for line in (DOCTOR / name).read_text().splitlines() if not line.startswith("#")]
    return {row["name"]: row for row in csv.DictReader(lines, delimiter="\t")}


FIGURES, OUTCOMES = rows("figures.tsv"), rows("outcomes.tsv")
SICK = [row for row in OUTCOMES.values() if row["kind"] == "sick"]
HEALTHY = [row for row in OUTCOMES.values() if row["kind"] == "healthy"]


def number(text):
    return int(re.sub(r"\D", "", text)) if text not in ("", "-") else None


def helps(before, hbm, cycles):
    """A fifth less of one, at most 5 % more of the other."""
    shares = number(hbm) / number(before["hbm"]), number(cycles) / number(before["cycles"])
    return min(shares) <= 0.8 and max(shares) <= 1.05


def saves(row, share):
    first = number(row["first_hbm"]), number(row["first_cycles"])
    return first[0] is not None and min(first[0] / number(row["hbm"]), first[1] / number(row["cycles"])) <= 1 - share


def table():
    text = (SOURCE / "docs" / "doctor.md").read_text().split("## How well it does")[1].split("\n## ")[0]
    return dict(re.findall(r"^\| (.+?) \| (.+?) \|$", text, re.M))


def counted(words):
    (cell,) = [cell for name, cell in table().items() if name.startswith(words)]
    return [int(found) for found in re.findall(r"\d+", cell)]


def test_the_fixes_by_hand():
    sick = [row for row in FIGURES.values() if row["kind"] == "sick"]
    good = sum(helps(row, row["fix_hbm"], row["fix_cycles"]) for row in sick)
    assert counted("a fix by hand") == [good, len(sick)] and good >= 25 and len(sick) == 30


def test_the_first_recommendation():
    half = sum(row["reached"] != "-" and number(row["reached"]) >= 50 for row in SICK)
    assert counted("the first recommendation reaches") == [half, len(SICK)] and half >= 20
    fifteen = sum(saves(row, 0.15) for row in SICK)
    assert counted("the first recommendation saves") == [fifteen, len(SICK)]
    written = sum(row["kind"] != "healthy" for row in FIGURES.values())
    assert 3 * fifteen >= written  # a third of all with a small dim or a gather
    missed = [
        row["name"] for row in SICK
        if row["first"] == "no slack" and helps(FIGURES[row["name"]], FIGURES[row["name"]]["fix_hbm"], FIGURES[row["name"]]["fix_cycles"])
    ]  # fmt: skip
    assert counted("`no slack`") == [len(missed)]


def test_the_healthy_ones():
    quiet = sum(row["first"] == "no slack" for row in HEALTHY)
    assert counted("healthy programs") == [quiet, len(HEALTHY)] and len(HEALTHY) == 18
    claimed = {row["name"] for row in HEALTHY if row["first"] != "no slack"}
    assert claimed == {"mlp_step", "wide_convolution", "decoder_step", "encoder", "gru"}
    assert all(row["hbm"] == row["first_hbm"] for row in HEALTHY if row["name"] in claimed)  # of cycles alone


def test_never_worse_than_the_better_of_both():
    for row in OUTCOMES.values():
        if row["first"] == "no slack":
            continue
        hbm, cycles = number(row["first_hbm"]), number(row["first_cycles"])
        assert hbm <= 1.05 * max(number(row["hbm"]), number(row["auto_hbm"])), row["name"]
        sides = [(number(row["hbm"]), number(row["cycles"])), (number(row["auto_hbm"]), number(row["auto_cycles"]))]
        best = min((side for side in sides if side[0] <= 1.05 * number(row["hbm"])), key=lambda side: side[1])
        assert cycles <= 1.05 * best[1], row["name"]
