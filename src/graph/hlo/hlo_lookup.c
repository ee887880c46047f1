/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_lookup.c - gather and scatter that look up whole rows of one dim by one number each.
 *
 *   gather(x[100,8], i[5,1])  offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1,
 *                             slice_sizes={1,8}                                       x[i] as f32[5,8]
 *
 * The dims of the result (of the values, for scatter) may be in any order, and the dim that is looked up may remain as a dim of
 * 1: a permutation and an unsqueeze (squeeze) express that. All others: hlo_lookup_many.c.
 */
#include "graph/hlo/hlo.h"

/* A gather or scatter of this kind: dim d of x is looked up; `window`: the positions of x's dims in the result (values). */
typedef struct lookup {
  int32_t dim, x_rank, n_window, n_index; /* n_index: dims of the indices without the vector dim */
  int32_t window[TESELA_GRAPH_RANK];
  bool kept; /* dim d remains, as a dim of 1 */
} lookup;

static bool lookup_ascending(int32_t n, const int32_t *list, int32_t below) {
  for (int32_t i = 0; i < n; i++)
    if (list[i] >= below || (i > 0 && list[i] <= list[i - 1])) return false;
  return true;
}

/* keys: positions of the window's dims, dims of x outside of it, the map of an index to a dim, batches of x. */
static bool lookup_read(const tesela__hlo_module *m, const tesela__hlo_instruction *in,
                        const char *const keys[4], int32_t rank, lookup *l) {
  int32_t gone[TESELA_GRAPH_RANK], map, batch[TESELA_GRAPH_RANK];
  int32_t n_gone = tesela__hlo_list_or_none(m, in, keys[1], TESELA_GRAPH_RANK, gone);
  l->n_window = tesela__hlo_list(m, in, keys[0], TESELA_GRAPH_RANK, l->window);
  if (tesela__hlo_list(m, in, keys[2], 1, &map) != 1 || map >= l->x_rank || l->n_window < 0) return false;
  if (n_gone < 0 || tesela__hlo_list_or_none(m, in, keys[3], TESELA_GRAPH_RANK, batch) != 0) return false;
  l->dim = map;
  l->kept = n_gone == 0;
  if (!l->kept && (n_gone != 1 || gone[0] != map)) return false;
  return l->n_window == l->x_rank - n_gone && l->n_window + l->n_index == rank &&
         lookup_ascending(l->n_window, l->window, rank);
}

/* The indices without their vector dim, which must be of 1; else *node is -1. */
static tesela_status lookup_indices(tesela__hlo_build *b, const tesela__hlo_instruction *in, lookup *l,
                                    int32_t *node) {
  int64_t vector;
  tesela_status status = tesela__hlo_operand(b, in, 1, node);
  if (status != TESELA_OK) return status;
  const tesela_node *i = tesela__graph_at(b->graph, *node);
  if (!tesela__hlo_integer(b->module->text, tesela__hlo_attribute(b->module, in, "index_vector_dim"),
                           &vector) ||
      vector < 0 || vector > i->rank || (vector < i->rank && i->shape[vector] != 1)) {
    *node = -1;
    return TESELA_OK;
  }
  l->n_index = i->rank - (vector < i->rank);
  return TESELA_OK;
}

static tesela_status lookup_squeeze(tesela__hlo_build *b, const tesela__hlo_instruction *in, const lookup *l,
                                    int32_t *node) {
  int64_t vector = 0;
  if (tesela__graph_at(b->graph, *node)->rank == l->n_index) return TESELA_OK;
  tesela__hlo_integer(b->module->text, tesela__hlo_attribute(b->module, in, "index_vector_dim"), &vector);
  int32_t dim = (int32_t)vector;
  tesela_node_spec spec = {
      .op = TESELA_OP_SQUEEZE, .n_operands = 1, .operand = node, .n_dims = 1, .dims = &dim};
  return tesela__hlo_add(b, in, "indices", &spec, node);
}

/* The position of each dim of x[:d] + indices + x[d+1:], and of a kept d after the indices, in the result or the values. */
static bool lookup_order(const lookup *l, int32_t rank, int32_t *order) {
  int32_t free_places[TESELA_GRAPH_RANK], n = 0, w = 0, o = 0;
  for (int32_t p = 0; p < rank; p++) {
    if (w < l->n_window && l->window[w] == p)
      w++;
    else
      free_places[n++] = p;
  }
  if (n != l->n_index) return false;
  w = 0;
  for (int32_t d = 0; d < l->x_rank; d++) {
    if (d == l->dim)
      for (int32_t i = 0; i < n; i++) order[o++] = free_places[i];
    if (d != l->dim || l->kept) order[o++] = l->window[w++];
  }
  return true;
}

/* ---- gather ---- */

tesela_status tesela__hlo_gather(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                 tesela__hlo_value *out) {
  static const char *const keys[4] = {"offset_dims", "collapsed_slice_dims", "start_index_map",
                                      "operand_batching_dims"};
  int32_t operand[2], whole[2], sizes[TESELA_GRAPH_RANK], order[TESELA_GRAPH_RANK], dims[TESELA_GRAPH_RANK];
  int32_t node = -1;
  lookup l = {0};
  if (in->n_operands != 2) return TESELA_OK;
  tesela_status status = tesela__hlo_operand(b, in, 0, &operand[0]);
  if (status == TESELA_OK) status = lookup_indices(b, in, &l, &operand[1]);
  if (status == TESELA_OK) status = tesela__hlo_operand(b, in, 1, &whole[1]);
  if (status != TESELA_OK) return status;
  whole[0] = operand[0];
  const tesela_node *x = tesela__graph_at(b->graph, operand[0]);
  l.x_rank = x->rank;
  if (operand[1] < 0 || !lookup_read(b->module, in, keys, b->rank, &l) || !lookup_order(&l, b->rank, order) ||
      tesela__hlo_list(b->module, in, "slice_sizes", TESELA_GRAPH_RANK, sizes) != x->rank)
    return tesela__hlo_gather_many(b, in, whole, out);
  for (int32_t d = 0; d < x->rank; d++)
    if (sizes[d] != (d == l.dim ? 1 : x->shape[d])) return tesela__hlo_gather_many(b, in, whole, out);
  bool turn = !tesela__hlo_is_identity(b->rank, order);
  status = lookup_squeeze(b, in, &l, &operand[1]);
  tesela_node_spec spec = {
      .op = TESELA_OP_GATHER, .n_operands = 2, .operand = operand, .n_dims = 1, .dims = &l.dim};
  if (status == TESELA_OK) status = tesela__hlo_add(b, in, l.kept || turn ? "rows" : NULL, &spec, &node);
  if (status == TESELA_OK && l.kept) {
    int32_t at = l.dim + l.n_index, from = node;
    tesela_node_spec more = {
        .op = TESELA_OP_UNSQUEEZE, .n_operands = 1, .operand = &from, .n_dims = 1, .dims = &at};
    status = tesela__hlo_add(b, in, turn ? "kept" : NULL, &more, &node);
  }
  if (status == TESELA_OK && turn) {
    for (int32_t i = 0; i < b->rank; i++) dims[order[i]] = i;
    status = tesela__hlo_permute(b, in, NULL, node, dims, &node);
  }
  out->node = node;
  return status;
}

/* ---- scatter ---- */

tesela_status tesela__hlo_scatter(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                  tesela__hlo_value *out) {
  static const char *const keys[4] = {"update_window_dims", "inserted_window_dims",
                                      "scatter_dims_to_operand_dims", "input_batching_dims"};
  int32_t operand[3], whole[3], order[TESELA_GRAPH_RANK];
  lookup l = {0};
  bool second;
  tesela_fn fn = tesela__hlo_region(b, in, &second);
  if (in->tuple || in->n_operands != 3 || (fn != TESELA_FN_ADD && !second)) return TESELA_OK;
  tesela_status status = tesela__hlo_operand(b, in, 0, &operand[0]);
  if (status == TESELA_OK) status = tesela__hlo_operand(b, in, 2, &operand[2]);
  if (status == TESELA_OK) status = lookup_indices(b, in, &l, &operand[1]);
  if (status == TESELA_OK) status = tesela__hlo_operand(b, in, 1, &whole[1]);
  if (status != TESELA_OK) return status;
  whole[0] = operand[0], whole[2] = operand[2];
  const tesela_node *x = tesela__graph_at(b->graph, operand[0]),
                    *values = tesela__graph_at(b->graph, operand[2]);
  tesela_fn set = second ? TESELA_FN_NONE : TESELA_FN_ADD;
  l.x_rank = x->rank;
  if (operand[1] < 0 || !lookup_read(b->module, in, keys, values->rank, &l) ||
      !lookup_order(&l, values->rank, order))
    return tesela__hlo_scatter_many(b, in, set, whole, out);
  for (int32_t d = 0, w = 0; d < x->rank; d++) { /* whole rows only */
    if (d == l.dim && !l.kept) continue;
    if (values->shape[l.window[w++]] != (d == l.dim ? 1 : x->shape[d]))
      return tesela__hlo_scatter_many(b, in, set, whole, out);
  }
  status = lookup_squeeze(b, in, &l, &operand[1]);
  if (status == TESELA_OK && !tesela__hlo_is_identity(values->rank, order))
    status = tesela__hlo_permute(b, in, "values", operand[2], order, &operand[2]);
  if (status == TESELA_OK && l.kept) {
    int32_t at = l.dim + l.n_index;
    tesela_node_spec more = {
        .op = TESELA_OP_SQUEEZE, .n_operands = 1, .operand = &operand[2], .n_dims = 1, .dims = &at};
    status = tesela__hlo_add(b, in, "rows", &more, &operand[2]);
  }
  tesela_node_spec spec = {
      .op = TESELA_OP_SCATTER, .fn = set, .n_operands = 3, .operand = operand, .n_dims = 1, .dims = &l.dim};
  return status == TESELA_OK ? tesela__hlo_add(b, in, NULL, &spec, &out->node) : status;
}
