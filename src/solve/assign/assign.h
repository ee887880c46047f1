/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assign.h - each node takes one of its states so that the sum of the costs of nodes and edges is minimal.
 *
 * A node has a cost for each state; an edge has a cost for each pair of states of its two nodes (partitioned boolean
 * quadratic programming). Costs are pairs, compared by the first number and then by the second: (elements moved,
 * moves). A cost may be infinite: the state or pair is forbidden.
 *
 *   assign_reduce.c      R0, R1, R2: a node with at most two neighbours goes, its best answers become costs of theirs
 *   eliminate.c   the same for nodes with any number of neighbours, where the tables stay small; assign_order.c: in which order
 *   bound.c       what no assignment goes below: costs are shifted between edges and nodes, and the least of each add up
 *   assign_search.c      branch and bound on what is left; local.c has found a first answer
 *
 * The reduced problem is solved exactly if the search ends within its effort; else the best assignment and a lower bound
 * are given. All arithmetic is on integers: the bound is a proof.
 *
 * Memory of a problem: 16 bytes for each cost given. Of solving: as much again for each level of parts (12 at most, each
 * part smaller than what it was taken from), a table for each node that R2 takes out, 48 bytes for each state of an end of
 * an edge of the core, and up to 256 MiB for elimination and 256 MiB for the changes that a search can undo.
 */
#ifndef TESELA_SRC_ASSIGN_ASSIGN_H
#define TESELA_SRC_ASSIGN_ASSIGN_H

#include "base/base.h"

/* Both are >= 0. Costs add up without overflow: from TESELA__COST_MAX elements on a sum is infinite. */
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
/* Callback that tesela__assign_solve asks whether to continue; NULL: no calls. */
void tesela__assign_listen(tesela__assign *problem, tesela_progress *progress, void *user);
void tesela__assign_free(tesela__assign *problem); /* NULL is allowed */

/* Add a node of n >= 1 states; cost[n]. *node is its number, from 0 up. TESELA_E_MEMORY; TESELA_E_RANGE: no state, a cost
 * below 0, 2^30 moves or more in one cost that is not infinite, or the 2^30th node. */
tesela_status tesela__assign_node(tesela__assign *problem, int32_t n, const tesela__cost *cost,
                                  int32_t *node);

/* Add an edge: cost[i * n_b + j] for state i of a and j of b. Edges between the same nodes add up; a == b adds the
 * diagonal to the node. TESELA_E_MEMORY; TESELA_E_RANGE: no such node, a cost as above, the 2^30th edge. */
tesela_status tesela__assign_edge(tesela__assign *problem, int32_t a, int32_t b, const tesela__cost *cost);

typedef struct tesela__assigned {
  bool feasible;      /* there is an assignment of finite cost; state is one */
  bool proven;        /* no assignment costs less; or, if not feasible, none is */
  tesela__cost cost;  /* of `state`, summed again from the problem as it was given */
  tesela__cost bound; /* no assignment costs less */
  int32_t core;       /* nodes left after R0, R1, R2, and states that another always beats */
  int64_t effort;     /* nodes of the search tree */
} tesela__assigned;

/* Solve. state[number of nodes] is written if feasible. fixed (may be NULL): a state each node must take, -1: free; one
 * that the node does not have makes it not feasible. effort: most nodes of the search tree, 0: 1,000,000; a node that
 * looks at more than 1000 costs counts for more, and so does elimination for each 4000 sums, so that the default is a matter
 * of seconds. The problem is unchanged and can be solved again. TESELA_OK also if not feasible; TESELA_E_MEMORY, TESELA_E_STOPPED: state and
 * result are as before. Deterministic. */
tesela_status tesela__assign_solve(const tesela__assign *problem, const int32_t *fixed, int64_t effort,
                                   int32_t *state, tesela__assigned *result);

/* The minimum cost of any assignment with each state of each node: one node after another, as they were added. *exact: false if
 * that takes too much (effort: as for tesela__assign_solve); then nothing with the state costs less, and tesela__assign_solve
 * with `fixed` tells. TESELA_E_MEMORY. */
tesela_status tesela__assign_least(const tesela__assign *problem, int64_t effort, tesela__cost *least,
                                   bool *exact);

#endif
