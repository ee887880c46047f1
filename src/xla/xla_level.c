/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla_level.c - tile levels resolved for a number of bounds, the bounds after each, the elements after the last.
 *
 *   f32[3,5]{1,0:T(2,2)}    level 0: 3 5      join: 3 5     split: 2 3 2 2
 *   f32[8]{0:T(*,2,2)}      level 0: 8        join: 1 8     split: 1 4 2 2
 */
#include "xla/xla.h"

#include "base/base.h"

/* ---- the effect of a level ---- */

static const int64_t *level_entries(const tesela_xla_layout *layout, int32_t level) {
  const int64_t *entries = layout->tile;
  for (int32_t k = 0; k < level; k++) entries += layout->tile_rank[k];
  return entries;
}

void tesela__xla_level_of(const tesela_xla_layout *layout, int32_t level, int32_t n_bounds,
                          tesela__xla_level *plan) {
  const int64_t *entry = level_entries(layout, level);
  int32_t rank = layout->tile_rank[level], first = 0;
  plan->level = level;
  plan->ones = rank > n_bounds ? rank - n_bounds : 0;
  plan->untouched = rank > n_bounds ? 0 : n_bounds - rank;
  plan->n_groups = 0;
  for (int32_t i = 0; i < rank; i++) {
    if (entry[i] == TESELA_XLA_COMBINE) continue;
    plan->group[plan->n_groups++] = (tesela__xla_group){plan->untouched + first, i - first + 1, i, entry[i]};
    first = i + 1;
  }
}

/* ---- bounds ---- */

bool tesela__xla_product(int32_t n, const int64_t *number, int64_t *product) {
  *product = 1;
  for (int32_t i = 0; i < n; i++)
    if (number[i] == 0) *product = 0;
  for (int32_t i = 0; i < n && *product != 0; i++)
    if (!tesela__mul(*product, number[i], product)) return false;
  return true;
}

void tesela__xla_bounds_begin(const tesela_xla_shape *shape, tesela__xla_bounds *bounds) {
  bounds->n = shape->rank;
  for (int32_t p = 0; p < shape->rank; p++) {
    int32_t dim = tesela_xla_major(&shape->layout, p);
    bounds->extent[p] = shape->dim[dim];
    bounds->dims[p] = (uint32_t)1 << dim;
  }
}

static void insert_ones(tesela__xla_bounds *bounds, int32_t ones) {
  bounds->n += ones;
  for (int32_t i = bounds->n - 1; i >= 0; i--) {
    bounds->extent[i] = i < ones ? 1 : bounds->extent[i - ones];
    bounds->dims[i] = i < ones ? 0 : bounds->dims[i - ones];
  }
}

tesela_status tesela__xla_bounds_join(tesela__xla_bounds *bounds, const tesela__xla_level *plan,
                                      tesela_error *err) {
  insert_ones(bounds, plan->ones);
  for (int32_t g = 0; g < plan->n_groups;
       g++) { /* group g moves to untouched + g <= group->first, so no later group is overwritten */
    const tesela__xla_group *group = &plan->group[g];
    uint32_t dims = 0;
    int64_t extent;
    if (!tesela__xla_product(group->n, &bounds->extent[group->first], &extent))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1,
                          "tile level %" PRId32 ": the extent of %" PRId32
                          " combined dims does not fit in 64 bits",
                          plan->level, group->n);
    for (int32_t i = 0; i < group->n; i++) dims |= bounds->dims[group->first + i];
    bounds->extent[plan->untouched + g] = extent;
    bounds->dims[plan->untouched + g] = dims;
  }
  bounds->n = plan->untouched + plan->n_groups;
  return TESELA_OK;
}

void tesela__xla_bounds_split(tesela__xla_bounds *bounds, const tesela__xla_level *plan) {
  for (int32_t g = 0; g < plan->n_groups; g++) {
    int32_t count = plan->untouched + g, tile = count + plan->n_groups;
    bounds->extent[count] = tesela__ceil_div(bounds->extent[count], plan->group[g].tile);
    bounds->extent[tile] = plan->group[g].tile;
    bounds->dims[tile] = bounds->dims[count];
  }
  bounds->n += plan->n_groups;
}

tesela_status tesela__xla_bounds_at(const tesela_xla_shape *shape, int32_t level, tesela__xla_bounds *bounds,
                                    tesela_error *err) {
  tesela__xla_bounds_begin(shape, bounds);
  for (int32_t k = 0; k < level; k++) {
    tesela__xla_level plan;
    tesela__xla_level_of(&shape->layout, k, bounds->n, &plan);
    tesela_status status = tesela__xla_bounds_join(bounds, &plan, err);
    if (status != TESELA_OK) return status;
    tesela__xla_bounds_split(bounds, &plan);
  }
  return TESELA_OK;
}

int64_t tesela__xla_bits(const tesela_xla_shape *shape) {
  if (shape->layout.element_bits != 0) return shape->layout.element_bits;
  return 8 * (int64_t)tesela_dtype_bytes(shape->dtype);
}

bool tesela__xla_bytes(int64_t elements, int64_t bits, int64_t *bytes) {
  int64_t rest;
  return tesela__mul(elements / 8, bits, bytes) && tesela__mul(elements % 8, bits, &rest) &&
         tesela__add(*bytes, tesela__ceil_div(rest, 8), bytes);
}

tesela_status tesela__xla_elements(const tesela_xla_shape *shape, int64_t *elements, tesela_error *err) {
  tesela__xla_bounds bounds;
  tesela_status status = tesela__xla_bounds_at(shape, shape->layout.n_tiles, &bounds, err);
  if (status != TESELA_OK) return status;
  if (!tesela__xla_product(bounds.n, bounds.extent, elements) ||
      !tesela__round_up(*elements, shape->layout.tail, elements))
    return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the number of padded elements does not fit in 64 bits");
  return TESELA_OK;
}

/* ---- checks ---- */

tesela_status tesela__xla_check_dim(int32_t rank, int32_t dim, tesela_error *err) {
  if (dim >= 0 && dim < rank) return TESELA_OK;
  return tesela__fail(err, TESELA_E_RANGE, -1, "dim %" PRId32 " is out of range; the rank is %" PRId32, dim,
                      rank);
}

tesela_status tesela__xla_check_permutation(int32_t rank, const int32_t *permutation, tesela_error *err) {
  uint32_t seen = 0;
  for (int32_t k = 0; k < rank; k++) {
    int32_t dim = permutation[k];
    if (dim < 0 || dim >= rank)
      return tesela__fail(err, TESELA_E_INVALID, -1,
                          "permutation[%" PRId32 "] is %" PRId32 "; expected 0 to %" PRId32, k, dim,
                          rank - 1);
    if (seen >> dim & 1)
      return tesela__fail(err, TESELA_E_INVALID, -1, "the permutation lists dim %" PRId32 " twice", dim);
    seen |= (uint32_t)1 << dim;
  }
  return TESELA_OK;
}
