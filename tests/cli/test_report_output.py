# SPDX-License-Identifier: Apache-2.0
"""What `tesela report` prints: words, units, orders, TSV and JSON, notes and warnings, what stays unknown."""

import json
import re

import pytest
from command import SOURCE, run
from report_verb import CUT, HUGE, OOM, STEP, UTF8, report, report_json


def test_output_for_people():
    text = report("--top", "1", OOM, env=UTF8)
    assert text.startswith("20.56 GiB of 23.25 GiB stored is padding (88%)\n")
    assert "used 23.25G of 15.75G" in text
    assert "█░░░░░░░░░  s32[30000000,12]{1,0:T(8,128)}" in text
    assert "dim 1 (12) is minor and fills 12 of 128 lanes: x10.7" in text
    assert "takes 1.34 GiB, saves 12.96 GiB: merge dims 0,1: 30000000*12 = 360000000" in text
    assert "minor, dim 1 next" not in text  # no argument: the compiler orders its dims
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


def test_unknown_data_is_not_zero_padding():
    shown = report(text=CUT)
    assert "1.09 GiB stored; the share of padding is unknown" in shown
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
