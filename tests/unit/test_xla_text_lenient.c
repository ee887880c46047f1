/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_xla_text_lenient.c - XLA text read leniently: the repairs, their reports, and texts that are still
 * refused.
 *
 * Expected texts, bytes and statuses come from the grammar of XLA's parser and printer and from the
 * decisions in docs/xla.md; "vector" rows are those of tests/vectors/xla_seed_examples.json.
 */
#include "support_xla_text.h"

static const struct {
  const char *text, *printed;
  int32_t count; /* repairs */
  int64_t at;    /* of the first */
  const char *fragment;
} lenient_rows[] = {
    {"f32[3,5]{1,0:T(2,2)}", "f32[3,5]{1,0:T(2,2)}", 0, 0, ""},
    {"F32[3,5]{1,0:T(2,2)}", "f32[3,5]{1,0:T(2,2)}", 1, 0, "type F32 read as f32"},
    {" BF16[8]", "bf16[8]{0}", 1, 1, "type BF16 read as bf16"},
    {"TOKEN[]", "token[]", 1, 0, "token"},
    {"float32[2]", "f32[2]{0}", 1, 0, "type float32 read as f32"},
    {"fp32[2]", "f32[2]{0}", 1, 0, "f32"},
    {"int8[2]", "s8[2]{0}", 1, 0, "s8"},
    {"uint16[2]", "u16[2]{0}", 1, 0, "u16"},
    {"Bool[2]", "pred[2]{0}", 1, 0, "pred"},
    {"f32[3,5]{1,0:(2,2)}", "f32[3,5]{1,0:T(2,2)}", 1, 13, "tile without T"},
    {"f32[3,5]{1,0:(8,128)(2,1)S(1)}", "f32[3,5]{1,0:T(8,128)(2,1)S(1)}", 1, 13, "tile without T"},
    {"f32[2,7,8,11,10]{4,3,2,1,0:(*,*,2,*,3)}", "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", 1, 27, "T"},
    {"f32[2,7,8]{2,1,0:T(\xE2\x88\x97,\xE2\x88\x97,2)}", "f32[2,7,8]{2,1,0:T(*,*,2)}", 2, 19, "read as '*'"},
    {"f32[3,5]{1,0:T(-1,2)}", "f32[3,5]{1,0:T(*,2)}", 1, 15, "'-1' in a tile read as '*'"},
    {"f32[3,5]{1,0:T(8\xC3\x97"
     "128)}",
     "f32[3,5]{1,0:T(8,128)}", 1, 16, "read as ','"},
    {"f32[3\xC3\x97"
     "5]",
     "f32[3,5]{1,0}", 1, 5, "read as ','"},
    {"f32[3,5]{1,0:S(1)T(2,2)}", "f32[3,5]{1,0:T(2,2)S(1)}", 1, 17, "T after S"},
    {"f32[3,5]{1,0:M(1)S(1)L(2)}", "f32[3,5]{1,0:L(2)S(1)M(1)}", 2, 17, "S after M"},
    {"f32[3,5]{1,0:T(2,2}", "f32[3,5]{1,0:T(2,2)}", 1, 18, "missing ')'"},
    {"f32[3,5]{1,0:S(1}", "f32[3,5]{1,0:S(1)}", 1, 16, "missing ')'"},
    {"f32[3,5]{1,0:SC(0:1}", "f32[3,5]{1,0:SC(0:1)}", 1, 19, "missing ')'"},
    {"f32[3,5]{1,0:T(2,}", "f32[3,5]{1,0:T(2)}", 2, 17, "missing ')'"},
    {"f32[3,5]{1,0:T}", "f32[3,5]{1,0}", 1, 13, "T without a value left out"},
    {"f32[3,5]{1,0:T()}", "f32[3,5]{1,0}", 1, 15, "empty tile left out"},
    {"f32[3,5]{1,0:T(2,2)()}", "f32[3,5]{1,0:T(2,2)}", 1, 20, "empty tile left out"},
    {"f32[]{}", "f32[]", 1, 5, "{} read as the default order"},
    {"f32[2,3] { }", "f32[2,3]{1,0}", 1, 9, "{} read as the default order"},
    {"token[]{}", "token[]", 1, 7, "{} left out"},
    {"f32[3,5,]", "f32[3,5]{1,0}", 1, 7, "',' before the end"},
    {"f32[3,5]{1,0,}", "f32[3,5]{1,0}", 1, 12, "',' after the last dim"},
    {"f32[3,5]{1,0,:T(2)}", "f32[3,5]{1,0:T(2)}", 1, 12, "',' after the last dim"},
    {"f32[3,5]{1,0:T(2,2,)}", "f32[3,5]{1,0:T(2,2)}", 1, 18, "',' before the end"},
    {"F32[3,5,]{1,0,:S(1)T(2,2,)}", "f32[3,5]{1,0:T(2,2)S(1)}", 5, 0, "F32"},
    {"f32[2]{0:D(D)}", "f32[2]{0}", 1, 9, "D(...) read and dropped"},
};

static void leniency_mends_and_says_so(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof lenient_rows / sizeof lenient_rows[0]; i++) {
    const char *text = lenient_rows[i].text;
    tesela_xla_shape shape;
    tesela_xla_repairs repairs;
    tesela_error err = {.message = ""};
    char printed[LONG];
    if (xla_text_read(text, strlen(text), TESELA_XLA_LENIENT, &shape, &repairs, &err) != TESELA_OK)
      fail_msg("%s: %s", text, err.message);
    xla_text_print(&shape, true, printed);
    xla_text_same(text, printed, lenient_rows[i].printed);
    AGREE(text, repairs.count, lenient_rows[i].count);
    if (repairs.count == 0) continue;
    AGREE(text, repairs.repair[0].at, lenient_rows[i].at);
    if (!strstr(repairs.repair[0].what, lenient_rows[i].fragment))
      fail_msg("%s: \"%s\" lacks \"%s\"", text, repairs.repair[0].what, lenient_rows[i].fragment);
    OK(xla_text_read(text, strlen(text), TESELA_XLA_LENIENT, &shape, NULL, &e_));
  }
}

static void leniency_accepts_nothing_contradictory(void **state) {
  (void)state;
  static const struct {
    const char *text;
    tesela_status status;
    int64_t at;
    const char *fragment;
  } rows[] = {
      {"f32[3,5]{0,0}", TESELA_E_INVALID, 11, "twice"},
      {"f32[3,5]{0}", TESELA_E_INVALID, 8, "the order lists 1"},
      {"f32[3,5]{:T(2,2)}", TESELA_E_INVALID, 8, "the order lists 0"},
      {"f32[3,5]{1,0:T(2,*)}", TESELA_E_INVALID, 17, "last place"},
      {"f32[3,5]{1,0:T(2,-1)}", TESELA_E_INVALID, 17, "-1 means *, which cannot be last"},
      {"f32[3,5]{1,0:T(2,-2)}", TESELA_E_RANGE, 17, "tile extent -2"},
      {"f32[3,5]{1,0:T(- 1,2)}", TESELA_E_SYNTAX, 15, "'-'"},
      {"f32[3,5]{1,0:T(0,2)}", TESELA_E_RANGE, 15, "tile extent 0"},
      {"f32[3,5]{1,0:T(2,2)T(2,2)}", TESELA_E_SYNTAX, 19, "twice"},
      {"f32[3,5]{1,0:T(2,2)S(1)T(2,2)}", TESELA_E_SYNTAX, 23, "twice"},
      {"f32[3,5]{1,0:(2,2)T(2,2)}", TESELA_E_SYNTAX, 18, "twice"},
      {"f32[3,5]{1,0:S(1)(2,2)}", TESELA_E_SYNTAX, 17, "tiles start with T"},
      {"f32[3,5]{1,0:S(300)}", TESELA_E_RANGE, 15, "S(300)"},
      {"f32[3,5]{1,0:#(u32)}", TESELA_E_INVALID, 13, "sparse"},
      {"f32[3,5]{1,0:T(2,2)", TESELA_E_SYNTAX, 19, "'}'"},
      {"f32[3,5]{1,0:T(2,2", TESELA_E_SYNTAX, 18, "')'"},
      {"f32[3,5]{1,0:T(8,128 S(1)}", TESELA_E_SYNTAX, 21, "'S'"},
      {"f32[3,,5]", TESELA_E_SYNTAX, 6, "','"},
      {"f32[2.0]", TESELA_E_SYNTAX, 4, "'2.0'"},
      {"fp8[2]", TESELA_E_SYNTAX, 0, "did you mean f8e4m3fn?"},
      {"long[2]", TESELA_E_SYNTAX, 0, "did you mean s64?"},
      {"f33[2]", TESELA_E_SYNTAX, 0, "unknown element type 'f33'"},
      {"token[3]", TESELA_E_SYNTAX, 6, "no dims"},
      {"f32[4294967296,4294967296]", TESELA_E_OVERFLOW, 3, "dimensions overflow"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_xla_shape shape;
    tesela_error err = {.message = ""};
    tesela_status status =
        xla_text_read(rows[i].text, strlen(rows[i].text), TESELA_XLA_LENIENT, &shape, NULL, &err);
    xla_text_refused(rows[i].text, status, &err, rows[i].status, rows[i].at, rows[i].fragment);
  }
}

static void more_repairs_than_are_kept_are_counted(void **state) {
  (void)state;
  static const char text[] = "f32[1,1,1]{2,1,0:T(-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,2)}";
  tesela_xla_shape shape;
  tesela_xla_repairs repairs;
  OK(xla_text_read(text, strlen(text), TESELA_XLA_LENIENT, &shape, &repairs, &e_));
  assert_int_equal(repairs.count, 10);
  assert_int_equal(repairs.repair[TESELA_XLA_MAX_REPAIRS - 1].at, 19 + 3 * (TESELA_XLA_MAX_REPAIRS - 1));
}

static void dropped_dimension_levels_are_said_in_strict_reading_too(void **state) {
  (void)state;
  static const char text[] = "f32[2]{0:D(D)}";
  tesela_xla_shape shape;
  tesela_xla_repairs repairs;
  OK(xla_text_read(text, strlen(text), TESELA_XLA_STRICT, &shape, &repairs, &e_));
  assert_int_equal(repairs.count, 1);
  assert_int_equal(repairs.repair[0].at, 9);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(leniency_mends_and_says_so),
      cmocka_unit_test(leniency_accepts_nothing_contradictory),
      cmocka_unit_test(more_repairs_than_are_kept_are_counted),
      cmocka_unit_test(dropped_dimension_levels_are_said_in_strict_reading_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
