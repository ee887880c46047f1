/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target_lex.c - the small pieces of target files, and what errors about them say.
 */
#include <stdarg.h>
#include <stdio.h>

#include "notation/device/device_read.h"
#include "notation/target/target_text.h"

static bool target_word_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

bool tesela__target_name_byte(char c) { return target_word_byte(c) || c == '-'; }

void tesela__target_blanks(tesela__target_reader *r) {
  while (r->at < r->end && (r->text[r->at] == ' ' || r->text[r->at] == '\t')) r->at++;
}

size_t tesela__target_word(tesela__target_reader *r) {
  size_t n = 0;
  tesela__target_blanks(r);
  while (r->at + n < r->end && target_word_byte(r->text[r->at + n])) n++;
  return n;
}

bool tesela__target_take(tesela__target_reader *r, const char *text) {
  size_t n = strlen(text);
  tesela__target_blanks(r);
  if (r->end - r->at < n || memcmp(r->text + r->at, text, n) != 0) return false;
  if (target_word_byte(text[n - 1]) && r->at + n < r->end && target_word_byte(r->text[r->at + n]))
    return false;
  r->at += n;
  return true;
}

tesela_status tesela__target_fail(tesela__target_reader *r, tesela_status status, size_t at,
                                  const char *format, ...) {
  char message[sizeof r->err->message];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  return tesela__fail(r->err, status, (int64_t)at, "line %" PRId64 ": %s", r->line, message);
}

tesela_status tesela__target_unexpected(tesela__target_reader *r, const char *expected) {
  char quoted[TESELA__XLA_QUOTE];
  tesela__target_blanks(r);
  if (r->at >= r->end)
    return tesela__target_fail(r, TESELA_E_SYNTAX, r->at, "found the end of the line; expected %s", expected);
  const tesela__xla_reader words = {.text = r->text, .length = r->end};
  tesela__xla_quote(&words, r->at, quoted);
  return tesela__target_fail(r, TESELA_E_SYNTAX, r->at, "found %s; expected %s", quoted, expected);
}

tesela_status tesela__target_number(tesela__target_reader *r, const char *what, int64_t least, int64_t most,
                                    int64_t *number) {
  int64_t value = 0;
  bool fits = true;
  tesela__target_blanks(r);
  bool negative = r->at < r->end && r->text[r->at] == '-';
  size_t first = r->at + negative, at = first;
  for (; at < r->end && r->text[at] >= '0' && r->text[at] <= '9'; at++)
    fits = fits && tesela__mul(value, 10, &value) && tesela__add(value, r->text[at] - '0', &value);
  if (at == first || (at < r->end && target_word_byte(r->text[at]) && r->text[at] != 'x'))
    return tesela__target_unexpected(r, what);
  if (!fits || (negative ? -value : value) < least || value > most)
    return tesela__target_fail(r, TESELA_E_RANGE, r->at,
                               "%.*s for %s; %" PRId64 " to %" PRId64 " are possible",
                               at - r->at < 24 ? (int)(at - r->at) : 24, r->text + r->at, what, least, most);
  r->at = at;
  *number = negative ? -value : value;
  return TESELA_OK;
}

tesela_status tesela__target_unknown(tesela__target_reader *r, const char *what, size_t length,
                                     const char *(*name)(int32_t i)) {
  char hint[TESELA__DEVICE_HINT], quoted[TESELA__XLA_QUOTE];
  int32_t n = 0;
  while (name(n)) n++;
  const tesela__xla_reader words = {.text = r->text, .length = r->at + length};
  tesela__xla_quote(&words, r->at, quoted);
  tesela__device_hint(r->text + r->at, length, n, name, hint);
  if (hint[0]) return tesela__target_fail(r, TESELA_E_SYNTAX, r->at, "unknown %s %s%s", what, quoted, hint);
  char list[160] = "";
  size_t used = 0;
  for (int32_t i = 0; i < n && used + 24 < sizeof list; i++)
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", name(i));
  return tesela__target_fail(r, TESELA_E_SYNTAX, r->at, "unknown %s %s; possible: %s%s", what, quoted, list,
                             used + 24 >= sizeof list ? ", ..." : "");
}
