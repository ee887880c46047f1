/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_report.c - reports of texts, for the unit tests of tesela_report.
 */
#include "support_report.h"

const char mixed_text[] =
    "starting up\n"
    "2026-11-21 10:00:00.123: E net.cc:76] Ran out of memory in memory space hbm. Used 19.46G of 15.48G hbm. "
    "Exceeded hbm capacity by 3.98G.\n"
    "E net.cc:76] Total hbm usage >= 19.98G:\n"
    "E net.cc:76]     reserved        530.00M \n"
    "E net.cc:76]     program          19.46G \n"
    "E net.cc:76]   Largest program allocations in hbm:\n"
    "E net.cc:76] \n"
    "E net.cc:76]   1. Size: 32.00G\n"
    "E net.cc:76]      Operator: op_type=\"Cast\" op_name=\"net/cells\" source_file=\"net.py\" "
    "source_line=27\n"
    "E net.cc:76]      Shape: s32[8388608,8,4]{2,1,0:T(8,128)}\n"
    "E net.cc:76]      Unpadded size: 1.00G\n"
    "E net.cc:76]      Extra memory due to padding: 31.00G (32.0x expansion)\n"
    "E net.cc:76]      XLA label: %convert.5 = s32[8388608,8,4]{2,1,0:T(8,128)} convert(s32[8]{0} %x)...\n"
    "E net.cc:76]      Allocation type: HLO temp\n"
    "E net.cc:76]      ==========================\n"
    "HloModule jit_step, entry_computation_layout={(f32[100,3]{1,0:T(8,128)}, "
    "/*index=1*/f32[])->(f32[100,3]{0,1})}\n"
    "\n"
    "%fused_computation.1 (param: f32[100,3]) -> f32[100,3] {\n"
    "  ROOT %add.9 = f32[100,3]{1,0:T(8,128)} add(%param, %param)\n"
    "}\n"
    "%body.2 (arg: (f32[100,3])) -> (f32[100,3]) {\n"
    "  %arg = (f32[100,3]{1,0:T(8,128)}) parameter(0)\n"
    "  %gte = f32[100,3]{1,0:T(8,128)} get-tuple-element(%arg), index=0\n"
    "  %fusion.1 = f32[100,3]{1,0:T(8,128)} fusion(%gte), kind=kLoop, calls=%fused_computation.1, "
    "metadata={op_name=\"step/add\"}\n"
    "  ROOT %tuple = (f32[100,3]{1,0:T(8,128)}) tuple(%fusion.1)\n"
    "}\n"
    "%cond.2 (arg: (f32[100,3])) -> pred[] {\n"
    "  ROOT %true = pred[]{:T(512)} constant(true)\n"
    "}\n"
    "%reducer (a: f32[], b: f32[]) -> f32[] {\n"
    "  ROOT %max = f32[]{:T(128)} maximum(%a, %b)\n"
    "}\n"
    "ENTRY %main (x: f32[100,3]) -> f32[100,3] {\n"
    "  %x = f32[100,3]{1,0:T(8,128)} parameter(0), metadata={op_name=\"x\"}\n"
    "  %start = (f32[100,3]{0,1:T(4,128)}, f32[100,3]{1,0:T(8,128)}, u32[]{:S(2)}) copy-start(%x)\n"
    "  %done = f32[100,3]{0,1:T(4,128)} copy-done(%start)\n"
    "  %while = (f32[100,3]{1,0:T(8,128)}) while(%t), condition=%cond.2, body=%body.2\n"
    "  ROOT %r = f32[100]{0:T(128)} reduce(%done), to_apply=%reducer, replica_groups=[2,2]<=[2,2]T(1,0)\n"
    "}\n"
    "step 3 loss: 2.5\n";

tesela_report *report_of(const char *text, size_t length, size_t chunk,
                         const tesela_report_options *options) {
  tesela_report *report = NULL;
  OK(tesela_report_create(&report, options, NULL, &e_));
  for (size_t at = 0; at < length; at += chunk ? chunk : length) {
    size_t n = chunk && chunk < length - at ? chunk : length - at;
    char *copy = malloc(n); /* of exact size, so that tools detect a read after it */
    assert_non_null(copy);
    memcpy(copy, text + at, n);
    OK(tesela_report_feed(report, copy, n, &e_));
    free(copy);
  }
  OK(tesela_report_finish(report, &e_));
  return report;
}

tesela_report *report_text(const char *text) { return report_of(text, strlen(text), 0, NULL); }

const tesela_report_array *first_row(const tesela_report *report) {
  const tesela_report_array *row = NULL;
  int64_t n = 0;
  tesela_report_top(report, NULL, TESELA_REPORT_BY_WASTE, 1, &row, &n);
  if (n != 1) fail_msg("the report has no row");
  return row;
}

const tesela_report_note *note_of(const tesela_report *report, tesela_report_note_kind kind) {
  for (int64_t i = 0; i < tesela_report_n_notes(report); i++)
    if (tesela_report_note_at(report, i)->kind == kind) return tesela_report_note_at(report, i);
  return NULL;
}

/* ---- all answers as text ------------------------------------------------------------------------------- */

typedef struct dump {
  char *text;
  size_t length, capacity;
} dump;

static void put(dump *d, const char *format, ...) TESELA_PRINTF(2, 3);

static void put(dump *d, const char *format, ...) {
  for (;;) {
    char nothing[1]; /* for a text without room */
    va_list args;
    va_start(args, format);
    int n = vsnprintf(d->text ? d->text + d->length : nothing, d->capacity - d->length, format, args);
    va_end(args);
    assert_true(n >= 0);
    if ((size_t)n < d->capacity - d->length) {
      d->length += (size_t)n;
      return;
    }
    d->capacity = d->capacity * 2 + (size_t)n + 1024;
    d->text = realloc(d->text, d->capacity);
    assert_non_null(d->text);
  }
}

static void put_rows(dump *d, const tesela_report *report) {
  int64_t rows = tesela_report_total(report, NULL).rows, n = 0;
  const tesela_report_array **row = calloc((size_t)rows + 1, sizeof *row);
  assert_non_null(row);
  tesela_report_top(report, NULL, TESELA_REPORT_BY_WASTE, rows, row, &n);
  AGREE("rows", n, rows);
  for (int64_t i = 0; i < n; i++) {
    const tesela_report_array *a = row[i];
    put(d, "row %s|%s|%s|%s|%s|%s|%s|%s|%s|%s ", tesela_report_source_name(a->source),
        tesela_report_role_name(a->role), a->shape, a->fitted, a->name, a->opcode, a->op_name, a->op_type,
        a->location, a->allocation);
    put(d, "%" PRId64 "x%" PRId64 "/%" PRId64 " sized %d space %d differs %u ", a->count, a->stored_bytes,
        a->data_bytes, a->sized, a->memory_space, a->disagree);
    put(d, "%s|%s|%s|%s section %d line %d:%" PRId64 "\n", a->size.text, a->unpadded.text, a->extra.text,
        a->expansion.text, a->section, a->input, a->line);
    put(d, "  padding %" PRId64 " to %" PRId64 " layouts %d %d%d%d%d listed %s\n", a->least_padding_bytes,
        a->most_padding_bytes, a->layouts, a->explained, a->decided, a->incomplete, a->granule, a->listed);
    for (int32_t c = 0; c < a->n_candidates; c++)
      put(d, "  or %s %s %" PRId64 "/%" PRId64 " padding %" PRId64 " layouts %d\n", a->candidate[c].shape,
          a->candidate[c].fitted, a->candidate[c].stored_bytes, a->candidate[c].data_bytes,
          a->candidate[c].padding_bytes, a->candidate[c].layouts);
  }
  free(row);
}

static void put_sections(dump *d, const tesela_report *report) {
  for (int64_t i = 0; i < tesela_report_n_sections(report); i++) {
    const tesela_report_section *s = tesela_report_section_at(report, i);
    put(d, "section %d %s %d:%" PRId64 " %" PRId64 " arrays %" PRId64 "/%" PRId64 " repeated %" PRId64,
        s->source, s->name, s->input, s->line, s->arrays, s->stored_bytes, s->data_bytes, s->repeated);
    put(d, " padding %" PRId64 " to %" PRId64, s->least_padding_bytes, s->most_padding_bytes);
    put(d, " arguments %" PRId64 ":%" PRId64 "/%" PRId64 " results %" PRId64 ":%" PRId64 "/%" PRId64,
        s->n_arguments, s->argument_bytes, s->argument_data_bytes, s->n_results, s->result_bytes,
        s->result_data_bytes);
    for (int f = 0; f < TESELA_REPORT_N_FIGURES; f++)
      if (s->figure[f].text[0])
        put(d, " %s=%s(%" PRId64 ")", tesela_report_figure_name((tesela_report_figure)f), s->figure[f].text,
            s->figure[f].bytes);
    put(d, "\n");
  }
}

char *report_dump(const tesela_report *report) {
  dump d = {NULL, 0, 0};
  tesela_report_totals totals = tesela_report_total(report, NULL);
  put(&d, "total %" PRId64 " %" PRId64 "/%" PRId64 " padding %" PRId64 " to %" PRId64 "\n", totals.arrays,
      totals.stored_bytes, totals.data_bytes, totals.padding_bytes, totals.most_padding_bytes);
  put_rows(&d, report);
  put_sections(&d, report);
  for (int64_t i = 0; i < tesela_report_n_notes(report); i++) {
    const tesela_report_note *note = tesela_report_note_at(report, i);
    put(&d, "note %s x%" PRId64 " %" PRId64 " %s\n", note->code, note->count, note->line, note->text);
  }
  for (int64_t i = 0; i < tesela_report_n_inputs(report); i++) {
    const tesela_report_input *input = tesela_report_input_at(report, i);
    put(&d, "input %s %" PRId64 " bytes %" PRId64 " lines %" PRId64 " sections %" PRId64 " arrays\n",
        input->name, input->bytes, input->lines, input->sections, input->arrays);
  }
  return d.text;
}
