# SPDX-License-Identifier: Apache-2.0
"""Advice of `tesela report` that no decorator follows, written by hand from the lines that it prints: PROGRAMS[name, kind]."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from case import same
from jax import lax


@dataclasses.dataclass(frozen=True)
class ByHand:
    program: Callable[..., Any]
    adapt: Callable[..., tuple] = same
    """The program's arguments as this one keeps them."""
    restore: Callable[[Any], Any] = lambda result: result


def merged(i, *sizes):
    """Argument i with neighbouring dims as one: how many dims of the original each dim has."""

    def adapt(*given):
        ends = [sum(sizes[: k + 1]) for k in range(len(sizes))]
        dims = [math.prod(given[i].shape[end - n : end]) for end, n in zip(ends, sizes, strict=True)]
        return tuple(a.reshape(dims) if j == i else a for j, a in enumerate(given))

    return adapt


def first(*which):
    """These arguments with the last dim first."""
    return lambda *given: tuple(jnp.moveaxis(a, -1, 0) if i in which else a for i, a in enumerate(given))


def last(result):
    return jnp.moveaxis(result, 0, -1)


# ---- neighbouring dims as one


def embedding_merge(table, ids):
    """The rows of a sum side by side: [4096, 3200]."""
    n = table.shape[1]
    rows = table[ids].reshape(ids.shape[0], -1)
    return sum(rows[:, n * i : n * (i + 1)] for i in range(ids.shape[1]))


def dlrm_merge(tables, ids, dense):
    """All tables below each other."""
    n = tables.shape[0] // ids.shape[1]
    rows = jnp.concatenate([tables[ids + n * jnp.arange(ids.shape[1])], dense[:, None]], 1)
    return jnp.einsum("bik,bjk->bij", rows, rows)


def patches_merge(images, weights):
    """Lines of a picture side by side: [32, 50176, 3]; pictures are squares."""
    b, size, c = images.shape
    n = math.isqrt(size)
    cut = images.reshape(b, n // 16, 16, n // 16, 16, c).transpose(0, 1, 3, 2, 4, 5)
    return cut.reshape(b, (n // 16) ** 2, 256 * c) @ weights


def harmonics_merge(d, weights):
    """Three colours of each of 9 harmonics side by side: [n, 27]."""
    x, y, z = d[:, 0], d[:, 1], d[:, 2]
    basis = [jnp.ones_like(x), y, z, x, x * y, y * z, 3 * z * z - 1, x * z, x * x - y * y]
    return jax.nn.sigmoid(sum(b[:, None] * weights[:, 3 * i : 3 * i + 3] for i, b in enumerate(basis)))


# ---- the small dim first, the array still one


def particles_first(p, ids):
    d = p[:, ids] - p[:, :, None]
    r2 = (d * d).sum(0) + 1e-3
    return p + 0.01 * (d / (r2 * jnp.sqrt(r2))).sum(-1)


def scatter_forces_first(p, force, ids):
    return p + 0.1 * jnp.zeros_like(p).at[:, ids].add(force)


def springs_first(p, pairs):
    a, b = pairs
    d = p[:, b] - p[:, a]
    pull = d * (1 - 1 / jnp.sqrt((d * d).sum(0) + 1e-6))
    return p + 0.1 * jnp.zeros_like(p).at[:, a].add(pull).at[:, b].add(-pull)


def angles_first(p, triples):
    u, v = p[:, triples[0]] - p[:, triples[1]], p[:, triples[2]] - p[:, triples[1]]
    return (u * v).sum(0) / jnp.sqrt((u * u).sum(0) * (v * v).sum(0) + 1e-6)


def smooth_first(values, ids, weights):
    return (values[:, ids] * weights).sum(1)


def voxels_first(grid, points, ids):
    moved = grid.at[:, ids].add(points)
    return moved / (1 + moved[3:4])


def spline_first(points, at):
    i = at.astype(jnp.int32) % (points.shape[1] - 3)
    t = at - jnp.floor(at)
    p = [points[:, i + k] for k in range(4)]
    return 0.5 * (2 * p[1] + (p[2] - p[0]) * t + (2 * p[0] - 5 * p[1] + 4 * p[2] - p[3]) * t * t)


def messages_first(nodes, edges):
    source, target = edges
    sent = jnp.tanh(nodes[:, source] - nodes[:, target])
    return nodes + jnp.zeros_like(nodes).at[:, target].add(sent)


def convolution_first(x, w):
    return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("CNHW", "HWIO", "CNHW"))


PROGRAMS = {
    ("embedding", "merge"): ByHand(embedding_merge),
    ("dlrm", "merge"): ByHand(dlrm_merge, merged(0, 2, 1)),
    ("patches", "merge"): ByHand(patches_merge, merged(0, 1, 2, 1)),
    ("harmonics", "merge"): ByHand(harmonics_merge, merged(1, 1, 2)),
    ("particles", "first"): ByHand(particles_first, first(0), last),
    ("scatter_forces", "first"): ByHand(scatter_forces_first, first(0, 1), last),
    ("springs", "first"): ByHand(springs_first, first(0, 1), last),
    ("angles", "first"): ByHand(angles_first, first(0, 1)),
    ("smooth", "first"): ByHand(smooth_first, lambda v, i, w: (v.T, i.T, w.T), last),
    ("voxels", "first"): ByHand(voxels_first, first(0, 1), last),
    ("spline", "first"): ByHand(spline_first, first(0), last),
    ("messages", "first"): ByHand(messages_first, first(0, 1), last),
    ("convolution", "first"): ByHand(convolution_first, first(0), last),
    ("stem", "first"): ByHand(convolution_first, first(0), last),
}
