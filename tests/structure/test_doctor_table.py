# SPDX-License-Identifier: Apache-2.0
"""The table of docs/doctor.md says what tests/tpu/doctor/figures.tsv and outcomes.tsv have; and what tune recommends keeps its word."""

import csv
import re
from pathlib import Path

SOURCE = Path(__file__).parents[2]
DOCTOR = SOURCE / "tests" / "tpu" / "doctor"


def rows(name):
    lines = [line for line in (DOCTOR / name).read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


FIGURES, OUTCOMES = ({row["name"]: row for row in rows(name)} for name in ("figures.tsv", "outcomes.tsv"))
FINDINGS = rows("findings.tsv")
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
    written = sum(row["kind"] in ("sick", "other") for row in FIGURES.values())
    assert 3 * fifteen >= written  # a third of all with a small dim or a gather
    missed = [
        row["name"] for row in SICK
        if row["first"] == "no slack" and helps(FIGURES[row["name"]], FIGURES[row["name"]]["fix_hbm"], FIGURES[row["name"]]["fix_cycles"])
    ]  # fmt: skip
    assert counted("`no slack`") == [len(missed)]


def test_the_healthy_ones():
    quiet = sum(row["first"] == "no slack" for row in HEALTHY)
    assert counted("healthy programs") == [quiet, len(HEALTHY)] and quiet == len(HEALTHY) == 21


def test_every_program_was_tuned_and_every_recommendation_is_listed():
    assert set(OUTCOMES) == set(FIGURES)
    for name, row in OUTCOMES.items():
        first = [found for found in FINDINGS if found["name"] == name and found["place"] == "1"]
        if row["first"] == "no slack":
            assert not first, name
        else:
            assert [(found["hbm"], found["cycles"]) for found in first] == [(row["first_hbm"], row["first_cycles"])], name
        for column in ("hbm", "auto_hbm", "cycles", "auto_cycles"):
            assert row[column] == FIGURES[name][column], name
        assert int(row["compiles"]) <= 24


def test_never_worse_than_the_better_of_both():
    """Of all that is recommended: at most 1.05x the smaller HBM, at most 5 % more cycles than the faster of those that need at most 1.05x."""
    for row in FINDINGS:
        before = OUTCOMES[row["name"]]
        sides = [(number(before[f"{way}hbm"]), number(before[f"{way}cycles"])) for way in ("", "auto_")]
        if "Layout.AUTO" in row["paste"]:
            sides = sides[:1]
        least = min(side[0] for side in sides)
        assert number(row["hbm"]) <= 1.05 * least, row["name"]
        fastest = min(side[1] for side in sides if side[0] <= 1.05 * max(number(row["hbm"]), sides[0][0]))
        assert number(row["cycles"]) <= 1.05 * fastest, row["name"]


def test_programs_that_the_rewrites_had_not_seen():
    unseen = [row for row in OUTCOMES.values() if row["kind"] == "unseen"]
    assert counted("programs written before three of the rewrites: the first recommendation saves") == [sum(saves(row, 0.15) for row in unseen), len(unseen)] and len(unseen) == 12


def test_programs_of_narrow_types():
    types = [row for row in OUTCOMES.values() if row["kind"] == "types"]
    assert counted("programs in f8 and s4") == [sum(saves(row, 0.15) for row in types), len(types)] and len(types) == 2


def test_the_programs_in_which_a_fix_by_hand_does_not_help():
    other = [row for row in OUTCOMES.values() if row["kind"] == "other"]
    assert counted("of the programs whose fix") == [sum(row["first"] != "no slack" for row in other), len(other)] and len(other) == 12
