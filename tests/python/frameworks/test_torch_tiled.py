# SPDX-License-Identifier: Apache-2.0
"""TiledTensor: there and back, types, places by the definition, copies and files. Expected values are eager torch's."""

import copy
import doctest
import importlib
import io
import os
import pickle

import pytest
import torch

import tesela
from tesela.torch import TiledTensor, fallbacks, new_empty_with_layout, restickify, to_host, to_with_layout

pytestmark = pytest.mark.frameworks
SEED = int(os.environ.get("TESELA_SEED", "1"))
torch.set_num_threads(1)

# host type: device type, lanes: the RFC's table
TYPES = {
    torch.float16: (torch.float16, 64), torch.bfloat16: (torch.float16, 64), torch.bool: (torch.float16, 64),
    torch.float32: (torch.float32, 32), torch.int64: (torch.int32, 32), torch.int32: (torch.int32, 32),
    torch.int8: (torch.int8, 128), torch.uint8: (torch.uint32, 32), torch.float8_e4m3fn: (torch.float8_e4m3fn, 128),
}  # fmt: skip


def random(size, dtype, generator):
    if dtype is torch.bool:
        return torch.randint(0, 2, size, generator=generator).bool()
    if dtype.is_floating_point:
        return torch.randn(size, generator=generator).to(dtype)
    low = 0 if dtype is torch.uint8 else -100
    return torch.randint(low, 100, size, generator=generator).to(dtype)


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and torch.equal(a.float(), b.float())


@pytest.mark.parametrize("module", ["", "._host", "._tiled", "._modules"])
def test_docstrings(module):
    found = importlib.import_module(f"tesela.torch{module}")
    public = {"torch": torch, **{name: getattr(tesela.torch, name) for name in tesela.torch.__all__}}
    assert doctest.testmod(found, extraglobs={k: v for k, v in public.items() if k not in vars(found)}).failed == 0


def test_the_three_tuples_of_the_rfc():
    t = to_with_layout(torch.zeros(1024, 256, dtype=torch.float16))
    D = t.device_layout
    assert (D.device_size, D.device_strides, D.stride_map) == ((4, 1024, 64), (65536, 64, 1), (64, 256, 1))
    assert t.tuples == "((4, 1024, 64), (65536, 64, 1), (64, 256, 1))"


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_types(dtype):
    x = random((5, 150), dtype, torch.Generator().manual_seed(SEED))
    t = to_with_layout(x)
    stored, lanes = TYPES[dtype]
    assert (t.dtype, t.buffer.dtype, t.device_layout.lanes, t.buffer.dim()) == (dtype, stored, lanes, 1)
    blocks = -(-150 // lanes)
    image = torch.zeros(5, blocks * lanes)
    image[:, :150] = x.float()
    assert torch.equal(t.buffer.float(), image.reshape(5, blocks, lanes).permute(1, 0, 2).reshape(-1))
    assert same(to_host(t), x)


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex64])
def test_types_that_the_target_has_not(dtype):
    with pytest.raises(tesela.UnsupportedError, match="target spyre has no type for"):
        to_with_layout(torch.zeros(3, 4, dtype=dtype))


def test_integers_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="1099511627776"):
        to_with_layout(torch.tensor([1, 1 << 40]))
    t = to_with_layout(torch.tensor([3, 1 << 20]))
    with pytest.raises(OverflowError, match="1099511627776 of element .* does not fit s32"):
        t * (1 << 20)
    assert to_host(t * 100).tolist() == [300, 100 << 20]


def test_large_bfloat16_warns():
    with pytest.warns(tesela.TeselaWarning, match="values above 65504 become inf"):
        to_with_layout(torch.tensor([1.0, 1e6], dtype=torch.bfloat16))


def test_hosts_of_any_strides():
    x = torch.randn(40, 70, generator=torch.Generator().manual_seed(SEED))
    for host in (
        x.t(), x[::2, 1::3], x[5:, 3:8], x.as_strided((3, 5), (1, 2), 7), x.unsqueeze(1), x[0].expand(4, 70), x[3, 4],
        x[:0], x[:, :0], torch.empty(0), torch.tensor(2.5), x.reshape(2, 20, 7, 10).permute(3, 0, 2, 1),
    ):  # fmt: skip
        for order in (None, list(reversed(range(host.dim())))):
            t = to_with_layout(host, dim_order=order)
            assert t.shape == host.shape and torch.equal(to_host(t), host)


def test_random_shapes_types_and_orders():
    generator = torch.Generator().manual_seed(SEED)
    for _ in range(40):
        rank = int(torch.randint(0, 6, (), generator=generator))
        size = torch.randint(0, 9, (rank,), generator=generator).tolist()
        if rank:
            size[int(torch.randint(0, rank, (), generator=generator))] = int(torch.randint(1, 140, (), generator=generator))
        order = torch.randperm(rank, generator=generator).tolist()
        dtype = list(TYPES)[int(torch.randint(0, len(TYPES), (), generator=generator))]
        x = random(size, dtype, generator)
        t = to_with_layout(x, dim_order=order)
        assert same(to_host(t), x), (size, order, dtype, SEED)
        u = restickify(t, order[0]) if rank else t
        assert same(to_host(u), x), (size, order, dtype, SEED)


def test_layouts_by_value_and_text():
    x = torch.arange(24.0).reshape(4, 6)
    D = tesela.device_layout((4, 6), "f32", dims=[(1, 2, 3), (0, 1, 16), (1, 1, 2)], stick=128, stick_dims=2)
    t = to_with_layout(x, D)
    assert t.device_layout == D and torch.equal(to_host(t), x) and to_with_layout(t, D) is t
    image = torch.zeros(3, 16, 2)
    image[:, :4] = x.reshape(4, 3, 2).permute(1, 0, 2)
    assert torch.equal(t.buffer, image.reshape(-1))
    assert to_with_layout(x, str(D)).device_layout == D
    sparse = to_with_layout(x, dim_order=[0, 1, -1])
    assert sparse.buffer.numel() == 24 * 32 and torch.equal(to_host(sparse), x)
    with pytest.raises(tesela.MismatchError, match="expected f32"):
        to_with_layout(x.half(), D)
    with pytest.raises(tesela.MismatchError, match="has shape"):
        to_with_layout(x[:3], D)
    with pytest.raises(TypeError, match="found both"):
        to_with_layout(x, D, dim_order=[0, 1])


def test_new_empty():
    t = new_empty_with_layout((3, 70), dtype=torch.float16)
    assert t.buffer.numel() == 2 * 3 * 64 and t.shape == (3, 70)
    t.copy_(torch.arange(210).reshape(3, 70))
    assert torch.equal(to_host(t), torch.arange(210.0).reshape(3, 70).half())


def test_copies_pickles_and_files():
    x = torch.randn(5, 70, generator=torch.Generator().manual_seed(SEED)).bfloat16()
    t = to_with_layout(x, dim_order=[1, 0]).requires_grad_()
    for other in (t.clone(), t.detach().clone(), copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
        assert type(other) is TiledTensor and other.device_layout == t.device_layout and same(to_host(other.detach()), x)
        assert other.buffer.data_ptr() != t.buffer.data_ptr()
    assert t.detach().buffer is t.buffer and not t.detach().requires_grad
    assert copy.deepcopy(t).requires_grad and pickle.loads(pickle.dumps(t)).requires_grad
    file = io.BytesIO()
    torch.save({"all": t, "rows": t.detach()[1:3]}, file)
    file.seek(0)
    read = torch.load(file)  # weights only
    assert same(to_host(read["all"].detach()), x) and same(to_host(read["rows"]), x[1:3])
    assert read["all"].buffer.data_ptr() == read["rows"].buffer.data_ptr()
    pair = copy.deepcopy([t.detach(), t.detach()[2]])
    pair[1].zero_()
    assert not to_host(pair[0])[2].any() and to_host(t)[2].any()


def test_text_and_readers():
    x = torch.arange(6.0).reshape(2, 3)
    t = to_with_layout(x)
    assert repr(t) == f"TiledTensor({repr(x)[7:-1]}, device_layout=f32[2,3] stick(dim_order=[0,1]))"
    assert "requires_grad=True" in repr(t.requires_grad_()) and "grad_fn=<" in repr(t * 2)
    t = t.detach()
    assert t.tolist() == x.tolist() and (t.numpy() == x.numpy()).all() and t[1, 2].item() == 5
    assert t.data_ptr() == t.buffer.data_ptr() and torch.equal(torch.from_dlpack(t), x)


def test_data_is_exchanged_with_its_places():
    x = torch.arange(80.0).reshape(2, 40)
    t, other = to_with_layout(x).requires_grad_(), to_with_layout(x * 2, dim_order=[1, 0])
    assert t.data.buffer is t.buffer and not t.data.requires_grad
    t.data = other
    assert t.requires_grad and t.device_layout == other.device_layout and torch.equal(to_host(t.detach()), x * 2)
    with pytest.raises(TypeError, match="on both sides"):
        t.data = x


def test_new_tensors_like_another():
    fallbacks(reset=True)
    t = to_with_layout(torch.randn(6, 40), dim_order=[1, 0])
    x = to_host(t)
    for new in (
        lambda a: a.new_zeros(6, 40), lambda a: a.new_ones(3, dtype=torch.bool), lambda a: a.new_full((2, 3), 7, dtype=torch.int64),
        lambda a: a.new_tensor([1.0, 2.0]), lambda a: a.new_tensor(3, dtype=torch.int32), lambda a: a.new_zeros(0, 3),
        lambda a: torch.full_like(a, 2.9, dtype=torch.int32), lambda a: a.new_full((), True), lambda a: a[2:].new_ones(2),
    ):  # fmt: skip
        assert type(new(t)) is TiledTensor and same(to_host(new(t)), new(x))
    assert t.new_zeros(6, 40).device_layout == t.device_layout
    for size, strides in (((3, 4), (1, 3)), ((2, 3, 4), (4, 8, 1)), ((3, 4), (10, 2)), ((5,), (0,)), ((0, 3), (3, 1)), ((), ())):
        made = t.new_empty_strided(size, strides)
        assert made.size() == size and made.stride() == strides
        if strides != (0,):
            made.copy_(values := torch.randn(size))
            assert torch.equal(to_host(made), values)
    with pytest.raises(OverflowError, match="4294967296 does not fit s32"):
        t.new_full((2,), 1 << 32, dtype=torch.int64)
    assert fallbacks() == {}


def test_memory_cannot_be_set():
    t, x = to_with_layout(torch.ones(3, 4)), torch.zeros(3, 4)
    for change in (lambda: t.set_(x), lambda: x.set_(t), lambda: t.set_(), lambda: t.resize_(2, 2)):
        with pytest.raises(tesela.UnsupportedError, match="t.data = other|changes the size"):
            change()
    assert type(x.add_(t)) is torch.Tensor and bool((x == 1).all()) and to_host(t).shape == (3, 4)  # results stay what they are


def test_nothing_falls_back_here():
    fallbacks(reset=True)
    t = to_with_layout(torch.randn(5, 40))
    to_host(restickify(t.clone().detach(), 0).t()[3:])
    assert fallbacks() == {}
