/* SPDX-License-Identifier: Apache-2.0 */
/*
 * put.c - answers, event by event, into a sink.
 */
#include <tesela/ops.h>

#include <math.h>
#include <string.h>

/* A NULL sink receives nothing, as a stopped one. */
static void put(tesela_sink *sink, const tesela_event *event) {
  if (sink && !sink->stopped && sink->take(sink, event) != 0) sink->stopped = true;
}

static void put_kind(tesela_sink *sink, tesela_event_kind kind) { put(sink, &(tesela_event){.kind = kind}); }

static void put_text(tesela_sink *sink, tesela_event_kind kind, const char *text, size_t length) {
  put(sink, &(tesela_event){.kind = kind, .text = text, .length = length});
}

void tesela_put_object(tesela_sink *sink) { put_kind(sink, TESELA_EVENT_OBJECT); }
void tesela_put_list(tesela_sink *sink) { put_kind(sink, TESELA_EVENT_LIST); }
void tesela_put_end(tesela_sink *sink) { put_kind(sink, TESELA_EVENT_END); }
void tesela_put_null(tesela_sink *sink) { put_kind(sink, TESELA_EVENT_NULL); }

void tesela_put_key(tesela_sink *sink, const char *name) {
  put_text(sink, TESELA_EVENT_KEY, name ? name : "", name ? strlen(name) : 0);
}

void tesela_put_bool(tesela_sink *sink, bool value) {
  put(sink, &(tesela_event){.kind = TESELA_EVENT_BOOL, .integer = value});
}

void tesela_put_int(tesela_sink *sink, int64_t value) {
  put(sink, &(tesela_event){.kind = TESELA_EVENT_INT, .integer = value});
}

void tesela_put_real(tesela_sink *sink, double value) {
  if (isfinite(value))
    put(sink, &(tesela_event){.kind = TESELA_EVENT_REAL, .real = value});
  else
    tesela_put_null(sink);
}

void tesela_put_text_n(tesela_sink *sink, const char *text, size_t length) {
  if (text)
    put_text(sink, TESELA_EVENT_TEXT, text, length);
  else
    tesela_put_null(sink);
}

void tesela_put_text(tesela_sink *sink, const char *text) {
  tesela_put_text_n(sink, text, text ? strlen(text) : 0);
}

void tesela_put_ints(tesela_sink *sink, int32_t n, const int64_t *values) {
  tesela_put_list(sink);
  for (int32_t i = 0; values && i < n && sink && !sink->stopped; i++) tesela_put_int(sink, values[i]);
  tesela_put_end(sink);
}

void tesela_put_value(tesela_sink *sink, const tesela_value *value) {
  switch (value ? value->kind : TESELA_VALUE_NULL) {
  case TESELA_VALUE_NULL:
    tesela_put_null(sink);
    return;
  case TESELA_VALUE_BOOL:
    tesela_put_bool(sink, value->as.flag);
    return;
  case TESELA_VALUE_INT:
    tesela_put_int(sink, value->as.integer);
    return;
  case TESELA_VALUE_REAL:
    tesela_put_real(sink, value->as.real);
    return;
  case TESELA_VALUE_TEXT:
    tesela_put_text_n(sink, value->as.text, value->n);
    return;
  case TESELA_VALUE_LIST:
  case TESELA_VALUE_OBJECT:
    break;
  }
  bool object = value->kind == TESELA_VALUE_OBJECT;
  put_kind(sink, object ? TESELA_EVENT_OBJECT : TESELA_EVENT_LIST);
  for (size_t i = 0; i < value->n; i++) {
    if (object) tesela_put_key(sink, value->as.item[i].name);
    tesela_put_value(sink, &value->as.item[i]);
  }
  tesela_put_end(sink);
}

void tesela_put_key_int(tesela_sink *sink, const char *name, int64_t value) {
  tesela_put_key(sink, name);
  tesela_put_int(sink, value);
}

void tesela_put_key_bool(tesela_sink *sink, const char *name, bool value) {
  tesela_put_key(sink, name);
  tesela_put_bool(sink, value);
}

void tesela_put_key_text(tesela_sink *sink, const char *name, const char *text) {
  tesela_put_key(sink, name);
  tesela_put_text(sink, text);
}

void tesela_put_key_real(tesela_sink *sink, const char *name, double value) {
  tesela_put_key(sink, name);
  tesela_put_real(sink, value);
}

void tesela_put_key_ints(tesela_sink *sink, const char *name, int32_t n, const int64_t *values) {
  tesela_put_key(sink, name);
  tesela_put_ints(sink, n, values);
}

void tesela_put_key_object(tesela_sink *sink, const char *name) {
  tesela_put_key(sink, name);
  tesela_put_object(sink);
}

void tesela_put_key_list(tesela_sink *sink, const char *name) {
  tesela_put_key(sink, name);
  tesela_put_list(sink);
}

static int write_part(void *user, const char *text, size_t length) {
  tesela_sink *sink = user;
  put_text(sink, TESELA_EVENT_PART, text, length);
  return !sink || sink->stopped;
}

tesela_writer tesela_put_text_begin(tesela_sink *sink) { return (tesela_writer){write_part, sink}; }

tesela_writer tesela_put_key_begin(tesela_sink *sink, const char *name) {
  tesela_put_key(sink, name);
  return tesela_put_text_begin(sink);
}

void tesela_put_text_end(tesela_sink *sink) { tesela_put_text_n(sink, "", 0); }
