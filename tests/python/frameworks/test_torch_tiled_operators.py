# SPDX-License-Identifier: Apache-2.0
"""Operators on TiledTensors against eager torch: values, gradients, views that write through, what goes through the host."""

import os

import pytest
import torch
import torch.nn.functional as F

from tesela.torch import TiledTensor, fallbacks, moves, restickify, to_host, to_with_layout
from tesela.torch._memory import _move_plan, _plan

pytestmark = pytest.mark.frameworks
SEED = int(os.environ.get("TESELA_SEED", "1"))
torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def counters():
    fallbacks(reset=True)
    moves(reset=True)
    torch.manual_seed(SEED)


def poisoned(x, **options):
    """A tiled tensor whose padding holds the worst: NaN, or the greatest integer."""
    t = to_with_layout(x, **options)
    kind = t.buffer.dtype
    worst = float("nan") if kind.is_floating_point else torch.iinfo(kind).max
    mask = torch.ones(t.buffer.numel(), dtype=torch.bool)
    at = torch.cartesian_prod(*map(torch.arange, x.shape)).reshape(-1, x.dim()).numpy()
    mask[torch.from_numpy(t.device_layout.where(at))] = False
    bits, worst = (t.buffer.view(torch.int32), -1) if kind is torch.uint32 else (t.buffer, worst)
    bits.masked_fill_(mask, worst)
    return t


UNARY = [
    torch.neg, torch.exp, torch.relu, F.gelu, F.silu, torch.tanh, torch.sigmoid, torch.abs, torch.rsqrt, torch.isnan, torch.sign,
    lambda x: x * 2 + 1, lambda x: 3 - x, lambda x: x > 0.5, lambda x: x.clamp(-0.5, 0.5), lambda x: x.pow(2), lambda x: x == x,
    lambda x: F.leaky_relu(x, 0.1), lambda x: torch.where(x > 0, x, 0.0), lambda x: x.masked_fill(x > 0, 7.0), lambda x: -x.t(),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_unary_on_the_places(dtype):
    x = torch.randn(7, 70).to(dtype)
    t = poisoned(x, dim_order=[1, 0])
    for operator in UNARY:
        out, expected = operator(t), operator(x)
        assert type(out) is TiledTensor and out.dtype == expected.dtype
        torch.testing.assert_close(to_host(out), expected, equal_nan=True, rtol={torch.float32: 1e-6, torch.float16: 1e-3, torch.bfloat16: 1e-2}[dtype], atol=1e-3)
    assert fallbacks() == {} and moves() == {}


BINARY = [torch.add, torch.mul, torch.sub, torch.maximum, torch.lt, torch.eq, torch.div, torch.atan2]


def test_binary_and_broadcast():
    x = torch.randn(6, 7, 70)
    t = poisoned(x)
    others = [x.flip(0), x[0, 0], x[:, :1], x[:1], x[..., :1], x[0, 0, 0], x[2, :, :1]]
    for other in others:
        for operator in BINARY:
            torch.testing.assert_close(to_host(operator(t, poisoned(other) if other.dim() else to_with_layout(other))), operator(x, other))
    assert fallbacks() == {}
    assert sum(moves().values()) == 0 or set(moves()) <= {f"aten.{one.__name__}.Tensor" for one in BINARY} | {"aten.maximum.default", "aten.atan2.default"}
    column, row = x[0, :, :1], x[0, :1]
    assert torch.equal(to_host(to_with_layout(column) + to_with_layout(row)), column + row)
    assert torch.equal(to_host(t + x), x + x) and torch.equal(to_host(x * t), x * x)
    assert fallbacks() == {}


def test_other_layouts_and_types_are_moved():
    x = torch.randn(7, 70)
    t = to_with_layout(x)
    assert torch.equal(to_host(t + restickify(t, 0)), x + x) and moves(reset=True) == {"aten.add.Tensor": 1}
    assert torch.equal(to_host(t.t() + to_with_layout(x.t())), x.t() + x.t()) and moves(reset=True) == {"aten.add.Tensor": 1}
    h = to_with_layout(x.half())
    out = t * h
    assert out.dtype == torch.float32 and torch.equal(to_host(out), x * x.half())
    i = to_with_layout(torch.arange(490).reshape(7, 70))
    assert torch.equal(to_host(i * t), to_host(i) * x) and torch.equal(to_host(i / 7), to_host(i) / 7)
    j = poisoned(torch.full((7, 70), 3), dim_order=[1, 0])
    j.buffer[j.buffer == torch.iinfo(torch.int32).max] = 0  # of padding
    assert torch.equal(to_host(i // j), to_host(i) // 3) and torch.equal(to_host(i % j), to_host(i) % 3)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        i // (j - 3)
    assert fallbacks() == {}
    i.floor_divide_(j)  # in place
    assert fallbacks(reset=True) == {"aten.floor_divide_.Tensor": 1}
    moves(reset=True)
    assert to_host(t.half()).dtype == torch.float16 and torch.equal(to_host(t.half()), x.half())  # sticks of 64 lanes: moved
    assert moves(reset=True) == {"aten._to_copy.default": 2}
    assert torch.equal(to_host(h.float()), x.half().float()) and torch.equal(to_host(h.float() + t), x.half().float() + x)
    assert fallbacks() == {}


def test_padding_never_counts():
    x = torch.rand(5, 33) + 1
    t = poisoned(x)
    for operator in (torch.sum, torch.mean, torch.amax, torch.amin, torch.prod, lambda a: a.sum(1), lambda a: a.softmax(-1), lambda a: a @ a.t(),
                     lambda a: F.layer_norm(a, (33,)), lambda a: a.argmax(1), lambda a: torch.cat([a, a]), lambda a: (a * 0).sum()):  # fmt: skip
        out = to_host(operator(t))
        torch.testing.assert_close(out, operator(x))
    n = poisoned(torch.arange(99).reshape(3, 33))
    assert torch.equal(to_host(n * n + n), to_host(n) * to_host(n) + to_host(n))


def test_host_operators_are_counted():
    t = to_with_layout(torch.randn(4, 40))
    t.histc()
    t.roll(1)
    assert fallbacks(reset=True) == {"aten.histc.default": 1, "aten.roll.default": 1} and fallbacks() == {}
    with pytest.raises(ValueError, match="(?s)has no layout.*to_host"):
        t.double()


def grads(function, tensors, tiled):
    leaves = [(to_with_layout(x) if tiled else x.clone()).requires_grad_() for x in tensors]
    function(*leaves).backward()
    return [to_host(one.grad) for one in leaves]


def test_gradients():
    cases = [
        (lambda a, b: (F.gelu(a @ b) * 3).mean(), (5, 40), (40, 33)),
        (lambda a, b: ((a + b).tanh() * a.t().reshape(5, 40)).sum(), (5, 40), (40,)),
        (lambda a, b: F.cross_entropy(F.layer_norm(a, (40,), b), torch.arange(5)), (5, 40), (40,)),
        (lambda a, b: F.scaled_dot_product_attention(a, b, b).pow(2).sum(), (2, 3, 8), (2, 5, 8)),
        (lambda a, b: F.conv2d(a, b, padding=1).relu().sum(), (2, 3, 5, 5), (4, 3, 3, 3)),
        (lambda a, b: (a[1:, ::2].exp() * b[None, 3]).sum() + a[0, 0], (5, 40), (5,)),
    ]
    for function, *sizes in cases:
        tensors = [torch.randn(size) for size in sizes]
        for tiled, eager in zip(grads(function, tensors, True), grads(function, tensors, False)):
            torch.testing.assert_close(tiled, eager)


def test_gradients_cross_the_border():
    x, w = torch.randn(5, 40, requires_grad=True), torch.randn(40, requires_grad=True)
    to_host(restickify(to_with_layout(x) * to_with_layout(w), 0).exp()).sum().backward()
    y, v = x.detach().requires_grad_(), w.detach().requires_grad_()
    (y * v).exp().sum().backward()
    assert type(x.grad) is torch.Tensor
    torch.testing.assert_close(x.grad, y.grad)
    torch.testing.assert_close(w.grad, v.grad)


VIEWS = [
    lambda x: x.t(), lambda x: x.permute(1, 0), lambda x: x.transpose(0, -1), lambda x: x[3], lambda x: x[:, 5], lambda x: x[1:5, 3:60:4],
    lambda x: x[::2], lambda x: x.unsqueeze(1), lambda x: x.unsqueeze(0).squeeze(0), lambda x: x.view(-1), lambda x: x.view(4, 2, 35, 2),
    lambda x: x.reshape(35, 16), lambda x: x.narrow(1, 30, 20), lambda x: x.split(3)[1], lambda x: x.chunk(3, 1)[2], lambda x: x.unbind(1)[69],
    lambda x: x.t()[5:9].select(1, 2), lambda x: x.diagonal(), lambda x: x.unfold(1, 4, 7), lambda x: x.flatten()[100:200].view(10, 10).t(),
    lambda x: x.as_strided((3, 5), (70, 2), 141), lambda x: x.movedim(0, 1), lambda x: x[..., -1:], lambda x: x.detach(), lambda x: x[2:2],
]  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.bool])
def test_views_share_memory_and_write_through(dtype):
    for number, view in enumerate(VIEWS):
        x = torch.randint(0, 2 if dtype is torch.bool else 50, (8, 70)).to(dtype)
        t = poisoned(x, dim_order=[1, 0] if number % 2 else None)
        part, wanted = view(t), view(x)
        assert type(part) is TiledTensor and part.buffer is t.buffer and part.stride() == wanted.stride(), number
        assert torch.equal(to_host(part), wanted), number
        values = torch.randint(0, 2, wanted.shape).to(dtype)
        part.copy_(values)
        wanted.copy_(values)
        assert torch.equal(to_host(t), x), number
        part.logical_not_()
        wanted.logical_not_()
        assert torch.equal(to_host(t), x), number
        t.fill_(1)
        assert bool((to_host(part) == 1).all()), number


def test_dims_changed_in_place():
    x = torch.randn(1, 5, 40)
    t = poisoned(x)
    for change in (lambda a: a.squeeze_(0), lambda a: a.t_(), lambda a: a.unsqueeze_(1), lambda a: a.transpose_(0, 2), lambda a: a.add_(1)):
        assert change(t) is t and change(x).shape == t.shape and t.stride() == x.stride() and torch.equal(to_host(t), x)
    assert fallbacks() == {}


def test_in_place():
    x = torch.randn(8, 70)
    t = poisoned(x)
    y = x.clone()
    for change in (
        lambda a: a.add_(1), lambda a: a.mul_(a), lambda a: a[2:4].zero_(), lambda a: a[:, 3].sub_(a[:, 4]), lambda a: a.clamp_(-1, 1),
        lambda a: a.t().div_(2), lambda a: a.addcmul_(a, a, value=0.5), lambda a: a.lerp_(a * 2, 0.3), lambda a: a[0].exp_(),
        lambda a: a.__setitem__((slice(None), 1), 5.0), lambda a: a.masked_fill_(a > 0.9, -1), lambda a: a.cumsum_(1),
    ):  # fmt: skip
        change(t)
        change(y)
        torch.testing.assert_close(to_host(t), y)
    with pytest.raises(RuntimeError):
        to_with_layout(torch.arange(3)).add_(0.5)
    with pytest.raises(RuntimeError, match="single memory location"):
        t[:1].expand(4, 70).fill_(1)


def test_moves_of_views_between_layouts():
    """By copy plans or one by one: the elements arrive, padding arrives nowhere and is zero."""
    x = torch.randn(6, 7, 40)
    for words in ("", "dim_order=[2,0,1]", "dim_order=[0,1,2], pad_to={0:9}", "dims=[(2,20,3),(1,2,4),(0,1,6),(1,1,2),(2,1,32)]",
                  "dims=[(-2,1,2),(0,1,6),(2,32,2),(1,1,7),(2,1,32)]", "dim_order=[0,1,2,-1]"):  # fmt: skip
        t = poisoned(x, layout=f"f32[6,7,40] stick({words})")
        for view in (lambda a: a, lambda a: a[1:4, ::3], lambda a: a[..., 3:38].movedim(0, 2), lambda a: a[:, 2].expand(3, 6, 40), lambda a: a[2, :, 4]):
            dims = list(range(view(x).dim()))
            for order in (dims[::-1], dims[1:] + dims[:1]):
                moved = to_with_layout(view(t), dim_order=order)
                assert torch.equal(to_host(moved), view(x)) and (moved is t or not moved.buffer.isnan().any())
                places = moved.device_layout.where(torch.cartesian_prod(*map(torch.arange, moved.shape)).reshape(-1, moved.dim()).numpy())
                moved.buffer[torch.from_numpy(places)] = 0
                assert moved is t or not moved.buffer.any()
            t = poisoned(x, layout=f"f32[6,7,40] stick({words})")
    assert fallbacks() == {}


def test_copies_of_views_stay_inside_their_buffers():
    """Beside another tensor in memory: no copy takes a buffer for longer than it is."""
    x = torch.randn(6, 7, 40)
    for words in ("", "dim_order=[2,0,1]", "dim_order=[0,1,2], pad_to={0:9}", "dim_order=[0,1,2,-1]"):
        t = poisoned(x, layout=f"f32[6,7,40] stick({words})")
        for view in (lambda a: a[1:4, ::3], lambda a: a[..., 3:38].movedim(0, 2), lambda a: a[2, :, 4], lambda a: a[..., 31:]):
            part, wanted = view(t), view(x)
            to = to_with_layout(wanted).device_layout
            for plan, n in ((_plan(t.device_layout, part.view_of_layout, False), wanted.numel()), (_move_plan(t.device_layout, part.view_of_layout, to), to.places)):
                for first in (0, n) if plan is not None else ():
                    memory = torch.zeros(t.buffer.numel() + n)
                    source, out = (memory[n:], memory[:n]) if first else (memory[: t.buffer.numel()], memory[t.buffer.numel() :])
                    source.copy_(t.buffer)
                    plan._run(out.data_ptr(), source.data_ptr())
                    assert torch.equal(out.view(wanted.shape) if n == wanted.numel() else to_host(TiledTensor(out, to)), wanted)


def test_parts_are_written_alone():
    for dtype, words in ((torch.float32, "target=tiles"), (torch.float32, "dims=[(-2,1,2),(1,32,2),(0,1,8),(1,1,32)]"), (torch.int64, ""), (torch.uint8, ""),
                         (torch.bfloat16, "dim_order=[1,0]"), (torch.float32, "dims=[(1,20,3),(0,2,4),(0,1,2),(1,1,32)]")):  # fmt: skip
        x = torch.randint(1, 50, (8, 40)).to(dtype)
        name = {torch.float32: "f32", torch.int64: "s64", torch.uint8: "u8", torch.bfloat16: "bf16"}[dtype]
        t = poisoned(x, layout=f"{name}[8,40] stick({words})")
        before = t.buffer.clone()
        for part in (lambda a: a[2:4], lambda a: a[:, 3], lambda a: a[1::3, 5:39:7], lambda a: a.t()[33:], lambda a: a.diagonal(), lambda a: a[2, 3]):
            for change in (lambda a: a.zero_(), lambda a: a.add_(3), lambda a: a.mul_(a), lambda a: a.copy_(a.flip(0) if a.dim() else a)):
                change(part(t))
                change(part(x))
                assert torch.equal(to_host(t), x)
        bits = {1: torch.uint8, 2: torch.int16, 4: torch.int32}[t.buffer.itemsize]
        real = torch.zeros(t.buffer.numel(), dtype=torch.bool)
        real[torch.from_numpy(t.device_layout.where(torch.cartesian_prod(torch.arange(8), torch.arange(40)).numpy()))] = True
        real = real if "(-2" not in words else real | real.roll(real.numel() // 2)
        assert torch.equal(t.buffer.view(bits)[~real], before.view(bits)[~real])  # padding is as it was
    assert fallbacks() == {}
    t = to_with_layout(torch.arange(40))
    with pytest.raises(OverflowError, match="does not fit s32"):
        t[3:7].mul_(1 << 31)
    assert to_host(t).tolist() == list(range(40))


def test_gradients_through_views_written_in_place():
    def run(x):
        y = x * 2
        y[1:3].mul_(y[0].clone())
        y.t()[5:].add_(1)
        return (y * y).sum()

    x = torch.randn(4, 40)
    for tiled, eager in zip(grads(run, [x], True), grads(run, [x], False)):
        torch.testing.assert_close(tiled, eager)


def test_copies_that_are_not_views_refuse_to_be_written():
    t = to_with_layout(torch.arange(40, dtype=torch.int32))
    bits = t.view(torch.float32)
    assert torch.equal(to_host(bits), torch.arange(40, dtype=torch.int32).view(torch.float32))
    with pytest.raises(RuntimeError, match="cannot write through this view in place: aten.view.dtype made a copy"):
        bits.fill_(1)
    with pytest.raises(RuntimeError, match="made a copy"):
        bits[3:].zero_()
    assert to_host(t).tolist() == list(range(40))
    assert type(bits.clone().fill_(1)) is TiledTensor


@pytest.mark.parametrize(
    "words", ["dim_order=[0,1], pad_to={0:9}", "dims=[(-2,1,2),(1,32,2),(0,1,6),(1,1,32)]", "target=tiles", "dim_order=[0,1,-1]"]
)
def test_padded_replicated_tiled_and_sparse_layouts(words):
    x = torch.randn(6, 40)
    y, t = x.clone(), to_with_layout(x, f"f32[6,40] stick({words})")
    for one in (t, y):
        one[2:4, 5:].mul_(3)
        one.t()[3].fill_(1)
        one.mul_(one)
    assert torch.equal(to_host(t), y) and torch.equal(to_host(t + t[0]), y + y[0])
    assert torch.equal(to_host(t > to_with_layout(x)), y > x) and torch.equal(to_host(t.t().neg()), -y.t())


def test_operands_that_overlap_the_target():
    x = torch.randn(6, 6)
    t, y = to_with_layout(x), x.clone()
    t[1:].copy_(t[:-1])
    y[1:] = x[:-1]
    assert torch.equal(to_host(t), y)
    t.mul_(t.t())
    assert torch.equal(to_host(t), y * y.t())
