/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_cost.c - the cost of a tile access: the functions of access.h that follow each thread.
 */
#include "gpu/access/access.h"

/* The arguments of both public functions, checked and completed. */
typedef struct cost_question {
  tesela_access_machine full;
  tesela__access access;
  tesela__access_phase phase;
  int64_t vector;
} cost_question;

static tesela_status cost_begin(cost_question *q, const tesela_register *registers,
                                const tesela_tile_memory *memory, int32_t bits, int64_t vector,
                                const tesela_access_machine *machine, tesela_error *err) {
  tesela_status status = tesela__access_machine(machine, &q->full, err);
  if (status == TESELA_OK) status = tesela__access_make(&q->access, registers, memory, bits, &q->full, err);
  if (status == TESELA_OK) status = tesela__access_choose(&q->access, vector, &q->vector, err);
  if (status == TESELA_OK) q->phase = tesela__access_phase_of(&q->full, q->vector * bits / 8, 0);
  return status;
}

tesela_status tesela_access_cost_of(const tesela_register *registers, const tesela_tile_memory *memory,
                                    int32_t bits, int64_t vector, const tesela_access_machine *machine,
                                    tesela_access_cost *cost, tesela_error *err) {
  TESELA__NEED(err, registers, memory, cost);
  TESELA__NEED_CLEAR(err, machine);
  cost_question q;
  tesela_status status = cost_begin(&q, registers, memory, bits, vector, machine, err);
  if (status != TESELA_OK) return status;
  tesela__access_count(&q.access, &q.phase, &q.full, q.vector, cost);
  return TESELA_OK;
}

static tesela_status cost_inside(const char *what, int64_t found, int64_t n, tesela_error *err) {
  if (found >= 0 && found < n) return TESELA_OK;
  return tesela__fail(err, TESELA_E_RANGE, -1, "%s is %" PRId64 "; expected 0 to %" PRId64, what, found,
                      n - 1);
}

tesela_status tesela_access_banks(const tesela_register *registers, const tesela_tile_memory *memory,
                                  int32_t bits, int64_t vector, const tesela_access_machine *machine,
                                  int64_t warp, int64_t instruction, int64_t phase, int32_t n_banks,
                                  int32_t *words, tesela_error *err) {
  TESELA__NEED(err, registers, memory);
  TESELA__NEED_LIST(err, words, n_banks);
  TESELA__NEED_CLEAR(err, machine);
  cost_question q;
  tesela_status status = cost_begin(&q, registers, memory, bits, vector, machine, err);
  if (status != TESELA_OK) return status;
  int64_t threads = q.access.threads, lanes = q.phase.lanes;
  status = cost_inside("warp", warp, tesela__ceil_div(threads, q.full.warp), err);
  if (status == TESELA_OK) status = cost_inside("instruction", instruction, q.access.locals / q.vector, err);
  if (status != TESELA_OK) return status;
  int64_t first = warp * q.full.warp, here = tesela__min(q.full.warp, threads - first);
  status = cost_inside("phase", phase, tesela__ceil_div(here, lanes), err);
  if (status != TESELA_OK) return status;
  if (n_banks < q.full.banks)
    return tesela__fail(err, TESELA_E_RANGE, -1, "room for %" PRId32 " banks, but the machine has %" PRId32,
                        n_banks, q.full.banks);

  tesela__access_walk thread, local;
  int64_t bytes[TESELA_ACCESS_WARP];
  int32_t n = (int32_t)tesela__min(lanes, here - phase * lanes);
  uint8_t counts[TESELA__ACCESS_BANKS];
  tesela__access_start(&thread, &q.access.thread, first + phase * lanes);
  tesela__access_start(&local, &q.access.local, instruction * q.vector);
  for (int32_t i = 0; i < n; i++, tesela__access_next(&thread))
    bytes[i] = tesela__access_place(&q.access, thread.place, thread.part, &local) * bits / 8;
  tesela__access_phase by_bank = tesela__access_phase_by_bank(&q.full, q.vector * bits / 8);
  tesela__access_wavefronts(&by_bank, n, bytes, counts);
  for (int32_t b = 0; b < q.full.banks; b++) words[b] = counts[b];
  return TESELA_OK;
}
