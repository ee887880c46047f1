# SPDX-License-Identifier: Apache-2.0
"""Index expressions that tesela writes, evaluated by Python and NumPy on random layouts.

TESELA_SEED chooses other random layouts; a failure shows the text.
"""

import itertools
import os
import random

import numpy as np
from command import ask

SEED = int(os.environ.get("TESELA_SEED", "20261123"), 0)
LAYOUTS = 60


def draw():
    """A layout as index arithmetic, its shape, and the place of an element by that arithmetic."""
    shape, digits = [], []
    for d in range(random.randint(1, 3)):
        extent = 1
        for radix in [random.choice([2, 2, 3, 4]) for _ in range(random.randint(1, 2))]:
            digits.append((d, extent, radix))
            extent *= radix
        shape.append(max(1, extent - random.choice([0, 0, 1])))
    random.shuffle(digits)
    stride, terms = 1, []
    for d, step, radix in digits:
        terms.append((stride, d, step, radix))
        stride *= radix + random.choice([0, 0, 0, 1])
    flip = random.random() < 0.4
    text = " + ".join(f"{s}*(d{d}/{step}%{radix})" for s, d, step, radix in terms)
    dims = ", ".join(f"d{d}:{n}" for d, n in enumerate(shape))
    text = f"map({dims}) of f32 -> memory[{16 * stride}]: {text}" + ("; memory ^= 2*(memory/4%4)" if flip else "")

    def place(index):
        at = sum(s * (index[d] // step % radix) for s, d, step, radix in terms)
        return at ^ 2 * (at // 4 % 4) if flip else at

    return text, shape, [place(index) for index in itertools.product(*map(range, shape))]


def drawn(to):
    """Random layouts with their texts in a notation."""
    random.seed(SEED)
    layouts = [draw() for _ in range(LAYOUTS)]
    answers = ask(*({"op": "translate", "from": text, "to": to} for text, _, _ in layouts))
    assert all(answer["ok"] and answer["verdict"] == "exact" for answer in answers)
    return [(answer["text"], shape, places) for answer, (_, shape, places) in zip(answers, layouts)]


def row_major(results, shape):
    """The numbers of the results; their extents are what they reach."""
    rows = [row if isinstance(row, (list, tuple)) else [row] for row in results]
    extents = [max(column) + 1 for column in zip(*rows)]
    places = []
    for row in rows:
        place = 0
        for x, n in zip(row, extents):
            place = place * n + x
        places.append(place)
    assert len(places) == int(np.prod(shape))
    return places


def test_index_map_by_python():
    for text, shape, places in drawn("index_map"):
        function = eval(text)
        assert row_major([function(*index) for index in itertools.product(*map(range, shape))], shape) == places, text


def test_affine_map_by_python():
    for text, shape, places in drawn("affine_map"):
        names, results = text.removeprefix("affine_map<(").removesuffix(">").split(") -> (", 1)
        function = eval(f"lambda {names}: [{results[:-1]}]".replace("floordiv", "//").replace(" mod ", " % "))
        assert row_major([function(*index) for index in itertools.product(*map(range, shape))], shape) == places, text


def test_numpy_by_numpy():
    chains = 0
    for text, shape, places in drawn("numpy"):
        x = np.arange(1, 1 + int(np.prod(shape))).reshape(shape)
        result = eval(text, {"np": np, "x": x})
        if "lambda" in text:
            assert np.broadcast_to(result, shape).ravel().tolist() == places, text
            continue
        chains += 1
        assert [int(result[place]) for place in places] == list(range(1, 1 + x.size)), text
    assert chains > 5
