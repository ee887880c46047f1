# SPDX-License-Identifier: Apache-2.0
"""Graphs of operators: layouts and moves, memory, loops, runs."""

from __future__ import annotations

import json
import math
import os
import pathlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _abi as abi
from ._arrays import Array, borrow
from ._errors import LayoutError, LayoutSyntaxError, MismatchError
from ._graph_run import LAYOUTS, LIMITS, MadeUp, Ready, digest, lent, nodes, outputs, read
from ._layout import target_text
from ._library import Progress, Stop, byref, decoded, lib
from ._ops import Answer, op
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

    __slots__ = ("_fields", "_ready", "inputs", "outputs", "program")

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
        self._ready: tuple[Any, Ready] | None = None
        handle, _ = read(program, target)
        self._read(handle.value)
        if not isinstance(program, str):
            self.program = dict(program)
        elif target is None:
            self.program["target"] = "spyre"

    def _read(self, handle: int | None) -> None:
        self.inputs = {decoded(node.name): _tensor(node) for node in nodes(handle) if node.op == abi.TESELA_OP_INPUT}
        self.outputs = tuple((decoded(node.name), _tensor(node)) for node in outputs(handle))
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
        unknown = set(options) - {"target", *LAYOUTS, *LIMITS}
        if unknown:
            raise LayoutError(f"unknown option {min(unknown)!r}; expected target, {', '.join((*LAYOUTS, *LIMITS))}")
        options = {name: value for name, value in options.items() if value is not None}
        ready = self._made_ready(options, progress)
        return self._run(ready, arrays, seed, {name: options[name] for name in LIMITS if name in options}, progress)

    def _made_ready(self, options: dict[str, Any], progress: Progress | None) -> Ready:
        """The graph with layouts and memory for these options; the last one is kept."""
        target = target_text(options["target"]) if "target" in options else self._fields.get("target")
        layouts = {name: options[name] for name in LAYOUTS if name in options}
        kept, key = self._ready, (target, layouts)
        if kept is None or kept[0] != key:
            program = self._fields["text"] if "text" in self._fields else self._fields["graph"]
            self._ready = kept = key, Ready(program, target, layouts, progress=progress)
        return kept[1]

    def _run(
        self, ready: Ready, arrays: dict[str, Array], seed: int | None, limits: dict[str, Any], progress: Progress | None
    ) -> Run:
        results = [(decoded(node.name), node) for node in ready.outputs]
        types = dict(self.outputs)
        sizes = [math.prod(node.shape[: node.rank]) * -(-node.bits // 8) for node in (*ready.inputs, *ready.outputs, *ready.outputs)]
        ready.check(limits, sum(sizes), plain=True)
        made_up, given = MadeUp(ready.graph.value, 0 if seed is None else seed), []
        for number, node in enumerate(nodes(ready.graph.value)):
            if node.op == abi.TESELA_OP_INPUT:
                name = decoded(node.name)
                given.append(lent(arrays[name], node) if name in arrays else made_up.input(number))
        stop = Stop(progress)
        tiled, plain = ({name: _empty(types[name]) for name, _ in results} for _ in range(2))
        facts = [
            ready.run([at for at, _ in given], [values[name].ctypes.data for name, _ in results], plain=is_plain, stop=stop)
            for values, is_plain in ((tiled, False), (plain, True))
        ]
        rows = []
        for name, node in results:
            same = tiled[name].tobytes() == plain[name].tobytes()
            rows.append({"name": name, "size": list(types[name].shape), "digest": digest(node, plain[name].ctypes.data), "same": same})
        if facts[0]["poison_read"] or not all(row["same"] for row in rows):
            raise LayoutError("the results on tiled and on plain memory differ, or padding was read; this is a failure of tesela")
        found = {"placed": True, "target": decoded(ready.target.name), **ready.copied, "same": True, "outputs": rows}
        return Run(tuple(name for name, _ in results), tiled, Result({**found, **facts[0]}))

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


def _empty(tensor: Tensor) -> NDArray[Any]:
    assert tensor.dtype is not None  # the library refuses to run it
    return np.zeros(tensor.shape, numpy_dtype(tensor.dtype))


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
