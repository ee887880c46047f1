# SPDX-License-Identifier: Apache-2.0
"""Healthy programs: dims aligned to tiles, nothing to gain. Nothing may be claimed about them."""

import jax
import jax.numpy as jnp
from case import Case
from jax import lax


def matmul(a, b):
    return a @ b


def mlp_step(w1, w2, x, y):
    def loss(ws):
        return ((jax.nn.gelu(x @ ws[0]) @ ws[1] - y) ** 2).mean()

    g1, g2 = jax.grad(loss)((w1, w2))
    return w1 - 0.1 * g1, w2 - 0.1 * g2


def transformer(x, wq, wk, wv, wo, w1, w2):
    b, s, d = x.shape

    def heads(w):
        return (x @ w).reshape(b, s, d // 128, 128)

    h = x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6)
    q, k, v = heads(wq), heads(wk), heads(wv)
    scores = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 11.3)
    h = h + jnp.einsum("bhqk,bkhd->bqhd", scores, v).reshape(b, s, d) @ wo
    return h + jax.nn.gelu(h @ w1) @ w2


def adam(w, g, m, v):
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g * g
    return w - 1e-3 * m / (jnp.sqrt(v) + 1e-8), m, v


def softmax_loss(x, w, labels):
    logits = x @ w
    picked = jnp.take_along_axis(logits, labels[:, None], 1)[:, 0]
    return (jax.nn.logsumexp(logits, -1) - picked).mean()


def wide_convolution(x, w):
    return jax.nn.relu(lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))


def recurrent(w, xs):
    def step(h, x):
        h = jnp.tanh(h @ w + x)
        return h, h

    return lax.scan(step, jnp.zeros_like(xs[0]), xs)[1]


def wide_rows(table, ids):
    return table[ids]


def quantized(x, w):
    return lax.dot_general(x, w, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32)


def layer_norm(x, g, b):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5) * g + b


CASES = [
    Case(matmul, ("bf16[2048,2048]", "bf16[2048,2048]"), ("bf16[16,16]", "bf16[16,16]"), loose=2e-2),
    Case(mlp_step, ("f32[512,2048]", "f32[2048,512]", "f32[2048,512]", "f32[2048,512]"), ("f32[8,16]", "f32[16,8]", "f32[16,8]", "f32[16,8]"),
         donate=(0, 1)),
    Case(transformer, ("f32[4,512,512]", *4 * ("f32[512,512]",), "f32[512,2048]", "f32[2048,512]"),
         ("f32[1,8,128]", *4 * ("f32[128,128]",), "f32[128,256]", "f32[256,128]"), loose=1e-2),
    Case(adam, 4 * ("f32[2048,2048]",), 4 * ("f32[16,16]",), donate=(0, 2, 3)),
    Case(softmax_loss, ("f32[1024,512]", "f32[512,8192]", "s32[1024]<8192"), ("f32[8,16]", "f32[16,32]", "s32[8]<32")),
    Case(wide_convolution, ("bf16[8,64,64,128]", "bf16[3,3,128,128]"), ("bf16[1,8,8,8]", "bf16[3,3,8,8]"), loose=3e-2),
    Case(recurrent, ("f32[512,512]", "f32[64,128,512]"), ("f32[16,16]", "f32[3,8,16]")),
    Case(wide_rows, ("f32[65536,128]", "s32[16384]<65536"), ("f32[64,128]", "s32[16]<64")),
    Case(quantized, ("s8[2048,2048]", "s8[2048,2048]"), ("s8[16,16]", "s8[16,16]")),
    Case(layer_norm, ("f32[8192,1024]", "f32[1024]", "f32[1024]"), ("f32[8,16]", "f32[16]", "f32[16]")),
]  # fmt: skip
