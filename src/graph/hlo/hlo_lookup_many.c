/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_lookup_many.c - gather and scatter in several dims, of windows, in batches; slices at unknown positions.
 *
 *   x[10,20,64], i[5,2]   start_index_map={0,1}, slice_sizes={1,2,64}     rows of [200,64], numbers [5,2]: see hlo_linear.c
 *
 * The dims that are looked up become one; each of them that remains in the result is a dim of the numbers. The result then has
 * the leading dims of x, those of the indices, these windows, the other dims of x; a permutation brings them into the final
 * order.
 */
#include "graph/hlo/hlo.h"

/* A gather or scatter: the looked-up dims of x, and the positions of its dims. */
typedef struct lookup_many {
  int32_t rank, n, n_index;               /* of x; dims looked up; dims of the indices without the vector */
  int32_t vector;                         /* the vector dim; equal to the rank of the indices if absent */
  int32_t dim[TESELA_GRAPH_RANK];         /* looked up, ascending */
  int32_t component[TESELA_GRAPH_RANK];   /* component of the vector for each dim of x, or -1 */
  int32_t batch[TESELA_GRAPH_RANK];       /* for each dim of x: the corresponding dim of the indices, or -1 */
  int32_t place[TESELA_GRAPH_RANK];       /* position of each dim of x in the result, or -1 */
  int64_t size[TESELA_GRAPH_RANK];        /* size of the window in each dim of x */
  int64_t index_shape[TESELA_GRAPH_RANK]; /* of the indices without the vector */
} lookup_many;

static bool many_list(const tesela__hlo_build *b, const tesela__hlo_instruction *in, const char *key,
                      int32_t below, int32_t *n, int32_t *list) {
  uint64_t seen = 0;
  *n = tesela__hlo_list_or_none(b->module, in, key, TESELA_GRAPH_RANK, list);
  if (*n < 0) return false;
  for (int32_t i = 0; i < *n; i++) {
    if (list[i] >= below || (seen >> list[i] & 1) != 0) return false;
    seen |= (uint64_t)1 << list[i];
  }
  return true;
}

/* keys: positions of the window's dims, dims of x outside of it, the map of components to dims, batches of x and of the
 * indices. `rank`: of the result or the values. */
static bool many_read(const tesela__hlo_build *b, const tesela__hlo_instruction *in,
                      const char *const keys[5], const tesela_node *x, const tesela_node *indices,
                      int32_t rank, lookup_many *m) {
  int32_t window[TESELA_GRAPH_RANK], gone[TESELA_GRAPH_RANK], map[TESELA_GRAPH_RANK],
      batch[TESELA_GRAPH_RANK], of_index[TESELA_GRAPH_RANK];
  int32_t n_window, n_gone, n_map, n_batch, n_of_index, w = 0;
  int64_t vector;
  if (!tesela__hlo_integer(b->module->text, tesela__hlo_attribute(b->module, in, "index_vector_dim"),
                           &vector) ||
      vector < 0 || vector > indices->rank)
    return false;
  *m = (lookup_many){.rank = x->rank, .vector = (int32_t)vector};
  if (!many_list(b, in, keys[0], rank, &n_window, window) ||
      !many_list(b, in, keys[1], x->rank, &n_gone, gone) ||
      !many_list(b, in, keys[2], x->rank, &n_map, map) ||
      !many_list(b, in, keys[3], x->rank, &n_batch, batch) ||
      !many_list(b, in, keys[4], indices->rank, &n_of_index, of_index) || n_batch != n_of_index)
    return false;
  if (n_map != (vector < indices->rank ? indices->shape[vector] : 1)) return false;
  for (int32_t d = 0; d < indices->rank; d++)
    if (d != vector) m->index_shape[m->n_index++] = indices->shape[d];
  for (int32_t d = 0; d < x->rank; d++) m->component[d] = m->batch[d] = -1, m->place[d] = 0;
  for (int32_t i = 0; i < n_gone; i++) m->place[gone[i]] = -1;
  for (int32_t i = 0; i < n_map; i++) m->component[map[i]] = i;
  for (int32_t i = 0; i < n_batch; i++) {
    m->place[batch[i]] = -1;
    m->batch[batch[i]] = of_index[i] - (of_index[i] > vector);
    if (of_index[i] == vector || m->component[batch[i]] >= 0 ||
        indices->shape[of_index[i]] != x->shape[batch[i]])
      return false;
  }
  for (int32_t d = 0; d < x->rank; d++) {
    if (m->place[d] < 0) continue;
    if (w == n_window || (w > 0 && window[w] <= window[w - 1])) return false;
    m->place[d] = window[w++];
  }
  return w == n_window && n_window + m->n_index == rank;
}

/* Find the dims that are looked up, from known sizes. `whole`: the other dims are read whole. */
static bool many_dims(const tesela_node *x, bool whole, lookup_many *m) {
  for (int32_t d = 0; d < m->rank; d++) {
    if (m->size[d] < 0 || m->size[d] > x->shape[d] || (m->place[d] < 0 && m->size[d] != 1)) return false;
    if (m->component[d] >= 0 || m->batch[d] >= 0)
      m->dim[m->n++] = d;
    else if (m->place[d] < 0 || (whole && m->size[d] != x->shape[d])) /* one element at an unknown position */
      return false;
  }
  return true;
}

/* The numbers of the looked-up elements: indices, then windows. */
static tesela_status many_numbers(tesela__hlo_linear *l, const lookup_many *m, const tesela_node *x,
                                  int32_t at, bool check) {
  int64_t shape[TESELA_GRAPH_RANK], stride[TESELA_GRAPH_RANK];
  int32_t rank = m->n_index;
  tesela_status status = TESELA_OK;
  memcpy(shape, m->index_shape, sizeof shape);
  for (int32_t i = 0; i < m->n && status == TESELA_OK; i++) {
    int32_t d = m->dim[i], node = at, vector = m->vector, from = at;
    if (m->place[d] >= 0) {
      stride[rank - m->n_index] = l->stride[i];
      shape[rank++] = m->size[d];
    }
    if (m->batch[d] >= 0) {
      status = tesela__hlo_linear_count(l, m->n_index, m->index_shape, m->batch[d], l->stride[i]);
      continue;
    }
    if (vector < tesela__graph_at(l->b->graph, at)->rank) { /* one component */
      int64_t start = m->component[d], one = 1, step = 1;
      tesela_node_spec slice = {.op = TESELA_OP_SLICE,
                                .n_operands = 1,
                                .operand = &from,
                                .n_dims = 1,
                                .dims = &vector,
                                .start = &start,
                                .length = &one,
                                .step = &step};
      status = tesela__hlo_add(l->b, l->in, "component", &slice, &node);
      from = node;
      tesela_node_spec squeeze = {
          .op = TESELA_OP_SQUEEZE, .n_operands = 1, .operand = &from, .n_dims = 1, .dims = &vector};
      if (status == TESELA_OK) status = tesela__hlo_add(l->b, l->in, "index", &squeeze, &node);
    }
    if (status == TESELA_OK)
      status = tesela__hlo_linear_index(l, node, x->shape[d] - m->size[d], l->stride[i], check);
  }
  return status == TESELA_OK ? tesela__hlo_linear_end(l, rank, shape, m->n_index, stride) : status;
}

/* Position of each dim of leading x + indices + windows + other x in the result or the values. */
static bool many_order(const lookup_many *m, int32_t rank, int32_t *order) {
  bool taken[TESELA_GRAPH_RANK] = {false}, looked[TESELA_GRAPH_RANK] = {false};
  int32_t o = 0;
  for (int32_t d = 0; d < m->rank; d++)
    if (m->place[d] >= 0) taken[m->place[d]] = true;
  for (int32_t i = 0; i < m->n; i++) looked[m->dim[i]] = true;
  for (int32_t d = 0; d < m->rank; d++) {
    if (d == m->dim[0]) {
      for (int32_t p = 0; p < rank; p++)
        if (!taken[p]) order[o++] = p;
      for (int32_t i = 0; i < m->n; i++)
        if (m->place[m->dim[i]] >= 0) order[o++] = m->place[m->dim[i]];
    }
    if (!looked[d]) order[o++] = m->place[d];
  }
  return o == rank;
}

static bool many_begin(tesela__hlo_linear *l, const lookup_many *m, const tesela_node *x,
                       tesela_dtype dtype) {
  int64_t extent[TESELA_GRAPH_RANK];
  int32_t rank = m->n_index;
  for (int32_t i = 0; i < m->n; i++) {
    extent[i] = x->shape[m->dim[i]];
    rank += m->place[m->dim[i]] >= 0;
  }
  return rank <= TESELA_GRAPH_RANK && tesela__hlo_linear_begin(l, m->n, extent, dtype);
}

/* ---- gather ---- */

/* The lookup in x with its dims merged; then a permutation. */
static tesela_status many_gather(tesela__hlo_linear *l, const lookup_many *m, int32_t x, int32_t *out) {
  tesela__hlo_build *b = l->b;
  int32_t order[TESELA_GRAPH_RANK], back[TESELA_GRAPH_RANK], operand[2] = {x, l->number}, node;
  tesela__hlo_merged merged;
  if (!many_order(m, b->rank, order)) return TESELA_OK; /* many_read checked it */
  bool turn = !tesela__hlo_is_identity(b->rank, order);
  for (int32_t i = 0; i < b->rank; i++) back[order[i]] = i;
  tesela_status status = tesela__hlo_merge(b, l->in, m->n, m->dim, &merged, &operand[0]);
  tesela_node_spec spec = {
      .op = TESELA_OP_GATHER, .n_operands = 2, .operand = operand, .n_dims = 1, .dims = &merged.dim};
  if (status == TESELA_OK) status = tesela__hlo_add(b, l->in, turn ? "rows" : NULL, &spec, &node);
  if (status == TESELA_OK && turn) status = tesela__hlo_permute(b, l->in, NULL, node, back, &node);
  if (status == TESELA_OK) *out = node;
  return status;
}

/* Other dims are read from their first element. */
static tesela_status many_cut(tesela__hlo_build *b, const tesela__hlo_instruction *in, const lookup_many *m,
                              int32_t *x) {
  const tesela_node *of = tesela__graph_at(b->graph, *x);
  int64_t length[TESELA_GRAPH_RANK];
  int32_t from = *x;
  bool cut = false;
  for (int32_t d = 0, i = 0; d < m->rank; d++) {
    bool looked = i < m->n && m->dim[i] == d;
    i += looked;
    length[d] = looked ? of->shape[d] : m->size[d];
    cut = cut || length[d] != of->shape[d];
  }
  tesela_node_spec spec = {.op = TESELA_OP_SLICE, .n_operands = 1, .operand = &from, .length = length};
  return cut ? tesela__hlo_add(b, in, "part", &spec, x) : TESELA_OK;
}

/* No dim is looked up: equal for all indices. */
static tesela_status many_repeat(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                 const lookup_many *m, int32_t x, tesela__hlo_value *out) {
  int64_t shape[TESELA_GRAPH_RANK];
  for (int32_t p = 0; p < b->rank; p++) shape[p] = -1;
  for (int32_t d = 0; d < m->rank; d++) shape[m->place[d]] = m->size[d];
  for (int32_t p = 0, i = 0; p < b->rank; p++)
    if (shape[p] < 0) shape[p] = m->index_shape[i++];
  tesela_node_spec spec = {.op = TESELA_OP_EXPAND,
                           .n_operands = 1,
                           .operand = &x,
                           .rank = b->rank,
                           .shape = shape,
                           .n_dims = m->rank,
                           .dims = m->place};
  return tesela__hlo_add(b, in, NULL, &spec, &out->node);
}

tesela_status tesela__hlo_gather_many(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                      const int32_t *operand, tesela__hlo_value *out) {
  static const char *const keys[5] = {"offset_dims", "collapsed_slice_dims", "start_index_map",
                                      "operand_batching_dims", "start_indices_batching_dims"};
  int32_t sizes[TESELA_GRAPH_RANK], x = operand[0];
  const tesela_node *of = tesela__graph_at(b->graph, x), *indices = tesela__graph_at(b->graph, operand[1]);
  tesela__hlo_linear l = {.b = b, .in = in};
  lookup_many m;
  if (tesela__hlo_list(b->module, in, "slice_sizes", TESELA_GRAPH_RANK, sizes) != of->rank ||
      !many_read(b, in, keys, of, indices, b->rank, &m))
    return TESELA_OK;
  for (int32_t d = 0; d < of->rank; d++) {
    m.size[d] = sizes[d];
    if (m.component[d] >= 0 && m.place[d] >= 0 && m.size[d] == of->shape[d])
      m.component[d] = -1; /* starts at 0 */
  }
  if (!many_dims(of, false, &m) || (m.n > 0 && !many_begin(&l, &m, of, indices->dtype))) return TESELA_OK;
  tesela_status status = many_cut(b, in, &m, &x);
  if (status == TESELA_OK && m.n == 0) return many_repeat(b, in, &m, x, out);
  if (status == TESELA_OK)
    status = many_numbers(&l, &m, tesela__graph_at(b->graph, operand[0]), operand[1], false);
  return status == TESELA_OK ? many_gather(&l, &m, x, &out->node) : status;
}

/* ---- scatter ---- */

static tesela_status many_scatter(tesela__hlo_linear *l, const lookup_many *m, tesela_fn fn, int32_t x,
                                  int32_t values, int32_t *out) {
  tesela__hlo_build *b = l->b;
  int32_t order[TESELA_GRAPH_RANK], operand[3] = {x, l->number, values}, node;
  int32_t rank = tesela__graph_at(b->graph, values)->rank;
  tesela__hlo_merged merged;
  if (!many_order(m, rank, order)) return TESELA_OK; /* many_read checked it */
  tesela_status status = tesela__hlo_merge(b, l->in, m->n, m->dim, &merged, &operand[0]);
  if (status == TESELA_OK && !tesela__hlo_is_identity(rank, order))
    status = tesela__hlo_permute(b, l->in, "values", values, order, &operand[2]);
  tesela_node_spec spec = {.op = TESELA_OP_SCATTER,
                           .fn = fn,
                           .n_operands = 3,
                           .operand = operand,
                           .n_dims = 1,
                           .dims = &merged.dim};
  if (status == TESELA_OK) status = tesela__hlo_add(b, l->in, m->n > 1 ? "rows" : NULL, &spec, &node);
  if (status == TESELA_OK) status = tesela__hlo_unmerge(b, l->in, &merged, &node);
  if (status == TESELA_OK) *out = node;
  return status;
}

tesela_status tesela__hlo_scatter_many(tesela__hlo_build *b, const tesela__hlo_instruction *in, tesela_fn fn,
                                       const int32_t *operand, tesela__hlo_value *out) {
  static const char *const keys[5] = {"update_window_dims", "inserted_window_dims",
                                      "scatter_dims_to_operand_dims", "input_batching_dims",
                                      "scatter_indices_batching_dims"};
  const tesela_node *x = tesela__graph_at(b->graph, operand[0]),
                    *indices = tesela__graph_at(b->graph, operand[1]),
                    *values = tesela__graph_at(b->graph, operand[2]);
  tesela__hlo_linear l = {.b = b, .in = in};
  lookup_many m;
  if (!many_read(b, in, keys, x, indices, values->rank, &m)) return TESELA_OK;
  for (int32_t d = 0; d < x->rank; d++) m.size[d] = m.place[d] < 0 ? 1 : values->shape[m.place[d]];
  if (!many_dims(x, true, &m) || m.n == 0 || !many_begin(&l, &m, x, indices->dtype)) return TESELA_OK;
  tesela_status status = many_numbers(&l, &m, x, operand[1], true);
  return status == TESELA_OK ? many_scatter(&l, &m, fn, operand[0], operand[2], &out->node) : status;
}

/* ---- slices at unknown places ---- */

/* The sliced dims, each looked up by its start, a scalar: operands `first` and later. */
static tesela_status many_starts(tesela__hlo_linear *l, lookup_many *m, const tesela_node *x, int32_t first,
                                 const int64_t *size) {
  int64_t shape[TESELA_GRAPH_RANK];
  tesela_status status = TESELA_OK;
  for (int32_t i = 0; i < m->n && status == TESELA_OK; i++) {
    int32_t node, d = m->dim[i];
    shape[i] = size[d];
    status = tesela__hlo_operand(l->b, l->in, first + d, &node);
    if (status == TESELA_OK)
      status = tesela__hlo_linear_index(l, node, x->shape[d] - size[d], l->stride[i], false);
  }
  return status == TESELA_OK ? tesela__hlo_linear_end(l, m->n, shape, 0, l->stride) : status;
}

static bool many_slice(tesela__hlo_build *b, const tesela__hlo_instruction *in, const tesela_node *x,
                       int32_t first, const int64_t *size, lookup_many *m, tesela__hlo_linear *l) {
  *m = (lookup_many){.rank = x->rank};
  if (in->n_operands != first + x->rank) return false;
  for (int32_t d = 0; d < x->rank; d++) {
    m->place[d] = d;
    m->size[d] = size[d];
    if (size[d] > x->shape[d]) return false;
    if (size[d] < x->shape[d]) m->dim[m->n++] = d;
  }
  *l = (tesela__hlo_linear){.b = b, .in = in};
  tesela_dtype dtype = TESELA_DTYPE_NONE;
  for (int32_t i = 0; i < m->n; i++) {
    int32_t number;
    if (tesela__hlo_operand(b, in, first + m->dim[i], &number) != TESELA_OK) return false;
    const tesela_node *start = tesela__graph_at(b->graph, number);
    if (start->rank != 0 || (i > 0 && start->dtype != dtype)) return false;
    dtype = start->dtype;
  }
  return m->n > 0 && many_begin(l, m, x, dtype);
}

/* Is it all of x, at any start? */
static bool many_whole(const tesela_node *x, const int64_t *size) {
  return memcmp(x->shape, size, (size_t)x->rank * sizeof *size) == 0;
}

tesela_status tesela__hlo_slice_many(tesela__hlo_build *b, const tesela__hlo_instruction *in, int32_t x,
                                     tesela__hlo_value *out) {
  tesela__hlo_linear l;
  lookup_many m;
  if (many_whole(tesela__graph_at(b->graph, x), b->shape)) return tesela__hlo_same_value(b, in, out);
  if (!many_slice(b, in, tesela__graph_at(b->graph, x), 1, b->shape, &m, &l)) return TESELA_OK;
  tesela_status status = many_starts(&l, &m, tesela__graph_at(b->graph, x), 1, b->shape);
  return status == TESELA_OK ? many_gather(&l, &m, x, &out->node) : status;
}

tesela_status tesela__hlo_update_many(tesela__hlo_build *b, const tesela__hlo_instruction *in, int32_t x,
                                      int32_t piece, tesela__hlo_value *out) {
  tesela__hlo_linear l;
  lookup_many m;
  const int64_t *size = tesela__graph_at(b->graph, piece)->shape;
  if (many_whole(tesela__graph_at(b->graph, x), size)) {
    out->node = piece;
    return TESELA_OK;
  }
  if (!many_slice(b, in, tesela__graph_at(b->graph, x), 2, size, &m, &l)) return TESELA_OK;
  tesela_status status =
      many_starts(&l, &m, tesela__graph_at(b->graph, x), 2, tesela__graph_at(b->graph, piece)->shape);
  return status == TESELA_OK ? many_scatter(&l, &m, TESELA_FN_NONE, x, piece, &out->node) : status;
}
