/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange_ask.c - queries of a plan: its facts, the step of a thread in a round, the parts of its words.
 */
#include "gpu/exchange/exchange.h"

tesela_exchange_facts tesela_exchange_facts_of(const tesela_exchange *plan) {
  if (!plan) return (tesela_exchange_facts){0};
  return plan->facts;
}

const tesela_tile_memory *tesela_exchange_memory(const tesela_exchange *plan) {
  return plan && plan->facts.kind == TESELA_EXCHANGE_SHARED ? &plan->memory : NULL;
}

tesela_status tesela_exchange_register_of(const tesela_exchange *plan, bool of_src, int64_t unit, int64_t k,
                                          int64_t *local, tesela_error *err) {
  TESELA__NEED(err, plan, local);
  int64_t units = of_src ? plan->facts.src_units : plan->facts.dst_units;
  if (unit < 0 || unit >= units || k < 0 || k >= plan->facts.unit)
    return tesela__fail(err, TESELA_E_RANGE, -1,
                        "element %" PRId64 " of unit %" PRId64 " is out of range; a thread has %" PRId64
                        " units of %" PRId64,
                        k, unit, units, plan->facts.unit);
  *local = tesela__unit_register(of_src ? plan->units.src : plan->units.dst, plan->units.n, unit, k);
  return TESELA_OK;
}

tesela_status tesela_exchange_step_of(const tesela_exchange *plan, int64_t round, int64_t thread,
                                      tesela_exchange_step *step, tesela_error *err) {
  TESELA__NEED(err, plan, step);
  if (round < 0 || round >= plan->facts.rounds)
    return tesela__fail(err, TESELA_E_RANGE, -1, "round %" PRId64 " is out of range; the plan has %" PRId64,
                        round, plan->facts.rounds);
  if (thread < 0 || thread >= plan->facts.threads)
    return tesela__fail(err, TESELA_E_RANGE, -1, "thread %" PRId64 " is out of range; the block has %" PRId64,
                        thread, plan->facts.threads);
  const tesela__warp_program *w = &plan->program[plan->program_of[thread / plan->warp]];
  *step = (tesela_exchange_step){thread, -1, thread, -1, -1};
  if (round >= w->rounds) return TESELA_OK;
  int32_t phase = 0;
  while (round >= tesela__phase_moves(w, phase)->rounds) round -= tesela__phase_moves(w, phase++)->rounds;
  const tesela__warp_program *moves = tesela__phase_moves(w, phase);
  int64_t lane = thread % plan->warp, at = round * plan->warp + lane;
  step->phase = phase;
  step->offer = moves->offer[at];
  step->into = moves->into[at];
  if (step->into >= 0) step->from = thread - lane + moves->from[at];
  return TESELA_OK;
}

tesela_status tesela_exchange_move_of(const tesela_exchange *plan, int64_t thread, int64_t into,
                                      int64_t *from, tesela_error *err) {
  TESELA__NEED(err, plan, from);
  int64_t units = plan->facts.dst_units;
  if (thread < 0 || thread >= plan->dst.spatial_size)
    return tesela__fail(err, TESELA_E_RANGE, -1, "thread %" PRId64 " is out of range; dst has %" PRId64,
                        thread, plan->dst.spatial_size);
  if (into < 0 || into >= units)
    return tesela__fail(err, TESELA_E_RANGE, -1,
                        "unit %" PRId64 " is out of range; a thread of dst has %" PRId64, into, units);
  *from = -1;
  if (plan->facts.kind == TESELA_EXCHANGE_SHARED) return TESELA_OK;
  const tesela__warp_program *w = &plan->program[plan->program_of[thread / plan->warp]];
  int32_t lane = (int32_t)(thread % plan->warp);
  if (tesela__own(w, units, lane, into)) *from = w->need_unit[lane * units + into];
  return TESELA_OK;
}

/* ---- phases --------------------------------------------------------------------------------------------------- */

static const tesela__warp_program *ask_program(const tesela_exchange *plan, int64_t thread) {
  return plan->facts.kind == TESELA_EXCHANGE_SHUFFLE ? &plan->program[plan->program_of[thread / plan->warp]]
                                                     : NULL;
}

tesela_status tesela_exchange_phase_of(const tesela_exchange *plan, int64_t phase, int64_t thread,
                                       tesela_exchange_phase *out, tesela_error *err) {
  TESELA__NEED(err, plan, out);
  if (thread < 0 || thread >= plan->facts.threads)
    return tesela__fail(err, TESELA_E_RANGE, -1, "thread %" PRId64 " is out of range; the block has %" PRId64,
                        thread, plan->facts.threads);
  const tesela__warp_program *w = ask_program(plan, thread);
  *out = (tesela_exchange_phase){.phases = w ? tesela__max(w->n_phases, 1) : 0};
  if (phase < 0 || phase >= tesela__max(out->phases, 1))
    return tesela__fail(err, TESELA_E_RANGE, -1, "phase %" PRId64 " is out of range; the warp has %" PRId64,
                        phase, out->phases);
  if (!w) return TESELA_OK;
  out->rounds = tesela__phase_moves(w, (int32_t)phase)->rounds;
  out->src_words = w->n_phases ? w->phase[phase].src_words : plan->facts.src_units;
  out->dst_words = w->n_phases ? w->phase[phase].dst_words : plan->facts.dst_units;
  return TESELA_OK;
}

static tesela_status ask_word(int64_t word, int64_t words, int64_t k, int64_t parts, tesela_error *err) {
  if (word >= 0 && word < words && k >= 0 && k < parts) return TESELA_OK;
  return tesela__fail(err, TESELA_E_RANGE, -1,
                      "part %" PRId64 " of word %" PRId64 " is out of range; a thread has %" PRId64
                      " words of at most %" PRId64 " there",
                      k, word, words, parts);
}

tesela_status tesela_exchange_part_of(const tesela_exchange *plan, int64_t phase, int64_t thread,
                                      int64_t word, int64_t k, int64_t *from, int64_t *part,
                                      tesela_error *err) {
  TESELA__NEED(err, plan, from, part);
  tesela_exchange_phase facts = {.phases = 0};
  tesela_status status = tesela_exchange_phase_of(plan, 0, thread, &facts, err);
  if (status != TESELA_OK) return status;
  bool last = phase == facts.phases;
  if (!last) status = tesela_exchange_phase_of(plan, phase, thread, &facts, err);
  if (status != TESELA_OK) return status;
  const tesela__warp_program *w = ask_program(plan, thread);
  bool packed = w && w->n_phases > 0;
  status = ask_word(word, last ? plan->facts.dst_units : facts.src_words, k,
                    last || !packed ? 1 : plan->parts, err);
  if (status != TESELA_OK) return status;
  int64_t lane = thread % plan->warp, place = word * plan->parts;
  if (packed && last)
    place = lane < w->dst_lanes ? w->result[lane * plan->facts.dst_units + word] : -1;
  else if (packed)
    place = lane < w->phase[phase].moves.src_lanes
                ? w->phase[phase].part[(lane * facts.src_words + word) * plan->parts + k]
                : -1;
  *from = place < 0 ? -1 : place / plan->parts;
  *part = place < 0 ? 0 : place % plan->parts;
  return TESELA_OK;
}

tesela_status tesela_exchange_kept_of(const tesela_exchange *plan, int64_t phase, int64_t thread,
                                      int64_t word, int64_t *from, tesela_error *err) {
  TESELA__NEED(err, plan, from);
  tesela_exchange_phase facts;
  tesela_status status = tesela_exchange_phase_of(plan, phase, thread, &facts, err);
  if (status == TESELA_OK) status = ask_word(word, facts.dst_words, 0, 1, err);
  if (status != TESELA_OK) return status;
  const tesela__warp_program *m = tesela__phase_moves(ask_program(plan, thread), (int32_t)phase);
  int32_t lane = (int32_t)(thread % plan->warp);
  *from = lane < m->dst_lanes && tesela__own(m, facts.dst_words, lane, word)
              ? m->need_unit[lane * facts.dst_words + word]
              : -1;
  return TESELA_OK;
}
