# SPDX-License-Identifier: Apache-2.0
"""What register layouts and their operations mean, element by element, in Python.

A layout is a Relation: for every index of a shape the set of threads that hold the element and its local id. Modes
occur in two places only: where four lists are read, and in `has_modes`, which builds lists from a table and reads them
back. Nothing is shared with the library or with register_oracle.c.

    evaluate(["compose", ["local", [3, 4], None], ["spatial", [2, 3], None]])

The tree is that of tests/vectors/tilus_seed_examples.json. A refusal is `Refused`, with the reasons that may be given.
"""

import itertools
import math

FNV_BASIS, FNV_PRIME, WORD = 0xCBF29CE484222325, 0x100000001B3, 0xFFFFFFFF


class Refused(Exception):
    def __init__(self, *reasons):
        super().__init__(*reasons)
        self.reasons = set(reasons)


def refuse(reasons):
    if reasons:
        raise Refused(*reasons)


def indices(shape):
    return itertools.product(*(range(n) for n in shape))


def number(shape, index):
    """Row-major."""
    value = 0
    for extent, i in zip(shape, index):
        value = value * extent + i
    return value


def unnumber(shape, value):
    index = []
    for extent in reversed(shape):
        index.append(value % extent)
        value //= extent
    return tuple(reversed(index))


class Relation:
    """table[index] = (frozenset of threads, local id)."""

    def __init__(self, shape, threads, locals_, table):
        self.shape, self.threads, self.locals, self.table = tuple(shape), threads, locals_, table

    def __eq__(self, other):
        return self.key() == other.key()

    def key(self):
        return self.shape, self.threads, self.locals, self.table

    @property
    def copies(self):
        return len(next(iter(self.table.values()))[0])

    def fnv(self):
        value = FNV_BASIS
        for index in indices(self.shape):
            threads, local = self.table[index]
            for word in (len(threads), *sorted(threads), local):
                for byte in (word & WORD).to_bytes(4, "little"):
                    value = (value ^ byte) * FNV_PRIME % 2**64
        return value

    def renamed(self, shape, old_index):
        """Another shape; old_index(index) says where each element was."""
        return Relation(
            shape, self.threads, self.locals, {x: self.table[tuple(old_index(x))] for x in indices(shape)}
        )

    def renumbered(self, shape):
        return self.renamed(shape, lambda x: unnumber(self.shape, number(shape, x)))


# ---- four lists ----


def group(shape, mode_shape):
    """For each dim the numbers of its modes above 1; None if products do not fit."""
    modes = [m for m, n in enumerate(mode_shape) if n != 1]
    groups = []
    for extent in shape:
        mine = []
        while math.prod(mode_shape[m] for m in mine) < extent and modes:
            mine.append(modes.pop(0))
        if math.prod(mode_shape[m] for m in mine) != extent:
            return None
        groups.append(mine)
    return None if modes else groups


def faults(shape, mode_shape, spatial_modes, local_modes):
    found = set()
    if any(n < 1 for n in shape):
        found.add("SHAPE_NOT_POSITIVE")
    if any(n < 1 for n in mode_shape):
        found.add("MODE_NOT_POSITIVE")
    if not found and group(shape, mode_shape) is None:
        found.add("MODE_DOES_NOT_FIT_SHAPE")
    count = len(mode_shape)
    if any(m >= count for m in spatial_modes):
        found.add("SPATIAL_MODE_OUT_OF_RANGE")
    if any(not 0 <= m < count for m in local_modes):
        found.add("LOCAL_MODE_OUT_OF_RANGE")
    placed = [m for m in (*spatial_modes, *local_modes) if 0 <= m < count]
    if len(set(placed)) < len(placed):
        found.add("MODE_USED_TWICE")
    if not found and {m for m in range(count) if mode_shape[m] > 1} - set(placed):
        found.add("MODE_NOT_PLACED")
    return found


def register_layout(shape, mode_shape, spatial_modes, local_modes):
    refuse(faults(shape, mode_shape, spatial_modes, local_modes))
    groups = group(shape, mode_shape)
    spatial_shape = [mode_shape[m] if m >= 0 else -m for m in spatial_modes]
    local_shape = [mode_shape[m] for m in local_modes]
    table = {}
    for index in indices(shape):
        digit = dict.fromkeys(range(len(mode_shape)), 0)
        for mine, i in zip(groups, index):
            digit.update(zip(mine, unnumber([mode_shape[m] for m in mine], i)))
        choices = [[digit[m]] if m >= 0 else range(-m) for m in spatial_modes]
        threads = frozenset(number(spatial_shape, c) for c in itertools.product(*choices))
        table[index] = threads, number(local_shape, [digit[m] for m in local_modes])
    return Relation(shape, math.prod(spatial_shape), math.prod(local_shape), table)


# ---- is it a register layout? ----


def prime_factors(n):
    factors, p = [], 2
    while n > 1:
        while n % p == 0:
            factors.append(p)
            n //= p
        p += 1
    return factors


def dim_modes(relation, dim):
    """Prime modes of one dim, outermost first, with their (thread step, local step), such that the elements
    along the dim are at the sums; or None."""
    first = min(relation.table[tuple(0 for _ in relation.shape)][0])
    along = []
    for i in range(relation.shape[dim]):
        threads, local = relation.table[tuple(i if d == dim else 0 for d in range(len(relation.shape)))]
        along.append((min(threads) - first, local))
    for factors in sorted(set(itertools.permutations(prime_factors(len(along))))):
        units = [math.prod(factors[k + 1 :]) for k in range(len(factors))]
        steps = [along[unit] for unit in units]
        if all(
            place == tuple(sum(d * s[k] for d, s in zip(unnumber(factors, i), steps)) for k in (0, 1))
            for i, place in enumerate(along)
        ):
            return list(zip(factors, steps))
    return None


def lists_of(relation):
    """Four lists that might be the relation, or None."""
    modes = []
    for dim in range(len(relation.shape)):
        found = dim_modes(relation, dim)
        if found is None:
            return None
        modes += found
    spatial = sorted((s[0], m) for m, (_, s) in enumerate(modes) if s[0])
    local = sorted((s[1], m) for m, (_, s) in enumerate(modes) if not s[0])
    spatial_modes, reach = [], 1
    for step, m in spatial:
        if step > reach:
            spatial_modes.insert(0, -(step // reach))
        spatial_modes.insert(0, m)
        reach = step * modes[m][0]
    if relation.threads > reach:
        spatial_modes.insert(0, -(relation.threads // reach))
    return list(relation.shape), [n for n, _ in modes], spatial_modes, [m for _, m in reversed(local)]


def has_modes(relation):
    lists = lists_of(relation)
    return lists is not None and not faults(*lists) and register_layout(*lists) == relation


# ---- operations ----


def positive(shape):
    refuse({"SHAPE_NOT_POSITIVE"} if any(n < 1 for n in shape) else ())


def ranked(shape, ranks, spatial):
    found = {"SHAPE_NOT_POSITIVE"} if any(n < 1 for n in shape) else set()
    ranks = list(range(len(shape))) if ranks is None else ranks
    if len(ranks) != len(shape):
        found.add("RANKS_LENGTH")
    if any(not 0 <= r < len(shape) for r in ranks):
        found.add("RANKS_OUT_OF_RANGE")
    if len(set(ranks)) < len(ranks):
        found.add("RANKS_DUPLICATE")
    refuse(found)
    order = sorted(range(len(shape)), key=lambda d: ranks[d])
    extents, n = [shape[d] for d in order], math.prod(shape)
    table = {}
    for x in indices(shape):
        place = number(extents, [x[d] for d in order])
        table[x] = (frozenset([place]), 0) if spatial else (frozenset([0]), place)
    return Relation(shape, n if spatial else 1, 1 if spatial else n, table)


def replicated(shape, workers):
    found = {"SHAPE_NOT_POSITIVE"} if any(n < 1 for n in shape) else set()
    refuse(found | ({"WORKERS_NOT_POSITIVE"} if workers < 1 else set()))
    everyone = frozenset(range(workers))
    table = {x: (everyone, number(shape, x)) for x in indices(shape)}
    return Relation(shape, workers, math.prod(shape), table)


def auto_local_spatial(threads, shape):
    found = {"SHAPE_NOT_POSITIVE"} if any(n < 1 for n in shape) else set()
    refuse(found | ({"WORKERS_NOT_POSITIVE"} if threads < 1 else set()))
    n, left, s = math.prod(shape), threads, []
    if n % threads and threads % n:
        raise Refused("THREADS_DO_NOT_FIT")
    for extent in reversed(shape):
        s.insert(0, math.gcd(left, extent))
        left //= s[0]
    rest = [extent // t for extent, t in zip(shape, s)]
    table = {}
    for x in indices(shape):
        lo = number(s, [i % t for i, t in zip(x, s)])
        hi = number(rest, [i // t for i, t in zip(x, s)])
        table[x] = frozenset(k * math.prod(s) + lo for k in range(left)), hi
    return Relation(shape, threads, math.prod(rest), table)


def read_dims(dims, rank):
    """Dims from 0, and what is wrong with them."""
    found = set()
    if any(not -rank <= d < rank for d in dims):
        found.add("DIM_OUT_OF_RANGE")
    dims = [d % rank if -rank <= d < rank else None for d in dims]
    named = [d for d in dims if d is not None]
    if len(set(named)) < len(named):
        found.add("DIM_DUPLICATE")
    return dims, found


def squeeze(a, dims):
    dims, found = read_dims(dims, len(a.shape))
    if any(d is not None and a.shape[d] != 1 for d in dims):
        found.add("DIM_NOT_ONE")
    refuse(found)
    return a.renumbered([n for d, n in enumerate(a.shape) if d not in dims])


def unsqueeze(a, dims):
    rank = len(a.shape) + len(dims)
    dims, found = read_dims(dims, rank)
    refuse(found)
    old = iter(a.shape)
    return a.renumbered([1 if d in dims else next(old) for d in range(rank)])


def permute(a, dims):
    length = len(dims) != len(a.shape)
    dims, found = read_dims(dims, len(a.shape))
    refuse(found | ({"DIMS_LENGTH"} if length else set()))
    return a.renamed([a.shape[d] for d in dims], lambda y: (y[dims.index(d)] for d in range(len(dims))))


def reshape(a, shape):
    positive(shape)
    if math.prod(shape) != math.prod(a.shape):
        raise Refused("RESHAPE_SIZE_MISMATCH")
    made = a.renumbered(shape)
    if not has_modes(made):
        raise Refused("RESHAPE_NOT_REPRESENTABLE")
    return made


def flatten(a, first, last):
    rank = len(a.shape)
    if rank == 0 and first == 0 and last in (0, -1):
        return a.renumbered([1])
    if not -rank <= first < rank or not -rank <= last < rank or first % rank > last % rank:
        raise Refused("DIM_OUT_OF_RANGE")
    first, last = first % rank, last % rank
    return a.renumbered(
        [*a.shape[:first], math.prod(a.shape[first : last + 1]), *a.shape[last + 1 :]]
    )


def unite(a, dims):
    """Elements that agree outside dims become one, kept with extent 1."""
    shape = [1 if d in dims else n for d, n in enumerate(a.shape)]
    threads, registers = {}, {}
    for x, (at, local) in a.table.items():
        y = tuple(0 if d in dims else i for d, i in enumerate(x))
        threads[y] = threads.get(y, frozenset()) | at
        registers[y] = registers.get(y, frozenset()) | {local}
    order = sorted(set(registers.values()), key=min)  # registers that hold the same are one
    table = {y: (threads[y], order.index(registers[y])) for y in threads}
    return Relation(shape, a.threads, len(order), table)


def reduce(a, dims, keepdims=False):
    dims, found = read_dims(dims, len(a.shape))
    refuse(found)
    made = unite(a, dims)
    return made if keepdims else made.renumbered([n for d, n in enumerate(a.shape) if d not in dims])


def reduce_to(a, shape):
    lead = len(a.shape) - len(shape)
    if any(n < 1 for n in shape):
        raise Refused("SHAPE_NOT_POSITIVE", "NOT_BROADCASTABLE")
    if lead < 0 or any(n not in (1, m) for n, m in zip(shape, a.shape[lead:])):
        raise Refused("NOT_BROADCASTABLE")
    ones = [lead + k for k, n in enumerate(shape) if n == 1]
    return unite(a, [*range(lead), *ones]).renumbered(shape)


def padded(shape, rank):
    """With leading ones; None for a shape of larger rank."""
    shape = list(shape)
    return [1] * (rank - len(shape)) + shape if len(shape) <= rank else None


def compose(outer, inner):
    rank = max(len(outer.shape), len(inner.shape))
    outer, inner = (r.renumbered(padded(r.shape, rank)) for r in (outer, inner))
    shape = [a * b for a, b in zip(outer.shape, inner.shape)]
    table = {}
    for x in indices(shape):
        hi_threads, hi_local = outer.table[tuple(i // n for i, n in zip(x, inner.shape))]
        lo_threads, lo_local = inner.table[tuple(i % n for i, n in zip(x, inner.shape))]
        threads = frozenset(a * inner.threads + b for a in hi_threads for b in lo_threads)
        table[x] = threads, hi_local * inner.locals + lo_local
    return Relation(shape, outer.threads * inner.threads, outer.locals * inner.locals, table)


def concat(a, b):
    ones = [1] * len(b.shape)
    return compose(a.renumbered([*a.shape, *ones]), b)


def repeat_to(a, shape):
    if any(n < 1 for n in shape):
        raise Refused("SHAPE_NOT_POSITIVE", "NOT_REPEATABLE")
    if len(a.shape) > len(shape):
        raise Refused("NOT_REPEATABLE")
    tile = padded(a.shape, len(shape))
    if any(n % t for n, t in zip(shape, tile)):
        raise Refused("NOT_REPEATABLE")
    return compose(ranked([n // t for n, t in zip(shape, tile)], None, False), a)


def quotient(whole, part, left):
    """The q with q * part = whole, or part * q = whole; or None."""
    shape = padded(part.shape, len(whole.shape))
    if shape is None or any(n % m for n, m in zip(whole.shape, shape)):
        return None
    if whole.threads % part.threads or whole.locals % part.locals:
        return None
    q_shape = [n // m for n, m in zip(whole.shape, shape)]
    threads, locals_ = whole.threads // part.threads, whole.locals // part.locals
    table = {}
    for y in indices(q_shape):
        at, local = whole.table[y if left else tuple(i * m for i, m in zip(y, shape))]
        if left:
            table[y] = frozenset(t % threads for t in at), local % locals_
        else:
            table[y] = frozenset(t // part.threads for t in at), local // part.locals
    q = Relation(q_shape, threads, locals_, table)
    part = part.renumbered(shape)
    return q if (compose(part, q) if left else compose(q, part)) == whole and has_modes(q) else None


def divide(a, b):
    q = quotient(a, b, False)
    refuse({"NOT_DIVISIBLE"} if q is None else ())
    return q


def left_divide(a, b):
    q = quotient(a, b, True)
    refuse({"NOT_LEFT_DIVISIBLE"} if q is None else ())
    return q


# ---- trees ----

OPERATIONS = {
    "spatial": lambda shape, ranks=None: ranked(shape, ranks, True),
    "local": lambda shape, ranks=None: ranked(shape, ranks, False),
    "column_spatial": lambda shape: ranked(shape, list(range(len(shape)))[::-1], True),
    "column_local": lambda shape: ranked(shape, list(range(len(shape)))[::-1], False),
    "replicated": replicated,
    "auto_local_spatial": auto_local_spatial,
    "register_layout": register_layout,
    "squeeze": squeeze,
    "unsqueeze": unsqueeze,
    "permute": permute,
    "reshape": reshape,
    "flatten": flatten,
    "reduce": reduce,
    "reduce_to": reduce_to,
    "repeat_to": repeat_to,
    "compose": compose,
    "concat": concat,
    "divide": divide,
    "left_divide": left_divide,
}


def is_tree(value):
    return isinstance(value, list) and value and isinstance(value[0], str)


def evaluate(tree):
    name, *arguments = tree
    return OPERATIONS[name](*(evaluate(a) if is_tree(a) else a for a in arguments))


# ---- random trees ----

MOST_ELEMENTS, MOST_PLACES = 256, 2048


def random_shape(rng, most=24, longest=3):
    shape = []
    for _ in range(rng.randint(0, longest)):
        shape.append(rng.choice([n for n in (1, 2, 2, 3, 4, 5, 6, 8) if n * math.prod(shape) <= most]))
    return shape


def factored(rng, n, rank):
    """A random shape of n elements."""
    shape = [1] * rank
    for p in prime_factors(n):
        shape[rng.randrange(rank)] *= p
    return shape


def random_lists(rng):
    shape = random_shape(rng)
    mode_shape = []
    for n in shape:
        factors = prime_factors(n) + [1] * (rng.random() < 0.2)
        rng.shuffle(factors)
        mode_shape += factors
    modes = list(range(len(mode_shape)))
    rng.shuffle(modes)
    cut = rng.randint(0, len(modes))
    spatial_modes = modes[:cut]
    for _ in range(rng.choice([0, 0, 0, 1, 1, 2])):
        spatial_modes.insert(rng.randint(0, len(spatial_modes)), -rng.choice([1, 2, 2, 3, 4]))
    return [shape, mode_shape, spatial_modes, modes[cut:]]


def random_base(rng):
    name = rng.choice(
        ["spatial", "local", "column_spatial", "column_local", "replicated", "auto_local_spatial"]
        + ["register_layout"] * 4
    )
    shape = random_shape(rng)
    n = math.prod(shape)
    if name in ("spatial", "local"):
        ranks = rng.sample(range(len(shape)), len(shape)) if rng.random() < 0.4 else None
        return [name, shape, ranks]
    if name == "replicated":
        return [name, shape, rng.randint(1, 4)]
    if name == "auto_local_spatial":
        threads = rng.choice([t for t in range(1, n + 1) if n % t == 0] + [2 * n, 3 * n])
        return [name, threads, shape]
    return [name, *random_lists(rng)] if name == "register_layout" else [name, shape]


def random_arguments(rng, name, a):
    """Arguments that fit, for an operation on one layout."""
    rank, n = len(a.shape), math.prod(a.shape)
    signed = [d - rank * rng.randint(0, 1) for d in range(rank)]
    if name == "squeeze":
        return [[d for d in signed if a.shape[d] == 1 and rng.random() < 0.7]]
    if name == "unsqueeze":
        more = rng.randint(0, 2)
        return [[d - (rank + more) * rng.randint(0, 1) for d in rng.sample(range(rank + more), more)]]
    if name == "permute":
        return [rng.sample(signed, rank)]
    if name == "reshape":
        return [factored(rng, n, rng.randint(1, 4))]
    if name == "flatten":
        if rank == 0:
            return [0, -1]
        first, last = sorted(rng.choices(range(rank), k=2))
        return [first - rank * rng.randint(0, 1), last - rank * rng.randint(0, 1)]
    if name == "reduce":
        return [rng.sample(signed, rng.randint(0, rank)), rng.random() < 0.5]
    if name == "reduce_to":
        lead = rng.randint(0, rank)
        return [[rng.choice([1, m]) for m in a.shape[lead:]]]
    assert name == "repeat_to"
    lead = [rng.choice([1, 2])] * rng.randint(0, 1)
    return [[*lead, *(m * rng.choice([1, 1, 2, 3]) for m in a.shape)]]


def spoiled(rng, arguments):
    """One integer somewhere in the arguments changed."""
    spots = [(value, i) for value in (*arguments, arguments) if type(value) is list
             for i, item in enumerate(value) if type(item) is int]  # fmt: skip
    if spots:
        where, i = rng.choice(spots)
        where[i] += rng.choice([-9, -2, -1, 1, 2, 9])
    return arguments


UNARY = ["squeeze", "unsqueeze", "permute", "reshape", "flatten", "reduce", "reduce_to", "repeat_to"]


def random_step(rng, depth):
    """A tree whose operands succeed; it may itself be refused."""
    if depth == 0 or rng.random() < 0.1:
        tree = random_base(rng)
        if rng.random() < 0.1:
            tree = [tree[0], *spoiled(rng, tree[1:])]
        return tree
    if rng.random() < 0.5:
        name = rng.choice(UNARY)
        tree, a = random_tree(rng, depth - 1)
        arguments = random_arguments(rng, name, a)
        return [name, tree, *(spoiled(rng, arguments) if rng.random() < 0.15 else arguments)]
    (a, _), (b, _) = random_tree(rng, depth - 1), random_tree(rng, rng.randint(0, depth - 1))
    kind = rng.random()
    if kind < 0.5 or depth < 2:
        return [rng.choice(["compose", "compose", "concat"]), a, b]
    if kind < 0.6:
        return [rng.choice(["divide", "left_divide"]), a, b]
    whole = ["compose", a, b]
    return ["divide", whole, b] if kind < 0.8 else ["left_divide", whole, a]


def random_tree(rng, depth):
    """A tree that succeeds and is not too large, with its relation."""
    while True:
        tree = random_step(rng, depth)
        try:
            made = evaluate_small(tree)
        except Refused:
            continue
        if made is not None:
            return tree, made


def evaluate_small(tree):
    """As evaluate; None if the result, or something on the way, is too large."""
    name, *arguments = tree
    below = [evaluate_small(a) if is_tree(a) else a for a in arguments]
    if any(b is None for a, b in zip(arguments, below) if is_tree(a)):
        return None
    sizes = [b for b in below if isinstance(b, Relation)]
    if name in ("compose", "concat") and math.prod(math.prod(r.shape) * r.copies for r in sizes) > MOST_PLACES:
        return None
    shape = below[-1]
    if type(shape) is list and all(type(n) is int for n in shape) and math.prod(map(abs, shape)) > MOST_ELEMENTS:
        return None
    made = OPERATIONS[name](*below)
    fits = len(made.table) <= MOST_ELEMENTS and len(made.table) * made.copies <= MOST_PLACES
    return made if fits else None


def random_case(rng, depth):
    """A tree with its relation, or with the set of reasons for which its last operation is refused."""
    while True:
        tree = random_step(rng, depth)
        try:
            made = evaluate_small(tree)
        except Refused as refused:
            return tree, refused.reasons
        if made is not None:
            return tree, made
