# SPDX-License-Identifier: Apache-2.0
"""The verb plan, and the problem line of plan, check and bench."""

import json
import os
import re

import pytest
from command import BUILD, TESELA, run
from plan_verb import PROBLEM, SOLVERS, as_json, done, said

# ---- the problem line ----


@pytest.mark.parametrize("verb", ["plan", "check", "bench"])
@pytest.mark.parametrize(
    "problem, message, at, side",
    [
        ("f32[3,5]", "missing ->; expected two sides, as in f32[1024,1024]{1,0} -> {1,0:T(8,128)}", 8, ""),
        ("f32[3,5] => {0,1}", "expected ->, found =>", 9, ""),
        ("-> {0,1}", "missing left side: the layout of the data, as in f32[1024,1024]{1,0}", 0, ""),
        ("  -> {0,1}", "missing left side: the layout of the data, as in f32[1024,1024]{1,0}", 2, ""),
        ("f32[3,5] ->", "missing right side: the layout to copy to, as in {1,0:T(8,128)}", 11, ""),
        ("f32[3,5] -> f32[5,5]", "dim 0 has extent 5 on the right and 3 on the left", 16, ""),
        ("f32[3,5] -> f32[3,4]{0,1}", "dim 1 has extent 4 on the right and 5 on the left", 18, ""),
        ("f32[3,5] -> xla: f32[3]", "the array has 1 dim on the right and 2 on the left", 21, ""),
        ("f32[] -> f32[1]", "the array has 1 dim on the right and 0 on the left", 13, ""),
        ("f32[3,5 -> {1,0}", "expected ',' or ']', found the end of the text", 8, "left"),
        ("f32[3,5] -> {1,0:T(2,x)}", "expected a tile extent: a number or *, found 'x'", 21, "right"),
        ("f32[3,5] ->   f32[3,5]{1,0:T(0,2)}", None, 29, "right"),
        ("f32[3,5] -> {0}", "the layout orders 1 dim; the array has 2", 12, "right"),
        ("{1,0} -> f32[3,5]", None, 0, "left"),
        ("nope: f32[3,5] -> {1,0}", "unknown notation 'nope'; expected xla, jax, tpu, register, device, map, cute, triton, onednn, verbose, mlir, pack, tvm, torch, mosaic, iree, xegpu, mosaicgpu, affine_map, index_map, axe, numpy, einops, shared or global", 0, "left"),
        ("f32[3,5] -> nope: {1,0}", "unknown notation 'nope'; expected xla, jax, tpu, register, device, map, cute, triton, onednn, verbose, mlir, pack, tvm, torch, mosaic, iree, xegpu, mosaicgpu, affine_map, index_map, axe, numpy, einops, shared or global", 12, "right"),
    ],
)
def test_a_problem_that_is_none(verb, problem, message, at, side):
    lines = said(verb, problem).splitlines()
    assert lines[0] == f"tesela: error: {message}" if message else lines[0].startswith("tesela: error: ")
    assert lines[1:3] == [f"  {problem}", "  " + " " * at + "^"]
    assert lines[3:] == ([f"The error is {side} of the arrow."] if side else [])


def test_sloppy_spellings_are_mended():
    process = run("plan", "F32[3,5] -> xla: F32[3,5]{1,0:T(2,2)}", "--json")
    assert process.returncode == 0
    assert json.loads(process.stdout)["problem"] == "f32[3,5]{1,0} -> f32[3,5]{1,0:T(2,2)}"
    assert [m.decode() for m in re.findall(rb"byte (\d+)", process.stderr)] == ["0", "17"]


@pytest.mark.parametrize("verb", ["plan", "check", "bench"])
@pytest.mark.parametrize(
    "problem, words",
    [
        ("f32[3,5] -> f32[5,3]", "extent"),
        ("f32[3,5] -> c64[3,5]", "no conversion from f32"),
        ("f32[3,?] -> {0,1}", "unbounded"),
        ("f6e3m2fn[3]{0:E(6)} -> {0:T(2)E(6)}", "6 bits"),
    ],
)
def test_a_problem_that_has_no_plan(verb, problem, words):
    assert words in said(verb, problem)


# ---- plan ----


def test_plan_in_one_line():
    for problem in (PROBLEM, "s4[9,9]{1,0:E(4)} -> {0,1:E(4)}", "f32[] -> {}", "f32[0] -> {0:T(8)}"):
        line = done("plan", problem)
        assert line.endswith("\n") and line.count("\n") == 1
        plan = as_json("plan", problem)
        assert plan["plan"] == line[:-1]
        assert done("plan", "--explain", problem) == plan["explain"]
        assert plan["plan"] in plan["explain"] and plan["explain"].endswith("\n")


def test_plan_in_json():
    plan = as_json("plan", PROBLEM, "--threads=1", "--isa=c")
    numbers = {name: plan[name] for name in ("bytes_read", "bytes_written", "src_bytes", "dst_bytes", "threads")}
    assert numbers == {"bytes_read": 60, "bytes_written": 96, "src_bytes": 60, "dst_bytes": 96, "threads": 1}
    assert plan["isa"] == "c" and plan["solver"] in SOLVERS
    assert 0 <= plan["scratch_bytes"] <= 128 << 10
    assert plan["problem"] == "f32[3,5]{1,0} -> f32[3,5]{1,0:T(2,2)}"


def test_fill_changes_what_is_written():
    assert as_json("plan", PROBLEM, "--fill=leave")["bytes_written"] == 60
    assert as_json("plan", PROBLEM, "--fill=leave")["fills"] == 0
    assert as_json("plan", PROBLEM, "--fill=-1.5")["bytes_written"] == 96
    assert as_json("plan", PROBLEM, "--fill=0x7fc00000")["fills"] > 0


@pytest.mark.parametrize("fill", ["zer0", "1.5x", "0x", "0x100000000", "", "1e999"])
def test_a_fill_that_is_none(fill):
    assert said("plan", PROBLEM, f"--fill={fill}").startswith(
        f"tesela: error: --fill is {fill}; expected zero, leave, or an element ("
    )


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_solver_that_is_asked_for(solver):
    process = run("plan", "f32[64,64]{1,0} -> {0,1}", f"--solver={solver}", "--json")
    if process.returncode:
        assert process.returncode == 2 and f"solver {solver}".encode() in process.stderr
        assert solver in ("memcpy", "bits", "interleave", "deinterleave", "gather", "permute")
    else:
        assert json.loads(process.stdout)["solver"] == solver


def test_plans_that_are_measured():
    assert as_json("plan", "f32[64,64]{1,0} -> {0,1}", "--effort=measure")["bytes_read"] == 64 * 64 * 4


def test_an_instruction_set_that_is_not_there():
    other = "neon" if os.uname().machine in ("x86_64", "i686") else "avx2"
    assert said("plan", PROBLEM, f"--isa={other}") == f"tesela: error: {other} is not available on this machine\n"


# ---- explain ----


def explained(problem, *words):
    return done("plan", "--explain", "--isa=c", "--threads=1", problem, *words).splitlines()


def loops(lines):
    """(unit of strides, words on elements, [(steps, src stride, dst stride)])."""
    (at,) = [i for i, line in enumerate(lines) if line.startswith("loops of the largest piece")]
    elements, unit = re.fullmatch(r".*, over elements of (.*): steps, src stride, dst stride \((\w+)\)", lines[at]).groups()
    rows = []
    for line in lines[at + 1 : lines.index("pieces")]:
        rows.append(tuple(map(int, line.split())))
    return unit, elements, rows


@pytest.mark.parametrize(
    "problem, unit, elements, rows",
    [
        ("f32[48,384]{1,0} -> {0,1}", "bytes", "4 bytes", {(384, 4, 192), (48, 1536, 4)}),
        # two columns stay together and move as 8 bytes: 5 * 2 * 8 of them are the 40 * 4 elements
        ("f32[40,4]{1,0} -> {1,0:T(8,2)}", "bytes", "8 bytes", {(5, 128, 128), (2, 8, 64), (8, 16, 8)}),
        ("s4[16,256]{1,0:E(4)} -> {0,1:E(4)}", "bits", "4 bits", {(256, 4, 64), (16, 1024, 4)}),
        ("s2[3,5]{1,0:E(2)} -> {0,1:E(2)}", "bits", "2 bits", {(5, 2, 6), (3, 10, 2)}),
        ("s4[8,16]{1,0:E(4)} -> s8[8,16]{0,1}", "bits", "4 bits that become 8", {(16, 4, 64), (8, 64, 8)}),
        ("s4[8,16]{1,0:E(4)} -> s8[8,16]{1,0:T(4,8)}", "bits", "4 bits that become 8",
         {(2, 256, 512), (2, 32, 256), (4, 64, 64), (8, 4, 8)}),
        ("f32[64,32] -> bf16[64,32]{0,1}", "bytes", "32 bits that become 16", {(32, 4, 128), (64, 128, 2)}),
    ],
)  # fmt: skip
def test_loops_have_the_steps_of_both_layouts(problem, unit, elements, rows):
    got = loops(explained(problem))
    assert (got[0], got[1], set(got[2])) == (unit, elements, rows)


def test_pieces_are_told_in_words():
    text = "\n".join(explained("f32[20,200]{1,0} -> {1,0:T(8,128)}"))
    assert "tesela__" not in text and "(copy c)" in text
    # 200 columns are 128 and 72; what is left of the second tile, 56 columns of 4 bytes, follows each row
    assert re.search(r"rows +8192 bytes +1 tile +of 16 runs of 512 bytes ", text)
    assert re.search(r"rows +4608 bytes +1 tile +of 16 runs of 288 bytes \+ 224 bytes of padding each ", text)
    assert re.search(r"rows +2048 bytes +1 tile +of 4 runs of 512 bytes ", text) and "1 tiles" not in text
    # 125 tiles of 8 rows, of which a tile of the plan takes some
    many = re.search(r"rows +512000 bytes +(\d+) tiles of (\d+) runs of 512 bytes ", "\n".join(explained("f32[1000,128]{1,0} -> {1,0:T(8,256)}")))
    assert many and int(many[1]) > 1 and (int(many[1]) - 1) * int(many[2]) < 1000 <= int(many[1]) * int(many[2])


def test_reasons_are_told_once():
    why = "the splits of a dim on one side do not nest"
    assert "\n".join(explained("f32[10,24]{1,0:T(4,8)} -> {1,0:T(4,6)}")).count(why) == 1
    lines = explained("f32[0,4] -> {0,1}")
    assert len(lines) == 2 and lines[0].startswith("nothing to copy")
    lines = explained("s4[256,256]{1,0:E(4)} -> {0,1:E(4)}")
    assert [line for line in lines if line.split()[0].endswith("interleave")] == [
        "   interleave   no: elements share bytes",
        "   deinterleave no: elements share bytes",
    ]


# ---- streams ----


@pytest.mark.parametrize(
    "words", [["plan", PROBLEM], ["plan", "--explain", PROBLEM], ["check", PROBLEM], ["bench", "--rounds=3", PROBLEM]],
    ids=" ".join,
)  # fmt: skip
@pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "json"])
def test_a_full_disk_is_an_error(words, form):
    with open("/dev/full", "wb") as full:
        process = run(*words, *form, stdout=full)
    assert process.returncode == 3
    assert process.stderr.startswith(b"tesela: error: standard output: ")


def test_the_command_under_test_is_the_one_that_was_built():
    assert TESELA.exists() and (BUILD / "libtesela.a").exists()
