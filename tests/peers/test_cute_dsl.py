# SPDX-License-Identifier: Apache-2.0
"""CuTe's DSL of NVIDIA (nvidia-cutlass-dsl): compositions by the post-condition, and the brackets of divisions and products.

Known errors (4.8.1): (4,6,8):(2,3,5) o 6:3 gives (2,3):(6,3), which is 9 at coordinate 3; the value is 8. (2,5,2):(5,1,0) o (6,5):(1,2)
gives ((2,3),5):((5,1),1), which is 5 at coordinate 22; the value is 0.
"""

import ast

import cutlass.cute as cute
from cute_cases import judge, rank_one, tesela


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
    print(f"{len(made)} divisions and products, {len(wrong)} disagree")
    assert not wrong, wrong[:3]


def test_known_errors():
    made = []

    @cute.jit
    def compute():
        left = cute.make_layout((4, 6, 8), stride=(2, 3, 5))
        made.append(str(cute.composition(left, cute.make_layout(6, stride=3))))

    compute()
    assert made == ["(2,3):(6,3)"]
