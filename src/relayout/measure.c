/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.c - the effort "measure": several tile sizes and kinds of stores are run, the fastest is kept.
 *
 * The buffers are the plan's own size and hold zeros. Each variant runs once to warm up and then three times; its best
 * time counts. About 4 * 10 runs of the copy.
 */
#include <time.h>

#include "relayout/plan.h"

static double seconds(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double best_time(const tesela_plan *plan, void *dst, const void *src) {
  double best = 1e30;
  for (int i = 0; i < 4; i++) {
    double start = seconds();
    if (tesela_plan_run(plan, dst, src, NULL, NULL) != TESELA_OK) return 1e30;
    double took = seconds() - start;
    if (i > 0 && took < best) best = took;
  }
  return best;
}

/* New pieces, for a tuning. */
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
  size_t dst_bytes = (size_t)tesela__max(plan->info.dst_bytes, 1),
         src_bytes = (size_t)tesela__max(plan->info.src_bytes, 1);
  void *dst = tesela__alloc(&plan->allocator, dst_bytes, TESELA__LINE);
  void *src = tesela__alloc(&plan->allocator, src_bytes, TESELA__LINE);
  tesela__tuning best = tunings[0];
  double best_seconds = 1e30;
  tesela_status status = TESELA_OK;
  if (!dst || !src)
    status = tesela__fail(err, TESELA_E_MEMORY, -1,
                          "no memory for buffers of %zu and %zu bytes to measure on", dst_bytes, src_bytes);
  else
    memset(src, 0, src_bytes);
  for (size_t i = 0; i < sizeof tunings / sizeof tunings[0] && status == TESELA_OK; i++) {
    status = retune(plan, tunings[i], stream, err);
    double took = status == TESELA_OK ? best_time(plan, dst, src) : 1e30;
    if (took >= best_seconds) continue;
    best_seconds = took;
    best = tunings[i];
  }
  tesela__release(&plan->allocator, dst);
  tesela__release(&plan->allocator, src);
  return status == TESELA_OK ? retune(plan, best, stream, err) : status;
}
