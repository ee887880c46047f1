# SPDX-License-Identifier: Apache-2.0
"""The verb digest, computed a second time from the definition in src/relayout/values_digest.c."""

import json
import os
import re
import struct

from command import SOURCE, run
from plan_verb import Array, done, model, pack, pairs, stored

SEED = int(os.environ.get("TESELA_SEED", "20261123"), 0)
A, B, C = 0xAD15B292E10D296B, 0x951AEF020BC35CAD, 0xED5BEC778AE84E07
START = [0xD71C40603D31DF33, 0xA72059E2683E8565, 0xF5860F4B4A5D30CD, 0xCC348B0ADED44CDD]
WORD = (1 << 64) - 1
NUMBERS = {"f32": 11, "bf16": 16, "s4": 21, "pred": 1}


def type_number(name):
    header = (SOURCE / "include/tesela/layout.h").read_text()
    return int(re.search(rf'X\(TESELA_\w+, (\d+), "{name}"', header)[1])


def rotl(x, k):
    return (x << k | x >> (64 - k)) & WORD


def mix(x):
    x = (x ^ x >> 32) * A & WORD
    x = (x ^ x >> 29) * B & WORD
    return x ^ x >> 32


def digest(a, values):
    stream = b"".join(n.to_bytes(8, "little") for n in (type_number(a.dtype), a.bits, a.rank, *a.dims))
    stream += bytes(-len(stream) % 32) + pack(values, a.bits)
    stream += bytes(-len(stream) % 32)
    s = list(START)
    for at in range(0, len(stream), 32):
        w = struct.unpack_from("<4Q", stream, at)
        for i, j in ((0, 1), (2, 3)):
            t = w[i] + rotl(w[j] * A & WORD, 32) & WORD
            u = w[j] + rotl(t * B & WORD, 32) & WORD
            s[i] = rotl(s[i] + t & WORD, 27) * C & WORD
            s[j] = rotl(s[j] + u & WORD, 27) * C & WORD
    lo = mix(mix(mix(mix(s[0]) ^ s[1]) ^ s[2]) ^ s[3])
    hi = mix(mix(mix(mix(s[3]) + s[2] & WORD) + s[1] & WORD) + s[0] & WORD)
    return struct.pack("<2Q", lo, hi).hex()


def test_numbers_of_types():
    assert {name: type_number(name) for name in NUMBERS} == NUMBERS


def test_digest_of_random_arrays(tmp_path):
    for seed, rng, a, b in pairs(25, SEED):
        values = [rng.getrandbits(a.bits) for _ in range(a.count)]
        for array in (a, b):
            (tmp_path / "x").write_bytes(stored(array, values, rng))
            got = done("digest", tmp_path / "x", f"--layout={array.text()}")
            assert got == f"{digest(a, values)}  {tmp_path / 'x'}\n", f"seed {seed}: {array}"


def test_digest_of_several_files(tmp_path):
    (tmp_path / "x").write_bytes(bytes(60))
    (tmp_path / "y").write_bytes(bytes(59) + b"\1")
    words = ["digest", tmp_path / "x", tmp_path / "nowhere", tmp_path / "y", "--layout=f32[3,5]"]
    process = run(*words)
    rows = [line.split("  ") for line in process.stdout.decode().splitlines()]
    assert (process.returncode, b"nowhere" in process.stderr) == (2, True)
    assert [name for _, name in rows] == [str(tmp_path / "x"), str(tmp_path / "y")]
    assert all(re.fullmatch(r"[0-9a-f]{32}", hexadecimal) for hexadecimal, _ in rows) and rows[0] != rows[1]
    a = Array("f32", (3, 5))
    assert rows[0][0] == digest(a, [0] * 15) and rows[1][0] == digest(a, [0] * 14 + [1 << 24])
    line = json.loads(done("digest", tmp_path / "x", "--layout=f32[3,5]", "--json"))
    assert line == {"file": str(tmp_path / "x"), "digest": rows[0][0], "layout": "f32[3,5]{1,0}"}


def test_digest_of_all_tensors(tmp_path):
    path = tmp_path / "m"
    path.write_bytes(model("x", "yy", "z\n"))
    want = {name: digest(Array("s8", (2, 3)), range(len(name), len(name) + 6)) for name in ("x", "yy", "z\n")}
    lines = "".join(f"{value}  {path}:{name}\n" for name, value in want.items())
    assert done("digest", path) == lines.replace("z\n\n", "z\\x0a\n")
    assert done("digest", path, "--tensor=yy") == f"{want['yy']}  {path}\n"
    rows = json.loads(done("digest", path, "--json"))["tensors"]
    assert {row["tensor"]: row["digest"] for row in rows} == want
