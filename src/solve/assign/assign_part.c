/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assign_part.c - a connected part of a graph: an answer, a bound, and both brought together.
 *
 * Sweeps raise the bound; answers are rounded from it and improved. What is left open gets more expensive means, one after another: the
 * smooth bound, kicks, branch and bound with a quarter of the effort that is left, and kicks with the rest of it.
 */
#include "solve/assign/work.h"

enum {
  PART_SWEEPS = 400,
  PART_ROUND_EVERY = 8,    /* sweeps between answers */
  PART_LOCAL = 1 << 26,    /* costs examined by local search from an answer, at most */
  PART_PATIENCE = 20,      /* kicks without a better answer before a search */
  PART_POSSIBLE = 1 << 30, /* sums of elimination where the alternative is a search */
  PART_SUMS_PER_WORK = 4,  /* those that take as long as one cost that the search examines */
};
static const int64_t PART_SWEEP_WORK = (int64_t)1 << 30;

/* Improve `trial` and keep it if it is better. */
static tesela_status assign_try_part(tesela__assign_run *run, const tesela__assign_graph *g, int32_t kicks,
                              int64_t most, int32_t *trial, int64_t *work, tesela__assign_answer *x) {
  const tesela_status status = tesela__assign_improve(run, g, kicks, most, trial, work);
  if (status != TESELA_OK) return status;
  const tesela__key sum = tesela__assign_sum(g, trial);
  if (sum >= x->upper) return TESELA_OK;
  x->upper = sum;
  memcpy(x->state, trial, (size_t)g->n_nodes * sizeof *trial);
  return TESELA_OK;
}

/* Improve the answer, if there is one and it is not proven. */
static tesela_status part_kick(tesela__assign_run *run, const tesela__assign_graph *g, int32_t kicks,
                               int64_t most, int64_t *work, tesela__assign_answer *x) {
  if (tesela__assign_is_closed(run, x) || tesela__key_is_infinite(x->upper)) return TESELA_OK;
  tesela__assign_pool pool = {.allocator = g->pool.allocator};
  int32_t *trial = tesela__assign_take(&pool, g->n_nodes, sizeof *trial);
  tesela_status status = TESELA_E_MEMORY;
  if (trial) {
    memcpy(trial, x->state, (size_t)g->n_nodes * sizeof *trial);
    status = assign_try_part(run, g, kicks, most, trial, work, x);
  }
  tesela__assign_give_back(&pool);
  return status;
}

tesela_status tesela__assign_part_sweep(tesela__assign_run *run, tesela__assign_bound *b,
                                        tesela__assign_answer *x) {
  tesela__assign_pool pool = {.allocator = b->g->pool.allocator};
  int32_t *trial = tesela__assign_take(&pool, b->g->n_nodes, sizeof *trial);
  tesela_status status = trial ? TESELA_OK : TESELA_E_MEMORY;
  tesela__key before = b->base;
  int32_t next = PART_ROUND_EVERY;
  for (int32_t k = 0; k < PART_SWEEPS && status == TESELA_OK && b->work < PART_SWEEP_WORK; k++) {
    b->limit = tesela__key_is_infinite(x->upper) ? x->upper : x->upper + 1;
    const bool alive = tesela__assign_sweep(b);
    x->lower = tesela__key_less(alive ? b->base : x->upper, x->upper);
    if (!alive || tesela__assign_is_closed(run, x)) break;
    if ((k + 1) % PART_ROUND_EVERY != 0) continue;
    if (k + 1 == next) { /* at 8, 16, 32, ... */
      next *= 2;
      tesela__assign_round(b, trial);
      status = assign_try_part(run, b->g, 0, PART_LOCAL, trial, &b->work, x);
    }
    const tesela__key open = x->upper - b->base;
    if (tesela__assign_is_closed(run, x) || b->base - before <= open / 1000) break;
    before = b->base;
  }
  tesela__assign_give_back(&pool);
  return status;
}

/* Sweeps from a smooth bound, and kicks, where sweeps alone leave a gap. */
static tesela_status part_harder(tesela__assign_run *run, tesela__assign_bound *b, tesela__assign_answer *x) {
  const int64_t left = tesela__max(run->most_work - run->work, 0);
  tesela_status status = tesela__assign_smooth(b, left);
  b->work = 0;
  if (status == TESELA_OK) status = tesela__assign_part_sweep(run, b, x);
  if (status != TESELA_OK) return status;
  return part_kick(run, b->g, PART_PATIENCE, tesela__min(left / 8, PART_LOCAL), &b->work, x);
}

/* The sums that the remaining effort allows for elimination instead of a search. */
static int64_t part_sums(const tesela__assign_run *run) {
  const int64_t left = tesela__max(run->most_work - run->work, 0);
  return tesela__max(tesela__min(left, PART_POSSIBLE / PART_SUMS_PER_WORK) * PART_SUMS_PER_WORK,
                     TESELA__PART_CHEAP);
}

tesela_status tesela__assign_part_begin(tesela__assign_run *run, const tesela__assign_graph *g, int64_t most,
                                        tesela__assign_answer *x, tesela__assign_bound *b, bool *done) {
  tesela__key cost;
  int64_t sums = 0;
  tesela_status status = tesela__assign_eliminate(g, most, x->state, &cost, done, &sums);
  run->work += sums / PART_SUMS_PER_WORK;
  if (status != TESELA_OK) return status;
  if (!*done) return tesela__assign_bound_begin(b, g);
  x->upper = x->lower = cost;
  return TESELA_OK;
}

/* Search with a quarter of the effort that is left; if that does not end, improve the answer with the rest. */
static tesela_status part_search(tesela__assign_run *run, tesela__assign_bound *b, tesela__assign_answer *x) {
  const int64_t most = run->most_work;
  run->most_work = run->work + (most - run->work) / 4;
  tesela_status status = tesela__assign_search(run, b, x);
  run->most_work = most;
  if (status != TESELA_OK || run->stopped) return status;
  return part_kick(run, b->g, INT32_MAX, most - run->work, &run->work, x);
}

tesela_status tesela__assign_part_finish(tesela__assign_run *run, const tesela__assign_graph *g,
                                         tesela__assign_answer *x) {
  tesela__assign_bound b;
  bool done;
  if (tesela__assign_asked(run)) return TESELA_E_STOPPED;
  tesela_status status = tesela__assign_part_begin(run, g, part_sums(run), x, &b, &done);
  if (status != TESELA_OK || done) return status;
  status = tesela__assign_part_sweep(run, &b, x);
  if (status == TESELA_OK && !tesela__assign_is_closed(run, x)) status = part_harder(run, &b, x);
  if (status == TESELA_OK && !tesela__assign_is_closed(run, x)) status = part_search(run, &b, x);
  tesela__assign_bound_end(&b);
  return status;
}
