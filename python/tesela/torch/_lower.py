# SPDX-License-Identifier: Apache-2.0
"""How operators of torch (aten) become operators of a tesela graph: the table of rules, filled by the modules that have them."""

from . import (  # noqa: F401 - their rules
    _lower_arithmetic,
    _lower_compare,
    _lower_folds,
    _lower_lookup,
    _lower_memory,
    _lower_pools,
    _lower_views,
    _lower_windows,
)  # fmt: skip
from ._rules import RULES

__all__ = ["RULES"]
