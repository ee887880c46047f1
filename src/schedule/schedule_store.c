/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule_store.c - room for lists and texts, and the instructions of the open computation by name.
 */
#include "schedule/schedule.h"

bool tesela__schedule_room(tesela__schedule *s, void *items, size_t size, size_t *capacity, size_t n,
                           size_t more, size_t most) {
  if (n + more <= *capacity) return true;
  if (n + more > most) return tesela__schedule_break(s, 0, "it is too large");
  void *grown;
  memcpy(&grown, items, sizeof grown);
  if (!tesela__grow(&s->memory, &grown, size, capacity, n + more)) return false;
  memcpy(items, &grown, sizeof grown);
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
    if (is->name_length == name.n && memcmp(s->text + is->name, name.text, name.n) == 0) break;
  }
  return at;
}

int32_t tesela__schedule_find(const tesela__schedule *s, tesela__span name) {
  if (!s->names || s->n_computations == 0) return -1;
  int32_t found = s->names[schedule_place(s, name, tesela__text_hash(name.text, name.n))].instruction;
  return found >= s->computation[s->n_computations - 1].first ? found : -1;
}

void tesela__schedule_add_name(tesela__schedule *s, int32_t instruction) {
  const tesela__schedule_instruction *is = &s->instruction[instruction];
  tesela__span name = {s->text + is->name, is->name_length};
  uint64_t hash = tesela__text_hash(name.text, name.n);
  s->names[schedule_place(s, name, hash)] = (tesela__schedule_entry){instruction, (uint32_t)(hash >> 32)};
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
  for (size_t i = first; i < s->n_instructions; i++) tesela__schedule_add_name(s, (int32_t)i);
  return true;
}
