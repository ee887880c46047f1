# SPDX-License-Identifier: Apache-2.0
"""torch's own samples (OpInfo) of every operator that the table of docs/pytorch.md calls tiled: on tiled memory whose padding is NaN,
equal to eager, forward and backward, without an operator on the host. The table itself says what runs.

A few samples of each operator and type, chosen by TESELA_SEED. Left out and counted: samples that the target cannot store (float64,
complex, more than 6 dims, integers beyond 32 bits) and empty tensors.
"""

from __future__ import annotations

import collections
import itertools
import os
import random
import re
import warnings
from pathlib import Path

import pytest
import torch
from test_torch_tiled_operators import poisoned
from torch.utils import _pytree as pytree

import tesela
from tesela.torch import TiledTensor, fallbacks, to_host, to_with_layout
from torch.testing._internal.common_methods_invocations import op_db

pytestmark = pytest.mark.frameworks
SEED = int(os.environ.get("TESELA_SEED", "1"))
SOURCE = Path(os.environ.get("TESELA_SOURCE") or Path(__file__).resolve().parents[3])
SAMPLES = 3
FLOAT, INT, BOOL, HALF = torch.float32, torch.int64, torch.bool, torch.float16
OPERATORS = {f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name: op for op in op_db}
NOT_SET = ("empty_like", "new_empty", "new_empty_strided")
TOLERANCE = {FLOAT: {"rtol": 1e-4, "atol": 1e-4}, HALF: {"rtol": 1e-2, "atol": 1e-2}}
counts: collections.Counter[str] = collections.Counter()


def stores(x):
    """Can the target store it?"""
    if not isinstance(x, torch.Tensor):
        return True
    if x.dtype in (torch.float64, torch.complex64, torch.complex128, torch.complex32, torch.int16) or x.dim() > 6 or not x.numel():
        return False
    return x.dtype is not INT or bool((x.abs() < 1 << 31).all())


def tiled(x):
    if not isinstance(x, torch.Tensor):
        return x
    made = poisoned(x.detach()) if x.dim() else to_with_layout(x.detach())
    return made.requires_grad_() if x.requires_grad else made


def tensors(tree):
    return [one for one in pytree.tree_leaves(tree) if isinstance(one, torch.Tensor)]


def same(found, wanted, where, values=True, gradient=False):
    if not isinstance(wanted, torch.Tensor):
        assert found == wanted, where
        return
    assert type(found) is TiledTensor or gradient and not found.any(), (where, type(found))  # autograd makes zeros of its own
    assert found.dtype == wanted.dtype and found.shape == wanted.shape, where
    if values:
        given = TOLERANCE.get(wanted.dtype, TOLERANCE[HALF] if wanted.is_floating_point() else {"rtol": 0, "atol": 0})
        given = {**given, "atol": 10 * given["atol"]} if gradient else given  # products of what cancels
        torch.testing.assert_close(to_host(found.detach()), wanted.detach(), equal_nan=True, **given, msg=lambda text: f"{where}: {text}")


def run(name, op, dtype, sample, where):
    eager = (sample.input, sample.args, sample.kwargs)
    if not all(map(stores, tensors(eager))):
        counts["not stored"] += 1
        return
    torch.manual_seed(SEED)
    copies = pytree.tree_map(lambda x: x.detach().clone().requires_grad_(x.requires_grad) if isinstance(x, torch.Tensor) else x, eager)
    given = pytree.tree_map(tiled, eager)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = op(copies[0], *copies[1], **copies[2])
        if not all(map(stores, tensors(wanted))):
            counts["not stored"] += 1
            if any(x.dtype in (torch.float64, torch.complex64) for x in tensors(wanted)):
                with pytest.raises(tesela.UnsupportedError):
                    op(given[0], *given[1], **given[2])
            return
        fallbacks(reset=True)
        found = op(given[0], *given[1], **given[2])
        for one, expected in zip(pytree.tree_leaves(found), pytree.tree_leaves(wanted), strict=True):
            same(one, expected, where, name not in NOT_SET)
        assert fallbacks() == {}, (where, fallbacks())
        counts["forward"] += 1
        outs = [(one, expected) for one, expected in zip(tensors(found), tensors(wanted)) if expected.requires_grad]
        if not outs or not op.supports_autograd:
            return
        starts = [torch.randn(expected.shape).to(expected.dtype) for _, expected in outs]
        want = torch.autograd.grad([expected for _, expected in outs], leaves := [x for x in tensors(copies) if x.requires_grad], starts, allow_unused=True)
        have = torch.autograd.grad([one for one, _ in outs], [x for x in tensors(given) if x.requires_grad], [tiled(x) for x in starts], allow_unused=True)
    assert len(have) == len(leaves)
    for one, expected in zip(have, want):
        assert (one is None) == (expected is None), where
        if expected is not None:
            same(one, expected, f"gradient of {where}", gradient=True)
    assert fallbacks() == {}, (f"gradient of {where}", fallbacks())
    counts["backward"] += 1


def check(name, dtype, backward):
    op = OPERATORS[name]
    if dtype not in op.dtypes:
        counts["not of that type"] += 1
        return
    torch.manual_seed(SEED)
    random.seed(SEED)
    grad = dtype.is_floating_point and op.supports_autograd and backward == "tiled"
    samples = list(itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=grad), 40))
    for number in sorted(random.sample(range(len(samples)), min(SAMPLES, len(samples)))):
        run(name, op, dtype, samples[number], f"{name}, {dtype}, sample {number}")


def rows():
    """The table of the page: group, operators, forward, backward, types."""
    text = (SOURCE / "docs/pytorch.md").read_text(encoding="utf-8").split("## Operators")[1].split("## Views")[0]
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.count("|") == 6]
    return [row for row in table if row[2] == "tiled"]


def test_the_page_names_operators_of_torch():
    named = [name for row in rows() for name in re.findall(r"`(.+?)`", row[1])]
    assert len(named) == len(set(named)) > 300 and len(rows()) >= 15
    assert {name.replace("F.", "nn.functional.", 1) if name.startswith("F.") else name for name in named} <= set(OPERATORS)


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0].replace(" ", "_"))
def test_samples(row):
    torch.set_num_threads(1)
    counts.clear()
    dtypes = [getattr(torch, name.strip()) for name in row[4].split(",")]
    failed = []
    for name in re.findall(r"`(.+?)`", row[1]):
        name = name.replace("F.", "nn.functional.", 1) if name.startswith("F.") else name
        before = counts["forward"]
        for dtype in dtypes:
            try:
                check(name, dtype, row[3])
            except AssertionError as error:
                failed.append(str(error))
        if counts["forward"] == before:
            failed.append(f"{name}: no sample")
    assert not failed, "\n".join(failed)
    assert (counts["backward"] > 0) == (row[3] == "tiled"), counts
    assert counts["forward"] > counts["not stored"], counts
