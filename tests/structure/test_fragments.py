# SPDX-License-Identifier: Apache-2.0
"""The catalogue of fragments: what tools/fragments.py would write is there, and it is what the makers' documents say.

The second half reads src/gpu/register/fragments.inc, decodes the layouts here, and compares every slot with formulas
entered once more, in another form than in the generator: PTX conditions on i, element -> (lane, slot) for AMD, strides
of CuTe for wgmma and tcgen05, and wmma as several mma side by side.
"""

import functools
import re
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tools"))
import fragment_layout  # noqa: E402
import fragments  # noqa: E402

# ---- what the generator would write is there ----


@pytest.mark.parametrize("path", [fragments.INC, fragments.DOC], ids=lambda path: path.name)
def test_the_file_is_what_the_generator_writes(path):
    rows = fragments.finished()
    now = path.read_text()
    wanted = fragments.inc_text(rows) if path == fragments.INC else fragments.doc_text(rows, now)
    assert now == wanted, "run tools/fragments.py"


def entry(shape, count, row, col, **more):
    return fragment_layout.Entry("x.y", "", "f16", "A", "M,K", shape, count, row, col, **more)


@pytest.mark.parametrize(
    "wrong, says",
    [
        (entry((8, 8), 2, "g", "2*t"), "holds an element twice"),
        (entry((8, 8), 2, "g", "2*t + i + 1"), "does not begin with element 0"),
        (entry((8, 8), 2, "g", "3*t + i"), "not"),
        (entry((8, 16), 2, "g", "2*t + i"), "reaches 8 of 16"),
        (entry((16, 8), 2, "g", "2*t + i"), "reaches 8 of 16"),
        (entry((8, 8), 2, "(g + t)%8", "2*t + i"), "moves 2 dims"),
        (entry((8, 8), 2, "(g + i)%8", "2*t"), "not"),
        (entry((8, 8), 4, "g", "(2*t + i*(i/2))%8"), "holds an element twice"),
        (
            entry((8, 16), 4, "g", "2*t + i%2 + 8*((i/2 + g*t)%2)"),
            "lane 5 element 0 is (1, 10), the layout says (1, 2)",
        ),
        (entry((8, 8), 2, "g", "__import__"), "formula"),
    ],
    ids=lambda value: value.row + " ; " + value.col if hasattr(value, "row") else "",
)
def test_a_formula_that_is_no_layout_is_refused(wrong, says):
    with pytest.raises(fragment_layout.NoLayout, match=re.escape(says)):
        fragment_layout.finish(wrong)


def test_replicas_and_expressions():
    layout, text = fragment_layout.finish(entry((16, 16), 16, "lane%16", "i"))
    assert (layout.mode_shape, layout.spatial_modes, layout.local_modes) == ([16, 16], [-2, 0], [1])
    assert text == "replicated(1, 1, num_workers=2).spatial(16, 1).local(1, 16)"
    layout, text = fragment_layout.finish(entry((16, 2), 1, "g + 8*(lane%2)", "(lane/2)%2"))
    assert text == "RegisterLayout(shape=[16, 2], mode_shape=[2, 8, 2], spatial_modes=[1, 2, 0], local_modes=[])"


# ---- fragments.inc, read here ----

ROW = re.compile(r"^TESELA__FRAGMENT\(\((.*)\),\n +\((.*)\)\)$", re.M)


def read_inc():
    rows = {}
    for public, private in ROW.findall(fragments.INC.read_text()):
        texts, numbers = re.findall(r'"([^"]*)"', public), re.findall(r", (\d+)", public)[-4:]
        lists = [[int(x) for x in part.split(",")] for part in re.findall(r"\{([^}]*)\}", private)]
        numbers_of = re.match(r"(\d+), (\d+), (\d+), (\d+), (\d+),", private)
        first, rank, n_modes, n_spatial, n_local = (int(x) for x in numbers_of.groups())
        assert (len(lists[0]), len(lists[1]), len(lists[2])) == (rank, n_modes, n_spatial) and len(lists[3]) in (
            n_local,
            1,
        )
        rows[texts[0]] = {
            "shape": lists[0],
            "mode_shape": lists[1],
            "spatial": lists[2],
            "local": lists[3][:n_local],
            "first": first,
            "texts": texts,
            "bits": int(numbers[0]),
            "threads": int(numbers[1]),
        }
    return rows


INC = read_inc()


def slots(name, n=0):
    """{(lane, i): index} of an entry, and its shape."""
    row = INC[name]
    return slots_of(
        *(
            tuple(part)
            for part in (
                [x or n for x in row["shape"]],
                [x or n // 8 for x in row["mode_shape"]],
                row["spatial"],
                row["local"],
            )
        )
    )


@functools.lru_cache(maxsize=None)
def slots_of(shape, modes, spatial, local):
    def digits(sizes):
        found = [()]
        for size in sizes:
            found = [x + (k,) for x in found for k in range(size)]
        return found

    table = {}
    for lane, outer in enumerate(digits([-m if m < 0 else modes[m] for m in spatial])):
        for i, inner in enumerate(digits([modes[m] for m in local])):
            value = {m: d for m, d in zip(spatial + local, outer + inner) if m >= 0}
            index, m = [], 0
            for extent in shape:
                at, size = 0, 1
                while size < extent:
                    at, size, m = at * modes[m] + value[m], size * modes[m], m + 1
                index.append(at)
            table[lane, i] = tuple(index)
    return table, shape


def agrees(name, count, formula, n=0, block=None):
    """Every slot of an entry against formula(lane, i) -> (row, column)."""
    table, _ = slots(name, n)
    threads = INC[name]["threads"]
    assert len(table) == threads * count, name
    for (lane, i), index in table.items():
        want = tuple(formula(lane, i))
        if block:
            want = (block(lane, i),) + want
        assert index == want, f"{name}: lane {lane} element {i}"
    CHECKED.add(name)


CHECKED = set()


def test_first_is_the_first_row_of_the_same_layout():
    seen = {}
    for number, row in enumerate(INC.values()):
        key = str([row[part] for part in ("shape", "mode_shape", "spatial", "local", "threads")])
        assert row["first"] == seen.setdefault(key, number)


def test_every_row_is_read():
    assert len(INC) == len(fragments.entries()) == len(re.findall(r"^TESELA__FRAGMENT\(", fragments.INC.read_text(), re.M))


# ---- mma, from PTX ISA, "Matrix Fragments for mma..." ----


def either(condition, other):
    return other if condition else 0


def ptx_c(tall):
    """groupID for ci where i < 2, groupID + 8 for i >= 2; (threadID_in_group * 2) + (i & 0x1)."""
    return lambda lane, i: ((lane >> 2) + either(tall and i >= 2, 8), (lane % 4) * 2 + (i & 1))


def ptx_b(lane, i, per):
    """per elements of a register side by side: (threadID_in_group * per) + (i & (per-1)), + 4*per a register."""
    return (lane % 4) * per + (i & (per - 1)) + 4 * per * (i // per), lane >> 2


# A: i ranges where row is groupID (else + 8), elements of a register, first i of the columns' upper half
PTX_A = {
    "m8n8k4.f64": ([(0, 1)], 1, None),
    "m8n8k16.s8": ([(0, 4)], 4, None),
    "m8n8k32.s4": ([(0, 8)], 8, None),
    "m8n8k128.b1": ([(0, 32)], 32, None),
    "m16n8k4.tf32": ([(0, 1)], 1, None),
    "m16n8k4.f64": ([(0, 1)], 1, None),
    "m16n8k8.f16": ([(0, 2)], 2, None),
    "m16n8k8.tf32": ([(0, 1), (2, 3)], 1, 2),
    "m16n8k8.f64": ([(0, 1), (2, 3)], 1, 2),
    "m16n8k16.f16": ([(0, 2), (4, 6)], 2, 4),
    "m16n8k16.s8": ([(0, 4)], 4, None),
    "m16n8k16.e4m3": ([(0, 4)], 4, None),
    "m16n8k32.s8": ([(0, 4), (8, 12)], 4, 8),
    "m16n8k32.e4m3": ([(0, 4), (8, 12)], 4, 8),
    "m16n8k32.s4": ([(0, 8)], 8, None),
    "m16n8k64.s4": ([(0, 8), (16, 24)], 8, 16),
    "m16n8k64.e2m1": ([(0, 8), (16, 24)], 8, 16),
    "m16n8k128.b1": ([(0, 32)], 32, None),
    "m16n8k256.b1": ([(0, 32), (64, 96)], 32, 64),
}


def test_mma():
    for name, (upper, per, half) in PTX_A.items():
        m, k = map(int, re.match(r"m(\d+)n8k(\d+)", name).groups())

        def a(lane, i, upper=upper, per=per, half=half):
            row = (lane >> 2) + either(not any(lo <= i < hi for lo, hi in upper), 8)
            return row, (lane % 4) * per + (i & (per - 1)) + either(half is not None and i >= half, 4 * per)

        agrees(f"mma.{name}.A", m * k // 32, a)
        agrees(f"mma.{name}.B", k * 8 // 32, lambda lane, i, per=per: ptx_b(lane, i, per))
        agrees(f"mma.{name}.C", m * 8 // 32, ptx_c(m == 16))
    agrees(
        "mma.m16n8k16.f64.A",
        8,
        lambda lane, i: ((lane >> 2) + either(i % 2, 8), (i * 2 if i % 2 == 0 else i * 2 - 2) + lane % 4),
    )
    agrees("mma.m16n8k16.f64.B", 4, lambda lane, i: (lane % 4 + i * 4, lane >> 2))
    agrees("mma.m16n8k16.f64.C", 4, ptx_c(True))


def test_mma_of_volta():
    up = [0] * 16 + [4] * 16
    pairs = [set(range(4 * q, 4 * q + 4)) | set(range(16 + 4 * q, 20 + 4 * q)) for q in range(4)]

    def pair(lane, i):
        return next(q for q in range(4) if lane in pairs[q])

    for operand, count, formula in (
        ("A_row", 4, lambda lane, i: (lane % 4 + up[lane], i)),
        ("A_col", 4, lambda lane, i: (i + up[lane], lane % 4)),
        ("B_row", 4, lambda lane, i: (lane % 4, i + up[lane])),
        ("B_col", 4, lambda lane, i: (i, lane % 4 + up[lane])),
        ("C_f16", 8, lambda lane, i: (lane % 4 + up[lane], i)),
        (
            "C_f32",
            8,
            lambda lane, i: ((lane & 1) + up[lane] + either(i in (2, 3, 6, 7), 2), (i & 4) + (lane & 2) + (i & 1)),
        ),
    ):
        agrees(f"mma.m8n8k4.f16.{operand}", count, formula, block=pair)


# ---- mma.sp, from PTX ISA, "Matrix fragments for multiply-accumulate operation with sparse matrix A" ----

# A: i ranges where row is groupID (else + 8); firstcol is threadID_in_group * wide, + half for i >= from
SPARSE_A = {
    "m16n8k16.f16": ([(0, 2)], 4, None, 0),
    "m16n8k32.f16": ([(0, 2), (4, 6)], 4, 4, 16),
    "m16n8k8.tf32": ([(0, 1)], 2, None, 0),
    "m16n8k16.tf32": ([(0, 1), (2, 3)], 2, 2, 8),
    "m16n8k32.s8": ([(0, 4)], 8, None, 0),
    "m16n8k64.s8": ([(0, 4), (8, 12)], 8, 8, 32),
    "m16n8k64.e4m3": ([(0, 4), (8, 12)], 8, 8, 32),
    "m16n8k64.s4": ([(0, 8)], 16, None, 0),
    "m16n8k128.s4": ([(0, 8), (16, 24)], 16, 16, 64),
    "m16n8k128.e2m1": ([(0, 8), (16, 24)], 16, 16, 64),
}


def test_sparse():
    for name, (upper, wide, start, half) in SPARSE_A.items():
        k = int(re.search(r"k(\d+)", name)[1])
        per = wide // 2  # elements of a register, stored for `wide` columns

        def a(lane, i, upper=upper, wide=wide, start=start, half=half, per=per):
            row = (lane >> 2) + either(not any(lo <= i < hi for lo, hi in upper), 8)
            first = (lane % 4) * wide + either(start is not None and i >= start, half)
            return row, first // 2 + i % per  # half of the columns before firstcol are stored

        agrees(f"mma.sp.{name}.A", 16 * k // 64, a)
        agrees(f"mma.sp.{name}.B", k * 8 // 32, lambda lane, i, per=per: ptx_b(lane, i, per))
        agrees(f"mma.sp.{name}.C", 4, ptx_c(True))


def found_at(name, where):
    """Every element of an entry against where(index) -> (lane, i)."""
    table, _ = slots(name)
    for slot, index in table.items():
        assert where(*index) == slot, f"{name}: element {index}"
    CHECKED.add(name)


def test_metadata():
    """The thread-pair of 16x8x32 as MLIR's test of mma.sp loads it; all four threads as in CuTe's mma_traits_sm120_sparse."""
    for name, n in (("m16n8k32.f16", 8), ("m16n8k16.tf32", 4)):  # n indices of a row fill 16 bits
        found_at(
            f"mma.sp.{name}.E",
            lambda s, row, k, n=n: (4 * (row % 8) + 2 * s + k // n, (row // 8) * n + k % n),
        )
    for name, n in (("m16n8k16.f16", 8), ("m16n8k8.tf32", 4)):  # half of that: one thread
        found_at(f"mma.sp.{name}.E", lambda s, row, k, n=n: (4 * (row % 8) + s, (row // 8) * n + k))
    for name, k, columns in (("m16n8k64.s8", 64, 2), ("m16n8k64.e4m3", 64, 2), ("m16n8k128.s4", 128, 4), ("m16n8k128.e2m1", 128, 4)):
        full = cute([(2, 8), (2, 8 * k), (8, 1)], [(k // 2, 16)], 16, True)  # to (row, column of A)
        for i in range(k // 2):
            for lane in range(32):
                row, column = full(lane, i)
                assert slots(f"mma.sp.{name}.E")[0][lane, i // columns] == (row, column // columns)
        CHECKED.add(f"mma.sp.{name}.E")


def test_scales():
    """Row m of A comes from lane 4*(m % 8) + 2*thread-id + m / 8, column n of B from lane 4*n + thread-id; bytes from byte-id."""
    for stem, size in (("mma.m16n8k32.e4m3", 1), ("mma.m16n8k64.e2m1", 2), ("mma.m16n8k64.e2m1", 4)):
        for name in (stem, {"mma.m16n8k32.e4m3": "mma.sp.m16n8k64.e4m3"}.get(stem, "mma.sp.m16n8k128.e2m1")):
            each = 4 // size  # byte-ids
            found_at(
                f"{name}.SFA_{size}X",
                lambda s, m, k, each=each, size=size: (4 * (m % 8) + 2 * (s // each) + m // 8, size * (s % each) + k),
            )
            found_at(
                f"{name}.SFB_{size}X",
                lambda s, k, n, each=each, size=size: (4 * n + s // each, size * (s % each) + k),
            )


# ---- ldmatrix and stmatrix of 8 bits, from CuTe's copy_traits_sm100: bits of shared memory, 128 to an address ----


def number(x, digits):
    total = 0
    for size, stride in digits:
        total, x = total + x % size * stride, x // size
    return total


def test_wide_matrices():
    for n in (1, 2):
        lines = {number(lane, [(2, 128), (2, 1024), (4, 256), (2, 2048)]) // 128: lane for lane in range(16 * n)}

        def loaded(lane, i, lines=lines):
            matrix, byte = divmod(i, 8)
            moved = (0, 1, 4, 5, 2, 3, 6, 7)[byte]  # CuTe's copy moves the bytes of r0 and r1 after the load
            at = number(lane, [(4, 256), (8, 8)]) + number(8 * (moved + 8 * matrix), [(8, 1), (2, 128), (2, 64), (4, 1024)])
            return lines[at // 128], at % 128 // 8

        for suffix in ("", ".b6", ".b4"):
            agrees(f"ldmatrix.m16n16.x{n}{suffix}", 8 * n, loaded)
    for n in (1, 2, 4):

        def plain(lane, i):
            at = number(lane, [(32, 32)]) + number(8 * i, [(32, 1), (4, 1024)])
            return at // 128, at % 128 // 8

        def stored(lane, i):
            at = number(lane, [(4, 256), (8, 8)]) + number(8 * i, [(8, 1), (2, 128), (2, 64), (4, 1024)])
            return at // 128, at % 128 // 8

        for suffix in (".b6", ".b4"):
            agrees(f"ldmatrix.m8n16.x{n}{suffix}", 4 * n, plain)
        agrees(f"stmatrix.m16n8.x{n}", 4 * n, stored)


# ---- ldmatrix, stmatrix, movmatrix: lane T has 32 bits of row T / 4, register r is matrix r ----


def test_matrices():
    for family in ("ldmatrix", "stmatrix"):
        for n in (1, 2, 4):
            agrees(f"{family}.x{n}.trans", 2 * n, lambda lane, i: (8 * (i >> 1) + 2 * (lane & 3) + (i & 1), lane >> 2))
            for suffix, per in (("", 2), (".b8", 4), (".b32", 1)):
                agrees(
                    f"{family}.x{n}{suffix}",
                    per * n,
                    lambda lane, i, per=per: (8 * (i // per) + (lane >> 2), per * (lane & 3) + i % per),
                )
    agrees("movmatrix.A", 2, lambda lane, i: (lane >> 2, 2 * (lane & 3) + i))
    agrees("movmatrix.D", 2, lambda lane, i: (2 * (lane & 3) + i, lane >> 2))


# ---- wgmma and tcgen05, from CuTe: shape and stride of (thread digits), (value digits), fastest first ----


def cute(thread, value, rows, row_fastest, unit=1):
    """formula(lane, i) of a thread-value layout whose result numbers the elements of a matrix."""

    def formula(lane, i):
        at = number(lane, thread) + number(i * unit, value)
        assert at % unit == 0
        at //= unit
        return (at % rows, at // rows) if row_fastest else (at // rows, at % rows)  # rows: of a line else

    return formula


def test_wgmma():
    for n in range(8, 257, 8):
        for kind in ("k8.tf32", "k16.f16", "k32.e4m3", "k32.s8", "k256.b1"):
            agrees(
                f"wgmma.m64nN{kind}.D",
                n // 2,
                cute([(4, 128), (8, 1), (4, 16)], [(2, 64), (2, 8), (n // 8, 512)], 64, True),
                n=n,
            )
    agrees("wgmma.m64nNk8.tf32.A", 4, cute([(4, 64), (8, 1), (4, 16)], [(2, 8), (2, 256)], 64, True))
    agrees("wgmma.m64nNk16.f16.A", 8, cute([(4, 128), (8, 1), (4, 16)], [(2, 64), (2, 8), (2, 512)], 64, True))
    for kind in ("e4m3", "s8"):
        agrees(
            f"wgmma.m64nNk32.{kind}.A", 16, cute([(4, 256), (8, 1), (4, 16)], [(4, 64), (2, 8), (2, 1024)], 64, True)
        )


def test_tcgen05():
    for name, columns, thread, value in (
        ("32x32b", 1, [(32, 32)], [(32, 1)]),
        ("16x64b", 2, [(2, 512), (2, 32), (8, 64)], [(32, 1)]),
        ("16x128b", 4, [(4, 32), (8, 128)], [(32, 1), (2, 1024)]),
        ("16x256b", 8, [(4, 64), (8, 256)], [(64, 1), (2, 2048)]),
        ("16x32bx2", 2, [(16, 64), (2, 32)], [(32, 1)]),
    ):
        count = 16 * columns // 32 if name != "32x32b" else 1
        agrees(f"tcgen05.{name}", count, cute(thread, value, columns, False, unit=32))


# ---- the atoms of CUTLASS: thread digits and value digits of A (M,K), B (N,K) and C (M,N), as its traits have them ----

ROW16 = [(4, 32), (8, 1)], [(2, 16), (2, 8)]
ROW8 = [(4, 16), (8, 1)], [(2, 8)]
ATOM_TRAITS = {  # the part of a name after SM80_: (A, B, C)
    "8x8x4_F64F64F64F64_TN": (([(4, 8), (8, 1)], []), ([(4, 8), (8, 1)], []), ROW8),
    "16x8x4_F64F64F64F64_TN": (([(4, 16), (8, 1)], [(2, 8)]), ([(4, 8), (8, 1)], []), ROW16),
    "16x8x8_F64F64F64F64_TN": (([(4, 16), (8, 1)], [(2, 8), (2, 64)]), ([(4, 8), (8, 1)], [(2, 32)]), ROW16),
    "16x8x16_F64F64F64F64_TN": (([(4, 16), (8, 1)], [(2, 8), (4, 64)]), ([(4, 8), (8, 1)], [(4, 32)]), ROW16),
    "16x8x4_F32TF32TF32F32_TN": (([(4, 16), (8, 1)], [(2, 8)]), ([(4, 8), (8, 1)], []), ROW16),
    "16x8x8_F32TF32TF32F32_TN": (([(4, 16), (8, 1)], [(2, 8), (2, 64)]), ([(4, 8), (8, 1)], [(2, 32)]), ROW16),
    "16x8x8_F32F16F16F32_TN": (ROW16, ROW8, ROW16),
    "16x8x16_F32F16F16F32_TN": (
        ([(4, 32), (8, 1)], [(2, 16), (2, 8), (2, 128)]),
        ([(4, 16), (8, 1)], [(2, 8), (2, 64)]),
        ROW16,
    ),
    "8x8x16_S32S8S8S32_TN": (([(4, 32), (8, 1)], [(4, 8)]), ([(4, 32), (8, 1)], [(4, 8)]), ROW8),
    "16x8x16_S32S8S8S32_TN": (([(4, 64), (8, 1)], [(4, 16), (2, 8)]), ([(4, 32), (8, 1)], [(4, 8)]), ROW16),
    "16x8x32_S32S8S8S32_TN": (
        ([(4, 64), (8, 1)], [(4, 16), (2, 8), (2, 256)]),
        ([(4, 32), (8, 1)], [(4, 8), (2, 128)]),
        ROW16,
    ),
    "16x8x32_F32E4M3E4M3F32_TN": (
        ([(4, 64), (8, 1)], [(4, 16), (2, 8), (2, 256)]),
        ([(4, 32), (8, 1)], [(4, 8), (2, 128)]),
        ROW16,
    ),
    "8x8x32_S32S4S4S32_TN": (([(4, 64), (8, 1)], [(8, 8)]), ([(4, 64), (8, 1)], [(8, 8)]), ROW8),
    # CUTLASS has a thread stride of 32 for B of 16x8x32, with which threads would overlap; 64 is that of the instruction
    "16x8x32_S32S4S4S32_TN": (([(4, 128), (8, 1)], [(8, 16), (2, 8)]), ([(4, 64), (8, 1)], [(8, 8)]), ROW16),
    "16x8x64_S32S4S4S32_TN": (
        ([(4, 128), (8, 1)], [(8, 16), (2, 8), (2, 512)]),
        ([(4, 64), (8, 1)], [(8, 8), (2, 256)]),
        ROW16,
    ),
    "8x8x128_S32U1U1S32_TN_XORPOPC": (([(4, 256), (8, 1)], [(32, 8)]), ([(4, 256), (8, 1)], [(32, 8)]), ROW8),
    "16x8x128_S32U1U1S32_TN_XORPOPC": (
        ([(4, 512), (8, 1)], [(32, 16), (2, 8)]),
        ([(4, 256), (8, 1)], [(32, 8)]),
        ROW16,
    ),
    "16x8x256_S32U1U1S32_TN_XORPOPC": (
        ([(4, 512), (8, 1)], [(32, 16), (2, 8), (2, 2048)]),
        ([(4, 256), (8, 1)], [(32, 8), (2, 1024)]),
        ROW16,
    ),
}
SAME_TRAITS = [  # what CUTLASS derives from another atom: other types, other rounding, complex numbers
    (r"SM75_", "SM80_"),
    (r"_C64C64C64C64_|_GC64C64C64GC64_", "_F64F64F64F64_"),
    (r"_SATURATE$", ""),
    (r"ANDPOPC", "XORPOPC"),
    (r"F16F16F16F16|F32BF16BF16F32", "F32F16F16F32"),
    (r"S32[SU]8[SU]8S32", "S32S8S8S32"),
    (r"S32[SU]4[SU]4S32", "S32S4S4S32"),
    (r"F(?:16|32)E[45]M[23]E[45]M[23]F(?:16|32)", "F32E4M3E4M3F32"),
]
NAME = re.compile(r'^TESELA__FRAGMENT_NAME\((\d), "([^"]*)", "([^"]*)", \{([0-9, ]*)\}\)$', re.M)
NAMES = [
    (int(naming), pattern, dict(zip(operands.split(","), map(int, numbers.split(",")))))
    for naming, pattern, operands, numbers in NAME.findall(fragments.INC.read_text())
]


def test_atoms():
    entries_of, compared = list(INC), 0
    for naming, name, operands in NAMES:
        if naming != 2 or not re.match(r"SM(75|80|89|90)_(8x8|16x8)x", name):
            continue
        like = name
        for pattern, other in SAME_TRAITS:
            like = re.sub(pattern, other, like)
        traits = ATOM_TRAITS[like.split("_", 1)[1]]
        m, n, k = map(int, re.search(r"_(\d+)x(\d+)x(\d+)_", name).groups())
        for operand, (thread, value), rows in zip("ABC", traits, (m, n, m)):
            entry = entries_of[operands[operand]]
            flip = operand == "B"
            formula = cute(thread, value, rows, True)
            table, _ = slots(entry)
            assert len(table) == 32 * (m * k if operand == "A" else n * k if flip else m * n) // 32
            for (lane, i), index in table.items():
                assert index == (formula(lane, i)[::-1] if flip else formula(lane, i)), f"{name}.{operand}"
            compared += 1
    assert compared == 3 * 81


def test_named_layouts():
    """The layouts that CuTe names, by the digits in mma_traits_sm80.hpp and mma_traits_sm90_gmma.hpp."""
    entries_of = list(INC)
    named = {name: entries_of[operands[""]] for naming, name, operands in NAMES if naming == 1}
    for name, thread, value, rows in (
        ("SM80_8x4", [(4, 8), (8, 1)], [], 8),
        ("SM80_8x8_Row", *ROW8, 8),
        ("SM80_8x16_Row", [(4, 32), (8, 1)], [(4, 8)], 8),
        ("SM80_16x8_Row", *ROW16, 16),
        ("SM120_16x8_Row", *ROW16, 16),
        ("ALayout_64x8", [(4, 64), (8, 1), (4, 16)], [(2, 8), (2, 256)], 64),
        ("ALayout_64x16", [(4, 128), (8, 1), (4, 16)], [(2, 64), (2, 8), (2, 512)], 64),
        ("ALayout_64x32", [(4, 256), (8, 1), (4, 16)], [(4, 64), (2, 8), (2, 1024)], 64),
        ("CLayout_64xN", [(4, 128), (8, 1), (4, 16)], [(2, 64), (2, 8), (16, 512)], 64),
    ):
        formula = cute(thread, value, rows, True)
        table, _ = slots(named.pop(name), 128)
        assert all(index == formula(lane, i) for (lane, i), index in table.items()), name
    assert not named


# ---- wmma: several mma side by side; m8n32k16 is the product of the transposes ----


def test_wmma():
    for kind in ("f16", "s8"):
        a, b, c = (slots(f"mma.m16n8k16.{kind}.{operand}")[0] for operand in "ABC")
        name = f"wmma.m16n16k16.{kind}"
        agrees(f"{name}.A", 8, lambda lane, i: a[lane, i])
        agrees(f"{name}.B", 8, lambda lane, i: (b[lane, i % 4][0], b[lane, i % 4][1] + 8 * (i // 4)))
        agrees(f"{name}.C", 8, lambda lane, i: (c[lane, i % 4][0], c[lane, i % 4][1] + 8 * (i // 4)))
        name = f"wmma.m32n8k16.{kind}"
        agrees(f"{name}.A", 16, lambda lane, i: (a[lane, i % 8][0] + 16 * (i // 8), a[lane, i % 8][1]))
        agrees(f"{name}.B", 4, lambda lane, i: b[lane, i])
        agrees(f"{name}.C", 8, lambda lane, i: (c[lane, i % 4][0] + 16 * (i // 4), c[lane, i % 4][1]))
        name = f"wmma.m8n32k16.{kind}"
        agrees(f"{name}.A", 4, lambda lane, i: b[lane, i][::-1])
        agrees(f"{name}.B", 16, lambda lane, i: (a[lane, i % 8][1], a[lane, i % 8][0] + 16 * (i // 8)))
        agrees(f"{name}.C", 8, lambda lane, i: (c[lane, i % 4][1], c[lane, i % 4][0] + 16 * (i // 4)))
    a, b, c = (slots(f"mma.m16n8k8.tf32.{operand}")[0] for operand in "ABC")
    agrees("wmma.m16n16k8.tf32.A", 4, lambda lane, i: a[lane, i])
    agrees("wmma.m16n16k8.tf32.B", 4, lambda lane, i: (b[lane, i % 2][0], b[lane, i % 2][1] + 8 * (i // 2)))
    agrees("wmma.m16n16k8.tf32.C", 8, lambda lane, i: (c[lane, i % 4][0], c[lane, i % 4][1] + 8 * (i // 4)))
    for kind, count in (("m8n8k4.f64", 1), ("m8n8k32.s4", 8), ("m8n8k128.b1", 32)):
        for operand in "ABC":
            held = slots(f"mma.{kind}.{operand}")[0]
            agrees(f"wmma.{kind}.{operand}", 2 if operand == "C" else count, lambda lane, i, held=held: held[lane, i])


# ---- AMD: where each element is, from the instruction set documents ----


def holds(name, block, row, col, lane, slot):
    """Element (block, row, col) is in this lane at this slot?"""
    table, shape = slots(name)
    index = (block, row, col) if len(shape) == 3 else (row, col)
    assert table[lane, slot] == index, f"{name}: element {index} in lane {lane} slot {slot}"
    CHECKED.add(name)


MFMA = re.compile(r"mfma\.(f32|i32|f64)_(\d+)x\d+x(\d+)(?:_(\d+)b)?_?.*\.([ABC])$")


@pytest.mark.parametrize("name", [name for name in INC if name.startswith("mfma.")])
def test_mfma(name):
    kind, m, k, blocks, operand = MFMA.match(name).groups()
    m, k, blocks = int(m), int(k), int(blocks or 1)
    if re.search(r"\dbf16\.", name):  # f32_32x32x4bf16, no _ before the type: the instructions of gfx908
        blocks = {(32, 2): 2, (16, 2): 4, (4, 2): 16}.get((m, k), 1)
    per, count = m * k * blocks // 64, 0  # neighbouring k of a lane
    for block in range(blocks):
        for x in range(m):
            if operand == "C":
                for y in range(m):
                    if kind == "f64":
                        lane, slot = (16 * (x % 4) + y, x // 4) if m == 16 else (16 * x + 4 * block + y, 0)
                    elif m == 32:
                        lane, slot = 32 * (x // 4) % 64 + y, 16 * block + 4 * (x // 8) + x % 4
                    elif m == 16:
                        lane, slot = 16 * (x // 4) + y, 4 * block + x % 4
                    else:
                        lane, slot = 4 * block + y, x
                    holds(name, block, x, y, lane, slot)
                    count += 1
            else:
                for z in range(k):
                    if name.startswith("mfma.f64_4x4"):
                        lane, slot = 16 * z + 4 * block + x, 0
                    elif blocks > 1:
                        lane, slot = m * block + x, z
                    else:
                        lane, slot = m * (z // per) + x, z % per
                    holds(name, block, *((x, z) if operand == "A" else (z, x)), lane, slot)
                    count += 1
    assert count == len(slots(name)[0])


@pytest.mark.parametrize("name", [name for name in INC if name.startswith("amd_wmma.")])
def test_amd_wmma(name):
    _, arch, instruction, operand = name.split(".")
    k = int(re.search(r"16x16x(\d+)", instruction)[1])
    wide = instruction.split("_")[2] in ("f16", "bf16")
    found = set()
    for x in range(16):
        for z in range(16 if operand == "C" else k):
            if operand == "C":
                lanes, slot = ([z + 16 * (x % 2)], x // 2) if arch == "gfx11" else ([z + 16 * (x // 8)], x % 8)
            elif arch == "gfx11":
                lanes, slot = [x, x + 16], z
            elif wide:
                lanes, slot = [x + 16 * (z // 4 % 2)], z % 4 + 4 * (z // 8)
            else:
                lanes, slot = [x + 16 * (z // (k // 2))], z % (k // 2)
            for lane in lanes:
                holds(name, 0, *((z, x) if operand == "B" else (x, z)), lane, slot)
                found.add((lane, slot))
    assert found == set(slots(name)[0])


def test_every_entry_was_compared():
    """After the tests above: nothing in the catalogue rests on the generator alone."""
    assert CHECKED, "this test follows the others of the file"
    assert sorted(set(INC) - CHECKED) == []


@pytest.mark.parametrize(
    "name, lists, test, says",
    [
        ("mma.m16n8k16.f16.A", {"local": [0, 2, 4]}, test_mma, "lane 0 element 2"),  # rows before columns
        ("mma.sp.m16n8k32.f16.A", {"local": [0, 2, 4]}, test_sparse, "lane 0 element 2"),
        ("mma.sp.m16n8k32.f16.E", {"spatial": [2, 3, 0]}, test_metadata, "element"),  # the pair before the selector
        ("mma.sp.m16n8k64.s8.E", {"spatial": [1, 0, 2]}, test_metadata, "assert"),  # columns before rows
        ("mma.m16n8k64.e2m1.SFA_2X", {"local": [4, 1]}, test_scales, "element"),  # bytes in the other order
        ("ldmatrix.m16n16.x1", {"local": [1, 2]}, test_wide_matrices, "lane 0 element"),
        ("stmatrix.m16n8.x2", {"local": [3, 0, 2]}, test_wide_matrices, "lane 0 element"),
    ],
)
def test_a_planted_fault_is_found(monkeypatch, name, lists, test, says):
    assert all(sorted(INC[name][part]) == sorted(order) for part, order in lists.items())
    monkeypatch.setitem(INC, name, dict(INC[name], **lists))
    with pytest.raises(AssertionError, match=says):
        test()
