/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_changes.c - what changed between two reports, as an answer.
 */
#include <string.h>

#include "report_ask.h"

const char *report_shape_text(const tesela_report_array *array) {
  if (array->n_candidates > 0) return array->listed;
  return array->fitted[0] ? array->fitted : array->shape;
}

bool report_lists_arrays(const report_ask *ask) {
  tesela_report_filter filter = {TESELA_REPORT_MEMORY, TESELA_REPORT_ANY, TESELA_REPORT_ANY};
  return tesela_report_total(ask->report, &filter).arrays > 0;
}

bool report_compares_totals(const changes_ask *ask) {
  return report_n_sections(&ask->before, TESELA_REPORT_MEMORY) > 0 &&
         report_n_sections(&ask->after, TESELA_REPORT_MEMORY) > 0 &&
         !(report_lists_arrays(&ask->before) && report_lists_arrays(&ask->after));
}

const char *report_figure_of(const report_ask *ask, int figure) {
  for (int64_t i = 0; i < tesela_report_n_sections(ask->report); i++) {
    const tesela_report_section *section = tesela_report_section_at(ask->report, i);
    if (section->source == TESELA_REPORT_MEMORY && section->figure[figure].text[0])
      return section->figure[figure].text;
  }
  return "";
}

bool report_figure_differs(const changes_ask *ask, int figure) {
  const char *before = report_figure_of(&ask->before, figure), *after = report_figure_of(&ask->after, figure);
  return report_compares_totals(ask) && before[0] && after[0] && strcmp(before, after) != 0;
}

int64_t report_figures_changed(const changes_ask *ask) {
  int64_t n = 0;
  for (int f = 0; f < TESELA_REPORT_N_FIGURES; f++) n += report_figure_differs(ask, f);
  return n;
}

static void put_totals(tesela_sink *j, const char *name, const report_ask *ask) {
  tesela_put_key_object(j, name);
  for (int source = 0; source < TESELA_REPORT_N_SOURCES; source++) {
    tesela_report_filter filter = report_filter(ask, (tesela_report_source)source);
    tesela_report_totals totals = tesela_report_total(ask->report, &filter);
    tesela_put_key_object(j, tesela_report_source_name((tesela_report_source)source));
    tesela_put_key_int(j, "arrays", totals.arrays);
    tesela_put_key_int(j, "stored_bytes", totals.stored_bytes);
    report_put_known(j, "data_bytes", totals.unknown_arrays == 0, totals.data_bytes);
    report_put_known(j, "padding_bytes", totals.padding_bytes == totals.most_padding_bytes,
                     totals.padding_bytes);
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
  tesela_put_key_text(j, "shape", report_shape_text(array)[0] ? report_shape_text(array) : NULL);
  tesela_put_key_int(j, "count", array->count);
  tesela_put_key_int(j, "stored_bytes", array->stored_bytes);
  report_put_known(j, "data_bytes", array->data_known, array->data_bytes);
  tesela_put_key_bool(j, "certain", array->n_candidates == 0);
  tesela_put_key_text(j, "name", array->name[0] ? array->name : NULL);
  tesela_put_key_text(j, "opcode", array->opcode[0] ? array->opcode : NULL);
  tesela_put_key_text(j, "op_name", array->op_name[0] ? array->op_name : NULL);
  tesela_put_key_text(j, "location", array->location[0] ? array->location : NULL);
  tesela_put_key_int(j, "line", array->line);
  tesela_put_end(j);
}

void report_put_changes(tesela_sink *j, const changes_ask *ask) {
  report_put_since_peak(j, ask);
  report_put_memory_changes(j, ask);
  put_totals(j, "before", &ask->before);
  put_totals(j, "after", &ask->after);
  tesela_put_key_int(j, "n_changes", tesela_report_diff_count(ask->diff));
  tesela_put_key_int(j, "rows_left_out", tesela_report_diff_count(ask->diff) - ask->n);
  tesela_put_key_list(j, "compiler");
  for (int f = 0; f < TESELA_REPORT_N_FIGURES; f++) {
    if (!report_figure_differs(ask, f)) continue;
    tesela_put_object(j);
    tesela_put_key_text(j, "figure", tesela_report_figure_name((tesela_report_figure)f));
    tesela_put_key_text(j, "before", report_figure_of(&ask->before, f));
    tesela_put_key_text(j, "after", report_figure_of(&ask->after, f));
    tesela_put_end(j);
  }
  tesela_put_end(j);
  tesela_put_key_list(j, "changes");
  for (int64_t i = 0; i < ask->n && !j->stopped; i++) {
    const tesela_report_change *change = tesela_report_diff_at(ask->diff, i);
    const tesela_report_array *array = change->before ? change->before : change->after;
    tesela_put_object(j);
    tesela_put_key_text(j, "kind", tesela_report_change_name(change->kind));
    tesela_put_key_text(j, "source", tesela_report_source_name(array->source));
    tesela_put_key_text(j, "role", tesela_report_role_name(array->role));
    tesela_put_key_int(j, "count", change->count);
    tesela_put_key_int(j, "bytes", change->bytes);
    put_array(j, "before", change->before);
    put_array(j, "after", change->after);
    tesela_put_end(j);
  }
  tesela_put_end(j);
}

tesela_status report_put_since(tesela_sink *j, const report_ask *ask) {
  changes_ask changes = {.before = *ask->baseline, .after = *ask};
  tesela_report_diff *diff;
  tesela_report_filter filter = {TESELA_REPORT_ANY, TESELA_REPORT_ANY, ask->space};
  tesela_status status =
      tesela_report_diff_create(&diff, ask->baseline->report, ask->report, &filter, NULL, NULL);
  if (status != TESELA_OK) return status;
  changes.diff = diff;
  changes.n = tesela_report_diff_count(diff);
  if (changes.n > ask->top) changes.n = ask->top;
  tesela_put_key_object(j, "baseline");
  report_put_changes(j, &changes);
  tesela_put_end(j);
  tesela_report_diff_destroy(diff);
  return TESELA_OK;
}
