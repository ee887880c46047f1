# SPDX-License-Identifier: Apache-2.0
"""The verb bench: what it measures, and how it prints times."""

import math
import re

from plan_verb import as_json, done


def test_bench():
    result = as_json("bench", "f32[200,300]{1,0} -> {0,1:T(8,128)}", "--solver=all", "--isa=all", "--rounds=3")
    written = 304 * 256 * 4  # dim 1 comes first: 300 rows of 200 in tiles of 8 by 128
    assert (result["bytes_read"], result["bytes_written"], result["rounds"]) == (240000, written, 3)
    assert result["memcpy"]["bytes"] == (240000 + written) // 2
    assert {"any", "gather", "strided"} <= {way["solver"] for way in result["ways"]}
    for timing in [result["memcpy"], *result["ways"]]:
        assert 0 < timing["best_ns"] <= timing["median_ns"]
        assert math.isclose(timing["gb_per_s"], (240000 + written) / timing["median_ns"])
    for way in result["ways"]:
        assert way["ratio_to_memcpy"] > 0 and way["create_ns"] > 0 and way["threads"] >= 1


def test_bench_in_a_table():
    lines = done("bench", "f32[200,300]{1,0} -> {0,1}", "--rounds=3", "--threads=1").splitlines()
    assert lines[0] == "240000 bytes read, 240000 written, 3 rounds; memcpy of 240000 bytes"
    assert lines[1].split()[:2] == ["solver", "isa"] and len(lines) == 4
    assert lines[2].split()[0] == "(memcpy)" and lines[2].split()[-1] == "1.00"
    plan = as_json("plan", "f32[200,300]{1,0} -> {0,1}", "--threads=1")
    assert lines[3].split()[:3] == ["any:", plan["solver"], plan["isa"]] and lines[3].endswith(", 1 thread")
    ends = [[m.end() for m in re.finditer(r"[\d.]+ (ns|us)", line)][:2] for line in lines[2:4]]
    assert len(ends[0]) == 2 and ends[0] == ends[1]


def test_short_times_are_in_nanoseconds():
    lines = done("bench", "f32[3,5]{1,0} -> {1,0}", "--rounds=3", "--solver=rows", "--isa=c").splitlines()
    assert lines[3].split()[:2] == ["rows", "c"]
    for line in lines[2:4]:
        times = re.findall(r"([\d.]+) (ns|us)", line)
        assert all((float(time) < 10000) if unit == "ns" else (float(time) >= 10) for time, unit in times) and times
        assert float(times[0][0]) > 0


def test_bench_of_nothing():
    assert as_json("bench", "f32[0,4] -> {0,1}", "--rounds=3")["memcpy"]["bytes"] == 0
