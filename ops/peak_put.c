/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peak_put.c - the peaks of a report as members of an answer: bytes, instant, what lives then; the lives of all buffers.
 */
#include <stdio.h>
#include <stdlib.h>

#include "report_ask.h"

static void put_instant(tesela_sink *j, const char *name, const char *instruction, int64_t instant,
                        int64_t line) {
  tesela_put_key(j, name);
  if (instant < 0) {
    tesela_put_null(j);
    return;
  }
  tesela_put_object(j);
  tesela_put_key_int(j, "instant", instant);
  tesela_put_key_text(j, "instruction", instruction);
  tesela_put_key_int(j, "line", line);
  tesela_put_end(j);
}

/* The members of a buffer. */
static void put_buffer(tesela_sink *j, const tesela_report_buffer *buffer) {
  char name[600];
  snprintf(name, sizeof name, "%.500s%s", buffer->instruction, buffer->member);
  tesela_put_key_text(j, "name", name);
  tesela_put_key(j, "shape");
  tesela_put_text_n(j, buffer->shape, (size_t)buffer->shape_bytes);
  tesela_put_key_int(j, "bytes", buffer->bytes);
  tesela_put_key_text(j, "role", report_buffer_role(buffer->role));
  tesela_put_key_int(j, "from", buffer->from);
  tesela_put_key_int(j, "to", buffer->to);
  tesela_put_key_int(j, "line", buffer->line);
  tesela_put_key_text(j, "op_name", buffer->op_name[0] ? buffer->op_name : NULL);
  tesela_put_key_text(j, "location", buffer->location[0] ? buffer->location : NULL);
}

static tesela_status put_live(tesela_sink *j, const report_ask *ask, const tesela_report_peak *peak) {
  int64_t n_buffers = tesela_report_n_buffers(ask->report), n = 0;
  int64_t capacity = !peak->lives ? 0 : ask->top < n_buffers ? ask->top : n_buffers;
  int64_t *list = malloc((size_t)capacity * sizeof *list + 1);
  if (!list) return TESELA_E_MEMORY;
  tesela_put_key_list(j, "live");
  if (capacity > 0) tesela_report_alive(ask->report, peak->space, capacity, list, &n, NULL);
  for (int64_t i = 0; i < n && !j->stopped; i++) {
    tesela_report_buffer buffer;
    tesela_report_buffer_at(ask->report, list[i], &buffer, NULL);
    tesela_put_object(j);
    put_buffer(j, &buffer);
    tesela_put_end(j);
  }
  tesela_put_end(j);
  free(list);
  return TESELA_OK;
}

static tesela_status put_peak(tesela_sink *j, const report_ask *ask, tesela_report_source source,
                              const tesela_report_peak *peak) {
  bool known = peak->least_bytes == peak->most_bytes, scheduled = peak->at >= 0;
  tesela_put_object(j);
  tesela_put_key_text(j, "source", tesela_report_source_name(source));
  tesela_put_key_int(j, "space", peak->space);
  report_put_known(j, "bytes", known, peak->least_bytes);
  tesela_put_key_int(j, "least_bytes", peak->least_bytes);
  report_put_known(j, "most_bytes", peak->most_bytes < INT64_MAX, peak->most_bytes);
  report_put_known(j, "argument_bytes", scheduled, peak->argument_bytes);
  report_put_known(j, "output_bytes", scheduled, peak->output_bytes);
  report_put_known(j, "temporary_bytes", scheduled, peak->temporary_bytes);
  report_put_known(j, "section", peak->section >= 0, peak->section);
  report_put_known(j, "instants", scheduled, peak->instants);
  put_instant(j, "at", peak->instruction, peak->at, peak->line);
  tesela_status status = put_live(j, ask, peak);
  tesela_put_end(j);
  return status;
}

/* ---- lives and timeline ----------------------------------------------------------------------------------- */

static void put_spans(tesela_sink *j, const report_ask *ask, int64_t i, int64_t n) {
  int64_t few[2 * 16], *span = n > 16 ? malloc((size_t)n * 2 * sizeof *span) : few, all = 0;
  tesela_put_key_list(j, "spans");
  if (!span) {
    j->stopped = true;
  } else {
    tesela_report_buffer_spans(ask->report, i, n, span, &all, NULL);
    for (int64_t k = 0; k < n; k++) {
      tesela_put_list(j);
      tesela_put_int(j, span[2 * k]);
      tesela_put_int(j, span[2 * k + 1]);
      tesela_put_end(j);
    }
  }
  tesela_put_end(j);
  if (span != few) free(span);
}

static void put_buffers(tesela_sink *j, const report_ask *ask) {
  tesela_put_key_list(j, "buffers");
  for (int64_t i = 0; i < tesela_report_n_buffers(ask->report) && !j->stopped; i++) {
    tesela_report_buffer buffer;
    tesela_report_buffer_at(ask->report, i, &buffer, NULL);
    tesela_put_object(j);
    put_buffer(j, &buffer);
    tesela_put_key_int(j, "space", buffer.space);
    report_put_known(j, "inside", buffer.inside >= 0, buffer.inside);
    put_spans(j, ask, i, buffer.spans);
    tesela_put_end(j);
  }
  tesela_put_end(j);
}

/* The bytes of a space where they change: [instant, bytes]. */
static tesela_status put_timeline(tesela_sink *j, const report_ask *ask, const tesela_report_peak *peak) {
  int64_t *bytes = malloc((size_t)peak->instants * sizeof *bytes + 1);
  if (!bytes) return TESELA_E_MEMORY;
  tesela_put_object(j);
  tesela_put_key_int(j, "space", peak->space);
  tesela_put_key_int(j, "instants", peak->instants);
  tesela_put_key_list(j, "bytes");
  if (tesela_report_timeline(ask->report, peak->space, peak->instants, bytes, NULL) != TESELA_OK)
    j->stopped = true;
  for (int64_t t = 0; t < peak->instants && !j->stopped; t++) {
    if (t > 0 && bytes[t] == bytes[t - 1]) continue;
    tesela_put_list(j);
    tesela_put_int(j, t);
    tesela_put_int(j, bytes[t]);
    tesela_put_end(j);
  }
  tesela_put_end(j);
  tesela_put_end(j);
  free(bytes);
  return TESELA_OK;
}

static tesela_status put_lives(tesela_sink *j, const report_ask *ask) {
  tesela_status status = TESELA_OK;
  put_buffers(j, ask);
  tesela_put_key_list(j, "timeline");
  for (int64_t i = 0; i < tesela_report_n_peaks(ask->report) && status == TESELA_OK; i++) {
    const tesela_report_peak *peak = tesela_report_peak_at(ask->report, i);
    if (peak->lives) status = put_timeline(j, ask, peak);
  }
  tesela_put_end(j);
  return status;
}

tesela_status report_put_peak(tesela_sink *j, const report_ask *ask) {
  tesela_status status = TESELA_OK;
  tesela_put_key_list(j, "peak");
  for (int source = TESELA_REPORT_N_SOURCES - 1; source >= 0; source--)
    for (int32_t i = 0; i <= 256 && status == TESELA_OK; i++) {
      tesela_report_peak peak;
      int32_t space = i == 0 ? 0 : i - 129; /* the main memory first */
      if ((i > 0 && space == 0) || (ask->space != TESELA_REPORT_ANY && ask->space != space)) continue;
      if (report_peak(ask, (tesela_report_source)source, space, &peak))
        status = put_peak(j, ask, (tesela_report_source)source, &peak);
    }
  tesela_put_end(j);
  return status == TESELA_OK && ask->timeline ? put_lives(j, ask) : status;
}
