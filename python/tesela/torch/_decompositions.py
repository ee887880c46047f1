# SPDX-License-Identifier: Apache-2.0
"""Operators of torch that are written with simpler ones before they are lowered: torch's own table, in part, and the losses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._decomp import get_decompositions

aten = torch.ops.aten

WORDS = """
    native_layer_norm native_layer_norm_backward native_group_norm native_group_norm_backward _fused_rms_norm _fused_rms_norm_backward
    native_batch_norm native_batch_norm_backward _native_batch_norm_legit _native_batch_norm_legit_functional
    _native_batch_norm_legit_no_training _batch_norm_with_update_functional batch_norm_backward
    _softmax _log_softmax _softmax_backward_data _log_softmax_backward_data _safe_softmax logsumexp
    gelu gelu_backward silu silu_backward tanh_backward sigmoid_backward threshold threshold_backward leaky_relu leaky_relu_backward
    elu elu_backward hardtanh hardtanh_backward hardswish hardswish_backward hardsigmoid hardsigmoid_backward softplus softplus_backward
    log_sigmoid_forward log_sigmoid_backward mish mish_backward mse_loss mse_loss_backward l1_loss smooth_l1_loss
    smooth_l1_loss_backward huber_loss huber_loss_backward binary_cross_entropy binary_cross_entropy_backward
    binary_cross_entropy_with_logits addcmul addcdiv lerp stack std std_mean frobenius_norm norm linalg_vector_norm
    native_dropout_backward glu glu_backward xlogy square trace tril triu eye linspace unsafe_split masked_fill_ fill
    diag_embed repeat pixel_shuffle pixel_unshuffle channel_shuffle rot90 narrow_copy roll zero sgn sinc logaddexp logaddexp2
    count_nonzero cumprod celu softshrink softshrink_backward hardshrink hardshrink_backward _prelu_kernel _prelu_kernel_backward
    soft_margin_loss soft_margin_loss_backward multi_margin_loss nan_to_num isposinf isneginf heaviside deg2rad rad2deg frac
    addmv addr logit logit_backward diagonal_backward dist linalg_cross nansum vdot reflection_pad1d reflection_pad2d reflection_pad3d
    reflection_pad1d_backward reflection_pad2d_backward reflection_pad3d_backward _unsafe_masked_index
    replication_pad1d replication_pad2d replication_pad3d upsample_nearest1d upsample_nearest2d upsample_nearest3d
    _upsample_nearest_exact1d _upsample_nearest_exact2d _upsample_nearest_exact3d
    upsample_linear1d upsample_bilinear2d upsample_trilinear3d
"""


def table() -> dict[Any, Callable[..., Any]]:
    """The decompositions that the backend takes."""
    packets = [getattr(aten, name) for name in WORDS.split() if hasattr(aten, name)]
    found = {**get_decompositions(packets), **LOSSES}
    for target in set(found) & {getattr(aten.linspace, name) for name in aten.linspace.overloads()}:
        found[target] = _of_floats(found[target])
    return found


def _of_floats(linspace: Callable[..., Any]) -> Callable[..., Any]:
    """Torch's own decomposition computes integers by a product that may be rounded to the next one below."""

    def decomposed(*args: Any, dtype: torch.dtype | None = None, **rest: Any) -> Any:
        if dtype is not None and not dtype.is_floating_point:
            return NotImplemented
        return linspace(*args, dtype=dtype, **rest)

    return decomposed


def _classes(x: Any, target: Any, weight: Any, ignore: int) -> tuple[Any, Any, Any]:
    """Where the class, the last dim of x, is the target's; the weights of the classes; the weight of each target.

    The last one is a lookup, which stops the run at a class that is not there. So every loss has to be computed by it.
    """
    used = target != ignore
    row = torch.where(used, target, 0)
    weights = torch.ones(x.shape[-1], dtype=x.dtype, device=x.device) if weight is None else weight
    hit = (row.unsqueeze(-1) == torch.arange(x.shape[-1], device=x.device)) & used.unsqueeze(-1)
    found = aten.index_select(weights, 0, row.reshape(-1)).reshape(row.shape)
    return hit, weights, torch.where(used, found, torch.zeros_like(found))


def nll_loss_forward(x: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> Any:
    hit, _, each = _classes(x, target, weight, ignore_index)
    loss = torch.where(hit, -x, torch.zeros_like(x)).sum(-1) * each
    total = each.sum()
    if reduction == 0 and x.dim() > 1:
        return loss, x.new_zeros(())
    return (loss.sum() / total, total) if reduction == 1 else (loss.sum(), total)


def nll_loss_backward(
    grad: Any, x: Any, target: Any, weight: Any, reduction: int, ignore_index: int, total: Any
) -> Any:  # fmt: skip
    hit, weights, _ = _classes(x, target, weight, ignore_index)
    if reduction == 1:
        grad = grad / total
    if grad.dim():
        grad = grad.unsqueeze(-1)
    return torch.where(hit, -(grad * weights), torch.zeros_like(x))


def nll_loss2d_forward(x: Any, *rest: Any) -> Any:
    return nll_loss_forward(x.permute(0, 2, 3, 1), *rest)


def nll_loss2d_backward(grad: Any, x: Any, *rest: Any) -> Any:
    return nll_loss_backward(grad, x.permute(0, 2, 3, 1), *rest).permute(0, 3, 1, 2).contiguous()


LOSSES = {
    aten.nll_loss_forward.default: nll_loss_forward, aten.nll_loss_backward.default: nll_loss_backward,
    aten.nll_loss2d_forward.default: nll_loss2d_forward, aten.nll_loss2d_backward.default: nll_loss2d_backward,
}  # fmt: skip
