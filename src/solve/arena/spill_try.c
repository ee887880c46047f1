/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spill_try.c - do some of the buffers fit? Keeps the plan with the most weight.
 */
#include "solve/arena/arena.h"

void tesela__arena_spill_keep(const tesela__arena_problem *a, tesela__arena_kept *kept) {
  int64_t weight = 0, bytes = 0;
  for (int32_t i = 0; i < a->n; i++)
    if (a->item[i].offset >= 0) {
      weight += a->item[i].weight;
      bytes += a->item[i].size;
    }
  if (weight < kept->weight || (weight == kept->weight && bytes <= kept->bytes)) return;
  kept->weight = weight;
  kept->bytes = bytes;
  for (int32_t i = 0; i < kept->n; i++) kept->offset[i] = -1;
  for (int32_t i = 0; i < a->n; i++) kept->offset[a->item[i].index] = a->item[i].offset;
}

tesela_status tesela__arena_spill_try(int32_t n, const tesela_arena_buffer *buffers, const bool *keep,
                                      const tesela_arena_options *options, int64_t work,
                                      tesela__arena_kept *kept, tesela__arena_answer *answer,
                                      tesela_error *err) {
  tesela__arena_problem a;
  tesela_status status = tesela__arena_open(&a, n, buffers, keep, options, err);
  if (status != TESELA_OK) return status;
  a.limit = work;
  *answer = a.bound > options->capacity ? TESELA__ARENA_NONE : TESELA__ARENA_ENDED;
  if (*answer == TESELA__ARENA_ENDED) {
    status = tesela__arena_solve(&a, options->capacity, err);
    if (a.best_peak <= options->capacity) *answer = TESELA__ARENA_FOUND;
    if (a.bound > options->capacity) *answer = TESELA__ARENA_NONE;
  }
  kept->work += a.work + a.n;
  if (status == TESELA_OK && *answer == TESELA__ARENA_FOUND) {
    for (int32_t i = 0; i < a.n; i++) a.item[i].offset = a.best[i];
    tesela__arena_spill_keep(&a, kept);
  }
  tesela__arena_close(&a);
  return status;
}
