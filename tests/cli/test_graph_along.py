# SPDX-License-Identifier: Apache-2.0
"""Sorts, cumulative sums and products, and operators known by opcode, through `tesela graph`, `query` and target files."""

import itertools
import json

import pytest
from command import error, good, run

X = {"size": [4, 5, 130], "dtype": "f16", "stick": 2}


def program(*ops, outputs=None, inputs=None):
    return {"inputs": inputs or {"x": X}, "ops": list(ops), "outputs": outputs or [op["out"] for op in ops]}


def along(fn, **more):
    return {"op": "along", "fn": fn, "out": "y", "in": ["x"], **more}


def done(*words, cwd=None):
    """Exit status, standard output and standard error as text."""
    process = run(*words, cwd=cwd)
    return process.returncode, process.stdout.decode(), process.stderr.decode()


def propagate(graph, mode="auto", **more):
    return good({"op": "propagate", "graph": graph, "mode": mode, **more})


@pytest.mark.parametrize("fn", ["cumsum", "cumprod", "cummax", "cummin", "sort", "argsort"])
@pytest.mark.parametrize("dim", [0, 1, 2, -1])
def test_the_stick_is_any_dim_but_the_line(fn, dim):
    """Which sticks a cheapest plan can have: as it comes, or every other dim after one move."""
    answer = propagate(program(along(fn, dim=dim, reverse=True)))
    line = dim % 3
    want = [2] if line != 2 else [0, 1]
    assert answer["output_sticks"] == {"y": want}
    assert answer["restickifies"] == (line == 2)
    assert answer["restickify_elems"] == (4 * 5 * 192 if line == 2 else 0)


def test_an_unknown_one_needs_all_operands_alike():
    graph = program({"op": "along", "opcode": "median", "out": "y", "in": ["x", "z"], "dim": 2, "length": 1})
    graph["inputs"]["z"] = {**X, "stick": 1}
    answer = propagate(graph)
    assert (answer["restickifies"], answer["output_sticks"]) == (1, {"y": [1]})


def test_what_is_printed_reads_again(tmp_path):
    ops = [
        {"op": "along", "fn": fn, "out": f"{fn}{dim}", "in": ["x"], "dim": dim, "reverse": reverse}
        for (fn, reverse), dim in itertools.product([("sort", True), ("argsort", False), ("cumsum", True)], [0, 1, 2])
    ]
    ops[0]["length"] = 2
    ops.append({"op": "along", "opcode": "mode", "out": "m", "in": ["x", "x"], "dim": 0, "length": 9})
    (tmp_path / "g.json").write_text(json.dumps(program(*ops)))
    first = json.loads(done("graph", "assign", "g.json", "--json", cwd=tmp_path)[1])
    (tmp_path / "again.json").write_text(json.dumps(first["graph"]))
    second = json.loads(done("graph", "assign", "again.json", "--json", cwd=tmp_path)[1])
    assert second["graph"]["ops"] == first["graph"]["ops"] and second["cost"] == 0
    printed = {op["out"]: op for op in first["graph"]["ops"]}
    assert (printed["sort0"]["length"], printed["sort0"]["reverse"], printed["sort0"]["dims"]) == (2, True, [0])
    assert (printed["m"]["length"], printed["m"]["opcode"]) == (9, "mode") and "reverse" not in printed["m"]
    assert printed["argsort1"]["dtype"] == "s32" and printed["argsort1"]["length"] == 5


def test_it_runs_in_json_and_as_hlo_text(tmp_path):
    ops = [
        {"op": "along", "fn": "sort", "out": "top", "in": ["x"], "dim": 2, "length": 7, "reverse": True},
        {"op": "along", "fn": "argsort", "out": "at", "in": ["x"], "dim": 1},
        {"op": "along", "fn": "cumsum", "out": "c", "in": ["top"], "dim": 0},
        {"op": "reduce", "fn": "prod", "out": "p", "in": ["c"], "dims": [2]},
    ]
    (tmp_path / "g.json").write_text(json.dumps(program(*ops, outputs=["at", "c", "p"])))
    status, plain, _ = done("graph", "run", "g.json", cwd=tmp_path)
    assert status == 0 and plain.count("same bits") == 3
    assert "0 padding elements read" in plain
    (tmp_path / "g.hlo").write_text(done("graph", "assign", "g.json", "--hlo", cwd=tmp_path)[1])
    status, again, _ = done("graph", "run", "g.hlo", cwd=tmp_path)
    assert status == 0 and again.splitlines()[:4] == plain.splitlines()[:4]  # the same digests


REFUSED = [
    ({"length": 131}, "the first 131 elements of dim 2"),
    ({"length": [1, 2]}, "length has 2 numbers; expected 1"),
    ({"dim": 3}, "dim 3 is out of range"),
    ({"dims": [0, 1]}, "along 2 dims"),
    ({"fn": "sum"}, "sum does not run along a dim"),
    ({"fn": "sorts"}, "did you mean sort?"),
    ({"reverse": 3}, "reverse"),
]


@pytest.mark.parametrize("change, says", REFUSED)
def test_refused(change, says):
    message = error({"op": "propagate", "graph": program({**along("sort"), **change}), "mode": "auto"})["message"]
    assert says in message


# ---- rules by opcode ----


def test_rules_are_listed():
    rows = json.loads(done("formats", "--rules", "--json")[1])
    assert {"op": "reduce", "fn": "prod", "operand": "all", "needs": "unfolded"} in rows
    assert {"op": "fallback", "opcode": "exx2", "operand": "result", "is": "sparse"} in rows
    assert {"op": "reduce", "operand": "all", "needs": "clean"} in rows


def test_a_target_file_says_what_an_unknown_operator_needs(tmp_path):
    graph = program(
        {"op": "fallback", "opcode": "swish", "out": "y", "in": ["x"], "size": [64, 128], "dtype": "f16"},
        inputs={"x": {"size": [64, 128], "dtype": "f16", "stick": 0}},
    )
    (tmp_path / "g.json").write_text(json.dumps(graph))

    def assign(lines):
        (tmp_path / "t.target").write_text("target t\nlike spyre\n" + lines)
        answer = json.loads(done("graph", "assign", "g.json", "--target=t.target", "--json", cwd=tmp_path)[1])
        made = {op["out"]: op for op in answer["graph"]["ops"]} if answer["ok"] else {}
        return answer["ok"], answer.get("cost"), made["y"]["layout"]["stick"] if made else None

    assert assign("") == (True, 0, 1)  # nothing is known: any operand, the default result
    keeps = 'rule fallback "swish" all needs result\nrule fallback "swish" result is survives\n'
    assert assign(keeps) == (True, 0, 0)
    assert assign(keeps + 'rule fallback "swish" 0 needs last\n') == (True, 8192, 1)
    assert assign(keeps.replace("swish", "other")) == (True, 0, 1)
    graph["ops"][0]["size"] = [64, 64]
    (tmp_path / "g.json").write_text(json.dumps(graph))
    assert assign(keeps)[0] is False
    said = done("graph", "assign", "g.json", "--target=t.target", cwd=tmp_path)[1]
    assert "swish does not tell how their dims correspond" in said


def test_a_bad_line_is_named(tmp_path):
    (tmp_path / "t.target").write_text('target t\nrule matmul "dot" 0 needs any\n')
    status, _, said = done("show", "--target=t.target", "f16[8] stick()", cwd=tmp_path)
    assert status == 2 and "matmul takes no opcode" in said and "line 2" in said
