/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interchange.c - layouts as plain arrays: PJRT's tiled layouts and byte strides.
 */
#include "base/base.h"
#include "xla/validate.h"
#include "xla/xla.h"

/* ---- PJRT's tiled layouts ---- */

uint32_t tesela__xla_beyond_tiles(const tesela_xla_layout *layout) {
  uint32_t lost = 0;
  if (layout->tail != 1) lost |= TESELA_XLA_IGNORE_TAIL;
  if (layout->index_type != TESELA_DTYPE_NONE) lost |= TESELA_XLA_IGNORE_INDEX_TYPE;
  if (layout->pointer_type != TESELA_DTYPE_NONE) lost |= TESELA_XLA_IGNORE_POINTER_TYPE;
  if (layout->element_bits != 0) lost |= TESELA_XLA_IGNORE_ELEMENT_BITS;
  if (layout->memory_space != 0) lost |= TESELA_XLA_IGNORE_SPACE;
  if (layout->n_splits > 0) lost |= TESELA_XLA_IGNORE_SPLITS;
  if (layout->physical[0] != '\0') lost |= TESELA_XLA_IGNORE_PHYSICAL;
  return lost;
}

tesela_status tesela_xla_to_pjrt_tiled(const tesela_xla_layout *layout, tesela_xla_pjrt_tiled *tiled,
                                       uint32_t *lost, tesela_error *err) {
  TESELA__NEED(err, layout, tiled);
  tesela__xla_fault fault;
  tesela_status status = tesela__xla_check_layout_of(layout, layout->rank, NULL, &fault, err);
  if (status != TESELA_OK) return status;
  for (int32_t i = 0; i < layout->rank; i++) tiled->minor_to_major[i] = layout->minor_to_major[i];
  for (int32_t i = 0; i < layout->n_tile_numbers; i++) tiled->tile_dims[i] = layout->tile[i];
  for (int32_t k = 0; k < layout->n_tiles; k++) tiled->tile_dim_sizes[k] = (size_t)layout->tile_rank[k];
  tiled->minor_to_major_size = (size_t)layout->rank;
  tiled->num_tiles = (size_t)layout->n_tiles;
  if (lost) *lost = tesela__xla_beyond_tiles(layout);
  return TESELA_OK;
}

tesela_status tesela_xla_from_pjrt_tiled(tesela_xla_layout *layout, const int64_t *minor_to_major,
                                         size_t minor_to_major_size, const int64_t *tile_dims,
                                         const size_t *tile_dim_sizes, size_t num_tiles, tesela_error *err) {
  TESELA__NEED(err, layout);
  TESELA__NEED_LIST(err, minor_to_major, minor_to_major_size);
  TESELA__NEED_LIST(err, tile_dims, num_tiles);
  TESELA__NEED_LIST(err, tile_dim_sizes, num_tiles);
  tesela_xla_layout made;
  int32_t order[TESELA_MAX_RANK];
  if (minor_to_major_size > TESELA_MAX_RANK)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "rank is %zu; expected 0 to %d", minor_to_major_size,
                        TESELA_MAX_RANK);
  for (size_t i = 0; i < minor_to_major_size; i++) {
    if (minor_to_major[i] < 0 || minor_to_major[i] >= TESELA_MAX_RANK)
      return tesela__fail(err, TESELA_E_INVALID, -1, "minor_to_major[%zu] is %" PRId64 "; the rank is %zu", i,
                          minor_to_major[i], minor_to_major_size);
    order[i] = (int32_t)minor_to_major[i];
  }
  tesela_status status = tesela_xla_layout_make(&made, (int32_t)minor_to_major_size, order, err);
  for (size_t k = 0; k < num_tiles && status == TESELA_OK; k++) {
    if (tile_dim_sizes[k] > TESELA_XLA_MAX_TILE_NUMBERS)
      return tesela__fail(err, TESELA_E_LIMIT, -1, "more than %d tile extents", TESELA_XLA_MAX_TILE_NUMBERS);
    status = tesela_xla_layout_add_tile(&made, (int32_t)tile_dim_sizes[k], tile_dims, err);
    tile_dims += tile_dim_sizes[k];
  }
  if (status == TESELA_OK) tesela__xla_layout_copy(layout, &made);
  return status;
}

/* ---- byte strides ---- */

/* The next dim in memory, or -1: a dim of extent 1 or with this stride. The last candidate keeps the order closest to
 * the default. */
static int32_t next_dense_dim(int32_t rank, const int64_t *dim, const int64_t *byte_strides, int64_t stride,
                              uint32_t placed) {
  for (int32_t d = rank - 1; d >= 0; d--)
    if (!(placed >> d & 1) && (dim[d] == 1 || byte_strides[d] == stride)) return d;
  return -1;
}

tesela_status tesela_xla_layout_from_byte_strides(tesela_xla_layout *layout, tesela_dtype dtype, int32_t rank,
                                                  const int64_t *dim, const int64_t *byte_strides,
                                                  tesela_error *err) {
  TESELA__NEED(err, layout);
  TESELA__NEED_LIST(err, dim, rank);
  TESELA__NEED_LIST(err, byte_strides, rank);
  tesela_xla_shape shape;
  int32_t order[TESELA_MAX_RANK];
  int64_t stride = tesela_dtype_bytes(dtype);
  uint32_t placed = 0;
  bool empty = false;
  tesela_status status = tesela_xla_shape_make(&shape, dtype, rank, dim, NULL, err);
  if (status == TESELA_OK) status = tesela__xla_check_sized(&shape, err);
  if (status != TESELA_OK) return status;
  for (int32_t d = 0; d < rank; d++) empty = empty || dim[d] == 0;
  for (int32_t i = 0; i < rank && !empty; i++) {
    int32_t d = next_dense_dim(rank, dim, byte_strides, stride, placed);
    if (d < 0)
      return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                          "no dim has stride %" PRId64 " bytes, which comes next in a dense array", stride);
    order[i] = d;
    placed |= (uint32_t)1 << d;
    stride *= dim[d]; /* at most the bytes of the array, which fit */
  }
  return tesela_xla_layout_make(layout, rank, empty ? NULL : order, err);
}

tesela_status tesela_xla_strided(tesela_layout *layout, tesela_dtype dtype, int32_t rank, const int64_t *dim,
                                 const int64_t *byte_strides, tesela_error *err) {
  TESELA__NEED(err, layout);
  TESELA__NEED_LIST(err, dim, rank);
  TESELA__NEED_LIST(err, byte_strides, rank);
  tesela_layout built;
  int64_t strides[TESELA_MAX_RANK], offset = 0, back, bytes = tesela_dtype_bytes(dtype);
  if (rank < 0 || rank > TESELA_MAX_RANK)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "rank is %" PRId32 "; expected 0 to %d", rank,
                        TESELA_MAX_RANK);
  if (bytes == 0) return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "the type has no elements");
  for (int32_t d = 0; d < rank; d++) {
    if (byte_strides[d] % bytes != 0)
      return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                          "stride %" PRId64 " of dim %" PRId32 " is not a multiple of the %" PRId64
                          " bytes of an element",
                          byte_strides[d], d, bytes);
    strides[d] = byte_strides[d] / bytes;
    if (strides[d] >= 0 || dim[d] < 2) continue;
    if (!tesela__mul(strides[d], dim[d] - 1, &back) || !tesela__sub(offset, back, &offset))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the places do not fit in 64 bits");
  }
  tesela_status status =
      tesela_layout_strided(&built, dtype, 8 * (int32_t)bytes, rank, dim, strides, offset, err);
  if (status == TESELA_OK) *layout = built;
  return status;
}
