/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_proto.c - HloProto: instructions, and the buffer assignment; beside the texts of the same module both must say the same.
 *
 * Fields of XLA's hlo.proto: HloProto 1 module, 3 buffer assignment; module 1 name, 3 computations; computation 2 instructions;
 * instruction 1 name, 3 shape, 7 metadata, 35 id; assignment 1 values, 3 allocations; value 1 id, 2 size, 3 where it is defined,
 * 4 colour; allocation 1 number, 2 size, 3 thread-local, 5 and 6 parameter, 7 live out, 8 colour, 9 values, 12 constant.
 */
#include "records/record_proto.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_INDEX = 16 };

typedef struct proto_instruction {
  uint64_t id;
  const char *name;
  tesela__wire shape;
} proto_instruction;

typedef struct proto_value {
  int64_t id;
  uint64_t instruction;
  tesela__span name; /* of the instruction, in older files */
  int64_t index[MOST_INDEX];
  int n_index;
} proto_value;

typedef struct proto_reader {
  tesela__record_file *file;
  tesela__list instruction, value;
  bool no_memory;
} proto_reader;

static tesela__span text_of(const tesela__wire_field *field) {
  return (tesela__span){(const char *)field->bytes, field->type == TESELA__WIRE_BYTES ? field->n : 0};
}

/* A name as text without NUL bytes, so that it can be compared and printed. */
static const char *copy_name(proto_reader *reader, tesela__span text) {
  const char *zero = text.n > 0 ? memchr(text.text, '\0', text.n) : NULL;
  if (zero) text.n = (size_t)(zero - text.text);
  const char *copy = tesela__record_text(reader->file->records, text);
  reader->no_memory = reader->no_memory || !copy;
  return copy;
}

/* ---- module ----------------------------------------------------------------------------------------------- */

/* OpMetadata: 2 op_name, 3 source_file, 4 source_line. */
static void read_metadata(proto_reader *reader, tesela__wire *wire, const tesela__wire_field *field,
                          tesela__record_instruction *to) {
  tesela__wire inside = tesela__wire_inside(wire, field);
  tesela__wire_field part;
  tesela__span file = {"", 0};
  uint64_t line = 0;
  while (tesela__wire_next(&inside, &part)) {
    if (part.number == 2) to->op_name = copy_name(reader, text_of(&part));
    if (part.number == 3) file = text_of(&part);
    if (part.number == 4) line = part.value;
  }
  tesela__wire_after(wire, &inside);
  if (file.n == 0 || file.n > 400) return;
  char room[440];
  int n = snprintf(room, sizeof room, "%.*s:%" PRIu64, (int)file.n, file.text, line);
  to->location = copy_name(reader, (tesela__span){room, (size_t)n});
}

bool tesela__record_compare_shapes(tesela_records *records, tesela__record_program *program, const char *name,
                                   const char *proto, const char *text) {
  if (!proto[0] || text[0] == '(') return true;
  program->told.checked++;
  return strcmp(proto, text) == 0 ||
         tesela__record_differ(records, program, TESELA_RECORD_BINARY,
                               "%.60s is %.100s in the HloProto and %.100s in the HLO text", name, proto,
                               text);
}

static bool keep_instruction(proto_reader *reader, const tesela__record_instruction *made) {
  tesela__record_program *program = reader->file->program;
  tesela_records *records = reader->file->records;
  const tesela__record_instruction *other = tesela__record_instruction_find(program, made->name);
  if (other) return tesela__record_compare_shapes(records, program, made->name, made->shape, other->shape);
  tesela__record_instruction *to = tesela__record_more(records, &program->instruction, sizeof *to);
  if (!to) return false;
  *to = *made;
  return tesela__record_index(records, &program->instructions, &program->instruction,
                              tesela__record_instruction_name);
}

static void read_instruction_proto(proto_reader *reader, tesela__wire *wire,
                                   const tesela__wire_field *field) {
  tesela__wire inside = tesela__wire_inside(wire, field), shape = {0};
  tesela__wire_field part;
  tesela_records *records = reader->file->records;
  tesela__record_instruction made = {"", "", "", "", true};
  uint64_t id = 0;
  while (!reader->no_memory && tesela__wire_next(&inside, &part)) {
    if (part.number == 1) made.name = copy_name(reader, text_of(&part));
    if (part.number == 3) shape = tesela__wire_inside(&inside, &part);
    if (part.number == 7) read_metadata(reader, &inside, &part, &made);
    if (part.number == 35) id = part.value;
  }
  if (!tesela__wire_after(wire, &inside) || reader->no_memory) return;
  proto_instruction *to = tesela__record_more(records, &reader->instruction, sizeof *to);
  if (to) *to = (proto_instruction){id, made.name, shape};
  tesela__proto_text text = {.n = 0};
  bool is_tuple;
  if (!tesela__proto_shape(&shape, NULL, 0, &is_tuple, &text)) tesela__wire_after(wire, &shape);
  made.shape = copy_name(reader, (tesela__span){text.text, text.n});
  if (to && made.shape && !wire->wrong && keep_instruction(reader, &made)) return;
  reader->no_memory = reader->no_memory || !wire->wrong;
}

static void read_module(proto_reader *reader, tesela__wire *module) {
  tesela__record_program *program = reader->file->program;
  tesela__wire_field field, part;
  while (!reader->no_memory && tesela__wire_next(module, &field)) {
    if (field.number == 1 && !program->told.name[0]) {
      const char *name = copy_name(reader, text_of(&field));
      program->told.name = name ? name : "";
    }
    if (field.number != 3) continue;
    tesela__wire computation = tesela__wire_inside(module, &field);
    while (!reader->no_memory && tesela__wire_next(&computation, &part))
      if (part.number == 2) read_instruction_proto(reader, &computation, &part);
    tesela__wire_after(module, &computation);
  }
}

/* ---- buffer assignment ------------------------------------------------------------------------------------ */

static void read_value_proto(proto_reader *reader, tesela__wire *wire, const tesela__wire_field *field) {
  tesela__wire inside = tesela__wire_inside(wire, field);
  tesela__wire_field part, place;
  proto_value value = {.id = 0};
  while (tesela__wire_next(&inside, &part)) {
    if (part.number == 1) value.id = (int64_t)part.value;
    if (part.number != 3) continue;
    tesela__wire defined = tesela__wire_inside(&inside, &part);
    while (tesela__wire_next(&defined, &place)) {
      if (place.number == 2) value.name = text_of(&place);
      if (place.number == 3 && !tesela__wire_list(&defined, &place, value.index, MOST_INDEX, &value.n_index))
        break;
      if (place.number == 4) value.instruction = place.value;
    }
    tesela__wire_after(&inside, &defined);
  }
  if (!tesela__wire_after(wire, &inside)) return;
  proto_value *to = tesela__record_more(reader->file->records, &reader->value, sizeof *to);
  reader->no_memory = !to;
  if (to) *to = value;
}

static void read_assigned(proto_reader *reader, tesela__wire *wire, const tesela__wire_field *field,
                          size_t allocation) {
  tesela__wire inside = tesela__wire_inside(wire, field);
  tesela__wire_field part;
  tesela_record_buffer buffer = {.instruction = "",
                                 .member = "",
                                 .shape = "",
                                 .op_name = "",
                                 .location = "",
                                 .allocation = (int64_t)allocation,
                                 .stored_bytes = -1,
                                 .from = -1,
                                 .to = -1,
                                 .carried = -1,
                                 .planned_offset = -1};
  while (tesela__wire_next(&inside, &part)) {
    int64_t value = (int64_t)(part.value & INT64_MAX);
    if (part.number == 1) buffer.id = value;
    if (part.number == 2) buffer.offset = value;
    if (part.number == 3) buffer.bytes = value;
  }
  if (!tesela__wire_after(wire, &inside)) return;
  tesela_record_buffer *to =
      tesela__record_more(reader->file->records, &reader->file->program->proto_buffer, sizeof *to);
  reader->no_memory = !to;
  if (to) *to = buffer;
}

static void read_allocation_proto(proto_reader *reader, tesela__wire *wire, const tesela__wire_field *field) {
  tesela__wire inside = tesela__wire_inside(wire, field);
  tesela__wire_field part;
  tesela__list *list = &reader->file->program->proto_allocation;
  tesela_record_allocation to = {.parameter = -1};
  bool parameter = false, constant = false, local = false;
  int64_t number = 0;
  size_t first = reader->file->program->proto_buffer.n;
  while (!reader->no_memory && tesela__wire_next(&inside, &part)) {
    int64_t value = (int64_t)(part.value & INT64_MAX);
    switch (part.number) {
    case 1:
      to.number = value;
      break;
    case 2:
      to.bytes = value;
      break;
    case 3:
      local = value != 0;
      break;
    case 5:
      parameter = value != 0;
      break;
    case 6:
      number = value;
      break;
    case 7:
      to.live_out = value != 0;
      break;
    case 8:
      to.space = value < 128 ? (int32_t)value : 0;
      break;
    case 9:
      read_assigned(reader, &inside, &part, list->n);
      break;
    case 12:
      constant = value != 0;
      break;
    default:
      break;
    }
  }
  if (!tesela__wire_after(wire, &inside) || reader->no_memory) return;
  to.parameter = parameter ? number : -1;
  to.use = parameter     ? TESELA_RECORD_PARAMETER
           : constant    ? TESELA_RECORD_CONSTANT
           : local       ? TESELA_RECORD_THREAD_LOCAL
           : to.live_out ? TESELA_RECORD_RESULT
                         : TESELA_RECORD_TEMPORARY;
  tesela_record_buffer *buffer = reader->file->program->proto_buffer.items;
  for (size_t i = first; i < reader->file->program->proto_buffer.n; i++) buffer[i].space = to.space;
  tesela_record_allocation *item = tesela__record_more(reader->file->records, list, sizeof *item);
  reader->no_memory = !item;
  if (item) *item = to;
}

/* ---- names ------------------------------------------------------------------------------------------------ */

static int by_id(const void *a, const void *b) {
  uint64_t x = ((const proto_instruction *)a)->id, y = ((const proto_instruction *)b)->id;
  return (x > y) - (x < y);
}

static int by_value_id(const void *a, const void *b) {
  int64_t x = ((const proto_value *)a)->id, y = ((const proto_value *)b)->id;
  return (x > y) - (x < y);
}

static void index_text(const proto_value *value, bool is_tuple, char text[MOST_INDEX * 21 + 3]) {
  size_t n = 0;
  text[0] = '\0';
  if (value->n_index == 0 && !is_tuple) return;
  text[n++] = '{';
  for (int i = 0; i < value->n_index; i++)
    n += (size_t)snprintf(text + n, 22, "%s%" PRId64, i ? "," : "", value->index[i]);
  memcpy(text + n, "}", 2);
}

static void name_buffer(proto_reader *reader, tesela_record_buffer *buffer) {
  proto_value key = {.id = buffer->id},
              *value = reader->value.n == 0
                           ? NULL
                           : bsearch(&key, reader->value.items, reader->value.n, sizeof key, by_value_id);
  if (!value) return;
  proto_instruction id = {.id = value->instruction},
                    *made = reader->instruction.n == 0 ? NULL
                                                       : bsearch(&id, reader->instruction.items,
                                                                 reader->instruction.n, sizeof id, by_id);
  if (!made || value->name.n > 0) {
    buffer->instruction = copy_name(reader, value->name);
    return;
  }
  tesela__proto_text text = {.n = 0};
  char member[MOST_INDEX * 21 + 3];
  bool is_tuple;
  tesela__wire shape = made->shape;
  tesela__proto_shape(&shape, value->index, value->n_index, &is_tuple, &text);
  index_text(value, is_tuple, member);
  buffer->instruction = made->name;
  buffer->member = copy_name(reader, tesela__text(member));
  buffer->shape = copy_name(reader, (tesela__span){text.text, text.n});
}

static void name_buffers(proto_reader *reader) {
  tesela__list *list = &reader->file->program->proto_buffer;
  if (reader->instruction.n > 0)
    qsort(reader->instruction.items, reader->instruction.n, sizeof(proto_instruction), by_id);
  if (reader->value.n > 0) qsort(reader->value.items, reader->value.n, sizeof(proto_value), by_value_id);
  for (size_t i = 0; i < list->n && !reader->no_memory; i++)
    name_buffer(reader, &((tesela_record_buffer *)list->items)[i]);
}

static void read_proto(proto_reader *reader, tesela__wire *wire) {
  tesela__wire_field field, part;
  while (!reader->no_memory && tesela__wire_next(wire, &field)) {
    tesela__wire inside = tesela__wire_inside(wire, &field);
    if (field.number == 1) read_module(reader, &inside);
    while (field.number == 3 && !reader->no_memory && tesela__wire_next(&inside, &part)) {
      if (part.number == 1) read_value_proto(reader, &inside, &part);
      if (part.number == 3) read_allocation_proto(reader, &inside, &part);
    }
    tesela__wire_after(wire, &inside);
  }
  name_buffers(reader);
}

bool tesela__record_break_at(tesela__record_file *file, const tesela__wire *wire) {
  const char *slash = strrchr(file->path, '/');
  return tesela__record_differ(file->records, file->program, TESELA_RECORD_BROKEN,
                               "%.120s: byte %" PRId64 ": %s; the rest of the file is not read",
                               slash ? slash + 1 : file->path, wire->at, wire->wrong);
}

bool tesela__record_proto_in(tesela__record_file *file, tesela__wire *wire) {
  proto_reader reader = {.file = file};
  read_proto(&reader, wire);
  bool fits = !reader.no_memory && (!wire->wrong || tesela__record_break_at(file, wire));
  tesela__release(&file->records->allocator, reader.instruction.items);
  tesela__release(&file->records->allocator, reader.value.items);
  return fits;
}

bool tesela__record_proto(tesela__record_file *file) {
  const unsigned char *start = (const unsigned char *)file->rest.text;
  tesela__wire wire = {.start = start, .p = start, .end = start + file->rest.n};
  return tesela__record_proto_in(file, &wire);
}

/* ---- beside the text -------------------------------------------------------------------------------------- */

static int by_buffer(const void *a, const void *b) {
  const tesela_record_buffer *x = a, *y = b;
  if (x->allocation != y->allocation) return x->allocation < y->allocation ? -1 : 1;
  return (x->id > y->id) - (x->id < y->id);
}

static bool same_buffer(const tesela_record_buffer *a, const tesela_record_buffer *b) {
  bool shapes = !a->shape[0] || !b->shape[0] || b->shape[0] == '(' || a->shape[0] == '(' ||
                strcmp(a->shape, b->shape) == 0;
  return a->id == b->id && a->offset == b->offset && a->bytes == b->bytes && a->space == b->space && shapes &&
         strcmp(a->instruction, b->instruction) == 0 && strcmp(a->member, b->member) == 0;
}

static bool compare_buffers(tesela_records *records, tesela__record_program *program) {
  tesela_record_buffer *text = program->buffer.items, *proto = program->proto_buffer.items;
  size_t n = program->buffer.n < program->proto_buffer.n ? program->buffer.n : program->proto_buffer.n;
  if (program->buffer.n != program->proto_buffer.n &&
      !tesela__record_differ(records, program, TESELA_RECORD_BINARY,
                             "the HloProto has %zu values in memory, the buffer assignment %zu",
                             program->proto_buffer.n, program->buffer.n))
    return false;
  if (n == 0) return true;
  qsort(text, program->buffer.n, sizeof *text, by_buffer);
  qsort(proto, program->proto_buffer.n, sizeof *proto, by_buffer);
  for (size_t i = 0; i < n; i++) {
    program->told.checked++;
    if (same_buffer(&text[i], &proto[i])) continue;
    if (!tesela__record_differ(records, program, TESELA_RECORD_BINARY,
                               "%.40s%.20s: the HloProto has %" PRId64 " bytes at %" PRId64
                               " of %.60s%.20s, the text %" PRId64 " bytes at %" PRId64,
                               text[i].instruction, text[i].member, proto[i].bytes, proto[i].offset,
                               proto[i].instruction, proto[i].member, text[i].bytes, text[i].offset))
      return false;
  }
  return true;
}

bool tesela__record_compare_proto(tesela_records *records, tesela__record_program *program) {
  const tesela_record_allocation *text = program->allocation.items, *proto = program->proto_allocation.items;
  size_t n = program->allocation.n;
  if (program->proto_allocation.n == 0) return true;
  if (n == 0) {
    program->allocation = program->proto_allocation;
    program->buffer = program->proto_buffer;
    program->proto_allocation = program->proto_buffer = (tesela__list){.n = 0};
    return true;
  }
  if (n != program->proto_allocation.n)
    return tesela__record_differ(records, program, TESELA_RECORD_BINARY,
                                 "the HloProto has %zu allocations, the buffer assignment %zu",
                                 program->proto_allocation.n, n);
  for (size_t i = 0; i < n; i++)
    if ((text[i].number != proto[i].number || text[i].bytes != proto[i].bytes ||
         text[i].space != proto[i].space || text[i].use != proto[i].use ||
         text[i].live_out != proto[i].live_out || text[i].parameter != proto[i].parameter) &&
        !tesela__record_differ(records, program, TESELA_RECORD_BINARY,
                               "allocation %" PRId64 " has %" PRId64 " bytes in the HloProto and %" PRId64
                               " in the buffer assignment, or another use",
                               text[i].number, proto[i].bytes, text[i].bytes))
      return false;
  return compare_buffers(records, program);
}
