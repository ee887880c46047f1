/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assign_graph.c - the graph that is reduced and solved: its memory, its edges, its construction from a problem or from
 * another graph.
 *
 * A graph takes 16 bytes for each state of a node and each pair of an edge, plus the tables of assign_reduce.c.
 */
#include "solve/assign/work.h"

/* ---- memory ------------------------------------------------------------------------------------------------- */

struct tesela__assign_block {
  struct tesela__assign_block *before;
  size_t used, size;
  max_align_t data[];
};

enum { POOL_FIRST = 4096, POOL_MOST = 1 << 20 };

void *tesela__assign_take(tesela__assign_pool *pool, int64_t count, size_t size) {
  if (count < 0 || (uint64_t)count > (SIZE_MAX / 4) / size) return NULL;
  const size_t need = ((size_t)count * size + sizeof(max_align_t) - 1) / sizeof(max_align_t);
  struct tesela__assign_block *block = pool->last;
  if (!block || block->size - block->used < need) {
    size_t more = (block ? block->size * 2 : POOL_FIRST / sizeof(max_align_t));
    if (more > POOL_MOST / sizeof(max_align_t)) more = POOL_MOST / sizeof(max_align_t);
    if (more < need) more = need;
    block = tesela__alloc(&pool->allocator, sizeof *block + more * sizeof(max_align_t), alignof(max_align_t));
    if (!block) return NULL;
    block->before = pool->last;
    block->used = 0;
    block->size = more;
    pool->last = block;
  }
  void *taken = block->data + block->used;
  block->used += need;
  return taken;
}

void tesela__assign_give_back(tesela__assign_pool *pool) {
  while (pool->last) {
    struct tesela__assign_block *before = pool->last->before;
    tesela__release(&pool->allocator, pool->last);
    pool->last = before;
  }
}

void tesela__assign_drop(tesela__assign_graph *g) { tesela__assign_give_back(&g->pool); }

/* ---- edges -------------------------------------------------------------------------------------------------- */

int32_t tesela__assign_find(const tesela__assign_graph *g, int32_t a, int32_t b) {
  const bool swap = g->node[b].degree < g->node[a].degree;
  const int32_t from = swap ? b : a, to = swap ? a : b;
  for (int32_t h = g->node[from].first; h >= 0; h = tesela__assign_next(g, h))
    if (tesela__assign_other(g, h) == to) return h >> 1;
  return -1;
}

void tesela__assign_join(tesela__assign_graph *g, int32_t edge, int32_t a, int32_t b, tesela__key *cost) {
  tesela__assign_link *e = &g->edge[edge];
  *e = (tesela__assign_link){{a, b}, {-1, -1}, {-1, -1}, cost};
  for (int32_t side = 0; side < 2; side++) {
    tesela__assign_vertex *v = &g->node[e->node[side]];
    const int32_t half = 2 * edge + side;
    e->next[side] = v->first;
    if (v->first >= 0) g->edge[v->first >> 1].prev[v->first & 1] = half;
    v->first = half;
    v->degree++;
  }
}

void tesela__assign_cut(tesela__assign_graph *g, int32_t edge) {
  const tesela__assign_link *e = &g->edge[edge];
  for (int32_t side = 0; side < 2; side++) {
    tesela__assign_vertex *v = &g->node[e->node[side]];
    const int32_t next = e->next[side], prev = e->prev[side];
    if (prev >= 0)
      g->edge[prev >> 1].next[prev & 1] = next;
    else
      v->first = next;
    if (next >= 0) g->edge[next >> 1].prev[next & 1] = prev;
    v->degree--;
  }
}

/* ---- making graphs ------------------------------------------------------------------------------------------ */

static bool graph_begin(tesela__assign_graph *g, const tesela_allocator *allocator, int32_t nodes,
                        int32_t edges) {
  *g = (tesela__assign_graph){.pool = {.allocator = *allocator}, .n_nodes = nodes, .n_left = nodes};
  g->node = tesela__assign_take(&g->pool, nodes, sizeof *g->node);
  g->edge = tesela__assign_take(&g->pool, edges, sizeof *g->edge);
  g->step = tesela__assign_take(&g->pool, nodes, sizeof *g->step);
  return g->node && g->edge && g->step;
}

static bool graph_make_node(tesela__assign_graph *g, int32_t v, int32_t n, int32_t origin) {
  g->node[v] = (tesela__assign_vertex){.n = n, .first = -1, .origin = origin};
  g->node[v].cost = tesela__assign_take(&g->pool, n, sizeof *g->node[v].cost);
  g->node[v].origin_state = tesela__assign_take(&g->pool, n, sizeof *g->node[v].origin_state);
  return g->node[v].cost && g->node[v].origin_state;
}

/* The nodes, with their allowed states. */
static bool graph_load_nodes(tesela__assign_graph *g, const tesela__assign *problem, const int32_t *fixed) {
  for (int32_t v = 0; v < problem->n_nodes; v++) {
    const tesela__assign_given *given = &problem->node[v];
    const int32_t only = fixed ? fixed[v] : -1;
    int32_t n = 0;
    for (int32_t i = 0; i < given->a; i++)
      n += (only < 0 || only == i) && !tesela__cost_is_infinite(given->cost[i]);
    if (!graph_make_node(g, v, n, v)) return false;
    if (n == 0) g->impossible = true;
    n = 0;
    for (int32_t i = 0; i < given->a; i++)
      if ((only < 0 || only == i) && !tesela__cost_is_infinite(given->cost[i])) {
        g->node[v].cost[n] = tesela__key_of(given->cost[i]);
        g->node[v].origin_state[n++] = i;
      }
  }
  return true;
}

tesela_status tesela__assign_load(tesela__assign_graph *g, const tesela__assign *problem,
                                  const int32_t *fixed) {
  if (!graph_begin(g, &problem->pool.allocator, problem->n_nodes, problem->n_edges) ||
      !graph_load_nodes(g, problem, fixed))
    goto no_memory;
  for (int32_t k = 0; k < problem->n_edges && !g->impossible; k++) {
    const tesela__assign_given *given = &problem->edge[k];
    const tesela__assign_vertex *a = &g->node[given->a], *b = &g->node[given->b];
    const int32_t wide = problem->node[given->b].a;
    const int32_t known = tesela__assign_find(g, given->a, given->b);
    if (known < 0) {
      tesela__key *cost = tesela__assign_take(&g->pool, (int64_t)a->n * b->n, sizeof *cost);
      if (!cost) goto no_memory;
      for (int32_t i = 0; i < a->n; i++)
        for (int32_t j = 0; j < b->n; j++)
          cost[(int64_t)i * b->n + j] =
              tesela__key_of(given->cost[(int64_t)a->origin_state[i] * wide + b->origin_state[j]]);
      tesela__assign_join(g, g->n_edges++, given->a, given->b, cost);
      continue;
    }
    tesela__key *cost = g->edge[known].cost;
    const bool same = g->edge[known].node[0] == given->a;
    const int64_t own = same ? b->n : 1, other = same ? 1 : a->n;
    for (int32_t i = 0; i < a->n; i++)
      for (int32_t j = 0; j < b->n; j++) {
        tesela__key *to = &cost[i * own + j * other];
        *to = tesela__key_add(
            *to, tesela__key_of(given->cost[(int64_t)a->origin_state[i] * wide + b->origin_state[j]]));
      }
  }
  return TESELA_OK;
no_memory:
  tesela__assign_drop(g);
  return TESELA_E_MEMORY;
}

static bool graph_copy_node(tesela__assign_graph *part, int32_t v, const tesela__assign_graph *g,
                            int32_t origin) {
  const tesela__assign_vertex *from = &g->node[origin];
  int32_t n = 0;
  for (int32_t i = 0; i < from->n; i++) n += !tesela__key_is_infinite(from->cost[i]);
  if (!graph_make_node(part, v, n, origin)) return false;
  n = 0;
  for (int32_t i = 0; i < from->n; i++)
    if (!tesela__key_is_infinite(from->cost[i])) {
      part->node[v].cost[n] = from->cost[i];
      part->node[v].origin_state[n++] = i;
    }
  return true;
}

tesela_status tesela__assign_extract(tesela__assign_graph *part, const tesela__assign_graph *g,
                                     const int32_t *nodes, int32_t count, int32_t *place) {
  int64_t halves = 0;
  for (int32_t k = 0; k < count; k++) {
    place[nodes[k]] = k;
    halves += g->node[nodes[k]].degree;
  }
  if (!graph_begin(part, &g->pool.allocator, count, (int32_t)(halves / 2))) goto no_memory;
  for (int32_t k = 0; k < count; k++)
    if (!graph_copy_node(part, k, g, nodes[k])) goto no_memory;
  for (int32_t k = 0; k < count; k++)
    for (int32_t h = g->node[nodes[k]].first; h >= 0; h = tesela__assign_next(g, h)) {
      if (h & 1) continue;
      const tesela__assign_link *e = &g->edge[h >> 1];
      const tesela__assign_vertex *a = &part->node[k], *b = &part->node[place[e->node[1]]];
      tesela__key *cost = tesela__assign_take(&part->pool, (int64_t)a->n * b->n, sizeof *cost);
      if (!cost) goto no_memory;
      for (int32_t i = 0; i < a->n; i++)
        for (int32_t j = 0; j < b->n; j++)
          cost[(int64_t)i * b->n + j] =
              e->cost[(int64_t)a->origin_state[i] * g->node[e->node[1]].n + b->origin_state[j]];
      tesela__assign_join(part, part->n_edges++, k, place[e->node[1]], cost);
    }
  return TESELA_OK;
no_memory:
  tesela__assign_drop(part);
  return TESELA_E_MEMORY;
}

/* ---- measures ----------------------------------------------------------------------------------------------- */

int64_t tesela__assign_weight(const tesela__assign_graph *g) {
  int64_t weight = 0;
  for (int32_t v = 0; v < g->n_nodes; v++) {
    if (g->node[v].gone) continue;
    for (int32_t i = 0; i < g->node[v].n; i++) weight += 2 * !tesela__assign_is_dead(g, v, i);
    weight += g->node[v].degree;
  }
  return weight;
}

static int32_t graph_bits(tesela__key a) {
  int32_t bits = 0;
  for (; a > 0; a >>= 1) bits++;
  return bits;
}

int32_t tesela__assign_bits(const tesela__assign_graph *g) {
  int64_t bits = 0;
  for (int32_t e = 0; e < g->n_edges; e++) {
    const int64_t n = (int64_t)g->node[g->edge[e].node[0]].n * g->node[g->edge[e].node[1]].n;
    tesela__key most = 0;
    for (int64_t i = 0; i < n; i++)
      if (!tesela__key_is_infinite(g->edge[e].cost[i]) && g->edge[e].cost[i] > most)
        most = g->edge[e].cost[i];
    bits += graph_bits(most);
  }
  return g->n_edges == 0 ? 0 : (int32_t)(bits / g->n_edges);
}

tesela__key tesela__assign_sum(const tesela__assign_graph *g, const int32_t *state) {
  tesela__key sum = g->base;
  for (int32_t v = 0; v < g->n_nodes; v++) {
    sum = tesela__key_add(sum, g->node[v].cost[state[v]]);
    for (int32_t h = g->node[v].first; h >= 0; h = tesela__assign_next(g, h)) {
      if (h & 1) continue;
      const tesela__assign_tie tie = tesela__assign_tie_of(g, h);
      sum = tesela__key_add(sum, tie.cost[state[v] * tie.own + state[tie.node] * tie.other]);
    }
  }
  return sum;
}
