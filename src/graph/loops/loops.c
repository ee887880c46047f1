/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loops.c - the loops of an operator.
 *
 * Each device dim of the result's layout is a loop over its elements; then come the folded dims, split into blocks and lanes if
 * an operand has its lanes along them. Of a host dim whose steps do not divide each other, the loops keep those that do,
 * starting at the lanes, so each iteration index has exactly one set of counters. Loops of extent 1 are left out.
 *
 *   steps 360, 120, 64, 1 of a dim of 4800     64 and 1 stay: loops 75, 64
 */
#include "graph/loops/loops.h"

static tesela_status loops_add(tesela_op_loops *loops, tesela_loop loop, tesela_error *err) {
  if (loop.extent == 1) return TESELA_OK;
  if (loops->n == TESELA_DEVICE_DIMS)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "an operator has more than %d loops", TESELA_DEVICE_DIMS);
  loops->loop[loops->n++] = loop;
  return TESELA_OK;
}

/* The extent of the loop for each device dim of one host dim; 1 if it is not kept. */
static void loops_reach(const tesela_device_layout *layout, int32_t host_dim, int64_t extent,
                        int64_t reach[TESELA_DEVICE_DIMS]) {
  int32_t kept[TESELA_DEVICE_DIMS], n = 0; /* by increasing step */
  for (;;) {
    int32_t next = -1;
    int64_t above = n > 0 ? layout->dim[kept[n - 1]].step : 0;
    for (int32_t j = layout->n_dims - 1; j >= 0; j--) { /* of equal steps the outermost */
      const tesela_device_dim *dim = &layout->dim[j];
      if (dim->dim != host_dim || dim->step <= above || (above > 0 && dim->step % above != 0)) continue;
      if (next < 0 || dim->step <= layout->dim[next].step) next = j;
    }
    if (next < 0) break;
    kept[n++] = next;
  }
  for (int32_t i = 0; i < n; i++) {
    int64_t end = i + 1 < n ? tesela__min(layout->dim[kept[i + 1]].step, extent) : extent;
    reach[kept[i]] = tesela__ceil_div(end, layout->dim[kept[i]].step);
  }
}

/* Does the tensor equal its buffer, element by element? */
static bool loops_is_buffer(const tesela_graph *graph, const tesela_node *node) {
  const tesela_node *buffer = tesela_graph_node(graph, node->buffer);
  if (buffer == node) return true;
  if (node->offset != 0 || node->rank != buffer->rank) return false;
  for (int32_t d = 0; d < node->rank; d++)
    if (node->shape[d] != buffer->shape[d] || (node->shape[d] > 1 && node->stride[d] != buffer->stride[d]))
      return false;
  return true;
}

/* One loop for each dim of the result. */
static tesela_status loops_plain(tesela_op_loops *loops, const tesela_node *node, tesela_error *err) {
  tesela_status status = TESELA_OK;
  for (int32_t d = 0; d < node->rank && status == TESELA_OK; d++) {
    int32_t dim = loops->iteration.result[d];
    if (dim < 0) continue;
    status =
        loops_add(loops, (tesela_loop){.extent = loops->iteration.extent[dim], .step = 1, .dim = dim}, err);
  }
  return status;
}

/* The device dims of the result. */
static tesela_status loops_tiled(tesela_op_loops *loops, const tesela_node *node,
                                 const tesela_device_layout *layout, tesela_error *err) {
  int64_t reach[TESELA_DEVICE_DIMS];
  for (int32_t j = 0; j < layout->n_dims; j++) reach[j] = 1;
  for (int32_t d = 0; d < node->rank; d++) loops_reach(layout, d, node->shape[d], reach);
  tesela_status status = TESELA_OK;
  for (int32_t j = 0; j < layout->n_dims && status == TESELA_OK; j++) {
    const tesela_device_dim *dim = &layout->dim[j];
    if (dim->dim < 0) continue;
    status = loops_add(loops,
                       (tesela_loop){.extent = reach[j],
                                     .step = dim->step,
                                     .dim = loops->iteration.result[dim->dim],
                                     .lane = j >= layout->n_dims - layout->stick_dims},
                       err);
  }
  return status;
}

/* Lanes of an operand along an iteration dim, or 0. */
static int64_t loops_lanes(const tesela__op_tensor *tensor, int32_t dim) {
  for (int32_t d = 0; d < tensor->rank; d++) {
    const tesela_index *index = &tensor->index[d];
    if (index->dim[0] != dim || index->dim[1] >= 0 || index->factor[0] != 1 || index->start != 0) continue;
    if (tensor->to[d] < 0 || tensor->by[d] != 1) return 0;
    const tesela_layout *base = &tensor->base;
    for (int32_t i = 1; i < base->n_mapped; i++) {
      const tesela_digit *lane = &base->digit[i], *block = &base->digit[i - 1];
      if (lane->source == tensor->to[d] && block->source == lane->source && lane->step == 1 &&
          lane->stride == 1 && lane->axis == 0)
        return block->step;
    }
  }
  return 0;
}

static bool loops_in_result(const tesela_iteration *iteration, int32_t rank, int32_t dim) {
  for (int32_t d = 0; d < rank; d++)
    if (iteration->result[d] == dim) return true;
  return false;
}

/* The folded dims in order, so that the counters visit them row-major. */
static tesela_status loops_folded(tesela_op_loops *loops, const tesela_graph *graph, int32_t node, bool plain,
                                  tesela_error *err) {
  const tesela_node *of = tesela_graph_node(graph, node);
  tesela_status status = TESELA_OK;
  for (int32_t i = 0; i < loops->iteration.n && status == TESELA_OK; i++) {
    if (loops_in_result(&loops->iteration, of->rank, i)) continue;
    int64_t extent = loops->iteration.extent[i], lanes = 0;
    for (int32_t k = 0; k < of->n_operands && lanes == 0 && !plain; k++) {
      tesela__op_tensor tensor;
      status = tesela__op_tensor_of(graph, node, k, false, &tensor, err);
      if (status != TESELA_OK) return status;
      lanes = loops_lanes(&tensor, i);
    }
    if (lanes > 1 && lanes < extent) {
      status = loops_add(
          loops,
          (tesela_loop){.extent = tesela__ceil_div(extent, lanes), .step = lanes, .dim = i, .folded = true},
          err);
      extent = lanes;
    }
    if (status == TESELA_OK)
      status = loops_add(
          loops, (tesela_loop){.extent = extent, .step = 1, .dim = i, .folded = true, .lane = lanes > 1},
          err);
  }
  return status;
}

tesela_status tesela__op_loops(const tesela_graph *graph, int32_t node, bool plain, tesela_op_loops *loops,
                               tesela_error *err) {
  const tesela_node *of = tesela_graph_node(graph, node);
  if (!of)
    return tesela__fail(err, TESELA_E_RANGE, -1, "node is %" PRId32 "; expected 0 to %" PRId32, node,
                        tesela_graph_count(graph) - 1);
  if (of->view || of->op == TESELA_OP_INPUT || of->op == TESELA_OP_FALLBACK)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "%.80s is %s, which has no loops", of->name,
                        tesela_op_name(of->op));
  tesela_op_loops result = {.n_operands = of->n_operands};
  tesela_status status = tesela_graph_iteration(graph, node, &result.iteration, err);
  if (status != TESELA_OK) return status;
  const tesela_node *buffer = tesela_graph_node(graph, of->buffer);
  if (!plain && !buffer->layout)
    return tesela__fail(err, TESELA_E_INVALID, -1, "%.80s has no layout", buffer->name);
  status = !plain && loops_is_buffer(graph, of) ? loops_tiled(&result, of, buffer->layout, err)
                                                : loops_plain(&result, of, err);
  if (status == TESELA_OK) status = loops_folded(&result, graph, node, plain, err);
  if (status == TESELA_OK) *loops = result;
  return status;
}

tesela_status tesela_graph_loops(const tesela_graph *graph, int32_t node, tesela_op_loops *loops,
                                 tesela_error *err) {
  TESELA__NEED(err, graph, loops);
  return tesela__op_loops(graph, node, false, loops, err);
}
