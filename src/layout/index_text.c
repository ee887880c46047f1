/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_text.c - texts that name an element or a place: "2,3", "[2,3]", "17", "5:3".
 */
#include <stdio.h>

#include <tesela/layout.h>

#include "base/reader.h"

static tesela__reader index_reader(const char *text, size_t length, tesela_error *err) {
  return (tesela__reader){text, length, 0, err, .blanks = TESELA__BLANKS_TEXT, .word = TESELA__BYTE_NAME};
}

/* An integer from 0 to count-1. */
static tesela_status index_number(tesela__reader *r, const char *name, int64_t count, int64_t *number) {
  char expected[64];
  if (tesela__read_integer_next(r)) return tesela__read_integer(r, name, 0, count - 1, number);
  snprintf(expected, sizeof expected, "an integer for %s", name);
  return tesela__read_unexpected(r, expected, "");
}

static tesela_status index_end(tesela__reader *r) {
  return tesela__read_peek(r) < 0 ? TESELA_OK : tesela__read_unexpected(r, "the end of the text", "");
}

tesela_status tesela_numbers_parse(const char *text, size_t length, int32_t n, const char *const *names,
                                   const int64_t *counts, char separator, int64_t *numbers,
                                   tesela_error *err) {
  TESELA__NEED(err, names, counts, numbers);
  TESELA__NEED_LIST(err, text, length);
  tesela__reader r = index_reader(text, length, err);
  for (int32_t k = 0; k < n; k++) {
    char after[64];
    snprintf(after, sizeof after, "and the %s", names[k]);
    tesela_status status = k == 0 ? TESELA_OK : tesela__read_expect(&r, separator, after);
    if (status == TESELA_OK) status = index_number(&r, names[k], counts[k], &numbers[k]);
    if (status != TESELA_OK) return status;
  }
  return index_end(&r);
}

tesela_status tesela_index_parse(const char *text, size_t length, int32_t rank, const int64_t *shape,
                                 int64_t *index, tesela_error *err) {
  TESELA__NEED_LIST(err, text, length);
  TESELA__NEED_LIST(err, shape, rank);
  TESELA__NEED_LIST(err, index, rank);
  tesela__reader r = index_reader(text, length, err);
  int open = tesela__read_peek(&r);
  char close = open == '[' ? ']' : open == '(' ? ')' : '\0';
  r.at += close != '\0';
  for (int32_t d = 0; d < rank; d++) {
    char name[24];
    snprintf(name, sizeof name, "index[%" PRId32 "]", d);
    if (d > 0 && !tesela__read_take(&r, ','))
      return tesela__fail(err, TESELA_E_INVALID, (int64_t)r.at,
                          "expected a comma after %" PRId32 " coordinate%s; the rank is %" PRId32, d,
                          d == 1 ? "" : "s", rank);
    tesela_status status = index_number(&r, name, shape[d], &index[d]);
    if (status != TESELA_OK) return status;
  }
  if (tesela__read_peek(&r) == ',' && rank > 0)
    return tesela__fail(err, TESELA_E_INVALID, (int64_t)r.at,
                        "more than %" PRId32 " coordinates; the rank is %" PRId32, rank, rank);
  if (close != '\0') {
    tesela_status status = tesela__read_expect(&r, close, "");
    if (status != TESELA_OK) return status;
  }
  if (rank == 0 && tesela__read_peek(&r) >= 0)
    return tesela__read_unexpected(&r, "[], the only index of rank 0", "");
  return index_end(&r);
}
