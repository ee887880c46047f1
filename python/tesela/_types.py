# SPDX-License-Identifier: Apache-2.0
"""Element types: every spelling -> XLA's name, XLA's name -> a NumPy dtype."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np

from . import _abi as abi
from ._library import Error, byref, lib

NUMBERS = {name: number for number, name in abi.DTYPE.items()}

NUMPY = {
    "pred": "bool", "s8": "int8", "s16": "int16", "s32": "int32", "s64": "int64", "u8": "uint8", "u16": "uint16",
    "u32": "uint32", "u64": "uint64", "f16": "float16", "f32": "float32", "f64": "float64", "c64": "complex64",
    "c128": "complex128",
}  # fmt: skip

ML_DTYPES = {
    "bf16": "bfloat16", "s4": "int4", "u4": "uint4", "s2": "int2", "u2": "uint2", "s1": "int1", "u1": "uint1",
    "f8e5m2": "float8_e5m2", "f8e4m3": "float8_e4m3", "f8e4m3fn": "float8_e4m3fn",
    "f8e4m3b11fnuz": "float8_e4m3b11fnuz", "f8e5m2fnuz": "float8_e5m2fnuz", "f8e4m3fnuz": "float8_e4m3fnuz",
    "f8e3m4": "float8_e3m4", "f8e8m0fnu": "float8_e8m0fnu", "f4e2m1fn": "float4_e2m1fn",
    "f6e2m3fn": "float6_e2m3fn", "f6e3m2fn": "float6_e3m2fn",
}  # fmt: skip


def element_type(dtype: Any) -> str:
    """XLA's name of a type: of NumPy, ml_dtypes, torch, JAX, or a name in any spelling.

    >>> element_type("torch.bfloat16"), element_type(np.float32), element_type(np.dtype("<i8"))
    ('bf16', 'f32', 's64')
    """
    if isinstance(dtype, np.dtype):
        return _of_dtype(dtype)
    if isinstance(dtype, str):
        return _read(dtype)
    return _read(str(dtype) if type(dtype).__module__ == "torch" else np.dtype(dtype).name)


@functools.lru_cache(256)
def _of_dtype(dtype: np.dtype[Any]) -> str:
    return _read(dtype.name)


@functools.lru_cache(256)
def _read(text: str) -> str:
    number, err, raw = ctypes.c_int(), Error(), text.encode()
    if lib.tesela_dtype_read(raw, len(raw), byref(number), byref(err)):
        raise err.exception(text)
    return abi.DTYPE[number.value]


def numpy_dtype(name: str) -> np.dtype[Any]:
    """The NumPy dtype of an XLA type.

    >>> numpy_dtype("f32")
    dtype('float32')
    """
    if name in NUMPY:
        return np.dtype(NUMPY[name])
    if name not in ML_DTYPES:
        raise TypeError(f"NumPy has no type for {name}")
    import ml_dtypes

    scalar = getattr(ml_dtypes, ML_DTYPES[name], None)
    if scalar is None:
        raise TypeError(f"{name} needs a later ml_dtypes than {ml_dtypes.__version__}")
    found: np.dtype[Any] = np.dtype(scalar)
    return found
