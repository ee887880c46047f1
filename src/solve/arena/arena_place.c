/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena_place.c - gaps for a buffer, orders by urgency, and a plan by each order.
 *
 * The free gaps of a buffer are those between its placed neighbours, the buffers that live with it at some step.
 */
#include "solve/arena/arena.h"

int64_t tesela__arena_gap(tesela__arena_problem *a, int32_t i, bool best, tesela__arena_key *scratch) {
  const tesela__arena_item *x = &a->item[i];
  int64_t from = 0, found = -1, least = INT64_MAX;
  int32_t m = 0;
  int32_t n = tesela__arena_meeting(a, i);
  for (int32_t k = 0; k < n; k++) {
    int32_t j = a->list[k];
    if (a->item[j].offset >= 0) scratch[m++] = (tesela__arena_key){a->item[j].offset, j};
  }
  a->work += 4 * n + 4 * m + 16;
  tesela__arena_sort(scratch, m);
  for (int32_t k = 0; k < m; k++) {
    const tesela__arena_item *y = &a->item[scratch[k].item];
    int64_t at = tesela__arena_up(from, x->alignment), left = y->offset - (at + x->size);
    if (left >= 0 && left < least) {
      if (!best) return at;
      found = at;
      least = left;
    }
    from = tesela__max(from, y->offset + y->size);
  }
  return found >= 0 ? found : tesela__arena_up(from, x->alignment);
}

/* ---- orders ------------------------------------------------------------------------------------------------ */

/* The urgency of an item, below 2^53. `down` shifts sizes below 2^32; widths are 2^20 at most. */
static int64_t order_urgency(const tesela__arena_problem *a, int32_t order, const tesela__arena_item *x,
                             int down) {
  int64_t width = x->last - x->first, size = (x->size >> down) + 1, crowd = 0;
  switch (order) {
  case 0:
    return size;
  case 1:
    return width;
  case 2:
    return size * width;
  default:
    for (int32_t s = x->first; s < x->last; s++) crowd = tesela__max(crowd, a->live[s]);
    return (crowd >> down) * (1 << 20) + width;
  }
}

uint64_t tesela__arena_chance(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
  return z ^ z >> 31;
}

void tesela__arena_order(tesela__arena_problem *a, int32_t order, uint64_t shake, tesela__arena_key *keys) {
  int down = 0;
  while (a->most_live >> down >= INT64_C(1) << 32) down++;
  for (int32_t i = 0; i < a->n; i++) {
    int64_t urgency = order_urgency(a, order, &a->item[i], down);
    a->work += order == 3 ? a->item[i].last - a->item[i].first : 1;
    if (shake) urgency *= 180 + (int64_t)(tesela__arena_chance(&shake) % 154);
    keys[i] = (tesela__arena_key){-urgency, i};
  }
  tesela__arena_sort(keys, a->n);
}

/* ---- placing ----------------------------------------------------------------------------------------------- */

tesela_status tesela__arena_place(tesela__arena_problem *a, int64_t target, int64_t until,
                                  tesela_error *err) {
  static const int32_t turn[TESELA__ARENA_ORDERS] = {2, 0, 1, 3};
  tesela_status status = TESELA_OK;
  tesela__arena_key *order =
      tesela__alloc(&a->memory, ((uint64_t)a->n + 1) * sizeof *order, alignof(tesela__arena_key));
  if (!order) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory to order %" PRId32 " buffers", a->n);
  for (int32_t k = 0; k < TESELA__ARENA_ORDERS && a->best_peak > target && a->work < until; k++) {
    bool good = false;
    tesela__arena_order(a, turn[k], 0, order);
    status = tesela__arena_rise(a, order, a->best_peak, until, &good, err);
    if (status != TESELA_OK) break;
    if (good) tesela__arena_keep(a);
  }
  tesela__release(&a->memory, order);
  return status;
}
