# SPDX-License-Identifier: Apache-2.0
"""Hints for the layouts that the backend "tesela" chooses."""

from __future__ import annotations

from typing import Any

import torch
import torch.fx.traceback

KINDS = ("require", "forbid", "prefer", "forbid_move")


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
    given = {"stick": stick, "operand": operand, "price": price}
    return torch.fx.traceback.annotate({"tesela": {"kind": kind, **{key: one for key, one in given.items() if one is not None}}})


def hint_of(node: torch.fx.Node) -> dict[str, Any] | None:
    """The hint in which a node was traced."""
    found = (node.meta.get("custom") or {}).get("tesela")
    return dict(found) if isinstance(found, dict) else None
