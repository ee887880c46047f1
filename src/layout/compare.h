/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.h - shared by the files of the comparison of layouts.
 */
#ifndef TESELA_SRC_COMPARE_H
#define TESELA_SRC_COMPARE_H

#include "layout/layout.h"

typedef struct tesela__comparison {
  const tesela_layout *a, *b; /* canonical, of the same shape and axes */
  bool found;
  int64_t index[TESELA_MAX_RANK]; /* the first difference so far, if found */
} tesela__comparison;

/* Keep a difference that comes before the one that is known. */
void tesela__offer_difference(tesela__comparison *c, const int64_t *index);

tesela_status tesela__undecided(tesela_error *err, const char *why);

/* Is every place of an element in `a` also one in `b`? */
bool tesela__covers(const tesela_layout *a, const tesela_layout *b, const int64_t *index);

/* Is the number of pairs of copies of `elements` elements small enough to compare them one by one? */
bool tesela__few_pairs(const tesela__comparison *c, int64_t elements);

bool tesela__same_swizzle(const tesela_layout *a, const tesela_layout *b);

/* Compare layouts whose swizzles differ. */
tesela_status tesela__compare_swizzled(tesela__comparison *c, tesela_error *err);

#endif
