/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_fallback.c - users of values of any kind: fallbacks, and the root of the entry computation.
 *
 * A tuple counts as all arrays in it, at any depth.
 */
#include <stdio.h>

#include "graph/hlo/hlo.h"

enum { FALLBACK_LEAVES = 1 << 16, FALLBACK_NESTED = 8 };

/* The nodes of values, one after the other; `seen` counts tuples and elements, empty ones too. */
typedef struct fallback_list {
  int32_t *leaf;
  size_t room;
  int32_t n, seen;
} fallback_list;

static tesela_status fallback_leaves(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                     tesela__hlo_value value, int32_t depth, fallback_list *list) {
  if (depth > FALLBACK_NESTED || ++list->seen > FALLBACK_LEAVES)
    return tesela__hlo_fail(b, in, TESELA_E_LIMIT, "a tuple has more than %d levels or %d elements",
                            FALLBACK_NESTED, FALLBACK_LEAVES);
  tesela_status status = TESELA_OK;
  if (value.node == TESELA__HLO_TUPLE) {
    for (int32_t i = 0; i < value.count && status == TESELA_OK; i++)
      status = fallback_leaves(b, in, b->pool[value.first + i], depth + 1, list);
    return status;
  }
  if (value.node < 0) return TESELA_OK; /* a whole tuple that is an input */
  void *leaf = list->leaf;
  if (!tesela__grow(&b->allocator, &leaf, sizeof *list->leaf, &list->room, (uint64_t)list->n + 1))
    return tesela__fail(b->err, TESELA_E_MEMORY, -1, "no memory for operands");
  list->leaf = leaf;
  list->leaf[list->n++] = value.node;
  return TESELA_OK;
}

/* The name of the operator. A permutation of parts of an array into another has a name of its own, since rules let the common
 * one keep its operand's layout. */
static void fallback_opcode(const tesela__hlo_build *b, const tesela__hlo_instruction *in,
                            char opcode[TESELA_GRAPH_NAME]) {
  const char *text = b->module->text;
  tesela__hlo_span word = tesela__hlo_attribute(b->module, in, "custom_call_target");
  if (word.n == 0) word = in->opcode;
  bool in_place = in->n_operands > 1 && tesela__hlo_same(text, word, "collective-permute");
  snprintf(opcode, TESELA_GRAPH_NAME, "%.*s%s", (int)tesela__min((int64_t)word.n, TESELA_GRAPH_NAME),
           text + word.at, in_place ? "-in-place" : "");
}

tesela_status tesela__hlo_fallback(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                   tesela__hlo_value *out) {
  char opcode[TESELA_GRAPH_NAME];
  int32_t ignored;
  fallback_list list = {0};
  tesela_status status = TESELA_OK;
  for (int32_t k = 0; k < in->n_operands && status == TESELA_OK; k++) {
    if (tesela__hlo_value_of(b, in, k)->node == TESELA__HLO_CONSTANT)
      status = tesela__hlo_operand(b, in, k, &ignored);
    if (status == TESELA_OK) status = fallback_leaves(b, in, *tesela__hlo_value_of(b, in, k), 0, &list);
  }
  fallback_opcode(b, in, opcode);
  tesela_node_spec spec = {.op = TESELA_OP_FALLBACK,
                           .opcode = opcode,
                           .dtype = in->tuple ? TESELA_TOKEN : b->dtype,
                           .rank = in->tuple ? 0 : b->rank,
                           .shape = b->shape,
                           .n_operands = list.n,
                           .operand = list.leaf};
  if (status == TESELA_OK) status = tesela__hlo_add(b, in, NULL, &spec, &out->node);
  if (status == TESELA_OK) b->facts.fallbacks++;
  tesela__release(&b->allocator, list.leaf);
  return status;
}

tesela_status tesela__hlo_outputs(tesela__hlo_build *b, const tesela__hlo_instruction *root,
                                  tesela__hlo_value value) {
  fallback_list list = {0};
  tesela_status status = fallback_leaves(b, root, value, 0, &list);
  for (int32_t i = 0; i < list.n && status == TESELA_OK; i++)
    status = tesela_graph_add_output(b->graph, list.leaf[i], b->err);
  if (status != TESELA_OK && status != TESELA_E_MEMORY && b->err) b->err->at = (int64_t)root->name.at;
  tesela__release(&b->allocator, list.leaf);
  return status;
}
