#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_dumps.py - test data made by real compilers: HLO text, memory figures, tile choices, memory reports.

The TPU compiler of the `libtpu` wheel compiles for a TPU that is not there ("ahead of time"), so everything below
runs on any x86-64 Linux machine:

    pip install "jax[tpu]==0.10.2"                     brings libtpu 0.0.42.1
    python tools/make_dumps.py dumps                   tests/data/hlo/{tpu,cpu}/NAME.hlo.txt and NAME.json
    python tools/make_dumps.py tiles                   tests/data/tpu_tiles.tsv
    python tools/make_dumps.py report onehot           one out-of-memory report, on stdout; --log: the compiler's log
    python tools/make_dumps.py table reshaped          tests/data/tables/NAME.{table,hlo,assignment}.txt
    python tools/make_dumps.py check                   needs no jax: compares the files with the rules in
                                                       tests/data/hlo/README.md and prints the figures

Run it from the top of the tree, so that the file names in the dumps are "tools/make_dumps.py". The detailed report
("Largest program allocations in hbm") is in the error text of older compilers only:

    pip install "jax[tpu]==0.6.2"                      brings libtpu 0.0.17.1

A dump made with that pair has names that end in "-2025"; `dumps` makes those instead when it finds jax below 0.7.
"""
import argparse
import base64
import contextlib
import importlib.metadata
import itertools
import json
import os
import pathlib
import random
import re
import sys
import tempfile

ROOT = pathlib.Path("tests/data")
TARGETS = ["v2:2x2", "v3:2x2", "v4:2x2x1", "v5e:2x2", "v5p:2x2x1", "v6e:2x2", "tpu7x:2x2x1"]

# ------------------------------------------------------------------------------------------------------------------
# The compiler
# ------------------------------------------------------------------------------------------------------------------


def start(log_dir="disabled"):
    """Imports jax so that it neither looks for devices nor asks a metadata server."""
    os.environ.update(JAX_PLATFORMS="cpu", TPU_SKIP_MDS_QUERY="1", TPU_ACCELERATOR_TYPE="v5litepod-4",
                      TPU_WORKER_HOSTNAMES="localhost", TPU_WORKER_ID="0", TPU_LOG_DIR=log_dir)
    global jax, jnp, lax, np, old
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax import lax
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/(?=tools/)")
    old = tuple(map(int, jax.__version__.split(".")[:2])) < (0, 7)


def devices(target):
    from jax.experimental import topologies
    return topologies.get_topology_desc(platform="tpu", topology_name=target).devices


def on_one_device(target):
    from jax.sharding import SingleDeviceSharding
    one = SingleDeviceSharding(jax.devices("cpu")[0] if target == "cpu" else devices(target)[0])
    return dict(in_shardings=one, out_shardings=one)


def arg(kind, *extents):
    """An argument without data: arg("bf16", 3, 5)."""
    return jax.ShapeDtypeStruct(extents, TYPES()[kind])


def TYPES():
    """Element types by their HLO names, as far as this jax has them."""
    named = dict(pred="bool_", f32="float32", f64="float64", f16="float16", bf16="bfloat16", c64="complex64",
                 c128="complex128", s2="int2", u2="uint2", s4="int4", u4="uint4", f4e2m1fn="float4_e2m1fn")
    named.update({f"{a}{n}": f"{b}{n}" for a, b in (("s", "int"), ("u", "uint")) for n in (8, 16, 32, 64)})
    named.update({f"f8{x}": f"float8_{x}" for x in ("e4m3fn", "e5m2", "e4m3b11fnuz", "e8m0fnu")})
    return {k: getattr(jnp, v) for k, v in named.items() if hasattr(jnp, v)}


# ------------------------------------------------------------------------------------------------------------------
# Models: each returns (function, arguments, further options of jit). Sizes are awkward on purpose.
# ------------------------------------------------------------------------------------------------------------------


def dense(x, w, b):
    return x @ w + b


def mlp(kind):
    def forward(params, x):
        for i, (w, b) in enumerate(params):
            with jax.named_scope(f"mlp/dense_{i}"):
                x = dense(x, w, b)
                x = jax.nn.relu(x) if i + 1 < len(params) else x
        return x
    sizes = (18, 37, 10, 3)
    params = [(arg(kind, a, b), arg(kind, b)) for a, b in zip(sizes, sizes[1:])]
    return forward, (params, arg(kind, 33, 18)), {}


def mlp_train(kind):
    forward, (params, x), _ = mlp(kind)

    def train_step(params, x, labels, rate):
        def loss(params):
            with jax.named_scope("loss"):
                logp = jax.nn.log_softmax(forward(params, x).astype(jnp.float32))
                return -jnp.mean(jnp.take_along_axis(logp, labels[:, None], axis=1))
        value, grads = jax.value_and_grad(loss)(params)
        return jax.tree.map(lambda p, g: p - rate.astype(p.dtype) * g, params, grads), value
    return train_step, (params, x, arg("s32", 33), arg("f32")), dict(donate_argnums=0)


def mlp_quantised(kind):
    def forward(x, w1, s1, w2, s2):
        with jax.named_scope("quantised/dense_0"):
            w1 = w1.astype(jnp.int8)
            h = lax.dot_general(x, w1, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32)
            h = jax.nn.relu(h.astype(jnp.float32) * s1)
        with jax.named_scope("quantised/requantise"):
            h = jnp.clip(jnp.round(h), -127, 127).astype(jnp.int8)
        with jax.named_scope("quantised/dense_1"):
            w2 = w2.astype(jnp.int8)
            y = lax.dot_general(h, w2, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32)
            return (y.astype(jnp.float32) * s2).astype(jnp.bfloat16), h
    return forward, (arg("s8", 50, 96), arg(kind, 96, 200), arg("f32", 200), arg(kind, 200, 10), arg("f32")), {}


def block_params(kind, d):
    return dict(qkv=arg(kind, d, 3, 3, d // 3), out=arg(kind, d, d), up=arg(kind, d, 10 * d // 4),
                down=arg(kind, 10 * d // 4, d), norm1=arg("f32", d), norm2=arg("f32", d))


def block(kind):
    """One transformer block: 3 heads of 24, 50 positions, a pred mask."""
    def norm(x, scale):
        y = x.astype(jnp.float32)
        return (y * lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6) * scale).astype(x.dtype)

    def forward(p, x, mask):
        with jax.named_scope("block/attention"):
            q, k, v = jnp.einsum("btd,dshe->sbhte", norm(x, p["norm1"]), p["qkv"])
            score = jnp.einsum("bhte,bhse->bhts", q, k).astype(jnp.float32) * 24 ** -0.5
            score = jnp.where(mask[:, None], score, -1e9)
            y = jnp.einsum("bhts,bhse->bthe", jax.nn.softmax(score).astype(x.dtype), v)
            x = x + y.reshape(x.shape) @ p["out"]
        with jax.named_scope("block/mlp"):
            return x + jax.nn.gelu(norm(x, p["norm2"]) @ p["up"]) @ p["down"]
    return forward, (block_params(kind, 72), arg(kind, 2, 50, 72), arg("pred", 2, 50, 50)), {}


def block_train(kind):
    forward, (params, x, mask), _ = block(kind)

    def train_step(params, momentum, x, mask):
        value, grads = jax.value_and_grad(lambda p: jnp.mean(forward(p, x, mask).astype(jnp.float32) ** 2))(params)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g.astype(m.dtype), momentum, grads)
        return jax.tree.map(lambda p, m: p - (0.01 * m).astype(p.dtype), params, momentum), momentum, value
    momentum = {k: arg("f32", *v.shape) for k, v in params.items()}
    return train_step, (params, momentum, x, mask), dict(donate_argnums=(0, 1))


def conv(kind, count=5, side=28):
    """Three channels in, 20 and 10 in between, 18 classes."""
    def forward(p, images):
        x = images
        for i, (w, b) in enumerate(p["conv"]):
            with jax.named_scope(f"net/conv_{i}"):
                x = lax.conv_general_dilated(x, w, (1 + i, 1 + i), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
                x = jax.nn.relu(x + b)
        with jax.named_scope("net/pool"):
            x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        with jax.named_scope("net/head"):
            return dense(x.reshape(x.shape[0], -1), *p["head"])
    p = dict(conv=[(arg(kind, 3, 3, 3, 20), arg(kind, 20)), (arg(kind, 3, 3, 20, 10), arg(kind, 10))],
             head=(arg(kind, (side // 4) ** 2 * 10, 18), arg(kind, 18)))
    return forward, (p, arg(kind, count, side, side, 3)), {}


def conv_train(kind):
    """Images large enough that activations do not fit in vector memory."""
    forward, (p, images), _ = conv(kind, 50, 112)

    def train_step(p, images, labels):
        def loss(p):
            with jax.named_scope("net/loss/one_hot"):
                hot = jax.nn.one_hot(labels, 18, dtype=jnp.float32)
            with jax.named_scope("net/loss"):
                return -jnp.mean(jnp.sum(jax.nn.log_softmax(forward(p, images).astype(jnp.float32)) * hot, -1))
        value, grads = jax.value_and_grad(loss)(p)
        return value, jax.tree.map(lambda a, g: a - 0.1 * g, p, grads)
    return train_step, (p, images, arg("s32", 50)), {}


def odd(kind):
    """Many small arguments of every sort; most results are one element-wise operation away from them."""
    shapes = [(), (1,), (3,), (10,), (129,), (257,), (1001,), (5000,), (1, 1), (3, 5), (7, 3), (18, 10), (9, 129),
              (33, 200), (64, 256), (2, 3, 5), (1, 9, 100), (5, 33, 3), (2, 3, 4, 5), (2, 1, 3, 1, 5), (0, 5)]
    kinds = {"odd": ["f32", "s32", "bf16", "s8", "u8", "pred", "f16"],
             "narrow": ["s4", "u4", "f8e4m3fn", "f8e5m2", "s16", "u16"],
             "wide": ["f64", "s64", "u64", "c64", "u32"]}[kind]

    def touch(groups):
        return {k: [v ^ True if k == "pred" else (-v.astype(jnp.float32)).astype(v.dtype) if k[0] == "f" and k[1] == "8"
                    else v.astype(jnp.int32) + 1 if k in ("s4", "u4") else v + jnp.ones((), v.dtype)
                    for v in vs] for k, vs in groups.items()}
    step = 6 if kind == "wide" else 3
    return touch, ({k: [arg(k, *s) for s in shapes[i % step::step]] for i, k in enumerate(kinds)},), {}


def loops(kind):
    """while, conditional, sort, top_k, gather, scatter, a random number, a dynamic slice."""
    def run(xs, w, table, ids, flag, seed):
        def cell(h, x):
            with jax.named_scope("rnn/cell"):
                h = jnp.tanh(x + h @ w)
                return h, h[:, :3]
        with jax.named_scope("rnn"):
            h, ys = lax.scan(cell, jnp.zeros((xs.shape[1], w.shape[0]), xs.dtype), xs)
        with jax.named_scope("pick"):
            h = lax.cond(flag, lambda a: jnp.sort(a, axis=1), lambda a: a[:, ::-1], h)
            best, where = lax.top_k(h, 3)
        with jax.named_scope("table"):
            table = table.at[ids].add(best[0, 0])
            rows = table[ids]
        with jax.named_scope("noise"):
            bits = jax.random.uniform(jax.random.wrap_key_data(seed), (7, 3))
        return h, ys, best, where, table, rows, bits
    return run, (arg(kind, 11, 7, 18), arg(kind, 18, 18), arg(kind, 100, 10), arg("s32", 13), arg("pred"),
                 arg("u32", 2)), {}


def sharded(kind, target):
    """Four devices: all-reduce, all-gather, reduce-scatter, collective-permute, all-to-all."""
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
    mesh = Mesh(np.array(devices(target)).reshape(2, 2), ("data", "model"))

    def on(*names):
        return NamedSharding(mesh, P(*names))

    def forward(x, w1, w2):
        with jax.named_scope("sharded/mlp"):
            y = jax.nn.gelu(x @ w1) @ w2
        with jax.named_scope("sharded/relayout"):
            z = jnp.roll(lax.with_sharding_constraint(y, on(None, ("data", "model"))), 1, axis=1)
        return lax.with_sharding_constraint(z, on(("data", "model"), None)), jnp.sum(y, axis=0)
    return (forward, (arg(kind, 132, 72), arg(kind, 72, 200), arg(kind, 200, 72)),
            dict(in_shardings=(on("data"), on(None, "model"), on("model")),
                 out_shardings=(on(("data", "model")), on())))


def hosted(kind, target):
    """A weight and a saved activation that live in host memory (memory space 5)."""
    from jax.sharding import SingleDeviceSharding
    one = devices(target)[0]
    hbm, host = (SingleDeviceSharding(one, memory_kind=m) for m in ("device", "pinned_host"))

    def forward(x, w):
        with jax.named_scope("hosted/fetch"):
            w = jax.device_put(w, hbm)
        with jax.named_scope("hosted/dense"):
            y = x @ w
        with jax.named_scope("hosted/save"):
            return y, jax.device_put(jnp.tanh(y), host)
    return (forward, (arg(kind, 1000, 520), arg(kind, 520, 1030)),
            dict(in_shardings=(hbm, host), out_shardings=(hbm, host)))


def kernel(kind):
    """A hand-written kernel: one custom-call whose body travels in backend_config."""
    from jax.experimental import pallas as pl

    def body(x, y, out):
        out[...] = x[...] * 2 + y[...]

    def forward(x, y):
        with jax.named_scope("kernel/axpy"):
            call = pl.pallas_call(body, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), grid=(4,),
                                  in_specs=[pl.BlockSpec((16, 130), lambda i: (i, 0))] * 2,
                                  out_specs=pl.BlockSpec((16, 130), lambda i: (i, 0)))
            return call(x, y)
    return forward, (arg(kind, 64, 130), arg(kind, 64, 130)), {}


# name, target, model, its arguments. The name says model, element type, and the target if it is not v5e.
DUMPS = [
    ("mlp-f32", "v5e:2x2", mlp, ("f32",)),
    ("mlp-bf16", "v5e:2x2", mlp, ("bf16",)),
    ("mlp-s8", "v5e:2x2", mlp_quantised, ("s8",)),
    ("mlp-s4", "v5e:2x2", mlp_quantised, ("s4",)),
    ("mlp-train-f32", "v5e:2x2", mlp_train, ("f32",)),
    ("mlp-f32-v3", "v3:2x2", mlp, ("f32",)),
    ("mlp-s8-v3", "v3:2x2", mlp_quantised, ("s8",)),
    ("mlp-s8-v6e", "v6e:2x2", mlp_quantised, ("s8",)),
    ("mlp-bf16-7x", "tpu7x:2x2x1", mlp, ("bf16",)),
    ("block-f32", "v5e:2x2", block, ("f32",)),
    ("block-bf16-v6e", "v6e:2x2", block, ("bf16",)),
    ("block-train-bf16", "v5e:2x2", block_train, ("bf16",)),
    ("conv-f32", "v5e:2x2", conv, ("f32",)),
    ("conv-bf16-v4", "v4:2x2x1", conv, ("bf16",)),
    ("conv-train-bf16", "v5e:2x2", conv_train, ("bf16",)),
    ("odd", "v5e:2x2", odd, ("odd",)),
    ("narrow", "v5e:2x2", odd, ("narrow",)),
    ("wide", "v5e:2x2", odd, ("wide",)),
    ("loops-f32", "v5e:2x2", loops, ("f32",)),
    ("sharded-bf16", "v5e:2x2", sharded, ("bf16", "v5e:2x2")),
    ("hosted-f32", "v5e:2x2", hosted, ("f32", "v5e:2x2")),
    ("kernel-f32", "v5e:2x2", kernel, ("f32",)),
    ("mlp-f32", "cpu", mlp, ("f32",)),
    ("mlp-s8", "cpu", mlp_quantised, ("s8",)),
    ("mlp-train-bf16", "cpu", mlp_train, ("bf16",)),
    ("block-bf16", "cpu", block, ("bf16",)),
    ("conv-f32", "cpu", conv, ("f32",)),
    ("odd", "cpu", odd, ("odd",)),
    ("narrow", "cpu", odd, ("narrow",)),
    ("loops-f32", "cpu", loops, ("f32",)),
]
DUMPS_2025 = [
    ("mlp-bf16-2025", "v5e:2x2", mlp, ("bf16",)),
    ("block-f32-2025", "v5e:2x2", block, ("f32",)),
    ("conv-f32-2025", "v5e:2x2", conv, ("f32",)),
    ("sharded-bf16-2025", "v5e:2x2", sharded, ("bf16", "v5e:2x2")),
]

FIGURES = ["argument_size_in_bytes", "output_size_in_bytes", "alias_size_in_bytes", "temp_size_in_bytes",
           "generated_code_size_in_bytes", "peak_memory_in_bytes", "host_argument_size_in_bytes",
           "host_output_size_in_bytes", "host_alias_size_in_bytes", "host_temp_size_in_bytes",
           "host_generated_code_size_in_bytes"]


def compile_model(target, model, args):
    function, values, options = model(*args)
    if "in_shardings" not in options:
        options = {**on_one_device(target), **options}
    return jax.jit(function, **options).lower(*values).compile()


def neutral(text):
    """Refuses text that names anything but this script."""
    table = re.search(r"^FileNames\n(.*?)\n\n", text, re.M | re.S)
    files = set(re.findall(r'source_file="([^"]*)"', text)) | set(re.findall(r'"(.*)"', table[1] if table else ""))
    assert files <= {"tools/make_dumps.py"}, files
    for body in re.findall(r'"body":"([A-Za-z0-9+/=]*)"', text):
        assert not re.search(rb"[^\0]*/[^\0]*\.py", base64.b64decode(body).replace(b"tools/make_dumps.py", b"")), body
    assert not re.search(r'["\s=](/(home|root|tmp|usr|work|opt|var)/|[^ ]*site-packages)', text)
    return text


def versions(target):
    names = ["jax", "jaxlib"] + ([] if target == "cpu" else ["libtpu"])
    return {n: importlib.metadata.version(n) for n in names}


def make_dumps(only):
    start()
    for name, target, model, args in DUMPS_2025 if old else DUMPS:
        if only and name not in only:
            continue
        wide = jax.enable_x64(True) if args == ("wide",) else contextlib.nullcontext()
        with wide:
            compiled = compile_model(target, model, args)
        stats = compiled.memory_analysis()
        folder = ROOT / "hlo" / ("cpu" if target == "cpu" else "tpu")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.hlo.txt").write_text(neutral(compiled.as_text()))
        facts = dict(model=f"{model.__name__}({', '.join(args)})", target=target, made_with=versions(target),
                     memory_analysis={f: getattr(stats, f) for f in FIGURES if hasattr(stats, f)})
        (folder / f"{name}.json").write_text(json.dumps(facts, indent=1) + "\n")
        print(folder / name)


# ------------------------------------------------------------------------------------------------------------------
# Tile choice
# ------------------------------------------------------------------------------------------------------------------


FULL = ["f32", "bf16", "s8", "s4", "s2", "c64"]  # one type of each width is asked about every shape, the others a fifth


def tile_shapes(kind):
    """Shapes to ask about: a grid for ranks 0 to 3, then random ones with a fixed seed up to rank 6."""
    one = (1, 2, 100, 127, 128, 129, 255, 256, 257, 512, 513, 1000, 1024, 1025, 2048, 2049, 5000)
    second = (1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 32, 33, 64, 128)
    shapes = list(itertools.product(second, (1, 3, 100, 128, 129, 200, 256, 1024)))
    shapes += itertools.product((1, 2, 5), (1, 2, 3, 4, 5, 8, 9, 32, 33), (1, 3, 100, 128, 200))
    pick = random.Random(20261121)
    pool = (1, 1, 2, 3, 4, 5, 7, 8, 9, 10, 16, 18, 32, 33, 64, 100, 128, 129)
    for rank, count in ((3, 60), (4, 60), (5, 30), (6, 10)):
        shapes += [tuple(pick.choice(pool[:len(pool) - 3 * (rank - 3)]) for _ in range(rank)) for _ in range(count)]
    few = [(), (0,), (0, 5), (5, 0)] + [(n,) for n in one]
    return list(dict.fromkeys(few + (shapes if kind in FULL else shapes[::5])))


def parameter_shapes(text):
    """The parameters' and results' shapes of the entry computation, as text with layouts."""
    inner = re.search(r"entry_computation_layout=\{(.*?)\}(?:, [a-z_]+=|\n)", text, re.S)[1]
    left, right = re.sub(r"/\*.*?\*/", "", inner).split("->")
    return [[a + b for a, b in re.findall(r"([a-z][a-z0-9]*\[[^\]]*\])(\{[^}]*\})?", side)] for side in (left, right)]


def chosen(target, kind, shapes):
    """The layouts that the compiler gives to arguments of a program that does not use them."""
    program = jax.jit(lambda values: jnp.int32(0), keep_unused=True, **on_one_device(target))
    return parameter_shapes(program.lower([arg(kind, *s) for s in shapes]).compile().as_text())[0]


def make_tiles():
    start()
    found = {}
    with jax.enable_x64(True):
        for kind in TYPES():
            for target in TARGETS:
                generation = target.split(":")[0]
                for text in chosen(target, kind, tile_shapes(kind)):
                    shape, layout = re.fullmatch(r"([^{]*)(.*)", text).groups()
                    found.setdefault((kind, shape, layout), []).append(generation)
    order = {k + "[" + ",".join(map(str, s)) + "]": i for i, (k, s) in
             enumerate((k, s) for k in TYPES() for s in tile_shapes(k))}
    rows = sorted(found, key=lambda r: (order[r[1]], found[r]))
    made = ", ".join(f"{n} {v}" for n, v in versions("tpu").items())
    with open(ROOT / "tpu_tiles.tsv", "w") as out:
        out.write("# SPDX-License-Identifier: Apache-2.0\n"
                  f"# Layouts that the TPU compiler ({made}) gives to program arguments;\n"
                  "# made by tools/make_dumps.py tiles.\n"
                  "# shape\ttargets\tlayout\n")
        for row in rows:
            out.write(f"{row[1]}\t{','.join(found[row])}\t{row[2]}\n")


# ------------------------------------------------------------------------------------------------------------------
# Out-of-memory reports
# ------------------------------------------------------------------------------------------------------------------


def report_onehot(rows=30000000):
    """A one-hot matrix of 12 columns that two readers want in rows: 128 columns are stored for each 12."""
    def lookup(ids, table):
        with jax.named_scope("model/embed/one_hot"):
            hot = jax.nn.one_hot(ids, 12, dtype=jnp.int32)
        with jax.named_scope("model/embed/window"):
            hot = lax.optimization_barrier(hot).reshape(-1, 48)
            most = lax.reduce(lax.optimization_barrier(hot + 1), jnp.int32(0), lax.max, (0,))
            return most, hot.astype(jnp.float32) @ table
    return "v5e:2x2", lookup, (arg("s32", rows), arg("f32", 48, 18))


def report_single():
    """The same with more rows: now one array alone is larger than the memory, and the message is another one."""
    return report_onehot(41943040)


def report_vmem():
    """A kernel that takes its arguments whole: they do not fit in vector memory. 130 columns are stored as 256."""
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import tpu as pltpu

    def body(x, y, out):
        out[...] = x[...] * y[...]

    def scale(x, y):
        with jax.named_scope("model/kernel/scale"):
            whole = pl.BlockSpec(memory_space=pltpu.VMEM)
            return pl.pallas_call(body, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), in_specs=[whole] * 2,
                                  out_specs=whole)(x, y)
    return "v5e:2x2", scale, (arg("f32", 60000, 130), arg("f32", 60000, 130))


def report_segmentation():
    """A training step of a net that labels pixels: 20 and 12 channels on large images."""
    def loss(p, images, labels):
        x = images
        for i, w in enumerate(p):
            with jax.named_scope(f"model/layer_{i}"):
                x = lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
                x = jax.nn.relu(x)
        with jax.named_scope("model/loss/one_hot"):
            hot = jax.nn.one_hot(labels, 12, dtype=jnp.float32)
        with jax.named_scope("model/loss"):
            return -jnp.mean(jnp.sum(jax.nn.log_softmax(x) * hot, -1))
    p = [arg("f32", 3, 3, 3, 20), arg("f32", 3, 3, 20, 12)]
    return "v5e:2x2", jax.value_and_grad(loss), (p, arg("f32", 288, 448, 640, 3), arg("s32", 288, 448, 640))


def table_reshaped(rows=1024):
    """Arrays of equal padded size that use one stretch of memory in turn: 21 and 22 columns are 24 rows of tiles."""
    def step(x):
        with jax.named_scope("model/sort"):
            x = lax.optimization_barrier(lax.sort(x, dimension=0))
        with jax.named_scope("model/widen"):
            x = lax.optimization_barrier(jnp.concatenate([x, x[..., :1]], -1))
        with jax.named_scope("model/flatten"):
            x = lax.optimization_barrier(jnp.transpose(x.reshape(rows, -1)))
        return x.astype(jnp.float32), x.sum(1)
    return "v5e:2x2", step, (arg("s32", rows, 3136, 21),)


def make_table(name, folder):
    """Writes the memory table of a program that fits, and its HLO and buffer assignment, which know the layouts."""
    with tempfile.TemporaryDirectory() as dump:
        os.environ["XLA_FLAGS"] = f"--xla_dump_to={dump}"
        start()
        target, function, values = globals()["table_" + name]()
        jax.jit(function, **on_one_device(target)).lower(*values).compile()
        for end, kept in (("-memory-usage-report", "table"), ("", "hlo"), ("-buffer-assignment", "assignment")):
            text = next(pathlib.Path(dump).glob(f"*.after_optimizations{end}.txt")).read_text()
            (pathlib.Path(folder) / f"{name}.{kept}.txt").write_text(neutral(text))


def make_report(name, from_log):
    """Prints the text of the compiler's error, or the entry in its log file, where newer ones put the long form."""
    with tempfile.TemporaryDirectory() as logs:
        start(logs)
        target, function, values = globals()["report_" + name]()
        try:
            compiled = jax.jit(function, **on_one_device(target)).lower(*values).compile()
        except Exception as error:
            text = str(error)
            if from_log:
                logged = "".join(p.read_text() for p in pathlib.Path(logs).glob("*.ERROR.*"))
                text = re.search(r"XLA:TPU compile permanent error\. Ran out.*?(?=\n+[EWI]\d{4} |\Z)", logged, re.S)[0]
            print(neutral(text).rstrip())
        else:
            sys.exit(f"it fits: {compiled.memory_analysis()}")


# ------------------------------------------------------------------------------------------------------------------
# Checks: no jax below this line
# ------------------------------------------------------------------------------------------------------------------


BITS = dict(pred=8, s2=2, u2=2, s4=4, u4=4, f4e2m1fn=4, s8=8, u8=8, f8e4m3fn=8, f8e5m2=8, f8e4m3b11fnuz=8, f8e8m0fnu=8,
            s16=16, u16=16, f16=16, bf16=16, s32=32, u32=32, f32=32, s64=64, u64=64, f64=64, c64=64, c128=128)


def up(n, unit):
    return -(-n // unit) * unit


def product(numbers):
    result = 1
    for n in numbers:
        result *= n
    return result


def array_size(text):
    """Bytes of one array as XLA counts them (ShapeUtil::ArraySize): the first tile pads, later ones do not."""
    kind, extents, order, rest = re.fullmatch(r"([a-z0-9]+)\[([\d,]*)\](?:\{([\d,]*):?(.*)\})?", text).groups()
    extents = [int(x) for x in extents.split(",") if x]
    bounds = [extents[int(d)] for d in reversed((order or "").split(",")) if d] or extents
    tile = re.match(r"T\(([\d,]+)\)", rest or "")
    if tile and 0 not in bounds:
        sides = [int(x) for x in tile[1].split(",")]
        bounds = [1] * (len(sides) - len(bounds)) + bounds
        bounds[-len(sides):] = map(up, bounds[-len(sides):], sides)
    packed = re.search(r"E\((\d+)\)", rest or "")
    return up(product(bounds) * (int(packed[1]) if packed else max(8, BITS[kind])), 8) // 8


def tuple_table(target, leaves):
    """Bytes of the index table of a tuple of results; a single result has none."""
    if leaves == 1:
        return 0
    generation = target.split(":")[0]
    if generation == "cpu":
        return 8 * leaves
    return up(4 * leaves, {"v2": 1024, "v3": 1024, "v4": 512, "v5e": 512}.get(generation, 32))


def tpu_layout(generation, kind, extents):
    """The layout of a program argument, by the rule in tests/data/hlo/README.md."""
    early = generation in ("v2", "v3")
    bits = min(32, max(8, BITS[kind]) if early else BITS[kind])  # wider types are laid out as if they had 32
    per_word = 32 // bits
    least = {2: 16, 4: 8}.get(BITS[kind], 2 * per_word) if early else per_word
    packed = f"E({bits})" if bits < 8 else ""
    rank = len(extents)
    if 0 in extents:
        return "{" + ",".join(map(str, reversed(range(rank)))) + (":" + packed if packed else "") + "}"
    if rank == 0:
        return "{:T(%d)%s}" % ((1024 if early else 512) * 8 // bits, packed)
    if rank == 1:
        side = 128 * least if BITS[kind] != 2 or not early else 1024
        while side < max(1024, 128 * least) and side < extents[0]:
            side *= 2
        return "{0:T(%d)%s%s}" % (side, f"(128)({per_word},1)" if per_word > 1 else "", packed)

    def rows(n):
        r = least
        while r < 8 and r < n:
            r *= 2
        many = {8: 32, 4: 64, 2: 128}.get(bits)
        return many if many and not early and n % many == 0 else r

    def cost(order):
        *outer, second, minor = (extents[d] for d in reversed(order))
        size = product(outer) * up(second, min(rows(second), 8)) * up(minor, 128)
        return size, up(second, rows(second)) != second or up(minor, 128) != minor
    best = min(sorted(itertools.permutations(range(rank)), reverse=True), key=cost)
    return "{%s:T(%d,128)%s%s}" % (",".join(map(str, best)), rows(extents[best[1]]),
                                   f"({per_word},1)" if per_word > 1 else "", packed)


def check_figures():
    """The figures of each dump against the sizes of its arguments and results. Returns the number of faults."""
    faults = 0
    for path in sorted((ROOT / "hlo").glob("*/*.hlo.txt")):
        facts = json.loads(path.with_name(path.name.replace(".hlo.txt", ".json")).read_text())
        text = path.read_text()
        args, results = parameter_shapes(text)
        aliased = re.findall(r"\(([0-9]+), \{[\d, ]*\}, (?:may|must)-alias\)", text.split("\n", 1)[0])
        host = [[a for a in side if "S(5)" in a] for side in (args, results)]
        here = [[a for a in side if "S(5)" not in a] for side in (args, results)]
        want = dict(argument=sum(map(array_size, here[0])), host_argument=sum(map(array_size, host[0])),
                    output=sum(map(array_size, here[1])) + tuple_table(facts["target"], len(results)),
                    host_output=sum(map(array_size, host[1])), alias=sum(array_size(args[int(i)]) for i in aliased))
        for name, value in want.items():
            found = facts["memory_analysis"][name + "_size_in_bytes"]
            faults += found != value
            verdict = "equal" if found == value else f"computed {value}"
            print(f"{path.parent.name}/{path.name:28} {name:13} {found:9} {verdict}")
    return faults


def check_tiles():
    faults = rows = 0
    for line in (ROOT / "tpu_tiles.tsv").read_text().splitlines():
        if line.startswith("#"):
            continue
        shape, targets, layout = line.split("\t")
        kind, extents = re.fullmatch(r"(\w+)\[(.*)\]", shape).groups()
        for generation in targets.split(","):
            want = tpu_layout(generation, kind, tuple(int(x) for x in extents.split(",") if x))
            rows += 1
            if want != layout:
                faults += 1
                print(f"{generation} {shape}{layout} but the rule says {want}")
    print(f"{rows} tile choices, {faults} against the rule")
    return faults


def human(size):
    """A size as the reports print it: whole divisions by 1024 until one is left, then one (K) or two decimals."""
    if size < 1024:
        return f"{size}B"
    units = iter("KMGTPE")
    unit = next(units)
    while size >= 1 << 20:
        size //= 1024
        unit = next(units)
    return f"{size / 1024:.{1 if unit == 'K' else 2}f}{unit}"


def check_reports():
    """The sizes in each entry "Largest program allocations" against its shape; entries with tuples are left out."""
    faults = entries = 0
    for path in [pathlib.Path("examples/oom_report.txt"), *sorted((ROOT / "reports").glob("*.txt"))]:
        for entry in re.split(r"\n  \d+\. ", path.read_text())[1:]:
            size, shape, bare = (re.search(rf"{name}: (.*)", entry)[1] for name in ("Size", "Shape", "Unpadded size"))
            if shape.startswith("("):
                continue
            padded, plain = array_size(shape), array_size(re.sub(r":T.*\}", "}", shape))
            extra = re.search(r"Extra memory due to padding: (\S+) \((.*)x expansion\)", entry)
            grown = (human(padded - plain), f"{padded / plain:.1f}") if padded > plain else None
            want = (human(padded), human(plain), grown)
            entries += 1
            if want != (size, bare, extra and extra.groups()):
                faults += 1
                print(f"{path}: {shape} is {want} by the rule")
    print(f"{entries} report entries, {faults} against the rule")
    return faults


def check():
    return 1 if check_figures() + check_tiles() + check_reports() else 0


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = words.add_subparsers(dest="verb", required=True)
    verbs.add_parser("dumps").add_argument("names", nargs="*")
    verbs.add_parser("tiles")
    report = verbs.add_parser("report")
    report.add_argument("name", choices=["onehot", "single", "vmem", "segmentation"])
    report.add_argument("--log", action="store_true", help="the entry in the compiler's log instead of the error text")
    verbs.add_parser("table").add_argument("name", choices=["reshaped"])
    verbs.add_parser("check")
    given = words.parse_args()
    if given.verb == "dumps":
        make_dumps(given.names)
    elif given.verb == "tiles":
        make_tiles()
    elif given.verb == "report":
        make_report(given.name, given.log)
    elif given.verb == "table":
        (ROOT / "tables").mkdir(exist_ok=True)
        make_table(given.name, ROOT / "tables")
    else:
        sys.exit(check())


if __name__ == "__main__":
    main()
