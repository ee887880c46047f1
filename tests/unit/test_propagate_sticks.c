/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_propagate_sticks.c - the sticks an output has in some cheapest plan, against a plan for each of them; shared copies of
 * tensors of many dims.
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

#include "support_seed.h"

static uint32_t draw(uint64_t *seed, uint32_t n) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*seed >> 33) % n;
}

static int32_t add(tesela_graph *graph, const tesela_node_spec *spec) {
  int32_t node;
  tesela_error err;
  if (tesela_graph_add(graph, spec, &node, &err) != TESELA_OK) fail_msg("%s", err.message);
  return node;
}

static int32_t input(tesela_graph *graph, int32_t rank, int64_t extent, int32_t stick) {
  int64_t shape[TESELA_GRAPH_RANK];
  for (int32_t d = 0; d < rank; d++) shape[d] = extent;
  return add(graph,
             &(tesela_node_spec){
                 .op = TESELA_OP_INPUT, .dtype = TESELA_F16, .rank = rank, .shape = shape, .stick = stick});
}

static int32_t sum(tesela_graph *graph, int32_t x, int32_t y) {
  return add(graph, &(tesela_node_spec){.op = TESELA_OP_POINTWISE,
                                        .fn = TESELA_FN_ADD,
                                        .n_operands = 2,
                                        .operand = (const int32_t[]){x, y}});
}

static tesela_propagation *propagate(const tesela_graph *graph, bool share, bool all_sticks) {
  tesela_propagation *p;
  tesela_error err;
  tesela_target target = *tesela_target_find("spyre");
  target.max_rank = 8;
  const tesela_propagate_options options = {
      .mode = TESELA_PROPAGATE_AUTO, .share = share, .all_sticks = all_sticks};
  if (tesela_graph_propagate(&p, graph, &target, &options, &err) != TESELA_OK) fail_msg("%s", err.message);
  return p;
}

/* Sums of each two inputs, some of which come in a stick; with required >= 0 that one must have the stick. */
static tesela_graph *sums(int32_t n, uint64_t seed, int32_t required, int32_t stick) {
  tesela_graph *graph;
  int32_t x[64];
  assert_int_equal(tesela_graph_create(&graph, NULL, NULL), TESELA_OK);
  for (int32_t i = 0; i < n; i++)
    x[i] = input(graph, 2, 64, draw(&seed, 4) == 0 ? (int32_t)draw(&seed, 2) : TESELA_STICK_FREE);
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < i; j++)
      assert_int_equal(tesela_graph_add_output(graph, sum(graph, x[i], x[j]), NULL), TESELA_OK);
  const tesela_hint hint = {.kind = TESELA_HINT_REQUIRE, .node = required, .stick = stick};
  if (required >= 0) assert_int_equal(tesela_graph_hint(graph, &hint, NULL), TESELA_OK);
  return graph;
}

/* Every stick of every output that `whole` names costs no more, and every other one does. */
static void check_sticks(int32_t n, uint64_t seed, bool share) {
  tesela_graph *graph = sums(n, seed, -1, 0);
  tesela_propagation *whole = propagate(graph, share, true);
  const tesela_propagate_facts facts = tesela_propagation_facts_of(whole);
  assert_true(facts.ok && facts.proven);
  for (int32_t node = n; node<tesela_graph_count(graph); node += n> 20 ? 5 : 1) {
    int32_t sticks[4], found = tesela_propagation_sticks(whole, node, 4, sticks);
    for (int32_t stick = 0; stick < 2; stick++) {
      bool named = false;
      for (int32_t k = 0; k < found; k++) named = named || sticks[k] == stick;
      tesela_graph *one = sums(n, seed, node, stick);
      tesela_propagation *p = propagate(one, share, false);
      const tesela_propagate_facts required = tesela_propagation_facts_of(p);
      assert_true(required.ok && required.proven);
      if (named != (required.cost == facts.cost))
        fail_msg("node %" PRId32 ", stick %" PRId32 ": named %d, costs %" PRId64 ", not %" PRId64, node,
                 stick, named, required.cost, facts.cost);
      tesela_propagation_destroy(p);
      tesela_graph_destroy(one);
    }
  }
  tesela_propagation_destroy(whole);
  tesela_graph_destroy(graph);
}

static void sticks_of_a_few_sums(void **state) {
  (void)state;
  uint64_t seed = first_seed();
  for (uint64_t k = 0; k < 12; k++) check_sticks(4 + (int32_t)k % 5, seed + k, k % 2 == 1);
}

/* Inputs that all depend on each other: too many to go through all their sticks at once. */
static void sticks_of_many_sums(void **state) {
  (void)state;
  uint64_t seed = first_seed();
  check_sticks(36, seed, false);
  check_sticks(36, seed + 1, true);
}

/* x of eight dims, wanted along three other dims by two operators each that cannot move their other operand. */
static void copies_of_many_dims_are_shared(void **state) {
  (void)state;
  for (int32_t rank = 3; rank <= 8; rank++) {
    tesela_graph *graph;
    assert_int_equal(tesela_graph_create(&graph, NULL, NULL), TESELA_OK);
    int32_t x = input(graph, rank, 2, rank - 1);
    for (int32_t k = 0; k < 6; k++) {
      int32_t fixed = input(graph, rank, 2, k % 3 < rank - 1 ? k % 3 : 0);
      int32_t y = sum(graph, x, fixed);
      const tesela_hint hints[] = {
          {.kind = TESELA_HINT_FORBID_MOVE, .node = y, .operand = 1},
          {.kind = TESELA_HINT_REQUIRE, .node = y, .stick = k % 3 < rank - 1 ? k % 3 : 0},
      };
      for (int i = 0; i < 2; i++) assert_int_equal(tesela_graph_hint(graph, &hints[i], NULL), TESELA_OK);
    }
    const int32_t copies = rank - 1 < 3 ? rank - 1 : 3;
    const int64_t elements = ((int64_t)1 << (rank - 1)) * 64; /* sticks of 64 */
    for (int share = 0; share < 2; share++) {
      tesela_propagation *p = propagate(graph, share == 1, false);
      const tesela_propagate_facts facts = tesela_propagation_facts_of(p);
      assert_true(facts.ok && facts.proven);
      assert_int_equal(facts.n_moves, share ? copies : 6);
      assert_true(facts.cost == (share ? copies : 6) * elements && facts.bound == facts.cost);
      tesela_propagation_destroy(p);
    }
    tesela_graph_destroy(graph);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sticks_of_a_few_sums),
      cmocka_unit_test(sticks_of_many_sums),
      cmocka_unit_test(copies_of_many_dims_are_shared),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
