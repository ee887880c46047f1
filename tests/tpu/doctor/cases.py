# SPDX-License-Identifier: Apache-2.0
"""All cases. OTHER: programs that were written as sick ones and whose fix by hand does not help: the compiler does well by itself."""

import healthy
import narrow_types
import sick_meshes
import sick_points
import sick_tables
import unseen

OTHER = (
    "oscillators embedding_narrow one_hot_weights one_hot_loss class_sums segment_counts narrow_step point_net series sort_few quadratic "
    "line_convolution"
).split()
WRITTEN = [*sick_points.CASES, *sick_tables.CASES, *sick_meshes.CASES]
SICK = [case for case in WRITTEN if case.name not in OTHER]
HEALTHY = healthy.CASES
UNSEEN = unseen.CASES
TYPES = narrow_types.CASES
CASES = {case.name: case for case in (*WRITTEN, *HEALTHY, *UNSEEN, *TYPES)}


def kind(name):
    if CASES[name] in UNSEEN:
        return "unseen"
    if CASES[name] in TYPES:
        return "types"
    return "other" if name in OTHER else "sick" if CASES[name].fixed else "healthy"
