/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_matmul.c - shape of matmul.
 *
 * Labels define a matmul: each dim of x and y has the number of an iteration dim; 0 .. rank-1 are the result's dims, the
 * others are summed. NumPy's rules are turned into labels:
 *
 *   x[5,1,7] @ y[4,7,3]   refused: batch extents 5 and 4
 *   x[4,1,7] @ y[7,3]     labels x 0,1,3   y 3,2        result [4,1,3], dim 3 summed over 7
 *   x[1,2,7] @ y[4,7,3]   labels x -,1,3   y 0,3,2      result [4,2,3]; x has no index in its dim of 1
 */
#include "graph/program/graph.h"

static tesela_status matmul_no_fit(const tesela_node *x, const tesela_node *y, const tesela_node *node,
                                   const char *why, tesela_error *err) {
  char left[TESELA__SHAPE_TEXT], right[TESELA__SHAPE_TEXT];
  return tesela__graph_fail(err, TESELA_E_INVALID, node, "%s and %s %s",
                            tesela__shape_text(left, x->rank, x->shape),
                            tesela__shape_text(right, y->rank, y->shape), why);
}

/* NumPy's rules as labels; also sets rank and extents of the result. */
static tesela_status matmul_numpy(const tesela_node *x, const tesela_node *y, tesela_node *node,
                                  tesela_error *err) {
  if (x->rank == 0 || y->rank == 0)
    return matmul_no_fit(x, y, node, "cannot be multiplied: a scalar is not a matrix", err);
  int32_t x_batch = x->rank > 2 ? x->rank - 2 : 0, y_batch = y->rank > 2 ? y->rank - 2 : 0;
  int32_t batch = x_batch > y_batch ? x_batch : y_batch, rank = batch;
  for (int32_t b = 0; b < batch; b++) {
    int32_t in_x = b - (batch - x_batch), in_y = b - (batch - y_batch);
    int64_t e = in_x < 0 ? 1 : x->shape[in_x], f = in_y < 0 ? 1 : y->shape[in_y];
    if (e != f && e != 1 && f != 1)
      return matmul_no_fit(x, y, node, "cannot be multiplied: batch extents differ and neither is 1", err);
    node->shape[b] = e == 1 ? f : e;
    if (in_x >= 0) node->label[0][in_x] = e == node->shape[b] ? b : -1;
    if (in_y >= 0) node->label[1][in_y] = f == node->shape[b] ? b : -1;
  }
  if (x->rank > 1) {
    node->label[0][x->rank - 2] = rank;
    node->shape[rank++] = x->shape[x->rank - 2];
  }
  if (y->rank > 1) {
    node->label[1][y->rank - 1] = rank;
    node->shape[rank++] = y->shape[y->rank - 1];
  }
  int32_t y_sum = y->rank > 1 ? y->rank - 2 : 0;
  node->label[0][x->rank - 1] = node->label[1][y_sum] = rank;
  if (x->shape[x->rank - 1] != y->shape[y_sum])
    return matmul_no_fit(
        x, y, node, "cannot be multiplied: the last extent of x must equal the second to last of y", err);
  node->rank = rank;
  node->n_labels = rank + 1;
  return TESELA_OK;
}

/* Copy one operand's labels into the node; extent[label] is -1 until it is known. */
static tesela_status matmul_take(const tesela_node *operand, int32_t k, const int32_t *label,
                                 tesela_node *node, int64_t *extent, tesela_error *err) {
  uint64_t seen = 0;
  const char *side = k == 0 ? "x" : "y";
  if (operand->rank > 0 && !label)
    return tesela__graph_fail(err, TESELA_E_INVALID, node, "%s has no labels", side);
  for (int32_t d = 0; d < operand->rank; d++) {
    int32_t at = label[d];
    node->label[k][d] = at;
    if (at == -1 && operand->shape[d] == 1) continue;
    if (at < 0 || at >= node->n_labels)
      return tesela__graph_fail(err, TESELA_E_RANGE, node,
                                "dim %" PRId32 " of %s has label %" PRId32 "; expected 0 to %" PRId32, d,
                                side, at, node->n_labels - 1);
    if (seen >> at & 1)
      return tesela__graph_fail(err, TESELA_E_INVALID, node, "two dims of %s have label %" PRId32, side, at);
    seen |= (uint64_t)1 << at;
    if (extent[at] >= 0 && extent[at] != operand->shape[d])
      return tesela__graph_fail(err, TESELA_E_INVALID, node,
                                "label %" PRId32 " has extent %" PRId64 " in x and %" PRId64 " in y", at,
                                extent[at], operand->shape[d]);
    extent[at] = operand->shape[d];
  }
  return TESELA_OK;
}

static tesela_status matmul_labels(const tesela_node_spec *spec, const tesela_node *x, const tesela_node *y,
                                   tesela_node *node, tesela_error *err) {
  int64_t extent[TESELA_GRAPH_ITERATION];
  if (spec->n_labels < 0 || spec->n_labels > TESELA_GRAPH_ITERATION)
    return tesela__graph_fail(err, TESELA_E_LIMIT, node, "%" PRId32 " labels; expected 0 to %d",
                              spec->n_labels, TESELA_GRAPH_ITERATION);
  if (spec->rank < 0 || spec->rank > TESELA_GRAPH_RANK || spec->rank > spec->n_labels)
    return tesela__graph_fail(err, TESELA_E_RANGE, node,
                              "rank %" PRId32 " with %" PRId32
                              " labels; the first `rank` labels are the result's dims",
                              spec->rank, spec->n_labels);
  for (int32_t i = 0; i < spec->n_labels; i++) extent[i] = -1;
  node->n_labels = spec->n_labels;
  tesela_status status = matmul_take(x, 0, spec->x_label, node, extent, err);
  if (status == TESELA_OK) status = matmul_take(y, 1, spec->y_label, node, extent, err);
  for (int32_t i = 0; i < spec->n_labels && status == TESELA_OK; i++)
    if (extent[i] < 0)
      status = tesela__graph_fail(err, TESELA_E_INVALID, node, "no dim has label %" PRId32, i);
  if (status != TESELA_OK) return status;
  node->rank = spec->rank;
  memcpy(node->shape, extent, (size_t)spec->rank * sizeof *extent);
  return TESELA_OK;
}

tesela_status tesela__shape_matmul(const tesela_graph *graph, const tesela_node_spec *spec, tesela_node *node,
                                   tesela_error *err) {
  const tesela_node *x = tesela__graph_operand(graph, node, 0), *y = tesela__graph_operand(graph, node, 1);
  for (int32_t d = 0; d < TESELA_GRAPH_RANK; d++) node->label[0][d] = node->label[1][d] = -1;
  tesela_status status =
      spec->x_label || spec->y_label ? matmul_labels(spec, x, y, node, err) : matmul_numpy(x, y, node, err);
  if (status == TESELA_OK) tesela__graph_type_of_first(graph, node);
  return status;
}
