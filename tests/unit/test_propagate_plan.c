/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_propagate_plan.c - the results of a propagation: moves, shared ones too, the graph with its moves, explanations;
 * refusals; allocations that fail.
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

#include "support_fault.h"
#include "support_propagate.h"

static int append(void *user, const char *text, size_t length) {
  char *whole = user;
  size_t used = strlen(whole);
  assert_true(used + length < 4096);
  memcpy(whole + used, text, length);
  whole[used + length] = '\0';
  return 0;
}

static int refuse(void *user, const char *text, size_t length) {
  (void)user;
  (void)text;
  (void)length;
  return 1;
}

static const char *explained(const tesela_propagation *p, char text[4096]) {
  tesela_writer writer = {append, text};
  text[0] = '\0';
  OK(tesela_propagation_explain(p, true, &writer, &e_));
  return text;
}

/* ---- moves ---- */

static int64_t cheap_to_dim_1(void *user, const tesela_device_layout *from, const tesela_device_layout *to) {
  (void)from;
  return tesela_device_stick(to) == 1 ? *(const int64_t *)user : 1000;
}

static void the_caller_may_say_prices(void **state) {
  (void)state;
  int64_t price = 5;
  tesela_propagate_options options = {.mode = TESELA_PROPAGATE_AUTO, .price = cheap_to_dim_1, .user = &price};
  tesela_graph *graph = prog_graph_of("a = input f16[64,128] 1; x = input f16[64,128] 0; o = pw a x");
  prog_check(graph, prog_spyre(), options, true, 5, 1, "o", 1);
  price = 0;
  prog_check(graph, prog_spyre(), options, true, 0, 1, "o", 1);
  price = -1;
  tesela_propagation *p = NULL;
  assert_int_equal(tesela_graph_propagate(&p, graph, prog_spyre(), &options, NULL), TESELA_E_RANGE);
  price = INT64_MAX;
  assert_int_equal(tesela_graph_propagate(&p, graph, prog_spyre(), &options, NULL), TESELA_E_LIMIT);
  assert_null(p);
  tesela_graph_destroy(graph);
}

static void copies_are_shared_if_asked(void **state) {
  (void)state;
  tesela_graph *graph =
      prog_graph_of("x = input f16[64,64] 1; y = input f16[64,64] 0; z = input f16[64,64] 0\n"
                    "x_t = permute x 1,0; a = matmul x_t x; b = matmul x_t x; c = matmul x_t y");
  /* x_t must lie along dim 0 of x each time; y along dim 1 */
  prog_check(graph, prog_spyre(), prog_automatic, true, 4 * 4096, 4, "c", 1);
  tesela_propagate_options share = {.mode = TESELA_PROPAGATE_AUTO, .share = true};
  prog_check(graph, prog_spyre(), share, true, 2 * 4096, 2, "c", 1);
  tesela_propagation *p = prog_propagate(graph, prog_spyre(), share);
  static const tesela_move moves[] = {{4, 0, 0, 1, 0, 4096, -1, -1},
                                      {5, 0, 0, 1, 0, 0, 0, -1},
                                      {6, 0, 0, 1, 0, 0, 0, -1},
                                      {6, 1, 1, 0, 1, 4096, -1, -1}};
  for (int32_t k = 0; k < 4; k++) {
    const tesela_move *move = tesela_propagation_move(p, k);
    assert_non_null(move);
    if (move->node != moves[k].node || move->operand != moves[k].operand || move->buffer != moves[k].buffer ||
        move->from != moves[k].from || move->to != moves[k].to || move->price != moves[k].price ||
        move->shared != moves[k].shared || move->view != moves[k].view)
      fail_msg("move %d: node %d operand %d buffer %d", (int)k, (int)move->node, (int)move->operand,
               (int)move->buffer);
  }
  assert_null(tesela_propagation_move(p, 4));
  assert_null(tesela_propagation_move(p, -1));
  tesela_propagation_destroy(p);
  tesela_graph_destroy(graph);
}

/* ---- the program with its moves ---- */

static void print_graph(const tesela_graph *graph, char text[4096]) {
  text[0] = '\0';
  for (int32_t k = 0; k < tesela_graph_count(graph); k++) {
    const tesela_node *node = tesela_graph_node(graph, k);
    char line[400], stick[16] = "";
    if (node->layout) snprintf(stick, sizeof stick, "{%d}", (int)tesela_device_stick(node->layout));
    snprintf(line, sizeof line, "%s%s = %s", node->name, stick, tesela_op_name(node->op));
    for (int32_t i = 0; i < node->n_operands; i++)
      snprintf(line + strlen(line), sizeof line - strlen(line), " %s",
               tesela_graph_node(graph, node->operand[i])->name);
    append(text, line, strlen(line));
    append(text, node->output ? "!\n" : "\n", node->output ? 2 : 1);
  }
}

static void moves_become_nodes(void **state) {
  (void)state;
  static const struct {
    const char *program, *output, *applied;
    bool share;
  } rows[] = {
      {"a = input f16[256,128] 1; x = input f16[128,256] 1; a_t = permute a 1,0; t1 = pw a_t x; t2 = pw t1 x",
       "t2",
       "a{1} = input\nx{1} = input\na_t = permute a\na.stick0{0} = move a\na_t.stick0 = permute a.stick0\n"
       "t1{1} = pointwise a_t.stick0 x\nt2{1} = pointwise t1 x!\n",
       false},
      /* the name is taken by a later node; two copies, or one */
      {"x = input f16[64,64] 1; t = permute x 1,0; a = matmul t x; x.stick0 = matmul t x", "a",
       "x{1} = input\nt = permute x\nx.stick0.2{0} = move x\nt.stick0 = permute x.stick0.2\na{1} = matmul "
       "t.stick0 x!\n"
       "x.stick0.3{0} = move x\nt.stick0.2 = permute x.stick0.3\nx.stick0{1} = matmul t.stick0.2 x\n",
       false},
      {"x = input f16[64,64] 1; t = permute x 1,0; a = matmul t x; x.stick0 = matmul t x", "x.stick0",
       "x{1} = input\nt = permute x\nx.stick0.2{0} = move x\nt.stick0 = permute x.stick0.2\na{1} = matmul "
       "t.stick0 x\n"
       "x.stick0{1} = matmul t.stick0 x!\n",
       true},
      /* an input that is free takes its stick; what is written in place keeps its buffer; the copy is of the later value */
      {"x = input f16[64,64] ?; p = constant f16[64,64]; w = write! x p 0,0; t = permute w 1,0; o = matmul t "
       "w",
       "w",
       "x{1} = input\np{1} = constant\nw = write x p!\nt = permute w\nw.stick0{0} = move w\nt.stick0 = "
       "permute w.stick0\n"
       "o{1} = matmul t.stick0 w\n",
       true},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[4096];
    tesela_graph *graph = prog_graph_of(rows[i].program), *applied;
    OK(tesela_graph_add_output(graph, tesela_graph_find(graph, rows[i].output), &e_));
    prog_add_hint(graph, TESELA_HINT_FORBID,
                  rows[i].share                       ? "x"
                  : tesela_graph_node(graph, 1)->view ? "x"
                                                      : "t2",
                  TESELA_STICK_SPARSE, -1, 0);
    tesela_propagate_options options = {.mode = TESELA_PROPAGATE_AUTO, .share = rows[i].share};
    tesela_propagation *p = prog_propagate(graph, prog_spyre(), options);
    OK(tesela_graph_apply(&applied, p, &e_));
    print_graph(applied, text);
    if (strcmp(text, rows[i].applied) != 0) fail_msg("%s", text);
    for (int32_t k = 0; k < tesela_graph_count(applied); k++) { /* inputs come in what they have now */
      const tesela_node *node = tesela_graph_node(applied, k);
      if (node->op == TESELA_OP_INPUT) assert_int_equal(node->stick, tesela_device_stick(node->layout));
    }
    assert_int_equal(tesela_graph_hint_count(applied), 1);
    assert_string_equal(tesela_graph_node(applied, tesela_graph_hint_at(applied, 0)->node)->name,
                        tesela_graph_node(graph, tesela_graph_hint_at(graph, 0)->node)->name);
    tesela_propagation_destroy(p);
    prog_check(applied, prog_spyre(), prog_strictly, true, 0, 0, "x", -9);
    tesela_graph_destroy(applied);
    tesela_graph_destroy(graph);
  }
}

/* ---- why ---- */

/* Each of many operators has a copy of its own: names are numbered, and looked for only once. */
static void many_moves_of_one_value(void **state) {
  (void)state;
  enum { MANY = 4000 };
  tesela_graph *graph = prog_graph_of("a = input f16[64,64] 1; x = input f16[64,64] 1; t = permute a 1,0"),
               *applied;
  for (int32_t i = 0; i < MANY; i++) {
    int32_t operand[] = {2, 1};
    tesela_node_spec spec = {.op = TESELA_OP_MATMUL, .n_operands = 2, .operand = operand};
    OK(tesela_graph_add(graph, &spec, NULL, &e_));
  }
  tesela_propagation *p = prog_propagate(graph, prog_spyre(), prog_automatic);
  assert_int_equal(tesela_propagation_facts_of(p).n_moves, MANY);
  OK(tesela_graph_apply(&applied, p, &e_));
  assert_int_equal(tesela_graph_count(applied), 3 + 3 * MANY); /* a copy, its permutation and the product */
  assert_int_equal(tesela_graph_node(applied, tesela_graph_find(applied, "a.stick0"))->op, TESELA_OP_MOVE);
  for (int32_t i = 2; i <= MANY; i++) {
    char name[32];
    snprintf(name, sizeof name, "a.stick0.%" PRId32, i);
    assert_int_equal(tesela_graph_find(applied, name), 3 + 3 * (i - 1));
    snprintf(name, sizeof name, "t.stick0.%" PRId32, i);
    assert_int_equal(tesela_graph_find(applied, name), 4 + 3 * (i - 1));
  }
  tesela_graph_destroy(applied);
  tesela_propagation_destroy(p);
  tesela_graph_destroy(graph);
}

static void answers_say_why(void **state) {
  (void)state;
  static const struct {
    const char *program, *text;
    bool moves, share;
  } rows[] = {
      {"a = input f16[256,128] 1; x = input f16[128,256] 1; a_t = permute a 1,0; t1 = pw a_t x",
       "t1: no layout is compatible with all operands\n"
       "  operand 0  a_t  f16[128,256]  lanes along dim 0   (buffer a f16[256,128], stick 1)\n"
       "  operand 1  x    f16[128,256]  lanes along dim 1   (stick 1)\n"
       "  each operand must have the result's stick dim along the stick, or be broadcast along it from lane "
       "0\n"
       "  would fix it: move x to stick 0 (32768 elements), or a to stick 0 (32768 elements)\n",
       false, false},
      {"a = input f16[256,128] 1; x = input f16[128,256] 1; a_t = permute a 1,0; t1 = pw a_t x; t2 = pw x "
       "a_t",
       "cost 32768: 32768 elements in 1 move\n"
       "bound 32768: no plan is cheaper\n"
       "4 buffers, 0 of them left to the search\n"
       "  node  operand  buffer  from -> to          price\n"
       "  t1    0        a       stick 1 -> stick 0  32768\n"
       "  t2    1        a       stick 1 -> stick 0  0, the copy exists\n",
       true, true},
      {"x = input f16[64,15,384] 2; v = slice x 2 100 128 1; o = pw v",
       "o: no layout of the result is compatible with operand 0\n"
       "  operand 0  v  f16[64,15,128]  lanes along dim 2 from lane 36 on   (buffer x f16[64,15,384], stick "
       "2)\n"
       "  operand 0 must have the result's stick dim along the stick, or be broadcast along it from lane 0\n"
       "  would fix it: move x to stick 0 (368640 elements), or x to stick 1 (368640 elements)\n",
       false, false},
      {"a = input f16[128,128,128] 2; b = input f16[128,128] 1; t = sum a 2; o = pw t b",
       "o: no layout is compatible with all operands\n"
       "  operand 0  t  f16[128,128]  always lane 0   (one element per stick)\n"
       "  operand 1  b  f16[128,128]  lanes along dim 1   (stick 1)\n"
       "  each operand must have the result's stick dim along the stick, or be broadcast along it from lane "
       "0\n"
       "  would fix it: move a to stick 1 (2097152 elements) before t\n",
       false, false},
      {"a = input f16[128,96] 1; b = input f16[128,32] 1; o = cat 1 a b",
       "o: no layout of the result is compatible with operand 1\n"
       "  operand 0  a  f16[128,96]  lanes along dim 1   (stick 1)\n"
       "  operand 1  b  f16[128,32]  lanes along dim 1   (stick 1)\n"
       "  each operand must satisfy the rule 'result', and its part of the result must start on a stick\n"
       "  would fix it: move a to stick 0 (16384 elements) and b to stick 0 (8192 elements)\n",
       false, false},
      {"e = input f16[1000,128] 0; i = input s32[7] 0; o = gather e i 0",
       "o: no layout of the result is compatible with operand 0\n"
       "  operand 0  e  f16[1000,128]  lanes along dim 0   (stick 0)\n"
       "  operand 1  i  s32[7]         lanes along dim 0   (stick 0)\n"
       "  operand 0 must satisfy the rule 'result' without the indexed dim along the stick\n"
       "  would fix it: move e to stick 1 (131072 elements)\n",
       false, false},
      {"x = input f16[5] -; a = input f16[5] 0; o = pw a x",
       "o: no layout is compatible with all operands\n"
       "  operand 0  a  f16[5]  lanes along dim 0   (stick 0)\n"
       "  operand 1  x  f16[5]  always lane 0   (one element per stick)\n"
       "  each operand must have the result's stick dim along the stick, or be broadcast along it from lane "
       "0\n"
       "  no moves of stick dims fix it: a clone, or another layout of an input, may; so may copies of "
       "views, and moves to and from one element per stick, which are off\n",
       true, false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[4096];
    tesela_graph *graph = prog_graph_of(rows[i].program);
    tesela_propagate_options options = {
        .mode = rows[i].moves ? TESELA_PROPAGATE_AUTO : TESELA_PROPAGATE_STRICT, .share = rows[i].share};
    tesela_propagation *p = prog_propagate(graph, prog_spyre(), options);
    if (strcmp(explained(p, text), rows[i].text) != 0) fail_msg("%s:\n%s", rows[i].program, text);
    tesela_writer stop = {refuse, NULL};
    assert_int_equal(tesela_propagation_explain(p, false, &stop, NULL), TESELA_E_STOPPED);
    tesela_propagation_destroy(p);
    tesela_graph_destroy(graph);
  }
}

/* A clone has the default layout; a hint wants another. */
static void a_result_may_be_to_blame(void **state) {
  (void)state;
  char text[4096];
  tesela_graph *graph = prog_graph_of("x = input f16[64,64] 0; y = clone x; z = pw x");
  prog_add_hint(graph, TESELA_HINT_REQUIRE, "z", 1, -1, 0);
  tesela_propagation *p = prog_propagate(graph, prog_spyre(), prog_strictly);
  assert_int_equal(tesela_propagation_facts_of(p).error_node, 2);
  assert_int_equal(tesela_propagation_facts_of(p).error_operand, 0);
  tesela_propagation_destroy(p);
  prog_add_hint(graph, TESELA_HINT_REQUIRE, "y", 0, -1, 0);
  p = prog_propagate(graph, prog_spyre(), prog_automatic);
  assert_int_equal(tesela_propagation_facts_of(p).error_node, 1);
  assert_int_equal(tesela_propagation_facts_of(p).error_operand, -1);
  assert_string_equal(
      explained(p, text),
      "y: no compatible layout\n"
      "  operand 0  x  f16[64,64]  lanes along dim 0   (stick 0)\n"
      "  result: the target's default layout; hints, or a layout that is set or written to, exclude all of "
      "these\n"
      "  no moves of stick dims fix it: a clone, or another layout of an input, may; so may copies of views, "
      "and moves to and from one element per stick, which are off\n");
  tesela_propagation_destroy(p);
  tesela_graph_destroy(graph);
}

static void the_operand_to_blame_is_named(void **state) {
  (void)state;
  static const struct {
    const char *program;
    int32_t node, operand;
  } rows[] = {
      {"x = input f16[64,64] 0; y = input f16[64,64] 1; o = matmul x y", 2, 0},
      {"x = input f16[64,64] 1; y = input f16[64,64] 0; o = matmul x y", 2, 1},
      {"x = input f16[64,64] 1; y = input f16[64,64] 0; o = pw x y", 2, -1},
      {"x = input f16[64,64] 0; p = pw x; y = input f16[64,64] 1; o = pw x y; q = matmul x y", 3, -1},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tesela_graph *graph = prog_graph_of(rows[i].program);
    tesela_propagation *p = prog_propagate(graph, prog_spyre(), prog_strictly);
    tesela_propagate_facts facts = tesela_propagation_facts_of(p);
    if (facts.ok || facts.error_node != rows[i].node || facts.error_operand != rows[i].operand)
      fail_msg("%s: node %d operand %d", rows[i].program, (int)facts.error_node, (int)facts.error_operand);
    int32_t stick = 77;
    tesela_graph *applied = NULL;
    assert_int_equal(tesela_propagation_stick(p, 0, &stick, NULL), TESELA_E_UNSUPPORTED);
    assert_int_equal(tesela_graph_apply(&applied, p, NULL), TESELA_E_UNSUPPORTED);
    assert_null(applied);
    assert_int_equal(stick, 77);
    assert_int_equal(tesela_propagation_sticks(p, 0, 1, &stick), 0);
    tesela_propagation_destroy(p);
    tesela_graph_destroy(graph);
  }
}

/* ---- refusals ---- */

static void what_cannot_be_asked_is_refused(void **state) {
  (void)state;
  tesela_propagation *p = NULL;
  tesela_error err;
  static const struct {
    const char *program, *target, *message;
    tesela_status status;
  } rows[] = {
      {"x = input f64[4] 0; y = pw x", "spyre", "x: ", TESELA_E_UNSUPPORTED},
      {"x = input f16[4] 0; y = cast c64 x", "spyre", "y: ", TESELA_E_UNSUPPORTED},
      {"x = input f16[2,2,2,2,2,2] 0; y = unsqueeze x 0; z = clone y", "spyre", "z: ", TESELA_E_LIMIT},
      {"x = input f16[4] -; y = pw x", "tiles", "input x has stick -1", TESELA_E_INVALID},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    prog text;
    tesela_graph *graph;
    prog_read(&text, rows[i].program);
    if (prog_graph(&text, &graph, NULL) != TESELA_OK)
      continue; /* rank 7 is more than programs as text have */
    tesela_status status = tesela_graph_propagate(&p, graph, tesela_target_find(rows[i].target), NULL, &err);
    if (status != rows[i].status || strncmp(err.message, rows[i].message, strlen(rows[i].message)) != 0)
      fail_msg("%s: %d %s", rows[i].program, (int)status, err.message);
    tesela_graph_destroy(graph);
  }
  tesela_graph *graph = prog_graph_of("x = input f16[4] 0; y = pw x");
  tesela_target broken = *prog_spyre();
  broken.stick_bytes = 0;
  assert_int_not_equal(tesela_graph_propagate(&p, graph, &broken, NULL, NULL), TESELA_OK);
  tesela_propagate_options options = {.effort = -1};
  assert_int_equal(tesela_graph_propagate(&p, graph, prog_spyre(), &options, NULL), TESELA_E_RANGE);
  options = (tesela_propagate_options){.mode = (tesela_propagate_mode)9};
  assert_int_equal(tesela_graph_propagate(&p, graph, prog_spyre(), &options, NULL), TESELA_E_RANGE);
  assert_null(p);
  OK(tesela_graph_propagate(&p, graph, prog_spyre(), NULL, &e_)); /* strict */
  int32_t stick = 77;
  assert_int_equal(tesela_propagation_stick(p, 2, &stick, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_propagation_stick(p, -1, &stick, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_propagation_sticks(p, 5, 1, &stick), 0);
  tesela_device_layout layout = {.lanes = 77};
  assert_int_equal(tesela_propagation_layout(p, 2, 0, &layout, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_propagation_layout(p, 0, 1, &layout, NULL), TESELA_E_RANGE);
  assert_int_equal(layout.lanes, 77);
  assert_int_equal(stick, 77);
  tesela_propagation_destroy(p);
  tesela_propagation_destroy(NULL);
  tesela_graph_destroy(graph);
  OK(tesela_graph_create(&graph, NULL, &e_)); /* a program without nodes */
  OK(tesela_graph_propagate(&p, graph, prog_spyre(), &prog_automatic, &e_));
  assert_true(tesela_propagation_facts_of(p).ok);
  tesela_propagation_destroy(p);
  tesela_graph_destroy(graph);
}

/* ---- memory ---- */

static void allocations_may_fail(void **state) {
  (void)state;
  static const char *const programs[] = {
      "x = input f16[64,64] ?; p = constant f16[64,64]; w = write! x p 0,0; t = permute w 1,0; o = matmul t "
      "w; q = matmul t w; "
      "y = input f16[64,64] 1; a = pw y t; b = pw y w; c = pw a b; d = pw t b",
      "a = input f16[256,128] 1; x = input f16[128,256] 1; a_t = permute a 1,0; t1 = pw a_t x; t2 = pw t1 "
      "a_t",
  };
  for (int kind = 0; kind < 2; kind++) {
    tesela_graph *graph = prog_graph_of(programs[kind]);
    OK(tesela_graph_add_output(graph, tesela_graph_count(graph) - 1, &e_));
    prog_add_hint(graph, TESELA_HINT_PREFER, "x", 1, -1, 3);
    for (long n = 0;; n++) {
      char text[4096] = "";
      fault f = {.countdown = n};
      tesela_allocator allocator = fault_allocator(&f);
      tesela_propagation *p = NULL;
      tesela_graph *applied = NULL;
      tesela_writer writer = {append, text};
      tesela_propagate_options options = {.mode = kind == 0 ? TESELA_PROPAGATE_AUTO : TESELA_PROPAGATE_STRICT,
                                          .share = true,
                                          .all_sticks = true,
                                          .allocator = &allocator};
      tesela_status status = tesela_graph_propagate(&p, graph, prog_spyre(), &options, NULL);
      assert_true((status == TESELA_OK) == (p != NULL));
      if (status == TESELA_OK) status = tesela_propagation_explain(p, true, &writer, NULL);
      if (status == TESELA_OK && kind == 0) status = tesela_graph_apply(&applied, p, NULL);
      tesela_graph_destroy(applied);
      tesela_propagation_destroy(p);
      assert_int_equal(f.live, 0);
      if (status == TESELA_OK) {
        assert_true(n > 20);
        break;
      }
      assert_int_equal(status, TESELA_E_MEMORY);
    }
    tesela_graph_destroy(graph);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_caller_may_say_prices),
      cmocka_unit_test(copies_are_shared_if_asked),
      cmocka_unit_test(moves_become_nodes),
      cmocka_unit_test(many_moves_of_one_value),
      cmocka_unit_test(answers_say_why),
      cmocka_unit_test(a_result_may_be_to_blame),
      cmocka_unit_test(the_operand_to_blame_is_named),
      cmocka_unit_test(what_cannot_be_asked_is_refused),
      cmocka_unit_test(allocations_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
