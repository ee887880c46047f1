# SPDX-License-Identifier: Apache-2.0
"""Hints of modules for the backend "tesela": which operators have them, in explain(), and that values stay; the version of torch."""

from __future__ import annotations

import copy
import importlib
import pickle

import pytest
import tesela.torch
import torch
from tesela.torch import _backend, explain, hint, set_hint

pytestmark = pytest.mark.frameworks


class Inner(torch.nn.Module):
    def forward(self, x):
        return x.exp()


class Outer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Inner(), Inner()

    def forward(self, x, y):
        z = self.a(x + y).sin()
        with hint("require", stick=1):
            z = z.cos()
        return (self.b(z) * y).neg().sum(1).abs()


NAMES = ("add", "exp", "sin", "cos", "exp_1", "mul", "neg", "sum_1", "abs_1")


def sticks(model, *inputs):
    rows = {row.name: row.stick for row in explain(model, *inputs)[0].tensors}
    return [rows[name] for name in NAMES]


@pytest.fixture
def inputs():
    torch._dynamo.reset()
    return torch.rand(40, 6, generator=torch.Generator().manual_seed(14)), torch.ones(40, 6)


def test_the_hint_inside_counts(inputs):
    """A context in a forward before its module, an inner module before the outer one; a result of rank 1 has no dim 1."""
    model = Outer()
    expected = model(*inputs)
    assert sticks(model, *inputs) == [1, 1, 1, 1, 1, 1, 1, -1, -1]
    assert set_hint(model, "require", stick=0) is model
    assert sticks(model, *inputs) == [0, 0, 0, 1, 0, 0, 0, 0, 0]
    set_hint(model.b, "require", stick=1)
    assert sticks(model, *inputs) == [0, 0, 0, 1, 1, 0, 0, 0, 0]
    torch.testing.assert_close(torch.compile(model, backend="tesela")(*inputs), expected)
    again = pickle.loads(pickle.dumps(copy.deepcopy(model)))
    set_hint(set_hint(model, "require", stick=1).b, None)
    assert sticks(model, *inputs) == [1, 1, 1, 1, 1, 1, 1, -1, -1]
    assert sticks(again, *inputs) == [0, 0, 0, 1, 1, 0, 0, 0, 0]
    assert "forward" in vars(model) and "forward" not in vars(set_hint(model, None)) and "forward" not in vars(model.b)


def test_another_hint_compiles_again(inputs):
    model = set_hint(Inner(), "require", stick=0)
    call = torch.compile(model, backend="tesela")
    with _backend.recorded() as graphs:
        call(inputs[0])
        call(inputs[0])
        set_hint(model, "require", stick=1)
        call(inputs[0])
    assert [[one.to for one in graph.parts[0].assignment.moves] for graph in graphs] == [[0], []]


def test_lines_are_those_of_the_model(inputs):
    model = set_hint(Outer(), "forbid", stick=1)
    moves = explain(model, *inputs).moves
    assert moves and all(__file__ in move.line for move in moves)
    linear = explain(set_hint(torch.nn.Linear(6, 6), "require", stick=0), inputs[0]).moves  # torch says no lines of its modules
    assert linear and all(move.line is None for move in linear)


def test_refused(inputs):
    with pytest.raises(ValueError, match="unknown hint 'requires'"):
        set_hint(Inner(), "requires")
    model = Inner()
    model.forward = lambda x: x
    with pytest.raises(ValueError, match="Inner has an attribute forward"):
        set_hint(model, "require", stick=0)
    with pytest.raises(tesela.torch.CompileError, match="stick"):
        explain(set_hint(Inner(), "require", stick=-2), inputs[0])


def test_an_older_torch(monkeypatch):
    monkeypatch.setattr(torch, "__version__", type(torch.__version__)("2.12.1+cpu"))
    with pytest.raises(ImportError, match=r"tesela.torch needs torch 2.13 or newer; found torch 2.12.1\+cpu"):
        importlib.reload(tesela.torch)
