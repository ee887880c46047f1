# SPDX-License-Identifier: Apache-2.0
"""TVM's layout strings, and the layouts of Axe (TileLayout): TVM itself gives the places."""

import random

import tvm
from places import indices_of, places_of
from tvm.s_tir import sbijective_layout

CASES = 200


def draw_string():
    """A string of TVM, its dims, and a shape that its blocks divide or not."""
    rank = random.randint(1, 4)
    letters = random.sample("NCHWOIDG", rank)
    shape = [random.choice([1, 2, 3, 4, 6, 8]) for _ in letters]
    text, blocks = "".join(letters), []
    for _ in range(random.randint(0, 3)):
        letter = random.choice(letters)
        blocks.append((letter, random.choice([1, 2, 3, 4])))
        text += f"{blocks[-1][1]}{letter.lower()}"
    return "".join(letters), text, shape


def flat(index, shape):
    number = 0
    for x, n in zip(index, shape):
        number = number * n + x
    return number


def test_strings(seed):
    random.seed(seed)
    cases, refused = [], 0
    while len(cases) < CASES:
        dims, text, shape = draw_string()
        try:
            layout = sbijective_layout(dims, text)
            packed = [int(x) for x in layout.forward_shape(shape)]
            places = [flat([int(x) for x in layout.forward_index(index)], packed) for index in indices_of(shape)]
        except tvm.error.InternalError:  # two blocks of a dim
            refused += 1
            continue
        cases.append((text, shape, places))
    got = places_of([f"tvm: f32{shape} {text}".replace(", ", ",") for text, shape, _ in cases], [shape for _, shape, _ in cases])
    wrong = [case for case, places in zip(cases, got) if places != case[2]]
    print(f"{len(cases)} strings, {refused} that TVM refuses, {len(wrong)} disagree")
    assert not wrong, wrong[:3]
