/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_text.h - JSON read by jansson, with the memory for the whole value reserved first.
 *
 *   json_text doc;
 *   tesela_error err;
 *   if (json_text_read(&doc, text, length, 0, &err) != TESELA_OK) ...
 *   ... doc.value ...
 *   json_text_free(&doc);
 *
 * jansson loses characters, and stops the process, when it is refused memory in the middle of a text. So it gets all
 * of its memory from one piece, whose size follows from the text: it is there from the start, or nothing is read.
 */
#ifndef TESELA_CLI_JSON_TEXT_H
#define TESELA_CLI_JSON_TEXT_H

#include <stddef.h>

#include <jansson.h>
#include <tesela/base.h>

typedef struct json_text {
  json_t *value; /* lies in `memory`, so there is no json_decref; nothing is added to it */
  void *memory;
} json_text;

/* Read a text. `flags` are those of json_loadb; objects with a key twice are always refused. On failure *doc is zeros
 * and *err has what jansson says and at which byte: TESELA_E_SYNTAX, TESELA_E_INVALID for a key twice, TESELA_E_RANGE
 * for a number that does not fit, TESELA_E_LIMIT beyond 2048 levels, TESELA_E_MEMORY. One thread at a time. The piece
 * is up to 128 bytes for each byte of the text, and is touched only as far as it is used. */
tesela_status json_text_read(json_text *doc, const char *text, size_t length, size_t flags,
                             tesela_error *err);
/* The size of that piece. */
size_t json_text_memory(const char *text, size_t length);
void json_text_free(json_text *doc); /* one of zeros is fine */

#endif
