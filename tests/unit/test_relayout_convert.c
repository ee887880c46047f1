/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_relayout_convert.c - values that change on the way: conversions, byte order, pairs of f32.
 *
 * Rows are worked out by hand from the formats; all 2^16 codes of the 16-bit formats, all bytes, and f32 values
 * around every rounding boundary of the narrow formats are compared with relayout_value, which rounds by bisection.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "support_relayout.h"
#include "support_seed.h"

/* ---- which transforms there are ------------------------------------------------------------------------ */

static const struct {
  const char *name;
  tesela_transform transform;
  tesela_dtype dst;
  int32_t dst_bits;
  tesela_dtype src;
  int32_t src_bits;
  tesela_status status;
} check_rows[] = {
    {"bits", TESELA_TRANSFORM_NONE, TESELA_F32, 32, TESELA_F32, 32, TESELA_OK},
    {"bits of no type", TESELA_TRANSFORM_NONE, TESELA_DTYPE_NONE, 32, TESELA_F32, 32, TESELA_OK},
    {"bits of other types", TESELA_TRANSFORM_NONE, TESELA_S32, 32, TESELA_F32, 32, TESELA_E_MISMATCH},
    {"bits of other widths", TESELA_TRANSFORM_NONE, TESELA_S4, 8, TESELA_S4, 4, TESELA_E_MISMATCH},
    {"swap of f32", TESELA_TRANSFORM_SWAP, TESELA_F32, 32, TESELA_F32, 32, TESELA_OK},
    {"swap of c128", TESELA_TRANSFORM_SWAP, TESELA_C128, 128, TESELA_C128, 128, TESELA_OK},
    {"swap of bytes", TESELA_TRANSFORM_SWAP, TESELA_U8, 8, TESELA_U8, 8, TESELA_OK},
    {"swap of other types", TESELA_TRANSFORM_SWAP, TESELA_S32, 32, TESELA_F32, 32, TESELA_E_MISMATCH},
    {"swap of nibbles", TESELA_TRANSFORM_SWAP, TESELA_S4, 4, TESELA_S4, 4, TESELA_E_UNSUPPORTED},
    {"f32 to bf16", TESELA_TRANSFORM_CONVERT, TESELA_BF16, 16, TESELA_F32, 32, TESELA_OK},
    {"bf16 to f32", TESELA_TRANSFORM_CONVERT, TESELA_F32, 32, TESELA_BF16, 16, TESELA_OK},
    {"f32 to f16", TESELA_TRANSFORM_CONVERT, TESELA_F16, 16, TESELA_F32, 32, TESELA_OK},
    {"f16 to f32", TESELA_TRANSFORM_CONVERT, TESELA_F32, 32, TESELA_F16, 16, TESELA_OK},
    {"s8 to s4", TESELA_TRANSFORM_CONVERT, TESELA_S4, 4, TESELA_S8, 8, TESELA_OK},
    {"s4 to s8", TESELA_TRANSFORM_CONVERT, TESELA_S8, 8, TESELA_S4, 4, TESELA_OK},
    {"pred to bits", TESELA_TRANSFORM_CONVERT, TESELA_PRED, 1, TESELA_PRED, 8, TESELA_OK},
    {"pred from bits", TESELA_TRANSFORM_CONVERT, TESELA_PRED, 8, TESELA_PRED, 1, TESELA_OK},
    {"pred to 4 bytes", TESELA_TRANSFORM_CONVERT, TESELA_PRED, 32, TESELA_PRED, 8, TESELA_OK},
    {"pred from 4 bytes", TESELA_TRANSFORM_CONVERT, TESELA_PRED, 8, TESELA_PRED, 32, TESELA_OK},
    {"bits from 4 bytes", TESELA_TRANSFORM_CONVERT, TESELA_PRED, 1, TESELA_PRED, 32, TESELA_OK},
    {"bits to 4 bytes", TESELA_TRANSFORM_CONVERT, TESELA_PRED, 32, TESELA_PRED, 1, TESELA_OK},
    {"f64 to itself", TESELA_TRANSFORM_CONVERT, TESELA_F64, 64, TESELA_F64, 64, TESELA_OK},
    {"u2 to itself", TESELA_TRANSFORM_CONVERT, TESELA_U2, 2, TESELA_U2, 2, TESELA_OK},
    {"f64 to f32", TESELA_TRANSFORM_CONVERT, TESELA_F32, 32, TESELA_F64, 64, TESELA_OK},
    {"f32 to f64", TESELA_TRANSFORM_CONVERT, TESELA_F64, 64, TESELA_F32, 32, TESELA_OK},
    {"f64 to f16", TESELA_TRANSFORM_CONVERT, TESELA_F16, 16, TESELA_F64, 64, TESELA_E_UNSUPPORTED},
    {"s4 to nibbles", TESELA_TRANSFORM_CONVERT, TESELA_S4, 4, TESELA_S4, 8, TESELA_OK},
    {"s4 to bytes", TESELA_TRANSFORM_CONVERT, TESELA_S4, 8, TESELA_S4, 4, TESELA_OK},
    {"f4 to nibbles", TESELA_TRANSFORM_CONVERT, TESELA_F4E2M1FN, 4, TESELA_F4E2M1FN, 8, TESELA_OK},
    {"s1 to bytes", TESELA_TRANSFORM_CONVERT, TESELA_S1, 8, TESELA_S1, 1, TESELA_OK},
    {"s4 to 2 bits", TESELA_TRANSFORM_CONVERT, TESELA_S4, 2, TESELA_S4, 8, TESELA_E_UNSUPPORTED},
    {"s8 to 4 bits", TESELA_TRANSFORM_CONVERT, TESELA_S8, 4, TESELA_S8, 8, TESELA_E_UNSUPPORTED},
    {"u8 to u4", TESELA_TRANSFORM_CONVERT, TESELA_U4, 4, TESELA_U8, 8, TESELA_E_UNSUPPORTED},
    {"f16 to bf16", TESELA_TRANSFORM_CONVERT, TESELA_BF16, 16, TESELA_F16, 16, TESELA_OK},
    {"bf16 to f16", TESELA_TRANSFORM_CONVERT, TESELA_F16, 16, TESELA_BF16, 16, TESELA_OK},
    {"s64 to s32", TESELA_TRANSFORM_CONVERT, TESELA_S32, 32, TESELA_S64, 64, TESELA_OK},
    {"u8 to u32", TESELA_TRANSFORM_CONVERT, TESELA_U32, 32, TESELA_U8, 8, TESELA_OK},
    {"pred to f16", TESELA_TRANSFORM_CONVERT, TESELA_F16, 16, TESELA_PRED, 8, TESELA_OK},
    {"f32 to pred", TESELA_TRANSFORM_CONVERT, TESELA_PRED, 8, TESELA_F32, 32, TESELA_OK},
    {"u8 to s32", TESELA_TRANSFORM_CONVERT, TESELA_S32, 32, TESELA_U8, 8, TESELA_E_UNSUPPORTED},
    {"s64 to s16", TESELA_TRANSFORM_CONVERT, TESELA_S16, 16, TESELA_S64, 64, TESELA_E_UNSUPPORTED},
    {"pred in 4 bytes to f32", TESELA_TRANSFORM_CONVERT, TESELA_F32, 32, TESELA_PRED, 32,
     TESELA_E_UNSUPPORTED},
    {"a pair of f64", TESELA_TRANSFORM_SPLIT, TESELA_DTYPE_NONE, 64, TESELA_F64, 64, TESELA_OK},
    {"f64 of a pair", TESELA_TRANSFORM_MERGE, TESELA_F64, 64, TESELA_DTYPE_NONE, 64, TESELA_OK},
    {"a pair of s64", TESELA_TRANSFORM_SPLIT, TESELA_DTYPE_NONE, 64, TESELA_S64, 64, TESELA_E_UNSUPPORTED},
    {"a pair of f32", TESELA_TRANSFORM_SPLIT, TESELA_F32, 32, TESELA_F64, 64, TESELA_E_UNSUPPORTED},
    {"s64 of a pair", TESELA_TRANSFORM_MERGE, TESELA_S64, 64, TESELA_DTYPE_NONE, 64, TESELA_E_UNSUPPORTED},
};

static tesela_layout line(tesela_dtype dtype, int32_t bits, int64_t n, const char *text) {
  tesela_layout layout;
  assert_true(layout_of_digits(&layout, dtype, bits, 1, &n, text));
  return layout;
}

/* The answer of tesela_transform_check, and the same from tesela_plan_create. */
static void test_check(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof check_rows / sizeof check_rows[0]; i++) {
    tesela_error err = {.message = ""};
    tesela_status status =
        tesela_transform_check(check_rows[i].transform, check_rows[i].dst, check_rows[i].dst_bits,
                               check_rows[i].src, check_rows[i].src_bits, &err);
    if (status != check_rows[i].status)
      fail_msg("%s: %s, %s", check_rows[i].name, tesela_status_code(status), err.message);
    if (status != TESELA_OK && err.message[0] == '\0') fail_msg("%s: no message", check_rows[i].name);
    tesela_layout dst = line(check_rows[i].dst, check_rows[i].dst_bits, 5, "0");
    tesela_layout src = line(check_rows[i].src, check_rows[i].src_bits, 5, "0");
    tesela_plan_options options = {.transform = check_rows[i].transform};
    tesela_plan *plan = NULL;
    assert_int_equal(tesela_plan_create(&plan, &dst, &src, &options, NULL), status);
    tesela_plan_destroy(plan);
  }
}

/* ---- single values, by hand ---------------------------------------------------------------------------- */

static const struct {
  const char *name;
  tesela_transform transform;
  tesela_dtype dst;
  int32_t dst_bits;
  tesela_dtype src;
  int32_t src_bits;
  uint64_t in, out;
} value_rows[] = {
#define BF16_OF(name, in, out) \
  { name, TESELA_TRANSFORM_CONVERT, TESELA_BF16, 16, TESELA_F32, 32, in, out }
    BF16_OF("1", 0x3f800000, 0x3f80),
    BF16_OF("-2.5", 0xc0200000, 0xc020),
    BF16_OF("a tie goes to even below", 0x3f808000, 0x3f80),
    BF16_OF("a tie goes to even above", 0x3f818000, 0x3f82),
    BF16_OF("just above a tie", 0x3f808001, 0x3f81),
    BF16_OF("just below a tie", 0x3f817fff, 0x3f81),
    BF16_OF("carries into the exponent", 0x3fffffff, 0x4000),
    BF16_OF("the largest becomes infinite", 0x7f7fffff, 0x7f80),
    BF16_OF("minus infinity", 0xff800000, 0xff80),
    BF16_OF("minus zero", 0x80000000, 0x8000),
    BF16_OF("the smallest becomes zero", 0x00000001, 0x0000),
    BF16_OF("a subnormal stays one", 0x00010000, 0x0001),
#undef BF16_OF
#define F16_OF(name, in, out) \
  { name, TESELA_TRANSFORM_CONVERT, TESELA_F16, 16, TESELA_F32, 32, in, out }
    F16_OF("1", 0x3f800000, 0x3c00),
    F16_OF("65504 is the largest", 0x477fe000, 0x7bff),
    F16_OF("65519.996 is the last that is finite", 0x477fefff, 0x7bff),
    F16_OF("65520 is infinite", 0x477ff000, 0x7c00),
    F16_OF("2^-14 is the smallest normal one", 0x38800000, 0x0400),
    F16_OF("2^-24 is the smallest", 0x33800000, 0x0001),
    F16_OF("2^-25 is a tie with zero", 0x33000000, 0x0000),
    F16_OF("a little more than 2^-25", 0x33000001, 0x0001),
    F16_OF("1.5 * 2^-24 is a tie", 0x33c00000, 0x0002),
    F16_OF("a subnormal f32", 0x80000001, 0x8000),
    F16_OF("-infinity", 0xff800000, 0xfc00),
#undef F16_OF
    {"f16 1 to f32", TESELA_TRANSFORM_CONVERT, TESELA_F32, 32, TESELA_F16, 16, 0x3c00, 0x3f800000},
    {"f16 2^-24 to f32", TESELA_TRANSFORM_CONVERT, TESELA_F32, 32, TESELA_F16, 16, 0x0001, 0x33800000},
    {"f16 infinity to f32", TESELA_TRANSFORM_CONVERT, TESELA_F32, 32, TESELA_F16, 16, 0xfc00, 0xff800000},
    {"bf16 to f32", TESELA_TRANSFORM_CONVERT, TESELA_F32, 32, TESELA_BF16, 16, 0xc020, 0xc0200000},
    {"s8 7", TESELA_TRANSFORM_CONVERT, TESELA_S4, 4, TESELA_S8, 8, 0x07, 0x7},
    {"s8 8 is clamped", TESELA_TRANSFORM_CONVERT, TESELA_S4, 4, TESELA_S8, 8, 0x08, 0x7},
    {"s8 -8", TESELA_TRANSFORM_CONVERT, TESELA_S4, 4, TESELA_S8, 8, 0xf8, 0x8},
    {"s8 -9 is clamped", TESELA_TRANSFORM_CONVERT, TESELA_S4, 4, TESELA_S8, 8, 0xf7, 0x8},
    {"s4 -1", TESELA_TRANSFORM_CONVERT, TESELA_S8, 8, TESELA_S4, 4, 0xf, 0xff},
    {"s4 -1 as a nibble", TESELA_TRANSFORM_CONVERT, TESELA_S4, 4, TESELA_S4, 8, 0xff, 0xf},
    {"s4 of a nibble", TESELA_TRANSFORM_CONVERT, TESELA_S4, 8, TESELA_S4, 4, 0x9, 0xf9},
    {"u4 of a nibble", TESELA_TRANSFORM_CONVERT, TESELA_U4, 8, TESELA_U4, 4, 0x9, 0x09},
    {"f4 of a nibble", TESELA_TRANSFORM_CONVERT, TESELA_F4E2M1FN, 8, TESELA_F4E2M1FN, 4, 0x9, 0x09},
    {"u1 of a bit", TESELA_TRANSFORM_CONVERT, TESELA_U1, 8, TESELA_U1, 1, 0x1, 0x01},
    {"0.1 of f64", TESELA_TRANSFORM_CONVERT, TESELA_F32, 32, TESELA_F64, 64, 0x3fb999999999999a, 0x3dcccccd},
    {"-2.5 of f32", TESELA_TRANSFORM_CONVERT, TESELA_F64, 64, TESELA_F32, 32, 0xc0200000, 0xc004000000000000},
    {"pred 0x80", TESELA_TRANSFORM_CONVERT, TESELA_PRED, 1, TESELA_PRED, 8, 0x80, 0x1},
    {"pred in the top byte", TESELA_TRANSFORM_CONVERT, TESELA_PRED, 8, TESELA_PRED, 32, 0x01000000, 0x1},
    {"pred true is 1", TESELA_TRANSFORM_CONVERT, TESELA_PRED, 32, TESELA_PRED, 8, 0xff, 0x1},
    {"swap of 2 bytes", TESELA_TRANSFORM_SWAP, TESELA_F16, 16, TESELA_F16, 16, 0x1234, 0x3412},
    {"swap of 4 bytes", TESELA_TRANSFORM_SWAP, TESELA_F32, 32, TESELA_F32, 32, 0x12345678, 0x78563412},
    {"swap of 8 bytes", TESELA_TRANSFORM_SWAP, TESELA_F64, 64, TESELA_F64, 64, 0x0123456789abcdef,
     0xefcdab8967452301},
    {"swap of two halves", TESELA_TRANSFORM_SWAP, TESELA_C64, 64, TESELA_C64, 64, 0x0123456789abcdef,
     0x67452301efcdab89},
    {"1 + 2^-30 as two f32", TESELA_TRANSFORM_SPLIT, TESELA_DTYPE_NONE, 64, TESELA_F64, 64,
     0x3ff0000000400000, 0x308000003f800000},
    {"0.1 as two f32", TESELA_TRANSFORM_SPLIT, TESELA_DTYPE_NONE, 64, TESELA_F64, 64, 0x3fb999999999999a,
     0xb0cccccd3dcccccd},
    {"two f32 as 1 + 2^-30", TESELA_TRANSFORM_MERGE, TESELA_F64, 64, TESELA_DTYPE_NONE, 64,
     0x308000003f800000, 0x3ff0000000400000},
};

static void put_number(unsigned char *bytes, uint64_t x) {
  for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(x >> 8 * i);
}

static void test_values(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof value_rows / sizeof value_rows[0]; i++) {
    unsigned char in[16] = {0}, out[16] = {0}, want[16] = {0}, oracle[16];
    tesela_layout dst = line(value_rows[i].dst, value_rows[i].dst_bits, 1, "0");
    tesela_layout src = line(value_rows[i].src, value_rows[i].src_bits, 1, "0");
    tesela_plan_options options = {.transform = value_rows[i].transform};
    tesela_plan *plan;
    put_number(in, value_rows[i].in);
    put_number(want, value_rows[i].out);
    relayout_value(options.transform, &dst, &src, in, oracle);
    assert_memory_equal(oracle, want, 16);
    for (int isa = TESELA_ISA_BEST; isa <= TESELA_ISA_AVX512; isa++) {
      options.isa = (tesela_isa)isa;
      if (!tesela_isa_available(options.isa)) continue;
      assert_int_equal(tesela_plan_create(&plan, &dst, &src, &options, NULL), TESELA_OK);
      assert_int_equal(tesela_plan_run(plan, out, in, NULL, NULL), TESELA_OK);
      tesela_plan_destroy(plan);
      if (memcmp(out, want, 16) != 0) fail_msg("%s, %s", value_rows[i].name, tesela_isa_name(options.isa));
    }
  }
}

/* ---- all values ---------------------------------------------------------------------------------------- */

/* A line of n values, copied by every instruction set and compared with the oracle. */
static void check_line(const char *name, tesela_transform transform, const tesela_layout *dst,
                       const tesela_layout *src, int64_t n, const unsigned char *in) {
  size_t bytes = (size_t)(n * dst->bits + 7) / 8;
  unsigned char *out = malloc(bytes), x[16], got[16], want[16];
  assert_non_null(out);
  for (int isa = TESELA_ISA_BEST; isa <= TESELA_ISA_AVX512; isa++) {
    tesela_plan_options options = {.transform = transform, .isa = (tesela_isa)isa, .threads = 1};
    tesela_plan *plan;
    if (!tesela_isa_available(options.isa)) continue;
    memset(out, 0x99, bytes);
    assert_int_equal(tesela_plan_create(&plan, dst, src, &options, NULL), TESELA_OK);
    assert_int_equal(tesela_plan_run(plan, out, in, NULL, NULL), TESELA_OK);
    tesela_plan_destroy(plan);
    for (int64_t i = 0; i < n; i++) {
      relayout_get(in, i, src->bits, x);
      relayout_value(transform, dst, src, x, want);
      relayout_get(out, i, dst->bits, got);
      if (!relayout_same(transform, dst, got, want))
        fail_msg("%s, %s: value %02x%02x%02x%02x gives %02x%02x%02x%02x, not %02x%02x%02x%02x", name,
                 tesela_isa_name(options.isa), x[3], x[2], x[1], x[0], got[3], got[2], got[1], got[0],
                 want[3], want[2], want[1], want[0]);
    }
  }
  free(out);
}

static void test_all_16_bit_values(void **state) {
  (void)state;
  static unsigned char in[2 << 16];
  for (int i = 0; i < 1 << 16; i++) in[2 * i] = (unsigned char)i, in[2 * i + 1] = (unsigned char)(i >> 8);
  tesela_layout f32 = line(TESELA_F32, 32, 1 << 16, "0"), f16 = line(TESELA_F16, 16, 1 << 16, "0"),
                bf16 = line(TESELA_BF16, 16, 1 << 16, "0");
  check_line("f16 to f32", TESELA_TRANSFORM_CONVERT, &f32, &f16, 1 << 16, in);
  check_line("bf16 to f32", TESELA_TRANSFORM_CONVERT, &f32, &bf16, 1 << 16, in);
}

/* Of every narrow value the f32 that is it, and the neighbours of the midpoint to the next one. */
static void check_boundaries(const char *name, tesela_dtype narrow, int fraction_bits) {
  static unsigned char in[5 * 4 << 16];
  int64_t n = 0, step = slow_run() ? 37 : 1, shift = 23 - fraction_bits;
  tesela_layout f32 = line(TESELA_F32, 32, 1, "0"), one = line(narrow, 16, 1, "0");
  for (int64_t code = 0; code < 1 << 16; code += step) {
    unsigned char x[16] = {(unsigned char)code, (unsigned char)(code >> 8)}, y[16];
    uint32_t base;
    relayout_value(TESELA_TRANSFORM_CONVERT, &f32, &one, x, y);
    memcpy(&base, y, 4);
    uint32_t half = (uint32_t)1 << (shift - 1),
             near[5] = {base, base + 1, base + half - 1, base + half, base + half + 1};
    memcpy(in + 4 * n, near, sizeof near);
    n += 5;
  }
  tesela_layout src = line(TESELA_F32, 32, n, "0"), dst = line(narrow, 16, n, "0");
  check_line(name, TESELA_TRANSFORM_CONVERT, &dst, &src, n, in);
}

static void test_rounding_boundaries(void **state) {
  (void)state;
  check_boundaries("f32 to bf16", TESELA_BF16, 7);
  check_boundaries("f32 to f16", TESELA_F16, 10);
}

static void test_all_bytes(void **state) {
  (void)state;
  unsigned char in[256];
  tesela_layout s8 = line(TESELA_S8, 8, 256, "0"), s4 = line(TESELA_S4, 4, 256, "0"),
                pred8 = line(TESELA_PRED, 8, 256, "0"), pred1 = line(TESELA_PRED, 1, 256, "0"),
                pred32 = line(TESELA_PRED, 32, 64, "0"), from32 = line(TESELA_PRED, 8, 64, "0");
  for (int i = 0; i < 256; i++) in[i] = (unsigned char)i;
  check_line("s8 to s4", TESELA_TRANSFORM_CONVERT, &s4, &s8, 256, in);
  check_line("s4 to s8", TESELA_TRANSFORM_CONVERT, &s8, &s4, 256, in);
  check_line("pred to bits", TESELA_TRANSFORM_CONVERT, &pred1, &pred8, 256, in);
  check_line("pred from bits", TESELA_TRANSFORM_CONVERT, &pred8, &pred1, 256, in);
  for (int i = 0; i < 256; i++) in[i] = (unsigned char)(i % 4 == i / 4 % 6 ? 1 << i % 8 : 0);
  check_line("pred from 4 bytes", TESELA_TRANSFORM_CONVERT, &from32, &pred32, 64, in);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_check),
      cmocka_unit_test(test_values),
      cmocka_unit_test(test_all_16_bit_values),
      cmocka_unit_test(test_rounding_boundaries),
      cmocka_unit_test(test_all_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
