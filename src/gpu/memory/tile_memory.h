/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile_memory.h - declarations that the files of tiles in memory share.
 */
#ifndef TESELA_SRC_TILE_MEMORY_H
#define TESELA_SRC_TILE_MEMORY_H

#include <tesela/register.h>

#include "gpu/register/register.h"
#include "layout/layout.h"

enum { TESELA__TILE_PARTS = 2 * TESELA_REGISTER_MODES };

/* Modes of a result before they are joined, innermost first and the last dim first. */
typedef struct tesela__tile_parts {
  int32_t n;
  int32_t dim[TESELA__TILE_PARTS];
  int64_t extent[TESELA__TILE_PARTS], stride[TESELA__TILE_PARTS];
} tesela__tile_parts;

/* Append a part, unless its extent is 1. There is room for 64 modes of two layouts, or of one and two per dim. */
static inline void tesela__tile_part(tesela__tile_parts *parts, int32_t dim, int64_t extent, int64_t stride) {
  if (extent == 1) return;
  parts->dim[parts->n] = dim;
  parts->extent[parts->n] = extent;
  parts->stride[parts->n++] = stride;
}

/* Set the modes of `tile` from parts, joined. The caller checked the number of elements. */
void tesela__tile_set_modes(tesela_tile_memory *tile, const tesela__tile_parts *parts);

/* Set tile->size to the larger of `size` and the least size, and copy the tile to *out. TESELA_E_OVERFLOW. */
tesela_status tesela__tile_finish(tesela_tile_memory *tile, int64_t size, tesela_tile_memory *out,
                                  tesela_error *err);

/* The least size, as defined in the public header; false if it does not fit in 64 bits. */
bool tesela__tile_least_size(const tesela_tile_memory *tile, int64_t *size);

/* The acting bits of the swizzle: those whose source may be set in some place; bits 0 without any. On this tile
 * it has the same effect as the whole swizzle. */
tesela_tile_swizzle tesela__tile_acting(const tesela_tile_memory *tile);

/* The end of the bits that a swizzle reads or changes: base + |shift| + bits, or 0 without a swizzle. */
static inline int32_t tesela__tile_swizzle_top(tesela_tile_swizzle s) {
  return s.bits == 0 ? 0 : s.base + (s.shift < 0 ? -s.shift : s.shift) + s.bits;
}

/* Check the ranges of the numbers. TESELA_E_RANGE. */
tesela_status tesela__tile_check_swizzle(tesela_tile_swizzle swizzle, tesela_error *err);

/* The place that a swizzle makes of a place. */
static inline int64_t tesela__tile_swizzled(tesela_tile_swizzle s, int64_t place) {
  return tesela__xor(s.bits, s.base, s.shift, place);
}

/* The place of an element, without checks. */
int64_t tesela__tile_place(const tesela_tile_memory *tile, const int64_t *index);

#endif
