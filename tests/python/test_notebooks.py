# SPDX-License-Identifier: Apache-2.0
"""Every notebook of examples/ runs, and its kept outputs are what it prints."""

import copy
import os
from pathlib import Path

import nbclient
import nbformat
import pytest

SOURCE = Path(os.environ.get("TESELA_SOURCE") or Path(__file__).resolve().parents[2])
NOTEBOOKS = sorted((SOURCE / "examples").glob("*.ipynb"))


def printed(notebook):
    """What each cell of code prints and shows as text; of a picture, that it is one."""
    cells = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            shown = []
            for output in cell.outputs:
                if output.output_type == "stream":
                    shown.append("".join(output.text))
                else:
                    shown += sorted(kind for kind in output.get("data", {}) if kind != "text/plain")
                    shown.append("".join(output.get("data", {}).get("text/plain", "")))
            cells.append(shown)
    return cells


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebook(path, tmp_path):
    kept = nbformat.read(path, as_version=4)
    again = copy.deepcopy(kept)
    nbclient.NotebookClient(again, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert printed(again) == printed(kept)
    assert any(printed(kept))


def test_there_is_one():
    assert NOTEBOOKS
