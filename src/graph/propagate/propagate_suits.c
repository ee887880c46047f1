/* SPDX-License-Identifier: Apache-2.0 */
/*
 * propagate_suits.c - the cost of an operand where it is read, moved or not.
 *
 * An operand has two requirements: its need, and, if the result's stick follows it, that its lanes survive at that stick. Each
 * is hard or has a price, from the row of its own rule; the price of one does not cover the other.
 */
#include "graph/propagate/propagate.h"

tesela__cost tesela__suits_cost(const tesela__edge *edge, const tesela__suits *suits, int32_t label,
                                int32_t candidate) {
  bool met = label >= 0 && suits->need[label] >> candidate & 1;
  bool follows = label >= 0 && suits->follow[label] >> candidate & 1;
  if ((!met && edge->price < 0) || (!follows && edge->follow_price < 0)) return TESELA__COST_INFINITE;
  tesela__cost cost = {met ? 0 : edge->price, 0};
  return follows ? cost : tesela__cost_add(cost, (tesela__cost){edge->follow_price, 0});
}

tesela__sticks tesela__suits_useful(const tesela__edge *edge, const tesela__suits *suits, int32_t label) {
  if (label < 0) return 0;
  tesela__sticks need = suits->need[label], follow = suits->follow[label], useful = need | follow;
  if (!edge->follows) return need;
  if (edge->price < 0) useful &= need;
  if (edge->follow_price < 0) useful &= follow;
  return useful;
}

tesela__sticks tesela__suits_of_any(const tesela__edge *edge, const tesela__suits *suits) {
  tesela__sticks any = 0;
  for (int32_t label = 0; label < TESELA__LABELS; label++) any |= tesela__suits_useful(edge, suits, label);
  return any;
}

tesela__cost tesela__suits_reach(const tesela__family *family, int32_t from, bool moves, int32_t to) {
  if (from == to) return (tesela__cost){0, 0};
  int64_t price = family->price[from * family->n + to];
  return !moves || price < 0 ? TESELA__COST_INFINITE : (tesela__cost){price, TESELA__MOVE_UNIT};
}

tesela__cost tesela__suits_meet(const tesela__edge *edge, const tesela__family *family, int32_t from,
                                bool moves, int32_t label, int32_t *best) {
  tesela__cost least = tesela__suits_cost(edge, &edge->suits, label, from);
  bool paid = tesela__cost_compare(least, (tesela__cost){0, 0}) > 0;
  tesela__sticks useful = paid ? tesela__suits_useful(edge, &edge->suits, label) : 0;
  *best = from;
  for (int32_t turn = 0; turn <= family->n && useful != 0; turn++) { /* the default layout first */
    int32_t to = turn == 0 ? family->preset : turn - 1;
    if (!(useful >> to & 1)) continue;
    tesela__cost cost = tesela__cost_add(tesela__suits_reach(family, from, moves, to),
                                         tesela__suits_cost(edge, &edge->suits, label, to));
    if (tesela__cost_compare(cost, least) >= 0) continue;
    least = cost;
    *best = to;
  }
  return least;
}

tesela__cost tesela__suits_had(const tesela__edge *edge, const tesela__family *family, int32_t from,
                               tesela__sticks set, int32_t label, int32_t *best) {
  tesela__cost least = TESELA__COST_INFINITE;
  *best = from;
  for (int32_t turn = -2; turn < family->n; turn++) {
    int32_t to = turn == -2 ? from : turn == -1 ? family->preset : turn;
    if (to < 0 || !(set >> to & 1)) continue;
    tesela__cost cost = tesela__suits_cost(edge, &edge->suits, label, to);
    if (tesela__cost_compare(cost, least) >= 0) continue;
    least = cost;
    *best = to;
  }
  return least;
}
