# SPDX-License-Identifier: Apache-2.0
"""Functions of torch that read memory themselves: they get the elements on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ._tiled import to_host


def _numpy(t: Any, *, force: bool = False) -> Any:
    return to_host(t.detach() if force else t).numpy()


def _tolist(t: Any) -> Any:
    return to_host(t.detach()).tolist()


def _array(t: Any, dtype: Any = None) -> Any:
    array = to_host(t).numpy()
    return array if dtype is None else array.astype(dtype, copy=False)


def _pointer(t: Any) -> int:
    found: int = t.buffer.data_ptr()
    return found


def _dlpack(t: Any, **options: Any) -> Any:
    return to_host(t).__dlpack__(**options)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    torch.Tensor.numpy: _numpy, torch.Tensor.tolist: _tolist, torch.Tensor.__array__: _array,
    torch.Tensor.data_ptr: _pointer, torch.Tensor.__dlpack__: _dlpack,
}  # fmt: skip
