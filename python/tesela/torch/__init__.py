# SPDX-License-Identifier: Apache-2.0
"""PyTorch: tensors in device layouts on an unchanged torch, and torch.compile(model, backend="tesela"). See docs/pytorch.md.

>>> t = to_with_layout(torch.arange(80.0).reshape(2, 40))
>>> t.device_layout.device_size, (t * 2)[1, 39].item()
((2, 2, 32), 158.0)
"""

from __future__ import annotations

# ruff: noqa: E402
import importlib
from typing import TYPE_CHECKING

import torch as _torch

if _torch.__version__ < (2, 13):  # what it imports, and what Dynamo traces of torch.fx.traceback.annotate
    raise ImportError(f"tesela.torch needs torch 2.13 or newer; found torch {_torch.__version__}")

from ._backend import CompileError, NoLayout, backend, register
from ._explain import Explanation, explain
from ._hints import hint, set_hint
from ._host import fallbacks, moves
from ._modules import layouts, to_layout
from ._moves import restickify as _restickify_operator  # noqa: F401  registers torch.ops.tesela.restickify
from ._tiled import TiledTensor, new_empty_with_layout, restickify, to_host, to_with_layout

if TYPE_CHECKING:
    from ._inductor import AssignLayouts, FixedTiledLayout, tiled_inductor  # noqa: F401
else:

    def __getattr__(name: str) -> object:
        """What needs Inductor, whose import takes seconds: for code generators of one's own."""
        if name in ("AssignLayouts", "FixedTiledLayout", "tiled_inductor"):
            return getattr(importlib.import_module("._inductor", __name__), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


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
    "set_hint",
    "to_host",
    "to_layout",
    "to_with_layout",
]
