/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_operator.c - one operator, element by element, over its loops.
 *
 * The loops of the result are counters in the order of device memory; counters beyond an extent (padding) are passed over. For each
 * element the folded dims are gone through, then the element is written: all operands of an element are read before. So a
 * result may lie on an operand whose element of the same index lies at the same place: what a later element reads there is not yet
 * overwritten, since places of elements differ.
 */
#include "graph/run.h"

typedef struct operator_state {
  tesela__run *run;
  const tesela_node *node;
  tesela_op_loops loops;
  tesela_core_share share;
  int32_t n_outer; /* loops of the result, in front of the folded ones */
  int64_t counter[TESELA_DEVICE_DIMS];
  int64_t iteration[TESELA_GRAPH_ITERATION];
  tesela__run_tensor *result, *operand; /* the operands, n of them */
  /* what the function of the node needs */
  tesela__run_class in;
  tesela_fn fold;
  tesela__run_value first;
  tesela_dtype *dtype;
  tesela__run_value *value;
} operator_state;

/* ---- loops ---- */

/* Loops from .. to-1 at their start. False if one is empty. */
static bool operator_begin(operator_state *s, int32_t from, int32_t to) {
  for (int32_t l = from; l < to; l++) s->iteration[s->loops.loop[l].dim] = 0;
  for (int32_t l = from; l < to; l++) {
    s->counter[l] = 0;
    s->iteration[s->loops.loop[l].dim] += s->share.start[l] * s->loops.loop[l].step;
    if (s->share.extent[l] == 0) return false;
  }
  return true;
}

/* On to the next counters; false behind the last. */
static bool operator_next(operator_state *s, int32_t from, int32_t to) {
  for (int32_t l = to - 1; l >= from; l--) {
    const tesela_loop *loop = &s->loops.loop[l];
    if (++s->counter[l] < s->share.extent[l]) {
      s->iteration[loop->dim] += loop->step;
      return true;
    }
    s->counter[l] = 0;
    s->iteration[loop->dim] -= (s->share.extent[l] - 1) * loop->step;
  }
  return false;
}

static bool operator_inside(const operator_state *s, int32_t from, int32_t to) {
  for (int32_t l = from; l < to; l++)
    if (s->iteration[s->loops.loop[l].dim] >= s->loops.iteration.extent[s->loops.loop[l].dim]) return false;
  return true;
}

/* ---- elements ---- */

static tesela__run_class operator_class(const tesela__run_tensor *tensor) { return tensor->buffer->class; }

/* Operand k at this iteration as a value of the class computed in; false: no element there. */
static bool operator_read(operator_state *s, int32_t k, tesela__run_value *value) {
  const tesela__run_tensor *tensor = &s->operand[k];
  int64_t place;
  if (!tesela__run_locate(tensor, s->iteration, 0, &place)) return false;
  *value = tesela__run_convert(s->in, operator_class(tensor), tesela__run_read(s->run, tensor, place));
  return true;
}

static tesela_status operator_pointwise(operator_state *s, int64_t place, tesela_error *err) {
  for (int32_t k = 0; k < s->node->n_operands; k++) {
    const tesela__run_tensor *tensor = &s->operand[k];
    int64_t at;
    if (!tesela__run_locate(tensor, s->iteration, 0, &at)) return TESELA_OK;
    tesela__run_value value = tesela__run_read(s->run, tensor, at);
    bool asked = k == 0 && s->node->fn == TESELA_FN_SELECT;
    s->value[k] = asked ? tesela__run_round(TESELA_PRED, operator_class(tensor), value)
                        : tesela__run_convert(s->in, operator_class(tensor), value);
  }
  tesela__run_value value = tesela__run_apply(s->node->fn, s->in, s->dtype[0] == TESELA_PRED, s->value);
  return tesela__run_write(s->run, s->result, place, tesela__run_class_out(s->node->fn, s->in), value, err);
}

static tesela_status operator_constant(operator_state *s, int64_t place, tesela_error *err) {
  double value = s->node->value;
  if (s->node->n_dims > 0) value += (double)s->iteration[s->node->dim[0]];
  return tesela__run_write(s->run, s->result, place, TESELA__RUN_FLOAT, (tesela__run_value){.f = value}, err);
}

/* reduce, matmul, conv2d: operands multiplied, if there are two, and folded. */
static tesela_status operator_fold(operator_state *s, int64_t place, tesela_error *err) {
  tesela__run_value sum[2] = {s->first}, factor[2];
  int64_t count = 0;
  bool more = operator_begin(s, s->n_outer, s->loops.n);
  for (; more; more = operator_next(s, s->n_outer, s->loops.n)) {
    if (!operator_inside(s, s->n_outer, s->loops.n)) continue;
    count++;
    if (!operator_read(s, 0, &sum[1])) continue; /* a window over the border adds nothing */
    if (s->node->n_operands > 1) {
      factor[0] = sum[1];
      if (!operator_read(s, 1, &factor[1])) continue;
      sum[1] = tesela__run_apply(TESELA_FN_MUL, s->in, false, factor);
    }
    sum[0] = tesela__run_apply(s->fold, s->in, false, sum);
  }
  if (s->node->op == TESELA_OP_REDUCE && s->node->fn == TESELA_FN_MEAN) {
    sum[1] = tesela__run_convert(s->in, TESELA__RUN_SIGNED, (tesela__run_value){.i = count});
    sum[0] = tesela__run_apply(TESELA_FN_DIV, s->in, false, sum);
  }
  return tesela__run_write(s->run, s->result, place, s->in, sum[0], err);
}

/* An index that is looked up, inside the dim. */
static tesela_status operator_looked_up(operator_state *s, int64_t place, int64_t *at, tesela_error *err) {
  const tesela__run_tensor *indices = &s->operand[1];
  int64_t extent = s->operand[0].at.shape[s->node->dim[0]];
  tesela__run_value index = tesela__run_read(s->run, indices, place);
  *at = tesela__run_convert(TESELA__RUN_SIGNED, operator_class(indices), index).i;
  if (*at >= 0 && *at < extent) return TESELA_OK;
  return tesela__fail(err, TESELA_E_INVALID, -1,
                      "%.80s looks up index %" PRId64 "; dim %" PRId32 " of operand 0 has 0 to %" PRId64,
                      s->node->name, *at, s->node->dim[0], extent - 1);
}

static tesela_status operator_gather(operator_state *s, int64_t place, tesela_error *err) {
  int64_t from, at;
  if (!tesela__run_locate(&s->operand[1], s->iteration, 0, &from)) return TESELA_OK;
  tesela_status status = operator_looked_up(s, from, &at, err);
  if (status != TESELA_OK || !tesela__run_locate(&s->operand[0], s->iteration, at, &from)) return status;
  return tesela__run_pass(s->run, s->result, place, &s->operand[0], from, err);
}

/* cat, pad, write, clone, move, and the part of a scatter that stays: the last operand that has an element here. */
static tesela_status operator_copy(operator_state *s, int64_t place, tesela_error *err) {
  int32_t n = s->node->op == TESELA_OP_SCATTER ? 1 : s->node->n_operands;
  int32_t least = s->node->in_place ? 1 : 0; /* operand 0 is there already */
  int64_t from;
  for (int32_t k = n - 1; k >= least; k--)
    if (tesela__run_locate(&s->operand[k], s->iteration, 0, &from))
      return tesela__run_pass(s->run, s->result, place, &s->operand[k], from, err);
  if (s->node->op != TESELA_OP_PAD) return TESELA_OK;
  return tesela__run_write(s->run, s->result, place, TESELA__RUN_FLOAT,
                           (tesela__run_value){.f = s->node->value}, err);
}

typedef tesela_status operator_element(operator_state *s, int64_t place, tesela_error *err);

static operator_element *operator_of(tesela_op op) {
  switch (op) {
  case TESELA_OP_POINTWISE:
    return operator_pointwise;
  case TESELA_OP_CONSTANT:
    return operator_constant;
  case TESELA_OP_REDUCE:
  case TESELA_OP_MATMUL:
  case TESELA_OP_CONV2D:
    return operator_fold;
  case TESELA_OP_GATHER:
    return operator_gather;
  default:
    return operator_copy;
  }
}

/* One share of an operator. */
static tesela_status operator_share(operator_state *s, tesela_error *err) {
  operator_element *element = operator_of(s->node->op);
  tesela_status status = TESELA_OK;
  memset(s->iteration, 0, sizeof s->iteration);
  bool more = operator_begin(s, 0, s->n_outer);
  for (; more && status == TESELA_OK; more = operator_next(s, 0, s->n_outer)) {
    int64_t place;
    if (!operator_inside(s, 0, s->n_outer)) continue;
    tesela__run_locate(s->result, s->iteration, 0, &place);
    status = element(s, place, err);
    s->run->facts.elements++;
  }
  return status;
}

/* The updates of a scatter, in the row-major order of the values; each one is rounded. */
static tesela_status operator_scatter(operator_state *s, tesela_error *err) {
  const tesela__run_tensor *values = &s->operand[2];
  int64_t *index = s->iteration;
  memset(index, 0, sizeof s->iteration);
  for (int32_t d = 0; d < values->at.rank; d++)
    if (values->at.shape[d] == 0) return TESELA_OK;
  for (;;) {
    int64_t to, from, at;
    /* every dim of the values is an iteration dim of its own; that of the dim looked up is set to the index */
    tesela__run_locate(&s->operand[1], index, 0, &from);
    tesela_status status = operator_looked_up(s, from, &at, err);
    if (status != TESELA_OK) return status;
    index[s->node->dim[0]] = at;
    tesela__run_locate(values, index, 0, &from);
    tesela__run_locate(s->result, index, 0, &to);
    if (s->node->fn == TESELA_FN_ADD) {
      tesela__run_value sum[2] = {tesela__run_read(s->run, s->result, to),
                                  tesela__run_read(s->run, values, from)};
      sum[0] = tesela__run_convert(s->in, operator_class(s->result), sum[0]);
      sum[1] = tesela__run_convert(s->in, operator_class(values), sum[1]);
      status = tesela__run_write(s->run, s->result, to, s->in,
                                 tesela__run_apply(TESELA_FN_ADD, s->in, false, sum), err);
    } else {
      status = tesela__run_pass(s->run, s->result, to, values, from, err);
    }
    if (status != TESELA_OK) return status;
    int32_t d = values->at.rank - 1;
    for (; d >= 0; d--) {
      int64_t *i = &index[values->at.index[d].dim[0]];
      if (++*i < values->at.shape[d]) break;
      *i = 0;
    }
    if (d < 0) return TESELA_OK;
  }
}

/* ---- the operator ---- */

static tesela_status operator_no_memory(tesela_error *err) {
  return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory to run an operator");
}

static tesela_status operator_tensor(operator_state *s, int32_t node, int32_t k, tesela__run_tensor *tensor,
                                     tesela_error *err) {
  tesela__op_tensor at;
  tesela_status status = tesela__op_tensor_of(s->run->graph, node, k, s->run->plain, &at, err);
  return status != TESELA_OK ? status
                             : tesela__run_tensor_make(s->run, &at, &s->loops.iteration, tensor, err);
}

/* Result, operands and types. */
static tesela_status operator_tensors(operator_state *s, int32_t node, tesela_error *err) {
  tesela__run *run = s->run;
  int32_t n = s->node->n_operands;
  s->result = tesela__run_take(run, &run->scratch, n + 1, sizeof *s->result);
  s->dtype = tesela__run_take(run, &run->scratch, n, sizeof *s->dtype);
  s->value = tesela__run_take(run, &run->scratch, n, sizeof *s->value);
  if (!s->result || !s->dtype || !s->value) return operator_no_memory(err);
  s->operand = s->result + 1;
  tesela_status status = operator_tensor(s, node, -1, s->result, err);
  for (int32_t k = 0; k < n && status == TESELA_OK; k++) {
    status = operator_tensor(s, node, k, &s->operand[k], err);
    s->dtype[k] = run->buffer[s->operand[k].id].host;
  }
  return status;
}

/* The class that is computed in. */
static void operator_types(operator_state *s) {
  tesela_dtype result = s->result->buffer->host;
  switch (s->node->op) {
  case TESELA_OP_POINTWISE:
    s->in = tesela__run_class_in(s->node->fn, s->node->n_operands, s->dtype);
    break;
  case TESELA_OP_REDUCE:
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

static void operator_whole(operator_state *s) {
  for (int32_t l = 0; l < s->loops.n; l++) {
    s->share.start[l] = 0;
    s->share.extent[l] = s->loops.loop[l].extent;
    s->n_outer += !s->loops.loop[l].folded;
  }
}

/* Share by share, for tests of the division: the folded loops stay whole. */
static tesela_status operator_divided(operator_state *s, int32_t node, tesela_error *err) {
  int64_t forced[TESELA_DEVICE_DIMS] = {0};
  tesela_division division;
  for (int32_t l = s->n_outer; l < s->loops.n; l++) forced[l] = 1;
  tesela_status status =
      tesela_graph_divide(s->run->graph, node, s->run->hooks.cores, forced, &division, err);
  for (int32_t c = 0; c < division.cores && status == TESELA_OK; c++) {
    int32_t core = s->run->hooks.backwards ? division.cores - 1 - c : c;
    status = tesela_graph_share(&s->loops, &division, core, &s->share, err);
    if (status == TESELA_OK) status = operator_share(s, err);
  }
  return status;
}

tesela_status tesela__run_operator(tesela__run *run, int32_t node, tesela_error *err) {
  operator_state *s = tesela__run_take(run, &run->scratch, 1, sizeof *s);
  if (!s) return operator_no_memory(err);
  *s = (operator_state){.run = run, .node = tesela_graph_node(run->graph, node)};
  if (s->node->op == TESELA_OP_POINTWISE && s->node->fn == TESELA_FN_FUSED)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "%.80s computes what nobody knows: it cannot be run",
                        s->node->name);
  tesela_status status = tesela__op_loops(run->graph, node, run->plain, &s->loops, err);
  if (status == TESELA_OK) status = operator_tensors(s, node, err);
  if (status != TESELA_OK) return status;
  operator_whole(s);
  operator_types(s);
  bool done = false, copies = s->node->op == TESELA_OP_CLONE || s->node->op == TESELA_OP_MOVE;
  if (copies && run->hooks.cores == 0)
    status = tesela__run_relayout(run, node, s->result, &s->operand[0], &done, err);
  if (status != TESELA_OK || done) return status;
  status = run->hooks.cores > 0 && !run->plain ? operator_divided(s, node, err) : operator_share(s, err);
  if (status == TESELA_OK && s->node->op == TESELA_OP_SCATTER) status = operator_scatter(s, err);
  return status;
}
