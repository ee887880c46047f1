/* SPDX-License-Identifier: Apache-2.0 */
/*
 * problem_side.h - the two sides of a relayout: the layout of the data, and the layout to copy it to.
 */
#ifndef TESELA_OPS_PROBLEM_SIDE_H
#define TESELA_OPS_PROBLEM_SIDE_H

#include <tesela/notation.h>
#include <tesela/ops.h>
#include <tesela/relayout.h>
#include <tesela/xla.h>

typedef struct problem_side {
  tesela_any_layout any; /* as an XLA layout, if one is equal to a device layout */
  tesela_layout layout;  /* one axis */
  int64_t bytes;         /* of all places */
} problem_side;

typedef struct problem {
  problem_side from, to;
  tesela_transform transform; /* NONE, or CONVERT if type or width differ */
} problem;

/* Read one side, a layout in memory in any notation; type and dims that it lacks are those of `of`, which may be NULL, else those of the
 * options. repairs may be NULL. */
tesela_status problem_read_side(const char *text, size_t length, const tesela_layout_read_options *options,
                                const tesela_xla_shape *of, problem_side *side, tesela_xla_repairs *repairs,
                                tesela_error *err);

/* Type and dims of a layout. */
tesela_xla_shape problem_array(const tesela_layout *layout);

/* Has a text given no type, so that its elements have 8 bits for want of a width? */
bool problem_lacks_type(const tesela_layout *layout);

/* The side gets the type of the other one, if it has none. */
tesela_status problem_complete(problem_side *side, const tesela_layout *other, tesela_error *err);

/* What was repaired on the two sides of a line, and the side that cannot be read: "left", "right"; NULL: neither. */
typedef struct problem_notes {
  tesela_xla_repairs from, to;
  const char *side;
} problem_notes;

/* Read a problem as a line:
 *
 *   f32[1024,1024]{1,0} -> {1,0:T(8,128)}
 *
 * On the left the layout of the data; on the right the layout to copy to: a layout alone, or a whole shape, whose type may be
 * another one (a conversion). Bytes of errors and repairs are those of the line. */
tesela_status problem_read_line(const char *line, size_t length, const tesela_layout_read_options *options,
                                problem *p, problem_notes *notes, tesela_error *err);

/* The same of the field problem. */
tesela_status problem_read_field(tesela_request *q, problem *p);

/* Print the line, both sides in full: "f32[8,128]{1,0} -> f32[8,128]{1,0:T(8,128)}". As a member of an answer likewise. */
void problem_print(const problem *p, const tesela_writer *to);
void problem_put(const problem *p, tesela_sink *out);

/* The options that the fields threads, isa, solver and effort give, and the transformation; "all" stays BEST and ANY. */
tesela_status problem_options(tesela_request *q, const problem *p, tesela_plan_options *options);

/* What goes into padding: "zero" (also NULL), "leave", or one element of `to`: "1.5", "0x7fc0". */
tesela_status problem_fill(const char *text, const tesela_layout *to, tesela_plan_options *options,
                           tesela_error *err);

/* The transformation between the two sides where the request has none. */
tesela_transform problem_transform(const problem *p);

#endif
