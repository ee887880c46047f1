/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_index.c - shapes of lookups and pieces: gather, scatter, cat, pad, write.
 */
#include "graph/program/graph.h"

/* The dim that is looked up, and the shape of one value for each index: x's, with that of the indices in place of the dim. */
static tesela_status index_looked_up(const tesela_graph *graph, const tesela_node_spec *spec,
                                     tesela_node *node, int32_t *rank, int64_t *shape, tesela_error *err) {
  const tesela_node *x = tesela__graph_operand(graph, node, 0), *at = tesela__graph_operand(graph, node, 1);
  if (spec->n_dims > 1)
    return tesela__graph_fail(err, TESELA_E_INVALID, node, "looks up %" PRId32 " dims; expected 1",
                              spec->n_dims);
  if (x->rank == 0) return tesela__graph_fail(err, TESELA_E_INVALID, node, "operand 0 has no dim to look up");
  tesela_status status = tesela__graph_dims(spec, x->rank, node, err);
  if (status != TESELA_OK) return status;
  node->n_dims = 1; /* without dims it is dim 0 */
  tesela_dtype_family family = tesela_dtype_family_of(at->dtype);
  if (at->dtype != TESELA_DTYPE_NONE && family != TESELA_FAMILY_SIGNED && family != TESELA_FAMILY_UNSIGNED)
    return tesela__graph_fail(err, TESELA_E_INVALID, node, "operand 1 is %s; expected integers as indices",
                              tesela_dtype_name(at->dtype));
  *rank = x->rank - 1 + at->rank;
  if (*rank > TESELA_GRAPH_RANK)
    return tesela__graph_fail(err, TESELA_E_LIMIT, node, "rank %" PRId32 "; expected at most %d", *rank,
                              TESELA_GRAPH_RANK);
  int32_t d = node->dim[0], n = 0;
  for (int32_t i = 0; i < d; i++) shape[n++] = x->shape[i];
  for (int32_t i = 0; i < at->rank; i++) shape[n++] = at->shape[i];
  for (int32_t i = d + 1; i < x->rank; i++) shape[n++] = x->shape[i];
  return TESELA_OK;
}

tesela_status tesela__shape_gather(const tesela_graph *graph, const tesela_node_spec *spec, tesela_node *node,
                                   tesela_error *err) {
  int64_t shape[TESELA_GRAPH_RANK];
  int32_t rank = 0;
  tesela_status status = index_looked_up(graph, spec, node, &rank, shape, err);
  if (status != TESELA_OK) return status;
  node->rank = rank;
  memcpy(node->shape, shape, (size_t)rank * sizeof *shape);
  tesela__graph_type_of_first(graph, node);
  return TESELA_OK;
}

tesela_status tesela__shape_scatter(const tesela_graph *graph, const tesela_node_spec *spec,
                                    tesela_node *node, tesela_error *err) {
  int64_t shape[TESELA_GRAPH_RANK];
  int32_t rank = 0;
  if (node->fn != TESELA_FN_NONE && node->fn != TESELA_FN_ADD)
    return tesela__graph_fail(err, TESELA_E_INVALID, node,
                              "function %s; expected none (values are set) or add (values are added)",
                              tesela_fn_name(node->fn));
  tesela_status status = index_looked_up(graph, spec, node, &rank, shape, err);
  if (status != TESELA_OK) return status;
  const tesela_node *values = tesela__graph_operand(graph, node, 2);
  if (values->rank != rank || (rank > 0 && memcmp(values->shape, shape, (size_t)rank * sizeof *shape) != 0)) {
    char have[TESELA__SHAPE_TEXT], want[TESELA__SHAPE_TEXT];
    return tesela__graph_fail(
        err, TESELA_E_INVALID, node, "values have shape %s; expected %s from x and the indices",
        tesela__shape_text(have, values->rank, values->shape), tesela__shape_text(want, rank, shape));
  }
  tesela__graph_type_of_first(graph, node);
  return TESELA_OK;
}

tesela_status tesela__shape_cat(const tesela_graph *graph, const tesela_node_spec *spec, tesela_node *node,
                                tesela_error *err) {
  if (spec->n_dims > 1)
    return tesela__graph_fail(err, TESELA_E_INVALID, node, "joins along %" PRId32 " dims; expected 1",
                              spec->n_dims);
  if (node->rank == 0)
    return tesela__graph_fail(err, TESELA_E_INVALID, node, "scalars have no dim to join along");
  tesela_status status = tesela__graph_dims(spec, node->rank, node, err);
  if (status != TESELA_OK) return status;
  node->n_dims = 1;
  int32_t dim = node->dim[0];
  for (int32_t k = 1; k < node->n_operands; k++) {
    const tesela_node *piece = tesela__graph_operand(graph, node, k);
    bool fits = piece->rank == node->rank;
    for (int32_t d = 0; d < node->rank && fits; d++) fits = d == dim || piece->shape[d] == node->shape[d];
    if (!fits) {
      char have[TESELA__SHAPE_TEXT], first[TESELA__SHAPE_TEXT];
      const tesela_node *x = tesela__graph_operand(graph, node, 0);
      return tesela__graph_fail(err, TESELA_E_INVALID, node,
                                "operand %" PRId32 " %s cannot join %s along dim %" PRId32
                                ": the other extents must be equal",
                                k, tesela__shape_text(have, piece->rank, piece->shape),
                                tesela__shape_text(first, x->rank, x->shape), dim);
    }
    if (!tesela__add(node->shape[dim], piece->shape[dim], &node->shape[dim]))
      return tesela__graph_fail(err, TESELA_E_OVERFLOW, node, "dim %" PRId32 " exceeds 2^63", dim);
  }
  tesela__graph_type_of_first(graph, node);
  return TESELA_OK;
}

tesela_status tesela__shape_pad(const tesela_graph *graph, const tesela_node_spec *spec, tesela_node *node,
                                tesela_error *err) {
  for (int32_t d = 0; d < node->rank; d++) {
    const int64_t most = INT64_C(1) << 62; /* of a border: positions relative to its start fit 64 bits */
    int64_t n = node->shape[d], extent, border;
    node->low[d] = spec->low ? spec->low[d] : 0;
    node->high[d] = spec->high ? spec->high[d] : 0;
    node->step[d] = spec->step ? spec->step[d] : 1;
    if (node->step[d] < 1)
      return tesela__graph_fail(err, TESELA_E_RANGE, node,
                                "step %" PRId64 " of dim %" PRId32 "; expected 1 or more", node->step[d], d);
    bool fits = tesela__mul(tesela__max(n - 1, 0), node->step[d], &extent) &&
                tesela__add(extent, n > 0, &extent) && tesela__add(node->low[d], node->high[d], &border) &&
                tesela__add(extent, border, &extent) && node->low[d] > -most && node->low[d] < most;
    if (!fits)
      return tesela__graph_fail(err, TESELA_E_OVERFLOW, node,
                                "dim %" PRId32 " exceeds 2^63, or a border of it 2^62", d);
    if (extent < 0)
      return tesela__graph_fail(err, TESELA_E_RANGE, node,
                                "dim %" PRId32 " of %" PRId64 " elements cut by %" PRId64 " and %" PRId64
                                " would have extent %" PRId64,
                                d, n, node->low[d], node->high[d], extent);
    node->shape[d] = extent;
  }
  tesela__graph_type_of_first(graph, node);
  return TESELA_OK;
}

tesela_status tesela__shape_write(const tesela_graph *graph, const tesela_node_spec *spec, tesela_node *node,
                                  tesela_error *err) {
  const tesela_node *piece = tesela__graph_operand(graph, node, 1);
  char have[TESELA__SHAPE_TEXT], whole[TESELA__SHAPE_TEXT];
  if (piece->rank != node->rank)
    return tesela__graph_fail(err, TESELA_E_INVALID, node,
                              "a piece %s cannot be written into %s: ranks differ",
                              tesela__shape_text(have, piece->rank, piece->shape),
                              tesela__shape_text(whole, node->rank, node->shape));
  for (int32_t d = 0; d < node->rank; d++) {
    int64_t last = 0, n = piece->shape[d];
    node->start[d] = spec->start ? spec->start[d] : 0;
    node->step[d] = spec->step ? spec->step[d] : 1;
    if (node->step[d] < 1)
      return tesela__graph_fail(err, TESELA_E_RANGE, node,
                                "step %" PRId64 " of dim %" PRId32 "; expected 1 or more", node->step[d], d);
    bool fits = tesela__mul(tesela__max(n - 1, 0), node->step[d], &last) &&
                tesela__add(last, node->start[d], &last) && last - (n == 0) < node->shape[d];
    if (node->start[d] < 0 || !fits)
      return tesela__graph_fail(
          err, TESELA_E_RANGE, node,
          "%" PRId64 " elements from %" PRId64 " in steps of %" PRId64 " do not fit dim %" PRId32 " of %s", n,
          node->start[d], node->step[d], d, tesela__shape_text(whole, node->rank, node->shape));
  }
  tesela__graph_type_of_first(graph, node);
  return TESELA_OK;
}
