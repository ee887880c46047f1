# SPDX-License-Identifier: Apache-2.0
"""The owners of other notations beside tesela: `make peers`, which tests/peers/run.py runs."""

import json
import os
from pathlib import Path

import pytest
from counts import COUNTS, KNOWN, tables


def pytest_terminal_summary(terminalreporter):
    for line in tables:
        terminalreporter.write_line(line)
    if path := os.environ.get("TESELA_COUNTS"):  # one run for each file: tools/peers.sh
        with Path(path).open("a") as counts:
            counts.writelines(json.dumps({"count": count}) + "\n" for count in COUNTS)
            counts.writelines(json.dumps({"known": known}) + "\n" for known in KNOWN)


def pytest_report_header():
    return f"seed {seed_of_run()} (TESELA_SEED)"


def seed_of_run():
    return int(os.environ.get("TESELA_SEED", "1"), 0)


@pytest.fixture
def seed():
    """The seed of a random sweep."""
    return seed_of_run()
