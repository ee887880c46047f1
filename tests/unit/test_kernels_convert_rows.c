/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_kernels_convert_rows.c - conversions of many rows: the same as the conversion of each row for itself, whatever the rows'
 * lengths, distances and addresses are, past the cache or not, and not a byte beside them. test_kernels_convert.c has the conversion of
 * one row. TESELA_SEED sets the seed.
 */
#include "support_kernels.h"

enum { TRIALS = 300 };

static const struct {
  int32_t conversion;
  int64_t src_bits, dst_bits;
} widths[] = {
#define ROW(symbol, value, name, src_bits, dst_bits) {symbol, src_bits, dst_bits},
    TESELA__CONVERSION_MAP(ROW)
#undef ROW
};

static int64_t bytes_of(int64_t n, int64_t bits) { return (n * bits + 7) / 8; }

/* Where the rows of dst begin, from 0 on: one after the other, at lines, at any distance; forwards or backwards. */
static int64_t draw_rows(int64_t count, int64_t bytes, int64_t *off) {
  int64_t pitch = bytes;
  if (below(3) == 0) pitch = (bytes + 63) / 64 * 64;
  if (below(3) == 0) pitch += below(40);
  bool backwards = below(5) == 0;
  for (int64_t i = 0; i < count; i++) off[i] = pitch * (backwards ? count - 1 - i : i);
  return pitch * (count - 1) + bytes;
}

static void try_rows(const tesela__kernel *kernel) {
  enum { MOST_ROWS = 48 };
  int64_t off[MOST_ROWS], src_off[MOST_ROWS], count = 1 + below(MOST_ROWS), n, size;
  if (!kernel->rows) return;
  size_t w = 0;
  while (widths[w].conversion != kernel->width) w++;
  int64_t src_bits = widths[w].src_bits, dst_bits = widths[w].dst_bits;
  do {
    n = draw_size(below(2) ? 40 : below(2) ? 300 : 3000);
    size = draw_rows(count, bytes_of(n, dst_bits), off);
  } while (size > ARENA - 64);
  int64_t at = place(size);
  if (below(2)) at = at / 64 * 64;
  fill_src();
  for (int64_t i = 0; i < count; i++) src_off[i] = place(bytes_of(n, src_bits));
  protect_src(true);
  reset_dst();
  tesela__convert_fn *one = (tesela__convert_fn *)kernel->fn;
  for (int64_t i = 0; i < count; i++) one(want + at + off[i], src_arena + src_off[i], n);
  tesela__rows rows = {.n = n, .stores = (tesela__stores)below(3)};
  kernel->rows(&rows, dst_arena + at, off, src_arena, src_off, count);
  tesela__fence();
  char what[120];
  snprintf(what, sizeof what,
           "%" PRId64 " rows of %" PRId64 " elements at %" PRId64 ", the second at %" PRId64 "%s", count, n,
           at, at + off[count > 1], rows.stores == TESELA__PAST_CACHE ? ", past the cache" : "");
  check_dst(kernel, what);
}

static void test_rows_of_conversions(void **unused) {
  (void)unused;
  try_kinds(TESELA__K_CONVERT, TESELA__K_CONVERT, try_rows, TRIALS);
}

/* Every vector conversion has one for rows: the kernel that is chosen for one row is the one for many. */
static void test_vectors_have_rows(void **unused) {
  (void)unused;
  int32_t n, found = 0;
  const tesela__kernel *kernels = tesela__kernels(&n);
  for (int32_t i = 0; i < n; i++) {
    if (kernels[i].kind != TESELA__K_CONVERT) {
      assert_null(kernels[i].rows);
      continue;
    }
    if ((kernels[i].isa != 0) != (kernels[i].rows != NULL)) fail_msg("%s", kernels[i].name);
    found += kernels[i].rows != NULL;
  }
  assert_true(found >= (TESELA__X86 || TESELA__NEON ? 18 : 0));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows_of_conversions),
      cmocka_unit_test(test_vectors_have_rows),
  };
  return cmocka_run_group_tests(tests, set_up_arenas, NULL);
}
