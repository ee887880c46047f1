/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.c - the effort "measure": run several solvers, then tile sizes and kinds of stores; keep the fastest.
 *
 * The buffers have the plan's sizes; src is zeros. Each variant runs once to warm up and then three times; its best
 * time counts: 4 * 11 runs of the copy, and 4 for each solver that may be better.
 */
#include "relayout/plan.h"

static int64_t best_time(const tesela_plan *plan, void *dst, const void *src) {
  int64_t best = INT64_MAX;
  for (int i = 0; i < 4; i++) {
    int64_t start = tesela__clock_ns();
    if (tesela_plan_run(plan, dst, src, NULL, NULL) != TESELA_OK) return INT64_MAX;
    int64_t took = tesela__clock_ns() - start;
    if (i > 0 && took < best) best = took;
  }
  return best;
}

/* Make the pieces for a tuning. */
static tesela_status retune(tesela_plan *plan, tesela__tuning tuning, bool stream, tesela_error *err) {
  plan->tuning = tuning;
  plan->stream = tuning.stream ? tuning.stream > 0 : stream;
  return tesela__plan_pieces(plan, err);
}

/* The solvers, as bits, that apply to the largest piece at a cost that may be a wrong estimate. */
static unsigned solvers_to_try(const tesela_plan *plan) {
  enum { AT_MOST = 8 };
  const tesela__verdict *verdict = plan->verdict;
  unsigned solvers = 0;
  float least = 0;
  if (plan->options.solver != TESELA_SOLVER_ANY || plan->irregular || plan->largest < 0) return 0;
  for (int32_t i = TESELA_SOLVER_MEMCPY; i < TESELA__N_SOLVERS; i++)
    if (verdict[i].applies && (least == 0 || verdict[i].cost < least)) least = verdict[i].cost;
  for (int32_t i = TESELA_SOLVER_MEMCPY; i < TESELA__N_SOLVERS; i++)
    if (verdict[i].applies && verdict[i].cost <= AT_MOST * least) solvers |= 1u << i;
  return solvers;
}

/* Keep a tuning if it is the fastest so far. */
static tesela_status try_tuning(tesela_plan *plan, const tesela__tuning *tuning, bool stream, void *dst,
                                const void *src, tesela__tuning *best, int64_t *best_time_ns,
                                tesela_error *err) {
  const tesela_status status = retune(plan, *tuning, stream, err);
  const int64_t took = status == TESELA_OK ? best_time(plan, dst, src) : INT64_MAX;
  if (took < *best_time_ns) {
    *best_time_ns = took;
    *best = *tuning;
  }
  return status;
}

tesela_status tesela__plan_measure(tesela_plan *plan, tesela_error *err) {
  static const tesela__tuning tunings[] = {
      {.stream = 1},
      {.stream = -1},
      {.in = 256, .out = 512, .total = 16384},
      {.in = 256, .out = 2048, .total = 65536},
      {.in = 512, .out = 512, .total = 16384},
      {.in = 1024, .out = 512, .total = 65536},
      {.in = 1024, .out = 1024, .total = 65536},
      {.in = 2048, .out = 256, .total = 65536},
      {.in = 128, .out = 512, .total = 16384},
      {.in = 64, .out = 256, .total = 16384},
  };
  bool stream = plan->stream;
  int64_t dst_bytes = plan->info.dst_bytes, src_bytes = plan->info.src_bytes;
  void *dst = tesela__alloc(&plan->allocator, (uint64_t)dst_bytes, TESELA__LINE);
  void *src = tesela__alloc(&plan->allocator, (uint64_t)src_bytes, TESELA__LINE);
  tesela__tuning best = {0};
  int64_t best_time_ns = INT64_MAX;
  tesela_status status = TESELA_OK;
  if (!dst || !src)
    status = tesela__fail(err, TESELA_E_MEMORY, -1,
                          "no memory for buffers of %" PRId64 " and %" PRId64 " bytes to measure on",
                          dst_bytes, src_bytes);
  else
    memset(src, 0, (size_t)src_bytes);
  if (status == TESELA_OK) status = try_tuning(plan, &best, stream, dst, src, &best, &best_time_ns, err);
  const unsigned solvers = status == TESELA_OK ? solvers_to_try(plan) : 0;
  for (int32_t i = TESELA_SOLVER_MEMCPY; i < TESELA__N_SOLVERS && status == TESELA_OK; i++) {
    const tesela__tuning tried = {.solver = (tesela_solver)i};
    if (solvers >> i & 1) status = try_tuning(plan, &tried, stream, dst, src, &best, &best_time_ns, err);
  }
  for (size_t i = 0; i < sizeof tunings / sizeof tunings[0] && status == TESELA_OK; i++) {
    tesela__tuning tried = tunings[i];
    tried.solver = best.solver;
    status = try_tuning(plan, &tried, stream, dst, src, &best, &best_time_ns, err);
  }
  tesela__release(&plan->allocator, dst);
  tesela__release(&plan->allocator, src);
  return status == TESELA_OK ? retune(plan, best, stream, err) : status;
}
