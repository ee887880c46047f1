# SPDX-License-Identifier: Apache-2.0
"""Device layouts, against NumPy's pad, reshape and transpose and the greedy digits of docs/device.md."""

from __future__ import annotations

import itertools
import os
import pathlib
import pickle
import random

import numpy as np
import pytest

import tesela

SEED = int(os.environ.get("TESELA_SEED", "1"))
OWN = "target own\nlike spyre\nstick 64\norder stick_outer\ndma max_dims=3 max_extent=4096\n"


def sticks(x: np.ndarray, lanes: int, fill: float = 0) -> np.ndarray:
    """A matrix in sticks along dim 1, order generic: blocks, rows, lanes."""
    rows, columns = x.shape
    blocks = -(-columns // lanes)
    padded = np.pad(x, ((0, 0), (0, blocks * lanes - columns)), constant_values=fill)
    return padded.reshape(rows, blocks, lanes).transpose(1, 0, 2)


def place(dims: list[tuple[int, int, int]], index: tuple[int, ...]) -> int:
    """The place of an index: each coordinate split greedily, the largest step first, of equal ones the outer dim first."""
    rest, digit = list(index), [0] * len(dims)
    for k in sorted(range(len(dims)), key=lambda k: -dims[k][1]):
        dim, step, extent = dims[k]
        if dim >= 0 and extent > 1:
            digit[k], rest[dim] = divmod(rest[dim], step)
    at = 0
    for (_, _, extent), one in zip(dims, digit):
        at = at * extent + one
    return at


# ---- the specification


def test_the_specification() -> None:
    D = tesela.device_layout((1000, 200), "f16", dim_order=[0, 1], target="spyre")
    assert D.device_size == (4, 1000, 64) and D.device_strides == (64000, 64, 1)
    assert D.stride_map == (64, 200, 1) and D.dim_map == (1, 0, 1)
    assert (D.nbytes, D.logical_nbytes, D.places, D.lanes, D.stick_bytes, D.stick_dims) == (512000, 400000, 256000, 64, 128, 1)
    assert (D.dtype, D.element_type, D.device_type) == (np.float16, "f16", "f16")
    x = (np.arange(1000 * 200) % 2047).astype(np.float16).reshape(1000, 200)
    T = tesela.pack(x, D)
    assert T.physical.shape == D.device_size and T.physical.dtype == np.float16
    assert np.array_equal(T.physical, sticks(x, 64))
    assert np.array_equal(np.asarray(T), x) and T[2, 70] == x[2, 70]
    again = tesela.TiledArray(T.physical.reshape(-1), D)
    assert again.physical.shape == D.device_size and np.shares_memory(again.physical, T.physical)
    assert D.where(2, 70) == 64134 and D.what(64134) == (2, 70) and D.what(192136) is None


def test_places_by_greedy_digits() -> None:
    print("TESELA_SEED", SEED)
    rng = random.Random(SEED)
    cases = [
        ((33, 40), "f32", {"dims": [(1, 2, 20), (0, 16, 3), (1, 1, 2), (0, 1, 16)], "stick_dims": 2}),
        ((7, 5, 70), "f16", {"dim_order": [1, 0, 2]}),
        ((7, 5, 70), "f16", {"dim_order": [2, 0, 1], "order": "stick_outer"}),
        ((5, 70), "f16", {"device_size": [2, 5, 64], "stride_map": [64, 70, 1]}),
        ((5, 70), "f16", {"pad_to": {0: 9, 1: 130}}),
        ((6, 9), "f32", {"dim_order": [0, 1, -1]}),
        ((), "f16", {}),
    ]
    for _ in range(4):
        shape = tuple(rng.choice([1, 3, 65, 130]) for _ in range(rng.randrange(1, 4)))
        order = list(range(len(shape)))
        rng.shuffle(order)
        cases.append((shape, rng.choice(["f16", "f32"]), {"dim_order": order, "order": rng.choice(["generic", "inner_pair"])}))
    for shape, dtype, words in cases:
        D = tesela.device_layout(shape, dtype, **words)
        assert D.device_strides == tuple(np.cumprod((1, *D.device_size[:0:-1]))[::-1].tolist())
        dims = [one[:3] for one in D.dims]
        x = np.arange(1, int(np.prod(shape)) + 1).reshape(shape)
        expected = np.zeros(D.places, np.int64)
        for index in np.ndindex(*shape):
            expected[place(dims, index)] = x[index]
        T = tesela.pack(x.astype(D.dtype), D)
        if int(np.prod(shape)) < 2048:  # float16 has these integers
            assert np.array_equal(T.physical, expected.reshape(D.device_size)), D
        some = [tuple(rng.randrange(extent) for extent in shape) for _ in range(20)]
        assert [D.where(*index) for index in some] == [place(dims, index) for index in some]
        assert tesela.layout(D.text) == D and eval(repr(D), {"layout": tesela.layout}) == D
        assert pickle.loads(pickle.dumps(D)) == D and isinstance(pickle.loads(pickle.dumps(D)), tesela.DeviceLayout)
        assert tesela.layout(D._explicit(D._device)).dims == D.dims
    assert tesela.device_layout((5, 70), "f16", pad_to={0: 9, 1: 130}).device_size == (3, 9, 64)


# ---- data


def test_pack_takes_any_strides_and_fills() -> None:
    D = tesela.device_layout((5, 70), "f32")
    x = np.arange(350, dtype=np.float32).reshape(5, 70)
    for y in (x, np.asfortranarray(x), x[::-1, ::-1], np.repeat(x, 3, axis=1)[:, ::3]):
        assert np.array_equal(tesela.pack(y, D).physical, sticks(y, 32))
    assert np.array_equal(tesela.pack(x, D, fill=-1).physical, sticks(x, 32, -1))
    assert np.isinf(tesela.pack(x, D, fill=float("inf")).physical[2, 0, 31])
    with pytest.raises(tesela.MismatchError, match="the array is f64; expected f32"):
        tesela.pack(x.astype(np.float64), D)
    assert np.array_equal(tesela.pack(x.astype(np.float16), D, convert=True).physical, sticks(x, 32))
    with pytest.raises(tesela.MismatchError, match="shape"):
        tesela.pack(x[:4], D)
    backwards = np.empty_like(x)[::-1]
    assert np.array_equal(tesela.pack(x, D).unpack(backwards), x)
    with pytest.raises(tesela.MismatchError, match="out is f64; expected f32"):
        tesela.pack(x, D).unpack(np.empty((5, 70)))


def test_the_device_stores_another_type() -> None:
    D = tesela.device_layout((3, 70), "s64")  # spyre has s32
    assert (D.dtype, D.device_type, D.bits, D.lanes) == (np.int64, "s32", 32, 32)
    x = np.arange(-100, 110).reshape(3, 70)
    T = tesela.pack(x, D)
    assert T.physical.dtype == np.int32 and np.array_equal(T.physical, sticks(x, 32))
    assert np.asarray(T).dtype == np.int64 and np.array_equal(T, x) and T[2, 69] == x[2, 69]
    assert np.array_equal(np.asarray(T.to("s64[3,70]{0,1}")), x)
    x[1, 1] = 2**31
    with pytest.raises(tesela.LayoutError):
        tesela.pack(x, D)


def test_bfloat16_on_spyre() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.arange(210).reshape(3, 70).astype(ml_dtypes.bfloat16)
    T = tesela.pack(x, tesela.device_layout((3, 70), "bfloat16", target="spyre"))
    assert T.physical.dtype == np.float16 and np.array_equal(T.physical.astype(np.float32), sticks(x.astype(np.float32), 64))
    assert np.array_equal(np.asarray(T), x)


def test_replicas_hold_the_same() -> None:
    D = tesela.device_layout((6,), "f16", dims=[(-2, 0, 3), (0, 1, 6), (-1, 0, 64)])
    T = tesela.pack(np.arange(1, 7, dtype=np.float16), D)
    assert T.physical.shape == (3, 6, 64) and np.array_equal(T.physical[:, :, 0], np.tile(np.arange(1, 7), (3, 1)))
    assert not T.physical[:, :, 1:].any() and D.where(2) == (128, 128 + 384, 128 + 768)
    assert np.array_equal(np.asarray(T), np.arange(1, 7)) and T[5] == 6
    assert tesela.layout(D._explicit(D._device)) == D == tesela.layout(D.text)


def test_gaps_stay_one_dim() -> None:
    D = tesela.device_layout((3, 64), "f16", dims=[(0, 1, 3), (1, 1, 64)], device_strides=[128, 1])
    x = np.arange(192, dtype=np.float16).reshape(3, 64)
    T = tesela.pack(x, D)
    assert T.physical.shape == (D.places,) and np.array_equal(np.asarray(T), x)
    assert [int(T.physical[128 * row]) for row in range(3)] == [0, 64, 128]
    # no gap, and not row-major
    E = tesela.device_layout((3, 128), "f16", dims=[(0, 1, 3), (1, 64, 2), (1, 1, 64)], device_strides=[64, 192, 1])
    assert E.places == 384 and tesela.pack(np.zeros((3, 128), np.float16), E).physical.shape == (384,)
    assert tesela.layout(D.text) == D


# ---- targets


def test_own_targets(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "own.target"
    file.write_text(OWN)
    D = tesela.device_layout((10, 70), "f16", target=OWN)
    assert D.device_size == (3, 10, 32) and D.lanes == 32 and D.stick_bytes == 64
    assert D == tesela.device_layout((10, 70), "f16", target=file) == tesela.device_layout((10, 70), "f16", target=str(file))
    assert pickle.loads(pickle.dumps(D)) == D and eval(repr(D), {"layout": tesela.layout}) == D
    assert D.stride_map == (32, 70, 1)
    assert all(len(nest.ranges) <= 3 for nest in D.nests())
    assert D.restickify(0).lanes == 32
    assert tesela.layout("f16[10,70] stick(target=own)", target=file) == D
    x = np.arange(700, dtype=np.float16).reshape(10, 70)
    assert np.array_equal(tesela.pack(x, D).physical, sticks(x, 32))
    assert tesela.device_layout((40, 50), "f16", target="tiles").device_type == "f32"
    with pytest.raises(tesela.LayoutError, match="spyr"):
        tesela.device_layout((4,), "f16", target="spyr")


@pytest.mark.parametrize("order", [None, "generic", "inner_pair", "stick_outer"])
def test_texts_do_not_depend_on_the_target(order: str | None) -> None:
    """The text has the defaults of no target; the questions have the layout, and the limits of the target."""
    for rows in ("", "type f16 -> f32\n"):
        D = tesela.device_layout((4, 5, 70), "f16", target=OWN + rows, order=order)
        assert tesela.layout(D.text) == D == eval(repr(D), {"layout": tesela.layout}) == pickle.loads(pickle.dumps(D))
        assert D.device_type == ("f32" if rows else "f16")
        again = tesela.layout(D._explicit(D._device), target=OWN + rows)
        assert again == D and again.dims == D.dims and again.device_type == D.device_type
        assert tuple(D.info()["device_size"]) == tuple(D.dma().device_size) == D.device_size
        assert len(D.stride_map) == len(D.dims)
        x = np.arange(1400).reshape(4, 5, 70)
        device = np.zeros(D.places, np.int64)
        run(D.nests(), device, x.ravel() + 1)
        assert np.array_equal(tesela.pack((x + 1).astype(np.float16), D).physical.ravel().astype(np.int64), device)
        assert D.restickify(0).device_type == D.device_type


def test_the_type_on_the_host_counts() -> None:
    a, b = tesela.device_layout((3, 70), "bf16"), tesela.device_layout((3, 70), "f16")
    assert a != b and tesela.compare(a, b) and a.device_type == b.device_type
    assert b == tesela.layout("f16[3,70]{0,1:T(64,1)}") and hash(b) == hash(tesela.layout("f16[3,70]{0,1:T(64,1)}"))


# ---- transfers, views, restickify


def run(nests: object, device: np.ndarray, host: np.ndarray, to_device: bool = True) -> None:
    for nest in nests:  # type: ignore[attr-defined]
        for counters in itertools.product(*map(range, nest.ranges)):
            at = nest.device_offset + sum(c * s for c, s in zip(counters, nest.device_strides))
            of = nest.host_offset + sum(c * s for c, s in zip(counters, nest.host_strides))
            if to_device:
                assert device[at] == 0, "written twice"
                device[at] = host[of]
            else:
                host[of] = device[at]


def test_nests_cover_each_element_once() -> None:
    D = tesela.device_layout((10, 150), "f16")
    x = np.arange(1, 1501).reshape(10, 150)
    for options in ({}, {"form": "plain"}, {"limits": {"max_extent": 16}}, {"innermost_first": True}):
        device = np.zeros(D.places, np.int64)
        run(D.nests(**options), device, x.ravel())
        assert np.array_equal(device.reshape(D.device_size), sticks(x, 64)), options
    device = np.zeros(D.places, np.int64)
    run(D.nests(strides=[1, 10], offset=7), device, np.concatenate([np.zeros(7, np.int64), x.T.ravel()]))
    assert np.array_equal(device.reshape(D.device_size), sticks(x, 64))
    host = np.zeros(1500, np.int64)
    run(D.nests("to_host"), sticks(x, 64).ravel(), host, False)
    assert np.array_equal(host.reshape(10, 150), x)
    part = np.zeros(D.places, np.int64)
    run(D.nests(box=((2, 60), (3, 70))), part, x.ravel())
    inside = np.zeros_like(x)
    inside[2:5, 60:130] = x[2:5, 60:130]
    assert np.array_equal(part.reshape(D.device_size), sticks(inside, 64))
    found = D.dma()
    assert found.count == len(found.nests) >= found.bound and found.elements == 1500 and "device[" in found.source
    with pytest.raises(tesela.LayoutError, match="min_burst"):
        tesela.device_layout((1000, 200), "f16").dma(limits={"min_burst": 128})


def test_views_by_counting() -> None:
    for D in (tesela.device_layout((6, 192), "f16"), tesela.device_layout((6, 192), "f32", dim_order=[1, 0])):
        places = np.array([D.where(*index) for index in np.ndindex(6, 192)])
        for size, strides, offset in (((6, 64), (192, 1), 40), ((192, 6), (1, 192), 0), ((3, 5), (384, 7), 3)):
            found = D.view(size, strides, offset)
            flat = [offset + sum(i * s for i, s in zip(index, strides)) for index in np.ndindex(*size)]
            assert list(found.first_offsets) == places[flat[:8]].tolist()
            assert found.last_offset == places[flat[-1]]
    assert tesela.device_layout((6, 192), "f16").view((6, 192)).lane == "clean"


def test_restickify() -> None:
    D = tesela.device_layout((300, 128), "f16")
    E = D.restickify(0)
    assert isinstance(E, tesela.DeviceLayout) and E.dim_map == (0, 1, 0) and E.stride_map == (8192, 1, 128)
    x = np.arange(300 * 128).reshape(300, 128).astype(np.float16)
    assert np.array_equal(tesela.pack(x, E).physical, sticks(x.T, 64))
    moved = tesela.pack(x, D).to(E)
    assert moved.physical.shape == E.device_size and np.array_equal(moved.physical, sticks(x.T, 64))
    assert E.restickify(1) == D


def test_errors() -> None:
    with pytest.raises(tesela.LayoutError):
        tesela.device_layout((10, 20), "f16", dim_order=[0, 0])
    with pytest.raises(tesela.LayoutError):
        tesela.device_layout((10, 20), "f16", order="generc")
    with pytest.raises(ValueError):
        tesela.device_layout((10, 20), "f16", order="generic, target=tiles")
    with pytest.raises(tesela.MismatchError, match="expected a device layout, found an XLA layout"):
        tesela.DeviceLayout("f16[3,5]")
    with pytest.raises(TypeError):
        tesela.device_layout((10, 20.5), "f16")  # type: ignore[arg-type]


def test_layouts_without_elements_are_moved_too():
    D = tesela.device_layout((4, 57, 7, 0), "f32", target="spyre")
    E = D.restickify(0)
    assert (E.shape, E.places, E.dims[-1][:3]) == ((4, 57, 7, 0), 0, (0, 1, 32))
