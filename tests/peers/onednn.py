# SPDX-License-Identifier: Apache-2.0
"""The library of oneDNN and its header, from the package onednn-devel."""

import sys
from pathlib import Path

LIBRARY = next(iter(sorted(Path(sys.prefix, "lib").glob("libdnnl.so*"))), None)
HEADER = Path(sys.prefix, "include/oneapi/dnnl/dnnl_types.h")
if LIBRARY is None or not HEADER.exists():
    raise ImportError("no libdnnl.so in this environment")
