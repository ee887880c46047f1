/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_operator.c - one operator, block by block, over its loops.
 *
 * The loops of the result are counters in the order of device memory; counters beyond an extent (padding) are skipped. All operands
 * of a block are read before it is written. So a result may reuse the memory of an operand whose elements have the same places:
 * places differ, so no later element reads an overwritten one. If a result overlaps an operand in any other way, the blocks are
 * single elements, so a wrong plan shows as on hardware.
 */
#include "graph/run/run_operator.h"

/* ---- the functions of each class of operators ---- */

typedef tesela_status run_step(tesela__run_state *s, tesela_error *err);

static const struct {
  tesela_op op;
  bool alone;       /* in blocks of single elements if the result overlaps an operand */
  run_step *begin;  /* before the first block; may choose the row and the column */
  run_step *block;  /* one block */
  run_step *finish; /* after the last */
} operator_steps[] = {
    {TESELA_OP_POINTWISE, false, NULL, tesela__run_pointwise_block, NULL}, /* it tests overlaps itself */
    {TESELA_OP_CONSTANT, false, NULL, tesela__run_constant_block, NULL},
    {TESELA_OP_REDUCE, true, tesela__run_fold_begin, tesela__run_fold_block, NULL},
    {TESELA_OP_MATMUL, true, tesela__run_fold_begin, tesela__run_fold_block, NULL},
    {TESELA_OP_CONV2D, true, tesela__run_fold_begin, tesela__run_fold_block, NULL},
    {TESELA_OP_POOL, true, tesela__run_fold_begin, tesela__run_fold_block, NULL},
    {TESELA_OP_GATHER, true, NULL, tesela__run_gather_block, NULL},
    {TESELA_OP_SCATTER, true, NULL, tesela__run_copy_block, tesela__run_scatter},
    {TESELA_OP_CLONE, true, NULL, tesela__run_copy_block, NULL}, /* and all others: cat, pad, write, move */
};
enum { OPERATOR_STEPS = sizeof operator_steps / sizeof operator_steps[0] };

static int32_t operator_steps_of(tesela_op op) {
  int32_t k = 0;
  while (k < OPERATOR_STEPS - 1 && operator_steps[k].op != op) k++;
  return k;
}

/* ---- blocks ---- */

/* The innermost loop is the row unless it is short and another is longer. */
static void operator_row(tesela__run_state *s) {
  enum { SHORT = 16 };
  s->row = s->n_outer - 1;
  s->column = -1;
  for (int32_t l = 0; l < s->loops.n; l++) s->most[l] = 1;
  for (int32_t l = s->n_outer - 2; l >= 0; l--)
    if (s->share.extent[s->row] < SHORT && s->share.extent[l] > s->share.extent[s->row]) s->row = l;
  if (s->row >= 0) s->most[s->row] = RUN_ROW;
}

/* Run one share of an operator. */
static tesela_status operator_share(tesela__run_state *s, int32_t steps, tesela_error *err) {
  tesela_status status = TESELA_OK;
  memset(s->iteration, 0, sizeof s->iteration);
  bool more = tesela__run_begin(s, 0, s->n_outer);
  for (; more && status == TESELA_OK; more = tesela__run_next(s, 0, s->n_outer)) {
    if (!tesela__run_inside(s, 0, s->n_outer)) continue;
    status = operator_steps[steps].block(s, err);
    int64_t n = tesela__run_count(s, s->row) * tesela__run_count(s, s->column);
    s->run->facts.elements += n;
    if (status == TESELA_OK) status = tesela__run_worked(s->run, n, err);
  }
  return status;
}

/* ---- the operator ---- */

static tesela_status operator_tensor(tesela__run_state *s, int32_t node, int32_t k,
                                     tesela__run_tensor *tensor, tesela_error *err) {
  tesela__op_tensor at;
  tesela_status status = tesela__op_tensor_of(s->run->graph, node, k, s->run->plain, &at, err);
  return status != TESELA_OK ? status : tesela__run_tensor_make(s->run, &at, tensor, err);
}

/* Result, operands, their types, and a row of each. */
static tesela_status operator_tensors(tesela__run_state *s, int32_t node, tesela_error *err) {
  tesela__run *run = s->run;
  int32_t n = s->node->n_operands;
  s->result = tesela__run_take(run, &run->scratch, n + 1, sizeof *s->result);
  s->dtype = tesela__run_take(run, &run->scratch, n, sizeof *s->dtype);
  s->from = tesela__run_take(run, &run->scratch, n, sizeof *s->from);
  s->from_list = tesela__run_take(run, &run->scratch, n, sizeof *s->from_list);
  s->value = tesela__run_take(run, &run->scratch, n + 1, sizeof *s->value);
  int64_t *places = tesela__run_take(run, &run->scratch, n + 1, RUN_ROW * sizeof *places);
  tesela__run_value *values = tesela__run_take(run, &run->scratch, n + 1, RUN_ROW * sizeof *values);
  if (!s->result || !s->dtype || !s->from || !s->from_list || !s->value || !places || !values)
    return tesela__run_no_memory(err);
  s->operand = s->result + 1;
  s->to_list = places + (ptrdiff_t)n * RUN_ROW;
  for (int32_t k = 0; k < n; k++) s->from_list[k] = places + (ptrdiff_t)k * RUN_ROW;
  for (int32_t k = 0; k <= n; k++) s->value[k] = values + (ptrdiff_t)k * RUN_ROW;
  tesela_status status = operator_tensor(s, node, -1, s->result, err);
  for (int32_t k = 0; k < n && status == TESELA_OK; k++) {
    status = operator_tensor(s, node, k, &s->operand[k], err);
    s->dtype[k] = run->buffer[s->operand[k].id].host;
  }
  return status;
}

/* The class of the computation. */
static void operator_types(tesela__run_state *s) {
  tesela_dtype result = s->result->buffer->host;
  switch (s->node->op) {
  case TESELA_OP_POINTWISE:
    s->in = tesela__run_class_in(s->node->fn, s->node->n_operands, s->dtype);
    break;
  case TESELA_OP_REDUCE:
  case TESELA_OP_POOL:
    s->in = tesela__run_class_of(s->dtype[0]);
    if (s->node->fn == TESELA_FN_MEAN && tesela__run_class_of(result) == TESELA__RUN_FLOAT)
      s->in = TESELA__RUN_FLOAT;
    s->fold = tesela__run_fold(s->node->fn, s->dtype[0], s->in, &s->first);
    break;
  case TESELA_OP_MATMUL:
  case TESELA_OP_CONV2D:
    s->in = tesela__run_class_in(TESELA_FN_MUL, 2, s->dtype);
    s->fold = tesela__run_fold(TESELA_FN_SUM, s->dtype[0], s->in, &s->first);
    break;
  case TESELA_OP_SCATTER: {
    const tesela_dtype added[2] = {result, s->dtype[2]};
    s->in = tesela__run_class_in(TESELA_FN_ADD, 2, added);
    break;
  }
  default:
    break;
  }
}

/* A bitcast needs types of the same width. */
static tesela_status operator_bits(const tesela__run_state *s, tesela_error *err) {
  tesela_dtype from = s->node->n_operands > 0 ? s->dtype[0] : TESELA_DTYPE_NONE, to = s->node->dtype;
  if (s->node->op != TESELA_OP_POINTWISE || s->node->fn != TESELA_FN_BITCAST ||
      tesela_dtype_bits(from) == tesela_dtype_bits(to))
    return TESELA_OK;
  return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                      "%.80s reinterprets %s as %s; only types of the same width can be run", s->node->name,
                      tesela_dtype_name(from), tesela_dtype_name(to));
}

static void operator_whole(tesela__run_state *s) {
  for (int32_t l = 0; l < s->loops.n; l++) {
    s->share.start[l] = 0;
    s->share.extent[l] = s->loops.loop[l].extent;
    s->n_outer += !s->loops.loop[l].folded;
  }
}

/* Choose row and column, or single elements if the result overlaps an operand. */
static tesela_status operator_blocks(tesela__run_state *s, int32_t steps, tesela_error *err) {
  operator_row(s);
  tesela_status status = operator_steps[steps].begin ? operator_steps[steps].begin(s, err) : TESELA_OK;
  for (int32_t k = 0; k < s->node->n_operands; k++)
    for (int32_t l = 0; l < s->n_outer; l++)
      if (operator_steps[steps].alone && tesela__run_meets(s, k)) s->most[l] = 1;
  return status;
}

/* Share by share, for tests of the division: the folded loops stay whole. */
static tesela_status operator_divided(tesela__run_state *s, int32_t node, int32_t steps, tesela_error *err) {
  int64_t forced[TESELA_DEVICE_DIMS] = {0};
  tesela_division division = {0};
  for (int32_t l = s->n_outer; l < s->loops.n; l++) forced[l] = 1;
  tesela_status status =
      tesela_graph_divide(s->run->graph, node, s->run->hooks.cores, forced, &division, err);
  for (int32_t c = 0; c < division.cores && status == TESELA_OK; c++) {
    int32_t core = s->run->hooks.backwards ? division.cores - 1 - c : c;
    status = tesela_graph_share(&s->loops, &division, core, &s->share, err);
    if (status == TESELA_OK) status = operator_share(s, steps, err);
  }
  return status;
}

tesela_status tesela__run_operator(tesela__run *run, int32_t node, tesela_error *err) {
  tesela__run_state *s = tesela__run_take(run, &run->scratch, 1, sizeof *s);
  if (!s) return tesela__run_no_memory(err);
  if (tesela_graph_node(run->graph, node)->op == TESELA_OP_ALONG) return tesela__run_along(run, node, err);
  *s = (tesela__run_state){.run = run, .node = tesela_graph_node(run->graph, node)};
  if (s->node->fn == TESELA_FN_FUSED)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "%.80s has an unknown function and cannot be run",
                        s->node->name);
  tesela_status status = tesela__op_loops(run->graph, node, run->plain, &s->loops, err);
  if (status == TESELA_OK) status = operator_tensors(s, node, err);
  if (status == TESELA_OK) status = operator_bits(s, err);
  if (status != TESELA_OK) return status;
  operator_whole(s);
  operator_types(s);
  bool done = false, copies = s->node->op == TESELA_OP_CLONE || s->node->op == TESELA_OP_MOVE;
  if (copies && run->hooks.cores == 0)
    status = tesela__run_relayout(run, node, s->result, &s->operand[0], &done, err);
  if (status != TESELA_OK || done) return status;
  int32_t steps = operator_steps_of(s->node->op);
  status = operator_blocks(s, steps, err);
  if (status != TESELA_OK) return status;
  status = run->hooks.cores > 0 && !run->plain ? operator_divided(s, node, steps, err)
                                               : operator_share(s, steps, err);
  if (status == TESELA_OK && operator_steps[steps].finish) status = operator_steps[steps].finish(s, err);
  return status;
}
