# SPDX-License-Identifier: Apache-2.0
"""The op cute: examples by hand, random compositions against the formula, and relations that no extents and strides express.

That refusals are right is checked by tests/unit/test_cute_compose.c and test_cute_divide.c.
"""

import os
import random
from fractions import Fraction

import pytest
from command import ask

SEED = int(os.environ.get("TESELA_SEED", "1"))


def cute(do, *args, **more):
    return ask({"op": "cute", "do": do, "args": list(args), **more})[0]


EXAMPLES = [
    ("composition", ["(6,4):(4,1)", "(3,2):(2,12)"], "(3,2):(8,2)"),
    ("composition", ["(12,(4,8)):(59,(13,1))", "<3:4,8:2>"], "(3,(2,4)):(236,(26,1))"),
    ("composition", ["cute:20:2", "(5,4):(4,1)"], "(5,4):(8,2)"),
    ("complement", ["4:2", "24"], "(2,3):(1,8)"),
    ("complement", ["(2,2):(1,6)", "24"], "(3,2):(2,12)"),
    ("complement", ["4:2"], "2:1"),
    ("coalesce", ["(2,(1,6)):(1,(6,2))"], "12:1"),
    ("coalesce", ["(2,(1,6)):(1,(6,2))", "(1,1)"], "(2,6):(1,2)"),
    ("coalesce", ["(2,(1,6)):(1,(6,2))", "1"], "12:1"),
    ("filter", ["((2,2),3):((0,1),0)"], "2:1"),
    ("flatten", ["((2,2),3):((0,1),4)"], "(2,2,3):(0,1,4)"),
    ("right_inverse", ["(4,8):(8,1)"], "(8,4):(4,1)"),
    ("left_inverse", ["(4,8):(10,1)"], "(10,4):(4,1)"),
    ("left_inverse", ["(3,2):(2,3)"], "(2,4):(2,1)"),
    ("logical_divide", ["(4,2,3):(2,1,8)", "4:2"], "((2,2),(2,3)):((4,1),(2,8))"),
    ("zipped_divide", ["(8,6):(6,1)", "<4,2>"], "((4,2),(2,3)):((6,1),(24,2))"),
    ("tiled_divide", ["(8,6):(6,1)", "[4;2]"], "((4,2),2,3):((6,1),24,2)"),
    ("flat_divide", ["(8,6):(6,1)", "<4,2>"], "(4,2,2,3):(6,1,24,2)"),
    ("logical_divide", ["(8,6):(6,1)", "<_,2>"], "(8,(2,3)):(6,(1,2))"),
    ("logical_product", ["(2,2):(4,1)", "6:1"], "((2,2),(2,3)):((4,1),(2,8))"),
    ("zipped_product", ["(2,2)", "(3,4)"], "((2,2),(3,4)):((1,2),(4,12))"),
    ("tiled_product", ["(2,2)", "(3,4)"], "((2,2),3,4):((1,2),4,12)"),
    ("flat_product", ["(2,2)", "(3,4)"], "(2,2,3,4):(1,2,4,12)"),
    ("blocked_product", ["(2,5):(5,1)", "(3,4)"], "((2,3),(5,4)):((5,10),(1,30))"),
    ("raked_product", ["(2,5):(5,1)", "(3,4)"], "((3,2),(4,5)):((10,5),(30,1))"),
    ("tile_to_shape", ["(2,2):(2,1)", "(4,6)"], "((2,2),(2,3)):((2,4),(1,8))"),
    ("tile_to_shape", ["(2,2)", "(4,6)", "(1,0)"], "((2,2),(2,3)):((1,12),(2,4))"),
    ("slice_and_offset", ["(4,(2,3)):(1,(4,8))", "(2,_)"], "((2,3)):((4,8))"),
    ("slice_and_offset", ["(2,_)", "(4,(2,3)):(1,(4,8))"], "((2,3)):((4,8))"),
    ("eval", ["Sw<3,3,3> o 0 o (8,64):(64,1)", "(3,17)"], 201),
    ("crd2idx", ["(3,1)", "(4,8)"], 7),
    ("idx2crd", ["13", "(4,(2,3))"], "(1,(1,1))"),
    ("shape_div", ["(12,4)", "(3,8)"], "(4,1)"),
    ("size", ["(4,8):(8,1)"], 32),
    ("cosize", ["(4,8):(10,1)"], 38),
    ("table", ["(2,3):(3,1)"], "(2,3):(3,1)"),
]


@pytest.mark.parametrize("do, args, result", EXAMPLES, ids=[f"{do} {' '.join(args)}" for do, args, _ in EXAMPLES])
def test_example(do, args, result):
    answer = cute(do, *args)
    assert answer["ok"], answer
    assert answer["result"] == result


def test_every_name_has_an_example():
    (op,) = ask({"op": "ops", "name": "cute"})[0]["ops"]
    words = next(field["takes"] for field in op["fields"] if field["name"] == "do")
    assert set(words.split("|")) == {do for do, _, _ in EXAMPLES}


REFUSED = [
    ("composition", ["(4,6,8):(2,3,5)", "6:3"], "NOT_EXPRESSIBLE", {"index": 3, "value": 8, "expected": 13}),
    ("composition", ["(8,5):(5,1)", "20:1"], "NOT_EXPRESSIBLE", {"index": 8, "value": 1, "expected": 40}),
    ("composition", ["(4,2):(1,10)", "8:-1"], "RANGE", {"index": 1, "value": -1, "expected": 0}),
    ("complement", ["(2,2):(1,3)", "24"], "NOT_EXPRESSIBLE", {"index": 2, "value": 3, "expected": 4}),
    ("left_inverse", ["(2,2):(1,1)"], "NOT_INJECTIVE", {"index": 1, "index2": 2, "place": 1}),
    ("logical_divide", ["10", "20"], "SIZE", {"index": 10, "value": 10, "expected": 9}),
    ("composition", ["(4,6:(2,3)", "6:3"], "SYNTAX", None),
    ("composition", ["4:4611686018427387904", "4"], "OVERFLOW", None),
    ("shape_div", ["4", "3"], "NOT_DIVISIBLE", None),
    ("size", [], "INVALID", None),
    ("size", ["4", "4"], "INVALID", None),
    ("idx2crd", ["24", "(4,(2,3))"], "RANGE", None),
    ("slice_and_offset", ["(4,8)", "(1,_,2)"], "MISMATCH", None),
    ("complement", ["Sw<1,0,1> o 0 o 4:1", "8"], "UNSUPPORTED", None),
]


@pytest.mark.parametrize("do, args, code, example", REFUSED, ids=[f"{do} {' '.join(args)}" for do, args, _, _ in REFUSED])
def test_refusal(do, args, code, example):
    answer = cute(do, *args)
    assert (answer["ok"], answer["error"]["code"], answer["error"]["field"]) == (False, code, "args")
    assert answer.get("counter_example") == example


def test_the_byte_is_in_the_text():
    error = cute("composition", "(4,6):(2,3)", "6:x")["error"]
    assert error["at"] == 2
    assert error["message"].startswith("args[1]: ")


def text(leaves):
    shape, stride = (",".join(str(leaf[k]) for leaf in leaves) for k in (0, 1))
    return f"({shape}):({stride})"


def value(leaves, i):
    """The last leaf continues."""
    total = 0
    for extent, stride in leaves[:-1]:
        total += i % extent * stride
        i //= extent
    return total + i * leaves[-1][1]


def size(leaves):
    n = 1
    for extent, _ in leaves:
        n *= extent
    return n


def test_tables_and_relations():
    random.seed(SEED)
    requests, expected, shapes = [], [], []
    for _ in range(300):
        a = [(random.choice([2, 3, 4, 5, 6, 8]), random.randint(0, 12)) for _ in range(random.randint(1, 4))]
        b = [(random.choice([2, 3, 4, 6]), random.choice([1, 2, 3, 4, 6, 8, 12])) for _ in range(random.randint(1, 3))]
        requests.append({"op": "cute", "do": "composition", "args": [text(a), text(b)], "table": True, "as": "any"})
        expected.append([value(a, value(b, i)) for i in range(size(b))])
        shapes.append([extent for extent, _ in b])
    answers = ask(*requests)
    relations = [k for k, answer in enumerate(answers) if answer["result"].startswith("map(")]
    for k, answer in enumerate(answers):
        if k not in relations:
            assert answer["table"] == expected[k], requests[k]
    places = []
    for k in relations:
        indices = []
        for i in range(len(expected[k])):
            index = []
            for extent in shapes[k]:
                index.append(i % extent)
                i //= extent
            indices.append(index)
        places.append({"op": "where", "layout": answers[k]["result"], "indices": indices})
    for k, answer in zip(relations, ask(*places)):
        assert answer["places"] == expected[k], requests[k]
    assert 30 < len(relations) < 270


# ---- left inverses: all extents are tried, and the strides solved in fractions ----


def solution(rows):
    """Numbers x with sum of coefficient * x = right side, for rows of coefficients and the right side; the free ones are 0. None: none.
    The second result: are some free?"""
    rows = [[Fraction(number) for number in row] for row in rows]
    n, pivots = len(rows[0]) - 1, []
    for column in range(n):
        at = len(pivots)
        found = next((k for k in range(at, len(rows)) if rows[k][column]), None)
        if found is None:
            continue
        rows[at], rows[found] = rows[found], rows[at]
        rows[at] = [x / rows[at][column] for x in rows[at]]
        for k, row in enumerate(rows):
            if k != at and row[column]:
                rows[k] = [x - row[column] * y for x, y in zip(row, rows[at])]
        pivots.append(column)
    if any(row[-1] for row in rows[len(pivots) :]):
        return None, False
    found = [Fraction(0)] * n
    for k, column in enumerate(pivots):
        found[column] = rows[k][-1]
    return found, len(pivots) < n


def chains(most):
    """All lists of extents but the last, which has no end."""
    yield []
    for extent in range(2, most + 1):
        for rest in chains(most // extent):
            yield [extent, *rest]


def has_left_inverse(values):
    """True, False, or None where fractions leave it open."""
    is_open = False
    for extents in chains(max(values)):
        rows = []
        for i, place in enumerate(values):
            row = []
            for extent in extents:
                row.append(place % extent)
                place //= extent
            rows.append([*row, place, i])
        found, free = solution(rows)
        if found and all(x.denominator == 1 for x in found):
            return True
        is_open = is_open or (found is not None and free)
    return None if is_open else False


def test_left_inverses():
    random.seed(SEED)
    drawn = []
    while len(drawn) < 250:
        a = [(random.choice([2, 2, 3, 4]), random.randint(1, 9)) for _ in range(random.randint(2, 3))]
        values = [value(a, i) for i in range(size(a))]
        if len(set(values)) == len(values) and max(values) < 40:
            drawn.append((a, values))
    answers = ask(*({"op": "cute", "do": "left_inverse", "args": [text(a)]} for a, _ in drawn))
    verdicts = []
    for (a, values), answer in zip(drawn, answers):
        exists = has_left_inverse(values)
        code = "OK" if answer["ok"] else answer["error"]["code"]
        verdicts.append(code)
        assert code in {True: ["OK"], False: ["NOT_EXPRESSIBLE", "LIMIT"], None: ["OK", "LIMIT"]}[exists], (text(a), answer)
    print({code: verdicts.count(code) for code in set(verdicts)})
    assert verdicts.count("NOT_EXPRESSIBLE") >= 25 and verdicts.count("LIMIT") <= 12
