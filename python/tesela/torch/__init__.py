# SPDX-License-Identifier: Apache-2.0
"""tesela for PyTorch."""

from ._backend import (
    CompileError,
    NoLayout,
    backend,
    host_operators,
    register,
    reset_host_operators,
)
from ._explain import Explanation, explain
from ._hints import hint
from ._moves import restickify as _restickify  # noqa: F401 - registers torch.ops.tesela.restickify

register()

__all__ = ["CompileError", "Explanation", "NoLayout", "backend", "explain", "hint", "host_operators", "reset_host_operators"]
