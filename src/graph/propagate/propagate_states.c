/* SPDX-License-Identifier: Apache-2.0 */
/*
 * propagate_states.c - variables of the assignment problem and their states: candidates, and sets of them.
 *
 * With shared copies a value has a variable for the candidates in which it is available: that of its buffer, and those of
 * copies. Its states are sets of candidates; the edge to the buffer's own variable pays for the moves. So consumers depend only
 * on the set, and the operator that makes the value only on the candidate. n candidates have 2^n - 1 sets; larger sets are left
 * out to keep MODEL_SETS of them, and then nothing is proven.
 */
#include "graph/propagate/propagate.h"

enum { MODEL_SETS = 256 };

/* ---- variables ---- */

/* Begin a variable; push its states next. */
bool tesela__model_begin(tesela__model *m, int32_t *variable) {
  void *items = m->variable;
  if (!tesela__grow(&m->allocator, &items, sizeof *m->variable, &m->variable_capacity,
                    (uint64_t)m->n_variables + 1))
    return false;
  m->variable = items;
  m->variable[m->n_variables] = (tesela__model_variable){m->n_states, 0};
  *variable = m->n_variables++;
  return true;
}

bool tesela__model_costs(tesela__model *m, size_t n) {
  void *items = m->cost;
  if (!tesela__grow(&m->allocator, &items, sizeof *m->cost, &m->cost_capacity, n)) return false;
  m->cost = items;
  return true;
}

/* Add a state to the last variable. */
bool tesela__model_push(tesela__model *m, int32_t candidate, tesela__sticks copies, tesela__cost cost) {
  tesela__model_variable *v = &m->variable[m->n_variables - 1];
  void *items = m->state;
  if (!tesela__grow(&m->allocator, &items, sizeof *m->state, &m->state_capacity, (uint64_t)m->n_states + 1))
    return false;
  m->state = items;
  if (!tesela__model_costs(m, (size_t)v->n + 1)) return false;
  m->cost[v->n++] = cost;
  m->state[m->n_states++] = (tesela__model_state){candidate, copies};
  return true;
}

bool tesela__model_end(tesela__model *m) {
  tesela__model_variable *v = &m->variable[m->n_variables - 1];
  int32_t number;
  if (v->n == 0 && !tesela__model_push(m, 0, 0, TESELA__COST_INFINITE)) return false;
  return tesela__assign_node(m->problem, v->n, m->cost, &number) == TESELA_OK;
}

/* ---- where a value is available: sets of candidates ---- */

/* The cost of a buffer's value in all candidates of a set: a move to each but its own. */
static tesela__cost model_set_cost(const tesela__family *family, tesela__sticks useful, int32_t candidate,
                                   tesela__sticks set) {
  tesela__cost sum = {0, 0};
  if (!(set >> candidate & 1)) return TESELA__COST_INFINITE;
  for (int32_t e = 0; e < family->n; e++) {
    const int64_t price = family->price[candidate * family->n + e];
    if (e == candidate || !(set >> e & 1)) continue;
    if (price < 0 || !(useful >> e & 1)) return TESELA__COST_INFINITE;
    sum = tesela__cost_add(sum, (tesela__cost){price, TESELA__MOVE_UNIT});
  }
  return sum;
}

/* The candidates in which a value can be available. */
static tesela__sticks model_reachable(const tesela__family *family, tesela__sticks allowed,
                                      tesela__sticks useful) {
  tesela__sticks all = allowed;
  for (int32_t c = 0; c < family->n; c++)
    for (int32_t e = 0; e < family->n; e++)
      if (allowed >> c & 1 && useful >> e & 1 && family->price[c * family->n + e] >= 0)
        all |= tesela__stick_bit(e);
  return all;
}

/* The largest sets of n candidates that keep the number of sets bounded. */
static int32_t model_largest_set(tesela__model *m, int32_t n, int32_t uses) {
  const int32_t wanted = uses < n ? uses + 1 : n;
  int64_t sets = 0, choose = 1;
  for (int32_t size = 1; size <= wanted; size++) {
    choose = choose * (n - size + 1) / size;
    sets += choose;
    if (sets <= MODEL_SETS) continue;
    m->capped = true;
    return size - 1;
  }
  return wanted;
}

/* Push the states: every set of up to `most` candidates in which the value is available. */
static bool model_push_sets(tesela__model *m, const tesela__family *family, tesela__sticks allowed,
                            tesela__sticks useful, int32_t uses) {
  int32_t item[TESELA__CANDIDATES], n = 0;
  const tesela__sticks all = model_reachable(family, allowed, useful);
  for (int32_t e = 0; e < family->n; e++)
    if (all >> e & 1) item[n++] = e;
  const int32_t most = model_largest_set(m, n, uses);
  for (int32_t size = 1; size <= most; size++)
    for (uint32_t pick = ((uint32_t)1 << size) - 1; pick < (uint32_t)1 << n;) {
      tesela__sticks set = 0;
      bool can = false;
      for (int32_t i = 0; i < n; i++)
        if (pick >> i & 1) set |= tesela__stick_bit(item[i]);
      for (int32_t c = 0; c < family->n && !can; c++)
        can = allowed >> c & 1 && !tesela__cost_is_infinite(model_set_cost(family, useful, c, set));
      if (can && !tesela__model_push(m, -1, set, (tesela__cost){0, 0})) return false;
      const uint32_t low = pick & (~pick + 1),
                     next = pick + low; /* the next number with the same count of bits */
      pick = next | ((pick & ~next) / low >> 1);
    }
  return true;
}

bool tesela__model_sets(tesela__model *m, const tesela_propagation *p, int32_t number, int32_t buffer,
                        int32_t *variable) {
  const tesela__family *family = tesela__family_of(p, buffer);
  const int32_t at = m->of_buffer[buffer];
  *variable = m->of_set[number];
  if (*variable >= 0) return true;
  if (!tesela__model_begin(m, variable) ||
      !model_push_sets(m, family, p->allowed[buffer], m->useful[number], m->uses[number]) ||
      !tesela__model_end(m))
    return false;
  m->of_set[number] = *variable;
  const tesela__model_variable a = m->variable[*variable], b = m->variable[at];
  if (!tesela__model_costs(m, (size_t)a.n * (size_t)b.n)) return false;
  for (int32_t i = 0; i < a.n; i++)
    for (int32_t j = 0; j < b.n; j++)
      m->cost[i * b.n + j] = model_set_cost(family, m->useful[number], m->state[b.first + j].candidate,
                                            m->state[a.first + i].copies);
  return tesela__assign_edge(m->problem, *variable, at, m->cost) == TESELA_OK;
}
