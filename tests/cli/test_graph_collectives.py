# SPDX-License-Identifier: Apache-2.0
"""Unknown operators by opcode: a permutation of parts of an array into another, and a result that a target cannot have."""

import json

from command import run

TEXT = """HloModule m

ENTRY e {
  x = f16[2,128,64]{2,1,0} parameter(0)
  y = f16[4,128,64]{2,1,0} parameter(1)
  c = s32[] constant(0)
  at = (s32[], s32[], s32[]) tuple(c, c, c)
  p = f16[4,128,64]{2,1,0} collective-permute(x, y, at, at), source_target_pairs={{0,1}}, slice_sizes={{2,128,64}}
  q = f16[2,128,64]{2,1,0} collective-permute(x), source_target_pairs={{0,1}}
  z = f16[4,128,64]{2,1,0} add(p, y)
  ROOT r = (f16[4,128,64], f16[2,128,64]) tuple(z, q)
}
"""


def assign(text):
    done = run("graph", "assign", "--json", "-", text=text)
    assert done.returncode == 0, done.stderr.decode()
    answer = json.loads(done.stdout)
    return answer["cost"], {op["out"]: op for op in answer["graph"]["ops"]}


def test_parts_may_lie_otherwise_than_the_whole():
    cost, ops = assign(TEXT)
    assert cost == 0
    assert (ops["p"]["opcode"], ops["p"]["layout"]["stick"]) == ("collective-permute-in-place", 2)
    assert ops["q"]["opcode"] == "collective-permute"
    printed = run("graph", "assign", "--hlo", "-", text=TEXT).stdout.decode()
    assert assign(printed)[1]["p"] == ops["p"]


def test_a_result_that_the_target_cannot_have():
    """Statistics of a layer norm leave one element per stick; the target of tiles has no such layout."""
    ops = [{"op": "fallback", "opcode": "exx2", "in": ["x"], "out": "o", "size": [128, 1], "dtype": "f16"}]
    program = {"inputs": {"x": {"size": [128, 64], "dtype": "f16", "stick": 1}}, "ops": ops, "outputs": ["o"]}
    done = run("graph", "assign", "--target=tiles", "-", text=json.dumps(program))
    assert done.returncode == 1
    assert b"  result: one element per stick; the target has no such layout for it" in done.stdout
    assert run("graph", "assign", "-", text=json.dumps(program)).returncode == 0
