# SPDX-License-Identifier: Apache-2.0
"""Rewrites of rows and channels on the CPU: the same numbers as the function, whatever the modes, the paddings and the orders of dims."""

import pathlib
import sys

import numpy as np
import pytest
import tpu_compiler  # noqa: F401  before jax

import jax  # isort: skip
import jax.numpy as jnp  # isort: skip
from jax import lax  # isort: skip

sys.path.insert(0, str(pathlib.Path(__file__).parent / "doctor"))

from compare import far  # noqa: E402

import tesela.tune as tune  # noqa: E402

SPECS = ("N{}C", "NC{}", "C{}N")


def changed(function, rewritten, *given):
    return str(jax.make_jaxpr(function)(*given)) != str(jax.make_jaxpr(rewritten)(*given))


def test_convolutions_with_pixels_as_channels(seed):
    random, done = np.random.default_rng(seed), 0
    for _ in range(60):
        letters = "HW"[: random.integers(1, 3)]
        n, lhs, out = len(letters), *(str(random.choice(SPECS)).format(letters) for _ in range(2))
        sizes = dict(zip(letters, random.integers(6, 40, n), strict=True)) | {"N": 2, "C": random.integers(1, 6)}
        taps = dict(zip(letters, random.integers(1, 6, n), strict=True)) | {"I": sizes["C"], "O": random.integers(1, 6)}
        rhs = f"OI{letters}" if random.integers(2) else f"{letters}IO"
        steps = [int(one) for one in random.integers(1, 4, n)]
        padding = [tuple(int(one) for one in random.integers(0, 6, 2)) for _ in range(n)]

        def function(x, w, steps=steps, padding=padding, specs=(lhs, rhs, out)):
            return lax.conv_general_dilated(x, w, steps, padding, dimension_numbers=specs)

        given = [jnp.asarray(random.standard_normal([of[one] for one in spec]), jnp.float32) for of, spec in ((sizes, lhs), (taps, rhs))]
        rewritten = tune.pixels_as_channels(int(random.choice([2, 4, 8])))(function)
        assert far(function(*given), rewritten(*given)) < 1e-5, (lhs, rhs, out, sizes, taps, steps, padding)
        done += changed(function, rewritten, *given)
    assert done >= 20


def test_dilated_and_grouped_convolutions_stay(seed):
    random = np.random.default_rng(seed)
    x, w = jnp.asarray(random.standard_normal((2, 32, 4)), jnp.float32), jnp.asarray(random.standard_normal((3, 2, 4)), jnp.float32)
    for more in ({"feature_group_count": 2}, {"rhs_dilation": (2,), "feature_group_count": 2}):

        def function(x, w, more=more):
            return lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"), **more)

        assert not changed(function, tune.pixels_as_channels(4)(function), x, w)


def test_a_gradient_through_pixels_as_channels(seed):
    random = np.random.default_rng(seed)
    x, w = jnp.asarray(random.standard_normal((2, 8, 24, 2)), jnp.float32), jnp.asarray(random.standard_normal((3, 3, 2, 3)), jnp.float32)

    def loss(function):
        return jax.grad(lambda x, w: (function(x, w) ** 2).sum(), (0, 1))(x, w)

    def function(x, w):
        return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    assert far(loss(function), loss(tune.pixels_as_channels(8)(function))) < 1e-5


ADDED = {
    "add": lambda table, ids, rows: table.at[ids].add(rows),
    "add twice, then taken": lambda table, ids, rows: table.at[ids].add(rows).at[ids + 1].add(-rows, mode="clip")[ids],
    "max": lambda table, ids, rows: table.at[ids].max(rows),
    "min": lambda table, ids, rows: table.at[ids].min(rows),
    "mul": lambda table, ids, rows: table.at[ids].mul(rows),
    "drop": lambda table, ids, rows: table.at[ids * 2 - 5].add(rows, mode="drop"),
    "decay and gradient": lambda table, ids, rows: 0.9 * table - 0.1 * jnp.zeros_like(table).at[ids].add(rows),
    "set stays": lambda table, ids, rows: table.at[ids].set(rows),
}
PACKED = {name for name in ADDED if name not in ("set stays", "add twice, then taken")}
"""Those whose result is the table."""


@pytest.mark.parametrize("shape", [(40, 16), (37, 24), (9, 64)])
@pytest.mark.parametrize("name", list(ADDED))
def test_rows_added_to_packed_tables(name, shape, seed):
    random, function = np.random.default_rng(seed), ADDED[name]
    table, rows = (jnp.asarray(random.standard_normal((n, shape[1])), jnp.float32) for n in (shape[0], 30))
    ids = jnp.asarray(random.integers(0, shape[0], 30), jnp.int32)
    if name == "set stays":  # of equal ids any row may win
        ids, rows = jnp.arange(min(shape[0], 30)), rows[: shape[0]]
    rewritten = tune.packed_rows(0, shape)(function)
    found = rewritten(tune.pack_rows(table), ids, rows)
    assert rewritten.packed == ([0] if name in PACKED else [])
    assert far(function(table, ids, rows), tune.unpack_rows(found, shape) if name in PACKED else found) < 1e-6


def test_packed_integers(seed):
    random = np.random.default_rng(seed)
    table, rows = (jnp.asarray(random.integers(-99, 99, (n, 12)), jnp.int32) for n in (40, 30))
    ids = jnp.asarray(random.integers(0, 40, 30), jnp.int32)
    for function in (ADDED["max"], ADDED["min"], ADDED["add"]):
        found = tune.packed_rows(0, (40, 12))(function)(tune.pack_rows(table), ids, rows)
        assert np.array_equal(function(table, ids, rows), tune.unpack_rows(found, (40, 12)))


def test_a_packed_table_in_a_tree(seed):
    random = np.random.default_rng(seed)
    state = {"bias": jnp.ones(3), "table": jnp.asarray(random.standard_normal((40, 32)), jnp.float32)}
    ids = jnp.asarray(random.integers(0, 40, 9), jnp.int32)

    def function(state, ids):
        return {**state, "table": state["table"].at[ids].add(1.0 + state["bias"].sum())}

    def rows(state, ids):
        return state["table"][ids] + state["bias"].sum()

    packed = {**state, "table": tune.pack_rows(state["table"])}
    assert far(rows(state, ids), tune.packed_rows(1, (40, 32))(rows)(packed, ids)) == 0
    found = tune.packed_rows(1, (40, 32))(function)(packed, ids)
    assert found["table"].shape == (10, 128)
    assert far(function(state, ids)["table"], tune.unpack_rows(found["table"], (40, 32))) < 1e-6


MERGED = {
    "each table": lambda tables, ids: sum(tables[i][ids[:, i]] for i in range(5)),
    "past the end": lambda tables, ids: sum(tables[i].at[ids[:, i] * 2 - 9].get(mode="fill", fill_value=7) for i in range(5)),
    "clipped": lambda tables, ids: sum(tables[i].at[ids[:, i] * 2 - 9].get(mode="clip") for i in range(5)),
    "a part of the rows": lambda tables, ids: tables[3, 4:20][ids[:, 0] % 16],
    "a part of a part": lambda tables, ids: tables[1:4][1][ids],
    "some columns stay": lambda tables, ids: tables[2, :, 3:9][ids],
    "every second row stays": lambda tables, ids: tables[2, ::2][ids % 8],
}


@pytest.mark.parametrize("name", list(MERGED))
def test_rows_of_merged_tables(name, seed):
    random, function = np.random.default_rng(seed), MERGED[name]
    tables, ids = jnp.asarray(random.standard_normal((5, 32, 12)), jnp.float32), jnp.asarray(random.integers(0, 32, (20, 5)), jnp.int32)
    rewritten = tune.merged_tables(function)
    assert far(function(tables, ids), rewritten(tables, ids)) == 0
    assert changed(function, rewritten, tables, ids) or "stay" in name


def test_infinities_are_no_agreement():
    from tesela.tune._subject import difference

    one, inf, nan = np.float32([1, 2]), np.float32([np.inf, 2]), np.float32([np.nan, 2])
    assert difference([inf], [inf]) == difference([nan], [nan]) == difference([one], [one]) == 0
    for a, b in ((inf, one), (one, inf), (inf, -inf), (nan, inf), (nan, one)):
        assert difference([a], [b]) == np.inf
    assert difference([np.float32([np.inf, 2])], [np.float32([np.inf, 3])]) == 0.5


def test_what_is_computed_again_stays_so(seed):
    """The program as `tune` compiles it has the barriers of jax.checkpoint under a derivative."""
    from tesela.tune._subject import Subject

    random = np.random.default_rng(seed)
    w, x = (jnp.asarray(random.standard_normal(dims), jnp.float32) for dims in ((8, 8), (16, 8)))

    def function(w, x):
        layer = jax.checkpoint(lambda h, w: jnp.tanh(h @ w))
        return jax.grad(lambda w: (layer(layer(x, w), w) ** 2).sum())(w)

    base = Subject(function, (w, x)).base
    texts = [jax.jit(one).lower(w, x).as_text() for one in (function, base)]
    assert texts[0].count("optimization_barrier") == texts[1].count("optimization_barrier") > 0
    assert far(function(w, x), base(w, x)[0]) < 1e-6
