/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_element.c - operators that make each element from one element of every operand: pointwise, constant, gather and copies;
 * and the updates of a scatter.
 */
#include "graph/run/run_operator.h"

/* The places of the result and of the operands from k on, for the row. */
static int64_t element_places(tesela__run_state *s) {
  int64_t n = tesela__run_count(s, s->row);
  tesela__run_find(s->result, s->iteration, tesela__run_line_of(s, s->row), 0, n, s->to_list, &s->to);
  return n;
}

/* ---- pointwise ---- */

/* Is each element of operand k at the place of the same element of the result's row, or outside the row? */
static bool element_apart(const tesela__run_state *s, int32_t k, int64_t n) {
  if (!tesela__run_meets(s, k)) return true;
  const tesela__run_buffer *to = s->result->buffer, *from = s->operand[k].buffer;
  if (to->width != from->width || s->result->n_copies > 0) return false;
  for (int64_t j = 0; j < n; j++)
    if (to->bytes + tesela__run_place(&s->to, j) * to->width !=
        from->bytes + tesela__run_place(&s->from[k], j) * from->width)
      return false;
  return true;
}

/* Bits of one type as those of another of the same width; the values of a device type may differ from the former's. */
static void element_bits(tesela_dtype from, tesela_dtype to, int64_t n, tesela__run_value *v) {
  uint64_t all = UINT64_MAX >> (64 - 8 * tesela__run_bytes(from));
  tesela__run_round_row(from, tesela__run_class_of(from), n, v);
  tesela__run_encode(from, n, v);
  for (int64_t j = 0; j < n; j++) v[j].i = (int64_t)((uint64_t)v[j].i & all);
  tesela__run_decode(to, n, v);
}

static tesela_status element_apply(tesela__run_state *s, int64_t at, int64_t n, tesela_error *err) {
  tesela_fn fn = s->node->fn;
  int32_t n_operands = s->node->n_operands;
  tesela__run_row operand[3], out = {s->value[n_operands], 1};
  for (int32_t k = 0; k < n_operands; k++) {
    tesela__run_class own = s->operand[k].buffer->class;
    bool asked = k == 0 && fn == TESELA_FN_SELECT;
    tesela__run_read_row(s->run, &s->operand[k], n, tesela__run_behind(s->from[k], at), asked ? own : s->in,
                         s->value[k]);
    if (asked) tesela__run_round_row(TESELA_PRED, own, n, s->value[k]);
    operand[k] = (tesela__run_row){s->value[k], 1};
  }
  tesela__run_class class = tesela__run_class_out(fn, s->in);
  tesela__run_apply_row(fn, s->in, s->dtype[0], n, out, operand);
  if (fn == TESELA_FN_BITCAST) {
    class = s->result->buffer->class;
    element_bits(s->dtype[0], s->result->buffer->host, n, out.value);
  }
  return tesela__run_write_row(s->run, s->result, n, tesela__run_behind(s->to, at), class, out.value, err);
}

tesela_status tesela__run_pointwise_block(tesela__run_state *s, tesela_error *err) {
  int64_t n = element_places(s), at_once = n;
  for (int32_t k = 0; k < s->node->n_operands; k++) {
    tesela__run_find(&s->operand[k], s->iteration, tesela__run_line_of(s, s->row), 0, n, s->from_list[k],
                     &s->from[k]);
    if (!element_apart(s, k, n)) at_once = 1;
  }
  tesela_status status = TESELA_OK;
  for (int64_t at = 0; at < n && status == TESELA_OK; at += at_once)
    status = element_apply(s, at, at_once, err);
  return status;
}

/* ---- constant ---- */

tesela_status tesela__run_constant_block(tesela__run_state *s, tesela_error *err) {
  int64_t n = element_places(s);
  tesela__run_line line = tesela__run_line_of(s, s->row);
  int64_t index = 0, step = 0; /* added once, at any start of the row */
  if (s->node->n_dims > 0) {
    index = s->iteration[s->node->dim[0]];
    if (line.dim == s->node->dim[0]) step = line.step;
  }
  for (int64_t j = 0; j < n; j++) s->value[0][j].f = s->node->value + (double)(index + step * j);
  return tesela__run_write_row(s->run, s->result, n, s->to, TESELA__RUN_FLOAT, s->value[0], err);
}

/* ---- gather, scatter ---- */

/* An index that is looked up must be inside the dim. */
static tesela_status element_looked_up(const tesela__run_state *s, int64_t at, tesela_error *err) {
  int64_t extent = s->operand[0].at.shape[s->node->dim[0]];
  if (at >= 0 && at < extent) return TESELA_OK;
  return tesela__fail(err, TESELA_E_INVALID, -1,
                      "%.80s looks up index %" PRId64 "; expected dim %" PRId32
                      " of operand 0 in 0 to %" PRId64,
                      s->node->name, at, s->node->dim[0], extent - 1);
}

tesela_status tesela__run_gather_block(tesela__run_state *s, tesela_error *err) {
  int64_t n = element_places(s), of = 0, own[TESELA_GRAPH_ITERATION];
  tesela__run_line line = tesela__run_line_of(s, s->row);
  tesela__run_value *index = s->value[1];
  tesela__run_find(&s->operand[1], s->iteration, line, 0, n, s->from_list[1], &s->from[1]);
  tesela__run_read_row(s->run, &s->operand[1], n, s->from[1], TESELA__RUN_SIGNED, index);
  memcpy(own, s->iteration, sizeof own);
  for (int64_t at = 0; at < n; at += of) { /* a run with one index */
    for (of = 1; at + of < n && index[at + of].i == index[at].i;) of++;
    tesela_status status = element_looked_up(s, index[at].i, err);
    if (status != TESELA_OK) return status;
    tesela__run_find(&s->operand[0], own, line, index[at].i, of, s->from_list[0] + at, &s->from[0]);
    for (int64_t j = 0; j < of; j++) s->from_list[0][at + j] = tesela__run_place(&s->from[0], j);
    if (line.dim >= 0) own[line.dim] += of * line.step;
  }
  tesela__run_places from = {.list = s->from_list[0]};
  return tesela__run_pass_row(s->run, s->result, s->to, &s->operand[0], from, n, s->value[0], err);
}

/* Advance to the next element of the values; false after the last. */
static bool element_next_update(tesela__run_state *s) {
  const tesela__op_tensor *values = &s->operand[2].at;
  for (int32_t d = values->rank - 1; d >= 0; d--) {
    int64_t *i = &s->iteration[values->index[d].dim[0]];
    if (++*i < values->shape[d]) return true;
    *i = 0;
  }
  return false;
}

/* Store one element of the values at its index. */
static tesela_status element_update(tesela__run_state *s, int64_t at, tesela_error *err) {
  const tesela__run_tensor *values = &s->operand[2];
  tesela__run_places to = {0}, from = {0};
  tesela_status status = element_looked_up(s, at, err);
  if (status != TESELA_OK) return status;
  s->iteration[s->node->dim[0]] = at;
  tesela__run_locate(values, s->iteration, 0, &from.first);
  tesela__run_locate(s->result, s->iteration, 0, &to.first);
  if (s->node->fn != TESELA_FN_ADD)
    return tesela__run_pass_row(s->run, s->result, to, values, from, 1, s->value[0], err);
  tesela__run_value sum[2];
  tesela__run_read_row(s->run, s->result, 1, to, s->in, &sum[0]);
  tesela__run_read_row(s->run, values, 1, from, s->in, &sum[1]);
  sum[0] = tesela__run_apply(TESELA_FN_ADD, s->in, s->dtype[0], sum);
  return tesela__run_write_row(s->run, s->result, 1, to, s->in, &sum[0], err);
}

/* In the row-major order of the values; each one is rounded. Those with index -1 are dropped. */
tesela_status tesela__run_scatter(tesela__run_state *s, tesela_error *err) {
  const tesela__run_tensor *values = &s->operand[2];
  int64_t *index = s->iteration;
  memset(index, 0, sizeof s->iteration);
  for (int32_t d = 0; d < values->at.rank; d++)
    if (values->at.shape[d] == 0) return TESELA_OK;
  do {
    tesela__run_places from = {0};
    /* every dim of the values is an iteration dim of its own; that of the dim looked up is set to the index */
    tesela__run_locate(&s->operand[1], index, 0, &from.first);
    tesela__run_read_row(s->run, &s->operand[1], 1, from, TESELA__RUN_SIGNED, s->value[1]);
    tesela_status status = TESELA_OK;
    if (s->value[1]->i != -1) status = element_update(s, s->value[1]->i, err);
    if (status == TESELA_OK) status = tesela__run_worked(s->run, 1, err);
    if (status != TESELA_OK) return status;
  } while (element_next_update(s));
  return TESELA_OK;
}

/* ---- copies ---- */

/* cat, pad, write, clone, move, and operand 0 of a scatter: the last operand with an element here. */
tesela_status tesela__run_copy_block(tesela__run_state *s, tesela_error *err) {
  int64_t left = element_places(s), n = left, to[RUN_ROW], *from = s->from_list[0];
  int32_t last = s->node->op == TESELA_OP_SCATTER ? 0 : s->node->n_operands - 1;
  int32_t least = s->node->in_place ? 1 : 0; /* operand 0 is in place already */
  tesela__run_line line = tesela__run_line_of(s, s->row);
  tesela_status status = TESELA_OK;
  for (int32_t k = last; k >= least && left > 0 && status == TESELA_OK; k--) {
    tesela__run_places places;
    int64_t there = tesela__run_find(&s->operand[k], s->iteration, line, 0, n, from, &places);
    if (there == 0) continue;
    if (there == n && left == n) /* all of one operand */
      return tesela__run_pass_row(s->run, s->result, s->to, &s->operand[k], places, n, s->value[0], err);
    if (left == n) { /* places of the elements still to copy, -1 for the others */
      for (int64_t j = 0; j < n; j++) s->to_list[j] = tesela__run_place(&s->to, j);
      s->to.list = s->to_list;
    }
    int64_t m = 0; /* elements that no later operand has */
    for (int64_t j = 0; j < n; j++) {
      int64_t place = tesela__run_place(&places, j);
      if (s->to_list[j] < 0 || place < 0) continue;
      to[m] = s->to_list[j];
      from[m++] = place;
      s->to_list[j] = -1;
    }
    left -= m;
    status = tesela__run_pass_row(s->run, s->result, (tesela__run_places){.list = to}, &s->operand[k],
                                  (tesela__run_places){.list = from}, m, s->value[0], err);
  }
  if (status != TESELA_OK || left == 0 || s->node->op != TESELA_OP_PAD) return status;
  int64_t m = 0;
  for (int64_t j = 0; j < n; j++) {
    int64_t place = tesela__run_place(&s->to, j);
    if (place >= 0) to[m++] = place;
  }
  for (int64_t j = 0; j < m; j++) s->value[0][j].f = s->node->value;
  return tesela__run_write_row(s->run, s->result, m, (tesela__run_places){.list = to}, TESELA__RUN_FLOAT,
                               s->value[0], err);
}
