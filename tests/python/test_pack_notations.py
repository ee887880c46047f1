# SPDX-License-Identifier: Apache-2.0
"""pack, relayout and unpack of arrays in layouts of every notation, against the places that tests/cli knows."""

import sys
from pathlib import Path

import numpy as np
import pytest

import tesela

sys.path.insert(0, str(Path(__file__).parents[1] / "cli"))
import test_relayout_notations as cases  # noqa: E402


@pytest.mark.parametrize("text, shape, places, place", cases.ROWS)
def test_arrays_of_every_notation(text, shape, places, place):
    x, at = cases.values(shape), place(shape)
    packed = tesela.pack(x, text, fill=cases.FILL)
    cases.check(packed.physical.tobytes(), x, places, at, cases.has_gaps(text))
    assert (np.asarray(packed) == x).all() and (packed.unpack() == x).all()
    plain = "f32[" + ",".join(map(str, shape)) + "]"
    again = tesela.relayout(x.ravel(), plain, text, fill=cases.FILL)
    assert again.tobytes() == packed.physical.tobytes()
    assert (np.asarray(tesela.relayout(packed.physical, packed.layout, plain)).ravel() == x.ravel()).all()


def test_a_register_layout_is_refused():
    with pytest.raises(tesela.UnsupportedError, match="expected a layout in memory"):
        tesela.pack(np.zeros((4, 8), np.float32), "local(4, 8)")
