/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_assign_bound.c - the solver's bounds of assignments that it did not visit: no bound is above their cost.
 *
 * Small problems are compared with going through all assignments; grids, beyond that, with their rows one after another.
 */
#include "support_assign.h"

#include "solve/assign/work.h"
#include "support_fault.h"
#include "support_seed.h"

static const assign_kind kinds[] = {
    {6, 3, 2, 10, 20, false, 3, false}, {6, 3, 4, 5, 1000000, false, 2, false},
    {6, 3, 3, 30, 10, false, 2, true},  {5, 4, 2, 0, 2, false, 1, false},
    {5, 3, 2, 5, 0, true, 3, false},    {5, 3, 3, 60, 5, false, 4, false},
    {6, 2, 6, 10, 3, false, 2, false},
};
enum { KINDS = 7 };

/* The least cost with state i of node v, for all of them, by the definition. */
static void exhaust_states(const assign_case *c, tesela__cost least[ASSIGN_NODES][ASSIGN_STATES]) {
  int32_t fixed[ASSIGN_NODES];
  for (int32_t v = 0; v < c->n; v++) fixed[v] = -1;
  for (int32_t v = 0; v < c->n; v++) {
    for (int32_t i = 0; i < c->states[v]; i++) {
      fixed[v] = i;
      least[v][i] = assign_exhaust(c, fixed);
    }
    fixed[v] = -1;
  }
}

/* What is wrong with the costs that are said of states; NULL: nothing. */
static const char *least_fault(const assign_case *c, tesela__cost right[ASSIGN_NODES][ASSIGN_STATES],
                               const tesela__cost *said, bool exact) {
  for (int32_t v = 0; v < c->n; v++)
    for (int32_t i = 0; i < c->states[v]; i++, said++) {
      if (assign_order(*said, right[v][i]) > 0) return "a bound above the least cost";
      if (exact && assign_order(*said, right[v][i]) < 0) return "below the least cost";
    }
  return NULL;
}

static void each_state_has_its_least_cost(void **state) {
  (void)state;
  uint64_t seed = first_seed();
  for (int k = 0; k < 1500; k++) {
    static assign_case c;
    static tesela__cost right[ASSIGN_NODES][ASSIGN_STATES], said[ASSIGN_NODES * ASSIGN_STATES];
    bool exact = false;
    assign_draw_case(&c, &kinds[k % KINDS], &seed);
    exhaust_states(&c, right);
    tesela__assign *problem = assign_build(&c, NULL);
    assert_int_equal(tesela__assign_least(problem, 0, said, &exact), TESELA_OK);
    assert_true(exact);
    const char *wrong = least_fault(&c, right, said, true);
    if (wrong) fail_msg("case %d: %s", k, wrong);
    tesela__assign_free(problem);
  }
}

/* Sweeps and a smooth bound between them, with what they note of states on the way. */
static void sweeps_stay_below(void **state) {
  (void)state;
  uint64_t seed = first_seed();
  int64_t tight = 0, all = 0;
  for (int k = 0; k < 3000; k++) {
    static assign_case c;
    static tesela__cost right[ASSIGN_NODES][ASSIGN_STATES];
    static tesela__key noted[4 * ASSIGN_NODES * ASSIGN_STATES];
    tesela__assign_graph g;
    tesela__assign_bound b;
    assign_draw_case(&c, &kinds[k % KINDS], &seed);
    exhaust_states(&c, right);
    const tesela__key best = tesela__key_of(assign_exhaust(&c, NULL));
    tesela__assign *problem = assign_build(&c, NULL);
    assert_int_equal(tesela__assign_load(&g, problem, NULL), TESELA_OK);
    if (!g.impossible) {
      memset(noted, 0, sizeof noted);
      assert_int_equal(tesela__assign_bound_begin(&b, &g), TESELA_OK);
      b.least = noted;
      for (int s = 0, alive = 1; s < 12 && alive; s++) {
        const tesela__key before = b.base;
        if (s == 6) assert_int_equal(tesela__assign_smooth(&b, INT64_MAX), TESELA_OK);
        assert_true(b.base >= before);
        alive = tesela__assign_sweep(&b);
        if (tesela__key_less(alive ? b.base : TESELA__KEY_INFINITE, TESELA__KEY_INFINITE) > best)
          fail_msg("case %d: the bound is above the least cost", k);
      }
      for (int32_t v = 0; v < c.n; v++)
        for (int32_t i = 0; i < g.node[v].n; i++) {
          const tesela__key least = tesela__key_of(right[v][g.node[v].origin_state[i]]);
          if (tesela__key_less(noted[b.node_at[v] + i], TESELA__KEY_INFINITE) > least)
            fail_msg("case %d: node %d, state %d: the bound is above the least cost", k, (int)v, (int)i);
          tight += noted[b.node_at[v] + i] == least;
          all++;
        }
      tesela__assign_bound_end(&b);
    }
    tesela__assign_drop(&g);
    tesela__assign_free(problem);
  }
  assert_true(tight > all / 2); /* bounds of 0 would be safe, too */
}

/* Cut off after a few nodes of the search tree. */
static void answers_cut_off_are_safe(void **state) {
  (void)state;
  uint64_t seed = first_seed();
  for (int k = 0; k < 1500; k++) {
    static assign_case c;
    int32_t answer[ASSIGN_NODES];
    tesela__assigned result;
    assign_draw_case(&c, &kinds[k % KINDS], &seed);
    tesela__assign *problem = assign_build(&c, NULL);
    assert_int_equal(tesela__assign_solve(problem, NULL, 1 + k % 3, answer, &result), TESELA_OK);
    const char *wrong = assign_fault(&c, NULL, assign_exhaust(&c, NULL), false, answer, &result);
    if (wrong) fail_msg("case %d: %s", k, wrong);
    tesela__assign_free(problem);
  }
}

/* Too wide to be taken out node by node: no assignment is below what is said of its states. */
static void wide_problems_have_bounds(void **state) {
  (void)state;
  enum { WIDE = 48, STATES = 4 };
  uint64_t seed = first_seed();
  static tesela__cost node[WIDE][STATES], edge[WIDE][WIDE][STATES * STATES], said[WIDE * STATES];
  tesela__assign *problem = tesela__assign_new(NULL);
  bool exact = true;
  for (int32_t v = 0; v < WIDE; v++) {
    int32_t number;
    for (int32_t i = 0; i < STATES; i++) node[v][i] = (tesela__cost){assign_draw(&seed, 50), 0};
    assert_int_equal(tesela__assign_node(problem, STATES, node[v], &number), TESELA_OK);
    for (int32_t w = 0; w < v; w++) {
      for (int32_t i = 0; i < STATES * STATES; i++)
        edge[v][w][i] = (tesela__cost){assign_draw(&seed, 20), assign_draw(&seed, 2)};
      assert_int_equal(tesela__assign_edge(problem, v, w, edge[v][w]), TESELA_OK);
    }
  }
  assert_int_equal(tesela__assign_least(problem, 0, said, &exact), TESELA_OK);
  assert_false(exact);
  int64_t sum_said = 0;
  for (int32_t i = 0; i < WIDE * STATES; i++) sum_said += said[i].elements;
  assert_true(sum_said > 0);
  for (int k = 0; k < 2000; k++) {
    tesela__cost sum = {0, 0};
    int32_t at[WIDE];
    for (int32_t v = 0; v < WIDE; v++) {
      at[v] = assign_draw(&seed, STATES);
      sum.elements += node[v][at[v]].elements;
      for (int32_t w = 0; w < v; w++) {
        sum.elements += edge[v][w][at[v] * STATES + at[w]].elements;
        sum.moves += edge[v][w][at[v] * STATES + at[w]].moves;
      }
    }
    for (int32_t v = 0; v < WIDE; v++) assert_true(assign_order(said[v * STATES + at[v]], sum) <= 0);
  }
  tesela__assign_free(problem);
}

/* ---- grids --------------------------------------------------------------------------------------------------- */

enum { SIDE = 5, ROWS = 30, GRID = SIDE * ROWS, COLOURS = 3, LINES = 243 /* COLOURS ^ SIDE */ };

typedef struct grid {
  int64_t node[GRID][COLOURS], right[GRID][COLOURS * COLOURS], below[GRID][COLOURS * COLOURS];
} grid;

static int32_t colour(int32_t line, int32_t k) {
  while (k-- > 0) line /= COLOURS;
  return line % COLOURS;
}

/* Each row after the one before it, in all its colours at once; node `fixed` has one colour only. */
static int64_t grid_least(const grid *g, int32_t fixed, int32_t only) {
  static int64_t now[LINES], next[LINES];
  int64_t best = INT64_MAX;
  for (int32_t r = 0; r < ROWS; r++) {
    for (int32_t x = 0; x < LINES; x++) {
      int64_t own = 0, least = r == 0 ? 0 : INT64_MAX;
      bool allowed = true;
      for (int32_t k = 0; k < SIDE; k++) {
        const int32_t v = r * SIDE + k;
        own += g->node[v][colour(x, k)];
        if (k + 1 < SIDE) own += g->right[v][colour(x, k) * COLOURS + colour(x, k + 1)];
        allowed = allowed && (v != fixed || colour(x, k) == only);
      }
      for (int32_t y = 0; y < LINES && r > 0; y++) {
        int64_t sum = now[y];
        for (int32_t k = 0; k < SIDE && sum < least; k++)
          sum += g->below[(r - 1) * SIDE + k][colour(y, k) * COLOURS + colour(x, k)];
        if (sum < least) least = sum;
      }
      next[x] = allowed ? own + least : INT64_MAX / 4;
    }
    memcpy(now, next, sizeof now);
  }
  for (int32_t x = 0; x < LINES; x++)
    if (now[x] < best) best = now[x];
  return best;
}

/* The grid as a problem, its nodes in another order. */
static tesela__assign *grid_build(const grid *g, const int32_t *place, const tesela_allocator *allocator) {
  tesela__assign *problem = tesela__assign_new(allocator);
  int32_t at[GRID];
  bool good = problem != NULL;
  for (int32_t v = 0; v < GRID; v++) at[place[v]] = v;
  for (int32_t k = 0; k < GRID && good; k++) {
    tesela__cost cost[COLOURS];
    int32_t number;
    for (int32_t i = 0; i < COLOURS; i++) cost[i] = (tesela__cost){g->node[at[k]][i], 0};
    good = tesela__assign_node(problem, COLOURS, cost, &number) == TESELA_OK;
  }
  for (int32_t v = 0; v < GRID && good; v++)
    for (int32_t down = 0; down < 2 && good; down++) {
      tesela__cost cost[COLOURS * COLOURS];
      const int64_t *from = down ? g->below[v] : g->right[v];
      if (down ? v + SIDE >= GRID : v % SIDE + 1 == SIDE) continue;
      for (int32_t i = 0; i < COLOURS * COLOURS; i++) cost[i] = (tesela__cost){from[i], 0};
      good = tesela__assign_edge(problem, place[v], place[down ? v + SIDE : v + 1], cost) == TESELA_OK;
    }
  if (good) return problem;
  tesela__assign_free(problem);
  return NULL;
}

static void grid_draw(grid *g, int32_t *place, uint64_t *seed) {
  for (int32_t v = 0; v < GRID; v++) {
    place[v] = v;
    for (int32_t i = 0; i < COLOURS; i++) g->node[v][i] = assign_draw(seed, 30);
    for (int32_t i = 0; i < COLOURS * COLOURS; i++) {
      g->right[v][i] = assign_draw(seed, 100);
      g->below[v][i] = assign_draw(seed, 100);
    }
  }
  for (int32_t v = GRID - 1; v > 0; v--) {
    const int32_t w = assign_draw(seed, v + 1), keep = place[v];
    place[v] = place[w];
    place[w] = keep;
  }
}

static void grids_are_solved(void **state) {
  (void)state;
  uint64_t seed = first_seed();
  for (int k = 0; k < 3; k++) {
    static grid g;
    int32_t place[GRID], answer[GRID], again[GRID];
    tesela__cost said[GRID * COLOURS];
    tesela__assigned result;
    bool exact = false;
    grid_draw(&g, place, &seed);
    const int64_t best = grid_least(&g, -1, 0);
    tesela__assign *problem = grid_build(&g, place, NULL);
    assert_int_equal(tesela__assign_solve(problem, NULL, 0, answer, &result), TESELA_OK);
    assert_true(result.proven && result.cost.elements == best && result.bound.elements == best);
    assert_int_equal(tesela__assign_solve(problem, NULL, 0, again, &result), TESELA_OK);
    assert_memory_equal(answer, again, sizeof answer);
    assert_int_equal(tesela__assign_least(problem, 0, said, &exact), TESELA_OK);
    assert_true(exact);
    for (int32_t v = k; v < GRID; v += 37)
      for (int32_t i = 0; i < COLOURS; i++)
        if (said[place[v] * COLOURS + i].elements != grid_least(&g, v, i))
          fail_msg("grid %d: node %d, colour %d: not the least cost", k, (int)v, (int)i);
    for (int32_t v = 0; v < GRID; v++) assert_true(said[v * COLOURS + answer[v]].elements == best);
    tesela__assign_free(problem);
  }
}

/* ---- faults and memory --------------------------------------------------------------------------------------- */

static void planted_faults_are_noticed(void **state) {
  (void)state;
  uint64_t seed = 3;
  static assign_case c;
  static tesela__cost right[ASSIGN_NODES][ASSIGN_STATES], said[ASSIGN_NODES * ASSIGN_STATES];
  bool exact;
  do assign_draw_case(&c, &kinds[3], &seed);
  while (c.n < 3 || c.m < 3);
  exhaust_states(&c, right);
  tesela__assign *problem = assign_build(&c, NULL);
  assert_int_equal(tesela__assign_least(problem, 0, said, &exact), TESELA_OK);
  assert_null(least_fault(&c, right, said, true));
  said[1].moves++;
  assert_non_null(least_fault(&c, right, said, false));
  said[1].moves--;
  said[2].elements--;
  assert_null(least_fault(&c, right, said, false));
  assert_non_null(least_fault(&c, right, said, true));
  tesela__assign_free(problem);
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  static grid g;
  int32_t place[GRID];
  uint64_t seed = 5;
  grid_draw(&g, place, &seed);
  for (int solve = 0; solve < 2; solve++)
    for (long n = 0;; n += 1 + n / 40) {
      fault f = {.countdown = n};
      const tesela_allocator allocator = fault_allocator(&f);
      tesela__assign *problem = grid_build(&g, place, &allocator);
      tesela_status status = TESELA_E_MEMORY;
      tesela__cost said[GRID * COLOURS];
      int32_t answer[GRID];
      tesela__assigned result;
      bool exact;
      const int64_t before = f.live;
      if (problem)
        status = solve ? tesela__assign_solve(problem, NULL, 0, answer, &result)
                       : tesela__assign_least(problem, 0, said, &exact);
      if (problem) assert_int_equal(f.live, before);
      tesela__assign_free(problem);
      assert_int_equal(f.live, 0);
      if (status == TESELA_OK) {
        assert_true(n > 60);
        break;
      }
      assert_int_equal(status, TESELA_E_MEMORY);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_state_has_its_least_cost),
      cmocka_unit_test(sweeps_stay_below),
      cmocka_unit_test(answers_cut_off_are_safe),
      cmocka_unit_test(wide_problems_have_bounds),
      cmocka_unit_test(grids_are_solved),
      cmocka_unit_test(planted_faults_are_noticed),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
