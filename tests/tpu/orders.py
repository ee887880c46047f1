# SPDX-License-Identifier: Apache-2.0
"""Arguments of random shapes for the TPU's compiler: what it is asked, and the lines of tests/data/tpu_orders.tsv."""

import random

import tpu_compiler

TARGETS = ("v2", "v5e", "tpu7x")
PROGRAMS, ARGUMENTS = 13, 64  # of each target; 2496 arguments in 39 programs
WIDEST = 1 << 22  # elements of an argument: a v2 has 8 GiB

SMALL = (1, 1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 24, 31, 32, 33, 48, 64, 65, 100, 127, 128, 129, 192, 256, 300)


EIGHTS = (1, 8, 16, 24, 40, 64, 100, 128)


def dims(pick, extents):
    rank = pick.choice((0, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 5, 5, 6))
    while True:
        found = tuple(pick.choice(extents) if pick.random() < 0.8 else int(2 ** pick.uniform(0, 12)) for _ in range(rank))
        size = 1
        for extent in found:
            size *= extent
        if size <= WIDEST:
            return found


def programs(seed):
    """(target, number, [(type, dims)]) of each program. The last is of 2 bits: where 8 rows count and tiles have 16."""
    for target in TARGETS:
        for number in range(PROGRAMS):
            pick = random.Random(f"{seed} {target} {number}")
            last = number == PROGRAMS - 1
            types, extents = (("s2", "u2"), EIGHTS) if last else (list(tpu_compiler.TYPES), SMALL)
            yield target, number, [(pick.choice(types), dims(pick, extents)) for _ in range(ARGUMENTS)]


def observed(seed):
    """The same with what the compiler says: (target, number, layouts, argument bytes)."""
    for target, number, arguments in programs(seed):
        yield target, number, *tpu_compiler.argument_layouts(target, arguments)
