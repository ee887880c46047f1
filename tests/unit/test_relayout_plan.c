/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_relayout_plan.c - making a plan: what is refused and how, what a plan says of itself, memory that fails, sizes
 * that no machine has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "support_fault.h"
#include "support_relayout.h"

static tesela_layout digits(tesela_dtype dtype, int32_t bits, int32_t rank, const int64_t *shape,
                            const char *text) {
  tesela_layout layout;
  assert_true(layout_of_digits(&layout, dtype, bits, rank, shape, text));
  return layout;
}

static tesela_layout matrix(tesela_dtype dtype, int32_t bits, int64_t rows, int64_t columns,
                            const char *text) {
  return digits(dtype, bits, 2, (int64_t[]){rows, columns}, text);
}

/* A refusal has a message of one line, and gives no plan. */
static void check_status(const char *name, const tesela_layout *dst, const tesela_layout *src,
                         const tesela_plan_options *options, tesela_status want) {
  tesela_error err = {.message = ""};
  tesela_plan *plan = NULL;
  tesela_status status = tesela_plan_create(&plan, dst, src, options, &err);
  if (status != want)
    fail_msg("%s: %s (%s), not %s", name, tesela_status_code(status), err.message, tesela_status_code(want));
  if ((plan != NULL) != (want == TESELA_OK)) fail_msg("%s: plan is %s", name, plan ? "set" : "not set");
  if (want != TESELA_OK) {
    if (err.message[0] == '\0' || strchr(err.message, '\n')) fail_msg("%s: says \"%s\"", name, err.message);
    assert_int_equal(tesela_plan_create(&plan, dst, src, options, NULL), want);
  }
  tesela_plan_destroy(plan);
}

/* ---- pairs that are refused ---------------------------------------------------------------------------- */

static const struct {
  const char *name;
  tesela_dtype dst;
  int32_t dst_bits;
  int64_t dst_shape[2];
  const char *dst_digits;
  tesela_dtype src;
  int32_t src_bits;
  int64_t src_shape[2];
  const char *src_digits;
  tesela_status status;
} pair_rows[] = {
    {"the same", TESELA_F32, 32, {4, 6}, "0 1", TESELA_F32, 32, {4, 6}, "0 1", TESELA_OK},
    {"another extent", TESELA_F32, 32, {4, 6}, "0 1", TESELA_F32, 32, {4, 7}, "0 1", TESELA_E_MISMATCH},
    {"as many elements", TESELA_F32, 32, {4, 6}, "0 1", TESELA_F32, 32, {6, 4}, "0 1", TESELA_E_MISMATCH},
    {"another type", TESELA_F32, 32, {4, 6}, "0 1", TESELA_S32, 32, {4, 6}, "0 1", TESELA_E_MISMATCH},
    {"dst without a type", TESELA_DTYPE_NONE, 32, {4, 6}, "0 1", TESELA_S32, 32, {4, 6}, "0 1", TESELA_OK},
    {"src without a type", TESELA_S32, 32, {4, 6}, "0 1", TESELA_DTYPE_NONE, 32, {4, 6}, "0 1", TESELA_OK},
    {"another width",
     TESELA_DTYPE_NONE,
     32,
     {4, 6},
     "0 1",
     TESELA_DTYPE_NONE,
     16,
     {4, 6},
     "0 1",
     TESELA_E_MISMATCH},
    {"another width of one type",
     TESELA_S4,
     8,
     {4, 6},
     "0 1",
     TESELA_S4,
     4,
     {4, 6},
     "0 1",
     TESELA_E_MISMATCH},
    {"3 bits",
     TESELA_DTYPE_NONE,
     3,
     {4, 6},
     "0 1",
     TESELA_DTYPE_NONE,
     3,
     {4, 6},
     "0 1",
     TESELA_E_UNSUPPORTED},
    {"6 bits", TESELA_F6E2M3FN, 6, {4, 6}, "0 1", TESELA_F6E2M3FN, 6, {4, 6}, "0 1", TESELA_E_UNSUPPORTED},
    {"24 bits",
     TESELA_DTYPE_NONE,
     24,
     {4, 6},
     "0 1",
     TESELA_DTYPE_NONE,
     24,
     {4, 6},
     "0 1",
     TESELA_E_UNSUPPORTED},
    {"256 bits",
     TESELA_DTYPE_NONE,
     256,
     {4, 6},
     "0 1",
     TESELA_DTYPE_NONE,
     256,
     {4, 6},
     "0 1",
     TESELA_E_UNSUPPORTED},
    {"dst broadcasts",
     TESELA_F32,
     32,
     {4, 6},
     "0@0 1@1",
     TESELA_F32,
     32,
     {4, 6},
     "0 1",
     TESELA_E_UNSUPPORTED},
    {"src broadcasts", TESELA_F32, 32, {4, 6}, "0 1", TESELA_F32, 32, {4, 6}, "0@0 1@1", TESELA_OK},
    {"dst has windows",
     TESELA_F32,
     32,
     {4, 6},
     "0@2 1@1",
     TESELA_F32,
     32,
     {4, 6},
     "0 1",
     TESELA_E_UNSUPPORTED},
    {"src has windows", TESELA_F32, 32, {4, 6}, "0 1", TESELA_F32, 32, {4, 6}, "0@2 1@1", TESELA_OK},
    {"a broadcast dim of extent 1 in dst",
     TESELA_F32,
     32,
     {1, 6},
     "0@0 1@1",
     TESELA_F32,
     32,
     {1, 6},
     "0 1",
     TESELA_OK},
    {"dst broadcasts nothing", TESELA_F32, 32, {4, 0}, "0@0 1@1", TESELA_F32, 32, {4, 0}, "0 1", TESELA_OK},
    {"dst walks back", TESELA_F32, 32, {4, 6}, "0@-6 1@1 +18", TESELA_F32, 32, {4, 6}, "0 1", TESELA_OK},
    {"dims interleaved in dst", TESELA_F32, 32, {4, 6}, "0@1 1@4", TESELA_F32, 32, {4, 6}, "0 1", TESELA_OK},
};

static void test_pairs(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof pair_rows / sizeof pair_rows[0]; i++) {
    tesela_layout dst =
        digits(pair_rows[i].dst, pair_rows[i].dst_bits, 2, pair_rows[i].dst_shape, pair_rows[i].dst_digits);
    tesela_layout src =
        digits(pair_rows[i].src, pair_rows[i].src_bits, 2, pair_rows[i].src_shape, pair_rows[i].src_digits);
    check_status(pair_rows[i].name, &dst, &src, NULL, pair_rows[i].status);
  }
}

static void test_other_layouts(void **state) {
  (void)state;
  int64_t shape[3] = {4, 6, 1};
  int32_t axis;
  tesela_layout good = matrix(TESELA_F32, 32, 4, 6, "0 1"),
                deeper = digits(TESELA_F32, 32, 3, shape, "0 1 2");
  tesela_layout two_axes, open;
  check_status("another rank", &deeper, &good, NULL, TESELA_E_MISMATCH);
  assert_int_equal(tesela_layout_begin(&open, TESELA_F32, 32, 2, shape, NULL), TESELA_OK);
  two_axes = open;
  check_status("dst is not finished", &open, &good, NULL, TESELA_E_INVALID);
  check_status("src is not finished", &good, &open, NULL, TESELA_E_INVALID);
  for (int32_t d = 0; d < 2; d++) {
    assert_int_equal(tesela_layout_add_axis(&two_axes, d ? "local" : "thread", &axis, NULL), TESELA_OK);
    assert_int_equal(tesela_layout_place(&two_axes, d, axis, 1, NULL), TESELA_OK);
  }
  assert_int_equal(tesela_layout_finish(&two_axes, NULL), TESELA_OK);
  check_status("dst has two axes", &two_axes, &good, NULL, TESELA_E_UNSUPPORTED);
  check_status("src has two axes", &good, &two_axes, NULL, TESELA_E_UNSUPPORTED);
  assert_int_equal(tesela_layout_begin(&open, TESELA_F32, 32, 0, NULL, NULL), TESELA_OK);
  assert_int_equal(tesela_layout_finish(&open, NULL), TESELA_OK);
  check_status("no axis at all", &open, &open, NULL, TESELA_E_UNSUPPORTED);
}

static void test_replicas_that_meet(void **state) {
  (void)state;
  tesela_layout src = matrix(TESELA_F32, 32, 4, 6, "0 1"), dst = matrix(TESELA_F32, 32, 4, 6, "r2@6 0@6 1@1");
  check_status("copies of one element where others are", &dst, &src, NULL, TESELA_E_UNSUPPORTED);
  check_status("replicas that meet on the source", &src, &dst, NULL, TESELA_OK);
}

/* ---- options ------------------------------------------------------------------------------------------- */

static void test_options(void **state) {
  (void)state;
  tesela_layout a = matrix(TESELA_F32, 32, 4, 6, "0 1"), b = matrix(TESELA_F32, 32, 4, 6, "1 0");
  const struct {
    const char *name;
    tesela_plan_options options;
    tesela_status status;
  } rows[] = {
      {"zeros", {.threads = 0}, TESELA_OK},
      {"threads -1", {.threads = -1}, TESELA_E_RANGE},
      {"fill 3", {.fill = (tesela_fill)3}, TESELA_E_RANGE},
      {"transform 5", {.transform = (tesela_transform)5}, TESELA_E_RANGE},
      {"isa 5", {.isa = (tesela_isa)5}, TESELA_E_RANGE},
      {"effort 2", {.effort = (tesela_effort)2}, TESELA_E_RANGE},
      {"solver 10", {.solver = (tesela_solver)10}, TESELA_E_RANGE},
      {"memory -1", {.memory_bytes = -1}, TESELA_E_RANGE},
      {"memory 1", {.memory_bytes = 1}, TESELA_OK},
      {"memcpy of a transpose", {.solver = TESELA_SOLVER_MEMCPY}, TESELA_E_UNSUPPORTED},
      {"a transpose", {.solver = TESELA_SOLVER_TRANSPOSE}, TESELA_OK},
      {"in tiles through buffers", {.solver = TESELA_SOLVER_BITS}, TESELA_OK},
      {"anything by gather", {.solver = TESELA_SOLVER_GATHER}, TESELA_OK},
      {"measured", {.effort = TESELA_EFFORT_MEASURE, .threads = 1}, TESELA_OK},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    check_status(rows[i].name, &b, &a, &rows[i].options, rows[i].status);
  for (int isa = TESELA_ISA_BEST; isa <= TESELA_ISA_AVX512; isa++) {
    tesela_plan_options options = {.isa = (tesela_isa)isa};
    bool there = tesela_isa_available((tesela_isa)isa);
    check_status(tesela_isa_name((tesela_isa)isa), &b, &a, &options,
                 there ? TESELA_OK : TESELA_E_UNSUPPORTED);
  }
  assert_true(tesela_isa_available(TESELA_ISA_BEST) && tesela_isa_available(TESELA_ISA_C));
  assert_null(tesela_isa_name((tesela_isa)99));
  assert_null(tesela_solver_name((tesela_solver)99));
  tesela_plan_destroy(NULL);
}

/* ---- what a plan says ---------------------------------------------------------------------------------- */

static int refuse(void *user, const char *text, size_t length) {
  (void)user, (void)text, (void)length;
  return 1;
}

static void test_texts(void **state) {
  (void)state;
  static char text[1 << 15];
  tesela_layout dst = matrix(TESELA_F32, 32, 1000, 200, "0/8 1/128 0 1"),
                src = matrix(TESELA_F32, 32, 1000, 200, "0 1");
  tesela_plan *plan;
  tesela_writer closed = {refuse, NULL};
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  assert_int_equal(tesela_plan_create(&plan, &dst, &src, NULL, NULL), TESELA_OK);
  assert_int_equal(tesela_plan_print(plan, &closed, NULL), TESELA_E_STOPPED);
  assert_int_equal(tesela_plan_explain(plan, &closed, NULL), TESELA_E_STOPPED);
  assert_int_equal(tesela_plan_explain(plan, &to, NULL), TESELA_OK);
  for (int i = TESELA_SOLVER_MEMCPY; i <= TESELA_SOLVER_PERMUTE; i++) /* what every solver said */
    if (!strstr(text, tesela_solver_name((tesela_solver)i)))
      fail_msg("nothing of %s in:\n%s", tesela_solver_name((tesela_solver)i), text);
  tesela_plan_info info;
  tesela_plan_describe(plan, &info); /* the header's example */
  assert_int_equal(info.n_pieces, 2);
  assert_true(info.n_fills <= 1); /* or the rows fill the places after them */
  assert_int_equal(info.src_bytes, 1000 * 200 * 4);
  assert_int_equal(info.dst_bytes, 1000 * 256 * 4);
  assert_int_equal(info.bytes_read, 1000 * 200 * 4);
  assert_int_equal(info.bytes_written, 1000 * 256 * 4);
  tesela_plan_destroy(plan);
}

/* ---- memory -------------------------------------------------------------------------------------------- */

/* How many allocations a plan takes; each of them has failed once. */
static long fail_one_by_one(const tesela_layout *dst, const tesela_layout *src, tesela_plan_options options) {
  for (long n = 0;; n++) {
    fault f = {.countdown = n, .once = true};
    tesela_allocator allocator = fault_allocator(&f);
    tesela_plan *plan = NULL;
    options.allocator = &allocator;
    tesela_status status = tesela_plan_create(&plan, dst, src, &options, NULL);
    if (status == TESELA_OK) tesela_plan_destroy(plan);
    assert_int_equal(f.live, 0);
    if (status == TESELA_OK) {
      assert_true(n > 0);
      return n;
    }
    assert_int_equal(status, TESELA_E_MEMORY);
    assert_null(plan);
  }
}

static void test_memory_fails(void **state) {
  (void)state;
  tesela_layout rows = matrix(TESELA_F32, 32, 100, 200, "0 1"),
                columns = matrix(TESELA_F32, 32, 100, 200, "1 0");
  tesela_layout tiles = matrix(TESELA_F32, 32, 100, 200, "0/8 1/128 0/2 1 0");
  tesela_layout odd = matrix(TESELA_F32, 32, 100, 200, "0/7 1/24 0/3 0 1");
  const tesela_layout *all[] = {&rows, &columns, &tiles, &odd};
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      fail_one_by_one(all[i], all[j], (tesela_plan_options){.threads = 2});
      fail_one_by_one(all[i], all[j], (tesela_plan_options){.solver = TESELA_SOLVER_GATHER});
    }
  tesela_plan_options measure = {.effort = TESELA_EFFORT_MEASURE, .threads = 1}, estimate = {.threads = 1};
  long measured = fail_one_by_one(&tiles, &columns, measure),
       estimated = fail_one_by_one(&tiles, &columns, estimate);
  assert_true(measured > estimated); /* buffers of its own */
}

/* ---- sizes that no machine has ------------------------------------------------------------------------- */

static const struct {
  const char *name;
  int32_t bits;
  int64_t shape[2];
  const char *dst, *src;
  tesela_status status;
} huge_rows[] = {
    {"2^40 bytes", 8, {INT64_C(1) << 20, INT64_C(1) << 20}, "0 1", "0 1", TESELA_OK},
    {"2^40 bytes from one", 8, {INT64_C(1) << 20, INT64_C(1) << 20}, "0 1", "0@0 1@0", TESELA_OK},
    {"2^40 bytes transposed", 8, {INT64_C(1) << 20, INT64_C(1) << 20}, "1 0", "0 1", TESELA_OK},
    {"2^40 bits transposed", 1, {INT64_C(1) << 20, INT64_C(1) << 20}, "1 0", "0 1", TESELA_OK},
    {"2^40 numbers in tiles",
     32,
     {INT64_C(1) << 20, (INT64_C(1) << 20) - 1},
     "0/8 1/128 0/2 1 0",
     "1 0",
     TESELA_OK},
    {"tiles that do not nest", 32, {INT64_C(1) << 20, INT64_C(1) << 20}, "0/7 1 0", "0/5 1 0", TESELA_OK},
    {"one tile of 2^50", 8, {3, 5}, "0/1125899906842624 0 1", "0 1", TESELA_OK},
    {"2^59 bytes", 8, {INT64_C(1) << 29, INT64_C(1) << 30}, "0 1", "0@0 1@1", TESELA_OK},
    {"2^62 bits", 1, {INT64_C(1) << 31, INT64_C(1) << 31}, "1 0", "0@0 1@1", TESELA_OK},
    {"2^63 bits", 8, {INT64_C(1) << 30, INT64_C(1) << 30}, "0 1", "0@0 1@0", TESELA_E_OVERFLOW},
    {"far apart in dst", 128, {2, 3}, "0@1152921504606846976 1@1", "0 1", TESELA_E_OVERFLOW},
    {"far apart in src", 128, {2, 3}, "0 1", "0@1152921504606846976 1@1", TESELA_E_OVERFLOW},
    {"two elements 2^50 apart", 8, {2, 3}, "0@1125899906842624 1@1", "0@3 1@1", TESELA_OK},
    {"from 2^50 apart, backwards", 8, {2, 3}, "0 1", "0@-1125899906842624 1@1 +1125899906842624", TESELA_OK},
    {"far behind", 8, {2, 3}, "0 1 +1125899906842624", "0 1 =1125899906842624", TESELA_OK},
};

/* 20 plans each; a loop over the elements would take days. */
static void test_huge(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof huge_rows / sizeof huge_rows[0]; i++) {
    tesela_layout dst = matrix(TESELA_DTYPE_NONE, huge_rows[i].bits, huge_rows[i].shape[0],
                               huge_rows[i].shape[1], huge_rows[i].dst);
    tesela_layout src = matrix(TESELA_DTYPE_NONE, huge_rows[i].bits, huge_rows[i].shape[0],
                               huge_rows[i].shape[1], huge_rows[i].src);
    check_status(huge_rows[i].name, &dst, &src, NULL, huge_rows[i].status);
    for (uint64_t seed = 1; seed < 20; seed++) {
      tesela_plan_options options = {.shuffle = seed};
      check_status(huge_rows[i].name, &dst, &src, &options, huge_rows[i].status);
    }
  }
}

/* Many dims, all partial: the number of pieces must stay bounded, whatever is done instead. */
static void test_many_partial_tiles(void **state) {
  (void)state;
  int64_t shape[10];
  for (int i = 0; i < 10; i++) shape[i] = INT64_C(1000003);
  tesela_layout dst = digits(TESELA_DTYPE_NONE, 8, 3, shape, "0/8 1/8 2/8 0/4 1/4 2/4 0/2 1/2 2/2 0 1 2");
  tesela_layout src = digits(TESELA_DTYPE_NONE, 8, 3, shape, "2/9 1/9 0/9 0/3 1/3 2/3 0 1 2");
  check_status("uneven on both sides", &dst, &src, NULL, TESELA_OK);
  for (int i = 0; i < 10; i++) shape[i] = 3;
  dst =
      digits(TESELA_DTYPE_NONE, 8, 10, shape, "0/2 1/2 2/2 3/2 4/2 5/2 6/2 7/2 8/2 9/2 0 1 2 3 4 5 6 7 8 9");
  src = digits(TESELA_DTYPE_NONE, 8, 10, shape, "9 8 7 6 5 4 3 2 1 0");
  check_status("2^10 partial tiles", &dst, &src, NULL, TESELA_OK);
}

/* Rows of 40832 bytes, which with their phase fill the staging buffer to the last line: f32 from bf16. */
static void test_rows_as_long_as_the_buffer(void **state) {
  (void)state;
  enum { A = 500, B = 4, C = 2552 };
  const int64_t shape[3] = {A, B, C}, strides[3] = {C, (int64_t)A * C, 1};
  tesela_layout dst, src;
  assert_int_equal(tesela_layout_strided(&dst, TESELA_F32, 32, 3, shape, NULL, 0, NULL), TESELA_OK);
  assert_int_equal(tesela_layout_strided(&src, TESELA_BF16, 16, 3, shape, strides, 0, NULL), TESELA_OK);
  tesela_plan_options options = {.transform = TESELA_TRANSFORM_CONVERT};
  tesela_plan *plan = NULL;
  assert_int_equal(tesela_plan_create(&plan, &dst, &src, &options, NULL), TESELA_OK);
  uint32_t *to = malloc((size_t)A * B * C * sizeof *to);
  uint16_t *from = malloc((size_t)A * B * C * sizeof *from);
  assert_true(to && from);
  for (int64_t i = 0; i < (int64_t)A * B * C; i++) from[i] = (uint16_t)(i % 30000);
  assert_int_equal(tesela_plan_run(plan, to, from, NULL, NULL), TESELA_OK);
  int64_t wrong = 0;
  for (int64_t a = 0; a < A; a++)
    for (int64_t b = 0; b < B; b++)
      for (int64_t c = 0; c < C; c++)
        wrong += to[(a * B + b) * C + c] != (uint32_t)from[a * C + b * A * C + c] << 16;
  assert_int_equal(wrong, 0);
  free(to);
  free(from);
  tesela_plan_destroy(plan);
}

/* A bound near 2^60 bytes, and sides of 2^59 elements. */
static void test_windows_of_huge_bounds(void **state) {
  (void)state;
  const int64_t shape[2] = {(int64_t)1 << 30, (int64_t)1 << 29}, strides[2] = {1, (int64_t)1 << 30};
  tesela_layout dst, src;
  assert_int_equal(tesela_layout_strided(&dst, TESELA_U8, 8, 2, shape, NULL, 0, NULL), TESELA_OK);
  assert_int_equal(tesela_layout_strided(&src, TESELA_U8, 8, 2, shape, strides, 0, NULL), TESELA_OK);
  tesela_plan_options options = {.memory_bytes = ((int64_t)1 << 60) - 1};
  tesela_plan *plan = NULL;
  assert_int_equal(tesela_plan_create(&plan, &dst, &src, &options, NULL), TESELA_OK);
  tesela_plan_destroy(plan);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pairs),
      cmocka_unit_test(test_other_layouts),
      cmocka_unit_test(test_replicas_that_meet),
      cmocka_unit_test(test_options),
      cmocka_unit_test(test_texts),
      cmocka_unit_test(test_memory_fails),
      cmocka_unit_test(test_huge),
      cmocka_unit_test(test_rows_as_long_as_the_buffer),
      cmocka_unit_test(test_windows_of_huge_bounds),
      cmocka_unit_test(test_many_partial_tiles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
