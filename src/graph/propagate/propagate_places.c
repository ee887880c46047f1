/* SPDX-License-Identifier: Apache-2.0 */
/*
 * propagate_places.c - where an operand is available: a candidate of its buffer, or a copy of a view.
 *
 * A copy that only one edge can read is an option of that edge, at its price. If several edges can read copies of one view
 * (copies are shared, or an operator reads a value more than once), the set of copies is a variable, which pays for them, and
 * the place that each of these edges reads is another one:
 *
 *   label of the operator -- place -- candidate of the buffer
 *                              |
 *                     copies of the view that are made
 *
 * The states of the copies are sets of candidates. If their price depends on the buffer's candidate, an edge connects both.
 */
#include "graph/propagate/propagate.h"

enum { PLACES_STATES = 256 };

static const tesela__family *places_family(const tesela_propagation *p, int32_t way) {
  return &p->families[p->copyable[p->way[way].copy].family];
}

int32_t tesela__place_count(const tesela_propagation *p, const tesela__edge *edge) {
  int32_t n = tesela__family_of(p, edge->buffer)->n;
  for (int32_t w = edge->first_way; w < edge->first_way + edge->n_ways; w++) n += places_family(p, w)->n;
  return n;
}

tesela__place tesela__place_at(const tesela_propagation *p, const tesela__edge *edge, int32_t place) {
  int32_t n = tesela__family_of(p, edge->buffer)->n;
  if (place < n) return (tesela__place){-1, place};
  place -= n;
  int32_t w = edge->first_way;
  for (; place >= places_family(p, w)->n; w++) place -= places_family(p, w)->n;
  return (tesela__place){w, place};
}

const tesela_device_layout *tesela__place_layout(const tesela_propagation *p, const tesela__edge *edge,
                                                 int32_t place) {
  tesela__place at = tesela__place_at(p, edge, place);
  const tesela__family *family = at.way < 0 ? tesela__family_of(p, edge->buffer) : places_family(p, at.way);
  return &family->layout[at.candidate];
}

tesela__cost tesela__place_cost(const tesela_propagation *p, const tesela__edge *edge, int32_t place,
                                int32_t label) {
  tesela__place at = tesela__place_at(p, edge, place);
  return tesela__suits_cost(edge, at.way < 0 ? &edge->suits : &p->way[at.way].suits, label, at.candidate);
}

static tesela__cost places_price(const tesela__copyable *copy, int32_t n, int32_t from, int32_t to) {
  int64_t price = copy->price[from * n + to];
  return price < 0 ? TESELA__COST_INFINITE : (tesela__cost){price, TESELA__MOVE_UNIT};
}

tesela__cost tesela__place_copy_cost(const tesela__model *m, const tesela_propagation *p,
                                     const tesela__edge *edge, int32_t place, int32_t from) {
  tesela__place at = tesela__place_at(p, edge, place);
  int32_t copy = p->way[at.way].copy;
  if (m->copy_uses[p->way[at.way].slot] > 1) return (tesela__cost){0, 0};
  return places_price(&p->copyable[copy], places_family(p, at.way)->n, from, at.candidate);
}

void tesela__place_cheapest_copy(const tesela_propagation *p, const tesela__edge *edge, int32_t label,
                                 int32_t from, tesela__cost *least, int32_t *place) {
  int32_t base = tesela__family_of(p, edge->buffer)->n;
  for (int32_t w = edge->first_way; w < edge->first_way + edge->n_ways; w++) {
    const tesela__family *copies = places_family(p, w);
    const tesela__suits *suits = &p->way[w].suits;
    tesela__sticks useful = tesela__suits_useful(edge, suits, label);
    for (int32_t turn = 0; turn <= copies->n; turn++) { /* the default layout first */
      int32_t to = turn == 0 ? copies->preset : turn - 1;
      if (!(useful >> to & 1)) continue;
      tesela__cost cost = tesela__cost_add(places_price(&p->copyable[p->way[w].copy], copies->n, from, to),
                                           tesela__suits_cost(edge, suits, label, to));
      if (tesela__cost_compare(cost, *least) >= 0) continue;
      *least = cost;
      *place = base + to;
    }
    base += copies->n;
  }
}

/* ---- shared copies ---- */

bool tesela__model_shares_copies(const tesela__model *m, const tesela_propagation *p,
                                 const tesela__edge *edge) {
  for (int32_t w = edge->first_way; w < edge->first_way + edge->n_ways; w++)
    if (m->copy_uses[p->way[w].slot] > 1) return true;
  return false;
}

void tesela__model_count_copies(tesela__model *m, const tesela_propagation *p, const tesela__edge *edge) {
  for (int32_t w = edge->first_way; w < edge->first_way + edge->n_ways; w++) {
    m->copy_uses[p->way[w].slot]++;
    m->copy_useful[p->way[w].slot] |= tesela__suits_of_any(edge, &p->way[w].suits);
  }
}

/* The candidates of possible copies of a view. */
static tesela__sticks places_can(const tesela_propagation *p, int32_t copy) {
  const tesela__copyable *of = &p->copyable[copy];
  int32_t buffer = tesela_graph_node(p->graph, of->node)->buffer, n = p->families[of->family].n;
  tesela__sticks can = 0;
  for (int32_t from = 0; from < tesela__family_of(p, buffer)->n; from++)
    for (int32_t to = 0; to < n; to++)
      if (p->allowed[buffer] >> from & 1 && of->price[from * n + to] >= 0) can |= tesela__stick_bit(to);
  return can;
}

static int32_t places_bits(tesela__sticks set) {
  int32_t n = 0;
  for (; set; set &= set - 1) n++;
  return n;
}

/* The next subset of a set, in numeric order; 0 after the last. */
static tesela__sticks places_next(tesela__sticks set, tesela__sticks subset) { return (subset - set) & set; }

/* Every set of copies, up to a size that bounds the number of sets. */
static bool places_push(tesela__model *m, tesela__sticks useful, int32_t uses) {
  int32_t n = places_bits(useful), most = n < uses ? n : uses, try = 0;
  int64_t sets = 1, choose = 1;
  for (; try < most; try++) {
    choose = choose * (n - try) / (try + 1);
    if (sets + choose > PLACES_STATES) break;
    sets += choose;
  }
  if (try < most) m->capped = true;
  tesela__sticks set = 0;
  do {
    if (places_bits(set) <= try && !tesela__model_push(m, 0, set, (tesela__cost){0, 0})) return false;
    set = places_next(useful, set);
  } while (set != 0);
  return true;
}

/* The variable of the copies that a way can read, created on first use, with an edge to the buffer. */
static bool places_copies(tesela__model *m, const tesela_propagation *p, const tesela__way *way,
                          int32_t *variable) {
  int32_t copy = way->copy, slot = way->slot;
  const tesela__copyable *of = &p->copyable[copy];
  int32_t n = p->families[of->family].n;
  int32_t buffer = m->of_buffer[tesela_graph_node(p->graph, of->node)->buffer];
  *variable = m->of_copy[slot];
  if (*variable >= 0) return true;
  if (!tesela__model_begin(m, variable) ||
      !places_push(m, m->copy_useful[slot] & places_can(p, copy), m->copy_uses[slot]) ||
      !tesela__model_end(m))
    return false;
  m->of_copy[slot] = *variable;
  tesela__model_variable a = m->variable[*variable], b = m->variable[buffer];
  if (!tesela__model_costs(m, (size_t)a.n * (size_t)b.n)) return false;
  for (int32_t i = 0; i < a.n; i++)
    for (int32_t j = 0; j < b.n; j++) {
      tesela__cost sum = {0, 0};
      for (int32_t to = 0; to < n; to++)
        if (m->state[a.first + i].copies >> to & 1)
          sum = tesela__cost_add(sum, places_price(of, n, m->state[b.first + j].candidate, to));
      m->cost[i * b.n + j] = sum;
    }
  return tesela__assign_edge(m->problem, *variable, buffer, m->cost) == TESELA_OK;
}

bool tesela__model_tie_copies(tesela__model *m, const tesela_propagation *p, const tesela__edge *edge,
                              int32_t place) {
  int32_t base = tesela__family_of(p, edge->buffer)->n;
  for (int32_t w = edge->first_way; w < edge->first_way + edge->n_ways; w++) {
    int32_t n = places_family(p, w)->n, made;
    int32_t first = base;
    base += n;
    if (m->copy_uses[p->way[w].slot] < 2) continue;
    if (!places_copies(m, p, &p->way[w], &made)) return false;
    tesela__model_variable a = m->variable[place], b = m->variable[made];
    if (!tesela__model_costs(m, (size_t)a.n * (size_t)b.n)) return false;
    for (int32_t i = 0; i < a.n; i++)
      for (int32_t j = 0; j < b.n; j++) {
        bool reads = i >= first && i < base;
        bool is = !reads || m->state[b.first + j].copies >> (i - first) & 1;
        m->cost[i * b.n + j] = is ? (tesela__cost){0, 0} : TESELA__COST_INFINITE;
      }
    if (tesela__assign_edge(m->problem, place, made, m->cost) != TESELA_OK) return false;
  }
  return true;
}
