# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/xla.md hold: types, attributes, sizes, formats, the TPU's choice, what is refused, what is mended,
and the functions named. (Its blocks are run by test_docs.py.)

The last tests plant faults: a table that says something wrong must be found.
"""

import json
import math
import re

import pytest
from doc_blocks import SOURCE, run

TEXT = (SOURCE / "docs/xla.md").read_text(encoding="utf-8")


def table(heading, text=TEXT):
    """The rows of the first table below a heading, without its head; backquotes around a whole cell go."""
    below = re.split(rf"^#+ {re.escape(heading)}$", text, flags=re.M)[1]
    lines = re.search(r"(?:^\|.*\n)+", below, re.M)[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]
    return [[re.sub(r"^`([^`]*)`$", r"\1", cell.strip()) for cell in row] for row in rows]


@pytest.fixture(scope="session")
def ask(tmp_path_factory):
    folder = tmp_path_factory.mktemp("query")

    def ask_all(*requests):
        printed, _, _ = run(["tesela", "query"], folder, text="".join(json.dumps(r) + "\n" for r in requests))
        return [json.loads(line) for line in printed.splitlines()]

    return ask_all


# ---- types ----


def test_types_are_those_of_the_list():
    header = (SOURCE / "include/tesela/layout.h").read_text()
    listed = re.findall(r'X\(TESELA_\w+, (\d+), "(\w+)", (\d+), (\d+), TESELA_FAMILY_(\w+)\)', header)
    assert len(listed) > 30
    assert table("Element types") == [
        [name, number, bits, size, family.lower()] for number, name, bits, size, family in listed
    ]


# ---- attributes ----


def without(attribute, shape):
    """The shape in its default order, or without one attribute."""
    if attribute == "order":
        return shape.partition("{")[0]
    return re.sub(rf"(?<![A-Z]){attribute}(\([^()]*\))+", "", shape)


@pytest.mark.parametrize("attribute, shape, says, moves, resizes", table("Attributes"))
def test_attribute(attribute, shape, says, moves, resizes, ask):
    plain = without(attribute, shape)
    assert plain != shape and says
    info = ask({"op": "info", "layout": shape}, {"op": "info", "layout": plain})
    assert (info[0]["bytes"] != info[1]["bytes"]) == (resizes == "yes")
    indices = [[]]
    for extent in info[0]["shape"]:
        indices = [index + [i] for index in indices for i in range(extent)]
    places = ask(*({"op": "where", "layout": text, "indices": indices} for text in (shape, plain)))
    assert (places[0]["places"] != places[1]["places"]) == (moves == "yes")


def test_every_attribute_of_the_reader_is_named():
    source = (SOURCE / "src/notation/xla/xla_layout.c").read_text()
    words = re.findall(r'^ +\{"([A-Z#*]+)",', source, re.M)
    assert len(words) == 10
    section = TEXT.split("### Attributes")[1].split("\n#")[0]
    assert [word for word in words if f"`{word}`" not in section] == []


# ---- sizes and formats ----


@pytest.mark.parametrize("shape, size, allocated, why", table("Examples of sizes"))
def test_size(shape, size, allocated, why, ask):
    (info,) = ask({"op": "info", "layout": shape})
    assert (info["bytes"], info["allocated_bytes"]) == (int(size), int(allocated))
    assert info["canonical"] == shape and why


def test_formats_are_those_of_the_list(ask):
    (response,) = ask({"op": "formats"})
    listed = [[f["name"], f["example"]] for f in response["formats"]]
    assert [row[:2] for row in table("Formats")] == listed


# ---- the TPU's choice ----


def number(cell):
    return None if cell == "-" else int(cell)


def least_power(least, most, n):
    while least < most and least < n:
        least *= 2
    return least


def chosen(row, shape, order, argument):
    """The layout that one row of the table gives a shape (its dims) in an order."""
    _, _, scalar, low, high, few, many, whole, then, bits = row
    inner, then = ("(128)" + then, then) if then != "-" else ("", "")
    packed = "" if bits == "-" else f"E({bits})"
    if 0 in shape:
        tiles = ""
    elif not shape:
        tiles = f"T({scalar})"
    elif len(shape) == 1:
        tiles = f"T({least_power(int(low), int(high), shape[0])}){inner}"
    else:
        rows = shape[order[1]]
        fits = argument and number(whole) and rows % number(whole) == 0
        tiles = f"T({whole if fits else least_power(int(few), int(many), rows)},128){then}"
    listed = ",".join(map(str, order))
    return f"{{{listed}:{tiles}{packed}}}" if tiles + packed else f"{{{listed}}}"


def observed():
    """(type, dims, chips, layout) of each choice of a real compiler."""
    for line in (SOURCE / "tests/data/tpu_tiles.tsv").read_text().splitlines():
        if line.startswith("#"):
            continue
        shape, chips, layout = line.split("\t")
        name, dims = re.fullmatch(r"(\w+)\[([\d,]*)\]", shape).groups()
        yield name, [int(d) for d in dims.split(",") if d], chips.split(","), layout


BITS = {name: bits for name, _, bits, _, _ in table("Element types")}


def row_for(rows, name, early):
    bits = "8" if name == "pred" else BITS[name]
    bits = "32" if bits in ("64", "128") else bits
    return next(row for row in rows if row[0] == ("v2, v3" if early else "v4 and later") and row[1] == bits)


def wrong_choices(rows):
    wrong = []
    for name, dims, chips, layout in observed():
        order = [int(d) for d in re.match(r"\{([\d,]*)", layout)[1].split(",") if d]
        for early in {chip in ("v2", "v3") for chip in chips}:
            expected = chosen(row_for(rows, name, early), dims, order, True)
            if expected != layout:
                wrong.append((name, dims, early, layout, expected))
    return wrong


def test_the_choice_is_that_of_compilers():
    assert len(list(observed())) > 6000
    assert wrong_choices(table("The TPU's choice")) == []


def test_the_choice_is_that_of_the_library(ask):
    cases, requests = [], []
    for row in table("The TPU's choice"):
        name = {"32": "f32", "16": "bf16", "8": "s8", "4": "s4", "2": "s2"}[row[1]]
        for dims in ([], [1], [200], [700], [1500], [9999], [1, 9], [3, 9], [9, 9], [64, 9], [256, 9], [0, 9]):
            for argument in (False, True):
                order = list(range(len(dims)))[::-1]
                shape = f"{name}[{','.join(map(str, dims))}]"
                expected = shape + chosen(row, dims, order, argument)
                cases.append(expected.removesuffix("{}"))
                requests.append({"op": "choose", "shape": shape, "early_tpu": row[0] != "v4 and later",
                                 "argument": argument})  # fmt: skip
    assert [response.get("layout") for response in ask(*requests)] == cases


def order_costs(row, shape):
    """{(most minor, second): (elements, pads)} of each order by the rule of the page."""
    _, _, _, _, _, few, many, whole, _, _ = row
    found = {}
    for minor in range(len(shape)):
        for second in set(range(len(shape))) - {minor}:
            extent = shape[second]
            fits = number(whole) and extent % number(whole) == 0
            rows = number(whole) if fits else least_power(int(few), int(many), extent)
            elements = math.prod(n for d, n in enumerate(shape) if d not in (minor, second))
            elements *= -(-shape[minor] // 128) * 128 * -(-extent // min(rows, 8)) * min(rows, 8)
            found[minor, second] = (elements, shape[minor] % 128 != 0 or extent % rows != 0)
    return found


def held_out():
    """(chip, type, dims, layout) of each line of tests/data/tpu_orders.tsv."""
    chip = None
    for line in (SOURCE / "tests/data/tpu_orders.tsv").read_text().splitlines():
        if "\t" in line:
            chip = line.split("\t")[0]
        elif not line.startswith("#"):
            name, dims, layout = re.fullmatch(r"(\w+)\[([\d,]*)\](.*)", line).groups()
            yield chip, name, [int(d) for d in dims.split(",") if d], layout


def test_the_order_is_that_of_compilers_and_the_counts_are_right():
    rows, counted, programs = table("The TPU's choice"), [0] * 5, set()
    for chip, name, dims, layout in held_out():
        programs.add(chip)
        row = row_for(rows, name, chip in ("v2", "v3"))
        order = list(range(len(dims)))[::-1]
        if len(dims) < 2 or 0 in dims:
            counted[0] += 1
        else:
            costs = order_costs(row, dims)
            fewest = [pair for pair in costs if costs[pair][0] == min(costs.values())[0]]
            best = [pair for pair in costs if costs[pair] == min(costs.values())]
            pair = max(best)
            row_major = pair == tuple(order[:2])
            counted[1 if len(fewest) == 1 else 2 if max(fewest) != pair else 3 if row_major else 4] += 1
            order = [*pair, *(d for d in order if d not in pair)]
        assert layout == ("" if not dims and layout == "" else chosen(row, dims, order, True)), (chip, name, dims)
    assert counted == [int(row[2]) for row in table("The order of an argument")]
    assert sum(counted) >= 2000 and programs == {"v2", "v5e", "tpu7x"}


# ---- refused and mended ----


@pytest.mark.parametrize("text, code, why, xla", table("What is refused"))
def test_refused(text, code, why, xla, ask):
    (response,) = ask({"op": "parse", "text": text})
    assert response["ok"] is False and response["error"]["code"] == code
    assert "at" in response["error"] and why and xla


@pytest.mark.parametrize("text, read, what", table("What a lenient reader mends"))
def test_mended(text, read, what, ask):
    strict, lenient = ask({"op": "parse", "text": text}, {"op": "parse", "text": text, "lenient": True})
    assert strict["ok"] is False and what
    assert lenient["ok"] is True and lenient["printed"] == read and lenient["n_repairs"] >= 1


# ---- functions ----

XLA_HEADERS = ["xla.h"]
HEADERS = {file.name: file.read_text() for file in (SOURCE / "include/tesela").glob("*.h")}


def declared(*names):
    text = "".join(HEADERS[name] for name in names or HEADERS)
    return set(re.findall(r"\b(tesela_\w+)\(", text))


def test_functions_in_the_table_exist():
    rows = table("The functions of XLA and their counterparts")
    named = {name for row in rows for cell in row[1:] for name in re.findall(r"\btesela_\w+", cell)}
    assert len(named) > 70 and named - declared() == set()


def test_names_elsewhere_exist():
    words = set(re.findall(r"\w+", "".join(HEADERS.values())))
    named = set(re.findall(r"\b(?:tesela|TESELA)_\w+", re.sub(r"_\*|\.\.\.", " ", TEXT)))
    assert {name for name in named if name.rstrip("_") not in words} - {"TESELA_XLA_IGNORE"} == set()


def test_functions_of_xla_are_all_named():
    assert declared(*XLA_HEADERS) - set(re.findall(r"\btesela_\w+", TEXT)) == set()


def test_each_function_of_xla_has_a_counterpart_or_a_word():
    for xla, tesela, note in table("The functions of XLA and their counterparts"):
        assert xla
        assert "tesela_" in tesela or (tesela == "-" and note)


# ---- planted faults ----


def test_a_wrong_number_in_the_choice_is_found():
    rows = table("The TPU's choice")
    for column in (2, 3, 4, 5, 6):
        changed = [row[:] for row in rows]
        changed[0][column] = str(2 * int(changed[0][column]))
        assert wrong_choices(changed)


def test_a_table_is_read_cell_by_cell():
    assert table("A", "# A\n\nx\n\n| a | b |\n| --- | --- |\n| `x,|y` | - |\n| 2 | `p` and `q` |\n\n") == [
        ["x,|y", "-"],
        ["2", "`p` and `q`"],
    ]
