/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.c - the effort "measure": run several tile sizes and kinds of stores, keep the fastest.
 *
 * The buffers have the plan's sizes; src is zeros. Each variant runs once to warm up and then three times; its best
 * time counts: 4 * 10 runs of the copy.
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

tesela_status tesela__plan_measure(tesela_plan *plan, tesela_error *err) {
  static const tesela__tuning tunings[] = {
      {0, 0, 0, 0},          {0, 0, 0, 1},         {0, 0, 0, -1},         {256, 512, 16384, 0},
      {256, 2048, 65536, 0}, {512, 512, 16384, 0}, {1024, 512, 65536, 0}, {1024, 1024, 65536, 0},
      {2048, 256, 65536, 0}, {128, 512, 16384, 0}};
  bool stream = plan->stream;
  int64_t dst_bytes = plan->info.dst_bytes, src_bytes = plan->info.src_bytes;
  void *dst = tesela__alloc(&plan->allocator, (uint64_t)dst_bytes, TESELA__LINE);
  void *src = tesela__alloc(&plan->allocator, (uint64_t)src_bytes, TESELA__LINE);
  tesela__tuning best = tunings[0];
  int64_t best_time_ns = INT64_MAX;
  tesela_status status = TESELA_OK;
  if (!dst || !src)
    status = tesela__fail(err, TESELA_E_MEMORY, -1,
                          "no memory for buffers of %" PRId64 " and %" PRId64 " bytes to measure on",
                          dst_bytes, src_bytes);
  else
    memset(src, 0, (size_t)src_bytes);
  for (size_t i = 0; i < sizeof tunings / sizeof tunings[0] && status == TESELA_OK; i++) {
    status = retune(plan, tunings[i], stream, err);
    int64_t took = status == TESELA_OK ? best_time(plan, dst, src) : INT64_MAX;
    if (took >= best_time_ns) continue;
    best_time_ns = took;
    best = tunings[i];
  }
  tesela__release(&plan->allocator, dst);
  tesela__release(&plan->allocator, src);
  return status == TESELA_OK ? retune(plan, best, stream, err) : status;
}
