/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relayout_pieces.c - make the pieces of a plan: one or more for each box of elements (relayout_solve.c), fills for the padding that is left;
 * or what the gather needs instead.
 */
#include "relayout/gather.h"
#include "relayout/pieces.h"
#include "relayout/solve.h"
#include "relayout/window.h"

typedef struct piece_making {
  tesela_plan *plan;
  bool fill;
  uint64_t *random;
  tesela_status status;
  tesela_error *err;
  bool stopped;                    /* by a piece that does not fit windows */
  const tesela__bits_bands *bands; /* whose boxes are moved already; or NULL */
} piece_making;

static bool make_piece(void *data, tesela__box *box) {
  piece_making *m = data;
  if (m->bands && tesela__bits_bands_have(m->bands, box)) return true;
  if (m->fill && !m->plan->fill_first)
    m->status = tesela__keep_fill(m->plan, box, m->err);
  else
    m->status = tesela__add_piece(m->plan, box, m->fill, m->random, m->err);
  m->stopped = !m->fill && m->status == TESELA_OK && m->plan->window > 0 && !tesela__window_of_last(m->plan);
  return m->status == TESELA_OK && !m->stopped;
}

void tesela__forget_pieces(tesela_plan *plan) {
  plan->n_pieces = plan->n_fills = plan->n_fill_boxes = plan->n_bits_tiles = 0;
  plan->n_picked_lines = plan->n_picks = plan->n_bit_rounds = 0;
  plan->n_table = 0;
  plan->total_bytes = 0;
  plan->cost = plan->shared = 0;
  plan->bitwise = plan->fill_first = false;
  plan->window = 0;
  plan->largest = -1;
}

int64_t tesela__padding_places(const tesela_layout *dst, int64_t *tail) {
  int64_t places = 1, elements = tesela_layout_copies(dst), end = dst->axis[0].offset + 1;
  for (int32_t i = 0; i < dst->n_active; i++) {
    const tesela_digit *digit = &dst->digit[i];
    if (digit->axis < 0) continue;
    places *= digit->extent;
    if (digit->stride > 0 && digit->extent > 0 && places > 0) end += (digit->extent - 1) * digit->stride;
  }
  for (int32_t d = 0; d < dst->rank; d++) elements *= dst->shape[d];
  *tail = 0;
  if (dst->axis[0].interleaved && places != elements) return -1;
  *tail = dst->swizzle.n ? 0 : tesela__max(0, dst->axis[0].extent - (places ? end : dst->axis[0].offset));
  return places - elements + *tail;
}

static tesela_status make_fills(tesela_plan *plan, bool everything, uint64_t *random, tesela_error *err) {
  piece_making m = {.plan = plan, .fill = true, .random = random, .err = err};
  int64_t tail;
  if (plan->fill == TESELA_FILL_LEAVE || tesela__padding_places(&plan->dst, &tail) == 0) return TESELA_OK;
  if (tesela__padding_boxes(&plan->dst, everything, &plan->fill_first, make_piece, &m)) return TESELA_OK;
  if (m.status != TESELA_OK) return m.status;
  tesela__forget_pieces(plan); /* too many boxes: fill everything first */
  if (tesela__padding_boxes(&plan->dst, true, &plan->fill_first, make_piece, &m) || m.status != TESELA_OK)
    return m.status;
  return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                      "dst has more than %d digits; its padding cannot be filled", (int)TESELA__MAX_LOOPS);
}

/* Make fills of the padding that is left. */
static tesela_status make_kept_fills(tesela_plan *plan, uint64_t *random, tesela_error *err) {
  tesela_status status = TESELA_OK;
  for (int32_t i = 0; i < plan->n_fill_boxes && status == TESELA_OK; i++)
    status = tesela__add_piece(plan, &plan->fill_box[i], true, random, err);
  return status;
}

tesela_status tesela__make_regular(tesela_plan *plan, const tesela__problem *problem, uint64_t *random,
                                   tesela_error *err) {
  tesela_status status = make_fills(plan, false, random, err);
  if (status != TESELA_OK) return status;
  tesela__bits_bands bands;
  piece_making m = {.plan = plan, .random = random, .err = err};
  if (!tesela__is_empty(&plan->dst) && tesela__bits_bands_find(&bands, plan, problem, random)) {
    m.bands = &bands;
    status = tesela__add_bands(plan, &bands, random, err);
    if (status != TESELA_OK) return status;
  }
  if (tesela__is_empty(&plan->dst) || tesela__problem_boxes(problem, make_piece, &m))
    return make_kept_fills(plan, random, err);
  if (m.stopped)
    plan->window = 0;
  else if (m.status == TESELA_OK)
    plan->irregular = "more partial tiles than a plan can have pieces";
  return m.status;
}

/* Cut dst into stretches: with all its padding, if groups of them are assembled; else without, and the padding is filled. */
static void find_stretches(tesela_plan *plan, uint64_t *random) {
  int64_t padding, tail;
  if (plan->n_replicas > 0 || (random && tesela__random(random) % 4 == 0)) return;
  padding = tesela__padding_places(&plan->dst, &tail) - tail;
  if (padding < 0) return;
  plan->stretches.staged = random ? tesela__random(random) % 2 : plan->stream;
  if (padding > 0 && plan->fill == TESELA_FILL_LEAVE) plan->stretches.staged = false;
  tesela__stretches_set(&plan->stretches, plan, &plan->sums, padding, random);
}

/* Fill what stretches leave: the places after the last one that the digits reach. */
static tesela_status make_tail(tesela_plan *plan, uint64_t *random, tesela_error *err) {
  piece_making m = {.plan = plan, .fill = true, .random = random, .err = err};
  if (plan->fill != TESELA_FILL_LEAVE) tesela__tail_box(&plan->dst, make_piece, &m);
  return m.status;
}

tesela_status tesela__make_irregular(tesela_plan *plan, const tesela__problem *problem, uint64_t *random,
                                     tesela_error *err) {
  tesela__forget_pieces(plan);
  plan->by_sums = !problem->no_sums && problem->sums.n > 0;
  if (plan->by_sums) {
    plan->sums = problem->sums;
    plan->sums_dst = problem->dst_offset;
    plan->sums_src = problem->src_offset;
    plan->n_replicas = problem->n_replicas;
    memcpy(plan->replica, problem->replica, (size_t)problem->n_replicas * sizeof *plan->replica);
  }
  if (plan->by_sums && !tesela__is_empty(&plan->dst)) find_stretches(plan, random);
  if (plan->dst.swizzle.n == 0) {
    tesela_status status = plan->stretches.n_groups > 0 && plan->stretches.staged
                               ? make_tail(plan, random, err)
                               : make_fills(plan, !plan->by_sums, random, err);
    if (status == TESELA_OK) status = make_kept_fills(plan, random, err);
    if (status != TESELA_OK) return status;
  }
  for (int32_t i = TESELA_SOLVER_MEMCPY; i < TESELA__N_SOLVERS; i++)
    plan->verdict[i] = (tesela__verdict){.why = plan->irregular};
  plan->verdict[TESELA_SOLVER_GATHER] =
      plan->stretches.n_groups > 0 ? tesela__gather_cost(plan, &plan->sums)
                                   : (tesela__verdict){.applies = true, .cost = plan->by_sums ? 4 : 40};
  return TESELA_OK;
}

void tesela__use_stretches(tesela_plan *plan, const tesela__problem *problem) {
  tesela__stretches *s = &plan->stretches;
  int64_t tail;
  const int64_t padding = tesela__padding_places(&plan->dst, &tail) - tail;
  if (problem->no_sums || problem->sums.n == 0 || problem->n_replicas > 0 || plan->reach > 0) return;
  if (plan->options.memory_bytes > 0 || padding < 0 || (padding > 0 && plan->fill == TESELA_FILL_LEAVE))
    return;
  const bool once = padding > 0 && tesela__gather_writes_once(plan, &problem->sums);
  if (!once && !tesela__gather_may_be_cheaper(plan, &problem->sums, NULL)) return;
  s->staged = plan->stream;
  if (tesela__stretches_set(s, plan, &problem->sums, padding, NULL)) {
    const tesela__verdict gather = tesela__gather_cost(plan, &problem->sums);
    if (once || tesela__gather_may_be_cheaper(plan, &problem->sums, &gather))
      plan->irregular = "pieces would write parts of cache lines";
  }
  s->n_groups = 0;
}
