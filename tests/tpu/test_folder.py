# SPDX-License-Identifier: Apache-2.0
"""Dump folders as users get them: --xla_dump_to and --xla_jf_dump_to of programs compiled here, beside the compiler's own figures."""

import json
import os
import subprocess
import sys

import peak_programs
import pytest

NAMES = ("scan_grad", "sort_kv", "attention", "cond_tuple", "donate_adam")
NEAR = 64 << 10  # bytes: scalars

COMPILE = """
import json, sys
import peak_programs
from peak_programs import tpu_compiler
for name, target, made in peak_programs.programs():
    if name not in sys.argv[1:]:
        continue
    of = peak_programs.lower(made, target).compile().memory_analysis()
    print(json.dumps([name, of.argument_size_in_bytes, of.output_size_in_bytes, of.alias_size_in_bytes, of.temp_size_in_bytes]))
"""


def report(folder):
    done = subprocess.run([os.environ["TESELA_COMMAND"], "report", "--json", "--top", "3", str(folder)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def dump(tmp_path_factory):
    """The folder, and the figures of each program in the order in which they were compiled."""
    folder = tmp_path_factory.mktemp("dump")
    env = {
        **os.environ, "XLA_FLAGS": f"--xla_dump_to={folder}/xla --xla_dump_hlo_as_text --xla_dump_hlo_as_proto",
        "LIBTPU_INIT_ARGS": f"--xla_jf_dump_to={folder}/jf", "PYTHONPATH": os.pathsep.join(sys.path),
    }  # fmt: skip
    done = subprocess.run([sys.executable, "-c", COMPILE, *NAMES], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return folder, [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]


def test_programs(dump):
    folder, figures = dump
    found = sorted((one for one in report(folder)["programs"] if one["spaces"]), key=lambda one: one["source"])
    assert len(found) == len(figures) == len(NAMES)
    for program, (name, argument, output, alias, temp) in zip(found, figures, strict=True):
        assert program["differences"] == [], (name, program["differences"])
        assert program["total_bytes"] == program["sum_bytes"], name
        (main,) = (space for space in program["spaces"] if space["space"] == 0)
        # temp is the compiler's arena and its fragmentation
        fragmented = main["needs_bytes"] - main["peak_bytes"]
        assert abs(argument + output - alias + temp - main["needs_bytes"] - fragmented) <= NEAR, (name, main)
        assert peak_programs.is_near(main["own_peak_bytes"], main["peak_bytes"]), (name, main)
        for space in program["spaces"]:
            assert space["printed_bytes"] in (None, space["needs_bytes"]), (name, space)
            alive = [one for one in program["buffers"] if one["space"] == space["space"] and one["at_peak"]]
            assert all(one["from"] is None or one["offset"] >= 0 for one in alive)


def test_the_final_text_counts_once(dump):
    folder, _ = dump
    both, xla, jf = (report(one) for one in (folder, folder / "xla", folder / "jf"))
    assert both["totals"] == xla["totals"] == jf["totals"]
    assert both["peak"] == xla["peak"] and [one["bytes"] for one in jf["peak"]] == [one["bytes"] for one in xla["peak"]]
    assert "a stage of code generation" in {one["why"] for one in both["skipped"]}
