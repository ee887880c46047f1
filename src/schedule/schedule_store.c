/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule_store.c - room for lists and texts, and the instructions of the open computation by name.
 */
#include "schedule/schedule.h"

enum { SCHEDULE_SMALL = 1 << 12 }; /* items: shorter lists double, longer ones grow by a quarter */

bool tesela__schedule_room(tesela__schedule *s, void *items, size_t size, size_t *capacity, size_t n,
                           size_t more, size_t most) {
  if (n + more <= *capacity) return true;
  if (n + more > most) return tesela__schedule_break(s, 0, "it is too large");
  void *old, *grown;
  memcpy(&old, items, sizeof old);
  size_t room = n < SCHEDULE_SMALL ? 2 * n + 16 : n + n / 4;
  if (room < n + more) room = n + more;
  if (room > PTRDIFF_MAX / size) return false;
  grown = tesela__alloc(&s->memory, room * size, alignof(max_align_t));
  if (!grown) return false;
  if (n > 0) memcpy(grown, old, n * size);
  tesela__release(&s->memory, old);
  memcpy(items, &grown, sizeof grown);
  *capacity = room;
  return true;
}

bool tesela__schedule_text(tesela__schedule *s, tesela__span text, uint32_t *at) {
  *at = (uint32_t)s->n_text;
  if (!tesela__schedule_room(s, &s->text, 1, &s->cap_text, s->n_text, text.n + 1, UINT32_MAX / 2))
    return false;
  if (s->broken) return true;
  memcpy(s->text + s->n_text, text.text, text.n);
  s->text[s->n_text + text.n] = '\0';
  s->n_text += text.n + 1;
  return true;
}

/* ---- names of the open computation ---------------------------------------------------------------------- */

/* Entries of earlier computations count as free. */
static size_t schedule_place(const tesela__schedule *s, tesela__span name, uint64_t hash) {
  int32_t first = s->computation[s->n_computations - 1].first;
  size_t mask = s->names_size - 1, at = (size_t)hash & mask;
  for (; s->names[at].instruction >= first; at = (at + 1) & mask) {
    if (s->names[at].hash != (uint32_t)(hash >> 32)) continue;
    const tesela__schedule_instruction *is = &s->instruction[s->names[at].instruction];
    const char *text = s->text + is->name;
    if (strncmp(text, name.text, name.n) == 0 && text[name.n] == '\0') break;
  }
  return at;
}

int32_t tesela__schedule_find(const tesela__schedule *s, tesela__span name) {
  if (!s->names || s->n_computations == 0) return -1;
  int32_t found = s->names[schedule_place(s, name, tesela__text_hash(name.text, name.n))].instruction;
  return found >= s->computation[s->n_computations - 1].first ? found : -1;
}

tesela__schedule_entry *tesela__schedule_new_name(const tesela__schedule *s, tesela__span name) {
  uint64_t hash = tesela__text_hash(name.text, name.n);
  tesela__schedule_entry *entry = &s->names[schedule_place(s, name, hash)];
  if (entry->instruction >= s->computation[s->n_computations - 1].first) return NULL;
  entry->hash = (uint32_t)(hash >> 32);
  return entry;
}

bool tesela__schedule_grow_names(tesela__schedule *s) {
  size_t first = (size_t)s->computation[s->n_computations - 1].first;
  if (s->names && s->n_instructions - first < s->names_size / 2) return true;
  size_t size = s->names ? s->names_size * 2 : 256;
  tesela__schedule_entry *names =
      tesela__alloc(&s->memory, size * sizeof *names, alignof(tesela__schedule_entry));
  if (!names) return false;
  memset(names, 0xff, size * sizeof *names);
  tesela__release(&s->memory, s->names);
  s->names = names;
  s->names_size = size;
  for (size_t i = first; i < s->n_instructions; i++)
    tesela__schedule_new_name(s, tesela__text(s->text + s->instruction[i].name))->instruction = (int32_t)i;
  return true;
}
