/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_arena_effort.c - limits of the arena's search: effort also bounds the parts where splitting a problem or sorting could take longer
 * than all the rest.
 */
#include "support_arena.h"
#include "support_seed.h"

enum { TOWER = 6000, MIDDLE = 12, CROWD = 60000 };

static tesela_arena_buffer live(int64_t lower, int64_t upper, int64_t size) {
  return (tesela_arena_buffer){.lower = lower, .upper = upper, .size = size, .offset = TESELA_ARENA_FREE};
}

/* A rectangle cut into buffers, and around it lives within lives, a short one at the start of each: each long one can lie below all that
 * lives within it, so the least peak is the sum of these and the rectangle's height. To take them off one by one is a look at all
 * that is left each time, some TOWER * TOWER buffers in all. */
static void a_tower_is_not_taken_apart_at_any_price(void **state) {
  (void)state;
  enum { N = 2 * TOWER + MIDDLE, HEIGHT = 1000, STEPS = 50 };
  static tesela_arena_buffer made[N], b[N];
  uint64_t random = test_seed(20261121);
  int64_t sum = 0;
  for (int32_t k = 0; k < TOWER; k++) {
    made[k] = live(k, 2 * TOWER + STEPS - k, 1 + arena_random(&random, 100));
    made[TOWER + k] = live(k, k + 1, 1 + arena_random(&random, HEIGHT));
    sum += made[k].size;
  }
  arena_cut(&random, MIDDLE, STEPS, HEIGHT, made + 2 * TOWER);
  for (int32_t k = 2 * TOWER; k < N; k++) made[k].lower += TOWER, made[k].upper += TOWER;
  for (int64_t effort = 100; effort <= 10000; effort *= 10) {
    tesela_arena_facts facts;
    memcpy(b, made, sizeof b);
    OK(tesela_arena_plan(N, b, &(tesela_arena_options){.effort = effort}, &facts, &e_));
    arena_must_hold(N, made, b, facts.peak);
    AGREE("live", facts.live, sum + HEIGHT);
    AGREE("bound", facts.bound, sum + HEIGHT);
    assert_true(facts.effort <= effort + N); /* it could not be less than a look at each */
  }
  memcpy(b, made, sizeof b);
  OK(tesela_arena_plan(N, b, NULL, NULL, &e_)); /* two million steps are enough for all of it */
  AGREE("least", arena_peak(N, b), sum + HEIGHT);
}

/* Next to a buffer of 2^45 bytes all the others lie in one corner of what is sorted: still a right plan, within the effort. */
static void one_large_buffer_among_many(void **state) {
  (void)state;
  static tesela_arena_buffer made[CROWD], b[CROWD];
  static const int64_t sizes[] = {1000, INT64_C(1) << 45};
  uint64_t random = test_seed(20261121);
  for (int32_t k = 0; k < CROWD; k++) {
    made[k] = live(arena_random(&random, 1000), 0, 1 + arena_random(&random, 1000));
    made[k].upper = made[k].lower + 300 + arena_random(&random, 400);
  }
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    tesela_arena_facts facts;
    made[0] = live(500, 501, sizes[i]);
    memcpy(b, made, sizeof b);
    OK(tesela_arena_plan(CROWD, b, &(tesela_arena_options){.effort = 60000}, &facts, &e_));
    assert_true(facts.peak > facts.bound && facts.effort >= 60000); /* or it would not have been improved */
    OK(tesela_arena_check(CROWD, b, facts.peak, NULL, &e_));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_tower_is_not_taken_apart_at_any_price),
      cmocka_unit_test(one_large_buffer_among_many),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
