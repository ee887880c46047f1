#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what claims.tsv claims: each bench runs three times, and a claim is judged by the median of the three.

    bench/claims.py [--build=build/release] [--runs=3] [--write] [BENCH...]

Prints claim, measured (median, least to most) and verdict. --write also puts that table into RESULTS.md, with the date and the
machine. What the benches print goes to BUILD/bench/NAME.RUN.log. Exit status 0, also where a goal is missed: times belong to a
machine; 1 if a bench fails or prints no figure of a claim."""

import argparse
import datetime
import math
import operator
import pathlib
import platform
import re
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TOGETHER = {
    "min": min,
    "max": max,
    "sum": sum,
    "mean": lambda values: math.exp(statistics.fmean(map(math.log, values))),
}
HOLDS = {"<=": operator.le, ">=": operator.ge}
BEGIN, END = "<!-- claims: bench/claims.py --write -->\n", "<!-- end of claims -->\n"


def read_claims(text):
    """Rows of (claim, bench, figure, together, relation, bound)."""
    rows = []
    for line in text.splitlines():
        if line and not line.startswith("#"):
            claim, bench, figure, together, goal = line.split("\t")
            relation, bound = goal.split(" ")
            rows.append((claim, bench, figure, together, relation, float(bound)))
    return rows


def figures_of(text):
    """name -> values, from lines "figure NAME VALUE"."""
    found = {}
    for name, value in re.findall(r"^figure (\S+) (\S+)$", text, re.M):
        found.setdefault(name, []).append(float(value))
    return found


def run(bench, build, runs):
    """The figures of each run."""
    results = []
    for number in range(1, runs + 1):
        if sys.stderr.isatty():
            print(f"\r\033[K{bench}, run {number} of {runs}", end="", file=sys.stderr, flush=True)
        script = HERE / f"{bench}.py"
        words = [sys.executable, script, f"--tesela={build / 'tesela'}"] if script.exists() else [build / "bench" / bench]
        done = subprocess.run(words, capture_output=True, text=True)
        (build / "bench" / f"{bench}.{number}.log").write_text(done.stdout + done.stderr)
        if done.returncode != 0:
            sys.exit(f"{bench} failed: {done.stderr.strip() or f'status {done.returncode}'}")
        results.append(figures_of(done.stdout))
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    return results


def judge(row, results):
    """(claim with its goal, measured, verdict) from the figures of the runs."""
    claim, bench, figure, together, relation, bound = row
    missing = [figures for figures in results if not figures.get(figure)]
    if missing:
        sys.exit(f"{bench} prints no figure {figure}")
    values = [TOGETHER[together](figures[figure]) for figures in results]
    median = statistics.median(values)
    measured = f"{median:.4g} ({min(values):.4g} to {max(values):.4g})"
    return f"{claim}: {relation} {bound:g}", measured, "holds" if HOLDS[relation](median, bound) else "missed"


def machine():
    try:
        return re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)[1]
    except (OSError, TypeError):
        return platform.processor() or platform.machine()


def write_results(rows, runs):
    path = HERE / "RESULTS.md"
    text = path.read_text()
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    table = [f"{runs} runs of each bench, {datetime.date.today()}, {machine()}.", ""]
    table += ["| claim | median (least to most) | verdict | bench |", "| --- | --- | --- | --- |"]
    table += [f"| {claim} | {measured} | {verdict} | `{bench}` |" for claim, measured, verdict, bench in rows]
    path.write_text(before + BEGIN + "\n".join(table) + "\n" + END + after)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parent / "build/release", help="(default: build/release)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each bench (default: 3)")
    parser.add_argument("--write", action="store_true", help="put the table into RESULTS.md; takes all benches")
    parser.add_argument("bench", nargs="*", help="only these, such as bench_map (default: all)")
    options = parser.parse_args()
    claims = read_claims((HERE / "claims.tsv").read_text())
    benches = list(dict.fromkeys(row[1] for row in claims))
    for name in options.bench:
        if name not in benches:
            parser.error(f"unknown bench '{name}'; expected one of {', '.join(benches)}")
    if options.write and options.bench:
        parser.error("--write takes all benches")
    if options.runs < 1:
        parser.error(f"expected --runs=1 or more, found {options.runs}")
    rows = []
    for bench in options.bench or benches:
        results = run(bench, options.build, options.runs)
        for row in claims:
            if row[1] == bench:
                rows.append((*judge(row, results), bench))
                print("{0:86} {1:30} {2}".format(*rows[-1]), flush=True)
    held = sum(row[2] == "holds" for row in rows)
    print(f"{held} of {len(rows)} claims hold")
    if options.write:
        write_results(rows, options.runs)


if __name__ == "__main__":
    main()
