# SPDX-License-Identifier: Apache-2.0
"""Graphs: runs against NumPy, memory and loops against their definitions."""

from __future__ import annotations

import concurrent.futures
import itertools
import json
import pathlib
import pickle
import tempfile

import numpy as np
import pytest

import tesela

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"
LINEAR = (EXAMPLES / "linear.json").read_text()
CONFLICT = {
    "inputs": {"a": {"size": [4, 70], "dtype": "f16", "stick": 1}, "x": {"size": [70, 4], "dtype": "f16", "stick": 1}},
    "ops": [
        {"op": "permute", "out": "a_t", "in": ["a"], "dims": [1, 0]},
        {"op": "pointwise", "fn": "add", "out": "t", "in": ["a_t", "x"]},
    ],
    "outputs": ["t"],
}
TWICE = "HloModule m\nENTRY e {\n  x = f16[4,70]{1,0} parameter(0)\n  n = f16[4,70]{1,0} negate(x)\n  ROOT t = (f16[4,70]{1,0}, f16[4,70]{1,0}, f16[4,70]{1,0}) tuple(n, x, n)\n}\n"


def linear_inputs() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    shapes = {"x": (64, 256), "w": (200, 256), "b": (200,)}
    return {name: rng.integers(-1, 2, shape).astype(np.float16) for name, shape in shapes.items()}


@pytest.fixture
def temporary(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """The folder of temporary files, to see that none stays."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


# ---- the specification


def test_the_specification(temporary: pathlib.Path) -> None:
    g = tesela.graph(LINEAR)
    assert [tuple(one) for one in g.inputs.values()] == [("f16", (64, 256)), ("f16", (200, 256)), ("f16", (200,))]
    assert g.outputs == (("y", tesela.Tensor("f16", (64, 200))),)
    (move,) = g.assign().moves
    assert (move.buffer, move.to, move.price) == ("w", 0, 200 * 256)  # 200 rows of 4 whole sticks
    given = linear_inputs()
    result = g.run(given)
    expected = np.maximum(given["x"].astype(np.int64) @ given["w"].astype(np.int64).T + given["b"].astype(np.int64), 0)
    assert np.array_equal(result["y"].astype(np.int64), expected) and result["y"].dtype == np.float16
    assert result[0] is result["y"] and list(result) == ["y"] and result.facts.poison_read == 0
    assert not list(temporary.iterdir())


def test_text_dict_and_path_are_one_graph(tmp_path: pathlib.Path) -> None:
    (tmp_path / "g.json").write_text(LINEAR)
    graphs = [tesela.graph(LINEAR), tesela.graph(json.loads(LINEAR)), tesela.graph(tmp_path / "g.json")]
    assert graphs[0] == graphs[1] == graphs[2] == pickle.loads(pickle.dumps(graphs[0])) == tesela.graph(graphs[0])
    assert repr(graphs[0]) == "Graph(x: f16[64,256], w: f16[200,256], b: f16[200] -> y: f16[64,200])"

    class Compiled:
        def as_text(self) -> str:
            return TWICE

    assert tesela.graph(Compiled()) == tesela.graph(TWICE)
    with pytest.raises(TypeError, match="found int"):
        tesela.graph(3)


# ---- memory


def test_plan_is_disjoint() -> None:
    for g in (tesela.graph(LINEAR), tesela.graph(EXAMPLES / "softmax.json"), tesela.graph(EXAMPLES / "mlp.hlo")):
        memory = g.plan(inputs=True)
        inside = [one for one in memory.buffers if one.where == "arena" and one.bytes]
        assert memory.peak == max(one.offset + one.bytes for one in inside)
        for a, b in itertools.combinations(inside, 2):
            if a.in_place_of == b.name or b.in_place_of == a.name:
                continue
            apart = a.offset + a.bytes <= b.offset or b.offset + b.bytes <= a.offset
            assert apart or a.upper <= b.lower or b.upper <= a.lower, (a, b)
    with pytest.raises(tesela.LimitError):
        tesela.graph(LINEAR).plan(capacity=1)


# ---- runs


def hlo(kind: str, body: str, shape: str = "3,70") -> str:
    return f"HloModule m\nENTRY e {{\n  x = {kind}[{shape}]{{1,0}} parameter(0)\n  ROOT y = {body}\n}}\n"


@pytest.mark.parametrize("kind", ["f32", "s32", "f16", "u8", "s8"])
def test_types(kind: str) -> None:
    g = tesela.graph(hlo(kind, f"{kind}[70,3]{{1,0}} transpose(x), dimensions={{1,0}}"), target="target t\nstick 128\n")
    x = np.arange(210).reshape(3, 70).astype({"f": "float", "s": "int", "u": "uint"}[kind[0]] + kind[1:])
    y = g.run({"x": x})["y"]
    assert y.dtype == x.dtype and np.array_equal(y, x.T)


def test_types_that_numpy_lacks(temporary: pathlib.Path) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for kind, dtype in (("bf16", ml_dtypes.bfloat16), ("f8e4m3fn", ml_dtypes.float8_e4m3fn)):
        g = tesela.graph(hlo(kind, f"{kind}[3,70]{{1,0}} negate(x)"), target="target t\nstick 128\n")
        x = (np.arange(210).reshape(3, 70) % 17).astype(dtype)
        y = g.run({"x": x})["y"]
        assert y.dtype == x.dtype and np.array_equal(y.astype(np.float32), -x.astype(np.float32))
        with pytest.raises(tesela.MismatchError, match=f"input 'x': expected {kind}"):
            g.run({"x": x.astype(np.float32)})
        with pytest.raises(tesela.MismatchError):
            g.run({"x": x.view(np.uint8 if x.itemsize == 1 else np.uint16)})
    f16 = tesela.graph(hlo("f16", "f16[3,70]{1,0} negate(x)"))
    with pytest.raises(tesela.MismatchError, match=r"expected f16\[3,70\], found bf16\[3,70\]"):
        f16.run({"x": np.ones((3, 70), ml_dtypes.bfloat16)})
    assert not list(temporary.iterdir())


def test_any_strides_and_byte_order() -> None:
    g = tesela.graph(hlo("f32", "f32[3,70]{1,0} negate(x)"))
    x = np.arange(210, dtype=np.float32).reshape(3, 70)
    for y in (x, np.asfortranarray(x), x[::-1, ::-1], x.astype(">f4"), np.repeat(x, 2, axis=1)[:, ::2]):
        assert np.array_equal(g.run({"x": y})["y"], -y)

    class Foreign:  # an array of another package
        def __dlpack__(self, **options: object) -> object:
            return np.asfortranarray(x).__dlpack__(**options)

        def __dlpack_device__(self) -> tuple[int, int]:
            return x.__dlpack_device__()

    assert np.array_equal(g.run({"x": Foreign()})["y"], -x)
    empty = tesela.graph("HloModule m\nENTRY e { x = f32[0,4]{1,0} parameter(0)\n ROOT y = f32[0,4]{1,0} negate(x)\n}")
    assert empty.run({"x": np.empty((0, 4), np.float32)})["y"].shape == (0, 4)
    scalar = tesela.graph("HloModule m\nENTRY e { x = f32[] parameter(0)\n ROOT y = f32[] negate(x)\n}")
    assert scalar.run({"x": np.float32(3)})["y"] == -3 and scalar.run({"x": np.float32(3)})["y"].shape == ()


@pytest.mark.frameworks
def test_torch_tensors() -> None:
    torch = pytest.importorskip("torch")
    g = tesela.graph(hlo("bf16", "bf16[3,70]{1,0} negate(x)"))
    x = torch.arange(210).reshape(3, 70).to(torch.bfloat16)
    assert np.array_equal(g.run({"x": x})["y"].astype(np.float32), -x.float().numpy())


def test_results_by_name_and_position() -> None:
    result = tesela.graph(TWICE).run({"x": np.ones((4, 70), np.float16)})
    assert list(result) == ["n", "x"] and (result[0] == -1).all() and (result[1] == 1).all() and result[2] is result[0]
    with pytest.raises(KeyError):
        result["m"]
    with pytest.raises(IndexError):
        result[3]


def test_inputs_are_checked(temporary: pathlib.Path) -> None:
    g, given = tesela.graph(LINEAR), linear_inputs()
    with pytest.raises(tesela.MismatchError, match=r"missing input 'b', f16\[200\]"):
        g.run({"x": given["x"], "w": given["w"]})
    with pytest.raises(tesela.MismatchError, match="unknown input 'z'; expected one of x, w, b"):
        g.run({**given, "z": given["b"]})
    with pytest.raises(tesela.MismatchError, match=r"input 'b': expected f16\[200\], found f16\[64,256\]"):
        g.run({**given, "b": given["x"]})
    with pytest.raises(tesela.MismatchError, match=r"found f32\[200\]"):
        g.run({**given, "b": given["b"].astype(np.float32)})
    with pytest.raises(tesela.LayoutError):
        g.run(given, max_steps=10)
    a, b = (g.run({"w": given["w"]}, seed=seed)["y"] for seed in (1, 2))
    assert not np.array_equal(a, b)
    assert not list(temporary.iterdir())


LOOKED_UP = {
    "target": "spyre",
    "inputs": {"x": {"size": [5, 70], "dtype": "f16"}, "at": {"size": [9], "dtype": "s32"}, "on": {"size": [9, 1], "dtype": "pred"}},
    "ops": [
        {"op": "gather", "out": "g", "in": ["x", "at"], "dim": 0},
        {"op": "pointwise", "fn": "select", "out": "y", "in": ["on", "g", "g"]},
    ],
    "outputs": ["y", "on", "at"],
}


@pytest.mark.parametrize("program", [LOOKED_UP, LINEAR, *(EXAMPLES / f"{one}.hlo" for one in ("mlp", "net", "decode"))])
def test_made_up_inputs_are_those_of_the_command(program: object) -> None:
    g = tesela.graph(program)
    asked = {"graph": g.program} if not isinstance(program, pathlib.Path) else {"text": program.read_text()}
    for seed in (0, 7):
        expected = tesela.op("graph_run", seed=seed, copies=True, **asked)
        facts = g.run(seed=seed, copies=True).facts.to_dict()
        assert facts == expected and facts["copies"] == facts["copied_elems"] == 0 == facts["poison_read"]


@pytest.mark.parametrize("kind", ["f8e4m3fn", "f8e8m0fnu", "bf16", "f64", "s8", "u64", "s64"])
def test_made_up_inputs_of_other_types(kind: str) -> None:
    text = hlo(kind, f"{kind}[70,3]{{1,0}} transpose(x), dimensions={{1,0}}")
    target = "target t\nstick 128\n"
    facts = tesela.graph(text, target=target).run(seed=5).facts
    assert facts.to_dict() == tesela.op("graph_run", text=text, target=target, seed=5)


def test_inputs_with_strides_of_the_graph() -> None:
    """The graph says how its inputs lie on the host; arrays in any strides are read right, others are copied."""
    steps = [-1, 0, 10]
    tree = {"inputs": {"x": {"size": [5, 2, 3], "dtype": "f32", "strides": steps}}, "ops": [{"op": "pointwise", "fn": "neg", "out": "y", "in": ["x"]}], "outputs": ["y"]}  # fmt: skip
    g = tesela.graph(tree)
    memory = np.arange(40, dtype=np.float32)
    lent = np.lib.stride_tricks.as_strided(memory[4:], (5, 2, 3), [4 * step for step in steps])
    for x in (lent, lent.copy(), lent.astype(">f4"), np.asfortranarray(lent)):
        assert np.array_equal(g.run({"x": x})["y"], -lent)
    made = tesela.op("graph_run", graph=tree, seed=2)["outputs"]
    assert [one.digest for one in g.run(seed=2).facts.outputs] == [one["digest"] for one in made]


def test_options_of_a_run() -> None:
    g, given = tesela.graph(LINEAR), linear_inputs()
    with pytest.raises(tesela.LayoutError, match="unknown option 'moed'; expected target, mode, "):
        g.run(given, moed="auto")
    with pytest.raises(tesela.LayoutError, match="unknown mode 'atuo'; expected auto or strict"):
        g.run(given, mode="atuo")
    with pytest.raises(tesela.MismatchError, match="no layout of the result is compatible") as caught:
        g.run(given, mode="strict")
    assert (caught.value.where, caught.value.code) == ("h", "CONFLICT")
    with pytest.raises(tesela.LimitError, match="most of them for h; max_steps is 10") as caught:
        g.run(given, max_steps=10)
    assert caught.value.code == "LIMIT"
    with pytest.raises(tesela.LimitError, match="max_bytes is 1000"):
        g.run(given, max_bytes=1000)
    for name in ("max_steps", "max_bytes"):
        with pytest.raises(tesela.RangeError, match=f"{name} is 0; expected 1 or more"):
            g.run(given, **{name: 0})
    with pytest.raises(tesela.RangeError, match="seed is -1; expected 0 or more"):
        g.run({}, seed=-1)
    assert g.run(given).facts.target == "spyre" and g.run(given, target=EXAMPLES / "own.target").facts.target == "own"
    assert g.run(given, target="spyre").facts.arena_bytes == g.run(given).facts.arena_bytes


def test_a_run_shows_progress_and_stops() -> None:
    g, given, seen = tesela.graph(LINEAR), linear_inputs(), []
    g.run(given, progress=lambda done, total: seen.append((done, total)))
    assert {total for _, total in seen} >= {64 * 200 * 257 + 2 * 64 * 200} and all(0 <= done <= total for done, total in seen)
    with pytest.raises(KeyboardInterrupt):
        g.run(given, progress=lambda done, total: False)
    with pytest.raises(ZeroDivisionError):
        g.run(given, progress=lambda done, total: 1 // 0)


def test_threads_run_one_graph() -> None:
    g, given = tesela.graph(LINEAR), linear_inputs()
    inputs = [{**given, "b": (given["b"] + k).astype(np.float16)} for k in range(8)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = list(pool.map(g.run, inputs))
    product = given["x"].astype(np.int64) @ given["w"].astype(np.int64).T
    for one, y in zip(inputs, found):
        assert np.array_equal(y["y"].astype(np.int64), np.maximum(product + one["b"].astype(np.int64), 0))


# ---- layouts, loops


def test_a_conflict_raises() -> None:
    g = tesela.graph(CONFLICT)
    with pytest.raises(tesela.MismatchError, match="would fix it: move x") as caught:
        g.assign(mode="strict")
    assert caught.value.where == "t" and caught.value.code == "CONFLICT"
    with pytest.raises(tesela.MismatchError):
        g.propagate(mode="strict")
    assert g.assign().restickifies == g.propagate().restickifies == 1
    moved = g.assign().graph
    a, x = np.arange(280).reshape(4, 70).astype(np.float16), np.ones((70, 4), np.float16)
    assert "a.stick0" in str(moved.program)
    assert np.array_equal(moved.run({"a": a, "x": x})["t"], a.T + x)


def test_loops_compute_each_element_once() -> None:
    g = tesela.graph("HloModule m\nENTRY e {\n  x = f16[10,130]{1,0} parameter(0)\n  ROOT n = f16[10,130]{1,0} negate(x)\n}\n")
    for cores in (None, 2):
        (loop,) = g.loops(cores=cores)
        seen = np.zeros(loop.extents, np.int64)
        D = tesela.device_layout((10, 130), "f16")
        for counters in itertools.product(*map(range, loop.ranges)):
            index = [0] * len(loop.extents)
            for counter, dim, step in zip(counters, loop.dims, loop.steps):
                index[dim] += counter * step
            if all(i < n for i, n in zip(index, loop.extents)):
                seen[tuple(index)] += 1
                place = loop.result.offset + sum(c * s for c, s in zip(counters, loop.result.strides))
                assert place == D.where(*index)
        assert (seen == 1).all() and "neg(" in loop.source
    assert len(tesela.graph(LINEAR).loops("h")) == 1
    assert g.loops(cores=2)[0].division.cores == 2


def test_targets(tmp_path: pathlib.Path) -> None:
    own = EXAMPLES / "own.target"
    g = tesela.graph(TWICE, target=own)
    assert g.assign().target == "own" == tesela.graph(TWICE).assign(target=own.read_text()).target
    assert tesela.graph(TWICE).assign().target == "spyre" == tesela.graph(TWICE).assign().graph.assign().target
    assert g.assign().graph.assign().target == "own"
    sticks = tesela.graph(TWICE).propagate().output_layouts["n"]["1"]
    assert sticks.device_size == (2, 4, 64)
    assert g.propagate().output_layouts["n"]["1"].device_size == (3, 4, 32)


@pytest.mark.parametrize("name", ["mlp.hlo", "block.hlo", "softmax.json", "reshape.json"])
def test_text_and_dict_agree(name: str) -> None:
    """What HLO text became in the JSON form is the same graph."""
    g = tesela.graph(EXAMPLES / name)
    again = tesela.graph(g.program)
    a, b, c = g.assign(materialise=True), again.assign(materialise=True), g.propagate(copies=True, spread=True, compact=True)
    assert (a.cost, a.target, a.moves) == (b.cost, b.target, b.moves) and a.bound <= a.cost
    assert c.operators == a.operators
    assert g.inputs == again.inputs and g.outputs == again.outputs
    assert np.array_equal(g.run(seed=3, materialise=True)[0], again.run(seed=3, materialise=True)[0], equal_nan=True)


# ---- reading


def test_texts_with_faults() -> None:
    with pytest.raises(tesela.LayoutSyntaxError, match="'op' twice"):
        tesela.graph('{"inputs": {}, "ops": [{"op": "clone", "op": "clone"}], "outputs": []}')
    with pytest.raises(tesela.LayoutSyntaxError):
        tesela.graph('{"inputs": ')
    with pytest.raises(tesela.LayoutError, match=r"ops\[0\]"):
        tesela.graph({"inputs": {}, "ops": [{"op": "permut", "out": "t", "in": []}], "outputs": []})
    with pytest.raises(tesela.LayoutSyntaxError):
        tesela.graph("HloModule m\nENTRY e {\n  x = f16[4,70]{1,0} parametr(\n}\n")
    with pytest.raises(OSError):
        tesela.graph(pathlib.Path("no such file"))
