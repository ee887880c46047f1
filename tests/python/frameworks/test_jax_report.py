# SPDX-License-Identifier: Apache-2.0
"""Reports of compiled functions: the compiler's own numbers beside the arrays, and advice that JAX takes."""

import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.layout import Format, Layout
from jax.sharding import SingleDeviceSharding

import tesela

pytestmark = pytest.mark.frameworks


def compiled(f, *args, **options):
    return jax.jit(f, **options).lower(*args).compile()


def rows(report):
    return {row.name: row for row in report.memory}


def test_what_the_compiler_says_stands_beside_the_arrays():
    c = compiled(lambda x, w: jnp.tanh(x @ w).sum(0), jnp.ones((8, 3)), jnp.ones((3, 5)))
    r, stats = tesela.report(c), c.memory_analysis()
    assert {row.name: row.compiler for row in r.memory} == {
        name: getattr(stats, f"{name}_size_in_bytes") for name in ("argument", "output", "temp", "alias", "generated_code")
    }
    argument, output = rows(r)["argument"], rows(r)["output"]
    assert (argument.arrays, output.arrays) == (8 * 3 * 4 + 3 * 5 * 4, 5 * 4)
    assert not argument.differs and not output.differs and argument.words == output.words == ""
    assert rows(r)["alias"].arrays is None
    assert "; the compiler: argument=156 B, output=20 B, temp=" in repr(r)
    assert tesela.report(r).memory == r.memory


def test_two_results_have_a_table_of_pointers():
    r = tesela.report(compiled(lambda x: (x + 1, x * 2), jnp.ones((8, 3))))
    output = rows(r)["output"]
    assert (output.arrays, output.compiler, output.differs) == (2 * 96, 2 * 96 + 2 * 8, True)
    assert output.words == "16 B are the pointers to 2 results"
    assert "output=208 B (arrays: 192 B)" in repr(r) and "pointers to 2 results" in r._repr_html_()


def test_a_donated_argument_is_an_alias():
    assert rows(tesela.report(compiled(lambda x: x + 1, jnp.ones((8, 3)), donate_argnums=0)))["alias"].compiler == 96


def test_two_equal_results_make_no_negative_sum():
    for f in (lambda x: (x + 1, x + 1), lambda x: (x, x)):
        assert rows(tesela.report(compiled(f, jnp.ones((8, 3)))))["temp"].arrays >= 0


HLO = """HloModule m, is_scheduled=true, entry_computation_layout={(f32[8,3]{1,0:T(8,128)})->f32[3,16384]{0,1:T(8,128)}}

ENTRY e {
  x = f32[8,3]{1,0:T(8,128)} parameter(0)
  a = f32[4,3,16384]{1,0,2:T(8,128)} custom-call(x), custom_call_target="f"
  ROOT y = f32[3,16384]{0,1:T(8,128)} custom-call(a), custom_call_target="g"
}
"""


class Said:
    """A compiled function of a machine that is not here."""

    def __init__(self, **sizes):
        self.sizes = sizes

    def as_text(self):
        return HLO

    def memory_analysis(self):
        if not self.sizes:
            raise NotImplementedError
        return types.SimpleNamespace(**{f"{name}_size_in_bytes": size for name, size in self.sizes.items()})


def test_tiles_count_and_differences_are_explained():
    # f32[8,3] fills one tile of 8x128; [16384,3] with 3 minor: 2048 tiles; a: 16384 times a tile of 4x3, which is 8x128
    tile = 8 * 128 * 4
    r = tesela.report(Said(argument=tile, output=2048 * tile, temp=5 * tile, alias=0, generated_code=9))
    assert {row.name: row.arrays for row in r.memory if row.arrays is not None} == {
        "argument": tile, "output": 2048 * tile, "temp": 16384 * tile,
    }  # fmt: skip
    assert [row.name for row in r.memory if row.differs] == ["temp"]
    assert rows(r)["temp"].words.endswith("less than the arrays: they share memory")
    r = tesela.report(Said(argument=tile + 512, output=0, temp=16385 * tile, alias=0, generated_code=9))
    assert rows(r)["argument"].words == "512 B more than the arrays of the text"
    assert rows(r)["output"].words == "8.00 MiB less than the arrays of the text"
    assert rows(r)["temp"].words == "4.0 KiB more than the arrays"


def test_no_numbers_where_none_are_given():
    c = Said()
    assert tesela.report(c).memory == () == tesela.report([c]).memory == tesela.report(HLO).memory
    assert "the compiler" not in repr(tesela.report(c))
    said = Said(argument=0, output=0, temp=0, alias=0, generated_code=0)
    assert tesela.report(said, space=1).memory == () and len(tesela.report(said, space=0).memory) == 5


def test_advice_is_a_layout_that_jax_takes():
    device = jax.devices("cpu")[0]
    seen = 0
    for row in tesela.report(HLO).arrays:
        for advice in row.advice:
            lies = tesela.layout(advice.text)
            x = np.arange(lies.size, dtype=np.float32).reshape(lies.shape)
            y = jax.device_put(x, Format(advice.format, SingleDeviceSharding(device)))
            # the dims from the slowest to the fastest, which the text has in braces the other way round
            order = [int(dim) for dim in advice.text.partition("{")[2].partition(":")[0].split(",")][::-1]
            assert advice.format == Layout(major_to_minor=tuple(order))
            assert y.format.layout.major_to_minor == tuple(order) and np.array_equal(y, x)
            seen += list(order) != list(range(lies.ndim))
    assert seen  # one that is not JAX's default
