/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile_memory_shape.c - other dims over the same places: permute, squeeze, unsqueeze, retain, reshape.
 *
 * None of them changes the offset or the swizzle, which act after the sum over the modes.
 *
 * Reshape: as a function of the row-major element number the tile is a list of modes, unique once they are joined (the
 * innermost extent is where the function first stops being straight, and so on outwards). A shape has modes exactly if
 * each border between its dims is a border of modes or cuts a mode evenly. So taking modes from the inside, and
 * splitting one where a dim ends, finds them if they exist.
 *
 *   [2,6] strides [1,2] to [4,3]: modes 2:1, 6:2; the last dim takes 3 of the 6, the first the rest: 2:1 and 2:6.
 */
#include "gpu/memory/tile_memory.h"

/* Dim k of the result is dim order[k], or a new dim of extent 1 if order[k] is -1. */
static tesela_status tile_pick(tesela_tile_memory *out, const tesela_tile_memory *layout, int32_t rank,
                               const int32_t *order, tesela_error *err) {
  tesela_tile_memory tile = {
      .space = layout->space, .rank = rank, .offset = layout->offset, .swizzle = layout->swizzle};
  tesela__tile_parts parts = {.n = 0};
  int32_t first[TESELA_MAX_RANK + 1];
  tesela_status status =
      tesela__modes_of_dims(layout->rank, layout->shape, layout->n_modes, layout->mode_shape, first, err);
  if (status != TESELA_OK) return status;
  for (int32_t k = rank - 1; k >= 0; k--) {
    tile.shape[k] = order[k] < 0 ? 1 : layout->shape[order[k]];
    if (order[k] < 0) continue;
    for (int32_t m = first[order[k] + 1] - 1; m >= first[order[k]]; m--)
      tesela__tile_part(&parts, k, layout->mode_shape[m], layout->mode_strides[m]);
  }
  tesela__tile_set_modes(&tile, &parts);
  return tesela__tile_finish(&tile, layout->size, out, err);
}

static tesela_status tile_dims(int32_t rank, int32_t n, const int64_t *dims, uint32_t *bits, int32_t *order,
                               tesela_error *err) {
  if (n < 0) return tesela__fail(err, TESELA_E_RANGE, -1, "%" PRId32 " dims; expected 0 or more", n);
  return tesela__dims(rank, n, dims, bits, order, err);
}

tesela_status tesela_tile_memory_permute(tesela_tile_memory *out, const tesela_tile_memory *layout, int32_t n,
                                         const int64_t *dims, tesela_error *err) {
  TESELA__NEED(err, out, layout);
  TESELA__NEED_LIST(err, dims, n);
  uint32_t bits;
  int32_t order[TESELA_MAX_RANK];
  if (n != layout->rank)
    return tesela__refuse(err, TESELA_E_INVALID, TESELA_REASON_DIMS_LENGTH,
                          "%" PRId32 " dims; the layout has %" PRId32, n, layout->rank);
  tesela_status status = tile_dims(layout->rank, n, dims, &bits, order, err);
  return status == TESELA_OK ? tile_pick(out, layout, n, order, err) : status;
}

tesela_status tesela_tile_memory_retain(tesela_tile_memory *out, const tesela_tile_memory *layout, int32_t n,
                                        const int64_t *dims, tesela_error *err) {
  TESELA__NEED(err, out, layout);
  TESELA__NEED_LIST(err, dims, n);
  uint32_t bits;
  int32_t order[TESELA_MAX_RANK];
  tesela_status status = tile_dims(layout->rank, n, dims, &bits, order, err);
  return status == TESELA_OK ? tile_pick(out, layout, n, order, err) : status;
}

tesela_status tesela_tile_memory_squeeze(tesela_tile_memory *out, const tesela_tile_memory *layout, int32_t n,
                                         const int64_t *dims, tesela_error *err) {
  TESELA__NEED(err, out, layout);
  TESELA__NEED_LIST(err, dims, n);
  uint32_t bits;
  int32_t order[TESELA_MAX_RANK], rank = 0;
  tesela_status status = tile_dims(layout->rank, n, dims, &bits, NULL, err);
  if (status != TESELA_OK) return status;
  for (int32_t d = 0; d < layout->rank; d++) {
    if (!(bits >> d & 1))
      order[rank++] = d;
    else if (layout->shape[d] != 1)
      return tesela__refuse(err, TESELA_E_INVALID, TESELA_REASON_DIM_NOT_ONE,
                            "dim %" PRId32 " has extent %" PRId64 "; only a dim of extent 1 can be removed",
                            d, layout->shape[d]);
  }
  return tile_pick(out, layout, rank, order, err);
}

tesela_status tesela_tile_memory_unsqueeze(tesela_tile_memory *out, const tesela_tile_memory *layout,
                                           int32_t n, const int64_t *dims, tesela_error *err) {
  TESELA__NEED(err, out, layout);
  TESELA__NEED_LIST(err, dims, n);
  uint32_t bits;
  int32_t order[TESELA_MAX_RANK], next = 0;
  if (n > TESELA_MAX_RANK - layout->rank)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "the rank would be %" PRId64 "; expected 0 to %d",
                        (int64_t)layout->rank + n, TESELA_MAX_RANK);
  int32_t rank = layout->rank + n;
  tesela_status status = tile_dims(rank, n, dims, &bits, NULL, err);
  if (status != TESELA_OK) return status;
  for (int32_t d = 0; d < rank; d++) order[d] = bits >> d & 1 ? -1 : next++;
  return tile_pick(out, layout, rank, order, err);
}

/* All modes as those of a single dim, innermost first, joined. */
static void tile_flatten(const tesela_tile_memory *layout, tesela__tile_parts *flat) {
  flat->n = 0;
  for (int32_t m = layout->n_modes - 1; m >= 0; m--) {
    int64_t extent = layout->mode_shape[m], stride = layout->mode_strides[m], reach;
    int32_t last = flat->n - 1;
    if (last >= 0 && tesela__mul(flat->stride[last], flat->extent[last], &reach) && reach == stride)
      flat->extent[last] *= extent;
    else
      tesela__tile_part(flat, 0, extent, stride);
  }
}

tesela_status tesela_tile_memory_reshape(tesela_tile_memory *out, const tesela_tile_memory *layout,
                                         int32_t rank, const int64_t *shape, tesela_error *err) {
  TESELA__NEED(err, out, layout);
  TESELA__NEED_LIST(err, shape, rank);
  tesela_tile_memory tile = {
      .space = layout->space, .rank = rank, .offset = layout->offset, .swizzle = layout->swizzle};
  int64_t elements, have = 1;
  tesela_status status = tesela__check_extents(rank, shape, &elements, err);
  if (status != TESELA_OK) return status;
  for (int32_t d = 0; d < layout->rank; d++) have *= layout->shape[d];
  if (have != elements)
    return tesela__refuse(err, TESELA_E_INVALID, TESELA_REASON_RESHAPE_SIZE_MISMATCH,
                          "the shape has %" PRId64 " elements, the layout %" PRId64, elements, have);
  tesela__tile_parts flat, parts = {.n = 0};
  tile_flatten(layout, &flat);
  int32_t at = 0;
  for (int32_t d = rank - 1; d >= 0; d--) {
    tile.shape[d] = shape[d];
    for (int64_t left = shape[d]; left > 1;) {
      int64_t extent = flat.extent[at], taken = tesela__min(extent, left);
      if (extent % taken != 0 || left % taken != 0)
        return tesela__refuse(err, TESELA_E_INVALID, TESELA_REASON_RESHAPE_NOT_REPRESENTABLE,
                              "dim %" PRId32 " of the shape ends %" PRId64 " steps into a run of %" PRId64
                              " equal strides; one must divide the other",
                              d, left, extent);
      tesela__tile_part(&parts, d, taken, flat.stride[at]);
      left /= taken;
      flat.extent[at] /= taken;
      if (flat.extent[at] == 1)
        at++;
      else
        flat.stride[at] *= taken; /* no overflow: within the mode */
    }
  }
  tesela__tile_set_modes(&tile, &parts);
  return tesela__tile_finish(&tile, layout->size, out, err);
}
