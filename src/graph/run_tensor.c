/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_tensor.c - the elements of an operand: where they lie, reading and writing them.
 *
 * A layout without joins places an element at a sum of functions of one coordinate each; these are tabulated. Where each
 * coordinate depends on one iteration dim, and all iterations have an element, the tables are of iteration dims ("flat"): a place is
 * then one addition a dim. All else is looked at step by step.
 */
#include "graph/run.h"
#include "layout/layout.h"

static tesela_status tensor_no_memory(tesela_error *err) {
  return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for tables of places");
}

static tesela_status tensor_tables(tesela__run *run, tesela__run_tensor *tensor, tesela_error *err) {
  const tesela_layout *base = &tensor->at.base;
  if (base->n_joins > 0) return TESELA_OK;
  for (int32_t c = 0; c < base->rank; c++) {
    int64_t *table = tesela__run_take(run, &run->scratch, base->shape[c], sizeof *table);
    if (!table) return tensor_no_memory(err);
    for (int64_t x = 0; x < base->shape[c]; x++) table[x] = tesela__coordinate_place(base, c, x);
    tensor->table[c] = table;
  }
  return TESELA_OK;
}

/* Places of the further copies of an element: sums of the replica digits but for all 0. */
static tesela_status tensor_copies(tesela__run *run, tesela__run_tensor *tensor, tesela_error *err) {
  const tesela_layout *base = &tensor->at.base;
  int64_t n = tesela_layout_copies(base);
  if (n <= 1) return TESELA_OK;
  tensor->copy = tesela__run_take(run, &run->scratch, n - 1, sizeof *tensor->copy);
  if (!tensor->copy) return tensor_no_memory(err);
  for (int64_t k = 1; k < n; k++) {
    int64_t rest = k, place = 0;
    for (int32_t i = base->n_active - 1; i >= base->n_mapped; i--) {
      const tesela_digit *digit = &base->digit[i];
      if (digit->source != TESELA_REPLICA) continue;
      place += rest % digit->extent * digit->stride;
      rest /= digit->extent;
    }
    tensor->copy[tensor->n_copies++] = place;
  }
  return TESELA_OK;
}

/* Is every index of this dim one iteration dim's, or constant, and inside the tensor? */
static bool tensor_dim_is_flat(const tesela_index *index, int64_t extent, const tesela_iteration *iteration) {
  int64_t low = index->start, high = index->start;
  if (index->divide > 1 || index->dim[1] >= 0 || index->dim[0] == TESELA_INDEX_LOOKUP) return false;
  if (index->dim[0] >= 0) {
    int64_t span = (iteration->extent[index->dim[0]] - 1) * index->factor[0]; /* windows are inside int64 */
    if (iteration->extent[index->dim[0]] == 0) return false;
    *(span < 0 ? &low : &high) += span;
  }
  return low >= 0 && high < extent;
}

/* The coordinate's value but for iteration dim `dim`, of which it gets *by for each step; false: more than one dim moves it. */
static bool tensor_coordinate(const tesela__op_tensor *at, int32_t c, int32_t *dim, int64_t *start,
                              int64_t *by) {
  *dim = -1;
  *by = 0;
  *start = at->offset[c];
  for (int32_t d = 0; d < at->rank; d++) {
    if (at->to[d] != c) continue;
    *start += at->index[d].start * at->by[d];
    if (at->index[d].dim[0] < 0) continue;
    if (*dim >= 0) return false;
    *dim = at->index[d].dim[0];
    *by = at->index[d].factor[0] * at->by[d];
  }
  return true;
}

static tesela_status tensor_flatten(tesela__run *run, const tesela_iteration *iteration,
                                    tesela__run_tensor *tensor, tesela_error *err) {
  const tesela__op_tensor *at = &tensor->at;
  int64_t origin = at->base.axis[0].offset;
  int32_t n = 0;
  for (int32_t d = 0; d < at->rank; d++)
    if (!tensor_dim_is_flat(&at->index[d], at->shape[d], iteration)) return TESELA_OK;
  for (int32_t c = 0; c < at->base.rank; c++) {
    int32_t dim;
    int64_t start, by;
    if (!tensor->table[c] || !tensor_coordinate(at, c, &dim, &start, &by)) return TESELA_OK;
    if (dim < 0) {
      origin += tensor->table[c][start];
      continue;
    }
    int64_t *flat = tesela__run_take(run, &run->scratch, iteration->extent[dim], sizeof *flat);
    if (!flat) return tensor_no_memory(err);
    for (int64_t x = 0; x < iteration->extent[dim]; x++) flat[x] = tensor->table[c][start + x * by];
    tensor->flat_dim[n] = dim;
    tensor->flat[n++] = flat;
  }
  tensor->n_flat = n;
  tensor->origin = origin;
  return TESELA_OK;
}

tesela_status tesela__run_tensor_make(tesela__run *run, const tesela__op_tensor *at,
                                      const tesela_iteration *iteration, tesela__run_tensor *tensor,
                                      tesela_error *err) {
  *tensor =
      (tesela__run_tensor){.at = *at, .buffer = &run->buffer[at->buffer], .id = at->buffer, .n_flat = -1};
  tensor->origin = at->base.axis[0].offset;
  for (int32_t d = 0; d < at->rank; d++)
    if (at->shape[d] == 0) return TESELA_OK;
  tesela_status status = tensor_tables(run, tensor, err);
  if (status == TESELA_OK) status = tensor_copies(run, tensor, err);
  if (status != TESELA_OK) return status;
  if (iteration) return tensor_flatten(run, iteration, tensor, err);
  tesela_iteration own = {.n = at->rank};
  memcpy(own.extent, at->shape, sizeof at->shape);
  return tensor_flatten(run, &own, tensor, err);
}

/* ---- where ---- */

static bool tensor_step_by_step(const tesela__run_tensor *tensor, const int64_t *iteration, int64_t looked_up,
                                int64_t *place) {
  const tesela__op_tensor *at = &tensor->at;
  int64_t x[TESELA_MAX_RANK];
  for (int32_t c = 0; c < at->base.rank; c++) x[c] = at->offset[c];
  for (int32_t d = 0; d < at->rank; d++) {
    const tesela_index *index = &at->index[d];
    int64_t t = index->start;
    if (index->dim[0] == TESELA_INDEX_LOOKUP) t += looked_up;
    for (int32_t i = 0; i < 2; i++)
      if (index->dim[i] >= 0) t += index->factor[i] * iteration[index->dim[i]];
    if (t < 0) return false;
    if (index->divide > 1) {
      if (t % index->divide != 0) return false;
      t /= index->divide;
    }
    if (t >= at->shape[d]) return false;
    if (at->to[d] >= 0) x[at->to[d]] += at->by[d] * t;
  }
  if (at->base.rank == 0 || tensor->table[0]) {
    *place = tensor->origin;
    for (int32_t c = 0; c < at->base.rank; c++) *place += tensor->table[c][x[c]];
    return true;
  }
  return tesela_layout_place_of(&at->base, x, place, NULL) == TESELA_OK;
}

bool tesela__run_locate(const tesela__run_tensor *tensor, const int64_t *iteration, int64_t looked_up,
                        int64_t *place) {
  if (tensor->n_flat < 0) return tensor_step_by_step(tensor, iteration, looked_up, place);
  int64_t sum = tensor->origin;
  for (int32_t i = 0; i < tensor->n_flat; i++) sum += tensor->flat[i][iteration[tensor->flat_dim[i]]];
  *place = sum;
  return true;
}

/* ---- reading and writing ---- */

bool tesela__run_marked(const tesela__run *run, const tesela__run_tensor *tensor, int64_t place) {
  int32_t n = tensor->buffer->width / run->grain;
  const int32_t *mark = tensor->buffer->mark + place * n;
  for (int32_t i = 0; i < n; i++)
    if (mark[i] != tensor->id + 1) return false;
  return true;
}

void tesela__run_mark(tesela__run *run, const tesela__run_tensor *tensor, int64_t place) {
  int32_t n = tensor->buffer->width / run->grain;
  for (int64_t k = -1; k < tensor->n_copies; k++) {
    int32_t *mark = tensor->buffer->mark + (place + (k < 0 ? 0 : tensor->copy[k])) * n;
    for (int32_t i = 0; i < n; i++) mark[i] = tensor->id + 1;
  }
}

tesela__run_value tesela__run_read(tesela__run *run, const tesela__run_tensor *tensor, int64_t place) {
  const tesela__run_buffer *buffer = tensor->buffer;
  run->facts.poison_read += !tesela__run_marked(run, tensor, place);
  tesela__run_value value = tesela__run_load(buffer->dtype, buffer->bytes + place * buffer->width);
  if (buffer->dtype == buffer->host) return value;
  return tesela__run_convert(buffer->class, tesela__run_class_of(buffer->dtype), value);
}

tesela_status tesela__run_write(tesela__run *run, const tesela__run_tensor *tensor, int64_t place,
                                tesela__run_class class, tesela__run_value value, tesela_error *err) {
  tesela__run_buffer *buffer = tensor->buffer;
  value = tesela__run_round(buffer->host, class, value);
  if (buffer->dtype != buffer->host) {
    class = buffer->class;
    if (!tesela__run_fits(buffer->dtype, class, value))
      return tesela__fail(
          err, TESELA_E_RANGE, -1, "%.80s: value %" PRId64 " does not fit %s, the type on the device",
          tesela_graph_node(run->graph, tensor->at.node)->name, value.i, tesela_dtype_name(buffer->dtype));
    value = tesela__run_round(buffer->dtype, class, value);
  }
  uint8_t bits[16];
  tesela__run_store(buffer->dtype, value, bits, buffer->width);
  for (int64_t k = -1; k < tensor->n_copies; k++)
    memcpy(buffer->bytes + (place + (k < 0 ? 0 : tensor->copy[k])) * buffer->width, bits,
           (size_t)buffer->width);
  tesela__run_mark(run, tensor, place);
  return TESELA_OK;
}

tesela_status tesela__run_pass(tesela__run *run, const tesela__run_tensor *to, int64_t to_place,
                               const tesela__run_tensor *from, int64_t from_place, tesela_error *err) {
  const tesela__run_buffer *dst = to->buffer, *src = from->buffer;
  if (dst->host != src->host || dst->dtype != src->dtype || dst->width != src->width)
    return tesela__run_write(run, to, to_place, src->class, tesela__run_read(run, from, from_place), err);
  uint8_t bits[16];
  run->facts.poison_read += !tesela__run_marked(run, from, from_place);
  memcpy(bits, src->bytes + from_place * src->width, (size_t)src->width);
  for (int64_t k = -1; k < to->n_copies; k++)
    memcpy(dst->bytes + (to_place + (k < 0 ? 0 : to->copy[k])) * dst->width, bits, (size_t)dst->width);
  tesela__run_mark(run, to, to_place);
  return TESELA_OK;
}
