# SPDX-License-Identifier: Apache-2.0
"""check_includes.py finds planted faults, each in a small tree of its own, and nothing else."""

from pathlib import Path

import pytest
from check_includes import wrong_includes

TREE = {
    "docs/design.md": """
| folder | header | what it is | may include |
| --- | --- | --- | --- |
| `base` | `base.h` | errors | |
| `layout` | `layout.h` | the model | |
| `xla` | | shapes | `layout` |
| `report` | `report.h` | reports | `layout` `xla` |
| `kernels` | | loops | |
| `relayout` | | copies | `kernels` |
| `ops` | `ops.h` | operations | |

Of `ops/` the command includes only what it shares: `ops_shared`.
""",
    "include/tesela/tesela.h": "#include <tesela/base.h>\n#include <tesela/layout.h>\n",
    "include/tesela/base.h": "#include <stdint.h>\n",
    "include/tesela/layout.h": "#include <tesela/base.h>\n",
    "include/tesela/report.h": "#include <tesela/layout.h>\n",
    "src/tesela.c": '#include "base/error.c"\n#include "report/report.c"\n',
    "src/base/base.h": "#include <tesela/base.h>\n",
    "src/base/error.c": '#include "base/base.h"\n',
    "src/base/os_posix.c": "#include <pthread.h>\n#include <sys/mman.h>\n",
    "src/xla/xla.h": '#include "layout/size.h"\n',
    "src/layout/size.h": '#include "base/base.h"\n',
    "src/report/report.c": '#include <tesela/report.h>\n\n#include "base/base.h"\n#include "xla/xla.h"\n',
    "src/relayout/run.c": '#include "kernels/kernels.inc"\n',
    "src/kernels/kernels.inc": "/* nothing */\n",
    "include/tesela/ops.h": "#include <tesela/base.h>\n",
    "ops/json_in.c": '#include <jansson.h>\n#include <tesela/report.h>\n#include "ops_inside.h"\n',
    "ops/ops_inside.h": "#include <tesela/ops.h>\n",
    "ops/ops_shared.h": "#include <tesela/ops.h>\n",
    "cli/main.c": '#include <tesela/tesela.h>\n#include "verbs.h"\n#include "ops_shared.h"\n',
    "cli/verbs.h": "",
}

FAULTS = [
    ("an arrow that points back", "src/base/error.c", '#include "layout/size.h"', "base may include: only itself"),
    ("back through a public header", "src/base/base.h", "#include <tesela/layout.h>", "base may include: only itself"),
    ("an arrow to a neighbour", "src/xla/xla.h", '#include "report/report.c"', "xla may include: base layout"),
    ("between public headers", "include/tesela/layout.h", "#include <tesela/report.h>", "layout may include: base"),
    ("everything from inside", "src/layout/size.h", "#include <tesela/tesela.h>", "layout may include: base"),
    ("a relative path", "src/base/error.c", '#include "../layout/size.h"', "base may include: only itself"),
    ("spaces in the line", "src/base/error.c", '  #  include  "layout/size.h"', "base may include: only itself"),
    ("from a list", "src/kernels/kernels.inc", '#include "relayout/run.c"', "kernels may include: base"),
    ("the inside in a public header", "include/tesela/base.h", '#include "base/base.h"', "public headers only"),
    ("the inside in the command", "cli/main.c", '#include "base/base.h"', "no such file"),
    ("the inside by a path", "cli/main.c", '#include "../src/base/base.h"', "public headers only"),
    ("the inside of ops in the command", "cli/main.c", '#include "ops_inside.h"', "those of ops/ that docs/design.md lists"),
    ("jansson in the library", "src/layout/size.h", "#include <jansson.h>", "only ops/json_in.c may use it"),
    ("jansson in the command", "cli/main.c", "#include <jansson.h>", "only ops/json_in.c may use it"),
    ("jansson elsewhere in ops", "ops/ops_inside.h", "#include <jansson.h>", "only ops/json_in.c may use it"),
    ("the inside in ops", "ops/json_in.c", '#include "base/base.h"', "no such file"),
    ("the command in ops", "ops/json_in.c", '#include "../cli/verbs.h"', "public headers only"),
    ("threads of a system", "src/layout/size.h", "#include <pthread.h>", "only os_*.c of src/base, ops and cli/main know"),
    ("files of a system", "src/base/error.c", "#include <sys/stat.h>", "only os_*.c of src/base, ops and cli/main know"),
    ("a system in a public header", "include/tesela/base.h", "# include <unistd.h>", "only os_*.c of src/base, ops and cli/main know"),
    ("a file that is not there", "src/base/error.c", '#include "base/bsae.h"', "no such file"),
    ("a module nobody described", "src/new/new.c", '#include "base/base.h"', "no row for new"),
]


@pytest.fixture
def tree(tmp_path):
    for name, text in TREE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_right_tree(tree):
    assert wrong_includes(tree) == []


def test_a_header_that_the_command_no_longer_needs(tree):
    (tree / "cli/main.c").write_text("#include <tesela/tesela.h>\n")
    assert wrong_includes(tree) == ["docs/design.md: the command includes ops/ops_shared.h no longer"]


@pytest.mark.parametrize("name, file, line, reason", FAULTS, ids=[row[0] for row in FAULTS])
def test_planted_fault(tree, name, file, line, reason):
    (tree / file).parent.mkdir(exist_ok=True)
    (tree / file).write_text(TREE.get(file, "") + line + "\n")
    found = wrong_includes(tree)
    assert len(found) == 1
    assert found[0].startswith(f"{file}:{TREE.get(file, '').count(chr(10)) + 1}: ")
    assert reason in found[0]


def test_public_headers_are_few():
    headers = {file.name for file in Path(__file__).parents[2].glob("include/tesela/*.h")}
    assert 10 <= len(headers - {"tesela.h", "ops.h"}) <= 16  # tesela.h includes them; ops.h is another library's
