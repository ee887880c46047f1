# SPDX-License-Identifier: Apache-2.0
"""What users write, with types: checked by mypy --strict and run (test_types.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import tesela


def facts(text: str) -> dict[str, int]:
    found: tesela.Layout = tesela.layout(text)
    assert_type(found.shape, tuple[int, ...])
    assert_type(found.nbytes, int)
    assert_type(found.expansion, float)
    assert_type(found.dtype, np.dtype[Any] | None)
    assert_type(found.element_type, str | None)
    return {"bytes": found.nbytes, "padding": found.padding, "hash": hash(found)}


def many(found: tesela.Layout, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    places = found.where(rows)
    assert_type(places, NDArray[np.int64])
    return places


def difference(a: tesela.Layout, b: tesela.Layout) -> tuple[int, ...] | None:
    found = tesela.compare(a, b)
    assert_type(found, tesela.Comparison)
    return None if found.first_difference is None else found.first_difference.index


def notations(found: tesela.Layout) -> dict[str, str]:
    try:
        assert_type(found.to("xla"), str)
    except tesela.NotExpressible as error:
        print(error.code, error.text, error.offset)
    return found.all_notations()


def packed(x: NDArray[np.float32], show: Callable[[int, int], Any]) -> tesela.TiledArray:
    tiled = tesela.pack(x, "{1,0:T(2,2)}", fill=-1, progress=show)
    assert_type(tiled, tesela.TiledArray)
    assert_type(tiled.layout, tesela.Layout)
    assert_type(tiled.to("{0,1}"), tesela.TiledArray)
    return tiled


def copied(src: NDArray[np.float32]) -> str:
    plan: tesela.Plan = tesela.plan("f32[3,5]", "{1,0:T(2,2)}", threads=1)
    plan(src, out=np.empty(24, np.float32))
    assert_type(plan.info, dict[str, Any])
    return plan.explain()


def refused(text: str) -> tuple[str | None, int | None, str | None]:
    try:
        tesela.layout(text)
    except tesela.LayoutSyntaxError as error:
        return error.text, error.offset, error.suggestion
    return None, None, None


def main() -> None:
    text = "f32[3,5]{1,0:T(2,2)}"
    found = tesela.layout(text)
    assert facts(text)["bytes"] == 96
    assert many(found, np.array([[2, 3], [0, 0]])).tolist() == [17, 0]
    assert difference(found, tesela.layout("f32[3,5]")) == (0, 2)
    assert notations(found)["xla"] == text
    x = np.arange(15, dtype=np.float32).reshape(3, 5)
    assert np.array_equal(np.asarray(packed(x, lambda done, total: None)), x)
    assert copied(x)
    assert refused("f32[3,5]{1,0:T(2,x)}") != (None, None, None)
    answer: dict[str, Any] = tesela.op("where", layout=text, indices=[[2, 3]])
    assert answer == {"places": [17]}


if __name__ == "__main__":
    main()
