# SPDX-License-Identifier: Apache-2.0
"""CuTe's layouts and their algebra, with the names of pycute: a program changes one import.

    from tesela.cute import Layout, composition, complement, logical_divide

Every answer is right by its definition, or NotExpressible says which coordinate contradicts.
"""

from __future__ import annotations

import re
from typing import Any, Self, Union

from ._errors import LayoutError, NotExpressible
from ._ops import op

IntTuple = Union[int, tuple[Any, ...]]

__all__ = [
    "Layout", "blocked_product", "coalesce", "complement", "composition", "cosize", "crd2idx", "filter", "flat_divide",
    "flat_product", "flatten", "idx2crd", "left_inverse", "logical_divide", "logical_product", "make_layout", "raked_product",
    "right_inverse", "shape_div", "size", "tile_to_shape", "tiled_divide", "tiled_product", "zipped_divide", "zipped_product",
]  # fmt: skip


def _text(value: Any) -> str:
    """An argument of the operation: a layout, a tuple of integers, a tiler."""
    if isinstance(value, (Layout, str)):
        return str(value)
    if isinstance(value, (tuple, list)):
        if any(isinstance(part, (Layout, type(None))) for part in value):
            return "<" + ",".join("_" if part is None else _text(part) for part in value) + ">"
        return "(" + ",".join(map(_text, value)) + ")"
    return str(value)


def _tree(text: str) -> IntTuple:
    """(2,(3,4)) as tuples; (4) is a tuple of one."""
    stack: list[list[Any]] = [[]]
    for word in re.findall(r"[()]|-?\d+", text):
        if word == "(":
            stack.append([])
        elif word == ")":
            done = tuple(stack.pop())
            stack[-1].append(done)
        else:
            stack[-1].append(int(word))
    return stack[0][0] if stack[0] else ()


def _compact(shape: IntTuple, stride: int) -> tuple[IntTuple, int]:
    """Strides of a shape without gaps, the first mode fastest; and the next one."""
    if isinstance(shape, int):
        return stride, stride * shape
    strides = []
    for part in shape:
        one, stride = _compact(part, stride)
        strides.append(one)
    return tuple(strides), stride


def _ask(do: str, *args: Any) -> dict[str, Any]:
    try:
        return op("cute", do=do, args=[_text(value) for value in args])
    except LayoutError as error:
        if error.code == "NOT_EXPRESSIBLE":
            raise NotExpressible(str(error), code=error.code) from None
        raise


class Layout:
    """A CuTe layout: ``Layout((4, 8), (8, 1))``, or its text, ``Layout("Sw<3,3,3> o 0 o (8,64):(64,1)")``.

    Without strides it is compact, the first mode fastest. Calling it gives the place of a coordinate.

    >>> Layout((4, 8), (8, 1))(2, 3)
    19
    """

    __slots__ = ("_text",)

    def __init__(self, shape: Any, stride: Any = None) -> None:
        text = _text(shape) if stride is None else f"{_text(shape)}:{_text(stride)}"
        if ":" not in text:
            text = f"{text}:{_text(_compact(_tree(text), 1)[0])}"
        op("parse", text=text, notation="cute")  # an error names the byte
        self._text = re.sub(r"(?<!o)\s+(?!o)|_", "", text)

    @classmethod
    def _of(cls, text: str) -> Self:
        made = cls.__new__(cls)
        made._text = text
        return made

    @property
    def shape(self) -> IntTuple:
        """Extents, nested as written."""
        return _tree(self._text.rsplit(" o ", 1)[-1].split(":")[0])

    @property
    def stride(self) -> IntTuple:
        """Strides, nested as the extents."""
        return _tree(self._text.rsplit(" o ", 1)[-1].split(":")[1])

    def size(self) -> int:
        """Coordinates."""
        return size(self)

    def cosize(self) -> int:
        """The largest place, plus 1."""
        return cosize(self)

    def __call__(self, *coordinate: Any) -> int:
        at = coordinate[0] if len(coordinate) == 1 else coordinate
        return int(_ask("eval", self, at)["result"])

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Layout({self._text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)


def _layout(do: str, *args: Any) -> Layout:
    return Layout._of(str(_ask(do, *args)["result"]))


def make_layout(shape: Any, stride: Any = None) -> Layout:
    """The same as Layout(shape, stride)."""
    return Layout(shape, stride)


def size(layout: Any) -> int:
    """The number of coordinates of a layout or a shape."""
    return int(_ask("size", layout)["result"])


def cosize(layout: Layout) -> int:
    """The largest place of a layout, plus 1."""
    return int(_ask("cosize", layout)["result"])


def coalesce(layout: Layout) -> Layout:
    """The same function of the flat coordinate with the fewest modes."""
    return _layout("coalesce", layout)


def filter(layout: Layout) -> Layout:
    """Without modes of extent 1 or stride 0."""
    return _layout("filter", layout)


def flatten(layout: Layout) -> Layout:
    """Without nesting."""
    return _layout("flatten", layout)


def composition(a: Layout, b: Any) -> Layout:
    """R with R(i) = a(b(i)), and the outer modes of b; b may be a tiler.

    >>> composition(Layout((6, 4), (4, 1)), Layout((3, 2), (2, 12)))
    Layout('(3,2):(8,2)')
    """
    return _layout("composition", a, b)


def complement(layout: Layout, cosize_hi: Any = None) -> Layout:
    """An ordered layout of the places that `layout` leaves out, up to a size (default: its cosize)."""
    return _layout("complement", layout) if cosize_hi is None else _layout("complement", layout, cosize_hi)


def right_inverse(layout: Layout) -> Layout:
    """R with layout(R(i)) = i, of the greatest size."""
    return _layout("right_inverse", layout)


def left_inverse(layout: Layout) -> Layout:
    """R with R(layout(i)) = i for all i."""
    return _layout("left_inverse", layout)


def _pair(do: str, words: str) -> Any:
    def function(a: Layout, b: Any) -> Layout:
        return _layout(do, a, b)

    function.__name__ = function.__qualname__ = do
    function.__doc__ = words
    return function


logical_divide = _pair("logical_divide", "Mode by mode: the tile, and the tiles.")
zipped_divide = _pair("zipped_divide", "All modes of the tile first, then those of the tiles.")
tiled_divide = _pair("tiled_divide", "The tile as one mode, then a mode for each dim of tiles.")
flat_divide = _pair("flat_divide", "Modes of the tile, then modes of the tiles, all at the top.")
logical_product = _pair("logical_product", "Mode by mode: `a`, and copies of it as `b` has them.")
zipped_product = _pair("zipped_product", "All modes of `a` first, then those of the copies.")
tiled_product = _pair("tiled_product", "`a` as one mode, then a mode for each dim of copies.")
flat_product = _pair("flat_product", "Modes of `a`, then modes of the copies, all at the top.")
blocked_product = _pair("blocked_product", "Copies of `a` as blocks of an array.")
raked_product = _pair("raked_product", "Copies of `a`, interleaved.")
tile_to_shape = _pair("tile_to_shape", "Copies of `a` that fill a shape.")


def shape_div(a: IntTuple, b: IntTuple) -> IntTuple:
    """a / b, extent by extent from the fastest."""
    return _tree(str(_ask("shape_div", a, b)["result"]))


def crd2idx(coordinate: IntTuple, shape: IntTuple, stride: Any = None) -> int:
    """The place of a coordinate."""
    return Layout(shape, stride)(coordinate)


def idx2crd(index: int, shape: IntTuple) -> IntTuple:
    """The coordinate of a flat index, the first mode fastest."""
    return _tree(str(_ask("idx2crd", index, shape)["result"]))
