/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute.c - lists of `key = value`: scanned by brackets, then each value by its type.
 */
#include "notation/triton/attribute.h"

static size_t attribute_trim(const char *text, size_t at, size_t end) {
  while (end > at &&
         (text[end - 1] == ' ' || text[end - 1] == '\t' || text[end - 1] == '\n' || text[end - 1] == '\r'))
    end--;
  return end;
}

/* Move to the comma or bracket that ends a value. */
static tesela_status attribute_skip(tesela__reader *r) {
  int64_t depth = 0;
  for (int c; (c = tesela__read_peek(r)) >= 0; r->at++) {
    if (depth == 0 && (c == ',' || c == ')' || c == ']' || c == '}' || c == '>')) return TESELA_OK;
    depth += c == '(' || c == '[' || c == '{' || c == '<';
    depth -= c == ')' || c == ']' || c == '}' || c == '>';
  }
  return TESELA_OK;
}

static tesela_status attribute_field(tesela__reader *r, tesela__attribute *out) {
  if (out->n == TESELA__ATTRIBUTE_FIELDS)
    return tesela__read_fail(r, TESELA_E_LIMIT, r->at, "more than %d values", TESELA__ATTRIBUTE_FIELDS);
  tesela__attribute_field *field = &out->field[out->n];
  size_t word = tesela__read_word(r), start = r->at;
  *field = (tesela__attribute_field){.name = r->at};
  r->at += word;
  if (word > 0 && tesela__read_take(r, '='))
    field->name_length = word;
  else
    r->at = start;
  if (tesela__read_peek(r) < 0 || strchr(",)]}>", r->text[r->at]))
    return tesela__read_unexpected(r, field->name_length ? "a value" : "a key", "");
  field->at = r->at;
  tesela_status status = attribute_skip(r);
  field->end = attribute_trim(r->text, field->at, r->at);
  for (int32_t i = 0; status == TESELA_OK && field->name_length > 0 && i < out->n; i++)
    if (out->field[i].name_length == field->name_length &&
        memcmp(r->text + out->field[i].name, r->text + field->name, field->name_length) == 0)
      return tesela__read_fail(r, TESELA_E_SYNTAX, field->name, "'%.*s' is given twice",
                               field->name_length < 40 ? (int)field->name_length : 40, r->text + field->name);
  out->n++;
  return status;
}

tesela_status tesela__attribute_read(tesela__reader *r, char close, tesela__attribute *out) {
  bool more = !tesela__read_take(r, close);
  while (more) {
    tesela_status status = attribute_field(r, out);
    if (status == TESELA_OK) status = tesela__read_more(r, close, true, &more);
    if (status != TESELA_OK) return status;
  }
  return TESELA_OK;
}

/* ---- values ---- */

/* After a value: nothing else may be in its place. */
static tesela_status attribute_done(tesela__reader *in, const tesela__attribute_field *field) {
  if (in->at == field->end) return TESELA_OK;
  return tesela__read_unexpected(in, "',' or the end of the list", "");
}

tesela_status tesela__attribute_integer(tesela__reader *in, const tesela__attribute_field *field,
                                        const char *name, int64_t most, int64_t *value) {
  in->at = field->at;
  tesela_status status = tesela__read_integer(in, name, 0, most, value);
  return status == TESELA_OK ? attribute_done(in, field) : status;
}

tesela_status tesela__attribute_bool(tesela__reader *in, const tesela__attribute_field *field, bool *value) {
  const char *text = in->text + field->at;
  size_t length = field->end - field->at;
  bool yes = tesela__same_word(text, length, "true") || tesela__same_word(text, length, "True") ||
             tesela__same_word(text, length, "1");
  bool no = tesela__same_word(text, length, "false") || tesela__same_word(text, length, "False") ||
            tesela__same_word(text, length, "0");
  in->at = field->at;
  if (!yes && !no) return tesela__read_unexpected(in, "true or false", "");
  in->at = field->end;
  *value = yes;
  return TESELA_OK;
}

/* The bracket that a list begins with. */
static char attribute_open(tesela__reader *in) { return tesela__read_peek(in) == '(' ? '(' : '['; }

tesela_status tesela__attribute_list(tesela__reader *in, const tesela__attribute_field *field,
                                     const char *name, int32_t most, int64_t *list, int32_t *n) {
  in->at = field->at;
  tesela_status status =
      tesela__read_integers(in, attribute_open(in), true, name, TESELA_E_RANGE, most, list, n);
  for (int32_t i = 0; status == TESELA_OK && i < *n; i++)
    if (list[i] < 0)
      status = tesela__read_fail(in, TESELA_E_RANGE, field->at,
                                 "%s[%" PRId32 "] is %" PRId64 "; expected 0 or more", name, i, list[i]);
  return status == TESELA_OK ? attribute_done(in, field) : status;
}

tesela_status tesela__attribute_rows(tesela__reader *in, const tesela__attribute_field *field,
                                     const char *name, int32_t most, int32_t room, int64_t *list, int32_t *n,
                                     int32_t *width) {
  in->at = field->at;
  char open = attribute_open(in), close = open == '(' ? ')' : ']';
  int32_t rows = 0;
  if (room > 64) room = 64;
  tesela_status status = tesela__read_expect(in, open, "");
  bool more = status == TESELA_OK && !tesela__read_take(in, close);
  while (status == TESELA_OK && more) {
    int32_t length = 0;
    int64_t row[64];
    size_t start = (tesela__read_peek(in), in->at);
    if (rows == most)
      return tesela__read_fail(in, TESELA_E_LIMIT, start, "%s has more than %" PRId32 " bases", name, most);
    status = tesela__read_integers(in, attribute_open(in), true, name, TESELA_E_RANGE, room, row, &length);
    for (int32_t i = 0; status == TESELA_OK && i < length; i++)
      if (row[i] < 0 || row[i] > INT32_MAX)
        status = tesela__read_fail(in, TESELA_E_RANGE, start, "a basis has %" PRId64 "; expected 0 to %d",
                                   row[i], INT32_MAX);
    if (status == TESELA_OK && length != (*width != 0 ? *width : tesela__max(length, 1)))
      status = tesela__read_fail(in, TESELA_E_INVALID, start,
                                 "a basis of %s has %" PRId32 " number%s; expected %" PRId32, name, length,
                                 length == 1 ? "" : "s", *width != 0 ? *width : 1);
    if (status != TESELA_OK) return status;
    *width = length;
    for (int32_t i = 0; i < length; i++) list[rows * room + i] = row[i];
    rows++;
    status = tesela__read_more(in, close, true, &more);
  }
  *n = rows;
  return status == TESELA_OK ? attribute_done(in, field) : status;
}
