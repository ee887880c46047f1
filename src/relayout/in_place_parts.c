/* SPDX-License-Identifier: Apache-2.0 */
/*
 * in_place_parts.c - what the passes within one buffer share: plans of parts, and progress.
 */
#include "relayout/in_place.h"

enum {
  PROGRESS_WORK = 65536,   /* steps from place to place plus KiB moved: about 7 ms */
  PROGRESS_BYTES = 4 << 20 /* of a pass */
};

/* ---- parts ------------------------------------------------------------------------------------------------ */

tesela_status tesela__part_plan(const tesela_plan *plan, const tesela__sums *sums, const int64_t *extent,
                                int64_t dst_bit, int64_t src_bit, bool converts, tesela_plan **part,
                                tesela_error *err) {
  const int32_t bits = plan->dst.bits;
  const tesela_plan_options options = {.fill = TESELA_FILL_LEAVE,
                                       .transform =
                                           converts ? plan->options.transform : TESELA_TRANSFORM_NONE,
                                       .threads = 1,
                                       .isa = plan->options.isa,
                                       .shuffle = plan->options.shuffle,
                                       .allocator = &plan->allocator};
  tesela_layout dst, src;
  tesela_status status = tesela__sums_layout(
      sums, sums->dst, extent, converts ? plan->dst.dtype : TESELA_DTYPE_NONE, bits, dst_bit, &dst, err);
  if (status == TESELA_OK)
    status = tesela__sums_layout(sums, sums->src, extent, converts ? plan->src.dtype : TESELA_DTYPE_NONE,
                                 bits, src_bit, &src, err);
  return status == TESELA_OK ? tesela_plan_create(part, &dst, &src, &options, err) : status;
}

void tesela__part_run(const tesela_plan *part, unsigned char *dst, const unsigned char *src) {
  for (int32_t i = 0; i < part->n_pieces; i++)
    tesela__run_tiles(part, &part->piece[i], dst, src, 0, part->piece[i].n_tiles, false);
  if (part->irregular)
    (void)tesela__gather(part, dst, src, NULL, 0, NULL); /* fails only for layouts that no plan has */
}

void tesela__part_copy(const tesela_plan *plan, unsigned char *dst, const unsigned char *src, int64_t bytes) {
  const tesela__rows rows = {.n = bytes};
  const int64_t at = 0;
  ((tesela__rows_fn *)tesela__kernel_find(TESELA__K_COPY, 0, 0, plan->isa)->fn)(&rows, dst, &at, src, &at, 1);
}

/* ---- progress --------------------------------------------------------------------------------------------- */

static bool says_stop(tesela__in_place *run, int64_t done) {
  const tesela_run_options *options = run->options;
  return options->progress(options->progress_user, tesela__min(done, run->total_bytes), run->total_bytes) !=
         0;
}

bool tesela__in_place_go_on(tesela__in_place *run, int64_t work) {
  run->work += work;
  if (run->work < PROGRESS_WORK) return true;
  run->work = 0;
  if (!run->options || !run->options->progress) return true;
  run->stopped = says_stop(run, run->done_bytes);
  return !run->stopped;
}

bool tesela__pass_go_on(tesela__in_place *run, int64_t bytes) {
  if (!run->options || !run->options->progress) return true;
  const int64_t done = atomic_fetch_add_explicit(&run->moved, bytes, memory_order_relaxed) + bytes;
  if (atomic_load_explicit(&run->stop, memory_order_relaxed)) return false;
  if (run->caller != tesela__thread_self() || done < run->next) return true;
  run->next = done + PROGRESS_BYTES;
  if (!says_stop(run, done / run->n_passes)) return true;
  atomic_store(&run->stop, true);
  return false;
}
