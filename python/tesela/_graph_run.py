# SPDX-License-Identifier: Apache-2.0
"""A graph in the memory of the library: read, laid out, planned once; run on the memory of arrays as often as wanted."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _abi as abi
from ._arrays import Array
from ._errors import LayoutError, LimitError, MismatchError, RangeError
from ._layout import read_target
from ._library import Error, Progress, Stop, Text, address, byref, decoded, lib
from ._ops import Tree

LAYOUTS = ("mode", "share", "spread", "compact", "copies", "materialise", "effort")
LIMITS = {"max_steps": 10_000_000_000, "max_bytes": 1 << 32}
ANY = (1 << 63) - 1


class Handle:
    """What a function of the library made: destroyed with this object."""

    __slots__ = ("__weakref__", "value")

    def __init__(self, value: int | None, destroy: Callable[[int | None], None]) -> None:
        self.value = value
        weakref.finalize(self, destroy, value).atexit = False  # a thread may still run it then


def read(program: str | Mapping[str, Any], target: str | None) -> tuple[Handle, Any]:
    """The graph of HLO text or of the JSON form, and its target: the one given, else the program's (of HLO text: spyre)."""
    made, err = ctypes.c_void_p(), Error()
    on = read_target(target) if target is not None else abi.tesela_target()
    if isinstance(program, str):
        raw, on = program.encode("utf-8", "surrogateescape"), read_target(target or "spyre")
        status = lib.tesela_graph_read_hlo(byref(made), raw, len(raw), address(on), None, None, byref(err))
    else:
        tree = Tree(program)
        status = lib.tesela_graph_read_value(byref(made), byref(on) if target is None else None, tree.address, byref(err))
    if status:
        raise err.exception(program if isinstance(program, str) else None)
    return Handle(made.value, lib.tesela_graph_destroy), on


def nodes(graph: int | None) -> Iterator[Any]:
    """All nodes, in order; valid while the graph lives."""
    k = 0
    while node := lib.tesela_graph_node(graph, k):
        yield abi.tesela_node.from_address(node)
        k += 1


def outputs(graph: int | None) -> list[Any]:
    count = lib.tesela_graph_n_outputs(graph)
    return [abi.tesela_node.from_address(lib.tesela_graph_node(graph, lib.tesela_graph_output(graph, k))) for k in range(count)]


class Ready:
    """A graph with layouts, moves and a memory plan. Any number of threads may run it at once.

    ``layouts`` are the options of the operation graph_assign, ``plan`` those of graph_plan.
    """

    def __init__(
        self, program: str | Mapping[str, Any], target: str | None = None, layouts: Mapping[str, Any] | None = None,
        plan: Mapping[str, Any] | None = None, progress: Progress | None = None,
    ) -> None:  # fmt: skip
        self.graph, self.target = read(program, target)
        stop, layouts = Stop(progress), layouts or {}
        materialise = bool(layouts.get("materialise"))
        found = self._propagate(layouts, materialise, stop)
        if materialise and not found[1].ok:  # as graph_assign does
            found = self._propagate({**layouts, "spread": True, "compact": True}, True, stop)
        propagation, facts = found
        if not facts.ok:
            raise self._refused(propagation, facts)
        self.copied = {"copied_elems": facts.copied, "copies": facts.n_copies} if materialise or layouts.get("copies") else {}
        """Copies of views, if they are allowed."""
        made, err = ctypes.c_void_p(), Error()
        stop.check(lib.tesela_graph_apply(byref(made), propagation.value, byref(err)), err)
        self.placed = Handle(made.value, lib.tesela_graph_destroy)
        options = abi.tesela_graph_memory_options(progress=stop.pointer, **(plan or {}))
        made = ctypes.c_void_p()
        status = lib.tesela_graph_plan_memory(byref(made), self.placed.value, byref(self.target), byref(options), byref(err))
        stop.check(status, err)
        self.memory = Handle(made.value, lib.tesela_graph_memory_destroy)
        self.inputs = [node for node in nodes(self.graph.value) if node.op == abi.TESELA_OP_INPUT]
        self.outputs = outputs(self.graph.value)

    def _propagate(self, options: Mapping[str, Any], copies: bool, stop: Stop) -> tuple[Handle, Any]:
        mode = options.get("mode", "auto")
        if mode not in ("auto", "strict"):
            raise LayoutError(f"unknown mode {mode!r}; expected auto or strict", field="mode")
        given = abi.tesela_propagate_options(
            mode=abi.TESELA_PROPAGATE_STRICT if mode == "strict" else abi.TESELA_PROPAGATE_AUTO,
            copies=copies or bool(options.get("copies")), effort=options.get("effort") or 0, progress=stop.pointer,
            **{name: bool(options.get(name)) for name in ("share", "spread", "compact")},
        )  # fmt: skip
        made, err = ctypes.c_void_p(), Error()
        stop.check(lib.tesela_graph_propagate(byref(made), self.graph.value, byref(self.target), byref(given), byref(err)), err)
        return Handle(made.value, lib.tesela_propagation_destroy), lib.tesela_propagation_facts_of(made.value)

    def _refused(self, propagation: Handle, facts: Any) -> BaseException:
        why, err = Text(), Error()
        if lib.tesela_propagation_explain(propagation.value, False, why.writer, byref(err)):
            return err.exception()
        node = lib.tesela_graph_node(self.graph.value, facts.error_node)
        where = decoded(abi.tesela_node.from_address(node).name) if node else None
        return MismatchError(why.text().rstrip("\n"), code="CONFLICT", where=where)

    # ---- limits

    def _needs(self, plain: bool) -> Any:
        needs, err = abi.tesela_graph_run_needs(), Error()
        options = self._options(plain)
        graph = self.graph if plain else self.placed
        if lib.tesela_graph_run_needs_of(graph.value, byref(self.target), byref(options), byref(needs), byref(err)):
            raise err.exception()
        return needs

    def check(self, limits: Mapping[str, Any], tensors: int = 0, plain: bool = False) -> None:
        """Refuse a run that needs more than the limits. `tensors`: bytes of inputs and outputs. `plain`: it runs on plain memory, too."""
        allowed = {**LIMITS, **limits}
        for name in LIMITS:
            if allowed[name] < 1:
                raise RangeError(f"{name} is {allowed[name]}; expected 1 or more", code="RANGE", field=name)
        each = [self._needs(False)] + ([self._needs(True)] if plain else [])
        most = max(each, key=lambda needs: needs.steps)
        if most.steps > allowed["max_steps"]:
            graph = self.placed if most is each[0] else self.graph
            name = decoded(abi.tesela_node.from_address(lib.tesela_graph_node(graph.value, most.node)).name)
            raise LimitError(
                f"a run needs {most.steps} steps (results and products), most of them for {name}; "
                f"max_steps is {allowed['max_steps']}", code="LIMIT",
            )  # fmt: skip
        buffers = max(needs.bytes for needs in each)
        if buffers + tensors > allowed["max_bytes"]:
            raise LimitError(
                f"a run needs {tensors} bytes for inputs and outputs and {buffers} bytes for buffers and their marks; "
                f"max_bytes is {allowed['max_bytes']}", code="LIMIT",
            )  # fmt: skip

    # ---- runs

    def _options(self, plain: bool) -> Any:
        memory = None if plain else self.memory.value
        return abi.tesela_graph_run_options(plain=plain, device_types=plain, memory=memory, max_steps=ANY, max_bytes=ANY)

    def run(self, given: Sequence[int], made: Sequence[int], *, plain: bool = False, stop: Stop | None = None) -> dict[str, int]:
        """Run it on tiled memory, or on plain memory; returns the facts of a tesela_graph_run_facts. Check the limits first.

        ``given``: the address of each input, with the strides of `inputs`; ``made``: of each output, row-major.
        """
        stop = stop or Stop()
        options, facts, err = self._options(plain), abi.tesela_graph_run_facts(), Error()
        options.progress = stop.pointer
        status = lib.tesela_graph_run(
            (self.graph if plain else self.placed).value, byref(self.target),
            (ctypes.c_void_p * max(1, len(given)))(*given), (ctypes.c_void_p * max(1, len(made)))(*made),
            byref(options), byref(facts), byref(err),
        )  # fmt: skip
        stop.check(status, err)
        return {name: getattr(facts, name) for name in ("operators", "elements", "moved", "arena_bytes", "poison_read")}


# ---- inputs


def lent(array: Array, node: Any) -> tuple[int, Any]:
    """The address of an array with the strides of an input, and what must live as long; a copy if its own strides are others."""
    shape, steps = array.shape, [step * array.itemsize for step in node.host_stride[: node.rank]]
    if 0 in shape:
        return 0, None
    same = all(extent == 1 or a == b for extent, a, b in zip(shape, array.strides, steps))
    if same and not array.swapped:
        return array.address, array.keep

    class Borrowed:
        __array_interface__ = {
            "version": 3, "shape": shape, "strides": array.strides, "typestr": _bits(array.itemsize),
            "data": (array.address, True),
        }  # fmt: skip

    raw: NDArray[Any] = np.asarray(Borrowed())
    memory, before = room(node, array.itemsize)
    place: NDArray[Any] = np.ndarray(shape, raw.dtype, memory, before * array.itemsize, steps)
    place[...] = raw.byteswap() if array.swapped else raw
    return memory.ctypes.data + before * array.itemsize, memory


def _bits(itemsize: int) -> str:
    return f"|u{itemsize}" if itemsize == 1 else f"=u{itemsize}" if itemsize in (2, 4, 8) else f"|V{itemsize}"


def room(node: Any, itemsize: int) -> tuple[NDArray[np.uint8], int]:
    """Memory for an input with the strides of the graph, and the elements before its element 0."""
    after = before = 0
    if 0 not in node.shape[: node.rank]:
        for extent, step in zip(node.shape[: node.rank], node.host_stride):
            after += max(0, (extent - 1) * step)
            before += max(0, (1 - extent) * step)
        after += 1
    return np.zeros((before + after) * itemsize, np.uint8), before


class MadeUp:
    """Inputs drawn from a seed, as `tesela graph run --seed` draws them: multiples of 1/64 from -1 to 1, small integers, indices in range."""

    def __init__(self, graph: int | None, seed: int) -> None:
        if seed < 0:
            raise RangeError(f"seed is {seed}; expected 0 or more", code="RANGE", field="seed")
        self.nodes, self.state = list(nodes(graph)), np.uint64(seed)

    def input(self, number: int) -> tuple[int, Any]:
        """The address of values for the input that is node `number`, and the memory."""
        node = self.nodes[number]
        width = node.bits // 8
        memory, before = room(node, width)
        values, count = self._values(node, self._extent(number)), memory.size // width
        with np.errstate(over="ignore"):  # splitmix64
            x = self.state + np.uint64(0x9E3779B97F4A7C15) * np.arange(1, count + 1, dtype=np.uint64)
            self.state = x[-1] if count else self.state
            x = (x ^ x >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
            x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
            x = x ^ x >> np.uint64(31)
        memory[...] = values[x % np.uint64(len(values))].reshape(-1)
        return memory.ctypes.data + before * width, memory

    def _extent(self, number: int) -> int:
        """The least extent of what the input is an index into; 0: it is not an index."""
        found = []
        for node in self.nodes:
            if node.op in (abi.TESELA_OP_GATHER, abi.TESELA_OP_SCATTER) and node.n_operands > 1:
                operand = (ctypes.c_int32 * node.n_operands).from_address(node.operand)
                if self.nodes[operand[1]].buffer == number:
                    found.append(self.nodes[operand[0]].shape[node.dim[0]])
        return min(found, default=0)

    @staticmethod
    def _values(node: Any, extent: int) -> NDArray[np.uint8]:
        kind = abi.DTYPE[node.dtype]
        floating = kind[0] in "fb"
        count = 2 if kind == "pred" else 129 if floating else 17
        count = min(extent, 129) if extent > 0 else count
        found = []
        for k in range(count):
            number = k - 8 if kind[0] == "s" and extent <= 0 else k
            text = (["false", "true"][k > 0] if kind == "pred" else f"{(k - 64) / 64:g}" if floating else str(number)).encode()
            value, err = (ctypes.c_uint8 * 16)(), Error()
            if not lib.tesela_element_read(text, len(text), node.dtype, node.bits, value, byref(err)):
                found.append(bytes(value)[: node.bits // 8])
        raw = np.frombuffer(b"".join(found) or bytes(node.bits // 8), np.uint8)
        return raw.reshape(-1, node.bits // 8)


def digest(node: Any, at: int) -> str:
    """The digest of the row-major values of an output; "" if its type has none."""
    layout, found, err = abi.tesela_layout(), (ctypes.c_uint8 * 16)(), Error()
    shape = (ctypes.c_int64 * node.rank)(*node.shape[: node.rank])
    if lib.tesela_layout_strided(byref(layout), node.dtype, node.bits, node.rank, shape, None, 0, byref(err)):
        return ""
    status = lib.tesela_values_digest(byref(layout), at, found, None, byref(err))
    return "" if status else bytes(found).hex()
