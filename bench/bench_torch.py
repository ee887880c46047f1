#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The backend "tesela" of torch.compile: time to compile, by pass; memory beside eager's; the time of a call.

    PYTHONPATH=python TESELA_LIBRARY=... build/frameworks/bin/python bench/bench_torch.py [--rounds 3] [MODEL...]

The models are those of tests/python/frameworks/test_torch_backend.py and a transformer of 12 blocks, each forward and backward, one
thread. Times are of the CPU, medians of rounds that alternate with torch's own backend aot_eager, which traces the model, too, without
these decompositions, and runs what it traced. Goals (bench/RESULTS.md): planned peaks are the bytes that live at one step; compiling
takes at most 3 times as long as with aot_eager, in the geometric mean of the models.
"""

import argparse
import collections
import contextlib
import importlib
import math
import pathlib
import statistics
import sys
import time

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

import tesela
import tesela.torch
from tesela._graph_run import Ready
from tesela.torch import _backend

TESTS = pathlib.Path(__file__).parents[1] / "tests/python/frameworks/test_torch_backend.py"


def models():
    sys.path.insert(0, str(TESTS.parent))
    module = importlib.import_module(TESTS.stem)
    blocks = lambda: torch.nn.Sequential(*(module.Block(64, 4) for _ in range(12)))
    return {**module.MODELS, "12 blocks": lambda: (blocks(), (torch.randn(2, 16, 64),))}


# ---- time


class Passes:
    """Seconds in each pass; a pass inside another one counts for itself."""

    NAMES = ("trace", "lower", "assign", "plan", "prepare")

    def __init__(self):
        self.seconds, self.open = collections.Counter(), []

    @contextlib.contextmanager
    def timed(self, name):
        self.open.append(0.0)
        start = time.process_time()
        try:
            yield
        finally:
            whole = time.process_time() - start
            self.seconds[name] += whole - self.open.pop()
            if self.open:
                self.open[-1] += whole

    def __enter__(self):
        self.kept = []
        for owner, name, label in (
            (_backend, "divided", "lower"), (tesela.Graph, "assign", "assign"), (tesela.Graph, "plan", "plan"),
            (Ready, "__init__", "prepare"),
        ):  # fmt: skip
            original = getattr(owner, name)
            self.kept.append((owner, name, original))

            def call(*args, _original=original, _label=label, **keywords):
                with self.timed(_label):
                    return _original(*args, **keywords)

            setattr(owner, name, call)
        return self

    def __exit__(self, *_):
        for owner, name, original in self.kept:
            setattr(owner, name, original)


def run(call, inputs):
    y = call(*inputs)
    y.square().sum().backward()


def compile_time(make, backend):
    """Seconds of the first call, forward and backward, less a later one; the passes; the compiled graphs; seconds of a call."""
    torch._dynamo.reset()
    torch.manual_seed(1)
    model, inputs = make()
    call = torch.compile(model, backend=backend, dynamic=False)
    with Passes() as passes, _backend.recorded() as graphs:
        start = time.process_time()
        run(call, inputs)
        first = time.process_time() - start
    later = []
    for _ in range(5):
        start = time.process_time()
        run(call, inputs)
        later.append(time.process_time() - start)
    later = statistics.median(later)
    passes.seconds["trace"] = first - later - sum(passes.seconds.values())
    return first - later, passes.seconds, graphs, later


# ---- memory


class Live(TorchDispatchMode):
    """The most bytes of storages made under this mode that live at the same time."""

    def __init__(self, given):
        super().__init__()
        self.given = {one.untyped_storage()._cdata for one in given}
        self.live, self.peak = {}, 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        found = function(*args, **(kwargs or {}))
        for one in tree_leaves(found):
            if isinstance(one, torch.Tensor) and one.untyped_storage()._cdata not in self.given:
                storage = one.untyped_storage()
                self.live.setdefault(storage._cdata, (StorageWeakRef(storage), storage.nbytes()))
        self.live = {key: one for key, one in self.live.items() if not one[0].expired()}
        self.peak = max(self.peak, sum(size for _, size in self.live.values()))
        return found


def eager_peaks(make):
    """Of forward, and of backward with what forward kept; parameters and inputs do not count."""
    torch.manual_seed(1)
    model, inputs = make()
    given = [*model.parameters(), *model.buffers(), *(x for x in inputs if isinstance(x, torch.Tensor))]
    with Live(given) as live:
        y = model(*inputs)
        forward, live.peak = live.peak, 0
        y.square().sum().backward()
    return forward, live.peak


def planned_peaks(graphs):
    """The same of a compiled model, in device layouts: arenas with the results and what was kept; the sum of all buffers; the largest
    ratio of an arena's peak to the bytes that live at one of its steps; what padding makes of the bytes of tensors in arenas."""
    peaks, total, ratios, padded = {}, 0, [1.0], []
    for graph in graphs:
        for part in graph.parts:
            if part.memory is None:
                continue
            outside = [row for row in part.memory.buffers if row.where == "outside" and not row.name.startswith("primals_")]
            bytes_outside = sum(row.bytes for row in outside)
            peaks[graph.kind] = max(peaks.get(graph.kind, 0), part.memory.peak + bytes_outside)
            total += part.memory.naive + bytes_outside
            padded.append((part.memory.naive, part.memory.host_bytes))
            if part.memory.arena.live:
                ratios.append(part.memory.peak / part.memory.arena.live)
    device, host = map(sum, zip(*padded))
    return peaks["forward"], peaks["backward"], total, max(ratios), device / host


def kib(size):
    return f"{size / 1024:.1f}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("model", nargs="*")
    options = parser.parse_args()
    torch.set_num_threads(1)
    chosen = {name: make for name, make in models().items() if not options.model or name in options.model}
    compile_time(lambda: (torch.nn.Linear(3, 3), (torch.ones(2, 3),)), "aot_eager")  # torch's own first time
    compile_time(lambda: (torch.nn.Linear(3, 3), (torch.ones(2, 3),)), "tesela")
    ratios, fullest = [], []
    print("| model | compile, ms | " + " | ".join(Passes.NAMES) + " | aot_eager | ratio | a call, ms | aot_eager |")
    print("| --- |" + " ---: |" * (len(Passes.NAMES) + 5))
    graphs = {}
    for name, make in chosen.items():
        rounds = [(compile_time(make, "tesela"), compile_time(make, "aot_eager")) for _ in range(options.rounds)]
        graphs[name] = rounds[-1][0][2]
        middle = lambda values: statistics.median(values)
        passes = [middle([1e3 * ours[1][one] for ours, _ in rounds]) for one in Passes.NAMES]
        ratios.append(middle([ours[0] / theirs[0] for ours, theirs in rounds]))
        cells = [1e3 * middle([ours[0] for ours, _ in rounds]), *passes, 1e3 * middle([theirs[0] for _, theirs in rounds])]
        calls = [1e3 * middle([one[k][3] for one in rounds]) for k in (0, 1)]
        numbers = [f"{one:.0f}" for one in cells] + [f"{ratios[-1]:.2f}", f"{calls[0]:.1f}", f"{calls[1]:.1f}"]
        print(f"| {name} | {' | '.join(numbers)} |", flush=True)
    heads = ("forward, eager", "planned", "backward, eager", "planned", "all buffers", "device / host bytes", "peak / live", "price / bound")
    print(f"\n| KiB | {' | '.join(heads)} |")
    print("| --- |" + " ---: |" * 8)
    for name, make in chosen.items():
        forward, backward = eager_peaks(make)
        planned = planned_peaks(graphs[name])
        fullest.append(planned[3])
        costs = [part.assignment for graph in graphs[name] for part in graph.parts if part.assignment is not None]
        price, bound = sum(one.cost for one in costs), sum(one.bound for one in costs)
        print(
            f"| {name} | {kib(forward)} | {kib(planned[0])} | {kib(backward)} | {kib(planned[1])} | {kib(planned[2])} | "
            f"{planned[4]:.1f} | {planned[3]:.3f} | {price} / {bound} |"
        )  # fmt: skip
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    print(f"\nfigure torch.compile_ratio {mean:.3f}\nfigure torch.peak_of_live {max(fullest):.4f}")
    print(f"goals: compile {'holds' if mean <= 3 else 'MISSED'}, memory {'holds' if max(fullest) <= 1 else 'MISSED'}")


if __name__ == "__main__":
    main()
