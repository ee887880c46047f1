/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cute_write.c - writing CuTe layouts: examples, and large layouts.
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
#include <tesela/notation.h>

#include "support_cute.h"
#include "support_cute_text.h"
#include "support_seed.h"

/* docs of XLA's tiles, of device layouts and of swizzles; computed there element by element. */
static void examples_are_translated(void **state) {
  (void)state;
  static const struct {
    const char *from, *text;
    tesela_verdict verdict;
    int64_t places, shape[2];
  } rows[] = {
      {"f32[4,8]{1,0:T(2,4)}", "((2,2),(4,2)):((4,16),(1,8))", TESELA_EXACT, 32, {4, 8}},
      {"bf16[16,256]{1,0:T(8,128)(2,1)}",
       "((2,4,2),(128,2)):((1,256,2048),(2,1024))",
       TESELA_EXACT,
       4096,
       {16, 256}},
      {"f32[3,5]{1,0:T(2,2)}", "((2,2),(2,3)):((2,12),(1,4))", TESELA_VALID_PART, 24, {4, 6}},
      {"bf16[20,200]{1,0:T(8,128)(2,1)}",
       "((2,4,3),(128,2)):((1,256,2048),(2,1024))",
       TESELA_VALID_PART,
       6144,
       {24, 256}},
      {"bf16[32,256]{1,0:T(8,128)(2,1,1,1)}",
       "((8,2,2),(128,2)):((256,1,4096),(2,2048))",
       TESELA_EXACT,
       8192,
       {32, 256}},
      {"f32[112,110]{1,0:T(2,3)}", "((2,56),(3,37)):((3,222),(1,6))", TESELA_VALID_PART, 12432, {112, 111}},
      {"f32[4,6]{1,0:T(1,8)}", "(4,6):(8,1)", TESELA_EXACT, 32, {4, 6}},
      {"f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,5)}",
       "(2,7,(2,4),11,(5,2)):(6160,880,(5,220),20,(1,10))",
       TESELA_EXACT,
       12320,
       {2, 7}},
      {"f16[1024,256] stick(dim_order=[0,1])",
       "(1024,(64,4)):(64,(1,65536))",
       TESELA_EXACT,
       262144,
       {1024, 256}},
      {"f16[1000,200] stick(dim_order=[0,1])",
       "(1000,(64,4)):(64,(1,64000))",
       TESELA_VALID_PART,
       256000,
       {1000, 256}},
      {"f16[1024]{0:T(64)}", "1024:1", TESELA_EXACT, 1024, {1024, 0}},
      {"f16[256,128]{1,0:T(64,1)}", "((64,4),128):((1,8192),64)", TESELA_EXACT, 32768, {256, 128}},
      {"f16[1024,1]{1,0:T(1,64)}", "(1024,1):(64,0)", TESELA_EXACT, 65536, {1024, 1}},
      {"(4,8):(9,1)", "(4,8):(9,1)", TESELA_EXACT, 35, {4, 8}},
      {"((2,2),(4,2)):((1,2),(4,16))", "(4,8):(1,4)", TESELA_EXACT, 32, {4, 8}},
      {"Sw<2,1,2> o 0 o (4,8):(8,1)", "Sw<2,1,2> o 0 o (4,8):(8,1)", TESELA_EXACT, 32, {4, 8}},
      {"Sw<3,3,3> o 0 o (8,64):(64,1)", "Sw<3,3,3> o 0 o (8,64):(64,1)", TESELA_EXACT, 512, {8, 64}},
      {"Sw<3,3,3> o 16 o (8,64):(64,1)", "Sw<3,3,3> o 16 o (8,64):(64,1)", TESELA_EXACT, 576, {8, 64}},
      {"Sw<0,0,0> o 24 o (4,8):(-8,1)", "Sw<0,0,0> o 24 o (4,8):(-8,1)", TESELA_EXACT, 32, {4, 8}},
      {"20:2", "20:2", TESELA_EXACT, 39, {20, 0}},
      {"Sw<0,0,0> o 32768 o ((2,12345)):((-2768,16778240))",
       "Sw<0,0,0> o 32768 o ((2,12345)):((-2768,16778240))",
       TESELA_EXACT,
       INT64_C(32769) + INT64_C(12344) * 16778240,
       {24690, 0}},
      {"((2,3)):((1,4))", "((2,3)):((1,4))", TESELA_EXACT, 10, {6, 0}},
      {"f32[]", "():()", TESELA_EXACT, 1, {0, 0}},
      {"(6,9):(2@1,1@0)", "(6,9):(2@1,1@0)", TESELA_EXACT, 9 * 11, {6, 9}},
      {"bf16[3200000,2560000]{1,0:T(8,128)(2,1)}",
       "((2,4,400000),(128,20000)):((1,256,20480000),(2,1024))",
       TESELA_EXACT,
       INT64_C(8192000000000),
       {3200000, 2560000}},
      {"Sw<3,4,3> o 0 o (1000000,1024):(1024,1)",
       "Sw<3,4,3> o 0 o (1000000,1024):(1024,1)",
       TESELA_EXACT,
       1024000000,
       {1000000, 1024}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char text[256];
    tesela_any_layout any = cute_read_any(rows[i].from);
    tesela_translation answer = cute_translate(&any, text, sizeof text);
    if (answer.verdict != rows[i].verdict || strcmp(text, rows[i].text) != 0)
      fail_msg("%s: %s %s", rows[i].from, tesela_verdict_name(answer.verdict), text);
    if (answer.places != rows[i].places) fail_msg("%s: %" PRId64 " places", rows[i].from, answer.places);
    for (int d = 0; d < answer.rank && d < 2; d++) assert_int_equal(answer.shape[d], rows[i].shape[d]);
  }
}

/* Values at the smallest element that contradicts, by hand: rows 0..5 of the first are at 0,1,8,32,33,40. */
static void impossible_ones_name_the_smallest_element(void **state) {
  (void)state;
  static const struct {
    const char *from;
    int64_t index[5], place, expected;
  } rows[] = {
      {"f32[6,8]{1,0:T(3,4)(2,1)}", {3, 0}, 32, 9},
      {"f32[6000000,8000000]{1,0:T(3,4)(2,1)}", {3, 0}, 32000000, 9},
      {"f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", {0, 0, 0, 1, 2}, 24, 21}, /* (1,0) is at 19, (0,2) at 2 */
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char text[256];
    tesela_any_layout any = cute_read_any(rows[i].from);
    tesela_translation answer = cute_translate(&any, text, sizeof text);
    assert_int_equal(answer.verdict, TESELA_IMPOSSIBLE);
    assert_int_equal(answer.contradiction, TESELA_CONTRADICTION_PLACE);
    for (int d = 0; d < answer.rank; d++) assert_int_equal(answer.index[d], rows[i].index[d]);
    assert_int_equal(answer.place, rows[i].place);
    assert_int_equal(answer.expected, rows[i].expected);
  }
}

/* ---- large layouts ------------------------------------------------------------------------------------------ */

/* Swizzles of large layouts, with carries and gaps: the text exists, so it is found. */
static void large_swizzled_layouts_are_exact(void **state) {
  (void)state;
  static const int64_t extents[] = {2, 4, 8, 64, 128, 1024, 4096, 3, 5, 7, 100, 1000, 12345};
  cute_draw_from(first_seed() + 5);
  for (int k = 0; k < (slow_run() ? 20 : 150);) {
    random_cute c;
    char text[512];
    int64_t next = 1;
    cute_random_draw(&c, 1, false);
    c.size = 0; /* the extents are drawn again */
    for (int d = 0; d < c.rank; d++)
      for (int i = 0; i < c.n[d]; i++) {
        c.extent[d][i] = extents[cute_draw(sizeof extents / sizeof extents[0])];
        c.stride[d][i] = cute_draw(6) ? next : (int64_t)cute_draw((uint64_t)next * 3);
        next = next * c.extent[d][i] + (cute_draw(5) ? 0 : (int64_t)cute_draw(9));
        if (next > INT64_C(1) << 45) next = 1 + c.size++;
      }
    if (c.size > 0) continue;
    c.bits = 1 + (int)cute_draw(4);
    c.base = (int)cute_draw(6);
    c.shift = (c.bits + (int)cute_draw(5)) * (cute_draw(2) ? 1 : -1);
    c.offset = cute_draw(2) ? 0 : (int64_t)cute_draw(200);
    cute_random_text(&c);
    tesela_any_layout any = cute_read_any(c.text);
    tesela_translation answer = cute_translate(&any, text, sizeof text);
    if (answer.verdict != TESELA_EXACT) fail_msg("%s: %s", c.text, tesela_verdict_name(answer.verdict));
    k++;
  }
}

/* Larger layouts: no enumeration; the text read back is the same relation, which tesela_translate checks. */
static void large_layouts_are_written(void **state) {
  (void)state;
  int64_t verdicts[4] = {0};
  cute_draw_from(first_seed() + 3);
  for (int k = 0; k < (slow_run() ? 100 : 600); k++) {
    char from[128], text[512];
    int64_t a = 1 + (int64_t)cute_draw(3000000), b = 1 + (int64_t)cute_draw(3000000);
    int n = sprintf(from, "bf16[%" PRId64 ",%" PRId64 "]{1,0:T(", a, b);
    n += sprintf(from + n, "%d,%d)", 1 << cute_draw(5),
                 cute_draw(3) ? 1 << cute_draw(8) : 1 + (int)cute_draw(200));
    if (cute_draw(2)) n += sprintf(from + n, "(%d,1)", 1 + (int)cute_draw(4));
    sprintf(from + n, "}");
    tesela_any_layout any = cute_read_any(from);
    tesela_translation answer = cute_translate(&any, text, sizeof text);
    verdicts[answer.verdict - 1]++;
    if (answer.verdict == TESELA_IMPOSSIBLE) continue;
    tesela_cute cute = cute_read(text);
    tesela_layout layout;
    assert_int_equal(tesela_any_to_layout(&any, &layout, NULL), TESELA_OK);
    for (int i = 0; i < 20; i++) {
      const int64_t index[CUTE_DIMS] = {(int64_t)cute_draw((uint64_t)a), (int64_t)cute_draw((uint64_t)b)};
      int64_t place;
      assert_int_equal(tesela_layout_place_of(&layout, index, &place, NULL), TESELA_OK);
      assert_int_equal(cute_text_value(&cute, index), place);
    }
  }
  printf("large: %" PRId64 " exact, %" PRId64 " valid_part, %" PRId64 " needs_padding, %" PRId64
         " impossible\n",
         verdicts[0], verdicts[1], verdicts[2], verdicts[3]);
  assert_true(verdicts[1] > 0 && verdicts[3] > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(examples_are_translated),
      cmocka_unit_test(impossible_ones_name_the_smallest_element),
      cmocka_unit_test(large_swizzled_layouts_are_exact),
      cmocka_unit_test(large_layouts_are_written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
