/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dma_bound.c - a lower bound on boxes: tuples of which no two fit into one box.
 *
 * Two tuples fit into one box if the box that they span is inside the space (dma.h describes the test). A set without
 * such a pair needs one box per tuple. It is chosen greedily among corners of the given boxes, first the maximal tuples
 * of the space. If coordinates start at 0, no two of those fit into one box.
 */
#include "device/dma.h"

enum { DMA_BOUND_BOXES = 1024, DMA_FEW = 100, DMA_CORNERS = 16, DMA_ORDERS = 4 };

/* Do two tuples fit into one box? */
static bool dma_together(const tesela__dma_space *space, const int64_t *x, const int64_t *y) {
  int64_t low[TESELA__DMA_DIGITS], high[TESELA__DMA_DIGITS];
  for (int32_t k = 0; k < space->n; k++) {
    low[k] = tesela__min(x[k], y[k]);
    high[k] = tesela__max(x[k], y[k]);
  }
  return tesela__dma_inside(space, low, high);
}

/* Is the tuple maximal (by = 1) or minimal (by = -1) in the space, in each digit? */
static bool dma_extreme(const tesela__dma_space *space, const int64_t *tuple, int64_t by) {
  int64_t next[TESELA__DMA_DIGITS];
  memcpy(next, tuple, (size_t)space->n * sizeof *next);
  for (int32_t k = 0; k < space->n; k++) {
    next[k] += by;
    if (next[k] >= 0 && tesela__dma_inside(space, next, next)) return false;
    next[k] -= by;
  }
  return true;
}

/* Corner `which` of a box: bits 0 to 2 put the first three digits with more than one value at their end, bit 3 the
 * others. */
static void dma_corner(int64_t *tuple, const int64_t *box, int32_t n, unsigned which) {
  unsigned bit = 0;
  for (int32_t k = 0; k < n; k++) {
    bool end = (which >> bit & 1u) != 0;
    if (box[n + k] > 1 && bit < 3) bit++;
    tuple[k] = end ? box[k] + box[n + k] - 1 : box[k];
  }
}

typedef struct dma_pick {
  int64_t *tuple; /* tuples of the set */
  int32_t n, most;
} dma_pick;

/* Add a tuple unless it fits into one box with another one of the set. */
static void dma_offer(dma_pick *pick, const tesela__dma_space *space, const int64_t *tuple) {
  size_t width = (size_t)space->n;
  if (pick->n == pick->most) return;
  for (int32_t i = 0; i < pick->n; i++)
    if (dma_together(space, tuple, pick->tuple + (size_t)i * width)) return;
  memcpy(pick->tuple + (size_t)pick->n++ * width, tuple, width * sizeof *tuple);
}

/* One pass: extreme ends, extreme starts, then all corners; or in other orders. */
static void dma_pass(dma_pick *pick, const tesela__dma_space *space, const tesela__dma_boxes *boxes,
                     int32_t order) {
  int64_t tuple[TESELA__DMA_DIGITS];
  pick->n = 0;
  for (int32_t turn = 0; turn < 2; turn++) {
    bool ends = (turn == 0) == (order % 2 == 0);
    for (int32_t i = 0; i < pick->most && order < 3; i++) {
      dma_corner(tuple, tesela__dma_box(boxes, (size_t)i), space->n, ends ? DMA_CORNERS - 1 : 0);
      if (dma_extreme(space, tuple, ends ? 1 : -1)) dma_offer(pick, space, tuple);
    }
    if (order == 2) break;
  }
  unsigned by =
      pick->most > DMA_FEW ? DMA_CORNERS - 1 : 1; /* many boxes: only the first and the last corner */
  for (unsigned which = 0; which < DMA_CORNERS; which += by)
    for (int32_t i = 0; i < pick->most; i++) {
      dma_corner(tuple, tesela__dma_box(boxes, (size_t)i), space->n,
                 order % 2 ? which : DMA_CORNERS - 1 - which);
      dma_offer(pick, space, tuple);
    }
}

tesela_status tesela__dma_bound(tesela__dma_bounds *bounds, const tesela__dma_space *space,
                                tesela__dma_boxes *boxes, const tesela_allocator *allocator,
                                tesela_error *err) {
  bounds->apart = bounds->least = boxes->n > 0;
  if (boxes->n <= 1 || space->n == 0) return TESELA_OK;
  dma_pick pick = {.most = boxes->n < DMA_BOUND_BOXES ? (int32_t)boxes->n : DMA_BOUND_BOXES}, best = pick;
  uint64_t bytes = (uint64_t)pick.most * (uint64_t)space->n * sizeof *pick.tuple;
  pick.tuple = tesela__alloc(allocator, 2 * bytes, alignof(int64_t));
  if (!pick.tuple)
    return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for a bound of %" PRIu64 " bytes", 2 * bytes);
  best.tuple = pick.tuple + (size_t)pick.most * (size_t)space->n;
  for (int32_t order = 0; order < DMA_ORDERS && best.n < pick.most; order++) {
    dma_pass(&pick, space, boxes, order);
    if (pick.n <= best.n) continue;
    memcpy(best.tuple, pick.tuple, (size_t)bytes);
    best.n = pick.n;
  }
  bounds->apart = best.n;
  tesela_status status = tesela__dma_search(&bounds->least, space, boxes, best.n, best.tuple, allocator, err);
  tesela__release(allocator, pick.tuple);
  return status;
}
