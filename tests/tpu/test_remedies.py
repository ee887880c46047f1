# SPDX-License-Identifier: Apache-2.0
"""Class (a) of what to change is exact: with the order that it names, the compiler's argument has the bytes that it names."""

import random
import re

import tpu_compiler  # before jax
import jax  # isort: skip
import jax.numpy as jnp  # isort: skip
from jax.experimental.layout import Format, Layout  # isort: skip

PROGRAMS = 12
PIECE = 512  # bytes: arguments take whole pieces


def compiled(target, dims, kind, order):
    one = tpu_compiler.one_device(target)
    form = Format(Layout(major_to_minor=order), one)
    program = jax.jit(lambda x: jnp.max(x, axis=0), in_shardings=form, out_shardings=one)
    return program.lower(jax.ShapeDtypeStruct(dims, tpu_compiler.TYPES[kind])).compile()


def test_arguments(ask, seed):
    pick = random.Random(seed)
    exact = 0
    for _ in range(PROGRAMS):
        target = pick.choice(sorted(tpu_compiler.TOPOLOGIES))
        dims = tuple(pick.choice((3, 5, 12, 24, 40, 200, 1000, 4096)) for _ in range(pick.choice((2, 2, 3))))
        order = list(range(len(dims)))
        pick.shuffle(order)
        kind = pick.choice(("f32", "bf16", "s8"))
        before = compiled(target, dims, kind, tuple(order))
        (answer,) = ask([{"op": "report", "text": before.as_text(), "by": "waste"}])
        argument = next((one for one in answer["culprits"] if one["role"] == "argument"), None)
        set_by_user = [one for one in (argument or {"remedies": []})["remedies"] if one["class"] == "a"]
        if not set_by_user:
            continue
        (one,) = set_by_user
        assert argument["bytes"] == -(-before.memory_analysis().argument_size_in_bytes // PIECE) * PIECE
        wanted = tuple(map(int, re.search(r"major_to_minor=\(([0-9, ]+)\)", one["code"])[1].split(",")))
        after = compiled(target, dims, kind, wanted)
        assert one["bytes"] == -(-after.memory_analysis().argument_size_in_bytes // PIECE) * PIECE, (target, dims, kind, order)
        assert tpu_compiler.sides(after.as_text())[0] == [one["shape"]]
        exact += 1
    assert exact >= PROGRAMS // 4
