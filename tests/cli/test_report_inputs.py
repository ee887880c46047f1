# SPDX-License-Identifier: Apache-2.0
"""What `tesela report` reads: files, folders, pipes and standard input, texts that are not a compiler's, single lines, and
modules that occur in several stages."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from command import SANITIZED, SOURCE, TESELA, environment, only_if, run
from report_verb import OOM, STEP, codes, report, report_json


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


MLIR = b"module @jit_f attributes {mhlo.num_partitions = 1 : i32} {\n  func.func public @main() {\n"
FOREIGN = [
    (b"\xfd7zXZ" + bytes(50), "xz data", "xzcat FILE | tesela report -"),
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
    assert why == {"binary": "binary data", "loop": "a link to a folder", "pipe": "not a regular file"}
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
    assert b"and others: neither the final text of a module nor a record of it" in done.stderr
    assert len(found["skipped"]) == 5


def test_records_without_sizes(tmp_path):
    """Live ranges alone: the message says where the sizes are; other files of the module are skipped for what they are."""
    ranges = next((SOURCE / "tests/data/peak/dumps").glob("sort_kv*-live-range.txt"))
    for path in (ranges, ranges.parent / "sort_three.after_optimizations-live-range.txt"):
        done = run("report", path)
        assert done.returncode == 2 and b"(live_range) without the sizes of arrays" in done.stderr
        assert b"-buffer-assignment.txt" in done.stderr and b"Looked for" not in done.stderr
    (tmp_path / "module_0001.jit_step.after_optimizations.txt").write_text(STEP.read_text())
    (tmp_path / "module_0001.jit_step.flagfile").write_text("--xla_a=1\n")
    done = run("report", "--json", tmp_path)
    assert done.returncode == 0
    assert {s["why"] for s in json.loads(done.stdout)["skipped"]} <= {"neither the final text of a module nor a record of it"}


def test_stages_of_code_generation_are_skipped(tmp_path):
    """Files of --xla_jf_dump_to, as libtpu 0.0.42 names them: the final HLO text counts, unless --xla_dump_to wrote it, too."""
    jf, xla = tmp_path / "jf", tmp_path / "xla"
    jf.mkdir(), xla.mkdir()
    step = STEP.read_text()
    for name in ("TLP-48-schedule-analysis_packed-bundles-pre-ra", "fusion.1-02-original", "<late-finalization>-24-post-DCE"):
        (jf / f"1795843859373348712-{name}.txt").write_text(step.replace("4096", "4097"))
    (jf / "1795843859373348712-TLP-hlo.txt").write_text(step)
    alone = report_json(jf)
    assert [Path(i["name"]).name for i in alone["inputs"]] == ["1795843859373348712-TLP-hlo.txt"]
    assert {s["why"] for s in alone["skipped"]} == {"a stage of code generation"} and len(alone["skipped"]) == 3
    assert alone["totals"] == report_json(STEP)["totals"]
    (xla / "module_0001.jit_step.after_optimizations.txt").write_text(step)
    both = report_json(tmp_path)
    assert [Path(i["name"]).name for i in both["inputs"]] == ["module_0001.jit_step.after_optimizations.txt"]
    assert sorted(s["why"] for s in both["skipped"])[-1] == "neither the final text of a module nor a record of it" and len(both["skipped"]) == 4
    assert (both["totals"], both["notes"]) == (alone["totals"], [])
    assert report_json(jf / "1795843859373348712-fusion.1-02-original.txt")["totals"] != alone["totals"]  # named, so read


def test_a_module_that_comes_twice_is_said(tmp_path):
    twice = report("--top", "1", STEP, "-", text=STEP.read_bytes())
    assert twice.startswith("WARNING: module jit_step has the same arrays as an earlier module of that name")
    assert "WARNING" not in report(STEP)


RUNTIME = [
    "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 16106127360 bytes.\n",
    "RESOURCE_EXHAUSTED: Error allocating device buffer: no memory.\n",
]


@pytest.mark.parametrize("text", RUNTIME)
def test_messages_of_a_runtime(text):
    done = run("report", text="step 1\n" + text)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"without a list of arrays" in done.stderr and b"--xla_dump_to=FOLDER" in done.stderr
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
