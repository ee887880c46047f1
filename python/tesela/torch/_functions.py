# SPDX-License-Identifier: Apache-2.0
"""Functions of torch that read memory themselves: they get the elements on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ._places import words
from ._tiled import TiledTensor, to_host, to_with_layout


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


def _set_data(t: Any, other: Any) -> None:
    """t.data = other: torch exchanges sizes and strides only; the places go with them."""
    if not isinstance(other, TiledTensor) or not isinstance(t, TiledTensor):
        raise TypeError("expected a TiledTensor on both sides of t.data = other; use to_with_layout or to_host")
    with torch._C.DisableTorchFunctionSubclass():
        t.data = other
    t.buffer, t.device_layout, t._note = other.buffer, other.device_layout, other._note


def _new_tensor(t: Any, data: Any, *, dtype: Any = None, requires_grad: bool = False, **options: Any) -> Any:
    host = torch.tensor(data, dtype=dtype or t.dtype, **options)
    return to_with_layout(host, target=words(t.device_layout).target or "spyre").requires_grad_(requires_grad)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    torch.Tensor.numpy: _numpy, torch.Tensor.tolist: _tolist, torch.Tensor.__array__: _array,
    torch.Tensor.data_ptr: _pointer, torch.Tensor.new_tensor: _new_tensor, torch.Tensor.__dlpack__: _dlpack,
    torch.Tensor.data.__set__: _set_data,  # type: ignore[attr-defined]
}  # fmt: skip
