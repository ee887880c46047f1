# SPDX-License-Identifier: Apache-2.0
"""Copies of views as a part of the cheapest plan, through `tesela graph` and `tesela query`."""

import json

import pytest
from command import SOURCE, error, good, one, run

FILE = SOURCE / "examples" / "reshape.json"
CPU = SOURCE / "tests" / "data" / "hlo" / "cpu"
# x [72,2,50] is reshaped to [72,100] and multiplied: its 100 must be in the lanes, 72 rows of two sticks of 64
COPY = {"at": "o", "operand": 0, "buffer": "x", "view": "r", "from": 2, "to": 1, "price": 72 * 128}


def graph(*arguments):
    return run("graph", *(str(argument) for argument in arguments))


def program():
    return json.loads(FILE.read_text())


def twice():
    """Two products of the reshaped tensor."""
    made = program()
    made["ops"].append({"op": "matmul", "out": "p", "in": ["r", "y"]})
    made["outputs"].append("p")
    return made


@pytest.mark.parametrize("option", ["--copies", "--materialise"])
@pytest.mark.parametrize("task", [["assign"], ["propagate", "--mode=strict"], ["propagate"]])
def test_json(task, option):
    assert graph(*task, FILE).returncode == 1
    result = graph(*task, "--json", option, FILE)
    assert result.returncode == 0 and result.stderr == b"tesela: note: 1 view copy, 9216 elements\n"
    answer = json.loads(result.stdout)
    assert (answer["restickifies"], answer["restickify_elems"]) == (0, 0)
    assert (answer["copies"], answer["copied_elems"]) == (1, 9216)
    assert answer["cost"] == answer["bound"] == 9216 and answer["proven"]
    assert answer["moves"] == [COPY]
    moves = [op for op in answer["graph"]["ops"] if op["op"] == "move"]
    assert [(op["out"], op["in"]) for op in moves] == [("r.copy", ["r"])]


def test_counts_are_said_only_where_copies_may_be():
    answer = json.loads(graph("assign", "--json", SOURCE / "examples" / "softmax.json").stdout)
    assert "copies" not in answer and all("view" not in move for move in answer["moves"])


def test_query():
    answer = good({"op": "propagate", "copies": True, "graph": program()})
    assert answer["moves"] == [COPY] and (answer["copies"], answer["copied_elems"]) == (1, 9216)
    assert answer["output_sticks"] == {"o": [1]}
    apart = good({"op": "propagate", "copies": True, "graph": twice()})
    assert (apart["copies"], apart["cost"]) == (2, 2 * 9216)
    shared = good({"op": "propagate", "copies": True, "share": True, "graph": twice()})
    assert (shared["copies"], shared["cost"]) == (1, 9216)
    assert [move["price"] for move in shared["moves"]] == [9216, 0]
    for without in [{}, {"copies": False}]:
        assert not one({"op": "propagate", "graph": program()} | without)["ok"]
    assert error({"op": "propagate", "copies": "yes", "graph": program()})["code"]


def test_a_hint_forbids_copies(tmp_path):
    made = program() | {"hints": [{"node": "o", "kind": "forbid_move", "operand": 0}]}
    (tmp_path / "hint.json").write_text(json.dumps(made))
    result = graph("assign", "--copies", tmp_path / "hint.json")
    assert result.returncode == 1 and b"cannot be moved" in result.stdout


def test_placed_programs_are_read_again(tmp_path):
    placed = json.loads(graph("assign", "--json", "--copies", FILE).stdout)["graph"]
    (tmp_path / "placed.json").write_text(json.dumps(placed))
    runs = [json.loads(graph("run", "--json", *more).stdout) for more in (["--copies", FILE], [tmp_path / "placed.json"])]
    for answer in runs:
        assert answer["same"] and answer["poison_read"] == 0 and answer["moved"] == 9216


@pytest.mark.parametrize("share", [[], ["--share"]])
@pytest.mark.parametrize("name", ["block-bf16", "conv-f32"])
def test_real_modules(name, share):
    """No moves alone lay these out; with copies they run, and the elements moved are the price."""
    file = CPU / f"{name}.hlo.txt"
    assert graph("assign", file).returncode == 1
    assigned = json.loads(graph("assign", "--json", "--copies", *share, file).stdout)
    assert assigned["ok"] and assigned["proven"] and assigned["copies"] > 0
    assert assigned["cost"] == assigned["restickify_elems"] + assigned["copied_elems"]
    assert sum(move["price"] for move in assigned["moves"]) == assigned["cost"]
    ran = graph("run", "--json", "--copies", "--seed=3", *share, file)
    answer = json.loads(ran.stdout)
    assert answer["same"] and answer["poison_read"] == 0 and answer["moved"] == assigned["cost"]


def test_one_element_per_stick_where_copies_do_not_do(tmp_path):
    """A seam inside a stick of what has no other dim."""
    made = {
        "inputs": {name: {"size": [40], "dtype": "f16", "stick": 0} for name in "xy"},
        "ops": [{"op": "cat", "out": "o", "in": ["x", "y"], "dim": 0}],
        "outputs": ["o"],
    }
    (tmp_path / "cat.json").write_text(json.dumps(made))
    assert graph("assign", "--copies", tmp_path / "cat.json").returncode == 1
    answer = json.loads(graph("assign", "--json", "--materialise", tmp_path / "cat.json").stdout)
    assert (answer["restickifies"], answer["restickify_elems"], answer["copies"]) == (2, 2 * 64, 0)
    assert json.loads(graph("run", "--json", "--materialise", tmp_path / "cat.json").stdout)["same"]
