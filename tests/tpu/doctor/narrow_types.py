# SPDX-License-Identifier: Apache-2.0
"""Programs in f8 and s4; no fixes by hand."""

import jax.numpy as jnp
from case import Case


def embedding_f8(table, ids):
    """The mean of 50 rows of 64 numbers in f8."""
    return table[ids].astype(jnp.float32).mean(1)


def codes_s4(codes, scale, ids):
    """Rows of 16 codes of four bits, each column with a scale of its own."""
    return codes[ids].astype(jnp.float32) * scale


CASES = [
    Case(embedding_f8, ("f8[1048576,64]", "s32[4096,50]<1048576"), ("f8[64,64]", "s32[16,5]<64")),
    Case(codes_s4, ("s4[1048576,16]", "f32[16]", "s32[262144]<1048576"), ("s4[64,16]", "f32[16]", "s32[32]<64")),
]
