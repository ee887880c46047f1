/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evict.h - the state of the search that inserts items and evicts others: evict.c, and descend.c, which chooses the tops.
 */
#ifndef TESELA_SRC_ARENA_EVICT_H
#define TESELA_SRC_ARENA_EVICT_H

#include "solve/arena/arena.h"

typedef struct tesela__arena_lies {
  int64_t offset, size; /* offset -1: it is out */
} tesela__arena_lies;

typedef struct tesela__arena_evict {
  tesela__arena_problem *arena;
  int64_t top, width; /* all items are below top; width: sum of the sections of all items */
  tesela__arena_lies *place;
  int64_t *weight, *level;                /* weight: by item; level: by section, scratch memory of settling */
  int32_t *out;                           /* items that are out */
  tesela__arena_key *start, *end, *spare; /* scratch */
  uint64_t chance;
  int32_t n_out;
  bool up; /* settle to the top next */
} tesela__arena_evict;

bool tesela__arena_evict_open(tesela__arena_evict *e, tesela__arena_problem *a);
void tesela__arena_evict_close(tesela__arena_evict *e);
/* Bring all items below `top`, from their current places. false: a->work reached `until`, or impossible. */
bool tesela__arena_evict_below(tesela__arena_evict *e, int64_t top, int64_t until);

#endif
