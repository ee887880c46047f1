/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_report.c - the verb report: what is padding in memory reports and HLO text, why, and what would avoid
 * it.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/report_input.h"
#include "report/report_print.h"
#include "main/say.h"

/* "10%" or "0.1": a share from 0 to 1. */
static bool read_share(const char *text, double *share) {
  char *end;
  *share = strtod(text, &end);
  bool percent = *end == '%';
  if (percent) *share /= 100;
  return end != text && end[percent] == '\0' && *share >= 0 && *share <= 1;
}

static bool read_limits(report_view *view) {
  const char *waste = cli_value(view->cli, "max-waste"), *bytes = cli_value(view->cli, "max-bytes");
  tesela_error err;
  view->max_waste = -1;
  view->max_bytes = -1;
  if (waste && !read_share(waste, &view->max_waste)) {
    say_usage(view->cli, "--max-waste takes a share of the stored bytes, from 0%% to 100%%");
    return false;
  }
  if (bytes && tesela_units_parse(bytes, strlen(bytes), &view->max_bytes, NULL, &err) != TESELA_OK) {
    say_usage(view->cli, "--max-bytes: %s", err.message);
    return false;
  }
  return true;
}

static tesela_report_order order_of(const cli_context *cli) {
  const char *by = cli_value(cli, "by");
  if (by && strcmp(by, "size") == 0) return TESELA_REPORT_BY_SIZE;
  if (by && strcmp(by, "expansion") == 0) return TESELA_REPORT_BY_EXPANSION;
  return TESELA_REPORT_BY_WASTE;
}

/* ---- limits -------------------------------------------------------------------------------------------- */

/* The compiler's own total of a memory report, NULL if it printed none. */
static const tesela_report_printed *compiler_total(const tesela_report_section *section) {
  static const tesela_report_figure from[] = {TESELA_REPORT_USED, TESELA_REPORT_REQUIREMENT,
                                              TESELA_REPORT_TEMP, TESELA_REPORT_USAGE};
  for (size_t i = 0; i < sizeof from / sizeof from[0]; i++)
    if (section->figure[from[i]].bytes >= 0) return &section->figure[from[i]];
  return NULL;
}

/* Is the question about the memory that a report is about? A list of one other space says nothing of it. */
static bool is_in_view(const report_view *view, const tesela_report_section *section) {
  return view->space == TESELA_REPORT_ANY || (view->space == 0 && strcmp(section->name, "vmem") != 0);
}

/* The largest total a compiler printed that is more than its report lists, in its rounding; -1 without.
 * *unlisted: memory reports that give neither a list nor a total. */
static int64_t largest_compiler_total(const report_view *view, int64_t *unlisted) {
  int64_t largest = -1;
  *unlisted = 0;
  for (int64_t i = 0; i < tesela_report_n_sections(view->report); i++) {
    const tesela_report_section *section = tesela_report_section_at(view->report, i);
    char listed[TESELA_UNITS_TEXT], printed[TESELA_UNITS_TEXT];
    if (section->source != TESELA_REPORT_MEMORY) continue;
    const tesela_report_printed *total = is_in_view(view, section) ? compiler_total(section) : NULL;
    *unlisted += !total && section->arrays == 0;
    if (!total || total->bytes <= section->stored_bytes) continue;
    tesela_units_print(section->stored_bytes, TESELA_UNITS_XLA, listed);
    tesela_units_print(total->bytes, TESELA_UNITS_XLA, printed);
    if (strcmp(listed, printed) != 0 && total->bytes > largest) largest = total->bytes;
  }
  return largest;
}

/* The largest share of padding that a compiler printed for its HLO temporaries; -1 without. */
static double compiler_waste(const report_view *view) {
  double waste = -1;
  for (int64_t i = 0; i < tesela_report_n_sections(view->report); i++) {
    const tesela_report_section *section = tesela_report_section_at(view->report, i);
    const tesela_report_printed *unpadded = &section->figure[TESELA_REPORT_TEMP_UNPADDED],
                                *padded = &section->figure[TESELA_REPORT_TEMP_PADDED];
    if (!is_in_view(view, section) || unpadded->bytes < 0 || padded->bytes <= 0) continue;
    double share = unpadded->bytes < padded->bytes ? 1 - (double)unpadded->bytes / (double)padded->bytes : 0;
    if (share > waste) waste = share;
  }
  return waste;
}

/* What a limit found; one that is exceeded for certain comes before one that could not be checked. */
static int worse_of(int a, int b) { return a == CLI_NO || b == CLI_NO ? CLI_NO : a == CLI_YES ? b : a; }

/* The padding lies between two shares; a limit between them cannot be told from the report. */
static int check_waste(const report_view *view, tesela_report_source source, const char *name,
                       const tesela_report_totals *totals) {
  char percent[REPORT_RANGE], limit[REPORT_PERCENT];
  int64_t stored = totals->stored_bytes;
  double least = report_share(totals->padding_bytes, stored),
         most = report_share(totals->most_padding_bytes, stored);
  const char *of = "the stored bytes";
  report_range_share(totals->padding_bytes, totals->most_padding_bytes, stored, percent);
  bool no_list = totals->arrays == totals->unknown_arrays, told = totals->arrays > 0;
  double compilers = no_list && source == TESELA_REPORT_MEMORY ? compiler_waste(view) : -1;
  if (compilers >= 0 && (!told || (least <= view->max_waste && most > view->max_waste))) {
    least = most = compilers;
    report_percent(compilers, percent);
    of = "the compiler's HLO temp";
    told = true;
  }
  if (!told) {
    say_error(view->cli, "%s: --max-waste cannot be checked: no array has a readable shape%s", name,
              view->space == TESELA_REPORT_ANY ? "" : " in that memory space");
    return CLI_FAILED;
  }
  if (most <= view->max_waste) return CLI_YES;
  report_percent(view->max_waste, limit);
  if (least > view->max_waste) {
    say_error(view->cli, "%s: %s of %s is padding; --max-waste allows %s", name, percent, of, limit);
    return CLI_NO;
  }
  say_error(
      view->cli,
      "%s: --max-waste cannot be checked: cannot tell whether the padding is above %s; it is %s of %s (the "
      "program's optimised HLO or buffer assignment, given too, can decide)",
      name, limit, percent, of);
  return CLI_FAILED;
}

static int check_bytes(const report_view *view, tesela_report_source source, const char *name,
                       const tesela_report_totals *totals) {
  char found[TESELA_UNITS_TEXT], allowed[TESELA_UNITS_TEXT];
  int64_t total = -1, unlisted = 0;
  report_bytes(view, view->max_bytes, allowed);
  if (source == TESELA_REPORT_MEMORY) total = largest_compiler_total(view, &unlisted);
  if (totals->stored_bytes > view->max_bytes)
    say_error(view->cli, "%s: %s are stored; --max-bytes allows %s", name,
              report_bytes(view, totals->stored_bytes, found), allowed);
  else if (total > view->max_bytes)
    say_error(view->cli, "%s: the compiler's total is %s; --max-bytes allows %s", name,
              report_bytes(view, total, found), allowed);
  if (totals->stored_bytes > view->max_bytes || total > view->max_bytes) return CLI_NO;
  tesela_report_filter anywhere = {(int32_t)source, TESELA_REPORT_ANY, TESELA_REPORT_ANY};
  bool measured = source == TESELA_REPORT_MEMORY || tesela_report_total(view->report, &anywhere).arrays > 0;
  if (unlisted == 0 && measured) return CLI_YES;
  say_error(view->cli, "%s: --max-bytes cannot be checked: %s", name,
            source == TESELA_REPORT_HLO ? "no array has a readable shape"
                                        : "a memory report gives neither a list nor a total for it");
  return CLI_FAILED;
}

/* The first note that arrays are missing or stand with the wrong figures: within a limit is then no answer. */
static const tesela_report_note *what_is_missing(const report_view *view) {
  for (int64_t i = 0; i < tesela_report_n_notes(view->report); i++) {
    const tesela_report_note *note = tesela_report_note_at(view->report, i);
    if (note->kind == TESELA_REPORT_MIXED || note->kind == TESELA_REPORT_BROKEN ||
        note->kind == TESELA_REPORT_CUT_MODULE || note->kind == TESELA_REPORT_NO_ENTRY)
      return note;
  }
  return NULL;
}

/* Memory reports and HLO text have totals of their own, and a limit holds for each. */
static int check_limits(const report_view *view) {
  int status = CLI_YES;
  const tesela_report_note *missing = what_is_missing(view);
  for (int i = 0; i < TESELA_REPORT_N_SOURCES; i++) {
    tesela_report_source source = (tesela_report_source)i;
    tesela_report_filter filter = report_filter(view, source);
    tesela_report_totals totals = tesela_report_total(view->report, &filter);
    const char *name = source == TESELA_REPORT_MEMORY ? "memory reports" : "HLO text";
    if (report_n_sections(view, source) == 0) continue;
    if (view->max_waste >= 0) status = worse_of(status, check_waste(view, source, name, &totals));
    if (view->max_bytes >= 0) status = worse_of(status, check_bytes(view, source, name, &totals));
  }
  if (status == CLI_YES && missing && (view->max_waste >= 0 || view->max_bytes >= 0)) {
    say_error(view->cli, "cannot tell whether the limit holds: %s", missing->text);
    status = CLI_FAILED;
  }
  return status;
}

static int print_report(const report_view *view) {
  bool done = true;
  if (view->cli->json)
    done = report_print_json(view);
  else if (cli_has(view->cli, "tsv"))
    done = report_print_tsv(view);
  else
    done = report_print_people(view);
  if (done && (view->cli->json || cli_has(view->cli, "tsv"))) report_say_rows_left(view);
  return done || ferror(stdout) ? CLI_YES : CLI_FAILED;
}

int cmd_report(const cli_context *cli) {
  static const char *const standard_input[] = {"-"};
  report_view view = {.cli = cli, .order = order_of(cli)};
  tesela_report *report = NULL;
  static report_skipped skipped;
  if (!report_view_options(&view) || !read_limits(&view)) return CLI_BAD;
  if (cli->n_args == 0 && isatty(STDIN_FILENO)) return say_usage(cli, "no FILE; - reads standard input");
  int status = cli->n_args == 0 ? report_input_read(cli, 1, standard_input, &report, &skipped)
                                : report_input_read(cli, cli->n_args, cli->arg, &report, &skipped);
  bool limited = view.max_waste >= 0 || view.max_bytes >= 0;
  if (limited && status == CLI_BAD && report && tesela_report_n_inputs(report) > 0 &&
      tesela_report_n_sections(report) == 0) {
    say_error(cli, "cannot tell whether the limit holds: no array was found");
    status = CLI_FAILED;
  }
  if (status != CLI_FAILED && report && tesela_report_n_sections(report) > 0) {
    view.report = report;
    view.skipped = &skipped;
    int printed = print_report(&view), within = printed == CLI_YES ? check_limits(&view) : CLI_YES;
    if (printed != CLI_YES) status = printed;
    if (status == CLI_YES) status = within;
  }
  tesela_report_destroy(report);
  report_skipped_free(&skipped);
  return status;
}
