/* SPDX-License-Identifier: Apache-2.0 */
/*
 * in_place.h - what the files of the copy within one buffer share.
 *
 *   in_place_map.c    which places stay together, and where each such unit comes from and goes to
 *   in_place.c        moves the units along paths and cycles
 *   in_place_fill.c   then writes the padding
 */
#ifndef TESELA_SRC_IN_PLACE_H
#define TESELA_SRC_IN_PLACE_H

#include "relayout/plan.h"

/* One digit both sides share, on the way from a place of one side to the other's: place div stride is its value. */
typedef struct tesela__jump {
  int64_t stride;     /* > 0, on the side one comes from */
  int64_t other;      /* on the side one goes to */
  int64_t room, step; /* values it can have; what one is worth in its coordinate */
  int32_t coordinate; /* -1: all its values are elements */
} tesela__jump;

/* From a place of one side to the place of the same element on the other. */
typedef struct tesela__direction {
  const tesela_layout *from, *to; /* canonical; without jumps, places are found through the index */
  bool by_jumps;
  int32_t n;
  int64_t from_offset, to_offset;
  tesela__jump jump[2 * TESELA_MAX_DIGITS]; /* by decreasing stride */
  int32_t n_coordinates;
  int64_t extent[TESELA_MAX_RANK];
} tesela__direction;

/* The permutation, or a part of it if the two sides do not cover the same places. Elements stay together in
   units: `unit` neighbouring places, an index in `block` coordinates of each dim. All are elements or none is. Places
   below stand for the unit that starts there. */
typedef struct tesela__place_map {
  const tesela_layout *dst, *src; /* canonical */
  int64_t unit;
  int64_t block[TESELA_MAX_RANK];
  tesela__direction to_src, to_dst;
} tesela__place_map;

/* Both layouts passed tesela__in_place_possible and outlive the map. */
void tesela__place_map_set(tesela__place_map *map, const tesela_layout *dst, const tesela_layout *src);

/* The place of the element at a place of direction->from on the other side, or -1. Any place >= 0. */
int64_t tesela__go(const tesela__direction *direction, int64_t place);

/* Work done since the caller's progress was last asked; see in_place.c. */
typedef struct tesela__in_place {
  const tesela_plan *plan;
  const tesela__place_map *map;
  const tesela_run_options *options; /* NULL: none */
  unsigned char *buffer, *marks;     /* marks NULL: none */
  tesela__convert_fn *convert;       /* NULL: bits as they are */
  int64_t element_bytes, unit_bytes;
  int64_t done_bytes, total_bytes; /* of elements */
  int64_t work;
  bool stopped;
} tesela__in_place;

/* Count work, in units of about 100 ns, and ask the caller's progress every few milliseconds. false: stop. */
bool tesela__in_place_go_on(tesela__in_place *run, int64_t work);

/* Fill the padding of dst, when all elements are where they belong. false: stopped. */
bool tesela__in_place_fill(tesela__in_place *run);

#endif
