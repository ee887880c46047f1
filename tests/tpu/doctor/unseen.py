# SPDX-License-Identifier: Apache-2.0
"""Programs for the rewrites of rows, tables and few channels, written before any of these rewrites stood; no fixes by hand."""

import jax
import jax.numpy as jnp
from case import Case
from jax import lax

# ---- rows that are added


def table_step(table, ids, gradient):
    """Rows of a table changed by the gradients of those that were used."""
    return table.at[ids].add(-0.1 * gradient)


def segment_rows(rows, segments):
    return jax.ops.segment_sum(rows, segments, segments.shape[0] // 2)


def best_rows(best, ids, values):
    """The largest numbers seen at each place."""
    return best.at[ids].max(jnp.tanh(values))


# ---- rows that are taken


def bags(tables, ids):
    """A row of each of 8 tables, added."""
    return sum(tables[i][ids[:, i]] for i in range(8))


def nearest(features, ids):
    """The largest of each feature among 32 neighbours."""
    return features[ids].max(1)


def votes(table, ids, weights):
    return jnp.einsum("bk,bkd->bd", weights, table[ids])


# ---- dims that could be one


def head_norms(x, scale):
    """Each of 8 heads of 32 divided by its own length."""
    return x * scale / jnp.sqrt((x * x).mean(-1, keepdims=True) + 1e-6)


def mixtures(x, means):
    """Nearness to 6 centres of 5 numbers, of each of many."""
    d = x[:, None, :] - means
    return jax.nn.softmax(-(d * d).sum(-1))


# ---- few channels

IMAGES = ("NHWC", "HWIO", "NHWC")


def features_and_back(x, w1, w2):
    """Two channels into 16 and back."""
    h = jax.nn.relu(lax.conv_general_dilated(x, w1, (1, 1), "SAME", dimension_numbers=IMAGES))
    return lax.conv_general_dilated(h, w2, (1, 1), "SAME", dimension_numbers=IMAGES)


def waves(x, w):
    """Eight steps of a field of two numbers."""

    def step(x, _):
        return jnp.tanh(lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=IMAGES)), ()

    return lax.scan(step, x, None, length=8)[0]


def halves(x, w):
    """Two channels at half the size."""
    return lax.conv_general_dilated(x, w, (2, 2), "VALID", dimension_numbers=IMAGES)


def lines(x, w):
    return lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))


CASES = [
    Case(table_step, ("f32[262144,32]", "s32[131072]<262144", "f32[131072,32]"), ("f32[64,32]", "s32[32]<64", "f32[32,32]")),
    Case(segment_rows, ("f32[262144,16]", "s32[262144]<131072"), ("f32[64,16]", "s32[64]<32")),
    Case(best_rows, ("f32[131072,64]", "s32[65536]<131072", "f32[65536,64]"), ("f32[64,64]", "s32[32]<64", "f32[32,64]")),
    Case(bags, ("f32[8,65536,16]", "s32[16384,8]<65536"), ("f32[8,64,16]", "s32[16,8]<64")),
    Case(nearest, ("f32[65536,48]", "s32[4096,32]<65536"), ("f32[64,48]", "s32[16,4]<64")),
    Case(votes, ("f32[131072,24]", "s32[8192,20]<131072", "f32[8192,20]"), ("f32[64,24]", "s32[16,5]<64", "f32[16,5]")),
    Case(head_norms, ("f32[16,1024,8,32]", "f32[8,32]"), ("f32[2,16,8,32]", "f32[8,32]")),
    Case(mixtures, ("f32[262144,5]", "f32[6,5]"), ("f32[64,5]", "f32[6,5]")),
    Case(features_and_back, ("f32[4,512,512,2]", "f32[3,3,2,16]", "f32[3,3,16,2]"), ("f32[2,8,8,2]", "f32[3,3,2,16]", "f32[3,3,16,2]"),
         loose=1e-2),
    Case(waves, ("f32[8,256,256,2]", "f32[3,3,2,2]"), ("f32[2,8,8,2]", "f32[3,3,2,2]"), loose=1e-2),
    Case(halves, ("f32[16,512,512,2]", "f32[4,4,2,2]"), ("f32[2,16,16,2]", "f32[4,4,2,2]")),
    Case(lines, ("f32[16,65536,2]", "f32[9,2,2]"), ("f32[2,32,2]", "f32[9,2,2]")),
]  # fmt: skip
