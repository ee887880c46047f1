# SPDX-License-Identifier: Apache-2.0
"""Sick programs about tables, classes and small models: embeddings, one-hot arrays, few channels, few features."""

import jax
import jax.numpy as jnp
from case import Case
from jax import lax

# ---- embeddings


def pack(table, width):
    """Rows of a table side by side in 128 lanes; `width` lanes for one."""
    padded = jnp.pad(table, ((0, 0), (0, width - table.shape[1])))
    return padded.reshape(-1, 128)


def lookup(packed, ids, width, n):
    rows, per = packed[ids * width // 128], 128 // width
    part = (ids % per)[..., None]
    found = rows[..., :n]
    for i in range(1, per):
        found = jnp.where(part == i, rows[..., i * width : i * width + n], found)
    return found


def embedding(table, ids):
    return table[ids].sum(1)


def embedding_fixed(packed, ids):
    return lookup(packed, ids, 64, 64).sum(1)


def embedding_narrow(table, ids):
    return jax.nn.relu(table[ids]).mean(1)


def embedding_narrow_fixed(packed, ids):
    return jax.nn.relu(lookup(packed, ids, 16, 16)).mean(1)


def embedding_bytes(table, scale, ids):
    return (table[ids].astype(jnp.float32) * scale).sum(1)


def embedding_bytes_fixed(packed, scale, ids):
    return (lookup(packed, ids, 32, 32).astype(jnp.float32) * scale).sum(1)


def dlrm(tables, ids, dense):
    """26 tables of 32 numbers, and the products of all pairs of rows."""
    rows = jnp.stack([tables[i][ids[:, i]] for i in range(26)] + [dense], 1)
    return jnp.einsum("bik,bjk->bij", rows, rows)


def dlrm_fixed(tables, ids, dense):
    rows = [lookup(tables[i], ids[i], 32, 32).T for i in range(26)] + [dense]
    stacked = jnp.stack(rows)  # [27, 32, b]
    return jnp.einsum("ikb,jkb->ijb", stacked, stacked)


# ---- classes


def one_hot_weights(labels, weights):
    return jax.nn.one_hot(labels, 12) @ weights


def one_hot_weights_fixed(labels, weights):
    return weights[labels]


def one_hot_loss(logits, labels):
    return -(jax.nn.one_hot(labels, 10) * jax.nn.log_softmax(logits)).sum(-1)


def one_hot_loss_fixed(logits, labels):
    shifted = logits - logits.max(0)
    picked = sum(jnp.where(labels == c, shifted[c], 0) for c in range(10))
    return jnp.log(jnp.exp(shifted).sum(0)) - picked


def class_sums(features, labels):
    """The sum of the features of each class."""
    return jax.nn.one_hot(labels, 8).T @ features


def class_sums_fixed(features, labels):
    return jnp.stack([jnp.where(labels == c, features, 0).sum(-1) for c in range(8)])


def segment_counts(image, centres):
    """Which centre a colour is nearest to, and how many there are of each."""
    d = ((image[:, None, :] - centres) ** 2).sum(-1)
    near = jax.nn.one_hot(jnp.argmin(d, -1), centres.shape[0])
    return near.sum(0), near.T @ image


def segment_counts_fixed(image, centres):
    d = jnp.stack([sum((image[c] - centres[i, c]) ** 2 for c in range(3)) for i in range(12)])
    nearest = jnp.argmin(d, 0)
    near = [nearest == i for i in range(12)]
    counts = jnp.stack([one.astype(jnp.float32).sum() for one in near])
    return counts, jnp.stack([jnp.stack([jnp.where(one, image[c], 0).sum() for c in range(3)]) for one in near])


# ---- few channels


def convolution(x, w):
    return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def convolution_fixed(x, w):
    h, width = x.shape[2:]
    padded = jnp.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    return jnp.stack([
        sum(w[i, j, c, o] * padded[c, :, i : i + h, j : j + width] for i in range(3) for j in range(3) for c in range(2))
        for o in range(2)
    ])  # fmt: skip


def patches(images, weights):
    b, h, w, c = images.shape
    cut = images.reshape(b, h // 16, 16, w // 16, 16, c).transpose(0, 1, 3, 2, 4, 5)
    return cut.reshape(b, (h // 16) * (w // 16), 256 * c) @ weights


def patches_fixed(images, weights):
    """Channels first, and a convolution whose step is a patch."""
    b, c, h, w = images.shape
    kernel = weights.reshape(16, 16, c, -1)
    out = lax.conv_general_dilated(images, kernel, (16, 16), "VALID", dimension_numbers=("NCHW", "HWIO", "NHWC"))
    return out.reshape(b, (h // 16) * (w // 16), -1)


def colours(images, matrix, offset):
    return jax.nn.relu(images @ matrix + offset)


def colours_fixed(images, matrix, offset):
    return jnp.stack([jax.nn.relu(sum(images[i] * matrix[i, o] for i in range(3)) + offset[o]) for o in range(3)])


def complex_pairs(a, b):
    """Products of complex numbers whose parts are the last dim."""
    real = a[..., 0] * b[..., 0] - a[..., 1] * b[..., 1]
    imaginary = a[..., 0] * b[..., 1] + a[..., 1] * b[..., 0]
    return jnp.cumsum(jnp.stack([real, imaginary], -1), 1)


def complex_pairs_fixed(a, b):
    return jnp.stack([jnp.cumsum(a[0] * b[0] - a[1] * b[1], 1), jnp.cumsum(a[0] * b[1] + a[1] * b[0], 1)])


# ---- few features


def narrow_step(w1, w2, x, y):
    """A training step of a model of width 16, its activations computed again."""

    @jax.checkpoint
    def layer(h, w):
        return jnp.tanh(h @ w)

    def loss(ws):
        h = x
        for _ in range(4):
            h = layer(layer(h, ws[0]), ws[1])
        return ((h - y) ** 2).mean()

    g1, g2 = jax.grad(loss)((w1, w2))
    return w1 - 0.1 * g1, w2 - 0.1 * g2


def narrow_step_fixed(w1, w2, x, y):
    """Features first: eight groups of rows side by side, with weights on the diagonal."""

    @jax.checkpoint
    def layer(h, w):
        return jnp.tanh(h @ jnp.kron(jnp.eye(8, dtype=w.dtype), w))

    def loss(ws):
        h = x
        for _ in range(4):
            h = layer(layer(h, ws[0]), ws[1])
        return ((h - y) ** 2).mean()

    g1, g2 = jax.grad(loss)((w1, w2))
    return w1 - 0.1 * g1, w2 - 0.1 * g2


def point_net(points, w1, w2):
    h = jax.nn.relu(points @ w1)
    return jax.nn.relu(h @ w2).max(1)


def point_net_fixed(points, w1, w2):
    h = jax.nn.relu(jnp.einsum("cbn,cd->bdn", points, w1))
    return jax.nn.relu(jnp.einsum("bdn,de->ebn", h, w2)).max(-1).T


def messages(nodes, edges):
    source, target = edges[:, 0], edges[:, 1]
    sent = jnp.tanh(nodes[source] - nodes[target])
    return nodes + jnp.zeros_like(nodes).at[target].add(sent)


def messages_fixed(nodes, edges):
    source, target = edges
    rows = []
    for row in nodes:
        rows.append(row + jnp.zeros_like(row).at[target].add(jnp.tanh(row[source] - row[target])))
    return jnp.stack(rows)


def series(x):
    mean = jnp.cumsum(x, 1) / jnp.arange(1, x.shape[1] + 1)[:, None]
    return (x - mean) * jax.nn.sigmoid(mean)


def series_fixed(x):
    mean = jnp.cumsum(x, -1) / jnp.arange(1, x.shape[-1] + 1)
    return (x - mean) * jax.nn.sigmoid(mean)


def sort_few(x):
    return jnp.sort(x, -1)


def sort_few_fixed(x):
    rows = list(x)
    for turn in range(8):
        for i in range(turn % 2, 7, 2):
            rows[i], rows[i + 1] = jnp.minimum(rows[i], rows[i + 1]), jnp.maximum(rows[i], rows[i + 1])
    return jnp.stack(rows)


# ---- attention


def decode(keys, values, key, value, query, at):
    """A step of decoding: a row into the caches, attention over them."""
    keys = lax.dynamic_update_slice(keys, key[:, None], (0, at[0], 0, 0))
    values = lax.dynamic_update_slice(values, value[:, None], (0, at[0], 0, 0))
    scores = jnp.einsum("bhd,bshd->bhs", query, keys) / 8
    out = jnp.einsum("bhs,bshd->bhd", jax.nn.softmax(scores.astype(jnp.float32)).astype(values.dtype), values)
    return keys, values, out


def decode_fixed(keys, values, key, value, query, at):
    """Caches as [b, h, d, s]: positions are the lanes."""
    keys = lax.dynamic_update_slice(keys, key[..., None], (0, 0, 0, at[0]))
    values = lax.dynamic_update_slice(values, value[..., None], (0, 0, 0, at[0]))
    scores = jnp.einsum("bhd,bhds->bhs", query, keys) / 8
    out = jnp.einsum("bhs,bhds->bhd", jax.nn.softmax(scores.astype(jnp.float32)).astype(values.dtype), values)
    return keys, values, out


def caches_last(keys, values, *rest):
    return keys.transpose(0, 2, 3, 1), values.transpose(0, 2, 3, 1), *rest


def caches_back(result):
    return result[0].transpose(0, 3, 1, 2), result[1].transpose(0, 3, 1, 2), result[2]


def moe(x, gates, w):
    """Experts by a one-hot array of tokens, experts and places."""
    experts, capacity = gates.shape[1], x.shape[0] // gates.shape[1]
    expert = jnp.argmax(x @ gates, -1)
    mask = jax.nn.one_hot(expert, experts)
    place = ((jnp.cumsum(mask, 0) - 1) * mask).sum(-1).astype(jnp.int32)
    dispatch = mask[:, :, None] * jax.nn.one_hot(place, capacity)[:, None, :]
    given = jnp.einsum("td,tec->ecd", x, dispatch)
    return jnp.einsum("ecd,tec->td", jnp.einsum("ecd,edf->ecf", given, w), dispatch)


def moe_fixed(x, gates, w):
    experts, capacity = gates.shape[1], x.shape[0] // gates.shape[1]
    expert = jnp.argmax(x @ gates, -1)
    count = jnp.cumsum((expert[None] == jnp.arange(experts)[:, None]).astype(jnp.int32), 1)
    place = sum(jnp.where(expert == e, count[e], 0) for e in range(experts)) - 1
    slot = jnp.where(place < capacity, expert * capacity + place, experts * capacity)
    given = jnp.zeros((experts * capacity, x.shape[1]), x.dtype).at[slot].set(x, mode="drop")
    out = jnp.einsum("ecd,edf->ecf", given.reshape(experts, capacity, -1), w).reshape(experts * capacity, -1)
    return out.at[slot].get(mode="fill", fill_value=0)


def columns_of(*which):
    def adapt(*arguments):
        return tuple(jnp.moveaxis(a, -1, 0) if i in which else a for i, a in enumerate(arguments))

    return adapt


def packed(width):
    return lambda table, *rest: (pack(table, width), *rest)


def rows_last(result):
    return jnp.moveaxis(result, 0, -1)


CASES = [
    Case(embedding, ("f32[131072,64]", "s32[4096,50]<131072"), ("f32[64,64]", "s32[16,5]<64"), embedding_fixed, packed(64),
         large=("f32[33554432,64]", "s32[4096,50]<131072")),
    Case(embedding_narrow, ("f32[524288,16]", "s32[4096,50]<524288"), ("f32[64,16]", "s32[16,5]<64"), embedding_narrow_fixed, packed(16)),
    Case(embedding_bytes, ("s8[1048576,32]", "f32[32]", "s32[4096,50]<1048576"), ("s8[64,32]", "f32[32]", "s32[16,5]<64"),
         embedding_bytes_fixed, packed(32)),
    Case(dlrm, ("f32[26,16384,32]", "s32[2048,26]<16384", "f32[2048,32]"), ("f32[26,64,32]", "s32[16,26]<64", "f32[16,32]"), dlrm_fixed,
         lambda t, i, d: (t.reshape(26, -1, 128), i.T, d.T), lambda r: jnp.moveaxis(r, -1, 0)),
    Case(one_hot_weights, ("s32[524288]<12", "f32[12,64]"), ("s32[64]<12", "f32[12,64]"), one_hot_weights_fixed),
    Case(one_hot_loss, ("f32[1048576,10]", "s32[1048576]<10"), ("f32[64,10]", "s32[64]<10"), one_hot_loss_fixed, columns_of(0)),
    Case(class_sums, ("f32[524288,24]", "s32[524288]<8"), ("f32[64,24]", "s32[64]<8"), class_sums_fixed, columns_of(0)),
    Case(segment_counts, ("f32[1048576,3]", "f32[12,3]"), ("f32[64,3]", "f32[12,3]"), segment_counts_fixed, columns_of(0)),
    Case(convolution, ("f32[8,512,512,2]", "f32[3,3,2,2]"), ("f32[2,8,8,2]", "f32[3,3,2,2]"), convolution_fixed, columns_of(0), rows_last),
    Case(patches, ("f32[32,224,224,3]", "f32[768,256]"), ("f32[2,32,32,3]", "f32[768,8]"), patches_fixed,
         lambda i, w: (i.transpose(0, 3, 1, 2), w)),
    Case(colours, ("f32[16,512,512,3]", "f32[3,3]", "f32[3]"), ("f32[2,8,8,3]", "f32[3,3]", "f32[3]"), colours_fixed, columns_of(0), rows_last),
    Case(complex_pairs, ("f32[256,4096,2]", "f32[256,4096,2]"), ("f32[4,16,2]", "f32[4,16,2]"), complex_pairs_fixed, columns_of(0, 1), rows_last),
    Case(narrow_step, ("f32[16,16]", "f32[16,16]", "f32[262144,16]", "f32[262144,16]"),
         ("f32[16,16]", "f32[16,16]", "f32[64,16]", "f32[64,16]"), narrow_step_fixed,
         lambda a, b, x, y: (a, b, x.reshape(-1, 128), y.reshape(-1, 128)), large=("f32[16,16]", "f32[16,16]", "f32[134217728,16]", "f32[134217728,16]")),
    Case(point_net, ("f32[64,4096,3]", "f32[3,16]", "f32[16,32]"), ("f32[4,16,3]", "f32[3,16]", "f32[16,32]"), point_net_fixed, columns_of(0)),
    Case(messages, ("f32[65536,12]", "s32[262144,2]<65536"), ("f32[64,12]", "s32[256,2]<64"), messages_fixed, columns_of(0, 1), rows_last),
    Case(series, ("f32[1024,2048,5]",), ("f32[4,16,5]",), series_fixed, lambda x: (jnp.swapaxes(x, 1, 2),), lambda r: jnp.swapaxes(r, 1, 2)),
    Case(sort_few, ("f32[1048576,8]",), ("f32[64,8]",), sort_few_fixed, columns_of(0), rows_last),
    Case(decode, ("bf16[8,2048,8,64]", "bf16[8,2048,8,64]", "bf16[8,8,64]", "bf16[8,8,64]", "bf16[8,8,64]", "s32[1]<2048"),
         ("bf16[2,16,2,64]", "bf16[2,16,2,64]", "bf16[2,2,64]", "bf16[2,2,64]", "bf16[2,2,64]", "s32[1]<16"), decode_fixed, caches_last,
         caches_back, donate=(0, 1), loose=2e-2),
    Case(moe, ("f32[2048,128]", "f32[128,8]", "f32[8,128,128]"), ("f32[64,16]", "f32[16,8]", "f32[8,16,16]"), moe_fixed, loose=1e-2),
]  # fmt: skip
