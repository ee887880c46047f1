/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_create.c - creation of tiles in memory: from parts, row-major, strided, swizzled; the place of an element.
 *
 * Every tile starts as a list of parts (modes, innermost first). tesela__tile_set_modes joins them to the reduced
 * modes, and tesela__tile_finish computes the size and proves that all places fit in 64 bits. After that, sums over the
 * modes use plain arithmetic.
 */
#include "layout/layout.h"
#include "gpu/memory/tile_memory.h"

#include <assert.h>

/* ---- all tiles ---------------------------------------------------------------------------------------------- */

void tesela__tile_set_modes(tesela_tile_memory *tile, const tesela__tile_parts *parts) {
  int32_t n = 0, dim = -1;
  for (int32_t i = parts->n - 1; i >= 0; i--) {
    int64_t reach;
    if (parts->dim[i] == dim && tesela__mul(parts->stride[i], parts->extent[i], &reach) &&
        tile->mode_strides[n - 1] == reach) { /* no overflow: at most the extent of the dim */
      tile->mode_shape[n - 1] *= parts->extent[i];
      tile->mode_strides[n - 1] = parts->stride[i];
      continue;
    }
    assert(n < TESELA_REGISTER_MODES); /* each is 2 or more, and their product is the number of elements */
    dim = parts->dim[i];
    tile->mode_shape[n] = parts->extent[i];
    tile->mode_strides[n++] = parts->stride[i];
  }
  tile->n_modes = n;
}

tesela_status tesela__tile_finish(tesela_tile_memory *tile, int64_t size, tesela_tile_memory *out,
                                  tesela_error *err) {
  int64_t least;
  if (!tesela__tile_least_size(tile, &least))
    return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the places of the tile do not fit in 64 bits");
  tile->size = tesela__max(size, least);
  *out = *tile;
  return TESELA_OK;
}

tesela_status tesela__tile_check_swizzle(tesela_tile_swizzle s, tesela_error *err) {
  int64_t distance = s.shift < 0 ? -(int64_t)s.shift : s.shift;
  if (s.bits < 0 || s.base < 0 || distance < s.bits || s.base + distance + s.bits > 62)
    return tesela__fail(
        err, TESELA_E_RANGE, -1,
        "swizzle base %" PRId32 ", bits %" PRId32 ", shift %" PRId32
        ": expected base and bits of 0 or more, |shift| of bits or more, base + |shift| + bits of at most 62",
        s.base, s.bits, s.shift);
  return TESELA_OK;
}

/* ---- creation ------------------------------------------------------------------------------------------------- */

static tesela_status tile_check_space(tesela_tile_space space, tesela_error *err) {
  if (space == TESELA_TILE_SHARED || space == TESELA_TILE_GLOBAL) return TESELA_OK;
  return tesela__fail(err, TESELA_E_RANGE, -1, "unknown space %d; expected shared or global", (int)space);
}

static tesela_status tile_check_modes(int32_t n_modes, const int64_t *mode_shape, const int64_t *mode_strides,
                                      tesela_error *err) {
  if (n_modes < 0 || n_modes > TESELA_REGISTER_MODES)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "%" PRId32 " modes; expected 0 to %d", n_modes,
                        TESELA_REGISTER_MODES);
  for (int32_t m = 0; m < n_modes; m++) {
    if (mode_shape[m] < 1)
      return tesela__refuse(err, TESELA_E_RANGE, TESELA_REASON_MODE_NOT_POSITIVE,
                            "mode %" PRId32 " is %" PRId64 "; expected 1 or more", m, mode_shape[m]);
    if (mode_strides[m] < 0)
      return tesela__fail(err, TESELA_E_RANGE, -1, "stride %" PRId32 " is %" PRId64 "; expected 0 or more", m,
                          mode_strides[m]);
  }
  return TESELA_OK;
}

tesela_status tesela_tile_memory_make(tesela_tile_memory *out, tesela_tile_space space, int32_t rank,
                                      const int64_t *shape, int32_t n_modes, const int64_t *mode_shape,
                                      const int64_t *mode_strides, int64_t offset,
                                      const tesela_tile_swizzle *swizzle, tesela_error *err) {
  TESELA__NEED(err, out);
  TESELA__NEED_LIST(err, shape, rank);
  TESELA__NEED_LIST(err, mode_shape, n_modes);
  TESELA__NEED_LIST(err, mode_strides, n_modes);
  tesela_tile_memory tile = {.space = space, .rank = rank, .offset = offset};
  int64_t elements;
  int32_t first[TESELA_MAX_RANK + 1];
  tesela_status status = tile_check_space(space, err);
  if (status == TESELA_OK) status = tesela__check_extents(rank, shape, &elements, err);
  if (status == TESELA_OK) status = tile_check_modes(n_modes, mode_shape, mode_strides, err);
  if (status == TESELA_OK) status = tesela__modes_of_dims(rank, shape, n_modes, mode_shape, first, err);
  if (status == TESELA_OK && swizzle) status = tesela__tile_check_swizzle(*swizzle, err);
  if (status != TESELA_OK) return status;
  if (offset < 0)
    return tesela__fail(err, TESELA_E_RANGE, -1, "the offset is %" PRId64 "; expected 0 or more", offset);
  if (swizzle && swizzle->bits > 0) tile.swizzle = *swizzle;
  tesela__tile_parts parts = {.n = 0};
  for (int32_t d = rank - 1; d >= 0; d--) {
    tile.shape[d] = shape[d];
    for (int32_t m = first[d + 1] - 1; m >= first[d]; m--)
      tesela__tile_part(&parts, d, mode_shape[m], mode_strides[m]);
  }
  tesela__tile_set_modes(&tile, &parts);
  return tesela__tile_finish(&tile, 0, out, err);
}

tesela_status tesela_tile_memory_strided(tesela_tile_memory *out, tesela_tile_space space, int32_t rank,
                                         const int64_t *shape, const int64_t *strides, int64_t offset,
                                         tesela_error *err) {
  TESELA__NEED(err, out);
  TESELA__NEED_LIST(err, shape, rank);
  TESELA__NEED_LIST(err, strides, rank);
  return tesela_tile_memory_make(out, space, rank, shape, rank, shape, strides, offset, NULL, err);
}

/* Compact strides, with the last or the first dim fastest. */
static tesela_status tile_compact(tesela_tile_memory *out, tesela_tile_space space, int32_t rank,
                                  const int64_t *shape, bool last_fastest, tesela_error *err) {
  int64_t elements, stride = 1, strides[TESELA_MAX_RANK];
  tesela_status status = tesela__check_extents(rank, shape, &elements, err);
  if (status != TESELA_OK) return status;
  for (int32_t i = 0; i < rank; i++) {
    int32_t d = last_fastest ? rank - 1 - i : i;
    strides[d] = stride;
    stride *= shape[d]; /* at most `elements` */
  }
  return tesela_tile_memory_strided(out, space, rank, shape, strides, 0, err);
}

tesela_status tesela_tile_memory_row_major(tesela_tile_memory *out, tesela_tile_space space, int32_t rank,
                                           const int64_t *shape, tesela_error *err) {
  TESELA__NEED(err, out);
  TESELA__NEED_LIST(err, shape, rank);
  return tile_compact(out, space, rank, shape, true, err);
}

tesela_status tesela_tile_memory_column_major(tesela_tile_memory *out, tesela_tile_space space, int32_t rank,
                                              const int64_t *shape, tesela_error *err) {
  TESELA__NEED(err, out);
  TESELA__NEED_LIST(err, shape, rank);
  return tile_compact(out, space, rank, shape, false, err);
}

static int32_t tile_log2(int64_t power) {
  int32_t log = 0;
  while (power >> log > 1) log++;
  return log;
}

tesela_status tesela_tile_memory_swizzled(tesela_tile_memory *out, int32_t rank, const int64_t *shape,
                                          int32_t bytes, tesela_error *err) {
  TESELA__NEED(err, out);
  TESELA__NEED_LIST(err, shape, rank);
  int64_t elements, mode_shape[TESELA_MAX_RANK + 1], strides[TESELA_MAX_RANK + 1];
  tesela_status status = tesela__check_extents(rank, shape, &elements, err);
  if (status != TESELA_OK) return status;
  if (bytes < 1 || bytes > 16 || (bytes & (bytes - 1)) != 0)
    return tesela__fail(err, TESELA_E_RANGE, -1,
                        "an element has %" PRId32 " bytes; expected 1, 2, 4, 8 or 16", bytes);
  if (rank < 2)
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "the rank is %" PRId32 "; expected 2 or more, for rows and columns", rank);
  int64_t rows = shape[rank - 2], cols = shape[rank - 1], units = 16 / bytes,
          v = tesela__gcd(cols, 128 / bytes);
  if (rows % 8 != 0 || cols % units != 0)
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "%" PRId64 " rows of %" PRId64 " elements of %" PRId32
                        " bytes; expected a multiple of 8 rows, each a multiple of 16 bytes",
                        rows, cols, bytes);
  int64_t stride = rows * cols; /* divides `elements` */
  for (int32_t d = rank - 3; d >= 0; d--) {
    strides[d] = stride;
    mode_shape[d] = shape[d];
    stride *= shape[d];
  }
  mode_shape[rank - 2] = rows, strides[rank - 2] = v;
  mode_shape[rank - 1] = cols / v, strides[rank - 1] = rows * v;
  mode_shape[rank] = v, strides[rank] = 1;
  tesela_tile_swizzle swizzle = {.base = tile_log2(units), .bits = tile_log2(v / units), .shift = 3};
  return tesela_tile_memory_make(out, TESELA_TILE_SHARED, rank, shape, rank + 1, mode_shape, strides, 0,
                                 &swizzle, err);
}

tesela_status tesela_tile_memory_set_size(tesela_tile_memory *out, const tesela_tile_memory *layout,
                                          int64_t size, tesela_error *err) {
  TESELA__NEED(err, out, layout);
  tesela_tile_memory tile = *layout;
  tesela_status status = tesela__tile_finish(&tile, 0, &tile, err);
  if (status != TESELA_OK) return status;
  if (size != 0 && size < tile.size)
    return tesela__fail(err, TESELA_E_RANGE, -1, "the size is %" PRId64 "; expected %" PRId64 " or more",
                        size, tile.size);
  if (size != 0) tile.size = size;
  *out = tile;
  return TESELA_OK;
}

tesela_status tesela_tile_memory_with_swizzle(tesela_tile_memory *out, const tesela_tile_memory *layout,
                                              tesela_tile_swizzle swizzle, tesela_error *err) {
  TESELA__NEED(err, out, layout);
  tesela_tile_memory tile = *layout;
  tesela_status status = tesela__tile_check_swizzle(swizzle, err);
  if (status != TESELA_OK) return status;
  if (layout->swizzle.bits > 0)
    return tesela__refuse(err, TESELA_E_INVALID, TESELA_REASON_SWIZZLE,
                          "the layout has the swizzle base %" PRId32 ", bits %" PRId32 ", shift %" PRId32
                          "; a layout has at most one",
                          layout->swizzle.base, layout->swizzle.bits, layout->swizzle.shift);
  if (swizzle.bits > 0) tile.swizzle = swizzle;
  return tesela__tile_finish(&tile, layout->size, out, err);
}

/* ---- places ----------------------------------------------------------------------------------------------------- */

int64_t tesela__tile_place(const tesela_tile_memory *tile, const int64_t *index) {
  int64_t place = tile->offset;
  int32_t m = tile->n_modes;
  for (int32_t d = tile->rank - 1; d >= 0; d--)
    for (int64_t rest = index[d], left = tile->shape[d]; left > 1; m--) {
      int64_t extent = tile->mode_shape[m - 1];
      place += rest % extent * tile->mode_strides[m - 1];
      rest /= extent;
      left /= extent;
    }
  return tesela__tile_swizzled(tile->swizzle, place);
}

tesela_status tesela_tile_memory_place(const tesela_tile_memory *layout, const int64_t *index, int64_t *place,
                                       tesela_error *err) {
  TESELA__NEED(err, layout, place);
  TESELA__NEED_LIST(err, index, layout->rank);
  tesela_status status = tesela__check_index(layout->rank, layout->shape, index, err);
  if (status == TESELA_OK) *place = tesela__tile_place(layout, index);
  return status;
}
