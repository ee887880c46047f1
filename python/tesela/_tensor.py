# SPDX-License-Identifier: Apache-2.0
"""Tensors in a layout: plans, relayout, and arrays that know how they lie."""

from __future__ import annotations

import ctypes
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _abi as abi
from ._arrays import Array, borrow
from ._device import DeviceLayout, check_type
from ._errors import MismatchError, UnsupportedError
from ._layout import Layout, layout
from ._library import Error, Progress, Stop, address, byref, lib, printed
from ._types import numpy_dtype

SMALL = 1 << 20  # bytes that are copied too fast for Ctrl-C to matter

TRANSFORMS = {"none": 0, "swap": 1, "convert": 2, "split": 3, "merge": 4}


def places_of(shape: Layout) -> NDArray[Any]:
    """Memory for all places of a layout: elements of its type where they are whole bytes as NumPy has them, else bytes. A copy fills
    it, except for gaps between strides, which relations may have; these are zeros."""
    make = np.zeros if shape.kind == "relation" else np.empty
    if shape.device_type is not None:
        try:
            dtype = numpy_dtype(shape.device_type)
        except TypeError:
            return make(shape.nbytes, np.uint8)
        if dtype.itemsize * 8 == shape.bits:
            return make(shape.physical_shape, dtype)
    return make(shape.nbytes, np.uint8)


class Plan:
    """How to copy a tensor from one layout to another; made by `plan`, run by calling it. Any thread may."""

    def __init__(
        self, src: Any, dst: Any, *, fill: Any = 0, transform: str | None = None, threads: int | None = None,
        relations: tuple[Any, Any] | None = None, words: str = "",
    ) -> None:  # fmt: skip
        self.src, self.dst = src, dst
        a, b = relations or (src._relation, dst._relation)
        self._words = words or f"{src} -> {dst}"
        options, err = abi.tesela_plan_options(), Error()
        if threads is not None:
            options.threads = threads
        if transform is not None:
            if transform not in TRANSFORMS:
                raise ValueError(f"unknown transform {transform!r}; expected one of {', '.join(TRANSFORMS)}")
            options.transform = TRANSFORMS[transform]
        elif a.dtype == b.dtype and a.bits != b.bits:
            options.transform = TRANSFORMS["convert"]  # the same numbers in another width
        _set_fill(options, fill, b)
        plan = ctypes.c_void_p()
        if lib.tesela_plan_create(byref(plan), address(b), address(a), byref(options), byref(err)):
            raise err.exception()
        self._plan = plan.value
        self._free = weakref.finalize(self, lib.tesela_plan_destroy, plan.value)
        info = abi.tesela_plan_info()
        lib.tesela_plan_describe(self._plan, byref(info))
        self._src_bytes, self._dst_bytes = (side.nbytes if side is not None else 0 for side in (src, dst))
        self._bytes = info.bytes_read + info.bytes_written

    def __call__(self, src: Any, out: Any = None, *, progress: Progress | None = None) -> Any:
        """Copy all places of `src` to `out`, or to new memory, and return that.

        Both are contiguous arrays with as many bytes as their layout. The GIL is released; Ctrl-C stops the copy, and `out` is
        then partly written.
        """
        if out is None:
            out = places_of(self.dst)
        self._run(
            _all_places(out, "out", self.dst, self._dst_bytes, True),
            _all_places(src, "src", self.src, self._src_bytes, False),
            progress,
        )
        return out

    def _run(self, dst: int, src: int, progress: Progress | None = None) -> None:
        err = Error()
        if progress is None and self._bytes < SMALL:
            if lib.tesela_plan_run(self._plan, dst, src, None, byref(err)):
                raise err.exception()
            return
        stop = Stop(progress)
        options = abi.tesela_run_options(progress=stop.pointer)
        stop.check(lib.tesela_plan_run(self._plan, dst, src, byref(options), byref(err)), err)

    def explain(self) -> str:
        """The plan in full: its loops, its pieces, and the answer of every solver."""
        return printed(lib.tesela_plan_explain, self._plan)

    @property
    def info(self) -> dict[str, Any]:
        """Bytes read and written, threads, pieces, whether it works in place."""
        facts = abi.tesela_plan_info()
        lib.tesela_plan_describe(self._plan, byref(facts))
        names = ("dst_bytes", "src_bytes", "bytes_read", "bytes_written", "threads", "n_pieces", "n_fills", "in_place")
        return {name: getattr(facts, name) for name in names}

    def __str__(self) -> str:
        return printed(lib.tesela_plan_print, self._plan)

    def __repr__(self) -> str:
        return f"<plan {self._words}: {self}>"

    def __reduce__(self) -> Any:
        raise TypeError("a plan is made for this machine; pickle its layouts and plan again")


def _all_places(x: Any, name: str, shape: Layout, nbytes: int, writable: bool) -> int:
    """The address of an array that must hold all places of a layout."""
    if type(x) is np.ndarray and x.nbytes == nbytes:  # the usual case, in less than a microsecond
        flags, dtype = x.flags, x.dtype
        if flags.c_contiguous and (flags.writeable or not writable) and dtype.isnative and not dtype.hasobject:
            if flags.writeable and nbytes > 0 and dtype.isbuiltin == 1:  # a third of the time
                return address(ctypes.c_char.from_buffer(x.data))
            return int(x.__array_interface__["data"][0])
    array = borrow(x, writable=writable)
    if not array.contiguous:
        raise MismatchError(f"{name} is not contiguous; expected all places of {shape}, one after the other")
    if array.nbytes != nbytes:
        raise MismatchError(f"{name} has {array.nbytes} bytes; expected {nbytes}, the places of {shape}")
    if array.swapped:
        raise UnsupportedError(f"{name} is not in the byte order of this machine; use x.astype(x.dtype.newbyteorder('='))")
    return array.address


def _set_fill(options: Any, fill: Any, relation: Any) -> None:
    """0: zeros, None: padding is not written, else a number of the type of `relation`."""
    if fill is None:
        options.fill = abi.TESELA_FILL_LEAVE
    elif fill != 0 or isinstance(fill, str):
        text, err, value = str(fill).encode(), Error(), (ctypes.c_uint8 * 16)()
        if lib.tesela_element_read(text, len(text), relation.dtype, relation.bits, value, byref(err)):
            raise err.exception(str(fill), field="fill")
        options.fill, options.fill_value = abi.TESELA_FILL_VALUE, value


def _sides(src: Layout | str, dst: Layout | str) -> tuple[Layout, Layout]:
    """Both layouts; of one in braces alone the array is that of the other."""
    src = layout(src)
    return src, layout_for(dst, src.shape, src.element_type) if src.element_type else layout(dst)


def layout_for(text: Layout | str, shape: tuple[int, ...], element: str) -> Layout:
    """A layout; type and dims that its text lacks are those of an array of this shape and type."""
    if isinstance(text, Layout):
        return text
    found = layout(text, shape, element)
    if found.element_type is not None or found._axes != 1 or found.bits != 8:
        return found
    text = str(found.translate("map").text)  # a tile, which has no type
    return layout(text.replace(") ->", f") of {element} ->", 1))


def plan(
    src: Layout | str, dst: Layout | str, *, fill: Any = 0, transform: str | None = None, threads: int | None = None
) -> Plan:
    """Plan a copy of all elements from one layout to another.

    ``dst`` in braces alone (``{1,0:T(8,128)}``) takes type and dims from ``src``. ``fill`` goes into padding: a number, or None to
    leave it. ``transform`` is "convert" (to another type), "swap", "split" or "merge". ``threads``: at most so many.

    >>> p = plan("f32[3,5]", "{1,0:T(2,2)}")
    >>> p(np.arange(15, dtype=np.float32)).nbytes
    96
    """
    return Plan(*_sides(src, dst), fill=fill, transform=transform, threads=threads)


def relayout(
    src: Any, src_layout: Layout | str, dst_layout: Layout | str, out: Any = None, threads: int | None = None,
    progress: Progress | None = None, *, fill: Any = 0, transform: str | None = None,
) -> Any:  # fmt: skip
    """Copy a tensor to another layout: `plan` and its run in one call.

    ``src`` has the places of ``src_layout``, padding included; the result, or ``out``, those of ``dst_layout``.

    >>> relayout(np.arange(6, dtype=np.int32), "s32[2,3]", "{0,1}").tolist()
    [0, 3, 1, 4, 2, 5]
    """
    return plan(src_layout, dst_layout, fill=fill, transform=transform, threads=threads)(src, out, progress=progress)


def _strided(shape: Layout) -> tuple[int, tuple[int, ...]] | None:
    """Offset and strides in elements, or None where no strides give the places."""
    strides, offset = (ctypes.c_int64 * len(shape.shape))(), ctypes.c_int64()
    if lib.tesela_layout_to_strided(shape._at, strides, byref(offset), None):
        return None
    return offset.value, tuple(strides)


class TiledArray:
    """An array in a layout: its places, and the logical values that they hold.

    >>> T = pack(np.arange(15, dtype=np.float32).reshape(3, 5), "{1,0:T(2,2)}")
    >>> T.shape, T[2, 3], T.nbytes
    ((3, 5), np.float32(13.0), 96)
    """

    __slots__ = ("__weakref__", "layout", "physical")

    layout: Layout
    """How it lies."""
    physical: NDArray[Any]
    """The places themselves, padding included, in one dim; of a device layout in the device's shape. Not a copy."""

    def __init__(self, physical: Any, layout_of: Layout | str) -> None:
        self.layout = layout(layout_of)
        if self.layout._axes != 1:
            raise UnsupportedError(f"{self.layout} has {self.layout._axes} axes; expected a layout in memory")
        if self.layout.element_type is None:
            raise UnsupportedError(f"{self.layout} has no element type; expected one such as f32[8,64]{{1,0}}")
        array = physical if isinstance(physical, np.ndarray) else np.asarray(physical)
        if array.nbytes != self.layout.nbytes or not array.flags.c_contiguous:
            raise MismatchError(
                f"found {array.nbytes} bytes of shape {array.shape}; expected the {self.layout.nbytes} contiguous bytes of {self.layout}"
            )
        if isinstance(self.layout, DeviceLayout) and array.size == self.layout.places:
            array = array.reshape(self.layout.physical_shape)
        self.physical = array

    @property
    def shape(self) -> tuple[int, ...]:
        return self.layout.shape

    @property
    def _address(self) -> int:
        return int(self.physical.__array_interface__["data"][0])

    @property
    def ndim(self) -> int:
        return len(self.layout.shape)

    @property
    def size(self) -> int:
        return self.layout.size

    @property
    def dtype(self) -> np.dtype[Any]:
        assert self.layout.element_type is not None
        return numpy_dtype(self.layout.element_type)

    @property
    def nbytes(self) -> int:
        """Bytes of all places."""
        return self.layout.nbytes

    def unpack(self, out: Any = None, *, threads: int | None = None, progress: Progress | None = None) -> Any:
        """The logical values, in `out` (any writable array of this shape and type) or in a new NumPy array."""
        if out is None:
            out = np.empty(self.shape, self.dtype)
        array = borrow(out, writable=True)
        _same_array(array, self.layout, "out")
        if isinstance(self.layout, DeviceLayout):
            check_type(array, self.layout, "out")
            self.layout._transfer(False, array, self._address, threads=threads, progress=progress)
            return out
        relation, start = array.relation()
        Plan(
            self.layout, None, threads=threads, fill=None, relations=(self.layout._relation, relation), words="unpack"
        )._run(start, self.physical.__array_interface__["data"][0], progress)
        return out

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is not True:
            strided = _strided(self.layout) if self.physical.dtype == self.dtype else None
            if strided is not None and (dtype is None or np.dtype(dtype) == self.dtype):
                offset, strides = strided
                base = self.physical.reshape(-1)[offset:]
                return np.lib.stride_tricks.as_strided(base, self.shape, [step * base.itemsize for step in strides])
            if copy is False:
                why = f"{self.layout} is not a strided array" if strided is None else f"from {self.dtype} to {dtype}"
                raise ValueError(f"a copy is needed: {why}")
        array: NDArray[Any] = self.unpack()
        return array if dtype is None else array.astype(dtype, copy=False)

    def __getitem__(self, key: Any) -> Any:
        index = key if isinstance(key, tuple) else (key,)
        if len(index) == self.ndim and all(isinstance(one, (int, np.integer)) for one in index):
            if self.physical.dtype == self.dtype:
                index = tuple(int(one) + extent if one < 0 else int(one) for one, extent in zip(index, self.shape))
                place = self.layout.where(*index)
                return self.physical.reshape(-1)[place if isinstance(place, int) else place[0]]
        return np.asarray(self)[key]

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a scalar")
        return self.shape[0]

    def to(self, other: Layout | str, *, threads: int | None = None, progress: Progress | None = None) -> TiledArray:
        """The same values in another layout."""
        src, dst = _sides(self.layout, other)
        if src._relation.dtype != dst._relation.dtype and src.element_type == dst.element_type:
            return pack(self, dst, threads=threads, progress=progress)  # a device stores it in another type
        return TiledArray(Plan(src, dst, threads=threads)(self.physical, progress=progress), dst)

    def __eq__(self, other: object) -> Any:
        return np.asarray(self) == (np.asarray(other) if isinstance(other, TiledArray) else other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"TiledArray({self.layout!s}, {self.nbytes} bytes)"

    def __reduce__(self) -> Any:
        return TiledArray, (self.physical, self.layout)


def _same_array(array: Array, shape: Layout, name: str) -> None:
    if array.shape != shape.shape:
        raise MismatchError(f"{name} has shape {array.shape}; expected {shape.shape}, that of {shape}")


def pack(
    x: Any, to: Layout | str, *, fill: Any = 0, convert: bool = False, threads: int | None = None,
    progress: Progress | None = None,
) -> TiledArray:  # fmt: skip
    """Copy an array into a layout: one pass, whatever the strides of ``x``, which may be of any package.

    A layout in braces alone takes shape and type from ``x``. ``fill`` goes into padding. With ``convert`` the numbers are
    converted to the type of the layout.

    >>> pack(np.ones((3, 5), np.float32), "{1,0:T(2,2)}")
    TiledArray(f32[3,5]{1,0:T(2,2)}, 96 bytes)
    """
    array = borrow(x)
    shape = layout_for(to, array.shape, array.type)
    _same_array(array, shape, "the array")
    if shape.element_type not in (None, array.type) and not convert:
        raise MismatchError(f"the array is {array.type}; expected {shape.element_type} for {shape}, or convert=True")
    if array.swapped:
        array = borrow(array.keep.astype(array.keep.dtype.newbyteorder("=")))
    relation, start = array.relation()
    packed = TiledArray(places_of(shape), shape)
    if isinstance(shape, DeviceLayout):
        shape._transfer(True, array, packed._address, fill=fill, threads=threads, progress=progress)
        return packed
    Plan(
        None, shape, fill=fill, threads=threads, transform="convert" if convert else None,
        relations=(relation, shape._relation), words=f"pack {shape}",
    )._run(packed._address, start, progress)  # fmt: skip
    return packed
