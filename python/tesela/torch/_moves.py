# SPDX-License-Identifier: Apache-2.0
"""The operator torch.ops.tesela.restickify: a move to another stick dim, as it stands in a graph of torch."""

from __future__ import annotations

from typing import Any

import torch


def _copy(x: torch.Tensor, stick: int) -> torch.Tensor:
    """The same elements, with the dim `stick` in the sticks (-1: one element per stick); in host memory a copy."""
    return x.clone()


def _fake(x: Any, stick: int) -> Any:
    return torch.empty_like(x)


def _setup(ctx: Any, inputs: Any, output: Any) -> None:
    return None


restickify = torch.library.custom_op("tesela::restickify", _copy, mutates_args=())
restickify.register_fake(_fake)
restickify.register_autograd(lambda ctx, grad: (grad, None), setup_context=_setup)


def with_moves(node: torch.fx.Node, operand: torch.fx.Node, stick: int) -> torch.fx.Node:
    """Put a move of `operand` before `node`, which then reads it."""
    with node.graph.inserting_before(node):
        move = node.graph.call_function(torch.ops.tesela.restickify.default, (operand, stick))
    value = operand.meta.get("val")
    move.meta["val"] = value[0] if isinstance(value, (tuple, list)) else value
    move.stack_trace = node.stack_trace
    node.replace_input_with(operand, move)
    return move
