/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make.c - XLA layouts and shapes from numbers; initialization and copies of the structs.
 *
 * A shape is 2 KiB and seldom uses a tenth of it, so nothing here clears or copies the unused part.
 */
#include "base/base.h"
#include "xla/validate.h"

/* ---- values ---- */

void tesela__xla_layout_start(tesela_xla_layout *layout, int32_t rank) {
  layout->rank = rank;
  layout->n_tiles = 0;
  layout->n_tile_numbers = 0;
  layout->tail = 1;
  layout->index_type = TESELA_DTYPE_NONE;
  layout->pointer_type = TESELA_DTYPE_NONE;
  layout->element_bits = 0;
  layout->memory_space = 0;
  layout->n_splits = 0;
  layout->n_split_points = 0;
  layout->metadata_bytes = 0;
  layout->physical[0] = '\0';
}

void tesela__xla_layout_default(tesela_xla_layout *layout, int32_t rank) {
  tesela__xla_layout_start(layout, rank);
  for (int32_t i = 0; i < rank; i++) layout->minor_to_major[i] = rank - 1 - i;
}

void tesela__xla_layout_copy(tesela_xla_layout *dst, const tesela_xla_layout *src) {
  tesela__xla_layout_start(dst, src->rank);
  dst->n_tiles = src->n_tiles;
  dst->n_tile_numbers = src->n_tile_numbers;
  dst->tail = src->tail;
  dst->index_type = src->index_type;
  dst->pointer_type = src->pointer_type;
  dst->element_bits = src->element_bits;
  dst->memory_space = src->memory_space;
  dst->n_splits = src->n_splits;
  dst->n_split_points = src->n_split_points;
  dst->metadata_bytes = src->metadata_bytes;
  for (int32_t i = 0; i < src->rank; i++) dst->minor_to_major[i] = src->minor_to_major[i];
  for (int32_t i = 0; i < src->n_tiles; i++) dst->tile_rank[i] = src->tile_rank[i];
  for (int32_t i = 0; i < src->n_tile_numbers; i++) dst->tile[i] = src->tile[i];
  for (int32_t i = 0; i < src->n_splits; i++) dst->split[i] = src->split[i];
  for (int32_t i = 0; i < src->n_split_points; i++) dst->split_point[i] = src->split_point[i];
  if (src->physical[0] != '\0') memcpy(dst->physical, src->physical, sizeof dst->physical);
}

void tesela__xla_shape_copy(tesela_xla_shape *dst, const tesela_xla_shape *src) {
  dst->kind = src->kind;
  dst->dtype = src->dtype;
  dst->rank = src->rank;
  dst->dynamic = src->dynamic;
  for (int32_t d = 0; d < src->rank; d++) dst->dim[d] = src->dim[d];
  dst->has_layout = src->has_layout;
  tesela__xla_layout_copy(&dst->layout, &src->layout);
}

/* ---- layouts ---- */

/* `step` 1: the order as given; -1: reversed. */
static tesela_status xla_layout_from_order(tesela_xla_layout *layout, int32_t rank, const int32_t *order,
                                           int32_t step, tesela_error *err) {
  tesela_xla_layout made;
  tesela__xla_fault fault;
  if (rank < 0 || rank > TESELA_MAX_RANK)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "rank is %" PRId32 "; expected 0 to %d", rank,
                        TESELA_MAX_RANK);
  tesela__xla_layout_default(&made, rank);
  for (int32_t i = 0; order && i < rank; i++) made.minor_to_major[i] = order[step > 0 ? i : rank - 1 - i];
  tesela_status status = tesela__xla_check_layout_of(&made, rank, NULL, &fault, err);
  if (status == TESELA_E_RANGE) status = TESELA_E_INVALID; /* not a permutation, in either direction */
  if (err && status != TESELA_OK) err->status = status;
  if (status == TESELA_OK) tesela__xla_layout_copy(layout, &made);
  return status;
}

tesela_status tesela_xla_layout_make(tesela_xla_layout *layout, int32_t rank, const int32_t *minor_to_major,
                                     tesela_error *err) {
  TESELA__NEED(err, layout);
  return xla_layout_from_order(layout, rank, minor_to_major, 1, err);
}

tesela_status tesela_xla_layout_make_major_to_minor(tesela_xla_layout *layout, int32_t rank,
                                                    const int32_t *major_to_minor, tesela_error *err) {
  TESELA__NEED(err, layout);
  TESELA__NEED_LIST(err, major_to_minor, rank);
  return xla_layout_from_order(layout, rank, major_to_minor, -1, err);
}

tesela_status tesela_xla_layout_make_ascending(tesela_xla_layout *layout, int32_t rank, tesela_error *err) {
  TESELA__NEED(err, layout);
  int32_t order[TESELA_MAX_RANK];
  for (int32_t i = 0; i < TESELA_MAX_RANK; i++) order[i] = i;
  return xla_layout_from_order(layout, rank, order, 1, err);
}

tesela_status tesela_xla_layout_add_tile(tesela_xla_layout *layout, int32_t n, const int64_t *entries,
                                         tesela_error *err) {
  TESELA__NEED(err, layout);
  TESELA__NEED_LIST(err, entries, n);
  if (n < 1)
    return tesela__fail(err, TESELA_E_INVALID, -1, "a tile of %" PRId32 " extents; expected 1 or more", n);
  if (layout->n_tiles >= TESELA_XLA_MAX_TILES)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "more than %d tiles", TESELA_XLA_MAX_TILES);
  if (n > TESELA_XLA_MAX_TILE_NUMBERS - layout->n_tile_numbers)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "more than %d tile extents", TESELA_XLA_MAX_TILE_NUMBERS);
  for (int32_t i = 0; i < n; i++) {
    if (entries[i] == TESELA_XLA_COMBINE && i < n - 1) continue;
    if (entries[i] == TESELA_XLA_COMBINE)
      return tesela__fail(err, TESELA_E_INVALID, -1,
                          "* in the last place of a tile has no next dim to combine with");
    tesela_status status = tesela__xla_check_number(TESELA__XLA_TILE, entries[i], -1, err);
    if (status != TESELA_OK) return status;
  }
  for (int32_t i = 0; i < n; i++) layout->tile[layout->n_tile_numbers + i] = entries[i];
  layout->tile_rank[layout->n_tiles++] = n;
  layout->n_tile_numbers += n;
  return TESELA_OK;
}

tesela_status tesela_xla_layout_add_split(tesela_xla_layout *layout, int32_t dim, int32_t n,
                                          const int64_t *points, tesela_error *err) {
  TESELA__NEED(err, layout);
  TESELA__NEED_LIST(err, points, n);
  tesela_xla_layout made = *layout;
  tesela__xla_fault fault;
  if (layout->n_splits >= TESELA_XLA_MAX_SPLITS)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "more than %d split configs", TESELA_XLA_MAX_SPLITS);
  if (n < 0 || n > TESELA_XLA_MAX_SPLIT_POINTS - layout->n_split_points)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "%" PRId32 " cut points; expected 0 to %d", n,
                        TESELA_XLA_MAX_SPLIT_POINTS);
  made.split[made.n_splits++] = (tesela_xla_split){dim, n, made.n_split_points};
  for (int32_t i = 0; i < n; i++) made.split_point[made.n_split_points++] = points[i];
  tesela_status status = tesela__xla_check_layout_of(&made, made.rank, NULL, &fault, err);
  if (status == TESELA_OK) *layout = made;
  return status;
}

/* ---- shapes ---- */

tesela_status tesela_xla_shape_make(tesela_xla_shape *shape, tesela_dtype dtype, int32_t rank,
                                    const int64_t *dim, const tesela_xla_layout *layout, tesela_error *err) {
  TESELA__NEED(err, shape);
  TESELA__NEED_LIST(err, dim, rank);
  tesela_xla_shape made = {.kind = TESELA_XLA_ARRAY, .dtype = dtype, .rank = rank, .has_layout = true};
  tesela__xla_fault fault;
  if (rank < 0 || rank > TESELA_MAX_RANK)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "rank is %" PRId32 "; expected 0 to %d", rank,
                        TESELA_MAX_RANK);
  for (int32_t d = 0; d < rank; d++) {
    made.dim[d] = dim[d];
    if (dim[d] == TESELA_XLA_UNBOUNDED) made.dynamic |= (uint32_t)1 << d;
  }
  if (layout)
    made.layout = *layout;
  else
    tesela__xla_layout_default(&made.layout, rank);
  tesela_status status = tesela__xla_check_shape(&made, &fault, err);
  if (status == TESELA_OK) tesela__xla_shape_copy(shape, &made);
  return status;
}
