# SPDX-License-Identifier: Apache-2.0
"""`tesela show`: pictures are read back and compared with the vectors and the oracle.

golden/show.txt has whole outputs; here are the numbers. A picture is read by its form alone: the title names the
dims, the first line has the column indices, vertical lines divide the cells.
"""

import fcntl
import json
import os
import random
import re
import struct
import sys
import termios
from collections import Counter

import pytest
from command import SOURCE, Terminal, run

sys.path.insert(0, str(SOURCE / "tests/oracle"))
from xla_oracle import Array  # noqa: E402

VECTORS = json.loads((SOURCE / "tests/vectors/xla_seed_examples.json").read_text())
SEED = int(os.environ.get("TESELA_SEED", "20260301"), 0)
WIDE = ("--width", "1000", "--rows", "1000")
UTF8 = {"LC_ALL": "C.UTF-8"}


def show(*words, env=UTF8):
    done = run("show", *words, env=env)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


# ---- reading a picture ----

UPRIGHT = "┃│┆|:"
GAP = ("…", "..")


class Picture:
    """One slice: cells[row number, column number] = (place or None, padding); lines by column and row."""

    def __init__(self, lines):
        self.title = lines.pop(0)
        self.down = self.side("down")
        self.across = self.side("across")
        self.fixed = {
            tuple(map(int, dims.split("*"))): int(i) for dims, i in re.findall(r"dims? ([\d*]+) = (\d+)", self.title)
        }
        self.columns = lines.pop(0).split() if self.across is not None else ["0"]
        self.cells, self.column_lines, self.row_lines, self.rows = {}, {}, {}, []
        lines = lines[: next((i for i, line in enumerate(lines) if line[:1].isalpha()), len(lines))]
        assert self.is_rule(lines[0]) and self.is_rule(lines[-1])
        for line in lines[1:-1]:
            if self.is_rule(line):
                self.row_lines[len(self.rows)] = next(c for c in line if c in "━─┄=-.")
            else:
                self.read_row(line)

    @staticmethod
    def is_rule(line):
        return line.strip()[0] in "┏┍┎┌┣┝┠├┗┕┖└+"

    def side(self, direction):
        """The dims that go in a direction: (1,), joined (0, 1); () for padding alone, None for nothing."""
        m = re.search(rf"(?:dims? ([\d*]+)|(padding)) {direction}", self.title)
        return None if not m else () if m[2] else tuple(int(d) for d in m[1].split("*"))

    def read_row(self, line):
        first = min(line.index(c) for c in UPRIGHT if c in line)
        label = line[:first].strip() if self.down is not None else "0"
        gap = not label
        self.rows.append(label)
        n = 0
        for part in re.findall(rf"([{UPRIGHT}])([^{UPRIGHT}]*)", line[first:]):
            self.column_lines.setdefault(n, part[0])
            for text in part[1].split():
                if text in GAP or self.columns[n] in GAP or gap:
                    assert text in GAP
                else:
                    padding = text[0] in "·~"
                    number = text.lstrip("·~")
                    self.cells[len(self.rows) - 1, n] = (int(number) if number else None, padding)
                n += 1
        assert n == len(self.columns)

    def at(self, row, column):
        return self.cells[self.rows.index(str(row)), self.columns.index(str(column))]

    def index(self, row, column, extents):
        """The index of the cell in a row and a column; None where a label says padding."""
        index = {}
        for dims, number in self.fixed.items():
            for d in reversed(dims):
                number, index[d] = divmod(number, extents[d])
        for dims, label in ((self.down, self.rows[row]), (self.across, self.columns[column])):
            if dims is None or not dims:
                if label not in ("0", ""):
                    return None
                continue
            if label[0] in "·~":
                return None
            index.update(zip(dims, (int(i) for i in label.split(",")), strict=True))
        return tuple(index[d] for d in sorted(index))


def pictures(text):
    """The slices of an output with a picture alone."""
    found = []
    for line in text.splitlines():
        if re.match(r"(dims? [\d*]+|padding) (down|across|=)", line):
            found.append([])
        elif not found:
            found.append([""])  # a scalar has no title
        if line and not line.startswith(("Slices are", "Cells are")):
            found[-1].append(line)
    return [Picture(lines) for lines in found]


# ---- the document's figures ----


FIGURES = [e for e in VECTORS["worked_examples"] if "offsets_by_row" in e]


@pytest.mark.parametrize("example", FIGURES, ids=lambda e: e["name"])
def test_figures(example):
    (picture,) = pictures(show("--only=picture", example["shape"]))
    for i, row in enumerate(example["offsets_by_row"]):
        for j, place in enumerate(row):
            assert picture.at(i, j) == (place, False)
    image = Array.from_text(example["shape"]).image()
    padding = [place for place, element in enumerate(image) if element is None]
    assert sorted(place for place, pad in picture.cells.values() if pad) == padding
    if "memory_image" in example:
        assert padding == [p for p, element in enumerate(example["memory_image"]) if element is None]


@pytest.mark.parametrize("entry", VECTORS["formats"], ids=lambda e: f"{e['name']} {e['shape']}")
def test_points_of_the_formats(entry):
    """The corners and one more of each: a slice of single indices is one cell."""
    points = entry["points"]
    for index, place in (points[0], points[len(points) // 2], points[-1]):
        part = ["--slice=" + ",".join(map(str, index))] if index else []
        text = show("--only=picture", *part, entry["shape"])
        numbers = re.findall(r"┃ +(·?\d+)", text)
        assert numbers[0] == str(place)


def test_lines_stand_at_the_tiles():
    (picture,) = pictures(show("--only=picture", *WIDE, "f32[20,50]{1,0:T(8,16)}"))
    labels = [c.lstrip("·") for c in picture.columns]
    heavy = [labels[n] for n, c in picture.column_lines.items() if c == "┃" and 0 < n < len(labels)]
    assert heavy == ["16", "32", "48"]
    assert picture.row_lines == {8: "━", 16: "━"}
    (picture,) = pictures(show("--only=picture", *WIDE, "bf16[16,16]{1,0:T(8,8)(2,1)}"))
    assert picture.row_lines == {n: "━" if n == 8 else "─" for n in range(2, 16, 2)}
    assert picture.column_lines == {n: "┃" if n % 8 == 0 else "│" for n in range(17)}


# ---- random arrays against the oracle ----


def random_arrays(count, **how):
    rng = random.Random(SEED)
    while count:
        array = Array.random(rng, **how)
        if array.count:
            count -= 1
            yield array


def check_cells(array, found):
    image = array.image()
    places = Counter()
    for picture in found:
        for (row, column), (place, padding) in picture.cells.items():
            if place is None:
                assert padding
                continue
            places[place] += 1
            assert padding == (image[place] is None), (array.text(), row, column, place)
            if not padding:
                assert array.place(picture.index(row, column, array.dims)) == place, (array.text(), row, column)
    return places


def test_random_pictures():
    print("seed", SEED)
    whole = 0
    for array in random_arrays(250, max_elements=1500):
        slices = run("show", "--only=picture", "--all", *WIDE, array.text(), env=UTF8)
        if slices.returncode:
            assert b"--all draws up to 64 slices" in slices.stderr
            check_cells(array, pictures(show("--only=picture", *WIDE, array.text())))
            continue
        text = slices.stdout.decode()
        places = check_cells(array, pictures(text))
        assert all(n == 1 for n in places.values()), array.text()
        if "Cells omitted" in text:
            continue
        image = array.image()
        assert sum(image[p] is not None for p in places) == array.count, array.text()
        body = Array(array.dtype, array.dims, array.minor_to_major, array.tiles).elements
        is_whole = sorted(places) == list(range(body))
        assert is_whole != ("some of the padding is not drawn" in text), array.text()
        whole += is_whole
    assert whole > 100


def test_random_lines():
    """--linear: the element at each place is that of the image."""
    print("seed", SEED)
    for array in random_arrays(150, max_elements=3000):
        lines = show("--only=picture", "--linear", *WIDE, array.text()).splitlines()
        image, seen = array.image(), 0
        for line in lines[1:]:
            m = re.match(r" *(\d+) │ (.*)", line)
            for k, text in enumerate(m[2].split() if m else []):
                element = image[int(m[1]) + k]
                if element is None:
                    assert text == "·", (array.text(), line)
                else:
                    index = [] if text == "[]" else [int(i) for i in text.split(",")]
                    number = 0
                    for n, i in zip(array.dims, index, strict=True):
                        number = number * n + i
                    assert number == element, (array.text(), line)
                seen += 1
        if not any("omitted" in line for line in lines):
            assert seen == array.elements


def test_random_words():
    """Sizes, and one line of padding for each bound that grew."""
    for array in random_arrays(150):
        facts = json.loads(show("--json", array.text()))
        assert facts["elements"] == array.elements
        assert facts["bytes"] == array.bytes
        assert facts["bounds"] == array.bounds()
        levels = [array.bounds(k + 1) for k in range(len(array.tiles))]
        assert [level["bounds"] for level in facts["levels"]] == levels
        text = show("--only=words", "--width", "1000", array.text(), env={**UTF8, "COLUMNS": "1000"})
        for pad in facts["padding"]:
            assert f"{pad['extent']} of {pad['padded']}" in pad["words"] and pad["words"] in text
        assert facts["verdict"] in text
        for k, level in enumerate(facts["levels"]):
            assert f"level {k + 1}   {level['words']}" in text


# ---- what fits where ----


def columns(text):
    return max(len(line) for line in text.splitlines())


@pytest.mark.parametrize("width", [24, 40, 79, 80, 81, 200])
def test_width(width):
    for words in ((), ("--linear",)):
        by_option = show("--only=picture", *words, "--width", str(width), "f32[300,500]{1,0:T(8,128)}")
        drawn = [line for line in by_option.splitlines() if not line[:1].isalpha()]
        assert columns("\n".join(drawn)) <= width
    by_columns = show("--only=picture", "f32[300,500]{1,0:T(8,128)}", env={**UTF8, "COLUMNS": str(width)})
    assert by_columns == show("--only=picture", "--width", str(width), "f32[300,500]{1,0:T(8,128)}")


def test_rows():
    for rows in (1, 5, 24):
        text = show("--only=picture", "--rows", str(rows), "f32[300,500]{1,0:T(8,128)}")
        (picture,) = pictures(text)
        assert len([row for row in picture.rows if row]) == rows


def test_a_window_is_what_it_says():
    (picture,) = pictures(show("--only=picture", "--slice=6:10,126:130", "f32[20,200]{1,0:T(8,128)}"))
    assert picture.rows == ["6", "7", "8", "9"]
    assert picture.columns == ["126", "127", "128", "129"]
    assert picture.at(8, 128) == (3072, False)
    (picture,) = pictures(show("--only=picture", "--slice=18:,199:202", "f32[20,200]{1,0:T(8,128)}"))
    assert picture.rows == ["18", "19", "·20", "·21", "·22", "·23"]
    assert picture.columns == ["199", "·200", "·201"]


def test_the_note_names_a_slice_that_works():
    layouts = "f32[300,500]{1,0:T(8,128)}", "f32[70,3,500]{2,1,0:T(2,128)}", "f32[9999]{0:T(1024)}", "u8[7,9999,9]"
    for layout in layouts:
        for words in ((), ("--linear",)):
            text = show("--only=picture", *words, layout)
            slices = re.findall(r"--slice ([\d,:]+)", text)
            assert slices
            for part in slices:
                show("--only=picture", *words, "--slice", part, layout)


def test_huge():
    layout = "f32[1000000,1000,1000]{2,1,0:T(8,128)}"
    for words in ((), ("--linear",), ("--json",), ("--slice=999999,990:,990:",)):
        text = show(*words, layout)
        assert len(text) < 16000
        assert columns(text) <= 80 or "--json" in words
    (picture,) = pictures(show("--only=picture", "--slice=999999,999:1000,999:1000", layout))
    assert picture.at(999, 999) == (Array.from_text(layout).place((999999, 999, 999)), False)


def test_a_long_tuple_is_cut():
    layout = "(" + ", ".join(["f32[3,5]"] * 5000) + ")"
    text = show(layout)
    assert len(text.splitlines()) < 220
    assert "4800 more" in text and "a tuple with 5000 arrays" in text
    assert re.search(r"total +293\.0 KiB +293\.0 KiB +1\.00\n", text)  # 5000 * 60 bytes
    assert len(show("--all", layout).splitlines()) > 5000
    assert len(json.loads(show("--json", layout))["leaves"]) == 5000


# ---- where it is written ----


def test_ascii():
    for layout in ("f32[3,5]{1,0:T(2,2)}", "f32[300,500]{1,0:T(8,128)(2,1)}"):
        for words in ((), ("--linear",)):
            plain = show("--ascii", *words, layout)
            assert plain.isascii()
            assert plain == show(*words, layout, env={"LC_ALL": "C"})
    (drawn,) = pictures(show("--only=picture", "f32[3,5]{1,0:T(2,2)}"))
    (plain,) = pictures(show("--only=picture", "--ascii", "f32[3,5]{1,0:T(2,2)}"))
    assert drawn.cells == plain.cells


def test_color_adds_nothing_but_color():
    for words in ((), ("--linear",)):
        colored = show("--color=always", *words, "f32[20,200]{1,0:T(8,128)}")
        assert "\033[" in colored
        assert re.sub(r"\033\[\d*m", "", colored) == show(*words, "f32[20,200]{1,0:T(8,128)}")


def test_a_terminal_gets_color_and_its_width():
    with Terminal() as terminal:
        fcntl.ioctl(terminal.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 60, 0, 0))
        assert run("show", "f32[20,200]{1,0:T(8,128)}", env=UTF8, stdout=terminal.theirs).returncode == 0
    text = terminal.seen.decode().replace("\r\n", "\n")
    assert "\033[" in text
    assert columns(re.sub(r"\033\[\d*m", "", text)) <= 60


# ---- mistakes ----


BAD_SLICES = (
    "", ",", "0,", "0,:,:,", "0,:,-1", "0,:,a", "0,:,1:b", "0,:,1:2:3", "0;:", "99999999999999999999,:,:", "0,4:3,:",
    "0,0:0,:", "0,:,0:9", "0,0:4,:",
)  # fmt: skip


@pytest.mark.parametrize("part", BAD_SLICES)
def test_a_bad_slice_is_refused(part):
    for only in (["--only=picture"], []):
        done = run("show", *only, f"--slice={part}", "f32[2,3,5]")
        assert done.returncode == 2
        assert done.stdout == b"" and done.stderr.startswith(b"tesela: error: ")


BAD_OPTIONS = (
    ("--rows=0",),
    ("--width=5",),
    ("--only=nothing",),
    ("--all", "--slice=0,:,:"),
    ("--all", "--linear"),
    ("--linear", "--slice=0,1"),
)


@pytest.mark.parametrize("words", BAD_OPTIONS)
def test_bad_options_are_refused(words):
    done = run("show", "--only=picture", *words, "f32[2,3,5]")
    assert (done.returncode, done.stdout) == (2, b"")


# ---- the reader of pictures finds faults ----


def test_a_wrong_picture_is_found():
    array = Array.from_text("f32[3,5]{1,0:T(2,2)}")
    text = show("--only=picture", array.text())
    check_cells(array, pictures(text))
    for right, wrong in (("16  17", "17  16"), ("·9", " 9"), (" 10 ", "·10 "), ("·23", "·22")):
        assert right in text
        with pytest.raises(AssertionError):
            places = check_cells(array, pictures(text.replace(right, wrong, 1)))
            assert sorted(places) == list(range(24))
