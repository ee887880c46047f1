# SPDX-License-Identifier: Apache-2.0
"""Tensors in .safetensors files and sharded checkpoints, packed or not, read as safetensors reads them."""

from __future__ import annotations

import ctypes
import difflib
import json
import os
import pathlib
import weakref
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from . import _abi as abi
from ._errors import LayoutError, MismatchError, UnsupportedError
from ._frameworks import Framework
from ._layout import Layout, layout, row_major
from ._library import Error, address, byref, decoded, lib
from ._slices import part_of
from ._tensor import TiledArray

SAFETENSORS = 2  # tesela_file_format


class Memory:
    """Bytes of a mapped file as a read-only array that keeps the file open."""

    def __init__(self, start: int, count: int, keep: Any) -> None:
        self.keep = keep
        self.__array_interface__ = {"data": (start, True), "shape": (count,), "typestr": "|u1", "version": 3}


class File:
    """An open .safetensors: its tensors by name."""

    def __init__(self, path: str) -> None:
        os.stat(path)  # FileNotFoundError, with its name
        file, info, err = ctypes.c_void_p(), abi.tesela_file_info(), Error()
        if lib.tesela_file_open(byref(file), os.fsencode(path), None, byref(err)):
            raise err.exception(message=f"{path}: {decoded(err.message)}")
        self.pointer = file.value
        self._free = weakref.finalize(self, lib.tesela_file_close, self.pointer)
        lib.tesela_file_describe(file, byref(info))
        if info.format != SAFETENSORS:
            raise UnsupportedError(f"{path} is not a .safetensors; np.load reads .npy")
        self.path = path
        tensors = (abi.tesela_file_tensor * info.n_tensors).from_address(info.tensor) if info.n_tensors else ()
        self.tensors = {decoded(one.name): one for one in tensors}
        texts = (abi.tesela_file_text * info.n_texts).from_address(info.text) if info.n_texts else ()
        self.texts = {decoded(one.key): decoded(one.value) for one in texts}

    def layout(self, name: str) -> Layout:
        """The layout of a tensor: the one that the file records, else row-major."""
        tensor = self.tensors[name]
        if tensor.layout:
            return layout(decoded(tensor.layout))
        relation, err = abi.tesela_layout(), Error()
        if lib.tesela_file_layout(address(tensor), 0, byref(relation), byref(err)):
            raise err.exception(message=f"{self.path}: tensor {name}: {decoded(err.message)}")
        own = relation.bits == 8 * lib.tesela_dtype_bytes(relation.dtype)
        shape = tuple(tensor.shape[: tensor.rank])
        return row_major(abi.DTYPE[relation.dtype], shape, None if own else relation.bits)

    def array(self, name: str) -> TiledArray:
        """The places of a tensor, not copied."""
        tensor, lies = self.tensors[name], self.layout(name)
        if not tensor.bytes:
            data = np.empty(0, np.uint8)
            data.flags.writeable = False
        else:
            data = np.asarray(Memory(tensor.data, tensor.bytes, self))
        dtype = lies.dtype if lies.element_type else None
        if dtype is not None and dtype.itemsize * 8 == lies.bits:
            data = data.view(dtype)
        return TiledArray(data, lies)

    def type(self, name: str) -> str:
        """The type as safetensors names it; the name of XLA if it has none."""
        tensor = self.tensors[name]
        if not tensor.layout:
            return decoded(tensor.type)
        lies, text = self.layout(name), ctypes.create_string_buffer(16)
        lib.tesela_file_type(SAFETENSORS, lies._relation.dtype, text)
        return text.value.decode() or str(lies.element_type)


class TensorSlice:
    """A tensor of which `[...]` reads a part: only the bytes of its elements are touched."""

    def __init__(self, file: File, name: str, framework: Framework) -> None:
        self._array, self._type, self._framework = file.array(name), file.type(name), framework

    def get_shape(self) -> list[int]:
        return list(self._array.shape)

    def get_dtype(self) -> str:
        """The type as the file names it: "BF16"."""
        return self._type

    def __getitem__(self, key: Any) -> Any:
        """Integers, slices and ... select as in NumPy."""
        return self._framework.tensor(part_of(self._array, key))

    def __repr__(self) -> str:
        return f"TensorSlice({self._array.layout!s})"


class safe_open:
    """The tensors of a .safetensors, or of a checkpoint by its model.safetensors.index.json, as safetensors.safe_open gives them.

    Tensors that tesela has packed are unpacked as they are read. ``framework`` is "np", "pt" or "flax"; ``device`` is where tensors
    of torch and JAX go. ``f["w"]`` is the tensor as it lies in the file, a TiledArray that is not copied.

    >>> with safe_open("model.safetensors") as f:                   # doctest: +SKIP
    ...     f.get_tensor("w"), f.get_slice("w")[0:1024, :], f["w"].layout
    """

    def __init__(self, filename: str | os.PathLike[str], framework: str = "np", device: Any = "cpu") -> None:
        self._path = os.fspath(filename)
        self._framework = Framework(framework, device)
        self._files: dict[str, File] = {}
        self._shards: dict[str, str] = {}
        self._open = True
        if self._path.endswith(".json"):
            self._shards = shards_of(self._path)
        else:
            file = self._files[self._path] = File(self._path)
            self._shards = dict.fromkeys(file.tensors, self._path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        """Close the file. Views of its memory stay valid: the file stays mapped until the last one is gone."""
        self._files.clear()
        self._open = False

    def _file(self, path: str) -> File:
        if not self._open:
            raise ValueError(f"{self._path} is closed")
        if path not in self._files:
            self._files[path] = File(path)
        return self._files[path]

    def _of(self, name: str) -> File:
        self._check()
        if name not in self._shards:
            raise KeyError(missing(name, list(self._shards)))
        file = self._file(self._shards[name])
        if name not in file.tensors:
            raise MismatchError(f"{self._path} says that {file.path} has tensor {name!r}; it has not")
        return file

    def _check(self) -> None:
        if not self._open:
            raise ValueError(f"{self._path} is closed")

    def keys(self) -> list[str]:
        """The names of all tensors, sorted."""
        self._check()
        return sorted(self._shards)

    def offset_keys(self) -> list[str]:
        """The names in the order of the data; of a checkpoint file by file."""
        self._check()
        names: list[str] = []
        for path in sorted(set(self._shards.values())):
            file = self._file(path)
            ours = [name for name in file.tensors if self._shards.get(name) == path]
            names += sorted(ours, key=lambda name: (file.tensors[name].data or 0, file.tensors[name].bytes))
        return names

    def metadata(self) -> dict[str, str] | None:
        """The texts of the file, None without any; of a checkpoint those of all files, the first that has a key counts."""
        self._check()
        texts: dict[str, str] = {}
        for path in sorted(set(self._shards.values()) or {self._path}):
            texts = {**self._file(path).texts, **texts}
        return texts or None

    def get_tensor(self, name: str) -> Any:
        """A whole tensor, in row-major order and memory of its own."""
        return self._framework.tensor(self._of(name).array(name).unpack())

    def get_tensors(self) -> dict[str, Any]:
        """All tensors by name."""
        return {name: self.get_tensor(name) for name in self.offset_keys()}

    def get_slice(self, name: str) -> TensorSlice:
        """A tensor to take a part of: `f.get_slice("w")[0:1024, :]` touches only the bytes of that part."""
        return TensorSlice(self._of(name), name, self._framework)

    def get_physical(self, name: str) -> NDArray[Any]:
        """The places of a tensor as they are in the file, padding included: a read-only view of the mapped file, not a copy."""
        return self[name].physical

    def __getitem__(self, name: str) -> TiledArray:
        return self._of(name).array(name)

    def __contains__(self, name: object) -> bool:
        return name in self._shards

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self._shards)

    def __repr__(self) -> str:
        return f"safe_open({self._path!r}, {len(self._shards)} tensors)"


def missing(name: str, names: list[str]) -> str:
    near = difflib.get_close_matches(name, names, 1)
    listed = ", ".join(sorted(names)[:5]) + (", ..." if len(names) > 5 else "")
    return f"no tensor {name!r}{f'; did you mean {near[0]}?' if near else ''} The file has {len(names)}: {listed}"


def shards_of(path: str) -> dict[str, str]:
    """Which file has which tensor, by the index of a checkpoint."""
    with open(path, encoding="utf-8") as file:
        index = json.load(file)
    names = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(names, dict):
        raise LayoutError(f"{path}: expected an object with the member weight_map")
    folder = pathlib.Path(path).parent
    for tensor, name in names.items():
        if not isinstance(name, str) or name in ("", ".", "..") or "/" in name or os.sep in name:
            raise LayoutError(f"{path}: tensor {tensor}: expected a file beside the index, found {name!r}")
    return {tensor: str(folder / name) for tensor, name in names.items()}
