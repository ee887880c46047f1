/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks.c - blocked memory as a layout: inner blocks are split off their dims, the last one first.
 */
#include "notation/memory/blocks.h"

#include <stdio.h>

#include "base/base.h"

tesela_status tesela__blocks_lower(const tesela__blocks *blocks, tesela_dtype dtype, int32_t bits,
                                   const int64_t *shape, const int64_t *strides, int64_t offset,
                                   tesela_layout *out, tesela_error *err) {
  tesela_layout layout;
  int32_t digit[TESELA__MAX_BLOCKS], axis = 0;
  int64_t next = 1;
  tesela_status status = tesela_layout_begin(&layout, dtype, bits, blocks->rank, shape, err);
  for (int32_t i = blocks->n - 1; i >= 0 && status == TESELA_OK; i--)
    status = tesela_layout_split(&layout, blocks->inner[i].dim, blocks->inner[i].extent, &digit[i], err);
  if (status == TESELA_OK) status = tesela_layout_add_axis(&layout, "memory", &axis, err);
  if (status == TESELA_OK)
    status = tesela_layout_place_row_major(&layout, blocks->n, digit, axis, 1, &next, err);
  if (status == TESELA_OK && !strides)
    status = tesela_layout_place_row_major(&layout, blocks->rank, blocks->order, axis, next, NULL, err);
  for (int32_t d = 0; strides && d < blocks->rank && status == TESELA_OK; d++)
    status = tesela_layout_place(&layout, d, axis, strides[d], err);
  if (status == TESELA_OK) status = tesela_layout_set_axis(&layout, axis, offset, -1, err);
  if (status == TESELA_OK) status = tesela_layout_finish(&layout, err);
  if (status == TESELA_OK) *out = layout;
  return status;
}

bool tesela__blocks_in_order(tesela__blocks *blocks, const int64_t *shape) {
  int64_t outer[TESELA_MAX_RANK];
  int32_t kept = blocks->rank, last = INT32_MAX, moved = 0;
  for (int32_t d = 0; d < blocks->rank; d++) outer[d] = shape[d];
  for (int32_t i = blocks->n - 1; i >= 0; i--)
    outer[blocks->inner[i].dim] = tesela__ceil_div(outer[blocks->inner[i].dim], blocks->inner[i].extent);
  /* the longest beginning of the order that increases, without dims of extent 1 */
  for (kept = 0, last = -1; kept < blocks->rank; kept++) {
    int32_t d = blocks->order[kept];
    if (outer[d] == 1) continue;
    if (d < last) break;
    last = d;
  }
  for (int32_t k = kept; k < blocks->rank; k++) moved += outer[blocks->order[k]] != 1;
  if (blocks->n + moved > TESELA__MAX_BLOCKS) return false;
  memmove(&blocks->inner[moved], &blocks->inner[0], (size_t)blocks->n * sizeof blocks->inner[0]);
  blocks->n += moved;
  for (int32_t k = kept, i = 0; k < blocks->rank; k++)
    if (outer[blocks->order[k]] != 1)
      blocks->inner[i++] = (tesela__inner_block){blocks->order[k], outer[blocks->order[k]]};
  for (int32_t d = 0; d < blocks->rank; d++) blocks->order[d] = d;
  return true;
}

const char *tesela__blocks_index(const int64_t *index, int32_t rank, char text[64]) {
  size_t used = 0;
  text[used++] = '(';
  for (int32_t d = 0; d < rank && used < 60; d++)
    used += (size_t)snprintf(text + used, 64 - used, "%s%" PRId64, d ? "," : "", index[d]);
  (void)snprintf(used < 62 ? text + used : text + 59, 5, used < 62 ? ")" : "..)");
  return text;
}
