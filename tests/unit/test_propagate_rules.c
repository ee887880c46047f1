/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_propagate_rules.c - hints, and targets with rules, needs and layouts of their own. Expected prices are counted by hand: the
 * places of what moves.
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

#include "support_propagate.h"

/* ---- hints ---- */

static const char *const sum_of_transposed =
    "a = input f16[256,128] 1; x = input f16[128,256] 1; a_t = permute a 1,0; t1 = pw a_t x";

static void hints_narrow_and_price(void **state) {
  (void)state;
  tesela_graph *graph = prog_graph_of(sum_of_transposed);
  prog_add_hint(graph, TESELA_HINT_REQUIRE, "t1", 0, -1, 0);
  prog_check(graph, prog_spyre(), prog_automatic, true, 32768, 1, "t1", 0);
  tesela_graph_destroy(graph);

  graph = prog_graph_of(sum_of_transposed);
  prog_add_hint(graph, TESELA_HINT_FORBID, "t1", 0, -1, 0);
  prog_check(graph, prog_spyre(), prog_automatic, true, 32768, 1, "t1", 1);
  prog_add_hint(graph, TESELA_HINT_FORBID, "t1", 1, -1,
                0); /* now only one element per stick is left: no operand has that */
  prog_check(graph, prog_spyre(), prog_automatic, false, 0, 0, "t1", -9);
  tesela_graph_destroy(graph);

  graph = prog_graph_of(sum_of_transposed);
  prog_add_hint(graph, TESELA_HINT_PREFER, "t1", 0, -1, 10); /* stick 1 costs 10: stick 0 does not */
  prog_check(graph, prog_spyre(), prog_automatic, true, 32768, 1, "t1", 0);
  prog_add_hint(graph, TESELA_HINT_PREFER, "t1", 1, -1, 11);
  prog_check(graph, prog_spyre(), prog_automatic, true, 32768 + 10, 1, "t1", 1);
  tesela_graph_destroy(graph);

  graph = prog_graph_of(sum_of_transposed);
  prog_add_hint(graph, TESELA_HINT_FORBID_MOVE, "t1", 0, 0, 0); /* a stays: the result goes where a is */
  prog_check(graph, prog_spyre(), prog_automatic, true, 32768, 1, "t1", 0);
  prog_add_hint(graph, TESELA_HINT_FORBID_MOVE, "t1", 0, -1, 0);
  prog_check(graph, prog_spyre(), prog_automatic, false, 0, 0, "t1", -9);
  tesela_graph_destroy(graph);

  graph = prog_graph_of(sum_of_transposed);
  prog_add_hint(graph, TESELA_HINT_FREE, "a", 0, -1, 0);
  prog_check(graph, prog_spyre(), prog_strictly, true, 0, 0, "a", 0);
  prog_add_hint(graph, TESELA_HINT_FREE, "x", 0, -1, 0); /* either way one is not as it comes by default */
  prog_check(graph, prog_spyre(), prog_strictly, true, 0, 0, "t1", 1);
  prog_add_hint(graph, TESELA_HINT_REQUIRE, "a", 1, -1, 0);
  prog_check(graph, prog_spyre(), prog_strictly, true, 0, 0, "x", 0);
  tesela_graph_destroy(graph);
}

/* What frees an input counts first, wherever it stands. */
static void hints_may_come_in_any_order(void **state) {
  (void)state;
  tesela_graph *graph = prog_graph_of(sum_of_transposed);
  prog_add_hint(graph, TESELA_HINT_REQUIRE, "a", 0, -1, 0);
  prog_add_hint(graph, TESELA_HINT_FREE, "a", 0, -1, 0);
  prog_check(graph, prog_spyre(), prog_strictly, true, 0, 0, "a", 0);
  tesela_graph_destroy(graph);
}

/* The default layout preferred, for 50 elements: a result that follows its operand pays them, or the operand moves. */
static void results_may_be_asked_softly(void **state) {
  (void)state;
  tesela_target target = *prog_spyre();
  target.rule[target.n_rules++] = (tesela_rule){
      TESELA_OP_POINTWISE, TESELA_FN_NONE, TESELA_RULE_RESULT, TESELA_NEED_ANY, TESELA_YIELD_DEFAULT, 50, ""};
  tesela_graph *graph = prog_graph_of("a = input f16[64,128] 0; o = pw a");
  prog_check(graph, &target, prog_strictly, true, 50, 0, "o", 0);
  target.rule[0].price = 10000; /* a takes 8192 */
  prog_check(graph, &target, prog_automatic, true, 8192, 1, "o", 1);
  target.rule[0].price = -1;
  prog_check(graph, &target, prog_strictly, false, 0, 0, "o", -9);
  tesela_graph_destroy(graph);
}

static void free_inputs_prefer_the_default(void **state) {
  (void)state;
  tesela_graph *graph =
      prog_graph_of("a = input f16[64,64,64] ?; b = constant f16[64,64,64]; t = pw a b; u = pw b");
  prog_check(graph, prog_spyre(), prog_strictly, true, 0, 0, "a", 2);
  prog_check(graph, prog_spyre(), prog_strictly, true, 0, 0, "b", 2);
  prog_check(graph, prog_spyre(), prog_automatic, true, 0, 0, "u", 2);
  tesela_graph_destroy(graph);
}

static void hints_that_no_layout_has_are_refused(void **state) {
  (void)state;
  tesela_propagation *p = NULL;
  tesela_error err;
  tesela_graph *graph = prog_graph_of(sum_of_transposed);
  prog_add_hint(graph, TESELA_HINT_REQUIRE, "a", 0, -1, 0);
  assert_int_equal(tesela_graph_propagate(&p, graph, prog_spyre(), &prog_automatic, &err), TESELA_E_INVALID);
  assert_non_null(strstr(err.message, "requires stick 0 of a"));
  tesela_graph_destroy(graph);
  graph = prog_graph_of("a = input f32[64,64] 1; t = pw a");
  prog_add_hint(graph, TESELA_HINT_REQUIRE, "t", TESELA_STICK_SPARSE, -1, 0);
  assert_int_equal(tesela_graph_propagate(&p, graph, tesela_target_find("tiles"), &prog_automatic, NULL),
                   TESELA_E_INVALID);
  tesela_graph_destroy(graph);
  assert_null(p);
}

/* ---- rules and targets ---- */

static tesela_target with_rule(tesela_rule rule) {
  tesela_target target = *prog_spyre();
  target.rule[target.n_rules++] = rule;
  return target;
}

static void rules_of_a_target_are_data(void **state) {
  (void)state;
  tesela_graph *graph = prog_graph_of(sum_of_transposed);
  tesela_target target =
      with_rule((tesela_rule){TESELA_OP_POINTWISE, TESELA_FN_NONE, TESELA_RULE_ALL, TESELA_NEED_RESULT,
                              TESELA_YIELD_ANY, 100, ""}); /* soft: not meeting it costs 100 */
  prog_check(graph, &target, prog_strictly, true, 100, 0, "t1", -9);
  prog_check(graph, &target, prog_automatic, true, 100, 0, "t1", -9);
  target.rule[0].price = 40000; /* more expensive than a move */
  prog_check(graph, &target, prog_strictly, true, 40000, 0, "t1", -9);
  prog_check(graph, &target, prog_automatic, true, 32768, 1, "t1", -9);
  target.rule[0].fn = TESELA_FN_MUL; /* of another function: the common rule counts */
  prog_check(graph, &target, prog_strictly, false, 0, 0, "t1", -9);
  target.rule[0].fn = TESELA_FN_ADD;
  prog_check(graph, &target, prog_strictly, true, 40000, 0, "t1", -9);
  target = with_rule((tesela_rule){TESELA_OP_POINTWISE, TESELA_FN_NONE, TESELA_RULE_ALL, TESELA_NEED_ANY,
                                   TESELA_YIELD_ANY, -1, ""});
  prog_check(graph, &target, prog_strictly, true, 0, 0, "t1", 1);
  target =
      with_rule((tesela_rule){TESELA_OP_POINTWISE, TESELA_FN_NONE, TESELA_RULE_RESULT, TESELA_NEED_ANY,
                              TESELA_YIELD_DEFAULT, -1, ""}); /* the result in the default layout: a moves */
  prog_check(graph, &target, prog_automatic, true, 32768, 1, "t1", 1);
  tesela_graph_destroy(graph);

  graph = prog_graph_of("a = input f16[128,64] 0; b = input f16[128,64] 1; o = pw a b; p = pw a a");
  prog_check(graph, prog_spyre(), prog_automatic, true, 8192, 1, "p", 0);
  target =
      with_rule((tesela_rule){TESELA_OP_POINTWISE, TESELA_FN_NONE, TESELA_RULE_ALL, TESELA_NEED_DEFAULT,
                              TESELA_YIELD_ANY, -1, ""}); /* a moves for o, and for p, which reads it twice */
  prog_check(graph, &target, prog_automatic, true, 2 * 8192, 2, "o", -9);
  tesela_propagate_options share = {.mode = TESELA_PROPAGATE_AUTO, .share = true};
  prog_check(graph, &target, share, true, 8192, 1, "o", -9);
  tesela_graph_destroy(graph);
}

static void an_operand_may_have_to_lie_as_the_first(void **state) {
  (void)state;
  tesela_target target = with_rule(
      (tesela_rule){TESELA_OP_POINTWISE, TESELA_FN_NONE, 1, TESELA_NEED_SAME, TESELA_YIELD_ANY, -1, ""});
  tesela_graph *graph =
      prog_graph_of("a = input f16[64,100] 1; b = input f16[64,100] 0; o = pw a b; r = pw o a");
  prog_check(graph, &target, prog_strictly, false, 0, 0, "o", -9);
  /* moving a costs 64*128 (o and r in stick 0: r's a again), moving b costs 64*100 */
  prog_check(graph, &target, prog_automatic, true, 6400, 1, "r", 1);
  tesela_graph_destroy(graph);
  graph =
      prog_graph_of("a = input f16[64,128] 1; b = input f16[128] 0; o = pw a b"); /* never the same layout */
  prog_check(graph, prog_spyre(), prog_strictly, true, 0, 0, "o", 1);
  prog_check(graph, &target, prog_automatic, false, 0, 0, "o", -9);
  target.rule[0].price = 7;
  prog_check(graph, &target, prog_automatic, true, 7, 0, "o", 1);
  tesela_graph_destroy(graph);
}

/* Tiles of 32x32 are padded: f32[33,70] takes 64x96; there is no layout of one element per stick. */
static void another_target_has_other_prices(void **state) {
  (void)state;
  const tesela_target *tiles = tesela_target_find("tiles");
  tesela_graph *graph =
      prog_graph_of("a = input f32[33,70] 1; x = input f32[70,33] 1; a_t = permute a 1,0; t = pw a_t x");
  prog_check(graph, tiles, prog_strictly, false, 0, 0, "t", -9);
  prog_check(graph, tiles, prog_automatic, true, 64 * 96, 1, "t", -9);
  tesela_graph_destroy(graph);
  graph = prog_graph_of("a = input f32[64,64] 1; s = sum a 1; k = sum a 0; z = sum a 0,1");
  tesela_propagation *p = prog_propagate(graph, tiles, prog_strictly);
  assert_int_equal(tesela_propagation_facts_of(p).error_node, 1);
  tesela_propagation_destroy(p);
  prog_check(graph, tiles, prog_automatic, true, 4096, 1, "s", 0);
  tesela_graph_destroy(graph);
}

static void rows_are_found_by_how_specific_they_are(void **state) {
  (void)state;
  for (int32_t k = 0; tesela_rule_at(k); k++) {
    const tesela_rule *row = tesela_rule_at(k);
    assert_non_null(tesela_op_name(row->op));
    assert_non_null(tesela_need_name(row->need));
    assert_non_null(tesela_yield_name(row->yield));
    if (row->opcode[0] == '\0')
      assert_ptr_equal(tesela_rule_of(prog_spyre(), row->op, row->fn, row->operand), row);
  }
  assert_null(tesela_rule_at(-1));
  assert_null(tesela_rule_at(1000));
  static const struct {
    tesela_op op;
    int32_t operand;
    tesela_need need;
    tesela_yield yield;
  } rows[] = {
      {TESELA_OP_MATMUL, 0, TESELA_NEED_CONTRACTED, TESELA_YIELD_ANY},
      {TESELA_OP_MATMUL, 1, TESELA_NEED_COLUMN, TESELA_YIELD_ANY},
      {TESELA_OP_MATMUL, TESELA_RULE_RESULT, TESELA_NEED_ANY, TESELA_YIELD_COLUMN},
      {TESELA_OP_CAT, 5, TESELA_NEED_SEAM, TESELA_YIELD_ANY},
      {TESELA_OP_GATHER, 0, TESELA_NEED_NOT_INDEXED, TESELA_YIELD_ANY},
      {TESELA_OP_GATHER, 1, TESELA_NEED_ANY, TESELA_YIELD_ANY},
      {TESELA_OP_CLONE, 0, TESELA_NEED_ANY, TESELA_YIELD_ANY},
      {TESELA_OP_CLONE, TESELA_RULE_RESULT, TESELA_NEED_ANY, TESELA_YIELD_DEFAULT},
      {TESELA_OP_RESHAPE, 0, TESELA_NEED_ANY, TESELA_YIELD_ANY},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const tesela_rule *row = tesela_rule_of(prog_spyre(), rows[i].op, TESELA_FN_NONE, rows[i].operand);
    assert_int_equal(row->need, rows[i].need);
    assert_int_equal(row->yield, rows[i].yield);
  }
  tesela_target target =
      with_rule((tesela_rule){TESELA_OP_MATMUL, TESELA_FN_NONE, TESELA_RULE_ALL, TESELA_NEED_ANY,
                              TESELA_YIELD_ANY, -1, ""}); /* less specific than operand 0 */
  assert_int_equal(tesela_rule_of(&target, TESELA_OP_MATMUL, TESELA_FN_NONE, 0)->need,
                   TESELA_NEED_CONTRACTED);
  target.rule[0].yield = TESELA_YIELD_TARGET; /* a row for all operands says nothing of the result */
  target.rule[0].op = TESELA_OP_POINTWISE;
  assert_int_equal(tesela_rule_of(&target, TESELA_OP_POINTWISE, TESELA_FN_ADD, TESELA_RULE_RESULT)->yield,
                   TESELA_YIELD_ANY);
  target.rule[0].op = TESELA_OP_MATMUL;
  target.rule[0].operand = 0; /* as specific, and the target's */
  assert_ptr_equal(tesela_rule_of(&target, TESELA_OP_MATMUL, TESELA_FN_NONE, 0), &target.rule[0]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hints_narrow_and_price),
      cmocka_unit_test(hints_may_come_in_any_order),
      cmocka_unit_test(results_may_be_asked_softly),
      cmocka_unit_test(free_inputs_prefer_the_default),
      cmocka_unit_test(hints_that_no_layout_has_are_refused),
      cmocka_unit_test(rules_of_a_target_are_data),
      cmocka_unit_test(an_operand_may_have_to_lie_as_the_first),
      cmocka_unit_test(another_target_has_other_prices),
      cmocka_unit_test(rows_are_found_by_how_specific_they_are),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
