# SPDX-License-Identifier: Apache-2.0
"""`tesela graph plan` for people: the table says which letter a buffer is, and the picture shows it where the table says."""

import re
from pathlib import Path

import pytest
from command import SOURCE, run

ROW = re.compile(r"^(.)  (\S+) +(\d+) +(\d+)\.\.(\d+) +(arena|scratchpad|outside) +(\d+|-)(?:  reuses \S+)?$")
LINE = re.compile(r"^ *(\d+) \|(.*)$")
KEY = re.compile(r"^A row is (\d+) bytes?, a column (\d+) steps?; \. is free")


def read(text):
    """Rows of the table; pictures as (bytes a row, steps a column, {offset: cells})."""
    rows, pictures, lines = [], [], {}
    for line in text.splitlines():
        if match := ROW.match(line):
            mark, name, size, first, last, where, offset = match.groups()
            rows.append((mark, name, int(size), int(first), int(last) + 1, where, None if offset == "-" else int(offset)))
        elif match := LINE.match(line):
            lines[int(match[1])] = match[2]
        elif match := KEY.match(line):
            pictures.append((int(match[1]), int(match[2]), lines))
            lines = {}
    return rows, pictures


def check(rows, where, picture):
    """A cell that shows a letter has a part of that buffer in it, and every letter of the table is shown somewhere."""
    height, width, lines = picture
    placed = {row[0]: row for row in rows if row[5] == where and row[0] != " "}
    first = min(row[3] for row in rows if row[5] == where and row[2] > 0)
    steps = max(row[4] for row in rows if row[5] == where and row[2] > 0) - first
    columns = -(-steps // width)
    seen = set()
    for offset, cells in lines.items():
        wide = len(cells) // columns
        assert len(cells) == wide * columns
        for column, mark in enumerate(cells[::wide]):
            assert cells[column * wide : (column + 1) * wide] == mark * wide
            if mark in ".#":
                continue
            _, _, size, lower, upper, _, at = placed[mark]
            assert at < offset + height and offset < at + size
            assert lower < first + (column + 1) * width and first + column * width < upper
            seen.add(mark)
    assert seen == set(placed) - {"#"}


@pytest.mark.parametrize("program", ["softmax.json", "block.hlo", "linear.json"])
@pytest.mark.parametrize("columns", ["40", "80", "200"])
def test_letters_are_where_the_table_says(program, columns):
    result = run("graph", "plan", SOURCE / "examples" / program, "--ascii", env={"COLUMNS": columns})
    rows, pictures = read(result.stdout.decode())
    assert len(pictures) == 1
    assert any(row[0].isalpha() for row in rows)
    assert all(row[0] == " " for row in rows if row[5] == "outside")
    check(rows, "arena", pictures[0])
    assert all(len(line) <= int(columns) for line in pictures[0][2].values())


def test_a_scratchpad_has_a_picture_of_its_own():
    result = run("graph", "plan", SOURCE / "examples" / "softmax.json", "--ascii", "--scratchpad=70000")
    rows, pictures = read(result.stdout.decode())
    assert len(pictures) == 2
    check(rows, "arena", pictures[0])
    check(rows, "scratchpad", pictures[1])


def test_a_list_of_buffers(tmp_path: Path):
    (tmp_path / "b.csv").write_text("id,lower,upper,size\none,0,3,4\ntwo,1,5,2\nthree,3,6,4\nnever,2,2,9\n")
    result = run("graph", "plan", tmp_path / "b.csv", "--ascii")
    rows, pictures = read(result.stdout.decode())
    assert [row[:2] for row in rows] == [("a", "one"), ("b", "two"), ("c", "three")]
    check(rows, "arena", pictures[0])
    assert run("graph", "plan", tmp_path / "b.csv").returncode == 0
    (tmp_path / "empty.csv").write_text("id,lower,upper,size\n")
    assert b"|" not in run("graph", "plan", tmp_path / "empty.csv", "--ascii").stdout
