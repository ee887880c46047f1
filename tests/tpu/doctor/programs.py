# SPDX-License-Identifier: Apache-2.0
"""All cases: the sick ones, then the healthy ones."""

import healthy
import sick_meshes
import sick_points
import sick_tables

SICK = [*sick_points.CASES, *sick_tables.CASES, *sick_meshes.CASES]
HEALTHY = healthy.CASES
CASES = {case.name: case for case in (*SICK, *HEALTHY)}
