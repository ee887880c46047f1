/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_scan_pass.c - a scan that passes elements many runs at a time finds the same padding as one that stands at every place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "layout/layout.h"
#include "support_relayout.h"
#include "support_seed.h"

enum { LAYOUTS = 6000, PLACES = 40000 };

static unsigned char padding[PLACES], seen[PLACES];
static long passes, places_passed, whole_runs;

/* By the inverse of each place: 1 for padding. */
static void list_padding(const tesela_layout *layout, int64_t n) {
  int64_t index[TESELA_MAX_RANK];
  for (int64_t p = 0; p < n; p++) {
    bool none = false;
    assert_int_equal(tesela_layout_element_at(layout, &p, index, &none, NULL), TESELA_OK);
    padding[p] = none;
  }
}

static void check_layout(const tesela_layout *layout) {
  tesela_scan scan;
  const int64_t n = layout->axis[0].extent;
  if (n > PLACES || tesela_scan_begin(&scan, layout, NULL) != TESELA_OK) return;
  list_padding(layout, n);
  memset(seen, 0, sizeof seen);
  for (int64_t next = 0; scan.more;) {
    assert_int_equal(scan.place, next);
    if (scan.padding) {
      memset(seen + scan.place, 1, (size_t)scan.left + 1);
      next = scan.place + scan.left + 1;
      scan.place += scan.left;
      scan.left = 0;
      tesela_scan_next(&scan);
    } else {
      const int64_t run = scan.place + scan.left + 1;
      tesela__scan_pass_elements(&scan);
      next = scan.more ? scan.place : n;
      assert_true(next >= run);
      passes++;
      places_passed += next - run;
      whole_runs += next > run;
    }
  }
  if (memcmp(seen, padding, (size_t)n) != 0) {
    int64_t at = 0;
    while (seen[at] == padding[at]) at++;
    fail_msg("place %" PRId64 " is %s", at,
             padding[at] ? "padding, and passed" : "an element, and is not passed");
  }
}

static void drawn_layouts(void **state) {
  (void)state;
  uint64_t seed = first_seed();
  const int n = slow_run() ? LAYOUTS / 10 : LAYOUTS;
  for (int k = 0; k < n; k++) {
    uint8_t bytes[DRAW_BYTES];
    for (size_t i = 0; i < DRAW_BYTES; i++) bytes[i] = (uint8_t)(mixed(&seed) >> 24);
    draws d = {bytes, DRAW_BYTES, 0};
    pair p;
    draw_pair(&d, 5000, false, &p);
    check_layout(&p.dst);
    check_layout(&p.src);
  }
  print_message("%ld passes, %ld of several runs\n", passes, whole_runs);
  assert_true(whole_runs > n / 10);
}

/* Tiles of two levels: 5 x 3 of 4 x 8, of pairs of rows, with 17 x 19 elements. */
static void tiles_of_pairs(void **state) {
  (void)state;
  const int64_t shape[] = {17, 19};
  tesela_layout layout;
  assert_true(layout_of_digits(&layout, TESELA_BF16, 16, 2, shape, "0/4 1/8 0/2 1 0"));
  passes = places_passed = 0;
  check_layout(&layout);
  /* Each of the 2 x 4 tiles without padding is one pass (4 x 2: whole tiles along both dims are 4 and 2). */
  assert_true(places_passed >= 8 * (32 - 2));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(drawn_layouts),
      cmocka_unit_test(tiles_of_pairs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
