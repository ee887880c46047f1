/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_run_limits.c - the steps and bytes of a run are known, and refused, before it begins.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "support_fault.h"
#include "support_graph_build.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

/* c[m,n] = a[m,k] b[k,n] of f32, and d = -c; *product is c. */
static tesela_graph *matmul(int64_t m, int64_t k, int64_t n, int32_t *product) {
  tesela_graph *graph;
  char shape[2][64];
  int32_t c, d;
  snprintf(shape[0], sizeof shape[0], "f32[%" PRId64 ",%" PRId64 "]", m, k);
  snprintf(shape[1], sizeof shape[1], "f32[%" PRId64 ",%" PRId64 "]", k, n);
  OK(tesela_graph_create(&graph, NULL, &e_));
  int32_t a = build_input(graph, "a", shape[0]), b = build_input(graph, "b", shape[1]);
  OK(tesela_graph_add(graph, &(tesela_node_spec){.op = TESELA_OP_MATMUL, .dtype = TESELA_F32, NODES(a, b)},
                      &c, &e_));
  OK(tesela_graph_add(
      graph,
      &(tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_NEG, .dtype = TESELA_F32, NODES(c)}, &d,
      &e_));
  OK(tesela_graph_add_output(graph, d, &e_));
  *product = c;
  return graph;
}

/* Products, and results of both operators; 4 bytes an element, and a mark of 4 bytes for each: all elements have 4. */
static void needs_by_hand(void **unused) {
  (void)unused;
  int32_t c;
  tesela_graph *graph = matmul(3, 5, 7, &c);
  tesela_graph_run_needs needs;
  tesela_graph_run_options plain = {.plain = true, .max_steps = 1, .max_bytes = 1};
  OK(tesela_graph_run_needs_of(graph, NULL, &plain, &needs, &e_));
  assert_int_equal(needs.steps, 3 * 5 * 7 + 3 * 7 + 3 * 7);
  assert_int_equal(needs.bytes, (3 * 5 + 5 * 7 + 3 * 7 + 3 * 7) * (4 + 4));
  assert_int_equal(needs.node, c);
  tesela_graph_destroy(graph);
}

/* At the limit it runs, one below it does not: no output is written and next to nothing is allocated. */
static void limits_are_exact(void **unused) {
  (void)unused;
  enum { N = 40 };
  static float a[N * N], b[N * N], d[N * N];
  const void *inputs[] = {a, b};
  void *outputs[] = {d};
  int32_t c;
  tesela_graph *graph = matmul(N, N, N, &c);
  fault f = {.countdown = -1};
  tesela_allocator counting = fault_allocator(&f);
  tesela_graph_run_options options = {.plain = true, .allocator = &counting};
  tesela_graph_run_needs needs;
  for (int i = 0; i < N * N; i++) a[i] = b[i] = 1;
  OK(tesela_graph_run_needs_of(graph, NULL, &options, &needs, &e_));
  assert_true(needs.bytes > 50000);
  options.max_steps = needs.steps;
  options.max_bytes = needs.bytes;
  OK(tesela_graph_run(graph, NULL, inputs, outputs, &options, NULL, &e_));
  assert_true(d[0] == -N && d[N * N - 1] == -N);
  f.limit = 5000; /* a larger piece would be refused as MEMORY */
  for (int i = 0; i < 2; i++) {
    tesela_error err = {.message = ""};
    options.max_steps = needs.steps - (i == 0);
    options.max_bytes = needs.bytes - (i == 1);
    d[0] = 1;
    assert_int_equal(tesela_graph_run(graph, NULL, inputs, outputs, &options, NULL, &err), TESELA_E_LIMIT);
    assert_true(strstr(err.message, i == 0 ? "max_steps is" : "max_bytes is") != NULL);
    assert_true(d[0] == 1 && f.live == 0);
  }
  options.max_steps = -1;
  assert_int_equal(tesela_graph_run(graph, NULL, inputs, outputs, &options, NULL, NULL), TESELA_E_RANGE);
  tesela_graph_destroy(graph);
}

/* What would take hours or more memory than there is is refused without a word of the caller. */
static void defaults_refuse(void **unused) {
  (void)unused;
  static const struct {
    int64_t m, k, n;
    const char *says;
  } rows[] = {
      {8192, 8192, 8192, "needs 549890031616 steps"}, /* 2^39 + 2 * 2^26 */
      {100000, 2, 99999, "needs 39999600000 steps"},
      {INT64_C(1) << 30, INT64_C(1) << 20, 4, "max_steps is 10000000000"},
      {INT64_C(1) << 27, 1, 8, "max_bytes is 4294967296"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    int32_t c;
    tesela_error err = {.message = ""};
    tesela_graph *graph = matmul(rows[i].m, rows[i].k, rows[i].n, &c);
    const void *inputs[] = {NULL, NULL}; /* not looked at */
    void *outputs[] = {NULL};
    tesela_graph_run_options options = {.plain = true};
    assert_int_equal(tesela_graph_run(graph, NULL, inputs, outputs, &options, NULL, &err), TESELA_E_LIMIT);
    if (!strstr(err.message, rows[i].says)) fail_msg("%s, not: %s", err.message, rows[i].says);
    tesela_graph_destroy(graph);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(needs_by_hand),
      cmocka_unit_test(limits_are_exact),
      cmocka_unit_test(defaults_refuse),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
