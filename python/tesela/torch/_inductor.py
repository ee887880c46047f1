# SPDX-License-Identifier: Apache-2.0
"""FixedTiledLayout: device layouts on the buffers of Inductor, for code generators of one's own. See docs/pytorch.md.

Inductor's parts used here are private. They are looked for when this module is imported; `tesela.torch` imports it only when asked.
"""

from __future__ import annotations

import contextlib
import importlib
import uuid
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch

from .._device import DeviceLayout, device_layout
from .._errors import LayoutError, MismatchError, TeselaWarning, UnsupportedError
from .._graph import Graph, graph
from .._library import version

TESTED = ("2.13",)
NEEDS = {
    "torch._functorch.config": ("enable_autograd_cache",),
    "torch._inductor.config": ("_pre_fusion_custom_pass", "fx_graph_cache"),
    "torch._inductor.custom_graph_pass": ("CustomSchedulerPass", "get_hash_for_files"),
    "torch._inductor.dependencies": ("MemoryDep",),
    "torch._inductor.ir": (
        "ComputedBuffer.get_read_writes", "ConcatKernel", "ConstantBuffer", "FixedLayout", "InputBuffer", "MultiOutput",
        "MultiOutputLayout", "MutationLayoutSHOULDREMOVE", "NoneLayout", "NonOwningLayout", "Pointwise.get_pointwise_size",
        "Reduction.get_reduction_size", "Reduction.get_reduction_type", "TensorBox",
    ),
    "torch._inductor.graph": ("GraphLowering.get_output_names",),
    "torch._inductor.scheduler": ("BaseSchedulerNode.get_nodes", "Scheduler"),
    "torch._inductor.virtualized": ("V.graph",),
}  # fmt: skip


def check() -> None:
    """Raise UnsupportedError if this torch lacks a part of Inductor that FixedTiledLayout needs; warn if it was not tested."""
    for module, names in NEEDS.items():
        for name in names:
            try:
                at: Any = importlib.import_module(module)
                for part in name.split(".") if name != "V.graph" else ["V"]:
                    at = getattr(at, part)
            except (ImportError, AttributeError):
                raise UnsupportedError(
                    f"torch {torch.__version__} lacks {module}.{name}, which FixedTiledLayout needs (tested with torch"
                    f' {", ".join(TESTED)}); torch.compile(model, backend="tesela") works without it'
                ) from None
    if ".".join(torch.__version__.split(".")[:2]) not in TESTED:
        text = f"FixedTiledLayout was tested with torch {', '.join(TESTED)}, not with {torch.__version__}"
        warnings.warn(text, TeselaWarning, stacklevel=3)


check()

from torch._inductor import config, ir
from torch._inductor.custom_graph_pass import CustomSchedulerPass, get_hash_for_files
from torch._inductor.virtualized import V

from . import _inductor_graph
from ._backend import source_line
from ._program import NotLowered


class TiledMove(NamedTuple):
    """A move that an operation has to begin with: of `buffer`, or of what operand `operand` of `at` reads of it (`view`).

    The operand is one of `get_read_writes().reads` of a ComputedBuffer, of `inputs` of a kernel of torch, in their order.
    """

    at: str
    operand: int
    buffer: str
    from_stick: int
    to_stick: int
    price: int
    view: bool


class FixedTiledLayout(ir.FixedLayout):
    """A FixedLayout of Inductor, the host's sizes and strides, and beside them how the buffer lies on the device."""

    device_layout: DeviceLayout
    moves: tuple[TiledMove, ...]
    """Moves that the operation making this buffer needs first."""

    def __init__(self, host: Any, layout: DeviceLayout, moves: tuple[TiledMove, ...] = ()) -> None:
        super().__init__(host.device, host.dtype, host.size, host.stride, host.offset, host.is_pinned)
        self.device_layout, self.moves = layout, moves

    def __eq__(self, other: object) -> bool:
        same = not isinstance(other, FixedTiledLayout) or self.device_layout == other.device_layout
        return same and bool(super().__eq__(other))

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return f"{super().__str__()[:-1]}, device_layout={self.device_layout.text!r})"

    __repr__ = __str__


def _move(one: Any, operands: tuple[int, ...] | None) -> TiledMove:
    operand = one.operand if operands is None else operands[one.operand]
    at, buffer = one.at.partition(".")[0], one.buffer.partition(".")[0]
    return TiledMove(at, operand, buffer, getattr(one, "from"), one.to, one.price, hasattr(one, "view"))


class TiledGraph:
    """One graph of Inductor with device layouts: what `tiled_inductor` found."""

    def __init__(self, placed: Graph, layouts: dict[str, DeviceLayout], found: Any, program: Any) -> None:
        self.layouts = layouts
        """By buffer; inputs and constants too."""
        self.moves = tuple(_move(one, program.operands.get(one.at)) for one in found.moves)
        self.price, self.bound = int(found.cost), int(found.bound)
        """Elements moved and copied, padding included; no plan costs less, for the operations whose needs are known."""
        self.unknown: tuple[str, ...] = tuple(program.unknown)
        """Operations of unknown needs: any operands, a result in the default layout; moves that they need are not in `moves`."""
        self.graph = placed
        """The graph of tesela with layouts and moves: `loops(buffer)` gives an operation as loops over tiled memory."""


class AssignLayouts(CustomSchedulerPass):
    """A pass for Inductor before fusion: every buffer gets a FixedTiledLayout; `graphs` says what was found. Values do not change.

    `tiled_inductor` installs it. ``choose`` gets a buffer of Inductor's IR and returns the dim in its sticks (-1: one element per
    stick), or None for the cheapest.
    """

    def __init__(self, target: str = "spyre", choose: Callable[[Any], int | None] | None = None) -> None:
        self.target, self.choose = target, choose
        self.graphs: list[TiledGraph] = []
        self._unique = uuid.uuid4().hex if choose is not None else ""

    def uuid(self) -> Any:
        return get_hash_for_files((__file__, _inductor_graph.__file__)), version(), self.target, self._unique

    def __call__(self, nodes: list[Any]) -> list[Any]:
        operations = {one.node.get_name(): one.node for node in nodes for one in node.get_nodes() if one.node is not None}
        name: str | None = None
        try:
            program = _inductor_graph.Program(V.graph, self.target, self.choose)
            for name, node in operations.items():
                program.add(node)
            name = None
            if program.inputs or program.ops:
                self._give(program, graph(program.tree(V.graph.get_output_names())).assign(materialise=True))
        except (LayoutError, NotLowered) as error:
            raised = error if isinstance(error, LayoutError) else UnsupportedError(str(error).partition("\n")[0])
            at = operations.get((raised.where or name or "").partition(".")[0])
            origins = at.get_origins() if at is not None else ()
            origin = next((one for one in origins if one.stack_trace), None)
            kind = MismatchError if isinstance(raised, MismatchError) else UnsupportedError
            name = f"{origin.target} ({at.get_name()}): " if origin is not None and at is not None else ""
            raise kind(f"{name}{raised}\n{source_line(origin) or ''}".rstrip(), code=raised.code, where=raised.where) from None
        return nodes

    def _give(self, program: Any, found: Any) -> None:
        placed = found.graph.program
        sticks = {name: one["stick"] for name, one in placed["inputs"].items()}
        sticks |= {op["out"]: op["layout"]["stick"] for op in placed["ops"] if "stick" in op.get("layout", ())}
        sizes = {op["out"]: tuple(op["layout"]["device_size"]) for op in placed["ops"] if "device_size" in op.get("layout", ())}
        layouts = {}
        for name, buffer in program.buffers.items():
            size = _inductor_graph.extents(buffer.get_size())
            order = [d for d in range(len(size)) if d != sticks[name]] + [sticks[name]]
            layouts[name] = made = device_layout(size, buffer.get_dtype(), dim_order=order, target=self.target)
            if sizes.get(name, made.device_size) != made.device_size:
                raise LayoutError(f"{name}: {made} and its layout in the graph differ; this is a failure of tesela")
        self.graphs.append(tiled := TiledGraph(found.graph, layouts, found, program))
        for name, buffer in program.buffers.items():
            if type(buffer.layout) is ir.FixedLayout:
                moves = tuple(one for one in tiled.moves if one.at == name)
                buffer.layout = FixedTiledLayout(buffer.layout, layouts[name], moves)


@contextlib.contextmanager
def tiled_inductor(target: str = "spyre", choose: Callable[[Any], int | None] | None = None) -> Iterator[list[TiledGraph]]:
    """While this is open, the buffers of all that Inductor compiles get device layouts; it gives the list of these graphs.

    Inductor's caches are off in it, since a graph from a cache runs no pass, and other shapes compile again. See docs/pytorch.md.

    >>> with tiled_inductor() as graphs:
    ...     y = torch.compile(lambda x: (x + 1).sum(0))(torch.ones(4, 40))
    >>> graphs[0].layouts["buf0"].device_size
    (2, 32)
    """
    from torch._dynamo import config as dynamo
    from torch._functorch import config as functorch

    one = AssignLayouts(target, choose)
    caches = config.patch(_pre_fusion_custom_pass=one, fx_graph_cache=False, fx_graph_remote_cache=False)
    fixed = dynamo.patch(assume_static_by_default=True, automatic_dynamic_shapes=False)
    with caches, fixed, functorch.patch(enable_autograd_cache=False):
        try:
            yield one.graphs
        except Exception as error:
            inner = getattr(error, "inner_exception", None)  # of Inductor's own exception
            if isinstance(inner, LayoutError):
                raise inner from None
            raise
