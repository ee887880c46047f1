/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assign_order.c - an order of removing nodes that keeps their tables small.
 *
 * Removing a node makes its neighbours adjacent. The next node is the one that adds least: new pairs of neighbours,
 * each weighted by the bits of the states of both; of equal ones the node with the smallest table. If tables are not
 * small, more orders are tried with other choices between equal nodes (from a fixed sequence), and the cheapest is
 * kept. For networks these orders are close to the best; for a chain of blocks, their tables are as wide as a block.
 *
 * Memory: two bits for each pair of nodes, and 4 bytes for each neighbour of a node when it is removed.
 */
#include "solve/assign/work.h"

enum {
  ORDER_NODES = 1 << 14,
  ORDER_TRIALS = 12,
  ORDER_EASY = 1 << 20,  /* sums up to which one order is enough */
  ORDER_STEPS = 1 << 26, /* roughly, for all trials */
  ORDER_HOPE = 64,       /* multiples of the limit: a first order beyond them cannot be improved enough */
};
#define ORDER_SIZE ((int64_t)1 << 40)

typedef struct orderer {
  const tesela__assign_graph *g;
  tesela__assign_pool pool;
  tesela__assign_order *to;
  int64_t words;
  uint64_t *begin, *near,
      *touched;         /* bit w of row v: neighbours at first; neighbours now; nodes to measure again */
  int64_t *size, *fill; /* size of the table that v would leave; cost that its removal adds */
  uint32_t *tie;
  int32_t *list, *weight;
  uint64_t seed; /* 0: of equal nodes the first */
} orderer;

static bool order_take(tesela__assign_order *order, tesela__assign_pool *pool, int32_t n) {
  order->node = tesela__assign_take(pool, n, sizeof *order->node);
  order->rank = tesela__assign_take(pool, n, sizeof *order->rank);
  order->n_scope = tesela__assign_take(pool, n, sizeof *order->n_scope);
  order->scope_at = tesela__assign_take(pool, n, sizeof *order->scope_at);
  order->size = tesela__assign_take(pool, n, sizeof *order->size);
  order->ends = tesela__assign_take(pool, n, sizeof *order->ends);
  return order->node && order->rank && order->n_scope && order->scope_at && order->size && order->ends;
}

/* Bits of n states, times 8. */
static int32_t order_bits(int32_t n) {
  const int32_t whole = 31 - __builtin_clz((uint32_t)n);
  return 8 * whole + (int32_t)(((int64_t)n << 3 >> whole) & 7);
}

static bool order_begin(orderer *o) {
  const tesela__assign_graph *g = o->g;
  const int64_t n = g->n_nodes;
  o->words = (n + 63) / 64;
  o->begin = tesela__assign_take(&o->pool, n * o->words, sizeof *o->begin);
  o->near = tesela__assign_take(&o->pool, n * o->words, sizeof *o->near);
  o->touched = tesela__assign_take(&o->pool, o->words, sizeof *o->touched);
  o->size = tesela__assign_take(&o->pool, n, sizeof *o->size);
  o->fill = tesela__assign_take(&o->pool, n, sizeof *o->fill);
  o->tie = tesela__assign_take(&o->pool, n, sizeof *o->tie);
  o->list = tesela__assign_take(&o->pool, n, sizeof *o->list);
  o->weight = tesela__assign_take(&o->pool, n, sizeof *o->weight);
  if (!o->begin || !o->near || !o->touched || !o->size || !o->fill || !o->tie || !o->list || !o->weight)
    return false;
  memset(o->begin, 0, (size_t)(n * o->words) * sizeof *o->begin);
  for (int32_t v = 0; v < n; v++) {
    o->weight[v] = order_bits(g->node[v].n);
    for (int32_t h = g->node[v].first; h >= 0; h = tesela__assign_next(g, h)) {
      const int32_t w = tesela__assign_other(g, h);
      o->begin[v * o->words + w / 64] |= (uint64_t)1 << (w % 64);
    }
  }
  return true;
}

/* The neighbours of v, into o->list. */
static int32_t order_near(const orderer *o, int32_t v) {
  int32_t n = 0;
  for (int64_t k = 0; k < o->words; k++)
    for (uint64_t bits = o->near[v * o->words + k]; bits; bits &= bits - 1)
      o->list[n++] = (int32_t)(64 * k + __builtin_ctzll(bits));
  return n;
}

/* Measure the removal of v now. If its table is too large, the cost is too large. */
static void order_measure(orderer *o, int32_t v) {
  const int32_t n = order_near(o, v);
  int64_t size = 1, fill = 0;
  for (int32_t k = 0; k < n && size <= ORDER_SIZE; k++) {
    const int32_t states = o->g->node[o->list[k]].n;
    size = size > ORDER_SIZE / states ? ORDER_SIZE + 1 : size * states;
  }
  for (int32_t k = 0; k < n && size <= ORDER_SIZE; k++) {
    const uint64_t *row = &o->near[o->list[k] * o->words];
    for (int32_t i = k + 1; i < n; i++)
      if (!(row[o->list[i] / 64] >> (o->list[i] % 64) & 1))
        fill += (int64_t)o->weight[o->list[k]] * o->weight[o->list[i]];
  }
  o->size[v] = size;
  o->fill[v] = size <= ORDER_SIZE ? fill : INT64_MAX;
}

static int32_t order_pick(const orderer *o) {
  int32_t best = -1;
  for (int32_t v = 0; v < o->g->n_nodes; v++) {
    if (o->to->rank[v] >= 0) continue;
    if (best < 0 || o->fill[v] < o->fill[best] ||
        (o->fill[v] == o->fill[best] &&
         (o->size[v] < o->size[best] || (o->size[v] == o->size[best] && o->tie[v] < o->tie[best]))))
      best = v;
  }
  return best;
}

/* Note the nodes whose measure changes when a and b become neighbours: those next to both. */
static void order_touch(orderer *o, int32_t a, int32_t b) {
  const uint64_t *x = &o->near[a * o->words], *y = &o->near[b * o->words];
  if (x[b / 64] >> (b % 64) & 1) return;
  for (int64_t i = 0; i < o->words; i++) o->touched[i] |= x[i] & y[i];
}

/* Remove v: its neighbours, o->list, become neighbours of each other. */
static void order_join(orderer *o, int32_t v, int32_t n) {
  memset(o->touched, 0, (size_t)o->words * sizeof *o->touched);
  for (int32_t k = 0; k < n; k++) {
    for (int32_t i = 0; i < k; i++) order_touch(o, o->list[k], o->list[i]);
    o->touched[o->list[k] / 64] |= (uint64_t)1 << (o->list[k] % 64);
  }
  o->touched[v / 64] &= ~((uint64_t)1 << (v % 64));
  for (int32_t k = 0; k < n; k++) {
    const int32_t w = o->list[k];
    uint64_t *row = &o->near[w * o->words];
    for (int64_t i = 0; i < o->words; i++) row[i] |= o->near[v * o->words + i];
    row[w / 64] &= ~((uint64_t)1 << (w % 64));
    row[v / 64] &= ~((uint64_t)1 << (v % 64));
  }
  for (int64_t k = 0; k < o->words; k++)
    for (uint64_t bits = o->touched[k]; bits; bits &= bits - 1)
      order_measure(o, (int32_t)(64 * k + __builtin_ctzll(bits)));
}

/* Allocates even if all scopes are empty: the pointer to a node's scope is never NULL. */
static bool order_keep_scope(tesela__assign_order *to, int32_t v, int32_t n, const int32_t *list) {
  void *items = to->scope;
  if (!tesela__grow(&to->allocator, &items, sizeof *to->scope, &to->capacity, (uint64_t)(to->n_list + n + 1)))
    return false;
  to->scope = items;
  to->n_scope[v] = n;
  to->scope_at[v] = to->n_list;
  if (n > 0) memcpy(&to->scope[to->n_list], list, (size_t)n * sizeof *list);
  to->n_list += n;
  return true;
}

/* Make an order; to->sums is above `most` if it does not fit. false: no memory. */
static bool order_try(orderer *o, int64_t most) {
  const int32_t n = o->g->n_nodes;
  tesela__assign_order *to = o->to;
  memcpy(o->near, o->begin, (size_t)(n * o->words) * sizeof *o->near);
  to->n_list = 0;
  to->entries = to->sums = 0;
  for (int32_t v = 0; v < n; v++) {
    to->rank[v] = -1;
    if (o->seed > 0) o->seed = o->seed * 6364136223846793005u + 1442695040888963407u;
    o->tie[v] = o->seed > 0 ? (uint32_t)(o->seed >> 33) : (uint32_t)v;
    order_measure(o, v);
  }
  for (int32_t k = 0; k < n; k++) {
    const int32_t v = order_pick(o);
    if (o->size[v] > ORDER_SIZE || o->size[v] > (most - to->sums) / o->g->node[v].n) {
      to->sums = most + 1;
      return true;
    }
    to->entries += o->size[v];
    to->sums += o->size[v] * o->g->node[v].n;
    to->size[v] = o->size[v];
    to->node[k] = v;
    to->rank[v] = k;
    const int32_t near = order_near(o, v);
    if (!order_keep_scope(to, v, near, o->list)) return false;
    order_join(o, v, near);
  }
  return true;
}

/* ---- the best of some orders ---------------------------------------------------------------------------------- */

/* Scopes in the order of removal, and the most table entries that are needed at one time. */
static void order_finish(const tesela__assign_graph *g, tesela__assign_order *order) {
  int64_t live = 0;
  for (int32_t v = 0; v < g->n_nodes; v++) {
    int32_t *scope = &order->scope[order->scope_at[v]];
    for (int32_t i = 1; i < order->n_scope[v]; i++) {
      const int32_t w = scope[i];
      int32_t at = i;
      for (; at > 0 && order->rank[scope[at - 1]] > order->rank[w]; at--) scope[at] = scope[at - 1];
      scope[at] = w;
    }
  }
  order->peak = 0;
  int64_t *ends = order->ends; /* entries whose use ends with a node */
  for (int32_t v = 0; v < g->n_nodes; v++) ends[v] = 0;
  for (int32_t k = 0; k < g->n_nodes; k++) {
    const int32_t v = order->node[k];
    live += order->size[v];
    order->peak = tesela__max(order->peak, live);
    live -= ends[v];
    if (order->n_scope[v] > 0)
      ends[order->scope[order->scope_at[v]]] += order->size[v];
    else
      live -= order->size[v];
  }
}

static void order_swap(tesela__assign_order *a, tesela__assign_order *b) {
  const tesela__assign_order keep = *a;
  *a = *b;
  *b = keep;
}

tesela_status tesela__assign_order_find(const tesela__assign_graph *g, int64_t most,
                                        tesela__assign_pool *pool, tesela__assign_order *order, bool *fits) {
  const int64_t n = g->n_nodes;
  tesela__assign_order other = {.allocator = g->pool.allocator};
  orderer o = {.g = g, .pool = {.allocator = g->pool.allocator}, .to = order};
  *fits = false;
  *order = (tesela__assign_order){.allocator = g->pool.allocator};
  if (n > ORDER_NODES) return TESELA_OK;
  bool memory = order_take(order, pool, g->n_nodes) && order_take(&other, pool, g->n_nodes) &&
                order_begin(&o) && order_try(&o, ORDER_HOPE * most);
  if (memory && order->sums > ORDER_EASY && most > ORDER_EASY && order->sums <= ORDER_HOPE * most) {
    o.to = &other;
    const int64_t trials = tesela__min(ORDER_TRIALS, ORDER_STEPS / (n * n + 1));
    for (int64_t k = 1; k < trials && memory; k++) {
      o.seed = (uint64_t)k;
      memory = order_try(&o, tesela__min(order->sums - 1, most));
      if (other.sums < order->sums) order_swap(order, &other);
    }
  }
  tesela__release(&o.pool.allocator, other.scope);
  tesela__assign_give_back(&o.pool);
  *fits = memory && order->sums <= most;
  if (*fits) order_finish(g, order);
  return memory ? TESELA_OK : TESELA_E_MEMORY;
}

void tesela__assign_order_drop(tesela__assign_order *order) {
  tesela__release(&order->allocator, order->scope);
  order->scope = NULL;
}
