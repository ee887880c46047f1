#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_programs.py - the example programs examples/mlp.hlo and examples/block.hlo: HLO text before optimisation.

    pip install "jax==0.10.2"
    python tools/make_programs.py              writes both, byte for byte

What a framework hands to a compiler: no layouts but the default one, no fusions; softmax and norms are spelled out, weights
lie as [out, in] and are transposed.
"""
import os
import pathlib

os.environ["JAX_PLATFORMS"] = "cpu"
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402


def arg(*extents):
    return jax.ShapeDtypeStruct(extents, jnp.float16)


def linear(x, w):
    return x @ w.T


def mlp(x, w1, b1, w2, b2):
    return linear(jnp.maximum(linear(x, w1) + b1, 0), w2) + b2


MLP = (arg(100, 256), arg(500, 256), arg(500), arg(70, 500), arg(70))


def norm(x, scale):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5) * scale


def block(words, table, qkv, out, up, down, norm1, norm2):
    """Rows of an embedding table through one block of a transformer: 4 heads of 64."""
    x = table[words]
    b, t, d = x.shape
    h = norm(x, norm1)
    q, k, v = (linear(h, qkv[i]).reshape(b, t, 4, 64).transpose(0, 2, 1, 3) for i in range(3))
    score = q @ k.swapaxes(2, 3) * 0.125
    score = jnp.exp(score - score.max(-1, keepdims=True))
    y = (score / score.sum(-1, keepdims=True)) @ v
    x = x + linear(y.transpose(0, 2, 1, 3).reshape(b, t, d), out)
    return x + linear(jax.nn.gelu(linear(norm(x, norm2), up)), down)


BLOCK = (jax.ShapeDtypeStruct((2, 128), jnp.int32), arg(1000, 256), arg(3, 256, 256), arg(256, 256), arg(1024, 256),
         arg(256, 1024), arg(256), arg(256))

for name, function, arguments in (("mlp", mlp, MLP), ("block", block, BLOCK)):
    text = jax.jit(function).lower(*arguments).as_text(dialect="hlo")
    pathlib.Path("examples", name + ".hlo").write_text(text)
