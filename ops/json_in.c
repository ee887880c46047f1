/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_in.c - a text in JSON as a tree of values, read by jansson with the memory for all of it reserved first.
 *
 * jansson loses characters, and stops the process, when it is refused memory in the middle of a text. So it gets all of its
 * memory from one piece, whose size follows from the text: it is there from the start, or nothing is read.
 *
 * jansson takes its time for each character of a string, so it does not see long ones (json_long.h).
 */
#include "json_in.h"

#include <jansson.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_long.h"
#include "json_plain.h"

/* ---- how much ---------------------------------------------------------------------------------------------
 *
 * jansson 2.14 on 64 bits, nothing given back until the end, each piece rounded up to ALIGN: an item is 32 bytes
 * and, in a string, its text and ALIGN; a list is 48 bytes and tables that double from 64 bytes on, less than 32 for
 * each item; an object is 80 bytes and tables that double from 128 bytes on, less than 64 for each key; a key is 80
 * bytes and its text twice; the reader's token doubles up to twice the longest one. Our own value of each is 32 bytes. */
static const size_t ALIGN = 16, BASE = 4096, ITEM = 112, LIST = 112, OBJECT = 208, KEY = 208;
enum { DEPTH = 2048 };

size_t json_memory(const char *text, size_t length) {
  size_t memory = BASE, longest = 0, begin = 0;
  bool inside = false; /* a string */
  int depth = 0;
  for (size_t i = 0; i < length; i++) {
    char c = text[i];
    if (inside) {
      i += json_plain(text + i, length - i);
      c = i < length ? text[i] : '"';
      if (c == '\\') i++;
      if (c == '"') inside = false;
      continue;
    }
    inside = c == '"';
    depth += (c == '[' || c == '{') - (c == ']' || c == '}');
    if (depth > DEPTH) break; /* jansson stops the process here */
    if (c != ',' && c != ':' && c != '[' && c != '{') continue;
    memory += c == ':' ? KEY : ITEM + (c == '[' ? LIST : c == '{' ? OBJECT : 0);
    if (i - begin > longest) longest = i - begin;
    begin = i;
  }
  if (length - begin > longest) longest = length - begin;
  return memory + 2 * length + 4 * longest;
}

/* ---- the piece, while jansson reads ------------------------------------------------------------------------- */

static struct {
  char *memory;
  size_t size, used;
  bool refused; /* jansson needed more than json_memory computes */
  /* the whole text, and what jansson does not see of it */
  const char *whole;
  int n_long;
  json_stretch strings[JSON_MOST_LONG];
} piece;

static void *take(size_t size) {
  size_t rounded = (size + ALIGN - 1) / ALIGN * ALIGN;
  if (rounded < size || rounded > piece.size - piece.used) {
    piece.refused = true;
    return NULL;
  }
  void *memory = piece.memory + piece.used;
  piece.used += rounded;
  return memory;
}

static void give_back(void *memory) { (void)memory; }

static tesela_status status_of(const json_error_t *bad) {
  switch (json_error_code(bad)) {
  case json_error_out_of_memory:
    return TESELA_E_MEMORY;
  case json_error_stack_overflow:
    return TESELA_E_LIMIT;
  case json_error_numeric_overflow:
    return TESELA_E_RANGE;
  case json_error_duplicate_key:
    return TESELA_E_INVALID;
  default:
    return TESELA_E_SYNTAX;
  }
}

/* ---- our own tree ----------------------------------------------------------------------------------------- */

static void copy_value(tesela_value *to, json_t *from);

static void copy_text(tesela_value *to, const json_t *from) {
  to->kind = TESELA_VALUE_TEXT;
  to->n = json_string_length(from);
  to->as.text = json_string_value(from);
  const int i = piece.n_long > 0 ? json_long_of(to->as.text, to->n) : -1;
  if (i < 0) return;
  const json_stretch string = piece.strings[i];
  char *text = take(string.length + 1);
  if (!text) return;
  memcpy(text, piece.whole + string.begin, string.length);
  text[string.length] = '\0';
  to->n = string.length;
  to->as.text = text;
}

static const tesela_value *copy_items(json_t *from, size_t n) {
  tesela_value *items = take(n * sizeof *items);
  const char *name;
  json_t *item;
  size_t i;
  if (!items) return NULL;
  if (json_is_array(from)) {
    json_array_foreach(from, i, item) {
      items[i].name = NULL;
      copy_value(&items[i], item);
    }
    return items;
  }
  i = 0;
  json_object_foreach(from, name, item) {
    items[i].name = name;
    copy_value(&items[i++], item);
  }
  return items;
}

/* All but the name. As deep as jansson reads, 2048 levels. */
static void copy_value(tesela_value *to, json_t *from) {
  to->n = 0;
  switch (json_typeof(from)) {
  case JSON_OBJECT:
  case JSON_ARRAY:
    to->kind = json_is_array(from) ? TESELA_VALUE_LIST : TESELA_VALUE_OBJECT;
    to->n = json_is_array(from) ? json_array_size(from) : json_object_size(from);
    to->as.item = to->n ? copy_items(from, to->n) : NULL;
    return;
  case JSON_STRING:
    copy_text(to, from);
    return;
  case JSON_INTEGER:
    to->kind = TESELA_VALUE_INT;
    to->as.integer = json_integer_value(from);
    return;
  case JSON_REAL:
    to->kind = TESELA_VALUE_REAL;
    to->as.real = json_real_value(from);
    return;
  case JSON_TRUE:
  case JSON_FALSE:
    to->kind = TESELA_VALUE_BOOL;
    to->as.flag = json_is_true(from);
    return;
  case JSON_NULL:
    to->kind = TESELA_VALUE_NULL;
    return;
  }
}

/* ---- reading ------------------------------------------------------------------------------------------------ */

static tesela_status fail(tesela_json_in *in, tesela_status status, int64_t at, const char *message,
                          tesela_error *err) {
  tesela_json_free(in);
  if (!err) return status;
  *err = (tesela_error){.status = status, .at = at};
  snprintf(err->message, sizeof err->message, "%s", message);
  return status;
}

/* Read a text, of which jansson sees all but piece.strings. */
static tesela_status read_text(tesela_json_in *in, const char *text, size_t length, size_t flags,
                               tesela_error *err) {
  json_error_t bad;
  json_malloc_t usual_malloc;
  json_free_t usual_free;
  size_t size = json_memory(text, length);
  if (piece.n_long > 0) size += length;
  for (int i = 0; i < piece.n_long; i++) size += piece.strings[i].length + 1 + ALIGN;
  in->memory = malloc(size);
  if (!in->memory) return fail(in, TESELA_E_MEMORY, -1, "no memory to read the JSON", err);
  piece.memory = in->memory;
  piece.size = size;
  piece.used = 0;
  piece.refused = false;
  piece.whole = text;
  tesela_value *value = take(sizeof *value);
  if (piece.n_long > 0) {
    char *shorter = take(length);
    length = json_cut_long(text, length, piece.n_long, piece.strings, shorter);
    text = shorter;
  }
  json_get_alloc_funcs(&usual_malloc, &usual_free);
  json_set_alloc_funcs(take, give_back);
  json_t *read = json_loadb(text, length, flags | JSON_REJECT_DUPLICATES, &bad);
  json_set_alloc_funcs(usual_malloc, usual_free);
  if (read) {
    value->name = NULL;
    copy_value(value, read);
  }
  if (piece.refused) return fail(in, TESELA_E_MEMORY, -1, "no memory to read the JSON", err);
  if (!read) return fail(in, status_of(&bad), bad.position, bad.text, err);
  in->value = value;
  return TESELA_OK;
}

static tesela_status json_read(tesela_json_in *in, const char *text, size_t length, size_t flags,
                               tesela_error *err) {
  if (!in) return fail(in, TESELA_E_INVALID, -1, "argument in is NULL", err);
  *in = (tesela_json_in){0};
  if (!text) return fail(in, TESELA_E_INVALID, -1, "argument text is NULL", err);
  if (length > SIZE_MAX / 512) return fail(in, TESELA_E_LIMIT, -1, "the text is too long", err);
  piece.n_long = json_find_long(text, length, piece.strings);
  tesela_status status = read_text(in, text, length, flags, err);
  if (status == TESELA_OK || status == TESELA_E_MEMORY || piece.n_long == 0) return status;
  piece.n_long = 0; /* the error's place is one in the whole text */
  return read_text(in, text, length, flags, err);
}

tesela_status tesela_json_read(tesela_json_in *in, const char *text, size_t length, tesela_error *err) {
  return json_read(in, text, length, 0, err);
}

tesela_status json_read_line(tesela_json_in *in, const char *line, size_t length, tesela_error *err) {
  return json_read(in, line, length, JSON_DECODE_ANY | JSON_ALLOW_NUL, err);
}

void tesela_json_free(tesela_json_in *in) {
  if (!in) return;
  free(in->memory);
  *in = (tesela_json_in){0};
}
