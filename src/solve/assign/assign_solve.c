/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assign_solve.c - the steps of solving a problem.
 *
 *   1. the problem becomes a graph, which is reduced (R0, R1, R2); the rest is the core
 *   2. each connected part of the core by itself, small ones first:
 *        eliminate it if that is cheap; else
 *        bound it by sweeps, round answers from the bound, improve them (assign_part.c);
 *        drop states that cannot be in a better answer, keep shifted costs, reduce again;
 *        the same for each part of the rest while parts get smaller;
 *        else eliminate if that is possible, else the more expensive means of assign_part.c
 *   3. the removed nodes get their states, the last one first
 *
 * Parts nest at most SOLVE_DEPTH deep, each at least a twentieth smaller. So memory is a small multiple of the problem's, plus
 * that of eliminate.c and assign_search.c.
 */
#include "solve/assign/work.h"

enum {
  SOLVE_DEPTH = 12,
  SOLVE_LEAF = 1 << 19, /* sums of elimination at the end of a branch of the search */
  SOLVE_EFFORT = 1000000,
  SOLVE_WORK_PER_NODE = 1000, /* costs examined for one unit of effort, on average */
};

/* ---- parts of a graph ----------------------------------------------------------------------------------------- */

static tesela_status solve_parts(tesela__assign_run *run, tesela__assign_graph *g, int32_t depth,
                                 int64_t weight, tesela__assign_answer *x);

/* Solve a connected graph; destroys g. x->state may have an answer already, of cost x->upper. */
static tesela_status solve_part(tesela__assign_run *run, tesela__assign_graph *g, int32_t depth,
                                tesela__assign_answer *x) {
  tesela__assign_bound b;
  bool done;
  if (tesela__assign_asked(run)) return TESELA_E_STOPPED;
  tesela_status status = tesela__assign_part_begin(run, g, TESELA__PART_CHEAP, x, &b, &done);
  if (status != TESELA_OK || done) return status;
  status = tesela__assign_part_sweep(run, &b, x);
  const bool closed = status == TESELA_OK && tesela__assign_is_closed(run, x);
  if (status == TESELA_OK && !closed) tesela__assign_commit(&b, g);
  tesela__assign_bound_end(&b);
  if (status != TESELA_OK || closed) return status;
  const int64_t weight = tesela__assign_weight(g);
  status = tesela__assign_reduce(g, true);
  return status == TESELA_OK ? solve_parts(run, g, depth + 1, weight, x) : status;
}

/* The connected parts of g without its removed nodes: their nodes in one list, and the start of each part. */
typedef struct solve_split {
  int32_t *node, *first, n;
  int32_t *order; /* the parts, the smallest first */
  int32_t *place, *state, *whole;
} solve_split;

static bool parts_find(solve_split *p, tesela__assign_pool *pool, const tesela__assign_graph *g) {
  const int32_t n = g->n_nodes;
  p->node = tesela__assign_take(pool, n, sizeof *p->node);
  p->first = tesela__assign_take(pool, (int64_t)n + 1, sizeof *p->first);
  p->order = tesela__assign_take(pool, n, sizeof *p->order);
  p->place = tesela__assign_take(pool, n, sizeof *p->place);
  p->state = tesela__assign_take(pool, n, sizeof *p->state);
  p->whole = tesela__assign_take(pool, n, sizeof *p->whole);
  if (!p->node || !p->first || !p->order || !p->place || !p->state || !p->whole) return false;
  int32_t used = 0, done = 0;
  for (int32_t v = 0; v < n; v++) p->place[v] = -1;
  for (int32_t v = 0; v < n; v++) {
    if (g->node[v].gone || p->place[v] >= 0) continue;
    p->first[p->n++] = used;
    p->place[v] = 0;
    for (p->node[used++] = v; done < used; done++)
      for (int32_t h = g->node[p->node[done]].first; h >= 0; h = tesela__assign_next(g, h)) {
        const int32_t w = tesela__assign_other(g, h);
        if (p->place[w] >= 0) continue;
        p->place[w] = 0;
        p->node[used++] = w;
      }
  }
  p->first[p->n] = used;
  return true;
}

static void parts_order(solve_split *p) {
  for (int32_t k = 0; k < p->n; k++) {
    const int32_t size = p->first[k + 1] - p->first[k];
    int32_t at = k;
    for (; at > 0 && p->first[p->order[at - 1] + 1] - p->first[p->order[at - 1]] > size; at--)
      p->order[at] = p->order[at - 1];
    p->order[at] = k;
  }
}

/* Nodes in the order of the graph: sweeps follow it. */
static void parts_sort(int32_t *node, int32_t n) {
  for (int32_t i = n / 2 - 1 + n; i > 0; i--) { /* heap sort */
    int32_t at = i >= n ? i - n : 0;
    const int32_t end = i >= n ? n : i;
    if (i < n) {
      const int32_t top = node[0];
      node[0] = node[i];
      node[i] = top;
    }
    for (int32_t child; (child = 2 * at + 1) < end; at = child) {
      if (child + 1 < end && node[child + 1] > node[child]) child++;
      if (node[at] >= node[child]) break;
      const int32_t keep = node[at];
      node[at] = node[child];
      node[child] = keep;
    }
  }
}

/* The answer of g for a part, unless one of its states is dead now. */
static bool solve_hand_down(const tesela__assign_graph *part, const int32_t *whole, int32_t *state) {
  for (int32_t v = 0; v < part->n_nodes; v++) {
    state[v] = -1;
    for (int32_t i = 0; i < part->node[v].n; i++)
      if (part->node[v].origin_state[i] == whole[part->node[v].origin]) state[v] = i;
    if (state[v] < 0) return false;
  }
  return true;
}

/* Solve one part, with nodes and scratch memory from p. Adds to *sum; its states go to p->whole. */
static tesela_status solve_one(tesela__assign_run *run, const tesela__assign_graph *g, solve_split *p,
                               int32_t k, int32_t depth, int64_t weight, const tesela__assign_answer *x,
                               tesela__assign_answer *sum) {
  tesela__assign_graph part;
  const int32_t n = p->first[k + 1] - p->first[k];
  int32_t *node = &p->node[p->first[k]], *state = &p->state[p->first[k]];
  parts_sort(node, n);
  tesela_status status = tesela__assign_extract(&part, g, node, n, p->place);
  if (status != TESELA_OK) return status;
  tesela__assign_answer own = {state, TESELA__KEY_INFINITE, 0};
  if (!tesela__key_is_infinite(x->upper) && solve_hand_down(&part, x->state, state))
    own.upper = tesela__assign_sum(&part, state);
  const bool smaller = tesela__assign_weight(&part) < weight - weight / 20;
  status = smaller && depth < SOLVE_DEPTH ? solve_part(run, &part, depth, &own)
                                          : tesela__assign_part_finish(run, &part, &own);
  if (status == TESELA_OK) {
    sum->lower = tesela__key_add(sum->lower, own.lower);
    sum->upper = tesela__key_add(sum->upper, own.upper);
    if (!tesela__key_is_infinite(own.upper))
      for (int32_t v = 0; v < n; v++) p->whole[node[v]] = part.node[v].origin_state[state[v]];
  }
  tesela__assign_drop(&part);
  return status;
}

/* Solve all parts of the reduced g, and restore its nodes. weight: that of the whole; parts must be smaller. */
static tesela_status solve_parts(tesela__assign_run *run, tesela__assign_graph *g, int32_t depth,
                                 int64_t weight, tesela__assign_answer *x) {
  tesela__assign_pool pool = {.allocator = g->pool.allocator};
  tesela__assign_answer sum = {NULL, g->base, g->base};
  solve_split p = {0};
  tesela_status status = TESELA_OK;
  if (g->impossible) { /* no assignment is below x->upper */
    x->lower = x->upper;
    return TESELA_OK;
  }
  if (parts_find(&p, &pool, g))
    parts_order(&p);
  else
    status = TESELA_E_MEMORY;
  for (int32_t k = 0; k < p.n && status == TESELA_OK; k++)
    status = solve_one(run, g, &p, p.order[k], depth, weight, x, &sum);
  if (status == TESELA_OK) {
    if (sum.upper < x->upper) {
      tesela__assign_restore(g, p.whole);
      memcpy(x->state, p.whole, (size_t)g->n_nodes * sizeof *p.whole);
      x->upper = sum.upper;
    }
    if (sum.lower > x->lower) x->lower = sum.lower;
    if (x->lower > x->upper) x->lower = x->upper;
  }
  tesela__assign_give_back(&pool);
  return status;
}

/* ---- the problem ---------------------------------------------------------------------------------------------- */

typedef struct solve_summary {
  int64_t elements, moves; /* greatest common divisors of all finite costs; 0 if all are 0 */
  int64_t most_moves;      /* the sum of the maxima */
} solve_summary;

static void solve_look(solve_summary *s, int64_t n, const tesela__cost *cost) {
  int64_t most = 0;
  for (int64_t i = 0; i < n; i++) {
    if (tesela__cost_is_infinite(cost[i])) continue;
    if (s->elements != 1) s->elements = tesela__gcd(cost[i].elements, s->elements);
    if (s->moves != 1) s->moves = tesela__gcd(cost[i].moves, s->moves);
    most = tesela__max(most, cost[i].moves);
  }
  s->most_moves += most; /* below 2^62: see work.h */
}

/* The least difference between two different costs of assignments; the most moves. */
static void solve_measure(const tesela__assign *problem, tesela__assign_run *run) {
  solve_summary s = {0, 0, 0};
  for (int32_t v = 0; v < problem->n_nodes; v++) solve_look(&s, problem->node[v].a, problem->node[v].cost);
  for (int32_t e = 0; e < problem->n_edges; e++) {
    const tesela__assign_given *edge = &problem->edge[e];
    solve_look(&s, (int64_t)problem->node[edge->a].a * problem->node[edge->b].a, edge->cost);
  }
  run->step = s.moves > 0 ? s.moves : tesela__max(s.elements, 1) * TESELA__KEY_UNIT;
  run->moves = s.most_moves;
}

/* The cost in the problem as given. */
static tesela__cost solve_cost(const tesela__assign *problem, const int32_t *state) {
  tesela__cost sum = {0, 0};
  for (int32_t v = 0; v < problem->n_nodes; v++) sum = tesela__cost_add(sum, problem->node[v].cost[state[v]]);
  for (int32_t e = 0; e < problem->n_edges; e++) {
    const tesela__assign_given *edge = &problem->edge[e];
    sum = tesela__cost_add(sum,
                           edge->cost[(int64_t)state[edge->a] * problem->node[edge->b].a + state[edge->b]]);
  }
  return sum;
}

/* The least pair that is not below a bound: impossible numbers of moves round up to the next element. */
static tesela__cost solve_lower(const tesela__assign_run *run, tesela__key lower) {
  tesela__cost bound = {(int64_t)(lower / TESELA__KEY_UNIT), (int64_t)(lower % TESELA__KEY_UNIT)};
  if (bound.moves > run->moves) bound = (tesela__cost){bound.elements + 1, 0};
  return bound;
}

static void solve_report(const tesela__assign_run *run, const tesela__assign *problem,
                         const tesela__assign_graph *g, const tesela__assign_answer *x, int32_t *state,
                         tesela__assigned *result) {
  tesela__assigned done = {.core = g->n_left, .effort = run->effort, .cost = TESELA__COST_INFINITE};
  done.feasible = !tesela__key_is_infinite(x->upper);
  done.proven = tesela__assign_is_closed(run, x);
  if (done.feasible) {
    for (int32_t v = 0; v < g->n_nodes; v++) state[v] = g->node[v].origin_state[x->state[v]];
    done.cost = solve_cost(problem, state);
  }
  done.bound = done.proven ? done.cost : solve_lower(run, x->lower);
  *result = done;
}

int64_t tesela__assign_most_work(int64_t effort) {
  if (effort <= 0) effort = SOLVE_EFFORT;
  return effort > INT64_MAX / SOLVE_WORK_PER_NODE ? INT64_MAX : effort * SOLVE_WORK_PER_NODE;
}

tesela_status tesela__assign_solve(const tesela__assign *problem, const int32_t *fixed, int64_t effort,
                                   int32_t *state, tesela__assigned *result) {
  tesela__assign_graph g;
  tesela__assign_run run = {.most = effort > 0 ? effort : SOLVE_EFFORT,
                            .leaf = SOLVE_LEAF,
                            .progress = problem->progress,
                            .progress_user = problem->progress_user};
  solve_measure(problem, &run);
  run.most_work = tesela__assign_most_work(effort);
  if (tesela__assign_asked(&run)) return TESELA_E_STOPPED;
  tesela_status status = tesela__assign_load(&g, problem, fixed);
  if (status != TESELA_OK) return status;
  tesela__assign_answer x = {tesela__assign_take(&g.pool, g.n_nodes, sizeof *x.state), TESELA__KEY_INFINITE,
                             0};
  if (!x.state) status = TESELA_E_MEMORY;
  if (status == TESELA_OK && !g.impossible) status = tesela__assign_reduce(&g, true);
  if (status == TESELA_OK) status = solve_parts(&run, &g, 0, INT64_MAX, &x);
  if (status == TESELA_OK && run.stopped) status = TESELA_E_STOPPED;
  if (status == TESELA_OK) solve_report(&run, problem, &g, &x, state, result);
  tesela__assign_drop(&g);
  return status;
}
