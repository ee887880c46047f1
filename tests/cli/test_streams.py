# SPDX-License-Identifier: Apache-2.0
"""Answers that cannot be written: a reader that left, a full device, a closed stream.

Tables and pictures for people may be left unread; all else is data, and data that is lost is a failure: the process ends
by SIGPIPE, or, where that is ignored, with status 3 and a message. What is data is listed here by hand, for every verb.
"""

import errno
import json
import os
import signal
import struct
import subprocess

import pytest
from command import SOURCE, TESELA, environment, run

LAYOUT = "f32[3,5]{1,0:T(2,2)}"
STICK = "f16[1000,200] stick(dim_order=[0,1])"
REGISTERS = ["local(2).spatial(32)", "spatial(32).local(2)"]
BANKS = ["column_spatial(32, 1).local(1, 32)", "shared_row_major(32, 32)", "--dtype=f32", "--vector=1"]
PROBLEM = ["f32[20,200]{1,0} -> {1,0:T(8,128)}", "--isa=c", "--threads=1"]
LINEAR = "examples/linear.json"
SOFTMAX = "examples/softmax.json"

# Words, and the status of the verb itself.
PEOPLE = [
    (["show", LAYOUT], 0),
    (["show", f"({LAYOUT}, s32[])"], 0),
    (["show", REGISTERS[0]], 0),
    (["show", STICK], 0),
    (["same", LAYOUT, LAYOUT], 0),
    (["translate", LAYOUT, "--to=cute"], 0),
    (["choose", "f32[300,12]"], 0),
    (["predict", "examples/step.mlir"], 0),
    (["translate", LAYOUT, "--to=torch"], 1),
    (["same", LAYOUT, "f32[3,5]"], 1),
    (["report", "examples/oom_report.txt"], 0),
    (["diff", "examples/step.hlo.txt", "examples/step-transposed.hlo.txt"], 1),
    (["cmp", "x.npy", "y.npy"], 1),
    (["plan", *PROBLEM], 0),
    (["check", *PROBLEM], 0),
    (["bench", *PROBLEM, "--rounds=3"], 0),
    (["access", *BANKS], 0),
    (["swizzle", REGISTERS[0], "--dtype=f32"], 0),
    (["convert", *REGISTERS], 0),
    (["dma", STICK], 0),
    (["verify", "f16[2,3] stick(dim_order=[0,1])", "h.dev", "h.raw"], 0),
    (["graph", "assign", LINEAR], 0),
    (["graph", "propagate", LINEAR], 1),
    (["graph", "plan", SOFTMAX], 0),
    (["graph", "run", LINEAR], 0),
    (["infer", "examples/matmul.kernel"], 0),
    (["infer", "examples/conflict.kernel"], 1),
    (["formats"], 0),
    (["help"], 0),
    (["help", "show"], 0),
]
DATA = [
    ["where", LAYOUT, "0,0"],
    ["what", LAYOUT, "0"],
    ["digest", "x.npy"],
    ["query"],
    ["version"],
    ["relayout", "x.npy", "--to={0,1}"],
    ["pack", "w.safetensors", "--to={1,0:T(8,128)}"],
    ["unpack", "packed.safetensors"],
    ["report", "--tsv", "examples/oom_report.txt"],
    ["diff", "--tsv", "examples/step.hlo.txt", "examples/step-transposed.hlo.txt"],
    ["convert", *REGISTERS, "--cuda=rows"],
    ["dma", STICK, "--source"],
    ["graph", "assign", LINEAR, "--hlo"],
    ["graph", "plan", SOFTMAX, "--csv"],
    ["help", "--man"],
    ["help", "--completion=zsh"],
    ["relayout", "x.npy", "-o", "out.raw", "--to={0,1}", "--json"],
    ["pack", "w.safetensors", "-o", "out.safetensors", "--to={1,0:T(8,128)}", "--json"],
    ["unpack", "packed.safetensors", "-o", "out.safetensors", "--json"],
    ["where", LAYOUT, "0,0", "--json"],
    ["what", LAYOUT, "0", "--json"],
    ["digest", "x.npy", "--json"],
    ["version", "--json"],
    *([*words, "--json"] for words, _ in PEOPLE if words != ["help", "show"]),
]
EVERY = [*(words for words, _ in PEOPLE), *DATA]


def name(words):
    return " ".join(words) if isinstance(words, list) else ""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("streams")
    (path / "examples").symlink_to(SOURCE / "examples")
    for file, last in (("x.npy", 6), ("y.npy", 7)):
        head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"
        head += b" " * (-(len(head) + 11) % 64) + b"\n"
        data = struct.pack("<6f", 1, 2, 3, 4, 5, last)
        (path / file).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data)
    (path / "h.raw").write_bytes(struct.pack("<6H", *range(6)))
    entry = json.dumps({"a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}).encode()
    (path / "w.safetensors").write_bytes(struct.pack("<Q", len(entry)) + entry + bytes(24))
    for words in (
        ["pack", "w.safetensors", "-o", "packed.safetensors", "--to={1,0:T(8,128)}"],
        ["relayout", "h.raw", "-o", "h.dev", "--from=f16[2,3]", "--to=stick(dim_order=[0,1])"],
    ):
        assert run(*words, cwd=path).returncode == 0
    return path


def into(folder, words, **how):
    return run(*words, text=b'{"op":"version"}\n' * 3, cwd=folder, **how)


def into_closed_pipe(folder, words, **how):
    read, write = os.pipe()
    os.close(read)
    done = into(folder, words, stdout=write, **how)
    os.close(write)
    return done


def test_every_verb_is_here():
    verbs = {verb["name"] for verb in json.loads(run("help", "--json").stdout)["verbs"]}
    assert {words[0] for words in EVERY} == verbs
    assert {words[0] for words in DATA} == verbs  # each has --json or is data anyway


@pytest.mark.parametrize("words, status", PEOPLE, ids=name)
def test_people_who_left(words, status, folder):
    done = into_closed_pipe(folder, words)
    assert (done.returncode, b"standard output" in done.stderr) == (status, False)


@pytest.mark.parametrize("words", DATA, ids=name)
def test_data_that_is_lost(words, folder):
    done = into_closed_pipe(folder, words)
    assert (done.returncode, b"standard output" in done.stderr) == (-signal.SIGPIPE, False)


@pytest.mark.parametrize("words", DATA, ids=name)
def test_data_that_is_lost_where_pipes_do_not_kill(words, folder):
    done = into_closed_pipe(folder, words, preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN), restore_signals=False)
    assert (done.returncode, f"standard output: {os.strerror(errno.EPIPE)}" in done.stderr.decode()) == (3, True)


@pytest.mark.parametrize("words", EVERY, ids=name)
def test_a_full_device(words, folder):
    with open("/dev/full", "wb") as full:
        done = into(folder, words, stdout=full)
    assert (done.returncode, b"standard output: " in done.stderr) == (3, True)


@pytest.mark.parametrize("words", EVERY, ids=name)
def test_a_closed_stdout(words, folder):
    done = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", TESELA, *words],
        cwd=folder,
        env=environment(),
        input=b'{"op":"version"}\n',
        capture_output=True,
        timeout=60,
    )
    assert (done.returncode, b"standard output: " in done.stderr) == (3, True)


@pytest.mark.parametrize("words", [["where", LAYOUT, "-", "--json"], ["query"]], ids=name)
def test_a_stream_that_ends_early(words, folder):
    """The reader takes one line of very many."""
    feed = "2,3" if words[0] == "where" else '{"op":"version"}'
    script = 'feed=$0; yes "$feed" | { "$@"; echo $? >&2; } | head -n 1'
    done = subprocess.run(["sh", "-c", script, feed, TESELA, *words], env=environment(), capture_output=True, timeout=60)
    assert len(done.stdout.splitlines()) == 1
    assert int(done.stderr) == 128 + signal.SIGPIPE
