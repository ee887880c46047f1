/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local.c - improve an answer: exact solutions of parts of the graph, one after another.
 *
 * A ball is the nodes around one, found by breadth first search in random order. The nodes outside keep their states, and
 * eliminate.c finds the best states of the ball; if that takes too many sums, the ball gets smaller. On sparse graphs a ball of
 * LOCAL_BALL nodes fits nearly always.
 *
 *   descent   every node is stale at first. The ball of a stale node is solved: its inner nodes are not stale then, and if it
 *             got better, the neighbours of its changed nodes are. It ends when no node is stale.
 *   kick      some balls within a region are solved with random costs added to their states, as large as costs of edges or a
 *             few times that; then a descent. If the answer is worse than before, the states from before return.
 *
 * The answer never gets worse. Random numbers are from a fixed seed. Infinite costs, and those from 2^44 elements on, count as
 * 2^44 elements here, so any answer can be the start. Memory: edges with such costs once more, and 16 bytes for each state.
 */
#include "solve/assign/work.h"

enum {
  LOCAL_BALL = 30,
  LOCAL_REGION = 480, /* at most; at least a quarter of it */
  LOCAL_KICK = 16,    /* nodes of a region for each ball of a kick */
  LOCAL_LOUD = 3,     /* added costs are below 2^3 times that of an edge */
  LOCAL_LOUDEST = 106,
  LOCAL_SUMS = 1 << 15, /* of one elimination; more if single edges need them */
};
#define LOCAL_INFINITE ((tesela__key)1 << LOCAL_LOUDEST)

typedef struct local_search {
  tesela__assign_run *run;
  const tesela__assign_graph *g;
  tesela__assign_pool pool;
  tesela__key **cost;        /* of each edge, none above LOCAL_INFINITE */
  int32_t *state, *before;   /* of all nodes; before a kick */
  int32_t *ball, *place, n;  /* its nodes, the centre first; place of each node in it, or -1 */
  tesela__assign_graph part; /* the graph of the ball */
  tesela__key *sum;          /* its nodes' costs */
  int32_t *found, *region;
  int32_t *stale, *stale_at, n_stale; /* a list; place of each node in it, or -1 */
  int32_t loud;                       /* added costs are below 2^loud */
  uint64_t seed;
  int64_t work;
} local_search;

static uint64_t local_random(local_search *l) {
  uint64_t x = l->seed += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static int32_t local_draw(local_search *l, int32_t n) { return (int32_t)(local_random(l) % (uint64_t)n); }

static tesela__key local_cut(tesela__key a) { return a < LOCAL_INFINITE ? a : LOCAL_INFINITE; }

/* ---- memory --------------------------------------------------------------------------------------------------- */

/* The costs of an edge, cut; where none is, the graph's own. */
static tesela__key *local_edge(local_search *l, const tesela__assign_link *e) {
  const int64_t n = (int64_t)l->g->node[e->node[0]].n * l->g->node[e->node[1]].n;
  bool cut = false;
  for (int64_t i = 0; i < n && !cut; i++) cut = e->cost[i] > LOCAL_INFINITE;
  if (!cut) return e->cost;
  tesela__key *copy = tesela__assign_take(&l->pool, n, sizeof *copy);
  for (int64_t i = 0; copy && i < n; i++) copy[i] = local_cut(e->cost[i]);
  return copy;
}

static bool local_begin(local_search *l) {
  const tesela__assign_graph *g = l->g;
  const int32_t n = g->n_nodes;
  int64_t states = 0;
  for (int32_t v = 0; v < n; v++) states += g->node[v].n;
  l->cost = tesela__assign_take(&l->pool, g->n_edges, sizeof *l->cost);
  l->before = tesela__assign_take(&l->pool, n, sizeof *l->before);
  l->ball = tesela__assign_take(&l->pool, n, sizeof *l->ball);
  l->place = tesela__assign_take(&l->pool, n, sizeof *l->place);
  l->sum = tesela__assign_take(&l->pool, states, sizeof *l->sum);
  l->found = tesela__assign_take(&l->pool, LOCAL_BALL, sizeof *l->found);
  l->region = tesela__assign_take(&l->pool, LOCAL_REGION, sizeof *l->region);
  l->stale = tesela__assign_take(&l->pool, n, sizeof *l->stale);
  l->stale_at = tesela__assign_take(&l->pool, n, sizeof *l->stale_at);
  l->part.node = tesela__assign_take(&l->pool, LOCAL_BALL, sizeof *l->part.node);
  l->part.edge = tesela__assign_take(&l->pool, LOCAL_BALL * (LOCAL_BALL - 1) / 2, sizeof *l->part.edge);
  if (!l->cost || !l->before || !l->ball || !l->place || !l->sum || !l->found || !l->region || !l->stale ||
      !l->stale_at || !l->part.node || !l->part.edge)
    return false;
  for (int32_t v = 0; v < n; v++) {
    l->place[v] = -1;
    l->stale[v] = l->stale_at[v] = v;
  }
  l->n_stale = n;
  for (int32_t e = 0; e < g->n_edges; e++)
    if (!(l->cost[e] = local_edge(l, &g->edge[e]))) return false;
  return true;
}

/* ---- balls ---------------------------------------------------------------------------------------------------- */

static void local_shrink(local_search *l, int32_t n) {
  while (l->n > n) l->place[l->ball[--l->n]] = -1;
}

/* Up to `most` nodes around v. */
static void local_grow(local_search *l, int32_t v, int32_t most) {
  const tesela__assign_graph *g = l->g;
  local_shrink(l, 0);
  l->place[v] = 0;
  l->ball[l->n++] = v;
  for (int32_t done = 0; done < l->n && l->n < most; done++) {
    const int32_t at = done + local_draw(l, l->n - done), next = l->ball[at];
    l->ball[at] = l->ball[done];
    l->ball[done] = next;
    for (int32_t h = g->node[next].first; h >= 0 && l->n < most; h = tesela__assign_next(g, h)) {
      const int32_t w = tesela__assign_other(g, h);
      if (l->place[w] >= 0) continue;
      l->place[w] = 0;
      l->ball[l->n++] = w;
    }
  }
  for (int32_t k = 0; k < l->n; k++) l->place[l->ball[k]] = k;
}

/* The costs of a node of the ball with its neighbours outside, and its edges inside. Returns the cost of its state. */
static tesela__key local_load_node(local_search *l, int32_t k) {
  const tesela__assign_graph *g = l->g;
  const int32_t v = l->ball[k];
  tesela__key *sum = l->part.node[k].cost, inside = 0;
  for (int32_t h = g->node[v].first; h >= 0; h = tesela__assign_next(g, h)) {
    tesela__assign_tie tie = tesela__assign_tie_of(g, h);
    tie.cost = l->cost[h >> 1];
    if (l->place[tie.node] < 0) {
      for (int32_t i = 0; i < g->node[v].n; i++)
        sum[i] = tesela__key_add(sum[i], tie.cost[i * tie.own + l->state[tie.node] * tie.other]);
    } else if (!(h & 1)) {
      inside += tie.cost[l->state[v] * tie.own + l->state[tie.node] * tie.other];
      tesela__assign_join(&l->part, l->part.n_edges++, k, l->place[tie.node], l->cost[h >> 1]);
    }
  }
  return inside + sum[l->state[v]];
}

/* The graph of the ball. Returns its cost; *most: sums that its elimination may take. */
static tesela__key local_load(local_search *l, int64_t *most) {
  tesela__assign_graph *part = &l->part;
  tesela__key *sum = l->sum, cost = 0;
  int64_t pairs = 0;
  part->n_nodes = part->n_left = l->n;
  part->n_edges = 0;
  for (int32_t k = 0; k < l->n; k++) {
    const tesela__assign_vertex *from = &l->g->node[l->ball[k]];
    part->node[k] = (tesela__assign_vertex){.n = from->n, .first = -1, .cost = sum};
    for (int32_t i = 0; i < from->n; i++) *sum++ = local_cut(from->cost[i]);
  }
  for (int32_t k = 0; k < l->n; k++) cost += local_load_node(l, k);
  for (int32_t e = 0; e < part->n_edges; e++)
    pairs += (int64_t)part->node[part->edge[e].node[0]].n * part->node[part->edge[e].node[1]].n;
  *most = tesela__max(LOCAL_SUMS, 4 * pairs);
  return cost;
}

static void local_add_noise(local_search *l) {
  const int32_t bits = l->loud < 62 ? l->loud : 62; /* random ones; 0 after them */
  for (int32_t k = 0; k < l->n; k++)
    for (int32_t i = 0; i < l->part.node[k].n; i++)
      l->part.node[k].cost[i] += (tesela__key)(local_random(l) >> (64 - bits)) << (l->loud - bits);
}

/* ---- what is stale -------------------------------------------------------------------------------------------- */

static void local_spoil(local_search *l, int32_t v) {
  if (l->stale_at[v] >= 0) return;
  l->stale_at[v] = l->n_stale;
  l->stale[l->n_stale++] = v;
}

static void local_settle(local_search *l, int32_t v) {
  const int32_t at = l->stale_at[v], last = l->stale[l->n_stale - 1];
  if (at < 0) return;
  l->stale[at] = last;
  l->stale_at[last] = at;
  l->stale_at[v] = -1;
  l->n_stale--;
}

/* Use the states found for the ball; neighbours outside get stale if it matters. */
static void local_adopt(local_search *l, bool matters) {
  const tesela__assign_graph *g = l->g;
  for (int32_t k = 0; k < l->n; k++) {
    const int32_t v = l->ball[k];
    if (l->state[v] == l->found[k]) continue;
    l->state[v] = l->found[k];
    for (int32_t h = g->node[v].first; h >= 0 && matters; h = tesela__assign_next(g, h))
      if (l->place[tesela__assign_other(g, h)] < 0) local_spoil(l, tesela__assign_other(g, h));
  }
}

/* Solve the ball around v; with noise, all of it is stale afterwards. */
static tesela_status local_solve(local_search *l, int32_t v, bool noise) {
  tesela__key least = 0, cost = 0;
  bool done = false;
  local_grow(l, v, LOCAL_BALL);
  for (int32_t n = l->n; n > 0 && !done; n = n * 4 / 5) {
    int64_t most, sums = 0;
    local_shrink(l, n);
    cost = local_load(l, &most);
    if (noise) local_add_noise(l);
    const tesela_status status = tesela__assign_eliminate(&l->part, most, l->found, &least, &done, &sums);
    if (status != TESELA_OK) return status;
    l->work += sums / 4 + 8 * (int64_t)n * n;
  }
  if (done && (noise || least <= cost)) local_adopt(l, noise || least < cost);
  for (int32_t k = 0; k < l->n; k++) {
    if (noise) local_spoil(l, l->ball[k]);
    if (!noise && k <= l->n / 2) local_settle(l, l->ball[k]);
  }
  return TESELA_OK;
}

/* ---- the search ----------------------------------------------------------------------------------------------- */

static tesela_status local_descend(local_search *l, int64_t most) {
  tesela_status status = TESELA_OK;
  while (status == TESELA_OK && l->n_stale > 0 && l->work < most)
    status = local_solve(l, l->stale[local_draw(l, l->n_stale)], false);
  return status;
}

static tesela_status local_kick(local_search *l) {
  tesela_status status = TESELA_OK;
  local_grow(l, local_draw(l, l->g->n_nodes), LOCAL_REGION / 4 + local_draw(l, LOCAL_REGION * 3 / 4));
  const int32_t n = l->n;
  memcpy(l->region, l->ball, (size_t)n * sizeof *l->region);
  for (int32_t k = 0; k < n && status == TESELA_OK; k += LOCAL_KICK)
    status = local_solve(l, l->region[local_draw(l, n)], true);
  return status;
}

static tesela__key local_cost(const local_search *l) {
  const tesela__assign_graph *g = l->g;
  tesela__key sum = 0;
  for (int32_t v = 0; v < g->n_nodes; v++)
    sum = tesela__key_add(sum, local_cut(g->node[v].cost[l->state[v]]));
  for (int32_t e = 0; e < g->n_edges; e++) {
    const int32_t *end = g->edge[e].node;
    sum = tesela__key_add(sum, l->cost[e][(int64_t)l->state[end[0]] * g->node[end[1]].n + l->state[end[1]]]);
  }
  return sum;
}

/* A descent, then kicks until `kicks` in a row find nothing better. */
static tesela_status local_run(local_search *l, int32_t kicks, int64_t most) {
  const size_t bytes = (size_t)l->g->n_nodes * sizeof *l->state;
  tesela_status status = local_descend(l, most);
  tesela__key best = local_cost(l);
  for (int32_t k = 0; k < kicks && l->work < most && status == TESELA_OK; k++) {
    if (tesela__assign_asked(l->run)) return TESELA_E_STOPPED;
    memcpy(l->before, l->state, bytes);
    status = local_kick(l);
    if (status == TESELA_OK) status = local_descend(l, most);
    const tesela__key now = local_cost(l);
    if (now > best) memcpy(l->state, l->before, bytes);
    if (now < best) k = -1;
    best = tesela__key_less(best, now);
  }
  return status;
}

tesela_status tesela__assign_improve(tesela__assign_run *run, const tesela__assign_graph *g, int32_t kicks,
                                     int64_t most, int32_t *state, int64_t *work) {
  local_search l = {.run = run, .g = g, .pool = {.allocator = g->pool.allocator}, .state = state, .seed = 1};
  tesela_status status = TESELA_E_MEMORY;
  l.part.pool.allocator = g->pool.allocator;
  l.loud = (int32_t)tesela__min(tesela__assign_bits(g) + LOCAL_LOUD, LOCAL_LOUDEST);
  if (local_begin(&l)) status = local_run(&l, kicks, most);
  *work += l.work;
  tesela__assign_give_back(&l.pool);
  return status;
}
