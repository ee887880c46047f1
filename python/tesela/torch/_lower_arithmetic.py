# SPDX-License-Identifier: Apache-2.0
"""Operators of torch (aten) as operators of a tesela graph: sums, products, quotients and functions, element by element."""

from __future__ import annotations

import math
from typing import Any

import torch

from ._program import NotLowered, Program
from ._rules import RULES, Rule, aten, operand, rule, scaled, wanted

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
