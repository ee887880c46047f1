# SPDX-License-Identifier: Apache-2.0
"""Layouts: read from any notation, asked, compared, printed, drawn."""

from __future__ import annotations

import collections
import ctypes
import functools
import numbers
import operator
import os
import re
import struct
import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Self, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from . import _abi as abi
from ._errors import LimitError, MismatchError, NotExpressible, TeselaWarning, UnsupportedError
from ._library import Error, Text, address, byref, decoded, lib, printed, quick
from ._ops import op
from ._types import NUMBERS, element_type, numpy_dtype

KINDS = {1: "xla", 2: "register", 3: "shared", 4: "global", 5: "device", 6: "relation"}
ANSWER = ctypes.c_int64
_place_of = quick("tesela_layout_place_of")
_element_at = quick("tesela_layout_element_at")


def a_kind(kind: str) -> str:
    return "an XLA layout" if kind == "xla" else f"a {kind} layout"


class Holder(NamedTuple):
    """Who holds an element of a register layout: its thread, or a tuple of all threads, and the register in them."""

    thread: int | tuple[int, ...]
    register: int


@functools.lru_cache(64)
def _place_class(names: tuple[str, ...]) -> Any:
    """Places on axes of these names: Place(register=3, lane=5, warp=0)."""
    return collections.namedtuple("Place", names, rename=True)


class Difference(NamedTuple):
    """The first element, in row-major order, that two layouts put at different places."""

    index: tuple[int, ...]  # type: ignore[assignment]
    a: Any
    b: Any


class Comparison(NamedTuple):
    """What `compare` found. It is true if every element is at the same place in both."""

    same: bool
    same_size: bool
    first_difference: Difference | None
    reason: str

    def __bool__(self) -> bool:
        return self.same


class Translation(NamedTuple):
    """A layout in another notation: what `Layout.translate` found.

    ``verdict`` is "exact", "valid_part" (the text is of a larger array, whose further elements are padding), "needs_padding" (the
    same, but the text takes more places) or "impossible", with ``text`` None.
    """

    verdict: str
    text: str | None
    shape: tuple[int, ...]
    """The array that the text describes."""
    buffer: int
    """Places of the layout, which not every notation mentions."""
    reason: str
    counter_example: dict[str, Any] | None
    """The first element that contradicts: {"index": (2, 0), "place": 8, "expected": 2}; or None."""
    as_: str | None
    """What `layout` needs as ``as_`` to read the text: "tv:16x8"; or None."""

    def contradiction(self) -> str:
        """The counter-example as the end of a sentence, or ""."""
        found = self.counter_example
        if not found or "element (" in self.reason:
            return ""
        if "bit" in found:
            return f"; a bit of the place moves {found['bit']}"
        if "index2" in found:
            return f"; elements {found['index']} and {found['index2']} are both at place {found['place']}"
        if "expected" not in found:
            return f"; element {found['index']} is at place {found['place']}, but in no text that agrees before it"
        return f"; element {found['index']} is at place {found['place']} instead of {found['expected']}"

    @classmethod
    def _make_from(cls, answer: Any, text: str) -> Self:
        verdict = decoded(lib.tesela_verdict_name(answer.verdict))
        index, index2 = tuple(answer.index[: answer.rank]), tuple(answer.index2[: answer.rank])
        found: dict[str, Any] | None = {
            1: {"index": index, "place": answer.place, "expected": answer.expected},
            2: {"index": index, "index2": index2, "place": answer.place},
            3: {"bit": index},
            4: {"index": index, "place": answer.place},
        }.get(answer.contradiction)
        return cls(
            verdict, None if verdict == "impossible" else text, tuple(answer.shape[: answer.rank]), answer.places,
            decoded(answer.reason), found, decoded(getattr(answer, "as")) or None,
        )  # fmt: skip


class Layout:
    """Where the elements of an array lie: in memory, in a file, in the registers of threads. A value; make it with `layout`.

    >>> L = layout("f32[3,5]{1,0:T(2,2)}")
    >>> L.where(2, 3), L.what(17), L.what(9)
    (17, (2, 3), None)
    """

    __slots__ = (
        "__weakref__", "_any", "_at", "_axes", "_copies", "_index", "_options", "_pack", "_rank", "_relation", "_single",
        "_text", "_widths", "shape",
    )  # fmt: skip

    shape: tuple[int, ...]
    """Extents of the logical array."""

    _classes: ClassVar[dict[str, type[Layout]]] = {}  # by kind, of kinds with facts of their own

    def __init_subclass__(cls, kinds: Sequence[str] = ()) -> None:
        Layout._classes.update(dict.fromkeys(kinds, cls))

    def __new__(cls, text: str, **options: Any) -> Self:
        """Read a text; the class follows from its kind. A subclass demands its own kinds."""
        found, relation, err = abi.tesela_any_layout(), abi.tesela_layout(), Error()
        raw = text.encode("utf-8", "surrogateescape")
        how, _keep = _reading(options)
        if lib.tesela_layout_read(raw, len(raw), byref(how), byref(found), byref(err)):
            raise err.exception(text)
        if lib.tesela_any_to_layout(byref(found), byref(relation), byref(err)):
            raise err.exception()
        made = Layout._classes.get(KINDS[found.kind], Layout)
        if not issubclass(made, cls):
            kinds = " or ".join(kind for kind, known in Layout._classes.items() if known is cls)
            raise MismatchError(f"expected a {kinds} layout, found {a_kind(KINDS[found.kind])}: {text}")
        self = object.__new__(made)
        self._fill(text, options, found, relation)
        if repaired := found.repairs.repair[: min(found.repairs.count, 1)]:
            note = f"{text!r} is not quite a layout, read as {self.text!r}: {repaired[0].what.decode()}"
            warnings.warn(note, TeselaWarning, stacklevel=4)
        return self

    def _fill(self, text: str, options: dict[str, Any], found: Any, relation: Any) -> None:
        self._text, self._options, self._any, self._relation = text, options, found, relation
        self.shape = tuple(relation.shape[: relation.rank])
        self._at = address(relation)
        self._axes = relation.n_axes
        self._index = ctypes.c_int64 * relation.rank
        self._widths = ctypes.c_int64 * relation.n_axes
        self._copies = lib.tesela_layout_copies(self._at)
        self._rank = relation.rank
        self._single = self._axes == 1 and self._copies == 1
        self._pack = struct.Struct(f"={self._rank}q").pack

    def _request(self) -> dict[str, Any]:
        """The fields of an operation on this layout: its text, and what was given beside it."""
        if self.kind != "relation":
            return {"layout": self.text}
        beside = {"shape": "shape", "dtype": "dtype", "as_": "as", "definitions": "definitions"}
        return {"layout": self._text} | {beside[k]: v for k, v in self._options.items() if k in beside}

    # ---- facts

    @property
    def kind(self) -> str:
        """"xla", "register", "shared", "global", "device" or "relation"."""
        return KINDS[self._any.kind]

    @property
    def ndim(self) -> int:
        """The rank: how many dims the logical array has."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Elements of the logical array."""
        return int(self._sizes.logical_elements)

    @property
    def element_type(self) -> str | None:
        """The type as XLA names it, "bf16"; None if the layout has only a width (register layouts, tiles in memory)."""
        return abi.DTYPE.get(self._relation.dtype)

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The type of NumPy or ml_dtypes; None as for `element_type`."""
        name = self.element_type
        return numpy_dtype(name) if name else None

    @property
    def bits(self) -> int:
        """Bits that one element takes in its place."""
        return int(self._relation.bits)

    @property
    def _sizes(self) -> Any:
        sizes, err = abi.tesela_sizes(), Error()
        if lib.tesela_layout_sizes(self._at, byref(sizes), byref(err)):
            raise err.exception()
        return sizes

    @property
    def places(self) -> int:
        """All places, padding included."""
        return int(self._sizes.elements)

    @property
    def physical_shape(self) -> tuple[int, ...]:
        """The shape that the places have in `TiledArray.physical`: one dim, but for a device layout."""
        return (self.places,)

    @property
    def device_type(self) -> str | None:
        """The type that the places have: `element_type`, but for a device that stores another one."""
        return self.element_type

    @property
    def nbytes(self) -> int:
        """Bytes of all places, padding included."""
        return int(self._sizes.bytes)

    @property
    def logical_nbytes(self) -> int:
        """Bytes of the data alone."""
        return int(self._sizes.logical_bytes)

    @property
    def padding(self) -> int:
        """Bytes that hold no element."""
        sizes = self._sizes
        return int(max(0, sizes.bytes - sizes.logical_bytes))

    @property
    def expansion(self) -> float:
        """nbytes / logical_nbytes; 1.0 for an array without elements."""
        sizes = self._sizes
        return float(sizes.bytes / sizes.logical_bytes) if sizes.logical_bytes else 1.0

    def info(self) -> dict[str, Any]:
        """All facts: the operation `info` of docs/query.md, with details."""
        return op("info", **self._request(), details=True)

    # ---- elements and places

    @overload
    def where(self, index: NDArray[np.integer[Any]], /) -> NDArray[np.int64]: ...
    @overload
    def where(self, /, *index: SupportsIndex | Sequence[SupportsIndex]) -> Any: ...
    def where(self, /, *index: Any) -> Any:
        """The place of an element: ``where(2, 3)`` or ``where((2, 3))``; of many: ``where(array)`` with a row for each.

        A place counts elements from the first one. With copies it is a tuple of places. In a register layout it is a Holder, and
        of many an array of rows (thread, register) of the first copies.
        """
        if self._single and len(index) == self._rank:
            try:
                place = ANSWER()
                if not _place_of(self._at, self._pack(*index), byref(place), None):
                    return place.value
            except (struct.error, TypeError):  # not integers: perhaps an array
                pass
        if len(index) == 1 and (not hasattr(type(index[0]), "__index__") or isinstance(index[0], np.ndarray)):
            rows = index[0]
            if not isinstance(rows, tuple):
                rows = np.asarray(rows)
                if rows.ndim != 1 or len(rows) != self._rank:
                    return self._where_many(rows)
            index = tuple(rows)
        if len(index) != self._rank:
            raise TypeError(f"expected {self._rank} indices, found {len(index)}")
        return self._where_all(self._index(*map(operator.index, index)))

    def _where_all(self, at: Any) -> Any:
        err, place, found = Error(), self._widths(), []
        for k in range(self._copies):
            if lib.tesela_layout_copy_of(self._at, at, k, place, byref(err)):
                raise err.exception()
            found.append(tuple(place))
        if self._axes == 1:
            return tuple(one[0] for one in found) if self._copies > 1 else found[0][0]
        names = tuple(decoded(self._relation.axis[i].name) for i in range(self._axes))
        if names != ("thread", "local"):
            places = [_place_class(names)(*one) for one in found]
            return tuple(places) if self._copies > 1 else places[0]
        threads = sorted(one[0] for one in found)
        return Holder(threads[0] if len(threads) == 1 else tuple(threads), found[0][1])

    def _where_many(self, rows: Any) -> Any:
        rows = _int64(rows)
        if rows.ndim == 0 or rows.shape[-1] != len(self.shape):
            raise TypeError(f"expected rows of {len(self.shape)} indices, found an array of shape {rows.shape}")
        n = rows.size // rows.shape[-1] if rows.shape[-1] else int(np.prod(rows.shape[:-1]))
        answers = []
        for axis in range(self._axes):
            places, err = np.empty(rows.shape[:-1], np.int64), Error()
            if lib.tesela_layout_places(self._at, axis, n, _address(rows), _address(places), byref(err)):
                raise err.exception()
            answers.append(places)
        return answers[0] if self._axes == 1 else np.stack(answers, axis=-1)

    def what(self, place: Any = None, /, *, thread: int | None = None, register: int | None = None) -> Any:
        """The index of the element at a place, or None for padding: ``what(17)``; in a register layout
        ``what(thread=13, register=2)``; of many: ``what(array)``, an array of rows, -1 for padding.
        """
        if thread is not None or register is not None:
            place = (thread or 0, register or 0)
        if place is None:
            raise TypeError("expected a place, or thread= and register=")
        if isinstance(place, (int, np.integer)):
            at: Any = self._widths(operator.index(place)) if self._axes == 1 else None
        elif isinstance(place, tuple) and len(place) == self._axes:
            at = self._widths(*map(operator.index, place))
        else:
            return self._what_many(np.asarray(place))
        if at is None:
            raise TypeError(f"expected a place on each of {self._axes} axes: thread= and register=")
        index, padding = self._index(), ctypes.c_bool()
        if _element_at(self._at, at, index, byref(padding), None):
            err = Error()
            lib.tesela_layout_element_at(self._at, at, index, byref(padding), byref(err))
            raise err.exception()
        return None if padding.value else tuple(index)

    def _what_many(self, places: Any) -> NDArray[np.int64]:
        places = _int64(places)
        if self._axes > 1 and (places.ndim == 0 or places.shape[-1] != self._axes):
            raise TypeError(f"expected rows of {self._axes} places, found an array of shape {places.shape}")
        shape = places.shape if self._axes == 1 else places.shape[:-1]
        index, err = np.full((*shape, len(self.shape)), -1, np.int64), Error()
        n = int(np.prod(shape))
        if lib.tesela_layout_elements(self._at, n, _address(places), _address(index), None, byref(err)):
            raise err.exception()
        return index

    # ---- equality: the relation decides, not the spelling

    def compare(self, other: Layout) -> Comparison:
        """How this layout differs from another one; see `tesela.compare`."""
        difference, err = abi.tesela_difference(), Error()
        if lib.tesela_any_compare(byref(self._any), byref(other._any), byref(difference), byref(err)):
            raise err.exception()
        first = None
        if difference.have_index:
            index = tuple(difference.index[: len(self.shape)])
            first = Difference(index, self.where(index), other.where(index))
        return Comparison(difference.same, difference.same_extent, first, difference.reason.decode())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Layout):
            return NotImplemented
        if self._key() != other._key():
            return False
        return self._text == other._text and self._options == other._options or self.compare(other).same

    def _key(self) -> tuple[Any, ...]:
        relation = self._relation
        extents = tuple(relation.axis[i].extent for i in range(self._axes))
        return self.kind in ("register",), relation.dtype, self.element_type, relation.bits, self.shape, extents

    def __hash__(self) -> int:
        return hash(self._key())

    # ---- text

    @property
    def text(self) -> str:
        """The layout in its notation; `layout` reads it back."""
        return canonical if (canonical := self._canonical()) is not None else self._text

    def _canonical(self) -> str | None:
        if self.kind not in ("xla",):
            return None
        return printed(lib.tesela_any_print, byref(self._any))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self._options.items())
        return f"layout({self.text!r}{options if self.kind != 'xla' else ''})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._text, self._options)

    @property
    def notation(self) -> str:
        """The notation that the layout was read from: "xla", "cute", ..."""
        return decoded(ctypes.cast(self._any.notation, ctypes.POINTER(abi.tesela_notation)).contents.name)

    def translate(self, notation: str) -> Translation:
        """The layout in another notation, with a verdict: see `Translation`.

        >>> layout("f32[3,5]{1,0:T(2,2)}").translate("map").text
        'map(d0:3, d1:5) of f32 -> memory[24]: 12*(d0/2) + 2*(d0%2) + 4*(d1/2) + d1%2'
        """
        to, answer, err = Text(), abi.tesela_translation(), Error()
        if lib.tesela_translate(byref(self._any), notation.encode(), to.writer, byref(answer), byref(err)):
            raise err.exception()
        return Translation._make_from(answer, to.text())

    def to(self, notation: str) -> str:
        """The layout in another notation; of a text that is larger than the layout, the valid part is `shape`.

        Raises NotExpressible if that notation has no text for it; the message has the first element that contradicts.
        """
        if notation in (self.kind, self.notation):
            return printed(lib.tesela_any_print, byref(self._any))
        found = self.translate(notation)
        if found.text is None or found.verdict == "needs_padding":
            padded = f"; a text of {list(found.shape)} does" if found.verdict == "needs_padding" else ""
            raise NotExpressible(f"{notation} cannot express {self}: {found.reason}{found.contradiction()}{padded}")
        return found.text

    def all_notations(self) -> dict[str, str]:
        """The layout in every notation that can express it, by name."""
        texts = {}
        for notation in notations():
            try:
                texts[notation] = self.to(notation)
            except UnsupportedError:
                pass
        return texts

    # ---- pictures and expressions

    def draw(self) -> str:
        """A picture as text, as `tesela show` prints it."""
        return str(op("show", **self._request())["text"])

    def svg(self) -> str:
        """A picture of the layout's grid as an SVG document; also what a notebook shows."""
        from ._svg import svg

        return svg(self)

    _repr_svg_ = svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a file: .svg, else the text of `draw`."""
        text = self.svg() if os.fspath(path).endswith(".svg") else self.draw() + "\n"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def numpy_expr(self, name: str = "x") -> str:
        """NumPy code that makes the places, as an array whose row-major order is memory, from the array `name`.

        >>> layout("f32[3,5]{1,0:T(2,2)}").numpy_expr("x")
        'np.pad(x, ((0, 1), (0, 1))).reshape(2, 2, 3, 2).transpose(0, 2, 1, 3)'
        """
        from ._expressions import array_expression

        return array_expression(self, name, "np")

    def jax_expr(self, name: str = "x") -> str:
        """The same for jax.numpy."""
        from ._expressions import array_expression

        return array_expression(self, name, "jnp")

    def einops(self, name: str = "x") -> str:
        """The same as a pattern of einops.

        >>> layout("f32[4,6]{1,0:T(2,2)}").einops()
        'rearrange(x, "(a b) (c d) -> a c b d", b=2, d=2)'
        """
        from ._expressions import einops_expression

        return einops_expression(self, name)

    def torch_expr(self, name: str = "x") -> str:
        """The same for torch."""
        from ._expressions import torch_expression

        return torch_expression(self, name)


@functools.cache
def notations() -> tuple[str, ...]:
    """The notations that `Layout.to` writes."""
    names, i = [], 0
    while found := lib.tesela_notation_at(i):
        row = ctypes.cast(found, ctypes.POINTER(abi.tesela_notation)).contents
        if row.written:
            names.append(decoded(row.name))
        i += 1
    return tuple(names)


def _again(text: str, options: dict[str, Any]) -> Layout:
    return layout(text, **options)


def _int64(numbers: Any) -> NDArray[np.int64]:
    numbers = np.asarray(numbers)
    if numbers.size and numbers.dtype.kind not in "iu":
        raise TypeError(f"expected integers, found an array of {numbers.dtype}")
    if numbers.dtype.kind == "u" and numbers.size and int(numbers.max()) > 2**63 - 1:
        raise OverflowError(f"{numbers.max()} does not fit in 64 bits")
    return np.ascontiguousarray(numbers, dtype=np.int64)


def _address(array: NDArray[Any]) -> int:
    return int(array.__array_interface__["data"][0])


def _reading(options: dict[str, Any]) -> tuple[Any, Any]:
    """The tesela_layout_read_options for the arguments of `layout`, and what they point to."""
    how, keep = abi.tesela_layout_read_options(), []
    if options.get("notation"):
        how.notation = options["notation"].encode()
    how.flags = abi.TESELA_XLA_LENIENT
    if options.get("dtype"):
        how.dtype = NUMBERS[options["dtype"]]
    if options.get("shape") is not None:
        array, dims = abi.tesela_xla_shape(), options["shape"]
        if len(dims) > len(array.dim) or min(dims, default=0) < 0:
            raise LimitError(f"expected up to {len(array.dim)} extents of 0 or more, found {list(dims)}")
        array.dtype, array.rank = how.dtype, len(dims)
        array.dim[: len(dims)] = dims
        how.array = address(array)
        keep.append(array)
    if options.get("as_"):
        setattr(how, "as", options["as_"].encode())
    if options.get("definitions"):
        definitions = options["definitions"].encode("utf-8", "surrogateescape")
        how.definitions, how.definitions_length = definitions, len(definitions)
    if options.get("target"):
        target = read_target(options["target"])
        how.device.target = address(target)
        keep.append(target)
    return how, keep


@functools.lru_cache(64)
def read_target(text: str) -> Any:
    """A tesela_target: a built-in one by name, or the text of a target file."""
    found = lib.tesela_target_find(text.encode()) if "\n" not in text else None
    target = abi.tesela_target()
    if found:
        ctypes.memmove(address(target), found, ctypes.sizeof(target))
        return target
    err, raw = Error(), text.encode()
    if lib.tesela_target_read(byref(target), raw, len(raw), byref(err)):
        raise err.exception(text)
    return target


def target_text(target: str | os.PathLike[str]) -> str:
    """The name of a built-in target, or the text of a target file; given as it is, or as the path of the file."""
    name = os.fspath(target)
    if re.search(r"\s", name) or lib.tesela_target_find(name.encode()):
        return name
    if isinstance(target, str) and not os.path.exists(name):
        op("parse", text="f32[]", target=name)  # the error for an unknown name
    with open(name, encoding="utf-8") as file:
        return file.read()


@functools.lru_cache(512)
def _read(text: str, options: tuple[tuple[str, Any], ...]) -> Layout:
    return Layout(text, **dict(options))


def layout(
    text: Any, /, shape: Sequence[int] | None = None, dtype: Any = None, *, notation: str | None = None,
    target: str | os.PathLike[str] | None = None, as_: str | None = None, definitions: str | None = None,
) -> Layout:  # fmt: skip
    """Read a layout in any notation.

    ``shape`` and ``dtype`` are those of the array for texts without them (``{1,0:T(8,128)}``, ``Layout(...)`` of JAX), or the
    valid part of a larger text; ``notation`` demands one; ``target`` is the target of device layouts that name none: a name, the
    text of a target file, or its path. ``as_="tv:16x8"`` reads a CuTe layout as (thread, value) to the elements of a tile;
    ``definitions`` is text that defines names in the layout, as ``#blocked = #ttg.blocked<..>`` of a .ttgir file.

    >>> layout("f32[3,5]{1,0:T(2,2)}")
    layout('f32[3,5]{1,0:T(2,2)}')
    >>> layout("{1,0:T(8,128)}", (32, 256), "bfloat16").nbytes
    16384
    """
    if isinstance(text, Layout):
        return text
    if text is None or isinstance(text, (bytes, bytearray, list, dict, set, numbers.Number)):
        raise TypeError(f"expected the text of a layout, or what prints as one, found {type(text).__name__}")
    text = str(text)
    options: dict[str, Any] = {}
    if shape is not None:
        options["shape"] = tuple(operator.index(extent) for extent in shape)
    if dtype is not None or (shape is not None and re.match(r"\s*(\{|[\w.]*Layout\()", text)):
        options["dtype"] = element_type(dtype if dtype is not None else "f32")
    if as_:
        options["as_"] = as_
    if definitions:
        options["definitions"] = definitions
    if notation:
        options["notation"] = notation
    if target:
        options["target"] = target_text(target)
    return _read(text, tuple(options.items()))


def choose(
    shape: Layout | str, target: str = "tpu", *, alternative_16bit: bool = False, large_tile: bool = False,
    early_tpu: bool = False, argument: bool = False, order: bool = False,
) -> Layout:  # fmt: skip
    """The layout that a compiler would give an array: the operation `choose` of docs/query.md. Tiles in the text do not matter.

    >>> choose("bf16[20,200]")
    layout('bf16[20,200]{1,0:T(8,128)(2,1)}')
    >>> choose("f32[300,12]", "v5e", argument=True, order=True)
    layout('f32[300,12]{0,1:T(8,128)}')
    """
    found = op(
        "choose", shape=str(shape), target=target, alternative_16bit=alternative_16bit, large_tile=large_tile,
        early_tpu=early_tpu, argument=argument, order=order,
    )  # fmt: skip
    return layout(found["layout"])


def compare(a: Layout | str, b: Layout | str) -> Comparison:
    """Do two layouts put every element at the same place? Element types and padding after the elements do not count.

    >>> compare("f32[3,5]{1,0:T(2,2)}", "f32[3,5]{1,0}").first_difference
    Difference(index=(0, 2), a=4, b=2)
    """
    return layout(a).compare(layout(b))


def row_major(element: str, shape: tuple[int, ...], bits: int | None = None) -> Layout:
    """The row-major layout of an array, of the type's own width or another one.

    >>> row_major("s4", (2, 3), 4)
    layout('s4[2,3]{1,0:E(4)}')
    """
    order = ",".join(map(str, reversed(range(len(shape)))))
    braces = f"{{{order}{f':E({bits})' if bits else ''}}}" if shape or bits else ""
    return layout(f"{element}[{','.join(map(str, shape))}]{braces}")
