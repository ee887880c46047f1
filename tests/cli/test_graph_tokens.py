# SPDX-License-Identifier: Apache-2.0
"""Programs with tokens: what is printed as JSON reads back."""

import json

import pytest
from command import run

TEXT = """HloModule m

ENTRY e {
  x = f16[64,70]{1,0} parameter(0)
  t = token[] after-all()
  i = (f16[64,70], token[]) infeed(t)
  g = f16[64,70]{1,0} get-tuple-element(i), index=0
  u = token[] custom-call(x, t), custom_call_target="send"
  ROOT y = f16[64,70]{1,0} add(x, g)
}
"""


def assign(text):
    done = run("graph", "assign", "--json", "-", text=text)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)["graph"]


def test_tokens_read_back():
    printed = assign(TEXT)
    assert {op["out"]: op["dtype"] for op in printed["ops"]}["u"] == "token"
    again = assign(json.dumps(printed))
    assert {key: again[key] for key in ("inputs", "ops", "outputs")} == {
        key: printed[key] for key in ("inputs", "ops", "outputs")
    }


@pytest.mark.parametrize("op, says", [
    ({"op": "pointwise", "fn": "neg"}, "ops[0] (o).dtype: unknown element type 'token'"),
    ({"op": "fallback", "opcode": "f", "size": [2]}, "a token has no dims"),
])
def test_only_an_unknown_operator_gives_one(op, says):
    program = {"inputs": {"x": {"size": [3, 70]}}, "ops": [{**op, "in": ["x"], "out": "o", "dtype": "token"}]}
    done = run("graph", "assign", "-", text=json.dumps(program))
    assert (done.returncode, done.stdout) == (2, b"")
    assert says in done.stderr.decode()
