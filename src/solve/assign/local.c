/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local.c - improve an answer.
 *
 * A round draws a forest (nodes in a random order from a fixed seed, without those that close a cycle), fixes all other nodes,
 * and finds the best states of the whole forest: leaves first, as R1 does. This includes changes of single nodes. The answer
 * never gets worse, and states as good as the old ones are accepted, so rounds can cross plateaus. Infinite costs, and those
 * from 2^44 elements on, count as 2^44 elements here, so any answer can be the start.
 */
#include "solve/assign/work.h"

/* 2^20 of them still fit. */
#define LOCAL_INFINITE ((tesela__key)1 << 106)

/* Most costs examined; then an improvement stops. */
static const int64_t LOCAL_WORK_MOST = (int64_t)1 << 26;

typedef struct local_search {
  const tesela__assign_graph *g;
  int32_t *order, *root, *parent, *queue; /* root: of a node's tree, or -1 outside the forest */
  int64_t *at;
  tesela__key *sum; /* of each state of each node, with its subtree */
  int32_t *state;
  uint64_t seed;
  int64_t work;
} local_search;

static uint64_t local_random(local_search *l) {
  uint64_t x = l->seed += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static tesela__key local_cut(tesela__key a) { return a < LOCAL_INFINITE ? a : LOCAL_INFINITE; }

static int32_t local_root(local_search *l, int32_t v) {
  while (l->root[v] != v) v = l->root[v] = l->root[l->root[v]];
  return v;
}

/* Choose the forest: v joins if its neighbours inside are of different trees. */
static void local_choose(local_search *l) {
  const tesela__assign_graph *g = l->g;
  for (int32_t v = g->n_nodes - 1; v > 0; v--) {
    const int32_t w = (int32_t)(local_random(l) % ((uint64_t)v + 1)), keep = l->order[v];
    l->order[v] = l->order[w];
    l->order[w] = keep;
  }
  for (int32_t v = 0; v < g->n_nodes; v++) l->root[v] = -1;
  for (int32_t k = 0; k < g->n_nodes; k++) {
    const int32_t v = l->order[k];
    int32_t joined = 0;
    bool cycle = false;
    for (int32_t h = g->node[v].first; h >= 0 && !cycle; h = tesela__assign_next(g, h)) {
      const int32_t w = tesela__assign_other(g, h);
      if (l->root[w] < 0) continue;
      const int32_t r = local_root(l, w);
      for (int32_t i = 0; i < joined && !cycle; i++) cycle = l->queue[i] == r;
      l->queue[joined++] = r;
      cycle = cycle || joined > 64;
    }
    if (cycle) continue;
    l->root[v] = v;
    for (int32_t i = 0; i < joined; i++) l->root[l->queue[i]] = v;
  }
}

/* The forest in an order where each node comes after its parent. */
static int32_t local_walk(local_search *l) {
  const tesela__assign_graph *g = l->g;
  int32_t n = 0;
  for (int32_t v = 0; v < g->n_nodes; v++) l->parent[v] = -2;
  for (int32_t k = 0; k < g->n_nodes; k++) {
    if (l->root[l->order[k]] < 0 || l->parent[l->order[k]] != -2) continue;
    int32_t done = n;
    l->parent[l->order[k]] = -1;
    for (l->queue[n++] = l->order[k]; done < n; done++)
      for (int32_t h = g->node[l->queue[done]].first; h >= 0; h = tesela__assign_next(g, h)) {
        const int32_t w = tesela__assign_other(g, h);
        if (l->root[w] < 0 || l->parent[w] != -2) continue;
        l->parent[w] = h;
        l->queue[n++] = w;
      }
  }
  return n;
}

/* The cost of each state with the fixed nodes around it. */
static void local_fill(local_search *l, int32_t v) {
  const tesela__assign_graph *g = l->g;
  tesela__key *sum = &l->sum[l->at[v]];
  for (int32_t i = 0; i < g->node[v].n; i++) sum[i] = local_cut(g->node[v].cost[i]);
  for (int32_t h = g->node[v].first; h >= 0; h = tesela__assign_next(g, h)) {
    const tesela__assign_tie tie = tesela__assign_tie_of(g, h);
    if (l->root[tie.node] >= 0) continue;
    for (int32_t i = 0; i < g->node[v].n; i++)
      sum[i] += local_cut(tie.cost[i * tie.own + l->state[tie.node] * tie.other]);
  }
  l->work += (int64_t)g->node[v].n * g->node[v].degree;
}

/* The best state of the node at the far end of `half` for state i of its node. */
static int32_t local_best(local_search *l, int32_t half, int32_t i, tesela__key *least) {
  const tesela__assign_tie tie = tesela__assign_tie_of(l->g, half);
  const tesela__key *sum = &l->sum[l->at[tie.node]];
  int32_t best = 0;
  for (int32_t j = 0; j < l->g->node[tie.node].n; j++) {
    const tesela__key cost = sum[j] + local_cut(tie.cost[i * tie.own + j * tie.other]);
    if (j > 0 && cost >= *least) continue;
    *least = cost;
    best = j;
  }
  l->work += l->g->node[tie.node].n;
  return best;
}

static void local_round(local_search *l) {
  const tesela__assign_graph *g = l->g;
  local_choose(l);
  const int32_t n = local_walk(l);
  for (int32_t k = 0; k < n; k++) local_fill(l, l->queue[k]);
  for (int32_t k = n - 1; k >= 0; k--) {
    const int32_t half = l->parent[l->queue[k]];
    if (half < 0) continue;
    const int32_t up = g->edge[half >> 1].node[half & 1];
    for (int32_t i = 0; i < g->node[up].n; i++) {
      tesela__key least = 0;
      local_best(l, half, i, &least);
      l->sum[l->at[up] + i] += least;
    }
  }
  for (int32_t k = 0; k < n; k++) {
    const int32_t v = l->queue[k], half = l->parent[v];
    const tesela__key *sum = &l->sum[l->at[v]];
    tesela__key least = 0;
    if (half >= 0) {
      l->state[v] = local_best(l, half, l->state[g->edge[half >> 1].node[half & 1]], &least);
      continue;
    }
    l->state[v] = 0;
    for (int32_t i = 1; i < g->node[v].n; i++)
      if (sum[i] < sum[l->state[v]]) l->state[v] = i;
  }
}

static tesela__key local_cost(local_search *l) {
  const tesela__assign_graph *g = l->g;
  tesela__key sum = 0;
  l->work += g->n_nodes + g->n_edges;
  for (int32_t v = 0; v < g->n_nodes; v++) {
    sum += local_cut(g->node[v].cost[l->state[v]]);
    for (int32_t h = g->node[v].first; h >= 0; h = tesela__assign_next(g, h)) {
      if (h & 1) continue;
      const tesela__assign_tie tie = tesela__assign_tie_of(g, h);
      sum += local_cut(tie.cost[l->state[v] * tie.own + l->state[tie.node] * tie.other]);
    }
  }
  return sum;
}

/* Rounds until `rounds` in a row find nothing better, or enough costs were examined. */
tesela_status tesela__assign_improve(const tesela__assign_graph *g, int32_t rounds, int32_t *state,
                                     int64_t *work) {
  tesela__assign_pool pool = {.allocator = g->pool.allocator};
  local_search l = {.g = g, .state = state, .seed = 1};
  const int32_t n = g->n_nodes;
  int64_t total = 0;
  for (int32_t v = 0; v < n; v++) total += g->node[v].n;
  l.order = tesela__assign_take(&pool, n, sizeof *l.order);
  l.root = tesela__assign_take(&pool, n, sizeof *l.root);
  l.parent = tesela__assign_take(&pool, n, sizeof *l.parent);
  l.queue = tesela__assign_take(&pool, (int64_t)n + 65, sizeof *l.queue);
  l.at = tesela__assign_take(&pool, n, sizeof *l.at);
  l.sum = tesela__assign_take(&pool, total, sizeof *l.sum);
  const bool fits = l.order && l.root && l.parent && l.queue && l.at && l.sum;
  for (int32_t v = 0; v < n && fits; v++) {
    l.order[v] = v;
    l.at[v] = v == 0 ? 0 : l.at[v - 1] + g->node[v - 1].n;
  }
  tesela__key best = fits ? local_cost(&l) : 0;
  for (int32_t k = 0; k < rounds && fits && l.work < LOCAL_WORK_MOST; k++) {
    local_round(&l);
    const tesela__key now = local_cost(&l);
    if (now < best) k = -1;
    best = now;
  }
  *work += l.work;
  tesela__assign_give_back(&pool);
  return fits ? TESELA_OK : TESELA_E_MEMORY;
}
