/* SPDX-License-Identifier: Apache-2.0 */
/*
 * factor.h - the digits of dims, found from their places alone: the first step of each conversion from the core.
 * cute/cute_factor.h finds those of CuTe, with an XOR, and says how they differ.
 */
#ifndef TESELA_SRC_FACTOR_H
#define TESELA_SRC_FACTOR_H

#include "layout/layout.h"

enum {
  TESELA__MAX_FACTORS = 66
}; /* more than 62 steps that divide each other, or 64 entries of tiles, can make */

typedef struct tesela__factor {
  int64_t step, extent; /* value x of the coordinate has digit (x mod the step above) div step */
  int64_t stride;       /* places per value, on `axis`; 0 if all values share a place */
  int32_t axis;
} tesela__factor;

/* The digits of one coordinate, by increasing step; the step of the first is 1. No digit for an extent of 1. */
typedef struct tesela__factors {
  int32_t n;
  tesela__factor factor[TESELA__MAX_FACTORS];
} tesela__factors;

/* Why dims have no digits. */
typedef enum tesela__no_factors {
  TESELA__HAS_FACTORS,
  TESELA__BACKWARDS, /* an element is before element 0 */
  TESELA__TWO_AXES,  /* a digit would move on two axes */
  TESELA__MANY_FACTORS,
  TESELA__UNEVEN /* tesela__factor_even: a digit begins where it does not cut the extent evenly */
} tesela__no_factors;

/* The layout with the first copy of each element alone, and strides of copies that are not negative. *turned: a swizzle turns the
 * copies of some elements, so the first ones need not be the lowest. */
tesela_status tesela__first_copies(const tesela_layout *layout, tesela_layout *out, bool *turned,
                                   tesela_error *err);

/* The layout on the elements whose coordinates are 0 except those of n dims, which become the last dims, in this order. */
tesela_status tesela__only_dims(const tesela_layout *layout, int32_t n, const int32_t *dims,
                                tesela_layout *out, tesela_error *err);

/* The digits of the row-major number of n dims, most significant first: the only ones of least number that any greedy split
 * has. `layout` has one copy of each element. Without such digits *why has the reason, and *at is the number of the first element that
 * contradicts. TESELA_E_UNSUPPORTED as tesela_layout_compare. */
tesela_status tesela__factor_dims(const tesela_layout *layout, int32_t n, const int32_t *dims,
                                  tesela__factors *out, tesela__no_factors *why, int64_t *at,
                                  tesela_error *err);

/* The same for one dim, whose digits must cut `extent` evenly: the extent of the dim, or of a larger one that it is the first part of. */
tesela_status tesela__factor_even(const tesela_layout *layout, int32_t d, int64_t extent,
                                  tesela__factors *out, tesela__no_factors *why, int64_t *at,
                                  tesela_error *err);

/* Split a digit of an unfinished layout by factors, and place them. */
tesela_status tesela__place_factors(tesela_layout *layout, int32_t digit, const tesela__factors *factors,
                                    tesela_error *err);

#endif
