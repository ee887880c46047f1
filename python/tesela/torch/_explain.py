# SPDX-License-Identifier: Apache-2.0
"""What the backend "tesela" made of a model: layouts, moves, their price and its bound, memory, operators of the host."""

from __future__ import annotations

import collections
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch

from ._backend import Compiled, backend, recorded, source_line
from ._parts import Part


class TiledTensorRow(NamedTuple):
    """A tensor of a compiled graph and the dim in its sticks (None: a view; -1: one element per stick)."""

    name: str
    operator: str
    tensor: str
    stick: int | str | None
    device_size: tuple[int, ...] | None
    line: str | None


class MoveRow(NamedTuple):
    """A move: `operand` of the operator `at` is copied to other sticks; `price` is the elements, padding included."""

    at: str
    operand: int
    buffer: str
    from_stick: int
    to_stick: int
    price: int
    line: str | None


class GraphExplanation:
    """One traced graph: of the forward pass ("forward", or "inference" without gradients) or "backward"."""

    def __init__(self, compiled: Compiled) -> None:
        self.kind = compiled.kind
        parts = [part for part in compiled.parts if part.assignment is not None]
        self.parts = len(parts)
        """Tesela graphs that it was cut into."""
        self.tensors = tuple(row for part in parts for row in _tensors(part))
        self.moves = tuple(row for part in parts for row in _moves(part))
        self.price = sum(int(part.assignment.cost) for part in parts if part.assignment is not None)
        """Elements moved and copied, padding included."""
        self.bound = sum(int(part.assignment.bound) for part in parts if part.assignment is not None)
        """No plan for these parts costs less."""
        self.peak = max((part.memory.peak for part in parts if part.memory is not None), default=0)
        """Bytes of the largest arena."""
        self.clones = sum(op["op"] == "clone" for part in parts for op in part.placed.program["ops"])
        """Copies to the default layout, for reshapes that cannot be views; operators, not moves."""
        self.host: collections.Counter[str] = compiled.host
        """Operators that run on the host, by name."""
        self.reasons: dict[str, str] = compiled.reasons
        """Why they do, by name."""
        self.graph: torch.fx.Graph = graph_with_moves(compiled)
        """The graph of torch with torch.ops.tesela.restickify for each move."""

    def __str__(self) -> str:
        where = f" in {self.parts} parts" if self.parts != 1 else ""
        facts = {"price": self.price, "bound": self.bound, "moves": len(self.moves), "clones": self.clones}
        words = ", ".join(f"{name} {n}" for name, n in facts.items())
        lines = [f"{self.kind}{where}: {words}, peak {self.peak} bytes" if self.parts else f"{self.kind}: no operator of tesela"]
        width = max((len(row.name) for row in self.tensors), default=0)
        for row in self.tensors:
            stick = "view" if row.stick is None else _stick(row.stick)
            size = "" if row.device_size is None else " " + ",".join(map(str, row.device_size))
            lines.append(f"  {row.name:{width}}  {row.operator:16} {row.tensor:20} {stick}{size}".rstrip())
        for move in self.moves:
            to = str(move.to_stick) if min(move.from_stick, move.to_stick) >= 0 else _stick(move.to_stick)
            lines.append(f"  move  {move.buffer}: {_stick(move.from_stick)} -> {to} for {move.at}, price {move.price}")
            lines += [f"        {move.line.strip().splitlines()[-1].strip()}"] if move.line else []
        for name, n in sorted(self.host.items()):
            lines.append(f"  on the host  {name}: {n}" + (f", {self.reasons[name]}" if name in self.reasons else ""))
        return "\n".join(lines)


def _stick(stick: int | str) -> str:
    return "sparse" if stick == -1 else f"stick {stick}"


class Explanation(tuple[GraphExplanation, ...]):
    """The graphs of a model, in the order in which they were compiled; `print` shows all."""

    __slots__ = ()

    @property
    def moves(self) -> tuple[MoveRow, ...]:
        return tuple(move for one in self for move in one.moves)

    @property
    def price(self) -> int:
        return sum(one.price for one in self)

    @property
    def bound(self) -> int:
        return sum(one.bound for one in self)

    @property
    def peak(self) -> int:
        return max((one.peak for one in self), default=0)

    @property
    def host(self) -> collections.Counter[str]:
        return sum((one.host for one in self), collections.Counter())

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "nothing to compile"

    __repr__ = __str__


def graph_with_moves(compiled: Compiled) -> torch.fx.Graph:
    """A copy of the traced graph in which the moves stand."""
    graph = torch.fx.Graph()
    copied: dict[torch.fx.Node, torch.fx.Node] = {}
    graph.output(graph.graph_copy(compiled.module.graph, copied))
    for part in compiled.parts:
        if part.assignment is not None:
            part.with_moves(copied)
    return graph


def _tensors(part: Part) -> Iterator[TiledTensorRow]:
    program, sizes = part.placed.program, {}
    sizes = part.program.values if part.program is not None else {}
    for name, one in program["inputs"].items():
        text = f"{one['dtype']}[{','.join(map(str, one['size']))}]"
        yield TiledTensorRow(name, "input", text, one.get("stick", "free"), None, None)
    for op in program["ops"]:
        layout, name = op.get("layout"), op["out"]
        moved = sizes.get(op["in"][0]) if op["op"] == "move" else sizes.get(name.rpartition(".stick")[0])
        like = sizes.get(name, moved)
        shape = f"[{','.join(map(str, like.shape))}]" if like is not None else ""
        yield TiledTensorRow(
            name, " ".join(filter(None, (op["op"], op.get("fn")))), f"{op.get('dtype', '')}{shape}",
            layout["stick"] if layout and "stick" in layout else None,
            tuple(layout["device_size"]) if layout and "device_size" in layout else None, source_line(part.origin(name)),
        )  # fmt: skip


def _moves(part: Part) -> Iterator[MoveRow]:
    assert part.assignment is not None
    for one in part.assignment.moves:
        line = source_line(part.origin(one.at))
        yield MoveRow(one.at, one.operand, one.buffer, getattr(one, "from"), one.to, one.price, line)


def explain(
    module: Any, *inputs: Any, backward: bool = False, options: dict[str, Any] | None = None, **keywords: Any
) -> Explanation:  # fmt: skip
    """Compile a model with the backend "tesela", run it once on these inputs, and say what became of it.

    With ``backward`` also the backward pass of the sum of its results, some of which must need a gradient; no `.grad` changes.
    ``options`` are those of the backend. Rows have a tensor each, with the dim in its sticks ("sparse": one element per stick) and its
    device size; prices and the bound are device elements.

    >>> print(explain(lambda x, w: x @ w.t(), torch.ones(4, 40), torch.ones(33, 40)))  # doctest: +ELLIPSIS
    inference: price 2112, bound 2112, moves 1, clones 0, peak 10240 bytes
      arg0_1         input            f32[33,40]           stick 1
      ...
    """

    def fresh(graph: torch.fx.GraphModule, examples: Any) -> Any:
        return backend(graph, examples, options=options)

    with recorded() as found, torch._dynamo.config.patch(recompile_limit=1 << 16):
        results = torch.compile(module, backend=fresh, dynamic=False)(*inputs, **keywords)
        if backward:
            _differentiate(module, inputs, results)
    return Explanation(GraphExplanation(one) for one in found)


def _differentiate(module: Any, inputs: Any, results: Any) -> None:
    leaves = [x for x in torch.utils._pytree.tree_leaves(results) if isinstance(x, torch.Tensor) and x.requires_grad]
    given = list(module.parameters()) if isinstance(module, torch.nn.Module) else []
    given = [x for x in (*given, *inputs) if isinstance(x, torch.Tensor) and x.requires_grad]
    if not leaves or not given:
        raise ValueError("backward=True, but no result needs a gradient; call requires_grad_() on an input, and leave torch.no_grad")
    torch.autograd.grad([x.sum() for x in leaves], given, allow_unused=True)
