# SPDX-License-Identifier: Apache-2.0
"""Tilus: its register and shared layouts, and its operations on them, element by element."""

import random

from counts import cases_of_run, counted, known_error
from places import ask, indices_of, places_of
from tilus_layouts import layout as tilus
from tilus_layouts import Swizzle, register_ops, shared_ops

CASES = cases_of_run(300)


def product(numbers):
    n = 1
    for x in numbers:
        n *= x
    return n


def digits_of(number, radices):
    digits = []
    for radix in reversed(radices):
        digits.append(number % radix)
        number //= radix
    return digits[::-1]


# ---- register layouts ----


def draw(rank=None, most=256):
    """Modes of random dims, in threads or registers in any order, with copies."""
    while True:
        groups = [[random.choice([1, 2, 2, 3, 4]) for _ in range(random.randint(1, 3))] for _ in range(rank or random.randint(1, 4))]
        modes = [m for group in groups for m in group]
        if product(modes) <= most:
            break
    numbers = [k for k, m in enumerate(modes) if m > 1]
    modes, order = [m for m in modes if m > 1], list(range(len(numbers)))
    random.shuffle(order)
    cut = random.randint(0, len(order))
    spatial = order[:cut]
    if random.random() < 0.25:
        spatial.insert(random.randint(0, len(spatial)), -random.choice([2, 3, 4]))
    shape = tuple(product(group) for group in groups)
    return tilus.RegisterLayout(shape, tuple(modes), tuple(spatial), tuple(order[cut:]))


def places(layout):
    """(threads, local id) of every element, as Tilus computes them."""
    return [(sorted(map(int, layout.get_spatial(index))), int(layout.get_local(index))) for index in indices_of(layout.shape)]


def by_definition(layout):
    """The same from the four lists alone."""
    found = []
    for index in indices_of(layout.shape):
        digits = [d for x, modes in zip(index, layout.grouped_modes) for d in digits_of(x, [layout.mode_shape[m] for m in modes])]
        threads, local = [0], 0
        for mode in layout.spatial_modes:
            size = layout.mode_shape[mode] if mode >= 0 else -mode
            threads = [t * size + d for t in threads for d in ([digits[mode]] if mode >= 0 else range(size))]
        for mode in layout.local_modes:
            local = local * layout.mode_shape[mode] + digits[mode]
        found.append((sorted(threads), local))
    return found


def threads_and_local(place):
    return (place["threads"] if "threads" in place else [place["thread"]]), place["local"]


def ours(texts, shapes):
    answers = places_of(texts, shapes)
    return [answer if isinstance(answer, str) else [threads_and_local(place) for place in answer] for answer in answers]


def test_register(seed):
    random.seed(seed)
    layouts = [draw() for _ in range(CASES)]
    wrong = []
    for layout, got in zip(layouts, ours([str(layout) for layout in layouts], [layout.shape for layout in layouts])):
        assert places(layout) == by_definition(layout), str(layout)
        if got != places(layout):
            wrong.append((str(layout), got))
    counted("tilus", "RegisterLayout", len(layouts), len(wrong))
    assert not wrong, wrong[:3]


def dims_of(rank, most):
    return random.sample(range(rank), random.randint(1, most))


def draw_operation():
    """An operation as a text of both: the function of Tilus, its arguments."""
    kind = random.choice(["compose", "divide", "left_divide", "permute", "reduce", "concat", "reshape", "flatten", "squeeze", "unsqueeze",
                          "reduce_to", "auto_local_spatial"])  # fmt: skip
    a = draw(most=64)
    rank = len(a.shape)
    if kind == "auto_local_spatial":
        shape = [random.choice([1, 2, 3, 4, 8, 16]) for _ in range(rank)]
        return kind, (random.choice([1, 2, 4, 6, 8, 32]), shape)
    if kind in ("compose", "concat"):
        return kind, (a, draw(rank if kind == "compose" else None, 32))
    if kind in ("divide", "left_divide"):
        b = draw(rank, 16)
        whole = register_ops.compose(a, b) if random.random() < 0.8 else draw(rank)
        return kind, (whole, b if kind == "divide" else a)
    if kind == "permute":
        return kind, (a, random.sample(range(rank), rank))
    if kind == "reduce":
        return kind, (a, sorted(dims_of(rank, rank)), random.random() < 0.5)
    if kind == "reduce_to":
        return kind, (a, [random.choice([1, n]) for n in a.shape])
    if kind == "reshape":
        n = product(a.shape)
        low = random.choice([f for f in range(1, n + 1) if n % f == 0])
        return kind, (a, [n // low, low])
    if kind == "flatten":
        first = random.randrange(rank)
        return kind, (a, first, random.randrange(first, rank))
    if kind == "squeeze":
        ones = [d for d, n in enumerate(a.shape) if n == 1]
        return kind, (a, ones) if ones else draw_operation()[1]
    return "unsqueeze", (a, sorted(dims_of(rank + 1, 1)))


def text_of(argument):
    return str(argument) if not isinstance(argument, list) else "[" + ", ".join(map(str, argument)) + "]"


def right(kind, arguments, made):
    """Is an answer right by the definition? A quotient composes to the whole; a reshape keeps row-major element numbers."""
    whole = arguments[0]
    if kind in ("reshape", "flatten"):
        return by_definition(made) == by_definition(whole)
    if not kind.endswith("divide"):
        return True
    part = arguments[1]
    return places(register_ops.compose(made, part) if kind == "divide" else register_ops.compose(part, made)) == places(whole)


def parsed(text):
    return eval(text, {"RegisterLayout": lambda **lists: tilus.RegisterLayout(**{k: tuple(v) for k, v in lists.items()})})  # noqa: S307


def test_operations(seed):
    random.seed(seed)
    cases = []
    while len(cases) < 2 * CASES:
        kind, arguments = draw_operation()
        try:
            cases.append((kind, arguments, getattr(register_ops, kind)(*arguments)))
        except TypeError:  # the arguments of another operation
            continue
        except Exception as e:  # noqa: BLE001 - Tilus refuses in several ways
            cases.append((kind, arguments, e))
    texts = [f"{kind}({', '.join(map(text_of, arguments))})" for kind, arguments, _ in cases]
    answers = ask({"op": "info", "layout": text} for text in texts)
    got = iter(ours([t for t, a in zip(texts, answers) if a["ok"]], [a["shape"] for a in answers if a["ok"]]))
    both = alone = neither = 0
    wrong, theirs = [], []
    for text, answer, (kind, arguments, made) in zip(texts, answers, cases):
        mine = next(got) if answer["ok"] else None
        if isinstance(made, Exception):
            neither += mine is None
            alone += mine is not None
            if mine is not None and not right(kind, arguments, parsed(answer["text"])):
                wrong.append((text, answer))
        elif mine == places(made):
            both += 1
        elif mine is not None and not right(kind, arguments, made) and right(kind, arguments, parsed(answer["text"])):
            theirs.append((text, str(made), answer))
        else:
            wrong.append((text, str(made), answer))
    counted("tilus", "operations on register layouts", len(cases), len(wrong),
            f"{both} equal, {alone} that Tilus refuses, {neither} that both refuse, {len(theirs)} wrong answers of Tilus")  # fmt: skip
    print(*theirs[:3], sep="\n")
    assert not wrong, wrong[:3]
    assert both >= 150


# ---- shared layouts ----


def draw_shared():
    while True:
        groups = [[random.choice([1, 2, 2, 3, 4, 8]) for _ in range(random.randint(1, 2))] for _ in range(random.randint(1, 3))]
        modes = [m for group in groups for m in group if m > 1]
        if product(modes) <= 512:
            break
    strides, step = [0] * len(modes), 1
    for k in random.sample(range(len(modes)), len(modes)):
        strides[k] = step
        step *= modes[k]
    swizzle = None
    if random.random() < 0.5 and all(m in (2, 4, 8) for m in modes) and step >= 8:
        low = step.bit_length() - 1
        bits = random.randint(1, low // 2)
        base = random.randint(0, low - 2 * bits)
        swizzle = Swizzle(base, bits, random.randint(bits, low - base - bits))
    return tilus.SharedLayout.create([product(group) for group in groups], modes, strides, swizzle)


def expression():
    """An expression that both read."""
    shape = [random.choice([1, 2, 4, 8, 16, 32, 64]) for _ in range(random.randint(2, 3))]
    kind = random.choice(["shared_row_major", "shared_column_major", "shared_row_major_swizzle", "shared_compose"])
    numbers = ", ".join(map(str, shape))
    if kind == "shared_row_major_swizzle":
        return f"{kind}([{numbers}], {random.choice([1, 2, 4])})"
    if kind == "shared_compose":
        other = ", ".join(str(random.choice([1, 2, 4])) for _ in shape)
        return f"{kind}(shared_row_major({numbers}), shared_column_major({other}))"
    return f"{kind}({numbers})"


def test_shared(seed):
    random.seed(seed)
    cases = [(str(layout), layout) for layout in (draw_shared() for _ in range(CASES))]
    refused = 0
    while len(cases) < 2 * CASES:
        text = expression()
        try:
            layout = eval(text, vars(shared_ops).copy())  # noqa: S307
        except Exception:  # noqa: BLE001 - shapes that the swizzle does not take
            refused += 1
            continue
        if product(layout.shape) <= 1 << 13:
            cases.append((text, layout))
    got = places_of([text for text, _ in cases], [layout.shape for _, layout in cases])
    wrong = [(text, mine if isinstance(mine, str) else mine[:9], grid[:9]) for (text, layout), mine in zip(cases, got)
             if (grid := [int(x) for x in layout.as_numpy_grid().reshape(-1)]) != mine]  # fmt: skip
    counted("tilus", "SharedLayout and expressions", len(cases), len(wrong), f"{refused} refused by Tilus")
    assert not wrong, wrong[:3]


def test_known_errors():
    """Tilus 0.2.0: a reshape that splits a mode loses the order: element 1 of this one is at local id 4, and at 1 after Tilus's reshape."""
    layout = tilus.RegisterLayout((8,), (4, 2), (), (1, 0))
    made = register_ops.reshape(layout, [2, 4])
    known_error("tilus", f"reshape({layout}, [2, 4])", made, by_definition(made) == by_definition(layout))
    (places_after,) = ours([f"reshape({layout}, [2, 4])"], [(2, 4)])
    assert places_after == by_definition(layout)
