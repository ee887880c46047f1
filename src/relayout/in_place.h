/* SPDX-License-Identifier: Apache-2.0 */
/*
 * in_place.h - shared by the files that copy within one buffer.
 *
 *   in_place_map.c    finds the units of places that stay together, and their places on both sides
 *   in_place.c        moves the units along paths and cycles
 *   in_place_fill.c   then writes the padding
 */
#ifndef TESELA_SRC_IN_PLACE_H
#define TESELA_SRC_IN_PLACE_H

#include "relayout/plan.h"

/* One digit that both sides share, to map a place of one side to the other: place div stride is its value. */
typedef struct tesela__jump {
  int64_t stride;     /* > 0, on the `from` side */
  int64_t other;      /* stride on the `to` side */
  int64_t room, step; /* number of values; step in its coordinate */
  int32_t coordinate; /* -1: all its values are elements */
} tesela__jump;

/* From a place of one side to the place of the same element on the other. */
typedef struct tesela__direction {
  const tesela_layout *from, *to; /* canonical; if not by_jumps, places are mapped through the index */
  bool by_jumps;
  int32_t n;
  int64_t from_offset, to_offset;
  tesela__jump jump[2 * TESELA_MAX_DIGITS]; /* by decreasing stride */
  int32_t n_coordinates;
  int64_t extent[TESELA_MAX_RANK];
} tesela__direction;

/* The permutation, or a part of it if the two sides do not cover the same places. Elements stay together in units of
 * `unit` neighbouring places, `block` indices of each dim. A unit has elements at all of its places, or only padding.
 * Below, a place means the unit that starts there. */
typedef struct tesela__place_map {
  const tesela_layout *dst, *src; /* canonical */
  int64_t unit;
  int64_t block[TESELA_MAX_RANK];
  tesela__direction to_src, to_dst;
} tesela__place_map;

/* Both layouts must pass tesela__in_place_possible, and outlive the map. */
void tesela__place_map_set(tesela__place_map *map, const tesela_layout *dst, const tesela_layout *src);

/* The place on the other side of the element at `place` of direction->from, or -1. Any place >= 0 is valid. */
int64_t tesela__go(const tesela__direction *direction, int64_t place);

/* One run; `work`: done since the last call of progress. */
typedef struct tesela__in_place {
  const tesela_plan *plan;
  const tesela__place_map *map;
  const tesela_run_options *options; /* or NULL */
  unsigned char *buffer, *marks;     /* marks: or NULL */
  tesela__convert_fn *convert;       /* NULL: bits are copied */
  int64_t element_bytes, unit_bytes;
  int64_t done_bytes, total_bytes; /* of elements */
  int64_t work;
  bool stopped;
} tesela__in_place;

/* Count work, in units of about 100 ns, and call progress every few milliseconds. False: stop. */
bool tesela__in_place_go_on(tesela__in_place *run, int64_t work);

/* Fill the padding of dst, after all elements are in place. False: stopped. */
bool tesela__in_place_fill(tesela__in_place *run);

#endif
