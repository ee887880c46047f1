#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The catalogue of tensor-core fragments: formulas in, register layouts out.

    fragments.py            write src/gpu/register/fragments.inc and the tables of docs/fragments.md
    fragments.py --check    exit 1 if they are not what this program would write

Every instruction is written down once, with the formulas of its operands; fragment_layout.py derives the layouts and
checks them. Sources, named at each family below and in each entry:

  PTX    PTX ISA 9.2: "Matrix Fragments for mma.m..n..k.." (9.7.14.5), ldmatrix, stmatrix,
         movmatrix, wgmma (9.7.15), tcgen05 "Data Movement Shape" (9.7.16.2.3). Formulas for mma; figures for others.
  CuTe   the thread-value layouts of the same instructions in NVIDIA CUTLASS 4, include/cute/atom/*_traits_sm*.hpp.
  AMD    "AMD Instinct MI100 / MI200 / MI300 Instruction Set Architecture", Matrix Arithmetic Instructions; "RDNA3"
         and "RDNA4 Instruction Set Architecture", Wave Matrix Multiply Accumulate. Every entry was compared element
         by element with the output of AMD's matrix instruction calculator.
  CK     the instruction descriptions of AMD's Composable Kernel (k_per_blk, num_input_blks), for gfx950, which that
         tool does not know.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from fragment_layout import NoLayout, finish, finish_family  # noqa: E402
from fragment_names import all_names  # noqa: E402
from fragments_amd import amd_wmma_entries, mfma_entries  # noqa: E402
from fragments_nvidia import (  # noqa: E402
    matrix_entries,
    mma_entries,
    sparse_entries,
    tcgen05_entries,
    wgmma_entries,
    wmma_entries,
)

TREE = Path(__file__).resolve().parent.parent
INC = TREE / "src/gpu/register/fragments.inc"
DOC = TREE / "docs/fragments.md"
BEGIN, END = "<!-- tables: written by tools/fragments.py -->", "<!-- end of the tables -->"


def entries():
    """The catalogue, in the order of the documents."""
    found = [
        *mma_entries(),
        *sparse_entries(),
        *matrix_entries(),
        *wmma_entries(),
        *wgmma_entries(),
        *tcgen05_entries(),
        *mfma_entries(),
        *amd_wmma_entries(),
    ]
    names = [entry.name.lower() for entry in found]
    for name in names:
        if names.count(name) > 1:
            raise NoLayout(f"{name} stands twice")
    return found


# ---- writing --------------------------------------------------------------------------------------------------------


def c_list(numbers):
    return "{" + ", ".join(map(str, numbers)) + "}"


def c_row(entry, layout, text, first):
    strings = [
        entry.name,
        entry.family,
        entry.instruction,
        entry.types,
        entry.operand,
        entry.axes,
        entry.block,
        entry.row,
        entry.col,
        text,
        entry.since,
        entry.note,
    ]
    public = ", ".join(f'"{s}"' for s in strings) + f", {entry.bits}, {entry.threads}, {entry.n_step}, {entry.n_max}"
    private = (
        f"{first}, {len(layout.shape)}, {len(layout.mode_shape)}, "
        f"{len(layout.spatial_modes)}, {len(layout.local_modes)}, {c_list(layout.shape)}, {c_list(layout.mode_shape)}, "
        f"{c_list(layout.spatial_modes)}, {c_list(layout.local_modes or [0])}"
    )
    return f"TESELA__FRAGMENT(({public}),\n                 ({private}))\n"


def finished():
    return [(entry, *(finish_family if entry.n_step else finish)(entry)) for entry in entries()]


def inc_text(rows):
    head = """/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fragments.inc - the catalogue of fragments; written by tools/fragments.py, do not edit.
 *
 * TESELA__FRAGMENT((fields of tesela_fragment), (first, rank, n_modes, n_spatial, n_local, shape, mode_shape,
 * spatial_modes, local_modes)): `first` is the first row of this layout; in shape 0 stands for n, in mode_shape for
 * n / n_step.
 *
 * TESELA__FRAGMENT_NAME(naming, pattern, operands, entries): a pattern has words with | between them in each part, and
 * an empty first word if the part may be missing; the operand comes last and picks the entry.
 */
/* clang-format off */
"""
    firsts = {}
    text = head
    for number, (entry, layout, expression) in enumerate(rows):
        first = firsts.setdefault((repr(layout), entry.n_step), number)
        text += c_row(entry, layout, expression, first)
    numbers = {entry.name: number for number, (entry, _, _) in enumerate(rows)}
    for naming, pattern, operands in all_names([entry for entry, _, _ in rows]):
        entries_of = ", ".join(str(numbers[name]) for name in operands.values())
        text += f'TESELA__FRAGMENT_NAME({naming}, "{pattern}", "{",".join(operands)}", {{{entries_of}}})\n'
    return text


SECTIONS = (
    ("mma", "mma.sync"),
    ("mma.sp", "mma.sp"),
    ("ldmatrix", "ldmatrix"),
    ("stmatrix", "stmatrix"),
    ("movmatrix", "movmatrix"),
    ("wmma", "wmma"),
    ("wgmma", "wgmma"),
    ("tcgen05", "tcgen05.ld and tcgen05.st"),
    ("mfma", "v_mfma"),
    ("amd_wmma", "v_wmma"),
)


def doc_tables(rows):
    lines = []
    for section, title in SECTIONS:
        mine = [row for row in rows if row[0].section == section]
        if not mine:
            continue
        lines += [
            f"### {title}",
            "",
            "| name | types | since | axes | row | column | layout | note |",
            "| --- | --- | --- | --- | --- | --- | --- | --- |",
        ]
        for entry, _, text in mine:
            row = f"{entry.block} ; {entry.row}" if entry.block else entry.row
            lines.append(
                f"| `{entry.name}` | {entry.types.replace(',', ' ')} | {entry.since} | {entry.axes} | `{row}` | "
                f"`{entry.col}` | `{text}` | {entry.note} |"
            )
        lines.append("")
        lines.append(
            "Source: "
            + "; ".join(dict.fromkeys(part.strip() for e, _, _ in mine for part in e.source.split(";")))
            + "."
        )
        lines.append("")
    return "\n".join(lines)


def doc_text(rows, old):
    before, rest = old.split(BEGIN)
    return before + BEGIN + "\n\n" + doc_tables(rows) + "\n" + END + rest.split(END)[1]


def main():
    rows = finished()
    wanted = {INC: inc_text(rows), DOC: doc_text(rows, DOC.read_text())}
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"{path.relative_to(TREE)} is not what tools/fragments.py writes")
        return 1 if stale else 0
    for path in stale:
        path.write_text(wanted[path])
    print(f"{len(rows)} entries, {len(stale)} files written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
