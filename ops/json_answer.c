/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_answer.c - a line of `tesela query` answered with a line: the response around the members of an answer.
 */
#include <stdio.h>

#include "json_in.h"

static void begin(tesela_sink *out, const tesela_value *id, bool ok) {
  tesela_put_object(out);
  tesela_put_key(out, "id");
  if (id)
    tesela_put_value(out, id);
  else
    tesela_put_null(out);
  tesela_put_key_bool(out, "ok", ok);
}

static void refuse(const tesela_value *id, const tesela_error *err, const char *message, const char *field,
                   const char *error_at, const tesela_value *counter_example, tesela_sink *out) {
  begin(out, id, false);
  tesela_put_key_object(out, "error");
  const char *status = tesela_status_code(err->status), *reason = tesela_reason_code(err->reason);
  const bool limit = err->reason >= TESELA_REASON_MAX_BYTES && err->reason <= TESELA_REASON_MAX_ARRAYS;
  tesela_put_key_text(out, "code", *reason && !limit ? reason : status);
  if (*reason) tesela_put_key_text(out, limit ? "limit" : "status", limit ? reason : status);
  tesela_put_key_text(out, "message", message ? message : err->message);
  if (err->at >= 0) tesela_put_key_int(out, "at", err->at);
  if (field) tesela_put_key_text(out, "field", field);
  tesela_put_end(out);
  if (*error_at) tesela_put_key_text(out, "error_at", error_at);
  if (counter_example) {
    tesela_put_key(out, "counter_example");
    tesela_put_value(out, counter_example);
  }
  tesela_put_end(out);
}

void tesela_json_refuse(tesela_status status, const char *message, tesela_json_out *out) {
  tesela_error err = {.status = status, .at = -1};
  if (!out) return;
  snprintf(err.message, sizeof err.message, "%s", message ? message : tesela_status_code(status));
  refuse(NULL, &err, NULL, NULL, "", NULL, &out->sink);
}

/* A line that cannot be read. */
static void refuse_text(const tesela_error *bad, tesela_sink *out) {
  tesela_error err = {.status = bad->status, .at = bad->at};
  if (bad->status == TESELA_E_MEMORY)
    snprintf(err.message, sizeof err.message, "no memory to read the request");
  else
    snprintf(err.message, sizeof err.message, "invalid JSON: %.160s", bad->message);
  refuse(NULL, &err, NULL, NULL, "", NULL, out);
}

void tesela_json_answer(const char *line, size_t length, const tesela_request *how, tesela_json_out *out) {
  tesela_json_in request;
  tesela_error err;
  if (!out) return;
  if (json_read_line(&request, line, length, &err) != TESELA_OK) {
    refuse_text(&err, &out->sink);
    return;
  }
  const tesela_value *id = tesela_value_get(request.value, "id");
  tesela_request r = how ? *how : (tesela_request){.value = NULL};
  r.value = request.value;
  r.out = &out->sink;
  r.err = &err;
  const size_t begun = out->length;
  const int32_t depth = out->depth;
  const bool comma = out->comma;
  begin(&out->sink, id, true);
  if (tesela_request_answer(&r) == TESELA_OK) {
    tesela_put_end(&out->sink);
  } else { /* take back what was written */
    out->length = begun;
    out->depth = depth;
    out->comma = comma;
    out->part = false;
    refuse(id, &err, r.message, r.field, r.error_at, r.counter_example, &out->sink);
  }
  tesela_request_free(&r);
  tesela_json_free(&request);
}
