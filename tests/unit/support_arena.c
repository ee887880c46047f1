/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_arena.c - memory plans by the definition.
 */
#include "support_arena.h"

int64_t arena_random(uint64_t *state, int64_t n) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (int64_t)((*state >> 20) % (uint64_t)n);
}

static bool takes_bytes(const tesela_arena_buffer *b) { return b->size > 0 && b->lower < b->upper; }

bool arena_meet(const tesela_arena_buffer *a, const tesela_arena_buffer *b) {
  return takes_bytes(a) && takes_bytes(b) && a->lower < b->upper && b->lower < a->upper;
}

static bool clash(const tesela_arena_buffer *a, int64_t at, const tesela_arena_buffer *b, int64_t place) {
  return place >= 0 && arena_meet(a, b) && at < place + b->size && place < at + a->size;
}

static void must_not_clash(const tesela_arena_buffer *p, int32_t i, int32_t j) {
  if (p[i].offset < 0 || !clash(&p[i], p[i].offset, &p[j], p[j].offset)) return;
  fail_msg("buffers %d and %d overlap", (int)i, (int)j);
}

void arena_must_hold(int32_t n, const tesela_arena_buffer *before, const tesela_arena_buffer *p,
                     int64_t capacity) {
  int64_t from = INT64_MAX, to = INT64_MIN;
  for (int32_t i = 0; i < n; i++) {
    if (before[i].offset >= 0) assert_int_equal(p[i].offset, before[i].offset);
    assert_true(p[i].offset >= 0 || p[i].offset == TESELA_ARENA_SPILLED);
    if (p[i].offset >= 0 && p[i].alignment > 1) assert_int_equal(p[i].offset % p[i].alignment, 0);
    if (!takes_bytes(&p[i]) && before[i].offset < 0) assert_int_equal(p[i].offset, 0);
    if (capacity > 0 && p[i].offset >= 0 && takes_bytes(&p[i]))
      assert_true(p[i].offset + p[i].size <= capacity);
    if (p[i].lower < from) from = p[i].lower;
    if (p[i].upper > to) to = p[i].upper;
  }
  if (n > 0 && to - from <= 64) {
    for (int64_t t = from; t < to; t++)
      for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < i && p[i].lower <= t && t < p[i].upper; j++)
          if (p[j].lower <= t && t < p[j].upper) must_not_clash(p, i, j);
    return;
  }
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < i; j++) must_not_clash(p, i, j);
}

static int64_t up(int64_t offset, int64_t alignment) {
  return alignment > 1 ? (offset + alignment - 1) / alignment * alignment : offset;
}

int64_t arena_lowest(int32_t n, const tesela_arena_buffer *b, const int64_t *place, int32_t i) {
  int64_t best = -1;
  for (int32_t k = -1; k < n; k++) { /* a lowest place is at the bottom or on top of another buffer */
    if (k == i || (k >= 0 && (place[k] < 0 || !arena_meet(&b[i], &b[k])))) continue;
    int64_t at = k < 0 ? 0 : up(place[k] + b[k].size, b[i].alignment);
    bool good = best < 0 || at < best;
    for (int32_t j = 0; j < n && good; j++) good = j == i || !clash(&b[i], at, &b[j], place[j]);
    if (good) best = at;
  }
  return best;
}

typedef struct orders {
  const tesela_arena_buffer *b;
  int64_t place[16], best;
  int32_t n;
} orders;

static void try_orders(orders *o, unsigned left, int64_t peak) {
  if (peak >= o->best) return;
  if (left == 0) o->best = peak;
  for (int32_t i = 0; i < o->n; i++) {
    if (!(left >> i & 1u)) continue;
    int64_t at = arena_lowest(o->n, o->b, o->place, i), top = takes_bytes(&o->b[i]) ? at + o->b[i].size : 0;
    o->place[i] = at;
    try_orders(o, left & ~(1u << i), top > peak ? top : peak);
    o->place[i] = -1;
  }
}

int64_t arena_least_peak(int32_t n, const tesela_arena_buffer *b, unsigned keep) {
  orders o = {.b = b, .best = INT64_MAX, .n = n};
  int64_t peak = 0;
  for (int32_t i = 0; i < n; i++) {
    o.place[i] = b[i].offset >= 0 ? b[i].offset : -1;
    if (!takes_bytes(&b[i])) o.place[i] = -1;
    if (o.place[i] >= 0 || !takes_bytes(&b[i])) keep &= ~(1u << i);
    if (o.place[i] >= 0 && o.place[i] + b[i].size > peak) peak = o.place[i] + b[i].size;
  }
  try_orders(&o, keep & ((1u << n) - 1), peak);
  return o.best;
}

int64_t arena_live(int32_t n, const tesela_arena_buffer *b) {
  int64_t most = 0;
  for (int32_t i = 0; i < n; i++) { /* at the step where a buffer begins */
    int64_t live = 0;
    for (int32_t j = 0; j < n && takes_bytes(&b[i]); j++)
      if (b[j].lower <= b[i].lower && b[i].lower < b[j].upper && b[j].offset != TESELA_ARENA_SPILLED)
        live += b[j].size;
    if (live > most) most = live;
  }
  return most;
}

int64_t arena_peak(int32_t n, const tesela_arena_buffer *b) {
  int64_t peak = 0;
  for (int32_t i = 0; i < n; i++)
    if (takes_bytes(&b[i]) && b[i].offset >= 0 && b[i].offset + b[i].size > peak)
      peak = b[i].offset + b[i].size;
  return peak;
}

int64_t arena_first_fit(int32_t n, const tesela_arena_buffer *b) {
  static int64_t place[ARENA_MOST];
  static bool done[ARENA_MOST];
  int64_t peak = 0;
  for (int32_t i = 0; i < n; i++) {
    place[i] = takes_bytes(&b[i]) && b[i].offset >= 0 ? b[i].offset : -1;
    done[i] = place[i] >= 0 || !takes_bytes(&b[i]);
    if (place[i] >= 0 && place[i] + b[i].size > peak) peak = place[i] + b[i].size;
  }
  for (;;) {
    int32_t next = -1;
    for (int32_t i = 0; i < n; i++)
      if (!done[i] && (next < 0 || b[i].lower < b[next].lower)) next = i;
    if (next < 0) return peak;
    place[next] = arena_lowest(n, b, place, next);
    done[next] = true;
    if (place[next] + b[next].size > peak) peak = place[next] + b[next].size;
  }
}

void arena_make(uint64_t *state, int32_t n, int64_t steps, int64_t most, int kinds, tesela_arena_buffer *b) {
  int64_t *place = malloc((size_t)n * sizeof *place);
  assert_non_null(place);
  for (int32_t i = 0; i < n; i++) {
    b[i] = (tesela_arena_buffer){.lower = arena_random(state, steps), .offset = TESELA_ARENA_FREE};
    snprintf(b[i].id, sizeof b[i].id, "b%d", (int)i);
    b[i].upper = b[i].lower + 1 + arena_random(state, steps - b[i].lower);
    b[i].size = 1 + arena_random(state, most);
    b[i].weight = arena_random(state, 20);
    if (kinds & ARENA_ODD && arena_random(state, 6) == 0) b[i].upper = b[i].lower;
    if (kinds & ARENA_ODD && arena_random(state, 6) == 0) b[i].size = 0;
    if (kinds & ARENA_ALIGNED) b[i].alignment = arena_random(state, 5);
    place[i] = -1;
  }
  for (int32_t i = 0; i < n && kinds & ARENA_FIXED; i++) {
    if (arena_random(state, 3) != 0) continue;
    int64_t at = up(arena_random(state, 3 * most), b[i].alignment);
    bool good = true;
    for (int32_t j = 0; j < n; j++) good = good && !clash(&b[i], at, &b[j], place[j]);
    if (good) b[i].offset = place[i] = at;
  }
  free(place);
}

void arena_cut(uint64_t *state, int32_t n, int64_t steps, int64_t height, tesela_arena_buffer *b) {
  b[0] = (tesela_arena_buffer){.lower = 0, .upper = steps, .size = height, .offset = TESELA_ARENA_FREE};
  for (int32_t m = 1; m < n;) {
    int32_t i = (int32_t)arena_random(state, m);
    int64_t life = b[i].upper - b[i].lower;
    b[m] = b[i];
    if (arena_random(state, 2) == 0 && life > 1) {
      b[i].upper = b[m].lower = b[i].lower + 1 + arena_random(state, life - 1);
    } else if (b[i].size > 1) {
      b[m].size = 1 + arena_random(state, b[i].size - 1);
      b[i].size -= b[m].size;
    } else {
      continue;
    }
    m++;
  }
  for (int32_t i = n - 1; i > 0; i--) {
    int32_t j = (int32_t)arena_random(state, i + 1);
    tesela_arena_buffer moved = b[i];
    b[i] = b[j];
    b[j] = moved;
  }
  for (int32_t i = 0; i < n; i++) snprintf(b[i].id, sizeof b[i].id, "b%d", (int)i);
}

bool arena_same_facts(const tesela_arena_facts *a, const tesela_arena_facts *b) {
  return a->peak == b->peak && a->bound == b->bound && a->live == b->live && a->total == b->total &&
         a->first_fit == b->first_fit && a->spilled == b->spilled && a->n_spilled == b->n_spilled &&
         a->kept_weight == b->kept_weight && a->proven == b->proven && a->effort == b->effort;
}
