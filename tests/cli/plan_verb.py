# SPDX-License-Identifier: Apache-2.0
"""What the tests of plan, check, bench, cmp and digest share: calls of a verb, arrays as bytes."""

import json
import math
import random
import struct
import sys

from command import HERE, run

sys.path.insert(0, str(HERE.parent / "oracle"))

from xla_oracle import Array  # noqa: E402

PROBLEM = "f32[3,5]{1,0} -> {1,0:T(2,2)}"
TILED = "f32[3,5]{1,0:T(2,2)}"
SOLVERS = ["memcpy", "rows", "transpose", "interleave", "deinterleave", "bits", "strided", "gather",
           "permute"]


def done(*words, status=0, **how):
    """What it prints; the words on stderr must fit the status."""
    process = run(*words, **how)
    assert process.returncode == status, process.stderr.decode()
    assert (process.stderr == b"") == (status != 2), process.stderr.decode()
    return process.stdout.decode()


def said(*words, status=2):
    process = run(*words)
    assert (process.returncode, process.stdout) == (status, b"")
    return process.stderr.decode()


def as_json(*words, **how):
    return json.loads(done(*words, "--json", **how))


def pack(values, bits):
    memory = sum(value << i * bits for i, value in enumerate(values))
    return memory.to_bytes(math.ceil(len(values) * bits / 8), "little")


def stored(a, values, rng):
    """The bytes of an array with these elements (row-major) and anything in the padding."""
    out = [rng.getrandbits(a.bits) for _ in range(a.elements)]
    for value, index in zip(values, a.indices(), strict=True):
        out[a.place(index)] = value
    return pack(out, a.bits)


def pairs(n, seed):
    """(seed, rng, one array, the same dims in another layout), no empty ones."""
    while n > 0:
        rng = random.Random(seed)
        a = Array.random(rng, max_elements=600)
        if rng.random() < 0.3:
            a = Array(a.dtype, a.dims, a.minor_to_major, a.tiles, a.L, rng.choice([1, 2, 4]))
        b = Array(a.dtype, a.dims, rng.sample(range(a.rank), a.rank), E=a.E)
        if a.bits in (1, 2, 4, 8, 16, 32, 64, 128) and a.count > 0:
            yield seed, rng, a, b
            n -= 1
        seed += 1


def model(*names, **data):
    """A .safetensors of these tensors, s8 each, the bytes of those in `data` as given there."""
    whole = {name: data.get(name, bytes(range(len(name), len(name) + 6))) for name in names}
    header, at = {}, 0
    for name, part in whole.items():
        header[name] = {"dtype": "I8", "shape": [2, 3] if len(part) == 6 else [len(part)], "data_offsets": [at, at + len(part)]}
        at += len(part)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(whole.values())
