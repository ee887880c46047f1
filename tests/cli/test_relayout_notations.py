# SPDX-License-Identifier: Apache-2.0
"""`tesela relayout` and `pack` with layouts of every notation, against places that are computed here or by the oracle."""

import itertools
import json
import math
import os
import random
import re
import struct
import sys

import numpy as np
import pytest
from command import SOURCE, ask, run
from tensor_bytes import npy, read_safetensors

sys.path.insert(0, str(SOURCE / "tests" / "oracle"))
import notation_oracle as oracle  # noqa: E402

SEED = int(os.environ.get("TESELA_SEED", "20261123"), 0)
FILL = 7.5


def by_numpy(expression):
    def place(shape):
        x = np.arange(math.prod(shape)).reshape(shape)
        order = eval(expression, {"x": x, "np": np}).ravel().tolist()
        return {index: order.index(x[index]) for index in itertools.product(*map(range, shape))}

    return place


def formula(place):
    return lambda shape: {index: place(*index) for index in itertools.product(*map(range, shape))}


def by_oracle(notation, text):
    def place(shape):
        return {index: next(iter(found))[0] for index, found in oracle.places(notation, text, shape).items()}

    return place


def row(notation, text, shape, places, place=None):
    return pytest.param(text, shape, places, place or by_oracle(notation, text.removeprefix(notation + ":").strip()), id=f"{notation} {text}"[:60])


PACK = ("linalg.pack %a outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [8] into %b : "
        "tensor<4x16xf32> -> tensor<2x4x8xf32>")  # fmt: skip
SWIZZLED = "#ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 4, order = [1, 0]}>"

# text, shape, places of the whole layout, index -> place
ROWS = [
    row("xla", "f32[3,5]{1,0:T(2,2)}", (3, 5), 24),
    row("xla", "{0,1:T(4)}", (3, 5), 20, formula(lambda i, j: 4 * j + i)),
    row("jax", "Layout(major_to_minor=(1, 0), tiling=((2, 2),))", (3, 5), 24),
    row("shared", "shared_row_major(4, 8)", (4, 8), 32, formula(lambda i, j: 8 * i + j)),
    row("global", "global_column_major(4, 8)", (4, 8), 32, formula(lambda i, j: 4 * j + i)),
    row("shared", "shared: SharedLayout(shape=[4, 8], mode_shape=[4, 8], mode_strides=[8, 1], swizzle=Swizzle(base=0, bits=2, shift=3))",
        (4, 8), 32, formula(lambda i, j: 8 * i + (j ^ i))),
    row("device", "stick(dim_order=[0,1])", (3, 40), 192, formula(lambda i, j: 96 * (j // 32) + 32 * i + j % 32)),
    row("device", "stick(dim_order=[1,0])", (40, 3), 192, formula(lambda i, j: 96 * (i // 32) + 32 * j + i % 32)),
    row("map", "map(d0:4, d1:8) -> memory[64]: 16*d0 + d1 + 3", (4, 8), 64),
    row("map", "map(d0:4, d1:8) of f32 -> memory[32]: 8*d0 + d1; memory ^= memory/8%4", (4, 8), 32),
    row("map", "map(d0:5; s0 = d0 + 3) -> memory[104]: 100*(s0/4) + s0%4", (5,), 104),
    row("cute", "((2,2),(4,2)):((4,16),(1,8))", (4, 8), 32),
    row("cute", "cute: Sw<2,0,3> o 0 o (4,8):(8,1)", (4, 8), 32),
    row("cute", "((2,2),(2,3)):((2,12),(1,4))", (3, 5), 24),
    row("cute", "(4,8):(1,5)", (4, 8), 39),
    row("triton", SWIZZLED, (4, 8), 32, formula(lambda i, j: 8 * i + 2 * (j // 2 ^ i) + j % 2)),
    row("triton", "#ttg.shared_linear<{offset = [[0, 1], [1, 0], [0, 4], [1, 2], [2, 4]], block = []}, alignment = 16>", (4, 8), 32),
    row("onednn", "nChw16c", (2, 20, 3, 4), 768, by_oracle("onednn", "aBcd16b")),
    row("onednn", "onednn: AB16b16a", (20, 17), 1024),
    row("verbose", "src_f32::blocked:aBcd16b::f0", (2, 20, 3, 4), 768, by_oracle("onednn", "aBcd16b")),
    row("tvm", "NCHW8c", (2, 20, 3, 4), 576),
    row("torch", "torch.Size([4, 8]) (16, 1)", (4, 8), 56),
    row("torch", "size=(4, 8), stride=(1, 4), storage_offset=4", (4, 8), 36),
    row("mlir", "memref<4x8xf32, strided<[16, 1], offset: 4>>", (4, 8), 60),
    row("mlir", "strided<[1, 6]>", (4, 8), 46),
    row("pack", PACK, (4, 16), 64),
    row("affine_map", "affine_map<(d0, d1) -> (d0 floordiv 2, d1, d0 mod 2)>", (4, 8), 32),
    row("index_map", "lambda i, j: (j // 4, i, j % 4)", (4, 8), 32),
    row("numpy", "x.reshape(2, 2, 4, 2).transpose(2, 0, 1, 3)", (4, 8), 32, by_numpy("x.reshape(2, 2, 4, 2).transpose(2, 0, 1, 3)")),
    row("einops", "a (b c) -> b a c c=4", (4, 8), 32, formula(lambda i, j: 16 * (j // 4) + 4 * i + j % 4)),
    row("axe", "S[(4, 8) : (1, 4)]", (4, 8), 32, formula(lambda i, j: i + 4 * j)),
    row("mosaic", "#tpu.tiled<(2,4),[2,1]>", (4, 8), 32, formula(lambda i, j: 16 * (i // 2) + 8 * (j // 4) + 4 * (i % 2) + j % 4)),
    row("iree", "#iree_encoding.padding<[0, 16]>", (3, 5), 47, formula(lambda i, j: 21 * i + j)),
]  # fmt: skip


def values(shape):
    return np.random.default_rng(SEED).standard_normal(shape).astype("<f4")


def image(x, places, at, fill=FILL):
    memory = np.full(places, fill, "<f4")
    for index, place in at.items():
        memory[place] = x[index]
    return memory.tobytes()


def check(data, x, places, at, gaps=True):
    """Every element is at its place; the rest is filled, except for places before an offset and gaps between strides, which are never written."""
    found = np.frombuffer(data, "<f4")
    assert len(found) == places
    expected = np.frombuffer(image(x, places, at), "<f4")
    wrong = (found != expected) & ~((found == 0) & (expected == FILL) & gaps)
    wrong[list(at.values())] = (found != expected)[list(at.values())]
    assert not wrong.any(), (np.flatnonzero(wrong), found, expected)


def has_gaps(text):
    return bool(re.search(r"memory|stride|Size|\(4,8\):\(1,5\)|iree", text))


def relayout(*words, status=0, verb="relayout"):
    done = run(verb, *map(str, words))
    assert done.returncode == status, (words, done.stderr.decode())
    return done


def digest(path):
    return relayout(path, verb="digest").stdout.split()[0]


@pytest.mark.parametrize("text, shape, places, place", ROWS)
def test_files_of_every_notation(tmp_path, text, shape, places, place):
    x, at = values(shape), place(shape)
    plain, raw, back = tmp_path / "x.npy", tmp_path / "x.raw", tmp_path / "back.npy"
    plain.write_bytes(npy("<f4", shape, x.tobytes()))
    relayout(plain, "--to", text, "--fill", FILL, "-o", raw)
    check(raw.read_bytes(), x, places, at, has_gaps(text))
    typed = text if "f32" in text else f"--dtype=f32 {text}".split(" ", 1)[1]
    beside = ["--shape", ",".join(map(str, shape))] + ([] if "f32" in text else ["--dtype=f32"])
    relayout(raw, "--from", typed, *beside, "--to", "{" + ",".join(str(d) for d in reversed(range(len(shape)))) + "}", "-o", back)
    assert back.read_bytes() == plain.read_bytes()


@pytest.mark.parametrize("text, shape, places, place", ROWS)
def test_the_record_says_the_layout_alone(tmp_path, text, shape, places, place):
    """pack, then digest, relayout and unpack of what is recorded; --verify reads every element back."""
    x, at = values(shape), place(shape)
    plain, packed = tmp_path / "x.npy", tmp_path / "x.safetensors"
    plain.write_bytes(npy("<f4", shape, x.tobytes()))
    for words in (["--to", text], [f"t*={text}"]):
        relayout(plain, *words, "--fill", FILL, "--verify", "-o", packed, verb="pack")
        (tensor,), metadata = read_safetensors(packed.read_bytes())[0].values(), read_safetensors(packed.read_bytes())[1]
        check(tensor[2], x, places, at, has_gaps(text))
        usual = list(at.values()) == list(range(places))
        assert (metadata is None) == usual and (usual or list(metadata) == ["tesela.layout.tensor"])
    assert digest(packed) == digest(plain)
    relayout(packed, "--to", "{" + ",".join(str(d) for d in reversed(range(len(shape)))) + "}", "-o", tmp_path / "back.npy")
    assert (tmp_path / "back.npy").read_bytes() == plain.read_bytes()
    if metadata:
        relayout(packed, "-o", tmp_path / "unpacked.npy", verb="unpack")
        assert (tmp_path / "unpacked.npy").read_bytes() == plain.read_bytes()
        assert b"already packed" in relayout(packed, "--to", text, "-o", packed, verb="pack", status=2).stderr


@pytest.mark.parametrize("text, shape, places, place", ROWS)
def test_bytes_in_a_request(text, shape, places, place):
    x, at = values(shape), place(shape)
    plain = "f32[" + ",".join(map(str, shape)) + "]"
    to = {"op": "relayout", "from": plain, "to": text, "data_hex": x.tobytes().hex(), "fill": "7.5"}
    back = {"op": "relayout", "from": text, "to": plain, "data_hex": image(x, places, at).hex(), "shape": list(shape), "dtype": "f32"}
    there, again = ask(to, back)
    assert there["ok"], there
    check(bytes.fromhex(there["data_hex"]), x, places, at, has_gaps(text))
    assert again.get("data_hex") == x.tobytes().hex(), again


# ---- refused ----


@pytest.mark.parametrize(
    "words, said",
    [
        (["--to=local(4, 8)"], "expected a layout in memory, found a register layout"),
        (["--to=#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 4], warpsPerCTA = [1, 1], order = [1, 0]}>"],
         "expected a layout in memory, found one with the axes register, lane, warp"),
        (["--to=((4,4),2):((1,4),16)", "--as=tv:4x8"], "expected a layout in memory, found one with the axes thread, local"),
        (["--to=(4,8):(0,1)"], "elements of dst share places: (0,0) and (1,0) are both at 0"),
        (["--to=(4,8):(3,3)"], "elements of dst share places: (0,1) and (1,0) are both at 3"),
        (["--to=torch.Size([4, 8]) (2, 1)"], "elements of dst share places: (0,2) and (1,0) are both at 2"),
        (["--to=strided<[0, 1]>"], "elements of dst share places: (0,0) and (1,0) are both at 0"),
        (["--to=f32[4,9]{1,0:T(2,2)}"], "the tensor is f32[4,8]{1,0}; --to has other dims: "),
        (["--to=torch.Size([4, 7]) (7, 1)"], "dim 1 of the array is 8; the text has 7"),
        (["--to=(4,8):(1,4)", "--shape=8,4"], "is f32[4,8]{1,0}; --shape has other dims"),
        (["--to=(4,8):(1,5)", "-o", "x.npy"], "a .npy file must be row-major or column-major without padding"),
        (["--to=lambda i, j: (i // 2, j)"], "elements of dst share places: (0,0) and (1,0) are both at 0"),
    ],
)  # fmt: skip
def test_what_files_cannot_have(tmp_path, words, said):
    path = tmp_path / "x.npy"
    path.write_bytes(npy("<f4", (4, 8), values((4, 8)).tobytes()))
    words = [tmp_path / word if word == "x.npy" else word for word in words]
    message = relayout(path, *words, status=2).stderr.decode()
    assert said in message, message


def test_padding_that_cannot_be_filled(tmp_path):
    path, to = tmp_path / "x.npy", "--to=stick(dims=[(0,2,2),(1,2,3),(0,1,2),(1,1,32)], device_strides=[12,4,2,1])"
    x = values((3, 5))
    path.write_bytes(npy("<f4", (3, 5), x.tobytes()))
    said = relayout(path, to, status=2).stderr
    assert b"the strides of dst interleave and its digits have padding, which cannot be filled" in said
    at = formula(lambda i, j: 12 * (i // 2) + 4 * (j // 2) + 2 * (i % 2) + j % 2)((3, 5))
    assert relayout(path, to, "--fill=leave").stdout == image(x, 54, at, fill=0)


def test_named_elements_share_a_place(tmp_path):
    path = tmp_path / "x.npy"
    path.write_bytes(npy("<f4", (5, 8), values((5, 8)).tobytes()))
    n = 0
    for a, b in itertools.product(range(6), repeat=2):
        at = [a * i + b * j for i in range(5) for j in range(8)]
        shared = len(set(at)) < len(at)
        done = run("relayout", path, f"--to=(5,8):({a},{b})")
        assert (done.returncode == 2) == shared
        if shared:
            pairs, place = done.stderr.decode().split("share places: ")[1].split(" are both at ")
            one, other = (eval(pair) for pair in pairs.split(" and "))
            assert one != other and a * one[0] + b * one[1] == a * other[0] + b * other[1] == int(place)
        n += shared
    assert 10 < n < 36


def test_a_type_is_needed_where_the_text_has_none(tmp_path):
    raw = tmp_path / "x.raw"
    raw.write_bytes(bytes(128))
    said = relayout(raw, "--from=(4,8):(8,1)", "--to={0,1}", status=2).stderr
    assert b"has 128 bytes; expected 32 for (4,8):(8,1) of 8 bits; --dtype gives it a type" in said
    said = relayout(raw, "--from=f32[4,8]", "--dtype=f32", "--to={0,1}", status=2).stderr
    assert b"unexpected --dtype: the layout has the type" in said
    raw.write_bytes(bytes(range(32)))
    done = relayout(raw, "--from=(4,8):(8,1)", "--to=(4,8):(1,4)")
    assert done.stdout == np.arange(32, dtype="u1").reshape(4, 8).T.tobytes()
    said = relayout(raw, "--from=(4,8):(8,1)", "--to=(4,8):(1,4)", "-o", tmp_path / "y.npy", status=2).stderr
    assert b"the elements have 8 bits and no type; give it with --dtype=T" in said


def test_rules_apply_to_tensors_with_as_many_dims(tmp_path):
    x = {"a": values((4, 8)), "b": values((2, 20, 3, 4)), "c": values((8,))}
    parts, header, data = [], {}, b""
    for name, value in x.items():
        header[name] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": [len(data), len(data) + value.nbytes]}
        data += value.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path, out = tmp_path / "m.safetensors", tmp_path / "o.safetensors"
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    relayout(path, "*=nChw16c", "*=(4,8):(1,4)", "-o", out, verb="pack")
    tensors, metadata = read_safetensors(out.read_bytes())
    parts = sorted(name.removeprefix("tesela.layout.") for name in metadata)
    assert parts == ["a", "b"]
    assert tensors["a"][2] == x["a"].T.tobytes() and tensors["c"][2] == x["c"].tobytes()
    assert tensors["b"][2] == image(x["b"], 768, by_oracle("onednn", "aBcd16b")((2, 20, 3, 4)), fill=0)


# ---- random pairs ----


def cute_text(rng, shape):
    """Modes of two leaves where they divide, placed in a random order."""
    modes = []
    for n in shape:
        divisors = [d for d in range(1, n + 1) if n % d == 0]
        d = rng.choice(divisors)
        modes.append([d, n // d])
    leaves = [(m, k) for m in range(len(modes)) for k in range(2)]
    strides, stride = {}, 1
    for m, k in rng.sample(leaves, len(leaves)):
        strides[m, k] = stride
        stride *= modes[m][k]
        stride += rng.choice([0, 0, 0, 3])
    write = lambda leaf: "(" + ",".join(f"({leaf(m, 0)},{leaf(m, 1)})" for m in range(len(modes))) + ")"
    return "cute", write(lambda m, k: modes[m][k]) + ":" + write(lambda m, k: strides[m, k])


def tag_text(rng, shape):
    blocks = [(rng.randrange(len(shape)), rng.choice([2, 3, 4, 8])) for _ in range(rng.randint(0, 2))]
    inner = {d for d, _ in blocks}
    outer = "".join(oracle.LETTERS[d].upper() if d in inner else oracle.LETTERS[d] for d in rng.sample(range(len(shape)), len(shape)))
    return "onednn", outer + "".join(f"{n}{oracle.LETTERS[d]}" for d, n in blocks)


def xla_text(rng, shape):
    tiles = "".join("(" + ",".join(str(rng.choice([2, 3, 4, 8])) for _ in range(rng.randint(1, len(shape)))) + ")" for _ in range(rng.randint(0, 2)))
    order = ",".join(map(str, rng.sample(range(len(shape)), len(shape))))
    dims = ",".join(map(str, shape))
    return "xla", f"f32[{dims}]{{{order}{':T' + tiles if tiles else ''}}}"


def strides_of(rng, shape):
    strides, stride = [0] * len(shape), rng.choice([1, 1, 2])
    for d in rng.sample(range(len(shape)), len(shape)):
        strides[d] = stride
        stride = stride * shape[d] + rng.choice([0, 0, 5])
    return strides


def torch_text(rng, shape):
    comma = lambda items: ", ".join(map(str, items))
    tail = "," if len(shape) == 1 else ""
    return "torch", f"size=({comma(shape)}{tail}), stride=({comma(strides_of(rng, shape))}{tail}), storage_offset={rng.randint(0, 9)}"


def memref_text(rng, shape):
    strides = ", ".join(map(str, strides_of(rng, shape)))
    return "mlir", f"memref<{'x'.join(map(str, shape))}xf32, strided<[{strides}], offset: {rng.randint(0, 9)}>>"


def lambda_text(rng, shape):
    names = [f"i{d}" for d in range(len(shape))]
    parts = []
    for name, extent in zip(names, shape):
        n = rng.choice([n for n in (1, 2, 3, 4) if n <= extent])
        parts += [f"{name} // {n}", f"{name} % {n}"]
    rng.shuffle(parts)
    return "index_map", f"lambda {', '.join(names)}: ({', '.join(parts)})"


def map_text(rng, shape):
    strides, offset = strides_of(rng, shape), rng.randint(0, 9)
    dims = ", ".join(f"d{d}:{n}" for d, n in enumerate(shape))
    places = offset + sum((n - 1) * s for n, s in zip(shape, strides)) + 1 + rng.randint(0, 9)
    terms = " + ".join(f"{s}*d{d}" for d, s in enumerate(strides))
    return "map", f"map({dims}) -> memory[{places}]: {terms} + {offset}"


TEXTS = [cute_text, tag_text, xla_text, torch_text, memref_text, lambda_text, map_text]


@pytest.mark.parametrize("source, target", list(itertools.product(range(len(TEXTS)), repeat=2)))
def test_random_pairs_of_notations(tmp_path, source, target):
    rng = random.Random(f"{SEED} {source} {target}")
    for _ in range(3):
        shape = tuple(rng.choice([1, 2, 3, 4, 6, 8, 12]) for _ in range(rng.choice([1, 2, 2, 3])))
        x = values(shape)
        (a, a_text), (b, b_text) = TEXTS[source](rng, shape), TEXTS[target](rng, shape)
        at = [by_oracle(*one)(shape) for one in ((a, a_text), (b, b_text))]
        beside = ["--shape", ",".join(map(str, shape))] + ([] if "f32" in a_text else ["--dtype=f32"])
        plain, raw, out = (tmp_path / name for name in ("x.npy", "x.raw", "x.out"))
        plain.write_bytes(npy("<f4", shape, x.tobytes()))
        relayout(plain, "--to", f"{a}: {a_text}", "-o", raw, "--fill=leave")  # the number of places
        places = raw.stat().st_size // 4
        assert places > max(at[0].values())
        raw.write_bytes(image(x, places, at[0], fill=-1))
        relayout(raw, "--from", f"{a}: {a_text}", *beside, "--to", f"{b}: {b_text}", "-o", out, "--fill", FILL)
        assert out.stat().st_size // 4 > max(at[1].values())
        check(out.read_bytes(), x, out.stat().st_size // 4, at[1])
