/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_draw_limits.c - pictures of what does not fit, of layouts that are not XLA's, of nothing, and
 * pictures that fail.
 */
#include "support_draw.h"

/* ---- what does not fit ------------------------------------------------------------------------------- */

/* Columns of the longest line. */
static int columns_of(const char *text) {
  int columns = 0, longest = 0;
  for (; *text; text++) {
    if (*text == '\n')
      columns = 0;
    else if (((unsigned char)*text & 0xc0) != 0x80)
      columns++;
    if (columns > longest) longest = columns;
  }
  return longest;
}

static int lines_of(const char *text) {
  int lines = 0;
  for (; *text; text++) lines += *text == '\n';
  return lines;
}

static void test_cut(void **state) {
  (void)state;
  tesela_layout layout = draw_layout("f32[20,200]{1,0:T(8,128)}");
  assert_string_equal(
      draw_text(tesela_draw_grid, &layout, &(tesela_draw_options){.width = 40, .max_rows = 4}),
      "          0     1  …   199  …  ·255\n"
      "    ┏━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┓\n"
      "  0 ┃     0     1  …  1095  … ·1151 ┃\n"
      "  1 ┃   128   129  …  1223  … ·1279 ┃\n"
      "    ┃     …     …  …     …  …     … ┃\n"
      " 19 ┃  4480  4481  …  5575  … ·5631 ┃\n"
      "    ┃     …     …  …     …  …     … ┃\n"
      "·23 ┃ ·4992 ·4993  … ·6087  … ·6143 ┃\n"
      "    ┗━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┛\n");
  for (int32_t width = 20; width < 400; width += 7) {
    const char *text =
        draw_text(tesela_draw_grid, &layout, &(tesela_draw_options){.width = width, .max_rows = 3});
    if (columns_of(text) > width)
      fail_msg("%d columns for a width of %d:\n%s", columns_of(text), width, text);
  }
}

static void test_huge(void **state) {
  (void)state;
  tesela_layout layout = draw_layout("f32[1000000,1000000]{1,0:T(8,128)}");
  const char *text = draw_text(tesela_draw_grid, &layout, NULL);
  assert_true(columns_of(text) <= 80);
  assert_true(lines_of(text) < 50);
  assert_non_null(strstr(text, "·1000063999999 ┃\n")); /* the last of 1000000 * 1000064 places */
}

static void test_linear(void **state) {
  (void)state;
  tesela_layout layout = draw_layout("f32[3,5]{1,0:T(2,2)}");
  assert_string_equal(draw_text(tesela_draw_linear, &layout, NULL), "       +0   +1   +2   +3\n"
                                                                    " 0 │  0,0  0,1  1,0  1,1\n"
                                                                    " 4 │  0,2  0,3  1,2  1,3\n"
                                                                    " 8 │  0,4    ·  1,4    ·\n"
                                                                    "12 │  2,0  2,1    ·    ·\n"
                                                                    "16 │  2,2  2,3    ·    ·\n"
                                                                    "20 │  2,4    ·    ·    ·\n");
  tesela_draw_options window = {.n_slice = 1, .slice = {{9, 13, false}}, .ascii = true};
  assert_string_equal(draw_text(tesela_draw_linear, &layout, &window), "       +0   +1   +2   +3\n"
                                                                       " 8 :  0,4    ~  1,4    ~\n"
                                                                       "12 :  2,0  2,1    ~    ~\n");
  layout = draw_layout("f32[200]{0:T(128)(2,1)}");
  tesela_draw_view view;
  OK(tesela_draw_linear_view_of(&layout, &(tesela_draw_options){.max_rows = 5}, &view, &e_));
  AGREE("cut", view.cut, 1);
  AGREE("places", view.side[0].extent, 256);
}

/* ---- other layouts than XLA's ------------------------------------------------------------------------ */

static void test_axes(void **state) {
  (void)state;
  static const int64_t shape[] = {4, 4};
  tesela_layout layout;
  int32_t thread, local, row, column;
  OK(tesela_layout_begin(&layout, TESELA_F16, 16, 2, shape, &e_));
  OK(tesela_layout_split(&layout, 0, 2, &row, &e_));
  OK(tesela_layout_split(&layout, 1, 2, &column, &e_));
  OK(tesela_layout_add_axis(&layout, "thread", &thread, &e_));
  OK(tesela_layout_add_axis(&layout, "local", &local, &e_));
  OK(tesela_layout_place(&layout, 0, thread, 2, &e_));
  OK(tesela_layout_place(&layout, 1, thread, 1, &e_));
  OK(tesela_layout_place(&layout, row, local, 2, &e_));
  OK(tesela_layout_place(&layout, column, local, 1, &e_));
  OK(tesela_layout_finish(&layout, &e_));
  const char *text = draw_text(tesela_draw_grid, &layout, NULL);
  assert_non_null(strstr(text, "\n1 ┃ 0:2 0:3 ┃ 1:2 1:3 ┃\n"));
  assert_non_null(strstr(text, "\n2 ┃ 2:0 2:1 ┃ 3:0 3:1 ┃\n"));
  assert_non_null(strstr(draw_text(tesela_draw_legend, &layout, NULL), "a place, thread:local"));
  tesela_writer to = {0};
  assert_int_equal(tesela_draw_linear(&layout, NULL, &to, NULL), TESELA_E_UNSUPPORTED);
}

static void test_strided(void **state) {
  (void)state;
  static const int64_t shape[] = {2, 3}, strides[] = {-8, 2};
  tesela_layout layout;
  OK(tesela_layout_strided(&layout, TESELA_F32, 32, 2, shape, strides, 8, &e_));
  assert_string_equal(draw_text(tesela_draw_grid, &layout, NULL), "     0  1  2\n"
                                                                  "  ┏━━━━━━━━━━┓\n"
                                                                  "0 ┃  8 10 12 ┃\n"
                                                                  "1 ┃  0  2  4 ┃\n"
                                                                  "  ┗━━━━━━━━━━┛\n");
}

static void test_swizzle(void **state) {
  (void)state;
  static const int64_t shape[] = {2, 4};
  tesela_layout layout;
  int32_t memory, next = 0, digits[] = {0, 1};
  int64_t stride;
  (void)next;
  OK(tesela_layout_begin(&layout, TESELA_F32, 32, 2, shape, &e_));
  OK(tesela_layout_add_axis(&layout, "memory", &memory, &e_));
  OK(tesela_layout_place_row_major(&layout, 2, digits, memory, 1, &stride, &e_));
  OK(tesela_layout_add_swizzle(&layout, (tesela_swizzle){(int16_t)memory, 1, 0, 2}, &e_));
  OK(tesela_layout_finish(&layout, &e_));
  assert_non_null(
      strstr(draw_text(tesela_draw_grid, &layout, NULL), "\n1 ┃ 5 4 7 6 ┃\n")); /* 4 ^ 1, 5 ^ 1, ... */
}

/* 2^61 split by one less, three times: 2 * 2 * 2 * (2^61 - 3) positions. */
static void test_too_many_positions(void **state) {
  (void)state;
  static const int64_t shape[] = {(int64_t)1 << 61};
  tesela_layout layout;
  tesela_draw_view view;
  int32_t memory, one, two, three;
  OK(tesela_layout_begin(&layout, TESELA_F32, 32, 1, shape, &e_));
  OK(tesela_layout_split(&layout, 0, shape[0] - 1, &one, &e_));
  OK(tesela_layout_split(&layout, one, shape[0] - 2, &two, &e_));
  OK(tesela_layout_split(&layout, two, shape[0] - 3, &three, &e_));
  OK(tesela_layout_add_axis(&layout, "memory", &memory, &e_));
  OK(tesela_layout_place(&layout, 0, memory, 0, &e_));
  OK(tesela_layout_place(&layout, one, memory, 0, &e_));
  OK(tesela_layout_place(&layout, two, memory, 0, &e_));
  OK(tesela_layout_place(&layout, three, memory, 0, &e_));
  OK(tesela_layout_finish(&layout, &e_));
  assert_int_equal(tesela_draw_view_of(&layout, NULL, &view, NULL), TESELA_E_OVERFLOW);
}

/* A huge dim: the last positions are still named and placed. */
static void test_the_end_of_int64(void **state) {
  (void)state;
  static const int64_t shape[] = {INT64_MAX - 1};
  tesela_layout layout;
  OK(tesela_layout_strided(&layout, TESELA_S8, 1, 1, shape, NULL, 0, &e_));
  const char *text = draw_text(tesela_draw_grid, &layout, &(tesela_draw_options){.width = 90});
  assert_non_null(strstr(text, " 9223372036854775805 ┃\n"));
  assert_true(columns_of(text) <= 90);
}

/* ---- nothing, and failing ---------------------------------------------------------------------------- */

static void test_empty(void **state) {
  (void)state;
  tesela_layout layout = draw_layout("f32[3,0]{1,0:T(2,2)}");
  assert_string_equal(draw_text(tesela_draw_grid, &layout, NULL), "");
  assert_string_equal(draw_text(tesela_draw_linear, &layout, NULL), "");
  assert_string_equal(draw_text(tesela_draw_legend, &layout, NULL), "");
  tesela_draw_view view;
  OK(tesela_draw_view_of(&layout, NULL, &view, &e_));
  AGREE("extent", view.side[1].extent, 0);
}

static int refuse(void *user, const char *text, size_t length) {
  (void)text;
  (void)length;
  int *calls = user;
  return ++*calls > 2;
}

static void test_failures(void **state) {
  (void)state;
  static const int64_t shape[] = {2};
  tesela_layout open, layout = draw_layout("f32[30,50]{1,0:T(2,2)}");
  tesela_draw_view view;
  int calls = 0;
  tesela_writer to = {refuse, &calls};
  OK(tesela_layout_begin(&open, TESELA_F32, 32, 1, shape, &e_));
  assert_int_equal(tesela_draw_grid(&open, NULL, &to, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_draw_linear(&open, NULL, &to, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_draw_view_of(&open, NULL, &view, NULL), TESELA_E_INVALID);
  assert_int_equal(calls, 0);
  assert_int_equal(tesela_draw_grid(&layout, NULL, &to, NULL), TESELA_E_STOPPED);
  assert_int_equal(calls, 3);
  calls = 0;
  assert_int_equal(tesela_draw_linear(&layout, NULL, &to, NULL), TESELA_E_STOPPED);
  tesela_draw_options window = {.n_slice = 2};
  assert_int_equal(tesela_draw_linear(&layout, &window, &to, NULL), TESELA_E_MISMATCH);
  window = (tesela_draw_options){.n_slice = 1, .slice = {{1500, -1, false}}};
  assert_int_equal(tesela_draw_linear(&layout, &window, &to, NULL), TESELA_E_RANGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cut),
      cmocka_unit_test(test_huge),
      cmocka_unit_test(test_linear),
      cmocka_unit_test(test_axes),
      cmocka_unit_test(test_strided),
      cmocka_unit_test(test_swizzle),
      cmocka_unit_test(test_too_many_positions),
      cmocka_unit_test(test_the_end_of_int64),
      cmocka_unit_test(test_empty),
      cmocka_unit_test(test_failures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
