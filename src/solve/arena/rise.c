/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rise.c - place from the bottom up: the next buffer is the one with the lowest possible offset, of equal ones the most urgent.
 *
 * A buffer is placed above all of its placed neighbours, so gaps below are never filled; but few remain, since buffers that fit
 * lower are placed earlier. Buffers wait in a heap by their possible offset, which only grows. O(pairs log n).
 */
#include "solve/arena/arena.h"

typedef struct rise_state {
  tesela__arena_problem *arena;
  int64_t *low;       /* by item: its possible offset */
  int32_t *rank;      /* by item: its rank among items of one offset */
  int32_t *heap, *at; /* items; the position of each in the heap */
  int32_t n;
} rise_state;

static bool rise_before(const rise_state *r, int32_t i, int32_t j) {
  return r->low[i] != r->low[j] ? r->low[i] < r->low[j] : r->rank[i] < r->rank[j];
}

/* Restore the heap below a position. */
static void rise_sink(rise_state *r, int32_t at) {
  int32_t moved = r->heap[at];
  for (int32_t child; (child = 2 * at + 1) < r->n; at = child) {
    if (child + 1 < r->n && rise_before(r, r->heap[child + 1], r->heap[child])) child++;
    if (!rise_before(r, r->heap[child], moved)) break;
    r->heap[at] = r->heap[child];
    r->at[r->heap[at]] = at;
  }
  r->heap[at] = moved;
  r->at[moved] = at;
}

static bool rise_run(rise_state *r, int64_t limit, int64_t until) {
  tesela__arena_problem *a = r->arena;
  for (int32_t k = 0; k < a->n; k++) r->at[r->heap[k]] = k;
  for (int32_t k = a->n / 2; k-- > 0;) rise_sink(r, k);
  for (; r->n > 0; r->n--) {
    int32_t i = r->heap[0];
    tesela__arena_item *x = &a->item[i];
    int64_t top = r->low[i] + x->size;
    if (top >= limit || tesela__arena_spent(a, until)) return false;
    x->offset = r->low[i];
    int32_t m = tesela__arena_meeting(a, i);
    for (int32_t k = 0; k < m; k++) {
      int32_t j = a->list[k];
      if (a->item[j].offset >= 0 || a->item[j].fixed >= 0 || r->low[j] >= top) continue;
      r->low[j] = tesela__arena_past_fixed(a, j, top);
      rise_sink(r, r->at[j]);
    }
    a->work += 4 * m + 32;
    r->heap[0] = r->heap[r->n - 1];
    r->at[r->heap[0]] = 0;
    if (r->n > 1) {
      r->n--;
      rise_sink(r, 0);
      r->n++;
    }
  }
  return true;
}

tesela_status tesela__arena_rise(tesela__arena_problem *a, const tesela__arena_key *order, int64_t limit,
                                 int64_t until, bool *good, tesela_error *err) {
  uint64_t most = (uint64_t)a->n + 1;
  rise_state r = {.arena = a, .n = a->n};
  r.low = tesela__alloc(&a->memory, most * sizeof *r.low, alignof(int64_t));
  r.rank = tesela__alloc(&a->memory, 3 * most * sizeof *r.rank, alignof(int32_t));
  tesela_status status = TESELA_OK;
  if (r.low && r.rank) {
    r.heap = r.rank + most;
    r.at = r.heap + most;
    for (int32_t k = 0; k < a->n; k++) {
      int32_t i = order[k].item;
      a->item[i].offset = -1;
      r.rank[i] = k;
      r.heap[k] = i;
      r.low[i] = a->item[i].fixed >= 0 ? a->item[i].fixed : tesela__arena_past_fixed(a, i, 0);
    }
    *good = rise_run(&r, limit, until);
  } else {
    status = tesela__fail(err, TESELA_E_MEMORY, -1, "no memory to place %" PRId32 " buffers", a->n);
  }
  tesela__release(&a->memory, r.rank);
  tesela__release(&a->memory, r.low);
  return status;
}
