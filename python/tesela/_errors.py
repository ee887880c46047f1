# SPDX-License-Identifier: Apache-2.0
"""Exceptions: one class for each kind of failure of the library."""

from __future__ import annotations

import re
from typing import Any


class LayoutError(ValueError):
    """A failure of the library: the parts of an input contradict each other, or as the subclass says.

    ``text`` and ``offset`` are the text that was read and the character in it; ``code`` is the name of the failure, as in
    docs/query.md; ``field`` is the argument at fault. Each is None where there is none.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        text: str | None = None,
        offset: int | None = None,
        field: str | None = None,
        where: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code, self.text, self.offset, self.field, self.where = code, text, offset, field, where

    @property
    def expected(self) -> str | None:
        """What the message says was expected, or None."""
        found = re.search(r"expected (.+?)(?:, found |; |\n|$)", str(self))
        return found[1] if found else None

    @property
    def suggestion(self) -> str | None:
        """The name that the message suggests, or None."""
        found = re.search(r"did you mean '?(.+?)'?\?", str(self))
        return found[1] if found else None

    def __reduce__(self) -> tuple[Any, ...]:
        details = {name: getattr(self, name) for name in ("code", "text", "offset", "field", "where")}
        return _again, (type(self), str(self), details)


def _again(kind: type[LayoutError], message: str, details: dict[str, Any]) -> LayoutError:
    return kind(message, **details)


class LayoutSyntaxError(LayoutError):
    """A text is not in its notation, or what it says is not a layout. The message has a caret under the place."""


class RangeError(LayoutError, IndexError):
    """A number is outside its range: an index, a place, an option."""


class MismatchError(LayoutError):
    """Two inputs do not fit together: shapes, types, ranks."""


class UnsupportedError(LayoutError):
    """The library cannot do this for this layout; the message says why."""


class NotExpressible(UnsupportedError):
    """A notation cannot express this layout."""


class LimitError(LayoutError, OverflowError):
    """More than a stated limit, or beyond 64 bits."""


class TeselaWarning(UserWarning):
    """A note of the library: the answer stands, but an input is not as it should be."""


CLASSES: dict[str, type[LayoutError]] = {
    "SYNTAX": LayoutSyntaxError,
    "RANGE": RangeError,
    "OVERFLOW": LimitError,
    "LIMIT": LimitError,
    "UNSUPPORTED": UnsupportedError,
    "MISMATCH": MismatchError,
}
