# SPDX-License-Identifier: Apache-2.0
"""SVG pictures: valid documents, and every cell against the definition of its layout."""

from __future__ import annotations

import os
import pathlib
import random
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import tesela

SEED = int(os.environ.get("TESELA_SEED", "1"))
SVG = "{http://www.w3.org/2000/svg}"


class Picture:
    """The parts of a picture that say something."""

    def __init__(self, layout: tesela.Layout) -> None:
        self.root = ET.fromstring(layout.svg())
        assert self.root.tag == SVG + "svg" and self.root.get("role") == "img"
        assert self.root[0].tag == SVG + "title" and self.root[0].text == layout.text
        cells = [one for one in self.root.iter(SVG + "text") if one.get("data-cell")]
        self.cells = {tuple(map(int, one.get("data-cell", "").split(","))): one.text or "" for one in cells}
        self.at = {tuple(map(int, one.get("data-cell", "").split(","))): one for one in cells}
        self.words = " ".join(one.text or "" for one in self.root.iter(SVG + "text"))
        self.notes = self.root[1].text or ""
        paths = list(self.root.iter(SVG + "path"))
        self.heavy = next((one.get("d", "") for one in paths if one.get("stroke-width") == "2"), "")
        self.hatched = any(one.get("stroke") == "#cfcfcf" for one in paths)

    def grid(self) -> tuple[np.ndarray, np.ndarray]:
        """Places, and which cells have the dot."""
        rows, columns = (max(k) + 1 for k in zip(*self.cells))
        assert len(self.cells) == rows * columns
        texts = [[self.cells[r, c] for c in range(columns)] for r in range(rows)]
        places = np.array([[int(text.lstrip("·")) for text in row] for row in texts])
        return places, np.array([[text.startswith("·") for text in row] for row in texts])


def tiled(shape: tuple[int, int], tile: tuple[int, int], column_major: bool = False) -> np.ndarray:
    """Places of all cells of a matrix in tiles, padding included: tiles in row-major order (dims swapped if column-major)."""
    if column_major:
        return tiled(shape[::-1], tile).T
    a, b = (-(-n // t) for n, t in zip(shape, tile))
    numbers = np.arange(a * b * tile[0] * tile[1]).reshape(a, b, tile[0], tile[1])
    return numbers.transpose(0, 2, 1, 3).reshape(a * tile[0], b * tile[1])


def check(layout: tesela.Layout, places: np.ndarray, shape: tuple[int, int]) -> Picture:
    """A picture of a matrix: its places, which cells are padding, and where and what of each."""
    picture = Picture(layout)
    found, dots = picture.grid()
    expected = places[:32, :32]
    assert np.array_equal(found, expected), layout
    rows, columns = np.indices(expected.shape)
    assert np.array_equal(dots, (rows >= shape[0]) | (columns >= shape[1]))
    assert picture.hatched == dots.any()
    for (r, c), place in np.ndenumerate(found):
        if dots[r, c]:
            assert layout.what(int(place)) is None
        elif layout.ndim == 2:
            assert layout.where(int(r), int(c)) == place and layout.what(int(place)) == (r, c)
    return picture


def test_the_first_picture() -> None:
    L = tesela.layout("f32[3,5]{1,0:T(2,2)}")
    picture = check(L, tiled((3, 5), (2, 2)), (3, 5))
    assert picture.heavy.count("H") == 3 and picture.heavy.count("V") == 4  # the frame and the borders of 2 x 3 tiles
    x, y = (float(picture.at[2, 2].get(name, "")) for name in "xy")
    borders = {float(at) for at in re.findall(r"M[\d.]+ ([\d.]+)H", picture.heavy)}
    assert any(y - 22 < border < y for border in borders)  # row 2 begins a tile
    assert not any(y < border < y + 15 for border in borders)
    assert "padding, 9 of 24 places" in picture.notes and x > 0
    assert L._repr_svg_() == L.svg()


def test_xla_layouts_by_definition() -> None:
    print("TESELA_SEED", SEED)
    rng = random.Random(SEED)
    for _ in range(40):
        shape = (rng.randrange(1, 40), rng.randrange(1, 40))
        tile = (rng.choice([1, 2, 3, 8]), rng.choice([1, 2, 4, 16]))
        column_major = rng.random() < 0.3
        order = "0,1" if column_major else "1,0"
        L = tesela.layout(f"f32[{shape[0]},{shape[1]}]{{{order}:T({tile[0]},{tile[1]})}}")
        check(L, tiled(shape, tile, column_major), shape)


def test_two_levels_and_a_cut() -> None:
    L = tesela.layout("bf16[20,200]{1,0:T(8,128)(2,1)}")
    inner = np.arange(3 * 2 * 4 * 128 * 2).reshape(3, 2, 4, 128, 2)  # tiles, then pairs of rows in each
    places = inner.transpose(0, 2, 4, 1, 3).reshape(24, 256)
    picture = check(L, places, (20, 200))
    assert "the first 32 of 256 columns" in picture.notes and "rows" not in picture.notes
    tall = Picture(tesela.layout("f32[1000,2]"))
    assert len(tall.cells) == 64 and "the first 32 of 1000 rows" in tall.notes


def test_padding_of_a_dim_of_one_tile_is_drawn() -> None:
    check(tesela.layout("f32[1,20]{1,0:T(2,128)}"), tiled((1, 20), (2, 128)), (1, 20))


def test_three_dims_show_the_fastest_two() -> None:
    L = tesela.layout("f32[2,3,5]{2,1,0:T(2,2)}")
    picture = check(L, tiled((3, 5), (2, 2)), (3, 5))
    assert "dim 1 down, dim 2 across; dim 0 at index 0" in picture.notes
    slow = Picture(tesela.layout("f32[2,3,5]{0,1,2}"))
    found, _ = slow.grid()
    assert np.array_equal(found, np.arange(2)[:, None] + 2 * np.arange(3))
    assert "dim 0 down, dim 1 across; dim 2 at index 0" in slow.notes
    far = Picture(tesela.layout("f32[2,3,4,5]{0,3,2,1}"))
    assert np.array_equal(far.grid()[0], np.arange(2)[:, None] + 2 * np.arange(5))
    assert "dims 1, 2 at index 0" in far.notes


def test_few_dims() -> None:
    assert Picture(tesela.layout("f32[]")).cells == {(0, 0): "0"}
    frame = Picture(tesela.layout("f32[]")).heavy
    assert frame.count("H") == 2 and frame.count("V") == 2
    row = Picture(tesela.layout("f32[7]{0:T(4)}"))
    assert [row.cells[0, k] for k in range(8)] == ["0", "1", "2", "3", "4", "5", "6", "·7"] and row.heavy.count("V") == 3
    for text in ("f32[0,3]", "f32[3,0]{0,1:T(8,128)}", "f16[0] stick()"):
        none = Picture(tesela.layout(text))
        assert not none.cells and none.notes == "no elements"


def test_joined_dims_have_no_borders_inside() -> None:
    picture = Picture(tesela.layout("u8[2,5]{1,0:T(*,3)}"))
    assert np.array_equal(picture.grid()[0], np.arange(10).reshape(2, 5)) and picture.heavy.count("V") == 2
    assert "padding: 2 of 12 places, not in these cells" in picture.notes


def test_device_layouts() -> None:
    D = tesela.device_layout((10, 20), "f16")
    check(D, np.arange(640).reshape(10, 64), (10, 20))
    blocks = tesela.device_layout((3, 40), "f32")
    places = np.arange(2 * 3 * 32).reshape(2, 3, 32).transpose(1, 0, 2).reshape(3, 64)
    assert Picture(blocks).grid()[0].tolist() == places[:, :32].tolist()
    own = tesela.device_layout((3, 20), "f32", target="target own\nstick 64\norder stick_outer\n")
    check(own, np.arange(96).reshape(2, 3, 16).transpose(1, 0, 2).reshape(3, 32), (3, 20))


def test_register_layouts() -> None:
    A = tesela.layout("mma.m16n8k16.f16.A")
    picture = Picture(A)
    for lane in range(32):
        for i in range(8):  # PTX ISA
            row, column = lane // 4 + 8 * (i // 2 % 2), 2 * (lane % 4) + i % 2 + 8 * (i // 4)
            assert picture.cells[row, column] == f"{lane}: {i}"
    tints = [one.get("fill") for one in picture.root.iter(SVG + "rect")][1:]
    by_group: dict[int, set[str | None]] = {}
    for (r, c), tint in zip(np.ndindex(16, 16), tints):
        by_group.setdefault(int(picture.cells[r, c].split(":")[0]) // 4, set()).add(tint)
    assert all(len(found) == 1 for found in by_group.values())
    assert len({next(iter(found)) for found in by_group.values()}) == 8
    warps = Picture(tesela.layout("local(2, 1).spatial(8, 16)"))
    assert len({one.get("fill") for one in warps.root.iter(SVG + "rect")} - {"#ffffff"}) == 4
    assert warps.cells[9, 3] == "19: 1"
    assert Picture(tesela.layout("reduce(spatial(3, 4), dims=[0])")).cells[0, 1] == "[1, 5, 9]: 0"
    many = Picture(tesela.layout("reduce(spatial(8, 4), dims=[0])"))
    assert many.cells[0, 1] == "[1, …]: 0" and "8 threads" in many.notes


def test_any_layout_has_a_picture() -> None:
    """Odd layouts: the picture is a valid document, and each cell without the dot is where its element is."""
    for text in (
        "f16[] stick()", "f16[1024] stick(dim_order=[0,-1])", "spatial()", "local(1).spatial(1, 1)", "spatial(2, 3, 4)",
        "s4[3,5]{1,0:T(8,128)(8,1)E(4)}", "pred[5]{0:T(1024)(4,1)L(4096)}", "f32[2,3,4,5,6]{4,3,2,1,0:T(2,3)}",
        "f32[4,3,2]{0,2,1}", "u8[3,4,5]{2,1,0:T(*,*,7)}", "global_strides([3, 4], [1, 100])", "f32[1,1,1]",
        "f32[33,40] stick(dims=[(1,2,20),(0,16,3),(1,1,2),(0,1,16)], stick_dims=2)", "f32[100000,100000,100000]{0,1,2:T(8,128)}",
        "s8[7] stick(dims=[(0,2,2),(0,6,3),(0,4,2),(0,1,2)], stick=2, stick_dims=1)", "f16[40,50] stick(target=tiles)",
        "f16[6] stick(dims=[(-2,0,3),(0,1,6),(-1,0,64)])", "replicated(2, 3, num_workers=5)", "f32[0]", "wgmma.m64n16k16.f16.D",
    ):  # fmt: skip
        try:
            L = tesela.layout(text)
        except tesela.LayoutError as error:
            raise AssertionError(text) from error
        picture = Picture(L)
        found = re.search(r"dim (\d+) down, dim (\d+) across", picture.notes)
        dims = [int(one) for one in found.groups()] if found else list(range(L.ndim))
        for cell, words in picture.cells.items():
            index = [0] * L.ndim
            for dim, k in zip(reversed(dims), reversed(cell)):
                index[dim] = k
            inside = all(i < n for i, n in zip(index, L.shape))
            assert words.startswith("·") == (not inside), (text, cell)
            if inside:
                where = L.where(*index)
                if isinstance(where, tesela.Holder):
                    thread = where.thread if isinstance(where.thread, int) else where.thread[0]
                    assert int(re.findall(r"\d+", words)[0]) == thread and int(re.findall(r"\d+", words)[-1]) == where.register
                else:
                    assert int(words) == (where if isinstance(where, int) else where[0])
            elif L.kind in ("xla", "device"):
                assert L.what(int(words[1:])) is None
        assert len(picture.cells) <= 1024


def test_tiles_in_memory() -> None:
    picture = Picture(tesela.layout("shared_row_major_swizzle(8, 64, nbytes=2)"))
    plain = np.arange(512).reshape(8, 64)
    assert np.array_equal(picture.grid()[0], (plain ^ ((plain >> 6 & 7) << 3))[:, :32])


def test_text_is_escaped() -> None:
    from tesela._svg import _clean

    assert ET.fromstring(f"<a>{_clean('<b> & </b> ]]>')}</a>").text == "<b> & </b> ]]>"
    assert ET.fromstring(f'<a b="{_clean(chr(34) + chr(0) + chr(0xD800))}"/>').get("b") == '"  '
    bounded = tesela.layout("f32[<=8,3]")
    assert "<=" in bounded.text and Picture(bounded).cells[0, 0] == "0"


def test_save(tmp_path: pathlib.Path) -> None:
    L = tesela.layout("f32[3,5]{1,0:T(2,2)}")
    L.save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == L.svg()
    L.save(str(tmp_path / "a.txt"))
    assert "·23" in (tmp_path / "a.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("text", ["f32[3,5]{1,0:T(2,2)}", "mma.m16n8k16.f16.A", "f16[10,20] stick()"])
def test_the_page_has_its_own_ground(text: str) -> None:
    """Dark text on a light page of its own: readable in a dark notebook."""
    root = ET.fromstring(tesela.layout(text).svg())
    page = next(root.iter(SVG + "rect"))
    assert page.get("fill") == "#ffffff" and page.get("width") == root.get("width") and root.get("fill") == "#1b1b1b"
