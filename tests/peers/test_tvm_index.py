# SPDX-License-Identifier: Apache-2.0
"""Index maps of TVM: TVM itself gives the places."""

import random

from counts import cases_of_run, counted
from expressions import draw_expression, translated
from places import indices_of, places_of
from tvm.tirx import IndexMap, const

CASES = cases_of_run(200)


def numbers(results):
    """TVM takes no Python integers as results."""
    results = results if isinstance(results, list) else [results]
    return [const(x, "int64") if isinstance(x, int) else x for x in results]


def index_map_of(text):
    names, body = text.split(":", 1)
    return IndexMap.from_func(eval(f"{names}: numbers({body})", {"numbers": numbers}))  # noqa: S307


def places_by(index_map, shape):
    """The row-major order of the results, for the shape that TVM says they have."""
    extents = [int(n) for n in index_map.map_shape(shape)]
    places = []
    for index in indices_of(shape):
        place = 0
        for x, n in zip(index_map.map_indices(index), extents):
            place = place * n + int(x)
        places.append(place)
    return places


def test_written(seed):
    random.seed(seed)
    wrong = []
    for text, shape, places in translated("index_map", CASES):
        index_map = index_map_of(text)
        index = [[int(x) for x in index_map.map_indices(index)] for index in indices_of(shape)]
        extents = [max(column) + 1 for column in zip(*index)]
        got = []
        for row in index:
            place = 0
            for x, n in zip(row, extents):
                place = place * n + x
            got.append(place)
        if got != places:
            wrong.append(text)
    counted("apache-tvm", "index maps written", CASES, len(wrong))
    assert not wrong, wrong[:3]


def test_read(seed):
    random.seed(seed)
    cases = []
    while len(cases) < CASES:
        shape = [random.choice([1, 2, 3, 4, 6, 8, 16]) for _ in range(random.randint(1, 3))]
        names = [f"i{d}" for d in range(len(shape))]
        results = [draw_expression(names, 3, ["//", "%", "//", "%"]) for _ in range(1)]
        if random.random() < 0.5:  # pieces of different dims, as in layouts
            results = [random.choice([f"{name} // {k}, {name} % {k}" for k in (2, 3, 4)]) for name in names]
            random.shuffle(results)
        index_map = index_map_of(f"lambda {', '.join(names)}: [{', '.join(results)}]")
        try:
            cases.append((str(index_map), shape, places_by(index_map, shape)))
        except Exception:  # noqa: BLE001, S112 - a shape that TVM does not find
            continue
    got = places_of([f"index_map: f32{shape} {text}".replace(", ", ",") for text, shape, _ in cases], [shape for _, shape, _ in cases])
    refused = [places for places in got if isinstance(places, str)]
    wrong = [(case, places) for case, places in zip(cases, got) if places != case[2] and not isinstance(places, str)]
    counted("apache-tvm", "index maps read", len(cases), len(wrong), f"{len(refused)} refused: no one layout")
    assert not wrong, wrong[:3]
    assert len(refused) * 4 < len(cases), refused[:3]
