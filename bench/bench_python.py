#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What Python adds to the C functions: the time of a call, and of a large relayout beside the C function itself.

    PYTHONPATH=python TESELA_LIBRARY=... build/venv/bin/python bench/bench_python.py [--rounds 15] [--mib 256]

Each call is timed in rounds that alternate with the C function called with ready arguments (ctypes, whose own cost is printed); the
median of the differences, or of the ratios, is what counts. Goals (bench/RESULTS.md): a call costs less than 2 us over the C
function, a relayout of 256 MiB at most 2 %.
"""

import argparse
import ctypes
import statistics
import time

import numpy as np

import tesela
from tesela._library import byref, lib, quick


def seconds(function, times):
    start = time.perf_counter()
    for _ in range(times):
        function()
    return (time.perf_counter() - start) / times


def over(name, python, c, rounds, times=20000):
    """The median of what a call of Python takes longer than that of the C function."""
    pairs = [(seconds(python, times), seconds(c, times)) for _ in range(rounds)]
    median = statistics.median(a - b for a, b in pairs)
    print(f"  {name:30} {1e6 * statistics.median(a for a, _ in pairs):8.2f} us, {1e6 * median:6.2f} us over C")
    return median


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--mib", type=int, default=256)
    given = parser.parse_args()

    layout = tesela.layout("f32[3,5]{1,0:T(2,2)}")
    index, place, padding = (ctypes.c_int64 * 2)(2, 3), ctypes.c_int64(17), ctypes.c_bool()
    place_of, element_at = quick("tesela_layout_place_of"), quick("tesela_layout_element_at")
    room = (ctypes.c_int64 * 2)()
    small = tesela.plan("f32[3,5]", "{1,0:T(2,2)}")
    x, y = np.zeros(15, np.float32), np.zeros(24, np.float32)
    source, target = x.ctypes.data, y.ctypes.data
    nothing = ctypes.PyDLL(lib._name).tesela_version

    print("calls, median of the rounds")
    print(f"  {'ctypes, no arguments':30} {1e9 * min(seconds(nothing, 20000) for _ in range(given.rounds)):8.0f} ns")
    worst = max(
        over("layout.where(2, 3)", lambda: layout.where(2, 3), lambda: place_of(layout._at, index, byref(place), None), given.rounds),
        over("layout.what(17)", lambda: layout.what(17), lambda: element_at(layout._at, byref(place), room, byref(padding), None), given.rounds),
        over("plan(x, out) of 15 numbers", lambda: small(x, y), lambda: lib.tesela_plan_run(small._plan, target, source, None, None), given.rounds),
    )  # fmt: skip

    rows = given.mib << 18 >> 13
    a, b = f"f32[{rows},8192]", f"f32[{rows},8192]{{1,0:T(8,128)}}"
    big = tesela.plan(a, b)
    x, y = np.ones(rows * 8192, np.float32), np.zeros(big.dst.places, np.float32)
    source, target = x.ctypes.data, y.ctypes.data
    ratios = []
    for _ in range(given.rounds):
        c = seconds(lambda: lib.tesela_plan_run(big._plan, target, source, None, None), 1)
        ratios.append(seconds(lambda: tesela.relayout(x, a, b, out=y), 1) / c)
    ratio = statistics.median(ratios)
    print(f"relayout of {x.nbytes >> 20} MiB, {a} -> {b}: {ratio:.3f} of the time of the C function")
    print(f"goals: a call {'holds' if worst < 2e-6 else 'MISSED'}, relayout {'holds' if ratio <= 1.02 else 'MISSED'}")


if __name__ == "__main__":
    main()
