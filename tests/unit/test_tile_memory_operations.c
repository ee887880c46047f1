/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tile_memory_operations.c - operations on tiles in memory by rows: what each makes and refuses,
 * limits and overflow, and tiles as layouts of the core.
 */
#include "support_tile_rows.h"

/* ---- operations ----------------------------------------------------------------------------------------------------- */

static void examples_of_the_operations(void **state) {
  (void)state;
  tesela_tile_memory t, two = tile_row_major(2, LIST(2, 2)), wide = tile_row_major(2, LIST(4, 8)),
                        s = tile_swizzled_64();
  OK(tesela_tile_memory_compose(&t, &two, &two, &e_));
  assert_int_equal(tile_at(&t, LIST(1, 2)), 6);
  static const int64_t places[4][4] = {{0, 1, 4, 5}, {2, 3, 6, 7}, {8, 9, 12, 13}, {10, 11, 14, 15}};
  for (int64_t i = 0; i < 4; i++)
    for (int64_t j = 0; j < 4; j++) assert_int_equal(tile_at(&t, LIST(i, j)), places[i][j]);
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
  assert_int_equal(tile_at(&t, LIST(1, 3, 17)), 4096 + 201);
  assert_int_equal(t.size, 8192);
  OK(tesela_tile_memory_slice(&t, &s, LIST(3, 16), LIST(1, 8), &e_)); /* the row's bits stay in the offset */
  assert_int_equal(tile_at(&t, LIST(0, 1)), 201);
  OK(tesela_tile_memory_compose(&t, &s, &two, &e_)); /* each element four places: the base is 2 higher */
  assert_int_equal(t.swizzle.base, 5);
  assert_int_equal(tile_at(&t, LIST(7, 35)), 201 * 4 + 3);
  OK(tesela_tile_memory_compose(&t, &two, &s, &e_));
  assert_int_equal(tile_at(&t, LIST(67, 17)), 2 * 4096 + 201);
  /* 16 places of Swizzle(0,2,3): bit 4 is never set, so bits 0 and 3 are all it needs */
  tesela_tile_memory line = tile_row_major(1, LIST(16));
  OK(tesela_tile_memory_with_swizzle(&line, &line, (tesela_tile_swizzle){0, 2, 3}, &e_));
  OK(tesela_tile_memory_prepend(&t, &line, 3, &e_));
  assert_int_equal(tile_at(&t, LIST(1, 8)), 16 + 9);
  assert_int_equal(tile_at(&t, LIST(2, 14)), 32 + 15);
  assert_int_equal(tile_at(&t, LIST(1, 3)), 16 + 3);
}

static void what_the_operations_refuse(void **state) {
  (void)state;
  tesela_tile_memory cube = tile_row_major(3, LIST(2, 1, 3)), s = tile_swizzled_64(),
                     odd = tile_row_major(1, LIST(3)), gap, cut;
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
  REFUSED(tesela_tile_memory_unsqueeze(&none, &cube, 30, (const int64_t[30]){0}, e), TESELA_E_LIMIT,
          TESELA_REASON_NONE);
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
  REFUSED(tesela_tile_memory_slice(&none, &cube, LIST(INT64_MAX, 0, 0), LIST(1, 1, 1), e), TESELA_E_RANGE,
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
  assert_int_equal(tile_at(&t, LIST(2)), 8);
}

/* 32 dims, 62 modes (there are no more in int64), places to the brim. */
static void limits_and_overflow(void **state) {
  (void)state;
  int64_t twos[64], up[64], ones[32], many[32];
  for (int i = 0; i < 64; i++)
    twos[i] = 2, up[i] = i < 62 ? (int64_t)1 << i : 0; /* fastest mode outermost: none join */
  for (int i = 0; i < 32; i++) ones[i] = 1, many[i] = i < 31 ? 2 : 1;
  tesela_tile_memory t, wide, all = tile_row_major(32, many), single = tile_row_major(32, ones),
                              s = tile_swizzled_64();
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
  REFUSED(tesela_tile_memory_make(&none, SHARED, 1, LIST(2), 1, LIST(2), LIST(INT64_MAX), 0, NULL, e),
          TESELA_E_OVERFLOW, TESELA_REASON_NONE);
  REFUSED(tesela_tile_memory_make(&none, SHARED, 1, LIST(3), 1, LIST(3), LIST(INT64_MAX / 2 + 1), 0, NULL, e),
          TESELA_E_OVERFLOW, TESELA_REASON_NONE);
  REFUSED(tesela_tile_memory_make(&none, SHARED, 0, NULL, 0, NULL, NULL, INT64_MAX, NULL, e),
          TESELA_E_OVERFLOW, TESELA_REASON_NONE);
  REFUSED(tesela_tile_memory_row_major(&none, SHARED, 2, LIST(INT64_C(1) << 32, INT64_C(1) << 31), e),
          TESELA_E_OVERFLOW, TESELA_REASON_NONE);
  OK(tesela_tile_memory_strided(&t, SHARED, 1, LIST(2), LIST(INT64_MAX - 1), 0, &e_));
  assert_int_equal(tile_at(&t, LIST(1)), INT64_MAX - 1);
  assert_int_equal(t.size, INT64_MAX);
  OK(tesela_tile_memory_retain(&t, &all, 0, NULL, &e_)); /* rank 0 of the rank 32 */
  assert_int_equal(t.rank, 0);
  OK(tesela_tile_memory_reshape(&t, &all, 1, LIST(INT64_C(1) << 31), &e_));
  assert_int_equal(t.n_modes, 1);
  OK(tesela_tile_memory_reshape(&t, &t, 32, many, &e_));
  assert_int_equal(tile_at(&t, (const int64_t[32]){1, [30] = 1}), (1 << 30) + 1);
}

/* ---- the core ------------------------------------------------------------------------------------------------------- */

static void tiles_as_layouts_of_the_core(void **state) {
  (void)state;
  tesela_tile_memory s = tile_swizzled_64(), t, big;
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

  tesela_tile_memory plain = tile_row_major(2, LIST(64, 64));
  OK(tesela_tile_memory_same(&s, &plain, &same, &e_));
  assert_false(same);
  OK(tesela_tile_memory_same(&plain, &s, &same, &e_));
  assert_false(same);
  tesela_tile_memory flat = tile_row_major(1, LIST(4096));
  OK(tesela_tile_memory_same(&plain, &flat, &same, &e_)); /* other shapes */
  assert_false(same);
  /* a swizzle that reads bits which no element has changes nothing, at any size */
  big = tile_row_major(2, LIST(1 << 20, 1 << 20));
  OK(tesela_tile_memory_with_swizzle(&t, &big, (tesela_tile_swizzle){3, 3, 40}, &e_));
  OK(tesela_tile_memory_same(&big, &t, &same, &e_));
  assert_true(same);
  OK(tesela_tile_memory_with_swizzle(&t, &big, (tesela_tile_swizzle){3, 3, 3}, &e_));
  OK(tesela_tile_memory_same(&big, &t, &same, &e_)); /* (0,64) is elsewhere */
  assert_false(same);
  big = tile_row_major(2, LIST(1 << 20, 1000003)); /* rows carry into each other's bits */
  OK(tesela_tile_memory_with_swizzle(&t, &big, (tesela_tile_swizzle){3, 3, 3}, &e_));
  assert_int_equal(tesela_tile_memory_same(&big, &t, &same, NULL), TESELA_E_UNSUPPORTED); /* never a guess */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(examples_of_the_operations),
      cmocka_unit_test(what_the_operations_refuse),
      cmocka_unit_test(limits_and_overflow),
      cmocka_unit_test(tiles_as_layouts_of_the_core),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
