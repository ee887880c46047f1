/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_people.c - a report for people: per source a headline, the compiler's own totals, warnings, a
 * table of the first rows, then one paragraph for each row with details.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_print.h"

enum { BAR = 10, MAX_SECTION_LINES = 10 };

/* ---- headline ------------------------------------------------------------------------------------------ */

/* The requested memory space has no array: list the spaces that have some. */
static void print_no_space(const report_view *view, tesela_report_source source) {
  const char *between = " ";
  printf("no arrays in memory space %" PRId32 "; spaces here:", view->ask.space);
  for (int32_t space = -128; space <= 127; space++) {
    tesela_report_filter filter = {(int32_t)source, TESELA_REPORT_ANY, space};
    if (tesela_report_total(view->ask.report, &filter).arrays == 0) continue;
    printf("%s%" PRId32, between, space);
    between = ", ";
  }
  puts("");
}

/* Is there a message of an allocator at run time? Its note says what to get for arrays. */
static bool has_message(const report_view *view) {
  for (int64_t i = 0; i < tesela_report_n_notes(view->ask.report); i++)
    if (tesela_report_note_at(view->ask.report, i)->kind == TESELA_REPORT_RUNTIME) return true;
  return false;
}

static void print_headline(const report_view *view, tesela_report_source source,
                           const tesela_report_totals *totals) {
  char text[200], padding[REPORT_RANGE], stored[TESELA_UNITS_TEXT], percent[REPORT_RANGE];
  tesela_report_filter everywhere = {(int32_t)source, TESELA_REPORT_ANY, TESELA_REPORT_ANY};
  if (totals->arrays == 0 && tesela_report_total(view->ask.report, &everywhere).arrays > 0) {
    print_no_space(view, source);
    return;
  }
  if (totals->arrays == 0 && source == TESELA_REPORT_MEMORY && has_message(view)) {
    cli_styled(&view->cli->out, "1", "a message at run time, without a list of arrays");
    puts("");
    return;
  }
  if (totals->arrays == 0 && source == TESELA_REPORT_MEMORY) {
    cli_styled(&view->cli->out, "1", "this memory report lists no arrays");
    puts("; the list is in the compiler's log (\"Memory usage report\"), the arrays\n"
         "are also in an HLO dump: XLA_FLAGS=--xla_dump_to=FOLDER, then tesela report FOLDER");
    return;
  }
  int64_t least = totals->padding_bytes, most = totals->most_padding_bytes;
  report_bytes(view, totals->stored_bytes, stored);
  if (totals->arrays == 0)
    snprintf(text, sizeof text, "no array has a readable shape");
  else if (totals->arrays == totals->unknown_arrays && least == 0 && most == totals->stored_bytes)
    snprintf(text, sizeof text, "%s stored; the share of padding is unknown", stored);
  else
    snprintf(text, sizeof text, "%s of %s stored is padding (%s)", report_range(view, least, most, padding),
             stored, report_range_share(least, most, totals->stored_bytes, percent));
  cli_styled(&view->cli->out, "1", text);
  fputs("\n", stdout);
  report_put_count(totals->arrays, "array");
  fputs(source == TESELA_REPORT_MEMORY ? " listed in " : " in ", stdout);
  int64_t n = report_n_sections(&view->ask, source);
  report_put_count(n, source == TESELA_REPORT_MEMORY ? "memory report" : "HLO module");
  if (view->ask.space != TESELA_REPORT_ANY) printf(", memory space %" PRId32 " only", view->ask.space);
  puts(source == TESELA_REPORT_MEMORY ? " (reports list only the largest)"
                                      : "; the sum over arrays, not the peak");
}

/* "  26.42 MiB  81% padding  arguments" */
static void print_share(const report_view *view, int64_t stored, int64_t least, int64_t most,
                        const char *name) {
  char bytes[TESELA_UNITS_TEXT], percent[REPORT_RANGE];
  printf("  %10s %5s padding  ", report_bytes(view, stored, bytes),
         report_range_share(least, most, stored, percent));
  report_put(&view->cli->out, name, 40);
}

/* Where the arrays of HLO text come from. */
static void print_roles(const report_view *view) {
  static const struct {
    tesela_report_role role;
    const char *words;
  } rows[] = {{TESELA_REPORT_ARGUMENT, "arguments"},
              {TESELA_REPORT_CONSTANT, "constants"},
              {TESELA_REPORT_COPY, "copies"},
              {TESELA_REPORT_RESULT, "results of operations"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_report_filter filter = report_filter(&view->ask, TESELA_REPORT_HLO);
    filter.role = (int32_t)rows[i].role;
    tesela_report_totals totals = tesela_report_total(view->ask.report, &filter);
    if (totals.arrays == 0) continue;
    print_share(view, totals.stored_bytes, totals.padding_bytes, totals.most_padding_bytes, rows[i].words);
    puts("");
  }
}

static void print_spaces(const report_view *view, tesela_report_source source) {
  tesela_report_filter filter = report_filter(&view->ask, source);
  if (view->ask.space != TESELA_REPORT_ANY) return;
  filter.space = 0;
  int64_t elsewhere =
      tesela_report_total(view->ask.report,
                          &(tesela_report_filter){filter.source, filter.role, TESELA_REPORT_ANY})
          .arrays -
      tesela_report_total(view->ask.report, &filter).arrays;
  const char *between = "by memory space: ";
  for (int32_t space = -128; elsewhere > 0 && space <= 127; space++) {
    char stored[TESELA_UNITS_TEXT];
    filter.space = space;
    tesela_report_totals totals = tesela_report_total(view->ask.report, &filter);
    if (totals.arrays == 0) continue;
    printf("%s%s%.0" PRId32 "%s %s", between, space ? "S(" : "default", space, space ? ")" : "",
           report_bytes(view, totals.stored_bytes, stored));
    between = ", ";
  }
  if (elsewhere > 0) puts("");
}

/* ---- sections ------------------------------------------------------------------------------------------ */

/* Totals of the compiler, or of an allocator at run time: "the compiler on hbm: used 19.46G of 15.48G, over by 3.98G, HLO temp 19.46G". */
static void print_compiler_totals(const report_view *view, const tesela_report_section *section) {
  const tesela_report_printed *figure = section->figure;
  const struct {
    tesela_report_figure figure;
    const char *before, *behind;
  } rows[] = {
      {TESELA_REPORT_USED, "used ", ""},
      {TESELA_REPORT_CAPACITY, figure[TESELA_REPORT_USED].text[0] ? " of " : "capacity ", ""},
      {TESELA_REPORT_EXCEEDED, ", over by ", ""},
      {TESELA_REPORT_ARGUMENTS, ", arguments ", ""},
      {TESELA_REPORT_TEMP, ", HLO temp ", ""},
      {TESELA_REPORT_TEMP_UNPADDED, " (", " unpadded)"},
      {TESELA_REPORT_REQUESTED, ", requested ", ""},
      {TESELA_REPORT_FREE, ", free ", ""},
      {TESELA_REPORT_RESERVABLE, ", reservable ", ""},
      {TESELA_REPORT_IN_USE, ", in use ", ""},
      {TESELA_REPORT_MOST_IN_USE, ", in use at most ", ""},
      {TESELA_REPORT_UNUSED, ", reserved and unused ", ""},
      {TESELA_REPORT_BEFORE, ", before rematerialization ", ""},
      {TESELA_REPORT_CONSTANTS, ", constants ", ""},
  };
  bool first = true;
  report_line line;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const char *before = rows[i].before;
    if (!figure[rows[i].figure].text[0]) continue;
    if (first) {
      report_line_begin(&line, &view->cli->out);
      const bool allocator =
          section->figure[TESELA_REPORT_REQUESTED].text[0] || section->figure[TESELA_REPORT_IN_USE].text[0];
      fputs(allocator ? "the allocator" : "the compiler", line.term.file);
      if (section->name[0]) fputs(allocator ? " " : " on ", line.term.file);
      report_put(&line.term, section->name, 40);
      if (strncmp(before, ", ", 2) == 0) before += 2;
      fputs(": ", line.term.file);
    }
    fprintf(line.term.file, "%s%s%s", before, figure[rows[i].figure].text, rows[i].behind);
    first = false;
  }
  if (!first) report_line_end(&line, 2);
}

static void print_section(const report_view *view, const tesela_report_section *section) {
  print_share(view, section->stored_bytes, section->least_padding_bytes, section->most_padding_bytes,
              section->name[0] ? section->name : "(no name)");
  fputs("  ", stdout);
  report_put_place(view, section->input, section->line);
  if (section->repeated > 0)
    printf("  (%" PRId64 " of %" PRId64 " seen before)", section->repeated, section->arrays);
  puts("");
}

/* The largest section that is not printed yet; NULL after the last. */
static const tesela_report_section *largest_section(const report_view *view, tesela_report_source source,
                                                    const tesela_report_section *const *printed, int64_t n) {
  const tesela_report_section *largest = NULL;
  for (int64_t i = 0; i < tesela_report_n_sections(view->ask.report); i++) {
    const tesela_report_section *section = tesela_report_section_at(view->ask.report, i);
    bool skip = section->source != source || (largest && section->stored_bytes <= largest->stored_bytes);
    for (int64_t k = 0; k < n && !skip; k++) skip = printed[k] == section;
    if (!skip) largest = section;
  }
  return largest;
}

static void print_sections(const report_view *view, tesela_report_source source) {
  const tesela_report_section *printed[MAX_SECTION_LINES];
  int64_t n = report_n_sections(&view->ask, source), lines = n < MAX_SECTION_LINES ? n : MAX_SECTION_LINES;
  for (int64_t i = 0; i < lines; i++) {
    printed[i] = largest_section(view, source, printed, i);
    if (n > 1) print_section(view, printed[i]);
    if (printed[i]->arrays == 0 || printed[i]->repeated < printed[i]->arrays)
      print_compiler_totals(view, printed[i]);
    report_print_pool(view, printed[i]->pool);
  }
  if (n > lines) printf("  ... and %" PRId64 " more\n", n - lines);
}

/* ---- notes --------------------------------------------------------------------------------------------- */

static void put_note(const report_view *view, const cli_term *term, const tesela_report_note *note) {
  cli_styled(term, note->loud ? "1;31" : "1", note->loud ? "WARNING: " : "note: ");
  if (note->kind == TESELA_REPORT_DISAGREE)
    fprintf(term->file, "the compiler's figures and the shapes disagree in %" PRId64 " entr%s. ", note->count,
            note->count == 1 ? "y" : "ies");
  report_put(term, note->text, -1);
  fputs(" (", term->file);
  if (note->count > 1) fprintf(term->file, "%" PRId64 " times, first at ", note->count);
  report_place(view, term, note->input, note->line);
  fputs(")", term->file);
}

static void print_notes(const report_view *view, bool loud, const char *before) {
  int64_t printed = 0;
  for (int64_t i = 0; i < tesela_report_n_notes(view->ask.report); i++) {
    const tesela_report_note *note = tesela_report_note_at(view->ask.report, i);
    if (note->loud != loud) continue;
    report_line line;
    if (printed++ == 0) fputs(before, stdout);
    report_line_begin(&line, &view->cli->out);
    put_note(view, &line.term, note);
    report_line_end(&line, 2);
  }
}

/* ---- table --------------------------------------------------------------------------------------------- */

typedef struct table_cells {
  char stored[TESELA_UNITS_TEXT], data[TESELA_UNITS_TEXT], ratio[REPORT_RATIO], count[24];
} table_cells;

static int64_t times(int64_t bytes, int64_t count) {
  return bytes > INT64_MAX / count ? INT64_MAX : bytes * count;
}

static table_cells cells_of(const report_view *view, const tesela_report_array *array) {
  table_cells cells;
  report_bytes(view, times(array->stored_bytes, array->count), cells.stored);
  report_bytes(view, times(array->data_bytes, array->count), cells.data);
  report_ratio(array->stored_bytes, array->data_bytes, cells.ratio);
  if (!array->data_known) snprintf(cells.data, sizeof cells.data, "?");
  if (array->least_padding_bytes != array->most_padding_bytes) snprintf(cells.ratio, sizeof cells.ratio, "?");
  snprintf(cells.count, sizeof cells.count, "%" PRId64, array->count);
  return cells;
}

static void put_bar(const cli_term *term, const tesela_report_array *array) {
  if (array->least_padding_bytes != array->most_padding_bytes) {
    fprintf(term->file, "%-*s", BAR, "?");
    return;
  }
  double share = array->stored_bytes > 0 ? (double)array->data_bytes / (double)array->stored_bytes : 1;
  int filled = (int)(share * (double)BAR + 0.5);
  for (int i = 0; i < BAR; i++)
    fputs(term->utf8 ? (i < filled ? "\xe2\x96\x88" : "\xe2\x96\x91") : (i < filled ? "#" : "."), term->file);
}

static int wider(int width, const char *text) {
  int n = (int)strlen(text);
  return n > width ? n : width;
}

static void print_table(const report_view *view, const tesela_report_array **row, int64_t n) {
  const cli_term *term = &view->cli->out;
  int stored = 6, data = 4, ratio = 1, count = 5, role = 4, number = n > 999 ? 7 : 3;
  bool counted = false, hlo = n > 0 && row[0]->source == TESELA_REPORT_HLO;
  for (int64_t i = 0; i < n; i++) {
    table_cells cells = cells_of(view, row[i]);
    stored = wider(stored, cells.stored);
    data = wider(data, cells.data);
    ratio = wider(ratio, cells.ratio);
    count = wider(count, cells.count);
    role = wider(role, tesela_report_role_name(row[i]->role));
    counted = counted || row[i]->count > 1;
  }
  if (!counted) count = 0;
  if (!hlo) role = 0;
  int left = number + 2 + stored + 2 + data + 2 + ratio + 2 + BAR + (counted ? 2 + count : 0) +
             (hlo ? 2 + role : 0) + 2;
  int room = term->terminal && term->width - left > 20 ? term->width - left : -1;
  printf("%*s  %*s  %*s  %*s  %-*s%s%*s%s%-*s  array\n", number, "#", stored, "stored", data, "data", ratio,
         "x", BAR, "data share", counted ? "  " : "", count, counted ? "count" : "", hlo ? "  " : "", role,
         hlo ? "role" : "");
  for (int64_t i = 0; i < n; i++) {
    table_cells cells = cells_of(view, row[i]);
    printf("%*" PRId64 "  %*s  %*s  %*s  ", number, i + 1, stored, cells.stored, data, cells.data, ratio,
           cells.ratio);
    put_bar(term, row[i]);
    if (counted) printf("  %*s", count, cells.count);
    if (hlo) printf("  %-*s", role, tesela_report_role_name(row[i]->role));
    fputs("  ", stdout);
    report_put_array(term, row[i], room);
    puts("");
    if (ferror(stdout)) return;
  }
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

static bool print_source(const report_view *view, tesela_report_source source) {
  tesela_report_filter filter = report_filter(&view->ask, source);
  tesela_report_totals totals = tesela_report_total(view->ask.report, &filter);
  int64_t n = 0;
  if (source == TESELA_REPORT_HLO) report_print_peak(view);
  print_headline(view, source, &totals);
  if (source == TESELA_REPORT_HLO) print_roles(view);
  print_spaces(view, source);
  print_sections(view, source);
  const tesela_report_array **row = report_rows(&view->ask, source, &n);
  if (row && n > 0) {
    puts("");
    print_table(view, row, n);
    if (totals.rows > n) printf("%*s  ... and %" PRId64 " more; --top 0 shows all\n", 3, "", totals.rows - n);
    for (int64_t i = 0; i < n && !ferror(stdout); i++) report_print_details(view, i + 1, row[i]);
  }
  bool done = row != NULL;
  free(row);
  if (source == TESELA_REPORT_HLO && view->ask.timeline && done) done = report_print_timeline(view);
  return done;
}

bool report_print_people(const report_view *view) {
  bool printed = false;
  print_notes(view, true, "");
  for (int source = 0; source < TESELA_REPORT_N_SOURCES; source++) {
    if (report_n_sections(&view->ask, (tesela_report_source)source) == 0) continue;
    if (printed) puts("");
    if (!print_source(view, (tesela_report_source)source)) return false;
    printed = true;
  }
  if (!report_print_records(view) || !report_print_changes(view)) return false;
  if (view->ask.baseline && !report_print_since(view)) return false;
  print_notes(view, false, "\n");
  return !report_line_lost();
}
