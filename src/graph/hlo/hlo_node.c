/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_node.c - helpers of the functions of opcodes: operands as nodes, shapes from the text, new nodes.
 */
#include <stdarg.h>
#include <stdio.h>

#include "graph/hlo/hlo.h"

tesela_status tesela__hlo_fail(tesela__hlo_build *b, const tesela__hlo_instruction *in, tesela_status status,
                               const char *format, ...) {
  char line[sizeof b->err->message], shown[TESELA__HLO_SHOWN];
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  return tesela__fail(b->err, status, (int64_t)in->name.at, "%s: %s",
                      tesela__hlo_shown(b->module->text, in->name, shown), line);
}

/* ---- values ---- */

tesela__hlo_value *tesela__hlo_value_of(tesela__hlo_build *b, const tesela__hlo_instruction *in, int32_t k) {
  int32_t number = b->module->operand[in->operand + k];
  return &b->frame->value[number - b->frame->computation->first];
}

tesela_status tesela__hlo_operand(tesela__hlo_build *b, const tesela__hlo_instruction *in, int32_t k,
                                  int32_t *node) {
  if (k >= in->n_operands)
    return tesela__hlo_fail(b, in, TESELA_E_INVALID,
                            "missing operand %" PRId32 "; the instruction has %" PRId32, k, in->n_operands);
  tesela__hlo_value *value = tesela__hlo_value_of(b, in, k);
  if (value->node == TESELA__HLO_CONSTANT) { /* needed as a node after all */
    const tesela__hlo_instruction *constant = &b->module->instruction[value->first];
    tesela_xla_shape shape;
    tesela_node_spec spec = {.op = TESELA_OP_CONSTANT};
    bool splat;
    tesela_status status = tesela__hlo_array(b, constant, &shape);
    if (status == TESELA_OK)
      status = tesela__hlo_literal(b->module, constant, 1, &splat, &spec.value, b->err);
    spec.dtype = shape.dtype;
    if (status == TESELA_OK) status = tesela__hlo_add(b, constant, NULL, &spec, &value->node);
    if (status != TESELA_OK) return status;
  }
  if (value->node < 0)
    return tesela__hlo_fail(b, in, TESELA_E_INVALID, "operand %" PRId32 " is a tuple; expected an array", k);
  *node = value->node;
  return TESELA_OK;
}

tesela_status tesela__hlo_operand_laid_out(tesela__hlo_build *b, const tesela__hlo_instruction *in, int32_t k,
                                           int32_t *number) {
  tesela_status status = tesela__hlo_operand(b, in, k, number);
  if (status != TESELA_OK || !tesela__graph_at(b->graph, *number)->view) return status;
  const tesela_node *view = tesela__graph_at(b->graph, *number),
                    *constant = tesela_graph_constant(b->graph, *number);
  if (!constant) return TESELA_OK;
  char suffix[24];
  int64_t shape[TESELA_GRAPH_RANK];
  snprintf(suffix, sizeof suffix, "constant%" PRId32, k);
  memcpy(shape, view->shape, (size_t)view->rank * sizeof *shape); /* the graph grows */
  tesela_node_spec spec = {.op = TESELA_OP_CONSTANT,
                           .dtype = constant->dtype,
                           .rank = view->rank,
                           .shape = shape,
                           .value = constant->value};
  return tesela__hlo_add(b, in, suffix, &spec, number);
}

bool tesela__hlo_scalar(tesela__hlo_build *b, const tesela__hlo_instruction *in, int32_t k, double *number) {
  if (k >= in->n_operands) return false;
  const tesela__hlo_value *value = tesela__hlo_value_of(b, in, k);
  bool splat;
  if (value->node == TESELA__HLO_CONSTANT)
    return tesela__hlo_literal(b->module, &b->module->instruction[value->first], 1, &splat, number, NULL) ==
           TESELA_OK;
  if (value->node < 0) return false;
  const tesela_node *constant = tesela_graph_constant(b->graph, value->node);
  if (constant) *number = constant->value;
  return constant != NULL;
}

tesela_status tesela__hlo_array(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                tesela_xla_shape *shape) {
  size_t used;
  tesela_status status = tesela_xla_parse_prefix(b->module->text + in->shape, b->module->length - in->shape,
                                                 TESELA_XLA_STRICT, shape, &used, NULL, b->err);
  if (status != TESELA_OK) return status; /* it was read before */
  if (shape->kind == TESELA_XLA_TOKEN || shape->kind == TESELA_XLA_OPAQUE) {
    shape->rank = 0;
    shape->dtype = TESELA_TOKEN;
  }
  if (shape->rank > TESELA_GRAPH_RANK)
    return tesela__hlo_fail(b, in, TESELA_E_LIMIT, "rank %" PRId32 "; expected at most %d", shape->rank,
                            TESELA_GRAPH_RANK);
  return TESELA_OK;
}

/* ---- nodes ---- */

/* The name of an instruction's node, or NULL if one must be generated. The root of a called computation has its caller's name.
 * */
static const char *build_name(const tesela__hlo_build *b, const tesela__hlo_instruction *in,
                              const char *suffix, char *name) {
  const tesela__hlo_frame *f = b->frame;
  size_t n = strlen(f->prefix), more = suffix ? strlen(suffix) + 1 : 0;
  if (f->too_long) return NULL;
  memcpy(name, f->prefix, n);
  if (n > 0 && in == &b->module->instruction[f->computation->root]) {
    n--;
  } else {
    if (n + in->name.n >= TESELA_GRAPH_NAME) return NULL;
    memcpy(name + n, b->module->text + in->name.at, in->name.n);
    n += in->name.n;
  }
  if (n + more >= TESELA_GRAPH_NAME) return NULL;
  if (suffix) {
    name[n] = '.';
    memcpy(name + n + 1, suffix, more - 1);
  }
  name[n + more] = '\0';
  return tesela_graph_find(b->graph, name) < 0 ? name : NULL;
}

tesela_status tesela__hlo_add(tesela__hlo_build *b, const tesela__hlo_instruction *in, const char *suffix,
                              tesela_node_spec *spec, int32_t *node) {
  char name[TESELA_GRAPH_NAME];
  spec->name = build_name(b, in, suffix, name);
  tesela_status status = tesela_graph_add(b->graph, spec, node, b->err);
  if (status != TESELA_OK && status != TESELA_E_MEMORY && b->err) b->err->at = (int64_t)in->name.at;
  return status;
}

bool tesela__hlo_is_identity(int32_t n, const int32_t *order) {
  for (int32_t i = 0; i < n; i++)
    if (order[i] != i) return false;
  return true;
}

tesela_status tesela__hlo_permute(tesela__hlo_build *b, const tesela__hlo_instruction *in, const char *suffix,
                                  int32_t x, const int32_t *dims, int32_t *node) {
  tesela_node_spec spec = {.op = TESELA_OP_PERMUTE,
                           .n_operands = 1,
                           .operand = &x,
                           .n_dims = tesela__graph_at(b->graph, x)->rank,
                           .dims = dims};
  return tesela__hlo_add(b, in, suffix, &spec, node);
}

tesela_status tesela__hlo_reshape(tesela__hlo_build *b, const tesela__hlo_instruction *in, const char *suffix,
                                  int32_t x, int32_t rank, const int64_t *shape, int32_t *node) {
  const tesela_node *from = tesela__graph_at(b->graph, x);
  int64_t stride[TESELA_GRAPH_RANK], n = 1, m = 1;
  bool fits = true;
  for (int32_t d = 0; d < from->rank; d++) n *= from->shape[d]; /* its node checked it */
  for (int32_t d = 0; d < rank && fits; d++) fits = tesela__mul(m, shape[d], &m);
  if (fits && n == m &&
      !tesela__graph_reshape_strides(from->rank, from->shape, from->stride, rank, shape, stride)) {
    tesela_node_spec clone = {.op = TESELA_OP_CLONE, .n_operands = 1, .operand = &x};
    tesela_status status = tesela__hlo_add(b, in, "clone", &clone, &x);
    if (status != TESELA_OK) return status;
  }
  tesela_node_spec spec = {
      .op = TESELA_OP_RESHAPE, .n_operands = 1, .operand = &x, .rank = rank, .shape = shape};
  return tesela__hlo_add(b, in, suffix, &spec, node);
}
