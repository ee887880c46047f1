/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eliminate.c - the minimum cost of a graph by removing node after node, with any number of neighbours.
 *
 * A removed node leaves a table: for all states of its neighbours at that time, the least cost of the node and the tables that
 * had it. That is exact; the effort depends on the tree width of the graph and is known from the order (assign_order.c) before
 * anything is computed. A table is needed until the first of its nodes is removed; the best states are kept for the way back.
 *
 * On a way back with tables, each node passes on the least cost of everything outside. So two passes give the minimum cost with
 * each state of each node.
 *
 * Memory: 16 bytes for each entry of the tables needed at one time, and 2 for each entry of all tables; 32 for each entry of
 * all with the way back in tables. At most ELIMINATE_BYTES.
 */
#include "solve/assign/work.h"

enum { ELIMINATE_STATES = UINT16_MAX + 1, ELIMINATE_CUT = 16, ELIMINATE_SMALL = 1 << 12 };
#define ELIMINATE_BYTES ((int64_t)1 << 28)

/* A table over the states of a node and of some in its scope. */
typedef struct eliminate_factor {
  const tesela__key *cost;
  int32_t from;       /* the node that left it, or -1 for an edge */
  int64_t own, *step; /* steps for the node, and for each node of its scope */
  int64_t at;         /* position of the current states */
} eliminate_factor;

typedef struct eliminator {
  const tesela__assign_graph *g;
  tesela__assign_pool pool;
  tesela__assign_order order;
  eliminate_factor *factor; /* those of each node in turn */
  int32_t *first, *n_factors;
  tesela__key **table, **outside; /* of each node */
  uint16_t **best;
  bool ready;     /* tables are NULL or there */
  bool small;     /* no more than ELIMINATE_SMALL entries: all tables are in the pool */
  int32_t *digit; /* states of the scope, except its last node */
  tesela__key *sum;
} eliminator;

/* ---- memory of tables ----------------------------------------------------------------------------------------- */

static void *eliminate_take(eliminator *x, int64_t count, size_t size) {
  return x->small ? tesela__assign_take(&x->pool, count, size)
                  : tesela__alloc(&x->pool.allocator, (uint64_t)count * size, alignof(tesela__key));
}

static void eliminate_release(const eliminator *x, void *table) {
  if (!x->small) tesela__release(&x->pool.allocator, table);
}

/* ---- preparation ---------------------------------------------------------------------------------------------- */

static int32_t eliminate_earlier(const eliminator *x, int32_t edge) {
  const int32_t *node = x->g->edge[edge].node;
  return x->order.rank[node[0]] < x->order.rank[node[1]] ? node[0] : node[1];
}

/* Assign each table to the node that uses it. */
static bool eliminate_place(eliminator *x) {
  const tesela__assign_graph *g = x->g;
  int32_t next = 0;
  for (int32_t v = 0; v < g->n_nodes; v++) x->n_factors[v] = 0;
  for (int32_t e = 0; e < g->n_edges; e++) x->n_factors[eliminate_earlier(x, e)]++;
  for (int32_t v = 0; v < g->n_nodes; v++)
    if (x->order.n_scope[v] > 0) x->n_factors[x->order.scope[x->order.scope_at[v]]]++;
  for (int32_t v = 0; v < g->n_nodes; v++) {
    x->first[v] = next;
    next += x->n_factors[v];
    for (int32_t k = 0; k < x->n_factors[v]; k++) {
      eliminate_factor *f = &x->factor[x->first[v] + k];
      *f = (eliminate_factor){.from = -1};
      f->step = tesela__assign_take(&x->pool, x->order.n_scope[v], sizeof *f->step);
      if (!f->step) return false;
      for (int32_t i = 0; i < x->order.n_scope[v]; i++) f->step[i] = 0;
    }
    x->n_factors[v] = 0;
  }
  return true;
}

static bool eliminate_begin(eliminator *x) {
  const tesela__assign_graph *g = x->g;
  const int32_t n = g->n_nodes;
  int32_t states = 1;
  for (int32_t v = 0; v < n; v++) states = g->node[v].n > states ? g->node[v].n : states;
  x->table = tesela__assign_take(&x->pool, n, sizeof *x->table);
  x->outside = tesela__assign_take(&x->pool, n, sizeof *x->outside);
  x->best = tesela__assign_take(&x->pool, n, sizeof *x->best);
  if (!x->table || !x->outside || !x->best) return false;
  for (int32_t v = 0; v < n; v++) x->table[v] = x->outside[v] = NULL, x->best[v] = NULL;
  x->ready = true;
  x->small = x->order.entries <= ELIMINATE_SMALL;
  x->factor = tesela__assign_take(&x->pool, (int64_t)n + g->n_edges, sizeof *x->factor);
  x->first = tesela__assign_take(&x->pool, n, sizeof *x->first);
  x->n_factors = tesela__assign_take(&x->pool, n, sizeof *x->n_factors);
  x->digit = tesela__assign_take(&x->pool, n, sizeof *x->digit);
  x->sum = tesela__assign_take(&x->pool, states, sizeof *x->sum);
  return x->factor && x->first && x->n_factors && x->digit && x->sum && eliminate_place(x);
}

static void eliminate_end(eliminator *x) {
  for (int32_t v = 0; x->ready && v < x->g->n_nodes; v++) {
    eliminate_release(x, x->table[v]);
    eliminate_release(x, x->outside[v]);
    eliminate_release(x, x->best[v]);
  }
  tesela__assign_order_drop(&x->order);
  tesela__assign_give_back(&x->pool);
}

/* The position of node w in the scope of v; -1: it is v. */
static int32_t eliminate_find(const eliminator *x, int32_t v, int32_t w) {
  const int32_t *scope = &x->order.scope[x->order.scope_at[v]];
  int32_t k = -1;
  while (w != v && scope[++k] != w) continue;
  return k;
}

static void eliminate_step(eliminate_factor *f, int32_t place, int64_t step) {
  if (place < 0)
    f->own = step;
  else
    f->step[place] = step;
}

static void eliminate_add_edge(eliminator *x, int32_t edge) {
  const tesela__assign_link *e = &x->g->edge[edge];
  const int32_t v = eliminate_earlier(x, edge);
  eliminate_factor *f = &x->factor[x->first[v] + x->n_factors[v]++];
  f->cost = e->cost;
  eliminate_step(f, eliminate_find(x, v, e->node[0]), x->g->node[e->node[1]].n);
  eliminate_step(f, eliminate_find(x, v, e->node[1]), 1);
}

/* The table that v left, and the node it goes to. */
static void eliminate_add_table(eliminator *x, int32_t v) {
  const int32_t *scope = &x->order.scope[x->order.scope_at[v]], n = x->order.n_scope[v];
  eliminate_factor *f = &x->factor[x->first[scope[0]] + x->n_factors[scope[0]]++];
  int64_t step = 1;
  f->cost = x->table[v];
  f->from = v;
  for (int32_t k = n - 1; k >= 0; k--) {
    eliminate_step(f, eliminate_find(x, scope[0], scope[k]), step);
    step *= x->g->node[scope[k]].n;
  }
}

/* ---- rows: over all states of the last node of the scope ---------------------------------------------------- */

static int32_t eliminate_width(const eliminator *x, int32_t v) {
  const int32_t n = x->order.n_scope[v];
  return n > 0 ? x->g->node[x->order.scope[x->order.scope_at[v] + n - 1]].n : 1;
}

static void eliminate_first_row(eliminator *x, int32_t v) {
  for (int32_t k = 0; k < x->n_factors[v]; k++) x->factor[x->first[v] + k].at = 0;
  for (int32_t k = 0; k < x->order.n_scope[v]; k++) x->digit[k] = 0;
}

static void eliminate_next_row(eliminator *x, int32_t v) {
  const int32_t *scope = &x->order.scope[x->order.scope_at[v]];
  eliminate_factor *f = &x->factor[x->first[v]];
  for (int32_t k = x->order.n_scope[v] - 2; k >= 0; k--) {
    const bool carry = ++x->digit[k] == x->g->node[scope[k]].n;
    const int64_t by = carry ? 1 - x->g->node[scope[k]].n : 1;
    if (carry) x->digit[k] = 0;
    for (int32_t i = 0; i < x->n_factors[v]; i++) f[i].at += by * f[i].step[k];
    if (!carry) return;
  }
}

/* x->sum: the cost of all tables of v with its state i. false: all infinite. */
static bool eliminate_row(eliminator *x, int32_t v, int32_t i) {
  const int32_t n = x->n_factors[v], last = x->order.n_scope[v] - 1, width = eliminate_width(x, v);
  const eliminate_factor *f = &x->factor[x->first[v]];
  tesela__key *sum = x->sum, all = x->g->node[v].cost[i];
  for (int32_t k = 0; k < n; k++)
    if (last < 0 || f[k].step[last] == 0) all = tesela__key_add(all, f[k].cost[f[k].at + i * f[k].own]);
  if (tesela__key_is_infinite(all)) return false;
  for (int32_t j = 0; j < width; j++) sum[j] = all;
  for (int32_t k = 0, added = 0; k < n && last >= 0; k++) {
    const int64_t step = f[k].step[last];
    const tesela__key *cost = &f[k].cost[f[k].at + i * f[k].own];
    if (step == 0) continue;
    if (++added % ELIMINATE_CUT == 0)
      for (int32_t j = 0; j < width; j++) sum[j] = tesela__key_less(sum[j], TESELA__KEY_INFINITE);
    for (int32_t j = 0; j < width; j++) sum[j] += cost[j * step];
  }
  return true;
}

/* ---- forward -------------------------------------------------------------------------------------------------- */

static bool eliminate_forward(eliminator *x, int32_t v) {
  const int32_t width = eliminate_width(x, v), n = x->g->node[v].n;
  const int64_t size = x->order.size[v];
  tesela__key *table = x->table[v] = eliminate_take(x, size, sizeof *table);
  uint16_t *best = x->best[v] = eliminate_take(x, size, sizeof *best);
  if (!table || !best) return false;
  eliminate_first_row(x, v);
  for (int64_t at = 0; at < size; at += width, eliminate_next_row(x, v)) {
    for (int32_t j = 0; j < width; j++) table[at + j] = TESELA__KEY_INFINITE, best[at + j] = 0;
    for (int32_t i = 0; i < n; i++) {
      if (!eliminate_row(x, v, i)) continue;
      for (int32_t j = 0; j < width; j++) {
        const bool better = x->sum[j] < table[at + j];
        table[at + j] = better ? x->sum[j] : table[at + j];
        best[at + j] = better ? (uint16_t)i : best[at + j];
      }
    }
  }
  return true;
}

/* Compute all tables; release those no longer needed, unless `keep`. */
static bool eliminate_compute(eliminator *x, bool keep, tesela__key *cost) {
  const tesela__assign_graph *g = x->g;
  *cost = g->base;
  for (int32_t e = 0; e < g->n_edges; e++) eliminate_add_edge(x, e);
  for (int32_t k = 0; k < g->n_nodes; k++) {
    const int32_t v = x->order.node[k];
    if (!eliminate_forward(x, v)) return false;
    if (x->order.n_scope[v] == 0)
      *cost = tesela__key_add(*cost, x->table[v][0]);
    else
      eliminate_add_table(x, v);
    for (int32_t i = 0; i < x->n_factors[v] && !keep; i++) {
      const int32_t from = x->factor[x->first[v] + i].from;
      if (from < 0) continue;
      eliminate_release(x, x->table[from]);
      x->table[from] = NULL;
    }
  }
  return true;
}

static void eliminate_states(const eliminator *x, int32_t *state) {
  for (int32_t k = x->g->n_nodes - 1; k >= 0; k--) {
    const int32_t v = x->order.node[k], *scope = &x->order.scope[x->order.scope_at[v]];
    int64_t at = 0;
    for (int32_t i = 0; i < x->order.n_scope[v]; i++) at = at * x->g->node[scope[i]].n + state[scope[i]];
    state[v] = x->best[v][at];
  }
}

/* ---- and back ------------------------------------------------------------------------------------------------- */

/* Pass on from v: the least cost of everything else for each entry of the tables assigned to it. least: for its states. */
static bool eliminate_backward(eliminator *x, int32_t v, tesela__key *least) {
  const int32_t width = eliminate_width(x, v), n = x->g->node[v].n, last = x->order.n_scope[v] - 1;
  eliminate_factor *f = &x->factor[x->first[v]];
  for (int32_t k = 0; k < x->n_factors[v]; k++) {
    const int64_t size = f[k].from < 0 ? 0 : x->order.size[f[k].from];
    if (f[k].from < 0) continue;
    tesela__key *to = x->outside[f[k].from] = eliminate_take(x, size, sizeof *to);
    for (int64_t i = 0; to && i < size; i++) to[i] = TESELA__KEY_INFINITE;
    if (!to) return false;
  }
  for (int32_t i = 0; i < n; i++) least[i] = TESELA__KEY_INFINITE;
  eliminate_first_row(x, v);
  for (int64_t at = 0; at < x->order.size[v]; at += width, eliminate_next_row(x, v))
    for (int32_t i = 0; i < n; i++) {
      if (!eliminate_row(x, v, i)) continue;
      for (int32_t j = 0; j < width; j++) {
        const tesela__key sum =
            tesela__key_add(tesela__key_less(x->sum[j], TESELA__KEY_INFINITE), x->outside[v][at + j]);
        least[i] = tesela__key_less(least[i], sum);
        for (int32_t k = 0; k < x->n_factors[v]; k++) {
          if (f[k].from < 0) continue;
          tesela__key *to =
              &x->outside[f[k].from][f[k].at + i * f[k].own + (last < 0 ? 0 : j * f[k].step[last])];
          *to = tesela__key_less(*to, sum);
        }
      }
    }
  for (int32_t k = 0; k < x->n_factors[v]; k++)
    for (int64_t i = 0; f[k].from >= 0 && i < x->order.size[f[k].from]; i++) {
      tesela__key *to = &x->outside[f[k].from][i];
      if (!tesela__key_is_infinite(*to)) *to -= f[k].cost[i];
    }
  return true;
}

static bool eliminate_all(eliminator *x, tesela__key cost, tesela__key *least) {
  const tesela__assign_graph *g = x->g;
  int64_t *at = tesela__assign_take(&x->pool, g->n_nodes, sizeof *at), next = 0;
  if (!at) return false;
  for (int32_t v = 0; v < g->n_nodes; v++) {
    at[v] = next;
    next += g->node[v].n;
  }
  for (int32_t k = g->n_nodes - 1; k >= 0; k--) {
    const int32_t v = x->order.node[k];
    if (x->order.n_scope[v] == 0) { /* the cost of the others */
      x->outside[v] = eliminate_take(x, 1, sizeof **x->outside);
      if (!x->outside[v]) return false;
      *x->outside[v] = tesela__key_is_infinite(cost) ? cost : cost - x->table[v][0];
    }
    if (!eliminate_backward(x, v, &least[at[v]])) return false;
  }
  return true;
}

/* ---- both ----------------------------------------------------------------------------------------------------- */

static bool eliminate_fits(const eliminator *x, bool all) {
  for (int32_t v = 0; v < x->g->n_nodes; v++)
    if (x->g->node[v].n > ELIMINATE_STATES) return false;
  return (all ? 34 * x->order.entries : 16 * x->order.peak + 2 * x->order.entries) <= ELIMINATE_BYTES;
}

tesela_status tesela__assign_eliminate(const tesela__assign_graph *g, int64_t most, int32_t *state,
                                       tesela__key *cost, bool *done, int64_t *work) {
  eliminator x = {.g = g, .pool = {.allocator = g->pool.allocator}};
  tesela_status status = tesela__assign_order_find(g, most, &x.pool, &x.order, done);
  if (*done) *done = eliminate_fits(&x, false);
  if (*done && !(eliminate_begin(&x) && eliminate_compute(&x, false, cost))) status = TESELA_E_MEMORY;
  if (*done && status == TESELA_OK) {
    eliminate_states(&x, state);
    *work += x.order.sums;
  }
  *done = *done && status == TESELA_OK;
  eliminate_end(&x);
  return status;
}

tesela_status tesela__assign_eliminate_all(const tesela__assign_graph *g, int64_t most, tesela__key *least,
                                           bool *done) {
  eliminator x = {.g = g, .pool = {.allocator = g->pool.allocator}};
  tesela__key cost;
  tesela_status status = tesela__assign_order_find(g, most, &x.pool, &x.order, done);
  if (*done) *done = eliminate_fits(&x, true);
  if (*done && !(eliminate_begin(&x) && eliminate_compute(&x, true, &cost) && eliminate_all(&x, cost, least)))
    status = TESELA_E_MEMORY;
  *done = *done && status == TESELA_OK;
  eliminate_end(&x);
  return status;
}
