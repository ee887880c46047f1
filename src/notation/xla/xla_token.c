/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla_token.c - the small pieces of XLA text, and what errors and repairs say about them.
 *
 * A byte that starts nothing valid (NUL, no UTF-8, a comment without end) is no error by itself: no one
 * expects it, so whoever looks for something else there calls tesela__xla_unexpected, which knows what to say
 * about it.
 */
#include <stdarg.h>
#include <stdio.h>

#include "layout/dtype.h"
#include "notation/xla/xla_read.h"

static bool xla_is_digit(char c) { return c >= '0' && c <= '9'; }
static bool xla_is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool xla_is_word_byte(char c) { return xla_is_letter(c) || xla_is_digit(c) || c == '.' || c == '-'; }

/* ---- characters ---- */

/* Bytes of the UTF-8 character at `at`, and the character; 0 if it is none. */
static size_t xla_utf8_at(const tesela__xla_reader *reader, size_t at, uint32_t *character) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  unsigned char lead = (unsigned char)reader->text[at];
  size_t n = lead < 0x80 ? 1 : lead < 0xC0 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF8 ? 4 : 0;
  if (n == 0 || n > reader->length - at) return 0;
  *character = n == 1 ? lead : lead & (0x7FU >> n);
  for (size_t i = 1; i < n; i++) {
    unsigned char c = (unsigned char)reader->text[at + i];
    if ((c & 0xC0) != 0x80) return 0;
    *character = *character << 6 | (c & 0x3FU);
  }
  bool fits =
      *character >= least[n] && *character <= 0x10FFFF && (*character < 0xD800 || *character > 0xDFFF);
  return fits ? n : 0;
}

bool tesela__xla_skip_comment(tesela__xla_reader *reader) {
  size_t at = reader->at + 2, n;
  uint32_t c;
  if (reader->length - reader->at < 2) return false;
  char kind = reader->text[reader->at + 1];
  if (kind != '*' && kind != '/') return false;
  for (; at < reader->length; at += n) {
    n = xla_utf8_at(reader, at, &c);
    if (n == 0 || c == 0) { /* stand at the bad byte */
      reader->at = at;
      return false;
    }
    if (kind == '/' && (c == '\n' || c == '\r')) break;
    if (kind == '*' && c == '*' && at + 1 < reader->length && reader->text[at + 1] == '/') break;
  }
  if (kind == '*' && at >= reader->length) return false; /* stand at its start */
  reader->at = kind == '*' ? at + 2 : at;
  return true;
}

/* ---- what to say ---- */

/* Characters of the document that look like ASCII ones. */
static const struct {
  uint32_t character;
  char ascii;
} xla_lookalikes[] = {
    {0x2217, '*'}, /* asterisk operator */
    {0x00D7, ','}, /* multiplication sign, as in T(8x128) */
};

size_t tesela__xla_lookalike(const tesela__xla_reader *reader, char ascii) {
  uint32_t c;
  if (reader->at >= reader->length || (unsigned char)reader->text[reader->at] < 0x80) return 0;
  size_t n = xla_utf8_at(reader, reader->at, &c);
  for (size_t i = 0; n > 0 && i < sizeof xla_lookalikes / sizeof xla_lookalikes[0]; i++)
    if (xla_lookalikes[i].character == c && xla_lookalikes[i].ascii == ascii) return n;
  return 0;
}

size_t tesela__xla_lump(const tesela__xla_reader *reader, size_t at) {
  size_t n = 0;
  while (at + n < reader->length && xla_is_word_byte(reader->text[at + n])) n++;
  return n;
}

void tesela__xla_quote(const tesela__xla_reader *reader, size_t at, char quoted[TESELA__XLA_QUOTE]) {
  enum { SHOWN = 24 };
  uint32_t c;
  if (at >= reader->length) {
    snprintf(quoted, TESELA__XLA_QUOTE, "the end of the text");
    return;
  }
  const char *text = reader->text + at;
  size_t n = tesela__xla_lump(reader, at), bytes = xla_utf8_at(reader, at, &c);
  if (n > SHOWN)
    snprintf(quoted, TESELA__XLA_QUOTE, "'%.*s...'", SHOWN, text);
  else if (n > 0)
    snprintf(quoted, TESELA__XLA_QUOTE, "'%.*s'", (int)n, text);
  else if (bytes == 0)
    snprintf(quoted, TESELA__XLA_QUOTE, "byte 0x%02X, which is not UTF-8", (unsigned char)*text);
  else if (c == 0)
    snprintf(quoted, TESELA__XLA_QUOTE, "a NUL byte");
  else if (c == '/' && reader->length - at > 1 && text[1] == '*')
    snprintf(quoted, TESELA__XLA_QUOTE, "a comment without end");
  else if (c < 0x20 || (c >= 0x7F && c < 0xA0))
    snprintf(quoted, TESELA__XLA_QUOTE, "control character U+%04X", (unsigned)c);
  else if (c >= 0x80)
    snprintf(quoted, TESELA__XLA_QUOTE, "'%.*s' (U+%04X)", (int)bytes, text, (unsigned)c);
  else
    snprintf(quoted, TESELA__XLA_QUOTE, "'%c'", (char)c);
}

/* If a byte that no text may have hangs on what stands here, that byte is the news. */
static void xla_skip_to_bad_byte(tesela__xla_reader *reader) {
  uint32_t c;
  if (reader->at >= reader->length) return;
  size_t word = tesela__xla_lump(reader, reader->at);
  size_t behind = reader->at + (word > 0 ? word : xla_utf8_at(reader, reader->at, &c));
  if (behind < reader->length && (xla_utf8_at(reader, behind, &c) == 0 || c == 0)) reader->at = behind;
}

tesela_status tesela__xla_unexpected(tesela__xla_reader *reader, const char *expected, const char *more) {
  char quoted[TESELA__XLA_QUOTE], hint[64] = "";
  tesela__xla_peek(reader);
  xla_skip_to_bad_byte(reader);
  tesela__xla_quote(reader, reader->at, quoted);
  for (size_t i = 0; i < sizeof xla_lookalikes / sizeof xla_lookalikes[0]; i++)
    if (tesela__xla_lookalike(reader, xla_lookalikes[i].ascii) > 0)
      snprintf(hint, sizeof hint, "; did you mean '%c'?", xla_lookalikes[i].ascii);
  if (reader->place == TESELA__XLA_AFTER_MEMBER && reader->at < reader->length &&
      reader->text[reader->at] == '{')
    snprintf(hint, sizeof hint, "%s", "; a layout is {1,0} or {1,0:...}, and {} is left out");
  return tesela__fail(reader->err, TESELA_E_SYNTAX, (int64_t)reader->at, "found %s; expected %s%s%s", quoted,
                      expected, more, hint);
}

void tesela__xla_repair(tesela__xla_reader *reader, size_t at, const char *what, ...) {
  if (!reader->repairs) return;
  int32_t k = reader->repairs->count++;
  if (k >= TESELA_XLA_MAX_REPAIRS) return;
  tesela_xla_repair *repair = &reader->repairs->repair[k];
  repair->at = (int64_t)at;
  va_list args;
  va_start(args, what);
  vsnprintf(repair->what, sizeof repair->what, what, args);
  va_end(args);
}

/* ---- pieces ---- */

tesela_status tesela__xla_expect(tesela__xla_reader *reader, char c, const char *where) {
  if (tesela__xla_take(reader, c)) return TESELA_OK;
  char expected[] = {'\'', c, '\'', where[0] ? ' ' : '\0', '\0'};
  return tesela__xla_unexpected(reader, expected, where);
}

size_t tesela__xla_word(tesela__xla_reader *reader) {
  int c = tesela__xla_peek(reader);
  return c >= 0 && xla_is_letter((char)c) ? tesela__xla_lump(reader, reader->at) : 0;
}

static tesela_status xla_number_too_long(tesela__xla_reader *reader, tesela__xla_field field) {
  char quoted[TESELA__XLA_QUOTE];
  tesela__xla_quote(reader, reader->at, quoted);
  return tesela__fail(reader->err, TESELA_E_RANGE, (int64_t)reader->at,
                      "%s: a number is at most 9223372036854775807; expected %s", quoted,
                      tesela__xla_expected(field));
}

/* Digits first .. end-1 as a number; false if it exceeds int64. */
static bool xla_digits_value(const char *first, const char *end, int64_t *value) {
  enum { ALWAYS_FIT = 18 };
  int64_t n = 0;
  while (first < end && *first == '0') first++;
  if (end - first > ALWAYS_FIT) {
    for (; first < end; first++)
      if (!tesela__mul(n, 10, &n) || !tesela__add(n, *first - '0', &n)) return false;
  }
  for (; first < end; first++) n = n * 10 + (*first - '0');
  *value = n;
  return true;
}

tesela_status tesela__xla_number(tesela__xla_reader *reader, tesela__xla_field field, int32_t index,
                                 int64_t *value) {
  int64_t n;
  bool negative = tesela__xla_peek(reader) == '-';
  tesela__xla_mark(reader, field, index);
  size_t first = reader->at + negative, at = first;
  while (at < reader->length && xla_is_digit(reader->text[at])) at++;
  if (at == first || (at < reader->length && xla_is_word_byte(reader->text[at])))
    return tesela__xla_unexpected(reader, tesela__xla_expected(field), "");
  if (!xla_digits_value(reader->text + first, reader->text + at, &n))
    return xla_number_too_long(reader, field);
  if (negative) n = -n;
  tesela_status status = tesela__xla_check_number(field, n, (int64_t)reader->at, reader->err);
  if (status != TESELA_OK) return status;
  reader->at = at;
  *value = n;
  return TESELA_OK;
}

static tesela_status xla_unknown_type(tesela__xla_reader *reader, size_t length) {
  char quoted[TESELA__XLA_QUOTE];
  size_t at = reader->at;
  const char *near = tesela_dtype_suggest(reader->text + at, length);
  xla_skip_to_bad_byte(reader);
  if (reader->at != at) return tesela__xla_unexpected(reader, "an element type, such as f32", "");
  tesela__xla_quote(reader, at, quoted);
  return tesela__fail(reader->err, TESELA_E_SYNTAX, (int64_t)at, "unknown element type %s%s%s%s", quoted,
                      near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

tesela_status tesela__xla_type(tesela__xla_reader *reader, tesela_dtype *dtype) {
  size_t length = tesela__xla_word(reader);
  if (length == 0) return tesela__xla_unexpected(reader, "an element type, such as f32", "");
  const char *word = reader->text + reader->at;
  *dtype = tesela_dtype_find(word, length);
  if (*dtype == TESELA_DTYPE_NONE && reader->lenient) {
    *dtype = tesela__dtype_alias(word, length);
    if (*dtype != TESELA_DTYPE_NONE)
      tesela__xla_repair(reader, reader->at, "type %.*s read as %s", (int)length, word,
                         tesela_dtype_name(*dtype));
  }
  if (*dtype == TESELA_DTYPE_NONE) return xla_unknown_type(reader, length);
  reader->at += length;
  return TESELA_OK;
}

/* Lenient: `close` may stand behind a comma, and a brace may stand where a parenthesis is missing. */
static bool xla_closes(tesela__xla_reader *reader, char close) {
  if (tesela__xla_take(reader, close)) return true;
  if (!reader->lenient || close != ')' || tesela__xla_peek(reader) != '}') return false;
  tesela__xla_repair(reader, reader->at, "missing ')' before '}' added");
  return true;
}

tesela_status tesela__xla_close(tesela__xla_reader *reader, char close) {
  return xla_closes(reader, close) ? TESELA_OK : tesela__xla_expect(reader, close, "");
}

tesela_status tesela__xla_more(tesela__xla_reader *reader, char close, bool *more) {
  *more = false;
  if (xla_closes(reader, close)) return TESELA_OK;
  size_t comma = reader->at, sign = reader->lenient ? tesela__xla_lookalike(reader, ',') : 0;
  if (sign > 0) {
    tesela__xla_repair(reader, comma, "'%.*s' read as ','", (int)sign, reader->text + comma);
    reader->at += sign;
  } else if (!tesela__xla_take(reader, ',')) {
    char expected[] = {'\'', ',', '\'', ' ', 'o', 'r', ' ', '\'', close, '\'', '\0'};
    return tesela__xla_unexpected(reader, expected, "");
  } else if (reader->lenient && xla_closes(reader, close)) {
    tesela__xla_repair(reader, comma, "',' before the end of a list left out");
    return TESELA_OK;
  }
  *more = true;
  return TESELA_OK;
}
