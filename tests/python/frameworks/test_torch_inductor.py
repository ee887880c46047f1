# SPDX-License-Identifier: Apache-2.0
"""FixedTiledLayout, device layouts on Inductor's buffers, and tiled tensors in programs that Inductor compiles. Expected values are eager torch's."""

from __future__ import annotations

import copy
import doctest
import importlib
import os
import random
import subprocess
import sys

import pytest
import tesela
import tesela.torch
import torch
import torch.nn.functional as F
from tesela.torch import FixedTiledLayout, TiledTensor, fallbacks, tiled_inductor, to_host, to_layout, to_with_layout
from tesela.torch._inductor_graph import NotAView, views
from torch._inductor import ir
from torch._inductor.utils import run_and_get_code

pytestmark = pytest.mark.frameworks
SEED = int(os.environ.get("TESELA_SEED", "14"))


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return str(tmp_path_factory.mktemp("inductor"))


@pytest.fixture(autouse=True)
def fresh(cache, monkeypatch):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", cache)
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    torch._dynamo.reset()
    fallbacks(reset=True)


def mlp():
    torch.manual_seed(SEED)
    return torch.nn.Sequential(torch.nn.Linear(20, 70), torch.nn.GELU(), torch.nn.LayerNorm(70), torch.nn.Linear(70, 33))


def window():
    torch.manual_seed(SEED)
    return torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, stride=2, padding=1), torch.nn.BatchNorm2d(8))


def softmax(x, y):
    return torch.softmax(x + y.t(), -1).sum(0)


def many_views(x):
    parts = x.t()[1:], x.reshape(-1, 8)[:, 2:6], x[::2, 1::2], x.expand(2, *x.shape), x[:, 3], x.flip(0)
    return [part.exp() for part in parts]


def written(x):
    y = x.clone()
    y[2:4].add_(1)
    y.mul_(2)
    return torch.cat([y.exp(), x]), F.pad(x, (0, 2)), torch.arange(12) + x[:, :1], torch.full((5,), 2.0), x.sum()


MODELS = {  # and how many operations have unknown needs: masks, reversed dims, lookups
    "mlp": (mlp, lambda: (torch.randn(5, 20),), 0),
    "reduction": (lambda: softmax, lambda: (torch.randn(40, 70), torch.randn(70, 40)), 0),
    "convolution": (window, lambda: (torch.randn(2, 3, 9, 9),), None),
    "views": (lambda: many_views, lambda: (torch.randn(16, 12),), 1),
    "written": (lambda: written, lambda: (torch.randn(6, 12),), None),
    "lookup": (lambda: F.embedding, lambda: (torch.tensor([1, 4, 2]), torch.randn(5, 40)), 1),
    "kernel": (lambda: lambda x: torch.cumsum(x, 0) * 2, lambda: (torch.randn(6, 12),), 1),
}


@pytest.mark.parametrize("name", MODELS)
def test_every_buffer_gets_a_layout_and_the_code_of_the_cpu_does_not_change(name):
    make, inputs, unknown = MODELS[name]
    model, given, seen = make(), inputs(), []
    code, found = [], []
    for tiled in (False, True):
        torch._dynamo.reset()
        with torch.no_grad():
            if tiled:
                with tiled_inductor(choose=lambda buffer: seen.append(buffer)) as graphs:
                    out, code[1:] = run_and_get_code(torch.compile(model), *given)
            else:
                with torch._inductor.config.patch(fx_graph_cache=False):
                    out, code[:] = run_and_get_code(torch.compile(model), *given)
            found.append(out)
    wide = [x.double() if x.is_floating_point() else x for x in given]
    with torch.no_grad():
        expected = copy.deepcopy(model).double()(*wide) if isinstance(model, torch.nn.Module) else model(*wide)
    for out in found:
        torch.testing.assert_close(out, expected, check_dtype=False, rtol=1e-4, atol=1e-5)
    assert code[0].partition("\n")[2] == code[1].partition("\n")[2] and code[0].startswith("# AOT ID")
    (graph,) = graphs
    assert {one.get_name() for one in seen} == set(graph.layouts) and len(seen) > 1
    for buffer in seen:
        layout = graph.layouts[buffer.get_name()]
        assert layout.shape == tuple(buffer.get_size()) and layout.dtype == tesela.layout(layout.text).dtype
        if not isinstance(buffer.layout, (ir.NonOwningLayout, ir.MutationLayoutSHOULDREMOVE)) and type(buffer) is not ir.ConstantBuffer:
            assert type(buffer.layout) is FixedTiledLayout and buffer.layout.device_layout == layout
            assert buffer.layout.moves == tuple(move for move in graph.moves if move.at == buffer.get_name())
    if unknown is not None:
        assert len(graph.unknown) == unknown
    assert graph.price == sum(move.price for move in graph.moves) >= graph.bound


def test_moves_of_least_price():
    """A move costs the elements as they lie, padding included. Linear: its weight, f32[70,20], is 70 sticks of 32, and has to have dim
    0 in the sticks. x + y.t(): one of both moves, the one with fewer sticks."""
    with torch.no_grad(), tiled_inductor() as graphs:
        torch.compile(torch.nn.Linear(20, 70))(torch.randn(5, 20))
        torch.compile(lambda x, y: x + y.t())(torch.randn(40, 70), torch.randn(70, 40))
        torch.compile(lambda x, y: (x + y.t()).sum(1))(torch.randn(40, 70), torch.randn(70, 40))
        torch.compile(lambda x, y: (x * y).prod(1))(torch.randn(4, 70), torch.randn(4, 70))
    linear, add, total, product = graphs
    ((at, operand, buffer, start, end, price, view),) = linear.moves
    assert (at, start, end, price, view) == ("buf0", 1, 0, 70 * 32, False) and linear.layouts[buffer].shape == (70, 20)
    assert operand == 2  # of bias, x, weight
    for one in (add, total):
        (move,) = one.moves
        shapes = {name: layout.shape for name, layout in one.layouts.items()}
        by_price = {shape: -(-shape[1] // 32) * 32 * shape[0] for shape in ((40, 70), (70, 40))}
        assert move.price == min(by_price.values()) == one.bound and by_price[shapes[move.buffer]] == move.price
    # prod folds no lanes; x * y has no buffer, so x and y move: 3 sticks in each of 4 rows
    found = {(move.buffer, move.operand, move.from_stick, move.to_stick, move.price) for move in product.moves}
    assert found == {(name, k, 1, 0, 4 * 3 * 32) for k, name in enumerate(("arg0_1", "arg1_1"))} and product.price == 2 * 4 * 3 * 32


def test_the_user_chooses_sticks():
    x, y = torch.randn(40, 70), torch.randn(40, 70)
    for asked, moves in ((None, 0), (1, 0), (0, 2), (-1, 2)):
        torch._dynamo.reset()
        with tiled_inductor(choose=lambda buffer, stick=asked: stick if buffer.get_name() == "buf0" else None) as graphs:
            assert torch.equal(torch.compile(torch.add)(x, y), x + y)
        assert len(graphs[0].moves) == moves and graphs[0].layouts["buf0"].dim_map[-1] == (1 if asked is None else asked)


def test_training():
    model, eager, x = mlp(), mlp().double(), torch.randn(5, 20)
    with tiled_inductor() as graphs:
        torch.compile(model)(x).square().sum().backward()
    eager(x.double()).square().sum().backward()
    for p, q in zip(model.parameters(), eager.parameters()):
        torch.testing.assert_close(p.grad, q.grad, check_dtype=False, rtol=1e-4, atol=1e-4)
    assert len(graphs) == 2 and not graphs[0].unknown


@pytest.mark.parametrize("order, moves", [([0, 1], 0), ([1, 0], 1)])
def test_a_tiled_input_brings_its_layout(order, moves):
    """A TiledTensor is traced as its places; what goes through the host is made of them by from_places."""
    x, w = torch.randn(6, 40), torch.randn(40, 70)
    tiled = to_with_layout(w, dim_order=order)
    text = f"f32[40,70] stick(dim_order=[{order[0]},{order[1]}])"

    def product(x, places):
        return x @ torch.ops.tesela.from_places(places, text, "spyre", [40, 70], [70, 1], 0, torch.float32)

    for _ in range(2):  # the second time from no cache
        torch._dynamo.reset()
        with tiled_inductor() as graphs:
            torch.testing.assert_close(torch.compile(product)(x, tiled.buffer), x @ w)
        (graph,) = graphs
        assert tiled.device_layout in graph.layouts.values() and len(graph.moves) == moves


def test_what_cannot_be_is_an_error_when_it_is_compiled():
    def halves(x):
        y = x + 1
        return y.double()  # the line

    with pytest.raises(tesela.UnsupportedError, match=r"\(buf\d\): target spyre has no type for f64(.|\n)*y.double\(\)  # the line"), tiled_inductor():
        torch.compile(halves)(torch.ones(4))
    with pytest.raises(tesela.UnsupportedError, match="compile it with dynamic=False"), tiled_inductor():
        torch.compile(lambda x: x + 1, dynamic=True)(torch.ones(4, 5))
    with pytest.raises(tesela.UnsupportedError, match="stick dim 7; there are 2 dims"), tiled_inductor(choose=lambda buffer: 7):
        torch.compile(lambda x: x + 2)(torch.ones(4, 5))
    with pytest.raises(ZeroDivisionError), tiled_inductor():
        1 / 0


def test_other_shapes_compile_again():
    with tiled_inductor() as graphs:
        f = torch.compile(lambda x: x * 2)
        for n in (3, 5, 3):
            assert torch.equal(f(torch.ones(n, 40)), torch.full((n, 40), 2.0))
    assert [graph.layouts["buf0"].shape for graph in graphs] == [(3, 40), (5, 40)]


def test_fixed_tiled_layout():
    host = ir.FixedLayout(torch.device("cpu"), torch.float32, [4, 40], [40, 1])
    one, other = (FixedTiledLayout(host, tesela.device_layout((4, 40), "f32", dim_order=order)) for order in ([0, 1], [1, 0]))
    assert isinstance(one, ir.FixedLayout) and one.as_fixed() is one and (one.size, one.stride) == ([4, 40], [40, 1])
    assert one == copy.deepcopy(one) and one != other and one == host and "device_layout='f32[4,40] stick(dim_order=[0,1])'" in str(one)


@pytest.mark.parametrize(
    "module, name",
    [("torch._inductor.custom_graph_pass", "CustomSchedulerPass"), ("torch._inductor.graph", "GraphLowering.get_output_names")],
)
def test_another_torch(module, name, monkeypatch):
    """Without a part of Inductor that the pass needs: a sentence, and the other backend works."""
    at = importlib.import_module(module)
    *path, last = name.split(".")
    for part in path:
        at = getattr(at, part)
    monkeypatch.delattr(at, last)
    monkeypatch.delitem(sys.modules, "tesela.torch._inductor")
    words = rf'torch {torch.__version__} lacks {module}.{name}, .*tested with torch 2.13.*torch.compile\(model, backend="tesela"\) works without it'
    with pytest.raises(tesela.UnsupportedError, match=words.replace("+", r"\+")):
        tesela.torch.tiled_inductor  # noqa: B018
    assert torch.equal(torch.compile(lambda x: x + 1, backend="tesela")(torch.ones(3)), torch.full((3,), 2.0))


def test_an_untested_torch_warns(monkeypatch):
    monkeypatch.setattr(tesela.torch._inductor.torch, "__version__", "2.99.1")
    with pytest.warns(tesela.TeselaWarning, match="tested with torch 2.13, not with 2.99.1"):
        tesela.torch._inductor.check()


def test_inductor_is_imported_when_asked_for():
    code = "import sys, tesela.torch; assert 'torch._inductor.ir' not in sys.modules; tesela.torch.FixedTiledLayout; assert 'torch._inductor.ir' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="no attribute 'tilde'"):
        tesela.torch.tilde  # noqa: B018


@pytest.mark.parametrize("name", ["_inductor", "_inductor_graph"])
def test_the_examples_of_the_docstrings(name):
    tests = doctest.DocTestFinder().find(importlib.import_module(f"tesela.torch.{name}"), extraglobs={"torch": torch})
    failed = [doctest.DocTestRunner().run(test, clear_globs=False).failed for test in tests if test.examples]
    assert failed and not any(failed)


def random_view(rng, x):
    """A view of x by random views of torch."""
    for _ in range(rng.randrange(5)):
        kind = rng.randrange(6)
        if kind == 0:
            x = x.permute(rng.sample(range(x.dim()), x.dim()))
        elif kind == 1 and x.dim():
            d = rng.randrange(x.dim())
            start = rng.randrange(x.shape[d])
            x = x[(slice(None),) * d + (slice(start, rng.randrange(start, x.shape[d]) + 1, rng.randrange(1, 4)),)]
        elif kind == 2 and x.dim() > 1:
            x = x.select(d := rng.randrange(x.dim()), rng.randrange(x.shape[d]))
        elif kind == 3 and x.dim() < 4:
            x = x.unsqueeze(rng.randrange(x.dim() + 1))
        elif kind == 4 and x.dim():
            x = x.unflatten(d := rng.randrange(x.dim()), (f := rng.choice([n for n in range(1, x.shape[d] + 1) if x.shape[d] % n == 0]), x.shape[d] // f))
        elif x.is_contiguous() and x.dim():
            x = x.flatten()
    return x


def test_index_expressions_become_views():
    """What `views` says, applied by torch, gives the elements of the index expression; views along dims of the buffer are all accepted."""
    rng, accepted, refused = random.Random(SEED), 0, 0
    for _ in range(600):
        size = [rng.choice((1, 2, 3, 4, 6, 8)) for _ in range(rng.randrange(4))]
        order = sorted(range(len(size)), key=lambda _: rng.random()) if rng.random() < 0.3 else list(range(len(size)))
        host = torch.empty([size[k] for k in order]).permute([order.index(k) for k in range(len(size))])  # dims in any order in memory
        x = torch.arange(host.numel()).as_strided(host.shape, host.stride())
        wanted = random_view(rng, x)
        dims = list(zip(wanted.shape, wanted.stride()))
        try:
            made = views(size, list(x.stride()), dims, wanted.storage_offset())
        except NotAView:
            refused += 1
            continue
        accepted += 1
        for one in made:
            if one["op"] == "permute":
                x = x.permute(one["dims"])
            elif one["op"] == "slice":
                x = x[(slice(None),) * one["dim"] + (slice(one["start"], one["start"] + (one["length"] - 1) * one["step"] + 1, one["step"]),)]
            else:
                x = x.view(one["size"])  # never a copy
        assert torch.equal(x.expand(wanted.shape), wanted), (size, dims, made)
    assert accepted > 5 * refused, (accepted, refused)
    for dims, offset in (([(3, -1)], 5), ([(4, 5)], 0), ([(8, 1)], 9), ([(2, 3), (4, 1)], 0), ([(2, 1)], 20)):
        with pytest.raises(NotAView):  # reversed; diagonal; beyond the end; windows; elsewhere
            views([4, 4], [4, 1], dims, offset)


# ---- tiled tensors in compiled programs


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_gradients_of_tiled_tensors(backend):
    eager = torch.nn.Sequential(torch.nn.Linear(20, 7), torch.nn.GELU())
    model = to_layout(copy.deepcopy(eager))
    x = torch.randn(6, 20)
    t, x = to_with_layout(x).requires_grad_(), x.requires_grad_()
    for _ in range(2):
        torch.compile(model, backend=backend)(t).pow(2).mean().backward()
        eager(x).pow(2).mean().backward()
    assert type(t.grad) is TiledTensor
    torch.testing.assert_close(to_host(t.grad), x.grad)
    for a, b in zip(model.parameters(), eager.parameters()):
        torch.testing.assert_close(to_host(a.grad), b.grad)


@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_other_shapes_of_tiled_tensors(backend, dynamic):
    """A layout has fixed sizes: each shape is compiled once, also where torch would take symbols."""
    counter = torch._dynamo.testing.CompileCounterWithBackend(backend)

    def function(a, b):
        return (a * b).relu(), a.t(), (a @ b.t()) * a.shape[0]

    compiled = torch.compile(function, backend=counter, dynamic=dynamic)
    shapes = (3, 33, 5, 33) if backend == "aot_eager" else (3, 33, 3)
    for rows in shapes:
        x, y = torch.randn(rows, 40), torch.randn(rows, 40)
        a, b = to_with_layout(x).requires_grad_(), to_with_layout(y, dim_order=[1, 0])
        x.requires_grad_()
        found, wanted = compiled(a, b), function(x, y)
        for out, want in zip(found, wanted):
            torch.testing.assert_close(to_host(out), want)
        sum(to_host(out).pow(2).sum() for out in found).backward()
        sum(want.pow(2).sum() for want in wanted).backward()
        torch.testing.assert_close(to_host(a.grad), x.grad, rtol=1e-4, atol=1e-4)
        assert found[0].device_layout == a.device_layout
    assert counter.frame_count == len(set(shapes))


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_symbolic_sizes_beside_a_tiled_tensor(backend):
    """An ordinary tensor of any size and a tiled one: one program for all sizes."""
    counter = torch._dynamo.testing.CompileCounterWithBackend(backend)
    compiled = torch.compile(lambda t, x: ((x * 2).sum(-1), t * 2 + 1), backend=counter, dynamic=True)
    t = to_with_layout(torch.randn(4, 40))
    for rows in (3, 5, 9):
        x = torch.randn(rows, 6)
        total, twice = compiled(t, x)
        torch.testing.assert_close(total, x.mul(2).sum(-1))
        torch.testing.assert_close(to_host(twice), to_host(t) * 2 + 1)
    assert counter.frame_count == 1
