# SPDX-License-Identifier: Apache-2.0
"""Register layouts, tiles in memory and what kernels ask of them, against definitions written here."""

from __future__ import annotations

import copy
import itertools
import os
import pickle
import random

import numpy as np
import pytest

import tesela

SEED = int(os.environ.get("TESELA_SEED", "1"))


def holders(layout: tesela.RegisterLayout) -> np.ndarray:
    """(thread, register) of every element, asked one by one; for layouts without copies."""
    found = np.empty((*layout.shape, 2), np.int64)
    for index in np.ndindex(*layout.shape):
        found[index] = layout.where(*index)
    return found


def numbered(shape: tuple[int, ...], order: str) -> np.ndarray:
    return np.arange(int(np.prod(shape))).reshape(shape, order="C" if order == "row" else "F")


class Defined:
    """A register layout as two arrays, thread and register of each element, built from the definitions of register.h."""

    def __init__(self, text: str, thread: np.ndarray, register: np.ndarray, threads: int, registers: int) -> None:
        self.text, self.thread, self.register, self.threads, self.registers = text, thread, register, threads, registers

    def __mul__(self, other: Defined) -> Defined:
        def each(outer: np.ndarray, inner: np.ndarray, size: int) -> np.ndarray:
            rank = max(outer.ndim, inner.ndim)
            a = outer.reshape((1,) * (rank - outer.ndim) + outer.shape)
            b = inner.reshape((1,) * (rank - inner.ndim) + inner.shape)
            found = np.empty(tuple(x * y for x, y in zip(a.shape, b.shape)), np.int64)
            for index in np.ndindex(*found.shape):
                hi = tuple(i // n for i, n in zip(index, b.shape))
                lo = tuple(i % n for i, n in zip(index, b.shape))
                found[index] = a[hi] * size + b[lo]
            return found

        return Defined(
            f"{self.text} * {other.text}", each(self.thread, other.thread, other.threads),
            each(self.register, other.register, other.registers), self.threads * other.threads,
            self.registers * other.registers,
        )  # fmt: skip

    def check(self, layout: tesela.RegisterLayout) -> None:
        assert (layout.threads, layout.registers, layout.copies) == (self.threads, self.registers, 1)
        assert layout.shape == self.thread.shape
        assert np.array_equal(holders(layout), np.stack([self.thread, self.register], -1)), layout
        many = np.stack(np.indices(layout.shape), -1)
        assert np.array_equal(layout.where(many), holders(layout))
        for index in np.ndindex(*layout.shape):
            assert layout.what(thread=int(self.thread[index]), register=int(self.register[index])) == index


def part(name: str, shape: tuple[int, ...]) -> Defined:
    order = "column" if name.startswith("column") else "row"
    numbers, n = numbered(shape, order), int(np.prod(shape))
    zeros = np.zeros(shape, np.int64)
    text = f"{name}({', '.join(map(str, shape))})"
    return Defined(text, zeros, numbers, 1, n) if "local" in name else Defined(text, numbers, zeros, n, 1)


PARTS = ("local", "spatial", "column_local", "column_spatial")


def products(n: int) -> list[Defined]:
    print("TESELA_SEED", SEED)
    rng, found = random.Random(SEED), []
    for _ in range(n):
        rank = rng.choice([1, 2, 2, 3])
        made = part(rng.choice(PARTS), tuple(rng.choice([1, 2, 3]) for _ in range(rank)))
        for _ in range(rng.randrange(3)):
            made = made * part(rng.choice(PARTS), tuple(rng.choice([1, 2, 4]) for _ in range(rank)))
        found.append(made)
    return found


# ---- the specification


def test_fragment_of_the_specification() -> None:
    A = tesela.layout("mma.m16n8k16.f16.A")
    assert isinstance(A, tesela.RegisterLayout)
    assert A.where(3, 5) == tesela.Holder(thread=14, register=1) == (14, 1)
    assert A.what(thread=13, register=2) == (11, 2)
    assert (A.threads, A.registers, A.copies) == (32, 8, 1)
    for lane, i in itertools.product(range(32), range(8)):  # PTX ISA: groupID, threadID_in_group
        g, t = lane // 4, lane % 4
        row, col = g + 8 * (i // 2 % 2), 2 * t + i % 2 + 8 * (i // 4)
        assert A.what(thread=lane, register=i) == (row, col)
        assert A.where(row, col) == (lane, i)
    product = A * "local(1,2)"
    assert product.shape == (16, 32)
    for row, col in np.ndindex(16, 32):
        thread, register = A.where(row, col // 2)
        assert product.where(row, col) == (thread, register * 2 + col % 2)
    assert product / "local(1, 2)" == A
    assert ("spatial(2, 1)" * A).where(19, 5) == (32 + 14, 1)


# ---- products, quotients, spelling


def test_products_by_definition() -> None:
    for a in products(12):
        layout = tesela.layout(a.text)
        assert isinstance(layout, tesela.RegisterLayout)
        a.check(layout)
        assert tesela.layout(layout.expression) == layout
        assert tesela.RegisterLayout(layout.to("register")).to("register") == layout.to("register")
        b = part("spatial", (2,) * layout.ndim)
        (a * b).check(layout * b.text)
        (a * b).check(layout * tesela.layout(b.text))
        (b * a).check(b.text * layout)
        assert (layout * b.text) / b.text == layout
        assert (b.text * layout).left_divide(b.text) == layout
        assert layout.canonical() == layout.reduced() == layout
        again = layout * "local(1)"
        assert again == layout and eval(repr(again), {"layout": tesela.layout}) == again


def test_local_and_spatial() -> None:
    part("local", (3, 4)).check(tesela.local(3, 4))
    part("spatial", (2, 5)).check(tesela.spatial(2, 5))
    part("column_spatial", (2, 5)).check(tesela.spatial(2, 5, ranks=[1, 0]))
    assert tesela.local().shape == () and tesela.local().where() == (0, 0)
    assert "spatial(12)" / tesela.spatial(4) == tesela.spatial(3)


# ---- functions as methods


def test_methods_by_arrays() -> None:
    for made in products(12):
        layout = tesela.RegisterLayout(made.text)
        e, rank = holders(layout), layout.ndim
        for order in itertools.permutations(range(rank)):
            assert np.array_equal(holders(layout.permute(order)), e.transpose(*order, rank))
        assert np.array_equal(holders(layout.transpose()), e.transpose(*reversed(range(rank)), rank))
        assert np.array_equal(holders(layout.flatten()), e.reshape(-1, 2))
        assert np.array_equal(holders(layout.reshape(layout.size)), e.reshape(-1, 2))
        assert np.array_equal(holders(layout.reshape((1, *layout.shape))), e[None])
        assert np.array_equal(holders(layout.unsqueeze(0)), e[None])
        assert np.array_equal(holders(layout.unsqueeze(rank).squeeze(rank)), e)
        larger = tuple(2 * extent for extent in layout.shape)
        (part("local", (2,) * rank) * made).check(layout.repeat_to(larger))


def test_reduce_joins_holders() -> None:
    A = tesela.RegisterLayout("mma.m16n8k16.f16.A")
    rows = A.reduce(1)
    assert (rows.shape, rows.copies, rows.registers) == ((16,), 4, 2)
    for row in range(16):
        held = {A.where(row, col).thread for col in range(16)}
        assert rows.where(row) == (tuple(sorted(held)), row // 8)
    assert A.reduce([1], keepdims=True).shape == (16, 1)
    assert A.reduce_to([16, 1]) == A.reduce(1, keepdims=True)
    x = tesela.layout("reduce(spatial(3, 4), dims=[0])")
    assert x.where(1) == ((1, 5, 9), 0) and x.what(thread=9, register=0) == (1,)


def test_concat_side_by_side() -> None:
    both = tesela.spatial(3).concat("column_local(2, 2)")
    assert both.shape == (3, 2, 2)
    for i, j, k in np.ndindex(3, 2, 2):
        assert both.where(i, j, k) == (i, j + 2 * k)


# ---- tiles in memory


def test_tiles_by_arrays() -> None:
    tile = tesela.TileLayout("shared_row_major(8, 6)")
    x = np.arange(48).reshape(8, 6)

    def places(layout: tesela.Layout) -> np.ndarray:
        return np.array([layout.where(*index) for index in np.ndindex(*layout.shape)]).reshape(layout.shape)

    assert (tile.kind, tile.places, tile.offset, tile.swizzle, tile.mode_strides) == ("shared", 48, 0, None, (6, 1))
    assert np.array_equal(places(tile), x)
    assert np.array_equal(places(tile.permute(1, 0)), x.T)
    assert np.array_equal(places(tile.transpose()), x.T)
    assert np.array_equal(places(tile.reshape(4, 12)), x.reshape(4, 12))
    assert np.array_equal(places(tile.slice([2, 1], [3, 4])), x[2:5, 1:5])
    assert np.array_equal(places(tile.unsqueeze(1).squeeze(1)), x)
    assert np.array_equal(places(tile.retain([0])), x[:, 0])
    assert np.array_equal(places(tile.prepend(3)), np.arange(144).reshape(3, 8, 6))
    assert tile.with_size(64).places == 64
    swizzled = tesela.TileLayout("shared_row_major(8, 64)").with_swizzle(3, 3, 3)
    assert swizzled.swizzle == (3, 3, 3)
    plain = np.arange(512).reshape(8, 64)
    assert np.array_equal(places(swizzled), plain ^ ((plain >> 6 & 7) << 3))
    assert pickle.loads(pickle.dumps(swizzled)) == swizzled
    assert eval(repr(swizzled), {"layout": tesela.layout}) == swizzled
    tall = tile * "shared_row_major(1, 2)"
    assert tall.shape == (8, 12)
    # each element of the outer tile becomes a whole inner one
    assert np.array_equal(places(tall), (x[:, :, None] * 2 + np.arange(2)).reshape(8, 12))


# ---- the classes


def test_only_register_layouts_have_threads() -> None:
    L = tesela.layout("f32[3,5]{1,0:T(2,2)}")
    assert type(L) is tesela.Layout
    with pytest.raises(AttributeError):
        L.threads  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(TypeError):
        L * "local(1, 2)"  # type: ignore[operator]
    with pytest.raises(tesela.MismatchError, match="expected a register layout, found an XLA layout"):
        tesela.RegisterLayout("f32[3,5]")
    with pytest.raises(tesela.MismatchError, match="expected a shared or global layout, found a register layout"):
        tesela.TileLayout("spatial(4)")
    with pytest.raises(TypeError):
        tesela.spatial(2) * 3  # type: ignore[operator]


def test_values() -> None:
    A = tesela.RegisterLayout("mma.m16n8k16.f16.A")
    again = tesela.RegisterLayout("column_local(2, 2).spatial(8, 4).local(1, 2)")
    assert A == again and hash(A) == hash(again) and A.expression == again.text
    assert pickle.loads(pickle.dumps(A)) == A == copy.deepcopy(A)
    assert type(pickle.loads(pickle.dumps(A))) is tesela.RegisterLayout
    assert A != tesela.layout("mma.m16n8k16.f16.B")


def test_errors_point_into_the_expression() -> None:
    with pytest.raises(tesela.LayoutError) as caught:
        tesela.spatial(6) / "local(3)"
    assert caught.value.code == "NOT_DIVISIBLE" and "divide(spatial(6), local(3))" in str(caught.value)
    with pytest.raises(tesela.LayoutSyntaxError) as caught:
        tesela.spatial(6) * "lokal(3)"
    assert caught.value.suggestion == "local" and caught.value.offset == 0
    with pytest.raises(tesela.LayoutError) as caught:
        tesela.spatial(2, 3).permute(0, 0)
    assert caught.value.code == "DIM_DUPLICATE"
    with pytest.raises(tesela.LayoutError):  # a text is a layout, never more of the expression
        tesela.spatial(4) * "local(2)), reduce(spatial(4), 0"
    with pytest.raises(TypeError):
        tesela.spatial(4).permute(0.5)


# ---- questions about kernels


def wavefronts(registers: tesela.RegisterLayout, memory: tesela.Layout, bits: int, vector: int) -> int:
    """Passes over 32 banks of 4 bytes: of each instruction and phase the most words of one bank."""
    n_warps, total = (registers.threads + 31) // 32, 0
    size = bits // 8 * vector
    per_phase = 32 if size <= 4 else 16 if size == 8 else 8
    for warp, first in itertools.product(range(n_warps), range(0, registers.registers, vector)):
        lanes = range(warp * 32, min(warp * 32 + 32, registers.threads))
        for start in range(0, len(lanes), per_phase):
            words = set()
            for lane in lanes[start : start + per_phase]:
                place = min(memory.where(*registers.what(thread=lane, register=first + k)) for k in range(vector))
                words |= {word for byte in range(size) for word in [(place * bits // 8 + byte) // 4]}
            total += max(sum(word % 32 == bank for word in words) for bank in range(32))
    return total


def test_access_by_counting() -> None:
    A, memory = tesela.RegisterLayout("mma.m16n8k16.f16.A"), tesela.layout("shared_row_major(16,16)")
    found = tesela.access(A, "shared_row_major(16,16)", dtype="f16")
    assert (found.elements, found.bytes) == (2, 4)
    assert found.wavefronts == wavefronts(A, memory, 16, 2)
    assert found.conflicts == found.wavefronts - 4 == 4
    assert found == tesela.access(A, memory, np.float16)
    column = "column_spatial(32, 1).local(1, 32)"
    slow = tesela.access(column, "shared_row_major(32, 32)", "float32", vector=1)
    assert slow.wavefronts == wavefronts(tesela.RegisterLayout(column), tesela.layout("shared_row_major(32, 32)"), 32, 1) == 1024
    with pytest.raises(tesela.LayoutError, match="unknown"):
        tesela.access(A, memory, dtype="f17")


def test_swizzle_by_counting() -> None:
    write, read = tesela.RegisterLayout("spatial(1, 32).local(32, 1)"), tesela.RegisterLayout("spatial(32, 1).local(1, 32)")
    found = tesela.swizzle(write, [read], dtype="f32")
    assert isinstance(found.memory, tesela.TileLayout)
    vector = tesela.access(read, found.memory, "f32").elements
    assert found.wavefronts == wavefronts(write, found.memory, 32, 1) + wavefronts(read, found.memory, 32, vector)
    assert found.least <= found.wavefronts < found.row_major


def test_convert() -> None:
    L1, L2 = tesela.layout("spatial(4, 8)"), tesela.layout("column_spatial(4, 8)")
    found = tesela.convert(L1, L2, dtype="f16")
    assert (found.kind, found.memory, found.threads) == ("shuffle", None, 32)
    source = found.cuda("fix")
    assert "void fix(" in source and "fix_kernel" in source and str(found) == found.plan
    assert pickle.loads(pickle.dumps(found)).cuda("fix") == source
    shared = tesela.convert("spatial(8, 8)", "column_spatial(8, 8)", "f32")
    assert shared.kind == "shared" and shared.memory.shape == (8, 8)
    with pytest.raises(tesela.LayoutError):
        tesela.convert("spatial(4)", "spatial(5)", "f32")


PROGRAM = "threads 32\nglobal g: f32[32, 4]\nregister x: f32[32, 4] = spatial(32, 1).local(1, 4)\nload x, g\n"
CONTRADICTION = (
    "threads 32\nregister x: f32[32, 4] = spatial(32, 1).local(1, 4)\nregister y: f32[32, 4] = local(4, 1).spatial(8, 4)\n"
    "elementwise y, x\n"
)


def test_infer() -> None:
    found = tesela.infer(PROGRAM)
    assert found and found.consistent and found.conflict is None
    assert list(found.layouts) == ["g", "x"] and found.layouts["g"].where(31, 3) == 127
    assert found.layouts["x"] == tesela.layout("spatial(32, 1).local(1, 4)")
    wrong = tesela.infer(CONTRADICTION)
    assert not wrong and wrong.conflict.tensor == "x" and wrong.conflict.repair.kind == "shuffle"
    with pytest.raises(tesela.LayoutSyntaxError) as caught:
        tesela.infer("threads 32\nregistr x: f32[4]\n")
    assert caught.value.suggestion == "register" and "line 2" in str(caught.value)


def test_fragment() -> None:
    f = tesela.fragment("mma.m8n8k4.f64.A")
    assert (f.threads, f.row, f.col, f.bits) == (32, "g", "t", 64)
    assert f.layout == tesela.layout("spatial(8, 4)")
    assert f.elements == tuple(((lane // 4, lane % 4),) for lane in range(32))
    with pytest.raises(tesela.LayoutError):
        tesela.fragment("mma.m8n8k4.f65.A")


def test_results_are_values() -> None:
    found = tesela.access("spatial(32)", "shared_row_major(32)", "f32")
    assert found["bytes"] == found.bytes == dict(found)["bytes"] and "bytes" in dir(found)
    assert found.to_dict()["ldmatrix"]["applies"] is False and isinstance(found.to_dict()["ldmatrix"], dict)
    assert pickle.loads(pickle.dumps(found)) == found
    with pytest.raises(AttributeError, match="no field 'byte'"):
        found.byte  # noqa: B018
    with pytest.raises(AttributeError):
        found.bytes = 3
    assert repr(found).startswith("Result(elements=")


def test_choose() -> None:
    assert tesela.choose("bf16[20,200]") == tesela.layout("bf16[20,200]{1,0:T(8,128)(2,1)}")
    assert tesela.choose("bf16[20,200]", alternative_16bit=True).text.endswith("T(8,128)(2,1,1,1)}")
