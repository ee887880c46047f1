/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rounds.c - the capacities to search for, the orders of candidates, and the limits.
 *
 * A search may never recover from one early wrong decision, so there are many short searches, each with another order, and
 * gradually longer ones; counts of failures by section are kept. Without a capacity, the minimal peak is between the bound and
 * the best plan: a cycle of rounds first asks for the bound itself, then bisects between the last peak that was not found and
 * the best plan, until both are adjacent; then the cycle repeats with more work. A search that ends without a plan raises the
 * bound.
 */
#include "solve/arena/arena.h"

enum { ROUNDS_FIRST = 1000 * TESELA__ARENA_STEP, ROUNDS_CYCLE = 2 * TESELA__ARENA_ORDERS };

typedef struct rounds_state {
  tesela__arena_problem *arena;
  tesela__arena_search *search;
  tesela__arena_key *order;
  int64_t limit, missed; /* missed: the highest peak that no search reached since `limit` last grew, or -1 */
  int32_t round;
} rounds_state;

/* Each decision examines the remaining items, half of all on average. */
int64_t tesela__arena_rounds_straight(const tesela__arena_problem *a) {
  int64_t look = 0;
  for (int32_t i = 0; i < a->n; i++) look += 2 + a->item[i].last - a->item[i].first;
  return look / 2 * a->n; /* below 2^60 */
}

/* The target of the next rounds without a capacity, a multiple of the unit like all peaks. */
static int64_t rounds_target(rounds_state *r) {
  const tesela__arena_problem *a = r->arena;
  int64_t below = (a->best_peak - 1) / a->unit * a->unit;
  if (r->missed >= below - below / 1024) {
    r->missed = -1;
    r->limit += r->limit / 2;
  }
  if (r->missed < a->bound) return a->bound;
  int64_t low = r->missed / a->unit, high = below / a->unit;
  return (low + (high - low + 1) / 2) * a->unit;
}

static tesela__arena_answer rounds_turn(rounds_state *r, int64_t target) {
  tesela__arena_problem *a = r->arena;
  int64_t need = 0;
  tesela__arena_order(a, r->round % TESELA__ARENA_ORDERS,
                      r->round < TESELA__ARENA_ORDERS ? 0 : (uint64_t)r->round, r->order);
  bool tight = r->round / TESELA__ARENA_ORDERS % 2;
  tesela__arena_answer answer = tesela__arena_search_run(r->search, r->order, tight, target, r->limit, &need);
  if (answer == TESELA__ARENA_FOUND) tesela__arena_keep(a);
  if (answer == TESELA__ARENA_NONE) a->bound = tesela__max(a->bound, tesela__min(need, a->best_peak));
  r->round++;
  return answer;
}

tesela_status tesela__arena_rounds(tesela__arena_problem *a, int64_t capacity, int64_t until,
                                   tesela_error *err) {
  rounds_state r = {.arena = a, .limit = ROUNDS_FIRST, .missed = -1};
  tesela__arena_answer answer = TESELA__ARENA_ENDED;
  if (a->n == 0 || a->work >= until || tesela__arena_rounds_straight(a) > until - a->work) return TESELA_OK;
  int64_t limit = a->limit;
  a->limit = until;
  r.limit = tesela__max(r.limit, tesela__arena_rounds_straight(a));
  r.search = tesela__arena_search_open(a);
  r.order = tesela__alloc(&a->memory, (uint64_t)a->n * sizeof *r.order, alignof(tesela__arena_key));
  if (!r.search || !r.order) answer = TESELA__ARENA_MEMORY;
  while (answer != TESELA__ARENA_MEMORY && a->work < a->limit && a->bound < a->best_peak) {
    if (capacity > 0 && (a->best_peak <= capacity || a->bound > capacity)) break;
    int64_t target = capacity > 0 ? capacity : rounds_target(&r);
    int32_t turns = 0;
    do answer = rounds_turn(&r, target);
    while (answer == TESELA__ARENA_ENDED && a->work < a->limit && ++turns < ROUNDS_CYCLE);
    if (answer != TESELA__ARENA_ENDED) continue;
    r.missed = target;
    if (capacity > 0) r.limit += r.limit / 2;
  }
  a->limit = limit;
  tesela__arena_search_close(r.search);
  tesela__release(&a->memory, r.order);
  if (answer != TESELA__ARENA_MEMORY) return TESELA_OK;
  return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory to search for a plan of %" PRId32 " buffers",
                      a->n);
}
