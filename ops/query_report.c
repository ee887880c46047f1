/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_report.c - operations about what a compiler printed: memory reports and HLO text, given as text or in files.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report_ask.h"
#include "request.h"
#include "system.h"

enum { BLOCK = 256 * 1024 };

/* ---- inputs ----------------------------------------------------------------------------------------------- */

static tesela_status begin_input(tesela_request *q, tesela_report *report, const char *name,
                                 const char *bytes, size_t n) {
  const char *instead, *foreign = n > 0 ? tesela_report_foreign(bytes, n, &instead) : NULL;
  if (foreign)
    return tesela_request_fail(q, TESELA_E_UNSUPPORTED, -1, "%.120s is %s; %s", name[0] ? name : "the text",
                               foreign, instead);
  return tesela_report_begin_input(report, name, q->err);
}

static tesela_status feed_text(tesela_request *q, tesela_report *report, const char *name,
                               const tesela_value *text) {
  tesela_status status = begin_input(q, report, name, text->as.text, text->n);
  for (size_t at = 0; status == TESELA_OK && at < text->n; at += BLOCK) {
    size_t n = text->n - at < BLOCK ? text->n - at : BLOCK;
    status = request_check_stop(q);
    if (status == TESELA_OK) status = tesela_report_feed(report, text->as.text + at, n, q->err);
  }
  return status;
}

static tesela_status feed_descriptor(tesela_request *q, tesela_report *report, const char *name, int fd,
                                     char *block) {
  tesela_status status = TESELA_OK;
  int64_t n = 1;
  for (bool begun = false; status == TESELA_OK && n > 0; begun = true) {
    n = system_read(fd, block, BLOCK);
    if (n < 0) return tesela_request_fail(q, TESELA_E_IO, -1, "%.120s: %s", name, strerror(errno));
    status = request_check_stop(q);
    if (status == TESELA_OK && !begun) status = begin_input(q, report, name, block, (size_t)n);
    if (status == TESELA_OK && n > 0) status = tesela_report_feed(report, block, (size_t)n, q->err);
  }
  return status;
}

static tesela_status feed_files(tesela_request *q, tesela_report *report, const tesela_value *files) {
  tesela_status status = TESELA_OK;
  char *block = malloc(BLOCK);
  if (!block) return tesela_request_fail(q, TESELA_E_MEMORY, -1, "no memory");
  for (size_t i = 0; status == TESELA_OK && i < tesela_value_size(files); i++) {
    const tesela_value *path = tesela_value_at(files, i);
    int fd;
    if (!tesela_value_is(path, TESELA_VALUE_TEXT)) {
      status = tesela_request_fail(q, TESELA_E_INVALID, -1, "files[%zu]: expected a string", i);
      break;
    }
    status = request_open(q, path, &fd);
    if (status != TESELA_OK) break;
    status = feed_descriptor(q, report, path->as.text, fd, block);
    system_close(fd);
  }
  free(block);
  return status;
}

static tesela_status feed_texts(tesela_request *q, tesela_report *report, const tesela_value *texts) {
  tesela_status status = TESELA_OK;
  for (size_t i = 0; status == TESELA_OK && i < tesela_value_size(texts); i++) {
    const tesela_value *item = tesela_value_at(texts, i), *text = tesela_value_get(item, "text");
    const char *name = tesela_value_text(tesela_value_get(item, "name"));
    if (!tesela_value_is(text, TESELA_VALUE_TEXT))
      return tesela_request_fail(q, TESELA_E_INVALID, -1, "texts[%zu]: missing field text (string)", i);
    status = feed_text(q, report, name ? name : "", text);
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
static tesela_status read_report(tesela_request *q, const tesela_value *from, tesela_report **report) {
  const tesela_value *text = tesela_value_get(from, "text"), *texts = tesela_value_get(from, "texts"),
                     *files = tesela_value_get(from, "files");
  *report = NULL;
  if (!text && !texts && !files)
    return tesela_request_fail(q, TESELA_E_INVALID, -1, "missing field text, texts or files");
  if ((text && !tesela_value_is(text, TESELA_VALUE_TEXT)) ||
      (texts && !tesela_value_is(texts, TESELA_VALUE_LIST)) ||
      (files && !tesela_value_is(files, TESELA_VALUE_LIST)))
    return tesela_request_fail(q, TESELA_E_INVALID, -1,
                               "expected text: a string, texts: a list of objects, files: a list of strings");
  tesela_status status = tesela_report_create(report, NULL, NULL, q->err);
  if (status == TESELA_OK && text) status = feed_text(q, *report, "", text);
  if (status == TESELA_OK && texts) status = feed_texts(q, *report, texts);
  if (status == TESELA_OK && files) status = feed_files(q, *report, files);
  if (status == TESELA_OK) status = tesela_report_finish(*report, q->err);
  if (status == TESELA_OK && tesela_report_n_sections(*report) == 0) status = nothing_found(q, *report);
  return status;
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
  if (status == TESELA_OK) q->field = NULL;
  return status;
}

tesela_status op_report(tesela_request *q) {
  report_ask ask = {.report = NULL};
  tesela_report *report = NULL;
  tesela_status status = read_rows(q, &ask);
  if (status == TESELA_OK) status = read_limits(q, &ask);
  if (status == TESELA_OK) status = read_report(q, q->value, &report);
  ask.report = report;
  if (status == TESELA_OK && report_put_answer(q->out, &ask) != TESELA_OK)
    status = tesela_request_fail(q, TESELA_E_MEMORY, -1, "no memory");
  tesela_report_destroy(report);
  return status;
}

tesela_status op_diff(tesela_request *q) {
  changes_ask ask = {.n = 0};
  tesela_report *before = NULL, *after = NULL;
  tesela_report_diff *diff = NULL;
  tesela_status status = read_rows(q, &ask.before);
  ask.after = ask.before;
  if (status == TESELA_OK) status = read_report(q, tesela_request_get(q, "before"), &before);
  if (status == TESELA_OK) status = read_report(q, tesela_request_get(q, "after"), &after);
  ask.before.report = before;
  ask.after.report = after;
  tesela_report_filter filter = {TESELA_REPORT_ANY, TESELA_REPORT_ANY, ask.before.space};
  if (status == TESELA_OK) status = tesela_report_diff_create(&diff, before, after, &filter, NULL, q->err);
  if (status == TESELA_OK) {
    ask.diff = diff;
    ask.n = tesela_report_diff_count(diff);
    if (ask.n > ask.before.top) ask.n = ask.before.top;
    report_put_changes(q->out, &ask);
  }
  tesela_report_diff_destroy(diff);
  tesela_report_destroy(before);
  tesela_report_destroy(after);
  return status;
}
