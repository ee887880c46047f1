# SPDX-License-Identifier: Apache-2.0
"""torch.compile(model, backend="tesela"): what AOTAutograd traced, lowered to tesela graphs, given layouts and moves, planned, run.

The operators that tesela lacks run on the host. They cut the traced graph into parts; each part is a tesela graph of its own.
"""

from __future__ import annotations

import collections
import contextlib
import contextvars
import difflib
import logging
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.exc import ShortenTraceback
from torch._functorch.aot_autograd import make_boxed_func
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import _disable_current_modes

from .._errors import LayoutError, MismatchError
from .._layout import read_target, target_text
from ._decompositions import table
from ._host import ran_on_host, whole_operators
from ._parts import Part, divided

ASSIGN = ("mode", "share", "spread", "compact", "copies", "materialise", "effort")
PLAN = ("capacity", "scratchpad", "no_reuse")
LIMITS = ("max_steps", "max_bytes")
OPTIONS = ("target", *ASSIGN, *PLAN, *LIMITS)
FLAGS = ("share", "spread", "compact", "copies", "materialise", "no_reuse")
LEAST = {"effort": 0, "capacity": 0, "scratchpad": 0, "max_steps": 1, "max_bytes": 1}
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

    def __init__(self, error: LayoutError, node: torch.fx.Node | None, of: str) -> None:
        self.line = source_line(node)
        name = f"{node.target} ({node.name})" if node is not None else of
        at = f"\n{self.line}" if self.line else ""
        LayoutError.__init__(self, f"{name}: {error}{at}", code=error.code, field=error.field, where=error.where)
        self.first_useful_frame = None

    def __reduce__(self) -> Any:
        return LayoutError, (str(self),)


class NoLayout(CompileError, MismatchError):
    """No layout suits an operator of the model: the message has its needs, what would help, and the line of Python."""


def source_line(node: torch.fx.Node | None) -> str | None:
    """The line of Python that a node came from: 'File "...", line 7, in forward' and its text; outside of torch if there is one."""
    lines = (node.stack_trace or "").rstrip().splitlines() if node is not None else []
    hints = os.path.join(os.path.dirname(__file__), "_hints.py")
    starts = [k for k, line in enumerate(lines) if line.lstrip().startswith("File ") and hints not in line]
    own = [k for k in starts if os.path.dirname(torch.__file__) not in lines[k]] or starts
    return "\n".join(line.rstrip() for line in lines[own[-1] : own[-1] + 2]) if own else None


def checked(options: dict[str, Any]) -> dict[str, Any]:
    """The options that are given, the target by name or as the text of its file; CompileError names one that is wrong."""
    given = {name: value for name, value in options.items() if value is not None}
    for name, value in given.items():
        said, code = None, "INVALID"
        if name not in OPTIONS:
            near = difflib.get_close_matches(str(name), OPTIONS, 1)
            said = f"unknown option {name!r}; " + (f"did you mean {near[0]}?" if near else f"expected {', '.join(OPTIONS)}")
        elif name == "mode" and value not in ("auto", "strict"):
            said = f"option mode: expected 'auto' or 'strict', found {value!r}"
        elif name in FLAGS and not isinstance(value, bool):
            said = f"option {name}: expected True or False, found {value!r}"
        elif name in LEAST and (not isinstance(value, int) or isinstance(value, bool) or value < LEAST[name]):
            said = f"option {name}: expected an integer of {LEAST[name]} or more, found {value!r}"
        elif name == "target":
            try:
                given[name] = target_text(value)
                read_target(given[name])
            except (LayoutError, OSError, TypeError) as error:
                said, code = f"option target: {error}", getattr(error, "code", None) or code
        if said is not None:
            raise CompileError(LayoutError(said, code=code, field=str(name)), None, "backend tesela")
    return given


class Compiled:
    """A traced graph, forward or backward, in parts; call it with tensors."""

    def __init__(self, module: torch.fx.GraphModule, inputs: Sequence[Any], kind: str, options: dict[str, Any]) -> None:
        self.kind, self.module, self.options = kind, module, options
        with _disable_current_modes():
            self.parts: list[Part] = divided(module, str(options.get("target", "spyre")), kind != "backward")
            assign = {name: options[name] for name in ASSIGN if name in options}
            if "materialise" not in assign and assign.get("mode") != "strict":
                assign["materialise"] = True
            for part in self.parts:
                if part.program is not None:
                    try:
                        part.place(assign, *({name: options[name] for name in names if name in options} for names in (PLAN, LIMITS)))
                    except LayoutError as error:
                        kind_of = NoLayout if isinstance(error, MismatchError) else CompileError
                        raise kind_of(error, part.origin(error.where), f"the {kind} graph") from None
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

    @property
    def reasons(self) -> dict[str, str]:
        """Why they do."""
        return {str(part.nodes[0].target): part.reason for part in reversed(self.parts) if part.counted and part.reason}

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
        self.lock = threading.Lock()

    def __call__(self, *inputs: Any) -> Any:
        key = tuple((x.dtype, tuple(x.shape), tuple(x.stride())) if isinstance(x, torch.Tensor) else x for x in inputs)
        with self.lock:
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

    ``options``: ``target``, a name or the path of a target file (default: "spyre"); those of `Graph.assign` (``mode``, ``share``,
    ``spread``, ``compact``, ``copies``, ``materialise``, ``effort``), where ``materialise`` is True unless the mode is "strict"; those of
    `Graph.plan` (``capacity`` and ``scratchpad`` in bytes, ``no_reuse``); and limits of each run, ``max_steps`` and ``max_bytes``. A
    graph of unknown shapes is compiled for each set of shapes that comes.
    """
    given = checked(options or {})
    with sdpa_kernel(SDPBackend.MATH), whole_operators():  # attention as products and a softmax
        return aot_autograd(
            fw_compiler=_compiler("forward", given), bw_compiler=_compiler("backward", given),
            inference_compiler=_compiler("inference", given), decompositions=table(),
            partition_fn=min_cut_rematerialization_partition,  # computes again what is cheap, in place of keeping it
        )(module, inputs)  # fmt: skip


def register() -> None:
    """Register the backend, once."""
    from torch._dynamo.backends.registry import _BACKENDS, register_backend

    if "tesela" not in _BACKENDS:
        register_backend(backend, name="tesela")
