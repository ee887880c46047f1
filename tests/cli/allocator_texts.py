# SPDX-License-Identifier: Apache-2.0
"""Allocators drawn at random, the texts they print, and what is true of them: chunks of a BFC allocator in regions, PyTorch's
statistics, and messages about a request. Texts follow the formats of TensorFlow, JAX and PyTorch; facts come from the drawn
numbers alone."""

from collections import Counter
from dataclasses import dataclass, field

LAST = 18446744073709551615
STAMP = "2026-03-04 12:22:43.0389{:02d}: "
PREFIXES = {
    "none": lambda i: "",
    "tensorflow": lambda i: STAMP.format(i % 100) + "I tensorflow/core/common_runtime/bfc_allocator.cc:934] ",
    "jax": lambda i: STAMP.format(i % 100) + "I external/xla/xla/tsl/framework/bfc_allocator.cc:1058] ",
    "absl": lambda i: f"I0302 09:48:28.7543{i % 100:02d}  124516 bfc_allocator.cc:1058] ",
    "rank": lambda i: "[rank2]: ",
}


def human(n):
    """Bytes as XLA and TensorFlow print them: powers of 1024, what is below the next smaller unit is dropped first."""
    if n < 1024:
        return f"{n}B"
    unit = 0
    while n >= 1024 * 1024:
        n //= 1024
        unit += 1
    return f"{n / 1024:.{1 if unit == 0 else 2}f}{'KMGTPE'[unit]}iB"


# ---- BFC ----


@dataclass
class Chunk:
    bytes: int
    in_use: bool
    asked: int = 0
    tag: str = "lower"


@dataclass
class Bfc:
    name: str
    regions: list
    limit: int
    asked: int
    end: str = ""
    form: str = "next"
    facts: dict = field(default_factory=dict)


def bin_of(n):
    return min((n // 256).bit_length() - 1, 20)


def draw_size(rng):
    return 256 * max(1, int(2 ** rng.uniform(0, rng.choice([6, 14, 22]))))


def draw_region(rng, form, tagged):
    chunks = []
    for _ in range(rng.choice([1, 2, 5, 20, 60])):
        in_use = rng.random() < 0.6 or (bool(chunks) and not chunks[-1].in_use)  # free neighbours are merged
        size = rng.choice(chunks).bytes if chunks and rng.random() < 0.4 else draw_size(rng)
        chunks.append(Chunk(size, in_use, rng.randint(1, size) if in_use else 0))
    if tagged:
        free = [i for i, c in enumerate(chunks) if not c.in_use]
        gap = rng.choice(free) if free else len(chunks)
        for i, c in enumerate(chunks):
            c.tag = "lower" if i < gap else "upper" if i > gap else "central_gap"
    return chunks


def draw_bfc(rng):
    form = rng.choice(["old", "next", "next", "tags"])
    regions = [draw_region(rng, form, form == "tags") for _ in range(1 if form == "tags" else rng.choice([1, 1, 2, 4]))]
    pool = sum(c.bytes for r in regions for c in r)
    bfc = Bfc(rng.choice(["GPU_0_bfc", "GPU_3_bfc", "gpu_host_bfc", "xla_gpu_bfc"]), regions,
              pool + rng.choice([0, 0, 256 * rng.randint(0, pool // 128 + 1)]), 0, form=form)  # fmt: skip
    bfc.end = rng.choice(["lower", "upper"]) if form == "tags" else ""
    free = [c for r in regions for c in r if not c.in_use]
    in_use = [c for r in regions for c in r if c.in_use]
    usable = [c.bytes for c in free if not bfc.end or c.tag in (bfc.end, "central_gap")]
    facts = bfc.facts
    facts["free_bytes"] = sum(c.bytes for c in free)
    facts["free_chunks"] = len(free)
    facts["largest_free_bytes"] = max(usable, default=0)
    facts["region_free_bytes"] = max(sum(c.bytes for c in r if not c.in_use) for r in regions)
    facts["in_use_bytes"] = sum(c.bytes for c in in_use)
    facts["in_use_chunks"] = len(in_use)
    facts["pool_bytes"] = pool
    facts["limit_bytes"] = bfc.limit
    facts["regions"] = len(regions)
    facts["sizes"] = Counter(c.bytes for c in in_use)
    largest, total = facts["largest_free_bytes"], facts["free_bytes"]
    above = rng.choice([largest, max(largest, total), max(largest, bfc.limit - pool, total), bfc.limit])
    bfc.asked = 256 * (above // 256 + 1 + rng.randint(0, above // 2048 + 1))
    if total > largest and rng.random() < 0.5:
        bfc.asked = 256 * rng.randint(largest // 256 + 1, max(total // 256, largest // 256 + 1))
    facts["requested_bytes"] = bfc.asked
    facts["why"] = why_refused(bfc)
    return bfc


def why_refused(bfc):
    f, asked = bfc.facts, bfc.asked
    if asked > bfc.limit:
        return "never"
    if asked <= f["largest_free_bytes"]:
        return "fits"
    if asked <= f["free_bytes"]:
        if bfc.form != "old" and asked > f["region_free_bytes"]:  # an old dump does not show regions
            return "regions"
        return "fragmented"
    if bfc.limit - f["pool_bytes"] >= asked:
        return "outside"
    return "full"


def bins_of(bfc):
    rows = [[256 << i, 0, 0, 0, 0, 0] for i in range(21)]
    for chunk in (c for r in bfc.regions for c in r if c.in_use or c.tag != "central_gap"):
        row = rows[bin_of(chunk.bytes)]
        row[1] += 1
        row[2] += chunk.in_use
        row[3] += chunk.bytes
        row[4] += chunk.bytes * chunk.in_use
        row[5] += chunk.asked
    return rows


def chunk_lines(bfc, rng):
    address = 0x7F62824AB200
    number = 0
    for region in bfc.regions:
        if bfc.form != "old":
            yield f"Next region of size {sum(c.bytes for c in region)}"
        for i, c in enumerate(region):
            number += rng.randint(1, 5)
            if bfc.form == "old":
                yield f"{'Chunk' if c.in_use else 'Free'} at 0x{address:x} of size {c.bytes}"
            else:
                tag = f" tag {c.tag}" if bfc.form == "tags" else ""
                op = f" by op Op{c.bytes % 7} action_count {number} step 0" if bfc.form == "next" and rng.random() < 0.1 else ""
                following = number if i < len(region) - 1 else LAST
                yield f"{'InUse' if c.in_use else 'Free '} at {address:x} of size {c.bytes}{tag}{op} next {following}"
            address += c.bytes
        address += 256 * rng.randint(0, 9999)


def stat_lines(bfc, rng):
    f = bfc.facts
    stats = [("Limit:", bfc.limit), ("InUse:", f["in_use_bytes"]), ("MaxInUse:", f["in_use_bytes"] + 256 * rng.randint(0, 99)),
             ("NumAllocs:", rng.randint(1, 10**7)), ("MaxAllocSize:", rng.randint(256, 1 << 34))]  # fmt: skip
    if bfc.form != "old":
        largest = max((c.bytes for r in bfc.regions for c in r if not c.in_use), default=0) if bfc.form == "tags" else 0
        stats += [("Reserved:", 0), ("PeakReserved:", 0), ("LargestFreeBlock:", largest)]
    f["stats"] = [v for _, v in stats]
    width = 18 if bfc.form != "old" else 14
    return [f"{word:<{width}}{value:>20}" for word, value in stats]


def bfc_lines(bfc, rng):
    """The lines that have a prefix in a log, and those that do not (the bytes of Stats, and lines inside the message)."""
    f = bfc.facts
    op = rng.choice(["", "requested by op ", "requested by op model/conv2d_17/Relu_1"])
    end = f" from the {bfc.end} end " if bfc.end else ""
    asked = bfc.asked - rng.randint(0, 255)
    yield True, f"Allocator ({bfc.name}) ran out of memory trying to allocate {human(asked)} (rounded to {bfc.asked}){end}{op}"
    if rng.random() < 0.5:
        yield False, "If the cause is memory fragmentation maybe the environment variable 'TF_GPU_ALLOCATOR=cuda_malloc_async' will improve the situation. "
        yield False, "Current allocation summary follows."
    yield True, f"BFCAllocator dump for {bfc.name}"
    for size, chunks, in_use, allocated, used, requested in bins_of(bfc):
        yield True, (f"Bin ({size}): \tTotal Chunks: {chunks}, Chunks in use: {in_use}. {human(allocated)} allocated for chunks. "
                     f"{human(used)} in use in bin. {human(requested)} client-requested in use in bin.")  # fmt: skip
    yield True, f"Bin for {human(bfc.asked)} was {human(256 << bin_of(bfc.asked))}, Chunk State: "
    if rng.random() < 0.3:
        yield True, "  Size: 3.2MiB | Requested Size: 1.0MiB | in_use: 0 | bin_num: 13, prev:   Size: 256B | Requested Size: 8B | in_use: 1 | bin_num: -1"
    for line in chunk_lines(bfc, rng):
        yield True, line
    yield True, "     Summary of in-use Chunks by size: "
    for size, count in sorted(f["sizes"].items()):
        yield True, f"{count} Chunks of size {size} totalling {human(size * count)}"
    yield True, f"Sum Total of in-use chunks: {human(f['in_use_bytes'])}"
    if bfc.form == "tags":
        yield True, (f"Allocator memory summary: rounded request {human(bfc.asked)}, total free in pool {human(f['free_bytes'])}, "
                     f"largest free chunk usable by {bfc.end} end {human(f['largest_free_bytes'])}, unallocated bytes "
                     f"{human(bfc.limit - f['pool_bytes'])}, pool size {human(f['pool_bytes'])}, pool limit {human(bfc.limit)}")  # fmt: skip
    yield True, "Stats: "
    for line in stat_lines(bfc, rng):
        yield False, line
    yield True, "*" * rng.randint(1, 60) + "_" * rng.randint(1, 40)


def print_bfc(bfc, rng, prefix):
    lines = [(PREFIXES[prefix](i) if marked or prefix == "rank" else "") + line for i, (marked, line) in enumerate(bfc_lines(bfc, rng))]
    return lines


# ---- PyTorch ----

BYTES = ["allocated_bytes", "active_bytes", "requested_bytes", "reserved_bytes", "inactive_split_bytes"]
COUNTS = ["allocation", "active", "segment", "inactive_split"]
WORDS = {
    "allocated_bytes": "Allocated memory", "active_bytes": "Active memory", "requested_bytes": "Requested memory",
    "reserved_bytes": "GPU reserved memory", "inactive_split_bytes": "Non-releasable memory", "allocation": "Allocations",
    "active": "Active allocs", "segment": "GPU reserved segments", "inactive_split": "Non-releasable allocs",
    "oversize_allocations": "Oversize allocations", "oversize_segments": "Oversize GPU segments",
}  # fmt: skip
COLUMNS = ["now", "peak", "allocated", "freed"]


def size_cell(n, scale):
    unit = 0
    while unit < 5 and scale >= 768 * 1024:
        n //= 1024
        scale /= 1024
        unit += 1
    return f"{n:6d} {['B  ', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'][unit]}", 1024**unit


def count_cell(n, scale):
    unit = 0
    while unit < 2 and scale >= 750 * 1000:
        n //= 1000
        scale /= 1000
        unit += 1
    return f"{n:7d} {[' ', 'K', 'M'][unit]} ", 1000**unit


def draw_row(rng, pool_of):
    most = int(2 ** rng.uniform(0, 46 if pool_of else 24))
    rows = {p: [rng.randint(0, most) for _ in COLUMNS] for p in ("large_pool", "small_pool")}
    rows["all"] = [a + b for a, b in zip(*rows.values())]
    return rows


def draw_summary(rng, abbreviated):
    """Rows as printed and what each cell can be: {(name, pool): [(value, step), ...]}."""
    bar, rule = "=" * 75, "-" * 75
    device, ooms, retries = rng.randint(0, 7), rng.randint(0, 99), rng.randint(0, 99)
    lines = [bar, f"                  PyTorch CUDA memory summary, device ID {device:<17d} ", rule,
             f"            CUDA OOMs: {ooms:<12d} |        cudaMalloc retries: {retries:<8d}  ", bar,
             "        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  "]  # fmt: skip
    truth = {}
    old = rng.random() < 0.3
    for name in [n for n in BYTES + COUNTS if not (old and n == "requested_bytes")]:
        rows = draw_row(rng, name in BYTES)
        cell = size_cell if name in BYTES else count_cell
        lines.append(rule)
        for pool in ["all"] if abbreviated else ["all", "large_pool", "small_pool"]:
            cells = [cell(v, scale) for v, scale in zip(rows[pool], rows["all"])]
            word = WORDS[name] if pool == "all" else f"      from {pool.replace('_', ' ')}"
            lines.append(f" {word:<21} | " + " | ".join(c for c, _ in cells) + " ")
            truth[name, pool] = list(zip(rows[pool], [s for _, s in cells]))
    for name in ["oversize_allocations", "oversize_segments"]:
        values = draw_row(rng, False)["all"]
        cells = [count_cell(v, v) for v in values]
        lines += [rule, f" {WORDS[name]:<21} | " + " | ".join(c for c, _ in cells) + " "]
        truth[name, "all"] = list(zip(values, [s for _, s in cells]))
    lines.append(bar)
    return [f"|{line}|" for line in lines], {"device": device, "ooms": ooms, "retries": retries, "rows": truth}


def torch_size(n):
    if n <= 1024:
        return f"{n} bytes"
    for unit, name in [(2**10, "KiB"), (2**20, "MiB")]:
        if n <= unit * 1024:
            return f"{n / unit:.2f} {name}"
    return f"{n / 2**30:.2f} GiB"


def draw_message(rng):
    """PyTorch's message: its parts in order, as text, and the figures."""
    capacity = rng.randint(1 << 31, 1 << 38)
    free = rng.choice([0, rng.randint(0, capacity // 8)])
    others = rng.choice([0, rng.randint(0, capacity // 2)])
    process = capacity - free - others
    in_use = rng.randint(0, process)
    unused = rng.randint(0, process - in_use)
    asked = rng.choice([rng.randint(2 * free // 2 + 1, max(free + unused, free + 1)), rng.randint(free + unused + 1, 2 * capacity),
                        rng.randint(free + unused + 1, max(free + unused + others, free + unused + 1))])  # fmt: skip
    private = rng.choice([None, rng.randint(1, in_use + 1)])
    allowed = rng.choice([None, None, rng.randint(1 << 30, capacity)])
    said = {"requested": asked, "capacity": capacity, "free": free, "process": process, "in_use": in_use, "reserved_unused": unused}
    parts = [f"torch.OutOfMemoryError: {rng.choice(['CUDA', 'HIP', 'XPU'])} out of memory. Tried to allocate {torch_size(asked)}."]
    parts.append(f"GPU {rng.randint(0, 7)} has a total {rng.choice(['capacity', 'capacty'])} of {torch_size(capacity)} of which {torch_size(free)} is free.")
    parts += [f"Process {rng.randint(1, 999999)} has {torch_size(rng.randint(1, capacity))} memory in use." for _ in range(rng.choice([0, 0, 1, 2]))]
    if rng.random() < 0.8:
        parts.append(f"Including non-PyTorch memory, this process has {torch_size(process)} memory in use.")
    else:
        del said["process"]
    if allowed is not None:
        said["allowed"] = allowed
    line = f"{torch_size(allowed)} allowed; " if allowed is not None else ""
    line += f"Of the allocated memory {torch_size(in_use)} is allocated by PyTorch, "
    if private is not None:
        said["private_pools"] = private
        line += f"with {torch_size(private)} allocated in private pools (e.g., CUDA Graphs), "
    parts.append(line + f"and {torch_size(unused)} is reserved by PyTorch but unallocated.")
    parts.append("If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory Management")
    return parts, said
