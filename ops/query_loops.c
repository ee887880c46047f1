/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_loops.c - the op graph_loops: operators of a program that is laid out as loops over tiled memory.
 */
#include "graph_work.h"
#include "request.h"

/* Are the places offset + sum of counter * stride? */
static bool is_affine(const tesela_layout *place, int64_t *strides, int64_t *offset) {
  int64_t counter[TESELA_MAX_RANK] = {0};
  tesela_layout affine;
  tesela_difference difference;
  *offset = 0;
  tesela_layout_place_of(place, counter, offset, NULL); /* without elements it fails; any offset is right */
  for (int32_t d = 0; d < place->rank; d++) {
    int64_t at = *offset;
    counter[d] = place->shape[d] > 1;
    tesela_layout_place_of(place, counter, &at, NULL);
    counter[d] = 0;
    strides[d] = at - *offset;
  }
  return tesela_layout_strided(&affine, place->dtype, place->bits, place->rank, place->shape, strides,
                               *offset, NULL) == TESELA_OK &&
         tesela_layout_compare(&affine, place, &difference, NULL) == TESELA_OK && difference.same;
}

/* {"buffer", "strides", "offset"} of operand k, -1: the result. */
static void put_tensor(tesela_sink *j, const tesela_graph *graph, const tesela_op_loops *loops, int32_t node,
                       int32_t k) {
  const tesela_node *at = tesela_graph_node(graph, node);
  const tesela_node *named = k < 0 ? at : tesela_graph_node(graph, at->operand[k]);
  tesela_layout place;
  int64_t before, strides[TESELA_MAX_RANK], offset;
  bool affine = tesela_graph_loop_place(graph, loops, node, k, &place, &before, NULL) == TESELA_OK &&
                is_affine(&place, strides, &offset);
  tesela_put_object(j);
  tesela_put_key_text(j, "buffer", tesela_graph_node(graph, named->buffer)->name);
  tesela_put_key(j, "strides");
  if (affine) {
    tesela_put_ints(j, place.rank, strides);
    tesela_put_key_int(j, "offset", offset - before);
  } else {
    tesela_put_null(j);
    tesela_put_key(j, "offset");
    tesela_put_null(j);
  }
  tesela_put_end(j);
}

/* The loops as text; null if a place cannot be expressed and the request does not name the operator. */
static tesela_status put_source(tesela_request *q, const tesela_graph *graph, int32_t node, bool named) {
  tesela_buffer none = {NULL, 0, 0};
  tesela_writer to = tesela_buffer_writer(&none);
  tesela_status status = tesela_graph_print_loops(graph, node, &to, q->err);
  tesela_put_key(q->out, "source");
  if (status != TESELA_OK) tesela_put_null(q->out);
  if (status != TESELA_OK) return status == TESELA_E_UNSUPPORTED && !named ? TESELA_OK : status;
  to = tesela_put_text_begin(q->out);
  status = tesela_graph_print_loops(graph, node, &to, q->err);
  tesela_put_text_end(q->out);
  return status;
}

static tesela_status put_division(tesela_request *q, const tesela_graph *graph, int32_t node, int64_t cores) {
  tesela_division division;
  int32_t most = cores < 0 ? 0 : cores > INT32_MAX ? INT32_MAX : (int32_t)cores;
  tesela_status status = tesela_graph_divide(graph, node, most, NULL, &division, q->err);
  if (status != TESELA_OK) return status;
  tesela_put_key_object(q->out, "division");
  tesela_put_key_int(q->out, "cores", division.cores);
  tesela_put_key_ints(q->out, "factors", division.n, division.factor);
  tesela_put_key_int(q->out, "folded", division.folded);
  tesela_put_key_int(q->out, "most", division.most);
  tesela_put_end(q->out);
  return TESELA_OK;
}

static void put_counters(tesela_sink *j, const tesela_op_loops *loops) {
  int64_t range[TESELA_DEVICE_DIMS], dim[TESELA_DEVICE_DIMS], step[TESELA_DEVICE_DIMS], folded = 0;
  for (int32_t k = 0; k < loops->n; k++) {
    range[k] = loops->loop[k].extent;
    dim[k] = loops->loop[k].dim;
    step[k] = loops->loop[k].step;
    folded += loops->loop[k].folded;
  }
  tesela_put_key_ints(j, "extents", loops->iteration.n, loops->iteration.extent);
  tesela_put_key_ints(j, "ranges", loops->n, range);
  tesela_put_key_ints(j, "dims", loops->n, dim);
  tesela_put_key_ints(j, "steps", loops->n, step);
  tesela_put_key_int(j, "folded", folded);
}

static tesela_status put_operator(tesela_request *q, const tesela_graph *graph, int32_t node,
                                  const tesela_op_loops *loops, bool named) {
  const tesela_value *cores = tesela_request_get(q, "cores");
  tesela_put_object(q->out);
  tesela_put_key_text(q->out, "name", tesela_graph_node(graph, node)->name);
  put_counters(q->out, loops);
  tesela_put_key(q->out, "result");
  put_tensor(q->out, graph, loops, node, -1);
  tesela_put_key_list(q->out, "operands");
  for (int32_t k = 0; k < loops->n_operands; k++) put_tensor(q->out, graph, loops, node, k);
  tesela_put_end(q->out);
  tesela_status status = cores ? put_division(q, graph, node, tesela_value_int(cores)) : TESELA_OK;
  q->field = NULL;
  if (status == TESELA_OK) status = put_source(q, graph, node, named);
  tesela_put_end(q->out);
  return status;
}

static tesela_status put_loops(tesela_request *q, const tesela_graph *graph) {
  const tesela_value *name = tesela_request_get(q, "node");
  int32_t first = 0, end = tesela_graph_count(graph);
  if (name) {
    if (!graph_work_node(graph, tesela_value_text(name), &first, q->err)) return q->err->status;
    end = first + 1;
  }
  tesela_put_key_list(q->out, "loops");
  tesela_status status = TESELA_OK;
  for (int32_t k = first; k < end && status == TESELA_OK; k++) {
    tesela_op_loops loops;
    status = request_check_stop(q);
    if (status == TESELA_OK) status = tesela_graph_loops(graph, k, &loops, q->err);
    if (status == TESELA_OK)
      status = put_operator(q, graph, k, &loops, name != NULL);
    else if (status == TESELA_E_UNSUPPORTED && !name)
      status = TESELA_OK; /* an input, a view, a fallback */
  }
  tesela_put_end(q->out);
  return status;
}

tesela_status op_graph_loops(tesela_request *q) {
  graph_work work = {0};
  bool placed;
  tesela_status status = request_place_program(q, &work, &placed);
  if (status == TESELA_OK && placed) status = put_loops(q, work.placed);
  graph_work_free(&work);
  return status;
}
