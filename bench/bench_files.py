# SPDX-License-Identifier: Apache-2.0
"""Copies between files with and without --memory: time, and the most memory that the process had.

    python bench/bench_files.py [--tesela=PATH] [--also=PATH] [--mib=512] [--rounds=3] [--folder=DIR]

The input is in the page cache. For each copy and each bound: the median of the pairwise ratios to the unbounded copy of the same round, and
the largest excess of the peak over the bound. Also: another command, in the same rounds."""

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

COPIES = [  # name, columns fewer than rows, to
    ("transpose", 0, "{0,1}"),
    ("tiles", 0, "{1,0:T(8,128)}"),
    ("padded tiles of the transpose", 28, "{0,1:T(8,128)}"),
    ("rows", 0, "{1,0}"),
]
BOUNDS = [None, 256, 64]  # MiB


def run(command, words):
    """Seconds and the peak in MiB."""
    begin = time.monotonic()
    pid = os.posix_spawn(command, [command, *words], os.environ)
    _, status, usage = os.wait4(pid, 0)
    seconds = time.monotonic() - begin
    if status != 0:
        sys.exit(f"{command} {' '.join(words)} ended with {status}")
    return seconds, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tesela", default=Path(__file__).resolve().parents[1] / "build/release/tesela", type=str)
    parser.add_argument("--also", action="append", default=[])
    parser.add_argument("--mib", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", default="/var/tmp")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    side = int((options.mib << 18) ** 0.5) // 128 * 128
    worst = {}
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        source, target = Path(folder, "in"), Path(folder, "out")
        for name, less, to in COPIES:
            columns = side - less
            words = ["relayout", str(source), "-o", str(target), f"--from=f32[{side},{columns}]", f"--to={to}"]
            words.append(f"--threads={options.threads}")
            with open(source, "wb") as file:
                block = os.urandom(4 * columns)
                for _ in range(side):
                    file.write(block)
            for command in [options.tesela, *options.also]:
                times = {bound: [] for bound in BOUNDS}
                peaks = dict.fromkeys(BOUNDS, 0)
                for _ in range(options.rounds):
                    for bound in BOUNDS:
                        target.unlink(missing_ok=True)
                        more = [f"--memory={bound}MiB"] if bound else []
                        seconds, peak = run(command, words + more)
                        times[bound].append(seconds)
                        peaks[bound] = max(peaks[bound], peak)
                for bound in BOUNDS:
                    ratio = statistics.median(b / a for a, b in zip(times[None], times[bound]))
                    print(
                        f"{name}: {'no bound' if bound is None else f'{bound} MiB'}: {statistics.median(times[bound]):.2f} s, "
                        f"{ratio:.2f} x unbounded, peak {peaks[bound]:.0f} MiB   {command if options.also else ''}",
                        flush=True,
                    )
                    if bound and command == options.tesela:
                        worst["ratio"] = max(worst.get("ratio", 0), ratio)
                        worst["excess"] = max(worst.get("excess", 0), peaks[bound] - bound)
    print(f"figure files.bounded_ratio {worst['ratio']:.3f}")
    print(f"figure files.bounded_excess_mib {worst['excess']:.1f}")


main()
