/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tile_memory.c - tiles in memory by rows: how they are made, their places and sizes, and what no tile
 * is made of.
 */
#include "support_tile_rows.h"

/* ---- making --------------------------------------------------------------------------------------------------------- */

static void the_swizzled_tile_of_the_documentation(void **state) {
  (void)state;
  tesela_tile_memory t = tile_swizzled_64();
  assert_int_equal(tile_at(&t, LIST(3, 17)), 201); /* 209 ^ (3 << 3) */
  assert_int_equal(t.space, SHARED);
  assert_int_equal(t.size, 4096);
  assert_int_equal(t.n_modes, 2);
  assert_int_equal(t.swizzle.base, 3);
  assert_int_equal(t.swizzle.bits, 3);
  assert_int_equal(t.swizzle.shift, 3);
}

/* By the rule of the header, whatever the width. */
static void swizzled_tiles_of_every_width(void **state) {
  (void)state;
  for (int32_t bytes = 1; bytes <= 16; bytes *= 2)
    for (int64_t units = 1; units <= 24; units++) /* a row is `units` times 16 bytes */
      for (int64_t lead = 1; lead <= 3; lead += 2) {
        int64_t cols = units * 16 / bytes, rows = lead == 1 ? 24 : 8, v = 128 / bytes;
        while (cols % v != 0) v /= 2;
        tesela_tile_memory t;
        OK(tesela_tile_memory_swizzled(&t, 3, LIST(lead, rows, cols), bytes, &e_));
        int64_t index[3] = {0};
        do {
          int64_t plain = ((index[0] * (cols / v) + index[2] / v) * rows + index[1]) * v + index[2] % v;
          /* in 16-byte units, the row inside 8 is XORed onto the unit; each unit bit that a row of v has */
          int64_t unit = plain * bytes / 16, rest = plain % (16 / bytes), mask = v * bytes / 16 - 1;
          int64_t place = (unit ^ (unit / 8 & mask)) * (16 / bytes) + rest;
          if (tile_at(&t, index) != place) fail_msg("bytes %d cols %" PRId64, bytes, cols);
        } while (oracle_tile_next(3, t.shape, index));
        assert_int_equal(t.size, lead * rows * cols);
      }
  tesela_tile_memory one;
  OK(tesela_tile_memory_swizzled(&one, 2, LIST(8, 1), 16, &e_));
  assert_int_equal(one.swizzle.bits, 0);
  assert_int_equal(tile_at(&one, LIST(7, 0)), 7);
}

static void compact_and_strided_tiles(void **state) {
  (void)state;
  tesela_tile_memory t;
  OK(tesela_tile_memory_strided(&t, GLOBAL, 2, LIST(3, 5), LIST(8, 1), 0, &e_));
  assert_int_equal(tile_at(&t, LIST(2, 3)), 19);
  assert_int_equal(t.size, 21);
  assert_int_equal(t.space, GLOBAL);
  OK(tesela_tile_memory_row_major(&t, GLOBAL, 3, LIST(2, 3, 4), &e_));
  assert_int_equal(tile_at(&t, LIST(1, 2, 3)), 23);
  assert_int_equal(tile_at(&t, LIST(1, 0, 2)), 14);
  OK(tesela_tile_memory_column_major(&t, SHARED, 3, LIST(2, 3, 4), &e_));
  assert_int_equal(tile_at(&t, LIST(1, 0, 2)), 13);
  assert_int_equal(t.size, 24);
  OK(tesela_tile_memory_row_major(&t, SHARED, 0, NULL, &e_)); /* one element */
  assert_int_equal(tile_at(&t, NULL), 0);
  assert_int_equal(t.size, 1);
  OK(tesela_tile_memory_strided(&t, SHARED, 0, NULL, NULL, 7, &e_));
  assert_int_equal(tile_at(&t, NULL), 7);
  OK(tesela_tile_memory_strided(&t, SHARED, 2, LIST(1000000, 1000000), LIST(1000000, 1), 0, &e_));
  assert_int_equal(tile_at(&t, LIST(999999, 999999)), 999999999999);
}

/* Tables printed by CuTe, as given in its notation: Sw<bits,base,shift> o 0 o (rows,cols):(cols,1). */
static void tables_of_cute(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int64_t cols;
    tesela_tile_swizzle swizzle;
    int64_t place[4][16];
  } rows[] = {
      {"Sw<2,0,2> (4,4)", 4, {0, 2, 2}, {{0, 1, 2, 3}, {5, 4, 7, 6}, {10, 11, 8, 9}, {15, 14, 13, 12}}},
      {"Sw<1,1,2> (4,8)",
       8,
       {1, 1, 2},
       {{0, 1, 2, 3, 4, 5, 6, 7},
        {10, 11, 8, 9, 14, 15, 12, 13},
        {16, 17, 18, 19, 20, 21, 22, 23},
        {26, 27, 24, 25, 30, 31, 28, 29}}},
      {"Sw<2,1,3> (4,16)",
       16,
       {1, 2, 3},
       {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
        {18, 19, 16, 17, 22, 23, 20, 21, 26, 27, 24, 25, 30, 31, 28, 29},
        {36, 37, 38, 39, 32, 33, 34, 35, 44, 45, 46, 47, 40, 41, 42, 43},
        {54, 55, 52, 53, 50, 51, 48, 49, 62, 63, 60, 61, 58, 59, 56, 57}}},
  };
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    tesela_tile_memory t = tile_row_major(2, LIST(4, rows[r].cols));
    OK(tesela_tile_memory_with_swizzle(&t, &t, rows[r].swizzle, &e_));
    for (int64_t i = 0; i < 4; i++)
      for (int64_t j = 0; j < rows[r].cols; j++)
        if (tile_at(&t, LIST(i, j)) != rows[r].place[i][j])
          fail_msg("%s: (%" PRId64 ",%" PRId64 ")", rows[r].text, i, j);
  }
}

/* Elements of Triton's swizzled_shared and nvmma_shared encodings of shared memory. */
static void samples_of_triton(void **state) {
  (void)state;
  static const struct {
    int64_t shape[2];
    tesela_tile_swizzle swizzle;
    bool column_major;
    int64_t index[2], place;
  } rows[] = {
      {{8, 8}, {0, 3, 3}, false, {1, 0}, 9}, /* vec 1, perPhase 1, maxPhase 8 */
      {{8, 8}, {0, 3, 3}, false, {5, 3}, 46},
      {{8, 16}, {2, 2, 3}, false, {2, 0}, 36}, /* vec 4, perPhase 2, maxPhase 4 */
      {{8, 16}, {2, 2, 3}, false, {7, 15}, 115},
      {{8, 8}, {1, 2, 2}, true, {0, 1}, 10}, /* vec 2, perPhase 1, maxPhase 4, order [0,1] */
      {{8, 8}, {1, 2, 2}, true, {7, 7}, 57},
      {{4, 8}, {1, 2, 2}, false, {2, 5}, 17},
      {{8, 64}, {3, 3, 3}, false, {7, 63}, 455}, /* nvmma_shared, 128 bytes, 16 bits */
      {{8, 64}, {3, 3, 3}, false, {5, 0}, 360},
  };
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    tesela_tile_memory t;
    if (rows[r].column_major)
      OK(tesela_tile_memory_column_major(&t, SHARED, 2, rows[r].shape, &e_));
    else
      OK(tesela_tile_memory_row_major(&t, SHARED, 2, rows[r].shape, &e_));
    OK(tesela_tile_memory_with_swizzle(&t, &t, rows[r].swizzle, &e_));
    if (tile_at(&t, rows[r].index) != rows[r].place)
      fail_msg("row %zu: %" PRId64, r, tile_at(&t, rows[r].index));
  }
}

static void modes_are_joined_only_where_nothing_changes(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int64_t shape, n, modes[4], strides[4], n_reduced, reduced[4], reduced_strides[4];
  } rows[] = {
      {"a chain of three is one mode", 8, 3, {2, 2, 2}, {4, 2, 1}, 1, {8}, {1}},
      {"an overlap is not joined on", 8, 3, {2, 2, 2}, {2, 1, 1}, 2, {4, 2}, {1, 1}},
      {"ones go", 6, 4, {1, 2, 1, 3}, {9, 3, 9, 1}, 1, {6}, {1}},
      {"a gap stays", 6, 2, {2, 3}, {4, 1}, 2, {2, 3}, {4, 1}},
      {"strides of 0 are one", 6, 2, {2, 3}, {0, 0}, 1, {6}, {0}},
  };
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    tesela_tile_memory t;
    OK(tesela_tile_memory_make(&t, SHARED, 1, &rows[r].shape, (int32_t)rows[r].n, rows[r].modes,
                               rows[r].strides, 0, NULL, &e_));
    if (t.n_modes != rows[r].n_reduced) fail_msg("%s: %d modes", rows[r].name, t.n_modes);
    for (int32_t m = 0; m < t.n_modes; m++) {
      assert_int_equal(t.mode_shape[m], rows[r].reduced[m]);
      assert_int_equal(t.mode_strides[m], rows[r].reduced_strides[m]);
    }
  }
  tesela_tile_memory t; /* never over a border of dims */
  OK(tesela_tile_memory_make(&t, SHARED, 2, LIST(2, 2), 2, LIST(2, 2), LIST(2, 1), 0, NULL, &e_));
  assert_int_equal(t.n_modes, 2);
}

static void what_no_tile_is_made_of(void **state) {
  (void)state;
  tesela_tile_swizzle near = {0, 2, 1}, far = {40, 2, 21}, minus = {-1, 1, 1}, no_bits = {0, -1, 1},
                      low = {0, 1, INT32_MIN}, high = {INT32_MAX, 1, INT32_MAX}, good = {59, 1, 2};
  REFUSED(tesela_tile_memory_make(&none, SHARED, 1, LIST(0), 0, NULL, NULL, 0, NULL, e), TESELA_E_RANGE,
          TESELA_REASON_SHAPE_NOT_POSITIVE);
  REFUSED(tesela_tile_memory_make(&none, SHARED, 1, LIST(4), 2, LIST(4, 0), LIST(1, 1), 0, NULL, e),
          TESELA_E_RANGE, TESELA_REASON_MODE_NOT_POSITIVE);
  REFUSED(tesela_tile_memory_make(&none, SHARED, 1, LIST(4), 1, LIST(4), LIST(-1), 0, NULL, e),
          TESELA_E_RANGE, TESELA_REASON_NONE);
  REFUSED(tesela_tile_memory_make(&none, SHARED, 1, LIST(4), 1, LIST(4), LIST(1), -1, NULL, e),
          TESELA_E_RANGE, TESELA_REASON_NONE);
  REFUSED(tesela_tile_memory_make(&none, (tesela_tile_space)7, 1, LIST(4), 1, LIST(4), LIST(1), 0, NULL, e),
          TESELA_E_RANGE, TESELA_REASON_NONE);
  REFUSED(tesela_tile_memory_make(&none, SHARED, 1, LIST(4), 2, LIST(2, 3), LIST(1, 1), 0, NULL, e),
          TESELA_E_INVALID, TESELA_REASON_MODE_DOES_NOT_FIT_SHAPE);
  REFUSED(tesela_tile_memory_make(&none, SHARED, 1, LIST(4), 1, LIST(2), LIST(1), 0, NULL, e),
          TESELA_E_INVALID, TESELA_REASON_MODE_DOES_NOT_FIT_SHAPE);
  REFUSED(tesela_tile_memory_make(&none, SHARED, 0, NULL, 1, LIST(2), LIST(1), 0, NULL, e), TESELA_E_INVALID,
          TESELA_REASON_MODE_DOES_NOT_FIT_SHAPE);
  REFUSED(tesela_tile_memory_make(&none, SHARED, 33, (const int64_t[33]){1}, 0, NULL, NULL, 0, NULL, e),
          TESELA_E_LIMIT, TESELA_REASON_NONE);
  REFUSED(tesela_tile_memory_make(&none, SHARED, -1, NULL, 0, NULL, NULL, 0, NULL, e), TESELA_E_LIMIT,
          TESELA_REASON_NONE);
  REFUSED(tesela_tile_memory_make(&none, SHARED, 0, NULL, 65, (const int64_t[65]){1}, (const int64_t[65]){1},
                                  0, NULL, e),
          TESELA_E_LIMIT, TESELA_REASON_NONE);
  REFUSED(tesela_tile_memory_make(&none, SHARED, 0, NULL, -1, NULL, NULL, 0, NULL, e), TESELA_E_LIMIT,
          TESELA_REASON_NONE);
  const tesela_tile_swizzle *bad[] = {&near, &far, &minus, &no_bits, &low, &high};
  tesela_tile_memory plain = tile_row_major(1, LIST(4)), swizzled = tile_swizzled_64();
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    REFUSED(tesela_tile_memory_make(&none, SHARED, 1, LIST(4), 1, LIST(4), LIST(1), 0, bad[i], e),
            TESELA_E_RANGE, TESELA_REASON_NONE);
    REFUSED(tesela_tile_memory_with_swizzle(&none, &plain, *bad[i], e), TESELA_E_RANGE, TESELA_REASON_NONE);
  }
  REFUSED(tesela_tile_memory_with_swizzle(&none, &swizzled, good, e), TESELA_E_INVALID,
          TESELA_REASON_SWIZZLE);
  tesela_tile_memory t;
  OK(tesela_tile_memory_with_swizzle(&t, &plain, good, &e_));
  REFUSED(tesela_tile_memory_swizzled(&none, 2, LIST(8, 8), 3, e), TESELA_E_RANGE, TESELA_REASON_NONE);
  REFUSED(tesela_tile_memory_swizzled(&none, 2, LIST(8, 8), 32, e), TESELA_E_RANGE, TESELA_REASON_NONE);
  REFUSED(tesela_tile_memory_swizzled(&none, 2, LIST(8, 8), 0, e), TESELA_E_RANGE, TESELA_REASON_NONE);
  REFUSED(tesela_tile_memory_swizzled(&none, 1, LIST(64), 2, e), TESELA_E_INVALID, TESELA_REASON_NONE);
  REFUSED(tesela_tile_memory_swizzled(&none, 2, LIST(12, 64), 2, e), TESELA_E_INVALID, TESELA_REASON_NONE);
  REFUSED(tesela_tile_memory_swizzled(&none, 2, LIST(8, 60), 2, e), TESELA_E_INVALID, TESELA_REASON_NONE);
  REFUSED(tesela_tile_memory_swizzled(&none, 2, LIST(8, 0), 2, e), TESELA_E_RANGE,
          TESELA_REASON_SHAPE_NOT_POSITIVE);
}

/* ---- sizes ---------------------------------------------------------------------------------------------------------- */

static void the_size_holds_the_swizzled_places(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int64_t n, shape[3], strides[3], offset;
    tesela_tile_swizzle swizzle;
    int64_t size;
  } rows[] = {
      {"the last one goes up", 1, {9}, {1}, 0, {0, 1, 3}, 10},
      {"the last one goes down", 1, {10}, {1}, 0, {0, 1, 3}, 10}, /* 8 goes to 9, 9 to 8 */
      {"it does not act", 1, {8}, {1}, 0, {0, 1, 3}, 8},
      {"a whole block", 2, {64, 64}, {64, 1}, 0, {3, 3, 3}, 4096},
      {"9 rows: the last one has bits 0", 2, {9, 64}, {64, 1}, 0, {3, 3, 3}, 576},
      {"10 rows of 8: the last starts at 8 of 64", 2, {10, 8}, {64, 1}, 0, {3, 3, 3}, 592},
      {"low bits act on high ones", 1, {2}, {1}, 0, {0, 1, -4}, 18},
      {"low bits far up", 2, {4, 2}, {16, 1}, 0, {0, 1, -40}, (INT64_C(1) << 40) + 50},
      {"10^12 elements, the largest goes up",
       2,
       {1000000, 1000000},
       {1000000, 1},
       0,
       {0, 3, 12},
       1000000000000},
      {"strides of 3",
       1,
       {1000004},
       {3},
       0,
       {0, 2, 2},
       3000012},                                           /* 3000009 ends with 1001, so it goes to 1011 */
      {"an offset alone", 1, {1}, {0}, 12, {0, 2, 2}, 16}, /* 1100 to 1111 */
  };
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    tesela_tile_memory t;
    OK(tesela_tile_memory_make(&t, SHARED, (int32_t)rows[r].n, rows[r].shape, (int32_t)rows[r].n,
                               rows[r].shape, rows[r].strides, rows[r].offset, &rows[r].swizzle, &e_));
    if (oracle_tile_elements(t.rank, t.shape) < 10000000 && oracle_tile_size(&t) != rows[r].size)
      fail_msg("%s: the row says %" PRId64 ", the definition %" PRId64, rows[r].name, rows[r].size,
               oracle_tile_size(&t));
    if (t.size != rows[r].size) fail_msg("%s: %" PRId64, rows[r].name, t.size);
  }
}

static void the_size_of_a_large_window_is_rounded_up(void **state) {
  (void)state;
  tesela_tile_memory t = tile_row_major(2, LIST(1024, 1500));
  OK(tesela_tile_memory_with_swizzle(&t, &t, (tesela_tile_swizzle){17, 3, 3}, &e_));
  assert_true(t.size >= oracle_tile_size(&t));
  assert_int_equal(
      t.size, 1572864); /* of bits 20 to 22 only 20 is ever set, so 17 alone changes: 1535999 | 2^18 - 1 */
}

static void a_size_is_reserved(void **state) {
  (void)state;
  tesela_tile_memory t = tile_swizzled_64();
  OK(tesela_tile_memory_set_size(&t, &t, 5000, &e_));
  assert_int_equal(t.size, 5000);
  tesela_tile_memory moved;
  OK(tesela_tile_memory_permute(&moved, &t, 2, LIST(1, 0), &e_));
  assert_int_equal(moved.size, 5000);
  OK(tesela_tile_memory_set_size(&t, &t, 0, &e_));
  assert_int_equal(t.size, 4096);
  const tesela_tile_memory whole = t;
  REFUSED(tesela_tile_memory_set_size(&none, &whole, 4095, e), TESELA_E_RANGE, TESELA_REASON_NONE);
  REFUSED(tesela_tile_memory_set_size(&none, &whole, -1, e), TESELA_E_RANGE, TESELA_REASON_NONE);
  /* 9 rows of 64: copies 576 apart are swizzled each its own way, copies 1024 apart are not */
  tesela_tile_memory nine = tile_row_major(2, LIST(9, 64)), stages;
  OK(tesela_tile_memory_with_swizzle(&nine, &nine, (tesela_tile_swizzle){3, 3, 3}, &e_));
  REFUSED(tesela_tile_memory_prepend(&none, &nine, 2, e), TESELA_E_UNSUPPORTED, TESELA_REASON_SWIZZLE);
  OK(tesela_tile_memory_set_size(&nine, &nine, 1024, &e_));
  OK(tesela_tile_memory_prepend(&stages, &nine, 2, &e_));
  assert_int_equal(tile_at(&stages, LIST(1, 3, 17)), 1024 + 201);
  assert_int_equal(tile_at(&stages, LIST(1, 8, 17)), 1024 + 8 * 64 + 17);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_swizzled_tile_of_the_documentation),
      cmocka_unit_test(swizzled_tiles_of_every_width),
      cmocka_unit_test(compact_and_strided_tiles),
      cmocka_unit_test(tables_of_cute),
      cmocka_unit_test(samples_of_triton),
      cmocka_unit_test(modes_are_joined_only_where_nothing_changes),
      cmocka_unit_test(what_no_tile_is_made_of),
      cmocka_unit_test(the_size_holds_the_swizzled_places),
      cmocka_unit_test(the_size_of_a_large_window_is_rounded_up),
      cmocka_unit_test(a_size_is_reserved),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
