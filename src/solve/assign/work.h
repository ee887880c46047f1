/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work.h - an assignment problem during its solution: a graph whose costs can be shifted, nodes removed, parts solved.
 *
 *   assign_problem.c     the caller's problem; not changed by solving
 *   assign_solve.c       all steps: load, reduce, split, bound, reduce again, finish
 *   assign_part.c        a connected part: its answer and its bound brought together
 *   assign_graph.c       memory, loading, parts of a graph as graphs of their own
 *   assign_reduce.c      R0, R1, R2, dominated states, edges without costs; and the way back
 *   bound.c       a lower bound by shifting costs between edges and nodes
 *   smooth.c      the same with soft minima, where sweeps are stuck
 *   local.c       better answers from an answer: parts of the graph at a time
 *   eliminate.c   removes nodes with any number of neighbours, if the tables stay small
 *   assign_order.c       the order of elimination
 *   assign_search.c      branch and bound
 *   least.c       the minimum cost with each state of each node
 *
 * A pair (elements, moves) is one integer, a key: elements * 2^62 + moves. No sum of moves reaches 2^62 (at most 2^30
 * nodes and as many edges, each below 2^30), so keys are ordered as pairs are, and sums of keys are keys of sums. From
 * 2^60 elements on a key is infinite. All costs in a graph are >= 0 and stay so: only existing costs are shifted. Hence sums
 * may saturate at infinity at any point with the same result.
 */
#ifndef TESELA_SRC_ASSIGN_WORK_H
#define TESELA_SRC_ASSIGN_WORK_H

#include "solve/assign/assign.h"

__extension__ typedef __int128 tesela__key;

#define TESELA__KEY_UNIT ((tesela__key)1 << 62) /* one element */
#define TESELA__KEY_INFINITE ((tesela__key)1 << 122)
#define TESELA__SHIFT_MOST ((tesela__key)1 << 124) /* shifted amounts stay far from the limits of integers */

static inline bool tesela__key_is_infinite(tesela__key a) { return a >= TESELA__KEY_INFINITE; }
static inline tesela__key tesela__key_add(tesela__key a, tesela__key b) {
  return a + b < TESELA__KEY_INFINITE ? a + b : TESELA__KEY_INFINITE;
}
static inline tesela__key tesela__key_less(tesela__key a, tesela__key b) { return a < b ? a : b; }
static inline tesela__key tesela__key_of(tesela__cost c) {
  return tesela__cost_is_infinite(c) ? TESELA__KEY_INFINITE
                                     : (tesela__key)c.elements * TESELA__KEY_UNIT + c.moves;
}

/* ---- memory: blocks that are released together ------------------------------------------------------------------- */

typedef struct tesela__assign_pool {
  tesela_allocator allocator;
  struct tesela__assign_block *last;
} tesela__assign_pool;

/* NULL: no memory. Aligned for anything; not cleared. */
void *tesela__assign_take(tesela__assign_pool *pool, int64_t count, size_t size);
void tesela__assign_give_back(tesela__assign_pool *pool);

/* ---- the problem as given --------------------------------------------------------------------------------- */

typedef struct tesela__assign_given {
  int32_t a, b; /* b < 0: a node, of a states */
  tesela__cost *cost;
} tesela__assign_given;

struct tesela__assign {
  tesela__assign_pool pool;
  tesela__assign_given *node, *edge;
  size_t node_capacity, edge_capacity;
  int32_t n_nodes, n_edges, n_loops; /* n_loops: edges from a node to itself, which are in its costs */
  tesela_progress *progress;         /* may be NULL */
  void *progress_user;
};

/* ---- assign_graph.c ---------------------------------------------------------------------------------------------- */

/* An edge has two sides. A half, 2 * edge + side, is the edge seen from its node on that side. */
typedef struct tesela__assign_link {
  int32_t node[2], next[2], prev[2]; /* halves of the same node, or -1 */
  tesela__key *cost;                 /* [state of node[0] * states of node[1] + state of node[1]] */
} tesela__assign_link;

typedef struct tesela__assign_vertex {
  int32_t n, degree, first; /* states; edges; the first half, or -1 */
  bool gone;                /* removed */
  tesela__key *cost;        /* infinite: the state is dead */
  int32_t origin;           /* its number in the original graph or problem */
  int32_t *origin_state;
} tesela__assign_vertex;

/* An edge of a node when it was removed. */
typedef struct tesela__assign_tie {
  int32_t node;
  int64_t own, other; /* cost[own * state + other * state of the other node] */
  const tesela__key *cost;
} tesela__assign_tie;

typedef struct tesela__assign_step {
  int32_t node, n_ties;
  tesela__assign_tie tie[2];
} tesela__assign_step;

typedef struct tesela__assign_graph {
  tesela__assign_pool pool;
  tesela__assign_vertex *node;
  tesela__assign_link *edge;
  int32_t n_nodes, n_edges; /* removed ones included */
  tesela__key base;         /* a cost that every assignment has in addition */
  bool impossible;
  tesela__assign_step *step; /* the removed nodes, in order */
  int32_t n_steps, n_left;   /* n_left: nodes not yet removed */
} tesela__assign_graph;

static inline tesela__assign_tie tesela__assign_tie_of(const tesela__assign_graph *g, int32_t half) {
  const tesela__assign_link *e = &g->edge[half >> 1];
  const int32_t wide = g->node[e->node[1]].n;
  return half & 1 ? (tesela__assign_tie){e->node[0], 1, wide, e->cost}
                  : (tesela__assign_tie){e->node[1], wide, 1, e->cost};
}
static inline int32_t tesela__assign_next(const tesela__assign_graph *g, int32_t half) {
  return g->edge[half >> 1].next[half & 1];
}
static inline int32_t tesela__assign_other(const tesela__assign_graph *g, int32_t half) {
  return g->edge[half >> 1].node[1 - (half & 1)];
}
static inline bool tesela__assign_is_dead(const tesela__assign_graph *g, int32_t node, int32_t state) {
  return tesela__key_is_infinite(g->node[node].cost[state]);
}

/* The edge between two nodes, or -1. */
int32_t tesela__assign_find(const tesela__assign_graph *g, int32_t a, int32_t b);
void tesela__assign_join(tesela__assign_graph *g, int32_t edge, int32_t a, int32_t b, tesela__key *cost);
void tesela__assign_cut(tesela__assign_graph *g, int32_t edge);

/* A graph of the problem without infinite states and without those other than a fixed one. On failure no memory is held. */
tesela_status tesela__assign_load(tesela__assign_graph *g, const tesela__assign *problem,
                                  const int32_t *fixed);

/* A graph of `count` nodes, none of them removed, with their live states and all edges between them. base is 0.
 * `place` has g->n_nodes entries of scratch. */
tesela_status tesela__assign_extract(tesela__assign_graph *part, const tesela__assign_graph *g,
                                     const int32_t *nodes, int32_t count, int32_t *place);
void tesela__assign_drop(tesela__assign_graph *g);

/* The number of live states and edges. */
int64_t tesela__assign_weight(const tesela__assign_graph *g);

/* The bits of a typical cost of an edge, as a key: the mean of those of the largest finite cost of each edge. */
int32_t tesela__assign_bits(const tesela__assign_graph *g);

/* The cost of an assignment of a whole graph, base included. */
tesela__key tesela__assign_sum(const tesela__assign_graph *g, const int32_t *state);

/* ---- assign_reduce.c --------------------------------------------------------------------------------------------- */

/* Move the unavoidable part of each edge cost into its nodes, and cut edges without a cost. Removes no node. Sets impossible. */
tesela_status tesela__assign_normalise(tesela__assign_graph *g);

/* Reduce as far as possible; with `dominance` also remove dominated states. Sets impossible. */
tesela_status tesela__assign_reduce(tesela__assign_graph *g, bool dominance);

/* The states of the removed nodes, from those of the others. */
void tesela__assign_restore(const tesela__assign_graph *g, int32_t *state);

/* ---- bound.c ---------------------------------------------------------------------------------------------- */

typedef struct tesela__assign_undo {
  int64_t at;
  tesela__key old;
} tesela__assign_undo;

/* Costs of nodes, and for each side of each edge the amount shifted from the edge to the node. The rest of an edge is its cost
 * minus both amounts, and >= 0 between live states. */
typedef struct tesela__assign_bound {
  const tesela__assign_graph *g;
  tesela__assign_pool pool;
  tesela__key *value; /* of nodes, then of halves */
  int64_t *node_at, *half_at;
  int64_t n_values;
  tesela__key base;   /* no assignment costs less */
  tesela__key limit;  /* assignments that cost this or more are ignored */
  tesela__key *least; /* if not NULL: no assignment with a state costs less; in the order of `value` */
  int64_t work;       /* costs examined */
  /* changes since the search began; off while now is 0 */
  tesela__assign_undo *undo;
  size_t n_undo, undo_capacity;
  int64_t *stamp, now;
  bool no_memory;
} tesela__assign_bound;

static inline bool tesela__assign_is_out(const tesela__assign_bound *b, int32_t node, int32_t state) {
  return tesela__key_is_infinite(b->value[b->node_at[node] + state]);
}
static inline tesela__key tesela__assign_rest(const tesela__assign_bound *b, int32_t half,
                                              const tesela__assign_tie *tie, int32_t own, int32_t other) {
  const tesela__key cost = tie->cost[own * tie->own + other * tie->other];
  return tesela__key_is_infinite(cost)
             ? TESELA__KEY_INFINITE
             : cost - b->value[b->half_at[half] + own] - b->value[b->half_at[half ^ 1] + other];
}

tesela_status tesela__assign_bound_begin(tesela__assign_bound *b, const tesela__assign_graph *g);
void tesela__assign_bound_end(tesela__assign_bound *b);
void tesela__assign_set(tesela__assign_bound *b, int64_t at, tesela__key value); /* can be undone */

/* Shift all that a node's edges can give to the node. */
void tesela__assign_collect(tesela__assign_bound *b, int32_t node);
/* Move the minimum cost of a node to base, and drop states that reach the limit. Returns the states left; *dropped: some. */
int32_t tesela__assign_settle(tesela__assign_bound *b, int32_t node, bool *dropped);
/* Sweep back and forth once. false: no assignment below the limit. */
bool tesela__assign_sweep(tesela__assign_bound *b);
/* The shares in which a sweep that way distributes a node's costs; 0: no edge goes that way. */
int32_t tesela__assign_parts(const tesela__assign_graph *g, int32_t v, bool ahead);
/* Compute nodes and base from the amounts shifted, whatever they are; excluded states stay so. */
void tesela__assign_rebase(tesela__assign_bound *b);
/* A good answer by the current bound. */
void tesela__assign_round(const tesela__assign_bound *b, int32_t *state);
/* Store the shifted costs in the graph, with excluded states dead. */
void tesela__assign_commit(const tesela__assign_bound *b, tesela__assign_graph *g);

/* ---- smooth.c --------------------------------------------------------------------------------------------- */

/* Raise a bound that sweeps no longer raise, with at most `most` costs examined; it never gets lower. */
tesela_status tesela__assign_smooth(tesela__assign_bound *b, int64_t most);

/* ---- local.c ---------------------------------------------------------------------------------------------- */

typedef struct tesela__assign_run tesela__assign_run;

/* Improve an answer, which may cross infinite costs, until `kicks` kicks in a row find nothing better or `most` costs are
 * examined; *work grows by those. TESELA_E_MEMORY, TESELA_E_STOPPED: state is an answer all the same. */
tesela_status tesela__assign_improve(tesela__assign_run *run, const tesela__assign_graph *g, int32_t kicks,
                                     int64_t most, int32_t *state, int64_t *work);

/* ---- assign_order.c ---------------------------------------------------------------------------------------------- */

typedef struct tesela__assign_order {
  tesela_allocator allocator;
  int32_t *node, *rank; /* the nodes in the order of removal; the position of each */
  int64_t *size;        /* of the table of each node */
  int64_t *scope_at, *ends;
  int32_t *n_scope, *scope; /* [scope_at]: its neighbours when it is removed, in the order of their removal */
  int64_t n_list;
  size_t capacity;
  int64_t sums, entries, peak; /* sums to compute; entries of all tables; entries needed at one time */
} tesela__assign_order;

/* An order with at most `most` sums; *fits: it was found. It is in the pool, and must always be dropped. */
tesela_status tesela__assign_order_find(const tesela__assign_graph *g, int64_t most,
                                        tesela__assign_pool *pool, tesela__assign_order *order, bool *fits);
void tesela__assign_order_drop(tesela__assign_order *order);

/* ---- eliminate.c ------------------------------------------------------------------------------------------ */

/* The minimum cost of the graph and its states, if that needs at most `most` sums; *done: it was computed. */
tesela_status tesela__assign_eliminate(const tesela__assign_graph *g, int64_t most, int32_t *state,
                                       tesela__key *cost, bool *done, int64_t *work);

/* The minimum cost of the graph with each state of each node, one node after another, if no more than `most` sums are needed
 * for a pass; there are two. *done: if not, least is as before. */
tesela_status tesela__assign_eliminate_all(const tesela__assign_graph *g, int64_t most, tesela__key *least,
                                           bool *done);

/* ---- assign_part.c, assign_search.c, assign_solve.c ------------------------------------------------------------------------------------ */

struct tesela__assign_run {
  int64_t effort, most;    /* nodes of the search tree */
  int64_t work, most_work; /* costs examined in the search, and sums of elimination: assign_solve.c */
  tesela__key step;        /* the least difference between two different costs */
  int64_t moves;           /* the most moves of an assignment */
  int64_t leaf;            /* sums for elimination of the rest of a branch; 0: not tried */
  tesela_progress *progress;
  void *progress_user;
  bool stopped; /* progress asked to stop */
};

/* An answer to a graph. upper: cost of its states, infinite without states; lower: no assignment costs less. */
typedef struct tesela__assign_answer {
  int32_t *state;
  tesela__key upper, lower;
} tesela__assign_answer;

/* The most costs to examine at an effort; 0: the default. */
int64_t tesela__assign_most_work(int64_t effort);

/* Is the answer proven? */
static inline bool tesela__assign_is_closed(const tesela__assign_run *run, const tesela__assign_answer *x) {
  return tesela__key_is_infinite(x->upper) ? tesela__key_is_infinite(x->lower)
                                           : x->lower > x->upper - run->step;
}

/* Does progress ask to stop, or did it? */
static inline bool tesela__assign_asked(tesela__assign_run *run) {
  run->stopped =
      run->stopped || (run->progress && run->progress(run->progress_user, run->effort, run->most) != 0);
  return run->stopped;
}

enum { TESELA__PART_CHEAP = 1 << 22 }; /* sums up to which elimination is always used */

/* Eliminate a part if that takes no more than `most` sums, then *done; else begin a bound. */
tesela_status tesela__assign_part_begin(tesela__assign_run *run, const tesela__assign_graph *g, int64_t most,
                                        tesela__assign_answer *x, tesela__assign_bound *b, bool *done);
/* Sweep while that improves the bound; look for better answers at intervals. */
tesela_status tesela__assign_part_sweep(tesela__assign_run *run, tesela__assign_bound *b,
                                        tesela__assign_answer *x);
/* Eliminate if the effort allows it, else close the gap as far as it allows. */
tesela_status tesela__assign_part_finish(tesela__assign_run *run, const tesela__assign_graph *g,
                                         tesela__assign_answer *x);

/* Search for a better answer than answer->upper; raises lower to the new bound. */
tesela_status tesela__assign_search(tesela__assign_run *run, tesela__assign_bound *b,
                                    tesela__assign_answer *answer);

#endif
