/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_view.c - views: permute, squeeze, unsqueeze, expand, slice. They change shape, strides and offset of operand 0's view of its
 * buffer; nothing moves.
 *
 * No stride or offset can exceed int64: with an extent above 1 the element exists, so stride and offset are below the number of
 * elements of the buffer; other extents keep their stride.
 */
#include "graph/program/graph.h"

tesela_status tesela__view_permute(const tesela_graph *graph, const tesela_node_spec *spec, tesela_node *node,
                                   tesela_error *err) {
  const tesela_node *x = tesela__graph_operand(graph, node, 0);
  tesela_status status = tesela__graph_dims(spec, x->rank, node, err);
  if (status != TESELA_OK) return status;
  if (node->n_dims != x->rank)
    return tesela__graph_fail(err, TESELA_E_INVALID, node,
                              "%" PRId32 " dims are listed; a permutation must list all %" PRId32,
                              node->n_dims, x->rank);
  for (int32_t d = 0; d < x->rank; d++) {
    node->shape[d] = x->shape[node->dim[d]];
    node->stride[d] = x->stride[node->dim[d]];
  }
  return TESELA_OK;
}

tesela_status tesela__view_squeeze(const tesela_graph *graph, const tesela_node_spec *spec, tesela_node *node,
                                   tesela_error *err) {
  const tesela_node *x = tesela__graph_operand(graph, node, 0);
  tesela_status status = tesela__graph_dims(spec, x->rank, node, err);
  if (status != TESELA_OK) return status;
  for (int32_t d = 0; d < x->rank && spec->n_dims == 0; d++)
    if (x->shape[d] == 1) node->dim[node->n_dims++] = d;
  int32_t rank = 0;
  for (int32_t d = 0; d < x->rank; d++) {
    bool gone = tesela__graph_names_dim(node, d);
    if (gone && x->shape[d] != 1)
      return tesela__graph_fail(
          err, TESELA_E_INVALID, node,
          "dim %" PRId32 " has extent %" PRId64 "; only a dim of extent 1 can be removed", d, x->shape[d]);
    if (gone) continue;
    node->shape[rank] = x->shape[d];
    node->stride[rank++] = x->stride[d];
  }
  node->rank = rank;
  return TESELA_OK;
}

tesela_status tesela__view_unsqueeze(const tesela_graph *graph, const tesela_node_spec *spec,
                                     tesela_node *node, tesela_error *err) {
  const tesela_node *x = tesela__graph_operand(graph, node, 0);
  if (spec->n_dims < 1)
    return tesela__graph_fail(err, TESELA_E_INVALID, node,
                              "missing list of dims: the positions of the new dims of 1");
  if (spec->n_dims > TESELA_GRAPH_RANK - x->rank)
    return tesela__graph_fail(err, TESELA_E_LIMIT, node,
                              "%" PRId32 " and %" PRId32 " dims; expected at most %d", x->rank, spec->n_dims,
                              TESELA_GRAPH_RANK);
  node->rank = x->rank + spec->n_dims;
  tesela_status status = tesela__graph_dims(spec, node->rank, node, err);
  if (status != TESELA_OK) return status;
  int32_t from = x->rank - 1;
  int64_t next = 1; /* the stride of a dim before those done so far */
  for (int32_t d = node->rank - 1; d >= 0; d--) {
    bool comes = tesela__graph_names_dim(node, d);
    node->shape[d] = comes ? 1 : x->shape[from];
    node->stride[d] = comes ? next : x->stride[from];
    if (!tesela__mul(node->stride[d], tesela__max(node->shape[d], 1), &next)) next = node->stride[d];
    if (!comes) from--;
  }
  return TESELA_OK;
}

tesela_status tesela__view_expand(const tesela_graph *graph, const tesela_node_spec *spec, tesela_node *node,
                                  tesela_error *err) {
  const tesela_node *x = tesela__graph_operand(graph, node, 0);
  tesela_status status = tesela__graph_given_shape(spec, -1, node, err);
  if (status != TESELA_OK) return status;
  if (node->rank < x->rank) {
    char have[TESELA__SHAPE_TEXT], want[TESELA__SHAPE_TEXT];
    return tesela__graph_fail(err, TESELA_E_INVALID, node, "%s cannot become %s: dims cannot be removed",
                              tesela__shape_text(have, x->rank, x->shape),
                              tesela__shape_text(want, node->rank, node->shape));
  }
  status = tesela__graph_dims(spec, node->rank, node, err);
  if (status != TESELA_OK) return status;
  if (spec->n_dims == 0)
    for (node->n_dims = 0; node->n_dims < x->rank; node->n_dims++)
      node->dim[node->n_dims] = node->rank - x->rank + node->n_dims;
  if (node->n_dims != x->rank)
    return tesela__graph_fail(err, TESELA_E_INVALID, node,
                              "%" PRId32 " dims are listed; operand 0 has %" PRId32, node->n_dims, x->rank);
  memset(node->stride, 0, sizeof node->stride);
  for (int32_t i = 0; i < x->rank; i++) {
    int32_t d = node->dim[i];
    if (node->shape[d] == -1) node->shape[d] = x->shape[i];
    if (node->shape[d] != x->shape[i] && x->shape[i] != 1)
      return tesela__graph_fail(err, TESELA_E_INVALID, node,
                                "dim %" PRId32 " of extent %" PRId64 " cannot become %" PRId64
                                ": only extent 1 can be repeated",
                                i, x->shape[i], node->shape[d]);
    if (node->shape[d] == x->shape[i]) node->stride[d] = x->stride[i];
  }
  for (int32_t d = 0; d < node->rank; d++)
    if (node->shape[d] == -1)
      return tesela__graph_fail(err, TESELA_E_INVALID, node,
                                "dim %" PRId32 " is new: -1 cannot keep its extent", d);
  return TESELA_OK;
}

/* ---- slice ---- */

/* One dim: `length` elements from `start` in steps of `step`. */
static tesela_status view_slice_dim(const tesela_node *x, int32_t d, int64_t length, tesela_node *node,
                                    tesela_error *err) {
  int64_t start = node->start[d], step = node->step[d], n = x->shape[d], last = 0;
  bool fits = length >= 0 && start >= 0 && start <= n &&
              tesela__mul(tesela__max(length - 1, 0), step, &last) && tesela__add(start, last, &last);
  if (fits && length > 0) fits = start < n && last >= 0 && last < n;
  if (!fits)
    return tesela__graph_fail(err, TESELA_E_RANGE, node,
                              "%" PRId64 " elements from %" PRId64 " in steps of %" PRId64
                              " are not in dim %" PRId32 " of extent %" PRId64,
                              length, start, step, d, n);
  node->shape[d] = length;
  if (length > 0) node->offset += start * x->stride[d];
  if (length > 1) node->stride[d] = step * x->stride[d];
  return TESELA_OK;
}

tesela_status tesela__view_slice(const tesela_graph *graph, const tesela_node_spec *spec, tesela_node *node,
                                 tesela_error *err) {
  const tesela_node *x = tesela__graph_operand(graph, node, 0);
  tesela_status status = tesela__graph_dims(spec, x->rank, node, err);
  if (status != TESELA_OK) return status;
  bool all = spec->n_dims == 0;
  for (int32_t d = 0; d < x->rank; d++) {
    int32_t i = all ? d : -1;
    node->step[d] = 1;
    for (int32_t k = 0; k < spec->n_dims; k++)
      if (node->dim[k] == d) i = k;
    if (i < 0) continue;
    node->start[d] = spec->start ? spec->start[i] : 0;
    node->step[d] = spec->step ? spec->step[i] : 1;
    int64_t start = node->start[d], step = node->step[d], n = x->shape[d], length;
    if (step == 0) return tesela__graph_fail(err, TESELA_E_RANGE, node, "dim %" PRId32 " has step 0", d);
    if (spec->length)
      length = spec->length[i];
    else if (start < 0 || start > n)
      length = 1; /* refused below */
    else if (step > 0)
      length = tesela__ceil_div(n - start, step);
    else
      length = start < n ? start / (step == INT64_MIN ? INT64_MAX : -step) + 1 : 0;
    status = view_slice_dim(x, d, length, node, err);
    if (status != TESELA_OK) return status;
  }
  node->n_dims = 0; /* start and step are given for all dims now */
  for (int32_t i = 0; i < TESELA_GRAPH_RANK; i++) node->dim[i] = 0;
  return TESELA_OK;
}
