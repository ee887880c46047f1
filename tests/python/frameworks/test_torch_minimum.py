# SPDX-License-Identifier: Apache-2.0
"""The price that the backend pays for moves is the least: of random models, against a search through all layouts, moves and copies.

The search is written here from docs/graph.md (Rules, Moves, Copies of views) and shares no code with tesela: where elements lie is
computed for each element by itself, from the sticks of its buffer; a need is checked by looking at every place.
"""

from __future__ import annotations

import collections
import itertools
import math
import os
import random

import numpy as np
import pytest
import tesela
import tesela.torch
import torch
from tesela.torch import _backend

pytestmark = pytest.mark.frameworks
SEED = int(os.environ.get("TESELA_SEED", "14"))
GRAPHS = 104
NODES = 8
SPARSE = -1
STICK = 128  # bytes


# ---- where elements lie


class Buffer:
    """A tensor with memory of its own. A stick dim of extent 1 is one element per stick, so that only others count."""

    def __init__(self, shape, size):
        self.shape, self.lanes = tuple(shape), STICK // size
        self.sticks = [d for d, extent in enumerate(self.shape) if extent > 1] + [SPARSE]
        self.places = {}

    def price(self, stick):
        """Elements on the device, padding included."""
        blocks = 1 if stick == SPARSE else -(-self.shape[stick] // self.lanes)
        others = [extent for d, extent in enumerate(self.shape) if d != stick]
        return math.prod(others) * blocks * self.lanes

    def place(self, stick):
        """The lane and the number of the stick of each element."""
        if stick not in self.places:
            index = np.indices(self.shape)
            lane = np.zeros(self.shape, int) if stick == SPARSE else index[stick] % self.lanes
            if stick != SPARSE:
                index[stick] //= self.lanes
            number = sum(index[d] * 10000**d for d in range(len(self.shape))) if self.shape else np.zeros((), int)
            self.places[stick] = lane, number
        return self.places[stick]


class Value:
    """A tensor: a buffer, or a view of another value, which `show` makes of its elements."""

    def __init__(self, buffer, parent=None, show=None):
        self.buffer, self.parent, self.show = buffer, parent, show
        whole = np.arange(math.prod(buffer.shape)).reshape(buffer.shape)
        self.at = whole if parent is None else show(parent.at)
        self.shape = self.at.shape

    @property
    def chain(self):
        return [] if self.parent is None else [*self.parent.chain, self]

    def seen(self, source, array):
        """The elements of this value among those of a value before it."""
        return array if self is source else self.show(self.parent.seen(source, array))

    def whole(self):
        """Does it show the whole buffer, with its dims in another order? Then it is moved, not copied. Dims of extent 1 do not count."""
        at = self.at.squeeze()
        whole = np.arange(math.prod(self.buffer.shape)).reshape(self.buffer.shape).squeeze()
        orders = itertools.permutations(range(at.ndim)) if at.size == whole.size and at.ndim == whole.ndim else []
        return any(np.array_equal(whole.transpose(order), at) for order in orders)


def along(place, axis, lanes):
    """Is each element in lane (index mod lanes) of that dim, and those that differ only in the lane in one stick?"""
    lane, number = place
    extent = lane.shape[axis]
    if (np.moveaxis(lane, axis, -1) != np.arange(extent) % lanes).any():
        return False
    blocks = np.split(np.moveaxis(number, axis, -1), range(lanes, extent, lanes), axis=-1)
    return all((one == one[..., :1]).all() for one in blocks)


def survivor(place, lanes):
    """The dim along the stick; SPARSE: all elements are in lane 0; None: neither."""
    if (place[0] == 0).all():
        return SPARSE
    found = [axis for axis in range(place[0].ndim) if place[0].shape[axis] > 1 and along(place, axis, lanes)]
    return found[0] if found else None


# ---- operators: for each stick of the result, is the need of an operand met?


def need_result(place, lanes, axis):
    """`axis` of the operand has the result's stick dim along the stick, or the operand is broadcast along it from lane 0."""
    if (place[0] == 0).all():
        number = place[1]
        return axis is None or number.shape[axis] == 1 or bool((number == number.take([0], axis)).all())
    return axis is not None and along(place, axis, lanes)


class Operator:
    """`needs` has for each operand a function of (place, lanes, stick of the result)."""

    def __init__(self, result, operands, needs):
        self.result, self.operands, self.needs = result, operands, needs


def aligned(rank, of):
    """The operand's dim for each dim of the result, as NumPy broadcasts."""
    return [d - rank + of.at.ndim if d - rank + of.at.ndim >= 0 else None for d in range(rank)]


def pointwise(result, *operands):
    rank = len(result.shape)

    def need(of):
        axes = aligned(rank, of)

        def met(place, lanes, stick):
            axis = None if stick == SPARSE else axes[stick]
            if axis is not None and of.shape[axis] == 1:
                axis = None
            return need_result(place, lanes, axis)

        return met

    return Operator(result, operands, [need(one) for one in operands])


def folding(result, operand, dims, kept, unfolded=False, drop=True):
    """A fold, or what runs along a dim (drop False): the dim along the stick survives, unless it is folded."""

    def met(place, lanes, stick):
        dim = survivor(place, lanes)
        if dim is None or (unfolded and dim in dims):
            return False
        if dim == SPARSE or dim in dims:
            return stick == SPARSE
        return stick == (dim if kept or not drop else dim - sum(d < dim for d in dims))

    return Operator(result, [operand], [met])


def product(result, x, y):
    rank = len(result.shape)
    n = rank - 1 if result.shape[-1] > 1 else SPARSE

    def contracted(place, lanes, stick):
        return stick == n and along(place, rank - 1, lanes)

    def column(place, lanes, stick):
        return stick == n and along(place, rank - 1, lanes)

    return Operator(result, [x, y], [contracted, column])


def joined(result, operands, dim):
    starts = np.cumsum([0] + [one.shape[dim] for one in operands])

    def need(of, start):
        def met(place, lanes, stick):
            if stick == dim and start % result.buffer.lanes:
                return False
            return need_result(place, lanes, None if stick == SPARSE else stick)

        return met

    return Operator(result, operands, [need(one, start) for one, start in zip(operands, starts)])


def lookup(result, x, dim):
    """x at indices of `dim`, which are a tensor of one dim and may lie anywhere."""

    def met(place, lanes, stick):
        if stick == dim and result.shape[dim] > 1:
            return bool((place[0] == 0).all()) and x.shape[dim] == 1
        return need_result(place, lanes, None if stick == SPARSE else stick) and survivor(place, lanes) != dim

    return Operator(result, [x], [met])


# ---- the search


MOVES, COPIES, SPREAD, COMPACT = 1, 2, 4, 8


def options(value, stick, how):
    """(price, lanes and sticks of the elements that the operand reads): left where it is, its buffer moved, or a view of it copied."""
    buffer, root = value.buffer, value.chain[0].parent if value.chain else value

    def allowed(to, elements=0):
        return elements == 1 or ((to != SPARSE or how & SPREAD) and (stick != SPARSE or how & COMPACT))

    def shown(source, place):
        return tuple(value.seen(source, one) for one in place)

    found = [(0, shown(root, buffer.place(stick)))]
    if how & MOVES:
        found += [(buffer.price(stick), shown(root, buffer.place(to))) for to in buffer.sticks if to != stick and allowed(to)]
    for view in value.chain if how & COPIES else []:
        if not view.whole():
            copy = Buffer(view.shape, STICK // buffer.lanes)
            found += [(copy.price(to), shown(view, copy.place(to))) for to in copy.sticks if allowed(to, math.prod(view.shape))]
    return found


def edges(operator):
    """Operands that are read in one view of one buffer are one operand: (value, needs)."""
    found = []
    for value, need in zip(operator.operands, operator.needs):
        same = [e for e in found if e[0].buffer is value.buffer and np.array_equal(e[0].at, value.at)]
        if same:
            same[0][1].append(need)
        else:
            found.append((value, [need]))
    return found


def least(operators, given, how):
    """The least price over all sticks of all results and all that may be done to each operand; None: there is no layout."""
    tables = []
    for operator in operators:
        table = []
        for value, needs in edges(operator):
            prices = {}
            for stick in [given[value.buffer]] if value.buffer in given else value.buffer.sticks:
                ways = options(value, stick, how)
                for to in operator.result.buffer.sticks:
                    fits = [price for price, place in ways if all(need(place, value.buffer.lanes, to) for need in needs)]
                    if fits:
                        prices[stick, to] = min(fits)
            table.append((value.buffer, prices))
        tables.append(table)

    best = [None]

    def go(k, chosen, price):
        if best[0] is not None and price >= best[0]:
            return
        if k == len(operators):
            best[0] = price
            return
        for to in operators[k].result.buffer.sticks:
            costs = [prices.get((chosen[buffer], to)) for buffer, prices in tables[k]]
            if None not in costs:
                go(k + 1, {**chosen, operators[k].result.buffer: to}, price + sum(costs))

    go(0, dict(given), 0)
    return best[0]


# options of the backend, and what they allow, in turn until there are layouts
WAYS = [
    ({}, [MOVES | COPIES, MOVES | COPIES | SPREAD | COMPACT]),  # materialise, the default
    ({"materialise": False}, [MOVES]),
    ({"materialise": False, "spread": True}, [MOVES | SPREAD]),
    ({"materialise": False, "compact": True}, [MOVES | COMPACT]),
    ({"copies": True, "materialise": False}, [MOVES | COPIES]),
    ({"copies": True, "materialise": False, "spread": True, "compact": True}, [MOVES | COPIES | SPREAD | COMPACT]),
    ({"mode": "strict"}, [0]),
    ({"mode": "strict", "copies": True}, [COPIES]),
]


def minimum(model, ways):
    """The least price; None: no layout."""
    given = {one.buffer: len(one.shape) - 1 if one.shape[-1] > 1 else SPARSE for one in model.inputs}
    return next((price for how in ways if (price := least(model.operators, given, how)) is not None), None)


# ---- random models


class Model:
    """A list of steps (function of torch, numbers of its operands), and what they mean for the search."""

    def __init__(self, rng):
        self.rng, self.steps, self.kept, self.count = rng, [], [], 0
        self.tensors, self.values, self.operators, self.used, self.indices = [], [], [], set(), []
        self.dtype = rng.choice([torch.float32, torch.float32, torch.float16])
        self.size = self.dtype.itemsize
        self.extents = rng.sample([1, 2, 3, 5, 8, 31, 32, 33, 40, 64, 65, 70], 3)
        for _ in range(rng.choice([1, 2, 2, 3])):
            shape = [rng.choice(self.extents) for _ in range(rng.choice([1, 2, 2, 2, 3]))]
            while math.prod(shape) > 6000:
                shape[shape.index(max(shape))] = 2
            self._keep(torch.empty(shape, device="meta"), Value(Buffer(shape, self.size)))
        self.inputs = list(self.values)
        goal = rng.randint(2, NODES)
        for _ in range(60):
            if self.count >= goal:
                break
            self._grow()
        self.outputs = [k for k in range(len(self.values)) if k not in self.used and k >= len(self.inputs)]

    def _keep(self, tensor, value):
        self.tensors.append(tensor)
        self.values.append(value)

    def _add(self, key, do, ins, operator=None, view=None, nodes=1):
        """Keep a step. `operator` makes Operators of the result and the operands; `view` shows the elements of operand 0."""
        if self.count + nodes > NODES or (key, ins) in self.kept:  # a compiler computes the same thing once
            return
        try:
            tensor = do(*(self.tensors[k] for k in ins))
        except (RuntimeError, IndexError):
            return
        shape = tuple(tensor.shape)
        if math.prod(shape) > 6000 or len(shape) > 4 or 0 in shape:
            return
        if view is not None:
            value = Value(self.values[ins[0]].buffer, self.values[ins[0]], view)
            if value.shape != shape or not strided(value.at):
                return
        else:
            value = Value(Buffer(shape, self.size))
            self.operators += operator(value, *(self.values[k] for k in ins))
        self.used.update(ins)
        self.kept.append((key, ins))
        self.steps.append((do, ins))
        self.count += nodes
        self._keep(tensor, value)

    def _pick(self, rank=None):
        fits = [k for k, one in enumerate(self.tensors) if rank is None or one.dim() in rank]
        return max(self.rng.choices(fits, k=2)) if fits else None

    def _grow(self):
        rng, kind = self.rng, self.rng.choice(KINDS)
        k = self._pick((2, 3) if kind in ("mm", "t", "softmax") else (1, 2, 3))
        if k is None:
            return
        x = self.tensors[k]
        rank, dim = x.dim(), rng.randrange(x.dim())
        getattr(self, "_" + kind)(rng, k, x, rank, dim)

    # each kind: what torch does, and the rule

    def _unary(self, rng, k, x, rank, dim):
        fn = rng.choice([torch.exp, torch.neg, torch.relu, twice])
        self._add(fn, lambda a: fn(a), (k,), lambda r, a: [pointwise(r, a)])

    def _binary(self, rng, k, x, rank, dim):
        other, fn = rng.randrange(len(self.tensors)), rng.choice([torch.add, torch.sub, torch.mul])
        self._add(fn, lambda a, b: fn(a, b), (k, other), lambda r, a, b: [pointwise(r, a, b)])

    def _mm(self, rng, k, x, rank, dim):
        shapes = [tuple(one.shape) for one in self.tensors]
        fits = [j for j, y in enumerate(shapes) if len(y) == rank and y[:-1] == (*x.shape[:-2], x.shape[-1]) and y[-2] > 1]
        if fits:
            self._add("mm", torch.mm if rank == 2 else torch.bmm, (k, rng.choice(fits)), lambda r, a, b: [product(r, a, b)])

    def _fold(self, rng, k, x, rank, dim):
        name, kept = rng.choice(["sum", "amax", "mean", "prod"]), rng.random() < 0.5
        dims = [dim] if name == "prod" else sorted(rng.sample(range(rank), rng.randint(1, rank)))
        fn, which = getattr(torch, name), dim if name == "prod" else dims
        self._add((name, kept, *dims), lambda a: fn(a, which, keepdim=kept), (k,), lambda r, a: [folding(r, a, dims, kept, name == "prod")])

    def _cumsum(self, rng, k, x, rank, dim):
        self._add(("cumsum", dim), lambda a: torch.cumsum(a, dim), (k,), lambda r, a: [folding(r, a, [dim], True, True, drop=False)])

    def _softmax(self, rng, k, x, rank, dim):
        if self.dtype is not torch.float32:  # softmax of f16 is computed in f32
            return

        def rules(r, a):
            shape = [1 if d == dim else extent for d, extent in enumerate(a.shape)]
            most, off, up, total = (Value(Buffer(s, self.size)) for s in (shape, a.shape, a.shape, shape))
            return [
                folding(most, a, [dim], True), pointwise(off, a, most), pointwise(up, off),
                folding(total, up, [dim], True), pointwise(r, up, total),
            ]  # fmt: skip

        self._add(("softmax", dim), lambda a: torch.softmax(a, dim), (k,), rules, nodes=5)

    def _cat(self, rng, k, x, rank, dim):
        same = [y for y in range(len(self.tensors)) if self.tensors[y].dim() == rank]
        other = rng.choice(same)
        self._add(("cat", dim), lambda a, b: torch.cat([a, b], dim), (k, other), lambda r, a, b: [joined(r, [a, b], dim)])

    def _lookup(self, rng, k, x, rank, dim):
        at, rows = len(self.indices), torch.tensor([rng.randrange(x.shape[dim]) for _ in range(rng.choice([1, 3, 40]))])
        self.indices.append(rows)

        def do(a):
            return torch.index_select(a, dim, self.indices[at].to(a.device))

        self._add(("lookup", at), do, (k,), lambda r, a: [lookup(r, a, dim)])

    def _t(self, rng, k, x, rank, dim):
        order = list(range(rank))
        rng.shuffle(order)
        if order != sorted(order):
            self._add(("t", *order), lambda a: a.permute(order), (k,), view=lambda a: a.transpose(order))

    def _piece(self, rng, k, x, rank, dim):
        extent = x.shape[dim]
        start, step = rng.choice([0, 0, 1, 32, 8]), rng.choice([1, 1, 1, 2])
        stop = min(extent, start + rng.choice([1, 2, 20, 32, 64]))
        index = (slice(None),) * dim + (slice(start, stop, step) if rng.random() < 0.7 else min(start, extent - 1),)
        whole = isinstance(index[-1], slice) and (start, stop, step) == (0, extent, 1)
        if start < stop and not whole:
            self._add(("piece", str(index)), lambda a: a[index], (k,), view=lambda a: a[index])

    def _reshape(self, rng, k, x, rank, dim):
        shape = list(x.shape)
        if rng.random() < 0.5 and rank > 1:
            d = rng.randrange(rank - 1)
            shape[d : d + 2] = [shape[d] * shape[d + 1]]
        else:
            parts = [f for f in (2, 4, 5, 32) if shape[dim] % f == 0 and shape[dim] > f]
            if not parts:
                return
            f = rng.choice(parts)
            shape[dim : dim + 1] = rng.choice([[f, shape[dim] // f], [shape[dim] // f, f]])
        self._add(("reshape", *shape), lambda a: a.view(shape), (k,), view=lambda a: a.reshape(shape))

    def _one(self, rng, k, x, rank, dim):
        if rng.random() < 0.6:
            self._add(("one", dim), lambda a: a.unsqueeze(dim), (k,), view=lambda a: np.expand_dims(a, dim))
        elif x.shape[dim] == 1:
            self._add(("one", dim), lambda a: a.squeeze(dim), (k,), view=lambda a: np.squeeze(a, dim))

    def _expand(self, rng, k, x, rank, dim):
        if rng.random() < 0.5 or 1 not in x.shape:
            shape = [rng.choice(self.extents), *x.shape]
        else:
            shape = [rng.choice(self.extents) if extent == 1 else extent for extent in x.shape]
        if shape != list(x.shape):
            self._add(("expand", *shape), lambda a: a.expand(shape), (k,), view=lambda a: np.broadcast_to(a, shape))

    def __call__(self, *inputs):
        values = list(inputs)
        for do, ins in self.steps:
            values.append(do(*(values[k] for k in ins)))
        return [values[k] for k in self.outputs]


KINDS = "unary binary binary mm mm fold cumsum softmax cat lookup t t piece reshape one expand".split()


def twice(a):
    return a * 2


def strided(at):
    """Do the elements have one stride a dim?"""
    steps = [int((np.moveaxis(at, d, 0)[1:2] - np.moveaxis(at, d, 0)[:1]).flat[0]) if e > 1 else 0 for d, e in enumerate(at.shape)]
    return bool((at == at.flat[0] + sum(i * s for i, s in zip(np.indices(at.shape), steps))).all()) if at.ndim else True


# ---- the test


def compiled(model, options):
    torch._dynamo.reset()
    inputs = [torch.ones(one.shape, dtype=model.dtype) for one in model.inputs]
    with _backend.recorded() as graphs, torch.no_grad():
        torch.compile(lambda *given: model(*given), backend="tesela", dynamic=False, options=options)(*inputs)
    (graph,) = graphs
    return graph


def test_the_price_is_the_least():
    """Half of the models with the default options, which copy views, and use one element per stick if that is not enough."""
    torch.set_num_threads(1)
    seen = collections.Counter()
    for k in range(GRAPHS):
        model = next(one for n in range(100) if (one := Model(random.Random(f"{SEED} {k} {n}"))).operators)
        options, ways = WAYS[0 if k % 2 else k // 2 % len(WAYS)]
        what = f"TESELA_SEED={SEED}, model {k}, {options}: {model.dtype} {[one.shape for one in model.inputs]} {model.kept}"
        expected = minimum(model, ways)
        try:
            graph = compiled(model, options)
        except tesela.torch.NoLayout:
            assert expected is None, what
            seen["none"] += 1
            continue
        (part,) = graph.parts
        assert part.program is not None and not any(op["op"] == "clone" for op in part.program.ops), what
        found = part.assignment
        assert found.cost == expected, f"{what}: paid {found.cost}, the least is {expected}"
        assert found.bound <= found.cost and found.proven, what
        assert part.facts.moved == found.cost and part.facts.poison_read == 0, what
        seen["paid" if found.cost else "free"] += 1
    assert seen["paid"] > GRAPHS // 5 and seen["free"] and seen["none"], seen


def test_what_it_costs():
    """Prices of the search by hand: f32[40,70] is 40 rows of 3 sticks of 32, with dim 0 in the sticks 2 sticks for each of the 70."""
    buffer = Buffer((40, 70), 4)
    assert [buffer.price(one) for one in (0, 1, SPARSE)] == [2 * 32 * 70, 40 * 3 * 32, 40 * 70 * 32]
    x, y, z = (Value(Buffer(shape, 4)) for shape in ((40, 70), (70, 40), (40, 70)))
    turned = Value(y.buffer, y, np.transpose)
    added = [pointwise(z, x, turned)]
    assert least(added, {x.buffer: 1, y.buffer: 1}, MOVES | COPIES) == min(40 * 3 * 32, 70 * 2 * 32)
    assert least(added, {x.buffer: 1, y.buffer: 0}, 0) == 0 and least(added, {x.buffer: 1, y.buffer: 1}, 0) is None
    piece = Value(y.buffer, y, lambda a: a[:, 3:23])
    total = Value(Buffer((70, 20), 4))
    shown = [pointwise(total, piece)]  # lanes 3 to 22 of a stick: copied, or the whole buffer is moved
    assert least(shown, {y.buffer: 1}, MOVES | COPIES) == 20 * 3 * 32 < least(shown, {y.buffer: 1}, MOVES) == 70 * 2 * 32
