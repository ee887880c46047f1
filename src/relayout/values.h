/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values.h - the elements of a tensor in logical order, as stretches of constant stride.
 *
 *   for (tesela__values_begin(&v, ...); v.more; tesela__values_skip(&v, v.left))
 *     elements 0 .. v.left-1 from v.index on are at places v.place + i * v.stride
 *
 * A stretch is one run of a tesela_walk; in a swizzled layout, which a walk refuses, it is one element.
 */
#ifndef TESELA_SRC_VALUES_H
#define TESELA_SRC_VALUES_H

#include <tesela/relayout.h>

#include "base/base.h"

typedef struct tesela__values {
  bool more;            /* the rest is valid */
  int64_t place;        /* of the first element of the stretch, its first copy */
  int64_t stride;       /* places from one element to the next */
  int64_t left;         /* elements of the stretch, >= 1 */
  const int64_t *index; /* the first element */
  /* The rest is the state of the walk. */
  const tesela_layout *layout;
  bool swizzled;
  tesela_walk walk;                    /* not swizzled */
  int64_t coordinate[TESELA_MAX_RANK]; /* swizzled */
} tesela__values;

/* Start at element 0; `layout` must outlive the walk, which must not be copied. TESELA_E_INVALID for an unfinished
 * layout, TESELA_E_UNSUPPORTED for a number of axes other than 1, or for an unsupported width. */
tesela_status tesela__values_begin(tesela__values *v, const tesela_layout *layout, tesela_error *err);

/* Advance by n elements, 1 <= n <= left. */
void tesela__values_skip(tesela__values *v, int64_t n);

/* The place of copy k of the first element of the stretch; those of the others follow at `stride`. */
int64_t tesela__values_copy(const tesela__values *v, int64_t k);

/* The number of finished elements, for options->progress. */
enum { TESELA__VALUES_STEP = 1 << 20 }; /* most elements of a stretch, so that progress is called often */
typedef struct tesela__values_watch {
  const tesela_run_options *options; /* may be NULL */
  int64_t done, next, total;
} tesela__values_watch;
tesela__values_watch tesela__values_watch_begin(const tesela_layout *layout,
                                                const tesela_run_options *options);

/* Count n more finished elements. True: progress requests a stop. */
bool tesela__values_stops(tesela__values_watch *watch, int64_t n);

/* The element at a place, bits < 8. place * bits fits: a buffer has those bits. */
static inline unsigned tesela__values_bits(const uint8_t *data, int64_t place, int32_t bits) {
  int64_t bit = place * bits;
  return (unsigned)data[bit >> 3] >> (bit & 7) & ((1u << bits) - 1);
}

#endif
