/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assign.h - choose a state for each node so that the sum of the costs of nodes and edges is minimal.
 *
 * A node has a cost for each state; an edge has a cost for each pair of states of its two nodes (partitioned boolean
 * quadratic programming). Costs are pairs, compared by the first number and then by the second: (elements moved,
 * moves). A cost may be infinite: the state or pair is forbidden.
 *
 *   assign_reduce.c      R0, R1, R2: removes nodes with at most two neighbours; their best costs become costs of the neighbours
 *   eliminate.c   the same for any number of neighbours, if the tables stay small; assign_order.c: the order
 *   bound.c       a lower bound: costs are shifted between edges and nodes, and the minima add up; smooth.c: where that is stuck
 *   local.c       better answers from an answer
 *   assign_search.c      branch and bound on the rest
 *
 * The reduced problem is solved exactly if the search ends within its effort; else the result is the best assignment found and a
 * lower bound, close to that of the linear program over pairs. All arithmetic is on integers: the bound is a proof.
 *
 * Memory of a problem: 16 bytes for each given cost. Of solving: the same again for each level of parts (12 at most, each part
 * smaller than its whole), a table for each node that R2 removes, 48 bytes for each state of an end of an edge of the core, and
 * up to 256 MiB for elimination and 256 MiB for the changes that a search can undo.
 */
#ifndef TESELA_SRC_ASSIGN_ASSIGN_H
#define TESELA_SRC_ASSIGN_ASSIGN_H

#include "base/base.h"

/* Both are >= 0. Sums do not overflow: from TESELA__COST_MAX elements on they are infinite. */
typedef struct tesela__cost {
  int64_t elements, moves;
} tesela__cost;

#define TESELA__COST_MAX ((int64_t)1 << 60)
#define TESELA__COST_INFINITE ((tesela__cost){INT64_MAX, 0})

static inline bool tesela__cost_is_infinite(tesela__cost c) { return c.elements >= TESELA__COST_MAX; }
/* < 0, 0, > 0. All infinite costs are equal. */
int tesela__cost_compare(tesela__cost a, tesela__cost b);
tesela__cost tesela__cost_add(tesela__cost a, tesela__cost b);

typedef struct tesela__assign tesela__assign;

/* A problem without nodes. NULL: no memory. */
tesela__assign *tesela__assign_new(const tesela_allocator *allocator);
/* Callback of tesela__assign_solve that decides whether to continue; NULL: no calls. */
void tesela__assign_listen(tesela__assign *problem, tesela_progress *progress, void *user);
void tesela__assign_free(tesela__assign *problem); /* NULL is allowed */

/* Add a node of n >= 1 states; cost[n]. *node is its number, from 0 up. TESELA_E_MEMORY; TESELA_E_RANGE: no state, a cost
 * below 0, 2^30 moves or more in one cost that is not infinite, or the 2^30th node. */
tesela_status tesela__assign_node(tesela__assign *problem, int32_t n, const tesela__cost *cost,
                                  int32_t *node);

/* Add an edge: cost[i * n_b + j] for state i of a and j of b. Edges between the same nodes add up; a == b adds the
 * diagonal to the node. TESELA_E_MEMORY; TESELA_E_RANGE: an unknown node, a cost as above, the 2^30th edge. */
tesela_status tesela__assign_edge(tesela__assign *problem, int32_t a, int32_t b, const tesela__cost *cost);

typedef struct tesela__assigned {
  bool feasible;      /* an assignment of finite cost exists; state is one */
  bool proven;        /* no assignment costs less; if not feasible, none has a finite cost */
  tesela__cost cost;  /* of `state`, summed again over the original problem */
  tesela__cost bound; /* no assignment costs less */
  int32_t core;       /* nodes left after R0, R1, R2 and the removal of dominated states */
  int64_t effort;     /* nodes of the search tree */
} tesela__assigned;

/* Solve. state[number of nodes] is written if feasible. fixed (may be NULL): a required state for each node, or -1; a state
 * that the node does not have makes the problem infeasible. effort: the most nodes of the search tree, 0: 1,000,000; nodes that
 * examine more than 1000 costs count for more, and elimination counts for each 4000 sums, so the default takes seconds. A search
 * has a quarter of the effort; if it does not end, the rest goes to better answers. The
 * problem is unchanged and can be solved again. TESELA_OK also if not feasible; TESELA_E_MEMORY, TESELA_E_STOPPED: state and
 * result are as before. Deterministic. */
tesela_status tesela__assign_solve(const tesela__assign *problem, const int32_t *fixed, int64_t effort,
                                   int32_t *state, tesela__assigned *result);

/* The minimum cost of any assignment with each state of each node, in the order of the nodes. *exact: false if that takes too
 * long (effort: as for tesela__assign_solve); then the values are lower bounds, and tesela__assign_solve with `fixed` is exact.
 * TESELA_E_MEMORY. */
tesela_status tesela__assign_least(const tesela__assign *problem, int64_t effort, tesela__cost *least,
                                   bool *exact);

#endif
