# SPDX-License-Identifier: Apache-2.0
"""The table of operations: everything that `tesela query` answers, dicts in and out, without JSON text in between."""

from __future__ import annotations

import ctypes
import os
import struct
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from . import _abi as abi
from ._errors import TeselaWarning
from ._library import Error, Progress, Stop, byref, decoded, lib

NULL, BOOL, INT, REAL, TEXT, LIST, OBJECT = range(7)
NODE = struct.Struct("@PiNq")  # tesela_value: name, kind, n, as
NODE_REAL = struct.Struct("@PiNd")
EVENT_OBJECT, EVENT_LIST, EVENT_END, EVENT_KEY, EVENT_PART, EVENT_TEXT, EVENT_INT, EVENT_REAL, EVENT_BOOL = range(9)

TAKE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(abi.tesela_event))
NOTE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)


class Tree:
    """A value of Python as a tree of tesela_value: all nodes, then all texts, in one block of memory."""

    def __init__(self, value: Any) -> None:
        nodes: list[list[Any]] = [[-1, NULL, 0, 0]]  # name (offset or -1), kind, n, payload (offset of TEXT, first item of others)
        texts = bytearray()
        names: dict[str, int] = {}
        queue: list[tuple[int, Any]] = [(0, value)]

        def keep(text: str) -> tuple[int, int]:
            raw = text.encode("utf-8", "surrogateescape")
            start = len(texts)
            texts.extend(raw)
            texts.append(0)
            return start, len(raw)

        for at, item in queue:  # grows while it is walked
            node = nodes[at]
            if item is None:
                continue
            if isinstance(item, str):
                node[3], node[2] = keep(item)
                node[1] = TEXT
            elif isinstance(item, bool):
                node[1:] = BOOL, 0, int(item)
            elif isinstance(item, float):
                node[1:] = REAL, 0, item
            elif isinstance(item, os.PathLike):
                node[3], node[2] = keep(os.fsdecode(item))
                node[1] = TEXT
            elif isinstance(item, Mapping):
                node[1:] = OBJECT, len(item), len(nodes)
                for key, member in item.items():
                    key = str(key)
                    if key not in names:
                        names[key] = keep(key)[0]
                    queue.append((len(nodes), member))
                    nodes.append([names[key], NULL, 0, 0])
            elif hasattr(item, "__index__"):
                number = item.__index__()
                if not -(2**63) <= number < 2**63:
                    raise OverflowError(f"{number} does not fit in 64 bits")
                node[1:] = INT, 0, number
            elif hasattr(item, "tolist"):
                queue.append((at, item.tolist()))
            elif isinstance(item, (Sequence, set, frozenset)) and not isinstance(item, (bytes, bytearray)):
                node[1:] = LIST, len(item), len(nodes)
                for one in item:
                    queue.append((len(nodes), one))
                    nodes.append([-1, NULL, 0, 0])
            elif hasattr(item, "__float__"):
                node[1:] = REAL, 0, float(item)
            else:
                queue.append((at, str(item)))
        self.memory = ctypes.create_string_buffer(len(nodes) * NODE.size + len(texts))
        base = ctypes.addressof(self.memory)
        text_base = base + len(nodes) * NODE.size
        at = 0
        for name, kind, n, payload in nodes:
            name = 0 if name < 0 else text_base + name
            if kind == REAL:
                NODE_REAL.pack_into(self.memory, at, name, kind, n, payload)
            else:
                if kind == TEXT:
                    payload += text_base
                elif kind in (LIST, OBJECT):
                    payload = base + payload * NODE.size
                NODE.pack_into(self.memory, at, name, kind, n, payload)
            at += NODE.size
        ctypes.memmove(text_base, bytes(texts), len(texts))
        self.address = base


class Answer:
    """A sink that builds the answer as dicts and lists."""

    def __init__(self) -> None:
        self.value: dict[str, Any] = {}
        self.raised: BaseException | None = None
        open_values: list[Any] = [self.value]
        key: list[str] = [""]
        part = bytearray()

        def put(item: Any) -> None:
            top = open_values[-1]
            if type(top) is list:
                top.append(item)
            else:
                top[key[0]] = item

        def take(_sink: int, event: Any) -> int:
            try:
                e = event[0]
                kind = e.kind
                if kind == EVENT_KEY:
                    key[0] = decoded(ctypes.string_at(e.text, e.length))
                elif kind == EVENT_INT:
                    put(e.integer)
                elif kind == EVENT_TEXT or kind == EVENT_PART:
                    part.extend(ctypes.string_at(e.text, e.length))
                    if kind == EVENT_TEXT:
                        put(decoded(bytes(part)))
                        part.clear()
                elif kind == EVENT_OBJECT or kind == EVENT_LIST:
                    item: Any = {} if kind == EVENT_OBJECT else []
                    put(item)
                    open_values.append(item)
                elif kind == EVENT_END:
                    open_values.pop()
                elif kind == EVENT_REAL:
                    put(e.real)
                elif kind == EVENT_BOOL:
                    put(e.integer != 0)
                else:
                    put(None)
            except BaseException as error:  # noqa: BLE001 - raised again by `op`
                self.raised = error
                return 1
            return 0

        self._take = TAKE(take)
        self.sink = abi.tesela_sink(ctypes.cast(self._take, ctypes.c_void_p), None, False)


def op(name: str, /, *, progress: Progress | None = None, **fields: Any) -> dict[str, Any]:
    """Answer one request: the operation and fields of docs/query.md; fields of None are left out.

    >>> op("where", layout="f32[3,5]{1,0:T(2,2)}", indices=[[2, 3]])
    {'places': [17]}

    Files are those of this process. `progress(done, total)` is called now and then by operations that run long. A failure
    raises a LayoutError whose `field` is the one at fault; notes of the library become warnings.
    """
    tree = Tree({"op": name, **{key: value for key, value in fields.items() if value is not None}})
    answer, stop, err, notes = Answer(), Stop(progress), Error(), []
    note = NOTE(lambda _user, text: notes.append(decoded(text)))
    request = abi.tesela_request(
        value=tree.address,
        out=ctypes.addressof(answer.sink),
        err=ctypes.addressof(err),
        lenient=True,
        files_anywhere=True,
        note=ctypes.cast(note, ctypes.c_void_p),
        progress=stop.pointer,
    )
    status = lib.tesela_request_answer(byref(request))
    try:
        if answer.raised is not None:
            raise answer.raised
        field = decoded(request.field) if request.field else None
        given = fields.get(field) if field else None
        stop.check(
            status,
            err,
            text=decoded(request.text) if request.text else given if isinstance(given, str) else None,
            field=field,
            where=decoded(request.error_at) or None,
            message=decoded(ctypes.string_at(request.message)) if request.message else None,
        )
    finally:
        answer.raised = None
        lib.tesela_request_free(byref(request))
    for text in notes:
        warnings.warn(text, TeselaWarning, stacklevel=2)
    return answer.value
