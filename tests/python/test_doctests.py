# SPDX-License-Identifier: Apache-2.0
"""The examples in the docstrings of every module of the package."""

import doctest
import importlib
import os
from pathlib import Path

import numpy as np
import pytest

import tesela

SOURCE = Path(os.environ.get("TESELA_SOURCE") or Path(__file__).resolve().parents[2])
FRAMEWORKS = {"torch", "jax", "dask"}  # modules that need them; run by `make frameworks` and by their own tests
MODULES = sorted(
    "tesela" if path.stem == "__init__" else f"tesela.{path.stem}"
    for path in (SOURCE / "python/tesela").glob("*.py")
    if path.stem not in FRAMEWORKS | {"__main__"}
)


def run(module):
    """The module's examples, which may also use NumPy and the public names of the package."""
    public = {"np": np, **{name: getattr(tesela, name) for name in tesela.__all__}}
    more = {name: value for name, value in public.items() if name not in vars(module)}
    return doctest.testmod(module, extraglobs=more, optionflags=doctest.ELLIPSIS)


@pytest.mark.parametrize("name", MODULES)
def test_module(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(importlib.import_module(name)).failed == 0


def test_there_are_examples():
    assert sum(run(importlib.import_module(name)).attempted for name in MODULES) >= 10


def test_every_public_name_has_a_docstring():
    assert [name for name in tesela.__all__ if not getattr(tesela, name).__doc__] == []
