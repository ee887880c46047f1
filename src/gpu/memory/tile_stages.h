/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile_stages.h - which XOR stages may turn the places of a layout into sums of even digits, decided on a few elements.
 */
#ifndef TESELA_SRC_TILE_STAGES_H
#define TESELA_SRC_TILE_STAGES_H

#include "gpu/memory/tile_memory.h"

enum { TESELA__STAGE_POINTS = 1024, TESELA__STAGE_SAMPLES = 64 };

/* An element, and the elements with one of its coordinates and 0 for the others. */
typedef struct tesela__stage_sample {
  int64_t index[TESELA_MAX_RANK], place, alone[TESELA_MAX_RANK];
} tesela__stage_sample;

typedef struct tesela__stages {
  const tesela_layout *layout; /* one axis, one copy */
  int64_t first;               /* place of element 0 */
  int64_t
      exact; /* stages that the samples did not exclude, in the search for a tile: each was compared on all elements */
  /* divisors of the extent of each dim, from 1: the elements at which a digit can begin, and their places */
  int32_t from[TESELA_MAX_RANK + 1];
  int64_t point[TESELA__STAGE_POINTS], place[TESELA__STAGE_POINTS];
  int64_t limit[TESELA_MAX_RANK]; /* all divisors below it are points */
  int32_t n_samples, fixed, next;
  uint64_t random; /* always the same numbers */
  tesela__stage_sample sample[TESELA__STAGE_SAMPLES];
} tesela__stages;

void tesela__stages_begin(tesela__stages *s, const tesela_layout *layout);

/* False: no tile with this stage has the places of the part of elements that are 0 in the dims before `dim`, and below `extent` in `dim`;
 * nor, if it is not NULL, that of *last, the first of the elements with `extent` that is in question. */
bool tesela__stages_may_be(const tesela__stages *s, tesela_tile_swizzle stage, int32_t dim, int64_t extent,
                           const tesela__stage_sample *last);

void tesela__stages_sample(const tesela__stages *s, const int64_t *index, tesela__stage_sample *sample);

/* Add an element that excluded a stage; others may fail at it, too. */
void tesela__stages_add(tesela__stages *s, const int64_t *index);

/* Add elements from all over, for a stage that cannot be decided: others may fail at them. */
void tesela__stages_scatter(tesela__stages *s);

/* The stage after this one, by bits; false: it is the last within `top` bits. Begins with no stage. */
bool tesela__stages_next(tesela_tile_swizzle *stage, int32_t top);

/* As tesela_tile_memory_from_layout, of a layout with one axis, one copy and elements. *exact: the stages that the search compared on all
 * elements. */
tesela_status tesela__untile(const tesela_layout *layout, tesela_tile_space space, tesela_tile_memory *out,
                             tesela_translation *answer, int64_t *exact, tesela_error *err);

#endif
