# SPDX-License-Identifier: Apache-2.0
"""The tables of the doctor, NAME.tsv: rows as dicts, and one way to write them."""

import argparse
import csv
import importlib.metadata
import os
import pathlib

HERE = pathlib.Path(__file__).parent


def arguments(out):
    """Of a script that writes table `out`: a cache of the compiler, another place for the table, only some programs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cache", default=os.environ.get("TESELA_TUNE_CACHE"))
    parser.add_argument("--out", default=str(HERE / out))
    parser.add_argument("names", nargs="*")
    return parser.parse_args()


def rows(name):
    with open(HERE / name) as file:
        return list(csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t", quoting=csv.QUOTE_NONE))


def write(path, by, names, found, some=()):
    """Rows made by a script. `some`: rows of these programs alone are new, the others of the file stay where they are."""
    path = pathlib.Path(path)
    found = [[str(cell) for cell in cells] for cells in found]
    if some and path.exists():
        old = [[row[name] for name in names] for row in rows(path)]
        order = list(dict.fromkeys([*(cells[0] for cells in old), *some]))
        found += [cells for cells in old if cells[0] not in some]
        found.sort(key=lambda cells: order.index(cells[0]))
    made = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("jax", "jaxlib", "libtpu"))
    lines = [f"# SPDX-License-Identifier: Apache-2.0\n# Estimates of the compiler for a v5e ({made}), no run; made by {by}.\n"]
    lines += ["\t".join(cells) + "\n" for cells in (names, *found)]
    path.write_text("".join(lines))
