# SPDX-License-Identifier: Apache-2.0
"""`tesela tune` beside the compiler: rewrites compute the same, figures are memory_analysis's, what is pasted is what was compiled."""

import pathlib
import re
import sys
import types

import jax
import pytest
import tpu_compiler

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE / "doctor"))

import cases  # noqa: E402
import table  # noqa: E402
from compare import far  # noqa: E402

import tesela.tune  # noqa: E402
from tesela.tune import _compile, _hlo, _rewrites, _search, _show, _subject  # noqa: E402

REWRITES = {
    "components 4": _rewrites.components(4), "components 9": _rewrites.components(9), "components 16": _rewrites.components(16),
    "products": _rewrites.products_last, "one-hot": _rewrites.one_hot_as_take, "patches": _rewrites.patches_as_convolution,
    "tables": _rewrites.merged_tables, "pixels 2": _rewrites.pixels_as_channels(2), "pixels 16": _rewrites.pixels_as_channels(16),
}  # fmt: skip


@pytest.mark.parametrize("name", [case.name for case in cases.WRITTEN])
def test_a_fix_by_hand_computes_the_same(name, seed):
    case = cases.CASES[name]
    given = case.small_values(seed)
    assert far(case.program(*given), case.restore(case.fixed(*case.adapt(*given)))) <= case.loose


@pytest.mark.parametrize("name", list(cases.CASES))
def test_rewrites_compute_the_same(name, seed, monkeypatch):
    """Also where each part is short: at the size of the CPU's cases Form would leave every dim whole."""
    monkeypatch.setattr(_rewrites, "LONG", 2)
    monkeypatch.setattr(_rewrites, "Form", lambda limit, rest, parts: _rewrites_form(limit, 2, parts))
    case = cases.CASES[name]
    given = case.small_values(seed)
    expected = case.program(*given)
    for words, rewrite in REWRITES.items():
        assert far(expected, rewrite(case.program)(*given)) <= max(case.loose, 1e-5), words


_rewrites_form = _rewrites.Form


def test_rows_side_by_side_are_the_rows(seed):
    for name in ("embedding", "embedding_narrow", "embedding_bytes"):
        case = cases.CASES[name]
        table, *rest = case.small_values(seed)
        packed = _rewrites.packed_rows(0, table.shape)(case.program)
        assert far(case.program(table, *rest), packed(_rewrites.pack_rows(table), *rest)) <= 1e-6


def test_a_rewrite_works_under_grad(seed):
    p, ids = cases.CASES["particles"].small_values(seed)

    def loss(function):
        return jax.grad(lambda p: (function(p, ids) ** 2).sum())(p)

    program = cases.CASES["particles"].program
    assert far(loss(program), loss(tesela.tune.components(4)(program))) < 1e-5


def test_a_finding_is_what_the_compiler_says_of_the_pasted_code():
    case = cases.CASES["springs"]
    found = tesela.tune.tune(case.program, *case.specs(), compiles=4)
    best = found.json["findings"][0]
    assert best["paste"] == ["@components(limit=4)"]
    one = tpu_compiler.one_device("v5e")
    compiled = jax.jit(tesela.tune.components(limit=4)(case.program), in_shardings=one, out_shardings=one).lower(*case.specs()).compile()
    figures = compiled.memory_analysis()
    sizes = [figures.argument_size_in_bytes, figures.temp_size_in_bytes]
    assert [best["argument_bytes"], best["temp_bytes"]] == sizes
    assert best["hbm_bytes"] <= 0.2 * found.json["default"]["hbm_bytes"]
    assert "estimates of the compiler, no run" in str(found)
    assert "+@components(limit=4)" in str(found) and "sick_points.py" in str(found)


def test_nothing_is_claimed_about_a_healthy_program():
    case = cases.CASES["matmul"]
    found = tesela.tune.tune(case.program, *case.specs(), compiles=6)
    assert found.json["findings"] == []
    assert "no slack: " in str(found)


class Estimates:
    """A compiler by whose estimate the program in any other layout takes half of the cycles."""

    target = "v5e"

    def __init__(self):
        self.compiles = 0

    def __call__(self, function, specs, *, donate=(), arguments=None, results=None):
        self.compiles += 1
        changed = arguments or results or "layout_constraint" in str(jax.make_jaxpr(function)(*specs))
        lines = {None: _hlo.Cost(500.0 if changed else 1000.0, 0, 0)}
        return _compile.Measured(1 << 20, 1 << 20, 0, 0, "", "", 0, lines, (), ())


def searched(function, *specs):
    search = _search.Search(_subject.Subject(function, specs), Estimates(), 24)
    search.run()
    return search


FULL, SHORT, IDS = (jax.ShapeDtypeStruct(dims, kind) for dims, kind in (((512, 256), "float32"), ((65536, 5), "float32"), ((1024,), "int32")))


@pytest.mark.parametrize("function, specs, explained", [
    (lambda x: x.T + 1, (FULL,), False),
    (lambda x: x.T + x.sum(1, keepdims=True).T, (FULL,), False),  # a sum of rows is not short rows
    (lambda x: jax.numpy.cumsum(x, 1).T, (SHORT,), True),
    (lambda x, ids: x[ids].T, (FULL, IDS), True),
])  # fmt: skip
def test_an_estimate_alone_is_no_finding(function, specs, explained):
    search = searched(function, *specs)
    said = [line for line in search.not_recommended() if "50 % fewer cycles by the estimate alone" in line]
    assert (bool(search.findings()), len(said)) == ((True, 0) if explained else (False, 1))


def test_a_rewrite_into_thousands_of_operations_is_not_compiled():
    case = cases.CASES["narrow_step"]
    search = _search.Search(_subject.Subject(case.program, case.specs()), Estimates(), 24)
    search.attempt(next(one for one in search.rewrites() if "limit=16" in one.paste[0]))
    assert search.refused == ["one array for each index of dims up to 16: not compiled, it makes more than 4,096 operations on parts"]
    assert search.compiler.compiles == 0


def saves(before, after):
    """A fifth of HBM or of the estimate, and at most a twentieth more of the other."""
    hbm, cycles = (int(after[i]) / int(before[i]) for i in range(2))
    return (hbm <= 0.8 and cycles <= 1.05) or (cycles <= 0.8 and hbm <= 1.05)


def test_the_fixes_by_hand_save_a_fifth():
    sick = [row for row in table.rows("figures.tsv") if row["kind"] == "sick"]
    assert len(sick) == 30
    assert sum(saves((row["hbm"], row["cycles"]), (row["fix_hbm"], row["fix_cycles"])) for row in sick) >= 25


def test_a_row_of_the_table_is_what_the_compiler_says():
    import figures
    from tesela.tune._compile import Compiler

    kept = {row["name"]: row for row in table.rows("figures.tsv")}
    for name in ("spline", "layer_norm"):
        cells = figures.row(cases.CASES[name], cases.kind(name), Compiler("v5e"))
        assert [str(cell) for cell in cells] == list(kept[name].values())


def test_copies_of_arguments_are_said():
    case = cases.CASES["codes_s4"]
    text = str(tesela.tune.tune(case.program, *case.specs(), compiles=2))
    assert re.search(r" cycles  copies of argument codes\n", text) and re.search(r" of padding  s4\[1048576,16\].* copy  argument codes\n", text)
    assert "(no source line)" not in text


@pytest.mark.parametrize("hbm, cycles, words", [(1700, 990, "+70 % HBM"), (900, 2200, "+120 % cycles"), (1040, 1030, None)])
def test_auto_that_is_worse_is_said(monkeypatch, hbm, cycles, words):
    def way(hbm, cycles):
        return types.SimpleNamespace(fits=True, hbm=hbm, cycles=cycles, blind=[], unknown_trips=[], lines={})

    for name in ("padded", "lines_of", "findings"):
        monkeypatch.setattr(_show, name, lambda *_: [])
    search = types.SimpleNamespace(default=way(1000, 1000), auto=way(hbm, cycles), compiler=types.SimpleNamespace(target="v5e"),
                                   subject=types.SimpleNamespace(names=[]), not_recommended=list, tried=[])  # fmt: skip
    text = _show.text(search, "step")
    assert f"warning: AUTO is worse: {words}\n" in text if words else "worse" not in text
