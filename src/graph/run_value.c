/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_value.c - elements in memory as values, and rounding to a type.
 *
 * A float is rounded once, from double: to the nearest multiple of its last bit's weight, ties to even, which double arithmetic does
 * exactly, since weights are powers of two.
 */
#include <math.h>

#include "graph/run.h"

/* dtype, bytes, significant bits (0: no float), exponent of the least normal number, greatest exponent */
static const struct value_row {
  tesela_dtype dtype;
  int32_t bytes, significant, least, greatest;
} value_rows[] = {
    {TESELA_F16, 2, 11, -14, 15},     {TESELA_BF16, 2, 8, -126, 127}, {TESELA_F32, 4, 24, -126, 127},
    {TESELA_F64, 8, 53, -1022, 1023}, {TESELA_S8, 1, 0, 0, 0},        {TESELA_S16, 2, 0, 0, 0},
    {TESELA_S32, 4, 0, 0, 0},         {TESELA_S64, 8, 0, 0, 0},       {TESELA_U8, 1, 0, 0, 0},
    {TESELA_U16, 2, 0, 0, 0},         {TESELA_U32, 4, 0, 0, 0},       {TESELA_U64, 8, 0, 0, 0},
    {TESELA_PRED, 1, 0, 0, 0},
};

static const struct value_row *value_row_of(tesela_dtype dtype) {
  for (size_t i = 0; i < sizeof value_rows / sizeof value_rows[0]; i++)
    if (value_rows[i].dtype == dtype) return &value_rows[i];
  return NULL;
}

bool tesela__run_known(tesela_dtype dtype) { return value_row_of(dtype) != NULL; }

tesela__run_class tesela__run_class_of(tesela_dtype dtype) {
  switch (tesela_dtype_family_of(dtype)) {
  case TESELA_FAMILY_FLOAT:
    return TESELA__RUN_FLOAT;
  case TESELA_FAMILY_SIGNED:
    return TESELA__RUN_SIGNED;
  default:
    return TESELA__RUN_UNSIGNED;
  }
}

/* ---- bits ---- */

static double value_of_half(uint32_t half) {
  uint64_t exponent = half >> 10 & 31, fraction = half & 1023;
  if (exponent == 0) return ldexp(half & 0x8000 ? -(double)fraction : (double)fraction, -24);
  if (exponent == 31 && fraction != 0) return (double)NAN;
  uint64_t bits =
      (uint64_t)(half & 0x8000) << 48 | (exponent == 31 ? 2047 : exponent + 1008) << 52 | fraction << 42;
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* x is a number of f16, or infinite, or NaN. */
static uint16_t value_to_half(double x) {
  if (isnan(x)) return 0x7e00;
  uint32_t sign = signbit(x) ? 0x8000 : 0;
  x = fabs(x);
  if (isinf(x)) return (uint16_t)(sign | 0x7c00);
  if (x < 0x1p-14) return (uint16_t)(sign | (uint32_t)ldexp(x, 24));
  int exponent;
  double fraction = frexp(x, &exponent); /* 0.5 <= fraction < 1 */
  return (uint16_t)(sign | (uint32_t)(exponent + 14) << 10 | ((uint32_t)ldexp(fraction, 11) & 1023));
}

tesela__run_value tesela__run_load(tesela_dtype dtype, const uint8_t *memory) {
  tesela__run_value value = {.i = 0};
  switch (dtype) {
#define VALUE_LOAD(symbol, type, field, expression) \
  case symbol: {                                    \
    type x;                                         \
    memcpy(&x, memory, sizeof x);                   \
    value.field = expression;                       \
    return value;                                   \
  }
    VALUE_LOAD(TESELA_F64, double, f, x)
    VALUE_LOAD(TESELA_F32, float, f, (double)x)
    VALUE_LOAD(TESELA_F16, uint16_t, f, value_of_half(x))
    VALUE_LOAD(TESELA_S8, int8_t, i, x)
    VALUE_LOAD(TESELA_S16, int16_t, i, x)
    VALUE_LOAD(TESELA_S32, int32_t, i, x)
    VALUE_LOAD(TESELA_S64, int64_t, i, x)
    VALUE_LOAD(TESELA_U8, uint8_t, i, x)
    VALUE_LOAD(TESELA_U16, uint16_t, i, x)
    VALUE_LOAD(TESELA_U32, uint32_t, i, x)
    VALUE_LOAD(TESELA_U64, uint64_t, i, (int64_t)x)
    VALUE_LOAD(TESELA_PRED, uint8_t, i, x != 0)
#undef VALUE_LOAD
  case TESELA_BF16: {
    uint16_t half;
    memcpy(&half, memory, sizeof half);
    uint32_t bits = (uint32_t)half << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    value.f = (double)x;
    return value;
  }
  default:
    return value;
  }
}

/* Numbers of f32 and bf16 as bits of f32. */
static uint32_t value_to_single(double x) {
  float single = (float)x;
  uint32_t bits;
  memcpy(&bits, &single, sizeof bits);
  return isnan(x) ? 0x7fc00000 : bits;
}

void tesela__run_store(tesela_dtype dtype, tesela__run_value value, uint8_t *memory, int32_t width) {
  const struct value_row *row = value_row_of(dtype);
  int32_t bytes = row ? row->bytes : 0;
  uint64_t bits = (uint64_t)value.i;
  switch (dtype) {
  case TESELA_F64:
    if (isnan(value.f)) bits = UINT64_C(0x7ff8000000000000);
    break;
  case TESELA_F32:
    bits = value_to_single(value.f);
    break;
  case TESELA_BF16:
    bits = value_to_single(value.f) >> 16;
    break;
  case TESELA_F16:
    bits = value_to_half(value.f);
    break;
  default:
    break;
  }
  for (int32_t i = 0; i < width; i++) memory[i] = (uint8_t)(i < bytes ? bits >> 8 * (uint32_t)i : 0);
}

/* ---- rounding ---- */

static double value_round_float(const struct value_row *row, double x) {
  if (isnan(x)) return (double)NAN;
  if (x == 0 || isinf(x) || row->significant == 53) return x;
  int exponent = ilogb(x);
  if (exponent < row->least) exponent = row->least;
  int shift = row->significant - 1 - exponent;
  double y = ldexp(rint(ldexp(x, shift)), -shift);
  return fabs(y) >= ldexp(1, row->greatest + 1) ? copysign((double)INFINITY, x) : y;
}

/* Towards 0, inside the range of a type of `bits`. */
static int64_t value_to_integer(double x, int32_t bits, bool is_signed) {
  if (isnan(x)) return 0;
  double end = ldexp(1, is_signed ? bits - 1 : bits); /* the first number above the range */
  uint64_t most = UINT64_MAX >> (64 - bits);
  if (is_signed) {
    if (x >= end) return (int64_t)(most >> 1);
    return x <= -end ? -(int64_t)(most >> 1) - 1 : (int64_t)x;
  }
  if (x >= end) return (int64_t)most;
  return x <= -1 ? 0 : (int64_t)(uint64_t)x;
}

/* The low bits of an integer. */
static int64_t value_wrap(int64_t x, int32_t bits, bool is_signed) {
  if (bits == 64) return x;
  uint64_t low = (uint64_t)x & (UINT64_MAX >> (64 - bits));
  if (is_signed && low >> (bits - 1)) return (int64_t)(low | ~(UINT64_MAX >> (64 - bits)));
  return (int64_t)low;
}

tesela__run_value tesela__run_round(tesela_dtype dtype, tesela__run_class from, tesela__run_value value) {
  const struct value_row *row = value_row_of(dtype);
  if (!row) return value;
  if (dtype == TESELA_PRED)
    return (tesela__run_value){.i = from == TESELA__RUN_FLOAT ? value.f != 0 : value.i != 0};
  if (row->significant > 0)
    return (tesela__run_value){
        .f = value_round_float(row, tesela__run_convert(TESELA__RUN_FLOAT, from, value).f)};
  bool is_signed = tesela__run_class_of(dtype) == TESELA__RUN_SIGNED;
  if (from == TESELA__RUN_FLOAT)
    return (tesela__run_value){.i = value_to_integer(value.f, row->bytes * 8, is_signed)};
  return (tesela__run_value){.i = value_wrap(value.i, row->bytes * 8, is_signed)};
}

tesela__run_value tesela__run_convert(tesela__run_class to, tesela__run_class from, tesela__run_value value) {
  if (to == from || (to != TESELA__RUN_FLOAT && from != TESELA__RUN_FLOAT)) return value;
  if (to == TESELA__RUN_FLOAT)
    return (tesela__run_value){.f = from == TESELA__RUN_SIGNED ? (double)value.i : (double)(uint64_t)value.i};
  return (tesela__run_value){.i = value_to_integer(value.f, 64, to == TESELA__RUN_SIGNED)};
}

bool tesela__run_fits(tesela_dtype device, tesela__run_class from, tesela__run_value value) {
  const struct value_row *row = value_row_of(device);
  if (from == TESELA__RUN_FLOAT || !row || row->significant > 0) return true;
  tesela__run_value stored = tesela__run_round(device, from, value);
  bool negative = from == TESELA__RUN_SIGNED && value.i < 0;
  bool stored_negative = tesela__run_class_of(device) == TESELA__RUN_SIGNED && stored.i < 0;
  return stored.i == value.i && negative == stored_negative;
}

tesela__run_value tesela__run_least(tesela_dtype dtype) {
  const struct value_row *row = value_row_of(dtype);
  if (row && row->significant > 0) return (tesela__run_value){.f = -(double)INFINITY};
  if (!row || tesela__run_class_of(dtype) != TESELA__RUN_SIGNED) return (tesela__run_value){.i = 0};
  return (tesela__run_value){.i = INT64_MIN >> (64 - row->bytes * 8)};
}

tesela__run_value tesela__run_greatest(tesela_dtype dtype) {
  const struct value_row *row = value_row_of(dtype);
  if (row && row->significant > 0) return (tesela__run_value){.f = (double)INFINITY};
  if (!row || dtype == TESELA_PRED) return (tesela__run_value){.i = 1};
  uint64_t all = UINT64_MAX >> (64 - row->bytes * 8);
  return (tesela__run_value){
      .i = (int64_t)(tesela__run_class_of(dtype) == TESELA__RUN_SIGNED ? all >> 1 : all)};
}

void tesela__run_poison(tesela_dtype dtype, uint8_t *memory, int32_t width) {
  uint64_t bits = UINT64_C(0xadadadadadadadad);
  if (dtype == TESELA_F16) bits = 0x7dad;
  if (dtype == TESELA_BF16) bits = 0x7fad;
  if (dtype == TESELA_F32) bits = 0x7fadadad;
  if (dtype == TESELA_F64) bits = UINT64_C(0x7ff5adadadadadad);
  for (int32_t i = 0; i < width; i++) memory[i] = (uint8_t)(i < 8 ? bits >> 8 * (uint32_t)i : 0xad);
}
