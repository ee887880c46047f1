# SPDX-License-Identifier: Apache-2.0
"""tesela.safe_open, save_file, pack_file, unpack_file. Oracles: the package safetensors, NumPy's pad, reshape and transpose."""

import doctest
import importlib
import json
import os
import pathlib
import struct
import subprocess
import sys

import numpy as np
import pytest

import tesela

safetensors = pytest.importorskip("safetensors")
ml_dtypes = pytest.importorskip("ml_dtypes")
importlib.import_module("safetensors.numpy")

SEED = int(os.environ.get("TESELA_SEED", "13"))


def tiled(x, rows, columns):
    """The places of x[m,n]{1,0:T(rows,columns)}."""
    m, n = x.shape
    x = np.pad(x, ((0, -m % rows), (0, -n % columns)))
    return x.reshape(x.shape[0] // rows, rows, x.shape[1] // columns, columns).transpose(0, 2, 1, 3).reshape(-1)


@pytest.fixture
def rng():
    print("TESELA_SEED", SEED)
    return np.random.default_rng(SEED)


def header_of(path):
    raw = pathlib.Path(path).read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    return json.loads(raw[8 : 8 + length]), raw[8 + length :]


def by_hand(path, tensors, metadata):
    """A .safetensors without any library: tensors are (name, type, shape, bytes)."""
    header, data = {"__metadata__": metadata}, b""
    for name, kind, shape, raw in tensors:
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


@pytest.mark.parametrize("module", ["_files", "_save", "_slices", "_checkpoint"])
def test_documentation(module):
    assert doctest.testmod(importlib.import_module(f"tesela.{module}")).failed == 0


# ---- as safetensors itself


def plain_file(path, rng):
    tensors = {
        "z": rng.standard_normal((3, 4)).astype(np.float32), "a": rng.integers(-9, 9, (2, 3, 2)), "half": np.float16([1.5, -2]),
        "scalar": np.array(3.5), "empty": np.zeros((0, 4), np.float32), "flag": np.array([True, False, True]),
        "brain": rng.standard_normal(5).astype(ml_dtypes.bfloat16), "c": np.array([1 + 2j], np.complex64),
        "f8": np.array([1, -0.5], ml_dtypes.float8_e4m3fn),
    }  # fmt: skip
    safetensors.numpy.save_file(tensors, path, {"format": "np"})
    return tensors


def test_agrees_with_safetensors(tmp_path, rng):
    path = tmp_path / "m.safetensors"
    tensors = plain_file(path, rng)
    with safetensors.safe_open(path, "np") as theirs, tesela.safe_open(path) as ours:
        assert ours.keys() == theirs.keys()
        assert ours.offset_keys() == theirs.offset_keys()
        assert ours.metadata() == theirs.metadata()
        for name, x in tensors.items():
            assert ours.get_slice(name).get_shape() == theirs.get_slice(name).get_shape()
            assert ours.get_slice(name).get_dtype() == theirs.get_slice(name).get_dtype()
            got = ours.get_tensor(name)
            assert got.dtype == x.dtype and got.tobytes() == x.tobytes() and got.flags.writeable
        assert {name: x.tobytes() for name, x in ours.get_tensors().items()} == {
            n: x.tobytes() for n, x in tensors.items()
        }
        for key in (0, -1, np.s_[0:1], np.s_[..., 1], np.s_[:, ::2], (1, 2), np.s_[1:, 1:3], ...):
            got, want = ours.get_slice("z")[key], theirs.get_slice("z")[key]
            assert got.shape == want.shape and (got == want).all()
    with pytest.raises(ValueError, match="closed"):
        ours.keys()
    with pytest.raises(ValueError, match="closed"):
        ours.get_tensor("z")


def test_what_is_not_there(tmp_path, rng):
    with pytest.raises(FileNotFoundError) as error:
        tesela.safe_open(tmp_path / "none.safetensors")
    assert error.value.filename.endswith("none.safetensors")
    path = tmp_path / "m.safetensors"
    plain_file(path, rng)
    f = tesela.safe_open(path)
    with pytest.raises(KeyError, match="did you mean brain"):
        f.get_tensor("brian")
    assert "z" in f and "y" not in f and len(f) == 9 and list(f) == f.keys()
    for key, kind in (
        (9, IndexError),
        ((0, 0, 0), IndexError),
        ("z", TypeError),
        ((..., ...), IndexError),
        (None, TypeError),
    ):
        with pytest.raises(kind):
            f.get_slice("z")[key]
    with pytest.raises(ValueError, match="unknown framework 'tf'"):
        tesela.safe_open(path, "tf")
    with pytest.raises(ValueError, match="device 'cpu'"):
        tesela.safe_open(path, "np", "cuda")
    np.save(tmp_path / "x.npy", np.zeros(3))
    with pytest.raises(tesela.UnsupportedError, match="not a .safetensors"):
        tesela.safe_open(tmp_path / "x.npy")
    (tmp_path / "cut.safetensors").write_bytes(path.read_bytes()[:-1])
    with pytest.raises(tesela.LayoutError, match="cut.safetensors: "):
        tesela.safe_open(tmp_path / "cut.safetensors")


# ---- packed tensors


def packed_file(path, rng):
    x = rng.standard_normal((20, 300)).astype(np.float32)
    b = rng.standard_normal((9, 7)).astype(ml_dtypes.bfloat16)
    nibbles = rng.integers(0, 16, 24).astype(np.uint8)  # f4 of {0:E(4)}: pairs, the first lowest
    by_hand(
        path,
        [("w", "F32", [24 * 384], tiled(x, 8, 128).tobytes()), ("b", "BF16", [9 * 7], b.T.tobytes()),
         ("n", "U8", [12], (nibbles[::2] | nibbles[1::2] << 4).tobytes()), ("p", "I32", [2], np.int32([5, 6]).tobytes())],
        {"tesela.layout.w": "f32[20,300]{1,0:T(8,128)}", "tesela.layout.b": "bf16[9,7]{0,1}",
         "tesela.layout.n": "u4[4,6]{1,0:E(4)}"},
    )  # fmt: skip
    return {"w": x, "b": b, "n": nibbles.reshape(4, 6).view(ml_dtypes.uint4), "p": np.int32([5, 6])}


def test_unpacks_on_read(tmp_path, rng):
    path = tmp_path / "t.safetensors"
    want = packed_file(path, rng)
    with tesela.safe_open(str(path)) as f:
        assert f["w"].layout == tesela.layout("f32[20,300]{1,0:T(8,128)}")
        assert f["p"].layout == tesela.layout("s32[2]{0}")
        assert f.get_slice("w").get_shape() == [20, 300] and f.get_slice("w").get_dtype() == "F32"
        assert f.get_slice("b").get_dtype() == "BF16" and f.get_slice("n").get_dtype() == "u4"
        for name, x in want.items():
            got = f.get_tensor(name)
            assert got.dtype == x.dtype and got.shape == x.shape and (got == x).all(), name
            assert (np.asarray(f[name]) == x).all()
        places = f.get_physical("w")
        kept = f["w"]
        assert places.dtype == np.float32 and not places.flags.writeable and not places.flags.owndata
        assert (places == tiled(want["w"], 8, 128)).all()
        assert f.get_physical("w").__array_interface__["data"] == places.__array_interface__["data"]
    assert (places == tiled(want["w"], 8, 128)).all() and (np.asarray(kept) == want["w"]).all()  # still mapped


def random_key(rng, shape):
    key = []
    for extent in shape:
        a, b = (int(n) for n in rng.integers(-extent - 2, extent + 3, 2))
        step = int(rng.choice([1, 1, 1, 2, 3, -1, -2]))
        key.append(slice(a, b, step) if rng.random() < 0.8 or not -extent <= a < extent else a)
    while len(key) and rng.random() < 0.2:
        key.pop()
    if rng.random() < 0.2:
        key.insert(int(rng.integers(0, len(key) + 1)), ...) if len(key) < len(shape) else None
    return tuple(key)


LAYOUTS = [
    "f32[37,150]{1,0:T(8,128)}", "f32[37,150]{0,1:T(8,128)}", "bf16[19,40]{1,0:T(8,16)(2,1)}", "s8[33,5,9]{2,1,0:T(*,4)}",
    "s8[33,5,9]{1,2,0:T(4,4)(4,1)}", "s4[13,11]{1,0:T(2,3)E(4)}", "pred[20,30]{1,0:T(32,8)(32,1)E(1)}", "pred[5,6]{1,0:E(32)}",
    "u8[11,13]{1,0:T(2,2)L(64)}", "f64[6]{0:T(4)}", "f32[]{:T(128)}", "s16[3,0]{1,0:T(2,2)}", "f32[7,9]{1,0}",
]  # fmt: skip


@pytest.mark.parametrize("text", LAYOUTS)
def test_slices(tmp_path, rng, text):
    lies = tesela.layout(text)
    x = rng.integers(0, 2 if lies.element_type == "pred" else 7, lies.shape).astype(lies.dtype)
    path = tmp_path / "t.safetensors"
    tesela.save_file({"w": x}, path, {"w": text})
    f = tesela.safe_open(path)
    assert f["w"].layout == lies and (f.get_tensor("w") == x).all()
    for _ in range(40):
        key = random_key(rng, x.shape)
        got, want = f.get_slice("w")[key], np.asarray(x[key])
        assert got.dtype == want.dtype and got.shape == want.shape and (got == want).all(), key


@pytest.mark.parametrize(
    "text",
    [
        "s8[7] stick(dims=[(0,2,2),(0,6,3),(0,4,2),(0,1,2)], stick=2, stick_dims=1)",
        "f32[33,40] stick(dims=[(1,2,20),(0,16,3),(1,1,2),(0,1,16)], stick_dims=2)",
        "f16[6,100,150] stick(dim_order=[1,0,2])", "f16[70] stick(dim_order=[0,-1])", "f16[40,50] stick(target=tiles)",
    ],
)  # fmt: skip
def test_slices_of_device_layouts(rng, text):
    part_of = importlib.import_module("tesela._slices").part_of
    lies = tesela.layout(text)
    x = rng.integers(0, 100, lies.shape).astype(lies.dtype)
    packed = tesela.pack(x, lies)
    places = packed.physical.reshape(-1)
    for _ in range(5):  # the oracle of pack: the place of each element
        index = tuple(int(rng.integers(0, n)) for n in x.shape)
        assert places[lies.where(index)] == x[index]
    for _ in range(60):
        key = random_key(rng, x.shape)
        got, want = part_of(packed, key), np.asarray(x[key])
        assert got.shape == want.shape and (got == want).all(), key


def test_places_of_rows_of_one_dim():
    lies = tesela.layout("f64[6]{0:T(4)}")
    assert lies.where(np.array([[5], [1]])).tolist() == [5, 1] and lies.where(np.array([[3]])).tolist() == [3]


def test_slices_in_many_pieces(tmp_path, rng, monkeypatch):
    monkeypatch.setattr(importlib.import_module("tesela._slices"), "CHUNK", 10)
    x = rng.integers(0, 99, (9, 21)).astype(np.int16)
    tesela.save_file({"w": x}, tmp_path / "t.safetensors", {"w": "{1,0:T(4,4)}"})
    f = tesela.safe_open(tmp_path / "t.safetensors")
    for _ in range(20):
        key = random_key(rng, x.shape)
        assert (f.get_slice("w")[key] == x[key]).all()


# One tile of 8 * 1024 f32 is 32 KiB. Pages that lie in other tiles than those named are made unreadable: touching one ends the process.
ONLY = """
import ctypes, sys
import numpy as np
import tesela

path, allowed, key = sys.argv[1], set(map(int, sys.argv[2].split(","))), eval(sys.argv[3])
f = tesela.safe_open(path)
w = f.get_slice("w")
start, size = f.get_physical("w").__array_interface__["data"][0], 8 * 1024 * 4
libc = ctypes.CDLL(None, use_errno=True)
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
n, page = f.get_physical("w").nbytes // size, 4096
hidden = 0
for at in range(-(-start // page) * page, start + n * size - page + 1, page):
    if not {(at - start) // size, (at + page - 1 - start) // size} & allowed:
        assert libc.mprotect(at, page, 0) == 0
        hidden += 1
assert hidden >= (n - len(allowed)) * (size // page - 1)
part = w[key]
print(part.shape, part.sum(dtype=np.float64))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="mprotect")
@pytest.mark.parametrize(
    "key, allowed, dies",
    [
        ("np.s_[0:8]", {0, 1, 2}, False),
        ("np.s_[9:15, 1024:2048]", {4}, False),
        ("np.s_[:, 2100]", {2, 5, 8, 11}, False),
        ("np.s_[7:17, 1030:2000]", {1, 4, 7}, False),
        ("np.s_[3, 5:3000:1024]", {0, 1, 2}, False),
        ("np.s_[-1, -1]", {11}, False),
        ("np.s_[0:9]", {0, 1, 2}, True),
        ("np.s_[0:8, 0:1025]", {0}, True),
    ],
)
def test_slices_touch_only_their_tiles(tmp_path, key, allowed, dies):
    x = np.arange(32 * 3072, dtype=np.float32).reshape(32, 3072)  # 4 rows of 3 tiles
    path = tmp_path / "t.safetensors"
    by_hand(
        path,
        [("w", "F32", [32 * 3072], tiled(x, 8, 1024).tobytes())],
        {"tesela.layout.w": "f32[32,3072]{1,0:T(8,1024)}"},
    )
    done = subprocess.run(
        [sys.executable, "-c", ONLY, path, ",".join(map(str, allowed)), key],
        capture_output=True,
        text=True,
        check=False,
    )
    if dies:
        assert done.returncode == -11, done.stderr
        return
    part = x[eval(key)]
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [*str(part.shape).split(), str(part.sum(dtype=np.float64))]


# ---- shards


def shards(folder, rng):
    folder.mkdir()
    first, second = {"a": np.arange(6.0), "w": rng.random((4, 3))}, {"b": np.int32([7])}
    safetensors.numpy.save_file(first, folder / "m-1.safetensors", {"format": "pt"})
    safetensors.numpy.save_file(second, folder / "m-2.safetensors", {"format": "pt", "more": "2"})
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({
        "metadata": {"total_size": 148},
        "weight_map": {"w": "m-1.safetensors", "b": "m-2.safetensors", "a": "m-1.safetensors"},
    }))  # fmt: skip
    return index, {**first, **second}


def test_index_of_shards(tmp_path, rng):
    index, tensors = shards(tmp_path / "m", rng)
    with tesela.safe_open(index) as f:
        assert f.keys() == ["a", "b", "w"] and f.metadata() == {"format": "pt", "more": "2"}
        assert sorted(f.offset_keys()[:2]) == ["a", "w"] and f.offset_keys()[2] == "b"
        for name, x in tensors.items():
            assert (f.get_tensor(name) == x).all()
        assert (f.get_slice("w")[1:3] == tensors["w"][1:3]).all()
    f = tesela.safe_open(index)
    os.remove(index.parent / "m-2.safetensors")  # opened when it is needed
    assert (f.get_tensor("a") == tensors["a"]).all()
    with pytest.raises(FileNotFoundError):
        f.get_tensor("b")


@pytest.mark.parametrize(
    "text, message",
    [
        ('{"weight_map": {"a": "../m-1.safetensors"}}', "beside the index"),
        ('{"weight_map": {"a": ".."}}', "beside the index"),
        ('{"weight_map": {"a": 3}}', "beside the index"),
        ('{"map": {}}', "weight_map"),
        ("[]", "weight_map"),
        ("{", "Expecting"),
    ],
)
def test_index_that_is_refused(tmp_path, text, message):
    (tmp_path / "i.json").write_text(text)
    with pytest.raises(ValueError, match=message):
        tesela.safe_open(tmp_path / "i.json")


def test_index_that_lies(tmp_path, rng):
    index, _ = shards(tmp_path / "m", rng)
    index.write_text('{"weight_map": {"q": "m-1.safetensors"}}')
    with pytest.raises(tesela.MismatchError, match="'q'"):
        tesela.safe_open(index).get_tensor("q")


# ---- written


def test_saves_what_safetensors_reads(tmp_path, rng):
    path = tmp_path / "m.safetensors"
    tensors = plain_file(path, rng)
    del tensors["f8"]  # safetensors.numpy writes it and cannot read it
    base = rng.integers(0, 99, (6, 8)).astype(np.int16)
    tensors |= {"view": base[::-2, 1::3], "order": np.asfortranarray(base), "big": base.astype(">i2")}
    tesela.save_file(tensors, path, metadata={"format": "np", "emoji \u2603": 'quote " \\ \n'})
    got = safetensors.numpy.load_file(path)
    assert got.keys() == tensors.keys()
    for name, x in tensors.items():
        assert got[name].shape == x.shape and (got[name] == x).all(), name
    assert safetensors.safe_open(path, "np").metadata() == {"format": "np", "emoji \u2603": 'quote " \\ \n'}
    tesela.save_file({}, path)
    assert tesela.safe_open(path).keys() == [] and tesela.safe_open(path).metadata() is None


def test_saves_layouts(tmp_path, rng):
    path = tmp_path / "m.safetensors"
    x = rng.random((10, 130)).astype(np.float32)
    n = rng.integers(-8, 8, (3, 5)).astype(ml_dtypes.int4)
    tesela.save_file(
        {"x": x, "T": tesela.pack(x, "{1,0:T(2,2)}"), "n": n, "m": n}, path, {"x": "{1,0:T(8,128)}", "n": "{1,0:E(4)}"}
    )
    header, data = header_of(path)
    assert header["__metadata__"] == {
        "tesela.layout.x": "f32[10,130]{1,0:T(8,128)}", "tesela.layout.T": "f32[10,130]{1,0:T(2,2)}",
        "tesela.layout.n": "s4[3,5]{1,0:E(4)}", "tesela.layout.m": "s4[3,5]{1,0}",
    }  # fmt: skip
    begin, end = header["x"]["data_offsets"]
    assert data[begin:end] == tiled(x, 8, 128).tobytes()
    begin, end = header["n"]["data_offsets"]
    nibbles = np.append(n.astype(np.int8), np.int8(0)).view(np.uint8) & 15
    assert data[begin:end] == (nibbles[::2] | nibbles[1::2] << 4).tobytes()
    f = tesela.safe_open(path)
    for name, want in {"x": x, "T": x, "n": n, "m": n}.items():
        assert (f.get_tensor(name) == want).all()
    tesela.save_file({"x": f["x"]}, tmp_path / "again.safetensors", {"x": "{0,1}"})
    assert (tesela.safe_open(tmp_path / "again.safetensors").get_physical("x") == x.T.reshape(-1)).all()


def test_saves_device_layouts_as_xla(tmp_path, rng):
    path, back = tmp_path / "m.safetensors", tmp_path / "b.safetensors"
    x = rng.random((5, 70)).astype(np.float16)
    tesela.save_file({"w": x}, path, {"w": "f16[5,70] stick(dim_order=[0,1])"})
    # Sticks of 64 elements along dim 1: two of them, all rows of the first before the second.
    want = np.pad(x, ((0, 0), (0, 58))).reshape(5, 2, 64).transpose(1, 0, 2).reshape(-1)
    assert (tesela.safe_open(path).get_physical("w") == want).all()
    tesela.unpack_file(path, back)
    assert (safetensors.numpy.load_file(back)["w"] == x).all()


def test_saving_that_is_refused(tmp_path):
    path = tmp_path / "m.safetensors"
    x = np.zeros((2, 3), np.float32)
    with pytest.raises(KeyError, match="did you mean weight"):
        tesela.save_file({"weight": x}, path, {"wieght": "{1,0}"})
    with pytest.raises(tesela.MismatchError):
        tesela.save_file({"w": x}, path, {"w": "f32[3,2]{1,0}"})
    with pytest.raises(tesela.MismatchError):
        tesela.save_file({"w": x}, path, {"w": "s32[2,3]{1,0}"})
    with pytest.raises(tesela.LayoutSyntaxError):
        tesela.save_file({"w": x}, path, {"w": "{1,0:T(}"})
    with pytest.raises(TypeError, match="metadata 'a'"):
        tesela.save_file({"w": x}, path, metadata={"a": 1})
    with pytest.raises(ValueError, match="invalid name"):
        tesela.save_file({"a\0b": x}, path)
    for layouts in (None, {"__metadata__": "{0,1}"}):
        with pytest.raises(tesela.LayoutError, match="cannot be named __metadata__"):
            tesela.save_file({"__metadata__": x}, path, layouts)
    with pytest.raises(tesela.NotExpressible):
        tesela.save_file({"w": np.zeros(64, np.int8)}, path, {"w": "s8[64] Sw<1,0,2> o 0 o 64:1"})
    with pytest.raises(OSError):
        tesela.save_file({"w": x}, tmp_path / "no" / "m.safetensors")
    assert not path.exists()


# ---- pack and unpack


def model(path, rng):
    tensors = {f"layer.{i}.weight": rng.random((16, 40)).astype(np.float32) for i in range(3)}
    tensors |= {f"layer.{i}.bias": rng.random(16).astype(np.float32) for i in range(3)}
    safetensors.numpy.save_file(tensors, path, {"format": "pt"})
    return tensors


def test_packs_and_unpacks(tmp_path, rng):
    src, dst, back = (tmp_path / f"{name}.safetensors" for name in ("m", "tpu", "back"))
    tensors = model(src, rng)
    calls = []
    answer = tesela.pack_file(
        src, dst, {"*.weight": "{1,0:T(8,128)}"}, progress=lambda done, total: calls.append((done, total))
    )
    assert [one["name"] for one in answer["tensors"]] == [name for name in header_of(src)[0] if name.endswith("weight")]
    assert answer["bytes"] == dst.stat().st_size
    assert calls and calls[-1][0] == calls[-1][1] and calls == sorted(calls)
    with tesela.safe_open(dst) as f:
        for name, x in tensors.items():
            assert (f.get_tensor(name) == x).all()
        assert (f.get_physical("layer.1.weight") == tiled(tensors["layer.1.weight"], 8, 128)).all()
        assert f.metadata()["format"] == "pt"
    tesela.unpack_file(dst, back)
    got = safetensors.numpy.load_file(back)
    assert all((got[name] == x).all() for name, x in tensors.items())
    tesela.unpack_file(dst, tmp_path / "one.npy", tensor="layer.0.weight")
    assert (np.load(tmp_path / "one.npy") == tensors["layer.0.weight"]).all()
    lies = tesela.layout("f32[16,40]{1,0:T(8,128)}")
    tesela.pack_file(str(src), str(back), {"*.weight": lies})
    assert back.read_bytes() == dst.read_bytes()


def test_packing_that_fails(tmp_path, rng):
    src, dst = tmp_path / "m.safetensors", tmp_path / "t.safetensors"
    model(src, rng)
    with pytest.raises(FileNotFoundError):
        tesela.pack_file(tmp_path / "none.safetensors", dst, {"*": "{1,0}"})
    with pytest.raises(tesela.LayoutError, match="wieght"):
        tesela.pack_file(src, dst, {"*.wieght": "{1,0:T(8,128)}"})
    with pytest.raises(KeyboardInterrupt):
        tesela.pack_file(src, dst, {"*.weight": "{1,0:T(8,128)}"}, progress=lambda done, total: False)
    with pytest.raises(ZeroDivisionError):
        tesela.pack_file(src, dst, {"*.weight": "{1,0:T(8,128)}"}, progress=lambda done, total: 1 // 0)
    assert not dst.exists()


def test_progress_for_people(tmp_path, rng, capsys, monkeypatch):
    src = tmp_path / "m.safetensors"
    model(src, rng)
    monkeypatch.setitem(sys.modules, "tqdm", None)  # not installed
    tesela.pack_file(src, tmp_path / "t.safetensors", {"*.weight": "{1,0:T(8,128)}"}, progress=True)
    assert capsys.readouterr().err.endswith("\rpack: 100%\n")

    class Tqdm:
        made = []

        def __init__(self, **options):
            self.n, self.total, self.options, self.closed = 0, None, options, False
            self.made.append(self)

        def update(self, n):
            self.n += n

        def close(self):
            self.closed = True

    monkeypatch.setitem(sys.modules, "tqdm", type(sys)("tqdm"))
    sys.modules["tqdm"].tqdm = Tqdm
    tesela.unpack_file(tmp_path / "t.safetensors", tmp_path / "b.safetensors", progress=True)
    (bar,) = Tqdm.made
    assert bar.closed and bar.n == bar.total > 0 and bar.options["desc"] == "unpack"


def has_field(name):
    return any(field["name"] == name for field in tesela.op("ops", name="pack")["ops"][0]["fields"])


@pytest.mark.skipif(not has_field("verify"), reason="the operation pack has no field verify")
def test_verified_dry_and_resumed(tmp_path, rng):
    src, dst = tmp_path / "m.safetensors", tmp_path / "t.safetensors"
    model(src, rng)
    rules = {"*.weight": "{1,0:T(8,128)}"}
    planned = tesela.pack_file(src, dst, rules, dry_run=True)
    assert not dst.exists() and len(planned["tensors"]) == 3
    done = tesela.pack_file(src, dst, rules, verify=True, resume=True)
    assert done["bytes"] == planned["bytes"] == dst.stat().st_size and done["verified"] is True


@pytest.mark.skipif(not has_field("verify"), reason="the operation pack takes no index of shards")
def test_packs_shards(tmp_path, rng):
    index, tensors = shards(tmp_path / "m", rng)
    (tmp_path / "t").mkdir()
    tesela.pack_file(index, tmp_path / "t" / index.name, {"w": "{1,0:T(2,2)}"}, verify=True)
    with tesela.safe_open(tmp_path / "t" / index.name) as f:
        assert (f.get_physical("w") == tiled(tensors["w"], 2, 2)).all()
        assert all((f.get_tensor(name) == x).all() for name, x in tensors.items())


# ---- other packages


@pytest.mark.frameworks
def test_torch(tmp_path, rng):
    torch = pytest.importorskip("torch")
    path = tmp_path / "t.safetensors"
    want = packed_file(path, rng)
    with tesela.safe_open(path, "pt") as f:
        w = f.get_tensor("w")
        assert isinstance(w, torch.Tensor) and w.dtype == torch.float32 and (w.numpy() == want["w"]).all()
        assert (f.get_slice("w")[3:9, ::2].numpy() == want["w"][3:9, ::2]).all()
        b = f.get_tensor("b")
        assert b.dtype == torch.bfloat16 and (b.float().numpy() == want["b"].astype(np.float32)).all()
        with pytest.raises(tesela.UnsupportedError, match="uint4"):
            f.get_tensor("n")
    tesela.save_file({"b": b.t()}, path, {"b": "{1,0:T(2,2)}"})
    assert (tesela.safe_open(path, "pt").get_tensor("b") == b.t()).all()


@pytest.mark.frameworks
def test_jax(tmp_path, rng):
    jax = pytest.importorskip("jax")
    path = tmp_path / "t.safetensors"
    want = packed_file(path, rng)
    with tesela.safe_open(path, "flax") as f:
        w = f.get_tensor("w")
        assert isinstance(w, jax.Array) and (np.asarray(w) == want["w"]).all()
        b = f.get_slice("b")[1:3]
        assert b.dtype == jax.numpy.bfloat16 and (np.asarray(b) == want["b"][1:3]).all()


def test_a_folder_is_not_a_file(tmp_path):
    for call in (
        lambda: tesela.safe_open(tmp_path),
        lambda: tesela.report(tmp_path),
        lambda: tesela.pack_file(tmp_path, tmp_path / "out.safetensors", {}),
    ):
        with pytest.raises(OSError, match="folder|directory"):
            call()
