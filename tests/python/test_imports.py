# SPDX-License-Identifier: Apache-2.0
"""What `import tesela` brings in, what is missing says so, and the command beside the package."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tesela import __main__ as command

SOURCE = Path(os.environ.get("TESELA_SOURCE") or Path(__file__).resolve().parents[2])
COMMAND = os.environ.get("TESELA") or str(SOURCE / "build/release/tesela")


def python(program, *arguments, **environment):
    return subprocess.run([sys.executable, *(["-c", program] if program else []), *arguments], capture_output=True, text=True,
                          env={**os.environ, **environment})  # fmt: skip


def test_it_imports_numpy_and_the_standard_library_alone():
    run = python(
        "import sys\n"
        "before = set(sys.modules)\n"
        "import tesela\n"
        "found = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(found - set(sys.stdlib_module_names)))"
    )
    assert (run.stdout, run.stderr) == ("['numpy', 'tesela']\n", "")


def test_every_module_imports_alone():
    for path in sorted((SOURCE / "python/tesela").glob("_*.py")):
        if path.stem not in ("__init__", "__main__"):
            run = python(f"import tesela.{path.stem}")
            assert run.returncode == 0, run.stderr


SUBINTERPRETERS = """
import sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
start = f"import sys, warnings; sys.path[:] = {sys.path!r}; warnings.simplefilter('ignore')" + chr(10)
for _ in range(2):
    interpreters.run_string(interpreters.create(), start + sys.argv[1])
"""
WORK = """
try:
    import numpy as np, tesela
    T = tesela.pack(np.arange(15, dtype=np.float32).reshape(3, 5), "f32[3,5]{1,0:T(2,2)}")
    assert T[2, 3] == 13 and tesela.op("where", layout="f32[3]", indices=[[1]]) == {"places": [1]}
    print("right", flush=True)
except ImportError as error:
    print("ImportError", flush=True)
"""


def test_interpreters_beside_the_first_work_or_are_refused_by_numpy():
    run = python(SUBINTERPRETERS, WORK)
    first = "right" if sys.version_info < (3, 12) else "ImportError"
    assert run.stdout.splitlines() == [first, "ImportError"], run.stderr


def test_a_missing_library_is_named():
    run = python("import tesela", TESELA_LIBRARY="/nowhere/libtesela.so")
    assert run.returncode == 1
    assert run.stderr.endswith("ImportError: the library of tesela is missing: /nowhere/libtesela.so; install the package again\n")


def test_the_command_is_the_one_in_c():
    direct = subprocess.run([COMMAND, "where", "f32[3,5]{1,0:T(2,2)}", "2,3"], capture_output=True, text=True)
    run = python("", "-m", "tesela", "where", "f32[3,5]{1,0:T(2,2)}", "2,3", TESELA_COMMAND=COMMAND)
    assert direct.stdout.strip() and (run.stdout, run.stderr, run.returncode) == (direct.stdout, direct.stderr, 0)
    for arguments, status in ((["same", "f32[3,5]", "f32[3,5]{0,1}"], 1), (["shwo"], 2)):
        assert python("", "-m", "tesela", *arguments, TESELA_COMMAND=COMMAND).returncode == status


def test_a_package_without_the_command_says_so(monkeypatch):
    monkeypatch.setenv("TESELA_COMMAND", "/nowhere/tesela")
    with pytest.raises(SystemExit, match="built without the command, which needs jansson"):
        command.command()
