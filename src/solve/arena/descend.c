/* SPDX-License-Identifier: Apache-2.0 */
/*
 * descend.c - the tops below which evict.c searches for a plan, and its limits.
 *
 * The top starts at the best known plan and moves a part of the way to the bound each time that all items are below it.
 * A top that takes too long is replaced by one half way back to the best plan; once both are adjacent, the search
 * starts again from the best plan, with more work for each top.
 */
#include "solve/arena/evict.h"

enum { DESCEND_STEP = 8, DESCEND_NEAR = 2048, DESCEND_TRIES = 24 };

/* Multiples of the unit, below the best peak. */
static int64_t descend_top(const tesela__arena_problem *a, int64_t lowest, int64_t step) {
  int64_t top = a->best_peak - tesela__max((a->best_peak - lowest) / step, 1);
  return tesela__max(top / a->unit * a->unit, lowest);
}

static void descend_from_best(tesela__arena_evict *e) {
  const tesela__arena_problem *a = e->arena;
  for (int32_t i = 0; i < a->n; i++) e->place[i] = (tesela__arena_lies){a->best[i], a->item[i].size};
}

static void descend_keep(const tesela__arena_evict *e) {
  tesela__arena_problem *a = e->arena;
  for (int32_t i = 0; i < a->n; i++) a->item[i].offset = e->place[i].offset;
  tesela__arena_keep(a);
}

tesela_status tesela__arena_descend(tesela__arena_problem *a, int64_t capacity, int64_t until,
                                    tesela_error *err) {
  tesela__arena_evict e;
  if (a->n == 0 || a->best_peak <= a->bound || a->work >= until) return TESELA_OK;
  if (!tesela__arena_evict_open(&e, a))
    return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory to improve a plan of %" PRId32 " buffers", a->n);
  int64_t lowest = tesela__max(capacity, a->bound), patience = (until - a->work) / DESCEND_TRIES;
  int64_t top = capacity > 0 ? lowest : descend_top(a, lowest, DESCEND_STEP);
  descend_from_best(&e);
  while (a->best_peak > lowest && !tesela__arena_spent(a, until)) {
    int64_t most = patience < until - a->work ? a->work + patience : until;
    if (tesela__arena_evict_below(&e, top, most)) {
      descend_keep(&e);
      top = descend_top(a, lowest, DESCEND_STEP);
      continue;
    }
    if (capacity > 0) continue;
    int64_t back = (top + (a->best_peak - top) / 2) / a->unit * a->unit;
    if (back > top && a->best_peak - back > a->best_peak / DESCEND_NEAR) {
      top = back;
      continue;
    }
    descend_from_best(&e);
    top = descend_top(a, lowest, DESCEND_STEP);
    patience += patience / 2;
  }
  tesela__arena_evict_close(&e);
  return TESELA_OK;
}
