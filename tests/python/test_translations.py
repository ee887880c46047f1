# SPDX-License-Identifier: Apache-2.0
"""Every notation into every other, over seeded random layouts: both texts are evaluated by oracles that share no code with the library."""

import collections
import math
import os
import random
import sys
from pathlib import Path

import pytest

import tesela

sys.path.insert(0, str(Path(__file__).parents[1] / "oracle"))
import notation_oracle as oracle  # noqa: E402
import register_oracle  # noqa: E402

SEED = int(os.environ.get("TESELA_SEED", "1"))
IN_MEMORY = ["xla", "jax", "cute", "onednn", "tvm", "torch", "mlir", "pack", "affine_map", "index_map", "map", "triton",
             "verbose", "iree", "mosaic", "einops"]  # fmt: skip
IN_REGISTERS = ["register", "triton", "cute", "map", "mosaicgpu", "xegpu"]
WHOLE = {"einops", "mosaicgpu", "xegpu"}  # an array that is smaller than the text's has another text
EACH, UNUSUAL = 30, 20  # layouts of a notation, and those of them that are neither row-major nor of one mode


# ---- random layouts, as texts


def extents(rng, most=12, powers=None):
    powers = rng.random() < 0.6 if powers is None else powers
    rank = rng.choice([1, 2, 2, 2, 3])
    return [rng.choice([1, 2, 4, 8, 16][: 5 if rank < 3 else 4]) if powers else rng.randint(1, most) for _ in range(rank)]


def comma(items):
    return ",".join(map(str, items))


def random_xla(rng):
    dims = extents(rng)
    order = rng.sample(range(len(dims)), len(dims))
    tiles = [[rng.choice([1, 2, 4, 8, 3]) for _ in range(rng.randint(1, len(dims)))] for _ in range(rng.choice([0, 1, 1, 2]))]
    written = ":T" + "".join(f"({comma(tile)})" for tile in tiles) if tiles else ""
    return f"f32[{comma(dims)}]{{{comma(order)}{written}}}"


def random_cute(rng):
    """Modes of some leaves, placed in a random order, at times with gaps, broadcasts, windows or a swizzle."""
    powers = rng.random() < 0.7
    modes = [[rng.choice([2, 2, 4, 8] if powers else [2, 3, 4, 5]) for _ in range(rng.choice([1, 1, 2, 3]))] for _ in range(rng.choice([1, 2, 2]))]
    strides, stride = {}, 1
    for at in rng.sample([(m, k) for m, mode in enumerate(modes) for k in range(len(mode))], sum(map(len, modes))):
        strides[at] = 0 if rng.random() < 0.05 else stride
        stride *= modes[at[0]][at[1]]
        if rng.random() < 0.12:
            stride = stride * 2 if powers else stride + rng.randint(1, 4)
    nest = lambda leaf: "(" + ",".join("(" + ",".join(str(leaf(m, k)) for k in range(len(mode))) + ")" for m, mode in enumerate(modes)) + ")"  # noqa: E731
    text = nest(lambda m, k: modes[m][k]) + ":" + nest(lambda m, k: strides[m, k])
    if powers and stride >= 16 and rng.random() < 0.3:
        text = f"Sw<1,{rng.randint(0, 1)},2> o 0 o {text}"
    return f"f32[{comma(math.prod(mode) for mode in modes)}] cute: {text}".replace("] cute: ", "] ")


def random_tag(rng):
    dims = extents(rng)
    blocks = [(rng.randrange(len(dims)), rng.choice([2, 4, 8, 3])) for _ in range(rng.choice([0, 1, 2, 3]))]
    inner = {dim for dim, _ in blocks}
    outer = "".join(oracle.LETTERS[d].upper() if d in inner else oracle.LETTERS[d] for d in rng.sample(range(len(dims)), len(dims)))
    return f"onednn: f32[{comma(dims)}] {outer}{''.join(f'{n}{oracle.LETTERS[d]}' for d, n in blocks)}"


def random_register(rng):
    """Modes that are powers of two, often, so that Triton has them."""
    if rng.random() < 0.4:
        shape, modes, spatial, local = register_oracle.random_lists(rng)
    else:
        shape = [rng.choice([2, 4, 8, 16]) for _ in range(rng.choice([1, 2, 2]))]
        modes = [2] * sum(n.bit_length() - 1 for n in shape)
        order = rng.sample(range(len(modes)), len(modes))
        cut = rng.randint(0, len(modes))
        spatial, local = order[:cut], order[cut:]
        if rng.random() < 0.3:
            spatial.insert(rng.randint(0, len(spatial)), -rng.choice([2, 4]))
    return f"RegisterLayout(shape={list(shape)}, mode_shape={list(modes)}, spatial_modes={list(spatial)}, local_modes={list(local)})"


# ---- layouts of each notation


class Written(collections.namedtuple("Written", "text shape options places")):
    """A layout in a notation, and where its elements are, by the oracle."""

    def read(self, notation):
        return tesela.layout(self.text, self.shape, "f32", notation=notation, **self.options)


def is_usual(shape, places):
    """Row-major, or of one mode: at most one dim, of one stride."""
    places = [min(places[index]) for index in oracle.indices(shape)]
    steps = {tuple(b - a for a, b in zip(one, next_one)) for one, next_one in zip(places, places[1:])}
    return len(steps) <= 1


def collected(notation, generators, rng):
    """Layouts of a notation: those of the generators that it expresses, written in it."""
    found, unusual, seen = [], 0, set()
    for _ in range(4000):
        source = tesela.layout(rng.choice(generators)(rng))
        if not 1 < math.prod(source.shape) <= 512:
            continue
        said = source.translate(notation)
        if said.verdict not in ("exact", "valid_part") or (said.text, said.shape) in seen:
            continue
        shape = said.shape if notation in WHOLE else source.shape
        if math.prod(shape) > 4096:
            continue
        places = oracle.places(notation, said.text, shape, said.as_)
        usual = is_usual(shape, places)
        if usual and len(found) - unusual >= EACH - UNUSUAL:
            continue
        seen.add((said.text, said.shape))
        unusual += not usual
        found.append(Written(said.text, shape, {"as_": said.as_} if said.as_ else {}, places))
        if len(found) == EACH:
            break
    return found, unusual


def matrix(notations, generators, seed):
    """{(from, to): Counter of verdicts}; every text is checked element by element."""
    cells = {}
    for of in notations:
        rng = random.Random(f"{seed} {of}")
        layouts, unusual = collected(of, generators, rng)
        assert len(layouts) == EACH and unusual >= UNUSUAL, (of, len(layouts), unusual)
        for to in notations:
            if to == of:
                continue
            cells[of, to] = collections.Counter()
            for written in layouts:
                said = written.read(of).translate(to)
                cells[of, to][said.verdict] += 1
                if said.text:
                    places = oracle.places(to, said.text, said.shape if to in WHOLE else written.shape, said.as_)
                    found = {index: places[index] for index in oracle.indices(written.shape)}
                    assert found == written.places, (of, written, to, said)
                else:
                    assert said.reason, (of, written, to)
    return cells


VERDICTS = ["exact", "valid_part", "needs_padding", "impossible"]


def table(notations, cells):
    """A row for each notation: of its layouts how many are exact, a valid part, in need of padding, and impossible in the others."""
    lines = ["from \\ to".ljust(11) + "".join(to.rjust(12) for to in notations)]
    for of in notations:
        row = ["/".join(str(cells[of, to][verdict]) for verdict in VERDICTS) if to != of else "-" for to in notations]
        lines.append(of.ljust(11) + "".join(cell.rjust(12) for cell in row))
    return "\n".join(lines)


def written(names):
    from tesela._layout import notations

    return [name for name in names if name in notations()]


@pytest.mark.parametrize("names, generators", [
    (IN_MEMORY, [random_xla, random_cute, random_tag]),
    (IN_REGISTERS, [random_register]),
], ids=["memory", "registers"])  # fmt: skip
def test_matrix(names, generators, capsys):
    notations = written(names)
    cells = matrix(notations, generators, SEED)
    possible = [pair for pair, verdicts in cells.items() if verdicts["impossible"] < EACH]
    with capsys.disabled():
        print(f"\nseed {SEED}, {EACH} layouts of each notation: {'/'.join(VERDICTS)}\n{table(notations, cells)}")
        print(f"{len(possible)} of {len(cells)} pairs are not always impossible")
    assert len(possible) >= len(cells) // 2
