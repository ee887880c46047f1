/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_collective.c - collectives: fallbacks with the shapes of the text, one for each result.
 *
 * Rules decide by opcode which of them keep the layout of their operand (all-reduce, collective-permute, ..). A start and its
 * done are one node, at the start.
 */
#include <stdio.h>

#include "graph/hlo/hlo.h"

enum { COLLECTIVE_MOST = 64 }; /* operands, and results */

static bool collective_ends(const char *text, tesela__hlo_span word, const char *end) {
  size_t n = strlen(end);
  return word.n > n && memcmp(text + word.at + word.n - n, end, n) == 0;
}

/* One result, of the text's shape, or element k of its tuple. */
static tesela_status collective_add(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                    tesela__hlo_span word, int32_t n, const int32_t *operand, int32_t k,
                                    const tesela_xla_shape *shape, int32_t *node) {
  char opcode[64] = "", suffix[16];
  memcpy(opcode, b->module->text + word.at, word.n < sizeof opcode ? word.n : sizeof opcode - 1);
  snprintf(suffix, sizeof suffix, "%" PRId32, k);
  tesela_node_spec spec = {.op = TESELA_OP_FALLBACK,
                           .opcode = opcode,
                           .dtype = shape ? shape->dtype : b->dtype,
                           .rank = shape ? shape->rank : b->rank,
                           .shape = shape ? shape->dim : b->shape,
                           .n_operands = n,
                           .operand = operand};
  tesela_status status = tesela__hlo_add(b, in, shape ? suffix : NULL, &spec, node);
  if (status == TESELA_OK) b->facts.fallbacks++;
  return status;
}

tesela_status tesela__hlo_collective(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                     tesela__hlo_value *out) {
  const char *text = b->module->text;
  int32_t operand[COLLECTIVE_MOST], node[COLLECTIVE_MOST], n = in->n_operands;
  tesela_xla_shape shape[COLLECTIVE_MOST];
  tesela__hlo_span word = in->opcode;
  bool started = collective_ends(text, word, "-start");
  if (started) word.n -= strlen("-start");
  bool reduces = tesela__hlo_same(text, word, "all-reduce"),
       pair = started && !reduces; /* the operand, and the result */
  if (n < 1 || n > COLLECTIVE_MOST || (pair && (!in->tuple || n > 1))) return TESELA_OK;
  tesela_status status = TESELA_OK;
  for (int32_t k = 0; k < n; k++) /* no operand may be a tuple */
    if (tesela__hlo_value_of(b, in, k)->node < 0 &&
        tesela__hlo_value_of(b, in, k)->node != TESELA__HLO_CONSTANT)
      return TESELA_OK;
  for (int32_t k = 0; k < n && status == TESELA_OK; k++) status = tesela__hlo_operand(b, in, k, &operand[k]);
  if (status != TESELA_OK) return status;
  if (!in->tuple) return collective_add(b, in, word, n, operand, 0, NULL, &out->node);
  if (pair) {
    int32_t elements = 4; /* with two for the state of the transfer */
    while (elements > 1 && !tesela__hlo_elements(b->module, in, elements, shape)) elements--;
    if (elements < 2) return TESELA_OK;
    node[0] = operand[0];
    status = collective_add(b, in, word, 1, operand, 1, &shape[1], &node[1]);
  } else if (!tesela__hlo_elements(b->module, in, n, shape)) {
    return TESELA_OK;
  }
  for (int32_t k = 0; k < n && !pair && status == TESELA_OK; k++)
    status = reduces ? collective_add(b, in, word, 1, &operand[k], k, &shape[k], &node[k])
                     : collective_add(b, in, word, n, operand, k, &shape[k], &node[k]);
  if (pair) n = 2;
  if (status == TESELA_OK) status = tesela__hlo_make_tuple(b, n, out);
  for (int32_t k = 0; k < n && status == TESELA_OK; k++)
    b->pool[out->first + k] = (tesela__hlo_value){.node = node[k]};
  return status;
}

/* The second result of the start. */
tesela_status tesela__hlo_collective_done(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                          tesela__hlo_value *out) {
  if (in->n_operands != 1) return TESELA_OK;
  const tesela__hlo_value *start = tesela__hlo_value_of(b, in, 0);
  if (start->node == TESELA__HLO_TUPLE && start->count == 2) *out = b->pool[start->first + 1];
  return TESELA_OK;
}
