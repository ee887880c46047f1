/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loops_place.c - the places of an operator's tensors as layouts of loop counters.
 *
 * A place is a layout of the core: each coordinate of the buffer is a join whose parts are the counters, weighted by their
 * strides along it, and the digits of the base layout split these joins. The canonical form then finds the counters that are
 * digits of the buffer themselves. Whole steps of a coordinate's constant, by its first digit, move to the offset of the axis;
 * if windows reach below the buffer, all places are raised by *before.
 */
#include "graph/loops/loops.h"
#include "layout/layout.h"

/* A layout under construction: dims are the counters, joins those of divided dims, then of coordinates, then base's. */
typedef struct place_build {
  tesela_layout *out;
  const tesela_op_loops *loops;
  const tesela__op_tensor *tensor;
  int32_t n_counters, divided[TESELA_GRAPH_RANK], first_coordinate;
  int64_t low[TESELA_MAX_RANK], high[TESELA_MAX_RANK]; /* of each coordinate, without its offset */
  int64_t offset[TESELA_MAX_RANK];
  bool used[TESELA_MAX_RANK]; /* counters */
} place_build;

static tesela_status place_overflow(tesela_error *err) {
  return tesela__fail(err, TESELA_E_OVERFLOW, -1, "places of an operand do not fit in 64 bits");
}

static tesela_status place_no_layout(tesela_error *err) {
  return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                      "a window over the border of a view across dims has no layout");
}

static tesela_status place_put(place_build *b, tesela_digit digit, tesela_error *err) {
  if (b->out->n_digits == TESELA_MAX_DIGITS)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "the place of an operand needs more than %d digits",
                        TESELA_MAX_DIGITS);
  b->out->digit[b->out->n_digits++] = digit;
  return TESELA_OK;
}

/* Widen a range by the values of a span. */
static bool place_widen(int64_t *low, int64_t *high, int64_t count, int64_t weight) {
  int64_t span;
  return tesela__mul(tesela__max(count - 1, 0), weight, &span) &&
         tesela__add(span < 0 ? *low : *high, span, span < 0 ? low : high);
}

/* Add the counters that index a dim as parts of join j, each with weight `by`; low and high receive their range. */
static tesela_status place_parts(place_build *b, const tesela_index *index, int64_t by, int32_t j,
                                 int64_t *low, int64_t *high, tesela_error *err) {
  for (int32_t l = 0; l < b->n_counters; l++) {
    bool extra = l == b->loops->n;
    for (int32_t i = 0; i < 2; i++) {
      int64_t weight;
      if (extra ? i > 0 || index->dim[0] != TESELA_INDEX_LOOKUP
                : index->dim[i] < 0 || index->dim[i] != b->loops->loop[l].dim)
        continue;
      if (!tesela__mul(extra ? 1 : index->factor[i], by, &weight) ||
          !tesela__mul(weight, extra ? 1 : b->loops->loop[l].step, &weight))
        return place_overflow(err);
      if (weight == 0) continue;
      if (b->used[l])
        return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                            "a loop moves two dims of one operand, so its places have no layout");
      b->used[l] = true;
      if (!place_widen(low, high, b->out->shape[l], weight)) return place_overflow(err);
      tesela_status status = place_put(b,
                                       (tesela_digit){.extent = b->out->shape[l],
                                                      .step = 1,
                                                      .stride = weight,
                                                      .source = (int16_t)l,
                                                      .axis = -1,
                                                      .join = (int16_t)j},
                                       err);
      if (status != TESELA_OK) return status;
    }
  }
  return TESELA_OK;
}

/* A divided dim: a join of its own whose quotient is a part of the coordinate. */
static tesela_status place_divided(place_build *b, int32_t d, tesela_error *err) {
  const tesela_index *index = &b->tensor->index[d];
  int32_t j = b->divided[d], c = b->tensor->to[d];
  int64_t low = 0, high = 0, start, shift = 0, by = b->tensor->by[d], back, quotient;
  tesela_status status = place_parts(b, index, 1, j, &low, &high, err);
  if (status != TESELA_OK) return status;
  start = index->start;
  if (!tesela__add(low, start, &low) || !tesela__add(high, start, &high)) return place_overflow(err);
  if (low < 0) shift = tesela__ceil_div(-low, index->divide);
  if (!tesela__add(start, shift * index->divide, &start) ||
      !tesela__add(high, shift * index->divide, &high) || !tesela__mul(shift, by, &back))
    return place_overflow(err);
  quotient = high / index->divide + 1;
  b->out->join[j] = (tesela_join){.extent = high + 1, .offset = start};
  b->offset[c] -= back;
  if (!place_widen(&b->low[c], &b->high[c], quotient, by)) return place_overflow(err);
  int16_t source = (int16_t)(b->n_counters + j);
  status = place_put(b,
                     (tesela_digit){.extent = quotient,
                                    .step = index->divide,
                                    .stride = by,
                                    .source = source,
                                    .axis = -1,
                                    .join = (int16_t)(b->first_coordinate + c)},
                     err);
  if (status != TESELA_OK) return status;
  return place_put(
      b,
      (tesela_digit){
          .extent = index->divide, .step = 1, .stride = 0, .source = source, .axis = 0, .join = -1},
      err);
}

/* Add all dims of the tensor to the coordinates. */
static tesela_status place_dims(place_build *b, tesela_error *err) {
  const tesela__op_tensor *tensor = b->tensor;
  for (int32_t c = 0; c < tensor->base.rank; c++) b->offset[c] = tensor->offset[c];
  for (int32_t d = 0; d < tensor->rank; d++) {
    const tesela_index *index = &tensor->index[d];
    int32_t c = tensor->to[d];
    if (c < 0) continue;
    tesela_status status;
    if (index->divide > 1) {
      status = place_divided(b, d, err);
    } else {
      int64_t add;
      if (!tesela__mul(index->start, tensor->by[d], &add) || !tesela__add(b->offset[c], add, &b->offset[c]))
        return place_overflow(err);
      status = place_parts(b, index, tensor->by[d], b->first_coordinate + c, &b->low[c], &b->high[c], err);
    }
    if (status != TESELA_OK) return status;
  }
  return TESELA_OK;
}

/* The first digit of a coordinate of base, or -1. */
static int32_t place_first(const tesela_layout *base, int32_t coordinate) {
  for (int32_t i = 0; i < base->n_mapped; i++)
    if (base->digit[i].source == coordinate) return i;
  return -1;
}

/* Make the joins of the coordinates. Their offset is the least one from which all values are >= 0 and that differs from the
 * given one by whole steps of the first digit. */
static tesela_status place_coordinates(place_build *b, tesela_error *err) {
  const tesela_layout *base = &b->tensor->base;
  for (int32_t c = 0; c < base->rank; c++) {
    int32_t first = place_first(base, c);
    int64_t step = first < 0 ? 1 : base->digit[first].step, offset = b->offset[c], need, steps, moved;
    if (!tesela__sub(0, b->low[c], &need)) return place_overflow(err);
    int64_t over = offset % step;
    if (over < 0) over += step;
    int64_t least = need <= over ? over : over + tesela__ceil_div(need - over, step) * step;
    steps = (offset - least) / step; /* exact */
    if (!tesela__mul(steps, first < 0 ? 0 : base->digit[first].stride, &moved)) return place_overflow(err);
    if (first >= 0 && base->digit[first].axis >= 0) {
      if (!tesela__add(b->out->axis[0].offset, moved, &b->out->axis[0].offset)) return place_overflow(err);
    } else if (first >= 0 && steps != 0) {
      int64_t low;
      if (!tesela__add(offset, b->low[c], &low)) return place_overflow(err);
      if (low < 0) return place_no_layout(err);
      least = offset;
    }
    int64_t high;
    if (!tesela__add(least, b->high[c], &high) || high == INT64_MAX) return place_overflow(err);
    b->out->join[b->first_coordinate + c] = (tesela_join){.extent = high + 1, .offset = least};
  }
  return TESELA_OK;
}

/* Longer digits with negative strides may take the joins of base below 0: refuse that. */
static tesela_status place_joins_begin_at_0(const place_build *b, tesela_error *err) {
  for (int32_t j = 0; j < b->tensor->base.n_joins; j++) {
    int32_t join = b->first_coordinate + b->tensor->base.rank + j;
    int64_t low = b->out->join[join].offset, high = 0;
    for (int32_t i = 0; i < b->out->n_digits; i++) {
      const tesela_digit *digit = &b->out->digit[i];
      if (digit->join == join && !place_widen(&low, &high, digit->extent, digit->stride))
        return place_overflow(err);
    }
    if (low < 0) return place_no_layout(err);
  }
  return TESELA_OK;
}

/* The digits of base after the joins; the first digit of each coordinate has the extent of its join. */
static tesela_status place_base(place_build *b, tesela_error *err) {
  const tesela_layout *base = &b->tensor->base;
  int32_t shift = b->n_counters + b->first_coordinate;
  for (int32_t j = 0; j < base->n_joins; j++)
    b->out->join[b->first_coordinate + base->rank + j] = base->join[j];
  for (int32_t c = 0; c < base->rank + base->n_joins; c++) {
    tesela_join *from = &b->out->join[b->first_coordinate + c];
    int64_t limit = from->extent;
    for (int32_t i = 0; i < base->n_mapped; i++) {
      tesela_digit digit = base->digit[i];
      if (digit.source != c) continue;
      digit.extent = tesela__ceil_div(limit, digit.step);
      limit = tesela__min(limit, digit.step);
      digit.source = (int16_t)(shift + c);
      if (digit.join >= 0) {
        tesela_join *join = &b->out->join[b->first_coordinate + base->rank + digit.join];
        int64_t low = 0, high = join->extent;
        if (!place_widen(&low, &high, digit.extent, digit.stride)) return place_overflow(err);
        join->extent = high; /* at least the range of the values */
        digit.join = (int16_t)(b->first_coordinate + base->rank + digit.join);
      }
      tesela_status status = place_put(b, digit, err);
      if (status != TESELA_OK) return status;
    }
  }
  tesela_status below = place_joins_begin_at_0(b, err);
  if (below != TESELA_OK) return below;
  for (int32_t i = base->n_mapped; i < base->n_active; i++) {
    if (base->digit[i].source != TESELA_REPLICA) continue;
    tesela_status status = place_put(b, base->digit[i], err);
    if (status != TESELA_OK) return status;
  }
  return TESELA_OK;
}

/* Raise the axis until its least place is 0, if it is below. */
static tesela_status place_raise(tesela_layout *out, int64_t *before, tesela_error *err) {
  int64_t low = out->axis[0].offset;
  for (int32_t i = 0; i < out->n_digits; i++) {
    const tesela_digit *digit = &out->digit[i];
    int64_t span;
    if (digit->axis != 0 || digit->stride >= 0) continue;
    if (!tesela__mul(tesela__max(digit->extent - 1, 0), digit->stride, &span) ||
        !tesela__add(low, span, &low))
      return place_overflow(err);
  }
  *before = low < 0 ? -low : 0;
  if (!tesela__add(out->axis[0].offset, *before, &out->axis[0].offset)) return place_overflow(err);
  return TESELA_OK;
}

static tesela_status place_begin(place_build *b, int64_t extra, tesela_error *err) {
  const tesela_layout *base = &b->tensor->base;
  int64_t extent[TESELA_MAX_RANK];
  b->n_counters = b->loops->n + (extra >= 0);
  if (b->n_counters > TESELA_MAX_RANK)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "%" PRId32 " loops; a layout can have %d dims",
                        b->n_counters, TESELA_MAX_RANK);
  for (int32_t l = 0; l < b->loops->n; l++) extent[l] = b->loops->loop[l].extent;
  if (extra >= 0) extent[b->loops->n] = extra;
  tesela_status status = tesela_layout_begin(b->out, base->dtype, base->bits, b->n_counters, extent, err);
  if (status != TESELA_OK) return status;
  b->out->n_digits = 0;
  for (int32_t d = 0; d < b->tensor->rank; d++)
    if (b->tensor->to[d] >= 0 && b->tensor->index[d].divide > 1) b->divided[d] = b->first_coordinate++;
  if (b->first_coordinate + base->rank + base->n_joins > TESELA_MAX_JOINS)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "the place of an operand needs more than %d joins",
                        TESELA_MAX_JOINS);
  b->out->n_joins = b->first_coordinate + base->rank + base->n_joins;
  b->out->n_axes = 1;
  b->out->axis[0] = base->axis[0];
  b->out->axis[0].extent = -1;
  return TESELA_OK;
}

tesela_status tesela__loop_place(const tesela_op_loops *loops, const tesela__op_tensor *tensor, int64_t extra,
                                 tesela_layout *place, int64_t *before, tesela_error *err) {
  tesela_layout out;
  place_build b = {.out = &out, .loops = loops, .tensor = tensor};
  int64_t raised = 0;
  tesela_status status = place_begin(&b, extra, err);
  if (status == TESELA_OK) status = place_dims(&b, err);
  if (status == TESELA_OK) status = place_coordinates(&b, err);
  if (status == TESELA_OK) status = place_base(&b, err);
  for (int32_t l = 0; l < b.n_counters && status == TESELA_OK; l++)
    if (!b.used[l])
      status = place_put(
          &b,
          (tesela_digit){
              .extent = out.shape[l], .step = 1, .stride = 0, .source = (int16_t)l, .axis = 0, .join = -1},
          err);
  if (status == TESELA_OK) status = place_raise(&out, &raised, err);
  if (status == TESELA_OK) status = tesela_layout_finish(&out, err);
  if (status == TESELA_OK) status = tesela_layout_canonical(&out, &out, err);
  if (status != TESELA_OK) return status;
  *place = out;
  *before = raised;
  return TESELA_OK;
}

tesela_status tesela_graph_loop_place(const tesela_graph *graph, const tesela_op_loops *loops, int32_t node,
                                      int32_t k, tesela_layout *place, int64_t *before, tesela_error *err) {
  TESELA__NEED(err, graph, loops, place, before);
  const tesela_node *of = tesela_graph_node(graph, node);
  if (!of)
    return tesela__fail(err, TESELA_E_RANGE, -1, "node is %" PRId32 "; expected 0 to %" PRId32, node,
                        tesela_graph_count(graph) - 1);
  tesela__op_tensor tensor;
  tesela_status status = tesela__op_tensor_of(graph, node, k, false, &tensor, err);
  if (status != TESELA_OK) return status;
  if (tesela__op_tensor_looked_up(&tensor))
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "operand %" PRId32 " of %.80s is indexed by the values of operand 1", k, of->name);
  return tesela__loop_place(loops, &tensor, -1, place, before, err);
}
