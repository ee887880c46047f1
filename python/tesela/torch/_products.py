# SPDX-License-Identifier: Apache-2.0
"""Products of matrices on the places themselves.

Of a product a @ b the sticks of a must hold the contracted dim and those of b the columns, as the RFC has it; an operand that lies
otherwise is moved first, and counted. The result has the columns in its sticks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .._device import DeviceDim
from ._folds import Operands, refolded
from ._frames import array_of, layout_of, lined, others, stored
from ._places import default_layout, stored_in, whole, words
from ._pointwise import _aligned
from ._tiled import TiledTensor, from_places, places

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


OWN: dict[Any, Callable[..., Any]] = {
    aten.mm.default: product, aten.bmm.default: product, aten.addmm.default: added_product, aten.baddbmm.default: added_product,
    aten.mv.default: times_vector, aten.dot.default: times_vector,
}  # fmt: skip
