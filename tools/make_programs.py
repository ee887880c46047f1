#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_programs.py - the example programs examples/mlp.hlo, block.hlo, net.hlo and decode.hlo: HLO text before optimisation.

    pip install "jax==0.10.2"
    python tools/make_programs.py              writes them, byte for byte

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

def conv(x, w, stride=1, groups=1):
    return jax.lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"),
                                        feature_group_count=groups)


def net(x, first, depth, grouped, last):
    """Images through convolutions: plain, one for each channel, in two groups; pooling, and the class they are most like."""
    h = jnp.maximum(conv(x, first, 2), 0)
    h = jnp.maximum(conv(h, depth, groups=128), 0)
    h = jnp.maximum(conv(h, grouped, groups=2), 0)
    h = jax.lax.reduce_window(h, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
    return jnp.argmax(h.mean((1, 2)) @ last, 1)


NET = (arg(2, 15, 15, 64), arg(3, 3, 64, 128), arg(3, 3, 1, 128), arg(1, 1, 64, 128), arg(128, 100))


def decode(keys, values, k, v, q, at):
    """One step of attention: a key and a value are written to their place in the past, which is then looked at up to there."""
    keys = jax.lax.dynamic_update_slice(keys, k, (0, at, 0))
    values = jax.lax.dynamic_update_slice(values, v, (0, at, 0))
    score = jnp.where(jnp.arange(keys.shape[1]) <= at, jnp.einsum("hqd,hkd->hqk", q, keys), -jnp.inf)
    return jax.nn.softmax(score) @ values, keys, values


DECODE = (arg(4, 128, 64), arg(4, 128, 64), arg(4, 1, 64), arg(4, 1, 64), arg(4, 1, 64), jax.ShapeDtypeStruct((), jnp.int32))

for name, function, arguments in (("mlp", mlp, MLP), ("block", block, BLOCK), ("net", net, NET), ("decode", decode, DECODE)):
    text = jax.jit(function).lower(*arguments).as_text(dialect="hlo")
    pathlib.Path("examples", name + ".hlo").write_text(text)
