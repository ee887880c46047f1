# SPDX-License-Identifier: Apache-2.0
"""Checkpoints on a Dask cluster: a task for each file, started again where a worker fails.

Every worker must see the files under the same paths. The results are those of one machine, bit by bit: a file appears under its
name when it is complete, so a task may run twice. Needs `distributed` (pip install "dask[distributed]").

    from dask.distributed import Client
    import tesela.dask

    with Client("scheduler:8786"):
        tesela.dask.pack("model.safetensors.index.json", "tpu/model.safetensors.index.json", {"*.weight": "{1,0:T(8,128)(2,1)}"})
"""

from __future__ import annotations

import glob
import importlib
import os
import pathlib
import re
from collections.abc import Callable, Iterable
from typing import Any

from ._checkpoint import Path, Rules, pack_file
from ._files import safe_open, shards_of
from ._layout import Layout
from ._ops import op
from ._save import copy_file


def pack(
    src: Path, dst: Path, rules: Rules, *, client: Any = None, retries: int = 2, verify: bool = False
) -> dict[str, Any]:
    """`tesela.pack_file` of a model.safetensors.index.json, a task for each shard; the index is written last.

    The rules are checked for the whole checkpoint before any work begins. Returns the answer of the operation `pack`.
    """
    if not os.fspath(src).endswith(".json"):
        (alone,) = _map(_pack, [(os.fspath(src), os.fspath(dst), rules, verify)], client, retries)
        found: dict[str, Any] = alone
        return found
    plan = pack_file(src, dst, rules, dry_run=True)
    folder = pathlib.Path(src).parent
    tasks = []
    for shard in plan["shards"]:
        exact = {glob.escape(one["name"]): _braces(one["to"]) for one in shard["tensors"]}
        tasks.append((str(folder / pathlib.Path(shard["output"]).name), shard["output"], exact, verify))
    plan["shards"] = _map(_pack, tasks, client, retries)
    data = 0
    for _, output, *_ in tasks:
        with safe_open(output) as file:
            data += sum(file.get_physical(name).nbytes for name in file)
    _write_index(pathlib.Path(src), pathlib.Path(dst), data)
    del plan["dry_run"]
    return {**plan, **({"verified": True} if verify else {})}


def relayout(
    files: Iterable[Path], folder: Path, to: Layout | str, *, client: Any = None, retries: int = 2, **fields: Any
) -> list[dict[str, Any]]:
    """The operation `relayout` of many files, a task for each: `folder` gets files of the same names, in the layout `to`.

    ``fields`` are more fields of the operation: ``from`` (in a dict) is the layout of raw files, ``dtype``, ``fill``, ``threads``.
    """
    tasks = [(os.fspath(file), os.path.join(folder, os.path.basename(file)), str(to), fields) for file in files]
    outputs: set[str] = set()
    for _, output, *_ in tasks:
        if output in outputs:
            raise ValueError(f"two files would become {output}")
        outputs.add(output)
    return _map(_relayout, tasks, client, retries)


def digest(src: Path | Iterable[Path], *, client: Any = None, retries: int = 2) -> dict[str, str]:
    """The operation `digest` of every tensor of a checkpoint or of many files, a task for each file.

    Returns the digests by the names of the tensors; of files without names, by their paths. A digest depends on type, shape and
    values, never on the layout: that of a packed checkpoint is that of the original.
    """
    if isinstance(src, (str, os.PathLike)):
        path = os.fspath(src)
        files = sorted(set(shards_of(path).values())) if path.endswith(".json") else [path]
    else:
        files = [os.fspath(file) for file in src]
    found: dict[str, str] = {}
    for file, answer in zip(files, _map(_digest, [(file,) for file in files], client, retries)):
        for one in answer.get("tensors", [answer]):
            name = one.get("tensor", file)
            if name in found:
                raise ValueError(f"tensor {name!r} is in {file} and in another file")
            found[name] = one["digest"]
    return found


# ---- tasks


def _pack(src: str, dst: str, rules: Rules, verify: bool) -> dict[str, Any]:
    if rules:
        return pack_file(src, dst, rules, verify=verify)
    return {"output": dst, "format": "safetensors", "bytes": copy_file(src, dst), "tensors": []}


def _relayout(src: str, dst: str, to: str, fields: dict[str, Any]) -> dict[str, Any]:
    return op("relayout", file=src, output=dst, to=to, **fields)


def _digest(file: str) -> dict[str, Any]:
    return op("digest", file=file)


def _map(task: Callable[..., Any], arguments: list[tuple[Any, ...]], client: Any, retries: int) -> list[Any]:
    """Run the tasks on the cluster. The first failure that is left after the retries is raised; the others are cancelled."""
    if client is None:
        client = importlib.import_module("distributed").default_client()
    futures = [client.submit(task, *one, retries=retries, pure=False) for one in arguments]
    try:
        found: list[Any] = client.gather(futures)
    except BaseException:
        client.cancel(futures)
        raise
    return found


def _braces(to: str) -> str:
    return to[to.index("]") + 1 :]


def _write_index(src: pathlib.Path, dst: pathlib.Path, data: int) -> None:
    """The same index with the bytes of the new data, under its name when it is complete."""
    text = re.sub(r'("total_size"\s*:\s*)\d+', rf"\g<1>{data}", src.read_text(encoding="utf-8"), count=1)
    part = dst.with_name(f".{dst.name}.{os.getpid()}")
    with open(part, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, dst)
