/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assign_problem.c - building an assignment problem.
 *
 * Costs are kept as given, 16 bytes each; an edge from a node to itself is added to the node's costs. A problem of nodes with
 * n_i states and edges (i, j) takes 16 * (sum n_i + sum n_i * n_j) bytes, and about 32 for each node and edge.
 */
#include "solve/assign/work.h"

enum { GIVEN_MOVES_MOST = 1 << 30, GIVEN_COUNT_MOST = 1 << 30 };

int tesela__cost_compare(tesela__cost a, tesela__cost b) {
  if (tesela__cost_is_infinite(a) || tesela__cost_is_infinite(b))
    return tesela__cost_is_infinite(a) - tesela__cost_is_infinite(b);
  if (a.elements != b.elements) return a.elements < b.elements ? -1 : 1;
  return (a.moves > b.moves) - (a.moves < b.moves);
}

tesela__cost tesela__cost_add(tesela__cost a, tesela__cost b) {
  tesela__cost sum;
  if (tesela__cost_is_infinite(a) || tesela__cost_is_infinite(b)) return TESELA__COST_INFINITE;
  if (!tesela__add(a.elements, b.elements, &sum.elements) || !tesela__add(a.moves, b.moves, &sum.moves))
    return TESELA__COST_INFINITE;
  return tesela__cost_is_infinite(sum) ? TESELA__COST_INFINITE : sum;
}

tesela__assign *tesela__assign_new(const tesela_allocator *allocator) {
  const tesela_allocator own = tesela__allocator(allocator);
  tesela__assign *problem = tesela__alloc(&own, sizeof *problem, alignof(tesela__assign));
  if (problem) *problem = (tesela__assign){.pool = {.allocator = own}};
  return problem;
}

void tesela__assign_listen(tesela__assign *problem, tesela_progress *progress, void *user) {
  problem->progress = progress;
  problem->progress_user = user;
}

void tesela__assign_free(tesela__assign *problem) {
  if (!problem) return;
  const tesela_allocator own = problem->pool.allocator;
  tesela__assign_give_back(&problem->pool);
  tesela__release(&own, problem->node);
  tesela__release(&own, problem->edge);
  tesela__release(&own, problem);
}

static bool given_costs_fit(int64_t n, const tesela__cost *cost) {
  for (int64_t i = 0; i < n; i++)
    if (!tesela__cost_is_infinite(cost[i]) &&
        (cost[i].elements < 0 || cost[i].moves < 0 || cost[i].moves >= GIVEN_MOVES_MOST))
      return false;
  return true;
}

/* A copy of the costs in the problem's pool. */
static tesela__cost *given_copy(tesela__assign *problem, int64_t n, const tesela__cost *cost) {
  tesela__cost *copy = tesela__assign_take(&problem->pool, n, sizeof *copy);
  if (copy) memcpy(copy, cost, (size_t)n * sizeof *copy);
  return copy;
}

tesela_status tesela__assign_node(tesela__assign *problem, int32_t n, const tesela__cost *cost,
                                  int32_t *node) {
  if (n < 1 || problem->n_nodes == GIVEN_COUNT_MOST || !given_costs_fit(n, cost)) return TESELA_E_RANGE;
  void *items = problem->node;
  if (!tesela__grow(&problem->pool.allocator, &items, sizeof *problem->node, &problem->node_capacity,
                    (uint64_t)problem->n_nodes + 1))
    return TESELA_E_MEMORY;
  problem->node = items;
  tesela__cost *copy = given_copy(problem, n, cost);
  if (!copy) return TESELA_E_MEMORY;
  problem->node[problem->n_nodes] = (tesela__assign_given){n, -1, copy};
  *node = problem->n_nodes++;
  return TESELA_OK;
}

tesela_status tesela__assign_edge(tesela__assign *problem, int32_t a, int32_t b, const tesela__cost *cost) {
  if (a < 0 || a >= problem->n_nodes || b < 0 || b >= problem->n_nodes) return TESELA_E_RANGE;
  const int64_t n = problem->node[a].a, m = problem->node[b].a;
  if (problem->n_edges + problem->n_loops == GIVEN_COUNT_MOST || !given_costs_fit(n * m, cost))
    return TESELA_E_RANGE;
  if (a == b) {
    tesela__cost *own = problem->node[a].cost;
    for (int64_t i = 0; i < n; i++) own[i] = tesela__cost_add(own[i], cost[i * n + i]);
    problem->n_loops++;
    return TESELA_OK;
  }
  void *items = problem->edge;
  if (!tesela__grow(&problem->pool.allocator, &items, sizeof *problem->edge, &problem->edge_capacity,
                    (uint64_t)problem->n_edges + 1))
    return TESELA_E_MEMORY;
  problem->edge = items;
  tesela__cost *copy = given_copy(problem, n * m, cost);
  if (!copy) return TESELA_E_MEMORY;
  problem->edge[problem->n_edges++] = (tesela__assign_given){a, b, copy};
  return TESELA_OK;
}
