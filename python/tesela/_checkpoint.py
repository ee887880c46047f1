# SPDX-License-Identifier: Apache-2.0
"""Checkpoints packed for a device and unpacked: the operations pack and unpack."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ._layout import Layout
from ._library import Progress
from ._ops import op
from ._progress import watching

Path = str | os.PathLike[str]
Rules = Mapping[str, Layout | str] | str


def rules_of(rules: Rules) -> dict[str, Any]:
    """The fields rules and to of the operation."""
    if isinstance(rules, str):
        return {"to": rules}
    return {"rules": [f"{pattern}={braces_of(to)}" for pattern, to in rules.items()]}


def braces_of(to: Layout | str) -> str:
    """A layout without type and dims, as a rule takes it."""
    text = str(to)
    return text[text.index("{") :] if isinstance(to, Layout) and "{" in text else text


def pack_file(
    src: Path, dst: Path, rules: Rules, *, verify: bool = False, resume: bool = False, dry_run: bool = False,
    progress: bool | Progress | None = None, threads: int | None = None, memory: int | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Copy a .safetensors, or the shards of a model.safetensors.index.json, with tensors in the layouts of a device.

    ``rules`` maps patterns of names to layouts in braces: the first whose pattern matches and that has as many dims as the tensor
    counts, tensors without one are copied unchanged. A text alone is the layout of all. The file records the layouts.

    ``verify`` reads everything back before the file gets its name. ``resume`` continues what an earlier call left when its process
    ended. ``dry_run`` writes nothing and answers what would be written. ``progress`` is True for a bar, or a function that is called
    with (done, total) in bytes and stops the work by returning False. ``memory``: about so many bytes of the files in memory.

    Returns the answer of the operation `pack`: ``tensors`` that were packed, ``bytes`` of the file.

    >>> pack_file("model.safetensors", "tpu.safetensors", {"*.weight": "{1,0:T(8,128)(2,1)}"})    # doctest: +SKIP
    """
    os.stat(src)  # FileNotFoundError, with its name
    flags = {name: True for name, wanted in (("verify", verify), ("resume", resume), ("dry_run", dry_run)) if wanted}
    with watching(progress, "pack") as shown:
        return op(
            "pack",
            file=os.fspath(src),
            output=os.fspath(dst),
            progress=shown,
            threads=threads,
            memory=memory,
            **rules_of(rules),
            **flags,
        )


def unpack_file(
    src: Path, dst: Path, *, tensor: str | None = None, progress: bool | Progress | None = None, threads: int | None = None,
    memory: int | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Copy a packed .safetensors with all tensors row-major again, or one tensor to a .npy or raw file.

    >>> unpack_file("tpu.safetensors", "model.safetensors")    # doctest: +SKIP
    """
    os.stat(src)
    with watching(progress, "unpack") as shown:
        return op(
            "unpack",
            file=os.fspath(src),
            output=os.fspath(dst),
            tensor=tensor,
            progress=shown,
            threads=threads,
            memory=memory,
        )
