/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_out.c - an answer as a text in JSON, in memory that grows.
 */
#include <tesela/ops.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_plain.h"

/* Room for the ends of all that is open is kept: they never fail. */
static bool grow(tesela_json_out *j, size_t more) {
  if (j->sink.stopped) return false;
  more += (size_t)j->depth + 1;
  if (more <= j->capacity - j->length) return true;
  size_t capacity = j->capacity < 256 ? 256 : j->capacity;
  while (capacity - j->length < more && capacity <= SIZE_MAX / 4) capacity *= 2;
  char *text = capacity - j->length < more ? NULL : realloc(j->text, capacity);
  if (!text) {
    j->sink.stopped = true;
    return false;
  }
  j->text = text;
  j->capacity = capacity;
  return true;
}

/* `text` may be NULL if `length` is 0. */
static void put(tesela_json_out *j, const char *text, size_t length) {
  if (length == 0 || !grow(j, length)) return;
  memcpy(j->text + j->length, text, length);
  j->length += length;
}

/* A whole value, with the comma before it if it needs one. */
static void put_value(tesela_json_out *j, const char *text, size_t length) {
  if (j->comma) put(j, ",", 1);
  put(j, text, length);
  j->comma = true;
}

static void put_open(tesela_json_out *j, bool list) {
  if (j->depth == TESELA_JSON_DEPTH) {
    j->sink.stopped = true;
    return;
  }
  uint64_t bit = (uint64_t)1 << j->depth % 64, *level = &j->lists[j->depth / 64];
  *level = list ? *level | bit : *level & ~bit;
  j->depth++;
  put_value(j, list ? "[" : "{", 1);
  j->comma = false;
}

static void put_close(tesela_json_out *j) {
  if (j->depth == 0) {
    j->sink.stopped = true;
    return;
  }
  j->depth--;
  put(j, j->lists[j->depth / 64] >> j->depth % 64 & 1 ? "]" : "}", 1);
  j->comma = true;
}

static void put_int(tesela_json_out *j, int64_t value) {
  char text[24], *end = text + sizeof text, *p = end;
  uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  do *--p = (char)('0' + rest % 10);
  while ((rest /= 10) != 0);
  if (value < 0) *--p = '-';
  put_value(j, p, (size_t)(end - p));
}

/* The shortest text that reads back equal, with a point whatever the locale. */
static void put_real(tesela_json_out *j, double value) {
  char text[40];
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (strtod(text, NULL) == value) break;
  }
  char *point = text + strspn(text, "-0123456789");
  if (*point == '\0') {
    strcat(text, ".0");       /* stays a real for readers that distinguish the two */
  } else if (*point != 'e') { /* the locale's decimal point, which may be longer */
    const size_t width = strcspn(point, "0123456789");
    memmove(point + 1, point + width, strlen(point + width) + 1);
    *point = '.';
  }
  put_value(j, text, strlen(text));
}

static void put_escaped(tesela_json_out *j, const char *text, size_t length) {
  static const char names[] = {
      ['"'] = '"', ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};
  for (size_t i = 0, plain = 0; i <= length;) {
    uint32_t c = 0;
    i += json_plain(text + i, length - i);
    size_t used = i < length ? tesela_utf8_character(text + i, length - i, &c) : 1;
    bool good = i < length && used > 0 && c >= 0x20 && c != '"' && c != '\\' && c != 0x7f;
    if (!good) { /* the end, or a character to escape */
      put(j, text + plain, i - plain);
      plain = i + (used ? used : 1);
      char escaped[8] = "\\";
      if (i == length) break;
      if (used == 0) {
        put(j, "\xEF\xBF\xBD", 3);
      } else if (c < sizeof names && names[c]) {
        escaped[1] = names[c];
        put(j, escaped, 2);
      } else {
        snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned)c);
        put(j, escaped, 6);
      }
    }
    i += used ? used : 1;
  }
}

/* A whole text of plain characters, as most are; false: it has others, or memory ran out. A colon follows a key. */
static bool put_plain(tesela_json_out *j, const tesela_event *event) {
  const size_t n = json_plain(event->text, event->length);
  bool key = event->kind == TESELA_EVENT_KEY;
  if (n < event->length || !grow(j, n + 4)) return false;
  char *at = j->text + j->length;
  if (j->comma) *at++ = ',';
  *at++ = '"';
  memcpy(at, event->text, n);
  at += n;
  *at++ = '"';
  if (key) *at++ = ':';
  j->length = (size_t)(at - j->text);
  j->comma = !key;
  return true;
}

/* A key, a text, or a piece of one that continues. */
static void put_text(tesela_json_out *j, const tesela_event *event) {
  bool more = event->kind == TESELA_EVENT_PART, key = event->kind == TESELA_EVENT_KEY;
  if (!more && !j->part && put_plain(j, event)) return;
  if (!j->part) put_value(j, "\"", 1);
  put_escaped(j, event->text, event->length);
  if (!more) put(j, "\"", 1);
  if (key) put(j, ":", 1);
  j->part = more;
  j->comma = !key;
}

int tesela_json_take(tesela_sink *sink, const tesela_event *event) {
  tesela_json_out *j = (tesela_json_out *)sink; /* its first member */
  if (!sink || !event) return 1;
  switch (event->kind) {
  case TESELA_EVENT_OBJECT:
  case TESELA_EVENT_LIST:
    put_open(j, event->kind == TESELA_EVENT_LIST);
    break;
  case TESELA_EVENT_END:
    put_close(j);
    break;
  case TESELA_EVENT_KEY:
  case TESELA_EVENT_PART:
  case TESELA_EVENT_TEXT:
    put_text(j, event);
    break;
  case TESELA_EVENT_INT:
    put_int(j, event->integer);
    break;
  case TESELA_EVENT_REAL:
    put_real(j, event->real);
    break;
  case TESELA_EVENT_BOOL:
    event->integer ? put_value(j, "true", 4) : put_value(j, "false", 5);
    break;
  case TESELA_EVENT_NULL:
    put_value(j, "null", 4);
    break;
  }
  return sink->stopped;
}

void tesela_json_out_free(tesela_json_out *out) {
  if (!out) return;
  free(out->text);
  *out = (tesela_json_out)TESELA_JSON_OUT;
}
