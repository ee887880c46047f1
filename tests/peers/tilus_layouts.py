# SPDX-License-Identifier: Apache-2.0
"""The layouts of Tilus, without what its compiler needs: PyTorch and CUDA, which its layouts never call, are stand-ins."""

import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from unittest import mock

STAND_INS = ["torch", "cuda", "cuda.bindings", "cuda.bindings.runtime", "cuda.bindings.driver"]

found = PathFinder.find_spec("tilus")
if found is None:
    raise ImportError("No module named 'tilus'")
before = {name: sys.modules.get(name) for name in STAND_INS}
sys.modules.update({name: mock.MagicMock() for name in STAND_INS})
sys.modules["tilus"] = module_from_spec(found)  # the package alone: its __init__ starts the compiler
try:
    import tilus.ir.layout as layout
    from tilus.ir.layout.ops import register_ops, shared_ops
    from tilus.ir.layout.shared_layout import Swizzle
finally:
    for name, module in before.items():
        if module is None:
            del sys.modules[name]
        else:
            sys.modules[name] = module

__all__ = ["Swizzle", "layout", "register_ops", "shared_ops"]
