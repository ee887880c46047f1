/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_diff.c - the verb diff: the arrays that changed layout or size between two inputs.
 */
#include <inttypes.h>
#include <string.h>

#include "main/json.h"
#include "report/report_input.h"
#include "report/report_print.h"
#include "main/say.h"

typedef struct diff_view {
  report_view show; /* its `ask` is that of the first */
  changes_ask ask;
} diff_view;

/* ---- the compiler's totals ----------------------------------------------------------------------------- */

static void print_compiler_totals(const diff_view *view) {
  bool before = report_lists_arrays(&view->ask.before), after = report_lists_arrays(&view->ask.after);
  if (!report_compares_totals(&view->ask)) return;
  printf("%s lists arrays: only the compiler's totals can be compared%s\n",
         before  ? "the memory report after no longer"
         : after ? "only the memory report after"
                 : "neither memory report",
         report_figures_changed(&view->ask) > 0 ? "" : ", and they are the same");
  for (int f = 0; f < TESELA_REPORT_N_FIGURES; f++)
    if (report_figure_differs(&view->ask, f))
      printf("  %s %s -> %s\n", tesela_report_figure_text((tesela_report_figure)f),
             report_figure_of(&view->ask.before, f), report_figure_of(&view->ask.after, f));
}

/* ---- for people ---------------------------------------------------------------------------------------- */

static void put_signed(const report_view *view, int64_t bytes) {
  char text[TESELA_UNITS_TEXT], all[TESELA_UNITS_TEXT + 1];
  int64_t size = bytes >= 0 ? bytes : bytes == INT64_MIN ? INT64_MAX : -bytes;
  snprintf(all, sizeof all, "%s%s", bytes > 0 ? "+" : bytes < 0 ? "-" : "", report_bytes(view, size, text));
  printf("%12s", all);
}

static void print_totals(const diff_view *view, tesela_report_source source) {
  char bytes[2][TESELA_UNITS_TEXT], padding[2][REPORT_RANGE];
  tesela_report_filter filter = report_filter(&view->ask.before, source);
  tesela_report_totals before = tesela_report_total(view->ask.before.report, &filter);
  tesela_report_totals after = tesela_report_total(view->ask.after.report, &filter);
  if (before.arrays == 0 && after.arrays == 0) return;
  printf("%s: stored %s -> %s, padding %s -> %s\n",
         source == TESELA_REPORT_MEMORY ? "memory reports" : "HLO text",
         report_bytes(&view->show, before.stored_bytes, bytes[0]),
         report_bytes(&view->show, after.stored_bytes, bytes[1]),
         report_range(&view->show, before.padding_bytes, before.most_padding_bytes, padding[0]),
         report_range(&view->show, after.padding_bytes, after.most_padding_bytes, padding[1]));
}

/* The common part of the two arrays, and the difference: "f32[8,3] {1,0} -> {0,1}". */
static void put_shapes(const cli_term *term, const tesela_report_change *change) {
  const char *before = change->before ? report_shape_text(change->before) : NULL;
  const char *after = change->after ? report_shape_text(change->after) : NULL;
  if (!before || !after || strcmp(before, after) == 0) {
    report_put(term, before ? before : after, -1);
    return;
  }
  const char *layout = strchr(after, ']');
  if (change->kind == TESELA_REPORT_CHANGED_LAYOUT && layout)
    after = layout[1] ? layout + 1 : "without a layout";
  report_put(term, before, -1);
  fputs(" -> ", stdout);
  report_put(term, after, -1);
}

static void print_change(const diff_view *view, const tesela_report_change *change) {
  const cli_term *term = &view->show.cli->out;
  const tesela_report_array *array = change->after ? change->after : change->before;
  put_signed(&view->show, change->bytes);
  printf("  %-6s  ", tesela_report_change_name(change->kind));
  put_shapes(term, change);
  if (change->count > 1) printf("  x%" PRId64, change->count);
  fputs("  ", stdout);
  if (array->op_name[0])
    report_put(term, array->op_name, 80);
  else
    report_put(term, array->name[0] ? array->name : array->opcode, 80);
  puts("");
}

/* "S(0) at the peak: 2.00 MiB -> 3.00 MiB, needs 2.00 MiB -> 4.00 MiB", and what grew there. */
static void print_memory(const diff_view *view) {
  report_memory_change change;
  for (int64_t number = 0; report_space_change(&view->ask, number, &change); number++) {
    char old_peak[TESELA_UNITS_TEXT] = "?", new_peak[TESELA_UNITS_TEXT] = "?", old_needs[TESELA_UNITS_TEXT],
         new_needs[TESELA_UNITS_TEXT];
    const tesela_record_space *before = change.old_space, *after = change.new_space;
    if (before->needs_bytes == after->needs_bytes && before->peak_bytes == after->peak_bytes) continue;
    if (before->peak_bytes >= 0) report_bytes(&view->show, before->peak_bytes, old_peak);
    if (after->peak_bytes >= 0) report_bytes(&view->show, after->peak_bytes, new_peak);
    report_put(&view->show.cli->out, change.after->name, 60);
    printf(" S(%" PRId32 ") at the peak: %s -> %s, needs %s -> %s\n", after->space, old_peak, new_peak,
           report_bytes(&view->show, before->needs_bytes, old_needs),
           report_bytes(&view->show, after->needs_bytes, new_needs));
    for (int64_t i = 0, n = 0; i < change.after->n_buffers && n < REPORT_GREW; i++) {
      int64_t bytes = report_growth(&change, i);
      if (bytes <= 0) continue;
      n++;
      put_signed(&view->show, bytes);
      fputs("  ", stdout);
      report_put(&view->show.cli->out, change.after->buffer[i].instruction, 60);
      fputs("  ", stdout);
      report_put(&view->show.cli->out, change.after->buffer[i].shape, 90);
      puts("");
    }
  }
}

static bool print_people(const diff_view *view) {
  int64_t all = tesela_report_diff_count(view->ask.diff);
  print_totals(view, TESELA_REPORT_MEMORY);
  print_totals(view, TESELA_REPORT_HLO);
  print_compiler_totals(view);
  if (!report_print_since_peak(&view->show, &view->ask.before, &view->ask.after)) return false;
  print_memory(view);
  if (all == 0) {
    if (!report_compares_totals(&view->ask) || report_n_sections(&view->ask.before, TESELA_REPORT_HLO) > 0)
      puts("no array changed");
    return true;
  }
  printf("\n%12s  %-6s  array\n", "bytes", "change");
  for (int64_t i = 0; i < view->ask.n && !ferror(stdout); i++)
    print_change(view, tesela_report_diff_at(view->ask.diff, i));
  if (all > view->ask.n) printf("%12s  ... and %" PRId64 " more; --top 0 shows all\n", "", all - view->ask.n);
  return true;
}

/* ---- JSON and TSV -------------------------------------------------------------------------------------- */

static bool print_json(const diff_view *view) {
  json_stream j = json_stream_begin(stdout);
  tesela_put_object(&j.sink);
  report_put_changes(&j.sink, &view->ask);
  tesela_put_end(&j.sink);
  return json_stream_end(&j);
}

static void print_tsv(const diff_view *view) {
  puts("kind\tsource\trole\tcount\tbytes\tbefore\tafter\tbefore_name\tafter_name\tbefore_op_name\tafter_op_"
       "name");
  for (int64_t i = 0; i < view->ask.n && !ferror(stdout); i++) {
    const tesela_report_change *change = tesela_report_diff_at(view->ask.diff, i);
    const tesela_report_array *before = change->before, *after = change->after,
                              *array = before ? before : after;
    printf("%s\t%s\t%s\t%" PRId64 "\t%" PRId64, tesela_report_change_name(change->kind),
           tesela_report_source_name(array->source), tesela_report_role_name(array->role), change->count,
           change->bytes);
    const char *const cells[] = {before ? report_shape_text(before) : "",
                                 after ? report_shape_text(after) : "",
                                 before ? before->name : "",
                                 after ? after->name : "",
                                 before ? before->op_name : "",
                                 after ? after->op_name : ""};
    for (size_t c = 0; c < sizeof cells / sizeof cells[0]; c++) {
      putchar('\t');
      report_put_cell(cells[c]);
    }
    putchar('\n');
  }
}

/* ---- the verb ------------------------------------------------------------------------------------------ */

static int compare(const cli_context *cli, diff_view *view) {
  tesela_report_diff *diff;
  tesela_error err;
  tesela_report_filter filter = report_filter(&view->ask.before, TESELA_REPORT_MEMORY);
  filter.source = TESELA_REPORT_ANY;
  tesela_status status =
      tesela_report_diff_create(&diff, view->ask.before.report, view->ask.after.report, &filter, NULL, &err);
  if (status != TESELA_OK) return say_failure(cli, &err);
  int64_t all = tesela_report_diff_count(diff);
  bool done = true;
  view->ask.diff = diff;
  view->ask.n = all < view->ask.before.top ? all : view->ask.before.top;
  if (cli->json)
    done = print_json(view);
  else if (cli_has(cli, "tsv"))
    print_tsv(view);
  else
    done = print_people(view);
  if ((cli->json || cli_has(cli, "tsv")) && all > view->ask.n && !cli_value(cli, "top"))
    say_note(cli, "%" PRId64 " of %" PRId64 " changes; --top 0 gives all", view->ask.n, all);
  tesela_report_diff_destroy(diff);
  if (!done && !ferror(stdout)) return CLI_FAILED;
  return all == 0 && report_figures_changed(&view->ask) == 0 ? CLI_YES : CLI_NO;
}

int cmd_diff(const cli_context *cli) {
  diff_view view = {.show = {.cli = cli}};
  report_inputs before = {NULL, NULL}, after = {NULL, NULL};
  static report_skipped skipped;
  if (!report_view_options(&view.show)) return CLI_BAD;
  if (strcmp(cli->arg[0], "-") == 0 && strcmp(cli->arg[1], "-") == 0)
    return say_usage(cli, "only one of BEFORE and AFTER can be standard input");
  int status = report_input_read(cli, 1, &cli->arg[0], &before, &skipped);
  report_skipped_free(&skipped);
  if (status == CLI_YES) status = report_input_read(cli, 1, &cli->arg[1], &after, &skipped);
  if (status == CLI_YES) {
    view.ask.before = view.ask.after = view.show.ask;
    view.ask.before.report = before.report;
    view.ask.before.records = before.records;
    view.ask.after.report = after.report;
    view.ask.after.records = after.records;
    status = compare(cli, &view);
  }
  report_inputs_free(&before);
  report_inputs_free(&after);
  report_skipped_free(&skipped);
  return status;
}
