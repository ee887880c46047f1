/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_table.c - distinct shape texts, and the rows of the report.
 *
 * A dump of a gigabyte has some thousand distinct shape texts. Each is read and measured once; after that an
 * instruction costs the hash of its shape text and one comparison. A row is a shape in a role ("copy",
 * "argument"), or one entry of a memory report. Both tables only grow, up to their limits; beyond those,
 * shapes are measured each time and go to the totals alone.
 */
#include "report/report_state.h"

/* FNV-1a over eight bytes at a time: texts are 5 to 100 bytes long and far from random. */
/* ---- shapes -------------------------------------------------------------------------------------------- */

/* The type word a shape starts with, after "b(" for a buffer. */
static tesela_dtype dtype_of_shape(tesela__span text) {
  size_t first = text.n > 2 && text.text[0] == 'b' && text.text[1] == '(' ? 2 : 0, n = first;
  while (n < text.n && text.text[n] != '[') n++;
  return tesela_dtype_find(text.text + first, n - first);
}

void tesela__report_measure(tesela__span text, tesela__shape *shape) {
  tesela_xla_shape parsed;
  tesela_xla_sizes sizes;
  *shape = (tesela__shape){.text = text.text, .length = (uint32_t)text.n, .state = TESELA__SHAPE_UNREADABLE};
  for (int role = 0; role < TESELA_REPORT_N_ROLES; role++) shape->array[role] = -1;
  if (dtype_of_shape(text) == TESELA_DTYPE_NONE) {
    shape->state = TESELA__SHAPE_FOREIGN;
    return;
  }
  if (tesela_xla_parse(text.text, text.n, TESELA_XLA_KEEP_BARE, &parsed, NULL, NULL) != TESELA_OK) return;
  shape->tiled = parsed.layout.n_tiles > 0;
  shape->ordered = parsed.has_layout;
  shape->space = parsed.layout.memory_space;
  if (parsed.kind == TESELA_XLA_TOKEN || parsed.kind == TESELA_XLA_OPAQUE)
    shape->state = TESELA__SHAPE_NO_ARRAY;
  for (int32_t d = 0; d < parsed.rank; d++)
    if (parsed.dim[d] == TESELA_XLA_UNBOUNDED) shape->state = TESELA__SHAPE_UNBOUNDED;
  if (shape->state != TESELA__SHAPE_UNREADABLE || tesela_xla_size(&parsed, &sizes, NULL) != TESELA_OK) return;
  shape->state = TESELA__SHAPE_SIZED;
  shape->stored = sizes.allocated_bytes;
  shape->data = tesela__min(sizes.logical_bytes, sizes.allocated_bytes);
  shape->unpadded = sizes.unpadded_bytes;
}

/* The slot of a text in the index, or the free slot for it. */
static size_t shape_place(const tesela_report *report, tesela__span text, uint64_t hash) {
  size_t mask = report->shape_index_size - 1, at = (size_t)hash & mask;
  for (; report->shape_index[at] >= 0; at = (at + 1) & mask) {
    const tesela__shape *shape = &report->shape[report->shape_index[at]];
    if (shape->hash == hash && shape->length == text.n && memcmp(shape->text, text.text, text.n) == 0) break;
  }
  return at;
}

static bool shape_index_grow(tesela_report *report) {
  if (report->shape_index && report->n_shapes < report->shape_index_size / 2) return true;
  size_t size = report->shape_index ? report->shape_index_size * 2 : 1024;
  int32_t *index = tesela__alloc(&report->allocator, size * sizeof *index, alignof(int32_t));
  if (!index) return tesela__report_no_memory(report);
  memset(index, 0xff, size * sizeof *index);
  tesela__release(&report->allocator, report->shape_index);
  report->shape_index = index;
  report->shape_index_size = size;
  for (size_t i = 0; i < report->n_shapes; i++) {
    const tesela__shape *shape = &report->shape[i];
    index[shape_place(report, (tesela__span){shape->text, shape->length}, shape->hash)] = (int32_t)i;
  }
  return true;
}

static bool shape_add(tesela_report *report, tesela__shape *shape, uint64_t hash, size_t place) {
  void *shapes = report->shape;
  shape->text =
      tesela__arena_copy(&report->text, &report->allocator, (tesela__span){shape->text, shape->length});
  if (!shape->text || !tesela__grow(&report->allocator, &shapes, sizeof *report->shape, &report->cap_shapes,
                                    report->n_shapes + 1))
    return tesela__report_no_memory(report);
  shape->hash = hash;
  report->shape = shapes;
  report->shape_index[place] = (int32_t)report->n_shapes;
  report->shape[report->n_shapes++] = *shape;
  return true;
}

bool tesela__report_shape(tesela_report *report, tesela__span text, const tesela__shape **found,
                          int32_t *index) {
  *found = NULL;
  *index = -1;
  if (!shape_index_grow(report)) return false;
  uint64_t hash = tesela__text_hash(text.text, text.n);
  size_t place = shape_place(report, text, hash);
  if (report->shape_index[place] < 0) {
    static const tesela__shape none;
    tesela__shape shape = none;
    tesela__report_measure(text, &shape);
    if (shape.state == TESELA__SHAPE_FOREIGN) return true;
    if (report->n_shapes >= (size_t)report->options.shapes) {
      report->unlisted_shape = shape;
      *found = &report->unlisted_shape;
      return true;
    }
    if (!shape_add(report, &shape, hash, place)) return false;
  }
  *index = report->shape_index[place];
  *found = &report->shape[*index];
  return true;
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

bool tesela__report_new_row(tesela_report *report, int32_t *row) {
  void *arrays = report->array;
  if (!tesela__grow(&report->allocator, &arrays, sizeof *report->array, &report->cap_arrays,
                    report->n_arrays + 1))
    return tesela__report_no_memory(report);
  report->array = arrays;
  *row = (int32_t)report->n_arrays;
  tesela__array *array = &report->array[report->n_arrays++];
  *array = (tesela__array){.public = {.shape = "",
                                      .fitted = "",
                                      .name = "",
                                      .opcode = "",
                                      .op_name = "",
                                      .op_type = "",
                                      .location = "",
                                      .allocation = "",
                                      .listed = "",
                                      .data_known = true,
                                      .sized = true,
                                      .layouts = 1,
                                      .explained = true},
                           .offset = -1};
  tesela_report_array *public = &array->public;
  public->size.bytes = public->unpadded.bytes = public->extra.bytes = public->expansion.bytes = -1;
  public->input = (int32_t)report->n_inputs - 1;
  return true;
}

bool tesela__report_row(tesela_report *report, int32_t shape_number, tesela_report_role role, int32_t *row) {
  tesela__shape *shape = &report->shape[shape_number];
  *row = shape->array[role];
  if (*row >= 0) return true;
  if (!tesela__report_new_row(report, row)) return false;
  shape->array[role] = *row;
  tesela_report_array *array = &report->array[*row].public;
  array->source = TESELA_REPORT_HLO;
  array->role = role;
  array->shape = shape->text;
  array->stored_bytes = shape->stored;
  array->data_bytes = shape->data;
  array->least_padding_bytes = array->most_padding_bytes = shape->stored - shape->data;
  array->memory_space = shape->space;
  return true;
}

void tesela__report_add(tesela_report *report, int64_t *sum, int64_t value) {
  if (tesela__add(*sum, value, sum)) return;
  *sum = INT64_MAX;
  tesela__report_note(report, TESELA_REPORT_SATURATED, report->line,
                      "a sum of bytes does not fit in 64 bits; the largest 64-bit number is given");
}

static void add_times(tesela_report *report, int64_t *sum, int64_t value, int64_t count) {
  int64_t product;
  tesela__report_add(report, sum, tesela__mul(value, count, &product) ? product : INT64_MAX);
}

tesela__array_bytes tesela__report_bytes(const tesela_report_array *array) {
  return (tesela__array_bytes){array->stored_bytes, array->data_bytes, array->least_padding_bytes,
                               array->most_padding_bytes};
}

void tesela__report_section_add(tesela_report *report, int32_t number, tesela__array_bytes bytes,
                                int64_t count) {
  tesela_report_section *section = &report->section[number];
  tesela__report_add(report, &section->arrays, count);
  tesela__report_add(report, &report->input[section->input].arrays, count);
  add_times(report, &section->stored_bytes, bytes.stored, count);
  add_times(report, &section->data_bytes, bytes.data, count);
  add_times(report, &section->least_padding_bytes, bytes.least_padding, count);
  add_times(report, &section->most_padding_bytes, bytes.most_padding, count);
}

/* Copies of what is known of the first array of a row. */
static bool fill_sighting(tesela_report *report, tesela_report_array *array,
                          const tesela__sighting *sighting) {
  char room[512];
  const struct {
    const char **to;
    tesela__span from;
  } parts[] = {
      {&array->name, sighting->name},
      {&array->opcode, sighting->opcode},
      {&array->op_name, tesela__hlo_metadata(sighting->rest, "op_name")},
      {&array->op_type, tesela__hlo_metadata(sighting->rest, "op_type")},
      {&array->location, tesela__hlo_location(&report->module.frames, sighting->rest, room, sizeof room)},
  };
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    const char *copy = tesela__arena_copy(&report->text, &report->allocator, parts[i].from);
    if (!copy) return tesela__report_no_memory(report);
    *parts[i].to = copy;
  }
  array->line = sighting->line;
  array->input = (int32_t)report->n_inputs - 1;
  return true;
}

bool tesela__report_count(tesela_report *report, int32_t row, int64_t count, int32_t section,
                          const tesela__sighting *sighting) {
  tesela_report_array *array = &report->array[row].public;
  if (array->count == 0) {
    array->section = section;
    if (sighting && !fill_sighting(report, array, sighting)) return false;
  }
  if (array->source == TESELA_REPORT_HLO) report->module.fingerprint += tesela__row_mark(row, count);
  tesela__report_add(report, &array->count, count);
  tesela__report_section_add(report, section, tesela__report_bytes(array), count);
  return true;
}

void tesela__report_count_unlisted(tesela_report *report, tesela_report_source source, int32_t section,
                                   tesela__array_bytes bytes) {
  tesela_report_totals *totals = &report->unlisted[source];
  tesela__report_add(report, &totals->arrays, 1);
  tesela__report_add(report, &totals->stored_bytes, bytes.stored);
  tesela__report_add(report, &totals->data_bytes, bytes.data);
  tesela__report_add(report, &totals->padding_bytes, bytes.least_padding);
  tesela__report_add(report, &totals->most_padding_bytes, bytes.most_padding);
  tesela__report_section_add(report, section, bytes, 1);
  tesela__report_note(
      report, TESELA_REPORT_TOO_MANY, report->line,
      "more distinct shapes or entries than the limit allows; the rest are in the totals, not in the lists");
}

/* ---- seen before? -------------------------------------------------------------------------------------- */

static uint64_t *seen_place(uint64_t *seen, size_t size, uint64_t identity) {
  size_t at = (size_t)identity & (size - 1);
  while (seen[at] && seen[at] != identity) at = (at + 1) & (size - 1);
  return &seen[at];
}

static bool seen_grow(tesela_report *report) {
  size_t size = report->seen_size ? report->seen_size * 2 : 256;
  uint64_t *grown = tesela__alloc(&report->allocator, size * sizeof *grown, alignof(uint64_t));
  if (!grown) return tesela__report_no_memory(report);
  memset(grown, 0, size * sizeof *grown);
  for (size_t i = 0; i < report->seen_size; i++)
    if (report->seen[i]) *seen_place(grown, size, report->seen[i]) = report->seen[i];
  tesela__release(&report->allocator, report->seen);
  report->seen = grown;
  report->seen_size = size;
  return true;
}

bool tesela__report_seen(tesela_report *report, uint64_t identity, bool *seen) {
  *seen = false;
  if (report->n_seen >= (size_t)report->options.entries) return true;
  if (report->n_seen * 2 >= report->seen_size && !seen_grow(report)) return false;
  uint64_t *place = seen_place(report->seen, report->seen_size, identity);
  *seen = *place != 0;
  if (!*seen) report->n_seen++;
  *place = identity;
  return true;
}
