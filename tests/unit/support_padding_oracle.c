/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_padding_oracle.c - whole-stick execution by definition: the graph, node by node.
 */
#include "support_padding_parts.h"

static pad_number copied(pad_oracle *o, int32_t number, const int64_t *x) {
  const tesela_node *node = pad_node(o, number);
  int64_t t[RANK];
  bool spill = !pad_inside(node->rank, node->shape, x) && random_below(&o->state, 2);
  for (int32_t k = node->n_operands - 1; k >= 0;
       k--) { /* the last one with an element here or, when spilling, a place */
    int32_t operand = node->operand[k];
    const tesela_node *from = pad_node(o, operand);
    if (node->op == TESELA_OP_SCATTER && (k == 1 || (k == 2 && x[node->dim[0]] >= node->shape[node->dim[0]])))
      continue; /* indices; and no index names a row after the last */
    if (!pad_operand_index(o, number, k, x, 0, t)) continue;
    if (node->op == TESELA_OP_CAT && from->shape[node->dim[0]] == 0) continue;
    if (node->op == TESELA_OP_CAT && t[node->dim[0]] >= 0 && from->shape[node->dim[0]] > 0)
      return pad_read_at(o, operand, t);
    if (!pad_inside(from->rank, from->shape, t) && !(spill && pad_locate(o, operand, t) >= 0)) continue;
    return pad_read_at(o, operand, t);
  }
  if (node->op == TESELA_OP_PAD)
    return pad_converted(o, node->dtype, TESELA_F64, (pad_number){.f = node->value});
  if (node->op == TESELA_OP_WRITE || node->op == TESELA_OP_SCATTER) {
    pad_operand_index(o, number, 0, x, 0, t);
    return pad_read_at(o, node->operand[0], t);
  }
  return pad_garbage(o, node->dtype);
}

static pad_number place_value(pad_oracle *o, int32_t number, const tesela_iteration *iteration,
                              const int64_t *x) {
  const tesela_node *node = pad_node(o, number);
  pad_number v[3];
  tesela_dtype type[3];
  int64_t t[RANK];
  switch (node->op) {
  case TESELA_OP_CONSTANT:
    v[0].f = node->value + (node->n_dims > 0 ? (double)x[node->dim[0]] : 0);
    if (pad_is_float(node->dtype)) return v[0];
    return (pad_number){.i = node->dtype == TESELA_PRED ? v[0].f != 0 : (int64_t)v[0].f};
  case TESELA_OP_POINTWISE:
    for (int32_t k = 0; k < node->n_operands; k++) {
      pad_operand_index(o, number, k, x, 0, t);
      v[k] = pad_read_at(o, node->operand[k], t);
      type[k] = pad_node(o, node->operand[k])->dtype;
    }
    return pad_apply(o, node, node->fn, type, v);
  case TESELA_OP_REDUCE:
  case TESELA_OP_MATMUL:
  case TESELA_OP_CONV2D:
    return pad_fold_place(o, number, iteration, x);
  case TESELA_OP_ALONG:
    return pad_line_place(o, number, iteration, x);
  case TESELA_OP_GATHER: {
    pad_operand_index(o, number, 1, x, 0, t);
    const tesela_node *from = pad_node(o, node->operand[0]);
    int64_t looked = pad_read_at(o, node->operand[1], t).i;
    if (looked < 0 || looked >= from->shape[node->dim[0]]) return pad_garbage(o, node->dtype);
    pad_operand_index(o, number, 0, x, looked, t);
    return pad_read_at(o, node->operand[0], t);
  }
  default:
    return copied(o, number, x);
  }
}

static pad_number fill_value(pad_oracle *o, const tesela_padding_fill *fill, tesela_dtype dtype) {
  bool f = pad_is_float(dtype);
  switch (fill->pad) {
  case TESELA_PAD_ZERO:
    return f ? (pad_number){.f = 0} : (pad_number){.i = 0};
  case TESELA_PAD_MINUS_INF:
    return pad_fold_first(NULL, TESELA_FN_MAX, dtype);
  case TESELA_PAD_PLUS_INF:
    return pad_fold_first(NULL, TESELA_FN_MIN, dtype);
  case TESELA_PAD_VALUE:
    return f ? (pad_number){.f = fill->value} : (pad_number){.i = (int64_t)fill->value};
  default:
    return pad_garbage(o, dtype);
  }
}

/* Padding, gaps included, of a tensor that a transfer wrote. */
static void fill_padding(pad_oracle *o, int32_t number, const tesela_padding_fill *fill) {
  const tesela_node *node = pad_node(o, number);
  for (int64_t p = 0; p < node->layout->places; p++)
    if (!o->memory[number].element[p]) o->memory[number].at[p] = fill_value(o, fill, node->dtype);
}

static void run_input(pad_oracle *o, int32_t number, const tesela_padding_fill *fill, int64_t limit) {
  const tesela_node *node = pad_node(o, number);
  for (int64_t p = 0; p < node->layout->places; p++) {
    if (!o->memory[number].element[p]) continue;
    int64_t small = limit > 0 ? random_below(&o->state, limit) : random_below(&o->state, 19) - 9;
    bool special = random_below(&o->state, 16) == 0;
    if (pad_is_float(node->dtype))
      o->memory[number].at[p] = special ? pad_garbage(o, TESELA_F64) : (pad_number){.f = (double)small / 2};
    else
      o->memory[number].at[p] = (pad_number){.i = node->dtype == TESELA_PRED ? small & 1 : small};
  }
  fill_padding(o, number, fill);
}

/* In place: elements do not matter here; a piece copied in whole sticks may overwrite padding. */
static void run_in_place(pad_oracle *o, int32_t number) {
  const tesela_node *node = pad_node(o, number), *buffer = pad_node(o, node->buffer);
  int32_t k = node->n_operands - 1;
  const tesela_node *piece = pad_node(o, node->operand[k]), *from = pad_node(o, piece->buffer);
  int64_t digit[TESELA_DEVICE_DIMS], y[RANK], place;
  bool lane;
  for (int64_t p = 0; p < buffer->layout->places; p++) {
    pad_number *at = &o->memory[node->buffer].at[p];
    if (o->memory[node->buffer].element[p]) *at = pad_garbage(o, buffer->dtype);
  }
  if (from->layout->places == 0 || !pad_first_digits(buffer->layout, digit, y, &place, &lane)) return;
  do { /* padding of the buffer that some padding or element of the piece may overwrite */
    pad_number *at = &o->memory[node->buffer].at[place];
    if (o->memory[node->buffer].element[place] || !lane || random_below(&o->state, 2)) continue;
    int64_t p = random_below(&o->state, from->layout->places);
    const pad_memory *m = &o->memory[piece->buffer];
    if (m->element[p]) continue;
    *at = m->at[p];
    if (node->op == TESELA_OP_SCATTER && node->fn == TESELA_FN_ADD)
      *at = pad_is_float(buffer->dtype) ? (pad_number){.f = at->f + m->at[p].f} : *at;
  } while (pad_next_digits(buffer->layout, digit, y, &place, &lane));
}

static void run_operator(pad_oracle *o, int32_t number) {
  const tesela_node *node = pad_node(o, number);
  tesela_iteration iteration;
  int64_t digit[TESELA_DEVICE_DIMS], x[RANK], place;
  bool lane;
  assert_int_equal(tesela_graph_iteration(o->graph, number, &iteration, NULL), TESELA_OK);
  if (!pad_first_digits(node->layout, digit, x, &place, &lane)) return;
  do {
    if (lane || node->op == TESELA_OP_CONSTANT)
      o->memory[number].at[place] = place_value(o, number, &iteration, x);
  } while (!o->unsupported && pad_next_digits(node->layout, digit, x, &place, &lane));
  if (node->op == TESELA_OP_CONSTANT && node->n_dims == 0)
    for (int64_t p = 0; p < node->layout->places; p++)
      o->memory[number].at[p] = place_value(o, number, &iteration, x);
  if (node->op == TESELA_OP_CLONE || node->op == TESELA_OP_MOVE) fill_padding(o, number, &o->copied);
}

/* ---- claims --------------------------------------------------------------------------------------------------- */

static void check(pad_oracle *o, int32_t number) {
  const tesela_node *node = pad_node(o, number), *buffer = pad_node(o, node->buffer);
  tesela_padding_state state = tesela_padding_state_of(o->padding, number);
  const pad_memory *m = &o->memory[node->buffer];
  for (int64_t p = 0; p < buffer->layout->places; p++) {
    if (m->element[p]) continue;
    if (state.kind == TESELA_PADDING_NONE) pad_failed(o, number, "has no padding, but at place", p);
    if (state.kind != TESELA_PADDING_VALUE) continue;
    pad_number v =
        pad_is_float(buffer->dtype) ? (pad_number){.f = state.value} : (pad_number){.i = state.whole};
    o->known++;
    if (!pad_same_bits(buffer->dtype, v, m->at[p]) || (pad_is_float(buffer->dtype) && isnan(v.f)))
      pad_failed(o, number, "does not hold what is said at place", p);
  }
}

/* The limit of an input's values: those of indices are less than the extent. 0: no limit. */
static int64_t limit_of(const pad_oracle *o, int32_t input) {
  int64_t limit = 0;
  for (int32_t k = 0; k < tesela_graph_count(o->graph); k++) {
    const tesela_node *node = pad_node(o, k);
    if (node->op != TESELA_OP_GATHER && node->op != TESELA_OP_SCATTER) continue;
    if (pad_node(o, node->operand[1])->buffer == input)
      limit = pad_node(o, node->operand[0])->shape[node->dim[0]];
  }
  return limit;
}

void pad_oracle_run(pad_oracle *o) {
  int32_t n = tesela_graph_count(o->graph), input = 0;
  o->memory = calloc((size_t)n + 1, sizeof *o->memory);
  assert_non_null(o->memory);
  for (int32_t k = 0; k < n && !o->unsupported && o->failure[0] == '\0'; k++) {
    const tesela_node *node = pad_node(o, k);
    if (node->buffer == k) pad_make_memory(o, k);
    if (node->op == TESELA_OP_INPUT)
      run_input(o, k, &o->fill[input++], limit_of(o, k));
    else if (node->in_place)
      run_in_place(o, k);
    else if (!node->view)
      run_operator(o, k);
    if (!o->unsupported) check(o, k);
  }
  for (int32_t k = 0; k < n; k++) {
    free(o->memory[k].at);
    free(o->memory[k].element);
  }
  free(o->memory);
}
