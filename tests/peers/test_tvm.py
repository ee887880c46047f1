# SPDX-License-Identifier: Apache-2.0
"""TVM's layout strings, and the layouts of Axe (TileLayout): TVM itself gives the places."""

import random

import tvm
from counts import cases_of_run, counted
from places import ask, indices_of, places_of
from tvm.s_tir import sbijective_layout
from tvm.tirx.layout import Axis, R, S, TileLayout

CASES = cases_of_run(200)


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
    counted("apache-tvm", "layout strings", len(cases), len(wrong), f"{refused} refused by TVM")
    assert not wrong, wrong[:3]


def draw_axe():
    """A TileLayout on up to three axes, and a shape of as many elements."""
    names = random.choice([["m"], ["m", "tx"], ["m", "laneid", "warpid"], ["TCol", "TLane"], ["m", "wgid", "tx"]])
    extents = [random.choice([1, 2, 3, 4, 8]) for _ in range(random.randint(1, 5))]

    def parts(ns):
        strides = tuple(random.randint(0, 20) @ Axis.get(random.choice(names)) for _ in ns)
        return (ns[0] if len(ns) == 1 else tuple(ns)), (strides[0] if len(ns) == 1 else strides)

    shard, strides = parts(extents)
    layout = S[shard:strides]
    if random.random() < 0.3:
        replicas, strides = parts([random.choice([2, 3, 4]) for _ in range(random.randint(1, 2))])
        if all(stride.value > 0 for stride in (strides if isinstance(strides, tuple) else [strides])):
            layout = layout + R[replicas:strides]
    if random.random() < 0.3:
        layout = layout + random.randint(1, 9) @ Axis.get(random.choice(names))
    elements = 1
    for extent in extents:
        elements *= extent
    shape = list(extents)
    if random.random() < 0.4:  # the same number of elements in other dims
        low = random.choice([n for n in range(1, elements + 1) if elements % n == 0])
        shape = [elements // low, low]
    return TileLayout(layout), shape


OURS = {"thread": "tx", "local": "m", "register": "m", "lane": "laneid", "warp": "warpid", "memory": "m"}


def by_axis(place):
    """Axe's axes of one place, the first copy's."""
    if isinstance(place, list):
        place = place[0]
    if isinstance(place, int):
        place = {"memory": place}
    if "threads" in place:
        place = {"thread": place["threads"][0], "local": place["local"]}
    return {OURS.get(axis, axis): value for axis, value in place.items() if value}


def test_axe(seed):
    random.seed(seed)
    cases = [draw_axe() for _ in range(2 * CASES)]
    texts = [f"axe: {str(shape).replace(' ', '')} {layout}" for layout, shape in cases]
    requests = [{"op": "where", "layout": text, "indices": indices_of(shape)} for text, (_, shape) in zip(texts, cases)]
    replicas, wrong = 0, []
    for text, answer, (layout, shape) in zip(texts, ask(requests), cases):
        assert answer["ok"], (text, answer)
        replicas += " + T.R" in text
        for index, place in zip(indices_of(shape), answer["places"]):
            want = {str(axis): int(value) for axis, value in layout.apply(*index, shape=shape).items() if int(value)}
            if "warpid" not in text and "laneid" in want:  # one warp: its lanes are the threads
                want["tx"] = want.pop("laneid")
            if isinstance(place[0] if isinstance(place, list) else place, int):  # the only axis
                want = {"m": value for value in want.values()}
            if by_axis(place) != want:
                wrong.append((text, index, place, want))
    differ = len({text for text, *_ in wrong})
    counted("apache-tvm", "Axe layouts", len(cases), differ, f"{replicas} with replicas")
    assert not wrong, wrong[:3]
