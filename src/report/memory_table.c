/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_table.c - entries of memory reports that are one line: rows of a table, and messages about one
 * array.
 *
 *   cumulative_size;       size;       offset; used_by_n_values; shapes_list
 *    14.30GiB( 62%);   14.30GiB;            0;                2; 2×s32[30000000,12], bf16[3,4]
 *
 * A row is one stretch of memory that several arrays use at different times. The shapes have no layout; one of
 * them needs all of the size (memory_fit.c finds which can). The list is read where it stands: it may be longer than a
 * field of an entry.
 */
#include <stdio.h>

#include "report/report_state.h"

enum { N_CELLS = 5 };

/* Cut a row at its first four semicolons; false if it has fewer. */
static bool cut_cells(tesela__span line, tesela__span cell[N_CELLS]) {
  const char *p = line.text, *end = line.text + line.n;
  for (int i = 0; i < N_CELLS; i++) {
    const char *cut = i < N_CELLS - 1 ? memchr(p, ';', (size_t)(end - p)) : end;
    if (!cut) return false;
    cell[i] = tesela__trim(tesela__between(p, cut));
    p = cut < end ? cut + 1 : end;
  }
  return true;
}

/* The number of values that use a row; 0 if it cannot be read. */
static int64_t count_of(tesela__span cell) {
  int64_t count = 0;
  for (size_t i = 0; i < cell.n && count < INT32_MAX; i++) {
    if (!tesela__is_digit(cell.text[i])) return 0;
    count = count * 10 + (cell.text[i] - '0');
  }
  return count;
}

/* "16.00GiB( 99%);", the first cell. */
bool tesela__memory_starts_row(tesela__span text) {
  const char *cut = memchr(text.text, ';', text.n);
  return cut && cut - text.text > 1 && cut[-1] == ')' && cut[-2] == '%' &&
         memchr(text.text, '(', (size_t)(cut - text.text));
}

/* The cumulative size grows from row to row, and no two rows are equal: else two processes write the same table. */
static void check_order(tesela_report *report, tesela__span cumulative, tesela__span row) {
  tesela__memory_text *memory = &report->memory;
  tesela_report_printed printed;
  uint64_t hash = tesela__text_hash(row.text, row.n);
  if (!tesela__memory_figure(cumulative, &printed)) return;
  if (memory->cumulative > printed.bytes || (memory->cumulative == printed.bytes && memory->row == hash))
    tesela__memory_note_mixed(report, "a row of a table is repeated or comes after a later one");
  memory->cumulative = printed.bytes;
  memory->row = hash;
  memory->all = tesela__find(cumulative, "100%)") != NULL;
}

bool tesela__memory_row(tesela_report *report, tesela__span line, bool *is_one) {
  tesela__span cell[N_CELLS];
  tesela_report_printed size;
  *is_one = false;
  if (!cut_cells(line, cell) || !tesela__memory_figure(cell[1], &size)) {
    if (tesela__memory_starts_row(line))
      tesela__report_note(report, TESELA_REPORT_BROKEN, report->line,
                          "a row of a table is malformed; it is not counted: %.*s",
                          (int)tesela__min((int64_t)line.n, 120), line.text);
    return true;
  }
  if (cell[0].n == 0 || cell[0].text[cell[0].n - 1] != ')') return true;
  *is_one = true;
  check_order(report, cell[0], tesela__between(cell[1].text, line.text + line.n));
  if (!tesela__memory_open_entry(report, report->memory.last_number + 1)) return false;
  tesela__entry *entry = &report->memory.entry;
  tesela__memory_set_field(entry, TESELA__FIELD_SIZE, cell[1]);
  tesela__memory_set_field(entry, TESELA__FIELD_SHAPE, cell[4]);
  tesela__memory_set_field(entry, TESELA__FIELD_OFFSET, cell[2]);
  char users[64];
  snprintf(users, sizeof users, "%.*s value%s", (int)tesela__min((int64_t)cell[3].n, 20), cell[3].text,
           cell[3].n == 1 && cell[3].text[0] == '1' ? "" : "s in turn");
  tesela__memory_set_field(entry, TESELA__FIELD_ALLOCATION, tesela__text(users));
  entry->shapes = cell[4];
  entry->values = count_of(cell[3]);
  return tesela__memory_close_entry(report);
}

/* A number of bytes after a word, as the compiler would print it, or "". */
static tesela__span bytes_behind(tesela__span line, const char *word, char text[TESELA_UNITS_TEXT]) {
  const char *p = tesela__find(line, word), *end = line.text + line.n;
  int64_t bytes = 0;
  bool fits = p != NULL;
  text[0] = '\0';
  if (p)
    for (p += strlen(word); p < end && tesela__is_digit(*p); p++)
      fits = fits && tesela__mul(bytes, 10, &bytes) && tesela__add(bytes, *p - '0', &bytes);
  if (fits) tesela_units_print(bytes, TESELA_UNITS_XLA, text);
  return tesela__text(text);
}

/* The text between a word and a quote. */
static tesela__span quoted_behind(tesela__span line, const char *word) {
  const char *p = tesela__find(line, word);
  if (!p) return (tesela__span){"", 0};
  tesela__span rest = tesela__from(line, p + strlen(word));
  const char *quote = memchr(rest.text, '\'', rest.n);
  return quote ? tesela__between(rest.text, quote) : (tesela__span){"", 0};
}

/* The block of an operand that a kernel holds, "The window shape is f32[60000,6]", with the tiles it gets there. */
static tesela__span window_behind(tesela__span line, tesela_buffer *room) {
  static const char key[] = "The window shape is ";
  const char *p = tesela__find(line, key), *end = line.text + line.n;
  tesela_xla_shape shape;
  tesela_writer writer = tesela_buffer_writer(room);
  const char *close = p ? tesela__skip_array(p + sizeof key - 1, end) : NULL;
  if (!close) return (tesela__span){"", 0};
  p += sizeof key - 1;
  if (tesela_xla_parse(p, (size_t)(close - p), TESELA_XLA_STRICT, &shape, NULL, NULL) != TESELA_OK ||
      shape.layout.n_tiles > 0 || tesela_xla_choose(&shape, 0, NULL) != TESELA_OK ||
      tesela_xla_print(&shape, true, &writer, NULL) != TESELA_OK || room->length >= room->capacity)
    return tesela__between(p, close);
  return (tesela__span){room->text, room->length};
}

bool tesela__memory_message(tesela_report *report, tesela__span line) {
  char size[TESELA_UNITS_TEXT], limit[TESELA_UNITS_TEXT];
  tesela_report_section *section = &report->section[report->memory.section];
  if (!tesela__memory_open_entry(report, report->memory.last_number + 1)) return false;
  tesela__entry *entry = &report->memory.entry;
  const char *label = tesela__find(line, " on stack for ");
  char room[512];
  tesela_buffer buffer = {room, sizeof room, 0};
  tesela__memory_set_field(entry, TESELA__FIELD_SHAPE, window_behind(line, &buffer));
  if (label) tesela__memory_set_field(entry, TESELA__FIELD_LABEL, tesela__from(line, label + 14));
  tesela__memory_set_field(entry, TESELA__FIELD_SHAPE, quoted_behind(line, "shape = '"));
  tesela__memory_set_field(entry, TESELA__FIELD_ALLOCATION, quoted_behind(line, "tag = '"));
  tesela__memory_set_field(entry, TESELA__FIELD_SIZE, bytes_behind(line, "Allocation (size=", size));
  if (size[0] && !label) {
    tesela__memory_figure(tesela__text(size), &section->figure[TESELA_REPORT_USED]);
    tesela__memory_figure(bytes_behind(line, "exceed memory (size=", limit),
                          &section->figure[TESELA_REPORT_CAPACITY]);
  }
  return tesela__memory_close_entry(report);
}
