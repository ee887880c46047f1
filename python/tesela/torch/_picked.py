# SPDX-License-Identifier: Apache-2.0
"""Joining, picking and writing along a dim on the places themselves; layer norm and what torch has in such pieces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._decomp import decomposition_table

from .._device import DeviceDim
from ._folds import Operands, as_one, axes_of, bound, named, refolded, restored
from ._frames import array_of, lined, others, owned, real_places, resized, stored, unlined
from ._places import default_layout, words
from ._tiled import TiledTensor, from_places, new_empty_with_layout

aten = torch.ops.aten


def cat(func: Any, tensors: Any, dim: int = 0) -> Any:
    operands = Operands(func)
    tensors = [one for one in tensors if tuple(one.shape) != (0,)]
    first = next((one for one in tensors if isinstance(one, TiledTensor)), None)
    t = None if first is None or not first.dim() else operands.whole(first)
    if t is None or any(one.dtype != t.dtype or one.dim() != t.dim() for one in tensors):
        return NotImplemented
    layout, axis = t.device_layout, dim % t.dim()
    arrays = []
    for one in tensors:
        to = resized(layout, axis, int(one.shape[axis]))
        found = None if to is None else operands.like(one, to)
        array = None if found is None else array_of(found)
        if array is None or to is None:
            return NotImplemented
        arrays.append(lined(array, to, [axis]))
    return operands.done(restored(torch.cat(arrays, -1), layout, axis))


def stack(func: Any, tensors: Any, dim: int = 0) -> Any:
    axis = dim % (tensors[0].dim() + 1)
    return cat(func, [one.unsqueeze(axis) for one in tensors], axis)


def _picked(func: Any, x: Any, axis: int, index: Any) -> Any:
    """Elements of a dim by an index tensor; its dims take the place of that dim."""
    if not index.dim() and index.dtype in (torch.int64, torch.int32):
        out = _picked(func, x, axis, index.reshape(1))
        return out if out is NotImplemented else out.squeeze(axis)
    operands = Operands(func)
    t = operands.whole(x) if isinstance(x, TiledTensor) and x.dim() else None
    array = None if t is None else array_of(t)
    if t is None or array is None or not index.dim() or 0 in index.shape or index.dtype not in (torch.int64, torch.int32):
        return NotImplemented
    index = from_places(index) if isinstance(index, TiledTensor) else index
    layout = t.device_layout
    rows = lined(array, layout, [axis])
    rest = [layout.dims[j] for j in others(layout, [axis])]
    out = rows[(..., index)]
    if index.dim() == 1:
        return operands.done(restored(out, layout, axis))
    if any(j >= len(layout.dims) - layout.stick_dims for j in owned(layout, axis)):
        return NotImplemented
    more, left = index.dim() - 1, len(rest) - layout.stick_dims
    rest = [one._replace(dim=one.dim + more if one.dim > axis else one.dim) for one in rest]
    new = [DeviceDim(axis + k, 1, int(n), 0) for k, n in enumerate(index.shape)]
    every, k = [*rest, *new], len(rest)
    order = [*range(k + 1, len(every)), *range(left), k, *range(left, k)]
    size = (*layout.shape[:axis], *index.shape, *layout.shape[axis + 1 :])
    return operands.done(stored(out.permute(order), tuple(map(int, size)), [every[j] for j in order], layout))


def index_select(func: Any, x: Any, dim: int, index: Any) -> Any:
    index = from_places(index) if isinstance(index, TiledTensor) else index
    index = index.reshape(1) if not index.dim() else index
    if not x.dim() and isinstance(x, TiledTensor):
        out = index_select(func, x.reshape(1), dim, index)
        return out if out is NotImplemented else out.reshape(())
    if index.dim() != 1 or not index.numel() or int(index.min()) < 0:  # torch says what is wrong
        return NotImplemented
    return _picked(func, x, dim % x.dim(), index)


def by_index(func: Any, *args: Any, **kwargs: Any) -> Any:
    """gather, scatter: an index for each element; all operands have one size but for that dim."""
    given = bound(func, args, kwargs)
    operands, x = Operands(func), given["self"]
    tensors = [name for name, one in given.items() if isinstance(one, torch.Tensor)]
    if isinstance(x, TiledTensor) and not x.dim():
        return as_one(func, given, tensors)
    t = operands.whole(x) if isinstance(x, TiledTensor) else None
    if t is None:
        return NotImplemented
    (axis,) = axes_of(given["dim"], t.dim())
    for name in tensors:
        one = given[name]
        to = resized(t.device_layout, axis, int(one.shape[axis])) if one.dim() == t.dim() else None
        array = None if to is None else array_of(t) if name == "self" else operands.array(one, to)
        if array is None or to is None:
            return NotImplemented
        if name == "index":  # what padding holds is no index
            array = torch.where(real_places(to), array, 0)
        given[name] = lined(array, to, [axis])
    given["dim"] = given["index"].dim() - 1
    out = func(*[given.pop(one.name) for one in func._schema.arguments if not one.kwarg_only], **given)
    return operands.done(restored(out, t.device_layout, axis))


def scatter_in_place(func: Any, t: Any, *args: Any) -> Any:
    return t.copy_(aten.scatter.value(t, *args)) if isinstance(t, TiledTensor) else NotImplemented


def part_backward(func: Any, grad: Any, size: Any, *where: Any) -> Any:
    """Gradients of a slice, a selected or a diagonal part: zeros but there, in the kind of layout of the gradient."""
    operands = Operands(func)
    t = operands.whole(grad) if isinstance(grad, TiledTensor) else None
    if t is None:
        return NotImplemented
    size = tuple(map(int, size))
    layout = resized(t.device_layout, where[0] % len(size), size[where[0] % len(size)]) if func is aten.slice_backward.default else None
    made = new_empty_with_layout(size, layout, dtype=grad.dtype, target=words(t.device_layout).target or "spyre").zero_()
    part = {aten.slice_backward.default: aten.slice.Tensor, aten.select_backward.default: aten.select.int, aten.diagonal_backward.default: aten.diagonal.default}[func]
    part(made, *where).copy_(grad)
    return operands.done(made)


def index(func: Any, x: Any, indices: Any) -> Any:
    given = [(axis, one) for axis, one in enumerate(indices) if one is not None]
    return _picked(func, x, *given[0]) if len(given) == 1 else NotImplemented


def index_put(func: Any, x: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    given = [(axis, one) for axis, one in enumerate(indices) if one is not None]
    return _written(func, x, *given[0], values, accumulate) if len(given) == 1 else NotImplemented


def index_add(func: Any, x: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    if not x.dim():
        out = index_add(func, x.reshape(1), 0, index, source.reshape(-1), alpha=alpha)
        return out if out is NotImplemented else out.reshape(())
    return _written(func, x, dim % x.dim(), index, source, True) if alpha == 1 else NotImplemented


def _written(func: Any, x: Any, axis: int, index: Any, values: Any, add: bool) -> Any:
    """A copy with elements of a dim written or added by a 1-d index tensor."""
    operands = Operands(func)
    t = operands.whole(x) if isinstance(x, TiledTensor) else None
    array = None if t is None else array_of(t)
    if t is None or array is None or index.dim() != 1 or not index.numel() or index.dtype not in (torch.int64, torch.int32):
        return NotImplemented
    index = from_places(index) if isinstance(index, TiledTensor) else index
    shape = [*x.shape[:axis], index.shape[0], *x.shape[axis + 1 :]]
    to = resized(t.device_layout, axis, index.shape[0])
    new = None if to is None else operands.array(values.expand(shape), to)
    if new is None or to is None or values.dtype != x.dtype:
        return NotImplemented
    rows, new = lined(array, t.device_layout, [axis]), lined(new, to, [axis])
    if int(index.min()) < -x.shape[axis] or int(index.max()) >= x.shape[axis]:
        raise IndexError(f"index out of range: dim {axis} has {x.shape[axis]} elements")
    index = index % x.shape[axis]
    out = rows.index_add(rows.dim() - 1, index, new) if add else rows.index_copy(rows.dim() - 1, index, new)
    return operands.done(restored(out, t.device_layout, axis))


def embedding(func: Any, weight: Any, indices: Any, *options: Any, **more: Any) -> Any:
    return _picked(func, weight, 0, indices)


def embedding_backward(func: Any, grad: Any, indices: Any, rows: int, padding: int, by_frequency: bool) -> Any:
    if by_frequency or not isinstance(grad, TiledTensor) or not indices.numel():
        return NotImplemented
    layout = default_layout((rows, int(grad.shape[-1])), grad.dtype, words(grad.device_layout).target)
    made = _written(func, new_empty_with_layout(layout.shape, layout).zero_(), 0, indices.reshape(-1), grad.reshape(-1, grad.shape[-1]), True)
    if made is not NotImplemented and padding >= 0:
        made.select(0, padding).zero_()
    return made


# ---- layer norm


def layer_norm(func: Any, x: Any, shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    operands = Operands(func)
    t = operands.whole(x) if isinstance(x, TiledTensor) else None
    array = None if t is None else array_of(t)
    if t is None or array is None or tuple(x.shape[x.dim() - len(shape) :]) != tuple(shape):
        return NotImplemented
    layout, axes = t.device_layout, list(range(x.dim() - len(shape), x.dim()))
    weight, bias = (from_places(one) if isinstance(one, TiledTensor) else one for one in (weight, bias))
    out, mean, rstd = func(lined(array, layout, axes), shape, weight, bias, eps)
    made = [stored(unlined(out, layout, axes), layout.shape, layout.dims, layout)]
    made += [refolded(one.flatten(one.dim() - len(axes)).squeeze(-1), layout, axes, True) for one in (mean, rstd)]
    return operands.done(tuple(made))


def decomposed(func: Any, *args: Any, **kwargs: Any) -> Any:
    """In pieces that run on the places."""
    return decomposition_table[func](*args, **kwargs)


DECOMPOSED = "native_layer_norm_backward.default mse_loss.default mse_loss_backward.default".split()

OWN: dict[Any, Callable[..., Any]] = {
    **dict.fromkeys(named(DECOMPOSED), decomposed), aten.cat.default: cat, aten.stack.default: stack,
    aten.index_select.default: index_select, aten.index.Tensor: index, aten.index_put.default: index_put,
    aten.index_add.default: index_add, aten.embedding.default: embedding, aten.embedding_dense_backward.default: embedding_backward,
    aten.gather.default: by_index, aten.scatter.src: by_index, aten.scatter.value: by_index, aten.scatter_add.default: by_index,
    aten.scatter_.value: scatter_in_place, aten.slice_backward.default: part_backward, aten.select_backward.default: part_backward,
    aten.diagonal_backward.default: part_backward, aten.native_layer_norm.default: layer_norm,
}  # fmt: skip
