/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_copy.c - inputs into their buffers, outputs out of theirs, and clones and moves by the relayout engine.
 *
 * The engine's plans move bits without regard to unwritten elements, so the marks are processed separately.
 */
#include <tesela/relayout.h>

#include "graph/run/run.h"

enum { COPY_ROW = 256 };

/* A part of a row along the last dim. */
typedef struct copy_row {
  int64_t index[TESELA_GRAPH_ITERATION], n, list[COPY_ROW];
  tesela__run_places places;
  tesela__run_value value[COPY_ROW];
  tesela__run_line line;
} copy_row;

/* Advance to the next part, row-major; false after the last. Starts from zeros. */
static bool copy_next(int32_t rank, const int64_t *shape, copy_row *row) {
  int64_t before = row->n;
  row->line = (tesela__run_line){rank - 1, 1};
  row->n = 1;
  if (rank == 0) return before == 0;
  row->index[rank - 1] += before;
  for (int32_t d = rank - 1; row->index[d] >= shape[d]; d--) {
    if (d == 0) return false;
    row->index[d] = 0;
    row->index[d - 1]++;
  }
  row->n = tesela__min(COPY_ROW, shape[rank - 1] - row->index[rank - 1]);
  return true;
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
  if (status == TESELA_OK) status = tesela__run_tensor_make(run, &at, tensor, err);
  if (status == TESELA_OK && !host && !copy_empty(of->rank, of->shape))
    status = tesela__fail(err, TESELA_E_INVALID, -1, "no address for %s %.80s", what, of->name);
  return status;
}

/* Codes of elements `step` bytes apart, and back. */
#define COPY_CODES(type, statement) \
  for (int64_t j = 0; j < n; j++) { \
    type code;                      \
    statement;                      \
  }                                 \
  break;

static void copy_from_host(const uint8_t *from, int64_t step, int32_t bytes, int64_t n,
                           tesela__run_value *v) {
#define COPY_FROM(type) COPY_CODES(type, memcpy(&code, from + j * step, sizeof code); v[j].i = (int64_t)code)
  switch (bytes) {
  case 1:
    COPY_FROM(uint8_t)
  case 2:
    COPY_FROM(uint16_t)
  case 4:
    COPY_FROM(uint32_t)
  default:
    COPY_FROM(uint64_t)
  }
#undef COPY_FROM
}

static void copy_to_host(uint8_t *to, int32_t bytes, int64_t n, const tesela__run_value *v) {
#define COPY_TO(type) \
  COPY_CODES(type, code = (type)v[j].i; memcpy(to + j * (int64_t)sizeof code, &code, sizeof code))
  switch (bytes) {
  case 1:
    COPY_TO(uint8_t)
  case 2:
    COPY_TO(uint16_t)
  case 4:
    COPY_TO(uint32_t)
  default:
    COPY_TO(uint64_t)
  }
#undef COPY_TO
}

tesela_status tesela__run_input(tesela__run *run, int32_t node, const void *host, tesela_error *err) {
  const tesela_node *of = tesela_graph_node(run->graph, node);
  tesela__run_tensor tensor;
  tesela_status status = copy_begin(run, of, node, host, "input", &tensor, err);
  if (status != TESELA_OK || copy_empty(of->rank, of->shape)) return status;
  copy_row row = {.n = 0};
  int32_t bytes = tesela_dtype_bytes(of->dtype);
  int64_t step = of->rank > 0 ? of->host_stride[of->rank - 1] * bytes : 0;
  while (status == TESELA_OK && copy_next(of->rank, of->shape, &row)) {
    int64_t offset = 0;
    for (int32_t d = 0; d < of->rank; d++) offset += row.index[d] * of->host_stride[d];
    copy_from_host((const uint8_t *)host + offset * bytes, step, bytes, row.n, row.value);
    tesela__run_find(&tensor, row.index, row.line, 0, row.n, row.list, &row.places);
    if (tensor.buffer->dtype == tensor.buffer->host) { /* bits unchanged */
      tesela__run_put(run, &tensor, row.n, row.places, row.value);
    } else {
      tesela__run_decode(of->dtype, row.n, row.value);
      status = tesela__run_write_row(run, &tensor, row.n, row.places, tesela__run_class_of(of->dtype),
                                     row.value, err);
    }
  }
  return status;
}

tesela_status tesela__run_output(tesela__run *run, int32_t node, void *host, tesela_error *err) {
  const tesela_node *of = tesela_graph_node(run->graph, node);
  tesela__run_tensor tensor;
  tesela_status status = copy_begin(run, of, node, host, "output", &tensor, err);
  if (status != TESELA_OK || copy_empty(of->rank, of->shape)) return status;
  copy_row row = {.n = 0};
  int32_t bytes = tesela_dtype_bytes(of->dtype);
  for (uint8_t *to = host; copy_next(of->rank, of->shape, &row); to += row.n * bytes) {
    tesela__run_find(&tensor, row.index, row.line, 0, row.n, row.list, &row.places);
    if (tensor.buffer->dtype == tensor.buffer->host) {
      tesela__run_get(run, &tensor, row.n, row.places, row.value);
    } else {
      tesela__run_class class = tesela__run_class_of(of->dtype);
      tesela__run_read_row(run, &tensor, row.n, row.places, class, row.value);
      tesela__run_round_row(of->dtype, class, row.n, row.value);
      tesela__run_encode(of->dtype, row.n, row.value);
    }
    copy_to_host(to, bytes, row.n, row.value);
  }
  return TESELA_OK;
}

/* A plan covers all places that its digits can reach; for views across dims these may exceed the buffer and include its
 * neighbour in the arena. */
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
  tesela_op_loops loops; /* the dims of the tensor, except those of 1 */
  tesela_layout dst_layout, src_layout;
  int64_t before;
  tesela_status status = tesela__op_loops(run->graph, node, true, &loops, err);
  if (status == TESELA_OK) status = tesela__loop_place(&loops, &to->at, -1, &dst_layout, &before, err);
  if (status == TESELA_OK) status = tesela__loop_place(&loops, &from->at, -1, &src_layout, &before, err);
  if (status != TESELA_OK) return status;
  tesela_plan_options options = {.fill = TESELA_FILL_LEAVE, .threads = 1, .allocator = &run->allocator};
  tesela_plan *plan;
  status = tesela_plan_create(&plan, &dst_layout, &src_layout, &options, err);
  if (status == TESELA_E_UNSUPPORTED) return TESELA_OK; /* then element by element */
  if (status != TESELA_OK) return status;
  bool meets = copy_meets(plan, dst->bytes, src->bytes);
  if (!meets) status = tesela_plan_run(plan, dst->bytes, src->bytes, NULL, err);
  tesela_plan_destroy(plan);
  if (status != TESELA_OK || meets) return status;
  copy_row row = {.n = 0};
  while (copy_next(of->rank, of->shape, &row)) {
    int64_t list[COPY_ROW];
    tesela__run_places places;
    tesela__run_find(from, row.index, row.line, 0, row.n, row.list, &row.places);
    tesela__run_find(to, row.index, row.line, 0, row.n, list, &places);
    tesela__run_passed(run, to, places, from, row.places, row.n);
    run->facts.elements += row.n;
  }
  *done = true;
  return TESELA_OK;
}
