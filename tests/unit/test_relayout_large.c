/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_relayout_large.c - copies that are longer on both sides than what the engine holds at once: full tiles of
 * elements that are packed before they are transposed (parts of bytes, conversions), and windows of a bound on memory.
 *
 * Each row is checked as planned, with the C kernels, and with tiles and stores at random.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support_relayout.h"
#include "support_seed.h"

typedef struct row {
  const char *name;
  tesela_transform transform;
  tesela_dtype dst_type;
  int32_t dst_bits;
  tesela_dtype src_type;
  int32_t src_bits;
  int64_t shape[2];
  const char *dst, *src; /* digits, see support_relayout.h */
  int64_t memory_bytes;
} row;

#define MOVED(bits) TESELA_TRANSFORM_NONE, TESELA_DTYPE_NONE, bits, TESELA_DTYPE_NONE, bits
#define SWAPPED(type, bits) TESELA_TRANSFORM_SWAP, type, bits, type, bits
#define CONVERTED(to, to_bits, from, from_bits) TESELA_TRANSFORM_CONVERT, to, to_bits, from, from_bits

static const row rows[] = {
    {"bits transposed", MOVED(1), {1104, 1112}, "1 0", "0 1", 0},
    {"2 bits transposed", MOVED(2), {1048, 1136}, "1 0", "0 1", 0},
    {"nibbles transposed", MOVED(4), {1032, 1112}, "1 0", "0 1", 0},
    {"bits transposed, pitches", MOVED(1), {1104, 1112}, "1@1128 0@1 +8", "0@1136 1@1 +16", 0},
    {"2 bits transposed, few short rows", MOVED(2), {40, 4120}, "1 0", "0 1", 0},
    {"nibbles transposed, many short rows", MOVED(4), {4104, 24}, "1 0", "0 1", 0},
    {"bits to 4 bytes, transposed",
     CONVERTED(TESELA_PRED, 32, TESELA_PRED, 1),
     {1100, 1200},
     "1 0",
     "0 1",
     0},
    {"bits to bytes, transposed", CONVERTED(TESELA_PRED, 8, TESELA_PRED, 1), {1100, 1208}, "1 0", "0 1", 0},
    {"nibbles to bytes, transposed", CONVERTED(TESELA_S8, 8, TESELA_S4, 4), {1037, 1110}, "1 0", "0 1", 0},
    {"bytes to nibbles, transposed", CONVERTED(TESELA_S4, 4, TESELA_S8, 8), {302, 411}, "1 0", "0 1", 0},
    {"4 bytes to bits, rows", CONVERTED(TESELA_PRED, 1, TESELA_PRED, 32), {3, 20011}, "0 1", "0 1", 0},
    {"f32 to bf16, transposed", CONVERTED(TESELA_BF16, 16, TESELA_F32, 32), {700, 900}, "1 0", "0 1", 0},
    {"bf16 to f32, transposed", CONVERTED(TESELA_F32, 32, TESELA_BF16, 16), {700, 900}, "1 0", "0 1", 0},
    {"f32 to bf16 in tiles",
     CONVERTED(TESELA_BF16, 16, TESELA_F32, 32),
     {333, 700},
     "0/8 1/128 0/2 1 0",
     "1 0",
     0},
    {"16 bytes swapped, transposed", SWAPPED(TESELA_DTYPE_NONE, 128), {200, 300}, "1 0", "0 1", 0},
    {"halves of 16 bytes swapped, transposed", SWAPPED(TESELA_C128, 128), {203, 301}, "1 0", "0 1", 0},
    {"2 bytes swapped, transposed", SWAPPED(TESELA_U16, 16), {700, 901}, "1 0", "0 1", 0},
    {"f64 split, transposed",
     TESELA_TRANSFORM_SPLIT,
     TESELA_DTYPE_NONE,
     64,
     TESELA_F64,
     64,
     {400, 500},
     "1 0",
     "0 1",
     0},
    {"windows", MOVED(8), {1100, 2100}, "1 0", "0 1", 1 << 20},
    {"windows of sticks with padding", MOVED(8), {1100, 2100}, "0/32 1 0", "0 1", 1 << 20},
    {"windows of bits", MOVED(1), {1104, 2312}, "1 0", "0 1", 1 << 10},
    {"windows of what is converted",
     CONVERTED(TESELA_F32, 32, TESELA_BF16, 16),
     {1030, 1100},
     "1 0",
     "0 1",
     1 << 16},
};

/* The parts of a plan under a bound on memory. */
static int32_t parts(const pair *p, int64_t memory_bytes) {
  tesela_plan_options options = {.transform = p->transform, .memory_bytes = memory_bytes, .threads = 1};
  tesela_plan_info info;
  tesela_plan *plan = NULL;
  assert_int_equal(tesela_plan_create(&plan, &p->dst, &p->src, &options, NULL), TESELA_OK);
  tesela_plan_describe(plan, &info);
  tesela_plan_destroy(plan);
  return info.n_pieces;
}

static void run_row(const row *r) {
  pair p = {.transform = r->transform, .fill = TESELA_FILL_VALUE};
  char reason[REASON], text[PAIR_TEXT];
  bench b;
  memset(p.fill_value, 0x66, sizeof p.fill_value);
  assert_true(layout_of_digits(&p.dst, r->dst_type, r->dst_bits, 2, r->shape, r->dst));
  assert_true(layout_of_digits(&p.src, r->src_type, r->src_bits, 2, r->shape, r->src));
  if (r->memory_bytes && parts(&p, r->memory_bytes) <= parts(&p, 0)) fail_msg("%s: nothing is cut", r->name);
  assert_true(make_bench(&b, &p, 17));
  for (int k = 0; k < (slow_run() ? 2 : 5); k++) {
    trial t = {.options = {.threads = 1 + k / 3, .memory_bytes = r->memory_bytes}, .at_end = k % 2 == 0};
    if (k == 1) t.options.isa = TESELA_ISA_C;
    if (k > 1) t.options.shuffle = (uint64_t)k;
    if (k > 1) t.dst_shift = (uint8_t)(7 * k), t.src_shift = (uint8_t)(5 * k);
    if (run_bench(&b, &t, NULL, reason)) continue;
    trial_text(&t, text);
    fail_msg("%s: %s\n%s", r->name, reason, text);
  }
  free_bench(&b);
}

static void test_rows(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) run_row(&rows[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
