/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sums.h - the functions of coordinates whose sum is a place, value by value and as layouts.
 */
#ifndef TESELA_SRC_SUMS_H
#define TESELA_SRC_SUMS_H

#include "relayout/plan.h"

typedef struct tesela__sum_digits tesela__sum_digits;

/* The function at value x, in bits. From x on it grows by *stride a value, for *left values in all, >= 1; the caller knows the
 * extent of the coordinate. */
int64_t tesela__sum_at(const tesela__sums *sums, tesela__sum_digits digits, int64_t x, int64_t *stride,
                       int64_t *left);

/* The largest value of the function below `extent`, with the room of its digits; -1 if it may be negative. */
int64_t tesela__sum_span(const tesela__sums *sums, tesela__sum_digits digits, int64_t extent);

/* Add a coordinate of one digit on each side. False without room. */
bool tesela__sums_add_loop(tesela__sums *sums, int64_t n, int64_t dst_stride, int64_t src_stride);

/* One side as a layout with these extents in place of sums->extent; `offset` in bits, whole elements. */
tesela_status tesela__sums_layout(const tesela__sums *sums, const tesela__sum_digits *side,
                                  const int64_t *extent, tesela_dtype dtype, int32_t bits, int64_t offset,
                                  tesela_layout *layout, tesela_error *err);

#endif
