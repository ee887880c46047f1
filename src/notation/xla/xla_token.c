/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla_token.c - tokens of XLA text, read with base/reader.h: numbers of fields, types, lists that may be repaired.
 */
#include <stdarg.h>
#include <stdio.h>

#include "layout/dtype.h"
#include "notation/xla/xla_read.h"

tesela_status tesela__xla_unexpected(tesela__xla_reader *reader, const char *expected) {
  bool brace = reader->place == TESELA__XLA_AFTER_MEMBER && tesela__read_peek(&reader->in) == '{';
  return tesela__read_unexpected(&reader->in, expected,
                                 brace ? "; a layout is {1,0} or {1,0:...}, and {} is left out" : "");
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

tesela_status tesela__xla_number(tesela__xla_reader *reader, tesela__xla_field field, int32_t index,
                                 int64_t *value) {
  int64_t n;
  size_t at;
  tesela__read_peek(&reader->in);
  tesela__xla_mark(reader, field, index);
  if (tesela__read_scan(&reader->in, &at, &n) <= 0)
    return tesela__read_any_integer(&reader->in, tesela__xla_expected(field), TESELA_E_RANGE, &n);
  tesela_status status = tesela__xla_check_number(field, n, (int64_t)reader->in.at, reader->in.err);
  if (status != TESELA_OK) return status;
  reader->in.at = at;
  *value = n;
  return TESELA_OK;
}

tesela_status tesela__xla_unknown_type(tesela__reader *in, size_t length) {
  const char *near = tesela_dtype_suggest(in->text + in->at, length);
  return tesela__read_unknown(in, TESELA_E_SYNTAX, in->at, length, "element type", "", near, NULL);
}

tesela_status tesela__xla_type(tesela__xla_reader *reader, tesela_dtype *dtype) {
  size_t length = tesela__read_word(&reader->in);
  if (length == 0)
    return tesela__read_unexpected(&reader->in,
                                   tesela__read_peek(&reader->in) == '{'
                                       ? "type and dims before the layout, such as f32[3,5]{1,0}"
                                       : "an element type, such as f32",
                                   "");
  const char *word = reader->in.text + reader->in.at;
  *dtype = tesela_dtype_find(word, length);
  if (*dtype == TESELA_DTYPE_NONE && reader->lenient) {
    *dtype = tesela__dtype_alias(word, length);
    if (*dtype != TESELA_DTYPE_NONE)
      tesela__xla_repair(reader, reader->in.at, "type %.*s read as %s", (int)length, word,
                         tesela_dtype_name(*dtype));
  }
  if (*dtype == TESELA_DTYPE_NONE) return tesela__xla_unknown_type(&reader->in, length);
  reader->in.at += length;
  return TESELA_OK;
}

/* Does `close` come next? Lenient: a '}' counts as a missing ')'. */
static bool xla_closes(tesela__xla_reader *reader, char close) {
  if (tesela__read_take(&reader->in, close)) return true;
  if (!reader->lenient || close != ')' || tesela__read_peek(&reader->in) != '}') return false;
  tesela__xla_repair(reader, reader->in.at, "missing ')' before '}' added");
  return true;
}

tesela_status tesela__xla_close(tesela__xla_reader *reader, char close) {
  return xla_closes(reader, close) ? TESELA_OK : tesela__read_expect(&reader->in, close, "");
}

tesela_status tesela__xla_more(tesela__xla_reader *reader, char close, bool *more) {
  *more = false;
  if (xla_closes(reader, close)) return TESELA_OK;
  size_t comma = reader->in.at, sign = reader->lenient ? tesela__read_lookalike(&reader->in, ',') : 0;
  if (sign > 0) {
    tesela__xla_repair(reader, comma, "'%.*s' read as ','", (int)sign, reader->in.text + comma);
    reader->in.at += sign;
  } else if (!tesela__read_take(&reader->in, ',')) {
    return tesela__read_more(&reader->in, close, false, more); /* reports the error */
  } else if (reader->lenient && xla_closes(reader, close)) {
    tesela__xla_repair(reader, comma, "',' before the end of a list left out");
    return TESELA_OK;
  }
  *more = true;
  return TESELA_OK;
}
