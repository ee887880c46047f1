/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dma_space.c - is a box inside a space?
 */
#include "device/dma.h"

/* Is the coordinate of this tuple not below lo (if `low`) and below hi (if `high`)? `proper`: is it the coordinate's
 * tuple? */
static bool dma_within(const tesela__dma_space *space, const int64_t *tuple, bool proper, bool low,
                       bool high) {
  int64_t sum = 0, part;
  for (int32_t k = space->n - 1; k >= 0; k--) {
    if (!tesela__mul(tuple[k], space->step[k], &part) || !tesela__add(sum, part, &sum)) return false;
    if (proper && k > 0 && sum >= space->step[k - 1]) return false;
  }
  return (!low || sum >= space->lo) && (!high || sum < space->hi);
}

bool tesela__dma_inside(const tesela__dma_space *space, const int64_t *a, const int64_t *b) {
  if (!dma_within(space, b, true, false, true) || !dma_within(space, a, false, true, false)) return false;
  for (size_t i = 0; space->taken && i < space->taken->n; i++) {
    const int64_t *box = tesela__dma_box(space->taken, i);
    bool meets = true;
    for (int32_t k = 0; k < space->n && meets; k++)
      meets = a[k] < box[k] + box[space->n + k] && box[k] <= b[k];
    if (meets) return false;
  }
  return true;
}
