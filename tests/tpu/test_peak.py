# SPDX-License-Identifier: Apache-2.0
"""The peak of scheduled HLO text beside what the TPU's compiler says of the same programs, compiled here; then random programs."""

import json
import os
import subprocess

import buffer_records
import peak_programs
import pytest

SWEEP = 12  # random programs


def report(*words, text=None):
    done = subprocess.run([os.environ["TESELA_COMMAND"], "report", "--json", "--top", "1", *words], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def observe(made, target, folder):
    """The figures of the compiler by name, and our peaks by memory space."""
    sizes, text = peak_programs.compiled(peak_programs.lower(made, target), folder)
    text = peak_programs.bare(text)
    figures = peak_programs.figures(sizes, folder, text)
    return dict(zip(peak_programs.FIGURES, figures, strict=True)), {peak["space"]: peak for peak in report("-", text=text)["peak"]}


def check(name, figures, peaks):
    """The bytes in use by the buffer assignment are ours; so is what memory_analysis() says, or named arrays are the difference."""
    main, near = peaks[0], peak_programs.is_near
    judge = figures["argument"] + figures["output"] - figures["alias"] + figures["temp"]
    assert near(main["temporary_bytes"], figures["live"]), (name, figures, main)
    assert main["live"][0]["bytes"] == figures["largest"], (name, figures, main)
    vector = peaks.get(1, {"bytes": 0})["bytes"]
    assert near(vector, figures["vmem_live"], 4096), (name, figures, peaks.get(1))
    assert figures["holes"] != "?", (name, figures, main)
    if not near(main["bytes"], judge):
        assert main["bytes"] < judge and figures["temp"] <= 2 * figures["heap"] + buffer_records.ROUNDING, (name, figures, main)


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
