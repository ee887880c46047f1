/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena_search.c - is there a plan below a capacity? A sequence of decisions, undone at dead ends.
 *
 * After each decision the rest of the problem splits into parts: runs of sections that no unplaced item leaves. Each
 * part is placed independently, and if one cannot be placed, the decision that made the parts must change, for any
 * choices in the other parts. So decisions form a tree; one array has them in their order, each with its parent.
 */
#include "solve/arena/search.h"

/* ---- state ------------------------------------------------------------------------------------------------- */

/* Equal items are placed in one order only. Each is linked to the previous one if that is nearby. */
static void arena_find_twins(tesela__arena_search *s) {
  const tesela__arena_problem *a = s->arena;
  for (int32_t i = 0; i < a->n; i++) {
    const tesela__arena_item *x = &a->item[i];
    s->twin[i] = -1;
    for (int32_t j = i - 1; j >= 0 && j >= i - 64 && x->fixed < 0 && s->twin[i] < 0; j--) {
      const tesela__arena_item *y = &a->item[j];
      if (y->first != x->first || y->last != x->last) break;
      if (y->size == x->size && y->alignment == x->alignment && y->fixed < 0) s->twin[i] = j;
    }
  }
}

tesela__arena_search *tesela__arena_search_open(tesela__arena_problem *a) {
  const tesela_allocator *m = &a->memory;
  uint64_t most = (uint64_t)a->n + 1;
  tesela__arena_search *s = tesela__alloc(m, sizeof *s, alignof(tesela__arena_search));
  if (!s) return NULL;
  *s = (tesela__arena_search){.arena = a};
  s->rest = tesela__alloc(m, 6 * most * sizeof *s->rest, alignof(int64_t));
  s->count = tesela__alloc(m, 4 * most * sizeof *s->count, alignof(int32_t));
  s->placed = tesela__alloc(m, most, 1);
  if (!s->rest || !s->count || !s->placed) {
    tesela__arena_search_close(s);
    return NULL;
  }
  s->low = s->rest + most;
  s->lift = s->low + most;
  s->left = s->lift + most;
  s->level = s->left + most;
  s->heat = s->level + most;
  s->twin = s->count + most;
  s->rank = s->twin + most;
  s->active = s->rank + most;
  memset(s->heat, 0, (size_t)most * sizeof *s->heat);
  arena_find_twins(s);
  return s;
}

void tesela__arena_search_close(tesela__arena_search *s) {
  if (!s) return;
  tesela_allocator memory = s->arena->memory;
  tesela__release(&memory, s->rest);
  tesela__release(&memory, s->count);
  tesela__release(&memory, s->placed);
  tesela__release(&memory, s->frame);
  tesela__release(&memory, s->candidate);
  tesela__release(&memory, s->change);
  tesela__release(&memory, s);
}

static void arena_start(tesela__arena_search *s, const tesela__arena_key *order) {
  tesela__arena_problem *a = s->arena;
  s->n_changes = 0;
  s->n_frames = 0;
  s->need = TESELA__ARENA_NEVER;
  s->starved = false;
  memset(s->placed, 0, (size_t)a->n);
  for (int32_t t = 0; t < a->n_sections; t++) s->heat[t] /= 2; /* failures of older searches count less */
  memcpy(s->left, a->live, (size_t)a->n_sections * sizeof *s->left);
  for (int32_t k = 0; k < a->n; k++) s->rank[order[k].item] = k;
  for (int32_t i = 0; i < a->n; i++)
    s->low[i] = s->rest[i] = a->item[i].fixed >= 0 ? a->item[i].fixed : tesela__arena_past_fixed(a, i, 0);
}

/* ---- steps ------------------------------------------------------------------------------------------------- */

static void arena_undo(tesela__arena_search *s, size_t mark) {
  s->arena->work += (int64_t)(s->n_changes - mark);
  while (s->n_changes > mark) {
    s->n_changes--;
    *s->change[s->n_changes].at = s->change[s->n_changes].old;
  }
}

/* Place item i at the frame's level. */
static void arena_place(tesela__arena_search *s, tesela__arena_frame *frame, int32_t i) {
  tesela__arena_problem *a = s->arena;
  tesela__arena_item *x = &a->item[i];
  int64_t top = frame->level + x->size;
  s->placed[i] = true;
  x->offset = frame->level;
  frame->placed = i;
  for (int32_t t = x->first; t < x->last; t++) tesela__arena_set(s, &s->left[t], s->left[t] - x->size);
  a->work += x->last - x->first + a->start[x->last] - a->start[frame->from];
  for (int32_t j = a->start[frame->from]; j < a->start[x->last]; j++) {
    if (s->placed[j] || a->item[j].last <= x->first || a->item[j].fixed >= 0 || s->rest[j] >= top) continue;
    int64_t at = tesela__arena_past_fixed(a, j, top);
    tesela__arena_set(s, &s->rest[j], at);
    if (s->low[j] < at) tesela__arena_set(s, &s->low[j], at);
  }
}

/* The end of the next part to place within sections from..to, or -1 if all is placed there. *from moves to its start. */
static int32_t arena_next_part(tesela__arena_search *s, int32_t *from, int32_t to) {
  const tesela__arena_problem *a = s->arena;
  while (*from < to && s->left[*from] == 0) ++*from;
  if (*from >= to) return -1;
  int32_t end = *from + 1;
  for (int32_t i = a->start[*from], t = *from; t < end; t++)
    for (; i < a->start[t + 1]; i++)
      if (!s->placed[i] && a->item[i].last > end) end = a->item[i].last;
  s->arena->work += a->start[end] - a->start[*from];
  return end;
}

/* Push a decision for a part. false: it cannot be placed, or no memory. */
static bool arena_push(tesela__arena_search *s, int32_t from, int32_t to, int32_t parent) {
  size_t n = (size_t)s->n_frames, candidates = 0;
  void *items = s->frame;
  if (!tesela__grow(&s->arena->memory, &items, sizeof *s->frame, &s->most_frames, n + 1)) {
    s->starved = true;
    return false;
  }
  s->frame = items;
  if (n > 0) candidates = s->frame[n - 1].candidates + (size_t)s->frame[n - 1].n_candidates;
  tesela__arena_frame *frame = &s->frame[n];
  *frame =
      (tesela__arena_frame){.from = from, .to = to, .parent = parent, .placed = -1, .candidates = candidates};
  frame->before = s->n_changes;
  if (tesela__arena_decide(s, frame)) {
    frame->before = s->n_changes;
    s->n_frames++;
    return true;
  }
  arena_undo(s, frame->before);
  return false;
}

/* Use the next choice of frame `at` or of its ancestors; returns that frame, or -1 at the end. */
static int32_t arena_choose(tesela__arena_search *s, int32_t at) {
  for (; at >= 0 && !s->starved; at = s->frame[at].parent) {
    tesela__arena_frame *frame = &s->frame[at];
    for (; s->n_frames > at; s->n_frames--)
      if (s->frame[s->n_frames - 1].placed >= 0) s->placed[s->frame[s->n_frames - 1].placed] = false;
    s->n_frames = at + 1;
    arena_undo(s, frame->before);
    frame->placed = -1;
    if (frame->next < frame->n_candidates) {
      arena_place(s, frame, s->candidate[frame->candidates + (size_t)frame->next++]);
      return at;
    }
    if (frame->next++ > frame->n_candidates) continue;
    tesela__arena_activate(s, frame->from, frame->to);
    if (tesela__arena_raise(s, frame->section, frame->level)) return at;
  }
  return -1;
}

tesela__arena_answer tesela__arena_search_run(tesela__arena_search *s, const tesela__arena_key *order,
                                              bool tight, int64_t capacity, int64_t limit, int64_t *need) {
  tesela__arena_problem *a = s->arena;
  s->tight = tight;
  s->capacity = capacity;
  s->until = limit < a->limit - a->work ? a->work + limit : a->limit;
  arena_start(s, order);
  int32_t at = -1, from = 0;
  for (;;) {
    int32_t end = -1;
    for (; (end = arena_next_part(s, &from, at >= 0 ? s->frame[at].to : a->n_sections)) < 0;
         at = s->frame[at].parent) {
      if (at < 0) return TESELA__ARENA_FOUND;
      from = s->frame[at].to;
    }
    bool good = arena_push(s, from, end, at);
    if (s->starved) return TESELA__ARENA_MEMORY;
    if (tesela__arena_spent(a, s->until)) return TESELA__ARENA_ENDED;
    at = arena_choose(s, good ? s->n_frames - 1 : at);
    if (s->starved) return TESELA__ARENA_MEMORY;
    if (at < 0) {
      *need = s->need;
      return TESELA__ARENA_NONE;
    }
    from = s->frame[at].from;
  }
}
