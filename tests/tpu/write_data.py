# SPDX-License-Identifier: Apache-2.0
"""Writes what the compiler says to tests/data, for tests that run without it: `tools/tpu.sh --write`."""

import importlib.metadata
import pathlib
import tempfile

import buffer_records
import orders
import peak_programs
import programs

DATA = pathlib.Path("tests/data")
SEED = 1611  # other shapes than those that the rule was found from, tests/data/tpu_tiles.tsv


def made_with():
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("jax", "jaxlib", "libtpu"))


def write_orders():
    with open(DATA / "tpu_orders.tsv", "w") as out:
        out.write(
            "# SPDX-License-Identifier: Apache-2.0\n"
            f"# Layouts that the TPU compiler ({made_with()}) gives to program arguments, seed {SEED};\n"
            "# made by tools/tpu.sh --write. A line for a program: target, argument_size_in_bytes; then its arguments.\n"
        )
        for target, _, layouts, total in orders.observed(SEED):
            out.write(f"{target}\t{total}\n")
            out.writelines(f"{layout}\n" for layout in layouts)


def write_programs():
    """tests/data/predict/TARGET-N.mlir, for even N also .hlo where it says as much, and figures.tsv."""
    folder = DATA / "predict"
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    with open(folder / "figures.tsv", "w") as out:
        out.write(
            "# SPDX-License-Identifier: Apache-2.0\n"
            f"# Programs, and what the TPU compiler ({made_with()}) says of them once compiled, seed {SEED};\n"
            "# made by tools/tpu.sh --write. Bytes; alias: - where the compiler picks.\n"
            "# file\ttarget\t" + "\t".join(programs.NAMES) + "\n"
        )
        for target in orders.TARGETS:
            for number in range(8):
                lowered = programs.lower(f"{SEED} {number}", target)
                figures = programs.compiled_sizes(lowered)
                texts = {"mlir": lowered.as_text()}
                if "pinned_host" not in texts["mlir"] and "mhlo.layout_mode" not in texts["mlir"] and number % 2 == 0:
                    texts["hlo"] = lowered.as_text(dialect="hlo")
                if "jax.buffer_donor" in texts["mlir"]:
                    figures[-1] = "-"
                for kind, text in texts.items():
                    (folder / f"{target}-{number}.{kind}").write_text(text)
                    out.write("\t".join(map(str, [f"{target}-{number}.{kind}", target, *figures])) + "\n")


def keep_peak(folder, name, sizes, text, records):
    """NAME.hlo; NAME's buffer assignment and live ranges in the folder `dumps`. Returns its line of figures."""
    text = peak_programs.bare(text)
    (folder / f"{name}.hlo").write_text(text)
    for ending in ("buffer-assignment", "live-range"):
        kept = buffer_records.record(records, ending).split("  Live ranges at ")[0]
        (folder / "dumps" / f"{name}.after_optimizations-{ending}.txt").write_text(kept)
    return peak_programs.figures(sizes, records, text)


def write_peaks():
    """tests/data/peak: programs once compiled, their records, and figures.tsv."""
    folder = DATA / "peak"
    for old in [*folder.glob("*.hlo"), *folder.glob("dumps/*")]:
        old.unlink()
    (folder / "dumps").mkdir(exist_ok=True)
    with open(folder / "figures.tsv", "w") as out:
        out.write("\t".join(["program", "target", "tags", *peak_programs.FIGURES]) + "\n")
        for name, target, made in peak_programs.programs():
            with tempfile.TemporaryDirectory() as records:
                sizes, text = peak_programs.compiled(peak_programs.lower(made, target), records)
                out.write("\t".join(map(str, [name, target, made.tags, *keep_peak(folder, name, sizes, text, records)])) + "\n")


if __name__ == "__main__":
    write_orders()
    write_programs()
    write_peaks()
