/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_tile_rows.c - see support_tile_rows.h.
 */
#include "support_tile_rows.h"

int64_t tile_at(const tesela_tile_memory *t, const int64_t *index) {
  int64_t place = -1;
  OK(tesela_tile_memory_place(t, index, &place, &e_));
  return place;
}

tesela_tile_memory tile_row_major(int32_t rank, const int64_t *shape) {
  tesela_tile_memory t;
  OK(tesela_tile_memory_row_major(&t, SHARED, rank, shape, &e_));
  return t;
}

tesela_tile_memory tile_swizzled_64(void) {
  tesela_tile_memory t;
  OK(tesela_tile_memory_swizzled(&t, 2, LIST(64, 64), 2, &e_));
  return t;
}
