/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.h - for writers of notations whose dims are numbers of mixed radix: the digits of a layout by their places, or the
 * first element that no text has.
 *
 *   f32[3,5]{1,0:T(2,2)}   dim 1 step 1 at stride 1, dim 0 step 1 at 2, dim 1 step 2 at 4, dim 0 step 2 at 12
 */
#ifndef TESELA_SRC_PARTS_H
#define TESELA_SRC_PARTS_H

#include "layout/layout.h"

enum { TESELA__MAX_PARTS = 128 };

/* A digit of a dim: index / step % extent; or copies, with dim TESELA_REPLICA. */
typedef struct tesela__dim_part {
  int32_t dim, axis;
  int64_t step, extent, stride;
  bool top; /* the last one of its dim: a larger array has more */
} tesela__dim_part;

/* By axis, then by increasing stride; none of an empty layout. */
typedef struct tesela__parts {
  int32_t n;
  tesela__dim_part part[TESELA__MAX_PARTS];
} tesela__parts;

/* Can a text have these parts, of an array of this shape? Keeps what it needs for the text in *user. */
typedef bool (*tesela__fit_parts)(void *user, const tesela__parts *parts, int32_t rank, const int64_t *shape);

/* What elements may have. */
enum {
  TESELA__PARTS_SHARED = 1, /* the same place, so parts of stride 0 come first */
  TESELA__PARTS_COPIES = 2
};

/* Find the parts of a finished layout, and let `fit` make the text. Without parts, or if they do not fit, the verdict becomes
 * TESELA_IMPOSSIBLE, with the first element that no text has where it is, under two conditions: the elements
 * of a smaller array fit whenever those of a larger one do, and all texts put them at the sums of their parts. `words`
 * names the text: "pattern". A larger shape[] than the layout's is that of the text: the answer gets it. Without
 * TESELA__PARTS_COPIES in `may` a layout with copies does not fit; with it TESELA_E_UNSUPPORTED where a swizzle turns copies. */
tesela_status tesela__find_parts(const tesela_layout *layout, const char *words, unsigned may,
                                 tesela__fit_parts fit, void *user, const int64_t *shape,
                                 tesela_translation *answer, tesela_error *err);

/* Fill the places from `size`, those of the parts so far, up to `stride`: the part below, if it is the top of its dim, becomes
 * larger, or *gap is how often the places so far are repeated, 1 for no gap. False: neither fills it. */
bool tesela__close_gap(tesela__dim_part *below, int64_t size, int64_t stride, int64_t *gap);

/* "(2,0)" */
const char *tesela__index_words(const int64_t *index, int32_t rank, char text[64]);

#endif
