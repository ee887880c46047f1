/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_xla_program_shape.c - lists and program shapes: read, printed, refused, cut anywhere, with failing
 * allocations.
 */
#include "support_fault.h"
#include "support_xla_text.h"

/* ---- lists ---- */

static void lists_are_read_as_tuples(void **state) {
  (void)state;
  static const struct {
    const char *text, *printed;
  } rows[] = {
      {"{}", "()"},
      {" { f32[2]{0} , s32[] } ", "(f32[2]{0}, s32[])"},
      {"{(f32[2], ()), ((s8[3]))}", "((f32[2]{0}, ()), ((s8[3]{0})))"},
      {"{f32[2]{0:T(2)}/*index=1*/,pred[]}", "(f32[2]{0:T(2)}, pred[])"},
  };
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    tesela_xla_tree *tree = NULL;
    char text[TEXT];
    tesela_buffer buffer = {text, TEXT, 0};
    tesela_writer to = tesela_buffer_writer(&buffer);
    OK(tesela_xla_tree_create_list(&tree, rows[r].text, strlen(rows[r].text), 0, NULL, NULL, &e_));
    OK(tesela_xla_tree_print(tree, true, &to, &e_));
    xla_text_same(rows[r].text, text, rows[r].printed);
    tesela_xla_tree_destroy(tree);
  }
}

static void wrong_lists_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *text;
    tesela_status status;
    int64_t at;
  } rows[] = {
      {"", TESELA_E_SYNTAX, 0},           {"f32[2]", TESELA_E_SYNTAX, 0},
      {"{", TESELA_E_SYNTAX, 1},          {"{f32[2]", TESELA_E_SYNTAX, 7},
      {"{f32[2])", TESELA_E_SYNTAX, 7},   {"{f32[2],}", TESELA_E_SYNTAX, 8},
      {"{f32[2]} x", TESELA_E_SYNTAX, 9}, {"{f32[2]{1}}", TESELA_E_RANGE, 8},
      {"{{f32[2]}}", TESELA_E_SYNTAX, 1},
  };
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    tesela_xla_tree *tree = NULL;
    tesela_error err = {.at = -7};
    tesela_status status =
        tesela_xla_tree_create_list(&tree, rows[r].text, strlen(rows[r].text), 0, NULL, NULL, &err);
    AGREE(rows[r].text, status, rows[r].status);
    AGREE(rows[r].text, err.at, rows[r].at);
    assert_null(tree);
  }
}

/* ---- program shapes ---- */

static const struct {
  const char *text, *plain, *with_layout;
} program_rows[] = {
    {"(x: f32[2]{0}, (unknown): s32[]) -> f32[2]{0}", "(x: f32[2], (unknown): s32[]) -> f32[2]",
     "(x: f32[2]{0}, (unknown): s32[]) -> f32[2]{0}"},
    {"()->()", "() -> ()", "() -> ()"},
    {"(f32[2]{0:T(2)})->(f32[2], s8[])", "((unknown): f32[2]) -> (f32[2], s8[])",
     "((unknown): f32[2]{0:T(2)}) -> (f32[2]{0}, s8[])"},
    {"(b: f32[2], c: b(f32[2]), d: (f32[], (s8[])))->token[]",
     "(b: f32[2], c: b(f32[2]), d: (f32[], (s8[]))) -> token[]",
     "(b: f32[2]{0}, c: b(f32[2]{0}), d: (f32[], (s8[]))) -> token[]"},
    {"(p.1: s8[], p-2: s8[], p_3: s8[], s8: s8[], e: s8[], f: s8[]) -> (s8[],s8[],s8[],s8[],s8[],s8[])",
     "(p.1: s8[], p-2: s8[], p_3: s8[], s8: s8[], e: s8[], f: s8[]) -> "
     "(s8[], s8[], s8[], s8[], s8[], /*index=5*/s8[])",
     "(p.1: s8[], p-2: s8[], p_3: s8[], s8: s8[], e: s8[], f: s8[]) -> "
     "(s8[], s8[], s8[], s8[], s8[], /*index=5*/s8[])"},
};

static tesela_xla_program_shape *program_of(const char *text) {
  tesela_xla_program_shape *program = NULL;
  OK(tesela_xla_program_shape_create(&program, text, strlen(text), 0, NULL, NULL, &e_));
  return program;
}

static void print_program(const tesela_xla_program_shape *program, bool with_layout, char text[TEXT]) {
  tesela_buffer buffer = {text, TEXT, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  OK(tesela_xla_program_shape_print(program, with_layout, &to, &e_));
}

static void program_shapes_are_read_and_printed(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof program_rows / sizeof program_rows[0]; r++) {
    char text[TEXT], again[TEXT];
    tesela_xla_program_shape *program = program_of(program_rows[r].text);
    print_program(program, false, text);
    xla_text_same(program_rows[r].text, text, program_rows[r].plain);
    print_program(program, true, text);
    xla_text_same(program_rows[r].text, text, program_rows[r].with_layout);
    tesela_xla_program_shape_destroy(program);
    program = program_of(text);
    print_program(program, true, again);
    xla_text_same(program_rows[r].text, again, text);
    tesela_xla_program_shape_destroy(program);
  }
  tesela_xla_program_shape_destroy(NULL);
}

static void program_shapes_have_parts(void **state) {
  (void)state;
  tesela_xla_program_shape *program = program_of("(x: f32[2], (s8[3], s8[4]), y.2: (s16[])) -> (u8[], u8[])");
  const tesela_xla_tree *parameters = tesela_xla_program_shape_parameters(program);
  assert_int_equal(tesela_xla_tree_count(parameters), 7);
  assert_int_equal(tesela_xla_tree_node(parameters, 0).n_members, 3);
  assert_int_equal(tesela_xla_tree_count(tesela_xla_program_shape_result(program)), 3);
  xla_text_same("first", tesela_xla_program_shape_name(program, 0), "x");
  xla_text_same("second", tesela_xla_program_shape_name(program, 1), "");
  xla_text_same("third", tesela_xla_program_shape_name(program, 2), "y.2");
  assert_null(tesela_xla_program_shape_name(program, 3));
  assert_null(tesela_xla_program_shape_name(program, -1));
  tesela_xla_program_shape_destroy(program);
}

static void wrong_program_shapes_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *text;
    tesela_status status;
    int64_t at;
  } rows[] = {
      {"", TESELA_E_SYNTAX, 0},
      {"f32[2] -> f32[2]", TESELA_E_SYNTAX, 0},
      {"(f32[2])", TESELA_E_SYNTAX, 8},
      {"(f32[2]) - > f32[2]", TESELA_E_SYNTAX, 9},
      {"(f32[2]) ->", TESELA_E_SYNTAX, 11},
      {"(x: ) -> f32[2]", TESELA_E_SYNTAX, 4},
      {"(x : f32[2]) -> f32[2]", TESELA_E_SYNTAX, 1},
      {"(x: f32[2], ) -> f32[2]", TESELA_E_SYNTAX, 12},
      {"(x: (y: f32[2])) -> f32[2]", TESELA_E_SYNTAX, 5},
      {"(f32[2]) -> f32[2], f32[3]", TESELA_E_SYNTAX, 18},
      {"(f32[2]{0,0}) -> f32[2]", TESELA_E_INVALID, 7},
  };
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    tesela_xla_program_shape *program = NULL;
    tesela_error err = {.at = -7};
    tesela_status status =
        tesela_xla_program_shape_create(&program, rows[r].text, strlen(rows[r].text), 0, NULL, NULL, &err);
    AGREE(rows[r].text, status, rows[r].status);
    AGREE(rows[r].text, err.at, rows[r].at);
    assert_null(program);
  }
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  static const char program_text[] = "(x: f32[2], s8[]) -> (f32[2])", list_text[] = "{f32[2], s8[]}";
  for (long n = 0;; n++) {
    fault f = {.countdown = n};
    tesela_allocator allocator = fault_allocator(&f);
    tesela_xla_program_shape *program = NULL;
    tesela_status status = tesela_xla_program_shape_create(&program, program_text, sizeof program_text - 1, 0,
                                                           &allocator, NULL, NULL);
    if (status == TESELA_OK) {
      assert_int_equal(n, 3);
      tesela_xla_program_shape_destroy(program);
    } else {
      assert_int_equal(status, TESELA_E_MEMORY);
      assert_null(program);
    }
    assert_int_equal(f.live, 0);
    if (status == TESELA_OK) break;
  }
  fault f = {.countdown = 0};
  tesela_allocator allocator = fault_allocator(&f);
  tesela_xla_tree *tree = NULL;
  assert_int_equal(
      tesela_xla_tree_create_list(&tree, list_text, sizeof list_text - 1, 0, &allocator, NULL, NULL),
      TESELA_E_MEMORY);
  assert_null(tree);
}

static void program_shapes_cut_anywhere_are_answered(void **state) {
  (void)state;
  static const char text[] =
      "(x.1: f32[2]{0:T(2)}, (unknown): (s8[], ()), /* c */ b(s4[3]{0:E(4)})) -> (f32[2], token[])";
  for (size_t length = 0; length < sizeof text - 1; length++)
    for (int32_t flags = 0; flags < 4; flags++) {
      tesela_xla_program_shape *program = NULL;
      tesela_error err = {.at = -7};
      char *copy = malloc(length ? length : 1); /* exactly as long, for the sanitizer */
      assert_non_null(copy);
      memcpy(copy, text, length);
      tesela_status status = tesela_xla_program_shape_create(&program, copy, length, flags, NULL, NULL, &err);
      free(copy);
      if (status == TESELA_OK || program || err.at < 0 || err.at > (int64_t)length)
        fail_msg("%zu bytes, flags %d: %s at %" PRId64, length, flags, tesela_status_code(status), err.at);
    }
  tesela_xla_program_shape_destroy(program_of(text));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lists_are_read_as_tuples),
      cmocka_unit_test(wrong_lists_are_refused),
      cmocka_unit_test(program_shapes_are_read_and_printed),
      cmocka_unit_test(program_shapes_have_parts),
      cmocka_unit_test(wrong_program_shapes_are_refused),
      cmocka_unit_test(every_allocation_may_fail),
      cmocka_unit_test(program_shapes_cut_anywhere_are_answered),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
