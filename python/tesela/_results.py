# SPDX-License-Identifier: Apache-2.0
"""Answers of operations: their fields as attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


class Result(Mapping[str, Any]):
    """The answer of an operation of docs/query.md: each field is an attribute, and an item of this mapping. Immutable.

    Objects inside it are Results, lists are tuples. ``result.to_dict()`` is the answer as plain dicts and lists.

    >>> r = Result({"elements": 2, "ldmatrix": {"applies": True}})
    >>> r.elements, r.ldmatrix.applies, r["elements"]
    (2, True, 2)
    >>> r
    Result(elements=2, ldmatrix=Result(applies=True))
    """

    __slots__ = ("_fields",)

    def __init__(self, fields: Mapping[str, Any]) -> None:
        object.__setattr__(self, "_fields", {name: _frozen(value) for name, value in fields.items()})

    def __getattr__(self, name: str) -> Any:
        if name != "_fields" and name in self._fields:
            return self._fields[name]
        raise AttributeError(f"{type(self).__name__} has no field {name!r}", name=name, obj=self)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed")

    __delattr__ = __setattr__  # type: ignore[assignment]

    def __getitem__(self, name: Any) -> Any:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __bool__(self) -> bool:
        return True

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name for name in self._fields if name.isidentifier())]

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain dicts and lists; json.dumps takes it."""
        return {name: _plain(value) for name, value in self._fields.items()}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={_short(value)}' for name, value in self._fields.items())})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._fields,)


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return Result(value)
    return tuple(map(_frozen, value)) if isinstance(value, (list, tuple)) else value


def _plain(value: Any) -> Any:
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return value if value is None or isinstance(value, (str, int, float)) else str(value)


def _short(value: Any) -> str:
    """A repr of one line: long texts and lists are cut."""
    if isinstance(value, str) and len(value) > 60:
        return repr(value[:57] + "...")
    if isinstance(value, tuple):
        shown = [_short(one) for one in value[:8]] + (["..."] if len(value) > 8 else [])
        return f"({', '.join(shown)}{',' if len(value) == 1 else ''})"
    return repr(value)
