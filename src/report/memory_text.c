/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_text.c - one line of a memory report.
 *
 * A report is prose around a list. Nothing says where it ends; every line may be missing, have a prefix from
 * the log, or stand with others on one line with the two characters \n between them. So lines are known by
 * their words alone: headings and figures (memory_heading.c), rows of a table (memory_table.c), and here
 *
 *   "  1. Size: 14.00G" or "Buffer 1:"         an entry starts
 *   "Shape: ...", "Unpadded size: ..."         its fields, known only while it is open
 *   "====="                                    it ends
 */
#include "report/report_state.h"

enum { QUIET_LINES = 32 }; /* so many lines without a word of a report end the entry and the part */

static const struct field_row {
  const char *word;
  tesela__field field;
} field_rows[] = {
    {"Size:", TESELA__FIELD_SIZE},
    {"Operator:", TESELA__FIELD_OPERATOR},
    {"Shape:", TESELA__FIELD_SHAPE},
    {"Entry Parameter Subshape:", TESELA__FIELD_SHAPE},
    {"Unpadded size:", TESELA__FIELD_UNPADDED},
    {"Extra memory due to padding:", TESELA__FIELD_EXTRA},
    {"XLA label:", TESELA__FIELD_LABEL},
    {"XLA Label:", TESELA__FIELD_LABEL},
    {"Allocation type:", TESELA__FIELD_ALLOCATION},
};
enum { N_FIELD_ROWS = sizeof field_rows / sizeof field_rows[0] };

/* ---- entries ------------------------------------------------------------------------------------------- */

/* The number before "Size:", "12. " or "12\. " from a page that escaped it, or -1. */
static int64_t entry_number(tesela__span line, const char *p) {
  while (p > line.text && tesela__is_blank(p[-1])) p--;
  if (p == line.text || *--p != '.') return -1;
  if (p > line.text && p[-1] == '\\') p--;
  int64_t number = 0, scale = 1, digits = 0;
  for (; p > line.text && tesela__is_digit(p[-1]) && digits < 9; p--, digits++, scale *= 10)
    number += (p[-1] - '0') * scale;
  return digits > 0 ? number : -1;
}

/* "Buffer 3:" of the list of peak buffers. */
static int64_t buffer_number(tesela__span line) {
  const char *p = tesela__find(line, "Buffer "), *end = line.text + line.n;
  int64_t number = 0;
  if (!p || !tesela__at_word(line, p)) return -1;
  const char *digits = p += 7;
  for (; p < end && tesela__is_digit(*p) && p - digits < 9; p++) number = number * 10 + (*p - '0');
  return p > digits && p < end && *p == ':' ? number : -1;
}

/* ---- fields -------------------------------------------------------------------------------------------- */

/* The first field word in a text, and which, or NULL. */
static const char *find_field(tesela__span line, const struct field_row **row) {
  const char *first = NULL;
  for (int i = 0; i < N_FIELD_ROWS; i++) {
    const char *p = tesela__find(line, field_rows[i].word);
    if (!p || !tesela__at_word(line, p) || (first && first < p)) continue;
    first = p;
    *row = &field_rows[i];
  }
  return first;
}

/* Where the next field of the same line starts: after two blanks. */
static const char *next_field(tesela__span text) {
  const char *end = text.text + text.n;
  for (const char *p = text.text; (p = tesela__find(tesela__between(p, end), "  ")) != NULL; p++) {
    const char *word = tesela__skip_blanks(p, end);
    for (int i = 0; i < N_FIELD_ROWS; i++)
      if (tesela__looking_at(word, end, field_rows[i].word)) return word;
  }
  return end;
}

/* Is this the start of the entry that is open, seen a second time (two processes write into one log)? */
static bool opened_again(const tesela__entry *entry, int64_t number, tesela__span value) {
  value = tesela__trim(value);
  return entry->open && entry->number == number && entry->length[TESELA__FIELD_SIZE] == value.n &&
         memcmp(entry->text[TESELA__FIELD_SIZE], value.text, value.n) == 0;
}

static bool is_value(const tesela__entry *entry, tesela__field field, tesela__span value) {
  value = tesela__trim(value);
  size_t n = value.n < TESELA__FIELD_TEXT ? value.n : TESELA__FIELD_TEXT;
  return entry->length[field] == n && memcmp(entry->text[field], value.text, n) == 0;
}

/* An entry whose first line is not there. It has the number of the last one, so that the list continues. */
static bool open_headless(tesela_report *report) {
  tesela__memory_text *memory = &report->memory;
  int64_t number = memory->last_number;
  bool going_on = tesela__memory_close_entry(report) && tesela__memory_open_entry(report, number + 1);
  memory->last_number = number;
  return going_on;
}

/* A field that the entry cannot take: none is open, or it has one already. A second shape is a second entry; a
 * label alone is what is left of one. */
static bool place_field(tesela_report *report, tesela__field field, tesela__span value) {
  tesela__memory_text *memory = &report->memory;
  tesela__entry *entry = &memory->entry;
  bool listing = memory->part == TESELA__PART_LIST && memory->last_number > 0;
  if (!entry->open) {
    bool label = field == TESELA__FIELD_LABEL;
    if (listing && field != TESELA__FIELD_SIZE)
      tesela__memory_note_mixed(report, "a field is outside any entry");
    return label || (listing && field == TESELA__FIELD_SHAPE) ? open_headless(report) : true;
  }
  if (entry->length[field] == 0) return true;
  bool same = is_value(entry, field, value);
  if (field == TESELA__FIELD_SHAPE && !(same && entry->doubled)) {
    tesela__memory_note_mixed(report, "an entry has two shapes and is counted as two");
    return open_headless(report);
  }
  if (!same) tesela__memory_note_mixed(report, "an entry has the same field twice");
  return true;
}

static bool read_fields(tesela_report *report, tesela__span line, bool *is_one) {
  tesela__entry *entry = &report->memory.entry;
  const struct field_row *row = NULL;
  for (const char *p; (p = find_field(line, &row)) != NULL;) {
    tesela__span rest = tesela__from(line, p + strlen(row->word));
    tesela__span value = tesela__between(rest.text, next_field(rest));
    int64_t number = row->field == TESELA__FIELD_SIZE ? entry_number(line, p) : -1;
    if (number >= 0 && opened_again(entry, number, value)) {
      entry->doubled = true;
    } else if (number >= 0) {
      if (entry->open && entry->number == number && entry->length[TESELA__FIELD_SHAPE] == 0)
        tesela__memory_note_mixed(report, "an entry starts twice");
      if (!tesela__memory_open_entry(report, number)) return false;
    } else if (!place_field(report, row->field, value)) {
      return false;
    }
    if (!entry->open) return true;
    *is_one = true;
    tesela__memory_set_field(entry, row->field, value);
    line = tesela__from(line, value.text + value.n);
  }
  return true;
}

/* ---- lines --------------------------------------------------------------------------------------------- */

/* A line of the part that is open: an end or start of an entry, a row, a figure. */
static bool read_part(tesela_report *report, tesela__span line, bool *is_one) {
  tesela__memory_text *memory = &report->memory;
  if (memory->part == TESELA__PART_TABLE) return tesela__memory_row(report, line, is_one);
  int64_t buffer = memory->part == TESELA__PART_LIST ? buffer_number(line) : -1;
  *is_one = true;
  if (buffer >= 0) {
    bool opened = tesela__memory_open_entry(report, buffer);
    memory->entry.peak = true;
    return opened;
  }
  if (memory->entry.open && tesela__find(line, "==========")) return tesela__memory_close_entry(report);
  *is_one = tesela__memory_figure_line(report, line);
  return true;
}

bool tesela__memory_line(tesela_report *report, tesela__span line, bool *is_one) {
  tesela__memory_text *memory = &report->memory;
  if (!tesela__memory_value(report, line, is_one) || *is_one) return report->failed == TESELA_OK;
  bool idle = memory->part == TESELA__PART_NONE && !memory->entry.open;
  if (idle && !tesela__memory_may_start(line)) return true;
  if (!tesela__memory_heading(report, line, is_one)) return false;
  if (!*is_one && !read_fields(report, line, is_one)) return false;
  if (!*is_one && memory->part != TESELA__PART_NONE && !read_part(report, line, is_one)) return false;
  if (!*is_one && !tesela__memory_runtime(report, line, is_one)) return false;
  if (*is_one)
    memory->quiet = 0;
  else if (memory->quiet < QUIET_LINES && ++memory->quiet == QUIET_LINES) {
    memory->part = TESELA__PART_NONE;
    return tesela__memory_close_entry(report);
  }
  return true;
}

bool tesela__memory_end(tesela_report *report) {
  tesela__memory_text *memory = &report->memory;
  if (memory->entry.open)
    tesela__report_note(report, TESELA_REPORT_CUT_ENTRY, memory->entry.line,
                        "the text ends inside entry %" PRId64 "; it is counted from what was read",
                        memory->entry.number);
  if (!tesela__memory_close_entry(report)) return false;
  memory->section = -1;
  memory->pool = NULL;
  memory->part = TESELA__PART_NONE;
  memory->listed = false;
  memory->last_number = 0;
  return true;
}

bool tesela__memory_starts_word(tesela__span text) {
  const char *p = text.text, *end = text.text + text.n;
  if (tesela__looking_at(p, end, "Total Chunks:")) return false; /* inside the line of a bin */
  if (tesela__looking_at(p, end, "=====") || tesela__looking_at(p, end, "Buffer ")) return true;
  if (tesela__looking_at(p, end, "| ") || tesela__looking_at(p, end, "|--")) return true; /* of a table */
  for (int i = 0; i < N_FIELD_ROWS; i++)
    if (tesela__looking_at(p, end, field_rows[i].word)) return true;
  const char *digits = p;
  while (p < end && (tesela__is_digit(*p) || *p == '.')) p++;
  if (p > digits && (tesela__looking_at(p, end, " Size:") || tesela__looking_at(p, end, "\\. Size:")))
    return true;
  if (p > digits && tesela__memory_starts_row(text)) return true;
  if (tesela__memory_starts_runtime(text)) return true;
  return tesela__memory_starts_heading(text);
}
