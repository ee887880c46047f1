# SPDX-License-Identifier: Apache-2.0
"""The oracles against the vectors, and the C oracle against the Python one.

Nothing here touches tesela: this is about whether the other tests may believe the oracles.
"""

import itertools
import json
import os
import random
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from xla_oracle import COMBINE, VALUE_BITS, Array, self_test  # noqa: E402

VECTORS = json.loads((HERE.parent / "vectors" / "xla_seed_examples.json").read_text())
IMAGE_LIMIT = 30000  # elements; above, images are left to the sizes and points

# Every vector entry that is one array, with the part it stands in.
ENTRIES = [
    pytest.param(entry, id=f"{part}: {entry['shape']}")
    for part in ("worked_examples", "formats", "random", "real_texts", "report_examples")
    for entry in VECTORS[part]
]

# Fields that describe an entry and fields that a test below checks. A field in neither is a hole
# in this file, and test_every_field_is_checked says so.
WORDS = {"shape", "name", "format", "note", "seen_in", "size", "unpadded", "extra", "expansion"}
CHECKED = {
    "bytes", "bits_per_element", "elements_logical", "elements_physical", "unpadded_bytes",
    "bounds_after_first_tile", "final_bounds", "combined_bounds", "tile_bounds", "joined_bounds",
    "element", "tile_index", "within_tile_index", "combined_index", "index_after_first_tile",
    "final_index", "offset", "points", "offsets_by_row", "memory_image", "equivalent_shape",
    "padding_offsets_count", "padding_offsets_sample",
}  # fmt: skip


# ---- the Python oracle against the vectors ----


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_field_is_checked(entry):
    assert set(entry) <= WORDS | CHECKED


@pytest.mark.parametrize("entry", ENTRIES)
def test_text_comes_back(entry):
    assert Array.from_text(entry["shape"]).text() == entry["shape"]


@pytest.mark.parametrize("entry", ENTRIES)
def test_sizes(entry):
    a = Array.from_text(entry["shape"])
    figures = {
        "bytes": a.bytes,
        "bits_per_element": a.bits,
        "elements_logical": a.count,
        "elements_physical": a.elements,
        "unpadded_bytes": a.count * a.type_bytes,
        "padding_offsets_count": a.elements - a.count,
    }
    for field in figures.keys() & entry.keys():
        assert (field, figures[field]) == (field, entry[field])


@pytest.mark.parametrize("entry", ENTRIES)
def test_bounds_and_coordinates(entry):
    a = Array.from_text(entry["shape"])
    n = len(a.tiles[0]) if a.tiles else 0
    figures = {
        "bounds_after_first_tile": lambda: a.bounds(1),
        "final_bounds": lambda: a.bounds(),
        "combined_bounds": lambda: a.bounds(1),
        "tile_bounds": lambda: a.bounds(1)[:-n],
        "joined_bounds": lambda: a.joined_bounds(0),
        "tile_index": lambda: a.coordinates(entry["element"], 1)[:-n],
        "within_tile_index": lambda: a.coordinates(entry["element"], 1)[-n:],
        "combined_index": lambda: a.coordinates(entry["element"], 1),
        "index_after_first_tile": lambda: a.coordinates(entry["element"], 1),
        "final_index": lambda: a.coordinates(entry["element"]),
        "offset": lambda: a.place(entry["element"]),
    }
    for field in figures.keys() & entry.keys():
        assert (field, figures[field]()) == (field, entry[field])


@pytest.mark.parametrize("entry", ENTRIES)
def test_places(entry):
    a = Array.from_text(entry["shape"])
    for index, offset in entry.get("points", []):
        assert (index, a.place(index)) == (index, offset)
    for row, offsets in enumerate(entry.get("offsets_by_row", [])):
        assert [a.place((row, column)) for column in range(a.dims[1])] == offsets
    if "offsets_by_row" in entry:
        assert len(entry["offsets_by_row"]) == a.dims[0]


@pytest.mark.parametrize("entry", ENTRIES)
def test_image(entry):
    a = Array.from_text(entry["shape"])
    if a.elements > IMAGE_LIMIT:
        assert not entry.get("padding_offsets_sample") and "memory_image" not in entry
        return
    image = a.image()
    if "memory_image" in entry:
        assert image == entry["memory_image"]
    assert len(image) == a.elements
    assert image.count(None) == a.elements - a.count
    assert all(image[offset] is None for offset in entry.get("padding_offsets_sample", []))
    for index, offset in entry.get("points", []):
        number = 0
        for x, n in zip(index, a.dims, strict=True):
            number = number * n + x
        assert image[offset] == number
    if a.count <= 5000:
        assert [image[a.place(index)] for index in a.indices()] == list(range(a.count))


def test_joining_equals_reshaping_first():
    entries = [e for e in VECTORS["worked_examples"] if "equivalent_shape" in e]
    assert entries
    for entry in entries:
        a = Array.from_text(entry["shape"])
        b = Array.from_text(entry["equivalent_shape"])
        assert a.count == b.count
        assert all(a.place(i) == b.place(j) for i, j in zip(a.indices(), b.indices(), strict=True))


# ---- what the vectors do not hold ----


@pytest.mark.parametrize(
    ("text", "allocated"),
    [
        ("bf16[]{:T(512)(2,1)}", 1024),  # only the first tile pads; the definition says 2048
        ("f32[8,8]{1,0:T(4,4)(3,1)}", 256),  # the definition says 384
        ("f32[3]{0:L(8)}", 12),  # without tiles no L; the definition says 32
        ("f32[3]{0:T(2)L(8)}", 32),
        ("s4[3,3]{1,0:T(2,2)E(4)}", 8),
        ("s4[3]{0:E(4)}", 2),
        ("s32[6]{0:T(128)S(1)SC(0:3)}", 512),
        ("u8[150,200,100]{0,1,2:T(1)SC(0:30)(1:40,130)}", 945000),
        ("u8[150,200,100]{0,1,2:SC(0:30)(1:40,130)}", 3000000),
        ("f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", 49728),
        ("f32[4,0]{1,0:T(8,128)L(1024)}", 0),
    ],
)
def test_allocated_bytes(text, allocated):
    assert Array.from_text(text).allocated_bytes == allocated


@pytest.mark.parametrize("entry", ENTRIES)
def test_allocated_bytes_of_usual_layouts(entry):
    """Where no later tile pads and tiles stand before any L, both sizes are the same."""
    a = Array.from_text(entry["shape"])
    one = Array(a.dtype, a.dims, a.minor_to_major, a.tiles[:1], a.L if a.tiles else 1, a.E)
    if not a.splits:
        assert a.allocated_bytes == one.bytes
    if entry in VECTORS["real_texts"]:
        assert a.allocated_bytes == a.bytes


@pytest.mark.parametrize(
    "text",
    ["F32[3]{0}", "f32[3]{1}", "f32[3]{0,0}", "f32[3]{0:T(2,*)}", "f32[3]{0:T(0)}", "f32[3]{0:L(0)}",
     "f32[3]{0:E(4)T(2)}", "f32[3]{0:T()}", "f32[-3]{0}", "f32[ 3]{0}", "f33[3]{0}", "f32[3]{0}x"],
)  # fmt: skip
def test_other_texts_are_refused(text):
    with pytest.raises(ValueError):
        Array.from_text(text)


def test_outside_the_dims_there_is_no_place():
    a = Array.from_text("f32[3,5]{1,0:T(2,2)}")
    for index in [(3, 0), (0, 5), (-1, 0), (0,), (0, 0, 0)]:
        with pytest.raises(IndexError):
            a.place(index)


def test_both_formulations_agree_in_python():
    self_test(1, 400)


def test_a_planted_fault_is_found(monkeypatch):
    """An index formula with a wrong bound after the second tile must not survive the self test."""
    levels = Array._levels

    def wrong(self, index):
        for k, (d, e) in enumerate(levels(self, index)):
            yield ([n + 1 for n in d] if k == 2 else d), e

    monkeypatch.setattr(Array, "_levels", wrong)
    with pytest.raises((AssertionError, IndexError)):
        self_test(1, 100)


# ---- the C oracle ----


@pytest.fixture(scope="module")
def check_oracle(tmp_path_factory):
    """check_oracle, compiled; with sanitizers where the compiler has them."""
    program = tmp_path_factory.mktemp("oracle") / "check_oracle"
    command = [
        *shlex.split(os.environ.get("CC", "cc")),
        *"-std=c11 -O1 -g -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror".split(),
        str(HERE / "check_oracle.c"),
        str(HERE / "xla_oracle.c"),
        "-o",
        str(program),
    ]
    sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    for extra in (sanitizers, []):
        built = subprocess.run(command + extra, capture_output=True, text=True)
        runs = built.returncode == 0 and ask([program], "1\n").returncode == 2
        if runs:
            return program
    pytest.fail(built.stderr)


def ask(command, text=None):
    command = [*command, "--stdin"] if text is not None else command
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=300)


def test_c_oracle_agrees_with_itself(check_oracle):
    done = ask([check_oracle])
    assert done.returncode == 0, done.stderr
    passed, word, failed, _ = done.stdout.split()
    assert word == "passed," and failed == "0" and int(passed) >= 20000


def question(a, points):
    """The line of numbers that check_oracle --stdin reads."""
    out = [a.rank, *a.dims, *a.minor_to_major, len(a.tiles)]
    for tile in a.tiles:
        out += [len(tile), *(-1 if t == COMBINE else t for t in tile)]
    out += [a.L, a.type_bytes, a.E, len(a.splits)]
    for dim, cuts in a.splits.items():
        out += [dim, len(cuts), *cuts]
    out += [len(points), *itertools.chain.from_iterable(points)]
    return " ".join(map(str, out)) + "\n"


def answers(text):
    """One dict an answer: array, elements, bytes, allocated, bounds, points, image."""
    answer = {"bounds": [], "points": [], "image": None}
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word == "end":
            yield answer
            answer = {"bounds": [], "points": [], "image": None}
        elif word == "array":
            answer["array"] = rest
        elif word == "bounds":
            answer["bounds"].append([int(n) for n in rest.split()][1:])
        elif word == "point":
            index, offset = rest.split("->")
            answer["points"].append(([int(x) for x in index.split()], int(offset)))
        elif word == "image":
            answer["image"] = [None if n == "-1" else int(n) for n in rest.split()]
        else:
            answer[word] = int(rest)


def compare(a, answer):
    """One answer of the C oracle against the Python oracle."""
    assert (a.text(), answer["elements"]) == (a.text(), a.elements)
    assert (a.text(), answer["bytes"]) == (a.text(), a.bytes)
    assert (a.text(), answer["allocated"]) == (a.text(), a.allocated_bytes)
    assert answer["bounds"] == [a.bounds(level) for level in range(len(a.tiles) + 1)], a
    for index, offset in answer["points"]:
        assert (a.text(), index, a.place(index)) == (a.text(), index, offset)
    if answer["image"] is not None and a.elements <= IMAGE_LIMIT:
        assert answer["image"] == a.image(), a
    assert (answer["image"] is None) == (a.elements > 200000)


def test_c_oracle_against_the_vectors(check_oracle):
    entries = [param.values[0] for param in ENTRIES]
    arrays = [Array.from_text(entry["shape"]) for entry in entries]
    wanted = []
    for entry in entries:
        points = [(index, offset) for index, offset in entry.get("points", [])]
        if "offset" in entry:
            points.append((entry["element"], entry["offset"]))
        for row, offsets in enumerate(entry.get("offsets_by_row", [])):
            points += [([row, column], offset) for column, offset in enumerate(offsets)]
        wanted.append(points)
    lines = [question(a, [p[0] for p in pts]) for a, pts in zip(arrays, wanted, strict=True)]
    done = ask([check_oracle], "".join(lines))
    assert done.returncode == 0, done.stderr
    for a, entry, points, answer in zip(arrays, entries, wanted, answers(done.stdout), strict=True):
        assert answer["points"] == points, a
        assert answer["bytes"] == entry.get("bytes", answer["bytes"])
        assert answer["elements"] == entry.get("elements_physical", answer["elements"])
        assert answer["bounds"][-1] == entry.get("final_bounds", answer["bounds"][-1])
        assert answer["image"] == entry.get("memory_image", answer["image"])
        if "padding_offsets_sample" in entry:
            image = answer["image"]
            assert image.count(None) == entry["padding_offsets_count"]
            assert all(image[offset] is None for offset in entry["padding_offsets_sample"])
        compare(a, answer)


def test_c_oracle_answers_python_arrays(check_oracle):
    rng = random.Random(20)
    arrays = [Array.random(rng, 2000) for _ in range(300)]
    lines = []
    for a in arrays:
        points = [[rng.randrange(n) for n in a.dims] for _ in range(5)] if a.count else []
        lines.append(question(a, points))
    done = ask([check_oracle], "".join(lines))
    assert done.returncode == 0, done.stderr
    for a, answer in zip(arrays, answers(done.stdout), strict=True):
        compare(a, answer)


def test_c_oracle_counts_the_largest_split(check_oracle):
    rng = random.Random(21)
    arrays = []
    while len(arrays) < 200:
        a = Array.random(rng)
        for physical, dim in enumerate(reversed(a.minor_to_major)):
            if a.dims[dim] > 1 and rng.random() < 0.5:
                n = rng.randint(1, min(4, a.dims[dim] - 1))
                a.splits[physical] = tuple(sorted(rng.sample(range(1, a.dims[dim]), n)))
        if a.splits:
            arrays.append(a)
    done = ask([check_oracle], "".join(question(a, []) for a in arrays))
    assert done.returncode == 0, done.stderr
    smaller = 0
    for a, answer in zip(arrays, answers(done.stdout), strict=True):
        assert (a.text(), answer["allocated"]) == (a.text(), a.allocated_bytes)
        assert Array.from_text(a.text()).splits == a.splits
        whole = Array(a.dtype, a.dims, a.minor_to_major, a.tiles, a.L, a.E)
        smaller += a.allocated_bytes < whole.allocated_bytes
    assert smaller > 20


def test_python_answers_c_arrays(check_oracle):
    done = ask([check_oracle, "--random", "1000000", "300"])
    assert done.returncode == 0, done.stderr
    n = 0
    for answer in answers(done.stdout):
        a = Array.from_text(answer["array"])
        assert a.text() == answer["array"]
        compare(a, answer)
        n += 1
    assert n == 300


@pytest.mark.parametrize(
    "line",
    ["x", "1", "33", "1 5 0 0 1 4", "1 5 1 0 1 4 0 0 0", "1 5 0 1 1 -1 1 4 0 0 0",
     "1 5 0 0 1 4 0 0 1", "1 5 0 0 1 4 0 0 0 7", "1 -5 0 0 1 4 0 0 0"],
)  # fmt: skip
def test_c_oracle_refuses_a_wrong_line(check_oracle, line):
    done = ask([check_oracle], line + "\n")
    assert done.returncode == 2 and done.stderr


def test_both_oracles_know_the_same_types(check_oracle):
    done = ask([check_oracle, "--random", "1", "400"])
    words = {answer["array"].partition("[")[0] for answer in answers(done.stdout)}
    assert len(words) == 15 and words <= set(VALUE_BITS)
