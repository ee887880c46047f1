# SPDX-License-Identifier: Apache-2.0
"""Small inputs that need far too much: refused before the work begins, under a limit of memory. The message names the limit,
the need, and the option that raises the limit; with a higher limit, or a smaller input, the work is done."""

import json
import os
import resource
import struct
import subprocess

import pytest
from command import TESELA, environment

ROOM = 256 << 20  # of data: what is mapped from files and libraries does not count
HOURS = 60  # seconds of processor time: only so that a test ends that would not
SANITIZED = "fsanitize" in os.environ.get("CFLAGS", "")


def bounded(*words, text=b"", cwd=None):
    def limits():
        resource.setrlimit(resource.RLIMIT_CPU, (HOURS, HOURS))
        if not SANITIZED:  # shadow memory is not to be had under a limit
            resource.setrlimit(resource.RLIMIT_DATA, (ROOM, ROOM))

    words = [TESELA, *words]
    return subprocess.run(words, input=text, capture_output=True, env=environment(), preexec_fn=limits, cwd=cwd)


def matmul(n):
    f32 = f"f32[{n},{n}]"
    return (
        f"HloModule m\nENTRY e {{\n a = {f32} parameter(0)\n b = {f32} parameter(1)\n"
        f" ROOT c = {f32} dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n}}\n"
    )


def reduction(n):
    """A broadcast of one number, and its sum: n steps, and one."""
    return (
        "HloModule m\nadd {\n x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT z = f32[] add(x, y)\n}\n"
        f"ENTRY e {{\n a = f32[] parameter(0)\n b = f32[{n}] broadcast(a), dimensions={{}}\n c = f32[] constant(0)\n"
        " ROOT d = f32[] reduce(b, c), dimensions={0}, to_apply=add\n}\n"
    )


ODD = ["spatial(30,1).local(100,5000)", "local(3000,50).spatial(1,100)", "spatial(8,4).local(375,1250)"]
WIDE = ["spatial(8,4).local(125,625)", "local(125,625).spatial(8,4)"]
FEW = ["spatial(6,1).local(1,60)", "local(6,2).spatial(1,30)"]
STICK = "f16[{}] stick(dim_order=[0,1])"
COMMANDS = {
    # too much; what is said; words that raise the limit, with a case that needs them; how many are enough for it, so that
    # one less is refused (None: not known here)
    "graph run, products": (
        (["graph", "run", "-", "--target=tiles"], matmul(8192)),
        ["needs 549822922752 steps", "most of them for c", "the limit is 10000000000", "--max-steps=N"],
        (["graph", "run", "-", "--target=tiles"], matmul(16), "--max-steps", 16**3 + 16**2),
    ),
    "graph run, results": (
        (["graph", "run", "-", "--target=tiles"], reduction(6_400_000_000_000)),
        ["needs 6400000000001 steps", "--max-steps=N"],
        (["graph", "run", "-", "--target=tiles"], reduction(100), "--max-steps", 101),
    ),
    "graph run, memory": (
        (["graph", "run", "-", "--target=tiles"], matmul(46000)),
        ["inputs and outputs need more than 4.00 GiB", "--max-bytes=SIZE"],
        (["graph", "run", "-", "--target=tiles"], matmul(16), "--max-bytes", None),
    ),
    "swizzle": (
        (["swizzle", "--dtype=u8", *ODD, *ODD, *ODD], ""),
        ["9 uses of 15000000 elements", "max_steps, 67108864", "--max-steps=N raises"],
        (["swizzle", "--dtype=u8", *FEW], "", "--max-steps", None),
    ),
    "convert": (
        (["convert", "--dtype=u8", *WIDE], ""),
        ["78125 units of each thread needs 80000000 steps", "max_steps is 67108864", "--max-steps=N raises"],
        (["convert", "local(2).spatial(32)", "spatial(32).local(2)"], "", "--max-steps", 2 * 32 * 32),
    ),
    "dma": (
        (["dma", STICK.format("1000,200"), "--max-extent=1", "--max-dims=1"], ""),
        ["more than 65536 nests", "max_nests", "up to 1048576", "--max-nests=N raises"],
        (["dma", STICK.format("10,200"), "--max-extent=1", "--max-dims=1"], "", "--max-nests", 10 * 200),
    ),
    "check": (
        (["check", "u8[1024,1048576] -> {0,1}"], ""),
        ["have 1073741824 and 1073741824 bytes", "expected 1073741824 or fewer", "--max-bytes=SIZE"],
        (["check", "u8[10,10] -> {0,1}", "--isa=c"], "", "--max-bytes", 200),
    ),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_commands(name):
    (words, text), says, (small, small_text, option, enough) = COMMANDS[name]
    assert len(text) + sum(map(len, words)) < 1000
    done = bounded(*words, text=text.encode())
    assert (done.returncode, done.stdout) == (2, b""), done.stderr
    for part in says:
        assert part in done.stderr.decode()
    last = (lambda limit: bounded(*small, f"{option}={limit}", text=small_text.encode()))
    assert last(enough or 1 << 20).returncode == 0
    done = last(enough - 1 if enough else 1)
    assert (done.returncode, done.stdout) == (2, b"")
    assert option[2:] in done.stderr.decode() or option[2:].replace("-", "_") in done.stderr.decode()


REQUESTS = {
    "parse": (
        {"op": "parse", "text": "(" + ",".join(["f32[]"] * 300000) + ")"},
        "the text has 300000 arrays; expected 50000 or fewer",
        {"op": "parse", "text": "(f32[],f32[2])", "max_arrays": 2},
    ),
    "swizzle": (
        {"op": "swizzle", "dtype": "u8", "writes": ODD * 3},
        "max_steps, 67108864",
        {"op": "swizzle", "dtype": "u8", "writes": FEW, "max_steps": 1 << 20},
    ),
    "convert": (
        {"op": "convert", "dtype": "u8", "from": WIDE[0], "to": WIDE[1]},
        "max_steps is 67108864",
        {"op": "convert", "dtype": "f16", "from": "local(2).spatial(32)", "to": "spatial(32).local(2)", "max_steps": 2048},
    ),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_requests(name):
    large, says, small = REQUESTS[name]
    field = next(field for field in small if field.startswith("max_"))
    requests = [large, small, {**small, field: 1}, {**small, field: 0}, {"op": "version"}]
    done = bounded("query", text="".join(json.dumps(request) + "\n" for request in requests).encode())
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["ok"] for answer in answers] == [False, True, False, False, True]
    assert [answer["error"]["code"] for answer in answers if not answer["ok"]] == ["LIMIT", "LIMIT", "RANGE"]
    assert answers[0]["error"]["limit"] == answers[2]["error"]["limit"] == field.upper()
    assert says in answers[0]["error"]["message"]


HEADERS = {  # what is said of it: none of these takes memory before it is refused, except for texts that are kept
    "numbers": (b'{"a":{"dtype":"U8","shape":[' + b"0," * 2_000_000 + b'0],"data_offsets":[0,0]}}', "tensor a has a shape"),
    "lists": (b'{"a":[' + b"[]," * 2_000_000 + b"[]]}", "tensor a is not an object"),
    "objects": (b'{"a":[' + b"{}," * 2_000_000 + b"{}]}", "tensor a is not an object"),
    "depth": (b'{"a":' + b"[" * 2_000_000, "more than 64 levels"),
    "a text": (b'{"__metadata__":{"a":"' + b"x" * 9_000_000 + b'"}}', "has 0 tensors"),
    "tensors": (b"{" + b'"a":{},' * 2_000_000 + b'"b":{}}', "--max-header=SIZE raises this limit"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_headers(tmp_path, name):
    header, message = HEADERS[name]
    (tmp_path / "x.safetensors").write_bytes(struct.pack("<Q", len(header)) + header)
    done = bounded("relayout", "x.safetensors", "--to={0}", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert message in done.stderr.decode()
    if name == "tensors":
        assert f"its header of {len(header)} bytes needs" in done.stderr.decode()


def test_a_header_of_many_tensors(tmp_path):
    """100,000 tensors are read, within the memory that is promised."""
    tensors = {f"layer.{i}.weight": {"dtype": "F32", "shape": [0, 4096], "data_offsets": [0, 0]} for i in range(100_000)}
    header = json.dumps(tensors).encode()
    (tmp_path / "x.safetensors").write_bytes(struct.pack("<Q", len(header)) + header)
    done = bounded("digest", "x.safetensors", cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.count(b"\n") == 100_000
    done = bounded("digest", "x.safetensors", "--max-header=10MiB", cwd=tmp_path)
    assert done.returncode == 2 and b"max_header is 10485760" in done.stderr
