#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fits the planner's costs to a sweep over random pairs, and keeps them as src/relayout/costs.inc.

    build/release/bench/bench_sweep --json --seed=N >sweep.json
    bench/fit_costs.py [--check | --anew] sweep.json...

A cost is a sum of terms with a weight each. Weights are changed one by one while that lowers the regret, the time of the cheapest way by
estimate over that of the fastest. With --anew the weights of each way are first fitted to its times, by the squares of the relative errors.
Sets of weights that no pair of the sweep uses stay as they are. Prints the regret before and after; --check only that of the weights that are there."""

import argparse
import collections
import json
import math
import pathlib
import re

COSTS = pathlib.Path(__file__).resolve().parent.parent / "src/relayout/costs.inc"
TERMS, SETS = 6, 3
WELL = 4  # of a cost below which tiles in buffers are not tried: is_moved_well() of relayout_cost.c


def read_costs():
    """Way -> its SETS * TERMS weights, in the order of the file."""
    rows = re.findall(r"^TESELA__COST\((\w+),([^)]*)\)$", COSTS.read_text(), re.M)
    return {way: [float(number.strip().rstrip("F")) for number in numbers.split(",")] for way, numbers in rows}


def write_costs(costs):
    text = COSTS.read_text()
    head = text[: text.index("TESELA__COST(")]

    def number(x):
        text = f"{x:.4g}"
        return text + ("F" if "." in text or "e" in text else ".0F")

    def row(way, weights):
        sets = [", ".join(map(number, weights[i : i + TERMS])) for i in range(0, SETS * TERMS, TERMS)]
        return f"TESELA__COST({way},\n  " + ",\n  ".join(sets) + ")\n"

    COSTS.write_text(head + "".join(row(way, weights) for way, weights in costs.items()))


def read_sweeps(paths):
    """A list of cases, each a list of (way, first weight, terms, times)."""
    cases = collections.defaultdict(list)
    for path in paths:
        for line in path.read_text().splitlines():
            row = json.loads(line)
            if "way" in row:
                cases[path, row["case"]].append((row["way"], TERMS * row["set"], row["terms"], row["times"]))
    return list(cases.values())


def cost(costs, entry):
    way, first, terms, _ = entry
    return sum(w * t for w, t in zip(costs[way][first:], terms))


def regret(costs, case):
    """The logarithm of the time of the way that would be chosen over that of the fastest."""
    others = [(cost(costs, entry), entry[3]) for entry in case if entry[0] != "BYTES_COPIED"]
    tiles = [(cost(costs, entry), entry[3]) for entry in case if entry[0] == "BYTES_COPIED"]
    chosen = min(others + tiles) if not others or min(others)[0] >= WELL else min(others)
    return math.log(chosen[1] / min(entry[3] for entry in case))


def report(name, costs, cases):
    regrets = sorted(regret(costs, case) for case in cases)
    print(f"{name}: {len(cases)} cases, regret {math.exp(sum(regrets) / len(regrets)):.4f}, "
          f"95th percentile {math.exp(regrets[int(0.95 * (len(regrets) - 1))]):.3f}, most {math.exp(regrets[-1]):.2f}")  # fmt: skip


def least_squares(entries, weights):
    """Weights of 0 or more with the least sum of (estimate / time - 1)^2, by coordinates."""
    rows = [[term / times for term in terms] for _, _, terms, times in entries]
    weights = list(weights)
    rest = [1 - sum(w * x for w, x in zip(weights, row)) for row in rows]
    for _ in range(300):
        for i in range(TERMS):
            square = sum(row[i] * row[i] for row in rows)
            if square == 0:
                continue
            new = max(0.0, weights[i] + sum(row[i] * r for row, r in zip(rows, rest)) / square)
            if new != weights[i]:
                rest = [r - (new - weights[i]) * row[i] for row, r in zip(rows, rest)]
                weights[i] = new
    return weights


def fit_times(costs, cases):
    entries = collections.defaultdict(list)
    for case in cases:
        for entry in case:
            entries[entry[0], entry[1]].append(entry)
    for (way, first), found in entries.items():
        if len(found) >= 12:
            costs[way][first : first + TERMS] = least_squares(found, costs[way][first : first + TERMS])


def fit_regret(costs, cases):
    """Search one weight at a time, and all of a way together; only the cases of a way change with its weights."""
    of_way = collections.defaultdict(list)
    for case in cases:
        for way, first in {(entry[0], entry[1]) for entry in case}:
            of_way[way, first].append(case)
    for step in (2.0, 2.0, 1.4, 1.15, 1.05):
        for (way, first), mine in of_way.items():
            if len(mine) < 12:
                continue
            best = sum(regret(costs, case) for case in mine)
            end = first + TERMS
            for i in range(first, end):
                old = costs[way][i]
                tries = [costs[way][first:i] + [new] + costs[way][i + 1 : end]
                         for new in (old * step, old / step, 0.0, old + 0.02 * step, old + 0.2 * step)]  # fmt: skip
                tries += [[weight * times for weight in costs[way][first:end]] for times in (step, 1 / step)]
                for weights in tries:
                    before, costs[way][first:end] = costs[way][first:end], weights
                    total = sum(regret(costs, case) for case in mine)
                    if total < best - 1e-3:
                        best = total
                    else:
                        costs[way][first:end] = before


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="print the regret of the weights that are there; write nothing")
    parser.add_argument("--anew", action="store_true", help="begin with the weights that fit the times best")
    parser.add_argument("sweep", type=pathlib.Path, nargs="+", help="what bench_sweep --json printed")
    options = parser.parse_args()
    cases = [case for case in read_sweeps(options.sweep) if len(case) > 1]
    if not cases:
        parser.error("no case has two ways")
    costs = read_costs()
    report("weights of costs.inc", costs, cases)
    if options.check:
        return
    if options.anew:
        fit_times(costs, cases)
        report("least squares", costs, cases)
    fit_regret(costs, cases)
    report("least regret", costs, cases)
    write_costs(costs)


if __name__ == "__main__":
    main()
