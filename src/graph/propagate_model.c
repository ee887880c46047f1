/* SPDX-License-Identifier: Apache-2.0 */
/*
 * propagate_model.c - a program as an assignment problem, and what a solution says.
 *
 *   variable                      states
 *   each buffer                   its candidates; with shared copies, each with every set of copies that may pay
 *   an operator's label           where it is not said by its buffer's candidate: in place, given layouts
 *   where operand 0 lies          for operators with an operand that must lie in the same way
 *   a later value of a buffer     candidate and copies, where copies are shared and the buffer was overwritten
 *
 * An operand is an edge between its operator's label and its buffer: 0 if the candidate is legal, else the cheapest move to
 * one that is, the price of a soft need, or infinite. With shared copies the states pay, and edges only ask for a copy.
 * propagate_states.c makes the states.
 */
#include "graph/propagate.h"

enum { MODEL_EFFORT = 500000 };

static tesela__cost model_free(void) { return (tesela__cost){0, 0}; }

/* ---- the variables of a part of a program ---- */

static bool model_shares(const tesela_propagation *p, const tesela__model_part *part) {
  return part->moves && p->options.share && !part->apart;
}

/* The copies an edge uses: number of its buffer, or count + number of its holder. */
static int32_t model_holder_number(const tesela_propagation *p, const tesela__edge *edge) {
  return edge->holder == 0 ? edge->buffer : p->count + edge->holder - 1;
}

static bool model_counts(const tesela__model_part *part, const tesela__edge *edge) {
  return edge->node < part->nodes &&
         (edge->node < part->nodes - 1 || (edge->operand >= part->from && edge->operand < part->to));
}

/* Which values have consumers that may share copies, and which copies. */
static void model_count_uses(tesela__model *m, const tesela_propagation *p, const tesela__model_part *part) {
  for (int32_t i = 0; i < p->count + p->n_holders; i++) {
    m->uses[i] = 0;
    m->useful[i] = 0;
  }
  for (int32_t e = 0; e < p->n_edges && model_shares(p, part); e++) {
    const tesela__edge *edge = &p->edge[e];
    if (!edge->movable || !model_counts(part, edge)) continue;
    int32_t i = model_holder_number(p, edge);
    m->uses[i]++;
    for (int32_t label = 0; label < TESELA__LABELS; label++) m->useful[i] |= edge->legal[label];
  }
}

/* What a candidate of a buffer costs by itself. */
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
  if (part->buffer == op->buffer) allowed &= part->allowed;
  bool shares = m->uses[op->buffer] > 1;
  tesela__sticks useful = m->useful[op->buffer];
  int32_t most = shares ? tesela__model_most_copies(m, family, allowed, useful, m->uses[op->buffer]) : 0;
  if (!tesela__model_begin(m, shares, &m->of_buffer[op->buffer])) return false;
  for (int32_t c = 0; c < family->n; c++) {
    tesela__cost cost = model_own_cost(p, part, op, c);
    if (!(allowed >> c & 1) || tesela__cost_is_infinite(cost)) continue;
    if (!tesela__model_push_copies(m, family, c, useful, most, cost)) return false;
  }
  return tesela__model_end(m);
}

static bool model_link(tesela__model *m, int32_t a, int32_t b) {
  return tesela__assign_edge(m->problem, a, b, m->cost) == TESELA_OK;
}

/* Costs for all pairs of states of two variables, to be filled. */
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
  if (!tesela__model_begin(m, false, &m->of_operator[number])) return false;
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

/* Variable of the value an edge reads; that of a later value is made when it is first needed. */
static bool model_holder(tesela__model *m, const tesela_propagation *p, const tesela__edge *edge,
                         int32_t *variable) {
  int32_t number = model_holder_number(p, edge), buffer = m->of_buffer[edge->buffer];
  *variable = buffer;
  if (edge->holder == 0 || m->uses[number] < 2) return true;
  *variable = m->of_holder[edge->holder - 1];
  if (*variable >= 0) return true;
  const tesela__family *family = tesela__family_of(p, edge->buffer);
  int32_t most =
      tesela__model_most_copies(m, family, p->allowed[edge->buffer], m->useful[number], m->uses[number]);
  if (!tesela__model_begin(m, true, variable)) return false;
  for (int32_t c = 0; c < family->n; c++)
    if (p->allowed[edge->buffer] >> c & 1 &&
        !tesela__model_push_copies(m, family, c, m->useful[number], most, model_free()))
      return false;
  if (!tesela__model_end(m) || !model_pairs(m, *variable, buffer)) return false;
  m->of_holder[edge->holder - 1] = *variable;
  int32_t n = m->variable[*variable].n, w = m->variable[buffer].n;
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < w; j++)
      m->cost[i * w + j] = model_states(m, *variable)[i].candidate == model_states(m, buffer)[j].candidate
                               ? model_free()
                               : TESELA__COST_INFINITE;
  return model_link(m, *variable, buffer);
}

/* ---- edges ---- */

/* Is the variable the one whose states have the copies that an edge uses? */
static bool model_is_shared(const tesela__model *m, const tesela_propagation *p, const tesela__edge *edge,
                            int32_t variable) {
  return m->variable[variable].shares &&
         variable == (edge->holder == 0 ? m->of_buffer[edge->buffer] : m->of_holder[edge->holder - 1]) &&
         m->uses[model_holder_number(p, edge)] > 1;
}

/* To have an operand in a candidate: it is there, is copied there for others anyway, or moves. */
static tesela__cost model_reach(const tesela__family *family, const tesela__model_state *state, bool shared,
                                bool moves, int32_t to) {
  if (state->candidate == to) return model_free();
  if (!moves) return TESELA__COST_INFINITE;
  if (shared) return state->copies >> to & 1 ? model_free() : TESELA__COST_INFINITE;
  int64_t price = family->price[state->candidate * family->n + to];
  return price < 0 ? TESELA__COST_INFINITE : (tesela__cost){price, TESELA__MOVE_UNIT};
}

/* The cheapest way to a candidate of `legal`; *best is it, or where it lies if the need is not met. */
static tesela__cost model_meet(const tesela__edge *edge, const tesela__family *family,
                               const tesela__model_state *state, bool shared, bool moves,
                               tesela__sticks legal, int32_t *best) {
  tesela__cost least = edge->price < 0 ? TESELA__COST_INFINITE : (tesela__cost){edge->price, 0};
  *best = state->candidate;
  if (legal >> state->candidate & 1) return model_free();
  for (int32_t turn = 0; turn <= family->n; turn++) { /* the default layout first */
    int32_t to = turn == 0 ? family->preset : turn - 1;
    if (!(legal >> to & 1)) continue;
    tesela__cost cost = model_reach(family, state, shared, moves, to);
    if (tesela__cost_compare(cost, least) >= 0) continue;
    least = cost;
    *best = to;
  }
  return least;
}

static int32_t model_state_label(const tesela_propagation *p, const tesela__operator *op,
                                 const tesela__model_state *state) {
  return op->mode ? state->candidate : tesela__label_of(tesela__family_of(p, op->buffer), state->candidate);
}

/* An operand between its operator's label and its buffer. */
static bool model_operand(tesela__model *m, const tesela_propagation *p, const tesela__model_part *part,
                          int32_t number, const tesela__edge *edge) {
  const tesela__operator *op = &p->operator_[number];
  int32_t a = m->of_operator[number], b, best;
  if (!model_holder(m, p, edge, &b) || !model_pairs(m, a, b)) return false;
  bool shared = model_is_shared(m, p, edge, b), moves = part->moves && edge->movable;
  int32_t n = m->variable[a].n, w = m->variable[b].n;
  for (int32_t i = 0; i < n; i++) {
    int32_t label = model_state_label(p, op, &model_states(m, a)[i]);
    for (int32_t j = 0; j < w; j++)
      m->cost[i * w + j] = model_meet(edge, tesela__family_of(p, edge->buffer), &model_states(m, b)[j],
                                      shared, moves, label < 0 ? 0 : edge->legal[label], &best);
  }
  return model_link(m, a, b);
}

/* Candidates of an operand that are the very layout of one of operand 0. */
static tesela__sticks model_equal(const tesela__family *first, int32_t at, const tesela__family *family) {
  tesela__sticks equal = 0;
  for (int32_t c = 0; c < family->n; c++)
    if (tesela_device_equal(&first->layout[at], &family->layout[c])) equal |= tesela__stick_bit(c);
  return equal;
}

/* Operand 0 of an operator with an operand that must lie as it does: a variable of its own, for where it is moved to. */
static bool model_first(tesela__model *m, const tesela_propagation *p, const tesela__model_part *part,
                        int32_t number, const tesela__edge *edge) {
  const tesela__operator *op = &p->operator_[number];
  const tesela__family *family = tesela__family_of(p, edge->buffer);
  int32_t a = m->of_operator[number], b, first;
  if (!model_holder(m, p, edge, &b) || !tesela__model_begin(m, false, &first)) return false;
  for (int32_t c = 0; c < family->n; c++)
    if (!tesela__model_push(m, c, 0, model_free())) return false;
  if (!tesela__model_end(m) || !model_pairs(m, first, b)) return false;
  m->of_first[number] = first;
  bool shared = model_is_shared(m, p, edge, b), moves = part->moves && edge->movable;
  for (int32_t i = 0; i < family->n; i++)
    for (int32_t j = 0; j < m->variable[b].n; j++)
      m->cost[i * m->variable[b].n + j] = model_reach(family, &model_states(m, b)[j], shared, moves, i);
  if (!model_link(m, first, b) || !model_pairs(m, first, a)) return false;
  for (int32_t i = 0; i < family->n; i++)
    for (int32_t j = 0; j < m->variable[a].n; j++) {
      int32_t label = model_state_label(p, op, &model_states(m, a)[j]);
      bool legal = label >= 0 && edge->legal[label] >> i & 1;
      m->cost[i * m->variable[a].n + j] = legal             ? model_free()
                                          : edge->price < 0 ? TESELA__COST_INFINITE
                                                            : (tesela__cost){edge->price, 0};
    }
  return model_link(m, first, a);
}

static bool model_same(tesela__model *m, const tesela_propagation *p, const tesela__model_part *part,
                       int32_t number, const tesela__edge *edge, const tesela__edge *edge_0) {
  const tesela__family *zero = tesela__family_of(p, edge_0->buffer);
  const tesela__family *family = tesela__family_of(p, edge->buffer);
  int32_t first = m->of_first[number], b, best;
  if (!model_holder(m, p, edge, &b) || !model_pairs(m, first, b)) return false;
  bool shared = model_is_shared(m, p, edge, b), moves = part->moves && edge->movable;
  for (int32_t i = 0; i < zero->n; i++)
    for (int32_t j = 0; j < m->variable[b].n; j++)
      m->cost[i * m->variable[b].n + j] = model_meet(edge, family, &model_states(m, b)[j], shared, moves,
                                                     model_equal(zero, i, family), &best);
  return model_link(m, first, b);
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
    if (op->same && edge->operand == 0)
      done = model_first(m, p, part, number, edge);
    else if (same)
      done = model_same(m, p, part, number, edge, &p->edge[op->first]);
    else
      done = model_operand(m, p, part, number, edge);
    if (!done) return false;
  }
  return true;
}

/* ---- the whole ---- */

static int32_t *model_numbers(tesela__model *m, int32_t n) {
  int32_t *items = tesela__alloc(&m->allocator, ((size_t)n + 1) * sizeof *items, alignof(int32_t));
  for (int32_t i = 0; items && i < n; i++) items[i] = -1;
  return items;
}

static bool model_start(tesela__model *m, const tesela_propagation *p) {
  int32_t n = p->count + p->n_holders;
  m->problem = tesela__assign_new(&p->allocator);
  m->of_buffer = model_numbers(m, p->count);
  m->of_operator = model_numbers(m, p->n_operators);
  m->of_first = model_numbers(m, p->n_operators);
  m->of_holder = model_numbers(m, p->n_holders);
  m->uses = model_numbers(m, n);
  m->useful = tesela__alloc(&m->allocator, ((size_t)n + 1) * sizeof *m->useful, alignof(tesela__sticks));
  return m->problem && m->of_buffer && m->of_operator && m->of_first && m->of_holder && m->uses && m->useful;
}

tesela_status tesela__model_solve(tesela__model *model, const tesela_propagation *p,
                                  const tesela__model_part *part, tesela_error *err) {
  *model = (tesela__model){.allocator = p->allocator};
  bool made = model_start(model, p);
  if (made) model_count_uses(model, p, part);
  for (int32_t o = 0; o < p->n_operators && made && p->operator_[o].node < part->nodes; o++)
    made = model_operator(model, p, part, o);
  if (made) model->answer = model_numbers(model, model->n_variables);
  tesela_status status = made && model->answer
                             ? tesela__assign_solve(model->problem, NULL,
                                                    p->options.effort > 0 ? p->options.effort : MODEL_EFFORT,
                                                    model->answer, &model->result)
                             : TESELA_E_MEMORY;
  if (status != TESELA_OK) return tesela__fail(err, status, -1, "no memory for the assignment of layouts");
  return TESELA_OK;
}

void tesela__model_free(tesela__model *model) {
  tesela__assign_free(model->problem);
  void *const items[] = {model->variable, model->state,     model->cost, model->of_buffer, model->of_operator,
                         model->of_first, model->of_holder, model->uses, model->useful,    model->answer};
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
  const tesela__operator *o = &p->operator_[op];
  const tesela__edge *e = &p->edge[edge];
  const tesela__family *family = tesela__family_of(p, e->buffer);
  int32_t number = model_holder_number(p, e), best;
  int32_t variable = e->holder > 0 && model->uses[number] > 1 ? model->of_holder[e->holder - 1]
                                                              : model->of_buffer[e->buffer];
  const tesela__model_state *state = model_chosen(model, variable);
  int32_t first = model->of_first[op];
  if (first >= 0 && e->operand == 0) return model_chosen(model, first)->candidate;
  int32_t label = tesela__model_label(model, p, op);
  tesela__sticks legal = label < 0 ? 0 : e->legal[label];
  if (first >= 0 && e->need == TESELA_NEED_SAME)
    legal = model_equal(tesela__family_of(p, p->edge[o->first].buffer), model_chosen(model, first)->candidate,
                        family);
  model_meet(e, family, state, model_is_shared(model, p, e, variable), moves && e->movable, legal, &best);
  return best;
}
