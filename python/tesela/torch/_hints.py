# SPDX-License-Identifier: Apache-2.0
"""Hints for the layouts that the backend "tesela" chooses: for the operators in a context, or those of a module."""

from __future__ import annotations

import json
from typing import Any, TypeVar

import torch
import torch.fx.traceback

KINDS = ("require", "forbid", "prefer", "forbid_move")
M = TypeVar("M")


def hint(kind: str, *, stick: int | None = None, operand: int | None = None, price: int | None = None) -> Any:
    """A context: operators that are called in it, in a compiled model, have this hint of docs/graph.md; views do not, nor gradients.

    The innermost context counts.

    >>> def f(x, y):
    ...     with hint("require", stick=0):
    ...         return x + y
    >>> from tesela.torch import explain
    >>> [row.stick for row in explain(f, torch.ones(4, 6), torch.ones(4, 6))[0].tensors if row.name == "add"]
    [0]
    """
    if kind not in KINDS:
        raise ValueError(f"unknown hint {kind!r}; expected require, forbid, prefer or forbid_move")
    return torch.fx.traceback.annotate({"tesela": _given(kind=kind, stick=stick, operand=operand, price=price)})


def _given(**fields: Any) -> dict[str, Any]:
    return {key: one for key, one in fields.items() if one is not None}


class HintedForward:
    """The attribute `forward` of a module with a hint: its class's forward in the context of the hint."""

    def __init__(self, module: Any, text: str) -> None:
        self.module, self.text = module, text  # in JSON: numbers that change would become symbols of Dynamo

    def __call__(self, *inputs: Any, **keywords: Any) -> Any:
        with torch.fx.traceback.annotate({"tesela": self.text}):
            return type(self.module).forward(self.module, *inputs, **keywords)


def set_hint(module: M, kind: str | None, *, stick: int | None = None, operand: int | None = None, price: int | None = None) -> M:
    """Give the operators that a module calls a hint, as if its forward were in the context `hint`; with None, remove it.

    Hints of inner modules and contexts in its forward count first. Results that lack the dim `stick` are left out. The hint
    is the module's attribute `forward`, so copies of the module have it; a module with another such attribute is refused.
    Returns the module.

    >>> model = torch.nn.Sequential(torch.nn.ReLU(), set_hint(torch.nn.Tanh(), "require", stick=0))
    >>> from tesela.torch import explain
    >>> [(row.name, row.stick) for row in explain(model, torch.ones(4, 6))[0].tensors]
    [('arg0_1', 1), ('relu', 1), ('relu.stick0', 0), ('tanh', 0)]
    """
    own = vars(module).get("forward")
    if own is not None and not isinstance(own, HintedForward):
        raise ValueError(f"{type(module).__name__} has an attribute forward that is not its class's; use the context hint in it")
    if kind is None:
        vars(module).pop("forward", None)
        return module
    hint(kind)  # checks it
    fields = _given(kind=kind, stick=stick, operand=operand, price=price)
    vars(module)["forward"] = HintedForward(module, json.dumps(fields))
    return module


def hint_of(node: torch.fx.Node) -> dict[str, Any] | None:
    """The hint in which a node was traced; of a module, if its result has the dim of the hint."""
    found = (node.meta.get("custom") or {}).get("tesela")
    if not isinstance(found, str):
        return dict(found) if isinstance(found, dict) else None
    fields: dict[str, Any] = json.loads(found)
    value = node.meta.get("val")
    return fields if isinstance(value, torch.Tensor) and fields.get("stick", -1) < value.dim() else None
