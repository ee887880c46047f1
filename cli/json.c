/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.c - JSON written as text into memory that grows.
 */
#include "json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool grow(json_writer *j, size_t more) {
  if (j->failed) return false;
  if (more <= j->capacity - j->length) return true;
  size_t capacity = j->capacity < 256 ? 256 : j->capacity;
  while (capacity - j->length < more && capacity <= SIZE_MAX / 4) capacity *= 2;
  char *text = capacity - j->length < more ? NULL : realloc(j->text, capacity);
  if (!text) {
    j->failed = true;
    return false;
  }
  j->text = text;
  j->capacity = capacity;
  return true;
}

static void put(json_writer *j, const char *text, size_t length) {
  if (!grow(j, length)) return;
  memcpy(j->text + j->length, text, length);
  j->length += length;
}

/* A whole value, with the comma that may have to stand before it. */
static void put_value(json_writer *j, const char *text, size_t length) {
  if (j->comma) put(j, ",", 1);
  put(j, text, length);
  j->comma = true;
}

static void open(json_writer *j, const char *bracket, char close) {
  assert(j->depth < JW_DEPTH);
  put_value(j, bracket, 1);
  j->close[j->depth++] = close;
  j->comma = false;
}

void jw_object(json_writer *j) { open(j, "{", '}'); }
void jw_list(json_writer *j) { open(j, "[", ']'); }

void jw_end(json_writer *j) {
  assert(j->depth > 0);
  put(j, &j->close[--j->depth], 1);
  j->comma = true;
}

void jw_key(json_writer *j, const char *name) {
  jw_str(j, name);
  put(j, ":", 1);
  j->comma = false;
}

void jw_null(json_writer *j) { put_value(j, "null", 4); }
void jw_bool(json_writer *j, bool value) { value ? put_value(j, "true", 4) : put_value(j, "false", 5); }

void jw_int(json_writer *j, int64_t value) {
  char text[24], *end = text + sizeof text, *p = end;
  uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  do *--p = (char)('0' + rest % 10);
  while ((rest /= 10) != 0);
  if (value < 0) *--p = '-';
  put_value(j, p, (size_t)(end - p));
}

void jw_real(json_writer *j, double value) {
  char text[40];
  if (!isfinite(value)) {
    jw_null(j);
    return;
  }
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (strtod(text, NULL) == value) break;
  }
  if (!strpbrk(text, ".e")) strcat(text, ".0"); /* stays a real for readers that tell the two apart */
  put_value(j, text, strlen(text));
}

/* ---- strings ----------------------------------------------------------------------------------------------
 */

static void put_escaped(json_writer *j, const char *text, size_t length) {
  static const char names[] = {
      ['"'] = '"', ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};
  for (size_t i = 0, plain = 0; i <= length;) {
    uint32_t c = 0;
    size_t used = i < length ? tesela_utf8_character(text + i, length - i, &c) : 1;
    bool good = i < length && used > 0 && c >= 0x20 && c != '"' && c != '\\' && c != 0x7f;
    if (!good) { /* the end, or a character that needs care */
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

void jw_str_n(json_writer *j, const char *text, size_t length) {
  put_value(j, "\"", 1);
  put_escaped(j, text, length);
  put(j, "\"", 1);
}

void jw_str(json_writer *j, const char *text) {
  if (text)
    jw_str_n(j, text, strlen(text));
  else
    jw_null(j);
}

static int write_escaped(void *user, const char *text, size_t length) {
  json_writer *j = user;
  put_escaped(j, text, length);
  return j->failed;
}

tesela_writer jw_text_begin(json_writer *j) {
  put_value(j, "\"", 1);
  return (tesela_writer){write_escaped, j};
}

void jw_text_end(json_writer *j) { put(j, "\"", 1); }

/* ---- whole values -----------------------------------------------------------------------------------------
 */

void jw_ints(json_writer *j, int32_t n, const int64_t *values) {
  jw_list(j);
  for (int32_t i = 0; i < n; i++) jw_int(j, values[i]);
  jw_end(j);
}

/* As deep as jansson reads, 2048 levels. */
void jw_value(json_writer *j, const json_t *value) {
  const char *name;
  json_t *item; /* jansson's loops ask for one that is not const; nothing is changed */
  size_t i;
  switch (json_typeof(value)) {
  case JSON_OBJECT:
    put_value(j, "{", 1);
    j->comma = false;
    json_object_foreach((json_t *)value, name, item) {
      jw_key(j, name);
      jw_value(j, item);
    }
    put(j, "}", 1);
    break;
  case JSON_ARRAY:
    put_value(j, "[", 1);
    j->comma = false;
    json_array_foreach(value, i, item) jw_value(j, item);
    put(j, "]", 1);
    break;
  case JSON_STRING:
    jw_str_n(j, json_string_value(value), json_string_length(value));
    break;
  case JSON_INTEGER:
    jw_int(j, json_integer_value(value));
    break;
  case JSON_REAL:
    jw_real(j, json_real_value(value));
    break;
  case JSON_TRUE:
    jw_bool(j, true);
    break;
  case JSON_FALSE:
    jw_bool(j, false);
    break;
  case JSON_NULL:
    jw_null(j);
    break;
  }
  j->comma = true;
}

void jw_put_int(json_writer *j, const char *name, int64_t value) {
  jw_key(j, name);
  jw_int(j, value);
}

void jw_put_bool(json_writer *j, const char *name, bool value) {
  jw_key(j, name);
  jw_bool(j, value);
}

void jw_put_str(json_writer *j, const char *name, const char *text) {
  jw_key(j, name);
  jw_str(j, text);
}

/* ---- out --------------------------------------------------------------------------------------------------
 */

bool jw_write(json_writer *j, FILE *file) {
  bool whole = !j->failed;
  if (whole) fwrite(j->text, 1, j->length, file);
  j->length = 0;
  return whole && !ferror(file);
}

bool jw_line(json_writer *j, FILE *file) {
  put(j, "\n", 1);
  j->comma = false;
  return jw_write(j, file);
}

void jw_free(json_writer *j) {
  free(j->text);
  *j = (json_writer){0};
}
