# SPDX-License-Identifier: Apache-2.0
"""`tesela query`: the protocol, single ops, what is refused, and docs/query.md.

test_query_layouts.py has the ops on many layouts.
"""

import itertools
import json
import os
import random
import re
import subprocess
import sys

import pytest
from command import SANITIZED, SOURCE, TESELA, ask, environment, error, good, one, only_if, run, what, where

LAYOUT = "f32[3,5]{1,0:T(2,2)}"


# ---- single ops ----


def test_joins_and_attributes_in_info():
    info = good({"op": "info", "layout": "f32[4,2,5]{2,1,0:T(*,3)L(50)E(64)}"})
    assert info["digits"] == [
        {"source": "dim", "index": 0, "step": 1, "extent": 4, "stride": 12, "axis": "memory"},
        {"source": "dim", "index": 1, "step": 1, "extent": 2, "join": 0, "weight": 5},
        {"source": "dim", "index": 2, "step": 1, "extent": 5, "join": 0, "weight": 1},
        {"source": "join", "index": 0, "step": 3, "extent": 4, "stride": 3, "axis": "memory"},
        {"source": "join", "index": 0, "step": 1, "extent": 3, "stride": 1, "axis": "memory"},
    ]
    tile = {"kind": "tile", "level": 0, "entry": 1, "from_end": 0, "dims": [1, 2], "tile": 3}
    assert info["padding"] == [
        {**tile, "extent": 10, "padded": 12},
        {"kind": "tail", "tile": 50, "extent": 48, "padded": 50},
        {"kind": "width", "tile": 64, "extent": 32, "padded": 64},
    ]
    assert (info["elements"], info["bytes"], info["expansion"]) == (50, 400, 2.5)


def test_empty_arrays_and_scalars():
    info = good({"op": "info", "layout": "f32[0,5]{1,0:T(8,128)}"})
    assert (info["elements"], info["bytes"], info["expansion"]) == (0, 0, 1.0)
    assert where("f32[0,5]{1,0:T(8,128)}", []) == []
    assert where("f32[]{:T(128)}", [[], []]) == [0, 0]
    assert what("f32[]{:T(128)}", [0, 127]) == [[], None]


def test_big_numbers_are_exact():
    layout = "s8[9223372036854775807]{0}"
    assert where(layout, [[9223372036854775806], [9007199254740993]]) == [
        9223372036854775806,
        9007199254740993,
    ]
    assert what(layout, [9007199254740993]) == [[9007199254740993]]
    line = run(
        "query", text=json.dumps({"op": "what", "layout": layout, "places": [9223372036854775806]})
    ).stdout
    assert b"[[9223372036854775806]]" in line
    assert error('{"op":"what","layout":"s8[2]{0}","places":[9223372036854775808]}')["code"] == "RANGE"
    assert error({"op": "info", "layout": "f64[9223372036854775807]"})["code"] == "OVERFLOW"


def test_same_of_different_shapes():
    response = good({"op": "same", "a": "f32[3,5]", "b": "f32[3,6]"})
    assert response == {
        "same": False, "same_size": False, "first_difference": None,
        "reason": "shapes differ: [3,5] and [3,6]",
    }  # fmt: skip


def test_parse_tuples_and_repairs():
    text = "(F32[2], (s32[], pred[3]{0:S(5)}))"
    assert error({"op": "parse", "text": text})["at"] == 1
    parsed = good({"op": "parse", "text": text, "lenient": True})
    assert parsed["printed"] == "(f32[2]{0}, (s32[], pred[3]{0:S(5)}))"
    assert len(parsed["kept"]) == 1 and "S" in parsed["kept"][0]
    assert parsed["n_repairs"] == len(parsed["repairs"]) == 1 and parsed["repairs"][0]["at"] == 1
    assert "repairs" not in good({"op": "parse", "text": "f32[2]"})
    assert good({"op": "parse", "text": "(" * 2000 + ")" * 2000})["printed"] == "(" * 2000 + ")" * 2000
    assert good({"op": "parse", "text": "xla:f32[2]"})["printed"] == "f32[2]{0}"
    assert error({"op": "parse", "text": "xla:f32[x]"})["at"] == 8
    kept = good({"op": "parse", "text": "s32[<=6]{0:T(8)S(1)SC(0:3)M(64)}"})["kept"]
    assert len(kept) == 4


def test_what_parse_drops_is_said():
    for text, dropped in (
        ("f32[3,5]{1,0:D(D,C)}", ["D: dim level types"]),
        ("(f32[2], f32[3]{0:D(D)})", ["D: dim level types"]),
        ("f32[3,5]{1,0:T(2,2)}", []),
    ):
        assert good({"op": "parse", "text": text})["dropped"] == dropped
        assert good({"op": "parse", "text": text, "lenient": True})["dropped"] == dropped


def test_lenient_reading_holds_for_every_op():
    upper = LAYOUT.replace("f", "F")
    for request in (
        {"op": "info", "layout": upper},
        {"op": "where", "layout": upper, "indices": []},
        {"op": "same", "a": LAYOUT, "b": upper},
        {"op": "program", "layout": upper},
        {"op": "choose", "shape": upper},
    ):
        assert error(request)["at"] == 0
        good({**request, "lenient": True})
        assert error({**request, "lenient": False})["at"] == 0


def test_choose():
    assert (
        good({"op": "choose", "shape": "bf16[20,200]", "target": "tpu"})["layout"]
        == "bf16[20,200]{1,0:T(8,128)(2,1)}"
    )
    assert good({"op": "choose", "shape": "f32[3,200]{1,0}"})["layout"] == "f32[3,200]{1,0:T(4,128)}"
    other = good({"op": "choose", "shape": "bf16[20,200]", "alternative_16bit": True})
    assert other["layout"] == "bf16[20,200]{1,0:T(8,128)(2,1,1,1)}"
    early = good({"op": "choose", "shape": "f32[1,200]", "early_tpu": True})  # tests/data/hlo/README.md, "Tile choice"
    assert early["layout"] == "f32[1,200]{1,0:T(2,128)}"
    argument = good({"op": "choose", "shape": "s8[64,200]", "argument": True})
    assert argument["layout"] == "s8[64,200]{1,0:T(32,128)(4,1)}"
    assert error({"op": "choose", "shape": "f32[2]", "target": "cpu"})["code"] == "UNSUPPORTED"


# ---- errors ----


@pytest.mark.parametrize(
    "request_, code, field",
    [
        ({"op": "nothing"}, "UNSUPPORTED", "op"),
        ({}, "INVALID", "op"),
        ({"op": 5}, "INVALID", "op"),
        ({"op": "info"}, "INVALID", "layout"),
        ({"op": "info", "layout": 5}, "INVALID", "layout"),
        ({"op": "info", "layout": None}, "INVALID", "layout"),
        ({"op": "info", "layout": ""}, "SYNTAX", "layout"),
        ({"op": "info", "layout": "token[]"}, "UNSUPPORTED", "layout"),
        ({"op": "info", "layout": "(f32[2])"}, "UNSUPPORTED", "layout"),
        ({"op": "info", "layout": "f32[?]"}, "UNSUPPORTED", "layout"),
        ({"op": "info", "layout": "strided:x"}, "UNSUPPORTED", "layout"),
        ({"op": "info", "layout": "f32[2]\x00"}, "SYNTAX", "layout"),
        ({"op": "info", "layout": "f32[99999999999,99999999999]"}, "OVERFLOW", "layout"),
        ({"op": "where", "layout": LAYOUT}, "INVALID", "indices"),
        ({"op": "where", "layout": LAYOUT, "indices": [2, 3]}, "INVALID", "indices"),
        ({"op": "where", "layout": LAYOUT, "indices": {}}, "INVALID", "indices"),
        ({"op": "where", "layout": LAYOUT, "indices": [[2, 3.0]]}, "INVALID", "indices"),
        ({"op": "where", "layout": LAYOUT, "indices": [[2, 3], [2]]}, "INVALID", "indices"),
        ({"op": "where", "layout": LAYOUT, "indices": [[2, 3], [2, "3"]]}, "INVALID", "indices"),
        ({"op": "where", "layout": LAYOUT, "indices": [[2, 3], [2, 5]]}, "RANGE", "indices"),
        ({"op": "where", "layout": LAYOUT, "indices": [[-1, 0]]}, "RANGE", "indices"),
        ({"op": "where", "layout": "f32[0]", "indices": [[0]]}, "RANGE", "indices"),
        ({"op": "what", "layout": LAYOUT, "places": [0, 24]}, "RANGE", "places"),
        ({"op": "what", "layout": LAYOUT, "places": [-1]}, "RANGE", "places"),
        ({"op": "what", "layout": LAYOUT, "places": [[0]]}, "INVALID", "places"),
        ({"op": "what", "layout": LAYOUT, "places": 3}, "INVALID", "places"),
        ({"op": "same", "a": LAYOUT}, "INVALID", "b"),
        ({"op": "same", "a": LAYOUT, "b": "f32[3,5}"}, "SYNTAX", "b"),
        ({"op": "parse", "text": "f32[2]", "notation": "strided"}, "UNSUPPORTED", "notation"),
        ({"op": "parse", "text": "f32[2]", "lenient": "yes"}, "INVALID", "lenient"),
        ({"op": "parse", "text": "f32[2]", "leniant": True}, "INVALID", "lenient"),
        ({"op": "info", "layot": LAYOUT}, "INVALID", "layout"),
        ({"op": "where", "layout": LAYOUT, "indicies": [[0, 0]]}, "INVALID", "indices"),
    ],
    ids=json.dumps,
)
def test_refusal(request_, code, field):
    wrong = error(request_)
    assert (wrong["code"], wrong.get("field")) == (code, field)
    if code in ("SYNTAX",):
        assert "at" in wrong
    assert one({"id": "still here", "op": "version"})["ok"]


def test_position_of_an_error_is_a_byte():
    assert error({"op": "info", "layout": "f32[3,5]{1,0:T(0,2)}"})["at"] == 15
    assert error({"op": "info", "layout": "/* \u00e9 */ f32[3,5]{1,0:T(0,2)}"})["at"] == 15 + len(
        "/* \u00e9 */ ".encode()
    )


@pytest.mark.parametrize(
    "name, near", [("wher", "where"), ("inf", "info"), ("parze", "parse"), ("formts", "formats")]
)
def test_an_unknown_op_gets_a_suggestion(name, near):
    assert f"did you mean {near}?" in error({"op": name})["message"]


def test_other_fields_are_the_clients_own():
    assert good({"op": "info", "layout": LAYOUT, "comment": "mine", "layouts": [], "test": 1})["rank"] == 2


# ---- the protocol ----


@pytest.mark.parametrize(
    "identity",
    [
        None, 0, -1, 9223372036854775807, 1.1, 1e300, 5e-324, -0.0, True, False,
        "", "x", "\u00e9\u6f22\U0001f600",
        "\x00\x01\x1f\x7f\"\\/\b\f\n\r\t", [], {}, [1, [2, {"a": [None]}]], {"op": "x", "id": {"id": 1}},
    ],
    ids=repr,
)  # fmt: skip
def test_ids_come_back(identity):
    for op in ("version", "nothing"):
        response = one({"op": op, "id": identity})
        assert response["id"] == identity
        assert json.dumps(response["id"]) == json.dumps(identity)  # 1 is not 1.0, -0.0 not 0.0


SEED = int(os.environ.get("TESELA_SEED", "20261128"), 0)
LENGTHS = [0, 1, 2, 3, 31, 32, 33, 254, 255, 256, 257, 258, 300, 511, 512, 2048]  # 256: long ones are not read by character


def random_text(rng):
    """Mostly plain, so that many are long and mean themselves; else with one character that does not."""
    text = "".join(rng.choices("ab \u007e{}[]:,0'", k=rng.choice(LENGTHS)))
    at = rng.randint(0, len(text))
    return text[:at] + rng.choice(["", "", "", "\x7f0", "\x7f", "\"", "\\", "\n", "\x00", "\u00e9"]) + text[at:]


def random_value(rng, depth=0):
    if depth == 3 or rng.random() < 0.5:
        return random_text(rng)
    if rng.random() < 0.5:
        return [random_value(rng, depth + 1) for _ in range(rng.choice([0, 1, 2, 20]))]
    return {random_text(rng).replace("\x00", ""): random_value(rng, depth + 1) for _ in range(rng.choice([0, 1, 3]))}


def test_long_texts_come_back():
    """Python's reader is the oracle: of lines with and without escapes and spaces."""
    rng = random.Random(SEED)
    values = [random_value(rng) for _ in range(400)]
    lines = []
    for value in values:
        separators = rng.choice([(",", ":"), (", ", ": "), (" ,\t", " :\t")])
        line = json.dumps({"id": value, "op": "version"}, ensure_ascii=rng.random() < 0.5, separators=separators)
        lines.append(line.replace("\x7f", rng.choice(["\x7f", "\\u007f"])).encode())
    assert [answer["id"] for answer in ask(*lines)] == values, f"TESELA_SEED={SEED}"


@pytest.mark.parametrize("length", LENGTHS)
def test_errors_after_a_long_text(length):
    """The place of an error counts all characters of the line."""
    for text in ["%s", "a", "%s\"", "%s\x01", "%s\x7f"]:
        text = text.replace("%s", "b" * length)
        before = f'{{"id":"{text}","more":["{text}",'
        bad = one((before + "nonsense]}").encode())["error"]
        assert bad["code"] == "SYNTAX"
        if '"' not in text and "\x01" not in text:
            assert bad["at"] == len(before) + len("nonsense")
    name = "n" * length
    assert one(f'{{"{name}":1,"{name}":2}}'.encode())["error"]["code"] == "INVALID"  # the same name twice


@pytest.mark.parametrize(
    "line, code",
    [
        (b"nonsense", "SYNTAX"),
        (b"{", "SYNTAX"),
        (b'{"op":"version"} x', "SYNTAX"),
        (b'{"op":"version",}', "SYNTAX"),
        (b"{'op':'version'}", "SYNTAX"),
        (b'{"op":"version"}\x00', "SYNTAX"),
        (b'{"op":"ver\xffsion"}', "SYNTAX"),
        (b'{"op":"\xed\xa0\x80"}', "SYNTAX"),
        (b'{"op":"\xc0\x80"}', "SYNTAX"),
        (b"\xff\xfe", "SYNTAX"),
        (b'"version"', "INVALID"),
        (b"5", "INVALID"),
        (b"null", "INVALID"),
        (b"[]", "INVALID"),
        (b'{"op":"version","op":"version"}', "INVALID"),
        (b'{"id":9223372036854775808,"op":"version"}', "RANGE"),
        (b'{"id":1e999,"op":"version"}', "RANGE"),
        (b"[" * 100000, "LIMIT"),
        (b'{"id":' + b"[" * 5000 + b"]" * 5000 + b',"op":"version"}', "LIMIT"),
        (b'{"a":' * 100000, "LIMIT"),
    ],
    ids=lambda value: repr(value[:40]),
)
def test_a_line_that_is_no_request(line, code):
    bad, after = ask(line, {"id": 7, "op": "version"})
    assert (bad["id"], bad["ok"], bad["error"]["code"]) == (None, False, code)
    assert after["id"] == 7 and after["ok"]


def test_a_deep_id_comes_back():
    depth = 2000
    line = b'{"id":' + b"[" * depth + b"]" * depth + b',"op":"version"}\n'
    assert (
        run("query", text=line).stdout
        == b'{"id":' + b"[" * depth + b"]" * depth + b',"ok":true,"version":"0.1.0"}\n'
    )


def test_lines_that_are_too_long():
    request = b'{"id":1,"op":"version","comment":"%s"}'
    limit = 16 << 20
    fits = request % (b"x" * (limit - len(request) + 2))
    assert len(fits) == limit
    longer = request % (b"x" * (limit - len(request) + 3))
    much_longer = request % (b"x" * 3 * limit)
    responses = [
        json.loads(line)
        for line in run(
            "query", text=b"\n".join([fits, longer, much_longer, fits, longer])
        ).stdout.splitlines()
    ]
    assert [r["ok"] for r in responses] == [True, False, False, True, False]
    assert {r["error"]["code"] for r in responses if not r["ok"]} == {"LIMIT"}
    assert all(r["id"] is None for r in responses if not r["ok"])


def test_blank_lines_and_a_last_line_without_newline():
    text = b'\n\n  \t \r\n{"id":1,"op":"version"}\r\n\n{"id":2,"op":"version"}'
    responses = [json.loads(line) for line in run("query", text=text).stdout.splitlines()]
    assert [r["id"] for r in responses] == [1, 2]
    assert run("query").stdout == b""


def test_order_and_number_of_answers():
    rng = random.Random(1)
    lines = [
        rng.choice(['{"id":%d,"op":"version"}', '{"id":%d,"op":"info","layout":"f32[2]{9}"}', "%d", "x%d"])
        % i
        for i in range(20000)
    ]
    done = run("query", text="\n".join(lines))
    responses = done.stdout.splitlines()
    assert len(responses) == len(lines)
    for line, response in zip(lines, responses, strict=True):
        identity = json.loads(response)["id"]
        assert identity == (json.loads(line)["id"] if line.startswith("{") else None)


def test_it_answers_while_somebody_waits():
    with subprocess.Popen(
        [TESELA, "query"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
    ) as p:
        for i in range(20):
            p.stdin.write(
                json.dumps({"id": i, "op": "where", "layout": LAYOUT, "indices": [[2, 3]]}).encode() + b"\n"
            )
            p.stdin.flush()
            assert json.loads(p.stdout.readline()) == {"id": i, "ok": True, "places": [17]}
        p.stdin.close()
        assert p.stdout.read() == b""
    assert p.returncode == 0


def test_requests_from_a_file(tmp_path):
    file = tmp_path / "requests"
    file.write_text('{"id":1,"op":"version"}\n' * 5000)
    with file.open("rb") as opened:
        done = run("query", stdin=opened)
    assert done.stdout == b'{"id":1,"ok":true,"version":"0.1.0"}\n' * 5000


def test_a_long_answer():
    places = list(range(24)) * 20000
    assert what(LAYOUT, places)[-24:] == what(LAYOUT, range(24))


@only_if(not SANITIZED)  # a sanitizer needs more address space than the limit
def test_no_memory_for_a_request():
    """The next request goes on."""
    request = b'{"op":"what","layout":"f32[2]","places":[' + b"0," * 4000000 + b"0]}"
    version = b'{"id":1,"op":"version"}'
    script = 'ulimit -v 80000 && exec "$0" query'
    done = subprocess.run(
        ["sh", "-c", script, TESELA],
        input=version + b"\n" + request + b"\n" + version,
        capture_output=True,
        timeout=60,
    )
    responses = [json.loads(line) for line in done.stdout.splitlines()]
    assert [r["ok"] for r in responses] == [True, False, True], done.stderr
    assert responses[1]["error"]["code"] == "MEMORY"


# ---- the reference ----


def test_the_reference_is_written_from_the_table(tmp_path):
    """docs/query.md: operations, types and fields are those of the command, or --check says where they differ."""
    copy = tmp_path / "tools" / "ops_tables.py"
    page = tmp_path / "docs" / "query.md"
    text = (SOURCE / "docs/query.md").read_text()
    for file, content in ((copy, (SOURCE / "tools/ops_tables.py").read_text()), (page, text)):
        file.parent.mkdir()
        file.write_text(content)

    def checked(changed):
        page.write_text(changed)
        done = subprocess.run([sys.executable, copy, "--check", TESELA], capture_output=True, text=True, timeout=60)
        assert page.read_text() == changed
        return done.returncode, done.stderr

    assert checked(text) == (0, "")
    for old, new in (("| `index` | list of integers; optional |", "| `index` | list of integers |"),
                     ("| `details` | true or false; optional |", "| `detail` | true or false; optional |"),
                     ("| `any` | string (a layout) |", "| `any` | string |"),
                     ("| [what](#what) | the elements at places |\n", ""),
                     ("<!-- fields of dma -->", "")):  # fmt: skip
        assert text.count(old) == 1
        status, said = checked(text.replace(old, new))
        assert status == 1 and (old in said or "no table of fields for dma" in said), said


def test_the_reference_explains_every_member():
    """docs/query.md: a section for each operation, and all members that its examples show."""
    text = (SOURCE / "docs/query.md").read_text()
    sections = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", text, re.M | re.S))
    assert list(sections) == [op["op"] for op in good({"op": "ops"})["ops"]]
    for op, section in sections.items():
        blocks = re.findall(r"^```json query\n(.*?)^```", section, re.M | re.S)
        assert blocks, op
        lines = [line for block in blocks for line in block.splitlines() if line]
        shown = set(itertools.chain.from_iterable(json.loads(line) for line in lines[1::2]))
        named = set(re.findall(r"^\| `(\w+)`", section.split("Response", 1)[1], re.M))
        assert named == shown - {"id", "ok", "error"}, op


def test_the_reference_names_every_code():
    text = (SOURCE / "docs/query.md").read_text()
    header = (SOURCE / "include/tesela/base.h").read_text()
    codes = set(re.findall(r'X\(TESELA_E_\w+, -\d+, "(\w+)"', header))
    reasons = set(re.findall(r'X\(TESELA_REASON_\w+, \d+, "(\w+)"', header))
    tables = [set(re.findall(r"^\| `([A-Z_]+)`", text.split(head)[1].split("\n\n")[0], re.M)) for head in ("| code |", "| reason |")]
    assert tables == [codes, reasons] and len(reasons) > 20


# ---- the memory that a request needs ----

SHAPES = {
    "numbers": lambda n: [1] * n,
    "empty lists": lambda n: [[]] * n,
    "empty objects": lambda n: [{}] * n,
    "one in each list": lambda n: [[[1]]] * n,
    "one in each object": lambda n: [{"": 1}] * n,
    "keys of one object": lambda n: {f"{k:x}": 0 for k in range(n)},
    "long keys": lambda n: {"k" * 1000 + str(k): 0 for k in range(n // 100)},
    "empty strings": lambda n: [""] * n,
    "escaped strings": lambda n: ['"\\\n,:[{' * 3] * n,
    "one long string": lambda n: "x,:" * n,
    "one long number": lambda n: float("1" * 300),
    "deep": lambda n: json.loads("[" * 400 + "]" * 400),
}


@pytest.mark.parametrize("n", [1, 9, 1000, 70001])
@pytest.mark.parametrize("shape", SHAPES)
def test_memory_for_any_shape(shape, n):
    """The piece that is reserved for a request is large enough whatever the request is made of."""
    assert one({"op": "version", "mine": SHAPES[shape](n), "id": 7})["ok"]


def test_targets_stop_at_their_rank():
    def request(rank, **more):
        return {"op": "device_layout", "host": {"size": [2] * rank}, "dtype": "f16", "layout": {}, **more}

    for target, most in (("spyre", 6), ("tiles", 8)):
        good(request(most, target=target))
        said = error(request(most + 1, target=target))
        assert said["code"] == "LIMIT"
        assert said["message"] == f"rank {most + 1}; expected 0 to {most} for target {target}"
    good(request(9))  # without a target: plain sticks


def test_messages_are_whole_or_end_at_a_word():
    long = "a_rather_long_name_for_a_tensor_of_this_program_"
    inputs = {long + n: {"size": [s], "dtype": "f16", "stick": 0} for n, s in (("one", 96), ("two", 32))}
    cat = {"op": "cat", "out": long + "out", "in": list(inputs), "dim": 0}
    graph = {"inputs": inputs, "ops": [cat], "outputs": [long + "out"]}
    said = one({"op": "propagate", "graph": graph})["error"]
    assert said["code"] == "CONFLICT" and len(said["message"]) > 248
    assert said["message"].endswith("one element per stick, which are off")  # what propagate prints last
    long_key = " ".join(["word"] * 80)
    said = error({"op": "device_layout", "host": {"size": [2], long_key: 1}, "layout": {}})
    assert said["message"].endswith(("...", "offset")), said
    assert len(said["message"].encode()) < 248


# ---- deadlines ----


def test_every_operation_has_a_deadline():
    """0 ms are over before any answer; a long time changes nothing. No op is asked for what it cannot answer: the field is checked last."""
    requests = {"info": {"layout": LAYOUT}, "where": {"layout": LAYOUT, "index": [0, 0]}, "report": {"text": "%x = f32[8] iota()\n"}, "version": {}}
    for op, fields in requests.items():
        assert error({"op": op, **fields, "deadline_ms": 0}) == {"code": "STOPPED", "message": "the deadline of 0 ms is past"}
        for long in (10**6, 2**63 - 1):
            assert good({"op": op, **fields, "deadline_ms": long}) == good({"op": op, **fields})
    for wrong, code in ((-1, "RANGE"), ("1", "INVALID"), (1.5, "INVALID")):
        assert (error({"op": "version", "deadline_ms": wrong})["code"], error({"op": "version", "deadline_ms": wrong})["field"]) == (code, "deadline_ms")
    assert "did you mean deadline_ms" in error({"op": "version", "deadline_m": 5})["message"]
