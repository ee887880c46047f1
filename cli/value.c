/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value.c - one element of a tensor, as text.
 *
 * Floating-point types narrower than 32 bits are described by a row of a table; the nearest value to a number is found
 * by looking at all of them.
 */
#include "value.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

static tesela_status fail(tesela_error *err, tesela_status status, const char *format, ...)
    TESELA_PRINTF(3, 4);

static tesela_status fail(tesela_error *err, tesela_status status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  message_put(err->message, sizeof err->message, format, args);
  va_end(args);
  err->status = status;
  err->at = -1;
  return status;
}

/* ---- bits ------------------------------------------------------------------------------------------------- */

void value_at(const uint8_t *data, int64_t place, int32_t bits, uint8_t value[VALUE_BYTES]) {
  memset(value, 0, VALUE_BYTES);
  if (bits >= 8)
    memcpy(value, data + place * (bits / 8), (size_t)bits / 8);
  else
    value[0] = (uint8_t)(data[place * bits / 8] >> place * bits % 8 & ((1 << bits) - 1));
}

void value_put(uint8_t *data, int64_t place, int32_t bits, const uint8_t *value) {
  if (bits >= 8) {
    memcpy(data + place * (bits / 8), value, (size_t)bits / 8);
    return;
  }
  int shift = (int)(place * bits % 8), mask = ((1 << bits) - 1) << shift;
  uint8_t *byte = &data[place * bits / 8];
  *byte = (uint8_t)((*byte & ~mask) | (value[0] << shift & mask));
}

static uint64_t get_code(const uint8_t *value, int32_t bits) {
  uint64_t code = 0;
  for (int i = 0; i < 8; i++) code |= (uint64_t)value[i] << 8 * i;
  return bits < 64 ? code & (((uint64_t)1 << bits) - 1) : code;
}

static void put_code(uint8_t *value, uint64_t code) {
  for (int i = 0; i < 8; i++) value[i] = (uint8_t)(code >> 8 * i);
}

const char *value_bits(const uint8_t *value, int32_t bits, char text[VALUE_TEXT]) {
  int n = snprintf(text, VALUE_TEXT, "0x"), digits = (bits + 3) / 4;
  for (int i = digits - 1; i >= 0; i--)
    n += snprintf(text + n, (size_t)(VALUE_TEXT - n), "%x", value[i / 2] >> i % 2 * 4 & 15);
  return text;
}

/* ---- floating point --------------------------------------------------------------------------------------- */

typedef enum special {             /* what the codes beyond the numbers are */
                       IEEE,       /* the highest exponent: infinities, NaN */
                       ALL_ONES,   /* NaN where exponent and mantissa are all ones */
                       MINUS_ZERO, /* NaN in the place of -0 */
                       NONE,
} special;

typedef struct float_form {
  tesela_dtype dtype;
  int bits, mantissa, bias;
  special special;
} float_form;

static const float_form float_forms[] = {
    {TESELA_F16, 16, 10, 15, IEEE},
    {TESELA_BF16, 16, 7, 127, IEEE},
    {TESELA_F8E5M2, 8, 2, 15, IEEE},
    {TESELA_F8E4M3, 8, 3, 7, IEEE},
    {TESELA_F8E3M4, 8, 4, 3, IEEE},
    {TESELA_F8E4M3FN, 8, 3, 7, ALL_ONES},
    {TESELA_F8E5M2FNUZ, 8, 2, 16, MINUS_ZERO},
    {TESELA_F8E4M3FNUZ, 8, 3, 8, MINUS_ZERO},
    {TESELA_F8E4M3B11FNUZ, 8, 3, 11, MINUS_ZERO},
    {TESELA_F6E3M2FN, 6, 2, 3, NONE},
    {TESELA_F6E2M3FN, 6, 3, 1, NONE},
    {TESELA_F4E2M1FN, 4, 1, 1, NONE},
};

static const float_form *form_of(tesela_dtype dtype) {
  for (size_t i = 0; i < sizeof float_forms / sizeof float_forms[0]; i++)
    if (float_forms[i].dtype == dtype) return &float_forms[i];
  return NULL;
}

static double decode(const float_form *f, uint64_t code) {
  int exponent_bits = f->bits - 1 - f->mantissa;
  uint64_t mantissa = code & (((uint64_t)1 << f->mantissa) - 1);
  int exponent = (int)(code >> f->mantissa & (((uint64_t)1 << exponent_bits) - 1));
  bool negative = code >> (f->bits - 1) & 1, highest = exponent == (1 << exponent_bits) - 1;
  bool ones = mantissa == ((uint64_t)1 << f->mantissa) - 1;
  if (f->special == MINUS_ZERO && negative && exponent == 0 && mantissa == 0) return NAN;
  if (f->special == ALL_ONES && highest && ones) return NAN;
  if (f->special == IEEE && highest) return mantissa ? NAN : negative ? -INFINITY : INFINITY;
  double size = exponent == 0 ? ldexp((double)mantissa, 1 - f->bias - f->mantissa)
                              : ldexp((double)(mantissa + ((uint64_t)1 << f->mantissa)),
                                      exponent - f->bias - f->mantissa);
  return negative ? -size : size;
}

/* The code whose value is nearest, of two the even one; *exists is false if the type has no such special value. */
static uint64_t encode(const float_form *f, double number, bool *exists) {
  uint64_t best = 0;
  double distance = INFINITY, largest = 0;
  *exists = false;
  for (uint64_t code = 0; code < (uint64_t)1 << f->bits; code++) {
    double value = decode(f, code), apart = fabs(value - number);
    bool sign = signbit(value) == signbit(number);
    if (isfinite(value) && value > largest) largest = value;
    if (isnan(number) || isinf(number)) {
      bool same = isnan(number) ? isnan(value) : value == number;
      if (same && !*exists) best = code;
      *exists = *exists || same;
    } else if (isfinite(value) && (apart < distance || (apart == distance && sign && code % 2 == 0))) {
      best = code;
      distance = apart;
    }
  }
  if (isfinite(number)) *exists = fabs(number) <= largest;
  return best;
}

/* Six digits, or as many as read back as the same number. */
static const char *print_real(double number, bool single, char text[VALUE_TEXT]) {
  for (int digits = 6; digits <= 17; digits++) {
    snprintf(text, VALUE_TEXT, "%.*g", digits, number);
    if (isnan(number) || (single ? strtof(text, NULL) == (float)number : strtod(text, NULL) == number)) break;
  }
  if (isnan(number)) snprintf(text, VALUE_TEXT, "nan");
  return text;
}

/* The number that `width` bytes, 4 or 8, hold. */
static double real_of(const uint8_t *value, int width) {
  uint64_t code = get_code(value, 8 * width);
  uint32_t low = (uint32_t)code;
  float single;
  double number;
  memcpy(&single, &low, sizeof single);
  memcpy(&number, &code, sizeof number);
  return width == 4 ? (double)single : number;
}

/* ---- as a number ------------------------------------------------------------------------------------------ */

static const char *print_float(const uint8_t *value, tesela_dtype dtype, char text[VALUE_TEXT]) {
  const float_form *form = form_of(dtype);
  if (form) return print_real(decode(form, get_code(value, form->bits)), true, text);
  if (dtype == TESELA_F8E8M0FNU)
    return print_real(value[0] == 255 ? NAN : ldexp(1, value[0] - 127), true, text);
  return print_real(real_of(value, dtype == TESELA_F32 ? 4 : 8), dtype == TESELA_F32, text);
}

static const char *print_complex(const uint8_t *value, tesela_dtype dtype, char text[VALUE_TEXT]) {
  char re[VALUE_TEXT], im[VALUE_TEXT];
  int width = dtype == TESELA_C64 ? 4 : 8;
  print_real(real_of(value, width), width == 4, re);
  print_real(real_of(value + width, width), width == 4, im);
  snprintf(text, VALUE_TEXT, "%.30s%s%.30sj", re, *im == '-' ? "" : "+", im);
  return text;
}

const char *value_number(const uint8_t *value, tesela_dtype dtype, int32_t bits, char text[VALUE_TEXT]) {
  int32_t width = tesela_dtype_bits(dtype);
  uint64_t code = get_code(value, bits < width ? bits : width);
  text[0] = '\0';
  if (bits < width) return text; /* not enough to tell */
  switch (tesela_dtype_family_of(dtype)) {
  case TESELA_FAMILY_BOOL:
    snprintf(text, VALUE_TEXT, "%s", get_code(value, bits) ? "true" : "false");
    break;
  case TESELA_FAMILY_UNSIGNED:
    snprintf(text, VALUE_TEXT, "%" PRIu64, code);
    break;
  case TESELA_FAMILY_SIGNED:
    if (code >> (width - 1) & 1)
      snprintf(text, VALUE_TEXT, "-%" PRIu64, (width < 64 ? (uint64_t)1 << width : 0) - code);
    else
      snprintf(text, VALUE_TEXT, "%" PRIu64, code);
    break;
  case TESELA_FAMILY_FLOAT:
    return print_float(value, dtype, text);
  case TESELA_FAMILY_COMPLEX:
    return print_complex(value, dtype, text);
  case TESELA_FAMILY_NONE:
    break;
  }
  return text;
}

/* ---- from a text ------------------------------------------------------------------------------------------ */

static tesela_status read_bits(const char *text, int32_t bits, uint8_t value[VALUE_BYTES],
                               tesela_error *err) {
  const char *digits = text + 2;
  size_t n = strspn(digits, "0123456789abcdefABCDEF");
  if (n == 0 || digits[n] != '\0')
    return fail(err, TESELA_E_SYNTAX, "bits are written in hexadecimal digits: 0x7fc0");
  while (n > 1 && *digits == '0') digits++, n--;
  for (size_t i = 0; i < n; i++) {
    char digit[2] = {digits[n - 1 - i], '\0'};
    unsigned nibble = (unsigned)strtoul(digit, NULL, 16);
    int32_t room = bits - 4 * (int32_t)(i < 64 ? i : 64);
    if (nibble != 0 && (room <= 0 || (room < 4 && nibble >> room != 0)))
      return fail(err, TESELA_E_RANGE, "more than the %" PRId32 " bits of an element", bits);
    if (nibble != 0) value[i / 2] = (uint8_t)(value[i / 2] | nibble << i % 2 * 4);
  }
  return TESELA_OK;
}

static tesela_status read_integer(const char *text, tesela_dtype dtype, int32_t bits,
                                  uint8_t value[VALUE_BYTES], tesela_error *err) {
  bool is_signed = tesela_dtype_family_of(dtype) == TESELA_FAMILY_SIGNED, negative = *text == '-';
  int32_t width = tesela_dtype_bits(dtype);
  const char *digits = text + negative;
  if (*digits == '\0' || digits[strspn(digits, "0123456789")] != '\0')
    return fail(err, TESELA_E_SYNTAX, "an element of type %s is written as an integer, or its bits as 0x1f",
                tesela_dtype_name(dtype));
  errno = 0;
  uint64_t size = strtoull(digits, NULL, 10);
  uint64_t high = (is_signed ? (uint64_t)1 << (width - 1) : width < 64 ? (uint64_t)1 << width : 0) - 1;
  uint64_t low = is_signed ? high + 1 : 0;
  if (errno == ERANGE || size > (negative ? low : high))
    return fail(err, TESELA_E_RANGE, "type %s holds %s%" PRIu64 " to %" PRIu64, tesela_dtype_name(dtype),
                low ? "-" : "", low, high);
  uint64_t code = negative ? 0 - size : size;
  put_code(value, bits < 64 ? code & (((uint64_t)1 << bits) - 1) : code);
  return TESELA_OK;
}

static tesela_status read_real(const char *text, tesela_dtype dtype, uint8_t value[VALUE_BYTES],
                               tesela_error *err) {
  char *end;
  const float_form *form = form_of(dtype);
  bool single = dtype == TESELA_F32 || dtype == TESELA_C64, exists = true;
  double number = strtod(text, &end);
  if (end == text || *end != '\0' || *text == ' ')
    return fail(err, TESELA_E_SYNTAX, "an element of type %s is written as a number, or its bits as 0x1f",
                tesela_dtype_name(dtype));
  if (form) {
    put_code(value, encode(form, number, &exists));
  } else if (dtype == TESELA_F8E8M0FNU) {
    int power;
    bool exact = isfinite(number) && frexp(number, &power) == 0.5 && power >= -126 && power <= 128;
    value[0] = exact ? (uint8_t)(power + 126) : 255;
    exists = exact || isnan(number);
  } else if (single) {
    float rounded = strtof(text, NULL);
    uint32_t code;
    memcpy(&code, &rounded, sizeof code);
    put_code(value, code);
    exists = !isinf(rounded) || isinf(number);
  } else {
    uint64_t code;
    memcpy(&code, &number, sizeof code);
    put_code(value, code);
  }
  if (isinf(number) && !strpbrk(text, "nN")) exists = false; /* 1e999 is not meant so */
  if (exists) return TESELA_OK;
  return fail(err, TESELA_E_RANGE, "type %s does not hold this number", tesela_dtype_name(dtype));
}

static tesela_status read_bool(const char *text, uint8_t value[VALUE_BYTES], tesela_error *err) {
  bool yes = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
  value[0] = yes;
  if (yes || strcmp(text, "false") == 0 || strcmp(text, "0") == 0) return TESELA_OK;
  return fail(err, TESELA_E_SYNTAX, "an element of type pred is true or false");
}

tesela_status value_read(const char *text, tesela_dtype dtype, int32_t bits, uint8_t value[VALUE_BYTES],
                         tesela_error *err) {
  uint8_t read[VALUE_BYTES] = {0};
  tesela_status status;
  tesela_dtype_family family = tesela_dtype_family_of(dtype);
  if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
    status = read_bits(text, bits, read, err);
  else if (bits < tesela_dtype_bits(dtype) || family == TESELA_FAMILY_NONE)
    status = fail(err, TESELA_E_UNSUPPORTED, "an element without a type is written as bits: 0x1f");
  else if (family == TESELA_FAMILY_BOOL)
    status = read_bool(text, read, err);
  else if (family == TESELA_FAMILY_SIGNED || family == TESELA_FAMILY_UNSIGNED)
    status = read_integer(text, dtype, bits, read, err);
  else
    status = read_real(text, dtype, read, err);
  if (status == TESELA_OK) memcpy(value, read, VALUE_BYTES);
  return status;
}
