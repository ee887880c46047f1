/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap.c - lines that a terminal or an editor cut at its width are rejoined.
 *
 *   %fusion.1 = f32[4096,20,24]{2,1,0:T(8,128)} fusion(%p, %q), kind=kLoop, calls=%f
 *   used_computation.3, metadata={op_name="jit(step)"}
 *
 * In such a text no line is longer than the width, and those that were cut have just that length. So only a line as
 * long as the longest so far is held back until the next one is seen, which in a text that was not cut hardly ever
 * happens; where the next one starts nothing new, it is added, and what has the same length goes on. Lengths are
 * counted with and without the prefix of a process, in bytes and in characters.
 */
#include "report/report_state.h"

enum { NARROWEST = 40, WIDEST = 1000 };

static bool is_as_wide(tesela__width width, tesela__width other) {
  return width.bytes == other.bytes || width.columns == other.columns;
}

/* ---- brackets and quotes of what is held --------------------------------------------------------------- */

/* For the text added since the last query; queries are rare. */
static void count_brackets(tesela__wrap *wrap) {
  size_t end = wrap->marked ? tesela__clean_open_entity((tesela__span){wrap->text.text, wrap->n}) : wrap->n;
  for (; wrap->scanned < end; wrap->scanned++) {
    char c = wrap->text.text[wrap->scanned];
    if (c == '"' && wrap->before != '\\') wrap->quoted = !wrap->quoted;
    if (!wrap->quoted && (c == '(' || c == '[' || c == '{')) wrap->depth++;
    if (!wrap->quoted && (c == ')' || c == ']' || c == '}')) wrap->depth--;
    wrap->before = wrap->before == '\\' && c == '\\' ? '\0' : c;
  }
}

/* Can the line end here? The brace that opens a computation stays open. */
static bool is_whole(tesela__wrap *wrap) {
  const char *text = wrap->text.text;
  count_brackets(wrap);
  bool opens = wrap->n > 1 && text[wrap->n - 1] == '{' && text[wrap->n - 2] == ' ';
  return wrap->scanned == wrap->n && !wrap->quoted && (wrap->depth == 0 || (wrap->depth == 1 && opens));
}

/* ---- does a line start something? ---------------------------------------------------------------------- */

static bool is_table_row(tesela__span text) {
  const char *p = text.text, *end = text.text + text.n;
  while (p < end && tesela__is_digit(*p)) p++;
  return p > text.text && (tesela__looking_at(p, end, " {") || tesela__looking_at(p, end, " \""));
}

/* Do both start alike, except for the first character (a level), up to a sign that ends the prefix of a log? */
static bool has_same_prefix(const tesela__wrap *wrap, tesela__span line) {
  for (size_t i = 1; i < wrap->n && i < line.n && wrap->text.text[i] == line.text[i]; i++)
    if (memchr("]:|>", line.text[i], 4)) return true;
  return false;
}

static bool is_row_of_memory(const tesela_report *report, tesela__span held) {
  int cells = 1;
  for (size_t i = 0; i < held.n; i++) cells += held.text[i] == ';';
  return report->memory.part == TESELA__PART_TABLE && cells >= 5;
}

/* After a bracket or quote that closes all of a line comes a sign or a blank, never a name; in a row of a table, whose
 * shapes stand in a list, a comma. */
static bool cannot_follow(const tesela_report *report, tesela__span held, tesela__span line) {
  if (held.n == 0 || !memchr("]})\"", held.text[held.n - 1], 4)) return false;
  if (tesela__is_name(*line.text) && *line.text != '.') return true;
  return is_row_of_memory(report, held) && *line.text != ',' && *line.text != '{';
}

static bool is_start(tesela_report *report, tesela__span line) {
  tesela__wrap *wrap = &report->wrap;
  tesela__span text = tesela__trim(line);
  tesela__span held = {wrap->text.text, wrap->n};
  tesela__instruction first, second;
  if (text.n == 0 || has_same_prefix(wrap, line)) return true;
  if (wrap->one_line) return false;
  if (tesela__find(held, " on stack for ")) /* its sentences continue with words that are figures elsewhere */
    return tesela__memory_starts_word(text) && !(*text.text >= 'a' && *text.text <= 'z');
  if (tesela__hlo_starts(text) || tesela__memory_starts_word(text) || tesela__find(line, "HloModule "))
    return true;
  bool ends = held.n > 1 && memchr(".:)}>", held.text[held.n - 1], 5) &&
              !tesela__is_digit(held.text[held.n - 2]); /* "24." goes on */
  if (ends && tesela__memory_may_start(held) && tesela__memory_may_start(line)) return true;
  if (tesela__hlo_prefixed(line, &first) && tesela__hlo_prefixed(held, &second)) return true;
  if (!is_whole(wrap)) return false;
  if (cannot_follow(report, held, line)) return true;
  return text.text[0] == '}' || is_table_row(text) || (line.text[0] == '%' && line.text[line.n - 1] == '{');
}

/* Is it worthwhile to hold a line? Not if it means nothing to a report. */
static bool matters(const tesela_report *report, tesela__span line) {
  return report->module.open || report->memory.entry.open || report->memory.part != TESELA__PART_NONE ||
         tesela__starts_something(line);
}

/* Read a line at once; without a mark it is not a text on one line. */
static bool pass_line(tesela_report *report, tesela__span line, bool marked) {
  return tesela__read_line(report, line, marked ? 0 : TESELA__CLEAN_DEPTH);
}

/* ---- holding ------------------------------------------------------------------------------------------- */

bool tesela__wrap_flush(tesela_report *report) {
  tesela__wrap *wrap = &report->wrap;
  if (wrap->n == 0) return true;
  int64_t line = report->line;
  tesela__span all = {wrap->text.text, wrap->n};
  wrap->n = 0;
  report->line = wrap->line;
  bool going_on = pass_line(report, all, wrap->marked);
  report->line = line;
  return going_on;
}

static bool hold_piece(tesela_report *report, tesela__span line, bool marked) {
  tesela__wrap *wrap = &report->wrap;
  if (!tesela__clean_room(report, &wrap->text, wrap->n + line.n)) return false;
  size_t open = tesela__clean_open_entity((tesela__span){wrap->text.text, wrap->n});
  memcpy(wrap->text.text + wrap->n, line.text, line.n);
  bool cut = wrap->marked && open < wrap->n; /* in the middle of an entity */
  wrap->marked = wrap->marked || marked;
  wrap->n += line.n;
  if (cut) wrap->n = open + tesela__clean_entities(wrap->text.text + open, wrap->n - open);
  if (marked && !wrap->one_line && tesela__find(line, "\\n"))
    wrap->one_line = !tesela__hlo_starts((tesela__span){wrap->text.text, wrap->n});
  return true;
}

/* Where the held line continues with this one, add it. *done: there is nothing more to do with it. */
static bool go_on(tesela_report *report, tesela__span line, tesela__span full, bool marked, bool *done) {
  tesela__wrap *wrap = &report->wrap;
  *done = false;
  if (wrap->n == 0) return true;
  if (!wrap->one_line && tesela__hlo_starts(line) &&
      tesela__hlo_starts((tesela__span){wrap->text.text, wrap->n}))
    return tesela__wrap_flush(report); /* nearly always */
  bool prefixed = line.n != full.n;
  const tesela__width *piece = &wrap->piece[wrap->prefixed && !prefixed];
  tesela__width width = tesela__width_of(line),
                raw = report->raw.bytes ? report->raw : tesela__width_of(full);
  bool fits = (prefixed ? wrap->prefixed : true) &&
              (width.columns <= piece->columns || raw.columns <= wrap->piece[2].columns) &&
              wrap->n + line.n <= (size_t)report->options.line_bytes;
  if (!fits || is_start(report, line)) return tesela__wrap_flush(report);
  *done = true;
  tesela__report_note(report, TESELA_REPORT_JOINED, wrap->line, "lines cut at %zu characters were rejoined",
                      wrap->entities ? wrap->piece[2].columns : piece->columns);
  if (!hold_piece(report, line, marked)) return false;
  if (is_as_wide(width, *piece) || is_as_wide(raw, wrap->piece[2])) return true;
  return tesela__wrap_flush(report);
}

/* Is the line as wide as the widest so far? Keeps the widths of the widest. */
static bool is_widest(tesela__wrap *wrap, const tesela__width width[TESELA__N_WIDTHS]) {
  bool wide = false;
  for (int k = 0; k < TESELA__N_WIDTHS; k++) {
    tesela__width *most = &wrap->most[k];
    wide = wide || width[k].bytes >= most->bytes || width[k].columns >= most->columns;
    if (width[k].bytes > most->bytes) most->bytes = width[k].bytes;
    if (width[k].columns > most->columns) most->columns = width[k].columns;
  }
  return wide;
}

void tesela__wrap_measure(tesela_report *report, tesela__span line) {
  tesela__wrap *wrap = &report->wrap;
  if (line.n <= wrap->most[0].columns && line.n <= wrap->most[1].columns) return;
  tesela__width width = tesela__width_of(line);
  is_widest(wrap, (tesela__width[TESELA__N_WIDTHS]){width, width, width});
}

bool tesela__wrap_line(tesela_report *report, tesela__span line, tesela__span full, bool marked) {
  tesela__wrap *wrap = &report->wrap;
  const tesela__width *most = wrap->most;
  bool done, prefixed = line.n != full.n;
  if (!go_on(report, line, full, marked, &done)) return false;
  if (done) return true;
  if (tesela__looking_at(line.text, line.text + line.n, "HloModule "))
    memset(wrap->most, 0, sizeof wrap->most);
  if (line.n < most[0].columns && full.n < most[1].columns && report->raw.columns < most[2].columns)
    return pass_line(report, line, marked);
  /* in a log many lines have one width, and most of them start nothing */
  bool widens = line.n > most[0].columns || full.n > most[1].columns || report->raw.columns > most[2].columns;
  if (!widens && !matters(report, line)) return pass_line(report, line, marked);
  tesela__width width[TESELA__N_WIDTHS] = {tesela__width_of(line)};
  width[1] = prefixed ? tesela__width_of(full) : width[0];
  width[2] = report->raw.bytes ? report->raw : width[1];
  size_t prefix = width[1].columns - width[0].columns;
  if (!is_widest(wrap, width) || width[2].columns - prefix < NARROWEST || width[0].columns > WIDEST)
    return pass_line(report, line, marked);
  if (widens && !matters(report, line)) return pass_line(report, line, marked);
  memcpy(wrap->piece, width, sizeof width);
  wrap->entities = report->raw.bytes > 0;
  wrap->prefixed = prefixed;
  wrap->line = report->line;
  wrap->depth = 0;
  wrap->scanned = 0;
  wrap->quoted = wrap->one_line = wrap->marked = false;
  wrap->before = '\0';
  return hold_piece(report, line, marked);
}
