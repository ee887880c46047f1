# SPDX-License-Identifier: Apache-2.0
"""Affine maps of MLIR: MLIR itself evaluates them."""

import random

from counts import cases_of_run, counted
from expressions import draw_expression, translated
from iree.compiler import ir
from places import indices_of, places_of

CASES = cases_of_run(200)


def affine_map_of(text):
    return ir.AffineMapAttr(ir.Attribute.parse(text)).value


def results_at(affine_map, index):
    """MLIR folds an expression of constants."""
    at = ir.AffineMap.get(0, 0, [ir.AffineConstantExpr.get(x) for x in index])
    return [ir.AffineConstantExpr(expression.compose(at)).value for expression in affine_map.results]


def places_by(affine_map, shape, least=None):
    """The row-major order of the results; `least`: extents that MLIR's --normalize-memrefs gives remainders."""
    rows = [results_at(affine_map, index) for index in indices_of(shape)]
    extents = [max(max(column) + 1, n) for column, n in zip(zip(*rows), least or [0] * len(rows[0]))]
    places = []
    for row in rows:
        place = 0
        for x, n in zip(row, extents):
            place = place * n + x
        places.append(place)
    return places


def test_written(seed):
    random.seed(seed)
    wrong = []
    with ir.Context():
        for text, shape, places in translated("affine_map", CASES):
            if places_by(affine_map_of(text), shape) != places:
                wrong.append(text)
    counted("iree-base-compiler", "affine maps written", CASES, len(wrong))
    assert not wrong, wrong[:3]


def test_read(seed):
    random.seed(seed)
    cases = []
    with ir.Context():
        while len(cases) < CASES:
            shape = [random.choice([1, 2, 3, 4, 6, 8, 16]) for _ in range(random.randint(1, 3))]
            names = [f"d{d}" for d in range(len(shape))]
            results = [draw_expression(names, 3, ["floordiv", "ceildiv", "mod"])]
            if random.random() < 0.5:
                results = [random.choice([f"{name} floordiv {k}, {name} mod {k}" for k in (2, 3, 4)]) for name in names]
                random.shuffle(results)
            texts = ", ".join(results).split(", ")
            least = [int(text.split()[-1]) if len(texts) > 1 and " mod " in text else 0 for text in texts]
            parsed = affine_map_of(f"affine_map<({', '.join(names)}) -> ({', '.join(results)})>")
            cases.append((f"affine_map<{parsed}>", shape, places_by(parsed, shape, least)))
    got = places_of([f"f32{shape} ".replace(", ", ",") + text for text, shape, _ in cases], [shape for _, shape, _ in cases])
    refused = [places for places in got if isinstance(places, str)]
    wrong = [(case, places) for case, places in zip(cases, got) if places != case[2] and not isinstance(places, str)]
    counted("iree-base-compiler", "affine maps read", len(cases), len(wrong), f"{len(refused)} refused: no one layout")
    assert not wrong, wrong[:3]
    assert len(refused) * 4 < len(cases), refused[:3]
