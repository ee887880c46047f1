/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_propagate_along.c - layouts of operators that run along a dim, of products, and of operators that the graph does not know
 * and rules know by their opcode: by rows, with the answer without rules, and rules in target files.
 *
 * Exhaustive search over random programs of these is in test_propagate_random.c.
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

#include "support_propagate.h"

/* ---- layouts ---- */

/* A program, without and with moves: cost (-1: no layout), and the stick of o. */
static const struct {
  const char *what, *program;
  int64_t strict, moved;
  int strict_stick, moved_stick;
} layouts[] = {
    {"lanes of a dim beside the line stay", "a = input f16[100,130] 1; o = sort a 0 7", 0, 0, 1, 1},
    {"lanes along the line go to another dim", "a = input f16[100,130] 1; o = sort a 1 7", -1, 100 * 192, -9,
     0},
    {"of the dims that are left the consumer takes one",
     "a = input f16[4,100,130] 2; b = input f16[4,100,130] 1; s = cum a 2; o = pw s b", -1, 4 * 100 * 192, -9,
     1},
    {"a line that is all there is has no layout", "a = input f16[130] 0; o = sort a 0 7", -1, -1, -9, -9},
    {"one element per stick is not in any lanes", "a = input f16[130] -; o = sort a 0 7", 0, 0, -1, -1},
    {"nor are dims of 1", "a = input f16[100,1] 1; o = rank a 1 1", 0, 0, -1, -1},
    {"the only other dim has one element", "a = input f16[1,130] 1; o = cum a 1", -1, -1, -9, -9},
    {"a view is seen as it is", "a = input f16[100,130] 0; t = permute a 1,0; o = sort t 0 7", 0, 0, 1, 1},
    {"a line that starts inside a stick", "a = input f16[3,8,200] 2; s = slice a 2 10 100 1; o = cum s 0", -1,
     3 * 8 * 256, -9, 1},
    {"indices in their own lanes", "a = input f16[100,130] 1; o = rank a 0 7", 0, 0, 1, 1},
    {"all operands of an unknown one", "a = input f16[64,64,8] 0; b = input f16[64,64,8] 1; o = line a b 2 3",
     -1, 32768, -9, -9},
    {"a product folds no lanes", "a = input f16[100,130] 1; o = prod a 1", -1, 100 * 192, -9, 0},
    {"a sum does", "a = input f16[100,130] 1; o = sum a 1", 0, 0, -1, -1},
    {"a product of other dims", "a = input f16[100,130] 1; o = prod a 0", 0, 0, 0, 0},
    {"a product of all dims has no layout", "a = input f16[100,130] 1; o = prod a 0,1", -1, -1, -9, -9},
    {"but of one element per stick", "a = input f16[100,130] -; o = prod a 0,1", 0, 0, -1, -1},
    {"a collective keeps the layout", "a = input f16[128,64] 0; o = keeps f16[128,64] a", 0, 0, 0, 0},
    {"so its operand moves if the result must",
     "a = input f16[128,64] 0; b = input f16[128,64] 1; r = keeps f16[128,64] a; o = pw r b", -1, 8192, -9,
     -9},
    {"all of its operands have its layout, the default if it costs no more",
     "a = input f16[128,64] 0; b = input f16[128,64] 1; o = keeps f16[128,64] a b", -1, 8192, -9, 1},
    {"a view of part of a stick moves",
     "a = input f16[64,200] 1; s = slice a 1 10 128 1; o = keeps f16[64,128] s", -1, 64 * 256, -9, 0},
    {"no collective has another shape", "a = input f16[128,64] 0; o = keeps f16[64,64] a", -1, -1, -9, -9},
    {"sums over whole sticks leave one element each", "a = input f16[64,130] 1; o = stats f16[64,1] a", 0, 0,
     -1, -1},
    {"the last dim is the stick", "a = input f16[64,130] 0; o = stats f16[64,1] a", -1, 130 * 64, -9, -1},
    {"the last dim of a view", "a = input f16[64,130] 0; t = permute a 1,0; o = stats f16[130] t", 0, 0, -1,
     -1},
    {"a norm has its last dim in sticks as well",
     "a = input f16[64,130] 1; w = input f16[130] 0; o = norm f16[64,130] a w", 0, 0, 1, 1},
    {"whatever that costs", "a = input f16[64,130] 0; w = input f16[130] 0; o = norm f16[64,130] a w", -1,
     130 * 64, -9, 1},
    {"of a norm of another shape nothing is known", "a = input f16[64,130] 1; o = norm f16[130,64] a", -1, -1,
     -9, -9},
    {"the parts of a layer norm", "a = input f16[64,130] 1; e = stats f16[64,1] a; o = norm f16[64,130] a e",
     0, 0, 1, 1},
    {"and where the stick dim has one element", "a = input f16[100,1] 1; o = prod a 1", 0, 0, -1, -1},
};

static void layouts_by_rows(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
    for (int moves = 0; moves < 2; moves++) {
      tesela_graph *g = prog_graph_of(layouts[i].program);
      int64_t cost = moves ? layouts[i].moved : layouts[i].strict;
      int32_t o = tesela_graph_find(g, "o"), stick = -9;
      int want = moves ? layouts[i].moved_stick : layouts[i].strict_stick;
      OK(tesela_graph_add_output(g, o, &e_));
      tesela_propagation *p = prog_propagate(g, prog_spyre(), moves ? prog_automatic : prog_strictly);
      tesela_propagate_facts facts = tesela_propagation_facts_of(p);
      if (facts.ok) OK(tesela_propagation_stick(p, o, &stick, &e_));
      if (facts.ok != (cost >= 0) || (facts.ok && facts.cost != cost) || (want != -9 && stick != want))
        fail_msg("%s: ok %d, cost %" PRId64 ", stick %d", layouts[i].what, facts.ok, facts.cost, (int)stick);
      tesela_propagation_destroy(p);
      tesela_graph_destroy(g);
    }
  }
}

static const struct {
  const char *program, *want;
  bool moves;
} reasons[] = {
    {"x = input f16[4,130] 1; t = sort x 1 5",
     "t: no layout of the result is compatible with operand 0\n"
     "  operand 0  x  f16[4,130]  lanes along dim 1   (stick 1)\n"
     "  operand 0 must have a dim along the stick that is neither folded nor run along, or use lane 0 only\n"
     "  would fix it: move x to stick 0 (768 elements)\n",
     false},
    {"x = input f16[130] 0; t = sort x 0 5",
     "t: no layout of the result is compatible with operand 0\n"
     "  operand 0  x  f16[130]  lanes along dim 0   (stick 0)\n"
     "  operand 0 must have a dim along the stick that is neither folded nor run along, or use lane 0 only\n"
     "  no moves of stick dims fix it: a clone, or another layout of an input, may; so may copies of "
     "views, and moves to and from one element per stick, which are off\n",
     true},
    {"x = input f16[64,130] 1; t = keeps f16[130] x",
     "t: no layout of the result is compatible with operand 0\n"
     "  operand 0  x  f16[64,130]  lanes along dim 1   (stick 1)\n"
     "  operand 0 must have the result's stick dim along the stick, or be broadcast along it from lane 0\n"
     "  operand 0 differs in shape from the result: all-reduce does not tell how their dims correspond, so "
     "it cannot meet this\n"
     "  no moves of stick dims fix it: a clone, or another layout of an input, may; so may copies of "
     "views, and moves to and from one element per stick, which are off\n",
     true},
    {"x = input f16[64,130] 0; t = stats f16[64,1] x",
     "t: no layout of the result is compatible with operand 0\n"
     "  operand 0  x  f16[64,130]  lanes along dim 0   (stick 0)\n"
     "  operand 0 must have its last dim along the stick\n"
     "  would fix it: move x to stick 1 (8320 elements)\n",
     false},
    {"x = input f16[64,130] 1; t = prod x 1",
     "t: no layout of the result is compatible with operand 0\n"
     "  operand 0  x  f16[64,130]  lanes along dim 1   (stick 1)\n"
     "  operand 0 must have a dim along the stick that is neither folded nor run along, or use lane 0 only\n"
     "  would fix it: move x to stick 0 (12288 elements)\n",
     false},
};

static void reasons_are_said(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
    char text[2000];
    tesela_buffer buffer = {text, sizeof text, 0};
    tesela_writer to = tesela_buffer_writer(&buffer);
    tesela_graph *g = prog_graph_of(reasons[i].program);
    tesela_propagation *p =
        prog_propagate(g, prog_spyre(), reasons[i].moves ? prog_automatic : prog_strictly);
    OK(tesela_propagation_explain(p, false, &to, &e_));
    assert_string_equal(text, reasons[i].want);
    tesela_propagation_destroy(p);
    tesela_graph_destroy(g);
  }
}

/* A target that can fold lanes with a product says so. */
static void a_target_may_allow_more(void **state) {
  (void)state;
  tesela_target target = *prog_spyre();
  tesela_graph *g = prog_graph_of("a = input f16[100,130] 1; o = prod a 1; s = sort a 1 3");
  OK(tesela_graph_add_output(g, 1, &e_));
  target.rule[target.n_rules++] = (tesela_rule){.op = TESELA_OP_REDUCE,
                                                .fn = TESELA_FN_PROD,
                                                .operand = TESELA_RULE_ALL,
                                                .need = TESELA_NEED_CLEAN,
                                                .price = -1};
  prog_check(g, &target, prog_automatic, true, 100 * 192, 1, "o", -1); /* the move is for the sort */
  target.rule[target.n_rules++] =
      (tesela_rule){.op = TESELA_OP_ALONG, .operand = 0, .need = TESELA_NEED_ANY, .price = 7};
  target.rule[target.n_rules++] = (tesela_rule){
      .op = TESELA_OP_ALONG, .operand = TESELA_RULE_RESULT, .yield = TESELA_YIELD_ANY, .price = -1};
  prog_check(g, &target, prog_strictly, true, 0, 0, "o", -1);
  tesela_graph_destroy(g);
}

/* ---- operators that the graph does not know ---- */

static tesela_rule by_opcode(tesela_op op, tesela_fn fn, int32_t operand, tesela_need need,
                             tesela_yield yield, const char *opcode) {
  tesela_rule rule = {.op = op, .fn = fn, .operand = operand, .need = need, .yield = yield, .price = -1};
  snprintf(rule.opcode, sizeof rule.opcode, "%s", opcode);
  return rule;
}

/* The most specific row counts: opcode, function, operand, whose it is. */
static void opcodes_make_rows_specific(void **state) {
  (void)state;
  tesela_target target = *prog_spyre();
  tesela_node node = {.op = TESELA_OP_FALLBACK, .opcode = "all-reduce"};
  assert_int_equal(tesela_rule_of_node(NULL, &node, 0)->need, TESELA_NEED_RESULT);
  assert_int_equal(tesela_rule_of_node(&target, &node, TESELA_RULE_RESULT)->yield, TESELA_YIELD_SURVIVES);
  assert_int_equal(tesela_rule_of(&target, TESELA_OP_FALLBACK, TESELA_FN_NONE, TESELA_RULE_RESULT)->yield,
                   TESELA_YIELD_DEFAULT);
  node.opcode = "exx2";
  assert_int_equal(tesela_rule_of_node(&target, &node, 0)->need, TESELA_NEED_LAST);
  assert_int_equal(tesela_rule_of_node(&target, &node, 1)->need, TESELA_NEED_ANY);
  assert_int_equal(tesela_rule_of_node(&target, &node, TESELA_RULE_RESULT)->yield, TESELA_YIELD_SPARSE);
  node.opcode = "exx";
  assert_int_equal(tesela_rule_of_node(&target, &node, 0)->need, TESELA_NEED_ANY);
  node.opcode = NULL;
  assert_int_equal(tesela_rule_of_node(&target, &node, 0)->need, TESELA_NEED_ANY);
  target.rule[target.n_rules++] =
      by_opcode(TESELA_OP_FALLBACK, TESELA_FN_NONE, 1, TESELA_NEED_DEFAULT, TESELA_YIELD_ANY, "");
  target.rule[target.n_rules++] = by_opcode(TESELA_OP_FALLBACK, TESELA_FN_NONE, TESELA_RULE_ALL,
                                            TESELA_NEED_CLEAN, TESELA_YIELD_ANY, "mine");
  target.rule[target.n_rules++] =
      by_opcode(TESELA_OP_FALLBACK, TESELA_FN_NONE, 0, TESELA_NEED_ANY, TESELA_YIELD_ANY, "exx2");
  OK(tesela_target_check(&target, &e_));
  node.opcode = "mine"; /* an opcode for all operands before an operand of all opcodes */
  assert_int_equal(tesela_rule_of_node(&target, &node, 1)->need, TESELA_NEED_CLEAN);
  node.opcode = "other";
  assert_int_equal(tesela_rule_of_node(&target, &node, 1)->need, TESELA_NEED_DEFAULT);
  node.opcode = "exx2"; /* a target's before the table's */
  assert_ptr_equal(tesela_rule_of_node(&target, &node, 0), &target.rule[2]);
  node = (tesela_node){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_FUSED, .opcode = "layernormnorm"};
  assert_int_equal(tesela_rule_of_node(&target, &node, 0)->need, TESELA_NEED_LAST);
  assert_int_equal(tesela_rule_of_node(&target, &node, 1)->need, TESELA_NEED_RESULT);
  assert_ptr_equal(tesela_rule_of_node(&target, &node, 1),
                   tesela_rule_of(NULL, TESELA_OP_POINTWISE, TESELA_FN_ADD, 1));
}

static void targets_with_bad_opcodes_are_refused(void **state) {
  (void)state;
  tesela_error err = {.message = ""};
  tesela_target target = *prog_spyre();
  target.rule[target.n_rules++] =
      by_opcode(TESELA_OP_MATMUL, TESELA_FN_NONE, 0, TESELA_NEED_ANY, TESELA_YIELD_ANY, "dot");
  assert_int_equal(tesela_target_check(&target, &err), TESELA_E_INVALID);
  assert_non_null(strstr(err.message, "opcode dot"));
  target.rule[0] = by_opcode(TESELA_OP_POINTWISE, TESELA_FN_ADD, 0, TESELA_NEED_ANY, TESELA_YIELD_ANY, "add");
  assert_int_equal(tesela_target_check(&target, NULL), TESELA_E_INVALID);
  target.rule[0].fn = TESELA_FN_FUSED;
  OK(tesela_target_check(&target, &e_));
  target.rule[0].op = TESELA_OP_ALONG;
  OK(tesela_target_check(&target, &e_));
  memset(target.rule[0].opcode, 'x', sizeof target.rule[0].opcode);
  assert_int_equal(tesela_target_check(&target, &err), TESELA_E_RANGE);
  assert_non_null(strstr(err.message, "not terminated"));
}

/* ---- target files ---- */

static tesela_status read_target(const char *lines, tesela_target *target, tesela_error *err) {
  char text[1000];
  int n = snprintf(text, sizeof text, "target t\nlike spyre\n%s", lines);
  return tesela_target_read(target, text, (size_t)n, err);
}

static void files_say_rules_by_opcode(void **state) {
  (void)state;
  tesela_target target, again;
  OK(read_target("rule fallback \"my op %\" all needs last costs 5\n"
                 "rule  fallback   \"my op %\"  result is sparse # and so on\n"
                 "rule pointwise \"gelu\" 1 needs unfolded\n"
                 "rule along.fused \"x\" result is any\n"
                 "rule fallback 0 needs clean\n",
                 &target, &e_));
  assert_int_equal(target.n_rules, 5);
  const tesela_rule *rule = target.rule;
  assert_true(rule[0].op == TESELA_OP_FALLBACK && rule[0].need == TESELA_NEED_LAST && rule[0].price == 5 &&
              rule[0].operand == TESELA_RULE_ALL);
  assert_string_equal(rule[0].opcode, "my op %");
  assert_true(rule[1].operand == TESELA_RULE_RESULT && rule[1].yield == TESELA_YIELD_SPARSE);
  assert_string_equal(rule[1].opcode, "my op %");
  assert_true(rule[2].op == TESELA_OP_POINTWISE && rule[2].fn == TESELA_FN_FUSED && rule[2].operand == 1 &&
              rule[2].need == TESELA_NEED_UNFOLDED);
  assert_string_equal(rule[2].opcode, "gelu");
  assert_true(rule[3].op == TESELA_OP_ALONG && rule[3].fn == TESELA_FN_FUSED);
  assert_string_equal(rule[4].opcode, "");
  char text[4000];
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  OK(tesela_target_print(&target, &to, &e_));
  assert_non_null(strstr(text, "rule            fallback \"my op %\" all needs last costs 5\n"));
  assert_non_null(strstr(text, "rule            pointwise.fused \"gelu\" 1 needs unfolded\n"));
  OK(tesela_target_read(&again, text, buffer.length, &e_));
  assert_int_equal(again.n_rules, 5);
  for (int k = 0; k < 5; k++) {
    const tesela_rule *a = &rule[k], *b = &again.rule[k];
    assert_true(a->op == b->op && a->fn == b->fn && a->operand == b->operand && a->need == b->need &&
                a->yield == b->yield && a->price == b->price && strcmp(a->opcode, b->opcode) == 0);
  }
}

static void files_with_bad_opcodes_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *line, *says;
    tesela_status status;
    int64_t at; /* byte of the line */
  } bad[] = {
      {"rule matmul \"dot\" 0 needs any", "matmul takes no opcode", TESELA_E_INVALID, 12},
      {"rule pointwise.add \"add\" 0 needs any", "pointwise takes no opcode", TESELA_E_INVALID, 19},
      {"rule fallback \"x 0 needs any", "lacks its closing quote", TESELA_E_SYNTAX, 14},
      {"rule fallback \"a # b\" 0 needs any", "lacks its closing quote", TESELA_E_SYNTAX, 14},
      {"rule fallback \"\" 0 needs any", "an opcode of 0 bytes", TESELA_E_LIMIT, 14},
      {"rule fallback \"0123456789012345678901234567890123456789012345678901234567890123\" 0 needs any",
       "an opcode of 64 bytes; expected 1 to 63", TESELA_E_LIMIT, 14},
      {"rule fallback \"x\" needs any", "expected the number of an operand, all, or result", TESELA_E_SYNTAX,
       18},
      {"rule fallback \"x\"", "found the end of the line", TESELA_E_SYNTAX, 17},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    tesela_target target = {.stick_bytes = 7};
    tesela_error err = {.message = ""};
    tesela_status status = read_target(bad[i].line, &target, &err);
    if (status != bad[i].status || !strstr(err.message, bad[i].says) || err.at != 20 + bad[i].at)
      fail_msg("%s: %d at %d: %s", bad[i].line, (int)status, (int)err.at, err.message);
    assert_int_equal(target.stick_bytes, 7);
  }
  tesela_target target = *prog_spyre();
  char text[4000];
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  for (const char *c = "\"#\n"; *c; c++) {
    target.rule[0] =
        by_opcode(TESELA_OP_FALLBACK, TESELA_FN_NONE, 0, TESELA_NEED_ANY, TESELA_YIELD_ANY, "a?b");
    target.n_rules = 1;
    target.rule[0].opcode[1] = *c;
    assert_int_equal(tesela_target_print(&target, &to, NULL), TESELA_E_UNSUPPORTED);
  }
}

/* The solver knows no opcode; a file says what "swish" needs, and its program has other layouts. */
static void a_file_steers_an_unknown_operator(void **state) {
  (void)state;
  static const struct {
    const char *rules;
    bool ok;
    int64_t cost;
    int32_t stick;
  } rows[] = {
      {"", true, 0, 1}, /* nothing is known: the default */
      {"rule fallback \"all-reduce\" result is default\nrule fallback \"all-reduce\" all needs any\n", true,
       0, 1},
      {"rule fallback \"all-reduce\" all needs last\n", true, 8192, 1},
      {"rule fallback \"all-reduce\" all needs last costs 9\nrule fallback \"all-reduce\" result is any\n",
       true, 9, 1},
      {"rule fallback \"all-reduce\" result is sparse\nrule fallback \"all-reduce\" 0 needs clean\n", true, 0,
       -1},
      {"rule fallback \"all-gather\" all needs last\n", true, 0, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tesela_target target;
    tesela_graph *g = prog_graph_of(i == 0 ? "a = input f16[128,64] 0; o = fallback f16[128,64] a"
                                           : "a = input f16[128,64] 0; o = keeps f16[128,64] a");
    OK(tesela_graph_add_output(g, 1, &e_));
    OK(read_target(rows[i].rules, &target, &e_));
    prog_check(g, &target, prog_automatic, rows[i].ok, rows[i].cost, rows[i].cost > 100, "o", rows[i].stick);
    tesela_graph_destroy(g);
  }
}

static void lists_of_needs_have_names(void **state) {
  (void)state;
  assert_int_equal(tesela_need_find("unfolded", 8), TESELA_NEED_UNFOLDED);
  assert_int_equal(tesela_need_find("last", 4), TESELA_NEED_LAST);
  assert_int_equal(tesela_yield_find("sparse", 6), TESELA_YIELD_SPARSE);
  assert_int_equal(tesela_op_find("along", 5), TESELA_OP_ALONG);
  assert_int_equal(tesela_fn_find("argsort", 7), TESELA_FN_ARGSORT);
  assert_int_equal(tesela_fn_operands(TESELA_FN_SORT), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(layouts_by_rows),
      cmocka_unit_test(reasons_are_said),
      cmocka_unit_test(a_target_may_allow_more),
      cmocka_unit_test(opcodes_make_rows_specific),
      cmocka_unit_test(targets_with_bad_opcodes_are_refused),
      cmocka_unit_test(files_say_rules_by_opcode),
      cmocka_unit_test(files_with_bad_opcodes_are_refused),
      cmocka_unit_test(a_file_steers_an_unknown_operator),
      cmocka_unit_test(lists_of_needs_have_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
