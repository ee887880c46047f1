/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena_part.c - one part of a problem: sweeps, a search, then evictions and rounds in turn, each only while needed.
 */
#include "solve/arena/arena.h"

enum { PART_TURNS = 6 };

tesela_status tesela__arena_solve_part(tesela__arena_problem *a, int64_t capacity, tesela_error *err) {
  static const tesela__arena_sweep_order sweeps[] = {TESELA__ARENA_FORTH_LARGE, TESELA__ARENA_BACK};
  int64_t target = tesela__max(capacity, a->bound);
  tesela_status status = TESELA_OK;
  for (size_t k = 0; k < sizeof sweeps / sizeof *sweeps && a->best_peak > target && status == TESELA_OK;
       k++) {
    status = tesela__arena_sweep(a, sweeps[k], INT64_MAX, err);
    if (status == TESELA_OK) tesela__arena_keep(a);
  }
  if (status != TESELA_OK || a->best_peak <= target) return status;
  status = tesela__arena_place(a, target, a->work + (a->limit - a->work) / 8, err);
  bool small = tesela__arena_rounds_straight(a) <= (a->limit - a->work) / 8;
  for (int turn = PART_TURNS; turn > 0 && status == TESELA_OK && a->best_peak > target; turn--) {
    int64_t share = small ? (a->limit - a->work) / turn : a->limit - a->work;
    if (capacity == 0) target = tesela__max(target, a->bound); /* a search may have raised it */
    if (a->work >= a->limit || (capacity > 0 && a->bound > capacity)) break;
    if (turn % 2 == 0 && small) status = tesela__arena_rounds(a, capacity, a->work + share, err);
    if (turn % 2 != 0) status = tesela__arena_descend(a, capacity, a->work + share, err);
  }
  return status;
}
