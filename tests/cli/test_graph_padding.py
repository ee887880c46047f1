# SPDX-License-Identifier: Apache-2.0
"""`tesela graph --padding`: what padding holds, which operators read it, and the fills that help."""

import json

import pytest
from command import SOURCE, run

EXAMPLES = SOURCE / "examples"
SHAPE = {"size": [64, 100], "dtype": "f16", "stick": 1}


def program(tmp_path, inputs, ops, outputs, **more):
    path = tmp_path / "program.json"
    path.write_text(json.dumps({"inputs": inputs, "ops": ops, "outputs": outputs, **more}))
    return path


def answer(path, *words, verb="propagate"):
    done = run("graph", verb, path, "--padding", "--json", *words)
    assert (done.returncode, done.stderr) == (0, b"")
    return json.loads(done.stdout)


def reduce(fn, out, of, dim=1):
    return {"op": "reduce", "fn": fn, "out": out, "in": [of], "dims": [dim]}


NEEDED = {"sum": 0, "prod": 1, "max": "-inf", "min": "inf", "mean": "-"}


@pytest.mark.parametrize("fn", NEEDED)
def test_a_fold_needs_its_neutral_value(tmp_path, fn):
    (tmp_path / "any.target").write_text("target any\nlike spyre\nrule reduce.prod all needs clean\n")
    graph = program(tmp_path, {"x": SHAPE}, [reduce(fn, "r", "x")], ["r"])
    found = answer(graph, f"--target={tmp_path / 'any.target'}")
    verdict = "mask" if fn == "mean" else "fill"
    assert found["padding_reads"] == [
        {"at": "r", "operand": 0, "dim": 1, "reads": [100, 128], "needs": NEEDED[fn], "finds": "garbage", "verdict": verdict}
    ]
    fills = {"sum": {"x": "0"}, "max": {"x": "-inf"}, "min": {"x": "inf"}}.get(fn, {})
    assert (found["fills"], found["fine_with_fills"]) == (fills, len(fills))


def test_integers_need_the_ends_of_their_type(tmp_path):
    shape = {"size": [4, 40], "dtype": "s32", "stick": 1}
    found = answer(program(tmp_path, {"x": shape}, [reduce("max", "r", "x"), reduce("min", "s", "x")], ["r", "s"]))
    assert [read["needs"] for read in found["padding_reads"]] == [-(2**31), 2**31 - 1]
    assert found["fine_with_fills"] == 1  # one or the other


def test_values_go_through_operators(tmp_path):
    """A constant's value is in its padding, too; -(relu(c)) of it is computed; a sum with an input is not known."""
    ops = [
        {"op": "constant", "out": "c", "size": [64, 100], "dtype": "f16", "value": -1.5},
        {"op": "pointwise", "fn": "relu", "out": "r", "in": ["c"]},
        {"op": "pointwise", "fn": "neg", "out": "n", "in": ["c"]},
        {"op": "pointwise", "fn": "add", "out": "s", "in": ["x", "c"]},
        {"op": "pointwise", "fn": "mul", "out": "t", "in": ["r", "n"]},
    ]
    found = answer(program(tmp_path, {"x": SHAPE}, ops, ["s", "t"]))
    holds = {row["buffer"]: row["holds"] for row in found["padding"]}
    assert holds == {"x": "garbage", "c": -1.5, "r": 0, "n": 1.5, "s": "garbage", "t": 0}
    assert {row["places"] for row in found["padding"]} == {64 * 28}
    assert found["padding_reads"] == [] and found["fills"] == {}


def test_a_program_without_padding(tmp_path):
    shape = {"size": [64, 128], "dtype": "f16", "stick": 1}
    path = program(tmp_path, {"x": shape}, [{"op": "pointwise", "fn": "exp", "out": "e", "in": ["x"]}], ["e"])
    assert answer(path)["padding"] == []
    done = run("graph", "propagate", path, "--padding")
    assert (done.returncode, done.stdout) == (0, b"buffer  shape  padding places  holds\n\nNo operator reads padding.\n")


def test_rows_of_a_second_operand_are_no_places():
    """Attention over 100 positions: p times v sums over lanes 100 to 127 of p, to which v has no rows."""
    reads = answer(EXAMPLES / "softmax.json", verb="assign")["padding_reads"]
    assert [(r["at"], r["operand"], r["finds"], r["verdict"]) for r in reads] == [
        ("m", 0, "garbage", "fill"),
        ("z", 0, "garbage", "fill"),
        ("o", 0, "garbage", "mask"),
        ("o", 1, "no places", "mask"),
    ]


def test_it_is_printed_only_when_asked_for():
    plain = json.loads(run("graph", "assign", EXAMPLES / "softmax.json", "--json").stdout)
    assert not {"padding", "padding_reads", "fills", "fine_with_fills"} & set(plain)


def test_many_rows_are_cut(tmp_path):
    ops = [reduce("sum", f"r{k}", "x") for k in range(230)]
    done = run("graph", "propagate", program(tmp_path, {"x": SHAPE}, ops, ["r0"]), "--padding")
    assert done.returncode == 0
    lines = done.stdout.decode().splitlines()
    assert ".. 31 more; --json lists all" in lines and ".. 30 more; --json lists all" in lines
    assert lines[-1] == "0 of 230 reads are harmless without filling inputs; 230 if the padding of inputs is filled: x with 0"


def test_a_program_that_has_no_layout(tmp_path):
    """--padding describes a graph with layouts; without layouts the reason is printed as without --padding."""
    inputs = {"a": {"size": [256, 128], "dtype": "f16", "stick": 1}, "x": {"size": [128, 256], "dtype": "f16", "stick": 1}}
    ops = [{"op": "permute", "out": "t", "in": ["a"], "dims": [1, 0]}, {"op": "pointwise", "fn": "add", "out": "s", "in": ["t", "x"]}]
    path = program(tmp_path, inputs, ops, ["s"])
    done = run("graph", "propagate", path, "--padding")
    assert (done.returncode, done.stdout) == (1, run("graph", "propagate", path).stdout)
    assert run("graph", "propagate", path, "--padding", "--json").returncode == 1
