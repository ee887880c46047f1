# SPDX-License-Identifier: Apache-2.0
"""torch's own samples (OpInfo) of the operators that docs/pytorch.md calls lowered: equal to eager, without an operator on the host.

Traced by AOTAutograd and lowered as the backend "tesela" does, without Dynamo. A few samples of each operator and type, chosen by
TESELA_SEED; the first one of floats with its gradients. Left out and counted: empty and complex tensors, random numbers, sparse
gradients, integers beyond the device's 32 bits, results whose size depends on values.
"""

from __future__ import annotations

import collections
import functools
import os
import random
import warnings

import pytest
import tesela
import torch
from tesela.torch import _backend
from tesela.torch._decompositions import table
from torch._functorch.aot_autograd import aot_function, make_boxed_func
from torch._subclasses.fake_tensor import DynamicOutputShapeException
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils import _pytree as pytree
from torch.testing._internal.common_methods_invocations import op_db

pytestmark = pytest.mark.frameworks
SEED = int(os.environ.get("TESELA_SEED", "14"))
FLOAT, NUMBERS, LOGIC = (torch.float32,), (torch.float32, torch.int64), (torch.float32, torch.bool)
SAMPLES = {torch.float32: 2, torch.int64: 1, torch.bool: 1}
GROUPS = {
    "elementwise": (NUMBERS, """
        abs acos add addcdiv addcmul asin atan atan2 ceil clamp clamp_max clamp_min cos deg2rad div.no_rounding_mode exp exp2 expm1 fill
        floor heaviside lerp log log10 log1p log2 logaddexp logaddexp2 logit max.binary maximum min.binary minimum mul nan_to_num neg
        positive pow rad2deg reciprocal round rsqrt rsub sgn sigmoid sign sin sinc sqrt square sub tan tanh trunc xlogy zero_ erf
        __radd__ __rdiv__ __rmul__ __rpow__ __rsub__ special.ndtr true_divide frac"""),
    "comparisons, bits": (LOGIC, """
        bitwise_and bitwise_not bitwise_or bitwise_xor eq ge gt isclose isfinite isinf isnan isneginf isposinf isreal le logical_and
        logical_not logical_or logical_xor lt masked_fill ne where bool char float half int long bfloat16 __rand__ __ror__ __rxor__"""),
    "quotients of floats": (FLOAT, "div.floor_rounding div.trunc_rounding floor_divide fmod remainder __rmod__ linspace"),
    "folds": (NUMBERS, """
        all amax amin aminmax any argmax argmin count_nonzero cumprod cumsum logsumexp max.reduction_no_dim max.reduction_with_dim mean
        min.reduction_no_dim min.reduction_with_dim nanmean nansum norm norm.fro norm.inf prod std std.unbiased std_mean sum trace
        trapezoid cumulative_trapezoid var var.unbiased var_mean linalg.vector_norm dist masked.sum masked.mean masked.var
        sort argsort msort quantile"""),
    "the greatest, without ties": (FLOAT, "topk"),
    "products": (NUMBERS, """
        addbmm addmm addmv addr baddbmm bmm cross dot einsum inner kron linalg.multi_dot linalg.vecdot matmul mm mv outer tensordot vdot
        __rmatmul__ nn.functional.linear"""),
    "views": (LOGIC, """
        atleast_2d broadcast_tensors broadcast_to chunk contiguous diag diag_embed diagflat diagonal diagonal_copy expand expand_as flatten
        flip fliplr flipud H mT movedim narrow_copy permute ravel reshape rot90 select slice split split_with_sizes squeeze
        squeeze.multiple T t transpose unbind unflatten unsqueeze view hsplit dsplit"""),
    "pieces": (NUMBERS, """
        cat cartesian_prod column_stack constant_pad_nd diagonal_scatter diff eye full full_like gradient hstack
        meshgrid.list_of_tensors new_full new_ones nn.functional.channel_shuffle nn.functional.pad.circular nn.functional.pad.constant
        nn.functional.pad.reflect nn.functional.pad.replicate nn.functional.pixel_shuffle nn.functional.pixel_unshuffle ones_like repeat
        roll select_scatter slice_scatter stack tril triu vstack zeros_like"""),
    "lookups": (NUMBERS, """
        gather __getitem__ index_add index_copy index_fill index_put index_select scatter_add take take_along_dim
        nn.functional.embedding"""),
    "activations": (FLOAT, """
        log_softmax softmax nn.functional.softmin nn.functional.celu nn.functional.elu nn.functional.gelu nn.functional.glu
        nn.functional.hardshrink nn.functional.hardsigmoid nn.functional.hardswish nn.functional.hardtanh nn.functional.leaky_relu
        nn.functional.logsigmoid nn.functional.mish nn.functional.prelu nn.functional.relu nn.functional.relu6 nn.functional.selu
        nn.functional.silu nn.functional.softplus nn.functional.softshrink nn.functional.softsign nn.functional.tanhshrink
        nn.functional.threshold nn.functional.scaled_dot_product_attention"""),
    "norms": (FLOAT, """
        nn.functional.batch_norm nn.functional.cosine_similarity nn.functional.group_norm nn.functional.instance_norm
        nn.functional.layer_norm nn.functional.local_response_norm nn.functional.normalize nn.functional.pairwise_distance
        nn.functional.rms_norm native_layer_norm"""),
    "losses": (FLOAT, """
        nn.functional.binary_cross_entropy nn.functional.binary_cross_entropy_with_logits nn.functional.cosine_embedding_loss
        nn.functional.cross_entropy nn.functional.hinge_embedding_loss nn.functional.huber_loss nn.functional.kl_div
        nn.functional.l1_loss nn.functional.margin_ranking_loss nn.functional.mse_loss nn.functional.multi_margin_loss
        nn.functional.multilabel_soft_margin_loss nn.functional.nll_loss nn.functional.poisson_nll_loss nn.functional.smooth_l1_loss
        nn.functional.soft_margin_loss nn.functional.triplet_margin_loss"""),
    "windows": (FLOAT, """
        nn.functional.avg_pool1d nn.functional.avg_pool2d nn.functional.avg_pool3d nn.functional.conv1d nn.functional.conv2d
        nn.functional.conv3d nn.functional.conv_transpose1d nn.functional.conv_transpose2d nn.functional.conv_transpose3d
        nn.functional.max_pool1d nn.functional.max_pool2d nn.functional.max_pool3d max_pool2d_with_indices_backward
        nn.functional.interpolate.bilinear nn.functional.interpolate.nearest"""),
}  # fmt: skip
GRADIENTS_ON_THE_HOST = {"nn.functional.pad.replicate": "aten.replication_pad"}
TABLE = table()
BY_NAME = {info.name + ("." + info.variant_test_name if info.variant_test_name else ""): info for info in op_db}


def tensors(tree):
    return [x for x in pytree.tree_leaves(tree) if isinstance(x, torch.Tensor)]


def applies(tree):
    return all(x.numel() and not x.is_complex() and x.dtype is not torch.float64 and x.dim() <= 6 for x in tensors(tree))


def chosen(name, dtype):
    """A few samples that apply, in an order that TESELA_SEED gives, and how many do not."""
    torch.manual_seed(SEED)
    random.seed(SEED)
    gradients = dtype is torch.float32 and BY_NAME[name].supports_autograd
    samples = [(s.input, s.args, s.kwargs) for s in BY_NAME[name].sample_inputs("cpu", dtype, requires_grad=gradients)]
    fit = [s for s in samples if applies(s) and not s[2].get("dropout_p") and not s[2].get("sparse")]
    random.Random(f"{SEED} {name}").shuffle(fit)
    return fit, len(samples) - len(fit)


def evaluated(call, given, gradients):
    """Results; if asked for, also their gradients, weighted."""
    given = [x.detach().clone().requires_grad_(x.requires_grad) for x in given]
    with torch.set_grad_enabled(gradients):
        results = call(*given)
        ends = [(y, torch.linspace(-1, 2, y.numel()).reshape(y.shape)) for y in results if gradients and y.requires_grad]
        leaves = [x for x in given if x.requires_grad] if ends else []
        found = torch.autograd.grad([y for y, _ in ends], leaves, [w for _, w in ends], allow_unused=True) if leaves else ()
    return [y.detach() for y in results] + [torch.zeros_like(x) if dx is None else dx for x, dx in zip(leaves, found, strict=True)]


def lowered(call, given, gradients):
    """What the backend makes of it: results, and the operators of the host."""
    made = []

    def compiler(module, inputs, kind):
        made.append(_backend.Compiled(module, inputs, kind, {}))
        return make_boxed_func(made[-1])

    kinds = {f"{short}_compiler": functools.partial(compiler, kind=kind)
             for short, kind in (("fw", "forward"), ("bw", "backward"), ("inference", "inference"))}  # fmt: skip
    with sdpa_kernel(SDPBackend.MATH):
        results = evaluated(aot_function(call, decompositions=TABLE, **kinds), given, gradients)
    return results, sum((one.host for one in made), collections.Counter())


def described(sample):
    shapes = pytree.tree_map(lambda x: list(x.shape) if isinstance(x, torch.Tensor) else x, sample)
    return " ".join(map(str, shapes))


def faults(name, dtype, counts):
    op, done = BY_NAME[name].op, 0
    samples, counts["left out"] = chosen(name, dtype)
    for sample in samples:
        leaves, spec = pytree.tree_flatten(sample)
        at = [k for k, x in enumerate(leaves) if isinstance(x, torch.Tensor)]
        given = [leaves[k] for k in at]

        def call(*values, leaves=leaves, spec=spec, at=at):
            of = dict(zip(at, values))
            first, args, keywords = pytree.tree_unflatten([of.get(k, x) for k, x in enumerate(leaves)], spec)
            return tensors(op(first, *args, **keywords))

        gradients = not done and any(x.requires_grad for x in given)
        expected = evaluated(call, given, gradients)
        if not applies(expected):
            counts["left out"] += 1
            continue
        try:
            found, host = lowered(call, given, gradients)
            for a, b in zip(found, expected, strict=True):
                torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4 if gradients else 1e-5, equal_nan=True)
            if any(not one.startswith(GRADIENTS_ON_THE_HOST.get(name, "-")) for one in host):
                yield f"{name} {dtype} {described(sample)}: on the host {dict(host)}"
        except (DynamicOutputShapeException, tesela.RangeError) as error:
            assert not isinstance(error, tesela.RangeError) or dtype is torch.int64 and "does not fit s32" in str(error)
            counts["left out"] += 1
            continue
        except Exception as error:  # noqa: BLE001 - each one is reported with its sample
            yield f"{name} {dtype} {described(sample)}: {type(error).__name__} {error}"
        done += 1
        counts["with gradients"] += gradients
        if done == SAMPLES[dtype]:
            break
    counts["done"] += done
    if not done and dtype is torch.float32:
        yield f"{name}: no sample applies"


@pytest.mark.parametrize("group", GROUPS)
def test_samples(group, record_property):
    torch.set_num_threads(1)
    dtypes, names = GROUPS[group]
    counts, found = collections.Counter(), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names.split():
            for dtype in dtypes:
                if dtype in BY_NAME[name].dtypes:
                    found += faults(name, dtype, counts)
    for what, count in counts.items():
        record_property(what, count)
    assert not found, "\n" + "\n".join(found)
    assert counts["done"] >= len(names.split())
