# SPDX-License-Identifier: Apache-2.0
"""Sick programs about points, fields and filters: dims of 2 to 12 beside long ones."""

import jax
import jax.numpy as jnp
from case import Case
from jax import lax


def columns(*arguments):
    """The first argument with its last dim first."""
    return jnp.moveaxis(arguments[0], -1, 0), *arguments[1:]


def last(result):
    return jnp.moveaxis(result, 0, -1)


# ---- particles


def particles(p, ids):
    d = p[ids] - p[:, None, :]
    r2 = (d * d).sum(-1, keepdims=True) + 1e-3
    return p + 0.01 * (d / (r2 * jnp.sqrt(r2))).sum(1)


def particles_fixed(p, ids):
    d = [p[c][ids] - p[c][:, None] for c in range(3)]
    r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 1e-3
    w = 1 / (r2 * jnp.sqrt(r2))
    return jnp.stack([p[c] + 0.01 * (d[c] * w).sum(1) for c in range(3)])


def scatter_forces(p, force, ids):
    return p + 0.1 * jnp.zeros_like(p).at[ids].add(force)


def scatter_forces_fixed(p, force, ids):
    return jnp.stack([p[c] + 0.1 * jnp.zeros_like(p[c]).at[ids].add(force[c]) for c in range(3)])


def springs(p, pairs):
    a, b = pairs[:, 0], pairs[:, 1]
    d = p[b] - p[a]
    length = jnp.sqrt((d * d).sum(-1, keepdims=True) + 1e-6)
    pull = d * (1 - 1 / length)
    return p + 0.1 * jnp.zeros_like(p).at[a].add(pull).at[b].add(-pull)


def springs_fixed(p, pairs):
    a, b = pairs[0], pairs[1]
    d = [p[c][b] - p[c][a] for c in range(3)]
    scale = 1 - 1 / jnp.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 1e-6)
    zero = jnp.zeros_like(p[0])
    return jnp.stack([p[c] + 0.1 * zero.at[a].add(d[c] * scale).at[b].add(-d[c] * scale) for c in range(3)])


def rotate(q, v):
    w, x, y, z = q[:, 0], q[:, 1], q[:, 2], q[:, 3]
    rows = [
        jnp.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], -1),
        jnp.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)], -1),
        jnp.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], -1),
    ]
    return jnp.einsum("nij,nj->ni", jnp.stack(rows, 1), v)


def rotate_fixed(q, v):
    w, x, y, z = q
    a, b, c = v
    return jnp.stack([
        (1 - 2 * (y * y + z * z)) * a + 2 * (x * y - w * z) * b + 2 * (x * z + w * y) * c,
        2 * (x * y + w * z) * a + (1 - 2 * (x * x + z * z)) * b + 2 * (y * z - w * x) * c,
        2 * (x * z - w * y) * a + 2 * (y * z + w * x) * b + (1 - 2 * (x * x + y * y)) * c,
    ])  # fmt: skip


def small_matmul(a, b):
    return jnp.einsum("nij,njk->nik", a, b)


def small_matmul_fixed(a, b):
    return jnp.stack([jnp.stack([sum(a[i, j] * b[j, k] for j in range(3)) for k in range(3)]) for i in range(3)])


def chain(a, steps):
    def one(x, m):
        return jnp.einsum("nij,njk->nik", x, m), ()

    return lax.scan(one, a, steps)[0]


def chain_fixed(a, steps):
    def one(x, m):
        return jnp.stack([jnp.stack([sum(x[i, j] * m[j, k] for j in range(4)) for k in range(4)]) for i in range(4)]), ()

    return lax.scan(one, a, steps)[0]


def inverse(a, b):
    eye = jnp.eye(3)
    spd = a @ jnp.swapaxes(a, 1, 2) + eye
    return (jnp.linalg.inv(spd) @ b[..., None])[..., 0]


def inverse_fixed(a, b):
    s = [[sum(a[i, k] * a[j, k] for k in range(3)) + (i == j) for j in range(3)] for i in range(3)]

    def minor(i, j):
        r, c = [(1, 2), (0, 2), (0, 1)][i], [(1, 2), (0, 2), (0, 1)][j]
        return (-1) ** (i + j) * (s[r[0]][c[0]] * s[r[1]][c[1]] - s[r[0]][c[1]] * s[r[1]][c[0]])

    det = sum(s[0][j] * minor(0, j) for j in range(3))
    return jnp.stack([sum(minor(j, i) * b[j] for j in range(3)) / det for i in range(3)])


# ---- filters and fields


def kalman(x, p, zs):
    f = jnp.eye(4) + 0.1 * jnp.eye(4, k=2)
    h = jnp.eye(2, 4)

    def step(state, z):
        x, p = state
        x = x @ f.T
        p = f @ p @ f.T + 0.01 * jnp.eye(4)
        s = h @ p @ h.T + jnp.eye(2)
        det = s[:, 0, 0] * s[:, 1, 1] - s[:, 0, 1] * s[:, 1, 0]
        inverse = jnp.stack([jnp.stack([s[:, 1, 1], -s[:, 0, 1]], -1), jnp.stack([-s[:, 1, 0], s[:, 0, 0]], -1)], 1) / det[:, None, None]
        k = p @ h.T @ inverse
        x = x + jnp.einsum("bij,bj->bi", k, z - x @ h.T)
        return (x, p - k @ h @ p), x

    return lax.scan(step, (x, p), zs)[1]


def kalman_fixed(x, p, zs):
    def step(state, z):
        x, p = state
        x = [x[0] + 0.1 * x[2], x[1] + 0.1 * x[3], x[2], x[3]]
        fp = [[p[i][j] + (0.1 * p[i + 2][j] if i < 2 else 0) for j in range(4)] for i in range(4)]
        p = [[fp[i][j] + (0.1 * fp[i][j + 2] if j < 2 else 0) + (0.01 if i == j else 0) for j in range(4)] for i in range(4)]
        s00, s01, s10, s11 = p[0][0] + 1, p[0][1], p[1][0], p[1][1] + 1
        det = s00 * s11 - s01 * s10
        k = [[(p[i][0] * s11 - p[i][1] * s10) / det, (p[i][1] * s00 - p[i][0] * s01) / det] for i in range(4)]
        r0, r1 = z[0] - x[0], z[1] - x[1]
        x = [x[i] + k[i][0] * r0 + k[i][1] * r1 for i in range(4)]
        p = [[p[i][j] - k[i][0] * p[0][j] - k[i][1] * p[1][j] for j in range(4)] for i in range(4)]
        return (x, p), jnp.stack(x)

    return lax.scan(step, (list(x), [list(row) for row in p]), zs)[1]


def oscillators(x, k):
    """Runge and Kutta's steps for 6 numbers each."""

    def slope(x):
        a, b = x[:, :3], x[:, 3:]
        return jnp.concatenate([b, -k * a * (1 + (a * a).sum(-1, keepdims=True))], -1)

    def step(x, _):
        s1 = slope(x)
        s2 = slope(x + 0.005 * s1)
        s3 = slope(x + 0.005 * s2)
        x = x + 0.01 / 6 * (s1 + 2 * s2 + 3 * s3)
        return x, x

    return lax.scan(step, x, None, length=32)[1]


def oscillators_fixed(x, k):
    def slope(x):
        a, b = x[:3], x[3:]
        return jnp.concatenate([b, -k * a * (1 + (a * a).sum(0, keepdims=True))], 0)

    def step(x, _):
        s1 = slope(x)
        s2 = slope(x + 0.005 * s1)
        s3 = slope(x + 0.005 * s2)
        x = x + 0.01 / 6 * (s1 + 2 * s2 + 3 * s3)
        return x, x

    return lax.scan(step, x, None, length=32)[1]


C = [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)]
W = [4 / 9] + [1 / 9] * 4 + [1 / 36] * 4


def lattice_boltzmann(f):
    c, w = jnp.array(C, jnp.float32), jnp.array(W, jnp.float32)
    f = 1 + 0.1 * jnp.tanh(f)

    def step(f, _):
        f = jnp.stack([jnp.roll(f[..., i], C[i], (0, 1)) for i in range(9)], -1)
        rho = f.sum(-1)
        u = jnp.einsum("hwi,id->hwd", f, c) / rho[..., None]
        cu = jnp.einsum("hwd,id->hwi", u, c)
        uu = (u * u).sum(-1, keepdims=True)
        return f + 0.6 * (rho[..., None] * w * (1 + 3 * cu + 4.5 * cu * cu - 1.5 * uu) - f), ()

    return lax.scan(step, f, None, length=16)[0]


def lattice_boltzmann_fixed(f):
    f = 1 + 0.1 * jnp.tanh(f)

    def step(f, _):
        f = [jnp.roll(f[i], C[i], (0, 1)) for i in range(9)]
        rho = sum(f)
        u = [sum(C[i][d] * f[i] for i in range(9) if C[i][d]) / rho for d in range(2)]
        uu = u[0] * u[0] + u[1] * u[1]
        out = []
        for i in range(9):
            cu = C[i][0] * u[0] + C[i][1] * u[1]
            out.append(f[i] + 0.6 * (rho * W[i] * (1 + 3 * cu + 4.5 * cu * cu - 1.5 * uu) - f[i]))
        return jnp.stack(out), ()

    return lax.scan(step, f, None, length=16)[0]


def bilinear(image, at):
    """Values of a picture of three colours between its pixels."""
    base = jnp.floor(at).astype(jnp.int32)
    t = (at - base)[:, None, :]
    y, x = base[:, 0] % (image.shape[0] - 1), base[:, 1] % (image.shape[1] - 1)
    top = image[y, x] * (1 - t[..., 1]) + image[y, x + 1] * t[..., 1]
    low = image[y + 1, x] * (1 - t[..., 1]) + image[y + 1, x + 1] * t[..., 1]
    return top * (1 - t[..., 0]) + low * t[..., 0]


def bilinear_fixed(image, at):
    base = [jnp.floor(a).astype(jnp.int32) for a in at]
    ty, tx = at[0] - base[0], at[1] - base[1]
    h, w = image.shape[1:]
    flat = (base[0] % (h - 1)) * w + base[1] % (w - 1)
    out = []
    for plane in image.reshape(3, h * w):
        top = plane[flat] * (1 - tx) + plane[flat + 1] * tx
        low = plane[flat + w] * (1 - tx) + plane[flat + w + 1] * tx
        out.append(top * (1 - ty) + low * ty)
    return jnp.stack(out)


def harmonics(d, weights):
    """Colours of points seen from a direction: 9 harmonics of 3 colours each."""
    x, y, z = d[:, 0], d[:, 1], d[:, 2]
    one = jnp.ones_like(x)
    basis = jnp.stack([one, y, z, x, x * y, y * z, 3 * z * z - 1, x * z, x * x - y * y], -1)
    return jax.nn.sigmoid(jnp.einsum("nb,nbc->nc", basis, weights))


def harmonics_fixed(d, weights):
    x, y, z = d
    basis = [jnp.ones_like(x), y, z, x, x * y, y * z, 3 * z * z - 1, x * z, x * x - y * y]
    return jax.nn.sigmoid(sum(b[None] * weights[i] for i, b in enumerate(basis)))


def both_transposed(q, v):
    return q.T, v.T


def matrices_last(*arguments):
    return tuple(jnp.moveaxis(a, (-2, -1), (0, 1)) for a in arguments)


CASES = [
    Case(particles, ("f32[65536,3]", "s32[65536,16]<65536"), ("f32[64,3]", "s32[64,4]<64"), particles_fixed, columns, last,
         large=("f32[4194304,3]", "s32[4194304,32]<4194304")),
    Case(scatter_forces, ("f32[131072,3]", "f32[524288,3]", "s32[524288]<131072"), ("f32[64,3]", "f32[256,3]", "s32[256]<64"),
         scatter_forces_fixed, lambda p, f, i: (p.T, f.T, i), last, large=("f32[16777216,3]", "f32[67108864,3]", "s32[67108864]<131072")),
    Case(springs, ("f32[131072,3]", "s32[262144,2]<131072"), ("f32[64,3]", "s32[256,2]<64"), springs_fixed, lambda p, e: (p.T, e.T), last),
    Case(rotate, ("f32[1048576,4]", "f32[1048576,3]"), ("f32[64,4]", "f32[64,3]"), rotate_fixed, both_transposed, last),
    Case(small_matmul, ("f32[262144,3,3]", "f32[262144,3,3]"), ("f32[64,3,3]", "f32[64,3,3]"), small_matmul_fixed, matrices_last,
         lambda r: jnp.moveaxis(r, (0, 1), (-2, -1))),
    Case(chain, ("f32[32768,4,4]", "f32[32,32768,4,4]"), ("f32[16,4,4]", "f32[3,16,4,4]"), chain_fixed,
         lambda a, s: (jnp.moveaxis(a, 0, -1), jnp.moveaxis(s, 1, -1)), lambda r: jnp.moveaxis(r, -1, 0)),
    Case(inverse, ("f32[65536,3,3]", "f32[65536,3]"), ("f32[64,3,3]", "f32[64,3]"), inverse_fixed,
         lambda a, b: (jnp.moveaxis(a, 0, -1), b.T), last, loose=1e-2),
    Case(kalman, ("f32[16384,4]", "f32[16384,4,4]", "f32[64,16384,2]"), ("f32[16,4]", "f32[16,4,4]", "f32[5,16,2]"), kalman_fixed,
         lambda x, p, z: (x.T, jnp.moveaxis(p, 0, -1), jnp.swapaxes(z, 1, 2)), lambda r: jnp.swapaxes(r, 1, 2), loose=1e-1,
         given=lambda x, p, z: (x, jnp.broadcast_to(jnp.eye(4), p.shape), z)),
    Case(oscillators, ("f32[131072,6]", "f32[131072,1]"), ("f32[16,6]", "f32[16,1]"), oscillators_fixed, lambda x, k: (x.T, k.T),
         lambda r: jnp.swapaxes(r, 1, 2), large=("f32[33554432,6]", "f32[33554432,1]"),
         given=lambda x, k: (0.1 * jax.random.normal(jax.random.key(1), x.shape), k)),
    Case(lattice_boltzmann, ("f32[512,512,9]",), ("f32[8,16,9]",), lattice_boltzmann_fixed, columns, last, loose=1e-2,
         large=("f32[16384,16384,9]",)),
    Case(bilinear, ("f32[512,512,3]", "f32[262144,2]"), ("f32[16,16,3]", "f32[64,2]"), bilinear_fixed,
         lambda i, a: (jnp.moveaxis(i, -1, 0), a.T), last),
    Case(harmonics, ("f32[262144,3]", "f32[262144,9,3]"), ("f32[64,3]", "f32[64,9,3]"), harmonics_fixed,
         lambda d, w: (d.T, jnp.moveaxis(w, 0, -1)), last),
]  # fmt: skip
