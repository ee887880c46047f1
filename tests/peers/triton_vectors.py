# SPDX-License-Identifier: Apache-2.0
"""Write tests/vectors/triton_bases.tsv: encodings, shapes, and the bases that Triton itself computes for them.

python tests/peers/triton_vectors.py > tests/vectors/triton_bases.tsv
"""

import os
import random
import re
import sys

import test_triton as peer
import triton

CASES = 14
BITS = 12  # of all inputs: the test visits every place
KINDS = (
    peer.blocked,
    peer.linear,
    peer.slices,
    peer.operand,
    peer.amd_operand,
    peer.mma,
    peer.mfma,
    peer.wmma,
    peer.swizzled,
    peer.nvmma,
    peer.shared_linear,
    peer.tensor,
)


CHOSEN = (  # what random layouts of few bits seldom are
    (peer.mma, peer.NVMMADistributedLayout([3, 0], [4, 2], [16, 16, 16]), [128, 32]),
    (peer.mma, peer.NVMMADistributedLayout([3, 0], [4, 4], [16, 8, 16], [[1, 0]]), [128, 32]),
    (peer.mma, peer.NVMMADistributedLayout([2, 0], [1, 2, 4], [1, 8, 8]), [2, 16, 32]),
    (peer.mfma, peer.AMDMFMALayout(4, [16, 16, 4], False, [2, 2], 64), [32, 64]),
    (peer.mfma, peer.AMDMFMALayout(4, [32, 32, 4], True, [1, 2], 64, [1, 2]), [32, 64]),
    (peer.mfma, peer.AMDMFMALayout(3, [4, 64, 4], False, [2, 1]), [16, 64]),
    (peer.mfma, peer.AMDMFMALayout(3, [64, 4, 4], True, [1, 2]), [64, 32]),
    (peer.nvmma, peer.NVMMASharedLayout(128, 8, 2, False, True), [16, 128]),
    (peer.nvmma, peer.NVMMASharedLayout(128, 8, 2, True, True), [128, 8]),
    (peer.nvmma, peer.NVMMASharedLayout(0, 16, 2, False), [4, 1024]),
    (peer.nvmma, peer.NVMMASharedLayout(0, 8, 2, True), [512, 8]),
    (peer.nvmma, peer.NVMMASharedLayout(0, 32, 2, False), [512, 8]),
    (peer.nvmma, peer.NVMMASharedLayout(0, 16, 2, False), [512, 512]),
    (peer.nvmma, peer.NVMMASharedLayout(32, 8, 2, True), [64, 512]),
    (peer.nvmma, peer.NVMMASharedLayout(64, 16, 3, False), [4, 4, 64]),
    (peer.nvmma, peer.NVMMASharedLayout(32, 16, 3, True), [32, 2, 16]),
    (peer.nvmma, peer.NVMMASharedLayout(128, 32, 4, True), [32, 2, 2, 8]),
    (peer.tensor, peer.TensorMemoryLayout([64, 32], 1), [64, 64]),
    (peer.tensor, peer.TensorMemoryLayout([64, 16], 2), [64, 16]),
    (peer.tensor, peer.TensorMemoryScalesLayout(), [256, 8]),
)


def expanded(text):
    """A text with its aliases replaced by what they are, so that it is one line."""
    *lines, used = text.split("\n")
    values = dict(re.fullmatch(r"(#[a-z_0-9]+) = (.*)", line).groups() for line in lines)
    for _ in values:
        used = re.sub(r"#[a-z_0-9]+(?![.a-z_0-9])", lambda m: values.get(m.group(), m.group()), used)
    return used


def rows(bases):
    return ";".join(
        name + "".join(" " + ",".join(map(str, basis)) for basis in bases[name]) for name in bases
    )


def put(kind, layout, shape, bases, python):
    text = peer.PEER.ask(peer.attribute_of, layout, shape)
    text = repr(layout) if python or not isinstance(text, str) else expanded(text)
    print(kind.__name__, ",".join(map(str, shape)), text, rows(bases), sep="\t")


def write():
    print("# Origin: Triton " + triton.__version__ + ", to_linear_layout of GluonOpBuilder, by tests/peers/triton_vectors.py.")
    print("# kind, shape, text, bases of each input: the coordinates of the element that its bit k moves")
    for kind in KINDS:
        rng = random.Random("vectors " + kind.__name__)
        number = 0
        while number < CASES:
            layout, shape = kind(rng)
            bases = peer.PEER.ask(peer.bases_of, layout, shape)
            if peer.loses_bits(layout) or "error" in bases:
                continue
            if sum(len(bases[name]) for name in bases) > BITS and rng.random() < 0.999:
                continue
            put(kind, layout, shape, bases, number % 3 == 2)
            number += 1
    for kind, layout, shape in CHOSEN:
        put(kind, layout, shape, peer.PEER.ask(peer.bases_of, layout, shape), False)


write()
sys.stdout.flush()
os._exit(0)  # nanobind counts leaks at the end
