/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena_plan.c - a plan for the caller: the naive one, then better ones, or a choice of buffers; its facts.
 */
#include "solve/arena/arena.h"

enum { PLAN_EFFORT = 2000000 };

static void arena_plan_facts(const tesela__arena_problem *a, int64_t first_fit, tesela_arena_facts *facts) {
  *facts = (tesela_arena_facts){.peak = a->n > 0 ? a->best_peak : 0,
                                .bound = a->bound,
                                .live = a->most_live,
                                .first_fit = first_fit,
                                .effort = tesela__ceil_div(a->work, TESELA__ARENA_STEP)};
  facts->proven = facts->peak == facts->bound;
  for (int32_t i = 0; i < a->n; i++) facts->total += a->item[i].size;
}

/* Does the best plan fit? Otherwise the reason. */
static tesela_status arena_plan_fits(const tesela__arena_problem *a, int64_t capacity, tesela_error *err) {
  if (capacity == 0 || a->n == 0 || a->best_peak <= capacity) return TESELA_OK;
  if (a->bound > capacity)
    return tesela__fail(err, TESELA_E_LIMIT, -1,
                        "no plan fits in capacity %" PRId64 ": every plan needs at least %" PRId64
                        "; the best found needs %" PRId64,
                        capacity, a->bound, a->best_peak);
  return tesela__fail(err, TESELA_E_LIMIT, -1,
                      "found no plan within capacity %" PRId64 ": the search ended after %" PRId64
                      " steps; the best needs %" PRId64 ", and every plan needs at least %" PRId64,
                      capacity, tesela__ceil_div(a->work, TESELA__ARENA_STEP), a->best_peak, a->bound);
}

static tesela_status arena_plan_all(int32_t n, tesela_arena_buffer *buffers,
                                    const tesela_arena_options *options, int64_t limit,
                                    tesela_arena_facts *facts, tesela_error *err) {
  tesela__arena_problem a;
  tesela_status status = tesela__arena_open(&a, n, buffers, NULL, options, err);
  if (status != TESELA_OK) return status;
  a.limit = limit;
  status = tesela__arena_sweep(&a, TESELA__ARENA_FORTH, INT64_MAX, err);
  if (status == TESELA_OK) {
    tesela__arena_keep(&a);
    int64_t first_fit = a.n > 0 ? a.best_peak : 0;
    bool hopeless = options->capacity > 0 && a.bound > options->capacity;
    if (!options->first_fit && !hopeless) status = tesela__arena_solve(&a, options->capacity, err);
    if (status == TESELA_OK) status = tesela__arena_stopped(options, err);
    if (status == TESELA_OK) status = arena_plan_fits(&a, options->capacity, err);
    arena_plan_facts(&a, first_fit, facts);
  }
  if (status == TESELA_OK) {
    for (int32_t i = 0; i < n; i++) {
      if (buffers[i].offset < 0) buffers[i].offset = 0;
      facts->kept_weight += buffers[i].weight; /* the sum was checked */
    }
    for (int32_t i = 0; i < a.n; i++) buffers[a.item[i].index].offset = a.best[i];
  }
  tesela__arena_close(&a);
  return status;
}

tesela_status tesela_arena_plan(int32_t n, tesela_arena_buffer *buffers, const tesela_arena_options *options,
                                tesela_arena_facts *facts, tesela_error *err) {
  TESELA__NEED_LIST(err, buffers, n);
  TESELA__NEED_CLEAR(err, options);
  tesela_arena_options defaults = {.capacity = 0};
  tesela_arena_facts found = {.peak = 0};
  if (!options) options = &defaults;
  tesela_status status = tesela__arena_validate(n, buffers, options, err);
  if (status != TESELA_OK) return status;
  int64_t effort = options->effort > 0 ? options->effort : PLAN_EFFORT, limit;
  if (!tesela__mul(effort, TESELA__ARENA_STEP, &limit) || limit > TESELA__ARENA_ALL)
    limit = TESELA__ARENA_ALL;
  tesela__arena_listener listener = {options, false};
  tesela_arena_options heard = *options;
  heard.progress_user = &listener;
  if (options->spill && options->capacity > 0)
    status = tesela__arena_spill(n, buffers, &heard, limit, &found, err);
  else
    status = arena_plan_all(n, buffers, &heard, limit, &found, err);
  if (status == TESELA_OK && facts) *facts = found;
  return status;
}
