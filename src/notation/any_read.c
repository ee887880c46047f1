/* SPDX-License-Identifier: Apache-2.0 */
/*
 * any_read.c - finds the notation of a text, and reads it by the row of that notation.
 *
 *   " device: f16[8] stick()"   ->   blanks, the name of a kind or a notation, the text
 *   "f32[3,5] Layout(..)"       ->   the array, for notations that need one, the text
 */
#include "notation/any.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/reader.h"
#include "notation/device/device_read.h"

/* ---- the request -------------------------------------------------------------------------------------------- */

/* A kind or a notation, requested by its name. */
typedef struct any_wanted {
  const char *name; /* NULL: no request */
  const char *words;
  tesela_kind kind; /* 0: any */
  const tesela__notation_row *row;
} any_wanted;

static bool any_is_word(const char *word, const char *text, size_t length) {
  return strlen(word) == length && memcmp(word, text, length) == 0;
}

static tesela_status any_find_wanted(const char *name, size_t length, int64_t at, any_wanted *wanted,
                                     tesela_error *err) {
  char names[TESELA__NOTATION_NAMES];
  const char *word;
  int32_t n_rows;
  const tesela__notation_row *rows = tesela__notation_rows(&n_rows);
  for (int k = 1; (word = tesela_kind_name((tesela_kind)k)); k++)
    if (any_is_word(word, name, length)) {
      *wanted = (any_wanted){word, tesela_kind_words((tesela_kind)k), (tesela_kind)k, NULL};
      return TESELA_OK;
    }
  for (int32_t i = 0; i < n_rows; i++)
    if (any_is_word(rows[i].facts.name, name, length)) {
      *wanted = (any_wanted){rows[i].facts.name, rows[i].facts.words, (tesela_kind)0, &rows[i]};
      return TESELA_OK;
    }
  const char *near = tesela_nearest(name, length, tesela__notation_name, NULL);
  tesela__notation_names(false, names, sizeof names);
  return tesela__fail(err, TESELA_E_UNSUPPORTED, at, "unknown notation '%.*s'; %s%s%s",
                      length < 40 ? (int)length : 40, name, near ? "did you mean " : "expected ",
                      near ? near : names, near ? "?" : ", shared or global");
}

static bool any_allows(const any_wanted *wanted, const tesela__notation_row *row) {
  if (wanted->row) return row == wanted->row;
  return wanted->kind == 0 || (row->facts.kinds >> wanted->kind & 1) != 0;
}

/* ---- the notation of a text --------------------------------------------------------------------------------- */

/* A text and its parts. */
typedef struct any_text {
  const char *text; /* without leading blanks, after an optional `name:` */
  size_t length, used;
  size_t trimmed; /* length without trailing blanks */
  size_t at;      /* offset in the whole text */
  size_t array;   /* bytes of an array before the layout */
  any_wanted named, demanded;
} any_text;

static bool any_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static tesela_status any_split(const char *text, size_t length, const char *demanded, any_text *t,
                               tesela_error *err) {
  size_t at = 0, n = 0;
  tesela_status status = TESELA_OK;
  *t = (any_text){.text = text, .length = length};
  if (demanded) status = any_find_wanted(demanded, strlen(demanded), -1, &t->demanded, err);
  if (status != TESELA_OK) return status;
  while (at < length && any_blank(text[at])) at++;
  while (at + n < length && ((text[at + n] >= 'a' && text[at + n] <= 'z') || text[at + n] == '_')) n++;
  if (n > 0 && at + n < length && text[at + n] == ':') {
    bool tensor = tesela__looks_verbose(text + at, length - at); /* src:f32::blocked:abcd::f0 */
    status = any_find_wanted(text + at, n, (int64_t)at, &t->named, tensor ? NULL : err);
    if (status == TESELA_OK || !tensor) t->used = at + n + 1;
    if (tensor) status = TESELA_OK;
    for (at = t->used > at ? t->used : at; at < length && any_blank(text[at]);) at++;
  }
  t->text = text + at;
  t->at = at;
  t->length = t->trimmed = length - at;
  while (t->trimmed > 0 && any_blank(t->text[t->trimmed - 1])) t->trimmed--;
  t->array = tesela__array_before(t->text, t->trimmed);
  return status;
}

static size_t any_array_before(const tesela__notation_row *row, const any_text *t) {
  return row->facts.needs & (TESELA_NEEDS_ARRAY | TESELA_TAKES_ARRAY) ? t->array : 0;
}

static bool any_claims(const tesela__notation_row *row, const any_text *t) {
  size_t skip = any_array_before(row, t);
  return row->looks_like(t->text + skip, t->trimmed - skip);
}

static tesela_status any_find_row(const any_text *t, const tesela__notation_row **row, tesela_error *err) {
  const tesela__notation_row *claim[2] = {NULL, NULL}, *other = NULL, *allowed = NULL;
  int32_t n = 0, n_rows;
  const tesela__notation_row *rows = tesela__notation_rows(&n_rows);
  for (int32_t i = n_rows - 1; i >= 0; i--) { /* backwards: `other` and `allowed` end as the first */
    bool may = any_allows(&t->named, &rows[i]) && any_allows(&t->demanded, &rows[i]);
    if (may) allowed = &rows[i];
    if (!any_claims(&rows[i], t)) continue;
    if (!may) other = &rows[i];
    if (may && n < 2) claim[n++] = &rows[i];
  }
  if (n == 2)
    return tesela__fail(err, TESELA_E_INVALID, (int64_t)t->at,
                        "ambiguous: %s or %s; write %s: or %s: before it", claim[1]->facts.words,
                        claim[0]->facts.words, claim[1]->facts.name, claim[0]->facts.name);
  if (n == 1)
    *row = claim[0];
  else if (other)
    *row = other;
  else if (allowed && (t->named.name || t->demanded.name))
    *row = allowed;
  else
    *row = tesela__notation_row_of(tesela__device_near(t->text, t->trimmed)       ? "device"
                                   : tesela__near_expression(t->text, t->trimmed) ? "register"
                                                                                  : "xla");
  return TESELA_OK;
}

tesela_status tesela_notation_find(const char *text, size_t length, const tesela_notation **notation,
                                   size_t *used, tesela_error *err) {
  TESELA__NEED(err, notation);
  TESELA__NEED_LIST(err, text, length);
  any_text t;
  const tesela__notation_row *row;
  tesela_status status = any_split(text, length, NULL, &t, err);
  if (status == TESELA_OK) status = any_find_row(&t, &row, err);
  if (status != TESELA_OK) return status;
  *notation = &row->facts;
  if (used) *used = t.used;
  return TESELA_OK;
}

/* ---- reading ------------------------------------------------------------------------------------------------ */

/* Shift positions found in a part of a text, so that they count from the start of the whole text. */
static tesela_status any_shift(tesela_status status, size_t by, tesela_xla_repairs *repairs,
                               tesela_error *err) {
  if (status != TESELA_OK && err && err->at >= 0) err->at += (int64_t)by;
  for (int32_t i = 0; status == TESELA_OK && i < repairs->count && i < TESELA_XLA_MAX_REPAIRS; i++)
    repairs->repair[i].at += (int64_t)by;
  return status;
}

/* Can a layout of this row satisfy the request? A device layout may become an XLA layout, both a tile in memory, a relation any of the
 * other kinds. */
static bool any_can_be(const any_wanted *wanted, const tesela__notation_row *row) {
  const bool device = row->facts.kinds == TESELA__KIND(TESELA_KIND_DEVICE);
  const bool memory = device || row->facts.kinds == TESELA__KIND(TESELA_KIND_XLA);
  return any_allows(wanted, row) || row->facts.kinds == TESELA__KIND(TESELA_KIND_RELATION) ||
         (wanted->kind == TESELA_KIND_XLA && device) ||
         ((wanted->kind == TESELA_KIND_SHARED || wanted->kind == TESELA_KIND_GLOBAL) && memory);
}

static tesela_status any_refuse(const any_text *t, const any_wanted *wanted, const char *words,
                                tesela_error *err) {
  if (wanted == &t->named)
    return tesela__fail(err, TESELA_E_MISMATCH, (int64_t)t->at, "this is %s, but %s: expects %s", words,
                        wanted->name, wanted->words);
  return tesela__fail(err, TESELA_E_MISMATCH, (int64_t)t->at, "expected %s, found %s", wanted->words, words);
}

static tesela_status any_check_row(const any_text *t, const tesela__notation_row *row, bool array,
                                   tesela_error *err) {
  const any_wanted *wanted[] = {&t->named, &t->demanded};
  if (!row->read) {
    char names[TESELA__NOTATION_NAMES];
    tesela__notation_names(false, names, sizeof names);
    return tesela__fail(err, TESELA_E_UNSUPPORTED, (int64_t)t->at,
                        "this is %s (%s), which tesela does not read yet; it reads %s", row->facts.words,
                        row->facts.name, names);
  }
  for (int i = 0; i < 2; i++)
    if (!any_can_be(wanted[i], row)) return any_refuse(t, wanted[i], row->facts.words, err);
  if (!array && (row->facts.needs & (TESELA_NEEDS_ARRAY | TESELA_TAKES_ARRAY)) == TESELA_NEEDS_ARRAY)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, (int64_t)t->at, "%s needs type and dims before it: %s",
                        row->facts.words, row->facts.example);
  return TESELA_OK;
}

/* Convert the layout to the requested kind, or refuse it. */
static tesela_status any_check_kind(const any_text *t, tesela_any_layout *any, tesela_error *err) {
  const any_wanted *wanted[] = {&t->named, &t->demanded};
  for (int i = 0; i < 2; i++) {
    if (wanted[i]->kind == 0 || wanted[i]->kind == any->kind) continue;
    if (!tesela__any_may_become(any, wanted[i]->kind))
      return any_refuse(t, wanted[i], tesela_kind_words(any->kind), err);
    tesela_status status = tesela__any_become(any, wanted[i]->kind, err);
    if (status != TESELA_OK && err && err->at < 0) err->at = (int64_t)t->at;
    if (status != TESELA_OK) return status;
    any->notation = &tesela__notation_row_of(any->kind == TESELA_KIND_XLA ? "xla" : "register")->facts;
  }
  return TESELA_OK;
}

/* The bytes of a value that its kind uses: the head and one member. */
static size_t any_bytes(const tesela_any_layout *any) {
  size_t bytes = 0;
  switch (any->kind) {
  case TESELA_KIND_XLA:
    bytes = sizeof any->shape;
    break;
  case TESELA_KIND_REGISTER:
    bytes = sizeof any->registers;
    break;
  case TESELA_KIND_SHARED:
  case TESELA_KIND_GLOBAL:
    bytes = sizeof any->memory;
    break;
  case TESELA_KIND_DEVICE:
    bytes = sizeof any->device;
    break;
  case TESELA_KIND_RELATION:
    bytes = sizeof any->relation;
    break;
  }
  return offsetof(tesela_any_layout, shape) + bytes;
}

/* "f32[3,5]", or "[3,5]" without a type. */
static tesela_status any_read_array(const char *text, size_t length, int32_t flags, tesela_xla_shape *array,
                                    tesela_xla_repairs *repairs, tesela_error *err) {
  tesela__reader r = {.text = text, .length = length, .err = err};
  if (text[0] != '[') return tesela_xla_parse(text, length, flags, array, repairs, err);
  *array = (tesela_xla_shape){.dtype = TESELA_DTYPE_NONE};
  tesela_status status = tesela__read_integers(&r, '[', false, "an extent", TESELA_E_OVERFLOW,
                                               TESELA_MAX_RANK, array->dim, &array->rank);
  for (int32_t d = 0; status == TESELA_OK && d < array->rank; d++)
    if (array->dim[d] < 0) status = tesela__fail(err, TESELA_E_RANGE, 0, "an extent is below 0");
  return status;
}

tesela_status tesela_layout_read(const char *text, size_t length, const tesela_layout_read_options *options,
                                 tesela_any_layout *out, tesela_error *err) {
  TESELA__NEED(err, out);
  TESELA__NEED_LIST(err, text, length);
  TESELA__NEED_CLEAR(err, options);
  tesela_layout_read_options given =
      options ? *options : (tesela_layout_read_options){.flags = TESELA_XLA_STRICT};
  const tesela__notation_row *row = NULL;
  tesela_any_layout any; /* *out keeps its value on failure */
  tesela_xla_shape array;
  any_text t;
  any.repairs.count = 0;
  tesela_status status = any_split(text, length, given.notation, &t, err);
  if (status == TESELA_OK) status = any_find_row(&t, &row, err);
  if (status != TESELA_OK) return status;
  size_t skip = any_array_before(row, &t);
  status = any_check_row(&t, row, given.array || skip > 0, err);
  if (status == TESELA_OK && skip > 0) {
    status = any_shift(any_read_array(t.text, skip, given.flags, &array, &any.repairs, err), t.at,
                       &any.repairs, err);
    given.array = &array;
  }
  if (status != TESELA_OK) return status;
  any.notation = &row->facts;
  status = row->read(t.text + skip, t.length - skip, &given, &any, err);
  status = any_shift(status, t.at + skip, &any.repairs, err);
  if (status == TESELA_OK) status = any_check_kind(&t, &any, err);
  if (status == TESELA_OK) memcpy(out, &any, any_bytes(&any));
  return status;
}
