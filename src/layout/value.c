/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value.c - one element of a tensor, as text.
 *
 * Each floating-point type narrower than 32 bits is a row of a table; the nearest value to a number is found by trying
 * all codes.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "layout/dtype.h"

enum { VALUE_WORD = 400 }; /* bytes of the longest number that is read */

/* ---- bits ------------------------------------------------------------------------------------------------- */

void tesela_element_get(const void *data, int64_t place, int32_t bits, uint8_t value[TESELA_ELEMENT_BYTES]) {
  const uint8_t *bytes = data;
  if (value) memset(value, 0, TESELA_ELEMENT_BYTES);
  if (!value || !data) return;
  if (bits >= 8)
    memcpy(value, bytes + place * (bits / 8), (size_t)bits / 8);
  else
    value[0] = (uint8_t)(bytes[place * bits / 8] >> place * bits % 8 & ((1 << bits) - 1));
}

void tesela_element_put(void *data, int64_t place, int32_t bits, const uint8_t *value) {
  uint8_t *bytes = data;
  if (!data || !value) return;
  if (bits >= 8) {
    memcpy(bytes + place * (bits / 8), value, (size_t)bits / 8);
    return;
  }
  int shift = (int)(place * bits % 8), mask = ((1 << bits) - 1) << shift;
  uint8_t *byte = &bytes[place * bits / 8];
  *byte = (uint8_t)((*byte & ~mask) | (value[0] << shift & mask));
}

static uint64_t value_get_code(const uint8_t *value, int32_t bits) {
  uint64_t code = 0;
  for (int i = 0; i < 8; i++) code |= (uint64_t)value[i] << 8 * i;
  return bits < 64 ? code & (((uint64_t)1 << bits) - 1) : code;
}

static void value_put_code(uint8_t *value, uint64_t code) {
  for (int i = 0; i < 8; i++) value[i] = (uint8_t)(code >> 8 * i);
}

const char *tesela_element_bits(const uint8_t *value, int32_t bits, char text[TESELA_ELEMENT_TEXT]) {
  if (!value && text) text[0] = '\0';
  if (!value || !text) return text;
  int n = snprintf(text, TESELA_ELEMENT_TEXT, "0x"), digits = (bits + 3) / 4;
  for (int i = digits - 1; i >= 0; i--)
    n += snprintf(text + n, (size_t)(TESELA_ELEMENT_TEXT - n), "%x", value[i / 2] >> i % 2 * 4 & 15);
  return text;
}

/* ---- floating point --------------------------------------------------------------------------------------- */

/* The codes that are not finite. */
typedef enum value_special {
  VALUE_IEEE,       /* the highest exponent: infinities, NaN */
  VALUE_ALL_ONES,   /* NaN if exponent and mantissa are all ones */
  VALUE_MINUS_ZERO, /* NaN instead of -0 */
  VALUE_NONE,
} value_special;

typedef struct value_form {
  tesela_dtype dtype;
  int bits, mantissa, bias;
  value_special special;
} value_form;

static const value_form value_forms[] = {
    {TESELA_F16, 16, 10, 15, VALUE_IEEE},
    {TESELA_BF16, 16, 7, 127, VALUE_IEEE},
    {TESELA_F8E5M2, 8, 2, 15, VALUE_IEEE},
    {TESELA_F8E4M3, 8, 3, 7, VALUE_IEEE},
    {TESELA_F8E3M4, 8, 4, 3, VALUE_IEEE},
    {TESELA_F8E4M3FN, 8, 3, 7, VALUE_ALL_ONES},
    {TESELA_F8E5M2FNUZ, 8, 2, 16, VALUE_MINUS_ZERO},
    {TESELA_F8E4M3FNUZ, 8, 3, 8, VALUE_MINUS_ZERO},
    {TESELA_F8E4M3B11FNUZ, 8, 3, 11, VALUE_MINUS_ZERO},
    {TESELA_F6E3M2FN, 6, 2, 3, VALUE_NONE},
    {TESELA_F6E2M3FN, 6, 3, 1, VALUE_NONE},
    {TESELA_F4E2M1FN, 4, 1, 1, VALUE_NONE},
};

static const value_form *value_form_of(tesela_dtype dtype) {
  for (size_t i = 0; i < sizeof value_forms / sizeof value_forms[0]; i++)
    if (value_forms[i].dtype == dtype) return &value_forms[i];
  return NULL;
}

static double value_decode(const value_form *f, uint64_t code) {
  int exponent_bits = f->bits - 1 - f->mantissa;
  uint64_t mantissa = code & (((uint64_t)1 << f->mantissa) - 1);
  int exponent = (int)(code >> f->mantissa & (((uint64_t)1 << exponent_bits) - 1));
  bool negative = code >> (f->bits - 1) & 1, highest = exponent == (1 << exponent_bits) - 1;
  bool ones = mantissa == ((uint64_t)1 << f->mantissa) - 1;
  if (f->special == VALUE_MINUS_ZERO && negative && exponent == 0 && mantissa == 0) return NAN;
  if (f->special == VALUE_ALL_ONES && highest && ones) return NAN;
  if (f->special == VALUE_IEEE && highest) return mantissa ? NAN : negative ? -INFINITY : INFINITY;
  double size = exponent == 0 ? ldexp((double)mantissa, 1 - f->bias - f->mantissa)
                              : ldexp((double)(mantissa + ((uint64_t)1 << f->mantissa)),
                                      exponent - f->bias - f->mantissa);
  return negative ? -size : size;
}

/* The code of the nearest value, ties to even; *exists false: above the largest number, or a special value the type
 * lacks. */
static uint64_t value_encode(const value_form *f, double number, bool *exists) {
  uint64_t best = 0;
  double distance = INFINITY, largest = 0;
  *exists = false;
  for (uint64_t code = 0; code < (uint64_t)1 << f->bits; code++) {
    double value = value_decode(f, code), apart = fabs(value - number);
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
  if (isnan(number) && f->special == VALUE_IEEE)
    best ^= (uint64_t)1 << (f->mantissa - 1) | 1; /* the quiet NaN */
  return best;
}

/* Six digits, or more until the text reads back as the same number. */
static const char *value_print_real(double number, bool single, char text[TESELA_ELEMENT_TEXT]) {
  for (int digits = 6; digits <= 17; digits++) {
    snprintf(text, TESELA_ELEMENT_TEXT, "%.*g", digits, number);
    if (isnan(number) || (single ? strtof(text, NULL) == (float)number : strtod(text, NULL) == number)) break;
  }
  if (isnan(number)) snprintf(text, TESELA_ELEMENT_TEXT, "nan");
  char *point = strchr(text, tesela__decimal_point());
  if (point) *point = '.';
  return text;
}

/* The number in `width` bytes, 4 or 8. */
static double value_real_of(const uint8_t *value, int width) {
  uint64_t code = value_get_code(value, 8 * width);
  uint32_t low = (uint32_t)code;
  float single;
  double number;
  memcpy(&single, &low, sizeof single);
  memcpy(&number, &code, sizeof number);
  return width == 4 ? (double)single : number;
}

/* ---- as a number ------------------------------------------------------------------------------------------ */

static const char *value_print_float(const uint8_t *value, tesela_dtype dtype,
                                     char text[TESELA_ELEMENT_TEXT]) {
  const value_form *form = value_form_of(dtype);
  if (form) return value_print_real(value_decode(form, value_get_code(value, form->bits)), true, text);
  if (dtype == TESELA_F8E8M0FNU)
    return value_print_real(value[0] == 255 ? NAN : ldexp(1, value[0] - 127), true, text);
  return value_print_real(value_real_of(value, dtype == TESELA_F32 ? 4 : 8), dtype == TESELA_F32, text);
}

static const char *value_print_complex(const uint8_t *value, tesela_dtype dtype,
                                       char text[TESELA_ELEMENT_TEXT]) {
  char re[TESELA_ELEMENT_TEXT], im[TESELA_ELEMENT_TEXT];
  int width = dtype == TESELA_C64 ? 4 : 8;
  value_print_real(value_real_of(value, width), width == 4, re);
  value_print_real(value_real_of(value + width, width), width == 4, im);
  snprintf(text, TESELA_ELEMENT_TEXT, "%.30s%s%.30sj", re, *im == '-' ? "" : "+", im);
  return text;
}

const char *tesela_element_print(const uint8_t *value, tesela_dtype dtype, int32_t bits,
                                 char text[TESELA_ELEMENT_TEXT]) {
  if (text) text[0] = '\0';
  if (!value || !text) return text;
  int32_t width = tesela_dtype_bits(dtype);
  uint64_t code = value_get_code(value, bits < width ? bits : width);
  if (bits < width) return text; /* too few bits for the type */
  switch (tesela_dtype_family_of(dtype)) {
  case TESELA_FAMILY_BOOL:
    snprintf(text, TESELA_ELEMENT_TEXT, "%s", value_get_code(value, bits) ? "true" : "false");
    break;
  case TESELA_FAMILY_UNSIGNED:
    snprintf(text, TESELA_ELEMENT_TEXT, "%" PRIu64, code);
    break;
  case TESELA_FAMILY_SIGNED:
    if (code >> (width - 1) & 1)
      snprintf(text, TESELA_ELEMENT_TEXT, "-%" PRIu64, (width < 64 ? (uint64_t)1 << width : 0) - code);
    else
      snprintf(text, TESELA_ELEMENT_TEXT, "%" PRIu64, code);
    break;
  case TESELA_FAMILY_FLOAT:
    return value_print_float(value, dtype, text);
  case TESELA_FAMILY_COMPLEX:
    return value_print_complex(value, dtype, text);
  case TESELA_FAMILY_NONE:
    break;
  }
  return text;
}

/* ---- from a text ------------------------------------------------------------------------------------------ */

static tesela_status value_read_bits(const char *text, int32_t bits, uint8_t value[TESELA_ELEMENT_BYTES],
                                     tesela_error *err) {
  const char *digits = text + 2;
  size_t n = strspn(digits, "0123456789abcdefABCDEF");
  if (n == 0 || digits[n] != '\0')
    return tesela__fail(err, TESELA_E_SYNTAX, 0, "expected bits in hexadecimal digits, such as 0x7fc0");
  while (n > 1 && *digits == '0') digits++, n--;
  for (size_t i = 0; i < n; i++) {
    char digit[2] = {digits[n - 1 - i], '\0'};
    unsigned nibble = (unsigned)strtoul(digit, NULL, 16);
    int32_t room = bits - 4 * (int32_t)(i < 64 ? i : 64);
    if (nibble != 0 && (room <= 0 || (room < 4 && nibble >> room != 0)))
      return tesela__fail(err, TESELA_E_RANGE, 0, "more than the %" PRId32 " bits of an element", bits);
    if (nibble != 0) value[i / 2] = (uint8_t)(value[i / 2] | nibble << i % 2 * 4);
  }
  return TESELA_OK;
}

static tesela_status value_read_integer(const char *text, tesela_dtype dtype, int32_t bits,
                                        uint8_t value[TESELA_ELEMENT_BYTES], tesela_error *err) {
  bool is_signed = tesela_dtype_family_of(dtype) == TESELA_FAMILY_SIGNED, negative = *text == '-';
  int32_t width = tesela_dtype_bits(dtype);
  const char *digits = text + negative;
  if (*digits == '\0' || digits[strspn(digits, "0123456789")] != '\0')
    return tesela__fail(err, TESELA_E_SYNTAX, 0,
                        "expected an integer for an element of type %s, or its bits, such as 0x1f",
                        tesela_dtype_name(dtype));
  errno = 0;
  uint64_t size = strtoull(digits, NULL, 10);
  uint64_t high = (is_signed ? (uint64_t)1 << (width - 1) : width < 64 ? (uint64_t)1 << width : 0) - 1;
  uint64_t low = is_signed ? high + 1 : 0;
  if (errno == ERANGE || size > (negative ? low : high))
    return tesela__fail(err, TESELA_E_RANGE, 0, "type %s holds %s%" PRIu64 " to %" PRIu64,
                        tesela_dtype_name(dtype), low ? "-" : "", low, high);
  uint64_t code = negative ? 0 - size : size;
  value_put_code(value, bits < 64 ? code & (((uint64_t)1 << bits) - 1) : code);
  return TESELA_OK;
}

static tesela_status value_not_a_number(tesela_dtype dtype, tesela_error *err) {
  return tesela__fail(err, TESELA_E_SYNTAX, 0,
                      "expected a number for an element of type %s, or its bits, such as 0x1f",
                      tesela_dtype_name(dtype));
}

/* Read one number as strtod does; *end: the byte after it. */
static tesela_status value_read_part(const char *text, tesela_dtype dtype, uint8_t *value, char **end,
                                     tesela_error *err) {
  const value_form *form = value_form_of(dtype);
  bool single = dtype == TESELA_F32 || dtype == TESELA_C64, exists = true;
  double number = strtod(text, end);
  if (*end == text) return value_not_a_number(dtype, err);
  if (form) {
    value_put_code(value, value_encode(form, number, &exists));
  } else if (dtype == TESELA_F8E8M0FNU) {
    int power;
    bool exact = isfinite(number) && frexp(number, &power) == 0.5 && power >= -126 && power <= 128;
    value[0] = exact ? (uint8_t)(power + 126) : 255;
    exists = exact || isnan(number);
  } else if (single) {
    float rounded = strtof(text, NULL);
    uint32_t code;
    memcpy(&code, &rounded, sizeof code);
    value_put_code(value, code);
    exists = !isinf(rounded) || isinf(number);
  } else {
    uint64_t code;
    memcpy(&code, &number, sizeof code);
    value_put_code(value, code);
  }
  if (isinf(number) && !memchr(text, 'n', (size_t)(*end - text)) && !memchr(text, 'N', (size_t)(*end - text)))
    exists = false; /* 1e999 is out of range, not inf */
  if (exists) return TESELA_OK;
  return tesela__fail(err, TESELA_E_RANGE, 0, "type %s cannot hold this number", tesela_dtype_name(dtype));
}

/* 3, -1.5, nan; of a complex type also 2j and 1-2j. */
static tesela_status value_read_real(const char *text, tesela_dtype dtype,
                                     uint8_t value[TESELA_ELEMENT_BYTES], tesela_error *err) {
  char *end;
  size_t width = dtype == TESELA_C64 ? 4 : 8;
  bool is_complex = tesela_dtype_family_of(dtype) == TESELA_FAMILY_COMPLEX, two = false;
  tesela_status status = value_read_part(text, dtype, value, &end, err);
  if (status == TESELA_OK && is_complex && (*end == '+' || *end == '-')) {
    two = true;
    status = value_read_part(end, dtype, value + width, &end, err);
  }
  if (status != TESELA_OK) return status;
  if (is_complex && *end == 'j') {
    end++;
    if (!two) memcpy(value + width, value, width);
    if (!two) memset(value, 0, width);
  } else if (two) {
    end--; /* the j is missing */
  }
  if (*end == '\0') return TESELA_OK;
  return value_not_a_number(dtype, err);
}

static tesela_status value_read_bool(const char *text, uint8_t value[TESELA_ELEMENT_BYTES],
                                     tesela_error *err) {
  bool yes = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
  value[0] = yes;
  if (yes || strcmp(text, "false") == 0 || strcmp(text, "0") == 0) return TESELA_OK;
  return tesela__fail(err, TESELA_E_SYNTAX, 0, "expected true or false for an element of type pred");
}

/* Copy a text with a NUL and the C library's decimal point; false: too long, or a character that no element has. */
static bool value_word(const char *text, size_t length, char word[VALUE_WORD]) {
  if (length >= VALUE_WORD) return false;
  for (size_t i = 0; i < length; i++) {
    char c = text[i];
    bool letter = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && (c == '\0' || !strchr("+-.()", c))) return false;
    word[i] = c == '.' ? tesela__decimal_point() : c;
  }
  word[length] = '\0';
  return true;
}

tesela_status tesela_element_read(const char *text, size_t length, tesela_dtype dtype, int32_t bits,
                                  uint8_t value[TESELA_ELEMENT_BYTES], tesela_error *err) {
  uint8_t read[TESELA_ELEMENT_BYTES] = {0};
  char word[VALUE_WORD];
  tesela_status status;
  tesela_dtype_family family = tesela_dtype_family_of(dtype);
  TESELA__NEED(err, text, value);
  if (bits < 1 || bits > 128 || (bits & (bits - 1)) != 0)
    return tesela__fail(err, TESELA_E_RANGE, -1,
                        "an element of %" PRId32 " bits; expected 1, 2, 4, 8, 16, 32, 64 or 128", bits);
  if (!value_word(text, length, word)) word[0] = '\0'; /* the error is reported below */
  if (word[0] == '0' && (word[1] == 'x' || word[1] == 'X'))
    status = value_read_bits(word, bits, read, err);
  else if (bits < tesela_dtype_bits(dtype) || family == TESELA_FAMILY_NONE)
    status = tesela__fail(err, TESELA_E_UNSUPPORTED, 0,
                          "expected bits, such as 0x1f, for an element without a type");
  else if (family == TESELA_FAMILY_BOOL)
    status = value_read_bool(word, read, err);
  else if (family == TESELA_FAMILY_SIGNED || family == TESELA_FAMILY_UNSIGNED)
    status = value_read_integer(word, dtype, bits, read, err);
  else
    status = value_read_real(word, dtype, read, err);
  if (status == TESELA_OK) memcpy(value, read, TESELA_ELEMENT_BYTES);
  return status;
}
