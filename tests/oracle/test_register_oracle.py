# SPDX-License-Identifier: Apache-2.0
"""The oracles of register layouts against the vectors, and the C oracle against the Python one.

Nothing here touches tesela: this is about whether the other tests may believe the oracles.
TESELA_SEED chooses other random trees.
"""

import json
import os
import random
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import register_oracle as oracle  # noqa: E402
from register_oracle import Refused, Relation, evaluate  # noqa: E402

VECTORS = json.loads((HERE.parent / "vectors" / "tilus_seed_examples.json").read_text())
SEED = int(os.environ.get("TESELA_SEED", "20261121"), 0)
CASES = VECTORS["cases"]
GOOD = [case for case in CASES if case["ok"]]
BAD = [case for case in CASES if not case["ok"]]
MAPPING = VECTORS["seed_mapping_example"][0]
FORMS = [*VECTORS["seed_grids"], MAPPING, *GOOD, *VECTORS["fragments"]]


def lists(entry):
    return [entry[name] for name in ("shape", "mode_shape", "spatial_modes", "local_modes")]


def by_id(entries):
    return [pytest.param(entry, id=entry["id"]) for entry in entries]


# ---- the Python oracle ----


@pytest.mark.parametrize("entry", by_id(FORMS))
def test_lists(entry):
    """What the four lists mean: sizes, every element, the fingerprint."""
    made = oracle.register_layout(*lists(entry))
    assert (made.threads, made.locals) == (entry["spatial_size"], entry["local_size"])
    assert f"{made.fnv():016x}" == entry["mapping_hash"]
    assert oracle.has_modes(made)
    for text, (threads, local) in entry.get("table", {}).items():
        index = tuple(map(int, text.split(","))) if text else ()
        assert made.table[index] == (frozenset(threads), local)
    if "table" in entry:
        assert len(entry["table"]) == len(made.table)
    for lane, elements in enumerate(entry.get("lane_elements", [])):
        held = {made.table[tuple(x)][1]: x for x in elements if lane in made.table[tuple(x)][0]}
        assert [held[i] for i in range(made.locals)] == elements


@pytest.mark.parametrize("entry", by_id([*GOOD, *VECTORS["fragments"]]))
def test_operations(entry):
    """The tree of operations gives what the lists say."""
    assert evaluate(entry["ast"]) == oracle.register_layout(*lists(entry))


@pytest.mark.parametrize("entry", by_id(BAD))
def test_refusals(entry):
    with pytest.raises(Refused) as refused:
        evaluate(entry["ast"])
    assert refused.value.reasons == {entry["reason"].upper()}


def test_formula_of_the_mapping_example():
    entry = MAPPING
    made = oracle.register_layout(*lists(entry))
    for (i, j), (threads, local) in made.table.items():
        assert threads == {eval(entry["formula"]["thread"], {"i": i, "j": j})}
        assert local == eval(entry["formula"]["local"], {"i": i, "j": j})


def test_a_shuffled_table_has_no_modes():
    made = evaluate(["local", [2, 3], None])
    table = {x: made.table[y] for x, y in zip(made.table, [*list(made.table)[1:], (0, 0)])}
    assert not oracle.has_modes(Relation(made.shape, 1, 6, table))


# ---- the C oracle ----


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    """check_register_oracle, compiled, with sanitizers where the compiler has them: lines -> answers."""
    program = tmp_path_factory.mktemp("oracle") / "check_register_oracle"
    sources = ["check_register_oracle.c", "register_oracle.c", "register_modes.c"]
    command = [
        *shlex.split(os.environ.get("CC", "cc")),
        *"-std=c11 -O1 -g -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror".split(),
        f"-I{HERE.parents[1] / 'include'}",
        *(str(HERE / source) for source in sources),
        "-o",
        str(program),
    ]

    def answers(lines):
        done = subprocess.run([program], input="".join(lines), capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    for extra in (["-fsanitize=address,undefined", "-fno-sanitize-recover=all"], []):
        built = subprocess.run(command + extra, capture_output=True, text=True)
        if built.returncode == 0 and subprocess.run([program], input="", text=True).returncode == 0:
            return answers
    pytest.fail(built.stderr)


def words(tree):
    """A tree as the words that check_register_oracle reads, operands first."""
    name, *arguments = tree
    out = []
    for argument in arguments:
        if oracle.is_tree(argument):
            out += words(argument)
    given = [a for a in arguments if not oracle.is_tree(a)]
    if name == "register_layout":
        return ["lists", *(w for one in given for w in (len(one), *one))]
    if name == "auto_local_spatial":
        given.reverse()
    shape = given if name == "flatten" else next((a for a in given if type(a) is list), [])
    ranks = given[1] if name in ("spatial", "local") and len(given) > 1 else None
    number = given[1] if name in ("replicated", "auto_local_spatial") else 0
    keepdims = name == "reduce" and len(given) > 1 and given[1]
    ranked = [0] if ranks is None else [1, *ranks]
    return [*out, name, len(shape), *shape, *ranked, number, int(keepdims)]


def line(tree):
    return " ".join(map(str, words(tree))) + "\n"


def expected(result):
    if isinstance(result, set):
        return " ".join(["refused", *sorted(result)])
    shape = [len(result.shape), *result.shape]
    return " ".join(map(str, ["ok", *shape, result.threads, result.locals, f"{result.fnv():016x}"]))


def in_order(answer):
    """Reasons come in no particular order."""
    first, *rest = answer.split()
    return " ".join([first, *(sorted(rest) if first == "refused" else rest)])


def test_c_oracle_on_the_vectors(ask):
    entries = [*CASES, *VECTORS["fragments"]]
    entries = [e for e in entries if e.get("reason") != "ranks_length"]  # cannot be said in C
    for entry, answer in zip(entries, ask(line(e["ast"]) for e in entries)):
        if "reason" in entry:
            assert answer == f"refused {entry['reason'].upper()}", entry["id"]
        else:
            sizes = [len(entry["shape"]), *entry["shape"], entry["spatial_size"], entry["local_size"]]
            assert answer == " ".join(map(str, ["ok", *sizes, entry["mapping_hash"]])), entry["id"]


def test_c_oracle_agrees_with_python(ask):
    rng = random.Random(SEED)
    cases = [oracle.random_case(rng, rng.randint(0, 6)) for _ in range(600)]
    answers = ask(line(tree) for tree, _ in cases)
    assert len(answers) == len(cases)
    for (tree, result), answer in zip(cases, answers):
        assert in_order(answer) == expected(result), f"TESELA_SEED={SEED}: {tree}"
    refused = [result for _, result in cases if isinstance(result, set)]
    assert 20 < len(refused) < len(cases) / 2
    assert {"RESHAPE_NOT_REPRESENTABLE", "NOT_DIVISIBLE", "NOT_LEFT_DIVISIBLE"} & set.union(*refused)


def test_words_are_the_names_of_the_header():
    """Every operation of the header's table is in the Python table and the other way round."""
    header = (HERE / "register_oracle.h").read_text()
    table = re.findall(r"X\([A-Z_]+, ([a-z_]+), \d\)", header)
    assert sorted([*table, "register_layout"]) == sorted(oracle.OPERATIONS)
