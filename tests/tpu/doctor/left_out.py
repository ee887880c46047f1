# SPDX-License-Identifier: Apache-2.0
"""Rewrites that `tesela tune` leaves out, since the compiler does not confirm them: python left_out.py [--cache FOLDER] -> left_out.tsv.

Each beside the program and beside what tune recommends instead (outcomes.tsv).
"""

import argparse
import dataclasses
import os
import pathlib
import sys
from collections.abc import Callable
from typing import Any

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parents[2] / "python"), str(HERE)]

from tesela.tune._compile import Compiler  # noqa: E402

if __name__ == "__main__":
    Compiler("v5e")  # its settings come before jax

import by_hand  # noqa: E402
import cases  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import table  # noqa: E402
from jax import lax  # noqa: E402

NAMES = ("name", "change", "hbm", "hbm_after", "hbm_first", "cycles", "cycles_after", "cycles_first")


@dataclasses.dataclass(frozen=True)
class Change:
    name: str
    words: str
    program: Callable[..., Any]
    adapt: Callable[..., tuple] = lambda *given: given
    restore: Callable[[Any], Any] = lambda result: result


def segments_packed(rows, segments):
    """Sums of 8 segments side by side."""
    part = (jnp.arange(128) // 16)[None] == (segments % 8)[:, None]
    wide = jnp.where(part, jnp.tile(rows, (1, 8)), 0)
    return jnp.zeros((-(-(segments.shape[0] // 2) // 8), 128)).at[segments // 8].add(wide)


def in_pieces(x, w):
    """The lines of each picture in 16 pieces with their neighbours, as 16 x as many pictures: the compiler's lanes are pictures."""
    n, (b, h, width, _), above = min(16, x.shape[1]), x.shape, (w.shape[0] - 1) // 2
    padded = jnp.pad(x, ((0, 0), (above, w.shape[0] - 1 - above), (0, 0), (0, 0)))
    pieces = jnp.stack([padded[:, i * (h // n) : (i + 1) * (h // n) + w.shape[0] - 1] for i in range(n)])
    pieces = pieces.reshape(-1, *pieces.shape[2:])
    sides = ((w.shape[1] - 1) // 2, w.shape[1] // 2)
    out = lax.conv_general_dilated(pieces, w, (1, 1), ((0, 0), sides), dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return jnp.moveaxis(out.reshape(n, b, h // n, width, -1), 0, 1).reshape(b, h, width, -1)


def merged(name):
    hand = by_hand.PROGRAMS[name, "merge"]
    return Change(name, "neighbouring dims as one", hand.program, hand.adapt, hand.restore)


CHANGES = [
    Change("segment_rows", "sums of several segments side by side", segments_packed, restore=lambda r: r.reshape(-1, 16)),
    Change("convolution", "pieces of pictures as pictures", in_pieces),
    Change("stem", "pieces of pictures as pictures", in_pieces),
    Change("waves", "pieces of pictures as pictures", lambda x, w: lax.scan(lambda x, _: (jnp.tanh(in_pieces(x, w)), ()), x, None, length=8)[0]),
    *map(merged, ("embedding", "harmonics", "patches")),
]


def row(change, compile, first):
    case = cases.CASES[change.name]
    before, after = compile(case.program, case.specs()), compile(change.program, list(jax.eval_shape(change.adapt, *case.specs())))
    return [change.name, change.words, before.hbm, after.hbm, first["first_hbm"], round(before.cycles), round(after.cycles), first["first_cycles"]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cache", default=os.environ.get("TESELA_TUNE_CACHE"))
    compile = Compiler("v5e", cache=parser.parse_args().cache)
    first = {one["name"]: one for one in table.rows("outcomes.tsv")}
    table.write(HERE / "left_out.tsv", "left_out.py", NAMES, [row(change, compile, first[change.name]) for change in CHANGES])


if __name__ == "__main__":
    main()
