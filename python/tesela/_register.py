# SPDX-License-Identifier: Apache-2.0
"""Register layouts and tiles in memory: their facts, and the functions of their language as methods."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ._layout import Layout, layout
from ._library import byref, lib, printed


def _words(value: Any) -> str:
    """An argument in the language of register layouts, which is that of Python."""
    if isinstance(value, str):
        value = layout(value)  # the text of a layout, alone
    if isinstance(value, Layout) or value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, Sequence):
        return f"[{', '.join(str(operator.index(one)) for one in value)}]"
    return str(operator.index(value))


def _call(name: str, *arguments: Any, **named: Any) -> str:
    words = [_words(value) for value in arguments]
    words += [f"{key}={_words(value)}" for key, value in named.items()]
    return f"{name}({', '.join(words)})"


def _function(name: str, arguments: str, summary: str) -> Callable[..., RegisterLayout]:
    """A function of the language as a method. A last argument that is a list may be several numbers."""

    def method(self: RegisterLayout, /, *values: Any, **named: Any) -> RegisterLayout:
        if len(values) > 1 and "," not in arguments:
            values = (values,)
        return _register(_call(name, self, *values, **named))

    _describe(method, name, arguments, summary)
    return method


def _tile_function(name: str, arguments: str, summary: str) -> Callable[..., TileLayout]:
    def method(self: TileLayout, /, *values: Any, **named: Any) -> TileLayout:
        if len(values) > 1 and "," not in arguments:
            values = (values,)
        return _tile(_call(name, self, *values, **named))

    _describe(method, name, arguments, summary)
    return method


def _describe(method: Any, name: str, arguments: str, summary: str) -> None:
    method.__name__ = name
    method.__doc__ = f"{name}({arguments}): {summary}. Docs: docs/register.md."


def _register(text: str) -> RegisterLayout:
    """The value of an expression, spelt as the shortest chain of functions that reads back as exactly that."""
    value = RegisterLayout(text)
    exact = value.to("register")
    return short if (short := RegisterLayout(value.expression)).to("register") == exact else RegisterLayout(exact)


def _tile(text: str) -> TileLayout:
    value = TileLayout(text)
    return TileLayout(value.to(value.kind))


class RegisterLayout(Layout, kinds=("register",)):
    """Which thread of a GPU block holds an element, and in which register. `layout` makes it, or ``RegisterLayout(text)``.

    ``A * B`` makes each element of A a whole B; ``A / B`` is the layout q with q * B = A; either side may be a text. The functions
    of the language are methods, and their results are again RegisterLayouts.

    >>> A = RegisterLayout("mma.m16n8k16.f16.A")
    >>> A.where(3, 5), A.what(thread=13, register=2), A.threads, A.registers
    (Holder(thread=14, register=1), (11, 2), 32, 8)
    >>> A * "local(1, 2)"
    layout('column_local(2, 2).spatial(8, 4).local(1, 4)')
    >>> (A * "local(1, 2)") / "local(1, 2)" == A
    True
    >>> A.permute(1, 0).shape, A.reduce(1).copies
    ((16, 16), 4)
    """

    __slots__ = ()

    @property
    def threads(self) -> int:
        """Threads that take part."""
        return int(self._any.registers.spatial_size)

    @property
    def registers(self) -> int:
        """Registers of each thread, in elements."""
        return int(self._any.registers.local_size)

    @property
    def copies(self) -> int:
        """Threads that hold each element."""
        return int(self._copies)

    @property
    def mode_shape(self) -> tuple[int, ...]:
        """Each dim split into modes, outermost first, dim after dim."""
        return tuple(self._any.registers.mode_shape[: self._any.registers.n_modes])

    @property
    def spatial_modes(self) -> tuple[int, ...]:
        """The digits of the thread, slowest first: a mode, or -n for n copies."""
        return tuple(self._any.registers.spatial_modes[: self._any.registers.n_spatial])

    @property
    def local_modes(self) -> tuple[int, ...]:
        """The digits of the register, slowest first."""
        return tuple(self._any.registers.local_modes[: self._any.registers.n_local])

    @property
    def expression(self) -> str:
        """The shortest chain of functions, else RegisterLayout(...).

        >>> RegisterLayout("mma.m16n8k16.f16.A").expression
        'column_local(2, 2).spatial(8, 4).local(1, 2)'
        """
        return printed(lib.tesela_register_print_expression, byref(self._any.registers))

    def canonical(self) -> RegisterLayout:
        """The one form of a relation: reduced, neighbouring replicas multiplied."""
        return _register(f"canonicalize({self})")

    def __mul__(self, other: Layout | str) -> RegisterLayout:
        return _register(_call("compose", self, other)) if isinstance(other, (Layout, str)) else NotImplemented

    def __rmul__(self, other: str) -> RegisterLayout:
        return _register(_call("compose", other, self)) if isinstance(other, str) else NotImplemented

    def __truediv__(self, other: Layout | str) -> RegisterLayout:
        return _register(_call("divide", self, other)) if isinstance(other, (Layout, str)) else NotImplemented

    def __rtruediv__(self, other: str) -> RegisterLayout:
        return _register(_call("divide", other, self)) if isinstance(other, str) else NotImplemented

    left_divide = _function("left_divide", "divisor", "the q with divisor * q = this")
    concat = _function("concat", "other", "side by side: the dims of this one, then those of the other")
    permute = _function("permute", "dims", "dim k of the result is dim dims[k]")
    transpose = _function("transpose", "", "all dims the other way round")
    reshape = _function("reshape", "shape", "another shape with the same row-major element numbers")
    with_shape = _function("with_shape", "shape", "the same modes under another shape, not reduced")
    flatten = _function("flatten", "start_dim=0, end_dim=-1", "make dims start_dim to end_dim one, both included")
    squeeze = _function("squeeze", "dims", "drop dims of extent 1")
    unsqueeze = _function("unsqueeze", "dims", "add dims of extent 1 at these places of the result")
    reduce = _function("reduce", "dims, keepdims=False", "drop dims: their threads hold the same elements")
    reduce_to = _function("reduce_to", "shape", "reduce to what broadcasts to this shape")
    reduced = _function("reduced", "", "the reduced form: no modes of 1, neighbouring modes joined")
    repeat_to = _function("repeat_to", "shape", "repeat over a larger tile, in registers")


class Swizzle(NamedTuple):
    """An XOR stage: with y = (place >> (base + shift)) & (2**bits - 1), the place is XORed with y << base."""

    base: int
    bits: int
    shift: int


class TileLayout(Layout, kinds=("shared", "global")):
    """A tile in shared or global memory: ``layout("shared_row_major(8, 64)")`` or ``TileLayout(text)``.

    >>> T = TileLayout("shared_row_major_swizzle(64, 64, nbytes=2)")
    >>> T.kind, T.where(3, 17), T.swizzle
    ('shared', 201, Swizzle(base=3, bits=3, shift=3))
    >>> T.slice([8, 0], [8, 16]).shape, (T * "shared_row_major(1, 2)").shape
    ((8, 16), (64, 128))
    """

    __slots__ = ()

    @property
    def mode_shape(self) -> tuple[int, ...]:
        """Each dim split into modes, outermost first, dim after dim."""
        return tuple(self._any.memory.mode_shape[: self._any.memory.n_modes])

    @property
    def mode_strides(self) -> tuple[int, ...]:
        """Elements per step of each mode."""
        return tuple(self._any.memory.mode_strides[: self._any.memory.n_modes])

    @property
    def offset(self) -> int:
        """The place of the element whose modes are all 0, before the swizzle."""
        return int(self._any.memory.offset)

    @property
    def swizzle(self) -> Swizzle | None:
        """The XOR stage, or None."""
        found = self._any.memory.swizzle
        return Swizzle(found.base, found.bits, found.shift) if found.bits else None

    def with_swizzle(self, base: int, bits: int, shift: int) -> TileLayout:
        """Put a swizzle on a layout that has none."""
        return _tile(f"with_swizzle({self}, {Swizzle(base, bits, shift)})")

    def __mul__(self, other: Layout | str) -> TileLayout:
        return _tile(_call("compose", self, other)) if isinstance(other, (Layout, str)) else NotImplemented

    def __rmul__(self, other: str) -> TileLayout:
        return _tile(_call("compose", other, self)) if isinstance(other, str) else NotImplemented

    permute = _tile_function("permute", "dims", "dim k of the result is dim dims[k]")
    transpose = _tile_function("transpose", "", "all dims the other way round")
    reshape = _tile_function("reshape", "shape", "another shape with the same row-major element numbers")
    squeeze = _tile_function("squeeze", "dims", "drop dims of extent 1")
    unsqueeze = _tile_function("unsqueeze", "dims", "add dims of extent 1 at these places of the result")
    prepend = _tile_function("prepend", "n", "a new slowest dim of n: n tiles in a row")
    retain = _tile_function("retain", "dims", "keep these dims, with index 0 in the others")
    slice = _tile_function("slice", "start, shape", "the part that starts at start")
    with_size = _tile_function("with_size", "size", "reserve so many places; 0 for the least")


def local(*shape: int, ranks: Sequence[int] | None = None) -> RegisterLayout:
    """One thread holds all elements, the last dim fastest.

    >>> local(3, 4) * "spatial(2, 3)"
    layout('local(3, 4).spatial(2, 3)')
    """
    return _register(_call("local", *shape, **({"ranks": ranks} if ranks is not None else {})))


def spatial(*shape: int, ranks: Sequence[int] | None = None) -> RegisterLayout:
    """One element per thread, the last dim fastest.

    >>> spatial(8, 4).where(2, 3)
    Holder(thread=11, register=0)
    """
    return _register(_call("spatial", *shape, **({"ranks": ranks} if ranks is not None else {})))
