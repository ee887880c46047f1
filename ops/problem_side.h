/* SPDX-License-Identifier: Apache-2.0 */
/*
 * problem_side.h - the two sides of a relayout: what the data is, and what it shall become.
 */
#ifndef TESELA_OPS_PROBLEM_SIDE_H
#define TESELA_OPS_PROBLEM_SIDE_H

#include <tesela/notation.h>
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

/* Read one side as an XLA layout, in any notation that says one; type and dims it does not say are those of `of`, which may be
 * NULL. repairs may be NULL. */
tesela_status problem_read_side(const char *text, size_t length, const tesela_layout_read_options *options,
                                const tesela_xla_shape *of, problem_side *side, tesela_xla_repairs *repairs,
                                tesela_error *err);

/* The transformation between the two sides when nobody asked for one. */
tesela_transform problem_transform(const problem *p);

#endif
