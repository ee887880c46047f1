# SPDX-License-Identifier: Apache-2.0
"""Device layouts: memory in sticks, its device dims, transfers as loop nests, views."""

from __future__ import annotations

import ctypes
import operator
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from . import _abi as abi
from ._arrays import Array
from ._errors import MismatchError, RangeError, UnsupportedError
from ._layout import Layout, layout, target_text
from ._library import Error, Progress, Stop, address, byref, lib, printed
from ._ops import op
from ._results import Result
from ._types import NUMBERS, element_type


class DeviceDim(NamedTuple):
    """A device dim: its digit counts ``step`` elements along host dim ``dim`` (-1 synthetic, -2 replicated)."""

    dim: int
    step: int
    extent: int
    stride: int


class DeviceLayout(Layout, kinds=("device",)):
    """Where the elements of a tensor lie in the memory of a device that reads sticks. `device_layout` makes it, `layout` reads it.

    >>> D = device_layout((1000, 200), "f16", dim_order=[0, 1], target="spyre")
    >>> D.device_size, D.device_strides, D.stride_map, D.dim_map, D.nbytes
    ((4, 1000, 64), (64000, 64, 1), (64, 200, 1), (1, 0, 1), 512000)
    >>> D.where(2, 70)
    64134
    """

    __slots__ = ()

    def _canonical(self) -> str:
        return printed(lib.tesela_any_print, byref(self._any))

    @property
    def _device(self) -> Any:
        return self._any.device

    @property
    def element_type(self) -> str | None:
        """The type on the host, as XLA names it."""
        return abi.DTYPE.get(self._device.host.dtype)

    @property
    def device_type(self) -> str | None:
        """The type on the device: bf16 is f16 on spyre."""
        return abi.DTYPE.get(self._device.host.device_dtype)

    @property
    def dims(self) -> tuple[DeviceDim, ...]:
        """The device dims, outermost first."""
        return tuple(
            DeviceDim(one.dim, one.step, one.extent, one.stride) for one in self._device.dim[: self._device.n_dims]
        )

    @property
    def device_size(self) -> tuple[int, ...]:
        """Extents of the device dims, outermost first."""
        return tuple(one.extent for one in self.dims)

    @property
    def device_strides(self) -> tuple[int, ...]:
        """Their strides, in elements."""
        return tuple(one.stride for one in self.dims)

    @property
    def dim_map(self) -> tuple[int, ...]:
        """The host dim of each: -1 synthetic, -2 replicated."""
        return tuple(one.dim for one in self.dims)

    @property
    def stride_map(self) -> tuple[int | None, ...]:
        """Host elements per digit of each, of a row-major host: -1 synthetic or a host dim of 1, 0 replicated, None beyond 64 bits."""
        return tuple(self.info()["stride_map"])

    @property
    def lanes(self) -> int:
        """Elements of a stick."""
        return int(self._device.lanes)

    @property
    def stick_dims(self) -> int:
        """How many of the last device dims form a stick."""
        return int(self._device.stick_dims)

    @property
    def stick_bytes(self) -> int:
        """Bytes of a stick."""
        return int(self._device.host.stick_bytes)

    @property
    def physical_shape(self) -> tuple[int, ...]:
        """device_size; the places in one dim if the device strides leave gaps."""
        step, size = 1, self.device_size
        for extent, stride in zip(reversed(size), reversed(self.device_strides)):
            if extent != 1 and stride != step:
                return (self.places,)
            step *= extent
        return size if step == self.places else (self.places,)

    def _explicit(self, device: Any) -> str:
        """A text for the dims of a tesela_device_layout that says all, so that it reads the same whatever the target."""
        dims = device.dim[: device.n_dims]
        words = [
            f"dims=[{','.join(f'({one.dim},{one.step},{one.extent})' for one in dims)}]",
            f"stick_dims={device.stick_dims}", f"stick={device.host.stick_bytes}", f"device_bits={device.host.device_bits}",
        ]  # fmt: skip
        if all(one.extent for one in dims):  # an empty layout has no strides
            words.insert(1, f"device_strides={_list([one.stride for one in dims])}")
        if self.device_type is not None:
            words.append(f"device_dtype={self.device_type}")
        if device.format == abi.TESELA_STICKS_PAIR:
            words.append("format=SparseMulti")
        return f"{self.text.partition(' ')[0]} stick({', '.join(words)})"

    @property
    def _asked(self) -> dict[str, Any]:
        """Fields of an operation: this layout, and the target, whose limits and orders count."""
        return {"layout": self._explicit(self._device), "target": self._options.get("target")}

    def __repr__(self) -> str:
        if not self._options.get("target"):
            return f"layout({self.text!r})"
        options = "".join(f", {name}={value!r}" for name, value in self._options.items() if name != "notation")
        return f"layout({self._text!r}{options})"

    # ---- transfers and views

    def dma(
        self, direction: str = "to_device", *, strides: Sequence[int] | None = None, offset: int = 0,
        form: str | None = None, innermost_first: bool = False, padding: bool = False,
        box: tuple[Sequence[int], Sequence[int]] | None = None, limits: Mapping[str, int] | None = None,
    ) -> Result:  # fmt: skip
        """A transfer between host and device as few loop nests: the operation `dma` of docs/query.md.

        ``strides`` and ``offset`` are the host tensor's, in elements (row-major if left out). ``form`` "plain" has one loop per
        device dim; ``box``, a start and a size, is a part of the tensor; ``limits`` are those of the engine (``max_dims``,
        ``max_extent``, ``alignment``, ``min_burst``, ``max_burst``, ``max_nests``), else those of the target.

        >>> d = device_layout((1000, 200), "f16").dma()
        >>> d.count, d.bound, d.nests[1].ranges
        (2, 2, (1000, 8))
        """
        return Result(
            op(
                "dma", host=self._host(strides, offset), direction=direction, form=form,
                innermost_first=innermost_first, padding=padding,
                box={"start": box[0], "size": box[1]} if box is not None else None, limits=limits, **self._asked,
            )  # fmt: skip
        )

    def nests(self, direction: str = "to_device", **options: Any) -> tuple[Result, ...]:
        """The loop nests of `dma`: each has ranges, device_strides, host_strides, device_offset and host_offset.

        >>> [n.ranges for n in device_layout((1000, 200), "f16").nests()]
        [(3, 1000, 64), (1000, 8)]
        """
        nests: tuple[Result, ...] = self.dma(direction, **options).nests
        return nests

    def _host(self, strides: Sequence[int] | None, offset: int) -> dict[str, Any] | None:
        if strides is None and not offset:
            return None
        return {"offset": offset} if strides is None else {"strides": strides, "offset": offset}

    def view(
        self, size: Sequence[int], strides: Sequence[int] | None = None, offset: int = 0, *,
        host_strides: Sequence[int] | None = None, host_offset: int = 0,
    ) -> Result:  # fmt: skip
        """Where a strided view of the host tensor lies on the device: the operation `view` of docs/query.md.

        >>> v = device_layout((6, 192), "f16").view((6, 64), (192, 1), 40)
        >>> v.first_offsets[:3], v.lane, v.lane_offset
        ((40, 41, 42), 'offset', 40)
        """
        base = {
            "size": self.shape, "strides": host_strides, "offset": host_offset, "stick_dims": self.stick_dims,
            "dims": [one[:3] for one in self.dims], "device_strides": self.device_strides,
        }  # fmt: skip
        view = {"size": size, "strides": strides, "offset": offset}
        # Only lanes count here, whatever the width of an element: sticks of that many bytes, elements of one.
        return Result(op("view", base=_given(base), view=_given(view), elem_bytes=1, stick_bytes=self.lanes))

    def restickify(self, dim: int) -> DeviceLayout:
        """The same kind of layout with host dim ``dim`` in the sticks.

        >>> device_layout((300, 128), "f16").restickify(0).device_size
        (5, 128, 64)
        """
        made, err = abi.tesela_device_layout(), Error()
        if lib.tesela_device_restick(byref(made), byref(self._device), operator.index(dim), byref(err)):
            raise err.exception()
        found = layout(self._explicit(made), target=self._options.get("target"))
        assert isinstance(found, DeviceLayout)
        return found

    # ---- data, for TiledArray

    def _transfer(
        self, to_device: bool, host: Array, places: int, *, fill: Any = 0, threads: int | None = None,
        progress: Progress | None = None,
    ) -> None:  # fmt: skip
        """Copy between a host array and the places; the types are converted. Integers that do not fit stop it."""
        made, err, transfer = abi.tesela_device_layout(), Error(), ctypes.c_void_p()
        ctypes.memmove(address(made), address(self._device), ctypes.sizeof(made))
        made.host.dtype, made.host.bits = NUMBERS[host.type], host.itemsize * 8
        strides, offset, start = host.origin()
        options = abi.tesela_transfer_options(threads=threads or 0)
        options.pad, options.value = _pad(fill)
        make = lib.tesela_transfer_to_device if to_device else lib.tesela_transfer_to_host
        if make(byref(transfer), byref(made), (ctypes.c_int64 * 32)(*strides), offset, byref(options), byref(err)):
            raise err.exception()
        try:
            stop = Stop(progress)
            run = abi.tesela_run_options(progress=stop.pointer)
            sides = (places, start) if to_device else (start, places)
            stop.check(lib.tesela_transfer_run(transfer, *sides, byref(run), byref(err)), err)
        finally:
            lib.tesela_transfer_destroy(transfer)


def _pad(fill: Any) -> tuple[int, float]:
    """pad and value of a tesela_transfer_options."""
    if fill is None:
        return abi.TESELA_PAD_LEAVE, 0.0
    value = float(fill)
    if isinstance(fill, int) and int(value) != fill:
        raise RangeError(f"fill is {fill}; expected a number that a float64 has exactly")
    return (abi.TESELA_PAD_VALUE, value) if value != 0 else (abi.TESELA_PAD_ZERO, 0.0)


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _list(values: Sequence[Any]) -> str:
    return f"[{','.join(str(operator.index(one)) for one in values)}]"


def device_layout(
    shape: Sequence[int], dtype: Any, *, dim_order: Sequence[int] | None = None, order: str | None = None,
    stick: int | None = None, pad_to: Mapping[int, int] | None = None, dims: Sequence[Sequence[int]] | None = None,
    stick_dims: int | None = None, device_size: Sequence[int] | None = None, stride_map: Sequence[int] | None = None,
    device_strides: Sequence[int] | None = None, device_dtype: Any = None, device_bits: int | None = None,
    target: str | os.PathLike[str] | None = None,
) -> DeviceLayout:  # fmt: skip
    """A device layout for an array of a shape and type.

    ``dim_order`` lists the dims, the one in sticks last (-1 after all of them: one element per stick); ``order`` says where blocks
    go; instead ``dims`` lists device dims (host dim, step, extent), or ``device_size`` and ``stride_map`` say them. ``target`` is a
    name, the text of a target file, or the path of one. docs/device.md explains all of them.

    >>> device_layout((1000, 200), "f16", dim_order=[0, 1])
    layout('f16[1000,200] stick(dim_order=[0,1])')
    >>> device_layout((1000, 200), "f16", dims=[(1, 64, 4), (0, 1, 1000), (1, 1, 64)]).nbytes
    512000
    """
    if dtype is None:
        raise TypeError("expected a dtype")
    lists = {
        "dim_order": dim_order, "device_size": device_size, "stride_map": stride_map, "device_strides": device_strides,
    }  # fmt: skip
    numbers = {"stick": stick, "stick_dims": stick_dims, "device_bits": device_bits}
    words = [f"{name}={_list(values)}" for name, values in lists.items() if values is not None]
    words += [f"{name}={operator.index(value)}" for name, value in numbers.items() if value is not None]
    if dims is not None:
        words.append(f"dims=[{','.join('(' + _list(one[:3])[1:-1] + ')' for one in dims)}]")
    if pad_to is not None:
        words.append(f"pad_to={{{','.join(f'{operator.index(k)}:{operator.index(n)}' for k, n in pad_to.items())}}}")
    if order is not None:
        if not order.isidentifier():
            raise ValueError(f"unknown order {order!r}")
        words.append(f"order={order}")
    if device_dtype is not None:
        words.append(f"device_dtype={element_type(device_dtype)}")
    text = f"{element_type(dtype)}{_list(shape)} stick({', '.join(words)})"
    found = layout(text, notation="device", target=target_text(target) if target is not None else None)
    assert isinstance(found, DeviceLayout)
    return found


def check_type(array: Array, given: Layout, name: str) -> None:
    """The type of a host array must be the one the layout is for."""
    if given.element_type not in (None, array.type):
        raise MismatchError(f"{name} is {array.type}; expected {given.element_type} for {given}")
    if array.swapped:
        raise UnsupportedError(f"{name} is not in the byte order of this machine")
