/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla_size.c - elements and bytes of a shape: by the definition, and as XLA's allocator counts.
 *
 * By the definition every tile level pads, then L. XLA's ArraySize pads for the first tile only, uses the largest part
 * of a dim that SC cuts, and ignores L without a tile:
 *
 *   f32[8,8]{1,0:T(4,4)(3,1)}    384 bytes by the definition, 256 allocated
 *   f32[3]{0:L(8)}               32 bytes by the definition, 12 allocated
 */
#include "xla/xla.h"

#include "base/base.h"

static tesela_status too_many(const char *what, tesela_error *err) {
  return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the number of %s does not fit in 64 bits", what);
}

/* ---- split configs ---- */

/* The largest part of physical dim p between cuts. */
static int64_t largest_part(const tesela_xla_shape *shape, int32_t p) {
  const tesela_xla_layout *layout = &shape->layout;
  int64_t bound = shape->dim[tesela_xla_major(layout, p)], largest = 0, from = 0;
  for (int32_t s = 0; s < layout->n_splits; s++) {
    const tesela_xla_split *split = &layout->split[s];
    for (int32_t k = 0; split->dim == p && k < split->n_points; k++) {
      int64_t point = layout->split_point[split->first + k];
      largest = tesela__max(largest, point - from);
      from = point;
    }
  }
  return tesela__max(largest, bound - from);
}

tesela_status tesela_xla_max_split_size(const tesela_xla_shape *shape, int32_t dim, int64_t *size,
                                        tesela_error *err) {
  TESELA__NEED(err, shape, size);
  int32_t position[TESELA_MAX_RANK];
  tesela_status status = tesela__xla_check_sized(shape, err);
  if (status == TESELA_OK) status = tesela__xla_check_dim(shape->rank, dim, err);
  if (status != TESELA_OK) return status;
  tesela_xla_logical_to_physical(&shape->layout, position);
  *size = largest_part(shape, position[dim]);
  return TESELA_OK;
}

/* The physical bounds of the largest part that SC cuts. */
static void share_begin(const tesela_xla_shape *shape, tesela__xla_bounds *bounds) {
  tesela__xla_bounds_begin(shape, bounds);
  for (int32_t p = 0; p < shape->rank; p++) bounds->extent[p] = largest_part(shape, p);
}

tesela_status tesela_xla_max_split_elements(const tesela_xla_shape *shape, int64_t *elements,
                                            tesela_error *err) {
  TESELA__NEED(err, shape, elements);
  tesela__xla_bounds bounds;
  tesela_status status = tesela__xla_check_sized(shape, err);
  if (status != TESELA_OK) return status;
  share_begin(shape, &bounds);
  if (!tesela__xla_product(bounds.n, bounds.extent, elements)) return too_many("elements", err);
  return TESELA_OK;
}

/* ---- sizes ---- */

static tesela_status allocated_elements(const tesela_xla_shape *shape, int64_t *elements, tesela_error *err) {
  const tesela_xla_layout *layout = &shape->layout;
  tesela__xla_bounds bounds;
  tesela__xla_level plan;
  if (layout->n_tiles == 0) {
    if (!tesela__xla_product(shape->rank, shape->dim, elements)) return too_many("elements", err);
    return TESELA_OK;
  }
  share_begin(shape, &bounds);
  tesela__xla_level_of(layout, 0, bounds.n, &plan);
  tesela_status status = tesela__xla_bounds_join(&bounds, &plan, err);
  if (status != TESELA_OK) return status;
  tesela__xla_bounds_split(&bounds, &plan);
  if (!tesela__xla_product(bounds.n, bounds.extent, elements) ||
      !tesela__round_up(*elements, layout->tail, elements))
    return too_many("allocated elements", err);
  return TESELA_OK;
}

tesela_status tesela_xla_size(const tesela_xla_shape *shape, tesela_xla_sizes *sizes, tesela_error *err) {
  TESELA__NEED(err, shape, sizes);
  tesela_xla_sizes s = {.elements = 0};
  int64_t allocated;
  tesela_status status = tesela__xla_check_sized(shape, err);
  if (status == TESELA_OK) status = tesela__xla_elements(shape, &s.elements, err);
  if (status == TESELA_OK) status = allocated_elements(shape, &allocated, err);
  if (status != TESELA_OK) return status;
  int64_t type_bits = 8 * (int64_t)tesela_dtype_bytes(shape->dtype);
  s.bits_per_element = tesela__xla_bits(shape);
  if (!tesela__xla_product(shape->rank, shape->dim, &s.logical_elements)) return too_many("elements", err);
  if (!tesela__xla_bytes(s.logical_elements, tesela__min(type_bits, s.bits_per_element), &s.logical_bytes) ||
      !tesela__xla_bytes(s.logical_elements, type_bits, &s.unpadded_bytes) ||
      !tesela__xla_bytes(s.elements, s.bits_per_element, &s.bytes) ||
      !tesela__xla_bytes(allocated, s.bits_per_element, &s.allocated_bytes))
    return too_many("bytes", err);
  s.expansion = s.logical_bytes == 0 ? 1.0 : (double)s.bytes / (double)s.logical_bytes;
  *sizes = s;
  return TESELA_OK;
}

tesela_status tesela_xla_byte_strides(const tesela_xla_shape *shape, int64_t *strides, tesela_error *err) {
  TESELA__NEED(err, shape);
  TESELA__NEED_LIST(err, strides, shape->rank);
  int64_t bits, stride, found[TESELA_MAX_RANK];
  bool in_order = true;
  tesela_status status = tesela__xla_check_sized(shape, err);
  if (status != TESELA_OK) return status;
  bits = tesela__xla_bits(shape);
  if (bits % 8 != 0)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "an element has %" PRId64 " bits, so its strides are not whole bytes", bits);
  if (shape->layout.n_tiles > 0) status = tesela__xla_in_order(shape, &in_order, err);
  if (status != TESELA_OK) return status;
  if (!in_order)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "the tiles move elements, so the array has no strides");
  stride = bits / 8;
  for (int32_t i = 0; i < shape->rank; i++) {
    int32_t dim = tesela_xla_minor(&shape->layout, i);
    found[dim] = stride;
    if (!tesela__mul(stride, shape->dim[dim], &stride)) return too_many("bytes", err);
  }
  for (int32_t d = 0; d < shape->rank; d++) strides[d] = found[d];
  return TESELA_OK;
}

int64_t tesela_xla_packed_factor(const tesela_xla_shape *shape) {
  if (!shape) return 1;
  const tesela_xla_layout *layout = &shape->layout;
  if (shape->rank != 1 || layout->n_tiles != 3 || layout->tile_rank[2] != 2) return 1;
  int64_t rows = layout->tile[layout->tile_rank[0] + layout->tile_rank[1]];
  return rows == TESELA_XLA_COMBINE ? 1 : rows;
}

tesela_status tesela_xla_bounds(const tesela_xla_shape *shape, int32_t level, int64_t *bounds,
                                int32_t *n_bounds, tesela_error *err) {
  TESELA__NEED(err, shape, bounds, n_bounds);
  tesela__xla_bounds found;
  tesela_status status = tesela__xla_check_sized(shape, err);
  if (status != TESELA_OK) return status;
  if (level < 0 || level > shape->layout.n_tiles)
    return tesela__fail(err, TESELA_E_RANGE, -1, "level is %" PRId32 "; expected 0 to %" PRId32, level,
                        shape->layout.n_tiles);
  status = tesela__xla_bounds_at(shape, level, &found, err);
  if (status != TESELA_OK) return status;
  for (int32_t i = 0; i < found.n; i++) bounds[i] = found.extent[i];
  *n_bounds = found.n;
  return TESELA_OK;
}
