# SPDX-License-Identifier: Apache-2.0
"""Sick programs about meshes, grids and small systems: rows of 2 to 8 numbers that are gathered, multiplied, added up."""

import jax.numpy as jnp
from case import Case
from jax import lax


def first(*which):
    """These arguments with the last dim first."""
    return lambda *given: tuple(jnp.moveaxis(a, -1, 0) if i in which else a for i, a in enumerate(given))


def last(result):
    return jnp.moveaxis(result, 0, -1)


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def mesh_normals(vertices, faces):
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    normal = jnp.cross(b - a, c - a)
    total = jnp.zeros_like(vertices)
    for i in range(3):
        total = total.at[faces[:, i]].add(normal)
    return total / jnp.sqrt((total * total).sum(-1, keepdims=True) + 1e-6)


def mesh_normals_fixed(vertices, faces):
    a, b, c = ([v[faces[i]] for v in vertices] for i in range(3))
    normal = cross([y - x for x, y in zip(a, b, strict=True)], [y - x for x, y in zip(a, c, strict=True)])
    total = []
    for n in normal:
        one = jnp.zeros_like(vertices[0])
        for i in range(3):
            one = one.at[faces[i]].add(n)
        total.append(one)
    return jnp.stack(total) / jnp.sqrt(dot(total, total) + 1e-6)


def angles(p, triples):
    u = p[triples[:, 0]] - p[triples[:, 1]]
    v = p[triples[:, 2]] - p[triples[:, 1]]
    return (u * v).sum(-1) / jnp.sqrt((u * u).sum(-1) * (v * v).sum(-1) + 1e-6)


def angles_fixed(p, triples):
    u = [c[triples[0]] - c[triples[1]] for c in p]
    v = [c[triples[2]] - c[triples[1]] for c in p]
    return dot(u, v) / jnp.sqrt(dot(u, u) * dot(v, v) + 1e-6)


def quadratic(x, m):
    """Distances under a matrix for each point: 6 numbers and 6 x 6."""
    return jnp.einsum("ni,nij,nj->n", x, m, x)


def quadratic_fixed(x, m):
    return sum(x[i] * sum(m[i, j] * x[j] for j in range(6)) for i in range(6))


def stem(x, w):
    """A first convolution of three colours."""
    return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def stem_fixed(x, w):
    h, width = x.shape[2:]
    padded = jnp.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    out = []
    for o in range(4):
        terms = [w[i, j, c, o] * padded[c, :, i : i + h, j : j + width] for i in range(3) for j in range(3) for c in range(3)]
        out.append(sum(terms))
    return jnp.stack(out)


def line_convolution(x, w):
    return lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))


def line_convolution_fixed(x, w):
    n = x.shape[-1]
    padded = jnp.pad(x, ((0, 0), (0, 0), (2, 2)))
    return jnp.stack([sum(w[i, c, o] * padded[c, :, i : i + n] for i in range(5) for c in range(4)) for o in range(4)])


def solve(a, b):
    """Systems of four equations, symmetric and definite."""
    spd = a @ jnp.swapaxes(a, 1, 2) + jnp.eye(4)
    return jnp.linalg.solve(spd, b[..., None])[..., 0]


def solve_fixed(a, b):
    s = [[sum(a[i, k] * a[j, k] for k in range(4)) + (i == j) for j in range(4)] for i in range(4)]
    x = [b[i] for i in range(4)]
    for i in range(4):
        for r in range(i + 1, 4):
            f = s[r][i] / s[i][i]
            s[r] = [s[r][k] - f * s[i][k] for k in range(4)]
            x[r] = x[r] - f * x[i]
    for i in reversed(range(4)):
        x[i] = (x[i] - sum(s[i][k] * x[k] for k in range(i + 1, 4))) / s[i][i]
    return jnp.stack(x)


def smooth(values, ids, weights):
    """Features of 4 numbers as averages over 8 neighbours."""
    return (values[ids] * weights[..., None]).sum(1)


def smooth_fixed(values, ids, weights):
    return jnp.stack([sum(v[ids[k]] * weights[k] for k in range(8)) for v in values])


def voxels(grid, points, ids):
    moved = grid.at[ids].add(points)
    return moved / (1 + moved[:, 3:4])


def voxels_fixed(grid, points, ids):
    moved = [g.at[ids].add(p) for g, p in zip(grid, points, strict=True)]
    return jnp.stack([m / (1 + moved[3]) for m in moved])


def kinematics(joints, points):
    """A point carried through chains of 3 x 3 rotations and moves."""

    def step(p, joint):
        return jnp.einsum("nij,nj->ni", joint, p) + 0.1, p

    return lax.scan(step, points, joints)[1]


def kinematics_fixed(joints, points):
    def step(p, joint):
        return jnp.stack([dot(joint[i], p) + 0.1 for i in range(3)]), p

    return lax.scan(step, points, joints)[1]


def rays(origin, direction, triangles, ids):
    """Where rays meet the planes of triangles."""
    t = triangles[ids]
    normal = jnp.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0])
    far = ((t[:, 0] - origin) * normal).sum(-1) / ((direction * normal).sum(-1) + 10)
    return origin + far[:, None] * direction


def rays_fixed(origin, direction, triangles, ids):
    t = [[triangles[i, c][ids] for c in range(3)] for i in range(3)]
    normal = cross([t[1][c] - t[0][c] for c in range(3)], [t[2][c] - t[0][c] for c in range(3)])
    far = dot([t[0][c] - origin[c] for c in range(3)], normal) / (dot(direction, normal) + 10)
    return jnp.stack([origin[c] + far * direction[c] for c in range(3)])


def spline(points, at):
    """Curves through control points of two coordinates."""
    i = at.astype(jnp.int32) % (points.shape[0] - 3)
    t = (at - jnp.floor(at))[:, None]
    p = [points[i + k] for k in range(4)]
    return 0.5 * (2 * p[1] + (p[2] - p[0]) * t + (2 * p[0] - 5 * p[1] + 4 * p[2] - p[3]) * t * t)


def spline_fixed(points, at):
    i = at.astype(jnp.int32) % (points.shape[1] - 3)
    t = at - jnp.floor(at)
    out = []
    for line in points:
        p = [line[i + k] for k in range(4)]
        out.append(0.5 * (2 * p[1] + (p[2] - p[0]) * t + (2 * p[0] - 5 * p[1] + 4 * p[2] - p[3]) * t * t))
    return jnp.stack(out)



CASES = [
    Case(mesh_normals, ("f32[65536,3]", "s32[131072,3]<65536"), ("f32[64,3]", "s32[128,3]<64"), mesh_normals_fixed, first(0, 1), last),
    Case(angles, ("f32[65536,3]", "s32[262144,3]<65536"), ("f32[64,3]", "s32[128,3]<64"), angles_fixed, first(0, 1)),
    Case(quadratic, ("f32[65536,6]", "f32[65536,6,6]"), ("f32[64,6]", "f32[64,6,6]"), quadratic_fixed,
         lambda x, m: (x.T, jnp.moveaxis(m, 0, -1))),
    Case(stem, ("f32[8,256,256,3]", "f32[3,3,3,4]"), ("f32[2,8,8,3]", "f32[3,3,3,4]"), stem_fixed, first(0), last),
    Case(line_convolution, ("f32[256,4096,4]", "f32[5,4,4]"), ("f32[4,16,4]", "f32[5,4,4]"), line_convolution_fixed, first(0), last),
    Case(solve, ("f32[32768,4,4]", "f32[32768,4]"), ("f32[64,4,4]", "f32[64,4]"), solve_fixed, lambda a, b: (jnp.moveaxis(a, 0, -1), b.T), last,
         loose=1e-2),
    Case(smooth, ("f32[65536,4]", "s32[65536,8]<65536", "f32[65536,8]"), ("f32[64,4]", "s32[64,8]<64", "f32[64,8]"), smooth_fixed,
         first(0, 1, 2), last),
    Case(voxels, ("f32[262144,4]", "f32[524288,4]", "s32[524288]<262144"), ("f32[64,4]", "f32[128,4]", "s32[128]<64"), voxels_fixed,
         first(0, 1), last, loose=1e-2),
    Case(kinematics, ("f32[16,65536,3,3]", "f32[65536,3]"), ("f32[3,64,3,3]", "f32[64,3]"), kinematics_fixed,
         lambda j, p: (jnp.moveaxis(j, 1, -1), p.T), lambda r: jnp.swapaxes(r, 1, 2)),
    Case(rays, ("f32[131072,3]", "f32[131072,3]", "f32[16384,3,3]", "s32[131072]<16384"),
         ("f32[64,3]", "f32[64,3]", "f32[16,3,3]", "s32[64]<16"), rays_fixed, lambda o, d, t, i: (o.T, d.T, jnp.moveaxis(t, 0, -1), i), last,
         loose=1e-2),
    Case(spline, ("f32[16384,2]", "f32[262144]"), ("f32[16,2]", "f32[64]"), spline_fixed, first(0), last),
]  # fmt: skip
