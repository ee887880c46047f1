/* SPDX-License-Identifier: Apache-2.0 */
/*
 * propagate_solve.c - layouts for a program: solve it, or find the first operator without a layout; answer queries.
 *
 * Without an answer, prefixes of the program are tried: more nodes only add needs, so a binary search finds the shortest prefix
 * without an answer.
 */
#include "graph/propagate/propagate.h"

enum { PROPAGATE_TIES = 1 << 18, PROPAGATE_EASY = 1000, PROPAGATE_BLAME = 64 };

/* ---- life ---- */

void tesela_propagation_destroy(tesela_propagation *p) {
  if (!p) return;
  tesela_allocator allocator = p->allocator;
  for (int32_t f = 0; f < p->n_families; f++) {
    tesela__release(&allocator, p->families[f].layout);
    tesela__release(&allocator, p->families[f].price);
  }
  for (int32_t c = 0; c < p->n_copyables; c++) tesela__release(&allocator, p->copyable[c].price);
  void *const items[] = {p->family,
                         p->allowed,
                         p->prefer,
                         p->families,
                         p->agreements,
                         p->edge,
                         p->operator_,
                         p->holder,
                         p->copyable,
                         p->way,
                         p->last_copyable,
                         p->family_slots.slot,
                         p->agreement_slots.slot,
                         p->scratch,
                         p->chosen,
                         p->best,
                         p->move,
                         p->edge_move};
  for (size_t i = 0; i < sizeof items / sizeof *items; i++) tesela__release(&allocator, items[i]);
  tesela__release(&allocator, p);
}

static void *propagate_array(const tesela_propagation *p, size_t size, size_t align) {
  return tesela__alloc(&p->allocator, ((uint64_t)p->count + 1) * size, align);
}

static tesela_propagation *propagate_new(const tesela_graph *graph, const tesela_target *target,
                                         const tesela_propagate_options *options) {
  tesela_allocator allocator = tesela__allocator(options->allocator);
  tesela_propagation *p = tesela__alloc(&allocator, sizeof *p, alignof(tesela_propagation));
  if (!p) return NULL;
  *p = (tesela_propagation){.allocator = allocator,
                            .graph = graph,
                            .target = *target,
                            .options = *options,
                            .count = tesela_graph_count(graph)};
  p->family = propagate_array(p, sizeof *p->family, alignof(int32_t));
  p->allowed = propagate_array(p, sizeof *p->allowed, alignof(tesela__sticks));
  p->chosen = propagate_array(p, sizeof *p->chosen, alignof(int32_t));
  p->best = propagate_array(p, sizeof *p->best, alignof(tesela__sticks));
  p->scratch = tesela__alloc(&allocator, sizeof *p->scratch, alignof(tesela_device_view));
  if (p->family && p->allowed && p->chosen && p->best && p->scratch) {
    for (int32_t k = 0; k < p->count; k++) {
      p->family[k] = p->chosen[k] = -1;
      p->best[k] = 0;
    }
    return p;
  }
  tesela_propagation_destroy(p);
  return NULL;
}

/* ---- moves ---- */

/* The earlier move that copied the same value, or the same view of it, for an equal operand or, with shared copies, for any
 * operand; or -1. */
static int32_t propagate_copy_of(const tesela_propagation *p, const tesela__edge *edge, const int32_t *last,
                                 const int32_t *before, const int32_t *edge_of, const tesela_move *move) {
  if (!p->options.share && edge->holder == 0) return -1;
  for (int32_t k = last[edge->buffer]; k >= 0 && (p->options.share || p->move[k].node == edge->node);
       k = before[k])
    if (p->move[k].shared < 0 && p->move[k].to == move->to && p->move[k].view == move->view &&
        p->edge[edge_of[k]].value == edge->value && p->edge[edge_of[k]].holder == edge->holder)
      return k;
  return -1;
}

tesela_move tesela__propagate_move(const tesela_propagation *p, const tesela__edge *edge, int32_t from,
                                   int32_t place) {
  const tesela__family *family = tesela__family_of(p, edge->buffer), *copies = family;
  tesela__place at = tesela__place_at(p, edge, place);
  const tesela__copyable *copy = at.way < 0 ? NULL : &p->copyable[p->way[at.way].copy];
  if (copy) copies = &p->families[copy->family];
  const int64_t *price = copy ? copy->price : family->price;
  return (tesela_move){.node = edge->node,
                       .operand = edge->operand,
                       .buffer = edge->buffer,
                       .from = family->stick[from],
                       .to = copies->stick[at.candidate],
                       .price = price[from * copies->n + at.candidate],
                       .shared = -1,
                       .view = copy ? copy->node : -1};
}

static void propagate_count(tesela_propagate_facts *facts, const tesela_move *move) {
  *(move->view < 0 ? &facts->moved : &facts->copied) += move->price;
  *(move->view < 0 ? &facts->n_moves : &facts->n_copies) += 1;
}

/* List the moves; *saved is the price of moves whose copy exists already. */
static tesela_status propagate_moves(tesela_propagation *p, const tesela__model *model, int64_t *saved,
                                     tesela_error *err) {
  bool moves = p->options.mode == TESELA_PROPAGATE_AUTO;
  uint64_t room = (uint64_t)p->n_edges + 1;
  int32_t *last = propagate_array(p, sizeof *last, alignof(int32_t));
  int32_t *before = tesela__alloc(&p->allocator, room * sizeof *before, alignof(int32_t));
  int32_t *edge_of = tesela__alloc(&p->allocator, room * sizeof *edge_of, alignof(int32_t));
  p->edge_move = tesela__alloc(&p->allocator, room * sizeof *p->edge_move, alignof(int32_t));
  p->move = tesela__alloc(&p->allocator, room * sizeof *p->move, alignof(tesela_move));
  bool made = last && before && edge_of && p->edge_move && p->move;
  for (int32_t k = 0; made && k < p->count; k++) last[k] = -1;
  for (int32_t o = 0; made && o < p->n_operators; o++)
    for (int32_t e = p->operator_[o].first; e < p->operator_[o].first + p->operator_[o].n; e++) {
      const tesela__edge *edge = &p->edge[e];
      int32_t place = tesela__model_target(model, p, o, e, moves);
      p->edge_move[e] = -1;
      if (place == p->chosen[edge->buffer]) continue;
      tesela_move move = tesela__propagate_move(p, edge, p->chosen[edge->buffer], place);
      move.shared = propagate_copy_of(p, edge, last, before, edge_of, &move);
      if (move.shared < 0) {
        propagate_count(&p->facts, &move);
      } else {
        *saved += move.price;
        move.price = 0;
      }
      p->edge_move[e] = p->n_moves;
      edge_of[p->n_moves] = e;
      before[p->n_moves] = last[edge->buffer];
      last[edge->buffer] = p->n_moves;
      p->move[p->n_moves++] = move;
    }
  tesela__release(&p->allocator, last);
  tesela__release(&p->allocator, before);
  tesela__release(&p->allocator, edge_of);
  return made ? TESELA_OK : tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for moves");
}

/* ---- an answer ---- */

/* Is the cost the least, apart from preferences between equal costs? */
static bool propagate_proven(const tesela__model *model) {
  const tesela__assigned *result = &model->result;
  if (model->capped) return false;
  return result->proven ||
         (result->feasible && result->bound.elements == result->cost.elements &&
          result->bound.moves / TESELA__MOVE_UNIT >= result->cost.moves / TESELA__MOVE_UNIT);
}

static tesela_status propagate_accept(tesela_propagation *p, const tesela__model *model, bool apart,
                                      tesela_error *err) {
  int64_t saved = 0;
  p->facts.ok = true;
  p->facts.proven = propagate_proven(model);
  p->facts.cost = model->result.cost.elements;
  p->facts.bound = model->capped ? 0 : model->result.bound.elements;
  p->facts.core = model->result.core;
  for (int32_t k = 0; k < p->count; k++) p->chosen[k] = tesela__model_candidate(model, k);
  tesela_status status = propagate_moves(p, model, &saved, err);
  if (apart) p->facts.cost -= saved;
  return status;
}

/* Solve the whole program. Preferences between equal costs come second, if that is easy. */
static tesela_status propagate_solve(tesela_propagation *p, tesela_error *err) {
  tesela__model model, tied;
  tesela__model_part part = tesela__model_whole(p);
  tesela_status status = tesela__model_solve(&model, p, &part, err);
  part.ties = p->n_operators < PROPAGATE_TIES && model.result.feasible && propagate_proven(&model) &&
              model.result.effort < PROPAGATE_EASY;
  if (status == TESELA_OK && part.ties) {
    status = tesela__model_solve(&tied, p, &part, err);
    bool same = status == TESELA_OK && tied.result.feasible &&
                tied.result.cost.elements == model.result.cost.elements &&
                tied.result.cost.moves / TESELA__MOVE_UNIT == model.result.cost.moves / TESELA__MOVE_UNIT;
    if (same) {
      tied.result.bound = model.result.bound;
      tied.result.core = model.result.core;
      tied.result.proven = true;
      tesela__model keep = model;
      model = tied;
      tied = keep;
    }
    tesela__model_free(&tied);
  }
  if (status == TESELA_OK && model.capped &&
      !model.result.feasible) { /* a solution may need more copies than a state has */
    tesela__model_free(&model);
    part.apart = true;
    status = tesela__model_solve(&model, p, &part, err);
    if (model.result.feasible) model.capped = true;
  }
  if (status == TESELA_OK && model.result.feasible) status = propagate_accept(p, &model, part.apart, err);
  if (status == TESELA_OK && !model.result.feasible) p->facts.proven = model.result.proven && !model.capped;
  tesela__model_free(&model);
  return status;
}

/* ---- no answer ---- */

static tesela_status propagate_feasible(const tesela_propagation *p, int32_t nodes, int32_t from, int32_t to,
                                        bool *feasible, tesela_error *err) {
  tesela__model model;
  tesela__model_part part = tesela__model_whole(p);
  part.nodes = nodes;
  part.from = from;
  part.to = to;
  part.apart = true; /* feasibility does not depend on who pays */
  tesela_status status = tesela__model_solve(&model, p, &part, err);
  *feasible = status == TESELA_OK && model.result.feasible;
  tesela__model_free(&model);
  return status;
}

static tesela_status propagate_blame(tesela_propagation *p, tesela_error *err) {
  int32_t good = 0, bad = p->count;
  bool feasible;
  while (bad - good > 1) {
    int32_t middle = good + (bad - good) / 2;
    tesela_status status = propagate_feasible(p, middle, 0, INT32_MAX, &feasible, err);
    if (status != TESELA_OK) return status;
    if (feasible)
      good = middle;
    else
      bad = middle;
  }
  p->facts.error_node = bad - 1;
  int32_t n = tesela_graph_node(p->graph, bad - 1)->n_operands;
  for (int32_t k = 0; k < n && n <= PROPAGATE_BLAME && p->facts.error_operand < 0; k++) {
    tesela_status status = propagate_feasible(p, bad, k, k + 1, &feasible, err);
    if (status != TESELA_OK) return status;
    if (!feasible) p->facts.error_operand = k;
  }
  if (p->facts.error_operand < 0) return TESELA_OK;
  tesela_status status =
      propagate_feasible(p, bad, 0, 0, &feasible, err); /* does the result alone have no layout? */
  if (status == TESELA_OK && !feasible) p->facts.error_operand = -1;
  return status;
}

/* ---- questions ---- */

/* An element of a fallback's results is part of that fallback, not an operator. */
static bool propagate_element(const tesela_node *node) {
  return node->op == TESELA_OP_FALLBACK && node->opcode && strcmp(node->opcode, "get-tuple-element") == 0;
}

bool tesela__propagate_unknown(const tesela_propagation *p, const tesela_node *node) {
  return node->op == TESELA_OP_FALLBACK && !propagate_element(node) &&
         tesela_rule_of_node(&p->target, node, TESELA_RULE_RESULT)->opcode[0] == '\0';
}

/* Count the operators that were examined and those that were not. */
static void propagate_looked_at(tesela_propagation *p) {
  for (int32_t k = 0; k < p->count; k++) {
    const tesela_node *node = tesela_graph_node(p->graph, k);
    bool given = node->op == TESELA_OP_INPUT || node->op == TESELA_OP_CONSTANT;
    if (tesela__propagate_unknown(p, node))
      p->facts.unknown++;
    else if (!node->view && !given && !propagate_element(node))
      p->facts.operators++;
  }
}

tesela_status tesela_graph_propagate(tesela_propagation **out, const tesela_graph *graph,
                                     const tesela_target *target, const tesela_propagate_options *options,
                                     tesela_error *err) {
  TESELA__NEED(err, out, graph, target);
  TESELA__NEED_CLEAR(err, options);
  static const tesela_propagate_options none = {.mode = TESELA_PROPAGATE_STRICT};
  if (!options) options = &none;
  tesela_status status = tesela_target_check(target, err);
  if (status != TESELA_OK) return status;
  if (options->mode != TESELA_PROPAGATE_STRICT && options->mode != TESELA_PROPAGATE_AUTO)
    return tesela__fail(err, TESELA_E_RANGE, -1, "unknown mode of propagation %d", (int)options->mode);
  if (options->effort < 0)
    return tesela__fail(err, TESELA_E_RANGE, -1, "an effort of %" PRId64 "; expected 0 or more",
                        options->effort);
  tesela_propagation *p = propagate_new(graph, target, options);
  if (!p) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for a propagation");
  p->facts.error_node = p->facts.error_operand = -1;
  status = tesela__propagate_families(p, err);
  if (status == TESELA_OK) status = tesela__propagate_needs(p, err);
  for (int32_t k = 0; k < p->count; k++) p->facts.buffers += p->family[k] >= 0;
  propagate_looked_at(p);
  if (status == TESELA_OK) status = propagate_solve(p, err);
  if (status == TESELA_OK && !p->facts.ok) status = propagate_blame(p, err);
  if (status == TESELA_OK && p->facts.ok && p->options.all_sticks) status = tesela__propagate_outputs(p, err);
  p->options.progress = NULL; /* of this call only; queries come later */
  if (status == TESELA_OK)
    *out = p;
  else
    tesela_propagation_destroy(p);
  return status;
}

tesela_propagate_facts tesela_propagation_facts_of(const tesela_propagation *p) {
  if (!p) return (tesela_propagate_facts){0};
  return p->facts;
}

tesela_status tesela_propagation_stick(const tesela_propagation *p, int32_t node, int32_t *stick,
                                       tesela_error *err) {
  TESELA__NEED(err, p, stick);
  if (node < 0 || node >= p->count)
    return tesela__fail(err, TESELA_E_RANGE, -1, "node is %" PRId32 "; expected 0 to %" PRId32, node,
                        p->count - 1);
  const tesela_node *what = tesela_graph_node(p->graph, node);
  if (!p->facts.ok || p->chosen[what->buffer] < 0)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "%.40s has no layout: %s", what->name,
                        p->facts.ok ? "it is not a tensor" : "propagation found none for the program");
  *stick = tesela__family_of(p, what->buffer)->stick[p->chosen[what->buffer]];
  return TESELA_OK;
}

int32_t tesela_propagation_sticks(const tesela_propagation *p, int32_t node, int32_t room, int32_t *sticks) {
  if (!p || (room > 0 && !sticks)) return 0;
  if (node < 0 || node >= p->count) return 0;
  int32_t buffer = tesela_graph_node(p->graph, node)->buffer, n = 0;
  if (p->family[buffer] < 0) return 0;
  const tesela__family *family = tesela__family_of(p, buffer);
  for (int32_t stick = -2; stick < family->rank;
       stick++) /* -2: a given layout with several dims in its sticks */
    for (int32_t c = 0; c < family->n; c++)
      if (p->best[buffer] >> c & 1 && family->stick[c] == stick) {
        if (n < room) sticks[n] = stick;
        n++;
      }
  return n;
}

const tesela_move *tesela_propagation_move(const tesela_propagation *p, int32_t k) {
  return p && k >= 0 && k < p->n_moves ? &p->move[k] : NULL;
}
