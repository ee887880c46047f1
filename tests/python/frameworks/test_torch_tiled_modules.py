# SPDX-License-Identifier: Apache-2.0
"""Modules with parameters in layouts, torch's functions with `device_layout`, and torch.compile. Expected values are eager torch's."""

import copy
import io
import os

import pytest
import torch
import torch._dynamo.testing

import tesela
from tesela.torch import TiledTensor, layouts, restickify, to_host, to_layout, to_with_layout

pytestmark = pytest.mark.frameworks
SEED = int(os.environ.get("TESELA_SEED", "1"))
torch.set_num_threads(1)


def mlp():
    torch.manual_seed(SEED)
    return torch.nn.Sequential(torch.nn.Linear(20, 33), torch.nn.GELU(), torch.nn.LayerNorm(33), torch.nn.Linear(33, 5))


def train(model, x, y, steps=4):
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    return losses


def test_training_equals_eager():
    x, y = torch.randn(6, 20, generator=torch.Generator().manual_seed(SEED)), torch.arange(6) % 5
    eager, tiled = mlp(), to_layout(mlp(), {"*.weight": None, "0.bias": None})
    assert isinstance(tiled[0].weight, torch.nn.Parameter) and type(tiled[0].weight) is TiledTensor
    assert type(tiled[3].bias) is torch.nn.Parameter
    assert train(tiled, to_with_layout(x), y) == pytest.approx(train(eager, x, y), rel=1e-5)
    for a, b in zip(tiled.parameters(), eager.parameters()):
        torch.testing.assert_close(to_host(a.detach()), b.detach())


def test_rules_state_and_copies():
    model = mlp()
    model.register_parameter("tied", model[0].weight)
    to_layout(model, {"0.weight": [1, 0], "2.*": "f32[33] stick()", "3.weight": tesela.device_layout((5, 33), "f32", target="spyre")})
    assert model[0].weight.device_layout.device_size == (2, 20, 32) and model.tied is model[0].weight
    assert type(model[0].bias) is torch.nn.Parameter
    other = copy.deepcopy(model)
    assert other.tied is other[0].weight and other[0].weight.device_layout == model[0].weight.device_layout
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    empty = mlp()
    empty.register_parameter("tied", empty[0].weight)
    with torch.no_grad():
        [p.zero_() for p in empty.parameters()]
    state = torch.load(file)
    assert type(state["0.weight"]) is TiledTensor
    empty.load_state_dict({name: to_host(one) for name, one in state.items()})
    model.load_state_dict(state)
    for a, b in zip(model.parameters(), empty.parameters()):
        assert torch.equal(to_host(a.detach()), b.detach())
    assert [p.shape for p in model.half().parameters()] == [p.shape for p in empty.parameters()]
    assert model[0].weight.dtype == torch.float16 and model[0].weight.device_layout.element_type == "f16"


def test_the_keyword_device_layout():
    D = tesela.device_layout((3, 40), "f32", dim_order=[1, 0], target="spyre")
    x = torch.arange(120.0).reshape(3, 40)
    with pytest.raises(TypeError):
        x.to(device_layout=D)
    t = to_with_layout(x)
    assert t.to(device_layout=D).device_layout == D and t.to(device_layout=t.device_layout) is t
    before = torch.empty, torch.Tensor.to, torch.zeros_like
    with layouts():
        assert torch.equal(to_host(x.to(device_layout=D)), x) and x.to(device_layout=D).device_layout == D
        assert x.double().to(torch.float32, device_layout=D).device_layout == D
        assert torch.empty(3, 40, device_layout=D).device_layout == D
        assert x.new_empty(3, 40, device_layout=D).device_layout == D
        assert torch.zeros((3, 40), device_layout=D, requires_grad=True).requires_grad
        assert type(torch.zeros(3)) is torch.Tensor and type(x.to(torch.float16)) is torch.Tensor
        with pytest.raises(tesela.MismatchError):
            torch.zeros(3, 41, device_layout=D)
    assert before == (torch.empty, torch.Tensor.to, torch.zeros_like) and "to" not in vars(torch.Tensor)


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compiled_programs_keep_layouts_and_compile_again_for_others(backend, tmp_path, monkeypatch):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    torch._dynamo.reset()
    counter = torch._dynamo.testing.CompileCounterWithBackend(backend)

    def function(a, b):
        return (a * b + a).relu(), a.t(), (a @ b.t()).sum()

    compiled = torch.compile(function, backend=counter, dynamic=False)
    x, y = torch.randn(5, 40), torch.randn(5, 40)
    for order in ([0, 1], [1, 0], [0, 1]):
        a, b = to_with_layout(x, dim_order=order), to_with_layout(y, dim_order=order)
        first, turned, total = compiled(a, b)
        assert type(first) is TiledTensor and first.device_layout == a.device_layout
        assert type(turned) is TiledTensor and turned.device_layout == a.device_layout and turned.shape == (40, 5)
        for out, wanted in zip((first, turned, total), function(x, y)):
            torch.testing.assert_close(to_host(out), wanted)
    assert counter.frame_count == 2


def test_compiled_gradients(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    torch._dynamo.reset()
    model, eager = to_layout(mlp()), mlp()
    x = torch.randn(6, 20, generator=torch.Generator().manual_seed(SEED))
    torch.compile(model, backend="aot_eager")(to_with_layout(x)).pow(2).mean().backward()
    eager(x).pow(2).mean().backward()
    for a, b in zip(model.parameters(), eager.parameters()):
        torch.testing.assert_close(to_host(a.grad), b.grad)


def test_the_hash_for_caches_says_type_shape_and_layout():
    t = to_with_layout(torch.zeros(4, 40))
    keys = [one._stable_hash_for_caching() for one in (t, t + 1, restickify(t, 0), t.half(), t[1:], t.t(), to_with_layout(torch.zeros(5, 40)))]
    assert keys[0] == keys[1] and len(set(keys)) == len(keys) - 1
