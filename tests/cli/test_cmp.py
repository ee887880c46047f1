# SPDX-License-Identifier: Apache-2.0
"""The verb cmp against arrays that the oracle lays out."""

import os
import random
import struct

from command import run
from plan_verb import TILED, Array, as_json, done, model, pairs, said, stored

SEED = int(os.environ.get("TESELA_SEED", "20261123"), 0)


def test_cmp_of_random_arrays(tmp_path):
    x, y = tmp_path / "x", tmp_path / "y"
    for seed, rng, a, b in pairs(25, SEED):
        values = [rng.getrandbits(a.bits) for _ in range(a.count)]
        x.write_bytes(stored(a, values, rng))
        y.write_bytes(stored(b, values, rng))
        words = ["cmp", x, y, f"--a={a.text()}", f"--b={b.text()}"]
        assert as_json(*words) == {"same": True, "elements": a.count, "n_different": 0}, f"seed {seed}: {a}"
        assert done(*words) == "same\n"
        wrong = sorted(rng.sample(range(a.count), rng.randint(1, min(3, a.count))))
        other = list(values)
        for n in wrong:
            other[n] ^= 1 << rng.randrange(a.bits)
        y.write_bytes(stored(b, other, rng))
        answer = as_json(*words, status=1)
        index = list(a.indices())[wrong[0]]
        assert (answer["same"], answer["elements"], answer["n_different"]) == (False, a.count, len(wrong))
        first = answer["first_difference"]
        assert first["index"] == list(index), f"seed {seed}: {a}"
        digits = (a.bits + 3) // 4
        for side, array, value in (("a", a, values[wrong[0]]), ("b", b, other[wrong[0]])):
            assert first[side]["place"] == array.place(index)
            assert first[side]["bits"] == f"0x{value:0{digits}x}"


def test_cmp_in_words(tmp_path):
    rng, a, b = random.Random(1), Array("f32", (3, 5)), Array.from_text(TILED)
    values = [struct.unpack("<I", struct.pack("<f", n / 2))[0] for n in range(15)]
    (tmp_path / "x").write_bytes(stored(a, values, rng))
    values[13], values[14] = 0xBFC00000, 0x7FC00000
    (tmp_path / "y").write_bytes(stored(b, values, rng))
    words = ["cmp", tmp_path / "x", tmp_path / "y", "--a=f32[3,5]", f"--b={TILED}"]
    assert done(*words, status=1) == (
        "differ: first at [2,3]; 2 of 15 elements\n"
        "  a  place 13            0x40d00000  6.5\n"
        "  b  place 17            0xbfc00000  -1.5\n"
    )


def npy(descr, shape, data, fortran=False):
    header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {tuple(shape)!r}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def test_cmp_of_files_that_say_what_they_hold(tmp_path):
    numbers = [n + 0.25 for n in range(15)]
    columns = [numbers[row * 5 + column] for column in range(5) for row in range(3)]
    files = {
        "rows.npy": npy("<f4", (3, 5), struct.pack("<15f", *numbers)),
        "columns.npy": npy("<f4", (3, 5), struct.pack("<15f", *columns), True),
        "big.npy": npy(">f4", (3, 5), struct.pack(">15f", *numbers)),
        "raw": struct.pack("<15f", *columns),
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    for name in ("columns.npy", "big.npy"):
        assert done("cmp", tmp_path / "rows.npy", tmp_path / name) == "same\n"
    assert done("cmp", tmp_path / "rows.npy", tmp_path / "raw", "--b=f32[3,5]{0,1}") == "same\n"
    with open(tmp_path / "raw", "rb") as raw:
        assert done("cmp", "-", tmp_path / "big.npy", "--a=f32[3,5]{0,1}", stdin=raw) == "same\n"
    wrong = as_json("cmp", tmp_path / "rows.npy", tmp_path / "raw", "--b=f32[3,5]{1,0}", status=1)
    assert wrong["first_difference"]["a"] == {"place": 1, "bits": "0x3fa00000", "value": "1.25"}
    assert wrong["first_difference"]["b"] == {"place": 1, "bits": "0x40a80000", "value": "5.25"}
    digests = {done("digest", tmp_path / name)[:32] for name in files if name != "raw"}
    digests.add(done("digest", tmp_path / "raw", "--layout=f32[3,5]{0,1}")[:32])
    assert len(digests) == 1


def test_cmp_of_what_cannot_be_compared(tmp_path):
    (tmp_path / "x").write_bytes(bytes(60))
    assert "shapes differ" in said("cmp", tmp_path / "x", tmp_path / "x", "--a=f32[3,5]", "--b=f32[5,3]")
    assert "ranks differ" in said("cmp", tmp_path / "x", tmp_path / "x", "--a=f32[3,5]", "--b=f32[15]")
    assert "types differ" in said("cmp", tmp_path / "x", tmp_path / "x", "--a=f32[3,5]", "--b=s32[3,5]")
    assert "standard input can be used for only one" in said("cmp", "-", "-", "--layout=f32[3,5]")
    assert "nowhere" in said("cmp", tmp_path / "x", tmp_path / "nowhere", "--layout=f32[3,5]")
    assert "missing its layout, as in --a='f32" in said("cmp", tmp_path / "x", tmp_path / "x")
    assert "missing its layout, as in --b='f32" in said("cmp", tmp_path / "x", tmp_path / "x", "--a=f32[3,5]")
    assert "missing its layout, as in --layout='f32" in said("digest", tmp_path / "x")


def test_cmp_of_all_tensors_by_name(tmp_path):
    a, b, one = tmp_path / "a", tmp_path / "b", tmp_path / "one"
    a.write_bytes(model("x", "yy", "zzz"))
    b.write_bytes(model("zzz", "x", "yy"))
    assert done("cmp", a, b) == "same: 3 tensors\n"
    assert as_json("cmp", a, b) == {
        "tensors": [{"name": name, "same": True, "elements": 6, "n_different": 0} for name in ("x", "yy", "zzz")],
        "same": True,
    }
    b.write_bytes(model("zzz", "x", "new", x=b"\1\2\3\4\5\7"))
    assert done("cmp", a, b, status=1) == (
        "x: differ: first at [1,2]; 1 of 6 elements\n  a  place 5             0x06  6\n  b  place 5             0x07  7\n"
        "yy: only in a\nnew: only in b\ndiffer: 3 of 4 tensors\n"
    )
    answer = as_json("cmp", a, b, status=1)
    assert answer["same"] is False and [t["name"] for t in answer["tensors"]] == ["x", "yy", "zzz", "new"]
    assert [t.get("only_in") for t in answer["tensors"]] == [None, "a", None, "b"]
    assert done("cmp", a, b, "--tensor=zzz") == "same\n"
    one.write_bytes(model("x"))
    assert done("cmp", one, a, status=1).endswith("yy: only in b\nzzz: only in b\ndiffer: 2 of 3 tensors\n")
    b.write_bytes(model("x", "yy", "zzz", x=b"\1\2"))
    process = run("cmp", a, b)
    assert process.returncode == 2 and process.stderr.endswith(b"The error is in tensor x.\n")
    assert "has 3 tensors" in said("cmp", a, a, "--tensor-a=x")
