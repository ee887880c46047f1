# SPDX-License-Identifier: Apache-2.0
"""`tesela graph assign --loops` where a place cannot be said; the operation graph_loops against the definition of sticks."""

import itertools
import json

from command import error, good, run


def stick_place(index, size, stick):
    """The place of an element of f16 in sticks of 64 along a dim: blocks of that dim, the other dims in order, lanes."""
    place = index[stick] // 64
    for dim, at in enumerate(index):
        if dim != stick:
            place = place * size[dim] + at
    return place * 64 + index[stick] % 64


def counted(loops):
    """(index, counters) of every set of counters that is not padding."""
    for counters in itertools.product(*(range(extent) for extent in loops["ranges"])):
        index = [0] * len(loops["extents"])
        for dim, step, counter in zip(loops["dims"], loops["steps"], counters, strict=True):
            index[dim] += step * counter
        if all(at < extent for at, extent in zip(index, loops["extents"], strict=True)):
            yield index, counters


def place_of(tensor, counters):
    return tensor["offset"] + sum(stride * counter for stride, counter in zip(tensor["strides"], counters, strict=True))


def test_loops_are_those_of_the_definition():
    """Each index once, and every place where sticks put the element that the operator reads or writes."""
    program = {
        "target": "spyre",
        "inputs": {"x": {"size": [3, 70], "dtype": "f16", "stick": 1}, "w": {"size": [70, 5], "dtype": "f16", "stick": 1}},
        "ops": [
            {"op": "matmul", "out": "y", "in": ["x", "w"]},
            {"op": "slice", "out": "part", "in": ["y"], "start": [1, 0], "length": [2, 5]},
            {"op": "pointwise", "fn": "neg", "out": "n", "in": ["part"]},
        ],
        "outputs": ["n"],
    }
    answer = good({"op": "graph_loops", "graph": program})
    y, n = answer["loops"]
    assert (y["name"], y["extents"], y["folded"]) == ("y", [3, 5, 70], 2)
    assert sorted(index for index, _ in counted(y)) == [list(index) for index in itertools.product(range(3), range(5), range(70))]
    for (i, j, k), counters in counted(y):
        assert place_of(y["result"], counters) == stick_place([i, j], [3, 5], 1)
        assert place_of(y["operands"][0], counters) == stick_place([i, k], [3, 70], 1)
        assert place_of(y["operands"][1], counters) == stick_place([k, j], [70, 5], 1)
    assert [tensor["buffer"] for tensor in (n["result"], n["operands"][0])] == ["n", "y"]
    assert sorted(index for index, _ in counted(n)) == [[i, j] for i in range(2) for j in range(5)]
    for (i, j), counters in counted(n):
        assert place_of(n["operands"][0], counters) == stick_place([i + 1, j], [3, 5], 1)
    assert good({"op": "graph_loops", "graph": program, "node": "n"})["loops"] == [n]
    assert error({"op": "graph_loops", "graph": program, "node": "part"})["code"] == "UNSUPPORTED"
    assert error({"op": "graph_loops", "graph": program, "node": "m"})["message"] == "unknown node 'm'; expected x, w, y, part, n"
    assert error({"op": "graph_loops", "graph": program, "node": "pert"})["message"] == "unknown node 'pert'; did you mean part?"
    for cores in (0, -1, 65537, 2**40):
        assert error({"op": "graph_loops", "graph": program, "cores": cores})["code"] == "RANGE"


def test_a_place_that_is_no_sum_is_null():
    """[4,3] read as [2,6]: column j is column j % 3, half a row further from 3 on, and columns lie further apart than rows."""
    program = {
        "target": "spyre",
        "inputs": {"x": {"size": [4, 3, 64], "dtype": "f16", "stick": 2}},
        "ops": [
            {"op": "pointwise", "fn": "neg", "out": "a", "in": ["x"]},
            {"op": "reshape", "out": "r", "in": ["a"], "size": [2, 6, 64]},
            {"op": "pointwise", "fn": "neg", "out": "b", "in": ["r"]},
        ],
        "outputs": ["b"],
    }
    b = good({"op": "graph_loops", "graph": program, "node": "b"})["loops"][0]
    assert b["operands"] == [{"buffer": "a", "strides": None, "offset": None}]
    assert b["result"]["strides"] is not None and "%" in b["source"]


def test_a_window_over_the_border_of_a_view_across_dims(tmp_path):
    """The first piece is read backwards through a reshape of two dims; the counters of the result go on beyond it."""
    program = {
        "target": "spyre",
        "inputs": {"x": {"size": [2, 2, 7, 2], "dtype": "f32", "stick": -1}, "y": {"size": [3, 2, 2], "dtype": "f32", "stick": -1}},
        "ops": [
            {"op": "reshape", "out": "r", "in": ["x"], "size": [4, 7, 2]},
            {"op": "slice", "out": "s", "in": ["r"], "start": [2, 1, 0], "step": [-1, 1, 1], "length": [2, 2, 2]},
            {"op": "cat", "out": "c", "in": ["s", "y"], "dims": [0]},
        ],
        "outputs": ["c"],
    }
    (tmp_path / "program.json").write_text(json.dumps(program))
    done = run("graph", "assign", tmp_path / "program.json", "--loops=c")
    assert done.returncode == 2 and done.stdout == b""
    assert b"a view across dims has no layout" in done.stderr
    (loops,) = good({"op": "graph_loops", "graph": program})["loops"]
    assert loops["source"] is None and loops["operands"][0]["strides"] is None and loops["result"]["strides"] is not None
    assert "a view across dims" in error({"op": "graph_loops", "graph": program, "node": "c"})["message"]
    assert run("graph", "run", tmp_path / "program.json").returncode == 0
