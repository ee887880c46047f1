# SPDX-License-Identifier: Apache-2.0
"""Products of matrices, joining and picking along a dim, layer norm: on the places themselves.

Of a product a @ b the sticks of a must hold the contracted dim and those of b the columns, as the RFC has it; an operand that lies
otherwise is moved first, and counted. The result has the columns in its sticks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._decomp import decomposition_table

from .._device import DeviceDim
from ._folds import Operands, as_one, axes_of, bound, named, refolded, restored
from ._frames import array_of, layout_of, lined, others, owned, real_places, resized, stored, unlined
from ._places import default_layout, stored_in, whole, words
from ._pointwise import _aligned
from ._tiled import TiledTensor, from_places, new_empty_with_layout, places

aten = torch.ops.aten
WIDE = {torch.float16: torch.float32, torch.bfloat16: torch.float32}
"""Products of narrow types are summed in a wider one, and rounded once."""


def _stick_on(operands: Operands, t: Any, axis: int) -> TiledTensor | None:
    """The operand with a dim in the sticks, moved if it lies otherwise."""
    if not isinstance(t, TiledTensor):
        return None
    found = operands.whole(t)
    if found is None:
        return None
    layout = found.device_layout
    inside = {one.dim for one in layout.dims[-layout.stick_dims :]}
    if inside == {axis} and all(one.dim != -2 for one in layout.dims):
        return found
    order = [one for one in range(t.dim()) if one != axis] + [axis]
    usual = default_layout(layout.shape, t.dtype, words(layout).target)
    return operands.move(found, usual if order == list(range(t.dim())) else usual.restickify(axis))


def _contracted(operands: Operands, a: Any, b: Any) -> tuple[torch.Tensor, tuple[int, ...], list[DeviceDim], TiledTensor] | None:
    """a @ b of two matrices, or of a batch of them: an array over device dims, the size, the dims, and b as it lay."""
    rank = a.dim()
    if a.dtype != b.dtype or a.shape[-1] != b.shape[-2] or a.shape[:-2] != b.shape[:-2]:
        return None
    a, b = _stick_on(operands, a, rank - 1), _stick_on(operands, b, rank - 1)
    arrays = [None if one is None else array_of(one) for one in (a, b)]
    if arrays[0] is None or arrays[1] is None:
        return None
    batch = list(range(rank - 2))
    sides, dims = [], []
    for t, array, inner in ((a, arrays[0], rank - 1), (b, arrays[1], rank - 2)):
        layout = t.device_layout
        rows = lined(array.to(WIDE.get(array.dtype, array.dtype)), layout, [*batch, inner])
        left = others(layout, [*batch, inner])
        for number in reversed(range(len(left))):
            if layout.dims[left[number]].dim < 0:  # nothing there but element 0
                rows = rows.select(number, 0)
                del left[number]
        dims.append([layout.dims[j] for j in left])
        rows = rows.reshape(-1, *rows.shape[len(left) :])
        sides.append(rows.movedim(0, -2) if batch else rows)
    (m, n), inner_dims = dims, b.device_layout.stick_dims
    out = sides[0] @ sides[1].transpose(-1, -2)
    out = out.reshape([*a.shape[:-2], *(one.extent for one in (*m, *n))])
    outer = n[: len(n) - inner_dims]
    made = [DeviceDim(axis, 1, size, 0) for axis, size in zip(batch, a.shape)]
    first, k = len(batch), len(batch) + len(m)
    lane, blocks = range(first + len(m) + len(outer), first + len(m) + len(n)), range(k, k + len(outer))
    if batch:
        order = [*range(first, k), *blocks, *range(first), *lane]
    else:
        order = [*blocks, *range(first, k), *lane]
    every = [*made, *m, *n]
    size = (*a.shape[:-1], b.shape[-1])
    return out.permute(order), tuple(map(int, size)), [every[j] for j in order], b


def product(func: Any, a: Any, b: Any) -> Any:
    operands = Operands(func)
    if a.dim() != b.dim():
        return NotImplemented
    found = _contracted(operands, a, b)
    if found is None:
        return NotImplemented
    out, size, dims, like = found
    return operands.done(stored(out.to(like.dtype), size, dims, like.device_layout))


def added_product(func: Any, bias: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    operands = Operands(func)
    found = _contracted(operands, a, b) if a.dim() == b.dim() and a.dtype == bias.dtype else None
    if found is None:
        return NotImplemented
    out, size, dims, like = found
    at = like.device_layout
    layout = layout_of(
        size, tuple(one._replace(stride=0) for one in dims), at.element_type or "", at.device_type or "", at.bits, words(at)
    )
    if layout is None or bias.dim() > len(size):
        return NotImplemented
    if not out.is_floating_point():  # as torch takes numbers for integers
        alpha, beta = int(alpha), int(beta)
    out = out * alpha if alpha != 1 else out
    if beta != 0:
        array = _operand(operands, bias, layout, size)
        if array is None:
            return NotImplemented
        out = out + (array.to(out.dtype) * beta if beta != 1 else array.to(out.dtype))
    return operands.done(stored(out.to(like.dtype), size, dims, at))


def _operand(operands: Operands, one: Any, layout: Any, size: tuple[int, ...]) -> torch.Tensor | None:
    """An operand as an array that broadcasts over the device dims of `layout`."""
    if one.dim() == 0:
        return from_places(one) if isinstance(one, TiledTensor) else one  # type: ignore[no-any-return]
    if isinstance(one, TiledTensor):
        found = operands.whole(one)
        array = None if found is None else _aligned(found, layout, whole(layout))
        if array is not None or found is None:
            return array if array is None or array.dtype == one.dtype else array.to(one.dtype)
    to = stored_in(layout, one.dtype)
    if to is None:
        return None
    wide = one.expand(size)
    return array_of(operands.move(wide, to) if isinstance(one, TiledTensor) else TiledTensor(places.to_places(wide, *words(to)), to))


def times_vector(func: Any, a: Any, v: Any) -> Any:
    operands = Operands(func)
    if not isinstance(a, TiledTensor) or a.dtype != v.dtype or a.shape[-1:] != v.shape:
        return NotImplemented
    t = operands.whole(a)
    array = None if t is None else array_of(t)
    if t is None or array is None:
        return NotImplemented
    wide, axis = WIDE.get(a.dtype, a.dtype), a.dim() - 1
    vector = (from_places(v) if isinstance(v, TiledTensor) else v).to(wide)
    rows = lined(array.to(wide), t.device_layout, [axis])
    out = (rows.reshape(-1, rows.shape[-1]) @ vector).reshape(rows.shape[:-1]).to(a.dtype)
    return operands.done(refolded(out, t.device_layout, [axis], False))


# ---- along a dim


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
    **dict.fromkeys(named(DECOMPOSED), decomposed), aten.mm.default: product, aten.bmm.default: product,
    aten.addmm.default: added_product, aten.baddbmm.default: added_product, aten.mv.default: times_vector,
    aten.dot.default: times_vector, aten.cat.default: cat, aten.stack.default: stack, aten.index_select.default: index_select, aten.index.Tensor: index,
    aten.embedding.default: embedding, aten.native_layer_norm.default: layer_norm,
    aten.index_put.default: index_put, aten.index_add.default: index_add, aten.gather.default: by_index, aten.scatter.src: by_index, aten.scatter.value: by_index, aten.scatter_add.default: by_index,
    aten.scatter_.value: scatter_in_place, aten.slice_backward.default: part_backward, aten.select_backward.default: part_backward,
    aten.diagonal_backward.default: part_backward,
}  # fmt: skip
