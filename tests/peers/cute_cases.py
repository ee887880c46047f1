# SPDX-License-Identifier: Apache-2.0
"""Compositions of CuTe layouts for its other implementations, judged by R(i) = A(B(i)): the post-condition decides who is wrong."""

import json
import os
import random
import subprocess
from pathlib import Path

from counts import cases_of_run, counted, known_error

BUILD = Path(os.environ.get("TESELA_BUILD") or Path(__file__).resolve().parents[2] / "build/release")
CASES = cases_of_run(400)


def flat(tuple_or_int):
    return [x for item in tuple_or_int for x in flat(item)] if isinstance(tuple_or_int, tuple) else [tuple_or_int]


def value(shape, stride, i):
    """The last leaf continues."""
    total, extents, strides = 0, flat(shape), flat(stride)
    for extent, step in zip(extents[:-1], strides):
        total += i % extent * step
        i //= extent
    return total + i * strides[-1]


def size(shape):
    n = 1
    for extent in flat(shape):
        n *= extent
    return n


def text(shape, stride):
    def said(t):
        return "(" + ",".join(map(said, t)) + ")" if isinstance(t, tuple) else str(t)

    return f"{said(shape)}:{said(stride)}"


def one_mode(values, unit, done, left):
    """Do extents exist, the strides read from the values? All factorisations are tried."""
    if left == 1:
        return True
    for extent in (f for f in range(2, left + 1) if left % f == 0):
        stride = values[done * unit]
        if all(values[i * unit] == values[i % done * unit] + i // done * stride for i in range(done, done * extent)):
            if one_mode(values, unit, done * extent, left // extent):
                return True
    return False


def exists(values, modes):
    unit = 1
    for n in modes:
        if not one_mode(values, unit, 1, n):
            return False
        unit *= n
    for i in range(unit):
        total, rest, unit_of = 0, i, 1
        for n in modes:
            total += values[rest % n * unit_of]
            rest //= n
            unit_of *= n
        if total != values[i]:
            return False
    return True


def draw():
    """A and B of 2 and 1 or 2 modes: strides of B often fall on digits of A, often not; 64 coordinates or fewer."""
    extents = [random.choice([2, 3, 4, 5, 6, 8, 10]) for _ in range(random.randint(1, 4))]
    order = random.sample(range(len(extents)), len(extents))
    strides, step = [0] * len(extents), 1
    for k in order:
        strides[k] = step
        step *= extents[k] + random.choice([0, 0, 0, 1])
    if random.random() < 0.2:
        strides[random.randrange(len(strides))] = 0
    steps = [1]
    for extent in extents:
        steps += [steps[-1] * f for f in range(2, extent + 1) if extent % f == 0 and random.random() < 0.6 or f == extent]
    shape, stride = [], []
    for _ in range(random.randint(1, 2)):
        extent = random.choice([2, 3, 4, 5, 6, 8])
        if size(tuple(shape) + (extent,)) <= 64:
            shape.append(extent)
            stride.append(random.choice(steps) if random.random() < 0.7 else random.randint(1, 12))
    return tuple(extents), tuple(strides), tuple(shape), tuple(stride)


def cases(seed):
    """[(A, B, the values, whether extents and strides with B's outer modes exist)], each once."""
    random.seed(seed)
    made = {}
    while len(made) < CASES:
        a_shape, a_stride, b_shape, b_stride = draw()
        values = [value(a_shape, a_stride, value(b_shape, b_stride, i)) for i in range(size(b_shape))]
        made[a_shape, a_stride, b_shape, b_stride] = (values, exists(values, b_shape))
    return [((a, d), (b, e), *answer) for (a, d, b, e), answer in made.items()]


def tesela(requests):
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    done = subprocess.run([BUILD / "tesela", "query"], input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def judge(name, answer, seed):
    """`answer(A, B)` is a shape and stride, or raises. Counts its errors by the post-condition; tesela must have none."""
    drawn = cases(seed)
    ours = tesela([{"op": "cute", "do": "composition", "args": [text(*a), text(*b)], "table": True} for a, b, _, _ in drawn])
    right = wrong = missed = 0
    bad = []
    shown = []
    for (a, b, values, expressible), own in zip(drawn, ours):
        if own["ok"] != expressible or (expressible and own["table"] != values):
            bad.append((text(*a), text(*b), own))
        try:
            shape, stride = answer(a, b)
        except Exception:  # each implementation refuses in its own way
            missed += expressible
            continue
        if size(shape) == len(values) and all(value(shape, stride, i) == v for i, v in enumerate(values)):
            right += 1
        else:
            wrong += 1
            shown.append(f"{text(*a)} o {text(*b)}: {text(shape, stride)}; {own.get('result') or own['counter_example']}")
    possible = sum(case[3] for case in drawn)
    note = f"{possible} expressible: {name} has {right} right, {wrong} wrong, {missed} refused"
    counted(name, "compositions", len(drawn), len(bad), note)
    print("\n".join(shown[:5]))
    assert not bad, bad[:3]


def rank_one(shape):
    return shape[0] if len(shape) == 1 else shape


def known(peer, case, compute, right):
    """An error of a peer; right if it refuses now, or if right(shape, stride)."""
    try:
        shape, stride = compute()
    except Exception as e:  # each implementation refuses in its own way
        known_error(peer, case, e, True)
    else:
        known_error(peer, case, text(shape, stride), right(shape, stride))


def has_values(values):
    return lambda shape, stride: size(shape) == len(values) and [value(shape, stride, i) for i in range(len(values))] == values


def inverts(a, d):
    """Is a layout a left inverse of a:d?"""
    return lambda shape, stride: all(value(shape, stride, value(a, d, i)) == i for i in range(size(a)))
