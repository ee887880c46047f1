# SPDX-License-Identifier: Apache-2.0
"""Questions about GPU kernels: access to memory, swizzles, conversions between register layouts, inference, fragments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._layout import Layout, layout
from ._library import Progress
from ._ops import op
from ._register import RegisterLayout, TileLayout
from ._results import Result
from ._types import element_type

Given = Layout | str


def _type(dtype: Any) -> str | None:
    return None if dtype is None else element_type(dtype)


def access(
    registers: Given, memory: Given, dtype: Any = None, *, vector: int | None = None, warp: int | None = None,
    banks: int | None = None, bank_bytes: int | None = None,
) -> Result:  # fmt: skip
    """What it costs all warps of a block to move a register tile to or from memory: the operation `access` of docs/query.md.

    The widest vector is used, or one of ``vector`` elements. The machine is NVIDIA's (a ``warp`` of 32 threads, 32 ``banks`` of 4
    ``bank_bytes``), unless these say otherwise.

    Without ``dtype`` the elements have the type of the layouts; a layout of another type is refused.

    >>> a = access("mma.m16n8k16.f16.A", "shared_row_major(16, 16)", "f16")
    >>> a.bytes, a.conflicts, a.ldmatrix.applies
    (4, 4, True)
    >>> access("spatial(4, 8).local(1, 4)", "f32[4,32]{1,0}").bytes
    16
    """
    return Result(
        op(
            "access", register=str(registers), memory=str(memory), dtype=_type(dtype), vector=vector, warp=warp,
            banks=banks, bank_bytes=bank_bytes,
        )  # fmt: skip
    )


def swizzle(
    writes: Given | Sequence[Given] = (), reads: Given | Sequence[Given] = (), *, dtype: Any = None, vector: int | None = None,
    ldmatrix: bool = False, warp: int | None = None, banks: int | None = None, bank_bytes: int | None = None,
    max_steps: int | None = None, progress: Progress | None = None,
) -> Result:  # fmt: skip
    """The layout in shared memory with the fewest wavefronts for the register layouts that write and read a tile.

    ``memory`` of the result is a TileLayout: plain, swizzled or with padded rows; ``cute`` is the text of CuTe. The operation
    `swizzle` of docs/query.md.

    >>> s = swizzle("spatial(1, 32).local(32, 1)", "column_spatial(32, 1).local(1, 32)", dtype="f32")
    >>> s.memory.swizzle, s.wavefronts, s.row_major
    (Swizzle(base=2, bits=3, shift=3), 64, 288)
    >>> s.cute
    'Sw<3,2,3> o 0 o (32,32):(32,1)'
    """
    found = op(
        "swizzle", writes=_texts(writes), reads=_texts(reads), dtype=_type(dtype), vector=vector,
        ldmatrix=ldmatrix, warp=warp, banks=banks, bank_bytes=bank_bytes, max_steps=max_steps, progress=progress,
    )  # fmt: skip
    return Result({**found, "memory": TileLayout(found["memory"])})


def _texts(layouts: Given | Sequence[Given]) -> list[str]:
    return [str(layouts)] if isinstance(layouts, (Layout, str)) else [str(one) for one in layouts]


class Conversion(Result):
    """How threads convert a tile between two register layouts; made by `convert`. ``print(c)`` prints the plan."""

    __slots__ = ()

    def cuda(self, name: str) -> str:
        """The conversion as a CUDA function of this name."""
        return str(_convert({**self._fields["request"], "cuda": name})["cuda"])

    def __str__(self) -> str:
        return str(self.plan)


def convert(
    source: Given, target: Given, dtype: Any = None, *, through: str | None = None, warp: int | None = None,
    max_steps: int | None = None, progress: Progress | None = None,
) -> Conversion:  # fmt: skip
    """How the threads convert a tile from one register layout to another: the operation `convert` of docs/query.md.

    ``kind`` is "nothing", "permute", "shuffle" or "shared"; ``memory`` is then the TileLayout in shared memory, else None.
    ``through``, "shuffle" or "shared", demands one where registers alone do not do.

    >>> c = convert("spatial(4, 8)", "column_spatial(4, 8)", "f32")
    >>> c.kind, c.rounds, c.memory
    ('shuffle', 1, None)
    >>> "void turn(" in c.cuda("turn")
    True
    """
    request = {
        "from": str(source), "to": str(target), "dtype": _type(dtype), "through": through, "warp": warp,
        "max_steps": max_steps,
    }  # fmt: skip
    found = _convert(request, progress)
    memory = TileLayout(found["memory"]) if "memory" in found else None
    return Conversion({**found, "memory": memory, "request": request})


def _convert(request: dict[str, Any], progress: Progress | None = None) -> dict[str, Any]:
    return op("convert", progress=progress, **request)


class Inference(Result):
    """Layouts for all tensors of a kernel; made by `infer`. It is true if they do not contradict each other."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return bool(self.consistent)

    @property
    def layouts(self) -> dict[str, Layout]:
        """The layouts that were found, by the names of the tensors."""
        return {one.name: one.layout for one in self.tensors if one.layout is not None}


def infer(program: str) -> Inference:
    """Layouts for all tensors of a kernel program: the operation `infer` of docs/query.md; docs/infer.md has the language.

    A contradiction is an answer: ``consistent`` is False, and ``conflict`` says what contradicts what and what would repair it.

    >>> found = infer("threads 32\\nglobal g: f32[32, 4]\\nregister x: f32[32, 4] = spatial(32, 1).local(1, 4)\\nload x, g\\n")
    >>> found.layouts["g"].where(2, 1), found.tensors[0].rule
    (9, 'row-major (default)')
    """
    found = op("infer", program=program)
    for tensor in found["tensors"]:
        tensor["layout"] = layout(tensor["layout"]) if tensor["layout"] else None
    return Inference({"conflict": None, **found})


class Fragment(Result):
    """An operand of a matrix instruction in registers; made by `fragment`. ``layout`` is its RegisterLayout."""

    __slots__ = ()

    @property
    def layout(self) -> RegisterLayout:
        """Where its elements are."""
        return RegisterLayout(self.expression)

    @property
    def elements(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """For each lane the indices of its elements, in the order of its registers."""
        return tuple(
            tuple(tuple(index) for index in lane) for lane in op("fragment", name=self._fields["asked"], table=True)["lane_elements"]
        )


def fragment(name: str) -> Fragment:
    """An operand of a matrix instruction: the operation `fragment` of docs/query.md. ``tesela formats --fragments`` lists them.

    >>> f = fragment("mma.m16n8k16.f16.A")
    >>> f.instruction, f.row, f.col, f.layout.threads
    ('mma.sync.aligned.m16n8k16', 'g + 8*((i/2)%2)', '2*t + i%2 + 8*(i/4)', 32)
    """
    return Fragment({**op("fragment", name=name), "asked": name})
