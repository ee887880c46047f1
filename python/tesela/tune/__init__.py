# SPDX-License-Identifier: Apache-2.0
"""What to change in a JAX program so that a TPU needs less memory or time, judged by the TPU's compiler; no TPU is needed.

    tesela tune step.py:step --args 'f32[65536,3]' 's32[65536,16]'

    import tesela.tune
    print(tesela.tune.tune(step, p, ids))          # arrays or jax.ShapeDtypeStruct

Needs `pip install "jax[tpu]"` (libtpu). All figures are estimates of the compiler; nothing is run on a TPU.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from ._compile import Compiler as _Compiler


class Tuning:
    """What `tune` found: `text`, which str() gives, and `json`."""

    def __init__(self, search: Any, name: str) -> None:
        from . import _show

        self.json: dict[str, Any] = _show.as_json(search, name)
        self.text: str = _show.text(search, name)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Tuning of {self.json['function']}: {len(self.json['findings'])} findings>"


def tune(
    function: Callable[..., Any], *arguments: Any, target: str = "v5e", compiles: int = 24, donate: Sequence[int] = (),
    cache: str | os.PathLike[str] | None = None, name: str | None = None, progress: Callable[[str], None] | None = None,
) -> Tuning:  # fmt: skip
    """Compile `function(*arguments)` as it is, with AUTO layouts and with up to `compiles` - 2 changes, and say what helps.

    ``arguments`` are arrays or jax.ShapeDtypeStructs in any trees; ``donate`` are numbers of their leaves (of a function of jax.jit its own
    donations count). Rewrites are compared with the function on the CPU, on the arrays given or on random ones. ``cache`` is a folder of
    earlier compiles; ``progress`` is called with words before each one.
    """
    if compiles < 2:
        raise ValueError(f"compiles is {compiles}; the program as it is and AUTO need 2")
    compiler = _Compiler(target, cache)
    from ._search import Search
    from ._subject import Subject

    search = Search(Subject(function, arguments, donate), compiler, compiles, progress)
    search.run()
    return Tuning(search, name or str(getattr(function, "__name__", "function")))


_REWRITES = (
    "components", "constrained", "merged_tables", "one_hot_as_take", "pack_rows", "packed_rows", "patches_as_convolution",
    "pixels_as_channels", "products_last", "unpack_rows",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _REWRITES:  # they need jax, whose settings the compiler makes first
        from . import _rewrites

        return getattr(_rewrites, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Tuning", "components", "constrained", "merged_tables", "one_hot_as_take", "pack_rows", "packed_rows", "patches_as_convolution",
    "pixels_as_channels", "products_last", "tune", "unpack_rows",
]  # fmt: skip
