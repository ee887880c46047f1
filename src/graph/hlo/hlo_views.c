/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_views.c - opcodes that are views, and opcodes that combine pieces: broadcast, transpose, reshape, slice, reverse,
 * concatenate, pad, dynamic-slice and dynamic-update-slice at known positions (else: hlo_lookup_many.c).
 */
#include "graph/hlo/hlo.h"

tesela_status tesela__hlo_broadcast(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                    tesela__hlo_value *out) {
  int32_t x, dims[TESELA_GRAPH_RANK];
  tesela_status status = tesela__hlo_operand(b, in, 0, &x);
  if (status != TESELA_OK) return status;
  int32_t n = tesela__hlo_list(b->module, in, "dimensions", TESELA_GRAPH_RANK, dims);
  if (n != tesela__graph_at(b->graph, x)->rank) return TESELA_OK;
  tesela_node_spec spec = {.op = TESELA_OP_EXPAND,
                           .n_operands = 1,
                           .operand = &x,
                           .rank = b->rank,
                           .shape = b->shape,
                           .n_dims = n,
                           .dims = dims};
  return tesela__hlo_add(b, in, NULL, &spec, &out->node);
}

tesela_status tesela__hlo_transpose(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                    tesela__hlo_value *out) {
  int32_t x, dims[TESELA_GRAPH_RANK];
  tesela_status status = tesela__hlo_operand(b, in, 0, &x);
  if (status != TESELA_OK) return status;
  if (tesela__hlo_list(b->module, in, "dimensions", TESELA_GRAPH_RANK, dims) !=
      tesela__graph_at(b->graph, x)->rank)
    return TESELA_OK;
  return tesela__hlo_permute(b, in, NULL, x, dims, &out->node);
}

tesela_status tesela__hlo_reshaped(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                   tesela__hlo_value *out) {
  int32_t x;
  tesela_status status = tesela__hlo_operand(b, in, 0, &x);
  return status == TESELA_OK ? tesela__hlo_reshape(b, in, NULL, x, b->rank, b->shape, &out->node) : status;
}

/* ---- slices ---- */

/* `[start:limit]` or `[start:limit:step]`. */
static bool views_range(const char *text, tesela__hlo_span range, int64_t *start, int64_t *length,
                        int64_t *step) {
  int64_t limit, reach;
  range = tesela__hlo_trim(text, range);
  if (range.n < 2 || text[range.at] != '[' || text[range.at + range.n - 1] != ']') return false;
  range = (tesela__hlo_span){range.at + 1, range.n - 2};
  *step = 1;
  if (!tesela__hlo_integer(text, tesela__hlo_cut(text, &range, ':'), start)) return false;
  if (!tesela__hlo_integer(text, tesela__hlo_cut(text, &range, ':'), &limit)) return false;
  if (range.n > 0 && !tesela__hlo_integer(text, range, step)) return false;
  if (*step < 1 || !tesela__sub(limit, *start, &reach) || reach < 0) return false;
  *length = tesela__ceil_div(reach, *step);
  return true;
}

tesela_status tesela__hlo_sliced(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                 tesela__hlo_value *out) {
  int64_t start[TESELA_GRAPH_RANK], length[TESELA_GRAPH_RANK], step[TESELA_GRAPH_RANK];
  int32_t x;
  tesela_status status = tesela__hlo_operand(b, in, 0, &x);
  if (status != TESELA_OK) return status;
  int32_t rank = tesela__graph_at(b->graph, x)->rank;
  tesela__hlo_span rest = tesela__hlo_attribute(b->module, in, "slice");
  for (int32_t d = 0; d < rank; d++)
    if (!views_range(b->module->text, tesela__hlo_cut(b->module->text, &rest, ','), &start[d], &length[d],
                     &step[d]))
      return TESELA_OK;
  tesela_node_spec spec = {
      .op = TESELA_OP_SLICE, .n_operands = 1, .operand = &x, .start = start, .length = length, .step = step};
  return tesela__hlo_add(b, in, NULL, &spec, &out->node);
}

tesela_status tesela__hlo_reverse_dims(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                       const char *suffix, int32_t n, const int32_t *dims, int32_t x,
                                       int32_t *node) {
  int64_t start[TESELA_GRAPH_RANK], length[TESELA_GRAPH_RANK], step[TESELA_GRAPH_RANK];
  for (int32_t i = 0; i < n; i++) {
    length[i] = tesela__graph_at(b->graph, x)->shape[dims[i]];
    start[i] = tesela__max(length[i] - 1, 0);
    step[i] = -1;
  }
  tesela_node_spec spec = {.op = TESELA_OP_SLICE,
                           .n_operands = 1,
                           .operand = &x,
                           .n_dims = n,
                           .dims = dims,
                           .start = start,
                           .length = length,
                           .step = step};
  return tesela__hlo_add(b, in, suffix, &spec, node);
}

tesela_status tesela__hlo_reverse(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                  tesela__hlo_value *out) {
  int32_t x, dims[TESELA_GRAPH_RANK];
  tesela_status status = tesela__hlo_operand(b, in, 0, &x);
  if (status != TESELA_OK) return status;
  int32_t n = tesela__hlo_list(b->module, in, "dimensions", TESELA_GRAPH_RANK, dims);
  for (int32_t i = 0; i < n; i++)
    if (dims[i] >= tesela__graph_at(b->graph, x)->rank) return TESELA_OK;
  if (n < 0) return TESELA_OK;
  if (n == 0) return tesela__hlo_same_value(b, in, out);
  return tesela__hlo_reverse_dims(b, in, NULL, n, dims, x, &out->node);
}

/* Known starts, clamped as in XLA so that the piece fits. */
static bool views_starts(tesela__hlo_build *b, const tesela__hlo_instruction *in, int32_t first, int32_t rank,
                         const int64_t *whole, const int64_t *piece, int64_t *start) {
  if (in->n_operands != first + rank) return false;
  for (int32_t d = 0; d < rank; d++) {
    double value;
    if (!tesela__hlo_scalar(b, in, first + d, &value) || value != value) return false;
    int64_t most = tesela__max(whole[d] - piece[d], 0);
    start[d] = value <= 0 ? 0 : value >= (double)most ? most : (int64_t)value;
  }
  return true;
}

tesela_status tesela__hlo_dynamic_slice(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                        tesela__hlo_value *out) {
  int64_t start[TESELA_GRAPH_RANK];
  int32_t x;
  tesela_status status = tesela__hlo_operand(b, in, 0, &x);
  if (status != TESELA_OK) return status;
  const tesela_node *from = tesela__graph_at(b->graph, x);
  if (b->rank != from->rank) return TESELA_OK;
  if (!views_starts(b, in, 1, from->rank, from->shape, b->shape, start))
    return tesela__hlo_slice_many(b, in, x, out);
  tesela_node_spec spec = {
      .op = TESELA_OP_SLICE, .n_operands = 1, .operand = &x, .start = start, .length = b->shape};
  return tesela__hlo_add(b, in, NULL, &spec, &out->node);
}

tesela_status tesela__hlo_dynamic_update(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                         tesela__hlo_value *out) {
  int64_t start[TESELA_GRAPH_RANK];
  int32_t operand[2];
  tesela_status status = tesela__hlo_operand(b, in, 0, &operand[0]);
  if (status == TESELA_OK) status = tesela__hlo_operand(b, in, 1, &operand[1]);
  if (status != TESELA_OK) return status;
  const tesela_node *x = tesela__graph_at(b->graph, operand[0]),
                    *piece = tesela__graph_at(b->graph, operand[1]);
  if (x->rank != piece->rank) return TESELA_OK;
  if (!views_starts(b, in, 2, x->rank, x->shape, piece->shape, start))
    return tesela__hlo_update_many(b, in, operand[0], operand[1], out);
  tesela_node_spec spec = {.op = TESELA_OP_WRITE, .n_operands = 2, .operand = operand, .start = start};
  return tesela__hlo_add(b, in, NULL, &spec, &out->node);
}

/* ---- pieces ---- */

tesela_status tesela__hlo_concatenate(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                      tesela__hlo_value *out) {
  int32_t dim;
  if (in->n_operands == 0 || tesela__hlo_list(b->module, in, "dimensions", 1, &dim) != 1) return TESELA_OK;
  int32_t *operand =
      tesela__alloc(&b->allocator, (uint64_t)in->n_operands * sizeof *operand, alignof(int32_t));
  if (!operand) return tesela__fail(b->err, TESELA_E_MEMORY, -1, "no memory for operands");
  tesela_status status = TESELA_OK;
  for (int32_t k = 0; k < in->n_operands && status == TESELA_OK; k++)
    status = tesela__hlo_operand(b, in, k, &operand[k]);
  tesela_node_spec spec = {
      .op = TESELA_OP_CAT, .n_operands = in->n_operands, .operand = operand, .n_dims = 1, .dims = &dim};
  if (status == TESELA_OK) status = tesela__hlo_add(b, in, NULL, &spec, &out->node);
  tesela__release(&b->allocator, operand);
  return status;
}

/* An unknown value: expand it, and write x into it. */
static tesela_status views_pad_unknown(tesela__hlo_build *b, const tesela__hlo_instruction *in, int32_t x,
                                       const int64_t *low, const int64_t *step, tesela__hlo_value *out) {
  int32_t value, operand[2] = {0, x};
  tesela_status status = tesela__hlo_operand(b, in, 1, &value);
  if (status != TESELA_OK || tesela__graph_at(b->graph, value)->rank > 0 || b->rank == 0) return status;
  tesela_node_spec expand = {
      .op = TESELA_OP_EXPAND, .n_operands = 1, .operand = &value, .rank = b->rank, .shape = b->shape};
  tesela_node_spec write = {
      .op = TESELA_OP_WRITE, .n_operands = 2, .operand = operand, .start = low, .step = step};
  status = tesela__hlo_add(b, in, "value", &expand, &operand[0]);
  return status == TESELA_OK ? tesela__hlo_add(b, in, NULL, &write, &out->node) : status;
}

tesela_status tesela__hlo_pad(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                              tesela__hlo_value *out) {
  int64_t low[TESELA_GRAPH_RANK], high[TESELA_GRAPH_RANK], step[TESELA_GRAPH_RANK];
  const char *text = b->module->text;
  int32_t x;
  double value;
  tesela_status status = tesela__hlo_operand(b, in, 0, &x);
  if (status != TESELA_OK) return status;
  bool known = tesela__hlo_scalar(b, in, 1, &value), cuts = false;
  tesela__hlo_span rest = tesela__hlo_attribute(b->module, in, "padding");
  for (int32_t d = 0; d < tesela__graph_at(b->graph, x)->rank; d++) { /* low_high or low_high_between */
    tesela__hlo_span dim = tesela__hlo_cut(text, &rest, 'x');
    step[d] = 0;
    if (!tesela__hlo_integer(text, tesela__hlo_cut(text, &dim, '_'), &low[d]) ||
        !tesela__hlo_integer(text, tesela__hlo_cut(text, &dim, '_'), &high[d]) ||
        (dim.n > 0 && !tesela__hlo_integer(text, dim, &step[d])) || !tesela__add(step[d], 1, &step[d]))
      return TESELA_OK;
    cuts = cuts || low[d] < 0 || high[d] < 0;
  }
  if (!known) return cuts || in->n_operands != 2 ? TESELA_OK : views_pad_unknown(b, in, x, low, step, out);
  tesela_node_spec spec = {.op = TESELA_OP_PAD,
                           .n_operands = 1,
                           .operand = &x,
                           .low = low,
                           .high = high,
                           .step = step,
                           .value = value};
  return tesela__hlo_add(b, in, NULL, &spec, &out->node);
}
