# SPDX-License-Identifier: Apache-2.0
"""What a tiled XLA layout means, in plain Python, for tests that drive the command.

The twin of xla_oracle.c: the same two formulations written a second time, so that the two
languages check each other. place() is the index formula; image() pads, reshapes and transposes a
list of element numbers; neither uses the other. Standard library only, and slow.

    >>> a = Array.from_text("f32[3,5]{1,0:T(2,2)}")
    >>> a.place((2, 3)), a.bounds(), a.elements, a.bytes
    (17, [2, 3, 2, 2], 24, 96)
    >>> a.image()[:12]
    [0, 1, 5, 6, 2, 3, 7, 8, 4, None, 9, None]
"""

import itertools
import math
import random
import re
import sys

COMBINE = "*"

# Type word -> bits of a value. A type takes whole bytes unless E says otherwise.
VALUE_BITS = {
    "pred": 1,
    "s1": 1, "s2": 2, "s4": 4, "s8": 8, "s16": 16, "s32": 32, "s64": 64,
    "u1": 1, "u2": 2, "u4": 4, "u8": 8, "u16": 16, "u32": 32, "u64": 64,
    "f16": 16, "bf16": 16, "f32": 32, "f64": 64, "c64": 64, "c128": 128,
    "f4e2m1fn": 4, "f6e3m2fn": 6, "f6e2m3fn": 6,
    "f8e5m2": 8, "f8e4m3": 8, "f8e4m3fn": 8, "f8e4m3b11fnuz": 8, "f8e3m4": 8,
    "f8e5m2fnuz": 8, "f8e4m3fnuz": 8, "f8e8m0fnu": 8,
}  # fmt: skip


def ceil_div(n, t):
    return -(-n // t)


def round_up(n, t):
    return ceil_div(n, t) * t


class Array:
    """One array and its layout.

    dims            logical extents
    minor_to_major  [0] is the logical dimension that varies fastest; default: the last one
    tiles           one tuple a level, entries >= 1 or COMBINE (never last)
    L               the element count is rounded up to a multiple of it; 1 = none
    E               bits of one element; 0 = by the type

    from_text also fills three fields that move no element: `splits`, {physical dimension: cuts}
    (SC; makes allocated_bytes smaller), `memory_space` (S), `metadata_bytes` (M).
    """

    def __init__(self, dtype, dims, minor_to_major=None, tiles=(), L=1, E=0):
        self.dtype = dtype
        self.dims = tuple(dims)
        self.rank = len(self.dims)
        if minor_to_major is None:
            minor_to_major = range(self.rank - 1, -1, -1)
        self.minor_to_major = tuple(minor_to_major)
        self.tiles = tuple(tuple(tile) for tile in tiles)
        self.L = L
        self.E = E
        self.splits = {}
        self.memory_space = 0
        self.metadata_bytes = 0
        self.dynamic = (False,) * self.rank  # which dims were written <=n
        self._check()

    def _check(self):
        if self.dtype not in VALUE_BITS:
            raise ValueError(f"unknown type {self.dtype}")
        if any(n < 0 for n in self.dims):
            raise ValueError("a dim is negative")
        if sorted(self.minor_to_major) != list(range(self.rank)):
            raise ValueError(f"minor_to_major {self.minor_to_major} is no order of {self.rank} dims")
        for tile in self.tiles:
            if not tile or tile[-1] == COMBINE or any(t != COMBINE and t < 1 for t in tile):
                raise ValueError(f"bad tile {tile}")
        if self.L < 1 or self.E < 0:
            raise ValueError(f"bad L({self.L}) or E({self.E})")

    def __repr__(self):
        return f"Array.from_text({self.text()!r})"

    # ---- sizes ----

    @property
    def type_bytes(self):
        return ceil_div(VALUE_BITS[self.dtype], 8)

    @property
    def bits(self):
        """Bits of one element in memory."""
        return self.E or 8 * self.type_bytes

    @property
    def count(self):
        """Logical elements."""
        return math.prod(self.dims)

    @property
    def elements(self):
        """Elements in memory with all padding, tail included."""
        return round_up(math.prod(self.bounds()), self.L)

    @property
    def bytes(self):
        """Bytes by the definition: every level pads, then L, rounded to a byte once."""
        return ceil_div(self.elements * self.bits, 8)

    @property
    def allocated_bytes(self):
        """What XLA allocates (its ArraySize): see oracle_allocated_bytes in xla_oracle.h."""
        if not self.tiles:
            return ceil_div(self.count * self.bits, 8)
        tile = self.tiles[0]
        share = []
        for physical, dim in enumerate(reversed(self.minor_to_major)):
            cuts = [0, *self.splits.get(physical, ()), self.dims[dim]]
            share.append(max(b - a for a, b in itertools.pairwise(cuts)))
        share = [1] * (len(tile) - len(share)) + share
        first_tiled = len(share) - len(tile)
        total = math.prod(share[:first_tiled])
        joined = 1
        for bound, t in zip(share[first_tiled:], tile, strict=True):
            joined *= bound
            if t != COMBINE:
                total *= round_up(joined, t)
                joined = 1
        return ceil_div(round_up(total, self.L) * self.bits, 8)

    # ---- the index formula ----

    def _levels(self, index):
        """(bounds, coordinates) before the first tile and after each."""
        order = self.minor_to_major[::-1]
        d = [self.dims[k] for k in order]
        e = [index[k] for k in order]
        yield d, e
        for tile in self.tiles:
            d, e, t = self._joined(d, e, tile)
            u = len(d) - len(t)
            counts = [ceil_div(n, s) for n, s in zip(d[u:], t, strict=True)]
            d = d[:u] + counts + t
            outer = [x // s for x, s in zip(e[u:], t, strict=True)]
            inner = [x % s for x, s in zip(e[u:], t, strict=True)]
            e = e[:u] + outer + inner
            yield d, e

    @staticmethod
    def _joined(d, e, tile):
        """Leading ones up to the rank of the tile, then * joined: (bounds, coordinates, sizes)."""
        ones = max(0, len(tile) - len(d))
        d, e = [1] * ones + d, [0] * ones + e
        u = len(d) - len(tile)
        sizes, new_d, new_e = [], d[:u], e[:u]
        pending_d, pending_e = 1, 0
        for n, x, t in zip(d[u:], e[u:], tile, strict=True):
            pending_d, pending_e = pending_d * n, pending_e * n + x
            if t != COMBINE:
                new_d.append(pending_d)
                new_e.append(pending_e)
                sizes.append(t)
                pending_d, pending_e = 1, 0
        return new_d, new_e, sizes

    def _level(self, index, level):
        level = len(self.tiles) if level is None else level
        return next(itertools.islice(self._levels(index), level, None))

    def bounds(self, level=None):
        """Bounds after that many tiles (0: the physical bounds), most major first."""
        return self._level((0,) * self.rank, level)[0]

    def joined_bounds(self, level):
        """Bounds that tile `level` (0 = first) divides: leading ones added, * joined."""
        d = self.bounds(level)
        return self._joined(d, [0] * len(d), self.tiles[level])[0]

    def coordinates(self, index, level=None):
        """Coordinates of an element within bounds(level)."""
        return self._level(index, level)[1]

    def place(self, index):
        """Offset in elements; IndexError for an index outside the dims."""
        index = tuple(index)
        if len(index) != self.rank or not all(
            0 <= x < n for x, n in zip(index, self.dims, strict=True)
        ):
            raise IndexError(f"{index} is outside {self.dims}")
        d, e = self._level(index, None)
        offset = 0
        for n, x in zip(d, e, strict=True):
            offset = offset * n + x
        return offset

    def indices(self):
        """All logical indices in row-major order."""
        return itertools.product(*(range(n) for n in self.dims))

    # ---- pad, reshape, transpose ----

    def image(self):
        """What each place holds: the row-major number of an element, or None for padding."""
        shape, values = list(self.dims), list(range(self.count))
        shape, values = transpose(shape, values, self.minor_to_major[::-1])
        for tile in self.tiles:
            # reshape: leading ones, then merge each * dimension into the next one
            shape = [1] * (len(tile) - len(shape)) + shape
            first = len(shape) - len(tile)
            for i in reversed(range(len(tile))):
                if tile[i] == COMBINE:
                    shape[first + i : first + i + 2] = [shape[first + i] * shape[first + i + 1]]
            sizes = [t for t in tile if t != COMBINE]
            # pad each tiled dimension to a multiple
            padded = list(shape)
            for i, t in enumerate(sizes):
                padded[first + i] += -padded[first + i] % t
            shape, values = pad(shape, values, padded)
            # reshape each tiled dimension into (tiles, tile), then move the tiles to the end
            split = shape[:first]
            for n, t in zip(shape[first:], sizes, strict=True):
                split += [n // t, t]
            outer = range(first, len(split), 2)
            inner = range(first + 1, len(split), 2)
            shape, values = transpose(split, values, [*range(first), *outer, *inner])
        return values + [None] * (-len(values) % self.L)

    # ---- text ----

    def text(self):
        """The canonical text: properties T L E S SC M, each only when it says something."""
        dims = ",".join("<=" * dyn + str(n) for n, dyn in zip(self.dims, self.dynamic, strict=True))
        props = ""
        if self.tiles:
            props += "T" + "".join(f"({','.join(map(str, tile))})" for tile in self.tiles)
        if self.L != 1:
            props += f"L({self.L})"
        if self.E:
            props += f"E({self.E})"
        if self.memory_space:
            props += f"S({self.memory_space})"
        if self.splits:
            props += "SC" + "".join(
                f"({dim}:{','.join(map(str, cuts))})" for dim, cuts in self.splits.items()
            )
        if self.metadata_bytes:
            props += f"M({self.metadata_bytes})"
        order = ",".join(map(str, self.minor_to_major)) + (":" + props if props else "")
        return f"{self.dtype}[{dims}]" + (f"{{{order}}}" if order else "")

    _TEXT = re.compile(
        r"(?P<dtype>[a-z][a-z0-9]*)"
        r"\[(?P<dims>(?:(?:<=)?\d+(?:,(?:<=)?\d+)*)?)\]"
        r"(?:\{(?P<order>(?:\d+(?:,\d+)*)?)"
        r"(?::(?:T(?P<T>(?:\([\d,*]+\))+))?(?:L\((?P<L>\d+)\))?(?:E\((?P<E>\d+)\))?"
        r"(?:S\((?P<S>\d+)\))?(?:SC(?P<SC>(?:\(\d+:\d+(?:,\d+)*\))+))?(?:M\((?P<M>\d+)\))?)?\})?"
    )

    @classmethod
    def from_text(cls, text):
        """One array in canonical text; ValueError for anything else."""
        m = cls._TEXT.fullmatch(text)
        if not m:
            raise ValueError(f"not an array in canonical text: {text!r}")
        dims = m["dims"].split(",") if m["dims"] else []
        tiles = [
            tuple(t if t == COMBINE else int(t) for t in tile.split(","))
            for tile in re.findall(r"\(([^)]*)\)", m["T"] or "")
        ]
        a = cls(
            m["dtype"],
            [int(n.removeprefix("<=")) for n in dims],
            None if m["order"] is None else [int(n) for n in m["order"].split(",") if n],
            tiles,
            int(m["L"] or 1),
            int(m["E"] or 0),
        )
        a.dynamic = tuple(n.startswith("<=") for n in dims)
        a.memory_space = int(m["S"] or 0)
        a.metadata_bytes = int(m["M"] or 0)
        for dim, cuts in re.findall(r"\((\d+):([\d,]*)\)", m["SC"] or ""):
            a.splits[int(dim)] = tuple(int(cut) for cut in cuts.split(","))
        return a

    # ---- random arrays ----

    @classmethod
    def random(cls, rng, max_elements=5000):
        """A valid array from a random.Random: rank 0 to 5, up to three tiles each of rank up to
        two above its bounds, *, L, E; at most max_elements elements in memory."""
        dims = []
        for _ in range(rng.randrange(6)):
            n = rng.choices([0, 1, rng.randint(2, 12), rng.randint(13, 200)], [1, 4, 16, 2])[0]
            while n > 1 and n * _size(dims) > max_elements:
                n //= 2
            dims.append(n)
        order = list(range(len(dims)))[::-1]
        if rng.random() < 0.6:
            rng.shuffle(order)
        dtype = rng.choice(sorted(VALUE_BITS))
        E = rng.choice([1, 2, 3, 4, 5, 6, 8, 16, 32, 64]) if rng.random() < 0.25 else 0
        a = cls(dtype, dims, order, (), 1, E)
        for _ in range(rng.randrange(4)):
            for _ in range(16):  # tries to stay small
                n = rng.randint(1, min(16, len(a.bounds()) + 2))
                tile = [rng.choice([1, 1, 2, 3, 4, 5, rng.choice([8, 16, 128])]) for _ in range(n)]
                tile = [COMBINE if rng.random() < 0.15 else t for t in tile[:-1]] + tile[-1:]
                bigger = cls(dtype, dims, order, (*a.tiles, tile), 1, E)
                if _size(bigger.bounds()) <= max_elements:
                    a = bigger
                    break
        if rng.random() < 0.25:
            tailed = cls(dtype, dims, order, a.tiles, rng.choice([2, 3, 7, 8, 16, 100, 1024]), E)
            if tailed.elements <= max_elements:
                a = tailed
        return a


def _size(bounds):
    """Product with zeros counted as ones, to keep the tiles of empty arrays small, too."""
    return math.prod(n or 1 for n in bounds)


def transpose(shape, values, axes):
    """Row-major values moved so that new dimension i is the old dimension axes[i]."""
    strides = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    new_shape = [shape[i] for i in axes]
    places = [0]
    for i in axes:
        places = [p + x * strides[i] for p in places for x in range(shape[i])]
    return new_shape, [values[p] for p in places]


def pad(shape, values, new_shape):
    """Row-major values in a larger shape, None after the end of each dimension."""
    if not shape:
        return new_shape, values
    rows, row = shape[0], math.prod(shape[1:])
    new_row = math.prod(new_shape[1:])
    out = []
    for r in range(rows):
        out += pad(shape[1:], values[r * row : (r + 1) * row], new_shape[1:])[1]
    return new_shape, out + [None] * (new_shape[0] * new_row - len(out))


def self_test(first_seed, count, max_elements=5000):
    """Both formulations on random arrays; AssertionError names the array."""
    for seed in range(first_seed, first_seed + count):
        a = Array.random(random.Random(seed), max_elements)
        image = a.image()
        wanted = [None] * a.elements
        for number, index in enumerate(a.indices()):
            place = a.place(index)
            assert wanted[place] is None, f"seed {seed}: {a} puts two elements at {place}"
            wanted[place] = number
        assert image == wanted, f"seed {seed}: {a}: place and image differ"
        assert Array.from_text(a.text()).text() == a.text(), f"seed {seed}: {a}: text"


if __name__ == "__main__":
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    self_test(1, n)
    print(f"{n} passed, 0 failed")
