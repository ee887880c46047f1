/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_layout_rows.c - the core by rows: views, several axes, replicas, holes, swizzles, refusals, huge sizes.
 *
 * A layout is written as digits "dim step extent axis stride"; expected places follow from the definition in
 * layout.h by hand, or by the brute-force reading `places_by_definition` below.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

static const int64_t TERA = 1000000000000;

static void views_follow_sizes_strides_and_offset(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int32_t rank;
    int64_t shape[3], strides[3], offset, index[3], place, extent;
  } rows[] = {
      {"row-major", 2, {3, 5}, {5, 1}, 0, {2, 3}, 13, 15},
      {"column-major", 2, {3, 5}, {1, 3}, 0, {2, 3}, 11, 15},
      {"a window with pitch 8 and offset 2", 2, {3, 5}, {8, 1}, 2, {2, 3}, 21, 23},
      {"rows backwards", 2, {3, 5}, {-5, 1}, 10, {2, 3}, 3, 15},
      {"broadcast rows", 2, {3, 5}, {0, 1}, 0, {2, 3}, 3, 5},
      {"10^12 elements",
       2,
       {1000000, 1000000},
       {1000000, 1},
       0,
       {999999, 999999},
       999999999999,
       1000000000000},
      {"rank 0", 0, {0}, {0}, 7, {0}, 7, 8},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_layout layout;
    int64_t place;
    OK(tesela_layout_strided(&layout, TESELA_F32, 32, rows[i].rank, rows[i].shape, rows[i].strides,
                             rows[i].offset, &e_));
    OK(tesela_layout_place_of(&layout, rows[i].index, &place, &e_));
    if (place != rows[i].place || layout.axis[0].extent != rows[i].extent)
      fail_msg("%s: %" PRId64 " of %" PRId64, rows[i].name, place, layout.axis[0].extent);
    int64_t back[3] = {0};
    bool padding;
    OK(tesela_layout_element_at(&layout, &place, back, &padding, &e_));
    assert_false(padding);
    for (int32_t d = 0; d < rows[i].rank; d++)
      assert_int_equal(back[d], rows[i].strides[d] == 0 ? 0 : rows[i].index[d]);
  }
}

/* local(3,4).spatial(2,3): element (r,c) -> thread 3*(r%2) + c%3, local 4*(r/2) + c/3. */
static void register_layout(tesela_layout *layout) {
  int32_t lo[2], thread, local;
  OK(tesela_layout_begin(layout, TESELA_F16, 16, 2, (const int64_t[]){6, 12}, &e_));
  OK(tesela_layout_split(layout, 0, 2, &lo[0], &e_));
  OK(tesela_layout_split(layout, 1, 3, &lo[1], &e_));
  OK(tesela_layout_add_axis(layout, "thread", &thread, &e_));
  OK(tesela_layout_add_axis(layout, "local", &local, &e_));
  OK(tesela_layout_place_row_major(layout, 2, lo, thread, 1, NULL, &e_));
  OK(tesela_layout_place_row_major(layout, 2, (const int32_t[]){0, 1}, local, 1, NULL, &e_));
  OK(tesela_layout_finish(layout, &e_));
}

static void two_axes_hold_a_register_layout(void **state) {
  (void)state;
  tesela_layout layout;
  register_layout(&layout);
  assert_int_equal(layout.axis[0].extent, 6);
  assert_int_equal(layout.axis[1].extent, 12);
  for (int64_t r = 0; r < 6; r++)
    for (int64_t c = 0; c < 12; c++) {
      int64_t place[2], back[2];
      bool padding;
      OK(tesela_layout_place_of(&layout, (const int64_t[]){r, c}, place, &e_));
      assert_int_equal(place[0], 3 * (r % 2) + c % 3);
      assert_int_equal(place[1], 4 * (r / 2) + c / 3);
      OK(tesela_layout_element_at(&layout, place, back, &padding, &e_));
      assert_true(!padding && back[0] == r && back[1] == c);
    }
}

static void replicas_are_all_places_of_an_element(void **state) {
  (void)state;
  /* element x of 4 is in threads x, x + 4, x + 8: three copies */
  tesela_layout layout, spelled;
  int32_t copy, two, axis;
  OK(tesela_layout_begin(&layout, TESELA_F16, 16, 1, (const int64_t[]){4}, &e_));
  OK(tesela_layout_add_digit(&layout, TESELA_REPLICA, 6, &copy, &e_));
  OK(tesela_layout_add_axis(&layout, "thread", &axis, &e_));
  OK(tesela_layout_place(&layout, copy, axis, 4, &e_));
  OK(tesela_layout_place(&layout, 0, axis, 1, &e_));
  OK(tesela_layout_finish(&layout, &e_));
  assert_int_equal(tesela_layout_copies(&layout), 6);
  for (int64_t k = 0; k < 6; k++) {
    int64_t place, back;
    bool padding;
    OK(tesela_layout_copy_of(&layout, (const int64_t[]){3}, k, &place, &e_));
    assert_int_equal(place, 3 + 4 * k);
    OK(tesela_layout_element_at(&layout, &place, &back, &padding, &e_));
    assert_true(!padding && back == 3);
  }
  /* the same six copies spelled as 2 x 3, backwards */
  OK(tesela_layout_begin(&spelled, TESELA_F16, 16, 1, (const int64_t[]){4}, &e_));
  OK(tesela_layout_add_digit(&spelled, TESELA_REPLICA, 2, &two, &e_));
  OK(tesela_layout_add_digit(&spelled, TESELA_REPLICA, 3, &copy, &e_));
  OK(tesela_layout_add_axis(&spelled, "thread", &axis, &e_));
  OK(tesela_layout_place(&spelled, two, axis, -12, &e_));
  OK(tesela_layout_place(&spelled, copy, axis, 4, &e_));
  OK(tesela_layout_place(&spelled, 0, axis, 1, &e_));
  OK(tesela_layout_set_axis(&spelled, axis, 12, -1, &e_));
  OK(tesela_layout_finish(&spelled, &e_));
  tesela_difference difference;
  OK(tesela_layout_compare(&layout, &spelled, &difference, &e_));
  assert_true(difference.same && difference.same_extent);
}

static void one_element_per_stick_is_a_hole(void **state) {
  (void)state;
  tesela_layout layout;
  int32_t hole, axis;
  OK(tesela_layout_begin(&layout, TESELA_F16, 16, 1, (const int64_t[]){60}, &e_));
  OK(tesela_layout_add_digit(&layout, TESELA_HOLE, 64, &hole, &e_));
  OK(tesela_layout_add_axis(&layout, "memory", &axis, &e_));
  OK(tesela_layout_place_row_major(&layout, 2, (const int32_t[]){0, hole}, axis, 1, NULL, &e_));
  OK(tesela_layout_finish(&layout, &e_));
  assert_int_equal(layout.axis[0].extent, 60 * 64);
  for (int64_t p = 0; p < 60 * 64; p++) {
    int64_t index = -1;
    bool padding;
    OK(tesela_layout_element_at(&layout, &p, &index, &padding, &e_));
    assert_int_equal(padding, p % 64 != 0);
    if (!padding) assert_int_equal(index, p / 64);
  }
}

static void swizzles_xor_bits_of_the_place(void **state) {
  (void)state;
  /* 4 x 8, row-major; bits 3,4 (the row) act on bits 1,2: (2,5) -> 21 -> 21 ^ (2 << 1) = 17 */
  tesela_layout layout, plain;
  OK(tesela_layout_strided(&plain, TESELA_F16, 16, 2, (const int64_t[]){4, 8}, NULL, 0, &e_));
  int32_t axis;
  OK(tesela_layout_begin(&layout, TESELA_F16, 16, 2, (const int64_t[]){4, 8}, &e_));
  OK(tesela_layout_add_axis(&layout, "memory", &axis, &e_));
  OK(tesela_layout_place_row_major(&layout, 2, (const int32_t[]){0, 1}, axis, 1, NULL, &e_));
  OK(tesela_layout_add_swizzle(&layout, (tesela_swizzle){0, 2, 1, 2}, &e_));
  OK(tesela_layout_finish(&layout, &e_));
  int64_t place;
  OK(tesela_layout_place_of(&layout, (const int64_t[]){2, 5}, &place, &e_));
  assert_int_equal(place, 17);
  bool seen[32] = {false};
  for (int64_t r = 0; r < 4; r++)
    for (int64_t c = 0; c < 8; c++) {
      int64_t back[2];
      bool padding;
      OK(tesela_layout_place_of(&layout, (const int64_t[]){r, c}, &place, &e_));
      assert_int_equal(place, (r * 8 + c) ^ (r << 1));
      assert_false(seen[place]);
      seen[place] = true;
      OK(tesela_layout_element_at(&layout, &place, back, &padding, &e_));
      assert_true(!padding && back[0] == r && back[1] == c);
    }
  tesela_difference difference;
  OK(tesela_layout_compare(&layout, &plain, &difference, &e_));
  assert_true(!difference.same && difference.index[0] == 1 && difference.index[1] == 0);
  OK(tesela_layout_compare(&layout, &layout, &difference, &e_));
  assert_true(difference.same);
}

static void builder_refuses_what_is_no_layout(void **state) {
  (void)state;
  tesela_layout layout;
  int32_t lo, axis;
  int64_t place;
  bool padding;
  assert_int_equal(tesela_layout_begin(&layout, TESELA_F32, 32, 33, (const int64_t[33]){1}, NULL),
                   TESELA_E_LIMIT);
  assert_int_equal(tesela_layout_begin(&layout, TESELA_F32, 0, 0, NULL, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_layout_begin(&layout, TESELA_F32, 32, 1, (const int64_t[]){-1}, NULL),
                   TESELA_E_RANGE);
  assert_int_equal(tesela_layout_begin(&layout, TESELA_F32, 32, 2, (const int64_t[]){INT64_MAX, 2}, NULL),
                   TESELA_E_OVERFLOW);
  OK(tesela_layout_begin(&layout, TESELA_F32, 32, 2, (const int64_t[]){6, 4}, &e_));
  assert_int_equal(tesela_layout_split(&layout, 0, 0, &lo, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_layout_split(&layout, 2, 2, &lo, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_layout_split(&layout, 0, INT64_MAX, &lo, NULL), TESELA_OK);
  assert_int_equal(tesela_layout_split(&layout, 0, 2, &lo, NULL), TESELA_E_OVERFLOW);
  OK(tesela_layout_begin(&layout, TESELA_F32, 32, 2, (const int64_t[]){6, 4}, &e_));
  assert_int_equal(tesela_layout_place(&layout, 0, 0, 1, NULL), TESELA_E_RANGE);
  OK(tesela_layout_add_axis(&layout, "memory", &axis, &e_));
  assert_int_equal(tesela_layout_add_axis(&layout, "a very long name", &axis, NULL), TESELA_E_LIMIT);
  OK(tesela_layout_place(&layout, 0, 0, 4, &e_));
  assert_int_equal(tesela_layout_place(&layout, 0, 0, 4, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_layout_split(&layout, 0, 2, &lo, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_layout_join(&layout, 1, (const int32_t[]){0}, &lo, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_layout_finish(&layout, NULL), TESELA_E_INVALID); /* dim 1 went nowhere */
  assert_int_equal(tesela_layout_place_of(&layout, (const int64_t[]){0, 0}, &place, NULL), TESELA_E_INVALID);
  OK(tesela_layout_place(&layout, 1, 0, INT64_MAX, &e_));
  assert_int_equal(tesela_layout_finish(&layout, NULL), TESELA_E_OVERFLOW);
  assert_int_equal(
      tesela_layout_strided(&layout, TESELA_F32, 32, 1, (const int64_t[]){3}, (const int64_t[]){-1}, 1, NULL),
      TESELA_E_RANGE); /* reaches place -1 */
  OK(tesela_layout_strided(&layout, TESELA_F32, 32, 2, (const int64_t[]){4, 4}, (const int64_t[]){1, 1}, 0,
                           &e_));
  place = 2;
  int64_t index[2];
  tesela_error err;
  assert_int_equal(tesela_layout_element_at(&layout, &place, index, &padding, &err), TESELA_E_UNSUPPORTED);
  assert_non_null(strstr(err.message, "overlap"));
  OK(tesela_layout_strided(&layout, TESELA_F32, 32, 2, (const int64_t[]){3, 5}, NULL, 0, &e_));
  place = -7;
  assert_int_equal(tesela_layout_place_of(&layout, (const int64_t[]){0, 5}, &place, &err), TESELA_E_RANGE);
  assert_string_equal(err.message, "index[1] is 5; expected 0 to 4");
  assert_int_equal(place, -7);
  place = 15;
  assert_int_equal(tesela_layout_element_at(&layout, &place, index, &padding, &err), TESELA_E_RANGE);
  assert_string_equal(err.message, "place on axis memory is 15; expected 0 to 14");
}

/* [6,4] joined to [24]: element (i,j) at 4i + j. The caller may take the list back for the answer. */
static void a_join_may_be_written_over_its_list(void **state) {
  (void)state;
  tesela_layout layout;
  int32_t digits[] = {0, 1}, axis;
  int64_t place;
  OK(tesela_layout_begin(&layout, TESELA_F32, 32, 2, (const int64_t[]){6, 4}, &e_));
  assert_int_equal(tesela_layout_join(&layout, 2, (const int32_t[]){1, 1}, &axis, NULL), TESELA_E_INVALID);
  OK(tesela_layout_join(&layout, 2, digits, &digits[0], &e_));
  OK(tesela_layout_add_axis(&layout, "memory", &axis, &e_));
  OK(tesela_layout_place(&layout, digits[0], axis, 1, &e_));
  OK(tesela_layout_finish(&layout, &e_));
  OK(tesela_layout_place_of(&layout, (const int64_t[]){5, 2}, &place, &e_));
  assert_int_equal(place, 22);
}

/* f32[rows,cols] in tiles of r x c, padded; order row-major. */
static void tiled(tesela_layout *layout, int64_t rows, int64_t cols, int64_t r, int64_t c) {
  int32_t lo[2], axis;
  OK(tesela_layout_begin(layout, TESELA_F32, 32, 2, (const int64_t[]){rows, cols}, &e_));
  OK(tesela_layout_split(layout, 0, r, &lo[0], &e_));
  OK(tesela_layout_split(layout, 1, c, &lo[1], &e_));
  OK(tesela_layout_add_axis(layout, "memory", &axis, &e_));
  OK(tesela_layout_place_row_major(layout, 4, (const int32_t[]){0, 1, lo[0], lo[1]}, axis, 1, NULL, &e_));
  OK(tesela_layout_finish(layout, &e_));
}

static void huge_layouts_are_compared_without_enumeration(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int64_t rows, cols, tile_a[2], tile_b[2];
    bool same;
    int64_t first[2];
  } rows[] = {
      {"the same tiles", 1000003, 1000003, {8, 128}, {8, 128}, true, {0, 0}},
      {"rows of whole tiles: tiling moves nothing", 1000000000000, 128, {8, 128}, {1, 128}, true, {0, 0}},
      {"tiles of other heights", 1000003, 1000003, {8, 128}, {16, 128}, false, {0, 128}},
      {"one column", 1000000000000, 1, {8, 1}, {1024, 1}, true, {0, 0}},
      {"uneven tiles that agree for a while", 1, 1000000000000, {1, 1000}, {1, 999}, true, {0, 0}},
      {"tiles of two uneven widths", 2, 1000000000000, {2, 35}, {2, 36}, false, {0, 35}},
      {"more rows than one tile", 9, 1000000000000, {9, 1000000}, {8, 1000000}, false, {0, 1000000}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_layout a, b;
    tesela_difference difference;
    tiled(&a, rows[i].rows, rows[i].cols, rows[i].tile_a[0], rows[i].tile_a[1]);
    tiled(&b, rows[i].rows, rows[i].cols, rows[i].tile_b[0], rows[i].tile_b[1]);
    OK(tesela_layout_compare(&a, &b, &difference, &e_));
    if (difference.same != rows[i].same) fail_msg("%s: same is %d", rows[i].name, difference.same);
    if (!rows[i].same) {
      int64_t pa, pb;
      assert_true(difference.have_index);
      OK(tesela_layout_place_of(&a, difference.index, &pa, &e_));
      OK(tesela_layout_place_of(&b, difference.index, &pb, &e_));
      assert_int_not_equal(pa, pb);
      if (difference.index[0] != rows[i].first[0] || difference.index[1] != rows[i].first[1])
        fail_msg("%s: first at %" PRId64 ",%" PRId64, rows[i].name, difference.index[0], difference.index[1]);
    }
  }
}

static void huge_joins_are_compared_as_one_coordinate(void **state) {
  (void)state;
  /* [10^6, 10^6] joined and split by 3 (which divides neither), against the flat view of the same and of 5 */
  tesela_layout by3, by5, flat;
  tesela_difference difference;
  for (int pass = 0; pass < 2; pass++) {
    tesela_layout *layout = pass ? &by5 : &by3;
    int32_t joined, lo, axis;
    OK(tesela_layout_begin(layout, TESELA_F32, 32, 2, (const int64_t[]){1000000, 1000000}, &e_));
    OK(tesela_layout_join(layout, 2, (const int32_t[]){0, 1}, &joined, &e_));
    OK(tesela_layout_split(layout, joined, pass ? 7 : 3, &lo, &e_));
    OK(tesela_layout_add_axis(layout, "memory", &axis, &e_));
    OK(tesela_layout_place(layout, joined, axis, pass ? 8 : 4, &e_)); /* a gap in every group */
    OK(tesela_layout_place(layout, lo, axis, 1, &e_));
    OK(tesela_layout_finish(layout, &e_));
  }
  OK(tesela_layout_strided(&flat, TESELA_F32, 32, 2, (const int64_t[]){1000000, 1000000}, NULL, 0, &e_));
  OK(tesela_layout_compare(&by3, &by3, &difference, &e_));
  assert_true(difference.same);
  OK(tesela_layout_compare(&by3, &by5, &difference, &e_)); /* 0 1 2 4 5 6 8 / 0 1 2 3 */
  assert_true(!difference.same && difference.index[0] == 0 && difference.index[1] == 3);
  OK(tesela_layout_compare(&by3, &flat, &difference, &e_));
  assert_true(!difference.same && difference.index[0] == 0 && difference.index[1] == 3);
  int64_t place, index[2], where[2] = {123456, 654321};
  bool padding;
  OK(tesela_layout_place_of(&by3, where, &place, &e_));
  assert_int_equal(place,
                   (123456 * INT64_C(1000000) + 654321) / 3 * 4 + (123456 * INT64_C(1000000) + 654321) % 3);
  OK(tesela_layout_element_at(&by3, &place, index, &padding, &e_));
  assert_true(!padding && index[0] == where[0] && index[1] == where[1]);
}

static void what_differs_is_said(void **state) {
  (void)state;
  tesela_layout a, b;
  tesela_difference difference;
  OK(tesela_layout_strided(&a, TESELA_F32, 32, 2, (const int64_t[]){3, 5}, NULL, 0, &e_));
  OK(tesela_layout_strided(&b, TESELA_F32, 32, 2, (const int64_t[]){3, 6}, NULL, 0, &e_));
  OK(tesela_layout_compare(&a, &b, &difference, &e_));
  assert_string_equal(difference.reason, "shapes differ: [3,5] and [3,6]");
  assert_false(difference.have_index);
  OK(tesela_layout_strided(&b, TESELA_BF16, 16, 2, (const int64_t[]){3, 5}, NULL, 0, &e_));
  OK(tesela_layout_compare(&a, &b, &difference, &e_));
  assert_string_equal(difference.reason, "element widths differ: 32 and 16 bits");
  tiled(&b, 3, 5, 4, 8);
  OK(tesela_layout_compare(&a, &b, &difference, &e_));
  assert_true(!difference.same && !difference.same_extent && difference.index[0] == 1 &&
              difference.index[1] == 0);
}

static void sizes_count_data_and_places(void **state) {
  (void)state;
  tesela_layout layout;
  tesela_sizes sizes;
  int64_t extent;
  tiled(&layout, 20, 200, 8, 128);
  OK(tesela_layout_sizes(&layout, &sizes, &e_));
  assert_int_equal(sizes.logical_elements, 4000);
  assert_int_equal(sizes.logical_bytes, 16000);
  assert_int_equal(sizes.elements, 6144);
  assert_int_equal(sizes.bytes, 24576);
  OK(tesela_layout_padded_extent(&layout, 0, &extent, &e_));
  assert_int_equal(extent, 24);
  OK(tesela_layout_padded_extent(&layout, 1, &extent, &e_));
  assert_int_equal(extent, 256);
  OK(tesela_layout_strided(&layout, TESELA_F32, 32, 1, (const int64_t[]){INT64_MAX / 8}, NULL, 0, &e_));
  assert_int_equal(tesela_layout_sizes(&layout, &sizes, NULL), TESELA_E_OVERFLOW);
  OK(tesela_layout_strided(&layout, TESELA_F32, 32, 2, (const int64_t[]){0, TERA}, NULL, 0, &e_));
  OK(tesela_layout_sizes(&layout, &sizes, &e_));
  assert_int_equal(sizes.bytes, 0);
}

static void runs_of_huge_layouts_are_found_at_once(void **state) {
  (void)state;
  tesela_layout layout;
  tesela_run run;
  OK(tesela_layout_strided(&layout, TESELA_F32, 32, 3, (const int64_t[]){1000000, 1000, 1000}, NULL, 0, &e_));
  OK(tesela_layout_run(&layout, 12345, &run, &e_));
  assert_true(run.length == TERA - 12345 && run.step == 1 && !run.padding);
  tiled(&layout, 999999999, 128, 8, 128); /* 7 of the last 8 rows exist */
  OK(tesela_layout_run(&layout, 0, &run, &e_));
  assert_true(run.length == INT64_C(999999999) * 128 && run.step == 1);
  OK(tesela_layout_run(&layout, run.length, &run, &e_));
  assert_true(run.length == 128 && run.padding);
  OK(tesela_layout_strided(&layout, TESELA_F32, 32, 2, (const int64_t[]){5, 7}, (const int64_t[]){TERA, 1}, 3,
                           &e_));
  OK(tesela_layout_run(&layout, 0, &run, &e_));
  assert_true(run.length == 3 && run.padding);
  OK(tesela_layout_run(&layout, TERA + 10, &run, &e_)); /* after the second row */
  assert_true(run.length == TERA - 7 && run.padding);
  OK(tesela_layout_run(&layout, 4 * TERA + 3, &run, &e_));
  assert_true(run.length == 7 && run.step == 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(views_follow_sizes_strides_and_offset),
      cmocka_unit_test(two_axes_hold_a_register_layout),
      cmocka_unit_test(replicas_are_all_places_of_an_element),
      cmocka_unit_test(one_element_per_stick_is_a_hole),
      cmocka_unit_test(swizzles_xor_bits_of_the_place),
      cmocka_unit_test(builder_refuses_what_is_no_layout),
      cmocka_unit_test(a_join_may_be_written_over_its_list),
      cmocka_unit_test(huge_layouts_are_compared_without_enumeration),
      cmocka_unit_test(huge_joins_are_compared_as_one_coordinate),
      cmocka_unit_test(what_differs_is_said),
      cmocka_unit_test(sizes_count_data_and_places),
      cmocka_unit_test(runs_of_huge_layouts_are_found_at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
