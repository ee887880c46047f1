/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_assign_effort.c - limits of the solver: effort, and memory that is refused.
 *
 * Grids of two colours in which neighbours have to differ, or to be equal, at a price: no sweep says more of them than 0, so that
 * only elimination or search tells. The least cost is known from a table over the colours of the last nodes of the grid.
 */
#include "support_assign.h"

#include "solve/assign/work.h"
#include "support_fault.h"
#include "support_seed.h"

enum { WIDE = 13, LONG = 30, GRID = WIDE * LONG, LINE = 1 << WIDE, CHAIN = 700 };

typedef struct frustrated {
  int64_t right[GRID], below[GRID]; /* > 0: the price of being equal; < 0: that of being different, negated */
} frustrated;

static int64_t price(int64_t of, bool equal) { return of > 0 ? (equal ? of : 0) : (equal ? 0 : -of); }

static void draw(frustrated *g, uint64_t *seed) {
  for (int32_t v = 0; v < GRID; v++) {
    g->right[v] = (1 + assign_draw(seed, 1000)) * (assign_draw(seed, 2) ? 1 : -1);
    g->below[v] = (1 + assign_draw(seed, 1000)) * (assign_draw(seed, 2) ? 1 : -1);
  }
}

/* Node after node: the least for each choice of colours of the last WIDE nodes, bit v % WIDE for node v. */
static int64_t least_of(const frustrated *g) {
  static int64_t now[LINE], next[LINE];
  memset(now, 0, sizeof now);
  for (int32_t v = 0; v < GRID; v++) {
    const int32_t at = v % WIDE;
    for (int32_t x = 0; x < LINE; x++) next[x] = INT64_MAX;
    for (int32_t x = 0; x < LINE; x++)
      for (int32_t c = 0; c < 2; c++) {
        const int32_t y = (x & ~(1 << at)) | c << at;
        int64_t sum = now[x];
        if (v >= WIDE) sum += price(g->below[v - WIDE], (x >> at & 1) == c);
        if (at > 0) sum += price(g->right[v - 1], (x >> (at - 1) & 1) == c);
        if (sum < next[y]) next[y] = sum;
      }
    memcpy(now, next, sizeof now);
  }
  int64_t best = INT64_MAX;
  for (int32_t x = 0; x < LINE; x++)
    if (now[x] < best) best = now[x];
  return best;
}

static void add_edge(tesela__assign *problem, int32_t a, int32_t b, int64_t of) {
  const tesela__cost equal = {price(of, true), 0}, other = {price(of, false), 0};
  const tesela__cost cost[4] = {equal, other, other, equal};
  assert_int_equal(tesela__assign_edge(problem, a, b, cost), TESELA_OK);
}

static tesela__assign *build(int32_t n, const frustrated *g) {
  static const tesela__cost free_of_charge[2] = {{0, 0}, {0, 0}};
  tesela__assign *problem = tesela__assign_new(NULL);
  assert_non_null(problem);
  for (int32_t k = 0; k < n; k++)
    for (int32_t v = 0; v < GRID; v++) {
      int32_t number;
      assert_int_equal(tesela__assign_node(problem, 2, free_of_charge, &number), TESELA_OK);
      if (v % WIDE > 0) add_edge(problem, number - 1, number, g[k].right[v - 1]);
      if (v >= WIDE) add_edge(problem, number - WIDE, number, g[k].below[v - WIDE]);
    }
  return problem;
}

/* More sums than are made without a second thought: with the default they are, with an effort of 1 they are not, however many such
 * parts there are; what is said then holds all the same. */
static void elimination_counts(void **state) {
  (void)state;
  static frustrated g[3];
  static int32_t answer[3 * GRID];
  uint64_t seed = test_seed(20261121);
  int64_t best = 0;
  for (int32_t k = 0; k < 3; k++) {
    draw(&g[k], &seed);
    best += least_of(&g[k]);
  }
  tesela__assign *problem = build(3, g);
  tesela__assigned result;
  assert_int_equal(tesela__assign_solve(problem, NULL, 0, answer, &result), TESELA_OK);
  assert_true(result.proven);
  assert_int_equal(result.cost.elements, best);
  assert_int_equal(tesela__assign_solve(problem, NULL, 1, answer, &result), TESELA_OK);
  assert_true(result.feasible && !result.proven);
  assert_true(result.cost.elements >= best && result.bound.elements <= best);
  tesela__assign_free(problem);
}

/* ---- local search --------------------------------------------------------------------------------------------- */

static int stop_later(void *user, int64_t done, int64_t all) {
  (void)done, (void)all;
  return --*(int *)user < 0;
}

/* Any answer is improved to within a hundredth of the least cost; the sum of the states is what says so. Stopped, it does
 * not get worse. */
static void kicks_come_close_to_the_least(void **state) {
  (void)state;
  static frustrated g;
  uint64_t seed = first_seed();
  int exact = 0;
  for (int k = 0; k < 6; k++) {
    static int32_t answer[GRID];
    tesela__assign_graph graph;
    int64_t work = 0;
    int asks = 5;
    tesela__assign_run run = {.progress = stop_later, .progress_user = &asks};
    draw(&g, &seed);
    const tesela__key best = tesela__key_of((tesela__cost){least_of(&g), 0});
    tesela__assign *problem = build(1, &g);
    assert_int_equal(tesela__assign_load(&graph, problem, NULL), TESELA_OK);
    for (int32_t v = 0; v < GRID; v++) answer[v] = assign_draw(&seed, 2);
    const tesela__key first = tesela__assign_sum(&graph, answer);
    assert_int_equal(tesela__assign_improve(&run, &graph, 60, INT64_MAX, answer, &work), TESELA_E_STOPPED);
    const tesela__key stopped = tesela__assign_sum(&graph, answer);
    run = (tesela__assign_run){0};
    assert_int_equal(tesela__assign_improve(&run, &graph, 60, INT64_MAX, answer, &work), TESELA_OK);
    const tesela__key last = tesela__assign_sum(&graph, answer);
    assert_true(best <= last && last <= stopped && stopped < first);
    assert_true(last - best <= best / 100);
    exact += last == best;
    tesela__assign_drop(&graph);
    tesela__assign_free(problem);
  }
  printf("the least itself: %d of 6\n", exact);
}

/* ---- memory --------------------------------------------------------------------------------------------------- */

/* Each node next to the two before it. How many there are says which of the solver's tables are the first of a block of memory. */
static tesela__assign *build_chain(int32_t length, const tesela_allocator *allocator) {
  static const tesela__cost node[2] = {{1, 0}, {2, 0}}, edge[4] = {{0, 0}, {3, 0}, {4, 0}, {1, 0}};
  tesela__assign *problem = tesela__assign_new(allocator);
  bool good = problem != NULL;
  for (int32_t v = 0, number; v < length && good; v++)
    good = tesela__assign_node(problem, 2, node, &number) == TESELA_OK;
  for (int32_t v = 1; v < length && good; v++)
    good = tesela__assign_edge(problem, v - 1, v, edge) == TESELA_OK &&
           (v < 2 || tesela__assign_edge(problem, v - 2, v, edge) == TESELA_OK);
  if (good) return problem;
  tesela__assign_free(problem);
  return NULL;
}

/* How many times memory was refused until a chain was solved. */
static long refuse(int32_t length) {
  static tesela__cost said[2 * CHAIN];
  long failures = 0;
  for (long n = 0;; n++) {
    fault f = {.countdown = n, .dirty = true};
    const tesela_allocator allocator = fault_allocator(&f);
    tesela__assign *problem = build_chain(length, &allocator);
    bool exact = false;
    const int64_t before = f.live;
    const tesela_status status = problem ? tesela__assign_least(problem, 0, said, &exact) : TESELA_E_MEMORY;
    if (problem) assert_int_equal(f.live, before);
    tesela__assign_free(problem);
    assert_int_equal(f.live, 0);
    if (status == TESELA_OK) {
      assert_true(exact);
      return failures;
    }
    assert_int_equal(status, TESELA_E_MEMORY);
    failures += problem != NULL;
  }
}

static void each_block_may_be_refused(void **state) {
  (void)state;
  for (int32_t length = 50; length <= CHAIN; length += length / 5) assert_true(refuse(length) > 12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(elimination_counts),
      cmocka_unit_test(kicks_come_close_to_the_least),
      cmocka_unit_test(each_block_may_be_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
