# SPDX-License-Identifier: Apache-2.0
"""Fragments of AMD's instructions, a line per instruction; fragments.py says where the formulas are from."""

import re

from fragment_layout import Entry, bits_of

# ---- AMD: v_mfma, 64 lanes -----------------------------------------------------------------------------------------
# A lane holds one row of A (column of B), e neighbouring k; C is four rows at a time. Blocks are independent products.
# name, older spelling, m (= n), k, blocks, e, types of A and B, of C, since
MFMA = (
    [
        ("f32_32x32x1_2b_f32", "f32_32x32x1f32", 32, 1, 2, 1, "f32", "f32", "gfx908"),
        ("f32_16x16x1_4b_f32", "f32_16x16x1f32", 16, 1, 4, 1, "f32", "f32", "gfx908"),
        ("f32_4x4x1_16b_f32", "f32_4x4x1f32", 4, 1, 16, 1, "f32", "f32", "gfx908"),
        ("f32_32x32x2_f32", "f32_32x32x2f32", 32, 2, 1, 1, "f32", "f32", "gfx908"),
        ("f32_16x16x4_f32", "f32_16x16x4f32", 16, 4, 1, 1, "f32", "f32", "gfx908"),
        ("f32_32x32x4_2b_f16", "f32_32x32x4f16", 32, 4, 2, 4, "f16", "f32", "gfx908"),
        ("f32_16x16x4_4b_f16", "f32_16x16x4f16", 16, 4, 4, 4, "f16", "f32", "gfx908"),
        ("f32_4x4x4_16b_f16", "f32_4x4x4f16", 4, 4, 16, 4, "f16", "f32", "gfx908"),
        ("f32_32x32x8_f16", "f32_32x32x8f16", 32, 8, 1, 4, "f16", "f32", "gfx908"),
        ("f32_16x16x16_f16", "f32_16x16x16f16", 16, 16, 1, 4, "f16", "f32", "gfx908"),
        ("f32_32x32x2bf16", "", 32, 2, 2, 2, "bf16", "f32", "gfx908"),
        ("f32_16x16x2bf16", "", 16, 2, 4, 2, "bf16", "f32", "gfx908"),
        ("f32_4x4x2bf16", "", 4, 2, 16, 2, "bf16", "f32", "gfx908"),
        ("f32_32x32x4bf16", "", 32, 4, 1, 2, "bf16", "f32", "gfx908"),
        ("f32_16x16x8bf16", "", 16, 8, 1, 2, "bf16", "f32", "gfx908"),
        ("f32_32x32x4_2b_bf16", "f32_32x32x4bf16_1k", 32, 4, 2, 4, "bf16", "f32", "gfx90a"),
        ("f32_16x16x4_4b_bf16", "f32_16x16x4bf16_1k", 16, 4, 4, 4, "bf16", "f32", "gfx90a"),
        ("f32_4x4x4_16b_bf16", "f32_4x4x4bf16_1k", 4, 4, 16, 4, "bf16", "f32", "gfx90a"),
        ("f32_32x32x8_bf16", "f32_32x32x8bf16_1k", 32, 8, 1, 4, "bf16", "f32", "gfx90a"),
        ("f32_16x16x16_bf16", "f32_16x16x16bf16_1k", 16, 16, 1, 4, "bf16", "f32", "gfx90a"),
        ("i32_32x32x4_2b_i8", "i32_32x32x4i8", 32, 4, 2, 4, "i8", "i32", "gfx908"),
        ("i32_16x16x4_4b_i8", "i32_16x16x4i8", 16, 4, 4, 4, "i8", "i32", "gfx908"),
        ("i32_4x4x4_16b_i8", "i32_4x4x4i8", 4, 4, 16, 4, "i8", "i32", "gfx908"),
        ("i32_32x32x8i8", "", 32, 8, 1, 4, "i8", "i32", "gfx908"),
        ("i32_16x16x16i8", "", 16, 16, 1, 4, "i8", "i32", "gfx908"),
        ("i32_32x32x16_i8", "", 32, 16, 1, 8, "i8", "i32", "gfx942"),
        ("i32_16x16x32_i8", "", 16, 32, 1, 8, "i8", "i32", "gfx942"),
        ("f32_32x32x4_xf32", "", 32, 4, 1, 2, "xf32", "f32", "gfx942"),
        ("f32_16x16x8_xf32", "", 16, 8, 1, 2, "xf32", "f32", "gfx942"),
    ]
    + [
        (f"f32_{m}x{m}x{k}_{a}_{b}", "", m, k, 1, 8, f"{a},{b}", "f32", "gfx942")
        for m, k in ((32, 16), (16, 32))
        for a in ("fp8", "bf8")
        for b in ("fp8", "bf8")
    ]
    + [
        ("f64_16x16x4_f64", "f64_16x16x4f64", 16, 4, 1, 1, "f64", "f64", "gfx90a"),
        ("f64_4x4x4_4b_f64", "f64_4x4x4f64", 4, 4, 4, 1, "f64", "f64", "gfx90a"),
        ("f32_32x32x16_f16", "", 32, 16, 1, 8, "f16", "f32", "gfx950"),
        ("f32_16x16x32_f16", "", 16, 32, 1, 8, "f16", "f32", "gfx950"),
        ("f32_32x32x16_bf16", "", 32, 16, 1, 8, "bf16", "f32", "gfx950"),
        ("f32_16x16x32_bf16", "", 16, 32, 1, 8, "bf16", "f32", "gfx950"),
        ("i32_32x32x32_i8", "", 32, 32, 1, 16, "i8", "i32", "gfx950"),
        ("i32_16x16x64_i8", "", 16, 64, 1, 16, "i8", "i32", "gfx950"),
    ]
)


def mfma_rows(name, m, blocks, e):
    """(block, row, column, elements of a lane) of A, and of C."""
    line, several = f"lane%{m}", blocks > 1
    if name == "f64_4x4x4_4b_f64":
        return ("(lane/4)%4", line, "lane/16", 1), ("(lane/4)%4", "lane/16", line, 1)
    if several:
        a = f"lane/{m}", line, "i" if e > 1 else "0", e
    else:
        a = "", line, f"lane/{m}" if e == 1 else f"{e}*(lane/{m}) + i", e
    if name == "f64_16x16x4_f64":
        return a, ("", "4*i + lane/16", line, 4)
    if m == 4:
        return a, ("lane/4", "i", line, 4)
    if m == 16:
        return a, ("i/4" if several else "", "4*(lane/16) + " + ("i%4" if several else "i"), line, 4 * blocks)
    eight = "8*((i/4)%4)" if several else "8*(i/4)"
    return a, ("i/16" if several else "", f"{eight} + 4*(lane/32) + i%4", line, 16 * blocks)


def mfma_entries():
    for name, other, m, k, blocks, e, types, accumulators, since in MFMA:
        (block, line, along, count), (cblock, crow, ccol, ccount) = mfma_rows(name, m, blocks, e)
        lead, pre = ((blocks,), "block,") if blocks > 1 else ((), "")
        note = "k as in AMD's Composable Kernel" if since == "gfx950" else ""
        if re.search(r"x\d+(bf16|i8)$", name):
            note = "gfx908 and gfx90a only"
        a, b = (types.split(",") * 2)[:2]
        common = dict(
            since=since,
            threads=64,
            words=f"{name},{other}" if other else name,
            part=1,
            note=note,
            source="CK" if since == "gfx950" else "AMD",
        )
        yield Entry(
            f"mfma.{name}.A",
            f"v_mfma_{name}",
            a,
            "A",
            f"{pre}M,K",
            lead + (m, k),
            count,
            line,
            along,
            block=block,
            bits=bits_of(a),
            **common,
        )
        yield Entry(
            f"mfma.{name}.B",
            f"v_mfma_{name}",
            b,
            "B",
            f"{pre}K,N",
            lead + (k, m),
            count,
            along,
            line,
            block=block,
            bits=bits_of(b),
            **common,
        )
        yield Entry(
            f"mfma.{name}.C",
            f"v_mfma_{name}",
            accumulators,
            "C",
            f"{pre}M,N",
            lead + (m, m),
            ccount,
            crow,
            ccol,
            block=cblock,
            bits=bits_of(accumulators),
            **common,
        )


# ---- AMD: v_wmma, wave32 -------------------------------------------------------------------------------------------
# gfx11: lanes 16 .. 31 hold the same A and B as lanes 0 .. 15. gfx12: they hold the other half of K.

GFX12 = [
    ("f32_16x16x16_f16", "f16", "f32", 16),
    ("f32_16x16x16_bf16", "bf16", "f32", 16),
    ("f16_16x16x16_f16", "f16", "f16", 16),
    ("bf16_16x16x16_bf16", "bf16", "bf16", 16),
    ("i32_16x16x16_iu8", "iu8", "i32", 16),
    ("i32_16x16x16_iu4", "iu4", "i32", 16),
    ("i32_16x16x32_iu4", "iu4", "i32", 32),
] + [(f"f32_16x16x16_{a}_{b}", f"{a},{b}", "f32", 16) for a in ("fp8", "bf8") for b in ("fp8", "bf8")]


def amd_wmma_entries():
    for arch, rows in (("gfx11", GFX12[:6]), ("gfx12", GFX12)):
        for name, types, accumulators, k in rows:
            a, b = (types.split(",") * 2)[:2]
            if arch == "gfx11":
                along, count = "i", k
                half = "16 bits of each register, the half that op_sel picks" if accumulators.endswith("f16") else ""
                row, note = "2*i + lane/16", "lanes 16 to 31 hold the same as lanes 0 to 15"
            else:
                along, count = f"{k // 2}*(lane/16) + i", k // 2
                half, row, note = "", "8*(lane/16) + i", ""
                if bits_of(a) == 16:
                    along, note = "4*(lane/16) + i%4 + 8*(i/4)", "k as in AMD's matrix instruction calculator"
            common = dict(since=arch, threads=32, source="AMD")
            stem, instruction = f"amd_wmma.{arch}.{name}", f"v_wmma_{name}"
            yield Entry(
                f"{stem}.A",
                instruction,
                a,
                "A",
                "M,K",
                (16, k),
                count,
                "lane%16",
                along,
                bits=bits_of(a),
                note=note,
                **common,
            )
            yield Entry(
                f"{stem}.B",
                instruction,
                b,
                "B",
                "K,N",
                (k, 16),
                count,
                along,
                "lane%16",
                bits=bits_of(b),
                note=note,
                **common,
            )
            yield Entry(
                f"{stem}.C",
                instruction,
                accumulators,
                "C",
                "M,N",
                (16, 16),
                8,
                row,
                "lane%16",
                bits=bits_of(accumulators),
                note=half,
                **common,
            )
