# SPDX-License-Identifier: Apache-2.0
"""Every example of examples.py does what it says; those listed there as PENDING do not yet."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from examples import EXAMPLES, PENDING

SOURCE = Path(os.environ.get("TESELA_SOURCE") or Path(__file__).resolve().parents[2])

GRAPH = """HloModule m
ENTRY e {
  x = f16[4,70]{1,0} parameter(0)
  z = f16[4,70]{1,0} add(x, x)
  ROOT y = f16[4,70]{1,0} negate(z)
}
"""


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """The namespace of the lines, which run in a folder with a memory report and a checkpoint."""
    folder, before = tmp_path_factory.mktemp("examples"), os.getcwd()
    shutil.copy(SOURCE / "examples/oom_report.txt", folder / "train.log")
    w = np.arange(2048 * 16, dtype=np.float32).reshape(2048, 16)
    safetensors.numpy.save_file({"w": w}, folder / "model.safetensors")
    os.chdir(folder)
    yield {"np": np, "GRAPH": GRAPH}
    os.chdir(before)


def run(line, names):
    """The value of a line's last statement, if that is an expression."""
    *statements, last = line.split("; ")
    for statement in statements:
        exec(statement, names)
    try:
        code = compile(last, line, "eval")
    except SyntaxError:
        exec(last, names)
        return None
    return eval(code, names)


def check(line, must, names):
    if isinstance(must, BaseException):
        with pytest.raises(type(must)) as raised:
            run(line, names)
        assert str(must) in str(raised.value)
        return
    value = run(line, names)
    if callable(must):
        assert must(value), value
    elif must is not None:
        assert value == must


@pytest.mark.parametrize("line, must", EXAMPLES, ids=[line for line, _ in EXAMPLES])
def test_example(line, must, names):
    if line not in PENDING:
        check(line, must, names)
        return
    try:
        check(line, must, names)
    except (Exception, pytest.fail.Exception):
        return
    pytest.fail(f"{line} passes; it was pending because {PENDING[line]}: delete it from PENDING")


def test_pending_lines_are_examples():
    assert set(PENDING) <= {line for line, _ in EXAMPLES}


def test_what_an_example_must_do_is_checked():
    for line, must in (("1 + 1", 3), ("1 + 1", lambda value: value == 3), ("nothing", None), ("[][0]", ValueError()), ("1", ValueError())):
        with pytest.raises((AssertionError, NameError, IndexError, pytest.fail.Exception)):
            check(line, must, {})
    check("a = 1; a + 1", 2, {})
