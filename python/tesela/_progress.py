# SPDX-License-Identifier: Apache-2.0
"""What `progress=` of long calls takes: True for a bar, or a function."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Iterator
from typing import Any

from ._library import Progress


@contextlib.contextmanager
def watching(progress: bool | Progress | None, name: str) -> Iterator[Progress | None]:
    """The function to hand on. True: a bar of tqdm where that is installed, else a line on stderr."""
    if progress is None or progress is False:
        yield None
    elif progress is not True:
        yield progress
    else:
        line: Line
        try:
            line = Bar(name, importlib.import_module("tqdm").tqdm)
        except ImportError:
            line = Line(name)
        try:
            yield line.show
        finally:
            line.close()


class Line:
    """ "pack:  12%", written again when the number changes."""

    def __init__(self, name: str) -> None:
        self.name, self.shown = name, -1

    def show(self, done: int, total: int) -> None:
        percent = 100 * done // total if total else 100
        if percent != self.shown:
            self.shown = percent
            sys.stderr.write(f"\r{self.name}: {percent:3}%")
            sys.stderr.flush()

    def close(self) -> None:
        if self.shown >= 0:
            sys.stderr.write("\n")


class Bar(Line):
    def __init__(self, name: str, tqdm: Any) -> None:
        super().__init__(name)
        self.bar = tqdm(desc=name, unit="B", unit_scale=True, unit_divisor=1024)

    def show(self, done: int, total: int) -> None:
        self.bar.total = total
        self.bar.update(done - self.bar.n)

    def close(self) -> None:
        self.bar.close()
