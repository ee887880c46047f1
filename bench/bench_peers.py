#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""numpy and torch against tesela on the cases of relayout_cases.json, or on random pairs of bench_sweep, in one process.

    bench/bench_peers.py [--tesela=build/release/tesela] [--only=TEXT] [--rounds=N] [--threads=N]
                         [--sweep=PAIRS [--seed=N] [--most=BYTES]] [FILE...]

--sweep draws so many pairs from a new seed and takes those whose sides have a stride for each dim; views are a class of their own.

numpy is needed, torch is optional; each copies between two strided views of the same buffers, which is how a user says
such a move there: the digits of both sides are split until they agree, then `copyto` or `copy_` moves the lot. Where
dst has padding the user first sets the buffer to zero; 4-bit elements move as bytes where whole bytes stay together,
and are taken apart into bytes and put together again where not. The results are compared with tesela's.

Prints the median of the pairwise ratios (speed of tesela over the peer's), their geometric means, and beside them that of numpy's copy of
as many bytes in order, a limit for any relayout. Goals: 5x, views 1.5x, slower on no case. Exit status 77 without numpy.
"""

import argparse
import ctypes
import json
import math
import mmap
import pathlib
import statistics
import subprocess
import sys
import time

try:
    import numpy as np
except ImportError:
    print("numpy is not here", file=sys.stderr)
    sys.exit(77)
try:
    import torch
except ImportError:
    torch = None

HERE = pathlib.Path(__file__).resolve().parent
BITS = {"s4": 4, "u8": 8, "s8": 8, "bf16": 16, "f16": 16, "f32": 32, "f64": 64, "c128": 128}
BUFFER_BYTES = 640 << 20


# ---- tesela through ctypes ------------------------------------------------------------------------------------------


class PlanOptions(ctypes.Structure):
    """tesela_plan_options of tesela/relayout.h."""

    _fields_ = [
        ("fill", ctypes.c_int),
        ("fill_value", ctypes.c_uint8 * 16),
        ("transform", ctypes.c_int),
        ("threads", ctypes.c_int32),
        ("isa", ctypes.c_int),
        ("effort", ctypes.c_int),
        ("solver", ctypes.c_int),
        ("memory_bytes", ctypes.c_int64),
        ("shuffle", ctypes.c_uint64),
        ("allocator", ctypes.c_void_p),
        ("reserved", ctypes.c_int64 * 4),
    ]


class Tesela:
    """The few functions that a plan from digits needs. A tesela_layout is a plain value of some 6 KiB: 64 KiB hold it."""

    LAYOUT_BYTES = 64 << 10

    def __init__(self, path):
        self.library = ctypes.CDLL(str(path))
        self.run = self.library.tesela_plan_run
        self.run.argtypes = [ctypes.c_void_p] * 5
        self.error = ctypes.create_string_buffer(1024)

    def must(self, status):
        if status != 0:
            text = self.error.raw[16:].split(b"\0")[0].decode()  # tesela_error: status, at, message
            raise SystemExit(f"tesela: status {status}: {text}")

    def layout(self, bits, shape, digits):
        t, layout = self.library, ctypes.create_string_buffer(self.LAYOUT_BYTES)
        extents = (ctypes.c_int64 * len(shape))(*shape)
        self.must(t.tesela_layout_begin(layout, 0, bits, len(shape), extents, self.error))
        number, rest = {}, list(range(len(shape)))
        for dim, step, _ in sorted(digits, key=lambda digit: -digit[1]):
            number[dim, step] = rest[dim]
            if step > 1:
                low = ctypes.c_int32()
                self.must(t.tesela_layout_split(layout, rest[dim], ctypes.c_int64(step), ctypes.byref(low), self.error))
                rest[dim] = low.value
        axis = ctypes.c_int32()
        self.must(t.tesela_layout_add_axis(layout, b"memory", ctypes.byref(axis), self.error))
        order = (ctypes.c_int32 * len(digits))(*(number[dim, step] for dim, step, _ in digits))
        one = ctypes.c_int64(1)
        self.must(t.tesela_layout_place_row_major(layout, len(digits), order, axis, one, None, self.error))
        self.must(t.tesela_layout_finish(layout, self.error))
        return layout

    def strided(self, case, side):
        layout, numbers = ctypes.create_string_buffer(self.LAYOUT_BYTES), ctypes.c_int64 * len(case["shape"])
        shape, strides, offset = numbers(*case["shape"]), numbers(*case[side + "_strides"]), ctypes.c_int64(case[side + "_offset"])
        self.must(self.library.tesela_layout_strided(layout, 0, case["bits"], len(shape), shape, strides, offset, self.error))
        return layout

    def plan(self, case, threads):
        plan, options = ctypes.c_void_p(), PlanOptions(threads=threads)
        if "bits" in case:
            dst, src = self.strided(case, "to"), self.strided(case, "from")
        else:
            dst, src = (self.layout(BITS[case["dtype"]], case["shape"], case[side]) for side in ("to_digits", "from_digits"))
        self.must(self.library.tesela_plan_create(ctypes.byref(plan), dst, src, ctypes.byref(options), self.error))
        return plan


# ---- the same move in numpy's terms ---------------------------------------------------------------------------------


def in_bytes(case):
    """A case of 4-bit elements whose innermost digits are alike on both sides, told in pairs; None if they are not."""
    case = json.loads(json.dumps(case))
    inner = case["from_digits"][-1][0]
    if case["to_digits"][-1][:2] != [inner, 1] or case["shape"][inner] % 2:
        return None
    for digit in case["from_digits"] + case["to_digits"]:
        if digit[0] != inner:
            continue
        if digit[1] == 1:
            digit[2] //= 2
        elif digit[1] % 2:
            return None
        else:
            digit[1] //= 2
    case["shape"][inner] //= 2
    case["dtype"] = "u8"
    return case


def padded_shape(case):
    """Extents that the steps of both sides divide."""
    shape = list(case["shape"])
    for digits in (case["from_digits"], case["to_digits"]):
        for dim, step, extent in digits:
            if step == max(s for d, s, _ in digits if d == dim):
                shape[dim] = max(shape[dim], step * extent)
    return shape


def view(buffer, digits, shape, steps):
    """The buffer of one side with an axis for each (dim, step) of `steps`, those of dim 0 first.

    Steps of a dim are refined to those of both sides; a side that has fewer digits has them split."""
    extents, names = [], []
    for dim, step, extent in digits:
        inner = sorted((s for s in steps[dim] if step <= s < step * extent), reverse=True)
        for upper, s in zip([step * extent] + inner, inner):
            if upper % s:
                raise ValueError("steps that do not divide")
            extents.append(upper // s)
            names.append((dim, s))
    order = [names.index((dim, s)) for dim in range(len(shape)) for s in sorted(steps[dim], reverse=True) if (dim, s) in names]
    return buffer.reshape(extents).transpose(order)


class Move:
    """One case for numpy or torch: prepared views, `run` copies."""

    def __init__(self, case, dst, src, tensor):
        self.tensor = tensor
        self.nibbles = None
        if "bits" in case:
            return self.prepare_strided(case, dst, src)
        if case["dtype"] == "s4":
            pairs = in_bytes(case)
            if pairs is None:
                return self.prepare_nibbles(case, dst, src)
            case = pairs
        kind = {1: np.uint8, 2: np.int16, 4: np.float32, 8: np.float64, 16: np.complex128}[BITS[case["dtype"]] // 8]
        shape = case["shape"]
        count = [math.prod(extent for _, _, extent in case[side]) for side in ("to_digits", "from_digits")]
        flat = [b[: n * np.dtype(kind).itemsize].view(kind) for b, n in zip((dst, src), count)]
        if tensor:
            flat = [torch.from_numpy(f) for f in flat]
        self.flat = flat[0]
        self.pad = count[0] != math.prod(shape)
        if count[1] != math.prod(shape) or self.pad:
            return self.prepare_padded(case, flat, shape)
        steps = self.steps(case)
        self.dst, self.src = (self.view(f, case[s], shape, steps) for f, s in zip(flat, ("to_digits", "from_digits")))
        self.parts = [(self.dst, self.src)]
        return None

    def prepare_strided(self, case, dst, src):
        """Views by strides; torch has none below 0."""
        kind = np.dtype({8: np.uint8, 16: np.int16, 32: np.float32, 64: np.float64, 128: np.complex128}[case["bits"]])
        views = []
        for side, memory in (("to", dst), ("from", src)):
            strides, offset = case[side + "_strides"], case[side + "_offset"]
            flat = memory[: memory.size // kind.itemsize * kind.itemsize].view(kind)
            if self.tensor and min(strides) < 0:
                raise ValueError("strides below 0")
            if self.tensor:
                views.append(torch.as_strided(torch.from_numpy(flat), case["shape"], strides, offset))
            else:
                steps = [s * kind.itemsize for s in strides]
                views.append(np.lib.stride_tricks.as_strided(flat[offset:], case["shape"], steps))
        self.parts = [tuple(views)]

    def view(self, flat, digits, shape, steps):
        if not self.tensor:
            return view(flat, digits, shape, steps)
        order = view(np.empty(math.prod(e for _, _, e in digits), np.uint8), digits, shape, steps)
        return torch.as_strided(flat, order.shape, order.strides)

    @staticmethod
    def steps(case):
        steps = [set() for _ in case["shape"]]
        for dim, step, _ in case["from_digits"] + case["to_digits"]:
            steps[dim].add(step)
        return steps

    def prepare_padded(self, case, flat, shape):
        """The tiled side whole, the plain side through a padded copy, as `np.pad` makes it; that copy is part of the run."""
        tiled = 0 if self.pad else 1
        digits = case[("to_digits", "from_digits")[tiled]]
        padded = padded_shape(case)
        plain_digits = [[d, 1, padded[d]] for d in range(len(padded))]
        other = case[("to_digits", "from_digits")[1 - tiled]]
        if other != [[d, 1, shape[d]] for d in range(len(shape))]:
            raise ValueError("padding on a side that is not tiled")
        size = math.prod(padded)
        self.whole = torch.empty(size, dtype=flat[0].dtype) if self.tensor else np.empty(size, flat[0].dtype)
        steps = self.steps(case)
        whole_view = self.view(self.whole, plain_digits, padded, steps)
        tiled_view = self.view(flat[tiled], digits, padded, steps)
        inner = self.whole.reshape(padded)[tuple(slice(0, n) for n in shape)]
        plain = flat[1 - tiled].reshape(shape)
        self.whole[:] = 0
        self.parts = [(inner, plain), (tiled_view, whole_view)] if tiled == 0 else [(whole_view, tiled_view), (plain, inner)]

    def prepare_nibbles(self, case, dst, src):
        rows, cols = case["shape"]
        if [digit[:2] for digit in case["to_digits"]] != [[1, 1], [0, 1]]:
            raise ValueError("a move of nibbles that is no transpose")
        d, s = dst[: rows * cols // 2].reshape(cols, rows // 2), src[: rows * cols // 2].reshape(rows, cols // 2)
        if self.tensor:
            d, s = torch.from_numpy(d), torch.from_numpy(s)
        self.nibbles = (d, s)

    def run(self):
        if self.nibbles:
            d, s = self.nibbles
            for low, column in ((0, d[0::2]), (4, d[1::2])):
                part = (s.T >> low) & 15
                column[...] = part[:, 0::2] | (part[:, 1::2] << 4)
        elif self.tensor:
            for d, s in self.parts:
                d.copy_(s)
        else:
            for d, s in self.parts:
                np.copyto(d, s)


# ---- the race -------------------------------------------------------------------------------------------------------


def buffer(size):
    memory = mmap.mmap(-1, size)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    array = np.frombuffer(memory, np.uint8)
    array[:] = 1
    return array


def seconds(run, repeat):
    start = time.perf_counter_ns()
    for _ in range(repeat):
        run()
    return (time.perf_counter_ns() - start) / repeat * 1e-9


def median_ratio(slow, fast):
    return statistics.median(b / a for a, b in zip(fast, slow))


def compare(tesela, case, dst, src, threads, rounds):
    """{"numpy": (ratio, limit), "torch": (ratio, limit)} of one case, and GB/s."""
    plan = tesela.plan(case, threads)
    address = [ctypes.c_void_p(b.ctypes.data) for b in (dst, src)]
    ways = {"tesela": lambda: tesela.run(plan, address[0], address[1], None, None)}
    size = case["to_bytes"]
    dst[:size] = 0xA5
    tesela.must(ways["tesela"]())
    expected = dst[:size].copy()
    for name in ("numpy", "torch") if torch else ("numpy",):
        try:
            move = Move(case, dst, src, name == "torch")
        except ValueError as reason:
            print(f"{case['name']}: {name}: {reason}")
            continue
        dst[:size] = 0xA5
        move.run()
        if not np.array_equal(dst[:size], expected):
            raise SystemExit(f"{case['name']}: {name} and tesela differ")
        ways[name] = move.run
    half = case["counted_bytes"] // 2
    ways["copy"] = lambda: np.copyto(dst[:half], src[:half])
    times = {name: [] for name in ways}
    repeat = {name: max(1, int(1e-3 / (seconds(run, 1) + 1e-9))) for name, run in ways.items()}
    for _ in range(rounds):
        for name, run in ways.items():
            times[name].append(seconds(run, repeat[name]))
    tesela.library.tesela_plan_destroy(plan)
    ratio = {n: tuple(median_ratio(times[n], times[way]) for way in ("tesela", "copy")) for n in ways if n not in ("tesela", "copy")}
    return ratio, case["counted_bytes"] / statistics.median(times["tesela"]) * 1e-9


def read_cases(options):
    if options.sweep:
        print(f"--seed={options.seed}")
        words = ["--peers", f"--pairs={options.sweep}", f"--most={options.most}", f"--seed={options.seed}"]
        drawn = subprocess.run([options.tesela.parent / "bench/bench_sweep", *words], check=True, capture_output=True, text=True)
        return [json.loads(line) for line in drawn.stdout.splitlines()]
    return [case for file in options.files for case in json.loads(pathlib.Path(file).read_text())["cases"]]


def print_means(ratios):
    """ratios: (peer, is a view) -> (ratio, limit) of each of its cases."""
    for (name, is_view), of_cases in ratios.items():
        mean, limit = map(statistics.geometric_mean, zip(*of_cases))
        slower, what = sum(r < 1 for r, _ in of_cases), "views" if is_view else "cases"
        print(f"geometric mean over {len(of_cases)} {what}: {mean:.2f} x {name}, a copy in order {limit:.2f} x; slower on {slower}")
        print("figure peers.views" if is_view else "figure peers.others", f"{mean:.3f}")
    print(f"figure peers.least {min(r for of_cases in ratios.values() for r, _ in of_cases):.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tesela", type=pathlib.Path, default=HERE.parent / "build/release/tesela")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--sweep", type=int, default=0)
    parser.add_argument("--most", type=int, default=32 << 20)
    parser.add_argument("--seed", type=int, default=time.time_ns() // 1000)
    parser.add_argument("files", nargs="*", default=[HERE / "relayout_cases.json"])
    options = parser.parse_args()
    tesela = Tesela(options.tesela.parent / "libtesela.so")
    tesela.library.tesela_plan_destroy.argtypes = [ctypes.c_void_p]
    if torch:
        torch.set_num_threads(options.threads)
    dst, src = buffer(BUFFER_BYTES), buffer(BUFFER_BYTES)
    src.view(np.uint64)[:] = np.random.default_rng(1).integers(0, 1 << 62, BUFFER_BYTES // 8, dtype=np.uint64)
    print(f"numpy {np.__version__}, torch {torch.__version__ if torch else 'absent'}, {options.threads} threads")
    print(f"{'case':44} {'GB/s':>7} {'/ numpy':>8} {'/ torch':>8}")
    ratios = {}
    for case in read_cases(options):
        if options.only not in case["name"]:
            continue
        ratio, speed = compare(tesela, case, dst, src, options.threads, options.rounds)
        cells = "".join(f" {ratio[n][0]:8.2f}" if n in ratio else f" {'-':>8}" for n in ("numpy", "torch"))
        slower = "  SLOWER" if any(r < 1 for r, _ in ratio.values()) else ""
        print(f"{case['name']:44} {speed:7.1f}{cells}{slower}", flush=True)
        for name, r in ratio.items():
            ratios.setdefault((name, case["name"].startswith("view")), []).append(r)
    print_means(ratios)


if __name__ == "__main__":
    sys.exit(main())
