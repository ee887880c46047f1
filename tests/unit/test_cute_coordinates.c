/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cute_coordinates.c - coordinates, slices, shapes and shorter forms of CuTe layouts.
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

static const char *sliced(const char *text, const char *at, int64_t *offset) {
  const tesela_cute a = cute_read(text);
  tesela_cute_tuple tuple;
  tesela_cute r;
  tesela_error err;
  if (tesela_cute_tuple_parse(&tuple, at, strlen(at), &err) != TESELA_OK) fail_msg("%s: %s", at, err.message);
  if (tesela_cute_slice(&a, &tuple, &r, offset, &err) != TESELA_OK)
    fail_msg("%s at %s: %s", text, at, err.message);
  return cute_text(&r);
}

static void test_coordinates(void **unused) {
  (void)unused;
  int64_t offset, place;
  assert_string_equal(sliced("(4,(2,3)):(1,(4,8))", "(0,(_,1))", &offset), "(2):(4)");
  assert_int_equal(offset, 8);
  assert_string_equal(sliced("(4,(2,3)):(1,(4,8))", "(2,_)", &offset), "((2,3)):((4,8))");
  assert_int_equal(offset, 2);
  assert_string_equal(sliced("(4,(2,3)):(1,(4,8))", "(_,(_,1))", &offset), "(4,2):(1,4)");
  assert_string_equal(sliced("(4,(2,3)):(1,(4,8))", "_", &offset), "(4,(2,3)):(1,(4,8))");
  assert_string_equal(sliced("(4,(2,3)):(1,(4,8))", "(3,4)", &offset), "():()");
  assert_int_equal(offset, 19);
  assert_string_equal(sliced("Sw<1,0,1> o 0 o (4,8):(8,1)", "(3,_)", &offset), "Sw<1,0,1> o 24 o (8):(1)");
  cute_seed();
  for (int i = 0; i < 3000; i++) {
    tesela_cute a;
    tesela_cute_tuple at, again;
    char text[256];
    tesela_buffer buffer = {text, sizeof text, 0};
    tesela_writer to = tesela_buffer_writer(&buffer);
    cute_random_a(&a, (int)cute_below(CUTE_KINDS));
    const int64_t k = cute_below(cute_size(&a));
    assert_int_equal(tesela_cute_coordinate(&a, k, &at, NULL), TESELA_OK);
    assert_int_equal(tesela_cute_tuple_print(&at, &to, NULL), TESELA_OK);
    assert_int_equal(tesela_cute_tuple_parse(&again, text, strlen(text), NULL), TESELA_OK);
    const tesela_status status = tesela_cute_index(&a, &again, &place, NULL);
    if (cute_value(&a, k) < 0 && a.bits > 0) {
      assert_int_equal(status, TESELA_E_RANGE);
      continue;
    }
    assert_int_equal(status, TESELA_OK);
    int64_t flat, x = cute_value(&a, k);
    assert_int_equal(tesela_cute_at(&a, k, &flat, NULL), TESELA_OK);
    assert_int_equal(flat, place);
    for (int b = 0; b < a.bits; b++) { /* bit by bit */
      const int from = a.shift > 0 ? a.base + a.shift + b : a.base + b,
                into = a.shift > 0 ? a.base + b : a.base - a.shift + b;
      x ^= (cute_value(&a, k) >> from & 1) << into;
    }
    assert_int_equal(place, x);
  }
}

static const char *shape_divided(const char *a, const char *b) {
  static char text[128];
  tesela_cute_tuple x, y, r;
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  assert_int_equal(tesela_cute_tuple_parse(&x, a, strlen(a), NULL), TESELA_OK);
  assert_int_equal(tesela_cute_tuple_parse(&y, b, strlen(b), NULL), TESELA_OK);
  if (tesela_cute_shape_div(&x, &y, &r, NULL) != TESELA_OK) return "refused";
  assert_int_equal(tesela_cute_tuple_print(&r, &to, NULL), TESELA_OK);
  return text;
}

static void test_simple(void **unused) {
  (void)unused;
  tesela_cute a = cute_read("((2,2),3):((0,1),0)"), r;
  assert_string_equal(shape_divided("(4,6)", "2"), "(2,6)");
  assert_string_equal(shape_divided("12", "(2,3)"), "2");
  assert_string_equal(shape_divided("(12,4)", "(3,8)"), "(4,1)");
  assert_string_equal(shape_divided("(4,6)", "8"), "(1,3)");
  assert_string_equal(shape_divided("(4,6)", "3"), "refused");
  assert_int_equal(tesela_cute_filter(&a, 0, &r, NULL), TESELA_OK);
  assert_string_equal(cute_text(&r), "2:1");
  assert_int_equal(tesela_cute_flatten(&a, &r, NULL), TESELA_OK);
  assert_string_equal(cute_text(&r), "(2,2,3):(0,1,0)");
  a = cute_read("(2,(1,6)):(1,(6,2))");
  assert_int_equal(tesela_cute_coalesce(&a, 0, &r, NULL), TESELA_OK);
  assert_string_equal(cute_text(&r), "12:1");
  assert_int_equal(tesela_cute_coalesce(&a, 2, &r, NULL), TESELA_OK);
  assert_string_equal(cute_text(&r), "(2,6):(1,2)");
  a = cute_read("(2,3):(-2,8)");
  assert_int_equal(tesela_cute_cosize(&a), 19);
  assert_int_equal(tesela_cute_size(&a), 6);
  cute_seed();
  for (int i = 0; i < 5000; i++) {
    int64_t value[64];
    const int32_t by_mode = (int32_t)cute_below(2);
    cute_random_a(&a, (int)cute_below(CUTE_KINDS));
    assert_int_equal(tesela_cute_coalesce(&a, by_mode, &r, NULL), TESELA_OK);
    const int64_t size = cute_size(&a);
    assert_int_equal(cute_size(&r), size);
    for (int64_t k = 0; k < size; k++) assert_int_equal(cute_value(&a, k), cute_value(&r, k));
    if (by_mode != 0 || size > 64 || a.bits) continue;
    for (int64_t k = 0; k < size; k++) value[k] = cute_value(&a, k);
    const int fewest = cute_fewest_leaves(value, 1, size);
    assert_int_equal(r.n, fewest > 0 ? fewest : 1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_coordinates),
      cmocka_unit_test(test_simple),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
