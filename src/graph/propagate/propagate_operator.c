/* SPDX-License-Identifier: Apache-2.0 */
/*
 * propagate_operator.c - the operators of a program, their needs, and the possible sticks of results.
 *
 * An operand without a need has no edge. The candidate of the buffer decides the stick of a result that is written in place, or
 * whose layout is set: `under` has the candidates that give each label.
 */
#include "graph/propagate/propagate.h"

/* The node that made the value of the buffer that node k reads. */
static int32_t perform_value(const tesela_graph *graph, int32_t k) {
  const tesela_node *node = tesela_graph_node(graph, k);
  while (node->view) {
    k = node->operand[0];
    node = tesela_graph_node(graph, k);
  }
  return k;
}

/* Does a node show its whole buffer, in order? Only then can a move copy the value. */
static bool perform_whole(const tesela_graph *graph, int32_t k) {
  const tesela_node *node = tesela_graph_node(graph, k), *buffer = tesela_graph_node(graph, node->buffer);
  if (node->rank != buffer->rank || node->offset != 0) return false;
  for (int32_t d = 0; d < node->rank; d++)
    if (node->shape[d] != buffer->shape[d] || (node->shape[d] > 1 && node->stride[d] != buffer->stride[d]))
      return false;
  return true;
}

static tesela_status perform_edge(tesela__need_operator *op, int32_t k, const tesela_rule *rule, bool same,
                                  tesela_error *err) {
  tesela_propagation *p = op->p;
  int32_t buffer = tesela_graph_node(p->graph, op->node->operand[k])->buffer;
  bool follows = op->survives && k == 0;
  if (p->family[buffer] < 0 || (rule->need == TESELA_NEED_ANY && !follows && !(same && k == 0)))
    return TESELA_OK;
  tesela__edge edge = {.node = op->number,
                       .operand = k,
                       .buffer = buffer,
                       .value = perform_value(p->graph, op->node->operand[k]),
                       .follows = follows,
                       .price = rule->price,
                       .follow_price = op->follow_price,
                       .need = rule->need};
  edge.movable = perform_whole(p->graph, edge.value) && !(op->node->in_place && k == 0) &&
                 !tesela__move_forbidden(p->graph, op->number, k);
  tesela_status status = TESELA_OK;
  const tesela__family *family = tesela__family_of(p, buffer);
  if ((rule->need == TESELA_NEED_DEFAULT || rule->need == TESELA_NEED_SAME) && !follows) {
    for (int32_t label = 0; label <= op->node->rank; label++) {
      edge.suits.follow[label] = tesela__stick_bits(family->n);
      edge.suits.need[label] =
          rule->need == TESELA_NEED_SAME ? tesela__stick_bits(family->n) : tesela__stick_bit(family->preset);
    }
  } else {
    status = tesela__need_judge(op, rule, &edge, err);
    for (int32_t label = 0; label <= op->node->rank && rule->need == TESELA_NEED_DEFAULT; label++)
      edge.suits.need[label] &= tesela__stick_bit(family->preset);
  }
  if (status != TESELA_OK) return status;
  void *items = p->edge;
  if (!tesela__grow(&p->allocator, &items, sizeof *p->edge, &p->edge_capacity, (uint64_t)p->n_edges + 1))
    return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for operands");
  p->edge = items;
  p->edge[p->n_edges++] = edge;
  return p->options.copies ? tesela__propagate_copies(op, rule, err) : TESELA_OK;
}

/* ---- the result ---- */

/* The labels of result dims that only operand 1 has; one element per stick without such dims. */
static tesela_status perform_columns(const tesela__need_operator *op, tesela__sticks *may,
                                     tesela_error *err) {
  tesela__operand_axes x, y;
  int32_t rank = op->node->rank;
  bool depthwise = op->node->op == TESELA_OP_CONV2D && op->node->conv.x[1] < 0; /* groups count, too */
  *may = 0;
  if (op->node->n_operands < 2) {
    *may = tesela__stick_bits(rank + 1);
    return TESELA_OK;
  }
  tesela_status status = tesela__operand_axes_of(op->p->graph, op->number, 0, &op->iteration, &x, err);
  if (status == TESELA_OK)
    status = tesela__operand_axes_of(op->p->graph, op->number, 1, &op->iteration, &y, err);
  for (int32_t r = 0; r < rank && status == TESELA_OK; r++)
    if (y.of_label[r] >= 0 && (x.of_label[r] < 0 || depthwise)) *may |= tesela__stick_bit(r);
  if (*may == 0 || depthwise) *may |= tesela__stick_bit(rank);
  return status;
}

/* The stick of a result whose operator does not choose the buffer's candidate. */
static tesela_status perform_under(const tesela__need_operator *op, tesela__operator *made,
                                   tesela_error *err) {
  tesela_propagation *p = op->p;
  const tesela_node *node = op->node;
  const tesela__family *family = tesela__family_of(p, made->buffer);
  tesela__buffer_view view = {.rank = node->rank, .offset = node->offset};
  bool empty = false;
  int32_t number;
  for (int32_t d = 0; d < node->rank; d++) {
    view.shape[d] = node->shape[d];
    view.stride[d] = node->stride[d];
    empty = empty || node->shape[d] == 0;
  }
  if (empty) {
    for (int32_t label = 0; label <= node->rank; label++) made->under[label] = tesela__stick_bits(family->n);
    return TESELA_OK;
  }
  tesela_status status =
      tesela__agreements_of(p, p->family[made->buffer], &view, family->lanes, &number, err);
  if (status != TESELA_OK) return status;
  for (int32_t label = 0; label <= node->rank; label++)
    for (int32_t c = 0; c < family->n; c++) {
      uint8_t how = p->agreements[number].how[c][label];
      if (how == TESELA_AGREE_ALIGNED || (label == node->rank && how == TESELA_AGREE_BROADCAST))
        made->under[label] |= tesela__stick_bit(c);
    }
  return TESELA_OK;
}

/* The labels that the rule for results allows, and the candidates that have them. */
static tesela_status perform_yield(const tesela__need_operator *op, const tesela_rule *rule,
                                   tesela__operator *made, tesela_error *err) {
  tesela_propagation *p = op->p;
  const tesela_node *node = op->node;
  const tesela__family *family = tesela__family_of(p, made->buffer);
  tesela_status status = TESELA_OK;
  made->may = tesela__stick_bits(node->rank + 1);
  made->price = rule->price;
  if (rule->yield == TESELA_YIELD_COLUMN) status = perform_columns(op, &made->may, err);
  if (rule->yield == TESELA_YIELD_SPARSE) made->may = tesela__stick_bit(node->rank);
  made->mode = node->n_operands > 0 && (node->in_place || family->given >= 0);
  if (rule->yield == TESELA_YIELD_DEFAULT && (made->mode || family->preset != family->given))
    made->may = tesela__stick_bit(made->mode ? (node->rank > 0 ? node->rank - 1 : 0)
                                             : tesela__label_of(family, family->preset));
  if (status == TESELA_OK && made->mode) status = perform_under(op, made, err);
  return status;
}

static tesela_status perform_add(tesela__need_operator *op, tesela_error *err) {
  tesela_propagation *p = op->p;
  const tesela_node *node = op->node;
  const tesela_rule *rule = tesela_rule_of_node(&p->target, node, TESELA_RULE_RESULT);
  tesela__operator made = {.node = op->number, .buffer = node->buffer, .first = p->n_edges, .price = -1};
  bool result = p->family[node->buffer] >= 0;
  op->lanes = result ? tesela__family_of(p, node->buffer)->lanes : 0;
  op->survives = rule->yield == TESELA_YIELD_SURVIVES && node->n_operands > 0 && result;
  op->follow_price = rule->price;
  tesela_status status = tesela_graph_iteration(p->graph, op->number, &op->iteration, err);
  if (status == TESELA_OK && result) status = perform_yield(op, rule, &made, err);
  for (int32_t k = 1; k < node->n_operands && !made.same; k++)
    made.same = tesela_rule_of_node(&p->target, node, k)->need == TESELA_NEED_SAME;
  for (int32_t k = 0; k < node->n_operands && status == TESELA_OK && result; k++)
    status = perform_edge(op, k, tesela_rule_of_node(&p->target, node, k), made.same, err);
  made.n = p->n_edges - made.first;
  if (status != TESELA_OK || !result) return status;
  void *items = p->operator_;
  if (!tesela__grow(&p->allocator, &items, sizeof *p->operator_, &p->operator_capacity,
                    (uint64_t)p->n_operators + 1))
    return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for operators");
  p->operator_ = items;
  p->operator_[p->n_operators++] = made;
  return TESELA_OK;
}

/* The sum of all prices must fit the solver's numbers. */
static tesela_status perform_check_sum(const tesela_propagation *p, tesela_error *err) {
  int64_t sum = 0;
  bool fits = true;
  for (int32_t e = 0; e < p->n_edges && fits; e++) {
    const tesela__edge *edge = &p->edge[e];
    int64_t most = tesela__family_of(p, edge->buffer)->most;
    for (int32_t w = edge->first_way; w < edge->first_way + edge->n_ways; w++)
      most = tesela__max(most, p->copyable[p->way[w].copy].most);
    fits = tesela__add(sum, most, &sum) && tesela__add(sum, tesela__max(edge->price, 0), &sum);
  }
  for (int32_t o = 0; o < p->n_operators && fits; o++)
    fits = tesela__add(sum, tesela__max(p->operator_[o].price, 0), &sum);
  for (int32_t h = 0; h < tesela_graph_hint_count(p->graph) && fits; h++)
    if (tesela_graph_hint_at(p->graph, h)->kind == TESELA_HINT_PREFER)
      fits = tesela__add(sum, tesela_graph_hint_at(p->graph, h)->price, &sum);
  return fits && sum < TESELA__COST_MAX
             ? TESELA_OK
             : tesela__fail(err, TESELA_E_LIMIT, -1, "all prices together exceed 2^60 elements");
}

tesela_status tesela__propagate_needs(tesela_propagation *p, tesela_error *err) {
  tesela__need_operator op = {.p = p};
  tesela_status status = TESELA_OK;
  for (int32_t k = 0; k < p->count && status == TESELA_OK; k++) {
    op.node = tesela_graph_node(p->graph, k);
    op.number = k;
    if (op.node->view) continue;
    tesela_error why = {.message = ""};
    status = perform_add(&op, &why);
    if (status != TESELA_OK) return tesela__fail(err, status, -1, "%.40s: %s", op.node->name, why.message);
  }
  if (status == TESELA_OK) status = tesela__propagate_share(p, err);
  return status == TESELA_OK ? perform_check_sum(p, err) : status;
}
