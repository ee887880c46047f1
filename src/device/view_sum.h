/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_sum.h - sums of digits of a view's index: what view_form.c divides. view_sum.c
 */
#ifndef TESELA_SRC_VIEW_SUM_H
#define TESELA_SRC_VIEW_SUM_H

#include "device/view.h"

enum {
  TESELA__VIEW_DIGITS = 64, /* index digits */
  /* base coordinates, their joins, what they are divided by, what is left of the storage offset, the place */
  TESELA__VIEW_SUMS = 3 * TESELA_MAX_RANK + 4,
};

/* Of the index of one dim, taken apart greedily by decreasing step. */
typedef struct tesela__view_digit {
  int32_t dim;
  int64_t step, extent;
} tesela__view_digit;

/* constant + sum of weight * digit */
typedef struct tesela__view_sum {
  int64_t constant;
  int64_t weight[TESELA__VIEW_DIGITS];
} tesela__view_sum;

/* All sums over the digits of one view: splitting a digit changes each of them. */
typedef struct tesela__view_sums {
  const tesela_host_view *view;
  int32_t n, n_sums;
  tesela__view_digit digit[TESELA__VIEW_DIGITS];
  tesela__view_sum sum[TESELA__VIEW_SUMS];
} tesela__view_sums;

/* A digit for each dim, no sum yet. */
void tesela__view_sums_begin(tesela__view_sums *sums, const tesela_host_view *view);

/* One more sum, of nothing. It lives until n_sums is put back. */
tesela__view_sum *tesela__view_new_sum(tesela__view_sums *sums);

/* Bounds of the terms of a sum, without its constant; beyond what is reached where the last step of an index is not full. */
void tesela__view_range(const tesela__view_sums *sums, const tesela__view_sum *sum, int64_t *low,
                        int64_t *high);

/* sum = t * quotient + rest, in place; false: the rest may be t or more. *full: no digits left, nothing is divided. */
bool tesela__view_divide(tesela__view_sums *sums, tesela__view_sum *sum, int64_t t,
                         tesela__view_sum *quotient, bool *full);

bool tesela__view_is_zero(const tesela__view_sums *sums, const tesela__view_sum *sum);

#endif
