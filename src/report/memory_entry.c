/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_entry.c - an entry of a memory report is opened, gets fields, and becomes a row once it is complete.
 *
 * The same report often stands in a log several times: printed by each worker, or once as a log message and
 * once in the exception. An entry that equals one of an earlier report in number and every field is counted
 * in its own section but not again in the totals.
 */
#include "report/report_state.h"

enum { LISTED_TEXT = 1000 };

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

static bool read_entry(tesela_report *report, const tesela__entry *entry, tesela__entry_facts *facts) {
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
  if (!tesela__memory_measure(report, entry, facts)) return false;
  if (report->memory.space != TESELA_REPORT_ANY) array->memory_space = report->memory.space;
  return true;
}

/* ---- seen before? -------------------------------------------------------------------------------------- */

/* A number for everything that was printed about the entry. */
static uint64_t entry_identity(const tesela__entry *entry) {
  uint64_t hash = (uint64_t)entry->number;
  for (int f = 0; f < TESELA__N_FIELDS; f++)
    hash = (hash ^ tesela__text_hash(entry->text[f], entry->length[f])) * UINT64_C(0x9e3779b97f4a7c15) + 1;
  hash ^= tesela__text_hash(entry->shapes.text, entry->shapes.n);
  return hash ? hash : 1;
}

/* ---- the row ------------------------------------------------------------------------------------------- */

/* The list of a row, cut between two shapes if it is long. */
static tesela__span cut_list(tesela__span list, char room[LISTED_TEXT]) {
  size_t n = 0;
  if (list.n < LISTED_TEXT) return list;
  for (size_t i = 0; i < LISTED_TEXT - 4; i++)
    if (list.text[i] == ',' && list.text[i + 1] == ' ') n = i;
  memcpy(room, list.text, n);
  memcpy(room + n, ", ...", 5);
  return (tesela__span){room, n + 5};
}

static bool keep_texts(tesela_report *report, tesela_report_array *array, const tesela__entry *entry,
                       const tesela__entry_facts *facts) {
  static const tesela__span nothing = {"", 0};
  const tesela__instruction *label = &facts->label;
  tesela__span metadata = facts->operation.n > 0 ? facts->operation : label->rest;
  char room[512], listed[LISTED_TEXT];
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
      {&array->location, tesela__hlo_location(&report->module.frames, metadata, room, sizeof room)},
      {&array->allocation, facts->allocation},
      {&array->listed, cut_list(entry->shapes, listed)},
  };
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    const char *copy = tesela__arena_copy(&report->text, &report->allocator, parts[i].from);
    if (!copy) return tesela__report_no_memory(report);
    *parts[i].to = copy;
  }
  return true;
}

/* The offset of a row, or -1. */
static int64_t read_offset(tesela__span text) {
  int64_t offset = text.n > 0 ? 0 : -1;
  for (size_t i = 0; i < text.n; i++)
    if (!tesela__is_digit(text.text[i]) || !tesela__mul(offset, 10, &offset) ||
        !tesela__add(offset, text.text[i] - '0', &offset))
      return -1;
  return offset;
}

/* The candidates of a row, with copies of their texts. */
static bool keep_candidates(tesela_report *report, tesela_report_array *array, size_t n) {
  if (report->n_candidates + (int64_t)n > report->options.entries) {
    tesela__report_note(
        report, TESELA_REPORT_TOO_MANY, report->line,
        "more shapes fit the size of their row than the limit allows; the rest are not listed");
    return true;
  }
  tesela_report_candidate *kept = tesela__arena_take(&report->text, &report->allocator, n * sizeof *kept);
  if (!kept) return tesela__report_no_memory(report);
  for (size_t i = 0; i < n; i++) {
    const tesela__fit *fit = &report->fit[i];
    char room[512];
    kept[i] =
        (tesela_report_candidate){.shape = tesela__arena_copy(&report->text, &report->allocator, fit->shape),
                                  .fitted = tesela__arena_copy(&report->text, &report->allocator,
                                                               tesela__fit_text(fit, room, sizeof room)),
                                  .stored_bytes = fit->stored,
                                  .data_bytes = fit->data,
                                  .padding_bytes = fit->stored - fit->data,
                                  .layouts = fit->layouts};
    if (!kept[i].shape || !kept[i].fitted) return tesela__report_no_memory(report);
  }
  array->candidate = kept;
  array->n_candidates = (int32_t)n;
  report->n_candidates += (int64_t)n;
  return true;
}

static bool add_entry(tesela_report *report, const tesela__entry *entry, const tesela__entry_facts *facts) {
  int32_t row, section = report->memory.section;
  if (!tesela__report_new_row(report, &row)) return false;
  tesela_report_array *array = &report->array[row].public;
  *array = facts->array;
  array->line = entry->line;
  array->input = report->section[section].input;
  report->array[row].number = entry->number;
  report->array[row].offset = read_offset(entry_field(entry, TESELA__FIELD_OFFSET));
  if (!keep_texts(report, array, entry, facts)) return false;
  if (facts->n_candidates > 0 && !keep_candidates(report, array, facts->n_candidates)) return false;
  report->n_entries++;
  return tesela__report_count(report, row, 1, section, NULL);
}

bool tesela__memory_close_entry(tesela_report *report) {
  tesela__entry *entry = &report->memory.entry;
  if (!entry->open) return true;
  entry->open = false;
  int32_t section = report->memory.section;
  tesela__entry_facts facts = {.shape = {"", 0}, .fitted = {"", 0}};
  if (!read_entry(report, entry, &facts)) return false;
  tesela__array_bytes bytes = tesela__report_bytes(&facts.array);
  if (facts.array.size.bytes < 0 && !facts.array.sized) {
    tesela__report_note(report, TESELA_REPORT_NO_SIZE, entry->line,
                        "entry %" PRId64 " has neither size nor shape; it is not counted", entry->number);
    return true;
  }
  bool seen;
  if (!tesela__report_seen(report, entry_identity(entry), &seen)) return false;
  if (seen) {
    tesela__report_note(report, TESELA_REPORT_REPEATED, entry->line,
                        "several reports have the same entries; the totals count each once");
    report->section[section].repeated++;
    tesela__report_section_add(report, section, bytes, 1);
    return true;
  }
  if (report->n_entries < report->options.entries) return add_entry(report, entry, &facts);
  tesela__report_count_unlisted(report, TESELA_REPORT_MEMORY, section, bytes);
  return true;
}

/* ---- an entry that is being read ---------------------------------------------------------------------- */

bool tesela__memory_figure(tesela__span text, tesela_report_printed *printed) {
  size_t used;
  text = tesela__trim(text);
  if (tesela_units_parse(text.text, text.n, &printed->bytes, &used, NULL) != TESELA_OK ||
      used >= sizeof printed->text || tesela__is_digit(text.text[used - 1])) {
    *printed = (tesela_report_printed){.bytes = -1};
    return false;
  }
  memcpy(printed->text, text.text, used);
  printed->text[used] = '\0';
  return true;
}

bool tesela__memory_need_section(tesela_report *report, bool there_already, tesela__span space) {
  tesela__memory_text *memory = &report->memory;
  if (!tesela__memory_close_entry(report)) return false;
  if (memory->section >= 0 && !there_already) return true;
  memory->listed = false;
  memory->pool = NULL;
  memory->last_number = memory->cumulative = 0;
  memory->space = TESELA_REPORT_ANY;
  return tesela__report_new_section(report, TESELA_REPORT_MEMORY, space, &memory->section);
}

/* A list that starts again without a heading is another report. */
bool tesela__memory_open_entry(tesela_report *report, int64_t number) {
  tesela__memory_text *memory = &report->memory;
  bool starts_again = memory->listed && number <= memory->last_number;
  if (!tesela__memory_need_section(report, starts_again, (tesela__span){"", 0})) return false;
  memory->listed = true;
  if (memory->part != TESELA__PART_TABLE) memory->part = TESELA__PART_LIST;
  memory->last_number = number;
  memory->entry.open = true;
  memory->entry.doubled = false;
  memory->entry.number = number;
  memory->entry.line = report->line;
  memory->entry.shapes.n = 0;
  memory->entry.values = 0;
  memory->entry.peak = false;
  memset(memory->entry.length, 0, sizeof memory->entry.length);
  return true;
}

void tesela__memory_set_field(tesela__entry *entry, tesela__field field, tesela__span value) {
  value = tesela__trim(value);
  if (entry->length[field] > 0 || value.n == 0) return;
  size_t n = value.n < TESELA__FIELD_TEXT ? value.n : TESELA__FIELD_TEXT;
  memcpy(entry->text[field], value.text, n);
  entry->length[field] = (uint32_t)n;
}

void tesela__memory_note_mixed(tesela_report *report, const char *what) {
  tesela__report_note(
      report, TESELA_REPORT_MIXED, report->line,
      "%s: lines of two reports are mixed, or some are missing; figures may belong to another entry", what);
}
