/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tile_memory.c - tiles in memory by rows: examples of the documentation, tables of other notations, refusals with
 * status and reason, sizes, limits and overflow.
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

#include "support_tile_memory.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

/* The call is refused so, says why, leaves its output (`none`) alone, and does the same without an error to fill. */
#define REFUSED(call, wanted, why)                                                                    \
  do {                                                                                                \
    tesela_error e_ = {.message = ""}, *e = &e_;                                                      \
    tesela_tile_memory none;                                                                          \
    memset(&none, 0x5a, sizeof none);                                                                 \
    tesela_status status_ = (call);                                                                   \
    if (status_ != (wanted) || e_.reason != (why))                                                    \
      fail_msg("%s: status %d reason %d: %s", #call, status_, (int)e_.reason, e_.message);            \
    assert_true(e_.message[0] != '\0' && strlen(e_.message) < sizeof e_.message - 1);                 \
    e = NULL;                                                                                         \
    assert_int_equal((call), wanted);                                                                 \
    for (size_t i_ = 0; i_ < sizeof none; i_++) assert_int_equal(((unsigned char *)&none)[i_], 0x5a); \
  } while (0)

#define LIST(...) \
  (const int64_t[]) { __VA_ARGS__ }
#define SHARED TESELA_TILE_SHARED
#define GLOBAL TESELA_TILE_GLOBAL
static const int64_t BIG = INT64_MAX;

static int64_t at(const tesela_tile_memory *t, const int64_t *index) {
  int64_t place = -1;
  OK(tesela_tile_memory_place(t, index, &place, &e_));
  return place;
}

static tesela_tile_memory row_major(int32_t rank, const int64_t *shape) {
  tesela_tile_memory t;
  OK(tesela_tile_memory_row_major(&t, SHARED, rank, shape, &e_));
  return t;
}

/* 64 x 64 of 16 bits with Swizzle(3,3,3). */
static tesela_tile_memory swizzled_64(void) {
  tesela_tile_memory t;
  OK(tesela_tile_memory_swizzled(&t, 2, LIST(64, 64), 2, &e_));
  return t;
}

/* ---- making --------------------------------------------------------------------------------------------------------- */

static void the_swizzled_tile_of_the_documentation(void **state) {
  (void)state;
  tesela_tile_memory t = swizzled_64();
  assert_int_equal(at(&t, LIST(3, 17)), 201); /* 209 ^ (3 << 3) */
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
          if (at(&t, index) != place) fail_msg("bytes %d cols %" PRId64, bytes, cols);
        } while (oracle_tile_next(3, t.shape, index));
        assert_int_equal(t.size, lead * rows * cols);
      }
  tesela_tile_memory one;
  OK(tesela_tile_memory_swizzled(&one, 2, LIST(8, 1), 16, &e_));
  assert_int_equal(one.swizzle.bits, 0);
  assert_int_equal(at(&one, LIST(7, 0)), 7);
}

static void compact_and_strided_tiles(void **state) {
  (void)state;
  tesela_tile_memory t;
  OK(tesela_tile_memory_strided(&t, GLOBAL, 2, LIST(3, 5), LIST(8, 1), 0, &e_));
  assert_int_equal(at(&t, LIST(2, 3)), 19);
  assert_int_equal(t.size, 21);
  assert_int_equal(t.space, GLOBAL);
  OK(tesela_tile_memory_row_major(&t, GLOBAL, 3, LIST(2, 3, 4), &e_));
  assert_int_equal(at(&t, LIST(1, 2, 3)), 23);
  assert_int_equal(at(&t, LIST(1, 0, 2)), 14);
  OK(tesela_tile_memory_column_major(&t, SHARED, 3, LIST(2, 3, 4), &e_));
  assert_int_equal(at(&t, LIST(1, 0, 2)), 13);
  assert_int_equal(t.size, 24);
  OK(tesela_tile_memory_row_major(&t, SHARED, 0, NULL, &e_)); /* one element */
  assert_int_equal(at(&t, NULL), 0);
  assert_int_equal(t.size, 1);
  OK(tesela_tile_memory_strided(&t, SHARED, 0, NULL, NULL, 7, &e_));
  assert_int_equal(at(&t, NULL), 7);
  OK(tesela_tile_memory_strided(&t, SHARED, 2, LIST(1000000, 1000000), LIST(1000000, 1), 0, &e_));
  assert_int_equal(at(&t, LIST(999999, 999999)), 999999999999);
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
    tesela_tile_memory t = row_major(2, LIST(4, rows[r].cols));
    OK(tesela_tile_memory_with_swizzle(&t, &t, rows[r].swizzle, &e_));
    for (int64_t i = 0; i < 4; i++)
      for (int64_t j = 0; j < rows[r].cols; j++)
        if (at(&t, LIST(i, j)) != rows[r].place[i][j])
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
    if (at(&t, rows[r].index) != rows[r].place) fail_msg("row %zu: %" PRId64, r, at(&t, rows[r].index));
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
  REFUSED(tesela_tile_memory_make(&none, SHARED, 33, NULL, 0, NULL, NULL, 0, NULL, e), TESELA_E_LIMIT,
          TESELA_REASON_NONE);
  REFUSED(tesela_tile_memory_make(&none, SHARED, -1, NULL, 0, NULL, NULL, 0, NULL, e), TESELA_E_LIMIT,
          TESELA_REASON_NONE);
  REFUSED(tesela_tile_memory_make(&none, SHARED, 0, NULL, 65, NULL, NULL, 0, NULL, e), TESELA_E_LIMIT,
          TESELA_REASON_NONE);
  REFUSED(tesela_tile_memory_make(&none, SHARED, 0, NULL, -1, NULL, NULL, 0, NULL, e), TESELA_E_LIMIT,
          TESELA_REASON_NONE);
  const tesela_tile_swizzle *bad[] = {&near, &far, &minus, &no_bits, &low, &high};
  tesela_tile_memory plain = row_major(1, LIST(4)), swizzled = swizzled_64();
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
  tesela_tile_memory t = row_major(2, LIST(1024, 1500));
  OK(tesela_tile_memory_with_swizzle(&t, &t, (tesela_tile_swizzle){17, 3, 3}, &e_));
  assert_true(t.size >= oracle_tile_size(&t));
  assert_int_equal(
      t.size, 1572864); /* of bits 20 to 22 only 20 is ever set, so 17 alone changes: 1535999 | 2^18 - 1 */
}

static void a_size_is_reserved(void **state) {
  (void)state;
  tesela_tile_memory t = swizzled_64();
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
  tesela_tile_memory nine = row_major(2, LIST(9, 64)), stages;
  OK(tesela_tile_memory_with_swizzle(&nine, &nine, (tesela_tile_swizzle){3, 3, 3}, &e_));
  REFUSED(tesela_tile_memory_prepend(&none, &nine, 2, e), TESELA_E_UNSUPPORTED, TESELA_REASON_SWIZZLE);
  OK(tesela_tile_memory_set_size(&nine, &nine, 1024, &e_));
  OK(tesela_tile_memory_prepend(&stages, &nine, 2, &e_));
  assert_int_equal(at(&stages, LIST(1, 3, 17)), 1024 + 201);
  assert_int_equal(at(&stages, LIST(1, 8, 17)), 1024 + 8 * 64 + 17);
}

/* ---- operations ----------------------------------------------------------------------------------------------------- */

static void examples_of_the_operations(void **state) {
  (void)state;
  tesela_tile_memory t, two = row_major(2, LIST(2, 2)), wide = row_major(2, LIST(4, 8)), s = swizzled_64();
  OK(tesela_tile_memory_compose(&t, &two, &two, &e_));
  assert_int_equal(at(&t, LIST(1, 2)), 6);
  static const int64_t places[4][4] = {{0, 1, 4, 5}, {2, 3, 6, 7}, {8, 9, 12, 13}, {10, 11, 14, 15}};
  for (int64_t i = 0; i < 4; i++)
    for (int64_t j = 0; j < 4; j++) assert_int_equal(at(&t, LIST(i, j)), places[i][j]);
  OK(tesela_tile_memory_slice(&t, &wide, LIST(2, 4), LIST(2, 4), &e_));
  assert_int_equal(t.offset, 20);
  assert_int_equal(t.mode_strides[0], 8);
  assert_int_equal(t.mode_strides[1], 1);
  assert_int_equal(t.size, 32);
  OK(tesela_tile_memory_retain(&t, &wide, 1, LIST(1), &e_));
  assert_int_equal(t.rank, 1);
  assert_int_equal(t.shape[0], 8);
  assert_int_equal(t.size, 32);
  OK(tesela_tile_memory_prepend(&t, &s, 2, &e_));
  assert_int_equal(at(&t, LIST(1, 3, 17)), 4096 + 201);
  assert_int_equal(t.size, 8192);
  OK(tesela_tile_memory_slice(&t, &s, LIST(3, 16), LIST(1, 8), &e_)); /* the row's bits stay in the offset */
  assert_int_equal(at(&t, LIST(0, 1)), 201);
  OK(tesela_tile_memory_compose(&t, &s, &two, &e_)); /* each element four places: the base is 2 higher */
  assert_int_equal(t.swizzle.base, 5);
  assert_int_equal(at(&t, LIST(7, 35)), 201 * 4 + 3);
  OK(tesela_tile_memory_compose(&t, &two, &s, &e_));
  assert_int_equal(at(&t, LIST(67, 17)), 2 * 4096 + 201);
  /* 16 places of Swizzle(0,2,3): bit 4 is never set, so bits 0 and 3 are all it needs */
  tesela_tile_memory line = row_major(1, LIST(16));
  OK(tesela_tile_memory_with_swizzle(&line, &line, (tesela_tile_swizzle){0, 2, 3}, &e_));
  OK(tesela_tile_memory_prepend(&t, &line, 3, &e_));
  assert_int_equal(at(&t, LIST(1, 8)), 16 + 9);
  assert_int_equal(at(&t, LIST(2, 14)), 32 + 15);
  assert_int_equal(at(&t, LIST(1, 3)), 16 + 3);
}

static void what_the_operations_refuse(void **state) {
  (void)state;
  tesela_tile_memory cube = row_major(3, LIST(2, 1, 3)), s = swizzled_64(), odd = row_major(1, LIST(3)), gap,
                     cut;
  OK(tesela_tile_memory_strided(&gap, SHARED, 2, LIST(2, 3), LIST(4, 1), 0, &e_));
  OK(tesela_tile_memory_make(&cut, SHARED, 1, LIST(6), 2, LIST(2, 3), LIST(8, 1), 0, NULL, &e_));
  REFUSED(tesela_tile_memory_permute(&none, &cube, 2, LIST(0, 1), e), TESELA_E_INVALID,
          TESELA_REASON_DIMS_LENGTH);
  REFUSED(tesela_tile_memory_permute(&none, &cube, 3, LIST(0, 1, 1), e), TESELA_E_INVALID,
          TESELA_REASON_DIM_DUPLICATE);
  REFUSED(tesela_tile_memory_permute(&none, &cube, 3, LIST(0, 1, 3), e), TESELA_E_RANGE,
          TESELA_REASON_DIM_OUT_OF_RANGE);
  REFUSED(tesela_tile_memory_permute(&none, &cube, 3, LIST(0, 1, -4), e), TESELA_E_RANGE,
          TESELA_REASON_DIM_OUT_OF_RANGE);
  REFUSED(tesela_tile_memory_squeeze(&none, &cube, 1, LIST(0), e), TESELA_E_INVALID,
          TESELA_REASON_DIM_NOT_ONE);
  REFUSED(tesela_tile_memory_squeeze(&none, &cube, 2, LIST(1, -2), e), TESELA_E_INVALID,
          TESELA_REASON_DIM_DUPLICATE);
  REFUSED(tesela_tile_memory_unsqueeze(&none, &cube, 1, LIST(4), e), TESELA_E_RANGE,
          TESELA_REASON_DIM_OUT_OF_RANGE);
  REFUSED(tesela_tile_memory_unsqueeze(&none, &cube, 30, NULL, e), TESELA_E_LIMIT, TESELA_REASON_NONE);
  REFUSED(tesela_tile_memory_unsqueeze(&none, &cube, -1, NULL, e), TESELA_E_RANGE, TESELA_REASON_NONE);
  REFUSED(tesela_tile_memory_retain(&none, &cube, 2, LIST(2, 2), e), TESELA_E_INVALID,
          TESELA_REASON_DIM_DUPLICATE);
  REFUSED(tesela_tile_memory_retain(&none, &cube, 1, LIST(3), e), TESELA_E_RANGE,
          TESELA_REASON_DIM_OUT_OF_RANGE);
  REFUSED(tesela_tile_memory_retain(&none, &cube, -2, NULL, e), TESELA_E_RANGE, TESELA_REASON_NONE);
  REFUSED(tesela_tile_memory_reshape(&none, &cube, 1, LIST(7), e), TESELA_E_INVALID,
          TESELA_REASON_RESHAPE_SIZE_MISMATCH);
  REFUSED(tesela_tile_memory_reshape(&none, &cube, 2, LIST(0, 6), e), TESELA_E_RANGE,
          TESELA_REASON_SHAPE_NOT_POSITIVE);
  REFUSED(tesela_tile_memory_reshape(&none, &gap, 2, LIST(3, 2), e), TESELA_E_INVALID,
          TESELA_REASON_RESHAPE_NOT_REPRESENTABLE);
  REFUSED(tesela_tile_memory_slice(&none, &cube, LIST(1, 0, 1), LIST(2, 1, 1), e), TESELA_E_RANGE,
          TESELA_REASON_NONE);
  REFUSED(tesela_tile_memory_slice(&none, &cube, LIST(-1, 0, 0), LIST(1, 1, 1), e), TESELA_E_RANGE,
          TESELA_REASON_NONE);
  REFUSED(tesela_tile_memory_slice(&none, &cube, LIST(BIG, 0, 0), LIST(1, 1, 1), e), TESELA_E_RANGE,
          TESELA_REASON_NONE);
  REFUSED(tesela_tile_memory_slice(&none, &cube, LIST(0, 0, 0), LIST(1, 0, 1), e), TESELA_E_RANGE,
          TESELA_REASON_SHAPE_NOT_POSITIVE);
  REFUSED(tesela_tile_memory_slice(&none, &cut, LIST(1), LIST(3), e), TESELA_E_UNSUPPORTED,
          TESELA_REASON_NOT_LINEAR);
  REFUSED(tesela_tile_memory_compose(&none, &s, &s, e), TESELA_E_UNSUPPORTED, TESELA_REASON_SWIZZLE);
  REFUSED(tesela_tile_memory_compose(&none, &s, &odd, e), TESELA_E_UNSUPPORTED, TESELA_REASON_SWIZZLE);
  REFUSED(tesela_tile_memory_prepend(&none, &cube, 0, e), TESELA_E_RANGE, TESELA_REASON_SHAPE_NOT_POSITIVE);
  int64_t place = -5;
  tesela_error err;
  assert_int_equal(tesela_tile_memory_place(&cube, LIST(0, 0, 3), &place, &err), TESELA_E_RANGE);
  assert_int_equal(tesela_tile_memory_place(&cube, LIST(-1, 0, 0), &place, NULL), TESELA_E_RANGE);
  assert_int_equal(place, -5);
  tesela_tile_memory t;
  OK(tesela_tile_memory_slice(&t, &cut, LIST(1), LIST(4), &e_)); /* 1 2 8 9 */
  assert_int_equal(at(&t, LIST(2)), 8);
}

/* 32 dims, 62 modes (there are no more in int64), places to the brim. */
static void limits_and_overflow(void **state) {
  (void)state;
  int64_t twos[64], up[64], ones[32], many[32];
  for (int i = 0; i < 64; i++)
    twos[i] = 2, up[i] = i < 62 ? (int64_t)1 << i : 0; /* fastest mode outermost: none join */
  for (int i = 0; i < 32; i++) ones[i] = 1, many[i] = i < 31 ? 2 : 1;
  tesela_tile_memory t, wide, all = row_major(32, many), single = row_major(32, ones), s = swizzled_64();
  OK(tesela_tile_memory_make(&wide, SHARED, 1, LIST(INT64_C(1) << 62), 62, twos, up, 0, NULL, &e_));
  assert_int_equal(wide.n_modes, 62);
  assert_int_equal(wide.size, INT64_C(1) << 62);
  REFUSED(tesela_tile_memory_prepend(&none, &wide, 4, e), TESELA_E_OVERFLOW, TESELA_REASON_NONE);
  REFUSED(tesela_tile_memory_prepend(&none, &all, 2, e), TESELA_E_LIMIT, TESELA_REASON_NONE);
  REFUSED(tesela_tile_memory_compose(&none, &wide, &s, e), TESELA_E_OVERFLOW, TESELA_REASON_NONE);
  OK(tesela_tile_memory_compose(&t, &all, &single, &e_));
  assert_int_equal(t.size, INT64_C(1) << 31);
  OK(tesela_tile_memory_compose(&t, &all, &all, &e_));
  assert_int_equal(t.n_modes, 62);
  assert_int_equal(t.size, INT64_C(1) << 62);
  const tesela_tile_memory most = t;
  REFUSED(tesela_tile_memory_compose(&none, &most, &all, e), TESELA_E_OVERFLOW, TESELA_REASON_NONE);
  int64_t zigzag[31]; /* places are few, elements too many */
  for (int i = 0; i < 31; i++) zigzag[i] = 1 - i % 2;
  tesela_tile_memory a, b;
  OK(tesela_tile_memory_make(&a, SHARED, 1, LIST(INT64_C(1) << 31), 31, twos, zigzag, 0, NULL, &e_));
  assert_int_equal(a.size, 17);
  OK(tesela_tile_memory_compose(&b, &a, &a, &e_));
  assert_int_equal(b.n_modes, 62);
  REFUSED(tesela_tile_memory_compose(&none, &b, &a, e), TESELA_E_OVERFLOW, TESELA_REASON_NONE);
  REFUSED(tesela_tile_memory_make(&none, SHARED, 1, LIST(2), 1, LIST(2), LIST(BIG), 0, NULL, e),
          TESELA_E_OVERFLOW, TESELA_REASON_NONE);
  REFUSED(tesela_tile_memory_make(&none, SHARED, 1, LIST(3), 1, LIST(3), LIST(BIG / 2 + 1), 0, NULL, e),
          TESELA_E_OVERFLOW, TESELA_REASON_NONE);
  REFUSED(tesela_tile_memory_make(&none, SHARED, 0, NULL, 0, NULL, NULL, BIG, NULL, e), TESELA_E_OVERFLOW,
          TESELA_REASON_NONE);
  REFUSED(tesela_tile_memory_row_major(&none, SHARED, 2, LIST(INT64_C(1) << 32, INT64_C(1) << 31), e),
          TESELA_E_OVERFLOW, TESELA_REASON_NONE);
  OK(tesela_tile_memory_strided(&t, SHARED, 1, LIST(2), LIST(BIG - 1), 0, &e_));
  assert_int_equal(at(&t, LIST(1)), BIG - 1);
  assert_int_equal(t.size, BIG);
  OK(tesela_tile_memory_retain(&t, &all, 0, NULL, &e_)); /* rank 0 of the rank 32 */
  assert_int_equal(t.rank, 0);
  OK(tesela_tile_memory_reshape(&t, &all, 1, LIST(INT64_C(1) << 31), &e_));
  assert_int_equal(t.n_modes, 1);
  OK(tesela_tile_memory_reshape(&t, &t, 32, many, &e_));
  assert_int_equal(at(&t, (const int64_t[32]){1, [30] = 1}), (1 << 30) + 1);
}

/* ---- the core ------------------------------------------------------------------------------------------------------- */

static void tiles_as_layouts_of_the_core(void **state) {
  (void)state;
  tesela_tile_memory s = swizzled_64(), t, big;
  tesela_layout layout;
  OK(tesela_tile_memory_to_layout(&s, TESELA_F16, 16, &layout, &e_));
  assert_int_equal(layout.n_axes, 1);
  assert_string_equal(layout.axis[0].name, "memory");
  assert_int_equal(layout.axis[0].extent, 4096);
  int64_t place = 201, index[2];
  bool padding = true, same = false;
  OK(tesela_layout_element_at(&layout, &place, index, &padding, &e_));
  assert_false(padding);
  assert_int_equal(index[0], 3);
  assert_int_equal(index[1], 17);
  OK(tesela_tile_memory_set_size(&t, &s, 5000, &e_));
  OK(tesela_tile_memory_to_layout(&t, TESELA_F16, 16, &layout, &e_));
  assert_int_equal(layout.axis[0].extent, 5000);
  OK(tesela_tile_memory_same(&s, &t, &same, &e_)); /* sizes may differ */
  assert_true(same);
  assert_int_equal(tesela_tile_memory_to_layout(&t, TESELA_F16, 0, &layout, NULL), TESELA_E_RANGE);

  tesela_tile_memory plain = row_major(2, LIST(64, 64));
  OK(tesela_tile_memory_same(&s, &plain, &same, &e_));
  assert_false(same);
  OK(tesela_tile_memory_same(&plain, &s, &same, &e_));
  assert_false(same);
  tesela_tile_memory flat = row_major(1, LIST(4096));
  OK(tesela_tile_memory_same(&plain, &flat, &same, &e_)); /* other shapes */
  assert_false(same);
  /* a swizzle that reads bits which no element has is none, at any size */
  big = row_major(2, LIST(1 << 20, 1 << 20));
  OK(tesela_tile_memory_with_swizzle(&t, &big, (tesela_tile_swizzle){3, 3, 40}, &e_));
  OK(tesela_tile_memory_same(&big, &t, &same, &e_));
  assert_true(same);
  OK(tesela_tile_memory_with_swizzle(&t, &big, (tesela_tile_swizzle){3, 3, 3}, &e_));
  assert_int_equal(tesela_tile_memory_same(&big, &t, &same, NULL), TESELA_E_UNSUPPORTED); /* never a guess */
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
      cmocka_unit_test(examples_of_the_operations),
      cmocka_unit_test(what_the_operations_refuse),
      cmocka_unit_test(limits_and_overflow),
      cmocka_unit_test(tiles_as_layouts_of_the_core),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
