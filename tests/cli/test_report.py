# SPDX-License-Identifier: Apache-2.0
"""`tesela report` on real dumps and reports, against the compiler's own figures and a second reader (hlo_reader.py), and
on the same texts with prefixes, in an exception, repeated and cut."""

import json
import os
import random
from collections import Counter
from pathlib import Path

import pytest
from command import SOURCE, only_if, run
from hlo_reader import read_module, stored_bytes
from report_verb import DUMPS, OOM, REPORTS, STEP, report_json

VECTORS = json.loads((SOURCE / "tests/vectors/xla_seed_examples.json").read_text())
SHARED = Path(os.environ.get("TESELA_SHARED") or SOURCE.parent / "shared") / "real_hlo"
SEED = int(os.environ.get("TESELA_SEED", "20261121"), 0)


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


# ---- the same text, changed ----



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
