/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_text.c - pieces of text that report and diff print.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_print.h"
#include "main/say.h"

/* One character for display: itself, or '?' if a terminal could obey it. */
static int shown(const cli_term *term, const char *text, size_t length, size_t *used, const char **as) {
  uint32_t c;
  *used = tesela_utf8_character(text, length, &c);
  int columns = *used ? tesela_utf8_columns(c) : -1;
  *as = text;
  if (columns >= 0 && (c < 0x80 || term->utf8)) return columns;
  if (*used == 0) *used = 1;
  *as = NULL;
  return 1;
}

static int columns_of(const cli_term *term, const char *text) {
  int columns = 0;
  const char *as;
  for (size_t n = strlen(text), used; n > 0; text += used, n -= used) {
    columns += shown(term, text, n, &used, &as);
    if (columns > 100000) break;
  }
  return columns;
}

int report_put(const cli_term *term, const char *text, int columns) {
  const char *dots = term->utf8 ? "\xe2\x80\xa6" : "...", *as;
  int dot_columns = term->utf8 ? 1 : 3, put = 0;
  bool cut = columns >= 0 && columns_of(term, text) > columns;
  int room = cut ? columns - dot_columns : INT32_MAX;
  for (size_t n = strlen(text), used; n > 0; text += used, n -= used) {
    int more = shown(term, text, n, &used, &as);
    if (put + more > room) break;
    if (as)
      fwrite(as, 1, used, term->file);
    else
      fputc('?', term->file);
    put += more;
  }
  if (!cut || room < 0) return put;
  fputs(dots, term->file);
  return put + dot_columns;
}

void report_put_cell(const char *text) {
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '\t')
      fputs("\\t", stdout);
    else if (c == '\n')
      fputs("\\n", stdout);
    else if (c == '\r')
      fputs("\\r", stdout);
    else if (c == '\\')
      fputs("\\\\", stdout);
    else
      fputc(c, stdout);
  }
}

const char *report_percent(double share, char text[REPORT_PERCENT]) {
  double percent = 100 * share;
  bool near_an_end = (percent > 0 && percent < 1) || (percent > 99 && percent < 100);
  snprintf(text, REPORT_PERCENT, "%.*f%%", near_an_end ? 1 : 0, percent);
  return text;
}

const char *report_ratio(int64_t stored, int64_t data, char text[REPORT_RATIO]) {
  if (data > 0)
    snprintf(text, REPORT_RATIO, "%.1fx", (double)stored / (double)data);
  else
    snprintf(text, REPORT_RATIO, "%s", stored > 0 ? "-" : "1.0x");
  return text;
}

const char *report_bytes(const report_view *view, int64_t bytes, char text[TESELA_UNITS_TEXT]) {
  tesela_units_print(bytes, view->units, text);
  return text;
}

const char *report_range(const report_view *view, int64_t least, int64_t most, char text[REPORT_RANGE]) {
  char from[TESELA_UNITS_TEXT], to[TESELA_UNITS_TEXT];
  report_bytes(view, least, from);
  report_bytes(view, most, to);
  snprintf(text, REPORT_RANGE, strcmp(from, to) == 0 ? "%s" : "%s to %s", from, to);
  return text;
}

const char *report_shares(double least, double most, char text[REPORT_RANGE]) {
  char from[REPORT_PERCENT], to[REPORT_PERCENT];
  report_percent(least, from);
  report_percent(most, to);
  snprintf(text, REPORT_RANGE, strcmp(from, to) == 0 ? "%s" : "%s to %s", from, to);
  return text;
}

const char *report_range_share(int64_t least, int64_t most, int64_t stored, char text[REPORT_RANGE]) {
  return report_shares(report_share(least, stored), report_share(most, stored), text);
}

static const char *laid_out(const char *shape, const char *fitted) { return fitted[0] ? fitted : shape; }

int report_put_array(const cli_term *term, const tesela_report_array *array, int columns) {
  const char *shape = laid_out(array->shape, array->fitted);
  if (array->n_candidates == 0) return report_put(term, shape[0] ? shape : "(no shape)", columns);
  int put = report_put(term, "one of ", columns);
  for (int32_t i = 0; i < array->n_candidates && (columns < 0 || put < columns); i++) {
    if (i > 0) put += report_put(term, ", ", columns < 0 ? -1 : columns - put);
    put += report_put(term, laid_out(array->candidate[i].shape, array->candidate[i].fitted),
                      columns < 0 ? -1 : columns - put);
  }
  if (array->incomplete && (columns < 0 || put < columns))
    put += report_put(term, ", or an unreadable one", columns < 0 ? -1 : columns - put);
  return put;
}

void report_place(const report_view *view, const cli_term *term, int32_t input, int64_t line) {
  const tesela_report_input *from = tesela_report_input_at(view->ask.report, input);
  if (!from || from->name[0] == '\0' || strcmp(from->name, "-") == 0) {
    fprintf(term->file, "line %" PRId64, line);
    return;
  }
  report_put(term, from->name, -1);
  fprintf(term->file, ":%" PRId64, line);
}

void report_put_place(const report_view *view, int32_t input, int64_t line) {
  report_place(view, &view->cli->out, input, line);
}

void report_put_count(int64_t n, const char *noun) { printf("%" PRId64 " %s%s", n, noun, n == 1 ? "" : "s"); }

/* ---- lines --------------------------------------------------------------------------------------------- */

static bool line_lost;

void report_line_begin(report_line *line, const cli_term *out) {
  *line = (report_line){.term = *out, .out = out};
  bool begun = out->terminal && process_text_begin(&line->memory);
  if (begun) line->term.file = line->memory.file;
  line_lost = line_lost || (out->terminal && !begun);
}

/* Print words until the line is full, then continue on the next. A single word may be longer than a line. */
static void print_wrapped(const cli_term *out, const char *text, int indent) {
  int column = 0;
  while (*text) {
    size_t blanks = strspn(text, " "), n = strcspn(text + blanks, " ");
    char word[512];
    snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), text + blanks);
    int columns = columns_of(out, word);
    if (column > indent && column + (int)blanks + columns > out->width) {
      fprintf(out->file, "\n%*s", indent, "");
      column = indent;
    } else {
      fprintf(out->file, "%*s", (int)blanks, "");
      column += (int)blanks;
    }
    fwrite(text + blanks, 1, n, out->file);
    column += columns;
    text += blanks + n;
  }
}

bool report_line_lost(void) { return line_lost; }

void report_line_end(report_line *line, int indent) {
  if (line->term.file != line->out->file) {
    char *text = process_text_end(&line->memory);
    if (text) print_wrapped(line->out, text, indent);
    line_lost = line_lost || !text;
    free(text);
  }
  fputs("\n", line->out->file);
}

/* ---- the view ------------------------------------------------------------------------------------------ */

bool report_view_options(report_view *view) {
  static const struct {
    const char *word;
    tesela_units units;
  } rows[] = {{"iec", TESELA_UNITS_IEC},
              {"si", TESELA_UNITS_SI},
              {"bytes", TESELA_UNITS_BYTES},
              {"xla", TESELA_UNITS_XLA}};
  const char *units = cli_value(view->cli, "units");
  int64_t space;
  for (size_t i = 0; units && i < sizeof rows / sizeof rows[0]; i++)
    if (strcmp(rows[i].word, units) == 0) view->units = rows[i].units;
  if (!cli_integer(view->cli, "top", 0, INT64_MAX, 10, &view->ask.top) ||
      !cli_integer(view->cli, "space", -128, 127, TESELA_REPORT_ANY, &space))
    return false;
  if (view->ask.top == 0) view->ask.top = INT64_MAX;
  if (view->cli->json && cli_has(view->cli, "tsv")) {
    say_usage(view->cli, "--json and --tsv exclude each other");
    return false;
  }
  view->ask.space = (int32_t)space;
  return true;
}

void report_say_rows_left(const report_view *view) {
  int64_t left, all = report_n_rows(&view->ask, &left);
  if (left > 0 && !cli_value(view->cli, "top"))
    say_note(view->cli, "%" PRId64 " of %" PRId64 " rows; --top 0 gives all", all - left, all);
}
