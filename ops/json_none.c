/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_none.c - json_in.c where nothing reads JSON: the library of the Python package, which gets values and no texts.
 */
#include <stdio.h>

#include "json_in.h"

static tesela_status refuse(tesela_json_in *in, tesela_error *err) {
  if (in) *in = (tesela_json_in){0};
  if (err) {
    *err = (tesela_error){.status = TESELA_E_UNSUPPORTED, .at = -1};
    snprintf(err->message, sizeof err->message,
             "built without a JSON reader; expected an object instead of its text");
  }
  return TESELA_E_UNSUPPORTED;
}

tesela_status tesela_json_read(tesela_json_in *in, const char *text, size_t length, tesela_error *err) {
  (void)text, (void)length;
  return refuse(in, err);
}

tesela_status json_read_line(tesela_json_in *in, const char *line, size_t length, tesela_error *err) {
  (void)line, (void)length;
  return refuse(in, err);
}

void tesela_json_free(tesela_json_in *in) {
  if (in) *in = (tesela_json_in){0};
}
