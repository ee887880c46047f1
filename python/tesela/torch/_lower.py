# SPDX-License-Identifier: Apache-2.0
"""Operators of torch (aten) as operators of a tesela graph: element by element, folds, products, views, pieces.

Each rule takes the program and the arguments of the operator, tensors as names in the program, and returns the name of the result,
or a tuple of names. It raises NotLowered where the graph cannot do it, and the operator then runs on the host.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import torch

from ._program import Names, NotLowered, Program

aten = torch.ops.aten
Rule = Callable[..., Names]
One = TypeVar("One", bound=Rule)
RULES: dict[Any, Rule] = {}


def rule(*targets: Any) -> Callable[[One], One]:
    """Keep a rule for these operators."""

    def keep(function: One) -> One:
        RULES.update(dict.fromkeys(targets, function))
        return function

    return keep


def wanted(p: Program) -> torch.dtype:
    """The type that torch gives the node that is lowered."""
    value = p.node.meta["val"] if p.node is not None else None
    if not isinstance(value, torch.Tensor):
        raise NotLowered("several results")
    return value.dtype


def operand(p: Program, x: Any, dtype: torch.dtype) -> str:
    """A tensor in this type; a number as a constant, at least as precise as f32, as torch takes it."""
    if isinstance(x, str):
        return p.cast(x, dtype)
    if isinstance(x, complex) or not isinstance(x, (int, float)):
        raise NotLowered(f"an operand {x!r}")
    if dtype in (torch.float16, torch.bfloat16):
        dtype = torch.float32
    return p.constant(x, dtype)


def common(p: Program, *xs: Any) -> torch.dtype:
    return torch.result_type(*(p.values[x] if isinstance(x, str) else x for x in xs))


# ---- element by element

UNARY = {
    "neg": "neg", "abs": "abs", "exp": "exp", "expm1": "expm1", "log": "log", "log1p": "log1p", "sqrt": "sqrt", "rsqrt": "rsqrt",
    "tanh": "tanh", "sigmoid": "sigmoid", "relu": "relu", "sin": "sin", "cos": "cos", "tan": "tan", "erf": "erf", "floor": "floor",
    "ceil": "ceil", "round": "round_even", "sign": "sign",
}  # fmt: skip


def unary(fn: str) -> Rule:
    def lower(p: Program, x: str) -> str:
        dtype = wanted(p)
        return p.pointwise(fn, p.cast(x, dtype), dtype=dtype)

    return lower


for _name, _fn in UNARY.items():
    RULES[getattr(aten, _name).default] = unary(_fn)


def arithmetic(fn: str) -> Rule:
    def lower(p: Program, x: Any, y: Any) -> str:
        dtype = wanted(p)
        if dtype is torch.bool and fn not in ("and", "or", "xor"):
            fn_bool = {"mul": "and", "add": "or", "max": "or", "min": "and"}.get(fn)
            if fn_bool is None:
                raise NotLowered("of bool")
            return p.pointwise(fn_bool, operand(p, x, dtype), operand(p, y, dtype), dtype=dtype)
        return p.pointwise(fn, operand(p, x, dtype), operand(p, y, dtype), dtype=dtype)

    return lower


for _names, _fn in (
    (("mul.Tensor", "mul.Scalar"), "mul"),
    (("maximum.default",), "max"),
    (("minimum.default",), "min"),
    (("pow.Tensor_Tensor", "pow.Scalar"), "pow"),
    (("atan2.default",), "atan2"),
    (("bitwise_and.Tensor", "bitwise_and.Scalar"), "and"),
    (("bitwise_or.Tensor", "bitwise_or.Scalar"), "or"),
    (("bitwise_xor.Tensor", "bitwise_xor.Scalar"), "xor"),
):  # fmt: skip
    for _name in _names:
        _packet, _, _overload = _name.partition(".")
        RULES[getattr(getattr(aten, _packet), _overload)] = arithmetic(_fn)


def scaled(p: Program, x: Any, alpha: Any, dtype: torch.dtype) -> str:
    x = operand(p, x, dtype)
    return x if alpha == 1 else p.pointwise("mul", x, operand(p, alpha, dtype), dtype=dtype)


@rule(aten.add.Tensor, aten.add.Scalar)
def add(p: Program, x: Any, y: Any, alpha: Any = 1) -> str:
    dtype = wanted(p)
    fn = "or" if dtype is torch.bool else "add"
    return p.pointwise(fn, operand(p, x, dtype), scaled(p, y, alpha, dtype), dtype=dtype)


@rule(aten.sub.Tensor, aten.sub.Scalar)
def sub(p: Program, x: Any, y: Any, alpha: Any = 1) -> str:
    dtype = wanted(p)
    return p.pointwise("sub", operand(p, x, dtype), scaled(p, y, alpha, dtype), dtype=dtype)


@rule(aten.rsub.Tensor, aten.rsub.Scalar)
def rsub(p: Program, x: Any, y: Any, alpha: Any = 1) -> str:
    dtype = wanted(p)
    return p.pointwise("sub", operand(p, y, dtype), scaled(p, x, alpha, dtype), dtype=dtype)


@rule(aten.div.Tensor, aten.div.Scalar)
def div(p: Program, x: Any, y: Any) -> str:
    dtype = wanted(p)
    return p.pointwise("div", operand(p, x, dtype), operand(p, y, dtype), dtype=dtype)


def divisor(p: Program, y: Any, dtype: torch.dtype) -> str:
    """y, by which is divided. Torch raises for an integer 0, so integers are divided by numbers only."""
    if not dtype.is_floating_point and (isinstance(y, str) or y == 0):
        raise NotLowered("a division of integers, perhaps by 0")
    return operand(p, y, dtype)


@rule(aten.fmod.Tensor, aten.fmod.Scalar)
def fmod(p: Program, x: Any, y: Any) -> str:
    dtype = wanted(p)
    return p.pointwise("rem", operand(p, x, dtype), divisor(p, y, dtype), dtype=dtype)


def turned(p: Program, rest: str, y: str, zero: str) -> str:
    """Where a rest is not 0 and has another sign than y."""
    other = p.pointwise("xor", p.pointwise("lt", rest, zero, dtype=torch.bool), p.pointwise("lt", y, zero, dtype=torch.bool))
    return p.pointwise("and", other, p.pointwise("ne", rest, zero, dtype=torch.bool))


@rule(aten.remainder.Tensor, aten.remainder.Scalar)
def remainder(p: Program, x: Any, y: Any) -> str:
    """With the sign of y."""
    dtype = wanted(p)
    x, y = operand(p, x, dtype), divisor(p, y, dtype)
    rest = p.pointwise("rem", x, y, dtype=dtype)
    return p.pointwise("select", turned(p, rest, y, p.constant(0, dtype)), p.pointwise("add", rest, y, dtype=dtype), rest)


@rule(aten.div.Tensor_mode, aten.div.Scalar_mode)
def div_mode(p: Program, x: Any, y: Any, rounding_mode: Any = None) -> str:
    dtype = wanted(p)
    if rounding_mode is None:
        return div(p, x, y)
    if dtype.is_floating_point:
        quotient = p.pointwise("div", operand(p, x, dtype), operand(p, y, dtype), dtype=dtype)
        return floor_quotient(p, x, y, quotient) if rounding_mode == "floor" else trunc(p, quotient)
    x, by = operand(p, x, dtype), divisor(p, y, dtype)
    if rounding_mode == "floor":
        x = p.pointwise("sub", x, remainder(p, x, y))
    return p.pointwise("div", x, by, dtype=dtype)


@rule(aten.floor_divide.default, aten.floor_divide.Scalar)
def floor_divide(p: Program, x: Any, y: Any) -> str:
    return div_mode(p, x, y, "floor")


def floor_quotient(p: Program, x: Any, y: Any, quotient: str) -> str:
    """As in eager: by the rest, since the quotient is rounded; 0 has the quotient's sign, and x / 0 is the quotient."""
    dtype = wanted(p)
    if dtype is not torch.float32:
        raise NotLowered("a rounded quotient of fewer bits")
    x, y, zero = operand(p, x, dtype), operand(p, y, dtype), p.constant(0, dtype)
    rest = p.pointwise("rem", x, y, dtype=dtype)
    whole = p.pointwise("div", p.pointwise("sub", x, rest, dtype=dtype), y, dtype=dtype)
    whole = p.pointwise("select", turned(p, rest, y, zero), p.pointwise("sub", whole, p.constant(1, dtype)), whole)
    below = p.pointwise("floor", whole)
    far = p.pointwise("gt", p.pointwise("sub", whole, below), p.constant(0.5, dtype), dtype=torch.bool)
    below = p.pointwise("select", far, p.pointwise("add", below, p.constant(1, dtype)), below)
    is_zero = p.pointwise("eq", whole, zero, dtype=torch.bool)
    found = p.pointwise("select", is_zero, p.pointwise("mul", quotient, zero, dtype=dtype), below)
    return p.pointwise("select", p.pointwise("eq", y, zero, dtype=torch.bool), quotient, found)


@rule(aten.trunc.default)
def trunc(p: Program, x: str) -> str:
    below = p.pointwise("lt", x, p.constant(0, p.dtype(x)), dtype=torch.bool)
    return p.pointwise("select", below, p.pointwise("ceil", x), p.pointwise("floor", x))


@rule(aten.exp2.default)
def exp2(p: Program, x: str) -> str:
    dtype = wanted(p)
    return p.pointwise("pow", p.constant(2, dtype), p.cast(x, dtype), dtype=dtype)


def logarithm(base: int) -> Rule:
    def lower(p: Program, x: str) -> str:
        dtype = wanted(p)
        return p.pointwise("mul", p.pointwise("log", p.cast(x, dtype)), operand(p, 1 / math.log(base), dtype), dtype=dtype)

    return lower


RULES[aten.log2.default], RULES[aten.log10.default] = logarithm(2), logarithm(10)


def angle(p: Program, x: str) -> tuple[str, str]:
    """x, and sqrt(1 - x^2): the sine and the cosine of asin(x)."""
    x, one = p.cast(x, wanted(p)), p.constant(1, wanted(p))
    return x, p.pointwise("sqrt", p.pointwise("mul", p.pointwise("sub", one, x), p.pointwise("add", one, x)))


@rule(aten.asin.default)
def asin(p: Program, x: str) -> str:
    return p.pointwise("atan2", *angle(p, x))


@rule(aten.acos.default)
def acos(p: Program, x: str) -> str:
    return p.pointwise("atan2", *angle(p, x)[::-1])


@rule(aten.atan.default)
def atan(p: Program, x: str) -> str:
    return p.pointwise("atan2", p.cast(x, wanted(p)), p.constant(1, wanted(p)), dtype=wanted(p))


@rule(aten.reciprocal.default)
def reciprocal(p: Program, x: str) -> str:
    return div(p, 1, x)


@rule(aten.pow.Tensor_Scalar)
def power(p: Program, x: str, exponent: Any) -> str:
    dtype = wanted(p)
    x = p.cast(x, dtype)
    if exponent == 2:
        return p.pointwise("mul", x, x, dtype=dtype)
    return p.pointwise("pow", x, operand(p, exponent, dtype), dtype=dtype)


def compare(fn: str) -> Rule:
    def lower(p: Program, x: str, y: Any) -> str:
        dtype = common(p, x, y)
        return p.pointwise(fn, operand(p, x, dtype), operand(p, y, dtype), dtype=torch.bool)

    return lower


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    for _overload in ("Tensor", "Scalar"):
        RULES[getattr(getattr(aten, _name), _overload)] = compare(_name)


def logical(fn: str) -> Rule:
    def lower(p: Program, *xs: str) -> str:
        return p.pointwise(fn, *(p.cast(x, torch.bool) for x in xs), dtype=torch.bool)

    return lower


for _name in ("and", "or", "xor", "not"):
    RULES[getattr(aten, f"logical_{_name}").default] = logical(_name)


@rule(aten.bitwise_not.default)
def bitwise_not(p: Program, x: str) -> str:
    return p.pointwise("not", x)


@rule(aten.isinf.default)
def isinf(p: Program, x: str) -> str:
    if not p.dtype(x).is_floating_point:
        return p.expand(p.constant(False, torch.bool), p.shape(x))
    return p.pointwise("eq", p.pointwise("abs", x), p.constant(math.inf, p.dtype(x)), dtype=torch.bool)


@rule(aten.isnan.default)
def isnan(p: Program, x: str) -> str:
    return p.pointwise("ne", x, x, dtype=torch.bool)


@rule(aten.where.self)
def where(p: Program, condition: str, x: Any, y: Any) -> str:
    dtype = wanted(p)
    return p.pointwise("select", p.cast(condition, torch.bool), p.cast(x, dtype), p.cast(y, dtype), dtype=dtype)


@rule(aten.masked_fill.Scalar, aten.masked_fill.Tensor)
def masked_fill(p: Program, x: str, mask: str, value: Any) -> str:
    dtype = wanted(p)
    filled = p.constant(value, dtype) if not isinstance(value, str) else p.cast(value, dtype)
    return p.pointwise("select", mask, filled, x, dtype=dtype)


@rule(aten.clamp.default, aten.clamp_min.default, aten.clamp.Tensor, aten.clamp_min.Tensor)
def clamp(p: Program, x: str, low: Any = None, high: Any = None) -> str:
    dtype = wanted(p)
    x = p.cast(x, dtype)
    for fn, end in (("max", low), ("min", high)):
        if end is not None:
            x = p.pointwise(fn, x, p.cast(end, dtype) if isinstance(end, str) else p.constant(end, dtype))
    return x


@rule(aten.clamp_max.default, aten.clamp_max.Tensor)
def clamp_max(p: Program, x: str, high: Any) -> str:
    return clamp(p, x, None, high)


@rule(aten.alias.default, aten.detach.default, aten.lift_fresh_copy.default)
def same(p: Program, x: str) -> str:
    return x


@rule(aten.clone.default)
def clone(p: Program, x: str, memory_format: Any = None) -> str:
    return x


@rule(aten._to_copy.default, torch.ops.prims.convert_element_type.default)
def to_copy(p: Program, x: str, dtype: Any = None, **rest: Any) -> str:
    usual = (None, False, torch.strided, torch.device("cpu"))
    if any(value not in usual and not isinstance(value, torch.memory_format) for value in rest.values()):
        raise NotLowered("to another device")
    dtype = wanted(p)
    return p.cast(x, dtype)


# ---- folds


def fold(fn: str) -> Rule:
    def lower(p: Program, x: str, dims: Any = None, keepdim: bool = False, dtype: Any = None) -> str:
        kind = wanted(p)
        dims = range(len(p.shape(x))) if dims is None or dims == [] else [dims] if isinstance(dims, int) else dims
        if kind is not p.dtype(x) and (fn != "mean" or p.dtype(x).is_floating_point):
            x = p.cast(x, kind)
        return p.reduce(fn, x, list(dims), keepdim, kind)

    return lower


for _target, _fn in (
    (aten.sum.dim_IntList, "sum"), (aten.mean.dim, "mean"), (aten.amax.default, "max"), (aten.amin.default, "min"),
    (aten.prod.dim_int, "prod"), (aten.any.dim, "or"), (aten.any.dims, "or"), (aten.all.dim, "and"), (aten.all.dims, "and"),
):  # fmt: skip
    RULES[_target] = fold(_fn)


@rule(torch.ops.prims.prod.default)
def prims_prod(p: Program, x: str, dims: Any, output_dtype: Any = None) -> Names:
    return fold("prod")(p, x, dims)


def fold_all(fn: str) -> Rule:
    one = fold(fn)
    return lambda p, x, dtype=None: one(p, x)


for _target, _fn in (
    (aten.sum.default, "sum"), (aten.mean.default, "mean"), (aten.prod.default, "prod"), (aten.max.default, "max"),
    (aten.min.default, "min"), (aten.any.default, "or"), (aten.all.default, "and"),
):  # fmt: skip
    RULES[_target] = fold_all(_fn)


def first_place(p: Program, x: str, best: str, dim: int, keepdim: bool) -> str:
    """The first index along `dim` where x is the kept extreme, or NaN."""
    same_as = p.pointwise("eq", x, best, dtype=torch.bool)
    if p.dtype(x).is_floating_point:
        same_as = p.pointwise("or", same_as, p.pointwise("ne", x, x, dtype=torch.bool))
    extent = p.shape(x)[dim]
    at = p.constant(0, torch.int64, [extent if d == dim else 1 for d in range(len(p.shape(x)))], dim=dim)
    places = p.pointwise("select", same_as, at, p.constant(extent, torch.int64))
    return p.reduce("min", places, [dim], keepdim)


def extreme(fn: str) -> Rule:
    def lower(p: Program, x: str, dim: int, keepdim: bool = False) -> Names:
        if not p.shape(x):
            return x, p.constant(0, torch.int64)
        dim %= len(p.shape(x))
        best = p.reduce(fn, x, [dim], True)
        return best if keepdim else p.squeeze(best, [dim]), first_place(p, x, best, dim, keepdim)

    return lower


def place(fn: str) -> Rule:
    def lower(p: Program, x: str, dim: Any = None, keepdim: bool = False) -> str:
        if dim is None:
            if keepdim:
                raise NotLowered("all dims kept")
            x, dim = p.reshape(x, [math.prod(p.shape(x))]), 0
        if not p.shape(x):
            return p.constant(0, torch.int64)
        dim %= len(p.shape(x))
        return first_place(p, x, p.reduce(fn, x, [dim], True), dim, keepdim)

    return lower


RULES[aten.max.dim], RULES[aten.min.dim] = extreme("max"), extreme("min")
RULES[aten.argmax.default], RULES[aten.argmin.default] = place("max"), place("min")


@rule(aten.aminmax.default)
def aminmax(p: Program, x: str, dim: Any = None, keepdim: bool = False) -> Names:
    dims = list(range(len(p.shape(x)))) if dim is None else [dim]
    return p.reduce("min", x, dims, keepdim), p.reduce("max", x, dims, keepdim)


def variance(p: Program, x: str, dims: Any, correction: Any, keepdim: bool) -> tuple[str, str]:
    rank = len(p.shape(x))
    dims = list(range(rank)) if not dims else [d % rank for d in dims]
    count = 1
    for d in dims:
        count *= p.shape(x)[d]
    divisor = count - (1 if correction is None else correction)
    if divisor <= 0:
        raise NotLowered("a variance of too few elements")
    dtype = p.dtype(x)
    mean = p.reduce("mean", x, dims, True)
    off = p.pointwise("sub", x, mean)
    total = p.reduce("sum", p.pointwise("mul", off, off), dims, keepdim)
    var = p.pointwise("div", total, operand(p, divisor, dtype), dtype=dtype)
    return var, mean if keepdim else p.squeeze(mean, dims)


@rule(aten.var_mean.correction)
def var_mean(p: Program, x: str, dims: Any = None, correction: Any = None, keepdim: bool = False) -> Names:
    return variance(p, x, dims, correction, keepdim)


@rule(aten.var.correction)
def var(p: Program, x: str, dims: Any = None, correction: Any = None, keepdim: bool = False) -> str:
    return variance(p, x, dims, correction, keepdim)[0]


# ---- products


@rule(aten.mm.default, aten.bmm.default)
def product(p: Program, x: str, y: str) -> str:
    return p.matmul(x, y)


@rule(aten.mv.default)
def matrix_vector(p: Program, x: str, y: str) -> str:
    return p.squeeze(p.matmul(x, p.unsqueeze(y, 1)), [1])


@rule(aten.dot.default)
def dot(p: Program, x: str, y: str) -> str:
    return p.reduce("sum", p.pointwise("mul", x, y), [0], False)


@rule(aten.addmm.default, aten.baddbmm.default)
def add_product(p: Program, bias: str, x: str, y: str, beta: Any = 1, alpha: Any = 1) -> str:
    dtype = wanted(p)
    result = scaled(p, p.matmul(x, y), alpha, dtype)
    return result if beta == 0 else p.pointwise("add", scaled(p, bias, beta, dtype), result)


@rule(aten.addbmm.default)
def add_products(p: Program, bias: str, x: str, y: str, beta: Any = 1, alpha: Any = 1) -> str:
    dtype = wanted(p)
    result = scaled(p, p.reduce("sum", p.matmul(x, y), [0], False), alpha, dtype)
    return result if beta == 0 else p.pointwise("add", scaled(p, bias, beta, dtype), result)


# ---- views


def flat_diagonal(p: Program, x: str, offset: int, a: int, b: int) -> tuple[str, list[int], slice]:
    """x with the dims a and b as one at the end, the order of the dims that leads there, and where the diagonal is in it."""
    rank = len(p.shape(x))
    a, b = a % rank, b % rank
    order = [*(d for d in range(rank) if d not in (a, b)), a, b]
    rows, columns = p.shape(x)[a], p.shape(x)[b]
    start = offset if offset >= 0 else -offset * columns
    count = min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns)
    if count <= 0:
        raise NotLowered("an empty diagonal")
    x = p.permute(x, order)
    return p.reshape(x, [*p.shape(x)[:-2], rows * columns]), order, slice(start, count, columns + 1)


@rule(aten.diagonal.default, aten.diagonal_copy.default)
def diagonal(p: Program, x: str, offset: int = 0, dim1: int = 0, dim2: int = 1) -> str:
    x, _, at = flat_diagonal(p, x, offset, dim1, dim2)
    return p.slice(x, -1, at.start, at.stop, at.step)


@rule(aten.diagonal_scatter.default)
def diagonal_scatter(p: Program, x: str, y: str, offset: int = 0, dim1: int = 0, dim2: int = 1) -> str:
    flat, order, at = flat_diagonal(p, x, offset, dim1, dim2)
    lead = len(p.shape(flat)) - 1
    found = p.new("write", (flat, y), p.shape(flat), p.dtype(x), start=[0] * lead + [at.start], step=[1] * lead + [at.step])
    return p.permute(p.reshape(found, [p.shape(x)[d] for d in order]), [order.index(d) for d in range(len(order))])


@rule(aten.t.default)
def transposed(p: Program, x: str) -> str:
    return p.permute(x, list(range(len(p.shape(x))))[::-1])


@rule(aten.transpose.int)
def transpose(p: Program, x: str, a: int, b: int) -> str:
    dims = list(range(len(p.shape(x))))
    if dims:
        dims[a], dims[b] = dims[b], dims[a]
    return p.permute(x, dims)


@rule(aten.permute.default)
def permute(p: Program, x: str, dims: Sequence[int]) -> str:
    return p.permute(x, dims)


@rule(aten.view.default, aten._unsafe_view.default, aten.reshape.default)
def view(p: Program, x: str, size: Sequence[int]) -> str:
    return p.reshape(x, list(p.node.meta["val"].shape) if p.node is not None else size)


@rule(aten.as_strided.default)
def as_strided(p: Program, x: str, size: Sequence[int], stride: Sequence[int], offset: Any = None) -> str:
    """All elements in the order that they have; what another one shows depends on the strides of x in torch."""
    node = p.node.args[0] if p.node is not None else None
    given = node.meta["val"] if isinstance(node, torch.fx.Node) else None
    if given is None or not given.is_contiguous() or offset or math.prod(size) != math.prod(p.shape(x)):
        raise NotLowered("strides that are not row-major")
    if tuple(stride) != torch.empty(tuple(size), device="meta").stride():
        raise NotLowered("strides that are not row-major")
    return p.reshape(x, list(size))


@rule(aten.unsqueeze.default)
def unsqueeze(p: Program, x: str, dim: int) -> str:
    return p.unsqueeze(x, dim)


@rule(aten.squeeze.default, aten.squeeze.dim, aten.squeeze.dims)
def squeeze(p: Program, x: str, dims: Any = None) -> str:
    return p.squeeze(x, range(len(p.shape(x))) if dims is None else [dims] if isinstance(dims, int) else dims)


@rule(aten.expand.default)
def expand(p: Program, x: str, size: Sequence[int], implicit: bool = False) -> str:
    return p.expand(x, size)


def clipped(length: int, start: Any, end: Any) -> tuple[int, int]:
    start, stop, _ = slice(start, end).indices(length)
    return start, max(start, stop)


@rule(aten.slice.Tensor)
def part(p: Program, x: str, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> str:
    first, last = clipped(p.shape(x)[dim], start, end)
    return p.slice(x, dim, first, -((first - last) // step), step)


@rule(aten.select.int)
def select(p: Program, x: str, dim: int, index: int) -> str:
    index %= p.shape(x)[dim]
    return p.squeeze(p.slice(x, dim, index, 1), [dim])


@rule(aten.unbind.int)
def unbind(p: Program, x: str, dim: int = 0) -> Names:
    return tuple(select(p, x, dim, k) for k in range(p.shape(x)[dim]))


@rule(aten.split.Tensor, aten.split_with_sizes.default)
def split(p: Program, x: str, sizes: Any, dim: int = 0) -> Names:
    extent, at, found = p.shape(x)[dim], 0, []
    for size in [sizes] * -(-extent // sizes) if isinstance(sizes, int) else sizes:
        found.append(p.slice(x, dim, at, min(size, extent - at)))
        at += size
    return tuple(found)


@rule(aten.flip.default)
def flip(p: Program, x: str, dims: Sequence[int]) -> str:
    for d in dims:
        x = p.slice(x, d, p.shape(x)[d] - 1, p.shape(x)[d], -1)
    return x


@rule(operator.getitem)
def getitem(p: Program, found: Names, k: int) -> str:
    one = found[k] if isinstance(found, tuple) else None
    if one is None:
        raise NotLowered("a result that is not computed")
    return one


from . import _lower_lookup, _lower_memory, _lower_pools, _lower_windows  # noqa: F401 - their rules
