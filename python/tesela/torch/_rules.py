# SPDX-License-Identifier: Apache-2.0
"""What the rules that lower operators of torch (aten) have in common, and the table of them, which the modules _lower_*.py fill.

Each rule takes the program and the arguments of the operator, tensors as names in the program, and returns the name of the result,
or a tuple of names. It raises NotLowered where the graph cannot do it, and the operator then runs on the host.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import torch

from ._program import Names, NotLowered, Program

aten = torch.ops.aten
Rule = Callable[..., Names]
One = TypeVar("One", bound=Rule)
RULES: dict[Any, Rule] = {}


def rule(*targets: Any) -> Callable[[One], One]:
    """Keep a rule for these operators."""

    def keep(function: One) -> One:
        RULES.update(dict.fromkeys(targets, function))
        return function

    return keep


def result(p: Program) -> torch.Tensor:
    """What torch gives for the node that is lowered."""
    value = p.node.meta["val"] if p.node is not None else None
    if not isinstance(value, torch.Tensor):
        raise NotLowered("several results")
    return value


def wanted(p: Program) -> torch.dtype:
    """The type that torch gives the node that is lowered."""
    return result(p).dtype


def operand(p: Program, x: Any, dtype: torch.dtype) -> str:
    """A tensor in this type; a number as a constant, at least as precise as f32, as torch takes it."""
    if isinstance(x, str):
        return p.cast(x, dtype)
    if isinstance(x, complex) or not isinstance(x, (int, float)):
        raise NotLowered(f"an operand {x!r}")
    if dtype in (torch.float16, torch.bfloat16):
        dtype = torch.float32
    return p.constant(x, dtype)


def common(p: Program, *xs: Any) -> torch.dtype:
    return torch.result_type(*(p.values[x] if isinstance(x, str) else x for x in xs))


def scaled(p: Program, x: Any, alpha: Any, dtype: torch.dtype) -> str:
    x = operand(p, x, dtype)
    return x if alpha == 1 else p.pointwise("mul", x, operand(p, alpha, dtype), dtype=dtype)
