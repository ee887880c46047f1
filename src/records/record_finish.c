/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_finish.c - the records of each program joined by name.
 */
#include "records/records.h"

#include <stdlib.h>

/* ---- programs --------------------------------------------------------------------------------------------- */

/* How many of the names of `from`, its instructions and those of its stays, `to` has too; *n receives how many there are. */
static size_t names_in(const tesela__record_program *from, const tesela__record_program *to, size_t *n) {
  const tesela__list *lists[] = {&from->space_name, &from->space_instant};
  const tesela__record_instruction *made = from->instruction.items;
  size_t found = 0;
  *n = from->instruction.n;
  for (size_t i = 0; i < from->instruction.n; i++)
    found += tesela__record_instruction_find(to, made[i].name) != NULL;
  if (*n > 0) return found;
  for (size_t k = 0; k < 2; k++)
    for (size_t i = 0; i < lists[k]->n; i++, ++*n) {
      const char *name = k == 0 ? ((const tesela__record_range *)lists[k]->items)[i].name
                                : ((const char *const *)lists[k]->items)[i];
      found += tesela__record_instruction_find(to, name) != NULL;
    }
  return found;
}

static void move_list(tesela__list *to, tesela__list *from) {
  if (to->n > 0 || from->n == 0) return;
  tesela__list none = *to;
  *to = *from;
  *from = none;
}

/* How well the instructions of a profile's program fit another of the same name: names, and shapes; 0 if most names are missing. */
static size_t fit_of(const tesela__record_program *from, const tesela__record_program *to) {
  const tesela__record_instruction *made = from->instruction.items;
  size_t found = 0, same = 0;
  for (size_t i = 0; i < from->instruction.n; i++) {
    const tesela__record_instruction *other = tesela__record_instruction_find(to, made[i].name);
    found += other != NULL;
    same += other && strcmp(other->shape, made[i].shape) == 0;
  }
  return found * 2 > from->instruction.n ? found + same : 0;
}

static void match_profile(const tesela_records *records, tesela__record_program *from) {
  tesela__record_program **list = records->program.items;
  for (size_t k = 0; k < records->program.n; k++) {
    if (list[k]->profile || strcmp(list[k]->told.name, from->told.name) != 0) continue;
    size_t fit = fit_of(from, list[k]);
    if (fit > from->fit) from->fit = fit, from->match = list[k];
  }
  if (from->match && from->fit > from->match->fit) from->match->fit = from->fit;
}

/* Programs of profiles, given to the module of the same name that has their instructions: those that are equal, else the one that fits
 * best. */
static bool adopt_profiles(tesela_records *records) {
  tesela__record_program **list = records->program.items;
  bool fits = true;
  for (size_t i = 0; i < records->program.n; i++)
    if (list[i]->profile) match_profile(records, list[i]);
  for (size_t i = 0; fits && i < records->program.n; i++) {
    tesela__record_program *from = list[i], *to = from->match;
    if (!to || from->fit != to->fit) continue;
    fits = tesela__record_compare_profile(records, to, from);
    from->key = SIZE_MAX;
  }
  return fits;
}

/* What only memory space assignment wrote, given to the program whose instructions it names. */
static void adopt(tesela_records *records) {
  tesela__record_program **list = records->program.items;
  size_t kept = 0;
  for (size_t i = 0; i < records->program.n; i++) {
    tesela__record_program *from = list[i], *best = NULL;
    size_t most = 0, n;
    for (size_t k = 0; k < records->program.n && from->allocation.n == 0 && !from->profile; k++) {
      if (k == i || list[k]->allocation.n == 0 || list[k]->stay.n > 0) continue;
      size_t found = names_in(from, list[k], &n);
      if (found * 2 > n && found > most) most = found, best = list[k];
    }
    if (best) {
      best->told.kinds |= from->told.kinds;
      move_list(&best->stay, &from->stay);
      move_list(&best->space_name, &from->space_name);
      move_list(&best->space_instant, &from->space_instant);
    }
    if (best) from->key = SIZE_MAX;
  }
  for (size_t i = 0; i < records->program.n; i++) {
    tesela__record_program *program = list[i];
    if (program->key != SIZE_MAX) {
      list[i] = list[kept];
      list[kept++] = program;
    }
  }
}

/* ---- buffers and stays ------------------------------------------------------------------------------------ */

static void join_buffer(const tesela__record_program *program, tesela_record_buffer *buffer) {
  const tesela__record_range *range = program->range.items;
  const tesela__record_instruction *made = tesela__record_instruction_find(program, buffer->instruction);
  const char *member = buffer->member[0] ? buffer->member : "{}";
  int64_t i =
      tesela__record_find(&program->ranges, range, tesela__record_range_name, buffer->instruction, member);
  if (i >= 0) {
    buffer->from = range[i].from;
    buffer->to = range[i].to;
  }
  if (!made) return;
  buffer->op_name = made->op_name;
  buffer->location = made->location;
  if (!buffer->shape[0]) buffer->shape = made->shape;
}

static const char *instant_name(const tesela__list *list, int64_t at) {
  return at >= 0 && (size_t)at < list->n ? ((const char *const *)list->items)[at] : "";
}

static void join_stay(const tesela__record_program *program, tesela_record_stay *stay) {
  const tesela__record_range *name = program->space_name.items;
  for (size_t i = 0; i < program->space_name.n && !stay->buffer[0]; i++)
    if (name[i].from == stay->id) stay->buffer = name[i].name;
  stay->first = instant_name(&program->space_instant, stay->from);
  stay->last = instant_name(&program->space_instant, stay->to);
}

static int by_record_size(const void *a, const void *b) {
  const tesela_record_buffer *x = a, *y = b;
  if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
  if (x->from != y->from) return x->from < y->from ? -1 : 1;
  return (x->id > y->id) - (x->id < y->id);
}

static bool finish_program(tesela_records *records, tesela__record_program *program) {
  tesela_record_program *told = &program->told;
  if (!tesela__record_compare_proto(records, program)) return false;
  tesela_record_buffer *buffer = program->buffer.items;
  tesela_record_stay *stay = program->stay.items;
  for (size_t i = 0; i < program->buffer.n; i++) join_buffer(program, &buffer[i]);
  for (size_t i = 0; i < program->stay.n; i++) join_stay(program, &stay[i]);
  if (!tesela__record_peaks(records, program) || !tesela__record_plan(records, program) ||
      !tesela__record_check(records, program))
    return false;
  if (program->buffer.n > 0) qsort(buffer, program->buffer.n, sizeof *buffer, by_record_size);
  told->n_instants = (int64_t)program->instant.n;
  told->instant = program->instant.items;
  told->n_allocations = (int64_t)program->allocation.n;
  told->allocation = program->allocation.items;
  told->n_buffers = (int64_t)program->buffer.n;
  told->buffer = buffer;
  told->n_stays = (int64_t)program->stay.n;
  told->stay = stay;
  told->n_spaces = (int64_t)program->space.n;
  told->space = program->space.items;
  told->n_differences = (int64_t)program->difference.n;
  told->difference = program->difference.items;
  return true;
}

tesela_status tesela_records_finish(tesela_records *records, tesela_error *err) {
  TESELA__NEED(err, records);
  if (records->finished) return TESELA_OK;
  if (!adopt_profiles(records)) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory");
  adopt(records);
  size_t joined = 0, n = records->program.n;
  tesela__record_program **list = records->program.items;
  for (size_t i = 0; i < n; i++) {
    if (list[i]->key == SIZE_MAX) continue;
    if (!finish_program(records, list[i])) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory");
    joined++;
  }
  records->joined = joined;
  records->finished = true;
  return TESELA_OK;
}
