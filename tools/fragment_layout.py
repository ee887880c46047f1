# SPDX-License-Identifier: Apache-2.0
"""From the formula of a fragment to its register layout; the catalogue itself is fragments.py.

An entry gives the row and the column that element i of a lane has (C syntax; lane is the thread id, g = lane/4,
t = lane%4). From that this module

  1. lists the element of every (lane, i),
  2. derives the register layout: the digits of lane and i, what each moves, in reduced form,
  3. decodes the layout again for every slot and compares with the formula; every element must be held, equally often,
  4. finds the shortest expression (local, spatial, column_local, column_spatial, replicated) and checks that too.

NoLayout if a formula is not a register layout or if a lane holds an element twice.
"""

import re
from dataclasses import dataclass, replace
from functools import lru_cache


class NoLayout(Exception):
    """A formula is not a register layout; the message says where."""


# ---- entries --------------------------------------------------------------------------------------------------


@dataclass
class Entry:
    """One operand of one instruction. `n` in shape and count is the N of a family."""

    name: str
    instruction: str
    types: str
    operand: str
    axes: str
    shape: tuple  # of numbers, or "n"
    count: object  # elements of a lane: a number, or the divisor d of n/d as ("n", 2)
    row: str
    col: str
    block: str = ""
    since: str = ""
    note: str = ""
    bits: int = 0
    threads: int = 32
    n_step: int = 0
    n_max: int = 0
    words: str = ""  # names that part `part` of the name may have instead; the first is the one in the name
    part: int = -1
    source: str = ""

    @property
    def family(self):
        return self.name.split(".")[0]

    @property
    def section(self):
        """The table of the documentation that has the entry."""
        return "mma.sp" if self.name.startswith("mma.sp.") else self.family

    def with_n(self, n):
        """The entry for one N."""
        count = n // self.count[1] if isinstance(self.count, tuple) else self.count
        return replace(self, shape=tuple(n if x == "n" else x for x in self.shape), count=count, n_step=0, n_max=0)

    def at(self, lane, i):
        names = {"lane": lane, "i": i, "g": lane // 4, "t": lane % 4}
        return tuple(evaluate(text, names) for text in (self.block, self.row, self.col) if text)


@lru_cache(maxsize=None)
def compiled(text):
    if not re.fullmatch(r"[\sgtilane0-9+*/%()]*", text):
        raise NoLayout(f"formula {text!r}: only lane, g, t, i, numbers, + * / % and brackets")
    return compile(text.replace("/", "//"), text, "eval")


def evaluate(text, names):
    return eval(compiled(text), {"__builtins__": {}}, names)  # the pattern above leaves arithmetic only


BITS = {1: "b1", 2: "b2", 4: "s4 u4 iu4 e2m1 b4", 6: "b6", 8: "ue8m0 ue4m3 s8 u8 i8 iu8 b8 e4m3 e5m2 e3m2 e2m3 fp8 bf8", 16: "f16 bf16 b16"}
BITS |= {32: "f32 tf32 xf32 s32 i32 b32", 64: "f64"}


def bits_of(types):
    """Of the widest of the types."""
    return max(bits for bits, names in BITS.items() for x in types.split(",") if x in names.split())


# ---- from formula to layout -----------------------------------------------------------------------------------


@dataclass
class Layout:
    shape: tuple
    mode_shape: list
    spatial_modes: list
    local_modes: list

    def strides(self, modes):
        """(stride, size, mode or None for a replica) of each digit."""
        digits, stride = [], 1
        for m in reversed(modes):
            size = -m if m < 0 else self.mode_shape[m]
            digits.append((stride, size, None if m < 0 else m))
            stride *= size
        return digits, stride

    def at(self, thread, local):
        digits = [0] * len(self.mode_shape)
        for number, modes in ((thread, self.spatial_modes), (local, self.local_modes)):
            for stride, size, mode in self.strides(modes)[0]:
                if mode is not None:
                    digits[mode] = number // stride % size
        index, m = [], 0
        for extent in self.shape:
            value, size = 0, 1
            while size < extent:
                value = value * self.mode_shape[m] + digits[m]
                size *= self.mode_shape[m]
                m += 1
            index.append(value)
        return tuple(index)


def primes(n):
    factors, p = [], 2
    while n > 1:
        while n % p == 0:
            factors.append(p)
            n //= p
        p += 1
    return factors


def axis_digits(entry, axis, size):
    """The prime digits of lane or i, fastest first: (size, dim, step); dim None is a replica."""
    digits, weight = [], 1
    for p in primes(size):
        moved = entry.at(weight, 0) if axis == "lane" else entry.at(0, weight)
        dims = [d for d, step in enumerate(moved) if step]
        if len(dims) > 1:
            raise NoLayout(f"{entry.name}: {axis} {weight} moves {len(dims)} dims")
        digits.append((p, dims[0], moved[dims[0]]) if dims else (p, None, 0))
        weight *= p
    return digits


def derive(entry):
    """The register layout of a formula, reduced. Raises NoLayout."""
    if any(entry.at(0, 0)):
        raise NoLayout(f"{entry.name}: lane 0 does not begin with element 0")
    spatial, local = axis_digits(entry, "lane", entry.threads), axis_digits(entry, "i", entry.count)
    if any(dim is None for _, dim, _ in local):
        raise NoLayout(f"{entry.name}: a lane holds an element twice")
    modes = []  # (dim, step, size, axis, place), outermost first within a dim
    for axis, digits in (("s", spatial), ("l", local)):
        for place, (size, dim, step) in enumerate(digits):
            if dim is not None:
                modes.append((dim, -step, size, axis, place))
    modes.sort()
    for dim, extent in enumerate(entry.shape):
        step = 1
        for _, minus, size, _, _ in reversed([m for m in modes if m[0] == dim]):
            if -minus != step:
                raise NoLayout(f"{entry.name}: dim {dim} has a step of {-minus}, not {step}")
            step *= size
        if step != extent:
            raise NoLayout(f"{entry.name}: dim {dim} reaches {step} of {extent}")
    number = {(m[3], m[4]): k for k, m in enumerate(modes)}
    spatial_modes = [
        number["s", k] if dim is not None else -size for k, (size, dim, _) in reversed(list(enumerate(spatial)))
    ]
    local_modes = [number["l", k] for k in reversed(range(len(local)))]
    return reduced(Layout(entry.shape, [m[2] for m in modes], spatial_modes, local_modes), [m[0] for m in modes])


def reduced(layout, dims):
    """Join neighbouring modes of a dim that are neighbours in one list, and neighbouring replicas."""
    lists = [list(layout.spatial_modes), list(layout.local_modes)]
    sizes, dims = list(layout.mode_shape), list(dims)
    m = 0
    while m + 1 < len(sizes):
        home = next((x for x in lists if (m, m + 1) in zip(x, x[1:])), None)
        if home is None or dims[m] != dims[m + 1]:
            m += 1
            continue
        sizes[m] *= sizes.pop(m + 1)
        dims.pop(m + 1)
        home.remove(m + 1)
        for x in lists:
            x[:] = [k - 1 if k > m else k for k in x]
    spatial = []
    for k in lists[0]:
        if k < 0 and spatial and spatial[-1] < 0:
            spatial[-1] *= -k
        else:
            spatial.append(k)
    return Layout(layout.shape, sizes, spatial, lists[1])


def check(entry, layout):
    """Slot by slot against the formula; every element held, all equally often."""
    if (
        layout.strides(layout.spatial_modes)[1] != entry.threads
        or layout.strides(layout.local_modes)[1] != entry.count
    ):
        raise NoLayout(f"{entry.name}: sizes")
    held = {}
    for lane in range(entry.threads):
        for i in range(entry.count):
            want = entry.at(lane, i)
            if layout.at(lane, i) != want:
                raise NoLayout(
                    f"{entry.name}: lane {lane} element {i} is {want}, the layout says {layout.at(lane, i)}"
                )
            held[want] = held.get(want, 0) + 1
    elements = 1
    for extent in entry.shape:
        elements *= extent
    if len(held) != elements or len(set(held.values())) != 1:
        raise NoLayout(f"{entry.name}: {len(held)} elements held of {elements}")


# ---- from layout to expression --------------------------------------------------------------------------------


def split_digits(layout):
    """Prime digits of both lists, slowest first: (dim, depth, size); depth counts from a dim's innermost digit."""
    dim_of, dim, size = [], 0, 1
    for mode in layout.mode_shape:
        while size == layout.shape[dim]:
            dim, size = dim + 1, 1
        dim_of.append(dim)
        size *= mode
    depth, counts = {}, {}
    for m in reversed(range(len(layout.mode_shape))):
        for k, p in enumerate(reversed(primes(layout.mode_shape[m]))):
            depth[m, k] = counts.get(dim_of[m], 0)
            counts[dim_of[m]] = depth[m, k] + 1
    lists = []
    for modes in (layout.spatial_modes, layout.local_modes):
        digits = []
        for m in modes:
            if m < 0:
                digits.append((None, 0, -m))
                continue
            factors = list(reversed(primes(layout.mode_shape[m])))  # fastest last below
            digits += [(dim_of[m], depth[m, k], factors[k]) for k in reversed(range(len(factors)))]
        lists.append(digits)
    return lists


def expression(layout):
    """The shortest chain of primitives whose composition is the layout; ties: fewer column_ ones."""
    spatial, local = split_digits(layout)
    rank = len(layout.shape)
    if not spatial and not local:
        return "spatial(" + ", ".join("1" * rank) + ")"

    def sizes(run):
        extents = [1] * rank
        for dim, _, size in run:
            extents[dim] *= size
        return ", ".join(map(str, extents))

    def peels(kind, digits, left, taken):
        """(text, digits used, is column) for every primitive that may stand innermost."""
        if left and digits[left - 1][0] is None:
            ones = ", ".join("1" * rank)
            yield f"replicated({ones}, num_workers={digits[left - 1][2]})", 1, 0
            return
        for used in range(1, left + 1):
            run = digits[left - used : left]
            if any(dim is None for dim, _, _ in run):
                return
            dims = [dim for dim, _, _ in run]
            fits = all(
                sorted((d for x, d, _ in run if x == dim), reverse=True) == [d for x, d, _ in run if x == dim]
                and sorted(d for x, d, _ in run if x == dim) == list(range(taken[dim], taken[dim] + dims.count(dim)))
                for dim in set(dims)
            )
            if not fits:
                continue
            if dims == sorted(dims):
                yield f"{kind}({sizes(run)})", used, 0
            elif dims == sorted(dims, reverse=True):
                yield f"column_{kind}({sizes(run)})", used, 1

    @lru_cache(maxsize=None)
    def best(ns, nl):
        """(primitives, columns, chain) for the first ns and nl digits."""
        if not ns and not nl:
            return 0, 0, ()
        taken = [0] * rank
        for dim, _, _ in spatial[ns:] + local[nl:]:
            if dim is not None:
                taken[dim] += 1
        found = None
        for is_local, digits, left in ((1, local, nl), (0, spatial, ns)):  # ties: local innermost
            for text, used, column in peels("local" if is_local else "spatial", digits, left, taken):
                rest = best(ns - (0 if is_local else used), nl - (used if is_local else 0))
                if rest and (found is None or (rest[0] + 1, rest[1] + column) < found[:2]):
                    found = rest[0] + 1, rest[1] + column, rest[2] + (text,)
        return found

    found = best(len(spatial), len(local))
    if found is None:
        return (
            f"RegisterLayout(shape={list(layout.shape)}, mode_shape={layout.mode_shape}, "
            f"spatial_modes={layout.spatial_modes}, local_modes={layout.local_modes})"
        )
    return tidy(found[2])


def tidy(chain):
    """A replica is not a method that composes: where it is not first, write a product."""
    text = chain[0]
    for part in chain[1:]:
        text += (" * " if part.startswith("replicated") or " * " in text else ".") + part
    return text


def expression_layout(text, shape):
    """Layout of an expression as `expression` writes it, for the check: (thread, local) -> index by composing."""
    parts = re.findall(r"(column_)?(local|spatial|replicated)\(([^)]*)\)", text)
    factors = []
    for column, kind, arguments in parts:
        numbers = [int(x) for x in re.findall(r"\d+", arguments)]
        extents, workers = (numbers[:-1], numbers[-1]) if kind == "replicated" else (numbers, 1)
        factors.append((kind, extents, workers, bool(column)))

    def at(thread, local):
        index, scale = [0] * len(shape), [1] * len(shape)
        for kind, extents, workers, column in reversed(factors):
            size = 1
            for extent in extents:
                size *= extent
            if kind == "replicated":
                thread //= workers
                continue
            number = (local if kind == "local" else thread) % size
            if kind == "local":
                local //= size
            else:
                thread //= size
            order = range(len(extents)) if column else reversed(range(len(extents)))
            for d in order:
                index[d] += number % extents[d] * scale[d]
                number //= extents[d]
            for d, extent in enumerate(extents):
                scale[d] *= extent
        return tuple(index)

    return at


def finish(entry):
    """Layout and expression of an entry, both checked."""
    key = entry.shape, entry.count, entry.threads, entry.block, entry.row, entry.col
    if key not in FINISHED:
        FINISHED[key] = finish_new(entry)
    return FINISHED[key]


FINISHED = {}  # entries that differ in name alone are derived once


def finish_new(entry):
    layout = derive(entry)
    check(entry, layout)
    text = expression(layout)
    if not text.startswith("RegisterLayout"):
        at = expression_layout(text, entry.shape)
        for lane in range(entry.threads):
            for i in range(entry.count):
                if at(lane, i) != entry.at(lane, i):
                    raise NoLayout(f"{entry.name}: expression {text} differs at lane {lane} element {i}")
    return layout, text


def finish_family(entry):
    """The same for every N: layout and expression with 0 and N/step where n or n / n_step stands, checked for all."""
    numbers = range(entry.n_step, entry.n_max + 1, entry.n_step)
    each = [finish(entry.with_n(n)) for n in numbers]
    layout, text = each[-1]
    if "n" not in entry.shape:
        return layout, text
    last = entry.n_max // entry.n_step
    if layout.mode_shape.count(last) != 1 or len(re.findall(rf"\b{last}\b", text)) != 1:
        raise NoLayout(f"{entry.name}: where is n / {entry.n_step}?")
    pattern = replace(
        layout,
        shape=tuple(0 if x == "n" else x for x in entry.shape),
        mode_shape=[0 if size == last else size for size in layout.mode_shape],
    )
    for n, (single, _) in zip(numbers, each):
        filled = replace(pattern, shape=single.shape, mode_shape=[x or n // entry.n_step for x in pattern.mode_shape])
        if n > entry.n_step and filled != single:  # for n_step a mode of 1 goes away
            raise NoLayout(f"{entry.name}: n = {n} has other digits than n = {entry.n_max}")
    return pattern, re.sub(rf"\b{last}\b", f"N/{entry.n_step}", text)
