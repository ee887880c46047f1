# SPDX-License-Identifier: Apache-2.0
"""`tesela report --baseline`, and what grew at the peak in `diff`. Expected bytes are counted here, from dims and tiles."""

import json
import os
import random

import pytest
from command import SOURCE, run
from report_verb import OOM, STEP

EARLIER = SOURCE / "examples/step-transposed.hlo.txt"
PEAKS = sorted((SOURCE / "tests/data/peak").glob("*.hlo"))

# The arrays alive at the peak that differ: by type and dims, bytes before and after. Before, the dim of 4096 is in the lanes.
CHANGES = {
    "f32[4096,20,24]": (20 * 24 * 4096 * 4, 4096 * 24 * 128 * 4),
    "f32[4096,6]": (8 * 4096 * 4, 4096 * 128 * 4),
    "f32[4096,24]": (24 * 4096 * 4, 4096 * 128 * 4),
    "pred[]": (0, 512),
}


def at_peak(before, after):
    done = run("diff", "--json", "--top=0", str(before), str(after))
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)["at_peak"]


def test_what_grew():
    found = at_peak(EARLIER, STEP)
    grew = {(one["shape"] or one["was"]).split("{")[0]: (one["before_bytes"], one["after_bytes"]) for one in found["changes"]}
    assert {key: value for key, value in grew.items() if value[1] > value[0]} == CHANGES
    first = found["changes"][0]
    assert (first["location"], first["op_name"], first["line"]) == ("step.py:11", "jit(step)/embed/gather", 39)
    lines = STEP.read_text().splitlines()
    assert all(one["name"] in lines[one["line"] - 1] for one in found["changes"] if one["shape"])


def test_changes_add_up():
    """Any two programs: what each type and dims has more or less is the difference of the peaks."""
    pick = random.Random(int(os.environ.get("TESELA_SEED", "1")))
    for _ in range(25):
        before, after = pick.sample(PEAKS, 2)
        found = at_peak(before, after)
        assert sum(one["bytes"] for one in found["changes"]) == found["after_bytes"] - found["before_bytes"], (before, after)
        back = at_peak(after, before)
        assert sorted(-one["bytes"] for one in back["changes"]) == sorted(one["bytes"] for one in found["changes"])
        assert all(one["bytes"] == one["after_bytes"] - one["before_bytes"] != 0 for one in found["changes"])


def test_the_line_that_caused_it():
    words = ["report", "--max-peak=64MiB", "--max-waste=50%", "--top=1", f"--baseline={EARLIER}", str(STEP)]
    done = run(*words)
    assert done.returncode == 1
    more = f"{(CHANGES['f32[4096,20,24]'][1] - CHANGES['f32[4096,20,24]'][0]) / 2**20:.2f} MiB more"
    notes = [line for line in done.stderr.decode().splitlines() if "note: since " in line]
    made_by = "f32[4096,20,24]{2,1,0:T(8,128)}: step.py:11, jit(step)/embed/gather, fusion.1"
    assert [line.split(": ", 3)[3] for line in notes] == [f"{more} of padding, {made_by}", f"{more} at the peak, {made_by}"]
    before, after = at_peak(EARLIER, STEP)["before_bytes"], at_peak(EARLIER, STEP)["after_bytes"]
    headline = f"HBM at the peak: {before / 2**20:.2f} MiB -> {after / 2**20:.2f} MiB (+{(after - before) / 2**20:.2f} MiB)"
    assert done.stdout.decode().partition("\nsince ")[2].splitlines()[1] == headline


def test_nothing_grew():
    done = run("report", "--max-peak=64MiB", f"--baseline={STEP}", str(STEP))
    assert done.returncode == 1 and b"no array has more bytes at the peak than in " in done.stderr
    done = run("report", f"--baseline={OOM}", str(OOM))
    assert done.returncode == 0 and b"no array takes more" in done.stdout


def test_arrays_of_memory_reports(tmp_path):
    """Without lives the array that adds most in all: here one entry is missing before."""
    text = OOM.read_text()
    cut = text.index("  1. Size:"), text.index("  2. Size:")
    earlier = tmp_path / "earlier.txt"
    earlier.write_text(text[: cut[0]] + text[cut[1] :])
    done = run("report", "--max-bytes=1GiB", f"--baseline={earlier}", str(OOM))
    more = 30_000_000 * 128 * 4 / 2**30
    assert f"{more:.2f} GiB more, s32[30000000,12]{{1,0:T(8,128)}}: tools/make_dumps.py:440" in done.stderr.decode()


@pytest.mark.parametrize("baseline", ["/no/such/file", str(SOURCE / "LICENSE"), "-"])
def test_baselines_that_cannot_be_read(baseline):
    done = run("report", f"--baseline={baseline}", str(STEP))
    assert done.returncode == 2 and done.stdout == b""
