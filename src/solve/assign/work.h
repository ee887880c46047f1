/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work.h - an assignment problem as it is worked on: a graph whose costs may be shifted, nodes removed, parts solved.
 *
 *   assign_problem.c     as the caller gave it; never changed by solving
 *   assign_solve.c       the order of it all: load, reduce, take apart, bound, reduce again, eliminate or search
 *   assign_graph.c       memory, loading, parts of a graph as graphs of their own
 *   assign_reduce.c      R0, R1, R2, states that cannot be best, edges that say nothing; and the way back
 *   bound.c       a lower bound by shifting costs between edges and nodes
 *   local.c       better answers from an answer: single nodes, then whole forests at a time
 *   eliminate.c   nodes removed, whatever number of neighbours they have, if the tables stay small
 *   assign_order.c       in which order
 *   assign_search.c      branch and bound
 *   least.c       the minimum cost with each state of each node
 *
 * A pair (elements, moves) is one integer, a key: elements * 2^62 + moves. No sum of moves reaches 2^62 (at most 2^30
 * nodes and as many edges, each below 2^30), so keys are ordered as pairs are, and sums of keys are keys of sums. From
 * 2^60 elements on a key is infinite. All costs in a graph are >= 0 and stay so: what is shifted is there. Hence sums may
 * be cut off at infinity at any point, and the result is the same.
 */
#ifndef TESELA_SRC_ASSIGN_WORK_H
#define TESELA_SRC_ASSIGN_WORK_H

#include "solve/assign/assign.h"

__extension__ typedef __int128 tesela__key;

#define TESELA__KEY_UNIT ((tesela__key)1 << 62) /* one element */
#define TESELA__KEY_INFINITE ((tesela__key)1 << 122)
#define TESELA__SHIFT_MOST ((tesela__key)1 << 124) /* what is shifted stays far from where integers end */

static inline bool tesela__key_is_infinite(tesela__key a) { return a >= TESELA__KEY_INFINITE; }
static inline tesela__key tesela__key_add(tesela__key a, tesela__key b) {
  return a + b < TESELA__KEY_INFINITE ? a + b : TESELA__KEY_INFINITE;
}
static inline tesela__key tesela__key_less(tesela__key a, tesela__key b) { return a < b ? a : b; }
static inline tesela__key tesela__key_of(tesela__cost c) {
  return tesela__cost_is_infinite(c) ? TESELA__KEY_INFINITE
                                     : (tesela__key)c.elements * TESELA__KEY_UNIT + c.moves;
}

/* ---- memory: blocks that go all at once ------------------------------------------------------------------- */

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

/* An edge has two sides. A half is 2 * edge + side: the edge as its node on that side sees it. */
typedef struct tesela__assign_link {
  int32_t node[2], next[2], prev[2]; /* halves of the same node; -1: none */
  tesela__key *cost;                 /* [state of node[0] * states of node[1] + state of node[1]] */
} tesela__assign_link;

typedef struct tesela__assign_vertex {
  int32_t n, degree, first; /* states; edges; the first half, -1: none */
  bool gone;                /* taken out */
  tesela__key *cost;        /* infinite: the state is dead */
  int32_t origin;           /* in the graph or problem it was taken from */
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
  tesela__assign_step *step; /* nodes removed, in this order */
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

/* The edge between two nodes, -1: none. */
int32_t tesela__assign_find(const tesela__assign_graph *g, int32_t a, int32_t b);
void tesela__assign_join(tesela__assign_graph *g, int32_t edge, int32_t a, int32_t b, tesela__key *cost);
void tesela__assign_cut(tesela__assign_graph *g, int32_t edge);

/* A graph of the problem without the states that are infinite or not the fixed one. On failure no memory is held. */
tesela_status tesela__assign_load(tesela__assign_graph *g, const tesela__assign *problem,
                                  const int32_t *fixed);

/* A graph of `count` nodes, none of them removed, with their live states and all edges between them. base is 0.
 * `place` has g->n_nodes entries of scratch. */
tesela_status tesela__assign_extract(tesela__assign_graph *part, const tesela__assign_graph *g,
                                     const int32_t *nodes, int32_t count, int32_t *place);
void tesela__assign_drop(tesela__assign_graph *g);

/* Alive states and live edges: how much is left to do. */
int64_t tesela__assign_weight(const tesela__assign_graph *g);

/* What an assignment of a whole graph costs, base included. */
tesela__key tesela__assign_sum(const tesela__assign_graph *g, const int32_t *state);

/* ---- assign_reduce.c --------------------------------------------------------------------------------------------- */

/* Move the unavoidable part of each edge cost into its nodes, and cut edges without a cost. Removes no node. Sets impossible. */
tesela_status tesela__assign_normalise(tesela__assign_graph *g);

/* Reduce as far as it goes; with `dominance` also states that another of the same node always beats. Sets impossible. */
tesela_status tesela__assign_reduce(tesela__assign_graph *g, bool dominance);

/* The states of the nodes removed, from those of the others. */
void tesela__assign_restore(const tesela__assign_graph *g, int32_t *state);

/* ---- bound.c ---------------------------------------------------------------------------------------------- */

typedef struct tesela__assign_undo {
  int64_t at;
  tesela__key old;
} tesela__assign_undo;

/* Costs of nodes, and of each side of each edge how much was shifted from the edge to the node. What is left of an edge
 * is its cost less both, and >= 0 between states that are not dead. */
typedef struct tesela__assign_bound {
  const tesela__assign_graph *g;
  tesela__assign_pool pool;
  tesela__key *value; /* of nodes, then of halves */
  int64_t *node_at, *half_at;
  int64_t n_values;
  tesela__key base;   /* no assignment costs less */
  tesela__key limit;  /* assignments of this and more are of no interest */
  tesela__key *least; /* if not NULL: no assignment with a state costs less; in the order of `value` */
  int64_t work;       /* costs looked at */
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
void tesela__assign_set(tesela__assign_bound *b, int64_t at, tesela__key value); /* remembered for undo */

/* Shift all that a node's edges can give to the node. */
void tesela__assign_collect(tesela__assign_bound *b, int32_t node);
/* Move the minimum cost of a node to base, and drop states that reach the limit. Returns the states left; *dropped: some. */
int32_t tesela__assign_settle(tesela__assign_bound *b, int32_t node, bool *dropped);
/* Sweep back and forth once. false: no assignment below the limit. */
bool tesela__assign_sweep(tesela__assign_bound *b);
/* An answer that looks good from here. */
void tesela__assign_round(const tesela__assign_bound *b, int32_t *state);
/* Make the shifted costs the graph's, with states out dead. */
void tesela__assign_commit(const tesela__assign_bound *b, tesela__assign_graph *g);

/* ---- local.c ---------------------------------------------------------------------------------------------- */

/* Improve an answer, which may cross infinite costs, until `rounds` rounds in a row find nothing better. */
tesela_status tesela__assign_improve(const tesela__assign_graph *g, int32_t rounds, int32_t *state,
                                     int64_t *work);

/* ---- assign_order.c ---------------------------------------------------------------------------------------------- */

typedef struct tesela__assign_order {
  tesela_allocator allocator;
  int32_t *node, *rank; /* the nodes as they go; which one each is */
  int64_t *size;        /* of the table that each leaves */
  int64_t *scope_at, *ends;
  int32_t *n_scope, *scope; /* [scope_at]: its neighbours when it goes, the next to go first */
  int64_t n_list;
  size_t capacity;
  int64_t sums, entries, peak; /* to be computed; of all tables; of those that are needed at one time */
} tesela__assign_order;

/* An order that takes no more than `most` sums; *fits: there is one. It lives in the pool, and must always be dropped. */
tesela_status tesela__assign_order_find(const tesela__assign_graph *g, int64_t most,
                                        tesela__assign_pool *pool, tesela__assign_order *order, bool *fits);
void tesela__assign_order_drop(tesela__assign_order *order);

/* ---- eliminate.c ------------------------------------------------------------------------------------------ */

/* The minimum cost of the graph and its states, if no more than `most` sums are needed for it; *done says so. */
tesela_status tesela__assign_eliminate(const tesela__assign_graph *g, int64_t most, int32_t *state,
                                       tesela__key *cost, bool *done, int64_t *work);

/* The minimum cost of the graph with each state of each node, one node after another, if no more than `most` sums are needed
 * for a pass; there are two. *done: if not, least is as before. */
tesela_status tesela__assign_eliminate_all(const tesela__assign_graph *g, int64_t most, tesela__key *least,
                                           bool *done);

/* ---- assign_search.c, assign_solve.c ------------------------------------------------------------------------------------ */

typedef struct tesela__assign_run {
  int64_t effort, most;    /* nodes of the search tree */
  int64_t work, most_work; /* costs looked at in the search, and sums of elimination: assign_solve.c */
  tesela__key step;        /* costs differ by this at least, or not at all */
  int64_t moves;           /* in no assignment there are more */
  int64_t leaf;            /* sums for elimination of the rest of a branch; 0: it is not tried */
  tesela_progress *progress;
  void *progress_user;
  bool stopped; /* progress asked to stop */
} tesela__assign_run;

/* An answer to a graph. upper: cost of its states, infinite without states; lower: no assignment costs less. */
typedef struct tesela__assign_answer {
  int32_t *state;
  tesela__key upper, lower;
} tesela__assign_answer;

/* Costs that an effort allows to be looked at; 0: the default. */
int64_t tesela__assign_most_work(int64_t effort);

/* Is there nothing left to find? */
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

/* Search for better than answer->upper; lower is raised to what is then known. */
tesela_status tesela__assign_search(tesela__assign_run *run, tesela__assign_bound *b,
                                    tesela__assign_answer *answer);

#endif
