/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_plain.c - shapes and types of inputs, constants, pointwise operators, folds, copies and fallbacks.
 */
#include "graph/program/graph.h"

tesela_status tesela__shape_input(const tesela_graph *graph, const tesela_node_spec *spec, tesela_node *node,
                                  tesela_error *err) {
  (void)graph;
  tesela_status status = tesela__graph_given_shape(spec, 0, node, err);
  if (status != TESELA_OK) return status;
  int64_t least = 0, most = 0;
  if (!tesela__graph_row_major(node->rank, node->shape, node->host_stride))
    return tesela__graph_fail(err, TESELA_E_OVERFLOW, node, "its elements exceed 2^63");
  for (int32_t d = 0; d < node->rank && spec->strides; d++) {
    int64_t reach, stride = spec->strides[d];
    node->host_stride[d] = stride;
    int64_t *end = stride < 0 ? &least : &most;
    if (!tesela__mul(tesela__max(node->shape[d] - 1, 0), stride, &reach) || !tesela__add(*end, reach, end))
      return tesela__graph_fail(err, TESELA_E_OVERFLOW, node,
                                "stride %" PRId64 " of dim %" PRId32 " reaches beyond 2^63 elements", stride,
                                d);
  }
  bool any = spec->stick == TESELA_STICK_FREE || spec->stick == TESELA_STICK_SPARSE;
  if (!any && (spec->stick < 0 || spec->stick >= tesela__max(node->rank, 1)))
    return tesela__graph_fail(err, TESELA_E_RANGE, node,
                              "stick dim %" PRId32 "; there are %" PRId32
                              " dims, %d means one element per stick, %d any",
                              spec->stick, node->rank, TESELA_STICK_SPARSE, TESELA_STICK_FREE);
  node->stick = node->rank == 0 && !any ? TESELA_STICK_SPARSE : spec->stick;
  return TESELA_OK;
}

tesela_status tesela__shape_constant(const tesela_graph *graph, const tesela_node_spec *spec,
                                     tesela_node *node, tesela_error *err) {
  (void)graph;
  tesela_status status = tesela__graph_given_shape(spec, 0, node, err);
  if (status != TESELA_OK) return status;
  if (spec->n_dims > 1)
    return tesela__graph_fail(err, TESELA_E_INVALID, node, "counts along %" PRId32 " dims; expected 1",
                              spec->n_dims);
  return tesela__graph_dims(spec, node->rank, node, err);
}

/* ---- pointwise ---- */

static bool plain_is_comparison(tesela_fn fn) {
  return (fn >= TESELA_FN_EQ && fn <= TESELA_FN_GE) || fn == TESELA_FN_ISFINITE;
}

static bool plain_has_bits(tesela_fn fn) {
  return fn == TESELA_FN_AND || fn == TESELA_FN_OR || fn == TESELA_FN_XOR || fn == TESELA_FN_NOT ||
         (fn >= TESELA_FN_SHIFT_LEFT && fn <= TESELA_FN_CLZ);
}

tesela_status tesela__graph_check_bits(const tesela_graph *graph, const tesela_node *node,
                                       tesela_error *err) {
  if (!plain_has_bits(node->fn)) return TESELA_OK;
  for (int32_t k = 0; k < node->n_operands; k++) {
    tesela_dtype dtype = tesela__graph_operand(graph, node, k)->dtype;
    tesela_dtype_family family = tesela_dtype_family_of(dtype);
    if (family == TESELA_FAMILY_FLOAT || family == TESELA_FAMILY_COMPLEX)
      return tesela__graph_fail(err, TESELA_E_INVALID, node,
                                "%s of %s: operand %" PRId32 " must be integers or pred",
                                tesela_fn_name(node->fn), tesela_dtype_name(dtype), k);
  }
  return TESELA_OK;
}

/* Broadcast the result's shape with that of an operand: aligned at the end, extents equal or one of them 1. */
static bool plain_broadcast(tesela_node *node, const tesela_node *operand) {
  int64_t shape[TESELA_GRAPH_RANK];
  int32_t rank = node->rank > operand->rank ? node->rank : operand->rank;
  for (int32_t d = 0; d < rank; d++) {
    int32_t a = d - (rank - node->rank), b = d - (rank - operand->rank);
    int64_t have = a < 0 ? 1 : node->shape[a], other = b < 0 ? 1 : operand->shape[b];
    if (have != other && have != 1 && other != 1) return false;
    shape[d] = have == 1 ? other : have;
  }
  node->rank = rank;
  memcpy(node->shape, shape, (size_t)rank * sizeof *shape);
  return true;
}

tesela_status tesela__shape_pointwise(const tesela_graph *graph, const tesela_node_spec *spec,
                                      tesela_node *node, tesela_error *err) {
  (void)spec;
  int32_t want = tesela_fn_operands(node->fn);
  if (node->fn == TESELA_FN_NONE || (want == 0 && node->fn != TESELA_FN_FUSED))
    return tesela__graph_fail(err, TESELA_E_INVALID, node, "%s is not a function of elements",
                              tesela_fn_name(node->fn));
  if (want > 0 && node->n_operands != want)
    return tesela__graph_fail(err, TESELA_E_INVALID, node, "%" PRId32 " operands; %s expects %" PRId32,
                              node->n_operands, tesela_fn_name(node->fn), want);
  tesela_status status = tesela__graph_check_bits(graph, node, err);
  for (int32_t k = 1; k < node->n_operands && status == TESELA_OK; k++) {
    const tesela_node *operand = tesela__graph_operand(graph, node, k);
    char have[TESELA__SHAPE_TEXT], other[TESELA__SHAPE_TEXT];
    if (!plain_broadcast(node, operand))
      status =
          tesela__graph_fail(err, TESELA_E_INVALID, node,
                             "operand %" PRId32 " %s does not broadcast with %s: extents must be equal or 1",
                             k, tesela__shape_text(other, operand->rank, operand->shape),
                             tesela__shape_text(have, node->rank, node->shape));
  }
  if (status != TESELA_OK || node->dtype != TESELA_DTYPE_NONE) return status;
  bool middle = node->fn == TESELA_FN_SELECT || node->fn == TESELA_FN_CLAMP;
  const tesela_node *like = tesela__graph_operand(graph, node, middle ? 1 : node->n_operands - 1);
  node->dtype = plain_is_comparison(node->fn) ? TESELA_PRED : like->dtype;
  if (node->bits == 0) node->bits = like->bits;
  return TESELA_OK;
}

/* ---- the others ---- */

tesela_status tesela__shape_reduce(const tesela_graph *graph, const tesela_node_spec *spec, tesela_node *node,
                                   tesela_error *err) {
  static const tesela_fn folds[] = {TESELA_FN_SUM, TESELA_FN_PROD, TESELA_FN_MEAN, TESELA_FN_MAX,
                                    TESELA_FN_MIN, TESELA_FN_AND,  TESELA_FN_OR,   TESELA_FN_XOR};
  bool known = false;
  for (size_t i = 0; i < sizeof folds / sizeof folds[0]; i++) known = known || folds[i] == node->fn;
  if (!known)
    return tesela__graph_fail(err, TESELA_E_INVALID, node,
                              "%s is not a fold; expected sum, prod, mean, max, min, and, or or xor",
                              tesela_fn_name(node->fn));
  tesela_status status = tesela__graph_check_bits(graph, node, err);
  if (status == TESELA_OK) status = tesela__graph_dims(spec, node->rank, node, err);
  if (status != TESELA_OK) return status;
  if (spec->n_dims == 0)
    for (node->n_dims = 0; node->n_dims < node->rank; node->n_dims++) node->dim[node->n_dims] = node->n_dims;
  int32_t rank = 0;
  for (int32_t d = 0; d < node->rank; d++) {
    bool folded = tesela__graph_names_dim(node, d);
    if (!folded || node->keepdim) node->shape[rank++] = folded ? 1 : node->shape[d];
  }
  node->rank = rank;
  tesela__graph_type_of_first(graph, node);
  return TESELA_OK;
}

tesela_status tesela__shape_copy(const tesela_graph *graph, const tesela_node_spec *spec, tesela_node *node,
                                 tesela_error *err) {
  (void)spec;
  tesela_dtype dtype = tesela__graph_operand(graph, node, 0)->dtype;
  if (node->dtype != TESELA_DTYPE_NONE && dtype != TESELA_DTYPE_NONE && node->dtype != dtype)
    return tesela__graph_fail(err, TESELA_E_INVALID, node, "a copy has the operand's type %s, not %s",
                              tesela_dtype_name(dtype), tesela_dtype_name(node->dtype));
  tesela__graph_type_of_first(graph, node);
  return TESELA_OK;
}

tesela_status tesela__shape_fallback(const tesela_graph *graph, const tesela_node_spec *spec,
                                     tesela_node *node, tesela_error *err) {
  tesela_status status = tesela__graph_given_shape(spec, 0, node, err);
  if (status == TESELA_OK && node->n_operands > 0) tesela__graph_type_of_first(graph, node);
  return status;
}
