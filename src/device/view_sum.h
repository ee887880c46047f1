/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_sum.h - sums of digits of a view's index, which view_form.c divides.
 */
#ifndef TESELA_SRC_VIEW_SUM_H
#define TESELA_SRC_VIEW_SUM_H

#include "device/view.h"

enum {
  TESELA__VIEW_DIGITS = 64, /* index digits */
  /* base coordinates, their joins, their quotients, the rest of the storage offset, the place */
  TESELA__VIEW_SUMS = 3 * TESELA_MAX_RANK + 4,
};

/* A digit of the index of one dim; the index is split greedily, by decreasing step. */
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

/* Begin with one digit per dim, and without sums. */
void tesela__view_sums_begin(tesela__view_sums *sums, const tesela_host_view *view);

/* Add a sum of 0. It is valid until n_sums is restored. */
tesela__view_sum *tesela__view_new_sum(tesela__view_sums *sums);

/* Bounds of the terms of a sum, without its constant, as if digits were independent: too wide if the last step of an
 * index is not full. */
void tesela__view_range(const tesela__view_sums *sums, const tesela__view_sum *sum, int64_t *low,
                        int64_t *high);

/* Divide in place: sum = t * quotient + rest. false: the rest may be t or more. *full: too many digits, sums
 * invalid. */
bool tesela__view_divide(tesela__view_sums *sums, tesela__view_sum *sum, int64_t t,
                         tesela__view_sum *quotient, bool *full);

bool tesela__view_is_zero(const tesela__view_sums *sums, const tesela__view_sum *sum);

#endif
