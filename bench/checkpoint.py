#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast `tesela pack` packs a checkpoint in shards, compared with `cp`.

    bench/checkpoint.py [SIZE] [--tesela=build/release/tesela] [--folder=DIR] [--memory=1GiB] [--rounds=3] [--only=warm,cold]

SIZE is that of the checkpoint, such as 256MiB (default: 8GiB): bf16 matrices in shards of at most 1 GiB, made anew in DIR (default: a
new folder in the current one), which needs room for it twice. Each round copies and packs, in turns, with the input in memory (warm)
and not (cold: its pages are dropped before). Both end when the output is on the disk: cp is followed by a sync of the files, and pack
syncs them itself. A ratio is the time of pack for a byte that it writes, divided by that of cp; the output has padding, so it is
larger. The median of the rounds is printed, with the largest memory of the process.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

RULES = ["*.weight={1,0:T(8,128)(2,1)}", "*.bias={0:T(1024)}"]
COLUMNS, SHARD = 4000, 1 << 30  # elements; bytes
WAYS = {"cp": None, "pack": [], "pack --resume": ["--resume"], "pack --verify": ["--verify"]}


def bytes_of(text):
    units = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
    return int(text[:-3]) * units[text[-3:]] if text[-3:] in units else int(text)


def make(folder, size):
    """Shards of matrices of about 64 MiB, each with a bias, and the index."""
    rng, places, made, shard = random.Random(1), {}, 0, 0
    block = rng.randbytes(min(size, 64 << 20) + 4096)
    while made < size:
        tensors, at = {}, 0
        while at < min(SHARD, size - made):
            rows = max(1, min(64 << 20, size - made - at) // (2 * COLUMNS))
            layer = len(places) + len(tensors)
            for name, dims in ((f"layer.{layer}.weight", [rows, COLUMNS]), (f"layer.{layer}.bias", [COLUMNS])):
                end = at + 2 * dims[0] * (COLUMNS if len(dims) == 2 else 1)
                tensors[name] = {"dtype": "BF16", "shape": dims, "data_offsets": [at, end]}
                at = end
        name = f"model-{shard:05}.safetensors"
        header = json.dumps(tensors).encode()
        header += b" " * (-len(header) % 8)
        with open(folder / name, "wb") as file:
            file.write(struct.pack("<Q", len(header)) + header)
            for tensor in tensors.values():
                begin, end = tensor["data_offsets"]
                skip = rng.randrange(4096)
                file.write(memoryview(block)[skip : skip + end - begin])
            file.flush()
            os.fsync(file.fileno())
        places |= dict.fromkeys(tensors, name)
        made += at
        shard += 1
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {"total_size": made}, "weight_map": places}))


def drop(folder):
    for path in folder.iterdir():
        with open(path, "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def load(folder):
    for path in folder.iterdir():
        with open(path, "rb") as file:
            while file.read(1 << 22):
                pass


def timed(words):
    """Seconds, and the largest memory in bytes."""
    begin = time.perf_counter()
    child = subprocess.Popen(words, stderr=subprocess.PIPE)
    said = child.stderr.read().decode()
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - begin
    if status != 0:
        sys.exit(f"{words[0]} failed: {said}")
    return seconds, usage.ru_maxrss * 1024


def measure(way, source, target, options):
    """Nanoseconds for a byte written, and the largest memory."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    os.sync()
    if WAYS[way] is None:
        seconds, memory = timed(["sh", "-c", 'cp "$1"/* "$2"/ && sync "$2"/* "$2"', "sh", source, target])
    else:
        index = "model.safetensors.index.json"
        words = [options.tesela, "pack", source / index, "-o", target / index, f"--memory={options.memory}", *WAYS[way], *RULES]
        seconds, memory = timed(list(map(str, words)))
    written = sum(path.stat().st_size for path in target.iterdir())
    return seconds * 1e9 / written, memory


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("size", nargs="?", default="8GiB")
    parser.add_argument("--tesela", default="build/release/tesela")
    parser.add_argument("--folder")
    parser.add_argument("--memory", default="1GiB")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="warm,cold")
    parser.add_argument("--ways", default=",".join(WAYS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder or ".", prefix="checkpoint-") as top:
        source, target = pathlib.Path(top) / "in", pathlib.Path(top) / "out"
        source.mkdir()
        make(source, bytes_of(options.size))
        ways = options.ways.split(",")
        for state in options.only.split(","):
            times = {way: [] for way in ways}
            peaks = {}
            for _ in range(options.rounds):
                for way in ways:
                    (drop if state == "cold" else load)(source)
                    per_byte, peaks[way] = measure(way, source, target, options)
                    times[way].append(per_byte)
            for way in ways:
                ratio = statistics.median(a / b for a, b in zip(times[way], times["cp"]))
                print(f"{state}  {way:14} {statistics.median(times[way]):7.3f} ns a byte  {ratio:5.2f} times cp"
                      f"  {peaks[way] / (1 << 20):6.0f} MiB", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
