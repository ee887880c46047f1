# SPDX-License-Identifier: Apache-2.0
"""`tesela query` on random expressions of register layouts, nested up to six deep, against the element-wise oracle.

An expression is a random tree of operations that the oracle evaluates on tables, written with operators, methods or
functions as chance has it. One in ten is refused. TESELA_SEED chooses other ones; a failure shows the text.
"""

import os
import random
import sys

import pytest
from command import HERE, ask

sys.path.insert(0, str(HERE.parent / "oracle"))

import register_oracle as oracle  # noqa: E402

SEED = int(os.environ.get("TESELA_SEED", "20261121"), 0)
BATCHES, BATCH, DEPTH = 8, 40, 6
PRIMITIVES = ("spatial", "local", "column_spatial", "column_local")
OLD_NAMES = {"local": "repeat", "column_local": "column_repeat", "auto_local_spatial": "auto_repeat_spatial"}
KEYWORDS = {  # of what follows the operands
    "register_layout": ["shape", "mode_shape", "spatial_modes", "local_modes"],
    "auto_local_spatial": ["num_threads", "shape"],
    "squeeze": ["dims"], "unsqueeze": ["dims"], "permute": ["dims"], "reduce": ["dims", "keepdims"],
    "reshape": ["shape"], "reduce_to": ["shape"], "repeat_to": ["shape"], "flatten": ["start_dim", "end_dim"],
}  # fmt: skip


# ---- a tree as text ----


class Writer:
    """write(tree) is a pair: the text, and whether it can stand before a dot or after an operator as it is."""

    def __init__(self, rng):
        self.rng = rng

    def chance(self, p):
        return self.rng.random() < p

    def blank(self):
        return self.rng.choice(["", "", "", " "])

    def list(self, values):
        opening, closing = ("(", ")") if len(values) > 1 and self.chance(0.2) else ("[", "]")
        return opening + ("," + self.blank()).join(map(str, values)) + closing

    def value(self, value):
        return self.list(value) if isinstance(value, list) else str(value)

    def call(self, name, arguments):
        name = OLD_NAMES[name] if name in OLD_NAMES and self.chance(0.1) else name
        comma = "," if arguments and self.chance(0.1) else ""
        return f"{name}({self.blank()}{(',' + self.blank()).join(arguments)}{comma}{self.blank()})"

    def primitive(self, name, shape, ranks):
        arguments = list(map(str, shape))
        if ranks is not None or (name in ("spatial", "local") and self.chance(0.1)):
            arguments.append(f"ranks={ranks and self.list(ranks)}" if ranks != [] else "ranks=[]")
        return self.call(name, arguments)

    def primary(self, tree):
        text, closed = self.write(tree)
        return text if closed and not self.chance(0.05) else f"({text})"

    def product(self, name, a, b):
        if name == "compose" and b[0] in PRIMITIVES and b[2:] in ([], [None]) and self.chance(0.5):
            return f"{self.primary(a)}.{self.call(b[0], list(map(str, b[1])))}", True
        if name in ("compose", "divide") and self.chance(0.5):
            sign = "*" if name == "compose" else "/"
            return f"{self.write(a)[0]}{self.blank()}{sign}{self.blank()}{self.primary(b)}", False
        if self.chance(0.3):
            return f"{self.primary(a)}.{self.call(name, [self.write(b)[0]])}", True
        return self.call(name, [self.write(a)[0], self.write(b)[0]]), True

    def write(self, tree):
        name, *arguments = tree
        if name in PRIMITIVES:
            return self.primitive(name, arguments[0], arguments[1] if len(arguments) > 1 else None), True
        if name == "replicated":
            return self.call(name, [*map(str, arguments[0]), f"num_workers={arguments[1]}"]), True
        if name in ("compose", "concat", "divide", "left_divide"):
            return self.product(name, *arguments)
        operand = arguments.pop(0) if oracle.is_tree(arguments[0]) else None
        named = self.rng.randint(0, len(arguments))  # so many by position
        texts = [
            (f"{key}={self.blank()}" if i >= named else "") + self.value(value)
            for i, (key, value) in enumerate(zip(KEYWORDS[name], arguments))
        ]
        if operand is None:
            return self.call(name, texts), True
        if self.chance(0.5):
            return f"{self.primary(operand)}.{self.call(name, texts)}", True
        return self.call(name, [self.write(operand)[0], *texts]), True


# ---- the answers ----


def lists(answer):
    return [answer[name] for name in ("shape", "mode_shape", "spatial_modes", "local_modes")]


def check_good(answer, made, text):
    assert answer["ok"] is True, (text, answer)
    assert tuple(answer["shape"]) == made.shape, text
    sizes = answer["spatial_size"], answer["local_size"], answer["copies"]
    assert sizes == (made.threads, made.locals, made.copies), text
    assert answer["mapping_hash"] == f"{made.fnv():016x}", text
    table = {",".join(map(str, x)): [sorted(threads), local] for x, (threads, local) in made.table.items()}
    assert answer["table"] == table, text
    assert not oracle.faults(*lists(answer)) and oracle.register_layout(*lists(answer)) == made, text


def check_refused(answer, reasons, text):
    assert answer["ok"] is False, (text, reasons)
    assert answer["error"]["code"] in reasons, (text, answer)
    assert 0 <= answer["error"]["at"] < len(text), (text, answer)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_expressions(batch):
    rng = random.Random(SEED + batch)
    cases = [oracle.random_case(rng, rng.randint(0, DEPTH)) for _ in range(BATCH)]
    texts = [Writer(rng).write(tree)[0] for tree, _ in cases]
    answers = ask(*({"op": "register", "expr": text, "table": True} for text in texts))
    again = []
    for (_, result), text, answer in zip(cases, texts, answers):
        if isinstance(result, set):
            check_refused(answer, result, text)
            continue
        check_good(answer, result, text)
        again += [(text, result, answer["text"]), (text, result, answer["expression"])]
    # what is printed means the same
    answers = ask(*({"op": "register", "expr": printed, "table": True} for _, _, printed in again))
    for (text, result, printed), answer in zip(again, answers):
        check_good(answer, result, f"{text} -> {printed}")


def test_what_and_where():
    rng = random.Random(SEED)
    cases = [oracle.random_tree(rng, 3) for _ in range(40)]
    texts = [Writer(rng).write(tree)[0] for tree, _ in cases]
    where = [{"op": "where", "layout": t, "indices": list(made.table)} for t, (_, made) in zip(texts, cases)]
    what = [
        {"op": "what", "layout": t, "places": [[min(at), local] for at, local in made.table.values()]}
        for t, (_, made) in zip(texts, cases)
    ]
    for (_, made), text, answer in zip(cases, texts, ask(*where)):
        places = [(frozenset(place["threads"]), place["local"]) for place in answer["places"]]
        assert places == list(made.table.values()), text
    for (_, made), text, answer in zip(cases, texts, ask(*what)):
        assert [tuple(index) for index in answer["indices"]] == list(made.table), text


def test_same():
    rng = random.Random(SEED)
    made = [oracle.random_tree(rng, 2) for _ in range(60)]
    pairs = []
    for tree, a in made:
        other = rng.choice(made)
        flat = ["reshape", ["flatten", tree, 0, -1], list(a.shape)]
        replicas = ["compose", ["replicated", [], 1], tree]  # one more replica of 1 before it
        pairs += [(tree, a, *rng.choice([(flat, a), (replicas, a), other]))]
    requests = [
        {"op": "same", "a": Writer(rng).write(p[0])[0], "b": Writer(rng).write(p[2])[0]} for p in pairs
    ]
    answers = ask(*requests)
    for (_, a, _, b), request, answer in zip(pairs, requests, answers):
        assert answer["same"] is (a == b), (request, answer)
    assert {answer["same"] for answer in answers} == {True, False}
