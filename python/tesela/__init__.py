# SPDX-License-Identifier: Apache-2.0
"""tesela: the physical layout of tensors - read, printed, measured, inverted, compared, converted, copied, drawn.

>>> import tesela
>>> L = tesela.layout("f32[3,5]{1,0:T(2,2)}")
>>> L.where(2, 3), L.what(9), L.nbytes
(17, None, 96)

Importing it imports NumPy only; arrays of torch and JAX are used as they come.
"""

from ._checkpoint import pack_file, unpack_file
from ._device import DeviceDim, DeviceLayout, device_layout
from ._errors import (
    LayoutError,
    LayoutSyntaxError,
    LimitError,
    MismatchError,
    NotExpressible,
    RangeError,
    TeselaWarning,
    UnsupportedError,
)
from ._files import TensorSlice, safe_open
from ._gpu import Conversion, Fragment, Inference, access, convert, fragment, infer, swizzle
from ._graph import Graph, Tensor, graph
from ._layout import Comparison, Difference, Holder, Layout, choose, compare, layout
from ._library import version
from ._ops import op
from ._register import RegisterLayout, Swizzle, TileLayout, local, spatial
from ._report import Report, report
from ._report_diff import Change, Diff, diff
from ._report_memory import MemoryRow
from ._report_rows import Advice, Culprit, Note, Remedy, ReportArray
from ._results import Result
from ._save import save_file
from ._tensor import Plan, TiledArray, pack, plan, relayout

__version__ = version()

__all__ = [
    "Advice",
    "Change",
    "Comparison",
    "Conversion",
    "Culprit",
    "DeviceDim",
    "DeviceLayout",
    "Diff",
    "Difference",
    "Fragment",
    "Graph",
    "Holder",
    "Inference",
    "Layout",
    "LayoutError",
    "LayoutSyntaxError",
    "LimitError",
    "MemoryRow",
    "MismatchError",
    "NotExpressible",
    "Note",
    "Plan",
    "RangeError",
    "RegisterLayout",
    "Remedy",
    "Report",
    "ReportArray",
    "Result",
    "Swizzle",
    "Tensor",
    "TensorSlice",
    "TeselaWarning",
    "TileLayout",
    "TiledArray",
    "UnsupportedError",
    "access",
    "choose",
    "compare",
    "convert",
    "device_layout",
    "diff",
    "fragment",
    "graph",
    "infer",
    "layout",
    "local",
    "op",
    "pack",
    "pack_file",
    "plan",
    "relayout",
    "report",
    "safe_open",
    "save_file",
    "spatial",
    "swizzle",
    "unpack_file",
]
