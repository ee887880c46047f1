/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_put.c - a report as an answer. docs/report.md lists the fields; they stay.
 */
#include <stdlib.h>

#include "report_ask.h"

static void put_totals(tesela_sink *j, const char *name, const tesela_report_totals *totals) {
  tesela_put_key_object(j, name);
  tesela_put_key_int(j, "arrays", totals->arrays);
  tesela_put_key_int(j, "rows", totals->rows);
  tesela_put_key_int(j, "stored_bytes", totals->stored_bytes);
  bool known = totals->padding_bytes == totals->most_padding_bytes;
  report_put_known(j, "data_bytes", totals->unknown_arrays == 0, totals->data_bytes);
  report_put_known(j, "padding_bytes", known, totals->padding_bytes);
  tesela_put_key_int(j, "least_padding_bytes", totals->padding_bytes);
  tesela_put_key_int(j, "most_padding_bytes", totals->most_padding_bytes);
  tesela_put_key_int(j, "unknown_arrays", totals->unknown_arrays);
  tesela_put_key_int(j, "unknown_bytes", totals->unknown_bytes);
  tesela_put_key(j, "waste");
  if (totals->arrays == 0 || !known)
    tesela_put_null(j);
  else
    tesela_put_real(j, report_share(totals->padding_bytes, totals->stored_bytes));
  tesela_put_end(j);
}

static void put_all_totals(tesela_sink *j, const report_ask *ask) {
  tesela_put_key_object(j, "totals");
  for (int source = 0; source < TESELA_REPORT_N_SOURCES; source++) {
    tesela_report_filter filter = report_filter(ask, (tesela_report_source)source);
    tesela_report_totals totals = tesela_report_total(ask->report, &filter);
    put_totals(j, tesela_report_source_name((tesela_report_source)source), &totals);
  }
  tesela_put_key_object(j, "roles");
  for (int role = 0; role < TESELA_REPORT_N_ROLES; role++) {
    tesela_report_filter filter = {TESELA_REPORT_ANY, role, ask->space};
    tesela_report_totals totals = tesela_report_total(ask->report, &filter);
    if (totals.arrays > 0) put_totals(j, tesela_report_role_name((tesela_report_role)role), &totals);
  }
  tesela_put_end(j);
  tesela_put_end(j);
}

static void put_printed(tesela_sink *j, const char *name, const tesela_report_printed *printed) {
  tesela_put_key_text(j, name, printed->text[0] ? printed->text : NULL);
}

static void put_compiler(tesela_sink *j, const tesela_report_array *array) {
  static const struct {
    uint32_t bit;
    const char *name;
  } bits[] = {{TESELA_REPORT_SIZE_DIFFERS, "size"},
              {TESELA_REPORT_UNPADDED_DIFFERS, "unpadded"},
              {TESELA_REPORT_EXTRA_DIFFERS, "extra"},
              {TESELA_REPORT_EXPANSION_DIFFERS, "expansion"}};
  tesela_put_key(j, "compiler");
  if (array->source != TESELA_REPORT_MEMORY) {
    tesela_put_null(j);
    return;
  }
  tesela_put_object(j);
  put_printed(j, "size", &array->size);
  put_printed(j, "unpadded", &array->unpadded);
  put_printed(j, "extra", &array->extra);
  put_printed(j, "expansion", &array->expansion);
  tesela_put_key_list(j, "disagrees");
  for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++)
    if (array->disagree & bits[i].bit) tesela_put_text(j, bits[i].name);
  tesela_put_end(j);
  tesela_put_end(j);
}

/* One string per line that the library writes. */
typedef struct reason_list {
  tesela_sink *j;
  char line[512];
  size_t n;
} reason_list;

static int write_reason(void *user, const char *text, size_t length) {
  reason_list *list = user;
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '\n') {
      tesela_put_text_n(list->j, list->line, list->n);
      list->n = 0;
    } else if (list->n < sizeof list->line) {
      list->line[list->n++] = text[i];
    }
  }
  return 0;
}

static void put_advice(tesela_sink *j, const tesela_xla_shape *shape) {
  static const char *const kinds[] = {"order", "format", "merge"};
  tesela_report_advice advice[TESELA_REPORT_MAX_ADVICE];
  int32_t n = 0;
  if (tesela_report_advise(shape, advice, &n, NULL) != TESELA_OK) n = 0;
  for (int32_t i = 0; i < n; i++) {
    tesela_put_object(j);
    tesela_put_key_text(j, "kind", kinds[advice[i].kind]);
    tesela_writer to = tesela_put_key_begin(j, "shape");
    tesela_xla_print(&advice[i].shape, true, &to, NULL);
    tesela_put_text_end(j);
    tesela_put_key_int(j, "bytes", advice[i].bytes);
    tesela_put_key_int(j, "saved_bytes", advice[i].saved);
    to = tesela_put_key_begin(j, "words");
    tesela_report_advice_words(shape, &advice[i], &to, NULL);
    tesela_put_text_end(j);
    tesela_put_end(j);
  }
}

static void put_reasons_and_advice(tesela_sink *j, const tesela_report_array *array) {
  tesela_xla_shape shape;
  reason_list reasons = {.j = j};
  bool readable = report_shape(array, &shape);
  tesela_put_key_list(j, "reasons");
  if (readable) tesela_report_reasons(&shape, &(tesela_writer){write_reason, &reasons}, NULL);
  tesela_put_end(j);
  tesela_put_key_list(j, "advice");
  if (readable) put_advice(j, &shape);
  tesela_put_end(j);
}

static const char *or_null(const char *text) { return text[0] ? text : NULL; }

/* How certain the shape is. */
static void put_choice(tesela_sink *j, const tesela_report_array *array) {
  tesela_put_key_text(j, "listed", or_null(array->listed));
  tesela_put_key_list(j, "candidates");
  for (int32_t i = 0; i < array->n_candidates; i++) {
    const tesela_report_candidate *candidate = &array->candidate[i];
    tesela_put_object(j);
    tesela_put_key_text(j, "shape", candidate->shape);
    tesela_put_key_text(j, "fitted", or_null(candidate->fitted));
    tesela_put_key_int(j, "stored_bytes", candidate->stored_bytes);
    tesela_put_key_int(j, "data_bytes", candidate->data_bytes);
    tesela_put_key_int(j, "padding_bytes", candidate->padding_bytes);
    tesela_put_key_int(j, "layouts", candidate->layouts);
    tesela_put_end(j);
  }
  tesela_put_end(j);
  tesela_put_key_int(j, "layouts", array->layouts);
  tesela_put_key_bool(j, "incomplete", array->incomplete);
  tesela_put_key_bool(j, "decided", array->decided);
  tesela_put_key_bool(j, "granule", array->granule);
}

static void put_array(tesela_sink *j, const report_ask *ask, const tesela_report_array *array) {
  tesela_put_object(j);
  tesela_put_key_text(j, "source", tesela_report_source_name(array->source));
  tesela_put_key_text(j, "role", tesela_report_role_name(array->role));
  tesela_put_key_text(j, "shape", or_null(array->shape));
  tesela_put_key_text(j, "fitted", or_null(array->fitted));
  tesela_put_key_int(j, "count", array->count);
  tesela_put_key_int(j, "stored_bytes", array->stored_bytes);
  report_put_known(j, "data_bytes", array->data_known, array->data_bytes);
  report_put_known(j, "padding_bytes", array->least_padding_bytes == array->most_padding_bytes,
                   array->least_padding_bytes);
  tesela_put_key_int(j, "least_padding_bytes", array->least_padding_bytes);
  tesela_put_key_int(j, "most_padding_bytes", array->most_padding_bytes);
  tesela_put_key_bool(j, "sized", array->sized);
  tesela_put_key_int(j, "memory_space", array->memory_space);
  tesela_put_key_text(j, "name", or_null(array->name));
  tesela_put_key_text(j, "opcode", or_null(array->opcode));
  tesela_put_key_text(j, "op_name", or_null(array->op_name));
  tesela_put_key_text(j, "op_type", or_null(array->op_type));
  tesela_put_key_text(j, "location", or_null(array->location));
  tesela_put_key_text(j, "allocation", or_null(array->allocation));
  tesela_put_key_text(j, "input", report_input_name(ask, array->input));
  tesela_put_key_int(j, "line", array->line);
  tesela_put_key_int(j, "section", array->section);
  put_compiler(j, array);
  put_choice(j, array);
  put_reasons_and_advice(j, array);
  tesela_put_end(j);
}

static tesela_status put_arrays(tesela_sink *j, const report_ask *ask) {
  tesela_put_key_list(j, "arrays");
  for (int source = 0; source < TESELA_REPORT_N_SOURCES; source++) {
    int64_t n = 0;
    const tesela_report_array **row = report_rows(ask, (tesela_report_source)source, &n);
    if (!row) return TESELA_E_MEMORY;
    for (int64_t i = 0; i < n && !j->stopped; i++) put_array(j, ask, row[i]);
    free(row);
  }
  tesela_put_end(j);
  return TESELA_OK;
}

static void put_section(tesela_sink *j, const report_ask *ask, const tesela_report_section *section) {
  tesela_put_object(j);
  tesela_put_key_text(j, "source", tesela_report_source_name(section->source));
  tesela_put_key_text(j, "name", or_null(section->name));
  tesela_put_key_text(j, "input", report_input_name(ask, section->input));
  tesela_put_key_int(j, "line", section->line);
  tesela_put_key_int(j, "arrays", section->arrays);
  tesela_put_key_int(j, "repeated", section->repeated);
  tesela_put_key_int(j, "stored_bytes", section->stored_bytes);
  tesela_put_key_int(j, "data_bytes", section->data_bytes);
  tesela_put_key_int(j, "least_padding_bytes", section->least_padding_bytes);
  tesela_put_key_int(j, "most_padding_bytes", section->most_padding_bytes);
  if (section->n_arguments >= 0) {
    tesela_put_key_int(j, "entry_arguments", section->n_arguments);
    tesela_put_key_int(j, "entry_argument_bytes", section->argument_bytes);
    tesela_put_key_int(j, "entry_argument_data_bytes", section->argument_data_bytes);
    tesela_put_key_int(j, "entry_results", section->n_results);
    tesela_put_key_int(j, "entry_result_bytes", section->result_bytes);
    tesela_put_key_int(j, "entry_result_data_bytes", section->result_data_bytes);
  }
  tesela_put_key_object(j, "compiler");
  for (int f = 0; f < TESELA_REPORT_N_FIGURES; f++)
    if (section->figure[f].text[0])
      tesela_put_key_text(j, tesela_report_figure_name((tesela_report_figure)f), section->figure[f].text);
  tesela_put_end(j);
  report_put_pool(j, ask, section->pool);
  tesela_put_end(j);
}

static void put_sections_notes_inputs(tesela_sink *j, const report_ask *ask) {
  const tesela_report *report = ask->report;
  tesela_put_key_list(j, "sections");
  for (int64_t i = 0; i < tesela_report_n_sections(report); i++)
    put_section(j, ask, tesela_report_section_at(report, i));
  tesela_put_end(j);
  tesela_put_key_list(j, "notes");
  for (int64_t i = 0; i < tesela_report_n_notes(report); i++) {
    const tesela_report_note *note = tesela_report_note_at(report, i);
    tesela_put_object(j);
    tesela_put_key_text(j, "code", note->code);
    tesela_put_key_bool(j, "loud", note->loud);
    tesela_put_key_int(j, "count", note->count);
    tesela_put_key_text(j, "input", report_input_name(ask, note->input));
    tesela_put_key_int(j, "line", note->line);
    tesela_put_key_text(j, "text", note->text);
    tesela_put_end(j);
  }
  tesela_put_end(j);
  tesela_put_key_list(j, "inputs");
  for (int64_t i = 0; i < tesela_report_n_inputs(report); i++) {
    const tesela_report_input *input = tesela_report_input_at(report, i);
    tesela_put_object(j);
    tesela_put_key_text(j, "name", input->name);
    tesela_put_key_int(j, "bytes", input->bytes);
    tesela_put_key_int(j, "lines", input->lines);
    tesela_put_key_int(j, "sections", input->sections);
    tesela_put_key_int(j, "arrays", input->arrays);
    tesela_put_end(j);
  }
  tesela_put_end(j);
}

static void put_skipped(tesela_sink *j, const report_skipped *skipped) {
  tesela_put_key_list(j, "skipped");
  for (int64_t i = 0; skipped && i < skipped->n && i < REPORT_SKIPPED; i++) {
    tesela_put_object(j);
    tesela_put_key_text(j, "name", skipped->file[i].name);
    tesela_put_key_text(j, "why", skipped->file[i].why);
    tesela_put_end(j);
  }
  tesela_put_end(j);
}

static void put_limits(tesela_sink *j, const report_ask *ask) {
  static const char *const why[] = {"stored", "compiler", "unreadable", "uncertain", "unlisted", "missing"};
  report_limit limit[REPORT_LIMITS];
  const tesela_report_note *missing;
  int n = report_limits(ask, limit, &missing);
  tesela_put_key_list(j, "limits");
  for (int i = 0; i < n; i++) {
    tesela_put_object(j);
    tesela_put_key_text(j, "limit",
                        limit[i].is_waste  ? "max_waste"
                        : limit[i].is_peak ? "max_peak"
                                           : "max_bytes");
    tesela_put_key_text(j, "source", tesela_report_source_name(limit[i].source));
    tesela_put_key(j, "holds");
    if (limit[i].known)
      tesela_put_bool(j, limit[i].holds);
    else
      tesela_put_null(j);
    tesela_put_key_text(j, "why", why[limit[i].why]);
    if (limit[i].is_peak) {
      tesela_put_key_int(j, "least", limit[i].least_bytes);
      report_put_known(j, "most", limit[i].most_bytes < INT64_MAX, limit[i].most_bytes);
    } else if (!limit[i].is_waste) {
      tesela_put_key_int(j, "bytes", limit[i].bytes);
    } else if (limit[i].why != REPORT_LIMIT_UNREADABLE) {
      tesela_put_key_real(j, "least", limit[i].least);
      tesela_put_key_real(j, "most", limit[i].most);
    }
    tesela_put_end(j);
  }
  tesela_put_end(j);
}

tesela_status report_put_answer(tesela_sink *j, const report_ask *ask) {
  int64_t left;
  if (report_put_peak(j, ask) != TESELA_OK) return TESELA_E_MEMORY;
  put_all_totals(j, ask);
  if (put_arrays(j, ask) != TESELA_OK) return TESELA_E_MEMORY;
  report_n_rows(ask, &left);
  tesela_put_key_int(j, "rows_left_out", left);
  if (report_put_culprits(j, ask) != TESELA_OK) return TESELA_E_MEMORY;
  report_put_records(j, ask);
  put_sections_notes_inputs(j, ask);
  put_skipped(j, ask->skipped);
  if (ask->max_waste >= 0 || ask->max_bytes >= 0 || ask->max_peak >= 0) put_limits(j, ask);
  return ask->baseline ? report_put_since(j, ask) : TESELA_OK;
}
