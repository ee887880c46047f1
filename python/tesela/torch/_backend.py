# SPDX-License-Identifier: Apache-2.0
"""torch.compile(model, backend="tesela"): what AOTAutograd traced, lowered to tesela graphs, given layouts and moves, planned, run.

The operators that tesela lacks run on the host. They cut the traced graph into parts; each part is a tesela graph of its own.
"""

from __future__ import annotations

import collections
import contextlib
import contextvars
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.exc import ShortenTraceback
from torch._functorch.aot_autograd import make_boxed_func
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import _disable_current_modes

from .._errors import LayoutError, MismatchError
from ._decompositions import table
from ._host import ran_on_host, whole_operators
from ._parts import Part, divided

ASSIGN = ("mode", "share", "spread", "compact", "copies", "materialise", "effort")
PLAN = ("capacity", "scratchpad", "no_reuse")
logger = logging.getLogger("tesela.torch")
_records: contextvars.ContextVar[list[Compiled] | None] = contextvars.ContextVar("tesela_records", default=None)


@contextlib.contextmanager
def recorded() -> Iterator[list[Compiled]]:
    """What is compiled while this is open."""
    found: list[Compiled] = []
    token = _records.set(found)
    try:
        yield found
    finally:
        _records.reset(token)


class CompileError(LayoutError, ShortenTraceback):  # type: ignore[misc]
    """A model cannot be compiled: its arena is larger than allowed, or an option is wrong; `where` is the operator, `line` its source."""

    def __init__(self, error: LayoutError, node: torch.fx.Node | None) -> None:
        self.line = source_line(node)
        name = f"{node.target} ({node.name})" if node is not None else "the graph"
        at = f"\n{self.line}" if self.line else ""
        LayoutError.__init__(self, f"{name}: {error}{at}", code=error.code, where=error.where)
        self.first_useful_frame = None

    def __reduce__(self) -> Any:
        return LayoutError, (str(self),)


class NoLayout(CompileError, MismatchError):
    """No layout suits an operator of the model: the message has its needs, what would help, and the line of Python."""


def source_line(node: torch.fx.Node | None) -> str | None:
    """The line of Python that a node came from: 'File "...", line 7, in forward' and its text; outside of torch if there is one."""
    lines = (node.stack_trace or "").rstrip().splitlines() if node is not None else []
    starts = [k for k, line in enumerate(lines) if line.lstrip().startswith("File ")]
    own = [k for k in starts if os.path.dirname(torch.__file__) not in lines[k]] or starts
    return "\n".join(line.rstrip() for line in lines[own[-1] : own[-1] + 2]) if own else None


class Compiled:
    """A traced graph, forward or backward, in parts; call it with tensors."""

    def __init__(self, module: torch.fx.GraphModule, inputs: Sequence[Any], kind: str, options: dict[str, Any]) -> None:
        unknown = set(options) - {"target", *ASSIGN, *PLAN}
        if unknown:
            raise LayoutError(f"unknown option {min(unknown)!r}; expected target, {', '.join(ASSIGN + PLAN)}")
        self.kind, self.module, self.options = kind, module, options
        with _disable_current_modes():
            self.parts: list[Part] = divided(module, str(options.get("target", "spyre")), kind != "backward")
            assign = {name: options[name] for name in ASSIGN if name in options}
            if "materialise" not in assign and assign.get("mode") != "strict":
                assign["materialise"] = True
            for part in self.parts:
                if part.program is not None:
                    try:
                        part.place(assign, {name: options[name] for name in PLAN if name in options})
                    except LayoutError as error:
                        kind_of = NoLayout if isinstance(error, MismatchError) else CompileError
                        raise kind_of(error, part.origin(error.where)) from None
        self.last_use = self._last_use()
        records = _records.get()
        if records is not None:
            records.append(self)

    def _last_use(self) -> list[list[torch.fx.Node]]:
        """Nodes that no step after step k reads."""
        last: dict[torch.fx.Node, int] = {}
        for k, part in enumerate(self.parts):
            for node in part.reads:
                last[node] = k
        kept = set(self.output.all_input_nodes)
        found: list[list[torch.fx.Node]] = [[] for _ in self.parts]
        for node, k in last.items():
            if node not in kept:
                found[k].append(node)
        return found

    @property
    def output(self) -> torch.fx.Node:
        return next(node for node in reversed(self.module.graph.nodes) if node.op == "output")

    @property
    def host(self) -> collections.Counter[str]:
        """Operators that run on the host, by name."""
        return collections.Counter(str(part.nodes[0].target) for part in self.parts if part.counted)

    def __call__(self, *inputs: Any) -> Any:
        placeholders = [node for node in self.module.graph.nodes if node.op == "placeholder"]
        values: dict[torch.fx.Node, Any] = dict(zip(placeholders, inputs))
        with torch.no_grad():
            for part, done in zip(self.parts, self.last_use):
                part.run(values, self.module)
                if part.counted:
                    ran_on_host(part.nodes[0].target)
                for node in done:
                    values.pop(node, None)
        return torch.fx.node.map_arg(self.output.args[0], values.__getitem__)


class PerShape:
    """A graph whose shapes are not known when it is traced: compiled anew for each set of shapes."""

    def __init__(self, module: torch.fx.GraphModule, kind: str, options: dict[str, Any]) -> None:
        self.module, self.kind, self.options = module, kind, options
        self.compiled: dict[Any, Compiled] = {}

    def __call__(self, *inputs: Any) -> Any:
        key = tuple((x.dtype, tuple(x.shape), tuple(x.stride())) if isinstance(x, torch.Tensor) else x for x in inputs)
        if key not in self.compiled:
            shapes = ", ".join(str(list(x.shape)) for x in inputs if isinstance(x, torch.Tensor))
            logger.info("compiled the %s graph for the shapes %s", self.kind, shapes)
            self.compiled[key] = Compiled(self._known(inputs), inputs, self.kind, self.options)
        return self.compiled[key](*inputs)

    def _known(self, inputs: Sequence[Any]) -> torch.fx.GraphModule:
        from torch.fx.experimental.proxy_tensor import make_fx
        from torch.fx.traceback import preserve_node_meta

        run = torch.fx.Interpreter(self.module).run
        with preserve_node_meta(), torch.no_grad():
            return make_fx(lambda *given: run(*given), tracing_mode="fake")(*inputs)


def _compiler(kind: str, options: dict[str, Any]) -> Callable[..., Any]:
    def compile_graph(module: torch.fx.GraphModule, inputs: Sequence[Any]) -> Any:
        nodes = [node for node in module.graph.nodes if node.op == "placeholder"]
        symbolic = any(_symbolic(node.meta.get("val")) for node in nodes)
        call = PerShape(module, kind, options) if symbolic else Compiled(module, inputs, kind, options)
        return make_boxed_func(call)

    return compile_graph


def _symbolic(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return any(isinstance(extent, torch.SymInt) for extent in (*value.shape, *value.stride()))
    return isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool))


def backend(module: torch.fx.GraphModule, inputs: Sequence[Any], *, options: dict[str, Any] | None = None, **_: Any) -> Any:
    """The backend "tesela" of torch.compile.

    ``options`` are those of `Graph.assign` (``mode``, ``share``, ``spread``, ``compact``, ``copies``, ``materialise``, ``effort``) and
    of `Graph.plan` (``capacity``, ``scratchpad``, ``no_reuse``), and ``target`` (default: "spyre"). Without ``mode`` or ``materialise``,
    ``materialise`` is True. A graph of unknown shapes is compiled for each set of shapes that comes.
    """
    given = dict(options or {})
    with sdpa_kernel(SDPBackend.MATH), whole_operators():  # attention as products and a softmax
        return aot_autograd(
            fw_compiler=_compiler("forward", given), bw_compiler=_compiler("backward", given),
            inference_compiler=_compiler("inference", given), decompositions=table(),
        )(module, inputs)  # fmt: skip


def register() -> None:
    """Register the backend, once."""
    from torch._dynamo.backends.registry import _BACKENDS, register_backend

    if "tesela" not in _BACKENDS:
        register_backend(backend, name="tesela")
