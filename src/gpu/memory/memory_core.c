/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_core.c - tiles in memory as layouts of the core, and whether two are the same relation.
 */
#include "gpu/memory/tile_memory.h"

/* Dim d of the core layout: its modes, outermost first, on axis 0. */
static tesela_status tile_place_dim(tesela_layout *core, int32_t d, const tesela_tile_memory *layout,
                                    int32_t first, int32_t end, tesela_error *err) {
  int32_t digit = d, lo;
  int64_t rest = layout->shape[d];
  tesela_status status = TESELA_OK;
  for (int32_t m = first; m < end - 1 && status == TESELA_OK; m++, digit = lo) {
    rest /= layout->mode_shape[m];
    status = tesela_layout_split(core, digit, rest, &lo, err);
    if (status == TESELA_OK) status = tesela_layout_place(core, digit, 0, layout->mode_strides[m], err);
  }
  if (status == TESELA_OK)
    status = tesela_layout_place(core, digit, 0, first < end ? layout->mode_strides[end - 1] : 0, err);
  return status;
}

/* The core layout without its size. */
static tesela_status tile_build_core(tesela_layout *core, const tesela_tile_memory *layout,
                                     tesela_dtype dtype, int32_t bits, tesela_error *err) {
  int32_t axis, first[TESELA_MAX_RANK + 1];
  tesela_tile_swizzle s = layout->swizzle;
  tesela_status status =
      tesela__modes_of_dims(layout->rank, layout->shape, layout->n_modes, layout->mode_shape, first, err);
  if (status == TESELA_OK) status = tesela_layout_begin(core, dtype, bits, layout->rank, layout->shape, err);
  if (status == TESELA_OK) status = tesela_layout_add_axis(core, "memory", &axis, err);
  for (int32_t d = 0; d < layout->rank && status == TESELA_OK; d++)
    status = tile_place_dim(core, d, layout, first[d], first[d + 1], err);
  if (status == TESELA_OK && s.bits > 0) /* the numbers are at most 62 */
    status = tesela_layout_add_swizzle(
        core,
        (tesela_swizzle){
            .axis = 0, .bits = (int16_t)s.bits, .base = (int16_t)s.base, .shift = (int16_t)s.shift},
        err);
  return status;
}

tesela_status tesela_tile_memory_to_layout(const tesela_tile_memory *layout, tesela_dtype dtype, int32_t bits,
                                           tesela_layout *out, tesela_error *err) {
  TESELA__NEED(err, layout, out);
  tesela_layout core, sized;
  tesela_status status = tile_build_core(&core, layout, dtype, bits, err);
  if (status != TESELA_OK) return status;
  sized = core;
  status = tesela_layout_set_axis(&core, 0, layout->offset, -1, err);
  if (status == TESELA_OK) status = tesela_layout_finish(&core, err); /* with the smallest size */
  if (status == TESELA_OK && core.axis[0].extent < layout->size) {
    core = sized;
    status = tesela_layout_set_axis(&core, 0, layout->offset, layout->size, err);
    if (status == TESELA_OK) status = tesela_layout_finish(&core, err);
  }
  if (status == TESELA_OK) *out = core;
  return status;
}

tesela_status tesela_tile_memory_same(const tesela_tile_memory *a, const tesela_tile_memory *b, bool *same,
                                      tesela_error *err) {
  TESELA__NEED(err, a, b, same);
  tesela_tile_memory tile[2] = {*a, *b};
  tesela_layout core[2];
  tesela_difference difference;
  tesela_status status = TESELA_OK;
  for (int i = 0; i < 2 && status == TESELA_OK; i++) {
    tile[i].swizzle = tesela__tile_acting(&tile[i]);
    status = tesela_tile_memory_to_layout(&tile[i], TESELA_DTYPE_NONE, 8, &core[i], err);
  }
  if (status == TESELA_OK) status = tesela_layout_compare(&core[0], &core[1], &difference, err);
  if (status == TESELA_OK) *same = difference.same;
  return status;
}
