/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cute_tuple_text.c - coordinates of CuTe layouts, (1,(2,_)), and tilers, <4:1, _>: read, printed.
 */
#include "base/reader.h"
#include "cute/cute_value.h"

tesela_status tesela_cute_tuple_parse(tesela_cute_tuple *out, const char *text, size_t length,
                                      tesela_error *err) {
  TESELA__NEED(err, out);
  TESELA__NEED_LIST(err, text, length);
  tesela__reader r = {.text = text,
                      .length = length,
                      .err = err,
                      .blanks = TESELA__BLANKS_TEXT,
                      .word = TESELA__BYTE_NAME,
                      .glue = TESELA__BYTE_LETTER};
  tesela_cute_tuple t;
  int32_t depth = 0;
  tesela_status status = TESELA_OK;
  memset(&t, 0, sizeof t);
  do {
    if (t.n == TESELA_CUTE_LEAVES)
      return tesela__read_fail(&r, TESELA_E_LIMIT, r.at, "more than %d numbers", TESELA_CUTE_LEAVES);
    for (; tesela__read_take(&r, '('); depth++) {
      if (depth == TESELA_CUTE_LEAVES)
        return tesela__read_fail(&r, TESELA_E_LIMIT, r.at, "more than %d open brackets", TESELA_CUTE_LEAVES);
      t.open[t.n]++;
    }
    if (tesela__read_take_text(&r, "_") || tesela__read_take_text(&r, "None"))
      t.any |= (uint64_t)1 << t.n;
    else
      status = tesela__read_any_integer(&r, "an integer or '_'", TESELA_E_OVERFLOW, &t.value[t.n]);
    if (status != TESELA_OK) return status;
    bool comma = depth > 0 && tesela__read_take(&r, ',');
    while (depth > 0 && tesela__read_take(&r, ')')) { /* (4,) has one number */
      t.close[t.n]++;
      depth--;
      comma = depth > 0 && tesela__read_take(&r, ',');
    }
    t.n++;
    if (depth > 0 && !comma) return tesela__read_unexpected(&r, "',' or ')'", "");
  } while (depth > 0);
  if (tesela__read_peek(&r) >= 0) return tesela__read_unexpected(&r, "the end of the coordinate", "");
  *out = t;
  return TESELA_OK;
}

tesela_status tesela_cute_tuple_print(const tesela_cute_tuple *tuple, const tesela_writer *to,
                                      tesela_error *err) {
  TESELA__NEED(err, tuple, to);
  tesela__sink sink;
  if (tesela__cute_check_tuple(tuple, err) != TESELA_OK) return TESELA_E_INVALID;
  tesela__sink_init(&sink, to);
  for (int32_t i = 0; i < tuple->n; i++) {
    if (i > 0) tesela__putc(&sink, ',');
    for (int32_t k = 0; k < tuple->open[i]; k++) tesela__putc(&sink, '(');
    if (tuple->any >> i & 1)
      tesela__putc(&sink, '_');
    else
      tesela__put_int(&sink, tuple->value[i]);
    for (int32_t k = 0; k < tuple->close[i]; k++) tesela__putc(&sink, ')');
  }
  return tesela__sink_finish(&sink, err);
}

/* The end of the item that begins at `at`: a comma or closing bracket outside of brackets, or the end. */
static size_t cute_item_end(const char *text, size_t length, size_t at, char close) {
  int32_t depth = 0;
  for (; at < length; at++) {
    const char c = text[at];
    if (depth == 0 && (c == ',' || c == ';' || c == close)) break;
    if (c == '(' || c == '<' || c == '[' || c == '{') depth++;
    if (c == ')' || c == '>' || c == ']' || c == '}') depth--;
  }
  return at;
}

tesela_status tesela_cute_tiler_parse(tesela_cute_tiler *out, const char *text, size_t length,
                                      tesela_error *err) {
  TESELA__NEED(err, out);
  TESELA__NEED_LIST(err, text, length);
  tesela__reader r = {
      .text = text, .length = length, .err = err, .blanks = TESELA__BLANKS_TEXT, .word = TESELA__BYTE_NAME};
  const char close = tesela__read_take(&r, '<') ? '>' : tesela__read_take(&r, '[') ? ']' : '\0';
  out->by_mode = close != '\0';
  out->n = 0;
  out->keep = 0;
  if (!close) {
    out->n = 1;
    return tesela_cute_parse(&out->mode[0], text, length, err);
  }
  for (;;) {
    if (out->n == TESELA_CUTE_TILE)
      return tesela__read_fail(&r, TESELA_E_LIMIT, r.at, "more than %d modes in a tiler", TESELA_CUTE_TILE);
    (void)tesela__read_peek(&r);
    const size_t end = cute_item_end(text, length, r.at, close);
    size_t used = end;
    while (used > r.at && (text[used - 1] == ' ' || text[used - 1] == '\n' || text[used - 1] == '\t')) used--;
    if ((used == r.at + 1 && text[r.at] == '_') ||
        (used == r.at + 4 && memcmp(text + r.at, "None", 4) == 0)) {
      out->keep |= (uint32_t)1 << out->n;
    } else {
      tesela_status status = tesela_cute_parse(&out->mode[out->n], text + r.at, used - r.at, err);
      if (status != TESELA_OK && err && err->at >= 0) err->at += (int64_t)r.at;
      if (status != TESELA_OK) return status;
    }
    out->n++;
    r.at = end;
    if (tesela__read_take(&r, close)) break;
    if (!tesela__read_take(&r, ',') && !tesela__read_take(&r, ';'))
      return tesela__read_unexpected(&r, close == '>' ? "',' or '>'" : "';' or ']'", "");
  }
  return tesela__read_peek(&r) >= 0 ? tesela__read_unexpected(&r, "the end of the tiler", "") : TESELA_OK;
}
