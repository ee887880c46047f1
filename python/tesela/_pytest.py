# SPDX-License-Identifier: Apache-2.0
"""The plugin of pytest that comes with tesela: the fixture `assert_layout_waste`. It imports tesela when a test uses it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def _assert_layout_waste(source: Any, max: float | str = 0.10, *, max_bytes: int | str | None = None, baseline: Any = None) -> None:
    from ._report import report
    from ._report_diff import diff

    found = report(source)
    try:
        found.assert_waste(max)
        if max_bytes is not None:
            found.assert_bytes(max_bytes)
    except AssertionError as err:
        if baseline is None:
            raise
        grown = [one for one in diff(baseline, source).changes if one.bytes > 0][:3]
        lines = {(row.text, row.name): row.source for row in found.arrays}
        made = [one.after and lines.get((one.after.text, one.after.name)) for one in grown]
        rows = [f"  {one}{f'  {line}' if line else ''}" for one, line in zip(grown, made, strict=True)]
        since = ["since the baseline:", *rows] if rows else ["no array grew since the baseline"]
        raise AssertionError("\n".join([str(err), *since])) from None


@pytest.fixture
def assert_layout_waste() -> Callable[..., None]:
    """assert_layout_waste(source, max=0.10, max_bytes=None, baseline=None): fail if more than a share of what `tesela.report(source)` counts
    is padding, or more bytes are stored; with a baseline, name the arrays that grew since, with their source lines.

    `source` and `baseline` are what `tesela.report` takes: a compiled function of JAX, a path, a text.
    """
    return _assert_layout_waste
