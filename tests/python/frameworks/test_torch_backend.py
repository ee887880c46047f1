# SPDX-License-Identifier: Apache-2.0
"""torch.compile(backend="tesela"): results and gradients against eager in f64, moves, memory, errors, what runs on the host."""

from __future__ import annotations

import copy
import os
import pathlib
import tomllib

import pytest
import tesela
import tesela.torch
import torch
import torch.nn.functional as F
from tesela.torch import _backend

pytestmark = pytest.mark.frameworks
SEED = int(os.environ.get("TESELA_SEED", "14"))
TOLERANCE = 2e-5  # of the greatest value: each operator is rounded once to f32
ROOT = pathlib.Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def fresh():
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    torch._dynamo.reset()
    tesela.torch.fallbacks(reset=True)


class Attention(torch.nn.Module):
    def __init__(self, width=32, heads=4):
        super().__init__()
        self.qkv, self.out, self.heads = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width), heads

    def forward(self, x):
        n, length, width = x.shape
        q, k, v = self.qkv(x).view(n, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(a.transpose(1, 2).reshape(n, length, width))


class Block(torch.nn.Module):
    def __init__(self, width=32, heads=4):
        super().__init__()
        self.n1, self.n2 = torch.nn.LayerNorm(width), torch.nn.RMSNorm(width)
        self.attention = Attention(width, heads)
        self.mlp = torch.nn.Sequential(torch.nn.Linear(width, 2 * width), torch.nn.GELU(), torch.nn.Linear(2 * width, width))

    def forward(self, x):
        x = x + self.attention(self.n1(x))
        return x + self.mlp(self.n2(x))


class Language(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.head = torch.nn.Embedding(30, 16, padding_idx=3), torch.nn.Linear(16, 30)

    def forward(self, tokens, targets):
        return F.cross_entropy(self.head(self.table(tokens)).flatten(0, 1), targets.flatten(), ignore_index=7)


class Residual(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = torch.nn.Conv2d(4, 8, 3, padding=1, stride=2), torch.nn.Conv2d(8, 8, 3, padding=1, bias=False)
        self.na, self.nb, self.skip = torch.nn.BatchNorm2d(8), torch.nn.BatchNorm2d(8), torch.nn.Conv2d(4, 8, 1, stride=2)

    def forward(self, x):
        y = F.relu(self.na(self.a(x)))
        return F.relu(self.nb(self.b(y)) + self.skip(x)).mean((2, 3))


class Unrolled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = torch.nn.LSTMCell(8, 12)

    def forward(self, x):
        h = c = x.new_zeros(x.shape[1], 12)
        for step in x:
            h, c = self.cell(step, (h, c))
        return h


def tokens():
    return torch.tensor([[1, 3, 7, 29], [5, 3, 0, 2]]), torch.tensor([[3, 7, 29, 5], [3, 0, 2, 7]])


MODELS = {
    "mlp": lambda: (torch.nn.Sequential(torch.nn.Linear(20, 70), torch.nn.ReLU(), torch.nn.Linear(70, 33)), (torch.randn(5, 20),)),
    "attention": lambda: (Attention(), (torch.randn(2, 6, 32),)),
    "block": lambda: (Block(), (torch.randn(2, 6, 32),)),
    "language": lambda: (Language(), tokens()),
    "residual": lambda: (Residual(), (torch.randn(2, 4, 9, 9),)),
    "unrolled": lambda: (Unrolled(), (torch.randn(3, 4, 8),)),
}
ON_THE_HOST = {name: 0 for name in MODELS}  # operators; no change may let one of these grow


def wide(one):
    return one.double() if one.is_floating_point() else one


def close(found, expected, what=""):
    expected = expected.to(torch.float64)
    assert found.shape == expected.shape, what
    assert (found.detach().double() - expected.detach()).abs().max() <= TOLERANCE * max(1.0, float(expected.detach().abs().max())), what


@pytest.mark.parametrize("name", MODELS)
def test_models(name):
    model, inputs = MODELS[name]()
    reference = copy.deepcopy(model).double()
    with _backend.recorded() as graphs:
        y = torch.compile(model, backend="tesela")(*inputs)
        y.square().sum().backward()
    expected = reference(*map(wide, inputs))
    expected.square().sum().backward()
    close(y, expected)
    for (key, p), q in zip(model.named_parameters(), reference.parameters()):
        close(p.grad, q.grad, key)
    for (key, one), other in zip(model.named_buffers(), reference.buffers()):
        close(one, other, key)
    assert [one.kind for one in graphs] == ["forward", "backward"]
    assert sum(tesela.torch.fallbacks().values()) <= ON_THE_HOST[name], tesela.torch.fallbacks()
    for graph in graphs:
        for part in graph.parts:
            assert part.facts.poison_read == 0 and part.facts.moved == sum(one.price for one in part.assignment.moves)
            assert part.facts.arena_bytes >= part.memory.peak


@pytest.mark.parametrize("name", ["mlp", "attention", "block"])
def test_moves_stand_in_the_graph(name):
    model, inputs = MODELS[name]()
    found = tesela.torch.explain(model, *inputs, backward=True)
    assert [one.kind for one in found] == ["forward", "backward"] and all(p.grad is None for p in model.parameters())
    with _backend.recorded() as graphs:
        torch.compile(model, backend="tesela")(*inputs).sum().backward()
    for one, compiled in zip(found, graphs):
        programs = [part.program.tree(part.outputs) for part in compiled.parts]
        answers = [tesela.graph(program).assign(materialise=True) for program in programs]
        assert one.price == sum(a.cost for a in answers) and one.bound == sum(a.bound for a in answers) <= one.price
        moves = [node for node in one.graph.nodes if node.target is torch.ops.tesela.restickify.default]
        assert len(moves) == len(one.moves) == sum(len(a.moves) for a in answers) > 0
        if name != "mlp" and one.kind == "forward":
            assert all(__file__ in move.line for move in one.moves)
        one.graph.lint()


def test_a_move_and_its_price():
    """w lies with dim 1 in the sticks and has to have dim 0 there: 40 elements are 2 sticks of 32, of each of the 33 rows."""
    x, w = torch.randn(4, 40), torch.randn(33, 40)
    (one,) = found = tesela.torch.explain(lambda x, w: torch.relu(x @ w.t()), x, w)
    (move,) = one.moves
    assert (move.from_stick, move.to_stick, move.price) == (1, 0, 33 * 2 * 32) and found.price == found.bound == 33 * 2 * 32
    assert "return" not in str(found.host) and "stick 1 -> 0" in str(found)
    moves = [node for node in one.graph.nodes if node.target is torch.ops.tesela.restickify.default]
    assert [(node.args[0].name, node.args[1], next(iter(node.users)).name) for node in moves] == [("t", 0, "mm")]
    module = torch.fx.GraphModule(torch.nn.Module(), one.graph)
    assert torch.equal(module(w, x)[0], torch.relu(x @ w.t()))  # the moves change no value


def test_restickify_is_an_operator():
    x = torch.randn(3, 4, requires_grad=True)
    torch.library.opcheck(torch.ops.tesela.restickify.default, (x, 0))
    y = torch.compile(lambda x: torch.ops.tesela.restickify(x, 0) * 2, backend="tesela")(x)
    y.sum().backward()
    assert torch.equal(y, 2 * x) and torch.equal(x.grad, torch.full_like(x, 2)) and not tesela.torch.fallbacks()


def test_training():
    """10 steps of AdamW: the losses are those of eager."""
    losses = []
    for compiled in (False, True):
        torch.manual_seed(SEED)
        model = Block(16, 2)
        x, target = torch.randn(2, 4, 16), torch.randn(2, 4, 16)
        call = torch.compile(model, backend="tesela") if compiled else model
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        losses.append([])
        for _ in range(10):
            optimizer.zero_grad()
            loss = F.mse_loss(call(x), target)
            loss.backward()
            optimizer.step()
            losses[-1].append(loss.detach())
    close(torch.stack(losses[1]), torch.stack(losses[0]))
    assert losses[0][-1] < losses[0][0] and not tesela.torch.fallbacks()


def test_no_layout_is_an_error_at_compile_time():
    def conflict(x, w):
        y = torch.exp(x)
        return y + w.t()  # the line

    with pytest.raises(tesela.MismatchError, match="no layout is compatible") as raised:
        torch.compile(conflict, backend="tesela", options={"mode": "strict"})(torch.ones(5, 6), torch.ones(6, 5))
    text = str(raised.value)
    assert isinstance(raised.value, tesela.torch.NoLayout) and raised.value.where == "add"
    assert "aten.add.Tensor (add)" in text and "would fix it: move" in text and "return y + w.t()" in text
    assert __file__ in text and "in conflict" in raised.value.line
    with pytest.raises(tesela.torch.CompileError, match="no plan fits in capacity 1"):
        torch.compile(conflict, backend="tesela", options={"capacity": 1})(torch.ones(5, 6), torch.ones(6, 5))
    with pytest.raises(Exception, match="unknown option 'moed'; expected target, mode"):
        torch.compile(conflict, backend="tesela", options={"moed": 1})(torch.ones(5, 6), torch.ones(6, 5))


def test_hints():
    def f(x, y):
        with tesela.torch.hint("require", stick=0):
            z = x + y
        return z * 2

    x, y = torch.randn(40, 6), torch.randn(40, 6)
    found = tesela.torch.explain(f, x, y)
    rows = {row.name: row for row in found[0].tensors}
    assert (rows["x" if "x" in rows else "arg0_1"].stick, rows["add"].stick) == (1, 0)
    assert [(move.at, move.to_stick, move.price) for move in found.moves] == [("add", 0, 40 * 32)] * 2  # 40 sticks of 6 elements
    assert torch.equal(torch.compile(f, backend="tesela")(x, y), f(x, y))
    with pytest.raises(ValueError, match="unknown hint 'requires'"):
        tesela.torch.hint("requires")


def test_shapes_are_compiled_one_by_one():
    f = torch.compile(lambda x: torch.softmax(x, -1) * x.shape[0], backend="tesela", dynamic=True)
    with _backend.recorded() as graphs:
        for rows in (3, 5, 7, 5):
            x = torch.randn(rows, 6)
            close(f(x), torch.softmax(x.double(), -1) * rows)
    assert len(graphs) == 3 and not tesela.torch.fallbacks()


def test_what_tesela_lacks_runs_on_the_host():
    def f(x):
        return torch.i0(torch.exp(x)).sum(1) + x[:, 0]

    x = torch.randn(4, 6)
    found = tesela.torch.explain(f, x)
    close(torch.compile(f, backend="tesela")(x), f(x.double()))
    assert found.host == {"aten.i0.default": 1} and found[0].parts == 2 and "on the host" in str(found)
    assert tesela.torch.fallbacks() == {"aten.i0.default": 2}  # explain runs it, too


def test_the_backend_is_found():
    entries = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["torch_dynamo_backends"]
    assert entries == {"tesela": "tesela.torch:backend"} and tesela.torch.backend is _backend.backend
    assert "tesela" in torch._dynamo.list_backends()


class Scores(torch.nn.Module):
    def forward(self, x, w):
        return (x @ w).relu()


@pytest.mark.parametrize("order, moves", [([0, 1], 0), ([1, 0], 1)])
def test_layouts_of_tiled_inputs_count(order, moves):
    """A product needs the last dim of w in the sticks: with that layout w is used in place, with another one it is moved."""
    x, w = torch.randn(6, 40), torch.randn(40, 70)
    tiled = tesela.torch.to_with_layout(w, dim_order=order)
    assert len(tesela.torch.explain(Scores(), x, tiled).moves) == moves
    torch._dynamo.reset()
    eager = [t.clone().requires_grad_() for t in (x, w)]
    Scores()(*eager).square().sum().backward()
    given = [x.clone().requires_grad_(), tiled.detach().requires_grad_()]
    torch.compile(Scores(), backend="tesela")(*given).square().sum().backward()
    for got, want in zip(given, eager, strict=True):
        grad = tesela.torch.to_host(got.grad) if isinstance(got.grad, tesela.torch.TiledTensor) else got.grad
        torch.testing.assert_close(grad, want.grad, rtol=1e-4, atol=1e-3)
    assert tesela.torch.fallbacks() == {}
