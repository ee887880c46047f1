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
  report_view before, after; /* both with the same options */
  const tesela_report_diff *diff;
  int64_t n; /* changes to show */
} diff_view;

/* The shape with its layout; of a row whose shape is not certain, all that it lists. */
static const char *shape_of(const tesela_report_array *array) {
  if (array->n_candidates > 0) return array->listed;
  return array->fitted[0] ? array->fitted : array->shape;
}

/* ---- the compiler's totals ----------------------------------------------------------------------------- */

static bool lists_arrays(const report_view *view) {
  tesela_report_filter filter = {TESELA_REPORT_MEMORY, TESELA_REPORT_ANY, TESELA_REPORT_ANY};
  return tesela_report_total(view->report, &filter).arrays > 0;
}

/* Are there memory reports on both sides, and no list of arrays on one of them? Then only the compiler's totals
 * can be compared. */
static bool compares_totals(const diff_view *view) {
  return report_n_sections(&view->before, TESELA_REPORT_MEMORY) > 0 &&
         report_n_sections(&view->after, TESELA_REPORT_MEMORY) > 0 &&
         !(lists_arrays(&view->before) && lists_arrays(&view->after));
}

/* A figure of the first memory report that has it, "" without. */
static const char *figure_of(const report_view *view, int figure) {
  for (int64_t i = 0; i < tesela_report_n_sections(view->report); i++) {
    const tesela_report_section *section = tesela_report_section_at(view->report, i);
    if (section->source == TESELA_REPORT_MEMORY && section->figure[figure].text[0])
      return section->figure[figure].text;
  }
  return "";
}

static bool figure_differs(const diff_view *view, int figure) {
  const char *before = figure_of(&view->before, figure), *after = figure_of(&view->after, figure);
  return compares_totals(view) && before[0] && after[0] && strcmp(before, after) != 0;
}

static int64_t n_figures_changed(const diff_view *view) {
  int64_t n = 0;
  for (int f = 0; f < TESELA_REPORT_N_FIGURES; f++) n += figure_differs(view, f);
  return n;
}

static void print_compiler_totals(const diff_view *view) {
  bool before = lists_arrays(&view->before), after = lists_arrays(&view->after);
  if (!compares_totals(view)) return;
  printf("%s lists arrays: only the compiler's totals can be compared%s\n",
         before  ? "the memory report after no longer"
         : after ? "only the memory report after"
                 : "neither memory report",
         n_figures_changed(view) > 0 ? "" : ", and they are the same");
  for (int f = 0; f < TESELA_REPORT_N_FIGURES; f++)
    if (figure_differs(view, f))
      printf("  %s %s -> %s\n", tesela_report_figure_text((tesela_report_figure)f),
             figure_of(&view->before, f), figure_of(&view->after, f));
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
  tesela_report_filter filter = report_filter(&view->before, source);
  tesela_report_totals before = tesela_report_total(view->before.report, &filter);
  tesela_report_totals after = tesela_report_total(view->after.report, &filter);
  if (before.arrays == 0 && after.arrays == 0) return;
  printf("%s: stored %s -> %s, padding %s -> %s\n",
         source == TESELA_REPORT_MEMORY ? "memory reports" : "HLO text",
         report_bytes(&view->before, before.stored_bytes, bytes[0]),
         report_bytes(&view->before, after.stored_bytes, bytes[1]),
         report_range(&view->before, before.padding_bytes, before.most_padding_bytes, padding[0]),
         report_range(&view->before, after.padding_bytes, after.most_padding_bytes, padding[1]));
}

/* What the two arrays have in common, and how they differ: "f32[8,3] {1,0} -> {0,1}". */
static void put_shapes(const cli_term *term, const tesela_report_change *change) {
  const char *before = change->before ? shape_of(change->before) : NULL;
  const char *after = change->after ? shape_of(change->after) : NULL;
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
  const cli_term *term = &view->before.cli->out;
  const tesela_report_array *array = change->after ? change->after : change->before;
  put_signed(&view->before, change->bytes);
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

static void print_people(const diff_view *view) {
  int64_t all = tesela_report_diff_count(view->diff);
  print_totals(view, TESELA_REPORT_MEMORY);
  print_totals(view, TESELA_REPORT_HLO);
  print_compiler_totals(view);
  if (all == 0) {
    if (!compares_totals(view) || report_n_sections(&view->before, TESELA_REPORT_HLO) > 0)
      puts("no array changed");
    return;
  }
  printf("\n%12s  %-6s  array\n", "bytes", "change");
  for (int64_t i = 0; i < view->n && !ferror(stdout); i++)
    print_change(view, tesela_report_diff_at(view->diff, i));
  if (all > view->n) printf("%12s  ... and %" PRId64 " more; --top 0 shows all\n", "", all - view->n);
}

/* ---- JSON and TSV -------------------------------------------------------------------------------------- */

static void put_known(tesela_sink *j, const char *name, bool known, int64_t value) {
  tesela_put_key(j, name);
  if (known)
    tesela_put_int(j, value);
  else
    tesela_put_null(j);
}

static void put_totals(tesela_sink *j, const char *name, const report_view *view) {
  tesela_put_key(j, name);
  tesela_put_object(j);
  for (int source = 0; source < TESELA_REPORT_N_SOURCES; source++) {
    tesela_report_filter filter = report_filter(view, (tesela_report_source)source);
    tesela_report_totals totals = tesela_report_total(view->report, &filter);
    tesela_put_key(j, tesela_report_source_name((tesela_report_source)source));
    tesela_put_object(j);
    tesela_put_key_int(j, "arrays", totals.arrays);
    tesela_put_key_int(j, "stored_bytes", totals.stored_bytes);
    put_known(j, "data_bytes", totals.unknown_arrays == 0, totals.data_bytes);
    put_known(j, "padding_bytes", totals.padding_bytes == totals.most_padding_bytes, totals.padding_bytes);
    tesela_put_key_int(j, "least_padding_bytes", totals.padding_bytes);
    tesela_put_key_int(j, "most_padding_bytes", totals.most_padding_bytes);
    tesela_put_end(j);
  }
  tesela_put_end(j);
}

static void put_array(tesela_sink *j, const char *name, const tesela_report_array *array) {
  tesela_put_key(j, name);
  if (!array) {
    tesela_put_null(j);
    return;
  }
  tesela_put_object(j);
  tesela_put_key_text(j, "shape", shape_of(array)[0] ? shape_of(array) : NULL);
  tesela_put_key_int(j, "count", array->count);
  tesela_put_key_int(j, "stored_bytes", array->stored_bytes);
  put_known(j, "data_bytes", array->data_known, array->data_bytes);
  tesela_put_key_bool(j, "certain", array->n_candidates == 0);
  tesela_put_key_text(j, "name", array->name[0] ? array->name : NULL);
  tesela_put_key_text(j, "opcode", array->opcode[0] ? array->opcode : NULL);
  tesela_put_key_text(j, "op_name", array->op_name[0] ? array->op_name : NULL);
  tesela_put_key_int(j, "line", array->line);
  tesela_put_end(j);
}

static bool print_json(const diff_view *view) {
  tesela_json_out j = TESELA_JSON_OUT;
  tesela_put_object(&j.sink);
  put_totals(&j.sink, "before", &view->before);
  put_totals(&j.sink, "after", &view->after);
  tesela_put_key_int(&j.sink, "n_changes", tesela_report_diff_count(view->diff));
  tesela_put_key_int(&j.sink, "rows_left_out", tesela_report_diff_count(view->diff) - view->n);
  tesela_put_key(&j.sink, "compiler");
  tesela_put_list(&j.sink);
  for (int f = 0; f < TESELA_REPORT_N_FIGURES; f++) {
    if (!figure_differs(view, f)) continue;
    tesela_put_object(&j.sink);
    tesela_put_key_text(&j.sink, "figure", tesela_report_figure_name((tesela_report_figure)f));
    tesela_put_key_text(&j.sink, "before", figure_of(&view->before, f));
    tesela_put_key_text(&j.sink, "after", figure_of(&view->after, f));
    tesela_put_end(&j.sink);
  }
  tesela_put_end(&j.sink);
  tesela_put_key(&j.sink, "changes");
  tesela_put_list(&j.sink);
  for (int64_t i = 0; i < view->n; i++) {
    const tesela_report_change *change = tesela_report_diff_at(view->diff, i);
    const tesela_report_array *array = change->before ? change->before : change->after;
    tesela_put_object(&j.sink);
    tesela_put_key_text(&j.sink, "kind", tesela_report_change_name(change->kind));
    tesela_put_key_text(&j.sink, "source", tesela_report_source_name(array->source));
    tesela_put_key_text(&j.sink, "role", tesela_report_role_name(array->role));
    tesela_put_key_int(&j.sink, "count", change->count);
    tesela_put_key_int(&j.sink, "bytes", change->bytes);
    put_array(&j.sink, "before", change->before);
    put_array(&j.sink, "after", change->after);
    tesela_put_end(&j.sink);
    if (j.length > 1 << 16 && !json_write(&j, stdout)) break;
  }
  tesela_put_end(&j.sink);
  tesela_put_end(&j.sink);
  bool done = json_line(&j, stdout);
  tesela_json_out_free(&j);
  return done;
}

static void print_tsv(const diff_view *view) {
  puts("kind\tsource\trole\tcount\tbytes\tbefore\tafter\tbefore_name\tafter_name\tbefore_op_name\tafter_op_"
       "name");
  for (int64_t i = 0; i < view->n && !ferror(stdout); i++) {
    const tesela_report_change *change = tesela_report_diff_at(view->diff, i);
    const tesela_report_array *before = change->before, *after = change->after,
                              *array = before ? before : after;
    printf("%s\t%s\t%s\t%" PRId64 "\t%" PRId64, tesela_report_change_name(change->kind),
           tesela_report_source_name(array->source), tesela_report_role_name(array->role), change->count,
           change->bytes);
    const char *const cells[] = {before ? shape_of(before) : "", after ? shape_of(after) : "",
                                 before ? before->name : "",     after ? after->name : "",
                                 before ? before->op_name : "",  after ? after->op_name : ""};
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
  tesela_report_filter filter = report_filter(&view->before, TESELA_REPORT_MEMORY);
  filter.source = TESELA_REPORT_ANY;
  tesela_status status =
      tesela_report_diff_create(&diff, view->before.report, view->after.report, &filter, NULL, &err);
  if (status != TESELA_OK) return say_failure(cli, &err);
  int64_t all = tesela_report_diff_count(diff);
  bool done = true;
  view->diff = diff;
  view->n = all < view->before.top ? all : view->before.top;
  if (cli->json)
    done = print_json(view);
  else if (cli_has(cli, "tsv"))
    print_tsv(view);
  else
    print_people(view);
  if ((cli->json || cli_has(cli, "tsv")) && all > view->n && !cli_value(cli, "top"))
    say_note(cli, "%" PRId64 " of %" PRId64 " changes; --top 0 gives all", view->n, all);
  tesela_report_diff_destroy(diff);
  if (!done && !ferror(stdout)) return CLI_FAILED;
  return all == 0 && n_figures_changed(view) == 0 ? CLI_YES : CLI_NO;
}

int cmd_diff(const cli_context *cli) {
  diff_view view = {.before = {.cli = cli}};
  tesela_report *before = NULL, *after = NULL;
  static report_skipped skipped;
  if (!report_view_options(&view.before)) return CLI_BAD;
  if (strcmp(cli->arg[0], "-") == 0 && strcmp(cli->arg[1], "-") == 0)
    return say_usage(cli, "standard input can be only one of the two");
  int status = report_input_read(cli, 1, &cli->arg[0], &before, &skipped);
  report_skipped_free(&skipped);
  if (status == CLI_YES) status = report_input_read(cli, 1, &cli->arg[1], &after, &skipped);
  if (status == CLI_YES) {
    view.after = view.before;
    view.before.report = before;
    view.after.report = after;
    status = compare(cli, &view);
  }
  tesela_report_destroy(before);
  tesela_report_destroy(after);
  report_skipped_free(&skipped);
  return status;
}
