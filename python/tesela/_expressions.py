# SPDX-License-Identifier: Apache-2.0
"""A layout as array code: pad, reshape and transpose of the logical array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._errors import NotExpressible
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


def einops_expression(layout: Layout, name: str) -> str:
    """Code for einops: rearrange(x, "(a b) (c d) -> a c b d", b=2, d=2), of a padded array where the layout pads."""
    text, letters = name, iter("abcdefghijklmnopqrstuvwxyz")
    before: list[list[str]] = [[next(letters)] for _ in layout.shape]  # the factors of each dim
    after = [factor for factors in before for factor in factors]
    lengths: dict[str, int] = {}
    shape = list(layout.shape)
    seen = set()
    for step in steps(layout):
        if step["op"] in seen:
            raise NotExpressible(f"no single pattern of einops expresses {layout}: it has several levels of tiles")
        seen.add(step["op"])
        if step["op"] == "pad":
            pads = ", ".join(f"(0, {amount})" for amount in step["amounts"])
            text = f"np.pad({text}, ({pads}{',' if len(step['amounts']) == 1 else ''}))"
            shape = [n + amount for n, amount in zip(shape, step["amounts"])]
        elif step["op"] == "reshape":
            letters, sizes = iter("abcdefghijklmnopqrstuvwxyz"), iter(step["sizes"])
            before, after = [], []
            for n in shape:
                part: list[str] = []
                rest = n
                while rest > 1 or not part:
                    size = next(sizes)
                    part.append(next(letters))
                    lengths[part[-1]] = size
                    rest //= max(size, 1)
                before.append(part)
                after += part
        else:
            after = [after[k] for k in step["permutation"]]
    left = " ".join(one[0] if len(one) == 1 else f"({' '.join(one)})" for one in before)
    given = "".join(f", {one}={lengths[one]}" for factors in before for one in factors[1:])
    return f'rearrange({text}, "{left} -> {" ".join(after)}"{given})'


def numbers(values: list[int]) -> str:
    return ", ".join(map(str, values)) if values else "()"
