/* SPDX-License-Identifier: Apache-2.0 */
/*
 * padding_evaluate.c - a pass over the program: the content of each buffer's padding after each node.
 *
 * Each buffer has a value for its padding, and one for its elements if all are equal. The padding of a result is known if every
 * case of its operator (padding.h) gives the same value; for a fold all its reads must be FINE too, since it would read other
 * values there as well.
 */
#include "graph/padding/padding.h"

static const tesela__pad_value pad_none;

static const tesela__pad_node *pad_type(const tesela_padding *p, const tesela_node *node, int32_t k) {
  return &p->node[node->operand[k]];
}

/* ---- results ------------------------------------------------------------------------------------------------- */

/* The result of a pointwise operator, a fold or a gather with the operands of `mask` in padding. */
static tesela__pad_value pad_case(const tesela_padding *p, const tesela_node *node,
                                  const tesela__pad_node *result, int32_t mask) {
  const tesela__pad_node *type[3] = {NULL};
  tesela__pad_value v[3] = {pad_none, pad_none, pad_none};
  for (int32_t k = 0; k < node->n_operands && k < 3; k++) {
    type[k] = pad_type(p, node, k);
    v[k] = mask >> k & 1 ? p->hold[node->operand[k]] : p->uniform[node->operand[k]];
  }
  switch (node->op) {
  case TESELA_OP_POINTWISE:
    return node->n_operands > 3 ? pad_none : tesela__pad_apply(node->fn, node->n_operands, type, v, result);
  case TESELA_OP_REDUCE:
    return mask ? tesela__pad_fold(node->fn, type[0], &v[0], result) : pad_none;
  case TESELA_OP_ALONG: /* a line of one value */
    if (!mask || node->fn == TESELA_FN_ARGSORT || node->fn == TESELA_FN_FUSED) return pad_none;
    if (node->fn != TESELA_FN_SORT)
      return tesela__pad_fold(tesela__pad_fold_of(node), type[0], &v[0], result);
    return v[0].known ? tesela__pad_round(result, tesela__run_class_of(type[0]->dtype), v[0].v) : pad_none;
  case TESELA_OP_MATMUL:
  case TESELA_OP_CONV2D: {
    bool floats = tesela__run_class_of(type[0]->dtype) == TESELA__RUN_FLOAT ||
                  tesela__run_class_of(type[1]->dtype) == TESELA__RUN_FLOAT;
    for (int32_t k = 0; k < 2; k++)
      if (tesela__pad_is_zero(type[k]->dtype, &v[k]) &&
          (!floats || tesela__pad_is_finite(type[1 - k]->dtype, &v[1 - k])))
        return tesela__pad_round(result, TESELA__RUN_SIGNED, (tesela__run_value){.i = 0});
    return pad_none;
  }
  case TESELA_OP_GATHER:
    return v[0].known ? tesela__pad_round(result, tesela__run_class_of(type[0]->dtype), v[0].v) : pad_none;
  default:
    return pad_none;
  }
}

static tesela__pad_value pad_cases_agree(const tesela_padding *p, const tesela_node *node,
                                         const tesela__pad_node *result) {
  tesela__pad_value all = pad_none;
  bool first = true;
  for (int32_t mask = 0; mask < 8; mask++) {
    if (!(result->cases >> mask & 1)) continue;
    tesela__pad_value one = pad_case(p, node, result, mask);
    if (!one.known || (!first && !tesela__pad_same(result->dtype, &all, &one))) return pad_none;
    all = one;
    first = false;
  }
  return all;
}

/* Does operand k have padding of value v, or no padding (unless `must`), and use its whole buffer? */
static bool pad_piece_is(const tesela_padding *p, const tesela_node *node, int32_t k, bool must,
                         const tesela__pad_value *v) {
  const tesela__pad_node *type = pad_type(p, node, k);
  if (!type->whole) return false;
  return type->any ? tesela__pad_same(type->dtype, &p->hold[node->operand[k]], v) : !must;
}

/* scatter, write: the value of operand 0, if the pieces have the same. */
static tesela__pad_value pad_written(const tesela_padding *p, const tesela_node *node,
                                     const tesela__pad_node *result) {
  const tesela__pad_node *type = pad_type(p, node, 0);
  tesela__pad_value kept = p->hold[node->operand[0]], zero = {.known = true};
  for (int32_t mask = 0; mask < 2 && !node->in_place; mask++)
    if (result->cases >> mask & 1 && mask == 0) kept = pad_none;
  if (!kept.known || (!node->in_place && result->cases == 0)) return pad_none;
  int32_t piece = node->op == TESELA_OP_SCATTER ? 2 : 1;
  if (!pad_piece_is(p, node, piece, node->op == TESELA_OP_SCATTER, &kept)) return pad_none;
  if (tesela__run_class_of(type->dtype) == TESELA__RUN_FLOAT) zero.v.f = 0;
  bool adds = node->op == TESELA_OP_SCATTER && node->fn != TESELA_FN_NONE;
  if (adds && !(node->fn == TESELA_FN_ADD && tesela__pad_same(type->dtype, &kept, &zero))) return pad_none;
  return tesela__pad_round(result, tesela__run_class_of(type->dtype), kept.v);
}

static tesela__pad_value pad_joined(const tesela_padding *p, const tesela_node *node) {
  tesela__pad_value all = pad_none;
  for (int32_t k = 0; k < node->n_operands; k++)
    if (pad_type(p, node, k)->any && tesela_graph_node(p->graph, node->operand[k])->shape[node->dim[0]] > 0)
      all = p->hold[node->operand[k]];
  for (int32_t k = 0; k < node->n_operands && all.known; k++)
    if (tesela_graph_node(p->graph, node->operand[k])->shape[node->dim[0]] > 0 &&
        !pad_piece_is(p, node, k, false, &all))
      return pad_none;
  return all;
}

/* The content of the result's padding. `folds`: all reads of the node are FINE. */
static tesela__pad_value pad_held(const tesela_padding *p, const tesela_node *node,
                                  const tesela__pad_node *result, bool folds) {
  tesela__pad_value v = pad_none;
  switch (node->op) {
  case TESELA_OP_CONSTANT:
    return node->n_dims > 0
               ? pad_none
               : tesela__pad_round(result, TESELA__RUN_FLOAT, (tesela__run_value){.f = node->value});
  case TESELA_OP_CLONE:
  case TESELA_OP_MOVE:
    (void)tesela__pad_fill_value(&p->copy, result, &v, NULL); /* was checked */
    return v;
  case TESELA_OP_PAD:
    v = tesela__pad_round(result, TESELA__RUN_FLOAT, (tesela__run_value){.f = node->value});
    return v.known && !result->open && pad_piece_is(p, node, 0, false, &v) ? v : pad_none;
  case TESELA_OP_CAT:
    return result->open ? pad_none : pad_joined(p, node);
  case TESELA_OP_WRITE:
  case TESELA_OP_SCATTER:
    return result->open ? pad_none : pad_written(p, node, result);
  default:
    return result->open || !folds ? pad_none : pad_cases_agree(p, node, result);
  }
}

/* The one value of all elements. */
static tesela__pad_value pad_uniform(const tesela_padding *p, const tesela_node *node,
                                     const tesela__pad_node *result) {
  switch (node->op) {
  case TESELA_OP_CONSTANT:
    return pad_held(p, node, result, true);
  case TESELA_OP_POINTWISE:
  case TESELA_OP_GATHER:
    return pad_case(p, node, result, 0);
  case TESELA_OP_CLONE:
  case TESELA_OP_MOVE:
    return p->uniform[node->operand[0]];
  default:
    return pad_none;
  }
}

/* ---- reads --------------------------------------------------------------------------------------------------- */

static tesela_padding_state pad_found(const tesela__pad_node *type, tesela__pad_sight sight,
                                      const tesela__pad_value *v) {
  tesela_padding_kind kind = TESELA_PADDING_ELEMENTS;
  if (sight == TESELA__PAD_PADDING) kind = v->known ? TESELA_PADDING_VALUE : TESELA_PADDING_GARBAGE;
  if (sight == TESELA__PAD_OUTSIDE) kind = TESELA_PADDING_OUTSIDE;
  return tesela__pad_state(kind, type->dtype, v);
}

/* Is the content of operand k of a product right, whatever the other operand has? */
static bool pad_product_fine(const tesela__pad_group *group, int32_t k, const tesela__pad_node *const *type,
                             const tesela__pad_value *v) {
  int32_t o = 1 - k;
  bool floats = tesela__run_class_of(type[0]->dtype) == TESELA__RUN_FLOAT ||
                tesela__run_class_of(type[1]->dtype) == TESELA__RUN_FLOAT;
  bool zero = tesela__pad_is_zero(type[k]->dtype, &v[k]), other = tesela__pad_is_zero(type[o]->dtype, &v[o]);
  if (floats && !tesela__pad_is_finite(type[k]->dtype, &v[k])) return false;
  if (group->dim[o] < 0 && floats && !tesela__pad_is_finite(type[o]->dtype, &v[o])) return false;
  return zero || other;
}

static tesela_padding_verdict pad_judge(const tesela_node *node, const tesela__pad_group *group, int32_t k,
                                        const tesela__pad_node *const *type, const tesela__pad_value *v) {
  for (int32_t o = 0; o < group->n; o++)
    if (group->sight[o] == TESELA__PAD_OUTSIDE || group->sight[o] == TESELA__PAD_HIDDEN)
      return TESELA_PADDING_MASK;
  bool padding = group->sight[k] == TESELA__PAD_PADDING;
  if (group->n == 1) {
    if (!padding) return TESELA_PADDING_MASK;
    return tesela__pad_is_neutral(tesela__pad_fold_of(node), type[0], &v[0]) ? TESELA_PADDING_FINE
                                                                             : TESELA_PADDING_FILL;
  }
  if (pad_product_fine(group, k, type, v)) return TESELA_PADDING_FINE;
  bool alone = group->dim[1 - k] < 0 && !tesela__pad_is_finite(type[1 - k]->dtype, &v[1 - k]) &&
               tesela__run_class_of(type[1 - k]->dtype) == TESELA__RUN_FLOAT;
  return padding && !alone ? TESELA_PADDING_FILL : TESELA_PADDING_MASK;
}

/* The reads of one group; false: not all are FINE. */
static bool pad_reads(const tesela_padding *p, const tesela__pad_group *group, int32_t *n, int32_t *fine) {
  const tesela_node *node = tesela_graph_node(p->graph, group->node);
  const tesela__pad_node *type[2] = {NULL};
  tesela__pad_value v[2] = {pad_none, pad_none}, needed;
  bool all = true;
  for (int32_t k = 0; k < group->n; k++) {
    int32_t operand = node->operand[group->first + k];
    type[k] = &p->node[operand];
    if (group->sight[k] == TESELA__PAD_PADDING) v[k] = p->hold[operand];
    if (group->sight[k] == TESELA__PAD_ELEMENTS) v[k] = p->uniform[operand];
  }
  for (int32_t k = 0; k < group->n; k++) {
    if (group->dim[k] < 0) continue;
    tesela_padding_read *read = &p->read[(*n)++];
    needed = tesela__pad_neutral(tesela__pad_fold_of(node), type[k]);
    *read = (tesela_padding_read){
        .node = group->node,
        .operand = group->first + k,
        .dim = group->dim[k],
        .from = group->from,
        .to = group->to,
        .needed = tesela__pad_state(needed.known ? TESELA_PADDING_VALUE : TESELA_PADDING_NONE, type[k]->dtype,
                                    &needed),
        .found = pad_found(type[k], group->sight[k], &v[k]),
        .verdict = pad_judge(node, group, k, type, v)};
    if (read->verdict == TESELA_PADDING_FILL && !needed.known) read->verdict = TESELA_PADDING_MASK;
    *fine += read->verdict == TESELA_PADDING_FINE;
    all = all && read->verdict == TESELA_PADDING_FINE;
  }
  return all;
}

int32_t tesela__padding_evaluate(tesela_padding *p, const tesela__pad_value *input) {
  int32_t group = 0, reads = 0, fine = 0, inputs = 0;
  for (int32_t k = 0; k < p->count; k++) {
    const tesela_node *node = tesela_graph_node(p->graph, k);
    bool folds = true;
    for (; group < p->n_groups && p->group[group].node == k; group++)
      folds = pad_reads(p, &p->group[group], &reads, &fine) && folds;
    if (node->view) {
      p->hold[k] = p->hold[node->operand[0]];
      p->uniform[k] = p->uniform[node->operand[0]];
    } else if (node->op == TESELA_OP_INPUT) {
      p->hold[k] = input[inputs++];
      p->uniform[k] = pad_none;
    } else {
      p->hold[k] = pad_held(p, node, &p->node[k], folds);
      p->uniform[k] = pad_uniform(p, node, &p->node[k]);
    }
  }
  return fine;
}
