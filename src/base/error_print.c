/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error_print.c - an error as readable text: its message, the line of the text, and a caret under the faulty byte.
 *
 * Columns are counted twice: over the line, to choose the part to show, and while it is printed.
 */
#include "base/base.h"

/* Columns of `length` bytes, up to the character that byte `at` belongs to. */
static int64_t error_columns(const char *text, size_t length, size_t at, bool ascii) {
  int64_t columns = 0;
  for (size_t i = 0; i < length;) {
    char shown[12];
    int32_t wide;
    size_t bytes = tesela_utf8_show(text + i, length - i, ascii, shown, &wide);
    if (i + bytes > at) break;
    columns += wide;
    i += bytes;
  }
  return columns;
}

static void error_put_blanks(tesela__sink *sink, int64_t n) {
  while (n-- > 0) tesela__putc(sink, ' ');
}

static void error_put_caret(tesela__sink *sink, const char *line, size_t length, size_t at, int32_t width,
                            bool ascii) {
  enum { INDENT = 2, DOTS = 3, AHEAD = 12, LEAST = 20 };
  const int64_t room = (width < LEAST ? LEAST : width) - INDENT - 1 - 2 * DOTS;
  const int64_t total = error_columns(line, length, length, ascii);
  const int64_t caret = error_columns(line, length, at, ascii);
  int64_t first = 0, last = total, column = 0;
  if (total > room + 2 * DOTS) { /* show some text after the caret, too */
    last = tesela__min(total, tesela__max(room, caret + tesela__min(AHEAD, room / 2)));
    first = tesela__max(0, last - room);
  }
  error_put_blanks(sink, INDENT);
  if (first > 0) tesela__puts(sink, "...");
  for (size_t i = 0; i < length && column < last;) {
    char shown[12];
    int32_t wide;
    i += tesela_utf8_show(line + i, length - i, ascii, shown, &wide);
    if (column >= first)
      tesela__puts(sink, shown);
    else if (column + wide > first)
      error_put_blanks(sink, column + wide - first);
    column += wide;
  }
  tesela__puts(sink, last < total ? "...\n" : "\n");
  error_put_blanks(sink, INDENT + (first > 0 ? DOTS : 0) + caret - first);
  tesela__puts(sink, "^\n");
}

tesela_status tesela_error_caret(int64_t at, const char *text, size_t length, int32_t width, bool ascii,
                                 const tesela_writer *to) {
  tesela__sink sink;
  if (!to) return TESELA_E_INVALID;
  if (at < 0 || !text) return TESELA_OK;
  size_t byte = (uint64_t)at < length ? (size_t)at : length;
  while (byte == length && byte > 0 && text[byte - 1] == '\n') byte = --length; /* after the last line */
  size_t first = byte, end = byte;
  while (first > 0 && text[first - 1] != '\n') first--;
  while (end < length && text[end] != '\n') end++;
  if (end > first && end > byte && text[end - 1] == '\r') end--; /* CR LF */
  tesela__sink_init(&sink, to);
  error_put_caret(&sink, text + first, end - first, byte - first, width, ascii);
  return tesela__sink_finish(&sink, NULL);
}

tesela_status tesela_error_print(const tesela_error *err, const char *text, size_t length,
                                 const tesela_writer *to) {
  enum { WIDTH = 80 };
  tesela__sink sink;
  if (!err || !to) return TESELA_E_INVALID;
  tesela__sink_init(&sink, to);
  tesela__puts(&sink, err->message);
  tesela__putc(&sink, '\n');
  tesela_status status = tesela__sink_finish(&sink, NULL);
  return status == TESELA_OK ? tesela_error_caret(err->at, text, length, WIDTH, false, to) : status;
}
