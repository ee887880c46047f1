# SPDX-License-Identifier: Apache-2.0
"""Files of the library that call each other in a circle: two may, as two halves of one thing; more may not."""

import os
import subprocess

import pytest

def calls(library):
    """file -> the files that define what it does not, from the symbols of an archive."""
    defined, wanted = {}, {}
    text = subprocess.run(["nm", "-A", "-g", library], check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        file, (kind, name) = line.split(":")[1].removesuffix(".o").removesuffix(".c"), line.split()[-2:]
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


@pytest.mark.parametrize("library", ["libtesela.a"])
def test_no_circle(library):
    graph = calls(os.path.join(os.environ["TESELA_BUILD"], library))
    assert len(graph) > 300
    assert [circle for circle in circles(graph) if len(circle) > 2] == []


def test_a_circle_is_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [("a", "b", "c")]
