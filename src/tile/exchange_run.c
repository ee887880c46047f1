/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange_run.c - execute a plan on the host, step by step, and notice what no step has written.
 *
 * It follows the steps of the plan, not the layouts: what a GPU would get from them is what comes out. Only where the trip
 * goes through shared memory the places come from the layouts, as in the code that is made of a plan.
 */
#include "tile/exchange.h"

typedef struct exchange_state {
  const tesela_exchange *plan;
  const char *src;
  char *dst;
  char *memory;     /* shared */
  size_t element;   /* bytes */
  uint8_t *written; /* of a register of dst; of a place in shared memory */
  uint8_t *stored;
} exchange_state;

/* Unit `into` of thread `to` gets unit `unit` of thread `from`. */
static tesela_status copy_unit(exchange_state *s, int64_t to, int64_t into, int64_t from, int64_t unit,
                               tesela_error *err) {
  const tesela_exchange_facts *facts = &s->plan->facts;
  if (from < 0 || from >= s->plan->src.spatial_size || unit < 0 || unit >= facts->src_units)
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "thread %" PRId64 " takes unit %" PRId64 " of thread %" PRId64
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

/* What a lane takes is what the other one offers in this round. */
static tesela_status run_round(exchange_state *s, int64_t round, tesela_error *err) {
  tesela_status status = TESELA_OK;
  for (int64_t t = 0; t < s->plan->facts.threads && status == TESELA_OK; t++) {
    tesela_exchange_step mine, other;
    status = tesela_exchange_step_of(s->plan, round, t, &mine, err);
    if (status != TESELA_OK || mine.into < 0) continue;
    status = tesela_exchange_step_of(s->plan, round, mine.from, &other, err);
    if (status == TESELA_OK) status = copy_unit(s, t, mine.into, mine.from, other.offer, err);
  }
  return status;
}

/* Each register of each thread of one side: to memory (by the first copy only), or from it. */
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

static tesela_status run_steps(exchange_state *s, tesela_error *err) {
  const tesela_exchange_facts *facts = &s->plan->facts;
  tesela_status status;
  if (facts->kind == TESELA_EXCHANGE_SHARED) {
    status = run_through_memory(s, true, err);
    if (status == TESELA_OK) status = run_through_memory(s, false, err);
  } else {
    status = run_moves(s, err);
    for (int64_t round = 0; round < facts->rounds && status == TESELA_OK; round++)
      status = run_round(s, round, err);
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
  tesela_allocator alloc = tesela__allocator(allocator);
  bool shared = plan->facts.kind == TESELA_EXCHANGE_SHARED;
  exchange_state s = {.plan = plan, .src = src, .dst = dst};
  s.element = (size_t)tesela__ceil_div(plan->facts.bits, 8);
  size_t registers = (size_t)(plan->dst.spatial_size * plan->dst.local_size);
  size_t places = shared ? (size_t)plan->memory.size : 0;
  s.written = tesela__alloc(&alloc, registers + places * (s.element + 1), 1);
  if (!s.written)
    return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory to keep track of %zu registers and %zu places",
                        registers, places);
  memset(s.written, 0, registers + places);
  s.stored = s.written + registers;
  s.memory = (char *)s.stored + places;
  tesela_status status = run_steps(&s, err);
  tesela__release(&alloc, s.written);
  return status;
}
