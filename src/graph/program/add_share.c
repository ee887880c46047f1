/* SPDX-License-Identifier: Apache-2.0 */
/*
 * add_share.c - what the operators' shape functions share: messages, dims, extents, strides.
 */
#include <stdarg.h>
#include <stdio.h>

#include "graph/program/graph.h"

tesela_status tesela__graph_fail(tesela_error *err, tesela_status status, const tesela_node *node,
                                 const char *format, ...) {
  char line[sizeof err->message];
  if (!err) return status;
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  return tesela__fail(err, status, -1, "%s %.40s: %s", tesela_op_name(node->op), node->name, line);
}

const char *tesela__shape_text(char text[TESELA__SHAPE_TEXT], int32_t rank, const int64_t *shape) {
  size_t used = 0;
  text[used++] = '[';
  for (int32_t d = 0; d < rank; d++) {
    char number[24];
    int n = snprintf(number, sizeof number, "%s%" PRId64, d ? "," : "", shape[d]);
    if (used + (size_t)n + 4 > TESELA__SHAPE_TEXT) {
      memcpy(text + used, "..", 2);
      used += 2;
      break;
    }
    memcpy(text + used, number, (size_t)n);
    used += (size_t)n;
  }
  text[used++] = ']';
  text[used] = '\0';
  return text;
}

tesela_status tesela__graph_given_shape(const tesela_node_spec *spec, int64_t least, tesela_node *node,
                                        tesela_error *err) {
  if (spec->rank < 0)
    return tesela__graph_fail(err, TESELA_E_RANGE, node, "rank %" PRId32 "; expected 0 or more", spec->rank);
  if (spec->rank > TESELA_GRAPH_RANK)
    return tesela__graph_fail(err, TESELA_E_LIMIT, node, "rank %" PRId32 "; expected at most %d", spec->rank,
                              TESELA_GRAPH_RANK);
  if (spec->rank > 0 && !spec->shape)
    return tesela__graph_fail(err, TESELA_E_INVALID, node, "rank %" PRId32 ", but no shape", spec->rank);
  for (int32_t d = 0; d < spec->rank; d++)
    if (spec->shape[d] < least)
      return tesela__graph_fail(err, TESELA_E_RANGE, node,
                                "extent %" PRId64 " of dim %" PRId32 "; expected %" PRId64 " or more",
                                spec->shape[d], d, least);
  node->rank = spec->rank;
  for (int32_t d = 0; d < spec->rank; d++) node->shape[d] = spec->shape[d];
  return TESELA_OK;
}

tesela_status tesela__graph_dim(const tesela_node *node, int32_t given, int32_t rank, int32_t *dim,
                                tesela_error *err) {
  if (given < -rank || given >= rank)
    return tesela__graph_fail(err, TESELA_E_RANGE, node,
                              "dim %" PRId32 " is out of range; there are %" PRId32 " dims", given, rank);
  *dim = given < 0 ? given + rank : given;
  return TESELA_OK;
}

tesela_status tesela__graph_dims(const tesela_node_spec *spec, int32_t rank, tesela_node *node,
                                 tesela_error *err) {
  if (spec->n_dims < 0 || (spec->n_dims > 0 && !spec->dims))
    return tesela__graph_fail(err, TESELA_E_INVALID, node, "%" PRId32 " dims, but no list of them",
                              spec->n_dims);
  if (spec->n_dims > rank)
    return tesela__graph_fail(err, TESELA_E_RANGE, node, "%" PRId32 " dims are listed; there are %" PRId32,
                              spec->n_dims, rank);
  uint32_t seen = 0;
  for (int32_t i = 0; i < spec->n_dims; i++) {
    int32_t d = 0;
    tesela_status status = tesela__graph_dim(node, spec->dims[i], rank, &d, err);
    if (status != TESELA_OK) return status;
    if (seen >> d & 1)
      return tesela__graph_fail(err, TESELA_E_INVALID, node, "dim %" PRId32 " is listed twice", d);
    seen |= (uint32_t)1 << d;
    node->dim[i] = d;
  }
  node->n_dims = spec->n_dims;
  return TESELA_OK;
}

bool tesela__graph_names_dim(const tesela_node *node, int32_t d) {
  for (int32_t i = 0; i < node->n_dims; i++)
    if (node->dim[i] == d) return true;
  return false;
}

bool tesela__graph_row_major(int32_t rank, const int64_t *shape, int64_t *stride) {
  int64_t next = 1;
  for (int32_t d = rank - 1; d >= 0; d--) {
    stride[d] = next;
    if (!tesela__mul(next, tesela__max(shape[d], 1), &next)) return false;
  }
  return true;
}

void tesela__graph_type_of_first(const tesela_graph *graph, tesela_node *node) {
  const tesela_node *x = tesela__graph_operand(graph, node, 0);
  if (node->dtype == TESELA_DTYPE_NONE) node->dtype = x->dtype;
  if (node->bits == 0) node->bits = x->bits;
}

/* ---- a node as a spec ---- */

void tesela__graph_spec_of(const tesela_node *node, tesela_node_spec *spec) {
  *spec = (tesela_node_spec){.op = node->op,
                             .fn = node->fn,
                             .name = node->name,
                             .opcode = node->opcode,
                             .dtype = node->dtype,
                             .bits = node->bits,
                             .n_operands = node->n_operands,
                             .operand = node->operand,
                             .rank = node->rank,
                             .shape = node->shape,
                             .n_dims = node->n_dims,
                             .dims = node->dim,
                             .start = node->start,
                             .length = node->shape,
                             .step = node->step,
                             .low = node->low,
                             .high = node->high,
                             .value = node->value,
                             .keepdim = node->keepdim,
                             .reverse = node->reverse,
                             .in_place = node->in_place,
                             .stick = node->stick,
                             .conv = node->conv};
  if (node->op == TESELA_OP_INPUT) spec->strides = node->host_stride;
  if (node->op == TESELA_OP_ALONG) spec->length = &node->shape[node->dim[0]];
  if (node->op == TESELA_OP_POOL) {
    spec->length = node->length;
    spec->dilation = node->dilation;
    spec->x_dilation = node->x_dilation;
  }
  if (node->op == TESELA_OP_MATMUL) {
    spec->n_labels = node->n_labels;
    spec->x_label = node->label[0];
    spec->y_label = node->label[1];
  }
}
