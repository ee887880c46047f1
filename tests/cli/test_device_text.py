# SPDX-License-Identifier: Apache-2.0
"""Device layouts in show, where, what, same and query, and the option --target."""

import json

import pytest

from command import SOURCE, ask, error, good, run

VECTORS = SOURCE / "tests/vectors/spyre_seed_examples.json"
STICKS = "f16[1000,200] stick(dim_order=[0,1])"
TUPLES = "f16[1000,200] ((4, 1000, 64), (64000, 64, 1), (64, 200, 1))"
PRINTED = (
    "f16[1000,200] SpyreTensorLayout(device_size=[4, 1000, 64], device_strides=[64000, 64, 1], "
    'dim_map =[1, 0, 1], num_stick_dims=1, format="Dense")'
)


def told(*words, status=0, **how):
    done = run(*words, **how)
    assert done.returncode == status, done.stderr.decode()
    return done.stdout.decode()


def said(*words, status=2, **how):
    done = run(*words, **how)
    assert done.returncode == status
    return done.stderr.decode()


def example_text(example):
    """The short form of an example: types of its width, its sticks, what its layout says."""
    layout = example["layout"]
    kind = {1: "s8", 2: "f16", 4: "f32", 8: "f64"}[example["elem_bytes"]]
    fields = [f"device_dtype={kind}", f"stick={example['stick_bytes']}"]
    if layout["kind"] == "dim_order":
        fields += [f"dim_order={layout['dim_order']}", f"order={layout['style']}"]
    elif layout["kind"] == "dims":
        dims = ",".join(f"({d},{s},{e})" for d, s, e in layout["dims"])
        fields += [f"dims=[{dims}]", f"stick_dims={layout['stick_dims']}"]
    else:
        fields += [f"device_size={layout['device_size']}", f"stride_map={layout['stride_map']}"]
    if "pad_to" in layout:
        fields.append("pad_to={%s}" % ",".join(f"{d}:{n}" for d, n in layout["pad_to"].items()))
    return f"{kind}{example['host']['size']} stick({', '.join(fields)})"


# ---- the worked examples ------------------------------------------------------------------------------------


def test_examples():
    examples = json.loads(VECTORS.read_text())["layouts"]
    requests = []
    for e in examples:
        indices = [sample[0] for sample in e["expect"]["samples"]]
        requests.append({"op": "where", "layout": example_text(e), "indices": indices})
        requests.append({"op": "info", "layout": example_text(e)})
    answers = ask(*requests)
    for e, places, info in zip(examples, answers[::2], answers[1::2]):
        want = e["expect"]
        assert places["ok"] and info["ok"], (e["id"], places, info)
        # A replicated element has all its places.
        first = [p[0] if isinstance(p, list) else p for p in places["places"]]
        assert first == [sample[2] for sample in want["samples"]], e["id"]
        for field in ("device_size", "device_strides", "dim_map"):
            assert info[field] == want[field], (e["id"], field)
        assert (info["places"], info["device_bytes"]) == (want["device_elems"], want["device_bytes"]), e["id"]
        assert (info["padding"], info["lanes"]) == (want["padding_elems"], want["stick_elems"]), e["id"]


# ---- verbs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [STICKS, TUPLES, PRINTED, "device:" + STICKS, "device: " + PRINTED])
def test_where_and_what(text):
    assert told("where", text, "2,70") == "64134\n"  # block 1, row 2, lane 6: 64000 + 2*64 + 6
    assert told("what", text, "64134", "192063") == "2,70\npadding\n"
    assert told("what", "--bytes", text, "128269") == "2,70\n"


def test_where_words():
    assert "place 64134, byte 128268 (of 256000 places)" in said("where", "-w", STICKS, "2,70", status=0)
    answer = json.loads(told("where", "--json", STICKS, "2,70"))
    assert answer == {"index": [2, 70], "place": 64134, "byte": 128268, "bit": 0}
    assert told("where", "f16[64] stick(dims=[(-2,0,3),(0,1,64)])", "5") == "5 69 133\n"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("f16[1024,256] stick(dim_order=[0,1])", "f16[1024,256]{0,1:T(64,1)}"),
        ("f16[256,128] stick(dim_order=[1,0])", "f16[256,128]{1,0:T(64,1)}"),
        (STICKS, TUPLES),
        (PRINTED, "f16[1000,200]{0,1:T(64,1)}"),
        ("f16[1024] stick(dim_order=[0,-1])", "f16[1024]{0:T(64,1)}"),
        ("((4, 1024, 64), (65536, 64, 1), (64, 256, 1))", "((4, 1024, 64), (65536, 64, 1), (64, 256, 1))"),
    ],
)
def test_same(a, b):
    assert told("same", a, b) == "same\n"
    assert told("same", b, a) == "same\n"


def test_not_the_same():
    assert told("same", STICKS, "f16[1000,200]{1,0}", status=1) == "differ: first at [0,64]: 64000 in a, 64 in b\n"
    answer = json.loads(told("same", "--json", STICKS, "f16[1000,200]{1,0}", status=1))
    assert answer["first_difference"] == {"index": [0, 64], "a": 64000, "b": 64}
    assert "is a tuple" in said("same", STICKS, "(f32[2])")
    assert told("same", STICKS, "spatial(2)", status=1).startswith("differ: a is a device layout")


# ---- show ---------------------------------------------------------------------------------------------------


def test_show_words():
    text = told("show", "--only=words", STICKS, env={"COLUMNS": "100"})
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert lines[0] == STICKS
    for line in (
        "host 1000 x 200 of f16: 200000 elements of 2 bytes",
        "device f16 in sticks of 128 bytes: 64 lanes of 2 bytes",
        "device dim host dim step extent stride host stride",
        "0 1 64 4 64000 64 blocks of 64; the last has 8",
        "1 0 1 1000 64 200 all of dim 0",
        "2 1 1 64 1 1 lanes",
        "memory 4 x 1000 x 64: 256000 places in 4000 sticks",
        "padding dim 1: 200 of 256 used (22% padding)",
        "verdict 22% of the memory is padding, all from dim 1",
        "XLA f16[1000,200]{0,1:T(64,1)}",
        f"tuples {TUPLES}",
    ):
        assert line in lines, line
    assert "512000 B" in text
    for part in ('num_stick_dims=1, format="Dense")', "device_dtype=DataFormats.SEN169_FP16)"):
        assert part in " ".join(text.split())


@pytest.mark.parametrize("columns", [40, 50, 60, 80, 100, 200])
@pytest.mark.parametrize(
    "text", [STICKS, "f16[7,9,300] stick(dim_order=[1,2,0,-1])", "f32[4000,7000] stick(target=tiles)", "f16[] stick()"]
)
def test_show_fits(columns, text):
    for line in told("show", "--only=words", "--ascii", text, env={"COLUMNS": str(columns)}).splitlines()[1:]:
        assert line.isascii() and len(line) <= columns, line


def test_show_words_of_kinds():
    assert "one element per stick" in told("show", "--only=words", "f16[256] stick(dim_order=[0,-1])")
    assert "replicated: each of 3" in told("show", "--only=words", "f16[64] stick(dims=[(-2,0,3),(0,1,64)])")
    gaps = "f16[5,64] stick(dims=[(0,1,5),(1,1,64)], device_strides=[70,1])"
    assert "24 of them are gaps" in told("show", "--only=words", gaps)
    assert "40 of 42 used" in told("show", "--only=words", "f16[40,60] stick(pad_to={0:42})")
    assert "allocates 1.53 MiB" in told("show", "--only=words", "s64[1000,200] stick()")
    assert told("show", "--only=words", PRINTED.split(" ", 1)[1]).startswith("SpyreTensorLayout(")


def test_show_picture():
    text = told("show", "--only=picture", "--ascii", "f16[3,5] stick(stick=4)")
    assert "0   1" in text and "~17" in text and "tiles of 2 across" in text
    padded = told("show", "--only=picture", "--ascii", "f16[2,2] stick(stick=4, pad_to={0:3})")
    assert "~2 |" in padded and "~4" in padded  # the row that is only padding
    assert "Nothing to draw" in told("show", "f16[0,5] stick()")
    assert "\033[" in told("show", "--color=always", "--only=picture", STICKS)
    assert "(0,0)" in told("show", "--linear", "--only=picture", STICKS) or "0,0" in told(
        "show", "--linear", "--only=picture", STICKS
    )
    assert "--by applies to register layouts only" in said("show", "--by=thread", STICKS)


def test_show_json():
    answer = json.loads(told("show", "--json", "s64[1000,200] stick(dim_order=[0,1])"))
    assert answer["kind"] == "device" and answer["text"] == "s64[1000,200] stick(dim_order=[0,1])"
    assert (answer["type"], answer["device_type"], answer["lanes"], answer["target"]) == ("s64", "s32", 32, "spyre")
    assert answer["device_size"] == [7, 1000, 32] and answer["stride_map"] == [32, 200, 1]
    assert answer["dims"][0] == {"dim": 1, "step": 32, "extent": 7, "stride": 32000}
    assert (answer["host_bytes"], answer["device_bytes"], answer["allocation_bytes"]) == (1600000, 896000, 1600000)
    assert answer["notations"]["xla"] == "s32[1000,200]{0,1:T(32,1)}"
    # Each notation says the layout again.
    for name in ("short", "tuples"):
        assert json.loads(told("show", "--json", answer["notations"][name])) == answer


def test_several():
    text = told("show", "--only=words", "-", text=f"{STICKS}\nf32[2,3]\n")
    assert STICKS in text and "f32[2,3]{1,0}" in text


# ---- targets --------------------------------------------------------------------------------------------------


def test_target(tmp_path):
    own = tmp_path / "own.target"
    own.write_text("target own\nlike spyre\nstick 64\nalignment 4096\n")
    text = told("show", "--only=words", f"--target={own}", "f16[40,60] stick()")
    assert text.startswith("f16[40,60] stick(dim_order=[0,1], stick=64)\n")
    assert "in sticks of 64 bytes (target own): 32 lanes" in text and "the target own allocates 8.0 KiB (8192 B)" in text
    assert "in sticks of 64 bytes (target tiles)" in told(
        "show", "--only=words", "--target=tiles", "f32[40,60] stick()"
    )
    other = "f16[40,60] stick(target=tiles)"  # the text says another target than --target
    assert "(target" not in told("show", "--only=words", f"--target={own}", other)
    assert json.loads(told("show", "--json", f"--target={own}", other))["target"] == "tiles"
    assert json.loads(told("show", "--json", f"--target={own}", "f16[40,60] stick()"))["target"] == "own"
    own.write_text("target own\nstik 64\n")
    message = said("show", f"--target={own}", "f16[40,60] stick()")
    assert "line 2: unknown key 'stik'; did you mean stick?" in message and "\n  stik 64\n  ^\n" in message
    assert "No such file" in said("show", "--target=nosuch", "f16[3] stick()")
    assert "--target applies to device layouts only" in said("show", "--target=tiles", "f16[3]")


# ---- refusals ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("f16[1000,200] ^stik(dim_order=[0,1])", "did you mean stick?"),
        ("f16[1000,200] stick(^dim_ordr=[0,1])", "did you mean dim_order?"),
        ("device:^f16[3]", "this is an XLA layout, but device: expects a device layout"),
        ("device: f16[3] stick(order=^generik)", "did you mean generic?"),
        ("^stick(dim_order=[0,1])", "needs the host shape; write it first"),
        ("^SpyreTensorLayout(device_size=[4, 64], stride_map =[64, 1])", "needs the host shape"),
        ("f16[100] stick(dims=^[(0,1,64)])", "coordinate 64 has no place"),
    ],
)
def test_refused(text, message):
    at = text.index("^")
    text = text.replace("^", "")
    for verb in (["show"], ["where"], ["what"]):
        words = [*verb, text] + ([] if verb == ["show"] else ["0"])
        stderr = said(*words)
        assert message in stderr and f"\n  {text}\n  {' ' * at}^\n" in stderr
    wrong = error({"op": "info", "layout": text})
    assert wrong["at"] == at and message in wrong["message"]


def test_query():
    parsed = good({"op": "parse", "text": "device:" + TUPLES})
    assert (parsed["kind"], parsed["printed"]) == ("device", STICKS)
    assert good({"op": "parse", "text": STICKS, "notation": "device"})["printed"] == STICKS
    assert good({"op": "same", "a": STICKS, "b": "f16[1000,200]{0,1:T(64,1)}"})["same"] is True
    assert good({"op": "what", "layout": STICKS, "places": [64134, 192063]})["indices"] == [[2, 70], None]
    assert "·5" in good({"op": "show", "layout": "f16[5] stick(stick=4)"})["text"]
    assert error({"op": "register", "expr": STICKS})["code"] == "MISMATCH"
    info = good({"op": "info", "layout": STICKS})
    assert {"source": "dim", "index": 1, "step": 64, "extent": 4, "stride": 64000, "axis": "memory"} in info["digits"]
    assert info["notations"]["tuples"] == TUPLES


def test_rules_of_a_target(tmp_path):
    """A target's rows come first. A row about the same operand of the same operator counts no longer, and any other still does."""
    own = tmp_path / "own.target"
    own.write_text(
        "target own\nrule matmul 0 needs clean costs 70\nrule matmul result is sparse\nrule pointwise.exp all needs last\n"
    )
    before = json.loads(told("formats", "--rules", "--json"))
    after = json.loads(told("formats", "--rules", "--json", f"--target={own}"))
    assert json.loads(told("formats", "--rules", "--json", "--target=tiles")) == before
    mine = [
        {"op": "matmul", "operand": "0", "needs": "clean", "costs": 70},
        {"op": "matmul", "operand": "result", "is": "sparse"},
        {"op": "pointwise", "fn": "exp", "operand": "all", "needs": "last"},
    ]
    assert after[:3] == mine
    assert after[3:] == [r for r in before if r["op"] != "matmul" or r["operand"] == "1"]
    assert len(after) == len(before) + 1
    lines = told("formats", "--rules", f"--target={own}").splitlines()
    assert "matmul 0 needs clean costs 70" in [" ".join(line.split()) for line in lines]
    assert "--target requires --rules" in said("formats", "--target=tiles")
