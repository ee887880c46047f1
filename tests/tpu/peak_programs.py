# SPDX-License-Identifier: Apache-2.0
"""The programs of tests/data/peak, and random ones: what the TPU's compiler says of their memory once compiled.

A row of PROGRAMS is a function and its arguments as texts: type, dims, then how the dims are divided over a mesh of 2 x 2 devices ("x",
"y", "-": whole; only in programs with a mesh), or "host" for memory of the host.
"""

import random
import re
from dataclasses import dataclass
from functools import partial

import buffer_records
import jax
import jax.numpy as jnp
import numpy as np
import tpu_compiler
from jax import lax, shard_map
from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding


@dataclass
class Program:
    tags: str
    function: object
    arguments: tuple
    results: tuple = ()  # divisions of the results, as texts; or memory kinds
    donated: tuple = ()
    targets: tuple = ("v5e",)
    mesh: bool = False


PROGRAMS = {}


def program(name, tags, *arguments, **options):
    def keep(function):
        PROGRAMS[name] = Program(tags, function, arguments, **options)
        return function

    return keep


# ---- matrix products ----


@program("chain_f32", "matmul", *4 * ["f32 4096,4096"], targets=("v2", "v5e", "tpu7x"))
def chain(a, b, c, d):
    return jnp.tanh(jnp.tanh(a @ b) @ c) @ d


@program("chain_bf16", "matmul", "bf16 8192,4096", *5 * ["bf16 4096,4096"])
def chain_of_five(a, *weights):
    for weight in weights:
        a = jax.nn.gelu(a @ weight)
    return a


def mlp(x, up, down):
    return jax.nn.relu(x @ up) @ down


def mlp_gradient(x, up, down):
    return jax.grad(lambda up, down: jnp.sum(mlp(x, up, down) ** 2), argnums=(0, 1))(up, down)


def mlp_step(x, up, down):
    return tuple(w - jnp.asarray(0.01, w.dtype) * g for w, g in zip((up, down), mlp_gradient(x, up, down), strict=True))


MLP = ("f32 4096,2048", "f32 2048,8192", "f32 8192,2048")
program("mlp_grad", "matmul+grad", *MLP)(mlp_gradient)
program("mlp_grad_donate", "matmul+grad+donation", *MLP, donated=(1, 2))(mlp_step)


@program("conv2", "conv", "bf16 64,112,112,64", "bf16 3,3,64,128", "bf16 3,3,128,128")
def conv2(image, first, second):
    convolve = partial(lax.conv_general_dilated, window_strides=(1, 1), padding="SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return convolve(jax.nn.relu(convolve(image, first)), second)


def attention(q, k, v):
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / 8
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, axis=-1), v)


program("attention", "attention", *3 * ["bf16 4,16,2048,128"])(attention)
program("attention_f32_d64", "attention", *3 * ["f32 2,8,2048,64"])(attention)


@program("attention_grad", "attention+grad", *3 * ["bf16 2,8,2048,128"])
def attention_gradient(q, k, v):
    return jax.grad(lambda q, k, v: jnp.sum(attention(q, k, v).astype(jnp.float32) ** 2), argnums=(0, 1, 2))(q, k, v)


# ---- sorts ----

program("sort_1d", "sort", "f32 16777216")(jnp.sort)
program("sort_rows", "sort", "f32 4096,8192")(lambda a: jnp.sort(a, axis=1))
program("sort_cols", "sort", "f32 8192,4096")(lambda a: jnp.sort(a, axis=0))
program("sort_kv", "sort", "f32 4096,8192", "s32 4096,8192")(lambda k, v: lax.sort((k, v), dimension=1, num_keys=1))
program("sort_donate", "sort+donation", "f32 4096,8192", donated=(0,))(lambda a: jnp.sort(a * 2, axis=1))
program("sort_then_matmul", "sort+matmul", *2 * ["f32 4096,4096"])(lambda a, b: jnp.sort(a, axis=1) @ b)
program("argsort", "sort", "f32 2048,16384")(lambda a: jnp.argsort(a, axis=1))
program("topk", "sort", "f32 512,65536")(lambda a: lax.top_k(a, 64))
program("sort_three", "sort", "f32 2048,8192", "s32 2048,8192", "f32 2048,8192")(
    lambda k, v, w: lax.sort((k, v, w), dimension=1, num_keys=2)
)


# ---- loops ----


def layer(x, w):
    return jnp.tanh(x @ w)


@program("scan_layers", "while", "f32 16,2048,2048", "f32 8192,2048")
def scan_layers(ws, x):
    return lax.scan(lambda x, w: (layer(x, w), x.sum()), x, ws)


def scan_gradient(step, ws, x):
    return jax.grad(lambda ws: jnp.sum(lax.scan(lambda x, w: (step(x, w), None), x, ws)[0] ** 2))(ws)


program("scan_grad", "while+grad", "f32 8,2048,2048", "f32 4096,2048")(partial(scan_gradient, layer))
program("scan_remat", "while+grad", "f32 8,2048,2048", "f32 4096,2048")(partial(scan_gradient, jax.checkpoint(layer)))
program("layers_grad", "while+grad", "bf16 6,1024,1024", "bf16 16384,1024", targets=("v2", "v4", "tpu7x"))(partial(scan_gradient, layer))
program("scan_stack", "while", "f32 32,1024,1024")(lambda xs: lax.scan(lambda c, x: (c + x, c * x), jnp.zeros_like(xs[0]), xs))
program("while_pow", "while", "f32 4096,4096", "s32")(lambda a, n: lax.fori_loop(0, n, lambda i, x: jnp.tanh(x @ a), a))
program("while_donate", "while+donation", *2 * ["f32 4096,4096"], donated=(0,))(lambda a, b: lax.fori_loop(0, 10, lambda i, x: x * b + 1, a))
program("while_dynamic", "while", "f32 8192,2048")(
    lambda a: lax.while_loop(lambda s: s[0].sum() < 100, lambda s: (s[1] + 1, s[0] * 2), (a, a * 3))
)
program("while_nested", "while", "f32 2048,2048", "s32")(
    lambda a, n: lax.fori_loop(0, n, lambda i, x: lax.fori_loop(0, i, lambda j, y: jnp.tanh(y @ a), x) + x, a)
)
program("scan_of_scans", "while", "f32 4,8,1024,1024", "f32 8192,1024")(
    lambda ws, x: lax.scan(lambda x, group: (lax.scan(lambda y, w: (layer(y, w), None), x, group)[0] + x, x), x, ws)
)


# ---- branches ----

program("cond_two", "conditional", "s32", *2 * ["f32 4096,4096"])(
    lambda i, a, b: lax.cond(i > 0, lambda a, b: a @ b, lambda a, b: jnp.tanh(a) + b, a, b)
)


@program("cond_tuple", "conditional", "s32", *2 * ["f32 2048,8192"])
def cond_tuple(i, a, b):
    x, y = lax.cond(i > 0, lambda a, b: (jnp.cumsum(a, axis=1), b * 2), lambda a, b: (b, jnp.cumsum(b, axis=1) + a), a, b)
    return jnp.sin(x) @ jnp.eye(8192, dtype=jnp.float32) + y


@program("cond_gather", "conditional+gather", "s32", "f32 100000,256", "s32 200000")
def cond_gather(i, table, at):
    return lax.cond(i > 0, lambda t: jnp.cumsum(t[at], axis=0), lambda t: t[at[::-1]] * 2, table)


program("cond_donate", "conditional+donation", "s32", "bf16 4096,4096", donated=(1,))(
    lambda i, a: lax.cond(i > 0, lambda a: a @ a, lambda a: a + 1, a)
)
program("cond_big_roll", "conditional", "s32", "f32 8192,4096")(
    lambda i, a: lax.cond(i > 0, lambda a: jnp.sort(a, axis=1)[:, :8], lambda a: jnp.roll(a, 5, axis=0)[:, 1:9], a)
)
program("cond_in_while", "conditional+while", *2 * ["f32 2048,2048"])(
    lambda a, b: lax.fori_loop(0, 10, lambda i, x: lax.cond(i % 2 == 0, lambda x: x @ b, lambda x: jnp.tanh(x) + a, x), a)
)
program("switch_small", "conditional", "s32", "bf16 2048,2048")(
    lambda i, a: lax.switch(i, [lambda a: a @ a, lambda a: jnp.tanh(a), lambda a: jnp.cumsum(a, axis=0)], a)
)


# ---- gathers, scatters, updates ----

program("gather_rows", "gather", "f32 262144,128", "s32 500000")(lambda t, i: (t[i].sum(axis=1), t[i]))
program("embed", "gather", "bf16 65536,1024", "s32 32,2048", "bf16 1024,4096")(lambda t, i, w: t[i] @ w)
program("take_two", "gather", "f32 100000,256", *2 * ["s32 200000"], targets=("v2", "v4", "v5e", "v6e", "tpu7x"))(
    lambda t, i, j: jnp.concatenate([t[i], t[j]], axis=1)
)
program("one_hot", "gather", "s32 4096", "f32 32768,512")(lambda i, w: jax.nn.one_hot(i, 32768) @ w)
program("one_hot_small", "gather", "s32 2048", "f32 8192,256")(lambda i, w: jax.nn.one_hot(i, 8192) @ w)
program("dus_copy", "dus", "f32 64,1024,1024", "f32 1,1024,1024", "s32")(lambda a, b, i: lax.dynamic_update_slice(a, b, (i, 0, 0)))
program("donate_dus", "donation+dus", "f32 64,1024,1024", "f32 1,1024,1024", "s32", donated=(0,))(
    lambda a, b, i: lax.dynamic_update_slice(a, b, (i, 0, 0))
)
program("donate_scatter", "donation+scatter", "f32 65536,512", "s32 1024", "f32 1024,512", donated=(0,))(lambda a, i, b: a.at[i].add(b))
program("donate_add", "donation", *2 * ["f32 4096,8192"], donated=(0,))(lambda a, b: (a + b, jnp.sum(a)))
program("donate_unused", "donation+unused", "f32 1024,1024", "f32 2048,2048", "f32 512,512", donated=(0, 1))(lambda a, b, c: a * 2)


@program("donate_adam", "donation", *4 * ["f32 2048,4096"], donated=(0, 1, 2))
def adam(w, m, v, g):
    m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
    return w - 0.001 * m / (jnp.sqrt(v) + 1e-8), m, v


@program("donate_kv", "donation+dus+attention", *2 * ["bf16 8,32,2048,128"], "bf16 8,32,1,128", "s32", donated=(0, 1))
def keep_keys(k, v, q, i):
    k, v = lax.dynamic_update_slice(k, q, (0, 0, i, 0)), lax.dynamic_update_slice(v, q + 1, (0, 0, i, 0))
    return k, v, attention(q, k, v)


# ---- others ----

program("cumsum2", "reduce-window", "f32 2048,8192", targets=("v2", "v4", "v6e", "tpu7x"))(
    lambda a: jnp.sum(jnp.cumsum(a, axis=1) * jnp.cumsum(a, axis=0))
)
program("rng", "rng", "u32 2")(lambda k: jax.random.normal(jax.random.wrap_key_data(k), (4096, 8192)))
program("small_last", "padding", "f32 1000000,3", "f32 1000000,2")(lambda a, b: (b * 2 + a[::-1, :2], a * 2))
program("transpose5", "transpose", "f32 8,64,31,128,7", "f32 7,128,64,8,31")(
    lambda a, b: (a.transpose(4, 3, 1, 0, 2), b.transpose(3, 2, 4, 1, 0))
)
program("host_copy", "async+host", "f32 4096,8192 host", results=("device",))(lambda a: jax.device_put(a, jax.memory.Space.Device))


@program("host_both", "async+host", "f32 2048,4096 host", "f32 2048,4096", results=("pinned_host", "device"))
def host_both(a, b):
    a = jax.device_put(a, jax.memory.Space.Device) + b
    return jax.device_put(jnp.cumsum(a, axis=0), jax.memory.Space.Host), a * 2


# ---- several devices ----


def divided(text):
    return PartitionSpec(*(None if axis == "-" else axis for axis in text.split()))


def over(spec, out):
    """A function of each device's part."""
    return lambda function: lambda a: shard_map(function, in_specs=divided(spec), out_specs=divided(out), check_vma=False)(a)


several = partial(program, mesh=True)
SQUARE = "f32 8192,8192 x y"
exchange = partial(lax.all_to_all, axis_name="y", split_axis=1, concat_axis=0, tiled=True)
several("psum4", "collective", SQUARE, results=("- y",), targets=("v5e", "tpu7x"))(over("x y", "- y")(lambda a: lax.psum(a, "x")))
several("all_gather4", "collective", SQUARE, results=("- y",))(over("x y", "- y")(lambda a: lax.all_gather(a, "x", axis=0, tiled=True)))
several("reduce_scatter4", "collective", "f32 16384,8192 x y", results=("x y",))(
    over("x y", "x y")(lambda a: lax.psum_scatter(a, "x", scatter_dimension=0, tiled=True))
)
several("all_to_all4", "collective", SQUARE, results=("- x",))(over("x y", "- x")(exchange))
several("a2a_donate", "collective+donation", SQUARE, results=("- x",), donated=(0,))(over("x y", "- x")(exchange))
several("permute4", "collective", SQUARE, results=("x y",))(
    over("x y", "x y")(lambda a: lax.ppermute(a * 2, "x", [(0, 1), (1, 0)]) + jnp.tanh(a))
)
several("ag_big", "collective", "f32 16384,8192 x -", results=("-",))(
    over("x -", "-")(lambda a: jnp.sort(lax.all_gather(a, "x", axis=0, tiled=True), axis=0)[7])
)
several("mlp_tp", "collective+matmul", "bf16 8192,4096 x -", "bf16 4096,16384 - y", "bf16 16384,4096 y -", results=("x -",))(mlp)
several("mlp_fsdp_grad", "collective+grad+donation", "bf16 8192,4096 x y", "bf16 4096,8192 x y", "bf16 8192,4096 y x",
        results=("x y", "y x"), donated=(1, 2))(mlp_step)  # fmt: skip
several("sort_sharded", "collective+sort", "f32 4096,8192 x y", results=("x y",))(lambda a: jnp.sort(a, axis=1))
several("ag_attention", "collective+attention", *3 * ["bf16 2,16,4096,128 - x y -"], results=("- x y -",))(attention)


@several("scan_fsdp", "collective+while", "bf16 8,2048,4096 - x y", "bf16 8,4096,2048 - y x", "bf16 8192,2048 x -", results=("x -",))
def scan_fsdp(ups, downs, x):
    return lax.scan(lambda x, w: (mlp(x, *w) + x, None), x, (ups, downs))[0]


@several("rs_scan", "collective+while", "f32 4,8192,4096 - x y", results=("- y",))
@over("- x y", "- y")
def rs_scan(a):
    total, sums = lax.scan(lambda c, x: (c + jnp.tanh(x), x.sum()), jnp.zeros_like(a[0]), a)
    return lax.psum(total, "x") + sums.sum()


# ---- compiling ----

TYPES = {"f32": jnp.float32, "bf16": jnp.bfloat16, "s32": jnp.int32, "u32": jnp.uint32}


def place(text, devices, mesh):
    """Where an argument or a result is."""
    if mesh is not None:
        return NamedSharding(mesh, divided(text))
    one = SingleDeviceSharding(devices[0])
    return one.with_memory_kind("pinned_host") if text == "host" else one


def lower(made, target):
    devices = tpu_compiler.devices(target)[:4]
    mesh = Mesh(np.array(devices).reshape(2, 2), ("x", "y")) if made.mesh else None
    specs, places = [], []
    for text in made.arguments:
        kind, dims, where = (*text.split(" ", 2), "", "")[:3]
        specs.append(jax.ShapeDtypeStruct(tuple(int(n) for n in dims.split(",") if n), TYPES[kind]))
        places.append(place(where, devices, mesh))
    results = tuple(place(text, devices, mesh) for text in made.results) or (place("", devices, mesh),)
    jitted = jax.jit(made.function, in_shardings=tuple(places), out_shardings=results if len(results) > 1 else results[0],
                     donate_argnums=made.donated, keep_unused=True)  # fmt: skip
    if mesh is None:
        return jitted.lower(*specs)
    with jax.set_mesh(mesh):
        return jitted.lower(*specs)


ANALYSIS = ("argument", "output", "alias", "temp")


def compiled(lowered, folder):
    """(figures of memory_analysis(), HLO text); the compiler's records are in the folder."""
    done = lowered.compile(compiler_options={"xla_dump_to": str(folder)})
    figures = done.memory_analysis()
    sizes = {name: getattr(figures, f"{name}_size_in_bytes") for name in ANALYSIS}
    sizes["host"] = sum(getattr(figures, f"host_{name}_size_in_bytes") for name in ANALYSIS)
    return sizes, done.as_text()


# ---- texts ----

TABLES = re.compile(r"\n(?:FileNames|FunctionNames|FileLocations|StackFrames)\n(?:.+\n)*")
ALIASES = re.compile(r'"aliasing_operands":\{"lists":\[(?:\{"indices":\[[^\]]*\]\},?)*\]\}')


def closing(text, at):
    """After the bracket that closes the one at `at`; strings count as one letter."""
    depth = 0
    for part in re.finditer(r'"(?:[^"\\]|\\.)*"|[{}]', text[at:]):
        depth += {"{": 1, "}": -1}.get(part[0], 0)
        if depth == 0:
            return at + part.end()
    raise ValueError(text)


def without_attribute(line, attribute):
    at = line.find(f", {attribute}={{")
    return line if at < 0 else line[:at] + line[closing(line, line.index("{", at)):]


def bare(text):
    """HLO text without metadata and all of backend_config but the aliases."""

    def strip(line):
        for attribute in ("metadata", "frontend_attributes", "sharding", "origin", "custom_call_schedule", "control-predecessors"):
            line = without_attribute(line, attribute)
        at = line.find(", backend_config=")
        if at < 0:
            return line
        listed = ALIASES.search(line, at)
        return line[:at] + (f", backend_config={{{listed[0]}}}" if listed else "")

    return "\n".join(map(strip, re.sub("\n{3,}", "\n\n", TABLES.sub("\n", text)).rstrip().splitlines())) + "\n"


# ---- figures ----

FIGURES = (*ANALYSIS, "host", "heap", "live", "vmem", "vmem_live", "largest", "holes", "left_out")


def programs():
    """(name, target, Program) of each program and target."""
    for name, made in PROGRAMS.items():
        for target in made.targets:
            yield name if len(made.targets) == 1 else f"{name}_{target}", target, made


def is_near(bytes, of, least=256 << 10):
    return abs(bytes - of) <= max(0.03 * of, least)


def figures(sizes, folder, text):
    """What the compiler says, in the order of FIGURES: memory_analysis(), then the buffer assignment with its live ranges.

    heap, vmem: bytes of the temporaries of S(0) and S(1); live, vmem_live: of those in use at the fullest instant. holes, left_out: if
    memory_analysis() says otherwise than `live`, the arrays that make it so, or "-"; "?": it is not those of arrays.
    """
    spaces, largest = buffer_records.assignment(folder, buffer_records.dead_in_branches(folder, text))
    main, vector, names = spaces[0], spaces[1], [[], []]
    judge = sizes["argument"] + sizes["output"] - sizes["alias"] + sizes["temp"]
    large = sizes["temp"] >= 64 << 20
    if not is_near(judge - sizes["temp"] + main.peak, judge) or (large and not is_near(main.peak, sizes["temp"], 0)):
        names = buffer_records.in_holes(main), buffer_records.left_out(main, sizes["temp"], text)
    texts = ["?" if some is None else "+".join(some) or "-" for some in names]
    return [*sizes.values(), main.arena, main.peak, vector.arena, vector.peak, largest, *texts]


# ---- random programs ----

ROWS, COLUMNS = (2048, 4096, 8192), (512, 1024, 2048)


class Sweep:
    """A random function of an array x and a square matrix w: loops, branches, sorts, updates, gradients, one inside another."""

    def __init__(self, seed):
        self.pick = random.Random(f"peak {seed}")

    def step(self, depth):
        """A function (x, w) -> an array like x."""
        plain = [self.layer, self.prefix, self.sorted, self.sorted_by, self.updated, self.scattered, self.gathered, self.softmax, self.sum]
        deep = [self.scan, self.scan, self.loop, self.branch, self.branch, self.chain, self.stacked]
        return self.pick.choice(deep if depth > 0 and self.pick.random() < 0.8 else plain)(depth - 1)

    def layer(self, depth):
        return layer

    def prefix(self, depth):
        axis = self.pick.randrange(2)
        return lambda x, w: jnp.cumsum(x, axis=axis)

    def sorted(self, depth):
        axis = self.pick.randrange(2)
        return lambda x, w: jnp.sort(x, axis=axis)

    def sorted_by(self, depth):
        return lambda x, w: lax.sort((x, x * 2, lax.broadcasted_iota(jnp.int32, x.shape, 1)), dimension=1, num_keys=1)[1]

    def updated(self, depth):
        return lambda x, w: lax.dynamic_update_slice(x, w[:256] * 2, (x.shape[0] // 2, 0)) + x[:1]

    def scattered(self, depth):
        return lambda x, w: x.at[jnp.argsort(x[:256, 0])].add(w[:256])

    def gathered(self, depth):
        return lambda x, w: x[jnp.argsort(x[:, 0])]

    def softmax(self, depth):
        return lambda x, w: jax.nn.softmax(x @ x[:1024].T, axis=-1) @ x[:1024]

    def sum(self, depth):
        return lambda x, w: x - jnp.mean(x, axis=0) * jnp.sum(w)

    def chain(self, depth):
        first, second = self.step(depth), self.step(depth)
        return lambda x, w: second(first(x, w), w) + x

    def scan(self, depth):
        inside, n = self.step(depth), self.pick.choice((3, 5))
        return lambda x, w: lax.scan(lambda x, k: (inside(x, w * k), None), x, jnp.arange(n, dtype=x.dtype))[0]

    def stacked(self, depth):
        inside, n = self.step(depth), self.pick.choice((2, 4))

        def function(x, w):
            last, kept = lax.scan(lambda x, k: (inside(x, w * k), x), x, jnp.arange(n, dtype=x.dtype))
            return last + kept.sum(axis=0)

        return function

    def loop(self, depth):
        inside = self.step(depth)
        return lambda x, w: lax.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, inside(s[1], w)), (0, x))[1]

    def branch(self, depth):
        one, other = self.step(depth), self.step(depth)
        return lambda x, w: lax.cond(x[0, 0] > 0, one, other, x, w)

    def program(self):
        pick = self.pick
        rows, columns, kind = pick.choice(ROWS), pick.choice(COLUMNS), pick.choice(("f32", "bf16"))
        mesh, gradient, donated = pick.random() < 0.3, pick.random() < 0.3, (0,) if pick.random() < 0.4 else ()
        first, second = self.step(2), self.step(1)
        function = lambda x, w: second(first(x, w), w)  # noqa: E731
        if gradient:  # jax has none of a while loop that does not say how often it runs
            first, second = (self.pick.choice((self.layer, self.softmax, self.scan, self.stacked, self.branch))(0) for _ in range(2))
            function = jax.grad(lambda x, w: jnp.sum(second(first(x, w), w).astype(jnp.float32) ** 2))
        where = (" x -", " - y") if mesh else ("", "")
        arguments = (f"{kind} {rows},{columns}{where[0]}", f"{kind} {columns},{columns}{where[1]}")
        results = (where[0].strip(),) if mesh else ()
        return Program("sweep", function, arguments, results, donated, (pick.choice(("v5e", "v5e", "v4", "v6e", "tpu7x")),), mesh)
