/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.c - place buffers one after another, each at the lowest free offset or in the smallest gap, by several orders;
 *           then move what makes the peak further to the front, as long as that helps.
 *
 * The free gaps of a buffer are those between its placed neighbours, the buffers that live with it at some step. A
 * placing costs the sum of all neighbours, with a logarithm for sorting them by offset.
 */
#include "arena/arena.h"

tesela_status tesela__arena_near(tesela__arena_problem *a, tesela_error *err) {
  int64_t pairs = 0;
  for (int32_t i = 0; i < a->n; i++) pairs += a->start[a->item[i].last] - i - 1;
  if (pairs > TESELA__ARENA_PAIRS) return TESELA_OK;
  a->near_at = tesela__alloc(&a->memory, ((size_t)a->n + 2) * sizeof *a->near_at, alignof(int64_t));
  a->near = tesela__alloc(&a->memory, ((size_t)pairs * 2 + 1) * sizeof *a->near, alignof(int32_t));
  if (!a->near_at || !a->near)
    return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for %" PRId64 " pairs of buffers", pairs);
  int64_t *at = a->near_at; /* counted two places ahead, filled one ahead: then at[i] is where i begins */
  memset(at, 0, ((size_t)a->n + 2) * sizeof *at);
  for (int32_t i = 0; i < a->n; i++)
    for (int32_t j = i + 1; j < a->start[a->item[i].last]; j++) {
      at[i + 2]++;
      at[j + 2]++;
    }
  for (int32_t i = 0; i < a->n; i++) at[i + 2] += at[i + 1];
  for (int32_t i = 0; i < a->n; i++)
    for (int32_t j = i + 1; j < a->start[a->item[i].last]; j++) {
      a->near[at[i + 1]++] = j;
      a->near[at[j + 1]++] = i;
    }
  a->work += pairs;
  return TESELA_OK;
}

int64_t tesela__arena_gap(tesela__arena_problem *a, int32_t i, bool best, tesela__arena_key *scratch) {
  const tesela__arena_item *x = &a->item[i];
  int64_t from = 0, found = -1, least = INT64_MAX;
  int32_t m = 0;
  for (int64_t k = a->near_at[i]; k < a->near_at[i + 1]; k++) {
    int32_t j = a->near[k];
    if (a->item[j].offset >= 0) scratch[m++] = (tesela__arena_key){a->item[j].offset, j};
  }
  a->work += 2 * (a->near_at[i + 1] - a->near_at[i]) + 4 * m;
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

/* A number below 2^53 that says how urgent an item is. `down` shifts sizes below 2^32; widths are 2^20 at most. */
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

/* splitmix64: the same numbers everywhere. */
static uint64_t arena_chance(uint64_t *state) {
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
    if (shake) urgency *= 180 + (int64_t)(arena_chance(&shake) % 154);
    keys[i] = (tesela__arena_key){-urgency, i};
  }
  tesela__arena_sort(keys, a->n);
}

/* ---- placing ----------------------------------------------------------------------------------------------- */

/* Place all by an order; false as soon as the peak is not below `limit`, or the work is spent. */
static bool arena_place_all(tesela__arena_problem *a, const tesela__arena_key *order, bool best,
                            int64_t limit, tesela__arena_key *scratch) {
  for (int32_t i = 0; i < a->n; i++) a->item[i].offset = a->item[i].fixed;
  for (int32_t k = 0; k < a->n; k++) {
    tesela__arena_item *x = &a->item[order[k].item];
    if (x->fixed >= 0) continue;
    int64_t at = tesela__arena_gap(a, order[k].item, best, scratch);
    if (at + x->size >= limit || a->work >= a->limit) return false;
    x->offset = at;
  }
  return true;
}

/* Where the topmost item stands in the order; -1 if that one is fixed. */
static int32_t arena_place_peak(const tesela__arena_problem *a, const tesela__arena_key *order) {
  int32_t found = -1;
  int64_t peak = -1;
  for (int32_t k = 0; k < a->n; k++) {
    const tesela__arena_item *x = &a->item[order[k].item];
    if (x->offset + x->size <= peak) continue;
    peak = x->offset + x->size;
    found = x->fixed >= 0 ? -1 : k;
  }
  return found;
}

static void arena_place_move(tesela__arena_key *order, int32_t from, int32_t to) {
  tesela__arena_key moved = order[from];
  for (; from > to; from--) order[from] = order[from - 1];
  for (; from < to; from++) order[from] = order[from + 1];
  order[from] = moved;
}

/* Bring the topmost item forward by chance, keep the change unless the peak grows. */
static void arena_place_improve(tesela__arena_problem *a, tesela__arena_key *order, bool best, int64_t target,
                                int64_t work, tesela__arena_key *scratch) {
  uint64_t chance = 1;
  int32_t top = arena_place_peak(a, order);
  int64_t until = a->work + work;
  int64_t peak = top >= 0 ? a->item[order[top].item].offset + a->item[order[top].item].size : 0;
  for (int32_t vain = 0; top > 0 && peak > target && a->work < until && vain < 2 * a->n + 50;) {
    int32_t to = (int32_t)(arena_chance(&chance) % (uint64_t)top), from = top;
    arena_place_move(order, from, to);
    bool good = arena_place_all(a, order, best, peak + 1, scratch);
    int32_t next = good ? arena_place_peak(a, order) : -1;
    if (next < 0) {
      if (good) tesela__arena_keep(a);
      if (good) return;
      arena_place_move(order, to, from);
      vain++;
      continue;
    }
    int64_t reached = a->item[order[next].item].offset + a->item[order[next].item].size;
    vain = reached < peak ? 0 : vain + 1;
    peak = reached;
    top = next;
    tesela__arena_keep(a);
  }
}

/* All orders, from the bottom up and one after another; the best of the latter to `winner`, and whether it used gaps. */
static tesela_status arena_place_orders(tesela__arena_problem *a, int64_t target, int64_t until,
                                        tesela__arena_key *order, int64_t *least, bool *how,
                                        tesela_error *err) {
  tesela__arena_key *winner = order + a->n + 1, *scratch = winner + a->n + 1;
  for (int32_t k = 0; k < TESELA__ARENA_ORDERS && a->best_peak > target && a->work < until; k++) {
    bool good = false;
    tesela__arena_order(a, k, 0, order);
    tesela_status status = tesela__arena_rise(a, order, a->best_peak, &good, err);
    if (status != TESELA_OK) return status;
    if (good) tesela__arena_keep(a);
  }
  for (int32_t k = 0; k < 2 * TESELA__ARENA_ORDERS && a->best_peak > target && a->work < until; k++) {
    tesela__arena_order(a, k / 2, 0, order);
    if (!arena_place_all(a, order, k % 2, *least, scratch)) continue;
    memcpy(winner, order, (size_t)a->n * sizeof *order);
    *how = k % 2;
    *least = 0;
    for (int32_t i = 0; i < a->n; i++) *least = tesela__max(*least, a->item[i].offset + a->item[i].size);
    tesela__arena_keep(a);
  }
  return TESELA_OK;
}

tesela_status tesela__arena_place(tesela__arena_problem *a, int64_t target, tesela_error *err) {
  size_t most = (size_t)a->n + 1;
  int64_t share = (a->limit - a->work) / 8, least = INT64_MAX;
  bool how = false;
  tesela__arena_key *order = tesela__alloc(&a->memory, 3 * most * sizeof *order, alignof(tesela__arena_key));
  if (!order) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory to order %" PRId32 " buffers", a->n);
  tesela__arena_key *winner = order + most, *scratch = winner + most;
  tesela_status status = arena_place_orders(a, target, a->work + share, order, &least, &how, err);
  if (status == TESELA_OK && least < INT64_MAX && a->best_peak > target &&
      arena_place_all(a, winner, how, least + 1, scratch))
    arena_place_improve(a, winner, how, target, share, scratch);
  tesela__release(&a->memory, order);
  return status;
}
