/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_query.c - the engine of `tesela query` on any bytes, line by line.
 *
 * Each line must get one response that is JSON again, one line, an object with id and ok, and an error of a
 * known code if and only if ok is false. Needs jansson; without TESELA_TEST_JANSSON it tests nothing and says
 * so.
 */
#ifndef TESELA_TEST_JANSSON

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static int said;
  (void)data;
  (void)size;
  if (!said++) fputs("fuzz_query: built without jansson, nothing is tested\n", stderr);
  return 0;
}

#else

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <tesela/ops.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds, const char *what, const tesela_json_out *response) {
  if (holds) return;
  fprintf(stderr, "%s: %.*s\n", what, (int)response->length, response->text);
  abort();
}

static void check_response(const tesela_json_out *response) {
  json_t *json = json_loadb(response->text, response->length, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, NULL);
  check(json_is_object(json), "no JSON object", response);
  check(memchr(response->text, '\n', response->length) == NULL, "several lines", response);
  check(response->depth == 0, "not closed", response);
  const json_t *ok = json_object_get(json, "ok"), *error = json_object_get(json, "error");
  check(json_object_get(json, "id") != NULL && json_is_boolean(ok), "no id or ok", response);
  check(json_is_true(ok) == (error == NULL), "an error without failure, or the reverse", response);
  const char *code = json_string_value(json_object_get(error, "code"));
  check(!error || (code && strcmp(code, "OK") != 0 && strcmp(code, "UNKNOWN") != 0), "no code", response);
  json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *line = (const char *)data, *end = line + size;
  while (line < end) {
    const char *newline = memchr(line, '\n', (size_t)(end - line));
    size_t length = (size_t)((newline ? newline : end) - line);
    tesela_json_out response = TESELA_JSON_OUT;
    tesela_json_answer(line, length, NULL, &response);
    if (!response.sink.stopped) check_response(&response);
    tesela_json_out_free(&response);
    line += length + 1;
  }
  return 0;
}

#endif
