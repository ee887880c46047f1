/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_print_op.c - nodes that HLO expresses exactly: opcode, operands, attributes.
 *
 * Each function first tests whether HLO expresses the node; without a sink it does nothing else.
 */
#include <math.h>

#include "graph/hlo/hlo.h"

static void op_word(tesela__hlo_printer *p, const char *opcode, const tesela_node *node) {
  tesela__puts(p->sink, opcode);
  tesela__hlo_print_operands(p, node);
}

static void op_dims(tesela__hlo_printer *p, const char *key, int32_t n, const int32_t *dims) {
  tesela__putf(p->sink, ", %s={", key);
  tesela__hlo_print_list(p->sink, n, dims);
  tesela__putc(p->sink, '}');
}

static bool op_same_shape(const tesela_node *a, const tesela_node *b) {
  return a->rank == b->rank && memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0;
}

/* ---- given ---- */

static bool op_input(tesela__hlo_printer *p, const tesela_node *node) {
  int64_t stride[TESELA_GRAPH_RANK];
  tesela__graph_row_major(node->rank, node->shape, stride);
  if (node->layout || node->stick != TESELA_STICK_FREE ||
      memcmp(stride, node->host_stride, (size_t)node->rank * sizeof *stride) != 0)
    return false;
  if (p->sink) tesela__putf(p->sink, "parameter(%" PRId32 ")", p->n_inputs++);
  return true;
}

static bool op_constant(tesela__hlo_printer *p, const tesela_node *node) {
  bool iota = node->n_dims == 1 && node->value == 0 && !signbit(node->value);
  if (!iota && (node->rank > 0 || !tesela__hlo_plain_value(node))) return false;
  if (!p->sink) return true;
  if (iota) {
    tesela__putf(p->sink, "iota(), iota_dimension=%" PRId32, node->dim[0]);
    return true;
  }
  tesela__puts(p->sink, "constant(");
  tesela__hlo_print_value(p->sink, node->dtype, node->value);
  tesela__putc(p->sink, ')');
  return true;
}

/* ---- computed ---- */

static bool op_pointwise(tesela__hlo_printer *p, const tesela_node *node) {
  static const char *const direction[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  bool compare = node->fn >= TESELA_FN_EQ && node->fn <= TESELA_FN_GE;
  const char *opcode = node->fn == TESELA_FN_FUSED ? node->opcode : tesela__hlo_opcode_of(node->fn);
  if (compare) opcode = "compare";
  if (!opcode || (compare && node->dtype != TESELA_PRED)) return false;
  if (node->fn == TESELA_FN_FUSED && /* an HLO function that is unknown here */
      tesela__hlo_function_of(opcode, (tesela__hlo_span){0, strlen(opcode)}) != TESELA_FN_FUSED)
    return false;
  for (int32_t k = 0; k < node->n_operands; k++)
    if (!op_same_shape(node, tesela__graph_operand(p->graph, node, k))) return false;
  if (node->fn == TESELA_FN_COPY && tesela__graph_operand(p->graph, node, 0)->dtype == node->dtype)
    opcode = "copy";
  if (!p->sink) return true;
  op_word(p, opcode, node);
  if (compare) tesela__putf(p->sink, ", direction=%s", direction[node->fn - TESELA_FN_EQ]);
  return true;
}

static bool op_reduce(tesela__hlo_printer *p, const tesela_node *node) {
  tesela_dtype_family family = tesela_dtype_family_of(node->dtype);
  if (node->keepdim || node->fn == TESELA_FN_MEAN || node->n_dims == 0 || family == TESELA_FAMILY_COMPLEX ||
      tesela__graph_operand(p->graph, node, 0)->dtype != node->dtype)
    return false;
  if (!p->sink) return true;
  tesela__hlo_print_with_scalars(p, "reduce", node, "start", -1);
  op_dims(p, "dimensions", node->n_dims, node->dim);
  tesela__putf(p->sink, ", to_apply=%%%s_%s", tesela_fn_name(node->fn), tesela_dtype_name(node->dtype));
  return true;
}

/* The dim of an operand with this label, or -1. */
static int32_t op_dim_of(const tesela_graph *graph, const tesela_node *node, int32_t k, int32_t label) {
  for (int32_t d = 0; d < tesela__graph_operand(graph, node, k)->rank; d++)
    if (node->label[k][d] == label) return d;
  return -1;
}

/* Only a matmul with batch dims, then dims of x, then dims of y, and summed dims in both, is a dot. */
static bool op_matmul(tesela__hlo_printer *p, const tesela_node *node) {
  static const char *const batch_key[2] = {"lhs_batch_dims", "rhs_batch_dims"};
  static const char *const sum_key[2] = {"lhs_contracting_dims", "rhs_contracting_dims"};
  int32_t batch[2][TESELA_GRAPH_RANK], sum[2][TESELA_GRAPH_RANK], n_batch = 0, n_sum = 0, next = 0;
  for (int32_t label = 0; label < node->n_labels; label++) {
    int32_t d = op_dim_of(p->graph, node, 0, label), e = op_dim_of(p->graph, node, 1, label);
    bool both = d >= 0 && e >= 0;
    if (label >= node->rank && (!both || n_sum == TESELA_GRAPH_RANK)) return false;
    if (label < node->rank && both) {
      if (n_batch != label) return false;
      batch[0][n_batch] = d, batch[1][n_batch++] = e;
    }
    if (label >= node->rank) sum[0][n_sum] = d, sum[1][n_sum++] = e;
  }
  next = n_batch;
  for (int32_t k = 0; k < 2; k++)
    for (int32_t d = 0; d < tesela__graph_operand(p->graph, node, k)->rank; d++) {
      int32_t label = node->label[k][d];
      if (label < 0 || (label >= n_batch && label < node->rank && label != next++)) return false;
    }
  if (!p->sink) return true;
  op_word(p, "dot", node);
  for (int32_t k = 0; k < 2; k++) {
    if (n_batch > 0) op_dims(p, batch_key[k], n_batch, batch[k]);
    op_dims(p, sum_key[k], n_sum, sum[k]);
  }
  return true;
}

/* ---- tables of the rest ---- */

bool tesela__hlo_print_op(tesela__hlo_printer *p, const tesela_node *node) {
  if (node->dtype == TESELA_DTYPE_NONE) return false;
  switch (node->op) {
  case TESELA_OP_INPUT:
    return op_input(p, node);
  case TESELA_OP_CONSTANT:
    return op_constant(p, node);
  case TESELA_OP_POINTWISE:
    return op_pointwise(p, node);
  case TESELA_OP_REDUCE:
    return op_reduce(p, node);
  case TESELA_OP_MATMUL:
    return op_matmul(p, node);
  case TESELA_OP_CONV2D:
    return tesela__hlo_print_convolution(p, node);
  case TESELA_OP_POOL:
    return tesela__hlo_print_reduce_window(p, node);
  case TESELA_OP_WRITE:
    for (int32_t d = 0; d < node->rank; d++)
      if (node->step[d] != 1 || node->start[d] >= (int64_t)1 << 53) return false;
    if (node->in_place || node->rank == 0 || node->dtype != tesela__graph_operand(p->graph, node, 0)->dtype)
      return false;
    if (p->sink) tesela__hlo_print_with_scalars(p, "dynamic-update-slice", node, "start", node->rank);
    return true;
  default:
    return tesela__hlo_print_piece(p, node);
  }
}
