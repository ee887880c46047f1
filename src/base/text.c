/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.c - text goes through a sink (a block of 256 bytes) to the caller's writer.
 */
#include "base/base.h"

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>

static int buffer_write(void *user, const char *text, size_t length) {
  tesela_buffer *buffer = user;
  if (buffer->capacity > 0 && buffer->length < buffer->capacity - 1) {
    size_t room = buffer->capacity - 1 - buffer->length;
    size_t take = length < room ? length : room;
    memcpy(buffer->text + buffer->length, text, take);
    buffer->text[buffer->length + take] = '\0';
  }
  buffer->length += length;
  return 0;
}

tesela_writer tesela_buffer_writer(tesela_buffer *buffer) {
  if (!buffer) return (tesela_writer){0};
  if (buffer->capacity > 0 && buffer->length < buffer->capacity) buffer->text[buffer->length] = '\0';
  return (tesela_writer){buffer_write, buffer};
}

static void pass_on(tesela__sink *sink, const char *text, size_t length) {
  if (!sink->stopped && length > 0 &&
      (!sink->to->write || sink->to->write(sink->to->user, text, length) != 0))
    sink->stopped = true;
}

static void flush(tesela__sink *sink) {
  pass_on(sink, sink->block, sink->used);
  sink->used = 0;
}

void tesela__put(tesela__sink *sink, const char *text, size_t length) {
  if (length > sizeof sink->block - sink->used) flush(sink);
  if (length > sizeof sink->block) {
    pass_on(sink, text, length);
    return;
  }
  memcpy(sink->block + sink->used, text, length);
  sink->used += length;
}

void tesela__puts(tesela__sink *sink, const char *text) { tesela__put(sink, text, strlen(text)); }

void tesela__putc(tesela__sink *sink, char c) {
  if (sink->used == sizeof sink->block) flush(sink);
  sink->block[sink->used++] = c;
}

void tesela__put_int(tesela__sink *sink, int64_t value) {
  char digits[20];
  size_t n = sizeof digits;
  uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  do digits[--n] = (char)('0' + rest % 10);
  while ((rest /= 10) != 0);
  if (value < 0) tesela__putc(sink, '-');
  tesela__put(sink, digits + n, sizeof digits - n);
}

void tesela__putf(tesela__sink *sink, const char *format, ...) {
  char line[256];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(line, sizeof line, format, args);
  va_end(args);
  if (length > 0) tesela__put(sink, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

tesela_status tesela__sink_finish(tesela__sink *sink, tesela_error *err) {
  flush(sink);
  if (!sink->stopped) return TESELA_OK;
  return tesela__fail(err, TESELA_E_STOPPED, -1, "the writer returned an error");
}

char tesela__decimal_point(void) {
  const struct lconv *conventions = localeconv();
  return conventions->decimal_point[0] ? conventions->decimal_point[0] : '.';
}
