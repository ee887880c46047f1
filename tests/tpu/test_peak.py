# SPDX-License-Identifier: Apache-2.0
"""The peak of scheduled HLO text beside what the TPU's compiler says of the same programs, compiled here; then random programs."""

import json
import os
import subprocess

import peak_programs
import pytest

SWEEP = 12  # random programs


def report(*words, text=None):
    done = subprocess.run([os.environ["TESELA_COMMAND"], "report", "--json", "--top", "1", *words], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def near(bytes, of, least=256 << 10):
    return abs(bytes - of) <= max(0.03 * of, least)


def observe(made, target, folder):
    """The figures of the compiler by name, and our peaks by memory space."""
    sizes, text = peak_programs.compiled(peak_programs.lower(made, target), folder)
    figures = dict(zip(peak_programs.FIGURES, peak_programs.figures(sizes, folder), strict=True))
    text = peak_programs.bare(text)
    figures["vmem_least"] = peak_programs.vmem_outside_branches(folder, text) if " conditional(" in text else figures["vmem_live"]
    return figures, {peak["space"]: peak for peak in report("-", text=text)["peak"]}, text


def check(name, figures, peaks, text):
    """The bytes in use by the buffer assignment are ours; so is what memory_analysis() says, or a named array is the difference."""
    main = peaks[0]
    judge = figures["argument"] + figures["output"] - figures["alias"] + figures["temp"]
    excess = judge - main["bytes"]
    assert near(main["temporary_bytes"], figures["live"]), (name, figures, main)
    assert main["live"][0]["bytes"] == figures["largest"], (name, figures, main)
    vector = peaks.get(1, {"bytes": 0})["bytes"]
    least, most = figures["vmem_least"], figures["vmem_live"]  # equal where no branch gets an array
    assert 0.97 * least - 4096 <= vector <= max(1.03 * most, most + 4096), (name, figures, peaks.get(1))
    assert near(main["bytes"], judge) or (excess > 0 and figures["excess"]), (name, figures, main)


def check_plan(name, folder):
    """The planner of arenas needs at most what the compiler does, and at least what lives; returns whether each plan is the best."""
    (program,) = report(str(folder))["programs"]
    for space in program["spaces"]:
        if space["planned_bytes"] is not None:
            assert space["peak_bytes"] <= space["bound_bytes"] <= space["planned_bytes"] <= space["needs_bytes"], (name, space)
    return all(space["planned_bytes"] == space["bound_bytes"] for space in program["spaces"])


PROGRAMS = list(peak_programs.programs())


@pytest.mark.parametrize("name, target, made", PROGRAMS, ids=[name for name, *_ in PROGRAMS])
@pytest.mark.filterwarnings("ignore:Some donated buffers")
def test_peak(name, target, made, tmp_path):
    check(name, *observe(made, target, tmp_path))
    check_plan(name, tmp_path)


@pytest.mark.filterwarnings("ignore:Some donated buffers")
@pytest.mark.parametrize("number", range(SWEEP))
def test_random_programs(number, seed, tmp_path):
    made = peak_programs.Sweep(f"{seed} {number}").program()
    check(f"TESELA_SEED={seed}", *observe(made, made.targets[0], tmp_path))
    check_plan(f"TESELA_SEED={seed}", tmp_path)
