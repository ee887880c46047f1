# SPDX-License-Identifier: Apache-2.0
"""PyTorch: tensors in device layouts on an unchanged torch. See docs/pytorch.md.

>>> t = to_with_layout(torch.arange(80.0).reshape(2, 40))
>>> t.device_layout.device_size, (t * 2)[1, 39].item()
((2, 2, 32), 158.0)
"""

from __future__ import annotations

import torch as _torch  # noqa: F401  torch first: without it nothing here works

from ._modules import layouts, to_layout
from ._operators import fallbacks, moves
from ._tiled import TiledTensor, new_empty_with_layout, restickify, to_host, to_with_layout

__all__ = [
    "TiledTensor",
    "fallbacks",
    "layouts",
    "moves",
    "new_empty_with_layout",
    "restickify",
    "to_host",
    "to_layout",
    "to_with_layout",
]
