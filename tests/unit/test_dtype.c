/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_dtype.c - names of element types: found exactly, suggested when nearly right. Widths are XLA's table.
 */
#include "support_xla.h"

static void every_name_is_found_and_nothing_else(void **state) {
  (void)state;
  static const struct {
    tesela_dtype dtype;
    const char *name;
  } rows[] = {
#define ROW(symbol, number, name, bits, bytes, family) {symbol, name},
      TESELA_DTYPE_MAP(ROW)
#undef ROW
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const char *name = rows[i].name;
    char longer[32];
    AGREE(name, tesela_dtype_find(name, strlen(name)), rows[i].dtype);
    assert_string_equal(tesela_dtype_name(rows[i].dtype), name);
    snprintf(longer, sizeof longer, "%s%c", name, 'x');
    AGREE(longer, tesela_dtype_find(longer, strlen(longer)), TESELA_DTYPE_NONE);
    AGREE(name, tesela_dtype_find(name, strlen(name) + 1), TESELA_DTYPE_NONE); /* with its NUL */
  }
  AGREE("empty", tesela_dtype_find("", 0), TESELA_DTYPE_NONE);
  AGREE("NULs", tesela_dtype_find("\0\0\0\0", 4), TESELA_DTYPE_NONE);
  AGREE("long", tesela_dtype_find("f8e4m3b11fnuzf8e4m3b11fnuz", 26), TESELA_DTYPE_NONE);
  AGREE("upper case", tesela_dtype_find("F32", 3), TESELA_DTYPE_NONE);
  assert_null(tesela_dtype_name(TESELA_DTYPE_NONE));
  assert_null(tesela_dtype_name((tesela_dtype)13));
  assert_null(tesela_dtype_name((tesela_dtype)-1));
  assert_null(tesela_dtype_name((tesela_dtype)1000));
}

static void widths_are_those_of_xla(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int32_t bits, bytes;
    tesela_dtype_family family;
  } rows[] = {
      {"pred", 1, 1, TESELA_FAMILY_BOOL},          {"s1", 1, 1, TESELA_FAMILY_SIGNED},
      {"u2", 2, 1, TESELA_FAMILY_UNSIGNED},        {"s4", 4, 1, TESELA_FAMILY_SIGNED},
      {"f4e2m1fn", 4, 1, TESELA_FAMILY_FLOAT},     {"f6e3m2fn", 6, 1, TESELA_FAMILY_FLOAT},
      {"f8e8m0fnu", 8, 1, TESELA_FAMILY_FLOAT},    {"bf16", 16, 2, TESELA_FAMILY_FLOAT},
      {"u32", 32, 4, TESELA_FAMILY_UNSIGNED},      {"c64", 64, 8, TESELA_FAMILY_COMPLEX},
      {"c128", 128, 16, TESELA_FAMILY_COMPLEX},    {"token", 0, 0, TESELA_FAMILY_NONE},
      {"none of these", 0, 0, TESELA_FAMILY_NONE},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_dtype dtype = tesela_dtype_find(rows[i].name, strlen(rows[i].name));
    AGREE(rows[i].name, tesela_dtype_bits(dtype), rows[i].bits);
    AGREE(rows[i].name, tesela_dtype_bytes(dtype), rows[i].bytes);
    AGREE(rows[i].name, tesela_dtype_family_of(dtype), rows[i].family);
  }
}

static void other_spellings_are_suggested(void **state) {
  (void)state;
  static const struct {
    const char *name, *suggestion; /* NULL: nothing is near */
  } rows[] = {
      {"F32", "f32"},       {"BF16", "bf16"},    {"fp16", "f16"},
      {"float16", "f16"},   {"Float32", "f32"},  {"bfloat16", "bf16"},
      {"double", "f64"},    {"half", "f16"},     {"int8", "s8"},
      {"i32", "s32"},       {"uint16", "u16"},   {"ui64", "u64"},
      {"bool", "pred"},     {"fp8", "f8e4m3fn"}, {"e5m2", "f8e5m2"},
      {"complex64", "c64"}, {"bf17", "bf16"},    {"tokn", "token"},
      {"opaqe", "opaque"},  {"xyz", NULL},       {"", NULL},
      {"int7", NULL},       {"parameter", NULL}, {"a-very-long-word-that-no-type-has", NULL},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const char *got = tesela_dtype_suggest(rows[i].name, strlen(rows[i].name));
    if (!got != !rows[i].suggestion || (got && strcmp(got, rows[i].suggestion) != 0))
      fail_msg("%s: %s, not %s", rows[i].name, got ? got : "nothing",
               rows[i].suggestion ? rows[i].suggestion : "nothing");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_name_is_found_and_nothing_else),
      cmocka_unit_test(widths_are_those_of_xla),
      cmocka_unit_test(other_spellings_are_suggested),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
