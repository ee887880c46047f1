/* SPDX-License-Identifier: Apache-2.0 */
/*
 * register_lex.c - the small pieces of layout expressions, and what errors say about them.
 */
#include <stdio.h>

#include "notation/register/register_read.h"
#include "notation/xla/xla_read.h"

static bool expression_digit(char c) { return c >= '0' && c <= '9'; }

bool tesela__expression_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || expression_digit(c);
}

int tesela__expression_peek(tesela__expression_reader *reader) {
  while (reader->at < reader->length) {
    char c = reader->text[reader->at];
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') return (unsigned char)c;
    reader->at++;
  }
  return -1;
}

bool tesela__expression_take(tesela__expression_reader *reader, char c) {
  if (tesela__expression_peek(reader) != (unsigned char)c) return false;
  reader->at++;
  return true;
}

size_t tesela__expression_name(const tesela__expression_reader *reader) {
  size_t n = 0;
  if (reader->at >= reader->length || expression_digit(reader->text[reader->at])) return 0;
  while (reader->at + n < reader->length && tesela__expression_name_byte(reader->text[reader->at + n])) n++;
  return n;
}

/* ---- what to say ---- */

tesela_status tesela__expression_unexpected(tesela__expression_reader *reader, const char *allowed,
                                            const tesela_expression_function *function) {
  char quoted[TESELA__XLA_QUOTE];
  tesela__xla_reader words = {.text = reader->text, .length = reader->length};
  int c = tesela__expression_peek(reader);
  if (c == '/') /* no comment */
    snprintf(quoted, sizeof quoted, "'/'");
  else
    tesela__xla_quote(&words, reader->at, quoted);
  if (!function)
    return tesela__fail(reader->err, TESELA_E_SYNTAX, (int64_t)reader->at, "found %s; %s may stand here",
                        quoted, allowed);
  return tesela__fail(reader->err, TESELA_E_SYNTAX, (int64_t)reader->at,
                      "found %s; %s may stand here: %s(%s)", quoted, allowed, function->name,
                      function->arguments);
}

const char *tesela__expression_nearest(const char *word, size_t length,
                                       const char *(*candidate)(const void *user, int32_t i),
                                       const void *user) {
  const char *best = NULL, *name;
  size_t best_distance = length < 4 ? 2 : 3; /* at most 2 edits, 1 for short names */
  if (length == 0 || length > TESELA__EXPRESSION_WORD) return NULL;
  for (int32_t i = 0; (name = candidate(user, i)) != NULL; i++) {
    size_t n = strcspn(name, ",= .");
    if (n > TESELA__EXPRESSION_WORD) continue;
    size_t d = tesela__edits(word, length, name, n);
    if (d < best_distance && d < n) {
      best = name;
      best_distance = d;
    }
  }
  return best;
}

/* ---- numbers ---- */

bool tesela__expression_number_next(tesela__expression_reader *reader) {
  int c = tesela__expression_peek(reader);
  if (c == '-') return reader->at + 1 < reader->length && expression_digit(reader->text[reader->at + 1]);
  return c >= 0 && expression_digit((char)c);
}

tesela_status tesela__expression_number(tesela__expression_reader *reader, int64_t *number) {
  if (!tesela__expression_number_next(reader))
    return tesela__expression_unexpected(reader, "a whole number", NULL);
  bool negative = reader->text[reader->at] == '-', fits = true;
  size_t at = reader->at + negative;
  int64_t value = 0;
  for (; at < reader->length && expression_digit(reader->text[at]); at++) {
    int64_t digit = reader->text[at] - '0';
    fits = fits && tesela__mul(value, 10, &value) && tesela__add(value, negative ? -digit : digit, &value);
  }
  if (at < reader->length && (tesela__expression_name_byte(reader->text[at]) || reader->text[at] == '.'))
    return tesela__expression_unexpected(reader, "a whole number", NULL);
  if (!fits)
    return tesela__fail(reader->err, TESELA_E_OVERFLOW, (int64_t)reader->at,
                        "a number of %zu digits; numbers are -9223372036854775808 to 9223372036854775807",
                        at - reader->at - negative);
  reader->at = at;
  *number = value;
  return TESELA_OK;
}
