# SPDX-License-Identifier: Apache-2.0
"""Files that call each other in a circle: two may, as two halves of one thing; more may not."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ["TESELA_BUILD"])


def objects_of_the_command():
    """The object file of each source of cli/: a build folder may hold objects of removed sources."""
    folder = BUILD / "cli/CMakeFiles/tesela_command.dir"
    return [folder / f"{source.relative_to(ROOT / 'cli')}.o" for source in (ROOT / "cli").rglob("*.c")]


def calls(files):
    """file -> the files that define what it does not, from the symbols of an archive or of object files."""
    defined, wanted = {}, {}
    text = subprocess.run(["nm", "-A", "-g", *files], check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        file, (kind, name) = line.rsplit(".o:", 1)[0].split(":")[-1].removesuffix(".c"), line.split()[-2:]
        if kind == "U":
            wanted.setdefault(file, set()).add(name)
        else:
            defined[name] = file
    return {file: {defined[name] for name in names if name in defined} - {file} for file, names in wanted.items()}


def reached(graph, start):
    seen, todo = set(), [start]
    while todo:
        for file in graph.get(todo.pop(), ()):
            if file not in seen:
                seen.add(file)
                todo.append(file)
    return seen


def circles(graph):
    far = {file: reached(graph, file) for file in graph}
    return sorted({tuple(sorted(b for b in far[a] if a in far.get(b, ()))) for a in graph if a in far[a]})


@pytest.mark.parametrize(
    ("files", "at_least"), [([BUILD / "libtesela.a"], 300), ([BUILD / "libtesela_ops.a"], 40), (objects_of_the_command(), 50)], ids=["src", "ops", "cli"]
)
def test_no_circle(files, at_least):
    graph = calls(files)
    assert len(graph) > at_least
    assert [circle for circle in circles(graph) if len(circle) > 2] == []


def test_a_circle_is_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [("a", "b", "c")]
