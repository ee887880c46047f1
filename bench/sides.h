/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sides.h - the two sides of a benchmark case as digits, their layouts, and a check of the result.
 *
 * Places follow from the digits alone: a coordinate is split greedily, by decreasing step, and each digit adds its number
 * times its stride. The check uses nothing else, neither the layouts nor the planner.
 */
#ifndef TESELA_BENCH_SIDES_H
#define TESELA_BENCH_SIDES_H

#include <tesela/tesela.h>

enum { SIDE_RANK = 8, SIDE_DIGITS = 24, SIDE_UNTOUCHED = 0xa5 };

typedef struct side_digit {
  int64_t dim, step, extent;
  int64_t stride; /* elements; below 0 it walks back, 0 repeats (src only) */
} side_digit;

typedef struct bench_side {
  int n;
  side_digit digit[SIDE_DIGITS]; /* outermost first */
  int64_t offset;                /* the place where all digits are 0 */
  int64_t places;                /* one more than the last one reached; padding and gaps included */
  int64_t bytes;
  tesela_layout layout;
} bench_side;

typedef struct bench_pair {
  int32_t bits, rank;
  int64_t shape[SIDE_RANK];
  bench_side dst, src;
} bench_pair;

/* Row-major strides for the digits of a side. */
void side_pack(bench_side *side);

/* Set offset, places, bytes and layout of a side with digits and strides. Ends the program if they are wrong. */
void side_finish(const bench_pair *pair, bench_side *side, tesela_dtype dtype, const char *name);

/* What is at a place: an element, padding (a place that digits reach without an element), or a gap between them. */
typedef enum side_kind { SIDE_ELEMENT, SIDE_PADDING, SIDE_GAP } side_kind;
side_kind side_kind_at(const bench_pair *pair, const bench_side *side, int64_t place, int64_t *index);

int64_t side_place(const bench_pair *pair, const bench_side *side, const int64_t *index);

/* The number of cache lines with an element, or with `padding` also those with padding alone; beyond 65536 lines by
   looking at one in each of 65536 stretches. `side` begins at a line. */
int64_t side_lines(const bench_pair *pair, const bench_side *side, bool padding);

/* Is dst the result for src, with padding 0 and gaps SIDE_UNTOUCHED? Looks at every place of a dst with up to `most` places, else
   at `most` of them, half of them anywhere, half where a digit has its last value, for that is where padding is.
   Returns NULL, or what is wrong in a static text. */
const char *pair_check(const bench_pair *pair, const void *dst, const void *src, int64_t most);

#endif
