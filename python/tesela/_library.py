# SPDX-License-Identifier: Apache-2.0
"""The C library: found, loaded, declared; its failures as exceptions, its callbacks as Python functions."""

from __future__ import annotations

import ctypes
import os
import pathlib
import sys
from collections.abc import Callable
from typing import Any

from . import _abi as abi
from ._errors import CLASSES, LayoutError, LayoutSyntaxError

Progress = Callable[[int, int], Any]
"""Called with (done, total) now and then; False stops the work, which then raises KeyboardInterrupt."""

NAMES = {"win32": "tesela.dll", "darwin": "libtesela.dylib"}


def find() -> str:
    """The path of the library: beside this file, or what TESELA_LIBRARY names (for work on tesela itself)."""
    given = os.environ.get("TESELA_LIBRARY")
    path = given or str(pathlib.Path(__file__).with_name(NAMES.get(sys.platform, "libtesela.so")))
    if not os.path.exists(path):
        raise ImportError(f"the library of tesela is missing: {path}; install the package again", path=path)
    return path


def load(path: str) -> ctypes.CDLL:
    library = ctypes.CDLL(path)
    for name, (result, arguments) in abi.FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


lib = load(find())
_quick = ctypes.PyDLL(lib._name)


def quick(name: str) -> Any:
    """A function that takes well under a microsecond: called without releasing the GIL."""
    function = getattr(_quick, name)
    function.restype, function.argtypes = abi.FUNCTIONS[name]
    return function


WRITE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
PROGRESS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)

byref = ctypes.byref
address = ctypes.addressof


def decoded(text: bytes) -> str:
    return text.decode("utf-8", "replace")


class Error(abi.tesela_error):
    """A tesela_error to pass to a function."""

    def exception(
        self, text: str | None = None, *, field: str | None = None, where: str | None = None,
        message: str | None = None,
    ) -> BaseException:  # fmt: skip
        """The exception for it. `text` is what the function read: a caret shows the place in it."""
        code = abi.STATUS.get(self.status, "UNKNOWN")
        message = message or decoded(self.message)
        if code == "MEMORY":
            return MemoryError(message)
        if code == "IO" or abi.REASON.get(self.reason) == "PATH":
            return OSError(message)
        if code == "STOPPED":
            return KeyboardInterrupt(message)
        kind = CLASSES.get(code, LayoutError)
        offset = None
        if text is not None and self.at >= 0:
            raw = text.encode("utf-8", "surrogateescape")
            offset = len(raw[: self.at].decode("utf-8", "replace"))
            message += "\n" + caret(self.at, raw)
            if code in ("RANGE", "INVALID"):
                kind = LayoutSyntaxError
        else:
            text = None
        reason = abi.REASON.get(self.reason) or code
        reason = code if reason.startswith("MAX_") else reason  # the message names the limit
        return kind(message, code=reason, text=text, offset=offset, field=field, where=where)


def caret(at: int, text: bytes) -> str:
    """The line of the text, and a caret under byte `at`."""
    lines = Text()
    lib.tesela_error_caret(at, text, len(text), 80, False, lines.writer)
    return lines.text().rstrip("\n")


class Text:
    """A writer that collects what a function prints."""

    def __init__(self) -> None:
        parts: list[bytes] = []

        def write(_user: int, text: int, length: int) -> int:
            parts.append(ctypes.string_at(text, length))
            return 0

        self._parts = parts
        self._write = WRITE(write)
        self._struct = abi.tesela_writer(ctypes.cast(self._write, ctypes.c_void_p), None)
        self.writer = byref(self._struct)

    def text(self) -> str:
        return decoded(b"".join(self._parts))


def printed(function: Callable[..., int], *arguments: Any) -> str:
    """What a function with the parameters (..., writer, err) prints."""
    to, err = Text(), Error()
    if function(*arguments, to.writer, byref(err)):
        raise err.exception()
    return to.text()


class Stop:
    """A tesela_progress: it lets Ctrl-C in, and keeps what a callback raises until the function has returned.

    The library calls it from the thread that called the library, every few ms. Python runs a pending signal handler there, so
    KeyboardInterrupt comes up inside the callback; it must not pass through C.
    """

    def __init__(self, progress: Progress | None = None) -> None:
        self.raised: BaseException | None = None

        def call(_user: int, done: int, total: int) -> int:
            try:
                if progress is not None and progress(done, total) is False:
                    return 1
            except BaseException as error:  # noqa: BLE001 - raised again by `check`
                self.raised = error
                return 1
            return 0

        self._call = PROGRESS(call)
        self.pointer = ctypes.cast(self._call, ctypes.c_void_p)

    def check(self, status: int, err: Error, **details: Any) -> None:
        """After the call: raise what the callback raised, or the failure."""
        if self.raised is not None:
            try:
                raise self.raised
            finally:
                self.raised = None
        if status:
            raise err.exception(**details)


def version() -> str:
    """The version of the library."""
    return str(lib.tesela_version().decode())
