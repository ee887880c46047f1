/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.c - the text reader; see reader.h.
 *
 * A byte that cannot start anything valid (NUL, invalid UTF-8, an unterminated comment) is not an error by itself: no caller
 * expects it, so the error about the expected text names it.
 */
#include "base/reader.h"

#include <stdarg.h>
#include <stdio.h>

/* Letters, digits, the dot, the dash, other signs. */
#define L TESELA__BYTE_LETTER
#define N TESELA__BYTE_DIGIT
#define D TESELA__BYTE_DOT
#define M TESELA__BYTE_DASH
#define S TESELA__BYTE_SIGN
/* clang-format off */
const uint8_t tesela__byte_classes[128] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, S, 0, S, S, 0, S, S, 0, 0, S, S, 0, M, D, S,
    N, N, N, N, N, N, N, N, N, N, S, S, S, 0, S, S,
    S, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L,
    L, L, L, L, L, L, L, L, L, L, L, 0, 0, 0, S, L,
    S, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L,
    L, L, L, L, L, L, L, L, L, L, L, 0, S, 0, S, 0,
};
/* clang-format on */
#undef L
#undef N
#undef D
#undef M
#undef S

/* ---- pieces ---- */

bool tesela__read_comment(tesela__reader *r) {
  const bool loose = r->blanks == TESELA__BLANKS_LOOSE;
  size_t at = r->at + 2, n = 1;
  uint32_t c;
  if (r->length - r->at < 2) return false;
  char kind = r->text[r->at + 1];
  if (kind != '*' && kind != '/') return false;
  for (; at < r->length; at += n) {
    c = (unsigned char)r->text[at];
    if (!loose) n = tesela_utf8_character(r->text + at, r->length - at, &c);
    if (n == 0 || (c == 0 && !loose)) { /* at the bad byte */
      r->at = at;
      return false;
    }
    if (kind == '/' && (c == '\n' || c == '\r')) break;
    if (kind == '*' && c == '*' && at + 1 < r->length && r->text[at + 1] == '/') break;
  }
  bool ends = kind == '/' || at < r->length;
  if (!ends && !loose) return false; /* at its start */
  r->at = !ends ? r->length : kind == '*' ? at + 2 : at;
  return true;
}

bool tesela__read_take_text(tesela__reader *r, const char *text) {
  size_t n = strlen(text);
  tesela__read_peek(r);
  if (r->length - r->at < n || memcmp(r->text + r->at, text, n) != 0) return false;
  if (tesela__byte_is(text[n - 1], r->word) && tesela__read_lump(r, r->at + n) > 0) return false;
  r->at += n;
  return true;
}

tesela_status tesela__read_expect(tesela__reader *r, char c, const char *where) {
  char expected[64];
  if (tesela__read_take(r, c)) return TESELA_OK;
  snprintf(expected, sizeof expected, "'%c'%s%s", c, where[0] ? " " : "", where);
  return tesela__read_unexpected(r, expected, "");
}

/* ---- integers and lists ---- */

int tesela__read_scan(tesela__reader *r, size_t *end, int64_t *value) {
  const uint64_t last = (UINT64_MAX - 9) / 10; /* one more digit fits */
  bool negative = tesela__read_peek(r) == '-', fits = true;
  size_t first = r->at + negative, at = first;
  uint64_t sum = 0;
  for (; at < r->length; at++) {
    unsigned digit = (unsigned)(unsigned char)r->text[at] - '0';
    if (digit > 9) break;
    fits = fits && sum <= last;
    sum = sum * 10 + digit;
  }
  if (at == first || (at < r->length && tesela__byte_is(r->text[at], r->glue))) return 0;
  *end = at;
  if (!fits || sum > (uint64_t)INT64_MAX + negative) return -1;
  *value = !negative ? (int64_t)sum : sum == 0 ? 0 : -(int64_t)(sum - 1) - 1;
  return 1;
}

bool tesela__read_integer_next(tesela__reader *r) {
  int c = tesela__read_peek(r);
  size_t digit = r->at + (c == '-');
  return c >= 0 && digit < r->length && tesela__byte_is(r->text[digit], TESELA__BYTE_DIGIT);
}

tesela_status tesela__read_any_integer(tesela__reader *r, const char *what, tesela_status too_long,
                                       int64_t *value) {
  char found[TESELA__FOUND];
  size_t end;
  int64_t number;
  int read = tesela__read_scan(r, &end, &number);
  if (read == 0) return tesela__read_unexpected(r, what, "");
  if (read < 0) {
    tesela__read_found(r, r->at, found);
    return tesela__read_fail(r, too_long, r->at, "%s does not fit in 64 bits", found);
  }
  r->at = end;
  *value = number;
  return TESELA_OK;
}

tesela_status tesela__read_integer(tesela__reader *r, const char *what, int64_t least, int64_t most,
                                   int64_t *value) {
  enum { SHOWN = 40 };
  size_t end;
  int64_t number;
  int read = tesela__read_scan(r, &end, &number);
  if (read == 0) return tesela__read_unexpected(r, what, "");
  if (read < 0 || number < least || number > most) {
    char allowed[80];
    tesela__range_text(least, most, allowed, sizeof allowed);
    return tesela__read_fail(r, TESELA_E_RANGE, r->at, "%s is %.*s%s; %s", what,
                             end - r->at < SHOWN ? (int)(end - r->at) : SHOWN, r->text + r->at,
                             end - r->at > SHOWN ? "..." : "", allowed);
  }
  r->at = end;
  *value = number;
  return TESELA_OK;
}

tesela_status tesela__read_more(tesela__reader *r, char close, bool trailing, bool *more) {
  *more = false;
  if (tesela__read_take(r, close)) return TESELA_OK;
  if (!tesela__read_take(r, ',')) {
    char expected[] = {'\'', ',', '\'', ' ', 'o', 'r', ' ', '\'', close, '\'', '\0'};
    return tesela__read_unexpected(r, expected, "");
  }
  *more = !trailing || !tesela__read_take(r, close);
  return TESELA_OK;
}

tesela_status tesela__read_integers(tesela__reader *r, char open, bool trailing, const char *what,
                                    tesela_status too_long, int32_t most, int64_t *list, int32_t *n) {
  char close = open == '[' ? ']' : ')';
  *n = 0;
  if (!tesela__read_take(r, open)) return tesela__read_unexpected(r, what, "");
  for (bool more = !tesela__read_take(r, close); more; ++*n) {
    if (tesela__read_peek(r) >= 0 && *n == most)
      return tesela__read_fail(r, TESELA_E_LIMIT, r->at, "more than %" PRId32 " numbers; expected %s", most,
                               what);
    tesela_status status = tesela__read_any_integer(r, "a whole number", too_long, &list[*n]);
    if (status == TESELA_OK) status = tesela__read_more(r, close, trailing, &more);
    if (status != TESELA_OK) return status;
  }
  return TESELA_OK;
}

/* ---- error texts -------- */

tesela_status tesela__read_fail(const tesela__reader *r, tesela_status status, size_t at, const char *format,
                                ...) {
  char line[32] = "", message[2 * sizeof r->err->message]; /* tesela__fail cuts long ones */
  if (!r->err) return status;
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  if (r->line > 0) snprintf(line, sizeof line, "line %" PRId64 ": ", r->line);
  return tesela__fail(r->err, status, (int64_t)at, "%s%s", line, message);
}

void tesela__read_found(const tesela__reader *r, size_t at, char found[TESELA__FOUND]) {
  enum { SHOWN = 24 };
  uint32_t c = 0;
  if (at >= r->length) {
    snprintf(found, TESELA__FOUND, "the end of the %s", r->blanks == TESELA__BLANKS_LINE ? "line" : "text");
    return;
  }
  const char *text = r->text + at;
  size_t n = 0, bytes = tesela_utf8_character(text, r->length - at, &c);
  while (at + n < r->length && tesela__byte_is(text[n], (r->word | r->glue) & ~TESELA__BYTE_SIGN)) n++;
  if (n == 0 && *text == '-') /* a number that is not valid here */
    for (n = 1; at + n < r->length && tesela__byte_is(text[n], TESELA__BYTE_NAME);) n++;
  bool comment = c == '/' && r->blanks >= TESELA__BLANKS_COMMENTS && r->length - at > 1 && text[1] == '*';
  if (n > SHOWN)
    snprintf(found, TESELA__FOUND, "'%.*s...'", SHOWN, text);
  else if (n > 0)
    snprintf(found, TESELA__FOUND, "'%.*s'", (int)n, text);
  else if (bytes == 0)
    snprintf(found, TESELA__FOUND, "byte 0x%02X, which is not UTF-8", (unsigned)(unsigned char)*text);
  else if (c == 0)
    snprintf(found, TESELA__FOUND, "a NUL byte");
  else if (comment)
    snprintf(found, TESELA__FOUND, "an unterminated comment");
  else if (c < 0x20 || (c >= 0x7F && c < 0xA0))
    snprintf(found, TESELA__FOUND, "control character U+%04X", (unsigned)c);
  else if (c >= 0x80)
    snprintf(found, TESELA__FOUND, "'%.*s' (U+%04X)", (int)bytes, text, (unsigned)c);
  else
    snprintf(found, TESELA__FOUND, "'%c'", (char)c);
}

/* Characters of documents that look like ASCII ones. */
static const struct {
  uint32_t character;
  char ascii;
} reader_lookalikes[] = {
    {0x2217, '*'}, /* asterisk operator */
    {0x00D7, ','}, /* multiplication sign, as in T(8x128) */
};

/* The ASCII character that the next one resembles, or '\0'; *bytes: its length. */
static char reader_lookalike(const tesela__reader *r, size_t *bytes) {
  uint32_t c;
  if (r->at >= r->length || (unsigned char)r->text[r->at] < 0x80) return '\0';
  *bytes = tesela_utf8_character(r->text + r->at, r->length - r->at, &c);
  for (size_t i = 0; *bytes > 0 && i < sizeof reader_lookalikes / sizeof reader_lookalikes[0]; i++)
    if (reader_lookalikes[i].character == c) return reader_lookalikes[i].ascii;
  return '\0';
}

size_t tesela__read_lookalike(const tesela__reader *r, char ascii) {
  size_t bytes = 0;
  return reader_lookalike(r, &bytes) == ascii ? bytes : 0;
}

/* If an invalid byte follows the word here directly, the error is about that byte. */
static size_t reader_bad_byte(const tesela__reader *r) {
  uint32_t c;
  if (r->at >= r->length || (r->word & TESELA__BYTE_SIGN)) return r->at;
  size_t word = tesela__read_lump(r, r->at);
  size_t after = r->at + (word > 0 ? word : tesela_utf8_character(r->text + r->at, r->length - r->at, &c));
  bool bad =
      after < r->length && (tesela_utf8_character(r->text + after, r->length - after, &c) == 0 || c == 0);
  return bad ? after : r->at;
}

tesela_status tesela__read_unexpected(tesela__reader *r, const char *expected, const char *hint) {
  char found[TESELA__FOUND], wanted[136]; /* leaves room for the found text */
  char meant[] = "; did you mean '*'?";
  size_t bytes;
  if (!r->err) return TESELA_E_SYNTAX;
  tesela__read_peek(r);
  r->at = reader_bad_byte(r);
  tesela__read_found(r, r->at, found);
  char ascii = reader_lookalike(r, &bytes);
  meant[sizeof meant - 4] = ascii;
  if (snprintf(wanted, sizeof wanted, "%s", expected) >= (int)sizeof wanted)
    tesela__end_cut(wanted, sizeof wanted);
  return tesela__read_fail(r, TESELA_E_SYNTAX, r->at, "expected %s, found %s%s%s", wanted, found,
                           ascii ? meant : "", hint);
}

tesela_status tesela__read_unknown(tesela__reader *r, tesela_status status, size_t at, size_t length,
                                   const char *what, const char *of, const char *near, const char *allowed) {
  enum { SHOWN = 40 };
  char known[64];
  snprintf(known, sizeof known, "a known %s", what);
  if (at == r->at && reader_bad_byte(r) != at) return tesela__read_unexpected(r, known, "");
  const char *hint = near ? "; did you mean " : allowed ? "; expected " : "";
  int n = near ? (int)strcspn(near, TESELA__NAME_ENDS) : allowed ? (int)strlen(allowed) : 0;
  return tesela__read_fail(r, status, at, "unknown %s '%.*s%s'%s%s%.*s%s", what,
                           length < SHOWN ? (int)length : SHOWN, r->text + at, length > SHOWN ? "..." : "",
                           of, hint, n,
                           near      ? near
                           : allowed ? allowed
                                     : "",
                           near ? "?" : "");
}

tesela_status tesela__read_unknown_among(tesela__reader *r, size_t at, size_t length, const char *what,
                                         const char *(*name)(const void *user, int32_t i), const void *user) {
  char list[TESELA__NAMES];
  return tesela__read_unknown(r, TESELA_E_SYNTAX, at, length, what, "",
                              tesela__nearest(r->text + at, length, name, user),
                              tesela__names_text(name, user, list));
}

/* The names of a table, as candidates. */
typedef struct reader_names {
  const char *(*name)(int32_t i);
} reader_names;

static const char *reader_name(const void *user, int32_t i) { return ((const reader_names *)user)->name(i); }

tesela_status tesela__read_unknown_of(tesela__reader *r, size_t at, size_t length, const char *what,
                                      const char *(*name)(int32_t i)) {
  const reader_names names = {name};
  return tesela__read_unknown_among(r, at, length, what, reader_name, &names);
}
