/* SPDX-License-Identifier: Apache-2.0 */
/*
 * propagate_model.c - a program as an assignment problem, and the meaning of a solution.
 *
 *   variable                      states
 *   each buffer                   its candidates
 *   where a value is available    sets of candidates, for values that several operands may have moved and share copies of: all
 *                                 with shared copies, else those of one operator
 *   an operator's label           where its buffer's candidate does not give it: in place, given layouts
 *   where an operand is read      for operators with an operand that must lie in the same way, and shared copies of views
 *
 * An operand is an edge between its operator's label and its buffer. It costs 0 for a compatible candidate, else the cheapest
 * move to one, or the price of unmet soft needs, or infinity. With shared copies the edge from the buffer to where its value is
 * available pays for moves, and operands only require that the value is available in a compatible candidate. propagate_states.c
 * makes the states.
 */
#include "graph/propagate/propagate.h"

enum { MODEL_EFFORT = 500000 };

static tesela__cost model_free(void) { return (tesela__cost){0, 0}; }

/* ---- the variables of a part of a program ---- */

/* May an edge read copies that other edges make? */
static bool model_may_share(const tesela_propagation *p, const tesela__edge *edge) {
  return edge->movable && (p->options.share || edge->holder > 0);
}

/* The number of the value that an edge reads: of its buffer, or count + that of its holder. */
static int32_t model_value_number(const tesela_propagation *p, const tesela__edge *edge) {
  return edge->holder == 0 ? edge->buffer : p->count + edge->holder - 1;
}

static bool model_counts(const tesela__model_part *part, const tesela__edge *edge) {
  return edge->node < part->nodes &&
         (edge->node < part->nodes - 1 || (edge->operand >= part->from && edge->operand < part->to));
}

/* Count the consumers of each value that may share copies, and collect those copies. */
static void model_count_uses(tesela__model *m, const tesela_propagation *p, const tesela__model_part *part) {
  for (int32_t i = 0; i < p->count + p->n_holders; i++) {
    m->uses[i] = 0;
    m->useful[i] = 0;
  }
  for (int32_t i = 0; i < p->n_slots; i++) {
    m->copy_uses[i] = 0;
    m->copy_useful[i] = 0;
  }
  for (int32_t e = 0; e < p->n_edges && !part->apart; e++)
    if (model_counts(part, &p->edge[e])) tesela__model_count_copies(m, p, &p->edge[e]);
  for (int32_t e = 0; e < p->n_edges && part->moves && !part->apart; e++) {
    const tesela__edge *edge = &p->edge[e];
    if (!model_may_share(p, edge) || !model_counts(part, edge)) continue;
    int32_t i = model_value_number(p, edge);
    m->uses[i]++;
    m->useful[i] |= tesela__suits_of_any(edge, &edge->suits);
  }
}

/* The cost of a candidate of a buffer alone. */
static tesela__cost model_own_cost(const tesela_propagation *p, const tesela__model_part *part,
                                   const tesela__operator *op, int32_t candidate) {
  const tesela__family *family = tesela__family_of(p, op->buffer);
  tesela__cost cost = {0, 0};
  if (p->prefer) cost.elements = p->prefer[(size_t)op->buffer * TESELA__CANDIDATES + (size_t)candidate];
  if (part->ties && candidate != family->preset)
    cost.moves = family->stick[candidate] == TESELA_STICK_SPARSE ? 2 : 1;
  int32_t label = tesela__label_of(family, candidate);
  if (!op->mode && label >= 0 && !(op->may >> label & 1))
    cost = op->price < 0 ? TESELA__COST_INFINITE : tesela__cost_add(cost, (tesela__cost){op->price, 0});
  return cost;
}

static bool model_buffer(tesela__model *m, const tesela_propagation *p, const tesela__model_part *part,
                         const tesela__operator *op) {
  const tesela__family *family = tesela__family_of(p, op->buffer);
  tesela__sticks allowed = p->allowed[op->buffer];
  if (!tesela__model_begin(m, &m->of_buffer[op->buffer])) return false;
  for (int32_t c = 0; c < family->n; c++) {
    tesela__cost cost = model_own_cost(p, part, op, c);
    if (!(allowed >> c & 1) || tesela__cost_is_infinite(cost)) continue;
    if (!tesela__model_push(m, c, 0, cost)) return false;
  }
  return tesela__model_end(m);
}

static bool model_link(tesela__model *m, int32_t a, int32_t b) {
  return tesela__assign_edge(m->problem, a, b, m->cost) == TESELA_OK;
}

/* Room for the costs of all pairs of states of two variables. */
static bool model_pairs(tesela__model *m, int32_t a, int32_t b) {
  return tesela__model_costs(m, (size_t)m->variable[a].n * (size_t)m->variable[b].n);
}

static const tesela__model_state *model_states(const tesela__model *m, int32_t variable) {
  return &m->state[m->variable[variable].first];
}

/* The variable of an operator's label, tied to the candidate of its buffer. */
static bool model_mode(tesela__model *m, const tesela_propagation *p, const tesela__operator *op,
                       int32_t number) {
  int32_t rank = tesela_graph_node(p->graph, op->node)->rank, buffer = m->of_buffer[op->buffer];
  if (!tesela__model_begin(m, &m->of_operator[number])) return false;
  for (int32_t label = 0; label <= rank; label++)
    if (op->may >> label & 1 || op->price >= 0)
      if (!tesela__model_push(m, label, 0, (tesela__cost){op->may >> label & 1 ? 0 : op->price, 0}))
        return false;
  int32_t mode = m->of_operator[number];
  if (!tesela__model_end(m) || !model_pairs(m, mode, buffer)) return false;
  int32_t n = m->variable[mode].n, w = m->variable[buffer].n;
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < w; j++)
      m->cost[i * w + j] =
          op->under[model_states(m, mode)[i].candidate] >> model_states(m, buffer)[j].candidate & 1
              ? model_free()
              : TESELA__COST_INFINITE;
  return model_link(m, mode, buffer);
}

/* ---- edges ---- */

/* May an edge share a copy? */
static bool model_is_shared(const tesela__model *m, const tesela_propagation *p, const tesela__edge *edge) {
  return model_may_share(p, edge) && m->uses[model_value_number(p, edge)] > 1;
}

static int32_t model_state_label(const tesela_propagation *p, const tesela__operator *op,
                                 const tesela__model_state *state) {
  return op->mode ? state->candidate : tesela__label_of(tesela__family_of(p, op->buffer), state->candidate);
}

/* An operand between its operator's label and its buffer, or where its value is available. */
static bool model_operand(tesela__model *m, const tesela_propagation *p, const tesela__model_part *part,
                          int32_t number, const tesela__edge *edge) {
  const tesela__operator *op = &p->operator_[number];
  const tesela__family *family = tesela__family_of(p, edge->buffer);
  bool shared = model_is_shared(m, p, edge), moves = part->moves && edge->movable;
  int32_t a = m->of_operator[number], b = m->of_buffer[edge->buffer], best;
  if (shared && !tesela__model_sets(m, p, model_value_number(p, edge), edge->buffer, &b)) return false;
  if (!model_pairs(m, a, b)) return false;
  int32_t n = m->variable[a].n, w = m->variable[b].n;
  for (int32_t i = 0; i < n; i++) {
    int32_t label = model_state_label(p, op, &model_states(m, a)[i]);
    for (int32_t j = 0; j < w; j++) {
      const tesela__model_state *state = &model_states(m, b)[j];
      tesela__cost *cost = &m->cost[i * w + j];
      if (shared) {
        *cost = tesela__suits_had(edge, family, -1, state->copies, label, &best);
        continue;
      }
      *cost = tesela__suits_meet(edge, family, state->candidate, moves, label, &best);
      tesela__place_cheapest_copy(p, edge, label, state->candidate, cost, &best);
    }
  }
  return model_link(m, a, b);
}

/* Allow a place only if it is a copy, or a candidate in which the value is available. */
static bool model_place_had(tesela__model *m, const tesela_propagation *p, const tesela__edge *edge,
                            int32_t place) {
  int32_t n = tesela__family_of(p, edge->buffer)->n, had;
  if (!tesela__model_sets(m, p, model_value_number(p, edge), edge->buffer, &had)) return false;
  if (!model_pairs(m, place, had)) return false;
  for (int32_t i = 0; i < m->variable[place].n; i++)
    for (int32_t j = 0; j < m->variable[had].n; j++)
      m->cost[i * m->variable[had].n + j] =
          i >= n || model_states(m, had)[j].copies >> i & 1 ? model_free() : TESELA__COST_INFINITE;
  return model_link(m, place, had);
}

/* The variable of the place where an operand is read. */
static bool model_place(tesela__model *m, const tesela_propagation *p, const tesela__model_part *part,
                        const tesela__edge *edge, int32_t *place) {
  const tesela__family *family = tesela__family_of(p, edge->buffer);
  int32_t n = tesela__place_count(p, edge), b = m->of_buffer[edge->buffer];
  if (!tesela__model_begin(m, place)) return false;
  for (int32_t i = 0; i < n; i++)
    if (!tesela__model_push(m, i, 0, model_free())) return false;
  if (!tesela__model_end(m) || !model_pairs(m, *place, b)) return false;
  m->of_place[edge - p->edge] = *place;
  bool shared = model_is_shared(m, p, edge), moves = part->moves && edge->movable;
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < m->variable[b].n; j++) {
      int32_t from = model_states(m, b)[j].candidate;
      tesela__cost *cost = &m->cost[i * m->variable[b].n + j];
      if (i >= family->n)
        *cost = tesela__place_copy_cost(m, p, edge, i, from);
      else
        *cost = shared ? model_free() : tesela__suits_reach(family, from, moves, i);
    }
  return model_link(m, *place, b) && (!shared || model_place_had(m, p, edge, *place)) &&
         tesela__model_tie_copies(m, p, edge, *place);
}

/* An operand whose place is a variable: operand 0 if another one must have its layout, or one that can read shared copies. */
static bool model_placed(tesela__model *m, const tesela_propagation *p, const tesela__model_part *part,
                         int32_t number, const tesela__edge *edge) {
  const tesela__operator *op = &p->operator_[number];
  int32_t a = m->of_operator[number], place;
  if (!model_place(m, p, part, edge, &place) || !model_pairs(m, place, a)) return false;
  if (op->same && edge->operand == 0) m->of_first[number] = place;
  for (int32_t i = 0; i < m->variable[place].n; i++)
    for (int32_t j = 0; j < m->variable[a].n; j++) {
      int32_t label = model_state_label(p, op, &model_states(m, a)[j]);
      m->cost[i * m->variable[a].n + j] = tesela__place_cost(p, edge, i, label);
    }
  return model_link(m, place, a);
}

/* An operand that must have the layout of operand 0. */
static bool model_same(tesela__model *m, const tesela_propagation *p, const tesela__model_part *part,
                       int32_t number, const tesela__edge *edge, const tesela__edge *edge_0) {
  int32_t first = m->of_first[number], place;
  if (!model_place(m, p, part, edge, &place) || !model_pairs(m, first, place)) return false;
  int32_t n = m->variable[first].n, w = m->variable[place].n;
  const tesela__cost other = edge->price < 0 ? TESELA__COST_INFINITE : (tesela__cost){edge->price, 0};
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < w; j++)
      m->cost[i * w + j] =
          tesela_device_equal(tesela__place_layout(p, edge_0, i), tesela__place_layout(p, edge, j))
              ? model_free()
              : other;
  return model_link(m, first, place);
}

static bool model_operator(tesela__model *m, const tesela_propagation *p, const tesela__model_part *part,
                           int32_t number) {
  const tesela__operator *op = &p->operator_[number];
  if (op->node == op->buffer && !model_buffer(m, p, part, op)) return false;
  m->of_operator[number] = m->of_buffer[op->buffer];
  if (op->mode && !model_mode(m, p, op, number)) return false;
  for (int32_t e = op->first; e < op->first + op->n; e++) {
    const tesela__edge *edge = &p->edge[e];
    bool same = op->same && edge->need == TESELA_NEED_SAME && edge->operand > 0, done;
    if (!model_counts(part, edge) || (same && m->of_first[number] < 0)) continue;
    if (same)
      done = model_same(m, p, part, number, edge, &p->edge[op->first]);
    else if ((op->same && edge->operand == 0) || tesela__model_shares_copies(m, p, edge) ||
             (edge->n_ways > 0 && model_is_shared(m, p, edge)))
      done = model_placed(m, p, part, number, edge);
    else
      done = model_operand(m, p, part, number, edge);
    if (!done) return false;
  }
  return true;
}

/* ---- the whole ---- */

static int32_t *model_numbers(tesela__model *m, int32_t n) {
  int32_t *items = tesela__alloc(&m->allocator, ((uint64_t)n + 1) * sizeof *items, alignof(int32_t));
  for (int32_t i = 0; items && i < n; i++) items[i] = -1;
  return items;
}

static bool model_start(tesela__model *m, const tesela_propagation *p) {
  int32_t n = p->count + p->n_holders;
  m->problem = tesela__assign_new(&p->allocator);
  m->of_buffer = model_numbers(m, p->count);
  m->of_operator = model_numbers(m, p->n_operators);
  m->of_first = model_numbers(m, p->n_operators);
  m->of_set = model_numbers(m, n);
  m->uses = model_numbers(m, n);
  m->useful = tesela__alloc(&m->allocator, ((uint64_t)n + 1) * sizeof *m->useful, alignof(tesela__sticks));
  m->of_copy = model_numbers(m, p->n_slots);
  m->copy_uses = model_numbers(m, p->n_slots);
  m->of_place = model_numbers(m, p->n_edges);
  uint64_t copies = (uint64_t)p->n_slots + 1;
  m->copy_useful = tesela__alloc(&m->allocator, copies * sizeof *m->copy_useful, alignof(tesela__sticks));
  return m->problem && m->of_buffer && m->of_operator && m->of_first && m->of_set && m->uses && m->useful &&
         m->of_copy && m->copy_uses && m->of_place && m->copy_useful;
}

tesela_status tesela__model_build(tesela__model *model, const tesela_propagation *p,
                                  const tesela__model_part *part, tesela_error *err) {
  *model = (tesela__model){.allocator = p->allocator};
  bool made = model_start(model, p);
  if (made) model_count_uses(model, p, part);
  for (int32_t o = 0; o < p->n_operators && made && p->operator_[o].node < part->nodes; o++)
    made = model_operator(model, p, part, o);
  if (made) model->answer = model_numbers(model, model->n_variables);
  if (made && model->answer) return TESELA_OK;
  return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the assignment of layouts");
}

int64_t tesela__model_effort(const tesela_propagation *p) {
  return p->options.effort > 0 ? p->options.effort : MODEL_EFFORT;
}

tesela_status tesela__model_answer(tesela__model *model, const tesela_propagation *p, const int32_t *fixed,
                                   tesela_error *err) {
  tesela__assign_listen(model->problem, p->options.progress, p->options.progress_user);
  tesela_status status =
      tesela__assign_solve(model->problem, fixed, tesela__model_effort(p), model->answer, &model->result);
  if (status == TESELA_OK) return TESELA_OK;
  if (status == TESELA_E_STOPPED) return tesela__fail_stopped(err);
  return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the assignment of layouts");
}

tesela_status tesela__model_solve(tesela__model *model, const tesela_propagation *p,
                                  const tesela__model_part *part, tesela_error *err) {
  tesela_status status = tesela__model_build(model, p, part, err);
  return status == TESELA_OK ? tesela__model_answer(model, p, NULL, err) : status;
}

void tesela__model_free(tesela__model *model) {
  tesela__assign_free(model->problem);
  void *const items[] = {model->variable,    model->state,    model->cost,      model->of_buffer,
                         model->of_operator, model->of_first, model->of_set,    model->uses,
                         model->useful,      model->of_copy,  model->copy_uses, model->copy_useful,
                         model->of_place,    model->answer};
  for (size_t i = 0; i < sizeof items / sizeof *items; i++) tesela__release(&model->allocator, items[i]);
  *model = (tesela__model){.allocator = model->allocator};
}

/* ---- answers ---- */

static const tesela__model_state *model_chosen(const tesela__model *m, int32_t variable) {
  return &model_states(m, variable)[m->answer[variable]];
}

int32_t tesela__model_candidate(const tesela__model *model, int32_t buffer) {
  return model->of_buffer[buffer] < 0 ? -1 : model_chosen(model, model->of_buffer[buffer])->candidate;
}

int32_t tesela__model_label(const tesela__model *model, const tesela_propagation *p, int32_t op) {
  return model_state_label(p, &p->operator_[op], model_chosen(model, model->of_operator[op]));
}

int32_t tesela__model_target(const tesela__model *model, const tesela_propagation *p, int32_t op,
                             int32_t edge, bool moves) {
  const tesela__edge *e = &p->edge[edge];
  const tesela__family *family = tesela__family_of(p, e->buffer);
  if (model->of_place[edge] >= 0) return model_chosen(model, model->of_place[edge])->candidate;
  int32_t label = tesela__model_label(model, p, op), from = tesela__model_candidate(model, e->buffer);
  int32_t had = model_is_shared(model, p, e) ? model->of_set[model_value_number(p, e)] : -1, best = from;
  if (had >= 0) {
    (void)tesela__suits_had(e, family, from, model_chosen(model, had)->copies, label, &best);
    return best;
  }
  tesela__cost cost = tesela__suits_meet(e, family, from, moves && e->movable, label, &best);
  tesela__place_cheapest_copy(p, e, label, from, &cost, &best);
  return best;
}
