/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_run_edges.c - execution at its ends: programs too large for memory, progress and stopping where elements are not computed in
 * blocks, and values that must not depend on where a row begins.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "graph/run/run.h"
#include "support_fault.h"
#include "support_graph_build.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

static tesela_graph *graph;

static int begin(void **unused) {
  (void)unused;
  return tesela_graph_create(&graph, NULL, NULL) != TESELA_OK;
}

static int end(void **unused) {
  (void)unused;
  tesela_graph_destroy(graph);
  return 0;
}

static int32_t add(tesela_node_spec spec) {
  int32_t node;
  OK(tesela_graph_add(graph, &spec, &node, &e_));
  return node;
}

/* ---- memory ------------------------------------------------------------------------------------------------------- */

enum { LARGE = 1 << 26 }; /* bytes of one piece */

/* As large as a graph may be: refused before anything is made; so are places of 128 bits for them, more than 2^63 bytes. */
static void huge_tensors_are_refused(void **unused) {
  (void)unused;
  const int64_t shape[1] = {(INT64_C(1) << 60) - 1};
  int32_t node[12];
  for (int32_t k = 0; k < 12; k++)
    node[k] = add((tesela_node_spec){
        .op = TESELA_OP_CONSTANT, .dtype = TESELA_U8, .value = 1, .rank = 1, .shape = shape});
  int32_t sum =
      add((tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_ADD, NODES(node[0], node[1])});
  OK(tesela_graph_add_output(graph, sum, &e_));
  tesela_target target;
  OK(tesela_target_plain(&target, 128, &e_));
  target.n_types = 1;
  target.type[0] = (tesela_target_type){TESELA_U8, TESELA_U8, 128};
  uint8_t out = 0x5a;
  for (int32_t device = 0; device < 2; device++) {
    fault f = {.countdown = -1, .limit = LARGE};
    const tesela_allocator allocator = fault_allocator(&f);
    tesela_graph_run_options options = {.plain = true, .device_types = device, .allocator = &allocator};
    assert_int_equal(tesela_graph_run(graph, &target, NULL, (void *const[]){&out}, &options, NULL, NULL),
                     device ? TESELA_E_MEMORY : TESELA_E_LIMIT);
    options.max_steps = options.max_bytes = INT64_MAX;
    assert_int_equal(tesela_graph_run(graph, &target, NULL, (void *const[]){&out}, &options, NULL, NULL),
                     TESELA_E_MEMORY);
    assert_int_equal(f.live, 0);
    assert_int_equal(out, 0x5a);
  }
}

/* Each allocation of a sort, a scatter and a clone fails once; on plain memory as the device has it, and tiled. */
static void allocations_fail(void **unused) {
  (void)unused;
  const tesela_target *spyre = tesela_target_find("spyre");
  const int64_t x[6] = {5, -3, 7, 0, 2, 9};
  const int32_t index[3] = {1, -1, 2};
  const int64_t values[3] = {100, 200, 300}, want[6] = {-3, 100, 300, 5, 7, 9};
  int64_t out[6], before[6];
  int32_t in[3];
  build_inputs(graph, "s64[6] s32[3] s64[3]", in);
  int32_t o = add((tesela_node_spec){.op = TESELA_OP_ALONG, .fn = TESELA_FN_SORT, NODES(in[0])});
  o = add((tesela_node_spec){.op = TESELA_OP_SCATTER, NODES(o, in[1], in[2])});
  o = add((tesela_node_spec){.op = TESELA_OP_CLONE, NODES(o)});
  OK(tesela_graph_add_output(graph, o, &e_));
  build_lay_out_all(graph, spyre);
  memset(before, 0x5a, sizeof before);
  for (int32_t plain = 0; plain < 2; plain++) {
    tesela_status status = TESELA_E_MEMORY;
    fault f = {.limit = LARGE};
    const tesela_allocator allocator = fault_allocator(&f);
    const tesela_graph_run_options options = {.plain = plain, .device_types = plain, .allocator = &allocator};
    for (int64_t k = 0; status != TESELA_OK; k++) {
      f.countdown = k;
      memcpy(out, before, sizeof out);
      status = tesela_graph_run(graph, spyre, (const void *const[]){x, index, values}, (void *const[]){out},
                                &options, NULL, NULL);
      assert_int_equal(f.live, 0);
      assert_true(status == TESELA_OK ? k > 20 : status == TESELA_E_MEMORY);
      assert_memory_equal(out, status == TESELA_OK ? want : before, sizeof out);
    }
  }
}

/* A layout may say anything of its elements; the executor wants room for them. */
static void narrow_elements_are_refused(void **unused) {
  (void)unused;
  tesela_target target;
  tesela_device_layout layout;
  tesela_error err = {.message = ""};
  const double x[5] = {1, 2, 3, 4, 5};
  double out[5] = {-1};
  OK(tesela_target_plain(&target, 8, &e_));
  int32_t o = build_input(graph, "x", "f64[5]");
  OK(tesela_graph_add_output(graph, o, &e_));
  target.type[0] = (tesela_target_type){TESELA_F64, TESELA_F32, 32};
  target.n_types = 1;
  OK(tesela_device_default(&layout, &target, TESELA_F64, 1, (const int64_t[]){5}, &e_));
  layout.host.device_dtype = TESELA_F64;
  OK(tesela_graph_set_layout(graph, o, &layout, &e_));
  assert_int_equal(
      tesela_graph_run(graph, &target, (const void *const[]){x}, (void *const[]){out}, NULL, NULL, &err),
      TESELA_E_INVALID);
  assert_non_null(strstr(err.message, "32 bits"));
  assert_true(out[0] == -1);
}

/* ---- progress ----------------------------------------------------------------------------------------------------- */

static struct { int64_t calls, last, most_between, total, stop_at; } told;

static int tell(void *user, int64_t done, int64_t total) {
  (void)user;
  assert_true(done >= told.last && done <= total);
  if (done - told.last > told.most_between) told.most_between = done - told.last;
  told.last = done;
  told.total = total;
  return ++told.calls == told.stop_at;
}

/* Runs to the end, with `total` in all and at least `calls` calls; then stops at each of them. */
static void told_and_stopped(const void *const *inputs, int64_t bytes, int64_t total, int64_t calls) {
  uint8_t *out = malloc((size_t)bytes), *before = malloc((size_t)bytes);
  assert_true(out && before);
  memset(before, 0x5a, (size_t)bytes);
  fault f = {.countdown = -1, .limit = LARGE};
  const tesela_allocator allocator = fault_allocator(&f);
  tesela_graph_run_options options = {.plain = true, .progress = tell, .allocator = &allocator};
  memset(&told, 0, sizeof told);
  OK(tesela_graph_run(graph, NULL, inputs, (void *const[]){out}, &options, NULL, &e_));
  assert_int_equal(told.total, total);
  assert_true(told.calls >= calls);
  assert_true(told.most_between <= total / calls + (1 << 20));
  int64_t all = told.calls;
  for (int64_t k = 1; k <= all; k++) {
    memset(&told, 0, sizeof told);
    told.stop_at = k;
    memcpy(out, before, (size_t)bytes);
    assert_int_equal(tesela_graph_run(graph, NULL, inputs, (void *const[]){out}, &options, NULL, NULL),
                     TESELA_E_STOPPED);
    assert_int_equal(told.calls, k);
    assert_memory_equal(out, before, (size_t)bytes);
    assert_int_equal(f.live, 0);
  }
  free(out);
  free(before);
}

/* Values into few places: what counts is the values. */
static void scatter_is_told(void **unused) {
  (void)unused;
  enum { VALUES = 3 << 20 };
  float x[2] = {0, 0}, *values = calloc(VALUES, sizeof *values);
  int32_t *index = calloc(VALUES, sizeof *index), input[3];
  assert_true(index && values);
  build_inputs(graph, "f32[2] s32[3145728] f32[3145728]", input);
  int32_t o = add(
      (tesela_node_spec){.op = TESELA_OP_SCATTER, .fn = TESELA_FN_ADD, NODES(input[0], input[1], input[2])});
  OK(tesela_graph_add_output(graph, o, &e_));
  told_and_stopped((const void *const[]){x, index, values}, sizeof x, VALUES + 2, 3);
  free(index);
  free(values);
}

/* One line of 2^18: read once, merged 18 times, and 5 of it written. */
static void one_long_line_is_told(void **unused) {
  (void)unused;
  enum { N = 1 << 18, K = 5 };
  float *x = malloc(N * sizeof *x);
  assert_non_null(x);
  for (int32_t k = 0; k < N; k++) x[k] = (float)(k * 7919 % N);
  int32_t input = build_input(graph, "x", "f32[262144]");
  int32_t o = add((tesela_node_spec){.op = TESELA_OP_ALONG,
                                     .fn = TESELA_FN_SORT,
                                     .length = (const int64_t[]){K},
                                     .reverse = true,
                                     NODES(input)});
  OK(tesela_graph_add_output(graph, o, &e_));
  told_and_stopped((const void *const[]){x}, K * (int64_t)sizeof *x, INT64_C(19) * N + K, 4);
  free(x);
}

/* Lines of a cumulative sum: each element is read and written. */
static void lines_are_told(void **unused) {
  (void)unused;
  enum { LINES = 1500, N = 1000 };
  float *x = calloc(LINES * N, sizeof *x);
  assert_non_null(x);
  int32_t input = build_input(graph, "x", "f32[1500,1000]");
  int32_t o = add((tesela_node_spec){.op = TESELA_OP_ALONG, .fn = TESELA_FN_CUMSUM, NODES(input), DIMS(1)});
  OK(tesela_graph_add_output(graph, o, &e_));
  told_and_stopped((const void *const[]){x}, LINES * N * (int64_t)sizeof *x, 2 * LINES * N, 2);
  free(x);
}

/* ---- values ------------------------------------------------------------------------------------------------------- */

/* value + index is rounded once, whichever index a row begins with: from 512 on this value is a little more than half the last bit, but
 * not if it was added to a small index before. */
static void counting_from_a_fraction(void **unused) {
  (void)unused;
  enum { N = 700, M = 3 };
  const double bit = 0x1.0001p-44;
  static double out[N * M];
  for (int32_t dim = 0; dim < 2; dim++)
    for (int32_t tiled = 0; tiled < 2; tiled++) {
      tesela_graph_destroy(graph);
      OK(tesela_graph_create(&graph, NULL, &e_));
      const int64_t shape[2] = {dim == 0 ? N : M, dim == 0 ? M : N};
      int32_t o = add((tesela_node_spec){
          .op = TESELA_OP_CONSTANT, .dtype = TESELA_F64, .value = bit, .rank = 2, .shape = shape, DIMS(dim)});
      OK(tesela_graph_add_output(graph, o, &e_));
      tesela_target target;
      OK(tesela_target_plain(&target, 64, &e_));
      build_lay_out_all(graph, &target);
      OK(tesela_graph_run(graph, &target, NULL, (void *const[]){out},
                          &(tesela_graph_run_options){.plain = !tiled}, NULL, &e_));
      for (int32_t e = 0; e < N * M; e++) {
        double want = bit + (double)(dim == 0 ? e / M : e % N);
        if (out[e] != want)
          fail_msg("dim %d, tiled %d: element %d is %a, not %a", (int)dim, (int)tiled, (int)e, out[e], want);
      }
    }
}

/* A shift is of operand 0's type, and its result is taken for that of the node. */
static void shifts_into_wider_types(void **unused) {
  (void)unused;
  static const struct {
    tesela_fn fn;
    const char *shapes;
    uint8_t x, by;
    int32_t want;
  } rows[] = {
      {TESELA_FN_SHIFT_LEFT, "u8[] u8[]", 0xff, 4, 0xf0},
      {TESELA_FN_SHIFT_LEFT, "s8[] s8[]", 0x40, 1, -128},
      {TESELA_FN_SHIFT_RIGHT, "s8[] s8[]", 0x80, 3, -16},
      {TESELA_FN_SHIFT_RIGHT, "u8[] u8[]", 0x80, 3, 0xf0},
      {TESELA_FN_SHIFT_RIGHT, "s8[] s8[]", 0x80, 8, -1},
      {TESELA_FN_SHIFT_RIGHT_LOGICAL, "s8[] s8[]", 0xff, 0, -1},
      {TESELA_FN_SHIFT_RIGHT_LOGICAL, "s8[] s8[]", 0xff, 1, 127},
      {TESELA_FN_SHIFT_RIGHT_LOGICAL, "u8[] s8[]", 0xff, 0xff, 0}, /* by -1 */
  };
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    int32_t x[2], out = 0;
    tesela_graph_destroy(graph);
    OK(tesela_graph_create(&graph, NULL, &e_));
    build_inputs(graph, rows[r].shapes, x);
    int32_t o = add((tesela_node_spec){
        .op = TESELA_OP_POINTWISE, .fn = rows[r].fn, .dtype = TESELA_S32, NODES(x[0], x[1])});
    OK(tesela_graph_add_output(graph, o, &e_));
    OK(tesela_graph_run(graph, NULL, (const void *const[]){&rows[r].x, &rows[r].by}, (void *const[]){&out},
                        &(tesela_graph_run_options){.plain = true}, NULL, &e_));
    if (out != rows[r].want) fail_msg("row %zu: %d, not %d", r, (int)out, (int)rows[r].want);
  }
}

/* Inputs and outputs need memory, if they have elements. */
static void memory_is_needed(void **state) {
  (void)state;
  const tesela_graph_run_options options = {.plain = true};
  for (int64_t n = 0; n < 2; n++) {
    tesela_status refused = n == 0 ? TESELA_OK : TESELA_E_INVALID;
    float x[1] = {0}, out[1] = {0};
    tesela_graph_destroy(graph);
    OK(tesela_graph_create(&graph, NULL, &e_));
    int32_t in = build_input(graph, "x", n == 0 ? "f32[0]" : "f32[1]");
    OK(tesela_graph_add_output(graph, in, &e_));
    assert_int_equal(tesela_graph_run(graph, NULL, (const void *const[]){NULL}, (void *const[]){out},
                                      &options, NULL, NULL),
                     refused);
    assert_int_equal(
        tesela_graph_run(graph, NULL, (const void *const[]){x}, (void *const[]){NULL}, &options, NULL, NULL),
        refused);
    assert_int_equal(tesela_graph_run(graph, NULL, NULL, (void *const[]){out}, &options, NULL, NULL),
                     TESELA_E_INVALID);
    assert_int_equal(tesela_graph_run(graph, NULL, (const void *const[]){x}, NULL, &options, NULL, NULL),
                     TESELA_E_INVALID);
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(huge_tensors_are_refused), TEST(narrow_elements_are_refused), TEST(allocations_fail),
      TEST(scatter_is_told),          TEST(one_long_line_is_told),       TEST(lines_are_told),
      TEST(counting_from_a_fraction), TEST(shifts_into_wider_types),     TEST(memory_is_needed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
