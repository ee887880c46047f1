/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_report.c - any bytes as the input of a report. First byte: the size of the chunks and of the limits.
 *
 * Cuts change nothing; sections and totals agree; a report does not differ from itself; reasons and advice of
 * every row hold; a known peak is the most bytes of its timeline, and the sum of what is alive then.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tesela/tesela.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROWS = 64 };

static void require(bool condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "fuzz_report: %s\n", what);
  abort();
}

static tesela_report *read_text(const char *text, size_t length, size_t chunk,
                                const tesela_report_options *options) {
  tesela_report *report = NULL;
  require(tesela_report_create(&report, options, NULL, NULL) == TESELA_OK, "no report");
  for (size_t at = 0; at < length; at += chunk) {
    size_t n = chunk < length - at ? chunk : length - at;
    require(tesela_report_feed(report, text + at, n, NULL) == TESELA_OK, "feed failed");
  }
  require(tesela_report_finish(report, NULL) == TESELA_OK, "finish failed");
  return report;
}

static int write_nothing(void *user, const char *text, size_t length) {
  (void)text;
  *(size_t *)user += length;
  return 0;
}

static void check_row(const tesela_report_array *row) {
  const char *text = row->fitted[0] ? row->fitted : row->shape;
  size_t written = 0;
  tesela_writer to = {write_nothing, &written};
  tesela_xla_shape shape;
  tesela_report_advice advice[TESELA_REPORT_MAX_ADVICE];
  int32_t n = 0;
  require(row->count >= 1 && row->stored_bytes >= row->data_bytes && row->data_bytes >= 0, "a row's numbers");
  if (!row->sized) return;
  require(tesela_xla_parse(text, strlen(text), TESELA_XLA_STRICT, &shape, NULL, NULL) == TESELA_OK,
          "a row's shape");
  tesela_report_reasons(&shape, &to, NULL);
  if (tesela_report_advise(&shape, advice, &n, NULL) != TESELA_OK) return;
  for (int32_t i = 0; i < n; i++) {
    require(advice[i].saved > 0 && advice[i].bytes + advice[i].saved == row->stored_bytes,
            "advice does not add up");
    require(tesela_report_advice_words(&shape, &advice[i], &to, NULL) == TESELA_OK, "advice without words");
  }
}

static void check_sums(const tesela_report *report) {
  tesela_report_totals totals = tesela_report_total(report, NULL);
  int64_t arrays = 0;
  for (int64_t i = 0; i < tesela_report_n_sections(report); i++) {
    const tesela_report_section *section = tesela_report_section_at(report, i);
    arrays += section->arrays - section->repeated;
  }
  require(arrays == totals.arrays, "sections and totals differ");
  require(totals.stored_bytes >= totals.data_bytes && totals.data_bytes >= 0, "the totals");
}

static void check_lives(const tesela_report *report, const tesela_report_peak *peak) {
  int64_t n = tesela_report_n_buffers(report), most = 0, sum = 0;
  int64_t *bytes = calloc((size_t)peak->instants + 1, sizeof *bytes),
          *alive = calloc((size_t)n + 1, sizeof *alive);
  require(bytes && alive, "no memory");
  require(tesela_report_timeline(report, peak->space, peak->instants, bytes, NULL) == TESELA_OK,
          "no timeline");
  for (int64_t t = 0; t < peak->instants; t++) most = bytes[t] > most ? bytes[t] : most;
  require(most == peak->least_bytes && bytes[peak->at] == most, "the peak of the timeline");
  require(tesela_report_alive(report, peak->space, n, alive, &n, NULL) == TESELA_OK, "nothing is alive");
  for (int64_t i = 0; i < n; i++) {
    tesela_report_buffer buffer;
    int64_t span[2], spans;
    require(tesela_report_buffer_at(report, alive[i], &buffer, NULL) == TESELA_OK, "no buffer");
    require(tesela_report_buffer_spans(report, alive[i], 1, span, &spans, NULL) == TESELA_OK, "no spans");
    require(spans == buffer.spans && span[0] == buffer.from && span[1] <= buffer.to, "the spans of a buffer");
    sum += buffer.bytes;
  }
  require(sum == most, "what is alive at the peak");
  free(bytes);
  free(alive);
}

static void check_peaks(const tesela_report *report, const tesela_report *same) {
  require(tesela_report_n_peaks(report) == tesela_report_n_peaks(same), "cuts change peaks");
  for (int64_t i = 0; i < tesela_report_n_peaks(report); i++) {
    const tesela_report_peak *peak = tesela_report_peak_at(report, i),
                             *other = tesela_report_peak_at(same, i);
    require(peak->least_bytes == other->least_bytes && peak->at == other->at, "cuts change a peak");
    require(peak->least_bytes == peak->argument_bytes + peak->output_bytes + peak->temporary_bytes,
            "parts of a peak");
    if (peak->lives) check_lives(report, peak);
  }
}

static void check_same(const tesela_report *a, const tesela_report *b) {
  tesela_report_totals x = tesela_report_total(a, NULL), y = tesela_report_total(b, NULL);
  tesela_report_diff *diff = NULL;
  require(x.arrays == y.arrays && x.rows == y.rows && x.stored_bytes == y.stored_bytes, "cuts change totals");
  require(tesela_report_n_notes(a) == tesela_report_n_notes(b), "cuts change notes");
  require(tesela_report_n_sections(a) == tesela_report_n_sections(b), "cuts change sections");
  require(tesela_report_diff_create(&diff, a, b, NULL, NULL, NULL) == TESELA_OK, "no diff");
  require(tesela_report_diff_count(diff) == 0, "a report differs from itself");
  tesela_report_diff_destroy(diff);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  const char *text = (const char *)data + 1;
  size_t length = size - 1, chunk = data[0] % 32u + 1;
  tesela_report_options small = {.line_bytes = 200, .shapes = 3, .entries = 2, .waiting = 4};
  const tesela_report_options with_peak = {.peak = 1};
  const tesela_report_options *options = data[0] & 32 ? &small : &with_peak;
  tesela_report *whole = read_text(text, length, length + 1, options);
  tesela_report *parts = read_text(text, length, chunk, options);
  const tesela_report_array *row[ROWS];
  int64_t n = 0;
  check_same(whole, parts);
  check_sums(whole);
  check_peaks(whole, parts);
  tesela_report_top(whole, NULL, (tesela_report_order)(data[0] >> 6 & 1), ROWS, row, &n);
  for (int64_t i = 0; i < n; i++) check_row(row[i]);
  tesela_report_destroy(whole);
  tesela_report_destroy(parts);
  return 0;
}
