/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target_print.c - a target as a target file with every key, so that it does not depend on another target.
 */
#include "notation/target/target_text.h"

static void target_put_key(tesela__sink *sink, const char *key) { tesela__putf(sink, "%-15s ", key); }

static void target_put_number(tesela__sink *sink, const char *key, int64_t number) {
  target_put_key(sink, key);
  tesela__put_int(sink, number);
  tesela__putc(sink, '\n');
}

static void target_put_word(tesela__sink *sink, const char *key, const char *word) {
  target_put_key(sink, key);
  tesela__puts(sink, word);
  tesela__putc(sink, '\n');
}

static void target_put_order(tesela__sink *sink, const tesela_target *target) {
  target_put_key(sink, "order");
  tesela__puts(sink, tesela_order_name(target->order));
  for (int32_t k = 0; k < target->n_tiles; k++)
    tesela__putf(sink, " %" PRId64 "x%" PRId64, target->tile[k][0], target->tile[k][1]);
  tesela__putc(sink, '\n');
}

static void target_put_types(tesela__sink *sink, const tesela_target *target) {
  target_put_word(sink, "type", "none");
  for (int32_t k = 0; k < target->n_types; k++) {
    const tesela_target_type *type = &target->type[k];
    target_put_key(sink, "type");
    tesela__putf(sink, "%s -> %s", tesela_dtype_name(type->host), tesela_dtype_name(type->device));
    if (type->device_bits != 8 * tesela_dtype_bytes(type->device))
      tesela__putf(sink, " in %" PRId32, type->device_bits);
    tesela__putc(sink, '\n');
  }
}

static void target_put_dma(tesela__sink *sink, const tesela_dma_limits *dma) {
  target_put_key(sink, "dma");
  tesela__putf(sink,
               "max_dims=%" PRId32 " max_extent=%" PRId64 " alignment=%" PRId64 " min_burst=%" PRId64
               " max_burst=%" PRId64 " max_nests=%" PRId64 "\n",
               dma->max_dims, dma->max_extent, dma->alignment, dma->min_burst, dma->max_burst,
               dma->max_nests);
}

static void target_put_rules(tesela__sink *sink, const tesela_target *target) {
  for (int32_t k = 0; k < target->n_rules; k++) {
    const tesela_rule *rule = &target->rule[k];
    target_put_key(sink, "rule");
    tesela__puts(sink, tesela_op_name(rule->op));
    if (rule->fn != TESELA_FN_NONE) tesela__putf(sink, ".%s", tesela_fn_name(rule->fn));
    if (rule->opcode[0]) tesela__putf(sink, " \"%s\"", rule->opcode);
    if (rule->operand == TESELA_RULE_RESULT)
      tesela__putf(sink, " result is %s", tesela_yield_name(rule->yield));
    else if (rule->operand == TESELA_RULE_ALL)
      tesela__putf(sink, " all needs %s", tesela_need_name(rule->need));
    else
      tesela__putf(sink, " %" PRId32 " needs %s", rule->operand, tesela_need_name(rule->need));
    if (rule->price >= 0) tesela__putf(sink, " costs %" PRId64, rule->price);
    tesela__putc(sink, '\n');
  }
}

/* Refuse a target that a file cannot express. */
static tesela_status target_check_said(const tesela_target *target, tesela_error *err) {
  for (const char *c = target->name; *c; c++)
    if (!tesela__byte_is(*c, TESELA__TARGET_NAME))
      return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                          "a target name in a file consists of letters, digits, _ . and -");
  for (int32_t k = 0; k < target->n_types; k++)
    if (tesela_dtype_bytes(target->type[k].host) == 0 || tesela_dtype_bytes(target->type[k].device) == 0)
      return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                          "type row %" PRId32 " has type %s; expected a type that arrays can have", k,
                          tesela_dtype_name(target->type[k].host));
  for (int32_t k = 0; k < target->n_rules; k++) {
    const tesela_rule *rule = &target->rule[k];
    bool result = rule->operand == TESELA_RULE_RESULT;
    if (result ? rule->need != TESELA_NEED_ANY : rule->yield != TESELA_YIELD_ANY)
      return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                          "rule %" PRId32 " has a %s for %s, which a file cannot express", k,
                          result ? "need" : "yield", result ? "the result" : "an operand");
    for (const char *c = rule->opcode; *c; c++)
      if (*c == '"' || *c == '#' || *c == '\n' || *c == '\r')
        return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                            "rule %" PRId32
                            " has opcode %s; in a file it may not contain a quote, # or a line end",
                            k, rule->opcode);
  }
  return TESELA_OK;
}

tesela_status tesela_target_print(const tesela_target *target, const tesela_writer *to, tesela_error *err) {
  TESELA__NEED(err, target, to);
  tesela__sink sink;
  tesela_status status = tesela_target_check(target, err);
  if (status == TESELA_OK) status = target_check_said(target, err);
  if (status != TESELA_OK) return status;
  tesela__sink_init(&sink, to);
  target_put_word(&sink, "target", target->name);
  target_put_number(&sink, "stick", target->stick_bytes);
  target_put_number(&sink, "alignment", target->alignment);
  target_put_number(&sink, "max_rank", target->max_rank);
  target_put_order(&sink, target);
  target_put_types(&sink, target);
  target_put_word(&sink, "sparse", target->sparse ? "yes" : "no");
  target_put_word(&sink, "keep_host_bytes", target->keep_host_bytes ? "yes" : "no");
  target_put_number(&sink, "cores", target->cores);
  target_put_number(&sink, "scratchpad", target->scratchpad_bytes);
  target_put_dma(&sink, &target->dma);
  target_put_rules(&sink, target);
  return tesela__sink_finish(&sink, err);
}
