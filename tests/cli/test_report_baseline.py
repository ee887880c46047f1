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


def tiled(n, k, order, bits):
    """Bytes of [n, k] in tiles of 8 x 128 of 32 bits; of 16 bits, two rows are side by side in one of 8."""
    rows, lanes = (n, k) if order == "1,0" else (k, n)
    return -(-rows // 8) * 8 * -(-lanes // 128) * 128 * bits // 8


class Regression:
    """A program as it was and as it is: one array of many is in another order, of more rows, or of another type."""

    def __init__(self, rng):
        count = rng.randint(4, 20)
        widths = rng.sample(range(3, 120), count)  # each array has dims of its own
        self.arrays = [(rng.randint(20_000, 90_000), k, rng.choice(["1,0", "0,1"]), rng.choice([32, 16])) for k in widths]
        self.lines = rng.sample(range(10, 1000), count)
        self.uses = [sorted(rng.sample(range(i), min(i, rng.randint(0, 2)))) for i in range(count)]
        self.changed = rng.randrange(count)
        n, k, order, bits = self.arrays[self.changed]
        self.what = rng.choice(["order", "rows", "type"])
        if self.what == "order":
            self.before, self.after = (n, k, "0,1", bits), (n, k, "1,0", bits)
        elif self.what == "rows":
            self.before, self.after = (n, k, order, bits), (n * 2, k, order, bits)
        else:
            self.before, self.after = (n, k, order, 16), (n, k, order, 32)

    def shape(self, array):
        n, k, order, bits = array
        return f"{'f32' if bits == 32 else 'bf16'}[{n},{k}]{{{order}:T(8,128){'' if bits == 32 else '(2,1)'}}}"

    def name(self, i):
        return f'op_name="jit(step)/layer{i}/op{i}" source_file="model.py" source_line={self.lines[i]}'

    def module(self, changed):
        """The changed array is used by the last operation, so it lives at each instant after its own; the first one makes it."""
        arrays = list(self.arrays)
        arrays[self.changed] = changed
        order = [self.changed, *(i for i in range(len(arrays)) if i != self.changed)]
        out = ["HloModule jit_step, is_scheduled=true", "", "ENTRY %main {", "  %p = f32[8,128]{1,0:T(8,128)} parameter(0)"]
        for i in order:
            used = [f"%t{j}" for j in self.uses[i] if order.index(j) < order.index(i)]
            out.append(f'  %t{i} = {self.shape(arrays[i])} custom-call({", ".join(["%p", *used])}), custom_call_target="c", metadata={{{self.name(i)}}}')
        out.append(f'  ROOT %r = f32[8,128]{{1,0:T(8,128)}} custom-call(%t{self.changed}), custom_call_target="c"')
        return "\n".join([*out, "}", ""])


def module_of(rng):
    """A small program that is the same in both."""
    return f"HloModule jit_small, is_scheduled=true\n\nENTRY %main {{\n  ROOT %p = f32[{rng.randint(1, 900)}]{{0:T(1024)}} parameter(0)\n}}\n"


def dump(folder, *modules):
    folder.mkdir()
    for number, text in enumerate(modules):
        (folder / f"module_{number:04}.jit_step.cl_1.after_optimizations.txt").write_text(text)
    return str(folder)


def test_a_regression_in_a_dump_is_explained_by_its_array_and_line(tmp_path):
    seed = int(os.environ.get("TESELA_SEED", "1"))
    rng, explained = random.Random(seed), set()
    small = module_of(rng)
    for turn in range(30):
        one = Regression(rng)
        old = dump(tmp_path / f"old{turn}", one.module(one.before), small)
        new = dump(tmp_path / f"new{turn}", one.module(one.after), small)
        done = run("report", "--json", "--top=0", "--max-peak=1KiB", f"--baseline={old}", new)
        assert done.returncode == 1, done.stderr
        at_peak = json.loads(done.stdout)["baseline"]["at_peak"]
        more = tiled(*one.after) - tiled(*one.before)
        assert at_peak["after_bytes"] - at_peak["before_bytes"] == more, f"TESELA_SEED={seed} turn {turn}"
        notes = [line for line in done.stderr.decode().splitlines() if "note: since " in line]
        by = f"{one.shape(one.after)}: model.py:{one.lines[one.changed]}, jit(step)/layer{one.changed}/op{one.changed}, t{one.changed}"
        if more > 0:
            assert len(notes) == 1 and notes[0].endswith(f" more at the peak, {by}"), f"TESELA_SEED={seed} turn {turn}: {notes} {by}"
            explained.add(one.what)
        else:
            assert len(notes) == 1 and "no array has more bytes at the peak than in " in notes[0], f"TESELA_SEED={seed} turn {turn}: {notes}"
    assert explained == {"order", "rows", "type"}


@pytest.mark.parametrize("baseline", ["/no/such/file", str(SOURCE / "LICENSE"), "-"])
def test_baselines_that_cannot_be_read(baseline):
    done = run("report", f"--baseline={baseline}", str(STEP))
    assert done.returncode == 2 and done.stdout == b""
