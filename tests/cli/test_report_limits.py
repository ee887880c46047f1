# SPDX-License-Identifier: Apache-2.0
"""Limits on a report: `--max-waste` and `--max-bytes`, what was not measured, texts with parts missing."""

import pytest
from command import run
from report_verb import CUT, DUMPS, HUGE, NO_LIST, OOM, REPORTS, STEP, codes, report_json


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


def test_limits_hold_for_each_source():
    mixed = OOM.read_text() + STEP.read_text()
    assert run("report", "--max-bytes", "100MiB", text=mixed).returncode == 1
    done = run("report", "--max-bytes", "100MiB", "--tsv", str(STEP))
    assert done.returncode == 0


# ---- parts that are missing ----



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


MODULE = """HloModule jit_f{header}

ENTRY %main.5 (p: f32[1024,1024]) -> f32[1024,1024] {{
  %p = f32[1024,1024]{{1,0{tile}}} parameter(0)
  %scratch = (f32[1024,1024]{{1,0{tile}}}, s8[4194304]{{0}}) custom-call(%p), custom_call_target="__gpu$xla.gpu.triton"
  ROOT %r = f32[1024,1024]{{1,0{tile}}} get-tuple-element(%scratch), index=0
}}
"""


@pytest.mark.parametrize(
    "header, tile, code, waste, peak",
    [
        (", is_scheduled=true", "", "no_tiles", 0, 0),  # of a GPU: nothing is padded, and the peak is known
        ("", "", "no_layouts", 3, 0),  # before optimisation: padding is not known; the sum of all arrays is 12 MiB
        (", is_scheduled=true", ":T(8,128)", None, 0, 0),
    ],
)
def test_texts_without_tiles(header, tile, code, waste, peak):
    text = MODULE.format(header=header, tile=tile)
    notes = [note["code"] for note in report_json("-", text=text)["notes"]]
    assert notes == ([code] if code else [])
    assert run("report", "--max-waste", "10%", "-", text=text).returncode == waste
    assert run("report", "--max-peak", "13MiB", "-", text=text).returncode == peak
    small = text.replace("1024", "8").replace("4194304", "64")
    assert "no_" not in "".join(note["code"] for note in report_json("-", text=small)["notes"])  # nothing large
