/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_value.c - values rounded and converted to a type; many at once.
 *
 * A float is rounded once, from double: to the nearest multiple of its last bit's weight, ties to even.
 */
#include <math.h>

#include "graph/run/run_type.h"

static double value_round_any(const tesela__run_type *row, double x) {
  uint64_t bits = tesela__run_bits(x), sign = bits >> 63 << 63, size = bits ^ sign;
  double y;
  if (size > UINT64_C(0x7ff0000000000000)) return (double)NAN;
  if (size < (uint64_t)(1023 + row->least)
                 << 52) { /* multiples of the least number: the last bit of this sum */
    double above = tesela__run_double((uint64_t)(1023 + 52 + row->least - row->fraction) << 52);
    y = tesela__run_double(size) + above;
    y -= above;
  } else {
    uint32_t shift = 52 - (uint32_t)row->fraction;
    size += (UINT64_C(1) << shift) / 2 - 1 + (size >> shift & 1);
    y = tesela__run_double(size >> shift << shift);
  }
  if (y > row->greatest) y = row->kind == RUN_INFINITE ? (double)INFINITY : (double)NAN;
  if (y == 0 && row->kind == RUN_ONE_ZERO) return 0;
  return tesela__run_double(tesela__run_bits(y) | sign);
}

/* The same; between the least normal number and the greatest only the last bits change. */
static inline double value_round_float(const tesela__run_type *row, uint32_t fraction, double x) {
  uint64_t bits = tesela__run_bits(x), size = bits & ~(UINT64_C(1) << 63),
           low = (uint64_t)(1023 + row->least) << 52;
  uint32_t shift = 52 - fraction;
  if (size - low >= tesela__run_bits(row->greatest) - low) return value_round_any(row, x);
  bits += (UINT64_C(1) << shift) / 2 - 1 + (bits >> shift & 1);
  return tesela__run_double(bits >> shift << shift);
}

static double value_round_power(double x) {
  if (!(x > 0)) return (double)NAN;
  if (x < 0x1p-127) return 0x1p-127;
  uint64_t up = tesela__run_bits(x) + (UINT64_C(1) << 51);
  double y = tesela__run_double(up >> 52 << 52);
  return y > 0x1p127 ? (double)NAN : y;
}

/* Towards 0, inside the range of a type of `bits`. */
static int64_t value_to_integer(double x, int32_t bits, bool is_signed) {
  if (isnan(x)) return 0;
  double end =
      tesela__run_double((uint64_t)(1023 + bits - is_signed) << 52); /* the first number above the range */
  uint64_t most = UINT64_MAX >> (64 - bits);
  if (is_signed) {
    if (x >= end) return (int64_t)(most >> 1);
    return x <= -end ? -(int64_t)(most >> 1) - 1 : (int64_t)x;
  }
  if (x >= end) return (int64_t)most;
  return x <= -1 ? 0 : (int64_t)(uint64_t)x;
}

/* The low bits of an integer. */
static inline int64_t value_wrap(int64_t x, int32_t bits, bool is_signed) {
  if (bits == 64) return x;
  uint64_t low = (uint64_t)x & (UINT64_MAX >> (64 - bits));
  if (is_signed && low >> (bits - 1)) return (int64_t)(low | ~(UINT64_MAX >> (64 - bits)));
  return (int64_t)low;
}

static void value_round_floats(tesela_dtype dtype, int64_t n, tesela__run_value *v) {
  const tesela__run_type *row = tesela__run_type_of(dtype);
  switch (dtype) {
  case TESELA_F64:
    break;
  case TESELA_F32:
    RUN_EACH(v[j].f = (double)(float)v[j].f)
    break;
  case TESELA_F16:
    RUN_EACH(v[j].f = value_round_float(row, 10, v[j].f))
    break;
  case TESELA_F8E8M0FNU:
    RUN_EACH(v[j].f = value_round_power(v[j].f))
    break;
  default:
    RUN_EACH(v[j].f = value_round_float(row, (uint32_t)row->fraction, v[j].f))
  }
}

void tesela__run_round_row(tesela_dtype dtype, tesela__run_class from, int64_t n, tesela__run_value *v) {
  const tesela__run_type *row = tesela__run_type_of(dtype);
  if (!row) return;
  if (dtype == TESELA_PRED) {
    RUN_EACH(v[j].i = from == TESELA__RUN_FLOAT ? v[j].f != 0 : v[j].i != 0)
  } else if (row->kind != RUN_INTEGER) {
    tesela__run_convert_row(TESELA__RUN_FLOAT, from, n, v);
    value_round_floats(dtype, n, v);
  } else {
    bool is_signed = tesela__run_class_of(dtype) == TESELA__RUN_SIGNED;
    int32_t bits = row->bytes * 8;
    if (from == TESELA__RUN_FLOAT)
      RUN_EACH(v[j].i = value_to_integer(v[j].f, bits, is_signed))
    else
      RUN_EACH(v[j].i = value_wrap(v[j].i, bits, is_signed))
  }
}

void tesela__run_convert_row(tesela__run_class to, tesela__run_class from, int64_t n, tesela__run_value *v) {
  if (to == from || (to != TESELA__RUN_FLOAT && from != TESELA__RUN_FLOAT)) return;
  if (to == TESELA__RUN_FLOAT && from == TESELA__RUN_SIGNED)
    RUN_EACH(v[j].f = (double)v[j].i)
  else if (to == TESELA__RUN_FLOAT)
    RUN_EACH(v[j].f = (double)(uint64_t)v[j].i)
  else
    RUN_EACH(v[j].i = value_to_integer(v[j].f, 64, to == TESELA__RUN_SIGNED))
}

tesela__run_value tesela__run_round(tesela_dtype dtype, tesela__run_class from, tesela__run_value value) {
  tesela__run_round_row(dtype, from, 1, &value);
  return value;
}

tesela__run_value tesela__run_convert(tesela__run_class to, tesela__run_class from, tesela__run_value value) {
  tesela__run_convert_row(to, from, 1, &value);
  return value;
}

/* Is an integer a number of a float type? */
static bool value_is_float(tesela_dtype device, tesela__run_class from, tesela__run_value x) {
  if (x.i == 1 || (x.i == 0 && device != TESELA_F8E8M0FNU)) return true; /* the values of pred */
  double y = tesela__run_round(device, from, x).f, end = from == TESELA__RUN_SIGNED ? 0x1p63 : 0x1p64;
  return y < end && tesela__run_convert(from, TESELA__RUN_FLOAT, (tesela__run_value){.f = y}).i == x.i;
}

int64_t tesela__run_fit(tesela_dtype device, tesela__run_class from, int64_t n, const tesela__run_value *v) {
  const tesela__run_type *row = tesela__run_type_of(device);
  if (from == TESELA__RUN_FLOAT || !row) return n;
  for (int64_t j = 0; j < n && row->kind != RUN_INTEGER; j++)
    if (!value_is_float(device, from, v[j])) return j;
  if (row->kind != RUN_INTEGER) return n;
  bool is_signed = tesela__run_class_of(device) == TESELA__RUN_SIGNED;
  for (int64_t j = 0; j < n; j++) {
    int64_t x = v[j].i, stored = device == TESELA_PRED ? x != 0 : value_wrap(x, row->bytes * 8, is_signed);
    if (stored != x || (from == TESELA__RUN_SIGNED && x < 0) != (is_signed && stored < 0)) return j;
  }
  return n;
}

bool tesela__run_fits(tesela_dtype device, tesela__run_class from, tesela__run_value value) {
  return tesela__run_fit(device, from, 1, &value) == 1;
}

/* ---- ends of the range ---- */

tesela__run_value tesela__run_least(tesela_dtype dtype) {
  const tesela__run_type *row = tesela__run_type_of(dtype);
  if (row && row->kind == RUN_POWERS) return (tesela__run_value){.f = 0x1p-127};
  if (row && row->kind != RUN_INTEGER)
    return (tesela__run_value){.f = row->kind == RUN_INFINITE ? -(double)INFINITY : -row->greatest};
  if (!row || tesela__run_class_of(dtype) != TESELA__RUN_SIGNED) return (tesela__run_value){.i = 0};
  return (tesela__run_value){.i = INT64_MIN >> (64 - row->bytes * 8)};
}

tesela__run_value tesela__run_greatest(tesela_dtype dtype) {
  const tesela__run_type *row = tesela__run_type_of(dtype);
  if (row && row->kind != RUN_INTEGER)
    return (tesela__run_value){.f = row->kind == RUN_INFINITE ? (double)INFINITY : row->greatest};
  if (!row || dtype == TESELA_PRED) return (tesela__run_value){.i = 1};
  uint64_t all = UINT64_MAX >> (64 - row->bytes * 8);
  return (tesela__run_value){
      .i = (int64_t)(tesela__run_class_of(dtype) == TESELA__RUN_SIGNED ? all >> 1 : all)};
}
