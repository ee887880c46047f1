# SPDX-License-Identifier: Apache-2.0
"""tesela.report and tesela.diff: sources, numbers, limits, pictures. Expected sizes come from tiles counted here."""

import doctest
import html.parser
import importlib
import io
import math
import pathlib
import pickle
import warnings

import pytest

import tesela

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"
OOM = EXAMPLES / "oom_report.txt"


def tiled(rows, columns, width, tile_rows=8, lanes=128):
    """Bytes of a two-dimensional array in tiles."""
    return math.ceil(rows / tile_rows) * tile_rows * math.ceil(columns / lanes) * lanes * width


# Shape, type width and figures of the entries of the file; the fourth is a tuple, whose size is the compiler's.
STORED = [tiled(30_000_000, 12, 4), tiled(30_000_000, 12, 2), tiled(7_500_000, 48, 2), 512]
DATA = [30_000_000 * 12 * 4, 30_000_000 * 12 * 2, 7_500_000 * 48 * 2, 512]


def one_array(rows, columns, name="x"):
    return f"%{name} = f32[{rows},{columns}]{{1,0:T(8,128)}} iota()\n"


@pytest.mark.parametrize("module", ["_report", "_report_rows", "_report_diff"])
def test_documentation(module):
    names = {"report": tesela.report}
    assert doctest.testmod(importlib.import_module(f"tesela.{module}"), extraglobs=names).failed == 0


def test_example_of_the_specification():
    r = tesela.report(OOM)
    assert repr(r) == "Report(stored=23.25 GiB, padding=20.56 GiB (88%), arrays=4, capacity=15.75 GiB)"
    a = r.top(1)[0]
    assert (a.shape, a.source, a.op_name.rpartition("/")[2]) == (
        (30_000_000, 12), "tools/make_dumps.py:440", "convert_element_type",
    )  # fmt: skip
    assert a.expansion == 128 / 12
    # Both minor dims exchanged, 12 rows in tiles of 8: 16 rows of 30000000 lanes.
    order = next(one for one in a.advice if one.kind == "order")
    assert order.bytes == tiled(12, 30_000_000, 4) == order.layout.nbytes == a.stored - order.saved
    with pytest.raises(AssertionError, match="88% of the stored bytes is padding; max_waste allows 0.1"):
        r.assert_waste(max=0.10)


def test_rows():
    r = tesela.report(str(OOM))
    assert [a.stored for a in r.arrays] == STORED
    assert [a.data for a in r.arrays] == DATA
    assert (r.stored, r.data, r.padding) == (sum(STORED), sum(DATA), sum(STORED) - sum(DATA))
    assert r.waste == pytest.approx(1 - sum(DATA) / sum(STORED), rel=1e-12)
    assert r.capacity == int(15.75 * 2**30)
    assert [a.layout for a in r.arrays[:2]] == [
        tesela.layout("s32[30000000,12]{1,0:T(8,128)}"), tesela.layout("bf16[30000000,12]{1,0:T(8,128)(2,1)}"),
    ]  # fmt: skip
    assert (r.arrays[3].layout, r.arrays[3].shape, r.arrays[3].expansion) == (None, None, 1.0)
    assert r.top(2) == r.arrays[:2] and r.top(9) == r.arrays and r.top(0) == ()
    assert [note.code for note in r.notes] == ["no_shape"] and r.notes[0].line == 42
    assert r.arrays[0].found_at.endswith("oom_report.txt:15")
    assert len({*r.arrays, *tesela.report(OOM).arrays}) == 4


def test_order_and_space():
    rows = tesela.report([one_array(8, 3, "a"), one_array(800, 100, "b")])
    assert [a.name for a in rows.arrays] == ["b", "a"]  # 800*28*4 bytes of padding, 8*125*4
    assert [a.name for a in tesela.report(one_array(8, 3, "a") + one_array(800, 100, "b"), by="expansion").arrays] == [
        "a",
        "b",
    ]
    with pytest.raises(ValueError, match="unknown order 'name'"):
        tesela.report(OOM, by="name")
    assert tesela.report(EXAMPLES / "step.hlo.txt", space=1).stored == tiled(6, 24, 4)


class Compiled:
    """What jax.jit(f).lower(x).compile() has."""

    def __init__(self, text):
        self.text = text

    def as_text(self):
        return self.text


def test_sources():
    text = OOM.read_text()
    want = repr(tesela.report(OOM))
    assert repr(tesela.report(text)) == want
    assert repr(tesela.report(text.encode())) == want
    assert repr(tesela.report(Compiled(text))) == want
    assert repr(tesela.report(io.StringIO(text))) == want
    with open(OOM, "rb") as file:
        r = tesela.report(file)
    assert repr(r) == want and r.arrays[0].found_at == f"{OOM}:15"
    r.assert_bytes("24GiB")  # a file object is read once
    two = tesela.report([one_array(8, 3, "a"), Compiled(one_array(16, 3, "b")), OOM])
    assert {a.name for a in two.arrays} >= {"a", "b", "fusion"}
    assert "; of HLO text stored=12.0 KiB" in repr(two)


def test_sources_that_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError) as missing:
        tesela.report("missing.log")
    assert missing.value.filename == "missing.log"
    with pytest.raises(TypeError, match="found int"):
        tesela.report(7)
    with pytest.raises(tesela.LayoutError, match="nothing recognised"):
        tesela.report("hello\nworld\n")
    packed = tmp_path / "log.gz"
    packed.write_bytes(b"\xfd7zXZ\x00")
    with pytest.raises(tesela.UnsupportedError, match="xz"):
        tesela.report(packed)
    with pytest.raises(OSError):
        tesela.report(tmp_path)


def test_limits():
    text = one_array(8, 96) + one_array(8, 128, "y")  # stored 2 * 4096, of it padding 8*32*4
    r = tesela.report(text)
    assert r.waste == 0.125
    r.assert_waste(0.125)
    r.assert_waste("12.5%")
    r.assert_bytes(8192)
    r.assert_bytes("8KiB")
    with pytest.raises(
        AssertionError, match="HLO text: 1[23]% of the stored bytes is padding; max_waste allows 0.1249\n.*f32"
    ):
        r.assert_waste(0.1249)
    with pytest.raises(AssertionError, match="HLO text: 8.0 KiB are stored; max_bytes allows 8191"):
        r.assert_bytes(8191)
    with pytest.raises(tesela.LayoutError):
        r.assert_waste("much")


def test_limits_that_cannot_be_told(tmp_path):
    open_row = tesela.report(EXAMPLES / "memory_table.txt")
    assert open_row.padding is None and open_row.waste is None and "246.00 MiB to 15.87 GiB" in repr(open_row)
    with pytest.raises(tesela.LayoutError, match="cannot tell whether max_waste=50% holds: 1% to 98%") as error:
        open_row.assert_waste("50%")
    assert error.value.code == "UNCERTAIN"
    with pytest.raises(AssertionError):
        open_row.assert_waste(0.001)
    open_row.assert_waste(0.99)
    row = next(a for a in open_row.arrays if a.candidates)
    assert (row.text, row.layout, row.data, row.expansion) == (None, None, None, None)
    decided = tesela.report([EXAMPLES / "memory_table.txt", EXAMPLES / "memory_table.hlo.txt"])
    assert decided.padding == tiled(524288, 5, 4) - 524288 * 5 * 4
    cut = "HloModule m\nENTRY e {\n  a = f32[8,128]{1,0:T(8,128)} iota()\n"
    with pytest.warns(tesela.TeselaWarning):
        missing = tesela.report(cut)
    with pytest.raises(tesela.LayoutError, match="cannot tell") as error:
        missing.assert_waste(0.5)
    assert error.value.code == "UNCERTAIN"
    log = tmp_path / "train.log"
    log.write_text(one_array(8, 128))
    r = tesela.report(log)
    log.write_text(one_array(8, 1))
    with pytest.raises(tesela.LayoutError, match="has changed"):
        r.assert_waste(0.99)


def test_loud_notes_are_warnings():
    with pytest.warns(tesela.TeselaWarning, match="the compiler printed size 41.30G"):
        tesela.report(OOM.read_text().replace("Size: 14.30G", "Size: 41.30G"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tesela.report(OOM)


class Cells(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.cells, self.tags = [], [], set()

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.add(tag)
        if tag == "td":
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "td":
            self.cells[-1] += data


def test_html_is_escaped():
    text = '%x = f32[8,3]{1,0:T(8,128)} iota(), metadata={op_name="<script>alert(1)</script>&"}\n'
    page = Cells()
    page.feed(tesela.report(text)._repr_html_())
    assert not page.open and "script" not in page.tags
    assert page.cells[:6] == ["f32[8,3]{1,0:T(8,128)}", "1", "4.0 KiB", "96 B", "42.7x", "<script>alert(1)</script>&"]
    assert "what to change" in tesela.report(text)._repr_html_() and "tesela.tune.components" in "".join(page.cells)
    many = tesela.report("".join(one_array(8, n, f"x{n}") for n in range(1, 31)))._repr_html_()
    assert many[: many.index("</table>")].count("<tr>") == 1 + 20 and "and 10 more" in many


def test_what_to_change():
    """Three vectors of 8 in tiles of 128; of a copy within the program also its order, 3 rows in tiles of 4."""
    (culprit,) = tesela.report(one_array(8, 3)).culprits
    assert (culprit.text, culprit.role, culprit.source) == ("f32[8,3]{1,0:T(8,128)}", "temporary", "x")
    assert (culprit.count, culprit.stored, culprit.data) == (1, tiled(8, 3, 4), 8 * 3 * 4)
    by_kind = {one.kind: one for one in culprit.remedies}
    one = by_kind["components"]
    assert (one.group, one.arrays, one.bytes, one.saved) == ("b", 3, 3 * 128 * 4, tiled(8, 3, 4) - 3 * 128 * 4)
    assert list(by_kind) == ["components"]
    copied = one_array(8, 3, "copy.1").replace("()", '(), metadata={op_name="jit(f)/mul"}')
    (culprit,) = tesela.report(copied).culprits
    by_kind = {one.kind: one for one in culprit.remedies}
    assert by_kind["constrain"].bytes == tiled(3, 8, 4, tile_rows=4) == tesela.layout(by_kind["constrain"].text).nbytes
    assert "with_layout_constraint" in by_kind["constrain"].code and by_kind["constrain"].group == "c"
    assert all(one.peak is None for one in culprit.remedies)  # no schedule
    assert [one.saved for one in culprit.remedies] == sorted((one.saved for one in culprit.remedies), reverse=True)
    (whole,) = tesela.report(one_array(800, 1280)).culprits  # nothing is padded
    assert [(one.group, one.saved, one.bytes) for one in whole.remedies] == [("d", 0, 800 * 1280 * 4)]
    assert repr(whole).startswith("<f32[800,1280]{1,0:T(8,128)}: 3.91 MiB stored, 3.91 MiB data, ") and "saves" not in repr(whole)
    planned = tesela.report(EXAMPLES / "step.hlo.txt").culprits
    assert planned and all((one.peak is None) is (one.group == "d") for row in planned for one in row.remedies)


def test_diff():
    before, after = EXAMPLES / "step.hlo.txt", EXAMPLES / "step-transposed.hlo.txt"
    d = tesela.diff(before, after)
    assert bool(d) and [c.kind for c in d.changes] == ["layout"] * 4
    first = d.changes[0]
    # f32[4096,20,24]: tiles over (20,24), then over (24,4096).
    assert (first.before.stored, first.after.stored) == (4096 * tiled(20, 24, 4), 20 * tiled(24, 4096, 4))
    assert first.bytes == first.after.stored - first.before.stored
    assert (first.after.layout.shape, first.role) == ((4096, 20, 24), "result")
    assert d.bytes == tesela.report(after).stored - tesela.report(before).stored
    assert not tesela.diff(before, before) and tesela.diff(before, before).changes == ()
    assert tesela.diff(tesela.report(before), tesela.report(after)).json == d.json
    assert str(d).splitlines()[0] == "Diff(changes=4, stored=82.43 MiB -> 35.18 MiB, padding=68.82 MiB -> 21.57 MiB)"
    page = Cells()
    page.feed(d._repr_html_())
    assert page.cells[:3] == ["-40.50 MiB", "layout", "1"]


def test_diff_of_new_and_gone():
    d = tesela.diff(one_array(8, 128, "a"), one_array(8, 128, "a") + "%b = s32[]{:T(128)} constant(3)\n")
    assert [(c.kind, c.before, c.bytes) for c in d.changes] == [("new", None, 512)]
    back = tesela.diff(one_array(8, 128, "a") + "%b = s32[]{:T(128)} constant(3)\n", one_array(8, 128, "a"))
    assert [(c.kind, c.after, c.bytes) for c in back.changes] == [("gone", None, -512)]
    totals = "the total memory required for HLO temporaries ({}) exceeds available HBM (15.75G).\n"
    d = tesela.diff(totals.format("24.03G"), totals.format("25.00G"))
    assert bool(d) and d.changes == () and d.compiler == {"hlo_temp": ("24.03G", "25.00G")}


def test_pickle():
    r = tesela.report(OOM)
    again = pickle.loads(pickle.dumps(r))
    assert again.json == r.json and repr(again) == repr(r)
    assert pickle.loads(pickle.dumps(r.arrays)) == r.arrays


@pytest.mark.frameworks
def test_advice_for_jax():
    layouts = pytest.importorskip("jax.experimental.layout")
    a = tesela.report(OOM).top(1)[0]
    order = next(one for one in a.advice if one.kind == "order")
    assert order.format == layouts.Layout(major_to_minor=(1, 0))


@pytest.mark.frameworks
def test_compiled_function_of_jax():
    jax = pytest.importorskip("jax")
    x = jax.numpy.ones((8, 100), jax.numpy.float32)
    r = tesela.report(jax.jit(lambda x: x @ x.T).lower(x).compile())
    assert r.found_in == "hlo" and r.capacity is None
    argument = next(a for a in r.arrays if a.role == "argument")
    assert (argument.shape, argument.data) == ((8, 100), 8 * 100 * 4)
    with pytest.raises(tesela.UnsupportedError):  # StableHLO, before any layout
        tesela.report(jax.jit(lambda x: x @ x.T).lower(x))
