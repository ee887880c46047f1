# SPDX-License-Identifier: Apache-2.0
"""pycute and tensor-layouts: compositions by the post-condition, and the brackets of divisions and products.

Known errors: docs/peers.md.
"""

import random

import pycute
import tensor_layouts
from counts import counted
from cute_cases import has_values, inverts, judge, known, rank_one, tesela, text


def of(layout):
    return layout.shape, layout.stride


def test_pycute(seed):
    def answer(a, b):
        return of(pycute.composition(pycute.Layout(*map(rank_one, a)), pycute.Layout(*map(rank_one, b))))

    judge("nvidia-cutlass", answer, seed)


def test_tensor_layouts(seed):
    def answer(a, b):
        return of(tensor_layouts.compose(tensor_layouts.Layout(*map(rank_one, a)), tensor_layouts.Layout(*map(rank_one, b))))

    judge("tensor-layouts", answer, seed)


FORMS = ["logical_divide", "zipped_divide", "tiled_divide", "logical_product", "zipped_product", "tiled_product"]


def draw_pair(product):
    """A compact layout, one mode fastest or another, and a tiler with a layout for each of the first modes."""
    shape = tuple(random.choice([4, 6, 8, 12]) for _ in range(random.randint(2, 3)))
    stride, step = [0] * len(shape), 1
    for k in random.sample(range(len(shape)), len(shape)):
        stride[k] = step
        step *= shape[k]
    tiler = []
    for extent in shape[: random.randint(1, len(shape))]:
        part = random.choice([f for f in (2, 3, 4) if extent % f == 0])
        tiler.append((part, 1 if product else random.choice([1, extent // part])))
    return shape, tuple(stride), tiler


def test_brackets(seed):
    """The same texts as pycute, where strides nest and both answer."""
    random.seed(seed)
    wanted, requests, refused = [], [], 0
    for _ in range(600):
        form = random.choice(FORMS)
        shape, stride, tiler = draw_pair(form.endswith("product"))
        try:
            layouts = tuple(pycute.Layout(*mode) for mode in tiler)
            made = getattr(pycute, form)(pycute.Layout(shape, stride), layouts)
        except AssertionError:
            refused += 1
            continue
        wanted.append(text(*of(made)))
        tiles = "<" + ",".join(text(*mode) for mode in tiler) + ">"
        requests.append({"op": "cute", "do": form, "args": [text(shape, stride), tiles]})
    answers = [answer.get("result", answer) for answer in tesela(requests)]
    wrong = [(r["do"], r["args"], w, a) for r, w, a in zip(requests, wanted, answers) if w != a]
    counted("nvidia-cutlass", "divisions and products", len(requests), len(wrong), f"{refused} refused by pycute")
    assert not wrong, wrong[:3]
    assert len(requests) >= 150


def test_known_errors():
    def composed(a, b):
        return lambda: of(pycute.composition(pycute.Layout(*a), pycute.Layout(*b)))

    def composed_by_tensor_layouts(a, b):
        return lambda: of(tensor_layouts.compose(tensor_layouts.Layout(*a), tensor_layouts.Layout(*b)))

    a, b, values = ((4, 2), (0, 1)), ((2, 3), (2, 1)), [0, 0, 0, 0, 0, 1]
    known("nvidia-cutlass", "composition (2,2):(1,3) o 3:1", composed(((2, 2), (1, 3)), (3, 1)), has_values([0, 1, 3]))
    known("nvidia-cutlass", "composition (4,2):(0,1) o (2,3):(2,1)", composed(a, b), has_values(values))
    known("tensor-layouts", "compose (4,2):(0,1) o (2,3):(2,1)", composed_by_tensor_layouts(a, b), has_values(values))
    for peer, module in (("nvidia-cutlass", pycute), ("tensor-layouts", tensor_layouts)):
        inverse = lambda module=module: of(module.left_inverse(module.Layout((3, 2), (2, 3))))
        known(peer, "left_inverse (3,2):(2,3)", inverse, inverts((3, 2), (2, 3)))
