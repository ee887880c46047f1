/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token.c - words, integers and lists of a kernel program, and errors with the line they are in.
 */
#include "infer/reader.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- failing ------------------------------------------------------------------------------------------------------ */

tesela_status tesela__infer_reader_fail(infer_reader *reader, tesela_status status, size_t at,
                                        const char *format, ...) {
  char what[248];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  return tesela__fail(reader->err, status, (int64_t)at, "line %" PRId64 ": %s", reader->line, what);
}

/* Pass on an error of another module; its place, if it has one, counts from `at`. */
tesela_status tesela__infer_reader_pass(infer_reader *reader, tesela_status status, size_t at,
                                        const tesela_error *inner) {
  tesela_reason reason = inner->reason;
  size_t inside = inner->at > 0 ? (size_t)inner->at : 0;
  tesela__infer_reader_fail(reader, status, at + inside, "%s", inner->message);
  if (reader->err) reader->err->reason = reason;
  return status;
}

/* What stands at a byte, for a message. */
static const char *reader_found(const infer_reader *reader, size_t at, char room[16]) {
  if (at >= reader->end) return "the end of the line";
  unsigned char c = (unsigned char)reader->text[at];
  snprintf(room, 16, c >= 0x20 && c < 0x7f ? "'%c'" : "byte 0x%02x", c);
  return room;
}

tesela_status tesela__infer_reader_unexpected(infer_reader *reader, const char *allowed) {
  char room[16];
  return tesela__infer_reader_fail(reader, TESELA_E_SYNTAX, reader->at, "found %s; here stands %s",
                                   reader_found(reader, reader->at, room), allowed);
}

/* ---- tokens -------------------------------------------------------------------------------------------------------- */

static bool reader_is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool reader_is_digit(char c) { return c >= '0' && c <= '9'; }

void tesela__infer_reader_blanks(infer_reader *reader) {
  while (reader->at < reader->end && (reader->text[reader->at] == ' ' || reader->text[reader->at] == '\t'))
    reader->at++;
}

static bool reader_next_is(infer_reader *reader, char c) {
  tesela__infer_reader_blanks(reader);
  return reader->at < reader->end && reader->text[reader->at] == c;
}

bool tesela__infer_reader_take(infer_reader *reader, char c) {
  bool is = reader_next_is(reader, c);
  reader->at += is;
  return is;
}

/* A word of letters, digits and _, with dots where `dots`; length 0 if there is none. */
size_t tesela__infer_reader_word(infer_reader *reader, bool dots) {
  tesela__infer_reader_blanks(reader);
  size_t at = reader->at;
  if (at >= reader->end || !reader_is_letter(reader->text[at])) return 0;
  while (reader->at < reader->end &&
         (reader_is_letter(reader->text[reader->at]) || reader_is_digit(reader->text[reader->at]) ||
          (dots && reader->text[reader->at] == '.')))
    reader->at++;
  return reader->at - at;
}

bool tesela__infer_reader_word_is(const char *word, size_t length, const char *known) {
  return strlen(known) == length && memcmp(word, known, length) == 0;
}

tesela_status tesela__infer_reader_integer(infer_reader *reader, const char *what, int64_t *value) {
  tesela__infer_reader_blanks(reader);
  size_t at = reader->at;
  bool negative = tesela__infer_reader_take(reader, '-');
  int64_t sum = 0;
  if (reader->at >= reader->end || !reader_is_digit(reader->text[reader->at]))
    return tesela__infer_reader_unexpected(reader, what);
  while (reader->at < reader->end && reader_is_digit(reader->text[reader->at])) {
    int64_t digit = reader->text[reader->at++] - '0';
    if (!tesela__mul(sum, 10, &sum) ||
        !(negative ? tesela__sub(sum, digit, &sum) : tesela__add(sum, digit, &sum)))
      return tesela__infer_reader_fail(reader, TESELA_E_OVERFLOW, at, "the integer does not fit in 64 bits");
  }
  *value = sum;
  return TESELA_OK;
}

/* "[" [ INTEGER { "," INTEGER } ] "]" of at most `most` integers. */
tesela_status tesela__infer_reader_list(infer_reader *reader, int32_t most, int64_t *list, int32_t *n) {
  *n = 0;
  if (!tesela__infer_reader_take(reader, '[')) return tesela__infer_reader_unexpected(reader, "[");
  if (tesela__infer_reader_take(reader, ']')) return TESELA_OK;
  do {
    tesela__infer_reader_blanks(reader);
    if (*n == most)
      return tesela__infer_reader_fail(reader, TESELA_E_LIMIT, reader->at,
                                       "a list here has at most %" PRId32 " integers", most);
    tesela_status status = tesela__infer_reader_integer(reader, "an integer", &list[*n]);
    if (status != TESELA_OK) return status;
    ++*n;
  } while (tesela__infer_reader_take(reader, ','));
  return tesela__infer_reader_take(reader, ']') ? TESELA_OK
                                                : tesela__infer_reader_unexpected(reader, ", or ]");
}

tesela_status tesela__infer_reader_name(infer_reader *reader, size_t *at, size_t *length) {
  *length = tesela__infer_reader_word(reader, false);
  *at = reader->at - *length;
  if (*length == 0) return tesela__infer_reader_unexpected(reader, "a name");
  if (*length > TESELA_KERNEL_NAME)
    return tesela__infer_reader_fail(reader, TESELA_E_LIMIT, *at, "a name has at most %d bytes",
                                     TESELA_KERNEL_NAME);
  return TESELA_OK;
}
