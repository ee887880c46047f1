# SPDX-License-Identifier: Apache-2.0
"""`tesela graph run --in x=x.npy --out y=y.npy`: inputs from files, results to files. NumPy is the judge.

Numbers are small integers, so that every sum of products is exact in any order.
"""

import json
import os

import numpy as np
import pytest
from command import run
from tensor_bytes import npy, placed, safetensors

RNG = np.random.default_rng(int(os.environ.get("TESELA_SEED", "20261")))


def program(inputs, ops, *outputs):
    inputs = {name: {"size": list(shape), "dtype": dtype} for name, (dtype, shape) in inputs.items()}
    return {"inputs": inputs, "ops": ops, "outputs": list(outputs)}


def graph(folder, text, *words):
    path = folder / "program"
    path.write_text(text if isinstance(text, str) else json.dumps(text))
    return run("graph", "run", path, *words, cwd=folder)


def small(dtype, *shape):
    return RNG.integers(-4, 5, shape).astype(dtype)


def fine(done):
    assert (done.returncode, done.stderr) == (0, b"")


def refused(done, *parts):
    assert (done.returncode, done.stdout) == (2, b""), done
    for part in parts:
        assert part in done.stderr.decode()


MATMUL = program({"a": ("f32", (3, 5)), "b": ("f32", (5, 7))}, [{"op": "matmul", "out": "c", "in": ["a", "b"]}], "c")


@pytest.mark.parametrize("dtype, name", [(np.float32, "f32"), (np.float16, "f16"), (np.float64, "f64"), (np.int32, "s32")])
def test_matmul_and_add(tmp_path, dtype, name):
    x, w, b = small(dtype, 3, 70), small(dtype, 70, 5), small(dtype, 5)
    for key, value in {"x": x, "w": w, "b": b}.items():
        np.save(tmp_path / f"{key}.npy", value)
    ops = [{"op": "matmul", "out": "h", "in": ["x", "w"]}, {"op": "pointwise", "fn": "add", "out": "y", "in": ["h", "b"]}]
    text = program({"x": (name, x.shape), "w": (name, w.shape), "b": (name, b.shape)}, ops, "y")
    fine(graph(tmp_path, text, "--in=x=x.npy", "--in", "w=w.npy", "--in=b=b.npy", "--out", "y=y.npy"))
    got = np.load(tmp_path / "y.npy")
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, x @ w + b)


def test_transposed_input(tmp_path):
    """A file in Fortran order is the same tensor; so is one of the other byte order; the program's own view of it counts."""
    a, x = small(np.float32, 6, 4), small(np.float32, 4, 6)
    np.save(tmp_path / "a.npy", np.asfortranarray(a))
    np.save(tmp_path / "x.npy", x.astype(">f4"))
    assert b"'fortran_order': True" in (tmp_path / "a.npy").read_bytes()
    ops = [
        {"op": "permute", "out": "at", "in": ["a"], "dims": [1, 0]},
        {"op": "pointwise", "fn": "sub", "out": "y", "in": ["at", "x"]},
    ]
    text = program({"a": ("f32", a.shape), "x": ("f32", x.shape)}, ops, "y")
    fine(graph(tmp_path, text, "--in=a=a.npy", "--in=x=x.npy", "--out=y=y.npy"))
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), a.T - x)


@pytest.mark.parametrize("strides", [[1, 3], [10, 1], [-4, 1], [4, -1]])
def test_host_strides(tmp_path, strides):
    """An input that the program holds with strides of its own."""
    a = small(np.float32, 3, 4)
    np.save(tmp_path / "a.npy", a)
    text = program({"a": ("f32", a.shape)}, [{"op": "pointwise", "fn": "neg", "out": "y", "in": ["a"]}], "y")
    text["inputs"]["a"]["strides"] = strides
    fine(graph(tmp_path, text, "--in=a=a.npy", "--out=y=y.npy"))
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), -a)


def bf16(values):
    """Small integers are exact in bf16: the upper half of the float."""
    return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def test_bf16(tmp_path):
    """NumPy has no such type: its files say 2 bytes, and the program says of what."""
    a = small(np.float32, 3, 4)
    (tmp_path / "a.npy").write_bytes(npy("<V2", a.shape, bf16(a).tobytes()))
    text = program({"a": ("bf16", a.shape)}, [{"op": "pointwise", "fn": "neg", "out": "y", "in": ["a"]}], "y")
    fine(graph(tmp_path, text, "--in=a=a.npy", "--out=y=y.npy"))
    got = np.load(tmp_path / "y.npy").view(np.uint16)
    np.testing.assert_array_equal(got, bf16(-a))


def test_tiled_tensor_of_a_safetensors(tmp_path):
    """The layout that the file keeps beside a tensor counts; of several tensors it is the one with the input's name."""
    layout = "f32[3,5]{1,0:T(2,2)}"
    a, other = small(np.float32, 3, 5), small(np.float32, 2)
    data = placed(layout, a.view(np.uint32).ravel().tolist())
    tensors = {"other": ("F32", [2], other.tobytes()), "a": ("F32", [len(data) // 4], data)}
    (tmp_path / "a.safetensors").write_bytes(safetensors(tensors, {"tesela.layout.a": layout}))
    text = program({"a": ("f32", a.shape)}, [{"op": "pointwise", "fn": "neg", "out": "y", "in": ["a"]}], "y")
    fine(graph(tmp_path, text, "--in=a=a.safetensors", "--out=y=y.npy"))
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), -a)


ROOT = """HloModule m
ENTRY e {
  x = f32[3,4]{1,0} parameter(0)
  y = f32[3,4]{1,0} parameter(1)
  s = f32[3,4]{1,0} add(x, y)
  n = f32[3,4]{1,0} negate(y)
  ROOT t = (f32[3,4]{1,0}, f32[3,4]{1,0}, f32[3,4]{1,0}) tuple(n, s, n)
}
"""


def test_results_in_the_order_of_the_root_tuple(tmp_path):
    """The places of a result in the tuple are its numbers, duplicates included."""
    x, y = small(np.float32, 3, 4), small(np.float32, 3, 4)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    outs = [f"--out={k}={k}.npy" for k in range(3)]
    done = graph(tmp_path, ROOT, "--json", "--target=tiles", "--in=x=x.npy", "--in=y=y.npy", *outs)
    fine(done)
    assert [output["name"] for output in json.loads(done.stdout)["outputs"]] == ["n", "s", "n"]
    for k, expected in enumerate([-y, x + y, -y]):
        np.testing.assert_array_equal(np.load(tmp_path / f"{k}.npy"), expected)
    fine(graph(tmp_path, ROOT, "--target=tiles", "--in=x=x.npy", "--in=y=y.npy", "--out=s=s.npy"))
    np.testing.assert_array_equal(np.load(tmp_path / "s.npy"), x + y)


def test_the_rest_is_made_up_with_a_seed(tmp_path):
    np.save(tmp_path / "a.npy", small(np.float32, 3, 5))
    refused(graph(tmp_path, MATMUL, "--in=a=a.npy"), "missing input 'b', f32[5,7]", "--seed=N")
    fine(graph(tmp_path, MATMUL, "--in=a=a.npy", "--seed=1"))


@pytest.mark.parametrize(
    "value, found",
    [
        (np.zeros((5, 3), np.float32), "f32[5,3]"),
        (np.zeros((3, 5), np.float16), "f16[3,5]"),
        (np.zeros((3, 5), np.int32), "s32[3,5]"),
        (np.zeros((3, 5, 1), np.float32), "f32[3,5,1]"),
    ],
)
def test_type_and_shape_are_checked(tmp_path, value, found):
    np.save(tmp_path / "a.npy", value)
    done = graph(tmp_path, MATMUL, "--in=a=a.npy", "--seed=1", "--out=c=c.npy")
    refused(done, f"input 'a': expected f32[3,5], found {found} (a.npy)")
    assert not (tmp_path / "c.npy").exists()


def test_what_is_wrong_is_said(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((3, 5), np.float32))
    (tmp_path / "raw.bin").write_bytes(bytes(60))
    np.save(tmp_path / "cut", np.zeros((3, 5), np.float32))
    (tmp_path / "cut.npy").write_bytes((tmp_path / "a.npy").read_bytes()[:-1])
    given = ["--seed=1", "--in=a=a.npy"]
    text = program({"weights": ("f32", (1,))}, [{"op": "pointwise", "fn": "neg", "out": "result", "in": ["weights"]}], "result")
    refused(graph(tmp_path, text, "--in=wieghts=a.npy"), "unknown input 'wieghts'; did you mean weights?")
    refused(graph(tmp_path, text, "--out=resul=a.npy"), "unknown output 'resul'; did you mean result?")
    refused(graph(tmp_path, MATMUL, "--in=c=a.npy"), "unknown input 'c'")
    refused(graph(tmp_path, MATMUL, "--in=a"), "expected NAME=FILE")
    refused(graph(tmp_path, MATMUL, *given, "--in=a=a.npy"), "input 'a' is given twice")
    refused(graph(tmp_path, MATMUL, "--in=a=none.npy"), "input 'a': none.npy")
    refused(graph(tmp_path, MATMUL, "--in=a=cut.npy"), "input 'a': cut.npy")
    refused(graph(tmp_path, MATMUL, "--in=a=raw.bin"), "expected a .npy or .safetensors file, found raw bytes")
    (tmp_path / "two.safetensors").write_bytes(safetensors({"p": ("F32", [1], bytes(4)), "q": ("F32", [1], bytes(4))}))
    refused(graph(tmp_path, MATMUL, "--in=a=two.safetensors"), "no tensor of this name among the 2")
    refused(graph(tmp_path, MATMUL, *given, "--out=d=d.npy"), "unknown output 'd'")
    refused(graph(tmp_path, MATMUL, *given, "--out=1=d.npy"), "unknown output '1'")
    refused(graph(tmp_path, MATMUL, *given, "--out=c=c.bin"), "expected a path that ends in .npy, found c.bin")
    refused(graph(tmp_path, MATMUL, *given, "--out=c=c.npy", "--out=0=d.npy"), "output '0' is given twice")
    assert not (tmp_path / "c.npy").exists()


def test_a_result_that_cannot_be_written(tmp_path):
    done = graph(tmp_path, MATMUL, "--out=c=nowhere/c.npy")
    refused(done, "output 'c': nowhere/c.npy")
