/* SPDX-License-Identifier: Apache-2.0 */
/*
 * canonical.h - shared by the files of the canonical form: the digits of a layout while they are rewritten.
 */
#ifndef TESELA_SRC_CANONICAL_H
#define TESELA_SRC_CANONICAL_H

#include "layout/layout.h"

typedef struct tesela__bench {
  tesela_layout *layout;
  int32_t n; /* digits in use, ordered only by steps inside a chain */
  tesela_digit digit[TESELA_MAX_DIGITS];
} tesela__bench;

/* The digits of a coordinate, by decreasing step; returns how many. */
int32_t tesela__bench_digits(const tesela__bench *bench, int32_t coordinate, int32_t *numbers);

/* The parts of a join, by decreasing weight. */
int32_t tesela__bench_parts(const tesela__bench *bench, int32_t join, int32_t *part);

void tesela__bench_drop(tesela__bench *bench, int32_t number);

/* The offset of what a digit is placed on. */
int64_t *tesela__bench_offset(tesela__bench *bench, const tesela_digit *digit);

/* Values from digit number[k] on of a coordinate that is `rest` become constants. The sums are places and values of an
 * element, so they fit. */
void tesela__bench_add_constants(tesela__bench *bench, const int32_t *number, int32_t k, int32_t n,
                                 int64_t rest);

/* Do one rewriting of a join with n digits; false: none applies. */
bool tesela__bench_simplify_join(tesela__bench *bench, int32_t j, const int32_t *number, int32_t n);

#endif
