# SPDX-License-Identifier: Apache-2.0
"""Operators of torch that the backend "tesela" lowers, a list at a time, against eager; what of them runs on the host."""

from __future__ import annotations

import copy
import doctest
import os

import pytest
import tesela.torch
import torch
import torch.nn.functional as F
from tesela.torch import _backend, _explain, _hints, _program

pytestmark = pytest.mark.frameworks
SEED = int(os.environ.get("TESELA_SEED", "14"))


def elementwise(x, p):
    return (
        -x, x.abs(), x.exp(), x.expm1(), p.log(), p.log1p(), p.log2(), p.sqrt(), p.rsqrt(), x.tanh(), x.sigmoid(), x.relu(), x.sin(),
        x.cos(), x.tan(), x.erf(), x.floor(), x.ceil(), x.round(), x.trunc(), x.sign(), p.reciprocal(), x.square(), x**3, 2**x, p**x,
        p / x, torch.exp2(x), x.clamp(-0.5, 0.5), x.clamp_min(0), x.clamp_max(0), F.gelu(x), F.gelu(x, approximate="tanh"), F.silu(x),
        F.softplus(x), F.elu(x), F.leaky_relu(x), F.hardswish(x), F.mish(x), torch.lerp(x, p, 0.3), torch.addcmul(x, p, x, value=2),
        torch.addcdiv(x, p, p), torch.maximum(x, p), torch.minimum(x, p), torch.fmod(x, p), torch.remainder(x, p), torch.atan2(x, p),
        torch.sub(x, p, alpha=3), torch.rsub(x, 2.5), 3 - x,
    )  # fmt: skip


def comparisons(x, p, n):
    return (
        x > p, x == p, x <= 0, torch.where(x > 0, x, p), (x > 0) & (p > 1), (x > 0) | (p > 1), (x > 0) ^ (p > 1), ~(x > 0), torch.isnan(x),
        x.masked_fill(x > 0, 3.0), n * 2 + 1, n // 4, n % 5, n.float() * 0.5, n * 0.5, x.half().float(), x.bfloat16().float(), x.int(),
        x.bool(), n & 3, n.clamp(0, 5),
    )  # fmt: skip


def folds(x, p, n):
    return (
        x.sum(), x.sum(0), x.mean(1, keepdim=True), x.mean(), x.amax(0), x.amin(1), p.prod(1), p.prod(), (x > 0).any(1), (x > 0).all(), x.var(1),
        x.std(0), *torch.var_mean(x, 1), x.logsumexp(1), x.softmax(1), x.log_softmax(0), x.norm(dim=1), n.sum(), n.sum(0), x.max(), x.min(),
        (x > 0).sum(), x.argmax(1), x.argmin(), *x.max(1), *x.min(0, keepdim=True), *x.sort(1), *x.topk(2), *x.topk(2, largest=False),
        x.cumsum(1), n.cumsum(0),
    )  # fmt: skip


def views(x, t):
    return (
        x.t().reshape(-1), x[1], x[:, 2], x[1:4, ::2], x.flip(0), t.permute(0, 2, 3, 1).flatten(1), torch.cat([x, x * 2], 1),
        torch.stack([x, x + 1]), F.pad(x, (1, 2)), F.pad(x, (0, 0, 1, 1), value=2.0), x.expand(3, 5, 6).sum(0), x.repeat(2, 1),
        x.split(2)[1] * 1, x.chunk(2, 1)[0] + 1, x.tril(), x.triu(1), x.roll(1, 0), x[None, :, None] * 1, torch.eye(4), torch.arange(5),
        torch.full((2,), 3.0), torch.zeros_like(x), t.movedim(1, -1) * 1, x.view(5, 2, 3).transpose(1, 2).reshape(5, 6), x.unbind(1)[2] * 1,
        torch.outer(x[0], x[1]),
    )  # fmt: skip


def lookups(x, t, i):
    at, n = i.clamp_min(0), torch.arange(24).reshape(2, 3, 4, 1) * 5 % 4
    j, k = at[:, :1] % 2, torch.tensor([0, 3, -8])
    return (
        x[i], x.index_select(1, at[0]), F.embedding(at, x), F.one_hot(at, 6), x[:, i[0]], x[0].take(at), x.take(at), t[j % 2, i % 4],
        t[:, i % 4, at], t[j, :, k], t[..., k[0]], t[j, at % 4, :, k], t.gather(1, n), t.gather(-1, n), t[0, 0].gather(0, n[0, :, :, 0]),
    )  # fmt: skip


def put(x, value, *places):
    x = x.clone()
    x[places] = value
    return x


def updates(x, t, i):
    whole, at, n = slice(None), i.clamp_min(0), torch.arange(48).reshape(2, 3, 4, 2) * 5 % 4
    j, k, ys = torch.tensor([[1], [-2]]), torch.tensor([0, 3, -3]), torch.arange(512.0).reshape(2, 4, 8, 8)
    z, one = torch.zeros(5, 6), t[0, 0, 0, 0]
    return (
        z.index_put((i[1],), x[:3]), z.index_put((i[1],), x[:3], accumulate=True), z.index_put((i, i), one, accumulate=True),
        put(t, ys[..., :3], whole, whole, whole, k), put(t, ys[:, :3], whole, k), put(t, 2.5, j, k), put(t, ys[:, :3], j, k),
        put(t, ys[:, :3, :2], whole, j.T, k[:, None]), put(t, ys[:, :3, :4], j, whole, k),
        put(t, ys[0, :2, :3], j, k, whole, k), put(t, 7, t > 0), put(t, one, t[:, :, 0, 0] > 0), put(t, 3.0, whole, t[0, :, :, 0] > 0),
        t.index_put((t > 1,), one, accumulate=True), t.index_copy(1, k % 4, ys[:, :3]), t.index_add(2, k % 8, ys[:, :, :3], alpha=2),
        t.index_fill(-1, k, 9.0), t.scatter(1, n, ys), t.scatter(-1, n, 4.0), t.scatter_add(2, n, ys), put(t, ys[:, 1:3], whole, slice(0, 4, 2)),
        torch.slice_scatter(t, ys[:, 1:3], 1, 0, 4, 2), torch.select_scatter(t, ys[:, 0], 1, -1), put(t, t[..., 3:5], ..., slice(-2, None)),
        put(t, ys[:, :, 3], whole, whole, 2), put(x, at[0, 0], 3),
    )  # fmt: skip


def products(x, w, t):
    return (
        x @ w, t @ t, torch.einsum("bchw,bcwk->bhk", t, t), F.linear(x, w), torch.addmm(x, x, w, beta=0.5, alpha=2), x[0] @ w, x @ w[0],
        x[0] @ x[1], torch.baddbmm(t[0], t[1], t[0]), F.scaled_dot_product_attention(t, t, t), x.half() @ w.half(),
    )  # fmt: skip


def windows(t, k):
    return (
        F.conv2d(t, k[:6, :4]), F.conv2d(t, k[:6, :4], stride=2, padding=1, dilation=2), F.conv2d(t, k[:8, :1], groups=4, padding=1),
        F.conv2d(t, k[:4, :1], groups=4), F.conv2d(t, k[:8, :2], groups=2), F.conv1d(t[0], k[:6, :, 0]), F.conv3d(t[None], k[None, :2, :2]),
        F.conv_transpose2d(t, k[:4, :5], stride=2, padding=1, output_padding=1), F.avg_pool2d(t, 2), F.avg_pool2d(t, 3, 1, 1),
        F.max_pool2d(t, 2), F.adaptive_avg_pool2d(t, 1), F.group_norm(t, 2), F.instance_norm(t),
    )  # fmt: skip


def values():
    g = torch.Generator().manual_seed(SEED)
    x, p, w = torch.randn(5, 6, generator=g), torch.rand(5, 6, generator=g) + 0.5, torch.randn(6, 6, generator=g)
    t, k = torch.randn(2, 4, 8, 8, generator=g), torch.randn(8, 8, 3, 3, generator=g)
    return x, p, w, t, k, torch.tensor([[0, 3, -1], [4, 4, 2]]), torch.arange(30).reshape(5, 6) - 7


CASES = {elementwise: "xp", comparisons: "xpn", folds: "xpn", views: "xt", lookups: "xti", updates: "xti", products: "xwt", windows: "tk"}
ON_THE_HOST = {lookups: {"aten._assert_async.msg": 2}}


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_operators(function):
    torch._dynamo.reset()
    tesela.torch.fallbacks(reset=True)
    named = dict(zip("xpwtkin", values()))
    inputs = [named[name] for name in CASES[function]]
    found = torch.compile(function, backend="tesela")(*inputs)
    expected = function(*inputs)
    for k, (a, b) in enumerate(zip(found, expected, strict=True)):
        assert a.dtype is b.dtype and a.shape == b.shape and a.stride() == b.stride(), k
        if b.is_floating_point():
            torch.testing.assert_close(a.double(), b.double(), rtol=2e-3 if b.dtype is torch.float16 else 2e-5, atol=2e-5, msg=str(k))
        else:
            assert torch.equal(a, b), k
    host = tesela.torch.fallbacks()
    assert all(n <= ON_THE_HOST.get(function, {}).get(name, 0) for name, n in host.items()), host


@pytest.mark.parametrize("options", [{"stride": 3, "padding": 2, "dilation": 2}, {"groups": 2, "stride": 2, "padding": 1}, {"groups": 4}], ids=str)
def test_convolution_backward(options):
    torch._dynamo.reset()
    tesela.torch.fallbacks(reset=True)
    torch.manual_seed(SEED)
    model, x = torch.nn.Conv2d(4, 8, 3, **options), torch.randn(2, 4, 9, 8, requires_grad=True)
    leaves = (x, *model.parameters())
    found = torch.autograd.grad(torch.compile(model, backend="tesela")(x).square().sum(), leaves)
    expected = torch.autograd.grad(model(x).square().sum(), leaves)
    for a, b in zip(found, expected):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)
    assert not tesela.torch.fallbacks()


def differentiated(function, *inputs):
    """Results, and gradients of the first one times fixed weights: compiled, and eager."""
    found = []
    for call in (torch.compile(function, backend="tesela"), function):
        leaves = [x.clone().requires_grad_() for x in inputs]
        y = call(*leaves)
        y = y if isinstance(y, tuple) else (y,)
        weights = torch.randn(y[0].shape, generator=torch.Generator().manual_seed(SEED))
        found.append([*y, *torch.autograd.grad((y[0] * weights).sum(), leaves)])
    for a, b in zip(*found, strict=True):
        assert a.dtype is b.dtype
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4, equal_nan=True)
    assert not tesela.torch.fallbacks()


def seeded(*shapes):
    torch._dynamo.reset()
    tesela.torch.fallbacks(reset=True)
    generator = torch.Generator().manual_seed(SEED)
    return [torch.randn(shape, generator=generator) for shape in shapes]


@pytest.mark.parametrize("options", [
    {"kernel_size": 2}, {"kernel_size": 3, "stride": 2, "padding": 1}, {"kernel_size": (3, 2), "stride": (1, 2), "padding": 1, "dilation": (2, 1)},
    {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True}, {"kernel_size": 5, "stride": 2, "padding": 2},
], ids=str)  # fmt: skip
def test_max_pools_in_training(options):
    """With the places: of equal elements the first, of a window of -inf the first one in the tensor, and NaN."""
    (x,) = seeded((2, 3, 9, 8))
    x[0, 0, :5, :5], x[0, 1, 2, 3], x[1, 1, 3:5, 3:6] = -float("inf"), float("nan"), 5.0
    differentiated(lambda x: F.max_pool2d(x, **options, return_indices=True), x)


def test_other_pools_in_training():
    x, y = seeded((2, 4, 7, 6), (1, 2, 5, 4, 6))
    differentiated(lambda x, y: sum([
        F.max_pool2d(x[0], 3, 1).sum(), F.max_pool1d(x[1], 3, 2, 1).square().sum(), F.max_pool3d(y, 2, 2, 1).sum(), F.avg_pool1d(x[0], 2).exp().sum(),
        F.avg_pool2d(x, 3, 2, 1).exp().sum(), F.avg_pool2d(x, (3, 2), (1, 3), (0, 1), divisor_override=5).exp().sum(),
        F.avg_pool3d(y, 2, 3).exp().sum(), F.avg_pool2d(x, 3, 2, 1, True, False).exp().sum(), F.avg_pool2d(x, 4, 3, 1, True).exp().sum(),
    ]), x, y)  # fmt: skip


@pytest.mark.parametrize("options", [
    {"stride": 2, "padding": 1, "output_padding": 1}, {"stride": 3, "dilation": 2}, {"groups": 2, "stride": 2, "padding": 1},
    {"groups": 4}, {"stride": 2, "dilation": 3, "output_padding": 2}, {"stride": 2, "padding": 3}, {"stride": 3, "padding": 4, "output_padding": 2, "groups": 2},
], ids=str)  # fmt: skip
def test_transposed_convolutions_in_training(options):
    groups = options.get("groups", 1)
    x, w, b = seeded((2, 4, 5, 6), (4, 3 if groups < 4 else 1, 3, 2), (3 * groups if groups < 4 else 4,))
    differentiated(lambda x, w, b: F.conv_transpose2d(x, w, b, **options), x, w, b)


def test_rounded_quotients():
    """Of f32 with the signs of zeros, infinities and x / 0; of integers by numbers. Integers by tensors, perhaps 0, are the host's."""
    p, q = seeded(100, 100)
    p, q = p * 4, q.sign() * (q.abs() + 0.1)
    p[:8], q[:6] = torch.tensor([0.0, -0.0, 0.0, 1, -1, torch.inf, 1e30, -1e30]), torch.tensor([2.0, 2.0, -2.0, 0, -0.0, 2])
    p[8:20], q[20], q[21] = q[8:20] * 3, torch.inf, -torch.inf
    n = torch.arange(-10, 10)

    def quotients(p, q, n):
        return (
            p // q, torch.div(p, q, rounding_mode="trunc"), torch.div(p, q, rounding_mode="floor"), p // 0.3, p % q, p.fmod(q), 1.0 // q,
            n // 3, n // -3, n % -3, n.fmod(-4), n / 2, n // 2.5, torch.div(n, 3, rounding_mode="trunc"),
            torch.div(n.int(), -2, rounding_mode="floor"),
        )  # fmt: skip

    for k, (a, b) in enumerate(zip(torch.compile(quotients, backend="tesela")(p, q, n), quotients(p, q, n), strict=True)):
        assert a.dtype is b.dtype and torch.allclose(a, b, rtol=1e-6, atol=0, equal_nan=True), k
        assert not b.is_floating_point() or torch.equal(a.signbit() & ~b.isnan(), b.signbit() & ~b.isnan()), k
    assert not tesela.torch.fallbacks()

    def by_tensor(n, m):
        return n // m, n % m, n.fmod(m), torch.div(n, m, rounding_mode="trunc")

    call = torch.compile(by_tensor, backend="tesela")
    assert all(torch.equal(a, b) for a, b in zip(call(n, n + 20), by_tensor(n, n + 20), strict=True))
    assert sum(tesela.torch.fallbacks().values()) == 4
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        call(n, n)


def test_random_numbers_are_the_hosts():
    (x,) = seeded((40, 8))
    torch.manual_seed(SEED)
    y = torch.compile(lambda x: F.dropout(x * 2, 0.25) + 1, backend="tesela")(x)
    kept = y != 1
    torch.testing.assert_close(y, torch.where(kept, x * 2 / 0.75 + 1, torch.ones(())))
    assert 200 < kept.sum() < 280
    assert tesela.torch.fallbacks() == {"aten.native_dropout.default": 1}


OUTSIDE = {
    "index": (lambda x, i: x[i], (3, -4)),
    "index, two dims": (lambda x, i: x[i.clamp(-1, 2), i], (4, -5)),
    "index_put": (lambda x, i: x.index_put((i,), x[0]), (3, -4)),
    "index_put, two dims": (lambda x, i: x.index_put((i.clamp(-1, 2), i), x[0, 0], accumulate=True), (4, -5)),
    "index_select": (lambda x, i: x.index_select(0, i), (3, -1)),
    "index_copy": (lambda x, i: x.index_copy(0, i, x[:1]), (3, -1)),
    "index_add": (lambda x, i: x.index_add(0, i, x[:1]), (3, -1)),
    "index_fill": (lambda x, i: x.index_fill(0, i, 1.0), (3, -4)),
    "gather": (lambda x, i: x.gather(1, i[:, None]), (4, -1)),
    "scatter": (lambda x, i: x.scatter(1, i[:, None], 1.0), (4, -1)),
    "scatter_add": (lambda x, i: x.scatter_add(0, i[:, None], x), (3, -1)),
    "take": (lambda x, i: x.take(i), (12, -13)),
    "embedding": (lambda x, i: F.embedding(i, x), (3, -1)),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_an_index_outside_its_dim_is_refused(name):
    """As in eager; the graph itself leaves out a scattered value at -1, and an index of joined dims may be inside by chance."""
    function, places = OUTSIDE[name]
    torch._dynamo.reset()
    call, x = torch.compile(function, backend="tesela"), torch.arange(12.0).reshape(3, 4)
    for place in places:
        with pytest.raises((IndexError, RuntimeError)):
            function(x, torch.tensor([place]))
        with pytest.raises(tesela.LayoutError, match="looks up index"):
            call(x, torch.tensor([place]))
    inside = torch.tensor([2])
    assert torch.equal(call(x, inside), function(x, inside))


@pytest.mark.parametrize("shape, reduction, weighted", [
    ((3, 4), "mean", True), ((3, 4), "sum", False), ((3, 4), "none", True), ((4,), "sum", False), ((2, 4, 3, 2), "none", True),
])  # fmt: skip
def test_cross_entropy(shape, reduction, weighted):
    """Losses and gradients; a target that is not a class is refused when it is not the ignored one."""
    x, w = seeded(shape, (4,))
    weight = w.abs() if weighted else None
    target = torch.randint(0, 4, (shape[0], *shape[2:]) if len(shape) > 1 else (), generator=torch.Generator().manual_seed(SEED))
    if target.dim():
        target.view(-1)[0] = 7

    def loss(x, target):
        return F.cross_entropy(x, target, weight, ignore_index=7, reduction=reduction)

    call = torch.compile(loss, backend="tesela")
    found, expected = [], []
    for into, function in ((found, call), (expected, loss)):
        leaf = x.clone().requires_grad_()
        y = function(leaf, target)
        into += [y, *torch.autograd.grad((y * torch.arange(1.0, 1 + y.numel()).reshape(y.shape)).sum(), leaf)]
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b)
    for outside, given in ((4, x.clone().requires_grad_()), (-1, x)):
        bad = target.clone()
        bad.view(-1)[-1] = outside
        with pytest.raises(IndexError):
            loss(x, bad)
        with pytest.raises(tesela.LayoutError, match=f"looks up index {outside}"):
            call(given, bad)
    assert not tesela.torch.fallbacks()


class Decode(torch.nn.Module):
    """Attention of one token at a time: its key and value are written into a cache at `pos`, of all rows or of each one."""

    def __init__(self, width=16, heads=2, length=7, rows=2):
        super().__init__()
        self.heads, self.qkv, self.out = heads, torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.register_buffer("k", torch.zeros(rows, heads, length, width // heads))
        self.register_buffer("v", torch.zeros(rows, heads, length, width // heads))

    def forward(self, x, pos):
        q, k, v = self.qkv(x).view(len(x), 3, self.heads, -1).unbind(1)
        if len(pos) == 1:
            self.k[:, :, pos], self.v[:, :, pos] = k.unsqueeze(2), v.unsqueeze(2)
        else:
            row = torch.arange(len(x))
            self.k[row, :, pos], self.v[row, :, pos] = k, v
        seen = torch.arange(self.k.shape[2]) <= pos.view(-1, 1, 1, 1)
        return self.out(F.scaled_dot_product_attention(q.unsqueeze(2), self.k, self.v, seen).flatten(1))


@pytest.mark.parametrize("rows", ["one position", "a position for each row"])
def test_attention_with_kv_cache(rows):
    """index_put: five steps equal eager's in f64, the cache as well; no operator on the host, no padding read, one compilation."""
    torch._dynamo.reset()
    torch.manual_seed(SEED)
    tesela.torch.fallbacks(reset=True)
    model = Decode()
    reference = copy.deepcopy(model).double()
    call = torch.compile(model, backend="tesela")
    with _backend.recorded() as graphs, torch.no_grad():
        for step in range(5):
            x, pos = torch.randn(2, 16), torch.tensor([step] if rows == "one position" else [step, 6 - step])
            torch.testing.assert_close(call(x, pos).double(), reference(x.double(), pos), rtol=2e-5, atol=2e-5)
            for a, b in ((model.k, reference.k), (model.v, reference.v)):
                torch.testing.assert_close(a.double(), b, rtol=2e-5, atol=2e-5)
            assert all(part.facts.poison_read == 0 for graph in graphs for part in graph.parts)
    assert len(graphs) == 1 and not tesela.torch.fallbacks()


def test_examples():
    for module in (_explain, _hints, _program):
        found = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
        assert found.attempted and not found.failed
