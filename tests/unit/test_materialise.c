/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_materialise.c - copies before operands that no move of a buffer suits.
 *
 * The programs are made so that the number of copies follows from the rules by hand; what they compute is compared with a run on
 * plain memory of the program without copies.
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

#include "support_fault.h"
#include "support_graph_build.h"
#include "support_relayout.h"
#include "support_seed.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

static int32_t add(tesela_graph *graph, tesela_node_spec spec) {
  int32_t node = -1;
  OK(tesela_graph_add(graph, &spec, &node, &e_));
  return node;
}

static int32_t reshape(tesela_graph *graph, int32_t of, int32_t rank, const int64_t *shape) {
  return add(graph,
             (tesela_node_spec){
                 .op = TESELA_OP_RESHAPE, .n_operands = 1, .operand = &of, .rank = rank, .shape = shape});
}

static int32_t matmul(tesela_graph *graph, int32_t x, int32_t y) {
  int32_t operands[] = {x, y};
  return add(graph, (tesela_node_spec){.op = TESELA_OP_MATMUL, .n_operands = 2, .operand = operands});
}

/* x [6,3,5] is flattened to [6,15]; sticks have 4 lanes. As the left operand its 15 must be in the lanes: no stick of x does. */
static int32_t flattened(tesela_graph *graph, const char *name) {
  int32_t x = build_input(graph, name, "f32[6,3,5]");
  return reshape(graph, x, 2, (const int64_t[]){6, 15});
}

static tesela_target small_target(void) {
  tesela_target target = *tesela_target_find("spyre");
  target.stick_bytes = target.alignment = 16;
  return target;
}

/* Run a program on plain memory, inputs filled with small numbers, or on tiled memory after its layouts are found. */
static void run(const tesela_graph *graph, const tesela_target *target, bool plain, float *out) {
  static float room[8][4096];
  const void *inputs[8];
  void *outputs[] = {out};
  int32_t n = 0;
  for (int32_t k = 0; k < tesela_graph_count(graph); k++) {
    if (tesela_graph_node(graph, k)->op != TESELA_OP_INPUT) continue;
    for (int i = 0; i < 4096; i++) room[n][i] = (float)((i * 7 + n * 3) % 11 - 5);
    inputs[n] = room[n];
    n++;
  }
  tesela_graph_run_options options = {.plain = plain};
  tesela_graph_run_facts facts;
  tesela_graph *placed = NULL;
  if (!plain) {
    tesela_propagation *p;
    OK(tesela_graph_propagate(&p, graph, target, &(tesela_propagate_options){.mode = TESELA_PROPAGATE_AUTO},
                              &e_));
    assert_true(tesela_propagation_facts_of(p).ok);
    OK(tesela_graph_apply(&placed, p, &e_));
    tesela_propagation_destroy(p);
  }
  OK(tesela_graph_run(placed ? placed : graph, target, inputs, outputs, &options, &facts, &e_));
  assert_int_equal(facts.poison_read, 0);
  tesela_graph_destroy(placed);
}

static int32_t copies_of(const tesela_graph *graph) {
  int32_t n = 0;
  for (int32_t k = 0; k < tesela_graph_count(graph); k++)
    n += tesela_graph_node(graph, k)->op == TESELA_OP_MOVE;
  return n;
}

/* Materialise, check the number of copies, and compare the results of both programs. */
static void expect_copies(tesela_graph *graph, int32_t output, int32_t expected) {
  tesela_target target = small_target();
  tesela_graph *made;
  int32_t inserted = -1;
  float before[4096] = {0}, after[4096] = {1};
  OK(tesela_graph_add_output(graph, output, &e_));
  OK(tesela_graph_materialise(&made, graph, &target, NULL, &inserted, &e_));
  assert_int_equal(inserted, expected);
  assert_int_equal(copies_of(made), expected);
  run(graph, &target, true, before);
  run(made, &target, false, after);
  int64_t elements = 1;
  for (int32_t d = 0; d < tesela_graph_node(graph, output)->rank; d++)
    elements *= tesela_graph_node(graph, output)->shape[d];
  assert_memory_equal(before, after, (size_t)elements * sizeof *before);
  tesela_graph_destroy(made);
  tesela_graph_destroy(graph);
}

static tesela_graph *new_graph(void) {
  tesela_graph *graph;
  OK(tesela_graph_create(&graph, NULL, &e_));
  return graph;
}

static void no_copy_where_layouts_are(void **state) {
  (void)state;
  tesela_graph *graph = new_graph();
  int32_t x = build_input(graph, "x", "f32[6,15]"), y = build_input(graph, "y", "f32[15,7]");
  expect_copies(graph, matmul(graph, x, y), 0);
}

static void one_copy_of_a_reshape_across_sticks(void **state) {
  (void)state;
  tesela_graph *graph = new_graph();
  int32_t x = flattened(graph, "x"), y = build_input(graph, "y", "f32[15,7]");
  expect_copies(graph, matmul(graph, x, y), 1);
}

static void no_copy_where_moves_are_forbidden(void **state) {
  (void)state;
  for (int32_t operand = -1; operand < 2; operand++) {
    tesela_graph *graph = new_graph(), *made;
    tesela_target target = small_target();
    int32_t x = flattened(graph, "x"), y = build_input(graph, "y", "f32[15,7]"), m = matmul(graph, x, y);
    tesela_hint hint = {.kind = TESELA_HINT_FORBID_MOVE, .node = m, .operand = operand};
    int32_t inserted = -1;
    OK(tesela_graph_hint(graph, &hint, &e_));
    OK(tesela_graph_materialise(&made, graph, &target, NULL, &inserted, &e_));
    assert_int_equal(inserted, operand == 1); /* that of y does not matter: x is at fault */
    assert_int_equal(copies_of(made), operand == 1);
    tesela_graph_destroy(made);
    tesela_graph_destroy(graph);
  }
}

static void both_operands(void **state) {
  (void)state;
  tesela_graph *graph = new_graph();
  int32_t x = flattened(graph, "x"), y = build_input(graph, "y", "f32[15,2,5]");
  expect_copies(graph, matmul(graph, x, reshape(graph, y, 2, (const int64_t[]){15, 10})), 2);
}

static void one_after_the_other(void **state) {
  (void)state;
  tesela_graph *graph = new_graph();
  int32_t x = flattened(graph, "x"), y = build_input(graph, "y", "f32[15,15]");
  int32_t h = matmul(graph, x, y); /* [6,15] */
  int32_t again =
      reshape(graph, reshape(graph, h, 3, (const int64_t[]){6, 3, 5}), 2, (const int64_t[]){18, 5});
  int32_t z = build_input(graph, "z", "f32[5,3]"); /* the 5 of [18,5] are parts of rows of 15 */
  expect_copies(graph, matmul(graph, again, z), 2);
}

/* What is overwritten in place is not copied: the program stays without layouts, and says so. */
static void in_place_stays(void **state) {
  (void)state;
  tesela_target target = small_target();
  tesela_graph *graph = new_graph(), *made;
  int32_t x = build_input(graph, "x", "f32[6,15]"), piece = build_input(graph, "p", "f32[6,5]"), inserted;
  int32_t operands[] = {x, piece};
  int32_t w = add(graph, (tesela_node_spec){.op = TESELA_OP_WRITE,
                                            .n_operands = 2,
                                            .operand = operands,
                                            .start = (const int64_t[]){0, 3},
                                            .step = (const int64_t[]){1, 1},
                                            .in_place = true});
  OK(tesela_graph_add_output(graph, w, &e_));
  const tesela_hint hints[] = {{.kind = TESELA_HINT_REQUIRE, .node = x, .stick = 1}};
  OK(tesela_graph_hint(graph, &hints[0], &e_)); /* the seam at 3 is inside a stick */
  OK(tesela_graph_materialise(&made, graph, &target, NULL, &inserted, &e_));
  assert_int_equal(inserted, 0);
  assert_int_equal(tesela_graph_count(made), tesela_graph_count(graph));
  assert_int_equal(tesela_graph_hint_count(made), 1);
  tesela_graph_destroy(made);
  tesela_graph_destroy(graph);
}

/* ---- allocations ---- */

static void every_allocation_fails_once(void **state) {
  (void)state;
  tesela_target target = small_target();
  tesela_graph *graph = new_graph(), *made;
  int32_t x = flattened(graph, "x"), y = build_input(graph, "y", "f32[15,7]");
  OK(tesela_graph_add_output(graph, matmul(graph, x, y), &e_));
  for (int64_t n = 0;; n += slow_run() ? 7 : 1) {
    fault f = {.countdown = n, .once = true};
    tesela_allocator allocator = fault_allocator(&f);
    tesela_propagate_options options = {.mode = TESELA_PROPAGATE_AUTO, .allocator = &allocator};
    tesela_status status = tesela_graph_materialise(&made, graph, &target, &options, NULL, NULL);
    if (status == TESELA_OK) {
      tesela_graph_destroy(made);
      assert_int_equal(f.live, 0);
      assert_true(n > 20);
      break;
    }
    assert_int_equal(status, TESELA_E_MEMORY);
    assert_int_equal(f.live, 0);
  }
  tesela_graph_destroy(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_copy_where_layouts_are),
      cmocka_unit_test(one_copy_of_a_reshape_across_sticks),
      cmocka_unit_test(no_copy_where_moves_are_forbidden),
      cmocka_unit_test(both_operands),
      cmocka_unit_test(one_after_the_other),
      cmocka_unit_test(in_place_stays),
      cmocka_unit_test(every_allocation_fails_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
