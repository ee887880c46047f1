# SPDX-License-Identifier: Apache-2.0
"""Graphs of operators: layouts and moves, memory, loops, runs."""

from __future__ import annotations

import ctypes
import json
import os
import pathlib
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _abi as abi
from ._arrays import Array, borrow
from ._errors import LayoutError, LayoutSyntaxError, MismatchError
from ._layout import read_target, target_text
from ._library import Error, Progress, address, byref, decoded, lib
from ._ops import Answer, Tree, op
from ._results import Result
from ._types import numpy_dtype


class Tensor(NamedTuple):
    """A tensor of a graph: its type as XLA names it (None: only a width is known) and its shape."""

    dtype: str | None
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"


class Assignment(Result):
    """Layouts for all tensors of a graph, and the moves it needs; made by `Graph.assign`."""

    __slots__ = ()


class Memory(Result):
    """Offsets for the buffers of a graph; made by `Graph.plan`."""

    __slots__ = ()

    @property
    def peak(self) -> int:
        """Bytes of the arena."""
        return int(self.arena.peak)


class Run(Mapping[Any, Any]):
    """The results of `Graph.run`, by name and by position: ``r["y"]``, ``r[0]``; facts of the run are attributes of ``r.facts``."""

    __slots__ = ("_names", "_values", "facts")

    def __init__(self, names: tuple[str, ...], values: dict[str, NDArray[Any]], facts: Result) -> None:
        self._names, self._values, self.facts = names, values, facts

    def __getitem__(self, key: str | int) -> NDArray[Any]:
        return self._values[key if isinstance(key, str) else self._names[key]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Run({', '.join(f'{name}: {one.dtype}{list(one.shape)}' for name, one in self._values.items())})"


class Graph:
    """A graph of operators; make it with `graph`.

    >>> g = graph("HloModule m\\nENTRY e { x = f32[4]{0} parameter(0)\\n ROOT y = f32[4]{0} negate(x)\\n}")
    >>> g
    Graph(x: f32[4] -> y: f32[4])
    >>> g.run({"x": np.arange(4, dtype=np.float32)})["y"].tolist()
    [-0.0, -1.0, -2.0, -3.0]
    """

    __slots__ = ("_fields", "inputs", "outputs", "program")

    inputs: dict[str, Tensor]
    """What is given, by name."""
    outputs: tuple[tuple[str, Tensor], ...]
    """What comes out, in order."""
    program: dict[str, Any]
    """The graph in the form of docs/graph.md."""

    def __init__(self, program: str | Mapping[str, Any], target: str | None = None) -> None:
        self._fields: dict[str, Any] = {"text": program} if isinstance(program, str) else {"graph": program}
        if target is not None:
            self._fields["target"] = target
        handle, err = ctypes.c_void_p(), Error()
        if isinstance(program, str):
            raw, on = program.encode("utf-8", "surrogateescape"), read_target(target or "spyre")
            status = lib.tesela_graph_read_hlo(byref(handle), raw, len(raw), address(on), None, None, byref(err))
        else:
            tree = Tree(program)
            status = lib.tesela_graph_read_value(byref(handle), None, tree.address, byref(err))
        if status:
            raise err.exception(program if isinstance(program, str) else None)
        try:
            self._read(handle.value)
        finally:
            lib.tesela_graph_destroy(handle)
        if not isinstance(program, str):
            self.program = dict(program)
        elif target is None:
            self.program["target"] = "spyre"

    def _read(self, handle: int | None) -> None:
        self.inputs, k = {}, 0
        while node := lib.tesela_graph_node(handle, k):
            node, k = abi.tesela_node.from_address(node), k + 1
            if node.op == abi.TESELA_OP_INPUT:
                self.inputs[decoded(node.name)] = _tensor(node)
        outputs = (lib.tesela_graph_output(handle, o) for o in range(lib.tesela_graph_n_outputs(handle)))
        nodes = [abi.tesela_node.from_address(lib.tesela_graph_node(handle, k)) for k in outputs]
        self.outputs = tuple((decoded(node.name), _tensor(node)) for node in nodes)
        answer = Answer()
        lib.tesela_put_graph(byref(answer.sink), handle)
        if answer.raised is not None:
            raise answer.raised
        self.program = answer.value[""]

    def _ask(self, name: str, options: dict[str, Any], progress: Progress | None = None) -> dict[str, Any]:
        if options.get("target") is not None:
            options["target"] = target_text(options["target"])
        found = op(name, progress=progress, **{**self._fields, **options})
        if found.get("placed") is False:
            raise MismatchError(found["why"].rstrip("\n"), code="CONFLICT", where=found["error_at"])
        return found

    def assign(self, *, progress: Progress | None = None, **options: Any) -> Assignment:
        """Device layouts for all tensors, and the cheapest moves: the operation `graph_assign` of docs/query.md.

        Options are its fields: ``mode`` ("strict": without moves), ``target``, ``share``, ``spread``, ``compact``, ``copies``,
        ``materialise``, ``effort``, ``padding``. ``moves`` lists the moves; ``graph`` is a Graph with layouts and moves. Raises
        MismatchError, with ``where`` the operator, if there is no layout for it.
        """
        found = self._ask("graph_assign", options, progress)
        sticks = {name: value for name, value in self.program.items() if name in ("target", "stick_bytes")}
        given = options.get("target") or self._fields.get("target")
        return Assignment({**found, "graph": Graph({**sticks, **found["graph"]}, given)})

    def plan(self, *, progress: Progress | None = None, **options: Any) -> Memory:
        """Offsets for the buffers: the operation `graph_plan` of docs/query.md, whose fields are options.

        ``peak`` is the size of the arena in bytes, ``buffers`` lists where each buffer is and while which operators.
        """
        return Memory(self._ask("graph_plan", options, progress))

    def loops(self, node: str | None = None, *, progress: Progress | None = None, **options: Any) -> tuple[Result, ...]:
        """Operators as loops over tiled memory, one Result for each: the operation `graph_loops` of docs/query.md."""
        found: tuple[Result, ...] = Result(self._ask("graph_loops", {"node": node, **options}, progress)).loops
        return found

    def propagate(self, **options: Any) -> Result:
        """Layouts that outputs can have, and the moves for them: the operation `propagate` of docs/query.md."""
        given = options.pop("target", None)
        target = target_text(given) if given is not None else self._fields.get("target")
        return Result(op("propagate", graph=self.program, target=target, **options))

    def run(
        self, inputs: Mapping[str, Any] | None = None, *, seed: int | None = None, progress: Progress | None = None,
        **options: Any,
    ) -> Run:  # fmt: skip
        """Run the graph on tiled memory and on plain memory, whose results must have the same bits.

        ``inputs`` are arrays by name: NumPy, torch, JAX, anything with DLPack, of the graph's types and shapes. With ``seed`` those
        that are missing are made up. Options are the fields of the operation `graph_run` of docs/query.md. The results are
        NumPy arrays.
        """
        arrays = {name: self._input(name, x) for name, x in (inputs or {}).items()}
        missing = [name for name in self.inputs if name not in arrays]
        if missing and seed is None:
            raise MismatchError(f"missing input {missing[0]!r}, {self.inputs[missing[0]]}; give it, or seed= to make it up")
        with tempfile.TemporaryDirectory(prefix="tesela-") as folder:
            given = {name: os.path.join(folder, f"in{k}.npy") for k, name in enumerate(arrays)}
            made = {name: os.path.join(folder, f"out{k}.npy") for k, (name, _) in enumerate(self.outputs)}
            for name, path in given.items():
                _save(path, arrays[name])
            found = self._ask("graph_run", {"seed": seed, "in": given or None, "out": made, **options}, progress)
            if not found["same"]:
                raise LayoutError("the results on tiled and on plain memory differ; this is a failure of tesela")
            types = dict(self.outputs)
            values = {name: _load(path, types[name]) for name, path in made.items()}
        return Run(tuple(name for name, _ in self.outputs), values, Result(found))

    def _input(self, name: str, x: Any) -> Array:
        if name not in self.inputs:
            raise MismatchError(f"unknown input {name!r}; expected one of {', '.join(self.inputs) or '(no inputs)'}")
        expected, array = self.inputs[name], borrow(x)
        found = Tensor(array.type, array.shape)
        if found.shape != expected.shape or (expected.dtype is not None and found.dtype != expected.dtype):
            raise MismatchError(f"input {name!r}: expected {expected}, found {found}", field=name)
        return array

    def __eq__(self, other: object) -> bool:
        return self._fields == other._fields if isinstance(other, Graph) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        program = self._fields["text"] if "text" in self._fields else self._fields["graph"]
        return Graph, (program, self._fields.get("target"))

    def __repr__(self) -> str:
        ins = ", ".join(f"{name}: {one}" for name, one in list(self.inputs.items())[:8])
        outs = ", ".join(f"{name}: {one}" for name, one in self.outputs[:8])
        return f"Graph({ins}{', ...' if len(self.inputs) > 8 else ''} -> {outs}{', ...' if len(self.outputs) > 8 else ''})"


def _tensor(node: Any) -> Tensor:
    return Tensor(abi.DTYPE.get(node.dtype), tuple(node.shape[: node.rank]))


def _save(path: str, array: Array) -> None:
    """Write an array of any package as .npy; types that NumPy lacks as their bytes."""

    class Borrowed:
        __array_interface__ = {
            "version": 3, "shape": array.shape, "strides": array.strides, "typestr": f"|V{array.itemsize}",
            "data": (array.address, True),
        }  # fmt: skip

    raw: NDArray[Any] = np.asarray(Borrowed()) if 0 not in array.shape else np.empty(array.shape, f"V{array.itemsize}")
    try:
        dtype = np.dtype(numpy_dtype(array.type))
    except TypeError:
        dtype = raw.dtype
    if dtype.isbuiltin == 1:  # NumPy's own
        raw = np.ascontiguousarray(raw).reshape(array.shape).view(dtype.newbyteorder() if array.swapped else dtype)
    np.save(path, raw, allow_pickle=False)


def _load(path: str, tensor: Tensor) -> NDArray[Any]:
    values: NDArray[Any] = np.load(path, allow_pickle=False)
    return values if tensor.dtype is None else values.view(numpy_dtype(tensor.dtype)).reshape(tensor.shape)


def _object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(members)
    if len(found) != len(members):
        names = [name for name, _ in members]
        twice = next(name for name in names if names.count(name) > 1)
        raise LayoutSyntaxError(f"member {twice!r} twice in one object", code="INVALID")
    return found


def graph(program: Any, *, target: str | os.PathLike[str] | None = None) -> Graph:
    """A graph of operators: HLO text, the JSON form of docs/graph.md as text or as a dict, or the path of a file with one.

    Anything with ``as_text()``, such as what JAX lowers and compiles, is HLO. ``target`` is the target of all questions that name
    none: a name, the text of a target file, or its path (default: the program's; of HLO, spyre).

    >>> graph({"inputs": {"a": {"size": [4, 6], "dtype": "f16"}}, "ops": [{"op": "permute", "out": "t", "in": ["a"], "dims": [1, 0]}],
    ...        "outputs": ["t"]})
    Graph(a: f16[4,6] -> t: f16[6,4])
    """
    on = target_text(target) if target is not None else None
    if isinstance(program, Graph):
        return program if on is None else Graph(program.__reduce__()[1][0], on)
    if hasattr(program, "as_text"):
        program = program.as_text()
    if isinstance(program, os.PathLike):
        program = pathlib.Path(program).read_text(encoding="utf-8")
    if isinstance(program, str) and program.lstrip().startswith("{"):
        try:
            program = json.loads(program, object_pairs_hook=_object)
        except json.JSONDecodeError as error:
            raise LayoutSyntaxError(str(error), code="SYNTAX", text=program, offset=error.pos) from None
    if not isinstance(program, (str, Mapping)):
        raise TypeError(f"expected HLO text, JSON text or a dict, found {type(program).__name__}")
    return Graph(program, on)
