/* SPDX-License-Identifier: Apache-2.0 */
/*
 * problem_side.h - the two sides of a relayout: what the data is, and what it shall become.
 */
#ifndef TESELA_OPS_PROBLEM_SIDE_H
#define TESELA_OPS_PROBLEM_SIDE_H

#include <tesela/relayout.h>
#include <tesela/xla.h>

typedef struct problem_side {
  tesela_xla_shape shape;
  tesela_layout layout;
  int64_t bytes; /* of all places */
} problem_side;

typedef struct problem {
  problem_side from, to;
  tesela_transform transform; /* NONE, or CONVERT if type or width differ */
} problem;

/* Read one side: a LAYOUT or, if `of` is not NULL, a layout in braces, or stick(...), for that shape. As kind_read otherwise. */
tesela_status problem_read_side(const char *text, size_t length, int32_t flags, const tesela_xla_shape *of,
                                problem_side *side, tesela_xla_repairs *repairs, tesela_error *err);

/* The transformation between the two sides when nobody asked for one. */
tesela_transform problem_transform(const problem *p);

#endif
