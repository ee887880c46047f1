# SPDX-License-Identifier: Apache-2.0
"""Arrays of other packages, borrowed without a copy: NumPy, torch, JAX, anything with DLPack or the buffer protocol."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import numpy as np

from . import _abi as abi
from ._errors import UnsupportedError
from ._library import Error, byref, lib
from ._types import NUMBERS, element_type


class Array(NamedTuple):
    """The memory of an array, as long as `keep` lives."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # in bytes
    type: str  # XLA's name
    itemsize: int
    readonly: bool
    swapped: bool  # its byte order is not this machine's
    keep: Any

    @property
    def contiguous(self) -> bool:
        """Row-major without gaps; dims of 1 do not count."""
        step = self.itemsize
        for extent, stride in zip(reversed(self.shape), reversed(self.strides)):
            if extent != 1 and stride != step and 0 not in self.shape:
                return False
            step *= extent
        return True

    @property
    def nbytes(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) * self.itemsize

    def relation(self, shape: tuple[int, ...] | None = None) -> tuple[Any, int]:
        """The array as a tesela_layout of one axis, and the address of its place 0."""
        relation, err = abi.tesela_layout(), Error()
        steps, offset, start = self.origin()
        rank = len(self.shape)
        if lib.tesela_layout_strided(
            byref(relation), NUMBERS[self.type], self.itemsize * 8, rank, (ctypes.c_int64 * rank)(*self.shape),
            (ctypes.c_int64 * rank)(*steps), offset, byref(err),
        ):  # fmt: skip
            raise err.exception()
        return relation, start

    def origin(self) -> tuple[list[int], int, int]:
        """Strides in elements, the place of element 0 (above 0 where strides are negative), and the address of place 0."""
        steps = [stride // self.itemsize for stride in self.strides]
        offset = sum(-step * (extent - 1) for step, extent in zip(steps, self.shape) if step < 0 and extent > 0)
        return steps, offset, self.address - offset * self.itemsize


def borrow(x: Any, *, writable: bool = False) -> Array:
    """The memory of an array. Only NumPy arrays whose strides are not whole elements are copied, never to be written."""
    if isinstance(x, np.ndarray):
        array = of_numpy(x, writable)
    elif type(x).__module__.partition(".")[0] == "torch" and hasattr(x, "data_ptr"):
        array = of_torch(x)
    elif hasattr(x, "__dlpack__"):
        array = of_dlpack(x)
    else:
        array = of_numpy(np.asarray(x), writable)
    if writable and array.readonly:
        raise ValueError("the array to write to is read-only")
    return array


def of_numpy(x: np.ndarray[Any, Any], writable: bool = False) -> Array:
    if x.dtype.hasobject or x.dtype.names or x.dtype.kind in "USMm":  # texts and times
        raise TypeError(f"expected an array of numbers, found dtype {x.dtype}")
    if any(stride % x.itemsize for stride in x.strides):
        if writable:
            raise UnsupportedError("the strides of the array to write to are not whole elements")
        x = np.ascontiguousarray(x)
    interface = x.__array_interface__
    swapped = not x.dtype.isnative
    return Array(
        interface["data"][0], x.shape, x.strides, element_type(x.dtype), x.itemsize, interface["data"][1], swapped, x
    )


def of_torch(x: Any) -> Array:
    if x.device.type != "cpu":
        raise UnsupportedError(f"the tensor is on {x.device}; expected one in host memory: x.cpu()")
    if str(x.layout) != "torch.strided":
        raise UnsupportedError(f"the tensor is {x.layout}; expected a strided one: x.to_dense()")
    x = x.detach().resolve_conj().resolve_neg()
    size = x.element_size()
    return Array(
        x.data_ptr(), tuple(x.shape), tuple(step * size for step in x.stride()), element_type(x.dtype), size, False,
        False, x,
    )  # fmt: skip


# ---- DLPack: dlpack.h of version 1.1


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]  # fmt: skip


class _DLManagedTensorVersioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", _DLTensor),
    ]  # fmt: skip


DL_CPU, DL_READ_ONLY = 1, 1
DL_INT, DL_UINT, DL_FLOAT, DL_BFLOAT, DL_COMPLEX, DL_BOOL = 0, 1, 2, 4, 5, 6
DL_FLOATS = {
    7: "f8e3m4", 8: "f8e4m3", 9: "f8e4m3b11fnuz", 10: "f8e4m3fn", 11: "f8e4m3fnuz", 12: "f8e5m2", 13: "f8e5m2fnuz",
    14: "f8e8m0fnu", 15: "f6e2m3fn", 16: "f6e3m2fn", 17: "f4e2m1fn",
}  # fmt: skip

_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_capsule_name = ctypes.pythonapi.PyCapsule_GetName
_capsule_name.restype, _capsule_name.argtypes = ctypes.c_char_p, [ctypes.py_object]


def of_dlpack(x: Any) -> Array:
    """Reads the tensor and keeps the capsule, whose own destructor gives the tensor back."""
    if x.__dlpack_device__()[0] != DL_CPU:
        raise UnsupportedError(f"the array is on device {tuple(x.__dlpack_device__())}; expected one in host memory")
    try:
        capsule = x.__dlpack__(max_version=(1, 1))
    except TypeError:
        capsule = x.__dlpack__()
    name = _capsule_name(capsule)
    pointer = _capsule_pointer(capsule, name)
    readonly = False
    if name == b"dltensor_versioned":
        managed = _DLManagedTensorVersioned.from_address(pointer)
        if managed.major != 1:
            raise UnsupportedError(f"expected DLPack version 1, found {managed.major}.{managed.minor}")
        tensor, readonly = managed.tensor, bool(managed.flags & DL_READ_ONLY)
    else:
        tensor = _DLTensor.from_address(pointer)
    shape = tuple(tensor.shape[: tensor.ndim]) if tensor.ndim else ()
    size = max(1, tensor.bits // 8)
    if tensor.strides:
        strides = tuple(step * size for step in tensor.strides[: tensor.ndim])
    else:
        strides = tuple(np.cumprod([size, *reversed(shape)])[:-1][::-1].tolist())
    # JAX says that its arrays may be written; they may not.
    readonly = readonly or type(x).__module__.partition(".")[0] in ("jax", "jaxlib")
    return Array((tensor.data or 0) + tensor.byte_offset, shape, strides, _dl_type(tensor), size, readonly, False, (x, capsule))


def _dl_type(tensor: _DLTensor) -> str:
    if tensor.lanes == 1:
        letter = {DL_INT: "s", DL_UINT: "u", DL_FLOAT: "f", DL_COMPLEX: "c"}.get(tensor.code)
        if tensor.code == DL_BOOL and tensor.bits == 8:
            return "pred"
        if tensor.code == DL_BFLOAT and tensor.bits == 16:
            return "bf16"
        if tensor.code in DL_FLOATS and tensor.bits == 8:
            return DL_FLOATS[tensor.code]
        if letter and f"{letter}{tensor.bits}" in NUMBERS and tensor.bits >= 8:
            return f"{letter}{tensor.bits}"
    raise UnsupportedError(f"unknown DLPack type: code {tensor.code}, {tensor.bits} bits, {tensor.lanes} lanes")
