# SPDX-License-Identifier: Apache-2.0
"""Programs with small dims that were written when the rules of `tesela report` stood, before it saw them; no fixes by hand."""

import jax
import jax.numpy as jnp
from case import Case
from jax import lax


def neighbours(features, ids):
    """Attention of each point over its 8 neighbours, 16 features each."""
    near = features[ids]
    weight = jax.nn.softmax((near * features[:, None, :]).sum(-1))
    return (near * weight[..., None]).sum(1)


def trilinear(grid, at):
    """Four numbers between the corners of voxels."""
    base = jnp.floor(at).astype(jnp.int32) % (grid.shape[0] - 1)
    t = at - jnp.floor(at)
    out = 0.0
    for corner in range(8):
        i = [base[:, d] + (corner >> d & 1) for d in range(3)]
        w = jnp.stack([t[:, d] if corner >> d & 1 else 1 - t[:, d] for d in range(3)], -1).prod(-1)
        out = out + grid[i[0], i[1], i[2]] * w[:, None]
    return out


def skinning(bones, ids, weights, points):
    """Points carried by the weighted sum of four bones' 3 x 4 matrices."""
    mixed = jnp.einsum("nk,nkij->nij", weights, bones[ids])
    return jnp.einsum("nij,nj->ni", mixed[:, :, :3], points) + mixed[:, :, 3]


def bonds(atoms, pairs):
    """Messages of 24 numbers."""
    sent = jax.nn.silu(atoms[pairs[:, 0]] * atoms[pairs[:, 1]])
    return jnp.zeros_like(atoms).at[pairs[:, 1]].add(sent)


def bag(table, ids):
    """The mean of 20 rows of 48 numbers."""
    return jnp.tanh(table[ids]).mean(1)


def walk(field, start):
    """Points that follow a field of two numbers for 16 steps."""

    def step(p, _):
        i = jnp.floor(p).astype(jnp.int32) % field.shape[0]
        p = p + 0.1 * field[i[:, 0], i[:, 1]]
        return p, ()

    return lax.scan(step, start, None, length=16)[0]


def whiten(a, b):
    """Five equations each, by Cholesky's factors."""
    spd = a @ jnp.swapaxes(a, 1, 2) + jnp.eye(5)
    factor = jnp.linalg.cholesky(spd)
    return lax.linalg.triangular_solve(factor, b[..., None], left_side=True, lower=True)[..., 0]


def flow(x, w):
    """A convolution of three channels into two."""
    return jnp.tanh(lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))


def pool(rows, segments, n):
    """Sums and sizes of segments of rows of 6."""
    total = jnp.zeros((n.shape[0], rows.shape[1])).at[segments].add(rows)
    return total / (1 + jnp.zeros(n.shape[0]).at[segments].add(1.0))[:, None]


def ordered(keys, values):
    """Pairs in the order of their keys."""
    return values[jnp.argsort(keys)] * 2 + 1


CASES = [
    Case(neighbours, ("f32[65536,16]", "s32[65536,8]<65536"), ("f32[64,16]", "s32[64,8]<64")),
    Case(trilinear, ("f32[64,64,64,4]", "f32[131072,3]"), ("f32[8,8,8,4]", "f32[64,3]")),
    Case(skinning, ("f32[128,3,4]", "s32[65536,4]<128", "f32[65536,4]", "f32[65536,3]"), ("f32[8,3,4]", "s32[64,4]<8", "f32[64,4]", "f32[64,3]"),
         loose=1e-2),
    Case(bonds, ("f32[65536,24]", "s32[262144,2]<65536"), ("f32[64,24]", "s32[256,2]<64")),
    Case(bag, ("f32[262144,48]", "s32[8192,20]<262144"), ("f32[64,48]", "s32[16,5]<64")),
    Case(walk, ("f32[512,512,2]", "f32[262144,2]"), ("f32[16,16,2]", "f32[64,2]")),
    Case(whiten, ("f32[32768,5,5]", "f32[32768,5]"), ("f32[64,5,5]", "f32[64,5]"), loose=1e-2),
    Case(flow, ("f32[8,256,256,3]", "f32[5,5,3,2]"), ("f32[2,8,8,3]", "f32[5,5,3,2]")),
    Case(pool, ("f32[524288,6]", "s32[524288]<8192", "f32[8192]"), ("f32[64,6]", "s32[64]<16", "f32[16]")),
    Case(ordered, ("f32[1048576]", "f32[1048576,2]"), ("f32[64]", "f32[64,2]")),
]  # fmt: skip
