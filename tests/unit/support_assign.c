/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_assign.c - random assignment problems, evaluated and solved by the definition.
 */
#include "support_assign.h"

__extension__ typedef __int128 assign_wide;

int32_t assign_draw(uint64_t *seed, int32_t n) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (int32_t)((*seed >> 33) % (uint64_t)n);
}

static tesela__cost draw_cost(const assign_kind *kind, uint64_t *seed) {
  static const int64_t extremes[] = {0,
                                     1,
                                     (int64_t)1 << 58,
                                     ((int64_t)1 << 58) + 1,
                                     ((int64_t)1 << 59) - 1,
                                     (int64_t)1 << 59,
                                     ((int64_t)1 << 60) - 1,
                                     (int64_t)1 << 60,
                                     INT64_MAX - 1,
                                     INT64_MAX};
  if (assign_draw(seed, 100) < kind->infinite) return TESELA__COST_INFINITE;
  tesela__cost cost = {0, assign_draw(seed, kind->moves)};
  cost.elements =
      kind->extreme ? extremes[assign_draw(seed, 10)] : assign_draw(seed, (int32_t)kind->elements);
  return cost;
}

void assign_draw_case(assign_case *c, const assign_kind *kind, uint64_t *seed) {
  c->n = assign_draw(seed, kind->most_nodes + 1);
  c->m = c->n == 0 ? 0 : assign_draw(seed, c->n * kind->edges_per_node + 1);
  for (int32_t v = 0; v < c->n; v++) {
    c->states[v] = 1 + assign_draw(seed, kind->most_states);
    for (int32_t i = 0; i < c->states[v]; i++) c->node[v][i] = draw_cost(kind, seed);
  }
  for (int32_t e = 0; e < c->m; e++) {
    c->a[e] = assign_draw(seed, c->n);
    c->b[e] = assign_draw(seed, c->n);
    for (int32_t i = 0; i < c->states[c->a[e]]; i++)
      for (int32_t j = 0; j < c->states[c->b[e]]; j++)
        c->edge[e][i * c->states[c->b[e]] + j] =
            kind->alike && i == j ? (tesela__cost){0, 0} : draw_cost(kind, seed);
  }
}

tesela__assign *assign_build(const assign_case *c, const tesela_allocator *allocator) {
  tesela__assign *problem = tesela__assign_new(allocator);
  bool good = problem != NULL;
  for (int32_t v = 0; v < c->n && good; v++) {
    int32_t node = -1;
    good = tesela__assign_node(problem, c->states[v], c->node[v], &node) == TESELA_OK;
    if (good) assert_int_equal(node, v);
  }
  for (int32_t e = 0; e < c->m && good; e++)
    good = tesela__assign_edge(problem, c->a[e], c->b[e], c->edge[e]) == TESELA_OK;
  if (good) return problem;
  tesela__assign_free(problem);
  return NULL;
}

static bool is_finite(tesela__cost c) { return c.elements < (int64_t)1 << 60; }

tesela__cost assign_sum(const assign_case *c, const int32_t *state) {
  assign_wide elements = 0, moves = 0;
  bool finite = true;
  for (int32_t k = 0; k < c->n + c->m; k++) {
    const int32_t e = k - c->n;
    const tesela__cost *part =
        k < c->n ? &c->node[k][state[k]] : &c->edge[e][state[c->a[e]] * c->states[c->b[e]] + state[c->b[e]]];
    finite = finite && is_finite(*part);
    if (!finite) break;
    elements += part->elements;
    moves += part->moves;
  }
  if (!finite || elements >= (assign_wide)1 << 60) return (tesela__cost){INT64_MAX, 0};
  return (tesela__cost){(int64_t)elements, (int64_t)moves};
}

int assign_order(tesela__cost a, tesela__cost b) {
  if (!is_finite(a) || !is_finite(b)) return is_finite(b) ? 1 : is_finite(a) ? -1 : 0;
  if (a.elements != b.elements) return a.elements < b.elements ? -1 : 1;
  if (a.moves != b.moves) return a.moves < b.moves ? -1 : 1;
  return 0;
}

tesela__cost assign_exhaust(const assign_case *c, const int32_t *fixed) {
  int32_t state[ASSIGN_NODES];
  tesela__cost best = {INT64_MAX, 0};
  for (int32_t v = 0; v < c->n; v++) state[v] = fixed && fixed[v] >= 0 ? fixed[v] : 0;
  for (;;) {
    const tesela__cost sum = assign_sum(c, state);
    if (assign_order(sum, best) < 0) best = sum;
    int32_t v = 0;
    for (; v < c->n; v++) {
      if (fixed && fixed[v] >= 0) continue;
      if (++state[v] < c->states[v]) break;
      state[v] = 0;
    }
    if (v == c->n) return best;
  }
}

const char *assign_fault(const assign_case *c, const int32_t *fixed, tesela__cost best, bool complete,
                         const int32_t *state, const tesela__assigned *result) {
  if (complete && !result->proven) return "not proven";
  if (assign_order(result->bound, best) > 0) return "the bound is above the least cost";
  if (!result->feasible) {
    if (result->proven && is_finite(best)) return "there is an assignment";
    if (result->proven && is_finite(result->bound)) return "nothing is possible, and the bound is finite";
    return is_finite(result->cost) ? "no answer has a finite cost" : NULL;
  }
  for (int32_t v = 0; v < c->n; v++) {
    if (state[v] < 0 || state[v] >= c->states[v]) return "no such state";
    if (fixed && fixed[v] >= 0 && state[v] != fixed[v]) return "not the fixed state";
  }
  if (!is_finite(result->cost)) return "an infinite cost";
  if (assign_order(assign_sum(c, state), result->cost) != 0) return "not the cost of these states";
  if (result->cost.elements != assign_sum(c, state).elements) return "not the number of elements";
  if (assign_order(result->cost, best) < 0) return "below the least cost";
  if (result->proven && assign_order(result->cost, best) != 0) return "not the least cost";
  if (result->proven && assign_order(result->bound, best) != 0) return "proven, and the bound is another";
  return NULL;
}
