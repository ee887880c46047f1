/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_arena.c - offsets in an arena: checked by the definition, least peaks by all orders, bounds, refusals, faults.
 *
 * Expected peaks come from support_arena.c (every order of placing), from rectangles that were cut into buffers, or by hand.
 * TESELA_SEED sets the seed.
 */
#include "support_arena.h"
#include "support_fault.h"
#include "support_seed.h"

static tesela_arena_buffer buffer(int64_t lower, int64_t upper, int64_t size) {
  return (tesela_arena_buffer){.lower = lower, .upper = upper, .size = size, .offset = TESELA_ARENA_FREE};
}

/* ---- by hand ----------------------------------------------------------------------------------------------- */

static void the_example_of_the_header(void **state) {
  (void)state;
  tesela_arena_buffer b[] = {buffer(0, 3, 4), buffer(1, 5, 2), buffer(3, 6, 4)};
  tesela_arena_facts facts;
  OK(tesela_arena_plan(3, b, NULL, &facts, &e_));
  AGREE("a", b[0].offset, 0);
  AGREE("b", b[1].offset, 4);
  AGREE("c", b[2].offset, 0);
  AGREE("peak", facts.peak, 6);
  AGREE("bound", facts.bound, 6);
  AGREE("live", facts.live, 6);
  AGREE("total", facts.total, 10);
  AGREE("first fit", facts.first_fit, 6);
  AGREE("spilled", facts.n_spilled + facts.spilled, 0);
  assert_true(facts.proven);
  assert_true(tesela_arena_fragmentation(&facts) == 0.0);
  facts = (tesela_arena_facts){.peak = 1280, .live = 1024};
  assert_true(tesela_arena_fragmentation(&facts) == 1.0 - 1024.0 / 1280.0);
  facts = (tesela_arena_facts){.peak = 0};
  assert_true(tesela_arena_fragmentation(&facts) == 0.0);
}

static void nothing_and_one(void **state) {
  (void)state;
  tesela_arena_facts facts = {.peak = 9};
  OK(tesela_arena_plan(0, NULL, NULL, &facts, &e_));
  AGREE("peak of none", facts.peak + facts.bound + facts.live + facts.total + facts.first_fit, 0);
  assert_true(facts.proven);
  OK(tesela_arena_check(0, NULL, 0, NULL, &e_));
  tesela_arena_buffer b = buffer(-5, 7, INT64_C(1) << 61);
  b.alignment = 4096;
  OK(tesela_arena_plan(1, &b, NULL, &facts, &e_));
  AGREE("one at", b.offset, 0);
  AGREE("its peak", facts.peak, INT64_C(1) << 61);
  b = buffer(INT64_MIN, INT64_MAX, 1);
  OK(tesela_arena_plan(1, &b, NULL, NULL, NULL));
  AGREE("all of time", b.offset, 0);
  tesela_arena_buffer none[] = {buffer(3, 3, 100), buffer(0, 9, 0), buffer(2, 4, 7)};
  none[0].offset = 30;
  none[1].offset = TESELA_ARENA_SPILLED; /* as good as free */
  OK(tesela_arena_plan(3, none, NULL, &facts, &e_));
  AGREE("fixed, never alive", none[0].offset, 30);
  AGREE("without bytes", none[1].offset, 0);
  AGREE("peak", facts.peak, 7);
}

/* In the order of time b gets offset 1, and the gap below it is too small for c and d. With b at 0 nothing is lost. */
static void the_naive_planner_is_worse(void **state) {
  (void)state;
  const tesela_arena_buffer made[] = {buffer(0, 2, 1), buffer(0, 4, 1), buffer(2, 6, 2), buffer(3, 6, 2)};
  tesela_arena_buffer b[4];
  tesela_arena_options options = {.first_fit = true};
  tesela_arena_facts facts;
  memcpy(b, made, sizeof b);
  OK(tesela_arena_plan(4, b, &options, &facts, &e_));
  AGREE("naive", facts.peak, 6);
  AGREE("c above b", b[2].offset, 2);
  AGREE("d above c", b[3].offset, 4);
  options.first_fit = false;
  memcpy(b, made, sizeof b);
  OK(tesela_arena_plan(4, b, &options, &facts, &e_));
  AGREE("best", facts.peak, 5);
  AGREE("first fit", facts.first_fit, 6);
  assert_true(facts.proven);
  arena_must_hold(4, made, b, 5);
}

static void fixed_and_aligned(void **state) {
  (void)state;
  tesela_arena_buffer b[] = {buffer(0, 4, 10), buffer(2, 8, 6), buffer(3, 9, 5)};
  tesela_arena_facts facts;
  b[0].offset = 8; /* 8 to 18; below it there is room for one, and the third one fits only there or at 32 */
  b[2].alignment = 16;
  OK(tesela_arena_plan(3, b, NULL, &facts, &e_));
  AGREE("fixed stays", b[0].offset, 8);
  AGREE("above it", b[1].offset, 18);
  AGREE("aligned below it", b[2].offset, 0);
  AGREE("peak", facts.peak, 24);
  AGREE("live", facts.live, 21);
  assert_true(facts.proven);
}

/* Buffers of 8 side by side, every other one soon gone; in the middle of each of these holes a fixed one begins to live later. So what
 * lives across its beginning fits in no hole and lies above all, however many holes and fixed ones there are. */
static void many_holes_with_fixed_ones_in_them(void **state) {
  (void)state;
  enum { MANY = 2000 };
  static tesela_arena_buffer b[2 * MANY + MANY / 2];
  for (int32_t i = 0; i < MANY; i++) {
    b[i] = buffer(0, i % 2 ? 100 : 5, 8);
    b[MANY + i] = buffer(10, 60, 8);
    if (i % 2) continue;
    b[2 * MANY + i / 2] = buffer(50, 200, 2);
    b[2 * MANY + i / 2].offset = 8 * i + 3;
  }
  tesela_arena_facts facts;
  tesela_arena_options options = {.first_fit = true};
  OK(tesela_arena_plan(2 * MANY + MANY / 2, b, &options, &facts, &e_));
  AGREE("peak", facts.peak, 16 * MANY);
  AGREE("first fit", facts.first_fit, 16 * MANY);
}

/* ---- refusals ---------------------------------------------------------------------------------------------- */

static void refuses(const char *name, int32_t n, const tesela_arena_buffer *made,
                    const tesela_arena_options *options, tesela_status want, const char *says) {
  tesela_arena_buffer b[4];
  tesela_error err = {.message = ""};
  tesela_arena_facts facts = {.peak = 77};
  if (n > 0) memcpy(b, made, (size_t)n * sizeof *b);
  tesela_status status = tesela_arena_plan(n, b, options, &facts, &err);
  AGREE(name, status, want);
  AGREE(name, err.status, want);
  if (!strstr(err.message, says)) fail_msg("%s: `%s` does not say `%s`", name, err.message, says);
  AGREE(name, facts.peak, 77);
  if (n > 0) assert_memory_equal(b, made, (size_t)n * sizeof *b);
  AGREE(name, tesela_arena_plan(n, b, options, NULL, NULL), want);
}

static void out_of_range(void **state) {
  (void)state;
  const tesela_arena_options none = {.capacity = 0}, low = {.capacity = -1}, lazy = {.effort = -1};
  tesela_arena_buffer b[2] = {buffer(0, 1, 1), buffer(0, 1, 1)};
  refuses("n", -1, b, &none, TESELA_E_RANGE, "n is -1");
  refuses("many", 0, b, &low, TESELA_E_RANGE, "capacity is -1");
  refuses("effort", 2, b, &lazy, TESELA_E_RANGE, "effort is -1");
  AGREE("n", tesela_arena_plan((1 << 20) + 1, b, NULL, NULL, NULL), TESELA_E_RANGE);
  b[1].size = -1;
  refuses("size", 2, b, &none, TESELA_E_RANGE, "size of buffer 1 is -1");
  b[1] = buffer(0, 1, 1);
  b[1].alignment = -8;
  refuses("alignment", 2, b, &none, TESELA_E_RANGE, "alignment of buffer 1 is -8");
  b[1] = buffer(0, 1, 1);
  b[1].weight = -2;
  refuses("weight", 2, b, &none, TESELA_E_RANGE, "weight of buffer 1 is -2");
  b[1] = buffer(5, 4, 1);
  memcpy(b[1].id, "conv", 5);
  refuses("life", 2, b, &none, TESELA_E_RANGE, "buffer 1 (conv) lives from 5 to 4");
  memset(b[1].id, 'x', sizeof b[1].id); /* without a NUL */
  refuses("id", 2, b, &none, TESELA_E_RANGE, "buffer 1 (xxxx");
  b[1] = buffer(0, 1, 1);
  b[1].offset = -3;
  refuses("offset", 2, b, &none, TESELA_E_RANGE, "offset of buffer 1 is -3");
}

static void contradictions(void **state) {
  (void)state;
  const tesela_arena_options none = {.capacity = 0}, ten = {.capacity = 10};
  tesela_arena_buffer b[2] = {buffer(0, 4, 6), buffer(3, 5, 6)};
  b[0].offset = 0;
  b[1].offset = 5;
  refuses("overlap", 2, b, &none, TESELA_E_INVALID, "overlap at step 3");
  b[1].offset = 6;
  refuses("beyond", 2, b, &ten, TESELA_E_INVALID, "ends at 12; the capacity is 10");
  b[1].alignment = 4;
  refuses("unaligned", 2, b, &none, TESELA_E_INVALID, "not a multiple of its alignment 4");
  b[1] = buffer(4, 5, 6); /* begins where the other ends */
  b[1].offset = 5;
  OK(tesela_arena_plan(2, b, &none, NULL, &e_));
}

static void sums_that_overflow(void **state) {
  (void)state;
  const tesela_arena_options none = {.capacity = 0};
  const int64_t big = INT64_C(1) << 61;
  tesela_arena_buffer b[4] = {buffer(0, 1, big), buffer(5, 6, big), buffer(0, 1, 1), buffer(0, 1, 1)};
  refuses("sizes", 2, b, &none, TESELA_E_OVERFLOW, "2^62");
  b[1].size = big - 1;
  OK(tesela_arena_plan(2, b, &none, NULL, &e_));
  AGREE("both at 0", b[0].offset + b[1].offset, 0);
  b[0] = buffer(0, 1, INT64_MAX);
  refuses("one", 1, b, &none, TESELA_E_OVERFLOW, "2^62");
  b[0] = buffer(0, 1, 1);
  b[0].alignment = INT64_MAX;
  refuses("alignment", 1, b, &none, TESELA_E_OVERFLOW, "2^62");
  b[0].alignment = 0;
  b[0].offset = INT64_MAX - 1;
  refuses("fixed", 1, b, &none, TESELA_E_OVERFLOW, "2^62");
  b[0].offset = INT64_MAX;
  refuses("fixed at the end", 1, b, &none, TESELA_E_INVALID, "beyond 64 bits");
  b[2].weight = b[3].weight = big;
  refuses("weights", 2, b + 2, &none, TESELA_E_OVERFLOW, "2^62");
}

static void no_plan_within_the_capacity(void **state) {
  (void)state;
  static tesela_arena_buffer b[300], made[300];
  tesela_arena_options options = {.capacity = 5};
  const tesela_arena_buffer three[] = {buffer(0, 3, 4), buffer(1, 5, 2), buffer(3, 6, 4)};
  refuses("bound", 3, three, &options, TESELA_E_LIMIT, "every plan needs at least 6");
  /* live 3 everywhere, and yet no plan of 3: by all orders the least peak is 4 */
  const tesela_arena_buffer four[] = {buffer(0, 2, 1), buffer(1, 4, 1), buffer(1, 3, 1), buffer(3, 5, 2)};
  options.capacity = arena_least_peak(4, four, 15) - 1;
  refuses("searched", 4, four, &options, TESELA_E_LIMIT, "no plan fits");
  uint64_t random = 7;
  arena_cut(&random, 300, 200, 1 << 20, made);
  memcpy(b, made, sizeof b);
  options = (tesela_arena_options){.capacity = 1 << 20, .effort = 1};
  tesela_error err;
  AGREE("effort", tesela_arena_plan(300, b, &options, NULL, &err), TESELA_E_LIMIT);
  if (!strstr(err.message, "the search ended")) fail_msg("%s", err.message);
  assert_memory_equal(b, made, sizeof b);
}

/* ---- random problems --------------------------------------------------------------------------------------- */

static void agree_with_all_orders(uint64_t seed, int32_t n, int64_t steps, int64_t most, int kinds) {
  tesela_arena_buffer made[10], b[10];
  uint64_t random = seed;
  arena_make(&random, n, steps, most, kinds, made);
  int64_t least = arena_least_peak(n, made, (1u << n) - 1);
  tesela_arena_facts facts = {.peak = 0};
  tesela_arena_options options = {.capacity = 0};
  char name[64];
  snprintf(name, sizeof name, "TESELA_SEED=%" PRIu64 " n %d kinds %d", seed, (int)n, kinds);
  memcpy(b, made, sizeof b);
  OK(tesela_arena_plan(n, b, &options, &facts, &e_));
  arena_must_hold(n, made, b, 0);
  AGREE(name, facts.peak, least);
  AGREE(name, arena_peak(n, b), least);
  AGREE(name, facts.bound, least);
  AGREE(name, facts.proven, true);
  AGREE(name, facts.live, arena_live(n, b));
  AGREE(name, facts.first_fit, arena_first_fit(n, made));
  OK(tesela_arena_check(n, b, least, NULL, &e_));
  options.capacity = least;
  memcpy(b, made, sizeof b);
  OK(tesela_arena_plan(n, b, &options, &facts, &e_)); /* 0, where nothing takes up bytes: any */
  arena_must_hold(n, made, b, least);
  options.capacity = least - 1;
  memcpy(b, made, sizeof b);
  if (least > 1) {
    tesela_status status = tesela_arena_plan(n, b, &options, NULL, NULL);
    if (status != TESELA_E_INVALID)
      AGREE(name, status, TESELA_E_LIMIT); /* INVALID: a fixed one makes the peak */
    assert_memory_equal(b, made, (size_t)n * sizeof *b);
  }
}

static void the_least_peak_of_small_problems(void **state) {
  (void)state;
  uint64_t seed = first_seed();
  for (uint64_t k = 0; k < 8000; k++)
    agree_with_all_orders(seed + k, 1 + (int32_t)(k % 6), 3 + (int64_t)(k % 8), k % 3 ? 6 : 100,
                          (int)(k / 7 % 8));
  for (uint64_t k = 0; k < 300; k++)
    agree_with_all_orders(seed + k, 7, 3 + (int64_t)(k % 8), k % 3 ? 6 : 100, (int)(k / 3 % 8));
  for (uint64_t k = 0; k < 6; k++) agree_with_all_orders(seed + k, 8, 9, 7, (int)(k % 4));
  agree_with_all_orders(101523, 6, 7, 100, ARENA_ALIGNED); /* one buffer rests on another of its section */
}

static void plans_of_larger_problems_hold(void **state) {
  (void)state;
  static tesela_arena_buffer made[ARENA_MOST], b[ARENA_MOST], again[ARENA_MOST];
  uint64_t seed = first_seed();
  for (uint64_t k = 0; k < 60; k++) {
    uint64_t random = seed + k;
    int32_t n = 20 + (int32_t)arena_random(&random, k < 50 ? 60 : 400);
    tesela_arena_options options = {.effort = 20000};
    tesela_arena_facts facts, same;
    arena_make(&random, n, 5 + arena_random(&random, 300), k % 2 ? 1 << 30 : 50, (int)(k % 8), made);
    memcpy(b, made, sizeof b);
    memcpy(again, made, sizeof b);
    OK(tesela_arena_plan(n, b, &options, &facts, &e_));
    arena_must_hold(n, made, b, facts.peak);
    OK(tesela_arena_check(n, b, facts.peak, NULL, &e_));
    AGREE("peak", facts.peak, arena_peak(n, b));
    AGREE("live", facts.live, arena_live(n, b));
    AGREE("first fit", facts.first_fit, arena_first_fit(n, made));
    assert_true(facts.live <= facts.bound && facts.bound <= facts.peak && facts.peak <= facts.first_fit);
    assert_true(facts.proven == (facts.peak == facts.bound));
    OK(tesela_arena_plan(n, again, &options, &same, &e_));
    assert_memory_equal(b, again, sizeof b);
    assert_true(arena_same_facts(&facts, &same));
  }
}

/* A rectangle cut into buffers: the peak can be its height, and never less. */
static void cut_rectangles(void **state) {
  (void)state;
  static tesela_arena_buffer made[ARENA_MOST], b[ARENA_MOST];
  uint64_t seed = first_seed();
  for (uint64_t k = 0; k < 40; k++) {
    uint64_t random = seed + k;
    int32_t n = 2 + (int32_t)(k * k / 12);
    tesela_arena_facts facts;
    arena_cut(&random, n, 50, 1000, made);
    memcpy(b, made, sizeof b);
    OK(tesela_arena_plan(n, b, &(tesela_arena_options){.effort = 200000}, &facts, &e_));
    arena_must_hold(n, made, b, facts.peak);
    AGREE("live", facts.live, 1000);
    AGREE("bound", facts.bound, 1000);
    if (n <= 40) AGREE("peak", facts.peak, 1000);
    assert_true(facts.peak < 1150);
  }
}

/* ---- the check --------------------------------------------------------------------------------------------- */

static void the_check_finds_what_the_definition_finds(void **state) {
  (void)state;
  uint64_t seed = first_seed();
  int found = 0;
  for (uint64_t k = 0; k < 4000; k++) {
    tesela_arena_buffer b[12];
    uint64_t random = seed + k;
    int32_t n = 1 + (int32_t)arena_random(&random, 12);
    bool good = true;
    arena_make(&random, n, 12, 6, ARENA_ODD, b);
    for (int32_t i = 0; i < n; i++) b[i].offset = arena_random(&random, 40);
    for (int32_t i = 0; i < n; i++)
      for (int32_t j = 0; j < i; j++)
        good = good && !(arena_meet(&b[i], &b[j]) && b[i].offset < b[j].offset + b[j].size &&
                         b[j].offset < b[i].offset + b[i].size);
    tesela_error err;
    AGREE("check", tesela_arena_check(n, b, 0, NULL, &err), good ? TESELA_OK : TESELA_E_INVALID);
    found += !good;
  }
  assert_true(found > 400 && found < 3600);
}

static void planted_faults(void **state) {
  (void)state;
  tesela_arena_buffer b[] = {buffer(0, 3, 4), buffer(1, 5, 2), buffer(3, 6, 4), buffer(9, 9, 5)};
  tesela_error err;
  OK(tesela_arena_plan(4, b, NULL, NULL, &e_));
  OK(tesela_arena_check(4, b, 6, NULL, &e_));
  AGREE("capacity", tesela_arena_check(4, b, 5, NULL, &err), TESELA_E_INVALID);
  assert_non_null(strstr(err.message, "buffer 1 at 4 ends at 6; the capacity is 5"));
  b[1].offset = 3;
  AGREE("overlap", tesela_arena_check(4, b, 0, NULL, &err), TESELA_E_INVALID);
  assert_non_null(strstr(err.message, "buffers 0 at 0 of 4 and 1 at 3 of 2 overlap at step 1"));
  b[1].offset = TESELA_ARENA_SPILLED;
  OK(tesela_arena_check(4, b, 0, NULL, &e_));
  b[1].offset = TESELA_ARENA_FREE;
  AGREE("no place", tesela_arena_check(4, b, 0, NULL, &err), TESELA_E_INVALID);
  assert_non_null(strstr(err.message, "buffer 1 has no place"));
  b[1].offset = 6;
  b[1].alignment = 4;
  AGREE("unaligned", tesela_arena_check(4, b, 0, NULL, &err), TESELA_E_INVALID);
  b[1].offset = INT64_MAX - 3;
  b[1].size = 4;
  AGREE("too far", tesela_arena_check(4, b, 0, NULL, &err), TESELA_E_INVALID);
  AGREE("n", tesela_arena_check(-1, b, 0, NULL, NULL), TESELA_E_RANGE);
  AGREE("capacity", tesela_arena_check(4, b, -1, NULL, NULL), TESELA_E_RANGE);
  b[1] = buffer(5, 1, 2);
  AGREE("life", tesela_arena_check(4, b, 0, NULL, NULL), TESELA_E_RANGE);
}

/* ---- memory, size ------------------------------------------------------------------------------------------ */

/* Each allocation fails once: nothing is left, nothing has changed. */
static void every_allocation_fails_once(void **state) {
  (void)state;
  for (int kind = 0; kind < 3; kind++) {
    tesela_arena_buffer made[60], b[60];
    uint64_t random = 5;
    int32_t n = kind == 2 ? 8 : 60;
    fault f = {.countdown = 0};
    tesela_allocator allocator = fault_allocator(&f);
    tesela_arena_options options = {.effort = 5000, .allocator = &allocator};
    if (kind == 2) options.capacity = 9, options.spill = true;
    arena_make(&random, n, 20, kind == 2 ? 6 : 1000, kind ? ARENA_ALIGNED : 0, made);
    if (kind == 1) made[0].offset = 0;
    long count = 0;
    for (tesela_status status = TESELA_E_MEMORY; status == TESELA_E_MEMORY; count++) {
      tesela_arena_facts facts = {.peak = 77};
      f.countdown = count;
      memcpy(b, made, sizeof b);
      status = tesela_arena_plan(n, b, &options, &facts, NULL);
      AGREE("live", f.live, 0);
      assert_true(status == TESELA_E_MEMORY || status == TESELA_OK);
      if (status == TESELA_E_MEMORY) assert_memory_equal(b, made, (size_t)n * sizeof *b);
      if (status == TESELA_E_MEMORY) AGREE("facts", facts.peak, 77);
      assert_true(count < 10000);
    }
    assert_true(count > 15);
    arena_must_hold(n, made, b, options.capacity);
    count = 0;
    for (tesela_status status = TESELA_E_MEMORY; status != TESELA_OK; count++) {
      f.countdown = count;
      status = tesela_arena_check(n, b, 0, &allocator, NULL);
      AGREE("live", f.live, 0);
    }
    AGREE("allocations of a check", count, 4);
  }
}

/* 2^20 buffers that live one step each, or all at once: nothing quadratic. */
static void a_million_buffers(void **state) {
  (void)state;
  const int32_t n = 1 << 20;
  tesela_arena_buffer *b = malloc((size_t)n * sizeof *b);
  tesela_arena_facts facts;
  assert_non_null(b);
  for (int kind = 0; kind < 2; kind++) {
    for (int32_t i = 0; i < n; i++) b[i] = kind ? buffer(0, 9, 1 + i % 7) : buffer(i, i + 2, 1 + i % 5);
    OK(tesela_arena_plan(n, b, &(tesela_arena_options){.first_fit = kind == 0}, &facts, &e_));
    assert_true(facts.peak >= facts.live && facts.peak <= facts.first_fit);
    AGREE("live", facts.live, kind ? (int64_t)n / 7 * 28 + n % 7 * (n % 7 + 1) / 2 : 9);
    OK(tesela_arena_check(n, b, facts.peak, NULL, &e_));
  }
  free(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_example_of_the_header),
      cmocka_unit_test(nothing_and_one),
      cmocka_unit_test(the_naive_planner_is_worse),
      cmocka_unit_test(fixed_and_aligned),
      cmocka_unit_test(many_holes_with_fixed_ones_in_them),
      cmocka_unit_test(out_of_range),
      cmocka_unit_test(contradictions),
      cmocka_unit_test(sums_that_overflow),
      cmocka_unit_test(no_plan_within_the_capacity),
      cmocka_unit_test(the_least_peak_of_small_problems),
      cmocka_unit_test(plans_of_larger_problems_hold),
      cmocka_unit_test(cut_rectangles),
      cmocka_unit_test(the_check_finds_what_the_definition_finds),
      cmocka_unit_test(planted_faults),
      cmocka_unit_test(every_allocation_fails_once),
      cmocka_unit_test(a_million_buffers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
