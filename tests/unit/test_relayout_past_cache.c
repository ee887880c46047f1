/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_relayout_past_cache.c - random copies that are longer than the caches, planned as they are for users: long rows, full tiles, stores
 * past the cache. Smaller ones reach these only where `shuffle` happens to choose so.
 *
 * The order of dims, tiles of some of them, extents, widths, fills, threads and the alignment are drawn. TESELA_SEED sets the first seed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support_relayout.h"
#include "support_seed.h"

enum { TEXT = 200, RANK = 7, BYTES = 9 << 20, BYTES_OF_BITS = 5 << 20 };

static int64_t below(uint64_t *state, int64_t n) { return (int64_t)(mixed(state) % (uint64_t)n); }

/* Digits of all dims in any order, up to two dims cut by a step. */
static void draw_side(uint64_t *state, int32_t rank, const int64_t *shape, char text[TEXT]) {
  static const int64_t steps[] = {2, 3, 4, 8, 16, 32, 64, 100, 128};
  char digit[2 * RANK][16];
  int n = 0, cuts = (int)below(state, 3);
  for (int32_t d = 0; d < rank; d++) {
    const int64_t step = steps[below(state, 9)];
    snprintf(digit[n++], sizeof digit[0], "%d ", (int)d);
    if (cuts > 0 && step < shape[d] && below(state, 2) == 0) {
      snprintf(digit[n++], sizeof digit[0], "%d/%d ", (int)d, (int)step);
      cuts--;
    }
  }
  text[0] = '\0';
  for (; n > 0; n--) {
    const int64_t i = below(state, n);
    strcat(text, digit[i]);
    memcpy(digit[i], digit[n - 1], sizeof digit[0]);
  }
}

/* Extents whose product is about `elements`: of any size, often powers of two. */
static void draw_shape(uint64_t *state, int32_t rank, int64_t elements, int64_t shape[RANK]) {
  int64_t left = elements;
  for (int32_t d = 0; d < rank - 1; d++) {
    int64_t most = 1;
    while (most * most < left && below(state, 4)) most *= 2;
    shape[d] = below(state, 2) ? most : most / 2 + 1 + below(state, most);
    left = left / shape[d] > 0 ? left / shape[d] : 1;
  }
  shape[rank - 1] = left;
  for (int32_t d = rank - 1; d > 0; d--) {
    const int64_t i = below(state, d + 1), extent = shape[d];
    shape[d] = shape[i];
    shape[i] = extent;
  }
}

static void draw_long_pair(uint64_t *state, pair *p) {
  static const int32_t widths[] = {8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 128, 4};
  const int32_t bits = widths[below(state, 13)], rank = 2 + (int32_t)below(state, RANK - 1);
  int64_t shape[RANK];
  char dst[TEXT], src[TEXT];
  draw_shape(state, rank, (int64_t)(bits < 8 ? BYTES_OF_BITS : BYTES) * 8 / bits, shape);
  draw_side(state, rank, shape, dst);
  draw_side(state, rank, shape, src);
  *p = (pair){.fill = (tesela_fill)below(state, 3)};
  for (size_t i = 0; i < sizeof p->fill_value; i++) p->fill_value[i] = (uint8_t)mixed(state);
  assert_true(layout_of_digits(&p->dst, TESELA_DTYPE_NONE, bits, rank, shape, dst));
  assert_true(layout_of_digits(&p->src, TESELA_DTYPE_NONE, bits, rank, shape, src));
}

static void run_pair(const pair *p, uint64_t *state) {
  char reason[REASON], what[PAIR_TEXT], how[PAIR_TEXT];
  bench b;
  if (!make_bench(&b, p, mixed(state))) return; /* padded to more places than the oracle lists */
  for (int k = 0; k < 3; k++) {
    trial t;
    draw_trial(state, &t);
    t.options.shuffle = 0;
    t.options.memory_bytes = 0;
    if (k == 0) t.options.solver = TESELA_SOLVER_ANY, t.options.isa = TESELA_ISA_BEST;
    if (k == 0) t.options.threads = 1;
    if (run_bench(&b, &t, NULL, reason)) continue;
    pair_text(p, what);
    trial_text(&t, how);
    fail_msg("%s\n%s\n%s", what, how, reason);
  }
  free_bench(&b);
}

static void test_long_pairs(void **state) {
  (void)state;
  uint64_t random = first_seed() + 4242;
  for (int i = 0; i < (slow_run() ? 1 : 6); i++) {
    pair p;
    draw_long_pair(&random, &p);
    run_pair(&p, &random);
  }
}

static void run_one(int32_t bits, int32_t rank, const int64_t *shape, const char *dst, const char *src) {
  uint64_t random = 1;
  pair p = {0};
  assert_true(layout_of_digits(&p.dst, TESELA_DTYPE_NONE, bits, rank, shape, dst));
  assert_true(layout_of_digits(&p.src, TESELA_DTYPE_NONE, bits, rank, shape, src));
  run_pair(&p, &random);
}

/* Rows of dst that follow each other are staged in parts, of a loop that others follow. */
static void test_staged_parts(void **state) {
  (void)state;
  run_one(16, 5, (const int64_t[]){6, 78, 39, 2, 200}, "3 2 4 1 0", "0 1 2 3 4");
  run_one(16, 4, (const int64_t[]){304, 8, 1064, 2}, "1 3 2 0", "0 1 2 3");
}

/* Where L2 is small, whole lines of dst are staged, too: those that are pages apart, and few bytes that follow each other. */
static void test_staged_lines(void **state) {
  (void)state;
  run_one(32, 2, (const int64_t[]){122880, 31}, "1 0", "0 1");
  run_one(64, 3, (const int64_t[]){8, 4096, 56}, "2 1 0", "0 1 2");
  run_one(8, 2, (const int64_t[]){36864, 412}, "1/4 0/128 1 0", "0 1");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_long_pairs), cmocka_unit_test(test_staged_parts),
                                     cmocka_unit_test(test_staged_lines)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
