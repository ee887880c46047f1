# SPDX-License-Identifier: Apache-2.0
"""Counts: which operators ran on the host, of tiled tensors and of models compiled by the backend tesela; which moved operands."""

from __future__ import annotations

import collections
import contextlib
import contextvars
import threading
from collections.abc import Iterator

import torch

_counts: collections.Counter[str] = collections.Counter()
_moves: collections.Counter[str] = collections.Counter()
_lock = threading.Lock()
_whole: contextvars.ContextVar[bool] = contextvars.ContextVar("tesela_whole_operators", default=False)


@contextlib.contextmanager
def whole_operators() -> Iterator[None]:
    """Meanwhile operators on tiled tensors are traced as operators of whole tensors, for a backend that lays them out itself."""
    token = _whole.set(True)
    try:
        yield
    finally:
        _whole.reset(token)


def on_places() -> bool:
    """Do operators run on the places?"""
    return not _whole.get()


def ran_on_host(operator: object) -> None:
    """Count it, unless it is traced for a compiler: what that makes of it is not known yet."""
    if torch._guards.TracingContext.try_get() is None:
        with _lock:
            _counts[str(operator)] += 1


def _read(counter: collections.Counter[str], reset: bool) -> dict[str, int]:
    with _lock:
        found = dict(counter)
        if reset:
            counter.clear()
    return found


def fallbacks(*, reset: bool = False) -> dict[str, int]:
    """How often each operator ran on the host, by name. With ``reset`` the counting starts again.

    Models compiled by the backend "tesela" count when they run; programs that other backends make of tiled tensors do not count.

    >>> _ = fallbacks(reset=True)
    >>> t = to_with_layout(torch.ones(3, 40))
    >>> _ = (t + 1).histc()
    >>> fallbacks()
    {'aten.histc.default': 1}
    """
    return _read(_counts, reset)


def moved_on_device(operator: object, operands: int = 1) -> None:
    """Count operands that an operator moved to another layout."""
    if operands:
        with _lock:
            _moves[str(operator)] += operands


def moves(*, reset: bool = False) -> dict[str, int]:
    """How many operands of each operator were moved to another layout on the device, by name.

    >>> _ = moves(reset=True)
    >>> t = to_with_layout(torch.ones(3, 40))
    >>> _ = t + restickify(t, 0)
    >>> moves()
    {'aten.add.Tensor': 1}
    """
    return _read(_moves, reset)
