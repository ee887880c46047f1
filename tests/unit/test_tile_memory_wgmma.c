/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tile_memory_wgmma.c - operands of wgmma in shared memory: the layouts that the PTX ISA prints with its figures, the
 * canonical forms by their definition on bit addresses, and layouts that are close to one.
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
#define LIST(...) \
  (const int64_t[]) { __VA_ARGS__ }

/* The canonical layouts as PTX writes them: Swizzle<b,4,3> on byte addresses; here on bit addresses, base 4 + 3. Counts of
 * m and k are given by the shape, lbo and sbo are in elements. */
static int64_t canonical_place(int32_t bits, int32_t b, bool k_major, int64_t lbo, int64_t sbo, int64_t mn,
                               int64_t k) {
  int64_t t = 128 / bits, row = t << b, element;
  if (k_major) /* ((8,m),(S*T,k)):((S*T,SBO),(1,LBO)) */
    element = mn % 8 * row + mn / 8 * sbo + k % row + k / row * lbo;
  else if (b > 0) /* ((S*T,m),(8,k)):((1,LBO),(S*T,SBO)) */
    element = mn % row + mn / row * lbo + k % 8 * row + k / 8 * sbo;
  else /* ((T,m),(8,k)):((1,SBO),(T,LBO)) */
    element = mn % t + mn / t * sbo + k % 8 * t + k / 8 * lbo;
  int64_t address = element * bits, source = address >> 10 & ((1 << b) - 1);
  return (address ^ source << 7) / bits;
}

static void check_places(const tesela_tile_memory *t, int32_t bits, int32_t b, bool k_major, int64_t lbo,
                         int64_t sbo) {
  int64_t index[2] = {0};
  do {
    int64_t place;
    OK(tesela_tile_memory_place(t, index, &place, &e_));
    if (place != canonical_place(bits, b, k_major, lbo, sbo, index[0], index[1]))
      fail_msg("bits %d, 2^%d, %d: (%" PRId64 ",%" PRId64 ") at %" PRId64, bits, b, k_major, index[0],
               index[1], place);
  } while (oracle_tile_next(2, t->shape, index));
}

/* PTX ISA, "Asynchronous Warpgroup Level Canonical Layouts", figures of K-major tf32 and MN-major bf16: exact layout,
 * LBO and SBO. (Of the 32-byte K-major figure the columns that are in one atom; it prints no LBO.) */
static void layouts_of_the_figures(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int32_t bits, bytes, b;
    bool k_major;
    int64_t mn, k, modes[4], strides[4], lbo, sbo; /* modes outermost first, of mn and then of k */
  } rows[] = {
      {"K none tf32 ((8,2),(4,4)):((4,32),(1,64))",
       32,
       0,
       0,
       true,
       16,
       16,
       {2, 8, 4, 4},
       {32, 4, 64, 1},
       64,
       32},
      {"K 32B tf32 ((8,2),(4,2)):((8,64),(1,4))", 32, 32, 1, true, 16, 8, {2, 8, 2, 4}, {64, 8, 4, 1}, 0, 64},
      {"MN none bf16 ((8,1,2),(8,2)):((1,8,64),(8,128))",
       16,
       0,
       0,
       false,
       16,
       16,
       {2, 8, 2, 8},
       {64, 1, 128, 8},
       128,
       64},
      {"MN 32B bf16 ((8,2,2),(8,2)):((1,8,128),(16,256))",
       16,
       32,
       1,
       false,
       32,
       16,
       {2, 16, 2, 8},
       {128, 1, 256, 16},
       128,
       256},
      {"MN 64B bf16 ((8,4,2),(8,2)):((1,8,256),(32,512))",
       16,
       64,
       2,
       false,
       64,
       16,
       {2, 32, 2, 8},
       {256, 1, 512, 32},
       256,
       512},
  };
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    tesela_tile_memory given, made;
    tesela_tile_swizzle swizzle = {rows[r].bits == 32 ? 2 : 3, rows[r].b,
                                   3}; /* 16 bytes are 4 or 8 elements */
    tesela_wgmma_form form = {.swizzle_bytes = -1};
    bool is = false, same = false;
    OK(tesela_tile_memory_make(&given, TESELA_TILE_SHARED, 2, LIST(rows[r].mn, rows[r].k), 4, rows[r].modes,
                               rows[r].strides, 0, &swizzle, &e_));
    OK(tesela_tile_memory_wgmma(&made, rows[r].mn, rows[r].k, rows[r].bits, rows[r].bytes, rows[r].k_major,
                                &e_));
    OK(tesela_tile_memory_same(&given, &made, &same, &e_));
    if (!same) fail_msg("%s: made otherwise", rows[r].text);
    check_places(&made, rows[r].bits, rows[r].b, rows[r].k_major, rows[r].lbo, rows[r].sbo);
    OK(tesela_tile_memory_recognize_wgmma(&given, rows[r].bits, &form, &is, &e_));
    if (!is || form.swizzle_bytes != rows[r].bytes || form.k_major != rows[r].k_major ||
        form.leading_bytes != rows[r].lbo * rows[r].bits / 8 ||
        form.stride_bytes != rows[r].sbo * rows[r].bits / 8)
      fail_msg("%s: is %d, %d bytes, leading %" PRId64 ", stride %" PRId64, rows[r].text, is,
               form.swizzle_bytes, form.leading_bytes, form.stride_bytes);
  }
}

static void the_row_major_swizzle_is_the_k_major_form(void **state) {
  (void)state;
  for (int32_t bytes = 1; bytes <= 4; bytes *= 2)
    for (int32_t b = 0; b <= 3; b++) {
      tesela_tile_memory a, w;
      bool same = false;
      int64_t k = (int64_t)(16 << b) / bytes;
      OK(tesela_tile_memory_swizzled(&a, 2, LIST(24, 3 * k), bytes, &e_));
      OK(tesela_tile_memory_wgmma(&w, 24, 3 * k, bytes * 8, b ? 16 << b : 0, true, &e_));
      OK(tesela_tile_memory_same(&a, &w, &same, &e_));
      assert_true(same);
    }
  tesela_tile_memory w;
  int64_t place;
  OK(tesela_tile_memory_wgmma(&w, 64, 64, 16, 128, true, &e_));
  OK(tesela_tile_memory_place(&w, LIST(3, 17), &place, &e_));
  assert_int_equal(place, 201);
}

/* Atoms at any even distance, an offset, and every width: recognised as what they are. */
static void every_form_is_recognised(void **state) {
  (void)state;
  for (int32_t bits = 1; bits <= 64; bits *= 2)
    for (int32_t b = 0; b <= 3; b++)
      for (int k_major = 0; k_major < 2; k_major++)
        for (int64_t m = 1; m <= 3; m++)
          for (int64_t n = 1; n <= 2; n++) {
            int64_t row = (int64_t)(128 / bits) << b, atom = 8 * row, atom_mn = k_major ? 8 : row,
                    atom_k = 64 * row / 8 / atom_mn;
            tesela_tile_memory t;
            tesela_wgmma_form form = {.swizzle_bytes = -1};
            bool is = false;
            OK(tesela_tile_memory_wgmma(&t, m * atom_mn, n * atom_k, bits, b ? 16 << b : 0, k_major, &e_));
            assert_int_equal(t.size, m * n * atom);
            int64_t step_k = m * atom;
            check_places(&t, bits, b, k_major, k_major || b == 0 ? step_k : atom,
                         k_major || b == 0 ? atom : step_k);
            /* the same atoms farther apart, from the fifth atom on */
            int64_t far_mn = 7 * atom, far_k = 2 * atom;
            tesela_tile_swizzle swizzle = t.swizzle;
            OK(tesela_tile_memory_make(&t, TESELA_TILE_SHARED, 2, t.shape, 4, LIST(m, atom_mn, n, atom_k),
                                       LIST(far_mn, k_major ? row : 1, far_k, k_major ? 1 : row), 5 * atom,
                                       &swizzle, &e_));
            OK(tesela_tile_memory_recognize_wgmma(&t, bits, &form, &is, &e_));
            int64_t mn_bytes = m > 1 ? far_mn * bits / 8 : 0, k_bytes = n > 1 ? far_k * bits / 8 : 0;
            bool leading_is_k = k_major || b == 0;
            if (!is || form.swizzle_bytes != (b ? 16 << b : 0) || form.k_major != k_major ||
                form.leading_bytes != (leading_is_k ? k_bytes : mn_bytes) ||
                form.stride_bytes != (leading_is_k ? mn_bytes : k_bytes))
              fail_msg("bits %d, 2^%d, k_major %d, %" PRId64 " x %" PRId64, bits, b, k_major, m, n);
          }
}

static void expect_none(const tesela_tile_memory *t, int32_t bits, const char *name) {
  tesela_wgmma_form form = {.swizzle_bytes = -1};
  bool is = true;
  OK(tesela_tile_memory_recognize_wgmma(t, bits, &form, &is, &e_));
  if (is) fail_msg("%s: %d bytes", name, form.swizzle_bytes);
  assert_int_equal(form.swizzle_bytes, -1);
}

static void what_is_near_to_a_form_is_none(void **state) {
  (void)state;
  tesela_tile_memory t, w;
  OK(tesela_tile_memory_row_major(&t, TESELA_TILE_SHARED, 2, LIST(64, 64), &e_));
  expect_none(&t, 16, "row-major, no swizzle");
  OK(tesela_tile_memory_with_swizzle(&w, &t, (tesela_tile_swizzle){3, 2, 3}, &e_));
  expect_none(&w, 16, "two bits of three");
  OK(tesela_tile_memory_with_swizzle(&w, &t, (tesela_tile_swizzle){3, 3, 4}, &e_));
  expect_none(&w, 16, "shift 4");
  OK(tesela_tile_memory_with_swizzle(&w, &t, (tesela_tile_swizzle){4, 3, 3}, &e_));
  expect_none(&w, 16, "base 4");
  OK(tesela_tile_memory_with_swizzle(&w, &t, (tesela_tile_swizzle){3, 3, 3}, &e_));
  expect_none(&w, 32, "of another width");
  expect_none(&w, 8, "of another width");
  tesela_tile_memory moved = w;
  OK(tesela_tile_memory_slice(&moved, &w, LIST(1, 0), LIST(8, 64), &e_));
  expect_none(&moved, 16, "from the second row of an atom");
  OK(tesela_tile_memory_slice(&moved, &w, LIST(0, 0), LIST(12, 64), &e_));
  expect_none(&moved, 16, "a row and a half of atoms");
  OK(tesela_tile_memory_slice(&moved, &w, LIST(0, 0), LIST(8, 32), &e_));
  expect_none(&moved, 16, "half an atom");
  OK(tesela_tile_memory_strided(&t, TESELA_TILE_SHARED, 2, LIST(16, 8), LIST(9, 1), 0, &e_));
  expect_none(&t, 16, "padded rows");
  OK(tesela_tile_memory_make(&t, TESELA_TILE_SHARED, 2, LIST(24, 8), 3, LIST(3, 8, 8), LIST(72, 8, 1), 0,
                             NULL, &e_));
  expect_none(&t, 16, "atoms 9/8 of an atom apart");
  OK(tesela_tile_memory_make(&t, TESELA_TILE_SHARED, 2, LIST(32, 8), 4, LIST(2, 2, 8, 8), LIST(64, 256, 8, 1),
                             0, NULL, &e_));
  expect_none(&t, 16, "atoms at uneven distances");
  OK(tesela_tile_memory_strided(&t, TESELA_TILE_SHARED, 2, LIST(8, 8), LIST(8, 1), 8, &e_));
  expect_none(&t, 16, "16 bytes behind a border of atoms");
  OK(tesela_tile_memory_row_major(&t, TESELA_TILE_SHARED, 3, LIST(8, 8, 8), &e_));
  expect_none(&t, 16, "three dims");
  OK(tesela_tile_memory_row_major(&t, TESELA_TILE_SHARED, 0, NULL, &e_));
  expect_none(&t, 16, "no dims");
  OK(tesela_tile_memory_slice(&moved, &w, LIST(8, 0), LIST(16, 64), &e_)); /* whole atoms, though */
  bool is = false;
  tesela_wgmma_form form;
  OK(tesela_tile_memory_recognize_wgmma(&moved, 16, &form, &is, &e_));
  assert_true(is && form.swizzle_bytes == 128 && form.k_major && form.stride_bytes == 1024);
}

static void what_is_refused(void **state) {
  (void)state;
  static const struct {
    int64_t mn, k;
    int32_t bits, bytes;
    bool k_major;
    tesela_status status;
  } rows[] = {
      {64, 64, 0, 128, true, TESELA_E_RANGE},
      {64, 64, 12, 128, true, TESELA_E_RANGE},
      {64, 64, 128, 128, true, TESELA_E_RANGE},
      {64, 64, 16, 16, true, TESELA_E_RANGE},
      {64, 64, 16, 256, true, TESELA_E_RANGE},
      {0, 64, 16, 128, true, TESELA_E_RANGE},
      {64, -8, 16, 128, true, TESELA_E_RANGE},
      {63, 64, 16, 128, true, TESELA_E_INVALID},
      {64, 32, 16, 128, true, TESELA_E_INVALID},
      {64, 12, 16, 128, false, TESELA_E_INVALID},
      {32, 64, 16, 128, false, TESELA_E_INVALID},
      {INT64_C(1) << 40, INT64_C(1) << 40, 16, 0, true, TESELA_E_OVERFLOW},
  };
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    tesela_tile_memory t = {.rank = 77};
    tesela_error err = {.message = ""};
    tesela_status status = tesela_tile_memory_wgmma(&t, rows[r].mn, rows[r].k, rows[r].bits, rows[r].bytes,
                                                    rows[r].k_major, &err);
    if (status != rows[r].status || err.message[0] == '\0')
      fail_msg("row %zu: %d %s", r, status, err.message);
    assert_int_equal(tesela_tile_memory_wgmma(&t, rows[r].mn, rows[r].k, rows[r].bits, rows[r].bytes,
                                              rows[r].k_major, NULL),
                     rows[r].status);
    assert_int_equal(t.rank, 77);
  }
  tesela_tile_memory t;
  tesela_wgmma_form found;
  bool is = true;
  OK(tesela_tile_memory_wgmma(&t, 8, 8, 16, 0, true, &e_));
  assert_int_equal(tesela_tile_memory_recognize_wgmma(&t, 24, &found, &is, NULL), TESELA_E_RANGE);
  assert_true(is);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(layouts_of_the_figures),   cmocka_unit_test(the_row_major_swizzle_is_the_k_major_form),
      cmocka_unit_test(every_form_is_recognised), cmocka_unit_test(what_is_near_to_a_form_is_none),
      cmocka_unit_test(what_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
