/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_copy.c - inputs into their buffers, outputs out of theirs, and clones and moves by the relayout engine.
 *
 * The engine moves bits by plans that know nothing of elements that nobody wrote; so the marks are gone through beside it.
 */
#include <tesela/relayout.h>

#include "graph/run.h"

/* On to the next element of a shape, row-major; false behind the last. */
static bool copy_next(int32_t rank, const int64_t *shape, int64_t *index) {
  for (int32_t d = rank - 1; d >= 0; d--) {
    if (++index[d] < shape[d]) return true;
    index[d] = 0;
  }
  return false;
}

static bool copy_empty(int32_t rank, const int64_t *shape) {
  for (int32_t d = 0; d < rank; d++)
    if (shape[d] == 0) return true;
  return false;
}

/* The tensor in its buffer; its host tensor must have an address if it has elements. */
static tesela_status copy_begin(tesela__run *run, const tesela_node *of, int32_t node, const void *host,
                                const char *what, tesela__run_tensor *tensor, tesela_error *err) {
  tesela__op_tensor at;
  tesela_status status = tesela__tensor_of(run->graph, node, run->plain, &at, err);
  if (status == TESELA_OK) status = tesela__run_tensor_make(run, &at, NULL, tensor, err);
  if (status == TESELA_OK && !host && !copy_empty(of->rank, of->shape))
    status = tesela__fail(err, TESELA_E_INVALID, -1, "no address for %s %.80s", what, of->name);
  return status;
}

tesela_status tesela__run_input(tesela__run *run, int32_t node, const void *host, tesela_error *err) {
  const tesela_node *of = tesela_graph_node(run->graph, node);
  tesela__run_tensor tensor;
  tesela_status status = copy_begin(run, of, node, host, "input", &tensor, err);
  if (status != TESELA_OK || copy_empty(of->rank, of->shape)) return status;
  int64_t index[TESELA_GRAPH_RANK] = {0}, place;
  int64_t bytes = tesela_dtype_bytes(of->dtype);
  const tesela__run_buffer *buffer = tensor.buffer;
  do {
    int64_t offset = 0;
    for (int32_t d = 0; d < of->rank; d++) offset += index[d] * of->host_stride[d];
    const uint8_t *from = (const uint8_t *)host + offset * bytes;
    tesela__run_locate(&tensor, index, 0, &place);
    if (buffer->dtype == buffer->host && buffer->width == bytes) { /* bits as they are */
      for (int64_t k = -1; k < tensor.n_copies; k++)
        memcpy(buffer->bytes + (place + (k < 0 ? 0 : tensor.copy[k])) * bytes, from, (size_t)bytes);
      tesela__run_mark(run, &tensor, place);
    } else {
      status = tesela__run_write(run, &tensor, place, tesela__run_class_of(of->dtype),
                                 tesela__run_load(of->dtype, from), err);
    }
  } while (status == TESELA_OK && copy_next(of->rank, of->shape, index));
  return status;
}

tesela_status tesela__run_output(tesela__run *run, int32_t node, void *host, tesela_error *err) {
  const tesela_node *of = tesela_graph_node(run->graph, node);
  tesela__run_tensor tensor;
  tesela_status status = copy_begin(run, of, node, host, "output", &tensor, err);
  if (status != TESELA_OK || copy_empty(of->rank, of->shape)) return status;
  int64_t index[TESELA_GRAPH_RANK] = {0}, place;
  int32_t bytes = tesela_dtype_bytes(of->dtype);
  const tesela__run_buffer *buffer = tensor.buffer;
  uint8_t *to = host;
  do {
    tesela__run_locate(&tensor, index, 0, &place);
    if (buffer->dtype == buffer->host) {
      run->facts.poison_read += !tesela__run_marked(run, &tensor, place);
      memcpy(to, buffer->bytes + place * buffer->width, (size_t)bytes);
    } else {
      tesela__run_class class = tesela__run_class_of(of->dtype);
      tesela__run_store(of->dtype, tesela__run_round(of->dtype, class, tesela__run_read(run, &tensor, place)),
                        to, bytes);
    }
    to += bytes;
  } while (copy_next(of->rank, of->shape, index));
  return TESELA_OK;
}

/* A plan reckons with all places that its digits could reach; where views go across dims that may be more than the buffer has,
 * and then its neighbour in the arena. */
static bool copy_meets(const tesela_plan *plan, const uint8_t *dst, const uint8_t *src) {
  tesela_plan_info info;
  tesela_plan_describe(plan, &info);
  uintptr_t a = (uintptr_t)dst, b = (uintptr_t)src;
  return a < b + (uintptr_t)info.src_bytes && b < a + (uintptr_t)info.dst_bytes;
}

tesela_status tesela__run_relayout(tesela__run *run, int32_t node, const tesela__run_tensor *to,
                                   const tesela__run_tensor *from, bool *done, tesela_error *err) {
  const tesela__run_buffer *dst = to->buffer, *src = from->buffer;
  const tesela_node *of = tesela_graph_node(run->graph, node);
  *done = false;
  if (dst->dtype != src->dtype || dst->host != src->host || dst->width != src->width || dst->taken ||
      copy_empty(of->rank, of->shape))
    return TESELA_OK;
  tesela_op_loops loops; /* the dims of the tensor, but for those of 1 */
  tesela_layout dst_layout, src_layout;
  int64_t before;
  tesela_status status = tesela__op_loops(run->graph, node, true, &loops, err);
  if (status == TESELA_OK) status = tesela__loop_place(&loops, &to->at, -1, &dst_layout, &before, err);
  if (status == TESELA_OK) status = tesela__loop_place(&loops, &from->at, -1, &src_layout, &before, err);
  if (status != TESELA_OK) return status;
  tesela_plan_options options = {.fill = TESELA_FILL_LEAVE, .threads = 1, .allocator = &run->allocator};
  tesela_plan *plan;
  status = tesela_plan_create(&plan, &dst_layout, &src_layout, &options, err);
  if (status == TESELA_E_UNSUPPORTED) return TESELA_OK; /* element by element, then */
  if (status != TESELA_OK) return status;
  bool meets = copy_meets(plan, dst->bytes, src->bytes);
  if (!meets) status = tesela_plan_run(plan, dst->bytes, src->bytes, NULL, err);
  tesela_plan_destroy(plan);
  if (status != TESELA_OK || meets) return status;
  int64_t index[TESELA_GRAPH_RANK] = {0}, place;
  do {
    tesela__run_locate(from, index, 0, &place);
    run->facts.poison_read += !tesela__run_marked(run, from, place);
    tesela__run_locate(to, index, 0, &place);
    tesela__run_mark(run, to, place);
    run->facts.elements++;
  } while (copy_next(of->rank, of->shape, index));
  *done = true;
  return TESELA_OK;
}
