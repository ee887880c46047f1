/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_names.c - items of a list by their names, in a table of open addresses.
 */
#include "records/records.h"

static uint64_t hash_of(const char *const part[2]) {
  return tesela__text_hash(part[0], strlen(part[0])) * 31 + tesela__text_hash(part[1], strlen(part[1]));
}

/* Where a name is, or the free place for it. */
static size_t place_of(const tesela__record_names *names, const void *items, tesela__record_name name,
                       const char *const part[2]) {
  size_t at = (size_t)hash_of(part) & (names->capacity - 1);
  for (; names->place[at]; at = (at + 1) & (names->capacity - 1)) {
    const char *other[2];
    name(items, names->place[at] - 1, other);
    if (strcmp(part[0], other[0]) == 0 && strcmp(part[1], other[1]) == 0) break;
  }
  return at;
}

int64_t tesela__record_find(const tesela__record_names *names, const void *items, tesela__record_name name,
                            const char *first, const char *second) {
  const char *part[2] = {first, second};
  if (names->n == 0) return -1;
  return (int64_t)names->place[place_of(names, items, name, part)] - 1;
}

static bool grow_names(tesela_records *records, tesela__record_names *names, const void *items,
                       tesela__record_name name) {
  tesela__record_names more = {.capacity = names->capacity ? names->capacity * 2 : 64, .n = names->n};
  more.place =
      tesela__alloc(&records->allocator, (uint64_t)more.capacity * sizeof *more.place, alignof(uint32_t));
  if (!more.place) return false;
  memset(more.place, 0, more.capacity * sizeof *more.place);
  for (size_t i = 0; i < names->capacity; i++) {
    if (!names->place[i]) continue;
    const char *part[2];
    name(items, names->place[i] - 1, part);
    more.place[place_of(&more, items, name, part)] = names->place[i];
  }
  tesela__release(&records->allocator, names->place);
  *names = more;
  return true;
}

bool tesela__record_index(tesela_records *records, tesela__record_names *names, const tesela__list *list,
                          tesela__record_name name) {
  if (names->n * 2 >= names->capacity && !grow_names(records, names, list->items, name)) return false;
  if (list->n >= UINT32_MAX) return true;
  const char *part[2];
  name(list->items, list->n - 1, part);
  size_t at = place_of(names, list->items, name, part);
  if (names->place[at]) return true;
  names->place[at] = (uint32_t)list->n;
  names->n++;
  return true;
}

void tesela__record_instruction_name(const void *items, size_t i, const char *part[2]) {
  part[0] = ((const tesela__record_instruction *)items)[i].name;
  part[1] = "";
}

void tesela__record_range_name(const void *items, size_t i, const char *part[2]) {
  part[0] = ((const tesela__record_range *)items)[i].name;
  part[1] = ((const tesela__record_range *)items)[i].member;
}

tesela__record_instruction *tesela__record_instruction_find(const tesela__record_program *program,
                                                            const char *name) {
  tesela__record_instruction *items = program->instruction.items;
  int64_t i = tesela__record_find(&program->instructions, items, tesela__record_instruction_name, name, "");
  return i < 0 ? NULL : &items[i];
}
