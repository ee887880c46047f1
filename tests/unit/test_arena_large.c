/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_arena_large.c - the memory planner on problems too large for an exact search, and on those that fall apart.
 *
 * Least peaks are known by construction: rectangles that were cut into buffers, and towers of lives within lives, whose least peak is
 * what lives at one step. Plans are checked pair by pair. TESELA_SEED sets the seed.
 */
#include "support_arena.h"
#include "support_fault.h"
#include "support_seed.h"

enum { LARGE = 3000 };

static tesela_arena_buffer live(int64_t lower, int64_t upper, int64_t size) {
  return (tesela_arena_buffer){.lower = lower, .upper = upper, .size = size, .offset = TESELA_ARENA_FREE};
}

/* Plan with some effort, twice: the plan holds, both are equal, and the facts are what the definitions say. */
static tesela_arena_facts planned(int32_t n, const tesela_arena_buffer *made, tesela_arena_buffer *b,
                                  int64_t effort) {
  tesela_arena_buffer *again = malloc((size_t)n * sizeof *again);
  tesela_arena_facts facts, same;
  assert_non_null(again);
  memcpy(b, made, (size_t)n * sizeof *b);
  memcpy(again, made, (size_t)n * sizeof *b);
  OK(tesela_arena_plan(n, b, &(tesela_arena_options){.effort = effort}, &facts, &e_));
  OK(tesela_arena_plan(n, again, &(tesela_arena_options){.effort = effort}, &same, &e_));
  assert_memory_equal(b, again, (size_t)n * sizeof *b);
  assert_true(arena_same_facts(&facts, &same));
  arena_must_hold(n, made, b, facts.peak);
  AGREE("peak", facts.peak, arena_peak(n, b));
  AGREE("live", facts.live, arena_live(n, b));
  assert_true(facts.live <= facts.bound && facts.bound <= facts.peak && facts.peak <= facts.first_fit);
  assert_true(facts.proven == (facts.peak == facts.bound));
  free(again);
  return facts;
}

/* The orders alone leave most of these a sixth and more above the least peak. */
static void large_cut_rectangles(void **state) {
  (void)state;
  static tesela_arena_buffer made[LARGE], b[LARGE];
  uint64_t seed = test_seed(20261121);
  int64_t sum = 0;
  for (uint64_t k = 0; k < 4; k++) {
    uint64_t random = seed + k;
    arena_cut(&random, 1000, 8000, 1 << 20, made);
    tesela_arena_facts facts = planned(1000, made, b, 150000);
    AGREE("bound", facts.bound, 1 << 20);
    sum += facts.peak;
  }
  assert_true(sum < 4 * ((1 << 20) / 100 * 109));
  for (uint64_t k = 0; k < 4; k++) { /* small sizes, so that they often meet exactly */
    uint64_t random = seed + k;
    arena_cut(&random, 1000, 200, 60, made);
    AGREE("bound", planned(1000, made, b, 100000).bound, 60);
  }
  memcpy(b, made, sizeof *b * 1000);
  OK(tesela_arena_plan(1000, b, &(tesela_arena_options){.capacity = 80}, NULL, &e_));
  arena_must_hold(1000, made, b, 80);
}

/* Sixty rectangles one after the other, each so small that its least peak is found. */
static void sixty_rectangles_in_a_row(void **state) {
  (void)state;
  static tesela_arena_buffer made[LARGE], b[LARGE];
  uint64_t random = test_seed(20261121);
  for (int32_t k = 0; k < 60; k++) {
    arena_cut(&random, 40, 50, 1000, made + 40 * k);
    for (int32_t i = 40 * k; i < 40 * k + 40; i++) {
      made[i].lower += 50 * k;
      made[i].upper += 50 * k;
    }
  }
  AGREE("peak", planned(2400, made, b, 0).peak, 1000);
}

/* Alignments and fixed places are kept while buffers are put in and out. */
static void large_with_fixed_and_aligned(void **state) {
  (void)state;
  static tesela_arena_buffer made[LARGE], b[LARGE];
  uint64_t seed = test_seed(20261121);
  for (int kinds = 0; kinds < 8; kinds++) {
    uint64_t random = seed + (uint64_t)kinds;
    int32_t n = 400 + (int32_t)arena_random(&random, 100);
    arena_make(&random, n, 300, kinds % 2 ? 64 : 1 << 20, kinds, made);
    planned(n, made, b, 60000);
  }
}

/* Lives within lives, as the activations of a network forward and backward: what lives longer can lie below. In each, beside each other,
 * small ones: no plan needs more than what lives at one step, and that is found without a search. */
static void lives_within_lives(void **state) {
  (void)state;
  static tesela_arena_buffer made[LARGE], b[LARGE];
  uint64_t random = test_seed(20261121);
  int32_t n = 0;
  for (int32_t k = 0; k < 400; k++) {
    made[n++] = live(3 * k, 4000 - 3 * k, 1 + arena_random(&random, 1000)); /* stands from k to its mirror */
    made[n++] = live(3 * k, 3 * k + 1, 1 + arena_random(&random, 3000));    /* gone before the next begins */
    made[n++] = live(4000 - 3 * k - 1, 4000 - 3 * k, 1 + arena_random(&random, 3000));
  }
  for (int32_t i = n - 1; i > 0; i--) {
    int32_t j = (int32_t)arena_random(&random, i + 1);
    tesela_arena_buffer moved = made[i];
    made[i] = made[j];
    made[j] = moved;
  }
  tesela_arena_facts facts = planned(n, made, b, 2000000);
  AGREE("peak", facts.peak, facts.live);
  assert_true(facts.proven && facts.effort < 20000);
}

/* Small problems one after the other, each on some that live as long as all of it: the least peak is the largest of theirs,
 * which all orders of placing say. */
static void parts_are_planned_apart(void **state) {
  (void)state;
  static tesela_arena_buffer made[LARGE], b[LARGE];
  uint64_t seed = test_seed(20261121);
  for (uint64_t k = 0; k < 200; k++) {
    uint64_t random = seed + k;
    int64_t most = 0;
    int32_t n = 0;
    for (int64_t part = 0; part < 12; part++) {
      tesela_arena_buffer some[6];
      int32_t m = 1 + (int32_t)arena_random(&random, 6);
      arena_make(&random, m, 8, k % 2 ? 5 : 100, k % 4 == 3 ? ARENA_ALIGNED : 0, some);
      int64_t least = arena_least_peak(m, some, (1u << m) - 1), below = 0;
      for (int32_t i = 0; i < m; i++) {
        made[n] = some[i];
        made[n].lower += 100 * part;
        made[n++].upper += 100 * part;
      }
      for (int64_t i = arena_random(&random, 3); i > 0 && k % 4 != 3; i--) {
        made[n++] = live(100 * part - i, 100 * part + 8 + i, i * 7);
        below += i * 7;
      }
      most = least + below > most ? least + below : most;
    }
    tesela_arena_facts facts = planned(n, made, b, 0);
    AGREE("least", facts.peak, most);
    AGREE("bound", facts.bound, most);
    assert_true(facts.proven);
    if (most < 2) continue;
    memcpy(b, made, (size_t)n * sizeof *b);
    AGREE("less", tesela_arena_plan(n, b, &(tesela_arena_options){.capacity = most - 1}, NULL, NULL),
          TESELA_E_LIMIT);
  }
}

/* Sizes near 2^62 that add up to less: no sum of the planner overflows (a sanitizer would say). */
static void sizes_near_the_limit(void **state) {
  (void)state;
  static tesela_arena_buffer made[64], b[64];
  uint64_t random = test_seed(20261121);
  for (int32_t i = 0; i < 64; i++) {
    made[i] = live(arena_random(&random, 40), 0, (INT64_C(1) << 55) - arena_random(&random, 1 << 20));
    made[i].upper = made[i].lower + 1 + arena_random(&random, 20);
    made[i].alignment = i % 3 ? INT64_C(1) << (i % 50) : 0;
  }
  planned(64, made, b, 50000);
}

/* Each allocation of the planner fails once, where the problem falls apart and is improved. */
static void every_allocation_of_a_large_one_fails_once(void **state) {
  (void)state;
  static tesela_arena_buffer made[300], b[300];
  uint64_t random = 11;
  fault f = {.countdown = 0};
  tesela_allocator allocator = fault_allocator(&f);
  tesela_arena_options options = {.effort = 3000, .allocator = &allocator};
  arena_cut(&random, 150, 100, 5000, made);
  arena_cut(&random, 150, 100, 5000, made + 150);
  for (int32_t i = 150; i < 300; i++) made[i].lower += 100, made[i].upper += 100;
  long count = 0;
  for (tesela_status status = TESELA_E_MEMORY; status == TESELA_E_MEMORY; count++) {
    f.countdown = count;
    memcpy(b, made, sizeof b);
    status = tesela_arena_plan(300, b, &options, NULL, NULL);
    AGREE("live", f.live, 0);
    assert_true(status == TESELA_E_MEMORY || status == TESELA_OK);
    if (status == TESELA_E_MEMORY) assert_memory_equal(b, made, sizeof b);
    assert_true(count < 1000);
  }
  assert_true(count > 40);
  arena_must_hold(300, made, b, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(large_cut_rectangles),
      cmocka_unit_test(sixty_rectangles_in_a_row),
      cmocka_unit_test(large_with_fixed_and_aligned),
      cmocka_unit_test(lives_within_lives),
      cmocka_unit_test(parts_are_planned_apart),
      cmocka_unit_test(sizes_near_the_limit),
      cmocka_unit_test(every_allocation_of_a_large_one_fails_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
