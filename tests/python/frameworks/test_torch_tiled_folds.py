# SPDX-License-Identifier: Apache-2.0
"""Folds, products and operators along a dim on tiled memory whose padding is NaN, against eager torch; none goes through the host."""

import os

import pytest
import torch
import torch.nn.functional as F
from test_torch_tiled_operators import poisoned

from tesela.torch import TiledTensor, fallbacks, moves, restickify, to_host, to_with_layout
from tesela.torch._frames import as_whole

pytestmark = pytest.mark.frameworks
SEED = int(os.environ.get("TESELA_SEED", "1"))
torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def counters():
    fallbacks(reset=True)
    moves(reset=True)
    torch.manual_seed(SEED)


def same(found, expected, **tolerance):
    for one, wanted in zip(*(v if isinstance(v, (tuple, list)) else (v,) for v in (found, expected))):
        assert type(one) is TiledTensor and one.dtype == wanted.dtype and one.shape == wanted.shape
        torch.testing.assert_close(to_host(one), wanted, **tolerance)


def pick(choices):
    return choices[int(torch.randint(len(choices), ()))]


FOLDS = [
    torch.sum, torch.mean, torch.amax, torch.amin, torch.var, torch.std, torch.logsumexp, torch.nansum, torch.count_nonzero,
    lambda x, d, **k: torch.linalg.vector_norm(x, 2, d, **k), torch.var_mean, lambda x, d, **k: (x > 1).any(d, **k), lambda x, d, **k: (x > -2).all(d, **k),
    lambda x, d, **k: torch.linalg.vector_norm(x, 1, d, **k),
]  # fmt: skip
ONE = [torch.prod, torch.argmax, torch.argmin, torch.max, torch.min, torch.median, lambda x, dim, **k: torch.norm(x, dim=dim, **k), torch.aminmax]
ALL = [
    torch.sum, torch.mean, torch.prod, torch.max, torch.min, torch.argmax, torch.std, torch.norm, torch.median, torch.amax, torch.any,
    torch.all,
]  # fmt: skip
ALONG = [
    torch.softmax, torch.log_softmax, torch.cumsum, torch.cumprod, torch.logcumsumexp, lambda x, d: torch.sort(x, dim=d, stable=True),
    lambda x, d: x.topk(1, d), lambda x, d: F.normalize(x, dim=d), lambda x, d: x.flip(d),
]  # fmt: skip


def operands():
    """Random tensors, their order of device dims and names of some dims, with views that lie in sticks as they are."""
    for size in ((70,), (5, 70), (3, 4, 33), (2, 3, 1, 40), (33, 2), (1, 1)):
        x = torch.randn(size)
        order = torch.randperm(len(size)).tolist()
        view = pick([lambda a: a, lambda a: a.movedim(0, -1), lambda a: a.unsqueeze(0)])
        yield view(x), view(poisoned(x, dim_order=order))


def test_folds():
    for x, t in operands():
        for operator in FOLDS:
            dims = torch.randperm(x.dim()).tolist()[: int(torch.randint(1, x.dim() + 1, ()))]
            if operator is torch.count_nonzero:
                same(operator(t, dims), operator(x, dims))
            elif operator not in (torch.var, torch.std, torch.var_mean) or x.numel() > 1 and all(x.shape[d] > 1 for d in dims):
                keepdim = pick([True, False])
                same(operator(t, tuple(dims), keepdim=keepdim), operator(x, tuple(dims), keepdim=keepdim))
        for operator in ONE:
            dim = int(torch.randint(-x.dim(), x.dim(), ()))
            same(operator(t, dim=dim, keepdim=False), operator(x, dim=dim, keepdim=False))
        for operator in ALL:
            if x.numel() > 1 or operator is not torch.std:
                same(operator(t), operator(x))
        for operator in ALONG:
            dim = int(torch.randint(-x.dim(), x.dim(), ()))
            same(operator(t, dim), operator(x, dim))
    assert fallbacks() == {} and set(moves()) <= {"aten.div.Tensor"}


def test_what_is_left_lies_as_the_rfc_has_it():
    t = to_with_layout(torch.randn(256, 128).half())
    D = t.sum(1).device_layout
    assert (D.device_size, D.stride_map) == ((1, 256, 64), (-1, 1, -1))  # one element per stick
    assert t.sum(0).device_layout == to_with_layout(torch.zeros(128).half()).device_layout
    assert t.sum(1, keepdim=True).device_layout.device_size == (1, 256, 64)
    assert t.sum().device_layout.device_size == (1, 64) and t.sum().device_layout.stride_map == (-1, -1)
    three = to_with_layout(torch.randn(4, 5, 70))
    assert three.amax(1).device_layout == to_with_layout(torch.zeros(4, 70)).device_layout
    assert three.amax(1, keepdim=True).device_layout == to_with_layout(torch.zeros(4, 1, 70)).device_layout
    _ = (t - t.mean(-1, keepdim=True)) / t.std(-1, keepdim=True) + t.amax(0) - t.sum()
    assert moves() == {} and fallbacks() == {}


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.bool, torch.uint8])
def test_types(dtype):
    x = torch.randint(0, 2 if dtype is torch.bool else 5, (5, 70)).to(dtype)
    for order in ([0, 1], [1, 0]):
        t = poisoned(x, dim_order=order)
        for dim in (0, 1, (0, 1)):
            same(t.sum(dim), x.sum(dim))
            same(t.any(dim), x.any(dim))
            same(t.amax(dim), x.amax(dim))
            if dtype.is_floating_point:
                same(t.mean(dim), x.mean(dim))
                same(t.softmax(1), x.softmax(1))
        ones, few = (t, x) if dtype is torch.bool else (t.clamp_max(1), x.clamp_max(1))  # inf * 0 depends on the order
        same(ones.prod(), few.prod())
        if dtype is not torch.bool:
            same(t.argmax(0), x.argmax(0))
            same(t.argmax(1), x.argmax(1))
            same(t.max(0), x.max(0))
    assert fallbacks() == {}


def test_sums_that_do_not_fit_are_refused():
    t = poisoned(torch.full((40, 3), 1 << 30))
    with pytest.raises(OverflowError, match="42949672960 of element .* does not fit s32"):
        t.sum(0)
    assert to_host(t[:1].sum(0)).tolist() == [1 << 30] * 3
    with pytest.raises(IndexError, match="out of range"):
        t.sum(2)
    with pytest.raises(RuntimeError, match="mean"):
        t.mean()
    with pytest.raises(ValueError, match="has no layout"):
        t.sum(dtype=torch.float64)


@pytest.mark.parametrize(
    "words", ["dim_order=[0,1], pad_to={0:9}", "dims=[(-2,1,2),(1,32,2),(0,1,6),(1,1,32)]", "target=tiles", "dim_order=[0,1,-1]",
              "dims=[(1,20,3),(0,2,3),(0,1,2),(1,1,32)]"]
)  # fmt: skip
def test_padded_replicated_tiled_sparse_and_uneven_layouts(words):
    x = torch.randn(6, 40)
    t = poisoned(x, layout=f"f32[6,40] stick({words})")
    for operator in (lambda a: a.sum(0), lambda a: a.mean(1), lambda a: a.max(1, keepdim=True), lambda a: a.sum(), lambda a: a.softmax(0),
                     lambda a: a.cumsum(1), lambda a: a.t().argmax(1), lambda a: a - a.amax(1, keepdim=True), lambda a: a @ a.t(),
                     lambda a: F.layer_norm(a, (40,)), lambda a: torch.cat([a, a], 0), lambda a: a[torch.tensor([2, 5])]):  # fmt: skip
        same(operator(t), operator(x))
    assert fallbacks() == {}


def test_views_keep_their_places_or_are_moved():
    """The layout of a view under its own dims says the same places as that of its base, by the definition of strides."""
    kept = 0
    uneven = torch.arange(240).reshape(6, 40)  # steps of which none divides another: a part of 8 cuts through the step 20
    same(poisoned(uneven, layout="s64[6,40] stick(dims=[(1,20,3),(1,8,3),(1,1,8),(0,1,32)])").view(6, 5, 8).sum(1), uneven.view(6, 5, 8).sum(1))
    moves(reset=True)
    for size, order in (((4, 6, 64), [0, 1, 2]), ((4, 6, 64), [2, 0, 1]), ((8, 96), [0, 1]), ((6, 40), [1, 0]), ((1, 24, 5), [0, 2, 1])):
        x = torch.arange(torch.Size(size).numel()).reshape(size)
        t = poisoned(x, dim_order=order)
        n = x.numel()
        for view in (
            lambda a: a.movedim(0, -1), lambda a: a.flatten(0, 1), lambda a: a.reshape(-1), lambda a: a.reshape(2, n // 4, 2),
            lambda a: a.unflatten(-1, (-1, a.shape[-1] // 2 or 1)) if a.shape[-1] % 2 == 0 else a, lambda a: a.unflatten(0, (-1, a.shape[0])),
            lambda a: a.flatten(-2).t() if a.dim() > 2 else a.t().unsqueeze(1), lambda a: a.reshape(n // 32, 32) if n % 32 == 0 else a,
            lambda a: a[1:] if a.shape[0] > 1 else a[..., 1:], lambda a: a.unflatten(-1, (2, -1)).movedim(-2, 0) if a.shape[-1] % 2 == 0 else a,
        ):  # fmt: skip
            part, wanted = view(t), view(x)
            own = as_whole(part)
            index = torch.cartesian_prod(*map(torch.arange, wanted.shape)).reshape(-1, wanted.dim())
            if own is not None:
                kept += 1
                base = torch.stack(torch.unravel_index(wanted[tuple(index.T)], size), -1)
                assert (own.device_layout.where(index.numpy()) == t.device_layout.where(base.numpy())).all(), (size, order, wanted.shape)
            dim = wanted.dim() - 1
            same(part.sum(dim), wanted.sum(dim))
    assert kept > 25 and fallbacks() == {} and 0 < moves()["aten.sum.dim_IntList"] < 25


def test_products():
    shapes = [((6, 40), (40, 70)), ((3, 6, 40), (3, 40, 33)), ((2, 6, 40), (40, 5)), ((2, 3, 4, 33), (2, 3, 33, 2)), ((6, 40), (40,)), ((40,), (40,)),
              ((1, 40), (40, 1)), ((5, 1), (1, 7))]  # fmt: skip
    for a, b in shapes:
        x, y = torch.randn(a), torch.randn(b)
        moves(reset=True)
        same(poisoned(x) @ poisoned(y), x @ y, rtol=1e-5, atol=1e-5)
        assert moves(reset=True) == {}, (a, b)
        s, t = poisoned(x, dim_order=torch.randperm(len(a)).tolist()), poisoned(y, dim_order=torch.randperm(len(b)).tolist())
        same(s @ t, x @ y, rtol=1e-5, atol=1e-5)
    bias, x, w = torch.randn(33), torch.randn(2, 5, 40), torch.randn(33, 40)
    moves(reset=True)
    same(F.linear(poisoned(x), poisoned(w, dim_order=[1, 0]), poisoned(bias)), F.linear(x, w, bias), rtol=1e-5, atol=1e-5)
    assert moves() == {}
    same(F.linear(poisoned(x), poisoned(w), bias), F.linear(x, w, bias), rtol=1e-5, atol=1e-5)
    assert moves() == {"aten.addmm.default": 1}  # w.t() has the contracted dim in its sticks, not the columns
    h, k = torch.randn(6, 70).half(), torch.randn(70, 33).half()
    same(poisoned(h) @ poisoned(k), (h.double() @ k.double()).half(), rtol=1e-3, atol=1e-3)
    i = torch.randint(-9, 9, (6, 40))
    same(poisoned(i) @ poisoned(i.t()), i @ i.t())
    same(torch.addmm(poisoned(bias), poisoned(x[0]), poisoned(w.t()), beta=0.5, alpha=2), torch.addmm(bias, x[0], w.t(), beta=0.5, alpha=2), rtol=1e-5, atol=1e-5)
    with pytest.raises(RuntimeError, match="must match|cannot be multiplied"):
        poisoned(h) @ poisoned(h)
    assert set(fallbacks()) <= {"aten.mm.default"}  # torch said it


def test_joined_and_picked():
    x, y = torch.randn(5, 33), torch.randn(5, 40)
    same(torch.cat([poisoned(x), poisoned(y), x], 1), torch.cat([x, y, x], 1))
    same(torch.cat([poisoned(x), poisoned(y)[:, 3:36].t().t()], 0), torch.cat([x, y[:, 3:36]], 0))
    same(torch.stack([poisoned(x), poisoned(x)], 1), torch.stack([x, x], 1))
    picks = torch.tensor([[3, 2, 3], [0, 1, 1]])
    for order in ([0, 1], [1, 0]):
        t = poisoned(x, dim_order=order)
        same(t.index_select(1, picks[0]), x.index_select(1, picks[0]))
        same(t[:, poisoned(picks[0] - 4)], x[:, picks[0] - 4])
    spots = torch.randint(0, 5, (7, 33))
    same(poisoned(x).gather(0, poisoned(spots)), x.gather(0, spots))
    same(F.embedding(picks, poisoned(x)), F.embedding(picks, x))
    same(poisoned(x)[picks], x[picks])
    assert fallbacks() == {}
    with pytest.raises(IndexError):
        poisoned(x)[torch.tensor([5])]


def grads(function, tensors, tiled):
    leaves = [(poisoned(x) if tiled else x.clone()).requires_grad_() for x in tensors]
    function(*leaves).backward()
    return [to_host(one.grad) for one in leaves]


def test_gradients_without_the_host():
    cases = [
        (lambda a, b: ((a + b) * b).tanh().sum(), (3, 5, 40), (40,)),
        (lambda a, b: (a - a.mean(-1, keepdim=True)).pow(2).mean() + (a * b).amax(0).sum(), (5, 40), (5, 1)),
        (lambda a, b: (F.gelu(a @ b) * 3).mean(), (5, 40), (40, 33)),
        (lambda a, b: (F.linear(a, b) ** 2).sum(1).max(), (2, 5, 40), (33, 40)),
        (lambda a, b: (F.layer_norm(a, (40,), b, b) * a).tanh().sum(), (2, 5, 40), (40,)),
        (lambda a, b: (a.softmax(1) * b.log_softmax(0)).std(), (5, 40), (5, 40)),
        (lambda a, b: torch.cat([a, b]).logsumexp(0).norm() + a.var(1).prod(), (5, 40), (3, 40)),
        (lambda a, b: F.mse_loss(a.view(2, 3, 2, 32).transpose(1, 2).sum(-1), b), (2, 3, 64), (2, 2, 3)),
    ]
    for number, (function, *sizes) in enumerate(cases):
        tensors = [torch.randn(size) for size in sizes]
        for tiled, eager in zip(grads(function, tensors, True), grads(function, tensors, False)):
            torch.testing.assert_close(tiled, eager, msg=lambda text, number=number: f"case {number}: {text}")
        assert fallbacks(reset=True) == {}, number


def test_what_was_written_is_not_shared():
    x = torch.randn(1, 40)
    t = poisoned(x)
    for operator in (lambda a: a.sum(0), lambda a: torch.cat([a], 0), lambda a: a[torch.tensor([0])], lambda a: a.contiguous().clone(), lambda a: restickify(a, 0)):
        operator(t).fill_(7)
        assert torch.equal(to_host(t), x)
