# SPDX-License-Identifier: Apache-2.0
"""Modules whose parameters lie in layouts, and the keyword `device_layout` of torch's own functions."""

from __future__ import annotations

import contextlib
import fnmatch
import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

from .._device import DeviceLayout
from ._tiled import new_empty_with_layout, to_with_layout

Rule = DeviceLayout | str | Sequence[int] | None


def to_layout(
    module: torch.nn.Module, rules: Mapping[str, Rule] | None = None, *, buffers: bool = False, target: str = "spyre"
) -> torch.nn.Module:
    """Bring the parameters of a module into layouts, in place; the module is returned.

    ``rules`` maps patterns of names (``*.weight``) to a layout, its text, a dim_order, or None for the target's default; the first
    that fits one of a parameter's names counts, and a parameter that none fits stays. Without rules all take the default. Shared parameters stay shared, and
    with ``buffers`` the module's buffers move as well. Make the optimizer afterwards.

    >>> m = to_layout(torch.nn.Linear(40, 10), {"weight": [1, 0], "*": None})
    >>> m.weight.device_layout, m.bias.device_layout.device_size
    (layout('f32[10,40] stick(dim_order=[1,0])', target='spyre'), (1, 32))
    """
    slots: dict[int, list[tuple[Any, str, str]]] = {}
    for prefix, owner in module.named_modules():
        for table in [owner._parameters, owner._buffers] if buffers else [owner._parameters]:
            for name, value in table.items():
                if value is not None:
                    slots.setdefault(id(value), []).append((table, name, f"{prefix}.{name}" if prefix else name))
    for found in slots.values():
        names = [full for _, _, full in found]
        rule = next((to for glob, to in (rules or {"*": None}).items() if fnmatch.filter(names, glob)), "stay")
        table, name, _ = found[0]
        if rule != "stay":
            moved = _moved(table[name], rule, target)
            for table, name, _ in found:
                table[name] = moved
    return module


def _moved(value: torch.Tensor, rule: Rule, target: str) -> torch.Tensor:
    layout = rule if isinstance(rule, (DeviceLayout, str)) else None
    order = rule if layout is None and rule is not None else None
    tiled = to_with_layout(value.detach(), layout, dim_order=order, target=target)  # type: ignore[arg-type]
    return torch.nn.Parameter(tiled, value.requires_grad) if isinstance(value, torch.nn.Parameter) else tiled


FACTORIES = ("zeros", "ones", "full", "rand", "randn", "arange", "tensor", "zeros_like", "ones_like", "full_like", "rand_like", "randn_like")


@contextlib.contextmanager
def layouts() -> Iterator[None]:
    """Within it ``x.to(..., device_layout=L)``, ``torch.empty(..., device_layout=L)`` and torch's other factories take layouts.

    torch reads the arguments of `Tensor.to` and `torch.empty` before any hook of Python sees them and refuses unknown keywords, so
    the names themselves are replaced, for all threads, until the context ends. A TiledTensor's own `to` needs no context.

    >>> with layouts():
    ...     t = torch.ones(3, 40, device_layout="f32[3,40] stick(dim_order=[1,0])")
    ...     u = torch.zeros(3, 40).to(torch.float16, device_layout="f16[3,40] stick()")
    >>> t.device_layout.device_size, u.device_layout.device_size
    ((1, 40, 32), (1, 3, 64))
    """
    places: list[tuple[Any, str, Any]] = [(torch, name, _factory) for name in FACTORIES]
    places += [(torch, "empty", _empty), (torch, "empty_like", _empty), (torch.Tensor, "new_empty", _empty), (torch.Tensor, "to", _to)]
    saved = [(owner, name, getattr(owner, name), name in vars(owner)) for owner, name, _ in places]
    for (owner, name, wrap), (_, _, old, _) in zip(places, saved):
        setattr(owner, name, wrap(old))
    try:
        yield
    finally:
        for owner, name, old, own in saved:
            if own:
                setattr(owner, name, old)
            else:
                delattr(owner, name)


def _factory(old: Any) -> Any:
    @functools.wraps(old)
    def made(*args: Any, device_layout: Any = None, **options: Any) -> Any:
        if device_layout is None:
            return old(*args, **options)
        grad = options.pop("requires_grad", False)
        return to_with_layout(old(*args, **options), device_layout).requires_grad_(grad)

    return made


def _empty(old: Any) -> Any:
    @functools.wraps(old)
    def made(*args: Any, device_layout: Any = None, **options: Any) -> Any:
        if device_layout is None:
            return old(*args, **options)
        grad = options.pop("requires_grad", False)
        like = old(*args, **options)
        return new_empty_with_layout(like.shape, device_layout, dtype=like.dtype, requires_grad=grad)

    return made


def _to(old: Any) -> Any:
    @functools.wraps(old)
    def to(self: torch.Tensor, *args: Any, device_layout: Any = None, **options: Any) -> Any:
        if device_layout is None:
            return old(self, *args, **options)
        return to_with_layout(old(self, *args, **options) if args or options else self, device_layout)

    return to
