# SPDX-License-Identifier: Apache-2.0
"""TiledTensor: a tensor of torch whose elements lie in a device layout."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from .._device import DeviceLayout, device_layout
from .._errors import MismatchError
from .._layout import layout as read_layout
from .._types import element_type
from . import _memory  # noqa: F401  registers torch.ops.tesela
from ._places import View, Words, buffer_length, buffer_type, host_type, is_whole, read, whole, words

places = torch.ops.tesela


class TiledTensor(torch.Tensor):
    """A tensor in a device layout: a buffer of device places in one dim, and `device_layout`. `to_with_layout` makes it.

    Its size, strides and offset are those of a row-major host tensor; a view has others over the same buffer and layout.

    >>> t = to_with_layout(torch.arange(200000, dtype=torch.float16).reshape(1000, 200))
    >>> t.device_layout
    layout('f16[1000,200] stick(dim_order=[0,1])', target='spyre')
    >>> t.buffer.shape, t[2:4].buffer is t.buffer
    (torch.Size([256000]), True)
    """

    buffer: torch.Tensor
    """All places of the layout, padding included, in the device's type. Not a copy."""
    device_layout: DeviceLayout
    """How the places lie; of a view, that of its base."""
    _note: str | None

    @staticmethod
    def __new__(
        cls, buffer: torch.Tensor, layout: DeviceLayout, view: View | None = None, *, requires_grad: bool = False,
        note: str | None = None,
    ) -> TiledTensor:  # fmt: skip
        view = whole(layout) if view is None else view
        dtype = host_type(layout.element_type or "")
        made: TiledTensor = torch.Tensor._make_wrapper_subclass(
            cls, view.size, strides=view.strides, storage_offset=view.offset, dtype=dtype, device=buffer.device,
            requires_grad=requires_grad, storage_size=layout.size * dtype.itemsize,
        )  # fmt: skip
        made.buffer, made.device_layout, made._note = buffer, layout, note
        return made

    def __init__(self, *args: Any, **options: Any) -> None:
        pass

    @property
    def view_of_layout(self) -> View:
        """Size, strides and offset over the row-major host tensor of `device_layout`."""
        return View(
            tuple(int(n) for n in self.size()), tuple(int(n) for n in self.stride()), int(self.storage_offset())
        )

    @property
    def tuples(self) -> str:
        """The RFC's three tuples: ranges, device strides and host strides.

        >>> to_with_layout(torch.zeros(1000, 200, dtype=torch.float16)).tuples
        '((4, 1000, 64), (64000, 64, 1), (64, 200, 1))'
        """
        layout = self.device_layout
        steps = tuple(-1 if one is None else one for one in layout.stride_map)
        return f"({layout.device_size}, {layout.device_strides}, {steps})"

    # ---- torch.compile

    def __tensor_flatten__(self) -> tuple[list[str], Any]:
        return ["buffer"], (words(self.device_layout), int(self.storage_offset()))

    @staticmethod
    def __tensor_unflatten__(inner: dict[str, Any], context: Any, size: Any, strides: Any) -> TiledTensor:
        layout_words, offset = context
        return TiledTensor(inner["buffer"], read(*layout_words), View(tuple(size), tuple(strides), offset))

    def __coerce_same_metadata_as_tangent__(self, context: Any, expected_type: type | None = None) -> Any:
        if expected_type not in (None, TiledTensor):
            return to_host(self)
        return to_with_layout(self.detach(), read(*context[0]))

    def _stable_hash_for_caching(self) -> str:
        """The same for equal types, shapes and layouts, in every process."""
        key = (words(self.device_layout), self.view_of_layout, str(self.dtype), self.requires_grad)
        return hashlib.sha256(repr(key).encode()).hexdigest()

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # type: ignore[override]
        from ._operators import dispatch

        return dispatch(func, args, kwargs or {})

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        from ._functions import FUNCTIONS

        if (own := FUNCTIONS.get(func)) is not None:
            return own(*args, **(kwargs or {}))
        with torch._C.DisableTorchFunctionSubclass():  # results stay what they are: an ordinary tensor has no places
            return func(*args, **(kwargs or {}))

    # ---- copies and text

    def to(self, *args: Any, device_layout: DeviceLayout | str | None = None, **options: Any) -> Any:
        """`torch.Tensor.to`, and to another layout with ``device_layout``; the same layout returns the tensor itself."""
        moved = super().to(*args, **options) if args or options else self
        return moved if device_layout is None else to_with_layout(moved, device_layout)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) in memo:
            return memo[id(self)]
        if not self.is_leaf:
            raise RuntimeError("only tensors that a user made support deepcopy; use t.detach() first")
        made = _rebuild(copy.deepcopy(self.buffer, memo), *self.__reduce_ex__(2)[1][1:])
        if self.grad is not None:
            made.grad = copy.deepcopy(self.grad, memo)
        memo[id(self)] = made
        return made

    def __reduce_ex__(self, protocol: Any) -> Any:
        arguments = (
            self.buffer, *words(self.device_layout), *self.view_of_layout, self.requires_grad,
            isinstance(self, torch.nn.Parameter),
        )  # fmt: skip
        return _rebuild, arguments

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        if type(self.buffer) is not torch.Tensor:
            return f"TiledTensor(..., size={tuple(self.shape)}, dtype={self.dtype}, device_layout={self.device_layout!s})"
        with torch.no_grad():
            text = repr(to_host(self.detach()))
        more = ", requires_grad=True" if self.requires_grad and self.is_leaf else ""
        more = f", grad_fn=<{self.grad_fn.name()}>" if self.grad_fn is not None else more
        return f"TiledTensor{text[text.index('(') : -1]}{more}, device_layout={self.device_layout!s})"


def _rebuild(
    buffer: torch.Tensor, text: str, target: str | None, size: Any, strides: Any, offset: int, requires_grad: bool,
    parameter: bool,
) -> Any:  # fmt: skip
    made = TiledTensor(buffer, read(text, target), View(tuple(size), tuple(strides), offset), requires_grad=requires_grad)
    return torch.nn.Parameter(made, requires_grad) if parameter else made


torch.serialization.add_safe_globals([_rebuild])  # type: ignore[no-untyped-call,unused-ignore]


# ---- there and back


def _chosen(
    shape: Sequence[int], dtype: Any, layout: DeviceLayout | str | None, dim_order: Sequence[int] | None, target: str
) -> DeviceLayout:
    if layout is None:
        return read(*words(device_layout(shape, element_type(dtype), dim_order=dim_order, target=target)))
    if dim_order is not None:
        raise TypeError("expected layout or dim_order, found both")
    if isinstance(layout, str):
        name = f"{element_type(dtype)}[{','.join(map(str, shape))}]"
        found = read_layout(name + layout if layout.startswith("{") else layout, notation="device", target=target)
    else:
        found = layout
    if not isinstance(found, DeviceLayout):
        raise MismatchError(f"expected a device layout, found {found}")
    if found.shape != tuple(shape):
        raise MismatchError(f"the tensor has shape {tuple(shape)}; expected {found.shape}, that of {found}")
    if found.element_type != element_type(dtype):
        raise MismatchError(f"the tensor is {dtype}; expected {found.element_type} for {found}")
    return read(*words(found))


class _ToLayout(torch.autograd.Function):
    """To a layout, or to another one; the gradient comes back as the input lay."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, layout: DeviceLayout) -> TiledTensor:
        ctx.back = x.device_layout if isinstance(x, TiledTensor) and is_whole(x.device_layout, x.view_of_layout) else None
        ctx.tiled = isinstance(x, TiledTensor)
        return _to_layout(x, layout)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:  # type: ignore[override]
        if not ctx.tiled:
            return to_host(grad), None
        return (grad if ctx.back is None else to_with_layout(grad, ctx.back)), None


class _ToHost(torch.autograd.Function):
    """To the host; the gradient goes back into the layout."""

    @staticmethod
    def forward(ctx: Any, t: TiledTensor) -> torch.Tensor:
        view = t.view_of_layout
        ctx.layout = t.device_layout if is_whole(t.device_layout, view) else None
        ctx.target = words(t.device_layout).target
        return from_places(t)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:  # type: ignore[override]
        return to_with_layout(grad, ctx.layout, target=ctx.target or "spyre")


def from_places(t: TiledTensor) -> torch.Tensor:
    """The elements on the host, outside of autograd."""
    found: torch.Tensor = places.from_places(t.buffer, *words(t.device_layout), *t.view_of_layout, t.dtype)
    return found


def _to_layout(x: torch.Tensor, layout: DeviceLayout) -> TiledTensor:
    if isinstance(x, TiledTensor):
        at = Words(*words(x.device_layout))
        return TiledTensor(places.move_places(x.buffer, *at, *x.view_of_layout, x.dtype, *words(layout)), layout)
    return TiledTensor(places.to_places(x, *words(layout)), layout)


def to_with_layout(
    x: torch.Tensor, layout: DeviceLayout | str | None = None, *, dim_order: Sequence[int] | None = None,
    target: str = "spyre",
) -> TiledTensor:  # fmt: skip
    """A tensor in a device layout: from the host, whatever its strides, or from another layout.

    ``layout`` is a `tesela.DeviceLayout` or its text; without it the target's default, with ``dim_order``'s last dim in the sticks.
    Padding receives zeros. A TiledTensor in that layout is returned itself. The gradient of ``x`` lies as ``x`` does.

    >>> to_with_layout(torch.zeros(3, 40, dtype=torch.int64)).buffer.dtype
    torch.int32
    >>> to_with_layout(torch.zeros(300, 40), dim_order=[1, 0]).device_layout.device_size
    (10, 40, 32)
    """
    if is_traceable_wrapper_subclass(x) and not isinstance(x, TiledTensor):
        raise TypeError(f"expected a tensor, found {type(x).__name__}")
    chosen = _chosen(tuple(x.shape), x.dtype, layout, dim_order, target)
    if isinstance(x, TiledTensor) and x.device_layout == chosen and is_whole(chosen, x.view_of_layout):
        return x
    made: TiledTensor = _ToLayout.apply(x, chosen) if x.requires_grad and torch.is_grad_enabled() else _to_layout(x, chosen)
    return made


def new_empty_with_layout(
    size: Sequence[int], layout: DeviceLayout | str | None = None, *, dtype: torch.dtype | None = None,
    dim_order: Sequence[int] | None = None, target: str = "spyre", requires_grad: bool = False,
) -> TiledTensor:  # fmt: skip
    """A tensor of a layout whose elements and padding hold what the memory holds.

    >>> new_empty_with_layout((3, 40), dtype=torch.float16).buffer.shape
    torch.Size([192])
    """
    if dtype is None and layout is not None:
        dtype = host_type((read_layout(layout, target=target) if isinstance(layout, str) else layout).element_type or "")
    dtype = torch.get_default_dtype() if dtype is None else dtype
    chosen = _chosen(tuple(size), dtype, layout, dim_order, target)
    buffer = torch.empty(buffer_length(chosen), dtype=buffer_type(chosen))
    return TiledTensor(buffer, chosen, requires_grad=requires_grad)


def to_host(t: torch.Tensor) -> torch.Tensor:
    """The elements as an ordinary row-major tensor: a copy. A tensor that is not tiled is returned itself.

    >>> x = torch.arange(12.0).reshape(3, 4)
    >>> torch.equal(to_host(to_with_layout(x.t())), x.t())
    True
    """
    if not isinstance(t, TiledTensor):
        return t
    host: torch.Tensor = _ToHost.apply(t) if t.requires_grad and torch.is_grad_enabled() else from_places(t)
    return host


def restickify(t: TiledTensor, dim: int) -> TiledTensor:
    """The same elements with dim ``dim`` in the sticks: moved, or ``t`` itself if it already lies so.

    >>> restickify(to_with_layout(torch.zeros(300, 128, dtype=torch.float16)), 0).device_layout.device_size
    (5, 128, 64)
    """
    view, layout = t.view_of_layout, t.device_layout
    dim = dim + len(view.size) if dim < 0 else dim
    if not is_whole(layout, view):
        layout = device_layout(view.size, layout.element_type, target=layout._options.get("target"))
    return to_with_layout(t, layout.restickify(dim))
