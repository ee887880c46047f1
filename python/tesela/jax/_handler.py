# SPDX-License-Identifier: Apache-2.0
"""The custom call `tesela_relayout`: handler.c compiled on first use, kept in a folder of the user's, registered with JAX."""

from __future__ import annotations

import ctypes
import hashlib
import os
import pathlib
import platform
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from typing import Any

import jax

from .. import _abi as abi
from .._errors import UnsupportedError
from .._library import lib

TARGET = "tesela_relayout"
SOURCE = pathlib.Path(__file__).with_name("handler.c")
HEADER = "xla/ffi/api/c_api.h"
FLAGS = ["-std=c11", "-O2", "-shared", "-fPIC"]

_lock = threading.Lock()
_registered: Any = None  # the library and the callback, which live as long as the process


class Entry(ctypes.Structure):
    """`entry` of handler.c."""

    _fields_ = [
        ("plan", ctypes.c_void_p), ("src_places", ctypes.c_int64), ("dst_places", ctypes.c_int64),
        ("dst_bytes", ctypes.c_int64), ("src_size", ctypes.c_int64), ("dst_size", ctypes.c_int64),
        ("src_dtype", ctypes.c_int64), ("dst_dtype", ctypes.c_int64), ("clear", ctypes.c_int64),
    ]  # fmt: skip


_MAKE = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(Entry), ctypes.c_void_p, ctypes.c_size_t
)


def register(entry_of: Callable[[str], Entry]) -> None:
    """Compile the handler if it is not kept yet, load it, and register it with JAX. Once in a process; any thread."""
    global _registered
    with _lock:
        if _registered is not None:
            return

        def make(text: int, length: int, out: Any, message: int, size: int) -> int:
            try:
                out[0] = entry_of(ctypes.string_at(text, length).decode())
                return 0
            except BaseException as error:  # noqa: BLE001 - an exception must not pass through C
                said = f"{TARGET}: {error}".encode()[: size - 1]
                ctypes.memmove(message, said + b"\0", len(said) + 1)
                return -1

        handler, callback = _load(), _MAKE(make)
        handler.tesela_jax_init.argtypes = [ctypes.c_void_p, _MAKE, ctypes.c_size_t, ctypes.c_size_t]
        run = ctypes.cast(lib.tesela_plan_run, ctypes.c_void_p)
        error = abi.tesela_error
        if handler.tesela_jax_init(run, callback, ctypes.sizeof(error), error.message.offset):
            raise UnsupportedError("handler.c is not of this version of tesela; install the package again")
        jax.ffi.register_ffi_target(TARGET, jax.ffi.pycapsule(handler.tesela_jax_relayout), platform="cpu")
        _registered = (handler, callback)


# ---- compiled and kept


def _load() -> ctypes.CDLL:
    headers = jax.ffi.include_dir()
    folder, kept = _folder()
    try:
        name = f"jax-{_digest(headers)}"
        for path in folder.glob(f"{name}-*.so"):
            if path.stem == f"{name}-{_content(path)}":  # a damaged library would end the process
                return ctypes.CDLL(str(path))
            path.unlink(missing_ok=True)
        return ctypes.CDLL(str(compile_handler(folder, name, headers)))
    finally:
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)  # what is loaded stays loaded


def _digest(headers: str) -> str:
    """Of all that the handler depends on: another jaxlib, another machine or another tesela has another one."""
    digest = hashlib.sha256()
    for part in (
        SOURCE.read_bytes(),
        pathlib.Path(headers, HEADER).read_bytes(),
        sys.platform,
        platform.machine(),
        FLAGS,
    ):
        digest.update(hashlib.sha256(part if isinstance(part, bytes) else str(part).encode()).digest())
    return digest.hexdigest()[:32]


def _folder() -> tuple[pathlib.Path, bool]:
    """Where handlers are kept: TESELA_CACHE, else tesela in the user's folder of caches. One that another user could write to,
    or that cannot be made, is not used: the handler is then compiled for this process alone.
    """
    given = os.environ.get("TESELA_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = pathlib.Path(given or os.path.join(base, "tesela"))
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
        if (
            found.st_uid == os.geteuid()
            and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            and os.access(folder, os.W_OK)
        ):
            return folder, True
    except OSError:
        pass
    return pathlib.Path(tempfile.mkdtemp(prefix="tesela-")), False


def compiler() -> list[str]:
    """The command of the C compiler: CC, else cc, gcc or clang."""
    given = shlex.split(os.environ.get("CC", ""))
    for name in [given[0]] if given else ["cc", "gcc", "clang"]:
        if path := shutil.which(name):
            return [path, *given[1:]]
    missing = f"CC names {given[0]}, which is not there" if given else "no C compiler was found (cc, gcc, clang)"
    raise UnsupportedError(f"relayout inside jax.jit is compiled on first use, and {missing}; install one, or set CC")


def _content(path: pathlib.Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def compile_handler(folder: pathlib.Path, name: str, headers: str) -> pathlib.Path:
    """The file appears, named by its content, when it is complete, so processes may do this at the same time."""
    command = compiler()
    descriptor, part = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
    try:
        run = subprocess.run(
            [*command, *FLAGS, f"-I{headers}", str(SOURCE), "-o", part], capture_output=True, text=True, check=False
        )
        if run.returncode:
            raise UnsupportedError(f"{shlex.join(command)} could not compile {SOURCE.name}:\n{run.stderr.strip()}")
        path = folder / f"{name}-{_content(pathlib.Path(part))}.so"
        os.replace(part, path)
        return path
    finally:
        os.close(descriptor)
        if os.path.exists(part):
            os.unlink(part)
