# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/jax.md, which run in order."""

import doctest
import os
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.frameworks

SOURCE = Path(os.environ.get("TESELA_SOURCE") or Path(__file__).resolve().parents[3])


def examples():
    text = (SOURCE / "docs/jax.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```text\n(>>> .*?)^```$", text, re.M | re.S)
    assert len(blocks) == 6
    return "\n".join(blocks)


def test_the_examples_of_the_document(tmp_path, monkeypatch):
    monkeypatch.setenv("TESELA_CACHE", str(tmp_path))
    test = doctest.DocTestParser().get_doctest(examples(), {}, "docs/jax.md", "docs/jax.md", 0)
    said = []
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append)
    assert result.attempted > 15 and result.failed == 0, "".join(said)
