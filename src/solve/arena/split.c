/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split.c - split a problem into parts that are planned one by one.
 *
 * Parts in time are runs of sections that no item leaves. In each of them, without fixed items and alignments, an item
 * that lives from start to end may be placed at the bottom: all others are above or below it. The rest may then split
 * in time again. In the end no part has such an item, and each part has a floor.
 *
 * Parts are planned in the order of their lower bounds, the highest first; no part needs a lower peak than the bound or
 * the plan of another part.
 */
#include "solve/arena/arena.h"

typedef struct split_part {
  int32_t from, to; /* of state.list */
  int64_t base;
} split_part;

typedef struct split_state {
  tesela__arena_problem *arena;
  int32_t *list;           /* items, grouped by part, in the order of their first section */
  split_part *open, *part; /* open: still to split; part: finished */
  tesela__arena_key *turn;
  int32_t n_open, n_parts;
  int64_t top;   /* of the items at the bottom of a part */
  int64_t bound; /* proven */
} split_state;

/* Place the items from..to of one run of sections that live throughout on the floor; keep the rest. */
static void split_lay(split_state *s, int32_t from, int32_t to, int32_t last, int64_t base) {
  tesela__arena_problem *a = s->arena;
  int32_t first = a->item[s->list[from]].first, n = 0;
  for (int32_t k = from; k < to && a->plain; k++) {
    tesela__arena_item *x = &a->item[s->list[k]];
    if (x->first == first && x->last == last) {
      x->offset = base;
      base += x->size;
    } else {
      s->list[from + n++] = s->list[k];
    }
  }
  s->top = tesela__max(s->top, base);
  if (!a->plain || n == to - from)
    s->part[s->n_parts++] = (split_part){from, to, base};
  else if (n > 0)
    s->open[s->n_open++] = (split_part){from, from + n, base};
}

static void split_run(split_state *s, int64_t until) {
  tesela__arena_problem *a = s->arena;
  s->open[s->n_open++] = (split_part){0, a->n, 0};
  while (s->n_open > 0) {
    split_part p = s->open[--s->n_open];
    if (a->work >= until) {
      s->part[s->n_parts++] = p;
      continue;
    }
    int32_t from = p.from, last = a->item[s->list[from]].last;
    for (int32_t k = p.from + 1; k < p.to; k++) {
      const tesela__arena_item *x = &a->item[s->list[k]];
      if (x->first >= last) {
        split_lay(s, from, k, last, p.base);
        from = k;
      }
      last = x->last > last ? x->last : last;
    }
    split_lay(s, from, p.to, last, p.base);
    a->work += 4 * (int64_t)(p.to - p.from);
  }
}

/* Sort parts by their lower bounds, the highest first. */
static void split_order(split_state *s) {
  const tesela__arena_problem *a = s->arena;
  for (int32_t k = 0; k < s->n_parts; k++) {
    const split_part *p = &s->part[k];
    int64_t live = 0;
    int32_t last = a->item[s->list[p->from]].first;
    for (int32_t i = p->from; i < p->to; i++)
      last = a->item[s->list[i]].last > last ? a->item[s->list[i]].last : last;
    for (int32_t t = a->item[s->list[p->from]].first; t < last; t++) live = tesela__max(live, a->live[t]);
    s->turn[k] = (tesela__arena_key){-live, k};
  }
  tesela__arena_sort(s->turn, s->n_parts);
}

/* Plan one part; its share of the remaining work depends on the items of the others. */
static tesela_status split_solve(split_state *s, const split_part *p, int64_t capacity, int32_t others,
                                 tesela_error *err) {
  tesela__arena_problem *a = s->arena, part;
  int32_t n = p->to - p->from;
  tesela_status status = tesela__arena_open_part(&part, a, n, s->list + p->from, err);
  if (status != TESELA_OK) return status;
  int64_t bound = part.bound, low = tesela__max(s->top, a->bound) - p->base;
  part.limit = tesela__max((a->limit - a->work) / ((int64_t)n + others) * n, 0);
  part.bound = tesela__max(bound, low);
  status = tesela__arena_solve_part(&part, capacity > 0 ? capacity - p->base : 0, err);
  if (status == TESELA_OK) {
    for (int32_t i = 0; i < n; i++) a->item[part.item[i].index].offset = p->base + part.best[i];
    a->work += part.work;
    s->top = tesela__max(s->top, p->base + part.best_peak);
    s->bound = tesela__max(s->bound, p->base + (part.bound > low ? part.bound : bound));
  }
  tesela__arena_close(&part);
  return status;
}

static tesela_status split_all(split_state *s, int64_t capacity, tesela_error *err) {
  tesela__arena_problem *a = s->arena;
  tesela_status status = TESELA_OK;
  int32_t others = 0;
  for (int32_t k = 0; k < s->n_parts; k++) others += s->part[k].to - s->part[k].from;
  split_order(s);
  for (int32_t k = 0; k < s->n_parts && status == TESELA_OK; k++) {
    const split_part *p = &s->part[s->turn[k].item];
    others -= p->to - p->from;
    status = split_solve(s, p, capacity, others, err);
  }
  if (status != TESELA_OK) return status;
  tesela__arena_keep(a);
  a->bound = tesela__max(a->bound, s->bound);
  return TESELA_OK;
}

tesela_status tesela__arena_solve(tesela__arena_problem *a, int64_t capacity, tesela_error *err) {
  split_state s = {.arena = a};
  uint64_t most = (uint64_t)a->n + 1;
  tesela_status status;
  if (a->n == 0) tesela__arena_keep(a);
  if (a->best_peak <= tesela__max(capacity, a->bound)) return TESELA_OK;
  s.list = tesela__alloc(&a->memory, most * sizeof *s.list, alignof(int32_t));
  s.open = tesela__alloc(&a->memory, 2 * most * sizeof *s.open, alignof(split_part));
  s.turn = tesela__alloc(&a->memory, most * sizeof *s.turn, alignof(tesela__arena_key));
  if (s.list && s.open && s.turn) {
    s.part = s.open + most;
    for (int32_t i = 0; i < a->n; i++) s.list[i] = i;
    split_run(&s, a->work + (a->limit - a->work) / 16);
    bool whole = s.n_parts == 1 && s.part[0].to - s.part[0].from == a->n;
    status = whole ? tesela__arena_solve_part(a, capacity, err) : split_all(&s, capacity, err);
  } else {
    status = tesela__fail(err, TESELA_E_MEMORY, -1, "no memory to split %" PRId32 " buffers", a->n);
  }
  tesela__release(&a->memory, s.turn);
  tesela__release(&a->memory, s.open);
  tesela__release(&a->memory, s.list);
  return status;
}
