/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_data.c - a report as JSON and as TSV. docs/report.md lists the fields, a stable interface.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "main/json.h"
#include "report/report_print.h"

bool report_print_json(const report_view *view) {
  json_stream j = json_stream_begin(stdout);
  tesela_put_object(&j.sink);
  if (report_put_answer(&j.sink, &view->ask) != TESELA_OK) j.sink.stopped = true; /* no memory */
  tesela_put_end(&j.sink);
  return json_stream_end(&j);
}

/* ---- TSV ----------------------------------------------------------------------------------------------- */

static int64_t times(int64_t bytes, int64_t count) {
  return bytes > INT64_MAX / count ? INT64_MAX : bytes * count;
}

static void put_tsv_known(bool known, int64_t bytes) {
  putchar('\t');
  if (known) printf("%" PRId64, bytes);
}

/* The possible shapes of a row: "f32[8,3]{1,0:T(8,128)} | s32[24]". */
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
                               report_input_name(&view->ask, array->input)};
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
    done = (row[source] = report_rows(&view->ask, (tesela_report_source)source, &n[source])) && done;
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
