# SPDX-License-Identifier: Apache-2.0
"""The operation linear_layout: each `do`, Triton's own bases of its encodings, refusals with an example."""

import itertools

import pytest
from command import ask, error, good, one

BLOCKED = "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [2, 1], order = [1, 0]}>"
FRAGMENT = "register [[0,1],[8,0]], lane [[0,2],[0,4],[1,0],[2,0],[4,0]]"


def linear(do, **fields):
    return {"op": "linear_layout", "do": do} | fields


def layout(outs, **bases):
    return {"bases": bases, "outs": outs}


I4 = layout([["o", 4]], i=[[1], [2]])
I2 = layout([["o", 2]], i=[[1]])
ZERO = layout([["o", 1]], i=[[0]])


# What Triton 3.9 itself has.
@pytest.mark.parametrize(
    "text, shape, bases",
    [
        (
            BLOCKED,
            [32, 16],
            {"register": [[0, 1], [0, 8], [16, 0]], "lane": [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], "warp": [[8, 0]], "block": []},
        ),
        (
            "#ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 4, order = [1, 0]}>",
            [4, 8],
            {"offset": [[0, 1], [0, 2], [0, 4], [1, 2], [2, 4]], "block": []},
        ),
        (
            f"#ttg.slice<{{dim = 0, parent = {BLOCKED}}}>",
            [16],
            {"register": [[1], [8]], "lane": [[2], [4], [0], [0], [0]], "warp": [[0]], "block": []},
        ),
    ],
)
def test_encodings_have_the_bases_of_triton(text, shape, bases):
    found = good(linear("from_encoding", text=text, shape=shape))["layout"]
    assert list(found["bases"].items()) == list(bases.items())
    assert found["outs"] == [[f"dim{k}", extent] for k, extent in enumerate(shape)]


@pytest.mark.parametrize(
    "request_, answer",
    [
        (linear("from_bases", a=layout(["x", "y"], i=[[5, 1], [2, 0], [4, 0], [1, 2]], j=[[1, 0]])), [["x", 8], ["y", 4]]),
        (linear("identity1d", size=4, ins=["i"], out="o"), I4),
        (linear("strided1d", size=4, stride=2, ins=["i"], out="o"), layout([["o", 8]], i=[[2], [4]])),
        (linear("zeros1d", size=4, ins=["i"], out="o", out_size=2), layout([["o", 2]], i=[[0], [0]])),
        (linear("product", a=I4, b=I2), layout([["o", 8]], i=[[1], [2], [4]])),
        (linear("product", a=I4, b=ZERO), layout([["o", 4]], i=[[1], [2], [0]])),
        (linear("product", a=ZERO, b=I4), layout([["o", 4]], i=[[0], [1], [2]])),
        (linear("compose", a=layout([["i", 4]], x=[[2], [1]]), b=layout([["o", 4]], i=[[3], [1]])), layout([["o", 4]], x=[[1], [3]])),
        (linear("invert", a=layout([["o", 4]], i=[[3], [1]])), layout([["i", 4]], o=[[2], [3]])),
        (linear("pseudoinvert", a=layout([["o", 2]], i=[[0], [1], [1]])), layout([["i", 8]], o=[[2]])),
        (
            linear("invert_and_compose", a=layout([["o", 4]], x=[[1], [2]]), b=layout([["o", 4]], y=[[2], [1], [3]])),
            layout([["y", 8]], x=[[2], [1]]),
        ),
        (linear("divide_left", a=layout([["o", 8]], i=[[1], [2], [4]]), b=I2), layout([["o", 4]], i=[[1], [2]])),
        (
            linear("quotient", a=layout([["o", 2], ["block", 2]], i=[[1, 0]], block=[[0, 1]]), over=["block"]),
            layout([["o", 2]], i=[[1]]),
        ),
        (
            linear("sublayout", a=layout([["o", 2], ["p", 4]], i=[[1, 3]], j=[[0, 1]]), ins=["i"], outs=["p"]),
            layout([["p", 4]], i=[[3]]),
        ),
        (linear("reshape_ins", a=FRAGMENT, new=[["thread", 128]]), {"thread": [[0, 1], [8, 0], [0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]}),
        (linear("flatten_ins", a=layout([["o", 4]], i=[[1]], j=[[2]])), layout([["o", 4]], i=[[1], [2]])),
        (linear("reshape_outs", a=I4, new=[["x", 2], ["y", 2]]), layout([["x", 2], ["y", 2]], i=[[1, 0], [0, 1]])),
        (linear("flatten_outs", a=layout([["x", 2], ["y", 4]], i=[[1, 2]])), layout([["x", 8]], i=[[5]])),
        (linear("transpose_ins", a=layout([["o", 4]], i=[[1]], j=[[2]]), order=["j", "i"]), layout([["o", 4]], j=[[2]], i=[[1]])),
        (
            linear("transpose_outs", a=layout([["x", 2], ["y", 4]], i=[[1, 2]]), order=["y", "x"]),
            layout([["y", 4], ["x", 2]], i=[[2, 1]]),
        ),
        (
            linear("permute_columns", a=layout([["o", 8]], i=[[1], [2], [4]]), dim="i", action=[2, 0, 1]),
            layout([["o", 8]], i=[[4], [1], [2]]),
        ),
    ],
)
def test_layouts(request_, answer):
    found = good(request_)["layout"]
    if isinstance(answer, list):
        assert found["outs"] == answer
    elif "bases" not in answer:
        assert found["bases"] == answer
    else:
        assert list(found["bases"].items()) == list(answer["bases"].items()) and found["outs"] == answer["outs"]


@pytest.mark.parametrize(
    "request_, value",
    [
        (linear("apply", a=FRAGMENT, at={"register": 3, "lane": 5}), {"dim0": 9, "dim1": 3}),
        (linear("quotient_exists", a=layout([["o", 2], ["b", 2]], i=[[1, 1]], b=[[0, 1]]), over=["b"]), False),
        (linear("quotient_exists", a=layout([["o", 2], ["b", 2]], i=[[1, 0]], b=[[0, 1]]), over=["b"]), True),
        (linear("sublayout_is_zero", a=layout([["o", 2], ["p", 4]], i=[[1, 0]], j=[[0, 1]]), ins=["i"], outs=["p"]), True),
        (linear("sublayout_is_zero", a=FRAGMENT), False),
        (linear("free_variable_masks", a=layout([["o", 4]], i=[[0], [1]], j=[[1], [2], [3]])), {"i": 1, "j": 5}),
        (linear("num_consecutive_in_out", a=layout([["o", 8]], i=[[1], [2], [0]], j=[[4]])), 4),
        (linear("equal", a=I4, b=layout([["o", 8]], i=[[1], [2]])), False),
        (linear("equal_ignoring_out_sizes", a=I4, b=layout([["o", 8]], i=[[1], [2]])), True),
        (linear("is_injective", a=I4), True),
        (linear("is_surjective", a=layout([["o", 8]], i=[[1], [2]])), False),
        (linear("is_invertible", a=I4), True),
        (linear("is_injective", a=layout([["o", 2]], i=[[1], [1]])), False),
    ],
)
def test_values(request_, value):
    assert good(request_)["value"] == value


def test_values_are_permuted_as_columns():
    assert good(linear("permute_values", action=[2, 0, 1], values=list(range(8))))["values"] == [0, 4, 1, 5, 2, 6, 3, 7]


def xor(layout, values):
    out = [0] * len(layout["outs"])
    for value, rows in zip(values, layout["bases"].values(), strict=True):
        for k, row in enumerate(rows):
            out = [a ^ b if value >> k & 1 else a for a, b in zip(out, row, strict=True)]
    return out


def test_a_layout_becomes_a_text_with_its_elements():
    """The element at each register and lane is the XOR of the bases."""
    a = layout([["dim0", 8], ["dim1", 4]], register=[[0, 1], [4, 0]], lane=[[1, 2], [2, 0], [1, 0]])
    text = good(linear("to_layout", a=a))["text"]
    assert text.startswith("[8,4] #ttg.linear<{register = [[0, 1], [4, 0]], lane = [[1, 2], [2, 0], [1, 0]]")
    places = [list(place) for place in itertools.product(range(4), range(8))]
    found = good({"op": "what", "layout": text, "places": [[*place, 0] for place in places]})["indices"]
    assert found == [xor(a, place) for place in places]
    assert good({"op": "same", "a": text, "b": good(linear("to_layout", a=a))["text"]})["same"]
    assert good(linear("from_encoding", text=text))["layout"]["bases"]["lane"] == a["bases"]["lane"]


@pytest.mark.parametrize(
    "request_, code, example",
    [
        (linear("invert", a=layout([["o", 4]], i=[[1], [1]])), "NOT_INJECTIVE", {"in": {"i": 3}, "out": {"o": 0}}),
        (linear("invert", a=layout([["o", 4]], i=[[1]])), "NOT_SURJECTIVE", {"out": {"o": 2}}),
        (linear("pseudoinvert", a=layout([["o", 4]], i=[[3]])), "NOT_SURJECTIVE", {"out": {"o": 1}}),
        (linear("from_bases", a=layout(["o"], i=[[1], [4]])), "NOT_SURJECTIVE", {"out": {"o": 2}}),
        (
            linear("invert_and_compose", a=I4, b=layout([["o", 4]], j=[[1]])),
            "NOT_SURJECTIVE",
            {"in": {"i": 2}, "out": {"o": 2}},
        ),
        (linear("divide_left", a=layout([["o", 4]], i=[[2], [1]]), b=I2), "NOT_DIVISIBLE", {"in": {"i": 1}, "out": {"o": 2}}),
        (
            linear("quotient", a=layout([["o", 2], ["b", 2]], i=[[1, 1]], b=[[0, 1]]), over=["b"]),
            "NOT_DIVISIBLE",
            {"in": {"i": 1, "b": 0}, "out": {"o": 1, "b": 1}},
        ),
        (linear("to_layout", a=layout([["o", 4]], i=[[1]])), "NOT_SURJECTIVE", None),
        (linear("from_encoding", text="(4,8):(9,1)"), "UNSUPPORTED", {"index": [1, 1], "place": 10, "expected": 8}),
        (linear("compose", a=I4, b=I4), "MISMATCH", None),
        (linear("product", a=layout([["o", 1]], i=[[0]], j=[[0]]), b=layout([["o", 1]], j=[[0]], i=[[0]])), "MISMATCH", None),
    ],
)
def test_refusals_have_an_example(request_, code, example):
    answer = one(request_)
    assert not answer["ok"] and answer["error"]["code"] == code
    assert answer.get("counter_example") == example


@pytest.mark.parametrize(
    "fields, words",
    [
        ({"do": "inverse"}, "unknown do 'inverse'; did you mean invert?"),
        ({"do": "invert"}, "needs field a"),
        ({"do": "apply", "a": I4}, "needs field at"),
        ({"do": "apply", "a": I4, "at": {"j": 1}}, "the value of i is nothing"),
        ({"do": "apply", "a": I4, "at": {"i": 4}}, "i is 4; expected 0 to 3"),
        ({"do": "invert", "a": 3}, "expected a linear layout, found integer"),
        ({"do": "invert", "a": {"bases": {}}}, "expected {"),
        ({"do": "invert", "a": layout([["o", 3]], i=[[1]])}, "expected a power of two"),
        ({"do": "invert", "a": layout([["o", 4]], i=[[1, 2]])}, "is not a list of 1 numbers"),
        ({"do": "invert", "a": layout([["o", 4]], i=[["x"]])}, "expected integers"),
        ({"do": "invert", "a": layout([["o", 4]], i=[[4]])}, "o is 4; expected 0 to 3"),
        ({"do": "invert", "a": layout([["o", 4]], **{"": [[1]]})}, "a name has 0 bytes"),
        ({"do": "invert", "a": "lane [[1]"}, "expected ',' or ']'"),
        ({"do": "transpose_ins", "a": FRAGMENT, "order": ["lane"]}, "order has 1 dims; the layout has 2"),
        ({"do": "transpose_ins", "a": FRAGMENT, "order": ["lane", "warp"]}, "unknown dim 'warp'"),
        ({"do": "reshape_ins", "a": FRAGMENT, "new": [["thread", 64]]}, "2^6 values, the layout has 2^7"),
        ({"do": "permute_values", "action": [0], "values": [1, 2, 3]}, "3 values; expected a power of two"),
        ({"do": "strided1d", "size": 3, "stride": 1, "ins": ["i"], "out": "o"}, "size is 3; expected a power of two"),
        ({"do": "identity1d", "size": 2, "ins": ["i", "j"], "out": "o"}, "expected one name, found 2"),
    ],
)
def test_wrong_requests_are_refused(fields, words):
    assert words in error({"op": "linear_layout"} | fields)["message"]


def test_requests_are_answered_in_order():
    answers = ask(*[linear("identity1d", size=1 << k, ins=["i"], out="o") for k in range(10)])
    assert [len(answer["layout"]["bases"]["i"]) for answer in answers] == list(range(10))
