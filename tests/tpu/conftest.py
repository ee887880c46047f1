# SPDX-License-Identifier: Apache-2.0
"""tesela beside the compiler of TPUs: `make tpu`."""

import json
import os
import subprocess

import pytest


def seed_of_run():
    return int(os.environ.get("TESELA_SEED", "1"))


def pytest_report_header():
    return f"seed {seed_of_run()} (TESELA_SEED)"


@pytest.fixture
def seed():
    """The seed of a random sweep."""
    return seed_of_run()


@pytest.fixture
def ask():
    """Answers of `tesela query` to requests."""

    def ask(requests):
        lines = "".join(json.dumps(request) + "\n" for request in requests)
        done = subprocess.run([os.environ["TESELA_COMMAND"], "query"], input=lines, capture_output=True, text=True, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    return ask
