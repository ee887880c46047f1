/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_xla_text_refused.c - XLA text that is refused: where and why.
 *
 * Expected texts, bytes and statuses come from the grammar of XLA's parser and printer and from the
 * decisions in docs/xla.md; "vector" rows are those of tests/vectors/xla_seed_examples.json.
 */
#include "support_xla_text.h"

static const struct {
  const char *text;
  tesela_status status;
  int64_t at;
  const char *fragment;
} refused_rows[] = {
    /* vector rows */
    {"F32[3,5]{1,0:T(2,2)}", TESELA_E_SYNTAX, 0, "unknown element type 'F32'; did you mean f32?"},
    {"f32[3,5]{1,0:S(1)T(2,2)}", TESELA_E_SYNTAX, 17, "T must come before S"},
    {"f32[3,5]{0}", TESELA_E_INVALID, 8, "the shape has 2 dims, the order lists 1"},
    {"f32[3,5]{0,0}", TESELA_E_INVALID, 11, "dim 0 twice"},
    {"f32[3,5]{1,0:T(0,2)}", TESELA_E_RANGE, 15, "1 or more"},
    {"f32[3,5]{1,0:T(2,-1)}", TESELA_E_RANGE, 17, "tile extent -1"},
    {"f32[3,5]{1,0:T()}", TESELA_E_SYNTAX, 15, "expected a tile extent: a number or *, found ')'"},
    {"f32[3,5]{1,0:T(2,*)}", TESELA_E_INVALID, 17, "* in the last place"},
    {"f32[3,5]{1,0:T(2,2}", TESELA_E_SYNTAX, 18, "expected ',' or ')', found '}'"},
    {"f32[-3]", TESELA_E_RANGE, 4, "dim -3: expected a dim of 0 or more"},
    {"f32[3,5]{1,0}x", TESELA_E_SYNTAX, 13, "found 'x'"},
    {"f32[2.5]", TESELA_E_SYNTAX, 4, "found '2.5'"},
    /* numbers and tokens */
    {"", TESELA_E_SYNTAX, 0, "the end of the text"},
    {" \n", TESELA_E_SYNTAX, 2, "the end of the text"},
    {"f32", TESELA_E_SYNTAX, 3, "expected '[' and the dims, found the end of the text"},
    {"f32[2", TESELA_E_SYNTAX, 5, "expected ',' or ']'"},
    {"f32[2e1]", TESELA_E_SYNTAX, 4, "'2e1'"},
    {"f32[2x3]", TESELA_E_SYNTAX, 4, "'2x3'"},
    {"f32[1_2]", TESELA_E_SYNTAX, 4, "'1_2'"},
    {"f32[0x10]", TESELA_E_SYNTAX, 4, "'0x10'"},
    {"f32[+3]", TESELA_E_SYNTAX, 4, "'+'"},
    {"f32[- 3]", TESELA_E_SYNTAX, 4, "'-'"},
    {"f32[--3]", TESELA_E_SYNTAX, 4, "'--3'"},
    {"f32[< =3]", TESELA_E_SYNTAX, 4, "'<'"},
    {"f32[<=?]", TESELA_E_SYNTAX, 6, "'?'"},
    {"f32[<=-3]", TESELA_E_RANGE, 6, "dim -3"},
    {"f32[,3]", TESELA_E_SYNTAX, 4, "','"},
    {"f32[3,]", TESELA_E_SYNTAX, 6, "']'"},
    {"f32[3 5]", TESELA_E_SYNTAX, 6, "'5'"},
    {"f32[3;5]", TESELA_E_SYNTAX, 5, "';'"},
    {"f32[9223372036854775808]", TESELA_E_RANGE, 4, "'9223372036854775808' does not fit in 64 bits"},
    {"f32[<=9223372036854775808]", TESELA_E_RANGE, 6, "'9223372036854775808' does not fit in 64 bits"},
    {"f32[-9223372036854775808]", TESELA_E_RANGE, 4, "-9223372036854775808"},
    {"f32[1234567890123456789012345]", TESELA_E_RANGE, 4, "'123456789012345678901234...'"},
    {"f32[2]/*", TESELA_E_SYNTAX, 6, "an unterminated comment"},
    {"f32[2/*/]", TESELA_E_SYNTAX, 5, "an unterminated comment"},
    {"f32/[2]", TESELA_E_SYNTAX, 3, "'/'"},
    {"f32[\xE2\x88\x97]", TESELA_E_SYNTAX, 4, "U+2217"},
    {"f32\xFF[2]", TESELA_E_SYNTAX, 3, "byte 0xFF, which is not UTF-8"},
    {"f32\xFF[2]", TESELA_E_SYNTAX, 3, "byte 0xFF, which is not UTF-8"},
    {"f32[\xFF]", TESELA_E_SYNTAX, 4, "byte 0xFF, which is not UTF-8"},
    {"f32[2]/*\xC3*/", TESELA_E_SYNTAX, 8, "byte 0xC3, which is not UTF-8"},
    {"f32[2]//\xED\xA0\x80", TESELA_E_SYNTAX, 8, "byte 0xED, which is not UTF-8"},
    {"f32[\x07]", TESELA_E_SYNTAX, 4, "control character U+0007"},
    {"f32[2]\n\n{0}z", TESELA_E_SYNTAX, 11, "'z'"},
    /* types */
    {"fp16[2]", TESELA_E_SYNTAX, 0, "unknown element type 'fp16'; did you mean f16?"},
    {"tuple[]", TESELA_E_SYNTAX, 0, "unknown element type 'tuple'"},
    {"buffer[2]", TESELA_E_SYNTAX, 0, "unknown element type 'buffer'"},
    {"opaque_type[]", TESELA_E_SYNTAX, 0, "unknown element type 'opaque_type'"},
    {"f32.1[2]", TESELA_E_SYNTAX, 0, "'f32.1'"},
    {"f32-[2]", TESELA_E_SYNTAX, 0, "'f32-'"},
    {"[2]", TESELA_E_SYNTAX, 0, "an element type"},
    {"32[2]", TESELA_E_SYNTAX, 0, "'32'"},
    {"token[3]", TESELA_E_SYNTAX, 6, "token[] has no dims"},
    {"opaque[?]", TESELA_E_SYNTAX, 7, "opaque[] has no dims"},
    {"token", TESELA_E_SYNTAX, 5, "expected '['"},
    {"token[]{0}", TESELA_E_SYNTAX, 7, "token[] has no layout"},
    {"opaque[]{:T(8)}", TESELA_E_SYNTAX, 8, "opaque[] has no layout"},
    {"token[]{}", TESELA_E_SYNTAX, 7, "'{'"},
    /* buffers and tuples */
    {"b(token[])", TESELA_E_INVALID, 2, "a single array"},
    {"b((f32[2]))", TESELA_E_INVALID, 2, "a single array"},
    {"b(b(f32[2]))", TESELA_E_SYNTAX, 2, "'b'"},
    {"b(f32[2]", TESELA_E_SYNTAX, 8, "expected ')'"},
    {"b(f32[2]){0}", TESELA_E_SYNTAX, 9, "'{'"},
    {"b[2]", TESELA_E_SYNTAX, 1, "expected '('"},
    {"b()", TESELA_E_SYNTAX, 2, "an element type"},
    {"(f32[2])", TESELA_E_UNSUPPORTED, 0, "a tuple"},
    {"  ()", TESELA_E_UNSUPPORTED, 2, "a tuple"},
    /* order */
    {"f32[]{}", TESELA_E_SYNTAX, 5, "expected nothing more after the shape, found '{'; a layout is {1,0}"},
    {"f32[2]{}", TESELA_E_SYNTAX, 6, "'{'"},
    {"f32[2]{a}", TESELA_E_SYNTAX, 6, "'{'"},
    {"f32[3,5]{2,0}", TESELA_E_RANGE, 9, "expected 0 to 1"},
    {"f32[3,5]{1,-1}", TESELA_E_RANGE, 11, "order entry -1"},
    {"f32[3,5]{1,99999999999}", TESELA_E_RANGE, 11, "order entry 99999999999"},
    {"f32[3,5]{2,1,0}", TESELA_E_INVALID, 8, "the shape has 2 dims, the order lists 3"},
    {"f32[2]{:}", TESELA_E_INVALID, 6, "the shape has 1 dim, the order lists 0"},
    {"f32[3,5]{:T(2,2)}", TESELA_E_INVALID, 8, "the order lists 0"},
    {"f32[3,5]{1,0", TESELA_E_SYNTAX, 12, "expected ',', ':' or '}'"},
    {"f32[3,5]{1,0,}", TESELA_E_SYNTAX, 13, "the number of a dim"},
    {"f32[3,5]{1 0}", TESELA_E_SYNTAX, 11, "'0'"},
    {"f32[3,5]{1,0:", TESELA_E_SYNTAX, 13, "the end of the text"},
    /* properties */
    {"f32[3,5]{1,0:T(2,2)", TESELA_E_SYNTAX, 19, "or '}'"},
    {"f32[3,5]{1,0:T}", TESELA_E_SYNTAX, 14, "expected '(' after T"},
    {"f32[3,5]{1,0:T(2,}", TESELA_E_SYNTAX, 17, "'}'"},
    {"f32[3,5]{1,0:S(1}", TESELA_E_SYNTAX, 16, "expected ')'"},
    {"f32[3,5]{1,0:T(2,2)T(2,2)}", TESELA_E_SYNTAX, 19, "T is given twice"},
    {"f32[3,5]{1,0:M(4)SC(0:1)}", TESELA_E_SYNTAX, 17, "SC must come before M"},
    {"f32[3,5]{1,0:T(2,2)D(D,D)}", TESELA_E_SYNTAX, 19, "D must come before T"},
    {"f32[3,5]{1,0:t(2,2)}", TESELA_E_SYNTAX, 13, "expected T, L, #, *, E, S, SC, P, M, or '}', found 't'"},
    {"f32[3,5]{1,0:TL(2)}", TESELA_E_SYNTAX, 13, "'TL'"},
    {"f32[3,5]{1,0:T(2,2),S(1)}", TESELA_E_SYNTAX, 19, "','"},
    {"f32[3,5]{1,0:(2,2)}", TESELA_E_SYNTAX, 13, "tiles start with T, as in T(8,128)"},
    {"f32[3,5]{1,0:T(2,2.0)}", TESELA_E_SYNTAX, 17, "'2.0'"},
    {"f32[3,5]{1,0:T(\xE2\x88\x97,2)}", TESELA_E_SYNTAX, 15, "did you mean '*'?"},
    {"f32[3,5]{1,0:T(2\xC3\x97"
     "2)}",
     TESELA_E_SYNTAX, 16, "did you mean ','?"},
    {"f32[3,5]{1,0:T(9223372036854775808)}", TESELA_E_RANGE, 15, "does not fit in 64 bits"},
    {"f32[3,5]{1,0:T(-9223372036854775808,2)}", TESELA_E_RANGE, 15,
     "tile extent -9223372036854775808: expected a tile extent of 1 or more"},
    {"f32[3,5]{1,0:L(0)}", TESELA_E_RANGE, 15, "L(0): expected a tail alignment of 1 or more"},
    {"f32[3,5]{1,0:L(-8)}", TESELA_E_RANGE, 15, "L(-8)"},
    {"f32[3,5]{1,0:E(-4)}", TESELA_E_RANGE, 15, "E(-4)"},
    {"f32[3,5]{1,0:S(300)}", TESELA_E_RANGE, 15, "S(300): expected a memory space, -128 to 127"},
    {"f32[3,5]{1,0:S(256)}", TESELA_E_RANGE, 15, "S(256)"},
    {"f32[3,5]{1,0:S(-129)}", TESELA_E_RANGE, 15, "S(-129)"},
    {"f32[3,5]{1,0:M(-1)}", TESELA_E_RANGE, 15, "M(-1)"},
    {"f32[3,5]{1,0:#(u32)}", TESELA_E_INVALID, 13, "#(...) belongs to sparse arrays"},
    {"f32[3,5]{1,0:*(u32)}", TESELA_E_INVALID, 13, "*(...) belongs to sparse arrays"},
    {"f32[3,5]{1,0:#(f32)}", TESELA_E_INVALID, 13, "#(f32): expected an unsigned type"},
    {"f32[3,5]{1,0:#(u33)}", TESELA_E_SYNTAX, 15, "unknown element type 'u33'"},
    {"f32[3,5]{1,0:P(f32[2]{0})}", TESELA_E_INVALID, 13, "P(...) belongs to sparse arrays"},
    {"f32[3,5]{1,0:D(D,X)}", TESELA_E_SYNTAX, 17, "a dimension level"},
    {"f32[3,5]{1,0:D(D~+)}", TESELA_E_SYNTAX, 17, "'+'"},
    {"f32[8,8]{1,0:SC(0:3)(0:4)}", TESELA_E_INVALID, 21, "cuts physical dim 0 twice"},
    {"f32[8,8]{1,0:SC(2:3)}", TESELA_E_RANGE, 16, "SC(2:...)"},
    {"f32[8,8]{1,0:SC(-1:3)}", TESELA_E_RANGE, 16, "SC(-1:...)"},
    {"f32[8,8]{1,0:SC(0:5,3)}", TESELA_E_INVALID, 20, "cut point 3 after 5"},
    {"f32[8,8]{1,0:SC(0:5,5)}", TESELA_E_INVALID, 20, "cut point 5 after 5"},
    {"f32[8,8]{1,0:SC(0:0)}", TESELA_E_RANGE, 18, "cut point 0"},
    {"f32[8,9]{0,1:SC(1:8)}", TESELA_E_RANGE, 18, "cut point 8 of a dim of extent 8"},
    {"f32[8,8]{1,0:SC(0)}", TESELA_E_SYNTAX, 17, "expected ':'"},
    {"f32[8,8]{1,0:SC()}", TESELA_E_SYNTAX, 16, "the number of a physical dim"},
    /* sizes */
    {"f32[9223372036854775807]", TESELA_E_OVERFLOW, 3, "dimensions overflow"},
    {"f32[4294967296,4294967296]", TESELA_E_OVERFLOW, 3, "dimensions overflow"},
    {"f32[4294967296,<=4294967296,?]", TESELA_E_OVERFLOW, 3, "dimensions overflow"},
    {"f32[1,1]{1,0:T(4294967296,4294967296)}", TESELA_E_OVERFLOW, 13, "dimensions overflow"},
    {"f16[1]{0:T(9223372036854775807)}", TESELA_E_OVERFLOW, 9, "dimensions overflow"},
    {"s8[4294967297]{0:T(4294967296)(2147483649,1)}", TESELA_E_OVERFLOW, 17, "dimensions overflow"},
    {"s8[4611686018427387905]{0:L(4611686018427387904)}", TESELA_E_OVERFLOW, 28, "dimensions overflow"},
    {"f32[1]{0:L(9223372036854775807)}", TESELA_E_OVERFLOW, 11, "dimensions overflow"},
    {"s8[2]{0:T(2)L(9223372036854775807)E(9)}", TESELA_E_OVERFLOW, 36, "dimensions overflow"},
    {"s8[9]{0:E(9223372036854775807)}", TESELA_E_OVERFLOW, 10, "dimensions overflow"},
    /* limits */
    {"f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", TESELA_E_LIMIT, 68,
     "more than 32 dims"},
    {"f32[1]{0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}", TESELA_E_LIMIT, 71,
     "more than 32 dims"},
    {"f32[1]{0:T(1)(1)(1)(1)(1)(1)(1)(1)(1)(1)(1)(1)(1)(1)(1)(1)(1)}", TESELA_E_LIMIT, 59,
     "more than 16 tiles"},
};

static void what_xla_refuses_or_takes_by_accident_is_refused_with_its_byte(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refused_rows / sizeof refused_rows[0]; i++) {
    const char *text = refused_rows[i].text;
    tesela_xla_shape shape, before;
    tesela_xla_repairs repairs = {.count = 77};
    tesela_error err = {.message = ""};
    memset(&shape, 0x5A, sizeof shape);
    memset(&before, 0x5A, sizeof before);
    tesela_status status = xla_text_read(text, strlen(text), TESELA_XLA_STRICT, &shape, &repairs, &err);
    xla_text_refused(text, status, &err, refused_rows[i].status, refused_rows[i].at,
                     refused_rows[i].fragment);
    assert_memory_equal(&shape, &before, sizeof shape);
    assert_int_equal(repairs.count, 77);
    assert_int_equal(xla_text_read(text, strlen(text), TESELA_XLA_STRICT, &shape, NULL, NULL),
                     refused_rows[i].status);
  }
}

static void a_nul_byte_is_refused_wherever_it_is(void **state) {
  (void)state;
  static const char text[] = "f32[3,5]/*c*/{1,0:T(2,2)}";
  for (size_t at = 0; at < sizeof text; at++) {
    char with_nul[sizeof text + 1];
    tesela_xla_shape shape;
    tesela_error err = {.message = ""};
    memcpy(with_nul, text, at);
    with_nul[at] = '\0';
    memcpy(with_nul + at + 1, text + at, sizeof text - 1 - at);
    tesela_status status = xla_text_read(with_nul, sizeof text, 0, &shape, NULL, &err);
    if (status != TESELA_E_SYNTAX || !strstr(err.message, "a NUL byte") || err.at != (int64_t)at)
      fail_msg("NUL at %zu: %s at %" PRId64 ": %s", at, tesela_status_code(status), err.at, err.message);
  }
}

static void capacities_are_limits_not_crashes(void **state) {
  (void)state;
  static const struct {
    const char *front, *item, *back;
    int fits; /* items that are accepted */
    const char *fragment;
  } rows[] = {
      {"f32[1]{0:T(1", ",1", ")}", TESELA_XLA_MAX_TILE_NUMBERS - 1, "tile extents"},
      {"f32[1]{0:T(1)", "(1)", "}", TESELA_XLA_MAX_TILES - 1, "tiles"},
      {"s8[100]{0:SC(0:1", NULL, ")}", TESELA_XLA_MAX_SPLIT_POINTS - 1, "cut points"},
      {"s8[1,1,1,1,1,1,1,1,1]{8,7,6,5,4,3,2,1,0:SC(0:)", NULL, "}", TESELA_XLA_MAX_SPLITS - 1,
       "split configs"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    for (int extra = 0; extra < 3; extra++) {
      char text[2048];
      tesela_xla_shape shape;
      tesela_error err = {.message = ""};
      size_t n = (size_t)snprintf(text, sizeof text, "%s", rows[i].front);
      for (int k = 1; k <= rows[i].fits + extra; k++) {
        if (rows[i].item)
          n += (size_t)snprintf(text + n, sizeof text - n, "%s", rows[i].item);
        else if (strstr(rows[i].fragment, "cut"))
          n += (size_t)snprintf(text + n, sizeof text - n, ",%d", k + 1);
        else
          n += (size_t)snprintf(text + n, sizeof text - n, "(%d:)", k);
      }
      n += (size_t)snprintf(text + n, sizeof text - n, "%s", rows[i].back);
      tesela_status status = xla_text_read(text, n, 0, &shape, NULL, &err);
      if (extra == 0 && status != TESELA_OK) fail_msg("%s: %s", text, err.message);
      if (extra > 0 && (status != TESELA_E_LIMIT || !strstr(err.message, rows[i].fragment)))
        fail_msg("%s: %s: %s", text, tesela_status_code(status), err.message);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_xla_refuses_or_takes_by_accident_is_refused_with_its_byte),
      cmocka_unit_test(a_nul_byte_is_refused_wherever_it_is),
      cmocka_unit_test(capacities_are_limits_not_crashes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
