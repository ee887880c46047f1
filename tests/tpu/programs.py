# SPDX-License-Identifier: Apache-2.0
"""Programs of random signatures for the TPU's compiler: shardings, memory kinds, layouts, donated and unused arguments."""

import random

import jax
import jax.numpy as jnp
import numpy as np
import tpu_compiler
from jax.experimental.layout import Format, Layout
from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

# Types that every target computes with.
TYPES = ("f32", "bf16", "s32", "u8", "s8", "pred", "f16", "u32", "s16")
EXTENTS = (1, 2, 3, 4, 8, 12, 16, 24, 32, 64, 100, 128, 200, 256)
# (axes, their sizes) over four devices
MESHES = ((("x", "y"), (2, 2)), (("data",), (4,)), (("a", "b", "c"), (2, 1, 2)))
NAMES = ("argument", "host_argument", "output", "host_output", "alias")


def compiled_sizes(lowered):
    """The figures of memory_analysis(), in the order of NAMES."""
    figures = lowered.compile().memory_analysis()
    return [getattr(figures, f"{name}_size_in_bytes") for name in NAMES]


def partition(pick, axes, dims):
    """A PartitionSpec that divides the dims without rest."""
    sizes = dict(axes)
    free, spec = list(sizes), []
    pick.shuffle(free)
    for extent in dims:
        mine, left = [], extent
        while free and pick.random() < 0.5 and left % sizes[free[-1]] == 0:
            left //= sizes[free[-1]]
            mine.append(free.pop())
        spec.append(tuple(mine) if len(mine) > 1 else mine[0] if mine else None)
    return PartitionSpec(*spec)


def add_one(array):
    return ~array if array.dtype == jnp.bool_ else array + jnp.ones((), array.dtype)


def lower(seed, target):
    """One program: some arguments come back changed, some unchanged, some are not used."""
    pick = random.Random(f"program {seed} {target}")
    several, shardy = pick.random() < 0.6, pick.random() < 0.6
    names, sizes = pick.choice(MESHES)
    devices = tpu_compiler.devices(target)[:4]
    mesh = Mesh(np.array(devices).reshape(sizes), names)
    n = pick.randint(1, 9)
    specs, places, results = [], [], []
    for _ in range(n):
        dims = tuple(pick.choice(EXTENTS) for _ in range(pick.choice((0, 1, 2, 2, 3, 3, 4))))
        specs.append(jax.ShapeDtypeStruct(dims, tpu_compiler.TYPES[pick.choice(TYPES)]))
        places.append(
            NamedSharding(mesh, partition(pick, zip(names, sizes, strict=True), dims)) if several else SingleDeviceSharding(devices[0])
        )
        results.append(pick.choice(("same", "changed", "none")))
    hosted = not several and target != "v2" and pick.random() < 0.4
    wanted = list(places)
    for i in range(n):
        if hosted and pick.random() < 0.3 and results[i] != "changed":
            places[i] = wanted[i] = places[i].with_memory_kind("pinned_host")
        elif not several and not hosted and len(specs[i].shape) == 2 and pick.random() < 0.3:
            places[i] = Format(Layout(pick.choice(((0, 1), (1, 0)))), places[i])
    returned = [i for i in range(n) if results[i] != "none"] or [0]

    def program(*arrays):
        return tuple(add_one(arrays[i]) if results[i] == "changed" else arrays[i] for i in returned)

    jax.config.update("jax_use_shardy_partitioner", shardy)
    return jax.jit(
        program, in_shardings=tuple(places), out_shardings=tuple(wanted[i] for i in returned), keep_unused=pick.random() < 0.7,
        donate_argnums=tuple(i for i in range(n) if pick.random() < 0.3 and not hosted),
    ).lower(*specs)  # fmt: skip
