# SPDX-License-Identifier: Apache-2.0
"""The time of `tesela report FOLDER` for a dump folder of 100 MB: the larger programs of tests/data/peak with their buffer assignments and
lives, each several times under other names.

    python bench/bench_folder.py [--tesela=PATH] [--mb=100] [--rounds=5]"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1]
PEAK = SOURCE / "tests" / "data" / "peak"
LEAST = 40_000  # bytes of a program: those of users have more


def programs():
    """Name, and for each ending of a file its text."""
    for text in sorted(PEAK.glob("*.hlo")):
        records = sorted((PEAK / "dumps").glob(f"{text.stem}.after_optimizations-*.txt"))
        files = {".txt": text.read_text(), **{file.name.split("after_optimizations")[1]: file.read_text() for file in records}}
        if sum(map(len, files.values())) >= LEAST:
            yield text.stem, files


def write(folder, most):
    """Fills the folder; returns its bytes."""
    all_programs, total, number = list(programs()), 0, 0
    while total < most:
        for name, files in all_programs:
            start = f"module_{number:04}.{name}_{number}.cl_1.after_optimizations"
            for end, text in files.items():
                if end == ".txt":
                    text = text.replace("HloModule ", f"HloModule n{number}_", 1)
                (folder / (start + end)).write_text(text)
                total += len(text)
            number += 1
    return total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tesela", default=SOURCE / "build/release/tesela", type=str)
    parser.add_argument("--mb", type=float, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, times = Path(name), []
        total = write(folder, options.mb * 1e6)
        for _ in range(options.rounds):
            begin = time.monotonic()
            done = subprocess.run([options.tesela, "report", "--json", str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            times.append(time.monotonic() - begin)
            if done.returncode != 0:
                sys.exit(f"tesela report ended with {done.returncode}")
        seconds = statistics.median(times) / total * 1e8
        print(f"{total / 1e6:.0f} MB in {len(list(folder.iterdir()))} files: {statistics.median(times):.3f} s, {min(times):.3f} to {max(times):.3f}")
        print(f"figure folder.seconds_100mb {seconds:.4g}")


if __name__ == "__main__":
    main()
