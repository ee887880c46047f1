# SPDX-License-Identifier: Apache-2.0
"""Every verb has an operation, and what its --json prints is what the operation answers in `tesela query`.

CASES: a command line, and the request, or the list of requests, one for each line that is printed.
"""

import json

import pytest
from command import SOURCE, good, run

# Verbs without an operation: they are about the command itself.
EXCEPT = {"help", "version", "formats", "query"}

# Verbs whose --json is not yet the answer of an operation. Lines are only taken away here.
TODO = {
    "bench", "check", "cmp", "diff", "digest", "graph", "pack", "plan", "relayout", "report",
    "unpack", "verify",
}  # fmt: skip

TILED, STICKS, HELD = "f32[3,5]{1,0:T(2,2)}", "f16[1000,200] stick(dim_order=[0,1])", "mma.m16n8k8.f16.C"
EXAMPLES = SOURCE / "examples"

CASES = [
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
    (["same", STICKS, "f16[1000,200]"], {"op": "same", "a": STICKS, "b": "f16[1000,200]"}),
]  # fmt: skip


@pytest.mark.parametrize("words, requests", CASES, ids=[" ".join(map(str, words)) for words, _ in CASES])
def test_both_answers_are_equal(words, requests):
    done = run(words[0], "--json", *words[1:])
    assert done.returncode in (0, 1), done.stderr
    printed = [json.loads(line) for line in done.stdout.splitlines()]
    assert printed == [good(request) for request in (requests if isinstance(requests, list) else [requests])]


def test_every_verb_has_an_operation():
    verbs = {verb["name"] for verb in json.loads(run("help", "--json").stdout)["verbs"]}
    ops = {op["op"] for op in good({"op": "ops"})["ops"]}
    here = {words[0] for words, _ in CASES}
    asked = {request["op"] for _, requests in CASES for request in (requests if isinstance(requests, list) else [requests])}
    assert verbs == here | EXCEPT | TODO
    assert not here & (EXCEPT | TODO) and not EXCEPT & TODO
    assert asked <= ops
