/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tiling.h - the digits of an array in memory, which a list of tiles has to give.
 */
#ifndef TESELA_SRC_XLA_TILING_H
#define TESELA_SRC_XLA_TILING_H

#include "layout/factor.h"
#include "xla/xla.h"

enum { TESELA__TILING_DIGITS = TESELA_MAX_RANK + TESELA_XLA_MAX_TILE_NUMBERS }; /* an entry cuts one bound */

/* A digit of a group. */
typedef struct tesela__tiling_digit {
  int32_t group;
  int64_t step, extent; /* extent: values that elements have */
  int64_t stride;       /* places per value */
  int64_t room;         /* values that memory has room for, >= extent */
} tesela__tiling_digit;

/* Dims that are cut as one number, row-major; one dim, or several with `*`. */
typedef struct tesela__tiling_group {
  int32_t n_dims;
  int32_t dim[TESELA_MAX_RANK]; /* most significant first */
  int64_t extent;
} tesela__tiling_group;

typedef struct tesela__tiling {
  int32_t rank, n_groups, n;
  int32_t n_ones; /* dims of extent 1, which no group has */
  int32_t one[TESELA_MAX_RANK];
  int64_t
      below; /* places per value of the last digit: memory has no element between; all places if there is no digit */
  tesela__tiling_group group[TESELA_MAX_RANK];
  tesela__tiling_digit digit[TESELA__TILING_DIGITS]; /* by decreasing stride */
} tesela__tiling;

/* Find the order of the dims and the tiles that give these digits: fewest levels, then few entries. false: none within 8
 * levels, XLA's limits and a fixed effort. */
bool tesela__tiling_solve(const tesela__tiling *tiling, tesela_xla_layout *out);

#endif
