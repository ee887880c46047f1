# SPDX-License-Identifier: Apache-2.0
"""Operators of torch (aten) as operators of a tesela graph: comparisons, logic, selections and casts, element by element."""

from __future__ import annotations

import math
from typing import Any

import torch

from ._program import NotLowered, Program
from ._rules import RULES, Rule, aten, common, operand, rule, wanted


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
