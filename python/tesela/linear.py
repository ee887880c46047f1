# SPDX-License-Identifier: Apache-2.0
"""Linear layouts over bits, with the operations of Triton's LinearLayout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from ._layout import Layout, layout
from ._ops import op

__all__ = ["LinearLayout"]


class LinearLayout:
    """Every bit of an input flips some bits of the outputs.

    >>> L = LinearLayout({"lane": [[0, 1], [0, 2], [1, 0]]}, ["dim0", "dim1"])
    >>> L.apply(lane=5)
    {'dim0': 1, 'dim1': 1}
    """

    __slots__ = ("bases", "outs")

    def __init__(self, bases: dict[str, Any], outs: Sequence[Any]) -> None:
        made = op("linear_layout", do="from_bases", a={"bases": bases, "outs": [list(o) if isinstance(o, tuple) else o for o in outs]})["layout"]
        self.bases, self.outs = made["bases"], made["outs"]

    @classmethod
    def _of(cls, made: dict[str, Any]) -> Self:
        self = cls.__new__(cls)
        self.bases, self.outs = made["bases"], made["outs"]
        return self

    @classmethod
    def from_encoding(cls, text: Any, shape: Sequence[int] | None = None, **beside: Any) -> Self:
        """Of any layout that is linear over bits: a Triton encoding, a register layout, CuTe, ..."""
        fields: dict[str, Any] = {"shape": list(shape)} if shape is not None else {}
        if isinstance(text, Layout):
            request = text._request()
            fields = {name: value for name, value in request.items() if name != "layout"}
            text = request["layout"]
        return cls._of(op("linear_layout", do="from_encoding", text=str(text), **fields, **beside)["layout"])

    @classmethod
    def identity_1d(cls, size: int, in_name: str, out_name: str) -> Self:
        """x to x."""
        return cls._of(op("linear_layout", do="identity1d", size=size, ins=[in_name], out=out_name)["layout"])

    @classmethod
    def strided_1d(cls, size: int, stride: int, in_name: str, out_name: str) -> Self:
        """x to stride * x."""
        return cls._of(op("linear_layout", do="strided1d", size=size, stride=stride, ins=[in_name], out=out_name)["layout"])

    @classmethod
    def zeros_1d(cls, size: int, in_name: str, out_name: str, out_size: int = 1) -> Self:
        """x to 0."""
        return cls._of(op("linear_layout", do="zeros1d", size=size, ins=[in_name], out=out_name, out_size=out_size)["layout"])

    def _ask(self, do: str, **fields: Any) -> dict[str, Any]:
        return op("linear_layout", do=do, a=self._value(), **fields)

    def _value(self) -> dict[str, Any]:
        return {"bases": self.bases, "outs": self.outs}

    def _with(self, do: str, other: LinearLayout | None = None, **fields: Any) -> Self:
        if other is not None:
            fields["b"] = other._value()
        return self._of(self._ask(do, **fields)["layout"])

    def apply(self, **inputs: int) -> dict[str, int]:
        """The value of each output; inputs that are not given are 0."""
        return dict(self._ask("apply", at=dict.fromkeys(self.bases, 0) | inputs)["value"])

    def compose(self, outer: LinearLayout) -> Self:
        """First this layout, then `outer`."""
        return self._with("compose", outer)

    def invert(self) -> Self:
        """The inverse."""
        return self._with("invert")

    def pseudoinvert(self) -> Self:
        """A right inverse."""
        return self._with("pseudoinvert")

    def invert_and_compose(self, outer: LinearLayout) -> Self:
        """c with c.compose(outer) = self."""
        return self._with("invert_and_compose", outer)

    def divide_left(self, divisor: LinearLayout) -> Self:
        """c with divisor * c = self."""
        return self._with("divide_left", divisor)

    def quotient(self, over: Sequence[str]) -> Self:
        """Without dims on which it is the identity."""
        return self._with("quotient", over=list(over))

    def sublayout(self, ins: Sequence[str], outs: Sequence[str]) -> Self:
        """Some inputs and outputs."""
        return self._with("sublayout", ins=list(ins), outs=list(outs))

    def transpose_ins(self, order: Sequence[str]) -> Self:
        """The inputs in another order."""
        return self._with("transpose_ins", order=list(order))

    def transpose_outs(self, order: Sequence[str]) -> Self:
        """The outputs in another order."""
        return self._with("transpose_outs", order=list(order))

    def reshape_ins(self, new: Sequence[tuple[str, int]]) -> Self:
        """Other inputs for the same bits."""
        return self._with("reshape_ins", new=[list(dim) for dim in new])

    def reshape_outs(self, new: Sequence[tuple[str, int]]) -> Self:
        """Other outputs for the same bits."""
        return self._with("reshape_outs", new=[list(dim) for dim in new])

    def is_injective(self) -> bool:
        """Do different inputs have different outputs?"""
        return bool(self._ask("is_injective")["value"])

    def is_surjective(self) -> bool:
        """Does every output occur?"""
        return bool(self._ask("is_surjective")["value"])

    def is_invertible(self) -> bool:
        """Both."""
        return bool(self._ask("is_invertible")["value"])

    def get_free_variable_masks(self) -> dict[str, int]:
        """Of each input the bits whose basis is a XOR of earlier ones."""
        return dict(self._ask("free_variable_masks")["value"])

    def to_layout(self) -> Layout:
        """The layout as tesela.layout reads it."""
        return layout(self._ask("to_layout")["text"])

    def __mul__(self, other: LinearLayout) -> Self:
        return self._with("product", other)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LinearLayout) and bool(self._ask("equal", b=other._value())["value"])

    def __hash__(self) -> int:
        return hash(repr((sorted(self.bases), self.outs)))

    def __repr__(self) -> str:
        return f"LinearLayout({self.bases!r}, {self.outs!r})"
