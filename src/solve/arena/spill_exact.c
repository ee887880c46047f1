/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spill_exact.c - the heaviest subset of buffers that fits, by branch and bound.
 *
 * Buffers are decided one after another, heavy ones first: in, then out. A branch ends when the chosen buffers do not fit, or
 * when the rest cannot beat the best. The bound: in each section the remaining room holds at most the densest undecided
 * buffers, the last one in part.
 */
#include "solve/arena/arena.h"

typedef struct exact_state {
  tesela__arena_problem *arena; /* all candidates */
  int64_t capacity;
  int32_t *turn, *dense; /* items by weight; by weight a byte */
  int8_t *state;         /* by item: EXACT_* */
  int64_t *room;         /* by section */
  int64_t *lost, *cut;   /* by section: undecided weight, and the part of it that fits */
  bool *keep;            /* by the caller's buffer */
  int64_t in, open;      /* weight of chosen items; of undecided ones */
  int32_t n;
} exact_state;

enum { EXACT_OPEN, EXACT_IN, EXACT_OUT };

static void exact_move(exact_state *x, int32_t i, int8_t state) {
  const tesela__arena_item *item = &x->arena->item[i];
  int64_t sign = (state == EXACT_IN) - (x->state[i] == EXACT_IN);
  for (int32_t t = item->first; t < item->last; t++) x->room[t] -= sign * item->size;
  x->in += sign * item->weight;
  x->open += ((state == EXACT_OPEN) - (x->state[i] == EXACT_OPEN)) * item->weight;
  x->keep[item->index] = state == EXACT_IN;
  x->state[i] = state;
}

static bool exact_has_room(const exact_state *x, int32_t i) {
  const tesela__arena_item *item = &x->arena->item[i];
  for (int32_t t = item->first; t < item->last; t++)
    if (x->room[t] < item->size) return false;
  return true;
}

/* An upper bound on the weight that a plan on this branch keeps. */
static int64_t exact_most(exact_state *x, int64_t *work) {
  const tesela__arena_problem *a = x->arena;
  int64_t loss = 0;
  memset(x->lost, 0, (size_t)a->n_sections * sizeof *x->lost);
  memcpy(x->cut, x->room, (size_t)a->n_sections * sizeof *x->cut);
  for (int32_t k = 0; k < x->n; k++) {
    if (x->state[x->dense[k]] != EXACT_OPEN) continue;
    const tesela__arena_item *item = &a->item[x->dense[k]];
    *work += item->last - item->first;
    for (int32_t t = item->first; t < item->last; t++) {
      int64_t room = tesela__max(x->cut[t], 0);
      if (room <
          item->size) { /* a little more than the exact part, so that it stays a bound; weights are whole */
        double part = (double)item->weight * ((double)room / (double)item->size) * (1 + 1e-9);
        x->lost[t] += item->weight - tesela__min((int64_t)part, item->weight);
      }
      x->cut[t] = room - item->size;
    }
  }
  *work += x->n + a->n_sections;
  for (int32_t t = 0; t < a->n_sections; t++) loss = tesela__max(loss, x->lost[t]);
  return x->in + x->open - loss;
}

/* Are the chosen items part of the best plan? Then they fit. */
static bool exact_is_within(const exact_state *x, const tesela__arena_kept *kept) {
  for (int32_t k = 0; k < x->n; k++)
    if (x->state[x->turn[k]] == EXACT_IN && kept->offset[x->arena->item[x->turn[k]].index] < 0) return false;
  return true;
}

/* Do the chosen items fit, after item i was added? Unknown counts as yes, and ends the proof. */
static tesela_status exact_fits(exact_state *x, int32_t n, const tesela_arena_buffer *buffers,
                                const tesela_arena_options *options, tesela__arena_kept *kept, bool *fits,
                                tesela_error *err) {
  tesela__arena_answer answer = TESELA__ARENA_FOUND;
  tesela_status status = TESELA_OK;
  if (!exact_is_within(x, kept)) {
    int64_t share = tesela__max((kept->limit - kept->work) / 8, 1);
    status = tesela__arena_spill_try(n, buffers, x->keep, options, share, kept, &answer, err);
  }
  *fits = answer != TESELA__ARENA_NONE;
  if (answer == TESELA__ARENA_ENDED) kept->proven = false;
  return status;
}

static tesela_status exact_run(exact_state *x, int32_t n, const tesela_arena_buffer *buffers,
                               const tesela_arena_options *options, tesela__arena_kept *kept,
                               tesela_error *err) {
  int32_t depth = 0;
  bool back = false; /* the branch ended: change the last decision for `in` */
  kept->proven = true;
  for (;;) {
    x->arena->work = kept->work; /* all work is counted in `kept` */
    if (kept->work >= kept->limit || tesela__arena_spent(x->arena, TESELA__ARENA_ALL)) {
      kept->proven = false;
      return TESELA_OK;
    }
    if (!back && (depth == x->n || exact_most(x, &kept->work) <= kept->weight)) back = true;
    if (back) {
      for (; depth > 0 && x->state[x->turn[depth - 1]] == EXACT_OUT; depth--)
        exact_move(x, x->turn[depth - 1], EXACT_OPEN);
      if (depth == 0) return TESELA_OK;
      exact_move(x, x->turn[depth - 1], EXACT_OUT);
      back = false;
      continue;
    }
    int32_t i = x->turn[depth++];
    if (!exact_has_room(x, i)) {
      exact_move(x, i, EXACT_OUT);
      continue;
    }
    exact_move(x, i, EXACT_IN);
    bool fits;
    tesela_status status = exact_fits(x, n, buffers, options, kept, &fits, err);
    if (status != TESELA_OK) return status;
    back = !fits;
  }
}

/* Fixed items are in; items of weight 0 stay out. */
static void exact_start(exact_state *x, tesela__arena_key *keys) {
  const tesela__arena_problem *a = x->arena;
  for (int32_t t = 0; t < a->n_sections; t++) x->room[t] = x->capacity;
  for (int32_t i = 0; i < a->n; i++) {
    x->state[i] = EXACT_OUT;
    if (a->item[i].fixed >= 0) exact_move(x, i, EXACT_IN);
    if (a->item[i].fixed >= 0 || a->item[i].weight == 0) continue;
    keys[x->n++] = (tesela__arena_key){-a->item[i].weight, i};
  }
  tesela__arena_sort(keys, x->n);
  for (int32_t k = 0; k < x->n; k++) {
    double worth = (double)a->item[keys[k].item].weight / (double)a->item[keys[k].item].size;
    x->turn[k] = keys[k].item;
    exact_move(x, x->turn[k], EXACT_OPEN);
    memcpy(&keys[k].key, &worth, sizeof worth); /* non-negative doubles have the order of their bits */
    keys[k].key = -keys[k].key;
  }
  tesela__arena_sort(keys, x->n);
  for (int32_t k = 0; k < x->n; k++) x->dense[k] = keys[k].item;
}

tesela_status tesela__arena_spill_exact(int32_t n, const tesela_arena_buffer *buffers,
                                        const tesela_arena_options *options, tesela__arena_kept *kept,
                                        tesela_error *err) {
  tesela__arena_problem a;
  tesela_status status = tesela__arena_open(&a, n, buffers, NULL, options, err);
  if (status != TESELA_OK) return status;
  uint64_t most = (uint64_t)a.n + 1;
  exact_state x = {.arena = &a, .capacity = options->capacity};
  x.turn = tesela__alloc(&a.memory, 2 * most * sizeof *x.turn, alignof(int32_t));
  x.state = tesela__alloc(&a.memory, most, 1);
  x.room = tesela__alloc(&a.memory, 3 * most * sizeof *x.room, alignof(int64_t));
  x.keep = tesela__alloc(&a.memory, (uint64_t)n, 1);
  tesela__arena_key *keys = tesela__alloc(&a.memory, most * sizeof *keys, alignof(tesela__arena_key));
  if (x.turn && x.state && x.room && x.keep && keys) {
    x.dense = x.turn + most;
    x.lost = x.room + most;
    x.cut = x.lost + most;
    memset(x.keep, 0, (size_t)n);
    exact_start(&x, keys);
    status = exact_run(&x, n, buffers, options, kept, err);
  } else {
    status = tesela__fail(err, TESELA_E_MEMORY, -1, "no memory to choose among %" PRId32 " buffers", n);
  }
  tesela__release(&a.memory, keys);
  tesela__release(&a.memory, x.keep);
  tesela__release(&a.memory, x.room);
  tesela__release(&a.memory, x.state);
  tesela__release(&a.memory, x.turn);
  tesela__arena_close(&a);
  return status;
}
