/* SPDX-License-Identifier: Apache-2.0 */
/*
 * propagate_states.c - variables of the assignment problem and their states: candidates, and sets of copies.
 *
 * With shared copies a state is a candidate and the set of copies that are made of it. A buffer of rank r with many consumers
 * has up to (r + 1) * 2^r of them; sets are cut to the size that keeps MODEL_STATES states, and then nothing is proven.
 */
#include "graph/propagate.h"

enum { MODEL_STATES = 256 };

/* ---- variables ---- */

/* Begin a variable; its states are pushed until it ends. */
bool tesela__model_begin(tesela__model *m, bool shares, int32_t *variable) {
  void *items = m->variable;
  if (!tesela__grow(&m->allocator, &items, sizeof *m->variable, &m->variable_capacity,
                    (size_t)m->n_variables + 1))
    return false;
  m->variable = items;
  m->variable[m->n_variables] = (tesela__model_variable){m->n_states, 0, shares};
  *variable = m->n_variables++;
  return true;
}

bool tesela__model_costs(tesela__model *m, size_t n) {
  void *items = m->cost;
  if (!tesela__grow(&m->allocator, &items, sizeof *m->cost, &m->cost_capacity, n)) return false;
  m->cost = items;
  return true;
}

/* Add a state to the variable that was begun last. */
bool tesela__model_push(tesela__model *m, int32_t candidate, tesela__sticks copies, tesela__cost cost) {
  tesela__model_variable *v = &m->variable[m->n_variables - 1];
  void *items = m->state;
  if (!tesela__grow(&m->allocator, &items, sizeof *m->state, &m->state_capacity, (size_t)m->n_states + 1))
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

/* ---- sets of copies ---- */

static int32_t model_count_bits(tesela__sticks set) {
  int32_t n = 0;
  for (; set; set &= set - 1) n++;
  return n;
}

/* Copies that a buffer in a candidate may need. */
static tesela__sticks model_targets(const tesela__family *family, int32_t candidate, tesela__sticks useful) {
  tesela__sticks targets = 0;
  for (int32_t e = 0; e < family->n; e++)
    if (useful >> e & 1 && family->price[candidate * family->n + e] >= 0) targets |= tesela__stick_bit(e);
  return targets;
}

/* Subsets of up to `most` of n things, not counted beyond the cap. */
static int64_t model_subsets(int32_t n, int32_t most) {
  int64_t all = 0, choose = 1;
  for (int32_t k = 0; k <= most && k <= n; k++) {
    all += choose;
    choose = choose * (n - k) / (k + 1);
  }
  return all;
}

/* How many copies a state may have so that there are not too many states. */
int32_t tesela__model_most_copies(tesela__model *m, const tesela__family *family, tesela__sticks allowed,
                                  tesela__sticks useful, int32_t uses) {
  int32_t most = 0, widest = 0;
  for (int32_t c = 0; c < family->n; c++) {
    int32_t n = model_count_bits(model_targets(family, c, useful));
    if (allowed >> c & 1 && n > widest) widest = n;
  }
  if (uses < widest) widest = uses;
  for (int32_t try = 1; try <= widest; try++) {
    int64_t states = 0;
    for (int32_t c = 0; c < family->n; c++)
      if (allowed >> c & 1) states += model_subsets(model_count_bits(model_targets(family, c, useful)), try);
    if (states > MODEL_STATES) break;
    most = try;
  }
  if (most < widest) m->capped = true;
  return most;
}

/* A candidate with every set of up to `most` copies. */
bool tesela__model_push_copies(tesela__model *m, const tesela__family *family, int32_t candidate,
                               tesela__sticks useful, int32_t most, tesela__cost cost) {
  int32_t target[TESELA__CANDIDATES], n = 0;
  tesela__sticks targets = model_targets(family, candidate, useful);
  for (int32_t e = 0; e < family->n; e++)
    if (targets >> e & 1) target[n++] = e;
  if (!tesela__model_push(m, candidate, 0, cost)) return false;
  for (int32_t size = 1; size <= most && size <= n; size++)
    for (uint32_t pick = ((uint32_t)1 << size) - 1; pick < (uint32_t)1 << n;) {
      tesela__cost sum = cost;
      tesela__sticks copies = 0;
      for (int32_t i = 0; i < n; i++) {
        if (!(pick >> i & 1)) continue;
        copies |= tesela__stick_bit(target[i]);
        sum = tesela__cost_add(
            sum, (tesela__cost){family->price[candidate * family->n + target[i]], TESELA__MOVE_UNIT});
      }
      if (!tesela__model_push(m, candidate, copies, sum)) return false;
      uint32_t low = pick & (~pick + 1), next = pick + low; /* the next number with as many bits */
      pick = next | ((pick & ~next) / low >> 1);
    }
  return true;
}
