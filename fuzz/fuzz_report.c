/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_report.c - any bytes as the input of a report. First byte: the size of the chunks and of the limits.
 *
 * Cuts change nothing; sections and totals agree; a report does not differ from itself; reasons and advice of
 * every row hold.
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
  const tesela_report_options *options = data[0] & 32 ? &small : NULL;
  tesela_report *whole = read_text(text, length, length + 1, options);
  tesela_report *parts = read_text(text, length, chunk, options);
  const tesela_report_array *row[ROWS];
  int64_t n = 0;
  check_same(whole, parts);
  check_sums(whole);
  tesela_report_top(whole, NULL, (tesela_report_order)(data[0] >> 6 & 1), ROWS, row, &n);
  for (int64_t i = 0; i < n; i++) check_row(row[i]);
  tesela_report_destroy(whole);
  tesela_report_destroy(parts);
  return 0;
}
