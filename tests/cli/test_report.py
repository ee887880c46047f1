# SPDX-License-Identifier: Apache-2.0
"""`tesela report` and `tesela diff`: real dumps against the compiler's own figures and a second reader, and how the
verbs behave with files, folders, pipes and limits.

The second reader is written here, straight from docs/report.md: it holds a whole module in memory and follows the
calls by name. It shares nothing with the library but the sizes of the vectors and the rule for the first tile.
"""

import json
import math
import os
import random
import re
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from command import SANITIZED, SOURCE, TESELA, environment, only_if, run

DUMPS = sorted((SOURCE / "tests/data/hlo").glob("*/*.hlo.txt"))
REPORTS = sorted((SOURCE / "tests/data/reports").glob("*.txt"))
VECTORS = json.loads((SOURCE / "tests/vectors/xla_seed_examples.json").read_text())
SHARED = Path(os.environ.get("TESELA_SHARED") or SOURCE.parent / "shared") / "real_hlo"
OOM = SOURCE / "examples/oom_report.txt"
STEP = SOURCE / "examples/step.hlo.txt"
SEED = int(os.environ.get("TESELA_SEED", "20261121"), 0)
UTF8 = {"LC_ALL": "C.UTF-8"}


def report(*words, text=b"", status=0, **how):
    done = run("report", *map(str, words), text=text, **how)
    assert done.returncode == status, done.stderr.decode()
    return done.stdout.decode()


def report_json(*words, **how):
    return json.loads(report("--json", "--top", "0", *words, **how))


# ---- a second reader ----

WIDTH = {"pred": 8, "c64": 64, "c128": 128, "bf16": 16}
ARRAY = r"([a-z][a-z0-9]*)\[([^\]]*)\](?:\{([^{}]*)\})?"
NOTHING = {
    "add-dependency", "after-all", "bitcast", "call", "conditional", "domain", "get-tuple-element", "opt-barrier",
    "optimization-barrier", "outfeed", "send", "tuple", "while",
}  # fmt: skip


def stored_bytes(shape):
    """What XLA's allocator takes: the first tile rounds up, E(n) gives the bits, L rounds tiled elements."""
    name, dims, layout = re.fullmatch(ARRAY, shape).groups()
    if name == "token":
        return None
    digits = re.fullmatch(r"[a-z]+(\d+).*", name)
    bits = WIDTH.get(name) or max(8, int(digits[1]))
    bounds = [int(d) for d in dims.replace("<=", "").split(",") if d]
    order, _, props = (layout or "").partition(":")
    minor_to_major = [int(d) for d in order.split(",") if d] or list(reversed(range(len(bounds))))
    bounds = [bounds[d] for d in reversed(minor_to_major)]
    if explicit := re.search(r"E\((\d+)\)", props):
        bits = int(explicit[1])
    if tile := re.match(r"T\(([^)]*)\)", props):
        tile = [int(t) for t in tile[1].split(",")]
        bounds = [1] * (len(tile) - len(bounds)) + bounds
        for i, t in enumerate(reversed(tile), 1):
            bounds[-i] = math.ceil(bounds[-i] / t) * t
    return math.ceil(math.prod(bounds) * bits / 8)


def members(shape):
    """The members of a tuple, as texts."""
    if not shape.startswith("("):
        return [shape]
    depth, start, found = 0, 1, []
    for i, c in enumerate(shape):
        if c in "([{":
            depth += 1
        if c in ")]}":
            depth -= 1
        if (c == "," and depth == 1) or (c == ")" and depth == 0):
            found.append(shape[start:i])
            start = i + 1
    return found


def counted(opcode, shape, rest, in_entry):
    """The shapes of the arrays of an instruction that are in memory."""
    parts = members(shape)
    if opcode in NOTHING or opcode.endswith(("-done", "-update")) or (opcode == "parameter" and not in_entry):
        return []
    if opcode in ("copy-start", "recv", "infeed"):
        parts = parts[:1]
    elif opcode.endswith("-start") and opcode != "all-reduce-start" and shape.startswith("("):
        parts = parts[1:2]
    if aliasing := re.search(r"output_to_operand_aliasing=\{(.*?\}\))\}", rest):
        aliased = re.findall(r"\{(\d*)[^{}]*\}: \(", aliasing[1])
        parts = [] if "" in aliased else [p for i, p in enumerate(parts) if str(i) not in aliased]
    return [m[0] for p in parts for m in re.finditer(ARRAY, p)]


def role_of(opcode):
    return {"parameter": "argument", "constant": "constant", "copy": "copy", "copy-start": "copy"}.get(opcode, "result")


def shape_end(text):
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0 and c in " )":
            return i + (c == ")")
    raise ValueError(text)


def read_module(text):
    """Counter of (role, shape) over the arrays in memory."""
    computations, name, entry = {}, None, None
    for line in text.split("\n"):
        if header := re.match(r"(ENTRY )?%([\w.-]+) \(.*\{$", line):
            name = header[2]
            computations[name] = []
            entry = name if header[1] else entry
        elif line.startswith("}"):
            name = None
        elif name and (start := re.match(r"\s*(?:ROOT )?%[\w.-]+ = ", line)):
            rest = line[start.end() :]
            end = shape_end(rest) if rest.startswith("(") else rest.index(" ")
            opcode = re.match(r" ?([\w-]+)\(", rest[end:])[1]
            computations[name].append((opcode, re.sub(r"/\*.*?\*/", "", rest[:end]), rest[end:]))
    arrays, todo, seen = Counter(), [entry], {entry}
    while todo:
        name = todo.pop()
        for opcode, shape, rest in computations[name]:
            for array in counted(opcode, shape, rest, name == entry):
                if stored_bytes(array) is not None:
                    arrays[role_of(opcode), array] += 1
            called = []
            if opcode in ("while", "conditional", "call"):
                lists = re.findall(r"(?:condition|body|to_apply|true_computation|false_computation)=%([\w.-]+)", rest)
                for names in re.findall(r"branch_computations=\{([^}]*)\}", rest):
                    lists += re.findall(r"%([\w.-]+)", names)
                called = [c for c in lists if c in computations]
            todo += [c for c in called if c not in seen]
            seen |= set(called)
    return arrays


# ---- real dumps ----


@pytest.mark.parametrize("dump", DUMPS, ids=[f"{d.parent.name}/{d.stem}" for d in DUMPS])
def test_every_array_of_a_real_dump(dump):
    found = report_json(dump)
    want = read_module(dump.read_text())
    got = Counter({(a["role"], a["shape"]): a["count"] for a in found["arrays"]})
    assert got == want
    for array in found["arrays"]:
        assert array["stored_bytes"] == stored_bytes(array["shape"]), array["shape"]
    assert found["totals"]["hlo"]["stored_bytes"] == sum(n * stored_bytes(s) for (_, s), n in want.items())
    assert found["notes"] == []


@pytest.mark.parametrize("dump", DUMPS, ids=[f"{d.parent.name}/{d.stem}" for d in DUMPS])
def test_entry_bytes_are_the_compilers(dump):
    figures = json.loads(dump.with_suffix("").with_suffix(".json").read_text())["memory_analysis"]
    arguments = figures["argument_size_in_bytes"] + figures.get("host_argument_size_in_bytes", 0)
    results = figures["output_size_in_bytes"] + figures.get("host_output_size_in_bytes", 0)
    found = report_json(dump)
    section = found["sections"][0]
    assert section["entry_argument_bytes"] == arguments
    assert found["totals"]["roles"].get("argument", {"stored_bytes": 0})["stored_bytes"] == arguments
    table = results - section["entry_result_bytes"]
    assert 0 <= table <= 1024  # of pointers, for a tuple
    assert section["entry_results"] > 1 or table == 0


def test_a_folder_is_the_sum_of_its_files():
    folder = SOURCE / "tests/data/hlo"
    whole = report_json(folder)
    parts = [report_json(dump)["totals"]["hlo"] for dump in DUMPS]
    for key in ("arrays", "stored_bytes", "data_bytes", "padding_bytes"):
        assert whole["totals"]["hlo"][key] == sum(p[key] for p in parts)
    assert [i["name"] for i in whole["inputs"] if i["sections"]] == [str(d) for d in DUMPS]


# ---- real reports ----


@pytest.mark.parametrize("file", [OOM, *REPORTS], ids=lambda f: f.stem)
def test_real_reports_agree_with_their_shapes(file):
    found = report_json(file)
    assert not [n for n in found["notes"] if n["loud"]]
    for array in found["arrays"]:
        assert array["compiler"]["disagrees"] == []
        if array["shape"] and array["shape"][0] != "(":
            assert array["sized"], array["shape"]
    assert found["sections"][0]["compiler"]


def test_the_two_forms_of_one_report_say_the_same():
    """The compilers of 2025 and 2026 on the same program: the second log has no layouts."""
    old = report_json(OOM)["arrays"]
    new = report_json(SOURCE / "tests/data/reports/hbm-onehot-libtpu0.0.42-log.txt")["arrays"]
    assert [a["shape"] for a in old[:3]] == [a["fitted"] for a in new[:3]]


@pytest.mark.parametrize("row", VECTORS["report_examples"], ids=lambda r: r["shape"])
def test_published_figures(row):
    text = (
        f"  1. Size: {row['size']}\n     Shape: {row['shape']}\n     Unpadded size: {row['unpadded']}\n"
        f"     Extra memory due to padding: {row['extra']} ({row['expansion']} expansion)\n"
    )
    found = report_json(text=text)
    array = found["arrays"][0]
    assert (array["stored_bytes"], array["data_bytes"]) == (row["bytes"], row["unpadded_bytes"])
    assert array["compiler"]["disagrees"] == []


@only_if(SHARED.is_dir())  # a collection of published texts
def test_published_report():
    text = (SHARED / "oom_onehot_report.txt").read_text()
    found = report_json(text=text)
    first, second = found["arrays"]
    assert (first["stored_bytes"], first["data_bytes"]) == (29360128 * 128 * 4, 29360128 * 10 * 4)
    assert (second["stored_bytes"], second["data_bytes"]) == (256 * 896 * 24 * 128 * 4, 128 * 256 * 896 * 18 * 4)
    assert first["compiler"]["disagrees"] == second["compiler"]["disagrees"] == []
    assert first["reasons"] == ["dim 1 (10) is minor and fills 10 of 128 lanes: x12.8"]
    wrong = report_json(text=text.replace("Size: 14.00G", "Size: 15.00G"))
    assert wrong["arrays"][0]["compiler"]["disagrees"] == ["size"]
    assert [n["code"] for n in wrong["notes"] if n["loud"]] == ["disagree"]


@only_if(SHARED.is_dir())  # a collection of published texts
def test_published_profile():
    found = report_json(SHARED / "xplane_host_offload_ops.hlo.txt")
    assert found["totals"]["hlo"]["arrays"] == 11  # all-reduce, broadcast, 3 fusions, 6 destinations
    assert found["totals"]["hlo"]["padding_bytes"] == 0
    assert {a["memory_space"]: a["count"] for a in found["arrays"] if a["role"] == "copy"} == {0: 3, 5: 3}


# ---- the text in other clothes ----


def test_prefixes_change_nothing():
    plain = report_json(OOM)
    for prefix in ("2026-11-21 10:00:00.123456: E net.cc:76] ", "  [1,0]<stderr>:", "I0000 00:00:1 12 a.cc:1]   "):
        text = "".join(prefix + line for line in OOM.read_text().splitlines(keepends=True))
        assert report_json(text=text)["arrays"] == [{**a, "input": "-"} for a in plain["arrays"]]
        hlo = "".join(prefix + line for line in STEP.read_text().splitlines(keepends=True))
        assert report_json(text=hlo)["totals"] == report_json(STEP)["totals"]


def test_an_exception_on_one_line():
    text = repr(RuntimeError(OOM.read_text())) + "\n"
    assert text.count("\n") == 1
    assert report_json(text=text)["totals"] == report_json(OOM)["totals"]
    twice = json.dumps({"message": OOM.read_text()}) + "\n"
    assert report_json(text=twice)["totals"] == report_json(OOM)["totals"]


def test_the_same_report_from_every_worker_counts_once(tmp_path):
    for worker in range(3):
        (tmp_path / f"worker{worker}.log").write_text(OOM.read_text())
    found = report_json(tmp_path)
    assert found["totals"] == report_json(OOM)["totals"]
    assert [s["repeated"] for s in found["sections"]] == [0, 4, 4]


def test_cut_anywhere():
    """However much of the text is there, what is counted only grows, and nothing fails."""
    text, last = OOM.read_bytes(), 0
    rng = random.Random(SEED)
    print("seed", SEED)
    for cut in sorted(rng.sample(range(len(text)), 40)):
        done = run("report", "--json", text=text[:cut])
        assert done.returncode in (0, 2)
        if done.returncode == 0:
            stored = json.loads(done.stdout)["totals"]["memory_report"]["stored_bytes"]
            assert stored >= last - 0.01 * last  # a shape that is cut off leaves the compiler's rounded figure
            last = stored


# ---- output ----


def test_output_for_people():
    text = report("--top", "1", OOM, env=UTF8)
    assert text.startswith("20.56 GiB of 23.25 GiB stored is padding (88%)\n")
    assert "used 23.25G of 15.75G" in text
    assert "█░░░░░░░░░  s32[30000000,12]{1,0:T(8,128)}" in text
    assert "dim 1 (12) is minor and fills 12 of 128 lanes: x10.7" in text
    assert "{0,1:T(8,128)} takes 1.79 GiB, saves 12.52 GiB: dim 0 minor, dim 1 next" in text
    assert "... and 3 more" in text
    assert "\033" not in text
    assert report("--top", "1", "--ascii", OOM, env=UTF8).isascii()
    assert "#.........  s32" in report("--top", "1", OOM)
    assert "\033[1m20.56 GiB" in report("--color=always", OOM)


@pytest.mark.parametrize(
    "units, size", [("iec", "14.31 GiB"), ("si", "15.36 GB"), ("bytes", "15360000000"), ("xla", "14.30G")]
)
def test_units(units, size):
    assert f"  1  {size}  " in report("--units", units, "--top", "1", OOM)


def test_orders():
    for by, key in (
        ("waste", lambda a: a["padding_bytes"] * a["count"]),
        ("size", lambda a: a["stored_bytes"] * a["count"]),
        ("expansion", lambda a: a["stored_bytes"] / max(a["data_bytes"], 1) if a["padding_bytes"] else 1),
    ):
        keys = [key(a) for a in report_json("--by", by, STEP)["arrays"]]
        assert keys == sorted(keys, reverse=True)


def test_tsv():
    lines = [line.split("\t") for line in report("--tsv", "--top", "0", STEP, OOM).splitlines()]
    assert all(len(line) == len(lines[0]) == 17 for line in lines)
    rows = [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]
    totals = report_json(STEP, OOM)["totals"]
    for source in ("hlo", "memory_report"):
        assert sum(int(r["stored_bytes"]) for r in rows if r["source"] == source) == totals[source]["stored_bytes"]
    odd = report("--tsv", text='%a = f32[4]{0} add(%x), metadata={op_name="a\tb\\\\c"}\n')
    assert "a\\tb\\\\\\\\c" in odd


def test_spaces():
    assert report_json("--space", "0", STEP)["totals"]["hlo"]["arrays"] == 15
    assert report_json("--space", "1", STEP)["totals"]["hlo"]["stored_bytes"] == 4096
    assert "S(1) 4.0 KiB" in report(STEP)


def test_names_from_outside_do_no_harm():
    text = b'%a = f32[8,3]{1,0:T(8,128)} add(%x), metadata={op_name="\x9b31m\x07red\xff\xe2\x80\xae"}\n'
    shown = run("report", text=text, env=UTF8)
    assert shown.returncode == 0
    assert b"\x07" not in shown.stdout and b"\xe2\x80\xae" not in shown.stdout
    shown.stdout.decode()
    assert json.loads(run("report", "--json", text=text).stdout)["arrays"][0]["op_name"].startswith("\ufffd31m\x07red\ufffd")


# ---- limits ----


@pytest.mark.parametrize(
    "limit, status",
    [
        (("--max-waste", "88%"), 1), (("--max-waste", "89%"), 0), (("--max-waste", "0.9"), 0), (("--max-waste", "0"), 1),
        (("--max-bytes", "16GiB"), 1), (("--max-bytes", "24G"), 0),
        (("--max-bytes", "24GB"), 1),
        (("--max-bytes", "24960000511"), 1), (("--max-bytes", "24960000512"), 0),
        (("--max-bytes", "1T", "--max-waste", "1%"), 1),
    ],
)  # fmt: skip
def test_limits(limit, status):
    done = run("report", *limit, str(OOM))
    assert done.returncode == status
    assert (b"--max-" in done.stderr) == (status == 1)
    assert done.stdout.startswith(b"20.56 GiB")


CUT = b"  1. Size: 1.09G\n     Shape: s32[29360128,10]{1,0:T(8,1"
NO_LIST = REPORTS[0].parent / "hbm-onehot-libtpu0.0.42.txt"
HUGE = b"%b = f32[999999999999,999999999999]{1,0} add(%x)\n"


@pytest.mark.parametrize(
    "limit, text, status, said",
    [
        # the compiler's total is 24.03G
        (("--max-bytes", "16GiB"), NO_LIST, 1, b"the compiler's total is 24.03 GiB"),
        (("--max-bytes", "25GiB"), NO_LIST, 0, b""),
        (("--max-waste", "10%"), NO_LIST, 3, b"cannot be checked: no array has a readable shape"),
        (("--max-waste", "10%", "--max-bytes", "16GiB"), NO_LIST, 1, b"24.03 GiB"),
        (("--max-waste", "10%", "--space", "7"), REPORTS[3], 3, b"in that memory space"),
        (("--max-waste", "1%"), CUT, 3, b"cannot tell whether the padding is above 1%; it is 0% to 100%"),
        (("--max-waste", "100%"), CUT, 0, b""),
        (("--max-bytes", "1GiB"), CUT, 1, b"1.09 GiB are stored"),
        (("--max-bytes", "1"), b"Peak buffers:\n", 3, b"neither a list nor a total"),
        (("--max-waste", "1%"), b"Program hbm requirement 4.0G:\n    HLO temp  4.0G (25.0% utilization: "
         b"Unpadded (1.00G) Padded (4.00G))\n", 1, b"75% of the compiler's HLO temp is padding"),
        (("--max-bytes", "1"), HUGE, 3, b"cannot be checked"),
        (("--max-waste", "1%"), HUGE, 3, b"cannot be checked"),
        (("--max-waste", "1%"), b"%a = f32[0]{0} add(%x)\n", 0, b""),
    ],
)  # fmt: skip
def test_limits_that_nothing_was_measured_for(limit, text, status, said):
    done = run("report", *limit, "-", text=text if isinstance(text, bytes) else text.read_bytes())
    assert done.returncode == status, done.stderr
    assert said in done.stderr and bool(said) == bool(done.stderr)


def test_unknown_data_is_not_zero_padding():
    shown = report(text=CUT)
    assert "1.09 GiB stored; how much of it is padding is not known" in shown
    assert re.search(r"1  1\.09 GiB +\?  \?  \? ", shown) and "1.0x" not in shown
    found = report_json(text=CUT)
    assert found["arrays"][0]["data_bytes"] is found["arrays"][0]["padding_bytes"] is None
    assert found["totals"]["memory_report"]["waste"] is None
    assert found["totals"]["memory_report"]["unknown_arrays"] == 1
    assert report("--tsv", text=CUT).splitlines()[1].split("\t")[5:7] == ["", ""]


def test_a_space_without_arrays():
    one = SOURCE / "tests/data/reports/hbm-single-libtpu0.0.17.txt"
    assert report("--space", "7", one).startswith("no arrays in memory space 7; spaces here: 0\n")
    assert report("--space", "7", STEP).startswith("no arrays in memory space 7; spaces here: 0, 1\n")
    assert report_json("--space", "7", one)["totals"]["memory_report"]["waste"] is None


def test_the_figure_that_differs_is_named():
    shown = report("--top", "1", text=OOM.read_text().replace("(10.7x", "(11.7x", 1))
    assert "the compiler printed expansion 11.7x, the shape gives 10.7x" in shown
    shown = report(text="  1. Size: 14.00G\n     Shape: f32[9,9]\n")
    assert shown.startswith("WARNING: ") and "no known tile gives f32[9,9] the printed size 14.00G" in shown


def test_a_shape_that_overflows_is_said():
    assert report(text=HUGE).startswith("WARNING: f32[999999999999,999999999999]{1,0} cannot be read as a shape")


def test_rows_left_out():
    for form in ("--tsv", "--json"):
        assert b"note: 10 of 12 rows; --top 0 gives all" in run("report", form, str(STEP)).stderr
        assert run("report", form, "--top", "3", str(STEP)).stderr == b""
    assert json.loads(report("--json", "--top", "3", STEP))["rows_left_out"] == 9
    assert report_json(STEP)["rows_left_out"] == 0
    for verb in (("report", str(STEP)), ("diff", str(STEP), str(STEP))):
        done = run(*verb, "--json", "--tsv")
        assert (done.returncode, done.stdout) == (2, b"")


def test_dynamic_dims_are_not_merged():
    for dims, merges in (("<=30000000,12", False), ("30000000,<=12", False), ("30000000,12", True)):
        found = report_json(text=f"%a = s32[{dims}]{{1,0:T(8,128)}} add(%x)\n")
        assert ("merge" in [a["kind"] for a in found["arrays"][0]["advice"]]) == merges


def test_limits_hold_for_each_source():
    mixed = OOM.read_text() + STEP.read_text()
    assert run("report", "--max-bytes", "100MiB", text=mixed).returncode == 1
    done = run("report", "--max-bytes", "100MiB", "--tsv", str(STEP))
    assert done.returncode == 0


@pytest.mark.parametrize(
    "words",
    [
        ("--max-waste", "ten"), ("--max-waste", "101%"), ("--max-waste", "-1%"), ("--max-waste", "10%%"),
        ("--max-bytes", "16 giga"), ("--max-bytes", ""), ("--by", "name"), ("--top", "-1"), ("--units", "GiB"),
        ("--space", "300"),
    ],
)  # fmt: skip
def test_bad_options(words):
    done = run("report", *words, str(OOM))
    assert (done.returncode, done.stdout) == (2, b"")
    assert words[0].encode() in done.stderr


# ---- inputs ----


def test_nothing_recognised(tmp_path):
    done = run("report", text="hello\n")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"nothing recognised in 1 input (6 bytes, 1 line)" in done.stderr
    assert b"Largest program allocations" in done.stderr and b"HLO text" in done.stderr
    assert run("report", "--max-waste", "100%", text="hello\n").returncode == 3
    assert run("report", "--max-waste", "100%", str(tmp_path / "missing")).returncode == 2
    assert run("report", str(tmp_path)).returncode == 2
    assert b"no text files" in run("report", str(tmp_path)).stderr


def test_unreadable(tmp_path):
    done = run("report", str(tmp_path / "missing"))
    assert done.returncode == 2 and b"missing" in done.stderr
    done = run("report", str(tmp_path / "missing"), str(OOM))
    assert done.returncode == 2 and done.stdout.startswith(b"20.56 GiB")
    packed = tmp_path / "log.gz"
    packed.write_bytes(subprocess.run(["gzip", "-c", str(OOM)], stdout=subprocess.PIPE, check=True).stdout)
    done = run("report", str(packed))
    assert done.returncode == 2 and b"zcat FILE | tesela report -" in done.stderr


MLIR = b"module @jit_f attributes {mhlo.num_partitions = 1 : i32} {\n  func.func public @main() {\n"
FOREIGN = [
    (b"\x1f\x8b\x08" + bytes(50), "gzip data", "zcat FILE | tesela report -"),
    (b"\x28\xb5\x2f\xfd" + bytes(50), "zstd data", "zstdcat FILE | tesela report -"),
    (STEP.read_text().encode("utf-16"), "UTF-16 text", "iconv -f UTF-16 -t UTF-8 FILE | tesela report -"),
    (STEP.read_text().encode("utf-16-le"), "UTF-16 text", "iconv -f UTF-16LE -t UTF-8 FILE | tesela report -"),
    (STEP.read_text().encode("utf-16-be"), "UTF-16 text", "iconv -f UTF-16BE -t UTF-8 FILE | tesela report -"),
    (b"\x93NUMPY\x01\x00v\x00{'descr'", "a NumPy array", "compiled.as_text()"),
    ((70).to_bytes(8, "little") + b'{"w":{"dtype":"F32"' + bytes(60), "a safetensors file", "compiled.as_text()"),
    (b"PK\x03\x04" + bytes(50), "a zip archive", "unzip -p FILE | tesela report -"),
    (b"\n\x05hello\x12\x00\x1a\x01\x02", "a binary protobuf (.pb)", "--xla_dump_to=FOLDER"),
    (MLIR, "MLIR text (StableHLO)", "compiled.as_text()"),
    (b'// a comment\n#loc = loc("x")\n' + MLIR, "MLIR text (StableHLO)", "compiled.as_text()"),
    (b"ML\xefR" + bytes(20), "MLIR bytecode", "compiled.as_text()"),
    (b"text and then \0 a zero", "binary data", "compiled.as_text()"),
]


@pytest.mark.parametrize("data, what, instead", FOREIGN, ids=lambda x: x if isinstance(x, str) else "")
def test_what_is_no_text_is_refused_in_one_sentence(tmp_path, data, what, instead):
    file = tmp_path / "file"
    file.write_bytes(data + STEP.read_bytes())
    done = run("report", str(file))
    assert (done.returncode, done.stdout) == (2, b"")
    lines = done.stderr.decode().splitlines()
    assert len(lines) == 1 and what in lines[0] and instead in lines[0]
    (tmp_path / "step.txt").write_bytes(STEP.read_bytes())
    found = report_json(tmp_path)
    assert [(Path(s["name"]).name, s["why"].startswith(what)) for s in found["skipped"]] == [("file", True)]
    assert found["totals"] == report_json(STEP)["totals"]


def test_a_foreign_file_is_read_only_at_its_start():
    """A pipe that never ends: the answer comes all the same."""
    with subprocess.Popen(["sh", "-c", "printf '\\377\\376'; exec yes"], stdout=subprocess.PIPE) as endless:
        done = run("report", "-", stdin=endless.stdout)
        endless.kill()
    assert done.returncode == 2 and b"UTF-16" in done.stderr


ASSIGNMENT = """BufferAssignment:
allocation 0: size 16, parameter 0, shape |f32[2,2]| at ShapeIndex {}:
 value: <1 x.1 @0> (size=16,offset=0): f32[2,2]{1,0}
Used values:
<0 y.1 @0>
 from instruction: %y.1 = f32[2,2]{1,0} parameter(0)
"""


def test_buffer_assignment_is_no_hlo_text(tmp_path):
    assert report_json("-", str(STEP), text="a log\n" + ASSIGNMENT)["totals"] == report_json(STEP)["totals"]
    assert run("report", text="a log\n" + ASSIGNMENT).returncode == 2


# ---- parts that are missing ----


def codes(found):
    return {n["code"] for n in found["notes"] if n["loud"]}


def test_an_excerpt_without_entry_has_arguments_and_results():
    for dump in DUMPS[::5]:
        lines = dump.read_text().splitlines(keepends=True)
        whole, found = report_json(dump)["sections"][0], report_json(text=lines[0])
        assert codes(found) == {"no_entry"}
        roles = found["totals"]["roles"]
        for role, kind in (("argument", "argument"), ("result", "result")):
            got = roles.get(role, {"arrays": 0, "stored_bytes": 0})
            assert got["arrays"] == whole[f"entry_{kind}s"]
            assert got["stored_bytes"] == whole[f"entry_{kind}_bytes"]
        assert "only the" in found["notes"][0]["text"]


def test_a_text_that_is_cut_is_said():
    text = STEP.read_text()
    entry = text.index("ENTRY")
    assert "cut_module" in codes(report_json(text=text[: entry + 600].rsplit("\n", 1)[0] + "\n"))
    assert "broken_line" in codes(report_json(text=text.replace(", body=", "", 1).replace("condition=", "", 1)))
    assert "broken_line" in codes(report_json(text=text[:entry].rsplit("{", 1)[0] + "{\n  %a = f32[8,\n"))


@pytest.mark.parametrize(
    "text",
    [
        "HloModule m\n", "%t = token[] after-all()\n", "HloModule m\nENTRY %m () -> () {\n}\n",
        "  XLA label: register allocator spill slots\n", "Peak buffers:\n", "%a = f32[?]{0} add(%x)\n",
        "HloModule m, entry_computation_layout={()->()}\n",
    ],
)  # fmt: skip
@pytest.mark.parametrize("limit", [("--max-waste", "100%"), ("--max-bytes", "1T"), ("--max-bytes", "1T", "--space", "0")])
def test_no_array_is_never_within_a_limit(text, limit):
    done = run("report", *limit, text=text)
    assert done.returncode == 3
    assert b"cannot tell" in done.stderr or b"cannot be checked" in done.stderr


def test_missing_arrays_are_never_within_a_limit():
    text = STEP.read_text()
    assert run("report", "--max-bytes", "1T", text=text[: text.index("ENTRY")]).returncode == 3


def test_labels_and_shapes_that_stand_alone():
    found = report_json(text="     XLA label: %a = f32[8,3]{1,0:T(8,128)} fusion(%x), kind=kLoop\n")
    assert found["totals"]["memory_report"]["stored_bytes"] == 4096 and found["totals"]["hlo"]["arrays"] == 0
    two = "  1. Size: 4.0K\n     Shape: f32[8,3]{1,0:T(8,128)}\n     Shape: f32[16,3]{1,0:T(8,128)}\n"
    found = report_json(text=two)
    assert sorted(a["stored_bytes"] for a in found["arrays"]) == [4096, 8192]
    assert codes(found) == {"mixed"}


def test_the_window_of_a_kernel():
    """60000 rows of 6 of 128 lanes: 60000 * 128 * 4 bytes, of which 60000 * 6 * 4 are data."""
    message = (SOURCE / "tests/data/reports/vmem-kernel-libtpu0.0.42.txt").read_text().splitlines()[1]
    said = "It is the window of operand 0. The window shape is f32[60000,6], the full shape is f32[60000,130]."
    for text in (message + " " + said, said):
        (array,) = report_json(text=text + "\n")["arrays"]
        assert (array["stored_bytes"], array["data_bytes"]) == (30720000, 1440000)
        assert array["reasons"] == ["dim 1 (6) is minor and fills 6 of 128 lanes: x21.3"]


def test_folders(tmp_path):
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/deep.log").write_text(OOM.read_text())
    (tmp_path / "a/binary").write_bytes(b"\0" + STEP.read_bytes())
    (tmp_path / "a/empty").write_text("")
    (tmp_path / "a/loop").symlink_to(tmp_path)
    (tmp_path / "a/step.hlo").symlink_to(STEP)
    (tmp_path / "a/gone").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "a/pipe")
    done = run("report", "--json", str(tmp_path))
    found = json.loads(done.stdout)
    assert {Path(i["name"]).name for i in found["inputs"]} == {"deep.log", "empty", "step.hlo"}
    assert found["totals"]["hlo"]["arrays"] == 16
    assert done.returncode == 2 and b"gone" in done.stderr  # a link to nothing cannot be read
    why = {Path(s["name"]).name: s["why"] for s in found["skipped"]}
    assert why == {"binary": "binary data", "loop": "a link to a folder", "pipe": "no regular file"}
    assert b"3 files skipped (" in done.stderr and done.stderr.count(b"skipped") == 1


def test_dumps_from_before_optimisation(tmp_path):
    for stage in ("before", "after"):
        (tmp_path / f"module_0001.jit_step.{stage}_optimizations.txt").write_text(STEP.read_text())
    done = run("report", "--json", str(tmp_path))
    assert json.loads(done.stdout)["totals"] == report_json(STEP)["totals"]
    assert done.returncode == 0 and b"1 file skipped" in done.stderr and b"from before optimisation" in done.stderr
    named = tmp_path / "module_0001.jit_step.before_optimizations.txt"
    assert report_json(named)["totals"] == report_json(STEP)["totals"]


STAGES = [
    "before_optimizations", "after_optimizations", "tpu_after_optimizations_before_buffer_assignment",
    "0002.pipeline.after_fusion.before_dce", "after_optimizations-buffer-assignment",
    "after_optimizations-memory-usage-report",
]  # fmt: skip


def test_stages_of_one_module_count_once(tmp_path):
    for stage in STAGES:
        (tmp_path / f"module_0001.jit_step.{stage}.txt").write_text(STEP.read_text())
    (tmp_path / "module_0002.jit_step.after_fusion.txt").write_text(STEP.read_text().replace("4096", "4097"))
    done = run("report", "--json", "--top", "0", str(tmp_path))
    found = json.loads(done.stdout)
    assert [Path(i["name"]).name[:31] for i in found["inputs"]] == [
        "module_0001.jit_step.after_opti", "module_0002.jit_step.after_fusi",
    ]  # fmt: skip
    assert done.returncode == 0 and b"5 files skipped" in done.stderr and b"from before optimisation" in done.stderr
    assert b"and others: another stage of a module that is read" in done.stderr
    assert len(found["skipped"]) == 5


def test_a_module_that_comes_twice_is_said(tmp_path):
    twice = report("--top", "1", STEP, "-", text=STEP.read_bytes())
    assert twice.startswith("WARNING: module jit_step has the same arrays as an earlier module of that name")
    assert "WARNING" not in report(STEP)


RUNTIME = [
    "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 16106127360 bytes.\n",
    "RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 1.00G. That was not possible.\n",
]


@pytest.mark.parametrize("text", RUNTIME)
def test_messages_of_a_runtime(text):
    done = run("report", text="step 1\n" + text)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"has no list of arrays" in done.stderr and b"--xla_dump_to=FOLDER" in done.stderr
    assert run("report", "-", str(OOM), text=text).stderr == b""


def test_several_inputs_and_standard_input():
    one, two = report_json(OOM), report_json(STEP)
    both = report_json(OOM, "-", text=STEP.read_bytes())
    assert both["totals"]["memory_report"] == one["totals"]["memory_report"]
    assert both["totals"]["hlo"] == two["totals"]["hlo"]
    assert [i["name"] for i in both["inputs"]] == [str(OOM), "-"]


def test_a_reader_that_leaves():
    with subprocess.Popen(
        [TESELA, "report", "--json", "--top", "0", str(SOURCE / "tests/data/hlo")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
    ) as process:  # fmt: skip
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == -signal.SIGPIPE  # JSON is data


def test_a_full_disk():
    with open("/dev/full", "wb") as full:
        assert run("report", str(OOM), stdout=full).returncode == 3


@only_if(not SANITIZED)  # a sanitizer reserves address space
def test_memory_stays_small():
    """A pipe of 200 MB is read with an address space of 120 MB."""
    line = "%a = f32[8,3]{1,0:T(8,128)} add(%x)"
    done = subprocess.run(
        ["sh", "-c", f"yes '{line}' | head -c 200000000 | ( ulimit -v 120000; exec {TESELA} report --json - )"],
        env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(done.stdout)["totals"]["hlo"]["arrays"] == 200000000 // (len(line) + 1)


# ---- diff ----


def diff(*words, status, **how):
    done = run("diff", *map(str, words), **how)
    assert (done.returncode, done.stderr) == (status, b"")
    return done.stdout.decode()


def test_diff():
    after = SOURCE / "examples/step-transposed.hlo.txt"
    assert diff(STEP, STEP, status=0).endswith("no array changed\n")
    text = diff(STEP, after, status=1)
    assert "f32[4096,20,24]{2,1,0:T(8,128)} -> {0,2,1:T(8,128)}" in text
    found = json.loads(diff("--json", "--top", "0", STEP, after, status=1))
    assert found["n_changes"] == len(found["changes"]) == 4
    totals = [found[key]["hlo"]["stored_bytes"] for key in ("before", "after")]
    assert sum(c["bytes"] for c in found["changes"]) == totals[1] - totals[0]
    rows = diff("--tsv", "--top", "0", STEP, after, status=1).splitlines()
    assert [row.split("\t")[4] for row in rows[1:]] == [str(c["bytes"]) for c in found["changes"]]


@pytest.mark.parametrize("before, after", [("mlp-f32", "mlp-bf16"), ("mlp-s8", "mlp-s8-v3"), ("odd", "narrow")])
def test_changes_add_up(before, after):
    files = [SOURCE / f"tests/data/hlo/tpu/{name}.hlo.txt" for name in (before, after)]
    found = json.loads(diff("--json", "--top", "0", *files, status=1))
    totals = [found[key]["hlo"]["stored_bytes"] for key in ("before", "after")]
    assert sum(c["bytes"] for c in found["changes"]) == totals[1] - totals[0]
    there_and_back = json.loads(diff("--json", "--top", "0", *reversed(files), status=1))
    assert sum(c["bytes"] for c in there_and_back["changes"]) == totals[0] - totals[1]


def test_diff_of_bad_inputs(tmp_path):
    assert run("diff", "-", "-").returncode == 2
    assert run("diff", str(STEP), str(tmp_path / "missing")).returncode == 2
    assert run("diff", str(STEP), "-", text="hello\n").returncode == 2
    assert run("diff", str(STEP), "-", text=STEP.read_bytes()).returncode == 0


def test_diff_of_reports_without_a_list():
    later = SOURCE / "tests/data/reports/hbm-onehot-libtpu0.0.51.txt"
    same = "neither memory report lists arrays: only the compiler's totals can be compared"
    assert diff(NO_LIST, later, status=0) == same + ", and they are the same\n"
    grown = later.read_text().replace("24.03G", "25.00G")
    assert diff(NO_LIST, "-", status=1, text=grown) == same + "\n  HLO temp 24.03G -> 25.00G\n"
    found = json.loads(diff("--json", NO_LIST, "-", status=1, text=grown))
    assert found["compiler"] == [{"figure": "hlo_temp", "before": "24.03G", "after": "25.00G"}]
    assert "the memory report after no longer lists arrays" in diff("--top", "1", OOM, later, status=1)


# ---- the operations report and diff ------------------------------------------------------------------------


def answers(*requests, folder=None):
    words = ["query", *([f"--files={folder}"] if folder else [])]
    done = run(*words, text="".join(json.dumps(request) + "\n" for request in requests))
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_an_operation_reads_files_beneath_its_folder(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.txt").write_text("%x = f32[8,3]{1,0:T(8,128)} iota()\n")
    (tmp_path / "y.txt").write_text("%x = f32[8,3]{0,1:T(4,128)} iota()\n")
    (tmp_path / "link.txt").symlink_to(tmp_path / "y.txt")
    (tmp_path / "data").write_bytes(b"\x1f\x8b\x08\x00")
    x, y = {"files": ["a/x.txt"]}, {"files": ["y.txt"]}
    report, diff = answers({"op": "report", **x}, {"op": "diff", "before": x, "after": y}, folder=tmp_path)
    assert [row["input"] for row in report["arrays"]] == ["a/x.txt"]
    assert report["totals"]["hlo"]["padding_bytes"] == 8 * 128 * 4 - 8 * 3 * 4
    assert [change["bytes"] for change in diff["changes"]] == [4 * 128 * 4 - 8 * 128 * 4]
    bad = ["../y.txt", str(tmp_path / "y.txt"), "link.txt", "none.txt", "a", "data", 7]
    codes = [answer["error"]["code"] for answer in answers(*({"op": "report", "files": [name]} for name in bad), folder=tmp_path)]
    assert codes == ["UNSUPPORTED", "UNSUPPORTED", "UNSUPPORTED", "IO", "IO", "UNSUPPORTED", "INVALID"]
    assert answers({"op": "report", **x})[0]["error"]["code"] == "UNSUPPORTED"


def test_limits_in_the_answer():
    """1024 places of 4 bytes hold 24 elements: 4000 of 4096 bytes are padding."""

    def limits(text="%x = f32[8,3]{1,0:T(8,128)} iota()\n", **limit):
        return [(found["limit"], found["holds"], found["why"]) for found in answers({"op": "report", "text": text, **limit})[0]["limits"]]

    assert limits(max_waste="97%") == [("max_waste", False, "stored")]
    assert limits(max_waste="0.98", max_bytes="4095") == [("max_waste", True, "stored"), ("max_bytes", False, "stored")]
    assert limits(max_bytes="4 KiB") == [("max_bytes", True, "stored")]
    assert limits("HloModule m\n\nENTRY %e {\n", max_bytes="1") == [("max_bytes", None, "unreadable")]
    table = (SOURCE / "examples/memory_table.txt").read_text()  # 1 % to 98 %, docs/report.md
    assert limits(table, max_waste="50%") == [("max_waste", None, "uncertain")]


def test_what_an_operation_refuses():
    bad = [
        {"op": "report"},
        {"op": "report", "text": "nothing\n"},
        {"op": "report", "text": "", "max_waste": "101%"},
        {"op": "report", "text": "", "max_bytes": "1 q"},
        {"op": "report", "text": "", "top": -1},
        {"op": "report", "text": "", "space": 128},
        {"op": "report", "texts": [{"name": "a"}]},
        {"op": "report", "text": "\x1f\x8b"},
        {"op": "diff", "before": {"text": 1}, "after": {}},
    ]
    codes = [answer["error"]["code"] for answer in answers(*bad)]
    assert codes == ["INVALID", "INVALID", "INVALID", "SYNTAX", "RANGE", "RANGE", "INVALID", "UNSUPPORTED", "INVALID"]
