/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_report.c - operations about what a compiler printed: memory reports and HLO text, given as text or in files.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "decompress.h"
#include "report_ask.h"
#include "request.h"
#include "system.h"

enum { BLOCK = 256 * 1024, RECORD_BYTES = 1 << 30 };

/* What a request reads: arrays, and the records beside them. */
typedef struct report_reading {
  tesela_report *report;
  tesela_records *records;
  bool alone; /* one text: HLO text has no records beside it */
} report_reading;

/* ---- inputs ----------------------------------------------------------------------------------------------- */

static tesela_status begin_check(tesela_request *q, const char *name, const char *bytes, size_t n) {
  const char *instead, *foreign = n > 0 ? tesela_report_foreign(bytes, n, &instead) : NULL;
  if (!foreign) return TESELA_OK;
  return tesela_request_fail(q, TESELA_E_UNSUPPORTED, -1, "%.120s is %s; %s", name[0] ? name : "the text",
                             foreign, instead);
}

static tesela_status begin_input(tesela_request *q, tesela_report *report, const char *name,
                                 const char *bytes, size_t n) {
  tesela_status status = begin_check(q, name, bytes, n);
  return status == TESELA_OK ? tesela_report_begin_input(report, name, q->err) : status;
}

/* How an input is read, by its first bytes. */
typedef struct report_use {
  bool whole;  /* as a record */
  bool arrays; /* by the report */
} report_use;

static tesela_status use_of(tesela_request *q, const report_reading *to, const char *name, const char *bytes,
                            size_t n, report_use *use) {
  tesela_record_kind kind = tesela_records_kind(bytes, n);
  *use = (report_use){kind != TESELA_RECORD_NONE && (kind != TESELA_RECORD_HLO || !to->alone),
                      !report_is_binary(kind)};
  return use->arrays ? begin_input(q, to->report, name, bytes, n) : TESELA_OK;
}

static tesela_status feed_text(tesela_request *q, const report_reading *to, const char *name,
                               const char *text, size_t length) {
  report_use use;
  tesela_status status = use_of(q, to, name, text, length, &use);
  if (status == TESELA_OK && use.whole) status = tesela_records_read(to->records, name, text, length, q->err);
  for (size_t at = 0; status == TESELA_OK && use.arrays && at < length; at += BLOCK) {
    size_t n = length - at < BLOCK ? length - at : BLOCK;
    status = request_check_stop(q);
    if (status == TESELA_OK) status = tesela_report_feed(to->report, text + at, n, q->err);
  }
  return status;
}

static tesela_status read_failed(tesela_request *q, const char *name, const tesela_error *err) {
  if (err->at >= 0)
    return tesela_request_fail(q, err->status, -1, "%.120s: byte %" PRId64 ": %s", name, err->at,
                               err->message);
  return tesela_request_fail(q, err->status, -1, "%.120s: %s", name, err->message);
}

/* Room for another block after n bytes of a record. */
static tesela_status make_room(tesela_request *q, const char *name, char **bytes, size_t n,
                               size_t *capacity) {
  if (n > RECORD_BYTES)
    return tesela_request_fail(q, TESELA_E_LIMIT, -1, "%.120s: a record of more than 1 GiB", name);
  if (*capacity - n >= BLOCK) return TESELA_OK;
  *capacity = *capacity ? *capacity * 2 : 2 * (size_t)BLOCK;
  char *grown = realloc(*bytes, *capacity);
  if (!grown) return tesela_request_fail(q, TESELA_E_MEMORY, -1, "no memory");
  *bytes = grown;
  return TESELA_OK;
}

/* Arrays are read block by block; of a record all is kept: its parts refer to each other. */
static tesela_status feed_blocks(tesela_request *q, const report_reading *to, const char *name,
                                 decompress *from) {
  size_t n = 0, capacity = 0;
  char *bytes = NULL;
  report_use use = {false, false};
  tesela_status status = TESELA_OK;
  for (bool first = true; status == TESELA_OK; first = false) {
    tesela_error err;
    status = make_room(q, name, &bytes, n, &capacity);
    if (status != TESELA_OK) break;
    int64_t more = decompress_read(from, bytes + n, BLOCK, &err);
    if (more < 0) status = read_failed(q, name, &err);
    if (more >= 0 && first) status = use_of(q, to, name, bytes, (size_t)more, &use);
    if (more <= 0) break;
    if (status == TESELA_OK) status = request_check_stop(q);
    if (status == TESELA_OK && use.arrays)
      status = tesela_report_feed(to->report, bytes + n, (size_t)more, q->err);
    if (use.whole) n += (size_t)more;
  }
  if (status == TESELA_OK && use.whole) status = tesela_records_read(to->records, name, bytes, n, q->err);
  free(bytes);
  return status;
}

static tesela_status feed_descriptor(tesela_request *q, const report_reading *to, const char *name, int fd) {
  decompress *from = decompress_create();
  if (!from) return tesela_request_fail(q, TESELA_E_MEMORY, -1, "no memory");
  decompress_begin(from, fd);
  tesela_status status = feed_blocks(q, to, name, from);
  decompress_destroy(from);
  return status;
}

static tesela_status feed_files(tesela_request *q, const report_reading *to, const tesela_value *files) {
  tesela_status status = TESELA_OK;
  for (size_t i = 0; status == TESELA_OK && i < tesela_value_size(files); i++) {
    const tesela_value *path = tesela_value_at(files, i);
    int fd;
    if (!tesela_value_is(path, TESELA_VALUE_TEXT))
      return tesela_request_fail(q, TESELA_E_INVALID, -1, "files[%zu]: expected a string", i);
    status = request_open(q, path, &fd);
    if (status != TESELA_OK) break;
    status = feed_descriptor(q, to, path->as.text, fd);
    system_close(fd);
  }
  return status;
}

static tesela_status feed_texts(tesela_request *q, const report_reading *to, const tesela_value *texts) {
  tesela_status status = TESELA_OK;
  for (size_t i = 0; status == TESELA_OK && i < tesela_value_size(texts); i++) {
    const tesela_value *item = tesela_value_at(texts, i), *text = tesela_value_get(item, "text");
    const char *name = tesela_value_text(tesela_value_get(item, "name"));
    if (!tesela_value_is(text, TESELA_VALUE_TEXT))
      return tesela_request_fail(q, TESELA_E_INVALID, -1, "texts[%zu]: missing field text (string)", i);
    status = feed_text(q, to, name ? name : "", text->as.text, text->n);
  }
  return status;
}

static tesela_status nothing_found(tesela_request *q, const tesela_report *report) {
  int64_t bytes = 0, lines = 0, n = tesela_report_n_inputs(report);
  for (int64_t i = 0; i < n; i++) {
    bytes += tesela_report_input_at(report, i)->bytes;
    lines += tesela_report_input_at(report, i)->lines;
  }
  return tesela_request_fail(q, TESELA_E_INVALID, -1,
                             "nothing recognised in %" PRId64 " input%s (%" PRId64 " bytes, %" PRId64
                             " line%s); expected memory reports or HLO text of XLA",
                             n, n == 1 ? "" : "s", bytes, lines, lines == 1 ? "" : "s");
}

/* A finished report of what the members text, texts and files of an object give; to be destroyed in any case. */
static tesela_status read_report(tesela_request *q, const tesela_value *from, report_reading *to) {
  const tesela_value *text = tesela_value_get(from, "text"), *texts = tesela_value_get(from, "texts"),
                     *files = tesela_value_get(from, "files");
  *to =
      (report_reading){NULL, NULL, (text != NULL) + tesela_value_size(texts) + tesela_value_size(files) == 1};
  if (!text && !texts && !files)
    return tesela_request_fail(q, TESELA_E_INVALID, -1, "missing field text, texts or files");
  if ((text && !tesela_value_is(text, TESELA_VALUE_TEXT)) ||
      (texts && !tesela_value_is(texts, TESELA_VALUE_LIST)) ||
      (files && !tesela_value_is(files, TESELA_VALUE_LIST)))
    return tesela_request_fail(q, TESELA_E_INVALID, -1,
                               "expected text: a string, texts: a list of objects, files: a list of strings");
  tesela_status status = tesela_report_create(&to->report, &(tesela_report_options){.peak = 1}, NULL, q->err);
  if (status == TESELA_OK) status = tesela_records_create(&to->records, NULL, q->err);
  if (status == TESELA_OK && text) status = feed_text(q, to, "", text->as.text, text->n);
  if (status == TESELA_OK && texts) status = feed_texts(q, to, texts);
  if (status == TESELA_OK && files) status = feed_files(q, to, files);
  if (status == TESELA_OK) status = tesela_report_finish(to->report, q->err);
  if (status == TESELA_OK) status = tesela_records_finish(to->records, q->err);
  if (status == TESELA_OK && tesela_report_n_sections(to->report) == 0 && !report_any_records(to->records))
    status = nothing_found(q, to->report);
  return status;
}

static void end_reading(report_reading *reading) {
  tesela_report_destroy(reading->report);
  tesela_records_destroy(reading->records);
}

/* ---- what is asked ---------------------------------------------------------------------------------------- */

static tesela_status read_rows(tesela_request *q, report_ask *ask) {
  const tesela_value *top = tesela_request_get(q, "top");
  ask->top = top ? tesela_value_int(top) : 10;
  if (ask->top < 0)
    return tesela_request_fail(q, TESELA_E_RANGE, -1, "top is %" PRId64 "; expected 0 or more", ask->top);
  if (ask->top == 0) ask->top = INT64_MAX;
  const tesela_value *space = tesela_request_get(q, "space");
  int64_t n = space ? tesela_value_int(space) : TESELA_REPORT_ANY;
  if (space && (n < -128 || n > 127))
    return tesela_request_fail(q, TESELA_E_RANGE, -1, "space is %" PRId64 "; expected -128 to 127", n);
  ask->space = (int32_t)n;
  ask->max_waste = -1;
  ask->max_bytes = -1;
  ask->max_peak = -1;
  q->field = NULL;
  return TESELA_OK;
}

static tesela_status read_limits(tesela_request *q, report_ask *ask) {
  const char *by = tesela_value_text(tesela_request_get(q, "by"));
  ask->order = by && strcmp(by, "size") == 0        ? TESELA_REPORT_BY_SIZE
               : by && strcmp(by, "expansion") == 0 ? TESELA_REPORT_BY_EXPANSION
                                                    : TESELA_REPORT_BY_WASTE;
  const char *waste = tesela_value_text(tesela_request_get(q, "max_waste"));
  if (waste && !report_read_share(waste, &ask->max_waste))
    return tesela_request_fail(q, TESELA_E_INVALID, -1,
                               "expected a share of the stored bytes, from \"0%%\" to \"100%%\"");
  const tesela_value *bytes = tesela_request_get(q, "max_bytes");
  tesela_status status = TESELA_OK;
  if (bytes) status = tesela_units_parse(bytes->as.text, bytes->n, &ask->max_bytes, NULL, q->err);
  const tesela_value *peak = status == TESELA_OK ? tesela_request_get(q, "max_peak") : NULL;
  if (peak) status = tesela_units_parse(peak->as.text, peak->n, &ask->max_peak, NULL, q->err);
  if (status == TESELA_OK) ask->timeline = tesela_value_bool(tesela_request_get(q, "timeline"));
  if (status == TESELA_OK) q->field = NULL;
  return status;
}

tesela_status op_report(tesela_request *q) {
  report_ask ask = {.report = NULL}, baseline;
  report_reading reading = {NULL, NULL, false}, earlier = {NULL, NULL, false};
  tesela_status status = read_rows(q, &ask);
  if (status == TESELA_OK) status = read_limits(q, &ask);
  if (status == TESELA_OK) status = read_report(q, q->value, &reading);
  const tesela_value *from = status == TESELA_OK ? tesela_request_get(q, "baseline") : NULL;
  if (from) status = read_report(q, from, &earlier);
  ask.report = reading.report;
  ask.records = reading.records;
  baseline = ask;
  baseline.report = earlier.report;
  baseline.records = earlier.records;
  if (from) ask.baseline = &baseline;
  if (status == TESELA_OK && report_put_answer(q->out, &ask) != TESELA_OK)
    status = tesela_request_fail(q, TESELA_E_MEMORY, -1, "no memory");
  end_reading(&reading);
  end_reading(&earlier);
  return status;
}

tesela_status op_diff(tesela_request *q) {
  changes_ask ask = {.n = 0};
  report_reading before = {NULL, NULL, false}, after = {NULL, NULL, false};
  tesela_report_diff *diff = NULL;
  tesela_status status = read_rows(q, &ask.before);
  ask.after = ask.before;
  if (status == TESELA_OK) status = read_report(q, tesela_request_get(q, "before"), &before);
  if (status == TESELA_OK) status = read_report(q, tesela_request_get(q, "after"), &after);
  ask.before.report = before.report;
  ask.before.records = before.records;
  ask.after.report = after.report;
  ask.after.records = after.records;
  tesela_report_filter filter = {TESELA_REPORT_ANY, TESELA_REPORT_ANY, ask.before.space};
  if (status == TESELA_OK)
    status = tesela_report_diff_create(&diff, before.report, after.report, &filter, NULL, q->err);
  if (status == TESELA_OK) {
    ask.diff = diff;
    ask.n = tesela_report_diff_count(diff);
    if (ask.n > ask.before.top) ask.n = ask.before.top;
    report_put_changes(q->out, &ask);
  }
  tesela_report_diff_destroy(diff);
  end_reading(&before);
  end_reading(&after);
  return status;
}
