/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - shared by the files of the memory planner: the problem in sections, a tree of spans, the best plan so far.
 *
 *   arena_problem.c  the caller's buffers -> items and sections         sweep.c   first fit in the order of time
 *   arena_tree.c     spans of bytes by their start                      arena_place.c   placing in any order, and better orders
 *   arena_check.c    validation                                       rise.c    placing from the bottom up
 *   arena_search.c   exact: does a plan fit below a capacity?               rounds.c  targets of the search, and its limits
 *   arena_plan.c     a whole plan for the caller                          spill*.c  which buffers to leave out
 *   split.c    independent parts                                  meeting.c the items that live together with one
 *   evict.c    insert one, evict others, below a top                    descend.c the tops, and their limits
 *   csv*.c     buffers as CSV text
 *
 * A section is a step with a maximal set of live buffers: of the steps between a start and the next end only one is
 * kept, since buffers meet at some step if and only if they meet in a section. So there are at most as many sections as
 * items. Items are the buffers that take up bytes, sorted by their first section; those that begin in sections [s, t)
 * are the items start[s] to start[t].
 *
 * Work is counted, never timed: a unit is about one iteration of an inner loop; a step of `effort` is
 * TESELA__ARENA_STEP units.
 */
#ifndef TESELA_SRC_ARENA_H
#define TESELA_SRC_ARENA_H

#include <tesela/arena.h>

#include "base/base.h"

#define TESELA__ARENA_MOST (INT64_C(1) << 62) /* all sums of sizes stay below it */
enum { TESELA__ARENA_STEP = 1024, TESELA__ARENA_BUFFERS = 1 << 20 };

typedef struct tesela__arena_item {
  int64_t lower, size, alignment, weight;
  int64_t fixed;       /* its place, or -1 */
  int64_t offset;      /* from the last placing, or -1 */
  int32_t first, last; /* lives in sections first <= s < last */
  int32_t index;       /* of the caller's buffers */
} tesela__arena_item;

/* The callback that decides whether to continue: options.progress_user inside. */
typedef struct tesela__arena_listener {
  const tesela_arena_options *given;
  bool stopped;
} tesela__arena_listener;

typedef struct tesela__arena_problem {
  tesela_allocator memory;
  tesela__arena_item *item;
  int32_t n, n_sections, n_fixed;
  int32_t *start;                 /* n_sections + 1 */
  int32_t *fixed;                 /* fixed items, by offset */
  int64_t *live;                  /* bytes alive, by section */
  int32_t *latest, n_leaves;      /* last sections of blocks of items, a tree: meeting.c */
  int32_t *list;                  /* result of tesela__arena_meeting */
  int64_t *best;                  /* offsets of the best plan, by item */
  int64_t best_peak;              /* INT64_MAX: no plan yet */
  int64_t most_live, bound, unit; /* peaks are multiples of unit */
  int64_t work, limit;            /* units of work */
  int64_t next_call;              /* work at which progress is called next */
  tesela__arena_listener *listener;
  bool plain; /* no fixed items, and all alignments are 1 */
} tesela__arena_problem;

static inline bool tesela__arena_meet(const tesela__arena_item *a, const tesela__arena_item *b) {
  return a->first < b->last && b->first < a->last;
}
/* Both are below TESELA__ARENA_MOST, so no overflow. */
static inline int64_t tesela__arena_up(int64_t offset, int64_t alignment) {
  return alignment == 1 ? offset : tesela__ceil_div(offset, alignment) * alignment;
}

/* ---- arena_problem.c --------------------------------------------------------------------------------------------- */

/* Check ranges, alignments, sums, and that fixed buffers neither overlap nor exceed the capacity. */
tesela_status tesela__arena_validate(int32_t n, const tesela_arena_buffer *buffers,
                                     const tesela_arena_options *options, tesela_error *err);
/* Build from validated buffers; `keep` selects them, NULL: all. On failure there is nothing to close. */
tesela_status tesela__arena_open(tesela__arena_problem *arena, int32_t n, const tesela_arena_buffer *buffers,
                                 const bool *keep, const tesela_arena_options *options, tesela_error *err);
/* The items `list` of another problem; their index is the one there. */
tesela_status tesela__arena_open_part(tesela__arena_problem *arena, const tesela__arena_problem *of,
                                      int32_t n, const int32_t *list, tesela_error *err);
void tesela__arena_close(tesela__arena_problem *arena);
/* Is the work up to `until` done? Calls progress now and then; once that asks to stop, all work counts as spent, here and in
 * every problem opened later, and tesela_arena_plan drops the result. */
bool tesela__arena_spent(tesela__arena_problem *arena, int64_t until);
/* TESELA_E_STOPPED if progress asked to stop; options are those that tesela_arena_plan passes on. */
tesela_status tesela__arena_stopped(const tesela_arena_options *options, tesela_error *err);
#define TESELA__ARENA_ALL (INT64_MAX / 8) /* above every limit of work */
/* The lowest aligned offset >= `from` at which item i does not overlap a fixed item that lives with it. */
int64_t tesela__arena_past_fixed(tesela__arena_problem *arena, int32_t i, int64_t from);
/* The same for growing offsets: *next, at first 0, is the next fixed item to examine. */
int64_t tesela__arena_past_more_fixed(tesela__arena_problem *arena, int32_t i, int64_t from, int32_t *next);
/* Keep the items' offsets if they are a better plan. */
void tesela__arena_keep(tesela__arena_problem *arena);

typedef struct tesela__arena_key {
  int64_t key;
  int32_t item;
} tesela__arena_key;
void tesela__arena_sort(tesela__arena_key *keys, int32_t n); /* by key, then item; in place, O(n log n) */

/* ---- arena_tree.c ------------------------------------------------------------------------------------------------ */

/* Disjoint spans of bytes, ordered by their start: a treap. Nodes are numbers, or -1. */
typedef struct tesela__arena_span {
  int64_t start, end, longest; /* longest: of this span and those below it */
  int32_t up, left, right, item;
  uint32_t rank;
} tesela__arena_span;

typedef struct tesela__arena_tree {
  tesela__arena_span *node;
  int32_t root, used, spare; /* spare: released nodes, chained by `up` */
  uint32_t seed;
} tesela__arena_tree;

bool tesela__arena_tree_open(tesela__arena_tree *tree, int32_t most, const tesela_allocator *memory);
int32_t tesela__arena_tree_insert(tesela__arena_tree *tree, int64_t start, int64_t end, int32_t item);
void tesela__arena_tree_remove(tesela__arena_tree *tree, int32_t node);
int32_t tesela__arena_tree_before(const tesela__arena_tree *tree,
                                  int64_t at); /* the last span with start <= at */
int32_t tesela__arena_tree_next(const tesela__arena_tree *tree, int32_t node); /* of -1: the first */
/* The first span after `node` (-1: of all) with at least `size` bytes. */
int32_t tesela__arena_tree_fit(const tesela__arena_tree *tree, int32_t node, int64_t size);

/* ---- meeting.c --------------------------------------------------------------------------------------------- */

bool tesela__arena_meeting_open(tesela__arena_problem *arena); /* false: no memory */
/* The items that live with item i, to arena->list; their number. */
int32_t tesela__arena_meeting(tesela__arena_problem *arena, int32_t i);

/* ---- sweep.c, arena_place.c, rise.c -------------------------------------------------------------------------------------- */

typedef enum tesela__arena_sweep_order {
  TESELA__ARENA_FORTH,       /* by lower, then index: the naive plan */
  TESELA__ARENA_FORTH_LARGE, /* by section, large ones first */
  TESELA__ARENA_BACK,        /* against time, large ones first */
} tesela__arena_sweep_order;

/* First fit in the order of time; items that would reach beyond `capacity` get the offset -1. Always ends. */
tesela_status tesela__arena_sweep(tesela__arena_problem *arena, tesela__arena_sweep_order order,
                                  int64_t capacity, tesela_error *err);

enum { TESELA__ARENA_ORDERS = 4 }; /* large, long, large and long, crowded */
/* Items by an order, the most urgent first. `shake` != 0: every key times 0.7 to 1.3, by chance. */
void tesela__arena_order(tesela__arena_problem *arena, int32_t order, uint64_t shake,
                         tesela__arena_key *keys);
/* splitmix64: the same numbers on every machine. */
uint64_t tesela__arena_chance(uint64_t *state);
/* The lowest free offset of item i between placed items; with `best` that in the smallest gap. `scratch`: n keys. */
int64_t tesela__arena_gap(tesela__arena_problem *arena, int32_t i, bool best, tesela__arena_key *scratch);
/* Place from the bottom up, in an order among items of one offset; *good: all are placed, and the peak is below the limit. */
tesela_status tesela__arena_rise(tesela__arena_problem *arena, const tesela__arena_key *order, int64_t limit,
                                 int64_t until, bool *good, tesela_error *err);
/* Place by the orders until `target` is reached or the work is `until`. */
tesela_status tesela__arena_place(tesela__arena_problem *arena, int64_t target, int64_t until,
                                  tesela_error *err);

/* ---- arena_search.c, rounds.c ------------------------------------------------------------------------------------ */

typedef enum tesela__arena_answer {
  TESELA__ARENA_FOUND,  /* the items' offsets are a plan below the capacity */
  TESELA__ARENA_NONE,   /* impossible; also for all capacities below *need */
  TESELA__ARENA_ENDED,  /* the limit was reached */
  TESELA__ARENA_MEMORY, /* an allocation failed */
} tesela__arena_answer;

typedef struct tesela__arena_search tesela__arena_search;
tesela__arena_search *tesela__arena_search_open(tesela__arena_problem *arena); /* NULL: no memory */
void tesela__arena_search_close(tesela__arena_search *search);
/* One search with candidates in the given order and at most `limit` units of work; `tight`: sections with little slack come
 * first, not those where searches failed. */
tesela__arena_answer tesela__arena_search_run(tesela__arena_search *search, const tesela__arena_key *order,
                                              bool tight, int64_t capacity, int64_t limit, int64_t *need);

/* The approximate work of a search without backtracking. */
int64_t tesela__arena_rounds_straight(const tesela__arena_problem *arena);
/* Search until a plan fits below `capacity` (0: until the peak is minimal) or the work is spent. */
tesela_status tesela__arena_rounds(tesela__arena_problem *arena, int64_t capacity, int64_t until,
                                   tesela_error *err);
/* Lower the best plan by evictions, until its peak is <= capacity (0: the bound) or the work is `until`. */
tesela_status tesela__arena_descend(tesela__arena_problem *arena, int64_t capacity, int64_t until,
                                    tesela_error *err);
/* All heuristics, then the search, until arena->best_peak <= capacity (0: minimal, or at the bound). */
tesela_status tesela__arena_solve_part(tesela__arena_problem *arena, int64_t capacity, tesela_error *err);
/* The same, in independent parts. */
tesela_status tesela__arena_solve(tesela__arena_problem *arena, int64_t capacity, tesela_error *err);

/* ---- spill.c, spill_exact.c, spill_try.c ------------------------------------------------------------------- */

/* The best choice of buffers so far: offsets by the caller's buffer, -1 for those left out. */
typedef struct tesela__arena_kept {
  int64_t *offset;
  int32_t n;
  int64_t weight, bytes; /* kept */
  int64_t work, limit;
  bool proven; /* no choice keeps more weight */
} tesela__arena_kept;

/* Plan with options.spill and a capacity. */
tesela_status tesela__arena_spill(int32_t n, tesela_arena_buffer *buffers,
                                  const tesela_arena_options *options, int64_t limit,
                                  tesela_arena_facts *facts, tesela_error *err);
/* Enumerate subsets until kept->limit, without those that cannot be better or do not fit. */
tesela_status tesela__arena_spill_exact(int32_t n, const tesela_arena_buffer *buffers,
                                        const tesela_arena_options *options, tesela__arena_kept *kept,
                                        tesela_error *err);
/* Keep the items' offsets if they have more weight, or equal weight and more bytes. */
void tesela__arena_spill_keep(const tesela__arena_problem *a, tesela__arena_kept *kept);
/* Plan the buffers that `keep` names (NULL: all) below the capacity, with part of kept->limit. */
tesela_status tesela__arena_spill_try(int32_t n, const tesela_arena_buffer *buffers, const bool *keep,
                                      const tesela_arena_options *options, int64_t work,
                                      tesela__arena_kept *kept, tesela__arena_answer *answer,
                                      tesela_error *err);

#endif
