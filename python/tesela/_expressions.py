# SPDX-License-Identifier: Apache-2.0
"""A layout as array code: pad, reshape and transpose of the logical array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._ops import op

if TYPE_CHECKING:
    from ._layout import Layout


def steps(layout: Layout) -> list[dict[str, Any]]:
    """The steps of the operation `program`: pad, reshape, transpose."""
    return list(op("program", layout=layout.to("xla"))["steps"])


def array_expression(layout: Layout, name: str, module: str) -> str:
    """Code for NumPy (module "np") and jax.numpy ("jnp")."""
    text = name
    for step in steps(layout):
        if step["op"] == "pad":
            pads = ", ".join(f"(0, {amount})" for amount in step["amounts"])
            text = f"{module}.pad({text}, ({pads}{',' if len(step['amounts']) == 1 else ''}))"
        elif step["op"] == "reshape":
            text += f".reshape({numbers(step['sizes'])})"
        else:
            text += f".transpose({numbers(step['permutation'])})"
    return text


def torch_expression(layout: Layout, name: str) -> str:
    """Code for torch; pads are listed from the last dim, as torch.nn.functional.pad takes them."""
    text = name
    for step in steps(layout):
        if step["op"] == "pad":
            pads = ", ".join(f"0, {amount}" for amount in reversed(step["amounts"]))
            text = f"torch.nn.functional.pad({text}, ({pads}))"
        elif step["op"] == "reshape":
            text += f".reshape({numbers(step['sizes'])})"
        else:
            text += f".permute({numbers(step['permutation'])})"
    return text


def numbers(values: list[int]) -> str:
    return ", ".join(map(str, values)) if values else "()"
