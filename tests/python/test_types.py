# SPDX-License-Identifier: Apache-2.0
"""mypy --strict on the package, and on typed_examples.py: what users write, with the types they get."""

import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ.get("TESELA_SOURCE") or Path(__file__).resolve().parents[2])
BUILD = Path(os.environ.get("TESELA_BUILD") or SOURCE / "build/release")
EXAMPLES = SOURCE / "tests/python/typed_examples.py"


def mypy(*paths):
    return subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", BUILD / "mypy", "--config-file", SOURCE / "pyproject.toml",
                           *paths], cwd=SOURCE, capture_output=True, text=True)  # fmt: skip


def test_the_package():
    run = mypy("python/tesela")
    assert run.returncode == 0, run.stdout


def test_the_examples():
    run = mypy(EXAMPLES)
    assert run.returncode == 0, run.stdout


def test_the_examples_run():
    subprocess.run([sys.executable, EXAMPLES], check=True)


def test_a_wrong_type_is_found(tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text('import tesela\nx: str = tesela.layout("f32[2]").nbytes\n')
    run = mypy(wrong)
    assert run.returncode == 1 and "Incompatible types in assignment" in run.stdout
