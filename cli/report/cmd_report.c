/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_report.c - the verb report: the padding in memory reports and HLO text, its cause, and how to
 * avoid it.
 */
#include <stdlib.h>
#include <string.h>

#include "main/process.h"
#include "report/report_baseline.h"
#include "report/report_input.h"
#include "report/report_print.h"
#include "main/say.h"

static bool read_limits(report_view *view) {
  const char *waste = cli_value(view->cli, "max-waste"), *bytes = cli_value(view->cli, "max-bytes"),
             *peak = cli_value(view->cli, "max-peak");
  tesela_error err;
  view->ask.max_waste = -1;
  view->ask.max_bytes = -1;
  view->ask.max_peak = -1;
  view->ask.timeline = cli_has(view->cli, "timeline");
  if (waste && !report_read_share(waste, &view->ask.max_waste)) {
    say_usage(view->cli, "--max-waste: expected a share of the stored bytes, from 0%% to 100%%");
    return false;
  }
  if (bytes && tesela_units_parse(bytes, strlen(bytes), &view->ask.max_bytes, NULL, &err) != TESELA_OK) {
    say_usage(view->cli, "--max-bytes: %s", err.message);
    return false;
  }
  if (peak && tesela_units_parse(peak, strlen(peak), &view->ask.max_peak, NULL, &err) != TESELA_OK) {
    say_usage(view->cli, "--max-peak: %s", err.message);
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

static void say_waste(const report_view *view, const report_limit *limit, const char *name) {
  char percent[REPORT_RANGE], allowed[REPORT_PERCENT];
  bool compilers = limit->why == REPORT_LIMIT_COMPILER;
  const char *of = compilers ? "the compiler's HLO temp" : "the stored bytes";
  if (limit->why == REPORT_LIMIT_UNREADABLE) {
    say_error(view->cli, "%s: --max-waste cannot be checked: no array has a readable shape%s", name,
              view->ask.space == TESELA_REPORT_ANY ? "" : " in that memory space");
    return;
  }
  report_shares(limit->least, limit->most, percent);
  report_percent(view->ask.max_waste, allowed);
  if (limit->known)
    say_error(view->cli, "%s: %s of %s is padding; --max-waste allows %s", name, percent, of, allowed);
  else
    say_error(
        view->cli,
        "%s: --max-waste cannot be checked: cannot tell whether the padding is above %s; it is %s of %s "
        "(give the program's optimised HLO or buffer assignment, too: it can decide)",
        name, allowed, percent, of);
}

static void say_bytes(const report_view *view, const report_limit *limit, const char *name) {
  char found[TESELA_UNITS_TEXT], allowed[TESELA_UNITS_TEXT];
  report_bytes(view, limit->bytes, found);
  report_bytes(view, view->ask.max_bytes, allowed);
  if (!limit->known)
    say_error(view->cli, "%s: --max-bytes cannot be checked: %s", name,
              limit->why == REPORT_LIMIT_UNREADABLE
                  ? "no array has a readable shape"
                  : "a memory report gives neither a list nor a total for it");
  else if (limit->why == REPORT_LIMIT_STORED)
    say_error(view->cli, "%s: %s are stored; --max-bytes allows %s", name, found, allowed);
  else
    say_error(view->cli, "%s: the compiler's total is %s; --max-bytes allows %s", name, found, allowed);
}

static void say_peak(const report_view *view, const report_limit *limit, const char *name) {
  char range[REPORT_RANGE], allowed[TESELA_UNITS_TEXT];
  report_bytes(view, view->ask.max_peak, allowed);
  if (limit->why == REPORT_LIMIT_UNREADABLE) {
    say_error(view->cli, "%s: --max-peak cannot be checked: no array is in that memory space", name);
    return;
  }
  report_range(view, limit->least_bytes, limit->most_bytes, range);
  if (limit->known)
    say_error(view->cli, "%s: the peak is %s; --max-peak allows %s", name, range, allowed);
  else if (limit->most_bytes == INT64_MAX)
    say_error(view->cli, "%s: --max-peak cannot be checked: the report lists only the largest arrays", name);
  else
    say_error(view->cli,
              "%s: --max-peak cannot be checked: cannot tell whether the peak is above %s; it is %s (a "
              "module with a "
              "schedule, is_scheduled=true, decides)",
              name, allowed, range);
}

/* A limit that is certainly exceeded counts before one that cannot be checked. */
static int check_limits(const report_view *view) {
  report_limit limit[REPORT_LIMITS];
  const tesela_report_note *missing;
  int n = report_limits(&view->ask, limit, &missing), status = CLI_YES;
  bool incomplete = false;
  for (int i = 0; i < n; i++) {
    const char *name = limit[i].source == TESELA_REPORT_MEMORY ? "memory reports" : "HLO text";
    incomplete = incomplete || limit[i].why == REPORT_LIMIT_MISSING;
    if ((limit[i].known && limit[i].holds) || limit[i].why == REPORT_LIMIT_MISSING) continue;
    if (limit[i].is_waste)
      say_waste(view, &limit[i], name);
    else if (limit[i].is_peak)
      say_peak(view, &limit[i], name);
    else
      say_bytes(view, &limit[i], name);
    if (limit[i].known) status = CLI_NO;
    if (status == CLI_YES) status = CLI_FAILED;
  }
  if (status != CLI_YES || !incomplete) return status;
  say_error(view->cli, "cannot tell whether the limit holds: %s", missing->text);
  return CLI_FAILED;
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
  report_view view = {.cli = cli, .ask.order = order_of(cli)};
  report_inputs inputs = {NULL, NULL};
  static report_skipped skipped;
  if (!report_view_options(&view) || !read_limits(&view)) return CLI_BAD;
  bool limited = view.ask.max_waste >= 0 || view.ask.max_bytes >= 0 || view.ask.max_peak >= 0;
  if (cli_value(cli, "baseline") && !limited)
    return say_usage(cli, "--baseline: missing limit (--max-waste, --max-bytes or --max-peak)");
  if (cli->n_args == 0 && process_is_terminal(stdin))
    return say_usage(cli, "missing argument FILE (- reads standard input)");
  int status = cli->n_args == 0 ? report_input_read(cli, 1, standard_input, &inputs, &skipped)
                                : report_input_read(cli, cli->n_args, cli->arg, &inputs, &skipped);
  if (limited && status == CLI_BAD && inputs.report && tesela_report_n_inputs(inputs.report) > 0 &&
      !report_inputs_any(&inputs)) {
    say_error(cli, "cannot tell whether the limit holds: found no array");
    status = CLI_FAILED;
  }
  if (status != CLI_FAILED && report_inputs_any(&inputs)) {
    view.ask.report = inputs.report;
    view.ask.records = inputs.records;
    view.ask.skipped = &skipped;
    int printed = print_report(&view), within = printed == CLI_YES ? check_limits(&view) : CLI_YES;
    if (printed != CLI_YES) status = printed;
    const char *since = cli_value(cli, "baseline");
    if (within == CLI_NO && since && report_explain_since(&view, since) != CLI_YES) status = CLI_BAD;
    if (status == CLI_YES) status = within;
  }
  report_inputs_free(&inputs);
  report_skipped_free(&skipped);
  return status;
}
