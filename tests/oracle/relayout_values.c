/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relayout_values.c - transforms of single values, for relayout_oracle.h.
 *
 * Rounding follows its definition, without bit tricks: the codes of a float format, as plain numbers, order its values;
 * a bisection over the codes finds the two neighbours of a value, and the nearer one wins, the even one for a tie. The
 * code after the largest finite value is infinity, which rounds as if it were the next power of two. Everything is
 * exact in double: the narrow formats have at most 24 significant bits.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "relayout_oracle.h"

typedef struct float_format {
  int exponent_bits, fraction_bits;
} float_format;

static const float_format F64 = {11, 52}, F32 = {8, 23}, F16 = {5, 10}, BF16 = {8, 7};

static const float_format *format_of(tesela_dtype dtype) {
  return dtype == TESELA_F64    ? &F64
         : dtype == TESELA_F32  ? &F32
         : dtype == TESELA_F16  ? &F16
         : dtype == TESELA_BF16 ? &BF16
                                : NULL;
}

static uint64_t read_number(const unsigned char *bytes, int n) {
  uint64_t x = 0;
  for (int i = n - 1; i >= 0; i--) x = x << 8 | bytes[i];
  return x;
}

static void write_number(unsigned char *bytes, int n, uint64_t x) {
  for (int i = 0; i < n; i++) bytes[i] = (unsigned char)(x >> 8 * i);
}

static uint64_t infinity_code(const float_format *f) {
  return (((uint64_t)1 << f->exponent_bits) - 1) << f->fraction_bits;
}

/* The value of a code without sign; infinity as the next power of two. */
static double magnitude_of(const float_format *f, uint64_t code) {
  int bias = (1 << (f->exponent_bits - 1)) - 1, exponent = (int)(code >> f->fraction_bits);
  uint64_t one = (uint64_t)1 << f->fraction_bits, fraction = code & (one - 1);
  if (exponent == 0) return ldexp((double)fraction, 1 - bias - f->fraction_bits);
  return ldexp((double)(one + fraction), exponent - bias - f->fraction_bits);
}

static double value_of(const float_format *f, uint64_t code) {
  uint64_t sign = (uint64_t)1 << (f->exponent_bits + f->fraction_bits), size = code & (sign - 1);
  double magnitude = size > infinity_code(f)    ? NAN
                     : size == infinity_code(f) ? INFINITY
                                                : magnitude_of(f, size);
  return code & sign ? -magnitude : magnitude;
}

static uint64_t nearest_code(const float_format *f, double x) {
  uint64_t sign = signbit(x) ? (uint64_t)1 << (f->exponent_bits + f->fraction_bits) : 0;
  uint64_t low = 0, high = infinity_code(f);
  if (isnan(x)) return high | (uint64_t)1 << (f->fraction_bits - 1);
  x = fabs(x);
  if (x >= magnitude_of(f, high)) return sign | high;
  while (high - low > 1) { /* magnitude(low) <= x < magnitude(high) */
    uint64_t middle = low + (high - low) / 2;
    if (magnitude_of(f, middle) <= x)
      low = middle;
    else
      high = middle;
  }
  double twice = 2 * x, sum = magnitude_of(f, low) + magnitude_of(f, high);
  bool up = twice > sum || (twice == sum && (low & 1) != 0);
  return sign | (up ? high : low);
}

static void swap_bytes(const unsigned char *in, unsigned char *out, int n) {
  for (int i = 0; i < n; i++) out[i] = in[n - 1 - i];
}

/* For each number: the whole element, or each half of a complex one. */
static void swap_element(tesela_dtype dtype, int bytes, const unsigned char *in, unsigned char *out) {
  bool halves = dtype == TESELA_C64 || dtype == TESELA_C128;
  int n = halves ? bytes / 2 : bytes;
  for (int i = 0; i < bytes; i += n) swap_bytes(in + i, out + i, n);
}

static double read_f64(const unsigned char in[16]) {
  double x;
  uint64_t bits = read_number(in, 8);
  memcpy(&x, &bits, sizeof x);
  return x;
}

static void write_f64(unsigned char out[16], double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  write_number(out, 8, bits);
}

static void split_f64(const unsigned char in[16], unsigned char out[16]) {
  double x = read_f64(in);
  uint64_t high = nearest_code(&F32, x);
  write_number(out, 4, high);
  if (isfinite(value_of(&F32, high))) write_number(out + 4, 4, nearest_code(&F32, x - value_of(&F32, high)));
}

static void merge_f64(const unsigned char in[16], unsigned char out[16]) {
  write_f64(out, value_of(&F32, read_number(in, 4)) + value_of(&F32, read_number(in + 4, 4)));
}

/* Between whole bytes: sign-extended, zero-extended, or cut to the low bytes. */
static void convert_integer(const tesela_layout *dst, const tesela_layout *src, const unsigned char in[16],
                            unsigned char out[16]) {
  int from = src->bits / 8;
  bool has_sign = src->dtype == TESELA_S8 || src->dtype == TESELA_S16 || src->dtype == TESELA_S32;
  bool negative = has_sign && in[from - 1] >= 128;
  for (int i = 0; i < dst->bits / 8; i++) out[i] = i < from ? in[i] : negative ? 255 : 0;
}

/* Between 4, 2 or 1 bits packed and in 8 bits: the number modulo 2^bits, or sign-extended. */
static void convert_narrow(const tesela_layout *dst, const tesela_layout *src, const unsigned char in[16],
                           unsigned char out[16]) {
  int values = 1 << (src->bits < dst->bits ? src->bits : dst->bits);
  bool has_sign = src->dtype == TESELA_S4 || src->dtype == TESELA_S2 || src->dtype == TESELA_S1;
  int x = in[0] % values;
  out[0] = (unsigned char)(dst->bits == 8 && has_sign && x >= values / 2 ? x - values + 256 : x);
}

static void convert(const tesela_layout *dst, const tesela_layout *src, const unsigned char in[16],
                    unsigned char out[16]) {
  const float_format *to = format_of(dst->dtype), *from = format_of(src->dtype);
  bool same = dst->dtype == src->dtype && dst->bits == src->bits;
  if (same) {
    memcpy(out, in, 16);
  } else if (dst->dtype == src->dtype && dst->dtype != TESELA_PRED) {
    convert_narrow(dst, src, in, out);
  } else if (to && from) {
    write_number(out, dst->bits / 8, nearest_code(to, value_of(from, read_number(in, src->bits / 8))));
  } else if (dst->dtype == TESELA_PRED && from) { /* a NaN is not a zero */
    out[0] = value_of(from, read_number(in, src->bits / 8)) != 0;
  } else if (src->dtype == TESELA_PRED && to) {
    write_number(out, dst->bits / 8, nearest_code(to, in[0] != 0));
  } else if (dst->dtype == TESELA_PRED) {
    for (int i = 0; i < 16; i++)
      if (in[i] != 0) out[0] = 1;
  } else if (dst->dtype == TESELA_S4) {
    int x = in[0] < 128 ? in[0] : in[0] - 256;
    x = x > 7 ? 7 : x < -8 ? -8 : x;
    out[0] = (unsigned char)(x < 0 ? x + 16 : x);
  } else if (src->dtype == TESELA_S4) {
    assert(dst->dtype == TESELA_S8);
    out[0] = (unsigned char)(in[0] < 8 ? in[0] : in[0] + 240);
  } else {
    convert_integer(dst, src, in, out);
  }
}

void relayout_value(tesela_transform transform, const tesela_layout *dst, const tesela_layout *src,
                    const unsigned char in[16], unsigned char out[16]) {
  memset(out, 0, 16);
  switch (transform) {
  case TESELA_TRANSFORM_NONE:
    memcpy(out, in, 16);
    break;
  case TESELA_TRANSFORM_SWAP:
    swap_element(src->dtype, src->bits / 8, in, out);
    break;
  case TESELA_TRANSFORM_CONVERT:
    convert(dst, src, in, out);
    break;
  case TESELA_TRANSFORM_SPLIT:
    split_f64(in, out);
    break;
  case TESELA_TRANSFORM_MERGE:
    merge_f64(in, out);
    break;
  }
}

static bool same_code(const float_format *f, const unsigned char *a, const unsigned char *b) {
  int n = (1 + f->exponent_bits + f->fraction_bits) / 8;
  uint64_t x = read_number(a, n), y = read_number(b, n);
  return x == y || (isnan(value_of(f, x)) && isnan(value_of(f, y)));
}

bool relayout_same(tesela_transform transform, const tesela_layout *dst, const unsigned char a[16],
                   const unsigned char b[16]) {
  const float_format *f = format_of(dst->dtype);
  if (transform == TESELA_TRANSFORM_SPLIT) return same_code(&F32, a, b) && same_code(&F32, a + 4, b + 4);
  if (transform == TESELA_TRANSFORM_MERGE && isnan(read_f64(a)) && isnan(read_f64(b))) return true;
  if (transform == TESELA_TRANSFORM_CONVERT && f) return same_code(f, a, b);
  return memcmp(a, b, 16) == 0;
}
