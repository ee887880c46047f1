# SPDX-License-Identifier: Apache-2.0
"""`tesela diff`, and the operations `report` and `diff` of `tesela query`."""

import json

import pytest
from command import SOURCE, run
from report_verb import NO_LIST, OOM, STEP


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


# ---- the operations report and diff ----



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
    (tmp_path / "data").write_bytes(b"\xfd7zXZ\x00")
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
