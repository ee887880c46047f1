# SPDX-License-Identifier: Apache-2.0
"""tesela.jax.pack and unpack: trees with their structure, leaves named where one fails. Images by NumPy's pad, reshape, transpose."""

import collections
import doctest

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tesela
import tesela.jax

pytestmark = pytest.mark.frameworks

Pair = collections.namedtuple("Pair", "left right")
TILES = "{1,0:T(2,2)}"


def image(x):
    """The places of a matrix in TILES, by the definition."""
    x = np.asarray(x)
    (m, n), (a, b) = x.shape, (x.shape[0] % 2, x.shape[1] % 2)
    return np.pad(x, ((0, a), (0, b))).reshape((m + a) // 2, 2, (n + b) // 2, 2).transpose(0, 2, 1, 3).ravel()


def some_tree():
    rng = np.random.default_rng(5)
    w = jnp.asarray(rng.standard_normal((3, 5)), jnp.float32)
    return {"a": [w, Pair(w.astype(jnp.bfloat16), None)], "b": (np.arange(6, dtype=np.int8).reshape(2, 3), {})}


def test_one_layout_for_all_leaves():
    tree = some_tree()
    packed = tesela.jax.pack(tree, TILES)
    assert jax.tree.structure(packed) == jax.tree.structure(tree)
    for x, T in zip(jax.tree.leaves(tree), jax.tree.leaves(packed)):
        assert isinstance(T, tesela.TiledArray) and T.dtype == x.dtype
        assert np.array_equal(T.physical, image(x))
    back = tesela.jax.unpack(packed)
    assert jax.tree.structure(back) == jax.tree.structure(tree)
    for x, y in zip(jax.tree.leaves(tree), jax.tree.leaves(back)):
        assert isinstance(y, jax.Array) and y.dtype == x.dtype and np.array_equal(y, x)
    assert all(type(y) is np.ndarray for y in jax.tree.leaves(tesela.jax.unpack(packed, framework="np")))


def test_trees_of_layouts_and_their_upper_parts():
    tree = some_tree()
    packed = tesela.jax.pack(tree, {"a": [None, "{0,1}"], "b": tesela.layout("s8[2,3]{0,1}")})
    assert packed["a"][0] is tree["a"][0]
    assert packed["a"][1].left.layout == tesela.layout("bf16[3,5]{0,1}")
    assert packed["b"][0].physical.tolist() == [0, 3, 1, 4, 2, 5]
    assert tesela.jax.pack(tree, None)["b"][0] is tree["b"][0]
    assert tesela.jax.pack({"a": None}, TILES) == {"a": None} and tesela.jax.unpack([]) == []


def test_a_function_chooses():
    seen = []

    def choose(path, leaf):
        seen.append((path, leaf.shape))
        return TILES if leaf.shape == (3, 5) else None

    packed = tesela.jax.pack(some_tree(), choose)
    assert seen == [("['a'][0]", (3, 5)), ("['a'][1].left", (3, 5)), ("['b'][0]", (2, 3))]
    assert [isinstance(one, tesela.TiledArray) for one in jax.tree.leaves(packed)] == [True, True, False]


@pytest.mark.parametrize(
    "layouts, error, said",
    [
        ({"a": [TILES, TILES], "b": "{0}"}, ValueError, r"^\['b'\]\[0\]: "),
        ({"a": [TILES, "{1,0:T(2,x)}"], "b": None}, tesela.LayoutSyntaxError, r"^\['a'\]\[1\]\.left: expected a tile extent"),
        ({"a": "f32[3,4]", "b": None}, tesela.MismatchError, r"^\['a'\]\[0\]: the array has shape"),
        ({"a": TILES}, tesela.MismatchError, r"layouts has none for the leaf \['b'\]\[0\]"),
        ({"a": TILES, "b": None, "c": TILES}, tesela.MismatchError, r"layouts\['c'\] is for no leaf"),
        ({"a": TILES, "b": 3}, TypeError, r"layouts\['b'\] is int"),
        (lambda path, leaf: 3, TypeError, r"^\['a'\]\[0\]: expected a layout, its text, or None; found int"),
    ],
)
def test_failures_name_the_leaf(layouts, error, said):
    with pytest.raises(error, match=said):
        tesela.jax.pack(some_tree(), layouts)


def test_leaves_that_are_no_arrays_are_named():
    with pytest.raises(TypeError, match=r"^\['x'\]: "):
        tesela.jax.pack({"x": "text"}, "{0}")
    with pytest.raises(TypeError, match=r"^\['key'\]: "):
        tesela.jax.pack({"key": jax.random.key(0)}, "{0}")
    with pytest.raises(tesela.UnsupportedError, match=r"^\['w'\]: a traced array; inside jax.jit use tesela.jax.to_places"):
        jax.jit(lambda tree: tesela.jax.pack(tree, TILES))({"w": jnp.ones((2, 2))})


def test_wide_types_do_not_become_narrow():
    packed = tesela.jax.pack({"n": np.array([[2**40, 1]])}, TILES)
    with pytest.raises(tesela.UnsupportedError, match=r"^\['n'\]: JAX makes int64 narrower; set jax_enable_x64"):
        tesela.jax.unpack(packed)
    assert tesela.jax.unpack(packed, framework="np")["n"].tolist() == [[2**40, 1]]


def test_options_reach_every_leaf():
    packed = tesela.jax.pack([jnp.ones((1, 1)), jnp.zeros((1, 3))], TILES, fill=7)
    assert [T.physical.tolist() for T in packed] == [[1, 7, 7, 7], [0, 0, 7, 7, 0, 7, 7, 7]]


def test_docstrings():
    found = doctest.testmod(tesela.jax._pytrees, extraglobs={"jnp": jnp})
    assert found.attempted and not found.failed
