# SPDX-License-Identifier: Apache-2.0
"""Views: another size, strides and offset over the same buffer; nothing moves."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import _disable_current_modes, return_and_correct_aliasing

from ._frames import as_whole
from ._places import View
from ._tiled import TiledTensor

aten = torch.ops.aten
NOT_STRIDED = ("view.dtype", "view_as_real", "view_as_complex", "_conj", "_neg_view", "_reshape_alias_copy")
"""Views of bits rather than of elements: the device stores another type, so they are copies."""


def is_view(func: Any) -> bool:
    """Does the schema say that the result shares memory with an operand that it does not write?"""
    if func is aten._unsafe_view.default:  # of a tensor that nobody else has
        return True
    returns = func._schema.returns
    return bool(returns) and all(one.alias_info is not None and not one.alias_info.is_write for one in returns)


IN_PLACE = ("squeeze_", "unsqueeze_", "t_", "transpose_", "swapaxes_", "swapdims_")


def changes_view(func: Any) -> bool:
    """Does it give the tensor itself other dims over the same memory?"""
    return torch.Tag.inplace_view in func.tags and func.name().partition("::")[2].partition(".")[0] in IN_PLACE


def change_view(func: Any, args: Any, kwargs: Any) -> Any:
    with no_dispatch():
        func(*args, **kwargs)
    return args[0]


def view(func: Any, args: Any, kwargs: Any) -> Any:
    """The result of a view operator, or NotImplemented where elements are not selected by strides."""
    t = args[0]
    if not isinstance(t, TiledTensor) or any(func.name() == f"aten::{one}" for one in NOT_STRIDED):
        return NotImplemented
    at = t.view_of_layout
    with _disable_current_modes():
        shape = torch.empty(t.device_layout.size, dtype=t.dtype, device="meta").as_strided(*at)
        made = func(shape, *args[1:], **kwargs)
    many = isinstance(made, (list, tuple))
    found = []
    for one in made if many else [made]:
        if one.dtype != t.dtype:
            return NotImplemented
        strides = View(tuple(map(int, one.size())), tuple(map(int, one.stride())), int(one.storage_offset()))
        found.append(TiledTensor(t.buffer, t.device_layout, strides, note=t._note))
    if func is aten._unsafe_view.default:
        return next((one for one in map(as_whole, found) if one is not None), found[0])
    out = found if many else found[0]
    return return_and_correct_aliasing(func, args, kwargs, out)
