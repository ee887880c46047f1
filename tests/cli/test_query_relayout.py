# SPDX-License-Identifier: Apache-2.0
"""The ops plan and relayout of `tesela query`: small tensors copied, every bit of the output against the oracle.

Memory is one large integer here: the element at place p of n bits is (memory >> p * n) % 2**n.

TESELA_SEED chooses other random layouts; a failure names its seed.
"""

import math
import os
import random
import struct
import sys

import pytest
from command import HERE, ask, error, good

sys.path.insert(0, str(HERE.parent / "oracle"))

from xla_oracle import COMBINE, Array  # noqa: E402

SEED = int(os.environ.get("TESELA_SEED", "20261122"), 0)
BATCHES, BATCH = 12, 40
WIDTHS = {1, 2, 4, 8, 16, 32, 64, 128}


# ---- the definition ----


def relayout(a, b, data, fill=None, convert=lambda value: value):
    """The bytes of b; fill: the bits of padding, None: zero as well (the output starts as zeros)."""
    memory, mask = int.from_bytes(data, "little"), (1 << a.bits) - 1
    out = [fill or 0] * b.elements
    for index in a.indices():
        out[b.place(index)] = convert(memory >> a.place(index) * a.bits & mask)
    return pack(out, b.bits)


def pack(values, bits):
    memory = sum(value << i * bits for i, value in enumerate(values))
    return memory.to_bytes(math.ceil(len(values) * bits / 8), "little")


def request(a, b, data, **more):
    return {"op": "relayout", "from": a.text(), "to": b.text(), "data_hex": data.hex(), **more}


def copied(*arguments, **more):
    return bytes.fromhex(good(request(*arguments, **more))["data_hex"])


# ---- random pairs ----


def random_layout(rng, a, elements):
    """Another layout for the dims of a, of at most so many elements."""
    order = list(range(a.rank))
    rng.shuffle(order)
    b = Array(a.dtype, a.dims, order, E=a.E)
    for _ in range(rng.randrange(4)):
        tile = [rng.choice([1, 2, 3, 4, 5, 8, 16]) for _ in range(rng.randint(1, min(5, len(b.bounds()) + 1)))]
        tile = [COMBINE if rng.random() < 0.1 else t for t in tile[:-1]] + tile[-1:]
        tiled = Array(a.dtype, a.dims, order, [*b.tiles, tile], E=a.E)
        b = tiled if tiled.elements <= elements else b
    tailed = Array(a.dtype, a.dims, order, b.tiles, rng.choice([1, 1, 2, 7, 64]), a.E)
    return tailed if tailed.elements <= elements else b


def random_pair(seed):
    rng = random.Random(seed)
    a = Array.random(rng, max_elements=400)
    if rng.random() < 0.4:  # elements that share bytes
        a = Array(a.dtype, a.dims, a.minor_to_major, a.tiles, a.L, rng.choice([1, 2, 4]))
    b = random_layout(rng, a, 1600)
    data = rng.randbytes(a.bytes)
    fill = rng.choice([None, "zero", "leave", rng.getrandbits(a.bits)])
    return a, b, data, fill


def fill_fields(fill, bits):
    if fill is None:
        return {}
    return {"fill": fill if isinstance(fill, str) else f"{fill:#x}"} if bits in WIDTHS else {}


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_pairs(batch):
    seeds = range(SEED + batch * BATCH, SEED + (batch + 1) * BATCH)
    pairs = [random_pair(seed) for seed in seeds]
    responses = ask(*(request(a, b, data, **fill_fields(fill, a.bits)) for a, b, data, fill in pairs))
    seen = 0
    for seed, (a, b, data, fill), response in zip(seeds, pairs, responses, strict=True):
        where = f"seed {seed}: {a.text()} -> {b.text()}, fill {fill}"
        if a.bits not in WIDTHS:
            assert response["error"]["code"] == "UNSUPPORTED", where
            continue
        bits = fill if isinstance(fill, int) else 0
        assert response.get("data_hex") == relayout(a, b, data, bits).hex(), where
        seen += a.count > 1
    assert seen > BATCH / 4


@pytest.mark.parametrize("batch", range(2))
def test_there_and_back(batch):
    """What is in the elements comes back, whatever the padding of the source holds."""
    for seed in range(SEED + batch * BATCH, SEED + (batch + 1) * BATCH):
        a, b, data, _ = random_pair(seed)
        if a.bits not in WIDTHS:
            continue
        there = copied(a, b, data)
        assert copied(b, a, there) == relayout(b, a, there), f"seed {seed}"
        assert copied(a, a, data) == relayout(a, a, data), f"seed {seed}"


def test_braces_alone_and_lenient():
    a, b = Array("u8", (3, 5)), Array("u8", (3, 5), tiles=[(2, 2)])
    data = bytes(range(15))
    fields = {"op": "relayout", "from": "u8[3,5]", "to": "{1,0:T(2,2)}", "data_hex": data.hex()}
    assert good(fields)["data_hex"] == relayout(a, b, data).hex()
    assert good({**fields, "to": " xla: {1,0:T(2,2)}"})["data_hex"] == relayout(a, b, data).hex()
    assert error({**fields, "from": "U8[3,5]"})["code"] == "SYNTAX"
    assert good({**fields, "from": "U8[3,5]", "lenient": True})["data_hex"] == relayout(a, b, data).hex()
    assert good({**fields, "data_hex": data.hex().upper()})["data_hex"] == relayout(a, b, data).hex()


# ---- values that change on the way ----


def float_of(bits):
    return struct.unpack("<f", bits.to_bytes(4, "little"))[0]


def bits_of(number):
    return int.from_bytes(struct.pack("<f", number), "little")


def to_bf16(bits):
    """Nearest, ties to even, by comparing with both neighbours; float_of(x << 16) is a bf16's value."""
    if math.isinf(float_of(bits)):
        return bits >> 16
    low = bits >> 16
    down = bits & 0xFFFF
    return low + (down > 0x8000 or (down == 0x8000 and low % 2))


def to_f16(bits):
    number = float_of(bits)
    try:
        return int.from_bytes(struct.pack("<e", number), "little")
    except OverflowError:
        return 0x7C00 | (0x8000 if number < 0 else 0)


def from_f16(bits):
    return bits_of(struct.unpack("<e", bits.to_bytes(2, "little"))[0])


def signed(value, bits):
    return value - (value >> (bits - 1) << bits)


INFINITY = {"f32": 0x7F800000, "f16": 0x7C00, "bf16": 0x7F80}


def is_nan(bits, dtype):
    sign = {"f32": 1 << 31}.get(dtype, 1 << 15)
    return dtype in INFINITY and bits & (sign - 1) > INFINITY[dtype]


CONVERSIONS = {
    ("f32", 0, "bf16", 0): to_bf16,
    ("bf16", 0, "f32", 0): lambda bits: bits << 16,
    ("f32", 0, "f16", 0): to_f16,
    ("f16", 0, "f32", 0): from_f16,
    ("s8", 0, "s4", 4): lambda bits: max(-8, min(7, signed(bits, 8))) & 15,
    ("s4", 4, "s8", 0): lambda bits: signed(bits, 4) & 255,
    ("pred", 0, "pred", 1): lambda bits: int(bits != 0),
    ("pred", 1, "pred", 0): lambda bits: bits,
    ("pred", 0, "pred", 32): lambda bits: int(bits != 0),
    ("pred", 32, "pred", 1): lambda bits: int(bits != 0),
}
EDGES = {
    "f32": [0, 0x80000000, 0x3F800000, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 1, 0x477FEFFF, 0x477FF000, 0x477FF001,
            0x33000000, 0x33000001, 0x33800000, 0x387FFFFF, 0x38800000, 0x3F808000, 0x3F818000, 0x3F80FFFF],
    "pred": [0, 1, 2, 0x80, 0xFF],
    "s8": [0x80, 0x7F, 0xF8, 0xF7, 7, 8, 0, 0xFF],
}  # fmt: skip


@pytest.mark.parametrize("pair", CONVERSIONS, ids=lambda pair: f"{pair[0]} {pair[1]} to {pair[2]} {pair[3]}")
def test_conversions(pair):
    rng = random.Random(str(pair))
    for _ in range(12):
        dims = [rng.randint(1, 9), rng.randint(1, 40)]
        a = random_layout(rng, Array(pair[0], dims, E=pair[1]), 4000)
        b = random_layout(rng, Array(pair[2], dims, E=pair[3]), 4000)
        values = [rng.choice([rng.getrandbits(a.bits), *EDGES.get(pair[0], [0])]) for _ in range(a.elements)]
        values = [0 if is_nan(value, pair[0]) else value & (1 << a.bits) - 1 for value in values]
        data = pack(values, a.bits)
        assert copied(a, b, data) == relayout(a, b, data, 0, CONVERSIONS[pair]), f"{a} to {b}"


@pytest.mark.parametrize("pair", [("f32", "bf16"), ("f32", "f16"), ("bf16", "f32"), ("f16", "f32")])
def test_nan_stays_nan(pair):
    a, b = Array(pair[0], [6]), Array(pair[1], [6])
    infinity = INFINITY[pair[0]]
    sign = 1 << (a.bits - 1)
    nans = [infinity + 1, infinity | sign | 1, infinity + (infinity & -infinity) // 2, sign - 1, 2 * sign - 1]
    out = copied(a, b, pack([*nans, infinity], a.bits))
    for i, (kind, width) in enumerate([("nan", b.bits)] * 5 + [("inf", b.bits)]):
        raw = out[i * width // 8 : (i + 1) * width // 8]
        code = "<f" if pair[1] == "f32" else "<e"
        if pair[1] == "bf16":
            raw, code = b"\0\0" + raw, "<f"
        assert str(struct.unpack(code, raw)[0]) == kind


def test_swap_split_and_merge():
    a = Array("u32", (2, 3))
    data = bytes(range(24))
    swapped = b"".join(data[i : i + 4][::-1] for i in range(0, 24, 4))
    assert copied(a, a, data, transform="swap") == swapped
    c = Array("c64", (3,))
    assert copied(c, c, data, transform="swap") == swapped  # both halves by themselves
    numbers = [1 + 2**-30, -1e30, 0.1, -0.0, 3.5, math.inf]
    f = Array("f64", (6,))
    split = copied(f, f, struct.pack("<6d", *numbers), transform="split")
    want = []
    for number in numbers:
        high = float_of(bits_of(number))
        want += [high, float_of(bits_of(number - high)) if math.isfinite(high) else 0.0]  # so that merge gives it back
    assert struct.unpack("<12f", split) == tuple(want)
    t = Array("f64", (3,))
    merged = copied(t, t, struct.pack("<6f", 1, 2**-30, 0.5, 0.25, -1, 0), transform="merge")
    assert struct.unpack("<3d", merged) == (1 + 2**-30, 0.75, -1.0)


# ---- plan ----


@pytest.mark.parametrize("seed", range(SEED, SEED + 40))
def test_bytes_of_a_plan(seed):
    a, b, _, _ = random_pair(seed)
    fields = {"op": "plan", "from": a.text(), "to": b.text()}
    if a.bits not in WIDTHS:
        assert error(fields)["code"] == "UNSUPPORTED"
        return
    plan = good(fields)
    assert set(plan) >= {"plan", "explain", "bytes_read", "bytes_written", "scratch_bytes"}
    assert plan["bytes_read"] == math.ceil(a.count * a.bits / 8)
    assert plan["bytes_written"] == b.bytes
    assert 0 <= plan["scratch_bytes"] <= 384 << 10  # TESELA_PLAN_STACK
    assert plan["plan"] and "\n" not in plan["plan"]
    assert plan["plan"] in plan["explain"]


# ---- what is refused ----

GOOD = {"op": "relayout", "from": "u8[3,5]", "to": "{0,1}", "data_hex": bytes(15).hex()}


@pytest.mark.parametrize(
    "change, code, field, at",
    [
        ({"data_hex": "00" * 14}, "INVALID", "data_hex", None),
        ({"data_hex": "00" * 16}, "INVALID", "data_hex", None),
        ({"data_hex": "00" * 14 + "0"}, "INVALID", "data_hex", None),
        ({"data_hex": "00" * 14 + "0x"}, "SYNTAX", "data_hex", 29),
        ({"data_hex": "00 " * 15}, "SYNTAX", "data_hex", 2),
        ({"data_hex": 0}, "INVALID", "data_hex", None),
        ({"data_hex": None}, "INVALID", None, None),
        ({"from": None}, "INVALID", None, None),
        ({"file": "x", "output": "y"}, "INVALID", None, None),
        ({"fill": ""}, "SYNTAX", "fill", 0),
        ({"fill": "xx"}, "SYNTAX", "fill", 0),
        ({"fill": "ee00"}, "SYNTAX", "fill", 0),
        ({"fill": "0x100"}, "RANGE", "fill", 0),
        ({"fill": "256"}, "RANGE", "fill", 0),
        ({"fill": "10"}, "INVALID", "fill", None),
        ({"fill": 0}, "INVALID", "fill", None),
        ({"from": "u4[3,10]{1,0:E(4)}", "to": "{0,1:E(4)}", "fill": "1f"}, "SYNTAX", "fill", 0),
        ({"to": "{0,1:T(2,x)}"}, "SYNTAX", "to", 9),
        ({"to": " {0,1:T(2,x)}"}, "SYNTAX", "to", 10),
        ({"to": "{0}"}, "MISMATCH", "to", 0),
        ({"to": "u8[3,5]{0,1:T(0,2)}"}, "RANGE", "to", 14),
        ({"to": "u8[3,5"}, "SYNTAX", "to", 6),
        ({"from": "{0,1}"}, "SYNTAX", "from", 0),
        ({"from": "u8[3,5"}, "SYNTAX", "from", 6),
        ({"to": "u8[5,3]"}, "MISMATCH", None, None),
        ({"to": "c64[3,5]"}, "UNSUPPORTED", None, None),
        ({"transform": "swop"}, "UNSUPPORTED", "transform", None),
        ({"transform": "split"}, "UNSUPPORTED", None, None),
        ({"from": "u8[?,5]"}, "UNSUPPORTED", "from", None),
        ({"from": f"u8[{(16 << 20) + 1}]", "to": "{0}"}, "LIMIT", "from", None),
        ({"to": f"{{0,1:L({(16 << 20) + 1})}}"}, "LIMIT", "to", None),
        ({"from": "u8[4611686018427387904,4]", "to": "{0,1}"}, "OVERFLOW", "from", 2),
    ],
    ids=lambda value: str(value)[:60],
)
def test_refusals(change, code, field, at):
    fields = {name: value for name, value in {**GOOD, **change}.items() if value is not None}
    said = error(fields)
    assert (said["code"], said.get("field"), said.get("at")) == (code, field, at), said


@pytest.mark.parametrize(
    "dtype, fill, padding",
    [
        ("u8", "7", "07"), ("u8", "10.5", None), ("u8", "0x10", "10"), ("u8", "255", "ff"), ("s8", "-2", "fe"), ("u8", "0000", "00"),
        ("u8", "ee", "ee"), ("u8", "EE", "ee"), ("u8", "00", "00"), ("u8", "09", "09"), ("u8", "12", None), ("u8", "007", "07"),
        ("u16", "1234", None), ("u16", "12ff", "12ff"), ("u16", "0x12ff", "ff12"), ("u16", "255", "ff00"), ("u16", "0000", "0000"),
        ("bf16", "803f", "803f"), ("bf16", "1", "803f"), ("bf16", "-1.5", "c0bf"), ("bf16", "0x3f80", "803f"),
        ("f32", "0000803f", "0000803f"), ("f32", "00000000", "00000000"), ("f32", "12345678", None),
    ],
)  # fmt: skip
def test_a_fill_is_an_element_or_bytes_that_are_no_other_element(dtype, fill, padding):
    """The bytes of an element stand for it as they did before elements were read, unless the text is another element."""
    a = Array(dtype, (1,))
    fields = {"op": "relayout", "from": a.text(), "to": "{0:T(2)}", "data_hex": bytes(a.bytes).hex(), "fill": fill}
    if padding is None:
        assert error(fields)["field"] == "fill"
    else:
        assert good(fields)["data_hex"] == bytes(a.bytes).hex() + padding


def test_the_largest():
    """16 MiB out of a request of 4 MiB; a line of JSON holds no more."""
    a, b = Array("u8", (2 << 20,)), Array("u8", (2 << 20,), L=16 << 20)
    data = random.Random(1).randbytes(a.bytes)
    assert copied(a, b, data, fill="7e") == data + b"\x7e" * (14 << 20)
