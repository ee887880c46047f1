/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats_rules.c - formats --rules: what the operators of a program require of device layouts, and the names of the requirements.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tesela/graph.h>

#include "main/device.h"
#include "main/tile_input.h"
#include "verbs/formats.h"

typedef struct rules_word {
  const char *name, *text;
} rules_word;

static const rules_word rules_needs[] = {
#define TESELA__ROW(symbol, value, name, text) {name, text},
    TESELA_NEED_MAP(TESELA__ROW)
#undef TESELA__ROW
};

static const rules_word rules_yields[] = {
#define TESELA__ROW(symbol, value, name, text) {name, text},
    TESELA_YIELD_MAP(TESELA__ROW)
#undef TESELA__ROW
};

/* "0", "all", "result" */
static const char *rules_operand(const tesela_rule *rule, char text[16]) {
  if (rule->operand == TESELA_RULE_ALL) return "all";
  if (rule->operand == TESELA_RULE_RESULT) return "result";
  snprintf(text, 16, "%" PRId32, rule->operand);
  return text;
}

/* "matmul", "reduce.prod", "fallback exx2" */
static const char *rules_operator(const tesela_rule *rule, char text[80]) {
  bool fn = rule->fn != TESELA_FN_NONE;
  snprintf(text, 80, "%s%s%s%s%s", tesela_op_name(rule->op), fn ? "." : "",
           fn ? tesela_fn_name(rule->fn) : "", rule->opcode[0] ? " " : "", rule->opcode);
  return text;
}

static const char *rules_says(const tesela_rule *rule) {
  return rule->operand == TESELA_RULE_RESULT ? tesela_yield_name(rule->yield) : tesela_need_name(rule->need);
}

static bool rules_same(const tesela_rule *a, const tesela_rule *b) {
  return a->op == b->op && a->fn == b->fn && a->operand == b->operand && strcmp(a->opcode, b->opcode) == 0;
}

/* Row k of the target's own rules (target NULL: no rules), then of the default table; NULL past the last row. */
static const tesela_rule *rules_row(const tesela_target *target, int32_t k) {
  int32_t own = target ? target->n_rules : 0;
  return k >= 0 && k < own ? &target->rule[k] : tesela_rule_at(k - own);
}

/* The row at *k, or the first after it, without an earlier row for the same operand and operator. Moves *k past it. */
static const tesela_rule *rules_next(const tesela_target *target, int32_t *k) {
  const tesela_rule *rule;
  while ((rule = rules_row(target, (*k)++)) != NULL) {
    int32_t before = 0;
    while (before < *k - 1 && !rules_same(rules_row(target, before), rule)) before++;
    if (before == *k - 1) return rule;
  }
  return NULL;
}

static int rules_json(const tesela_target *target) {
  tesela_json_out j = TESELA_JSON_OUT;
  const tesela_rule *rule;
  char text[16];
  tesela_put_list(&j.sink);
  for (int32_t k = 0; (rule = rules_next(target, &k)) != NULL;) {
    tesela_put_object(&j.sink);
    tesela_put_key_text(&j.sink, "op", tesela_op_name(rule->op));
    if (rule->fn != TESELA_FN_NONE) tesela_put_key_text(&j.sink, "fn", tesela_fn_name(rule->fn));
    if (rule->opcode[0]) tesela_put_key_text(&j.sink, "opcode", rule->opcode);
    tesela_put_key_text(&j.sink, "operand", rules_operand(rule, text));
    tesela_put_key_text(&j.sink, rule->operand == TESELA_RULE_RESULT ? "is" : "needs", rules_says(rule));
    if (rule->price >= 0) tesela_put_key_int(&j.sink, "costs", rule->price);
    tesela_put_end(&j.sink);
  }
  return tile_print_json(&j);
}

static void rules_words(const char *heading, const rules_word *word, size_t n) {
  puts(heading);
  for (size_t k = 0; k < n; k++) printf("  %-11s  %s\n", word[k].name, word[k].text);
  putchar('\n');
}

int formats_rules(const cli_context *cli) {
  tesela_target own;
  const tesela_target *target;
  const tesela_rule *rule;
  char text[16], operator_text[80];
  size_t width = 0;
  int status;
  if (!device_target(cli, &own, &target, &status)) return status;
  if (cli->json) return rules_json(target);
  rules_words("requirements of an operand", rules_needs, sizeof rules_needs / sizeof *rules_needs);
  rules_words("stick of the result", rules_yields, sizeof rules_yields / sizeof *rules_yields);
  for (int32_t k = 0; (rule = rules_next(target, &k)) != NULL;) {
    size_t length = strlen(rules_operator(rule, operator_text));
    if (length > width) width = length;
  }
  printf("%-*s  %-7s  %s\n", (int)width, "operator", "operand", "rule");
  for (int32_t k = 0; (rule = rules_next(target, &k)) != NULL;) {
    printf("%-*s  %-7s  %s %s", (int)width, rules_operator(rule, operator_text), rules_operand(rule, text),
           rule->operand == TESELA_RULE_RESULT ? "is" : "needs", rules_says(rule));
    if (rule->price >= 0) printf(" costs %" PRId64, rule->price);
    putchar('\n');
  }
  return CLI_YES;
}
