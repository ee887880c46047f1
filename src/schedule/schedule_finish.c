/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule_finish.c - a module from its first line to its peaks: open, finish, close.
 */
#include "schedule/schedule.h"

tesela__schedule *tesela__schedule_open(const tesela_allocator *memory, tesela__span header) {
  tesela__schedule *s = tesela__alloc(memory, sizeof *s, alignof(tesela__schedule));
  if (!s) return NULL;
  *s = (tesela__schedule){.memory = *memory, .entry = -1};
  uint32_t empty;
  if (tesela__schedule_text(s, (tesela__span){"", 0}, &empty) &&
      tesela__schedule_room(s, &s->source, sizeof *s->source, &s->cap_sources, 0, 1, TESELA__SCHEDULE_MOST) &&
      tesela__schedule_donations(s, header)) {
    s->source[s->n_sources++] = (tesela__schedule_origin){empty, empty};
    return s;
  }
  tesela__schedule_close(s);
  return NULL;
}

void tesela__schedule_close(tesela__schedule *s) {
  if (!s) return;
  void *const owned[] = {s->text,    s->node,   s->member, s->shape,  s->instruction, s->computation,
                         s->operand, s->callee, s->alias,  s->reuse,  s->donation,    s->names,
                         s->shapes,  s->frame,  s->env,    s->value,  s->pair,        s->instant,
                         s->order,   s->buffer, s->peak,   s->source, s->async};
  for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) tesela__release(&s->memory, owned[i]);
  tesela_allocator memory = s->memory;
  tesela__release(&memory, s);
}

/* ---- the end of the module ------------------------------------------------------------------------------ */

/* Replace the hashes of called computations by their numbers. */
static bool schedule_find_callees(tesela__schedule *s) {
  size_t size = 256;
  while (size < 2 * s->n_computations) size *= 2;
  int32_t *table = tesela__alloc(&s->memory, size * sizeof *table, alignof(int32_t));
  if (!table) return false;
  memset(table, 0xff, size * sizeof *table);
  for (size_t i = 0; i < s->n_computations; i++) {
    size_t at = (size_t)s->computation[i].hash & (size - 1);
    while (table[at] >= 0 && s->computation[table[at]].hash != s->computation[i].hash)
      at = (at + 1) & (size - 1);
    if (table[at] >= 0) tesela__schedule_break(s, 0, "two computations have one name");
    table[at] = (int32_t)i;
  }
  for (size_t i = 0; i < s->n_callees; i++) {
    size_t at = (size_t)s->callee[i] & (size - 1);
    while (table[at] >= 0 && s->computation[table[at]].hash != s->callee[i]) at = (at + 1) & (size - 1);
    if (table[at] < 0) tesela__schedule_break(s, 0, "a computation that is called is missing");
    s->callee[i] = (uint64_t)(int64_t)table[at];
  }
  tesela__release(&s->memory, table);
  return true;
}

static void schedule_release(tesela__schedule *s, void **const *spare, size_t n) {
  for (size_t i = 0; i < n; i++) {
    tesela__release(&s->memory, *spare[i]);
    *spare[i] = NULL;
  }
}

/* Release what only reading needs. */
static void schedule_end_reading(tesela__schedule *s) {
  void **const spare[] = {(void **)&s->names, (void **)&s->shapes};
  schedule_release(s, spare, sizeof spare / sizeof spare[0]);
  s->names_size = s->shapes_size = 0;
}

/* Release what only the walk needs. */
static void schedule_shrink(tesela__schedule *s) {
  void **const spare[] = {(void **)&s->env, (void **)&s->pair, (void **)&s->frame, (void **)&s->callee,
                          (void **)&s->async};
  schedule_release(s, spare, sizeof spare / sizeof spare[0]);
  s->cap_env = s->cap_pairs = s->cap_frames = s->cap_callees = s->cap_asyncs = 0;
}

bool tesela__schedule_finish(tesela__schedule *s) {
  if (s->inside) tesela__schedule_break(s, 0, "the text ends inside a computation");
  if (s->entry < 0) tesela__schedule_break(s, 0, "the ENTRY computation is missing");
  tesela__schedule_size_tables(s);
  schedule_end_reading(s);
  if (!s->broken && !schedule_find_callees(s)) return false;
  if (!s->broken && !tesela__schedule_find_reuses(s)) return false;
  if (!s->broken && !tesela__schedule_walk(s)) return false;
  if (!s->broken && !tesela__schedule_join(s)) return false;
  if (!s->broken && !tesela__schedule_measure(s)) return false;
  schedule_shrink(s);
  return true;
}
