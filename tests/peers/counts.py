# SPDX-License-Identifier: Apache-2.0
"""What each test compared, for the summary at the end of a run."""

import importlib.metadata
import os

COUNTS = []
KNOWN = []  # errors of peers: docs/peers.md
tables = []  # texts for the summary


def counted(peer, what, cases, differences, note=""):
    """`differences`: answers of tesela that are not the peer's, or not right where the peer is wrong."""
    COUNTS.append((peer, what, cases, differences, note))
    print(f"{peer}, {what}: {cases} cases, {differences} differences{'; ' + note if note else ''}")


def cases_of_run(default):
    """How many cases a sweep has."""
    return int(os.environ.get("TESELA_CASES", default))


def known_error(peer, case, answer, right):
    """An error that docs/peers.md lists. Not a failure of a test: the peer may be repaired."""
    version = importlib.metadata.version(peer)
    KNOWN.append((peer, version, case, str(answer), bool(right)))
    print(f"{peer} {version}, {case}: " + ("repaired in this version" if right else f"known error: {answer}"))
