/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile_memory.h - what the files of the tiles in memory share.
 */
#ifndef TESELA_SRC_TILE_MEMORY_H
#define TESELA_SRC_TILE_MEMORY_H

#include <tesela/register.h>

#include "gpu/register/register.h"

enum { TESELA__TILE_PARTS = 2 * TESELA_REGISTER_MODES };

/* Modes of a result before they are joined, the innermost of the last dim first; dims never go up. */
typedef struct tesela__tile_parts {
  int32_t n;
  int32_t dim[TESELA__TILE_PARTS];
  int64_t extent[TESELA__TILE_PARTS], stride[TESELA__TILE_PARTS];
} tesela__tile_parts;

/* Append; parts of 1 are left out. Callers stay below the room: 64 modes twice, or once and two more a dim. */
static inline void tesela__tile_part(tesela__tile_parts *parts, int32_t dim, int64_t extent, int64_t stride) {
  if (extent == 1) return;
  parts->dim[parts->n] = dim;
  parts->extent[parts->n] = extent;
  parts->stride[parts->n++] = stride;
}

/* Make the modes of `tile` from parts, joined. The number of elements is checked before. */
void tesela__tile_set_modes(tesela_tile_memory *tile, const tesela__tile_parts *parts);

/* Set `size` to the larger of it and the least size, and give the tile out. TESELA_E_OVERFLOW. */
tesela_status tesela__tile_finish(tesela_tile_memory *tile, int64_t size, tesela_tile_memory *out,
                                  tesela_error *err);

/* The least size, as the public header defines it; false: it does not fit in 64 bits. */
bool tesela__tile_least_size(const tesela_tile_memory *tile, int64_t *size);

/* The bits of the swizzle that can matter: those whose source some element may have set. None: bits 0. On the places of
 * this tile it does what the whole swizzle does. */
tesela_tile_swizzle tesela__tile_acting(const tesela_tile_memory *tile);

/* The bit above all that a swizzle reads or changes: base + |shift| + bits; 0 for none. */
static inline int32_t tesela__tile_swizzle_top(tesela_tile_swizzle s) {
  return s.bits == 0 ? 0 : s.base + (s.shift < 0 ? -s.shift : s.shift) + s.bits;
}

/* Numbers in range? TESELA_E_RANGE. */
tesela_status tesela__tile_check_swizzle(tesela_tile_swizzle swizzle, tesela_error *err);

int64_t tesela__tile_swizzled(tesela_tile_swizzle swizzle, int64_t place);

/* The place of an element, no checks. */
int64_t tesela__tile_place(const tesela_tile_memory *tile, const int64_t *index);

#endif
