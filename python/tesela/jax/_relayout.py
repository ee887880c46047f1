# SPDX-License-Identifier: Apache-2.0
"""relayout inside jax.jit, on the CPU: a primitive of JAX with rules for vmap, jvp and grad."""

from __future__ import annotations

import functools
import json
import numbers
import re
import threading
from typing import Any

import jax
import jax.extend.core
import jax.interpreters.ad as ad
import jax.interpreters.batching as batching
import jax.interpreters.mlir as mlir
import jax.numpy as jnp
import numpy as np

from .._errors import MismatchError, UnsupportedError
from .._layout import Layout, layout
from .._tensor import Plan, _sides, layout_for
from .._types import NUMBERS, element_type, numpy_dtype
from . import _handler

ZEROS = ("0", "0.0", "False", "0j")  # all bits 0, for every type

# ---- what a call is: the texts of both layouts, of the fill and of the transform


def _text(of: Layout) -> str:
    """The text that reads back as this layout, wherever the compiled program runs."""
    text = str(of)
    try:
        same = layout(text) == of
    except ValueError:
        same = False
    if not same:
        raise UnsupportedError(
            f"{of} has options that its text does not say; relayout inside jax.jit takes layouts that do"
        )
    return text


def _places_type(of: Layout) -> np.dtype[Any]:
    """The type of an array of places, which JAX must have."""
    if of.device_type is None:
        raise UnsupportedError(f"{of} has no element type; expected one such as f32[8,64]{{1,0}}")
    if of._axes != 1:
        raise UnsupportedError(f"{of} has {of._axes} axes; expected a layout in memory")
    if re.fullmatch("[suf][1246](e.*)?", of.device_type):
        raise UnsupportedError(f"{of}: how XLA packs elements below 8 bits inside a program is not part of a layout")
    dtype = numpy_dtype(of.device_type)
    if dtype.itemsize * 8 != of.bits:
        raise UnsupportedError(
            f"{of} has elements of {of.bits} bits; inside jax.jit expected {8 * dtype.itemsize}, those of {dtype}"
        )
    if jax.dtypes.canonicalize_dtype(dtype) != dtype:
        raise UnsupportedError(f"{of} has elements of {dtype}, which JAX makes narrower; set jax_enable_x64")
    return dtype


_plans: dict[str, tuple[Plan, _handler.Entry]] = {}
_lock = threading.Lock()


def _planned(key: str) -> tuple[Plan, _handler.Entry]:
    """The plan of a key; plans stay, because compiled programs use them."""
    with _lock:
        if key not in _plans:
            a, b, fill, transform = json.loads(key)
            src, dst = layout(a), layout(b)
            types = _places_type(src), _places_type(dst)
            plan = Plan(src, dst, fill=0 if fill in ZEROS else fill, transform=transform)
            _plans[key] = plan, _handler.Entry(
                plan._plan, src.places, dst.places, dst.nbytes, types[0].itemsize, types[1].itemsize,
                NUMBERS[element_type(types[0])], NUMBERS[element_type(types[1])],
                plan.info["bytes_written"] < dst.nbytes,
            )  # fmt: skip
        return _plans[key]


def _key(src: Layout, dst: Layout, fill: str, transform: str | None) -> str:
    key = json.dumps([_text(src), _text(dst), fill, transform])
    _planned(key)
    return key


def register() -> None:
    """Compile and register the custom call now. Needed only before a program that another process compiled is run."""
    _handler.register(lambda key: _planned(key)[1])


# ---- the primitive: arrays of places in the last dim, any number of them

relayout_p: Any = jax.extend.core.Primitive("tesela_relayout")


@functools.lru_cache(4096)
def _compiled(key: str) -> Any:
    return jax.jit(lambda x: relayout_p.bind(x, plan=key))


def _impl(x: Any, *, plan: str) -> Any:
    return _compiled(plan)(x)


def _abstract(x: Any, *, plan: str) -> Any:
    dst = _planned(plan)[0].dst
    return x.update(shape=(*x.shape[:-1], dst.places), dtype=_places_type(dst), weak_type=False)


def _lower(ctx: Any, x: Any, *, plan: str) -> Any:
    register()
    return jax.ffi.ffi_lowering(_handler.TARGET)(ctx, x, plan=plan)


def _refuse(ctx: Any, x: Any, *, plan: str) -> Any:
    src, dst = json.loads(plan)[:2]
    raise UnsupportedError(
        f"relayout inside jax.jit runs on the CPU, found {', '.join(ctx.module_context.platforms)}; {src} -> {dst} as operators "
        "of JAX: tesela.layout(...).jax_expr('x')"
    )


def _batch(args: Any, dims: Any, *, plan: str) -> Any:
    return relayout_p.bind(jnp.moveaxis(args[0], dims[0], 0), plan=plan), 0


def _tangent(g: Any, _x: Any, *, plan: str) -> Any:
    src, dst, _, transform = json.loads(plan)
    return relayout_p.bind(g, plan=_key(layout(src), layout(dst), "0", transform))  # padding does not depend on x


def _transpose(ct: Any, _x: Any, *, plan: str) -> Any:
    """The relayout back: what padding of dst gets does not come from x, and padding of src goes nowhere, so it gets zeros."""
    src, dst = (layout(one) for one in json.loads(plan)[:2])
    for one in (src, dst):
        if one._copies != 1:
            raise UnsupportedError(
                f"no gradient: {one} holds each element {one._copies} times, and a copy adds nothing up"
            )
    return [relayout_p.bind(ct, plan=_key(dst, src, "0", json.loads(plan)[3]))]


relayout_p.def_impl(_impl)
relayout_p.def_abstract_eval(_abstract)
mlir.register_lowering(relayout_p, _refuse)
mlir.register_lowering(relayout_p, _lower, platform="cpu")
batching.primitive_batchers[relayout_p] = _batch
ad.deflinear2(relayout_p, _transpose)
ad.defjvp(relayout_p, _tangent)  # in place of deflinear2's, which would fill the padding of tangents


# ---- what users call


def relayout(
    x: Any, src_layout: Layout | str, dst_layout: Layout | str, *, fill: Any = 0, transform: str | None = None
) -> Any:
    """`tesela.relayout` as a function of JAX, on the CPU: under jit, vmap, jvp and grad.

    ``x`` has the places of ``src_layout``, padding included, in any shape; the result has those of ``dst_layout``, in one dim (of
    a device layout in the device's shape). ``fill`` goes into padding; places that the layout skips are zero. ``transform`` is
    None or "convert". The gradient is the relayout back, with zeros in padding.

    >>> relayout(jnp.arange(6), "s32[2,3]", "{0,1}").tolist()
    [0, 3, 1, 4, 2, 5]
    """
    src, dst = _sides(src_layout, dst_layout)
    if fill is None:
        raise UnsupportedError("fill is None; inside jax.jit all places are written, give a number")
    if not isinstance(fill, (str, numbers.Number)):
        raise TypeError(f"fill is {type(fill).__name__}; expected a number that is known when the function is traced")
    if transform not in (None, "convert"):
        raise UnsupportedError(f"transform is {transform!r}; inside jax.jit expected None or 'convert'")
    types = _places_type(src), _places_type(dst)
    if jnp.issubdtype(types[0], jnp.inexact) and not jnp.issubdtype(types[1], jnp.inexact):
        raise UnsupportedError(f"from {types[0]} to {types[1]} inside jax.jit; convert with x.astype first")
    x = jnp.asarray(x)
    if x.dtype != types[0]:
        raise MismatchError(f"the array is {x.dtype}; expected {types[0]}, the type of {src}")
    if x.size != src.places:
        raise MismatchError(f"the array has shape {x.shape}; expected {src.places} elements, the places of {src}")
    key = _key(src, dst, str(fill), transform)
    return relayout_p.bind(x.reshape(-1), plan=key).reshape(dst.physical_shape)


def _row_major(of: Layout) -> Layout:
    assert of.element_type is not None
    dims = ",".join(str(extent) for extent in of.shape)
    return layout(f"{of.element_type}[{dims}]")


def _convert(a: Layout, b: Layout) -> str | None:
    return None if a.device_type == b.device_type else "convert"


def to_places(x: Any, to: Layout | str, *, fill: Any = 0) -> Any:
    """The places of an array in a layout; one in braces alone takes shape and type from ``x``. As `relayout` otherwise.

    >>> to_places(jnp.arange(6).reshape(2, 3), "{0,1}").tolist()
    [0, 3, 1, 4, 2, 5]
    """
    x = jnp.asarray(x)
    lies = layout_for(to, x.shape, element_type(x.dtype))
    _places_type(lies)
    if x.shape != lies.shape:
        raise MismatchError(f"the array has shape {x.shape}; expected {lies.shape}, that of {lies}")
    plain = _row_major(lies)
    return relayout(x, plain, lies, fill=fill, transform=_convert(plain, lies))


def from_places(places: Any, layout_of: Layout | str) -> Any:
    """The array whose places these are: the reverse of `to_places`.

    >>> from_places(jnp.array([0, 3, 1, 4, 2, 5]), "s32[2,3]{0,1}").tolist()
    [[0, 1, 2], [3, 4, 5]]
    """
    lies = layout(layout_of)
    _places_type(lies)
    plain = _row_major(lies)
    return relayout(places, lies, plain, transform=_convert(lies, plain)).reshape(lies.shape)
