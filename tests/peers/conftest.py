# SPDX-License-Identifier: Apache-2.0
"""The owners of other notations beside tesela: `make peers`. A test whose package is absent is named, not run."""

import importlib.util
import os
import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
OURS = {"conftest", "pytest", "numpy", "tesela"}


def packages_of(path):
    """The packages that a test imports at its top."""
    names = re.findall(r"^(?:import|from) (\w+)", path.read_text(), re.M)
    return [name for name in names if name not in OURS and not (HERE / f"{name}.py").exists()]


ABSENT = {}
for test in sorted(HERE.glob("test_*.py")):
    missing = [name for name in packages_of(test) if importlib.util.find_spec(name) is None]
    if missing:
        ABSENT[test.name] = missing
collect_ignore = list(ABSENT)


def pytest_terminal_summary(terminalreporter):
    for name, packages in ABSENT.items():
        terminalreporter.write_line(f"not run: {name}, since {', '.join(packages)} cannot be imported")


def pytest_report_header():
    return f"seed {seed_of_run()} (TESELA_SEED)"


def seed_of_run():
    return int(os.environ.get("TESELA_SEED", "1"))


@pytest.fixture
def seed():
    """The seed of a random sweep."""
    return seed_of_run()
