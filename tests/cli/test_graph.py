# SPDX-License-Identifier: Apache-2.0
"""Graphs through `tesela query` and `tesela graph`: the vectors, offsets in memory, refusals."""

import itertools
import json
import os
import random

import pytest
from command import SOURCE, ask, error, good, one, run

VECTORS = json.loads((SOURCE / "tests" / "vectors" / "spyre_seed_examples.json").read_text())
SEED = int(os.environ.get("TESELA_SEED", "20261121"), 0)
EXAMPLES = SOURCE / "examples"


# ---- propagate ----


@pytest.mark.parametrize("mode", ["strict", "auto"])
@pytest.mark.parametrize("case", VECTORS["graphs"], ids=lambda case: case["id"])
def test_vector(case, mode):
    expect = case["expect"][mode]
    answer = one({"op": "propagate", "graph": case["graph"], "mode": mode})
    assert {key: answer.get(key) for key in expect} == expect
    if expect["ok"]:
        assert answer["proven"] and answer["cost"] == answer["bound"] == expect["restickify_elems"]
        assert len(answer["moves"]) == answer["restickifies"]
        assert sum(move["price"] for move in answer["moves"]) == expect["restickify_elems"]
    else:
        assert answer["error"]["code"] == "CONFLICT"


def test_shared_copies_are_paid_once():
    """SP149: both reads of one buffer move to the same stick."""
    case = next(case for case in VECTORS["graphs"] if case["id"] == "SP149")
    answer = good({"op": "propagate", "graph": case["graph"], "mode": "auto", "share": True})
    assert (answer["restickify_elems"], answer["restickifies"]) == (4096, 1)
    assert [move["price"] for move in answer["moves"]] == [4096, 0]


def test_spread_moves():
    """SP146: a column vector may become one element per stick, and broadcasts then; 128 of 16384 elements are moved."""
    case = next(case for case in VECTORS["graphs"] if case["id"] == "SP146")
    answer = good({"op": "propagate", "graph": case["graph"], "mode": "auto", "spread": True})
    assert (answer["restickify_elems"], answer["output_sticks"]) == (128, {"o": [1]})


def test_compact_moves():
    """SP142: a sparse operand is made dense instead of moving the reduction's input."""
    case = next(case for case in VECTORS["graphs"] if case["id"] == "SP142")
    answer = good({"op": "propagate", "graph": case["graph"], "mode": "auto", "compact": True})
    assert answer["restickify_elems"] == 128 * 128 * 64  # t as it lies: one element per stick


HINTS = [
    ({"kind": "require", "node": "t1", "stick": 0}, 32768, [0]),
    ({"kind": "forbid", "node": "t1", "stick": 0}, 32768, [1]),
    ({"kind": "prefer", "node": "t1", "stick": 1, "price": 5}, 32768, [1]),
    ({"kind": "forbid_move", "node": "t1", "operand": 0}, 32768, [0]),
    ({"kind": "free", "node": "a"}, 0, [1]),
]


@pytest.mark.parametrize("hint, moved, sticks", HINTS, ids=[row[0]["kind"] for row in HINTS])
def test_hints(hint, moved, sticks):
    """SP001, aT + x: one of the two moves."""
    graph = dict(VECTORS["graphs"][0]["graph"], hints=[hint])
    answer = good({"op": "propagate", "graph": graph})
    assert (answer["restickify_elems"], answer["output_sticks"]["t1"]) == (moved, sticks)


def graph_of(*ops, **inputs):
    return {"inputs": inputs, "ops": list(ops), "outputs": [ops[-1]["out"]] if ops else []}


X = {"size": [8, 64], "stick": 1}
REFUSED = [
    ("no object", {"inputs": [], "ops": []}, "inputs"),
    ("an operand nobody makes", graph_of({"op": "clone", "out": "o", "in": ["y"]}, x=X), "y"),
    ("a misspelt operand", graph_of({"op": "clone", "out": "o", "in": ["weigth"]}, weight=X), "did you mean weight"),
    ("no such op", graph_of({"op": "pointwize", "out": "o", "in": ["x"]}, x=X), "did you mean pointwise"),
    ("a function as op", graph_of({"op": "add", "out": "o", "in": ["x", "x"]}, x=X), '"fn" of pointwise'),
    ("no such function", graph_of({"op": "pointwise", "fn": "ad", "out": "o", "in": ["x"]}, x=X), "add"),
    ("no such member", graph_of({"op": "clone", "out": "o", "in": ["x"], "dimz": 1}, x=X), "did you mean dim"),
    ("shapes that do not fit", graph_of({"op": "matmul", "out": "o", "in": ["x", "x"]}, x=X), "ops[0] (o)"),
    ("a dim that is none", graph_of({"op": "reduce", "fn": "sum", "out": "o", "in": ["x"], "dims": [2]}, x=X), "2"),
    ("a name twice", graph_of({"op": "clone", "out": "x", "in": ["x"]}, x=X), "x"),
    ("a stick that is none", graph_of({"op": "clone", "out": "o", "in": ["x"]}, x={"size": [8], "stick": 3}), "stick"),
    ("a list of another length", graph_of({"op": "slice", "out": "o", "in": ["x"], "start": [1]}, x=X), "start"),
    ("a type nobody knows", graph_of({"op": "clone", "out": "o", "in": ["x"]}, x={"size": [8], "dtype": "f17"}), "f17"),
    ("an output that is none", {"inputs": {"x": X}, "ops": [], "outputs": ["y"]}, "y"),
    ("a hint of no kind", {"inputs": {"x": X}, "hints": [{"node": "x", "kind": "must"}]}, "require"),
    ("a NUL in a name", graph_of({"op": "clone", "out": "o\0", "in": ["x"]}, x=X), "NUL"),
]


@pytest.mark.parametrize("graph, says", [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_refused(graph, says):
    said = error({"op": "propagate", "graph": graph})
    assert says in said["message"], said


# ---- plan_memory ----


def buffers_of(rng, n):
    for k in range(n):
        lower = rng.randint(0, 6)
        yield {"id": f"b{k}", "lower": lower, "upper": lower + rng.randint(0, 4), "size": rng.randint(0, 9)}


def is_right(buffers, offsets, peak):
    """No two that live at one step overlap."""
    spans = [(b["lower"], b["upper"], o, o + b["size"]) for b, o in zip(buffers, offsets)]
    for a, b in itertools.combinations(spans, 2):
        apart = a[1] <= b[0] or b[1] <= a[0] or a[3] <= b[2] or b[3] <= a[2] or a[0] == a[1] or b[0] == b[1]
        assert apart or a[2] == a[3] or b[2] == b[3], (buffers, offsets)
    assert max((span[3] for span in spans if span[0] < span[1]), default=0) <= peak


def least_peak(buffers):
    """By trying: every order, each buffer as low as it goes."""
    live = [b for b in buffers if b["lower"] < b["upper"] and b["size"]]
    best = sum(b["size"] for b in live)
    for order in itertools.permutations(live):
        placed, peak = [], 0
        for b in order:
            meets = sorted((o, o + c["size"]) for c, o in placed if b["lower"] < c["upper"] and c["lower"] < b["upper"])
            at = 0
            for low, high in meets:
                if at + b["size"] <= low:
                    break
                at = max(at, high)
            placed.append((b, at))
            peak = max(peak, at + b["size"])
            if peak >= best:
                break
        else:
            best = peak
    return best


def test_random_plans_are_the_least():
    rng = random.Random(SEED)
    problems = [list(buffers_of(rng, rng.randint(0, 6))) for _ in range(150)]
    for buffers, answer in zip(problems, ask(*({"op": "plan_memory", "buffers": b} for b in problems))):
        assert answer["ok"], answer
        is_right(buffers, answer["offsets"], answer["peak"])
        assert answer["proven"] and answer["peak"] == least_peak(buffers), buffers


def test_capacity_and_spill():
    buffers = [{"id": name, "lower": 0, "upper": 2, "size": 4, "weight": w} for name, w in (("a", 1), ("b", 5), ("c", 3))]
    assert good({"op": "plan_memory", "buffers": buffers, "capacity": 12})["peak"] == 12
    assert error({"op": "plan_memory", "buffers": buffers, "capacity": 11})["code"] == "LIMIT"
    answer = good({"op": "plan_memory", "buffers": buffers, "capacity": 11, "spill": True})
    assert answer["offsets"][0] is None and answer["spilled"] == 4
    assert good({"op": "plan_memory", "buffers": []})["peak"] == 0


def test_plan_memory_refusals():
    good_one = {"id": "a", "lower": 0, "upper": 1, "size": 1}
    for change, says in [
        ({"size": -1}, "size"),
        ({"upper": -1}, "upper"),
        ({"size": 2**62, "alignment": 2**62}, ""),
        ({"sise": 1}, "did you mean size"),
        ({"id": "x" * 100}, "100 bytes"),
    ]:
        response = one({"op": "plan_memory", "buffers": [good_one, {**good_one, "id": "b", **change}]})
        assert response["ok"] is False or says == "", response
        assert says in response.get("error", {}).get("message", ""), response
    assert "buffers[0]" in error({"op": "plan_memory", "buffers": [1]})["message"]


# ---- the verb ----


def graph(*words, **how):
    return run("graph", *words, **how)


def table(result):
    return json.loads(result.stdout)


def test_exit_statuses(tmp_path):
    linear = EXAMPLES / "linear.json"
    assert graph("propagate", linear).returncode == 1
    assert b"h:" in graph("propagate", linear).stdout
    for task in ("assign", "plan", "run"):
        assert graph(task, linear).returncode == 0
    assert graph("propagate", linear, "--mode=auto").returncode == 0
    assert graph("assign", linear, "--mode=strict").returncode == 1
    assert graph("plan", linear, "--capacity=1").returncode == 1
    assert graph("assign", tmp_path / "none").returncode == 2
    assert graph("assign", linear, "--target=none").returncode == 2
    assert graph("assign", linear, "--loops=none").returncode == 2
    assert graph("assin", linear).returncode == 2


def test_json_says_what_the_query_says():
    linear = EXAMPLES / "linear.json"
    by_verb = table(graph("assign", "--json", linear))
    by_query = good({"op": "propagate", "graph": json.loads(linear.read_text())})
    for key in ("restickify_elems", "restickifies", "cost", "bound", "proven", "operators", "unknown", "moves"):
        assert by_verb[key] == by_query[key]
    failed = graph("propagate", "--json", linear)
    assert (failed.returncode, table(failed)["error_at"]) == (1, "h")


@pytest.mark.parametrize("name", ["linear.json", "softmax.json"])
def test_printed_programs_read_back(name, tmp_path):
    """The program with its moves needs none, and is printed the same again."""
    placed = table(graph("assign", "--json", EXAMPLES / name))["graph"]
    (tmp_path / "placed.json").write_text(json.dumps({"target": "spyre", **placed}))
    again = table(graph("propagate", "--json", tmp_path / "placed.json"))
    assert again["ok"] and again["restickify_elems"] == 0
    assert {key: value for key, value in again["graph"].items() if key != "hints"} == placed
    hlo = graph("assign", "--hlo", EXAMPLES / name)
    (tmp_path / "placed.hlo").write_bytes(hlo.stdout)
    assert graph("propagate", tmp_path / "placed.hlo").returncode == 0
    runs = [table(graph("run", "--json", file)) for file in (EXAMPLES / name, tmp_path / "placed.json")]
    assert runs[0]["same"] and runs[0]["outputs"] == runs[1]["outputs"]


@pytest.mark.parametrize("value", ["inf", "-inf", "nan"])
def test_values_that_json_has_no_number_for(value, tmp_path):
    text = (
        f"HloModule m\nENTRY e {{ p = f16[3,70]{{1,0}} parameter(0)\n c = f16[] constant({value})\n"
        " b = f16[3,70] broadcast(c), dimensions={}\n ROOT o = f16[3,70] add(p, b) }\n"
    )
    placed = table(graph("assign", "--json", "-", text=text))["graph"]
    assert [op["value"] for op in placed["ops"] if op["op"] == "constant"] == [value]
    back = table(graph("assign", "--json", "-", text=json.dumps(placed)))["graph"]
    assert {key: back[key] for key in ("inputs", "ops", "outputs")} == {
        key: placed[key] for key in ("inputs", "ops", "outputs")
    }
    run_of = [table(graph("run", "--json", "-", text=t)) for t in (text, json.dumps(placed))]
    assert run_of[0]["outputs"] == run_of[1]["outputs"]


def program(op=None, **tensor):
    """o = x + x."""
    op = {"op": "pointwise", "fn": "add", "in": ["x", "x"], "out": "o", **(op or {})}
    return json.dumps({"inputs": {"x": tensor}, "ops": [op], "outputs": ["o"]})


@pytest.mark.parametrize("op, says", [
    ({"opcode": "\u001b[31m"}, "opcode has a control character"),
    ({"value": "infinite"}, "value: expected number, or string inf"),
    ({"layout": {}}, "ops[0] (o): layout: missing field stick"),
    ({"conv": {"a": 1}}, "ops[0] (o): conv: unknown field 'a'"),
    ({"dtype": "token"}, "ops[0] (o).dtype: unknown element type 'token'"),
    ({"dim": 2**40}, f"ops[0] (o).dim[0] is {2**40}"),
])
def test_what_is_wrong_with_an_operator(op, says):
    done = graph("assign", "-", text=program(op, size=[3, 70]))
    assert (done.returncode, done.stdout) == (2, b"")
    assert says.encode() in done.stderr


def test_sticks_of_two_dims_read_back():
    """The target tiles with elements of 2 bytes: 32 lanes are two rows of 16."""
    text = program({"op": "clone", "fn": "none", "in": ["x"]}, size=[64, 64])
    placed = table(graph("assign", "--json", "--target=tiles", "-", text=text))["graph"]
    assert placed["ops"][0]["layout"]["device_size"] == [2, 2, 2, 2, 8, 2, 16]
    again = table(graph("assign", "--json", "--target=tiles", "-", text=json.dumps(placed)))["graph"]
    assert again == placed


def test_labels_are_counted():
    def matmul(**more):
        op = {"op": "matmul", "in": ["x", "y"], "out": "o", "x_label": [0, 2], "y_label": [2, 1], **more}
        op["size"] = [128, 128]
        inputs = {"x": {"size": [128, 64]}, "y": {"size": [64, 128], "stick": 1}}
        return {"inputs": inputs, "ops": [op], "outputs": ["o"]}

    answers = [good({"op": "propagate", "graph": matmul(**more), "mode": "auto"}) for more in ({}, {"labels": 3})]
    assert answers[0] == answers[1]
    said = error({"op": "propagate", "graph": matmul(labels=2)})
    assert "label 2; expected 0 to 1" in said["message"]


def test_a_nul_in_a_name_is_no_end():
    broken = {"inputs": {"x": {"size": [4]}}, "outputs": ["x\0y"]}
    assert "NUL" in error({"op": "propagate", "graph": broken})["message"]


def test_names_do_not_reach_the_terminal_raw():
    done = graph("assign", "-", text=json.dumps({"inputs": {"a\u001b[31m": {"size": [4]}}}))
    assert done.returncode == 2 and b"\x1b" not in done.stderr.replace(b"\x1b[1;31merror: \x1b[0m", b"")
    name = "a" + "\u00e9" * 40  # 81 bytes: cut, but not inside a character
    for task in ("assign", "plan", "run"):
        done = graph(task, "-", text=program(size=[3, 70], dtype="f16").replace('"o"', json.dumps(name)))
        assert done.returncode == 0 and "a\u00e9" in done.stdout.decode() and ".." in done.stdout.decode()


def test_standard_input_and_broken_files(tmp_path):
    text = (EXAMPLES / "linear.json").read_text()
    assert graph("assign", "-", text=text).returncode == 0
    for bad in ("", "{", "{}x", '{"inputs": 3}', "HloModule m\n", "\xff\xfe", "{\"ops\": [{}]}", "[" * 100000):
        result = graph("assign", "-", text=bad.encode("latin-1"))
        assert result.returncode == 2 and result.stderr.startswith(b"tesela: error"), bad[:20]
    (tmp_path / "empty.csv").write_text("")
    assert graph("plan", tmp_path / "empty.csv").returncode == 2


def test_the_plan_is_right():
    """Buffers in the arena that live at one node do not overlap; results in an operand's place excepted."""
    plan = table(graph("plan", "--json", EXAMPLES / "softmax.json"))
    inside = [b for b in plan["buffers"] if b["where"] == "arena"]
    for a, b in itertools.combinations(inside, 2):
        meet = a["lower"] < b["upper"] and b["lower"] < a["upper"]
        apart = a["offset"] + a["bytes"] <= b["offset"] or b["offset"] + b["bytes"] <= a["offset"]
        assert not meet or apart or b["in_place_of"] == a["name"], (a, b)
    assert plan["arena"]["peak"] == max(b["offset"] + b["bytes"] for b in inside)
    assert plan["arena"]["peak"] <= plan["naive"]
    more = table(graph("plan", "--json", "--no-reuse", EXAMPLES / "softmax.json"))
    assert more["reused"] == 0 and more["arena"]["peak"] >= plan["arena"]["peak"]


def test_csv_there_and_back(tmp_path):
    csv = graph("plan", "--csv", EXAMPLES / "softmax.json").stdout
    (tmp_path / "b.csv").write_bytes(csv)
    direct = table(graph("plan", "--json", EXAMPLES / "softmax.json"))["arena"]["peak"]
    assert table(graph("plan", "--json", tmp_path / "b.csv"))["arena"]["peak"] == direct
    (tmp_path / "c.csv").write_text("id,lower,upper,size\na,0,3,4\nb,1,5,2\nc,3,6,4\n")
    answer = table(graph("plan", "--json", tmp_path / "c.csv"))
    assert answer["offsets"] == {"a": 0, "b": 4, "c": 0} and answer["arena"]["peak"] == 6
    assert graph("plan", tmp_path / "c.csv", "--capacity=5").returncode == 1


def test_a_scratchpad_saves_traffic():
    plan = table(graph("plan", "--json", "--scratchpad=110000", EXAMPLES / "softmax.json"))
    assert 0 < plan["traffic_saved"] < plan["traffic"]
    assert plan["scratchpad"]["peak"] <= 110000


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_runs_agree(seed):
    for name in ("linear.json", "softmax.json"):
        answer = table(graph("run", "--json", f"--seed={seed}", EXAMPLES / name))
        assert answer["same"] and answer["poison_read"] == 0


@pytest.mark.parametrize("tensor", [
    {"size": [], "dtype": "f16"},
    {"size": [0, 70], "dtype": "f32"},
    {"size": [3, 70], "dtype": "pred"},
    {"size": [3, 70], "dtype": "u64"},
    {"size": [3, 70], "dtype": "f16", "strides": [-70, -1]},
    {"size": [3, 70], "dtype": "f16", "strides": [1, -5]},
    {"size": [3, 70], "dtype": "f16", "strides": [0, 1]},
])
def test_runs_of_any_host_tensor(tensor):
    answer = table(graph("run", "--json", "-", text=program(**tensor)))
    assert answer["same"] and answer["poison_read"] == 0


@pytest.mark.parametrize("tensor, says", [
    ({"size": [3, 70], "dtype": "s4"}, "s4"),
    ({"size": [3, 70], "dtype": "c64"}, "c64"),
    ({"size": [3, 70], "dtype": "c128"}, "c128"),
    ({"size": [3, 70]}, "type none"),
    ({"size": [2**16, 2**15], "dtype": "f16"}, "the inputs and outputs need more than 4.00 GiB\n--max-bytes=SIZE raises"),
    ({"size": [3, 70], "dtype": "f16", "strides": [2**58, 1]}, "need more than 4.00 GiB"),
    ({"size": [3, 70], "dtype": "f16", "strides": [-(2**40), 1]}, "need more than 4.00 GiB"),
])
def test_what_is_not_run(tensor, says):
    done = graph("run", "-", text=program(**tensor))
    assert (done.returncode, says.encode() in done.stderr) == (2, True), done.stderr


def test_elements_without_a_type_may_be_wide():
    text = json.dumps({"elem_bytes": 128, **json.loads(program(size=[4, 4]))})
    assert graph("run", "-", text=text).returncode == 2


def test_cores_that_are_too_many():
    done = graph("assign", "--loops=h", "--cores=65537", EXAMPLES / "linear.json")
    assert (done.returncode, done.stdout) == (2, b"") and b"1 to 65536" in done.stderr


def test_other_targets():
    for target in ("tiles", EXAMPLES / "own.target"):
        answer = table(graph("run", "--json", f"--target={target}", EXAMPLES / "linear.json"))
        assert answer["same"] and answer["poison_read"] == 0


# ---- programs of a real compiler ----

CPU = SOURCE / "tests" / "data" / "hlo" / "cpu"


@pytest.mark.parametrize("file", [EXAMPLES / "mlp.hlo", CPU / "mlp-f32.hlo.txt"], ids=lambda file: file.name)
def test_a_compiled_module_goes_through_all(file):
    assert graph("propagate", file).returncode in (0, 1)
    assigned = table(graph("assign", "--json", file))
    assert assigned["ok"] and assigned["proven"] and assigned["cost"] == assigned["bound"]
    plan = table(graph("plan", "--json", file))
    assert plan["arena"]["peak"] <= plan["naive"]
    if all(op["op"] != "fallback" and op.get("fn") != "fused" for op in assigned["graph"]["ops"]):
        answer = table(graph("run", "--json", file))
        assert answer["same"] and answer["poison_read"] == 0
    else:
        assert graph("run", file).returncode == 2


WHILE = """HloModule m
body { p = (f16[128,128], s32[]) parameter(0)
  x = f16[128,128] get-tuple-element(p), index=0
  i = s32[] get-tuple-element(p), index=1
  t = f16[128,128] transpose(x), dimensions={1,0}
  y = f16[128,128] add(x, t)
  ROOT r = (f16[128,128], s32[]) tuple(y, i) }
cond { q = (f16[128,128], s32[]) parameter(0)
  j = s32[] get-tuple-element(q), index=1
  c = s32[] constant(3)
  ROOT l = pred[] compare(j, c), direction=LT }
ENTRY e { a = f16[128,128] parameter(0)
  z = s32[] constant(0)
  in = (f16[128,128], s32[]) tuple(a, z)
  w = (f16[128,128], s32[]) while(in), condition=cond, body=body
  b = f16[128,128] get-tuple-element(w), index=0
  ROOT o = f16[128,128] negate(b) }
"""


def test_what_was_not_looked_at_is_named(tmp_path):
    """The body of the loop adds a tensor to its transpose, which no layout suits without a move: nothing is claimed of it."""
    file = tmp_path / "while.hlo"
    file.write_text(WHILE)
    said = graph("assign", file).stdout.decode()
    assert "no plan is cheaper for the 1 operator considered\nnot considered: 1 operator without rules (w = while)" in said
    answer = table(graph("assign", "--json", file))
    assert (answer["operators"], answer["unknown"]) == (1, 1)
    said = graph("assign", EXAMPLES / "linear.json").stdout.decode()
    assert "no plan is cheaper\n" in said and "not looked at" not in said


def repeated(inputs, ops):
    """Cost and moves of a program whose result is wanted in sticks along 0."""
    hint = {"node": "q", "kind": "require", "stick": 0}
    tensors = {name: {"size": [128, 128], "dtype": "f16", "stick": 1} for name in inputs}
    answer = good({"op": "propagate", "graph": {"inputs": tensors, "ops": ops, "hints": [hint], "outputs": ["q"]}})
    assert answer["proven"] and answer["bound"] == answer["cost"]
    return answer["cost"], answer["restickifies"]


def test_an_operand_that_repeats_moves_once():
    """x * x in other sticks is one move of 128*128 elements; so are two views that show the same. x and its transpose are two
    operands, of which one is in the sticks wanted; two operators that need x elsewhere pay for it each."""
    mul = {"op": "pointwise", "fn": "mul", "out": "q"}
    turn = [{"op": "permute", "out": name, "in": ["x"], "dims": [1, 0]} for name in "ab"]
    same = [{"op": "unsqueeze", "out": name, "in": ["x"], "dim": 0} for name in "uv"]
    back = [{"op": "squeeze", "out": name, "in": [of], "dim": 0} for name, of in (("y", "u"), ("z", "v"))]
    assert repeated("x", [{**mul, "in": ["x", "x"]}]) == (16384, 1)
    assert repeated("x", [*same, *back, {**mul, "in": ["y", "z"]}]) == (16384, 1)
    assert repeated("x", [*turn, {**mul, "in": ["a", "b"]}]) == (0, 0)
    assert repeated("x", [*turn[:1], {**mul, "in": ["x", "a"]}]) == (16384, 1)
    assert repeated("xy", [{**mul, "in": ["x", "y"]}]) == (32768, 2)
    two = [{**mul, "out": "r", "in": ["x", "x"]}, {**mul, "in": ["x", "r"]}]
    assert repeated("x", two) == (32768, 2)


def test_a_broadcast_constant_is_a_constant(tmp_path):
    """A product needs lanes along its dims, which a scalar lacks; a constant of the whole shape may lie in any stick, so the
    program is feasible, free, and computes what it computes with a constant of the whole shape."""
    scalar = {"op": "constant", "out": "c", "in": [], "dtype": "f16", "size": [], "value": 2}
    turned = [{"op": "expand", "out": "t", "in": ["c"], "size": [128, 256]},
              {"op": "permute", "out": "w", "in": ["t"], "dims": [1, 0]}]  # fmt: skip
    product = {"op": "matmul", "out": "y", "in": ["x", "w"]}
    inputs = {"x": {"size": [64, 256], "dtype": "f16", "stick": 1}}
    program = {"inputs": inputs, "ops": [scalar, *turned, product], "outputs": ["y"]}
    whole = {"inputs": inputs, "ops": [{**scalar, "out": "w", "size": [256, 128]}, product], "outputs": ["y"]}
    digests = set()
    for number, one in enumerate((program, whole)):
        file = tmp_path / f"{number}.json"
        file.write_text(json.dumps(one))
        assigned = json.loads(graph("assign", "--json", file).stdout)
        assert assigned["cost"] == 0
        done = json.loads(graph("run", "--json", file).stdout)
        assert done["same"]
        digests.add(done["outputs"][0]["digest"])
    assert len(digests) == 1


@pytest.mark.parametrize("file", sorted(CPU.glob("*.hlo.txt")) + [EXAMPLES / "block.hlo"], ids=lambda file: file.name)
def test_every_dump_has_an_answer(file):
    """Layouts, or a reason: no layout suits (1), or a type that the target lacks (2)."""
    result = graph("assign", file)
    assert result.returncode in (0, 1, 2)
    if result.returncode == 0:
        assert b"no plan is cheaper" in result.stdout
    elif result.returncode == 1:
        assert b" must " in result.stdout
    else:
        assert b"has no type for" in result.stderr, result.stderr


def test_copies_where_no_move_suits():
    file = EXAMPLES / "reshape.json"
    assert graph("assign", file).returncode == 1
    result = graph("run", "--json", "--materialise", file)
    assert result.returncode == 0 and b"1 view copy" in result.stderr
    answer = table(result)
    assert answer["same"] and answer["poison_read"] == 0
    assert graph("assign", "--materialise", CPU / "block-bf16.hlo.txt").returncode == 0


def test_hlo_text_needs_types():
    result = graph("assign", "--hlo", "-", text='{"inputs": {"x": {"size": [4, 4]}}, "outputs": ["x"]}')
    assert (result.returncode, result.stdout) == (2, b"")
    assert b"x has no type" in result.stderr
