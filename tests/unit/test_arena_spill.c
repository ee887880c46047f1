/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_arena_spill.c - the scratchpad: which buffers are left out, against all subsets; repairs; what stays.
 *
 * A subset fits if its least peak by all orders of placing is not above the capacity. TESELA_SEED sets the seed.
 */
#include "support_arena.h"
#include "support_fault.h"
#include "support_seed.h"

static tesela_arena_buffer weighing(int64_t lower, int64_t upper, int64_t size, int64_t weight) {
  return (tesela_arena_buffer){
      .lower = lower, .upper = upper, .size = size, .weight = weight, .offset = TESELA_ARENA_FREE};
}

/* Numbers of the facts that follow from the plan. */
static void facts_agree(const char *name, int32_t n, const tesela_arena_buffer *made,
                        const tesela_arena_buffer *plan, const tesela_arena_facts *facts) {
  int64_t kept = 0, spilled = 0, count = 0;
  for (int32_t i = 0; i < n; i++) {
    bool out = plan[i].offset == TESELA_ARENA_SPILLED;
    if (made[i].offset >= 0) assert_false(out);
    kept += out ? 0 : plan[i].weight;
    spilled += out ? plan[i].size : 0;
    count += out;
  }
  AGREE(name, facts->kept_weight, kept);
  AGREE(name, facts->spilled, spilled);
  AGREE(name, facts->n_spilled, count);
  AGREE(name, facts->peak, arena_peak(n, plan));
  AGREE(name, facts->live, arena_live(n, plan));
  AGREE(name, facts->first_fit, arena_first_fit(n, made));
}

/* No buffer that was left out fits into a gap of the plan. */
static void nothing_more_fits(const char *name, int32_t n, const tesela_arena_buffer *plan,
                              int64_t capacity) {
  static int64_t place[ARENA_MOST];
  for (int32_t i = 0; i < n; i++) place[i] = plan[i].offset;
  for (int32_t i = 0; i < n; i++)
    if (plan[i].offset == TESELA_ARENA_SPILLED && arena_lowest(n, plan, place, i) + plan[i].size <= capacity)
      fail_msg("%s: buffer %d would fit", name, (int)i);
}

static void by_hand(void **state) {
  (void)state;
  tesela_arena_buffer b[] = {weighing(0, 9, 6, 5), weighing(0, 9, 5, 4), weighing(0, 9, 5, 4),
                             weighing(3, 4, 99, 50)};
  tesela_arena_options options = {.capacity = 10, .spill = true};
  tesela_arena_facts facts;
  OK(tesela_arena_plan(4, b, &options, &facts, &e_));
  AGREE("heaviest", b[0].offset, TESELA_ARENA_SPILLED);
  AGREE("the two others", b[1].offset + b[2].offset, 5);
  AGREE("too large", b[3].offset, TESELA_ARENA_SPILLED);
  AGREE("kept", facts.kept_weight, 8);
  AGREE("left out", facts.n_spilled, 2);
  AGREE("bytes left out", facts.spilled, 105);
  AGREE("total", facts.total, 115);
  assert_true(facts.proven);
  options.capacity = 115; /* all fit: nothing is left out, even if it weighs nothing */
  for (int i = 0; i < 4; i++) b[i].offset = TESELA_ARENA_FREE, b[i].weight = 0;
  OK(tesela_arena_plan(4, b, &options, &facts, &e_));
  AGREE("left out", facts.n_spilled, 0);
  assert_true(facts.proven && facts.peak == 115);
  options.capacity = 0; /* as large as need be */
  for (int i = 0; i < 4; i++) b[i].offset = TESELA_ARENA_FREE;
  OK(tesela_arena_plan(4, b, &options, &facts, &e_));
  AGREE("left out", facts.n_spilled, 0);
  options.capacity = 3; /* nothing fits */
  for (int i = 0; i < 4; i++) b[i].offset = TESELA_ARENA_FREE;
  OK(tesela_arena_plan(4, b, &options, &facts, &e_));
  AGREE("left out", facts.n_spilled, 4);
  AGREE("peak", facts.peak + facts.live + facts.bound, 0);
  assert_true(facts.proven);
  b[0].offset = 0; /* fixed beyond the capacity */
  AGREE("fixed", tesela_arena_plan(4, b, &options, &facts, NULL), TESELA_E_INVALID);
  OK(tesela_arena_plan(0, NULL, &options, &facts, &e_));
  assert_true(facts.proven);
}

/* The most weight of a subset whose least peak is within the capacity; fixed ones are in every subset. */
static int64_t most_weight(int32_t n, const tesela_arena_buffer *b, int64_t capacity) {
  int64_t most = -1;
  for (unsigned keep = 0; keep < 1u << n; keep++) {
    tesela_arena_buffer some[10];
    int64_t weight = 0;
    int32_t m = 0;
    for (int32_t i = 0; i < n; i++) {
      bool empty = b[i].size == 0 || b[i].lower == b[i].upper;
      if (!(keep >> i & 1u) && b[i].offset < 0 && !empty) continue;
      some[m++] = b[i];
      weight += b[i].weight;
    }
    if (weight > most && arena_least_peak(m, some, (1u << m) - 1) <= capacity) most = weight;
  }
  return most;
}

static void against_all_subsets(void **state) {
  (void)state;
  uint64_t seed = first_seed();
  int32_t some = 0;
  for (uint64_t k = 0; k < 1500; k++) {
    tesela_arena_buffer made[10], b[10];
    uint64_t random = seed + k;
    int32_t n = 1 + (int32_t)(k % (k < 1200 ? 6 : 7));
    char name[64];
    arena_make(&random, n, 3 + (int64_t)(k % 6), 6, (int)(k / 7 % 8), made);
    int64_t capacity = 1 + arena_random(&random, 14);
    for (int32_t i = 0; i < n; i++)
      if (made[i].offset >= 0 && made[i].offset + made[i].size > capacity)
        capacity = made[i].offset + made[i].size;
    snprintf(name, sizeof name, "TESELA_SEED=%" PRIu64 " n %d", seed + k, (int)n);
    memcpy(b, made, sizeof b);
    tesela_arena_facts facts = {.peak = 0};
    tesela_arena_options options = {.capacity = capacity, .spill = true};
    OK(tesela_arena_plan(n, b, &options, &facts, &e_));
    arena_must_hold(n, made, b, capacity);
    OK(tesela_arena_check(n, b, capacity, NULL, &e_));
    facts_agree(name, n, made, b, &facts);
    nothing_more_fits(name, n, b, capacity);
    AGREE(name, facts.kept_weight, most_weight(n, made, capacity));
    AGREE(name, facts.proven, true);
    some += facts.n_spilled > 0;
  }
  assert_true(some > 300);
}

/* Larger ones: the plan holds, it is not worse than leaving out what the naive planner has no room for, and not changed by time. */
static void larger_ones(void **state) {
  (void)state;
  static tesela_arena_buffer made[ARENA_MOST], b[ARENA_MOST], again[ARENA_MOST];
  uint64_t seed = first_seed();
  for (uint64_t k = 0; k < 24; k++) {
    uint64_t random = seed + k;
    int32_t n = 30 + (int32_t)arena_random(&random, 300);
    char name[64];
    snprintf(name, sizeof name, "TESELA_SEED=%" PRIu64 " n %d", seed + k, (int)n);
    arena_make(&random, n, 200, 1000, k % 2 ? ARENA_ALIGNED : ARENA_ODD, made);
    tesela_arena_options options = {
        .capacity = 3000 + arena_random(&random, 20000), .spill = true, .effort = 20000};
    tesela_arena_facts facts, naive;
    memcpy(b, made, sizeof b);
    memcpy(again, made, sizeof b);
    OK(tesela_arena_plan(n, b, &options, &facts, &e_));
    arena_must_hold(n, made, b, options.capacity);
    facts_agree(name, n, made, b, &facts);
    nothing_more_fits(name, n, b, options.capacity);
    OK(tesela_arena_plan(n, again, &options, &naive, &e_));
    assert_memory_equal(b, again, sizeof b);
    memcpy(again, made, sizeof b);
    options.first_fit = true;
    OK(tesela_arena_plan(n, again, &options, &naive, &e_));
    arena_must_hold(n, made, again, options.capacity);
    facts_agree(name, n, made, again, &naive);
    assert_true(facts.kept_weight >= naive.kept_weight);
  }
}

static void every_allocation_fails_once(void **state) {
  (void)state;
  tesela_arena_buffer made[30], b[30];
  uint64_t random = 3;
  fault f = {.countdown = 0};
  tesela_allocator allocator = fault_allocator(&f);
  tesela_arena_options options = {.capacity = 25, .spill = true, .effort = 300, .allocator = &allocator};
  arena_make(&random, 30, 12, 9, ARENA_ALIGNED, made);
  long count = 0;
  for (tesela_status status = TESELA_E_MEMORY; status == TESELA_E_MEMORY; count++) {
    f.countdown = count;
    memcpy(b, made, sizeof b);
    tesela_arena_facts facts = {.peak = 77};
    status = tesela_arena_plan(30, b, &options, &facts, NULL);
    AGREE("live", f.live, 0);
    assert_true(status == TESELA_E_MEMORY || status == TESELA_OK);
    if (status == TESELA_E_MEMORY) assert_memory_equal(b, made, sizeof b);
    if (status == TESELA_E_MEMORY) AGREE("facts", facts.peak, 77);
  }
  assert_true(count > 30);
  arena_must_hold(30, made, b, 25);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(by_hand),
      cmocka_unit_test(against_all_subsets),
      cmocka_unit_test(larger_ones),
      cmocka_unit_test(every_allocation_fails_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
