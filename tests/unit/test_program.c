/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_program.c - programs of transpose, pad and reshape, by hand. Programs of shapes: test_xla_lower.c.
 */
#include "support_xla.h"

/* f32[3,5]{1,0:T(2,2)}, figure 1 of the tiled-layout document. */
static const int64_t figure_dim[2] = {3, 5},
                     figure_image[24] = {0,  1,  5,  6,  2,  3,  7,  8,  4,  -1, 9,  -1,
                                         10, 11, -1, -1, 12, 13, -1, -1, 14, -1, -1, -1};

static tesela_program figure(void) {
  static const int64_t pad[] = {1, 1}, split[] = {2, 2, 3, 2}, swap[] = {0, 2, 1, 3};
  tesela_program program;
  OK(tesela_program_begin(&program, 2, figure_dim, &e_));
  OK(tesela_program_add(&program, TESELA_STEP_PAD, 0, 2, pad, &e_));
  OK(tesela_program_add(&program, TESELA_STEP_RESHAPE, 0, 4, split, &e_));
  OK(tesela_program_add(&program, TESELA_STEP_TRANSPOSE, 0, 4, swap, &e_));
  return program;
}

static void test_figure(void **state) {
  (void)state;
  tesela_program program = figure();
  AGREE("figure", tesela_program_elements(&program), 24);
  for (int64_t place = 0; place < 24; place++) {
    int64_t element;
    OK(tesela_program_source(&program, place, &element, &e_));
    AGREE("figure", element, figure_image[place]);
  }
  int32_t rank;
  const int64_t *shape = tesela_program_shape(&program, 1, &rank);
  AGREE("after the pad", rank, 2);
  AGREE("after the pad", shape[0] * 10 + shape[1], 46);
  assert_ptr_equal(tesela_program_shape(&program, 0, &rank), program.dim);
  assert_null(tesela_program_shape(&program, 4, &rank));
  assert_null(tesela_program_shape(&program, -1, &rank));
}

static void test_unknown_kind(void **state) {
  (void)state;
  static const int64_t pad[] = {1, 1, 1, 1};
  tesela_program program = figure();
  assert_int_equal(tesela_program_add(&program, (tesela_step_kind)-1, 0, 4, pad, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_program_add(&program, (tesela_step_kind)99, 0, 4, pad, NULL), TESELA_E_RANGE);
  assert_int_equal(program.n_steps, figure().n_steps);
}

static void test_run(void **state) {
  (void)state;
  tesela_program program = figure();
  unsigned char src[15][3], dst[24][3], fill[3] = {250, 251, 252};
  for (int i = 0; i < 15; i++)
    for (int b = 0; b < 3; b++) src[i][b] = (unsigned char)(3 * i + b);
  OK(tesela_program_run(&program, dst, src, 3, fill, &e_));
  for (int i = 0; i < 24; i++)
    assert_memory_equal(dst[i], figure_image[i] < 0 ? fill : src[figure_image[i]], 3);
  assert_int_equal(tesela_program_run(&program, dst, src, 0, fill, NULL), TESELA_E_RANGE);
}

static void test_print(void **state) {
  (void)state;
  static const int64_t flat[] = {24}, tail[] = {8}, back[] = {1, 0};
  tesela_program program = figure();
  char text[TEXT];
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  program.n_levels = 1; /* so level 1 is the tail */
  OK(tesela_program_add(&program, TESELA_STEP_RESHAPE, 1, 1, flat, &e_));
  OK(tesela_program_add(&program, TESELA_STEP_PAD, 1, 1, tail, &e_));
  OK(tesela_program_print(&program, &to, &e_));
  assert_string_equal(text, "level 0: pad [1,1] -> [4,6]\n"
                            "level 0: reshape [2,2,3,2] -> [2,2,3,2]\n"
                            "level 0: transpose [0,2,1,3] -> [2,3,2,2]\n"
                            "tail: reshape [24] -> [24]\n"
                            "tail: pad [8] -> [32]\n");
  buffer = (tesela_buffer){text, sizeof text, 0};
  OK(tesela_program_begin(&program, 2, figure_dim, &e_));
  OK(tesela_program_print(&program, &to, &e_));
  AGREE("no step", buffer.length, 0);
  OK(tesela_program_add(&program, TESELA_STEP_TRANSPOSE, TESELA_LEVEL_ORDER, 2, back, &e_));
  OK(tesela_program_print(&program, &to, &e_));
  assert_string_equal(text, "order: transpose [1,0] -> [5,3]\n");
}

static const struct {
  const char *name;
  tesela_step_kind kind;
  int32_t n;
  int64_t number[3];
  tesela_status status;
  int32_t steps; /* afterwards */
} add_rows[] = {
    {"a pad of nothing is left out", TESELA_STEP_PAD, 2, {0, 0}, TESELA_OK, 0},
    {"a transpose of nothing is left out", TESELA_STEP_TRANSPOSE, 2, {0, 1}, TESELA_OK, 0},
    {"a reshape to the same is left out", TESELA_STEP_RESHAPE, 2, {3, 5}, TESELA_OK, 0},
    {"a reshape that adds a one is a step", TESELA_STEP_RESHAPE, 3, {1, 3, 5}, TESELA_OK, 1},
    {"a transpose of another rank", TESELA_STEP_TRANSPOSE, 3, {0, 1, 2}, TESELA_E_INVALID, 0},
    {"a transpose that takes a dim twice", TESELA_STEP_TRANSPOSE, 2, {1, 1}, TESELA_E_INVALID, 0},
    {"a transpose that takes dim 2 of 2", TESELA_STEP_TRANSPOSE, 2, {0, 2}, TESELA_E_INVALID, 0},
    {"a transpose that takes dim -1", TESELA_STEP_TRANSPOSE, 2, {0, -1}, TESELA_E_INVALID, 0},
    {"a pad of another rank", TESELA_STEP_PAD, 1, {1}, TESELA_E_INVALID, 0},
    {"a pad that takes cells away", TESELA_STEP_PAD, 2, {1, -1}, TESELA_E_INVALID, 0},
    {"a pad beyond int64", TESELA_STEP_PAD, 2, {INT64_MAX, 0}, TESELA_E_OVERFLOW, 0},
    {"a pad to more cells than int64 counts", TESELA_STEP_PAD, 2, {INT64_MAX / 4}, TESELA_E_OVERFLOW, 0},
    {"a reshape to fewer elements", TESELA_STEP_RESHAPE, 2, {3, 4}, TESELA_E_INVALID, 0},
    {"a reshape to more than int64 counts", TESELA_STEP_RESHAPE, 2, {INT64_MAX, 3}, TESELA_E_INVALID, 0},
    {"a reshape with a negative dim", TESELA_STEP_RESHAPE, 2, {-3, -5}, TESELA_E_INVALID, 0},
    {"a step of too many dims", TESELA_STEP_RESHAPE, TESELA_MAX_DIGITS + 1, {0}, TESELA_E_LIMIT, 0},
    {"a step of a negative number of dims", TESELA_STEP_RESHAPE, -1, {0}, TESELA_E_LIMIT, 0},
};

static void test_add(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof add_rows / sizeof add_rows[0]; r++) {
    tesela_program program;
    tesela_error err = {.message = ""};
    OK(tesela_program_begin(&program, 2, figure_dim, &e_));
    tesela_status status =
        tesela_program_add(&program, add_rows[r].kind, 0, add_rows[r].n, add_rows[r].number, &err);
    AGREE(add_rows[r].name, status, add_rows[r].status);
    AGREE(add_rows[r].name, program.n_steps, add_rows[r].steps);
    AGREE(add_rows[r].name, err.message[0] != '\0', status != TESELA_OK);
  }
}

static void test_limits(void **state) {
  (void)state;
  static const int64_t one = 1, negative = -1, large[2] = {INT64_MAX, 2};
  tesela_program program;
  OK(tesela_program_begin(&program, 1, &one, &e_));
  for (int s = 0; s < TESELA_PROGRAM_STEPS; s++)
    OK(tesela_program_add(&program, TESELA_STEP_PAD, 0, 1, &one, &e_));
  assert_int_equal(tesela_program_add(&program, TESELA_STEP_PAD, 0, 1, &one, NULL), TESELA_E_LIMIT);
  AGREE("full", tesela_program_elements(&program), TESELA_PROGRAM_STEPS + 1);
  assert_int_equal(tesela_program_begin(&program, 33, &one, NULL), TESELA_E_LIMIT);
  assert_int_equal(tesela_program_begin(&program, -1, &one, NULL), TESELA_E_LIMIT);
  assert_int_equal(tesela_program_begin(&program, 1, &negative, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_program_begin(&program, 2, large, NULL), TESELA_E_OVERFLOW);
}

static void test_corners(void **state) {
  (void)state;
  static const int64_t empty[3] = {0, INT64_MAX, 5}, pad[1] = {7};
  int64_t element = 5;
  tesela_program program;
  OK(tesela_program_begin(&program, 0, NULL, &e_));
  AGREE("rank 0", tesela_program_elements(&program), 1);
  OK(tesela_program_source(&program, 0, &element, &e_));
  AGREE("rank 0", element, 0);
  assert_int_equal(tesela_program_source(&program, 1, &element, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_program_source(&program, -1, &element, NULL), TESELA_E_RANGE);
  OK(tesela_program_begin(&program, 3, empty, &e_));
  AGREE("no elements", tesela_program_elements(&program), 0);
  assert_int_equal(tesela_program_source(&program, 0, &element, NULL), TESELA_E_RANGE);
  OK(tesela_program_run(&program, NULL, NULL, 4, NULL, &e_)); /* nothing is copied */
  OK(tesela_program_begin(&program, 1, empty, &e_));
  OK(tesela_program_add(&program, TESELA_STEP_PAD, 0, 1, pad, &e_));
  OK(tesela_program_source(&program, 6, &element, &e_));
  AGREE("only padding", element, -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_figure),  cmocka_unit_test(test_unknown_kind), cmocka_unit_test(test_run),
      cmocka_unit_test(test_print),   cmocka_unit_test(test_add),          cmocka_unit_test(test_limits),
      cmocka_unit_test(test_corners),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
