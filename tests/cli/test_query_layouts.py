# SPDX-License-Identifier: Apache-2.0
"""`tesela query` against the vectors and, on random layouts, against the oracle: every element, every place.

TESELA_SEED chooses other random layouts; a failure names its seed.
"""

import itertools
import json
import os
import random
import sys

import pytest
from command import HERE, ask, error, good, one, what, where

sys.path.insert(0, str(HERE.parent / "oracle"))

from xla_oracle import COMBINE, Array  # noqa: E402

VECTORS = json.loads((HERE.parent / "vectors" / "xla_seed_examples.json").read_text())
ENTRIES = [
    pytest.param(entry, id=entry["shape"])
    for part in ("worked_examples", "formats", "random", "real_texts", "report_examples")
    for entry in VECTORS[part]
]
SEED = int(os.environ.get("TESELA_SEED", "20260801"), 0)
BATCHES, BATCH = 16, 25  # random layouts


# ---- the vectors ----


@pytest.mark.parametrize("entry", ENTRIES)
def test_vector_text(entry):
    assert good({"op": "parse", "text": entry["shape"]})["printed"] == entry["shape"]


@pytest.mark.parametrize("entry", ENTRIES)
def test_vector_sizes(entry):
    info = good({"op": "info", "layout": entry["shape"]})
    assert info["canonical"] == entry["shape"]
    for ours, theirs in {
        "bytes": "bytes", "bits": "bits_per_element", "logical_elements": "elements_logical",
        "elements": "elements_physical", "bounds": "final_bounds",
    }.items():  # fmt: skip
        if theirs in entry:
            assert info[ours] == entry[theirs]
    if "combined_bounds" in entry:
        assert info["bounds"] == entry["combined_bounds"]
    if "bounds_after_first_tile" in entry:
        steps = good({"op": "program", "layout": entry["shape"]})["steps"]
        assert [s for s in steps if s["level"] == 0][-1]["shape"] == entry["bounds_after_first_tile"]


@pytest.mark.parametrize("entry", ENTRIES)
def test_vector_places(entry):
    points = [(tuple(index), place) for index, place in entry.get("points", [])]
    if "offset" in entry:
        points.append((tuple(entry["element"]), entry["offset"]))
    for row, places in enumerate(entry.get("offsets_by_row", [])):
        points += [((row, column), place) for column, place in enumerate(places)]
    dims = Array.from_text(entry["shape"]).dims
    numbers = list(itertools.product(*map(range, dims))) if "memory_image" in entry else []
    points += [(numbers[n], place) for place, n in enumerate(entry.get("memory_image", [])) if n is not None]
    assert where(entry["shape"], [index for index, _ in points]) == [place for _, place in points]
    assert what(entry["shape"], [place for _, place in points]) == [list(index) for index, _ in points]
    padding = entry.get("padding_offsets_sample", [])
    padding = padding + [place for place, n in enumerate(entry.get("memory_image", [])) if n is None]
    assert what(entry["shape"], padding) == [None] * len(padding)


@pytest.mark.parametrize(
    "entry", [e for e in ENTRIES if "padding_offsets_count" in e.values[0] and e.values[0]["bytes"] < 3e5]
)
def test_vector_padding(entry):
    indices = what(entry["shape"], range(entry["elements_physical"]))
    assert indices.count(None) == entry["padding_offsets_count"]


def test_vector_equivalent_shapes():
    entry = next(e for e in VECTORS["worked_examples"] if "equivalent_shape" in e)
    a, b = Array.from_text(entry["shape"]), Array.from_text(entry["equivalent_shape"])
    places = where(b.text(), b.indices())
    assert where(a.text(), a.indices()) == places
    assert sorted(places) == sorted(set(places))


@pytest.mark.parametrize("text, printed", VECTORS["text"]["accepted"])
def test_vector_accepted(text, printed):
    assert good({"op": "parse", "text": text})["printed"] == printed


@pytest.mark.parametrize("text", VECTORS["text"]["refused"])
def test_vector_refused(text):
    wrong = error({"op": "parse", "text": text, "notation": "xla"})
    assert 0 <= wrong["at"] <= len(text)
    assert wrong["field"] == "text"
    wrong = error({"op": "info", "layout": text})
    assert 0 <= wrong["at"] <= len(text)


def test_vector_formats():
    formats = good({"op": "formats"})["formats"]
    names = [f["name"].replace("-", " ") for f in formats]
    assert names == list(dict.fromkeys(e["name"] for e in VECTORS["formats"]))
    for f in formats:
        assert good({"op": "parse", "text": f["example"]})["printed"] == f["example"]
        assert f["tiles"] in f["example"]


# ---- random layouts against the oracle ----


def random_arrays(batch):
    for k in range(BATCH):
        seed = SEED + batch * BATCH + k
        yield seed, Array.random(random.Random(seed), max_elements=3000)


def place_by_digits(info, index):
    """The place of an element, from nothing but the digits that info lists."""
    joins = {}
    place = 0
    rest = {("dim", d): x for d, x in enumerate(index)}
    for kind in ("dim", "join"):
        for digit in info["digits"]:
            if digit["source"] != kind:
                continue
            key = (kind, digit["index"])
            x, rest[key] = divmod(rest.get(key, joins.get(digit["index"], 0)), digit["step"])
            if "join" in digit:
                joins[digit["join"]] = joins.get(digit["join"], 0) + x * digit["weight"]
            else:
                assert digit["axis"] == "memory"
                place += x * digit["stride"]
    return place


def factor(pads):
    ratio = 1.0
    for pad in pads:
        assert pad["padded"] > pad["extent"] and (pad["padded"] % pad["tile"] == 0 or pad["kind"] == "width")
        ratio *= pad["padded"] / pad["extent"]
    return ratio


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_layouts(batch):
    for seed, a in random_arrays(batch):
        note = f"seed {seed}: {a.text()}"
        indices = list(a.indices())
        requests = [
            {"op": "info", "layout": a.text()},
            {"op": "where", "layout": a.text(), "indices": indices},
            {"op": "what", "layout": a.text(), "places": list(range(a.elements))},
            {"op": "parse", "text": a.text()},
        ]
        info, places, elements, text = ask(*requests)
        assert all(r["ok"] for r in (info, places, elements, text)), note
        assert text["printed"] == info["canonical"] == a.text(), note
        assert info["shape"] == list(a.dims) and info["rank"] == a.rank and info["dtype"] == a.dtype, note
        assert (info["bits"], info["elements"], info["bytes"]) == (a.bits, a.elements, a.bytes), note
        assert info["logical_elements"] == a.count, note
        assert info["allocated_bytes"] == a.allocated_bytes, note
        assert info["bounds"] == a.bounds(), note
        assert places["places"] == [a.place(index) for index in indices], note
        image = [None if n is None else list(indices[n]) for n in a.image()]
        assert elements["indices"] == image, note
        for index in indices[:50]:
            assert place_by_digits(info, index) == a.place(index), note
        if a.count:
            assert info["expansion"] == pytest.approx(a.bytes / info["logical_bytes"]), note
            tiles_and_tail = [pad for pad in info["padding"] if pad["kind"] != "width"]
            assert factor(tiles_and_tail) == pytest.approx(a.elements / a.count), note


def run_program(a, steps):
    """The image of a layout from its program, in plain Python lists."""
    shape, values = list(a.dims), list(range(a.count))
    for step in steps:
        if step["op"] == "transpose":
            shape, values = transposed(shape, values, step["permutation"])
        elif step["op"] == "pad":
            shape, values = padded(shape, values, step["amounts"])
        else:
            shape = step["sizes"]
        assert shape == step["shape"]
    return values


def transposed(shape, values, axes):
    new_shape = [shape[axis] for axis in axes]
    out = []
    for new in itertools.product(*map(range, new_shape)):
        old = [0] * len(shape)
        for k, axis in enumerate(axes):
            old[axis] = new[k]
        number = 0
        for n, x in zip(shape, old, strict=True):
            number = number * n + x
        out.append(values[number])
    return new_shape, out


def padded(shape, values, amounts):
    new_shape = [n + more for n, more in zip(shape, amounts, strict=True)]
    out = []
    for new in itertools.product(*map(range, new_shape)):
        number = 0
        for n, x in zip(shape, new, strict=True):
            number = number * n + x
        out.append(values[number] if all(x < n for n, x in zip(shape, new, strict=True)) else None)
    return new_shape, out


@pytest.mark.parametrize("batch", range(4))
def test_random_programs(batch):
    for k in range(BATCH):
        seed = SEED + 100000 + batch * BATCH + k
        a = Array.random(random.Random(seed), max_elements=300)
        steps = good({"op": "program", "layout": a.text()})["steps"]
        assert run_program(a, steps) == a.image(), f"seed {seed}: {a.text()}"


@pytest.mark.parametrize("batch", range(8))
def test_random_pairs(batch):
    """Same or not, against all places; pairs are near each other, so that many are the same."""
    same = 0
    for k in range(BATCH):
        seed = SEED + 200000 + batch * BATCH + k
        rng = random.Random(seed)
        a = Array.random(rng, max_elements=1500)
        tiles = list(a.tiles)
        for _ in range(rng.randrange(3)):  # drop a tile, or change one entry
            if tiles and rng.random() < 0.5:
                tiles.pop()
            elif tiles:
                tile = list(tiles[-1])
                tile[-1] = rng.choice([1, 2, 3, 4, 8])
                tiles[-1] = tuple(tile)
        b = Array(a.dtype, a.dims, a.minor_to_major, tiles, rng.choice([1, a.L]), a.E)
        response = one({"op": "same", "a": a.text(), "b": b.text()})
        note = f"seed {seed}: {a.text()} {b.text()}"
        differ = next((i for i in a.indices() if a.place(i) != b.place(i)), None)
        if not response["ok"]:  # may not be decided, but only then
            assert response["error"]["code"] == "UNSUPPORTED", note
            assert any(COMBINE in tile for tile in (*a.tiles, *b.tiles)), note
            continue
        assert response["same"] == (differ is None), note
        assert response["same_size"] == (a.elements == b.elements), note
        if differ is not None:
            first = {"index": list(differ), "a": a.place(differ), "b": b.place(differ)}
            assert response["first_difference"] == first, note
            assert response["reason"], note
        same += response["same"]
    assert same > 0


# ---- planted faults ----


def test_a_wrong_digit_is_found():
    a = Array.from_text("f32[6,10]{1,0:T(*,4)}")
    info = good({"op": "info", "layout": a.text()})
    assert all(place_by_digits(info, index) == a.place(index) for index in a.indices())
    for k, digit in enumerate(info["digits"]):
        for name in {"step", "stride", "weight"} & set(digit):
            wrong = {
                "digits": [
                    dict(d, **{name: d[name] + 1}) if i == k else d for i, d in enumerate(info["digits"])
                ]
            }
            assert any(place_by_digits(wrong, index) != a.place(index) for index in a.indices()), (
                digit,
                name,
            )
