/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loops_tensor.c - the tensors of an operator: their indices, and the coordinates of their buffers.
 *
 * Without carries from one dim to the next, a view has the strides of its buffer's dims: each dim of the view moves one dim of
 * the buffer. A reshape across dims does carry; the core composes it.
 */
#include "graph/loops/loops.h"
#include "layout/layout.h"

/* The view of a node's tensor on its buffer, coordinate by coordinate; false if one carries into another. */
static bool tensor_view(const tesela_node *node, const tesela_node *buffer, tesela__op_tensor *tensor) {
  int64_t low[TESELA_GRAPH_RANK], high[TESELA_GRAPH_RANK], rest = node->offset;
  for (int32_t b = 0; b < buffer->rank; b++) {
    int64_t stride = buffer->stride[b] > 0 ? buffer->stride[b] : 1;
    tensor->offset[b] = low[b] = high[b] = rest / stride;
    rest %= stride;
  }
  if (rest != 0) return false;
  for (int32_t d = 0; d < node->rank; d++) {
    tensor->to[d] = -1;
    tensor->by[d] = 0;
    if (node->shape[d] <= 1 || node->stride[d] == 0) continue;
    for (int32_t b = 0; b < buffer->rank && tensor->to[d] < 0; b++)
      if (buffer->shape[b] > 1 && node->stride[d] % buffer->stride[b] == 0) tensor->to[d] = b;
    if (tensor->to[d] < 0) return false;
    tensor->by[d] = node->stride[d] / buffer->stride[tensor->to[d]];
    int64_t reach = (node->shape[d] - 1) * tensor->by[d]; /* inside the buffer: the graph checked it */
    *(reach < 0 ? &low[tensor->to[d]] : &high[tensor->to[d]]) += reach;
  }
  for (int32_t b = 0; b < buffer->rank; b++)
    if (low[b] < 0 || high[b] >= buffer->shape[b]) return false;
  return true;
}

static bool tensor_is_empty(const tesela_node *node) {
  for (int32_t d = 0; d < node->rank; d++)
    if (node->shape[d] == 0) return true;
  return false;
}

/* A view across dims of the buffer: composed by the core. */
static tesela_status tensor_compose(const tesela_node *node, tesela__op_tensor *tensor, tesela_error *err) {
  tesela_layout view, base = tensor->base;
  tesela_status status = tesela_layout_strided(&view, base.dtype, base.bits, node->rank, node->shape,
                                               node->stride, node->offset, err);
  if (status == TESELA_OK) status = tesela_layout_compose(&base, &view, &tensor->base, err);
  for (int32_t d = 0; d < node->rank; d++) {
    tensor->to[d] = d;
    tensor->by[d] = 1;
    tensor->offset[d] = 0;
  }
  return status;
}

tesela_status tesela__tensor_of(const tesela_graph *graph, int32_t node, bool plain,
                                tesela__op_tensor *tensor, tesela_error *err) {
  const tesela_node *of = tesela_graph_node(graph, node), *buffer = tesela_graph_node(graph, of->buffer);
  *tensor = (tesela__op_tensor){.node = node, .buffer = of->buffer, .rank = of->rank};
  for (int32_t d = 0; d < of->rank; d++) {
    tensor->shape[d] = of->shape[d];
    tensor->index[d] = (tesela_index){.dim = {d, -1}, .factor = {1, 0}, .divide = 1};
    tensor->to[d] = -1;
  }
  tesela_layout layout;
  tesela_status status;
  if (plain) {
    status = tesela_layout_strided(&layout, buffer->dtype, buffer->bits > 0 ? buffer->bits : 8, buffer->rank,
                                   buffer->shape, NULL, 0, err);
  } else if (!buffer->layout) {
    status = tesela__fail(err, TESELA_E_INVALID, -1, "%.80s has no layout", buffer->name);
  } else {
    status = tesela_device_to_layout(buffer->layout, &layout, err);
  }
  if (status == TESELA_OK) status = tesela_layout_canonical(&layout, &tensor->base, err);
  if (status != TESELA_OK || tensor_is_empty(of) || tensor_view(of, buffer, tensor)) return status;
  return tensor_compose(of, tensor, err);
}

tesela_status tesela__op_tensor_of(const tesela_graph *graph, int32_t node, int32_t k, bool plain,
                                   tesela__op_tensor *tensor, tesela_error *err) {
  const tesela_node *of = tesela_graph_node(graph, node);
  if (k < -1 || k >= of->n_operands)
    return tesela__fail(err, TESELA_E_RANGE, -1, "operand %" PRId32 " of %.80s; expected -1 to %" PRId32, k,
                        of->name, of->n_operands - 1);
  tesela_status status = tesela__tensor_of(graph, k < 0 ? node : of->operand[k], plain, tensor, err);
  if (status != TESELA_OK) return status;
  if (k >= 0) return tesela_graph_operand_index(graph, node, k, tensor->index, err);
  tesela_iteration iteration;
  status = tesela_graph_iteration(graph, node, &iteration, err);
  for (int32_t d = 0; d < of->rank && status == TESELA_OK; d++)
    tensor->index[d].dim[0] = iteration.result[d] < 0 ? -1 : iteration.result[d];
  return status;
}

bool tesela__op_tensor_looked_up(const tesela__op_tensor *tensor) {
  for (int32_t d = 0; d < tensor->rank; d++)
    if (tensor->index[d].dim[0] == TESELA_INDEX_LOOKUP) return true;
  return false;
}

int64_t tesela__coordinate_place(const tesela_layout *base, int32_t coordinate, int64_t x) {
  tesela__chain chain = tesela__chain_of(base, coordinate);
  int64_t place = 0;
  for (int32_t i = chain.first; i < chain.first + chain.n; i++) {
    place += x / base->digit[i].step * base->digit[i].stride;
    x %= base->digit[i].step;
  }
  return place;
}
