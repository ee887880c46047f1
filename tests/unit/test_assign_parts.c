/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_assign_parts.c - the parts of the solver, each by itself: reduction, bound, elimination, search, local search.
 *
 * What each claims is compared with going through all assignments, so none can hide another's fault.
 */
#include "support_assign.h"

#include "solve/assign/work.h"
#include "support_seed.h"

static const assign_kind kinds[] = {
    {7, 3, 2, 10, 20, false, 3, false}, {7, 3, 4, 5, 1000000, false, 2, false},
    {7, 3, 3, 30, 10, false, 2, true},  {6, 4, 2, 0, 2, false, 1, false},
    {5, 3, 2, 5, 0, true, 3, false},    {6, 3, 3, 60, 5, false, 4, false},
};
enum { KINDS = 6, ROUNDS = 600 };

typedef struct fixture {
  assign_case c;
  tesela__assign *problem;
  tesela__assign_graph g;
  tesela__cost best;
  int32_t state[ASSIGN_NODES];
} fixture;

static const assign_kind dense = {9, 3, 8, 1, 1000, false, 3, false};

static void set_up(fixture *f, int k, uint64_t *seed) {
  do assign_draw_case(&f->c, k < 0 ? &dense : &kinds[k % KINDS], seed);
  while (f->c.n == 0);
  f->problem = assign_build(&f->c, NULL);
  f->best = assign_exhaust(&f->c, NULL);
  assert_non_null(f->problem);
  assert_int_equal(tesela__assign_load(&f->g, f->problem, NULL), TESELA_OK);
}

static void tear_down(fixture *f) {
  tesela__assign_drop(&f->g);
  tesela__assign_free(f->problem);
}

/* The states of the graph's answer in the problem, and whether they cost the least. */
static void check_states(const fixture *f, int k, const char *what) {
  int32_t given[ASSIGN_NODES];
  for (int32_t v = 0; v < f->c.n; v++) given[v] = f->g.node[v].origin_state[f->state[v]];
  if (assign_order(assign_sum(&f->c, given), f->best) != 0)
    fail_msg("case %d: %s: not the best states", k, what);
}

static void check_cost(const fixture *f, int k, const char *what, tesela__key cost) {
  const tesela__key best = tesela__key_of(f->best);
  if (cost != best && !(tesela__key_is_infinite(cost) && tesela__key_is_infinite(best)))
    fail_msg("case %d: %s: not the least cost", k, what);
}

static void keys_are_ordered_as_pairs(void **state) {
  (void)state;
  static const tesela__cost some[] = {{0, 0},
                                      {0, (1 << 30) - 1},
                                      {1, 0},
                                      {1, 1},
                                      {((int64_t)1 << 60) - 1, 0},
                                      {((int64_t)1 << 60) - 1, (1 << 30) - 1},
                                      {(int64_t)1 << 60, 0},
                                      {INT64_MAX, 0}};
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) {
      const tesela__key a = tesela__key_of(some[i]), b = tesela__key_of(some[j]);
      assert_int_equal((a > b) - (a < b), assign_order(some[i], some[j]));
      assert_true(tesela__key_add(a, b) == tesela__key_of(tesela__cost_add(some[i], some[j])));
    }
}

/* Reduce, with and without dominance; eliminate what is left; go back. */
static void reduction_and_elimination(void **state) {
  (void)state;
  uint64_t seed = first_seed();
  for (int k = 0; k < ROUNDS; k++) {
    static fixture f;
    static tesela__assign_graph core;
    int32_t nodes[ASSIGN_NODES], place[ASSIGN_NODES], part[ASSIGN_NODES], n = 0;
    tesela__key cost = TESELA__KEY_INFINITE;
    int64_t work = 0;
    bool done = true;
    set_up(&f, k, &seed);
    if (!f.g.impossible) assert_int_equal(tesela__assign_reduce(&f.g, k % 2 == 0), TESELA_OK);
    if (f.g.impossible) {
      check_cost(&f, k, "impossible", TESELA__KEY_INFINITE);
      tear_down(&f);
      continue;
    }
    for (int32_t v = 0; v < f.c.n; v++) {
      if (f.g.node[v].gone) continue;
      assert_true(f.g.node[v].degree > 2);
      nodes[n++] = v;
    }
    assert_int_equal(n, f.g.n_left);
    assert_int_equal(tesela__assign_extract(&core, &f.g, nodes, n, place), TESELA_OK);
    assert_int_equal(tesela__assign_eliminate(&core, 1 << 20, part, &cost, &done, &work), TESELA_OK);
    assert_true(done);
    cost = tesela__key_add(cost, f.g.base);
    check_cost(&f, k, "reduced", cost);
    for (int32_t i = 0; i < n; i++) f.state[nodes[i]] = core.node[i].origin_state[part[i]];
    tesela__assign_restore(&f.g, f.state);
    if (!tesela__key_is_infinite(cost)) check_states(&f, k, "restored");
    tesela__assign_drop(&core);
    tear_down(&f);
  }
}

static void elimination_keeps_to_its_limit(void **state) {
  (void)state;
  uint64_t seed = 5;
  for (int k = 0; k < 60; k++) {
    static fixture f;
    tesela__key cost;
    int64_t work = 0, needed;
    bool done;
    set_up(&f, k, &seed);
    if (f.g.impossible) {
      tear_down(&f);
      continue;
    }
    assert_int_equal(tesela__assign_eliminate(&f.g, 1 << 20, f.state, &cost, &done, &work), TESELA_OK);
    assert_true(done && work > 0);
    check_cost(&f, k, "whole", cost);
    needed = work;
    assert_int_equal(tesela__assign_eliminate(&f.g, needed, f.state, &cost, &done, &work), TESELA_OK);
    assert_true(done);
    assert_int_equal(tesela__assign_eliminate(&f.g, needed - 1, f.state, &cost, &done, &work), TESELA_OK);
    assert_false(done);
    tear_down(&f);
  }
}

/* The bound never falls and never passes the least cost; what is committed costs the same for every good assignment. */
static void bounds_are_safe(void **state) {
  (void)state;
  uint64_t seed = first_seed();
  for (int k = 0; k < ROUNDS; k++) {
    static fixture f;
    tesela__assign_bound b;
    int32_t answer[ASSIGN_NODES];
    int64_t work = 0;
    bool alive = true, done;
    set_up(&f, k, &seed);
    if (f.g.impossible) {
      tear_down(&f);
      continue;
    }
    assert_int_equal(tesela__assign_bound_begin(&b, &f.g), TESELA_OK);
    if (k % 3 == 0 && !tesela__cost_is_infinite(f.best)) b.limit = tesela__key_of(f.best) + 1;
    for (int s = 0; s < 20 && alive; s++) {
      const tesela__key before = b.base;
      alive = tesela__assign_sweep(&b);
      if (alive) assert_true(b.base >= before && b.base <= tesela__key_of(f.best));
    }
    if (!alive) assert_true(tesela__cost_is_infinite(f.best));
    if (alive) {
      tesela__key cost;
      tesela__assign_round(&b, answer);
      for (int32_t v = 0; v < f.c.n; v++) assert_true(answer[v] >= 0 && answer[v] < f.g.node[v].n);
      tesela__assign_commit(&b, &f.g);
      assert_int_equal(tesela__assign_eliminate(&f.g, 1 << 20, f.state, &cost, &done, &work), TESELA_OK);
      check_cost(&f, k, "committed", cost);
      if (!tesela__key_is_infinite(cost)) check_states(&f, k, "committed");
    }
    tesela__assign_bound_end(&b);
    tear_down(&f);
  }
}

/* Search alone, with no reduction, no sweeps, no first answer, and no elimination at the ends of branches. */
static void search_alone(void **state) {
  (void)state;
  uint64_t seed = first_seed();
  int64_t deep = 0; /* nodes of search trees */
  for (int k = -60; k < ROUNDS; k++) {
    static fixture f;
    tesela__assign_bound b;
    set_up(&f, k, &seed);
    if (f.g.impossible) {
      tear_down(&f);
      continue;
    }
    tesela__assign_run run = {.most = 100000, .most_work = INT64_MAX, .step = 1, .leaf = k % 4 == 0 ? 40 : 0};
    tesela__assign_answer x = {f.state, TESELA__KEY_INFINITE, 0};
    assert_int_equal(tesela__assign_bound_begin(&b, &f.g), TESELA_OK);
    assert_int_equal(tesela__assign_search(&run, &b, &x), TESELA_OK);
    check_cost(&f, k, "search", x.upper);
    check_cost(&f, k, "search's bound", x.lower);
    if (!tesela__key_is_infinite(x.upper)) check_states(&f, k, "search");
    deep += run.effort;
    tesela__assign_bound_end(&b);
    tear_down(&f);
  }
  if (deep < 800) fail_msg("only %" PRId64 " nodes of search trees", deep);
}

static void local_search_never_makes_worse(void **state) {
  (void)state;
  uint64_t seed = first_seed();
  int best = 0, finite = 0;
  tesela__assign_run run = {0};
  for (int k = 0; k < ROUNDS; k++) {
    static fixture f;
    int64_t work = 0;
    set_up(&f, k, &seed);
    if (f.g.impossible ||
        kinds[k % KINDS].extreme) { /* of which it cannot tell the costs from infinite ones */
      tear_down(&f);
      continue;
    }
    for (int32_t v = 0; v < f.c.n; v++) f.state[v] = assign_draw(&seed, f.g.node[v].n);
    const tesela__key before = tesela__assign_sum(&f.g, f.state);
    assert_int_equal(tesela__assign_improve(&run, &f.g, 20, INT64_MAX, f.state, &work), TESELA_OK);
    const tesela__key after = tesela__assign_sum(&f.g, f.state);
    assert_true(after <= before && after >= tesela__key_of(f.best));
    finite += !tesela__cost_is_infinite(f.best);
    best += !tesela__cost_is_infinite(f.best) && after == tesela__key_of(f.best);
    tear_down(&f);
  }
  assert_true(best > finite * 3 / 4);
}

/* ---- large graphs -------------------------------------------------------------------------------------------- */

static tesela__cost some_costs[2500][36];

/* A node of `states` states, costs kept in some_costs[node]. */
static void add_node(tesela__assign *problem, int32_t v, int32_t states, uint64_t *seed) {
  int32_t node;
  for (int32_t i = 0; i < states; i++)
    some_costs[v][i] = (tesela__cost){assign_draw(seed, 50), assign_draw(seed, 3)};
  assert_int_equal(tesela__assign_node(problem, states, some_costs[v], &node), TESELA_OK);
  assert_int_equal(node, v);
}

/* A chain against the shortest path along it. */
static void a_long_chain_is_a_shortest_path(void **state) {
  (void)state;
  enum { LENGTH = 2000, STATES = 5 };
  static int32_t answer[LENGTH];
  uint64_t seed = 11;
  tesela__assign *problem = tesela__assign_new(NULL);
  tesela__cost path[STATES], next[STATES], edge[STATES * STATES];
  tesela__assigned r;
  for (int32_t v = 0; v < LENGTH; v++) {
    add_node(problem, v, STATES, &seed);
    for (int32_t k = 0; k < STATES * STATES; k++)
      edge[k] = k == 3 ? TESELA__COST_INFINITE : (tesela__cost){assign_draw(&seed, 60), 1};
    for (int32_t j = 0; j < STATES; j++) {
      next[j] = v == 0 ? (tesela__cost){0, 0} : TESELA__COST_INFINITE;
      for (int32_t i = 0; i < STATES && v > 0; i++) {
        if (edge[i * STATES + j].elements >= 100) continue; /* forbidden */
        const tesela__cost sum = {path[i].elements + edge[i * STATES + j].elements,
                                  path[i].moves + edge[i * STATES + j].moves};
        if (assign_order(sum, next[j]) < 0) next[j] = sum;
      }
      if (next[j].elements == TESELA__COST_INFINITE.elements) continue; /* no way leads here */
      next[j].elements += some_costs[v][j].elements;
      next[j].moves += some_costs[v][j].moves;
    }
    memcpy(path, next, sizeof path);
    if (v > 0) assert_int_equal(tesela__assign_edge(problem, v - 1, v, edge), TESELA_OK);
  }
  for (int32_t i = 1; i < STATES; i++)
    if (assign_order(path[i], path[0]) < 0) path[0] = path[i];
  assert_int_equal(tesela__assign_solve(problem, NULL, 0, answer, &r), TESELA_OK);
  assert_true(r.proven && r.feasible && assign_order(r.cost, path[0]) == 0);
  assert_int_equal(r.core, 0);
  tesela__assign_free(problem);
}

/* Trees and series-parallel graphs leave no core. */
static void simple_graphs_reduce_to_nothing(void **state) {
  (void)state;
  enum { SIZE = 2000 };
  static int32_t answer[SIZE + 2], ends[2 * SIZE + 2][2];
  uint64_t seed = 12;
  for (int parallel = 0; parallel < 2; parallel++) {
    tesela__assign *problem = tesela__assign_new(NULL);
    tesela__cost edge[16];
    tesela__assigned r;
    int32_t n_ends = 1;
    add_node(problem, 0, 4, &seed);
    add_node(problem, 1, 4, &seed);
    ends[0][0] = 0, ends[0][1] = 1;
    for (int32_t v = 2; v < SIZE; v++) {
      const int32_t k = assign_draw(&seed, n_ends);
      add_node(problem, v, 4, &seed);
      for (int32_t side = 0; side < (parallel ? 2 : 1); side++) {
        for (int32_t i = 0; i < 16; i++) edge[i] = (tesela__cost){assign_draw(&seed, 60), 1};
        assert_int_equal(tesela__assign_edge(problem, ends[k][side], v, edge), TESELA_OK);
        ends[n_ends][0] = ends[k][side];
        ends[n_ends++][1] = v;
      }
    }
    assert_int_equal(tesela__assign_solve(problem, NULL, 0, answer, &r), TESELA_OK);
    assert_true(r.proven && r.feasible);
    assert_int_equal(r.core, 0);
    tesela__assign_free(problem);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keys_are_ordered_as_pairs),
      cmocka_unit_test(reduction_and_elimination),
      cmocka_unit_test(elimination_keeps_to_its_limit),
      cmocka_unit_test(bounds_are_safe),
      cmocka_unit_test(search_alone),
      cmocka_unit_test(local_search_never_makes_worse),
      cmocka_unit_test(a_long_chain_is_a_shortest_path),
      cmocka_unit_test(simple_graphs_reduce_to_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
