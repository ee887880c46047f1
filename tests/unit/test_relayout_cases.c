/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_relayout_cases.c - the kinds of copies that are measured, made small: each once with extents that keep the
 * remainders of the large ones, once with odd extents. Every row must be right as planned and with random plans, and
 * what the planner says of it must hold.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support_relayout.h"
#include "support_seed.h"

typedef struct row {
  const char *name;
  int32_t bits, rank;
  int64_t shape[6];
  const char *dst, *src; /* digits, see support_relayout.h */
} row;

static const row rows[] = {
    {"transpose f32, pitch a power of two", 32, 2, {256, 256}, "1 0", "0 1"},
    {"transpose f32, pitch a multiple of 32", 32, 2, {160, 352}, "1 0", "0 1"},
    {"transpose f32, odd pitches", 32, 2, {253, 261}, "1 0", "0 1"},
    {"transpose u8", 8, 2, {256, 256}, "1 0", "0 1"},
    {"transpose bf16", 16, 2, {320, 192}, "1 0", "0 1"},
    {"transpose f64", 64, 2, {160, 160}, "1 0", "0 1"},
    {"transpose f32, few long rows", 32, 2, {64, 1024}, "1 0", "0 1"},
    {"transpose f32, three columns", 32, 2, {8276, 3}, "1 0", "0 1"},
    {"transpose s4", 4, 2, {256, 256}, "1 0", "0 1"},
    {"transpose f32, one block", 32, 2, {16, 16}, "1 0", "0 1"},
    {"transpose f32, prime extents", 32, 2, {361, 477}, "1 0", "0 1"},
    {"rows of f32 in another order", 32, 3, {32, 48, 112}, "1 0 2", "0 1 2"},
    {"three dims of f32 reversed", 32, 3, {64, 35, 64}, "2 1 0", "0 1 2"},
    {"four dims of f32, rows stay", 32, 4, {16, 11, 16, 16}, "2 1 0 3", "0 1 2 3"},
    {"four dims of f32 reversed", 32, 4, {32, 11, 11, 32}, "3 2 1 0", "0 1 2 3"},
    {"five dims of f32 reversed", 32, 5, {16, 12, 12, 4, 32}, "4 3 2 1 0", "0 1 2 3 4"},
    {"six dims of f32, short rows", 32, 6, {7, 7, 8, 7, 8, 8}, "4 1 0 3 2 5", "0 1 2 3 4 5"},
    {"a cube of f32 rotated", 32, 3, {48, 48, 48}, "1 2 0", "0 1 2"},
    {"pictures of f32, the first dim last", 32, 4, {64, 28, 28, 3}, "1 2 3 0", "0 1 2 3"},
    {"bf16 heads, rows of 256 bytes move", 16, 4, {2, 32, 8, 128}, "0 2 1 3", "0 1 2 3"},
    {"bf16 heads transposed", 16, 4, {2, 2, 128, 128}, "0 1 3 2", "0 1 2 3"},
    {"into tiles of f32", 32, 2, {256, 256}, "0/8 1/128 0 1", "0 1"},
    {"out of tiles of f32", 32, 2, {256, 256}, "0 1", "0/8 1/128 0 1"},
    {"into tiles of f32, padded by little", 32, 2, {254, 244}, "0/8 1/128 0 1", "0 1"},
    {"into tiles of f32, padded by half", 32, 2, {104, 200}, "0/8 1/128 0 1", "0 1"},
    {"into tiles of pairs of bf16 rows", 16, 2, {128, 256}, "0/8 1/128 0/2 1 0", "0 1"},
    {"out of tiles of pairs of bf16 rows", 16, 2, {128, 256}, "0 1", "0/8 1/128 0/2 1 0"},
    {"into tiles of fours of s8 rows", 8, 2, {128, 384}, "0/8 1/128 0/4 1 0", "0 1"},
    {"bf16 rows i and i+8 paired", 16, 2, {128, 256}, "0/16 1/128 0 1 0/8", "0 1"},
    {"tiles of f32 to transposed tiles", 32, 2, {256, 256}, "1/8 0/128 1 0", "0/8 1/128 0 1"},
    {"tiles of bf16 pairs to higher ones", 16, 2, {128, 256}, "0/16 1/128 0/2 1 0", "0/8 1/128 0/2 1 0"},
    {"f16 sticks", 16, 2, {128, 256}, "1/64 0 1", "0 1"},
    {"f16 sticks, many", 16, 2, {64, 640}, "1/64 0 1", "0 1"},
    {"out of f16 sticks", 16, 2, {128, 256}, "0 1", "1/64 0 1"},
    {"f16 sticks of the other dim", 16, 2, {192, 192}, "0/64 1 0", "1/64 0 1"},
    {"f16 sticks of three dims, padded", 16, 3, {4, 32, 232}, "0 2/64 1 2", "0 1 2"},
    {"into blocks of 16 channels", 32, 4, {2, 32, 24, 24}, "0 1/16 2 3 1", "0 1 2 3"},
    {"out of blocks of 16 channels", 32, 4, {2, 32, 24, 24}, "0 1 2 3", "0 1/16 2 3 1"},
    {"channels last, f32", 32, 4, {2, 32, 24, 24}, "0 2 3 1", "0 1 2 3"},
    {"channels first, u8", 8, 4, {4, 3, 96, 96}, "0 1 2 3", "0 2 3 1"},
    {"weights in blocks of 16 by 16", 32, 4, {64, 64, 3, 3}, "0/16 1/16 2 3 0 1", "0 1 2 3"},
    {"blocks of 16 by 16, columns of blocks", 32, 2, {256, 256}, "1/16 0/16 0 1", "0 1"},
    {"into tiles of s4", 4, 2, {256, 256}, "0/8 1/128 0 1", "0 1"},
    {"out of tiles of s4", 4, 2, {256, 256}, "0 1", "0/8 1/128 0 1"},
    {"fours of s4 rows", 4, 2, {128, 256}, "0/8 1/128 0/4 1 0", "0 1"},
    {"pred as bits, transposed", 1, 2, {256, 512}, "1 0", "0 1"},
    {"u2 transposed", 2, 2, {200, 264}, "1 0", "0 1"},
    {"c128 transposed", 128, 2, {120, 100}, "1 0", "0 1"},
};

static void run_row(const row *r, bool odd) {
  pair p = {.fill = TESELA_FILL_ZERO};
  int64_t shape[6];
  char reason[REASON];
  bench b;
  for (int i = 0; i < r->rank; i++) shape[i] = odd && r->shape[i] > 4 ? r->shape[i] - 3 : r->shape[i];
  if (slow_run())
    for (int i = 0; i < r->rank; i++) shape[i] = shape[i] > 40 ? 33 + shape[i] % 8 : shape[i];
  assert_true(layout_of_digits(&p.dst, TESELA_DTYPE_NONE, r->bits, r->rank, shape, r->dst));
  assert_true(layout_of_digits(&p.src, TESELA_DTYPE_NONE, r->bits, r->rank, shape, r->src));
  assert_true(make_bench(&b, &p, 7));
  uint64_t state = 11;
  for (int k = 0; k < (slow_run() ? 4 : 8); k++) {
    trial t = {.options = {.threads = 1}, .at_end = true};
    if (k > 0) draw_trial(&state, &t);
    if (!run_bench(&b, &t, NULL, reason)) {
      char text[PAIR_TEXT];
      trial_text(&t, text);
      fail_msg("%s%s: %s\n%s", r->name, odd ? ", odd" : "", reason, text);
    }
  }
  free_bench(&b);
}

static void test_cases(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) run_row(&rows[i], false);
}

static void test_odd_cases(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) run_row(&rows[i], true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cases),
      cmocka_unit_test(test_odd_cases),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
