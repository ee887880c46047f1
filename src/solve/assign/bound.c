/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bound.c - a lower bound: costs are shifted between edges and nodes so that much of them gathers in base.
 *
 * The graph is not changed. Each side of each edge has, for each state, the amount shifted from the edge to the node
 * (or, below 0, from the node to the edge). Edges and nodes never become negative: so no assignment costs less than
 * base, for any order and shares of the shifts. Shares are rounded down; the rest is not shifted.
 *
 * A sweep visits the nodes in order: each collects all that its edges can give, adds its least cost to base, and
 * distributes the rest evenly to the edges to later nodes (sequential tree-reweighted message passing). A sweep reads
 * each pair of each edge about six times. Memory: 24 bytes for each state, and for each state of each end of an edge.
 */
#include "solve/assign/work.h"

static bool bound_place(tesela__assign_bound *b) {
  const tesela__assign_graph *g = b->g;
  b->node_at = tesela__assign_take(&b->pool, g->n_nodes, sizeof *b->node_at);
  b->half_at = tesela__assign_take(&b->pool, 2 * (int64_t)g->n_edges, sizeof *b->half_at);
  if (!b->node_at || !b->half_at) return false;
  for (int32_t v = 0; v < g->n_nodes; v++) {
    b->node_at[v] = b->n_values;
    b->n_values += g->node[v].n;
  }
  for (int32_t h = 0; h < 2 * g->n_edges; h++) {
    b->half_at[h] = b->n_values;
    b->n_values += g->node[g->edge[h >> 1].node[h & 1]].n;
  }
  b->value = tesela__assign_take(&b->pool, b->n_values, sizeof *b->value);
  b->stamp = tesela__assign_take(&b->pool, b->n_values, sizeof *b->stamp);
  return b->value && b->stamp;
}

tesela_status tesela__assign_bound_begin(tesela__assign_bound *b, const tesela__assign_graph *g) {
  *b = (tesela__assign_bound){.g = g, .pool = {.allocator = g->pool.allocator}, .base = g->base};
  b->limit = TESELA__KEY_INFINITE;
  if (!bound_place(b)) {
    tesela__assign_bound_end(b);
    return TESELA_E_MEMORY;
  }
  for (int64_t i = 0; i < b->n_values; i++) b->value[i] = 0;
  memset(b->stamp, 0, (size_t)b->n_values * sizeof *b->stamp);
  for (int32_t v = 0; v < g->n_nodes; v++)
    memcpy(&b->value[b->node_at[v]], g->node[v].cost, (size_t)g->node[v].n * sizeof *b->value);
  return TESELA_OK;
}

void tesela__assign_bound_end(tesela__assign_bound *b) {
  tesela__release(&b->pool.allocator, b->undo);
  tesela__assign_give_back(&b->pool);
  b->undo = NULL;
}

void tesela__assign_set(tesela__assign_bound *b, int64_t at, tesela__key value) {
  if (b->now > 0 && b->stamp[at] != b->now) {
    void *items = b->undo;
    if (!tesela__grow(&b->pool.allocator, &items, sizeof *b->undo, &b->undo_capacity, b->n_undo + 1)) {
      b->no_memory = true;
      return;
    }
    b->undo = items;
    b->undo[b->n_undo++] = (tesela__assign_undo){at, b->value[at]};
    b->stamp[at] = b->now;
  }
  b->value[at] = value;
}

/* ---- one node ------------------------------------------------------------------------------------------------- */

static void bound_pull(tesela__assign_bound *b, int32_t v, int32_t half) {
  const tesela__assign_graph *g = b->g;
  const tesela__assign_tie tie = tesela__assign_tie_of(g, half);
  const int32_t n = g->node[v].n, m = g->node[tie.node].n;
  const tesela__key *partner = &b->value[b->node_at[tie.node]], *back = &b->value[b->half_at[half ^ 1]];
  const int64_t own_at = b->node_at[v], half_at = b->half_at[half];
  for (int32_t i = 0; i < n; i++) {
    if (tesela__key_is_infinite(b->value[own_at + i])) continue;
    const tesela__key *row = &tie.cost[i * tie.own];
    tesela__key least = TESELA__KEY_INFINITE + TESELA__SHIFT_MOST;
    for (int32_t j = 0; j < m; j++, row += tie.other)
      if (!tesela__key_is_infinite(partner[j]) && !tesela__key_is_infinite(*row) && *row - back[j] < least)
        least = *row - back[j];
    if (least == TESELA__KEY_INFINITE + TESELA__SHIFT_MOST) { /* no partner */
      tesela__assign_set(b, own_at + i, TESELA__KEY_INFINITE);
      continue;
    }
    const tesela__key more = least - b->value[half_at + i];
    if (more == 0) continue;
    tesela__assign_set(b, half_at + i, least);
    tesela__assign_set(b, own_at + i, tesela__key_add(b->value[own_at + i], more));
  }
  b->work += (int64_t)n * m;
}

void tesela__assign_collect(tesela__assign_bound *b, int32_t node) {
  for (int32_t h = b->g->node[node].first; h >= 0; h = tesela__assign_next(b->g, h)) bound_pull(b, node, h);
}

int32_t tesela__assign_settle(tesela__assign_bound *b, int32_t node, bool *dropped) {
  const int64_t at = b->node_at[node];
  const int32_t n = b->g->node[node].n;
  tesela__key least = TESELA__KEY_INFINITE;
  int32_t left = 0;
  for (int32_t i = 0; i < n; i++) least = tesela__key_less(least, b->value[at + i]);
  b->base = tesela__key_add(b->base, least);
  for (int32_t i = 0; i < n; i++) {
    if (tesela__key_is_infinite(b->value[at + i])) continue;
    const tesela__key rest = b->value[at + i] - least;
    if (b->base + rest >= b->limit) {
      tesela__assign_set(b, at + i, TESELA__KEY_INFINITE);
      *dropped = true;
      continue;
    }
    left++;
    if (least != 0) tesela__assign_set(b, at + i, rest);
  }
  return left;
}

int32_t tesela__assign_parts(const tesela__assign_graph *g, int32_t v, bool ahead) {
  int32_t later = 0;
  const int32_t degree = g->node[v].degree;
  for (int32_t h = g->node[v].first; h >= 0; h = tesela__assign_next(g, h))
    later += (tesela__assign_other(g, h) > v) == ahead;
  return later == 0 ? 0 : later > degree - later ? later : degree - later;
}

/* Give equal shares of a node's costs to its edges to later (or earlier) nodes. */
static void bound_hand_out(tesela__assign_bound *b, int32_t v, bool ahead) {
  const tesela__assign_graph *g = b->g;
  const int32_t parts = tesela__assign_parts(g, v, ahead);
  if (parts == 0) return;
  for (int32_t i = 0; i < g->node[v].n; i++) {
    const int64_t at = b->node_at[v] + i;
    if (b->value[at] == 0 || tesela__key_is_infinite(b->value[at])) continue;
    const tesela__key share = b->value[at] / parts;
    tesela__key rest = b->value[at];
    for (int32_t h = g->node[v].first; h >= 0; h = tesela__assign_next(g, h)) {
      if ((tesela__assign_other(g, h) > v) != ahead) continue;
      const int64_t to = b->half_at[h] + i;
      if (b->value[to] - share < -TESELA__SHIFT_MOST) continue;
      tesela__assign_set(b, to, b->value[to] - share);
      rest -= share;
    }
    tesela__assign_set(b, at, rest);
  }
}

/* Note the costs that v has collected as lower bounds: with each of its states the rest costs 0 or more. */
static void bound_note(tesela__assign_bound *b, int32_t v) {
  for (int64_t at = b->node_at[v]; at < b->node_at[v] + b->g->node[v].n; at++) {
    const tesela__key known = tesela__key_add(b->base, b->value[at]);
    if (known > b->least[at]) b->least[at] = known;
  }
}

bool tesela__assign_sweep(tesela__assign_bound *b) {
  const int32_t n = b->g->n_nodes;
  bool dropped = false;
  for (int32_t k = 0; k < 2 * n; k++) {
    const int32_t v = k < n ? k : 2 * n - 1 - k;
    tesela__assign_collect(b, v);
    if (b->least) bound_note(b, v);
    if (tesela__assign_settle(b, v, &dropped) == 0) return false;
    bound_hand_out(b, v, k < n);
  }
  return true;
}

/* Costs may be below 0 until all edges and nodes were visited, so no state is dropped. */
void tesela__assign_rebase(tesela__assign_bound *b) {
  const tesela__assign_graph *g = b->g;
  const tesela__key limit = b->limit;
  bool dropped = false;
  b->base = g->base;
  b->limit = 4 * TESELA__SHIFT_MOST;
  for (int32_t v = 0; v < g->n_nodes; v++)
    for (int32_t i = 0; i < g->node[v].n; i++) {
      if (tesela__assign_is_out(b, v, i)) continue;
      tesela__key sum = g->node[v].cost[i];
      for (int32_t h = g->node[v].first; h >= 0; h = tesela__assign_next(g, h))
        sum += b->value[b->half_at[h] + i];
      b->value[b->node_at[v] + i] = sum;
    }
  for (int32_t e = 0; e < g->n_edges; e++) bound_pull(b, g->edge[e].node[0], 2 * e);
  for (int32_t v = 0; v < g->n_nodes; v++) tesela__assign_settle(b, v, &dropped);
  b->limit = limit;
}

/* ---- what follows from a bound -------------------------------------------------------------------------------- */

/* Node by node, the best state given the earlier nodes and the messages of later ones. */
void tesela__assign_round(const tesela__assign_bound *b, int32_t *state) {
  const tesela__assign_graph *g = b->g;
  for (int32_t v = 0; v < g->n_nodes; v++) {
    tesela__key best = -1;
    for (int32_t i = 0; i < g->node[v].n; i++) {
      tesela__key sum = b->value[b->node_at[v] + i];
      for (int32_t h = g->node[v].first; h >= 0 && !tesela__key_is_infinite(sum);
           h = tesela__assign_next(g, h)) {
        const tesela__assign_tie tie = tesela__assign_tie_of(g, h);
        tesela__key least = TESELA__KEY_INFINITE;
        if (tie.node < v) {
          least = tesela__assign_rest(b, h, &tie, i, state[tie.node]);
        } else {
          for (int32_t j = 0; j < g->node[tie.node].n; j++)
            if (!tesela__assign_is_out(b, tie.node, j))
              least = tesela__key_less(least, tesela__assign_rest(b, h, &tie, i, j));
        }
        sum = tesela__key_add(sum, least);
      }
      if (best < 0 || sum < best) {
        best = sum;
        state[v] = i;
      }
    }
  }
}

void tesela__assign_commit(const tesela__assign_bound *b, tesela__assign_graph *g) {
  for (int32_t e = 0; e < g->n_edges; e++) {
    const tesela__assign_tie tie = tesela__assign_tie_of(g, 2 * e);
    const int32_t n = g->node[g->edge[e].node[0]].n, m = g->node[tie.node].n;
    for (int32_t i = 0; i < n; i++)
      for (int32_t j = 0; j < m; j++) {
        const bool out =
            tesela__assign_is_out(b, g->edge[e].node[0], i) || tesela__assign_is_out(b, tie.node, j);
        const tesela__key rest = out ? 0 : tesela__assign_rest(b, 2 * e, &tie, i, j);
        g->edge[e].cost[(int64_t)i * m + j] = tesela__key_less(rest, TESELA__KEY_INFINITE);
      }
  }
  for (int32_t v = 0; v < g->n_nodes; v++)
    memcpy(g->node[v].cost, &b->value[b->node_at[v]], (size_t)g->node[v].n * sizeof *b->value);
  g->base = b->base;
}
