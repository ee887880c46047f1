/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eliminate.c - the least cost of a graph by taking out node after node, whatever number of neighbours it has.
 *
 * A node that goes leaves a table: for all states of its neighbours at that time, the least that it and the tables it was
 * in cost. Next goes the node with the smallest table to leave. That is exact; what it takes depends on how much the graph
 * is like a tree, and is known before anything is computed. Networks with branches that join again and a few shared
 * weights stay small.
 *
 * Memory: 16 bytes an entry of the tables, at most ELIMINATE_ENTRIES, and a bit for each pair of nodes.
 */
#include "assign/work.h"

enum { ELIMINATE_NODES = 1 << 13, ELIMINATE_ENTRIES = 1 << 22 };

/* A table over the states of some nodes, the last running fastest. */
typedef struct eliminate_factor {
  int32_t n, next; /* of the same bucket, -1: none */
  const int32_t *node;
  const tesela__key *cost;
  int64_t own, *step; /* steps for the node of its bucket, and for each node of the table that it leaves */
} eliminate_factor;

typedef struct eliminator {
  const tesela__assign_graph *g;
  tesela__assign_pool pool;
  int64_t words;
  uint64_t *near;                                    /* bit w of row v: neighbours now */
  int64_t *size;                                     /* of the table v would leave */
  int32_t *order, *rank, *n_scope, **scope, *bucket; /* by node, but order */
  eliminate_factor *factors;
  int32_t n_factors;
  int64_t sums;
} eliminator;

/* The neighbours of v, into list. */
static int32_t eliminate_near(const eliminator *x, int32_t v, int32_t *list) {
  int32_t n = 0;
  for (int64_t k = 0; k < x->words; k++)
    for (uint64_t bits = x->near[v * x->words + k]; bits; bits &= bits - 1)
      list[n++] = (int32_t)(64 * k + __builtin_ctzll(bits));
  return n;
}

static void eliminate_measure(eliminator *x, int32_t v, int32_t *list) {
  const int32_t n = eliminate_near(x, v, list);
  int64_t size = 1;
  for (int32_t k = 0; k < n && size <= ELIMINATE_ENTRIES; k++) size *= x->g->node[list[k]].n;
  x->size[v] = size;
}

static bool eliminate_begin(eliminator *x) {
  const tesela__assign_graph *g = x->g;
  const int64_t n = g->n_nodes;
  x->words = (n + 63) / 64;
  x->near = tesela__assign_take(&x->pool, n * x->words, sizeof *x->near);
  x->size = tesela__assign_take(&x->pool, n, sizeof *x->size);
  x->order = tesela__assign_take(&x->pool, n, sizeof *x->order);
  x->rank = tesela__assign_take(&x->pool, n, sizeof *x->rank);
  x->n_scope = tesela__assign_take(&x->pool, n, sizeof *x->n_scope);
  x->scope = tesela__assign_take(&x->pool, n, sizeof *x->scope);
  x->bucket = tesela__assign_take(&x->pool, n, sizeof *x->bucket);
  x->factors = tesela__assign_take(&x->pool, n + g->n_edges, sizeof *x->factors);
  if (!x->near || !x->size || !x->order || !x->rank || !x->n_scope || !x->scope || !x->bucket || !x->factors)
    return false;
  memset(x->near, 0, (size_t)(n * x->words) * sizeof *x->near);
  for (int32_t v = 0; v < n; v++) {
    x->rank[v] = -1;
    x->bucket[v] = -1;
    for (int32_t h = g->node[v].first; h >= 0; h = tesela__assign_next(g, h)) {
      const int32_t w = tesela__assign_other(g, h);
      x->near[v * x->words + w / 64] |= (uint64_t)1 << (w % 64);
    }
  }
  return true;
}

/* ---- the order ------------------------------------------------------------------------------------------------ */

static int32_t eliminate_pick(const eliminator *x) {
  int32_t best = -1;
  for (int32_t v = 0; v < x->g->n_nodes; v++)
    if (x->rank[v] < 0 && (best < 0 || x->size[v] < x->size[best])) best = v;
  return best;
}

/* Take v out of the graph of neighbours: those it had become neighbours of each other. */
static void eliminate_join(eliminator *x, int32_t v, int32_t n, const int32_t *list) {
  for (int32_t k = 0; k < n; k++) {
    uint64_t *row = &x->near[list[k] * x->words];
    for (int64_t i = 0; i < x->words; i++) row[i] |= x->near[v * x->words + i];
    row[list[k] / 64] &= ~((uint64_t)1 << (list[k] % 64));
    row[v / 64] &= ~((uint64_t)1 << (v % 64));
  }
}

/* *fits: the order is within bounds. false: no memory. */
static bool eliminate_plan(eliminator *x, int64_t most, bool *fits) {
  const int32_t n = x->g->n_nodes;
  int32_t *list = tesela__assign_take(&x->pool, n, sizeof *list);
  int64_t entries = 0;
  *fits = false;
  if (!list) return false;
  for (int32_t v = 0; v < n; v++) eliminate_measure(x, v, list);
  for (int32_t k = 0; k < n; k++) {
    const int32_t v = eliminate_pick(x);
    if (x->size[v] > ELIMINATE_ENTRIES) return true;
    entries += x->size[v];
    x->sums += x->size[v] * x->g->node[v].n;
    if (entries > ELIMINATE_ENTRIES || x->sums > most) return true;
    x->order[k] = v;
    x->rank[v] = k;
    x->n_scope[v] = eliminate_near(x, v, list);
    x->scope[v] = tesela__assign_take(&x->pool, x->n_scope[v], sizeof *x->scope[v]);
    if (!x->scope[v]) return false;
    memcpy(x->scope[v], list, (size_t)x->n_scope[v] * sizeof *list);
    eliminate_join(x, v, x->n_scope[v], list);
    int32_t *scratch = list;
    for (int32_t i = 0; i < x->n_scope[v]; i++) eliminate_measure(x, x->scope[v][i], scratch);
  }
  *fits = true;
  return true;
}

/* ---- the tables ----------------------------------------------------------------------------------------------- */

/* A factor goes to the bucket of its node that is taken out first. */
static bool eliminate_add(eliminator *x, int32_t n, const int32_t *node, const tesela__key *cost) {
  eliminate_factor *f = &x->factors[x->n_factors];
  int32_t first = node[0];
  for (int32_t i = 1; i < n; i++)
    if (x->rank[node[i]] < x->rank[first]) first = node[i];
  *f = (eliminate_factor){.n = n, .next = x->bucket[first], .node = node, .cost = cost};
  f->step = tesela__assign_take(&x->pool, x->n_scope[first], sizeof *f->step);
  if (!f->step) return false;
  int64_t step = 1;
  for (int32_t k = 0; k < x->n_scope[first]; k++) f->step[k] = 0;
  for (int32_t i = n - 1; i >= 0; i--) {
    if (node[i] == first) f->own = step;
    for (int32_t k = 0; k < x->n_scope[first]; k++)
      if (x->scope[first][k] == node[i]) f->step[k] = step;
    step *= x->g->node[node[i]].n;
  }
  x->bucket[first] = x->n_factors++;
  return true;
}

/* The best state of v with factors at their offsets. */
static int32_t eliminate_best(const eliminator *x, int32_t v, const int64_t *at, tesela__key *least) {
  int32_t best = 0;
  *least = TESELA__KEY_INFINITE;
  for (int32_t i = 0; i < x->g->node[v].n; i++) {
    tesela__key sum = x->g->node[v].cost[i];
    int32_t k = 0;
    for (int32_t f = x->bucket[v]; f >= 0 && sum < *least; f = x->factors[f].next)
      sum = tesela__key_add(sum, x->factors[f].cost[at[k++] + i * x->factors[f].own]);
    if (sum >= *least) continue;
    *least = sum;
    best = i;
  }
  return best;
}

/* Fill the table that v leaves. */
static void eliminate_fill(const eliminator *x, int32_t v, int64_t *at, int32_t *digit, tesela__key *table) {
  const int32_t n = x->n_scope[v], *scope = x->scope[v];
  int32_t n_at = 0;
  for (int32_t f = x->bucket[v]; f >= 0; f = x->factors[f].next) at[n_at++] = 0;
  for (int32_t k = 0; k < n; k++) digit[k] = 0;
  for (int64_t entry = 0; entry < x->size[v]; entry++) {
    eliminate_best(x, v, at, &table[entry]);
    for (int32_t k = n - 1; k >= 0; k--) {
      const bool carry = ++digit[k] == x->g->node[scope[k]].n;
      const int64_t by = carry ? 1 - x->g->node[scope[k]].n : 1;
      if (carry) digit[k] = 0;
      int32_t i = 0;
      for (int32_t f = x->bucket[v]; f >= 0; f = x->factors[f].next) at[i++] += by * x->factors[f].step[k];
      if (!carry) break;
    }
  }
}

static bool eliminate_compute(eliminator *x, int32_t *state, tesela__key *cost) {
  const tesela__assign_graph *g = x->g;
  int64_t *at = tesela__assign_take(&x->pool, (int64_t)g->n_edges + g->n_nodes, sizeof *at);
  int32_t *digit = tesela__assign_take(&x->pool, g->n_nodes, sizeof *digit);
  tesela__key least;
  if (!at || !digit) return false;
  *cost = g->base;
  for (int32_t e = 0; e < g->n_edges; e++)
    if (!eliminate_add(x, 2, g->edge[e].node, g->edge[e].cost)) return false;
  for (int32_t k = 0; k < g->n_nodes; k++) {
    const int32_t v = x->order[k];
    tesela__key *table = tesela__assign_take(&x->pool, x->size[v], sizeof *table);
    if (!table) return false;
    eliminate_fill(x, v, at, digit, table);
    if (x->n_scope[v] == 0)
      *cost = tesela__key_add(*cost, table[0]);
    else if (!eliminate_add(x, x->n_scope[v], x->scope[v], table))
      return false;
  }
  for (int32_t k = g->n_nodes - 1; k >= 0; k--) {
    const int32_t v = x->order[k];
    int32_t n_at = 0;
    for (int32_t f = x->bucket[v]; f >= 0; f = x->factors[f].next) {
      at[n_at] = 0;
      for (int32_t i = 0; i < x->n_scope[v]; i++) at[n_at] += x->factors[f].step[i] * state[x->scope[v][i]];
      n_at++;
    }
    state[v] = eliminate_best(x, v, at, &least);
  }
  return true;
}

tesela_status tesela__assign_eliminate(const tesela__assign_graph *g, int64_t most, int32_t *state,
                                       tesela__key *cost, bool *done, int64_t *work) {
  eliminator x = {.g = g, .pool = {.allocator = g->pool.allocator}};
  *done = false;
  if (g->n_nodes > ELIMINATE_NODES) return TESELA_OK;
  bool fits = false;
  const bool memory =
      eliminate_begin(&x) && eliminate_plan(&x, most, &fits) && (!fits || eliminate_compute(&x, state, cost));
  *done = memory && fits;
  if (fits) *work += x.sums;
  tesela__assign_give_back(&x.pool);
  return memory ? TESELA_OK : TESELA_E_MEMORY;
}
