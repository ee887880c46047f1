# SPDX-License-Identifier: Apache-2.0
"""What `tesela tune` recommends for each case, beside the fix by hand: python outcomes.py [--cache F] [--compiles N] [NAME ...].

A line of outcomes.tsv for a program, with what is recommended first, and a line of findings.tsv for all that is; figures as in figures.tsv. `reached` is the recommendation's saving as a share of the fix's, of
bytes times cycles in powers of two: 100 % is as good as the fix by hand.
"""

import argparse
import math
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parents[2] / "python"), str(HERE)]

import table  # noqa: E402

import tesela.tune  # noqa: E402
from tesela.tune._compile import Compiler  # noqa: E402

NAMES = (
    "name", "kind", "compiles", "hbm", "auto_hbm", "first_hbm", "cycles", "auto_cycles", "first_cycles", "hbm_saved", "cycles_saved", "reached",
    "first",
)  # fmt: skip
FINDINGS = ("name", "place", "kind", "hbm", "cycles", "difference", "paste")


def gain(hbm, cycles, hbm_after, cycles_after):
    """Of bytes times cycles, in powers of two."""
    return math.log2(hbm * cycles / (hbm_after * cycles_after))


def tuned(case, given):
    return tesela.tune.tune(case.program, *case.given(*case.specs()), compiles=given.compiles, donate=case.donate, cache=given.cache).json


def findings(case, found):
    for place, one in enumerate(found["findings"], 1):
        apart = "-" if one["difference"] is None else f"{one['difference']:.1e}"
        yield [case.name, place, one["kind"], one["hbm_bytes"], round(one["cycles"]), apart, " | ".join(one["paste"])]


def row(case, kind, fix, found):
    default, auto = found["default"], found["auto"]
    hbm, cycles = default["hbm_bytes"], default["cycles"]
    cells = [case.name, kind, found["compiles"], hbm, auto["hbm_bytes"]]
    best = next(iter(found["findings"]), None)
    if best is None:
        return [*cells, "-", round(cycles), round(auto["cycles"]), "-", "-", "-", "-", "no slack"]
    reached = "-"
    if kind == "sick" and fix:
        by_hand = gain(int(fix["hbm"]), int(fix["cycles"]), int(fix["fix_hbm"]), int(fix["fix_cycles"]))
        reached = f"{100 * gain(hbm, cycles, best['hbm_bytes'], best['cycles']) / by_hand:.0f}%" if by_hand > 0 else "-"
    saved = [f"{100 * (1 - after / before):.0f}%" for before, after in ((hbm, best["hbm_bytes"]), (cycles, best["cycles"]))]
    return [*cells, best["hbm_bytes"], round(cycles), round(auto["cycles"]), round(best["cycles"]), *saved, reached, best["words"]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cache", default=os.environ.get("TESELA_TUNE_CACHE"))
    parser.add_argument("--compiles", type=int, default=24)
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    Compiler("v5e")  # its settings come before jax
    import cases

    fixes = {row["name"]: row for row in table.rows("figures.tsv")}
    for name in given.names or cases.CASES:
        found = tuned(cases.CASES[name], given)
        cells = row(cases.CASES[name], cases.kind(name), fixes.get(name), found)
        print(*cells, sep="\t", flush=True)
        table.write(HERE / "outcomes.tsv", f"outcomes.py, at most {given.compiles} compiles each", NAMES, [cells], [name])
        table.write(HERE / "findings.tsv", "outcomes.py", FINDINGS, list(findings(cases.CASES[name], found)), [name])


if __name__ == "__main__":
    main()
