# SPDX-License-Identifier: Apache-2.0
"""Every verb and every op of `tesela query` while memory runs out.

refuse_memory.c runs a command once for each of its allocations, which fails, once alone and once with all after it.
Each run must end in one of two ways: exactly as the undisturbed one (status, both streams, files), or with status 3, a
message that speaks of memory, nothing on standard output but a part of what the undisturbed run prints, and no file left.
`query` may also answer a line with an error of code MEMORY; the lines after it are right.

TESELA_SWEEP=full fails every allocation; else some hundreds of each command, drawn by TESELA_SEED.
"""

import gzip
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
SOURCE = Path(os.environ.get("TESELA_SOURCE") or HERE.parents[1])
BUILD = Path(os.environ.get("TESELA_BUILD") or SOURCE / "build/release")
TESELA = Path(os.environ.get("TESELA") or BUILD / "tesela")
LIBRARY = BUILD / "tests" / "librefuse_memory.so"
SEED = os.environ.get("TESELA_SEED", "20261123")
FULL = os.environ.get("TESELA_SWEEP") == "full"
MOST = 0 if FULL else 200
FIRST = 30  # so many allocations of each command always fail: where it begins

sys.path.insert(0, str(SOURCE / "tests" / "docs"))
sys.path.insert(0, str(SOURCE / "tests" / "cli"))
from doc_blocks import blocks_of  # noqa: E402
from test_report_compressed import zstd  # noqa: E402
from test_report_folder import Program, profile  # noqa: E402
from test_report_runtime import MESSAGES  # noqa: E402

STICK = "f16[1000,200] stick(dim_order=[0,1])"
TILED = "f32[20,200]{1,0:T(8,128)}"

# Words of a command line; "<NAME" is standard input. What ends in a known ending is made by inputs() below.
VERBS = """
show f32[3,5]{1,0:T(2,2)}
show f32[3,5]{1,0:T(2,2)} --json
show f32[3,5]{1,0:T(2,2)} --only=picture --ascii
show --only=picture --linear f32[3,5]{1,0:T(2,2)}
show (f32[3,5]{1,0:T(2,2)},(bf16[4],s32[]))
show (f32[3,5]{1,0:T(2,2)},(bf16[4],s32[])) --json
show local(2,1).spatial(2,3)
show local(2,1).spatial(2,3) --json
show --by=thread local(2,1).spatial(2,3)
show reduce(spatial(3,4),dims=[0]) --json
show shared_row_major_swizzle(8,32,nbytes=2) --only=words
show mma.m16n8k16.f16.A --format=plain
show STICK
show STICK --json
show --only=words --target=examples/own.target STICK
show STICK --only=picture --target=examples/own.target
where f32[20,200]{1,0:T(8,128)} 19,199
where f32[20,200]{1,0:T(8,128)} 19,199 --json
where mma.m16n8k16.f16.A 3,4 --json
where STICK 3,4
what f32[20,200]{1,0:T(8,128)} 0 1 2 3000
what f32[20,200]{1,0:T(8,128)} 0 1 2 3000 --json
what mma.m16n8k16.f16.A 3:1
same f32[24,128]{1,0:T(8,128)} f32[24,128]{1,0}
same f32[8,256]{1,0:T(8,128)} f32[8,256]{1,0} --json
same spatial(2,3) column_spatial(2,3)
same spatial(2,3) column_spatial(2,3) --json
same STICK f16[1000,200]{0,1:T(64,1)} --json
access column_spatial(32,1).local(1,32) shared_row_major(32,32) --dtype=f32 --vector=1
access column_spatial(32,1).local(1,32) shared_row_major(32,32) --dtype=f32 --json
swizzle spatial(32,1).local(1,32) spatial(1,32).local(32,1) --ldmatrix
swizzle spatial(32,1).local(1,32) spatial(1,32).local(32,1) --dtype=f32
swizzle spatial(32,1).local(1,32) spatial(1,32).local(32,1) --dtype=f32 --json
convert local(2).spatial(32) spatial(32).local(2) --dtype=f32
convert local(2).spatial(32) spatial(32).local(2) --dtype=f32 --json
convert local(2).spatial(32) spatial(32).local(2) --dtype=f32 --cuda=rows
convert local(4).spatial(64) spatial(64).local(4) --through=shared --cuda=rows
dma STICK
dma STICK --json --padding
dma STICK --source
dma STICK --strides=1,1000 --to-host
dma STICK --box=0:100,0:64 --json
dma STICK --max-dims=2 --max-extent=512 --max-burst=64
same STICK f16[1000,200]stick(dim_order=[1,0])
plan s4[301,517]{1,0:E(4)}->{0,1:E(4)} --isa=c --threads=1
plan f32[3000,2000]{1,0:T(6,100)}->{1,0:T(8,128)} --isa=c --threads=1
plan bf16[1000,200]{1,0}->{1,0:T(8,128)(2,1)} --isa=c --threads=1
plan f32[20,200]{1,0}->{1,0:T(8,128)} --explain --isa=c --threads=2
plan f32[20,200]{1,0}->{1,0:T(8,128)} --json --isa=c --threads=1
check f32[20,200]{1,0}->{1,0:T(8,128)} --isa=c --threads=1
check f32[20,200]{1,0}->{1,0:T(8,128)} --isa=c --threads=1 --json
formats
formats --json
formats --rules
formats --rules --json
formats --fragments
formats --fragments --json
formats --functions
formats --functions --json
version
version --json
help
help show
help --json
help --man
help --completion=bash
"""

REPORTS = """
report examples/oom_report.txt --top=2
report examples/oom_report.txt --json
report --tsv --top=0 examples/step.hlo.txt
report --timeline --json examples/step.hlo.txt
report --top=2 oom_report.txt.gz
report --json <step.hlo.zst
report --json vm.xplane.pb
report vm.xplane.pb small.hlo.txt
report runtime.txt
report --timeline --max-peak=1GiB examples/step-transposed.hlo.txt
report --max-peak=1MiB --max-bytes=1MiB --baseline=examples/step-transposed.hlo.txt examples/step.hlo.txt
report --top=3 examples/step.hlo.txt --by=size
choose f32[300,12]
predict examples/step.mlir
predict --json --target=v2 examples/step.hlo.txt
report --top=3 --color=always examples/step.hlo.txt examples/oom_report.txt
report --max-waste=10% examples/oom_report.txt --json
report <oom_report.txt
diff examples/step.hlo.txt examples/step-transposed.hlo.txt
diff examples/step.hlo.txt examples/step-transposed.hlo.txt --json
diff examples/step.hlo.txt examples/step-transposed.hlo.txt --tsv
infer examples/matmul.kernel
infer examples/matmul.kernel --json
infer examples/conflict.kernel
infer examples/conflict.kernel --json
"""

GRAPHS = """
graph propagate examples/linear.json
graph propagate examples/linear.json --json
graph propagate examples/softmax.json --padding
graph propagate examples/softmax.json --padding --json
graph assign examples/linear.json --proof
graph assign examples/linear.json --hlo
graph assign examples/linear.json --json
graph assign examples/reshape.json --copies --proof
graph assign examples/reshape.json --copies --json
graph assign examples/mlp.hlo
graph assign examples/softmax.json --padding
graph assign examples/softmax.json --padding --json
graph propagate examples/reshape.json
graph propagate examples/reshape.json --materialise --json
graph assign examples/block.hlo --hlo
graph assign examples/decode.hlo
graph assign examples/net.hlo --json
graph plan examples/block.hlo --json
graph plan examples/softmax.json --capacity=100000
graph assign examples/linear.json --target=examples/own.target
graph assign examples/softmax.json --loops=p --cores=4
graph assign examples/softmax.json --loops=scores --json
graph plan examples/softmax.json
graph plan examples/softmax.json --csv
graph plan examples/softmax.json --json
graph plan buffers.csv
graph run small.json
graph run small.json --json
graph run examples/linear.json
graph run small.json --in=x=x16.npy --in=w=w16.npy --in=b=b16.npy --out=y=out.npy
graph run small.json --in=x=x16.npy --in=w=w16.npy --in=b=b16.npy --out=0=out.npy --json
"""

FILES = """
relayout x.raw --from f32[20,200] --to {1,0:T(8,128)}
relayout x.raw -o out.raw --from f32[20,200] --to {1,0:T(8,128)}
relayout x.raw -o out.npy --from f32[20,200] --to {0,1}
relayout <x.raw -o out.safetensors --from f32[20,200] --to {1,0}
relayout h.raw -o out.dev --from f16[50,70] --to stick(dim_order=[0,1])
relayout x.npy -o out.raw --to {1,0:T(8,128)} --json
relayout x.raw -o out.raw --from f32[20,200] --to {0,1} --threads=2 --memory=1MiB
relayout x.raw -o out.raw --from f32[20,200] --to bf16[20,200]{1,0} --transform=convert
pack w.safetensors -o out.safetensors *={1,0:T(8,128)}
pack w.safetensors -o out.safetensors *={1,0:T(8,128)} --json
pack w.safetensors --to={0,1}
pack w.safetensors -o out.safetensors *={1,0:T(8,128)} --verify
pack w.safetensors -o out.safetensors *={1,0:T(8,128)} --dry-run --json
pack w.index.json -o out.index.json *={1,0:T(8,128)} --dry-run --json
pack w.index.json -o out.index.json *={1,0:T(8,128)} --json
pack w.index.json -o out.index.json *={1,0:T(8,128)} --verify
relayout big.raw -o out.raw --from u8[300,400] --to {1,0:T(8,128)} --threads=2
unpack packed.safetensors -o out.safetensors
unpack packed.safetensors -o out.npy --tensor=a --json
unpack packed.safetensors
cmp w.safetensors packed.safetensors
cmp w.safetensors packed.safetensors --json
cmp x.raw x.npy --a f32[20,200]
digest w.safetensors x.npy
digest packed.safetensors --json
verify f16[50,70]stick(dim_order=[0,1]) x.dev h.raw
verify f16[50,70]stick(dim_order=[0,1]) wrong.dev h.raw
cmp x.npy y.raw --b f32[20,200]
digest x.raw --layout f32[20,200]{0,1}
verify f16[50,70]stick(dim_order=[0,1]) x.dev h.raw --json
"""

# What is refused, with status 2.
REFUSED = """
show f32[3,5]{1,0:T(0,2)}
show (f32[3,5]{1,0:T(2,2)},s32[2]
show f16[3,6]stick(dim_order=[0,0])
where f32[20,200]{1,0:T(8,128)} 20,0 --json
graph assign x.raw
graph assign x.npy
graph plan wrong.csv
infer x.raw
digest short.safetensors
relayout x.raw -o out.raw --from f32[20,201] --to {0,1}
"""

GROUPS = {"verbs": VERBS, "reports": REPORTS, "graphs": GRAPHS, "files": FILES, "refused": REFUSED}


# Requests that name files; IN stands for the folder that inputs() makes, OUT for the one that is looked at.
FILE_REQUESTS = {
    "relayout": {"op": "relayout", "file": "IN/x.npy", "output": "OUT/y.npy", "to": "{0,1}", "threads": 1},
    "pack": {"op": "pack", "file": "IN/w.safetensors", "output": "OUT/y", "rules": ["a={1,0:T(8,128)}"], "threads": 1},
    "unpack": {"op": "unpack", "file": "IN/packed.safetensors", "output": "OUT/y.safetensors", "threads": 1},
    "cmp": {"op": "cmp", "file_a": "IN/w.safetensors", "file_b": "IN/packed.safetensors"},
    "graph_run": {
        "op": "graph_run", "graph": "small.json", "in": {"x": "IN/x16.npy", "w": "IN/w16.npy", "b": "IN/b16.npy"}, "out": {"0": "OUT/y.npy"},
    },
}  # fmt: skip


def queries():
    """The requests that docs/query.md shows, a run for each block, and one of a list of long numbers."""
    text = (SOURCE / "docs" / "query.md").read_text(encoding="utf-8")
    blocks = [block.text.splitlines()[::2] for block in blocks_of(text) if block.info == "json query"]
    blocks.append(['{"op":"where","layout":"f32[999999,999999]{1,0}","indices":[[123456,654321]]}'] * 3)
    return {f"query {n} {json.loads(lines[0]).get('op')}": lines for n, lines in enumerate(blocks)}


def header(tensors, metadata=None):
    entries, at = {"__metadata__": metadata} if metadata else {}, 0
    for name, dtype, dims, data in tensors:
        entries[name] = {"dtype": dtype, "shape": dims, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(entries).encode()
    return struct.pack("<Q", len(text)) + text + b"".join(data for *_, data in tensors)


def npy(descr, dims, data):
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({dims}), }}".encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


@pytest.fixture(scope="session")
def inputs(tmp_path_factory):
    """A folder with all that the commands read."""
    folder = tmp_path_factory.mktemp("inputs")
    shutil.copytree(SOURCE / "examples", folder / "examples")
    f32 = struct.pack("<4000f", *range(4000))
    (folder / "x.raw").write_bytes(f32)
    (folder / "x.npy").write_bytes(npy("<f4", "20, 200", f32))
    for name, dims, n in ("x16", "4, 8", 32), ("w16", "6, 8", 48), ("b16", "6,", 6):
        (folder / f"{name}.npy").write_bytes(npy("<f2", dims, struct.pack(f"<{n}e", *range(n))))
    (folder / "y.raw").write_bytes(f32[:-4] + bytes(4))
    (folder / "h.raw").write_bytes(bytes(n % 60 for n in range(7000)))
    weights = [("a", "F32", [20, 200], f32), ("b.bias", "BF16", [130], bytes(260)), ("c", "I64", [], bytes(8))]
    (folder / "w.safetensors").write_bytes(header(weights, {"format": "pt"}))
    (folder / "v.safetensors").write_bytes(header([("d", "F32", [4, 100], f32[:1600])]))
    places = {name: "w.safetensors" for name, *_ in weights} | {"d": "v.safetensors"}
    (folder / "w.index.json").write_text(json.dumps({"weight_map": places}))
    (folder / "big.raw").write_bytes(bytes(n % 251 for n in range(120000)))
    small = json.loads((SOURCE / "examples" / "linear.json").read_text())
    small["inputs"] = {
        "x": {"size": [4, 8], "dtype": "f16", "stick": 1},
        "w": {"size": [6, 8], "dtype": "f16", "stick": 1},
        "b": {"size": [6], "dtype": "f16", "stick": 0},
    }
    (folder / "small.json").write_text(json.dumps(small))
    (folder / "oom_report.txt.gz").write_bytes(gzip.compress((SOURCE / "examples" / "oom_report.txt").read_bytes()))
    (folder / "step.hlo.zst").write_bytes(zstd((SOURCE / "examples" / "step.hlo.txt").read_bytes()))
    program = Program(random.Random(3))
    (folder / "vm.xplane.pb").write_bytes(profile([program.proto()]))
    (folder / "small.hlo.txt").write_text(program.hlo())
    (folder / "runtime.txt").write_text("".join(text for _, text, *_ in MESSAGES))
    (folder / "oom_report.txt").write_bytes((SOURCE / "examples" / "oom_report.txt").read_bytes())

    def make(*words, into=None):
        done = subprocess.run([TESELA, *words], cwd=folder, stdout=subprocess.PIPE, check=True, timeout=120)
        if into:
            (folder / into).write_bytes(done.stdout)

    make("pack", "w.safetensors", "-o", "packed.safetensors", "*={1,0:T(8,128)}")
    make("relayout", "h.raw", "-o", "x.dev", "--from=f16[50,70]", "--to=stick(dim_order=[0,1])")
    (folder / "wrong.csv").write_text("id,lower,upper,size\na,1,0,x\n")
    (folder / "short.safetensors").write_bytes(header(weights)[:-100])
    (folder / "wrong.dev").write_bytes(b"\1" + (folder / "x.dev").read_bytes()[1:])
    make("graph", "plan", "examples/softmax.json", "--csv", into="buffers.csv")
    for name, lines in queries().items():
        (folder / name).write_text("".join(line + "\n" for line in lines))
    return folder


def words_of(line, inputs):
    """The words of a line above, files with the whole path, and what is standard input."""
    words, given = [], "/dev/null"
    for word in line.split(" "):
        if word == "STICK":
            word = STICK
        if word.startswith("<"):
            given, word = str(inputs / word[1:]), "-"
        head, sign, name = word.rpartition("=")
        if name and (inputs / name).is_file():
            word = f"{head}{sign}{inputs / name}"
        words.append(word)
    return words, given


# ---- a sweep and what it must give ----


@dataclass(frozen=True)
class Run:
    """How a run ended."""

    status: int  # negative: the signal
    out: bytes
    err: bytes
    files: bytes


def sweep(words, given, folder, terminal=False):
    """The undisturbed run, and [(n, "o"nce or "a"ll from there, Run)]."""
    (folder / "records").mkdir(parents=True)
    (folder / "made").mkdir()
    unwanted = ("COLUMNS", "NO_COLOR", "LANG", "LC_CTYPE")
    env = {name: value for name, value in os.environ.items() if name not in unwanted}
    env |= {
        "LC_ALL": "C.UTF-8",
        "LD_BIND_NOW": "1",
        "LD_PRELOAD": str(LIBRARY),
        "TERM": "xterm",
        "TMPDIR": str(folder / "made"),
        "REFUSE_FOLDER": str(folder / "records"),
        "REFUSE_WORK": str(folder / "made"),
        "REFUSE_INPUT": given,
        "REFUSE_SEED": SEED,
    }
    if terminal:
        env["REFUSE_TERMINAL"] = "1"
    slow = words[:2] == ["graph", "run"] and not FULL  # a second in which the program runs twice
    env["REFUSE_MOST"], env["REFUSE_FIRST"] = ("20", "5") if slow else (str(MOST), str(FIRST))
    subprocess.run([TESELA, *words], env=env, check=True)
    texts, runs = {}, []

    def text(name):
        if name not in texts:
            texts[name] = (folder / "records" / name).read_bytes()
        return texts[name]

    for line in (folder / "records" / "records").read_text().splitlines():
        n, how, status, _, *names = line.split()
        runs.append((int(n), how, Run(os.waitstatus_to_exitcode(int(status)), *map(text, names))))
    shutil.rmtree(folder)
    return runs[0][2], runs[1:]


def speaks_of_memory(text):
    return b"memory" in text.lower()


def is_part(out, whole):
    """Is it a beginning of the whole, or, for verbs that go on with the next file, some of its lines?"""
    lines = iter(whole.splitlines())
    return whole.startswith(out) or all(line in lines for line in out.splitlines())


def terminal_fault(whole, how, run):
    """The same on a terminal, where with status 3 lines may lack or not be wrapped."""
    words = iter(whole.out.split())
    part = all(word in words for word in run.out.split())
    return fault(whole, how, Run(3, b"", run.err, run.files) if run.status == 3 and part else run)


def fault(whole, how, run):
    """What is wrong with a run, or None."""
    if run == whole:
        return None
    if run.status < 0:
        return f"died of {signal.Signals(-run.status).name}"
    if run.status == 3 and speaks_of_memory(run.err):
        if not is_part(run.out, whole.out):
            return "status 3, and wrong output"
        return "status 3, and a file left" if run.files else None
    if run.status == 3:
        return "status 3 without a word of memory"
    if run.status != whole.status:
        return f"status {run.status}"
    return "another output" if run.out != whole.out else "another message or file"


# Numbers of the op bench that are measured, never twice the same.
TIMES = re.compile(rb'("(?:best_ns|median_ns|gb_per_s|ratio_to_memcpy|create_ns)"):[^,}]+')


def query_fault(whole, how, run):
    """The same for `query`, which answers lines one by one."""
    right, answers = (TIMES.sub(rb"\1:0", out).splitlines() for out in (whole.out, run.out))
    if (run.status, run.err, run.files) != (0, b"", b"") or len(answers) != len(right):
        return fault(whole, how, run)
    wrong = [k for k in range(len(right)) if answers[k] != right[k]]
    for k in wrong:
        answer = json.loads(answers[k])
        error = answer.get("error", {})
        if answer["ok"] or error.get("code") != "MEMORY" or not speaks_of_memory(error["message"].encode()):
            return f"wrong answer to line {k + 1}: {answers[k]!r}"
    if how == "o" and len(wrong) > 1:
        return f"one failure, {len(wrong)} refusals"
    return None


def check(words, given, folder, judge, terminal=False, statuses=(0, 1)):
    whole, runs = sweep(words, given, folder, terminal)
    assert whole.status in statuses, whole
    assert runs, "this command allocates nothing"
    faults = {}
    for n, how, run in runs:
        what = judge(whole, how, run)
        if what:
            faults.setdefault(what, []).append((f"{n}{how}", run))
    lines = [
        f"{what}: {len(found)} of {len(runs)}, allocation {', '.join(n for n, _ in found[:6])}\n"
        f"    stdout {found[0][1].out[-200:]!r}\n    stderr {found[0][1].err[-300:]!r} files {found[0][1].files[:80]!r}"
        for what, found in faults.items()
    ]
    assert not faults, f"TESELA_SEED={SEED}\n" + "\n".join(lines)


@pytest.mark.parametrize(
    "group, line", [(group, line) for group, text in GROUPS.items() for line in text.strip().splitlines()]
)
def test_verb(group, line, inputs, tmp_path):
    words, given = words_of(line, inputs)
    check(words, given, tmp_path / "sweep", fault, statuses=(2,) if group == "refused" else (0, 1))


def timed_fault(whole, how, run):
    """The same for `bench`, whose numbers are never twice the same: so many lines, with so many words."""
    shape = [len(line.split()) for line in run.out.splitlines()]
    same = shape == [len(line.split()) for line in whole.out.splitlines()] and run.status == 0
    part = run.status == 3 and shape == []
    return fault(whole, how, Run(run.status, whole.out if same else b"" if part else run.out, run.err, run.files))


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_verbs_that_time(form, inputs, tmp_path):
    words = ["bench", "f32[4,8]{1,0} -> {0,1}", "--isa=c", "--threads=1", "--rounds=3", *form]
    check(words, "/dev/null", tmp_path / "sweep", timed_fault)


@pytest.mark.parametrize(
    "line",
    [
        "show f32[3,5]{1,0:T(2,2)}",
        "show mma.m16n8k16.f16.A",
        "report examples/oom_report.txt",
        "report examples/step.hlo.txt",
        "diff examples/step.hlo.txt examples/step-transposed.hlo.txt",
        "graph plan examples/softmax.json",
    ],
)
def test_terminal(line, inputs, tmp_path):
    words, given = words_of(line, inputs)
    check(words, given, tmp_path / "sweep", terminal_fault, terminal=True)


@pytest.mark.parametrize("name", queries())
def test_query(name, inputs, tmp_path):
    check(["query"], str(inputs / name), tmp_path / "sweep", query_fault)


@pytest.mark.parametrize("name", FILE_REQUESTS)
def test_query_with_files(name, inputs, tmp_path):
    """One request: its file is there whole with the right answer, or neither is."""
    line = json.dumps(FILE_REQUESTS[name]).replace("IN/", f"{str(inputs)[1:]}/").replace("OUT/", f"{str(tmp_path)[1:]}/sweep/made/")
    line = line.replace('"small.json"', json.dumps(json.loads((inputs / "small.json").read_text())))
    (tmp_path / "line").write_text(line + "\n")
    check(["query", "--files=/"], str(tmp_path / "line"), tmp_path / "sweep", query_fault)
