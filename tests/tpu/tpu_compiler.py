# SPDX-License-Identifier: Apache-2.0
"""The compiler of libtpu, ahead of time: it compiles for a TPU that is not there. Import this before jax."""

import os
import re

os.environ.update(
    JAX_PLATFORMS="cpu", TPU_SKIP_MDS_QUERY="1", TPU_ACCELERATOR_TYPE="v5litepod-4", TPU_WORKER_HOSTNAMES="localhost",
    TPU_LOG_DIR="disabled", ALLOW_MULTIPLE_LIBTPU_LOAD="1",
)  # fmt: skip

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax.experimental import topologies  # noqa: E402
from jax.sharding import SingleDeviceSharding  # noqa: E402

# Four devices of each generation.
TOPOLOGIES = {
    "v2": "v2:2x2", "v3": "v3:2x2", "v4": "v4:2x2x1", "v5e": "v5e:2x2", "v5p": "v5p:2x2x1", "v6e": "v6e:2x2", "tpu7x": "tpu7x:2x2x1",
}  # fmt: skip

# Element types by their names in HLO.
TYPES = {
    "pred": jnp.bool_, "f32": jnp.float32, "f64": jnp.float64, "f16": jnp.float16, "bf16": jnp.bfloat16, "c64": jnp.complex64,
    "s2": jnp.int2, "u2": jnp.uint2, "s4": jnp.int4, "u4": jnp.uint4, "s8": jnp.int8, "u8": jnp.uint8, "s16": jnp.int16,
    "u16": jnp.uint16, "s32": jnp.int32, "u32": jnp.uint32, "s64": jnp.int64, "u64": jnp.uint64,
    "f8e4m3fn": jnp.float8_e4m3fn, "f8e5m2": jnp.float8_e5m2, "f4e2m1fn": jnp.float4_e2m1fn,
}  # fmt: skip


def devices(target):
    return topologies.get_topology_desc(platform="tpu", topology_name=TOPOLOGIES[target]).devices


def one_device(target):
    return SingleDeviceSharding(devices(target)[0])


def sides(text):
    """The layouts of the parameters and of the results in an HLO text, as "f32[3,5]{1,0:T(4,128)}"."""
    inner = re.search(r"entry_computation_layout=\{(.*?)\}(?:, [a-z_]+=|\n)", text, re.S)[1]
    left, right = re.sub(r"/\*.*?\*/", "", inner).split("->")
    return [[a + b for a, b in re.findall(r"([a-z][a-z0-9]*\[[^\]]*\])(\{[^}]*\})?", side)] for side in (left, right)]


def argument_layouts(target, arguments):
    """The layouts that the compiler gives arguments (type, dims), and the bytes of all."""
    with jax.enable_x64(True):
        specs = [jax.ShapeDtypeStruct(dims, TYPES[kind]) for kind, dims in arguments]
        one = one_device(target)
        program = jax.jit(lambda values: jnp.int32(0), keep_unused=True, in_shardings=one, out_shardings=one)
        compiled = program.lower(specs).compile()
    return sides(compiled.as_text())[0], compiled.memory_analysis().argument_size_in_bytes
