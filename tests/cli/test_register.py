# SPDX-License-Identifier: Apache-2.0
"""Register layouts, tiles in memory and fragments through the command and the query.

Expected values are those of tests/vectors (tilus_seed_examples.json, and table_styles.json for how tables look) or
follow from the definition. golden/register.txt has whole outputs of the verbs.
"""

import itertools
import json
import math
import re
import subprocess

import pytest
from command import SOURCE, TESELA, ask, environment, error, good, on_a_terminal, run, what, where

VECTORS = json.loads((SOURCE / "tests/vectors/tilus_seed_examples.json").read_text())
STYLES = json.loads((SOURCE / "tests/vectors/table_styles.json").read_text())
LAYOUT_FIELDS = ("shape", "mode_shape", "spatial_modes", "local_modes", "spatial_size", "local_size", "mapping_hash")
GOOD = [
    *VECTORS["seed_grids"],
    *VECTORS["seed_mapping_example"],
    *(case for case in VECTORS["cases"] if case["ok"]),
]
BAD = [case for case in VECTORS["cases"] if not case["ok"]]
PICTURES = [*VECTORS["seed_grids"], *VECTORS["visualize"]]


def by_expr(entries):
    return [pytest.param(entry, id=entry["expr"]) for entry in entries]


def print_of(*words, **how):
    done = run(*words, **how)
    assert (done.returncode, done.stderr) == (0, b""), done.stderr.decode()
    return done.stdout.decode()


def text_of(entry):
    return "RegisterLayout(" + ", ".join(f"{name}={entry[name]}" for name in LAYOUT_FIELDS[:4]) + ")"


# ---- the vectors ----


def test_there_are_vectors():
    assert len(GOOD) > 50 and len(BAD) > 15 and len(PICTURES) > 15 and len(VECTORS["fragments"]) > 15


@pytest.mark.parametrize("entry", by_expr(GOOD))
def test_layout(entry):
    got = good({"op": "register", "expr": entry["expr"], "table": True})
    assert {name: got[name] for name in LAYOUT_FIELDS} == {name: entry[name] for name in LAYOUT_FIELDS}
    if "table" in entry:
        assert got["table"] == entry["table"] and list(got["table"]) == list(entry["table"])
        assert got["copies"] == len(next(iter(entry["table"].values()))[0])
    modes = entry["mode_shape"]
    assert got["spatial_shape"] == [modes[m] if m >= 0 else -m for m in entry["spatial_modes"]]
    assert got["local_shape"] == [modes[m] for m in entry["local_modes"]]
    assert list(itertools.chain(*got["grouped_modes"])) == list(range(len(modes)))
    assert [math.prod(modes[m] for m in group) for group in got["grouped_modes"]] == entry["shape"]
    assert got["text"] == text_of(entry)
    again = ask(*({"op": "register", "expr": got[name]} for name in ("text", "expression")))
    assert [a["mapping_hash"] for a in again] == [entry["mapping_hash"]] * 2


@pytest.mark.parametrize("entry", by_expr(entry for entry in GOOD if "table" in entry))
def test_places_both_ways(entry):
    indices = [[int(i) for i in key.split(",") if i] for key in entry["table"]]
    places = [{"threads": threads, "local": local} for threads, local in entry["table"].values()]
    assert where(entry["expr"], indices) == places
    for place, index in zip(places, indices):
        assert what(entry["expr"], [[t, place["local"]] for t in place["threads"]]) == [index] * len(place["threads"])
    words = [",".join(map(str, index)) for index in indices[:40]]
    lines = print_of("where", entry["expr"], *words).splitlines()
    assert lines == ["  ".join(f"{t}: {p['local']}" for t in p["threads"]) for p in places[:40]]
    asked = [place.split("  ")[-1] for place in lines]
    assert print_of("what", entry["expr"], *asked).splitlines() == words


@pytest.mark.parametrize("case", by_expr(BAD))
def test_refusal(case):
    refused = error({"op": "register", "expr": case["expr"]})
    assert refused["code"] == case["reason"].upper()
    assert refused["status"] in ("INVALID", "RANGE") and refused["field"] == "expr" and refused["at"] == 0
    assert error({"op": "where", "layout": case["expr"], "indices": []})["code"] == case["reason"].upper()
    done = run("show", case["expr"])
    assert (done.returncode, done.stdout) == (2, b"") and refused["message"].encode() in done.stderr


@pytest.mark.parametrize("entry", by_expr(PICTURES))
def test_picture(entry):
    assert print_of("show", entry["expr"]) == entry["text"] + "\n"
    for how in ({}, {"format": "simple"}, {"format": "simple_grid"}):
        assert good({"op": "show", "layout": entry["expr"], **how}) == {"text": entry["text"]}


@pytest.mark.parametrize("entry", [pytest.param(f, id=f["id"]) for f in VECTORS["fragments"]])
def test_fragment(entry):
    name = "mma." + entry["id"].replace("-", ".")
    got = good({"op": "fragment", "name": name, "table": True})
    assert {k: got[k] for k in LAYOUT_FIELDS} == {k: entry[k] for k in LAYOUT_FIELDS}
    assert got["elements_per_lane"] == entry["elements_per_lane"]
    assert got["lane_elements"] == entry["lane_elements"]
    assert (got["operand"], got["axes"]) == (entry["operand"], entry["axes"])
    assert good({"op": "register", "expr": entry["expr"]})["mapping_hash"] == entry["mapping_hash"]
    assert run("same", name, entry["expr"]).stdout == b"same\n"


def test_compose_is_associative_and_not_commutative():
    for case in VECTORS["seed_properties"]:
        assert good({"op": "same", "a": case["left"], "b": case["right"]})["same"] is case["equal"]
        assert run("same", case["left"], case["right"]).returncode == (0 if case["equal"] else 1)


# ---- how tables look ----

TABLES = [
    pytest.param(table, rows, id=f"{table['expr']}-{rows}")
    for table in STYLES["tables"]
    for rows in ("elements", "threads")
]


@pytest.mark.parametrize("table, rows", TABLES)
def test_styles(table, rows):
    header = text_of(table) + "\n"
    by = "element" if rows == "elements" else "thread"
    for style, text in table[rows].items():
        wanted = text if style in ("csv", "json") else header + text
        assert good({"op": "show", "layout": table["expr"], "format": style, "by": by})["text"] == wanted, style
        alias = STYLES["in_tabulate"].get(style)
        if alias and style != "lines":
            assert good({"op": "show", "layout": table["expr"], "format": alias, "by": by})["text"] == wanted
    assert print_of("show", table["expr"], f"--by={by}", "--format=pipe") == header + table[rows]["pipe"] + "\n"
    assert print_of("show", table["expr"], f"--by={by}", "--format=csv") == table[rows]["csv"] + "\n"
    plain = print_of("show", table["expr"], f"--by={by}", "--format=plain", "--only=picture")
    assert plain == table[rows]["plain"] + "\n"


def test_every_style_has_a_table_and_is_in_the_help():
    text = run("help", "show").stdout.decode()
    for table in STYLES["tables"]:
        for style in table["elements"]:
            assert re.search(rf"\b{style}\b", text)
    refused = error({"op": "show", "layout": "spatial(2)", "format": "nothing"})
    assert (refused["code"], refused["field"]) == ("INVALID", "format")


def test_json_tables_are_json():
    for table in STYLES["tables"]:
        cells = json.loads(print_of("show", table["expr"], "--format=json"))
        flat = [cell for grid in cells for row in grid for cell in row]
        got = good({"op": "register", "expr": table["expr"], "table": True})["table"]
        assert flat == list(got.values())


def test_too_large_for_a_table():
    assert error({"op": "show", "layout": "local(4194305)"})["code"] == "LIMIT"
    assert error({"op": "register", "expr": "local(1048577)", "table": True})["code"] == "LIMIT"
    assert error({"op": "where", "layout": "replicated(2, num_workers=1048577)", "indices": [[0]]})["code"] == "LIMIT"
    big = good({"op": "register", "expr": "local(1000000000).spatial(1000)"})
    assert (big["mapping_hash"], big["local_size"]) == (None, 1000000000)
    assert error({"op": "shared", "expr": "shared_row_major(1024, 1025)"})["code"] == "LIMIT"
    some = good({"op": "shared", "expr": "shared_row_major(1024, 1025)", "indices": [[1023, 1024]]})
    assert some["offsets"] == [1024 * 1025 - 1]


def test_locate_at():
    """A thread holds an element if the table of the vector has it there."""
    for entry in (entry for entry in GOOD if "table" in entry and entry["spatial_size"] <= 64):
        keys = list(entry["table"])[:20]
        asked = [(key, t) for key in keys for t in range(entry["spatial_size"])]
        requests = [
            {"op": "locate_at", "expr": entry["expr"], "index": [int(x) for x in key.split(",") if x], "thread": t}
            for key, t in asked
        ]
        for (key, t), response in zip(asked, ask(*requests)):
            assert response["holds"] is (t in entry["table"][key][0]), (entry["expr"], key, t)


@pytest.mark.parametrize(
    "more, code, field",
    [
        ({"index": [0], "thread": 3}, "RANGE", "thread"),
        ({"index": [0], "thread": -1}, "RANGE", "thread"),
        ({"index": [3], "thread": 0}, "RANGE", "index"),
        ({"index": [-1], "thread": 0}, "RANGE", "index"),
        ({"index": [0, 0], "thread": 0}, "INVALID", "index"),
        ({"index": [], "thread": 0}, "INVALID", "index"),
        ({"index": ["0"], "thread": 0}, "INVALID", "index"),
        ({"index": 0, "thread": 0}, "INVALID", "index"),
        ({"index": [0], "thread": 0.5}, "INVALID", "thread"),
        ({"index": [0]}, "INVALID", "thread"),
        ({"expr": "shared_row_major(3)", "index": [0], "thread": 0}, "MISMATCH", None),
    ],
)
def test_locate_at_refuses(more, code, field):
    refused = error({"op": "locate_at", "expr": "spatial(3)", **more})
    assert refused["code"] == code and field in (None, refused["field"])


def test_too_many_threads_of_an_element():
    """More than 2^20 copies are not listed; the limit of --json and query holds for text, too."""
    endless, two = "replicated(1, num_workers=9223372036854775807)", "replicated(1, num_workers=2).local(1)"
    for words in (["where", endless, "0"], ["where", "--json", endless, "0"]):
        with subprocess.Popen(
            [TESELA, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
        ) as process:
            assert process.stdout.read(1) == b"", words  # the endless list is not printed
            assert b"expected 1048576 or fewer to list them" in process.stderr.read()
        assert process.returncode == 2
    assert run("same", endless, two).returncode in (1, 2)  # and comes to an end
    assert len(print_of("where", "replicated(1, num_workers=1048576)", "0").split("  ")) == 1048576
    assert run("where", "replicated(1, num_workers=1048577)", "0").returncode == 2


# ---- colour ----

ANSI = re.compile(r"\033\[[0-9;]*m")


def seen(*words, **env):
    """What the command writes to a terminal."""
    text, status = on_a_terminal(*words, **env)
    assert status == 0
    return text


@pytest.mark.parametrize("style", ["simple", "plain", "pretty", "github", "rst"])
@pytest.mark.parametrize("by", ["element", "thread"])
def test_colors_leave_the_text(style, by):
    words = ("show", "reduce(spatial(2, 8, 16), dims=[0]).local(2, 2)", f"--format={style}", f"--by={by}")
    plain, colored = print_of(*words), print_of(*words, "--color=always")
    assert ANSI.search(colored) and not ANSI.search(plain)
    assert ANSI.sub("", colored) == plain
    for line in colored.splitlines()[1:]:
        codes = ANSI.findall(line)
        assert codes[1::2] == ["\033[0m"] * (len(codes) // 2)  # on and off, in turn
        inside = re.findall(r"m([^\033]*)\033\[0m", line)
        assert not any(c in text for text in inside for c in "│|")


def test_warps_have_hues_and_groups_of_four_have_shades():
    colored = print_of("show", "spatial(64)", "--format=plain", "--only=picture", "--color=always")
    codes = [code for code in ANSI.findall(colored) if code != "\033[0m"]
    assert len(codes) == 64
    for t, u in itertools.combinations(range(64), 2):
        if t // 4 == u // 4:
            assert codes[t] == codes[u]
        elif t // 32 != u // 32 or abs(t // 4 - u // 4) < 4:
            assert codes[t] != codes[u]


def test_colors_on_a_terminal():
    words = ("show", "spatial(2, 3)")
    utf8 = {"LC_ALL": "C.UTF-8"}
    text = print_of(*words)
    assert ANSI.sub("", seen(*words, **utf8)) == text != seen(*words, **utf8)
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert seen(*words, **utf8, **env) == text
    assert seen(*words, "--color=never", **utf8) == text
    plain = seen(*words, NO_COLOR="1")  # a terminal that may not know UTF-8
    assert plain == print_of(*words, "--ascii") and plain.isascii()


@pytest.mark.parametrize("color", ["never", "always"])
@pytest.mark.parametrize(
    "n, columns, width",
    [(11, None, None), (12, None, 87), (12, "87", None), (12, "86", 87), (11, "79", None), (11, "78", 79)],
)
def test_a_table_wider_than_the_terminal(n, columns, width, color):
    """A terminal of 80 columns, unless COLUMNS says otherwise. Cells "0: 9" take 7 columns with a border, "0: 10" 8; and
    there is one more border. The line RegisterLayout(...) does not count."""
    env = {"LC_ALL": "C.UTF-8", **({"COLUMNS": columns} if columns else {})}
    text = ANSI.sub("", seen("show", f"local(1, {n})", f"--color={color}", **env))
    note = f"tesela: note: the table is {width} columns wide; try --format=plain, --by=thread or less -S"
    assert (note in text) is (width is not None)
    assert "note" in text or width is None
    assert text.startswith(print_of("show", f"local(1, {n})"))  # nothing is cut


def test_no_note_where_nobody_looks():
    print_of("show", "local(100)")  # nothing on stderr
    for style in ("json", "csv"):
        assert "note" not in seen("show", "local(1, 100)", f"--format={style}", LC_ALL="C.UTF-8")


# ---- among other programs ----


def test_a_reader_that_leaves():
    for words in (
        ["show", "local(1000).spatial(1000)"],
        ["where", "replicated(2, num_workers=1000000)", "1"],
        ["formats", "--fragments"],
    ):
        process = subprocess.Popen(
            [TESELA, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
        )
        process.stdout.read(10)
        process.stdout.close()
        message = process.stderr.read()
        process.stderr.close()
        assert process.wait(timeout=60) in (0, -13) and message == b""


def test_a_full_disk():
    for words in (["show", "spatial(8, 4)"], ["show", "--json", "spatial(2)"], ["where", "spatial(2)", "1"]):
        with open("/dev/full", "wb") as full:
            done = run(*words, stdout=full)
        assert done.returncode == 3 and b"No space left" in done.stderr


def test_json_of_every_verb():
    layout = "reduce(spatial(3, 4), dims=[0])"
    shown = json.loads(print_of("show", "--json", layout))
    assert shown["kind"] == "register" and shown["spatial_modes"] == [-3, 0] and shown["copies"] == 3
    assert shown["mapping_hash"] == good({"op": "register", "expr": layout})["mapping_hash"]
    fragment = json.loads(print_of("show", "--json", "mma.m16n8k16.bf16.A"))
    assert fragment["fragment"] == fragment["made_of"][0]["name"]
    assert json.loads(print_of("where", "--json", layout, "1")) == {"index": [1], "threads": [1, 5, 9], "local": 0}
    assert json.loads(print_of("what", "--json", layout, "9:0")) == {"thread": 9, "local": 0, "index": [1]}
    assert json.loads(print_of("same", "--json", layout, layout)) == {"same": True, "same_size": True}
    memory = json.loads(print_of("show", "--json", "shared_row_major_swizzle(8, 64, nbytes=2)"))
    assert memory["swizzle"] == {"base": 3, "bits": 3, "shift": 3}
    assert json.loads(print_of("where", "--json", "shared_row_major(2, 3)", "1,1")) == {"index": [1, 1], "place": 4}
    assert json.loads(print_of("what", "--json", "shared_row_major(2, 3)", "4")) == {"place": 4, "index": [1, 1]}
    entries = json.loads(print_of("formats", "--fragments", "--json"))
    assert len(entries) == len(print_of("formats", "--fragments").splitlines()) - 1


# ---- the catalogue ----


def test_the_table_of_fragments():
    """Columns are aligned, and rows are the entries: names are layouts of the shape that stands there."""
    lines = print_of("formats", "--fragments").splitlines()
    starts = [m.start() for m in re.finditer(r"\S+", lines[0])]
    entries = json.loads(print_of("formats", "--fragments", "--json"))
    assert lines[0].split() == ["name", "shape", "types", "row", "column", "expression"]
    requests = []
    for line, entry in zip(lines[1:], entries):
        cells = [line[a:b].strip() for a, b in zip(starts, [*starts[1:], None])]
        assert all(line[a - 2 : a] == "  " for a in starts[1:])
        assert (cells[0], cells[2], cells[4], cells[5]) == tuple(entry[k] for k in ("name", "types", "col", "expression"))
        assert cells[1] == " x ".join("N" if n is None else str(n) for n in entry["shape"])
        n = entry["n_max"]
        requests.append({"op": "register", "expr": entry["name"].replace("nN", f"n{n}")})
    for response, entry in zip(ask(*requests), entries):
        assert response["ok"], response
        assert [b or a for a, b in zip(response["shape"], entry["shape"])] == response["shape"]
        assert all(a == entry["n_max"] for a, b in zip(response["shape"], entry["shape"]) if b is None)
        assert response["spatial_size"] == entry["threads"]


def test_unknown_fragments():
    refused = error({"op": "fragment", "name": "mma.m16n8k16.f16.E"})
    assert (refused["code"], refused["at"], refused["field"]) == ("SYNTAX", 17, "name")
    assert run("show", "mma.m16n8k16.f16.E").returncode == 2


@pytest.mark.parametrize(
    "text, message",
    [
        ("mma", "the name continues with a dot and one of: m8n8k4"),
        (" mma ", "the name continues with a dot"),
        ("mma.", "the name continues with a dot"),
        ("amd_wmma", "the name continues with a dot"),
        ("nosuch.x", "unknown function or fragment 'nosuch'"),
        ("nosuch.x * local(2)", "unknown function or fragment 'nosuch'"),
        ("f32.x", "unknown element type"),
        ("nosuch", "unknown element type"),
    ],
)
def test_a_name_that_is_no_fragment(text, message):
    for words in (["show", text], ["where", text, "0"], ["what", text, "0"], ["same", text, "f32[2]"]):
        process = run(*words)
        assert (process.returncode, process.stdout) == (2, b"") and message in process.stderr.decode(), words
    assert message in error({"op": "info", "layout": text})["message"]


def alike(name):
    """Names of the entries without N whose lanes hold the same elements in the same order."""
    entries = [e["name"] for e in json.loads(print_of("formats", "--fragments", "--json")) if e["n_max"] == 0]
    rows = ask(*({"op": "fragment", "name": n, "table": True} for n in entries))
    wanted = good({"op": "fragment", "name": name, "table": True})
    return {n for n, r in zip(entries, rows) if (r["shape"], r["lane_elements"]) == (wanted["shape"], wanted["lane_elements"])}


@pytest.mark.parametrize(
    "text, says",
    [
        (["--as=tv:16x8", "((4,8),(2,2)):((32,1),(16,8))"], "mma.m16n8k16.f16.C = SM80_16x8_Row"),
        (["--as=tv:16x16", "((4,8),(2,2,2)):((32,1),(16,8,128))"], "mma.m16n8k16.f16.A = SM80_16x8x16_F32F16F16F32_TN.A"),
        (["--as=tv:8x4", "((4,8),1):((8,1),0)"], "mma.m8n8k4.f64.A = SM80_8x4"),
        (["--as=tv:64x96", "((4,8,4),(2,2,12)):((128,1,16),(64,8,512))"], "wgmma.m64n96k16.f16.D = CLayout_64x96"),
        (["[16,8] #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>"], "mma.m16n8k16.f16.C = SM80_16x8_Row"),
        (["[16,8] #ttg.linear<{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], block = []}>"], "mma.m16n8k16.f16.C = SM80_16x8_Row"),
        (["column_local(2, 2).spatial(8, 4).local(1, 2)"], "mma.m16n8k16.f16.A = SM80_16x8x16_F32F16F16F32_TN.A"),
        (["ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"], "ldmatrix.x4.trans = SM75_U16x8_LDSM_T"),
        (["spatial(4, 1).spatial(8, 4).local(1, 2)"], None),
        (["spatial(2, 2) * SM80_16x8_Row"], None),
    ],
    ids=lambda value: (value or ["made of several"])[-1] if isinstance(value, list) else "",
)  # fmt: skip
def test_which_fragment_a_layout_is(text, says):
    """A layout in any notation that is a fragment is named, by CUTLASS's name, too; and all names are layouts that are the same."""
    line = re.search(r"^  is          (.*)$", print_of("show", "--only=words", *text), re.M)
    names = json.loads(print_of("show", "--json", *text))["names"]
    if says is None:
        assert line is None and names == []
        return
    assert line[1] == says
    assert set(says.split(" = ")) <= set(names) and len(names) == len(set(names))
    for name in names:
        assert print_of("same", *text, name) == "same\n", name


def test_the_names_of_an_entry():
    names = good({"op": "fragment", "name": "SM80_16x8_Row"})["names"]
    assert names[:3] == ["mma.m16n8k16.f16.C", "mma.m16n8k16.f32.C", "SM80_16x8_Row"]
    assert "SM80_16x8x16_F32F16F16F32_TN.C" in names and "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32.C" in names
    for name in names:
        assert good({"op": "fragment", "name": name})["name"] == "mma.m16n8k16.f16.C"


@pytest.mark.parametrize("name", ["mma.m16n8k16.f16.C", "mma.m16n8k16.f16.A", "ldmatrix.x2", "mfma.f32_32x32x8_f16.A"])
def test_what_a_layout_is_made_of(name):
    """The entry that was written names its group; each other entry that is laid out alike is counted once."""
    others = alike(name)
    assert name in others and len(others) > 1
    for expr in (name, f"spatial(2, 2) * {name}", f"local(3, 1) * {name}"):
        line = re.search(r"^  made of     (.*)$", print_of("show", "--only=words", expr), re.M)[1]
        assert line.startswith(f"{name} and {len(others) - 1} alike"), expr
        groups = json.loads(print_of("show", "--json", expr))["made_of"]
        assert {groups[0]["name"], *groups[0]["alike"]} == others
        names = [n for g in groups for n in (g["name"], *g["alike"])]
        assert len(names) == len(set(names))
        assert line.count(", ") == min(4, len(groups) - 1)
        assert line.endswith(", ...") is (len(groups) > 4)


def test_accumulators_give_the_name_where_none_was_written():
    groups = json.loads(print_of("show", "--json", "local(2, 1).spatial(8, 4).local(1, 2)"))["made_of"]
    assert re.fullmatch(r"mma\..*\.[CD]", groups[0]["name"])
    assert "made of" not in print_of("show", "--only=words", "local(2).spatial(32)")
    assert json.loads(print_of("show", "--json", "local(2).spatial(32)"))["made_of"] == []
    many = print_of("show", "--only=words", "wgmma.m64n128k16.f16.D")
    assert "  made of     wgmma.m64n128k16.f16.D and " in many


def test_warps_of_64():
    """Thread 33 is in lane 33 of a warp of 64, in lane 1 of warp 1 where warps have 32."""
    for words, said in (
        (["mfma.f32_32x32x8_f16.A", "1,5"], "warp 0, lane 33 of 64"),
        (["spatial(64)", "33"], "warp 1, lane 1 of 32"),
        (["spatial(64)", "33", "--warp=64"], "warp 0, lane 33 of 64"),
        (["mfma.f32_32x32x8_f16.A", "1,5", "--warp=16"], "warp 2, lane 1 of 16"),
        (["wgmma.m64n8k16.f16.D", "63,7"], "warp 3, lane 31 of 32"),
    ):
        assert said in run("where", "--words", *words).stderr.decode()

    def hues(*words):
        return ANSI.findall(print_of("show", "--format=plain", "--only=picture", "--color=always", *words))

    assert hues("spatial(64)") != hues("spatial(64)", "--warp=64")
    assert hues("mfma.f32_32x32x8_f16.A") == hues("mfma.f32_32x32x8_f16.A", "--warp=64")
    assert hues("mfma.f32_32x32x8_f16.A") != hues("mfma.f32_32x32x8_f16.A", "--warp=32")
    for words in (["show", "f32[2]"], ["show", "shared_row_major(2)"], ["where", "f32[2]", "1"]):
        process = run(*words, "--warp=64")
        assert process.returncode == 2 and b"--warp applies to register layouts only" in process.stderr
    assert run("where", "spatial(2)", "1", "--warp=65").returncode == 2


def test_facts_of_a_fragment():
    words = print_of("show", "--only=words", "mma.m16n8k16.bf16.A")
    assert "RegisterLayout(" in words and "g + 8*((i/2)%2)" in words and "┌" not in words
    assert "32, 8 registers each" in words


# ---- tiles in memory ----


def swizzled(rows, cols, nbytes):
    """shared_row_major_swizzle by its rule, for rows of up to 128 bytes: the swizzle and all places."""
    bits = {128: 3, 64: 2, 32: 1, 16: 0}[cols * nbytes]
    base = {1: 4, 2: 3, 4: 2, 8: 1, 16: 0}[nbytes]
    places = range(rows * cols)
    swizzle = {"base": base, "bits": bits, "shift": 3} if bits else None
    return swizzle, [x ^ (((x >> (base + 3)) & ((1 << bits) - 1)) << base) for x in places]


@pytest.mark.parametrize("rows, cols, nbytes", [(8, 64, 2), (16, 32, 2), (8, 32, 4), (8, 16, 1), (64, 128, 1)])
def test_offsets(rows, cols, nbytes):
    expr = f"shared_row_major_swizzle({rows}, {cols}, nbytes={nbytes})"
    got = good({"op": "shared", "expr": expr})
    swizzle, wanted = swizzled(rows, cols, nbytes)
    assert got["offsets"] == wanted and got["size"] == max(wanted) + 1 and got["swizzle"] == swizzle
    indices = list(itertools.product(range(rows), range(cols)))
    assert where(expr, indices[:100]) == wanted[:100]
    assert what(expr, wanted[:100]) == [list(index) for index in indices[:100]]
    again = good({"op": "shared", "expr": got["text"]})
    assert again == got
    assert good({"op": "parse", "text": expr})["printed"] == got["text"]


def test_kinds_are_not_mixed_up():
    assert error({"op": "register", "expr": "shared_row_major(2, 2)"})["code"] == "MISMATCH"
    assert error({"op": "shared", "expr": "spatial(2, 2)"})["code"] == "MISMATCH"
    assert error({"op": "info", "layout": "global:shared_row_major(2, 2)"})["code"] == "MISMATCH"
    assert error({"op": "program", "layout": "spatial(2, 2)"})["code"] == "MISMATCH"
    assert good({"op": "info", "layout": "register:(spatial(2) * local(3))"})["kind"] == "register"
    assert good({"op": "info", "layout": "(spatial(2) * local(3))"})["kind"] == "register"
    assert good({"op": "info", "layout": "f32[2]"})["dtype"] == "f32"
    assert good({"op": "parse", "text": "(f32[2], f32[3])"})["printed"] == "(f32[2]{0}, f32[3]{0})"
    assert good({"op": "parse", "text": "spatial(2)", "notation": "register"})["kind"] == "register"
    assert error({"op": "parse", "text": "spatial(2)", "notation": "xla"})["code"] == "MISMATCH"
    assert error({"op": "parse", "text": "spatial(2)", "notation": "shared"})["code"] == "MISMATCH"
    assert good({"op": "info", "layout": "global_row_major(2, 2)"})["kind"] == "global"


def test_positions_behind_a_prefix():
    for text in ("spatial(2, ,)", "register:spatial(2, ,)", "register: spatial(2, ,)"):
        refused = error({"op": "info", "layout": text})
        assert (refused["code"], refused["at"]) == ("SYNTAX", text.index(",)"))


def test_registers_and_places_that_are_not_there():
    for request, code in (
        ({"op": "what", "layout": "spatial(2)", "places": [[2, 0]]}, "RANGE"),
        ({"op": "what", "layout": "spatial(2)", "places": [[0, 1]]}, "RANGE"),
        ({"op": "what", "layout": "spatial(2)", "places": [[0, -1]]}, "RANGE"),
        ({"op": "what", "layout": "spatial(2)", "places": [[0]]}, "INVALID"),
        ({"op": "what", "layout": "spatial(2)", "places": [1]}, "INVALID"),
        ({"op": "what", "layout": "spatial(2)", "places": [[0, 0], 1]}, "INVALID"),
        ({"op": "what", "layout": "f32[2]", "places": [[0, 0]]}, "INVALID"),
        ({"op": "where", "layout": "spatial(2)", "indices": [[2]]}, "RANGE"),
        ({"op": "where", "layout": "spatial(2)", "indices": [[0, 0]]}, "INVALID"),
    ):
        assert error(request)["code"] == code, request
