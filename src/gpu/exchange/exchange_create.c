/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange_create.c - plans that convert one register layout to another: the kind, and the program of each warp.
 *
 * For each dst unit of each lane: the class of lanes in its warp that holds it in src. If every lane holds its own
 * units, the threads exchange nothing. If every unit is in the same warp, shuffle rounds suffice. Otherwise the tile
 * goes through shared memory. Warps with the same needs share a program, so many warps cost little more than one.
 */
#include "gpu/exchange/exchange.h"

/* ---- the needs of a warp ------------------------------------------------------------------------------------ */

typedef struct exchange_builder {
  tesela_exchange *plan;
  tesela__exchange_table table;
  int32_t *class_of; /* of a base thread of src: its first thread in the last warp that has one, or -1 */
  tesela__warp_program spare; /* space for the needs of the next warp */
} exchange_builder;

static size_t need_count(const tesela_exchange *plan) { return (size_t)(plan->warp * plan->facts.dst_units); }

static tesela_status program_room(const tesela_exchange *plan, tesela__warp_program *w, tesela_error *err) {
  size_t n = need_count(plan);
  *w = (tesela__warp_program){.need_unit = NULL};
  w->need_unit = tesela__alloc(&plan->alloc, n * sizeof(int32_t), alignof(int32_t));
  w->need_class = tesela__alloc(&plan->alloc, n, 1);
  if (w->need_unit && w->need_class) return TESELA_OK;
  return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the %zu units of a warp", n);
}

static int32_t lanes_of(int64_t threads, int64_t start, int32_t warp) {
  return (int32_t)tesela__min(tesela__max(threads - start, 0), warp);
}

/* Write the needs of warp `number` to b->spare; false if a unit is in another warp only. */
static bool needs_of_warp(exchange_builder *b, int64_t number) {
  const tesela_exchange *plan = b->plan;
  const tesela__exchange_table *t = &b->table;
  tesela__warp_program *w = &b->spare;
  const tesela__unit_digits *digits = &plan->units;
  int64_t start = number * plan->warp, units = plan->facts.dst_units;
  w->src_lanes = lanes_of(t->src.threads, start, plan->warp);
  w->dst_lanes = lanes_of(t->dst.threads, start, plan->warp);
  memset(w->src_class, TESELA__NO_LANE, sizeof w->src_class);
  memset(w->dst_class, TESELA__NO_LANE, sizeof w->dst_class);
  memset(w->need_class, TESELA__NO_LANE, need_count(plan));
  memset(w->need_unit, 0, need_count(plan) * sizeof(int32_t));
  for (int32_t lane = 0; lane < w->src_lanes; lane++) {
    int32_t *first = &b->class_of[t->src.base_thread[start + lane]];
    if (*first < start) *first = (int32_t)start + lane;
    w->src_class[lane] = (uint8_t)(*first - start);
  }
  for (int32_t lane = 0; lane < w->dst_lanes; lane++) {
    int32_t other = 0, base = t->dst.base_thread[start + lane];
    while (t->dst.base_thread[start + other] != base) other++;
    w->dst_class[lane] = (uint8_t)other;
    for (int64_t into = 0; into < units; into++) {
      int32_t e = t->dst.of_thread[start + lane] +
                  t->dst.of_local[tesela__unit_register(digits->dst, digits->n, into, 0)];
      int32_t first = b->class_of[t->src_thread[e]];
      if (first < start) return false;
      w->need_class[lane * units + into] = (uint8_t)(first - start);
      w->need_unit[lane * units + into] =
          (int32_t)tesela__unit_of_register(digits->src, digits->n, t->src_local[e]);
    }
  }
  return true;
}

static bool same_needs(const tesela_exchange *plan, const tesela__warp_program *a,
                       const tesela__warp_program *b) {
  size_t n = need_count(plan);
  return a->src_lanes == b->src_lanes && a->dst_lanes == b->dst_lanes &&
         memcmp(a->src_class, b->src_class, sizeof a->src_class) == 0 &&
         memcmp(a->need_class, b->need_class, n) == 0 &&
         memcmp(a->need_unit, b->need_unit, n * sizeof(int32_t)) == 0;
}

/* The number of the program for the needs in b->spare: a recent one, or a new one. */
static tesela_status program_of_needs(exchange_builder *b, int32_t *number, tesela_error *err) {
  enum { LOOK_BACK = 8 }; /* bounds the time of a plan with many different warps */
  tesela_exchange *plan = b->plan;
  for (size_t k = plan->n_programs; k-- > 0 && k + LOOK_BACK >= plan->n_programs;)
    if (same_needs(plan, &plan->program[k], &b->spare)) {
      *number = (int32_t)k;
      return TESELA_OK;
    }
  tesela__warp_program next;
  tesela_status status = program_room(plan, &next, err);
  void *items = plan->program;
  if (status == TESELA_OK &&
      !tesela__grow(&plan->alloc, &items, sizeof *plan->program, &plan->capacity, plan->n_programs + 1))
    status = tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the programs of %zu warps",
                          plan->n_programs + 1);
  plan->program = items;
  if (status != TESELA_OK) {
    tesela__program_release(&plan->alloc, &next);
    return status;
  }
  *number = (int32_t)plan->n_programs;
  plan->program[plan->n_programs++] = b->spare;
  b->spare = next;
  return TESELA_OK;
}

static tesela_status all_needs(exchange_builder *b, bool *in_warps, tesela_error *err) {
  tesela_exchange *plan = b->plan;
  plan->program_of = tesela__alloc(&plan->alloc, (uint64_t)plan->n_warps * sizeof(int32_t), alignof(int32_t));
  b->class_of =
      tesela__alloc(&plan->alloc, (uint64_t)b->table.src.threads * sizeof(int32_t), alignof(int32_t));
  if (!plan->program_of || !b->class_of)
    return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for %" PRId64 " warps", plan->n_warps);
  for (int64_t thread = 0; thread < b->table.src.threads; thread++) b->class_of[thread] = -1;
  tesela_status status = program_room(plan, &b->spare, err);
  *in_warps = true;
  for (int64_t number = 0; number < plan->n_warps && status == TESELA_OK && *in_warps; number++) {
    *in_warps = needs_of_warp(b, number);
    if (*in_warps) status = program_of_needs(b, &plan->program_of[number], err);
  }
  return status;
}

/* ---- the kind ----------------------------------------------------------------------------------------------- */

/* The kind that one warp needs; raises *moves to the most units that a lane keeps. */
static tesela_exchange_kind kind_of_warp(const tesela_exchange *plan, const tesela__warp_program *w,
                                         int64_t *moves) {
  bool same = memcmp(plan->units.src, plan->units.dst, sizeof plan->units.src) == 0, own = true;
  int64_t units = plan->facts.dst_units;
  for (int32_t lane = 0; lane < w->dst_lanes; lane++) {
    int64_t n = 0;
    for (int64_t into = 0; into < units; into++) {
      bool have = tesela__own(w, units, lane, into);
      n += have;
      own = own && have;
      same = same && have && w->need_unit[lane * units + into] == into;
    }
    *moves = tesela__max(*moves, n);
  }
  return same ? TESELA_EXCHANGE_NOTHING : own ? TESELA_EXCHANGE_PERMUTE : TESELA_EXCHANGE_SHUFFLE;
}

static void drop_programs(tesela_exchange *plan) {
  for (size_t k = 0; k < plan->n_programs; k++) tesela__program_release(&plan->alloc, &plan->program[k]);
  tesela__release(&plan->alloc, plan->program);
  tesela__release(&plan->alloc, plan->program_of);
  plan->program = NULL;
  plan->program_of = NULL;
  plan->n_programs = plan->capacity = 0;
}

/* Rounds try each lane for each unit of each lane, in each different warp. */
static tesela_status check_steps(const tesela_exchange *plan, tesela_error *err) {
  int64_t most = plan->max_steps ? plan->max_steps : TESELA_SYNTHESIS_STEPS;
  int64_t steps =
      plan->facts.dst_units * (int64_t)plan->n_programs; /* of all warps: at most TESELA_ACCESS_LIMIT */
  steps *= (int64_t)plan->warp * plan->warp;
  if (steps <= most) return TESELA_OK;
  return tesela__refuse(err, TESELA_E_LIMIT, TESELA_REASON_MAX_STEPS,
                        "finding shuffles for %" PRId64 " units of each thread needs %" PRId64
                        " steps; max_steps is %" PRId64,
                        plan->facts.dst_units, steps, most);
}

/* One unit per round; if fewer rounds are conceivable, several units per word. */
static tesela_status plan_rounds(tesela_exchange *plan, tesela_error *err) {
  tesela_exchange_facts *facts = &plan->facts;
  const tesela_allocator *alloc = &plan->alloc;
  int64_t routed = 0;
  tesela_status checked = check_steps(plan, err);
  if (checked != TESELA_OK) return checked;
  for (size_t k = 0; k < plan->n_programs; k++) {
    tesela__warp_program *w = &plan->program[k];
    int64_t src_units = facts->src_units, dst_units = facts->dst_units, shuffles;
    if (plan->progress && plan->progress(plan->progress_user, (int64_t)k, (int64_t)plan->n_programs) != 0)
      return tesela__fail_stopped(err);
    tesela_status status = tesela__rounds_plan(w, plan->warp, src_units, dst_units, alloc, err);
    if (status == TESELA_OK)
      status =
          tesela__rounds_least(w, src_units, dst_units, facts->unit * facts->bits, alloc, &shuffles, err);
    if (status != TESELA_OK) return status;
    w->least = shuffles / facts->words;
    bool fewer = plan->parts > 1 && w->rounds > w->least;
    routed += fewer ? plan->warp * tesela__max(src_units, dst_units) : 0;
    if (fewer && routed <= TESELA__ROUTE_TAKES)
      status = tesela__rounds_pack(w, plan->warp, src_units, dst_units, plan->parts, alloc, err);
    if (status != TESELA_OK) return status;
    facts->rounds = tesela__max(facts->rounds, w->rounds);
    facts->least_rounds = tesela__max(facts->least_rounds, w->least);
    facts->phases = tesela__max(facts->phases, w->n_phases ? w->n_phases : 1);
    if (w->n_phases) facts->parts = plan->parts;
    facts->permutes = tesela__max(facts->permutes, tesela__program_permutes(plan, w));
  }
  return TESELA_OK;
}

static tesela_status choose_kind(exchange_builder *b, const tesela_exchange_options *options,
                                 tesela_error *err) {
  tesela_exchange *plan = b->plan;
  tesela_exchange_facts *facts = &plan->facts;
  bool in_warps = false;
  tesela_status status = all_needs(b, &in_warps, err);
  if (status != TESELA_OK) return status;
  facts->kind = in_warps ? TESELA_EXCHANGE_NOTHING : TESELA_EXCHANGE_SHARED;
  for (size_t k = 0; in_warps && k < plan->n_programs; k++) {
    tesela_exchange_kind kind = kind_of_warp(plan, &plan->program[k], &facts->moves);
    if (kind > facts->kind) facts->kind = kind;
  }
  if (facts->kind == TESELA_EXCHANGE_NOTHING) facts->moves = 0;
  if (facts->kind == TESELA_EXCHANGE_SHUFFLE && options->no_shuffle) facts->kind = TESELA_EXCHANGE_SHARED;
  if (facts->kind == TESELA_EXCHANGE_SHUFFLE) return plan_rounds(plan, err);
  if (facts->kind != TESELA_EXCHANGE_SHARED) return TESELA_OK;
  if (options->no_shared)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        in_warps
                            ? "a thread needs data of another thread; shuffles and shared memory are disabled"
                            : "a warp needs data that only another warp has; shared memory is disabled");
  facts->moves = 0;
  drop_programs(plan);
  return tesela__exchange_memory_plan(plan, err);
}

/* ---- create ------------------------------------------------------------------------------------------------- */

static tesela_status check_problem(const tesela_register *dst, const tesela_register *src, int32_t bits,
                                   const tesela_exchange_options *options, tesela_error *err) {
  if (dst->rank != src->rank)
    return tesela__fail(err, TESELA_E_MISMATCH, -1, "dst has rank %" PRId32 ", but src has %" PRId32,
                        dst->rank, src->rank);
  for (int32_t d = 0; d < dst->rank; d++)
    if (dst->shape[d] != src->shape[d])
      return tesela__fail(err, TESELA_E_MISMATCH, -1,
                          "dim %" PRId32 " is %" PRId64 " in dst and %" PRId64 " in src", d, dst->shape[d],
                          src->shape[d]);
  if (bits < 1 || bits > 128)
    return tesela__fail(err, TESELA_E_RANGE, -1, "an element has %" PRId32 " bits; expected 1 to 128", bits);
  if (options->warp < 0 || options->warp > TESELA__LANES)
    return tesela__fail(err, TESELA_E_RANGE, -1,
                        "a warp has %" PRId32 " lanes; expected 1 to %d, or 0 (default: 32)", options->warp,
                        TESELA__LANES);
  const tesela_register *sides[] = {dst, src};
  for (int i = 0; i < 2; i++) {
    int64_t all;
    if (!tesela__mul(sides[i]->spatial_size, sides[i]->local_size, &all) || all > TESELA_ACCESS_LIMIT)
      return tesela__fail(err, TESELA_E_LIMIT, -1,
                          "%s has %" PRId64 " threads with %" PRId64
                          " registers each; expected at most %" PRId64 " registers in total",
                          i ? "src" : "dst", sides[i]->spatial_size, sides[i]->local_size,
                          TESELA_ACCESS_LIMIT);
  }
  return TESELA_OK;
}

static void fill_facts(tesela_exchange *plan, const tesela__exchange_table *table, int32_t bits) {
  tesela_exchange_facts *facts = &plan->facts;
  facts->bits = bits;
  plan->units = tesela__exchange_units(table, bits);
  facts->unit = INT64_C(1) << plan->units.n;
  facts->words = tesela__ceil_div(facts->unit * bits, 32);
  facts->parts = 1;
  plan->parts = (int32_t)tesela__max(1, 32 / (facts->unit * bits));
  facts->threads = tesela__max(plan->dst.spatial_size, plan->src.spatial_size);
  facts->src_units = plan->src.local_size / facts->unit;
  facts->dst_units = plan->dst.local_size / facts->unit;
  plan->warp = (int32_t)tesela__min(plan->full_warp, facts->threads);
  plan->n_warps = tesela__ceil_div(facts->threads, plan->warp);
}

tesela_status tesela_exchange_create(tesela_exchange **out, const tesela_register *dst,
                                     const tesela_register *src, int32_t bits,
                                     const tesela_exchange_options *options,
                                     const tesela_allocator *allocator, tesela_error *err) {
  TESELA__NEED(err, out, dst, src);
  TESELA__NEED_CLEAR(err, options);
  tesela_exchange_options chosen = options ? *options : (tesela_exchange_options){.warp = 0};
  tesela_status status = check_problem(dst, src, bits, &chosen, err);
  if (status != TESELA_OK) return status;
  tesela_allocator alloc = tesela__allocator(allocator);
  tesela_exchange *plan = tesela__alloc(&alloc, sizeof *plan, alignof(tesela_exchange));
  if (!plan) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for a plan of %zu bytes", sizeof *plan);
  *plan = (tesela_exchange){.alloc = alloc, .dst = *dst, .src = *src};
  plan->full_warp = chosen.warp ? chosen.warp : 32;
  plan->max_steps = chosen.max_steps;
  plan->progress = chosen.progress;
  plan->progress_user = chosen.progress_user;
  exchange_builder b = {.plan = plan};
  status = tesela__exchange_table_make(&b.table, dst, src, &alloc, err);
  if (status == TESELA_OK) {
    fill_facts(plan, &b.table, bits);
    status = choose_kind(&b, &chosen, err);
  }
  tesela__program_release(&alloc, &b.spare);
  tesela__release(&alloc, b.class_of);
  tesela__release(&alloc, b.table.memory);
  if (status == TESELA_OK)
    *out = plan;
  else
    tesela_exchange_destroy(plan);
  return status;
}

void tesela_exchange_destroy(tesela_exchange *plan) {
  if (!plan) return;
  tesela_allocator alloc = plan->alloc;
  drop_programs(plan);
  tesela__release(&alloc, plan);
}
