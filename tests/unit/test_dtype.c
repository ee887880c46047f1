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

/* The names that NumPy, ml_dtypes, JAX, PyTorch, TensorFlow, Triton, MLIR and C use. */
static void every_spelling_is_read(void **state) {
  (void)state;
  static const struct {
    const char *type, *spellings; /* with blanks between */
  } rows[] = {
      {"pred",
       "pred bool Bool torch.bool np.bool np.bool_ jnp.bool_ |b1 ? np.dtype('?') dtype('bool') tl.bool"},
      {"s1", "s1 int1 tl.int1"},
      {"s4", "s4 int4 i4 si4 ml_dtypes.int4 jnp.int4"},
      {"u4", "u4 uint4 ui4 ml_dtypes.uint4"},
      {"s2", "s2 int2 ml_dtypes.int2"},
      {"s8", "s8 int8 i8 I8 torch.int8 np.byte |i1 tl.int8"},
      {"u8", "u8 uint8 U8 torch.uint8 np.ubyte |u1 <u1"},
      {"s16", "s16 int16 torch.short np.short <i2"},
      {"u16", "u16 uint16 torch.uint16 np.ushort >u2"},
      {"s32", "s32 int32 i32 torch.int torch.int32 np.intc jnp.int32 <i4 =i4"},
      {"u32", "u32 uint32 ui32 np.uintc <u4"},
      {"s64", "s64 int64 torch.long torch.int64 np.longlong >i8"},
      {"u64", "u64 uint64 np.ulonglong <u8"},
      {"f16", "f16 half float16 fp16 torch.half torch.float16 np.half <f2 F16"},
      {"bf16",
       "bf16 bfloat16 BF16 torch.bfloat16 jnp.bfloat16 jax.numpy.bfloat16 ml_dtypes.bfloat16 tf.bfloat16"},
      {"f32",
       "f32 float float32 fp32 torch.float torch.float32 jnp.float32 numpy.float32 np.single <f4 >f4 =f4 "
       "np.dtype('<f4') dtype(\"float32\") tf.float32 tl.float32"},
      {"f64", "f64 double float64 fp64 torch.double np.double <f8"},
      {"c64", "c64 complex64 torch.cfloat torch.complex64 np.csingle <c8"},
      {"c128", "c128 complex128 torch.cdouble np.cdouble <c16"},
      {"f8e5m2", "f8e5m2 float8_e5m2 torch.float8_e5m2 f8E5M2 e5m2 F8_E5M2 fp8e5"},
      {"f8e4m3", "f8e4m3 float8_e4m3 ml_dtypes.float8_e4m3"},
      {"f8e3m4", "f8e3m4 float8_e3m4"},
      {"f8e4m3fn", "f8e4m3fn float8_e4m3fn torch.float8_e4m3fn jnp.float8_e4m3fn f8E4M3FN fp8e4nv"},
      {"f8e4m3fnuz", "f8e4m3fnuz float8_e4m3fnuz torch.float8_e4m3fnuz fp8e4b8"},
      {"f8e5m2fnuz", "f8e5m2fnuz float8_e5m2fnuz torch.float8_e5m2fnuz fp8e5b16"},
      {"f8e4m3b11fnuz", "f8e4m3b11fnuz float8_e4m3b11fnuz jnp.float8_e4m3b11fnuz"},
      {"f8e8m0fnu", "f8e8m0fnu float8_e8m0fnu torch.float8_e8m0fnu"},
      {"f6e2m3fn", "f6e2m3fn float6_e2m3fn ml_dtypes.float6_e2m3fn"},
      {"f6e3m2fn", "f6e3m2fn float6_e3m2fn"},
      {"f4e2m1fn", "f4e2m1fn float4_e2m1fn ml_dtypes.float4_e2m1fn"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    for (const char *at = rows[i].spellings; *at;) {
      size_t n = strcspn(at, " ");
      tesela_dtype dtype = TESELA_DTYPE_NONE;
      tesela_error err = {.message = ""};
      if (tesela_dtype_read(at, n, &dtype, &err) != TESELA_OK ||
          strcmp(tesela_dtype_name(dtype), rows[i].type) != 0)
        fail_msg("%.*s is not %s: %s", (int)n, at, rows[i].type, err.message);
      at += n + (at[n] == ' ');
    }
}

/* Names that mean several types, or none. */
static void other_names_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *name, *says;
  } rows[] = {
      {"fp8", "unknown element type 'fp8'; did you mean f8e4m3fn?"},
      {"long", "unknown element type 'long'; did you mean s64?"},
      {"int", "unknown element type 'int'; did you mean s32?"},
      {"np.int", "unknown element type 'np.int'; did you mean s32?"},
      {"np.float", "unknown element type 'np.float'; did you mean f32?"},
      {"byte", "unknown element type 'byte'; did you mean u8?"},
      {"f4", "unknown element type 'f4'; did you mean f4e2m1fn?"},
      {"torch.bf17", "unknown element type 'torch.bf17'; did you mean bf16?"},
      {"torch.", "unknown element type 'torch.'"},
      {"torch.complex32", "unknown element type 'torch.complex32'"},
      {"<f16", "unknown element type '<f16'"},
      {"<f", "unknown element type '<f'"},
      {"<", "unknown element type '<'"},
      {"|V2", "unknown element type '|V2'"},
      {"<i99999999999", "unknown element type '<i99999999999'"},
      {"dtype('", "unknown element type 'dtype(''"},
      {"float8_e9m9", "unknown element type 'float8_e9m9'"},
      {"", "unknown element type ''"},
      {"\x1b[31m", "unknown element type '\\x1b[31m'"},
      {"\xff", "unknown element type '\\xff'"},
  };
  char longest[300];
  tesela_dtype dtype = TESELA_S8;
  tesela_error err;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    assert_int_equal(tesela_dtype_read(rows[i].name, strlen(rows[i].name), &dtype, &err), TESELA_E_SYNTAX);
    assert_string_equal(err.message, rows[i].says);
    assert_int_equal(err.at, 0);
  }
  memset(longest, 'f', sizeof longest);
  assert_int_equal(tesela_dtype_read(longest, sizeof longest, &dtype, &err), TESELA_E_SYNTAX);
  assert_non_null(strstr(err.message, "ffff...'"));
  assert_int_equal(tesela_dtype_read("f32", 4, &dtype, NULL), TESELA_E_SYNTAX); /* with its NUL */
  assert_int_equal(tesela_dtype_read(NULL, 0, &dtype, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_dtype_read("f32", 3, NULL, NULL), TESELA_E_INVALID);
  assert_int_equal(dtype, TESELA_S8);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_name_is_found_and_nothing_else),
      cmocka_unit_test(widths_are_those_of_xla),
      cmocka_unit_test(other_spellings_are_suggested),
      cmocka_unit_test(every_spelling_is_read),
      cmocka_unit_test(other_names_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
