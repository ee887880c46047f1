/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.h - the state of the exact search, shared by arena_search.c (what is tried) and arena_level.c (what can be).
 *
 * Plans are looked for from the bottom up, and only those in which every buffer lies as low as the others let it. So the next
 * buffer that is placed in a part of the problem always rests on what is placed: its offset is `rest`, the lowest that
 * is above all of those. A buffer that is not to lie there although it could waits for another one to come below it:
 * then `low`, the least offset it can still get, is above `rest`.
 */
#ifndef TESELA_SRC_ARENA_SEARCH_H
#define TESELA_SRC_ARENA_SEARCH_H

#include "solve/arena/arena.h"

#define TESELA__ARENA_NEVER (INT64_MAX / 2) /* above every offset */

/* A decision: which item covers `section` at `level`, or that none does. */
typedef struct tesela__arena_frame {
  int32_t from, to; /* sections of the part it is about */
  int32_t parent;   /* the decision that left this part, -1 */
  int32_t section, n_candidates, next, placed;
  size_t candidates; /* where its candidates begin */
  size_t before;     /* changes before the decision */
  int64_t level;
} tesela__arena_frame;

typedef struct tesela__arena_change {
  int64_t *at, old;
} tesela__arena_change;

struct tesela__arena_search {
  tesela__arena_problem *arena;
  int64_t capacity, need, until;
  int64_t *rest, *low, *lift;    /* by item; lift: scratch of one step */
  int64_t *left, *level, *heat;  /* by section: bytes to be placed, least offset of those, failures seen */
  int32_t *count;                /* by section: candidates */
  int32_t *twin, *rank, *active; /* by item; twin: an equal one that goes first; active: those of a part */
  bool *placed;                  /* by item */
  int32_t n_active;
  bool tight;   /* decide by slack, not by heat */
  bool starved; /* an allocation failed */
  int32_t n_frames;
  tesela__arena_frame *frame;
  int32_t *candidate;
  tesela__arena_change *change;
  size_t n_changes, most_frames, most_candidates, most_changes;
};

/* Change a number so that it can be undone. */
static inline void tesela__arena_set(tesela__arena_search *s, int64_t *at, int64_t value) {
  if (*at == value || s->starved) return;
  if (s->n_changes == s->most_changes) {
    void *items = s->change;
    s->starved =
        !tesela__grow(&s->arena->memory, &items, sizeof *s->change, &s->most_changes, s->n_changes + 1);
    s->change = items;
    if (s->starved) return;
  }
  s->change[s->n_changes++] = (tesela__arena_change){at, *at};
  *at = value;
}

/* The items of a part that are not placed, to s->active. */
void tesela__arena_activate(tesela__arena_search *s, int32_t from, int32_t to);
/* No item covers `section` at `level`: raise what is in it. false: then there is no plan. Needs s->active. */
bool tesela__arena_raise(tesela__arena_search *s, int32_t section, int64_t level);
/* Choose the section to decide about and list its candidates. false: this part cannot be placed. */
bool tesela__arena_decide(tesela__arena_search *s, tesela__arena_frame *frame);

#endif
