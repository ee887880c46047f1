/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange_run.c - execution of a plan on the host, step by step; fails if a register is never written.
 *
 * It follows the steps of the plan, not the layouts, so the result is what a GPU gets. In phases it tracks the source
 * of each part of each word. Only the places in shared memory come from the layouts, as in the emitted code.
 */
#include "gpu/exchange/exchange.h"

typedef struct exchange_state {
  const tesela_exchange *plan;
  const char *src;
  char *dst;
  char *memory;     /* shared memory */
  size_t element;   /* bytes */
  uint8_t *written; /* of registers of dst; stored: of places in shared memory */
  uint8_t *stored;
} exchange_state;

/* Unit `into` of thread `to` gets unit `unit` of thread `from`. */
static tesela_status copy_unit(exchange_state *s, int64_t to, int64_t into, int64_t from, int64_t unit,
                               tesela_error *err) {
  const tesela_exchange_facts *facts = &s->plan->facts;
  if (from < 0 || from >= s->plan->src.spatial_size || unit < 0 || unit >= facts->src_units)
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "thread %" PRId64 " reads unit %" PRId64 " of thread %" PRId64
                        ", which was never written",
                        to, unit, from);
  if (to >= s->plan->dst.spatial_size || into < 0 || into >= facts->dst_units)
    return tesela__fail(err, TESELA_E_INVALID, -1, "thread %" PRId64 " of dst has no unit %" PRId64, to,
                        into);
  for (int64_t k = 0; k < facts->unit; k++) {
    int64_t local = tesela__unit_register(s->plan->units.dst, s->plan->units.n, into, k);
    int64_t source = tesela__unit_register(s->plan->units.src, s->plan->units.n, unit, k);
    size_t at = (size_t)(to * s->plan->dst.local_size + local);
    memcpy(s->dst + at * s->element, s->src + (size_t)(from * s->plan->src.local_size + source) * s->element,
           s->element);
    s->written[at] = 1;
  }
  return TESELA_OK;
}

static tesela_status run_moves(exchange_state *s, tesela_error *err) {
  tesela_status status = TESELA_OK;
  for (int64_t t = 0; t < s->plan->dst.spatial_size; t++)
    for (int64_t into = 0; into < s->plan->facts.dst_units && status == TESELA_OK; into++) {
      int64_t from;
      status = tesela_exchange_move_of(s->plan, t, into, &from, err);
      if (status == TESELA_OK && from >= 0) status = copy_unit(s, t, into, t, from, err);
    }
  return status;
}

/* A lane takes the unit that the other lane offers in this round. */
static tesela_status run_round(exchange_state *s, int64_t round, tesela_error *err) {
  tesela_status status = TESELA_OK;
  for (int64_t t = 0; t < s->plan->facts.threads && status == TESELA_OK; t++) {
    if (s->plan->program[s->plan->program_of[t / s->plan->warp]].n_phases) continue;
    tesela_exchange_step mine, other;
    status = tesela_exchange_step_of(s->plan, round, t, &mine, err);
    if (status != TESELA_OK || mine.into < 0) continue;
    status = tesela_exchange_step_of(s->plan, round, mine.from, &other, err);
    if (status == TESELA_OK) status = copy_unit(s, t, mine.into, mine.from, other.offer, err);
  }
  return status;
}

/* ---- phases ------------------------------------------------------------------------------------------------------ */

/* Words of a warp. A part is its source, thread * src_units + unit, or -1. */
typedef struct run_words {
  int64_t words; /* per lane */
  int64_t *part; /* [(lane * words + word) * parts + k] */
} run_words;

static int64_t *run_word(const exchange_state *s, const run_words *w, int64_t lane, int64_t word) {
  return w->part + (lane * w->words + word) * s->plan->parts;
}

/* The units of src as words of one part. */
static void run_src_words(const exchange_state *s, int64_t start, run_words *w) {
  w->words = s->plan->facts.src_units;
  for (int64_t lane = 0; lane < s->plan->warp; lane++)
    for (int64_t u = 0; u < w->words; u++) {
      int64_t *part = run_word(s, w, lane, u);
      for (int32_t k = 0; k < s->plan->parts; k++) part[k] = -1;
      if (start + lane < s->plan->src.spatial_size) part[0] = (start + lane) * w->words + u;
    }
}

static void run_pack(const exchange_state *s, const tesela__exchange_phase *phase, const run_words *before,
                     run_words *w) {
  int64_t lanes = phase->moves.src_lanes, n = phase->src_words * s->plan->parts;
  w->words = phase->src_words;
  for (int64_t lane = 0; lane < lanes; lane++)
    for (int64_t i = 0; i < n; i++) {
      int32_t place = phase->part[lane * n + i];
      w->part[lane * n + i] = place < 0 ? -1 : *(run_word(s, before, lane, 0) + place);
    }
}

/* The words at the end of a phase: those that a lane keeps, and those that the rounds bring. */
static void run_phase(const exchange_state *s, const tesela__exchange_phase *phase, const run_words *start,
                      run_words *end) {
  const tesela__warp_program *m = &phase->moves;
  size_t bytes = (size_t)s->plan->parts * sizeof *end->part;
  end->words = phase->dst_words;
  for (int32_t lane = 0; lane < m->src_lanes; lane++)
    for (int64_t i = 0; i < end->words; i++) {
      int64_t *word = run_word(s, end, lane, i);
      memset(word, 0xff, bytes);
      if (tesela__own(m, end->words, lane, i))
        memcpy(word, run_word(s, start, lane, m->need_unit[lane * end->words + i]), bytes);
    }
  for (int64_t round = 0; round < m->rounds; round++)
    for (int32_t lane = 0; lane < m->src_lanes; lane++) {
      int64_t at = round * s->plan->warp + lane, from = round * s->plan->warp + m->from[at];
      if (m->into[at] < 0 || m->offer[from] < 0) continue;
      memcpy(run_word(s, end, lane, m->into[at]), run_word(s, start, m->from[at], m->offer[from]), bytes);
    }
}

static tesela_status run_results(exchange_state *s, const tesela__warp_program *w, int64_t start,
                                 const run_words *words, tesela_error *err) {
  int64_t units = s->plan->facts.dst_units, src_units = s->plan->facts.src_units;
  for (int32_t lane = 0; lane < w->dst_lanes; lane++)
    for (int64_t into = 0; into < units; into++) {
      int64_t part = *(run_word(s, words, lane, 0) + w->result[lane * units + into]);
      if (part < 0)
        return tesela__fail(err, TESELA_E_INVALID, -1,
                            "thread %" PRId64 " has nothing for unit %" PRId64 " of dst", start + lane, into);
      tesela_status status = copy_unit(s, start + lane, into, part / src_units, part % src_units, err);
      if (status != TESELA_OK) return status;
    }
  return TESELA_OK;
}

/* Run the phases of one warp, with two buffers: words at the start and at the end of a phase. */
static tesela_status run_phases(exchange_state *s, const tesela__warp_program *w, int64_t start,
                                const tesela_allocator *alloc, tesela_error *err) {
  int64_t most = s->plan->facts.src_units;
  for (int32_t i = 0; i < w->n_phases; i++)
    most = tesela__max(most, tesela__max(w->phase[i].src_words, w->phase[i].dst_words));
  uint64_t n = (uint64_t)(s->plan->warp * most * s->plan->parts);
  int64_t *memory = tesela__alloc(alloc, 2 * n * sizeof *memory, alignof(int64_t));
  if (!memory) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the words of a warp");
  run_words ends = {.part = memory}, starts = {.part = memory + n};
  run_src_words(s, start, &ends);
  for (int32_t i = 0; i < w->n_phases; i++) {
    run_pack(s, &w->phase[i], &ends, &starts);
    run_phase(s, &w->phase[i], &starts, &ends);
  }
  tesela_status status = run_results(s, w, start, &ends, err);
  tesela__release(alloc, memory);
  return status;
}

static tesela_status run_warps(exchange_state *s, const tesela_allocator *alloc, tesela_error *err) {
  tesela_status status = TESELA_OK;
  if (s->plan->facts.kind != TESELA_EXCHANGE_SHUFFLE) return TESELA_OK;
  for (int64_t i = 0; i < s->plan->n_warps && status == TESELA_OK; i++) {
    const tesela__warp_program *w = &s->plan->program[s->plan->program_of[i]];
    if (w->n_phases) status = run_phases(s, w, i * s->plan->warp, alloc, err);
  }
  return status;
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

/* Copy each register of each thread of one side to memory (by the first of several copies only), or from it. */
static tesela_status run_through_memory(exchange_state *s, bool store, tesela_error *err) {
  const tesela_register *layout = store ? &s->plan->src : &s->plan->dst;
  for (int64_t t = 0; t < layout->spatial_size; t++)
    for (int64_t l = 0; l < layout->local_size; l++) {
      int64_t index[TESELA_MAX_RANK], place, first;
      tesela_status status = tesela_register_get_global(layout, t, l, index, err);
      if (status == TESELA_OK) status = tesela_tile_memory_place(&s->plan->memory, index, &place, err);
      if (status == TESELA_OK) status = tesela_register_get_spatial(layout, index, 0, &first, err);
      if (status != TESELA_OK) return status;
      size_t of_thread = (size_t)(t * layout->local_size + l);
      if (store && first == t) {
        memcpy(s->memory + (size_t)place * s->element, s->src + of_thread * s->element, s->element);
        s->stored[place] = 1;
      } else if (!store) {
        if (!s->stored[place])
          return tesela__fail(err, TESELA_E_INVALID, -1,
                              "thread %" PRId64 " reads place %" PRId64
                              " of shared memory, which was never written",
                              t, place);
        memcpy(s->dst + of_thread * s->element, s->memory + (size_t)place * s->element, s->element);
        s->written[of_thread] = 1;
      }
    }
  return TESELA_OK;
}

static tesela_status run_steps(exchange_state *s, const tesela_allocator *alloc, tesela_error *err) {
  const tesela_exchange_facts *facts = &s->plan->facts;
  tesela_status status;
  if (facts->kind == TESELA_EXCHANGE_SHARED) {
    status = run_through_memory(s, true, err);
    if (status == TESELA_OK) status = run_through_memory(s, false, err);
  } else {
    status = run_moves(s, err);
    for (int64_t round = 0; round < facts->rounds && status == TESELA_OK; round++)
      status = run_round(s, round, err);
    if (status == TESELA_OK) status = run_warps(s, alloc, err);
  }
  int64_t locals = s->plan->dst.local_size;
  for (int64_t i = 0; i < s->plan->dst.spatial_size * locals && status == TESELA_OK; i++)
    if (!s->written[i])
      return tesela__fail(err, TESELA_E_INVALID, -1,
                          "no step writes register %" PRId64 " of thread %" PRId64 " of dst", i % locals,
                          i / locals);
  return status;
}

tesela_status tesela_exchange_run(const tesela_exchange *plan, void *dst, const void *src,
                                  const tesela_allocator *allocator, tesela_error *err) {
  TESELA__NEED(err, plan, dst, src);
  tesela_allocator alloc = tesela__allocator(allocator);
  bool shared = plan->facts.kind == TESELA_EXCHANGE_SHARED;
  exchange_state s = {.plan = plan, .src = src, .dst = dst};
  s.element = (size_t)tesela__ceil_div(plan->facts.bits, 8);
  uint64_t registers = (uint64_t)(plan->dst.spatial_size * plan->dst.local_size);
  uint64_t places = shared ? (uint64_t)plan->memory.size : 0;
  s.written = tesela__alloc(&alloc, registers + places * (s.element + 1), 1);
  if (!s.written)
    return tesela__fail(err, TESELA_E_MEMORY, -1,
                        "no memory to keep track of %" PRIu64 " registers and %" PRIu64 " places", registers,
                        places);
  memset(s.written, 0, (size_t)(registers + places));
  s.stored = s.written + registers;
  s.memory = (char *)s.stored + places;
  tesela_status status = run_steps(&s, &alloc, err);
  tesela__release(&alloc, s.written);
  return status;
}
