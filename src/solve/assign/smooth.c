/* SPDX-License-Identifier: Apache-2.0 */
/*
 * smooth.c - a better bound where sweeps no longer raise it.
 *
 * Sweeps shift costs by minima, and stop at points that are not the best: no shift of one node alone raises the bound. The same
 * sweeps with soft minima, -T * log2(sum of 2^(-cost / T)), have one such point only, close to the best bound that shifts can
 * reach if T is small. T goes from about the cost of an edge down to a thousandth of it.
 *
 * The amounts are integers of 64 bits, and 2^-x and log2 are linear between powers of two: exact inverses of each other, and the
 * same on all machines. Costs above 2^20 times that of an edge count as that. None of this needs to be exact: any amounts give a
 * bound, which tesela__assign_rebase sums up; if it is lower than before, the amounts from before return. Graphs with finite costs
 * from 2^42 elements on, or nodes of more than SMOOTH_DEGREE edges, stay as they are: so no sum here reaches infinity.
 *
 * A sweep reads each pair of each edge twice. Memory: 32 bytes for each state, and for each state of each end of an edge.
 */
#include "solve/assign/work.h"

enum {
  SMOOTH_EDGE = 20,   /* the cost of an edge is about 2^20 units, or less if that is all its bits */
  SMOOTH_MOST = 40,   /* no cost is above 2^40 */
  SMOOTH_FIRST = 2,   /* T is 2^-2 of the cost of an edge at first ... */
  SMOOTH_LAST = 12,   /* ... and 2^-12 at last */
  SMOOTH_SWEEPS = 32, /* with each T, back and forth */
  SMOOTH_WORK = 4,    /* costs that a sweep could examine instead of one here */
  SMOOTH_DEGREE = 1 << 15,
  SMOOTH_ONE = 20, /* weights are fractions of 2^20 */
};
static const int64_t SMOOTH_FORBIDDEN = INT64_MAX / 4;
#define SMOOTH_COST ((tesela__key)1 << 104)

typedef struct smoother {
  tesela__assign_bound *b;
  tesela__assign_pool pool;
  int64_t *amount;     /* in the order of b->value */
  int64_t *own, *less; /* of the states of one node: its share; less an edge's amount */
  int32_t edge, unit;  /* 2^unit of a key is a unit; an edge costs about 2^edge units */
  int32_t t;           /* T is 2^t units */
} smoother;

static bool smooth_begin(smoother *s) {
  const tesela__assign_graph *g = s->b->g;
  int32_t most = 1;
  for (int32_t v = 0; v < g->n_nodes; v++) most = g->node[v].n > most ? g->node[v].n : most;
  s->amount = tesela__assign_take(&s->pool, s->b->n_values, sizeof *s->amount);
  s->own = tesela__assign_take(&s->pool, most, sizeof *s->own);
  s->less = tesela__assign_take(&s->pool, most, sizeof *s->less);
  const int32_t bits = tesela__assign_bits(g);
  s->edge = bits < SMOOTH_EDGE ? bits : SMOOTH_EDGE;
  s->unit = bits - s->edge;
  for (int64_t i = 0; s->amount && i < s->b->n_values; i++) s->amount[i] = 0;
  return s->amount && s->own && s->less;
}

static int64_t smooth_units(const smoother *s, tesela__key cost) {
  if (tesela__key_is_infinite(cost)) return SMOOTH_FORBIDDEN;
  return (int64_t)tesela__key_less(cost >> s->unit, (tesela__key)1 << SMOOTH_MOST);
}

/* 2^(-more / T), in fractions of 2^SMOOTH_ONE. */
static int64_t smooth_weight(const smoother *s, int64_t more) {
  const int64_t whole = more >> s->t, part = (more - (whole << s->t)) << SMOOTH_ONE >> s->t;
  return whole > SMOOTH_ONE ? 0 : (((int64_t)2 << SMOOTH_ONE) - part) >> (whole + 1);
}

/* T * log2 of such a sum, which is at least 1. */
static int64_t smooth_log(const smoother *s, int64_t sum) {
  const int32_t whole = 63 - __builtin_clzll((uint64_t)sum) - SMOOTH_ONE;
  const int64_t part = (sum >> whole) - ((int64_t)1 << SMOOTH_ONE);
  return ((int64_t)whole << s->t) + (part << s->t >> SMOOTH_ONE);
}

/* The soft minimum over the states of a node, for state j at the other end. */
static int64_t smooth_least(const smoother *s, int32_t n, const tesela__assign_tie *tie, int32_t j) {
  int64_t least = SMOOTH_FORBIDDEN, sum = 0;
  for (int32_t i = 0; i < n; i++)
    least = tesela__min(least, s->less[i] + smooth_units(s, tie->cost[i * tie->own + j * tie->other]));
  if (least == SMOOTH_FORBIDDEN) return least;
  for (int32_t i = 0; i < n; i++)
    sum += smooth_weight(s, s->less[i] + smooth_units(s, tie->cost[i * tie->own + j * tie->other]) - least);
  return least - smooth_log(s, sum);
}

/* Give a node's share to an edge: what reaches the other end. */
static void smooth_send(smoother *s, int32_t v, int32_t half) {
  const tesela__assign_graph *g = s->b->g;
  const tesela__assign_tie tie = tesela__assign_tie_of(g, half);
  const int64_t *back = &s->amount[s->b->half_at[half]];
  int64_t *to = &s->amount[s->b->half_at[half ^ 1]], least = SMOOTH_FORBIDDEN;
  for (int32_t i = 0; i < g->node[v].n; i++)
    s->less[i] = s->own[i] == SMOOTH_FORBIDDEN ? SMOOTH_FORBIDDEN : s->own[i] - back[i];
  for (int32_t j = 0; j < g->node[tie.node].n; j++) {
    to[j] = smooth_least(s, g->node[v].n, &tie, j);
    least = tesela__min(least, to[j]);
  }
  for (int32_t j = 0; j < g->node[tie.node].n; j++)
    to[j] = tesela__min(to[j] - least, (int64_t)1 << SMOOTH_MOST);
  s->b->work += SMOOTH_WORK * (int64_t)g->node[v].n * g->node[tie.node].n;
}

/* As in tesela__assign_sweep, one way. */
static void smooth_pass(smoother *s, bool ahead) {
  const tesela__assign_bound *b = s->b;
  const tesela__assign_graph *g = b->g;
  for (int32_t k = 0; k < g->n_nodes; k++) {
    const int32_t v = ahead ? k : g->n_nodes - 1 - k, parts = tesela__assign_parts(g, v, ahead);
    if (parts == 0) continue;
    for (int32_t i = 0; i < g->node[v].n; i++) {
      s->own[i] = tesela__assign_is_out(b, v, i) ? SMOOTH_FORBIDDEN : smooth_units(s, g->node[v].cost[i]);
      for (int32_t h = g->node[v].first; h >= 0; h = tesela__assign_next(g, h))
        s->own[i] = tesela__min(s->own[i] + s->amount[b->half_at[h] + i], SMOOTH_FORBIDDEN);
      if (s->own[i] < SMOOTH_FORBIDDEN) s->own[i] /= parts;
    }
    for (int32_t h = g->node[v].first; h >= 0; h = tesela__assign_next(g, h))
      if ((tesela__assign_other(g, h) > v) == ahead) smooth_send(s, v, h);
  }
}

static bool smooth_are_small(const tesela__key *cost, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    if (cost[i] >= SMOOTH_COST && !tesela__key_is_infinite(cost[i])) return false;
  return true;
}

/* Is each sum of the costs and amounts of a node finite, before edges are at least 0 again? */
static bool smooth_fits(const tesela__assign_graph *g) {
  for (int32_t v = 0; v < g->n_nodes; v++)
    if (g->node[v].degree > SMOOTH_DEGREE || !smooth_are_small(g->node[v].cost, g->node[v].n)) return false;
  for (int32_t e = 0; e < g->n_edges; e++) {
    const int32_t *end = g->edge[e].node;
    if (!smooth_are_small(g->edge[e].cost, (int64_t)g->node[end[0]].n * g->node[end[1]].n)) return false;
  }
  return true;
}

/* The passes that are to be made with each T. */
static int64_t smooth_passes(const tesela__assign_graph *g, int64_t most) {
  int64_t work = 1;
  for (int32_t e = 0; e < g->n_edges; e++)
    work += SMOOTH_WORK * (int64_t)g->node[g->edge[e].node[0]].n * g->node[g->edge[e].node[1]].n;
  return tesela__min(most / (SMOOTH_LAST - SMOOTH_FIRST + 1) / work, 2 * SMOOTH_SWEEPS);
}

tesela_status tesela__assign_smooth(tesela__assign_bound *b, int64_t most) {
  const int64_t passes = smooth_passes(b->g, most);
  if (passes == 0 || b->g->n_edges == 0 || !smooth_fits(b->g)) return TESELA_OK;
  smoother s = {.b = b, .pool = {.allocator = b->pool.allocator}};
  tesela__key *before = tesela__assign_take(&s.pool, b->n_values, sizeof *before);
  const bool memory = before && smooth_begin(&s);
  if (memory) {
    const tesela__key base = b->base;
    memcpy(before, b->value, (size_t)b->n_values * sizeof *before);
    for (s.t = s.edge - SMOOTH_FIRST; s.t >= tesela__max(s.edge - SMOOTH_LAST, 0); s.t--)
      for (int64_t k = 0; k < passes; k++) smooth_pass(&s, k % 2 == 0);
    for (int64_t i = b->half_at[0]; i < b->n_values; i++)
      b->value[i] = tesela__key_less(s.amount[i], SMOOTH_COST >> s.unit) << s.unit;
    tesela__assign_rebase(b);
    if (b->base < base) {
      memcpy(b->value, before, (size_t)b->n_values * sizeof *before);
      b->base = base;
    }
  }
  tesela__assign_give_back(&s.pool);
  return memory ? TESELA_OK : TESELA_E_MEMORY;
}
