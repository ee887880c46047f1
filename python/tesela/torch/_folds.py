# SPDX-License-Identifier: Apache-2.0
"""Folds (sum, mean, amax, var, argmax, norms ...) and operators along one dim (softmax, cumsum, sort ...) on the places themselves.

The elements along the folded dims are lined up in their order, without padding, and the operator of torch runs on them; the other
device dims stay as they lie. What is left of a folded stick has one element per stick, as the RFC has it: lane 0 of each counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from .._device import DeviceDim, DeviceLayout
from ._frames import arranged, array_of, as_whole, lined, others, owned, resized, stored, unlined
from ._host import moved_on_device
from ._places import default_layout, stored_in, words
from ._tiled import TiledTensor, places

aten = torch.ops.aten


class Operands:
    """Operands brought to device dims that are their own; `moved` counts what that moved."""

    def __init__(self, func: Any) -> None:
        self.func, self.moved = func, 0

    def whole(self, t: Any) -> TiledTensor | None:
        """The tensor over its own dims, moved to the default layout if a view cuts through a stick."""
        if 0 in t.shape:
            return None
        found = as_whole(t)
        return self.move(t, default_layout(tuple(t.shape), t.dtype, words(t.device_layout).target)) if found is None else found

    def move(self, t: Any, layout: DeviceLayout) -> TiledTensor:
        self.moved += 1
        return TiledTensor(places.move_places(t.buffer, *words(t.device_layout), *t.view_of_layout, t.dtype, *words(layout)), layout)

    def like(self, t: Any, layout: DeviceLayout) -> TiledTensor | None:
        """An operand of the same shape in the device dims of `layout`."""
        to = stored_in(layout, t.dtype)
        if to is None or tuple(t.shape) != layout.shape:
            return None
        if not isinstance(t, TiledTensor):
            return TiledTensor(places.to_places(t, *words(to)), to)
        found = as_whole(t)
        return found if found is not None and found.device_layout.dims == layout.dims else self.move(t, to)

    def array(self, t: Any, layout: DeviceLayout) -> torch.Tensor | None:
        """The same as an array over the device dims."""
        found = self.like(t, layout)
        if found is None and isinstance(t, TiledTensor) and tuple(t.shape) == layout.shape:
            self.moved += 1
            return arranged(t, layout)
        return None if found is None else array_of(found)

    def done(self, out: Any) -> Any:
        """The result, and the moves are counted, unless it goes through the host."""
        if out is NotImplemented or out is None or isinstance(out, (list, tuple)) and any(one is None for one in out):
            return NotImplemented
        moved_on_device(self.func, self.moved)
        return out


def bound(func: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    """The arguments by name, defaults included."""
    schema = func._schema.arguments
    given = {**{one.name: value for one, value in zip(schema, args)}, **kwargs}
    return {one.name: given[one.name] if one.name in given else one.default_value for one in schema}


def axes_of(dim: Any, rank: int) -> list[int]:
    """The dims that an argument names, in their order; none named: all."""
    named = list(range(rank)) if dim is None else list(dim) if isinstance(dim, (list, tuple)) else [dim]
    found = [one + rank if one < 0 else one for one in named or range(rank)]
    if rank == 0 and all(one in (0, -1) for one in named):
        return []
    if any(not 0 <= one < rank for one in found):
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {named})")
    if len(set(found)) < len(found):
        raise RuntimeError("dim appears multiple times in the list of dims")
    return sorted(found)


def remaining(layout: DeviceLayout, axes: Sequence[int], keepdim: bool) -> tuple[tuple[int, ...], list[DeviceDim]]:
    """Size and device dims after a fold: dims of sticks stay, with one element per stick."""
    inside = range(len(layout.dims) - layout.stick_dims, len(layout.dims))
    left = [axis for axis in range(len(layout.shape)) if axis not in axes]
    dims = []
    for j, one in enumerate(layout.dims):
        extent = one.extent if j in inside else 1
        if one.dim not in axes:
            dims.append(one if keepdim or one.dim < 0 else one._replace(dim=left.index(one.dim)))
        elif keepdim:
            dims.append(one._replace(extent=extent))
        elif any(k in inside for k in owned(layout, one.dim)):
            dims.append(DeviceDim(-1, 0, extent, 0))
    size = [1 if axis in axes else n for axis, n in enumerate(layout.shape) if keepdim or axis not in axes]
    return tuple(size), dims


def refolded(out: torch.Tensor, layout: DeviceLayout, axes: Sequence[int], keepdim: bool) -> TiledTensor | None:
    """An array over the device dims that are left, as a tensor."""
    size, dims = remaining(layout, axes, keepdim)
    rest = iter([layout.dims[j].extent for j in others(layout, axes)])
    shape = []
    for j, one in enumerate(layout.dims):
        if one.dim not in axes:
            shape.append(next(rest))
        elif keepdim or any(k >= len(layout.dims) - layout.stick_dims for k in owned(layout, one.dim)):
            shape.append(1)
    if not dims:
        return None
    return stored(out.reshape(shape).expand([one.extent for one in dims]), size, dims, layout)


def fold(func: Any, *args: Any, **kwargs: Any) -> Any:
    given = bound(func, args, kwargs)
    first = next(iter(given))
    operands = Operands(func)
    t = operands.whole(given[first]) if isinstance(given[first], TiledTensor) else None
    array = None if t is None else array_of(t)
    if t is None or array is None:
        return NotImplemented
    if given.get("dim", None) == [] and "dims" in func._overloadname:  # any and all fold nothing then
        return t.ne(0)
    axes = axes_of(given.get("dim"), t.dim())
    layout, keepdim = t.device_layout, bool(given.get("keepdim"))
    array = lined(array, layout, axes)
    left = array.dim() - len(axes)
    if len(axes) == t.dim():
        out = func(array[(0,) * left], **{name: value for name, value in given.items() if name != first})
    else:
        dim: Any = list(range(left, array.dim()))
        given.update(dim=dim if isinstance(given["dim"], (list, tuple)) else dim[0])
        given.update({"keepdim": False} if "keepdim" in given else {})
        given[first] = array
        out = func(given.pop(first), **given)
    many = isinstance(out, tuple)
    made = []
    for one in out if many else [out]:
        one = one.reshape([1] * left) if len(axes) == t.dim() else one
        made.append(refolded(_again(one, layout, axes), layout, axes, keepdim))
    return operands.done(type(out)(made) if many else made[0])


def _again(out: torch.Tensor, layout: DeviceLayout, axes: Sequence[int]) -> torch.Tensor:
    return out.expand([layout.dims[j].extent for j in others(layout, axes)])


def along(func: Any, *args: Any, **kwargs: Any) -> Any:
    """An operator that works along one dim; its operands, and its results but for the size of that dim, have one shape."""
    given = bound(func, args, kwargs)
    tensors = [name for name, one in given.items() if isinstance(one, torch.Tensor)]
    operands = Operands(func)
    if not isinstance(given[tensors[0]], TiledTensor):
        return NotImplemented
    if not given[tensors[0]].dim():
        return as_one(func, given, tensors)
    t = operands.whole(given[tensors[0]])
    if t is None:
        return NotImplemented
    layout, (axis,) = t.device_layout, axes_of(given["dim"], t.dim())
    for name in tensors:
        array = array_of(t) if name == tensors[0] else operands.array(given[name], layout)
        if array is None:
            return NotImplemented
        given[name] = lined(array, layout, [axis])
    given["dim"] = given[tensors[0]].dim() - 1
    positional = [given.pop(one.name) for one in func._schema.arguments if not one.kwarg_only]
    out = func(*positional, **given)
    many = isinstance(out, tuple)
    made = [restored(one, layout, axis) for one in (out if many else [out])]
    return operands.done(type(out)(made) if many else made[0])


def flip(func: Any, x: Any, dims: Any) -> Any:
    if not dims:
        return x.clone()
    operands = Operands(func)
    t = operands.whole(x)
    array = None if t is None else array_of(t)
    if t is None or array is None:
        return NotImplemented
    layout, axes = t.device_layout, axes_of(dims, t.dim())
    rows = lined(array, layout, axes)
    rows = rows.flip(list(range(rows.dim() - len(axes), rows.dim())))
    return operands.done(stored(unlined(rows, layout, axes), layout.shape, layout.dims, layout))


def as_one(func: Any, given: dict[str, Any], tensors: Sequence[str]) -> Any:
    """An operator along the dim that a number has not: as of a tensor of one element."""
    axes_of(given["dim"], 0)
    given = {name: one.reshape(1) if name in tensors else one for name, one in given.items()}
    out = func(*[given.pop(one.name) for one in func._schema.arguments if not one.kwarg_only], **given)
    return type(out)([one.reshape(()) for one in out]) if isinstance(out, tuple) else out.reshape(())


def restored(out: torch.Tensor, layout: DeviceLayout, axis: int) -> TiledTensor | None:
    """An array lined up along a dim, of any size there, as a tensor."""
    to = resized(layout, axis, int(out.shape[-1]))
    return None if to is None else stored(unlined(out, to, [axis]), to.shape, to.dims, to)


FOLDS = (
    "sum.default sum.dim_IntList mean.default mean.dim amax.default amin.default max.default min.default max.dim min.dim aminmax.default "
    "prod.default prod.dim_int any.default any.dim any.dims all.default all.dim all.dims argmax.default argmin.default logsumexp.default "
    "var.correction std.correction var_mean.correction std_mean.correction linalg_vector_norm.default norm.Scalar norm.ScalarOpt_dim "
    "nansum.default count_nonzero.default count_nonzero.dim_IntList median.default median.dim nanmedian.default nanmedian.dim mode.default "
    "kthvalue.default"
).split()
ALONG = (
    "_softmax.default _log_softmax.default _softmax_backward_data.default _log_softmax_backward_data.default cumsum.default "
    "cumprod.default logcumsumexp.default sort.default sort.stable topk.default"
).split()


def named(names: Sequence[str]) -> list[Any]:
    return [getattr(getattr(aten, one.partition(".")[0]), one.partition(".")[2]) for one in names]


OWN: dict[Any, Callable[..., Any]] = {**dict.fromkeys(named(FOLDS), fold), **dict.fromkeys(named(ALONG), along), aten.flip.default: flip}
