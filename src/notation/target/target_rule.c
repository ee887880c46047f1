/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target_rule.c - the lines of a target file that may be repeated.
 *
 *   type s64 -> s32            type s8 -> s8 in 32            type none: drop the types of the `like` target
 *   rule matmul 0 needs contracted                            rule none: drop its rules
 *   rule pointwise.exp all needs any costs 100
 *   rule reduce result is survives
 *   rule fallback "all-reduce" all needs result              unknown operators, by opcode
 */
#include "notation/device/device_read.h"
#include "notation/target/target_text.h"

/* ---- types ---- */

static tesela_status target_dtype(tesela__target_reader *r, tesela_dtype *dtype) {
  size_t length = tesela__target_word(r);
  if (length == 0) return tesela__read_unexpected(&r->in, "a type, such as f16", "");
  *dtype = tesela_dtype_find(r->in.text + r->in.at, length);
  if (tesela_dtype_bytes(*dtype) == 0) {
    return tesela__read_unknown(&r->in, TESELA_E_SYNTAX, r->in.at, length, "type", "",
                                tesela_dtype_suggest(r->in.text + r->in.at, length), "f16, s32, ...");
  }
  r->in.at += length;
  return TESELA_OK;
}

tesela_status tesela__target_type(tesela__target_reader *r) {
  tesela_target *target = r->target;
  tesela_target_type row;
  int64_t bits = 0;
  if (tesela__read_take_text(&r->in, "none")) {
    if (r->own_types)
      return tesela__read_fail(&r->in, TESELA_E_INVALID, r->value,
                               "'type none' after other types; it must come first");
    target->n_types = 0;
    memset(target->type, 0, sizeof target->type);
    r->own_types = true;
    return TESELA_OK;
  }
  tesela_status status = target_dtype(r, &row.host);
  if (status == TESELA_OK && !tesela__read_take_text(&r->in, "->"))
    return tesela__read_unexpected(&r->in, "-> and the device type", "");
  if (status == TESELA_OK) status = target_dtype(r, &row.device);
  if (status == TESELA_OK && tesela__read_take_text(&r->in, "in"))
    status = tesela__read_integer(&r->in, "bits", 8, 128, &bits);
  if (status != TESELA_OK) return status;
  row.device_bits = bits > 0 ? (int32_t)bits : 8 * tesela_dtype_bytes(row.device);
  r->own_types = true;
  for (int32_t k = 0; k < target->n_types; k++) {
    if (target->type[k].host != row.host) continue;
    target->type[k] = row;
    return TESELA_OK;
  }
  if (target->n_types == TESELA_TARGET_TYPES)
    return tesela__read_fail(&r->in, TESELA_E_LIMIT, r->value, "more than %d types", TESELA_TARGET_TYPES);
  target->type[target->n_types++] = row;
  return TESELA_OK;
}

/* ---- rules ---- */

static const char *target_op_at(int32_t i) { return tesela_op_name((tesela_op)i); }
static const char *target_fn_at(int32_t i) { return tesela_fn_name((tesela_fn)i); }
static const char *target_need_at(int32_t i) { return tesela_need_name((tesela_need)i); }
static const char *target_yield_at(int32_t i) { return tesela_yield_name((tesela_yield)i); }

/* matmul, or pointwise.exp */
static tesela_status target_rule_op(tesela__target_reader *r, tesela_rule *rule) {
  size_t length = tesela__target_word(r), dot = 0;
  const char *word = r->in.text + r->in.at;
  if (length == 0) return tesela__read_unexpected(&r->in, "an operator, matmul or pointwise.exp", "");
  while (dot < length && word[dot] != '.') dot++;
  int32_t op = tesela_op_find(word, dot);
  if (op < 0) return tesela__read_unknown_of(&r->in, r->in.at, dot, "operator", target_op_at);
  rule->op = (tesela_op)op;
  rule->fn = TESELA_FN_NONE;
  r->in.at += dot;
  if (dot == length) return TESELA_OK;
  r->in.at++;
  if (dot + 1 == length)
    return tesela__read_unexpected(&r->in, "a function after the dot, pointwise.exp", "");
  int32_t fn = tesela_fn_find(word + dot + 1, length - dot - 1);
  if (fn < 0) return tesela__read_unknown_of(&r->in, r->in.at, length - dot - 1, "function", target_fn_at);
  rule->fn = (tesela_fn)fn;
  r->in.at += length - dot - 1;
  return TESELA_OK;
}

/* The name of a need or of a yield. */
static tesela_status target_rule_word(tesela__target_reader *r, const char *what,
                                      const char *(*name)(int32_t), int32_t (*find)(const char *, size_t),
                                      int32_t *found) {
  size_t length = tesela__target_word(r);
  if (length == 0) return tesela__read_unexpected(&r->in, what, "");
  *found = find(r->in.text + r->in.at, length);
  if (*found < 0) return tesela__read_unknown_of(&r->in, r->in.at, length, what, name);
  r->in.at += length;
  return TESELA_OK;
}

/* An opcode, "all-reduce", if a quote comes next. */
static tesela_status target_rule_opcode(tesela__target_reader *r, tesela_rule *rule) {
  size_t n = 0;
  tesela__read_peek(&r->in);
  if (r->in.at >= r->in.length || r->in.text[r->in.at] != '"') return TESELA_OK;
  bool fused = rule->fn == TESELA_FN_FUSED || rule->fn == TESELA_FN_NONE;
  if (rule->op != TESELA_OP_FALLBACK &&
      !(fused && (rule->op == TESELA_OP_POINTWISE || rule->op == TESELA_OP_ALONG)))
    return tesela__read_fail(&r->in, TESELA_E_INVALID, r->in.at,
                             "%s takes no opcode; only fallback, pointwise.fused and along.fused do",
                             tesela_op_name(rule->op));
  if (rule->op != TESELA_OP_FALLBACK) rule->fn = TESELA_FN_FUSED;
  const char *word = r->in.text + r->in.at + 1;
  while (r->in.at + 1 + n < r->in.length && word[n] != '"') n++;
  if (r->in.at + 1 + n >= r->in.length)
    return tesela__read_fail(&r->in, TESELA_E_SYNTAX, r->in.at, "the opcode lacks its closing quote");
  if (n == 0 || n >= TESELA_RULE_OPCODE)
    return tesela__read_fail(&r->in, TESELA_E_LIMIT, r->in.at, "an opcode of %zu bytes; expected 1 to %d", n,
                             TESELA_RULE_OPCODE - 1);
  memcpy(rule->opcode, word, n);
  r->in.at += n + 2;
  return TESELA_OK;
}

static tesela_status target_rule_operand(tesela__target_reader *r, tesela_rule *rule) {
  int64_t number;
  int32_t word = 0;
  if (tesela__read_take_text(&r->in, "result")) {
    rule->operand = TESELA_RULE_RESULT;
    if (!tesela__read_take_text(&r->in, "is"))
      return tesela__read_unexpected(&r->in, "is, and which stick the result has", "");
    tesela_status status =
        target_rule_word(r, "stick of a result", target_yield_at, tesela_yield_find, &word);
    if (status == TESELA_OK) rule->yield = (tesela_yield)word;
    return status;
  }
  rule->operand = TESELA_RULE_ALL;
  if (!tesela__read_take_text(&r->in, "all")) {
    tesela__read_peek(&r->in);
    if (r->in.at >= r->in.length ||
        ((r->in.text[r->in.at] < '0' || r->in.text[r->in.at] > '9') && r->in.text[r->in.at] != '-'))
      return tesela__read_unexpected(&r->in, "the number of an operand, all, or result", "");
    tesela_status status = tesela__read_integer(&r->in, "the number of an operand", 0, INT32_MAX, &number);
    if (status != TESELA_OK) return status;
    rule->operand = (int32_t)number;
  }
  if (!tesela__read_take_text(&r->in, "needs"))
    return tesela__read_unexpected(&r->in, "needs, and what the operand must be", "");
  tesela_status status = target_rule_word(r, "need", target_need_at, tesela_need_find, &word);
  if (status == TESELA_OK) rule->need = (tesela_need)word;
  return status;
}

tesela_status tesela__target_rule(tesela__target_reader *r) {
  tesela_target *target = r->target;
  tesela_rule rule = {.need = TESELA_NEED_ANY, .yield = TESELA_YIELD_ANY, .price = -1};
  if (tesela__read_take_text(&r->in, "none")) {
    if (r->own_rules)
      return tesela__read_fail(&r->in, TESELA_E_INVALID, r->value,
                               "'rule none' after other rules; it must come first");
    target->n_rules = 0;
    memset(target->rule, 0, sizeof target->rule);
    r->own_rules = true;
    return TESELA_OK;
  }
  tesela_status status = target_rule_op(r, &rule);
  if (status == TESELA_OK) status = target_rule_opcode(r, &rule);
  if (status == TESELA_OK) status = target_rule_operand(r, &rule);
  if (status == TESELA_OK && tesela__read_take_text(&r->in, "costs"))
    status = tesela__read_integer(&r->in, "a price in elements", 0, INT64_MAX, &rule.price);
  if (status != TESELA_OK) return status;
  r->own_rules = true;
  if (target->n_rules == TESELA_TARGET_RULES)
    return tesela__read_fail(&r->in, TESELA_E_LIMIT, r->value, "more than %d rules", TESELA_TARGET_RULES);
  target->rule[target->n_rules++] = rule;
  return TESELA_OK;
}
