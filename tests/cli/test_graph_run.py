# SPDX-License-Identifier: Apache-2.0
"""`tesela graph run` while it works: its progress on a terminal, and how it stops."""

import json
import signal
import subprocess
import time

import pytest
from command import TESELA, Terminal, environment, run

# 32 products of matrices, 34 billion of numbers: too long to wait for.
CHAIN = ["a", *(f"c{k}" for k in range(32))]
LONG = {
    "target": "spyre",
    "inputs": {name: {"size": [1024, 1024], "dtype": "f16", "stick": 1} for name in ("a", "b")},
    "ops": [{"op": "matmul", "out": out, "in": [x, "b"]} for x, out in zip(CHAIN, CHAIN[1:])],
    "outputs": [CHAIN[-1]],
}
SHORT = {
    "target": "spyre",
    "inputs": {"a": {"size": [4, 64], "dtype": "f8e4m3fn", "stick": 1}},
    "ops": [{"op": "pointwise", "fn": "neg", "out": "c", "in": ["a"]}],
    "outputs": ["c"],
}


@pytest.fixture(name="program")
def fixture_program(tmp_path):
    path = tmp_path / "long.json"
    path.write_text(json.dumps(LONG))
    return path


def start(program, stderr):
    words = [TESELA, "graph", "run", "--max-steps=100000000000", program]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=stderr, env=environment())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_it(program, number):
    """It dies of the signal, as a shell expects, with nothing on stdout and, as stderr is not a terminal, nothing there."""
    with start(program, stderr=subprocess.PIPE) as job:
        time.sleep(0.7)
        assert job.poll() is None
        job.send_signal(number)
        out, err = job.communicate(timeout=20)
    assert (job.returncode, out, err) == (-number, b"", b"")


def test_progress_on_a_terminal(program):
    """A line that is written over, and taken away when a signal stops the run."""
    with Terminal() as terminal, start(program, stderr=terminal.theirs) as job:
        terminal.wait_for(b"memory", 20)
        job.send_signal(signal.SIGINT)
        out = job.communicate(timeout=20)[0]
    text = terminal.seen
    assert (job.returncode, out) == (-signal.SIGINT, b"")
    assert b"%  on tiled memory \x1b[K" in text and text.startswith(b"\r")
    assert text.endswith(b"\r\x1b[K") and b"\n" not in text


def test_eight_bit_floats(tmp_path):
    """Inputs are drawn from what the type has; both runs agree."""
    path = tmp_path / "short.json"
    path.write_text(json.dumps(SHORT))
    done = run("graph", "run", path, "--json")
    assert (done.returncode, done.stderr) == (0, b"")
    answer = json.loads(done.stdout)
    assert answer["same"] and answer["elements"] == 256


def says(*options, program=SHORT):
    done = run("graph", "run", "-", *options, text=json.dumps(program))
    return done.returncode, done.stderr.decode()


def test_limits():
    """256 results; two tensors of 256 bytes and another for the second run; buffers with a mark of 4 bytes for every byte of
    f8, and as f16 on the device for every two, in tiles that are not looked at here."""
    assert says("--max-steps=256") == (0, "")
    status, said = says("--max-steps=255")
    assert status == 2 and "needs 256 steps" in said and "most of them for c" in said
    assert "the limit is 255\n--max-steps=N raises this limit.\n" in said
    status, said = says("--max-bytes=767")
    assert status == 2 and "with c the inputs and outputs need more than 767 B\n--max-bytes=SIZE raises this limit.\n" in said
    status, said = says("--max-bytes=768")
    assert status == 2 and "a run needs 768 B for inputs and outputs and " in said
    assert says("--max-bytes=64KiB") == (0, "")
    status, said = says(program=LONG)  # before the inputs are made
    assert status == 2 and f"needs {32 * (2**30 + 2**20)} steps" in said and "--max-steps=N" in said
