# SPDX-License-Identifier: Apache-2.0
"""The verbs plan, check, bench, cmp and digest.

check must find faults: a command is built here whose copies are wrong by one bit, anywhere in the destination or
beside it. The digest is computed a second time from the definition in src/relayout/values_digest.c.
"""

import json
import math
import os
import random
import re
import shlex
import struct
import subprocess
import sys

import pytest
from command import BUILD, HERE, SOURCE, TESELA, environment, run

sys.path.insert(0, str(HERE.parent / "oracle"))

from xla_oracle import Array  # noqa: E402

SEED = int(os.environ.get("TESELA_SEED", "20261123"), 0)
PROBLEM = "f32[3,5]{1,0} -> {1,0:T(2,2)}"
TILED = "f32[3,5]{1,0:T(2,2)}"
SOLVERS = ["memcpy", "rows", "transpose", "interleave", "deinterleave", "bits", "strided", "gather"]


def done(*words, status=0, **how):
    """What it prints; the words on stderr must fit the status."""
    process = run(*words, **how)
    assert process.returncode == status, process.stderr.decode()
    assert (process.stderr == b"") == (status != 2), process.stderr.decode()
    return process.stdout.decode()


def said(*words, status=2):
    process = run(*words)
    assert (process.returncode, process.stdout) == (status, b"")
    return process.stderr.decode()


def as_json(*words, **how):
    return json.loads(done(*words, "--json", **how))


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
        ("nope: f32[3,5] -> {1,0}", "unknown notation 'nope'; expected xla, jax, register, device, shared or global", 0, "left"),
        ("f32[3,5] -> nope: {1,0}", "unknown notation 'nope'; expected xla, jax, register, device, shared or global", 12, "right"),
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
        assert solver in ("memcpy", "bits", "interleave", "deinterleave", "gather")
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
    assert re.search(r"rows +8192 bytes +2 tiles of 8 runs of 512 bytes ", text)
    assert re.search(r"rows +4608 bytes +2 tiles of 8 runs of 288 bytes \+ 224 bytes of padding each ", text)
    assert re.search(r"rows +2048 bytes +1 tile +of 4 runs of 512 bytes ", text) and "1 tiles" not in text


def test_reasons_are_told_once():
    why = "the splits of a dim on one side do not nest"
    assert "\n".join(explained("f32[10,24]{1,0:T(4,8)} -> {1,0:T(4,6)}")).count(why) == 1
    lines = explained("f32[0,4] -> {0,1}")
    assert len(lines) == 2 and lines[0].startswith("nothing to copy")
    lines = explained("s4[16,256]{1,0:E(4)} -> {0,1:E(4)}")
    assert [line for line in lines if line.split()[0].endswith("interleave")] == [
        "   interleave   no: elements share bytes; bits handles it",
        "   deinterleave no: elements share bytes; bits handles it",
    ]


# ---- check ----

CHECKED = [
    PROBLEM,
    "f32[33,77]{1,0} -> {0,1:T(8,128)}",
    "f64[7,9,11]{2,1,0:T(*,5)} -> {0,2,1:T(3,*,4)}",
    "bf16[20,200]{1,0} -> {1,0:T(8,128)(2,1)}",
    "bf16[20,200]{1,0:T(8,128)(2,1)} -> {0,1}",
    "s8[65,129]{1,0:T(8,128)(4,1)} -> {1,0:T(4,128)}",
    "s4[33,77]{1,0:E(4)} -> {1,0:T(8,128)(8,1)E(4)}",
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
         *sorted((SOURCE / "cli").rglob("*.c")), *sorted((SOURCE / "ops").glob("*.c")), "fault.o",
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


# ---- bench ----


def test_bench():
    result = as_json("bench", "f32[200,300]{1,0} -> {0,1:T(8,128)}", "--solver=all", "--isa=all", "--rounds=3")
    written = 304 * 256 * 4  # dim 1 comes first: 300 rows of 200 in tiles of 8 by 128
    assert (result["bytes_read"], result["bytes_written"], result["rounds"]) == (240000, written, 3)
    assert result["memcpy"]["bytes"] == (240000 + written) // 2
    assert {"any", "gather", "strided"} <= {way["solver"] for way in result["ways"]}
    for timing in [result["memcpy"], *result["ways"]]:
        assert 0 < timing["best_ns"] <= timing["median_ns"]
        assert math.isclose(timing["gb_per_s"], (240000 + written) / timing["median_ns"])
    for way in result["ways"]:
        assert way["ratio_to_memcpy"] > 0 and way["create_ns"] > 0 and way["threads"] >= 1


def test_bench_in_a_table():
    lines = done("bench", "f32[200,300]{1,0} -> {0,1}", "--rounds=3", "--threads=1").splitlines()
    assert lines[0] == "240000 bytes read, 240000 written, 3 rounds; memcpy of 240000 bytes"
    assert lines[1].split()[:2] == ["solver", "isa"] and len(lines) == 4
    assert lines[2].split()[0] == "(memcpy)" and lines[2].split()[-1] == "1.00"
    plan = as_json("plan", "f32[200,300]{1,0} -> {0,1}", "--threads=1")
    assert lines[3].split()[:3] == ["any:", plan["solver"], plan["isa"]] and lines[3].endswith(", 1 thread")
    ends = [[m.end() for m in re.finditer(r"[\d.]+ (ns|us)", line)][:2] for line in lines[2:4]]
    assert len(ends[0]) == 2 and ends[0] == ends[1]


def test_short_times_are_in_nanoseconds():
    lines = done("bench", "f32[3,5]{1,0} -> {1,0}", "--rounds=3", "--solver=rows", "--isa=c").splitlines()
    assert lines[3].split()[:2] == ["rows", "c"]
    for line in lines[2:4]:
        times = re.findall(r"([\d.]+) (ns|us)", line)
        assert all((float(time) < 10000) if unit == "ns" else (float(time) >= 10) for time, unit in times) and times
        assert float(times[0][0]) > 0


def test_bench_of_nothing():
    assert as_json("bench", "f32[0,4] -> {0,1}", "--rounds=3")["memcpy"]["bytes"] == 0


# ---- cmp ----


def pack(values, bits):
    memory = sum(value << i * bits for i, value in enumerate(values))
    return memory.to_bytes(math.ceil(len(values) * bits / 8), "little")


def stored(a, values, rng):
    """The bytes of an array with these elements (row-major) and anything in the padding."""
    out = [rng.getrandbits(a.bits) for _ in range(a.elements)]
    for value, index in zip(values, a.indices(), strict=True):
        out[a.place(index)] = value
    return pack(out, a.bits)


def pairs(n):
    """(seed, rng, one array, the same dims in another layout), no empty ones."""
    seed = SEED
    while n > 0:
        rng = random.Random(seed)
        a = Array.random(rng, max_elements=600)
        if rng.random() < 0.3:
            a = Array(a.dtype, a.dims, a.minor_to_major, a.tiles, a.L, rng.choice([1, 2, 4]))
        b = Array(a.dtype, a.dims, rng.sample(range(a.rank), a.rank), E=a.E)
        if a.bits in (1, 2, 4, 8, 16, 32, 64, 128) and a.count > 0:
            yield seed, rng, a, b
            n -= 1
        seed += 1


def test_cmp_of_random_arrays(tmp_path):
    x, y = tmp_path / "x", tmp_path / "y"
    for seed, rng, a, b in pairs(25):
        values = [rng.getrandbits(a.bits) for _ in range(a.count)]
        x.write_bytes(stored(a, values, rng))
        y.write_bytes(stored(b, values, rng))
        words = ["cmp", x, y, f"--a={a.text()}", f"--b={b.text()}"]
        assert as_json(*words) == {"same": True, "elements": a.count, "n_different": 0}, f"seed {seed}: {a}"
        assert done(*words) == "same\n"
        wrong = sorted(rng.sample(range(a.count), rng.randint(1, min(3, a.count))))
        other = list(values)
        for n in wrong:
            other[n] ^= 1 << rng.randrange(a.bits)
        y.write_bytes(stored(b, other, rng))
        answer = as_json(*words, status=1)
        index = list(a.indices())[wrong[0]]
        assert (answer["same"], answer["elements"], answer["n_different"]) == (False, a.count, len(wrong))
        first = answer["first_difference"]
        assert first["index"] == list(index), f"seed {seed}: {a}"
        digits = (a.bits + 3) // 4
        for side, array, value in (("a", a, values[wrong[0]]), ("b", b, other[wrong[0]])):
            assert first[side]["place"] == array.place(index)
            assert first[side]["bits"] == f"0x{value:0{digits}x}"


def test_cmp_in_words(tmp_path):
    rng, a, b = random.Random(1), Array("f32", (3, 5)), Array.from_text(TILED)
    values = [struct.unpack("<I", struct.pack("<f", n / 2))[0] for n in range(15)]
    (tmp_path / "x").write_bytes(stored(a, values, rng))
    values[13], values[14] = 0xBFC00000, 0x7FC00000
    (tmp_path / "y").write_bytes(stored(b, values, rng))
    words = ["cmp", tmp_path / "x", tmp_path / "y", "--a=f32[3,5]", f"--b={TILED}"]
    assert done(*words, status=1) == (
        "differ: first at [2,3]; 2 of 15 elements\n"
        "  a  place 13            0x40d00000  6.5\n"
        "  b  place 17            0xbfc00000  -1.5\n"
    )


def npy(descr, shape, data, fortran=False):
    header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {tuple(shape)!r}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def test_cmp_of_files_that_say_what_they_hold(tmp_path):
    numbers = [n + 0.25 for n in range(15)]
    columns = [numbers[row * 5 + column] for column in range(5) for row in range(3)]
    files = {
        "rows.npy": npy("<f4", (3, 5), struct.pack("<15f", *numbers)),
        "columns.npy": npy("<f4", (3, 5), struct.pack("<15f", *columns), True),
        "big.npy": npy(">f4", (3, 5), struct.pack(">15f", *numbers)),
        "raw": struct.pack("<15f", *columns),
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    for name in ("columns.npy", "big.npy"):
        assert done("cmp", tmp_path / "rows.npy", tmp_path / name) == "same\n"
    assert done("cmp", tmp_path / "rows.npy", tmp_path / "raw", "--b=f32[3,5]{0,1}") == "same\n"
    with open(tmp_path / "raw", "rb") as raw:
        assert done("cmp", "-", tmp_path / "big.npy", "--a=f32[3,5]{0,1}", stdin=raw) == "same\n"
    wrong = as_json("cmp", tmp_path / "rows.npy", tmp_path / "raw", "--b=f32[3,5]{1,0}", status=1)
    assert wrong["first_difference"]["a"] == {"place": 1, "bits": "0x3fa00000", "value": "1.25"}
    assert wrong["first_difference"]["b"] == {"place": 1, "bits": "0x40a80000", "value": "5.25"}
    digests = {done("digest", tmp_path / name)[:32] for name in files if name != "raw"}
    digests.add(done("digest", tmp_path / "raw", "--layout=f32[3,5]{0,1}")[:32])
    assert len(digests) == 1


def test_cmp_of_what_cannot_be_compared(tmp_path):
    (tmp_path / "x").write_bytes(bytes(60))
    assert "shapes differ" in said("cmp", tmp_path / "x", tmp_path / "x", "--a=f32[3,5]", "--b=f32[5,3]")
    assert "ranks differ" in said("cmp", tmp_path / "x", tmp_path / "x", "--a=f32[3,5]", "--b=f32[15]")
    assert "types differ" in said("cmp", tmp_path / "x", tmp_path / "x", "--a=f32[3,5]", "--b=s32[3,5]")
    assert "standard input can be used for only one" in said("cmp", "-", "-", "--layout=f32[3,5]")
    assert "nowhere" in said("cmp", tmp_path / "x", tmp_path / "nowhere", "--layout=f32[3,5]")
    assert "missing its layout, as in --a='f32" in said("cmp", tmp_path / "x", tmp_path / "x")
    assert "missing its layout, as in --b='f32" in said("cmp", tmp_path / "x", tmp_path / "x", "--a=f32[3,5]")
    assert "missing its layout, as in --layout='f32" in said("digest", tmp_path / "x")


def model(*names, **data):
    """A .safetensors of these tensors, s8 each, the bytes of those in `data` as given there."""
    whole = {name: data.get(name, bytes(range(len(name), len(name) + 6))) for name in names}
    header, at = {}, 0
    for name, part in whole.items():
        header[name] = {"dtype": "I8", "shape": [2, 3] if len(part) == 6 else [len(part)], "data_offsets": [at, at + len(part)]}
        at += len(part)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(whole.values())


def test_cmp_of_all_tensors_by_name(tmp_path):
    a, b, one = tmp_path / "a", tmp_path / "b", tmp_path / "one"
    a.write_bytes(model("x", "yy", "zzz"))
    b.write_bytes(model("zzz", "x", "yy"))
    assert done("cmp", a, b) == "same: 3 tensors\n"
    assert as_json("cmp", a, b) == {
        "tensors": [{"name": name, "same": True, "elements": 6, "n_different": 0} for name in ("x", "yy", "zzz")],
        "same": True,
    }
    b.write_bytes(model("zzz", "x", "new", x=b"\1\2\3\4\5\7"))
    assert done("cmp", a, b, status=1) == (
        "x: differ: first at [1,2]; 1 of 6 elements\n  a  place 5             0x06  6\n  b  place 5             0x07  7\n"
        "yy: only in a\nnew: only in b\ndiffer: 3 of 4 tensors\n"
    )
    answer = as_json("cmp", a, b, status=1)
    assert answer["same"] is False and [t["name"] for t in answer["tensors"]] == ["x", "yy", "zzz", "new"]
    assert [t.get("only_in") for t in answer["tensors"]] == [None, "a", None, "b"]
    assert done("cmp", a, b, "--tensor=zzz") == "same\n"
    one.write_bytes(model("x"))
    assert done("cmp", one, a, status=1).endswith("yy: only in b\nzzz: only in b\ndiffer: 2 of 3 tensors\n")
    b.write_bytes(model("x", "yy", "zzz", x=b"\1\2"))
    process = run("cmp", a, b)
    assert process.returncode == 2 and process.stderr.endswith(b"The error is in tensor x.\n")
    assert "has 3 tensors" in said("cmp", a, a, "--tensor-a=x")


def test_digest_of_all_tensors(tmp_path):
    path = tmp_path / "m"
    path.write_bytes(model("x", "yy", "z\n"))
    want = {name: digest(Array("s8", (2, 3)), range(len(name), len(name) + 6)) for name in ("x", "yy", "z\n")}
    lines = "".join(f"{value}  {path}:{name}\n" for name, value in want.items())
    assert done("digest", path) == lines.replace("z\n\n", "z\\x0a\n")
    assert done("digest", path, "--tensor=yy") == f"{want['yy']}  {path}\n"
    rows = json.loads(done("digest", path, "--json"))["tensors"]
    assert {row["tensor"]: row["digest"] for row in rows} == want


# ---- how elements are shown and read ----

SHOWN = [  # type, bits, as a number; from the definition of each type
    ("f32", 0x3F800000, "1"), ("f32", 0xFF800000, "-inf"), ("f32", 0x7FC00001, "nan"), ("f32", 0x3DCCCCCD, "0.1"),
    ("f32", 0x00000001, "1.4013e-45"), ("f64", 0x3FB999999999999A, "0.1"), ("bf16", 0xBFC0, "-1.5"), ("f16", 0x0001, "5.9604645e-08"),
    ("f16", 0x7BFF, "65504"), ("f8e5m2", 0x7B, "57344"), ("f8e4m3fn", 0x7E, "448"), ("f8e4m3fn", 0x7F, "nan"),
    ("f8e4m3", 0x78, "inf"), ("f8e4m3fnuz", 0x80, "nan"), ("f8e4m3fnuz", 0x7F, "240"), ("f8e5m2fnuz", 0x7F, "57344"),
    ("f8e4m3b11fnuz", 0x7F, "30"), ("f8e3m4", 0x6F, "15.5"), ("f8e8m0fnu", 0x80, "2"), ("f8e8m0fnu", 0xFF, "nan"),
    ("f4e2m1fn", 0x07, "6"), ("f4e2m1fn", 0x09, "-0.5"), ("f6e3m2fn", 0x1F, "28"), ("f6e2m3fn", 0x1F, "7.5"),
    ("s8", 0x80, "-128"), ("s4", 0x08, "-8"), ("u4", 0x0F, "15"), ("s64", 1 << 63, "-9223372036854775808"),
    ("u64", (1 << 64) - 1, "18446744073709551615"), ("pred", 1, "true"), ("pred", 0, "false"),
    ("c64", 0xBF8000003FC00000, "1.5-1j"), ("c128", 0x3FF0000000000000 << 64 | 0xC000000000000000, "-2+1j"),
]  # fmt: skip


@pytest.mark.parametrize("dtype, bits, number", SHOWN)
def test_how_a_value_is_shown(dtype, bits, number, tmp_path):
    a = Array(dtype, (1,))
    (tmp_path / "x").write_bytes(bits.to_bytes(a.bytes, "little"))
    (tmp_path / "y").write_bytes((bits ^ 1).to_bytes(a.bytes, "little"))
    answer = as_json("cmp", tmp_path / "x", tmp_path / "y", f"--layout={a.text()}", status=1)
    assert answer["first_difference"]["a"] == {"place": 0, "bits": f"0x{bits:0{a.bits // 4}x}", "value": number}


def filled(dtype, text, E=0):
    """The bits of an element of padding, as relayout writes it; None if the text is refused."""
    a = Array(dtype, (1,), E=E)
    process = run("relayout", "-", "--from", a.text(), "--to", f"{{0:T(8){f'E({E})' if E else ''}}}",
                  f"--fill={text}", text=bytes(a.bytes))  # fmt: skip
    if process.returncode:
        assert (process.returncode, process.stdout) == (2, b"")
        return None
    return int.from_bytes(process.stdout, "little") >> 7 * a.bits


@pytest.mark.parametrize("dtype, bits, number", [row for row in SHOWN if "j" not in row[2]])
def test_how_a_value_is_read(dtype, bits, number):
    if number != "nan":
        assert filled(dtype, number) & (1 << Array(dtype, (1,)).bits) - 1 & (15 if dtype == "s4" else -1) == bits
    assert filled(dtype, hex(bits)) == bits


@pytest.mark.parametrize(
    "dtype, text, bits",
    [
        ("bf16", "1.00390625", 0x3F80), ("bf16", "1.01171875", 0x3F82), ("f16", "65505", None), ("f16", "inf", 0x7C00),
        ("f16", "70000", None), ("f16", "1e999", None), ("f8e4m3fn", "1000", None), ("f8e4m3fn", "inf", None),
        ("f8e4m3fn", "1.06", 0x38), ("f4e2m1fn", "nan", None), ("f8e8m0fnu", "3", None), ("f8e8m0fnu", "0", None),
        ("f32", "1e39", None), ("f32", "-0", 1 << 31), ("s8", "128", None), ("s8", "-129", None), ("s8", "-1", 255),
        ("u8", "-1", None), ("u8", "1.0", None), ("s4", "7", 7), ("s4", "8", None), ("u64", "18446744073709551616", None),
        ("pred", "true", 1), ("pred", "2", None), ("u8", "0x100", None), ("u8", "0x0ff", 255), ("u8", "0xfg", None),
        ("c64", "2", 0x40000000), ("u8", " 1", None), ("f32", " 1", None),
    ],
)  # fmt: skip
def test_values_at_the_edges(dtype, text, bits):
    assert filled(dtype, text) == bits


def test_small_elements_are_read():
    assert filled("s4", "-8", 4) == 8 and filled("s4", "-1", 4) == 15 and filled("s4", "0xf", 4) == 15
    assert filled("s4", "0x10", 4) is None and filled("pred", "true", 1) == 1 and filled("pred", "0x2", 1) is None


# ---- digest ----

A, B, C = 0xAD15B292E10D296B, 0x951AEF020BC35CAD, 0xED5BEC778AE84E07
START = [0xD71C40603D31DF33, 0xA72059E2683E8565, 0xF5860F4B4A5D30CD, 0xCC348B0ADED44CDD]
WORD = (1 << 64) - 1
NUMBERS = {"f32": 11, "bf16": 16, "s4": 21, "pred": 1}


def type_number(name):
    header = (SOURCE / "include/tesela/layout.h").read_text()
    return int(re.search(rf'X\(TESELA_\w+, (\d+), "{name}"', header)[1])


def rotl(x, k):
    return (x << k | x >> (64 - k)) & WORD


def mix(x):
    x = (x ^ x >> 32) * A & WORD
    x = (x ^ x >> 29) * B & WORD
    return x ^ x >> 32


def digest(a, values):
    stream = b"".join(n.to_bytes(8, "little") for n in (type_number(a.dtype), a.bits, a.rank, *a.dims))
    stream += bytes(-len(stream) % 32) + pack(values, a.bits)
    stream += bytes(-len(stream) % 32)
    s = list(START)
    for at in range(0, len(stream), 32):
        w = struct.unpack_from("<4Q", stream, at)
        for i, j in ((0, 1), (2, 3)):
            t = w[i] + rotl(w[j] * A & WORD, 32) & WORD
            u = w[j] + rotl(t * B & WORD, 32) & WORD
            s[i] = rotl(s[i] + t & WORD, 27) * C & WORD
            s[j] = rotl(s[j] + u & WORD, 27) * C & WORD
    lo = mix(mix(mix(mix(s[0]) ^ s[1]) ^ s[2]) ^ s[3])
    hi = mix(mix(mix(mix(s[3]) + s[2] & WORD) + s[1] & WORD) + s[0] & WORD)
    return struct.pack("<2Q", lo, hi).hex()


def test_numbers_of_types():
    assert {name: type_number(name) for name in NUMBERS} == NUMBERS


def test_digest_of_random_arrays(tmp_path):
    for seed, rng, a, b in pairs(25):
        values = [rng.getrandbits(a.bits) for _ in range(a.count)]
        for array in (a, b):
            (tmp_path / "x").write_bytes(stored(array, values, rng))
            got = done("digest", tmp_path / "x", f"--layout={array.text()}")
            assert got == f"{digest(a, values)}  {tmp_path / 'x'}\n", f"seed {seed}: {array}"


def test_digest_of_several_files(tmp_path):
    (tmp_path / "x").write_bytes(bytes(60))
    (tmp_path / "y").write_bytes(bytes(59) + b"\1")
    words = ["digest", tmp_path / "x", tmp_path / "nowhere", tmp_path / "y", "--layout=f32[3,5]"]
    process = run(*words)
    rows = [line.split("  ") for line in process.stdout.decode().splitlines()]
    assert (process.returncode, b"nowhere" in process.stderr) == (2, True)
    assert [name for _, name in rows] == [str(tmp_path / "x"), str(tmp_path / "y")]
    assert all(re.fullmatch(r"[0-9a-f]{32}", hexadecimal) for hexadecimal, _ in rows) and rows[0] != rows[1]
    a = Array("f32", (3, 5))
    assert rows[0][0] == digest(a, [0] * 15) and rows[1][0] == digest(a, [0] * 14 + [1 << 24])
    line = json.loads(done("digest", tmp_path / "x", "--layout=f32[3,5]", "--json"))
    assert line == {"file": str(tmp_path / "x"), "digest": rows[0][0], "layout": "f32[3,5]{1,0}"}


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
