/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relayout_plan.c - create, describe and destroy plans.
 */
#include <stdio.h>

#include "relayout/gather.h"
#include "relayout/solve.h"
#include "relayout/window.h"

/* ---- lists ------------------------------------------------------------------------------------------------- */

const char *tesela_solver_name(tesela_solver solver) {
  switch (solver) {
#define TESELA__ROW(symbol, value, name, text) \
  case symbol:                                 \
    return name;
    TESELA_SOLVER_MAP(TESELA__ROW)
#undef TESELA__ROW
  }
  return NULL;
}

const char *tesela_isa_name(tesela_isa isa) {
  switch (isa) {
#define TESELA__ROW(symbol, value, name) \
  case symbol:                           \
    return name;
    TESELA_ISA_MAP(TESELA__ROW)
#undef TESELA__ROW
  }
  return NULL;
}

/* The TESELA__CPU_* bits up to an instruction set. */
static unsigned isa_bits(tesela_isa isa) {
  switch (isa) {
  case TESELA_ISA_C:
    return 0;
  case TESELA_ISA_NEON:
    return TESELA__CPU_NEON;
  case TESELA_ISA_AVX2:
    return TESELA__CPU_AVX2;
  default:
    return ~0u;
  }
}

bool tesela_isa_available(tesela_isa isa) {
  unsigned cpu = tesela__cpu();
  switch (isa) {
  case TESELA_ISA_BEST:
  case TESELA_ISA_C:
    return true;
  case TESELA_ISA_NEON:
    return cpu & TESELA__CPU_NEON;
  case TESELA_ISA_AVX2:
    return cpu & TESELA__CPU_AVX2;
  case TESELA_ISA_AVX512:
    return cpu & TESELA__CPU_AVX512;
  }
  return false;
}

static tesela_isa best_isa(unsigned bits) {
  if (bits & TESELA__CPU_AVX512) return TESELA_ISA_AVX512;
  if (bits & TESELA__CPU_AVX2) return TESELA_ISA_AVX2;
  return bits & TESELA__CPU_NEON ? TESELA_ISA_NEON : TESELA_ISA_C;
}

/* ---- checks ------------------------------------------------------------------------------------------------ */

static tesela_status check_options(const tesela_plan_options *o, tesela_error *err) {
  if (o->fill < TESELA_FILL_ZERO || o->fill > TESELA_FILL_VALUE)
    return tesela__fail(err, TESELA_E_RANGE, -1, "invalid fill mode %d; expected 0 to 2", (int)o->fill);
  if (o->effort < TESELA_EFFORT_ESTIMATE || o->effort > TESELA_EFFORT_MEASURE)
    return tesela__fail(err, TESELA_E_RANGE, -1, "invalid effort %d; expected 0 or 1", (int)o->effort);
  if (!tesela_solver_name(o->solver))
    return tesela__fail(err, TESELA_E_RANGE, -1, "unknown solver %d", (int)o->solver);
  if (o->threads < 0 || o->threads > 1024)
    return tesela__fail(err, TESELA_E_RANGE, -1, "%" PRId32 " threads; expected 0 to 1024", o->threads);
  if (o->memory_bytes < 0)
    return tesela__fail(err, TESELA_E_RANGE, -1, "memory_bytes is %" PRId64 "; expected 0 or more",
                        o->memory_bytes);
  if (!tesela_isa_name(o->isa))
    return tesela__fail(err, TESELA_E_RANGE, -1, "unknown instruction set %d", (int)o->isa);
  if (!tesela_isa_available(o->isa))
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "this CPU or build does not support %s",
                        tesela_isa_name(o->isa));
  return TESELA_OK;
}

static tesela_status check_side(const tesela_layout *layout, const char *name, tesela_error *err) {
  tesela_status status = tesela__check_finished(layout, err);
  if (status != TESELA_OK) return status;
  if (layout->n_axes != 1)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "%s has %" PRId32 " axes; expected 1", name,
                        layout->n_axes);
  if (layout->bits < 1 || layout->bits > 128 || (layout->bits & (layout->bits - 1)))
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "%s has elements of %" PRId32 " bits; expected 1, 2, 4, 8, 16, 32, 64 or 128", name,
                        layout->bits);
  int64_t bits;
  if (!tesela__mul(layout->axis[0].extent, layout->bits, &bits))
    return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the bits of %s exceed 2^63", name);
  return TESELA_OK;
}

static tesela_status check_shapes(const tesela_layout *dst, const tesela_layout *src, tesela_error *err) {
  if (dst->rank != src->rank)
    return tesela__fail(err, TESELA_E_MISMATCH, -1, "dst has rank %" PRId32 ", but src has %" PRId32,
                        dst->rank, src->rank);
  for (int32_t d = 0; d < dst->rank; d++)
    if (dst->shape[d] != src->shape[d])
      return tesela__fail(err, TESELA_E_MISMATCH, -1,
                          "extent %" PRId64 " of dim %" PRId32 " in dst, but %" PRId64 " in src",
                          dst->shape[d], d, src->shape[d]);
  return TESELA_OK;
}

enum { SHARED_TEXT = 64 };

/* "(2,3)", cut if it is long. */
static const char *shared_index(int32_t rank, const int64_t *index, char text[SHARED_TEXT]) {
  size_t n = 0;
  for (int32_t d = 0; d < rank && n < SHARED_TEXT; d++)
    n += (size_t)snprintf(text + n, SHARED_TEXT - n, "%c%" PRId64 "%s", d ? ',' : '(', index[d],
                          d == rank - 1 ? ")" : "");
  if (n >= SHARED_TEXT) memcpy(text + SHARED_TEXT - 4, "...", 4);
  return text;
}

/* Check that elements of dst do not share places. */
static tesela_status check_unique(const tesela_layout *dst, tesela_error *err) {
  char text[2][SHARED_TEXT];
  int64_t index[2][TESELA_MAX_RANK], place;
  bool overlap = dst->axis[0].overlap, shared = overlap && !dst->axis[0].undecided;
  for (int32_t j = 0; j < dst->n_joins; j++) {
    overlap = overlap || dst->join[j].overlap;
    shared = shared || (dst->join[j].overlap && !dst->join[j].undecided);
  }
  for (int32_t i = 0; i < dst->n_mapped; i++) {
    const tesela_digit *digit = &dst->digit[i];
    shared = shared || (digit->stride == 0 && tesela__coordinate_extent(dst, digit->source) > digit->step);
  }
  if ((!overlap && !shared) || tesela__is_empty(dst)) return TESELA_OK;
  if (tesela__find_shared(dst, index[0], index[1], &place))
    return tesela__fail(
        err, TESELA_E_UNSUPPORTED, -1, "elements of dst share places: %s and %s are both at %" PRId64,
        shared_index(dst->rank, index[0], text[0]), shared_index(dst->rank, index[1], text[1]), place);
  return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                      shared ? "elements of dst share places"
                             : "cannot decide whether elements of dst share places");
}

/* ---- the pieces -------------------------------------------------------------------------------------------- */

typedef struct piece_making {
  tesela_plan *plan;
  bool fill;
  uint64_t *random;
  tesela_status status;
  tesela_error *err;
  bool stopped; /* by a piece that does not fit windows */
} piece_making;

static bool make_piece(void *data, tesela__box *box) {
  piece_making *m = data;
  if (m->fill && !m->plan->fill_first)
    m->status = tesela__keep_fill(m->plan, box, m->err);
  else
    m->status = tesela__add_piece(m->plan, box, m->fill, m->random, m->err);
  m->stopped = !m->fill && m->status == TESELA_OK && m->plan->window > 0 && !tesela__window_of_last(m->plan);
  return m->status == TESELA_OK && !m->stopped;
}

static void forget_pieces(tesela_plan *plan) {
  plan->n_pieces = plan->n_fills = plan->n_fill_boxes = plan->n_bits_tiles = 0;
  plan->n_picked_lines = plan->n_picks = plan->n_bit_rounds = 0;
  plan->n_table = 0;
  plan->total_bytes = 0;
  plan->bitwise = plan->fill_first = false;
  plan->window = 0;
  plan->largest = -1;
}

/* The number of places without an element that dst's digits reach or that follow them; -1: padding may share places. *tail: those
 * that follow, or 0. */
static int64_t padding_places(const tesela_layout *dst, int64_t *tail) {
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
  piece_making m = {plan, true, random, TESELA_OK, err, false};
  int64_t tail;
  if (plan->fill == TESELA_FILL_LEAVE || padding_places(&plan->dst, &tail) == 0) return TESELA_OK;
  if (tesela__padding_boxes(&plan->dst, everything, &plan->fill_first, make_piece, &m)) return TESELA_OK;
  if (m.status != TESELA_OK) return m.status;
  forget_pieces(plan); /* too many boxes: fill everything first */
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

static tesela_status make_regular(tesela_plan *plan, const tesela__problem *problem, uint64_t *random,
                                  tesela_error *err) {
  tesela_status status = make_fills(plan, false, random, err);
  if (status != TESELA_OK) return status;
  piece_making m = {plan, false, random, TESELA_OK, err, false};
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
  padding = padding_places(&plan->dst, &tail) - tail;
  if (padding < 0) return;
  plan->stretches.staged = random ? tesela__random(random) % 2 : plan->stream;
  if (padding > 0 && plan->fill == TESELA_FILL_LEAVE) plan->stretches.staged = false;
  tesela__stretches_set(&plan->stretches, plan, &plan->sums, padding, random);
}

/* Fill what stretches leave: the places after the last one that the digits reach. */
static tesela_status make_tail(tesela_plan *plan, uint64_t *random, tesela_error *err) {
  piece_making m = {plan, true, random, TESELA_OK, err, false};
  if (plan->fill != TESELA_FILL_LEAVE) tesela__tail_box(&plan->dst, make_piece, &m);
  return m.status;
}

static tesela_status make_irregular(tesela_plan *plan, const tesela__problem *problem, uint64_t *random,
                                    tesela_error *err) {
  forget_pieces(plan);
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
  plan->verdict[TESELA_SOLVER_GATHER] = (tesela__verdict){.applies = true, .cost = plan->by_sums ? 4 : 40};
  return TESELA_OK;
}

/* Leave a plan of pieces to the gather where that is faster. Pieces stay where each is to be run alone, or within a limit. */
static void use_stretches(tesela_plan *plan, const tesela__problem *problem) {
  tesela__stretches *s = &plan->stretches;
  int64_t tail;
  const int64_t padding = padding_places(&plan->dst, &tail) - tail;
  if (problem->no_sums || problem->sums.n == 0 || problem->n_replicas > 0 || plan->reach > 0) return;
  if (plan->options.memory_bytes > 0 || padding <= 0 || plan->fill == TESELA_FILL_LEAVE) return;
  if (tesela__stretches_better(plan, &problem->sums) &&
      tesela__stretches_set(s, plan, &problem->sums, padding, NULL))
    plan->irregular = "pieces would write parts of cache lines";
  s->n_groups = 0;
}

/* Are all bytes of dst written? */
static bool writes_everything(const tesela_plan *plan) {
  const tesela_layout *dst = &plan->dst;
  int64_t tail, places = tesela_layout_copies(dst);
  const int64_t padding = padding_places(dst, &tail);
  for (int32_t d = 0; d < dst->rank; d++) places *= dst->shape[d];
  if (padding < 0 || (padding > 0 && plan->fill == TESELA_FILL_LEAVE)) return false;
  return places + padding == dst->axis[0].extent && dst->axis[0].offset == 0 && !dst->swizzle.n &&
         dst->axis[0].extent * dst->bits % 8 == 0;
}

/* The pieces of a plan, aside while others are tried. */
typedef struct kept_pieces {
  tesela__piece *piece;
  int32_t n_pieces, n_fills, largest, unit_bytes;
  bool bitwise;
  int64_t total_bytes;
  tesela__verdict verdict[TESELA__N_SOLVERS];
  tesela__box shape;
} kept_pieces;

/* Their tables stay where they are, before those of the others. */
static tesela_status keep_pieces(kept_pieces *kept, tesela_plan *plan, tesela_error *err) {
  const size_t bytes = (size_t)plan->n_pieces * sizeof *plan->piece;
  kept->piece = tesela__alloc(&plan->allocator, bytes + 1, alignof(tesela__piece));
  if (!kept->piece) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the pieces of the plan");
  if (bytes > 0) memcpy(kept->piece, plan->piece, bytes);
  kept->n_pieces = plan->n_pieces;
  kept->n_fills = plan->n_fills;
  kept->largest = plan->largest;
  kept->unit_bytes = plan->unit_bytes;
  kept->bitwise = plan->bitwise;
  kept->total_bytes = plan->total_bytes;
  memcpy(kept->verdict, plan->verdict, sizeof kept->verdict);
  kept->shape = plan->shape;
  plan->n_pieces = plan->n_fills = plan->n_fill_boxes = 0;
  plan->largest = -1;
  plan->bitwise = false;
  plan->total_bytes = 0;
  return TESELA_OK;
}

static void put_pieces_back(const kept_pieces *kept, tesela_plan *plan) {
  memcpy(plan->piece, kept->piece, (size_t)kept->n_pieces * sizeof *plan->piece);
  plan->n_pieces = kept->n_pieces;
  plan->n_fills = kept->n_fills;
  plan->largest = kept->largest;
  plan->unit_bytes = kept->unit_bytes;
  plan->bitwise = kept->bitwise;
  plan->total_bytes = kept->total_bytes;
  memcpy(plan->verdict, kept->verdict, sizeof kept->verdict);
  plan->shape = kept->shape;
  plan->window = 0;
  plan->irregular = NULL;
}

/* Run the pieces by windows where they would write parts of the same lines; they are made again, with tiles that are not long in dst. */
static tesela_status use_windows(tesela_plan *plan, const tesela__problem *problem, uint64_t *random,
                                 tesela_error *err) {
  enum { WINDOW = 32 << 10, REACH = 8 };
  const int64_t window = random ? 64 << tesela__random(random) % 10 : WINDOW;
  if (plan->reach > 0 || plan->fill_first || plan->options.memory_bytes > 0 || !writes_everything(plan))
    return TESELA_OK;
  if (random ? tesela__random(random) % 2 : !plan->stream || !tesela__windows_wanted(plan)) return TESELA_OK;
  kept_pieces kept;
  tesela_status status = keep_pieces(&kept, plan, err);
  if (status != TESELA_OK) return status;
  plan->reach = tesela__max(1, window / REACH);
  plan->window = window;
  status = make_regular(plan, problem, random, err);
  plan->reach = 0;
  const bool fits = status == TESELA_OK && plan->window > 0 && tesela__windows_fit(plan, window);
  if (!fits) put_pieces_back(&kept, plan);
  tesela__release(&plan->allocator, kept.piece);
  if (!fits) return status;
  plan->window_filled = plan->n_fills > 0;
  plan->n_pieces -= plan->n_fills;
  plan->n_fills = 0;
  plan->total_bytes = plan->info.dst_bytes;
  for (int32_t i = 0; i < plan->n_pieces; i++)
    plan->window_filled = plan->window_filled || plan->piece[i].bitwise || plan->piece[i].keeps_bits;
  return TESELA_OK;
}

/* ---- facts ------------------------------------------------------------------------------------------------- */

/* One more than the last place that the digits of a layout reach. */
static int64_t last_reached(const tesela_layout *layout) {
  if (tesela__is_empty(layout)) return 0;
  if (layout->swizzle.n) return layout->axis[0].extent;
  int64_t end = layout->axis[0].offset + 1;
  for (int32_t i = 0; i < layout->n_active; i++) {
    const tesela_digit *digit = &layout->digit[i];
    if (digit->axis >= 0 && digit->stride > 0) end += (digit->extent - 1) * digit->stride;
  }
  return tesela__min(end, layout->axis[0].extent);
}

static int32_t threads_for(const tesela_plan *plan) {
  if (plan->irregular ? !plan->by_sums || plan->dst.bits < 8 : plan->bitwise && plan->window == 0) return 1;
  return tesela__threads_for_bytes(plan, plan->info.bytes_read + plan->info.bytes_written);
}

static void set_facts(tesela_plan *plan) {
  tesela_plan_info *info = &plan->info;
  int64_t elements = 1, copies = tesela_layout_copies(&plan->dst);
  for (int32_t d = 0; d < plan->dst.rank; d++) elements *= plan->dst.shape[d];
  int64_t tail, padding = plan->fill == TESELA_FILL_LEAVE ? 0 : padding_places(&plan->dst, &tail);
  if (!tesela__mul(elements, plan->src.bits, &info->bytes_read)) info->bytes_read = INT64_MAX;
  info->bytes_read = tesela__ceil_div(info->bytes_read, 8);
  info->bytes_written = tesela__ceil_div((elements * copies + padding) * plan->dst.bits, 8);
  info->n_fills = plan->n_fills;
  info->n_pieces = plan->irregular ? 1 : plan->n_pieces - plan->n_fills;
  info->solver = plan->irregular     ? TESELA_SOLVER_GATHER
                 : plan->largest < 0 ? TESELA_SOLVER_ANY
                                     : plan->piece[plan->largest].solver;
  unsigned isa = 0;
  for (int32_t i = 0; i < plan->n_pieces; i++) isa |= plan->piece[i].isa;
  info->isa = best_isa(isa);
  info->scratch_bytes = 0;
  for (int32_t i = 0; i < plan->n_pieces; i++)
    if (plan->piece[i].pack_pitch || plan->piece[i].bits_tile ||
        (plan->piece[i].stream && plan->piece[i].stage))
      info->scratch_bytes = tesela__max(info->scratch_bytes,
                                        2 * (plan->piece[i].bits_tile ? TESELA__BITS_STAGE : TESELA__STAGE) +
                                            TESELA__CARRIED * TESELA__LINE);
  if (plan->window > 0)
    info->scratch_bytes = 2 * TESELA__STAGE + tesela__max(info->scratch_bytes,
                                                          2 * TESELA__STAGE + TESELA__CARRIED * TESELA__LINE);
  if (plan->irregular && plan->stretches.n_groups > 0)
    info->scratch_bytes = TESELA__GATHER_STAGE + 2 * TESELA__GATHER_BUFFER;
  if (plan->irregular) plan->total_bytes += tesela__ceil_div(elements * copies * plan->dst.bits, 8);
  info->threads = threads_for(plan);
}

tesela_status tesela__plan_pieces(tesela_plan *plan, tesela_error *err) {
  tesela_layout dst, src;
  tesela__problem problem;
  uint64_t seed = plan->options.shuffle, *random = seed ? &seed : NULL;
  forget_pieces(plan);
  plan->irregular = NULL;
  plan->by_sums = false;
  plan->stretches.n_groups = 0;
  tesela_status status = tesela_layout_canonical(&plan->dst, &dst, err);
  if (status == TESELA_OK) status = tesela_layout_canonical(&plan->src, &src, err);
  if (status != TESELA_OK) return status;
  int64_t tail;
  if (plan->fill != TESELA_FILL_LEAVE && padding_places(&plan->dst, &tail) < 0)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "the strides of dst interleave and its digits have padding, which cannot be filled");
  plan->info.in_place = tesela__in_place_possible(&dst, &src);
  tesela__problem_set(&problem, &dst, &src);
  plan->irregular = problem.irregular;
  if (plan->options.solver == TESELA_SOLVER_GATHER || (random && tesela__random(random) % 16 == 0))
    plan->irregular = "requested";
  if (!plan->irregular) status = make_regular(plan, &problem, random, err);
  if (status == TESELA_OK && !plan->irregular && !random && plan->options.solver == TESELA_SOLVER_ANY)
    use_stretches(plan, &problem);
  if (status == TESELA_OK && !plan->irregular) status = use_windows(plan, &problem, random, err);
  if (status == TESELA_OK && plan->irregular) status = make_irregular(plan, &problem, random, err);
  if (status == TESELA_OK) set_facts(plan);
  return status;
}

/* Stream from this size on at the latest: of a cache of hundreds of MiB a process has a small share. */
enum { STREAM_FROM = 16 << 20 };

static tesela_status set_plan(tesela_plan *plan, tesela_error *err) {
  const tesela_plan_options *o = &plan->options;
  tesela_status status = tesela__conversion_find(o->transform, plan->dst.dtype, plan->dst.bits,
                                                 plan->src.dtype, plan->src.bits, &plan->conversion, err);
  if (status != TESELA_OK) return status;
  plan->fill = o->fill;
  int32_t bytes = plan->dst.bits / 8;
  for (int32_t i = 0; i < TESELA__LINE && o->fill == TESELA_FILL_VALUE; i++) {
    unsigned low = o->fill_value[0] & ((1u << (plan->dst.bits & 7)) - 1u), value = 0;
    for (int32_t bit = 0; bit < 8 && bytes == 0; bit += plan->dst.bits) value |= low << bit;
    plan->fill_pattern[i] = bytes ? o->fill_value[i % bytes] : (uint8_t)value;
  }
  plan->isa = tesela__cpu() & isa_bits(o->isa);
  plan->info.src_bytes = tesela__ceil_div(last_reached(&plan->src) * plan->src.bits, 8);
  int64_t places = o->fill == TESELA_FILL_LEAVE ? last_reached(&plan->dst) : plan->dst.axis[0].extent;
  plan->info.dst_bytes = tesela__ceil_div(places * plan->dst.bits, 8);
  int64_t bytes_of_both;
  if (!tesela__add(plan->info.src_bytes, plan->info.dst_bytes, &bytes_of_both)) bytes_of_both = INT64_MAX;
  plan->info.l2_bytes = tesela__cache_bytes(2);
  plan->info.l3_bytes = tesela__cache_bytes(3);
  plan->stream = bytes_of_both > tesela__min(plan->info.l3_bytes / 2, STREAM_FROM);
  if (plan->tuning.stream) plan->stream = plan->tuning.stream > 0;
  status = tesela__plan_pieces(plan, err);
  if (status != TESELA_OK) return status;
  tesela_solver wanted = o->solver;
  if (wanted == TESELA_SOLVER_ANY || plan->info.n_pieces == 0) return TESELA_OK;
  for (int32_t i = 0; i < plan->n_pieces; i++)
    if (!plan->piece[i].fill && plan->piece[i].solver == wanted) return TESELA_OK;
  if (wanted == TESELA_SOLVER_GATHER) return TESELA_OK;
  const char *why = plan->verdict[wanted].why;
  return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "the solver %s does not apply: %s",
                      tesela_solver_name(wanted), why ? why : "no piece has its form");
}

/* ---- create, destroy, describe ----------------------------------------------------------------------------- */

tesela_status tesela_plan_create(tesela_plan **plan, const tesela_layout *dst, const tesela_layout *src,
                                 const tesela_plan_options *options, tesela_error *err) {
  TESELA__NEED(err, plan, dst, src);
  TESELA__NEED_CLEAR(err, options);
  static const tesela_plan_options defaults = {0};
  const tesela_plan_options *o = options ? options : &defaults;
  tesela_status status = check_options(o, err);
  if (status == TESELA_OK) status = check_side(dst, "dst", err);
  if (status == TESELA_OK) status = check_side(src, "src", err);
  if (status == TESELA_OK) status = check_shapes(dst, src, err);
  if (status == TESELA_OK) status = check_unique(dst, err);
  if (status != TESELA_OK) return status;
  tesela_allocator allocator = tesela__allocator(o->allocator);
  tesela_plan *made = tesela__alloc(&allocator, sizeof *made, alignof(tesela_plan));
  if (!made) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for a plan of %zu bytes", sizeof *made);
  memset(made, 0, sizeof *made);
  atomic_init(&made->references, 1);
  made->allocator = allocator;
  made->dst = *dst;
  made->src = *src;
  made->options = *o;
  made->options.allocator = NULL;
  status = set_plan(made, err);
  if (status == TESELA_OK && o->effort == TESELA_EFFORT_MEASURE) status = tesela__plan_measure(made, err);
  if (status != TESELA_OK) {
    tesela_plan_destroy(made);
    return status;
  }
  *plan = made;
  return TESELA_OK;
}

void tesela_plan_destroy(tesela_plan *plan) {
  if (!plan || atomic_fetch_sub_explicit(&plan->references, 1, memory_order_acq_rel) != 1) return;
  tesela_allocator allocator = plan->allocator;
  tesela__release(&allocator, plan->piece);
  tesela__release(&allocator, plan->table);
  tesela__release(&allocator, plan->fill_box);
  tesela__release(&allocator, plan->bits_tile);
  tesela__release(&allocator, plan->picked_line);
  tesela__release(&allocator, plan->pick);
  tesela__release(&allocator, plan->bit_round);
  tesela__release(&allocator, plan);
}

void tesela_plan_describe(const tesela_plan *plan, tesela_plan_info *info) {
  if (!info) return;
  *info = plan ? plan->info : (tesela_plan_info){0};
  if (info->in_place) info->in_place_scratch_bytes = tesela__in_place_scratch_bytes(plan);
}
