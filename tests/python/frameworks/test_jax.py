# SPDX-License-Identifier: Apache-2.0
"""Arrays of JAX, borrowed through DLPack without a copy. The images are jax.numpy's own pad, reshape and transpose."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tesela

pytestmark = pytest.mark.frameworks

TYPES = {
    "bool": "pred", "uint8": "u8", "int8": "s8", "int16": "s16", "int32": "s32", "uint32": "u32", "float16": "f16", "bfloat16": "bf16",
    "float32": "f32", "complex64": "c64", "float8_e4m3fn": "f8e4m3fn", "float8_e5m2": "f8e5m2",
}  # fmt: skip


@pytest.mark.parametrize("name", TYPES)
def test_types(name):
    dtype = jnp.dtype(name)
    x = (jnp.arange(15).reshape(3, 5) % 2).astype(dtype)
    T = tesela.pack(x, "{1,0:T(2,2)}")
    assert T.layout == tesela.layout(f"{TYPES[name]}[3,5]{{1,0:T(2,2)}}") == tesela.layout("{1,0:T(2,2)}", (3, 5), dtype)
    image = jnp.pad(x, ((0, 1), (0, 1))).reshape(2, 2, 3, 2).transpose(0, 2, 1, 3)
    assert T.physical.tobytes() == np.asarray(image).tobytes()
    assert np.array_equal(np.asarray(T), np.asarray(x))


def test_jax_takes_the_values_back():
    x = jax.random.normal(jax.random.key(1), (3, 5))
    assert jnp.array_equal(jnp.asarray(np.asarray(tesela.pack(x, "{0,1}"))), x)


def test_arrays_of_jax_are_never_written():
    T = tesela.pack(np.ones((3, 5), np.float32), "{0,1}")
    with pytest.raises(ValueError, match="read-only"):
        T.unpack(out=jnp.zeros((3, 5)))


def test_the_expression_for_jax():
    x = jnp.arange(15, dtype=jnp.float32).reshape(3, 5)
    L = tesela.layout("f32[3,5]{1,0:T(2,2)}")
    assert np.asarray(eval(L.jax_expr("x"), {"jnp": jnp, "x": x})).tobytes() == tesela.pack(x, L).physical.tobytes()


def test_the_text_of_a_jax_layout():
    from jax.experimental.layout import Layout

    text = str(Layout(major_to_minor=(1, 0)))
    assert tesela.layout(text, (3, 5), jnp.float32).where(2, 3) == 3 * 3 + 2
