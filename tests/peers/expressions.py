# SPDX-License-Identifier: Apache-2.0
"""Random layouts and random index expressions, for the tests of MLIR and TVM."""

import random

from places import ask, indices_of


def draw_layout():
    """A layout as index arithmetic: digits of each dim in some order and with gaps, perhaps XOR; its shape."""
    shape, digits = [], []
    for d in range(random.randint(1, 3)):
        radices = [random.choice([2, 2, 3, 4]) for _ in range(random.randint(1, 3))]
        extent = 1
        for radix in reversed(radices):
            digits.append((d, extent, radix))
            extent *= radix
        shape.append(max(1, extent - random.choice([0, 0, 1])))
    random.shuffle(digits)
    stride, terms = 1, []
    for d, step, radix in digits:
        terms.append(f"{stride}*(d{d}/{step}%{radix})")
        stride *= radix + random.choice([0, 0, 0, 1])
    dims = ", ".join(f"d{d}:{n}" for d, n in enumerate(shape))
    text = f"map({dims}) of f32 -> memory[{4 * stride}]: {' + '.join(terms)}"
    if random.random() < 0.3 and stride > 16:
        text += random.choice(["; memory ^= memory/4%4", "; memory ^= 2*(memory/8%2) ^ memory/4%2", "; memory ^= 4*(memory%4)"])
    return text, shape


def translated(to, n):
    """n random layouts in another notation: text, shape, places."""
    drawn = [draw_layout() for _ in range(n)]
    answers = ask({"op": "translate", "from": text, "to": to} for text, _ in drawn)
    wheres = ask({"op": "where", "layout": text, "indices": indices_of(shape)} for text, shape in drawn)
    assert all(answer["ok"] and answer["verdict"] == "exact" for answer in answers), answers[0]
    return [(answer["text"], shape, where["places"]) for answer, (_, shape), where in zip(answers, drawn, wheres)]


def draw_expression(names, depth, operators):
    """A random expression in Python; {..}: operators by a number on their right."""
    if depth == 0 or random.random() < 0.2:
        return random.choice([*names, *names, str(random.randint(0, 9))])
    left = draw_expression(names, depth - 1, operators)
    kind = random.choice(["+", "+", "*", *operators])
    if kind == "+":
        return f"({left} + {draw_expression(names, depth - 1, operators)})"
    return f"({left} {kind} {random.randint(1, 9)})"
