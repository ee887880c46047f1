# SPDX-License-Identifier: Apache-2.0
"""What the compiler says of each case and of its fix: python figures.py [--cache FOLDER] [NAME ...] -> figures.tsv.

A line for a program: bytes of HBM (arguments, results and temporaries less what is aliased), and the estimate in cycles, as given, with
the layouts that the compiler chooses itself (AUTO), and of the fix; what the fix saves of each; for a size that does not fit, what the
compiler says that it and the fix need.
"""

import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).parents[3] / "python"), str(pathlib.Path(__file__).parent)]

import table  # noqa: E402
from tesela.tune._compile import Compiler  # noqa: E402

HERE = pathlib.Path(__file__).parent
NAMES = (
    "name", "kind", "hbm", "auto_hbm", "fix_hbm", "hbm_saved", "cycles", "auto_cycles", "fix_cycles", "cycles_saved", "large", "large_fix",
)  # fmt: skip


def share(before, after):
    return f"{100 * (1 - after / before):.0f}%" if before else "-"


def total(one):
    """Bytes, with "refused" where the program does not fit."""
    return str(one.hbm) if one.fits else f"refused:{one.hbm}"


def row(case, kind, compile):
    default = compile(case.program, case.specs(), donate=case.donate)
    auto = compile(case.program, case.specs(), donate=case.donate, arguments="auto", results="auto")
    cells = [case.name, kind, default.hbm, auto.hbm]
    fix = compile(case.fixed, case.fixed_specs(), donate=case.donate) if case.fixed else None
    cells += [fix.hbm, share(default.hbm, fix.hbm)] if fix else ["-", "-"]
    cells += [round(default.cycles), round(auto.cycles)]
    cells += [round(fix.cycles), share(default.cycles, fix.cycles)] if fix else ["-", "-"]
    if case.large:
        large = compile(case.program, case.specs("large"), donate=case.donate)
        cells += [total(large), total(compile(case.fixed, case.fixed_specs("large"), donate=case.donate))]
    else:
        cells += ["-", "-"]
    return cells


def main():
    given = table.arguments("figures.tsv")
    compile = Compiler("v5e", cache=given.cache)
    import cases

    rows = []
    for name in given.names or cases.CASES:
        rows.append(row(cases.CASES[name], cases.kind(name), compile))
        print(*rows[-1], sep="\t", flush=True)
    table.write(given.out, "figures.py", NAMES, rows, given.names)


if __name__ == "__main__":
    main()
