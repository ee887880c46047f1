# SPDX-License-Identifier: Apache-2.0
"""Trees of arrays in layouts and back, with the structure kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import jax
import numpy as np

from .._errors import LayoutError, MismatchError, UnsupportedError
from .._frameworks import NAMES, Framework
from .._layout import Layout
from .._tensor import TiledArray
from .._tensor import pack as pack_array

keystr, flatten = jax.tree_util.keystr, jax.tree_util.tree_flatten_with_path


def _is_layout(node: Any) -> bool:
    return node is None or isinstance(node, (str, Layout))


def _fail(path: str, error: Exception) -> NoReturn:
    """The same failure with the path of the leaf."""
    said = f"{path}: {error}" if path else str(error)
    if isinstance(error, LayoutError):
        details = {name: getattr(error, name) for name in ("code", "text", "offset", "field", "where")}
        raise type(error)(said, **details) from error
    raise (TypeError if isinstance(error, TypeError) else UnsupportedError)(said) from error


def _layouts_for(paths: list[Any], layouts: Any) -> list[Any]:
    """The layout of each leaf: that at the leaf's own path in `layouts`, or at the start of it."""
    given = dict(flatten(layouts, is_leaf=_is_layout)[0])
    for path, one in given.items():
        if not _is_layout(one):
            raise TypeError(f"layouts{keystr(path)} is {type(one).__name__}; expected a layout, its text, or None")
    found, used = [], set()
    for path in paths:
        start = next((path[:n] for n in range(len(path) + 1) if path[:n] in given), None)
        if start is None:
            raise MismatchError(f"layouts has none for the leaf {keystr(path)}; None there leaves it as it is")
        found.append(given[start])
        used.add(start)
    for path, one in given.items():
        if one is not None and path and path not in used:
            raise MismatchError(f"layouts{keystr(path)} is for no leaf of the tree")
    return found


def pack(tree: Any, layouts: Any, *, fill: Any = 0, convert: bool = False, threads: int | None = None) -> Any:
    """A tree with a TiledArray in place of each array. JAX's arrays, NumPy's, and whatever `tesela.pack` takes.

    ``layouts`` is a layout for all leaves; or a tree of layouts, that of the leaves or its upper part; or a function of the path
    of a leaf, as `jax.tree_util.keystr` writes it, and of the leaf. None leaves a leaf as it is. In braces alone a layout takes
    shape and type from its leaf. ``fill``, ``convert`` and ``threads`` are those of `tesela.pack`. Failures name the leaf.

    >>> params = {"w": jnp.ones((3, 5)), "b": jnp.ones(5)}
    >>> pack(params, {"w": "{1,0:T(2,2)}", "b": None})["w"]
    TiledArray(f32[3,5]{1,0:T(2,2)}, 96 bytes)
    """
    leaves, structure = flatten(tree)
    paths = [path for path, _ in leaves]
    if callable(layouts) and not isinstance(layouts, Layout):
        choose: Callable[[str, Any], Any] = layouts
        chosen = [choose(keystr(path), leaf) for path, leaf in leaves]
    else:
        chosen = _layouts_for(paths, layouts)
    packed = []
    for (path, leaf), to in zip(leaves, chosen):
        if to is None:
            packed.append(leaf)
            continue
        if isinstance(leaf, jax.core.Tracer):
            raise UnsupportedError(f"{keystr(path)}: a traced array; inside jax.jit use tesela.jax.to_places")
        try:
            if not _is_layout(to):
                raise TypeError(f"expected a layout, its text, or None; found {type(to).__name__}")
            if isinstance(leaf, jax.Array):  # of any device, sharded or not
                leaf = np.asarray(leaf)
            packed.append(pack_array(leaf, to, fill=fill, convert=convert, threads=threads))
        except (ValueError, TypeError, RuntimeError) as error:
            _fail(keystr(path), error)
    return jax.tree_util.tree_unflatten(structure, packed)


def unpack(tree: Any, *, framework: str = "jax", device: Any = "cpu", threads: int | None = None) -> Any:
    """A tree with an array in place of each TiledArray: of JAX, on ``device``, or of NumPy (``framework="np"``).

    Other leaves stay as they are.

    >>> unpack(pack({"w": jnp.ones((1, 2))}, "{0,1}"))
    {'w': Array([[1., 1.]], dtype=float32)}
    """
    makes = Framework(framework, device)
    leaves, structure = flatten(tree)
    unpacked = []
    for path, leaf in leaves:
        if isinstance(leaf, TiledArray):
            try:
                if NAMES[framework] == "jax" and jax.dtypes.canonicalize_dtype(leaf.dtype) != leaf.dtype:
                    raise UnsupportedError(
                        f"JAX makes {leaf.dtype} narrower; set jax_enable_x64, or use framework='np'"
                    )
                leaf = makes.tensor(leaf.unpack(threads=threads))
            except (ValueError, TypeError, RuntimeError) as error:
                _fail(keystr(path), error)
        unpacked.append(leaf)
    return jax.tree_util.tree_unflatten(structure, unpacked)
