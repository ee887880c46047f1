/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla_order.c - questions about the order of the dims, and whether tiles change anything.
 */
#include "xla/xla.h"

#include "base/base.h"

bool tesela_xla_is_descending(const tesela_xla_layout *layout) {
  for (int32_t i = 0; i < layout->rank; i++)
    if (layout->minor_to_major[i] != layout->rank - 1 - i) return false;
  return true;
}

bool tesela_xla_is_ascending(const tesela_xla_layout *layout) {
  for (int32_t i = 0; i < layout->rank; i++)
    if (layout->minor_to_major[i] != i) return false;
  return true;
}

int32_t tesela_xla_minor(const tesela_xla_layout *layout, int32_t p) {
  return p >= 0 && p < layout->rank ? layout->minor_to_major[p] : -1;
}

int32_t tesela_xla_major(const tesela_xla_layout *layout, int32_t p) {
  return tesela_xla_minor(layout, layout->rank - 1 - p);
}

void tesela_xla_logical_to_physical(const tesela_xla_layout *layout, int32_t *position) {
  for (int32_t p = 0; p < layout->rank; p++) position[tesela_xla_major(layout, p)] = p;
}

bool tesela_xla_are_consecutive(const tesela_xla_layout *layout, int32_t n, const int32_t *dims) {
  int32_t position[TESELA_MAX_RANK], low = INT32_MAX;
  uint32_t there = 0;
  if (n == 0) return true;
  tesela_xla_logical_to_physical(layout, position);
  for (int32_t k = 0; k < n; k++) {
    if (dims[k] < 0 || dims[k] >= layout->rank) return false;
    int32_t p = position[dims[k]];
    if (there >> p & 1) return false;
    there |= (uint32_t)1 << p;
    low = p < low ? p : low;
  }
  there >>= low; /* n different positions are neighbours if they are the lowest n bits */
  return (there & (there + 1)) == 0;
}

/* Compare a shape with the same one without tiles, both without L. */
static tesela_status compare_untiled(const tesela_xla_shape *shape, tesela_difference *difference,
                                     tesela_error *err) {
  tesela_xla_shape plain = *shape;
  tesela_layout tiled, untiled;
  plain.layout.tail = 1;
  tesela_status status = tesela_xla_to_layout(&plain, &tiled, err);
  tesela_xla_clear_tiles(&plain.layout);
  if (status == TESELA_OK) status = tesela_xla_to_layout(&plain, &untiled, err);
  return status == TESELA_OK ? tesela_layout_compare(&tiled, &untiled, difference, err) : status;
}

tesela_status tesela__xla_in_order(const tesela_xla_shape *shape, bool *in_order, tesela_error *err) {
  tesela_difference difference;
  tesela_status status = compare_untiled(shape, &difference, err);
  if (status == TESELA_OK) *in_order = difference.same;
  return status;
}

tesela_status tesela_xla_is_untiled(const tesela_xla_shape *shape, bool *untiled, tesela_error *err) {
  tesela_difference difference;
  tesela_status status = compare_untiled(shape, &difference, err);
  if (status == TESELA_OK) *untiled = difference.same && difference.same_extent;
  return status;
}
