# SPDX-License-Identifier: Apache-2.0
"""The plugin of pytest: the fixture `assert_layout_waste`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture(scope="session")
def assert_layout_waste() -> Callable[..., None]:
    """``assert_layout_waste(compiled, max_waste=0.1, max_peak="15.75GiB", baseline="old.hlo.txt")`` fails the test if the program's
    arrays have more padding, or if it needs more memory at one time; with a baseline it names the arrays that grew.

    ``compiled`` is anything that `tesela.report` reads. A limit that is None is not checked.
    """

    def check(
        source: Any, max_waste: float | str | None = 0.10, *, max_peak: int | str | None = None, baseline: Any = None, space: int = 0
    ) -> None:
        import tesela  # not before a test asks for it

        found = tesela.report(source, space=space)
        if max_waste is not None:
            found.assert_waste(max_waste, baseline=baseline)
        if max_peak is not None:
            found.assert_peak(max_peak, baseline=baseline)

    return check
