/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edit.c - changes to the dims and the order of a shape, as in XLA's ShapeUtil and LayoutUtil.
 *
 * Tiles belong to physical positions and do not change, so removing or moving a dim can move elements. Split configs
 * also name physical positions, but follow their dim.
 */
#include "xla/xla.h"

#include "base/base.h"

/* ---- split configs ---- */

/* Renumber the split configs: the dim at physical position p moves to position[p], or is removed if that is -1. */
static void move_splits(tesela_xla_layout *layout, const int32_t *position) {
  const tesela_xla_layout old = *layout;
  int32_t n_splits = 0, n_points = 0;
  for (int32_t s = 0; s < old.n_splits; s++) {
    tesela_xla_split split = old.split[s];
    if (position[split.dim] < 0) continue;
    for (int32_t k = 0; k < split.n_points; k++)
      layout->split_point[n_points + k] = old.split_point[split.first + k];
    layout->split[n_splits++] = (tesela_xla_split){position[split.dim], split.n_points, n_points};
    n_points += split.n_points;
  }
  layout->n_splits = n_splits;
  layout->n_split_points = n_points;
}

/* ---- dims ---- */

static void delete_from_layout(tesela_xla_layout *layout, int32_t dim) {
  int32_t physical[TESELA_MAX_RANK], moved[TESELA_MAX_RANK] = {0}, n = 0;
  tesela_xla_logical_to_physical(layout, physical);
  for (int32_t p = 0; p < layout->rank; p++) moved[p] = p == physical[dim] ? -1 : p - (p > physical[dim]);
  move_splits(layout, moved);
  for (int32_t i = 0; i < layout->rank; i++) {
    int32_t d = layout->minor_to_major[i];
    if (d != dim) layout->minor_to_major[n++] = d - (d > dim);
  }
  layout->rank = n;
}

static void delete_from_shape(tesela_xla_shape *shape, int32_t dim) {
  uint32_t below = ((uint32_t)1 << dim) - 1;
  delete_from_layout(&shape->layout, dim);
  shape->dynamic = (shape->dynamic & below) | (shape->dynamic >> 1 & ~below);
  for (int32_t d = dim; d + 1 < shape->rank; d++) shape->dim[d] = shape->dim[d + 1];
  shape->rank--;
}

tesela_status tesela__xla_replace(tesela_xla_shape *shape, const tesela_xla_shape *edited,
                                  tesela_error *err) {
  tesela_status status = tesela_xla_validate(edited, err);
  if (status == TESELA_OK) *shape = *edited;
  return status;
}

tesela_status tesela_xla_delete_dim(tesela_xla_shape *shape, int32_t dim, tesela_error *err) {
  TESELA__NEED(err, shape);
  tesela_xla_shape edited = *shape;
  tesela_status status = tesela_xla_validate(shape, err);
  if (status == TESELA_OK) status = tesela__xla_check_dim(shape->rank, dim, err);
  if (status != TESELA_OK) return status;
  delete_from_shape(&edited, dim);
  return tesela__xla_replace(shape, &edited, err);
}

tesela_status tesela_xla_keep_dims(tesela_xla_shape *shape, uint32_t keep, tesela_error *err) {
  TESELA__NEED(err, shape);
  tesela_xla_shape edited = *shape;
  tesela_status status = tesela_xla_validate(shape, err);
  if (status != TESELA_OK) return status;
  for (int32_t d = shape->rank - 1; d >= 0; d--)
    if ((keep >> d & 1) == 0) delete_from_shape(&edited, d);
  return tesela__xla_replace(shape, &edited, err);
}

tesela_status tesela_xla_drop_ones(tesela_xla_shape *shape, tesela_error *err) {
  TESELA__NEED(err, shape);
  uint32_t keep = 0;
  tesela_status status = tesela_xla_validate(shape, err);
  if (status != TESELA_OK) return status;
  for (int32_t d = 0; d < shape->rank; d++)
    if (shape->dim[d] != 1) keep |= (uint32_t)1 << d;
  return tesela_xla_keep_dims(shape, keep, err);
}

tesela_status tesela_xla_permute_dims(tesela_xla_shape *shape, const int32_t *permutation,
                                      tesela_error *err) {
  TESELA__NEED(err, shape);
  TESELA__NEED_LIST(err, permutation, shape->rank);
  int32_t inverse[TESELA_MAX_RANK];
  int64_t dim[TESELA_MAX_RANK];
  uint32_t dynamic = 0;
  tesela_status status = tesela_xla_validate(shape, err);
  if (status == TESELA_OK) status = tesela__xla_check_permutation(shape->rank, permutation, err);
  if (status != TESELA_OK) return status;
  for (int32_t k = 0; k < shape->rank; k++) {
    inverse[permutation[k]] = k;
    dim[k] = shape->dim[permutation[k]];
    dynamic |= (shape->dynamic >> permutation[k] & 1) << k;
  }
  for (int32_t k = 0; k < shape->rank; k++) {
    shape->dim[k] = dim[k];
    shape->layout.minor_to_major[k] = inverse[shape->layout.minor_to_major[k]];
  }
  shape->dynamic = dynamic;
  if (!tesela_xla_is_descending(&shape->layout)) shape->has_layout = true;
  return TESELA_OK;
}

tesela_status tesela_xla_normalize_order(tesela_xla_shape *shape, tesela_error *err) {
  TESELA__NEED(err, shape);
  int32_t permutation[TESELA_MAX_RANK];
  tesela_status status = tesela_xla_validate(shape, err);
  if (status != TESELA_OK) return status;
  for (int32_t p = 0; p < shape->rank; p++) permutation[p] = tesela_xla_major(&shape->layout, p);
  return tesela_xla_permute_dims(shape, permutation, err);
}

/* ---- order ---- */

/* Move the dim at minor_to_major[from] to minor_to_major[to]. */
static void move_dim(tesela_xla_layout *layout, int32_t from, int32_t to) {
  int32_t before[TESELA_MAX_RANK], after[TESELA_MAX_RANK], moved[TESELA_MAX_RANK] = {0};
  int32_t dim = layout->minor_to_major[from], step = from < to ? 1 : -1;
  for (int32_t p = 0; p < layout->rank; p++) before[p] = tesela_xla_major(layout, p);
  for (int32_t i = from; i != to; i += step) layout->minor_to_major[i] = layout->minor_to_major[i + step];
  layout->minor_to_major[to] = dim;
  tesela_xla_logical_to_physical(layout, after);
  for (int32_t p = 0; p < layout->rank; p++) moved[p] = after[before[p]];
  move_splits(layout, moved);
}

static tesela_status find_in_order(const tesela_xla_layout *layout, int32_t dim, int32_t *at,
                                   tesela_error *err) {
  tesela_status status = tesela__xla_check_dim(layout->rank, dim, err);
  if (status == TESELA_OK) status = tesela__xla_check_permutation(layout->rank, layout->minor_to_major, err);
  for (int32_t i = 0; i < layout->rank && status == TESELA_OK; i++)
    if (layout->minor_to_major[i] == dim) *at = i;
  return status;
}

tesela_status tesela_xla_move_to_major(tesela_xla_layout *layout, int32_t dim, tesela_error *err) {
  TESELA__NEED(err, layout);
  int32_t from = 0;
  tesela_status status = find_in_order(layout, dim, &from, err);
  if (status == TESELA_OK) move_dim(layout, from, layout->rank - 1);
  return status;
}

tesela_status tesela_xla_move_to_minor(tesela_xla_layout *layout, int32_t dim, tesela_error *err) {
  TESELA__NEED(err, layout);
  int32_t from = 0;
  tesela_status status = find_in_order(layout, dim, &from, err);
  if (status == TESELA_OK) move_dim(layout, from, 0);
  return status;
}

/* ---- attributes ---- */

void tesela_xla_clear_tiles(tesela_xla_layout *layout) {
  if (!layout) return;
  layout->n_tiles = layout->n_tile_numbers = 0;
}

void tesela_xla_to_host(tesela_xla_shape *shape) {
  if (!shape) return;
  tesela_xla_layout *layout = &shape->layout;
  tesela_xla_clear_tiles(layout);
  layout->memory_space = 0;
  layout->physical[0] = '\0';
  layout->element_bits = 0;
  layout->tail = 1;
  layout->metadata_bytes = 0;
}

bool tesela_xla_is_host(const tesela_xla_shape *shape) {
  if (!shape) return false;
  const tesela_xla_layout *layout = &shape->layout;
  if (!shape->has_layout) return true;
  return layout->n_tiles == 0 && layout->memory_space == 0 && layout->physical[0] == '\0' &&
         layout->element_bits == 0 && layout->tail == 1 && layout->metadata_bytes == 0;
}

void tesela_xla_update_element_bits(tesela_xla_shape *shape, bool pack) {
  if (!shape) return;
  int32_t bits = tesela_dtype_bits(shape->dtype);
  bool packs = pack && shape->dtype != TESELA_PRED && bits > 0 && bits < 8;
  shape->layout.element_bits = packs ? bits : 0;
  if (packs) shape->has_layout = true;
}
