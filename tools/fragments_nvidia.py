# SPDX-License-Identifier: Apache-2.0
"""Fragments of NVIDIA's instructions, a line per instruction; fragments.py says where the formulas are from."""

from fragment_layout import Entry, bits_of

# ---- NVIDIA: mma.sync ---------------------------------------------------------------------------------------------
# v elements of 32 bits (1 for tf32 and f64) side by side; formulas as in PTX ISA, with / for its conditions on i.


def run(v):
    """Column of the first v elements."""
    return "t" if v == 1 else f"{v}*t + i%{v}"


def a8(v):
    return (8, 4 * v), v, "g", "t" if v == 1 else f"{v}*t + i"


def b4(v):
    return (4 * v, 8), v, "t" if v == 1 else f"{v}*t + i", "g"


def a16(v):
    return (16, 4 * v), 2 * v, "g + 8*i" if v == 1 else f"g + 8*(i/{v})", run(v)


def a16x2(v):
    return ((16, 8 * v), 4 * v, "g + 8*(i%2)" if v == 1 else f"g + 8*((i/{v})%2)", f"{run(v)} + {4 * v}*(i/{2 * v})")


def bx(v, n):
    """n registers of B, 4v rows each."""
    return (4 * v * n, 8), v * n, "t + 4*i" if v == 1 else f"{run(v)} + {4 * v}*(i/{v})", "g"


C8 = (8, 8), 2, "g", "2*t + i"
C16 = (16, 8), 4, "g + 8*(i/2)", "2*t + i%2"

FLOATS = "e4m3,e5m2,e3m2,e2m3,e2m1"
SMALL_FLOATS = "e3m2, e2m3 and e2m1 from sm_120a, each in 8 bits"
PACKED = "two elements in 8 bits, with block scaling"

# shape, types of A and B, A, B, C, types of C, since, note
MMA = [
    ("m8n8k4", "f64", a8(1), b4(1), C8, "f64", "sm_80", ""),
    ("m8n8k16", "s8,u8", a8(4), b4(4), C8, "s32", "sm_75", ""),
    ("m8n8k32", "s4,u4", a8(8), b4(8), C8, "s32", "sm_75", ""),
    ("m8n8k128", "b1", a8(32), b4(32), C8, "s32", "sm_75", ""),
    ("m16n8k4", "tf32", a16(1), b4(1), C16, "f32", "sm_80", ""),
    ("m16n8k4", "f64", a16(1), b4(1), C16, "f64", "sm_90", ""),
    ("m16n8k8", "f16,bf16", a16(2), b4(2), C16, "f16,f32", "sm_75", "bf16 from sm_80, accumulates in f32 only"),
    ("m16n8k8", "tf32", a16x2(1), bx(1, 2), C16, "f32", "sm_80", ""),
    ("m16n8k8", "f64", a16x2(1), bx(1, 2), C16, "f64", "sm_90", ""),
    ("m16n8k16", "f16,bf16", a16x2(2), bx(2, 2), C16, "f16,f32", "sm_80", "bf16 accumulates in f32 only"),
    ("m16n8k16", "s8,u8", a16(4), b4(4), C16, "s32", "sm_80", ""),
    ("m16n8k16", "e4m3,e5m2", a16(4), b4(4), C16, "f16,f32", "sm_89", ""),
    ("m16n8k16", "f64", ((16, 16), 8, "g + 8*(i%2)", "t + 4*(i/2)"), bx(1, 4), C16, "f64", "sm_90", ""),
    ("m16n8k32", "s8,u8", a16x2(4), bx(4, 2), C16, "s32", "sm_80", ""),
    ("m16n8k32", FLOATS, a16x2(4), bx(4, 2), C16, "f16,f32", "sm_89", SMALL_FLOATS),
    ("m16n8k32", "s4,u4", a16(8), b4(8), C16, "s32", "sm_80", ""),
    ("m16n8k64", "s4,u4", a16x2(8), bx(8, 2), C16, "s32", "sm_80", ""),
    ("m16n8k64", "e2m1", a16x2(8), bx(8, 2), C16, "f32", "sm_120a", PACKED),
    ("m16n8k128", "b1", a16(32), b4(32), C16, "s32", "sm_80", ""),
    ("m16n8k256", "b1", a16x2(32), bx(32, 2), C16, "s32", "sm_80", ""),
]

# Sparse A: 2 of 4 elements are stored (1 of 2 for tf32; 2 of 4 pairs for 4 bits), so A has K/2 columns. The metadata E has
# an index for each stored element (each stored pair for 4 bits). Its registers hold the metadata of several instructions;
# the sparsity selector, the first dim of E, picks one.
HALVES = "g + 8*(i/{0})"
E1 = {n: ((4, 16, n), 2 * n, "t", HALVES.format(n), f"i%{n}") for n in (4, 8)}  # selector: one lane of four
E2 = {n: ((2, 16, 2 * n), 2 * n, "t/2", HALVES.format(n), f"{n}*(t%2) + i%{n}") for n in (4, 8)}  # two lanes of four
E4 = ((16, 32), 16, "", "g + 8*(t%2)", "16*(t/2) + i")  # all lanes, no selector
SMALL_SPARSE = "other types than e4m3 and e5m2 from sm_120a, each in 8 bits"

# shape, types of A and B, A, B, types of C, E, bits of an index, since, note
SPARSE = [
    ("m16n8k16", "f16,bf16", a16(2), bx(2, 2), "f16,f32", E1[8], 2, "sm_80", "bf16 accumulates in f32 only"),
    ("m16n8k32", "f16,bf16", a16x2(2), bx(2, 4), "f16,f32", E2[8], 2, "sm_80", "bf16 accumulates in f32 only"),
    ("m16n8k8", "tf32", a16(1), bx(1, 2), "f32", E1[4], 4, "sm_80", ""),
    ("m16n8k16", "tf32", a16x2(1), bx(1, 4), "f32", E2[4], 4, "sm_80", ""),
    ("m16n8k32", "s8,u8", a16(4), bx(4, 2), "s32", None, 2, "sm_80", ""),
    ("m16n8k64", "s8,u8", a16x2(4), bx(4, 4), "s32", E4, 2, "sm_80", ""),
    ("m16n8k64", FLOATS, a16x2(4), bx(4, 4), "f16,f32", E4, 2, "sm_89", SMALL_SPARSE),
    ("m16n8k64", "s4,u4", a16(8), bx(8, 2), "s32", None, 2, "sm_80", ""),
    ("m16n8k128", "s4,u4", a16x2(8), bx(8, 4), "s32", E4, 2, "sm_80", ""),
    ("m16n8k128", "e2m1", a16x2(8), bx(8, 4), "f32", E4, 2, "sm_120a", PACKED),
]

# Block scaling: types of A and B -> (kind, scales along K, types of a scale, may the number be left out?). Four bytes of
# a lane hold the scales of several instructions; the first dim of SFA and SFB numbers the pairs (thread-id, byte-id).
SCALES = {
    FLOATS: [("mxf8f6f4", "1X", "ue8m0", True)],
    "e2m1": [("mxf4", "2X", "ue8m0", True), ("mxf4nvf4", "2X", "ue8m0", False), ("mxf4nvf4", "4X", "ue8m0|ue4m3", False)],
}
SCALE_LAYOUTS = {  # scales along K: (selectors of A, of B, selector of A, of B, number of the scale)
    "1X": (8, 16, "4*(t/2) + i", "4*t + i", "0"),
    "2X": (4, 8, "2*(t/2) + i/2", "2*t + i/2", "i%2"),
    "4X": (2, 4, "t/2", "t", "i"),
}

SELECTORS = {"1X": "4*thread-id + byte-id", "2X": "2*thread-id + byte-id/2", "4X": "thread-id"}

# Volta: four products at once, one for each pair of quads (lanes 4q .. 4q+3 and 16+4q .. 16+4q+3).
PAIR = "(lane/4)%4"
VOLTA = [
    ("A_row", "f16", "M,K", (4, 8, 4), 4, "lane%4 + 4*(lane/16)", "i", "A stored row-major"),
    ("A_col", "f16", "M,K", (4, 8, 4), 4, "i + 4*(lane/16)", "lane%4", "A stored column-major"),
    ("B_row", "f16", "K,N", (4, 4, 8), 4, "lane%4", "i + 4*(lane/16)", "B stored row-major"),
    ("B_col", "f16", "K,N", (4, 4, 8), 4, "i", "lane%4 + 4*(lane/16)", "B stored column-major"),
    ("C_f16", "f16", "M,N", (4, 8, 8), 8, "lane%4 + 4*(lane/16)", "i", ""),
    ("C_f32", "f32", "M,N", (4, 8, 8), 8, "lane%2 + 2*((i/2)%2) + 4*(lane/16)", "i%2 + 2*((lane/2)%2) + 4*(i/4)", ""),
]


def mma_entries():
    for shape, types, a, b, c, accumulators, since, note in MMA:
        for operand, axes, held, (extents, count, row, col) in (
            ("A", "M,K", types, a),
            ("B", "K,N", types, b),
            ("C", "M,N", accumulators, c),
        ):
            yield Entry(
                f"mma.{shape}.{types.split(',')[0]}.{operand}",
                f"mma.sync.aligned.{shape}",
                held,
                operand,
                axes,
                extents,
                count,
                row,
                col,
                since=since,
                note=note,
                bits=4 if types == "e2m1" and operand != "C" else bits_of(held),
                words=types,
                part=2,
                source="PTX 9.7.14.5",
            )
        yield from scale_entries(f"mma.{shape}.{types.split(',')[0]}", f"mma.sync.aligned.{shape}", types, 2)
    for operand, types, axes, extents, count, row, col, note in VOLTA:
        yield Entry(
            f"mma.m8n8k4.f16.{operand}",
            "mma.sync.aligned.m8n8k4",
            types,
            operand[0],
            f"pair,{axes}",
            extents,
            count,
            row,
            col,
            block=PAIR,
            since="sm_70",
            note=note,
            bits=bits_of(types),
            words="f16",
            part=2,
            source="PTX 9.7.14.5.1",
        )


def sparse_entries():
    for shape, types, a, b, accumulators, metadata, index_bits, since, note in SPARSE:
        stem = f"mma.sp.{shape}.{types.split(',')[0]}"
        common = dict(since=since, words=types, part=3, source="PTX 9.7.14.6.2", instruction=f"mma.sp.sync.aligned.{shape}")
        small = types in ("s4,u4", "e2m1")
        for operand, axes, held, (extents, count, row, col) in (
            ("A", "M,K/2", types, a),
            ("B", "K,N", types, b),
            ("C", "M,N", accumulators, C16),
        ):
            bits = 4 if types == "e2m1" and operand != "C" else bits_of(held)
            stored = "the elements that are stored" if operand == "A" else ""
            yield Entry(
                f"{stem}.{operand}",
                types=held,
                operand=operand,
                axes=axes,
                shape=extents,
                count=count,
                row=row,
                col=col,
                bits=bits,
                note="; ".join(text for text in (stored, note) if text),
                **common,
            )
        if metadata:
            extents, count, block, row, col = metadata
            yield Entry(
                f"{stem}.E",
                types=f"b{index_bits}",
                operand="E",
                axes=("selector," if block else "") + ("M,K/4" if small else "M,K/2"),
                shape=extents,
                count=count,
                row=row,
                col=col,
                block=block,
                bits=index_bits,
                note=f"metadata: the index of a stored {'pair' if small else 'element'}",
                **common,
            )
        yield from scale_entries(stem, common["instruction"], types, 3)


def scale_entries(stem, instruction, types, part):
    """The scales of block scaling, for the types that have it."""
    for size in dict.fromkeys(scale[1] for scale in SCALES.get(types, ())):
        na, nb, select_a, select_b, number = SCALE_LAYOUTS[size]
        n = int(size[0])
        for operand, axes, shape, block, row, col in (
            ("SFA", "selector,M,scale", (na, 16, n), select_a, "g + 8*(t%2)", number),
            ("SFB", "selector,scale,N", (nb, n, 8), select_b, number, "g"),
        ):
            yield Entry(
                f"{stem}.{operand}_{size}",
                instruction=instruction,
                types="ue8m0,ue4m3" if size == "4X" else "ue8m0",
                operand=operand,
                axes=axes,
                shape=shape,
                count=4,
                row=row,
                col=col,
                block=block,
                since="sm_120a",
                note=f"scale_vec::{size}; selector: {SELECTORS[size]}",
                bits=8,
                words=types,
                part=part,
                source="PTX 9.7.14.3; CuTe mma_traits_sm120",
            )


# ---- NVIDIA: ldmatrix, stmatrix, movmatrix -------------------------------------------------------------------------
# One register is an 8x8 tile of 16 bits; x2 and x4 stack tiles: rows 8 .. 15 come from the addresses of lanes 8 .. 15.
# Coordinates are those in shared memory, 16 bytes to a row.


def matrix_entries():
    for family, since in (("ldmatrix", "sm_75"), ("stmatrix", "sm_90")):
        instruction = f"{family}.sync.aligned.m8n8"
        for n in (1, 2, 4):
            for suffix, types, v in (("", "b16", 2), (".b8", "b8", 4), (".b32", "b32", 1)):
                note = "" if not suffix else f"the same registers, the rows seen as {types[1:]}-bit elements"
                row = "g" if n == 1 else "g + 8*i" if v == 1 else f"g + 8*(i/{v})"
                col = "t" if v == 1 else f"{v}*t + i" if n == 1 else run(v)
                yield Entry(
                    f"{family}.x{n}{suffix}",
                    f"{instruction}.x{n}.shared.b16",
                    types,
                    "",
                    "row,column",
                    (8 * n, 4 * v),
                    n * v,
                    row,
                    col,
                    since=since,
                    note=note,
                    bits=bits_of(types),
                    source="PTX; CuTe copy_traits_sm75",
                )
            yield Entry(
                f"{family}.x{n}.trans",
                f"{instruction}.x{n}.trans.shared.b16",
                "b16",
                "",
                "row,column",
                (8 * n, 8),
                2 * n,
                "2*t + i" if n == 1 else "2*t + i%2 + 8*(i/2)",
                "g",
                since=since,
                note="rows as they lie in memory",
                bits=16,
                source="PTX; CuTe copy_traits_sm75",
            )
    padded = {
        "b6": "b6x16_p32: 16 elements of 6 bits in memory, then 32 bits of padding; each in 8 bits of the register",
        "b4": "b4x16_p64: 16 elements of 4 bits in memory, then 64 bits of padding; each in 8 bits of the register",
    }
    for family, shape, trans, suffixes, numbers, extents, count, row, col in (
        ("ldmatrix", "m16n16", ".trans", ("", "b6", "b4"), (1, 2), (16, 16), 8, "4*t + i%4", "g + 8*((i/4)%2)"),
        ("ldmatrix", "m8n16", "", ("b6", "b4"), (1, 2, 4), (8, 16), 4, "g", "4*t + i%4"),
        ("stmatrix", "m16n8", ".trans", ("",), (1, 2, 4), (8, 16), 4, "2*t + i%2", "g + 8*((i/2)%2)"),
    ):
        for n in numbers:
            for suffix in suffixes:
                source = {"": "b8", "b6": "b8x16.b6x16_p32", "b4": "b8x16.b4x16_p64"}[suffix]
                yield Entry(
                    f"{family}.{shape}.x{n}" + (f".{suffix}" if suffix else ""),
                    f"{family}.sync.aligned.{shape}.x{n}{trans}.shared.{source}",
                    suffix or "b8",
                    "",
                    "row,column",
                    (extents[0] * n, 16),
                    count * n,
                    f"{row} + {extents[0]}*(i/{count})" if n > 1 else row,
                    col,
                    since="sm_100a",
                    note=padded.get(suffix, "rows as they lie in memory"),
                    bits=8,
                    source="PTX figures; CuTe copy_traits_sm100",
                )
    for operand, row, col, note in (
        ("A", "g", "2*t + i", "source"),
        ("D", "2*t + i", "g", "destination, in the coordinates of the source"),
    ):
        yield Entry(
            f"movmatrix.{operand}",
            "movmatrix.sync.aligned.m8n8.trans.b16",
            "b16",
            operand,
            "row,column",
            (8, 8),
            2,
            row,
            col,
            since="sm_75",
            note=note,
            bits=16,
            source="PTX",
        )


# ---- NVIDIA: wmma ------------------------------------------------------------------------------------------------
# PTX leaves these layouts open. They are read off the machine code: for every entry, both storage orders, and sm_80,
# sm_89, sm_90, sm_100 and sm_120, wmma.load was compiled with CUDA 13.0 and its addresses computed lane by lane; the
# order of the registers of HMMA agrees.

WMMA_NOTE = "not specified by PTX; as CUDA 13.0 compiles it for sm_80 to sm_120, row or col"
PAIRS = "2*t + i%2"


def repeats(n):
    return f"; f16: elements {n} to 15 repeat these"


WMMA = [  # shape, types, accumulators, (A, note), (B, note), C
    (
        "m16n16k16",
        "f16,bf16",
        "f16,f32",
        (a16x2(2), repeats(8)),
        (((16, 16), 8, f"{PAIRS} + 8*((i/2)%2)", "g + 8*(i/4)"), repeats(8)),
        ((16, 16), 8, "g + 8*((i/2)%2)", f"{PAIRS} + 8*(i/4)"),
    ),
    (
        "m32n8k16",
        "f16,bf16",
        "f16,f32",
        (((32, 16), 16, "g + 8*((i/2)%2) + 16*(i/8)", f"{PAIRS} + 8*((i/4)%2)"), ""),
        (bx(2, 2), repeats(4)),
        ((32, 8), 8, "g + 8*(i/2)", PAIRS),
    ),
    (
        "m8n32k16",
        "f16,bf16",
        "f16,f32",
        (((8, 16), 4, "g", f"{PAIRS} + 8*(i/2)"), repeats(4)),
        (((16, 32), 16, f"{PAIRS} + 8*((i/4)%2)", "g + 8*((i/2)%2) + 16*(i/8)"), ""),
        ((8, 32), 8, PAIRS, "g + 8*(i/2)"),
    ),
    (
        "m16n16k16",
        "s8,u8",
        "s32",
        (a16(4), ""),
        (((16, 16), 8, "4*t + i%4", "g + 8*(i/4)"), ""),
        ((16, 16), 8, "g + 8*((i/2)%2)", f"{PAIRS} + 8*(i/4)"),
    ),
    (
        "m32n8k16",
        "s8,u8",
        "s32",
        (((32, 16), 16, "g + 8*(i/4)", "4*t + i%4"), ""),
        (b4(4), ""),
        ((32, 8), 8, "g + 8*(i/2)", PAIRS),
    ),
    (
        "m8n32k16",
        "s8,u8",
        "s32",
        (a8(4), ""),
        (((16, 32), 16, "4*t + i%4", "g + 8*(i/4)"), ""),
        ((8, 32), 8, PAIRS, "g + 8*(i/2)"),
    ),
    (
        "m16n16k8",
        "tf32",
        "f32",
        (a16x2(1), ""),
        (((8, 16), 4, "t + 4*(i%2)", "g + 8*(i/2)"), ""),
        ((16, 16), 8, "g + 8*((i/2)%2)", f"{PAIRS} + 8*(i/4)"),
    ),
    ("m8n8k4", "f64", "f64", (a8(1), ""), (b4(1), ""), C8),
    ("m8n8k32", "s4,u4", "s32", (a8(8), ""), (b4(8), ""), C8),
    ("m8n8k128", "b1", "s32", (a8(32), ""), (b4(32), ""), C8),
]


def wmma_entries():
    for shape, types, accumulators, (a, a_note), (b, b_note), c in WMMA:
        for operand, axes, held, (extents, count, row, col), more in (
            ("A", "M,K", types, a, a_note),
            ("B", "K,N", types, b, b_note),
            ("C", "M,N", accumulators, c, ""),
        ):
            yield Entry(
                f"wmma.{shape}.{types.split(',')[0]}.{operand}",
                f"wmma.{shape}",
                held,
                operand,
                axes,
                extents,
                count,
                row,
                col,
                since="sm_80",
                note=WMMA_NOTE + more,
                bits=bits_of(held),
                words=types,
                part=2,
                source="machine code of CUDA 13.0",
            )


# ---- NVIDIA: wgmma, 128 threads ------------------------------------------------------------------------------------


def wgmma_entries():
    warp = "16*(lane/32) + g%8"
    for k, types, accumulators, v, note in (
        (8, "tf32", "f32", 1, ""),
        (16, "f16,bf16", "f16,f32", 2, "bf16 accumulates in f32 only"),
        (32, "e4m3,e5m2", "f16,f32", 4, ""),
        (32, "s8,u8", "s32", 4, "n is 8, 16, 24 or a multiple of 16"),
        (256, "b1", "s32", 32, "n is 8, 16, 24 or a multiple of 16"),
    ):
        common = dict(since="sm_90a", threads=128, n_step=8, n_max=256, words=types, part=2)
        name, instruction = (f"wgmma.m64nNk{k}.{types.split(',')[0]}", f"wgmma.mma_async.sync.aligned.m64nNk{k}")
        if v < 32:
            yield Entry(
                f"{name}.A",
                instruction,
                types,
                "A",
                "M,K",
                (64, 8 * v),
                4 * v,
                f"{warp} + 8*({'i' if v == 1 else f'(i/{v})'}%2)",
                f"{run(v)} + {4 * v}*(i/{2 * v})",
                bits=bits_of(types),
                note="A in registers",
                source="PTX figures; CuTe mma_traits_sm90",
                **common,
            )
        yield Entry(
            f"{name}.D",
            instruction,
            accumulators,
            "D",
            "M,N",
            (64, "n"),
            ("n", 2),
            f"{warp} + 8*((i/2)%2)",
            "2*t + i%2 + 8*(i/4)",
            bits=bits_of(accumulators),
            note=note,
            source="PTX figures; CuTe mma_traits_sm90",
            **common,
        )


# ---- NVIDIA: tcgen05.ld and tcgen05.st, cells of 32 bits ------------------------------------------------------------


def tcgen05_entries():
    for name, shape, count, row, col in (
        ("32x32b", (32, 1), 1, "lane", "0"),
        ("16x64b", (16, 2), 1, "g + 8*(lane%2)", "(lane/2)%2"),
        ("16x128b", (16, 4), 2, "g + 8*i", "t"),
        ("16x256b", (16, 8), 4, "g + 8*(i/2)", "2*t + i%2"),
        ("16x32bx2", (16, 2), 1, "lane%16", "lane/16"),
    ):
        note = "the second column lies at the second address" if name == "16x32bx2" else ""
        yield Entry(
            f"tcgen05.{name}",
            f"tcgen05.ld.sync.aligned.{name}.x1.b32",
            "b32",
            "",
            "lane,column",
            shape,
            count,
            row,
            col,
            since="sm_100a",
            note=note,
            bits=32,
            source="PTX figures; CuTe copy_traits_sm100",
        )
