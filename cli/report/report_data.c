/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_data.c - a report as JSON and as TSV. docs/report.md lists the fields; they stay.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "report/report_print.h"

static int64_t times(int64_t bytes, int64_t count) {
  return bytes > INT64_MAX / count ? INT64_MAX : bytes * count;
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

static void put_known(json_writer *j, const char *name, bool known, int64_t value) {
  if (known) {
    jw_put_int(j, name, value);
    return;
  }
  jw_key(j, name);
  jw_null(j);
}

static void put_totals(json_writer *j, const char *name, const tesela_report_totals *totals) {
  jw_key(j, name);
  jw_object(j);
  jw_put_int(j, "arrays", totals->arrays);
  jw_put_int(j, "rows", totals->rows);
  jw_put_int(j, "stored_bytes", totals->stored_bytes);
  bool known = totals->padding_bytes == totals->most_padding_bytes;
  put_known(j, "data_bytes", totals->unknown_arrays == 0, totals->data_bytes);
  put_known(j, "padding_bytes", known, totals->padding_bytes);
  jw_put_int(j, "least_padding_bytes", totals->padding_bytes);
  jw_put_int(j, "most_padding_bytes", totals->most_padding_bytes);
  jw_put_int(j, "unknown_arrays", totals->unknown_arrays);
  jw_put_int(j, "unknown_bytes", totals->unknown_bytes);
  jw_key(j, "waste");
  if (totals->arrays == 0 || !known)
    jw_null(j);
  else
    jw_real(j, report_share(totals->padding_bytes, totals->stored_bytes));
  jw_end(j);
}

static void put_all_totals(json_writer *j, const report_view *view) {
  jw_key(j, "totals");
  jw_object(j);
  for (int source = 0; source < TESELA_REPORT_N_SOURCES; source++) {
    tesela_report_filter filter = report_filter(view, (tesela_report_source)source);
    tesela_report_totals totals = tesela_report_total(view->report, &filter);
    put_totals(j, tesela_report_source_name((tesela_report_source)source), &totals);
  }
  jw_key(j, "roles");
  jw_object(j);
  for (int role = 0; role < TESELA_REPORT_N_ROLES; role++) {
    tesela_report_filter filter = {TESELA_REPORT_ANY, role, view->space};
    tesela_report_totals totals = tesela_report_total(view->report, &filter);
    if (totals.arrays > 0) put_totals(j, tesela_report_role_name((tesela_report_role)role), &totals);
  }
  jw_end(j);
  jw_end(j);
}

static void put_printed(json_writer *j, const char *name, const tesela_report_printed *printed) {
  jw_put_str(j, name, printed->text[0] ? printed->text : NULL);
}

static void put_compiler(json_writer *j, const tesela_report_array *array) {
  static const struct {
    uint32_t bit;
    const char *name;
  } bits[] = {{TESELA_REPORT_SIZE_DIFFERS, "size"},
              {TESELA_REPORT_UNPADDED_DIFFERS, "unpadded"},
              {TESELA_REPORT_EXTRA_DIFFERS, "extra"},
              {TESELA_REPORT_EXPANSION_DIFFERS, "expansion"}};
  jw_key(j, "compiler");
  if (array->source != TESELA_REPORT_MEMORY) {
    jw_null(j);
    return;
  }
  jw_object(j);
  put_printed(j, "size", &array->size);
  put_printed(j, "unpadded", &array->unpadded);
  put_printed(j, "extra", &array->extra);
  put_printed(j, "expansion", &array->expansion);
  jw_key(j, "disagrees");
  jw_list(j);
  for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++)
    if (array->disagree & bits[i].bit) jw_str(j, bits[i].name);
  jw_end(j);
  jw_end(j);
}

/* One string per line that the library writes. */
typedef struct reason_list {
  json_writer *j;
  char line[512];
  size_t n;
} reason_list;

static int write_reason(void *user, const char *text, size_t length) {
  reason_list *list = user;
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '\n') {
      jw_str_n(list->j, list->line, list->n);
      list->n = 0;
    } else if (list->n < sizeof list->line) {
      list->line[list->n++] = text[i];
    }
  }
  return 0;
}

static void put_advice(json_writer *j, const tesela_xla_shape *shape) {
  static const char *const kinds[] = {"order", "format", "merge"};
  tesela_report_advice advice[TESELA_REPORT_MAX_ADVICE];
  int32_t n = 0;
  if (tesela_report_advise(shape, advice, &n, NULL) != TESELA_OK) n = 0;
  for (int32_t i = 0; i < n; i++) {
    jw_object(j);
    jw_put_str(j, "kind", kinds[advice[i].kind]);
    jw_key(j, "shape");
    tesela_writer to = jw_text_begin(j);
    tesela_xla_print(&advice[i].shape, true, &to, NULL);
    jw_text_end(j);
    jw_put_int(j, "bytes", advice[i].bytes);
    jw_put_int(j, "saved_bytes", advice[i].saved);
    jw_key(j, "words");
    to = jw_text_begin(j);
    tesela_report_advice_words(shape, &advice[i], &to, NULL);
    jw_text_end(j);
    jw_end(j);
  }
}

static void put_reasons_and_advice(json_writer *j, const tesela_report_array *array) {
  tesela_xla_shape shape;
  reason_list reasons = {.j = j};
  bool readable = report_shape(array, &shape);
  jw_key(j, "reasons");
  jw_list(j);
  if (readable) tesela_report_reasons(&shape, &(tesela_writer){write_reason, &reasons}, NULL);
  jw_end(j);
  jw_key(j, "advice");
  jw_list(j);
  if (readable) put_advice(j, &shape);
  jw_end(j);
}

static const char *or_null(const char *text) { return text[0] ? text : NULL; }

static const char *input_name(const report_view *view, int32_t input) {
  const tesela_report_input *from = tesela_report_input_at(view->report, input);
  return from ? from->name : "";
}

/* How certain the shape is. */
static void put_choice(json_writer *j, const tesela_report_array *array) {
  jw_put_str(j, "listed", or_null(array->listed));
  jw_key(j, "candidates");
  jw_list(j);
  for (int32_t i = 0; i < array->n_candidates; i++) {
    const tesela_report_candidate *candidate = &array->candidate[i];
    jw_object(j);
    jw_put_str(j, "shape", candidate->shape);
    jw_put_str(j, "fitted", or_null(candidate->fitted));
    jw_put_int(j, "stored_bytes", candidate->stored_bytes);
    jw_put_int(j, "data_bytes", candidate->data_bytes);
    jw_put_int(j, "padding_bytes", candidate->padding_bytes);
    jw_put_int(j, "layouts", candidate->layouts);
    jw_end(j);
  }
  jw_end(j);
  jw_put_int(j, "layouts", array->layouts);
  jw_put_bool(j, "incomplete", array->incomplete);
  jw_put_bool(j, "decided", array->decided);
  jw_put_bool(j, "granule", array->granule);
}

static void put_array(json_writer *j, const report_view *view, const tesela_report_array *array) {
  jw_object(j);
  jw_put_str(j, "source", tesela_report_source_name(array->source));
  jw_put_str(j, "role", tesela_report_role_name(array->role));
  jw_put_str(j, "shape", or_null(array->shape));
  jw_put_str(j, "fitted", or_null(array->fitted));
  jw_put_int(j, "count", array->count);
  jw_put_int(j, "stored_bytes", array->stored_bytes);
  put_known(j, "data_bytes", array->data_known, array->data_bytes);
  put_known(j, "padding_bytes", array->least_padding_bytes == array->most_padding_bytes,
            array->least_padding_bytes);
  jw_put_int(j, "least_padding_bytes", array->least_padding_bytes);
  jw_put_int(j, "most_padding_bytes", array->most_padding_bytes);
  jw_put_bool(j, "sized", array->sized);
  jw_put_int(j, "memory_space", array->memory_space);
  jw_put_str(j, "name", or_null(array->name));
  jw_put_str(j, "opcode", or_null(array->opcode));
  jw_put_str(j, "op_name", or_null(array->op_name));
  jw_put_str(j, "op_type", or_null(array->op_type));
  jw_put_str(j, "location", or_null(array->location));
  jw_put_str(j, "allocation", or_null(array->allocation));
  jw_put_str(j, "input", input_name(view, array->input));
  jw_put_int(j, "line", array->line);
  jw_put_int(j, "section", array->section);
  put_compiler(j, array);
  put_choice(j, array);
  put_reasons_and_advice(j, array);
  jw_end(j);
}

static void put_arrays(json_writer *j, const report_view *view) {
  jw_key(j, "arrays");
  jw_list(j);
  for (int source = 0; source < TESELA_REPORT_N_SOURCES; source++) {
    int64_t n = 0;
    const tesela_report_array **row = report_rows(view, (tesela_report_source)source, &n);
    j->failed = j->failed || !row;
    for (int64_t i = 0; i < n; i++) {
      put_array(j, view, row[i]);
      if (j->length > 1 << 16 && !jw_write(j, stdout)) break;
    }
    free(row);
  }
  jw_end(j);
}

static void put_section(json_writer *j, const report_view *view, const tesela_report_section *section) {
  jw_object(j);
  jw_put_str(j, "source", tesela_report_source_name(section->source));
  jw_put_str(j, "name", or_null(section->name));
  jw_put_str(j, "input", input_name(view, section->input));
  jw_put_int(j, "line", section->line);
  jw_put_int(j, "arrays", section->arrays);
  jw_put_int(j, "repeated", section->repeated);
  jw_put_int(j, "stored_bytes", section->stored_bytes);
  jw_put_int(j, "data_bytes", section->data_bytes);
  jw_put_int(j, "least_padding_bytes", section->least_padding_bytes);
  jw_put_int(j, "most_padding_bytes", section->most_padding_bytes);
  if (section->n_arguments >= 0) {
    jw_put_int(j, "entry_arguments", section->n_arguments);
    jw_put_int(j, "entry_argument_bytes", section->argument_bytes);
    jw_put_int(j, "entry_argument_data_bytes", section->argument_data_bytes);
    jw_put_int(j, "entry_results", section->n_results);
    jw_put_int(j, "entry_result_bytes", section->result_bytes);
    jw_put_int(j, "entry_result_data_bytes", section->result_data_bytes);
  }
  jw_key(j, "compiler");
  jw_object(j);
  for (int f = 0; f < TESELA_REPORT_N_FIGURES; f++)
    if (section->figure[f].text[0])
      jw_put_str(j, tesela_report_figure_name((tesela_report_figure)f), section->figure[f].text);
  jw_end(j);
  jw_end(j);
}

static void put_sections_notes_inputs(json_writer *j, const report_view *view) {
  const tesela_report *report = view->report;
  jw_key(j, "sections");
  jw_list(j);
  for (int64_t i = 0; i < tesela_report_n_sections(report); i++) {
    put_section(j, view, tesela_report_section_at(report, i));
    if (j->length > 1 << 16 && !jw_write(j, stdout)) break;
  }
  jw_end(j);
  jw_key(j, "notes");
  jw_list(j);
  for (int64_t i = 0; i < tesela_report_n_notes(report); i++) {
    const tesela_report_note *note = tesela_report_note_at(report, i);
    jw_object(j);
    jw_put_str(j, "code", note->code);
    jw_put_bool(j, "loud", note->loud);
    jw_put_int(j, "count", note->count);
    jw_put_str(j, "input", input_name(view, note->input));
    jw_put_int(j, "line", note->line);
    jw_put_str(j, "text", note->text);
    jw_end(j);
  }
  jw_end(j);
  jw_key(j, "inputs");
  jw_list(j);
  for (int64_t i = 0; i < tesela_report_n_inputs(report); i++) {
    const tesela_report_input *input = tesela_report_input_at(report, i);
    jw_object(j);
    jw_put_str(j, "name", input->name);
    jw_put_int(j, "bytes", input->bytes);
    jw_put_int(j, "lines", input->lines);
    jw_put_int(j, "sections", input->sections);
    jw_put_int(j, "arrays", input->arrays);
    jw_end(j);
  }
  jw_end(j);
}

static void put_skipped(json_writer *j, const report_skipped *skipped) {
  jw_key(j, "skipped");
  jw_list(j);
  for (int64_t i = 0; skipped && i < skipped->n && i < REPORT_SKIPPED; i++) {
    jw_object(j);
    jw_put_str(j, "name", skipped->file[i].name);
    jw_put_str(j, "why", skipped->file[i].why);
    jw_end(j);
  }
  jw_end(j);
}

bool report_print_json(const report_view *view) {
  json_writer j = {0};
  jw_object(&j);
  put_all_totals(&j, view);
  put_arrays(&j, view);
  jw_put_int(&j, "rows_left_out", report_rows_left(view));
  put_sections_notes_inputs(&j, view);
  put_skipped(&j, view->skipped);
  jw_end(&j);
  bool done = jw_line(&j, stdout);
  jw_free(&j);
  return done;
}

/* ---- TSV ----------------------------------------------------------------------------------------------- */

static void put_tsv_known(bool known, int64_t bytes) {
  putchar('\t');
  if (known) printf("%" PRId64, bytes);
}

/* The shapes that a row can be: "f32[8,3]{1,0:T(8,128)} | s32[24]". */
static void put_tsv_candidates(const tesela_report_array *array) {
  putchar('\t');
  for (int32_t i = 0; i < array->n_candidates; i++) {
    const tesela_report_candidate *candidate = &array->candidate[i];
    if (i > 0) fputs(" | ", stdout);
    report_put_cell(candidate->fitted[0] ? candidate->fitted : candidate->shape);
  }
}

static void put_tsv_row(const report_view *view, const tesela_report_array *array) {
  printf("%s\t%s\t", tesela_report_source_name(array->source), tesela_report_role_name(array->role));
  report_put_cell(array->shape);
  int64_t stored = times(array->stored_bytes, array->count), data = times(array->data_bytes, array->count);
  printf("\t%" PRId64 "\t%" PRId64, array->count, stored);
  put_tsv_known(array->data_known, data);
  put_tsv_known(array->least_padding_bytes == array->most_padding_bytes,
                times(array->least_padding_bytes, array->count));
  printf("\t%" PRId32, array->memory_space);
  const char *const cells[] = {array->name,
                               array->opcode,
                               array->op_name,
                               array->op_type,
                               array->location,
                               array->allocation,
                               input_name(view, array->input)};
  for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
    putchar('\t');
    report_put_cell(cells[i]);
  }
  printf("\t%" PRId64, array->line);
  put_tsv_candidates(array);
  putchar('\n');
}

bool report_print_tsv(const report_view *view) {
  const tesela_report_array **row[TESELA_REPORT_N_SOURCES];
  int64_t n[TESELA_REPORT_N_SOURCES] = {0};
  bool done = true;
  for (int source = 0; source < TESELA_REPORT_N_SOURCES; source++)
    done = (row[source] = report_rows(view, (tesela_report_source)source, &n[source])) && done;
  if (done)
    puts(
        "source\trole\tshape\tcount\tstored_bytes\tdata_bytes\tpadding_bytes\tmemory_space\tname\topcode\top_"
        "name\t"
        "op_type\tlocation\tallocation\tinput\tline\tcandidates");
  for (int source = 0; source < TESELA_REPORT_N_SOURCES; source++) {
    for (int64_t i = 0; done && i < n[source] && !ferror(stdout); i++) put_tsv_row(view, row[source][i]);
    free(row[source]);
  }
  return done;
}
