# SPDX-License-Identifier: Apache-2.0
"""Arrays written to .safetensors files, some in layouts, which the file records."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Mapping
from typing import Any

from . import _abi as abi
from ._arrays import borrow
from ._errors import MismatchError
from ._files import SAFETENSORS, File, missing
from ._layout import Layout, row_major
from ._library import Error, address, byref, decoded, lib
from ._tensor import TiledArray, layout_for, pack


def save_file(
    tensors: Mapping[str, Any], filename: str | os.PathLike[str], layouts: Mapping[str, Layout | str] | None = None,
    metadata: Mapping[str, str] | None = None,
) -> None:  # fmt: skip
    """Write arrays to a .safetensors: as safetensors.numpy.save_file does, some in layouts.

    An array may be of any package, with any strides, or a TiledArray, which is written as it lies. ``layouts`` gives the layout of
    others by name. The file records layouts, so that `safe_open` and `tesela unpack` need none. It appears whole or not at all.

    >>> save_file({"w": np.ones((3, 5), np.float32)}, "w.safetensors", {"w": "{1,0:T(2,2)}"})    # doctest: +SKIP
    """
    wanted = dict(layouts or {})
    for name in wanted:
        if name not in tensors:
            raise KeyError(missing(name, list(tensors)))
    items, keep = (abi.tesela_file_item * len(tensors))(), []
    for item, (name, x) in zip(items, tensors.items()):
        keep.append(_fill_item(item, name, x, wanted.get(name)))
    path, source, err = os.fspath(filename), ctypes.c_void_p(), Error()
    if metadata:
        header = _header_of(metadata)
        if lib.tesela_file_open_memory(byref(source), header, len(header), None, byref(err)):
            raise err.exception()
    try:
        options = abi.tesela_file_write_options(source=source.value)
        if lib.tesela_file_write(
            os.fsencode(path), SAFETENSORS, len(items), items, byref(options), None, None, byref(err)
        ):
            raise err.exception(message=f"{path}: {decoded(err.message)}")
    finally:
        lib.tesela_file_close(source)


def copy_file(src: str, dst: str) -> int:
    """Write a .safetensors again, unchanged, as `pack_file` writes one without a rule for its tensors; the bytes of the new file."""
    file, err, size = File(src), Error(), ctypes.c_int64()
    items = (abi.tesela_file_item * len(file.tensors))()
    for item, tensor in zip(items, file.tensors.values()):
        item.name, item.tensor = tensor.name, address(tensor)
    options = abi.tesela_file_write_options(source=file.pointer)
    if lib.tesela_file_write(
        os.fsencode(dst), SAFETENSORS, len(items), items, byref(options), None, byref(size), byref(err)
    ):
        raise err.exception(message=f"{dst}: {decoded(err.message)}")
    return size.value


def _header_of(metadata: Mapping[str, str]) -> bytes:
    """A .safetensors without tensors: the texts that the new file keeps."""
    for key, value in metadata.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise TypeError(f"metadata {key!r}: expected a text, found {type(value).__name__}")
    text = json.dumps({"__metadata__": dict(metadata)}, ensure_ascii=False).encode()
    return len(text).to_bytes(8, "little") + text


def _fill_item(item: Any, name: str, x: Any, to: Layout | str | None) -> Any:
    """What is written under a name; returns what must live until then."""
    if not isinstance(name, str) or "\0" in name:
        raise ValueError(f"invalid name {name!r}")
    if isinstance(x, TiledArray):
        written = x.layout if to is None else layout_for(to, x.shape, str(x.layout.element_type))
        if written != x.layout:
            x = x.to(written)
    else:
        array = borrow(x)
        written = layout_for(to or row_major(array.type, array.shape), array.shape, array.type)
        if written.shape != array.shape or written.element_type != array.type:
            raise MismatchError(f"{name} is {array.type}{list(array.shape)}; expected that in its layout {written}")
        if written.bits != 8 * array.itemsize:
            x = pack(x, written)
    if isinstance(x, TiledArray):
        source, start, swapped = written._relation, x.physical.__array_interface__["data"][0], False
    else:
        (source, start), swapped = array.relation(), array.swapped
    sizes, err = abi.tesela_sizes(), Error()
    if lib.tesela_layout_sizes(address(source), byref(sizes), byref(err)):
        raise err.exception()
    tensor = abi.tesela_file_tensor(
        name=b"",
        type=b"",
        dtype=source.dtype,
        bits=source.bits,
        rank=source.rank,
        swapped=swapped,
        data=start,
        bytes=sizes.bytes,
    )
    item.name, item.layout = name.encode(), written.to("xla").encode()  # the notation that all readers know
    item.tensor, item.to = address(tensor), written._at
    setattr(item, "from", address(source))
    return x, source, tensor, written
