/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transfer_pad.c - the bits that fill padding.
 *
 * Without the sign, the numbers of a float type grow with their codes. So bisection finds the nearest number, rounding
 * once, for any type.
 */
#include "device/transfer.h"

/* Sign, exponent, fraction; codes of exponent 0 are subnormal. `last` is the code of the largest finite number. */
typedef struct pad_float {
  tesela_dtype dtype;
  int32_t bits, fraction_bits, bias;
  uint64_t last, quiet; /* quiet: a NaN */
  bool has_inf;         /* infinity is the code after `last` */
} pad_float;

static const pad_float pad_floats[] = {
    {TESELA_F64, 64, 52, 1023, 0x7fefffffffffffff, 0x7ff8000000000000, true},
    {TESELA_F32, 32, 23, 127, 0x7f7fffff, 0x7fc00000, true},
    {TESELA_F16, 16, 10, 15, 0x7bff, 0x7e00, true},
    {TESELA_BF16, 16, 7, 127, 0x7f7f, 0x7fc0, true},
    {TESELA_F8E5M2, 8, 2, 15, 0x7b, 0x7e, true},
    {TESELA_F8E4M3, 8, 3, 7, 0x77, 0x7c, true},
    {TESELA_F8E4M3FN, 8, 3, 7, 0x7e, 0x7f, false},
    {TESELA_F8E3M4, 8, 4, 3, 0x6f, 0x78, true},
};

/* 2^e as a double, -1022 <= e <= 1023. */
static double pad_power(int32_t e) {
  uint64_t code = (uint64_t)(1023 + e) << 52;
  double x;
  memcpy(&x, &code, 8);
  return x;
}

/* The number of a code without sign, of types below f64: their powers of 2 are normal doubles. */
static double pad_number(const pad_float *type, uint64_t code) {
  uint64_t hidden = (uint64_t)1 << type->fraction_bits;
  int32_t exponent = (int32_t)(code >> type->fraction_bits);
  double fraction = (double)((code & (hidden - 1)) + (exponent ? hidden : 0));
  return fraction * pad_power((exponent ? exponent : 1) - type->bias - type->fraction_bits);
}

/* The nearest code to 0 <= x, ties to even; false: beyond the last number. */
static bool pad_nearest(const pad_float *type, double x, uint64_t *code) {
  if (type->bits == 64) {
    memcpy(code, &x, 8);
    return *code <= type->last;
  }
  uint64_t low = 0, high = type->last + 1; /* number(low) <= x */
  while (high - low > 1) {
    uint64_t middle = low + (high - low) / 2;
    if (pad_number(type, middle) <= x)
      low = middle;
    else
      high = middle;
  }
  double below = x - pad_number(type, low), above = pad_number(type, high) - x;
  *code = above < below || (above == below && (low & 1)) ? high : low;
  return *code <= type->last;
}

static const char *pad_type_name(tesela_dtype dtype) {
  const char *name = tesela_dtype_name(dtype);
  return name ? name : "no type";
}

static tesela_status pad_of_float(const pad_float *type, tesela_pad pad, double value, uint64_t *code,
                                  tesela_error *err) {
  double size = value < 0 ? -value : value;
  bool negative = pad == TESELA_PAD_MINUS_INF, infinite = pad != TESELA_PAD_VALUE;
  if (pad == TESELA_PAD_VALUE) {
    uint64_t bits;
    memcpy(&bits, &value, 8);
    negative = bits >> 63;
    infinite = __builtin_isinf(size);
  }
  if (infinite && !type->has_inf)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "%s has no infinity; its largest number is %s",
                        pad_type_name(type->dtype), type->dtype == TESELA_F8E4M3FN ? "448" : "another");
  if (infinite)
    *code = type->last + 1;
  else if (__builtin_isnan(value))
    *code = type->quiet;
  else if (!pad_nearest(type, size, code))
    return tesela__fail(err, TESELA_E_RANGE, -1, "padding with %g; %s holds at most %g", value,
                        pad_type_name(type->dtype), pad_number(type, type->last));
  *code |= (uint64_t)negative << (type->bits - 1);
  return TESELA_OK;
}

/* Integers and pred: the value is rounded, ties to even, and must be from `begin` to below `end`. */
static tesela_status pad_of_integer(tesela_pad pad, double value, tesela_dtype dtype, int32_t bits,
                                    bool has_sign, uint64_t *code, tesela_error *err) {
  uint64_t all = ~(uint64_t)0 >> (64 - bits), top = (uint64_t)1 << (bits - 1);
  if (pad == TESELA_PAD_MINUS_INF) *code = has_sign ? top : 0;
  if (pad == TESELA_PAD_PLUS_INF) *code = has_sign ? top - 1 : all;
  if (pad != TESELA_PAD_VALUE) return TESELA_OK;
  double end = has_sign ? pad_power(bits - 1) : pad_power(bits), begin = has_sign ? -end : 0;
  double fits =
      __builtin_isnan(value) || value >= 9.2e18 || value <= -9.2e18 ? value : (double)(int64_t)value;
  if (value < 4503599627370496.0 && value > -4503599627370496.0) { /* below 2^52: may have a fraction */
    double rest = value - fits, away = rest < 0 ? -1 : 1;
    if (rest > 0.5 || rest < -0.5 || ((rest == 0.5 || rest == -0.5) && ((int64_t)value & 1))) fits += away;
  }
  if (!(fits >= begin && fits < end))
    return tesela__fail(err, TESELA_E_RANGE, -1, "padding with %g; %s holds %.0f to %.0f", value,
                        pad_type_name(dtype), begin, end - 1);
  *code = (fits < 0 ? (uint64_t)(int64_t)fits : (uint64_t)fits) & all;
  return TESELA_OK;
}

tesela_status tesela__transfer_pad_bits(tesela_pad pad, double value, tesela_dtype dtype, int32_t bits,
                                        uint8_t out[16], tesela_error *err) {
  uint64_t code = 0;
  tesela_dtype_family family = tesela_dtype_family_of(dtype);
  tesela_status status = TESELA_OK;
  memset(out, 0, 16);
  if (pad == TESELA_PAD_ZERO) return TESELA_OK;
  if (pad < TESELA_PAD_LEAVE || pad > TESELA_PAD_VALUE)
    return tesela__fail(err, TESELA_E_RANGE, -1, "unknown pad mode %d", (int)pad);
  const pad_float *type = NULL;
  for (size_t i = 0; i < sizeof pad_floats / sizeof pad_floats[0]; i++)
    if (pad_floats[i].dtype == dtype && pad_floats[i].bits == bits) type = &pad_floats[i];
  if (type)
    status = pad_of_float(type, pad, value, &code, err);
  else if (family == TESELA_FAMILY_BOOL)
    status = pad_of_integer(pad, value, dtype, 1, false, &code, err);
  else if ((family == TESELA_FAMILY_SIGNED || family == TESELA_FAMILY_UNSIGNED) &&
           tesela_dtype_bits(dtype) == bits)
    status = pad_of_integer(pad, value, dtype, bits, family == TESELA_FAMILY_SIGNED, &code, err);
  else
    status = tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                          "padding of %s in %" PRId32 " bits can only be zero or left unwritten",
                          pad_type_name(dtype), bits);
  for (int32_t i = 0; i < 8; i++) out[i] = (uint8_t)(code >> 8 * i);
  return status;
}
