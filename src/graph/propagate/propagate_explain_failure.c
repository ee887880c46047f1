/* SPDX-License-Identifier: Apache-2.0 */
/*
 * propagate_explain_failure.c - why an operator has no layout.
 *
 * The nodes before it are solved alone; the text shows its operands in that solution and the moves that would help. If no move
 * of its own operands helps, the program up to it is solved with moves anywhere.
 */
#include "graph/propagate/propagate.h"

static const char *const explain_yields[] = {
#define TESELA__ROW(symbol, value, name, text) [value] = text,
    TESELA_YIELD_MAP(TESELA__ROW)
#undef TESELA__ROW
};

static const char *const explain_needs[] = {
#define TESELA__ROW(symbol, value, name, text) [value] = text,
    TESELA_NEED_MAP(TESELA__ROW)
#undef TESELA__ROW
};

/* The lanes of an operand whose buffer is in a candidate. */
static void explain_lanes(tesela__explain *x, const tesela_node *node, const tesela_device_layout *layout) {
  tesela_device_view seen, *view = &seen;
  tesela_host_view host = {.rank = node->rank, .offset = node->offset};
  for (int32_t d = 0; d < node->rank; d++) {
    host.shape[d] = node->shape[d];
    host.stride[d] = node->stride[d];
  }
  if (tesela_device_view_of(view, layout, NULL, &host, NULL) != TESELA_OK ||
      view->lane == TESELA_LANE_UNKNOWN)
    tesela__puts(&x->sink, "lanes could not be determined, which counts as illegal");
  else if (view->lane == TESELA_LANE_MIXED)
    tesela__puts(&x->sink, "lanes along no dim");
  else if (view->lane_dim < 0)
    tesela__putf(&x->sink, "always lane %" PRId64, view->lane == TESELA_LANE_OFFSET ? view->lane_offset : 0);
  else if (view->lane == TESELA_LANE_OFFSET)
    tesela__putf(&x->sink, "lanes along dim %" PRId32 " from lane %" PRId64 " on", view->lane_dim,
                 view->lane_offset);
  else
    tesela__putf(&x->sink, "lanes along dim %" PRId32, view->lane_dim);
}

static void explain_operand(tesela__explain *x, const tesela_node *op, int32_t k) {
  char type[160];
  const tesela_node *node = tesela_graph_node(x->p->graph, op->operand[k]);
  const tesela_node *buffer = tesela_graph_node(x->p->graph, node->buffer);
  size_t length = tesela__explain_type(node, type);
  tesela__putf(&x->sink, "  operand %" PRId32 "  ", k);
  tesela__explain_padded(&x->sink, node->name, strlen(node->name), x->name_width);
  tesela__puts(&x->sink, "  ");
  tesela__explain_padded(&x->sink, type, length, x->type_width);
  int32_t c = x->p->family[node->buffer] < 0 ? -1 : tesela__model_candidate(&x->before, node->buffer);
  if (c >= 0) {
    const tesela__family *family = tesela__family_of(x->p, node->buffer);
    tesela__puts(&x->sink, "  ");
    explain_lanes(x, node, &family->layout[c]);
    tesela__puts(&x->sink, "   (");
    if (buffer != node) {
      tesela__explain_type(buffer, type);
      tesela__puts(&x->sink, "buffer ");
      tesela__puts(&x->sink, buffer->name);
      tesela__puts(&x->sink, " ");
      tesela__puts(&x->sink, type);
      tesela__puts(&x->sink, ", ");
    }
    tesela__explain_stick(&x->sink, family->stick[c]);
    tesela__puts(&x->sink, ")");
  }
  tesela__putc(&x->sink, '\n');
}

/* Operands that cannot meet a need because the operator reads them in an unknown way. */
static void explain_apart(tesela__explain *x, const tesela__operator *op) {
  const tesela_node *node = tesela_graph_node(x->p->graph, op->node);
  bool follows = tesela_rule_of_node(&x->p->target, node, TESELA_RULE_RESULT)->yield == TESELA_YIELD_SURVIVES;
  for (const tesela__edge *edge = &x->p->edge[op->first]; edge < &x->p->edge[op->first + op->n]; edge++)
    if (tesela__operand_apart(x->p->graph, node, edge->operand) &&
        (tesela__need_follows(edge->need) || (follows && edge->operand == 0)))
      tesela__putf(&x->sink,
                   "  operand %" PRId32 " differs in shape from the result: %.60s does not tell how their "
                   "dims correspond, so it cannot meet this\n",
                   edge->operand, node->opcode ? node->opcode : "an unknown operator");
}

/* The effective need of an operand: a depthwise convolution has neither contracted dims nor a column. */
static tesela_need explain_need_of(const tesela__explain *x, const tesela__edge *edge) {
  const tesela_node *node = tesela_graph_node(x->p->graph, edge->node);
  bool depthwise = node->op == TESELA_OP_CONV2D && node->conv.x[1] < 0;
  if (depthwise && (edge->need == TESELA_NEED_CONTRACTED || edge->need == TESELA_NEED_COLUMN))
    return TESELA_NEED_RESULT;
  return edge->need;
}

/* The need of each operand; one line if all are equal. */
static void explain_needed(tesela__explain *x, const tesela__operator *op) {
  const tesela__edge *edge = &x->p->edge[op->first];
  bool all = true;
  for (int32_t e = 1; e < op->n; e++) all = all && edge[e].need == edge[0].need;
  for (int32_t e = 0; e < op->n; e++) {
    if (all && e > 0) break;
    if (all && op->n > 1)
      tesela__puts(&x->sink, "  each operand ");
    else
      tesela__putf(&x->sink, "  operand %" PRId32 " ", edge[e].operand);
    tesela__puts(&x->sink, explain_needs[explain_need_of(x, &edge[e])]);
    tesela__putc(&x->sink, '\n');
  }
  for (int32_t e = 0; e < op->n; e++)
    if (edge[e].unknown)
      tesela__putf(&x->sink,
                   "  operand %" PRId32
                   ": some layouts could not be judged within a fixed effort and count as illegal\n",
                   edge[e].operand);
  explain_apart(x, op);
}

/* May the result have its stick at a label, according to what is known? */
static bool explain_label(const tesela__explain *x, const tesela__operator *op, int32_t label) {
  const tesela__family *family = tesela__family_of(x->p, op->buffer);
  if (!(op->may >> label & 1) && op->price < 0) return false;
  if (op->mode) {
    int32_t c = op->node == op->buffer ? -1 : tesela__model_candidate(&x->before, op->buffer);
    return op->under[label] & (c >= 0 ? tesela__stick_bit(c) : x->p->allowed[op->buffer]);
  }
  for (int32_t c = 0; c < family->n; c++)
    if (x->p->allowed[op->buffer] >> c & 1 && tesela__label_of(family, c) == label) return true;
  return false;
}

/* Print the result's rule if it and the requirements on the buffer exclude every layout, or if the target has no layout. */
static void explain_result(tesela__explain *x, const tesela_node *node, const tesela__operator *op) {
  for (int32_t label = 0; label <= node->rank; label++)
    if (explain_label(x, op, label)) return;
  const tesela_rule *rule = tesela_rule_of_node(&x->p->target, node, TESELA_RULE_RESULT);
  const tesela__family *family = tesela__family_of(x->p, op->buffer);
  bool has = op->mode || family->given >= 0;
  for (int32_t c = 0; c < family->n && !has; c++) has = op->may >> tesela__label_of(family, c) & 1;
  tesela__puts(&x->sink, "  result: ");
  tesela__puts(&x->sink, explain_yields[rule->yield]);
  tesela__puts(&x->sink, has ? "; hints, or a layout that is set or written to, exclude all of these\n"
                             : "; the target has no such layout for it\n");
}

/* The destination of the cheapest move that makes a label possible for an operand, or -1; its own place, with 0 elements, if no
 * move is needed. */
static int32_t explain_way(const tesela__explain *x, const tesela__edge *edge, int32_t label,
                           int64_t *price) {
  const tesela__family *family = tesela__family_of(x->p, edge->buffer);
  int32_t from = tesela__model_candidate(&x->before, edge->buffer), best = -1;
  *price = 0;
  if (!tesela__cost_is_infinite(tesela__suits_cost(edge, &edge->suits, label, from))) return from;
  for (int32_t to = 0; to < family->n && edge->movable; to++) {
    int64_t cost = family->price[from * family->n + to];
    bool useful = tesela__suits_useful(edge, &edge->suits, label) >> to & 1;
    if (!useful || cost < 0 || (best >= 0 && cost >= *price)) continue;
    best = to;
    *price = cost;
  }
  return best;
}

static void explain_move(tesela__explain *x, int32_t buffer, int32_t stick, int64_t price) {
  tesela__puts(&x->sink, tesela_graph_node(x->p->graph, buffer)->name);
  tesela__puts(&x->sink, " to ");
  tesela__explain_stick(&x->sink, stick);
  tesela__putf(&x->sink, " (%" PRId64 " elements)", price);
}

/* The moves before an operator that a label needs. */
typedef struct explain_plan {
  int32_t label, moves; /* moves -1: not possible */
  int64_t price;
  int32_t edge, to; /* of the last move */
} explain_plan;

static explain_plan explain_plan_for(const tesela__explain *x, const tesela__operator *op, int32_t label) {
  explain_plan plan = {label, -1, 0, -1, -1};
  if (op->same || !explain_label(x, op, label)) return plan;
  plan.moves = 0;
  for (int32_t e = op->first; e < op->first + op->n; e++) {
    int64_t price;
    int32_t to = explain_way(x, &x->p->edge[e], label, &price);
    if (to < 0) return (explain_plan){label, -1, 0, -1, -1};
    if (to == tesela__model_candidate(&x->before, x->p->edge[e].buffer)) continue;
    plan.moves++;
    plan.price += price;
    plan.edge = e;
    plan.to = to;
  }
  return plan;
}

static void explain_plan_moves(tesela__explain *x, const tesela__operator *op, const explain_plan *plan,
                               const char *lead) {
  for (int32_t e = op->first; e < op->first + op->n; e++) {
    const tesela__edge *edge = &x->p->edge[e];
    int64_t price;
    int32_t to = explain_way(x, edge, plan->label, &price);
    if (to == tesela__model_candidate(&x->before, edge->buffer)) continue;
    tesela__puts(&x->sink, lead);
    explain_move(x, edge->buffer, tesela__family_of(x->p, edge->buffer)->stick[to], price);
    lead = " and ";
  }
}

/* Moves of the operator's own operands: every solution with one move, else the cheapest. false: no solution. */
static bool explain_own_moves(tesela__explain *x, const tesela__operator *op) {
  int32_t rank = tesela_graph_node(x->p->graph, op->node)->rank, n = 0;
  explain_plan best = {.moves = -1}, said[TESELA__LABELS];
  for (int32_t label = 0; label <= rank; label++) {
    explain_plan plan = explain_plan_for(x, op, label);
    if (plan.moves < 1) continue;
    bool better = plan.price < best.price || (plan.price == best.price && plan.moves < best.moves);
    if (best.moves < 0 || better) best = plan;
    bool again = plan.moves > 1;
    for (int32_t i = 0; i < n; i++) again = again || (said[i].edge == plan.edge && said[i].to == plan.to);
    if (again) continue;
    explain_plan_moves(x, op, &plan, n == 0 ? "  would fix it: move " : ", or ");
    said[n++] = plan;
  }
  if (best.moves < 0) return false;
  if (n == 0) explain_plan_moves(x, op, &best, "  would fix it: move ");
  tesela__putc(&x->sink, '\n');
  return true;
}

/* Options that might help but are off. */
static void explain_off(tesela__explain *x, const tesela_propagate_options *options) {
  bool moves = !options->spread || !options->compact;
  if (moves || !options->copies) tesela__puts(&x->sink, "; so may ");
  if (!options->copies) tesela__puts(&x->sink, moves ? "copies of views, and " : "copies of views");
  if (moves)
    tesela__putf(&x->sink, "moves %s one element per stick",
                 options->spread    ? "from"
                 : options->compact ? "to"
                                    : "to and from");
  tesela__puts(&x->sink, moves || !options->copies ? ", which are off\n" : "\n");
}

/* Moves anywhere before the operator. */
static tesela_status explain_far_moves(tesela__explain *x, const tesela__operator *op, tesela_error *err) {
  const tesela_propagation *p = x->p;
  tesela__model model;
  tesela__model_part part = tesela__model_whole(p);
  part.nodes = op->node + 1;
  part.moves = true;
  part.ties = true;
  tesela_status status = tesela__model_solve(&model, p, &part, err);
  int32_t said = 0;
  bool copied = false;
  if (status == TESELA_OK && !model.result.feasible) {
    tesela__puts(&x->sink, "  no moves of stick dims fix it: a clone, or another layout of an input, may");
    explain_off(x, &p->options);
  }
  for (int32_t o = 0; status == TESELA_OK && model.result.feasible && o <= x->op; o++)
    for (int32_t e = p->operator_[o].first; e < p->operator_[o].first + p->operator_[o].n; e++) {
      const tesela__edge *edge = &p->edge[e];
      int32_t from = tesela__model_candidate(&model, edge->buffer),
              place = tesela__model_target(&model, p, o, e, true);
      if (place == from) continue;
      tesela_move move = tesela__propagate_move(p, edge, from, place);
      bool copy = move.view >= 0;
      tesela__puts(&x->sink, said++ == 0 ? "  would fix it: " : ", and ");
      tesela__puts(&x->sink, copy ? "copy " : said == 1 || copied ? "move " : "");
      copied = copy;
      explain_move(x, move.view >= 0 ? move.view : move.buffer, move.to, move.price);
      tesela__puts(&x->sink, " before ");
      tesela__puts(&x->sink, tesela_graph_node(p->graph, edge->node)->name);
    }
  if (said > 0) tesela__putc(&x->sink, '\n');
  tesela__model_free(&model);
  return status;
}

static void explain_heading(tesela__explain *x, const tesela_node *op) {
  int32_t k = x->p->facts.error_operand;
  tesela__puts(&x->sink, op->name);
  if (k >= 0)
    tesela__putf(&x->sink, ": no layout of the result is compatible with operand %" PRId32 "\n", k);
  else if (op->n_operands > 1)
    tesela__puts(&x->sink, ": no layout is compatible with all operands\n");
  else
    tesela__puts(&x->sink, ": no compatible layout\n");
}

tesela_status tesela__explain_failure(tesela__explain *x, tesela_error *err) {
  const tesela_propagation *p = x->p;
  const tesela_node *op = tesela_graph_node(p->graph, p->facts.error_node);
  tesela__model_part part = tesela__model_whole(p);
  part.nodes = p->facts.error_node;
  part.ties = true;
  tesela_status status = tesela__model_solve(&x->before, p, &part, err);
  if (status != TESELA_OK) return status;
  for (x->op = 0; p->operator_[x->op].node != p->facts.error_node;) x->op++;
  const tesela__operator *failing = &p->operator_[x->op];
  for (int32_t k = 0; k < op->n_operands; k++) {
    char type[160];
    const tesela_node *node = tesela_graph_node(p->graph, op->operand[k]);
    size_t name = strlen(node->name), width = tesela__explain_type(node, type);
    if (name > x->name_width) x->name_width = name;
    if (width > x->type_width) x->type_width = width;
  }
  explain_heading(x, op);
  for (int32_t k = 0; k < op->n_operands; k++) explain_operand(x, op, k);
  explain_needed(x, failing);
  explain_result(x, op, failing);
  for (int32_t e = failing->first; e < failing->first + failing->n; e++)
    if (!p->edge[e].movable)
      tesela__putf(&x->sink, "  operand %" PRId32 " cannot be moved: %s\n", p->edge[e].operand,
                   op->in_place && p->edge[e].operand == 0 ? "it is written in place"
                                                           : "a hint, or only a part of its buffer");
  if (!p->facts.proven) tesela__puts(&x->sink, "  the search ended before this was proven\n");
  return explain_own_moves(x, failing) ? TESELA_OK : explain_far_moves(x, failing, err);
}
