# SPDX-License-Identifier: Apache-2.0
"""The verbs access, swizzle, convert and infer, and the ops of query beside them.

The unit tests check the answers; here are a few that follow from the definition by hand, the messages and
exit statuses, and that a verb with --json and its op have the same answer.
"""

import json
import re

import pytest
from command import SOURCE, error, good, run

ROW, COLUMN = "column_spatial(32, 1).local(1, 32)", "spatial(1, 32).local(32, 1)"
PLAIN, PITCH = "shared_row_major(32, 32)", "shared_strided([32, 32], [33, 1])"
PROGRAM = """\
threads 32
global g: f32[32, 4] = global_row_major(32, 4)
register x: f32[32, 4]
register y: f32[32, 4]
load x, g
elementwise y, x
"""


def done(*words, status=0, text=b""):
    process = run(*words, text=text)
    assert process.returncode == status, process.stderr.decode()
    return process.stdout.decode()


def said(*words, status=2, text=b""):
    process = run(*words, text=text)
    assert (process.returncode, process.stdout) == (status, b"")
    return process.stderr.decode()


# ---- the type of the elements ----

GRID = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>"
TYPED = ["%s[4,32]{1,0}", "shared: %s[4,32]{1,0}", "memref<4x32x%s>", "%s[4,32] (4,32):(32,1)"]


@pytest.mark.parametrize("text", TYPED)
def test_memory_with_a_type_has_elements_of_that_type(text):
    """Threads of 4 elements: 16 bytes of f32, 8 of f16."""
    request = {"op": "access", "register": "spatial(4, 8).local(1, 4)"}
    for dtype, size in (("f32", 16), ("f16", 8)):
        memory = text % dtype
        assert f"vector        4 elements, {size} bytes" in done("access", request["register"], memory)
        for op in "access", "vector_width":
            assert good({**request, "op": op, "memory": memory})["bytes"] == size
        assert good({**request, "op": "bank_conflicts", "memory": memory})["vector_bytes"] == size
        assert good({**request, "memory": memory, "dtype": dtype}) == good({**request, "memory": memory})
        assert json.loads(done("access", request["register"], memory, "--json")) == good({**request, "memory": memory})


@pytest.mark.parametrize("text", TYPED)
def test_a_type_other_than_that_of_the_layout_is_refused(text):
    memory = text % "f32"
    use = {"register": "spatial(4, 8).local(1, 4)", "memory": memory, "dtype": "f16"}
    for op in "access", "vector_width", "bank_conflicts", "ldmatrix":
        refused = error({"op": op, **use})
        assert (refused["code"], refused["field"]) == ("MISMATCH", "dtype")
        assert refused["message"] == "dtype is f16, but memory has elements of f32"
    for more in ((), ("--json",)):
        message = said("access", use["register"], memory, "--dtype=f16", *more)
        assert "--dtype is f16, but memory has elements of f32\n" in message


def test_register_layouts_with_a_type():
    """A tensor of Triton has its type in the text; fewer bytes of f16 in each move."""
    f32, f16, plain = f"tensor<4x32xf32, {GRID}>", f"tensor<4x32xf16, {GRID}>", "column_spatial(4, 8).local(1, 4)"
    assert good({"op": "convert", "from": f32, "to": plain})["bits"] == 32
    assert good({"op": "convert", "from": plain, "to": f16})["bits"] == 16
    assert "32-bit elements" in done("convert", f32, plain)
    assert good({"op": "swizzle", "reads": [plain], "writes": [f32]}) == good(
        {"op": "swizzle", "reads": [plain], "writes": [f32], "dtype": "f32"}
    )
    between = "to has elements of f16, but from of f32"
    assert error({"op": "convert", "from": f32, "to": f16})["message"] == between
    assert between in said("convert", f32, f16)
    refused = error({"op": "swizzle", "reads": [plain, f32], "dtype": "f16"})
    assert refused["message"] == "dtype is f16, but reads has elements of f32"
    refused = error({"op": "swizzle", "reads": [f16], "writes": [f32]})
    assert refused["message"] == "reads has elements of f16, but writes of f32"
    for more in ((), ("--json",)):
        assert "--dtype is f16, but a layout has elements of f32" in said("swizzle", plain, f32, "--dtype=f16", *more)
        assert "--dtype is s8, but from has elements of f32" in said("convert", f32, plain, "--dtype=s8", *more)
        assert "memory has elements of f16, but register of f32" in said("access", f32, "f16[4,32]{1,0}", *more)


def test_elements_in_wider_cells_have_the_width_of_the_cells():
    """Without E(4) each s4 takes a byte."""
    request = {"op": "vector_width", "register": "spatial(4, 8).local(1, 4)"}
    assert good({**request, "memory": "s4[4,32]{1,0}"})["bytes"] == 4
    assert good({**request, "memory": "s4[4,32]{1,0:E(4)}", "dtype": "s4"})["bytes"] == 2


def test_layouts_without_a_type_need_one():
    refused = error({"op": "access", "register": "spatial(4, 8)", "memory": "shared_row_major(4, 8)"})
    assert (refused["code"], refused["field"]) == ("INVALID", "dtype")
    assert "vector        1 element, 2 bytes" in done("access", "spatial(4, 8)", "shared_row_major(4, 8)")


# ---- access ----


def test_each_thread_a_row_is_one_bank_for_all():
    """Element (t, i) is word 32 * t + i: in step i all 32 threads want bank i, each another word."""
    text = done("access", ROW, PLAIN, "--dtype=f32", "--vector=1")
    assert "wavefronts    1024 for 32 phases: 992 conflicts, up to 32-way" in text
    assert "vector        1 element, 4 bytes; 4 possible" in text


def test_a_pitch_of_33_spreads_rows_over_the_banks():
    assert "wavefronts    32 for 32 phases: no conflicts" in done("access", ROW, PITCH, "--dtype=f32", "--vector=1")


def test_vectors_of_16_bytes_are_four_phases():
    """8 threads a phase; rows are 32 banks apart, so all eight start at one bank: 8-way."""
    answer = good({"op": "bank_conflicts", "register": ROW, "memory": PLAIN, "dtype": "f32"})
    assert (answer["vector_elements"], answer["instructions"], answer["phases"]) == (4, 8, 32)
    assert (answer["wavefronts"], answer["worst"], answer["conflicts"]) == (256, 8, 224)


def test_global_memory_counts_sectors():
    """Each thread a row of 128 bytes, 16 bytes at a time: 32 sectors for 512 bytes, which are 16 sectors packed."""
    answer = good({"op": "bank_conflicts", "register": ROW, "memory": "global_row_major(32, 32)", "dtype": "f32"})
    assert (answer["sectors"], answer["least_sectors"], answer["lines"]) == (8 * 32, 8 * 16, 8 * 32)
    text = done("access", ROW, "global_row_major(32, 32)", "--dtype=f32")
    assert "sectors       256 moved, 128 for packed data\nlines         256 touched\n" in text


def test_the_verb_and_the_ops_agree():
    words = ("mma.m16n8k16.f16.A", "shared_row_major_swizzle(16, 16, nbytes=2)")
    request = {"register": words[0], "memory": words[1], "dtype": "f16"}
    answer = json.loads(done("access", *words, "--json"))
    assert answer.pop("ldmatrix") == good({"op": "ldmatrix", **request})
    assert answer == {**good({"op": "vector_width", **request}), **good({"op": "bank_conflicts", **request})}


def test_ldmatrix_loads_the_fragment_it_was_made_for():
    """Two tiles of rows 0-7 and 8-15, two of columns: x4. Rows are 32 bytes apart: 8 of them meet every 128 bytes, 2-way."""
    answer = good(
        {"op": "ldmatrix", "register": "mma.m16n8k16.f16.A", "memory": "shared_row_major(16, 16)", "dtype": "f16"}
    )
    assert (answer["applies"], answer["transposed"], answer["tiles"]) == (True, False, 4)
    assert (answer["instructions_per_warp"], answer["warps"], answer["wavefronts"]) == (1, 1, 8)


@pytest.mark.parametrize(
    "words, message",
    [
        (("spatial(4, 4)", "shared_row_major(4, 8)"), "dim 1 is 4 in registers, but 8 in memory"),
        (("spatial(4, 4)", "spatial(4, 4)"), "expected a tile in memory, found a register layout"),
        (("shared_row_major(4, 4)", "shared_row_major(4, 4)"), "expected a register layout, found a tile in shared memory"),
        (("spatial(4, 0)", "shared_row_major(4, 8)"), "extent 1 of the shape is 0"),
        (("spatial(4, 4)", "shared_row_major(4, 4)", "--dtype=fp16"), "did you mean f16?"),
        (("spatial(4, 4)", "shared_row_major(4, 4)", "--dtype=token"), "--dtype: unknown element type 'token'\n"),
        (("spatial(4, 4)", "shared_row_major(4, 4)", "--dtype=tokem"), "--dtype: unknown element type 'tokem'\n"),
        (("spatial(4, 4)", "shared_row_major(4, 4)", "--dtype="), "--dtype is empty; expected an element type"),
        (("spatial(4, 4)", "shared_row_major(4, 4)", "--warp=65"), "--warp: expected an integer from 1 to 64, found '65'"),
        (("spatial(4, 4)", "shared_row_major(4, 4)", "--warp=0"), "--warp: expected an integer from 1 to 64, found '0'"),
        (("spatial(4, 4)", "shared_row_major(4, 4)", "--banks=129"), "--banks: expected an integer from 1 to 128, found '129'"),
        (("spatial(4, 4)", "shared_row_major(4, 4)", "--banks=3"), "a power of two"),
        (("spatial(4, 4)", "shared_row_major(4, 4)", "--bank-bytes=256"), "--bank-bytes: expected an integer from 1 to 128, found '256'"),
        (("spatial(4, 4)", "shared_row_major(4, 4)", "--vector=0"), "integer from 1"),
        (("spatial(4, 4)", "shared_row_major(4, 4)", "--vector=2"), "vector"),
    ],
)
def test_access_refuses(words, message):
    assert message in said("access", *words)


def test_the_worst_phase_is_named():
    """Rows 33 elements of 2 bytes apart. Column 0 of rows 2k, 2k+1 is in banks k and k + 16: all differ. Column 1 is in
    banks k and k + 17, of which the last is bank 0 again: the second instruction is 2-way."""
    words = ("column_spatial(32, 1).local(1, 2)", "shared_strided([32, 2], [33, 1])")
    answer = good({"op": "bank_conflicts", "register": words[0], "memory": words[1], "dtype": "f16", "vector": 1})
    assert (answer["phases"], answer["wavefronts"], answer["worst"]) == (2, 3, 2)
    assert (answer["worst_warp"], answer["worst_instruction"], answer["worst_phase"]) == (0, 1, 0)
    text = json.loads(done("access", *words, "--dtype=f16", "--vector=1", "--json"))
    assert (text["worst_warp"], text["worst_instruction"], text["worst_phase"]) == (0, 1, 0)


@pytest.mark.parametrize(
    "warp, banks, bank_bytes, instructions, phases",
    [
        (None, None, None, 128, 128),  # two warps; 32 threads a phase
        (64, None, None, 64, 128),  # one warp; 32 threads fill all banks
        (64, 64, None, 64, 64),
        (64, None, 8, 64, 64),
        (16, None, None, 256, 256),
    ],
)
def test_other_machines(warp, banks, bank_bytes, instructions, phases):
    """Each of 64 threads a row of 64 words: in each phase all threads want one bank, each another word."""
    row, memory = "column_spatial(64, 1).local(1, 64)", "shared_row_major(64, 64)"
    machine = {"warp": warp, "banks": banks, "bank_bytes": bank_bytes}
    given = {name: number for name, number in machine.items() if number}
    options = [f"--{name.replace('_', '-')}={number}" for name, number in given.items()]
    request = {"register": row, "memory": memory, "dtype": "f32", **given}
    answer = good({"op": "bank_conflicts", "vector": 1, **request})
    assert (answer["instructions"], answer["phases"], answer["wavefronts"]) == (instructions, phases, 64 * 64)
    assert answer["worst"] == 64 * 64 // phases
    printed = json.loads(done("access", row, memory, "--dtype=f32", "--vector=1", "--json", *options))
    assert printed.pop("ldmatrix")["applies"] is False
    assert printed == {**good({"op": "vector_width", **request}), **answer}


def test_ldmatrix_is_for_its_own_machine():
    words = ("mma.m16n8k16.f16.A", "shared_row_major(16, 16)")
    assert "ldmatrix      x4" in done("access", *words, "--warp=32", "--banks=32", "--bank-bytes=4")
    assert "ldmatrix      no: it needs warps of 32" in done("access", *words, "--warp=16")


@pytest.mark.parametrize("field, most", [("warp", 64), ("banks", 128), ("bank_bytes", 128)])
def test_machines_that_are_none(field, most):
    use = {"register": ROW, "memory": PLAIN, "dtype": "f32"}
    for request in (
        {"op": "bank_conflicts", **use}, {"op": "vector_width", **use}, {"op": "swizzle", "reads": [ROW], "dtype": "f32"},
    ):  # fmt: skip
        for number in (0, -1, most + 1, 2**32 + 1, 2**63 - 1):
            refused = error({**request, field: number})
            assert (refused["code"], refused["field"]) == ("RANGE", field)
        assert error({**request, field: "32"})["code"] == "INVALID"
        good({**request, field: most})
    assert error({"op": "convert", "from": "spatial(2)", "to": "spatial(2)", "dtype": "f32", "warp": 65})["code"] == "RANGE"


# ---- swizzle ----


def test_a_transpose_without_conflicts_is_found():
    text = done("swizzle", "spatial(1, 32).local(32, 1)", "column_spatial(32, 1).local(1, 32)", "--dtype=f32")
    found = re.match(r"(SharedLayout\(.*\))\nCuTe +(.*)\nwavefronts +(\d+); lower bound (\d+), row-major (\d+)\n", text)
    assert found and int(found[3]) == int(found[4]) < int(found[5])
    for use in ("spatial(1, 32).local(32, 1)", "column_spatial(32, 1).local(1, 32)"):
        for memory in (found[1], found[2]):
            cost = good({"op": "bank_conflicts", "register": use, "memory": memory, "dtype": "f32"})
            assert cost["conflicts"] == 0


def test_a_swizzle_for_cute_copies():
    columns, rows = "(32,32):(32,1)", "(32,32):(1,32)"
    copy = {"as": "tv:32x32", "dtype": "f32", "vector": 1}
    found = good({"op": "swizzle", "writes": [columns], "reads": [rows], **copy})
    assert found["cute"] == "Sw<5,0,5> o 0 o (32,32):(32,1)"
    assert found == json.loads(done("swizzle", columns, rows, "--as=tv:32x32", "--dtype=f32", "--vector=1", "--json"))
    for use in (columns, rows):
        assert good({"op": "bank_conflicts", "register": use, "memory": found["cute"], **copy})["conflicts"] == 0
    assert error({"op": "swizzle", "writes": [rows], **{**copy, "vector": 64}})["code"] == "INVALID"
    assert error({"op": "swizzle", "writes": [rows], **{**copy, "vector": -1}})["code"] == "RANGE"


def test_swizzle_as_an_op():
    request = {"op": "swizzle", "writes": [COLUMN], "reads": [ROW], "dtype": "f32"}
    assert good(request) == json.loads(done("swizzle", COLUMN, ROW, "--dtype=f32", "--json"))
    assert error({"op": "swizzle", "dtype": "f32"})["code"] == "INVALID"
    assert error({"op": "swizzle", "writes": [3], "dtype": "f32"})["field"] == "writes"
    assert error({"op": "swizzle", "writes": ["local(2)", "local(3)"], "dtype": "f32"})["code"] == "MISMATCH"


def test_swizzle_for_another_machine():
    uses = ["spatial(1, 64).local(64, 1)", "column_spatial(64, 1).local(1, 64)"]
    found = {}
    for given in ({}, {"warp": 64, "banks": 64}):
        found[len(given)] = answer = good({"op": "swizzle", "writes": uses[:1], "reads": uses[1:], "dtype": "f32", **given})
        options = [f"--{name}={number}" for name, number in given.items()]
        assert answer == json.loads(done("swizzle", *uses, "--dtype=f32", "--json", *options))
        costs = [
            good({"op": "bank_conflicts", "register": use, "memory": answer["memory"], "dtype": "f32", **given})
            for use in uses
        ]
        assert answer["wavefronts"] == sum(cost["wavefronts"] for cost in costs)
        assert answer["instructions"] == sum(cost["instructions"] for cost in costs)
    assert found[0]["instructions"] == 2 * found[2]["instructions"]  # two warps of 32, or one of 64


# ---- convert ----


@pytest.mark.parametrize(
    "src, dst, kind",
    [
        ("spatial(4, 8)", "spatial(4, 8)", "nothing"),
        ("local(2, 4)", "column_local(2, 4)", "permute"),
        ("spatial(4, 8)", "column_spatial(4, 8)", "shuffle"),
        ("spatial(8, 8)", "column_spatial(8, 8)", "shared"),
    ],
)
def test_the_cheapest_kind_is_taken(src, dst, kind):
    answer = json.loads(done("convert", src, dst, "--dtype=f32", "--json"))
    assert answer["kind"] == kind
    assert answer == good({"op": "convert", "from": src, "to": dst, "dtype": "f32"})
    assert done("convert", src, dst, "--dtype=f32") == answer["plan"]
    assert answer["plan"].startswith(kind)


def test_a_transposed_warp_is_one_round():
    """Every lane holds one element and wants another lane's: one shuffle does it, and none does not."""
    answer = good({"op": "convert", "from": "spatial(4, 8)", "to": "column_spatial(4, 8)", "dtype": "f32"})
    assert (answer["rounds"], answer["least_rounds"]) == (1, 1)


def test_a_way_can_be_asked_for():
    through = {"op": "convert", "from": "spatial(4, 8)", "to": "column_spatial(4, 8)", "dtype": "f32"}
    assert good({**through, "through": "shared"})["kind"] == "shared"
    assert good({**through, "through": "any"})["kind"] == "shuffle"
    assert error({**through, "from": "spatial(8, 8)", "to": "column_spatial(8, 8)", "through": "shuffle"})["message"]


def test_a_warp_of_64_shuffles_more():
    """A transposed tile of 64 threads is one warp, or two; one of 32 threads is two warps of 16."""
    for src, dst, warp, kind in (
        ("spatial(8, 8)", "column_spatial(8, 8)", None, "shared"),
        ("spatial(8, 8)", "column_spatial(8, 8)", 64, "shuffle"),
        ("spatial(4, 8)", "column_spatial(4, 8)", None, "shuffle"),
        ("spatial(4, 8)", "column_spatial(4, 8)", 16, "shared"),
    ):
        given = {"warp": warp} if warp else {}
        answer = good({"op": "convert", "from": src, "to": dst, "dtype": "f32", **given})
        assert answer["kind"] == kind
        options = [f"--warp={warp}"] if warp else []
        assert json.loads(done("convert", src, dst, "--dtype=f32", "--json", *options)) == answer


def test_cuda_is_printed_whole_or_not_at_all():
    text = done("convert", "spatial(4, 8)", "column_spatial(4, 8)", "--dtype=f32", "--cuda=turn")
    assert "__device__" in text and "turn_kernel" in text and "__shfl_sync" in text
    assert re.search("--cuda=2x: .*identifier", said("convert", "spatial(2)", "spatial(2)", "--cuda=2x"))
    request = {"op": "convert", "from": "spatial(2)", "to": "spatial(2)", "dtype": "f32"}
    assert error({**request, "cuda": "2x"})["field"] == "cuda"
    assert error({**request, "dtype": ""})["message"].startswith("missing element type")
    assert "did you mean" not in error({**request, "dtype": "token"})["message"]
    assert "dim 0 is 3 in dst and 2 in src" in said("convert", "spatial(2)", "spatial(3)")


# ---- infer ----


def test_a_program_gets_its_layouts(tmp_path):
    path = tmp_path / "x.kernel"
    path.write_text(PROGRAM)
    answer = json.loads(done("infer", str(path), "--json"))
    assert answer == good({"op": "infer", "program": PROGRAM})
    assert answer == json.loads(done("infer", "-", "--json", text=PROGRAM))
    assert [t["name"] for t in answer["tensors"]] == ["g", "x", "y"]
    x, y = (t["layout"] for t in answer["tensors"][1:])
    assert x == y
    for layout in (x, y):  # 128 elements in 32 threads, each once
        described = good({"op": "register", "expr": layout})
        assert (described["shape"], described["spatial_size"], described["local_size"]) == ([32, 4], 32, 4)
    table = done("infer", str(path))
    assert all(re.search(rf"^{name} ", table, re.M) for name in ("g", "x", "y"))


def test_a_conflict_is_a_no_with_its_line(tmp_path):
    path = tmp_path / "x.kernel"
    path.write_text(
        "threads 32\nregister x: f32[32, 4] = spatial(32, 1).local(1, 4)\n"
        "register y: f32[32, 4] = local(4, 1).spatial(8, 4)\nelementwise y, x\n"
    )
    process = run("infer", str(path))
    assert process.returncode == 1
    assert b"line 4" in process.stderr and b"elementwise" in process.stderr
    assert good({"op": "infer", "program": path.read_text()})["consistent"] is False


def test_a_conflict_in_json():
    """Thread t has row t of b, and is to have column t: it has one element of each of the 32, and takes 31 from other
    threads, one a round. Thread 0 has [0, 0] in its first register and lacks [1, 0] in the next."""
    text = (SOURCE / "examples/conflict.kernel").read_text()
    process = run("infer", "--json", str(SOURCE / "examples/conflict.kernel"))
    assert (process.returncode, process.stderr) == (1, b"")
    answer = json.loads(process.stdout)
    assert answer["consistent"] is False and answer["conflict"].pop("message").startswith("line 10: copy: ")
    assert [t["name"] for t in answer["tensors"]] == ["x", "y", "a", "b", "c"]
    conflict = answer["conflict"]
    assert text.encode()[conflict.pop("at") :].startswith(b"copy c, b")
    has, needs, repair, why = (conflict.pop(name) for name in ("has", "needs", "repair", "why"))
    assert conflict == {
        "line": 10, "operation": "copy", "tensor": "b", "other": "c", "is_result": False, "thread": 0, "index": [1, 0],
        "grids_tried": 1, "grids_left": False,
    }  # fmt: skip
    assert good({"op": "same", "a": has, "b": "spatial(32, 1).local(1, 32)"})["same"]
    assert good({"op": "same", "a": needs, "b": "local(32, 1).spatial(1, 32)"})["same"]
    assert (repair["kind"], repair["rounds"], repair["least_rounds"], repair["moves"]) == ("shuffle", 31, 31, 1)
    assert why and "\n" not in why
    plan = good({"op": "convert", "from": has, "to": needs, "dtype": "f32"})
    assert repair == {name: plan[name] for name in repair}


def test_an_access_that_no_thread_can_do_in_json():
    """Lane t of the fragment has rows 2t and 2t + 1 of a column: half bytes side by side where columns are, not rows."""
    text = (
        "threads 32\nglobal g: u4[16, 8]\nregister r: u4[16, 8] = mma.m16n8k16.f16.B\nload r, g\n"
    )
    process = run("infer", "--json", "-", text=text)
    conflict = json.loads(process.stdout)["conflict"]
    assert process.returncode == 1
    assert conflict.pop("message").startswith("line 4: load: the threads cannot read r from g")
    has, memory, repair, why = (conflict.pop(name) for name in ("has", "memory", "repair", "why"))
    assert conflict == {
        "line": 4, "at": 74, "operation": "load", "tensor": "g", "other": "r", "is_result": False,
        "needs": None, "thread": None, "index": None, "grids_tried": 1, "grids_left": False,
    }  # fmt: skip
    refused = said("access", has, memory, "--dtype=u4")
    assert refused.split("error: ")[1].strip() == why.split("from g: ")[1]
    assert (repair["kind"], repair["tensor"], repair["every_access"]) == ("memory", "g", True)
    assert good({"op": "same", "a": repair["memory"], "b": "global_column_major(16, 8)"})["same"]
    assert done("access", has, repair["memory"], "--dtype=u4").startswith("vector        2 elements, 1 byte\n")
    mended = text.replace("u4[16, 8]\nreg", f"u4[16, 8] = {repair['memory']}\nreg")
    assert "conflict" not in json.loads(done("infer", "--json", "-", text=mended))


def test_the_example_of_attention_has_its_layouts_without_warps():
    text = (SOURCE / "examples/attention.kernel").read_text()
    answer = json.loads(done("infer", "--json", "-", text=text.replace("warps=[4, 1]", "")))
    assert "conflict" not in answer and all(tensor["rule"] for tensor in answer["tensors"])
    rules = {tensor["name"]: tensor["rule"] for tensor in answer["tensors"]}
    assert rules["s"] == "line 28, dot: grid of warps chosen, [4, 1] after a conflict"


def test_other_errors_of_infer_print_no_json(tmp_path):
    assert said("infer", "--json", "-", text="threads x\n")
    answer = json.loads(done("infer", "--json", "-", text=PROGRAM))
    assert answer["consistent"] is True and "conflict" not in answer


@pytest.mark.parametrize(
    "text, at",
    [("threads x\n", 8), ("threads 32\nload a, b\n", None), ("threads 32\nregister x: f99[3]\n", None), ("\xff\n", None)],
)
def test_a_bad_program_is_shown_with_its_line(text, at):
    words = said("infer", "-", text=text.encode("latin-1"))
    assert "tesela: error: " in words and re.search(r"error: line \d+: ", words)
    if at is not None:
        assert words.splitlines()[2].index("^") == at + 2


def test_a_program_that_is_not_there(tmp_path):
    assert "No such file" in said("infer", str(tmp_path / "none"))
    assert "directory" in said("infer", str(tmp_path))
    (tmp_path / "big").write_bytes(b"#" * (2 << 20))
    assert "longer than" in said("infer", str(tmp_path / "big"))
