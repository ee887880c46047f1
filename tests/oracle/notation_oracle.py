# SPDX-License-Identifier: Apache-2.0
"""What the texts of many notations mean, in plain Python, from their definitions; shares no code with src/.

    >>> places("cute", "((2,2),(2,3)):((2,12),(1,4))", (3, 5))[2, 3]
    frozenset({(17,)})

A place is a tuple: (place,) in memory, (thread, register) in registers. An element of several copies has several.
"""

import collections
import itertools
import math
import re

import register_oracle
from xla_oracle import Array

LETTERS = "abcdefghijkl"


def indices(shape):
    return itertools.product(*map(range, shape))


def in_memory(shape, place):
    """{index: {place(index)}}"""
    return {index: frozenset([(place(index),)]) for index in indices(shape)}


def held(shape, holders):
    """{index: places}, from pairs (place, index); indices outside of the shape are padding."""
    found = collections.defaultdict(set)
    for place, index in holders:
        if all(i < n for i, n in zip(index, shape)):
            found[index].add(place)
    return {index: frozenset(found[index]) for index in indices(shape)}


def numbers(text):
    return [int(word) for word in re.findall(r"-?\d+", text)]


def suffix_products(extents):
    return [math.prod(extents[k + 1 :]) for k in range(len(extents))]


# ---- XLA, JAX


def xla(text, shape):
    return in_memory(shape, Array.from_text(text).place)


def jax(text, shape):
    order = numbers(re.search(r"major_to_minor=\(([^)]*)\)", text)[1])
    found = re.search(r"tiling=(\(.*\)|None)", text)
    tiles = [tuple(numbers(tile)) for tile in re.findall(r"\(([\d, ]+)\)", found[1])] if found else []
    return in_memory(shape, Array("f32", shape, order[::-1], tiles).place)


# ---- CuTe


def tree(text):
    """The tuples of a text, 1-tuples included."""
    return eval(re.sub(r"\(([^(),]+|\([^()]*\))\)", r"(\1,)", text.replace("_", "")), {"__builtins__": {}})  # noqa: S307


def leaves(nest):
    return [leaf for part in nest for leaf in leaves(part)] if isinstance(nest, tuple) else [nest]


class Cute:
    """shape:stride, perhaps with a swizzle; the first leaf of a mode is fastest."""

    def __init__(self, text):
        swizzle = re.fullmatch(r"Sw<(\d+),(\d+),(-?\d+)> o (-?\d+) o (.*)", text)
        self.swizzle, self.offset = (tuple(map(int, swizzle.groups()[:3])), int(swizzle[4])) if swizzle else (None, 0)
        extents, strides = map(tree, (swizzle[5] if swizzle else text).split(":"))
        as_modes = lambda nest: nest if isinstance(nest, tuple) else (nest,)  # noqa: E731
        self.modes = [(leaves(e), leaves(s)) for e, s in zip(as_modes(extents), as_modes(strides))]

    def extent(self, mode):
        return math.prod(self.modes[mode][0])

    def __call__(self, index):
        place = self.offset
        for i, (extents, strides) in zip(index, self.modes):
            for e, s in zip(extents[:-1], strides[:-1]):
                place += i % e * s
                i //= e
            place += i * strides[-1]
        if self.swizzle and self.swizzle[0]:
            bits, base, shift = self.swizzle
            mask = (1 << bits) - 1
            if shift >= 0:
                place ^= (place >> (base + shift) & mask) << base
            else:
                place ^= (place >> base & mask) << (base - shift)
        return place


def cute(text, shape, as_=None):
    layout = Cute(text)
    if not as_:
        return in_memory(shape, layout)
    tile = [int(n) for n in as_.removeprefix("tv:").split("x")]

    def element(flat):
        index = []
        for n in tile:
            index.append(flat % n)
            flat //= n
        return tuple(index)

    holders = (((t, v), element(layout((t, v)))) for t in range(layout.extent(0)) for v in range(layout.extent(1)))
    return held(shape, holders)


# ---- blocks of memory: oneDNN, TVM


def blocked(shape, outer, blocks):
    """Dims `outer`, outermost first, of blocks (dim, size), outermost first."""
    whole = [math.prod(size for dim, size in blocks if dim == d) for d in range(len(shape))]
    counts = [-(-shape[d] // whole[d]) for d in range(len(shape))]
    inner = math.prod(whole)
    strides = dict(zip(outer, suffix_products([counts[d] for d in outer])))

    def place(index):
        rest, at, stride = list(index), 0, 1
        for dim, size in reversed(blocks):
            at += rest[dim] % size * stride
            rest[dim] //= size
            stride *= size
        return at + sum(rest[d] * strides[d] * inner for d in range(len(shape)))

    return in_memory(shape, place)


def onednn(text, shape):
    outer = [LETTERS.index(letter.lower()) for letter in re.match(r"[a-lA-L]+", text)[0]]
    return blocked(shape, outer, [(LETTERS.index(x), int(n)) for n, x in re.findall(r"(\d+)([a-l])", text)])


def tvm(text, shape):
    """Axes in the order of the text: a block, x % n, and what the block leaves, its capital."""
    axes = re.findall(r"(\d*)([A-Za-z])", text)
    names = [x for n, x in axes if not n]
    block = {names.index(x.upper()): int(n) for n, x in axes if n}
    assert len(block) + len(names) == len(axes), "TVM refuses two blocks of a dim"

    def place(index):
        at = 0
        for n, x in axes:
            dim = names.index(x.upper())
            size = block.get(dim, 1)
            at = at * int(n) + index[dim] % size if n else at * -(-shape[dim] // size) + index[dim] // size
        return at

    return in_memory(shape, place)


def verbose(text, shape):
    tag, strides = re.fullmatch(r"src_\w+:p?:blocked:(\w+):([\dx]*):f0", text).groups()
    if not strides:
        return onednn(tag, shape)
    blocks = [(LETTERS.index(x), int(n)) for n, x in re.findall(r"(\d+)([a-l])", tag)]
    inner = blocked([math.prod(n for d, n in blocks if d == dim) for dim in range(len(shape))], range(len(shape)), blocks)
    whole = [math.prod(n for d, n in blocks if d == dim) for dim in range(len(shape))]

    def place(index):
        ((at,),) = inner[tuple(x % n for x, n in zip(index, whole))]
        return at + sum(x // n * s for x, n, s in zip(index, whole, map(int, strides.split("x"))))

    return in_memory(shape, place)


def iree(text, shape):
    found = re.search(r"padding<\[([^\]]*)\]>", text)
    if found:
        padded = [n + more for n, more in zip(shape, numbers(found[1]))]
        return in_memory(shape, lambda index: sum(x * s for x, s in zip(index, suffix_products(padded))))
    pos, tiles, perm = (numbers(re.search(name + r" = \[([^\]]*)\]", text)[1]) for name in ("innerDimsPos", "innerTileSizes", "outerDimsPerm"))
    return blocked(shape, perm, list(zip(pos, tiles)))


# ---- Mosaic on TPUs: tiles in tiles, or vector registers


def mosaic(text, shape):
    found = re.fullmatch(r'#tpu\.vpad<"(\d+),\{(\d+),(\d+)\},\((\d+),128\)(.*)">', text)
    if found:
        bits, down, across, rows = map(int, found.groups()[:4])
        packing = 32 // bits
        tiles = 8 * packing // rows

        def place(index):
            index = list(index)
            x = index.pop() if ",-1" not in found[5] else 0
            y = index.pop() if ",-2" not in found[5] else 0
            wide = -(-(across + (shape[-1] if ",-1" not in found[5] else 1)) // (128 * tiles))
            high = -(-(down + (1 if ",-2" in found[5] else shape[-1 if ",-1" in found[5] else -2])) // rows)
            y, x, register = y + down, x + across, 0
            for n, at in zip(shape, index):
                register = register * n + at
            register = (register * high + y // rows) * wide + x // (128 * tiles)
            in_tile = (y % rows // packing * 128 + x % 128) * packing + y % packing
            return (register * tiles + x // 128 % tiles) * rows * 128 + in_tile

        return in_memory(shape, place)
    tiles = [numbers(tile) for tile in re.findall(r"\(([^)]*)\)", text)]
    strides = numbers(text.split("[")[1])

    def place_in_tiles(index):
        rest, at, first = list(index), 0, tiles[0]
        head = len(shape) - len(first)
        outer = rest[:head] + [x // n for x, n in zip(rest[head:], first)]
        rest, sizes = [x % n for x, n in zip(rest[head:], first)], first
        for tile in tiles[1:] + [[1] * len(tiles[-1])]:
            tile = [1] * 0 + tile
            kept = len(sizes) - len(tile)
            for k, (x, n) in enumerate(zip(rest, sizes)):
                inner = tile[k - kept] if k >= kept else 1
                at = at * (n // inner) + x // inner
            rest, sizes = [x % n for x, n in zip(rest[kept:], tile)], tile
        return sum(x * s for x, s in zip(outer, strides)) * math.prod(first) + at

    return in_memory(shape, place_in_tiles)


# ---- lanes: Mosaic GPU, XeGPU


def mosaicgpu(text, shape):
    """Unfold the array of element numbers tile by tile; the tiled dims are warps, lanes, the vector, and registers."""
    tiles = [numbers(tile) for tile in re.findall(r"\(([\d, ]+)\)", text.split("warp_dims")[0])]
    dims = lambda name: re.findall(r"(Replicated\(times=\d+\)|-\d+)", re.search(name + r"=\((.*?)\)(?:, \w+_dim|$)", text)[1])  # noqa: E731
    sizes = list(shape)
    digits = [(d, 1) for d in range(len(shape))]  # of a tiled dim: the dim, and its step
    for tile in tiles:
        cut = list(zip(sizes[-len(tile) :], digits[-len(tile) :], tile))
        assert all(n % t == 0 for n, _, t in cut)
        sizes = sizes[: -len(tile)] + [n // t for n, _, t in cut] + list(tile)
        digits = digits[: -len(tile)] + [(d, step * t) for _, (d, step), t in cut] + [digit for _, digit, _ in cut]
    vector = int(re.search(r"vector_dim=(-\d+)", text)[1])
    threads = dims("warp_dims") + dims("lane_dims")
    named = [int(x) % len(sizes) for x in threads if x[0] == "-"] + [vector % len(sizes)]
    order = [k for k in range(len(sizes)) if k not in named] + [vector % len(sizes)]
    holders = []
    for index in indices(shape):
        of = [index[d] // step % n for (d, step), n in zip(digits, sizes)]
        local = 0
        for k in order:
            local = local * sizes[k] + of[k]
        for copies in itertools.product(*[range(int(re.search(r"\d+", x)[0])) if x[0] == "R" else [None] for x in threads]):
            thread = 0
            for x, copy in zip(threads, copies):
                thread = thread * int(re.search(r"\d+", x)[0]) + copy if x[0] == "R" else thread * sizes[int(x)] + of[int(x)]
            holders.append(((thread, local), index))
    return held(shape, holders)


def xegpu(text, shape):
    lists = {name: numbers(found) for name, found in re.findall(r"(\w+) = \[([^\]]*)\]", text)}
    lanes, data = lists["lane_layout"], lists["lane_data"]
    order = lists.get("order", list(range(len(shape)))[::-1])  # the fastest first
    assert all(n % (a * b) == 0 for n, a, b in zip(shape, lanes, data))

    def holder(index):
        thread = local = 0
        for d in reversed(order):
            thread = thread * lanes[d] + index[d] // data[d] % lanes[d]
        for x, n, a, b in zip(index, shape, lanes, data):
            local = local * (n // a) + x // (a * b) * b + x % b
        return thread, local

    return {index: frozenset([holder(index)]) for index in indices(shape)}


# ---- einops


def einops(text, shape):
    pattern, *lengths = text.split("  ")
    left, right = pattern.split("->")
    size = {name: int(n) for name, n in re.findall(r"(\w+)=(\d+)", " ".join(lengths))}
    groups = [group.strip("()").split() for group in re.findall(r"\([^)]*\)|\w+", left)]
    for group, n in zip(groups, shape):
        known = math.prod(size.get(name, 1) for name in group)
        assert n % known == 0
        for name in group:
            size.setdefault(name, n // known)

    def spots(index):
        at = {}
        for group, x in zip(groups, index):
            for name in reversed(group):
                x, at[name] = divmod(x, size[name])
        copies = [name for name in right.split() if name not in at]
        for values in itertools.product(*[range(size[name]) for name in copies]):
            all_of, place = {**at, **dict(zip(copies, values))}, 0
            for name in right.split():
                place = place * size[name] + all_of[name]
            yield (place,)

    return {index: frozenset(spots(index)) for index in indices(shape)}


# ---- strides: PyTorch, MLIR


def strided(shape, strides, offset):
    return in_memory(shape, lambda index: offset + sum(i * s for i, s in zip(index, strides)))


def torch(text, shape):
    found = re.search(r"size=\(([^)]*)\), stride=\(([^)]*)\)(?:, storage_offset=(\d+))?", text)
    if found:
        return strided(shape, numbers(found[2]), int(found[3] or 0))
    found = re.search(r"torch\.Size\(\[.*?\]\) (?:stride )?\(([^)]*)\)(.*)", text)
    return strided(shape, numbers(found[1]), (numbers(found[2]) or [0])[0])


def memref(text, shape):
    found = re.search(r"strided<\[(.*?)\](?:, offset: (\d+))?>", text)
    if found:
        return strided(shape, numbers(found[1]), int(found[2] or 0))
    return strided(shape, suffix_products(shape), 0)


def pack(text, shape):
    """A linalg.pack line: tiles of dims, the outer dims permuted."""

    def listed(name):
        found = re.search(name + r" = \[([\d, ]*)\]", text)
        return numbers(found[1]) if found else None

    dims, tiles = listed("inner_dims_pos"), listed("inner_tiles")
    order = listed("outer_dims_perm") or list(range(len(shape)))
    size = dict(zip(dims, tiles))
    counts = [-(-shape[d] // size.get(d, 1)) for d in order]
    strides = suffix_products(counts + tiles)

    def place(index):
        at = [index[d] // size.get(d, 1) for d in order] + [index[d] % size[d] for d in dims]
        return sum(i * s for i, s in zip(at, strides))

    return in_memory(shape, place)


# ---- expressions


def row_major(shape, results):
    """The place of {index: results} in a row-major array that just holds them."""
    extents = [max((row[k] for row in results.values()), default=0) + 1 for k in range(len(next(iter(results.values()), ())))]
    strides = suffix_products(extents)
    return in_memory(shape, lambda index: sum(i * s for i, s in zip(results[index], strides)))


def affine_map(text, shape):
    names, body = re.search(r"\(([^)]*)\) -> \((.*)\)>?$", text).groups()
    code = re.sub(r"\bfloordiv\b", "//", re.sub(r"\bmod\b", "%", body))
    function = eval(f"lambda {names}: ({code},)")  # noqa: S307
    return row_major(shape, {index: function(*index) for index in indices(shape)})


def index_map(text, shape):
    function = eval(text)  # noqa: S307
    as_row = lambda value: tuple(value) if isinstance(value, (tuple, list)) else (value,)  # noqa: E731
    return row_major(shape, {index: as_row(function(*index)) for index in indices(shape)})


def map_text(text, shape):
    head, tail = text.split("->", 1)
    inside = re.match(r"map\((.*)\)", head)[1].split(";")
    dims = [part.split(":")[0].strip() for part in inside[0].split(",") if part.strip()]
    copies, sums, axes, flips, room = {}, [], [], [], {}
    for part in inside[1:]:
        if part.strip().startswith("copies "):
            copies = {name.strip(): int(n) for name, n in (one.split(":") for one in part.strip()[7:].split(","))}
        else:
            sums.append([side.strip() for side in part.split("=")])
    for part in tail.split(";"):
        if "^=" in part:
            flips.append([side.strip() for side in part.split("^=")])
        else:
            axis, expression = part.split(":", 1)
            axes.append((axis.split("[")[0].strip(), expression.strip()))
            room[axes[-1][0]] = numbers(axis.split("[")[1])[0]
    code = lambda expression: compile(expression.replace("/", "//"), "map", "eval")  # noqa: E731
    axes = [(name, code(expression)) for name, expression in axes]
    sums = [(name, code(expression)) for name, expression in sums]
    flips = [(name, code(f"({expression})")) for name, expression in flips]
    result = {}
    for index in indices(shape):
        found = set()
        for values in itertools.product(*map(range, copies.values())):
            names = dict(zip(dims, index)) | dict(zip(copies, values))
            for name, expression in sums:
                names[name] = eval(expression, {}, names)  # noqa: S307
            place = {name: eval(expression, {}, names) for name, expression in axes}  # noqa: S307
            flipped = dict(place)
            for name, expression in flips:
                flipped[name] ^= eval(expression, {}, place)  # noqa: S307
            if "lane" in flipped:
                found.add((flipped["lane"] + room["lane"] * flipped["warp"], flipped["register"]))
            else:
                found.add(tuple(flipped[name] for name in sorted(flipped, reverse=True)))  # thread, local
        result[index] = frozenset(found)
    return result


# ---- registers


class Chain:
    """A register expression, local(2, 1).spatial(8, 4): a link composes with what is before it."""

    def __init__(self, relation):
        self.relation = relation

    def __mul__(self, inner):
        return Chain(register_oracle.compose(self.relation, inner.relation))

    def __getattr__(self, name):
        return lambda *dims, **more: self * link(name)(*dims, **more)


def link(name):
    def made(*dims, ranks=None, num_workers=1):
        if name in ("spatial", "local"):
            return Chain(register_oracle.evaluate([name, list(dims), ranks]))
        more = [num_workers] if name == "replicated" else []
        return Chain(register_oracle.evaluate([name, list(dims), *more]))

    return made


def register(text, shape):
    names = {name: link(name) for name in ("spatial", "local", "column_spatial", "column_local", "replicated")}
    names["reduce"] = lambda chain, dims: Chain(register_oracle.reduce(chain.relation, dims))
    names["RegisterLayout"] = lambda **lists: Chain(register_oracle.register_layout(**lists))
    relation = eval(text, {"__builtins__": {}}, names).relation  # noqa: S307
    return {index: frozenset((t, relation.table[index][1]) for t in relation.table[index][0]) for index in indices(shape)}


def bases(text):
    return {name: [numbers(row) for row in re.findall(r"\[([^\[\]]+)\]", found)]
            for name, found in re.findall(r"(\w+) = \[((?:\[[^\]]*\](?:, )?)*)\]", text)}  # fmt: skip


def linear(text, shape):
    """#ttg.linear and #ttg.shared_linear: every input bit flips bits of the index."""
    found = bases(text)
    names = ["offset"] if "offset" in found else ["register", "lane", "warp"]
    if any(any(row) for row in found.get("block", [])):
        raise ValueError("several blocks")
    rows = [(name, k, row) for name in names for k, row in enumerate(found.get(name, []))]
    holders = []
    for bits in itertools.product((0, 1), repeat=len(rows)):
        at, index = dict.fromkeys(names, 0), [0] * len(shape)
        for bit, (name, k, row) in zip(bits, rows):
            if bit:
                at[name] |= 1 << k
                index = [i ^ j for i, j in zip(index, row)]
        lanes = 1 << len(found.get("lane", []))
        place = (at["offset"],) if "offset" in found else (at["lane"] + lanes * at["warp"], at["register"])
        holders.append((place, tuple(index)))
    return held(shape, holders)


READERS = {
    "xla": xla, "jax": jax, "cute": cute, "onednn": onednn, "tvm": tvm, "torch": torch, "mlir": memref, "pack": pack,
    "affine_map": affine_map, "index_map": index_map, "map": map_text, "register": register, "triton": linear,
    "verbose": verbose, "iree": iree, "mosaic": mosaic, "mosaicgpu": mosaicgpu, "xegpu": xegpu, "einops": einops,
}  # fmt: skip


def places(notation, text, shape, as_=None):
    """{index: places} of a text on an array of this shape, which may be a part of what the text describes."""
    return cute(text, shape, as_) if notation == "cute" else READERS[notation](text, shape)
