/* SPDX-License-Identifier: Apache-2.0 */
#include "json_long.h"

#include <string.h>

#include "json_plain.h"

/* Not printable ASCII, so no part of a string that is taken out. */
static const char MARK = '\x7f';

/* Is the string that ends before `at` the name of a member? */
static bool is_name(const char *text, size_t length, size_t at) {
  while (at < length && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r')) at++;
  return at < length && text[at] == ':';
}

int json_find_long(const char *text, size_t length, json_stretch found[JSON_MOST_LONG]) {
  int n = 0;
  if (length < JSON_LONG || memchr(text, MARK, length) || memchr(text, '\\', length)) return 0;
  for (size_t at = 0; n < JSON_MOST_LONG;) {
    const char *open = memchr(text + at, '"', length - at);
    if (!open) break;
    const size_t begin = (size_t)(open - text) + 1;
    const size_t plain = json_plain(text + begin, length - begin);
    const char *close = memchr(text + begin + plain, '"', length - begin - plain);
    if (!close) break;
    at = (size_t)(close - text) + 1;
    if (plain >= JSON_LONG && begin + plain == at - 1 && !is_name(text, length, at))
      found[n++] = (json_stretch){begin, plain};
  }
  return n;
}

size_t json_cut_long(const char *text, size_t length, int n, const json_stretch *found, char *shorter) {
  size_t from = 0, to = 0;
  for (int i = 0; i < n; i++) {
    memcpy(shorter + to, text + from, found[i].begin - from);
    to += found[i].begin - from;
    shorter[to++] = MARK;
    shorter[to++] = (char)('0' + i);
    from = found[i].begin + found[i].length;
  }
  memcpy(shorter + to, text + from, length - from);
  return to + length - from;
}

int json_long_of(const char *value, size_t length) {
  return length == 2 && value[0] == MARK ? value[1] - '0' : -1;
}
