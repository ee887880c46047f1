/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert_value.c - the value of one element after conversion to another type.
 */
#include "convert_value.h"

#include <math.h>
#include <string.h>

static uint32_t code_of(const uint8_t *value) {
  return value[0] | (uint32_t)value[1] << 8 | (uint32_t)value[2] << 16 | (uint32_t)value[3] << 24;
}

static void put_code(uint8_t *value, uint32_t code) {
  for (int i = 0; i < 4; i++) value[i] = (uint8_t)(code >> 8 * i);
}

/* ---- floating point --------------------------------------------------------------------------------------- */

/* A type with a sign, `exponent` bits and `mantissa` bits as IEEE 754 has them. */
typedef struct ieee {
  int exponent, mantissa;
} ieee;

static ieee ieee_of(tesela_dtype dtype) {
  return dtype == TESELA_F16 ? (ieee){5, 10} : dtype == TESELA_BF16 ? (ieee){8, 7} : (ieee){8, 23};
}

static double decode(ieee form, uint32_t code) {
  int highest = (1 << form.exponent) - 1, bias = highest / 2;
  int exponent = (int)(code >> form.mantissa) & highest;
  double hidden = exponent == 0 ? 0 : 1, fraction = ldexp(code & ((1u << form.mantissa) - 1), -form.mantissa);
  double size = ldexp(hidden + fraction, (exponent == 0 ? 1 : exponent) - bias);
  if (exponent == highest) size = fraction == 0 ? INFINITY : NAN;
  return code >> (form.exponent + form.mantissa) & 1 ? -size : size;
}

/* The nearest value, of two the one with an even mantissa. Counted in units of the last place, a value is its code. */
static uint32_t encode(ieee form, double number) {
  int highest = (1 << form.exponent) - 1, bias = highest / 2, exponent;
  uint32_t infinity = (uint32_t)highest << form.mantissa;
  uint32_t sign = signbit(number) ? 1u << (form.exponent + form.mantissa) : 0;
  if (isnan(number)) return sign | infinity | 1u << (form.mantissa - 1);
  if (number == 0 || isinf(number)) return sign | (number == 0 ? 0 : infinity);
  frexp(number, &exponent); /* 2^(exponent-1) <= |number| */
  exponent = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
  double units = ldexp(signbit(number) ? -number : number, form.mantissa - exponent);
  uint64_t whole = (uint64_t)units;
  double rest = units - (double)whole;
  whole += rest > 0.5 || (rest == 0.5 && whole % 2 == 1);
  whole += (uint64_t)(exponent - (1 - bias))
           << form.mantissa; /* codes below this exponent, its hidden bit counted */
  return sign | (whole < infinity ? (uint32_t)whole : infinity);
}

static bool is_float(tesela_dtype dtype) {
  return dtype == TESELA_F32 || dtype == TESELA_F16 || dtype == TESELA_BF16;
}

static bool ordinary_width(const tesela_layout *layout) {
  return layout->bits == tesela_dtype_bits(layout->dtype);
}

/* ---- all types -------------------------------------------------------------------------------------------- */

bool convert_is_defined(const tesela_layout *from, const tesela_layout *to) {
  tesela_dtype a = from->dtype, b = to->dtype;
  if (a == b && (from->bits == to->bits || a == TESELA_PRED)) return true;
  if (!ordinary_width(from) || !ordinary_width(to)) return false;
  if (is_float(a) && is_float(b)) return a == TESELA_F32 || b == TESELA_F32;
  return (a == TESELA_S8 && b == TESELA_S4) || (a == TESELA_S4 && b == TESELA_S8);
}

void convert_value(const tesela_layout *from, const tesela_layout *to,
                   const uint8_t value[TESELA_ELEMENT_BYTES], uint8_t out[TESELA_ELEMENT_BYTES]) {
  tesela_dtype a = from->dtype, b = to->dtype;
  uint8_t from_bytes[TESELA_ELEMENT_BYTES];
  memcpy(from_bytes, value, TESELA_ELEMENT_BYTES);
  memset(out, 0, TESELA_ELEMENT_BYTES);
  if (a == b && from->bits == to->bits) {
    memcpy(out, from_bytes, TESELA_ELEMENT_BYTES);
  } else if (a == TESELA_PRED) {
    for (int i = 0; i < TESELA_ELEMENT_BYTES; i++) out[0] |= from_bytes[i] != 0;
  } else if (is_float(a)) {
    put_code(out, encode(ieee_of(b), decode(ieee_of(a), code_of(from_bytes))));
  } else if (a == TESELA_S8) {
    int number = from_bytes[0] < 128 ? from_bytes[0] : from_bytes[0] - 256;
    number = number < -8 ? -8 : number > 7 ? 7 : number;
    out[0] = (uint8_t)(number & 15);
  } else {
    out[0] = (uint8_t)(from_bytes[0] < 8 ? from_bytes[0] : from_bytes[0] + 0xf0);
  }
}

bool convert_same(const tesela_layout *from, const tesela_layout *to, const uint8_t got[TESELA_ELEMENT_BYTES],
                  const uint8_t want[TESELA_ELEMENT_BYTES]) {
  if (memcmp(got, want, TESELA_ELEMENT_BYTES) == 0) return true;
  if (from->dtype == to->dtype || !is_float(to->dtype)) return false;
  ieee form = ieee_of(to->dtype);
  return isnan(decode(form, code_of(got))) && isnan(decode(form, code_of(want)));
}
