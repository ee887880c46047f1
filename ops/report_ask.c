/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_ask.c - rows, shares and shapes of a finished report: shared by verbs and operations.
 */
#include "report_ask.h"

#include <stdlib.h>
#include <string.h>

bool report_read_share(const char *text, double *share) {
  char *end;
  *share = strtod(text, &end);
  bool percent = *end == '%';
  if (percent) *share /= 100;
  return end != text && end[percent] == '\0' && *share >= 0 && *share <= 1;
}

tesela_report_filter report_filter(const report_ask *ask, tesela_report_source source) {
  return (tesela_report_filter){.source = (int32_t)source, .role = TESELA_REPORT_ANY, .space = ask->space};
}

const tesela_report_array **report_rows(const report_ask *ask, tesela_report_source source, int64_t *n) {
  tesela_report_filter filter = report_filter(ask, source);
  int64_t rows = tesela_report_total(ask->report, &filter).rows;
  if (rows > ask->top) rows = ask->top;
  const tesela_report_array **top = calloc((size_t)rows + 1, sizeof *top);
  if (top) tesela_report_top(ask->report, &filter, ask->order, rows, top, n);
  return top;
}

int64_t report_n_sections(const report_ask *ask, tesela_report_source source) {
  int64_t n = 0;
  for (int64_t i = 0; i < tesela_report_n_sections(ask->report); i++)
    n += tesela_report_section_at(ask->report, i)->source == source;
  return n;
}

int64_t report_n_rows(const report_ask *ask, int64_t *left) {
  int64_t all = 0;
  *left = 0;
  for (int source = 0; source < TESELA_REPORT_N_SOURCES; source++) {
    tesela_report_filter filter = report_filter(ask, (tesela_report_source)source);
    int64_t rows = tesela_report_total(ask->report, &filter).rows;
    all += rows;
    *left += rows > ask->top ? rows - ask->top : 0;
  }
  return all;
}

double report_share(int64_t padding, int64_t stored) {
  return stored > 0 ? (double)padding / (double)stored : 0;
}

bool report_shape(const tesela_report_array *array, tesela_xla_shape *shape) {
  const char *text = array->fitted[0] ? array->fitted : array->shape;
  return array->sized && array->n_candidates == 0 && array->explained &&
         tesela_xla_parse(text, strlen(text), TESELA_XLA_STRICT, shape, NULL, NULL) == TESELA_OK;
}

const char *report_input_name(const report_ask *ask, int32_t input) {
  const tesela_report_input *from = tesela_report_input_at(ask->report, input);
  return from ? from->name : "";
}
