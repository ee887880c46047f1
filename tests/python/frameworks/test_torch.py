# SPDX-License-Identifier: Apache-2.0
"""Tensors of torch, borrowed without a copy: packed, unpacked, copied. The images are torch's own pad, reshape and permute."""

import ml_dtypes
import numpy as np
import pytest
import torch

import tesela

pytestmark = pytest.mark.frameworks

TYPES = {
    torch.bool: "pred", torch.uint8: "u8", torch.int8: "s8", torch.int16: "s16", torch.int32: "s32", torch.int64: "s64", torch.float16: "f16",
    torch.bfloat16: "bf16", torch.float32: "f32", torch.float64: "f64", torch.complex64: "c64", torch.float8_e4m3fn: "f8e4m3fn",
    torch.float8_e5m2: "f8e5m2",
}  # fmt: skip


def raw(x):
    """The bytes of a contiguous tensor."""
    return x.contiguous().view(-1).view(torch.uint8).numpy().tobytes()


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_types(dtype):
    x = (torch.arange(15).reshape(3, 5) % 2).to(dtype)
    T = tesela.pack(x, "{1,0:T(2,2)}")
    assert T.layout == tesela.layout(f"{TYPES[dtype]}[3,5]{{1,0:T(2,2)}}") == tesela.layout("{1,0:T(2,2)}", (3, 5), dtype)
    bits = x.view(torch.uint8).reshape(3, 5, -1)
    image = torch.nn.functional.pad(bits, (0, 0, 0, 1, 0, 1)).reshape(2, 2, 3, 2, -1).permute(0, 2, 1, 3, 4)
    assert T.physical.tobytes() == raw(image)
    assert np.asarray(T).tobytes() == raw(x)


def test_strides():
    x = torch.arange(120, dtype=torch.float32).reshape(10, 12)
    for one in (x.t(), x[::2, 1::3], x[2:5, 3:8], x.as_strided((3, 5), (1, 2), 7), x.unsqueeze(1), x[0].expand(4, 12)):
        order = ",".join(map(str, range(one.ndim)))
        T = tesela.pack(one, f"{{{order}}}")
        assert T.physical.tobytes() == raw(one.permute(*reversed(range(one.ndim))))
        assert np.array_equal(np.asarray(T), one.numpy())


def test_relayout_into_a_tensor():
    x = torch.arange(15, dtype=torch.bfloat16)
    out = torch.full((24,), -1, dtype=torch.bfloat16)
    assert tesela.relayout(x, "bf16[3,5]", "{1,0:T(2,2)}", out=out) is out
    expected = torch.nn.functional.pad(x.reshape(3, 5), (0, 1, 0, 1)).reshape(2, 2, 3, 2).permute(0, 2, 1, 3).reshape(-1)
    assert torch.equal(out, expected)


def test_unpack_into_a_tensor():
    x = torch.randn(3, 5, generator=torch.Generator().manual_seed(1))
    T = tesela.pack(x, "{1,0:T(2,2)}")
    out = torch.empty(5, 3).t()
    assert T.unpack(out=out) is out and torch.equal(out, x)
    assert torch.equal(torch.from_numpy(np.asarray(T)), x)


def test_gradients_do_not_matter():
    x = torch.ones(3, 5, requires_grad=True)
    assert np.asarray(tesela.pack(x, "{0,1}")).sum() == 15


def test_conjugate_and_negative_bits():
    x = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    z = torch.complex(x, x + 1)
    assert np.array_equal(np.asarray(tesela.pack(z.conj(), "{0,1}")), z.conj().resolve_conj().numpy())
    assert np.array_equal(np.asarray(tesela.pack(z.conj().imag, "{0,1}")), -(x + 1).numpy())


def test_what_is_not_in_host_memory_is_refused():
    with pytest.raises(tesela.UnsupportedError, match="host memory"):
        tesela.pack(torch.empty(3, 5, device="meta"), "{0,1}")
    with pytest.raises(tesela.UnsupportedError, match="to_dense"):
        tesela.pack(torch.ones(3, 5).to_sparse(), "{0,1}")


def test_numpy_takes_the_bits_of_bfloat16():
    x = torch.tensor([[1.5, -2.0]], dtype=torch.bfloat16)
    assert np.asarray(tesela.pack(x, "{0,1}")).dtype == ml_dtypes.bfloat16


def test_the_expression_for_torch():
    x = torch.arange(15, dtype=torch.float32).reshape(3, 5)
    L = tesela.layout("f32[3,5]{1,0:T(2,2)}")
    made = eval(L.torch_expr("x"), {"torch": torch, "x": x})
    assert raw(made) == tesela.pack(x, L).physical.tobytes()
