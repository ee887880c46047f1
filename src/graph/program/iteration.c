/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iteration.c - the iteration space of each operator, and the indices of its operands in it.
 *
 *   operator            iteration dims                        operand dims
 *   pointwise, clone    the result's                          aligned at the end; a repeated dim of 1 has no index
 *   reduce              those that stay, then those folded    their own
 *   matmul              labels                                their labels
 *   conv2d              the result's, then channel, window    (stride * out + dilation * window - low) / x_dilation
 *   pool                the result's, then the windows'       as conv2d's x
 *   gather              the result's                          x: looked up in one dim, else its own; indices: in its place
 *   scatter             the result's, then the indices'       x: its own; indices: theirs; values: as gather's result
 *   along               the result's, then the line's         their own, the line's in the dim that it goes along
 *   cat, pad, write     the result's                          i - start, where that is an element of the operand
 *   views               the result's                          what the view says; reshape has no such expression
 */
#include "graph/program/graph.h"

static void iteration_of_shape(const tesela_node *node, tesela_iteration *it) {
  it->n = node->rank;
  for (int32_t d = 0; d < node->rank; d++) {
    it->extent[d] = node->shape[d];
    it->result[d] = d;
  }
}

static void iteration_reduce(const tesela_graph *graph, const tesela_node *node, tesela_iteration *it) {
  const tesela_node *x = tesela__graph_operand(graph, node, 0);
  for (int32_t d = 0, r = 0; d < x->rank; d++) {
    bool folded = tesela__graph_names_dim(node, d);
    if (folded && node->keepdim) it->result[r++] = -1;
    if (folded) continue;
    it->extent[it->n] = x->shape[d];
    it->result[r++] = it->n++;
  }
  for (int32_t d = 0; d < x->rank; d++)
    if (tesela__graph_names_dim(node, d)) it->extent[it->n++] = x->shape[d];
}

static void iteration_matmul(const tesela_graph *graph, const tesela_node *node, tesela_iteration *it) {
  iteration_of_shape(node, it);
  it->n = node->n_labels;
  for (int32_t k = 0; k < 2; k++) {
    const tesela_node *operand = tesela__graph_operand(graph, node, k);
    for (int32_t d = 0; d < operand->rank; d++)
      if (node->label[k][d] >= 0) it->extent[node->label[k][d]] = operand->shape[d];
  }
}

tesela_status tesela_graph_iteration(const tesela_graph *graph, int32_t k, tesela_iteration *iteration,
                                     tesela_error *err) {
  TESELA__NEED(err, graph, iteration);
  tesela_status status = tesela__graph_check_node(graph, k, err);
  if (status != TESELA_OK) return status;
  const tesela_node *node = tesela__graph_at(graph, k), *other = NULL;
  tesela_iteration it = {0};
  switch (node->op) {
  case TESELA_OP_REDUCE:
    iteration_reduce(graph, node, &it);
    break;
  case TESELA_OP_MATMUL:
    iteration_matmul(graph, node, &it);
    break;
  case TESELA_OP_CONV2D:
    iteration_of_shape(node, &it);
    other = tesela__graph_operand(graph, node, 1);
    for (int32_t i = 1; i < 5; i++)
      if (node->conv.w[i] >= 0) it.extent[it.n++] = other->shape[node->conv.w[i]];
    break;
  case TESELA_OP_SCATTER:
    iteration_of_shape(node, &it);
    other = tesela__graph_operand(graph, node, 1);
    for (int32_t d = 0; d < other->rank; d++) it.extent[it.n++] = other->shape[d];
    break;
  case TESELA_OP_ALONG:
    iteration_of_shape(node, &it);
    it.extent[it.n++] = tesela__graph_operand(graph, node, 0)->shape[node->dim[0]];
    break;
  case TESELA_OP_POOL:
    iteration_of_shape(node, &it);
    for (int32_t d = 0; d < node->rank; d++)
      if (node->length[d] != 1) it.extent[it.n++] = node->length[d];
    break;
  default:
    iteration_of_shape(node, &it);
  }
  *iteration = it;
  return TESELA_OK;
}

/* ---- operands ---- */

static tesela_index iteration_dim(int32_t dim) { return (tesela_index){{dim, -1}, {dim >= 0, 0}, 0, 1}; }

/* As NumPy broadcasts. */
static void index_pointwise(const tesela_node *node, const tesela_node *x, tesela_index *index) {
  for (int32_t d = 0; d < x->rank; d++) {
    int32_t r = d + node->rank - x->rank;
    index[d] = iteration_dim(x->shape[d] == node->shape[r] ? r : -1);
  }
}

static void index_reduce(const tesela_node *node, const tesela_node *x, tesela_index *index) {
  int32_t next = 0;
  for (int32_t folded = 0; folded < 2; folded++)
    for (int32_t d = 0; d < x->rank; d++)
      if (tesela__graph_names_dim(node, d) == folded) index[d] = iteration_dim(next++);
}

static void index_conv2d(const tesela_node *node, int32_t k, tesela_index *index) {
  const tesela_conv2d *conv = &node->conv;
  int32_t next = node->rank; /* folded dims: the channel, then the window */
  const int32_t *at = k == 0 ? conv->x : conv->w;
  if (at[5] >= 0) index[at[5]] = iteration_dim(conv->result[5]);
  if (at[0] >= 0) index[at[0]] = iteration_dim(conv->result[k]);
  if (at[1] >= 0) index[at[1]] = iteration_dim(next++);
  for (int32_t i = 0; i < conv->spatial; i++, next++)
    index[at[2 + i]] = k == 1 ? iteration_dim(next)
                              : (tesela_index){{conv->result[2 + i], next},
                                               {conv->stride[i], conv->dilation[i]},
                                               -conv->low[i],
                                               conv->x_dilation[i]};
}

/* gather's operands, and scatter's values (k 2): x's dims, with those of the indices in place of the looked-up one. */
static void index_lookup(const tesela_node *node, const tesela_node *x, const tesela_node *at, int32_t k,
                         tesela_index *index) {
  int32_t looked = node->dim[0], rank = at->rank;
  if (node->op == TESELA_OP_GATHER && k == 0)
    for (int32_t d = 0; d < x->rank; d++)
      index[d] = iteration_dim(d == looked ? TESELA_INDEX_LOOKUP : d < looked ? d : d + rank - 1);
  else if (node->op == TESELA_OP_GATHER)
    for (int32_t d = 0; d < rank; d++) index[d] = iteration_dim(looked + d);
  else if (k == 0)
    for (int32_t d = 0; d < x->rank; d++) index[d] = iteration_dim(d);
  else if (k == 1)
    for (int32_t d = 0; d < rank; d++) index[d] = iteration_dim(x->rank + d);
  else
    for (int32_t d = 0; d < x->rank - 1 + rank; d++)
      index[d] = iteration_dim(d < looked ? d : d < looked + rank ? x->rank + d - looked : d - rank + 1);
}

static void index_pool(const tesela_node *node, tesela_index *index) {
  for (int32_t d = 0, next = node->rank; d < node->rank; d++) {
    bool window = node->length[d] != 1;
    index[d] = (tesela_index){{d, window ? next++ : -1},
                              {node->step[d], window ? node->dilation[d] : 0},
                              -node->low[d],
                              node->x_dilation[d]};
  }
}

static void index_cat(const tesela_graph *graph, const tesela_node *node, int32_t k, tesela_index *index) {
  for (int32_t d = 0; d < node->rank; d++) index[d] = iteration_dim(d);
  for (int32_t j = 0; j < k; j++)
    index[node->dim[0]].start -= tesela__graph_operand(graph, node, j)->shape[node->dim[0]];
}

static void index_slice(const tesela_node *node, tesela_index *index) {
  for (int32_t d = 0; d < node->rank; d++)
    index[d] = (tesela_index){{d, -1}, {node->step[d], 0}, node->start[d], 1};
}

/* Result dims that are operand dims, in order: those that squeeze and unsqueeze keep. */
static void index_kept(const tesela_node *node, const tesela_node *x, tesela_index *index) {
  int32_t next = 0;
  for (int32_t d = 0; d < (x->rank > node->rank ? x->rank : node->rank); d++) {
    bool named = tesela__graph_names_dim(node, d);
    if (node->op == TESELA_OP_SQUEEZE) index[d] = iteration_dim(named ? -1 : next++);
    if (node->op == TESELA_OP_UNSQUEEZE && !named) index[next++] = iteration_dim(d);
  }
}

tesela_status tesela_graph_operand_index(const tesela_graph *graph, int32_t number, int32_t k,
                                         tesela_index index[TESELA_GRAPH_RANK], tesela_error *err) {
  TESELA__NEED(err, graph, index);
  tesela_status status = tesela__graph_check_node(graph, number, err);
  if (status != TESELA_OK) return status;
  const tesela_node *node = tesela__graph_at(graph, number);
  if (k < 0 || k >= node->n_operands)
    return tesela__graph_fail(err, TESELA_E_RANGE, node,
                              "operand %" PRId32 " is out of range; it has %" PRId32, k, node->n_operands);
  if (node->op == TESELA_OP_RESHAPE || node->op == TESELA_OP_FALLBACK)
    return tesela__graph_fail(err, TESELA_E_UNSUPPORTED, node, "its operands have no index expression");
  const tesela_node *x = tesela__graph_operand(graph, node, k);
  switch (node->op) {
  case TESELA_OP_REDUCE:
    index_reduce(node, x, index);
    break;
  case TESELA_OP_MATMUL:
    for (int32_t d = 0; d < x->rank; d++) index[d] = iteration_dim(node->label[k][d]);
    break;
  case TESELA_OP_CONV2D:
    index_conv2d(node, k, index);
    break;
  case TESELA_OP_GATHER:
  case TESELA_OP_SCATTER:
    index_lookup(node, tesela__graph_operand(graph, node, 0), tesela__graph_operand(graph, node, 1), k,
                 index);
    break;
  case TESELA_OP_CAT:
    index_cat(graph, node, k, index);
    break;
  case TESELA_OP_PAD:
    for (int32_t d = 0; d < x->rank; d++)
      index[d] = (tesela_index){{d, -1}, {1, 0}, -node->low[d], node->step[d]};
    break;
  case TESELA_OP_WRITE:
    for (int32_t d = 0; d < x->rank; d++)
      index[d] = k == 0 ? iteration_dim(d) : (tesela_index){{d, -1}, {1, 0}, -node->start[d], node->step[d]};
    break;
  case TESELA_OP_PERMUTE:
    for (int32_t d = 0; d < x->rank; d++) index[node->dim[d]] = iteration_dim(d);
    break;
  case TESELA_OP_SQUEEZE:
  case TESELA_OP_UNSQUEEZE:
    index_kept(node, x, index);
    break;
  case TESELA_OP_EXPAND:
    for (int32_t d = 0; d < x->rank; d++)
      index[d] = iteration_dim(x->shape[d] == node->shape[node->dim[d]] ? node->dim[d] : -1);
    break;
  case TESELA_OP_SLICE:
    index_slice(node, index);
    break;
  case TESELA_OP_ALONG:
    for (int32_t d = 0; d < x->rank; d++) index[d] = iteration_dim(d == node->dim[0] ? node->rank : d);
    break;
  case TESELA_OP_POOL:
    index_pool(node, index);
    break;
  default:
    index_pointwise(node, x, index);
  }
  return TESELA_OK;
}
