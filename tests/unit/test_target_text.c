/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_target_text.c - target files: each key, what is printed, what is refused and where.
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

enum { TEXT = 32768 };

static tesela_target read_one(const char *text) {
  tesela_target target;
  tesela_error err = {.message = ""};
  if (tesela_target_read(&target, text, strlen(text), &err) != TESELA_OK)
    fail_msg("%s: %s", text, err.message);
  return target;
}

/* Field by field: rows after those in use may hold anything. */
static void check_equal(const tesela_target *a, const tesela_target *b, const char *what) {
  bool same =
      strcmp(a->name, b->name) == 0 && a->stick_bytes == b->stick_bytes && a->alignment == b->alignment &&
      a->max_rank == b->max_rank && a->order == b->order && a->n_tiles == b->n_tiles &&
      a->sparse == b->sparse && a->keep_host_bytes == b->keep_host_bytes && a->n_types == b->n_types &&
      a->n_rules == b->n_rules && a->cores == b->cores && a->scratchpad_bytes == b->scratchpad_bytes &&
      a->dma.max_dims == b->dma.max_dims && a->dma.max_extent == b->dma.max_extent &&
      a->dma.alignment == b->dma.alignment && a->dma.min_burst == b->dma.min_burst &&
      a->dma.max_burst == b->dma.max_burst && a->dma.max_nests == b->dma.max_nests;
  for (int32_t k = 0; same && k < a->n_tiles; k++)
    same = a->tile[k][0] == b->tile[k][0] && a->tile[k][1] == b->tile[k][1];
  for (int32_t k = 0; same && k < a->n_types; k++)
    same = a->type[k].host == b->type[k].host && a->type[k].device == b->type[k].device &&
           a->type[k].device_bits == b->type[k].device_bits;
  for (int32_t k = 0; same && k < a->n_rules; k++)
    same = a->rule[k].op == b->rule[k].op && a->rule[k].fn == b->rule[k].fn &&
           a->rule[k].operand == b->rule[k].operand && a->rule[k].need == b->rule[k].need &&
           a->rule[k].yield == b->rule[k].yield && a->rule[k].price == b->rule[k].price;
  if (!same) fail_msg("%s: targets differ", what);
}

static void print_one(const tesela_target *target, char text[TEXT]) {
  tesela_buffer buffer = {text, TEXT, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  tesela_error err = {.message = ""};
  if (tesela_target_print(target, &to, &err) != TESELA_OK) fail_msg("%s: %s", target->name, err.message);
  assert_true(buffer.length < TEXT);
}

static void check_round_trip(const tesela_target *target) {
  char text[TEXT], again[TEXT];
  print_one(target, text);
  tesela_target back = read_one(text);
  check_equal(target, &back, text);
  print_one(&back, again);
  assert_string_equal(text, again);
}

/* ---- reading -------------------------------------------------------------------------------------------------- */

static void every_key_is_read(void **state) {
  (void)state;
  tesela_target t = read_one(
      "# a target\n\n"
      "  target     my-own.2      # its name\r\n"
      "like spyre\n"
      "stick\t64\n"
      "alignment  4096\n"
      "max_rank   8\n"
      "order      tiles 32x32 16x16\n"
      "type       s64 -> s64\n"
      "type       s8->s8 in 32\n"
      "sparse     no\n"
      "keep_host_bytes no\n"
      "cores      8\n"
      "scratchpad 1048576\n"
      "dma        max_dims=4 max_extent=65535 alignment = 64 min_burst=32 max_burst=4096 max_nests=1024\n"
      "rule       matmul 0 needs contracted\n"
      "rule       pointwise.exp all needs any costs 100\n"
      "rule       reduce result is survives");
  assert_string_equal(t.name, "my-own.2");
  assert_int_equal(t.stick_bytes, 64);
  assert_int_equal(t.alignment, 4096);
  assert_int_equal(t.max_rank, 8);
  assert_int_equal(t.order, TESELA_ORDER_TILES);
  assert_int_equal(t.n_tiles, 2);
  assert_int_equal(t.tile[0][0], 32);
  assert_int_equal(t.tile[1][1], 16);
  assert_false(t.sparse);
  assert_false(t.keep_host_bytes);
  assert_int_equal(t.cores, 8);
  assert_int_equal(t.scratchpad_bytes, 1048576);
  assert_int_equal(t.dma.max_dims, 4);
  assert_int_equal(t.dma.max_extent, 65535);
  assert_int_equal(t.dma.alignment, 64);
  assert_int_equal(t.dma.min_burst, 32);
  assert_int_equal(t.dma.max_burst, 4096);
  assert_int_equal(t.dma.max_nests, 1024);
  tesela_target_type type;
  int64_t lanes;
  assert_int_equal(tesela_target_type_of(&t, TESELA_S64, &type, &lanes, NULL), TESELA_OK);
  assert_true(type.device == TESELA_S64 && type.device_bits == 64 && lanes == 8);
  assert_int_equal(tesela_target_type_of(&t, TESELA_S8, &type, &lanes, NULL), TESELA_OK);
  assert_true(type.device == TESELA_S8 && type.device_bits == 32 && lanes == 16);
  assert_int_equal(tesela_target_type_of(&t, TESELA_BF16, &type, &lanes, NULL), TESELA_OK); /* of spyre */
  assert_true(type.device == TESELA_F16);
  const tesela_target *spyre = tesela_target_find("spyre");
  assert_int_equal(t.n_types, spyre->n_types);
  assert_int_equal(t.n_rules, spyre->n_rules + 3);
  const tesela_rule *rule = &t.rule[spyre->n_rules];
  assert_true(rule[0].op == TESELA_OP_MATMUL && rule[0].fn == TESELA_FN_NONE && rule[0].operand == 0);
  assert_true(rule[0].need == TESELA_NEED_CONTRACTED && rule[0].price == -1);
  assert_true(rule[1].op == TESELA_OP_POINTWISE && rule[1].fn == TESELA_FN_EXP &&
              rule[1].operand == TESELA_RULE_ALL);
  assert_true(rule[1].need == TESELA_NEED_ANY && rule[1].price == 100);
  assert_true(rule[2].op == TESELA_OP_REDUCE && rule[2].operand == TESELA_RULE_RESULT &&
              rule[2].yield == TESELA_YIELD_SURVIVES);
  check_round_trip(&t);
}

static void what_is_not_said_comes_from_the_base(void **state) {
  (void)state;
  tesela_target plain, t = read_one("target plain");
  assert_int_equal(tesela_target_plain(&plain, 128, NULL), TESELA_OK);
  check_equal(&t, &plain, "plain");
  t = read_one("target t\nstick 64\n");
  assert_int_equal(t.alignment, 64); /* follows the sticks by default */
  t = read_one("target t\nalignment 32\nstick 64\n");
  assert_int_equal(t.alignment, 32);
  t = read_one("target tiles\nlike tiles");
  check_equal(&t, tesela_target_find("tiles"), "tiles");
  t = read_one("target t\nlike tiles\norder generic");
  assert_int_equal(t.n_tiles, 0);
  t = read_one("target t\ntype none\ntype f32 -> f32\nrule none\n");
  assert_int_equal(t.n_types, 1);
  assert_int_equal(t.n_rules, 0);
  t = read_one("target t\ntype f32 -> f16\ntype f32 -> f32\n"); /* the later one */
  assert_int_equal(t.n_types, plain.n_types);
}

static void built_in_targets_print_and_read(void **state) {
  (void)state;
  char text[TEXT];
  for (int32_t k = 0; tesela_target_at(k); k++) check_round_trip(tesela_target_at(k));
  tesela_target plain;
  assert_int_equal(tesela_target_plain(&plain, 1 << 20, NULL), TESELA_OK);
  check_round_trip(&plain);
  /* By hand. */
  tesela_target small = read_one(
      "target small\ntype none\ntype s8 -> s8 in 32\ntype f16 -> f16\nrule cat 3 needs seam costs 0");
  print_one(&small, text);
  assert_string_equal(
      text, "target          small\n"
            "stick           128\n"
            "alignment       128\n"
            "max_rank        32\n"
            "order           generic\n"
            "type            none\n"
            "type            s8 -> s8 in 32\n"
            "type            f16 -> f16\n"
            "sparse          yes\n"
            "keep_host_bytes yes\n"
            "cores           32\n"
            "scratchpad      2097152\n"
            "dma             max_dims=0 max_extent=0 alignment=0 min_burst=0 max_burst=0 max_nests=0\n"
            "rule            cat 3 needs seam costs 0\n");
}

/* Each name of the tables is a word of the language, and means itself. */
static void every_name_reads_back(void **state) {
  (void)state;
  tesela_target t = read_one("target t\nrule none");
  for (int32_t op = 0; tesela_op_name((tesela_op)op); op++) {
    t.n_rules = 0;
    for (int32_t i = 0; i < TESELA_TARGET_RULES; i++) {
      tesela_rule rule = {.op = (tesela_op)op, .price = i % 3 - 1, .operand = i % 5 - 2};
      if (tesela_fn_name((tesela_fn)i)) rule.fn = (tesela_fn)i;
      if (rule.operand == TESELA_RULE_RESULT)
        rule.yield = (tesela_yield)(i % 5);
      else
        rule.need = (tesela_need)(i % 9);
      t.rule[t.n_rules++] = rule;
    }
    check_round_trip(&t);
  }
  for (int32_t order = 0; tesela_order_name((tesela_order)order); order++) {
    t = read_one("target t");
    t.order = (tesela_order)order;
    if (order == TESELA_ORDER_TILES) {
      t.n_tiles = 1;
      t.tile[0][0] = t.tile[0][1] = 32;
    }
    check_round_trip(&t);
  }
}

/* ---- refusals -------------------------------------------------------------------------------------------------- */

static void refusals_say_where_and_why(void **state) {
  (void)state;
  static const struct {
    const char *text; /* ^ marks the byte that is wrong */
    tesela_status status;
    const char *part; /* of the message */
  } rows[] = {
      {"^", TESELA_E_SYNTAX, "the first line must be: target NAME"},
      {"^\n# nothing\n", TESELA_E_SYNTAX, "the first line must be: target NAME"},
      {"^stick 64", TESELA_E_INVALID, "line 1: stick before target"},
      {"target^ ", TESELA_E_SYNTAX, "a name"},
      {"target ^*", TESELA_E_SYNTAX, "a name"},
      {"target a^*", TESELA_E_SYNTAX, "the end of the line"},
      {"target ^aaaaaaaaaabbbbbbbbbbccccccccccdd", TESELA_E_LIMIT, "32 bytes"},
      {"target a\n^target b", TESELA_E_INVALID, "line 2: target is given twice; first in line 1"},
      {"target a\n^=", TESELA_E_SYNTAX, "a key"},
      {"target a\n^stik 3", TESELA_E_SYNTAX, "did you mean stick?"},
      {"target a\n^zzzzzzzz 3", TESELA_E_SYNTAX, "expected target, like, stick"},
      {"target a\nlike ^spire", TESELA_E_SYNTAX, "did you mean spyre?"},
      {"target a\nlike^ ", TESELA_E_SYNTAX, "a built-in target"},
      {"target a\nstick 1\n\n^like spyre", TESELA_E_INVALID, "line 4"},
      {"target a\nstick ^0", TESELA_E_RANGE, "1 to 1048576"},
      {"target a\nstick ^1048577", TESELA_E_RANGE, "1 to 1048576"},
      {"target a\nstick ^99999999999999999999999999999999", TESELA_E_RANGE,
       "bytes of a stick is 99999999999999999999999999999999; expected 1 to 1048576"},
      {"target a\nstick ^64B", TESELA_E_SYNTAX, "found '64B'"},
      {"target a\nstick^ ", TESELA_E_SYNTAX, "found the end of the line"},
      {"target a\nstick^ # 64", TESELA_E_SYNTAX, "found the end of the line"},
      {"target a\nstick 64 ^3", TESELA_E_SYNTAX, "the end of the line"},
      {"target a\nstick 64\n# x\n^stick 64", TESELA_E_INVALID,
       "line 4: stick is given twice; first in line 2"},
      {"target a\nalignment ^0", TESELA_E_RANGE, "1 to 1073741824"},
      {"target a\nmax_rank ^33", TESELA_E_RANGE, "0 to 32"},
      {"target a\nmax_rank ^-1", TESELA_E_RANGE, "a rank is -1; expected 0 to 32"},
      {"target a\norder^ ", TESELA_E_SYNTAX, "an order"},
      {"target a\norder ^generik", TESELA_E_SYNTAX, "did you mean generic?"},
      {"target a\norder generic ^3", TESELA_E_SYNTAX, "the end of the line"},
      {"target a\norder tiles^", TESELA_E_SYNTAX, "tiles, 32x32 16x16"},
      {"target a\norder tiles 32^", TESELA_E_SYNTAX, "columns of the tile"},
      {"target a\norder tiles 32x^", TESELA_E_SYNTAX, "columns of a tile"},
      {"target a\norder tiles ^0x32", TESELA_E_RANGE, "rows of a tile"},
      {"target a\norder ^tiles 32x32 16x5", TESELA_E_INVALID, "do not divide"},
      {"target a\norder tiles 8x8 4x4 2x2 1x1 ^1x1", TESELA_E_LIMIT, "4 levels"},
      {"target a\ntype^ ", TESELA_E_SYNTAX, "a type"},
      {"target a\ntype ^s63 -> s32", TESELA_E_SYNTAX, "did you mean s64?"},
      {"target a\ntype ^token -> s32", TESELA_E_SYNTAX, "unknown type 'token'"},
      {"target a\ntype s64 ^s32", TESELA_E_SYNTAX, "->"},
      {"target a\ntype s64 ->^ ", TESELA_E_SYNTAX, "a type"},
      {"target a\ntype s64 -> s32 in^ ", TESELA_E_SYNTAX, "bits"},
      {"target a\ntype s64 -> s32 in ^136", TESELA_E_RANGE, "8 to 128"},
      {"target a\ntype ^f32 -> f32 in 16", TESELA_E_RANGE, "16 bits"},
      {"target a\ntype ^f32 -> f32 in 36", TESELA_E_RANGE, "36 bits"},
      {"target a\ntype f16 -> f16\ntype ^none", TESELA_E_INVALID, "must come first"},
      {"target a\nsparse ^maybe", TESELA_E_SYNTAX, "yes or no"},
      {"target a\nsparse ^yesno", TESELA_E_SYNTAX, "yes or no"},
      {"target a\nkeep_host_bytes^ ", TESELA_E_SYNTAX, "yes or no"},
      {"target a\ncores ^-1", TESELA_E_RANGE, "-1"},
      {"target a\ncores ^2147483648", TESELA_E_RANGE, "2147483647"},
      {"target a\nscratchpad ^9223372036854775808", TESELA_E_RANGE, "9223372036854775807"},
      {"target a\ndma^ ", TESELA_E_SYNTAX, "a limit"},
      {"target a\ndma ^max_dim=3", TESELA_E_SYNTAX, "did you mean max_dims?"},
      {"target a\ndma max_dims ^3", TESELA_E_SYNTAX, "= and a number"},
      {"target a\ndma max_dims=^x", TESELA_E_SYNTAX, "max_dims"},
      {"target a\ndma max_dims=^2147483648", TESELA_E_RANGE, "2147483647"},
      {"target a\ndma max_burst=^-1", TESELA_E_RANGE, "-1"},
      {"target a\ndma max_dims=3 ^max_dims=3", TESELA_E_INVALID, "is given twice"},
      {"target a\nrule^ ", TESELA_E_SYNTAX, "an operator"},
      {"target a\nrule ^matmull 0 needs any", TESELA_E_SYNTAX, "did you mean matmul?"},
      {"target a\nrule pointwise.^expp 0 needs any", TESELA_E_SYNTAX, "did you mean exp"},
      {"target a\nrule pointwise. ^0 needs any", TESELA_E_SYNTAX, "a function after the dot"},
      {"target a\nrule matmul^ ", TESELA_E_SYNTAX, "the number of an operand, all, or result"},
      {"target a\nrule matmul ^x needs any", TESELA_E_SYNTAX, "the number of an operand, all, or result"},
      {"target a\nrule matmul ^-1 needs any", TESELA_E_RANGE, "-1"},
      {"target a\nrule matmul 0 ^any", TESELA_E_SYNTAX, "needs"},
      {"target a\nrule matmul 0 needs^ ", TESELA_E_SYNTAX, "need"},
      {"target a\nrule matmul 0 needs ^column2", TESELA_E_SYNTAX, "did you mean column?"},
      {"target a\nrule matmul result ^any", TESELA_E_SYNTAX, "is"},
      {"target a\nrule matmul result is ^survive", TESELA_E_SYNTAX, "did you mean survives?"},
      {"target a\nrule matmul 0 needs any costs ^-1", TESELA_E_RANGE, "-1"},
      {"target a\nrule matmul 0 needs any ^100", TESELA_E_SYNTAX, "the end of the line"},
      {"target a\nrule matmul 0 needs any\nrule ^none", TESELA_E_INVALID, "must come first"},
      {"target a\xc3\x28\n", TESELA_E_SYNTAX, "not UTF-8"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char text[TEXT];
    tesela_target target = {.n_types = -7};
    tesela_error err = {.at = -5};
    bool marked = strchr(rows[i].text, '^') != NULL;
    int64_t at = marked ? (int64_t)strcspn(rows[i].text, "^") : 8;
    snprintf(text, sizeof text, "%.*s%s", (int)at, rows[i].text, rows[i].text + at + marked);
    tesela_status status = tesela_target_read(&target, text, strlen(text), &err);
    if (status != rows[i].status || err.status != status)
      fail_msg("%s: %s: %s", rows[i].text, tesela_status_code(status), err.message);
    if (err.at != at) fail_msg("%s: byte %" PRId64 ": %s", rows[i].text, err.at, err.message);
    if (!strstr(err.message, rows[i].part)) fail_msg("%s: %s", rows[i].text, err.message);
    assert_int_equal(target.n_types, -7);
    assert_int_equal(tesela_target_read(&target, text, strlen(text), NULL), status);
  }
}

static void too_many_rules(void **state) {
  (void)state;
  char text[TEXT] = "target a\nrule none\n";
  tesela_target target;
  tesela_error err;
  for (int k = 0; k < TESELA_TARGET_RULES; k++) strcat(text, "rule matmul 0 needs any\n");
  assert_int_equal(tesela_target_read(&target, text, strlen(text), &err), TESELA_OK);
  assert_int_equal(target.n_rules, TESELA_TARGET_RULES);
  size_t length = strlen(text);
  strcat(text, "rule matmul 0 needs any\n");
  assert_int_equal(tesela_target_read(&target, text, strlen(text), &err), TESELA_E_LIMIT);
  assert_int_equal(err.at, length + strlen("rule "));
  assert_non_null(strstr(err.message, "line 67"));
}

static int stop(void *user, const char *text, size_t length) {
  (void)user, (void)text, (void)length;
  return 1;
}

static void what_a_file_cannot_say(void **state) {
  (void)state;
  tesela_writer stopper = {stop, NULL};
  char text[TEXT] = "-";
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  tesela_target good = read_one("target t\ntype none\n"), bad = good;
  assert_int_equal(tesela_target_print(&good, &stopper, NULL), TESELA_E_STOPPED);
  strcpy(bad.name, "two words");
  assert_int_equal(tesela_target_print(&bad, &to, NULL), TESELA_E_UNSUPPORTED);
  bad = good;
  bad.name[0] = '\0';
  assert_int_equal(tesela_target_print(&bad, &to, NULL), TESELA_E_INVALID);
  bad = good;
  bad.n_rules = 1;
  bad.rule[0] = (tesela_rule){.operand = TESELA_RULE_RESULT, .need = TESELA_NEED_CLEAN, .price = -1};
  assert_int_equal(tesela_target_print(&bad, &to, NULL), TESELA_E_UNSUPPORTED);
  bad.rule[0] = (tesela_rule){.operand = 0, .yield = TESELA_YIELD_COLUMN, .price = -1};
  assert_int_equal(tesela_target_print(&bad, &to, NULL), TESELA_E_UNSUPPORTED);
  bad = good;
  bad.stick_bytes = 0;
  assert_int_equal(tesela_target_print(&bad, &to, NULL), TESELA_E_RANGE);
  assert_string_equal(text, ""); /* nothing was printed */
}

static void files_that_end_early(void **state) {
  (void)state;
  static const char whole[] =
      "target a\nlike spyre\norder tiles 32x32 16x16\ntype s8 -> s8 in 32\ndma max_dims=4\n"
      "rule pointwise.exp all needs any costs 100\n";
  for (size_t n = 0; n < sizeof whole; n++) {
    char *cut = malloc(n ? n : 1); /* of just its size: a sanitizer sees a read past the end */
    tesela_target target;
    tesela_error err = {.at = -1};
    assert_non_null(cut);
    memcpy(cut, whole, n);
    if (tesela_target_read(&target, cut, n, &err) != TESELA_OK)
      assert_true(err.at >= 0 && err.at <= (int64_t)n);
    free(cut);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_key_is_read),
      cmocka_unit_test(what_is_not_said_comes_from_the_base),
      cmocka_unit_test(built_in_targets_print_and_read),
      cmocka_unit_test(every_name_reads_back),
      cmocka_unit_test(refusals_say_where_and_why),
      cmocka_unit_test(too_many_rules),
      cmocka_unit_test(what_a_file_cannot_say),
      cmocka_unit_test(files_that_end_early),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
