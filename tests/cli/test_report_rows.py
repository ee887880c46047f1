# SPDX-License-Identifier: Apache-2.0
"""Rows of a memory table: which of the shapes they list can have the printed size, what that says of the padding, and
what HLO text or a buffer assignment beside the report decides.

The oracle tries every order of the dims with every tile of the table in tests/data/hlo/README.md and measures with
tests/oracle/xla_oracle.py. It shares nothing with the library.
"""

import itertools
import json
import os
import random
import re
import sys

import pytest
from command import SOURCE, run

sys.path.insert(0, str(SOURCE / "tests/oracle"))
from xla_oracle import Array  # noqa: E402

SEED = int(os.environ.get("TESELA_SEED", "20261123"), 0)
HEAD = "Memory Space: default (color=0)\n  cumulative_size;       size;       offset; used_by_n_values; shapes_list\n"
TYPES = {"f32": 32, "s32": 32, "bf16": 16, "f16": 16, "s8": 8, "pred": 8, "s4": 4}

# bits: scalar, sides of a vector, usual rows, rows of the large tile
LATE = {
    32: (128, (128, 1024), (1, 2, 4, 8), None), 16: (256, (256, 1024), (2, 4, 8), 16),
    8: (512, (512, 1024), (4, 8), 32), 4: (1024, (1024, 1024), (8,), 64),
}  # fmt: skip
EARLY = {
    32: (256, (256, 1024), (2, 4, 8), None), 16: (512, (512, 1024), (4, 8), None),
    8: (1024, (1024, 1024), (8,), None), 4: (1024, (1024, 1024), (8,), None),
}  # fmt: skip


def printed(size):
    """A size as the compiler prints it in a table."""
    unit = 0
    while size >= 1 << 20:
        size, unit = size >> 10, unit + 1
    if size < 1024 and unit == 0:
        return f"{size}B"
    return f"{size / 1024:.{1 if unit == 0 else 2}f}{'KMGT'[unit]}iB"


def first_tiles(bits, bounds):
    """(tile, E) that compilers use for bounds, most major first."""
    for table, packed in ((LATE, bits if bits < 8 else 0), (EARLY, 0)):
        scalar, (least, most), rows, large = table[bits]
        if not bounds:
            yield (scalar,), packed
        elif len(bounds) == 1:
            side = least
            while side < min(bounds[0], most):
                side *= 2
            yield (side,), packed
        else:
            extent = bounds[-2]
            choices = {next((r for r in rows if r >= extent), rows[-1])}
            if large and (extent > 8 or (bits < 16 and extent % large == 0)):
                choices.add(large)
            if bits == 16:
                choices.add(8)
            yield from (((r, 128), packed) for r in choices)


def layouts(kind, dims):
    """(stored bytes, data bytes, is in the default order, minor dim, second) of every order and tile."""
    default = tuple(range(len(dims) - 1, -1, -1))
    for order in itertools.permutations(range(len(dims))):
        for tile, packed in set(first_tiles(TYPES[kind], [dims[d] for d in reversed(order)])):
            array = Array(kind, dims, order, [tile], E=packed)
            yield array.allocated_bytes, -(-array.count * array.bits // 8), order == default, array


def fits(kind, dims, size):
    """The layouts that give a printed size; without tiles only where no tile does."""
    found = [x for x in layouts(kind, dims) if printed(x[0]) == size]
    bare = Array(kind, dims)
    if not found and printed(bare.allocated_bytes) == size:
        found = [(bare.allocated_bytes, bare.allocated_bytes, True, bare)]
    if not found and not dims and size in ("1.0KiB", "4.0KiB"):
        found = [(int(float(size[:-3]) * 1024), bare.allocated_bytes, False, bare)]
    return found


def likelihood(fit):
    """Less is likelier."""
    stored, data, default, _ = fit
    return not (default or stored == data), not default, stored - data


def text_of(kind, dims):
    return f"{kind}[{','.join(map(str, dims))}]"


def random_shape(rng):
    kind = rng.choice(list(TYPES))
    return kind, tuple(rng.choice((1, 2, 3, 5, 8, 12, 20, 24, 64, 96, 128, 130, 256)) for _ in range(rng.randint(0, 4)))


def random_rival(rng, kind, dims):
    """Of about the same size once it is padded: dims rounded up, in another order, in another type."""
    other = rng.choice([t for t in TYPES if TYPES[t] == TYPES[kind]] if rng.random() < 0.7 else list(TYPES))
    rounded = [-(-d // 8) * 8 if rng.random() < 0.5 else d for d in dims]
    if rounded and rng.random() < 0.5:
        at = rng.randrange(len(rounded))
        rounded[at] = 128 if rounded[at] < 128 else rounded[at]
    rng.shuffle(rounded)
    return other, tuple(rounded)


def random_row(rng):
    """(printed size, {shape: (kind, dims, count)}) with at least one shape that has the size."""
    kind, dims = random_shape(rng)
    stored = rng.choice(list(layouts(kind, dims)))[0]
    shapes = {}
    for _ in range(rng.randint(0, 4)):
        shape = random_rival(rng, kind, dims) if rng.random() < 0.7 else random_shape(rng)
        shapes[text_of(*shape)] = (*shape, rng.randint(1, 3))
    shapes[text_of(kind, dims)] = (kind, dims, rng.randint(1, 3))
    items = list(shapes.items())
    rng.shuffle(items)
    return printed(stored), dict(items)


def table_of(rows):
    lines = []
    for size, shapes in rows:
        listed = ", ".join(f"{n}×{s}" if n > 1 else s for s, (_, _, n) in shapes.items())
        values = sum(n for _, _, n in shapes.values())
        lines.append(f"  {size}( 9%);  {size};   0;   {values}; {listed}\n")
    return HEAD + "".join(lines)


def report_json(*words, text, status=0):
    done = run("report", "--json", "--top", "0", *words, text=text)
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout)


def by_line(found):
    return {a["line"]: a for a in found["arrays"] if a["source"] == "memory_report"}


@pytest.mark.parametrize("part", range(4))
def test_every_shape_that_fits(part):
    rng = random.Random(SEED + part)
    print("seed", SEED, "part", part)
    rows = [random_row(rng) for _ in range(60)]
    found = by_line(report_json(text=table_of(rows)))
    assert len(found) == len(rows)
    seen = {"certain": 0, "one of": 0}
    for line, (size, shapes) in enumerate(rows, 3):
        array, row = found[line], table_of([rows[line - 3]]).splitlines()[-1]
        fitting = {s: fits(kind, dims, size) for s, (kind, dims, _) in shapes.items()}
        fitting = {s: f for s, f in fitting.items() if f}
        padding = [stored - data for f in fitting.values() for stored, data, _, _ in f]
        assert (array["least_padding_bytes"], array["most_padding_bytes"]) == (min(padding), max(padding)), row
        assert array["padding_bytes"] == (padding[0] if min(padding) == max(padding) else None), row
        assert array["stored_bytes"] in [stored for f in fitting.values() for stored, _, _, _ in f], row
        assert array["listed"] == row.split("; ")[-1] and not array["incomplete"] and not array["compiler"]["disagrees"]
        if len(fitting) == 1:
            seen["certain"] += 1
            (only, its) = next(iter(fitting.items()))
            assert (array["shape"], array["candidates"]) == (only, []), row
            if not array["granule"]:
                kind, dims, _ = shapes[only]
                chosen = Array.from_text(array["fitted"] or only)
                default = chosen.minor_to_major == tuple(range(len(dims) - 1, -1, -1))
                data = min(chosen.allocated_bytes, -(-chosen.count * chosen.bits // 8))
                assert likelihood((chosen.allocated_bytes, data, default, None)) == min(map(likelihood, its)), row
                pads = {(a.minor_to_major[:2], a.tiles[0], a.E) if a.tiles else () for _, _, _, a in its}
                assert array["layouts"] == len(pads), row
                assert len(pads) > 1 or bool(array["reasons"]) == (padding[0] > 0), row
        else:
            seen["one of"] += 1
            assert array["shape"] is None and array["reasons"] == array["advice"] == [], row
            assert {c["shape"] for c in array["candidates"]} == set(fitting), row
            order = [min(map(likelihood, fitting[c["shape"]])) for c in array["candidates"]]
            assert order == sorted(order), row
            for c in array["candidates"]:
                assert c["padding_bytes"] == min(map(likelihood, fitting[c["shape"]]))[2], row
        if len({(s - d, s) for f in fitting.values() for s, d, _, _ in f}) > 1:
            assert not array["advice"], row
    assert min(seen.values()) > 5, seen


def random_module(rng, rows, whole):
    """Arrays with tiles for the shapes of the rows, {shape: its layouts}; not `whole`: some are missing."""
    module = {}
    for _, shapes in rows:
        for s, (kind, dims, _) in shapes.items():
            if not whole and rng.random() < 0.1:
                continue
            for _ in range(rng.choice((1, 1, 2))):
                order = list(range(len(dims)))
                rng.shuffle(order)
                tile, packed = rng.choice(sorted(first_tiles(TYPES[kind], [dims[d] for d in reversed(order)])))
                module.setdefault(s, []).append(Array(kind, dims, order, [tile], E=packed))
    return module


def hlo_of(module):
    lines = [f"  %a.{i} = {a.text()} add(%x)" for i, a in enumerate(a for each in module.values() for a in each)]
    return "\n".join(["HloModule m", "", "ENTRY %main () -> f32[] {", *lines, "}", ""])


def assignment_of(module):
    lines = [
        f" value: <{i} fusion.{i} @0> (size={a.allocated_bytes},offset=0): {a.text()}"
        for i, a in enumerate(a for each in module.values() for a in each)
    ]
    return "\n".join(["BufferAssignment:", "allocation 0: size 1, preallocated-temp:", *lines, ""])


@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("form", [hlo_of, assignment_of])
def test_other_text_decides(part, form, tmp_path):
    rng = random.Random(SEED + 100 + part)
    print("seed", SEED, "part", part)
    rows = [random_row(rng) for _ in range(60)]
    module = random_module(rng, rows, part > 0)
    (tmp_path / "other.txt").write_text(form(module))
    alone = by_line(report_json(text=table_of(rows)))
    together = by_line(report_json("-", str(tmp_path / "other.txt"), text=table_of(rows)))
    seen = {"decided": 0, "left": 0}
    for line, (size, _) in enumerate(rows, 3):
        before, after = alone[line], together[line]
        candidates = [c["shape"] for c in before["candidates"]]
        if not candidates:
            assert after["shape"] == before["shape"]
            continue
        supported = [s for s in candidates if any(printed(a.allocated_bytes) == size for a in module.get(s, []))]
        if len(supported) == 1 and all(s in module for s in candidates):
            seen["decided"] += 1
            its = {a.text(): a for a in module[supported[0]] if printed(a.allocated_bytes) == size}
            assert after["decided"] and after["candidates"] == [] and after["shape"] == supported[0]
            assert after["fitted"] in its and after["layouts"] == len(its)
            padding = [a.allocated_bytes - min(a.allocated_bytes, -(-a.count * a.bits // 8)) for a in its.values()]
            assert after["least_padding_bytes"] == min(padding) and after["most_padding_bytes"] == max(padding)
        else:
            seen["left"] += 1
            assert after == before
    assert min(seen.values()) > 0, seen


# ---- a real table ----

TABLES = SOURCE / "tests/data/tables"


def real_values():
    """{(memory space, offset): layouts} of the arrays in the compiler's own assignment of memory."""
    values = {}
    for line in (TABLES / "reshaped.assignment.txt").read_text().splitlines():
        if value := re.match(r" value: <.*> \(size=(\d+),offset=(\d+)\): ([a-z].*)$", line):
            array = Array.from_text(value[3])
            assert array.allocated_bytes == int(value[1])
            values.setdefault((array.memory_space, int(value[2])), []).append(array)
    return values


def real_rows(*beside):
    """(row of the report, arrays that have its size there) for every row of the real table that has one."""
    table = TABLES / "reshaped.table.txt"
    lines, values = table.read_text().splitlines(), real_values()
    for line, array in by_line(report_json(str(table), *map(str, beside), text="")).items():
        _, size, offset, _, listed = (cell.strip() for cell in lines[line - 1].split(";", 4))
        shapes = re.sub(r"\d+×", "", listed).split(", ")
        there = values.get((array["memory_space"], int(offset)), [])
        there = [a for a in there if printed(a.allocated_bytes) == size and text_of(a.dtype, a.dims) in shapes]
        if there and not listed.startswith("("):
            yield array, there


@pytest.mark.parametrize("beside", [(), ("reshaped.hlo.txt",), ("reshaped.assignment.txt",)])
def test_rows_of_a_real_table(beside):
    decided = []
    for array, there in real_rows(*(TABLES / name for name in beside)):
        shapes = {text_of(a.dtype, a.dims) for a in there}
        padding = {a.allocated_bytes - a.count * a.type_bytes for a in there}
        assert array["least_padding_bytes"] <= min(padding) and max(padding) <= array["most_padding_bytes"]
        if array["candidates"]:
            assert shapes <= {c["shape"] for c in array["candidates"]}
        else:
            assert shapes == {array["shape"]}
        if array["decided"]:
            decided.append(array["shape"])
            assert array["fitted"] in {re.sub(r"/\*.*?\*/", "", a.text()) for a in there}
    assert ("s32[1024,3136,22]" in decided) == bool(beside)
    assert len(list(real_rows())) > 10


# ---- single rows ----

ISSUE = HEAD + "  16.00GiB(100%); 16.00GiB; 0; 3; bf16[3,32,4096,8,64], 2×f32[32,8,4096,4096]\n"
GIB = 1 << 30
TWO = "ENTRY %m () -> f32[] {{\n %a = {} add(%x)\n %b = {} add(%x)\n}}\n"
BF16 = "bf16[3,32,4096,8,64]"
F32 = "f32[32,8,4096,4096]"
UNPADDED = F32 + "{3,2,1,0:T(8,128)}"


def test_a_row_of_two():
    """The wide one has no padding; the other fills 3 of 128 lanes: 2^26 * 128 * 2 bytes are 16 GiB too."""
    array = report_json(text=ISSUE)["arrays"][0]
    assert [c["shape"] for c in array["candidates"]] == [F32, BF16]
    assert [c["padding_bytes"] for c in array["candidates"]] == [0, 16 * GIB - 3 * (GIB // 8)]
    assert array["candidates"][0]["fitted"] == UNPADDED
    assert (array["least_padding_bytes"], array["most_padding_bytes"]) == (0, 16 * GIB - 3 * (GIB // 8))
    assert array["padding_bytes"] is array["data_bytes"] is array["shape"] is None and array["sized"]
    totals = report_json(text=ISSUE)["totals"]["memory_report"]
    assert totals["padding_bytes"] is totals["waste"] is None
    assert (totals["least_padding_bytes"], totals["unknown_arrays"]) == (0, 1)
    shown = run("report", text=ISSUE).stdout.decode()
    assert shown.startswith("0 B to 15.62 GiB of 16.00 GiB stored is padding (0% to 98%)\n")
    assert f"one of {UNPADDED}, {BF16}" in shown
    assert "because" not in shown and "instead" not in shown
    assert f"   one of    {UNPADDED}: no padding" in shown and "384.00 MiB of data, 15.62 GiB of padding" in shown
    cells = run("report", "--tsv", text=ISSUE).stdout.decode().splitlines()[1].split("\t")
    assert cells[2] == cells[5] == cells[6] == "" and cells[16].startswith(UNPADDED + " | " + BF16)


@pytest.mark.parametrize(
    "limit, status, said",
    [
        ("0", 3, b"cannot tell whether the padding is above 0%; it is 0% to 98%"), ("50%", 3, b"cannot tell"),
        ("97%", 3, b"cannot tell"), ("98%", 0, b""),
    ],
)  # fmt: skip
def test_limits_of_a_row_of_two(limit, status, said):
    done = run("report", "--max-waste", limit, text=ISSUE)
    assert done.returncode == status and said in done.stderr and bool(said) == bool(done.stderr)


def test_a_limit_below_all_that_is_possible():
    rows = ("4.00MiB; 0; 1; f32[1024,8,8]", "1.00MiB; 0; 2; f32[256,1024], s32[2048,4]")
    padded = HEAD + "".join(f"  5.00MiB(9%); {row}\n" for row in rows)
    found = report_json(text=padded)["totals"]["memory_report"]
    assert (found["least_padding_bytes"], found["most_padding_bytes"]) == (
        4 * 2**20 - 2**18, 5 * 2**20 - 2**18 - 2**15,
    )  # fmt: skip
    assert [run("report", "--max-waste", w, text=padded).returncode for w in ("74%", "80%", "95%")] == [1, 3, 0]


@pytest.mark.parametrize(
    "hlo, decided",
    [
        (TWO.format(UNPADDED, BF16 + "{4,3,2,1,0:T(8,128)(2,1)}"), F32),
        (TWO.format(F32 + "{0,3,2,1:T(8,128)}", BF16 + "{0,4,3,2,1:T(8,128)(2,1)}"), BF16),
        (TWO.format(UNPADDED, BF16 + "{0,4,3,2,1:T(8,128)(2,1)}"), None),  # both have the size
        (TWO.format(UNPADDED, "f32[7]{0:T(128)}"), None),  # of another program: the other shape is not in it
        (TWO.format(F32 + "{3,2,1,0}", BF16 + "{4,3,2,1,0}"), None),  # from before optimisation
        (TWO.format(F32 + "{3,2,1,0:T(8,128)S(1)}", BF16 + "{4,3,2,1,0:T(8,128)(2,1)}"), None),  # in another space
    ],
)
def test_the_program_decides(hlo, decided):
    array = [a for a in report_json(text=ISSUE + hlo)["arrays"] if a["source"] == "memory_report"][0]
    assert array["shape"] == decided and array["decided"] == bool(decided)
    assert len(array["candidates"]) == (0 if decided else 2)
    if decided == BF16:
        assert array["reasons"][0].startswith("dim 0 (3) is minor and fills 3 of 128 lanes")
        assert array["advice"] and array["padding_bytes"] == 16 * GIB - 3 * (GIB // 8)
    if decided == F32:
        assert (array["fitted"], array["padding_bytes"]) == (UNPADDED, 0)
        section = report_json(text=ISSUE + hlo)["sections"][0]
        assert section["least_padding_bytes"] == section["most_padding_bytes"] == 0


@pytest.mark.parametrize("offset, decided", [(0, True), (4096, False)])
def test_offsets_of_a_buffer_assignment(offset, decided, tmp_path):
    text = (
        f"BufferAssignment:\nallocation 3: size 17179869184, preallocated-temp:\n"
        f" value: <12 fusion.1 @0> (size=17179869184,offset={offset}): {UNPADDED}\n"
        f" value: <13 copy.1 @0> (size=805306368,offset=0): {BF16}{{4,3,2,1,0:T(8,128)(2,1)}}\n"
    )
    (tmp_path / "assignment.txt").write_text(text)
    array = report_json("-", str(tmp_path / "assignment.txt"), text=ISSUE)["arrays"][0]
    assert array["decided"] == decided and (array["shape"] == F32) == decided
    alone = run("report", text=text)
    assert alone.returncode == 0 and b"needs 16.00 GiB" in alone.stdout


def test_pieces_of_the_allocator_agree():
    """Scalars in 1 and 4 KiB, tables of tuples in 512 B to 4 KiB; a count may stand before a tuple."""
    rows = [
        "1.0KiB; 0; 1; s32[]", "4.0KiB; 0; 2; 2×f32[]", "512B; 0; 5; 5×(u32[], f32[3])", "32B; 0; 1; (u32[], f32[3])",
        "4.0KiB; 0; 1; (f32[3], (u32[], u32[]))", "4B; 0; 5; 5×u32[]",
    ]  # fmt: skip
    found = report_json(text=HEAD + "".join(f"  1.0GiB( 9%);  {r}\n" for r in rows))
    assert not [n for n in found["notes"] if n["loud"] or n["code"] == "no_shape"]
    arrays = by_line(found)
    assert [arrays[i + 3]["stored_bytes"] for i in range(6)] == [1024, 4096, 512, 32, 4096, 4]
    assert [arrays[i + 3]["padding_bytes"] for i in range(6)] == [1020, 4092, 0, 0, 0, 0]
    assert not any(a["compiler"]["disagrees"] or a["candidates"] for a in found["arrays"])
    listed = report_json(text="  1. Size: 4.0K\n     Shape: f32[]{:T(128)}\n     Unpadded size: 4B\n")
    assert listed["arrays"][0]["granule"] and listed["arrays"][0]["padding_bytes"] == 4092
    assert not [n for n in listed["notes"] if n["loud"]]
    wrong = report_json(text="  1. Size: 3.0K\n     Shape: f32[]{:T(128)}\n     Unpadded size: 4B\n")
    assert wrong["arrays"][0]["compiler"]["disagrees"] == ["size"]


def test_a_long_row_is_read_to_its_end():
    small = ", ".join(f"f32[{n},3]" for n in range(1, 400))
    row = HEAD + f"  16.00GiB(100%); 16.00GiB; 0; 401; {small}, {F32}, {BF16}\n"
    array = report_json(text=row)["arrays"][0]
    assert [c["shape"] for c in array["candidates"]] == [F32, BF16]
    assert len(array["listed"]) <= 1000 and array["listed"].endswith("], ...")


@pytest.mark.parametrize(
    "listed, values",
    [
        (F32 + ", bf16[3,32,40", 2), (F32 + ", q7[3,4]", 2), ("2?" + F32 + ", " + F32, 2), (F32, 2),
        (F32 + ", f32[?,4]", 2),
    ],
)  # fmt: skip
def test_a_part_that_cannot_be_read_leaves_a_row_open(listed, values):
    text = HEAD + f"  16.00GiB(100%); 16.00GiB; 0; {values}; {listed}\n"
    found = report_json(text=text)
    array = found["arrays"][0]
    assert array["incomplete"] or array["data_bytes"] is None
    assert (array["least_padding_bytes"], array["most_padding_bytes"]) == (0, 16 * GIB)
    assert [n["code"] for n in found["notes"] if n["loud"]] == ["unreadable_shape"]
    assert run("report", "--max-waste", "50%", text=text).returncode == 3
    decided = report_json(text=text + TWO.format(UNPADDED, "f32[7]{0:T(128)}"))
    assert [a["shape"] for a in decided["arrays"] if a["source"] == "memory_report"] == [array["shape"]]


def test_layouts_of_one_shape_that_are_padded_in_other_ways():
    """f32[5,3] takes 4 KiB as 8x128 in both orders; f32[3,5] likewise: which dim is minor is not known."""
    row = HEAD + "  1(1%); 4.0KiB; 0; 1; f32[5,6]\n"
    array = report_json(text=row)["arrays"][0]
    assert array["shape"] == "f32[5,6]" and array["layouts"] == 2 and array["padding_bytes"] == 4096 - 120
    assert array["reasons"] == array["advice"] == []
    array = by_line(report_json(text=row + "%a = f32[5,6]{0,1:T(8,128)} add(%x)\n"))[3]
    assert array["fitted"] == "f32[5,6]{0,1:T(8,128)}" and array["decided"] and len(array["reasons"]) == 2


def diff(before, after, tmp_path):
    (tmp_path / "before").write_text(before)
    done = run("diff", "--json", str(tmp_path / "before"), "-", text=after)
    return json.loads(done.stdout)


def test_diff_of_rows_of_two(tmp_path):
    assert diff(ISSUE, ISSUE, tmp_path)["n_changes"] == 0
    other = ISSUE.replace("bf16[3,32", "f16[3,32")
    found = diff(ISSUE, other, tmp_path)
    assert sorted(c["kind"] for c in found["changes"]) == ["gone", "new"]
    assert found["before"]["memory_report"]["padding_bytes"] is None
    assert found["before"]["memory_report"]["most_padding_bytes"] == 16 * GIB - 3 * (GIB // 8)
    (tmp_path / "before").write_text(ISSUE)
    shown = run("diff", str(tmp_path / "before"), "-", text=other).stdout.decode()
    assert "padding 0 B to 15.62 GiB -> 0 B to 15.62 GiB" in shown
    assert re.search(r"gone +bf16\[3,32,4096,8,64\], 2.+f32\[32,8,4096,4096\]", shown)
