# SPDX-License-Identifier: Apache-2.0
"""JSON larger than the address space allows: refused for want of memory, and nothing else comes of it."""

import json
import os
import resource
import struct
import subprocess
from pathlib import Path

import pytest

TESELA = Path(os.environ.get("TESELA") or Path(__file__).resolve().parents[2] / "build/release/tesela")
ROOMS = [24000, 64000]  # KiB: the first may not hold the line itself
LIST = b"[" + b"1," * (4 << 20) + b"1]"  # 8 MB
LARGE = {"a list": LIST, "a string": b'"' + b"x" * (8 << 20) + b'"', "deep": b"[" * 2000 + b"{}," * (2 << 20)}


def bounded(*words, text=b"", room=ROOMS[0]):
    return subprocess.run(
        [TESELA, *words],
        input=text,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (room << 10, room << 10)),
        timeout=120,
    )


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("large", LARGE)
def test_a_line(large, room):
    line = b'{"op":"where","layout":"f32[999999,999999]{1,0}","indices":[[123456,654321]]}\n'
    done = bounded("query", text=line + b'{"op":"version","mine":' + LARGE[large] + b"}\n" + line, room=room)
    assert done.returncode in (0, 3), (done.returncode, done.stderr)
    answers = [json.loads(answer) for answer in done.stdout.splitlines()]
    right = {"id": None, "ok": True, "places": [123456 * 999999 + 654321]}
    assert answers[0] == right
    if done.returncode == 3:  # not even the line has room
        assert b"memory" in done.stderr
    else:
        assert (answers[1]["error"]["code"], answers[2:]) == ("MEMORY", [right])


def test_a_program(tmp_path):
    (tmp_path / "large.json").write_bytes(b'{"inputs":' + LIST + b"}")
    done = bounded("graph", "assign", tmp_path / "large.json")
    assert done.returncode == 3
    assert b"memory" in done.stderr.lower()


def test_a_header(tmp_path):
    header = json.dumps({f"t{i}": {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]} for i in range(100_000)}).encode()
    (tmp_path / "large.safetensors").write_bytes(struct.pack("<Q", len(header)) + header)
    done = bounded("digest", tmp_path / "large.safetensors", "--max-header=4GiB")
    assert done.returncode == 3
    assert b"memory" in done.stderr.lower()
