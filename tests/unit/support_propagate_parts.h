/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_propagate_parts.h - declarations that the files of the exhaustive search (support_propagate_oracle.c) share.
 */
#ifndef TESELA_TESTS_SUPPORT_PROPAGATE_PARTS_H
#define TESELA_TESTS_SUPPORT_PROPAGATE_PARTS_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support_propagate.h"

enum { STICKS = PROG_RANK + 1, POINTS = 1024 };

typedef struct tensor {
  int buffer, rank;
  int64_t shape[PROG_RANK], n;
  int *element; /* [n], row-major: the element of the buffer */
} tensor;

/* An operand with a requirement: can its buffer be in `stick` if the result's is at `label`? Label and stick: 0 is one
 * element per stick, 1 + d is dim d. */
typedef struct need {
  int buffer, value, seen; /* seen: the statement that the operator reads */
  bool movable;
  bool legal[STICKS][STICKS];
} need;

typedef struct operation {
  bool used;                  /* an operator with a result */
  bool under[STICKS][STICKS]; /* [stick of the buffer][label of the result]: possible? */
  int n_needs;
  need need[PROG_OPERANDS];
} operation;

typedef struct search {
  const prog *p;
  const prog_options *options;
  tensor t[PROG_STATEMENTS];
  operation op[PROG_STATEMENTS];
  int value[PROG_STATEMENTS]; /* statement that made the value that each statement shows */
  int64_t lanes[PROG_STATEMENTS];
  bool allowed[PROG_STATEMENTS][STICKS];
  int64_t prefer[PROG_STATEMENTS][STICKS];
  int stick[PROG_STATEMENTS];               /* of each buffer, in the current try */
  bool copied[PROG_STATEMENTS][STICKS];     /* value, stick: a copy exists */
  int went[PROG_STATEMENTS][PROG_OPERANDS]; /* the stick to which each operand was moved, or -1 */
  int deepest;
  bool found, any_moves; /* any_moves: ignore the number of moves */
  int64_t best, best_moves;
} search;

/* ---- support_propagate_tensors.c ------------------------------------------------------------------------ */

/* Points with coordinates, and the element of the buffer at each. */
typedef struct points {
  int buffer, rank;
  int n;
  int64_t extent[PROG_RANK];
  int64_t at[POINTS][PROG_RANK];
  int element[POINTS];
} points;

bool prog_is(const prog_statement *s, const char *op);

/* Is the lane the coordinate of dim (-1: 0), and does the stick depend only on the result's stick? */
bool prog_aligned(const search *w, const points *q, int dim, int stick);
bool prog_lane_zero(const search *w, const points *q, int stick);
int64_t prog_places(const search *w, int buffer, int stick);
bool prog_pointwise(const search *w, const points *q, int dim, int stick, int64_t result_lanes);

/* Is a value (stick, or element) the same for all points of each group? */
bool prog_same_in_groups(const search *w, const points *q, int dim, int64_t lanes, int stick, bool element);
bool prog_named(const prog_statement *s, int64_t d);
void prog_tensor_own(tensor *t, int buffer, int rank, const int64_t *shape);
int64_t prog_ravel(int rank, const int64_t *shape, const int64_t *index);
void prog_unravel(int64_t k, int rank, const int64_t *shape, int64_t *index);

/* A view: its shape, and the element of x of each of its elements. */
void prog_tensor_view(const prog_statement *s, const tensor *x, tensor *t);

/* ---- support_propagate_operators.c ---------------------------------------------------------------------- */

/* The result and the needs of a statement. */
void prog_operate(search *w, int k);

#endif
