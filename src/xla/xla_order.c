/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla_order.c - queries of the order of the dims.
 */
#include "xla/xla.h"

#include "base/base.h"

bool tesela_xla_is_descending(const tesela_xla_layout *layout) {
  if (!layout) return false;
  for (int32_t i = 0; i < layout->rank; i++)
    if (layout->minor_to_major[i] != layout->rank - 1 - i) return false;
  return true;
}

bool tesela_xla_is_ascending(const tesela_xla_layout *layout) {
  if (!layout) return false;
  for (int32_t i = 0; i < layout->rank; i++)
    if (layout->minor_to_major[i] != i) return false;
  return true;
}

int32_t tesela_xla_minor(const tesela_xla_layout *layout, int32_t p) {
  return layout && p >= 0 && p < layout->rank ? layout->minor_to_major[p] : -1;
}

int32_t tesela_xla_major(const tesela_xla_layout *layout, int32_t p) {
  return layout ? tesela_xla_minor(layout, layout->rank - 1 - p) : -1;
}

void tesela_xla_logical_to_physical(const tesela_xla_layout *layout, int32_t *position) {
  if (!layout || !position) return;
  for (int32_t p = 0; p < layout->rank; p++) position[tesela_xla_major(layout, p)] = p;
}

bool tesela_xla_are_consecutive(const tesela_xla_layout *layout, int32_t n, const int32_t *dims) {
  if (!layout || (n > 0 && !dims)) return false;
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
