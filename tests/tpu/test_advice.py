# SPDX-License-Identifier: Apache-2.0
"""What `tesela report` promises from compiled text, and what the compiler makes of it: rows of doctor/advice.tsv again."""

import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE / "doctor"))

from tesela.tune._compile import Compiler  # noqa: E402  before jax

COMPILE = Compiler("v5e")

import advice  # noqa: E402
import by_hand  # noqa: E402
import cases  # noqa: E402
import held_out  # noqa: E402
import table  # noqa: E402
from compare import far  # noqa: E402

from tesela.tune import components  # noqa: E402


@pytest.mark.parametrize("name, kind", list(by_hand.PROGRAMS))
def test_what_was_written_by_hand_computes_the_same(name, kind, seed):
    case, hand = cases.CASES[name], by_hand.PROGRAMS[name, kind]
    given = case.small_values(seed)
    assert far(case.program(*given), hand.restore(hand.program(*hand.adapt(*given)))) <= case.loose


@pytest.mark.parametrize("case", held_out.CASES, ids=lambda case: case.name)
def test_parts_compute_the_same(case, seed):
    given = case.small_values(seed)
    for limit in (4, 24):
        assert far(case.program(*given), components(limit=limit)(case.program)(*given)) <= max(case.loose, 1e-5)


def test_dims_of_the_compiler_as_dims_of_the_program():
    assert advice.order_for((1, 0), (1048576, 3), (65536, 16, 3)) == (2, 0, 1)
    assert advice.order_for((0, 2, 1), (4, 6, 5), (4, 2, 3, 5)) == (0, 3, 1, 2)
    assert advice.order_for((1, 0), (6, 5), (5, 6)) is None


@pytest.mark.parametrize("name", ["embedding", "spline", "rotate", "colours"])
def test_rows_of_the_table_are_what_the_compiler_says(name):
    kept = table.rows("advice.tsv")
    found = [[str(cell) for cell in cells] for cells in advice.rows(cases.CASES[name], COMPILE)]
    assert found == [list(row.values()) for row in kept if row["name"] == name]
