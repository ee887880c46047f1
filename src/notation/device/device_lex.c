/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_lex.c - the small pieces of texts of device layouts: names, numbers, lists.
 *
 * Blanks and comments may stand between any two pieces, so `dim_map =[1, 0, 1]` and `dim_map=[1,0,1]` are the same.
 */
#include <stdio.h>

#include "notation/device/device_read.h"

/* ---- names ---- */

void tesela__device_hint(const char *word, size_t length, int32_t n, const char *(*name)(int32_t i),
                         char hint[TESELA__DEVICE_HINT]) {
  const char *best = NULL;
  size_t least = length < 4 ? 2 : 3; /* at most 2 edits, 1 for short words */
  hint[0] = '\0';
  for (int32_t i = 0; i < n; i++) {
    const char *candidate = name(i);
    if (!candidate) continue;
    size_t edits = tesela__edits(word, length, candidate, strlen(candidate));
    if (edits >= least || edits >= strlen(candidate)) continue;
    best = candidate;
    least = edits;
  }
  if (best) snprintf(hint, TESELA__DEVICE_HINT, "; did you mean %s?", best);
}

tesela_status tesela__device_unknown(tesela__xla_reader *in, const char *what, size_t skip, size_t length,
                                     int32_t n, const char *(*name)(int32_t i), const char *allowed) {
  char hint[TESELA__DEVICE_HINT], quoted[TESELA__XLA_QUOTE];
  size_t at = in->at + skip;
  tesela__device_hint(in->text + at, length - skip, n, name, hint);
  tesela__xla_quote(in, at, quoted);
  return tesela__fail(in->err, TESELA_E_SYNTAX, (int64_t)at, "unknown %s %s%s%s", what, quoted,
                      hint[0] ? hint : "; possible: ", hint[0] ? "" : allowed);
}

/* ---- numbers and lists ---- */

tesela_status tesela__device_number(tesela__xla_reader *in, const char *what, int64_t *number) {
  bool negative = tesela__xla_peek(in) == '-', fits = true;
  size_t at = in->at + negative, first = at;
  int64_t value = 0;
  for (; at < in->length && in->text[at] >= '0' && in->text[at] <= '9'; at++) {
    int64_t digit = in->text[at] - '0';
    fits = fits && tesela__mul(value, 10, &value) && tesela__add(value, negative ? -digit : digit, &value);
  }
  if (at == first || tesela__xla_lump(in, at) > 0) return tesela__xla_unexpected(in, what, "");
  if (!fits)
    return tesela__fail(
        in->err, TESELA_E_RANGE, (int64_t)in->at,
        "a number of %zu digits for %s; numbers are -9223372036854775808 to 9223372036854775807", at - first,
        what);
  in->at = at;
  *number = value;
  return TESELA_OK;
}

tesela_status tesela__device_numbers(tesela__xla_reader *in, char open, const char *what, int32_t most,
                                     tesela__device_list *list) {
  char close = open == '[' ? ']' : ')';
  bool more = true;
  list->n = 0;
  if (!tesela__xla_take(in, open)) return tesela__xla_unexpected(in, what, "");
  if (tesela__xla_take(in, close)) return TESELA_OK;
  while (more) {
    if (open == '(' && list->n > 0 && tesela__xla_take(in, close)) return TESELA_OK; /* (64,) */
    if (tesela__xla_peek(in) >= 0 && list->n == most)
      return tesela__fail(in->err, TESELA_E_LIMIT, (int64_t)in->at, "more than %" PRId32 " numbers; %s", most,
                          what);
    tesela_status status = tesela__device_number(in, "a whole number", &list->number[list->n]);
    if (status == TESELA_OK) status = tesela__xla_more(in, close, &more);
    if (status != TESELA_OK) return status;
    list->n++;
  }
  return TESELA_OK;
}
