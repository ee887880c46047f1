/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assign_reduce.c - remove nodes from a graph and preserve the minimum cost.
 *
 *   R0  a node without edges          its least cost is added to base
 *   R1  a node with one neighbour     the neighbour's states get the minimum over its states
 *   R2  a node with two neighbours    the same for each pair of their states, as an edge between them
 *
 * Edges are kept normal: the minimum over all states of one side is shifted to the other side's node. An edge that was a sum of
 * two node vectors is then 0 and is removed, and a state without an allowed partner is dead. When no other rule applies, a
 * state is dropped if another of the same node has a lower cost even with its worst extra cost on all edges.
 *
 * A removed node keeps the costs and edges that it had, so its state follows from those of its neighbours.
 * R2 of a node of n states between nodes of b and c takes n * b * c steps, and 16 * b * c bytes if they had no edge: at most
 * one such table for each node.
 */
#include "solve/assign/work.h"

/* After this many comparisons, dominated states are no longer searched for. */
static const int64_t REDUCE_DOMINANCE_MOST = (int64_t)1 << 30;

typedef struct reducer {
  tesela__assign_graph *g;
  int32_t *low, *two, *touched; /* nodes that have, or once had: at most one edge; two edges; dead states */
  int32_t n_low, n_two, n_touched;
  bool *is_touched;
  int64_t compared;
  bool no_memory;
} reducer;

/* ---- lists ---------------------------------------------------------------------------------------------------- */

/* Degrees never grow, so a node is listed at most once for each of 2, 1, 0, and once at the start. */
static void reduce_list(reducer *r, int32_t v) {
  const int32_t degree = r->g->node[v].degree;
  if (degree <= 1)
    r->low[r->n_low++] = v;
  else if (degree == 2)
    r->two[r->n_two++] = v;
}

static void reduce_cut(reducer *r, int32_t edge) {
  const int32_t a = r->g->edge[edge].node[0], b = r->g->edge[edge].node[1];
  tesela__assign_cut(r->g, edge);
  if (!r->g->node[a].gone) reduce_list(r, a);
  if (!r->g->node[b].gone) reduce_list(r, b);
}

/* A state of v died. */
static void reduce_touch(reducer *r, int32_t v) {
  const tesela__assign_vertex *node = &r->g->node[v];
  bool any = false;
  for (int32_t i = 0; i < node->n && !any; i++) any = !tesela__key_is_infinite(node->cost[i]);
  if (!any) r->g->impossible = true;
  if (r->is_touched[v]) return;
  r->is_touched[v] = true;
  r->touched[r->n_touched++] = v;
}

/* ---- normal edges --------------------------------------------------------------------------------------------- */

/* Shift the least cost of each state of the half's node from the edge to the node. true: the edge is now 0. */
static bool reduce_pull(reducer *r, int32_t half) {
  tesela__assign_link *e = &r->g->edge[half >> 1];
  const tesela__assign_vertex *a = &r->g->node[e->node[half & 1]], *b = &r->g->node[e->node[1 - (half & 1)]];
  const int64_t own = half & 1 ? 1 : b->n, other = half & 1 ? a->n : 1;
  bool empty = true, died = false;
  for (int32_t i = 0; i < a->n; i++) {
    if (tesela__key_is_infinite(a->cost[i])) continue;
    tesela__key *row = &e->cost[i * own], least = TESELA__KEY_INFINITE;
    for (int32_t j = 0; j < b->n; j++)
      if (!tesela__key_is_infinite(b->cost[j])) least = tesela__key_less(least, row[j * other]);
    if (least > 0) {
      a->cost[i] = tesela__key_add(a->cost[i], least);
      if (tesela__key_is_infinite(a->cost[i])) {
        died = true;
        continue;
      }
    }
    for (int32_t j = 0; j < b->n; j++) {
      if (tesela__key_is_infinite(b->cost[j])) continue;
      if (least > 0 && !tesela__key_is_infinite(row[j * other])) row[j * other] -= least;
      empty = empty && row[j * other] == 0;
    }
  }
  if (died) reduce_touch(r, e->node[half & 1]);
  return empty;
}

static void reduce_normalise(reducer *r, int32_t edge) {
  reduce_pull(r, 2 * edge);
  if (reduce_pull(r, 2 * edge + 1)) reduce_cut(r, edge);
}

static void reduce_settle(reducer *r) {
  while (r->n_touched > 0 && !r->g->impossible) {
    const int32_t v = r->touched[--r->n_touched];
    r->is_touched[v] = false;
    for (int32_t h = r->g->node[v].first, next; h >= 0; h = next) {
      next = tesela__assign_next(r->g, h);
      reduce_normalise(r, h >> 1);
    }
  }
}

/* ---- R0, R1, R2 ----------------------------------------------------------------------------------------------- */

static tesela__assign_step *reduce_take_out(reducer *r, int32_t v) {
  tesela__assign_graph *g = r->g;
  tesela__assign_step *step = &g->step[g->n_steps++];
  *step = (tesela__assign_step){.node = v};
  for (int32_t h = g->node[v].first; h >= 0; h = tesela__assign_next(g, h))
    step->tie[step->n_ties++] = tesela__assign_tie_of(g, h);
  g->node[v].gone = true;
  g->n_left--;
  return step;
}

static void reduce_r0(reducer *r, int32_t v) {
  const tesela__assign_vertex *node = &r->g->node[v];
  tesela__key least = TESELA__KEY_INFINITE;
  reduce_take_out(r, v);
  for (int32_t i = 0; i < node->n; i++) least = tesela__key_less(least, node->cost[i]);
  r->g->base = tesela__key_add(r->g->base, least);
  if (tesela__key_is_infinite(r->g->base)) r->g->impossible = true;
}

static void reduce_r1(reducer *r, int32_t v) {
  tesela__assign_graph *g = r->g;
  const int32_t edge = g->node[v].first >> 1;
  const tesela__assign_tie tie = reduce_take_out(r, v)->tie[0];
  const tesela__assign_vertex *a = &g->node[v], *b = &g->node[tie.node];
  bool died = false;
  for (int32_t j = 0; j < b->n; j++) {
    tesela__key least = TESELA__KEY_INFINITE;
    if (tesela__key_is_infinite(b->cost[j])) continue;
    for (int32_t i = 0; i < a->n; i++)
      least = tesela__key_less(least, a->cost[i] + tie.cost[i * tie.own + j * tie.other]);
    b->cost[j] = tesela__key_add(b->cost[j], least);
    died = died || tesela__key_is_infinite(b->cost[j]);
  }
  reduce_cut(r, edge);
  if (died) reduce_touch(r, tie.node);
}

static tesela__key reduce_least_of(const tesela__assign_vertex *a, const tesela__assign_tie *x, int32_t j,
                                   const tesela__assign_tie *y, int32_t k) {
  const tesela__key *p = &x->cost[j * x->other], *q = &y->cost[k * y->other];
  tesela__key least = TESELA__KEY_INFINITE;
  for (int32_t i = 0; i < a->n; i++, p += x->own, q += y->own)
    least = tesela__key_less(least, a->cost[i] + *p + *q);
  return least;
}

static void reduce_r2(reducer *r, int32_t v) {
  tesela__assign_graph *g = r->g;
  const int32_t first = g->node[v].first >> 1, second = tesela__assign_next(g, g->node[v].first) >> 1;
  const tesela__assign_tie x = tesela__assign_tie_of(g, g->node[v].first);
  const tesela__assign_tie y = tesela__assign_tie_of(g, tesela__assign_next(g, g->node[v].first));
  const tesela__assign_vertex *b = &g->node[x.node], *c = &g->node[y.node];
  const int32_t known = tesela__assign_find(g, x.node, y.node);
  tesela__key *cost =
      known >= 0 ? g->edge[known].cost : tesela__assign_take(&g->pool, (int64_t)b->n * c->n, sizeof *cost);
  if (!cost) {
    r->no_memory = true;
    return;
  }
  const bool same = known < 0 || g->edge[known].node[0] == x.node;
  const int64_t own = same ? c->n : 1, other = same ? 1 : b->n;
  reduce_take_out(r, v);
  for (int32_t j = 0; j < b->n; j++)
    for (int32_t k = 0; k < c->n; k++) {
      tesela__key *to = &cost[j * own + k * other];
      const bool dead = tesela__key_is_infinite(b->cost[j]) || tesela__key_is_infinite(c->cost[k]);
      const tesela__key least = dead ? TESELA__KEY_INFINITE : reduce_least_of(&g->node[v], &x, j, &y, k);
      *to = known >= 0 ? tesela__key_add(*to, least) : least;
    }
  tesela__assign_cut(g, first);
  tesela__assign_cut(g, second);
  if (known < 0) tesela__assign_join(g, first, x.node, y.node, cost);
  if (known >= 0) {
    reduce_list(r, x.node);
    reduce_list(r, y.node);
  }
  reduce_normalise(r, known >= 0 ? known : first);
}

/* ---- dominated states ----------------------------------------------------------------------------------------- */

/* Does state i of v cost at least as much as state k, for all states of the neighbours? */
static bool reduce_is_beaten(reducer *r, int32_t v, int32_t i, int32_t k) {
  const tesela__assign_graph *g = r->g;
  tesela__key spare = g->node[v].cost[i] - g->node[v].cost[k];
  for (int32_t h = g->node[v].first; h >= 0 && spare >= 0; h = tesela__assign_next(g, h)) {
    const tesela__assign_tie tie = tesela__assign_tie_of(g, h);
    const tesela__assign_vertex *b = &g->node[tie.node];
    tesela__key worst = -TESELA__KEY_INFINITE;
    for (int32_t j = 0; j < b->n && worst <= spare; j++) {
      if (tesela__key_is_infinite(b->cost[j])) continue;
      const tesela__key p = tie.cost[i * tie.own + j * tie.other], q = tie.cost[k * tie.own + j * tie.other];
      r->compared++;
      if (tesela__key_is_infinite(p)) continue;
      if (q - p > worst) worst = q - p;
    }
    if (worst == -TESELA__KEY_INFINITE) return true; /* i has no allowed partner */
    spare -= worst;
  }
  return spare >= 0;
}

static bool reduce_drop_beaten(reducer *r, int32_t v) {
  const tesela__assign_vertex *node = &r->g->node[v];
  bool any = false;
  for (int32_t i = 0; i < node->n; i++)
    for (int32_t k = 0; k < node->n && !tesela__key_is_infinite(node->cost[i]); k++) {
      if (k == i || tesela__key_is_infinite(node->cost[k]) || !reduce_is_beaten(r, v, i, k)) continue;
      node->cost[i] = TESELA__KEY_INFINITE;
      any = true;
    }
  if (any) reduce_touch(r, v);
  return any;
}

/* ---- all together --------------------------------------------------------------------------------------------- */

static bool reduce_begin(reducer *r, tesela__assign_pool *pool) {
  const int32_t n = r->g->n_nodes;
  r->low = tesela__assign_take(pool, 4 * (int64_t)n, sizeof *r->low);
  r->two = tesela__assign_take(pool, 4 * (int64_t)n, sizeof *r->two);
  r->touched = tesela__assign_take(pool, n, sizeof *r->touched);
  r->is_touched = tesela__assign_take(pool, n, sizeof *r->is_touched);
  if (!r->low || !r->two || !r->touched || !r->is_touched) return false;
  memset(r->is_touched, 0, (size_t)n * sizeof *r->is_touched);
  return true;
}

/* Remove a node with at most two edges; false if no such node is left. */
static bool reduce_one(reducer *r) {
  while (r->n_low > 0 || r->n_two > 0) {
    const bool low = r->n_low > 0;
    const int32_t v = low ? r->low[--r->n_low] : r->two[--r->n_two];
    const tesela__assign_vertex *node = &r->g->node[v];
    if (node->gone || node->degree > 2 || (low && node->degree > 1) || (!low && node->degree != 2)) continue;
    if (node->degree == 0)
      reduce_r0(r, v);
    else if (node->degree == 1)
      reduce_r1(r, v);
    else
      reduce_r2(r, v);
    return true;
  }
  return false;
}

static bool reduce_dominance(reducer *r) {
  bool any = false;
  for (int32_t v = 0; v < r->g->n_nodes && r->compared < REDUCE_DOMINANCE_MOST; v++)
    if (!r->g->node[v].gone && reduce_drop_beaten(r, v)) any = true;
  return any;
}

/* Make all edges normal, and remove the states that this excludes. */
static void reduce_edges(reducer *r) {
  for (int32_t v = 0; v < r->g->n_nodes; v++)
    for (int32_t h = r->g->node[v].first, next; h >= 0; h = next) {
      next = tesela__assign_next(r->g, h);
      if (!(h & 1)) reduce_normalise(r, h >> 1);
    }
  reduce_settle(r);
}

tesela_status tesela__assign_normalise(tesela__assign_graph *g) {
  tesela__assign_pool pool = {.allocator = g->pool.allocator};
  reducer r = {.g = g};
  const bool memory = reduce_begin(&r, &pool);
  if (memory) reduce_edges(&r);
  tesela__assign_give_back(&pool);
  return memory ? TESELA_OK : TESELA_E_MEMORY;
}

tesela_status tesela__assign_reduce(tesela__assign_graph *g, bool dominance) {
  tesela__assign_pool pool = {.allocator = g->pool.allocator};
  reducer r = {.g = g};
  if (!reduce_begin(&r, &pool)) r.no_memory = true;
  for (int32_t v = 0; v < g->n_nodes && !r.no_memory; v++)
    if (!g->node[v].gone) reduce_list(&r, v);
  if (!r.no_memory) reduce_edges(&r);
  while (!r.no_memory && !g->impossible) {
    reduce_settle(&r);
    if (g->impossible || reduce_one(&r)) continue;
    if (!dominance || !reduce_dominance(&r)) break;
  }
  tesela__assign_give_back(&pool);
  return r.no_memory ? TESELA_E_MEMORY : TESELA_OK;
}

void tesela__assign_restore(const tesela__assign_graph *g, int32_t *state) {
  for (int32_t k = g->n_steps - 1; k >= 0; k--) {
    const tesela__assign_step *step = &g->step[k];
    const tesela__assign_vertex *node = &g->node[step->node];
    tesela__key least = TESELA__KEY_INFINITE;
    state[step->node] = 0;
    for (int32_t i = 0; i < node->n; i++) {
      tesela__key sum = node->cost[i];
      for (int32_t t = 0; t < step->n_ties; t++) {
        const tesela__assign_tie *tie = &step->tie[t];
        sum = tesela__key_add(sum, tie->cost[i * tie->own + state[tie->node] * tie->other]);
      }
      if (sum < least) {
        least = sum;
        state[step->node] = i;
      }
    }
  }
}
