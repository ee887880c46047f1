/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_register_lists.c - register layouts from lists, their forms, queries, and the faults that a check
 * finds: small cases, digit by digit, and every refusal with its status and reason.
 *
 * Layouts are written "shape | mode_shape | spatial_modes | local_modes". Expected lists are worked out by
 * hand from the definitions in register.h.
 */
#include "support_register_rows.h"

/* ---- four lists ----------------------------------------------------------------------------------------------------- */

static void lists_are_made_and_reduced(void **state) {
  (void)state;
  static const struct {
    const char *lists, *reduced;
  } rows[] = {
      {"|||", "|||"},
      {"|1,1|0|1", "|||"},
      {"1|1||0", "1|||"},
      {"1,1|||", "1,1|||"},
      {"6,12|3,2,4,3|1,3|0,2", "6,12|3,2,4,3|1,3|0,2"},
      {"4,6|2,2,3,2|0,2|3,1", "4,6|2,2,3,2|0,2|3,1"},
      {"6|2,3|0,1|", "6|6|0|"},
      {"6|2,3|1,0|", "6|2,3|1,0|"},
      {"6|2,3|0|1", "6|2,3|0|1"},
      {"8|2,2,2||0,1,2", "8|8||0"},
      {"8|2,2,2|0,1|2", "8|4,2|0|1"},
      {"8|2,2,2|1,2,0|", "8|2,4|1,0|"},
      {"2,3|2,3|0,1|", "2,3|2,3|0,1|"},                    /* never across dims */
      {"12,1,6|3,4,1,2,3|0,1,2,3,4|", "12,1,6|12,6|0,1|"}, /* a mode of 1 goes, then neighbours join */
      {"6|2,1,3|0,1,2|", "6|6|0|"},                        /* the 1 stood between them */
      {"6|2,1,3|0,2|1", "6|6|0|"},                         /* .. or in the other list */
      {"6|2,3|0,-2,1|", "6|2,3|0,-2,1|"},                  /* a replica keeps them apart */
      {"6|2,3|0,-1,1|", "6|2,3|0,-1,1|"},                  /* even one of 1 */
      {"4|4|-2,-3,0|", "4|4|-2,-3,0|"},                    /* replicas stay as spelt */
      {"4|1,2,1,2,1|0,1,2|3,4", "4|2,2|0|1"},
      {"1,1,4,1|4||0", "1,1,4,1|4||0"},
      {"5,1|1,5|0|1", "5,1|5||0"},
      {"|1|-3,0|", "||-3|"},
      {"6|2,1,3|0,2|", "6|6|0|"}, /* a mode of 1 may be left out */
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_register made;
    register_lists lists = rows_lists(rows[i].lists);
    OK(reg_make(&made, &lists, false, &e_));
    if (!rows_has_lists(&made, rows[i].reduced)) fail_msg("%s: %s", rows[i].lists, reg_text(&made));
    tesela_register raw = rows_layout(rows[i].lists), reduced;
    tesela_register_reduced(&reduced, &raw);
    if (!rows_has_lists(&reduced, rows[i].reduced)) fail_msg("%s: %s", rows[i].lists, reg_text(&reduced));
  }
}

static void lists_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *lists;
    tesela_status status;
    tesela_reason reason;
  } rows[] = {
      {"0|||", TESELA_E_RANGE, TESELA_REASON_SHAPE_NOT_POSITIVE},
      {"-4|4|0|", TESELA_E_RANGE, TESELA_REASON_SHAPE_NOT_POSITIVE},
      {"2,0|2|0|", TESELA_E_RANGE, TESELA_REASON_SHAPE_NOT_POSITIVE},
      {"6|0,6|0,1|", TESELA_E_RANGE, TESELA_REASON_MODE_NOT_POSITIVE},
      {"6|-2,-3|0,1|", TESELA_E_RANGE, TESELA_REASON_MODE_NOT_POSITIVE},
      {"6|5|0|", TESELA_E_INVALID, TESELA_REASON_MODE_DOES_NOT_FIT_SHAPE},
      {"6|2|0|", TESELA_E_INVALID, TESELA_REASON_MODE_DOES_NOT_FIT_SHAPE},
      {"6|2,3,2|0,1,2|", TESELA_E_INVALID, TESELA_REASON_MODE_DOES_NOT_FIT_SHAPE},
      {"6|12|0|", TESELA_E_INVALID, TESELA_REASON_MODE_DOES_NOT_FIT_SHAPE},
      {"2,3|6|0|", TESELA_E_INVALID, TESELA_REASON_MODE_DOES_NOT_FIT_SHAPE},
      {"2,3|3,2|0,1|", TESELA_E_INVALID, TESELA_REASON_MODE_DOES_NOT_FIT_SHAPE},
      {"6|||", TESELA_E_INVALID, TESELA_REASON_MODE_DOES_NOT_FIT_SHAPE},
      {"|2|0|", TESELA_E_INVALID, TESELA_REASON_MODE_DOES_NOT_FIT_SHAPE},
      {"1|2|0|", TESELA_E_INVALID, TESELA_REASON_MODE_DOES_NOT_FIT_SHAPE},
      {"6|3,2|0,0|1", TESELA_E_INVALID, TESELA_REASON_MODE_USED_TWICE},
      {"6|3,2|0|1,1", TESELA_E_INVALID, TESELA_REASON_MODE_USED_TWICE},
      {"6|3,2|0,1|1", TESELA_E_INVALID, TESELA_REASON_MODE_USED_TWICE},
      {"6|1,6|0,1|0", TESELA_E_INVALID, TESELA_REASON_MODE_USED_TWICE},
      {"6|3,2|0|", TESELA_E_INVALID, TESELA_REASON_MODE_NOT_PLACED},
      {"6|6||", TESELA_E_INVALID, TESELA_REASON_MODE_NOT_PLACED},
      {"6|6|-6|", TESELA_E_INVALID, TESELA_REASON_MODE_NOT_PLACED},
      {"6|3,2|0,4|", TESELA_E_RANGE, TESELA_REASON_SPATIAL_MODE_OUT_OF_RANGE},
      {"6|3,2|0,1,2|", TESELA_E_RANGE, TESELA_REASON_SPATIAL_MODE_OUT_OF_RANGE},
      {"6|3,2|9223372036854775807|", TESELA_E_RANGE, TESELA_REASON_SPATIAL_MODE_OUT_OF_RANGE},
      {"|| 0|", TESELA_E_RANGE, TESELA_REASON_SPATIAL_MODE_OUT_OF_RANGE},
      {"6|3,2|0|2", TESELA_E_RANGE, TESELA_REASON_LOCAL_MODE_OUT_OF_RANGE},
      {"6|3,2|0|-1", TESELA_E_RANGE, TESELA_REASON_LOCAL_MODE_OUT_OF_RANGE},
      {"6|3,2|0|4294967297", TESELA_E_RANGE, TESELA_REASON_LOCAL_MODE_OUT_OF_RANGE}, /* 1 + 2^32 */
      {"6|3,2|0|-4294967295", TESELA_E_RANGE, TESELA_REASON_LOCAL_MODE_OUT_OF_RANGE},
      {"4|4|-4611686018427387904,0|", TESELA_E_OVERFLOW, TESELA_REASON_NONE},
      {"4|4|-9223372036854775808,0|", TESELA_E_OVERFLOW, TESELA_REASON_NONE},
      {"1|1|-9223372036854775808|0", TESELA_E_OVERFLOW, TESELA_REASON_NONE},
      {"4294967296,4294967296|4294967296,4294967296|0|1", TESELA_E_OVERFLOW, TESELA_REASON_NONE},
      {"2|2|-4611686018427387904|0", TESELA_E_OVERFLOW,
       TESELA_REASON_NONE}, /* threads fit, times registers not */
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    for (int raw = 0; raw < 2; raw++) {
      tesela_register out = rows_filled();
      tesela_error err = {.message = ""};
      register_lists lists = rows_lists(rows[i].lists);
      tesela_status status = reg_make(&out, &lists, raw, &err);
      if (status != rows[i].status || err.status != status || err.reason != rows[i].reason ||
          err.message[0] == '\0')
        fail_msg("%s: status %d, reason %s: %s", rows[i].lists, (int)status, tesela_reason_code(err.reason),
                 err.message);
      if (!rows_is_filled(&out, sizeof out)) fail_msg("%s: out changed", rows[i].lists);
      assert_int_equal(reg_make(&out, &lists, raw, NULL), status);
    }
}

/* ---- forms, equality ------------------------------------------------------------------------------------------------ */

static void canonical_forms(void **state) {
  (void)state;
  static const char *const forms[][2] = {
      {"4|4|-2,-1,-3,0|", "4|4|-6,0|"},  {"6|2,3|0,-1,1|", "6|6|0|"}, {"6|2,3|0,-2,-2,1|", "6|2,3|0,-4,1|"},
      {"6|2,3|-1,0,-1,1,-1|", "6|6|0|"}, {"||-1,-1|", "|||"},         {"4|2,2|0,-2|1", "4|2,2|0,-2|1"},
  };
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
    tesela_register layout = rows_layout(forms[i][0]), canonical;
    tesela_register_canonical(&canonical, &layout);
    if (!rows_has_lists(&canonical, forms[i][1])) fail_msg("%s: %s", forms[i][0], reg_text(&canonical));
    assert_true(tesela_register_same(&layout, &canonical));
    tesela_register_canonical(&layout, &layout);
    assert_true(tesela_register_identical(&layout, &canonical));
  }
  static const struct {
    const char *a, *b;
    bool identical, same;
  } pairs[] = {
      {"6|2,3|0,1|", "6|6|0|", false, true},
      {"6|6|0|", "6|6|0|", true, true},
      {"6|6|0|", "6|6||0", false, false},
      {"2,3|2,3|0,1|", "6|6|0|", false, false},
      {"2,3|2,3|0,1|", "2,3|2,3|1,0|", false, false},
      {"4|4|-2,-3,0|", "4|4|-3,-2,0|", false, true},
      {"4|4|-2,0|", "4|4|0,-2|", false, false},
      {"4|4|0|", "4|4|0,-1|", false, true},
      {"1,4|4|0|", "4|4|0|", false, false},
      {"4|4|-2,0|", "4|4|-3,0|", false, false},
      {"2,1|1,2|1|0", "2,1|2|0|", false, true},
  };
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    tesela_register a = rows_layout(pairs[i].a), b = rows_layout(pairs[i].b);
    if (tesela_register_identical(&a, &b) != pairs[i].identical ||
        tesela_register_same(&a, &b) != pairs[i].same || tesela_register_same(&b, &a) != pairs[i].same)
      fail_msg("%s and %s", pairs[i].a, pairs[i].b);
  }
}

/* ---- asking --------------------------------------------------------------------------------------------------------- */

static void questions_outside_are_refused(void **state) {
  (void)state;
  tesela_register layout = rows_layout("4,6|2,2,3,2|-2,0,2|3,1"); /* 12 threads, 4 registers, 2 copies */
  static const int64_t outside[][2] = {{4, 0}, {0, 6}, {-1, 0}, {0, -1}, {INT64_MIN, 0}, {0, INT64_MAX}};
  int64_t thread = 77, local = 78, index[2] = {79, 80};
  bool holds = true;
  tesela_error err;
  for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
    assert_int_equal(tesela_register_get_spatial(&layout, outside[i], 0, &thread, &err), TESELA_E_RANGE);
    assert_int_equal(tesela_register_get_local(&layout, outside[i], &local, &err), TESELA_E_RANGE);
    assert_int_equal(tesela_register_locate_at(&layout, outside[i], 0, &holds, &err), TESELA_E_RANGE);
    assert_int_equal(tesela_register_get_local(&layout, outside[i], &local, NULL), TESELA_E_RANGE);
  }
  static const int64_t copies[] = {-1, 2, INT64_MIN, INT64_MAX}, threads[] = {-1, 12, INT64_MIN, INT64_MAX},
                       locals[] = {-1, 4, INT64_MIN, INT64_MAX};
  for (int i = 0; i < 4; i++) {
    assert_int_equal(tesela_register_get_spatial(&layout, (int64_t[]){1, 1}, copies[i], &thread, &err),
                     TESELA_E_RANGE);
    assert_int_equal(tesela_register_get_global(&layout, threads[i], 0, index, &err), TESELA_E_RANGE);
    assert_int_equal(tesela_register_get_global(&layout, 0, locals[i], index, &err), TESELA_E_RANGE);
    assert_int_equal(tesela_register_locate_at(&layout, (int64_t[]){1, 1}, threads[i], &holds, NULL),
                     TESELA_E_RANGE);
  }
  assert_true(thread == 77 && local == 78 && index[0] == 79 && index[1] == 80 && holds);
  assert_true(err.reason == TESELA_REASON_NONE && err.status == TESELA_E_RANGE && err.message[0] != '\0');
  tesela_register point = rows_layout("||-3|");
  OK(tesela_register_get_spatial(&point, NULL, 2, &thread, &e_));
  OK(tesela_register_get_local(&point, NULL, &local, &e_));
  OK(tesela_register_get_global(&point, 1, 0, index, &e_));
  assert_true(thread == 2 && local == 0 && index[0] == 79);
}

static void covers_by_rows(void **state) {
  (void)state;
  static const struct {
    const char *have, *need;
    bool covers;
  } pairs[] = {
      {"8|4,2|0|1", "8|2,4|1|0", false}, /* the example of the header */
      {"4|4|-3,0|", "4|4|0|", true},     /* fewer threads */
      {"4|4|0|", "4|4|-3,0|", false},    /* threads that are not there */
      {"4|4||0", "4|4||0", true},
      {"4|4|-4|0", "4|4|0|", true}, /* all have all */
      {"4|4|0|", "4|4|-4|0", false},
      {"6|2,3|0|1", "6|3,2|0|1", false},
      {"6|6|-2|0", "6|2,3|0|1", true},
      {"2,3|2,3|0|1", "2,3|2,3|0,1|", false},   /* thread 3 of 2 */
      {"2,3|2,3|-3,0|1", "2,3|2,3|1,0|", true}, /* thread 3*.. + row has its row */
      {"|||", "|||", true},
      {"||-2|", "|||", true},
      {"|||", "||-2|", false},
      {"12|12|-2,0|", "12|12|0|", true},
      {"12|3,4|-5,0|1", "12|3,2,2|-5,0|2,1", true}, /* another register does not matter */
  };
  bool covers = false;
  tesela_error err;
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    tesela_register have = rows_layout(pairs[i].have), need = rows_layout(pairs[i].need);
    OK(tesela_register_covers(&have, &need, &covers, &e_));
    if (covers != pairs[i].covers) fail_msg("%s covers %s: %d", pairs[i].have, pairs[i].need, covers);
  }
  covers = true;
  tesela_register a = rows_layout("2,3|2,3|0,1|"), b = rows_layout("6|6|0|"), c = rows_layout("1,6|6|0|");
  assert_int_equal(tesela_register_covers(&a, &b, &covers, &err), TESELA_E_MISMATCH);
  assert_int_equal(tesela_register_covers(&b, &c, &covers, &err), TESELA_E_MISMATCH);
  assert_int_equal(tesela_register_covers(&c, &b, &covers, NULL), TESELA_E_MISMATCH);
  assert_true(covers && err.status == TESELA_E_MISMATCH && err.message[0] != '\0');
}

/* ---- a layout that another program filled in -------------------------------------------------------------------------- */

static void check_finds_what_was_changed(void **state) {
  (void)state;
  const tesela_register good = rows_layout("4,6|2,2,3,2|-2,0,2|3,1");
  tesela_error err;
  OK(tesela_register_check(&good, &e_));
  struct {
    tesela_register layout;
    tesela_status status;
    tesela_reason reason;
  } bad[16];
  size_t n = 0;
#define BAD(change, wants, why)            \
  do {                                     \
    bad[n].layout = good;                  \
    bad[n].layout.change;                  \
    bad[n].status = wants;                 \
    bad[n++].reason = TESELA_REASON_##why; \
  } while (0)
  BAD(rank = 33, TESELA_E_LIMIT, NONE);
  BAD(rank = -1, TESELA_E_LIMIT, NONE);
  BAD(n_modes = 65, TESELA_E_LIMIT, NONE);
  BAD(n_spatial = 65, TESELA_E_LIMIT, NONE);
  BAD(n_local = -1, TESELA_E_LIMIT, NONE);
  BAD(spatial_size = 6, TESELA_E_INVALID, NONE);
  BAD(local_size = 8, TESELA_E_INVALID, NONE);
  BAD(shape[0] = 0, TESELA_E_RANGE, SHAPE_NOT_POSITIVE);
  BAD(mode_shape[1] = 0, TESELA_E_RANGE, MODE_NOT_POSITIVE);
  BAD(mode_shape[1] = 3, TESELA_E_INVALID, MODE_DOES_NOT_FIT_SHAPE);
  BAD(spatial_modes[1] = 4, TESELA_E_RANGE, SPATIAL_MODE_OUT_OF_RANGE);
  BAD(local_modes[1] = -2, TESELA_E_RANGE, LOCAL_MODE_OUT_OF_RANGE);
  BAD(local_modes[1] = 0, TESELA_E_INVALID, MODE_USED_TWICE);
  BAD(n_local = 1, TESELA_E_INVALID, MODE_NOT_PLACED);
  BAD(spatial_modes[0] = INT64_MIN, TESELA_E_OVERFLOW, NONE);
#undef BAD
  for (size_t i = 0; i < n; i++) {
    tesela_status status = tesela_register_check(&bad[i].layout, &err);
    if (status != bad[i].status || err.reason != bad[i].reason)
      fail_msg("%zu: status %d, reason %s: %s", i, (int)status, tesela_reason_code(err.reason), err.message);
    assert_int_equal(tesela_register_check(&bad[i].layout, NULL), status);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lists_are_made_and_reduced),
      cmocka_unit_test(lists_are_refused),
      cmocka_unit_test(canonical_forms),
      cmocka_unit_test(questions_outside_are_refused),
      cmocka_unit_test(covers_by_rows),
      cmocka_unit_test(check_finds_what_was_changed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
