/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evict.c - a plan below a top: items are inserted one by one, and items in the way are evicted.
 *
 * An item goes into the smallest gap that holds it. Without such a gap, it goes to the place where the items in its way weigh
 * least, and they have to be placed again. Each item inserted by eviction becomes heavier, so that the same items do not evict
 * each other forever. Periodically all items settle, to the bottom and to the top in turn, so that small gaps become large
 * ones. The plan is complete once no item is out. The work for an item grows with its number of neighbours.
 */
#include "solve/arena/evict.h"

enum {
  EVICT_HEAVY = 40,  /* weights stay below 2^40, and the sum of 2^20 of them below 2^60 */
  EVICT_SETTLE = 10, /* settle after each tenth of the items */
  EVICT_MOVES = 16,  /* moves of a key, on average, before a nearly sorted list is sorted in full */
};

/* ---- state ------------------------------------------------------------------------------------------------- */

static int64_t evict_root(int64_t area) {
  int64_t root = 0;
  for (int64_t bit = INT64_C(1) << 31; bit > 0; bit >>= 1)
    if ((root + bit) * (root + bit) <= area) root += bit;
  return root;
}

/* The root of its area, up to about 2^30, plus 16 so that a sixteenth can be added. */
static void evict_weigh(tesela__arena_evict *e) {
  const tesela__arena_problem *a = e->arena;
  int down = 0;
  while (a->most_live >> down >= INT64_C(1) << 40) down++;
  for (int32_t i = 0; i < a->n; i++) {
    int64_t size = (a->item[i].size >> down) + 1, width = a->item[i].last - a->item[i].first;
    e->weight[i] = 16 + (evict_root(size) * evict_root(256 * width) >> 4);
  }
}

bool tesela__arena_evict_open(tesela__arena_evict *e, tesela__arena_problem *a) {
  const tesela_allocator *m = &a->memory;
  uint64_t most = (uint64_t)a->n + 1;
  *e = (tesela__arena_evict){.arena = a, .chance = 1};
  e->place = tesela__alloc(m, most * sizeof *e->place, alignof(tesela__arena_lies));
  e->weight = tesela__alloc(m, 2 * most * sizeof *e->weight, alignof(int64_t));
  e->out = tesela__alloc(m, most * sizeof *e->out, alignof(int32_t));
  e->start = tesela__alloc(m, 3 * most * sizeof *e->start, alignof(tesela__arena_key));
  if (!e->place || !e->weight || !e->out || !e->start) {
    tesela__arena_evict_close(e);
    return false;
  }
  e->level = e->weight + most;
  e->end = e->start + most;
  e->spare = e->end + most;
  for (int32_t i = 0; i < a->n; i++) e->width += a->item[i].last - a->item[i].first;
  evict_weigh(e);
  return true;
}

void tesela__arena_evict_close(tesela__arena_evict *e) {
  tesela_allocator memory = e->arena->memory;
  tesela__release(&memory, e->place);
  tesela__release(&memory, e->weight);
  tesela__release(&memory, e->out);
  tesela__release(&memory, e->start);
}

/* ---- insertion --------------------------------------------------------------------------------------------- */

/* Sort by key, 0 to `most`: first by 16 bits of it, then, nearly sorted, by the rest; if not nearly sorted, in full. */
static void evict_sort(tesela__arena_evict *e, tesela__arena_key *keys, int32_t n, int64_t most) {
  if (n <= 48) {
    tesela__arena_sort(keys, n);
    return;
  }
  int32_t low[256] = {0}, high[256] = {0}, at_low = 0, at_high = 0;
  int down = 0;
  while (most >> down >= 1 << 16) down++;
  for (int32_t k = 0; k < n; k++) {
    low[keys[k].key >> down & 255]++;
    high[keys[k].key >> down >> 8]++;
  }
  for (int k = 0; k < 256; k++) {
    int32_t more_low = low[k], more_high = high[k];
    low[k] = at_low;
    high[k] = at_high;
    at_low += more_low;
    at_high += more_high;
  }
  for (int32_t k = 0; k < n; k++) e->spare[low[keys[k].key >> down & 255]++] = keys[k];
  for (int32_t k = 0; k < n; k++) keys[high[e->spare[k].key >> down >> 8]++] = e->spare[k];
  int64_t moves = down > 0 ? EVICT_MOVES * (int64_t)n : 0;
  for (int32_t k = 1; k < n && moves > 0; k++) {
    tesela__arena_key moved = keys[k];
    int32_t at = k;
    for (; at > 0 && keys[at - 1].key > moved.key; at--) keys[at] = keys[at - 1];
    keys[at] = moved;
    moves -= k - at;
  }
  if (down > 0 && moves <= 0) tesela__arena_sort(keys, n); /* most of them share these bits */
}

/* Rounds negative numbers towards 0. */
static int64_t evict_down(int64_t offset, int64_t alignment) {
  return alignment == 1 ? offset : offset / alignment * alignment;
}

/* The placed neighbours of item i by their start. */
static int32_t evict_starts(tesela__arena_evict *e, int32_t i) {
  int32_t n = tesela__arena_meeting(e->arena, i), m = 0;
  const int32_t *list = e->arena->list;
  for (int32_t k = 0; k < n; k++) {
    int64_t offset = e->place[list[k]].offset;
    if (offset >= 0) e->start[m++] = (tesela__arena_key){offset, list[k]};
  }
  evict_sort(e, e->start, m, e->top);
  e->arena->work += 4 * n + 8 * m + 32;
  return m;
}

/* The start of the smallest gap that holds item i, or -1. */
static int64_t evict_gap(const tesela__arena_evict *e, int32_t i, int32_t m) {
  int64_t size = e->place[i].size, alignment = e->arena->item[i].alignment;
  int64_t from = 0, found = -1, least = INT64_MAX;
  for (int32_t k = 0; k <= m; k++) {
    int64_t at = tesela__arena_up(from, alignment);
    int64_t left = (k < m ? e->start[k].key : e->top) - (at + size);
    if (left >= 0 && left < least) {
      found = at;
      least = left;
    }
    if (k < m) from = tesela__max(from, e->start[k].key + e->place[e->start[k].item].size);
  }
  return found;
}

/* The offset where the neighbours in the way of item i weigh least; -1 if fixed ones are in the way everywhere. Candidates: the
 * bottom, the top, and directly above and below each neighbour. */
static int64_t evict_lightest(tesela__arena_evict *e, int32_t i, int32_t m) {
  const tesela__arena_item *item = e->arena->item;
  int64_t size = e->place[i].size, alignment = item[i].alignment, last = e->top - size;
  int64_t found = -1, least = INT64_MAX, weight = 0, at = 0;
  bool some = e->arena->n_fixed > 0;
  int32_t fixed = 0, entered = 0, left = 0, above = 0, below = 0;
  last = evict_down(last, alignment);
  for (int32_t k = 0; k < m; k++) {
    int32_t j = e->start[k].item;
    e->end[k] = (tesela__arena_key){e->place[j].offset + e->place[j].size, j};
  }
  evict_sort(e, e->end, m, e->top);
  e->arena->work += 16 * m;
  while (at <= last) {
    for (; entered < m && e->start[entered].key - size < at; entered++) {
      fixed += some && item[e->start[entered].item].fixed >= 0;
      weight += e->weight[e->start[entered].item];
    }
    for (; left < m && e->end[left].key <= at; left++) {
      fixed -= some && item[e->end[left].item].fixed >= 0;
      weight -= e->weight[e->end[left].item];
    }
    if (fixed == 0 && weight < least) {
      least = weight;
      found = at;
    }
    int64_t next = at < last ? last : INT64_MAX, there;
    for (; above < m && (there = tesela__arena_up(e->end[above].key, alignment)) <= at; above++) {
    }
    if (above < m) next = tesela__min(next, there);
    for (; below < m && (there = evict_down(e->start[below].key - size, alignment)) <= at; below++) {
    }
    if (below < m) next = tesela__min(next, there);
    at = next;
  }
  return found;
}

/* Make an item heavier; before weights get too large, all are halved. */
static void evict_heavier(tesela__arena_evict *e, int32_t i) {
  e->weight[i] += e->weight[i] / 16;
  if (e->weight[i] < INT64_C(1) << EVICT_HEAVY) return;
  for (int32_t j = 0; j < e->arena->n; j++) e->weight[j] = tesela__max(e->weight[j] / 2, 16);
}

/* Insert item i. false: not possible. */
static bool evict_put(tesela__arena_evict *e, int32_t i) {
  int32_t m = evict_starts(e, i);
  int64_t at = evict_gap(e, i, m), end;
  if (at < 0) {
    at = evict_lightest(e, i, m);
    if (at < 0) return false;
    end = at + e->place[i].size;
    for (int32_t k = 0; k < m && e->start[k].key < end; k++) {
      int32_t j = e->start[k].item;
      if (e->start[k].key + e->place[j].size <= at) continue;
      e->place[j].offset = -1;
      e->out[e->n_out++] = j;
    }
    evict_heavier(e, i);
  }
  e->place[i].offset = at;
  return true;
}

/* ---- settling ---------------------------------------------------------------------------------------------- */

/* All placed items move to the bottom, or to the top, as far as they can without passing each other. */
static void evict_settle(tesela__arena_evict *e, bool up) {
  tesela__arena_problem *a = e->arena;
  int32_t m = 0;
  for (int32_t i = 0; i < a->n; i++) {
    const tesela__arena_lies *p = &e->place[i];
    if (p->offset >= 0) e->start[m++] = (tesela__arena_key){up ? e->top - p->offset - p->size : p->offset, i};
  }
  evict_sort(e, e->start, m, e->top);
  memset(e->level, 0, (size_t)a->n_sections * sizeof *e->level);
  for (int32_t k = 0; k < m; k++) {
    const tesela__arena_item *x = &a->item[e->start[k].item];
    tesela__arena_lies *p = &e->place[e->start[k].item];
    int64_t low = 0;
    for (int32_t s = x->first; s < x->last; s++) low = tesela__max(low, e->level[s]);
    if (x->fixed < 0)
      p->offset = up ? evict_down(e->top - low - p->size, x->alignment) : tesela__arena_up(low, x->alignment);
    low = up ? e->top - p->offset : p->offset + p->size;
    for (int32_t s = x->first; s < x->last; s++) e->level[s] = low;
  }
  a->work += 2 * e->width + 16 * (int64_t)m;
}

/* ---- below a top ------------------------------------------------------------------------------------------- */

bool tesela__arena_evict_below(tesela__arena_evict *e, int64_t top, int64_t until) {
  tesela__arena_problem *a = e->arena;
  e->top = top;
  e->n_out = 0;
  for (int32_t i = 0; i < a->n; i++) {
    if (e->place[i].offset + e->place[i].size > top) e->place[i].offset = -1;
    if (e->place[i].offset < 0) e->out[e->n_out++] = i;
  }
  a->work += a->n;
  int64_t settled = a->work, width = tesela__max(2 * e->width, 1);
  for (int32_t put = 1; e->n_out > 0 && !tesela__arena_spent(a, until); put++) {
    int32_t k = (int32_t)(tesela__arena_chance(&e->chance) % (uint64_t)e->n_out), i = e->out[k];
    e->out[k] = e->out[--e->n_out];
    if (!evict_put(e, i)) return false;
    if (put < a->n / EVICT_SETTLE + 1 || a->work - settled < width) continue;
    evict_settle(e, e->up);
    e->up = !e->up;
    put = 0;
    settled = a->work;
  }
  return e->n_out == 0;
}
