/* SPDX-License-Identifier: Apache-2.0 */
/*
 * in_place.c - copy within one buffer: choose the passes, make their plans, run them, fill the padding.
 *
 *   nothing   every element has one place in both layouts
 *   whole     src is at most 1 MiB: it is copied to the scratch, and from there by the plan itself
 *   strips    parts that lie apart on both sides go through the scratch      in_place_strips.c
 *   digits    permutations of whole digits: swaps, strips and blocks         in_place_digits.c
 *   cycles    everything else, and everything without scratch                in_place_cycles.c
 *
 * The scratch is limited to 1 MiB or a 64th of the tensor. All plans of parts are made before the first byte is moved, so that
 * a failed allocation leaves the buffer as it was.
 */
#include <tesela/layout.h>

#include "relayout/in_place.h"

enum {
  SCRATCH = 1 << 20,        /* bytes, or a 64th of the tensor */
  WANTED_STRIP = 256 << 10, /* bytes; it and its copy are in the second cache together */
  BYTES_A_THREAD = 2 << 20, /* moved */
  PROGRESS_WORK = 65536,    /* steps from place to place plus KiB moved: about 7 ms */
  PROGRESS_BYTES = 4 << 20  /* of a pass */
};

/* ---- the choice ------------------------------------------------------------------------------------------- */

/* Does no element move, and no value change? */
static bool is_identity(const tesela_plan *plan, const tesela__problem *problem) {
  if (problem->irregular || plan->conversion || problem->dst_offset != problem->src_offset) return false;
  for (int32_t i = 0; i < problem->n_digits; i++)
    if (problem->digit[i].ss != problem->digit[i].ds) return false;
  return true;
}

static int32_t threads_in_place(const tesela_plan *plan, int64_t bytes) {
  const int32_t most = plan->options.threads ? plan->options.threads : tesela__cpu_count();
  if (plan->options.shuffle) return most;
  return (int32_t)tesela__max(1, tesela__min(most, 2 * bytes / BYTES_A_THREAD));
}

static bool strips_found(tesela__method *method, const tesela_plan *plan, const tesela__problem *problem,
                         int64_t limit, int32_t threads) {
  tesela__pass *pass = &method->pass[0];
  const int64_t wanted = tesela__min(WANTED_STRIP, limit);
  if (problem->no_sums || problem->n_replicas || problem->sums.n == 0) return false;
  if (!tesela__strips_find(pass, &problem->sums, problem->dst_offset, problem->src_offset, plan->dst.bits,
                           wanted, limit))
    return false;
  pass->scratch_bytes = (pass->strip_bytes + 63) / 64 * 64;
  pass->threads =
      pass->independent ? (int32_t)tesela__max(1, tesela__min(threads, limit / pass->scratch_bytes)) : 1;
  method->n_passes = 1;
  return pass->scratch_bytes <= limit;
}

void tesela__in_place_choose(tesela__method *method, const tesela_plan *plan,
                             const tesela__problem *problem) {
  const int64_t bytes = tesela__max(plan->info.dst_bytes, plan->info.src_bytes);
  const int32_t threads = threads_in_place(plan, bytes);
  int64_t limit = tesela__max(SCRATCH, bytes / 64);
  if (plan->options.shuffle)
    limit =
        (int64_t)64 << (plan->options.shuffle >> 8) % 8; /* so that small tensors have all kinds of passes */
  method->n_passes = 0;
  method->scratch_bytes = 0;
  if (tesela__is_empty(problem->dst) || is_identity(plan, problem)) return;
  if (plan->info.src_bytes <= tesela__min(limit, SCRATCH)) {
    method->n_passes = 1;
    method->pass[0].kind = TESELA__PASS_WHOLE;
    method->pass[0].threads = 1;
    method->pass[0].scratch_bytes = plan->info.src_bytes;
  } else if (!strips_found(method, plan, problem, tesela__min(limit, SCRATCH), threads) &&
             (problem->irregular || !tesela__digits_find(method, plan, problem, limit, threads)) &&
             !strips_found(method, plan, problem, limit, threads)) {
    method->n_passes = 1;
    method->pass[0].kind = TESELA__PASS_CYCLES;
    method->pass[0].threads = 1;
    method->pass[0].scratch_bytes = tesela__marks_bytes(problem->dst, problem->src);
  }
  for (int32_t i = 0; i < method->n_passes; i++) {
    const tesela__pass *pass = &method->pass[i];
    method->pass[i].converts = i == 0;
    method->scratch_bytes = tesela__max(method->scratch_bytes, pass->threads * pass->scratch_bytes);
  }
}

int64_t tesela__in_place_scratch_bytes(const tesela_plan *plan, const tesela__problem *problem) {
  tesela__method method;
  tesela__in_place_choose(&method, plan, problem);
  return method.scratch_bytes;
}

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
    tesela__run_tiles(part, &part->piece[i], dst, src, 0, part->piece[i].n_tiles);
  if (part->irregular)
    (void)tesela__gather(part, dst, src, NULL, 0, NULL); /* fails only for layouts that no plan has */
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

/* ---- the run ---------------------------------------------------------------------------------------------- */

static void drop_plans(const tesela__method *method, tesela__pass_plans *plans) {
  for (int32_t i = 0; i < method->n_passes; i++)
    for (int32_t k = 0; k < TESELA__PASS_PLANS; k++) tesela_plan_destroy(plans[i].plan[k]);
}

/* Everything through the scratch, by the plan itself, which also fills. */
static tesela_status run_whole(tesela__in_place *run, tesela_error *err) {
  memcpy(run->scratch, run->buffer, (size_t)run->plan->info.src_bytes);
  return tesela_plan_run(run->plan, run->buffer, run->scratch, run->options, err);
}

static void run_one_pass(tesela__in_place *run, const tesela__pass *pass, const tesela__pass_plans *plans) {
  if (pass->kind == TESELA__PASS_STRIPS) tesela__strips_run(run, pass, plans);
  if (pass->kind == TESELA__PASS_SWAPS) tesela__swaps_run(run, pass, plans);
  if (pass->kind == TESELA__PASS_BLOCKS) tesela__blocks_run(run, pass);
}

static tesela_status run_passes(tesela__in_place *run, const tesela__method *method, tesela_error *err) {
  tesela__pass_plans plans[TESELA__PASSES] = {0};
  tesela_status status = TESELA_OK;
  for (int32_t i = 0; i < method->n_passes && status == TESELA_OK; i++) {
    const tesela__pass *pass = &method->pass[i];
    if (pass->kind == TESELA__PASS_STRIPS) status = tesela__strips_prepare(run->plan, pass, &plans[i], err);
    if (pass->kind == TESELA__PASS_SWAPS) status = tesela__swaps_prepare(run->plan, pass, &plans[i], err);
  }
  run->n_passes = method->n_passes;
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
                          .caller = tesela__thread_self(),
                          .next = PROGRESS_BYTES};
  for (int32_t d = 0; d < dst.rank; d++)
    run.total_bytes *= dst.shape[d]; /* fits, as the places of a side do */
  run.total_bytes = tesela__ceil_div(run.total_bytes, 8);
  return run_method(&run, &problem, err);
}

/* ---- words ------------------------------------------------------------------------------------------------ */

static const char *pass_words(tesela__pass_kind kind) {
  static const char *const words[] = {
#define TESELA__ROW(symbol, text) text,
      TESELA__PASS_MAP(TESELA__ROW)
#undef TESELA__ROW
  };
  return words[kind];
}

static void put_pass(tesela__sink *sink, const tesela_plan *plan, const tesela__problem *problem,
                     const tesela__pass *pass) {
  tesela__putf(sink, "  %s", pass_words(pass->kind));
  if (pass->kind == TESELA__PASS_STRIPS) {
    int64_t n = 1;
    for (int32_t i = 0; i < pass->n_levels; i++) n *= pass->level[i].n;
    tesela__putf(sink, ": %" PRId64 " of %" PRId64 " bytes", n, pass->strip_bytes);
    if (!pass->independent)
      tesela__puts(sink, pass->backwards ? ", from the last to the first" : ", in order");
  } else if (pass->kind == TESELA__PASS_SWAPS) {
    tesela__putf(sink, ": %" PRId64 " x %" PRId64 " units of %" PRId64 " bit%s", pass->side, pass->side,
                 pass->unit, pass->unit == 1 ? "" : "s");
  } else if (pass->kind == TESELA__PASS_BLOCKS) {
    tesela__putf(sink, ": blocks of %" PRId64 " bytes", pass->block_bytes);
  } else if (pass->kind == TESELA__PASS_CYCLES) {
    tesela__putf(sink, ": units of %" PRId64 " bits",
                 tesela__unit_places(problem->dst, problem->src) * plan->dst.bits);
  }
  if (pass->threads > 1) tesela__putf(sink, ", %" PRId32 " threads", pass->threads);
  tesela__putc(sink, '\n');
}

void tesela__in_place_explain(const tesela_plan *plan, tesela__sink *sink) {
  tesela_layout dst, src;
  tesela__problem problem;
  tesela__method method;
  if (!plan->info.in_place || tesela_layout_canonical(&plan->dst, &dst, NULL) != TESELA_OK ||
      tesela_layout_canonical(&plan->src, &src, NULL) != TESELA_OK)
    return;
  tesela__problem_set(&problem, &dst, &src);
  tesela__in_place_choose(&method, plan, &problem);
  tesela__putf(sink, "in one buffer, with %" PRId64 " bytes of scratch\n", method.scratch_bytes);
  if (method.n_passes == 0) tesela__puts(sink, "  nothing moves\n");
  for (int32_t i = 0; i < method.n_passes; i++) put_pass(sink, plan, &problem, &method.pass[i]);
}
