/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_value.c - numbers <-> bits of every type, against the largest and smallest numbers and the NaN codes that the types are
 * published with, and by going through all codes of the narrow ones.
 */
#include <float.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/layout.h>

static uint64_t code_of(const uint8_t *value) {
  uint64_t code = 0;
  for (int i = 7; i >= 0; i--) code = code << 8 | value[i];
  return code;
}

static tesela_status read_value(const char *text, tesela_dtype dtype, int32_t bits, uint8_t *value,
                                tesela_error *err) {
  return tesela_element_read(text, strlen(text), dtype, bits, value, err);
}

/* ---- floats ---- */

/* From the papers and finfo: FP8 formats for deep learning, OCP 8-bit and MX, ml_dtypes, IEEE 754. */
static const struct {
  tesela_dtype dtype;
  int bits;
  double most, least_normal, least;
  uint64_t most_code, least_normal_code, nan_code, one_code; /* nan_code 0: the type has no NaN */
  bool infinite, minus_zero;
} floats[] = {
    {TESELA_F16, 16, 65504, 0x1p-14, 0x1p-24, 0x7bff, 0x0400, 0x7e00, 0x3c00, true, true},
    {TESELA_BF16, 16, 0x1.fep127, 0x1p-126, 0x1p-133, 0x7f7f, 0x0080, 0x7fc0, 0x3f80, true, true},
    {TESELA_F8E5M2, 8, 57344, 0x1p-14, 0x1p-16, 0x7b, 0x04, 0x7e, 0x3c, true, true},
    {TESELA_F8E4M3, 8, 240, 0x1p-6, 0x1p-9, 0x77, 0x08, 0x7c, 0x38, true, true},
    {TESELA_F8E3M4, 8, 15.5, 0x1p-2, 0x1p-6, 0x6f, 0x10, 0x78, 0x30, true, true},
    {TESELA_F8E4M3FN, 8, 448, 0x1p-6, 0x1p-9, 0x7e, 0x08, 0x7f, 0x38, false, true},
    {TESELA_F8E5M2FNUZ, 8, 57344, 0x1p-15, 0x1p-17, 0x7f, 0x04, 0x80, 0x40, false, false},
    {TESELA_F8E4M3FNUZ, 8, 240, 0x1p-7, 0x1p-10, 0x7f, 0x08, 0x80, 0x40, false, false},
    {TESELA_F8E4M3B11FNUZ, 8, 30, 0x1p-10, 0x1p-13, 0x7f, 0x08, 0x80, 0x58, false, false},
    {TESELA_F6E3M2FN, 8, 28, 0x1p-2, 0x1p-4, 0x1f, 0x04, 0, 0x0c, false, true},
    {TESELA_F6E2M3FN, 8, 7.5, 1, 0x1p-3, 0x1f, 0x08, 0, 0x08, false, true},
    {TESELA_F4E2M1FN, 4, 6, 1, 0.5, 0x7, 0x2, 0, 0x2, false, true},
};
enum { N_FLOATS = sizeof floats / sizeof floats[0] };

static void check_number(tesela_dtype dtype, int32_t bits, double number, uint64_t code) {
  uint8_t value[TESELA_ELEMENT_BYTES];
  char text[64], printed[TESELA_ELEMENT_TEXT];
  tesela_error err = {.message = ""};
  snprintf(text, sizeof text, "%.17g", number);
  if (read_value(text, dtype, bits, value, &err) != TESELA_OK || code_of(value) != code)
    fail_msg("%s %s: %" PRIx64 ", not %" PRIx64 " %s", tesela_dtype_name(dtype), text, code_of(value), code,
             err.message);
  tesela_element_print(value, dtype, bits, printed);
  if (!(isnan(number) ? strcmp(printed, "nan") == 0
                      : (bits == 64 ? strtod(printed, NULL) : (double)strtof(printed, NULL)) == number))
    fail_msg("%s %s is printed as %s", tesela_dtype_name(dtype), text, printed);
}

static void known_numbers_have_known_codes(void **state) {
  (void)state;
  for (size_t i = 0; i < N_FLOATS; i++) {
    int32_t width = tesela_dtype_bits(floats[i].dtype);
    uint64_t sign = UINT64_C(1) << (width - 1);
    check_number(floats[i].dtype, floats[i].bits, floats[i].most, floats[i].most_code);
    check_number(floats[i].dtype, floats[i].bits, -floats[i].most, floats[i].most_code | sign);
    check_number(floats[i].dtype, floats[i].bits, floats[i].least_normal, floats[i].least_normal_code);
    check_number(floats[i].dtype, floats[i].bits, floats[i].least, 1);
    check_number(floats[i].dtype, floats[i].bits, 1, floats[i].one_code);
    check_number(floats[i].dtype, floats[i].bits, 0, 0);
    if (floats[i].minus_zero) check_number(floats[i].dtype, floats[i].bits, -0.0, sign);
    if (floats[i].nan_code) check_number(floats[i].dtype, floats[i].bits, NAN, floats[i].nan_code);
    if (floats[i].infinite) check_number(floats[i].dtype, floats[i].bits, INFINITY, floats[i].most_code + 1);
  }
  check_number(TESELA_F32, 32, 1, 0x3f800000);
  check_number(TESELA_F32, 32, FLT_MAX, 0x7f7fffff);
  check_number(TESELA_F64, 64, -2, UINT64_C(0xc000000000000000));
  check_number(TESELA_F8E8M0FNU, 8, 1, 127);
  check_number(TESELA_F8E8M0FNU, 8, 0x1p-127, 0);
  check_number(TESELA_F8E8M0FNU, 8, NAN, 255);
}

/* Every code of a narrow type: printed and read it is the same one, positive numbers rise with their codes, and what lies
   half-way between two becomes the even one. */
static void all_codes_come_back(void **state) {
  (void)state;
  for (size_t i = 0; i < N_FLOATS; i++) {
    tesela_dtype dtype = floats[i].dtype;
    double before = -1;
    bool wide = tesela_dtype_bits(dtype) == 16;
    for (uint64_t code = 0; code < UINT64_C(1) << tesela_dtype_bits(dtype); code += wide ? 61 : 1) {
      uint8_t value[TESELA_ELEMENT_BYTES] = {(uint8_t)code, (uint8_t)(code >> 8)};
      char text[TESELA_ELEMENT_TEXT];
      tesela_element_print(value, dtype, floats[i].bits, text);
      double number = (double)strtof(text, NULL); /* what is printed tells f32 apart */
      if (isnan(number)) continue;
      check_number(dtype, floats[i].bits, number, code);
      if (wide || code == 0 || code > floats[i].most_code) {
        before = number;
        continue;
      }
      if (number <= before) fail_msg("%s: code %" PRIx64 " does not rise", tesela_dtype_name(dtype), code);
      uint64_t even = code % 2 ? code - 1 : code;
      char half[64];
      snprintf(half, sizeof half, "%.17g", (number + before) / 2);
      assert_int_equal(read_value(half, dtype, floats[i].bits, value, NULL), TESELA_OK);
      if (code_of(value) != even) fail_msg("%s %s is not even", tesela_dtype_name(dtype), half);
      before = number;
    }
  }
}

/* ---- all types ---- */

static void elements_are_read(void **state) {
  (void)state;
  static const struct {
    const char *text;
    tesela_dtype dtype;
    int32_t bits;
    uint64_t low, high;
    const char *printed;
  } rows[] = {
      {"true", TESELA_PRED, 8, 1, 0, "true"},
      {"0", TESELA_PRED, 1, 0, 0, "false"},
      {"-1", TESELA_S4, 4, 0xf, 0, "-1"},
      {"-1", TESELA_S4, 8, 0xff, 0, "-1"},
      {"-8", TESELA_S4, 4, 8, 0, "-8"},
      {"3", TESELA_U2, 2, 3, 0, "3"},
      {"-128", TESELA_S8, 8, 0x80, 0, "-128"},
      {"18446744073709551615", TESELA_U64, 64, UINT64_MAX, 0, "18446744073709551615"},
      {"-9223372036854775808", TESELA_S64, 64, UINT64_C(1) << 63, 0, "-9223372036854775808"},
      {"-1.5", TESELA_BF16, 16, 0xbfc0, 0, "-1.5"},
      {"0.1", TESELA_F32, 32, 0x3dcccccd, 0, "0.1"},
      {"0.1", TESELA_F64, 64, UINT64_C(0x3fb999999999999a), 0, "0.1"},
      {"1-2j", TESELA_C64, 64, UINT64_C(0xc00000003f800000), 0, "1-2j"},
      {"2j", TESELA_C64, 64, UINT64_C(0x4000000000000000), 0, "0+2j"},
      {"1", TESELA_C128, 128, UINT64_C(0x3ff0000000000000), 0, "1+0j"},
      {"1e-3+infj", TESELA_C128, 128, UINT64_C(0x3f50624dd2f1a9fc), UINT64_C(0x7ff0000000000000),
       "0.001+infj"},
      {"0x7fc0", TESELA_BF16, 16, 0x7fc0, 0, "nan"},
      {"0xF", TESELA_DTYPE_NONE, 4, 15, 0, ""},
      {"0x0000000000000000000000000000000000000000001", TESELA_DTYPE_NONE, 8, 1, 0, ""},
      {"0xffffffffffffffffffffffffffffffff", TESELA_DTYPE_NONE, 128, UINT64_MAX, UINT64_MAX, ""},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    uint8_t value[TESELA_ELEMENT_BYTES];
    char text[TESELA_ELEMENT_TEXT];
    tesela_error err = {.message = ""};
    if (read_value(rows[i].text, rows[i].dtype, rows[i].bits, value, &err) != TESELA_OK)
      fail_msg("%s: %s", rows[i].text, err.message);
    if (code_of(value) != rows[i].low || code_of(value + 8) != rows[i].high)
      fail_msg("%s: %" PRIx64 " %" PRIx64, rows[i].text, code_of(value), code_of(value + 8));
    assert_string_equal(tesela_element_print(value, rows[i].dtype, rows[i].bits, text), rows[i].printed);
  }
}

static void others_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *text;
    tesela_dtype dtype;
    int32_t bits;
    tesela_status status;
  } rows[] = {
      {"", TESELA_F32, 32, TESELA_E_SYNTAX},
      {"one", TESELA_F32, 32, TESELA_E_SYNTAX},
      {"1x", TESELA_F32, 32, TESELA_E_SYNTAX},
      {" 1", TESELA_F32, 32, TESELA_E_SYNTAX},
      {"1,5", TESELA_F32, 32, TESELA_E_SYNTAX},
      {"1+2", TESELA_C64, 64, TESELA_E_SYNTAX},
      {"1+2j3", TESELA_C64, 64, TESELA_E_SYNTAX},
      {"2j", TESELA_F32, 32, TESELA_E_SYNTAX},
      {"1.5", TESELA_S32, 32, TESELA_E_SYNTAX},
      {"2", TESELA_PRED, 8, TESELA_E_SYNTAX},
      {"-", TESELA_S32, 32, TESELA_E_SYNTAX},
      {"0x", TESELA_S32, 32, TESELA_E_SYNTAX},
      {"0xg", TESELA_S32, 32, TESELA_E_SYNTAX},
      {"128", TESELA_S8, 8, TESELA_E_RANGE},
      {"-1", TESELA_U8, 8, TESELA_E_RANGE},
      {"8", TESELA_S4, 8, TESELA_E_RANGE},
      {"0x1f", TESELA_DTYPE_NONE, 4, TESELA_E_RANGE},
      {"1e999", TESELA_F64, 64, TESELA_E_RANGE},
      {"1e39", TESELA_F32, 32, TESELA_E_RANGE},
      {"449", TESELA_F8E4M3FN, 8, TESELA_E_RANGE},
      {"inf", TESELA_F8E4M3FN, 8, TESELA_E_RANGE},
      {"nan", TESELA_F4E2M1FN, 4, TESELA_E_RANGE},
      {"3", TESELA_F8E8M0FNU, 8, TESELA_E_RANGE},
      {"1", TESELA_F32, 3, TESELA_E_RANGE},
      {"1", TESELA_F32, 256, TESELA_E_RANGE},
      {"1", TESELA_F32, 16, TESELA_E_UNSUPPORTED},
      {"1", TESELA_DTYPE_NONE, 8, TESELA_E_UNSUPPORTED},
  };
  char longest[1000];
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    uint8_t value[TESELA_ELEMENT_BYTES] = {0xee};
    tesela_error err = {.message = ""};
    tesela_status status = read_value(rows[i].text, rows[i].dtype, rows[i].bits, value, &err);
    if (status != rows[i].status || err.status != status || !*err.message || value[0] != 0xee)
      fail_msg("%s of %s: %s %s", rows[i].text, tesela_dtype_name(rows[i].dtype), tesela_status_code(status),
               err.message);
  }
  memset(longest, '1', sizeof longest);
  uint8_t value[TESELA_ELEMENT_BYTES];
  assert_int_equal(tesela_element_read(longest, sizeof longest, TESELA_F64, 64, value, NULL),
                   TESELA_E_SYNTAX);
  assert_int_equal(tesela_element_read("1\0", 2, TESELA_S8, 8, value, NULL), TESELA_E_SYNTAX);
  assert_int_equal(tesela_element_read(NULL, 0, TESELA_S8, 8, value, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_element_read("1", 1, TESELA_S8, 8, NULL, NULL), TESELA_E_INVALID);
}

/* In a locale whose numbers have a comma. */
static void the_decimal_point_is_a_point(void **state) {
  (void)state;
  static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "nl_NL.UTF-8"};
  uint8_t value[TESELA_ELEMENT_BYTES];
  char text[TESELA_ELEMENT_TEXT];
  for (size_t i = 0; i < sizeof names / sizeof names[0] && !setlocale(LC_NUMERIC, names[i]); i++) continue;
  assert_int_equal(read_value("-1.5", TESELA_F32, 32, value, NULL), TESELA_OK);
  assert_string_equal(tesela_element_print(value, TESELA_F32, 32, text), "-1.5");
  assert_int_equal(read_value("-1,5", TESELA_F32, 32, value, NULL), TESELA_E_SYNTAX);
  setlocale(LC_NUMERIC, "C");
}

/* ---- in a buffer ---- */

static void elements_stand_in_their_places(void **state) {
  (void)state;
  for (int32_t bits = 1; bits <= 128; bits *= 2) {
    uint8_t buffer[64], value[TESELA_ELEMENT_BYTES], text[TESELA_ELEMENT_BYTES];
    char shown[TESELA_ELEMENT_TEXT];
    for (size_t i = 0; i < sizeof buffer; i++) buffer[i] = (uint8_t)(37 * i + 11);
    for (int64_t place = 0; place < 512 / bits; place++) {
      uint8_t before[64], want[64];
      memcpy(before, buffer, sizeof before);
      memcpy(want, buffer, sizeof want);
      tesela_element_get(buffer, place, bits, value);
      for (int32_t b = 0; b < 128; b++) { /* bit by bit */
        int64_t at = place * bits + b;
        int is = value[b / 8] >> b % 8 & 1, should = b < bits ? buffer[at / 8] >> at % 8 & 1 : 0;
        assert_int_equal(is, should);
        value[b / 8] ^= (uint8_t)(b < bits ? 1 << b % 8 : 0);
        if (b < bits) want[at / 8] ^= (uint8_t)(1 << at % 8);
      }
      tesela_element_put(buffer, place, bits, value);
      assert_memory_equal(buffer, want, sizeof want);
      tesela_element_bits(value, bits, shown);
      assert_int_equal(read_value(shown, TESELA_DTYPE_NONE, bits, text, NULL), TESELA_OK);
      assert_memory_equal(text, value, sizeof text);
      assert_int_equal(strlen(shown), 2 + (bits + 3) / 4);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_numbers_have_known_codes),
      cmocka_unit_test(all_codes_come_back),
      cmocka_unit_test(elements_are_read),
      cmocka_unit_test(others_are_refused),
      cmocka_unit_test(the_decimal_point_is_a_point),
      cmocka_unit_test(elements_stand_in_their_places),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
