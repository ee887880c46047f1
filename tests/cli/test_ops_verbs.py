# SPDX-License-Identifier: Apache-2.0
"""Every verb has an operation, and what its --json prints is what the operation answers in `tesela query`.

CASES: a command line, and the request, or the list of requests, one for each line that is printed.
"""

import json
import re
import struct

import pytest
from command import SOURCE, error, good, run
from tensor_bytes import npy

# Verbs without an operation: they are about the command itself.
EXCEPT = {"help", "version", "formats", "query"}

TILED, STICKS, HELD = "f32[3,5]{1,0:T(2,2)}", "f16[1000,200] stick(dim_order=[0,1])", "mma.m16n8k8.f16.C"
EXAMPLES = SOURCE / "examples"

PROBLEM = f"{TILED} -> {{0,1:T(2,2)}}"

# Measured anew each time.
TIMES = {"best_ns", "median_ns", "gb_per_s", "ratio_to_memcpy", "create_ns"}


def program(name):
    """A program of examples/, and as the text that an operation takes."""
    path = SOURCE / "examples" / name
    return path, {"text": path.read_text()}


LINEAR, LINEAR_TEXT = program("linear.json")
MLP, MLP_TEXT = program("mlp.hlo")
STRICT, AUTO = {"op": "graph_assign", "mode": "strict"}, {"op": "graph_assign"}


STEP_MLIR = EXAMPLES / "step.mlir"


def printed_by(path):
    """A file of the tree as the operations report and diff take it."""
    return {"texts": [{"name": str(path), "text": path.read_text()}]}


STEP, TABLE, OOM = (SOURCE / "examples" / name for name in ("step.hlo.txt", "memory_table.txt", "oom_report.txt"))

CASES = [
    (["graph", "propagate", LINEAR], {**STRICT, **LINEAR_TEXT}),
    (["graph", "propagate", "--mode=auto", LINEAR], {**AUTO, **LINEAR_TEXT}),
    (["graph", "assign", LINEAR], {**AUTO, "graph": json.loads(LINEAR.read_text())}),
    (["graph", "assign", "--padding", "--share", "--spread", "--compact", "--copies", "--effort=1000", MLP],
     {**AUTO, "padding": True, "share": True, "spread": True, "compact": True, "copies": True, "effort": 1000, **MLP_TEXT}),
    (["graph", "assign", "--materialise", "--target=tiles", LINEAR], {**AUTO, "materialise": True, "target": "tiles", **LINEAR_TEXT}),
    (["graph", "plan", MLP], {"op": "graph_plan", **MLP_TEXT}),
    (["graph", "plan", "--no-reuse", "--inputs", "--scratchpad=70000", "--capacity=9000000", MLP],
     {"op": "graph_plan", "no_reuse": True, "inputs": True, "scratchpad": 70000, "capacity": 9000000, **MLP_TEXT}),
    (["graph", "assign", "--loops=h", "--cores=3", LINEAR], {"op": "graph_loops", "node": "h", "cores": 3, **LINEAR_TEXT}),
    (["graph", "run", LINEAR], {"op": "graph_run", **LINEAR_TEXT}),
    (["graph", "run", "--seed=7", "--max-steps=100000000", "--max-bytes=1GiB", MLP],
     {"op": "graph_run", "seed": 7, "max_steps": 10**8, "max_bytes": 2**30, **MLP_TEXT}),
    (["graph", "run", "--mode=strict", LINEAR], {"op": "graph_run", "mode": "strict", **LINEAR_TEXT}),
    (["translate", TILED, "--to=cute"], {"op": "translate", "from": TILED, "to": "cute"}),
    (["translate", "(4,8):(8,1)", "--to=all", "--shape=3x8", "--dtype=f32"],
     {"op": "translate", "from": "(4,8):(8,1)", "to": "all", "shape": [3, 8], "dtype": "f32"}),
    (["choose", "f32[300,12]"], {"op": "choose", "shape": "f32[300,12]", "argument": True, "order": True}),
    (["choose", "--target=v2", "--keep-order", "--inside", "s8[64,256]"], {"op": "choose", "shape": "s8[64,256]", "target": "v2"}),
    (["predict", STEP_MLIR], {"op": "predict", "text": STEP_MLIR.read_text(), "target": "v5e"}),
    (["predict", "--target=v2", STEP_MLIR], {"op": "predict", "text": STEP_MLIR.read_text(), "target": "v2"}),
    (["where", TILED, "2,3"], {"op": "where", "layout": TILED, "index": [2, 3]}),
    (["where", TILED, "2,3", "[0,0]"], [{"op": "where", "layout": TILED, "index": at} for at in ([2, 3], [0, 0])]),
    (["where", "F32[3, 5]", "2,3"], {"op": "where", "layout": "F32[3, 5]", "index": [2, 3], "lenient": True}),
    (["where", "u4[3,5]", "2,4"], {"op": "where", "layout": "u4[3,5]", "index": [2, 4]}),
    (["where", "f32[]{:T(128)}", "[]"], {"op": "where", "layout": "f32[]{:T(128)}", "index": []}),
    (["where", STICKS, "2,70"], {"op": "where", "layout": STICKS, "index": [2, 70]}),
    (["where", HELD, "9,3"], {"op": "where", "layout": HELD, "index": [9, 3]}),
    (["where", "shared_row_major(2, 3)", "1,1"], {"op": "where", "layout": "shared_row_major(2, 3)", "index": [1, 1]}),
    (["what", TILED, "17", "9"], [{"op": "what", "layout": TILED, "place": at} for at in (17, 9)]),
    (["what", "--bytes", "u4[3,5]", "1"], {"op": "what", "layout": "u4[3,5]", "byte": 1}),
    (["what", STICKS, "70"], {"op": "what", "layout": STICKS, "place": 70}),
    (["what", HELD, "5:3"], {"op": "what", "layout": HELD, "place": [5, 3]}),
    (["show", TILED], {"op": "info", "layout": TILED, "details": True}),
    (["show", "u8[2,5]{1,0:T(*,3)L(8)}"], {"op": "info", "layout": "u8[2,5]{1,0:T(*,3)L(8)}", "details": True}),
    (["show", "token[]"], {"op": "info", "layout": "token[]", "details": True}),
    (["show", "(f32[2],(u8[2],token[]))"], {"op": "info", "layout": "(f32[2],(u8[2],token[]))", "details": True}),
    (["show", HELD], {"op": "info", "layout": HELD, "details": True}),
    (["show", "shared_row_major(2, 3)"], {"op": "info", "layout": "shared_row_major(2, 3)", "details": True}),
    (["show", STICKS], {"op": "info", "layout": STICKS, "details": True}),
    (["show", "--target=tiles", "f16[40,60] stick()"],
     {"op": "info", "layout": "f16[40,60] stick()", "details": True, "target": "tiles"}),
    (["plan", PROBLEM], {"op": "plan", "problem": PROBLEM}),
    (["plan", PROBLEM, "--fill=-1.5", "--isa=c", "--solver=gather", "--threads=2", "--effort=estimate"],
     {"op": "plan", "from": TILED, "to": "{0,1:T(2,2)}", "fill": "-1.5", "isa": "c", "solver": "gather", "threads": 2,
      "effort": "estimate"}),
    (["plan", "f32[3,5] -> bf16[3,5]"], {"op": "plan", "problem": "f32[3,5] -> bf16[3,5]", "transform": "convert"}),
    (["check", PROBLEM], {"op": "check", "problem": PROBLEM}),
    (["check", PROBLEM, "--seed=7", "--isa=c", "--solver=any", "--threads=1", "--max-bytes=1KiB"],
     {"op": "check", "problem": PROBLEM, "seed": 7, "isa": "c", "solver": "any", "threads": 1, "max_bytes": 1024}),
    (["bench", PROBLEM, "--rounds=3", "--isa=c"], {"op": "bench", "problem": PROBLEM, "rounds": 3, "isa": "c"}),
    (["same", TILED, TILED], {"op": "same", "a": TILED, "b": TILED}),
    (["same", TILED, "f32[3,5]{1,0}"], {"op": "same", "a": TILED, "b": "f32[3,5]{1,0}"}),
    (["same", TILED, "f32[3,6]"], {"op": "same", "a": TILED, "b": "f32[3,6]"}),
    (["same", "(f32[2],u8[2])", "(f32[2],u8[3])"], {"op": "same", "a": "(f32[2],u8[2])", "b": "(f32[2],u8[3])"}),
    (["same", "(f32[2],u8[2])", "f32[2]"], {"op": "same", "a": "(f32[2],u8[2])", "b": "f32[2]"}),
    (["same", "spatial(2,3)", "column_spatial(2,3)"], {"op": "same", "a": "spatial(2,3)", "b": "column_spatial(2,3)"}),
    (["access", HELD, "shared_row_major(16, 8)"],
     {"op": "access", "register": HELD, "memory": "shared_row_major(16, 8)", "dtype": "f16"}),
    (["access", "--dtype=f32", "--vector=1", "--warp=64", "--banks=64", "--bank-bytes=8", HELD, "shared_row_major(16, 8)"],
     {"op": "access", "register": HELD, "memory": "shared_row_major(16, 8)", "dtype": "f32", "vector": 1, "warp": 64,
      "banks": 64, "bank_bytes": 8}),
    (["access", HELD, "global_row_major(16, 8)"],
     {"op": "access", "register": HELD, "memory": "global_row_major(16, 8)", "dtype": "f16"}),
    (["swizzle", "spatial(1, 32).local(32, 1)", "column_spatial(32, 1).local(1, 32)"],
     {"op": "swizzle", "writes": ["spatial(1, 32).local(32, 1)"], "reads": ["column_spatial(32, 1).local(1, 32)"], "dtype": "f16"}),
    (["swizzle", "--ldmatrix", "--dtype=bf16", "--banks=16", "--max-steps=1000000", "mma.m16n8k16.f16.A"],
     {"op": "swizzle", "reads": ["mma.m16n8k16.f16.A"], "dtype": "bf16", "ldmatrix": True, "banks": 16, "max_steps": 1000000}),
    (["convert", "spatial(4, 8)", "column_spatial(4, 8)"],
     {"op": "convert", "from": "spatial(4, 8)", "to": "column_spatial(4, 8)", "dtype": "f16"}),
    (["convert", "--through=shared", "--cuda=turn", "--dtype=f32", "spatial(4, 8)", "column_spatial(4, 8)"],
     {"op": "convert", "from": "spatial(4, 8)", "to": "column_spatial(4, 8)", "dtype": "f32", "through": "shared", "cuda": "turn"}),
    (["convert", "--warp=64", "spatial(8, 8)", "column_spatial(8, 8)"],
     {"op": "convert", "from": "spatial(8, 8)", "to": "column_spatial(8, 8)", "dtype": "f16", "warp": 64}),
    (["infer", EXAMPLES / "attention.kernel"], {"op": "infer", "program": (EXAMPLES / "attention.kernel").read_text()}),
    (["infer", EXAMPLES / "conflict.kernel"], {"op": "infer", "program": (EXAMPLES / "conflict.kernel").read_text()}),
    (["dma", STICKS], {"op": "dma", "layout": STICKS}),
    (["dma", "--plain", "--innermost-first", "--to-host", "--max-dims=2", STICKS],
     {"op": "dma", "layout": STICKS, "form": "plain", "innermost_first": True, "direction": "to_host", "limits": {"max_dims": 2}}),
    (["dma", "--strides=-200,-1", "--offset=199999", "--box=4:6,60:70", STICKS],
     {"op": "dma", "layout": STICKS, "host": {"strides": [-200, -1], "offset": 199999}, "box": {"start": [4, 60], "size": [2, 10]}}),
    (["dma", "--padding", "--target=tiles", "f16[40,60] stick()"],
     {"op": "dma", "layout": "f16[40,60] stick()", "padding": True, "target": "tiles"}),
    (["dma", f"--target={EXAMPLES}/own.target", "--max-extent=16", "f16[40,64] stick(dim_order=[0,1])"],
     {"op": "dma", "layout": "f16[40,64] stick(dim_order=[0,1])", "target": (EXAMPLES / "own.target").read_text(), "limits": {"max_extent": 16}}),
    (["report", STEP], {"op": "report", **printed_by(STEP)}),
    (["report", "--top=1", "--by=expansion", "--space=0", OOM],
     {"op": "report", "top": 1, "by": "expansion", "space": 0, **printed_by(OOM)}),
    (["report", "--max-waste=50%", "--top=0", "--by=size", STEP, OOM],
     {"op": "report", "max_waste": "50%", "top": 0, "by": "size", "texts": printed_by(STEP)["texts"] + printed_by(OOM)["texts"]}),
    (["report", "--max-bytes=16GiB", OOM], {"op": "report", "max_bytes": "16GiB", **printed_by(OOM)}),
    (["report", "--max-peak=50MiB", "--timeline", STEP], {"op": "report", "max_peak": "50MiB", "timeline": True, **printed_by(STEP)}),
    (["report", f"--baseline={OOM}", STEP], {"op": "report", **printed_by(STEP), "baseline": printed_by(OOM)}),
    (["diff", STEP, OOM], {"op": "diff", "before": printed_by(STEP), "after": printed_by(OOM)}),
    (["diff", "--top=0", "--space=0", OOM, STEP],
     {"op": "diff", "top": 0, "space": 0, "before": printed_by(OOM), "after": printed_by(STEP)}),
    (["same", STICKS, "f16[1000,200]"], {"op": "same", "a": STICKS, "b": "f16[1000,200]"}),
]  # fmt: skip


def but_times(answer):
    if isinstance(answer, list):
        return [but_times(item) for item in answer]
    if not isinstance(answer, dict):
        return answer
    return {name: type(value) if name in TIMES else but_times(value) for name, value in answer.items()}


@pytest.mark.parametrize("words, requests", CASES, ids=[" ".join(str(getattr(word, "name", word)) for word in words) for words, _ in CASES])
def test_both_answers_are_equal(words, requests):
    done = run(words[0], "--json", *words[1:])
    assert done.returncode in (0, 1), done.stderr
    printed = [json.loads(line) for line in done.stdout.splitlines()]
    for answer in printed:  # the old name of "placed"; in a response of query it is the envelope's
        assert answer.pop("ok", None) == answer.get("placed")
    answers = [good(request) for request in (requests if isinstance(requests, list) else [requests])]
    assert but_times(printed) == but_times(answers)


def test_a_list_of_buffers(tmp_path):
    """a and b live together, and so do b and c: 6 bytes, with c where a was."""
    buffers, csv = tmp_path / "b.csv", "id,lower,upper,size\na,0,3,4\nb,1,5,2\nc,3,6,4\n"
    buffers.write_text(csv)
    for words, fields in (([], {}), (["--capacity=7", "--effort=5"], {"capacity": 7, "effort": 5})):
        printed = json.loads(run("graph", "plan", "--json", *words, buffers).stdout)
        assert printed == good({"op": "graph_plan", "csv": csv, **fields})
        assert printed["arena"]["peak"] == 6 and printed["offsets"]["a"] == printed["offsets"]["c"]
    done = run("graph", "plan", "--json", "--capacity=5", buffers)
    assert (done.returncode, done.stdout) == (1, b"") and b"every plan needs at least 6" in done.stderr
    assert error({"op": "graph_plan", "csv": csv, "capacity": 5})["code"] == "LIMIT"
    assert error({"op": "graph_plan", "csv": "id,lower\n"})["field"] == "csv"
    assert error({"op": "graph_plan", "csv": csv, **LINEAR_TEXT})["message"] == "expected a program or the field csv, found both"


def safetensors(metadata=None, **tensors):
    """A file of s8[2,3]."""
    header = {name: {"dtype": "I8", "shape": [2, 3], "data_offsets": [6 * i, 6 * i + 6]} for i, name in enumerate(tensors)}
    header |= {"__metadata__": metadata} if metadata else {}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + b"".join(tensors.values())


PLAIN = "f16[3,70] stick(dim_order=[0,1])"
FILES = {
    "a": bytes(range(6)), "b": bytes([0, 2, 1, 3, 4, 5]), "two": safetensors(x=b"abcdef", y=b"123456"),
    "other": safetensors(y=b"123457", z=b"uvwxyz"), "dump": bytes(2 * 2 * 64 * 3), "host": bytes(2 * 70 * 3),
    "packed": safetensors({"tesela.layout.y": "s8[2,3]{0,1}"}, y=b"142536"), "v2.npy": npy("<V2", (2, 3), bytes(range(12))),
}  # fmt: skip

# Command lines and requests that name files of FILES.
FILE_CASES = [
    (["digest", "a", "--layout=s8[2,3]"], {"op": "digest", "file": "a", "layout": "s8[2,3]"}),
    (["digest", "two"], {"op": "digest", "file": "two"}),
    (["digest", "two", "other", "--tensor=y"], [{"op": "digest", "file": file, "tensor": "y"} for file in ("two", "other")]),
    (["cmp", "a", "b", "--a=s8[2,3]", "--b=s8[2,3]{0,1}"],
     {"op": "cmp", "file_a": "a", "file_b": "b", "a": "s8[2,3]", "b": "s8[2,3]{0,1}"}),
    (["cmp", "two", "other", "--max-header=1MiB"], {"op": "cmp", "file_a": "two", "file_b": "other", "max_header": 1 << 20}),
    (["cmp", "two", "other", "--tensor-a=x", "--tensor-b=y"],
     {"op": "cmp", "file_a": "two", "file_b": "other", "tensor_a": "x", "tensor_b": "y"}),
    (["cmp", "two", "two", "--tensor=x", "--layout={1,0}"],
     {"op": "cmp", "file_a": "two", "file_b": "two", "tensor": "x", "layout": "{1,0}"}),
    (["verify", PLAIN, "dump", "host"], {"op": "verify", "layout": PLAIN, "dump": "dump", "file": "host"}),
    (["verify", PLAIN, "dump", "host", "--from=f16[3,70]{0,1}"],
     {"op": "verify", "layout": PLAIN, "dump": "dump", "file": "host", "from": "f16[3,70]{0,1}"}),
    (["relayout", "a", "-o", "out", "--from=s8[2,3]", "--to={0,1:T(2,2)}", "--fill=-1", "--threads=1", "--isa=c", "--memory=1MiB"],
     {"op": "relayout", "file": "a", "output": "out", "from": "s8[2,3]", "to": "{0,1:T(2,2)}", "fill": "-1", "threads": 1, "isa": "c",
      "memory": 1 << 20}),
    (["relayout", "two", "-o", "out.safetensors", "--tensor=y", "--to={0,1}", "--max-header=1MiB"],
     {"op": "relayout", "file": "two", "output": "out.safetensors", "tensor": "y", "to": "{0,1}", "max_header": 1 << 20}),
    (["relayout", "v2.npy", "-o", "out", "--dtype=bf16", "--to=f32[2,3]", "--transform=convert", "--format=npy"],
     {"op": "relayout", "file": "v2.npy", "output": "out", "dtype": "bf16", "to": "f32[2,3]", "transform": "convert", "format": "npy"}),
    (["pack", "two", "-o", "out", "x={0,1}", "--to={1,0:T(2,2)}", "--threads=1", "--isa=c"],
     {"op": "pack", "file": "two", "output": "out", "rules": ["x={0,1}"], "to": "{1,0:T(2,2)}", "threads": 1, "isa": "c"}),
    (["pack", "a", "-o", "out", "--from=s8[2,3]", "--to={1,0:T(2,2)}", "--fill=leave", "--memory=4MiB"],
     {"op": "pack", "file": "a", "output": "out", "from": "s8[2,3]", "to": "{1,0:T(2,2)}", "fill": "leave", "memory": 4 << 20}),
    (["pack", "two", "-o", "out", "x={0,1}", "--verify", "--resume"],
     {"op": "pack", "file": "two", "output": "out", "rules": ["x={0,1}"], "verify": True, "resume": True}),
    (["pack", "two", "-o", "out", "x={0,1}", "--dry-run"],
     {"op": "pack", "file": "two", "output": "out", "rules": ["x={0,1}"], "dry_run": True}),
    (["unpack", "packed", "-o", "out.npy"], {"op": "unpack", "file": "packed", "output": "out.npy"}),
    (["unpack", "packed", "-o", "out", "--tensor=y", "--format=safetensors"],
     {"op": "unpack", "file": "packed", "output": "out", "tensor": "y", "format": "safetensors"}),
]  # fmt: skip
PATHS = {"file", "file_a", "file_b", "dump", "output"}


def write_files(folder):
    for name, data in FILES.items():
        (folder / name).write_bytes(data)


def answers_with(folder, *requests):
    text = "".join(json.dumps(request) + "\n" for request in requests)
    lines = run("query", *([f"--files={folder}"] if folder else []), text=text).stdout.splitlines()
    assert len(lines) == len(requests)
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("words, requests", FILE_CASES, ids=[" ".join(words) for words, _ in FILE_CASES])
def test_both_answers_about_files_are_equal(words, requests, tmp_path):
    write_files(tmp_path)
    done = run(words[0], "--json", *words[1:], cwd=tmp_path)
    assert done.returncode in (0, 1), done.stderr
    answers = answers_with(tmp_path, *(requests if isinstance(requests, list) else [requests]))
    printed = [json.loads(line) for line in done.stdout.splitlines()]
    assert [{"id": None, "ok": True, **answer} for answer in printed] == answers
    same = [answer["same"] for answer in printed if "same" in answer]
    assert done.returncode == (0 if all(same) else 1)


@pytest.mark.parametrize("words, request_", [case for case in FILE_CASES if isinstance(case[1], dict)])
def test_files_elsewhere_are_refused(words, request_, tmp_path):
    inside = tmp_path / "inside"
    inside.mkdir()
    write_files(inside)
    write_files(tmp_path)
    (inside / "link").symlink_to(tmp_path / "a")
    (inside / "folder").symlink_to(tmp_path)
    for field in PATHS & set(request_):
        name = request_[field]
        for path in (f"../{name}", f"folder/{name}", "link", str(tmp_path / name), str(inside / name), f"folder/../{name}", ""):
            (answer,) = answers_with(inside, {**request_, field: path})
            assert answer["ok"] is False and answer["error"]["code"] == "UNSUPPORTED", (field, path)
            assert answer["error"]["field"] == field
    (answer,) = answers_with(None, request_)
    assert answer["ok"] is False and "tesela query --files=DIR" in answer["error"]["message"]


def test_every_verb_has_an_operation():
    verbs = {verb["name"] for verb in json.loads(run("help", "--json").stdout)["verbs"]}
    ops = {op["op"] for op in good({"op": "ops"})["ops"]}
    cases = CASES + FILE_CASES
    here = {words[0] for words, _ in cases}
    asked = {request["op"] for _, requests in cases for request in (requests if isinstance(requests, list) else [requests])}
    assert verbs == here | EXCEPT and not here & EXCEPT
    assert asked <= ops


def test_a_request_of_a_verb_has_room_for_every_field():
    room = int(re.search(r"JSON_FIELDS = (\d+)", (SOURCE / "cli/main/json.h").read_text())[1])
    assert max(len(op["fields"]) for op in good({"op": "ops"})["ops"]) <= room
