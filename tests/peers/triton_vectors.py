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


def write():
    print("# Origin: Triton " + triton.__version__ + ", to_linear_layout of GluonOpBuilder, by tests/peers/triton_vectors.py.")
    print("# kind, shape, text, bases of each input: the coordinates of the element that its bit k moves")
    for kind in KINDS:
        rng = random.Random("vectors " + kind.__name__)
        for number in range(CASES):
            while True:
                layout, shape = kind(rng)
                bases = peer.in_child(lambda: peer.bases_of(layout, shape))
                if peer.known_error(layout) or "error" in bases:
                    continue
                if sum(len(bases[name]) for name in bases) > BITS and rng.random() < 0.999:
                    continue
                text = peer.in_child(lambda: {"text": peer.attribute_of(layout, shape)})
                if number % 3 == 2 or "text" not in text:
                    text = repr(layout)
                else:
                    text = expanded(text["text"])
                print(kind.__name__, ",".join(map(str, shape)), text, rows(bases), sep="\t")
                break


write()
sys.stdout.flush()
os._exit(0)  # nanobind counts leaks at the end
