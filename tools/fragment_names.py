# SPDX-License-Identifier: Apache-2.0
"""Every name under which an entry of the catalogue is found, a line per instruction or atom.

A name is (kind, pattern, {operand: entry}). A pattern has parts with dots between them and words with | between them; an
empty first word means that the part may be missing. The operand follows the pattern; the operand "" means that the
pattern is the whole name. Sources: PTX ISA 9.2, the syntax of each instruction; CUTLASS 4, include/cute/arch and
include/cute/atom.
"""

from fragments_nvidia import FLOATS, MMA, SCALES, SPARSE, WMMA

OWN, LAYOUT, CUTLASS, INSTRUCTION = range(4)  # as tesela_fragment_naming in register.h
SPACE = "|shared|shared::cta"


def own_names(entries):
    """The catalogue's names: the entries of an instruction together, with all the types of its name."""
    stems = {}
    for entry in entries:
        parts = entry.name.split(".")
        if entry.words:
            parts[entry.part] = entry.words.replace(",", "|")
        operand = parts.pop() if entry.operand else ""
        stems.setdefault(".".join(parts), {})[operand] = entry.name
    return [(OWN, pattern, operands) for pattern, operands in stems.items()]


def operands_of(stem, letters="ABC"):
    return {letter: f"{stem}.{letter}" for letter in letters}


def short_names(entries):
    """mma.m16n8k16.f32.C: the accumulator by its own type, where no instruction has A and B of that type."""
    taken = {(e.name.rsplit(".", 2)[0], word) for e in entries for word in e.words.split(",")}
    found = {}
    for entry in entries:
        if entry.family not in ("mma", "wmma", "wgmma") or entry.operand not in ("C", "D"):
            continue
        shape = entry.name.rsplit(".", 2)[0]
        for word in entry.types.split(","):
            if (shape, word) not in taken:
                found.setdefault((shape, word), (entry.operand, entry.name))
    return [(OWN, f"{shape}.{word}", {letter: name}) for (shape, word), (letter, name) in found.items()]


# ---- PTX ------------------------------------------------------------------------------------------------------------


def products(types, accumulators):
    """The types of D, A, B and C in the order of PTX, one text for each combination that differs."""
    both = types.replace(",", "|")
    if types == "f16,bf16":
        return ["f16|f32.f16.f16.f16|f32", "f32.bf16.bf16.f32"]
    if accumulators == "s32" and types != "b1":
        return [f"|satfinite.s32.{both}.{both}.s32"]
    if types == "b1":
        return ["s32.b1.b1.s32.xor|and.popc"]
    if types.startswith("e4m3"):
        return ["f16|f32.e4m3|e5m2.e4m3|e5m2.f16|f32"]
    return [f"{accumulators}.{types}.{types}.{accumulators}"]


def ptx_mma(head, stem, shape, types, accumulators, letters):
    """All forms of mma and mma.sp for one shape and its types."""
    operands, floats = operands_of(stem, letters), FLOATS.replace(",", "|")
    if types != "e2m1":
        for text in products(types, accumulators):
            yield f"{head}.{shape}.row.col.{text}", operands
    if types == FLOATS:
        yield f"{head}.{shape}.row.col.kind::f8f6f4.f16|f32.{floats}.{floats}.f16|f32", operands
        yield f"{head}.kind::f8f6f4.{shape}.row.col.f16|f32.{floats}.{floats}.f16|f32", operands
    for kind, size, scale, given in SCALES.get(types, ()):
        scaled = operands | {f"SF{x}": f"{stem}.SF{x}_{size}" for x in "AB"}
        vector = f"{'|' if given else ''}scale_vec::{size}"
        text = f"f32.{floats if types == FLOATS else types}.{floats if types == FLOATS else types}.f32.{scale}"
        yield f"{head}.{shape}.row.col.kind::{kind}.block_scale.{vector}.{text}", scaled
        yield f"{head}.kind::{kind}.block_scale.{vector}.{shape}.row.col.{text}", scaled


def ptx_volta():
    head, stem, any_order = "mma.sync.aligned.m8n8k4", "mma.m8n8k4.f16", "row|col"
    types = "f16|f32.f16.f16.f16|f32"
    for order in ("row", "col"):
        yield f"{head}.{order}.{any_order}.{types}", {"A": f"{stem}.A_{order}"}
        yield f"{head}.{any_order}.{order}.{types}", {"B": f"{stem}.B_{order}"}
    for d, c in (("f16", "f16"), ("f32", "f32"), ("f32", "f16")):
        text = f"{head}.{any_order}.{any_order}.{d}.f16.f16.{c}"
        yield text, {"C": f"{stem}.C_{c}", "D": f"{stem}.C_{d}"}


def ptx_matrices():
    for family in ("ldmatrix", "stmatrix"):
        for n in (1, 2, 4):
            for trans in ("", ".trans"):
                to = {"": f"{family}.x{n}{trans}"}
                yield f"{family}.sync.aligned.m8n8.x{n}{trans}.{SPACE}.b16", to
                yield f"{family}.sync.aligned.x{n}{trans}.m8n8.{SPACE}.b16", to
    for shape, numbers in (("m16n16", (1, 2)), ("m8n16", (1, 2, 4))):
        trans = ".trans" if shape == "m16n16" else ""
        for n in numbers:
            head, name = f"ldmatrix.sync.aligned.{shape}.x{n}{trans}.{SPACE}", f"ldmatrix.{shape}.x{n}"
            if trans:
                yield f"{head}.b8", {"": name}
            yield f"{head}.b8x16.b6x16_p32", {"": f"{name}.b6"}
            yield f"{head}.b8x16.b4x16_p64", {"": f"{name}.b4"}
    for n in (1, 2, 4):
        yield f"stmatrix.sync.aligned.m16n8.x{n}.trans.{SPACE}.b8", {"": f"stmatrix.m16n8.x{n}"}
    yield "movmatrix.sync.aligned.m8n8.trans.b16", operands_of("movmatrix", "AD")
    for shape in ("32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2"):
        yield f"tcgen05.ld|st.sync.aligned.{shape}.x1.b32", {"": f"tcgen05.{shape}"}


def ptx_wmma():
    for shape, types, accumulators, *_ in WMMA:
        operands, both = operands_of(f"wmma.{shape}.{types.split(',')[0]}"), types.replace(",", "|")
        order = "row.col" if types in ("s4,u4", "b1") else "row|col.row|col"
        if types == "b1":
            yield f"wmma.mma.xor|and.popc.sync.aligned.{order}.{shape}.s32.b1.b1.s32", operands
        elif types == "f16,bf16":
            yield f"wmma.mma.sync.aligned.{order}.{shape}.f16|f32.f16|f32.|satfinite", operands
            yield f"wmma.mma.sync.aligned.{order}.{shape}.f32.bf16.bf16.f32", operands
        else:
            last = ".|satfinite" if accumulators == "s32" else ""
            text = f"{accumulators}.{both}.{both}.{accumulators}{last}"
            yield f"wmma.mma.sync.aligned.{order}.{shape}.{text}", operands


def ptx_wgmma():
    for k, first, texts, letters in (
        (8, "tf32", ["f32.tf32.tf32"], "AD"),
        (16, "f16", ["f16|f32.f16.f16", "f32.bf16.bf16"], "AD"),
        (32, "e4m3", ["f16|f32.e4m3|e5m2.e4m3|e5m2"], "AD"),
        (32, "s8", ["|satfinite.s32.s8|u8.s8|u8"], "AD"),
        (256, "b1", ["s32.b1.b1.and.popc"], "D"),
    ):
        for text in texts:
            yield f"wgmma.mma_async.sync.aligned.m64nNk{k}.{text}", operands_of(f"wgmma.m64nNk{k}.{first}", letters)


def instruction_names(entries):
    for shape, types, _, _, _, accumulators, *_ in MMA:
        stem = f"mma.{shape}.{types.split(',')[0]}"
        yield from ptx_mma("mma.sync.aligned", stem, shape, types, accumulators, "ABC")
    for shape, types, _, _, accumulators, metadata, *_ in SPARSE:
        stem = f"mma.sp.{shape}.{types.split(',')[0]}"
        head = "mma.sp|sp::ordered_metadata.sync.aligned"
        yield from ptx_mma(head, stem, shape, types, accumulators, "ABCE" if metadata else "ABC")
    yield from ptx_volta()
    yield from ptx_matrices()
    yield from ptx_wmma()
    yield from ptx_wgmma()
    for entry in entries:
        if entry.family == "mfma" and entry.operand == "A":
            for word in entry.words.split(","):
                yield f"v_mfma_{word}", operands_of(entry.name[: -len(".A")])


# ---- CUTLASS --------------------------------------------------------------------------------------------------------

LAYOUTS = [  # thread-value layouts that CuTe names
    ("SM80_16x8_Row", "mma.m16n8k16.f16.C"),
    ("SM120_16x8_Row", "mma.m16n8k16.f16.C"),
    ("SM80_8x8_Row", "mma.m8n8k4.f64.C"),
    ("SM80_8x16_Row", "mma.m8n8k16.s8.A"),
    ("SM80_8x4", "mma.m8n8k4.f64.A"),
    ("CLayout_64xN", "wgmma.m64nNk16.f16.D"),
    ("ALayout_64x8", "wgmma.m64nNk8.tf32.A"),
    ("ALayout_64x16", "wgmma.m64nNk16.f16.A"),
    ("ALayout_64x32", "wgmma.m64nNk32.e4m3.A"),
]

PAIRS = {"S8": ("S8", "U8"), "S4": ("S4", "U4"), "E4M3": ("E4M3", "E5M2")}


def atoms(head, accumulators, first, tails, end=lambda a: a):
    """Atoms of all pairs of types: SM80_16x8x32_S32S8U8S32_TN."""
    return [
        f"{head}_{c}{a}{b}{end(c)}{tail}"
        for c in accumulators
        for a in PAIRS[first]
        for b in PAIRS[first]
        for tail in tails
    ]


TN = ("_TN",)
SATURATE = ("_TN", "_TN_SATURATE")
POPC = ("_TN_XORPOPC", "_TN_ANDPOPC")
ATOMS = [  # instruction, its atoms
    ("mma.m8n8k4.f64", ["SM80_8x8x4_F64F64F64F64_TN", "SM80_8x8x4_C64C64C64C64_TN", "SM80_8x8x4_GC64C64C64GC64_TN"]),
    ("mma.m16n8k4.f64", ["SM90_16x8x4_F64F64F64F64_TN", "SM90_16x8x4_C64C64C64C64_TN"]),
    ("mma.m16n8k8.f64", ["SM90_16x8x8_F64F64F64F64_TN", "SM90_16x8x8_C64C64C64C64_TN"]),
    ("mma.m16n8k16.f64", ["SM90_16x8x16_F64F64F64F64_TN", "SM90_16x8x16_C64C64C64C64_TN"]),
    ("mma.m16n8k4.tf32", ["SM80_16x8x4_F32TF32TF32F32_TN"]),
    ("mma.m16n8k8.tf32", ["SM80_16x8x8_F32TF32TF32F32_TN"]),
    (
        "mma.m16n8k8.f16",
        [
            "SM80_16x8x8_F32F16F16F32_TN",
            "SM80_16x8x8_F16F16F16F16_TN",
            "SM80_16x8x8_F32BF16BF16F32_TN",
            "SM75_16x8x8_F32F16F16F32_TN",
        ],
    ),
    (
        "mma.m16n8k16.f16",
        ["SM80_16x8x16_F32F16F16F32_TN", "SM80_16x8x16_F16F16F16F16_TN", "SM80_16x8x16_F32BF16BF16F32_TN"],
    ),
    (
        "mma.m8n8k16.s8",
        atoms("SM80_8x8x16", ["S32"], "S8", SATURATE) + ["SM75_8x8x16_S32S8S8S32_TN"],
    ),
    ("mma.m16n8k16.s8", atoms("SM80_16x8x16", ["S32"], "S8", SATURATE)),
    ("mma.m16n8k32.s8", atoms("SM80_16x8x32", ["S32"], "S8", SATURATE)),
    ("mma.m8n8k32.s4", atoms("SM80_8x8x32", ["S32"], "S4", SATURATE)),
    ("mma.m16n8k32.s4", atoms("SM80_16x8x32", ["S32"], "S4", SATURATE)),
    ("mma.m16n8k64.s4", atoms("SM80_16x8x64", ["S32"], "S4", SATURATE)),
    ("mma.m8n8k128.b1", [f"SM80_8x8x128_S32U1U1S32{tail}" for tail in POPC]),
    ("mma.m16n8k128.b1", [f"SM80_16x8x128_S32U1U1S32{tail}" for tail in POPC]),
    ("mma.m16n8k256.b1", [f"SM80_16x8x256_S32U1U1S32{tail}" for tail in POPC]),
    ("mma.m16n8k32.e4m3", atoms("SM89_16x8x32", ["F32", "F16"], "E4M3", TN) + ["SM120_16x8x32_TN"]),
]

SCALED = [  # instruction, its atoms, operands
    ("mma.m16n8k32.e4m3", "SM120_16x8x32_TN_VS", {"SFA": "SFA_1X", "SFB": "SFB_1X"}, "ABC"),
    ("mma.m16n8k64.e2m1", "SM120_16x8x64_TN_VS", {}, "ABC"),
    ("mma.sp.m16n8k64.e4m3", "SM120_SPARSE_16x8x64_TN", {}, "ABCE"),
    ("mma.sp.m16n8k64.e4m3", "SM120_SPARSE_16x8x64_TN_VS", {"SFA": "SFA_1X", "SFB": "SFB_1X"}, "ABCE"),
    ("mma.sp.m16n8k128.e2m1", "SM120_SPARSE_16x8x128_TN_VS", {}, "ABCE"),
]

COPIES = (
    [(f"SM75_U32x{n}_LDSM_N", f"ldmatrix.x{n}") for n in (1, 2, 4)]
    + [(f"SM75_U16x{2 * n}_LDSM_T", f"ldmatrix.x{n}.trans") for n in (1, 2, 4)]
    + [(f"SM90_U32x{n}_STSM_N", f"stmatrix.x{n}") for n in (1, 2, 4)]
    + [(f"SM90_U16x{2 * n}_STSM_T", f"stmatrix.x{n}.trans") for n in (1, 2, 4)]
    + [(f"SM100_SU{bits}_DU8x16_x{n}_LDSM_N", f"ldmatrix.m8n16.x{n}.b{bits}") for bits in (4, 6) for n in (1, 2, 4)]
    + [(f"SM100_U8x{4 * n}_STSM_T", f"stmatrix.m16n8.x{n}") for n in (1, 2, 4)]
    + [
        (f"SM100_TMEM_LOAD_{cute}1x", f"tcgen05.{shape}")
        for cute, shape in (
            ("32dp32b", "32x32b"),
            ("16dp64b", "16x64b"),
            ("16dp128b", "16x128b"),
            ("16dp256b", "16x256b"),
            ("16dp32b", "16x32bx2"),
        )
    ]
)


def gmma():
    """SS reads A from memory: its atom has C only."""
    for stem, names, tails in (
        ("wgmma.m64nNk8.tf32", ["SM90_64xNx8_F32TF32TF32"], ("_TN",)),
        ("wgmma.m64nNk16.f16", [f"SM90_64xNx16_{types}" for types in ("F32F16F16", "F16F16F16", "F32BF16BF16")], ("",)),
        ("wgmma.m64nNk32.e4m3", atoms("SM90_64xNx32", ["F32", "F16"], "E4M3", ("",), lambda c: ""), ("_TN",)),
        ("wgmma.m64nNk32.s8", atoms("SM90_64xNx32", ["S32"], "S8", ("",), lambda c: ""), SATURATE),
    ):
        for name in names:
            for tail in tails:
                yield f"{name}_SS{tail}", operands_of(stem, "D")
                yield f"{name}_RS{tail}", operands_of(stem, "AD")


def cutlass_names():
    for name, entry in LAYOUTS:
        yield LAYOUT, name, {"": entry}
    for stem, names in ATOMS:
        for name in names:
            yield CUTLASS, name, operands_of(stem)
    for stem, name, scales, letters in SCALED:
        yield CUTLASS, name, operands_of(stem, letters) | {x: f"{stem}.{to}" for x, to in scales.items()}
    for order in ("TN", "NT", "NN", "TT"):  # T: row-major, N: column-major
        a, b = ("row" if order[0] == "T" else "col"), ("row" if order[1] == "T" else "col")
        for c in ("F32", "F16"):
            stem = "mma.m8n8k4.f16"
            letters = {"A": f"{stem}.A_{a}", "B": f"{stem}.B_{b}", "C": f"{stem}.C_{c.lower()}"}
            yield CUTLASS, f"SM70_8x8x4_{c}F16F16{c}_{order}", letters
    for name, entry in COPIES:
        yield CUTLASS, name, {"": entry}
    yield CUTLASS, "SM75_U32x1_MOVM_T", operands_of("movmatrix", "AD")
    for name, operands in gmma():
        yield CUTLASS, name, operands


def all_names(entries):
    return [
        *own_names(entries),
        *short_names(entries),
        *cutlass_names(),
        *((INSTRUCTION, pattern, operands) for pattern, operands in instruction_names(entries)),
    ]
