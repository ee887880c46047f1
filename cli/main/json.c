/* SPDX-License-Identifier: Apache-2.0 */
/* json.c - see json.h. */
#include "main/json.h"

bool json_write(tesela_json_out *j, FILE *file) {
  bool whole = !j->sink.stopped;
  if (whole) fwrite(j->text, 1, j->length, file);
  j->length = 0;
  return whole && !ferror(file);
}

bool json_line(tesela_json_out *j, FILE *file) {
  if (!json_write(j, file)) return false;
  j->comma = false;
  putc('\n', file);
  return !ferror(file);
}
