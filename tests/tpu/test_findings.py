# SPDX-License-Identifier: Apache-2.0
"""All that tune recommends for the doctor's programs (doctor/findings.tsv), pasted as it is printed and compiled here: the bytes that are
shown are those of memory_analysis()."""

import pathlib
import re
import sys

import tpu_compiler  # before jax
import jax  # isort: skip
import pytest  # isort: skip
from jax.experimental.layout import Format, Layout  # isort: skip

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE / "doctor"))

import cases  # noqa: E402
import left_out  # noqa: E402
import table  # noqa: E402

import tesela.tune  # noqa: E402
from compare import far  # noqa: E402
from tesela.tune._compile import measured  # noqa: E402

ONE = tpu_compiler.one_device("v5e")
FINDINGS, OUTCOMES = table.rows("findings.tsv"), {row["name"]: row for row in table.rows("outcomes.tsv")}


def hbm(compiled):
    one = compiled.memory_analysis()
    return one.argument_size_in_bytes + one.output_size_in_bytes + one.temp_size_in_bytes - one.alias_size_in_bytes


def compiled(case, function, specs, arguments=None, results=None):
    program = jax.jit(function, in_shardings=arguments or ONE, out_shardings=results or ONE, donate_argnums=case.donate, keep_unused=True)
    return program.lower(*specs).compile()


def formats(orders, n):
    return tuple(Format(Layout(major_to_minor=orders[i]), ONE) if i in orders else ONE for i in range(n))


def automatic(case):
    auto = Format(Layout.AUTO, ONE)
    results = jax.eval_shape(case.program, *case.specs())
    return compiled(case, case.program, case.specs(), (auto,) * len(case.specs()), jax.tree.map(lambda _: auto, results))


def pasted(case, paste):
    """What the lines of a finding say, done by hand."""
    specs = case.specs()
    if paste.startswith("@"):
        (line,) = paste.split(" | ")
        if found := re.match(r"@packed_rows\(table=(\d+), ", line):
            i = int(found[1])
            specs[i] = jax.eval_shape(tesela.tune.pack_rows, specs[i])
        names = {name: getattr(tesela.tune, name) for name in tesela.tune.__all__}
        return compiled(case, eval(line[1:], {"__builtins__": {}}, names)(case.program), specs)
    if "Layout.AUTO" in paste:
        return automatic(case)
    order = tuple(int(one) for one in re.search(r"major_to_minor=\(([0-9, ]+)\)", paste)[1].split(",") if one.strip())
    i, j = int(re.search(r"argument (\d+)", paste)[1]), re.search(r"result (\d+)", paste)
    shape = jax.eval_shape(case.program, *specs)
    results = formats({int(j[1]): order}, len(jax.tree.leaves(shape))) if j else None
    return compiled(case, case.program, specs, formats({i: order}, len(specs)), results)


@pytest.mark.parametrize("row", FINDINGS, ids=[f"{row['name']}-{row['place']}" for row in FINDINGS])
def test_a_finding_has_the_bytes_of_memory_analysis(row):
    found = pasted(cases.CASES[row["name"]], row["paste"])
    assert hbm(found) == int(row["hbm"])
    sizes = [getattr(found.memory_analysis(), f"{name}_size_in_bytes") for name in ("argument", "output", "temp", "alias")]
    assert round(measured(sizes, found.as_text()).cycles) == int(row["cycles"])


@pytest.mark.parametrize("name", list(OUTCOMES))
def test_the_programs_themselves_and_auto(name):
    case, row = cases.CASES[name], OUTCOMES[name]
    assert hbm(compiled(case, case.program, case.specs())) == int(row["hbm"])
    assert hbm(automatic(case)) == int(row["auto_hbm"])


@pytest.mark.parametrize("change", left_out.CHANGES, ids=lambda change: f"{change.name}-{change.words}")
def test_what_was_left_out_computes_the_same(change, seed):
    case = cases.CASES[change.name]
    given = case.small_values(seed)
    assert far(case.program(*given), change.restore(change.program(*change.adapt(*given)))) <= max(case.loose, 1e-5)
