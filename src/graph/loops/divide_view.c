/* SPDX-License-Identifier: Apache-2.0 */
/*
 * divide_view.c - the places of an operand that one core touches.
 *
 * Iteration dims move different coordinates of an operand, so the coordinates that a share touches are a product of sets, one
 * per coordinate; a walk over the counters that move a coordinate finds its set. Without joins places are sums over
 * coordinates, and so are the first and the last place; with joins, all elements are visited.
 */
#include "graph/loops/loops.h"
#include "layout/layout.h"

typedef struct touch_sets {
  const tesela_op_loops *loops;
  const tesela_core_share *share;
  const tesela__op_tensor *tensor;
  tesela_allocator allocator;
  uint8_t *set[TESELA_MAX_RANK]; /* of each coordinate: a byte for each value */
  int64_t count[TESELA_MAX_RANK];
  bool any; /* an element was found */
} touch_sets;

/* Does dim d belong to coordinate c; c < 0: is it dim ~c, without a coordinate? */
static bool touch_of(const touch_sets *v, int32_t c, int32_t d) {
  return c >= 0 ? v->tensor->to[d] == c : d == ~c;
}

/* Does an iteration dim move coordinate c? */
static bool touch_moves(const touch_sets *v, int32_t c, int32_t dim) {
  for (int32_t d = 0; d < v->tensor->rank; d++)
    if (touch_of(v, c, d) && (v->tensor->index[d].dim[0] == dim || v->tensor->index[d].dim[1] == dim))
      return true;
  return false;
}

/* The coordinate at an iteration; false: one of its dims has no element there. */
static bool touch_coordinate(const touch_sets *v, int32_t c, const int64_t *iteration, int64_t looked_up,
                             int64_t *x) {
  *x = c < 0 ? 0 : v->tensor->offset[c];
  for (int32_t d = 0; d < v->tensor->rank; d++) {
    const tesela_index *index = &v->tensor->index[d];
    if (!touch_of(v, c, d)) continue;
    int64_t t = index->start;
    if (index->dim[0] == TESELA_INDEX_LOOKUP) t += looked_up;
    for (int32_t i = 0; i < 2; i++)
      if (index->dim[i] >= 0) t += index->factor[i] * iteration[index->dim[i]];
    if (t < 0 || t % index->divide != 0 || t / index->divide >= v->tensor->shape[d]) return false;
    *x += v->tensor->by[d] * (t / index->divide);
  }
  return true;
}

static void touch_add(touch_sets *v, int32_t c, const int64_t *iteration, int64_t lookups) {
  for (int64_t at = 0; at < lookups; at++) {
    int64_t x;
    if (!touch_coordinate(v, c, iteration, at, &x)) continue;
    v->any = true;
    if (c < 0) return;
    v->count[c] += !v->set[c][x];
    v->set[c][x] = 1;
  }
}

/* Find all values of one coordinate in the share. */
static void touch_set(touch_sets *v, int32_t c) {
  int32_t loop[TESELA_DEVICE_DIMS], n = 0;
  int64_t counter[TESELA_DEVICE_DIMS] = {0}, lookups = 1;
  for (int32_t l = 0; l < v->loops->n; l++)
    if (touch_moves(v, c, v->loops->loop[l].dim)) loop[n++] = l;
  for (int32_t d = 0; d < v->tensor->rank; d++)
    if (touch_of(v, c, d) && v->tensor->index[d].dim[0] == TESELA_INDEX_LOOKUP) lookups = v->tensor->shape[d];
  for (;;) {
    int64_t iteration[TESELA_GRAPH_ITERATION] = {0};
    bool inside = true;
    for (int32_t i = 0; i < n; i++) {
      const tesela_loop *l = &v->loops->loop[loop[i]];
      iteration[l->dim] += (v->share->start[loop[i]] + counter[i]) * l->step;
    }
    for (int32_t i = 0; i < n; i++) {
      int32_t dim = v->loops->loop[loop[i]].dim;
      inside = inside && iteration[dim] < v->loops->iteration.extent[dim];
    }
    if (inside) touch_add(v, c, iteration, lookups);
    int32_t i = n - 1;
    for (; i >= 0; i--) {
      if (++counter[i] < v->share->extent[loop[i]]) break;
      counter[i] = 0;
    }
    if (i < 0) return;
  }
}

/* Does the share have an iteration, and the operand an element? */
static bool touch_any(const touch_sets *v) {
  for (int32_t i = 0; i < v->loops->iteration.n; i++)
    if (v->loops->iteration.extent[i] == 0) return false;
  for (int32_t i = 0; i < v->loops->iteration.n; i++) {
    int64_t least = 0;
    for (int32_t l = 0; l < v->loops->n; l++)
      if (v->loops->loop[l].dim == i) least += v->share->start[l] * v->loops->loop[l].step;
    if (least >= v->loops->iteration.extent[i]) return false;
  }
  for (int32_t l = 0; l < v->loops->n; l++)
    if (v->share->extent[l] == 0) return false;
  for (int32_t d = 0; d < v->tensor->rank; d++)
    if (v->tensor->shape[d] == 0) return false;
  return true;
}

/* Without joins: the least and greatest part of each coordinate. */
static void touch_sum(const touch_sets *v, tesela_core_view *view) {
  const tesela_layout *base = &v->tensor->base;
  *view = (tesela_core_view){base->axis[0].offset, base->axis[0].offset, 1};
  for (int32_t c = 0; c < base->rank; c++) {
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (int64_t x = 0; x < base->shape[c]; x++) {
      if (!v->set[c][x]) continue;
      int64_t part = tesela__coordinate_place(base, c, x);
      least = tesela__min(least, part);
      most = tesela__max(most, part);
    }
    view->first += least;
    view->last += most;
    if (tesela__chain_of(base, c).n > 0) view->places *= v->count[c];
  }
}

/* With joins: visit all elements. The coordinates are then the dims of the tensor; dims that repeat elements have no digits. */
static tesela_status touch_walk(const touch_sets *v, tesela_core_view *view, tesela_error *err) {
  const tesela_layout *base = &v->tensor->base;
  int64_t x[TESELA_MAX_RANK] = {0};
  *view = (tesela_core_view){INT64_MAX, INT64_MIN, 1};
  for (int32_t c = 0; c < base->rank; c++)
    if (tesela__chain_of(base, c).n > 0) view->places *= v->count[c];
  for (;;) {
    bool in = true;
    for (int32_t c = 0; c < base->rank; c++) in = in && v->set[c][x[c]];
    if (in) {
      int64_t place;
      tesela_status status = tesela_layout_place_of(base, x, &place, err);
      if (status != TESELA_OK) return status;
      view->first = tesela__min(view->first, place);
      view->last = tesela__max(view->last, place);
    }
    int32_t c = base->rank - 1;
    for (; c >= 0; c--) {
      if (++x[c] < base->shape[c]) break;
      x[c] = 0;
    }
    if (c < 0) return TESELA_OK;
  }
}

/* Copies of an element are at sums of the replica digits. */
static void touch_copies(const tesela_layout *base, tesela_core_view *view) {
  for (int32_t i = base->n_mapped; i < base->n_active; i++) {
    const tesela_digit *digit = &base->digit[i];
    if (digit->source != TESELA_REPLICA) continue;
    view->places *= digit->extent;
    view->last += (digit->extent - 1) * digit->stride;
  }
}

static tesela_status touch_make(touch_sets *v, tesela_core_view *view, tesela_error *err) {
  const tesela_layout *base = &v->tensor->base;
  *view = (tesela_core_view){0, -1, 0};
  if (!touch_any(v)) return TESELA_OK;
  for (int32_t d = 0; d < v->tensor->rank; d++) {
    if (v->tensor->to[d] >= 0) continue;
    v->any = false;
    touch_set(v, ~d);
    if (!v->any) return TESELA_OK;
  }
  for (int32_t c = 0; c < base->rank; c++) {
    uint64_t size = (uint64_t)base->shape[c];
    v->set[c] = tesela__alloc(&v->allocator, size, 1);
    if (!v->set[c]) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the coordinates of a share");
    memset(v->set[c], 0, (size_t)size);
    touch_set(v, c);
    if (v->count[c] == 0) return TESELA_OK;
  }
  if (base->n_joins > 0) return touch_walk(v, view, err);
  touch_sum(v, view);
  return TESELA_OK;
}

tesela_status tesela_graph_core_view(const tesela_graph *graph, int32_t node, const tesela_op_loops *loops,
                                     const tesela_core_share *share, int32_t k, tesela_core_view *view,
                                     tesela_error *err) {
  TESELA__NEED(err, graph, loops, share, view);
  if (!tesela_graph_node(graph, node))
    return tesela__fail(err, TESELA_E_RANGE, -1, "node is %" PRId32 "; expected 0 to %" PRId32, node,
                        tesela_graph_count(graph) - 1);
  tesela__op_tensor tensor;
  tesela_core_view made;
  tesela_status status = tesela__op_tensor_of(graph, node, k, false, &tensor, err);
  if (status != TESELA_OK) return status;
  touch_sets v = {.loops = loops, .share = share, .tensor = &tensor, .allocator = tesela__allocator(NULL)};
  status = touch_make(&v, &made, err);
  for (int32_t c = 0; c < TESELA_MAX_RANK; c++) tesela__release(&v.allocator, v.set[c]);
  if (status != TESELA_OK) return status;
  if (k < 0 && made.places > 0) touch_copies(&tensor.base, &made);
  *view = made;
  return TESELA_OK;
}
