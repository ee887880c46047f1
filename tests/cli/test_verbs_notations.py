# SPDX-License-Identifier: Apache-2.0
"""Every verb about layouts with a text of every notation: it answers, and where the places are known, rightly."""

import json

import pytest
from command import ask, run
from test_relayout_notations import ROWS, SWIZZLED

BLOCKED = "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>"
LINEAR = "#ttg.linear<{register = [], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = [], block = []}>"

# Texts of the same registers, [4, 8] held by 32 threads row-major: text, options
REGISTERS = {
    "register": ("spatial(4, 8)", []),
    "fields": ("RegisterLayout(shape=[4, 8], mode_shape=[4, 8], spatial_modes=[0, 1], local_modes=[])", []),
    "map": ("map(d0:4, d1:8) -> thread[32]: 8*d0 + d1; local[1]: 0", []),
    "cute": ("((8,4),1):((4,1),0)", ["--as=tv:4x8"]),
    "blocked": (BLOCKED, ["--shape=4,8"]),
    "linear": (LINEAR, ["--shape=4,8"]),
    "affine_map": ("affine_map<(d0, d1) -> (d0 * 8 + d1, 0)>", ["--shape=4,8", "--as=thread[32],local[1]"]),
    "index_map": ("lambda i, j: (i * 8 + j, 0)", ["--shape=4,8", "--as=thread[32],local[1]"]),
}


def answer(*words, status=0):
    done = run(*words)
    assert done.returncode == status, (words, done.stderr.decode())
    return done.stdout.decode() if status == 0 else done.stderr.decode()


def beside(text, shape):
    return ["--shape", ",".join(map(str, shape)), "--dtype=f32"]


@pytest.mark.parametrize("text, shape, places, place", ROWS)
def test_places(text, shape, places, place):
    at, more = place(shape), beside(text, shape)
    indices = [",".join(map(str, index)) for index in at]
    assert answer("where", text, *indices, *more).split() == [str(p) for p in at.values()]
    said = answer("what", text, *map(str, at.values()), *more).split()
    assert said == indices
    assert answer("same", text, text, *more).startswith("same")
    formula = answer("translate", text, "--to=map", *more).strip()
    assert answer("same", text, formula, *more).startswith("same")
    assert f"{shape[0]}" in answer("show", text, *more)


@pytest.mark.parametrize("text, shape, places, place", ROWS)
def test_plans(text, shape, places, place):
    more = beside(text, shape)
    plan = answer("plan", f"{text} -> {text}", *more)
    assert "1 thread" in answer("plan", f"{text} -> {text}", *more, "--threads=1") and plan
    dims = "f32[" + ",".join(map(str, shape)) + "]"
    for problem in (f"{dims} -> {text}", f"{text} -> {dims}"):
        assert json.loads(answer("plan", problem, *more, "--json"))["src_bytes"] > 0
        assert "\nok: " in answer("check", problem, *more)


@pytest.mark.parametrize("text, shape, places, place", ROWS)
def test_operations(text, shape, places, place):
    at = place(shape)
    more = {"shape": list(shape), "dtype": "f32"}
    where, what, info, same, show = ask(
        {"op": "where", "layout": text, "indices": [list(index) for index in at], **more},
        {"op": "what", "layout": text, "places": list(at.values()), **more},
        {"op": "info", "layout": text, **more},
        {"op": "same", "a": text, "b": text, **more},
        {"op": "show", "layout": text, **more},
    )
    assert all(one["ok"] for one in (where, what, info, same, show)), (where, what, info, same, show)
    assert same["same"]


@pytest.mark.parametrize("text, shape, places, place", [one for one in ROWS if one.values[1] == (4, 8)])
def test_access_to_memory(text, shape, places, place):
    """One access of 32 threads: its wavefronts are those of the words that they touch, by the definition of banks."""
    at = place(shape)
    banks = {}
    for word in set(at.values()):
        banks.setdefault(word % 32, set()).add(word)
    said = json.loads(answer("access", "spatial(4, 8)", text, "--shape=4,8", "--dtype=f32", "--json"))
    if "global" in text:
        assert "sectors" in said
    else:
        assert said["wavefronts"] == max(map(len, banks.values())), said


@pytest.mark.parametrize("name", REGISTERS)
def test_registers(name):
    """The same registers in every notation: moves, conversions and searches give what they give for spatial(4, 8)."""
    text, more = REGISTERS[name]
    dtype = "--dtype=f32"
    assert answer("same", text, "spatial(4, 8)", *more).startswith("same")
    assert "10" in answer("where", text, "1,2", *more)
    for verb, others in [("access", ["shared_column_major(4, 8)"]), ("access", [SWIZZLED]), ("access", ["(4,8):(1,4)"])]:
        if "--as" in str(more) and others != ["shared_column_major(4, 8)"] and name != "cute":
            continue  # the form of index arithmetic is that of both texts
        shape = [] if "--shape" in str(more) or "#" not in others[0] else ["--shape=4,8"]
        plain = answer(verb, "spatial(4, 8)", *others, dtype, "--shape=4,8")
        assert answer(verb, text, *others, *more, dtype, *shape) == plain
    assert answer("swizzle", text, *more, dtype) == answer("swizzle", "spatial(4, 8)", dtype)
    assert answer("convert", text, text, *more, dtype) == answer("convert", "spatial(4, 8)", "spatial(4, 8)", dtype)


@pytest.mark.parametrize("text, shape, places, place", ROWS)
def test_memory_where_registers_are_expected(text, shape, places, place):
    """convert and swizzle refuse layouts in memory, with the kind that they found."""
    more = ["--shape", ",".join(map(str, shape)), "--dtype=f32"]
    for words in (["convert", text, text], ["swizzle", text], ["access", text, "shared_row_major(4, 8)"]):
        said = answer(*words, *more, status=2)
        assert "expected a register layout, found " in said or "register: expects" in said, said


@pytest.mark.parametrize("text", ["spatial(4, 8)", BLOCKED, LINEAR])
def test_registers_where_memory_is_expected(text):
    for words in (["access", "spatial(4, 8)", text], ["plan", f"f32[4,8] -> {text}"]):
        said = answer(*words, "--shape=4,8", "--dtype=f32", status=2)
        assert "expected a" in said and ", found " in said, said


def test_help_names_the_forms_of_as():
    for verb in ("show", "where", "what", "same", "relayout", "plan", "access", "swizzle", "convert", "pack"):
        said = " ".join(answer(verb, "--help").split())
        assert "tv:16x8" in said and "thread[32],local[4]" in said and "--definitions=FILE" in said
