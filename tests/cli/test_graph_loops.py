# SPDX-License-Identifier: Apache-2.0
"""`tesela graph assign --loops` where a place cannot be said."""

import json

from command import run


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
    assert run("graph", "run", tmp_path / "program.json").returncode == 0
