/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_entry.c - an entry of a memory report, once it is complete, becomes a row.
 *
 * The same report often stands in a log several times: printed by each worker, or once as a log message and
 * once in the exception. An entry that equals one of an earlier report in number and every field is counted
 * in its own section but not again in the totals.
 */
#include "report/scan.h"

static tesela__span entry_field(const tesela__entry *entry, tesela__field field) {
  return (tesela__span){entry->text[field], entry->length[field]};
}

/* "12.91G (12.8x expansion)": the ratio. */
static void read_expansion(tesela__span extra, tesela_report_printed *printed) {
  const char *open = memchr(extra.text, '(', extra.n);
  if (!open) return;
  tesela__span rest = tesela__from(extra, open + 1);
  const char *x = memchr(rest.text, 'x', rest.n);
  if (!x || (size_t)(x - rest.text) + 2 > sizeof printed->text) return;
  memcpy(printed->text, rest.text, (size_t)(x - rest.text) + 1);
  printed->text[x - rest.text + 1] = '\0';
}

static void read_entry(tesela_report *report, const tesela__entry *entry, tesela__entry_facts *facts) {
  tesela_report_array *array = &facts->array;
  tesela__span label = entry_field(entry, TESELA__FIELD_LABEL),
               extra = entry_field(entry, TESELA__FIELD_EXTRA);
  array->source = TESELA_REPORT_MEMORY;
  array->role = TESELA_REPORT_ALLOCATION;
  array->expansion.bytes = -1;
  array->data_known = true;
  facts->operation = entry_field(entry, TESELA__FIELD_OPERATOR);
  facts->allocation = entry_field(entry, TESELA__FIELD_ALLOCATION);
  const char *slash = memchr(facts->allocation.text, '\\', facts->allocation.n);
  if (slash) facts->allocation = tesela__between(facts->allocation.text, slash);
  tesela__hlo_label(label, &facts->label);
  tesela__memory_figure(entry_field(entry, TESELA__FIELD_SIZE), &array->size);
  tesela__memory_figure(entry_field(entry, TESELA__FIELD_UNPADDED), &array->unpadded);
  tesela__memory_figure(extra, &array->extra);
  read_expansion(extra, &array->expansion);
  tesela__memory_measure(report, entry, facts);
  if (report->memory.space != TESELA_REPORT_ANY) array->memory_space = report->memory.space;
}

/* ---- seen before? -------------------------------------------------------------------------------------- */

/* A number for everything that was printed about the entry. */
static uint64_t entry_identity(const tesela__entry *entry) {
  uint64_t hash = (uint64_t)entry->number;
  for (int f = 0; f < TESELA__N_FIELDS; f++)
    hash = (hash ^ tesela__report_hash(entry->text[f], entry->length[f])) * UINT64_C(0x9e3779b97f4a7c15) + 1;
  return hash ? hash : 1;
}

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

/* ---- the row ------------------------------------------------------------------------------------------- */

static bool keep_texts(tesela_report *report, tesela_report_array *array, const tesela__entry_facts *facts) {
  static const tesela__span nothing = {"", 0};
  const tesela__instruction *label = &facts->label;
  tesela__span metadata = facts->operation.n > 0 ? facts->operation : label->rest;
  char room[512];
  bool is_word = label->opcode.n == 0 && label->rest.n == label->name.n; /* "XLA Label: fusion" */
  const struct {
    const char **to;
    tesela__span from;
  } parts[] = {
      {&array->shape, facts->shape},
      {&array->fitted, facts->fitted},
      {&array->name, is_word ? nothing : label->name},
      {&array->opcode, is_word ? label->name : label->opcode},
      {&array->op_name, tesela__hlo_metadata(metadata, "op_name")},
      {&array->op_type, tesela__hlo_metadata(metadata, "op_type")},
      {&array->location, tesela__hlo_location(report, metadata, room, sizeof room)},
      {&array->allocation, facts->allocation},
  };
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    const char *copy = tesela__arena_copy(&report->text, &report->allocator, parts[i].from);
    if (!copy) return tesela__report_no_memory(report);
    *parts[i].to = copy;
  }
  return true;
}

static bool add_entry(tesela_report *report, const tesela__entry *entry, const tesela__entry_facts *facts) {
  int32_t row, section = report->memory.section;
  if (!tesela__report_new_row(report, &row)) return false;
  tesela_report_array *array = &report->array[row].public;
  *array = facts->array;
  array->line = entry->line;
  array->input = report->section[section].input;
  if (!keep_texts(report, array, facts)) return false;
  report->n_entries++;
  return tesela__report_count(report, row, 1, section, NULL);
}

bool tesela__memory_close_entry(tesela_report *report) {
  tesela__entry *entry = &report->memory.entry;
  if (!entry->open) return true;
  entry->open = false;
  int32_t section = report->memory.section;
  tesela__entry_facts facts = {.shape = {"", 0}, .fitted = {"", 0}};
  read_entry(report, entry, &facts);
  int64_t stored = facts.array.stored_bytes, data = facts.array.data_bytes;
  if (facts.array.size.bytes < 0 && !facts.array.sized) {
    tesela__report_note(report, TESELA_REPORT_NO_SIZE, entry->line,
                        "entry %" PRId64 " has neither size nor shape; it is not counted", entry->number);
    return true;
  }
  bool seen;
  if (!tesela__report_seen(report, entry_identity(entry), &seen)) return false;
  if (seen) {
    tesela__report_note(report, TESELA_REPORT_REPEATED, entry->line,
                        "the same entries stand in several reports; the totals count each once");
    report->section[section].repeated++;
    tesela__report_section_add(report, section, stored, data, 1);
    return true;
  }
  if (report->n_entries < report->options.entries) return add_entry(report, entry, &facts);
  tesela__report_count_unlisted(report, TESELA_REPORT_MEMORY, section, stored, data);
  return true;
}
