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


def encoder(x, wqkv, wo, w1, w2, g1, g2):
    """A layer of an encoder in bf16: two norms, eight heads of 128, one product for queries, keys and values."""
    b, s, d = x.shape

    def norm(h, g):
        h = h.astype(jnp.float32)
        h = h - h.mean(-1, keepdims=True)
        return (h * lax.rsqrt((h * h).mean(-1, keepdims=True) + 1e-5) * g).astype(x.dtype)

    q, k, v = jnp.split((norm(x, g1) @ wqkv).reshape(b, s, 3 * d // 128, 128), 3, 2)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(jnp.float32) / 11.3
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores).astype(x.dtype), v)
    h = x + mixed.reshape(b, s, d) @ wo
    return h + jax.nn.gelu(norm(h, g2) @ w1) @ w2


def decoder_step(wq, wk, wv, wo, x, y):
    """A training step of causal attention, four heads of 128; the weights are donated."""
    b, s, d = x.shape

    def loss(ws):
        q, k, v = ((x @ w).reshape(b, s, d // 128, 128).transpose(0, 2, 1, 3) for w in ws[:3])
        scores = q @ k.swapaxes(-1, -2) / 11.3
        scores = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((s, s), bool)), scores, -1e9))
        out = (scores @ v).transpose(0, 2, 1, 3).reshape(b, s, d) @ ws[3]
        return ((out - y) ** 2).mean()

    ws = (wq, wk, wv, wo)
    return tuple(w - 0.1 * g for w, g in zip(ws, jax.grad(loss)(ws), strict=True))


def cached_attention(keys, values, query):
    """Attention of a decoder over caches with heads of 128."""
    scores = jnp.einsum("bhd,bhsd->bhs", query, keys).astype(jnp.float32) / 11.3
    return jnp.einsum("bhs,bhsd->bhd", jax.nn.softmax(scores).astype(values.dtype), values)


def denoiser(x, t, w_in, w_time, w_mid, w_out):
    """A step of a diffusion of vectors: an MLP whose second argument is the time, as 256 waves."""
    waves = t[:, None] * jnp.exp(-jnp.arange(128) * 0.07)
    time = jax.nn.silu(jnp.concatenate([jnp.sin(waves), jnp.cos(waves)], -1) @ w_time)
    h = jax.nn.silu(x @ w_in + time)
    h = h + jax.nn.silu(h @ w_mid)
    return x - 0.1 * (h @ w_out)


def gated_mlp(x, gate, up, down):
    return (jax.nn.silu(x @ gate) * (x @ up)) @ down


def gru(xs, wz, wr, wh):
    """A recurrent net with two gates."""

    def step(h, x):
        z, r = jax.nn.sigmoid(jnp.concatenate([h, x], -1) @ wz), jax.nn.sigmoid(jnp.concatenate([h, x], -1) @ wr)
        h = (1 - z) * h + z * jnp.tanh(jnp.concatenate([r * h, x], -1) @ wh)
        return h, h

    return lax.scan(step, jnp.zeros_like(xs[0]), xs)[1]


def contrastive(a, b):
    """The loss of pairs of vectors among all pairs."""
    a, b = (x * lax.rsqrt((x * x).sum(-1, keepdims=True)) for x in (a, b))
    logits = 14 * a @ b.T
    return (jax.nn.logsumexp(logits, 0) + jax.nn.logsumexp(logits, 1) - 2 * jnp.diagonal(logits)).mean()


def low_rank_step(w, a, b, x, y):
    """A step of fine tuning: a large fixed matrix and two of rank 128 that are trained."""

    def loss(low):
        return (((x @ w + (x @ low[0]) @ low[1]) - y) ** 2).mean()

    ga, gb = jax.grad(loss)((a, b))
    return a - 0.1 * ga, b - 0.1 * gb


# ---- written after the rule that a layout needs more than an estimate


def layers(ws, x):
    """Four layers whose weights are one array."""
    return lax.scan(lambda h, w: (h + jax.nn.gelu(h @ w), ()), x, ws)[0]


def residual(x, w1, w2):
    """Two convolutions of 256 channels and what went in."""
    h = jax.nn.relu(lax.conv_general_dilated(x, w1, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
    return x + lax.conv_general_dilated(h, w2, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def loss_step(x, w, labels):
    """A training step of the last layer of a model of language: the gradient of the picked logits is a scatter."""
    return w - 0.1 * jax.grad(lambda w: softmax_loss(x, w, labels))(w)

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
    Case(encoder, ("bf16[8,512,1024]", "bf16[1024,3072]", "bf16[1024,1024]", "bf16[1024,4096]", "bf16[4096,1024]", "f32[1024]", "f32[1024]"),
         ("bf16[1,8,128]", "bf16[128,384]", "bf16[128,128]", "bf16[128,256]", "bf16[256,128]", "f32[128]", "f32[128]"), loose=3e-2),
    Case(decoder_step, (*4 * ("f32[512,512]",), "f32[8,256,512]", "f32[8,256,512]"), (*4 * ("f32[128,128]",), "f32[2,8,128]", "f32[2,8,128]"),
         donate=(0, 1, 2, 3), loose=1e-2),
    Case(cached_attention, ("bf16[8,8,2048,128]", "bf16[8,8,2048,128]", "bf16[8,8,128]"), ("bf16[2,2,16,128]", "bf16[2,2,16,128]", "bf16[2,2,128]"),
         loose=2e-2),
    Case(denoiser, ("f32[4096,256]", "f32[4096]", "f32[256,1024]", "f32[256,1024]", "f32[1024,1024]", "f32[1024,256]"),
         ("f32[8,16]", "f32[8]", "f32[16,32]", "f32[256,32]", "f32[32,32]", "f32[32,16]"), loose=1e-2),
    Case(gated_mlp, ("bf16[4096,1024]", "bf16[1024,2048]", "bf16[1024,2048]", "bf16[2048,1024]"),
         ("bf16[8,16]", "bf16[16,32]", "bf16[16,32]", "bf16[32,16]"), loose=3e-2),
    Case(gru, ("f32[64,256,256]", *3 * ("f32[512,256]",)), ("f32[3,8,16]", *3 * ("f32[32,16]",))),
    Case(contrastive, ("f32[2048,512]", "f32[2048,512]"), ("f32[8,16]", "f32[8,16]")),
    Case(low_rank_step, ("f32[1024,1024]", "f32[1024,128]", "f32[128,1024]", "f32[4096,1024]", "f32[4096,1024]"),
         ("f32[16,16]", "f32[16,8]", "f32[8,16]", "f32[32,16]", "f32[32,16]"), donate=(1, 2)),
    Case(layers, ("f32[4,1024,1024]", "f32[1024,1024]"), ("f32[3,16,16]", "f32[8,16]")),
    Case(residual, ("bf16[8,32,32,256]", *2 * ("bf16[3,3,256,256]",)), ("bf16[1,8,8,16]", *2 * ("bf16[3,3,16,16]",)), loose=3e-2),
    Case(loss_step, ("f32[1024,512]", "f32[512,8192]", "s32[1024]<8192"), ("f32[8,16]", "f32[16,32]", "s32[8]<32"), donate=(1,)),
]  # fmt: skip
