# SPDX-License-Identifier: Apache-2.0
"""CuTe's DSL of NVIDIA (nvidia-cutlass-dsl): compositions by the post-condition, and the brackets of divisions and products.

Known errors: docs/peers.md.
"""

import ast

import cutlass.cute as cute
from counts import counted
from cute_cases import has_values, judge, known, rank_one, size, tesela, text, value


def of(layout):
    shape, stride = str(layout).split(":")
    return tuple(ast.literal_eval(part.replace(")", ",)")) for part in (shape, stride))


def test_dsl(seed):
    def answer(a, b):
        made = []

        @cute.jit
        def compose():
            left = cute.make_layout(rank_one(a[0]), stride=rank_one(a[1]))
            right = cute.make_layout(rank_one(b[0]), stride=rank_one(b[1]))
            made.append(str(cute.composition(left, right)))

        compose()
        return of(made[0])

    judge("nvidia-cutlass-dsl", answer, seed)


BRACKETS = [
    ("logical_divide", (8, 6), (6, 1), (4, 2)),
    ("zipped_divide", (8, 6), (6, 1), (4, 2)),
    ("tiled_divide", (8, 6), (6, 1), (4, 2)),
    ("flat_divide", (8, 6), (6, 1), (4, 2)),
    ("zipped_divide", (8, 6), (6, 1), (4,)),
    ("zipped_divide", (8, 6, 5), (30, 5, 1), (2, 3)),
    ("flat_divide", (12, 8), (1, 12), (3, 4)),
]
PRODUCTS = ["logical_product", "zipped_product", "tiled_product", "flat_product", "blocked_product", "raked_product"]
BLOCKS = [((2, 5), (5, 1), (3, 4), (1, 3)), ((2, 2), (2, 1), (3, 4), (4, 1)), (4, 1, (2, 3), (1, 2)), ((4, 2), (1, 4), 3, 1)]


def test_brackets():
    made = []

    @cute.jit
    def compute():
        def layout(shape, stride):
            return cute.make_layout(shape, stride=stride)

        for do, shape, stride, tile in BRACKETS:
            made.append((do, [str(layout(shape, stride)), f"<{','.join(map(str, tile))}>"], str(getattr(cute, do)(layout(shape, stride), tile))))
        for do in PRODUCTS:
            for a, d, b, e in BLOCKS:
                made.append((do, [str(layout(a, d)), str(layout(b, e))], str(getattr(cute, do)(layout(a, d), layout(b, e)))))

    compute()
    answers = tesela([{"op": "cute", "do": do, "args": args} for do, args, _ in made])
    wrong = [(case, answer.get("result", answer)) for case, answer in zip(made, answers) if case[2] != answer.get("result")]
    counted("nvidia-cutlass-dsl", "divisions and products", len(made), len(wrong))
    assert not wrong, wrong[:3]


def test_known_errors():
    def composed(a, b):
        made = []

        @cute.jit
        def compute():
            made.append(str(cute.composition(cute.make_layout(a[0], stride=a[1]), cute.make_layout(b[0], stride=b[1]))))

        compute()
        return of(made[0])

    def check(a, b):
        case = f"composition {text(*a)} o {text(*b)}"
        values = [value(*a, value(*b, i)) for i in range(size(b[0]))]
        known("nvidia-cutlass-dsl", case, lambda: composed(a, b), has_values(values))

    check(((4, 6, 8), (2, 3, 5)), (6, 3))
    check(((2, 5, 2), (5, 1, 0)), ((6, 5), (1, 2)))
