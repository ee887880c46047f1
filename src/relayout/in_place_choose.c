/* SPDX-License-Identifier: Apache-2.0 */
/*
 * in_place_choose.c - choose the passes of a copy within one buffer, and explain them.
 *
 *   nothing   every element has one place in both layouts
 *   whole     src is at most 1 MiB: it is copied to the scratch, and from there by the plan itself
 *   strips    parts that lie apart on both sides go through the scratch      in_place_strips.c
 *   digits    permutations of whole digits: swaps, strips and blocks         in_place_digits.c, in_place_remainders.c
 *   dense     digits between strips that make both sides dense               in_place_dense.c
 *   cycles    everything else, and everything without scratch                in_place_cycles.c
 *
 * The scratch is limited to 1 MiB or a 64th of the tensor.
 */
#include "relayout/in_place.h"

enum {
  SCRATCH = 1 << 20,        /* bytes, or a 64th of the tensor */
  WANTED_STRIP = 256 << 10, /* bytes; it and its copy are in the second cache together */
  BYTES_A_THREAD = 2 << 20, /* moved */
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
  if (problem->no_sums || problem->n_replicas || problem->sums.n == 0 ||
      !tesela__strips_find(&method->pass[0], &problem->sums, problem->dst_offset, problem->src_offset,
                           plan->dst.bits, tesela__min(WANTED_STRIP, limit), limit, threads))
    return false;
  method->n_passes = 1;
  return true;
}

void tesela__in_place_choose(tesela__method *method, const tesela_plan *plan,
                             const tesela__problem *problem) {
  const int64_t bytes = tesela__max(plan->info.dst_bytes, plan->info.src_bytes);
  const int32_t threads = threads_in_place(plan, bytes);
  int64_t limit = tesela__max(SCRATCH, bytes / 64);
  if (plan->options.shuffle)
    limit =
        (int64_t)64 << (plan->options.shuffle >> 8) % 8; /* so that small tensors have all kinds of passes */
  tesela__box box;
  method->n_passes = 0;
  method->scratch_bytes = method->kept_bytes = 0;
  if (tesela__is_empty(problem->dst) || is_identity(plan, problem)) return;
  if (plan->info.src_bytes <= tesela__min(limit, SCRATCH)) {
    method->n_passes = 1;
    method->pass[0].kind = TESELA__PASS_WHOLE;
    method->pass[0].threads = 1;
    method->pass[0].scratch_bytes = plan->info.src_bytes;
  } else if (!strips_found(method, plan, problem, tesela__min(limit, SCRATCH), threads) &&
             !(tesela__digits_box(plan, problem, &box) &&
               tesela__remainders_find(method, plan, &box, limit, threads)) &&
             !strips_found(method, plan, problem, limit, threads) &&
             !tesela__dense_find(method, plan, problem, limit, threads)) {
    method->n_passes = 1;
    method->pass[0].kind = TESELA__PASS_CYCLES;
    method->pass[0].threads = 1;
    method->pass[0].scratch_bytes = tesela__marks_bytes(problem->dst, problem->src);
  }
  bool converts = true; /* the remainders that go to the scratch, and the pass after them */
  for (int32_t i = 0; i < method->n_passes; i++) {
    tesela__pass *pass = &method->pass[i];
    pass->converts = converts;
    converts = converts && pass->kind == TESELA__PASS_SAVE;
    method->scratch_bytes =
        tesela__max(method->scratch_bytes, method->kept_bytes + pass->threads * pass->scratch_bytes);
  }
}

/* A method with what it is made of. */
typedef struct chosen_method {
  tesela_layout dst, src;
  tesela__problem problem;
  tesela__method method;
} chosen_method;

/* False: a run in place is not possible. */
static bool choose_method(const tesela_plan *plan, chosen_method *chosen) {
  if (!plan->info.in_place || tesela_layout_canonical(&plan->dst, &chosen->dst, NULL) != TESELA_OK ||
      tesela_layout_canonical(&plan->src, &chosen->src, NULL) != TESELA_OK)
    return false;
  tesela__problem_set(&chosen->problem, &chosen->dst, &chosen->src);
  tesela__in_place_choose(&chosen->method, plan, &chosen->problem);
  return true;
}

int64_t tesela__in_place_scratch_bytes(const tesela_plan *plan) {
  chosen_method chosen;
  return choose_method(plan, &chosen) ? chosen.method.scratch_bytes : 0;
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
  } else if (pass->kind == TESELA__PASS_SAVE || pass->kind == TESELA__PASS_PUT) {
    tesela__putf(sink, ": %" PRId64 " bytes", pass->strip_bytes);
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
  chosen_method chosen;
  if (!choose_method(plan, &chosen) || tesela__is_empty(&chosen.dst)) return;
  const tesela__method *method = &chosen.method;
  tesela__putf(sink, "in one buffer, with %" PRId64 " bytes of scratch\n", method->scratch_bytes);
  if (method->n_passes == 0) tesela__puts(sink, "  nothing moves\n");
  for (int32_t i = 0; i < method->n_passes; i++) put_pass(sink, plan, &chosen.problem, &method->pass[i]);
}
