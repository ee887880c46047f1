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
    "access", "bench", "check", "cmp", "convert", "digest", "dma", "graph", "infer", "pack", "plan", "relayout",
    "swizzle", "unpack", "verify",
}  # fmt: skip

TILED, STICKS, HELD = "f32[3,5]{1,0:T(2,2)}", "f16[1000,200] stick(dim_order=[0,1])", "mma.m16n8k8.f16.C"



def printed_by(path):
    """A file of the tree as the operations report and diff take it."""
    return {"texts": [{"name": str(path), "text": path.read_text()}]}


STEP, TABLE, OOM = (SOURCE / "examples" / name for name in ("step.hlo.txt", "memory_table.txt", "oom_report.txt"))

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
    (["report", STEP], {"op": "report", **printed_by(STEP)}),
    (["report", "--top=1", "--by=expansion", "--space=0", OOM],
     {"op": "report", "top": 1, "by": "expansion", "space": 0, **printed_by(OOM)}),
    (["report", "--max-waste=50%", "--top=0", "--by=size", STEP, OOM],
     {"op": "report", "max_waste": "50%", "top": 0, "by": "size", "texts": printed_by(STEP)["texts"] + printed_by(OOM)["texts"]}),
    (["report", "--max-bytes=16GiB", OOM], {"op": "report", "max_bytes": "16GiB", **printed_by(OOM)}),
    (["diff", STEP, OOM], {"op": "diff", "before": printed_by(STEP), "after": printed_by(OOM)}),
    (["diff", "--top=0", "--space=0", OOM, STEP],
     {"op": "diff", "top": 0, "space": 0, "before": printed_by(OOM), "after": printed_by(STEP)}),
    (["same", STICKS, "f16[1000,200]"], {"op": "same", "a": STICKS, "b": "f16[1000,200]"}),
]  # fmt: skip


@pytest.mark.parametrize("words, requests", CASES, ids=[" ".join(str(getattr(word, "name", word)) for word in words) for words, _ in CASES])
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
