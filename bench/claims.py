#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what claims.tsv claims: each bench runs three times, and a claim is judged by the median of the three.

    bench/claims.py [--build=build/release] [--runs=3] [--write] [BENCH...]

Prints claim, measured (median, least to most) and verdict. --write also puts these rows into the table of RESULTS.md, with the date and
the machine; rows that were not measured stay. A bench whose peer is not on this machine is left out, and said. What the benches print
goes to BUILD/bench/NAME.RUN.log. Exit status 0, also where a goal is missed: times belong to a machine; 1 if a bench fails or prints no
figure of a claim."""

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
SKIPPED = 77
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


def words_of(bench, build):
    """The command of a bench, which may have options; None: its peer is not here."""
    name, *options = bench.split()
    script, program = HERE / f"{name}.py", build / "bench" / name
    if script.exists():
        return [sys.executable, script, f"--tesela={build / 'tesela'}", *options]
    return [program, *options] if program.exists() or not name.startswith("peer_") else None


def say(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def run(bench, words, build, runs):
    """The figures of each run; None: status 77, as a peer is not here."""
    results = []
    for number in range(1, runs + 1):
        say(f"{bench}, run {number} of {runs}")
        done = subprocess.run(words, capture_output=True, text=True)
        (build / "bench" / f"{bench.replace(' ', '')}.{number}.log").write_text(done.stdout + done.stderr)
        if done.returncode == SKIPPED:
            return None
        if done.returncode != 0:
            sys.exit(f"{bench} failed: {done.stderr.strip() or f'status {done.returncode}'}")
        results.append(figures_of(done.stdout))
    say("")
    return results


def title(row):
    claim, _, _, _, relation, bound = row
    return f"{claim}: {relation} {bound:g}"


def judge(row, results):
    """(claim with its goal, measured, verdict) from the figures of the runs; judged is the median as it is printed."""
    _, bench, figure, together, relation, bound = row
    missing = [figures for figures in results if not figures.get(figure)]
    if missing:
        sys.exit(f"{bench} prints no figure {figure}")
    values = [TOGETHER[together](figures[figure]) for figures in results]
    median = f"{statistics.median(values):.4g}"
    measured = f"{median} ({min(values):.4g} to {max(values):.4g})"
    return title(row), measured, "holds" if HOLDS[relation](float(median), bound) else "missed"


def machine():
    """The processor's name, family and model."""
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text()
        name, family, model = (re.search(rf"^{key}\s*: (.*)$", text, re.M)[1] for key in ("model name", "cpu family", "model"))
        return f"{name} {family}/{model}"
    except (OSError, TypeError):
        return platform.processor() or platform.machine()


def table_rows(text):
    """claim with its goal -> row of the table."""
    table = text.split(BEGIN)[1].split(END)[0]
    return {line.split(" | ")[0].removeprefix("| "): line for line in table.splitlines() if line.startswith("| ")}


def write_results(claims, rows):
    path = HERE / "RESULTS.md"
    text = path.read_text()
    kept, when = table_rows(text), f"{datetime.date.today()}, {machine()}"
    kept |= {claim: f"| {claim} | {measured} | {verdict} | `{bench}` | {when} |" for claim, measured, verdict, bench in rows}
    table = ["| claim | median (least to most) | verdict | bench | measured |", "| --- | --- | --- | --- | --- |"]
    table += [kept[name] for name in map(title, claims) if name in kept]
    before, rest = text.split(BEGIN)
    path.write_text(before + BEGIN + "\n".join(table) + "\n" + END + rest.split(END)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parent / "build/release", help="(default: build/release)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each bench (default: 3)")
    parser.add_argument("--write", action="store_true", help="put the rows into the table of RESULTS.md")
    parser.add_argument("bench", nargs="*", help="only these, such as bench_map (default: all)")
    options = parser.parse_args()
    claims = read_claims((HERE / "claims.tsv").read_text())
    benches = list(dict.fromkeys(row[1] for row in claims))
    names = list(dict.fromkeys(bench.split()[0] for bench in benches))
    for name in options.bench:
        if name not in names:
            parser.error(f"unknown bench '{name}'; expected one of {', '.join(names)}")
    if options.runs < 1:
        parser.error(f"expected --runs=1 or more, found {options.runs}")
    rows = []
    for bench in benches:
        if options.bench and bench.split()[0] not in options.bench:
            continue
        words = words_of(bench, options.build)
        results = words and run(bench, words, options.build, options.runs)
        for row in claims if results else []:
            if row[1] == bench:
                rows.append((*judge(row, results), bench))
                print("{0:100} {1:30} {2}".format(*rows[-1]), flush=True)
        if not results:
            print(f"{bench}: not measured, its peer is not on this machine")
    held = sum(row[2] == "holds" for row in rows)
    print(f"{held} of {len(rows)} claims hold")
    if options.write:
        write_results(claims, rows)


if __name__ == "__main__":
    main()
