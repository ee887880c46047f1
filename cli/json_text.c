/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_text.c - JSON read by jansson, with the memory for the whole value reserved first.
 */
#include "json_text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- how much ---------------------------------------------------------------------------------------------
 *
 * jansson 2.14 on 64 bits, nothing given back until the end, each piece rounded up to ALIGN: an item is 32 bytes
 * and, in a string, its text and ALIGN; a list is 48 bytes and tables that double from 64 bytes on, less than 32 for
 * each item; an object is 80 bytes and tables that double from 128 bytes on, less than 64 for each key; a key is 80
 * bytes and its text twice; the reader's token doubles up to twice the longest one. */
static const size_t ALIGN = 16, BASE = 4096, ITEM = 80, LIST = 112, OBJECT = 208, KEY = 176;
enum { DEPTH = 2048 };

size_t json_text_memory(const char *text, size_t length) {
  size_t memory = BASE, longest = 0, begin = 0;
  bool inside = false; /* a string */
  int depth = 0;
  for (size_t i = 0; i < length; i++) {
    char c = text[i];
    if (inside) {
      if (c == '\\') i++;
      if (c == '"') inside = false;
      continue;
    }
    inside = c == '"';
    depth += (c == '[' || c == '{') - (c == ']' || c == '}');
    if (depth > DEPTH) break; /* jansson stops here */
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
  bool refused; /* jansson wanted more than json_text_memory says */
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

static tesela_status fail(json_text *doc, tesela_status status, int64_t at, const char *message,
                          tesela_error *err) {
  json_text_free(doc);
  *err = (tesela_error){.status = status, .at = at};
  snprintf(err->message, sizeof err->message, "%s", message);
  return status;
}

tesela_status json_text_read(json_text *doc, const char *text, size_t length, size_t flags,
                             tesela_error *err) {
  json_error_t bad;
  json_malloc_t usual_malloc;
  json_free_t usual_free;
  *doc = (json_text){0};
  if (length > SIZE_MAX / 512) return fail(doc, TESELA_E_LIMIT, -1, "the text is too long", err);
  size_t size = json_text_memory(text, length);
  doc->memory = malloc(size);
  if (!doc->memory) return fail(doc, TESELA_E_MEMORY, -1, "no memory to read the JSON", err);
  piece.memory = doc->memory;
  piece.size = size;
  piece.used = 0;
  piece.refused = false;
  json_get_alloc_funcs(&usual_malloc, &usual_free);
  json_set_alloc_funcs(take, give_back);
  doc->value = json_loadb(text, length, flags | JSON_REJECT_DUPLICATES, &bad);
  json_set_alloc_funcs(usual_malloc, usual_free);
  if (piece.refused) return fail(doc, TESELA_E_MEMORY, -1, "no memory to read the JSON", err);
  if (!doc->value) return fail(doc, status_of(&bad), bad.position, bad.text, err);
  return TESELA_OK;
}

void json_text_free(json_text *doc) {
  free(doc->memory);
  *doc = (json_text){0};
}
