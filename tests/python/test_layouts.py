# SPDX-License-Identifier: Apache-2.0
"""Layouts and copies: the vectors, the oracles that share no code with the library, and NumPy's own pad, reshape and transpose."""

import itertools
import json
import math
import os
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import hypothesis
import ml_dtypes
import numpy as np
import pytest
from hypothesis import strategies as st

import tesela

SOURCE = Path(os.environ.get("TESELA_SOURCE") or Path(__file__).resolve().parents[2])
sys.path.insert(0, str(SOURCE / "tests/oracle"))

from xla_oracle import Array  # noqa: E402

SEED = int(os.environ.get("TESELA_SEED", "1"))
VECTORS = SOURCE / "tests/vectors"
XLA = json.loads((VECTORS / "xla_seed_examples.json").read_text())
TILUS = json.loads((VECTORS / "tilus_seed_examples.json").read_text())
ARRAYS = [entry for part in ("worked_examples", "formats", "random", "real_texts") for entry in XLA[part]]
T22 = "f32[3,5]{1,0:T(2,2)}"


def seeded(test):
    """A test whose cases follow from TESELA_SEED; a failing one is printed with its values."""
    settings = hypothesis.settings(deadline=None, database=None, max_examples=60, print_blob=False)
    return hypothesis.seed(SEED)(settings(test))


# ---- where and what, against the vectors


@pytest.mark.parametrize("entry", ARRAYS, ids=[entry["shape"] for entry in ARRAYS])
def test_vectors(entry):
    L = tesela.layout(entry["shape"])
    for key, value in (("bytes", L.nbytes), ("elements_logical", L.size), ("elements_physical", L.places), ("bits_per_element", L.bits)):
        assert entry.get(key, value) == value
    points = entry.get("points", []) + ([[entry["element"], entry["offset"]]] if "element" in entry else [])
    for index, place in points:
        assert L.where(*index) == place
        assert L.what(place) == tuple(index)
    if points:
        rows = np.array([index for index, _ in points])
        places = np.array([place for _, place in points])
        assert np.array_equal(L.where(rows), places)
        assert np.array_equal(L.what(places), rows)
    for place in entry.get("padding_offsets_sample", []):
        assert L.what(place) is None
    for place, number in enumerate(entry.get("memory_image", [])):
        found = L.what(place)
        assert found == (None if number is None else tuple(map(int, np.unravel_index(number, L.shape))))


@pytest.mark.parametrize("entry", TILUS["cases"] + TILUS["fragments"], ids=lambda entry: entry["id"])
def test_register_vectors(entry):
    if entry.get("ok") is False:
        with pytest.raises(tesela.LayoutError):
            tesela.layout(entry["expr"], notation="register")
        return
    L = tesela.layout(entry["expr"], notation="register")
    assert L.shape == tuple(entry["shape"])
    for index, (threads, local) in entry.get("table", {}).items():
        index = tuple(map(int, index.split(",")))
        found = L.where(*index)
        assert found == (threads[0] if len(threads) == 1 else tuple(threads), local)
        for thread in threads:
            assert L.what(thread=thread, register=local) == index
    for lane, elements in enumerate(entry.get("lane_elements", [])):
        for register, index in enumerate(elements):
            assert L.what(thread=lane, register=register) == tuple(index)


# ---- random layouts, against the oracle: the index formula and the list that is padded, reshaped, transposed


@st.composite
def arrays(draw, dtypes=("f32", "s8", "bf16", "f64")):
    """An oracle's array: sizes from 0, an order, up to two levels of tiles."""
    rank = draw(st.integers(0, 4))
    dims = draw(st.lists(st.integers(0 if draw(st.booleans()) else 1, 7), min_size=rank, max_size=rank))
    order = draw(st.permutations(range(rank)))
    tiles = []
    if rank and draw(st.booleans()):
        tiles.append(tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=rank))))
        if draw(st.booleans()):
            tiles.append((draw(st.integers(1, 3)), 1))
    return Array(draw(st.sampled_from(dtypes)), dims, order, tiles)


@seeded
@hypothesis.given(arrays())
def test_places_are_those_of_the_oracle(oracle):
    L = tesela.layout(oracle.text())
    assert (L.shape, L.places, L.nbytes) == (oracle.dims, oracle.elements, oracle.bytes)
    indices = list(itertools.product(*map(range, oracle.dims)))
    expected = [oracle.place(index) for index in indices]
    assert [L.where(index) for index in indices] == expected
    rows = np.array(indices, np.int64).reshape(len(indices), oracle.rank)
    if oracle.rank:
        assert L.where(rows).tolist() == expected
        image = [-1 if number is None else number for number in oracle.image()]
        index = np.full((len(image), oracle.rank), -1)
        for place, number in enumerate(image):
            if number >= 0:
                index[place] = indices[number]
        assert np.array_equal(L.what(np.arange(len(image))), index)


@seeded
@hypothesis.given(arrays(), arrays())
def test_equal_layouts_are_equal(a, b):
    A, B = tesela.layout(a.text()), tesela.layout(b.text())
    if a.dims != b.dims:
        assert A != B
        return
    indices = list(itertools.product(*map(range, a.dims)))
    differ = [index for index in indices if a.place(index) != b.place(index)]
    found = tesela.compare(A, B)
    assert bool(found) == (not differ and A.bits == B.bits)
    if differ and A.bits == B.bits:
        assert found.first_difference == (differ[0], a.place(differ[0]), b.place(differ[0]))
    if A == B:
        assert hash(A) == hash(B) and not differ and (a.dtype, a.elements) == (b.dtype, b.elements)
    elif not differ:
        assert (a.dtype, a.elements) != (b.dtype, b.elements)


@seeded
@hypothesis.given(arrays())
def test_the_expression_makes_the_places(oracle):
    hypothesis.assume(math.prod(oracle.dims))
    x = np.arange(1, 1 + math.prod(oracle.dims)).reshape(oracle.dims)
    made = eval(tesela.layout(oracle.text()).numpy_expr("x"), {"np": np, "x": x})
    assert made.reshape(-1).tolist() == [0 if number is None else number + 1 for number in oracle.image()]


# ---- copies


def numbers(dtype, n):
    """n numbers of a type, 0 among them only where they run out."""
    return np.array([1 + k % 7 for k in range(n)], dtype=dtype)


@seeded
@hypothesis.given(arrays(), st.data())
def test_pack_and_unpack(oracle, data):
    """From any strides to the places of the oracle's image and back."""
    dtype = tesela.layout(oracle.text()).dtype
    logical = numbers(dtype, math.prod(oracle.dims)).reshape(oracle.dims)
    x = logical
    if oracle.rank and data.draw(st.booleans()):  # steps, also backwards, and an order of its own
        axes = data.draw(st.permutations(range(oracle.rank)))
        steps = [data.draw(st.sampled_from((1, 2, -1, -3))) for _ in axes]
        big = np.zeros([oracle.dims[axis] * abs(step) for axis, step in zip(axes, steps)], dtype)
        x = big[tuple(slice(None, None, step) for step in steps)].transpose(np.argsort(axes))
        x[...] = logical
    x.flags.writeable = False
    T = tesela.pack(x, oracle.text(), fill=3)
    flat = logical.reshape(-1)
    expected = [3 if number is None else flat[number] for number in oracle.image()]
    assert [float(value) for value in T.physical] == [float(value) for value in expected]
    back = np.asarray(T)
    assert back.dtype == dtype and np.array_equal(back, logical)
    assert pickle.loads(pickle.dumps(T)).physical.tobytes() == T.physical.tobytes()
    out = np.zeros(oracle.dims, dtype)
    assert T.unpack(out=out) is out and np.array_equal(out, logical)


@seeded
@hypothesis.given(arrays(), st.data())
def test_relayout(a, data):
    b = data.draw(arrays().filter(lambda b: b.rank == a.rank))
    b = Array(a.dtype, a.dims, b.minor_to_major, b.tiles)
    dtype = tesela.layout(a.text()).dtype
    flat = numbers(dtype, math.prod(a.dims))
    src = np.array([5 if number is None else flat[number] for number in a.image()], dtype)
    dst = tesela.relayout(src, a.text(), b.text())
    assert [float(value) for value in dst] == [0 if number is None else float(flat[number]) for number in b.image()]


@pytest.mark.parametrize("name", [
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64", "complex64",
    "complex128", "bfloat16", "int4", "uint4", "int2", "uint2", "float8_e5m2", "float8_e4m3", "float8_e4m3fn", "float8_e4m3b11fnuz",
    "float8_e5m2fnuz", "float8_e4m3fnuz", "float8_e3m4", "float8_e8m0fnu", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn",
])  # fmt: skip
def test_every_type(name):
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    x = np.array([[1, 0, 1], [0, 1, 1]]).astype(dtype)
    T = tesela.pack(x, "{1,0:T(2,2)}")
    assert T.dtype == dtype and T.shape == (2, 3)
    assert np.asarray(T).tobytes() == x.tobytes()
    zero = np.zeros((), dtype)
    padded = np.full((2, 4), zero)
    padded[:, :3] = x
    assert T.physical.tobytes() == padded.reshape(1, 2, 2, 2).transpose(0, 2, 1, 3).tobytes()
    assert T[1, 2] == x[1, 2]


def test_int4_in_half_bytes():
    x = np.array([[1, -2, 3], [4, 5, -8]], np.int8)
    T = tesela.pack(x, "s4[2,3]{1,0:E(4)}", convert=True)
    low = [value & 15 for value in x.reshape(-1).tolist()]
    assert T.physical.tolist() == [low[k] | low[k + 1] << 4 for k in (0, 2, 4)]


@pytest.mark.parametrize("name, bits", [("int4", 4), ("uint4", 4), ("int2", 2), ("uint2", 2), ("float4_e2m1fn", 4)])
def test_narrow_types_are_packed_and_unpacked(name, bits):
    """Any strides in, packed in tiles, and back: against the bits of each place, from the definition of T(2,3)."""
    every = np.arange(1 << bits, dtype=np.uint8)
    codes = np.resize(every, (7, 5))
    x = np.asfortranarray(codes.view(getattr(ml_dtypes, name)))
    short = {"int4": "s4", "uint4": "u4", "int2": "s2", "uint2": "u2", "float4_e2m1fn": "f4e2m1fn"}[name]
    T = tesela.pack(x, f"{short}[7,5]{{1,0:T(2,3)E({bits})}}")
    padded = np.zeros((8, 6), np.uint8)
    padded[:7, :5] = codes
    places = padded.reshape(4, 2, 2, 3).transpose(0, 2, 1, 3).reshape(-1)
    packed = np.bitwise_or.reduce(places.reshape(-1, 8 // bits) << np.arange(0, 8, bits, dtype=np.uint8), axis=1)
    assert T.physical.tobytes() == packed.astype(np.uint8).tobytes()
    back = T.unpack()
    assert back.dtype == x.dtype and np.array_equal(back.astype(np.float32), x.astype(np.float32))
    out = np.zeros((5, 7), x.dtype).T
    T.unpack(out)
    assert np.array_equal(out.astype(np.float32), x.astype(np.float32))


def test_doubles_become_floats():
    x = np.array([[0.1, 1e300, -0.0], [np.nan, 2.0**-149, 2.0**-150]])
    T = tesela.pack(x, "f32[2,3]{0,1:T(2,2)}", convert=True)
    with np.errstate(over="ignore"):
        assert np.asarray(T).tobytes() == x.astype(np.float32).tobytes()
    back = tesela.pack(T.unpack(), "f64[2,3]{1,0}", convert=True)
    assert np.array_equal(np.asarray(back), np.asarray(T).astype(np.float64), equal_nan=True)


def test_conversion():
    x = np.array([[1.5, -2.25, 3]], np.float32)
    T = tesela.pack(x, "bf16[1,3]{1,0:T(1,2)}", convert=True)
    assert np.array_equal(np.asarray(T), x.astype(ml_dtypes.bfloat16))
    with pytest.raises(tesela.MismatchError, match="convert=True"):
        tesela.pack(x, "bf16[1,3]")


def test_scalars_and_empty_arrays():
    T = tesela.pack(np.float32(7), "f32[]")
    assert T.physical.tolist() == [7] and T.shape == () and np.asarray(T) == 7 and T[()] == 7
    E = tesela.pack(np.zeros((0, 5), np.float32), "f32[0,5]{0,1}")
    assert E.nbytes == 0 and np.asarray(E).shape == (0, 5)
    assert tesela.layout("f32[0,5]").where(np.zeros((0, 2), np.int64)).shape == (0,)


def test_the_buffer_protocol():
    x = memoryview(bytearray(range(15))).cast("B", (3, 5))
    T = tesela.pack(x, "u8[3,5]{0,1}")
    assert T.physical.tolist() == [row * 5 + column for column in range(5) for row in range(3)]
    T = tesela.pack([[1, 2], [3, 4]], "s64[2,2]{0,1}")
    assert T.physical.tolist() == [1, 3, 2, 4]
    out = bytearray(15)
    with pytest.raises((TypeError, ValueError, tesela.LayoutError)):
        tesela.relayout(np.arange(15, dtype=np.uint8), "u8[3,5]", "u8[3,5]{0,1}", out=bytes(out))


def test_dlpack():
    class Foreign:  # speaks DLPack and nothing else
        def __init__(self, x):
            self.x = x

        def __dlpack__(self, **options):
            return self.x.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.x.__dlpack_device__()

    x = np.arange(60, dtype=np.float32).reshape(6, 10)[::2, ::-2]
    T = tesela.pack(Foreign(x), T22)
    assert np.array_equal(np.asarray(T), x)
    locked = x.copy()
    locked.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        T.unpack(out=Foreign(locked))
    out = np.zeros((3, 5), np.float32)
    T.unpack(out=Foreign(out))
    assert np.array_equal(out, x)


def test_nothing_is_written_where_it_may_not_be():
    T = tesela.pack(np.ones((3, 5), np.float32), T22)
    locked = np.zeros((3, 5), np.float32)
    locked.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        T.unpack(out=locked)
    for out in (np.zeros((5, 3), np.float32), np.zeros((3, 5), np.float64)):
        with pytest.raises(tesela.LayoutError):
            T.unpack(out=out)
    for out in (np.zeros(23, np.float32), np.zeros(48, np.float32)[::2]):
        with pytest.raises(tesela.MismatchError):
            tesela.plan("f32[3,5]", T22)(np.zeros(15, np.float32), out=out)
        assert not out.any()


def test_unaligned_and_swapped_arrays():
    raw = np.zeros(61, np.uint8)
    x = raw[1:].view(np.float32).reshape(3, 5)
    x[...] = np.arange(15).reshape(3, 5)
    assert np.array_equal(np.asarray(tesela.pack(x, T22)), x)
    swapped = x.astype(">f4")
    assert np.array_equal(np.asarray(tesela.pack(swapped, T22)), x)
    record = np.zeros(3, [("a", "f4", 5), ("b", "u1")])["a"]  # strides that are not whole elements
    record[...] = x
    assert np.array_equal(np.asarray(tesela.pack(record, T22)), x)


def test_a_physical_view_is_no_copy():
    T = tesela.pack(np.arange(15, dtype=np.float32).reshape(3, 5), "{0,1}")
    view = np.asarray(T, copy=False)
    assert np.shares_memory(view, T.physical) and view[2, 3] == 13
    view[2, 3] = -1
    assert T[2, 3] == -1
    tiled = tesela.pack(np.ones((3, 5), np.float32), T22)
    with pytest.raises(ValueError, match="a copy is needed: .* is not a strided array"):
        np.asarray(tiled, copy=False)


# ---- values: hash, pickle; threads, fork


def test_layouts_are_values():
    L = tesela.layout(T22)
    for again in (pickle.loads(pickle.dumps(L)), eval(repr(L), {"layout": tesela.layout})):
        assert again == L and hash(again) == hash(L)
    assert len({L, tesela.layout("f32[3,5]{1,0:T(2,2)L(1)}"), tesela.layout("f32[3,5]")}) == 2
    assert L != "f32[3,5]{1,0:T(2,2)}" and L is not None
    with pytest.raises(AttributeError):
        L.nbytes = 3
    A = tesela.layout("mma.m16n8k16.f16.A")
    assert pickle.loads(pickle.dumps(A)) == A
    error = pytest.raises(tesela.LayoutSyntaxError, tesela.layout, "f32[3,5]{1,0:T(2,x)}").value
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.offset, again.text) == (type(error), str(error), error.offset, error.text)


def test_a_syntax_error_points_at_the_place():
    with pytest.raises(tesela.LayoutSyntaxError) as raised:
        tesela.layout("f32[3,5]{1,0:T(2,x)}")
    error = raised.value
    assert error.text[error.offset] == "x"
    text, caret = str(error).split("\n")[-2:]
    assert text[caret.index("^")] == "x" and error.expected


def test_a_repaired_text_is_said():
    with pytest.warns(tesela.TeselaWarning, match=r"read as 'f32\[3,7\]\{1,0:T\(2,2\)\}'") as caught:
        assert tesela.layout("f32[3,7]{1,0:T(2,2}") == tesela.layout("f32[3,7]{1,0:T(2,2)}")
    assert caught[0].filename == __file__


def test_bad_arguments():
    L = tesela.layout(T22)
    for call in (lambda: L.where(3, 0), lambda: L.where(0, -6), lambda: L.what(24), lambda: L.where(np.array([[3, 0]]))):
        with pytest.raises(tesela.RangeError):
            call()
    for call in (lambda: L.where(1), lambda: L.where(1.5, 0), lambda: L.where(np.ones((2, 2))), lambda: L.what("x"), lambda: L.what()):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(OverflowError):
        tesela.op("where", layout=T22, indices=[[2**70, 0]])


def test_threads():
    """One plan, many threads, each with its own arrays."""
    p = tesela.plan("f32[300,500]", "f32[300,500]{1,0:T(8,128)}")
    x = np.arange(150000, dtype=np.float32)
    expected = p(x).tobytes()
    start = threading.Barrier(8)

    def work(_):
        start.wait()
        for _ in range(5):
            assert tesela.layout(T22).where(2, 3) == 17
            assert tesela.op("where", layout=T22, indices=[[2, 3]]) == {"places": [17]}
            assert p(x).tobytes() == expected
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="POSIX")
def test_fork():
    """A child made after the library's threads have run copies with its own."""
    p = tesela.plan("f32[1000,1000]", "f32[1000,1000]{1,0:T(8,128)}")
    x = np.arange(10**6, dtype=np.float32)
    expected = p(x).tobytes()
    child = os.fork()
    if child == 0:
        try:
            good = p(x).tobytes() == expected and tesela.layout(T22).where(2, 3) == 17
            os._exit(0 if good else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_progress_stops_a_copy():
    n = 4096
    p = tesela.plan(f"f32[{n},{n}]", f"f32[{n},{n}]{{0,1}}", threads=1)
    x = np.zeros(n * n, np.float32)
    with pytest.raises(KeyboardInterrupt):
        p(x, progress=lambda done, total: False)

    def broken(done, total):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        p(x, progress=broken)


@pytest.mark.parametrize("x", [["a", "b"], [b"a"], [None], np.array(["2026-11-23"], "M8[D]"), np.zeros(2, "i4,f4")], ids=repr)
def test_what_is_not_numbers_is_refused(x):
    with pytest.raises(TypeError, match="expected an array of numbers, found dtype"):
        tesela.pack(x, "{0}")


@pytest.mark.parametrize("given", [b"f32[3]", 3, None, [3, 5]])
def test_not_a_text(given):
    with pytest.raises(TypeError, match=f"found {type(given).__name__}"):
        tesela.layout(given)


def test_unknown_target_is_named():
    with pytest.raises(tesela.LayoutError, match="unknown target 'spyr'; did you mean spyre") as error:
        tesela.layout("f16[3,5] stick()", target="spyr")
    assert error.value.suggestion == "spyre"
    with pytest.raises(tesela.LayoutError, match="unknown target 'mine'; expected spyre, tiles"):
        tesela.device_layout((3, 5), "f16", target="mine")


@pytest.mark.parametrize("text", ["stick()", "stick(dim_order=[1,0])", "stick(dim_order=[1,0], stick=64)", "stick(dim_order=[0,1,-1])", "stick(pad_to={0:7})"])
def test_all_padding_of_sticks_is_filled(text):
    lies = tesela.layout(f"f32[3,5] {text}")
    assert isinstance(lies, tesela.DeviceLayout)
    out = np.full(lies.nbytes // 4, 7, np.float32)
    tesela.plan("f32[3,5]", lies)(np.arange(1, 16, dtype=np.float32), out)
    expected = np.zeros_like(out)
    for i in range(3):
        for j in range(5):
            expected[lies.where(i, j)] = 5 * i + j + 1
    np.testing.assert_array_equal(out, expected)
