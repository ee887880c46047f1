/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.c - first fit in the order of time, like an allocator at run time: O(log n) per buffer, however many live.
 *
 * Holes are kept in a tree by offset; the last one has no end. Fixed buffers are not carved out of holes: the search for a
 * buffer's offset steps over those that live together with it, now or later.
 */
#include "solve/arena/arena.h"

enum {
  SWEEP_FIXED_TURNS = 1 << 27
}; /* limit on n * n_fixed; beyond it, buffers are placed above all fixed ones */

typedef struct sweep_state {
  tesela__arena_problem *arena;
  tesela__arena_tree holes;
  int64_t capacity, base;
} sweep_state;

/* Remove [at, at + size) from a hole. */
static void sweep_carve(sweep_state *w, int32_t hole, int64_t at, int64_t size) {
  int64_t start = w->holes.node[hole].start, end = w->holes.node[hole].end;
  tesela__arena_tree_remove(&w->holes, hole);
  if (start < at) tesela__arena_tree_insert(&w->holes, start, at, -1);
  if (at + size < end) tesela__arena_tree_insert(&w->holes, at + size, end, -1);
}

/* Give [start, end) back, joined with the holes it touches. */
static void sweep_give_back(sweep_state *w, int64_t start, int64_t end) {
  int32_t before = tesela__arena_tree_before(&w->holes, start),
          after = tesela__arena_tree_next(&w->holes, before);
  if (after >= 0 && w->holes.node[after].start == end) {
    end = w->holes.node[after].end;
    tesela__arena_tree_remove(&w->holes, after);
  }
  if (before >= 0 && w->holes.node[before].end == start) {
    start = w->holes.node[before].start;
    tesela__arena_tree_remove(&w->holes, before);
  }
  tesela__arena_tree_insert(&w->holes, start, end, -1);
}

/* The last hole from `hole` on that ends before the hole of an offset: no hole up to it has room there. */
static int32_t sweep_in_front(const sweep_state *w, int32_t hole, int64_t at) {
  int64_t least = w->holes.node[hole].start;
  int32_t there = tesela__arena_tree_before(&w->holes, at);
  return w->holes.node[there].start > least
             ? tesela__arena_tree_before(&w->holes, w->holes.node[there].start - 1)
             : hole;
}

static void sweep_take(sweep_state *w, int32_t i) {
  tesela__arena_item *x = &w->arena->item[i];
  x->offset = x->fixed;
  if (x->fixed >= 0) return;
  int64_t at = w->base;
  int32_t hole = -1, next = 0;
  while ((hole = tesela__arena_tree_fit(&w->holes, hole, x->size)) >= 0) {
    at = tesela__arena_up(tesela__max(w->holes.node[hole].start, at), x->alignment);
    if (w->base == 0) at = tesela__arena_past_more_fixed(w->arena, i, at, &next);
    w->arena->work++;
    if (at + x->size > w->capacity) return;
    if (at + x->size > w->holes.node[hole].end) {
      hole = sweep_in_front(w, hole, at);
      continue;
    }
    sweep_carve(w, hole, at, x->size);
    x->offset = at;
    return;
  }
}

/* starts: keys of the starts of items; ends: keys of their ends, at most the start keys of items that they do not meet. */
static void sweep_run(sweep_state *w, const tesela__arena_key *starts, const tesela__arena_key *ends,
                      tesela__arena_sweep_order order) {
  tesela__arena_problem *a = w->arena;
  bool back = order == TESELA__ARENA_BACK;
  tesela__arena_tree_insert(&w->holes, 0, INT64_MAX, -1);
  for (int32_t s = 0, e = 0; s < a->n; s++) {
    const tesela__arena_item *x = &a->item[starts[s].item];
    int64_t now = back ? -(int64_t)x->last : x->first;
    for (; ends[e].key <= now; e++) {
      const tesela__arena_item *gone = &a->item[ends[e].item];
      if (gone->fixed < 0 && gone->offset >= 0) sweep_give_back(w, gone->offset, gone->offset + gone->size);
    }
    sweep_take(w, starts[s].item);
  }
}

static void sweep_keys(const tesela__arena_problem *a, tesela__arena_sweep_order order,
                       tesela__arena_key *starts, tesela__arena_key *ends) {
  for (int32_t i = 0; i < a->n; i++) { /* of items that begin together, large ones first */
    const tesela__arena_item *x = &a->item[i];
    starts[i] = (tesela__arena_key){-x->size, i};
    ends[i] = (tesela__arena_key){order == TESELA__ARENA_BACK ? -(int64_t)x->first : x->last, i};
  }
  tesela__arena_sort(ends, a->n);
  if (order == TESELA__ARENA_FORTH) {
    for (int32_t i = 0; i < a->n; i++) starts[i] = (tesela__arena_key){a->item[i].index, i};
  }
  tesela__arena_sort(starts, a->n);
}

/* The second sort, by time; it must keep the order of the first, so the place breaks ties. */
static void sweep_by_time(const tesela__arena_problem *a, tesela__arena_sweep_order order,
                          tesela__arena_key *starts, int32_t *turn) {
  for (int32_t k = 0; k < a->n; k++) turn[k] = starts[k].item;
  for (int32_t k = 0; k < a->n; k++) {
    const tesela__arena_item *x = &a->item[turn[k]];
    int64_t at = order == TESELA__ARENA_FORTH         ? x->lower
                 : order == TESELA__ARENA_FORTH_LARGE ? x->first
                                                      : -(int64_t)x->last;
    starts[k] = (tesela__arena_key){at, k};
  }
  tesela__arena_sort(starts, a->n);
  for (int32_t k = 0; k < a->n; k++) starts[k].item = turn[starts[k].item];
}

tesela_status tesela__arena_sweep(tesela__arena_problem *a, tesela__arena_sweep_order order, int64_t capacity,
                                  tesela_error *err) {
  sweep_state w = {.arena = a, .capacity = capacity};
  uint64_t most = (uint64_t)a->n + 1;
  tesela_status status = TESELA_OK;
  tesela__arena_key *keys = tesela__alloc(&a->memory, 2 * most * sizeof *keys, alignof(tesela__arena_key));
  int32_t *turn = tesela__alloc(&a->memory, most * sizeof *turn, alignof(int32_t));
  if ((int64_t)a->n * a->n_fixed > SWEEP_FIXED_TURNS)
    for (int32_t k = 0; k < a->n_fixed; k++)
      w.base = tesela__max(w.base, a->item[a->fixed[k]].fixed + a->item[a->fixed[k]].size);
  if (keys && turn && tesela__arena_tree_open(&w.holes, a->n + 2, &a->memory)) {
    sweep_keys(a, order, keys, keys + most);
    sweep_by_time(a, order, keys, turn);
    sweep_run(&w, keys, keys + most, order);
    a->work += a->n;
  } else {
    status = tesela__fail(err, TESELA_E_MEMORY, -1, "no memory to plan %" PRId32 " buffers", a->n);
  }
  tesela__release(&a->memory, w.holes.node);
  tesela__release(&a->memory, turn);
  tesela__release(&a->memory, keys);
  return status;
}
