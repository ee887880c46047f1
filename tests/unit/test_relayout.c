/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_relayout.c - random pairs of layouts against the oracle: every solver, instruction set and number of threads.
 *
 * Each pair runs once as the planner chooses and then in ways drawn at random: `shuffle` seeds, forced solvers, caps
 * of the instruction set, 1 to 5 threads or an executor, windows of memory, any alignment, guard pages around both
 * buffers (support_relayout.h). TESELA_SEED sets the first seed of a sweep, TESELA_SEEDS their number.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support_relayout.h"
#include "support_seed.h"

static void run(sweep s) {
  if (slow_run()) s.n_pairs = s.n_pairs / 20 + 1;
  if (!sweep_run(&s)) fail_msg("%s", "a copy is wrong");
  if (getenv("TESELA_SEEDS")) return;
  long planned = 0;
  for (int i = TESELA_SOLVER_MEMCPY; i <= TESELA_SOLVER_PERMUTE; i++) planned += s.used[i];
  assert_true(planned > s.refused); /* the sweep has tried something */
}

static void test_small_pairs(void **state) {
  (void)state;
  run((sweep){.seed = 1000000, .n_pairs = 3000, .n_trials = 8, .most = 600, .round_trip = true});
}

static void test_pairs(void **state) {
  (void)state;
  run((sweep){.seed = 2000000, .n_pairs = 500, .n_trials = 12, .most = 5000, .round_trip = true});
}

static void test_large_pairs(void **state) {
  (void)state;
  run((sweep){.seed = 3000000, .n_pairs = 60, .n_trials = 12, .most = MOST_ELEMENTS});
}

static void test_transforms(void **state) {
  (void)state;
  run((sweep){.seed = 4000000, .n_pairs = 1500, .n_trials = 6, .most = 5000, .transforms = true});
}

/* Random choices of solvers reach every one of them, and so does asking for it. */
static void test_every_solver_is_reached(void **state) {
  (void)state;
  sweep s = {.seed = 5000000, .n_pairs = slow_run() ? 300 : 1500, .n_trials = 6, .most = 600};
  assert_true(sweep_run(&s));
  if (getenv("TESELA_SEEDS")) return;
  for (int i = TESELA_SOLVER_MEMCPY; i <= TESELA_SOLVER_PERMUTE; i++)
    if (s.used[i] == 0)
      fail_msg("no plan of %ld uses %s", 6L * s.n_pairs, tesela_solver_name((tesela_solver)i));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_small_pairs),
      cmocka_unit_test(test_pairs),
      cmocka_unit_test(test_large_pairs),
      cmocka_unit_test(test_transforms),
      cmocka_unit_test(test_every_solver_is_reached),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
