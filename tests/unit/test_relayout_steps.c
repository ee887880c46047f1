/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_relayout_steps.c - copies between tiles whose steps do not nest, against the definition.
 *
 * Tiles of both sides, their second level, the order of their dims, extents, widths, fills, views with margins and ways to run are drawn
 * at random; with `shuffle` also the lengths of stretches and groups, and whether these are assembled in a buffer. One pair is large
 * enough to be planned so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support_relayout.h"
#include "support_seed.h"

enum { STEPS_TEXT = 200 };

static int64_t below(uint64_t *state, int64_t n) { return (int64_t)(mixed(state) % (uint64_t)n); }

/* One side of the last two dims in tiles of a x b, or with these swapped; the others before, in order or after the tiles of one dim. */
static void steps_side(uint64_t *state, int32_t rank, char text[STEPS_TEXT]) {
  static const int64_t rows[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 32},
                       cols[] = {1, 3, 4, 7, 8, 16, 20, 30, 48, 50, 64, 100, 128};
  const int64_t a = rows[below(state, 14)], b = cols[below(state, 13)];
  const int64_t k = a % 4 == 0 && below(state, 3) == 0 ? 2 << below(state, 2) : 1;
  const bool swapped = below(state, 3) == 0, second = a > 1 && below(state, 4) == 0;
  const int row = rank - (swapped ? 1 : 2), col = rank - (swapped ? 2 : 1);
  size_t n = 0;
  text[0] = '\0';
  if (second) n += (size_t)snprintf(text + n, STEPS_TEXT - n, "%d/%d ", row, (int)a);
  for (int d = 0; d < rank - 2; d++) n += (size_t)snprintf(text + n, STEPS_TEXT - n, "%d ", d);
  if (!second && a > 1) n += (size_t)snprintf(text + n, STEPS_TEXT - n, "%d/%d ", row, (int)a);
  if (b > 1) n += (size_t)snprintf(text + n, STEPS_TEXT - n, "%d/%d ", col, (int)b);
  if (k > 1 && k < a) n += (size_t)snprintf(text + n, STEPS_TEXT - n, "%d/%d ", row, (int)k);
  if (k > 1) n += (size_t)snprintf(text + n, STEPS_TEXT - n, "%d %d", col, row);
  if (k == 1) n += (size_t)snprintf(text + n, STEPS_TEXT - n, "%d %d", row, col);
  if (below(state, 6) == 0) snprintf(text + n, STEPS_TEXT - n, " +%d", (int)below(state, 70) + 1);
}

/* True, and a pair. */
static bool steps_pair(uint64_t *state, int64_t most, pair *p) {
  static const int32_t widths[] = {8, 8, 16, 16, 32, 32, 64, 128, 4, 1};
  char dst[STEPS_TEXT], src[STEPS_TEXT];
  const int32_t bits = widths[below(state, 10)], rank = 2 + (int32_t)below(state, 3);
  int64_t shape[4], elements = 1;
  for (int32_t d = 0; d < rank; d++) {
    shape[d] = 1 + below(state, d < rank - 2 ? 6 : below(state, 3) == 0 ? 20 : 400);
    elements *= shape[d];
  }
  if (elements > most) return false;
  steps_side(state, rank, dst);
  steps_side(state, rank, src);
  *p = (pair){.fill = (tesela_fill)below(state, 3)};
  for (size_t i = 0; i < sizeof p->fill_value; i++) p->fill_value[i] = (uint8_t)mixed(state);
  return layout_of_digits(&p->dst, TESELA_DTYPE_NONE, bits, rank, shape, dst) &&
         layout_of_digits(&p->src, TESELA_DTYPE_NONE, bits, rank, shape, src);
}

static void check(const bench *b, const trial *t, tesela_plan_info *used) {
  char reason[REASON], what[PAIR_TEXT], how[PAIR_TEXT];
  if (run_bench(b, t, used, reason)) return;
  pair_text(&b->p, what);
  trial_text(t, how);
  fail_msg("%s\n%s\n%s", what, how, reason);
}

static void test_random_tiles(void **state) {
  (void)state;
  uint64_t random = first_seed() + 77;
  int gathered = 0, staged = 0;
  for (int i = 0; i < (slow_run() ? 60 : 700); i++) {
    pair p;
    bench b;
    tesela_plan_info used;
    if (!steps_pair(&random, 60000, &p)) continue;
    assert_true(make_bench(&b, &p, mixed(&random)));
    for (int k = 0; k < 6; k++) {
      trial t;
      draw_trial(&random, &t);
      t.options.threads = 1 + (int32_t)below(&random, 4);
      if (k % 2 == 0) t.options.solver = TESELA_SOLVER_GATHER;
      check(&b, &t, &used);
      gathered += used.solver == TESELA_SOLVER_GATHER;
      staged += used.solver == TESELA_SOLVER_GATHER && used.scratch_bytes > 0;
    }
    free_bench(&b);
  }
  assert_true(gathered > 50 && staged > 20);
}

/* Longer than the cache share of a process, so that lines go past it; two threads have parts of the groups. */
static void test_large_tiles(void **state) {
  (void)state;
  static const struct {
    const char *dst, *src;
    int32_t bits;
    int64_t shape[2];
  } larges[] = {{"0/8 1/128 0 1", "0/6 1/100 0 1", 32, {1003, 2510}},
                {"1/8 0/48 1 0 +5", "0/9 1/50 0 1 +3", 16, {2011, 2500}},
                {"0/16 1/128 0/4 1 0", "0/6 1/30 0 1 +1", 8, {3001, 3333}},
                {"0 1/100 1", "0/8 1/128 0/2 1 0", 64, {20011, 64}},
                {"0/6 1/100 0 1", "0/4 1/4 0/2 1 0", 16, {2218, 2115}},
                {"0/20 1/120 0 1", "1/16 0/128 1/4 0 1", 8, {3777, 2349}},
                {"1/16 0/128 1/4 0 1", "0/8 1/128 0/2 1 0", 8, {3001, 2999}},
                {"0/7 1/30 0 1", "1/4 0/4 1 0 +1", 8, {2503, 3501}},
                {"0 1",
                 "0/32 1/8 0 1",
                 32,
                 {64, 54400}}}; /* as many runs as tables have, less those at ends of stretches */
  if (slow_run()) return;
  for (size_t i = 0; i < sizeof larges / sizeof larges[0]; i++) {
    pair p = {.fill = TESELA_FILL_VALUE, .fill_value = {1, 2, 3, 4, 5, 6, 7, 8}};
    bench b;
    tesela_plan_info used;
    assert_true(
        layout_of_digits(&p.dst, TESELA_DTYPE_NONE, larges[i].bits, 2, larges[i].shape, larges[i].dst));
    assert_true(
        layout_of_digits(&p.src, TESELA_DTYPE_NONE, larges[i].bits, 2, larges[i].shape, larges[i].src));
    assert_true(make_bench(&b, &p, i));
    for (int isa = TESELA_ISA_BEST; isa <= TESELA_ISA_AVX512; isa++) {
      if (!tesela_isa_available((tesela_isa)isa)) continue;
      const trial t = {.options = {.isa = (tesela_isa)isa, .threads = 2, .solver = TESELA_SOLVER_GATHER},
                       .at_end = isa % 2 == 0,
                       .dst_shift = (uint8_t)(isa * 13 % 64),
                       .src_shift = (uint8_t)(isa * 7 % 64)};
      check(&b, &t, &used);
      assert_true(used.scratch_bytes > 0);
    }
    free_bench(&b);
  }
}

/* Places between the digits of dst are gaps, though they are as many as the padding: 6 of 8 columns are padding, then a gap. */
static void test_gaps(void **state) {
  (void)state;
  static const int64_t shape[] = {16, 2};
  pair p = {.fill = TESELA_FILL_VALUE, .fill_value = {1, 2, 3, 4, 5, 6, 7, 8}};
  bench b;
  tesela_plan_info used;
  assert_true(layout_of_digits(&p.dst, TESELA_DTYPE_NONE, 64, 2, shape, "0/2(9)@18 0/1(2)@9 1/1(8)@1"));
  assert_true(layout_of_digits(&p.src, TESELA_DTYPE_NONE, 64, 2, shape, "0 1"));
  assert_true(make_bench(&b, &p, 1));
  for (uint64_t shuffle = 0; shuffle < 200; shuffle++) {
    const trial t = {.options = {.threads = 1, .solver = TESELA_SOLVER_GATHER, .shuffle = shuffle}};
    check(&b, &t, &used);
  }
  free_bench(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_tiles), cmocka_unit_test(test_large_tiles),
                                     cmocka_unit_test(test_gaps)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
