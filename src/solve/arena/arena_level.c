/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena_level.c - the candidates for the lowest free level of a part of the problem, and the section to decide next.
 *
 * Let f be the lowest offset at which any item can be placed now. In a section where f is the least offset of all its items,
 * either an item that can rest at f is placed there, or the space stays empty up to the top of some later item. The bytes left
 * in a section must fit above its least offset: that prunes, and without slack it decides.
 *
 * Sections with few choices come first, more so if searches failed there often (`heat`), or (`tight`) those with little slack.
 */
#include "solve/arena/search.h"

void tesela__arena_activate(tesela__arena_search *s, int32_t from, int32_t to) {
  const tesela__arena_problem *a = s->arena;
  s->n_active = 0;
  for (int32_t i = a->start[from]; i < a->start[to]; i++)
    if (!s->placed[i]) s->active[s->n_active++] = i;
  s->arena->work += a->start[to] - a->start[from];
}

static bool level_covers(const tesela__arena_item *x, int32_t section) {
  return x->first <= section && section < x->last;
}

/* Are at least `need` bytes too many for a section? */
static bool level_exceeds(tesela__arena_search *s, int32_t section, int64_t need) {
  if (need <= s->capacity) return false;
  s->need = tesela__min(s->need, need);
  s->heat[section] += s->heat[section] < INT32_MAX;
  return true;
}

/* The lowest top that an item which meets x outside the section can get: x may rest on it. */
static int64_t level_step_up(const tesela__arena_search *s, const tesela__arena_item *x, int32_t section) {
  int64_t top = TESELA__ARENA_NEVER;
  for (int32_t k = 0; k < s->n_active; k++) {
    const tesela__arena_item *y = &s->arena->item[s->active[k]];
    if (tesela__arena_meet(x, y) && !level_covers(y, section))
      top = tesela__min(top, s->low[s->active[k]] + y->size);
  }
  return top;
}

/* The lowest item of the section rests on an item outside of it (`lift`); every other one rests on such an item or on one of
 * the section, and so above the lowest top that those can get. */
bool tesela__arena_raise(tesela__arena_search *s, int32_t section, int64_t level) {
  tesela__arena_problem *a = s->arena;
  int64_t least = TESELA__ARENA_NEVER, top = TESELA__ARENA_NEVER;
  for (int32_t k = 0; k < s->n_active; k++) {
    int32_t i = s->active[k];
    if (!level_covers(&a->item[i], section)) continue;
    s->lift[i] = s->low[i];
    if (s->low[i] <= level) {
      if (a->item[i].fixed >= 0) return false;
      s->lift[i] = level_step_up(s, &a->item[i], section);
      a->work += s->n_active;
      if (s->lift[i] < TESELA__ARENA_NEVER) s->lift[i] = tesela__arena_past_fixed(a, i, s->lift[i]);
    }
    least = tesela__min(least, s->lift[i]);
    if (s->lift[i] < TESELA__ARENA_NEVER) top = tesela__min(top, s->lift[i] + a->item[i].size);
  }
  a->work += s->n_active;
  if (least >= TESELA__ARENA_NEVER || level_exceeds(s, section, least + s->left[section])) return false;
  for (int32_t k = 0; k < s->n_active; k++) {
    int32_t i = s->active[k];
    if (!level_covers(&a->item[i], section) || s->low[i] > level) continue;
    tesela__arena_set(s, &s->low[i], tesela__arena_past_fixed(a, i, tesela__min(s->lift[i], top)));
  }
  return !s->starved;
}

/* The lowest offset at which an item can be placed now, or TESELA__ARENA_NEVER; no other item can be below it. */
static int64_t level_lowest(tesela__arena_search *s) {
  int64_t lowest = TESELA__ARENA_NEVER;
  for (int32_t k = 0; k < s->n_active; k++) {
    int32_t i = s->active[k];
    if (s->low[i] == s->rest[i]) lowest = tesela__min(lowest, s->low[i]);
  }
  if (lowest >= TESELA__ARENA_NEVER) return lowest;
  for (int32_t k = 0; k < s->n_active; k++) {
    int32_t i = s->active[k];
    if (s->low[i] < lowest) tesela__arena_set(s, &s->low[i], tesela__arena_past_fixed(s->arena, i, lowest));
  }
  return lowest;
}

static bool level_is_candidate(const tesela__arena_search *s, int32_t i, int64_t level) {
  return s->low[i] == level && s->rest[i] == level && (s->twin[i] < 0 || s->placed[s->twin[i]]);
}

/* Least offsets and candidates of all sections of a part; the smallest item. */
static int64_t level_count(tesela__arena_search *s, int32_t from, int32_t to, int64_t level) {
  tesela__arena_problem *a = s->arena;
  int64_t smallest = INT64_MAX;
  for (int32_t t = from; t < to; t++) {
    s->level[t] = TESELA__ARENA_NEVER;
    s->count[t] = 0;
  }
  for (int32_t k = 0; k < s->n_active; k++) {
    int32_t i = s->active[k], good = level_is_candidate(s, i, level);
    const tesela__arena_item *x = &a->item[i];
    int64_t low = s->low[i];
    smallest = tesela__min(smallest, x->size);
    for (int32_t t = x->first; t < x->last; t++) {
      if (low < s->level[t]) s->level[t] = low;
      s->count[t] += good;
    }
    a->work += x->last - x->first;
  }
  a->work += 2 * (int64_t)s->n_active + to - from;
  return smallest;
}

/* The section to decide: few choices, much heat. -1: a section without candidates was raised; -2: no plan. */
static int32_t level_pick(tesela__arena_search *s, int32_t from, int32_t to, int64_t level,
                          int64_t smallest) {
  int32_t found = -1;
  int64_t choices = 0;
  for (int32_t t = from; t < to; t++)
    if (s->left[t] > 0 && level_exceeds(s, t, s->level[t] + s->left[t])) return -2;
  for (int32_t t = from; t < to; t++) {
    if (s->left[t] == 0 || s->level[t] != level) continue;
    if (s->count[t] == 0) return tesela__arena_raise(s, t, level) ? -1 : -2;
    int64_t slack = s->capacity - level - s->left[t], here = s->count[t] + (slack >= smallest);
    if (here == 1) return t;
    here = s->tight ? 1000 * here + slack / (s->capacity / 10000 + 1) : 10 * here - 9;
    int64_t heat = s->tight || found < 0 ? 0 : s->heat[found], heat_here = s->tight ? 0 : s->heat[t];
    if (found >= 0 && here * (heat + 1) >= choices * (heat_here + 1)) continue; /* below 2^24 and 2^32 */
    found = t;
    choices = here;
  }
  return found;
}

/* Candidates by rank, best first. */
static void level_list(tesela__arena_search *s, tesela__arena_frame *frame) {
  uint64_t need = frame->candidates + (uint64_t)s->count[frame->section];
  void *items = s->candidate;
  if (!tesela__grow(&s->arena->memory, &items, sizeof *s->candidate, &s->most_candidates, need)) {
    s->starved = true;
    return;
  }
  s->candidate = items;
  int32_t *list = s->candidate + frame->candidates, n = 0;
  for (int32_t k = 0; k < s->n_active; k++) {
    int32_t i = s->active[k], at = n;
    if (!level_covers(&s->arena->item[i], frame->section) || !level_is_candidate(s, i, frame->level))
      continue;
    for (; at > 0 && s->rank[list[at - 1]] > s->rank[i]; at--) list[at] = list[at - 1];
    list[at] = i;
    n++;
  }
  s->arena->work += s->n_active;
  frame->n_candidates = n;
}

bool tesela__arena_decide(tesela__arena_search *s, tesela__arena_frame *frame) {
  tesela__arena_activate(s, frame->from, frame->to);
  int32_t found;
  do {
    frame->level = level_lowest(s);
    if (frame->level >= TESELA__ARENA_NEVER || s->starved) return false;
    int64_t smallest = level_count(s, frame->from, frame->to, frame->level);
    found = level_pick(s, frame->from, frame->to, frame->level, smallest);
    if (found == -2) return false;
  } while (found < 0 && !tesela__arena_spent(s->arena, s->until));
  if (found < 0) return true; /* the work is spent, which the caller notices */
  frame->section = found;
  frame->next = 0;
  level_list(s, frame);
  return !s->starved;
}
