/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.h - the state of the exact search, shared by arena_search.c (decisions) and arena_level.c (candidates).
 *
 * The search builds plans from the bottom up, and only those in which every buffer is as low as the others allow. So the next
 * buffer in a part of the problem rests on placed ones: its offset is `rest`, the lowest above all of its placed neighbours. A
 * buffer that could be there but is not waits for another one below it: then `low`, its least remaining offset, is above
 * `rest`.
 */
#ifndef TESELA_SRC_ARENA_SEARCH_H
#define TESELA_SRC_ARENA_SEARCH_H

#include "solve/arena/arena.h"

#define TESELA__ARENA_NEVER (INT64_MAX / 2) /* above every offset */

/* A decision: the item that covers `section` at `level`, or no item. */
typedef struct tesela__arena_frame {
  int32_t from, to; /* sections of its part */
  int32_t parent;   /* the decision that made this part, or -1 */
  int32_t section, n_candidates, next, placed;
  size_t candidates; /* index of its first candidate */
  size_t before;     /* number of changes before the decision */
  int64_t level;
} tesela__arena_frame;

typedef struct tesela__arena_change {
  int64_t *at, old;
} tesela__arena_change;

struct tesela__arena_search {
  tesela__arena_problem *arena;
  int64_t capacity, need, until;
  int64_t *rest, *low, *lift;   /* by item; lift: scratch of one step */
  int64_t *left, *level, *heat; /* by section: bytes to place, their least offset, failures */
  int32_t *count;               /* by section: candidates */
  int32_t *twin, *rank,
      *active;  /* by item; twin: an equal item that is placed first; active: items of a part */
  bool *placed; /* by item */
  int32_t n_active;
  bool tight;   /* decide by slack, not by heat */
  bool starved; /* an allocation failed */
  int32_t n_frames;
  tesela__arena_frame *frame;
  int32_t *candidate;
  tesela__arena_change *change;
  size_t n_changes, most_frames, most_candidates, most_changes;
};

/* Change a number and record the old one for undo. */
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
/* No item covers `section` at `level`: raise its items. false: then no plan exists. Needs s->active. */
bool tesela__arena_raise(tesela__arena_search *s, int32_t section, int64_t level);
/* Choose the section to decide and list its candidates. false: this part cannot be placed. */
bool tesela__arena_decide(tesela__arena_search *s, tesela__arena_frame *frame);

#endif
