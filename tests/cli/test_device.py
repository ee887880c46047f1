# SPDX-License-Identifier: Apache-2.0
"""Device layouts through `tesela query` and the verbs dma and verify: the vectors, and random layouts against the definition."""

import itertools
import json
import os
import random
import sys

import pytest
from command import SOURCE, ask, error, good, run

sys.path.insert(0, str(SOURCE / "tests" / "oracle"))
import device_oracle as oracle  # noqa: E402

VECTORS = json.loads((SOURCE / "tests" / "vectors" / "spyre_seed_examples.json").read_text())
SEED = int(os.environ.get("TESELA_SEED", "20261121"), 0)
CASES = VECTORS["layouts"] + [case for case in VECTORS["rfc_examples"] if "layout" in case]


def request(case):
    return {key: case[key] for key in ("host", "elem_bytes", "stick_bytes", "layout")}


# ---- the vectors ----


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_layout(case):
    expect = case["expect"]
    answer = good({"op": "device_layout", **request(case), "indices": [s[0] for s in expect["samples"]]})
    assert {key: answer[key] for key in expect} == expect


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_merged_nests_move_the_same(case):
    expect = case["expect"]
    answer = good({"op": "dma", **request(case)})
    assert sorted(oracle.moved(answer["nests"])) == sorted(oracle.moved(expect["nests"]))
    assert answer["bound"] <= answer["count"] == len(answer["nests"]) <= expect["min_nests"]


@pytest.mark.parametrize("case", VECTORS["layout_errors"], ids=lambda case: case["id"])
def test_layout_error(case):
    said = error({"op": "device_layout", **request(case)})
    assert said["code"] == "INVALID"
    assert {"SE001": "dim_order repeats a dim", "SE002": "too small for host dim"}[case["id"]] in said["message"]


@pytest.mark.parametrize("case", VECTORS["views"], ids=lambda case: case["id"])
def test_view(case):
    answer = good({"op": "view", **{key: case[key] for key in ("base", "elem_bytes", "stick_bytes", "view")}})
    assert {key: answer[key] for key in case["expect"]} == case["expect"]


@pytest.mark.parametrize("case", VECTORS["relayouts"], ids=lambda case: case["id"])
def test_restickify(case):
    expect = {key: value for key, value in case["expect"].items() if key != "dim_order"}
    answer = good(
        {
            "op": "restickify",
            "host": {"size": case["host_size"]},
            "elem_bytes": case["elem_bytes"],
            "stick_bytes": case["stick_bytes"],
            "layout": {"dim_order": case["from_dim_order"]},
            "to_stick": case["to_stick"],
        }
    )
    assert {key: answer[key] for key in expect} == expect


def test_rfc_loop_nest():
    case = VECTORS["rfc_examples"][0]
    nest = good({"op": "device_layout", **request(case)})["nests"][0]
    tuples = case["three_tuples"]
    assert {key: nest[key] for key in tuples} == tuples
    for index, host, device in case["loop_nest_checks"]:
        assert sum(i * s for i, s in zip(index, nest["host_strides"])) == host
        assert sum(i * s for i, s in zip(index, nest["device_strides"])) == device


@pytest.mark.parametrize("check", VECTORS["rfc_examples"][2]["checks"])
def test_rfc_blocks_are_contiguous(check):
    """Rows of one column block are one nest of one burst."""
    box = {"start": [check["row"], 64 * check["block"]], "size": [check["rows"], 64]}
    answer = good({"op": "dma", **request(VECTORS["rfc_examples"][0]), "box": box})
    assert (answer["count"], answer["bursts"]) == (1, 1)
    assert answer["nests"][0]["device_offset"] == check["first_device_offset"]
    assert answer["burst_bytes"] == 2 * check["elements"]


def test_rfc_reduction_leaves_one_element_per_stick():
    case = VECTORS["rfc_examples"][3]
    expect = case["expect"]
    answer = good(
        {
            "op": "device_layout",
            "host": {"size": case["result_host_size"]},
            "layout": {"dim_order": case["result_dim_order"]},
            "indices": [s[0] for s in expect["samples"]],
        }
    )
    assert {key: answer[key] for key in expect} == expect


def test_rfc_restick():
    case = VECTORS["rfc_examples"][4]
    answers = [
        good(
            {
                "op": "device_layout",
                "host": {"size": [1024, 256]},
                "layout": {"dim_order": case[side]["dim_order"]},
                "indices": [pair[0] for pair in case["pairs"]],
            }
        )
        for side in ("from", "to")
    ]
    for answer, side in zip(answers, ("from", "to")):
        assert answer["device_size"] == case[side]["device_size"]
    for k, (_, before, after) in enumerate(case["pairs"]):
        assert [answer["samples"][k][2] for answer in answers] == [before, after]


# ---- random layouts ----


def random_layout(rng):
    """A request, and its device dims with strides."""
    rank = rng.randint(0, 4)
    size = [rng.choice([1, 2, 3, 5, 8, 9]) for _ in range(rank)]
    elem, stick = rng.choice([1, 2, 4]), rng.choice([8, 16])
    lanes = stick // elem
    kind = rng.choice(["dim_order", "dims", "dims"])
    if kind == "dim_order":
        order = rng.sample(range(rank), rank) + [-1] * (rng.random() < 0.2)
        style = rng.choice(["generic", "stick_outer", "inner_pair", "generic_jan26"])
        layout = {"kind": kind, "dim_order": order, "style": style}
        if rank and rng.random() < 0.4:
            d = rng.randrange(rank)
            layout["pad_to"] = {str(d): size[d] + rng.randint(0, 5)}
        return size, elem, stick, layout
    dims = []
    for d in range(rank):
        steps = sorted({rng.randint(1, size[d] + 1) for _ in range(rng.randint(0, 2))} | {1}, reverse=True)
        rest = size[d]
        for step in steps:
            dims.append([d, step, -(-rest // step) + (rng.random() < 0.3)])
            rest = min(rest, step)
    if rng.random() < 0.3:
        dims.append([rng.choice([-1, -2]), 0, rng.randint(1, 3)])
    rng.shuffle(dims)
    dims.append([-1, 0, lanes])
    return size, elem, stick, {"kind": kind, "dims": dims, "stick_dims": 1}


def random_host(rng, size):
    """Strides and an offset: permuted, gapped, broadcast or negative."""
    strides, step = [0] * len(size), 1
    for d in rng.sample(range(len(size)), len(size)):
        strides[d] = step
        step *= size[d] + rng.randint(0, 2)
        if rng.random() < 0.15:
            strides[d] = 0
        elif rng.random() < 0.15:
            strides[d] = -strides[d]
    return {"size": size, "strides": strides, "offset": rng.choice([0, 0, 17, step])}


def random_cases(n):
    rng = random.Random(SEED)
    for _ in range(n):
        size, elem, stick, layout = random_layout(rng)
        yield rng, {
            "host": random_host(rng, size),
            "elem_bytes": elem,
            "stick_bytes": stick,
            "layout": layout,
        }


def dims_of(answer):
    return [(*dim, stride) for dim, stride in zip(answer["dims"], answer["device_strides"])]


def test_random_layouts_by_definition():
    cases = [case for _, case in random_cases(300)]
    for case, answer in zip(cases, ask(*({"op": "device_layout", **case} for case in cases))):
        assert answer["ok"], (case, answer)
        dims, host = dims_of(answer), case["host"]
        assert answer["device_strides"] == oracle.suffix_products(answer["device_size"])
        places = oracle.places(dims, host["size"])
        assert len(set(places)) == len(places) and None not in places
        assert answer["map_hash"] == oracle.map_hash(places)
        expected = sorted(oracle.pairs(dims, host["size"], host["strides"], host["offset"]))
        assert sorted(oracle.moved(answer["nests"])) == expected, case


def test_random_transfers():
    requests, boxes = [], []
    for rng, case in random_cases(400):
        box = None
        if rng.random() < 0.5:
            start = [rng.randint(0, n) for n in case["host"]["size"]]
            size = [rng.randint(0, n - a) for a, n in zip(start, case["host"]["size"])]
            box = (start, size)
        limits = {}
        if rng.random() < 0.5:
            limits = {"max_dims": rng.randint(1, 4), "max_extent": rng.randint(1, 6)}
        elif rng.random() < 0.5:
            limits = {"max_burst": case["elem_bytes"] * rng.randint(1, 9)}
        boxes.append(box)
        extra = {"box": {"start": box[0], "size": box[1]}} if box else {}
        requests.append({"op": "dma", **case, **extra, **({"limits": limits} if limits else {})})
    layouts = ask(*({**request(case), "op": "device_layout"} for case in requests))
    for case, box, layout, answer in zip(requests, boxes, layouts, ask(*requests)):
        assert answer["ok"], (case, answer)
        host, limits = case["host"], case.get("limits", {})
        expected = sorted(oracle.pairs(dims_of(layout), host["size"], host["strides"], host["offset"], box))
        assert sorted(oracle.moved(answer["nests"])) == expected, case
        for nest in answer["nests"]:
            assert len(nest["ranges"]) <= limits.get("max_dims", 48)
            assert all(n <= limits.get("max_extent", 2**60) for n in nest["ranges"])


def test_random_padding():
    cases = [case for _, case in random_cases(200)]
    layouts = ask(*({"op": "device_layout", **case} for case in cases))
    for case, layout, answer in zip(cases, layouts, ask(*({"op": "dma", **case, "padding": True} for case in cases))):
        host = case["host"]
        taken = [p for p, _ in oracle.pairs(dims_of(layout), host["size"], host["strides"], host["offset"])]
        free = [p for p, _ in oracle.moved(answer["nests"])]
        assert sorted(taken + free) == list(range(layout["device_elems"])), case


def test_random_views():
    """A view by definition: host offset -> base element -> place."""
    rng = random.Random(SEED)
    requests, bases = [], []
    for _ in range(300):
        size = [rng.choice([1, 2, 3, 5, 9, 16]) for _ in range(rng.randint(1, 3))]
        strides, base = oracle.row_major(size), {"size": size, "dim_order": rng.sample(range(len(size)), len(size))}
        dims = list(range(len(size)))
        rng.shuffle(dims)
        view = {"size": [], "strides": [], "offset": 0}
        for d in dims:
            start = rng.randrange(size[d])
            step = rng.choice([1, 1, 1, 2])
            length = rng.randint(1, -(-(size[d] - start) // step))
            view["offset"] += start * strides[d]
            view["size"].append(length)
            view["strides"].append(strides[d] * step)
        if rng.random() < 0.3:
            view["size"].append(rng.randint(1, 3))
            view["strides"].append(0)
        bases.append(size)
        requests.append({"op": "view", "base": base, "elem_bytes": 2, "stick_bytes": 16, "view": view})
    layouts = ask(
        *(
            {
                "op": "device_layout",
                "host": {"size": case["base"]["size"]},
                "elem_bytes": 2,
                "stick_bytes": 16,
                "layout": {"dim_order": case["base"]["dim_order"]},
            }
            for case in requests
        )
    )
    for size, case, layout, answer in zip(bases, requests, layouts, ask(*requests)):
        assert answer["ok"], (case, answer)
        strides, view, places = oracle.row_major(size), case["view"], []
        for index in itertools.product(*map(range, view["size"])):
            number = view["offset"] + sum(i * s for i, s in zip(index, view["strides"]))
            places.append(oracle.place(dims_of(layout), [number // s % n for s, n in zip(strides, size)]))
        assert answer["map_hash"] == oracle.map_hash(places)
        assert (answer["first_offsets"], answer["last_offset"]) == (places[:8], places[-1])
        lanes = [p % 8 for p in places]
        indices = list(itertools.product(*map(range, view["size"])))
        clean = [v for v in range(len(view["size"])) if all(lane == i[v] % 8 for lane, i in zip(lanes, indices))]
        shifted = any(
            all(lane == (i[v] + lanes[0]) % 8 for lane, i in zip(lanes, indices)) for v in range(len(view["size"]))
        ) or len(set(lanes)) == 1
        if clean or not any(lanes):
            assert answer["lane"] == "clean", case
            assert answer["lane_view_dim"] in ([None, *clean] if not any(lanes) else clean), case
        else:
            assert answer["lane"] == ("offset" if shifted else "mixed"), case


# ---- what is refused ----


def test_refusals():
    host, layout = {"size": [4, 100]}, {"dim_order": [0, 1]}
    rows = [
        ({"host": {"size": [4, -1]}, "layout": layout}, "RANGE", "-1"),
        ({"host": {"size": [4, 100], "strides": [1]}, "layout": layout}, "INVALID", "strides"),
        ({"host": {"sise": [4, 100]}, "layout": layout}, "INVALID", "did you mean size"),
        ({"host": host, "layout": {"dim_order": [0]}}, "INVALID", "dim_order"),
        ({"host": host, "layout": {"dim_order": [0, 1], "style": "generik"}}, "INVALID", "generic"),
        ({"host": host, "layout": {"kind": "tuples"}}, "INVALID", "dim_order, dims or stride_map"),
        ({"host": host, "layout": {"dims": [[0, 1]]}}, "INVALID", "dims[0]"),
        ({"host": host, "layout": layout, "target": "spire"}, "INVALID", "did you mean spyre"),
        ({"host": host, "layout": layout, "dtype": "f17"}, "INVALID", "f17"),
        ({"host": host, "layout": layout, "dtype": "f64", "target": "spyre"}, "UNSUPPORTED", "f64"),
        ({"host": host, "layout": layout, "elem_bytes": 0}, "RANGE", "elem_bytes"),
        ({"host": host, "layout": {"dim_order": [0, 1], "pad_to": {"7": 9}}}, "RANGE", "pad_to"),
        ({"host": host, "layout": {"dim_order": [0, 2**40]}}, "RANGE", "dim_order[1]"),
        ({"host": host, "layout": "f16[4,100] stick(dim_order=[0,0])"}, "INVALID", "repeats"),
        ({"host": host, "layout": "f16[4,101] stick()"}, "INVALID", "shape in the layout differs from host.size"),
        ({"host": host, "layout": "f16[4,10,10] stick()"}, "INVALID", "shape in the layout differs from host.size"),
        ({"host": host, "layout": "f32[4,100] stick()", "dtype": "f16"}, "INVALID", "for f32; dtype is f16"),
        ({"host": host, "layout": "f32[4,100] stick()", "elem_bytes": 2}, "INVALID", "32 bits; elem_bytes is 2"),
        ({"host": host, "layout": layout, "dtype": "token"}, "INVALID", "dtype: unknown element type 'token'"),
        ({"host": host, "layout": {"pad_to": {"00": 9}}}, "RANGE", "pad_to"),
        ({"host": host, "layout": {"pad_to": {" 1": 9}}}, "RANGE", "pad_to"),
        ({"host": {"size": []}, "layout": {"pad_to": {"0": 9}}}, "RANGE", "pad_to"),
        (
            {"host": {"size": [3]}, "layout": {"dims": [[-1, 0, 2**57], [0, 1, 64]], "device_strides": [64, 1]}},
            "OVERFLOW",
            "places",
        ),  # the last place is 2^63 - 1: one more than int64 counts
        (
            {
                "host": {"size": [9], "strides": [-1]},
                "layout": {"device_size": [1, 64], "stride_map": [-(2**63), -1]},
            },
            "INVALID",
            "stride_map[0]",
        ),
    ]
    for fields, code, says in rows:
        said = error({"op": "device_layout", **fields})
        assert (said["code"], says in said["message"]) == (code, True), said


def test_a_text_is_a_layout():
    fields = {"host": {"size": [1000, 200]}, "elem_bytes": 2}
    by_text = good({"op": "device_layout", **fields, "layout": "f16[1000,200] stick(dim_order=[0,1])"})
    by_object = good({"op": "device_layout", **fields, "layout": {"dim_order": [0, 1]}})
    assert by_text["nests"] == by_object["nests"]
    assert by_text["map_hash"] == by_object["map_hash"]


def test_an_offset_of_the_base_counts():
    """Storage place 1200 is element 200 of a tensor that begins at 1000: row 1, column 0."""
    base, strides = {"size": [1000, 200]}, [1]
    plain = good({"op": "view", "base": base, "view": {"size": [5], "strides": strides, "offset": 200}})
    moved = good(
        {"op": "view", "base": {**base, "offset": 1000}, "view": {"size": [5], "strides": strides, "offset": 1200}}
    )
    assert moved == plain
    assert plain["first_offsets"] == [64, 65, 66, 67, 68]  # block 0, row 1
    said = error({"op": "view", "base": {**base, "offset": 1000}, "view": {"size": [1], "offset": 999}})
    assert said["code"] == "RANGE"
    far = {"size": [1], "offset": -(2**63)}
    assert error({"op": "view", "base": {**base, "offset": 1}, "view": far})["code"] == "OVERFLOW"


def test_strides_of_many_dims_have_one_reading():
    """[2] * 12, row-major: an entry 2^k is a multiple of all smaller strides, but only one host dim needs it."""
    strides = [2**k for k in reversed(range(12))]
    answer = good(
        {
            "op": "device_layout",
            "host": {"size": [2] * 12},
            "layout": {"device_size": [1] + [2] * 11 + [64], "stride_map": [64] + strides[:11] + [1]},
        }
    )
    assert answer["dim_map"][1:] == list(range(12))
    assert answer["padding_elems"] == 62 * 2**11


def test_long_lists_of_nests_are_left_out():
    """3 in steps of 2 and 1 is a full tile and one cut short: 2 nests for each of 17 dims, 2^17 in all."""
    dims = [[d, 2, 2] for d in range(17)] + [[d, 1, 2] for d in range(17)] + [[-1, 0, 64]]
    fields = {"host": {"size": [3] * 17}, "layout": {"dims": dims}}
    answer = good({"op": "device_layout", **fields})
    assert (answer["nests"], answer["min_nests"], answer["map_hash"]) == (None, None, None)
    said = error({"op": "dma", **fields, "form": "plain"})
    assert (said["code"], "131072 nests" in said["message"]) == ("LIMIT", True)
    # 2^21: not even counted
    dims = [[d, 2, 2] for d in range(21)] + [[d, 1, 2] for d in range(21)]
    answer = good({"op": "device_layout", "host": {"size": [3] * 21}, "layout": {"dims": dims}, "stick_bytes": 4})
    assert (answer["nests"], answer["min_nests"]) == (None, None)


def test_sizes_of_nothing():
    """A tensor without elements counts no places, so its other extents may be anything."""
    layout = {"dims": [[1, 64, 2**62], [0, 1, 0], [1, 1, 64]]}
    answer = good({"op": "device_layout", "host": {"size": [0, 5]}, "layout": layout})
    assert (answer["device_elems"], answer["nests"]) == (0, [])
    said = error({"op": "restickify", "host": {"size": [0, 5]}, "layout": layout, "to_stick": 0})
    assert said["code"] == "OVERFLOW"


# ---- the verb dma ----


DMA = "f16[1000,200] stick(dim_order=[0,1])"


@pytest.mark.parametrize(
    "words",
    [
        (DMA, "--strides", "200,1,"),
        (DMA, "--strides", "200, 1"),
        (DMA, "--strides", "200"),
        (DMA, "--strides", "200,1,1"),
        (DMA, "--strides", ""),
        (DMA, "--strides", "9223372036854775808,1"),
        (DMA, "--box", "0:10"),
        (DMA, "--box", "0:10,0:10,"),
        (DMA, "--box", "0:10, 0:10"),
        (DMA, "--box", "5:3,:"),
        (DMA, "--box", "0:9223372036854775808,:"),
        ("f16[] stick()", "--box", "1:2"),
        ("f16[] stick()", "--strides", "5"),
    ],
)
def test_dma_words(words):
    done = run("dma", *words)
    assert (done.returncode, done.stdout) == (2, b"")
    assert f"{words[1]} is {words[2]}".encode() in done.stderr


def test_dma_of_a_box_backwards():
    """Rows 4..5, columns 60..69 of a tensor that is stored backwards."""
    done = run("dma", "--json", "--strides", "-200,-1", "--offset", "199999", "--box", "4:6,60:70", DMA)
    dims = [(1, 64, 4, 64000), (0, 1, 1000, 64), (1, 1, 64, 1)]
    expected = [(oracle.place(dims, (r, c)), 199999 - 200 * r - c) for r in range(4, 6) for c in range(60, 70)]
    assert sorted(oracle.moved(json.loads(done.stdout)["nests"])) == sorted(expected)


@pytest.mark.parametrize("op", [{"op": "device_layout"}, {"op": "dma"}, {"op": "restickify", "to_stick": 0}])
def test_a_text_says_the_host(op):
    """A text with the shape needs no host; strides and offset may stand there all the same."""
    host = {"size": [1000, 200], "strides": [1, 1000], "offset": 7}
    spelt = op | {"host": host, "layout": {"dim_order": [0, 1]}, "dtype": "f16", "target": "spyre"}
    assert good(op | {"layout": DMA, "host": {"strides": [1, 1000], "offset": 7}}) == good(spelt)
    assert good(op | {"layout": DMA}) == good(spelt | {"host": {"size": [1000, 200]}})
    assert "the layout is for f16" in error(op | {"layout": DMA, "dtype": "f32"})["message"]
    assert error(op | {"layout": {"dim_order": [0, 1]}})["message"] == "the request: missing field host"
    assert error(op | {"layout": DMA, "host": {"strides": [1]}})["code"] == "INVALID"
    assert "needs the host shape" in error(op | {"layout": "stick(dim_order=[0,1])"})["message"]


def test_dma_of_a_layout_without_a_short_form():
    done = run("dma", "((4, 1024, 64), (65536, 64, 1), (64, 256, 1))")
    assert done.stdout.splitlines()[0] == b"((4, 1024, 64), (65536, 64, 1), (64, 256, 1)), to the device"


def test_too_many_elements_to_hash():
    answer = good({"op": "device_layout", "host": {"size": [2**20, 2**10]}, "layout": {"dim_order": [0, 1]}})
    assert answer["map_hash"] is None
    assert answer["min_nests"] == 1


# ---- verify ----


def test_verify(tmp_path):
    values = [(7 * i + 3) % 30011 for i in range(30 * 100)]
    host = b"".join(v.to_bytes(2, "little") for v in values)
    dims = [(1, 64, 2, 1920), (0, 1, 30, 64), (1, 1, 64, 1)]
    dump = bytearray(b"\xee" * (2 * 3840))
    for index, value in zip(itertools.product(range(30), range(100)), values):
        place = oracle.place(dims, index)
        dump[2 * place : 2 * place + 2] = value.to_bytes(2, "little")
    layout = "f16[30,100] stick(dim_order=[0,1])"
    (tmp_path / "x.raw").write_bytes(host)
    (tmp_path / "x.dev").write_bytes(dump)
    assert run("verify", layout, tmp_path / "x.dev", tmp_path / "x.raw").returncode == 0
    # two elements change places
    a, b = oracle.place(dims, (3, 70)), oracle.place(dims, (20, 5))
    dump[2 * a : 2 * a + 2], dump[2 * b : 2 * b + 2] = dump[2 * b : 2 * b + 2], dump[2 * a : 2 * a + 2]
    (tmp_path / "x.dev").write_bytes(dump)
    result = run("verify", "--json", layout, tmp_path / "x.dev", tmp_path / "x.raw")
    assert result.returncode == 1
    said = json.loads(result.stdout)
    assert (said["same"], said["n_different"], said["index"], said["place"]) == (False, 2, [3, 70], a)
    assert said["source"] == [20, 5]
    # a dump that is too short, another shape, no such file
    (tmp_path / "short").write_bytes(dump[:100])
    assert run("verify", layout, tmp_path / "short", tmp_path / "x.raw").returncode == 2
    assert run("verify", "f16[31,100] stick()", tmp_path / "x.dev", tmp_path / "x.raw").returncode == 2
    assert run("verify", layout, tmp_path / "none", tmp_path / "x.raw").returncode == 2


def test_verify_without_a_type(tmp_path):
    """Three tuples say widths only: raw bytes are elements of that width."""
    (tmp_path / "x").write_bytes(bytes(range(256)))
    assert run("verify", "((2,64),(64,1),(64,1))", tmp_path / "x", tmp_path / "x").returncode == 0


def test_verify_names_both_shapes(tmp_path):
    (tmp_path / "x").write_bytes(bytes(1024))
    result = run("verify", "f16[3,70] stick()", tmp_path / "x", tmp_path / "x", "--from", "u16[8,64]")
    assert result.returncode == 2
    assert b"expected f16[3,70], as the device layout has, found u16[8,64]{1,0} on the host" in result.stderr
