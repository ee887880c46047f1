/* SPDX-License-Identifier: Apache-2.0 */
/*
 * levels.h - how the tile levels of an XLA layout split the bounds that they are applied to.
 *
 * The bounds that a level meets are followed from the first level on, so that each knows which dims it
 * belongs to, how many elements along them one step of it is, and whether it counts tiles. For
 * bf16[20,200]{1,0:T(8,128)(2,1)}:
 *
 *   level 1 meets   dim 0 (20)   dim 1 (200)
 *   level 2 meets   dim 0 in steps of 8 (3)   dim 1 in steps of 128 (2)   dim 0 (8)   dim 1 (128)
 *                   and pairs the last but one: two neighbours along dim 0 become neighbours in memory
 */
#ifndef TESELA_OPS_LEVELS_H
#define TESELA_OPS_LEVELS_H

#include <tesela/xla.h>

typedef struct bound {
  int64_t extent;
  int64_t step;  /* elements along the dim for one step; 0: of joined dims, not one number */
  uint32_t dims; /* that feed it; 0: a leading one */
  bool counts;   /* it counts first-level tiles */
  bool top;      /* no bound above it counts its dim */
} bound;

typedef struct bounds {
  int32_t n;
  bound at[TESELA_MAX_DIGITS];
} bounds;

/* Bounds that one entry of a tile joins and splits. */
typedef struct group {
  bound whole; /* joined */
  int32_t n;   /* how many were joined */
  int64_t tile;
} group;

typedef struct level_groups {
  const tesela_xla_layout *layout;
  int32_t n;
  group at[TESELA_XLA_MAX_TILE_NUMBERS];
} level_groups;

int64_t tiles_of(const group *g);
void groups_of(const tesela_xla_shape *shape, int32_t level, level_groups *groups);

/* Dims so large that every level divides them, and memory is the same: padding as elements of a larger array. Joined dims stay as
 * they are. */
void levels_padded_dims(const tesela_xla_shape *shape, int64_t *dims);

#endif
