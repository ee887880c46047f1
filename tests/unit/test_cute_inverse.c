/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cute_inverse.c - complements and inverses of CuTe layouts against what they must satisfy, and searches for others.
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

/* ---- complement ---- */

/* The translates of A's values that cover 0, 1, 2, ... once each are forced: the first place that is free is the next. */
static int tiles_of(const tesela_cute *a, int64_t size, int64_t *start) {
  static bool covered[8 * CUTE_MOST];
  int n = 0;
  memset(covered, 0, sizeof covered);
  for (int64_t place = 0; place < size; place++) {
    if (covered[place]) continue;
    start[n++] = place;
    for (int64_t i = 0; i < cute_size(a); i++) {
      const int64_t at = place + cute_value(a, i);
      if (at >= (int64_t)(sizeof covered) || covered[at]) return -1;
      covered[at] = true;
    }
  }
  return n;
}

static void test_complement(void **unused) {
  (void)unused;
  static int64_t start[CUTE_MOST];
  int found = 0, refused = 0;
  cute_seed();
  for (int64_t i = 0, cases = cute_cases(40000); i < cases; i++) {
    tesela_cute a, r, filtered;
    tesela_cute_counter counter;
    tesela_error err;
    cute_random_a(&a, cute_below(2) ? CUTE_USUAL : CUTE_ODD);
    if (cute_below(3) == 0)
      for (int k = 0; k < a.n; k++) a.stride[k] = (int64_t)1 << cute_below(5);
    else if (cute_below(2) == 0)
      for (int k = 0; k < a.n; k++) a.stride[k] *= 1 + cute_below(3);
    if (cute_size(&a) > 64) continue;
    const int64_t size = 1 + cute_below(200);
    assert_int_equal(tesela_cute_filter(&a, 0, &filtered, NULL), TESELA_OK);
    const tesela_status status = tesela_cute_complement(&a, size, &r, &counter, &err);
    if (status == TESELA_OK) {
      const int64_t n = cute_size(&r);
      for (int64_t k = 1; k < n; k++)
        if (cute_value(&r, k) <= cute_value(&r, k - 1))
          fail_msg("%s: %s is not ordered", cute_text(&a), cute_text(&r));
      const int64_t places = n * cute_size(&filtered);
      if (places > 8 * CUTE_MOST) continue;
      static uint8_t covered[8 * CUTE_MOST];
      memset(covered, 0, sizeof covered);
      for (int64_t k = 0; k < n; k++)
        for (int64_t e = 0; e < cute_size(&filtered); e++) {
          const int64_t at = cute_value(&r, k) + cute_value(&filtered, e);
          if (at >= places || covered[at]++)
            fail_msg("%s, %" PRId64 ": %s overlaps or leaves a gap", cute_text(&a), size, cute_text(&r));
        }
      assert_true(places >= size);
      found++;
    } else {
      assert_true(err.reason == TESELA_REASON_NOT_INJECTIVE || err.reason == TESELA_REASON_NOT_EXPRESSIBLE);
      const int tiles = tiles_of(&filtered, CUTE_MOST, start);
      if (tiles >= 0) fail_msg("%s has translates that fill 0 .. 4095: %s", cute_text(&a), err.message);
      if (err.reason == TESELA_REASON_NOT_INJECTIVE)
        assert_int_equal(cute_value(&a, counter.index), cute_value(&a, counter.index2));
      refused++;
    }
  }
  cute_print_cases(found, "complement", "found");
  cute_print_cases(refused, "complement", "impossible");
  assert_true(found * 10 > refused && refused * 10 > found);
}

/* Extents of a factorisation, the first fastest. */
typedef struct factors {
  int n;
  int64_t extent[16];
} factors;

/* All ordered factorisations of `size`, up to 64; returns their number. */
static factors all_factors[128];
static int list_factors(int64_t size, factors *now, int count) {
  if (size == 1) {
    all_factors[count++] = *now;
    return count;
  }
  for (int64_t f = 2; f <= size; f++)
    if (size % f == 0) {
      now->extent[now->n++] = f;
      count = list_factors(size / f, now, count);
      now->n--;
    }
  return count;
}

/* ---- inverses ---- */

/* The greatest n with extents and strides R, A(R(i)) = i for i < n: all factorisations, all coordinates with the right value as strides. */
static bool right_exists(const tesela_cute *a, const factors *f, int level, int64_t weight, int64_t *stride) {
  const int64_t size = cute_size(a);
  if (level == f->n) return true;
  for (int64_t c = 1; c < size; c++) {
    if (cute_value(a, c) != weight) continue;
    stride[level] = c;
    bool right = true;
    for (int64_t i = 0; i < weight * f->extent[level] && right; i++) {
      int64_t at = 0, rest = i;
      for (int k = 0; k <= level; k++) {
        at += rest % f->extent[k] * stride[k];
        rest /= f->extent[k];
      }
      right = at < size && cute_value(a, at) == i;
    }
    if (right && right_exists(a, f, level + 1, weight * f->extent[level], stride)) return true;
  }
  return false;
}

static int64_t greatest_right(const tesela_cute *a) {
  for (int64_t n = cute_size(a); n > 1; n--) {
    factors now = {0};
    int64_t stride[16];
    const int count_ = list_factors(n, &now, 0);
    for (int k = 0; k < count_; k++)
      if (right_exists(a, &all_factors[k], 0, 1, stride)) return n;
  }
  return 1;
}

static void test_right_inverse(void **unused) {
  (void)unused;
  int greater[3] = {0};
  cute_seed();
  for (int64_t i = 0, cases = cute_cases(6000); i < cases; i++) {
    tesela_cute a, r;
    cute_random_a(&a, (int)cute_below(CUTE_KINDS));
    a.bits = 0;
    a.offset = 0;
    if (cute_size(&a) > 48) continue;
    if (cute_below(2) == 0)
      for (int k = 0; k < a.n; k++) a.stride[k] = (int64_t)1 << cute_below(4);
    assert_int_equal(tesela_cute_right_inverse(&a, &r, NULL), TESELA_OK);
    for (int64_t k = 0; k < cute_size(&r); k++)
      if (cute_value(&r, k) < 0 || cute_value(&r, k) >= cute_size(&a) ||
          cute_value(&a, cute_value(&r, k)) != k)
        fail_msg("right_inverse %s = %s is wrong at %" PRId64, cute_text(&a), cute_text(&r), k);
    const int64_t n = greatest_right(&a);
    if (n != cute_size(&r))
      fail_msg("right_inverse %s = %s; there is one of size %" PRId64, cute_text(&a), cute_text(&r), n);
    greater[n == 1 ? 0 : n < cute_size(&a) ? 1 : 2]++;
  }
  cute_print_cases(greater[0], "right inverse", "of size 1");
  cute_print_cases(greater[1], "right inverse", "of a part");
  cute_print_cases(greater[2], "right inverse", "of the whole");
}

static void test_left_inverse(void **unused) {
  (void)unused;
  int found = 0, shared = 0, impossible = 0, undecided = 0;
  cute_seed();
  for (int64_t i = 0, cases = cute_cases(20000); i < cases; i++) {
    tesela_cute a, r;
    tesela_cute_counter counter;
    tesela_error err;
    cute_random_a(&a, (int)cute_below(CUTE_KINDS));
    a.bits = 0;
    a.offset = 0;
    if (cute_size(&a) > 128) continue;
    bool negative = false;
    for (int k = 0; k < a.n; k++) {
      if (cute_below(3) == 0) a.stride[k] = 1 + cute_below(12);
      negative = negative || (a.extent[k] > 1 && a.stride[k] < 0);
    }
    int64_t same = 0;
    for (int64_t x = 0; x < cute_size(&a); x++)
      for (int64_t y = 0; y < x; y++) same += cute_value(&a, x) == cute_value(&a, y);
    const tesela_status status = tesela_cute_left_inverse(&a, &r, &counter, &err);
    if (same > 0) {
      assert_int_equal(err.reason, TESELA_REASON_NOT_INJECTIVE);
      assert_true(counter.index < counter.index2 && counter.index2 < cute_size(&a));
      assert_int_equal(cute_value(&a, counter.index), counter.value);
      assert_int_equal(cute_value(&a, counter.index2), counter.value);
      shared++;
    } else if (negative) {
      assert_int_equal(status, TESELA_E_RANGE);
      assert_true(counter.value < 0 && cute_value(&a, counter.index) == counter.value);
    } else if (status == TESELA_OK) {
      for (int64_t k = 0; k < cute_size(&a); k++)
        if (cute_value(&r, cute_value(&a, k)) != k)
          fail_msg("left_inverse %s = %s is wrong at %" PRId64, cute_text(&a), cute_text(&r), k);
      assert_true(cute_size(&r) >= tesela_cute_cosize(&a));
      found++;
    } else if (err.reason ==
               TESELA_REASON_NOT_EXPRESSIBLE) { /* tests/cli/test_cute.py decides by fractions */
      impossible++;
    } else {
      assert_int_equal(status, TESELA_E_LIMIT);
      undecided++;
    }
  }
  const tesela_cute a = cute_read("(3,2):(2,3)");
  tesela_cute r;
  assert_int_equal(tesela_cute_left_inverse(&a, &r, NULL, NULL), TESELA_OK);
  assert_string_equal(cute_text(&r), "(2,4):(2,1)");
  cute_print_cases(found, "left inverse", "found");
  cute_print_cases(impossible, "left inverse", "impossible");
  cute_print_cases(shared, "left inverse", "not injective");
  cute_print_cases(undecided, "left inverse", "undecided");
  assert_true(undecided * 50 < found);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_complement),
      cmocka_unit_test(test_right_inverse),
      cmocka_unit_test(test_left_inverse),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
