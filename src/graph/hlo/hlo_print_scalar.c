/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_print_scalar.c - helpers of printing: operands, lists, values, and the scalars before an instruction.
 */
#include <math.h>

#include "graph/hlo/hlo.h"

const char *tesela__hlo_type_name(const tesela_node *node) {
  if (node->dtype != TESELA_DTYPE_NONE) return tesela_dtype_name(node->dtype);
  return node->bits == 16 ? "u16" : node->bits == 32 ? "u32" : node->bits == 64 ? "u64" : "u8";
}

void tesela__hlo_print_list(tesela__sink *sink, int32_t n, const int32_t *list) {
  for (int32_t i = 0; i < n; i++) {
    if (i > 0) tesela__putc(sink, ',');
    tesela__put_int(sink, list[i]);
  }
}

void tesela__hlo_print_operands(tesela__hlo_printer *p, const tesela_node *node) {
  tesela__putc(p->sink, '(');
  for (int32_t k = 0; k < node->n_operands; k++) {
    tesela__puts(p->sink, k > 0 ? ", %" : "%");
    tesela__puts(p->sink, tesela__graph_operand(p->graph, node, k)->name);
  }
  tesela__putc(p->sink, ')');
}

bool tesela__hlo_plain_value(const tesela_node *node) {
  tesela_dtype_family family = tesela_dtype_family_of(node->dtype);
  if (family == TESELA_FAMILY_FLOAT) return true;
  return family != TESELA_FAMILY_COMPLEX && floor(node->value) == node->value &&
         !(node->value == 0 && signbit(node->value));
}

void tesela__hlo_print_value(tesela__sink *sink, tesela_dtype dtype, double value) {
  tesela_dtype_family family = tesela_dtype_family_of(dtype);
  if (family == TESELA_FAMILY_BOOL && (value == 0 || value == 1))
    tesela__puts(sink, value == 0 ? "false" : "true");
  else if ((family == TESELA_FAMILY_SIGNED || family == TESELA_FAMILY_UNSIGNED) && fabs(value) < 1e19)
    tesela__putf(sink, "%.0f", value);
  else
    tesela__hlo_put_number(sink, value);
}

/* The initial value of a fold: the least float or integer for max, and so on. */
static void scalar_neutral(tesela__sink *sink, const tesela_node *node) {
  tesela_dtype_family family = tesela_dtype_family_of(node->dtype);
  int32_t bits = tesela_dtype_bits(node->dtype);
  bool is_signed = family == TESELA_FAMILY_SIGNED, is_float = family == TESELA_FAMILY_FLOAT;
  if (family == TESELA_FAMILY_BOOL)
    tesela__puts(sink, node->fn == TESELA_FN_MIN || node->fn == TESELA_FN_AND || node->fn == TESELA_FN_PROD
                           ? "true"
                           : "false");
  else if (node->fn == TESELA_FN_PROD)
    tesela__putc(sink, '1');
  else if (is_float && (node->fn == TESELA_FN_MAX || node->fn == TESELA_FN_MIN))
    tesela__puts(sink, node->fn == TESELA_FN_MAX ? "-inf" : "inf");
  else if (is_signed && node->fn == TESELA_FN_AND)
    tesela__puts(sink, "-1");
  else if (is_signed && (node->fn == TESELA_FN_MAX || node->fn == TESELA_FN_MIN))
    tesela__put_int(sink, node->fn == TESELA_FN_MAX ? INT64_MIN / ((int64_t)1 << (64 - bits))
                                                    : INT64_MAX / ((int64_t)1 << (64 - bits)));
  else if (node->fn == TESELA_FN_MIN || node->fn == TESELA_FN_AND)
    tesela__putf(sink, "%" PRIu64, UINT64_MAX >> (64 - bits));
  else
    tesela__putc(sink, '0');
}

/* "NAME.at", with suffixes until it is not the name of a node. */
static void scalar_name(tesela__hlo_printer *p, const tesela_node *node, const char *word, int32_t k,
                        char name[TESELA_GRAPH_NAME + 64]) {
  for (int32_t again = 0;; again++) {
    tesela_buffer buffer = {name, TESELA_GRAPH_NAME + 64, 0};
    tesela_writer to = tesela_buffer_writer(&buffer);
    tesela__sink sink;
    tesela__sink_init(&sink, &to);
    tesela__puts(&sink, node->name);
    tesela__putf(&sink, ".%s", word);
    if (k >= 0) tesela__put_int(&sink, k);
    if (again > 0) tesela__putf(&sink, ".%" PRId32, again);
    tesela__sink_finish(&sink, NULL);
    if (strlen(name) >= TESELA_GRAPH_NAME || tesela_graph_find(p->graph, name) < 0) return;
  }
}

static void scalar_print(tesela__hlo_printer *p, const tesela_node *node, const char *word, int32_t k,
                         const char *type) {
  char name[TESELA_GRAPH_NAME + 64];
  scalar_name(p, node, word, k, name);
  tesela__puts(p->sink, "  %");
  tesela__puts(p->sink, name);
  tesela__putf(p->sink, " = %s[] constant(", type);
  if (node->op == TESELA_OP_REDUCE || node->op == TESELA_OP_POOL) scalar_neutral(p->sink, node);
  if (node->op == TESELA_OP_PAD) tesela__hlo_print_value(p->sink, node->dtype, node->value);
  if (node->op == TESELA_OP_WRITE) tesela__put_int(p->sink, node->start[k]);
  tesela__puts(p->sink, ")\n");
}

void tesela__hlo_print_before(tesela__hlo_printer *p, const tesela_node *node) {
  if (node->op == TESELA_OP_REDUCE || node->op == TESELA_OP_POOL)
    scalar_print(p, node, "start", -1, tesela__hlo_type_name(node));
  if (node->op == TESELA_OP_PAD) scalar_print(p, node, "value", -1, tesela__hlo_type_name(node));
  for (int32_t d = 0; d < node->rank && node->op == TESELA_OP_WRITE; d++)
    scalar_print(p, node, "start", d, "s64");
}

void tesela__hlo_print_with_scalars(tesela__hlo_printer *p, const char *opcode, const tesela_node *node,
                                    const char *word, int32_t n) {
  char name[TESELA_GRAPH_NAME + 64];
  tesela__puts(p->sink, opcode);
  tesela__putc(p->sink, '(');
  for (int32_t k = 0; k < node->n_operands; k++) {
    tesela__puts(p->sink, k > 0 ? ", %" : "%");
    tesela__puts(p->sink, tesela__graph_operand(p->graph, node, k)->name);
  }
  for (int32_t k = 0; k < (n < 0 ? 1 : n); k++) {
    scalar_name(p, node, word, n < 0 ? -1 : k, name);
    tesela__puts(p->sink, ", %");
    tesela__puts(p->sink, name);
  }
  tesela__putc(p->sink, ')');
}
