/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks.c - blocked memory as a layout: inner blocks are split off their dims, the last one first.
 */
#include "notation/memory/blocks.h"

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
