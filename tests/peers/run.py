# SPDX-License-Identifier: Apache-2.0
"""Run the tests beside the owners of other notations, each file in a process of its own, and sum them up.

python tests/peers/run.py [PYTEST ARGUMENT...]
"""

import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent

# The package, what is imported of it, its tests.
PEERS = [
    ("nvidia-cutlass", "pycute", ["test_cute.py"]),
    ("tensor-layouts", "tensor_layouts", ["test_cute.py"]),
    ("nvidia-cutlass-dsl", "cutlass.cute", ["test_cute_dsl.py"]),
    ("triton", "triton.experimental.gluon", ["test_triton.py", "test_triton_views.py", "test_linear.py"]),
    ("apache-tvm", "tvm.tirx", ["test_tvm.py", "test_tvm_index.py"]),
    ("iree-base-compiler", "iree.compiler.ir", ["test_mlir.py"]),
    ("onednn-devel", "onednn", ["test_onednn.py"]),
    ("jaxlib", "jaxlib.mosaic.python.tpu", ["test_mosaic.py"]),
    ("jax", "jax.experimental.mosaic.gpu.fragmented_array", ["test_mosaic.py"]),
    ("tilus", "tilus_layouts", ["test_tilus.py"]),
]


def why_absent(module):
    """None, or why the module cannot be imported."""
    done = subprocess.run([sys.executable, "-c", f"import {module}"], cwd=HERE, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    return (done.stderr.strip().split("\n") or [""])[-1] or f"its import ends with status {done.returncode}"


def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def show(counts, known, absent, failed):
    print("\npeers and tesela, seed", os.environ.get("TESELA_SEED", "1"))
    cases, differences = Counter(), Counter()
    for peer, what, many, differ, note in counts:
        cases[peer] += many
        differences[peer] += differ
        print(f"  {peer:19} {what:32} {many:6} cases {differ:4} differences{'  ' + note if note else ''}")
    print("\nran:")
    for package, _, _ in PEERS:
        if package in cases:
            print(f"  {package:19} {version(package):13} {cases[package]:6} cases {differences[package]:4} differences")
    print("not run:" if len(cases) < len(PEERS) else "not run: no peer is missing")
    for package, _, tests in PEERS:
        if package not in cases:
            print(f"  {package:19} {absent.get(package, 'no count: its tests failed or were not chosen')} ({', '.join(tests)})")
    print("known errors of peers (docs/peers.md):")
    for peer, of, case, answer, right in known:
        print(f"  {peer:19} {of:13} {case}: {'repaired in this version' if right else answer}")
    for name in failed:
        print(f"FAILED {name}")


def main():
    absent = {package: why for package, module, _ in PEERS if (why := why_absent(module))}
    without = {test for package, _, tests in PEERS if package in absent for test in tests}
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "counts"
        path.touch()
        for test in sorted(HERE.glob("test_*.py")):
            if test.name in without:
                continue
            print(test.name, flush=True)
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:faulthandler", test, *sys.argv[1:]]
            done = subprocess.run(command, env=os.environ | {"TESELA_COUNTS": str(path)}, stderr=subprocess.DEVNULL, check=False)
            if done.returncode not in (0, 5):  # 5: no test was chosen
                failed.append(test.name)
        lines = [json.loads(line) for line in path.read_text().splitlines()]
    show([line["count"] for line in lines if "count" in line], [line["known"] for line in lines if "known" in line], absent, failed)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
