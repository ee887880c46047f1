# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/pytorch.md."""

import doctest
import os
from pathlib import Path

import pytest
import torch

pytestmark = pytest.mark.frameworks
SOURCE = Path(os.environ.get("TESELA_SOURCE") or Path(__file__).resolve().parents[3])


def test_the_examples_of_the_page():
    torch.manual_seed(1)
    text = (SOURCE / "docs/pytorch.md").read_text(encoding="utf-8")
    found = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    test = doctest.DocTestParser().get_doctest(text, {}, "docs/pytorch.md", None, 0)
    assert len(test.examples) > 25
    found.run(test, clear_globs=False)  # compiled functions refer to them
    assert found.summarize(verbose=False).failed == 0
