/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - JSON written as text, put together in memory: commas and escapes are seen to, and a response that
 * fails half-way can be taken back. (Reading JSON is jansson's business.)
 *
 *   json_writer j = {0};
 *   jw_object(&j);
 *   jw_key(&j, "shape");
 *   jw_ints(&j, 2, dims);
 *   jw_end(&j);                     {"shape":[3,5]}
 *   jw_line(&j, stdout);            writes it and a newline, empties j
 *   jw_free(&j);
 *
 * Compact, on one line, control characters escaped; of text that is not UTF-8 each bad byte becomes U+FFFD.
 * When memory runs out `failed` is set and further calls do nothing.
 */
#ifndef TESELA_CLI_JSON_H
#define TESELA_CLI_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>
#include <tesela/base.h>

#define JW_DEPTH 32 /* objects and lists inside each other, those of jw_value not counted */

typedef struct json_writer {
  char *text; /* not NUL-terminated */
  size_t length, capacity;
  bool failed;
  bool comma; /* the next value needs one before it */
  int depth;
  char close[JW_DEPTH];
} json_writer;

void jw_object(json_writer *j);
void jw_list(json_writer *j);
void jw_end(json_writer *j); /* closes the innermost object or list */
void jw_key(json_writer *j, const char *name);

void jw_null(json_writer *j);
void jw_bool(json_writer *j, bool value);
void jw_int(json_writer *j, int64_t value);
void jw_real(json_writer *j, double value); /* the shortest text that reads back equal; null if not finite */
void jw_str(json_writer *j, const char *text); /* NULL gives null */
void jw_str_n(json_writer *j, const char *text, size_t length);
void jw_ints(json_writer *j, int32_t n, const int64_t *values);
void jw_value(json_writer *j, const json_t *value); /* any value that jansson read */

/* Key and value. */
void jw_put_int(json_writer *j, const char *name, int64_t value);
void jw_put_bool(json_writer *j, const char *name, bool value);
void jw_put_str(json_writer *j, const char *name, const char *text);

/* A string value that the library prints: begin, hand the writer to a tesela_..._print, end. */
tesela_writer jw_text_begin(json_writer *j);
void jw_text_end(json_writer *j);

/* Write what there is (jw_line: and a newline) to a file, and empty the writer. false: no memory or ferror.
 */
bool jw_write(json_writer *j, FILE *file);
bool jw_line(json_writer *j, FILE *file);
void jw_free(json_writer *j);

#endif
