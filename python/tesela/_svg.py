# SPDX-License-Identifier: Apache-2.0
"""A layout's grid as a plain SVG document.

Two dims, one down and one across; of others the slice at 0. A cell has the place of its element, or the thread and the register.
Padding is hatched and has a dot, tile borders are heavy, groups of threads have tints: nothing is said by colour alone. The page
is light, with dark text, so that it is readable in dark notebooks, too.
"""

from __future__ import annotations

import colorsys
import ctypes
import re
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from . import _abi as abi
from ._layout import Layout
from ._library import Error, address, byref, lib

MOST = 32  # rows and columns of cells
COPIES = 4  # threads of a cell that are named
HIGH, CHAR, SIZE = 22, 6.7, 11  # height of a cell, width of a character, size of the font
INK, FAINT, LINE, HEAVY, PAPER = "#1b1b1b", "#666666", "#b5b5b5", "#1b1b1b", "#ffffff"


class Side(NamedTuple):
    """A dim that is drawn; -1: none, a single row."""

    dim: int
    extent: int  # cells with elements
    padded: int  # all cells
    block: int  # cells between heavy lines; 0: none

    @property
    def shown(self) -> int:
        return min(self.padded, MOST)


def svg(layout: Layout) -> str:
    """The picture as an SVG document of its own.

    >>> from tesela import layout
    >>> svg(layout("f32[3,5]{1,0:T(2,2)}")).count("<text data-cell")
    24
    """
    if 0 in layout.shape:
        return _page(layout, [], 0, 0, ["no elements"])
    drawn, padded, blocks = _whole(layout)
    down, across = _sides(layout, drawn, padded, blocks)
    rows, columns = down.shown, across.shown
    index = np.zeros((rows, columns, len(layout.shape)), np.int64)
    if down.dim >= 0:
        index[:, :, down.dim] = np.arange(rows)[:, None]
    if across.dim >= 0:
        index[:, :, across.dim] = np.arange(columns)
    places = [_places(drawn, axis, index) for axis in range(drawn.n_axes)]
    empty = np.arange(rows)[:, None] >= down.extent
    empty = empty | (np.arange(columns) >= across.extent)
    if layout.kind == "register":
        texts = [[_holder(layout, index[r, c], places, r, c) for c in range(columns)] for r in range(rows)]
    else:
        texts = [
            [f"{'·' if empty[r, c] else ''}{places[0][r, c]}" for c in range(columns)] for r in range(rows)
        ]
    heads = [[_number(k, side.extent) for k in range(side.shown)] for side in (down, across)]
    wide = max(len(text) for row in [*texts, heads[1]] for text in row) * CHAR + 10
    left = max(map(len, heads[0])) * CHAR + 12 if down.dim >= 0 else 8
    top = 2 * HIGH if across.dim >= 0 else HIGH + 8
    parts = _tints(layout, places[0], left, top, wide) if layout.kind == "register" else []
    parts += _hatch(empty, left, top, wide)
    parts += _lines(down, across, left, top, wide)
    parts.append(f'<g fill="{FAINT}">')
    if across.dim >= 0:
        parts += [_text(left + (c + 0.5) * wide, top - 7, text, "middle") for c, text in enumerate(heads[1])]
    if down.dim >= 0:
        parts += [_text(left - 6, top + (r + 0.5) * HIGH + 4, text, "end") for r, text in enumerate(heads[0])]
    parts.append("</g>")
    parts += [
        _text(left + (c + 0.5) * wide, top + (r + 0.5) * HIGH + 4, text, "middle", f' data-cell="{r},{c}"')
        for r, row in enumerate(texts) for c, text in enumerate(row)
    ]  # fmt: skip
    return _page(layout, parts, left + columns * wide, top + rows * HIGH, _notes(layout, down, across, empty))


# ---- what is drawn


def _whole(layout: Layout) -> tuple[Any, list[int], list[int]]:
    """The layout of the padded array, whose padding has cells; its extents; and the blocks between heavy lines."""
    shape, relation = list(layout.shape), layout._relation
    blocks = [0] * len(shape)
    padded = list(shape)
    if layout.kind == "xla":
        tile, joined = _first_tile(layout._any.shape.layout)
        for dim, size in tile.items():
            if not joined:
                blocks[dim], padded[dim] = size, -(-shape[dim] // size) * size
    elif layout.kind == "device":
        for one in layout._any.device.dim[: layout._any.device.n_dims]:
            if one.dim >= 0 and one.extent > 1:
                padded[one.dim] = max(padded[one.dim], one.step * one.extent)
                blocks[one.dim] = max(blocks[one.dim], one.step if one.step > 1 else 0)
    else:
        for digit in relation.digit[: relation.n_mapped]:
            if digit.source < len(shape):
                blocks[digit.source] = max(blocks[digit.source], digit.step if digit.step > 1 else 0)
    found = _padded(layout, padded) if padded != shape else None
    return (found, padded, blocks) if found is not None else (relation, shape, blocks)


def _first_tile(xla: Any) -> tuple[dict[int, int], bool]:
    """The first-level tile of each dim, and whether it joins dims."""
    n = xla.tile_rank[0] if xla.n_tiles else 0
    sizes = list(xla.tile[:n])
    dims = list(xla.minor_to_major[: xla.rank])
    found = {dim: size for dim, size in zip(dims, reversed(sizes)) if size > 0}
    return found, any(size < 0 for size in sizes)  # TESELA_XLA_COMBINE


def _padded(layout: Layout, shape: list[int]) -> Any:
    """The same layout of a larger array with the same places; None if there is none."""
    larger, relation = abi.tesela_any_layout(), abi.tesela_layout()
    ctypes.memmove(address(larger), address(layout._any), ctypes.sizeof(larger))
    if layout.kind == "xla":
        larger.shape.dim[: len(shape)] = shape
        larger.shape.dynamic = 0
    else:
        made = larger.device
        host = made.host
        host.shape[: len(shape)] = shape
        dims = (abi.tesela_device_dim * made.n_dims)(*made.dim[: made.n_dims])
        again = abi.tesela_device_layout()
        if lib.tesela_device_from_dims(byref(again), byref(host), made.n_dims, dims, True, made.stick_dims, None):
            return None
        larger.device = again
    if lib.tesela_any_to_layout(byref(larger), byref(relation), None):
        return None
    return relation if relation.axis[0].extent == layout._relation.axis[0].extent else None


def _sides(layout: Layout, drawn: Any, padded: list[int], blocks: list[int]) -> tuple[Side, Side]:
    """The two dims that vary fastest, in their order."""
    rank = len(layout.shape)
    dims = list(range(rank))
    if rank > 2:
        view, dims = abi.tesela_draw_view(), dims[-2:]
        if layout.kind != "register" and not lib.tesela_draw_view_of(address(drawn), None, byref(view), None):
            found = [side for side in (view.down, view.across) if side >= 0]
            chosen = sorted({dim for side in found for dim in view.side[side].dim[: view.side[side].n_dims]})
            dims = (sorted(set(chosen[-2:])) + dims)[:2] if len(chosen) >= 2 else sorted({*chosen, *dims})[-2:]
    sides = [Side(dim, layout.shape[dim], padded[dim], blocks[dim]) for dim in dims]
    none = Side(-1, 1, 1, 0)
    down, across = ([none, none] + sides)[-2:]
    return down, across


def _places(relation: Any, axis: int, index: NDArray[np.int64]) -> NDArray[np.int64]:
    found, err = np.empty(index.shape[:-1], np.int64), Error()
    rows, answer = (array.__array_interface__["data"][0] for array in (index, found))
    if lib.tesela_layout_places(address(relation), axis, found.size, rows, answer, byref(err)):
        raise err.exception()
    return found


def _holder(layout: Layout, index: NDArray[np.int64], places: list[NDArray[np.int64]], r: int, c: int) -> str:
    """`thread: register`, of several threads `[0, 4]: register`."""
    copies, register = layout._copies, places[1][r, c]
    if copies == 1:
        return f"{places[0][r, c]}: {register}"
    if copies > COPIES:
        return f"[{places[0][r, c]}, …]: {register}"
    return f"[{', '.join(map(str, layout.where(*index.tolist()).thread))}]: {register}"


def _number(k: int, extent: int) -> str:
    return f"{k}" if k < extent else f"·{k}"


# ---- lines, tints, words


def _lines(down: Side, across: Side, left: float, top: float, wide: float) -> list[str]:
    """Thin lines between all cells; heavy ones around them and between blocks."""
    bottom, right = top + down.shown * HIGH, left + across.shown * wide
    thin: list[str] = []
    heavy: list[str] = []
    for k in range(down.shown + 1):
        (heavy if _border(down, k) else thin).append(f"M{left:g} {top + k * HIGH:g}H{right:g}")
    for k in range(across.shown + 1):
        (heavy if _border(across, k) else thin).append(f"M{left + k * wide:g} {top:g}V{bottom:g}")
    return [
        f'<path d="{"".join(lines)}" fill="none" stroke="{colour}" stroke-width="{width}" stroke-linecap="square"/>'
        for lines, colour, width in ((thin, LINE, 1), (heavy, HEAVY, 2)) if lines
    ]  # fmt: skip


def _border(side: Side, k: int) -> bool:
    return k in (0, side.padded) or bool(side.block and k % side.block == 0)


def _hatch(empty: NDArray[np.bool_], left: float, top: float, wide: float) -> list[str]:
    """Slanted lines over cells of padding."""
    lines = []
    for r, c in np.argwhere(empty).tolist():
        x, y, step = left + c * wide, top + r * HIGH, HIGH / 3
        for k in range(1, int((wide + HIGH) / step) + 1):
            a, b = max(0.0, k * step - HIGH), min(wide, k * step)  # from the bottom or the left to the top or the right
            lines.append(f"M{x + a:.4g} {y + k * step - a:.4g}L{x + b:.4g} {y + k * step - b:.4g}")
    return [f'<path d="{"".join(lines)}" fill="none" stroke="#cfcfcf" stroke-width="1"/>'] if lines else []


def _group(layout: Layout) -> tuple[int, str]:
    """Threads of a tint: a warp, or four threads where there is one warp."""
    return (32, "warp") if layout._relation.axis[0].extent > 32 else (4, "4 threads")


def _tints(layout: Layout, threads: NDArray[np.int64], left: float, top: float, wide: float) -> list[str]:
    size = _group(layout)[0]
    return [
        f'<rect x="{left + c * wide:g}" y="{top + r * HIGH:g}" width="{wide:g}" height="{HIGH}" fill="{_tint(int(thread) // size)}"/>'
        for (r, c), thread in np.ndenumerate(threads)
    ]  # fmt: skip


def _tint(group: int) -> str:
    """Light, so that dark text stays readable; neighbours differ in hue and in lightness."""
    rgb = colorsys.hls_to_rgb(group * 0.381966 % 1, 0.90 if group % 2 else 0.82, 0.65)
    return "#" + "".join(f"{round(255 * part):02x}" for part in rgb)


def _notes(layout: Layout, down: Side, across: Side, empty: NDArray[np.bool_]) -> list[str]:
    notes = []
    if layout.kind == "register":
        words = "each cell: thread: register"
        if layout._copies > 1:
            words += f"; each element is in {layout._copies} threads"
        notes.append(f"{words}; a tint for each {_group(layout)[1]}")
    elif layout._copies > 1:
        notes.append(f"each cell: the first of {layout._copies} places")
    else:
        notes.append("each cell: the place of the element")
    padding = layout.places - layout.size if layout.kind != "register" and layout._copies == 1 else 0
    if padding:
        many = f"{padding} of {layout.places} places"
        notes.append(f"hatched, with a dot: padding, {many}" if empty.any() else f"padding: {many}, not in these cells")
    if len(layout.shape) > 2:
        fixed = [dim for dim in range(len(layout.shape)) if dim not in (down.dim, across.dim)]
        names = f"dim {fixed[0]}" if len(fixed) == 1 else f"dims {', '.join(map(str, fixed))}"
        notes.append(f"dim {down.dim} down, dim {across.dim} across; {names} at index 0")
    for side, name in ((down, "rows"), (across, "columns")):
        if side.shown < side.padded:
            notes.append(f"the first {side.shown} of {side.padded} {name}")
    return notes


def _text(x: float, y: float, text: str, anchor: str, more: str = "") -> str:
    return f'<text{more} x="{x:g}" y="{y:g}" text-anchor="{anchor}">{_clean(text)}</text>'


def _clean(text: str) -> str:
    """Text for XML: characters that XML lacks become blanks, markup is escaped."""
    return escape(re.sub(r"[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", " ", text), {'"': "&quot;"})


def _page(layout: Layout, parts: list[str], right: float, bottom: float, notes: list[str]) -> str:
    text = " ".join(layout.text.split())
    title = text if len(text) <= 96 else text[:95] + "…"
    bottom = bottom or HIGH
    width = max(right, *(len(line) * CHAR for line in (title, *notes))) + 16
    height = bottom + 8 + len(notes) * 16 + 6
    lines = [_text(8, bottom + 20 + 16 * k, note, "start") for k, note in enumerate(notes)]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:g}" height="{height:g}"'
            f' viewBox="0 0 {width:g} {height:g}" font-family="ui-monospace, DejaVu Sans Mono, monospace" font-size="{SIZE}"'
            f' fill="{INK}">',
            f"<title>{_clean(text)}</title>",
            f"<desc>{_clean('; '.join(notes))}</desc>",
            f'<rect width="{width:g}" height="{height:g}" rx="4" fill="{PAPER}"/>',
            _text(8, 16, title, "start", ' font-weight="bold"'),
            *parts,
            f'<g fill="{FAINT}">',
            *lines,
            "</g>",
            "</svg>",
        ]
    )
