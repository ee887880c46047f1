# SPDX-License-Identifier: Apache-2.0
"""The verb check must find faults: a command is built here whose copies are wrong by one bit, anywhere in the destination or
beside it."""

import json
import os
import re
import shlex
import subprocess

import pytest
from command import BUILD, SOURCE, environment
from plan_verb import PROBLEM, SOLVERS, as_json, done, said

CHECKED = [
    PROBLEM,
    "f32[33,77]{1,0} -> {0,1:T(8,128)}",
    "f64[7,9,11]{2,1,0:T(*,5)} -> {0,2,1:T(3,*,4)}",
    "bf16[20,200]{1,0} -> {1,0:T(8,128)(2,1)}",
    "bf16[20,200]{1,0:T(8,128)(2,1)} -> {0,1}",
    "s8[65,129]{1,0:T(8,128)(4,1)} -> {1,0:T(4,128)}",
    "s4[33,77]{1,0:E(4)} -> {1,0:T(8,128)(8,1)E(4)}",
    "s4[3,4,300]{2,1,0:E(4)} -> {2,1,0:T(8,128)(8,1)E(4)}",
    "s4[1,1,125]{2,1,0:E(4)} -> {2,1,0:T(8,32)(4,1)E(4)}",  # bits applies only with the padding
    "u2[3,7]{1,0:E(2)} -> {0,1:L(24)E(2)}",
    "pred[3,7]{1,0:E(1)} -> {0,1:E(1)}",
    "u4[2,2]{1,0:E(4)} -> {0,1:E(4)}",
    "s4[]{:E(4)} -> {:T(128,3)E(4)}",
    "u64[5,28]{1,0:E(4)} -> {0,1:E(4)}",
    "c128[5,6]{1,0} -> {0,1:T(4,2)}",
    "f32[] -> {:T(256)}",
    "f32[0,4] -> {0,1:T(8,128)}",
    "f32[33,65] -> bf16[33,65]{0,1:T(8,128)(2,1)}",
    "f32[33,65] -> f16[33,65]{0,1}",
    "f16[33,65] -> f32[33,65]{1,0:T(8,128)}",
    "bf16[33,65] -> f32[33,65]{0,1}",
    "s8[10,13] -> s4[10,13]{0,1:E(4)}",
    "s4[10,13]{1,0:E(4)} -> s8[10,13]{0,1}",
    "pred[10,13] -> pred[10,13]{0,1:E(1)}",
    "pred[10,13]{1,0:E(1)} -> pred[10,13]{0,1:E(32)}",
]


@pytest.mark.parametrize("problem", CHECKED)
def test_check(problem):
    result = as_json("check", problem)
    assert result["all_ok"] and result["values_checked"] and all(way["ok"] for way in result["ways"])
    ways = [(way["solver"], way["isa"]) for way in result["ways"]]
    assert len(set(ways)) == len(ways)
    assert ("any", "c") in ways and ("gather", "c") in ways  # gather takes everything
    assert {solver for solver, _ in ways} <= {"any", *SOLVERS}


def test_check_of_one_way():
    result = as_json("check", "f32[64,64]{1,0} -> {0,1}", "--solver=transpose", "--isa=c", "--threads=1", "--seed=7")
    assert [(way["solver"], way["isa"]) for way in result["ways"]] == [("transpose", "c")]
    table = done("check", "f32[64,64]{1,0} -> {0,1}", "--solver=transpose", "--isa=c").splitlines()
    assert len(table) == 3 and re.fullmatch(r"transpose +c +ok +transpose .*", table[1])
    assert table[0].split() == ["solver", "isa", "result", "plan"]
    assert table[0].index("plan") == table[1].rindex("transpose") and table[0].index("result") == table[1].index("ok")
    assert table[2] == "ok: 1 plan"


def test_check_of_a_solver_that_does_not_apply():
    assert "the solver memcpy does not apply" in said("check", "f32[64,64]{1,0} -> {0,1}", "--solver=memcpy")


def test_check_of_too_much():
    assert "expected 1073741824 or fewer together" in said("check", "u8[800,1048576] -> {0,1}")
    assert "expected 1073741824 or fewer together" in said("bench", "u8[800,1048576] -> {0,1}")


FAULT = """
#include <stdlib.h>
#include <string.h>
#include <tesela/relayout.h>
tesela_status spoiled_run(const tesela_plan *plan, void *dst, const void *src, const tesela_run_options *options,
                          tesela_error *err) {
  char name[200];
  tesela_buffer buffer = {name, sizeof name, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  tesela_status status = tesela_plan_run(plan, dst, src, options, err);
  const char *bit = getenv("SPOILED_BIT"), *only = getenv("SPOILED_PLAN");
  tesela_plan_print(plan, &to, NULL);
  long n = bit ? atol(bit) : 0;
  if (bit && (!only || strncmp(name, only, strlen(only)) == 0))
    ((unsigned char *)dst)[n >= 0 ? n / 8 : (n - 7) / 8] ^= (unsigned char)(1 << (n & 7));
  return status;
}
"""


@pytest.fixture(scope="session")
def spoiled(tmp_path_factory):
    """The command with another tesela_plan_run."""
    folder = tmp_path_factory.mktemp("spoiled")
    (folder / "fault.c").write_text(FAULT)
    flags = shlex.split(os.environ.get("CFLAGS") or "")
    cc = [os.environ.get("CC") or "cc", "-std=c11", "-D_POSIX_C_SOURCE=200809L", *flags, f"-I{SOURCE / 'include'}"]
    subprocess.run([*cc, "-c", "fault.c"], cwd=folder, check=True)
    subprocess.run(
        [*cc, "-Dtesela_plan_run=spoiled_run", f"-I{SOURCE}/cli", f"-I{SOURCE}/ops",
         *sorted((SOURCE / "cli").rglob("*.c")), *sorted(set((SOURCE / "ops").glob("*.c")) - {SOURCE / "ops/json_none.c"}), "fault.o",
         BUILD / "libtesela.a", "-ljansson", "-pthread", "-lm", "-o", "tesela"], cwd=folder, check=True,
    )  # fmt: skip

    def call(*words, **env):
        return subprocess.run([folder / "tesela", *words], env=environment(**env), capture_output=True, timeout=120)

    return call


@pytest.mark.parametrize(
    "bit, wrong",
    [
        (17 * 32 + 5, r"element \[2,3\] at place 17: expected 0x\w{8} \(.*\), found 0x\w{8} \(.*\)"),
        (0, r"element \[0,0\] at place 0: expected .*"),
        (9 * 32 + 31, r"padding at place 9: expected 0x00000000 \(0\), found 0x80000000 \(-0\)"),
        (24 * 32, r"wrote byte 96, after its last place"),
        (24 * 32 + 8000, r"wrote byte 1096, after its last place"),
        (-1, r"wrote byte -1, before the destination"),
        (-8000, r"wrote byte -1000, before the destination"),
    ],
)
def test_check_finds_a_bit_that_is_wrong(spoiled, bit, wrong):
    result = spoiled("check", PROBLEM, "--json", SPOILED_BIT=str(bit))
    assert (result.returncode, result.stderr) == (1, b"")
    answer = json.loads(result.stdout)
    assert answer["all_ok"] is False
    for way in answer["ways"]:
        assert way["ok"] is False and re.fullmatch(wrong, way["wrong"]), way
    table = spoiled("check", PROBLEM, SPOILED_BIT=str(bit))
    assert table.returncode == 1 and b" ok " not in table.stdout and table.stdout.count(b"WRONG") > 1
    n = len(answer["ways"])
    assert table.stdout.decode().splitlines()[-1] == f"wrong: {n} of {n} plans"


def test_check_finds_which_way_is_wrong(spoiled):
    problem = "f32[40,50]{1,0} -> {0,1:T(8,128)}"
    assert spoiled("check", problem).returncode == 0
    result = spoiled("check", problem, "--json", SPOILED_BIT="77", SPOILED_PLAN="gather")
    assert result.returncode == 1
    for way in json.loads(result.stdout)["ways"]:
        assert way["ok"] is (way["solver"] != "gather")
    table = spoiled("check", problem, "--isa=c", SPOILED_BIT="77", SPOILED_PLAN="gather").stdout.decode().splitlines()
    assert table[-1] == f"wrong: 1 of {len(table) - 2} plans"


@pytest.mark.parametrize(
    "problem, bit, wrong",
    [
        ("s4[3,5]{1,0:E(4)} -> {0,1:E(4)}", 14 * 4 + 2, r"element \[2,4\] at place 14: expected 0x\w \(.*\), .*"),
        ("s4[3,5]{1,0:E(4)} -> {0,1:E(4)}", 15 * 4 + 2, r"wrote byte 7, .*"),  # half a byte after the last
        ("f32[8] -> bf16[8]{0:T(16)}", 3 * 16 + 15, r"element \[3\] at place 3: expected .*"),
        ("f32[8] -> bf16[8]{0:T(16)}", 9 * 16, r"padding at place 9: expected 0x0000 \(0\), found 0x0001 \(.*\)"),
    ],
)
def test_check_finds_faults_in_small_elements_and_conversions(spoiled, problem, bit, wrong):
    result = spoiled("check", problem, "--json", SPOILED_BIT=str(bit))
    assert result.returncode == 1
    for way in json.loads(result.stdout)["ways"]:
        assert re.fullmatch(wrong, way["wrong"]), way


def test_a_wrong_result_is_not_timed(spoiled):
    result = spoiled("bench", PROBLEM, "--rounds=3", SPOILED_BIT="77")
    assert (result.returncode, result.stdout) == (1, b"")
    assert b"element" in result.stderr
    result = spoiled("bench", PROBLEM, "--rounds=3", "--json", SPOILED_BIT="77")
    answer = json.loads(result.stdout)
    assert result.returncode == 1 and answer["all_ok"] is False and "memcpy" not in answer
    assert {"wrong"} <= set(answer["ways"][0]) and "best_ns" not in answer["ways"][0]
