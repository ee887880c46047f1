# SPDX-License-Identifier: Apache-2.0
"""tesela.cute and tesela.linear: answers against enumeration."""

import itertools
import math
import os
import pickle
import random

import pytest

import tesela
from tesela import cute
from tesela.linear import LinearLayout

SEED = int(os.environ.get("TESELA_SEED", "1"))


def value(extents, strides, flat):
    """shape:stride at a flat coordinate; the last extent is open."""
    place = 0
    for n, s in zip(extents[:-1], strides[:-1]):
        place += flat % n * s
        flat //= n
    return place + flat * strides[-1]


def test_composition_is_the_definition():
    rng, found, refused = random.Random(SEED), 0, 0
    for _ in range(300):
        a = [(rng.choice([2, 3, 4, 6]), rng.randint(0, 9)) for _ in range(rng.randint(1, 3))]
        b = (rng.choice([2, 3, 4, 6, 8]), rng.choice([1, 2, 3, 4]))
        outer, inner = (cute.Layout(tuple(n for n, _ in a), tuple(s for _, s in a)), cute.Layout(*b))
        expected = [value(*zip(*a), i * b[1]) for i in range(b[0])]
        try:
            answer = cute.composition(outer, inner)
        except tesela.NotExpressible:
            refused += 1
            continue
        assert [answer(i) for i in range(b[0])] == expected and answer.size() == b[0], (a, b, answer)
        found += 1
    assert found > 100 and refused > 10


def test_the_names_of_pycute():
    L = cute.Layout((4, 2, 3), (2, 1, 8))
    assert (L.shape, L.stride, L.size(), L.cosize()) == ((4, 2, 3), (2, 1, 8), 24, 24)
    assert str(cute.logical_divide(L, cute.Layout(4, 2))) == "((2,2),(2,3)):((4,1),(2,8))"
    assert str(cute.complement(cute.Layout(4, 2), 24)) == "(2,3):(1,8)"
    assert cute.composition(cute.Layout((6, 4), (4, 1)), cute.Layout((3, 2), (2, 12))) == cute.Layout((3, 2), (8, 2))
    assert cute.Layout((4, 8)).stride == (1, 4) and cute.Layout("20:2").shape == 20 and cute.Layout("(20):(2)").shape == (20,)
    assert (cute.crd2idx((2, 3), (4, 8), (8, 1)), cute.idx2crd(5, (2, 3)), cute.size((4, (2, 3)))) == (19, (1, 2), 24)
    assert all(cute.left_inverse(cute.Layout((3, 2), (2, 3)))(cute.Layout((3, 2), (2, 3))(i)) == i for i in range(6))
    assert pickle.loads(pickle.dumps(L)) == L and eval(repr(L), {"Layout": cute.Layout}) == L
    with pytest.raises(tesela.NotExpressible, match="coordinate 3 is 8"):
        cute.composition(cute.Layout("(4,6,8):(2,3,5)"), cute.Layout("6:3"))


BLOCKED = "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [2, 1], order = [1, 0]}>"


def test_a_linear_layout_is_the_sum_of_its_bases():
    L = LinearLayout.from_encoding(BLOCKED, [32, 16])
    sizes = {name: 2 ** len(rows) for name, rows in L.bases.items()}
    seen = set()
    for values in itertools.product(*map(range, sizes.values())):
        inputs = dict(zip(sizes, values))
        expected = [0, 0]
        for name, x in inputs.items():
            for k, row in enumerate(L.bases[name]):
                if x >> k & 1:
                    expected = [e ^ r for e, r in zip(expected, row)]
        assert list(L.apply(**inputs).values()) == expected
        seen.add(tuple(expected))
    assert len(seen) == 512 and L.is_surjective() and L.is_invertible()
    assert L.compose(L.invert()).apply(register=3, lane=7, warp=1) == {"register": 3, "lane": 7, "warp": 1, "block": 0}
    assert L == LinearLayout.from_encoding(tesela.layout(BLOCKED, (32, 16)))
    assert tesela.layout(BLOCKED, (32, 16)) == L.to_layout()


def test_products_of_linear_layouts():
    a, b = LinearLayout.identity_1d(4, "lane", "x"), LinearLayout.strided_1d(8, 2, "lane", "x")
    for low, high in itertools.product(range(4), range(8)):
        assert (a * b).apply(lane=low + 4 * high) == {"x": low + 4 * b.apply(lane=high)["x"]}
    assert (a * b).divide_left(a) == b and LinearLayout.zeros_1d(4, "lane", "x").apply(lane=3) == {"x": 0}


def test_places_on_several_axes():
    L = tesela.layout(BLOCKED, (32, 16))
    assert L.where(9, 3) == (1, 5, 1) and L.where(9, 3).lane == 5 and L.what((1, 5, 1)) == (9, 3)
    assert tesela.layout("((4,8),(2,2)):((32,1),(16,8))", as_="tv:16x8").where(9, 3) == tesela.Holder(thread=5, register=3)
    assert L == tesela.layout(L.to("cute"), as_="tv:32x16") or L.compare(tesela.layout(L.to("cute"), as_="tv:32x16")).same


def test_einops_is_the_program():
    import numpy as np

    def rearrange(x, pattern, **lengths):
        left, right = pattern.split(" -> ")
        groups = [group.strip("()").split() for group in __import__("re").findall(r"\([^)]*\)|\w+", left)]
        sizes = {}
        for n, group in zip(x.shape, groups):
            known = math.prod(lengths.get(name, 1) for name in group[1:])
            sizes |= {group[0]: n // known} | {name: lengths[name] for name in group[1:]}
        names = [name for group in groups for name in group]
        return x.reshape([sizes[name] for name in names]).transpose([names.index(name) for name in right.split()])

    for text in ("f32[3,5]{1,0:T(2,2)}", "f32[4,6]{0,1}", "f32[4,6]{1,0:T(2,3)}", "f32[5]{0:T(4)}", "f32[2,3,4]{1,2,0}"):
        L = tesela.layout(text)
        x = np.arange(math.prod(L.shape), dtype=np.float32).reshape(L.shape) + 1
        made = eval(L.einops("x"), {"np": np, "rearrange": rearrange, "x": x}).ravel()
        assert made.tolist() == tesela.pack(x, L).physical.tolist(), text
