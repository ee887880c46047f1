/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_run_functions.c - functions of bits and of numbers that HLO has: all bytes by their definitions, others by hand, and a
 * program in HLO text that uses them.
 */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "support_graph_build.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

/* fn of inputs of these shapes, plain. */
static tesela_status apply(tesela_fn fn, tesela_dtype result, const char *shapes, const void *const *inputs,
                           void *out, tesela_error *err) {
  tesela_graph *graph;
  int32_t x[4], o;
  OK(tesela_graph_create(&graph, NULL, &e_));
  int32_t n = build_inputs(graph, shapes, x);
  tesela_node_spec spec = {
      .op = TESELA_OP_POINTWISE, .fn = fn, .dtype = result, .n_operands = n, .operand = x};
  tesela_status status = tesela_graph_add(graph, &spec, &o, err);
  if (status == TESELA_OK) OK(tesela_graph_add_output(graph, o, &e_));
  void *outputs[1] = {out};
  if (status == TESELA_OK)
    status =
        tesela_graph_run(graph, NULL, inputs, outputs, &(tesela_graph_run_options){.plain = true}, NULL, err);
  tesela_graph_destroy(graph);
  return status;
}

/* ---- bits --------------------------------------------------------------------------------------------------------- */

static int bit(int x, int k) { return k >= 0 && k < 8 ? x >> k & 1 : 0; }

/* What bit k of a byte x is after a shift by `by` places, bit by bit. */
static int shifted(tesela_fn fn, int x, int by, int k) {
  bool beyond = by < 0 || by >= 8;
  switch (fn) {
  case TESELA_FN_SHIFT_LEFT:
    return beyond ? 0 : bit(x, k - by);
  case TESELA_FN_SHIFT_RIGHT_LOGICAL:
    return beyond ? 0 : bit(x, k + by);
  default:
    return beyond || k + by > 7 ? bit(x, 7) : bit(x, k + by);
  }
}

static void shifts_of_all_bytes(void **unused) {
  (void)unused;
  static const tesela_fn fns[] = {TESELA_FN_SHIFT_LEFT, TESELA_FN_SHIFT_RIGHT, TESELA_FN_SHIFT_RIGHT_LOGICAL};
  static uint8_t x[256], by[256], out[256 * 256];
  for (int i = 0; i < 256; i++) x[i] = by[i] = (uint8_t)i;
  const void *inputs[2] = {x, by};
  for (int is_signed = 0; is_signed < 2; is_signed++)
    for (int f = 0; f < 3; f++) {
      OK(apply(fns[f], TESELA_DTYPE_NONE, is_signed ? "s8[256,1] s8[1,256]" : "u8[256,1] u8[1,256]", inputs,
               out, &e_));
      for (int i = 0; i < 256; i++)
        for (int j = 0; j < 256; j++) {
          int want = 0;
          for (int k = 0; k < 8; k++) want |= shifted(fns[f], i, is_signed ? (int8_t)j : j, k) << k;
          if (out[i * 256 + j] != want)
            fail_msg("%s 0x%02x by %d: 0x%02x, not 0x%02x", tesela_fn_name(fns[f]), (unsigned)i, j,
                     out[i * 256 + j], (unsigned)want);
        }
    }
}

static void counts_of_all_bytes(void **unused) {
  (void)unused;
  static uint8_t x[256], ones[256], zeros[256];
  for (int i = 0; i < 256; i++) x[i] = (uint8_t)i;
  const void *inputs[1] = {x};
  static const char *const shapes[] = {"u8[256]", "s8[256]"};
  for (int s = 0; s < 2; s++) {
    OK(apply(TESELA_FN_POPCNT, TESELA_DTYPE_NONE, shapes[s], inputs, ones, &e_));
    OK(apply(TESELA_FN_CLZ, TESELA_DTYPE_NONE, shapes[s], inputs, zeros, &e_));
    for (int i = 0; i < 256; i++) {
      int n = 0, front = 0;
      for (int k = 0; k < 8; k++) n += bit(i, k);
      while (front < 8 && !bit(i, 7 - front)) front++;
      assert_int_equal(ones[i], n);
      assert_int_equal(zeros[i], front);
    }
  }
}

static void wide_bits(void **unused) {
  (void)unused;
  const int64_t x[4] = {-1, INT64_MIN, 0, INT64_C(0x100000000)}, by[4] = {63, 1, 5, 64};
  int64_t out[4];
  const void *inputs[2] = {x, by};
  OK(apply(TESELA_FN_SHIFT_RIGHT, TESELA_DTYPE_NONE, "s64[4] s64[4]", inputs, out, &e_));
  assert_memory_equal(out, ((const int64_t[]){-1, INT64_MIN / 2, 0, 0}), sizeof out);
  OK(apply(TESELA_FN_SHIFT_RIGHT_LOGICAL, TESELA_DTYPE_NONE, "s64[4] s64[4]", inputs, out, &e_));
  assert_memory_equal(out, ((const int64_t[]){1, INT64_C(1) << 62, 0, 0}), sizeof out);
  OK(apply(TESELA_FN_SHIFT_LEFT, TESELA_DTYPE_NONE, "s64[4] s64[4]", inputs, out, &e_));
  assert_memory_equal(out, ((const int64_t[]){INT64_MIN, 0, 0, 0}), sizeof out);
  OK(apply(TESELA_FN_POPCNT, TESELA_DTYPE_NONE, "s64[4]", inputs, out, &e_));
  assert_memory_equal(out, ((const int64_t[]){64, 1, 0, 1}), sizeof out);
  OK(apply(TESELA_FN_CLZ, TESELA_DTYPE_NONE, "s64[4]", inputs, out, &e_));
  assert_memory_equal(out, ((const int64_t[]){0, 0, 64, 31}), sizeof out);
}

static void bits_of_floats_are_refused(void **unused) {
  (void)unused;
  static const tesela_fn fns[] = {TESELA_FN_SHIFT_LEFT, TESELA_FN_SHIFT_RIGHT, TESELA_FN_SHIFT_RIGHT_LOGICAL};
  float x[1] = {1};
  const void *inputs[2] = {x, x};
  for (int i = 0; i < 3; i++)
    assert_int_equal(apply(fns[i], TESELA_DTYPE_NONE, "f32[1] f32[1]", inputs, x, NULL), TESELA_E_INVALID);
  assert_int_equal(apply(TESELA_FN_POPCNT, TESELA_DTYPE_NONE, "f32[1]", inputs, x, NULL), TESELA_E_INVALID);
  assert_int_equal(apply(TESELA_FN_CLZ, TESELA_DTYPE_NONE, "f16[1]", inputs, x, NULL), TESELA_E_INVALID);
}

/* ---- bits of another type -------------------------------------------------------------------------------------------- */

static void bits_of_another_type(void **unused) {
  (void)unused;
  const float x[4] = {1.0f, -2.5f, 0.0f, (float)INFINITY};
  uint32_t bits[4];
  float back[4];
  const void *inputs[1] = {x};
  OK(apply(TESELA_FN_BITCAST, TESELA_U32, "f32[4]", inputs, bits, &e_));
  assert_memory_equal(bits, ((const uint32_t[]){0x3f800000, 0xc0200000, 0, 0x7f800000}), sizeof bits);
  inputs[0] = bits;
  OK(apply(TESELA_FN_BITCAST, TESELA_F32, "u32[4]", inputs, back, &e_));
  assert_memory_equal(back, x, sizeof back);
  static uint8_t bytes[256], same[256];
  for (int i = 0; i < 256; i++) bytes[i] = (uint8_t)i;
  inputs[0] = bytes;
  OK(apply(TESELA_FN_BITCAST, TESELA_U8, "s8[256]", inputs, same, &e_));
  assert_memory_equal(bytes, same, sizeof same);
  OK(apply(TESELA_FN_BITCAST, TESELA_S8, "u8[256]", inputs, same, &e_));
  assert_memory_equal(bytes, same, sizeof same);
  OK(apply(TESELA_FN_BITCAST, TESELA_F8E4M3FNUZ, "s8[256]", inputs, same, &e_));
  assert_memory_equal(bytes, same, sizeof same); /* it has one code for NaN, and that code is written */
  const int16_t halves[3] = {0x3c00, -0x4000, 0x0001};
  double wide[3];
  float number[3];
  inputs[0] = halves;
  uint16_t same_halves[3];
  OK(apply(TESELA_FN_BITCAST, TESELA_F16, "s16[3]", inputs, same_halves, &e_));
  assert_memory_equal(halves, same_halves, sizeof halves);
  tesela_error err = {.message = ""};
  assert_int_equal(apply(TESELA_FN_BITCAST, TESELA_F32, "s16[3]", inputs, number, &err),
                   TESELA_E_UNSUPPORTED);
  assert_non_null(strstr(err.message, "same width"));
  assert_int_equal(apply(TESELA_FN_BITCAST, TESELA_F64, "s16[3]", inputs, wide, NULL), TESELA_E_UNSUPPORTED);
}

/* ---- numbers --------------------------------------------------------------------------------------------------------- */

static void numbers_by_hand(void **unused) {
  (void)unused;
  const double inf = (double)INFINITY, nan = (double)NAN;
  const struct {
    tesela_fn fn;
    double x, y, want;
  } rows[] = {
      {TESELA_FN_ROUND, 0.5, 0, 1},
      {TESELA_FN_ROUND, -0.5, 0, -1},
      {TESELA_FN_ROUND, 2.5, 0, 3},
      {TESELA_FN_ROUND, -2.4, 0, -2},
      {TESELA_FN_ROUND, inf, 0, inf},
      {TESELA_FN_ROUND, 0x1p60, 0, 0x1p60},
      {TESELA_FN_ROUND_EVEN, 0.5, 0, 0},
      {TESELA_FN_ROUND_EVEN, 1.5, 0, 2},
      {TESELA_FN_ROUND_EVEN, -2.5, 0, -2},
      {TESELA_FN_ROUND_EVEN, -3.5, 0, -4},
      {TESELA_FN_ROUND_EVEN, 2.6, 0, 3},
      {TESELA_FN_ROUND_EVEN, nan, 0, nan},
      {TESELA_FN_CBRT, 27, 0, 3},
      {TESELA_FN_CBRT, -8, 0, -2},
      {TESELA_FN_CBRT, 0, 0, 0},
      {TESELA_FN_TAN, 0, 0, 0},
      {TESELA_FN_ATAN2, 0, 1, 0},
      {TESELA_FN_ATAN2, 1, 0, 0x1.921fb54442d18p0},
      {TESELA_FN_ATAN2, 0, -1, 0x1.921fb54442d18p1},
      {TESELA_FN_ATAN2, -1, 0, -0x1.921fb54442d18p0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const void *inputs[2] = {&rows[i].x, &rows[i].y};
    double out;
    bool two = tesela_fn_operands(rows[i].fn) == 2;
    OK(apply(rows[i].fn, TESELA_DTYPE_NONE, two ? "f64[1] f64[1]" : "f64[1]", inputs, &out, &e_));
    /* what libm computes may be off in the last bit of f64 */
    if ((float)out != (float)rows[i].want && !(isnan(out) && isnan(rows[i].want)))
      fail_msg("row %d, %s: %.17g, not %.17g", (int)i, tesela_fn_name(rows[i].fn), out, rows[i].want);
  }
  double x = 1, out; /* tan 1 is sin 1 over cos 1; to 15 digits */
  OK(apply(TESELA_FN_TAN, TESELA_DTYPE_NONE, "f64[1]", (const void *const[]){&x}, &out, &e_));
  assert_true(fabs(out - 1.5574077246549022) < 1e-15);
}

/* ---- HLO text ---------------------------------------------------------------------------------------------------------- */

/* What makers of random numbers do: bits are shifted, joined, and taken for a float between 1 and 2. */
static void a_module_with_bits(void **unused) {
  (void)unused;
  static const char text[] = "HloModule m\n"
                             "ENTRY e {\n"
                             "  p = u32[5] parameter(0)\n"
                             "  nine = u32[] constant(9)\n"
                             "  n = u32[5] broadcast(nine), dimensions={}\n"
                             "  s = u32[5] shift-right-logical(p, n)\n"
                             "  one = u32[] constant(1065353216)\n"
                             "  o = u32[5] broadcast(one), dimensions={}\n"
                             "  b = u32[5] or(s, o)\n"
                             "  f = f32[5] bitcast-convert(b)\n"
                             "  c = u32[5] popcnt(p)\n"
                             "  z = u32[5] count-leading-zeros(p)\n"
                             "  r = f32[5] round-nearest-even(f)\n"
                             "  a = f32[5] round-nearest-afz(f)\n"
                             "  ROOT t = (f32[5], u32[5], u32[5], f32[5], f32[5]) tuple(f, c, z, r, a)\n"
                             "}\n";
  tesela_graph *graph;
  OK(tesela_graph_read_hlo(&graph, text, strlen(text), NULL, NULL, NULL, &e_));
  const uint32_t p[5] = {0, 0xffffffff, 0x80000000, 0x00000200, 0x12345678};
  float f[5], even[5], away[5];
  uint32_t ones[5], zeros[5];
  void *outputs[8];
  int32_t n = tesela_graph_n_outputs(graph);
  for (int32_t k = 0; k < n; k++) {
    const tesela_node *node = tesela_graph_node(graph, tesela_graph_output(graph, k));
    outputs[k] = node->fn == TESELA_FN_BITCAST      ? (void *)f
                 : node->fn == TESELA_FN_POPCNT     ? (void *)ones
                 : node->fn == TESELA_FN_CLZ        ? (void *)zeros
                 : node->fn == TESELA_FN_ROUND_EVEN ? (void *)even
                                                    : (void *)away;
  }
  assert_int_equal(n, 5);
  OK(tesela_graph_run(graph, NULL, (const void *const[]){p}, outputs,
                      &(tesela_graph_run_options){.plain = true}, NULL, &e_));
  for (int i = 0; i < 5; i++) {
    double want = 1 + (double)(p[i] / 512) / 8388608; /* 23 bits of fraction */
    assert_true((double)f[i] == want);
    assert_true(even[i] == (want > 1.5 ? 2.0f : want < 1.5 ? 1.0f : 2.0f));
    assert_true(away[i] == (want >= 1.5 ? 2.0f : 1.0f));
  }
  assert_memory_equal(ones, ((const uint32_t[]){0, 32, 1, 1, 13}), sizeof ones);
  assert_memory_equal(zeros, ((const uint32_t[]){32, 0, 0, 22, 3}), sizeof zeros);
  tesela_graph_destroy(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shifts_of_all_bytes),
      cmocka_unit_test(counts_of_all_bytes),
      cmocka_unit_test(wide_bits),
      cmocka_unit_test(bits_of_floats_are_refused),
      cmocka_unit_test(bits_of_another_type),
      cmocka_unit_test(numbers_by_hand),
      cmocka_unit_test(a_module_with_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
