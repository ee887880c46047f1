# SPDX-License-Identifier: Apache-2.0
"""PyTorch: tensors in device layouts on an unchanged torch, and torch.compile(model, backend="tesela"). See docs/pytorch.md.

>>> t = to_with_layout(torch.arange(80.0).reshape(2, 40))
>>> t.device_layout.device_size, (t * 2)[1, 39].item()
((2, 2, 32), 158.0)
"""

from __future__ import annotations

import torch as _torch  # noqa: F401  torch first: without it nothing here works

from ._backend import CompileError, NoLayout, backend, register
from ._explain import Explanation, explain
from ._hints import hint
from ._host import fallbacks, moves
from ._modules import layouts, to_layout
from ._moves import restickify as _restickify_operator  # noqa: F401  registers torch.ops.tesela.restickify
from ._tiled import TiledTensor, new_empty_with_layout, restickify, to_host, to_with_layout

register()

__all__ = [
    "CompileError",
    "Explanation",
    "NoLayout",
    "TiledTensor",
    "backend",
    "explain",
    "fallbacks",
    "hint",
    "layouts",
    "moves",
    "new_empty_with_layout",
    "restickify",
    "to_host",
    "to_layout",
    "to_with_layout",
]
