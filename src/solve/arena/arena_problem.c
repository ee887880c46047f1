/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena_problem.c - the caller's buffers as items and sections, with the bounds that follow from them.
 */
#include "solve/arena/arena.h"

/* ---- sorting ----------------------------------------------------------------------------------------------- */

static bool arena_key_less(const tesela__arena_key *a, const tesela__arena_key *b) {
  return a->key != b->key ? a->key < b->key : a->item < b->item;
}

static void arena_sink_key(tesela__arena_key *keys, int32_t at, int32_t n) {
  tesela__arena_key moved = keys[at];
  for (int32_t child; (child = 2 * at + 1) < n; at = child) {
    if (child + 1 < n && arena_key_less(&keys[child], &keys[child + 1])) child++;
    if (!arena_key_less(&moved, &keys[child])) break;
    keys[at] = keys[child];
  }
  keys[at] = moved;
}

void tesela__arena_sort(tesela__arena_key *keys, int32_t n) {
  if (n <= 24) {
    for (int32_t i = 1; i < n; i++) {
      tesela__arena_key moved = keys[i];
      int32_t at = i;
      for (; at > 0 && arena_key_less(&moved, &keys[at - 1]); at--) keys[at] = keys[at - 1];
      keys[at] = moved;
    }
    return;
  }
  for (int32_t at = n / 2; at-- > 0;) arena_sink_key(keys, at, n);
  for (int32_t end = n; end-- > 1;) {
    tesela__arena_key last = keys[end];
    keys[end] = keys[0];
    keys[0] = last;
    arena_sink_key(keys, 0, end);
  }
}

/* ---- building ---------------------------------------------------------------------------------------------- */

static bool arena_takes_bytes(const tesela_arena_buffer *b) { return b->size > 0 && b->upper > b->lower; }

/* The caller's buffers as items, in their order, and when they begin and end. */
static void arena_take_buffers(tesela__arena_problem *a, int32_t n, const tesela_arena_buffer *buffers,
                               const bool *keep, tesela__arena_key *starts, tesela__arena_key *ends) {
  for (int32_t i = 0; i < n; i++) {
    const tesela_arena_buffer *b = &buffers[i];
    if (!arena_takes_bytes(b) || (keep && !keep[i])) continue;
    a->item[a->n] = (tesela__arena_item){.lower = b->lower,
                                         .size = b->size,
                                         .alignment = b->alignment ? b->alignment : 1,
                                         .weight = b->weight,
                                         .fixed = b->offset >= 0 ? b->offset : -1,
                                         .offset = -1,
                                         .index = i};
    starts[a->n] = (tesela__arena_key){b->lower, a->n};
    ends[a->n] = (tesela__arena_key){b->upper, a->n};
    a->n++;
  }
}

/* The same for some items of another problem. */
static void arena_take_items(tesela__arena_problem *a, int32_t n, const tesela__arena_problem *of,
                             const int32_t *list, tesela__arena_key *starts, tesela__arena_key *ends) {
  for (int32_t k = 0; k < n; k++) {
    a->item[k] = of->item[list[k]];
    a->item[k].index = list[k];
    starts[k] = (tesela__arena_key){a->item[k].first, k};
    ends[k] = (tesela__arena_key){a->item[k].last, k};
  }
  a->n = n;
}

/* The items are still in their original order. */
static void arena_find_sections(tesela__arena_problem *a, tesela__arena_key *starts,
                                tesela__arena_key *ends) {
  bool began = false;
  tesela__arena_sort(starts, a->n);
  tesela__arena_sort(ends, a->n);
  for (int32_t s = 0, e = 0; e < a->n;) {
    if (s < a->n && starts[s].key < ends[e].key) {
      a->item[starts[s++].item].first = a->n_sections;
      began = true;
    } else {
      if (began) a->n_sections++;
      began = false;
      a->item[ends[e++].item].last = a->n_sections;
    }
  }
}

/* Sort items by their first section, then the last, then the caller's order. */
static void arena_order_items(tesela__arena_problem *a, tesela__arena_key *keys) {
  for (int32_t i = 0; i < a->n; i++)
    keys[i] = (tesela__arena_key){(int64_t)a->item[i].first * (1 << 21) + a->item[i].last, i};
  tesela__arena_sort(keys, a->n);
  for (int32_t i = 0; i < a->n; i++) /* follow each cycle of the permutation; -1 marks finished entries */
    if (keys[i].item >= 0) {
      tesela__arena_item moved = a->item[i];
      int32_t at = i;
      for (int32_t from = keys[at].item; from != i; from = keys[at].item) {
        a->item[at] = a->item[from];
        keys[at].item = -1;
        at = from;
      }
      a->item[at] = moved;
      keys[at].item = -1;
    }
}

/* If sizes are multiples of all alignments, so are sums of sizes, and no offset needs alignment. */
static void arena_find_unit(tesela__arena_problem *a) {
  a->plain = a->n_fixed == 0 && a->n > 0;
  for (int32_t i = 0; i < a->n; i++) a->plain = a->plain && a->unit % a->item[i].alignment == 0;
  if (!a->plain) a->unit = 1;
  for (int32_t i = 0; i < a->n && a->plain; i++) a->item[i].alignment = 1;
}

static void arena_sum_sections(tesela__arena_problem *a, tesela__arena_key *keys) {
  memset(a->live, 0, ((size_t)a->n_sections + 1) * sizeof *a->live);
  int32_t section = 0;
  for (int32_t i = 0; i < a->n; i++) {
    const tesela__arena_item *x = &a->item[i];
    while (section <= x->first) a->start[section++] = i;
    a->live[x->first] += x->size;
    a->live[x->last] -= x->size;
    a->unit = tesela__gcd(a->unit, x->size);
    if (x->fixed < 0) continue;
    keys[a->n_fixed++] = (tesela__arena_key){x->fixed, i};
    a->bound = tesela__max(a->bound, x->fixed + x->size);
  }
  while (section <= a->n_sections) a->start[section++] = a->n;
  arena_find_unit(a);
  for (int32_t s = 0; s < a->n_sections; s++) {
    a->most_live = tesela__max(a->most_live, a->live[s]);
    a->live[s + 1] += a->live[s];
  }
  a->bound = tesela__max(a->bound, a->most_live);
  tesela__arena_sort(keys, a->n_fixed);
  for (int32_t k = 0; k < a->n_fixed; k++) a->fixed[k] = keys[k].item;
}

/* Room for n items; returns 2 n keys. NULL: no memory, and there is nothing to close. */
static tesela__arena_key *arena_make_room(tesela__arena_problem *a, int32_t n,
                                          const tesela_allocator *memory) {
  uint64_t most = (uint64_t)n + 1;
  *a = (tesela__arena_problem){
      .memory = tesela__allocator(memory), .best_peak = INT64_MAX, .limit = TESELA__ARENA_ALL};
  tesela__arena_key *keys = tesela__alloc(&a->memory, 2 * most * sizeof *keys, alignof(tesela__arena_key));
  a->item = tesela__alloc(&a->memory, most * sizeof *a->item, alignof(tesela__arena_item));
  a->start = tesela__alloc(&a->memory, most * sizeof *a->start, alignof(int32_t));
  a->fixed = tesela__alloc(&a->memory, most * sizeof *a->fixed, alignof(int32_t));
  a->live = tesela__alloc(&a->memory, most * sizeof *a->live, alignof(int64_t));
  a->best = tesela__alloc(&a->memory, most * sizeof *a->best, alignof(int64_t));
  if (keys && a->item && a->start && a->fixed && a->live && a->best) return keys;
  tesela__release(&a->memory, keys);
  tesela__arena_close(a);
  return NULL;
}

static tesela_status arena_finish(tesela__arena_problem *a, tesela__arena_key *keys, tesela_error *err) {
  bool good = keys != NULL;
  if (good) {
    arena_find_sections(a, keys, keys + a->n);
    arena_order_items(a, keys);
    arena_sum_sections(a, keys);
    good = tesela__arena_meeting_open(a);
  }
  tesela__release(&a->memory, keys);
  if (good) return TESELA_OK;
  tesela__arena_close(a);
  return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory to plan buffers");
}

tesela_status tesela__arena_open(tesela__arena_problem *a, int32_t n, const tesela_arena_buffer *buffers,
                                 const bool *keep, const tesela_arena_options *options, tesela_error *err) {
  int32_t m = 0;
  for (int32_t i = 0; i < n; i++) m += arena_takes_bytes(&buffers[i]) && (!keep || keep[i]);
  tesela__arena_key *keys = arena_make_room(a, m, options->allocator);
  a->listener = options->progress_user;
  if (keys) arena_take_buffers(a, n, buffers, keep, keys, keys + m);
  return arena_finish(a, keys, err);
}

tesela_status tesela__arena_open_part(tesela__arena_problem *a, const tesela__arena_problem *of, int32_t n,
                                      const int32_t *list, tesela_error *err) {
  tesela__arena_key *keys = arena_make_room(a, n, &of->memory);
  a->listener = of->listener;
  if (keys) arena_take_items(a, n, of, list, keys, keys + n);
  return arena_finish(a, keys, err);
}

void tesela__arena_close(tesela__arena_problem *a) {
  tesela__release(&a->memory, a->item);
  tesela__release(&a->memory, a->start);
  tesela__release(&a->memory, a->fixed);
  tesela__release(&a->memory, a->live);
  tesela__release(&a->memory, a->best);
  tesela__release(&a->memory, a->latest);
  tesela__release(&a->memory, a->list);
  *a = (tesela__arena_problem){.memory = a->memory};
}

/* ---- stopping ---------------------------------------------------------------------------------------------- */

enum { ARENA_CALL_EVERY = 4096 * TESELA__ARENA_STEP };

bool tesela__arena_spent(tesela__arena_problem *a, int64_t until) {
  tesela__arena_listener *l = a->listener;
  if (l && l->given->progress && a->work >= a->next_call) {
    a->next_call = a->work + ARENA_CALL_EVERY;
    l->stopped = l->stopped || l->given->progress(l->given->progress_user, a->work / TESELA__ARENA_STEP,
                                                  a->limit / TESELA__ARENA_STEP) != 0;
    if (l->stopped) a->work = TESELA__ARENA_ALL;
  }
  return a->work >= until;
}

tesela_status tesela__arena_stopped(const tesela_arena_options *options, tesela_error *err) {
  const tesela__arena_listener *l = options->progress_user;
  return l->stopped ? tesela__fail_stopped(err) : TESELA_OK;
}

/* ---- small queries ----------------------------------------------------------------------------------------- */

int64_t tesela__arena_past_more_fixed(tesela__arena_problem *a, int32_t i, int64_t from, int32_t *next) {
  const tesela__arena_item *x = &a->item[i];
  int64_t at = tesela__arena_up(from, x->alignment);
  int32_t k = *next;
  for (; k < a->n_fixed; k++) {
    const tesela__arena_item *f = &a->item[a->fixed[k]];
    if (f->fixed >= at + x->size) break; /* sorted by offset: `at` moves only past items that it overlaps */
    if (f->fixed + f->size > at && tesela__arena_meet(f, x) && f != x)
      at = tesela__arena_up(f->fixed + f->size, x->alignment);
  }
  a->work += k - *next + 1;
  *next = k;
  return at;
}

int64_t tesela__arena_past_fixed(tesela__arena_problem *a, int32_t i, int64_t from) {
  int32_t next = 0;
  return tesela__arena_past_more_fixed(a, i, from, &next);
}

void tesela__arena_keep(tesela__arena_problem *a) {
  int64_t peak = 0;
  for (int32_t i = 0; i < a->n; i++) peak = tesela__max(peak, a->item[i].offset + a->item[i].size);
  if (peak >= a->best_peak) return;
  a->best_peak = peak;
  for (int32_t i = 0; i < a->n; i++) a->best[i] = a->item[i].offset;
}
