# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/relayout.md hold: solvers and their examples, transforms and nothing beside them, fills, limits,
and the names in the text. (Its blocks are run by test_docs.py.)

The last tests plant faults: a table that says something wrong must be found.
"""

import json
import re

import pytest
from doc_blocks import SOURCE, run
from test_xla_doc import table as table_of

TEXT = (SOURCE / "docs/relayout.md").read_text(encoding="utf-8")
HEADERS = {file.name: file.read_text() for file in (SOURCE / "include/tesela").glob("*.h")}
PAIR = "c64"  # what the tests call "pairs of f32, as a type of 8 bytes"


def table(heading):
    return table_of(heading, TEXT)


@pytest.fixture(scope="session")
def ask(tmp_path_factory):
    folder = tmp_path_factory.mktemp("query")

    def ask_all(requests):
        printed, _, _ = run(["tesela", "query"], folder, text="".join(json.dumps(r) + "\n" for r in requests))
        return [json.loads(line) for line in printed.splitlines()]

    return ask_all


# ---- solvers ----


def wrong_examples(rows, folder):
    wrong = []
    for name, _, _, problem in rows:
        named = ["--solver=permute"] if name == "permute" else []  # in C it is not chosen
        printed, _, errors = run(["tesela", "plan", "--isa=c", *named, "--json", problem], folder)
        if not printed or json.loads(printed)["solver"] != name:
            wrong.append((name, problem, printed or errors))
    return wrong


def test_solvers_are_those_of_the_list():
    listed = re.findall(r'X\(TESELA_SOLVER_\w+, (\d+), "(\w+)"', HEADERS["relayout.h"])
    assert [row[0] for row in table("Solvers")] == [name for number, name in listed if number != "0"]


def test_each_example_is_for_its_solver(tmp_path):
    assert wrong_examples(table("Solvers"), tmp_path) == []


# ---- transforms ----


def types():
    """Types with an ordinary width of their own, and the narrow ones packed."""
    listed = re.findall(r'X\(TESELA_\w+, \d+, "(\w+)", (\d+), (\d+), TESELA_FAMILY_\w+\)', HEADERS["layout.h"])
    whole = [(name, "") for name, bits, size in listed if int(size) > 0]
    narrow = [(name, f"E({bits})") for name, bits, size in listed if int(bits) in (1, 2, 4)]
    return whole + narrow + [("pred", "E(8)"), ("pred", "E(32)")]


def shapes_of(cell):
    """The shapes that a cell of the table names."""
    if cell.startswith("pairs"):
        return [(PAIR, "")]
    name, *widths = re.findall(r"`([^`]+)`|^(\w+)$", cell)
    name = "".join(name)
    return [(name, "".join(width)) for width in widths] or [(name, "")]


def plain(shape):
    """E of the ordinary width says nothing."""
    return (shape[0], "") if shape[1] == "E(8)" else shape


def said(rows, transform):
    """The pairs of shapes that the table says a transform takes."""
    pairs = set()
    for name, sources, targets, _ in rows:
        if name != transform:
            continue
        from_shapes = shapes_of(sources)
        to_shapes = from_shapes if targets == "another of them" else shapes_of(targets)
        pairs |= {(plain(a), plain(b)) for a in from_shapes for b in to_shapes if a != b}
    return pairs


def request(transform, a, b):
    texts = [f"{name}[3]{{0{':' if width else ''}{width}}}" for name, width in (a, b)]
    return {"op": "plan", "from": texts[0], "to": texts[1], "transform": transform}


def taken(ask, transform):
    """The pairs of different shapes that it takes."""
    pairs = [(a, b) for a in types() for b in types() if plain(a) != plain(b)]
    answers = ask([request(transform, a, b) for a, b in pairs])
    return {(plain(a), plain(b)) for (a, b), answer in zip(pairs, answers) if answer["ok"]}


def test_conversions_are_those_of_the_table_and_no_others(ask):
    assert len(said(table("Transforms"), "convert")) == 48
    assert taken(ask, "convert") == said(table("Transforms"), "convert")


@pytest.mark.parametrize("transform", ["split", "merge"])
def test_pairs_are_those_of_the_table(transform, ask):
    pairs = said(table("Transforms"), transform)
    assert len(pairs) == 1
    assert all(answer["ok"] for answer in ask([request(transform, a, b) for a, b in pairs]))
    wide = {(a, b)[transform == "merge"][0] for a, b in taken(ask, transform)}
    assert wide == {"f64"}


def test_swap_takes_whole_bytes_of_one_type(ask):
    assert taken(ask, "swap") == set()
    whole = [shape for shape in types() if not shape[1]]
    narrow = [shape for shape in types() if shape[1] in ("E(1)", "E(2)", "E(4)")]
    assert narrow and all(answer["ok"] for answer in ask([request("swap", shape, shape) for shape in whole]))
    assert not any(answer["ok"] for answer in ask([request("swap", shape, shape) for shape in narrow]))


# ---- fills, limits, names ----


def test_fills_are_those_of_the_header():
    listed = re.findall(r"^  (TESELA_FILL_\w+),", HEADERS["relayout.h"], re.M)
    assert [row[0] for row in table("What is written")] == listed


@pytest.mark.parametrize(
    "what, file, words",
    [
        ("pieces", "src/relayout/plan.h", r"TESELA__MAX_PIECES = (\d+)"),
        ("plans in a cache", "src/relayout/cache.c", r"MAX_CAPACITY = (\d+)"),
        ("threads", "src/relayout/relayout_check.c", r"o->threads > (\d+)"),
    ],
)
def test_limit(what, file, words):
    (limit,) = [row[1] for row in table("Limits") if row[0] == what]
    assert re.match(r"\d+", limit)[0] == re.search(words, (SOURCE / file).read_text())[1]


def test_names_exist():
    words = set(re.findall(r"\w+", "".join(HEADERS.values())))
    named = set(re.findall(r"\b(?:tesela|TESELA)_\w+", TEXT))
    assert len(named) > 20 and named - words == set()


# ---- planted faults ----


def test_an_example_of_another_solver_is_found(tmp_path):
    rows = table("Solvers")
    rows[0][3], rows[1][3] = rows[1][3], rows[0][3]
    assert {name for name, _, _ in wrong_examples(rows, tmp_path)} == {rows[0][0], rows[1][0]}


def test_a_conversion_too_many_or_too_few_is_found(ask):
    rows = table("Transforms")
    convert = [row for row in rows if row[0] == "convert"]
    assert said([row for row in rows if row is not convert[0]], "convert") != taken(ask, "convert")
    assert said([*rows, ["convert", "u8", "f32", "x"]], "convert") != taken(ask, "convert")
