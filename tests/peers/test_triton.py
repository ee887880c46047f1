# SPDX-License-Identifier: Apache-2.0
"""Triton's encodings: the bases that tesela finds against Triton's own LinearLayout, on seeded random encodings.

Each kind: the ranks that it has, shapes smaller and larger than the tile, several blocks; a sweep goes on until each of these cells
has LEAST cases. Every layout is asked as Gluon's repr and as the attribute that Triton prints. What Triton refuses, tesela may read or
refuse; what Triton reads, tesela must read, to the same bases. Triton ends the process for some layouts that it does not support, so
each is asked in a child. test_triton_views.py compares places, element by element.

TESELA_COMMAND is the command (default: build/release/tesela), TESELA_SEED the seed, TESELA_CASES the cases of a kind (default: 200).
"""

import json
import os
import random
import re
import subprocess
from collections import Counter

from counts import cases_of_run, counted, known_error, tables
from triton._C.libtriton import gluon_ir, ir, nvidia
from triton.experimental.gluon.language._layouts import (
    BlockedLayout,
    DistributedLinearLayout,
    DotOperandLayout,
    NVMMADistributedLayout,
    NVMMASharedLayout,
    PaddedSharedLayout,
    SharedLinearLayout,
    SliceLayout,
    SwizzledSharedLayout,
)
from triton.experimental.gluon.language.amd._layouts import AMDMFMALayout, AMDWMMALayout
from triton.experimental.gluon.language.nvidia.blackwell import TensorMemoryLayout, TensorMemoryScalesLayout
from worker import Worker

CASES = cases_of_run(200)
SEED = int(os.environ.get("TESELA_SEED", "1"), 0)
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LEAST = 8
TESELA = os.environ.get("TESELA_COMMAND", os.path.join(ROOT, "build", "release", "tesela"))

context = ir.context()
ir.load_dialects(context)
nvidia.load_dialects(context)
builder = gluon_ir.GluonOpBuilder(context)


# ---- Triton ----


PEER = Worker()


MEMORY = (SwizzledSharedLayout, NVMMASharedLayout, PaddedSharedLayout, SharedLinearLayout)
TENSOR = (TensorMemoryLayout, TensorMemoryScalesLayout)


def bases_of(layout, shape):
    """Triton's bases, by the names that tesela uses."""
    found = builder.to_linear_layout(layout._to_ir(builder), list(shape))
    if hasattr(found, "reg_bases"):
        return {
            "register": found.reg_bases,
            "lane": found.lane_bases,
            "warp": found.warp_bases,
            "block": found.block_bases,
        }
    if hasattr(found, "rows"):
        return {"row": found.rows, "col": found.cols}
    return {"offset": found.offset_bases, "block": found.block_bases}


def loses_bits(layout):
    """Triton 3.9 (docs/peers.md) loses bits of nvmma_shared with 3 or more dims, transposed and without a swizzle: for [16,4,16] two of twelve
    bases are 0, and no order of the dims has the others. tesela refuses these."""
    return (
        isinstance(layout, NVMMASharedLayout)
        and layout.rank > 2
        and layout.transposed
        and layout.swizzle_byte_width == 0
    )


def attribute_of(layout, shape):
    """The text that Triton prints: definitions of aliases, and a type."""
    module = builder.create_module()
    encoding, element = layout._to_ir(builder), builder.get_half_ty()
    if isinstance(layout, TENSOR):
        kind = builder.get_tensor_mem_desc_ty(element, list(shape), encoding, list(shape))
    elif isinstance(layout, MEMORY):
        kind = builder.get_shared_mem_desc_ty(element, list(shape), encoding, list(shape))
    else:
        kind = builder.get_distributed_ty(element, list(shape), encoding)
    module.push_back(builder.get_or_insert_function(module, "f", builder.get_function_ty([kind], []), "public", False))
    text = str(module)
    lines = [line for line in text.split("\n") if re.match(r"#[a-z_0-9]+ = #", line)]
    return "\n".join(lines + [re.search(r"function_type = \((.*)\) -> \(\)", text).group(1)])


# ---- random layouts ----


def power(rng, most):
    return 1 << rng.randint(0, most)


def parts(rng, rank, bits):
    """Powers of two, one per dim, whose product has so many bits."""
    counts = [1] * rank
    for _ in range(bits):
        counts[rng.randrange(rank)] *= 2
    return counts


def order_of(rng, rank):
    return rng.sample(range(rank), rank)


def shape_of(rng, rank, bits):
    return [power(rng, bits) for _ in range(rank)]


def cga_of(rng, rank, chance=0.35):
    """Bases of blocks: each covers the next bit of a dim, or nothing."""
    if rng.random() > chance:
        return []
    size, bases = [1] * rank, []
    for _ in range(rng.randint(1, 3)):
        basis = [0] * rank
        if rng.random() < 0.8:
            d = rng.randrange(rank)
            basis[d] = size[d]
            size[d] *= 2
        bases.append(basis)
    return bases


def blocked(rng, rank=None):
    rank = rank or rng.randint(1, 4)
    layout = BlockedLayout(
        parts(rng, rank, rng.randint(0, 4)),
        parts(rng, rank, rng.choice([5, 5, 6])),
        parts(rng, rank, rng.randint(0, 3)),
        order_of(rng, rank),
        cga_of(rng, rank),
    )
    return layout, shape_of(rng, rank, 16 // rank)


def mma2(rng):
    rank = rng.choice([2, 2, 3])
    instr = [1] * (rank - 2) + rng.choice([[16, 8], [16, 8], [8, 8]])
    layout = NVMMADistributedLayout([2, 0], parts(rng, rank, rng.randint(0, 3)), instr, cga_of(rng, rank))
    return layout, [1 << rng.randint(0, 8 if d >= rank - 2 else 3) for d in range(rank)]


def mma3(rng):
    warps = rng.choice([[4, 1], [8, 1], [4, 2]])
    layout = NVMMADistributedLayout([3, 0], warps, [16, 8 << rng.randint(0, 5), 16], cga_of(rng, 2))
    return layout, [1 << rng.randint(0, 8) for _ in range(2)]


def mma(rng):
    return rng.choice([mma2, mma3])(rng)


def mfma(rng, operand=False):
    rank = rng.choice([2, 2, 3])
    m, n = rng.choice([(32, 32), (16, 16), (64, 4), (4, 64)])
    transposed = rng.random() < 0.5 or (m == 64 and not operand)
    tiles = None
    if rng.random() < 0.4:
        tiles = [1] * (rank - 2) + [power(rng, 2), power(rng, 2)]
    bits = 64 if m == n and rng.random() < 0.2 and not operand else None
    layout = AMDMFMALayout(
        rng.randint(1, 4),
        [m, n, 8],
        transposed,
        parts(rng, rank, rng.randint(0, 3)),
        bits,
        tiles,
        cga_of(rng, rank, 0.25),
    )
    return layout, [1 << rng.randint(0, 9 if d >= rank - 2 else 3) for d in range(rank)]


def wmma(rng):
    rank = rng.choice([2, 2, 3])
    version = rng.randint(1, 3)
    size, warps, registers = [1] * rank, [], []
    for bases, n in ((registers, rng.choice([0, 0, 1, 2])), (warps, rng.randint(1, 3))):
        for _ in range(n):
            d = rng.randrange(rank - 2, rank)
            bases.append([size[d] if i == d else 0 for i in range(rank)])
            size[d] *= 2
    if rank == 3 and rng.random() < 0.5:
        warps.append([1, 0, 0])
    for basis in warps:  # a swizzled warp also moves what a register moves
        if registers and rng.random() < 0.4:
            basis[:] = [a ^ b for a, b in zip(basis, rng.choice(registers))]
    shape = [16, 16, 16]
    if version == 3:
        shape = rng.choice([[16, 16, 4], [16, 16, 32], [16, 16, 64], [16, 16, 128], [32, 16, 128]])
    layout = AMDWMMALayout(
        version, rng.random() < 0.5, warps, registers, shape, cga_of(rng, rank, 0.25), rank
    )
    return layout, [1 << rng.randint(0, 8 if d >= rank - 2 else 3) for d in range(rank)]


def operand_of(rng, kind):
    layout, shape = kind(rng) if kind is not mfma else mfma(rng, True)
    if isinstance(layout, BlockedLayout):
        width = 0
    elif isinstance(layout, AMDWMMALayout):
        width = rng.choice([[16, 8], [4, 8, 16], [1, 2, 4, 8, 16]][layout.version - 1])
    elif isinstance(layout, NVMMADistributedLayout):
        width = power(rng, 3)
    else:
        width = power(rng, 4)
    operand = 0 if getattr(layout, "version", [0]) == [3, 0] else rng.randint(0, 1)
    return DotOperandLayout(operand, layout, width), shape


def operand(rng):
    return operand_of(rng, rng.choice([blocked2, mma2, mma2, mma3]))


def amd_operand(rng):
    return operand_of(rng, rng.choice([mfma, wmma]))


def blocked2(rng):
    return blocked(rng, rng.choice([2, 3]))


def slices(rng):
    kind = rng.choice([blocked, mma, mfma, wmma, operand, operand, amd_operand, linear])
    layout, shape = kind(rng)
    shape = list(shape)
    while len(shape) > 1 and (not isinstance(layout, SliceLayout) or rng.random() < 0.4):
        dim = rng.randrange(len(shape))
        layout = SliceLayout(dim, layout)
        del shape[dim]
    return layout, shape


def nested_slices(rng):
    """Slices of dot operands, and of their slices."""
    layout, shape = operand_of(rng, rng.choice([blocked2, mma2, mma3, mfma, wmma]))
    shape = list(shape)
    for _ in range(rng.randint(1, len(shape) - 1)):
        dim = rng.randrange(len(shape))
        layout = SliceLayout(dim, layout)
        del shape[dim]
    return layout, shape


def linear(rng):
    rank = rng.randint(1, 4)
    size = [1] * rank
    groups = []
    for n in (rng.randint(0, 3), 5, rng.randint(0, 3), rng.choice([0, 0, 0, 1])):
        group = []
        for _ in range(n):
            basis = [0] * rank
            if rng.random() < 0.85:
                d = rng.randrange(rank)
                basis[d] = size[d]
                size[d] *= 2
            group.append(basis)
        groups.append(group)
    layout = DistributedLinearLayout(*groups, size)
    shape = [max(1, s << rng.choice([0, 0, 0, 1, 2]) >> rng.choice([0, 0, 0, 1])) for s in size]
    return layout, shape


def swizzled(rng):
    rank = rng.randint(1, 4)
    layout = SwizzledSharedLayout(
        power(rng, 3), power(rng, 2), power(rng, 3), order_of(rng, rank), cga_of(rng, rank)
    )
    return layout, shape_of(rng, rank, 16 // rank)


def nvmma(rng):
    rank = rng.choice([1, 2, 2, 2, 3, 4])
    width = rng.choice([0, 32, 64, 128]) if rank > 1 else 0
    bits = rng.choice([8, 16, 32])
    fp4 = width == 128 and bits == 8 and rng.random() < 0.3
    layout = NVMMASharedLayout(width, bits, rank, rank > 1 and rng.random() < 0.5, fp4, cga_of(rng, rank, 0.25))
    inner = max(width * 8 // bits, 8)
    shape = [power(rng, 3 if rank > 2 else 9) for _ in range(rank)]
    shape[0 if layout.transposed else -1] = inner << rng.randint(0, 3)
    if rank > 1 and rng.random() < 0.7:
        shape[-1 if layout.transposed else -2] = 8 << rng.randint(0, 4)
    return layout, shape


def shared_linear(rng):
    rank = rng.randint(1, 4)
    n = rng.randint(1, 8)
    size, bases = [1] * rank, []
    for _ in range(n):
        d = rng.randrange(rank)
        basis = [0] * rank
        basis[d] = size[d]
        size[d] *= 2
        if bases and rng.random() < 0.4:
            other = rng.choice(bases)
            basis = [a ^ b for a, b in zip(basis, other)]
        bases.append(basis)
    rng.shuffle(bases)
    blocks = []
    for _ in range(rng.choice([0, 0, 1, 2])):
        d = rng.randrange(rank)
        blocks.append([size[d] if i == d else 0 for i in range(rank)])
        size[d] *= 2
    return SharedLinearLayout(bases, blocks), size


def tensor(rng):
    if rng.random() < 0.15:
        return TensorMemoryScalesLayout(), [32 << rng.randint(0, 3), 4 << rng.randint(0, 3)]
    two = rng.random() < 0.3
    layout = TensorMemoryLayout(
        [rng.choice([64, 128]), 8 << rng.randint(0, 5)], power(rng, 2), [[1, 0]] if two else cga_of(rng, 2, 0.2), two, False
    )
    return layout, [64 << rng.randint(0, 3), 8 << rng.randint(0, 5)]


# ---- tesela ----


class Asked:
    """Questions to one process of `tesela query`."""

    def __init__(self):
        self.process = subprocess.Popen(
            [TESELA, "query"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def bases(self, text, shape):
        request = {"op": "linear_layout", "do": "from_encoding", "text": text}
        if not re.search("tensor<|memdesc<", text):
            request["shape"] = list(shape)
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if not answer["ok"]:
            return {"error": answer["error"]["message"]}
        bases = answer["layout"]["bases"]
        for name in ("row", "col", "offset"):  # places without an element are those of elements beyond the array
            bases[name] = [[v if v < n else 0 for v, n in zip(basis, shape)] for basis in bases.get(name, [])]
        return bases

    def end(self):
        self.process.kill()  # the worker has its input, too
        self.process.wait()


# ---- what a case is ----


def nested(layout):
    """A slice of a slice, or of a dot operand: both are what a reduction of a product has."""
    return isinstance(layout, SliceLayout) and isinstance(layout.parent, (SliceLayout, DotOperandLayout))


def core_of(layout):
    while isinstance(layout, (SliceLayout, DotOperandLayout)):
        layout = layout.parent
    return layout


def compare_with_tile(layout, shape):
    """Is the shape smaller than the tile in a dim; larger in one?"""
    if isinstance(layout, SwizzledSharedLayout):
        tile = [1] * len(shape)
        for d, n in zip(layout.order, (layout.vec * layout.max_phase, layout.per_phase * layout.max_phase)):
            tile[d] = n
    elif isinstance(layout, NVMMASharedLayout):
        tile = [1] * len(shape)
        inner = 0 if layout.transposed else -1
        tile[inner] = max(16, layout.swizzle_byte_width) * 8 // layout.element_bitwidth
        if len(shape) > 1:
            tile[-1 if layout.transposed else -2] = 8
    elif isinstance(layout, TensorMemoryLayout):
        tile = layout.block
    elif isinstance(layout, BlockedLayout):
        tile = [a * b * c for a, b, c in zip(layout.size_per_thread, layout.threads_per_warp, layout.warps_per_cta)]
        for basis in layout.cga_layout:
            tile = [n << any(basis[d : d + 1]) for d, n in enumerate(tile)]
    elif isinstance(layout, (*MEMORY, *TENSOR)):
        return []
    else:
        tile = tile_by_bases(layout, shape)
    return ["smaller"] * any(n < t for n, t in zip(shape, tile)) + ["larger"] * any(n > t for n, t in zip(shape, tile))


def tile_by_bases(layout, shape):
    """A dim beyond the tile is one register more for each bit."""
    tile = []
    for d in range(len(shape)):
        sizes = [bases_of(layout, shape[:d] + [1 << k] + shape[d + 1 :]) for k in range(13)]
        k = 12
        while k and sizes[k]["register"][:-1] == sizes[k - 1]["register"] and all(
            sizes[k][name] == sizes[k - 1][name] for name in ("lane", "warp", "block")
        ):
            k -= 1
        tile.append(1 << k)
    return tile


def features(layout, shape):
    found = PEER.ask(compare_with_tile, layout, shape)
    found = found if isinstance(found, list) else []
    core = core_of(layout)
    if getattr(core, "cga_layout", None) or getattr(core, "block_bases", None):
        found.append("blocks")
    return found + ["nested"] * nested(layout)


TABLE = {}


def sweep(kind, ranks, needs):
    """`needs`: what each rank must have LEAST cases of."""
    rng = random.Random(f"{SEED} {kind.__name__}")
    asked = Asked()
    same = refused = known = tries = 0
    wrong, cells = [], Counter()
    needed = [(rank, feature) for rank in ranks for feature in ["any", *needs]]
    while (same + len(wrong) < CASES or any(cells[cell] < LEAST for cell in needed)) and tries < 60 * CASES:
        tries += 1
        layout, shape = kind(rng)
        theirs = PEER.ask(bases_of, layout, shape)
        if "error" in theirs:
            refused += 1
            continue
        if loses_bits(layout):
            known += 1
            continue
        texts = [repr(layout)]
        printed = PEER.ask(attribute_of, layout, shape)
        if isinstance(printed, str):
            texts.append(printed)
        bad = []
        for text in texts:
            ours = asked.bases(text, shape)
            if any(ours.get(name) != theirs[name] for name in theirs):
                bad.append((text, ours))
        if bad:
            wrong.append((shape, bad[0][0], theirs, bad[0][1]))
        else:
            same += 1
        for feature in ["any", *features(layout, shape)]:
            cells[len(shape), feature] += 1
    counted("triton", kind.__name__, same + len(wrong), len(wrong), f"{refused} refused by Triton" + f", {known} known errors" * (known > 0))
    TABLE[kind.__name__] = cells
    for shape, text, theirs, ours in wrong[:4]:
        print(f"  {shape} {text}\n    Triton {theirs}\n    tesela {ours}")
    asked.end()
    assert not wrong and same >= 150
    assert all(cells[cell] >= LEAST for cell in needed), [cell for cell in needed if cells[cell] < LEAST]


def test_older_blocks():
    """CTAsPerCGA, CTASplitNum and CTAOrder of older releases are the bases that make_cga_layout gives."""
    rng = random.Random(f"{SEED} older blocks")
    asked = Asked()
    for _ in range(CASES):
        rank = rng.randint(1, 4)
        ctas = [power(rng, 2) for _ in range(rank)]
        split = [1 << rng.randint(0, c.bit_length() - 1) for c in ctas]
        order = order_of(rng, rank)
        layout = BlockedLayout([1] * rank, [32] + [1] * (rank - 1), [1] * rank, order_of(rng, rank))
        newer = BlockedLayout(
            layout.size_per_thread,
            layout.threads_per_warp,
            layout.warps_per_cta,
            layout.order,
            gluon_ir.make_cga_layout(ctas, split, order),
        )
        text = (
            f"#triton_gpu.blocked<{{sizePerThread = {layout.size_per_thread}, threadsPerWarp = {layout.threads_per_warp}, "
            f"warpsPerCTA = {layout.warps_per_cta}, order = {layout.order}, CTAsPerCGA = {ctas}, CTASplitNum = {split}, "
            f"CTAOrder = {order}}}>"
        )
        shape = shape_of(rng, rank, 16 // rank)
        assert asked.bases(text, shape) == dict(bases_of(newer, shape), row=[], col=[], offset=[]), (text, shape)
    asked.end()
    counted("triton", "older CTAsPerCGA", CASES, 0)


def test_known_errors():
    layout, shape = NVMMASharedLayout(0, 16, 3, True), [16, 4, 16]
    bases = PEER.ask(bases_of, layout, shape)
    zeros = sum(not any(basis) for basis in bases["offset"]) if "error" not in bases else 0
    case = f"{shape} nvmma_shared, transposed, without a swizzle"
    known_error("triton", case, f"{zeros} of {len(bases.get('offset', []))} bases are 0", zeros == 0)


TILE = ["smaller", "larger", "blocks"]


def test_blocked():
    sweep(blocked, [1, 2, 3, 4], TILE)


def test_mma2():
    sweep(mma2, [2, 3], TILE)


def test_mma3():
    sweep(mma3, [2], TILE)


def test_mfma():
    sweep(mfma, [2, 3], TILE)


def test_wmma():
    sweep(wmma, [2, 3], TILE)


def test_operand():
    sweep(operand, [2, 3], TILE)


def test_amd_operand():
    sweep(amd_operand, [2, 3], TILE)


def test_slice():
    sweep(slices, [1, 2, 3], TILE)


def test_nested_slice():
    sweep(nested_slices, [1, 2], [*TILE, "nested"])


def test_linear():
    sweep(linear, [1, 2, 3, 4], TILE)


def test_swizzled():
    sweep(swizzled, [1, 2, 3, 4], TILE)


def test_nvmma():
    sweep(nvmma, [1, 2, 3, 4], ["larger", "blocks"])


def test_shared_linear():
    sweep(shared_linear, [1, 2, 3, 4], ["blocks"])


def test_tensor_memory():
    sweep(tensor, [2], ["larger", "blocks"])


def test_table():
    """The cases of each kind by rank, and of what kind their shapes are."""
    columns = ["any", *TILE, "nested"]
    lines = [f"{'kind':14}" + "".join(f"   rank {rank}: all small large block nest" for rank in (1, 2, 3, 4))]
    for kind, cells in TABLE.items():
        lines.append(f"{kind:14}" + "".join("          " + "".join(f"{cells[rank, c] or '.':>5}" for c in columns) + " " for rank in (1, 2, 3, 4)))
    tables.append("\n".join(lines))
