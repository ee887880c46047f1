/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cute_compose.c - composition of CuTe layouts against an exhaustive search.
 *
 * Whether extents and strides with some values exist is decided by a search over all ordered factorisations of each outer mode, the
 * strides read from the values. It knows nothing of first breaks or floors. Which index contradicts first is the greatest first
 * disagreement over all combinations of factorisations.
 *
 * TESELA_CASES is the number of random compositions up to size 64 and up to size 4096 (default 20000 each).
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tesela/cute.h>

#include "support_cute.h"
#include "support_seed.h"

/* Extents of a factorisation, the first fastest. */
typedef struct factors {
  int n;
  int64_t extent[16];
} factors;

/* The greatest first disagreement of all combinations of factorisations, and what they expect there. */
typedef struct reach {
  int64_t index, expected;
} reach;

static void reach_of(const factors *all, const int64_t *value, int64_t size, reach *best) {
  for (int64_t i = 0; i < size; i++) {
    int64_t sum = value[0], rest = i, weight = 1;
    for (int k = 0; k < all->n; k++) {
      if (rest % all->extent[k] != 0) sum += rest % all->extent[k] * (value[weight] - value[0]);
      rest /= all->extent[k];
      weight *= all->extent[k];
    }
    if (sum == value[i]) continue;
    if (i > best->index) *best = (reach){i, sum};
    if (i == best->index) assert_int_equal(best->expected, sum);
    return;
  }
  fail_msg("a combination agrees everywhere");
}

static void reach_modes(factors *all, const int64_t *value, int64_t size, int modes, const int64_t *mode,
                        int64_t left, reach *best) {
  if (left == 1 && modes == 0) {
    reach_of(all, value, size, best);
  } else if (left == 1) {
    reach_modes(all, value, size, modes - 1, mode + 1, mode[0], best);
  } else {
    for (int64_t f = 2; f <= left; f++)
      if (left % f == 0) {
        all->extent[all->n++] = f;
        reach_modes(all, value, size, modes, mode, left / f, best);
        all->n--;
      }
  }
}

enum {
  CLASS_MODES,
  CLASS_ZERO,
  CLASS_NEGATIVE,
  CLASS_SWIZZLED,
  CLASS_ODD,
  CLASS_TRUNCATED,
  CLASS_BEYOND,
  CLASSES
};
static const char *const class_names[CLASSES] = {"not coalescible", "stride 0",  "negative",  "swizzled",
                                                 "no powers of 2",  "truncated", "B beyond A"};

typedef struct tally {
  int64_t cases, expressible, of[CLASSES][2];
} tally;

static bool is_power(int64_t x) { return (x & (x - 1)) == 0; }

static void count(tally *t, const tesela_cute *a, const tesela_cute *b, bool expressible) {
  bool in[CLASSES] = {false};
  int64_t top = 0, largest = 1, size = cute_size(a);
  tesela_cute flat;
  assert_int_equal(tesela_cute_coalesce(a, 0, &flat, NULL), TESELA_OK);
  in[CLASS_MODES] = flat.n > 1;
  in[CLASS_SWIZZLED] = a->bits > 0;
  for (int k = 0; k < a->n; k++) {
    in[CLASS_ZERO] = in[CLASS_ZERO] || (a->stride[k] == 0 && a->extent[k] > 1);
    in[CLASS_NEGATIVE] = in[CLASS_NEGATIVE] || (a->stride[k] < 0 && a->extent[k] > 1);
    in[CLASS_ODD] = in[CLASS_ODD] || !is_power(a->extent[k]);
  }
  for (int k = 0; k < b->n; k++) {
    in[CLASS_ZERO] = in[CLASS_ZERO] || (b->stride[k] == 0 && b->extent[k] > 1);
    in[CLASS_ODD] = in[CLASS_ODD] || !is_power(b->extent[k]);
    top += (b->extent[k] - 1) * b->stride[k];
    largest *= b->extent[k];
  }
  in[CLASS_BEYOND] = top >= size;
  in[CLASS_TRUNCATED] = top < size && size % (top + 1) != 0;
  t->cases++;
  t->expressible += expressible;
  for (int c = 0; c < CLASSES; c++) t->of[c][expressible] += in[c];
}

static void print(const tally *t, const char *what) {
  char name[100];
  print_message("%s: %" PRId64 " compositions, %.1f %% expressible\n", what, t->cases,
                100.0 * (double)t->expressible / (double)t->cases);
  snprintf(name, sizeof name, "composition %s", what);
  cute_print_cases(t->expressible, name, "expressible");
  cute_print_cases(t->cases - t->expressible, name, "impossible");
  for (int c = 0; c < CLASSES; c++) {
    print_message("  %-16s %9" PRId64 "  %5.1f %% expressible\n", class_names[c], t->of[c][0] + t->of[c][1],
                  100.0 * (double)t->of[c][1] / (double)(t->of[c][0] + t->of[c][1] + 1));
    snprintf(name, sizeof name, "composition %s, %s", what, class_names[c]);
    cute_print_cases(t->of[c][1], name, "expressible");
    cute_print_cases(t->of[c][0], name, "impossible");
  }
}

static void check_composition(const tesela_cute *a, const tesela_cute *b, bool indices, tally *t) {
  static int64_t value[CUTE_MOST];
  int64_t mode[64], mode_r[64];
  const int modes = cute_modes(b, mode);
  const int64_t size = cute_size(b);
  tesela_cute r;
  tesela_cute_counter counter;
  tesela_error err = {.status = TESELA_OK};
  for (int64_t i = 0; i < size; i++) value[i] = cute_value(a, cute_value(b, i));
  const tesela_status status = tesela_cute_compose(a, b, &r, &counter, &err);
  const bool expressible = cute_exists(value, modes, mode);
  if ((status == TESELA_OK) != expressible ||
      (status != TESELA_OK && err.reason != TESELA_REASON_NOT_EXPRESSIBLE))
    fail_msg("%s o %s: %s, but a search finds %s", cute_text(a), cute_text(b),
             status == TESELA_OK ? cute_text(&r) : err.message, expressible ? "one" : "none");
  count(t, a, b, expressible);
  if (status == TESELA_OK) {
    assert_false(counter.given);
    const bool tuple = b->n == 0 || b->open[0] > 0; /* rank 0 becomes rank 0, or a list of leaves */
    if (cute_size(&r) != size || (tuple && (cute_modes(&r, mode_r) != modes ||
                                            memcmp(mode, mode_r, (size_t)modes * sizeof mode[0]) != 0)))
      fail_msg("%s o %s: other outer modes: %s", cute_text(a), cute_text(b), cute_text(&r));
    assert_true(r.bits == a->bits && r.base == a->base && r.shift == a->shift);
    for (int64_t i = 0; i < size; i++)
      if (cute_value(&r, i) != value[i])
        fail_msg("%s o %s: %s is wrong at %" PRId64, cute_text(a), cute_text(b), cute_text(&r), i);
    assert_string_not_equal(cute_text(&r), "(cannot be printed)");
    return;
  }
  assert_true(counter.given && counter.index < size && counter.value == value[counter.index]);
  assert_int_not_equal(counter.value, counter.expected);
  if (!indices) return;
  factors all = {0};
  reach best = {-1, 0};
  reach_modes(&all, value, size, modes, mode, 1, &best);
  if (counter.index != best.index || counter.expected != best.expected)
    fail_msg("%s o %s: index %" PRId64 ", expected %" PRId64 "; the search finds %" PRId64 ", %" PRId64,
             cute_text(a), cute_text(b), counter.index, counter.expected, best.index, best.expected);
}

static void test_composition(void **unused) {
  (void)unused;
  tally small = {0}, large = {0};
  tesela_cute a, b;
  const int64_t cases = cute_cases(20000);
  cute_seed();
  for (int64_t i = 0; i < cases; i++) {
    const int kind = (int)cute_below(CUTE_KINDS);
    cute_random_a(&a, kind);
    cute_random_b(&b, &a, kind, 64);
    check_composition(&a, &b, true, &small);
    cute_random_b(&b, &a, kind, CUTE_MOST);
    check_composition(&a, &b, false, &large);
  }
  print(&small, "up to 64");
  print(&large, "up to 4096");
  assert_in_range(small.expressible * 100 / small.cases, 10, 90);
  assert_in_range(large.expressible * 100 / large.cases, 10, 90);
}

/* All A of one to three leaves with small strides, and all B of one leaf. */
static void test_small_compositions(void **unused) {
  (void)unused;
  tally t = {0};
  const int64_t most = slow_run() ? 4 : 7;
  for (int64_t s0 = 1; s0 <= 4; s0++)
    for (int64_t s1 = 1; s1 <= 4; s1++)
      for (int64_t d0 = -1; d0 < most; d0++)
        for (int64_t d1 = 0; d1 < most; d1++)
          for (int64_t d2 = 0; d2 < most; d2++)
            for (int64_t e = 0; e <= 7; e++)
              for (int64_t n = 2; n <= 12; n += 2) {
                const tesela_cute a = {
                    .n = 3, .extent = {s0, s1, 3}, .stride = {d0, d1, d2}, .open = {1}, .close = {0, 0, 1}};
                const tesela_cute b = {.n = 1, .extent = {n}, .stride = {e}};
                check_composition(&a, &b, true, &t);
              }
  print(&t, "all small ones");
}

/* ---- large sizes, where a formula gives the answer ---- */

static void test_texts(void **unused) {
  (void)unused;
  static const struct {
    const char *a, *b, *r; /* NULL: impossible */
    int64_t index, value, expected;
  } cases[] = {
      {"(6,4):(4,1)", "(3,2):(2,12)", "(3,2):(8,2)", 0, 0, 0},
      {"20:2", "(5,4):(4,1)", "(5,4):(8,2)", 0, 0, 0},
      {"(4,6,8):(2,3,5)", "6:3", NULL, 3, 8, 13},
      {"(10,2):(16,4)", "(5,4):(1,5)", "(5,(2,2)):(16,(80,4))", 0, 0, 0},
      {"(12,(4,8)):(59,(13,1))", "3:4", "3:236", 0, 0, 0},
      {"(8,5):(5,1)", "20:1", NULL, 8, 1, 40},
      {"8:1", "(20):(2)", "(20):(2)", 0, 0, 0},
      {"(4,2):(1,10)", "(8):(1)", "((4,2)):((1,10))", 0, 0, 0},
      {"Sw<3,3,3> o 0 o (8,64):(64,1)", "(8,8):(8,1)", "Sw<3,3,3> o 0 o (8,8):(1,64)", 0, 0, 0},
      {"16:8", "Sw<2,0,3> o 0 o (4,4):(1,4)", "Sw<2,3,3> o 0 o (4,4):(8,32)", 0, 0, 0},
      {"(1000000,1000000):(1000008,1)", "1000000000000:1", "(1000000,1000000):(1000008,1)", 0, 0, 0},
      {"(1000000,1000000):(1000008,1)", "1000000000:7", NULL, 142858, 1000008 * INT64_C(6) + 1,
       1000008 * INT64_C(1000006)},
      {"(1000000000,2,2):(1,7,1000000007)", "1000000000:999999999", "(2,500000000):(999999999,1000000005)", 0,
       0, 0},
      {"(1000000000000,2):(1,7)", "(2,1000000000000):(1,1)", NULL, 0, 0, 0},
      {"7:-3", "5:-2", "5:6", 0, 0, 0},
      {"(4,1):(1,7)", "8:1", "(4,2):(1,7)", 0, 0, 0},
      {"():()", "4:1", "4:0", 0, 0, 0},
      {"(4,8):(8,1)", "():()", "():()", 0, 0, 0},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    const tesela_cute a = cute_read(cases[k].a), b = cute_read(cases[k].b);
    tesela_cute r;
    tesela_cute_counter counter;
    tesela_error err = {.message = ""};
    const tesela_status status = tesela_cute_compose(&a, &b, &r, &counter, &err);
    print_message("%s o %s = %s\n", cases[k].a, cases[k].b,
                  status == TESELA_OK ? cute_text(&r) : err.message);
    if (cases[k].r) assert_string_equal(status == TESELA_OK ? cute_text(&r) : err.message, cases[k].r);
    if (!cases[k].r) assert_int_equal(err.reason, TESELA_REASON_NOT_EXPRESSIBLE);
    if (!cases[k].r && cases[k].index > 0) {
      assert_int_equal(counter.index, cases[k].index);
      assert_int_equal(counter.value, cases[k].value);
      assert_int_equal(counter.expected, cases[k].expected);
    }
  }
}

/* Random layouts of many coordinates, whose floors jump often: the answer at random coordinates, the values that a refusal names. */
static void test_long_runs(void **unused) {
  (void)unused;
  int64_t expressible = 0, refused = 0, undecided = 0;
  cute_seed();
  for (int64_t i = cute_cases(20000); i > 0; i--) {
    tesela_cute layout[2], r;
    tesela_cute_counter counter;
    tesela_error err = {.status = TESELA_OK};
    for (int k = 0; k < 2; k++) {
      tesela_cute *c = &layout[k];
      int64_t stride = 1;
      memset(c, 0, sizeof *c);
      c->n = 1 + (int32_t)cute_below(5);
      for (int j = 0; j < c->n; j++) {
        c->extent[j] = 2 + cute_below(cute_below(2) == 0 ? 12 : 5000);
        c->stride[j] = cute_below(2) == 0 ? cute_below(200) : stride;
        stride = stride * c->extent[j] % 100000007;
      }
      c->open[0] = c->close[c->n - 1] = 1;
    }
    const tesela_cute *a = &layout[0], *b = &layout[1];
    const tesela_status status = tesela_cute_compose(a, b, &r, &counter, &err);
    if (status == TESELA_OK) {
      expressible++;
      assert_int_equal(cute_size(&r), cute_size(b));
      for (int k = 0; k < 50; k++) {
        const int64_t at = cute_below(cute_size(b));
        assert_int_equal(cute_value(&r, at), cute_value(a, cute_value(b, at)));
      }
    } else if (err.reason == TESELA_REASON_NOT_EXPRESSIBLE) {
      refused++;
      assert_true(counter.given && counter.index < cute_size(b) && counter.expected != counter.value);
      assert_int_equal(counter.value, cute_value(a, cute_value(b, counter.index)));
    } else {
      undecided++;
      assert_true(status == TESELA_E_OVERFLOW || status == TESELA_E_LIMIT);
    }
  }
  print_message("%" PRId64 " expressible, %" PRId64 " impossible, %" PRId64 " undecided or beyond 2^60\n",
                expressible, refused, undecided);
  assert_true(expressible > 0 && refused > 0);
}

/* Values below 0 that A does not have: the first coordinate. */
static void test_below_zero(void **unused) {
  (void)unused;
  const tesela_cute a = cute_read("(4,2):(1,10)");
  cute_seed();
  for (int i = 0; i < 2000; i++) {
    tesela_cute b, r;
    tesela_cute_counter counter;
    cute_random_b(&b, &a, CUTE_USUAL, 64);
    for (int k = 0; k < b.n; k++)
      if (cute_below(2) == 0) b.stride[k] = -b.stride[k];
    int64_t first = 0;
    while (first < cute_size(&b) && cute_value(&b, first) >= 0) first++;
    if (first == cute_size(&b)) continue;
    assert_int_equal(tesela_cute_compose(&a, &b, &r, &counter, NULL), TESELA_E_RANGE);
    assert_int_equal(counter.index, first);
    assert_int_equal(counter.value, cute_value(&b, first));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_texts),       cmocka_unit_test(test_below_zero),
      cmocka_unit_test(test_long_runs),   cmocka_unit_test(test_small_compositions),
      cmocka_unit_test(test_composition),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
