/* SPDX-License-Identifier: Apache-2.0 */
/*
 * in_place.c - copy within one buffer: make the plans of the passes, run them, fill the padding.
 *
 * All plans are made before the first byte is moved, so that a failed allocation leaves the buffer as it was.
 */
#include <tesela/layout.h>

#include "relayout/in_place.h"

/* ---- the run ---------------------------------------------------------------------------------------------- */

static void drop_plans(const tesela__method *method, tesela__pass_plans *plans) {
  for (int32_t i = 0; i < method->n_passes; i++)
    for (int32_t k = 0; k < TESELA__PASS_PLANS; k++) tesela_plan_destroy(plans[i].plan[k]);
}

/* Everything through the scratch, by the plan itself, which also fills. */
static tesela_status run_whole(tesela__in_place *run, tesela_error *err) {
  tesela__part_copy(run->plan, run->scratch, run->buffer, run->plan->info.src_bytes);
  return tesela_plan_run(run->plan, run->buffer, run->scratch, run->options, err);
}

static bool is_remainder(const tesela__pass *pass) {
  return pass->kind == TESELA__PASS_SAVE || pass->kind == TESELA__PASS_PUT;
}

static void run_one_pass(tesela__in_place *run, const tesela__pass *pass, const tesela__pass_plans *plans) {
  if (pass->kind == TESELA__PASS_STRIPS) tesela__strips_run(run, pass, plans);
  if (pass->kind == TESELA__PASS_SWAPS) tesela__swaps_run(run, pass, plans);
  if (pass->kind == TESELA__PASS_BLOCKS) tesela__blocks_run(run, pass);
  if (is_remainder(pass)) tesela__remainder_run(run, pass, plans);
}

static tesela_status run_passes(tesela__in_place *run, const tesela__method *method, tesela_error *err) {
  tesela__pass_plans plans[TESELA__PASSES] = {0};
  tesela_status status = TESELA_OK;
  for (int32_t i = 0; i < method->n_passes && status == TESELA_OK; i++) {
    const tesela__pass *pass = &method->pass[i];
    if (pass->kind == TESELA__PASS_STRIPS || is_remainder(pass))
      status = tesela__strips_prepare(run->plan, pass, &plans[i], err);
    if (pass->kind == TESELA__PASS_SWAPS) status = tesela__swaps_prepare(run->plan, pass, &plans[i], err);
  }
  for (int32_t i = 0; i < method->n_passes; i++) run->n_passes += !is_remainder(&method->pass[i]);
  run->kept = run->scratch;
  if (run->scratch) run->scratch += method->kept_bytes;
  for (int32_t i = 0; i < method->n_passes && status == TESELA_OK && !atomic_load(&run->stop); i++)
    run_one_pass(run, &method->pass[i], &plans[i]);
  run->stopped = atomic_load(&run->stop);
  run->done_bytes = run->n_passes ? tesela__min(run->total_bytes, atomic_load(&run->moved) / run->n_passes)
                                  : run->total_bytes;
  drop_plans(method, plans);
  return status;
}

static tesela_status run_method(tesela__in_place *run, const tesela__problem *problem, tesela_error *err) {
  tesela__method method;
  tesela__in_place_choose(&method, run->plan, problem);
  const bool moves = method.n_passes > 0;
  if (moves && run->scratch && method.pass[0].kind == TESELA__PASS_WHOLE) return run_whole(run, err);
  tesela_status status = TESELA_OK;
  if (moves && (!run->scratch || method.pass[0].kind == TESELA__PASS_CYCLES))
    (void)tesela__cycles_run(run);
  else
    status = run_passes(run, &method, err);
  if (status != TESELA_OK) return status;
  if (!run->stopped && tesela__in_place_fill(run)) return TESELA_OK;
  return tesela__fail(err, TESELA_E_STOPPED, -1,
                      "stopped by the progress callback after %" PRId64 " of %" PRId64
                      " bytes; the buffer holds neither layout",
                      tesela__min(run->done_bytes, run->total_bytes), run->total_bytes);
}

tesela_status tesela_plan_run_in_place(const tesela_plan *plan, void *buffer, void *scratch,
                                       const tesela_run_options *options, tesela_error *err) {
  TESELA__NEED(err, plan);
  TESELA__NEED_LIST(err, buffer, plan->info.dst_bytes);
  TESELA__NEED_CLEAR(err, options);
  TESELA__NEED_ROOM(err, plan->info.dst_bytes);
  TESELA__NEED_ROOM(err, plan->info.src_bytes);
  tesela_layout dst, src;
  tesela__problem problem;
  tesela_status status = tesela_layout_canonical(&plan->dst, &dst, err);
  if (status == TESELA_OK) status = tesela_layout_canonical(&plan->src, &src, err);
  if (status != TESELA_OK) return status;
  if (!tesela__in_place_possible(&dst, &src))
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "in place, each element needs one place in both layouts and the same width; %" PRId32
                        " bits become %" PRId32,
                        src.bits, dst.bits);
  tesela__problem_set(&problem, &dst, &src);
  tesela__in_place run = {.plan = plan,
                          .dst = &dst,
                          .src = &src,
                          .options = options,
                          .buffer = buffer,
                          .scratch = scratch,
                          .total_bytes = dst.bits,
                          .caller = tesela__thread_self()};
  for (int32_t d = 0; d < dst.rank; d++)
    run.total_bytes *= dst.shape[d]; /* fits, as the places of a side do */
  run.total_bytes = tesela__ceil_div(run.total_bytes, 8);
  return run_method(&run, &problem, err);
}
