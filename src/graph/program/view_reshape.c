/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_reshape.c - views of a strided tensor in another shape, without a copy.
 *
 * Dims of 1 aside, the operand's dims form runs with the strides of one long dim: stride = stride after * extent after. A new
 * shape is a view if its dims, from the end, fill run after run exactly.
 *
 *   [50,10,192] strides (1920,192,1)   one run of 96000     -> [500,192], [96000], ...
 *   [192,50]    strides (1,192)        two runs: 192, 50    -> [96,2,50] but not [9600]
 */
#include "graph/program/graph.h"

bool tesela__graph_reshape_strides(int32_t from_rank, const int64_t *from_shape, const int64_t *from_stride,
                                   int32_t rank, const int64_t *shape, int64_t *stride) {
  for (int32_t d = 0; d < rank; d++)
    if (shape[d] == 0) return tesela__graph_row_major(rank, shape, stride);
  int32_t d = rank - 1, end = from_rank - 1;
  for (int64_t next = 1;;) { /* one run after the other, from the end */
    while (end >= 0 && from_shape[end] == 1) end--;
    if (end < 0) {
      for (; d >= 0; d--) {
        if (shape[d] != 1) return false;
        stride[d] = next;
      }
      return true;
    }
    int64_t base = from_stride[end], run = from_shape[end], taken = 1, join;
    for (end--; end >= 0; end--) {
      if (from_shape[end] == 1) continue;
      if (!tesela__mul(base, run, &join) || from_stride[end] != join) break;
      run *= from_shape[end]; /* at most the elements of the tensor */
    }
    for (; d >= 0 && (taken < run || shape[d] == 1); d--) {
      if (!tesela__mul(base, taken, &stride[d])) stride[d] = base; /* only before the run, of a dim of 1 */
      taken *= shape[d];
      if (taken > run) return false;
    }
    if (taken != run) return false;
    if (!tesela__mul(base, run, &next)) next = base;
  }
}

/* Fill in the extent that is -1. */
static tesela_status reshape_fill(const tesela_node *x, tesela_node *node, tesela_error *err) {
  char have[TESELA__SHAPE_TEXT], want[TESELA__SHAPE_TEXT];
  int64_t elements = 1, known = 1;
  int32_t open = -1;
  bool fits = true, zero = false;
  for (int32_t d = 0; d < x->rank; d++) elements *= x->shape[d]; /* its node checked the product */
  for (int32_t d = 0; d < node->rank; d++) {
    if (node->shape[d] == -1 && open >= 0)
      return tesela__graph_fail(err, TESELA_E_INVALID, node,
                                "dims %" PRId32 " and %" PRId32 " are -1; expected at most one", open, d);
    if (node->shape[d] == -1)
      open = d;
    else if (node->shape[d] == 0)
      zero = true;
    else
      fits = fits && tesela__mul(known, node->shape[d], &known);
  }
  if (zero) known = 0;
  if (open >= 0 && known != 0 && fits && elements % known == 0) {
    node->shape[open] = elements / known;
    known = elements;
  }
  if ((!fits && !zero) || known != elements || (open >= 0 && node->shape[open] == -1))
    return tesela__graph_fail(
        err, TESELA_E_INVALID, node, "%s cannot become %s: the numbers of elements differ",
        tesela__shape_text(have, x->rank, x->shape), tesela__shape_text(want, node->rank, node->shape));
  return TESELA_OK;
}

tesela_status tesela__view_reshape(const tesela_graph *graph, const tesela_node_spec *spec, tesela_node *node,
                                   tesela_error *err) {
  const tesela_node *x = tesela__graph_operand(graph, node, 0);
  tesela_status status = tesela__graph_given_shape(spec, -1, node, err);
  if (status == TESELA_OK) status = reshape_fill(x, node, err);
  if (status != TESELA_OK) return status;
  if (!tesela__graph_reshape_strides(x->rank, x->shape, x->stride, node->rank, node->shape, node->stride)) {
    char have[TESELA__SHAPE_TEXT], strides[TESELA__SHAPE_TEXT], want[TESELA__SHAPE_TEXT];
    return tesela__graph_fail(
        err, TESELA_E_INVALID, node, "%s with strides %s needs a copy to become %s; clone it first",
        tesela__shape_text(have, x->rank, x->shape), tesela__shape_text(strides, x->rank, x->stride),
        tesela__shape_text(want, node->rank, node->shape));
  }
  return TESELA_OK;
}
