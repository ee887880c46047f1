/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_linear.c - lookups in several dims by computed indices.
 *
 * A gather or scatter looks up one dim by numbers. Dims d0, d1, .. that are looked up together become one, a view if they are
 * neighbours, and their indices one number:
 *
 *   x[10,20,64] at (i,j), windows of 2 along the second     x as [200,64] at  i*20 + j + window,  window = 0, 1
 *
 *   clamped      XLA moves starts so that the window fits: clamp(0, i, extent - window)
 *   batches      a dim that corresponds to one of the indices: its index 0, 1, 2, ..
 *   scatters     XLA leaves out windows that do not fit: their index is -1, which is dropped
 */
#include <stdio.h>

#include "graph/hlo/hlo.h"

/* ---- the number of an element --------------------------------------------------------------------------------- */

static tesela_status linear_constant(tesela__hlo_linear *l, double value, int32_t rank, const int64_t *shape,
                                     const int32_t *count, int32_t *node) {
  tesela_node_spec spec = {.op = TESELA_OP_CONSTANT,
                           .dtype = l->dtype,
                           .rank = rank,
                           .shape = shape,
                           .n_dims = count != NULL,
                           .dims = count,
                           .value = value};
  return tesela__hlo_add(l->b, l->in, count ? "count" : "number", &spec, node);
}

static tesela_status linear_apply(tesela__hlo_linear *l, tesela_fn fn, int32_t n, const int32_t *operand,
                                  int32_t *node) {
  bool compares = fn == TESELA_FN_EQ;
  tesela_node_spec spec = {.op = TESELA_OP_POINTWISE,
                           .fn = fn,
                           .dtype = compares ? TESELA_PRED : l->dtype,
                           .n_operands = n,
                           .operand = operand};
  if (fn == TESELA_FN_AND) spec.dtype = TESELA_PRED;
  return tesela__hlo_add(l->b, l->in, tesela_fn_name(fn), &spec, node);
}

/* Add `node` times `by` to the number. */
static tesela_status linear_sum(tesela__hlo_linear *l, int32_t node, int64_t by) {
  int32_t pair[2] = {node, 0};
  tesela_status status = TESELA_OK;
  if (by != 1) {
    status = linear_constant(l, (double)by, 0, NULL, NULL, &pair[1]);
    if (status == TESELA_OK) status = linear_apply(l, TESELA_FN_MUL, 2, pair, &pair[0]);
  }
  if (status != TESELA_OK || l->number < 0) {
    l->number = pair[0];
    return status;
  }
  pair[1] = pair[0];
  pair[0] = l->number;
  return linear_apply(l, TESELA_FN_ADD, 2, pair, &l->number);
}

bool tesela__hlo_linear_begin(tesela__hlo_linear *l, int32_t n, const int64_t *extent, tesela_dtype dtype) {
  int64_t all = 1;
  for (int32_t i = n - 1; i >= 0; i--) {
    l->stride[i] = all;
    if (extent[i] < 1 || !tesela__mul(all, extent[i], &all)) return false;
  }
  tesela_dtype_family family = tesela_dtype_family_of(dtype);
  if (family != TESELA_FAMILY_SIGNED && family != TESELA_FAMILY_UNSIGNED) return false;
  bool narrow =
      tesela_dtype_bits(dtype) < 32 || (tesela_dtype_bits(dtype) == 32 && family == TESELA_FAMILY_SIGNED);
  l->dtype = narrow && all <= INT32_MAX ? TESELA_S32 : TESELA_S64;
  l->number = l->fits = -1;
  return all < (int64_t)1 << 53;
}

tesela_status tesela__hlo_linear_index(tesela__hlo_linear *l, int32_t node, int64_t most, int64_t stride,
                                       bool check) {
  int32_t clamp[3] = {0, node, 0}, equal[2], both[2];
  tesela_status status = TESELA_OK;
  if (tesela__graph_at(l->b->graph, node)->dtype != l->dtype)
    status = linear_apply(l, TESELA_FN_COPY, 1, &node, &clamp[1]);
  if (status == TESELA_OK) status = linear_constant(l, 0, 0, NULL, NULL, &clamp[0]);
  if (status == TESELA_OK) status = linear_constant(l, (double)most, 0, NULL, NULL, &clamp[2]);
  equal[0] = clamp[1];
  if (status == TESELA_OK) status = linear_apply(l, TESELA_FN_CLAMP, 3, clamp, &equal[1]);
  if (status == TESELA_OK && check) {
    status = linear_apply(l, TESELA_FN_EQ, 2, equal, &both[1]);
    both[0] = l->fits;
    if (status == TESELA_OK && l->fits >= 0) status = linear_apply(l, TESELA_FN_AND, 2, both, &l->fits);
    if (l->fits < 0) l->fits = both[1];
  }
  return status == TESELA_OK ? linear_sum(l, equal[1], stride) : status;
}

tesela_status tesela__hlo_linear_count(tesela__hlo_linear *l, int32_t rank, const int64_t *shape, int32_t dim,
                                       int64_t stride) {
  int32_t node;
  tesela_status status = linear_constant(l, 0, rank, shape, &dim, &node);
  return status == TESELA_OK ? linear_sum(l, node, stride) : status;
}

/* A tensor with more dims at the end. */
static tesela_status linear_widen(tesela__hlo_linear *l, int32_t rank, const int64_t *shape, int32_t *node) {
  int32_t dims[TESELA_GRAPH_RANK], from = *node, n = tesela__graph_at(l->b->graph, *node)->rank;
  if (n == rank) return TESELA_OK;
  for (int32_t d = 0; d < n; d++) dims[d] = d;
  tesela_node_spec spec = {.op = TESELA_OP_EXPAND,
                           .n_operands = 1,
                           .operand = &from,
                           .rank = rank,
                           .shape = shape,
                           .n_dims = n,
                           .dims = dims};
  if (n == 0) { /* no dims to align */
    spec.n_dims = 0;
    spec.dims = NULL;
  }
  return tesela__hlo_add(l->b, l->in, "each", &spec, node);
}

tesela_status tesela__hlo_linear_end(tesela__hlo_linear *l, int32_t rank, const int64_t *shape, int32_t first,
                                     const int64_t *stride) {
  tesela_status status = linear_widen(l, rank, shape, &l->number);
  for (int32_t d = first; d < rank && status == TESELA_OK; d++)
    if (shape[d] > 1) status = tesela__hlo_linear_count(l, rank, shape, d, stride[d - first]);
  if (status != TESELA_OK || l->fits < 0) return status;
  int32_t choice[3] = {l->fits, l->number, 0};
  status = linear_widen(l, rank, shape, &choice[0]);
  if (status == TESELA_OK) status = linear_constant(l, -1, 0, NULL, NULL, &choice[2]);
  return status == TESELA_OK ? linear_apply(l, TESELA_FN_SELECT, 3, choice, &l->number) : status;
}

/* ---- dims as one ------------------------------------------------------------------------------------------------ */

tesela_status tesela__hlo_merge(tesela__hlo_build *b, const tesela__hlo_instruction *in, int32_t n,
                                const int32_t *dims, tesela__hlo_merged *m, int32_t *x) {
  const tesela_node *of = tesela__graph_at(b->graph, *x);
  int64_t shape[TESELA_GRAPH_RANK], all = 1;
  bool taken[TESELA_GRAPH_RANK] = {false};
  int32_t rank = 0;
  *m = (tesela__hlo_merged){.rank = of->rank, .dim = dims[0], .n = n};
  memcpy(m->shape, of->shape, sizeof m->shape);
  for (int32_t i = 0; i < n; i++) {
    taken[dims[i]] = true;
    all *= of->shape[dims[i]]; /* tesela__hlo_linear_begin checked it */
  }
  for (int32_t d = 0, o = 0; d < of->rank; d++) {
    if (d == dims[0])
      for (int32_t i = 0; i < n; i++) m->order[o++] = dims[i];
    if (!taken[d]) m->order[o++] = d;
    if (d == dims[0]) shape[rank++] = all;
    if (!taken[d]) shape[rank++] = of->shape[d];
  }
  if (n == 1) return TESELA_OK;
  tesela_status status = TESELA_OK;
  if (!tesela__hlo_is_identity(of->rank, m->order))
    status = tesela__hlo_permute(b, in, "order", *x, m->order, x);
  return status == TESELA_OK ? tesela__hlo_reshape(b, in, "merged", *x, rank, shape, x) : status;
}

tesela_status tesela__hlo_unmerge(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                  const tesela__hlo_merged *m, int32_t *x) {
  int64_t shape[TESELA_GRAPH_RANK];
  int32_t back[TESELA_GRAPH_RANK];
  bool turn = !tesela__hlo_is_identity(m->rank, m->order);
  if (m->n == 1) return TESELA_OK;
  for (int32_t i = 0; i < m->rank; i++) {
    shape[i] = m->shape[m->order[i]];
    back[m->order[i]] = i;
  }
  tesela_status status = tesela__hlo_reshape(b, in, turn ? "split" : NULL, *x, m->rank, shape, x);
  return status == TESELA_OK && turn ? tesela__hlo_permute(b, in, NULL, *x, back, x) : status;
}
