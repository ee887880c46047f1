/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_along.c - shape and type of operators along a dim: cumulative ones, sort, top-k.
 *
 * Each line of the operand along that dim gives a line of the result, of its own extent, as NumPy's apply_along_axis.
 */
#include "graph/program/graph.h"

static bool along_cumulates(tesela_fn fn) { return fn >= TESELA_FN_CUMSUM && fn <= TESELA_FN_CUMMIN; }

/* The result's extent along the dim. */
static tesela_status along_length(const tesela_node_spec *spec, tesela_node *node, int64_t *extent,
                                  tesela_error *err) {
  if (!spec->length) return TESELA_OK;
  int64_t length = spec->length[0];
  if (length < 0)
    return tesela__graph_fail(err, TESELA_E_RANGE, node, "length %" PRId64 "; expected 0 or more", length);
  if (along_cumulates(node->fn) && length != *extent)
    return tesela__graph_fail(err, TESELA_E_INVALID, node,
                              "length %" PRId64 "; %s keeps the extent of dim %" PRId32 ", which is %" PRId64,
                              length, tesela_fn_name(node->fn), node->dim[0], *extent);
  if (node->fn != TESELA_FN_FUSED && length > *extent)
    return tesela__graph_fail(err, TESELA_E_RANGE, node,
                              "the first %" PRId64 " elements of dim %" PRId32 ", which has %" PRId64, length,
                              node->dim[0], *extent);
  *extent = length;
  return TESELA_OK;
}

/* Operands of an unknown function have one shape; known ones have one operand. */
static tesela_status along_operands(const tesela_graph *graph, const tesela_node *node, tesela_error *err) {
  if (node->fn != TESELA_FN_FUSED && node->n_operands != 1)
    return tesela__graph_fail(err, TESELA_E_INVALID, node, "%" PRId32 " operands; %s expects 1",
                              node->n_operands, tesela_fn_name(node->fn));
  for (int32_t k = 1; k < node->n_operands; k++) {
    const tesela_node *operand = tesela__graph_operand(graph, node, k);
    char have[TESELA__SHAPE_TEXT], other[TESELA__SHAPE_TEXT];
    if (operand->rank != node->rank ||
        memcmp(operand->shape, node->shape, (size_t)node->rank * sizeof *node->shape) != 0)
      return tesela__graph_fail(err, TESELA_E_INVALID, node,
                                "operand %" PRId32 " has shape %s, but operand 0 has %s", k,
                                tesela__shape_text(other, operand->rank, operand->shape),
                                tesela__shape_text(have, node->rank, node->shape));
  }
  return TESELA_OK;
}

tesela_status tesela__shape_along(const tesela_graph *graph, const tesela_node_spec *spec, tesela_node *node,
                                  tesela_error *err) {
  if (!along_cumulates(node->fn) && node->fn != TESELA_FN_SORT && node->fn != TESELA_FN_ARGSORT &&
      node->fn != TESELA_FN_FUSED)
    return tesela__graph_fail(
        err, TESELA_E_INVALID, node,
        "%s does not run along a dim; expected cumsum, cumprod, cummax, cummin, sort, argsort or fused",
        tesela_fn_name(node->fn));
  if (spec->n_dims > 1)
    return tesela__graph_fail(err, TESELA_E_INVALID, node, "runs along %" PRId32 " dims; expected 1",
                              spec->n_dims);
  if (node->rank == 0)
    return tesela__graph_fail(err, TESELA_E_INVALID, node, "operand 0 has no dim to run along");
  tesela_status status = tesela__graph_dims(spec, node->rank, node, err);
  if (status != TESELA_OK) return status;
  if (node->n_dims == 0) node->dim[0] = node->rank - 1;
  node->n_dims = 1;
  status = along_operands(graph, node, err);
  if (status == TESELA_OK) status = along_length(spec, node, &node->shape[node->dim[0]], err);
  if (status != TESELA_OK) return status;
  node->reverse = spec->reverse && node->fn != TESELA_FN_FUSED;
  if (node->fn == TESELA_FN_ARGSORT && node->dtype == TESELA_DTYPE_NONE) node->dtype = TESELA_S32;
  tesela_dtype_family family = tesela_dtype_family_of(node->dtype);
  if (node->fn == TESELA_FN_ARGSORT && family != TESELA_FAMILY_SIGNED && family != TESELA_FAMILY_UNSIGNED)
    return tesela__graph_fail(err, TESELA_E_INVALID, node, "type %s; expected integers for argsort",
                              tesela_dtype_name(node->dtype));
  tesela__graph_type_of_first(graph, node);
  return TESELA_OK;
}
