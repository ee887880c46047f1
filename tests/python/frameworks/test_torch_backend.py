# SPDX-License-Identifier: Apache-2.0
"""torch.compile(backend="tesela"): results and gradients against eager in f64, moves, memory, errors, what runs on the host."""

from __future__ import annotations

import concurrent.futures
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


@pytest.mark.parametrize(
    "options, said",
    [
        ({"moed": 1}, "unknown option 'moed'; did you mean mode?"),
        ({"xyz": 1}, "unknown option 'xyz'; expected target, mode, share"),
        ({"mode": "stict"}, "option mode: expected 'auto' or 'strict', found 'stict'"),
        ({"share": "yes"}, "option share: expected True or False, found 'yes'"),
        ({"capacity": "1GB"}, "option capacity: expected an integer of 0 or more, found '1GB'"),
        ({"capacity": True}, "expected an integer of 0 or more, found True"),
        ({"max_steps": 0}, "option max_steps: expected an integer of 1 or more, found 0"),
        ({"target": "spire"}, "option target: unknown target 'spire'; did you mean spyre"),
        ({"target": "/nowhere/t.target"}, "option target: unknown target '/nowhere/t.target'"),
        ({"target": __file__}, "option target: "),
    ],
)
def test_wrong_options(options, said):
    for call in (torch.compile(torch.exp, backend="tesela", options=options), lambda x: tesela.torch.explain(torch.exp, x, options=options)):
        with pytest.raises(tesela.torch.CompileError) as raised:
            call(torch.ones(5, 6))
        assert str(raised.value).startswith("backend tesela: ") and said in str(raised.value)
        assert raised.value.field == next(iter(options))
    assert not tesela.torch.fallbacks()


def test_targets():
    """examples/own.target has sticks of 64 bytes, 16 elements of f32; built-in targets by name."""
    f, x, w = lambda x, w: torch.relu(x @ w), torch.randn(5, 40), torch.randn(40, 33)
    own = ROOT / "examples" / "own.target"
    for target, lanes in ((own, 16), (str(own), 16), (own.read_text(), 16), ("spyre", 32), (None, 32)):
        found = tesela.torch.explain(f, x, w, options={"target": target})
        assert not found.host and [row.device_size[-1] for row in found[0].tensors if row.name == "relu"] == [lanes]
        torch._dynamo.reset()
        close(torch.compile(f, backend="tesela", options={"target": target})(x, w), f(x.double(), w.double()))
    assert not tesela.torch.fallbacks()


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


@pytest.mark.parametrize(
    "hint, said",
    [
        ({"kind": "require"}, "hint 'require': missing stick="),
        ({"kind": "prefer", "stick": 1}, "hint 'prefer': missing price="),
        ({"kind": "prefer", "stick": 1, "price": -1}, "hint 'prefer': price is -1; expected an integer of 0 or more"),
        ({"kind": "forbid_move", "stick": 1}, "hint 'forbid_move': unexpected stick="),
        ({"kind": "require", "stick": 2}, "stick is 2; expected a dim from 0 to 1, or -1 for one element per stick"),
        ({"kind": "forbid", "stick": "0"}, "stick is '0'; expected a dim"),
    ],
)
def test_wrong_hints(hint, said):
    def f(x, y):
        with tesela.torch.hint(**hint):
            return x + y  # the line

    with pytest.raises(tesela.torch.CompileError) as raised:
        tesela.torch.explain(f, torch.ones(3, 4), torch.ones(3, 4))
    text = str(raised.value)
    assert text.startswith("aten.add.Tensor (add): hint ") and said in text and "return x + y  # the line" in text


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
    assert found.host == {"aten.i0.default": 1} and found[0].parts == 2
    assert "  on the host  aten.i0.default: 1, tesela has no such operator" in str(found).splitlines()
    assert tesela.torch.fallbacks() == {"aten.i0.default": 2}  # explain runs it, too


def test_what_explain_says():
    """One line for each thing, whatever the model."""
    one, many = torch.ones(2, 3), torch.ones(2, 3, dtype=torch.float64)
    (line,) = str(tesela.torch.explain(lambda x: x, one)).splitlines()
    assert line == "nothing to compile"
    first, second = str(tesela.torch.explain(torch.exp, many)).splitlines()
    assert (first, second) == ("inference: no operator of tesela", "  on the host  aten.exp.default: 1, target spyre has no type for f64")
    with pytest.raises(ValueError, match="no result needs a gradient; call requires_grad_"):
        tesela.torch.explain(torch.exp, one, backward=True)
    lines = str(tesela.torch.explain(lambda x: torch.cumsum(x, 0), torch.ones(40))).splitlines()
    assert lines[-2] == "  move  arg0_1: stick 0 -> sparse for cumsum, price 64"  # 2 sticks of 32


def test_the_backend_is_found():
    entries = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["torch_dynamo_backends"]
    assert entries == {"tesela": "tesela.torch:backend"} and tesela.torch.backend is _backend.backend
    assert "tesela" in torch._dynamo.list_backends()


def test_threads_call_one_model():
    model, (x,) = MODELS["block"]()
    call, xs = torch.compile(model, backend="tesela"), [torch.randn_like(x) for _ in range(8)]
    with torch.no_grad():
        call(x)
    wide_model = copy.deepcopy(model).double()

    def one(x):
        with torch.no_grad():
            return [call(x) for _ in range(3)]

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for x, ys in zip(xs, pool.map(one, xs)):
            for y in ys:
                close(y, wide_model(x.double()))


def test_threads_call_one_model_with_several_shapes():
    """Compiled before: torch refuses calls from other threads while it traces."""
    call = torch.compile(lambda x: torch.softmax(x, -1) * x.shape[0], backend="tesela", dynamic=True)
    xs = [torch.randn(rows, 6) for rows in (3, 5, 7, 5, 7, 3, 3, 5, 7)]
    for x in xs[:3]:
        call(x)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for x, y in zip(xs, pool.map(call, xs)):
            close(y, torch.softmax(x.double(), -1) * x.shape[0])


def test_a_run_that_is_too_long_is_refused_at_compile_time():
    with pytest.raises(tesela.torch.CompileError, match="most of them for mm; max_steps is 100"):
        torch.compile(Scores(), backend="tesela", options={"max_steps": 100})(torch.ones(6, 40), torch.ones(40, 70))


def test_results_do_not_share_memory():
    """Where two results have the same elements a change of one leaves the other as it was; inputs of any strides are read."""

    def f(x):
        y = x * 2
        return y, y.clone(), x.clone(), x.t().clone(), y.reshape(-1).clone()

    for x in (torch.randn(6, 4).t(), torch.randn(4, 6), torch.randn(9, 8)[1:9:2, 1:7]):
        torch._dynamo.reset()
        given, expected = x.clone(), f(x)
        found = torch.compile(f, backend="tesela")(x)
        for k, y in enumerate(found):
            assert torch.equal(y, expected[k])
            y.fill_(k)
        assert torch.equal(x, given) and [float(y.min()) for y in found] == [float(y.max()) for y in found] == [0, 1, 2, 3, 4]


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
