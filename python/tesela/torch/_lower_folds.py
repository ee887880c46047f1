# SPDX-License-Identifier: Apache-2.0
"""Operators of torch (aten) as operators of a tesela graph: folds, places of extremes, variances, products of matrices."""

from __future__ import annotations

import math
from typing import Any

import torch

from ._program import Names, NotLowered, Program
from ._rules import RULES, Rule, aten, operand, rule, scaled, wanted


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
