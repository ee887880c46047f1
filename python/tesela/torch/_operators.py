# SPDX-License-Identifier: Apache-2.0
"""Operators on TiledTensors: who answers each, and all that nobody answers through the host, counted."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import return_and_correct_aliasing
from torch.utils._pytree import tree_map

from .._errors import LayoutError, UnsupportedError
from . import _copies, _folds, _picked, _products
from ._host import on_places, ran_on_host
from ._places import default_layout, with_type, words
from ._pointwise import _is_pointwise, _shape, _writable, pointwise
from ._tiled import TiledTensor, from_places, places
from ._views import change_view, changes_view, is_view, view


OWN = {**_copies.OWN, **_folds.OWN, **_products.OWN, **_picked.OWN}


def dispatch(func: Any, args: Any, kwargs: Any) -> Any:
    if changes_view(func):
        return change_view(func, args, kwargs)
    if is_view(func):
        out = view(func, args, kwargs)
        if out is not NotImplemented:
            return out
    own = OWN.get(func)
    if own is not None and (on_places() or func in _copies.OWN):
        out = own(func, *args, **kwargs)
        if out is not NotImplemented:
            return out
    if _is_pointwise(func) and on_places():
        out = pointwise(func, args, kwargs)
        if out is not NotImplemented:
            return out
    if torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd"):
        out = func.decompose(*args, **kwargs)
        if out is not NotImplemented:
            return out
    return through_host(func, args, kwargs)


# ---- everything else, through the host


def through_host(func: Any, args: Any, kwargs: Any) -> Any:
    """The operator on ordinary tensors: operands to the host, results into layouts of the same target. Counted."""
    hosts: dict[int, torch.Tensor] = {}
    tiled: dict[int, TiledTensor] = {}

    def to_host(one: Any) -> Any:
        if not isinstance(one, TiledTensor):
            return one
        if id(one) not in hosts:
            tiled[id(one)], hosts[id(one)] = one, from_places(one)
        return hosts[id(one)]

    written = []
    for at, schema in enumerate(func._schema.arguments):
        if schema.alias_info is not None and schema.alias_info.is_write:
            given = kwargs.get(schema.name, args[at] if at < len(args) else None)
            written += [one for one in (given if isinstance(given, (list, tuple)) else [given]) if isinstance(one, TiledTensor)]
    for one in written:
        _writable(one)
    host_args, host_kwargs = tree_map(to_host, (args, kwargs))
    ran_on_host(func)
    out = func(*host_args, **host_kwargs)
    for one in written:
        host = hosts[id(one)]
        if _shape(host) != _shape(one):
            raise UnsupportedError(f"{func} changes the size of a tiled tensor; make a new one with to_with_layout")
        places.write_places(one.buffer, *words(one.device_layout), *one.view_of_layout, host)
    like = next(iter(tiled.values()), None)
    if like is None:
        return out
    given = {id(host): tiled[at] for at, host in hosts.items()}
    note = f"{func} made a copy of tiled memory" if is_view(func) else None
    results = tree_map(lambda one: given[id(one)] if id(one) in given else _tile(one, like, func, note), out)
    return return_and_correct_aliasing(func, args, kwargs, results) if written and func._schema.returns else results


def _tile(out: Any, like: TiledTensor, func: Any, note: str | None) -> Any:
    if not isinstance(out, torch.Tensor):
        return out
    shape, target = _shape(out), words(like.device_layout).target
    try:
        layout = with_type(like.device_layout, out.dtype) if shape == like.device_layout.shape else None
        layout = default_layout(shape, out.dtype, target) if layout is None else layout
    except LayoutError as error:
        raise UnsupportedError(f"{func} gives {out.dtype}{list(shape)}, which has no layout: {error}; take to_host(...) first") from None
    return TiledTensor(places.to_places(out, *words(layout)), layout, note=note)
