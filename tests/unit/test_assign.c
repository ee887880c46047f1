/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_assign.c - the assignment of states to nodes: against going through all assignments, and by rows.
 */
#include "support_assign.h"
#include "support_fault.h"
#include "support_seed.h"

#define INFINITE \
  { INT64_MAX, 0 }

/* ---- costs --------------------------------------------------------------------------------------------------- */

static void costs_are_pairs_in_order(void **state) {
  (void)state;
  const int64_t most = ((int64_t)1 << 60) - 1;
  static const tesela__cost ascending[] = {{0, 0}, {0, 1}, {0, 7}, {1, 0}, {1, 1}, {2, 0}, INFINITE};
  const int n = (int)(sizeof ascending / sizeof ascending[0]);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      const int got = tesela__cost_compare(ascending[i], ascending[j]);
      assert_int_equal((got > 0) - (got < 0), (i > j) - (i < j));
    }
  const tesela__cost sum = tesela__cost_add((tesela__cost){most - 5, 3}, (tesela__cost){5, 4});
  assert_int_equal(sum.elements, most);
  assert_int_equal(sum.moves, 7);
  assert_true(tesela__cost_add((tesela__cost){most, 0}, (tesela__cost){1, 0}).elements == INT64_MAX);
  assert_true(
      tesela__cost_is_infinite(tesela__cost_add((tesela__cost){INT64_MAX, 0}, (tesela__cost){INT64_MAX, 0})));
  assert_true(tesela__cost_is_infinite(tesela__cost_add((tesela__cost){0, 0}, (tesela__cost){most + 1, 5})));
  assert_int_equal(tesela__cost_compare((tesela__cost){most + 1, 5}, (tesela__cost){INT64_MAX, 0}), 0);
}

/* ---- by rows ------------------------------------------------------------------------------------------------- */

static const struct {
  const char *name;
  assign_case problem;
  tesela__cost best; /* by hand */
} rows[] = {
    {"no node", {.n = 0}, {0, 0}},
    {"one node of one state", {.n = 1, .states = {1}, .node = {{{5, 2}}}}, {5, 2}},
    {"one forbidden state", {.n = 1, .states = {1}, .node = {{INFINITE}}}, INFINITE},
    {"fewer moves decide", {.n = 1, .states = {3}, .node = {{{5, 2}, {5, 1}, {5, 3}}}}, {5, 1}},
    {"elements before moves", {.n = 1, .states = {2}, .node = {{{5, 0}, {4, 9}}}}, {4, 9}},
    {"an edge to itself counts its diagonal",
     {.n = 1, .m = 1, .states = {2}, .node = {{{1, 0}, {2, 0}}}, .edge = {{{9, 0}, {0, 0}, {0, 0}, {3, 1}}}},
     {5, 1}},
    {"an edge to itself may forbid",
     {.n = 1, .m = 1, .states = {2}, .edge = {{INFINITE, {0, 0}, {0, 0}, INFINITE}}},
     INFINITE},
    {"two edges of two nodes add up",
     {.n = 2,
      .m = 2,
      .states = {2, 2},
      .a = {0, 0},
      .b = {1, 1},
      .edge = {{{1, 0}, {4, 0}, {4, 0}, {9, 0}}, {{5, 0}, {4, 0}, {9, 0}, {1, 0}}}},
     {6, 0}},
    {"the second edge the other way round", /* 3 + 5, 4 + 9, 1 + a move, 9 + 2 */
     {.n = 2,
      .m = 2,
      .states = {2, 2},
      .a = {0, 1},
      .b = {1, 0},
      .edge = {{{3, 0}, {4, 0}, {1, 0}, {9, 0}}, {{5, 0}, {0, 1}, {9, 0}, {2, 0}}}},
     {1, 1}},
    {"a triangle has no two colours",
     {.n = 3,
      .m = 3,
      .states = {2, 2, 2},
      .a = {0, 1, 2},
      .b = {1, 2, 0},
      .edge = {{INFINITE, {0, 0}, {0, 0}, INFINITE},
               {INFINITE, {0, 0}, {0, 0}, INFINITE},
               {INFINITE, {0, 0}, {0, 0}, INFINITE}}},
     INFINITE},
    {"a sum of 2^60 is infinite",
     {.n = 2, .states = {1, 1}, .node = {{{(int64_t)1 << 59, 0}}, {{(int64_t)1 << 59, 0}}}},
     INFINITE},
    {"a sum of 2^60 - 1 is not",
     {.n = 2, .states = {1, 1}, .node = {{{(int64_t)1 << 59, 0}}, {{((int64_t)1 << 59) - 1, 4}}}},
     {((int64_t)1 << 60) - 1, 4}},
};

static void solve_and_check(const char *name, const assign_case *c, const int32_t *fixed, tesela__cost best) {
  int32_t answer[ASSIGN_NODES], again[ASSIGN_NODES];
  tesela__assigned result, second;
  tesela__assign *problem = assign_build(c, NULL);
  assert_non_null(problem);
  memset(answer, 0xee, sizeof answer);
  memset(again, 0xee, sizeof again);
  assert_int_equal(tesela__assign_solve(problem, fixed, 0, answer, &result), TESELA_OK);
  const char *wrong = assign_fault(c, fixed, best, true, answer, &result);
  if (wrong)
    fail_msg("%s: %s: {%" PRId64 ", %" PRId64 "}, not {%" PRId64 ", %" PRId64 "}", name, wrong,
             result.cost.elements, result.cost.moves, best.elements, best.moves);
  assert_int_equal(tesela__assign_solve(problem, fixed, 0, again, &second), TESELA_OK);
  assert_memory_equal(answer, again, sizeof answer);
  assert_true(result.cost.moves == second.cost.moves && result.effort == second.effort);
  tesela__assign_free(problem);
}

static void rows_have_the_cost_by_hand(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const tesela__cost all = assign_exhaust(&rows[i].problem, NULL);
    if (assign_order(all, rows[i].best) != 0) fail_msg("%s: the row itself is wrong", rows[i].name);
    solve_and_check(rows[i].name, &rows[i].problem, NULL, rows[i].best);
  }
}

/* n nodes, all neighbours, that want different states of k: possible if k >= n; then 2 elements for each but state 0. */
static void all_different(void **state) {
  (void)state;
  for (int32_t n = 2; n <= 6; n++)
    for (int32_t k = n - 1; k <= n && k <= ASSIGN_STATES; k++) {
      static assign_case c;
      c.n = n;
      c.m = 0;
      for (int32_t v = 0; v < n; v++) {
        c.states[v] = k;
        for (int32_t i = 0; i < k; i++) c.node[v][i] = (tesela__cost){i > 0 ? 2 : 0, 0};
        for (int32_t w = 0; w < v; w++) {
          c.a[c.m] = v;
          c.b[c.m] = w;
          for (int32_t i = 0; i < k * k; i++)
            c.edge[c.m][i] = i % (k + 1) == 0 ? TESELA__COST_INFINITE : (tesela__cost){0, 0};
          c.m++;
        }
      }
      solve_and_check("all different", &c, NULL,
                      k < n ? TESELA__COST_INFINITE : (tesela__cost){2 * (n - 1), 0});
    }
}

/* ---- at random ----------------------------------------------------------------------------------------------- */

static const assign_kind kinds[] = {
    {8, 4, 2, 10, 20, false, 3, false}, {8, 3, 4, 5, 1000000, false, 2, false},
    {8, 4, 3, 30, 10, false, 2, true},  {7, 5, 2, 0, 2, false, 1, false},
    {6, 3, 2, 5, 0, true, 3, false},    {7, 4, 3, 60, 5, false, 4, false},
    {8, 2, 4, 10, 3, false, 2, false},  {5, 6, 3, 10, 50, false, 1 << 30, false},
};

static void random_problems_have_the_least_cost(void **state) {
  (void)state;
  uint64_t seed = first_seed();
  for (int k = 0; k < 1200; k++) {
    static assign_case c;
    int32_t fixed[ASSIGN_NODES];
    char name[48];
    snprintf(name, sizeof name, "case %d", k);
    assign_draw_case(&c, &kinds[k % 8], &seed);
    for (int32_t v = 0; v < c.n; v++)
      fixed[v] = assign_draw(&seed, 4) == 0 ? assign_draw(&seed, c.states[v]) : -1;
    solve_and_check(name, &c, NULL, assign_exhaust(&c, NULL));
    solve_and_check(name, &c, fixed, assign_exhaust(&c, fixed));
  }
}

/* ---- what must be refused, or noticed ------------------------------------------------------------------------ */

static void bad_parts_are_refused(void **state) {
  (void)state;
  tesela__assign *problem = tesela__assign_new(NULL);
  const tesela__cost good[4] = {{1, 0}, {0, 0}, {2, 0}, {3, 0}};
  const tesela__cost bad[][2] = {{{1, 0}, {-1, 0}}, {{1, -1}, {0, 0}}, {{0, (int64_t)1 << 30}, {0, 0}}};
  int32_t node = 77, answer[1];
  tesela__assigned result;
  assert_int_equal(tesela__assign_node(problem, 0, good, &node), TESELA_E_RANGE);
  for (int i = 0; i < 3; i++)
    assert_int_equal(tesela__assign_node(problem, 2, bad[i], &node), TESELA_E_RANGE);
  assert_int_equal(node, 77);
  assert_int_equal(tesela__assign_node(problem, 2, good, &node), TESELA_OK);
  assert_int_equal(node, 0);
  assert_int_equal(tesela__assign_edge(problem, 0, 1, good), TESELA_E_RANGE);
  assert_int_equal(tesela__assign_edge(problem, -1, 0, good), TESELA_E_RANGE);
  assert_int_equal(
      tesela__assign_edge(problem, 0, 0, (const tesela__cost[4]){{0, 0}, {0, 0}, {0, 0}, {-5, 0}}),
      TESELA_E_RANGE);
  assert_int_equal(tesela__assign_solve(problem, NULL, 0, answer, &result), TESELA_OK);
  assert_int_equal(answer[0], 1);
  const int32_t beyond[] = {2};
  assert_int_equal(tesela__assign_solve(problem, beyond, 0, answer, &result), TESELA_OK);
  assert_true(!result.feasible && result.proven);
  tesela__assign_free(problem);
  tesela__assign_free(NULL);
}

static void planted_faults_are_noticed(void **state) {
  (void)state;
  const assign_case *c = &rows[7].problem; /* two nodes, two edges; the best is {6, 0} at (0, 0) */
  const int32_t best[] = {0, 0}, worse[] = {0, 1}, no[] = {0, 2}, fixed[] = {1, -1};
  const tesela__cost least = {6, 0};
  const tesela__assigned good = {.feasible = true, .proven = true, .cost = least, .bound = least};
  assert_null(assign_fault(c, NULL, least, true, best, &good));
  tesela__assigned r = good;
  assert_non_null(assign_fault(c, NULL, least, true, worse, &r));
  assert_non_null(assign_fault(c, NULL, least, true, no, &r));
  assert_non_null(assign_fault(c, fixed, least, true, best, &r));
  r.cost.moves = 1;
  assert_non_null(assign_fault(c, NULL, least, true, best, &r));
  r = good, r.bound.moves = 1;
  assert_non_null(assign_fault(c, NULL, least, false, best, &r));
  r = good, r.proven = false;
  assert_non_null(assign_fault(c, NULL, least, true, best, &r));
  r = good, r.cost = (tesela__cost){8, 0};
  assert_non_null(assign_fault(c, NULL, least, false, worse, &r));
  r = good, r.feasible = false;
  assert_non_null(assign_fault(c, NULL, least, false, best, &r));
  r = good, r.bound.elements = 5;
  assert_non_null(assign_fault(c, NULL, least, false, best, &r));
}

/* ---- memory -------------------------------------------------------------------------------------------------- */

/* A dense problem: elimination is too dear, so that bound and search come in. */
static void dense_case(assign_case *c, int32_t n, int32_t elements, int32_t moves, uint64_t seed) {
  c->n = n;
  c->m = 0;
  for (int32_t v = 0; v < n; v++) {
    c->states[v] = 4;
    for (int32_t i = 0; i < 4; i++)
      c->node[v][i] = (tesela__cost){assign_draw(&seed, elements), assign_draw(&seed, moves)};
    for (int32_t w = 0; w < v && c->m < ASSIGN_EDGES; w++) {
      c->a[c->m] = w;
      c->b[c->m] = v;
      for (int32_t i = 0; i < 16; i++)
        c->edge[c->m][i] = (tesela__cost){assign_draw(&seed, elements), assign_draw(&seed, moves)};
      c->m++;
    }
  }
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  static assign_case c;
  dense_case(&c, 14, 40, 1, 3);
  for (long n = 0;; n += 1 + n / 40) {
    fault f = {.countdown = n};
    const tesela_allocator allocator = fault_allocator(&f);
    int32_t answer[ASSIGN_NODES] = {-9};
    tesela__assigned result = {.effort = 99};
    tesela__assign *problem = assign_build(&c, &allocator);
    tesela_status status = TESELA_E_MEMORY;
    if (problem) {
      const int64_t before = f.live;
      status = tesela__assign_solve(problem, NULL, 30, answer, &result);
      assert_int_equal(f.live, before);
      if (status != TESELA_OK) {
        assert_int_equal(answer[0], -9);
        assert_int_equal(result.effort, 99);
      }
    }
    tesela__assign_free(problem);
    assert_int_equal(f.live, 0);
    if (status == TESELA_OK) {
      assert_true(n > 40 && result.effort > 0);
      return;
    }
    assert_int_equal(status, TESELA_E_MEMORY);
  }
}

/* Cut off early, the answer is still one, and the bound holds: more effort never contradicts less. */
static void little_effort_gives_bounds(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 2; seed++) {
    static assign_case c;
    int32_t answer[ASSIGN_NODES];
    tesela__assigned full;
    dense_case(&c, 13, 40, 1, seed);
    tesela__assign *problem = assign_build(&c, NULL);
    assert_int_equal(tesela__assign_solve(problem, NULL, 0, answer, &full), TESELA_OK);
    assert_true(full.proven);
    for (int64_t effort = 1; effort < 300; effort *= 3) {
      tesela__assigned result;
      assert_int_equal(tesela__assign_solve(problem, NULL, effort, answer, &result), TESELA_OK);
      const char *wrong = assign_fault(&c, NULL, full.cost, false, answer, &result);
      if (wrong) fail_msg("effort %" PRId64 ": %s", effort, wrong);
      assert_true(result.effort <= effort);
    }
    tesela__assign_free(problem);
  }
}

/* Beyond cheap elimination; few elements and some moves, so that many answers differ in moves alone. */
static void dense_problems_have_the_least_cost(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 2; seed++) {
    static assign_case c;
    dense_case(&c, 10, seed == 1 ? 40 : 2, 3, seed);
    solve_and_check("dense", &c, NULL, assign_exhaust(&c, NULL));
  }
}

/* Where no elements differ, moves decide as elements would in their place. */
static void moves_count_as_much_as_elements(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 6; seed++) {
    static assign_case c;
    int32_t answer[ASSIGN_NODES];
    tesela__assigned moves, elements;
    dense_case(&c, 12, 1, 40, seed);
    tesela__assign *problem = assign_build(&c, NULL);
    assert_int_equal(tesela__assign_solve(problem, NULL, 0, answer, &moves), TESELA_OK);
    tesela__assign_free(problem);
    for (int32_t v = 0; v < c.n; v++)
      for (int32_t i = 0; i < 4; i++) c.node[v][i] = (tesela__cost){c.node[v][i].moves, 0};
    for (int32_t e = 0; e < c.m; e++)
      for (int32_t i = 0; i < 16; i++) c.edge[e][i] = (tesela__cost){c.edge[e][i].moves, 0};
    problem = assign_build(&c, NULL);
    assert_int_equal(tesela__assign_solve(problem, NULL, 0, answer, &elements), TESELA_OK);
    tesela__assign_free(problem);
    assert_true(moves.proven && elements.proven);
    assert_int_equal(moves.cost.moves, elements.cost.elements);
    assert_int_equal(moves.cost.elements + elements.cost.moves, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(costs_are_pairs_in_order),
      cmocka_unit_test(rows_have_the_cost_by_hand),
      cmocka_unit_test(all_different),
      cmocka_unit_test(random_problems_have_the_least_cost),
      cmocka_unit_test(bad_parts_are_refused),
      cmocka_unit_test(planted_faults_are_noticed),
      cmocka_unit_test(dense_problems_have_the_least_cost),
      cmocka_unit_test(moves_count_as_much_as_elements),
      cmocka_unit_test(every_allocation_may_fail),
      cmocka_unit_test(little_effort_gives_bounds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
