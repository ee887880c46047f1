/* SPDX-License-Identifier: Apache-2.0 */
/*
 * least.c - the least cost of an assignment with each state of each node, for all at once.
 *
 * Elimination and its way back (eliminate.c) give them exactly; if the tables are too large, each state has the best bound of
 * some sweeps. Edges are made normal first, and edges without costs cut: then a node of one state has no neighbours.
 */
#include "solve/assign/work.h"

enum {
  LEAST_CHEAP = 1 << 22, /* sums for elimination at any effort */
  LEAST_MOST = 1 << 30,  /* sums, and costs examined by sweeps */
  LEAST_SWEEPS = 400,
};

static int64_t least_states(const tesela__assign_graph *g) {
  int64_t n = 0;
  for (int32_t v = 0; v < g->n_nodes; v++) n += g->node[v].n;
  return n;
}

/* Lower bounds for each state, by sweeps. */
static tesela_status least_bound(const tesela__assign_graph *g, int64_t most, tesela__key *least) {
  tesela__assign_bound b;
  tesela_status status = tesela__assign_bound_begin(&b, g);
  if (status != TESELA_OK) return status;
  b.least = least;
  bool alive = true;
  for (int32_t k = 0; k < LEAST_SWEEPS && alive && b.work < most; k++) alive = tesela__assign_sweep(&b);
  tesela__assign_bound_end(&b);
  return TESELA_OK;
}

/* The same exactly, if that is possible; of a graph whose edges are normal. */
static tesela_status least_exactly(const tesela__assign_graph *g, int64_t effort, tesela__key *least,
                                   bool *exact) {
  const int64_t most = tesela__min(tesela__assign_most_work(effort), LEAST_MOST);
  for (int64_t i = 0, n = least_states(g); i < n; i++) least[i] = g->base;
  const tesela_status status = tesela__assign_eliminate_all(g, tesela__max(most, LEAST_CHEAP), least, exact);
  return status == TESELA_OK && !*exact ? least_bound(g, most, least) : status;
}

/* All nodes of a graph, without dead states and edges without costs. */
static tesela_status least_tidy(tesela__assign_graph *tidy, tesela__assign_graph *g) {
  int32_t *node = tesela__assign_take(&g->pool, g->n_nodes, sizeof *node);
  int32_t *place = tesela__assign_take(&g->pool, g->n_nodes, sizeof *place);
  if (!node || !place) return TESELA_E_MEMORY;
  for (int32_t v = 0; v < g->n_nodes; v++) node[v] = v;
  const tesela_status status = tesela__assign_extract(tidy, g, node, g->n_nodes, place);
  if (status == TESELA_OK) tidy->base = g->base;
  return status;
}

static void least_report(const tesela__assign *problem, const tesela__assign_graph *g,
                         const tesela__assign_graph *tidy, const tesela__key *key, tesela__cost *least) {
  for (int32_t v = 0; v < problem->n_nodes; v++) {
    for (int32_t i = 0; i < problem->node[v].a; i++) least[i] = TESELA__COST_INFINITE;
    for (int32_t i = 0; key && i < tidy->node[v].n; i++, key++)
      if (!tesela__key_is_infinite(*key))
        least[g->node[v].origin_state[tidy->node[v].origin_state[i]]] =
            (tesela__cost){(int64_t)(*key / TESELA__KEY_UNIT), (int64_t)(*key % TESELA__KEY_UNIT)};
    least += problem->node[v].a;
  }
}

tesela_status tesela__assign_least(const tesela__assign *problem, int64_t effort, tesela__cost *least,
                                   bool *exact) {
  tesela__assign_graph g, tidy;
  tesela_status status = tesela__assign_load(&g, problem, NULL);
  if (status != TESELA_OK) return status;
  if (!g.impossible) status = tesela__assign_normalise(&g);
  *exact = g.impossible;
  if (status == TESELA_OK && g.impossible) least_report(problem, &g, NULL, NULL, least);
  if (status == TESELA_OK && !g.impossible && (status = least_tidy(&tidy, &g)) == TESELA_OK) {
    tesela__key *key = tesela__assign_take(&tidy.pool, least_states(&tidy), sizeof *key);
    status = key ? least_exactly(&tidy, effort, key, exact) : TESELA_E_MEMORY;
    if (status == TESELA_OK) least_report(problem, &g, &tidy, key, least);
    tesela__assign_drop(&tidy);
  }
  tesela__assign_drop(&g);
  return status;
}
