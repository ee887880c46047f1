# SPDX-License-Identifier: Apache-2.0
"""A traced graph in parts: tesela graphs, and single operators of the host between them."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import torch

from .._device import DeviceLayout
from .._frameworks import Framework
from .._graph import Assignment, Graph, Memory
from .._layout import layout
from .._results import Result
from ._hints import hint_of
from ._lower import RULES
from ._moves import with_moves
from ._program import VIEWS as VIEW_OPERATORS
from ._program import Names, NotLowered, Program

VIEWS = (torch.ops.aten.view.default, torch.ops.aten._unsafe_view.default)  # of what may have other strides here than in the trace
FROM_PLACES = "tesela.from_places.default"
FREE_ON_THE_HOST = ("<built-in function getitem>", FROM_PLACES, "tesela.to_places.default")  # part of another, or transfers


def layout_of(example: Any, node: torch.fx.Node | None = None) -> Any:
    """The stick dim in which an input comes (-1: one element per stick): that of a TiledTensor, else the default, the last dim."""
    if node is not None and str(node.target) == FROM_PLACES:
        stick = _stick_of_places(*node.args[:5])
        if stick is not None:
            return stick
    return example.dim() - 1 if example.dim() else "free"


def _stick_of_places(_buffer: Any, text: Any, _target: Any, size: Any, strides: Any) -> int | None:
    """The stick dim of a view of a TiledTensor, whose strides are those of the tensor in row-major order; None: not known."""
    found = layout(text)
    if not isinstance(found, DeviceLayout):
        return None
    dim = found.dim_map[-1]
    if dim < 0:
        return -1
    step = math.prod(found.shape[dim + 1 :])
    same = [k for k in range(len(size)) if (size[k], strides[k]) == (found.shape[dim], step)]
    return same[0] if len(same) == 1 else None


class Part:
    """Nodes that run together: as one tesela graph, or, without a program, one on the host."""

    def __init__(self, nodes: list[torch.fx.Node], program: Program | None) -> None:
        self.nodes, self.program = nodes, program
        self.reads: list[torch.fx.Node] = list(dict.fromkeys(n for node in nodes for n in node.all_input_nodes if n not in nodes))
        self.given: dict[str, torch.fx.Node] = {}  # inputs of the program
        self.makes: dict[torch.fx.Node, str] = {}  # results that others read
        self.names: dict[torch.fx.Node, Names] = {}
        self.assignment: Assignment | None = None
        self.memory: Memory | None = None
        self.hints: list[dict[str, Any]] = []
        self.facts: Result | None = None  # of the last run

    @property
    def counted(self) -> bool:
        return self.program is None and self.nodes[0].op == "call_function" and str(self.nodes[0].target) not in FREE_ON_THE_HOST

    @property
    def outputs(self) -> list[str]:
        return list(dict.fromkeys(self.makes.values()))

    @property
    def placed(self) -> Graph:
        """The program with layouts and moves."""
        assert self.assignment is not None
        found: Graph = self.assignment.graph
        return found

    def origin(self, name: str | None) -> torch.fx.Node | None:
        """The node that an operator of the program came from."""
        return self.program.origin.get(name) if self.program is not None and name is not None else None

    def place(self, assign: dict[str, Any], plan: dict[str, Any]) -> None:
        """Choose layouts and moves, then offsets."""
        assert self.program is not None
        self.assignment = Graph(self.program.tree(self.outputs, self.hints)).assign(**assign)
        self.memory = self.placed.plan(**plan)

    def run(self, values: dict[torch.fx.Node, Any], module: torch.nn.Module) -> None:
        if self.program is None:
            node = self.nodes[0]
            if node.op == "get_attr":
                values[node] = operator.attrgetter(str(node.target))(module)
            else:
                args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), values.__getitem__)
                call = torch.ops.aten.reshape.default if node.target in VIEWS else node.target
                values[node] = call(*args, **kwargs)
            return
        found = self.placed.run({name: values[node] for name, node in self.given.items()})
        self.facts, torch_ = found.facts, Framework("torch")
        for node, name in self.makes.items():
            values[node] = _like(torch_.tensor(found[name]), node.meta["val"])

    def with_moves(self, copied: dict[torch.fx.Node, torch.fx.Node]) -> int:
        """Put the moves of this part into a copy of torch's graph; how many."""
        assert self.assignment is not None and self.program is not None
        shown = {name: node for node, name in self.names.items() if isinstance(name, str)}
        uses = {op["out"]: op["in"] for op in self.program.ops}
        for move in self.assignment.moves:
            node = self.origin(move.at) or self.nodes[-1]
            name = uses[move.at][move.operand] if move.at in uses and 0 <= move.operand < len(uses[move.at]) else move.buffer
            operand = shown.get(name) or self.given.get(name)
            while operand not in node.all_input_nodes and name in uses and uses[name]:
                name = uses[name][0]  # inside of the lowered operator: what it was made from
                operand = shown.get(name) or self.given.get(name)
            if operand not in node.all_input_nodes:
                operand = node.all_input_nodes[0]
            after = copied[node]
            read = [n for n in after.all_input_nodes if _before(n) is copied[operand]]
            with_moves(after, read[0] if read else after.all_input_nodes[0], move.to)
        return len(self.assignment.moves)


def _before(node: torch.fx.Node) -> torch.fx.Node:
    """What a chain of moves begins with."""
    while node.target is torch.ops.tesela.restickify.default and "val" in node.meta:
        node = node.all_input_nodes[0]
    return node


def _like(x: torch.Tensor, fake: Any) -> torch.Tensor:
    """The tensor with the strides that the trace gave it."""
    if x.dim() == 0 or tuple(x.stride()) == tuple(fake.stride()) or not _dense(fake):
        return x
    return torch.empty_strided(tuple(fake.shape), tuple(fake.stride()), dtype=x.dtype).copy_(x)


def _dense(fake: Any) -> bool:
    step = 1
    for stride, extent in sorted(zip(fake.stride(), fake.shape)):
        if extent != 1:
            if stride != step:
                return False
            step *= extent
    return True


# ---- which part a node belongs to


def _lower(p: Program, node: torch.fx.Node, names: dict[torch.fx.Node, Names]) -> Names:
    """Lower one node; its results have the shapes and types that torch says."""
    rule = RULES.get(node.target)
    if rule is None:
        raise NotLowered(str(node.target))
    p.node = node
    args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), lambda n: names[n])
    found = rule(p, *args, **kwargs)
    value = node.meta.get("val")
    each = list(zip(found, value)) if isinstance(found, tuple) else [(found, value)]
    for name, expected in each:
        if name is None:
            continue
        if not isinstance(expected, torch.Tensor) or p.shape(name) != tuple(expected.shape) or p.dtype(name) is not expected.dtype:
            raise NotLowered(f"{node.name}: a result that differs from torch's")
    return found


def _declare(p: Program, node: torch.fx.Node, names: dict[torch.fx.Node, Names]) -> None:
    value = node.meta.get("val")
    if not isinstance(value, torch.Tensor) or value.device.type != "cpu" or value.layout is not torch.strided:
        raise NotLowered(f"{node.name}: not a tensor in host memory")
    p.node = None
    names[node] = p.input(node.name, tuple(value.shape), value.dtype, layout_of(value, node))


def _can_lower(node: torch.fx.Node, target: str) -> bool:
    """Lower it alone, in a program that tesela reads."""
    p, names = Program(target), dict[torch.fx.Node, Names]()
    if node.op != "call_function" or node.target not in RULES:
        return False
    try:
        for one in node.all_input_nodes:
            _declare(p, one, names)
        found = _lower(p, node, names)
        Graph(p.tree([name for name in (found if isinstance(found, tuple) else (found,)) if name is not None]))
    except (NotLowered, TypeError, AttributeError, KeyError, ValueError, RuntimeError, OverflowError):
        return False
    return True


def divided(module: torch.fx.GraphModule, target: str, hinted: bool) -> list[Part]:
    """Parts in an order in which they run. Nodes of even levels are tesela's, of odd ones the host's."""
    level: dict[torch.fx.Node, int] = {}
    nodes = [node for node in module.graph.nodes if node.op not in ("placeholder", "output")]
    for node in nodes:
        least = max((level.get(one, 0) for one in node.all_input_nodes), default=0)
        if node.target is operator.getitem and node.args[0] in level:
            level[node] = level[node.args[0]]
        else:
            tiled = _can_lower(node, target)
            level[node] = least + (least % 2 == (1 if tiled else 0))
    parts: list[Part] = []
    for k in sorted(set(level.values())):
        own = [node for node in nodes if level[node] == k]
        parts += [Part([node], None) for node in own] if k % 2 else [_program(own, target, hinted)]
    return parts


def _program(nodes: Sequence[torch.fx.Node], target: str, hinted: bool) -> Part:
    part, p = Part(list(nodes), Program(target)), Program(target)
    part.program = p
    own = set(nodes)
    for node in part.reads:
        _declare(p, node, part.names)
        part.given[node.name] = node
    for node in nodes:
        part.names[node] = _lower(p, node, part.names)
        name, hint = part.names[node], hint_of(node) if hinted else None
        if hint is not None and p.ops and p.ops[-1]["out"] == name and p.ops[-1]["op"] not in (*VIEW_OPERATORS, "constant"):
            part.hints.append({"node": name, **hint})
        if isinstance(name, str) and any(user not in own for user in node.users):
            part.makes[node] = name
    return part
