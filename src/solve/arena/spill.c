/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spill.c - a scratchpad: leave buffers out so that the rest fits and the lost weight is small.
 *
 * All may fit. If not: place buffers by weight per byte and step, each in a free gap; then swap buffers for lighter ones in
 * their way while that gains weight; then the exact search.
 */
#include "solve/arena/arena.h"

enum { SPILL_ORDERS = 3, SPILL_ROUNDS = 8 };

typedef struct spill_state {
  tesela__arena_problem *arena;
  int64_t capacity;
  tesela__arena_key *order, *scratch;
  int32_t *gone; /* items that a swap removed */
  tesela__arena_kept *kept;
} spill_state;

/* Place an item in a gap below the capacity. */
static bool spill_insert(spill_state *w, int32_t i, bool best) {
  tesela__arena_item *x = &w->arena->item[i];
  int64_t at = tesela__arena_gap(w->arena, i, best, w->scratch);
  if (at + x->size > w->capacity) return false;
  x->offset = at;
  return true;
}

static void spill_insert_all(spill_state *w, bool best) {
  for (int32_t k = 0; k < w->arena->n && w->arena->work < w->arena->limit; k++)
    if (w->arena->item[w->order[k].item].offset < 0) spill_insert(w, w->order[k].item, best);
}

/* Orders: weight per byte and step, weight per byte, weight. */
static void spill_order(spill_state *w, int32_t order) {
  tesela__arena_problem *a = w->arena;
  for (int32_t i = 0; i < a->n; i++) {
    const tesela__arena_item *x = &a->item[i];
    double worth = (double)x->weight;
    if (order <= 1) worth /= (double)x->size;
    if (order == 0) worth /= (double)(x->last - x->first);
    int64_t bits; /* non-negative doubles have the order of their bits */
    memcpy(&bits, &worth, sizeof bits);
    w->order[i] = (tesela__arena_key){-bits, i};
  }
  tesela__arena_sort(w->order, a->n);
}

/* The weight of item i's n neighbours in a->list that are in its way at an offset; INT64_MAX if one is fixed. */
static int64_t spill_in_the_way(const tesela__arena_problem *a, int32_t i, int32_t n, int64_t at) {
  int64_t weight = 0;
  for (int32_t k = 0; k < n; k++) {
    const tesela__arena_item *y = &a->item[a->list[k]];
    if (y->offset < 0 || y->offset >= at + a->item[i].size || y->offset + y->size <= at) continue;
    if (y->fixed >= 0) return INT64_MAX;
    weight += y->weight;
  }
  return weight;
}

/* Place item i instead of lighter ones, which may find another gap. */
static bool spill_swap(spill_state *w, int32_t i) {
  tesela__arena_problem *a = w->arena;
  tesela__arena_item *x = &a->item[i];
  int64_t found = -1, least = x->weight;
  int32_t near = tesela__arena_meeting(a, i);
  a->work += (int64_t)near * near;
  for (int32_t k = -1; k < near; k++) {
    const tesela__arena_item *y = k < 0 ? NULL : &a->item[a->list[k]];
    if (y && y->offset < 0) continue;
    int64_t at = tesela__arena_up(y ? y->offset + y->size : 0, x->alignment);
    int64_t weight = at + x->size > w->capacity ? INT64_MAX : spill_in_the_way(a, i, near, at);
    if (weight >= least) continue;
    least = weight;
    found = at;
  }
  if (found < 0) return false;
  int32_t n = 0;
  for (int32_t k = 0; k < near; k++) {
    tesela__arena_item *y = &a->item[a->list[k]];
    if (y->offset < 0 || y->offset >= found + x->size || y->offset + y->size <= found) continue;
    y->offset = -1;
    w->gone[n++] = a->list[k];
  }
  x->offset = found;
  for (int32_t k = 0; k < n; k++) spill_insert(w, w->gone[k], true);
  return true;
}

static void spill_greedy(spill_state *w) {
  tesela__arena_problem *a = w->arena;
  for (int32_t k = 0; k < 2 * SPILL_ORDERS && a->work < a->limit; k++) {
    spill_order(w, k / 2);
    for (int32_t i = 0; i < a->n; i++) a->item[i].offset = a->item[i].fixed;
    spill_insert_all(w, k % 2);
    bool more = true;
    for (int32_t round = 0; round < SPILL_ROUNDS && more; round++) {
      more = false;
      for (int32_t j = 0; j < a->n && a->work < a->limit; j++)
        if (a->item[w->order[j].item].offset < 0) more |= spill_swap(w, w->order[j].item);
    }
    tesela__arena_spill_keep(a, w->kept);
  }
}

/* ---- steps ------------------------------------------------------------------------------------------------- */

/* Plans in the order of time, without lists of neighbours. */
static tesela_status spill_sweeps(tesela__arena_problem *a, int64_t capacity, bool one,
                                  tesela__arena_kept *kept, tesela_error *err) {
  tesela_status status = TESELA_OK;
  for (int order = TESELA__ARENA_FORTH; order <= TESELA__ARENA_BACK && status == TESELA_OK; order++) {
    status = tesela__arena_sweep(a, (tesela__arena_sweep_order)order, capacity, err);
    if (status == TESELA_OK) tesela__arena_spill_keep(a, kept);
    if (one) break;
  }
  return status;
}

/* Greedy plans; then, with `fill`, add items that still fit into the best one. */
static tesela_status spill_place(tesela__arena_problem *a, int64_t capacity, bool fill,
                                 tesela__arena_kept *kept, tesela_error *err) {
  uint64_t most = (uint64_t)a->n + 1;
  spill_state w = {.arena = a, .capacity = capacity, .kept = kept};
  w.order = tesela__alloc(&a->memory, 2 * most * sizeof *w.order, alignof(tesela__arena_key));
  w.gone = tesela__alloc(&a->memory, most * sizeof *w.gone, alignof(int32_t));
  tesela_status status = TESELA_OK;
  if (!w.order || !w.gone) {
    status = tesela__fail(err, TESELA_E_MEMORY, -1, "no memory to order %" PRId32 " buffers", a->n);
  } else {
    w.scratch = w.order + most;
    if (!fill) {
      spill_greedy(&w);
    } else {
      for (int32_t i = 0; i < a->n; i++) a->item[i].offset = kept->offset[a->item[i].index];
      spill_order(&w, 0);
      spill_insert_all(&w, true);
      for (int32_t i = 0; i < a->n; i++) kept->offset[a->item[i].index] = a->item[i].offset;
    }
  }
  tesela__release(&a->memory, w.order);
  tesela__release(&a->memory, w.gone);
  return status;
}

static tesela_status spill_search(tesela__arena_problem *a, int32_t n, const tesela_arena_buffer *buffers,
                                  const tesela_arena_options *options, tesela__arena_kept *kept,
                                  tesela_error *err) {
  tesela__arena_answer answer = TESELA__ARENA_ENDED;
  int64_t all = 0;
  for (int32_t i = 0; i < a->n; i++) all += a->item[i].weight;
  tesela_status status = spill_sweeps(a, options->capacity, options->first_fit, kept, err);
  if (status != TESELA_OK || options->first_fit) return status;
  if (a->bound <= options->capacity)
    status = tesela__arena_spill_try(n, buffers, NULL, options, kept->limit / 4, kept, &answer, err);
  if (status != TESELA_OK || answer == TESELA__ARENA_FOUND) return status;
  a->limit = kept->limit / 4;
  status = spill_place(a, options->capacity, false, kept, err);
  kept->work += a->work;
  if (status == TESELA_OK && kept->weight < all)
    status = tesela__arena_spill_exact(n, buffers, options, kept, err);
  a->limit = TESELA__ARENA_ALL;
  return status == TESELA_OK ? spill_place(a, options->capacity, true, kept, err) : status;
}

/* ---- the answer -------------------------------------------------------------------------------------------- */

static tesela_status spill_answer(const tesela__arena_problem *a, int32_t n, tesela_arena_buffer *buffers,
                                  const tesela_arena_options *options, tesela__arena_kept *kept, bool *keep,
                                  tesela_arena_facts *facts, tesela_error *err) {
  tesela__arena_problem rest;
  for (int32_t i = 0; i < n; i++) keep[i] = kept->offset[i] >= 0;
  tesela_status status = tesela__arena_open(&rest, n, buffers, keep, options, err);
  if (status != TESELA_OK) return status;
  facts->live = rest.most_live;
  facts->bound = rest.bound;
  tesela__arena_close(&rest);
  for (int32_t i = 0; i < n; i++) facts->kept_weight += buffers[i].weight;
  for (int32_t i = 0; i < n; i++)
    buffers[i].offset = tesela__max(buffers[i].offset, 0); /* buffers without bytes */
  for (int32_t i = 0; i < a->n; i++) {
    const tesela__arena_item *x = &a->item[i];
    tesela_arena_buffer *b = &buffers[x->index];
    facts->total += x->size;
    b->offset = kept->offset[x->index];
    if (b->offset >= 0) {
      facts->peak = tesela__max(facts->peak, b->offset + b->size);
      continue;
    }
    b->offset = TESELA_ARENA_SPILLED;
    facts->n_spilled++;
    facts->spilled += b->size;
    facts->kept_weight -= b->weight;
  }
  int64_t all = facts->kept_weight;
  for (int32_t i = 0; i < a->n; i++)
    if (buffers[a->item[i].index].offset < 0) all += a->item[i].weight;
  facts->proven = kept->proven || facts->kept_weight == all;
  facts->effort = tesela__ceil_div(kept->work, TESELA__ARENA_STEP);
  return TESELA_OK;
}

tesela_status tesela__arena_spill(int32_t n, tesela_arena_buffer *buffers,
                                  const tesela_arena_options *options, int64_t limit,
                                  tesela_arena_facts *facts, tesela_error *err) {
  tesela__arena_problem a;
  tesela__arena_kept kept = {.n = n, .weight = -1, .limit = limit};
  tesela_status status = tesela__arena_open(&a, n, buffers, NULL, options, err);
  if (status != TESELA_OK) return status;
  bool *keep = tesela__alloc(&a.memory, (uint64_t)n, 1);
  kept.offset = tesela__alloc(&a.memory, (uint64_t)n * sizeof *kept.offset, alignof(int64_t));
  if (!keep || !kept.offset)
    status = tesela__fail(err, TESELA_E_MEMORY, -1, "no memory to plan %" PRId32 " buffers", n);
  for (int32_t i = 0; i < n && status == TESELA_OK; i++) kept.offset[i] = -1;
  if (status == TESELA_OK) status = tesela__arena_sweep(&a, TESELA__ARENA_FORTH, INT64_MAX, err);
  if (status == TESELA_OK) {
    tesela__arena_keep(&a);
    facts->first_fit = a.best_peak;
    status = spill_search(&a, n, buffers, options, &kept, err);
  }
  if (status == TESELA_OK) status = tesela__arena_stopped(options, err);
  if (status == TESELA_OK) status = spill_answer(&a, n, buffers, options, &kept, keep, facts, err);
  tesela__release(&a.memory, kept.offset);
  tesela__release(&a.memory, keep);
  tesela__arena_close(&a);
  return status;
}
