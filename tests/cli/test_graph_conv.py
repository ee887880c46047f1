# SPDX-License-Identifier: Apache-2.0
"""conv2d with other numbers of spatial dims, groups, and pool, in JSON: read, printed back, run."""
import json

import pytest

from command import run


def tesela(tmp_path, words, given):
    """Exit status, standard output and standard error as text."""
    (tmp_path / "program.json").write_text(json.dumps(given))
    done = run("graph", *words, tmp_path / "program.json")
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def program(x, w, conv, **more):
    inputs = {"x": {"size": x, "dtype": "f16"}}
    op = {"op": "pool", "out": "y", "in": ["x"], **more}
    if w:
        inputs["w"] = {"size": w, "dtype": "f16"}
        op = {"op": "conv2d", "out": "y", "in": ["x", "w"], **({"conv": conv} if conv else {})}
    return {"target": "spyre", "inputs": inputs, "ops": [op], "outputs": ["y"]}


# x, w, conv, shape of the result, by hand
ROWS = [
    ([2, 4, 8, 9], [6, 4, 3, 3], None, [2, 6, 6, 7]),
    ([2, 4, 9], [6, 4, 3], {"x": "ncw", "w": "oiw", "result": "ncw"}, [2, 6, 7]),
    ([2, 4, 9], [6, 4, 3], {"stride": [2]}, [2, 6, 4]),
    ([2, 9, 4], [3, 4, 6], {"x": "nwc", "w": "wio", "result": "ncw", "low": [1]}, [2, 6, 8]),
    ([1, 2, 4, 5, 6], [3, 2, 2, 2, 2], {"x": "ncdhw"}, [1, 3, 3, 4, 5]),
    ([2, 8, 9, 3, 4], [3, 3, 3, 4, 5], {"x": "nhwgc", "w": "hwgio", "result": "nhwgc"}, [2, 6, 7, 3, 5]),
    ([2, 8, 9, 5], [3, 3, 5], {"x": "nhwg", "w": "hwg", "result": "nhwg"}, [2, 6, 7, 5]),
    ([2, 8, 9, 5], [3, 3, 5, 2], {"x": "nhwg", "w": "hwgo", "result": "nhwgc"}, [2, 6, 7, 5, 2]),
    ([2, 4, 5, 6], [7, 4, 3, 3], {"x_dilation": [2, 3], "low": [1, 0], "high": [1, 0]}, [2, 7, 9, 14]),
]


def back(tmp_path, given):
    """The last operator as it is printed; the print is run."""
    status, text, words = tesela(tmp_path, ["assign", "--materialise", "--spread", "--json"], given)
    assert status == 0, words
    graph = json.loads(text)["graph"]
    status, text, words = tesela(tmp_path, ["run", "--materialise", "--spread"], graph)
    assert status == 0, words
    assert "same bits" in text
    return next(op for op in graph["ops"] if op["out"] == "y")


@pytest.mark.parametrize("x,w,conv,shape", ROWS)
def test_conv_by_rows(tmp_path, x, w, conv, shape):
    op = back(tmp_path, program(x, w, conv))
    status, table, words = tesela(tmp_path, ["assign", "--materialise", "--spread"], program(x, w, conv))
    assert status == 0, words
    assert "f16[" + ",".join(map(str, shape)) + "]" in table
    assert op["op"] == "conv2d"
    for key, value in (conv or {}).items():
        assert op["conv"][key] == value


def test_pool(tmp_path):
    windows = {"length": [1, 3, 2, 1], "step": [1, 2, 1, 1], "low": [0, 1, 0, 0], "high": [0, 0, 1, 0],
               "dilation": [1, 1, 2, 1], "x_dilation": [1, 1, 1, 1]}
    op = back(tmp_path, program([2, 8, 9, 64], None, None, fn="max", **windows))
    assert op["op"] == "pool" and op["fn"] == "max"
    assert {key: op[key] for key in windows} == windows


@pytest.mark.parametrize("conv,words", [
    ({"x": "nchwx"}, "order of the letters nc"),
    ({"x": "nchx"}, "missing letter w"),
    ({"x": "ncw", "w": "oih"}, "missing letter w"),
    ({"x": "ncdhwh"}, "4 spatial dims"),
    ({"stride": [1, 1, 1, 1]}, "stride"),
    ({"x": "nghw"}, "groups"),
    ({"x": "nhwc", "stride": [1]}, "stride has 1 numbers; expected 2"),
])
def test_conv_refused(tmp_path, conv, words):
    status, _, said = tesela(tmp_path, ["assign"], program([2, 4, 8, 9], [6, 4, 3, 3], conv))
    assert status != 0
    assert words in said
