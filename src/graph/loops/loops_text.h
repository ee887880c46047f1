/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loops_text.h - sums of counters, and layouts of counters as such sums.
 *
 * A sum is a constant and terms: a factor times an atom. An atom is a counter, or the quotient or remainder of a sum by a
 * number. All atoms are >= 0 and have a known maximum. So a quotient is split if a part of the sum is a multiple of the divisor
 * and the rest is known to be >= 0, and it is dropped if the rest is below the divisor.
 *
 *   (c0*64 + c2) / 32, c2 < 64     is     c0*2 + c2/32
 */
#ifndef TESELA_SRC_GRAPH_LOOPS_TEXT_H
#define TESELA_SRC_GRAPH_LOOPS_TEXT_H

#include "base/base.h"
#include "graph/loops/loops.h"

enum { TESELA__TERMS_TERMS = 40, TESELA__TERMS_ATOMS = 96 };

typedef struct tesela__terms_sum {
  int64_t constant;
  int32_t n;
  int32_t atom[TESELA__TERMS_TERMS];
  int64_t by[TESELA__TERMS_TERMS];
} tesela__terms_sum;

typedef struct tesela__terms_atom {
  char kind; /* 'c' counter, '/' or '%' of `of` by `by` */
  char name[8];
  int64_t most, by;
  tesela__terms_sum of;
} tesela__terms_atom;

/* The atoms of all sums. */
typedef struct tesela__terms {
  int32_t n;
  bool full; /* too many atoms or terms: the result is not usable */
  tesela__terms_atom atom[TESELA__TERMS_ATOMS];
} tesela__terms;

/* A counter 0 .. extent-1 named `letter` and its number (negative: only the letter). */
int32_t tesela__terms_counter(tesela__terms *text, char letter, int32_t number, int64_t extent);
void tesela__terms_add(tesela__terms *text, tesela__terms_sum *sum, int32_t atom, int64_t by);
void tesela__terms_range(const tesela__terms *text, const tesela__terms_sum *sum, int64_t *low,
                         int64_t *high);
/* The place in a layout of counters; atom d is the counter of dim d. Leaves replicas out. */
void tesela__terms_place(tesela__terms *text, const tesela_layout *place, const int32_t *counter,
                         tesela__terms_sum *sum);
void tesela__terms_put(const tesela__terms *text, const tesela__terms_sum *sum, tesela__sink *sink);

#endif
