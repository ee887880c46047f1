/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validate_layout.c - the validation of layouts, the text between the braces.
 *
 *   order      a permutation of the dims
 *   tiles      entries >= 1, or `*` except as the last
 *   splits     each physical dim at most once, cut points increasing and inside the dim
 *   #  *  P    of sparse arrays: refused in an array, allowed in a layout alone
 */
#include "base/base.h"
#include "xla/validate.h"

/* ---- counts in a struct filled by hand, which would index outside its arrays ---- */

static tesela_status xla_check_counts(const tesela_xla_layout *layout, tesela__xla_fault *fault,
                                      tesela_error *err) {
  const struct {
    int32_t n, most;
    tesela__xla_field field;
    const char *what;
  } counts[] = {
      {layout->rank, TESELA_MAX_RANK, TESELA__XLA_ORDER, "order entries"},
      {layout->n_tiles, TESELA_XLA_MAX_TILES, TESELA__XLA_TILE, "tiles"},
      {layout->n_tile_numbers, TESELA_XLA_MAX_TILE_NUMBERS, TESELA__XLA_TILE, "tile extents"},
      {layout->n_splits, TESELA_XLA_MAX_SPLITS, TESELA__XLA_SPLIT, "split configs"},
      {layout->n_split_points, TESELA_XLA_MAX_SPLIT_POINTS, TESELA__XLA_SPLIT, "cut points"},
  };
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
    if (counts[i].n < 0 || counts[i].n > counts[i].most)
      return tesela__xla_refuse(fault, err, counts[i].field, TESELA__XLA_WHOLE, TESELA_E_LIMIT,
                                "%" PRId32 " %s; expected 0 to %" PRId32, counts[i].n, counts[i].what,
                                counts[i].most);
  return TESELA_OK;
}

/* ---- order, tiles, splits ---- */

static tesela_status xla_check_order(const tesela_xla_layout *layout, int32_t rank, tesela__xla_fault *fault,
                                     tesela_error *err) {
  uint32_t seen = 0;
  if (layout->rank != rank)
    return tesela__xla_refuse(fault, err, TESELA__XLA_ORDER, TESELA__XLA_WHOLE, TESELA_E_INVALID,
                              "the shape has %" PRId32 " dim%s, the order lists %" PRId32, rank,
                              rank == 1 ? "" : "s", layout->rank);
  for (int32_t i = 0; i < rank; i++) {
    int32_t dim = layout->minor_to_major[i];
    if (dim < 0 || dim >= rank)
      return tesela__xla_refuse(fault, err, TESELA__XLA_ORDER, i, TESELA_E_RANGE,
                                "the order lists dim %" PRId32 "; expected 0 to %" PRId32, dim, rank - 1);
    if (seen >> dim & 1)
      return tesela__xla_refuse(fault, err, TESELA__XLA_ORDER, i, TESELA_E_INVALID,
                                "the order lists dim %" PRId32 " twice", dim);
    seen |= (uint32_t)1 << dim;
  }
  return TESELA_OK;
}

static tesela_status xla_check_tiles(const tesela_xla_layout *layout, tesela__xla_fault *fault,
                                     tesela_error *err) {
  int32_t at = 0;
  for (int32_t k = 0; k < layout->n_tiles; k++) {
    int32_t n = layout->tile_rank[k];
    if (n < 1 || n > layout->n_tile_numbers - at)
      return tesela__xla_refuse(fault, err, TESELA__XLA_TILE, TESELA__XLA_WHOLE, TESELA_E_INVALID,
                                "tile %" PRId32 " has %" PRId32 " extents; the list has %" PRId32, k, n,
                                layout->n_tile_numbers - at);
    for (int32_t i = at; i < at + n; i++) {
      if (layout->tile[i] == TESELA_XLA_COMBINE && i < at + n - 1) continue;
      if (layout->tile[i] == TESELA_XLA_COMBINE)
        return tesela__xla_refuse(fault, err, TESELA__XLA_TILE, i, TESELA_E_INVALID,
                                  "* in the last place of a tile has no next dim to combine with");
      tesela_status status = tesela__xla_check_item(TESELA__XLA_TILE, i, layout->tile[i], fault, err);
      if (status != TESELA_OK) return status;
    }
    at += n;
  }
  if (at == layout->n_tile_numbers) return TESELA_OK;
  return tesela__xla_refuse(fault, err, TESELA__XLA_TILE, TESELA__XLA_WHOLE, TESELA_E_INVALID,
                            "%" PRId32 " tile extents without a tile", layout->n_tile_numbers - at);
}

static tesela_status xla_check_points(const tesela_xla_layout *layout, int32_t s, const int64_t *extent,
                                      tesela__xla_fault *fault, tesela_error *err) {
  const tesela_xla_split *split = &layout->split[s];
  int64_t before = 0;
  for (int32_t i = split->first; i < split->first + split->n_points; i++) {
    int64_t point = layout->split_point[i];
    tesela_status status = tesela__xla_check_item(TESELA__XLA_POINT, i, point, fault, err);
    if (status != TESELA_OK) return status;
    if (point <= before)
      return tesela__xla_refuse(fault, err, TESELA__XLA_POINT, i, TESELA_E_INVALID,
                                "cut point %" PRId64 " after %" PRId64 ": cut points must increase", point,
                                before);
    if (extent && *extent != TESELA_XLA_UNBOUNDED && point >= *extent)
      return tesela__xla_refuse(fault, err, TESELA__XLA_POINT, i, TESELA_E_RANGE,
                                "cut point %" PRId64 " of a dim of extent %" PRId64
                                "; expected a point inside the dim",
                                point, *extent);
    before = point;
  }
  return TESELA_OK;
}

/* `dim` are the logical dims, NULL for a layout alone. The order is valid. */
static tesela_status xla_check_splits(const tesela_xla_layout *layout, const int64_t *dim,
                                      tesela__xla_fault *fault, tesela_error *err) {
  uint32_t seen = 0;
  for (int32_t s = 0; s < layout->n_splits; s++) {
    const tesela_xla_split *split = &layout->split[s];
    if (split->dim < 0 || split->dim >= layout->rank)
      return tesela__xla_refuse(fault, err, TESELA__XLA_SPLIT, s, TESELA_E_RANGE,
                                "SC(%" PRId32 ":...) with %" PRId32 " physical dims, counted from 0",
                                split->dim, layout->rank);
    if (seen >> split->dim & 1)
      return tesela__xla_refuse(fault, err, TESELA__XLA_SPLIT, s, TESELA_E_INVALID,
                                "SC cuts physical dim %" PRId32 " twice", split->dim);
    if (split->first < 0 || split->n_points < 0 || split->first > layout->n_split_points - split->n_points)
      return tesela__xla_refuse(fault, err, TESELA__XLA_SPLIT, s, TESELA_E_INVALID,
                                "split config %" PRId32 " has cut points beyond the list", s);
    seen |= (uint32_t)1 << split->dim;
    const int64_t *extent = dim ? &dim[layout->minor_to_major[layout->rank - 1 - split->dim]] : NULL;
    tesela_status status = xla_check_points(layout, s, extent, fault, err);
    if (status != TESELA_OK) return status;
  }
  return TESELA_OK;
}

/* ---- the other attributes ---- */

static tesela_status xla_check_unsigned(tesela_dtype type, tesela__xla_field field, const char *what,
                                        tesela__xla_fault *fault, tesela_error *err) {
  if (type == TESELA_DTYPE_NONE || tesela_dtype_family_of(type) == TESELA_FAMILY_UNSIGNED) return TESELA_OK;
  const char *name = tesela_dtype_name(type);
  return tesela__xla_refuse(fault, err, field, TESELA__XLA_WHOLE, TESELA_E_INVALID,
                            "%s(%s): expected an unsigned type, such as u32", what, name ? name : "no type");
}

static tesela_status xla_check_attributes(const tesela_xla_layout *layout, tesela__xla_fault *fault,
                                          tesela_error *err) {
  const struct {
    tesela__xla_field field;
    int64_t value;
  } numbers[] = {
      {TESELA__XLA_TAIL, layout->tail},
      {TESELA__XLA_BITS, layout->element_bits},
      {TESELA__XLA_SPACE, layout->memory_space},
      {TESELA__XLA_METADATA, layout->metadata_bytes},
  };
  tesela_status status = TESELA_OK;
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && status == TESELA_OK; i++)
    status = tesela__xla_check_item(numbers[i].field, TESELA__XLA_WHOLE, numbers[i].value, fault, err);
  if (status == TESELA_OK)
    status = xla_check_unsigned(layout->index_type, TESELA__XLA_INDEX_TYPE, "#", fault, err);
  if (status == TESELA_OK)
    status = xla_check_unsigned(layout->pointer_type, TESELA__XLA_POINTER_TYPE, "*", fault, err);
  if (status == TESELA_OK && !memchr(layout->physical, '\0', sizeof layout->physical))
    status = tesela__xla_refuse(fault, err, TESELA__XLA_PHYSICAL, TESELA__XLA_WHOLE, TESELA_E_INVALID,
                                "the text of P(...) does not end in NUL");
  return status;
}

/* Refuse the attributes of sparse arrays, which XLA no longer has. */
static tesela_status xla_check_dense(const tesela_xla_layout *layout, tesela__xla_fault *fault,
                                     tesela_error *err) {
  const struct {
    bool there;
    tesela__xla_field field;
    const char *what;
  } sparse[] = {
      {layout->index_type != TESELA_DTYPE_NONE, TESELA__XLA_INDEX_TYPE, "#(...)"},
      {layout->pointer_type != TESELA_DTYPE_NONE, TESELA__XLA_POINTER_TYPE, "*(...)"},
      {layout->physical[0] != '\0', TESELA__XLA_PHYSICAL, "P(...)"},
  };
  for (size_t i = 0; i < sizeof sparse / sizeof sparse[0]; i++)
    if (sparse[i].there)
      return tesela__xla_refuse(fault, err, sparse[i].field, TESELA__XLA_WHOLE, TESELA_E_INVALID,
                                "%s belongs to sparse arrays; an array with dims is dense", sparse[i].what);
  return TESELA_OK;
}

/* ---- all checks ---- */

tesela_status tesela__xla_check_layout_of(const tesela_xla_layout *layout, int32_t rank, const int64_t *dim,
                                          tesela__xla_fault *fault, tesela_error *err) {
  tesela_status status = xla_check_counts(layout, fault, err);
  if (status == TESELA_OK) status = xla_check_order(layout, rank, fault, err);
  if (status == TESELA_OK) status = xla_check_tiles(layout, fault, err);
  if (status == TESELA_OK) status = xla_check_attributes(layout, fault, err);
  if (status == TESELA_OK && dim) status = xla_check_dense(layout, fault, err);
  if (status == TESELA_OK) status = xla_check_splits(layout, dim, fault, err);
  return status;
}
