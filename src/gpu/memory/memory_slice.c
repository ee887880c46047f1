/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_slice.c - a part of a tile, from `start` on: the slice of the core's relation, if even modes express it.
 *
 * The swizzle acts after the sum over the modes, so the part keeps it: the relation is that of the places before it.
 */
#include "gpu/memory/tile_memory.h"
#include "layout/factor.h"

/* Append the modes of dim d of a relation. *fits is false if its digits cut it unevenly. */
static tesela_status tile_cut(const tesela_layout *core, int32_t d, tesela__tile_parts *parts, bool *fits,
                              tesela_error *err) {
  tesela__factors factors;
  tesela__no_factors why;
  int64_t at;
  tesela_status status = tesela__factor_dims(core, 1, &d, &factors, &why, &at, err);
  *fits = status == TESELA_OK && why == TESELA__HAS_FACTORS;
  for (int32_t k = 0; k < factors.n && *fits; k++) {
    int64_t above = k + 1 < factors.n ? factors.factor[k + 1].step : core->shape[d];
    *fits = above % factors.factor[k].step == 0;
    if (*fits) tesela__tile_part(parts, d, factors.factor[k].extent, factors.factor[k].stride);
  }
  return status;
}

tesela_status tesela_tile_memory_slice(tesela_tile_memory *out, const tesela_tile_memory *layout,
                                       const int64_t *start, const int64_t *shape, tesela_error *err) {
  TESELA__NEED(err, out, layout);
  TESELA__NEED_LIST(err, start, layout->rank);
  TESELA__NEED_LIST(err, shape, layout->rank);
  tesela_tile_memory tile = {.space = layout->space, .rank = layout->rank, .swizzle = layout->swizzle};
  tesela_tile_memory plain = *layout;
  tesela_layout core;
  int64_t elements;
  const int64_t zero[TESELA_MAX_RANK] = {0};
  tesela_status status = tesela__check_extents(layout->rank, shape, &elements, err);
  plain.swizzle.bits = 0;
  plain.size = 0;
  if (status == TESELA_OK) status = tesela_tile_memory_to_layout(&plain, TESELA_DTYPE_NONE, 8, &core, err);
  if (status != TESELA_OK) return status;
  for (int32_t d = 0; d < layout->rank; d++)
    if (start[d] < 0 || start[d] > layout->shape[d] - shape[d])
      return tesela__fail(err, TESELA_E_RANGE, -1,
                          "%" PRId64 " elements from %" PRId64 " on along dim %" PRId32
                          ", which has extent %" PRId64,
                          shape[d], start[d], d, layout->shape[d]);
  tesela__tile_parts parts = {.n = 0};
  for (int32_t d = 0; d < layout->rank && status == TESELA_OK; d++) {
    tile.shape[d] = shape[d];
    status = tesela_layout_slice(&core, d, start[d], shape[d], 1, &core, err);
  }
  for (int32_t d = layout->rank - 1; d >= 0 && status == TESELA_OK; d--) {
    bool fits;
    status = tile_cut(&core, d, &parts, &fits, err);
    if (status == TESELA_OK && !fits)
      return tesela__refuse(err, TESELA_E_UNSUPPORTED, TESELA_REASON_NOT_LINEAR,
                            "modes cannot express the %" PRId64 " elements from %" PRId64
                            " on along dim %" PRId32 ": they cut a mode",
                            shape[d], start[d], d);
  }
  if (status != TESELA_OK) return status;
  (void)tesela_layout_place_of(&core, zero, &tile.offset, NULL);
  tesela__tile_set_modes(&tile, &parts);
  return tesela__tile_finish(&tile, layout->size, out, err);
}
