/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_memory_reuse.c - whose memory a result reuses if several operands are possible: by the bytes that live on.
 *
 * spyre, f16[n,64] in sticks along 1: n sticks of 128 bytes, row after row, so the first rows of a larger buffer lie as a buffer of
 * their own would.
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

#include "support_graph_build.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

enum { ROWS = 63 };

static tesela_graph *graph;
static tesela_graph_memory *memory;

static const tesela_target *spyre(void) { return tesela_target_find("spyre"); }

static int begin(void **unused) {
  (void)unused;
  memory = NULL;
  return tesela_graph_create(&graph, NULL, NULL) != TESELA_OK;
}
static int end(void **unused) {
  (void)unused;
  tesela_graph_memory_destroy(memory);
  tesela_graph_destroy(graph);
  return 0;
}

/* A buffer of the planner's, of so many rows. */
static int32_t buffer(const char *name, int32_t rows) {
  char shape[32];
  snprintf(shape, sizeof shape, "f16[%d,64]", (int)rows);
  int32_t x = build_laid_out(graph, spyre(), name, shape, 1);
  return build_node(graph, spyre(),
                    (tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_NEG, NODES(x)}, 1);
}

static int32_t head(int32_t x) {
  return build_node(graph, spyre(),
                    (tesela_node_spec){.op = TESELA_OP_SLICE,
                                       NODES(x),
                                       .start = (const int64_t[]){0, 0},
                                       .length = (const int64_t[]){ROWS, 64}},
                    1);
}

static int32_t unary(int32_t x) {
  return build_node(graph, spyre(),
                    (tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_EXP, NODES(x)}, 1);
}

static int32_t binary(int32_t x, int32_t y) {
  return build_node(graph, spyre(),
                    (tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_ADD, NODES(x, y)}, 1);
}

static void plan(int32_t last) {
  OK(tesela_graph_add_output(graph, unary(last), &e_)); /* an output's place is the caller's */
  OK(tesela_graph_plan_memory(&memory, graph, spyre(), NULL, &e_));
}

static void place_is(int32_t node, int64_t bytes, int32_t in_place_of) {
  const tesela_graph_place *place = tesela_graph_memory_of(memory, node);
  assert_non_null(place);
  assert_int_equal(place->bytes, bytes);
  assert_int_equal(place->in_place_of, in_place_of);
}

/* All three are possible; wherever the one with the fewest bytes stands. */
static void the_smallest_goes(void **unused) {
  (void)unused;
  static const int32_t orders[6][3] = {{200, 100, ROWS}, {200, ROWS, 100}, {100, 200, ROWS},
                                       {100, ROWS, 200}, {ROWS, 100, 200}, {ROWS, 200, 100}};
  for (int k = 0; k < 6; k++) {
    int32_t from[3], seen[3], least = -1;
    for (int i = 0; i < 3; i++) {
      char name[2] = {(char)('a' + i), 0};
      from[i] = buffer(name, orders[k][i]);
      if (orders[k][i] == ROWS) least = from[i];
    }
    for (int i = 0; i < 3; i++) seen[i] = head(from[i]);
    int32_t sum =
        build_node(graph, spyre(),
                   (tesela_node_spec){
                       .op = TESELA_OP_POINTWISE, .fn = TESELA_FN_CLAMP, NODES(seen[0], seen[1], seen[2])},
                   1);
    plan(sum);
    place_is(sum, ROWS * 128, least);
    for (int i = 0; i < 3; i++) place_is(from[i], orders[k][i] * 128, -1);
    end(NULL);
    begin(NULL);
  }
}

/* Small, but in the place of a large one, whose bytes would live on. */
static void what_lives_on_counts(void **unused) {
  (void)unused;
  int32_t large = buffer("a", 200), middle = buffer("b", 100);
  int32_t small = unary(head(large)), sum = binary(small, head(middle));
  plan(sum);
  place_is(small, ROWS * 128, large);
  place_is(sum, ROWS * 128, middle);
}

/* The smallest is read again: not it, but the next one. */
static void the_smallest_that_may(void **unused) {
  (void)unused;
  int32_t large = buffer("a", 200), small = buffer("b", ROWS);
  int32_t sum = binary(head(large), small), again = binary(sum, small);
  plan(again);
  place_is(sum, ROWS * 128, large);
  place_is(again, ROWS * 128, small);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(the_smallest_goes, begin, end),
      cmocka_unit_test_setup_teardown(what_lives_on_counts, begin, end),
      cmocka_unit_test_setup_teardown(the_smallest_that_may, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
