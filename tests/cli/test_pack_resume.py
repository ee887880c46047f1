# SPDX-License-Identifier: Apache-2.0
"""`tesela pack --resume`: killed before calls drawn by chance, again and again, then finished: the bytes are those of an uninterrupted
run. What is kept of an earlier run, and what is not: after a change of the input, of the rules, of the record."""

import fcntl
import json
import os
import random
import signal
import subprocess

import pytest
from command import TESELA, disturbed, environment, run
from tensor_bytes import safetensors

SEED = int(os.environ.get("TESELA_SEED", "20261123"), 0)
TENSORS = 600  # more than two times those that are recorded together
STEP = 256  # tensors
FIRST, LINE = 42, 33  # bytes of the lines of a record
RULES = ["a*={0,1:T(4,8)}", "b*={1,0:T(2,2)}"]
CHAINS = 12


@pytest.fixture(scope="module")
def preload():
    with disturbed() as words:
        yield words


def tensors_of(seed, n=TENSORS, begin=0):
    rng = random.Random(seed)
    shapes = [("I8", [3, 5], 15), ("I16", [4, 9], 72), ("F32", [2, 2], 16), ("I8", [7], 7), ("I8", [0, 3], 0)]
    tensors = {}
    for i in range(begin, begin + n):
        dtype, shape, size = shapes[i % len(shapes)]
        tensors[f"{'ab'[i % 2]}.{i}"] = (dtype, shape, rng.randbytes(size))
    return tensors


def model(seed):
    return safetensors(tensors_of(seed), {"by": "hand"})


def partial(path):
    return path.parent / f".{path.name}.partial.tesela"


def pack(source, out, *words, status=0, rules=RULES, **how):
    done = run("pack", str(source), "-o", str(out), *rules, *words, **how)
    assert done.returncode == status, done.stderr.decode()
    return done


def resumed(source, out, *words, **how):
    """The number of tensors that are kept."""
    return json.loads(pack(source, out, "--resume", "--json", *words, **how).stdout)["n_resumed"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A file, what becomes of it, and the partial file of a run that was killed before its last line was written."""
    folder = tmp_path_factory.mktemp("whole")
    source, out = folder / "m.safetensors", folder / "p.safetensors"
    source.write_bytes(model(1))
    pack(source, out)
    return source, out


def kill(preload, k, *words):
    """Was the run killed, before call k?"""
    child = subprocess.run([TESELA, *map(str, words)], env=environment(**preload, DISTURB_KILL=str(k)), stderr=subprocess.PIPE)
    assert child.returncode in (0, -signal.SIGKILL), child.stderr.decode()
    return child.returncode != 0


def left_by_a_kill(preload, source, out, kept):
    """The partial file of the first run that was killed with so many lines in its record."""
    for k in range(5, 200):
        partial(out).unlink(missing_ok=True)
        out.unlink(missing_ok=True)
        assert kill(preload, k, "pack", source, "-o", out, *RULES, "--resume"), "no run was killed at that moment"
        if partial(out).exists() and partial(out).stat().st_size - len_of(source) == FIRST + kept * LINE:
            return partial(out).read_bytes()
    raise AssertionError


def len_of(source):
    """Bytes of the output, without a record."""
    return len((source.parent / "p.safetensors").read_bytes())


@pytest.fixture(scope="module")
def half(whole, preload, tmp_path_factory):
    """A partial file with a record of two times STEP tensors."""
    return left_by_a_kill(preload, whole[0], whole[0].parent / "q.safetensors", 2 * STEP)


# ---- killed ----


def test_kills_at_random_then_the_same_bytes(whole, preload, tmp_path):
    rng, (source, packed), out = random.Random(SEED), whole, tmp_path / "out.safetensors"
    print("seed", SEED)
    want, kills, kept = packed.read_bytes(), 0, set()
    for _ in range(CHAINS):
        for _ in range(rng.randint(1, 4)):
            killed = kill(preload, rng.randint(1, 40), "pack", source, "-o", out, *RULES, "--resume")
            kills += killed
            if out.exists():
                assert out.read_bytes() == want
            elif not killed:
                raise AssertionError("done without an output")
        kept.add(resumed(source, out))
        assert out.read_bytes() == want and os.listdir(tmp_path) == ["out.safetensors"]
        out.unlink()
    assert kills > CHAINS / 2 and len(kept) > 1, "the kills are not where they should be"


def test_kills_between_windows(preload, tmp_path):
    """Tensors that are copied in several windows, each with a call of its own."""
    rng, source, out = random.Random(SEED), tmp_path / "m.safetensors", tmp_path / "out.safetensors"
    print("seed", SEED)
    source.write_bytes(safetensors({f"a.{i}": ("I8", [300 + i, 501], rng.randbytes((300 + i) * 501)) for i in range(8)}))
    words = ("pack", source, "-o", out, "a*={1,0:T(8,128)}", "--resume", "--memory=1MiB", "--threads=2")
    assert not kill(preload, 10**6, *words)
    want = out.read_bytes()
    out.unlink()
    kills = 0
    for _ in range(CHAINS):
        for _ in range(rng.randint(1, 4)):
            kills += kill(preload, rng.randint(1, 60), *words)
            assert not out.exists() or out.read_bytes() == want
        assert not kill(preload, 10**6, *words)
        assert out.read_bytes() == want and sorted(os.listdir(tmp_path)) == ["m.safetensors", "out.safetensors"]
        out.unlink()
    assert kills > CHAINS / 2


def test_what_was_recorded_is_kept(whole, half, tmp_path):
    source, packed = whole
    out = tmp_path / "out.safetensors"
    partial(out).write_bytes(half)
    assert resumed(source, out) == 2 * STEP
    assert out.read_bytes() == packed.read_bytes() and os.listdir(tmp_path) == ["out.safetensors"]


def test_it_is_kept_without_being_written_again(whole, half, tmp_path):
    """A byte that is wrong in the partial file stays wrong: the tensor is not copied. --verify finds it, and then nothing is kept."""
    source, packed = whole
    out, want = tmp_path / "out.safetensors", packed.read_bytes()
    header = len(want) - sum(len(data) for data in packed_data(want))
    wrong = bytearray(half)
    wrong[header] ^= 1  # of data of the widest type; a tensor among the first ones
    partial(out).write_bytes(wrong)
    assert resumed(source, out) == 2 * STEP
    assert out.read_bytes() == wrong[: len(want)]
    out.unlink()
    partial(out).write_bytes(wrong)
    done = pack(source, out, "--resume", "--verify", status=3)
    assert b"tensor " in done.stderr and not out.exists()
    assert resumed(source, out, "--verify") == 0 and out.read_bytes() == want


def packed_data(file):
    length = int.from_bytes(file[:8], "little")
    header = json.loads(file[8 : 8 + length])
    return [file[8 + length :][slice(*t["data_offsets"])] for name, t in header.items() if name != "__metadata__"]


def test_an_output_without_resume_does_not_touch_it(whole, half, tmp_path):
    source, packed = whole
    out = tmp_path / "out.safetensors"
    partial(out).write_bytes(half)
    pack(source, out)
    assert out.read_bytes() == packed.read_bytes() and partial(out).read_bytes() == half


# ---- changes ----


@pytest.mark.parametrize("changed", [0, 1, STEP - 1, STEP + 7, 2 * STEP, TENSORS - 2])
def test_a_changed_input_is_copied_again_from_there(whole, half, tmp_path, changed):
    """Its size and times stay."""
    source, out, fresh = tmp_path / "m.safetensors", tmp_path / "out.safetensors", tmp_path / "fresh.safetensors"
    tensors = tensors_of(1)
    while not tensors[list(tensors)[changed]][2]:
        changed += 1  # one that has bytes
    name = list(tensors)[changed]
    dtype, shape, data = tensors[name]
    source.write_bytes(model(1))
    times = (os.stat(source).st_atime_ns, os.stat(source).st_mtime_ns)
    tensors[name] = dtype, shape, data[:-1] + bytes([data[-1] ^ 0x80])
    source.write_bytes(safetensors(tensors, {"by": "hand"}))
    os.utime(source, ns=times)
    partial(out).write_bytes(half)
    assert resumed(source, out) == min(changed, 2 * STEP)
    pack(source, fresh)
    assert out.read_bytes() == fresh.read_bytes() != whole[1].read_bytes()


def test_the_same_input_elsewhere_is_the_same(whole, half, tmp_path):
    source, out = tmp_path / "again", tmp_path / "out.safetensors"
    source.write_bytes(model(1))
    partial(out).write_bytes(half)
    assert resumed(source, out) == 2 * STEP and out.read_bytes() == whole[1].read_bytes()


OTHERS = {
    "a rule": (["a*={0,1:T(4,8)}", "b*={0,1:T(2,2)}"], []),
    "a rule of the same size": (["a*={0,1:T(8,4)}", "b*={1,0:T(2,2)}"], []),
    "one rule less": (RULES[:1], []),
    "the fill": (RULES, ["--fill=1"]),
    "no fill": (RULES, ["--fill=leave"]),
}


@pytest.mark.parametrize("name", OTHERS)
def test_changed_rules_begin_anew(whole, half, tmp_path, name):
    rules, words = OTHERS[name]
    out, fresh = tmp_path / "out.safetensors", tmp_path / "fresh.safetensors"
    partial(out).write_bytes(half)
    assert resumed(whole[0], out, *words, rules=rules) == 0
    pack(whole[0], fresh, *words, rules=rules)
    assert out.read_bytes() == fresh.read_bytes()


def test_other_metadata_begins_anew(whole, half, tmp_path):
    source, out, fresh = tmp_path / "m", tmp_path / "out.safetensors", tmp_path / "fresh.safetensors"
    source.write_bytes(safetensors(tensors_of(1), {"by": "mind"}))
    partial(out).write_bytes(half)
    assert resumed(source, out) == 0
    pack(source, fresh)
    assert out.read_bytes() == fresh.read_bytes()


# ---- the record ----


def test_the_record_is_as_documented(whole, half):
    record = half[len(whole[1].read_bytes()) :].decode().splitlines()
    assert len(record) == 1 + 2 * STEP and record[0].startswith("tesela 1 ")
    assert len(record[0]) + 1 == FIRST and {len(line) + 1 for line in record[1:]} == {LINE}
    assert {c for line in [record[0][9:], *record[1:]] for c in line} <= set("0123456789abcdef")


def test_a_torn_record(whole, half, tmp_path):
    """Cut anywhere, or with a byte that is another one: what stands before is kept, and no more."""
    rng, (source, packed), out = random.Random(SEED), whole, tmp_path / "out.safetensors"
    print("seed", SEED)
    want = packed.read_bytes()
    for _ in range(8):
        at = rng.randrange(len(want), len(half))
        lines = max(0, (at - len(want) - FIRST) // LINE)
        torn = half[:at] if rng.random() < 0.5 else half[:at] + bytes([half[at] ^ 1 << rng.randrange(8)]) + half[at + 1 :]
        partial(out).write_bytes(torn)
        assert resumed(source, out) == lines
        assert out.read_bytes() == want
        out.unlink()


@pytest.mark.parametrize("content", [b"", b"x", bytes(100_000), b"tesela 1 " + b"0" * 100_000])
def test_a_partial_file_that_is_something_else(whole, tmp_path, content):
    out = tmp_path / "out.safetensors"
    partial(out).write_bytes(content)
    assert resumed(whole[0], out) == 0 and out.read_bytes() == whole[1].read_bytes()


def test_a_second_kill_after_a_change(whole, half, preload, tmp_path):
    """Lines of the old input after the first one that differs are void, even if the process is killed at once."""
    rng, source, out = random.Random(SEED), tmp_path / "m", tmp_path / "out.safetensors"
    print("seed", SEED)
    tensors = tensors_of(1)
    dtype, shape, data = tensors["b.1"]
    tensors["b.1"] = dtype, shape, bytes(len(data))
    source.write_bytes(safetensors(tensors, {"by": "hand"}))
    pack(source, tmp_path / "fresh.safetensors")
    for _ in range(6):
        partial(out).write_bytes(half)
        kill(preload, rng.randint(8, 30), "pack", source, "-o", out, *RULES, "--resume")
        if not out.exists():
            assert resumed(source, out) <= TENSORS
        assert out.read_bytes() == (tmp_path / "fresh.safetensors").read_bytes()
        out.unlink()


# ---- refusals ----


def test_another_process_at_work(whole, half, tmp_path):
    out = tmp_path / "out.safetensors"
    partial(out).write_bytes(half)
    with open(partial(out), "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = pack(whole[0], out, "--resume", status=3)
    assert b"another process is writing its partial file" in done.stderr and partial(out).read_bytes() == half


def test_a_partial_file_of_somebody_else(whole, tmp_path):
    out, victim = tmp_path / "out.safetensors", tmp_path / "victim"
    victim.write_bytes(b"precious")
    partial(out).symlink_to(victim)
    pack(whole[0], out, "--resume", status=3)
    partial(out).unlink()
    os.link(victim, partial(out))
    assert b"is not a file of this user alone" in pack(whole[0], out, "--resume", status=3).stderr
    assert victim.read_bytes() == b"precious" and not out.exists()


@pytest.mark.parametrize("out", ["-", "/dev/null"])
def test_an_output_that_cannot_wait(whole, out):
    assert b"is not a file that can be written in parts" in pack(whole[0], out, "--resume", status=2).stderr


# ---- shards ----


def shards(folder, n=3, each=STEP + 10):
    folder.mkdir()
    places = {}
    for k in range(n):
        tensors = tensors_of(k, each, k * each)
        (folder / f"m-{k}.safetensors").write_bytes(safetensors(tensors))
        places |= {name: f"m-{k}.safetensors" for name in tensors}
    index = {"metadata": {"total_size": 1, "more": [1, "x"]}, "weight_map": places}
    (folder / "m.index.json").write_text(json.dumps(index, indent=1))
    return folder / "m.index.json"


def visible(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir() if not p.name.startswith(".")}


def test_shards_killed_at_random(preload, tmp_path):
    """A reader finds the old set, none, or the new one, except for a kill between renames; in the end it is the new one."""
    rng, index = random.Random(SEED), shards(tmp_path / "in")
    print("seed", SEED)
    whole, out = tmp_path / "whole", tmp_path / "out"
    whole.mkdir()
    pack(index, whole / "m.index.json")
    want, kills = visible(whole), 0
    for _ in range(5):
        out.mkdir()
        for _ in range(rng.randint(1, 4)):
            kills += kill(preload, rng.randint(20, 150), "pack", index, "-o", out / "m.index.json", *RULES, "--resume")
            assert all(want[name] == data for name, data in visible(out).items())
            assert "m.index.json" not in visible(out) or visible(out) == want
        assert resumed(index, out / "m.index.json", "--verify") <= 3 * (STEP + 10)
        assert visible(out) == want and not list(out.glob(".*.partial.tesela"))
        for path in out.iterdir():
            path.unlink()
        out.rmdir()
    assert kills > 0
