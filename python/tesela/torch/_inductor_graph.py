# SPDX-License-Identifier: Apache-2.0
"""Inductor's operations as a graph of tesela: the index expressions that they read become views, the loops operators.

Operators whose reads are not such views (lookups, masks, reversed dims) and kernels of unknown needs become fallbacks: any operands,
a result in the default layout.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch._inductor import dependencies, ir

from .._device import device_layout
from .._errors import LayoutError, UnsupportedError
from ._parts import FROM_PLACES, _stick_of_places
from ._program import stored

FOLDS = {
    "sum": "sum", "prod": "prod", "max": "max", "min": "min", "any": "or", "xor_sum": "sum", "welford_reduce": "sum",
    "welford_combine": "sum", "online_softmax_reduce": "sum",
}  # fmt: skip
aten = torch.ops.aten


class NotAView(Exception):
    """What an operator reads is not a chain of views of the buffer."""


def _is_number(n: Any) -> bool:
    return isinstance(n, int) or bool(getattr(n, "is_Integer", False))


def extents(sizes: Iterable[Any]) -> list[int]:
    """Sizes as numbers."""
    found = list(sizes)
    if not all(map(_is_number, found)):
        text = "device layouts have fixed sizes, and the sizes of this graph are symbols; compile it with dynamic=False"
        raise UnsupportedError(text)
    return [int(n) for n in found]


def views(size: Sequence[int], strides: Sequence[int], dims: Sequence[tuple[int, int]], offset: int) -> list[dict[str, Any]]:
    """The views, in the form of docs/graph.md, that turn a buffer of this host size and these strides into a tensor of `dims`.

    ``dims`` are pairs (extent, coefficient): element i of the tensor is the buffer's at offset + sum of i_k * coefficient_k. A dim that
    does not occur in the index gets extent 1.

    >>> views((16, 12), (12, 1), [(24, 8), (4, 1)], 2)
    [{'op': 'reshape', 'size': [24, 8]}, {'op': 'slice', 'dim': 1, 'start': 2, 'length': 4, 'step': 1}]
    """
    order = sorted((k for k in range(len(size)) if size[k] != 1), key=lambda k: -strides[k])
    extent, step = [size[k] for k in order], [strides[k] for k in order]
    moving = sorted((k for k, (n, c) in enumerate(dims) if n != 1 and c != 0), key=lambda k: -dims[k][1])
    if any(dims[k][1] < 0 for k in moving) or any(a < b * n for a, b, n in zip(step, step[1:], extent[1:])):
        raise NotAView
    digits = _digits(extent, step, dims, moving, offset)
    if digits is None:  # not dims of the buffer: parts of them, or several in one
        cuts = [math.prod(extent), *(dims[k][1] for k in moving)]
        cuts += [1] if cuts[-1] != 1 else []
        if order != sorted(order) or step != [math.prod(extent[k + 1 :]) for k in range(len(extent))]:
            raise NotAView
        if any(b >= a or a % b for a, b in zip(cuts, cuts[1:])):
            raise NotAView
        extent = [a // b for a, b in zip(cuts, cuts[1:])]
        order, digits = list(range(len(extent))), _digits(extent, cuts[1:], dims, moving, offset)
        if digits is None:
            raise NotAView
    digits = [digits[order.index(k)] for k in sorted(order)]
    extent = [extent[order.index(k)] for k in sorted(order)]
    used = [owner for _, _, _, owner in digits if owner is not None]
    shape, made = list(size), list[dict[str, Any]]()

    def reshape(to: list[int]) -> None:
        if made and made[-1]["op"] == "reshape":
            made[-1]["size"] = to
        elif to != shape:
            made.append({"op": "reshape", "size": to})
        shape[:] = to

    reshape(extent)
    for k, (start, length, by, _) in enumerate(digits):
        if (start, length, by) != (0, extent[k], 1):
            made.append({"op": "slice", "dim": k, "start": start, "length": length, "step": by})
            shape[k] = length
    reshape([dims[k][0] for k in used])
    if used != sorted(used):
        made.append({"op": "permute", "dims": [used.index(k) for k in sorted(used)]})
        shape[:] = [dims[k][0] for k in sorted(used)]
    reshape([n if k in used else 1 for k, (n, _) in enumerate(dims)])
    return made


def _digits(extent: Any, step: Any, dims: Any, moving: Any, offset: int) -> list[tuple[int, int, int, int | None]] | None:
    """Of each dim: start, length, step, and which of `dims` runs along it; None: they do not run along dims, or leave them."""
    owner: dict[int, int] = {}
    for k in moving:
        at = next((j for j, s in enumerate(step) if s <= dims[k][1] and dims[k][1] % s == 0), None)
        if at is None or at in owner:
            return None
        owner[at] = k
    found: list[tuple[int, int, int, int | None]] = []
    for j, (n, s) in enumerate(zip(extent, step)):
        start, offset = divmod(offset, s)
        length, by = (dims[owner[j]][0], dims[owner[j]][1] // s) if j in owner else (1, 1)
        if not 0 <= start <= start + (length - 1) * by < n:
            return None
        found.append((start, length, by, owner.get(j)))
    return None if offset else found


class Program:
    """Operations of Inductor as operators of a graph of tesela, each under the name of its buffer."""

    def __init__(self, graph: Any, target: str, choose: Callable[[Any], int | None] | None) -> None:
        self.target, self.choose = target, choose
        self.inputs: dict[str, dict[str, Any]] = {}
        self.ops: list[dict[str, Any]] = []
        self.hints: list[dict[str, Any]] = []
        self.values: dict[str, str] = {}  # by buffer: where its elements are now
        self.buffers: dict[str, Any] = {}  # what gets a layout
        self.operands: dict[str, tuple[int, ...]] = {}  # of an operator: the reads, or inputs, that its operands are
        self.unknown: list[str] = []
        for name, box in graph.graph_inputs.items():
            if isinstance(box, ir.TensorBox):
                self.input(name, box.data.data)
            else:
                extents([box])
        for name, tensor in graph.constants.items():
            layout = ir.FixedLayout(tensor.device, tensor.dtype, tensor.shape, tensor.stride())
            self.input(name, ir.ConstantBuffer(name=name, layout=layout))

    def tree(self, outputs: Iterable[str]) -> dict[str, Any]:
        """The program as `tesela.graph` takes it."""
        wanted = [self.values[name] for name in outputs if name in self.values] or list(self.inputs)[-1:]
        return {"target": self.target, "inputs": self.inputs, "ops": self.ops, "outputs": wanted, "hints": self.hints}

    def _keep(self, name: str, buffer: Any) -> dict[str, Any]:
        self.values[name], self.buffers[name] = name, buffer
        return {"size": extents(buffer.get_size()), "dtype": stored(buffer.get_dtype(), self.target)}

    def input(self, name: str, buffer: Any, stick: int | str | None = None) -> None:
        given = self._keep(name, buffer)
        asked = self.choose(buffer) if self.choose is not None else None
        last = len(given["size"]) - 1
        default: Any = last if last >= 0 else "free"
        self.inputs[name] = {**given, "stick": asked if asked is not None else default if stick is None else stick}

    def emit(self, op: str, name: str, ins: Sequence[str], buffer: Any, **members: Any) -> None:
        """Add the operator that makes a buffer."""
        given = self._keep(name, buffer)
        size = {"size": given["size"]} if op == "fallback" else {}
        self.ops.append({"op": op, "out": name, "in": list(ins), "dtype": given["dtype"], **size, **members})
        stick = self.choose(buffer) if self.choose is not None else None
        if stick is not None:
            self.hints.append({"node": name, "kind": "require", "stick": stick})

    def inner(self, op: str, name: str, ins: Sequence[str], dtype: torch.dtype, **members: Any) -> str:
        """Add a value that is part of an operation and has no buffer there: nothing can move it."""
        self.ops.append({"op": op, "out": name, "in": list(ins), "dtype": stored(dtype, self.target), **members})
        return name

    def fixed(self, at: str) -> None:
        self.hints.append({"node": at, "kind": "forbid_move", "operand": 0})

    def read(self, name: str, dims: Sequence[tuple[int, int]], offset: int, at: str) -> str:
        """A buffer as the tensor that `views` describes."""
        if name not in self.buffers:
            raise NotAView
        layout, value = self.buffers[name].layout, self.values[name]
        if isinstance(layout, (ir.MutationLayoutSHOULDREMOVE, ir.NonOwningLayout)):
            raise NotAView
        start = extents([layout.offset])[0]
        for one in views(extents(layout.size), extents(layout.stride), dims, offset - start):
            self.ops.append({"out": (made := f"{at}.view{len(self.ops)}"), "in": [value], **one})
            value = made
        return value

    def add(self, node: Any) -> None:
        """Add an operation: its operators, or a fallback."""
        kept, name = len(self.ops), node.get_name()
        if isinstance(node.layout, (ir.MultiOutputLayout, ir.NoneLayout)):  # no result of its own
            self.unknown += [name] if isinstance(node.layout, ir.NoneLayout) else []
            return
        try:
            if isinstance(node, ir.ComputedBuffer):
                self._computed(name, node)
            elif isinstance(node, ir.MultiOutput) and str(getattr(node.inputs[0], "op_overload", "")) == FROM_PLACES:
                text, target, *more = node.inputs[0].constant_args
                rank = len(node.get_size())
                self.input(name, node, _stick_of_places(None, text, target, more[:rank], more[rank : 2 * rank]))
            elif isinstance(node, ir.ConcatKernel):
                parts = [one.get_name() for one in node.inputs]
                part, size = extents(node.inputs[0].get_size()), extents(node.get_size())
                dims = [d for d, n in enumerate(size) if n != part[d]]
                if len(dims) != 1 or any(one not in self.values for one in parts):
                    raise NotAView
                self.emit("cat", name, [self.values[one] for one in parts], node, dim=dims[0])
            else:
                self._kernel(name, node)
        except NotAView:
            del self.ops[kept:]
            self.hints = [one for one in self.hints if any(op["out"] == one["node"] for op in self.ops)]
            self._fallback(name, node)

    def _fallback(self, name: str, node: Any) -> None:
        self.unknown.append(name)
        if isinstance(node.layout, ir.MutationLayoutSHOULDREMOVE):  # writes into a buffer that keeps its layout
            return
        kernel = node.inputs[0] if isinstance(node, ir.MultiOutput) else node
        reads = [dep.name for dep in kernel.get_read_writes().reads]
        ins = dict.fromkeys(self.values[one] for one in reads if one in self.values)
        self.emit("fallback", name, list(ins), node, opcode="inductor")

    def _computed(self, name: str, node: ir.ComputedBuffer) -> None:
        data, access = node.data, node.get_read_writes()
        if isinstance(node.layout, ir.MutationLayoutSHOULDREMOVE) or not isinstance(data, (ir.Pointwise, ir.Reduction)):
            raise NotAView
        size, folded = extents(data.get_pointwise_size()), extents(data.get_reduction_size())
        fn = FOLDS.get(str(data.get_reduction_type())) if folded else None
        if (folded and fn is None) or list(size) != extents(node.get_size()):
            raise NotAView
        symbols = iter(access.var_ranges)
        dims = [(n, next(symbols) if n != 1 else None) for n in (*size, *folded)]
        along = list(range(len(size), len(dims)))
        ones = [k for k, n in enumerate(size) if n == 1]
        if keepdim := len(ones) == len(folded):  # the folded dims are those that are 1 in the result
            for k, one in zip(ones, dims[len(size) :]):
                dims[k] = one
            dims, along = dims[: len(size)], ones
        deps = list(access.reads)
        ins = [self.read(dep.name, *_affine(dep, dims), name) for dep in deps]
        if not ins:
            self.input(name, node, "free")
            return
        whole = [n for n, _ in dims]
        index = [_affine(dep, dims)[0] for dep in deps]
        if any(n != 1 and all(one[k][1] == 0 for one in index) for k, n in enumerate(whole)):  # a dim that no operand has
            ins[0] = self.inner("expand", f"{name}.all{len(self.ops)}", ins[:1], node.get_dtype(), size=whole)
            self.ops[-1].pop("dtype")
        if not folded:
            self.emit("pointwise", name, ins, node, fn="fused")
            return
        covers = len(ins) == 1 and all(n == 1 or c for n, c in index[0])
        if not covers:
            dtype = self.buffers[deps[0].name].get_dtype()
            try:
                device_layout(whole, stored(dtype, self.target), target=self.target)
            except LayoutError:  # of more dims than the target has
                raise NotAView from None
            ins = [self.inner("pointwise", f"{name}.all", ins, dtype, fn="fused")]
        self.emit("reduce", name, ins, node, fn=fn, dims=along, keepdim=keepdim)
        if not covers:
            self.fixed(name)

    def _kernel(self, name: str, node: Any) -> None:
        """A kernel of torch: products and convolutions."""
        kind = getattr(getattr(node, "op_overload", None), "overloadpacket", None)
        inputs = list(node.inputs)
        if kind in (aten.addmm, aten.baddbmm, aten.mm, aten.bmm):
            x, y = (self._operand(one, name, whole=True) for one in inputs[-2:])
            if len(inputs) == 2:
                self.emit("matmul", name, [x, y], node)
                return
            made = self.inner("matmul", f"{name}.product", [x, y], node.get_dtype())
            bias, self.operands[name], self.operands[made] = self._operand(inputs[0], name), (0, 0), (1, 2)
        elif kind is aten.convolution and self._plain(node):
            given, n = node.kwargs, len(node.get_size()) - 2
            letters, pads = "dhw"[3 - n :], extents(given["padding"])
            window = {
                "x": f"nc{letters}", "w": f"oi{letters}", "result": f"nc{letters}", "stride": extents(given["stride"]),
                "dilation": extents(given["dilation"]), "low": pads, "high": pads,
            }  # fmt: skip
            x, w = (self._operand(one, name, whole=True) for one in inputs[:2])
            if len(inputs) == 2:
                self.emit("conv2d", name, [x, w], node, conv=window)
                return
            made = self.inner("conv2d", f"{name}.product", [x, w], node.get_dtype(), conv=window)
            channels, step = extents([*inputs[2].get_size(), *inputs[2].get_stride()])
            start = extents([inputs[2].get_layout().offset])[0]
            self.operands[name] = (2, 2)
            bias = self.read(inputs[2].get_name(), [(1, 0), (channels, step), *([(1, 0)] * n)], start, name)
        else:
            raise NotAView
        self.emit("pointwise", name, [made, bias], node, fn="add")
        self.fixed(name)

    @staticmethod
    def _plain(node: Any) -> bool:
        given = node.kwargs
        return "groups" in given and given["groups"] == 1 and not given["transposed"] and 3 <= len(node.get_size()) <= 5

    def _operand(self, one: Any, at: str, whole: bool = False) -> str:
        layout, name = one.get_layout(), one.get_name()
        dims = list(zip(extents(layout.size), extents(layout.stride)))
        if whole and any(n != 1 and step == 0 for n, step in dims):
            raise NotAView
        return self.read(name, dims, extents([layout.offset])[0], at)


def _affine(dep: Any, dims: Sequence[tuple[int, Any]]) -> tuple[list[tuple[int, int]], int]:
    """The index of a read as (extent, coefficient) for each dim of the loops, and the constant."""
    if not isinstance(dep, dependencies.MemoryDep):
        raise NotAView
    index = dep.index.expand()
    found = [(n, index.coeff(var) if var is not None else 0) for n, var in dims]
    rest = index - sum(c * var for (_, c), (_, var) in zip(found, dims) if var is not None)
    if not all(map(_is_number, (rest, *(c for _, c in found)))):
        raise NotAView
    return [(n, int(c)) for n, c in found], int(rest)
