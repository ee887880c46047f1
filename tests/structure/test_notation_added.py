# SPDX-License-Identifier: Apache-2.0
"""A notation is added as docs/design.md says it, with the files of that page, and every verb reads it.

The library is compiled with the toy of the page; the command is linked from the objects of this build, not one of which knows it.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(os.environ.get("TESELA_SOURCE", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("TESELA_BUILD", SOURCE / "build/dev"))
OBJECTS = BUILD / "cli/CMakeFiles/tesela_command.dir"


def pieces():
    """The blocks of the page's section, by the file that each goes into."""
    page = (SOURCE / "docs/design.md").read_text()
    section = page.split("\n### How a notation is added\n")[1].split("\n### ")[0]
    blocks = re.findall(r"^ *```text\n(.*?)^ *```$", section, re.M | re.S)
    assert len(blocks) == 4
    return dict(zip(("toy.c", "tesela.c", "any.h", "any.c"), (re.sub(r"^ {3}", "", b, flags=re.M) for b in blocks)))


def put_before(path, line, text):
    old = path.read_text()
    assert old.count(line) == 1, (path, line)
    path.write_text(old.replace(line, text + line))


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    if not OBJECTS.is_dir():
        pytest.fail(f"no objects of the command under {OBJECTS}")
    work, piece = tmp_path_factory.mktemp("toy"), pieces()
    shutil.copytree(SOURCE / "src", work / "src")
    (work / "src/notation/toy.c").write_text(piece["toy.c"])
    put_before(work / "src/tesela.c", '#include "notation/any.c"\n', piece["tesela.c"])
    put_before(work / "src/notation/any.h", "#endif\n", piece["any.h"])
    rows = work / "src/notation/any.c"
    begin, table, rest = re.split(r"(static const tesela__notation_row any_rows\[\] = \{\n.*?)(?=^\};)", rows.read_text(), flags=re.M | re.S)
    rows.write_text(begin + table + piece["any.c"] + rest)
    cc = [*shlex.split(os.environ.get("CC", "cc")), *shlex.split(os.environ.get("CFLAGS", "").replace(";", " "))]
    library, toy = work / "tesela.o", work / "tesela"
    sources = sorted((SOURCE / "cli").rglob("*.c"))
    objects = [OBJECTS / f"{file.relative_to(SOURCE / 'cli')}.o" for file in sources]
    flags = ["-std=c11", "-O0", "-Werror", f"-I{SOURCE}/include", f"-I{work}/src"]
    subprocess.run([*cc, *flags, "-c", work / "src/tesela.c", "-o", library], check=True)
    linked = (OBJECTS / "link.txt").read_text().split()  # the command's libraries: those of the system
    libraries = [one for one in linked[linked.index("../tesela") + 1 :] if not one.startswith("../")]
    subprocess.run([*cc, *objects, BUILD / "libtesela_ops.a", library, *libraries, "-pthread", "-o", toy], check=True)

    def run(*words, code=0, given=None):
        process = subprocess.run([toy, *words], input=given, capture_output=True, text=True, timeout=120)
        assert process.returncode == code, (words, process.stdout, process.stderr)
        return process.stdout if code < 2 else process.stderr

    return run


def query(command, **request):
    return json.loads(command("query", given=json.dumps(request)))


TEXT = "f32[3,5] row_stride(8)"  # element (i,j) at i*8 + j, by the definition of the toy


def test_the_verbs_read_it(command):
    assert command("where", TEXT, "2,3") == "19\n"
    assert command("where", "toy: " + TEXT, "1,0", "--json") == '{"index":[1,0],"place":8,"byte":32,"bit":0}\n'
    assert command("what", TEXT, "19") == "2,3\n"
    assert command("what", TEXT, "6") == "padding\n"
    assert command("same", TEXT, "f32[3,5]{1,0:T(1,8)}").startswith("same")
    assert "first at [1,0]: 8 in a, 5 in b" in command("same", TEXT, "f32[3,5]", code=1)
    shown = command("show", TEXT)
    assert shown.startswith(TEXT + "\n") and "20" in shown
    assert json.loads(command("show", TEXT, "--json"))["text"] == TEXT


def test_the_operations_read_it(command):
    assert query(command, op="where", layout=TEXT, indices=[[2, 3], [0, 4]])["places"] == [19, 4]
    assert query(command, op="what", layout=TEXT, places=[19, 6])["indices"] == [[2, 3], None]
    assert query(command, op="parse", text="toy:" + TEXT)["printed"] == TEXT
    assert query(command, op="info", layout=TEXT)["rank"] == 2
    assert query(command, op="same", a=TEXT, b="f32[3,5]{1,0:T(1,8)}")["same"] is True
    assert query(command, op="show", layout=TEXT)["ok"] is True


def test_its_mistakes_are_said(command):
    assert "expected row_stride(8)" in command("show", "f32[3,5] row_stride(8", code=2)
    assert "a row stride needs type and dims before it: f32[3,5] row_stride(8)" in command("show", "row_stride(8)", code=2)
    assert "this is an XLA layout, but toy: expects a row stride" in command("show", "toy: f32[3,5]", code=2)
    assert ", toy, shared or global" in command("show", "nope: 1", code=2)
