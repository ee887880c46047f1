/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.h - shared by the files of the notation map: a text as terms, before they become digits.
 */
#ifndef TESELA_NOTATION_MAP_H
#define TESELA_NOTATION_MAP_H

#include <tesela/notation.h>

#include "base/reader.h"

enum {
  TESELA__MAP_NAMES = TESELA_MAX_RANK + TESELA_MAX_DIGITS + TESELA_MAX_JOINS + TESELA_MAX_AXES,
  TESELA__MAP_TERMS = 2 * TESELA_MAX_DIGITS,
  TESELA__MAP_MODULI = 16
};

typedef enum tesela__map_kind {
  TESELA__MAP_DIM,
  TESELA__MAP_COPY,
  TESELA__MAP_SUM,
  TESELA__MAP_AXIS
} tesela__map_kind;

typedef struct tesela__map_name {
  tesela__map_kind kind;
  int32_t number; /* dim, copy, sum or axis */
  size_t at, length;
} tesela__map_name;

/* factor * (x % modulus[0] % modulus[1] .. / divisor), x a coordinate or a copy; the moduli decrease, and none divides the one
 * before it. */
typedef struct tesela__map_term {
  tesela__map_kind kind; /* DIM, COPY or SUM */
  int32_t number;        /* of x */
  int32_t target;        /* the sum that it is a part of; or -1 - axis */
  int64_t factor, divisor;
  int32_t n_moduli;
  int64_t modulus[TESELA__MAP_MODULI];
  size_t at; /* in the text */
} tesela__map_term;

typedef struct tesela__map_text {
  tesela__reader reader;
  int32_t n_names, n_dims, n_copies, n_sums, n_axes, n_terms;
  tesela_dtype dtype;
  int32_t bits;
  int64_t shape[TESELA_MAX_RANK], copies[TESELA_MAX_DIGITS],
      sum[TESELA_MAX_JOINS]; /* of a sum: its constant */
  size_t sum_at[TESELA_MAX_JOINS], axis_at[TESELA_MAX_AXES];
  char axis_name[TESELA_MAX_AXES][TESELA_AXIS_NAME];
  int64_t axis_extent[TESELA_MAX_AXES], axis_offset[TESELA_MAX_AXES];
  uint64_t flip[TESELA_MAX_AXES][62]
               [TESELA_MAX_AXES]; /* bits of the last axis that a bit of the first one flips */
  size_t stage_at;
  tesela__map_name name[TESELA__MAP_NAMES];
  tesela__map_term term[TESELA__MAP_TERMS];
} tesela__map_text;

/* Make the layout of a text that was read. */
tesela_status tesela__map_lower(const tesela__map_text *map, tesela_layout *out, tesela_error *err);

#endif
