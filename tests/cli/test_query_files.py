# SPDX-License-Identifier: Apache-2.0
"""`tesela query --files=DIR`: operations that write files, and what they may touch. NumPy, or the oracle's places, say what must be
in the files."""

import json
import os
import random

import numpy as np
import pytest
from command import run
from tensor_bytes import elements, npy, placed, read_safetensors, safetensors

SEED = int(os.environ.get("TESELA_SEED", "20261123"), 0)


def ask(folder, *requests, **how):
    """The responses to requests that may use files beneath a folder; None: none."""
    text = "".join(json.dumps(request) + "\n" for request in requests)
    done = run("query", *([f"--files={folder}"] if folder else []), text=text, **how)
    assert (done.returncode, done.stderr) == (0, b"")
    responses = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(responses) == len(requests)
    return responses


def good(folder, request, **how):
    (response,) = ask(folder, request, **how)
    assert response.pop("ok") is True, response
    response.pop("id")
    return response


def refused(folder, request, code, field, **how):
    (response,) = ask(folder, request, **how)
    assert response["ok"] is False, response
    error = response["error"]
    assert (error["code"], error.get("field")) == (code, field), error
    return error["message"]


def names(folder):
    return sorted(path.name for path in folder.iterdir())


# ---- relayout ----


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.complex64, np.bool_, ">f4", ">c8"])
def test_npy_to_npy(tmp_path, dtype):
    rng = np.random.default_rng(SEED)
    array = rng.integers(-100, 100, (5, 6, 7)).astype(dtype)
    np.save(tmp_path / "x.npy", array)
    said = good(tmp_path, {"op": "relayout", "file": "x.npy", "output": "y.npy", "to": "{0,1,2}"})
    got = np.load(tmp_path / "y.npy")
    assert got.flags.f_contiguous and got.dtype == np.dtype(dtype).newbyteorder("<")
    np.testing.assert_array_equal(got, array)
    assert (said["output"], said["format"], said["bytes"]) == ("y.npy", "npy", (tmp_path / "y.npy").stat().st_size)
    assert names(tmp_path) == ["x.npy", "y.npy"]


def test_raw_places_and_fill(tmp_path):
    rng = random.Random(SEED)
    for _ in range(10):
        source = f"s16[{rng.randint(1, 9)},{rng.randint(1, 9)}]"
        target = source + f"{{{rng.choice(['0,1', '1,0'])}:T({rng.randint(1, 4)},{rng.randint(1, 4)})}}"
        values = elements(source, rng.random())
        (tmp_path / "in").write_bytes(placed(source, values))
        request = {"op": "relayout", "file": "in", "output": "out", "from": source, "to": target, "fill": "-2"}
        good(tmp_path, request)
        assert (tmp_path / "out").read_bytes() == placed(target, values, fill=0xFFFE), (SEED, source, target)


def test_values_are_converted(tmp_path):
    array = np.array([[1, -2, 0.5], [np.inf, 3e-40, 65536]], np.float32)
    np.save(tmp_path / "x.npy", array)
    good(tmp_path, {"op": "relayout", "file": "x.npy", "output": "y", "to": "f16[2,3]", "transform": "convert"})
    with np.errstate(all="ignore"):
        assert (tmp_path / "y").read_bytes() == array.astype(np.float16).tobytes()
    message = refused(tmp_path, {"op": "relayout", "file": "x.npy", "output": "z", "to": "f16[2,3]"}, "INVALID", None)
    assert "relayout with transform=convert changes them" in message
    assert names(tmp_path) == ["x.npy", "y"]


def test_the_output_may_be_the_input(tmp_path):
    array = np.arange(6 * 50, dtype=np.float32).reshape(6, 50)
    np.save(tmp_path / "x.npy", array)
    good(tmp_path, {"op": "relayout", "file": "x.npy", "output": "x.npy", "to": "{0,1}"})
    got = np.load(tmp_path / "x.npy")
    assert got.flags.f_contiguous and (got == array).all() and names(tmp_path) == ["x.npy"]


def test_an_old_output_is_replaced_or_stays(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(3, dtype=np.int32))
    (tmp_path / "y").write_bytes(b"old")
    wrong = [{"to": "{0,1}"}, {"to": "{0}", "fill": "much"}, {"to": "{0}", "dtype": "f64"}, {"to": "{0}", "memory": 5}, {"to": "{0}", "tensor": "t"}]
    for change in wrong:
        (response,) = ask(tmp_path, {"op": "relayout", "file": "x.npy", "output": "y", **change})
        assert response["ok"] is False
        assert (tmp_path / "y").read_bytes() == b"old" and names(tmp_path) == ["x.npy", "y"]
    good(tmp_path, {"op": "relayout", "file": "x.npy", "output": "y", "to": "{0}"})
    assert (tmp_path / "y").read_bytes() == np.arange(3, dtype=np.int32).tobytes() and names(tmp_path) == ["x.npy", "y"]


@pytest.mark.parametrize("folder", [".", "deep", "deep/er"])
def test_folders_beneath(tmp_path, folder):
    (tmp_path / "deep/er").mkdir(parents=True)
    np.save(tmp_path / folder / "x.npy", np.arange(3, dtype=np.int32))
    good(tmp_path, {"op": "relayout", "file": f"{folder}//x.npy", "output": f"./{folder}/y", "to": "{0}"})
    assert names(tmp_path / folder)[-2:] == ["x.npy", "y"]


def test_a_minus_is_a_name(tmp_path):
    """Standard input has the requests, standard output the answers."""
    (tmp_path / "-").write_bytes(b"abcd")
    good(tmp_path, {"op": "relayout", "file": "-", "output": "-", "from": "u8[2,2]", "to": "{0,1}"}, cwd=tmp_path)
    assert (tmp_path / "-").read_bytes() == b"acbd"


# ---- pack and unpack ----


def test_pack_and_unpack(tmp_path):
    a, b = elements("f32[3,5]", 1), elements("s8[7]", 2)
    tensors = {"a.weight": ("F32", [3, 5], placed("f32[3,5]", a)), "b": ("I8", [7], placed("s8[7]", b))}
    (tmp_path / "x").write_bytes(safetensors(tensors, {"by": "hand"}))
    tiled = "f32[3,5]{0,1:T(2,2)}"
    said = good(tmp_path, {"op": "pack", "file": "x", "output": "p", "rules": ["*.weight={0,1:T(2,2)}"]})
    assert [(t["name"], t["from"], t["to"]) for t in said["tensors"]] == [("a.weight", "f32[3,5]{1,0}", tiled)]
    packed, metadata = read_safetensors((tmp_path / "p").read_bytes())
    assert packed == {"a.weight": ("F32", [24], placed(tiled, a)), "b": tensors["b"]}
    assert metadata == {"by": "hand", "tesela.layout.a.weight": tiled}
    good(tmp_path, {"op": "unpack", "file": "p", "output": "y.safetensors"})
    assert read_safetensors((tmp_path / "y.safetensors").read_bytes()) == (tensors, {"by": "hand"})
    good(tmp_path, {"op": "unpack", "file": "p", "output": "a.npy"})
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy").view(np.uint32), np.array(a, np.uint32).reshape(3, 5))


def test_rules_that_are_wrong(tmp_path):
    tensors = {"a": ("I8", [2, 3], bytes(6)), "b": ("I8", [2, 3], bytes(6))}
    (tmp_path / "x").write_bytes(safetensors(tensors))
    pack = {"op": "pack", "file": "x", "output": "y"}
    assert "missing layout; to=" in refused(tmp_path, pack, "INVALID", "rules")
    assert "invalid rule a" in refused(tmp_path, {**pack, "rules": ["a"]}, "INVALID", "rules")
    assert "no tensor matches 'c'; the file has" in refused(tmp_path, {**pack, "rules": ["c={1,0}", "a={0,1}"]}, "INVALID", None)
    (response,) = ask(tmp_path, {**pack, "rules": ["a={1,0}", "b={0,1:T(2,2)x}"]})
    text = "b={0,1:T(2,2)x}"
    assert (response["error"]["field"], response["error"]["at"]) == ("rules", text.index("x"))
    (response,) = ask(tmp_path, {**pack, "rules": ["b="], "to": "{1,0}"})
    assert "invalid rule" in response["error"]["message"]
    (response,) = ask(tmp_path, {**pack, "rules": ["b=s16[2,3]"], "to": "{1,0}"})
    assert response["error_at"] == "b" and "of another type or width" in response["error"]["message"]
    (response,) = ask(tmp_path, {**pack, "to": "s16[2,3]{0,1}"})
    assert response["error_at"] == "a" and "of another type or width" in response["error"]["message"]
    assert names(tmp_path) == ["x"]


# ---- graph_run ----

PROGRAM = {
    "inputs": {"a": {"size": [3, 5], "dtype": "f32"}, "b": {"size": [5, 7], "dtype": "f32"}},
    "ops": [{"op": "matmul", "out": "c", "in": ["a", "b"]}], "outputs": ["c"],
}  # fmt: skip
RUN = {"op": "graph_run", "graph": PROGRAM, "in": {"a": "a.npy", "b": "in/b.npy"}, "out": {"c": "out/c.npy"}}


@pytest.fixture
def numbers(tmp_path):
    rng = np.random.default_rng(SEED)
    a, b = (rng.integers(-4, 5, shape).astype(np.float32) for shape in ((3, 5), (5, 7)))
    for folder in ("in", "out"):
        (tmp_path / folder).mkdir()
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "in/b.npy", b)
    return a, b


def test_a_program_with_files(tmp_path, numbers):
    assert good(tmp_path, RUN)["same"] is True
    np.testing.assert_array_equal(np.load(tmp_path / "out/c.npy"), numbers[0] @ numbers[1])
    assert names(tmp_path / "out") == ["c.npy"]


# ---- what may not be touched ----

REQUESTS = {
    "relayout": {"op": "relayout", "file": "a.npy", "output": "y", "to": "{0,1}"},
    "pack": {"op": "pack", "file": "a.npy", "output": "y", "to": "{0,1}"},
    "unpack": {"op": "unpack", "file": "packed", "output": "y"},
    "graph_run": RUN,
}


def put(request, field, path):
    """The request with another path, and the field that is at fault."""
    if field in request:
        return {**request, field: path}
    return {**request, field.split(".")[0]: {**request[field.split(".")[0]], field.split(".")[1]: path}}


CASES = [(op, field) for op in ("relayout", "pack", "unpack") for field in ("file", "output")]
CASES += [("graph_run", "in.a"), ("graph_run", "in.b"), ("graph_run", "out.c")]


@pytest.fixture
def inside(tmp_path):
    """The folder that is allowed, in one that is not; both have all files."""
    inside = tmp_path / "inside"
    inside.mkdir()
    for folder in (tmp_path, inside):
        np.save(folder / "a.npy", np.zeros((3, 5), np.float32))
        for name in ("in", "out"):
            (folder / name).mkdir()
        np.save(folder / "in/b.npy", np.zeros((5, 7), np.float32))
        (folder / "packed").write_bytes(
            safetensors({"x": ("F32", [4], bytes(16))}, {"tesela.layout.x": "f32[2,2]{0,1}"})
        )
    (inside / "up").symlink_to("..")
    (inside / "link.npy").symlink_to("a.npy")
    (inside / "outside.npy").symlink_to(tmp_path / "a.npy")
    (inside / "dangling.npy").symlink_to(tmp_path / "new.npy")
    os.mkfifo(inside / "pipe.npy")
    return inside


@pytest.mark.parametrize("op, field", CASES)
def test_paths_that_lead_out(inside, tmp_path, op, field):
    request, at = REQUESTS[op], field.split(".")[0]
    before = [names(tmp_path), names(inside), (tmp_path / "a.npy").read_bytes()]
    good(inside, request)
    for path in (inside / "y", inside / "out/c.npy"):
        path.unlink(missing_ok=True)
    out = ("../a.npy", "in/../../a.npy", "up/a.npy", "..", str(tmp_path / "a.npy"), str(inside / "a.npy"), "", "/", "in/../a.npy")
    for path in (*out, "link.npy", "outside.npy", "dangling.npy", "pipe.npy"):
        refused(inside, put(request, field, path), "UNSUPPORTED", at)
    assert "--files=DIR" in refused(None, request, "UNSUPPORTED", "in" if op == "graph_run" else "output")
    assert [names(tmp_path), names(inside), (tmp_path / "a.npy").read_bytes()] == before


@pytest.mark.parametrize("op, field", CASES)
def test_paths_that_cannot_be(inside, op, field):
    request, at = REQUESTS[op], field.split(".")[0]
    before = names(inside)
    for path in ("x" * 300 + ".npy", "no/a.npy", "a.npy/x.npy"):
        refused(inside, put(request, field, path), "IO", at)
    (response,) = ask(inside, put(request, field, "in"))
    assert response["ok"] is False
    (response,) = ask(inside, put(request, field, 5))
    assert response["ok"] is False
    assert names(inside) == before


def test_fields_that_belong_together(tmp_path):
    (tmp_path / "x").write_bytes(b"ab")
    whole = {"op": "relayout", "file": "x", "output": "y", "from": "u8[2]", "to": "{0}"}
    for gone in ("file", "output"):
        refused(tmp_path, {k: v for k, v in whole.items() if k != gone}, "INVALID", None)
    refused(tmp_path, {**whole, "data_hex": "0001"}, "INVALID", None)
    refused(tmp_path, {k: v for k, v in whole.items() if k != "from"}, "INVALID", None)
    refused(tmp_path, {**whole, "memory": 1000}, "INVALID", "memory")
    refused(tmp_path, {**whole, "fill": "much"}, "INVALID", "fill")
    refused(tmp_path, {**whole, "threads": 0}, "RANGE", "threads")
    refused(tmp_path, {**whole, "format": "npz"}, "UNSUPPORTED", "format")
    refused(tmp_path, {**whole, "from": "u8[2"}, "SYNTAX", "from")
    refused(tmp_path, {**whole, "to": "{0:T(0)}"}, "RANGE", "to")
    refused(tmp_path, {**whole, "deadline_ms": 0}, "STOPPED", None)
    assert names(tmp_path) == ["x"]


def test_a_packed_file_of_another_width(tmp_path):
    """NumPy has no bf16: bytes go in and out."""
    (tmp_path / "x.npy").write_bytes(npy("<V2", (2, 3), bytes(range(12))))
    good(tmp_path, {"op": "relayout", "file": "x.npy", "output": "y.npy", "dtype": "bf16", "to": "{0,1}"})
    assert (tmp_path / "y.npy").read_bytes() == npy("<V2", (2, 3), bytes([0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11]), fortran=True)
